"""Pair potentials of HOOMD-blue as forces of Perrin.

Each has its energy as a formula of r with HOOMD-blue's names of parameters (those that formulas of
Perrin have for other things are renamed), and the force of Perrin that is the same function, if
there is one. `off` are the parameters that are 0 between types that do not interact.
"""
import math
import re

import numpy as np

from perrin.hoomd.aniso import aniso_force
from perrin.hoomd.patchy import patchy
from perrin.hoomd.values import Unknown, number
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

SMOOTH = ("; s = if(r < r_on, 1, (r_c^2 - r^2)^2*(r_c^2 + 2*r^2 - 3*r_on^2)/(r_c^2 - r_on^2)^3)")
EXPANDED = "; d = r - delta"


class Form:
    def __init__(self, energy, off, native=None, rename=None, defaults=None):
        self.energy, self.off = energy, off.split()
        self.native = native  # (type, {its name: name of HOOMD-blue, or (name, factor)})
        self.rename, self.defaults = rename or {}, defaults or {}


FORMS = {
    "LJ": Form("4*epsilon*((sigma/r)^12 - (sigma/r)^6)", "epsilon",
               ("lennard_jones", {"epsilon": "epsilon", "sigma": "sigma"})),
    "Gaussian": Form("epsilon*exp(-(r/sigma)^2/2)", "epsilon",
                     ("gaussian_core", {"epsilon": "epsilon", "sigma": ("sigma", math.sqrt(2))})),
    "Yukawa": Form("epsilon*exp(-kappa*r)/r", "epsilon",
                   ("yukawa", {"amplitude": "epsilon", "kappa": "kappa"})),
    "Morse": Form("D0*(x^2 - 2*x); x = exp(-alpha*(r - r0))", "D0",
                  ("morse", {"depth": "D0", "steepness": "alpha", "distance": "r0"})),
    "Buckingham": Form("A*exp(-r/length) - C/r^6", "A C",
                       ("buckingham", {"amplitude": "A", "rho": "length", "dispersion": "C"}),
                       {"rho": "length"}),
    "Mie": Form("c*epsilon*((sigma/r)^n - (sigma/r)^m); c = n/(n - m)*(n/m)^(m/(n - m))", "epsilon",
                ("mie", {"epsilon": "epsilon", "sigma": "sigma", "repulsive": "n",
                         "attractive": "m"})),
    "ExpandedLJ": Form("4*epsilon*((sigma/d)^12 - (sigma/d)^6)" + EXPANDED, "epsilon"),
    "ExpandedGaussian": Form("epsilon*exp(-(d/sigma)^2/2)" + EXPANDED, "epsilon"),
    "ExpandedMie": Form("c*epsilon*((sigma/d)^n - (sigma/d)^m)" + EXPANDED +
                        "; c = n/(n - m)*(n/m)^(m/(n - m))", "epsilon"),
    "LJ1208": Form("4*epsilon*((sigma/r)^12 - (sigma/r)^8)", "epsilon"),
    "LJ0804": Form("4*epsilon*((sigma/r)^8 - (sigma/r)^4)", "epsilon"),
    "LJGauss": Form("on*(1/r^12 - 2/r^6) - epsilon*exp(-(r - r0)^2/(2*sigma^2))", "on epsilon",
                    defaults={"on": 1}),
    "OPP": Form("C1/r^eta1 + C2/r^eta2*cos(k*r - phase)", "C1 C2", rename={"phi": "phase"}),
    "TWF": Form("4*epsilon/alpha^2*(u^6 - alpha*u^3); u = sigma^2/(r^2 - sigma^2)", "epsilon"),
    "Fourier": Form(
        "on/r^12 + (a1*cos(w) + a2*cos(2*w) + a3*cos(3*w) + a4*cos(4*w) + b1*sin(w) + b2*sin(2*w) "
        "+ b3*sin(3*w) + b4*sin(4*w))/r^2; w = pi*r/r_c; a1 = a2 - a3 + a4; "
        "b1 = 2*b2 - 3*b3 + 4*b4", "on a2 a3 a4 b2 b3 b4", defaults={"on": 1}),
    "Moliere": Form("qi*qj/r*(0.35*exp(-0.3*x) + 0.55*exp(-1.2*x) + 0.1*exp(-6*x)); x = r/aF",
                    "qi qj"),
    "ZBL": Form("qi*qj/r*(0.1818*exp(-3.2*x) + 0.5099*exp(-0.9423*x) + 0.2802*exp(-0.4029*x) + "
                "0.02817*exp(-0.2016*x)); x = r/aF", "qi qj"),
    "DLVO": Form("-A/6*(p/(r^2 - s^2) + p/(r^2 - d^2) + log((r^2 - s^2)/(r^2 - d^2))) + "
                 "a1*a2/s*Z*exp(-kappa*(r - s)); p = 2*a1*a2; s = a1 + a2; d = a1 - a2", "A Z"),
    "ReactionField": Form("epsilon/r*(1 + (eps_rf - 1)*r^3/((2*eps_rf + 1)*r_c^3))", "epsilon"),
    "ForceShiftedLJ": Form("4*epsilon*((sigma/r)^12 - (sigma/r)^6)", "epsilon",
                           ("lennard_jones", {"epsilon": "epsilon", "sigma": "sigma"})),
}
FORMS["Gauss"] = FORMS["Gaussian"]
FORMS["ExpandedGauss"] = FORMS["ExpandedGaussian"]
DISSIPATIVE = {"DPD": ("dpd", {"repulsion": "A", "gamma": "gamma"}),
               "DPDLJ": ("dpd_lj", {"epsilon": "epsilon", "sigma": "sigma", "gamma": "gamma"}),
               "DPDConservative": ("soft_dpd", {"repulsion": "A"})}
