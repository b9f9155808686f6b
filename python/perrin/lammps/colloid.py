"""pair_style colloid: spheres of many small particles (of the diameters d1, d2) and small particles
(of the diameter 0), integrated over their volumes; R. Everaers, M. R. Ejtehadi, Phys. Rev. E 67,
041710 (2003). Formulas are those of LAMMPS's manual."""
from itertools import combinations_with_replacement

from perrin.importing.lines import NotUnderstood

BIG = ("-A/6*(2*a*b/p + 2*a*b/q + log(p/q)) + A*sigma^6/(37800*r)*("
       "(r^2 - 7*r*s + 6*(m + 7*a*b))/(r - s)^7 + (r^2 + 7*r*s + 6*(m + 7*a*b))/(r + s)^7 - "
       "(r^2 + 7*r*d + 6*(m - 7*a*b))/(r + d)^7 - (r^2 - 7*r*d + 6*(m - 7*a*b))/(r - d)^7); "
       "p = r^2 - s^2; q = r^2 - d^2; m = a^2 + b^2; s = a + b; d = a - b")
MIXED = ("2*a^3*sigma^3*A/(9*w^3)*(1 - (5*a^6 + 45*a^4*r^2 + 63*a^2*r^4 + 15*r^6)*sigma^6/"
         "(15*w^6)); w = a^2 - r^2")


def pair_forces(settings, table, types, modify, number, mixing):
    """A force for each kind of pairs that there is: two spheres, one of them, none."""
    cut = number(settings[0])
    missing = len(types) * (len(types) + 1) // 2 - len(table)
    if mixing and missing:
        raise NotUnderstood(f"pair coefficients of {missing} pairs of types, which LAMMPS would "
                            "mix for colloid")
    kinds = {}
    for pair, words in sorted(table.items()):
        a, sigma, *sizes = (number(w) for w in words)
        own = sizes[2] if len(sizes) > 2 else cut
        radii = sorted((v / 2 for v in sizes[:2]), reverse=True)
        kinds.setdefault(sum(v > 0 for v in radii), {})[pair] = a, sigma, radii, own
    shift = {"truncation": "energy_shift"} if modify["shift"] == "yes" else {}
    return [({**force, **shift}, None) for force in (
        made(count, group, types) for count, group in kinds.items())]


def made(count, group, types):
    """Pairs of other kinds have no energy, and a cut-off below which no particles are."""
    cut = max(own for _, _, _, own in group.values())
    force = {"type": "pair_formula" if count else "lennard_jones", "cutoff": cut, "pairs": []}
    if count:
        force["energy"] = BIG if count == 2 else MIXED
    like = next(iter(group.values()))
    for i, j in combinations_with_replacement(types, 2):
        a, sigma, radii, own = group.get((i, j), (0.0, like[1], like[2], 1e-3 * cut))
        entry = {"types": [str(i), str(j)], "sigma": sigma}
        entry.update({"A": a, **dict(zip("ab", radii[:count]))} if count else
                     {"epsilon": a / 144})
        force["pairs"].append(entry if own == cut else {**entry, "cutoff": own})
    return force
