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
            if key == "compute" and words[0] == "no":
                raise NotUnderstood("pair_modify compute no: pairs of a job act")
            if key in ("table", "table/disp", "compute", "tabinner"):
                words = words[1:]
            elif key in known:
                self.pairs.modify[key] = words.pop(0)
                self.pairs.mix_said |= key == "mix"
            else:
                raise NotUnderstood(f"pair_modify {key}")

    def do_special_bonds(self, rest, line):
        """Weights of pairs along bonds: of pair forces, and of charges. What a command does not
        name is 0, whatever one before has said."""
        words, weights, charges = list(rest), (0, 0, 0), (0, 0, 0)
        self.special_line, self.special_listed = line, {"angle": False, "dihedral": False}
        known = {"fene": (0, 1, 1), "charmm": (0, 0, 0), "dreiding": (0, 0, 1)}
        while words:
            word = words.pop(0)
            if word in known:
                weights = charges = known[word]
            elif word == "amber":
                weights, charges = (0, 0, 0.5), (0, 0, 5 / 6)
            elif word in ("lj", "lj/coul", "coul"):
                said, words = [self.number(w) for w in words[:3]], words[3:]
                weights = weights if word == "coul" else said
                charges = charges if word == "lj" else said
            elif word in self.special_listed:
                self.special_listed[word] = words.pop(0) in ("yes", "on", "true")
            elif word in ("one/five", "extra"):
                words = words[1:]
            else:
                raise NotUnderstood(f"special_bonds with {word}")
        self.special, self.special_charges = (
            tuple(float(v) if v > 1e-50 else 0.0 for v in of)  # 1e-100 is LAMMPS's 0
            for of in (weights, charges))


def bonded(kind):
    def style(self, rest, line):
        self.bonded[kind].style(rest, line)

    def coefficient(self, rest, line):
        self.bonded[kind].coefficient(rest, self.kinds(kind), line)

    setattr(Styles, f"do_{kind}_style", style)
    setattr(Styles, f"do_{kind}_coeff", coefficient)


for _kind in ("bond", "angle", "dihedral", "improper"):
    bonded(_kind)