KNOWN = ("nlist", "default_r_cut", "default_r_on", "mode", "tail_correction", "params", "r_cut",
         "r_on", "kT")


def pair_forces(thing, script):
    """Forces of one pair potential; a note for each that is near and not equal is on the script."""
    if thing.family == "hoomd.md.pair.aniso":
        return [axial(thing, script)]
    if thing.family != "hoomd.md.pair":
        raise NotUnderstood(f"the pair potential {thing.path.replace('hoomd.md.', '')}")
    thing.only(*KNOWN)
    entries = pairs_of(thing, script)
    if thing.kind == "Table":
        return [table(thing, entries, script)]
    if thing.kind in DISSIPATIVE:
        return [dissipative(thing, entries, script)]
    if thing.kind not in FORMS:
        raise NotUnderstood(f"the pair potential {thing.kind}")
    mode, groups = thing.get("mode", "none"), {}
    if mode not in ("none", "shift", "xplor"):
        raise NotUnderstood(f"mode: expected none, shift or xplor, got {mode!r}",
                            thing.line_of("mode"))
    for pair, entry in entries.items():
        how = {"none": "cut", "shift": "energy_shift", "xplor": "xplor"}[mode]
        if entry is not None and how == "xplor" and entry["r_on"] >= entry["r_cut"]:
            how = "energy_shift"  # so HOOMD-blue has it
        if entry is not None:
            groups.setdefault(how, {})[pair] = entry
    if not groups:
        return []
    return [formed(thing, how, {pair: group.get(pair) for pair in entries}, script)
            for how, group in groups.items()]


def axial(thing, script):
    """An anisotropic potential, along the axis of the particles' frames."""
    kind = thing.kind.removeprefix("Patchy")
    if thing.kind not in ("GayBerne", "Dipole") and (kind == thing.kind or kind not in FORMS):
        raise NotUnderstood(f"the anisotropic pair potential {thing.kind}")
    if script.frame is None:
        raise NotUnderstood("an anisotropic pair potential of types that are not known")
    if kind == thing.kind:
        return aniso_force(thing, pairs_of(thing, script), script)
    thing.only("nlist", "default_r_cut", "mode", "params", "r_cut", "directors")
    return patchy(thing, pairs_of(thing, script), FORMS[kind],
                  lambda entry: parameters(FORMS[kind], kind, entry), script)


