"""Anisotropic pair potentials of HOOMD-blue, whose long axes are z of a particle's frame; those of
Perrin are x, so the start has other frames."""
import numpy as np

from perrin.hoomd.values import number
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

# Turns x into z: about y, by -90 degrees.
TURN = np.array([np.sqrt(0.5), 0, -np.sqrt(0.5), 0])


def product(p, q):
    """Of quaternions w, x, y, z; rows of them."""
    (a, b, c, d), (e, f, g, h) = np.moveaxis(np.asarray(p, float), -1, 0), \
        np.moveaxis(np.asarray(q, float), -1, 0)
    return np.stack([a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
                     a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e], axis=-1)


def gay_berne(thing, entries, script):
    """Its wells have one depth for all directions: nu = 0, kappa_prime = 1 of GB."""
    if thing.kind != "GayBerne":
        raise NotUnderstood(f"the anisotropic pair potential {thing.kind}")
    acting = [e for e in entries.values() if e]
    if not acting:
        raise NotUnderstood("no pair of types has a cut-off")
    mode = thing.get("mode", "none")
    if mode not in ("none", "shift"):
        raise NotUnderstood(f"mode: expected none or shift, got {mode!r}", thing.line_of("mode"))
    made = {"type": "gay_berne", "cutoff": max(e["r_cut"] for e in acting)}
    if mode == "shift":
        made["truncation"] = "energy_shift"
    made["pairs"] = []
    for (a, b), entry in entries.items():
        source = entry or {**acting[0], "epsilon": 0}
        for name in ("epsilon", "lperp", "lpar"):
            if name not in source:
                raise NotUnderstood(f"{name} of GayBerne is missing", source["line"])
        epsilon, across, along = (number(source[k], k, source["line"])
                                  for k in ("epsilon", "lperp", "lpar"))
        if along < across:
            raise NotUnderstood("GayBerne of flat particles, lpar < lperp", source["line"])
        one = {"types": [a, b], "epsilon": epsilon, "sigma": 2 * across, "kappa": along / across,
               "kappa_prime": 1, "mu": 1, "nu": 0}
        if source["r_cut"] != made["cutoff"]:
            one["cutoff"] = source["r_cut"]
        made["pairs"].append(Commented(one, entry["line"] if entry else None))
    script.near(thing.line,
                "pairs end at the distance r_cut in all directions; those of HOOMD-blue end nearer "
                "where particles are side by side")
    script.orientations = script.turned = True
    return Commented(made, thing.line)


def turned(data):
    """The same state with x of each frame where z was: z, y, -x of the old frame."""
    n = int(np.ravel(data["particles/N"])[0])
    made = dict(data)
    still = np.tile(np.array([1.0, 0, 0, 0]), (n, 1))
    made["particles/orientation"] = product(
        data.get("particles/orientation", still), TURN).astype("f4")
    if "particles/angmom" in data:
        made["particles/angmom"] = product(data["particles/angmom"], TURN).astype("f4")
    if "particles/moment_inertia" in data:
        made["particles/moment_inertia"] = np.ascontiguousarray(
            data["particles/moment_inertia"][:, ::-1]).astype("f4")
    return made
