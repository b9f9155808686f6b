"""Pair interactions of LAMMPS as forces of Perrin. Numbers are the script's: `units` converts none
here, since energies and lengths of a job are those of the script (perrin.lammps.units)."""
import math
import os
import re
from itertools import combinations, combinations_with_replacement

from perrin.importing.lines import NotUnderstood, wrong_words
from perrin.lammps import aniso, charmm, colloid, gromacs
from perrin.lammps.charges import charge_force, separated, uncharged
from perrin.lammps.special import of_charges

SUFFIX = re.compile(r"/(omp|opt|gpu|kk|intel)$")


def base(style):
    return SUFFIX.sub("", style)


def several(text, count):
    """Types that `2`, `*`, `1*3`, `*2` or `3*` name."""
    if "*" not in text:
        if not text.isdigit():
            raise NotUnderstood(f"the type {text!r}: labels of types are not translated")
        return [int(text)]
    low, high = text.split("*")
    return list(range(int(low or 1), int(high or count) + 1))


ANGLES = re.compile(r"(sw|tersoff|edip|vashishta|airebo|rebo|adp|meam|comb|comb3|bop|reax|reaxff|"
                    r"snap|pace|gap|quip|kim|nn|deepmd|mliap|allegro|nequip|nb3b|threebody)\b")


def instead_of(style):
    """Why a job has no such pairs, or what may take their place."""
    if ANGLES.match(style):
        return (": forces that depend on more than the places of two particles; a job calls them "
                "as functions of Python (perrin.PythonForce)")
    if style.startswith("eam"):
        return ": sums over neighbours are many_body_formula, which reads formulas, no tables"
    if style.startswith("gran"):
        return ": granular particles, whose friction depends on how they touched before"
    return ": a pair_formula or pair_table may say it, if it depends on distances alone"


# Styles to which pair_modify tail adds something in LAMMPS.
TAILED = re.compile(r"(lj/cut|lj96/cut|lj/class2|mie/cut|buck|born)(/coul/\w+)?$")
DEFAULTS = {"shift": "no", "tail": "no", "mix": "geometric"}  # of pair_modify


class HybridCharges:
    """Sums over charges of the styles of a hybrid: each acts between the pairs of types of its
    style, in a job one acts between all charges."""

    def __init__(self, script):
        self.script, self.forces, self.pairs = script, [], set()

    def new(self, made, pairs):
        """Forces of a style with these pairs of types, without a sum that is there already."""
        mine = [force for force, _ in made if of_charges(force)]
        if not mine:
            return made
        if self.forces and mine != self.forces:
            raise NotUnderstood("charges of two styles of a hybrid with other settings: in a job "
                                "one force acts between all charges")
        if self.pairs & pairs:
            raise NotUnderstood("two styles of a hybrid with charges of the same pair of types")
        self.pairs |= pairs
        if not self.forces:
            self.forces = mine
            return made
        return [(force, note) for force, note in made if not of_charges(force)]

    def missing(self):
        """Why this is not what the script says, where types with charges are left out."""
        if not self.forces:
            return []
        kinds = self.charged()
        left = [(i, j) for i in kinds for j in kinds if i <= j and (i, j) not in self.pairs]
        return [f"charges of particles of the types {i} and {j}, whose style in the hybrid has "
                "none: in a job all charges act on each other" for i, j in left[:1]]

    def charged(self):
        """Types of particles with charges."""
        script = self.script
        made = {int(kind) for kind, value in script.charges.items() if value}
        try:
            made |= set(script.start.type[script.start.get("charge") != 0].tolist())
        except NotUnderstood:  # of a style whose rows are not read
            return list(range(1, script.types + 1))
        return sorted(made)


