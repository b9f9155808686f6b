"""Bonds, angles, dihedrals and impropers of LAMMPS as forces of Perrin."""
import re

from perrin.importing.lines import NotUnderstood
from perrin.lammps.forces import base, several


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


def powers(v):
    """Of -cos(phi), that of Ryckaert and Bellemans."""
    if len(v) > 6:
        raise NotUnderstood("dihedral_style nharmonic with more than 6 coefficients")
    return {"c": [a * (-1) ** n for n, a in enumerate(v)] + [0] * (6 - len(v))}


def improper(v):
    if v[1] != 0:
        raise NotUnderstood("improper_style harmonic with an angle that is not 0")
    return {"stiffness": 2 * v[0], "angle": 0}


BONDED = {
    ("bond", "harmonic"): harmonic("bond_harmonic", "length"),
    ("bond", "fene"): ("bond_fene", lambda v: {
        "stiffness": v[0], "maximum_length": v[1],
        **({"epsilon": v[2], "sigma": v[3]} if v[2] else {})}),
    ("angle", "harmonic"): harmonic("angle_harmonic", "angle"),
    ("angle", "cosine"): harmonic("angle_cosine", None, 1),
    ("angle", "cosine/squared"): harmonic("angle_cosine_squared", "angle"),
    ("angle", "charmm"): harmonic("angle_harmonic", "angle"),
    ("improper", "harmonic"): ("improper_harmonic", improper),
    ("dihedral", "harmonic"): ("dihedral_periodic", lambda v: {"terms": [
        {"stiffness": v[0], "multiplicity": int(v[2]), "phase": 0 if v[1] > 0 else 180 * (
            1 if int(v[2]) else 0)}]}),
    ("dihedral", "opls"): ("dihedral_opls", lambda v: {"k": v[:4]}),
    ("dihedral", "charmm"): ("dihedral_periodic", charmm),
    ("dihedral", "multi/harmonic"): ("dihedral_ryckaert_bellemans", lambda v: powers(v[:5])),
    ("dihedral", "nharmonic"): ("dihedral_ryckaert_bellemans", lambda v: powers(v[1:])),
    ("dihedral", "fourier"): ("dihedral_periodic", fourier),
    ("improper", "cvff"): ("improper_periodic", lambda v: {"terms": [
        {"stiffness": v[0], "multiplicity": int(v[2]), "phase": 0 if v[1] > 0 else 180}]}),
}


class Bonded:
    """bond_style and bond_coeff, or those of angles, dihedrals or impropers."""

    def __init__(self, kind):
        self.kind, self.styles, self.coefficients, self.lines = kind, [], {}, []
        self.left = []  # types of angles with a spring between their ends

    def style(self, words, line):
        self.coefficients, self.lines = {}, [line]
        self.styles = [base(w) for w in (words[1:] if words[0] == "hybrid" else words[:1])
                       if not re.fullmatch(r"[-+\d.]+", w)]
        self.mixed = words[0] == "hybrid"

    def coefficient(self, words, types, line):
        if not self.styles:
            raise NotUnderstood(f"{self.kind}_coeff before {self.kind}_style")
        style, rest = (base(words[1]), words[2:]) if self.mixed else (self.styles[0], words[1:])
        for kind in several(words[0], types):
            self.coefficients[kind] = style, rest
        self.lines.append(line)

    def forces(self, number, held=()):
        """[force]. held: types that are constrained and have none."""
        made, self.left = {}, []
        for kind, (style, words) in sorted(self.coefficients.items()):
            if style in ("zero", "none") or kind in held:
                continue
            if (self.kind, style) not in BONDED:
                raise NotUnderstood(f"{self.kind}_style {style}")
            type_name, entry = BONDED[self.kind, style]
            if (self.kind, style) == ("angle", "charmm") and len(words) > 2 and number(words[2]):
                self.left.append(kind)
            made.setdefault(type_name, {})[str(kind)] = entry([number(w) for w in words])
        every = {str(kind) for kind in self.coefficients}
        forces = []
        for type_name, entries in made.items():
            force = {"type": type_name, f"{self.kind}s": entries}
            if every - set(entries):
                force["skip"] = sorted(every - set(entries))
            forces.append(force)
        return forces
