"""Particles that look somewhere: pair styles gayberne and …/dipole/…, fix propel/self, and the
frames of the job's start. The axis of a particle is x of its own frame in a job; LAMMPS has
ellipsoids with any long axis, and dipoles in space."""
from itertools import combinations

import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.quaternions import from_x, product

DIPOLES = ("lj/cut/dipole/cut", "lj/cut/dipole/long", "lj/long/dipole/long")
STYLES = ("gayberne", *DIPOLES)
# GB(kappa, kappa', mu, nu) with a width of its own and a shift: b, a are along and across (halves).
GENERAL = ("4*epsilon*E1*E2*(q^12 - q^6); q = sigma/(r - w + shift*sigma); "
           "w = 2*a/sqrt(1 - X/2*(p^2/(1 + X*cos_12) + m^2/(1 - X*cos_12))); "
           "E1 = (1 - X^2*cos_12^2)^(-nu/2); "
           "E2 = (1 - Y/2*(p^2/(1 + Y*cos_12) + m^2/(1 - Y*cos_12)))^mu; "
           "p = cos_1 - cos_2; m = cos_1 + cos_2; X = (b^2 - a^2)/(b^2 + a^2)")


class Shape:
    """Of the particles of a type: axis (0 to 2) that is different, half widths along and across."""

    def __init__(self, widths):
        half = np.asarray(widths, float) / 2
        if not half.all():
            half = np.array([0.5, 0.5, 0.5])  # LAMMPS's, of a point
        self.half, self.axis = half, None
        for k in range(3):
            one, other = half[(k + 1) % 3], half[(k + 2) % 3]
            if one == other and half[k] != one:
                self.axis = k
        self.round = half[0] == half[1] == half[2]
        self.along = half[self.axis] if self.axis is not None else half[0]
        self.across = half[(self.axis + 1) % 3] if self.axis is not None else half[0]


def shapes_of(script):
    """{type: Shape} of the particles of the start."""
    a, made = script.start, {}
    for t in range(1, script.types + 1):
        mine = a.get("shape")[a.type == t]
        if len(mine) and (mine != mine[0]).any():
            raise NotUnderstood(f"particles of the type {t} with different shapes")
        made[t] = Shape(mine[0] if len(mine) else np.zeros(3))
    return made


def forces(script, style, settings, table, mixing):
    if style == "gayberne":
        return gay_berne(script, settings, table, mixing)
    return dipoles(script, style, settings, table, mixing)


def gay_berne(script, settings, table, mixing):
    from perrin.lammps.forces import lennard_jones, names
    gamma, nu, mu, cut = (script.number(w) for w in settings)
    shapes, wells, values = shapes_of(script), {}, {}
    for (i, j), words in table.items():
        v = [script.number(w) for w in words]
        values[i, j] = v[0], v[1], v[8] if len(v) > 8 else cut
        for t, well in ((i, v[2:5]), (j, v[5:8])):
            if any(well):
                wells[t] = well
    missing = [t for t in shapes if t not in wells]
    if missing:
        raise NotUnderstood(f"pair_style gayberne: the depths of type {missing[0]} are missing")
    ball = {t: shapes[t].round and len(set(wells[t])) == 1 for t in shapes}
    if mixing:
        values = mixed(script, values)
    made, spheres = [], {pair: [f"{x:.17g}" for x in v] for pair, v in values.items()
                         if all(ball[t] for t in pair)}
    if spheres:
        made += [f for f, _ in lennard_jones([str(cut)], spheres, script.there, script.pairs.modify,
                                             script.number, False)]
    axes, long = set(), {}
    for (i, j), (epsilon, sigma, own) in values.items():
        if ball[i] and ball[j] or not epsilon or not own:
            continue
        if ball[i] or ball[j] or list(shapes[i].half) != list(shapes[j].half) or \
                wells[i] != wells[j] or shapes[i].axis is None:
            raise NotUnderstood(f"pair_style gayberne between the types {i} and {j}: a job has "
                                "ellipsoids of one shape with a round cross section")
        entry, axis = ellipsoids(shapes[i], wells[i], epsilon, mu, nu)
        axes.add(axis)
        native = gamma == 1 and abs(sigma - 2 * shapes[i].across) < 1e-12
        entry = {"types": names(i, j), **entry, **({} if own == cut else {"cutoff": own})}
        long.setdefault(native, []).append((entry, sigma, shapes[i]))
    for native, found in long.items():
        made.append(native_form(found, cut) if native else general_form(found, cut, gamma))
    if len(axes) > 1:
        raise NotUnderstood("pair_style gayberne: long axes of types along different axes")
    if axes:
        script.axis = ("shape", axes.pop())
    return made


