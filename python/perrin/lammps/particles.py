"""Particles of a start: those that a script makes, and those of a data file; as a file of their own
where a job needs others (bodies, orientations)."""
import numpy as np

# Numbers of each particle beside position, type and velocity: what new ones have.
EXTRA = {"molecule": 0, "charge": 0.0, "diameter": 1.0, "density": 1.0, "mass": np.nan,
         "dipole": np.zeros(3), "shape": np.zeros(3), "quaternion": np.array([1.0, 0, 0, 0]),
         "spin": np.zeros(3)}


class Particles:
    """Unwrapped positions [n][3], types from 1, ids from 1 on; `lists`: {"bond": (types, ids)}.
    spin: angular momentum of ellipsoids, angular velocity of spheres."""

    def __init__(self, low, high, tilts, types):
        self.low, self.high, self.tilts, self.types = low, high, tilts, types
        self.r = np.zeros((0, 3))
        self.type, self.v, self.ids = np.zeros(0, int), None, None
        self.extra, self.lists = {}, {}

    def __len__(self):
        return len(self.r)

    def add(self, kind, r):
        self.r = np.vstack([self.r, r])
        self.type = np.concatenate([self.type, np.full(len(r), kind)])
        if self.v is not None:
            self.v = np.vstack([self.v, np.zeros_like(r)])
        for name, values in self.extra.items():
            self.extra[name] = np.concatenate([values, rows(name, len(r))])

    def keep(self, which):
        self.r, self.type = self.r[which], self.type[which]
        self.v = None if self.v is None else self.v[which]
        self.extra = {name: values[which] for name, values in self.extra.items()}

    def get(self, name):
        """Numbers of all particles; those that nobody has given are the default."""
        return self.extra.get(name, rows(name, len(self.r)))

    def set(self, name, which, value):
        self.extra.setdefault(name, rows(name, len(self.r)))[which] = value

    def index(self, ids):
        """Places of particles by their ids."""
        ids = np.asarray(ids, int)
        if self.ids is None:
            return ids - 1
        order = np.argsort(self.ids)
        return order[np.searchsorted(self.ids[order], ids)]

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
        """Of each particle: by its density, as ellipsoids and spheres have it, or by its type."""
        made = np.array([masses.get(int(t), 1.0) for t in self.type])
        own = self.get("mass")
        made = np.where(np.isnan(own), made, own)
        if "density" not in self.extra:
            return made
        size = np.zeros((len(self.r), 3))  # point particles: the density is the mass
        if "shape" in self.extra or "diameter" in self.extra:
            size = self.get("shape") if "shape" in self.extra else \
                self.get("diameter")[:, None] * np.ones(3)
        volume = np.pi / 6 * size.prod(axis=1)
        return np.where(np.isnan(own), self.get("density") * np.where(volume > 0, volume, 1), own)

    def wrapped(self, periodic):
        """Positions in the box and images."""
        h = self.cell()
        f = (self.r - self.low) @ np.linalg.inv(h)
        image = np.where(periodic, np.floor(f), 0).astype(int)
        return self.r - image @ h, image

    def write(self, path, masses, title, periodic=(True, True, True)):
        """A data file: of the style atomic where that says all, with orientations of ellipsoids
        where there are some."""
        turned = "quaternion" in self.extra
        plain = not turned and not self.lists and not set(self.extra) & {"molecule", "charge"}
        with open(path, "w") as out:
            self._head(out, masses, title)
            r, image = (self.r, None) if plain else self.wrapped(periodic)
            style = "atomic" if plain else "hybrid bond charge ellipsoid" if turned else "full"
            out.write(f"\nAtoms # {style}\n\n")
            molecule, charge = self.get("molecule"), self.get("charge")
            shape, mass = self.get("shape"), self.masses_of(masses)
            for k, i in enumerate(self.numbers()):
                place = " ".join(f"{x:.17g}" for x in r[k])
                after = "" if image is None else " " + " ".join(map(str, image[k]))
                if plain:
                    out.write(f"{i} {self.type[k]} {place}\n")
                elif not turned:
                    out.write(f"{i} {molecule[k]} {self.type[k]} {charge[k]:.17g} {place}{after}\n")
                else:
                    flag = int(shape[k].all())
                    heavy = mass[k] / (np.pi / 6 * shape[k].prod()) if flag else mass[k]
                    out.write(f"{i} {self.type[k]} {place} {molecule[k]} {charge[k]:.17g} {flag} "
                              f"{heavy:.17g}{after}\n")
            if turned:
                out.write("\nEllipsoids\n\n")
                for i, size, q in zip(self.numbers(), shape, self.get("quaternion")):
                    if size.all():
                        out.write(f"{i} " + " ".join(f"{x:.17g}" for x in [*size, *q]) + "\n")
            if self.v is not None:
                out.write("\nVelocities\n\n")
                spin = [list(s) for s in self.get("spin")] if turned else [[]] * len(r)
                for i, v, s in zip(self.numbers(), self.v, spin):
                    out.write(f"{i} " + " ".join(f"{x:.9g}" for x in [*v, *s]) + "\n")
            for kind, (of, members) in self.lists.items():
                if len(of):
                    out.write(f"\n{kind.capitalize()}s\n\n")
                for k, (t, ids) in enumerate(zip(of, members), 1):
                    out.write(f"{k} {t} " + " ".join(map(str, ids)) + "\n")

    def _head(self, out, masses, title):
        out.write(f"{title}\n\n{len(self.r)} atoms\n{self.types} atom types\n")
        for kind, (of, members) in self.lists.items():
            if len(of):
                out.write(f"{len(of)} {kind}s\n{max(of)} {kind} types\n")
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


def rows(name, n):
    """The default of so many particles."""
    return np.array([EXTRA[name]] * n).reshape(n, *np.shape(EXTRA[name]))