def pairs_of(thing, script):
    """{(A, B): parameters with r_cut, r_on and line; None where these types do not interact}."""
    params, cuts, ons = (thing.table(k) for k in ("params", "r_cut", "r_on"))
    types = script.types or sorted({t for pair in params for t in pair})
    made = {}
    for k, a in enumerate(types):
        for b in types[k:]:
            pair = tuple(sorted((a, b)))
            cut = cuts[pair] if pair in cuts else thing.get("default_r_cut")
            if cut is None and pair in params:
                raise NotUnderstood(f"no r_cut of {a} and {b}")
            cut = number(cut, "r_cut", cuts.lines.get(pair)) if cut not in (None, False) else 0
            if cut <= 0:
                made[a, b] = None
                continue
            if pair not in params:
                raise NotUnderstood(f"no parameters of {a} and {b}")
            line, entry = params.lines.get(pair, thing.line), {}
            if not isinstance(params[pair], dict):
                reason = params[pair].reason if isinstance(params[pair], Unknown) else \
                    f"expected parameters by name, got {params[pair]!r}"
                raise NotUnderstood(f"params of {a} and {b}: {reason}", line)
            for name, value in params[pair].items():
                if isinstance(value, Unknown):
                    raise NotUnderstood(f"{name} of {a} and {b}: {value.reason}", line)
                entry[name] = value
            on = ons[pair] if pair in ons else thing.get("default_r_on", 0.0)
            made[a, b] = {**entry, "r_cut": cut, "line": line, "r_on": number(on, "r_on")}
    return made


def formed(thing, how, entries, script):
    form, kind = FORMS[thing.kind], thing.kind
    native = form.native if how != "xplor" else None
    if kind == "ForceShiftedLJ":
        how = "force_shift"
        script.near(thing.line, "the energy of a pair is shifted so that it ends at 0, too")
    if native is None:
        energy = form.energy
        if how == "xplor":
            first, _, rest = energy.partition(";")
            energy = f"s*({first})" + (f";{rest}" if rest else "") + SMOOTH
        made = {"type": "pair_formula", "energy": energy}
    else:
        made = {"type": native[0]}
    made["cutoff"] = max(e["r_cut"] for e in entries.values() if e)
    if how in ("energy_shift", "force_shift"):
        made["truncation"] = how
    if thing.get("tail_correction", False):
        if made["type"] not in ("lennard_jones", "mie") or how != "cut":
            raise NotUnderstood(f"tail_correction of {kind} in the mode {thing.get('mode')}")
        made["tail"] = True
    like = next(e for e in entries.values() if e)
    made["pairs"] = []
    for (a, b), entry in entries.items():
        numbers = parameters(form, kind, entry or like)
        if entry is None:
            numbers.update({k: 0 for k in form.off})
        if native is not None:
            numbers = {own: numbers[name] if isinstance(name, str) else numbers[name[0]] * name[1]
                       for own, name in native[1].items()}
        else:
            numbers.update({k: (entry or like)[v] for k, v in (("r_on", "r_on"), ("r_c", "r_cut"))
                            if k in made["energy"]})
        one = {"types": [a, b], **numbers}
        if entry is not None and entry["r_cut"] != made["cutoff"]:
            one["cutoff"] = entry["r_cut"]
        made["pairs"].append(Commented(one, entry["line"] if entry else None))
    return Commented(made, thing.line)


