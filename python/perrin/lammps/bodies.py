"""fix rigid and its relatives as the "bodies" of a job: in the job's start each body is one
particle, its centre, and the job has the places of its sites."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.lammps.particles import Particles

ALIKE = 1e-4  # of their size: how far sites of bodies may differ that are taken as the same
MOST = 50     # kinds of bodies


def membership(script, fix):
    """The number of the body of each particle of the start, -1 of those in none; and the words of
    the fix behind it."""
    a, words = script.start, list(fix.words)
    inside, how = script.members(fix.group), words.pop(0)
    if how == "single":
        return np.where(inside, 0, -1), words
    if how == "molecule":
        numbers = np.unique(a.get("molecule")[inside], return_inverse=True)[1]
        made = np.full(len(a.r), -1)
        made[inside] = numbers
        return made, words
    if how == "group":
        count, made = int(words.pop(0)), np.full(len(a.r), -1)
        for k in range(count):
            mine = script.members(words.pop(0)) & inside
            if (made[mine] >= 0).any():
                raise NotUnderstood(f"fix {fix.style}: a particle in two bodies", fix.line)
            made[mine] = k
        return made, words
    raise NotUnderstood(f"fix {fix.style} {how}: expected single, molecule or group", fix.line)


class Kind:
    """Bodies that are the same: their sites in a frame of principal axes."""

    def __init__(self, types, places, masses, flat):
        center = (masses[:, None] * places).sum(axis=0) / masses.sum()
        at = places - center
        inertia = (masses * (at ** 2).sum(axis=1)).sum() * np.eye(3) - (masses[:, None] * at).T @ at
        axes = np.eye(3)
        if not flat:
            _, axes = np.linalg.eigh(inertia)
            axes[:, 2] *= np.sign(np.linalg.det(axes))
        self.types, self.masses = types, masses
        self.at = at @ axes
        moments = np.diag(axes.T @ inertia @ axes).copy()
        moments[moments < 1e-9 * moments.max()] = 0
        self.moments = [0, 0, moments[2]] if flat else list(moments)
        self.size = max(np.linalg.norm(self.at, axis=1).max(), 1e-300)

    def rotation_to(self, places, center):
        """The rotation that brings the sites here, or None where they are others."""
        u, _, v = np.linalg.svd((places - center).T @ self.at)
        d = np.diag([1, 1, np.sign(np.linalg.det(u @ v))])
        rotation = u @ d @ v
        off = np.abs(self.at @ rotation.T - (places - center)).max()
        return rotation if off < ALIKE * self.size else None


def bodies_of(script):
    """The bodies of all rigid fixes of a script."""
    a, flat = script.start, script.dimension == 2
    script.charges_of_particles()
    body, last, fixes = np.full(len(a.r), -1), -1, []
    for fix in script.rigid.values():
        of, _ = membership(script, fix)
        if not (of >= 0).any():
            raise NotUnderstood(f"fix {fix.style}: bodies without particles at the start", fix.line)
        fixes += [fix] * (int(of.max()) + 1)
        if ((of >= 0) & (body >= 0)).any():
            raise NotUnderstood(f"fix {fix.style}: particles of a body of another fix", fix.line)
        body = np.where(of >= 0, of + last + 1, body)
        last = body.max()
    if last >= 0:  # bodies in the order of their first particles
        order = np.argsort(np.unique(body[body >= 0], return_index=True)[1])
        body = np.where(body >= 0, np.argsort(order)[body], -1)
        fixes = [fixes[k] for k in order]
    masses, kinds, centers = a.masses_of(script.masses), [], []
    refuse(script, a, body)
    order = np.argsort(body, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(body[order])) + 1):
        if body[members[0]] >= 0:
            centers.append(centre(a, members, masses, kinds, flat))
    if len(kinds) > MOST:
        raise NotUnderstood(f"{len(kinds)} different rigid bodies; the job would need a type for "
                            "each")
    made = made_of(script, a, body, kinds, centers)
    first = int((body < 0).sum())
    for k, fix in enumerate(fixes):
        made.centers.setdefault(id(fix), []).append(first + k)
    return made


def centre(a, members, masses, kinds, flat):
    """(kind, place, quaternion, velocity, molecule, angular momentum, members) of a body."""
    m, r = masses[members], a.r[members]
    place = (m[:, None] * r).sum(axis=0) / m.sum()
    if len(members) == 1:
        raise NotUnderstood("a rigid body of one particle")
    velocity = spin = None
    if a.v is not None:
        velocity = (m[:, None] * a.v[members]).sum(axis=0) / m.sum()
        spin = np.cross(r - place, m[:, None] * (a.v[members] - velocity)).sum(axis=0)
    for k, kind in enumerate(kinds):
        if list(kind.types) == list(a.type[members]) and np.array_equal(kind.masses, m):
            rotation = kind.rotation_to(r, place)
            if rotation is not None:
                break
    else:
        kinds.append(Kind(a.type[members], r, m, flat))
        k, rotation = len(kinds) - 1, kinds[-1].rotation_to(r, place)
    return k, place, quaternion(rotation), velocity, a.get("molecule")[members[0]], spin, members


def quaternion(m):
    """w, x, y, z of a rotation matrix."""
    k = np.array([[m[0, 0] - m[1, 1] - m[2, 2], 0, 0, 0],
                  [m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], 0, 0],
                  [m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1], 0],
                  [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m.trace()]]) / 3
    x, y, z, w = np.linalg.eigh(k)[1][:, -1]
    return np.array([w, x, y, z])


def refuse(script, a, body):
    """What bodies of a job cannot have."""
    line = next(iter(script.rigid.values())).line
    for kind, (_, members) in a.lists.items():
        of = body[a.index(members)]
        if ((of >= 0).any(axis=1) & (of != of[:, :1]).any(axis=1)).any():
            raise NotUnderstood(f"{kind}s between a rigid body and another particle", line)
    if any((body[a.index(members)] >= 0).any() for _, members in a.lists.values()):
        script.result.changed.append((line, "bonds, angles and dihedrals within a body have no "
                                      "energy"))
    if "quaternion" in a.extra or "dipole" in a.extra:
        raise NotUnderstood("rigid bodies of particles that have directions", line)
    if "diameter" in a.extra and a.extra["diameter"][body >= 0].any():
        raise NotUnderstood("rigid bodies of spheres, which have moments of inertia of their own",
                            line)
    charge = a.get("charge")
    for t in np.unique(a.type) if charge.any() else []:
        if len(np.unique(charge[a.type == t])) > 1:
            raise NotUnderstood(f"rigid bodies, and particles of the type {t} with different "
                                "charges: the job gives charges by type", line)


class Bodies:
    """settings: "bodies" of the job; start: its particles; body: of each particle before;
    charges: by type, where there are any; ids: of each particle before, in the job."""

    def __init__(self, settings, start, body, charges, ids):
        self.settings, self.start, self.body = settings, start, body
        self.charges, self.ids, self.centers = charges, ids, {}  # centers: {id of a fix: ids}

    def groups(self, rigid):
        """{name: group} of the centres of each fix."""
        from perrin.lammps.groups import ranges
        if len(rigid) == 1:
            return {"bodies": {"types": list(self.settings)}}
        return {f"bodies-{k}": {"ids": ranges(np.array(self.centers[id(fix)]))}
                for k, fix in enumerate(rigid, 1)}

    def group(self, members):
        """A group of the job of some particles of before."""
        from perrin.lammps.groups import ranges
        return {"ids": ranges(np.sort(self.ids[members]))}

    def only(self):
        return bool((self.body >= 0).all())

    def moved(self, numbers):
        """Of numbers by type those of types that a particle of the start has: others are of sites
        alone, which move with their bodies."""
        there = {str(t) for t in np.unique(self.start.type)}
        return {t: number for t, number in numbers.items() if t in there}

    def by_type(self, value):
        """{type of centre: value(mass, moments)}."""
        return {t: value(b["mass"], b["moments_of_inertia"]) for t, b in self.settings.items()}


def made_of(script, a, body, kinds, centers):
    free = body < 0
    start = Particles(a.low, a.high, a.tilts, a.types + len(kinds))
    count = int(free.sum())
    start.r = np.vstack([a.r[free], *(c[1] for c in centers)])
    start.type = np.concatenate([a.type[free], [a.types + 1 + c[0] for c in centers]]).astype(int)
    for name in ("molecule", "charge"):
        start.extra[name] = np.concatenate([a.get(name)[free], [
            c[4] if name == "molecule" else 0 for c in centers]])
    start.extra["mass"] = np.concatenate([a.masses_of(script.masses)[free], [
        kinds[c[0]].masses.sum() for c in centers]])
    turn = np.vstack([np.tile([1.0, 0, 0, 0], (count, 1)), *(c[2] for c in centers)])
    start.set("quaternion", slice(None), turn)
    start.set("shape", np.arange(len(start.r)) >= count, 1.0)
    if a.v is not None:
        start.v = np.vstack([a.v[free], *(c[3] for c in centers)])
        start.set("spin", np.arange(len(start.r)) >= count, np.array([c[5] for c in centers]))
    new = np.cumsum(free)
    for kind, (of, members) in a.lists.items():
        outside = free[a.index(members)].all(axis=1)
        if outside.any():
            start.lists[kind] = of[outside], new[a.index(members[outside])]
    made = {str(a.types + 1 + k): {
        "sites": [{"type": str(t), "at": [float(f"{x:.9g}") for x in at]}
                  for t, at in zip(kind.types, kind.at)],
        "mass": float(kind.masses.sum()),
        "moments_of_inertia": [float(f"{m:.9g}") for m in kind.moments]}
        for k, kind in enumerate(kinds)}
    charges = {str(t): float(a.get("charge")[a.type == t][0]) for t in np.unique(a.type)} \
        if a.get("charge").any() else {}
    ids = np.cumsum(free) - 1  # sites follow behind all others, body by body
    ids[np.concatenate([c[6] for c in centers])] = len(start.r) + np.arange(len(a.r) - count)
    return Bodies(made, start, body, charges, ids)