class Pairs:
    """pair_style, pair_coeff and pair_modify, until they are made forces."""

    def __init__(self):
        self.styles, self.mixed, self.overlay = [], False, False  # (name, settings) of each style
        self.coefficients = {}               # {(style index, i, j): words}
        self.modify = dict(DEFAULTS)
        self.lines, self.coefficient_lines, self.mix_said = [], [], False
        self.nothing = set()  # pairs of types of a hybrid that have no style

    def style(self, words, line):
        """pair_style; the same one again keeps the coefficients, with its own cut-offs."""
        if not self.mixed and self.styles and not words[0].startswith("hybrid") and \
                self.styles[0][0] == base(words[0]):
            self.again(words, line)
            return
        self.styles, self.coefficients, self.lines = [], {}, [line]
        self.coefficient_lines, self.nothing = [], set()
        self.modify, self.mix_said = dict(DEFAULTS), False  # another style has its own
        self.mixed, self.overlay = words[0].startswith("hybrid"), words[0] == "hybrid/overlay"
        if words[0].startswith("hybrid") and words[0] not in ("hybrid", "hybrid/overlay"):
            raise NotUnderstood(f"pair_style {words[0]}")
        if not self.mixed:
            self.styles = [(base(words[0]), words[1:])]
            return
        for word in words[1:]:
            if re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", word) or \
                    self.styles and self.styles[-1][0] in ("table",) and \
                    word in ("linear", "spline", "lookup", "bitmap"):
                self.styles[-1][1].append(word)
            else:
                self.styles.append((base(word), []))

    def again(self, words, line):
        style = base(words[0])
        if self.coefficients and style in PAIRS and style not in KEPT:
            raise NotUnderstood(f"pair_style {style} again, which keeps its coefficients")
        self.styles, self.lines = [(style, words[1:])], [line]
        self.coefficients = {key: rest[:KEPT.get(style)]
                             for key, rest in self.coefficients.items()}

    def coefficient(self, words, types, line):
        self.coefficient_lines.append(line)
        first, second, rest = words[0], words[1], words[2:]
        index = 0
        if self.mixed:
            name = base(rest[0])
            which = [k for k, (style, _) in enumerate(self.styles) if style == name]
            if name == "none":
                for i in several(first, types):
                    for j in several(second, types):
                        self.nothing.add(tuple(sorted((i, j))))
                        for k in range(len(self.styles)):
                            self.coefficients.pop((k, *sorted((i, j))), None)
                return
            if not which:
                raise NotUnderstood(f"pair_coeff of {name}, which pair_style does not name")
            rest, index = rest[1:], which[0]
            if len(which) > 1:
                index, rest = which[int(rest[0]) - 1], rest[1:]
        for i in several(first, types):
            for j in several(second, types):
                if i <= j or "*" not in first + second:
                    self.keep(index, tuple(sorted((i, j))), rest)

    def keep(self, index, pair, words):
        """A pair of types of a hybrid has one style, the last one; of an overlay several."""
        if self.mixed and not self.overlay:
            for k in range(len(self.styles)):
                self.coefficients.pop((k, *pair), None)
        self.nothing.discard(pair)
        self.coefficients[(index, *pair)] = words

    def section(self, name, rows, types):
        for row in rows:
            both = row[:2] if name == "PairIJ Coeffs" else [row[0], row[0]]
            self.coefficient(both + row[2 if name == "PairIJ Coeffs" else 1:], types, None)

    def forces(self, script):
        """[(force, note or None)] of all styles, and reasons why one has none."""
        made, failed, charges = [], [], HybridCharges(script)
        there = set(script.there)
        for index, (style, settings) in enumerate(self.styles):
            table = {(i, j): words for (k, i, j), words in self.coefficients.items()
                     if k == index and i in there and j in there}
            try:
                if style in ("none", "zero"):
                    continue
                own = self.of_style(script, style, settings, table)
                if self.modify["tail"] == "yes" and TAILED.match(style) and \
                        not any(force.get("tail") for force, _ in own):
                    failed.append(f"the long-range correction (tail) of pair_style {style}")
                if self.mixed:
                    own = charges.new(own, {*table, *self.mixable(table, script.there)})
                made += own
            except NotUnderstood as error:
                if self.mixed and self.of_nobody(script, table):
                    continue
                failed.append(str(error))
            except (IndexError, ValueError, KeyError) as error:
                failed.append(f"pair_style {style}: {wrong_words(error)}")
        return made, failed + charges.missing()

    def of_nobody(self, script, table):
        """Whether a style of a hybrid acts between types alone of which there are no particles. One
        without coefficients is a word that belongs to a style before."""
        if not table:
            return True
        try:
            there = set(script.start.type.tolist())
        except NotUnderstood:  # of a style whose rows are not read
            return False
        return not script.reservoir and not any({i, j} <= there for i, j in table)

    def mixable(self, table, types):
        """Pairs that a hybrid leaves to mixing: nobody names them, and both types have the same
        styles."""
        styles = {}
        for k, i, j in self.coefficients:
            styles.setdefault((i, j), set()).add(k)
        return {(i, j) for i, j in combinations(types, 2)
                if (i, j) not in styles and (i, j) not in self.nothing and
                styles.get((i, i)) == styles.get((j, j)) and {(i, i), (j, j)} <= set(table)}

    def of_style(self, script, style, settings, table):
        """The forces of a style; of a hybrid without the pairs that are no part of it."""
        if not self.mixed:
            return self.made_of(script, style, settings, table, True)
        free = self.mixable(table, script.there)
        made = self.made_of(script, style, settings, table, bool(free))
        allowed = {*table, *free}
        for force, _ in made:
            if "pairs" in force and "charge_1" not in force.get("energy", ""):
                force["pairs"] = [e if tuple(map(int, e["types"])) in allowed else without(e)
                                  for e in force["pairs"]]
        return made

    def made_of(self, script, style, settings, table, mixing):
        types = script.there
        if style in aniso.STYLES:
            return [(with_all_pairs(force, types) if "pairs" in force else force, None)
                    for force in aniso.forces(script, style, settings, table, mixing)]
        if charmm.of_style(style):
            return [(force, None) for force in charmm.pair_forces(script, style, settings, table)]
        if style in gromacs.STYLES:
            return [(with_all_pairs(force, types), None) for force in gromacs.pair_forces(
                script, style, settings, table, mixing)]
        if style == "table":
            return tabulated(script, table, types)
        made, (named, (style, kind)) = [], (style, uncharged(style))
        if kind is not None:
            (settings, table), own, cutoff = separated(named, settings, table, kind, style)
            made.append((charge_force(script, kind, own, cutoff), None))
            if style is None:
                return made
        if style not in PAIRS:
            raise NotUnderstood(f"pair_style {style}" + instead_of(style))
        if mixing and not table:
            raise NotUnderstood(f"pair_style {style} without pair_coeff")
        for force, note in PAIRS[style](settings, table, types, self.modify, script.number, mixing):
            if style in ("dpd", "dpd/tstat"):
                for entry in force["pairs"]:
                    entry["gamma"] = script.units.force_per_velocity(entry["gamma"])
            made.append((with_all_pairs(force, types), note))
        return made


