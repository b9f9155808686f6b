"""Bonds, angles, dihedrals and impropers of HOOMD-blue as forces of Perrin."""
import math

import numpy as np

from perrin.hoomd.values import Unknown, number
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented


def fene(v):
    if v["delta"]:
        return "bond_formula", v, (
            "-k/2*r0^2*log(1 - (d/r0)^2) + if(d < 2^(1/6)*sigma, 4*epsilon*((sigma/d)^12 - "
            "(sigma/d)^6) + epsilon, 0); d = r - delta")
    return "bond_fene", {"stiffness": v["k"], "maximum_length": v["r0"], "epsilon": v["epsilon"],
                         "sigma": v["sigma"]}, None


def term(v, phase):
    return {"terms": [{"stiffness": v["k"] / 2, "multiplicity": int(v["n"]),
                       "phase": math.degrees(v[phase]), "sign": int(v["d"])}]}


# (parameters with their defaults, what they become: type, settings, formula)
FORMS = {
    "bond.Harmonic": ({"k": None, "r0": None}, lambda v: (
        "bond_harmonic", {"stiffness": v["k"], "length": v["r0"]}, None)),
    "bond.FENEWCA": ({"k": None, "r0": None, "epsilon": None, "sigma": None, "delta": 0}, fene),
    "angle.Harmonic": ({"k": None, "t0": None}, lambda v: (
        "angle_harmonic", {"stiffness": v["k"], "angle": math.degrees(v["t0"])}, None)),
    "angle.CosineSquared": ({"k": None, "t0": None}, lambda v: (
        "angle_cosine_squared", {"stiffness": v["k"], "angle": math.degrees(v["t0"])}, None)),
    "dihedral.Periodic": ({"k": None, "d": None, "n": None, "phi0": None}, lambda v: (
        "dihedral_periodic", term(v, "phi0"), None)),
    "dihedral.OPLS": ({"k1": None, "k2": None, "k3": None, "k4": None}, lambda v: (
        "dihedral_opls", {"k": [v["k1"], v["k2"], v["k3"], v["k4"]]}, None)),
    "improper.Harmonic": ({"k": None, "chi0": None}, lambda v: (
        "improper_harmonic", {"stiffness": v["k"], "angle": math.degrees(v["chi0"])}, None)),
    "improper.Periodic": ({"k": None, "d": None, "n": None, "chi0": None}, lambda v: (
        "improper_periodic", term(v, "chi0"), None)),
}
FORMS["dihedral.Harmonic"] = FORMS["dihedral.Periodic"]  # its name in version 3


def bonded_forces(thing, script):
    name = thing.path[len("hoomd.md."):]
    kind = name.split(".")[0]
    thing.only("params", "width")
    if name in ("bond.Table", "angle.Table", "dihedral.Table"):
        return table(thing, kind, script)
    if name not in FORMS:
        raise NotUnderstood(f"the potential {name}")
    wanted, make = FORMS[name]
    forces, params = {}, thing.table("params")
    for one, given in params.items():
        line = params.lines.get(one, thing.line)
        values = {k: number(given_value(given, k, default, line), k, line)
                  for k, default in wanted.items()}
        for k in given:
            if k not in wanted:
                raise NotUnderstood(f"{k} of {name}", line)
        force, settings, formula = make(values)
        made = forces.setdefault((force, formula), Commented(
            {"type": force, **({"energy": formula} if formula else {}), f"{kind}s": {}},
            thing.line))
        made[f"{kind}s"][one] = Commented(settings, line)
    if not forces:
        raise NotUnderstood(f"{name} without params")
    every = set(script.topology_types(kind + "s")) | set(params)
    for made in forces.values():
        skipped = sorted(every - set(made[f"{kind}s"]))
        if skipped:
            made["skip"] = skipped
    return list(forces.values())


def given_value(given, name, default, line):
    if isinstance(given, Unknown):
        raise NotUnderstood(f"params: {given.reason}", line)
    value = given.get(name, default)
    if value is None:
        raise NotUnderstood(f"{name} is missing", line)
    return value


def table(thing, kind, script):
    """Rows of energy and force of each type, in files beside the job."""
    params = thing.table("params")
    made = {"type": f"{kind}_table", f"{kind}s": {}}
    script.near(thing.line, "a spline is between the points in place of straight lines")
    for one, given in params.items():
        line = params.lines.get(one, thing.line)
        names = ("U", "F") if kind == "bond" else ("U", "tau")
        u, f = (np.array(given_value(given, k, None, line), float) for k in names)
        if kind == "bond":
            low, high = (number(given_value(given, k, None, line), k) for k in ("r_min", "r_max"))
        else:
            low, high = (0, 180) if kind == "angle" else (-180, 180)
            f = f * math.pi / 180  # per degree
        rows = np.column_stack([np.linspace(low, high, len(u)), u, f])
        made[f"{kind}s"][one] = Commented({"file": script.write_table(one, rows, thing)}, line)
    return [Commented(made, thing.line)]
