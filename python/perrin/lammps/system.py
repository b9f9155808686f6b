"""The system: box, lattice, regions, atoms that the script makes, data files."""
import os

import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.lammps import forces
from perrin.lammps.bonded import CROSS_SECTIONS
from perrin.lammps.data import Data
from perrin.lammps.fixes import options
from perrin.lammps.groups import ranges
from perrin.lammps.lattice import Lattice, region
from perrin.lammps.particles import Particles, own_mass
from perrin.lammps.units import Units

# What `set` gives particles, and how many numbers it takes.
SET = {"shape": ("shape", 3), "quat": ("quaternion", 4), "quat/random": ("quaternion", 1),
       "dipole": ("dipole", 3), "dipole/random": ("dipole", 2), "diameter": ("diameter", 1),
       "density": ("mass", 1), "mass": ("mass", 1), "mol": ("molecule", 1)}

MOST = 256  # types of particles that Perrin takes
MOLECULAR = {"bond", "angle", "molecular", "full"}  # styles whose ids LAMMPS never gives anew


def of_basis(words):
    """Words of create_atoms without `basis M itype`, and {number in the basis, from 0: type}."""
    left, made = list(words), {}
    while "basis" in left:
        at = left.index("basis")
        made[int(left[at + 1]) - 1] = int(left[at + 2])
        del left[at:at + 3]
    return left, made