def table_entry(script, file, *keyword):
    """A table of a file that is there."""
    path = script.file(file)
    if not os.path.exists(path):
        raise NotUnderstood(f"the file {file} is not there")
    return {"file": os.path.relpath(path, script.folder),
            **({"keyword": keyword[0]} if keyword else {})}


def of_zeros(script):
    """A table beside the job for pairs of types that a hybrid gives another style."""
    name = f"{script.name}-zero.table"
    path = os.path.join(script.folder, name)
    if path not in script.result.data:
        with open(path, "w") as file:
            file.write("# r and energy of pairs that have no table, made by perrin import\n"
                       "0.1 0\n0.2 0\n0.3 0\n")
        script.result.data.append(path)
    return name


def tabulated(script, table, types):
    """pair_style table: the same files, which a job reads, too."""
    missing = [pair for pair in combinations_with_replacement(types, 2) if pair not in table]
    if missing and not script.pairs.mixed:
        raise NotUnderstood(f"pair_style table without rows for the types {missing[0][0]} and "
                            f"{missing[0][1]}")
    pairs = []
    for (i, j), words in sorted(table.items()):
        pairs.append({"types": names(i, j), **table_entry(script, *words[:2]),
                      **({"cutoff": script.number(words[2])} if len(words) > 2 else {})})
    pairs += [{"types": names(i, j), "file": of_zeros(script)} for i, j in missing]
    return [({"type": "pair_table", "pairs": pairs}, "a spline is between the rows of a table in "
             "place of LAMMPS's own points")]


