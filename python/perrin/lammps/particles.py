"""Particles of a start: those that a script makes, and those of a data file; as a file of their own
where a job needs others (bodies, orientations)."""
import copy

import numpy as np

# Numbers of each particle beside position, type and velocity: what new ones have.
EXTRA = {"molecule": 0, "charge": 0.0, "diameter": 1.0, "mass": np.nan, "dipole": np.zeros(3),
         "shape": np.zeros(3), "quaternion": np.array([1.0, 0, 0, 0]), "spin": np.zeros(3),
         "omega": np.zeros(3)}


class Particles:
    """Unwrapped positions [n][3], types from 1, ids from 1 on; `lists`: {"bond": (types, ids)}.
    style: the atom_style. spin: angular momentum of ellipsoids; omega: angular velocity of
    spheres."""

    def __init__(self, low, high, tilts, types, style=None):
        self.low, self.high, self.tilts, self.types = low, high, tilts, types
        self.style = style or ""
        self.r = np.zeros((0, 3))
        self.type, self.v, self.ids = np.zeros(0, int), None, None
        self.extra, self.lists = {}, {}

    def __len__(self):
        return len(self.r)

    def add(self, kind, r):
        self.r = np.vstack([self.r, r])
        self.type = np.concatenate([self.type, np.broadcast_to(kind, len(r))])
        if self.ids is not None:
            self.ids = np.concatenate([self.ids, self.ids.max(initial=0) + 1 + np.arange(len(r))])
        if self.v is not None:
            self.v = np.vstack([self.v, np.zeros_like(r)])
        for name, values in self.extra.items():
            self.extra[name] = np.concatenate([values, rows(name, len(r))])
        self.solid()

    def keep(self, which):
        """Indices, in the order of their new ids."""
        self.r, self.type, self.ids = self.r[which], self.type[which], None
        self.v = None if self.v is None else self.v[which]
        self.extra = {name: values[which] for name, values in self.extra.items()}

    def get(self, name):
        """Numbers of all particles; those that nobody has given are the default."""
        return self.extra[name] if name in self.extra else rows(name, len(self.r))

    def set(self, name, which, value):
        if name not in self.extra:
            self.extra[name] = rows(name, len(self.r))
        self.extra[name][which] = value

    def index(self, ids):
        """Places of particles by their ids."""
        ids = np.asarray(ids, int)
        if self.ids is None:
            return ids - 1
        order = np.argsort(self.ids)
        return order[np.searchsorted(self.ids[order], ids)]

    def renumbered(self, kinds, masses):
        """These particles with the types 1, 2, … in place of `kinds`, which are in order, and the
        masses of those."""
        made = copy.copy(self)
        made.type, made.types = np.searchsorted(kinds, self.type) + 1, len(kinds)
        return made, {k: masses[kind] for k, kind in enumerate(kinds.tolist(), 1) if kind in masses}

    def numbers(self):
        return np.arange(1, len(self.r) + 1) if self.ids is None else self.ids

    def cell(self):
        """The edges of the box as rows."""
        h = np.diag(np.asarray(self.high, float) - self.low)
        h[1, 0], h[2, 0], h[2, 1] = self.tilts
        return h

    def inside(self, r):
        if not any(self.tilts):
            return ((r >= self.low - 1e-9) & (r <= self.high + 1e-9)).all(axis=1)
        f = (r - self.low) @ np.linalg.inv(self.cell())
        return ((f >= -1e-7) & (f < 1 - 1e-7)).all(axis=1)

    def masses_of(self, masses):
        """Of each particle: its own, as ellipsoids and spheres have it, or that of its type."""
        made = np.array([masses.get(int(t), 1.0) for t in self.type])
        own = self.get("mass")
        return np.where(np.isnan(own), made, own)

    def solid(self):
        """New particles have the mass that LAMMPS gives them: spheres of the diameter 1 the density
        1, ellipsoids, which have no shape yet, the mass 1. A size that is set later changes no
        mass."""
        mass = own_mass(self.style)
        if mass is None:
            return
        new = np.isnan(self.get("mass"))
        self.set("mass", new, mass)
        if is_sphere(self.style):
            self.set("diameter", new, self.get("diameter")[new])

    def volumes(self):
        """By which a density becomes a mass: 1 of points."""
        size = np.zeros((len(self.r), 3))
        if "shape" in self.extra or "diameter" in self.extra:
            size = self.get("shape") if "shape" in self.extra else \
                self.get("diameter")[:, None] * np.ones(3)
        volume = np.pi / 6 * size.prod(axis=1)
        return np.where(volume > 0, volume, 1)

    def momenta(self, masses):
        """Angular momenta; those of spheres by their angular velocities."""
        inertia = self.masses_of(masses) * self.get("diameter") ** 2 / 10
        return self.get("spin") + inertia[:, None] * self.get("omega")

    def wrapped(self, periodic):
        """Positions in the box and images."""
        h = self.cell()
        f = (self.r - self.low) @ np.linalg.inv(h)
        image = np.where(periodic, np.floor(f), 0).astype(int)
        return self.r - image @ h, image

    def write(self, path, masses, title, periodic=(True, True, True), kinds=None):
        """A data file: of the style atomic where that says all, of sphere where particles have
        masses or diameters of their own, with orientations of ellipsoids where there are some.
        kinds: {"bond": types of the script, …}."""
        turned = "quaternion" in self.extra
        plain = not turned and not self.lists and not set(self.extra) & {"molecule", "charge"}
        with open(path, "w") as out:
            self._head(out, masses, title, kinds or {})
            self._atoms(out, masses, plain, periodic)
            if turned:
                out.write("\nEllipsoids\n\n")
                for i, size, q in zip(self.numbers(), self.get("shape"), self.get("quaternion")):
                    if size.all():
                        out.write(f"{i} " + " ".join(f"{x:.17g}" for x in [*size, *q]) + "\n")
            if self.v is not None:
                out.write("\nVelocities\n\n")
                spin = self.momenta(masses).tolist() if turned else [[]] * len(self.r)
                for i, v, s in zip(self.numbers(), self.v, spin):
                    out.write(f"{i} " + " ".join(f"{x:.9g}" for x in [*v, *s]) + "\n")
            for kind, (of, members) in self.lists.items():
                if len(of):
                    out.write(f"\n{kind.capitalize()}s\n\n")
                for k, (t, ids) in enumerate(zip(of, members), 1):
                    out.write(f"{k} {t} " + " ".join(map(str, ids)) + "\n")

    def _atoms(self, out, masses, plain, periodic):
        turned, round_ = "quaternion" in self.extra, {"mass", "diameter"} & set(self.extra)
        form = "hybrid bond charge ellipsoid" if turned else \
            "sphere" if plain and round_ else "atomic" if plain else \
            "hybrid bond charge sphere" if round_ else "full"
        out.write(f"\nAtoms # {form}\n\n")
        r, image = (self.r, None) if plain else self.wrapped(periodic)
        shape, mass = self.get("shape"), self.masses_of(masses)
        molecule, charge = self.get("molecule"), self.get("charge")
        size = self.get("diameter") if "diameter" in self.extra else np.zeros(len(r))  # points
        volume = np.pi / 6 * (shape.prod(axis=1) if turned else size ** 3)
        density = mass / np.where(volume > 0, volume, 1)
        for k, (i, kind) in enumerate(zip(self.numbers(), self.type)):
            place = " ".join(f"{x:.17g}" for x in r[k])
            own, ball = f"{molecule[k]} {charge[k]:.17g}", f"{size[k]:.17g} {density[k]:.17g}"
            row = {"atomic": f"{i} {kind} {place}", "sphere": f"{i} {kind} {ball} {place}",
                   "full": f"{i} {molecule[k]} {kind} {charge[k]:.17g} {place}",
                   "hybrid bond charge sphere": f"{i} {kind} {place} {own} {ball}"}.get(
                       form, f"{i} {kind} {place} {own} {int(volume[k] > 0)} {density[k]:.17g}")
            out.write(row + ("" if image is None else " " + " ".join(map(str, image[k]))) + "\n")

    def _head(self, out, masses, title, kinds):
        out.write(f"{title}\n\n{len(self.r)} atoms\n{self.types} atom types\n")
        for kind, (of, members) in self.lists.items():
            if len(of):
                out.write(f"{len(of)} {kind}s\n{max(max(of), kinds.get(kind, 1))} {kind} types\n")
        if "quaternion" in self.extra:
            out.write(f"{int(self.get('shape').all(axis=1).sum())} ellipsoids\n")
        out.write("\n")
        for k, axis in enumerate("xyz"):
            out.write(f"{self.low[k]:.17g} {self.high[k]:.17g} {axis}lo {axis}hi\n")
        if any(self.tilts):
            out.write("%.17g %.17g %.17g xy xz yz\n" % tuple(self.tilts))
        out.write("\nMasses\n\n")
        for kind in range(1, self.types + 1):
            out.write(f"{kind} {masses.get(kind, 1.0):.17g}\n")


def is_sphere(style):
    return "sphere" in (style or "")


def own_mass(style):
    """Of a new particle of an atom_style whose particles have masses of their own; else None."""
    return np.pi / 6 if is_sphere(style) else 1.0 if "ellipsoid" in (style or "") else None


def rows(name, n):
    """The default of so many particles."""
    return np.broadcast_to(np.array(EXTRA[name]), (n, *np.shape(EXTRA[name]))).copy()