class System:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_units(self, rest, line):
        self.units = Units(rest[0])

    def do_dimension(self, rest, line):
        self.dimension = int(rest[0])

    def do_boundary(self, rest, line):
        self.boundary = list(rest)
        if any(set(b) - set("pfsm") for b in rest):
            raise NotUnderstood("boundary")

    def do_atom_style(self, rest, line):
        self.style = " ".join(rest)
        if rest[0] in ("template", "body", "line", "tri", "electron", "peri", "smd"):
            raise NotUnderstood(f"atom_style {rest[0]}")

    def do_lattice(self, rest, line):
        self.lattice = Lattice(rest, self.units.style == "lj", self.number)

    def do_region(self, rest, line):
        self.regions[rest[0]] = region(rest[1:], self.lattice, self.number, self.regions,
                                       self.edges_of_box)

    def do_create_box(self, rest, line):
        made = self.regions.get(rest[1])
        if made is None or made.box is None:
            raise NotUnderstood("create_box of a region that is no block or prism")
        said = dict(zip(rest[2::2], rest[3::2]))
        self.kinds_of_box = {k: int(said[f"{k}/types"]) for k in self.bonded
                             if f"{k}/types" in said}
        self.types = int(rest[0])
        low, high = (np.array(b, float) for b in made.box)
        if self.dimension == 2:
            low[2], high[2] = -0.5, 0.5
        self.atoms = Particles(low, high, made.tilts or [0, 0, 0], self.types, self.style)
        self.box = {k: (low[i], high[i]) for i, k in enumerate("xyz")}
        self.system_line = line

    def do_create_atoms(self, rest, line):
        if self.atoms is None and self.data is None:
            raise NotUnderstood("create_atoms without a box")
        kind, style, rest = int(rest[0]), rest[1], rest[2:]
        self.rewrite()
        if style not in ("box", "region", "single", "random"):
            raise NotUnderstood(f"create_atoms {style}")
        count = {"box": 0, "region": 1, "single": 3, "random": 3}[style]
        words, (rest, basis) = rest[:count], of_basis(rest[count:])
        if basis and (style not in ("box", "region") or "mol" in rest):
            raise NotUnderstood(f"create_atoms {style} with basis")
        try:
            said = options(rest, {"units": 1, "mol": 2, "rotate": 4, "overlap": 1, "maxtry": 1})
        except NotUnderstood as error:
            raise NotUnderstood(f"create_atoms with {error}") from None
        if "overlap" in said and style != "random":
            raise NotUnderstood(f"create_atoms {style} with overlap")
        if style == "single":
            r = self.one_place(words, said)
        elif style == "random":
            r = self.random_places(words, said, line)
        else:
            r, of = self.sites(self.regions[words[0]] if words else None,
                               kind if "mol" not in said and not basis else None)
            if basis:
                kind = np.array([basis.get(k, kind) for k in of], int)
        if "mol" in said:
            self.new_molecules(kind, r, said, line)
        else:
            self.new_atoms(kind, r)

    def one_place(self, words, said):
        """Of create_atoms single: none where it is outside of the box."""
        scale = self.lattice.spacing if self.lattice is not None and \
            said.get("units", ["lattice"]) == ["lattice"] else np.ones(3)
        r = np.array([[self.number(w) for w in words]]) * scale
        return r[self.start.inside(r)]

    def random_places(self, words, said, line):
        """Of create_atoms random: in the box and in the region, no nearer to each other and to
        what is there than `overlap`."""
        count, random = int(self.number(words[0])), np.random.default_rng(
            int(self.number(words[1])))
        where = None if words[2] == "NULL" else self.regions[words[2]]
        apart = self.number(said["overlap"][0]) if "overlap" in said else 0.0
        if apart and ("mol" in said or any(self.start.tilts)):
            raise NotUnderstood("create_atoms random with overlap, of molecules or in a tilted "
                                "box")
        a, found, tries = self.start, [], 0
        edges = np.asarray(a.high, float) - a.low
        while len(found) < count:
            tries += 1
            if tries > 1000 * (count + 10):
                raise NotUnderstood("create_atoms random: there is no room for so many")
            r = a.low + random.random(3) @ a.cell()
            if self.dimension == 2:
                r[2] = 0.0
            if where is not None and not where.inside(r[None])[0]:
                continue
            if apart:
                d = np.vstack([a.r, *found]) - r if len(a.r) or found else np.zeros((0, 3))
                d -= np.where([b in ("p", "pp") for b in self.boundary],
                              edges * np.round(d / edges), 0)
                if len(d) and (d ** 2).sum(axis=1).min() < apart ** 2:
                    continue
            found.append(r)
        self.result.changed.append((line, "at places of other random numbers"))
        return np.array(found).reshape(-1, 3)

    def sites(self, where, kind):
        """Of the lattice, in the box and in a region; the number of each in the basis."""
        a = self.start
        if self.lattice is None or self.lattice.style == "none":
            raise NotUnderstood("create_atoms without a lattice")
        low, high = a.low.copy(), a.high.copy()
        for (i, j), tilt in zip(((0, 1), (0, 2), (1, 2)), a.tilts):
            low[i] += min(0, tilt)
            high[i] += max(0, tilt)
        tilted = any(a.tilts)
        r, of = self.lattice.points(low, high, [b == "p" and not tilted for b in self.boundary])
        chosen = np.ones(len(r), bool)
        if self.dimension == 2:
            chosen &= np.abs(r[:, 2]) < 1e-9
        self.whole = kind if where is None and not tilted and not len(a.r) else None
        if tilted:
            chosen &= a.inside(r)
        if where is not None:
            chosen &= where.inside(r)
        return r[chosen], of[chosen]

    def new_atoms(self, kind, r):
        """Particles of one type, or of these types."""
        self.charges_of_particles()  # of the types so far: new particles have none
        with self.same_members():
            self.start.add(kind, r)
        if self.data is not None:
            self.data.counts["atoms"] = len(self.start)

    def do_read_data(self, rest, line):
        words, said, of_fixes = list(rest[1:]), {}, {}
        while words:
            key = words.pop(0)
            if key == "fix":
                of_fixes[words[2]] = words[0]
                words = words[3:]
                continue
            count = 0 if key == "nocoeff" else 1
            if key not in ("nocoeff", "group") and not key.startswith("extra/"):
                raise NotUnderstood(f"read_data with {key}")
            said[key], words = words[:count], words[count:]
        path = self.file(rest[0])
        if not os.path.exists(path):
            self.lost = True
            raise NotUnderstood(f"the data file {rest[0]} is not beside the script: nothing that "
                                "follows was read")
        with open(path, "rb") as file:
            if file.read(2) == b"\x1f\x8b":
                self.lost = True
                raise NotUnderstood(f"the data file {rest[0]} is packed: unpack it by gunzip")
        self.data, self.data_path, self.system_line = Data(path, of_fixes), path, line
        self.data_particles, self.rewritten = None, False
        for kind in ("atom", *self.bonded):  # types that no particle of the file has
            if f"extra/{kind}/types" in said:
                name, more = f"{kind} types", int(self.number(said[f"extra/{kind}/types"][0]))
                self.data.counts[name] = self.data.counts.get(name, 0) + more
        self.types = self.data.counts.get("atom types", 1)
        self.box = dict(self.data.box)
        if "group" in said:
            self.groups[said["group"][0]] = {"types": [str(t + 1) for t in range(self.types)]}
        self.masses.update({int(k): m for k, m in self.data.masses.items() if k.isdigit()})
        for name, rows in self.data.sections.items() if "nocoeff" not in said else ():
            kind = name.split()[0].lower()
            try:
                if kind in ("pair", "pairij"):
                    self.pairs.section(name, rows, self.types)
                else:
                    kind, word = CROSS_SECTIONS.get(name, (kind, None))
                    self.bonded[kind].section(word, rows, self.kinds(kind), line)
            except NotUnderstood as error:
                raise NotUnderstood(f"{name} of {rest[0]}: {error}") from None
        if "extra/atom/types" in said or of_fixes:
            self.rewrite()
        for title, name in of_fixes.items():
            self.read_section(title, name, line)

    def read_section(self, title, name, line):
        """Of a data file, for a fix: numbers of molecules are those of the particles."""
        columns = self.properties.get(name)
        if columns is None:
            self.result.not_understood.append((line, f"the section {title} of the fix {name}"))
            return
        rows = self.data.of_fixes[title]
        if "mol" in columns and rows:
            where = self.start.index([int(row[0]) for row in rows])
            self.start.set("molecule", where,
                           np.array([int(row[1 + columns.index("mol")]) for row in rows]))
        others = [c for c in columns if c != "mol"]
        if others:
            self.result.changed.append((line, f"{', '.join(others)} of the section {title} are not "
                                        "read: particles of the job do not have them"))

    def kinds(self, kind):
        return self.data.counts.get(f"{kind} types", 1) if self.data else \
            self.kinds_of_box.get(kind, 1)

    def do_mass(self, rest, line):
        for kind in forces.several(rest[0], self.types):
            self.masses[kind] = self.number(rest[1])

    def mass_by_type(self):
        """{type: mass of its particles}, as far as they have one."""
        new = own_mass(self.style or (self.data.style if self.data else None))
        made = {t: self.masses.get(t, 1.0) if new is None else new for t in self.there}
        read = self.atoms if self.atoms is not None else self.data_particles
        if new is None and (read is None or "mass" not in read.extra):
            return made
        own = self.start.masses_of(self.masses)
        for t in made:
            mine = own[self.start.type == t]
            if len(mine) and np.ptp(mine) > 1e-9 * mine.max():
                raise NotUnderstood(f"particles of the type {t} with different masses, where the "
                                    "job has one number for a type")
            if len(mine):
                made[t] = float(f"{mine[0]:.12g}")
        return made

    @property
    def start(self):
        """Particles that the script makes, or those of its data file."""
        if self.atoms is None and self.data is not None and self.data_particles is None:
            self.data_particles = self.data.particles(self.style)
        made = self.atoms if self.atoms is not None else self.data_particles
        if made is None:
            raise NotUnderstood("there are no particles yet")
        return made

    @property
    def there(self):
        """Types that a job has: all, but where these are more than it can have those of particles.
        Force fields come whole, with types that nobody has."""
        every = range(1, self.types + 1)
        if self.types <= MOST or self.rigid or self.axis is not None:
            return every
        try:
            return sorted(set(self.start.type.tolist()) | {int(kind) for kind in self.reservoir})
        except NotUnderstood:  # of a style whose rows are not read
            return every

    def start_lists(self):
        """{"bond": how many there are at the start, …}."""
        made = self.atoms if self.atoms is not None else self.data_particles
        if made is not None:
            return {kind: len(made.lists.get(kind, ([],))[0]) for kind in self.bonded}
        counts = self.data.counts if self.data is not None else {}
        return {kind: counts.get(f"{kind}s", 0) for kind in ("bond", "angle", "dihedral",
                                                             "improper")}

    def rewrite(self):
        """The job has a start of its own in place of the data file."""
        made, self.whole = self.start, None
        if self.data is not None:
            self.rewritten = True
        return made

    def do_set(self, rest, line):
        style, which, rest = rest[0], rest[1], list(rest[2:])
        while rest:
            key = rest.pop(0)
            if key in ("type", "type/fraction", "type/ratio", "type/subset"):
                rest = self.set_type(key, style, which, rest, line)
            elif key == "charge":
                value = self.number(rest.pop(0))
                if self.data is None and style == "type" and "charge" not in self.start.extra:
                    self.set_charge(which, value)
                else:
                    self.charges_of_particles()
                    self.rewrite().set("charge", self.chosen(style, which), value)
            elif key == "image":
                self.result.no_effect.append(line)
                rest = rest[3:]
            elif key in SET:
                with self.same_members():
                    rest = self.set_number(key, style, which, rest, line)
            else:
                raise NotUnderstood(f"set {style} … {key}")

    def set_type(self, key, style, which, rest, line):
        """Particles keep their charges and stay in their groups; the words behind it."""
        a, chosen, count = self.rewrite(), self.chosen(style, which), 1
        self.charges_of_particles()
        if key != "type":
            self.result.changed.append((line, "types are drawn with other random numbers"))
            random, count = np.random.default_rng(int(float(rest[2]))), 3
            amount = self.number(rest[1])
            if key == "type/fraction":  # each particle on its own; of the others so many in all
                chosen = chosen & (random.random(len(chosen)) < amount)
            else:
                there = np.flatnonzero(chosen)
                many = round(amount * len(there)) if key == "type/ratio" else int(amount)
                if many > len(there):
                    raise NotUnderstood(f"set {style} … {key} of {many} of {len(there)} particles")
                chosen = random.permutation(there)[:many]
        with self.same_members():
            a.type[chosen] = int(rest[0])
        return rest[count:]

    def set_number(self, key, style, which, rest, line):
        """`set` of what has a direction, a size or a mass; the words behind it."""
        a, name, count = self.rewrite(), *SET[key]
        chosen = self.chosen(style, which)
        words, rest = rest[:count], rest[count:]
        numbers = [self.number(w) for w in words]
        random = np.random.default_rng(int(numbers[0])) if key.endswith("/random") else None
        if random is not None:
            self.result.changed.append((line, "directions are drawn with other random numbers"))
            made = np.zeros((int(chosen.sum()), 4 if name == "quaternion" else 3))
            if self.dimension == 2:
                angle = random.uniform(0, 2 * np.pi, len(made)) / (2 if name == "quaternion" else 1)
                made[:, 0], made[:, 3 if name == "quaternion" else 1] = np.cos(angle), np.sin(angle)
            else:
                made = random.normal(size=made.shape)
                made /= np.linalg.norm(made, axis=1)[:, None]
            a.set(name, chosen, made if key == "quat/random" else made * numbers[1])
        elif key == "quat":
            half = np.radians(numbers[3]) / 2  # LAMMPS normalises the whole, not the axis
            made = np.array([np.cos(half), *(np.sin(half) * np.array(numbers[:3]))])
            a.set(name, chosen, made / np.linalg.norm(made))
        elif key == "density":  # with the size of now; a size that is set later changes no mass
            a.set("mass", chosen, (numbers[0] * a.volumes())[chosen])
        else:
            a.set(name, chosen, numbers if count > 1 else numbers[0])
        return rest

    def chosen(self, style, which):
        a = self.start
        if style == "group":
            return self.members(which)
        if style == "region":
            return self.regions[which].inside(self.places())
        if style in ("atom", "type", "mol"):
            of = a.type if style == "type" else a.numbers() if style == "atom" else \
                a.get("molecule")
            if which.isdigit():
                return of == int(which)
            return np.isin(of, forces.several(which, int(of.max())))
        raise NotUnderstood(f"set {style}")

    def places(self):
        """Positions in the box, which are those that LAMMPS looks for in a region."""
        return self.start.wrapped([b in ("p", "pp") for b in self.boundary])[0]

    def do_delete_atoms(self, rest, line):
        self.whole = None
        if rest[0] not in ("group", "region"):
            raise NotUnderstood(f"delete_atoms {rest[0]}")
        said = dict(zip(rest[2::2], rest[3::2]))
        if len(rest) % 2 or set(said) - {"compress", "bond", "mol"} or \
                set(said.values()) - {"yes", "no"}:
            raise NotUnderstood(f"delete_atoms with {' '.join(rest[2:])}")
        style = (self.style or (self.data.style if self.data else None) or "").split()
        molecular = bool(MOLECULAR & set(style))
        a, gone = self.rewrite(), self.chosen(rest[0], rest[1])
        if a.lists:
            raise NotUnderstood("delete_atoms of a start with bonds")
        if said.get("mol") == "yes":
            if not molecular:
                raise NotUnderstood("delete_atoms mol yes of particles without molecules")
            of = a.get("molecule")
            gone = gone | np.isin(of, of[gone & (of != 0)])
        self.fixed_members()
        self.charges_of_particles()
        if molecular or said.get("compress") == "no":  # ids stay
            ids = a.numbers()[~gone]
            a.keep(np.flatnonzero(~gone))
            a.ids = ids
        else:
            keep = left_behind(gone)
            for made in self.groups.values():
                if made and "ids" in made:
                    made["ids"] = ranges(np.flatnonzero(self.members_of(made)[keep]))
            a.keep(keep)
        if self.data is not None:
            self.data.counts["atoms"] = len(a)

    def do_displace_atoms(self, rest, line):
        self.whole = None
        if rest[1] not in ("move", "random"):
            raise NotUnderstood("displace_atoms")
        chosen = self.members(rest[0])
        shift = np.array([self.number(w) for w in rest[2:5]])
        if "box" not in rest and self.lattice is not None:
            shift = shift * self.lattice.spacing
        if rest[1] == "random":
            self.result.changed.append((line, "displaced by other random numbers"))
            shift = (np.random.default_rng(1).random((int(chosen.sum()), 3)) * 2 - 1) * shift
        self.fixed_members()
        self.rewrite().r[chosen] += shift


def left_behind(gone):
    """Indices of the particles that stay, in the order of their new ids: LAMMPS has the last ones
    in the places of those that go."""
    order, i, n = np.arange(len(gone)), 0, len(gone)
    while i < n:
        if gone[order[i]]:
            n -= 1
            order[i] = order[n]
        else:
            i += 1
    return order[:n]