def with_all_pairs(force, types):
    """A force needs parameters for all pairs of types: 0 where LAMMPS's style has none."""
    listed = {tuple(entry["types"]) for entry in force["pairs"]}
    like = force["pairs"][0]
    for i, j in combinations_with_replacement(types, 2):
        if (str(i), str(j)) not in listed:
            force["pairs"].append({"types": names(i, j), **{
                k: 0 if k in STRENGTHS else v for k, v in like.items()
                if k not in ("types", "cutoff")}})
    return force


def without(entry):
    """An entry of a pair of types that has none of this force."""
    return {k: 0 if k in STRENGTHS else v for k, v in entry.items()}


# Styles that may be named again, and how many coefficients stand before a cut-off.
KEPT = {"lj/cut": 2, "lj/class2": 2, "lj/smooth/linear": 2, "lj/sf": 2, "morse": 3, "buck": 3,
        "yukawa": 1, "soft": 1, "gauss": 2, "lj96/cut": 2, "born": 5, "mie/cut": 4,
        "lj/cut/coul/cut": 2, "lj/cut/coul/long": 2, "lj/cut/coul/debye": 2, "coul/cut": 0,
        "coul/long": 0}
STRENGTHS = ("epsilon", "strength", "depth", "amplitude", "dispersion", "repulsion", "gamma",
             "A", "C", "D", "s0", "s3", "s4")


def names(i, j):
    return [str(i), str(j)]


def truncation(modify, force, allowed=True):
    if modify["shift"] == "yes":
        force["truncation"] = "energy_shift"
    return force


def mix(rule, a, b):
    """epsilon, sigma and cut-off of an unlike pair (pair_modify mix)."""
    (e1, s1, c1), (e2, s2, c2) = a, b
    epsilon = math.sqrt(e1 * e2)
    if rule == "geometric":
        return epsilon, math.sqrt(s1 * s2), math.sqrt(c1 * c2)
    if rule == "arithmetic":
        return epsilon, (s1 + s2) / 2, (c1 + c2) / 2
    if rule == "sixthpower":
        sixth = (s1 ** 6 + s2 ** 6) / 2
        return (2 * epsilon * (s1 * s2) ** 3 / (s1 ** 6 + s2 ** 6), sixth ** (1 / 6),
                ((c1 ** 6 + c2 ** 6) / 2) ** (1 / 6))
    raise NotUnderstood(f"pair_modify mix {rule}")


def lennard_jones(settings, table, types, modify, number, mixing, kind="lennard_jones"):
    cut = number(settings[0])

    def read(words):
        v = [number(w) for w in words]
        return v[0], v[1], v[2] if len(v) > 2 else cut

    values = {pair: read(words) for pair, words in table.items()}
    if mixing:
        for i, j in combinations(types, 2):
            if (i, j) not in values and (i, i) in values and (j, j) in values:
                values[i, j] = mix(modify["mix"], values[i, i], values[j, j])
    force = {"type": kind, "cutoff": cut}
    if kind == "lennard_jones":
        if modify["tail"] == "yes":
            force["tail"] = True
        truncation(modify, force)
    force["pairs"] = []
    for (i, j), (epsilon, sigma, own) in sorted(values.items()):
        if sigma == 0 or epsilon == 0 or own == 0:
            epsilon, sigma, own = 0, 1, cut
        entry = {"types": names(i, j), "epsilon": epsilon, "sigma": sigma}
        if own != cut:
            entry["cutoff"] = own
        force["pairs"].append(entry)
    return [(force, None)] if force["pairs"] else []


