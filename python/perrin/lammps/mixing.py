"""Force fields of many types: pairs that a mixing rule gives are left to the rule of the job.

A list of all pairs of a thousand types takes minutes to write and to read."""
import math

MANY = 1000  # pairs of types
SIGMA = {"geometric": lambda a, b: math.sqrt(a * b), "arithmetic": lambda a, b: (a + b) / 2}
KEYS = {"types", "epsilon", "sigma"}


def by_rule(force):
    """Takes out of a force of epsilon and sigma the pairs of unlike types that a rule gives."""
    pairs = force.get("pairs", ())
    if len(pairs) <= MANY or "mixing" in force or any(set(entry) != KEYS for entry in pairs):
        return
    like = {entry["types"][0]: entry for entry in pairs if len(set(entry["types"])) == 1}
    rule, kept = min(((rule, [entry for entry in pairs if not given(entry, like, sigma)])
                      for rule, sigma in SIGMA.items()), key=lambda found: len(found[1]))
    if len(kept) > len(pairs) / 2:
        return
    force["pairs"] = kept
    force["mixing"] = {"epsilon": "geometric", "sigma": rule} if "energy" in force else \
        {"geometric": "geometric", "arithmetic": "lorentz_berthelot"}[rule]


def given(entry, like, sigma):
    """Whether the rule makes this pair out of those of like types."""
    first, second = entry["types"]
    if first == second or first not in like or second not in like:
        return False
    a, b = like[first], like[second]
    deep = math.sqrt(a["epsilon"] * b["epsilon"])
    return abs(entry["epsilon"] - deep) <= 1e-12 * deep and (
        not deep or abs(entry["sigma"] - sigma(a["sigma"], b["sigma"])) <= 1e-12 * entry["sigma"])
