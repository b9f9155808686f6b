"""Bonds, angles, dihedrals and impropers of LAMMPS as forces of Perrin."""
import math
import re

from perrin.importing.lines import NotUnderstood
from perrin.lammps.forces import base, several, table_entry


def harmonic(kind, length, factor=2):
    def make(v):
        return {"stiffness": factor * v[0], **({length: v[1]} if length else {})}
    return kind, make


def charmm(v):  # what the weight means: perrin.lammps.charmm
    return {"terms": [{"stiffness": v[0], "multiplicity": int(v[1]), "phase": v[2]}]}


def fourier(v):
    rows = [v[1 + 3 * k:4 + 3 * k] for k in range(int(v[0]))]
    return {"terms": [{"stiffness": k, "multiplicity": int(n), "phase": phase}
                      for k, n, phase in rows]}


def three_terms(v):
    return {"terms": [{"stiffness": v[2 * n - 2], "multiplicity": n, "phase": v[2 * n - 1],
                       "sign": -1} for n in (1, 2, 3)]}


def powers(v):
    """Of -cos(phi), that of Ryckaert and Bellemans."""
    if len(v) > 6:
        raise NotUnderstood("dihedral_style nharmonic with more than 6 coefficients")
    return {"c": [a * (-1) ** n for n, a in enumerate(v)] + [0] * (6 - len(v))}


def improper(v):
    if v[1] != 0:
        raise NotUnderstood("improper_style harmonic with an angle that is not 0")
    return {"stiffness": 2 * v[0], "angle": 0}


def formula(kind, energy, *names, degrees=()):
    """A force whose parameters have these names, in LAMMPS's order; some are in degrees there."""
    def make(v):
        if len(v) < len(names):
            raise NotUnderstood(f"{len(v)} coefficients, expected {len(names)}")
        return {name: float(f"{math.radians(x):.12g}") if name in degrees else x
                for name, x in zip(names, v)}
    return kind, make, energy


QUARTIC = "K2*d^2 + K3*d^3 + K4*d^4; d = "
BONDED = {
    ("bond", "harmonic"): harmonic("bond_harmonic", "length"),
    ("bond", "fene"): ("bond_fene", lambda v: {
        "stiffness": v[0], "maximum_length": v[1],
        **({"epsilon": v[2], "sigma": v[3]} if v[2] else {})}),
    ("bond", "class2"): formula("bond_formula", QUARTIC + "r - r0", "r0", "K2", "K3", "K4"),
    ("bond", "morse"): formula("bond_formula", "D*(1 - exp(-a*(r - r0)))^2", "D", "a", "r0"),
    ("bond", "gromos"): formula("bond_formula", "K*(r^2 - r0^2)^2", "K", "r0"),
    ("bond", "harmonic/shift"): formula(
        "bond_formula", "U*((r - r0)^2/(r0 - rc)^2 - 1)", "U", "r0", "rc"),
    ("angle", "harmonic"): harmonic("angle_harmonic", "angle"),
    ("angle", "cosine"): harmonic("angle_cosine", None, 1),
    ("angle", "cosine/squared"): harmonic("angle_cosine_squared", "angle"),
    ("angle", "charmm"): harmonic("angle_harmonic", "angle"),
    ("angle", "class2"): formula("angle_formula", QUARTIC + "theta - t0", "t0", "K2", "K3", "K4",
                                 degrees=("t0",)),
    ("angle", "quartic"): formula("angle_formula", QUARTIC + "theta - t0", "t0", "K2", "K3", "K4",
                                  degrees=("t0",)),
    ("angle", "cosine/delta"): formula("angle_formula", "K*(1 - cos(theta - t0))", "K", "t0",
                                       degrees=("t0",)),
    ("angle", "cosine/shift"): formula("angle_formula", "-U/2*(1 + cos(theta - t0))", "U", "t0",
                                       degrees=("t0",)),
    ("angle", "fourier"): formula("angle_formula", "K*(C0 + C1*cos(theta) + C2*cos(2*theta))",
                                  "K", "C0", "C1", "C2"),
    ("angle", "fourier/simple"): formula("angle_formula", "K*(1 + c*cos(n*theta))", "K", "c", "n"),
    ("improper", "harmonic"): ("improper_harmonic", improper),
    ("dihedral", "harmonic"): ("dihedral_periodic", lambda v: {"terms": [
        {"stiffness": v[0], "multiplicity": int(v[2]), "phase": 0 if v[1] > 0 else 180 * (
            1 if int(v[2]) else 0)}]}),
    ("dihedral", "quadratic"): harmonic("dihedral_harmonic", "angle"),
    ("dihedral", "helix"): formula("dihedral_formula", "A*(1 - cos(phi)) + B*(1 + cos(3*phi)) + "
                                   "C*(1 + cos(phi + pi/4))", "A", "B", "C"),
    ("dihedral", "opls"): ("dihedral_opls", lambda v: {"k": v[:4]}),
    ("dihedral", "charmm"): ("dihedral_periodic", charmm),
    ("dihedral", "class2"): ("dihedral_periodic", three_terms),
    ("dihedral", "multi/harmonic"): ("dihedral_ryckaert_bellemans", lambda v: powers(v[:5])),
    ("dihedral", "nharmonic"): ("dihedral_ryckaert_bellemans", lambda v: powers(v[1:])),
    ("dihedral", "fourier"): ("dihedral_periodic", fourier),
    ("improper", "cvff"): ("improper_periodic", lambda v: {"terms": [
        {"stiffness": v[0], "multiplicity": int(v[2]), "phase": 0 if v[1] > 0 else 180}]}),
}
# Terms of class2 that a job does not have: how many of their numbers are strengths, what they join,
# and the section of a data file.
CROSSED = {
    "angle": {"bb": (1, "two bonds", "BondBond Coeffs"),
              "ba": (2, "bonds and the angle", "BondAngle Coeffs")},
    "dihedral": {"mbt": (3, "the middle bond and the dihedral", "MiddleBondTorsion Coeffs"),
                 "ebt": (6, "the outer bonds and the dihedral", "EndBondTorsion Coeffs"),
                 "at": (6, "angles and the dihedral", "AngleTorsion Coeffs"),
                 "aat": (1, "both angles and the dihedral", "AngleAngleTorsion Coeffs"),
                 "bb13": (1, "the outer bonds", "BondBond13 Coeffs")},
    "improper": {"aa": (3, "two angles", "AngleAngle Coeffs")}}
