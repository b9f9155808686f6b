"""Pair styles lj/charmm/… and what dihedral_style charmm adds between the ends of dihedrals.

Lennard-Jones, and in …/coul/charmm the charges, too, are multiplied by a function that falls from 1
to 0 between an inner and an outer distance: a formula here, as `switch` of a job is another."""
from collections import defaultdict
from itertools import combinations, combinations_with_replacement

from perrin.importing.lines import NotUnderstood
from perrin.lammps.charges import charge_force

FALL = "if(r < {a:g}, 1, ({b:g}^2 - r^2)^2*({b:g}^2 + 2*r^2 - 3*{a:g}^2)/({b:g}^2 - {a:g}^2)^3)"
CHARGES = {"long": None, "charmm": "charge_1*charge_2/r", "charmm/implicit":
           "charge_1*charge_2/r^2"}


def of_style(style):
    """What lj/charmm/coul/… does with charges, or None."""
    kind = style[len("lj/charmm/coul/"):] if style.startswith("lj/charmm/coul/") else None
    return kind if kind in CHARGES else None


def numbers_of(script, table, first):
    """{pair: (epsilon, sigma)} with mixed pairs; first: 0, or 2 for those of 1-4 pairs."""
    from perrin.lammps.forces import mix
    rule = script.pairs.modify["mix"] if script.pairs.mix_said else "arithmetic"
    made = {}
    for pair, words in table.items():
        v = [script.number(w) for w in words[:4]]
        made[pair] = (v[first], v[first + 1]) if len(v) > first + 1 else (v[0], v[1])
    for i, j in combinations(script.there, 2):
        if (i, j) not in made and (i, i) in made and (j, j) in made:
            made[i, j] = mix(rule, (*made[i, i], 1), (*made[j, j], 1))[:2]
    return made


def entries(numbers):
    return [{"types": [str(i), str(j)], "epsilon": e, "sigma": s if e else 1}
            for (i, j), (e, s) in sorted(numbers.items())]


def pair_forces(script, style, settings, table):
    """Forces of one of these styles."""
    kind, v = of_style(style), [script.number(w) for w in settings]
    inner, outer = v[0], v[1]
    made = [{"type": "pair_formula", "energy": "S*4*epsilon*((sigma/r)^12 - (sigma/r)^6); S = " +
             FALL.format(a=inner, b=outer), "cutoff": outer,
             "pairs": entries(numbers_of(script, table, 0))}]
    if kind == "long":
        made.append(charge_force(script, "long", [], settings[2] if len(v) > 2 else settings[1]))
    else:
        a, b = v[2:4] if len(v) > 3 else (inner, outer)
        strength = script.units.coulomb / script.dielectric
        if kind == "charmm":
            script.result.changed.append((script.pairs.lines[-1], "forces are derivatives of the "
                                          "energies; LAMMPS leaves out, between charges, that of "
                                          "the function that falls"))
        made.append({"type": "pair_formula", "energy": f"S*{strength:.12g}*{CHARGES[kind]}; S = " +
                     FALL.format(a=a, b=b), "cutoff": b,
                     "pairs": [{"types": [str(i), str(j)]} for i, j in
                               combinations_with_replacement(script.there, 2)]})
    return made


def ends_of_dihedrals(script, acting):
    """Lennard-Jones and charges between the ends of dihedrals of the style charmm, by the weight of
    the dihedral. acting: the forces of the job."""
    weights = {kind: script.number(words[3])
               for kind, (style, words) in script.bonded["dihedral"].coefficients.items()
               if style == "charmm" and len(words) > 3 and script.number(words[3])}
    if not weights:
        return []
    index = next((k for k, (style, _) in enumerate(script.pairs.styles) if of_style(style)), None)
    if index is None:
        raise NotUnderstood("dihedral_style charmm with weights: expected pair_style lj/charmm")
    there = set(script.there)
    table = {(i, j): words for (k, i, j), words in script.pairs.coefficients.items()
             if k == index and i in there and j in there}
    kinds, members = script.start.lists.get("dihedral", ([], []))
    total = defaultdict(float)
    for kind, ids in zip(kinds, script.start.index(members)):
        if kind in weights:
            total[tuple(sorted((int(ids[0]), int(ids[3]))))] += weights[kind]
    lists = defaultdict(list)
    for pair, weight in sorted(total.items()):
        lists[round(weight, 9)].append(list(pair))
    made, pairs = [], entries(numbers_of(script, table, 2))
    if script.pairs.styles[index][0].endswith("implicit"):
        script.result.not_understood.append((script.bonded["dihedral"].lines[0], "charges between "
                                             "the ends of dihedrals, which go as 1/r^2 here"))
        acting = []
    charged = [f for f in acting if f["type"] == "ewald" or "charge_1" in f.get("energy", "")]
    for weight, ends in lists.items():
        made.append({"type": "special_pairs", "from": "list", "list": ends, "scale": weight,
                     "pairs": pairs})
        if charged:
            made.append({"type": "special_coulomb", "from": "list", "list": ends, "scale": weight,
                         **({"coulomb": {"permittivity": script.dielectric}}
                            if script.dielectric != 1 else {})})
    return made
