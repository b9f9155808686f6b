"""Anisotropic pair potentials of HOOMD-blue. The axis of a particle is x of its frame in Perrin;
long axes are z in HOOMD-blue and dipoles any vector, so that the start has other frames."""
import numpy as np

from perrin.hoomd.values import number, vector
from perrin.importing.lines import NotUnderstood
from perrin.importing.quaternions import from_x, matrix, product
from perrin.importing.write import Commented

# Turns x into z: about y, by -90 degrees.
TURN = np.array([np.sqrt(0.5), 0, -np.sqrt(0.5), 0])
STILL = np.array([1.0, 0, 0, 0])


def take_turns(script, turns):
    """Of a potential: {type: the rotation of x to its axis, None where it has none}. Particles have
    one frame, so that all potentials have the same axes."""
    known = script.turns
    for name, turn in turns.items():
        before = known.get(name)
        if before is not None and turn is not None and \
                np.abs(matrix(before)[:, 0] - matrix(turn)[:, 0]).max() > 1e-6:
            raise NotUnderstood(f"two anisotropic potentials whose axes of {name} differ: a job "
                                "has one, x of the particle's frame")
    for name, turn in turns.items():
        if known.get(name) is None:
            known[name] = turn
    script.orientations = True
    made = {name: STILL if turn is None else turn for name, turn in known.items()}
    script.turned = made if any(abs(q[0]) < 1 for q in made.values()) else False


def same_turns(one, two):
    """Whether frames of particles are turned alike; False: they are not turned."""
    names = {*(one or {}), *(two or {})}
    return all(np.allclose((one or {}).get(name, STILL), (two or {}).get(name, STILL), atol=1e-6)
               for name in names)


def gay_berne(thing, entries, script):
    """Its wells have one depth for all directions: nu = 0, kappa_prime = 1 of GB."""
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
    take_turns(script, {name: TURN for name in script.types})
    return Commented(made, thing.line)


def aniso_force(thing, entries, script):
    if thing.kind == "Dipole":
        thing.only("nlist", "default_r_cut", "mode", "params", "r_cut", "mu")
        return dipole(thing, entries, script)
    thing.only("nlist", "default_r_cut", "mode", "params", "r_cut")
    return gay_berne(thing, entries, script)


def dipole(thing, entries, script):
    """Dipoles within a cut-off, in a job of one strength for each pair of types; where they are
    screened, a formula of the same energy."""
    if thing.get("mode", "none") != "none":
        raise NotUnderstood("mode of Dipole: expected none", thing.line_of("mode"))
    charges = script.frame.get("particles/charge") if script.frame is not None else None
    if charges is not None and np.any(charges):
        raise NotUnderstood("Dipole of particles that have charges")
    mu, acting = thing.table("mu"), [e for e in entries.values() if e]
    if not acting:
        raise NotUnderstood("no pair of types has a cut-off")
    moments, turns = {}, {}
    for name in script.types:
        line = mu.lines.get(name, thing.line)
        if name not in mu:
            raise NotUnderstood(f"mu of {name} is missing", line)
        vector_ = np.array(vector(mu[name], "mu", line))
        moments[name] = float(np.linalg.norm(vector_))
        turns[name] = from_x(vector_) if moments[name] else None
    screened = any(number(e.get("kappa"), "kappa", e["line"]) for e in acting)
    made = {"type": "dipole"} if not screened else {"type": "anisotropic_formula", "energy":
                                                    "C*exp(-k*r)*(cos_12 + 3*cos_1*cos_2)/r^3"}
    made.update(cutoff=max(e["r_cut"] for e in acting), pairs=[])
    for (a, b), entry in entries.items():
        strength = moments[a] * moments[b] * number(entry.get("A", 1.0), "A", entry["line"]) \
            if entry else 0.0
        one = {"types": [a, b], "C" if screened else "strength": strength}
        if screened:
            one["k"] = number(entry["kappa"], "kappa", entry["line"]) if entry else 0
        if entry and entry["r_cut"] != made["cutoff"]:
            one["cutoff"] = entry["r_cut"]
        made["pairs"].append(Commented(one, entry["line"] if entry else None))
    take_turns(script, turns)
    return Commented(made, thing.line)


def turned(data, turns):
    """The same state with other frames, by the types of particles; each x is where turns says."""
    n = int(np.ravel(data["particles/N"])[0])
    made, names = dict(data), list(turns)
    kinds = np.asarray(data.get("particles/typeid", np.zeros(n))).astype(int)
    turn = np.array([turns[name] for name in names])[kinds]
    still = np.tile(STILL, (n, 1))
    made["particles/orientation"] = product(
        data.get("particles/orientation", still), turn).astype("f4")
    if "particles/angmom" in data:
        made["particles/angmom"] = product(data["particles/angmom"], turn).astype("f4")
    if "particles/moment_inertia" in data:
        moments = np.array(data["particles/moment_inertia"], float)
        for kind, name in enumerate(names):
            m, mine = matrix(turns[name]), kinds == kind
            tensors = np.einsum("ka,nk,kb->nab", m, moments[mine], m)
            made_of = np.einsum("naa->na", tensors)
            off = np.abs(tensors - made_of[:, :, None] * np.eye(3)).max(initial=0)
            if off > 1e-6 * moments[mine].max(initial=1):
                raise NotUnderstood(f"mu of {name} is along none of the principal axes")
            moments[mine] = made_of
        made["particles/moment_inertia"] = np.ascontiguousarray(moments).astype("f4")
    return made
