"""Charges of LAMMPS: pair styles coul/… alone or beside another style, kspace_style, dielectric.

The constant of Coulomb's law is the same in both: 1 in units lj, e^2/(4 pi eps_0) in the others."""
import re

from perrin.importing.lines import NotUnderstood

# Styles that are sums of charges, with the settings that stand before their cut-off.
CHARGED = {"cut": [], "long": [], "debye": ["kappa"], "dsf": ["damping"], "wolf": ["damping"]}
SPLIT = re.compile(r"(?:(lj/cut|lj/class2|buck|born)/)?coul/(\w+)$")
FOR_DIPOLES = ("ewald/disp", "ewald/disp/dipole", "ewald/dipole", "pppm/dipole")
IGNORED = ("gewald", "mesh", "mesh/disp", "order", "order/disp", "mix/disp", "minorder", "overlap",
           "diff", "fftbench", "collective", "compute", "cutoff/adjust", "eigtol", "force",
           "force/disp/real", "pressure/scalar", "scafacos", "splittol", "disp/auto", "kmax/ewald",
           "gewald/disp")


class Charges:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_kspace_style(self, rest, line):
        if rest[0] == "none":
            self.kspace = None
            return
        style = re.sub(r"/(omp|opt|gpu|kk|intel)$", "", rest[0])
        if style not in ("ewald", "pppm", "pppm/cg", "pppm/stagger", *FOR_DIPOLES):
            raise NotUnderstood(f"kspace_style {rest[0]}: expected ewald or pppm")
        self.kspace, self.kspace_style = {"accuracy": self.number(rest[1])}, style
        if style.startswith("pppm"):
            self.kspace["mesh"] = {}

    def do_kspace_modify(self, rest, line):
        words = list(rest)
        while words:
            key = words.pop(0)
            if key == "slab":
                self.slab = words.pop(0)
                if self.slab == "nozforce":
                    raise NotUnderstood("kspace_modify slab nozforce")
            elif key == "compute" and words[0] == "no":
                raise NotUnderstood("kspace_modify compute no: charges of a job act")
            elif key in IGNORED:
                words = words[3 if key.startswith(("mesh", "kmax")) else 1:]
            else:
                raise NotUnderstood(f"kspace_modify {key}")
        if self.slab is None:
            self.result.no_effect.append(line)

    def do_dielectric(self, rest, line):
        self.dielectric = self.number(rest[0])

    def set_charge(self, which, value):
        """`set type I charge q` of particles that the script makes."""
        from perrin.lammps.forces import several
        for kind in several(which, self.types):
            self.charges[str(kind)] = value

    def charges_of_particles(self):
        """Charges by type become those of the particles."""
        for kind, value in self.charges.items():
            self.start.set("charge", self.start.type == int(kind), value)
        self.charges = {}


def net_charge(script):
    """Of all particles at the start; 0 where it is not known. LAMMPS warns of another, and adds a
    uniform background."""
    try:
        start = script.start
    except NotUnderstood:
        return 0.0
    return float(start.get("charge").sum() + sum(
        value * (start.type == int(kind)).sum() for kind, value in script.charges.items()))


def uncharged(style):
    """(style of what is not charges, kind of sum over charges); None where there is none."""
    match = SPLIT.match(style)
    if not match or match[2] not in CHARGED:
        return style, None
    return match[1], match[2]


def separated(style, settings, table, kind, other):
    """Settings and coefficients of the style that is beside the charges, and those of the charges:
    ((settings, table), [numbers before the cut-off], cut-off)."""
    extra = len(CHARGED[kind])
    own, rest = settings[:extra], settings[extra:]
    if not rest:
        raise NotUnderstood(f"pair_style {style}: the cut-off is missing")
    count = {"lj/cut": 2, "lj/class2": 2, "buck": 3, "born": 5, None: 0}[other]
    for words in table.values():  # epsilon sigma [cut-off [cut-off of charges]]
        if len(words) > count + (1 if other else 0):
            raise NotUnderstood(f"pair_style {style}: a cut-off of charges for each pair of types")
    return (rest[:1], table), own, rest[-1]


def charge_force(script, kind, own, cutoff):
    """The force of all charges."""
    number, made = script.number, {}
    if kind == "long":
        if script.kspace is None:
            raise NotUnderstood("pair_style …/coul/long without a kspace_style")
        if script.kspace_style in FOR_DIPOLES:
            raise NotUnderstood(f"kspace_style {script.kspace_style} of charges")
        made = {"type": "ewald", "cutoff": number(cutoff), **script.kspace}
        if abs(net_charge(script)) > 1e-6:
            if script.slab is not None:
                raise NotUnderstood("kspace_modify slab of charges that do not add up to 0: their "
                                    "dipole depends on the origin")
            made["net_charge"] = "background"
            script.result.changed.append((script.pairs.lines[-1], "charges do not add up to 0: the "
                                          "uniform charge that makes the system neutral is in the "
                                          "pressure, in LAMMPS in the energy alone"))
        if script.slab is not None:
            made["slab"] = number(script.slab)
    elif kind in ("dsf", "wolf"):
        made = {"type": "coulomb_dsf", "cutoff": number(cutoff), "damping": number(own[0]),
                "truncation": "force_shift" if kind == "dsf" else "energy_shift"}
    elif kind == "debye":
        made = {"type": "debye_hueckel", "cutoff": number(cutoff), "kappa": number(own[0])}
    else:
        made = {"type": "coulomb", "cutoff": number(cutoff)}
    if script.dielectric != 1:
        made["coulomb"] = {"permittivity": script.dielectric}
    return made
