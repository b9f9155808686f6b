"""Patchy pair potentials of HOOMD-blue: an isotropic one times a factor for the patch of each of
the two particles, as a formula of the angles to the axes. A particle has one axis in a formula, and
so one patch, or two that are opposite."""
import numpy as np

from perrin.hoomd.aniso import take_turns
from perrin.hoomd.values import Unknown, number, vector
from perrin.importing.lines import NotUnderstood
from perrin.importing.quaternions import from_x
from perrin.importing.write import Commented

# S is 1 on the patch and 0 at the other side; c, low, high: of the envelope.
ENVELOPE = ("; S1 = F1 + two*(1/(1 + exp(omega*(c + cos_1))) - low)/(high - low)"
            "; S2 = F2 + two*(1/(1 + exp(omega*(c + cos_2))) - low)/(high - low)"
            "; F1 = (1/(1 + exp(omega*(c - cos_1))) - low)/(high - low)"
            "; F2 = (1/(1 + exp(omega*(c - cos_2))) - low)/(high - low)")


def directors(thing, types):
    """{type: unit vectors} of the patches; at most one, or two that are opposite."""
    table, made = thing.table("directors"), {}
    for name in types:
        line = table.lines.get(name, thing.line)
        if name not in table:
            raise NotUnderstood(f"directors of {name} are missing", line)
        if isinstance(table[name], Unknown):
            raise NotUnderstood(f"directors of {name}: {table[name].reason}", line)
        found = [np.array(vector(d, "directors", line)) for d in table[name]]
        found = [d / np.linalg.norm(d) for d in found]
        if len(found) > 2 or len(found) == 2 and np.linalg.norm(found[0] + found[1]) > 1e-6:
            raise NotUnderstood(f"{len(found)} patches of {name}: a formula has one axis for each "
                                "particle, with one patch or two that are opposite; for more see "
                                "the force \"patchy\"", line)
        made[name] = found
    return made


def patchy(thing, entries, form, parameters, script):
    """`form`: of the isotropic potential; parameters(entry): its numbers by the names that they
    have in the formula."""
    mode = thing.get("mode", "none")
    if mode not in ("none", "shift"):
        raise NotUnderstood(f"mode: expected none or shift, got {mode!r}", thing.line_of("mode"))
    patches = directors(thing, script.types)
    acting = {pair: e for pair, e in entries.items()
              if e and all(patches[name] for name in pair)}
    if not acting:
        raise NotUnderstood("no pair of types has a cut-off and patches")
    energy, _, rest = form.energy.partition(";")
    made = {"type": "anisotropic_formula",
            "energy": f"S1*S2*({energy})" + (f";{rest}" if rest else "") + ENVELOPE,
            "cutoff": max(e["r_cut"] for e in acting.values())}
    if mode == "shift":
        made["truncation"] = "energy_shift"
    made["pairs"] = []
    like = next(iter(acting))
    for pair in entries:
        entry = acting.get(pair)
        one = {"types": list(pair), **numbers(entries[like] if entry is None else entry,
                                              parameters)}
        counts = {len(patches[name]) for name in (pair if entry else like)}
        if len(counts) > 1:
            raise NotUnderstood(f"one patch of {pair[0]} and two of {pair[1]}, or the other way "
                                "round", entry["line"])
        one["two"] = max(counts) - 1
        if entry is None:
            one.update({k: 0 for k in form.off})
        elif entry["r_cut"] != made["cutoff"]:
            one["cutoff"] = entry["r_cut"]
        made["pairs"].append(Commented(one, entry["line"] if entry else None))
    take_turns(script, {name: from_x(found[0]) if found else None
                        for name, found in patches.items()})
    return Commented(made, thing.line)


def numbers(entry, parameters):
    for name in ("pair_params", "envelope_params"):
        if not isinstance(entry.get(name), dict):
            raise NotUnderstood(f"{name} is missing or not known", entry["line"])
    alpha, omega = (number(entry["envelope_params"].get(k), k, entry["line"])
                    for k in ("alpha", "omega"))
    c = np.cos(alpha)
    low, high = (float(1 / (1 + np.exp(-omega * (x - c)))) for x in (-1, 1))
    if not high > low:
        raise NotUnderstood("omega of a patch: expected a positive number", entry["line"])
    return {**parameters({**entry["pair_params"], "line": entry["line"]}), "omega": omega,
            "c": float(c), "low": low, "high": high}
