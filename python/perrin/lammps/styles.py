"""Interactions: styles, coefficients and special bonds."""
from perrin.importing.lines import NotUnderstood


class Styles:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_pair_style(self, rest, line):
        self.pairs.style(rest, line)

    def do_pair_coeff(self, rest, line):
        self.pairs.coefficient(rest, self.types, line)

    def do_pair_modify(self, rest, line):
        known = {"shift", "tail", "mix"}
        words = list(rest)
        while words:
            key = words.pop(0)
            if key in ("table", "table/disp", "compute", "tabinner"):
                words = words[1:]
            elif key in known:
                self.pairs.modify[key] = words.pop(0)
            else:
                raise NotUnderstood(f"pair_modify {key}")

    def do_special_bonds(self, rest, line):
        words, values = list(rest), None
        while words:
            word = words.pop(0)
            if word == "fene":
                values = (0.0, 1.0, 1.0)
            elif word == "charmm":
                values = (0.0, 0.0, 0.0)
            elif word == "dreiding":
                values = (0.0, 0.0, 1.0)
            elif word in ("lj", "lj/coul"):
                values, words = tuple(self.number(w) for w in words[:3]), words[3:]
            elif word == "coul":
                words = words[3:]
            elif word in ("angle", "dihedral", "one/five"):
                words = words[1:]
            elif word == "extra":
                words = words[1:]
            else:
                values, words = tuple(self.number(w) for w in [word, *words[:2]]), words[2:]
        if values is not None:
            self.special = tuple(v if v > 1e-50 else 0.0 for v in values)  # 1e-100 is LAMMPS's 0

    def do_kspace_style(self, rest, line):
        if rest[0] != "none":
            raise NotUnderstood(f"kspace_style {rest[0]}: long-range sums")


def bonded(kind):
    def style(self, rest, line):
        self.bonded[kind].style(rest, line)

    def coefficient(self, rest, line):
        self.bonded[kind].coefficient(rest, self.kinds(kind), line)

    setattr(Styles, f"do_{kind}_style", style)
    setattr(Styles, f"do_{kind}_coeff", coefficient)


for _kind in ("bond", "angle", "dihedral", "improper"):
    bonded(_kind)
