"""What a script was read into, put together as a job."""
import os

import numpy as np

from perrin.hoomd.aniso import same_turns
from perrin.hoomd.output import merged
from perrin.importing.lines import Line
from perrin.importing.parts import continued, with_end
from perrin.importing.write import Commented

TOPOLOGY = ("bonds", "angles", "dihedrals", "impropers", "pairs", "constraints")
CHARGED = ("ewald", "coulomb", "reaction_field", "debye_hueckel")


def assemble(script, last=True):
    """The job of what was read since the beginning or the part before. last: nothing follows."""
    result, job = script.result, {}
    job["title"] = f"from {os.path.basename(script.script)}" + (
        "" if last and script.part == 1 else f", part {script.part}")
    seed = script.sim.values.get("seed") if script.sim is not None else None
    if isinstance(seed, int):
        job["seed"] = seed
    job["system"] = system(script)
    script.orientations |= bool(script.bodies)
    go_on_turned(script)
    if script.orientations:
        still = script.rotation is None and not script.bodies and not diffusing(script)
        job["orientations"] = {**({"start": "aligned"} if aligned(script) else {}), **(
            {"moments_of_inertia": {name: [0, 0, 0] for name in script.types}} if still else {})}
    if script.bodies and script.part == 1:
        job["bodies"] = script.bodies
    if script.constraints is not None:
        job["constraints"] = script.constraints
    if script.velocity is not None:
        job["velocity"] = script.velocity
    if script.rotation is not None and not script.orientations:
        script.near(script.rotation, "rotation is left out: no force of the job has torques")
        script.rotation = None
    stages = script.stages or ([script.zero] if script.zero is not None else [])
    if not stages:
        result.not_understood.append((Line(script.script, 0, ""), "there is no run"))
    observers = observers_of(script, stages)
    if script.used_groups:
        job["groups"] = dict(script.used_groups)
    job["forces"] = script.job_forces
    topology(script, job)
    job["observers"] = merged(observers, sum(
        stage.get("steps", stage.get("sweeps")) for stage in stages))
    job["stages"] = stages
    if not last:
        with_end(job)
    return job


def go_on_turned(script):
    """A part goes on with the orientations of the first one, whose start has turned frames."""
    if script.part == 1:
        script.first = script.orientations, script.turned
    elif script.orientations and not script.first[0]:
        script.list_line("particles that turn, in a job that follows others without orientations")
    elif not same_turns(script.first[1], script.turned):
        script.list_line("an anisotropic potential whose axis is not that of the jobs before")


def aligned(script):
    """Whether the start has the orientations that HOOMD-blue's states have where nobody says any,
    (1, 0, 0, 0). A job would draw them at random where its file has nothing else."""
    if script.part > 1 or script.frame is None:
        return False
    data = script.turned_data if script.turned_data is not None else script.frame.data
    q = data.get("particles/orientation")
    return q is None or bool((np.asarray(q) == [1, 0, 0, 0]).all())


def diffusing(script):
    return any(any(stage.get("integrator", {}).get("rotational_frictions", {}).values())
               for stage in script.stages)


def system(script):
    if script.part > 1:
        return Commented(continued(script.part, script.velocity is None), None)
    if script.system is None:
        script.result.not_understood.append((Line(script.script, 0, ""), "there is no state: no "
                                             "create_state_from_gsd that is understood"))
        return Commented({"type": "file", "path": script.state and os.path.relpath(
            script.state, script.folder) or "", "format": "gsd"}, None)
    if script.turned:
        script.turn_start()
    if script.velocity is not None:
        script.system["velocities"] = False
    return script.system


def topology(script, job):
    """Exclusions, and bonds and charges that no force of the job acts on."""
    frame = script.frame
    if frame is None:
        return
    acting = [force["type"] for force in script.job_forces]
    left = [what for what in TOPOLOGY if frame.count(what) and not any(
        kind.startswith(what[:-1] + "_") for kind in acting if what != "pairs")]
    held = set(script.constraints["bonds"]) if script.constraints is not None else set()
    if "bonds" in left and set(frame.names("bonds")) <= held:
        left.remove("bonds")
    charges = frame.get("particles/charge")
    if charges is not None and np.any(charges) and not script.uses_charges:
        left.append("charges")
    said = next(iter(script.exclusions.values()), None)
    if frame.count("bonds") and said is not None:
        job["neighbors"] = {"exclusions": said}
        if said and "bonds" in left:  # a job excludes pairs along bonds that have a force
            left.remove("bonds")
            job["forces"] = [*job["forces"], {"type": "bond_harmonic", "bonds": {
                name: {"stiffness": 0, "length": 1} for name in frame.names("bonds")
                if name not in held}, **({"skip": sorted(held)} if held else {})}]
    if left:
        job["ignore"] = left


def observers_of(script, stages):
    """Those of all writers, with the stages in which each was there."""
    made = []
    for key, observer in script.observers.items():
        in_them = [key in writers for writers in script.writers_of]
        if not any(in_them):
            continue
        one = Commented(dict(observer), observer.line)
        if not all(in_them):
            for n, stage in enumerate(stages):
                stage.setdefault("name", f"run-{n + 1}")
            one["stages"] = [s["name"] for s, there in zip(stages, in_them) if there]
        made.append(one)
    return made
