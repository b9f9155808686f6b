"""Writers of HOOMD-blue as observers."""
import math
import os

from perrin.hoomd.values import Thing, Unknown, number
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

KINDS = {"GSD": "gsd", "DCD": "xtc", "Table": "thermo", "HDF5Log": "thermo"}


def observer(writer, script):
    """The observer of a writer, or None where it has no effect."""
    if isinstance(writer, Unknown) or not isinstance(writer, Thing):
        raise NotUnderstood(f"writers: {getattr(writer, 'reason', 'expected a writer')}",
                            getattr(writer, "line", None))
    if writer.family != "hoomd.write" or writer.kind not in KINDS:
        raise NotUnderstood(f"the writer {writer.path.replace('hoomd.', '')}", writer.line)
    kind, stride = KINDS[writer.kind], period(writer.get("trigger"), script, writer)
    filter = writer.values.get("filter")
    if isinstance(filter, Thing) and filter.path == "hoomd.filter.Null":
        kind = "thermo"  # a file of what is logged
    if kind == "thermo":
        made = {"type": "thermo", "stride": stride}
        if writer.kind == "Table":
            made["console_stride"] = stride
        return Commented(made, writer.line)
    if kind == "gsd" and writer.get("truncate", False):
        return Commented({"type": "checkpoint", "steps": stride}, writer.line)
    if kind == "xtc":
        script.near(writer.line, "DCD became XTC, which is rounded")
    made = {"type": kind, "stride": stride}
    name = writer.values.get("filename", f"trajectory.{kind}")
    if isinstance(name, Unknown):
        script.near(writer.line, f"the name of the file is not known: {name.reason}")
        name = f"trajectory.{kind}"
    name = os.path.basename(str(name))
    name = f"{os.path.splitext(name)[0]}.{kind}"
    if name != f"trajectory.{kind}":
        made["file"] = name
    group = script.group(writer.get("filter"))
    if group != "all":
        made["group"] = group
    if kind == "gsd":
        said = writer.get("dynamic") or []
        said = [said] if isinstance(said, str) else list(said)
        quantities = ["position"]
        if {"momentum", "particles/velocity"} & set(said):
            quantities.append("velocity")
        quantities.append("image")
        if len(quantities) > 2:
            made["quantities"] = quantities
    return Commented(made, writer.line)


def period(trigger, script, writer):
    if isinstance(trigger, Thing) and trigger.path == "hoomd.trigger.Periodic":
        if number(trigger.get("phase", 0), "phase"):
            script.near(writer.line, "the phase of the trigger is 0")
        trigger = trigger.get("period")
    if isinstance(trigger, Thing):
        raise NotUnderstood(f"the trigger {trigger.kind}", writer.line)
    made = int(number(trigger, "trigger", writer.line))
    if made < 1:
        raise NotUnderstood(f"trigger: expected a number of steps, got {made}", writer.line)
    return made


def merged(observers, steps):
    """One of each file; one thermo, that of all loggers; a trajectory where there is none."""
    made, thermo, names = [], None, set()
    for one in observers:
        if one["type"] == "thermo":
            if thermo is None:
                thermo = one
            else:
                thermo["stride"] = math.gcd(thermo["stride"], one["stride"])
                if "console_stride" in one:
                    thermo["console_stride"] = one["console_stride"]
                if "stages" in thermo and thermo.get("stages") != one.get("stages"):
                    del thermo["stages"]
            continue
        if one["type"] == "checkpoint" and any(o["type"] == "checkpoint" for o in made):
            continue
        name, n = one.get("file", f"trajectory.{one['type']}"), 1
        while name in names:
            n += 1
            name = f"trajectory-{n}.{one['type']}"
        names.add(name)
        if n > 1:
            one["file"] = name
        made.append(one)
    if thermo is None:
        thermo = {"type": "thermo", "stride": max(steps, 1), "console_stride": max(steps, 1)}
    if not any(o["type"] in ("gsd", "xtc") for o in made):
        made.append({"type": "trajectory", "stride": max(steps // 10, 1)})
    return [thermo, *made]