def smooth_linear(settings, table, types, modify, number, mixing):
    (force, note), = lennard_jones(settings, table, types, {**modify, "shift": "no", "tail": "no"},
                                   number, mixing)
    return [({**force, "truncation": "force_shift"}, note)]


def simple(kind, keys, convert=lambda v: v, shift=True, tail=False, count=None):
    """A style whose coefficients are numbers, one after the other, and a cut-off. tail: whether
    the force has a long-range correction; count: of coefficients, where it is not that of keys."""
    count = len(keys) if count is None else count

    def make(settings, table, types, modify, number, mixing):
        cut = number(settings[-1]) if settings else None
        force = {"type": kind, **({"cutoff": cut} if cut is not None else {})}
        if shift:
            truncation(modify, force)
        if tail and modify["tail"] == "yes":
            force["tail"] = True
        force["pairs"] = []
        for (i, j), words in sorted(table.items()):
            v = [number(w) for w in words]
            entry = {"types": names(i, j), **dict(zip(keys, convert(v[:count])))}
            if len(v) > count and v[count] != cut:
                entry["cutoff"] = v[count]
            force["pairs"].append(entry)
        missing = len(types) * (len(types) + 1) // 2 - len(table)
        if mixing and missing:
            raise NotUnderstood(f"pair coefficients of {missing} pairs of types, which LAMMPS "
                                f"would mix for {kind}")
        return [(force, None)]

    return make


def yukawa(settings, table, types, modify, number, mixing):
    kappa = number(settings[0])
    (force, note), = simple("yukawa", ["amplitude"])(settings, table, types, modify, number, mixing)
    for entry in force["pairs"]:
        entry["kappa"] = kappa
    return [(force, note)]


def formula(energy, keys):
    make = simple("pair_formula", keys)

    def made(*arguments):
        (force, note), = make(*arguments)
        return [({"type": force.pop("type"), "energy": energy, **force}, note)]

    return made


def class2(settings, table, types, modify, number, mixing):
    """epsilon [2 (sigma/r)^9 - 3 (sigma/r)^6], whose minimum is at sigma; epsilon and sigma are
    mixed by sixth powers, whatever `pair_modify mix` says of cut-offs."""
    cut, values = number(settings[0]), {}
    for pair, words in table.items():
        v = [number(w) for w in words]
        values[pair] = v[0], v[1], v[2] if len(v) > 2 else cut
    for i, j in combinations(types, 2) if mixing else ():
        if (i, j) not in values and (i, i) in values and (j, j) in values:
            a, b = values[i, i], values[j, j]
            values[i, j] = (*mix("sixthpower", a, b)[:2], mix(modify["mix"], a, b)[2])
    force = truncation(modify, {"type": "mie", "cutoff": cut})
    if modify["tail"] == "yes":
        force["tail"] = True
    force["pairs"] = [{
        "types": names(i, j), "epsilon": epsilon, "sigma": sigma / 1.5 ** (1 / 3) if epsilon else 1,
        "repulsive": 9, "attractive": 6, **({"cutoff": own} if own != cut else {})}
        for (i, j), (epsilon, sigma, own) in sorted(values.items())]
    return [(force, None)]


