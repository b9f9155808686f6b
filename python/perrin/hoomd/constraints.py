"""md.constrain.Distance as the "constraints" of a job. HOOMD-blue's state has pairs with a distance
each; a job has bonds, and a length for each of their types: the start gets bonds of new types."""
import numpy as np

from perrin.hoomd import gsd_file
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

ALIKE = 1e-6  # relative: distances that are taken as the same


def distances(thing, script):
    """("constraints" of the job, the start with bonds in place of constraints)."""
    thing.only("tolerance")
    if script.frame is None or not script.frame.count("constraints"):
        raise NotUnderstood("the state has no constraints")
    data = dict(script.start_data if script.start_data is not None else script.frame.data)
    values = np.ravel(data.pop("constraints/value")).astype(float)
    pairs = np.asarray(data.pop("constraints/group")).reshape(-1, 2)
    data.pop("constraints/N", None)
    known, kinds = [], []
    for value in values:
        near = [k for k, other in enumerate(known) if abs(value - other) <= ALIKE * other]
        if not near:
            known.append(value)
        kinds.append(near[0] if near else len(known) - 1)
    names = [n for n in script.frame.names("bonds")] if script.frame.count("bonds") else []
    own = [f"constraint-{k + 1}" for k in range(len(known))]
    before = script.frame.count("bonds")
    typeid = [data.get("bonds/typeid", np.zeros(0))] if before else []
    group = [np.asarray(data["bonds/group"]).reshape(-1, 2)] if before else []
    data["bonds/N"] = np.array([before + len(pairs)], "u4")
    data["bonds/types"] = gsd_file.type_names([*names, *own])
    data["bonds/typeid"] = np.concatenate([*typeid, np.array(kinds) + len(names)]).astype("u4")
    data["bonds/group"] = np.vstack([*group, pairs]).astype("u4")
    made = {"bonds": {name: float(f"{value:.9g}") for name, value in zip(own, known)}}
    return Commented(made, thing.line), data


def allowed(settings, script, line):
    """An integrator beside constraints: the barostat of nose_hoover is none of them."""
    if settings["type"] in ("nose_hoover", "velocity_verlet", "bussi", "langevin"):
        if settings["type"] == "nose_hoover" and "barostat" in settings:
            script.near(line, "beside constraints Nosé and Hoover's thermostat and barostat became "
                              "Bussi's and stochastic cell rescaling, of the same ensemble")
            return {**{k: v for k, v in settings.items() if k != "chain"}, "type": "bussi"}
        return settings
    raise NotUnderstood(f"the integrator {settings['type']} beside constraints", line)