def parameters(form, kind, entry):
    """Numbers of the formula of one pair, by the names that they have there."""
    entry = dict(entry)
    if kind == "Fourier":
        for name in "ab":
            values = list(entry.pop(name))
            entry.update({f"{name}{n + 2}": float(values[n]) if n < len(values) else 0
                          for n in range(3)})
    if kind == "LJ" and entry.pop("alpha", 1) != 1:
        raise NotUnderstood("alpha of LJ", entry["line"])
    if kind == "ReactionField" and entry.pop("use_charge", False):
        raise NotUnderstood("ReactionField with use_charge", entry["line"])
    made = {**form.defaults}
    for name, value in entry.items():
        if name not in ("r_cut", "r_on", "line"):
            made[form.rename.get(name, name)] = number(value, name, entry["line"])
    wanted = [n if isinstance(n, str) else n[0] for n in form.native[1].values()] \
        if form.native else [*form.defaults, *form.off]
    names = set(re.findall(r"[A-Za-z]\w*", form.energy)) | set(form.defaults)
    extra = [name for name in made if name not in names]
    if extra:
        raise NotUnderstood(f"{extra[0]} of {kind}", entry["line"])
    missing = [name for name in wanted if name not in made]
    if missing:
        raise NotUnderstood(f"{missing[0]} of {kind} is missing", entry["line"])
    return made


def dissipative(thing, entries, script):
    kind, names = DISSIPATIVE[thing.kind]
    acting = [e for e in entries.values() if e]
    if not acting:
        raise NotUnderstood("no pair of types has a cut-off")
    cut = max(e["r_cut"] for e in acting)
    made = {"type": kind}
    if kind != "soft_dpd":
        made["temperature"] = script.constant(thing, "kT")
    if kind == "dpd_lj" and thing.get("mode", "none") != "shift":
        script.near(thing.line, "the energy of a pair is shifted to 0 at the cut-off")
    if thing.get("mode", "none") not in ("none", "shift" if kind == "dpd_lj" else "none"):
        raise NotUnderstood(f"mode {thing.get('mode')} of {thing.kind}", thing.line_of("mode"))
    made.update(cutoff=cut, pairs=[])
    for (a, b), entry in entries.items():
        source = entry or {**acting[0], "A": 0, "gamma": 0, "epsilon": 0}
        one = {"types": [a, b]}
        for own, name in names.items():
            if name not in source:
                raise NotUnderstood(f"{name} of {thing.kind} is missing", source["line"])
            one[own] = number(source[name], name, source["line"])
        if source["r_cut"] != cut:
            one["cutoff"] = source["r_cut"]
        if kind == "soft_dpd":
            one["range"] = source["r_cut"]
        if kind == "dpd_lj":
            one["lj_cutoff"] = source["r_cut"]
        made["pairs"].append(Commented(one, entry["line"] if entry else None))
    return Commented(made, thing.line)


def table(thing, entries, script):
    """Rows of energy and force, in a file beside the job."""
    made = {"type": "pair_table", "cutoff": max(e["r_cut"] for e in entries.values() if e),
            "pairs": []}
    script.near(thing.line, "a spline is between the points in place of straight lines, and below "
                            "r_min the force is that at r_min in place of 0")
    for (a, b), entry in entries.items():
        if entry is None:
            raise NotUnderstood(f"a table without rows for {a} and {b}")
        first, last = number(entry.get("r_min"), "r_min", entry["line"]), entry["r_cut"]
        energy, force = (np.array(entry[k], float) for k in ("U", "F"))
        r = first + (last - first) * np.arange(len(energy) + 1) / len(energy)
        rows = np.column_stack([r, ends(energy), ends(force)])
        one = {"types": [a, b], "file": script.write_table(f"{a}-{b}", rows, thing)}
        if last != made["cutoff"]:
            one["cutoff"] = last
        made["pairs"].append(Commented(one, entry["line"]))
    return Commented(made, thing.line)


def ends(values):
    """With a last value on the straight line of the two before."""
    return np.append(values, 2 * values[-1] - values[-2])