def mixed(script, values):
    from perrin.lammps.forces import mix
    values = dict(values)
    for i, j in combinations(script.there, 2):
        if (i, j) not in values and (i, i) in values and (j, j) in values:
            values[i, j] = mix(script.pairs.modify["mix"], values[i, i], values[j, j])
    return values


def ellipsoids(shape, well, epsilon, mu, nu):
    """Parameters of GB, and the axis. LAMMPS's depth has a factor that is 1 where the long axis is
    z: what it takes for the axis is always z."""
    k = shape.axis
    side, other, end = well[(k + 1) % 3], well[(k + 2) % 3], well[k]
    if side != other:
        raise NotUnderstood("pair_style gayberne: depths that differ around the long axis")
    x, y, z = shape.half
    factor = (x * y + z * z) * np.sqrt(x * y) / (
        (shape.across ** 2 + shape.along ** 2) * shape.across)
    return {"epsilon": float(epsilon * factor ** nu * side), "kappa": shape.along / shape.across,
            "kappa_prime": side / end, "mu": mu, "nu": nu}, k


def native_form(found, cut):
    pairs = []
    for entry, sigma, _ in found:
        types = entry.pop("types")
        pairs.append({"types": types, "epsilon": entry.pop("epsilon"), "sigma": sigma, **entry})
    return {"type": "gay_berne", "cutoff": cut, "pairs": pairs}


def general_form(found, cut, gamma):
    pairs = []
    for entry, sigma, shape in found:
        end = entry.pop("kappa_prime") ** (1 / entry["mu"])
        entry.pop("kappa")
        pairs.append({**entry, "sigma": sigma, "shift": gamma, "a": float(shape.across),
                      "b": float(shape.along), "Y": (end - 1) / (end + 1)})
    return {"type": "anisotropic_formula", "energy": GENERAL, "cutoff": cut, "pairs": pairs}


def dipoles(script, style, settings, table, mixing):
    """Lennard-Jones and dipoles, within a cut-off or with all copies."""
    from perrin.lammps.forces import lennard_jones
    words = list(settings)
    if style == "lj/long/dipole/long":
        lj, coulomb, *words = words
        if lj == "long" or coulomb != "long":
            raise NotUnderstood(f"pair_style {style} {lj} {coulomb}: expected cut long or off long")
        table = {} if lj == "off" else table
    a, cut = script.start, words[-1]
    if a.get("charge").any() or any(script.charges.values()):
        raise NotUnderstood(f"pair_style {style}: charges beside dipoles, which do not act on each "
                            "other in a job")
    if any(len(v) > 3 for v in table.values()):
        raise NotUnderstood(f"pair_style {style}: a cut-off of dipoles for each pair of types")
    made = [f for f, _ in lennard_jones(words[:1], table, script.there, script.pairs.modify,
                                        script.number, mixing)] if table else []
    moments = moments_of(script)
    script.axis = "dipole"
    strength = script.units.coulomb / script.dielectric
    if style.endswith("cut"):
        made.append({"type": "dipole", "cutoff": script.number(cut), "pairs": [
            {"types": [str(i), str(j)], "strength": strength * moments[i] * moments[j]}
            for i in moments for j in moments if i <= j]})
        return made
    if script.kspace is None:
        raise NotUnderstood(f"pair_style {style} without a kspace_style")
    made.append({"type": "dipole_ewald", "cutoff": script.number(cut),
                 "moments": {str(t): m for t, m in moments.items() if m},
                 "accuracy": script.kspace["accuracy"], **(
                     {"coulomb": {"permittivity": script.dielectric}}
                     if script.dielectric != 1 else {})})
    return made


def moments_of(script):
    """{type: magnitude of the dipoles of its particles}."""
    a, made = script.start, {}
    sizes = np.linalg.norm(a.get("dipole"), axis=1)
    for t in range(1, script.types + 1):
        mine = sizes[a.type == t]
        if len(mine) and np.ptp(mine) > 1e-9 * mine.max():
            raise NotUnderstood(f"particles of the type {t} with dipoles of different magnitudes")
        made[t] = float(f"{mine[0]:.12g}") if len(mine) else 0.0
    return made


