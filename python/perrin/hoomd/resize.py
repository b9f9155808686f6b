"""hoomd.update.BoxResize as the deformation of a stage."""
from perrin.hoomd.snapshot import numbers_of_box
from perrin.hoomd.values import Thing
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented


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