CROSS_SECTIONS = {title: (kind, word) for kind, words in CROSSED.items()
                  for word, (_, _, title) in words.items()}
# Impropers without a counterpart: how many numbers of a type are strengths, the first ones.
STRENGTHS = {"umbrella": 1, "class2": 1, "fourier": 1, "cossq": 1, "ring": 1, "distance": 2}


class Bonded:
    """bond_style and bond_coeff, or those of angles, dihedrals or impropers."""

    def __init__(self, kind):
        self.kind, self.styles, self.coefficients, self.lines = kind, [], {}, []
        self.mixed = False
        self.left = []  # types of angles with a spring between their ends
        self.crossed = {}  # {(word of a term of class2, type): (words, line)}

    def style(self, words, line):
        self.coefficients, self.lines, self.crossed = {}, [line], {}
        self.styles = [base(w) for w in (words[1:] if words[0] == "hybrid" else words[:1])
                       if not re.fullmatch(r"[-+\d.]+", w)]
        self.mixed = words[0] == "hybrid"

    def coefficient(self, words, types, line):
        if not self.styles:
            raise NotUnderstood(f"{self.kind}_coeff before {self.kind}_style")
        style, rest = (base(words[1]), words[2:]) if self.mixed else (self.styles[0], words[1:])
        word = rest[0] if rest and style == "class2" else None
        for kind in several(words[0], types):
            if word in CROSSED.get(self.kind, {}):
                self.crossed[word, kind] = rest[1:], line
            elif word != "skip" and style != "skip":
                self.coefficients[kind] = style, rest
        self.lines.append(line)

    def section(self, word, rows, types, line):
        """Rows of a data file: coefficients (no word), or those of a term of class2."""
        for row in rows:
            if word is not None:
                if self.mixed and row[1] in ("skip", *self.styles):
                    if row[1] != "class2":
                        continue  # this type has another style, and no such term
                    row = [row[0], *row[2:]]
                row = [row[0], *(["class2"] if self.mixed else []), word, *row[1:]]
            self.coefficient(row, types, line)

    def used(self, script):
        """Types that bonds, angles, … of the start have; all where this is not known."""
        try:
            return set(self.coefficients) if script.reactions else \
                set(script.start.lists[self.kind][0].tolist())
        except (NotUnderstood, KeyError):
            return set(self.coefficients)

    def without(self):
        """What may take the place of a style that is not translated."""
        if self.kind == "improper":
            return (": a job has impropers of the angle between two planes (improper_harmonic, "
                    "improper_periodic)")
        return f": {self.kind}_formula or {self.kind}_table may say it"

    def forces(self, script, held=()):
        """[(force, note or None)]. held: types that are constrained and have none."""
        made, self.left, used = {}, [], self.used(script)
        for kind, (style, words) in sorted(self.coefficients.items()):
            if style in ("zero", "none") or kind in held:
                continue
            if style == "table" and self.kind != "improper":
                made.setdefault((f"{self.kind}_table", None), {})[str(kind)] = \
                    table_entry(script, *words)
                continue
            if (self.kind, style) not in BONDED:
                if kind not in used or style in STRENGTHS and not any(
                        map(script.number, words[:STRENGTHS[style]])):
                    continue
                raise NotUnderstood(f"{self.kind}_style {style}{self.without()}")
            v = [script.number(w) for w in words]
            type_name, entry, *energy = BONDED[self.kind, style]
            if (self.kind, style) == ("angle", "charmm") and len(v) > 2 and v[2] and kind in used:
                self.left.append(kind)
            made.setdefault((type_name, *(energy or [None])), {})[str(kind)] = entry(v)
        every = {str(kind) for kind in self.coefficients}
        forces = []
        for (type_name, energy), entries in made.items():
            force = {"type": type_name, **({"energy": energy} if energy else {}),
                     f"{self.kind}s": entries}
            if every - set(entries):
                force["skip"] = sorted(every - set(entries))
            forces.append((force, "a spline is between the rows of a table in place of LAMMPS's "
                                  "own points" if type_name.endswith("_table") else None))
        return forces

    def terms_left(self, script, held=()):
        """[(line, what is left out)] of terms of class2 that are not 0."""
        found, used = {}, self.used(script) - set(held)
        for (word, kind), (words, line) in self.crossed.items():
            count, between, _ = CROSSED[self.kind][word]
            if kind in used and any(script.number(w) for w in words[:count]):
                found.setdefault((word, between), (line, []))[1].append(kind)
        return [(line, f"the term {word} of class2, between {between}, of {self.kind}s of the "
                       f"types {' '.join(map(str, sorted(kinds)))}: a job has none")
                for (word, between), (line, kinds) in found.items()]
