"""`molecule`: templates from files, and the particles that create_atoms makes of them."""
import os

import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.quaternions import matrix
from perrin.lammps.particles import is_sphere

LISTS = {"Bonds": 2, "Angles": 3, "Dihedrals": 4, "Impropers": 4}
NUMBERS = {"Coords": 3, "Types": 1, "Charges": 1, "Diameters": 1, "Masses": 1, "Molecules": 1}
PASSED = ("Special Bond Counts", "Special Bonds", "Shake Flags", "Shake Atoms",
          "Shake Bond Types", "Fragments")
COUNTED = ("atoms", "bonds", "angles", "dihedrals", "impropers", "fragments")
OFFSETS = {"toff": "Types", "boff": "Bonds", "aoff": "Angles", "doff": "Dihedrals",
           "ioff": "Impropers"}


class Template:
    """A file of a molecule: {section: rows}, `name`: its file. Places are about the middle of
    its coordinates, where LAMMPS puts it."""

    def __init__(self, path, number):
        self.name, self.sections = os.path.basename(path), {}
        with open(path, errors="replace") as file:
            lines = [raw.partition("#")[0].strip() for raw in file.read().split("\n")][1:]
        section = None
        for text in filter(None, lines):
            if text in NUMBERS or text in LISTS or text in PASSED:
                section = text
                self.sections[section] = []
            elif section is not None:
                self.sections[section].append(text.split())
            elif text.split()[-1] not in (*COUNTED, "mass", "com", "inertia"):
                raise NotUnderstood(f"{self.name}: {text}")
        if not {"Coords", "Types"} <= set(self.sections):
            raise NotUnderstood(f"{self.name}: expected the sections Coords and Types")
        self.r = np.array([[number(w) for w in row[1:4]] for row in self.sections["Coords"]])
        if len(self.sections["Types"]) != len(self.r):
            raise NotUnderstood(f"{self.name}: expected as many Types as Coords")
        self.types = np.array([int(row[1]) for row in self.sections["Types"]])
        self.lists = {name[:-1].lower(): (
            np.array([int(row[1]) for row in rows]),
            np.array([[int(w) for w in row[2:2 + LISTS[name]]] for row in rows]))
            for name, rows in self.sections.items() if name in LISTS and rows}

    def numbers(self, name):
        """A number of each particle, or None."""
        rows = self.sections.get(name)
        return np.array([float(row[1]) for row in rows]) if rows else None

    def offset(self, name, by):
        if name == "Types":
            self.types = self.types + by
        elif name[:-1].lower() in self.lists:
            types, members = self.lists[name[:-1].lower()]
            self.lists[name[:-1].lower()] = types + by, members


class Molecules:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_molecule(self, rest, line):
        name, words, made = rest[0], list(rest[1:]), []
        self.templates.pop(name, None)
        while words:
            word = words.pop(0)
            if word in OFFSETS and made:
                made[-1].offset(OFFSETS[word], int(self.number(words.pop(0))))
            elif word == "offset" and made:
                for section, by in zip(OFFSETS.values(), words[:5]):
                    made[-1].offset(section, int(self.number(by)))
                words = words[5:]
            elif word == "scale" or word in OFFSETS:
                raise NotUnderstood(f"molecule with {word}")
            else:
                path = self.file(word)
                if not os.path.exists(path):
                    raise NotUnderstood(f"the file {word} is not there")
                made.append(Template(path, self.number))
        if len(made) != 1:
            raise NotUnderstood("molecule: expected one file")
        self.templates[name] = made[0]

    def template(self, name):
        if name not in self.templates:
            raise NotUnderstood(f"the molecule {name} is not known")
        return self.templates[name]

    def new_molecules(self, offset, r, said, line):
        """A molecule about each of these places, turned at random or by `rotate`."""
        of, random = self.template(said["mol"][0]), np.random.default_rng(
            int(self.number(said["mol"][1])))
        own_masses = of.numbers("Masses")
        if own_masses is not None and not is_sphere(self.style):
            raise NotUnderstood(f"{of.name}: masses of particles of the atom_style {self.style}")
        if of.numbers("Molecules") is not None:
            raise NotUnderstood(f"{of.name}: several molecules in a template")
        if (of.types + offset).min() < 1 or (of.types + offset).max() > self.types:
            raise NotUnderstood(f"{of.name}: types of particles beyond 1 to {self.types}")
        if "Special Bonds" in of.sections:
            self.result.changed.append((line, f"{of.name}: pairs that do not act on each other are "
                                        "those along its bonds"))
        if "rotate" in said:
            turned = [float(self.number(w)) for w in said["rotate"]]
            turns = [quaternion(turned[0], turned[1:])] * len(r)
        else:
            turns = [random_turn(random, self.dimension) for _ in r]
            self.result.changed.append((line, "molecules are turned by other random numbers"))
        a, many = self.start, len(of.r)
        first = int(a.numbers().max(initial=0)) + 1
        next_molecule = int(a.get("molecule").max(initial=0)) + 1
        places = np.concatenate([place + (of.r - of.r.mean(axis=0)) @ matrix(q).T
                                 for place, q in zip(r, turns)]) if len(r) else np.zeros((0, 3))
        begin = len(a)
        self.new_atoms(np.tile(of.types + offset, len(r)), places)
        behind = slice(begin, None)
        a.set("molecule", behind, next_molecule + np.repeat(np.arange(len(r)), many))
        for section, name in (("Charges", "charge"), ("Diameters", "diameter"),
                              ("Masses", "mass")):
            values = of.numbers(section)
            if values is not None:
                a.set(name, behind, np.tile(values, len(r)))
        if of.numbers("Diameters") is not None and own_masses is None and is_sphere(self.style):
            a.set("mass", behind, a.volumes()[behind])
        for kind, (types, members) in of.lists.items():
            had = a.lists.get(kind, (np.zeros(0, int), np.zeros((0, members.shape[1]), int)))
            new = [members - 1 + first + k * many for k in range(len(r))]
            a.lists[kind] = (np.append(had[0], np.tile(types, len(r))).astype(int),
                             np.vstack([had[1], *new]).astype(int))


def quaternion(degrees, axis):
    half = np.radians(degrees) / 2
    return np.array([np.cos(half), *(np.sin(half) * np.array(axis) / np.linalg.norm(axis))])


def random_turn(random, dimension):
    """A rotation of any direction; in two dimensions about z."""
    if dimension == 2:
        return quaternion(random.uniform(0, 360), [0, 0, 1])
    q = random.normal(size=4)
    return q / np.linalg.norm(q)