def cubic(settings, table, types, modify, number, mixing):
    """Lennard-Jones up to its inflection point, and from there a cubic that ends at 0 with its
    force. m: the minimum; s: the inflection point, p, d: the energy and its slope there, end: the
    length of the cubic, in units of m and epsilon."""
    (force, note), = lennard_jones(["1"], table, types, {**modify, "tail": "no"}, number, mixing)
    m, s = 2 ** (1 / 6), (13 / 7) ** (1 / 6)
    p, d = s ** -12 - 2 * s ** -6, 12 * (s ** -7 - s ** -13)
    end = -1.5 * p / d
    made = {"type": "pair_formula", "energy": (
        f"if(r < {m * s:.15g}*sigma, 4*epsilon*((sigma/r)^12 - (sigma/r)^6), "
        f"epsilon*({p:.15g} + {d:.15g}*t - {d / (3 * end * end):.15g}*t^3)); "
        f"t = r/({m:.15g}*sigma) - {s:.15g}")}
    made["cutoff"] = max(m * (s + end) * pair["sigma"] for pair in force["pairs"])
    made["pairs"] = [{**pair, "cutoff": m * (s + end) * pair["sigma"]} for pair in force["pairs"]]
    return [(made, note)]


def soft(settings, table, types, modify, number, mixing):
    """A (1 + cos(pi r / cut)); each cut-off is a parameter, too."""
    values = {(i, j): [number(w) for w in words] for (i, j), words in table.items()}
    cut = number(settings[0])
    for i, j in combinations(types, 2) if mixing else ():
        if (i, j) not in values and (i, i) in values and (j, j) in values:
            a, b = values[i, i], values[j, j]
            e, _, c = mix("geometric", (a[0], 1, a[1] if len(a) > 1 else cut),
                          (b[0], 1, b[1] if len(b) > 1 else cut))
            values[i, j] = [e, c]
    force = {"type": "pair_formula", "energy": "A*(1 + cos(pi*r/rc))", "cutoff": cut, "pairs": []}
    for (i, j), v in sorted(values.items()):
        own = v[1] if len(v) > 1 else cut
        force["pairs"].append({"types": names(i, j), "A": v[0], "rc": own,
                               **({"cutoff": own} if own != cut else {})})
    return [(force, None)]


def dpd(settings, table, types, modify, number, mixing):
    (force, note), = simple("dpd", ["repulsion", "gamma"], shift=False)(
        settings[1:2], table, types, modify, number, mixing)
    return [({"type": "dpd", "temperature": number(settings[0]), **force}, note)]


def dpd_thermostat(settings, table, types, modify, number, mixing):
    if number(settings[0]) != number(settings[1]):
        raise NotUnderstood("dpd/tstat with a temperature that changes")
    (force, note), = simple("dpd_thermostat", ["gamma"], shift=False)(
        settings[2:3], table, types, modify, number, mixing)
    return [({"type": "dpd_thermostat", "temperature": number(settings[0]), **force}, note)]


PAIRS = {"lj/cut": lennard_jones, "lj/smooth/linear": smooth_linear, "lj/sf": smooth_linear,
         "morse": simple("morse", ["depth", "steepness", "distance"]),
         "buck": simple("buckingham", ["amplitude", "rho", "dispersion"], tail=True),
         "lj/cubic": cubic, "colloid": colloid.pair_forces,
         "mie/cut": simple("mie", ["epsilon", "sigma", "repulsive", "attractive"], tail=True),
         "lj/class2": class2,
         "yukawa": yukawa, "soft": soft, "dpd": dpd, "dpd/tstat": dpd_thermostat,
         "gauss": formula("-A*exp(-B*r^2)", ["A", "B"]),
         "lj96/cut": simple("mie", ["epsilon", "sigma", "repulsive", "attractive"], tail=True,
                            convert=lambda v: [v[0] * 16 / 27, v[1], 9, 6], count=2),
         "born": formula("A*exp((sigma - r)/rho) - C/r^6 + D/r^8", ["A", "rho", "sigma", "C", "D"])}
