"""hoomd.update.BoxResize as the deformation of a stage; beside Monte Carlo in turns with it."""
import math

from perrin.hoomd.output import period
from perrin.hoomd.snapshot import numbers_of_box
from perrin.hoomd.values import Thing
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

LARGEST = 0.004


def deformation(script, updater, now, steps):
    """`deform` of a stage that begins at the step `now`; None where the box is at rest in it."""
    updater.only("trigger", "box", "box1", "box2", "variant", "filter")
    if script.group(updater.get("filter")) != "all":
        raise NotUnderstood("BoxResize of a part of the particles", updater.line)
    box = updater.get("box")
    if box is None:
        first, last = updater.get("box1"), updater.get("box2")
        variant = updater.get("variant")
    elif isinstance(box, Thing) and box.kind == "Interpolate":
        first, last, variant = (box.get(k) for k in ("initial_box", "final_box", "variant"))
    elif isinstance(box, Thing) and box.kind == "InverseVolumeRamp":
        first, variant = numbers_of_box(box.get("initial_box")), box
        flat = first[2] == 0
        volume = first[0] * first[1] * (1 if flat else first[2])
        factor = (box.number("final_volume") / volume) ** (1 / 2 if flat else 1 / 3)
        last = [v * factor for v in first[:3]] + first[3:]
        script.near(updater.line, "edges change in proportion to time, in place of the density")
    else:
        raise NotUnderstood("a box that is no Interpolate or InverseVolumeRamp", updater.line)
    if not isinstance(variant, Thing) or not variant.has("t_ramp"):
        raise NotUnderstood("BoxResize with a variant that is no Ramp", updater.line)
    if variant.kind == "Ramp" and (variant.number("A"), variant.number("B")) != (0, 1):
        raise NotUnderstood("BoxResize with a Ramp that is not from 0 to 1", variant.line)
    start, over = variant.number("t_start"), variant.number("t_ramp")
    if not start <= now < start + over or steps == 0:
        return None
    first, last = numbers_of_box(first), numbers_of_box(last)
    part = min((now + steps - start) / over, 1.0)
    end = [a + (b - a) * part for a, b in zip(first, last)]
    made = {a: end[k] for k, a in enumerate("xyz") if first[k] != last[k] and end[k]}
    tilts = [("xy", 3, 1), ("xz", 4, 2), ("yz", 5, 2)]  # tilts of a job are lengths
    if first[3:] != last[3:]:
        made.update({name: end[k] * end[edge] for name, k, edge in tilts})
    script.box = end
    return Commented({**made, "remap_velocities": False}, updater.line) if made else None


def resize_period(script):
    """Steps between changes of the box."""
    found = [period(updater.get("trigger"), script, updater)
             for updater in script.sim.values["operations"].raw("updaters")
             if isinstance(updater, Thing) and updater.path == "hoomd.update.BoxResize"]
    return min(found)


def resized(script, steps):
    """A stage in which nothing moves but the box, to that of so many sweeps later. A step changes
    lengths by a part of up to LARGEST."""
    stage, before = {"type": "md"}, list(script.box)
    script.updates(stage, script.first_step + script.steps, steps)
    deform = stage.get("deform")
    changes = [abs(deform[axis] / before[k] - 1) for k, axis in enumerate("xyz")
               if axis in deform and before[k]]
    changes += [abs(deform[name] - before[3 + k] * before[edge]) / before[edge]
                for k, (name, edge) in enumerate((("xy", 1), ("xz", 2), ("yz", 2)))
                if name in deform and before[edge]]
    count = max(math.ceil(max(changes, default=0) / LARGEST), 1)
    return Commented({"type": "md", "steps": count, "integrator": {
        "type": "frozen", "timestep": 0.001}, "deform": deform}, deform.line)