def propelled(script, words):
    """Forces of fix propel/self."""
    words = [w for w in words if w != "qvector"]
    if words[0] in ("dipole", "velocity", "quat") and len(words) > 1:  # mode, then magnitude
        words[0], words[1] = words[1], words[0]
    push, how = script.number(words[0]), words[1]
    if how == "velocity":
        raise NotUnderstood("fix propel/self velocity: a force along the velocity")
    if how == "quat":
        where = np.array([script.number(w) for w in words[2:5]] or [1.0, 0, 0])
        if where[1] or where[2] or not where[0]:
            raise NotUnderstood("fix propel/self quat: expected the direction 1 0 0 or -1 0 0")
        script.axis, script.framed = script.axis or "frame", "fix propel/self quat"
        return [{"type": "active_force", "force": push * float(np.sign(where[0]))}]
    script.axis, moments = "dipole", moments_of(script)
    made = [{"type": "active_force", "force": push * m, "types": [str(t)]}
            for t, m in moments.items() if m]
    if len({f["force"] for f in made}) == 1 and len(made) == script.types:
        made = [{"type": "active_force", "force": made[0]["force"]}]
    if not made:
        raise NotUnderstood("fix propel/self dipole: the particles have no dipoles")
    return made


def turn_start(script, line):
    """Frames of the start whose x is the axis; "orientations" of the job."""
    a = script.rewrite()
    if script.framed and script.axis not in ("frame", ("shape", 0)):
        raise NotUnderstood(f"{script.framed} acts along axes of frames, which the job turns: x is "
                            "along dipoles, and long axes of ellipsoids", line)
    if script.axis == "dipole":
        dipole = a.get("dipole")
        a.set("quaternion", slice(None), np.array([from_x(d) for d in dipole]))
        a.set("shape", slice(None), a.get("diameter")[:, None] * np.ones(3))
    elif script.axis == "frame" and "quaternion" not in a.extra:
        if "shape" not in a.extra:
            raise NotUnderstood(f"{script.framed}: the particles have no frames", line)
        a.set("quaternion", slice(None), np.array([1.0, 0, 0, 0]))  # as LAMMPS does
    elif script.axis[0] == "shape" and script.axis[1] != 0:
        k = script.axis[1]
        order = [k, (k + 1) % 3, (k + 2) % 3]
        turn = np.array([0.5, 0.5, 0.5, 0.5] if k == 1 else [0.5, -0.5, -0.5, -0.5])
        a.set("quaternion", slice(None), product(a.get("quaternion"), turn))
        a.set("shape", slice(None), a.get("shape")[:, order])
        script.result.changed.append((line, "frames of particles are turned: long axes are x, in "
                                      "the start and in what the job writes"))
    if script.disc:  # discs that turn about z
        return {"moments_of_inertia": {str(t): [0, 0, 1.25 * moment] for t, (_, _, moment) in
                                       moments_of_inertia(script).items()}}
    return {}


def moments_of_inertia(script):
    """{type: moments about the axes of the frame} of spheres and ellipsoids."""
    a, made = script.start, {}
    size = a.get("diameter")[:, None] * np.ones(3)
    if "shape" in a.extra:
        size = a.get("shape")
    mass = a.masses_of(script.masses)
    square = (size / 2) ** 2
    all_of = mass[:, None] / 5 * (square.sum(axis=1)[:, None] - square)
    for t in range(1, script.types + 1):
        mine = all_of[a.type == t]
        if len(mine) and np.ptp(mine, axis=0).max() > 1e-9 * mine.max():
            raise NotUnderstood(f"particles of the type {t} with different moments of inertia")
        made[t] = [float(f"{v:.12g}") for v in mine[0]] if len(mine) else [0.0] * 3
    return made


def oriented(script):
    return script.axis is not None or any(s in STYLES for s, _ in script.pairs.styles)


def rotational_frictions(script, words, damp):
    """Of fix langevin: with omega that of a sphere in a fluid, with angmom as much as it says;
    without them the bath does not turn anything."""
    factor = 0.0
    for key, value in zip(words, words[1:]):
        if key == "omega" and value == "yes":
            factor = 10 / 3
        elif key == "angmom" and value != "no":
            factor = script.number(value)
    made = {}
    for t, moments in moments_of_inertia(script).items():
        turning = [m for m in moments if m]
        made[str(t)] = factor * sum(turning) / max(len(turning), 1) / damp
    return made
