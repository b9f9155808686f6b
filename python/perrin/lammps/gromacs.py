"""Pair styles lj/gromacs and lj/gromacs/coul/gromacs, of the MARTINI model: a polynomial is added
between an inner and an outer distance, so that energy, force and its slope end at 0."""
from itertools import combinations_with_replacement

from perrin.importing.lines import NotUnderstood

STYLES = ("lj/gromacs", "lj/gromacs/coul/gromacs")
ADDED = "s0 + if(r < inner, 0, (r - inner)^3*(s3/3 + s4/4*(r - inner)))"


def smoothing(energy, slope, curvature, inner, outer):
    """s3, s4, s0 of a function with this value, and its derivatives, at the outer distance."""
    w = outer - inner
    return {"s3": (w * curvature - 3 * slope) / w ** 2,
            "s4": (2 * slope - w * curvature) / w ** 3,
            "s0": -energy + w * slope / 2 - w ** 2 * curvature / 12, "inner": inner}


def pair_forces(script, style, settings, table, mixing):
    from perrin.lammps.aniso import mixed
    v = [script.number(w) for w in settings]
    pairs, values = [], {}
    for pair, words in table.items():
        numbers = [script.number(w) for w in words]
        if len(numbers) > 2 and style.endswith("coul/gromacs"):
            raise NotUnderstood(f"pair_style {style}: distances for each pair of types")
        values[pair] = numbers[0], numbers[1], tuple(numbers[2:4]) or (v[0], v[1])
    if mixing:
        if any(ends != (v[0], v[1]) for _, _, ends in values.values()):
            raise NotUnderstood(f"pair_style {style}: distances of mixed pairs of types")
        values = {pair: (e, s, (v[0], v[1])) for pair, (e, s, _) in mixed(
            script, {pair: (e, s, v[1]) for pair, (e, s, _) in values.items()}).items()}
    for (i, j), (epsilon, sigma, (inner, outer)) in sorted(values.items()):
        twelve, six = (4 * epsilon * (sigma / outer) ** n for n in (12, 6))
        pairs.append({"types": [str(i), str(j)], "epsilon": epsilon, "sigma": sigma, **smoothing(
            twelve - six, (6 * six - 12 * twelve) / outer, (156 * twelve - 42 * six) / outer ** 2,
            inner, outer), **({"cutoff": outer} if outer != v[1] else {})})
    made = [{"type": "pair_formula", "energy": f"4*epsilon*((sigma/r)^12 - (sigma/r)^6) + {ADDED}",
             "cutoff": v[1], "pairs": pairs}]
    if style.endswith("coul/gromacs"):
        inner, outer = v[2:4] if len(v) > 3 else v[:2]
        strength = script.units.coulomb / script.dielectric
        made.append({
            "type": "pair_formula", "cutoff": outer,
            "energy": f"{strength:.12g}*charge_1*charge_2*(1/r + {ADDED})", "pairs": [
                {"types": [str(i), str(j)], **smoothing(1 / outer, -1 / outer ** 2, 2 / outer ** 3,
                                                        inner, outer)}
                for i, j in combinations_with_replacement(script.there, 2)]})
    return made
