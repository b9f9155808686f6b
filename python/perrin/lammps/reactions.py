"""fix bond/create and fix bond/break as the "dynamic_bonds" of a job.

In both a check is made at steps that are multiples of a number, and a particle takes part in one
new bond a check. What differs is said by line: of several partners LAMMPS takes the nearest if both
are each other's nearest, a job draws; of several bonds of a particle LAMMPS breaks the longest."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps.fixes import options
from perrin.lammps.forces import several

STYLES = ("bond/create", "bond/break")
UNBOUNDED = 12  # bonds of a particle where the script has no limit


def dynamic_bonds(script):
    """The job's "dynamic_bonds"; where one stage of several has a fix, `stages` names it."""
    strides, form, broken, limits, line = set(), [], [], {}, None
    for fix, stages in script.reactions:
        strides.add(int(script.number(fix.words[0])))
        line = fix.line
        where = {} if len(stages) == len(script.stages) else {"stages": stages}
        if fix.style == "bond/create":
            form.append(Commented({**created(script, fix, limits), **where}, fix.line))
        else:
            broken.append(Commented({**breaks(script, fix), **where}, fix.line))
    if len(strides) > 1:
        raise NotUnderstood("fixes bond/create and bond/break with different numbers of steps "
                            "between checks; a job has one", line)
    made = {"stride": strides.pop()}
    made.update({k: v for k, v in (("form", form), ("break", broken)) if v})
    if form:
        made["valence"] = limits
    return made


def whole_group(script, fix, kinds):
    """A job's rules are for all particles of the types."""
    a = script.start
    outside = ~script.members(fix.group)
    if outside[np.isin(a.type, kinds)].any() if kinds else outside.any():
        raise NotUnderstood(f"fix {fix.style} of a part of the particles of its types", fix.line)


def created(script, fix, limits):
    words = fix.words
    first, second = (several(w, script.types)[0] for w in words[1:3])
    bond = int(words[4])
    whole_group(script, fix, [first, second])
    said = options(words[5:], {"iparam": 2, "jparam": 2, "prob": 2, "atype": 1, "molecule": 1})
    if said.get("molecule", ["off"]) != ["off"]:
        raise NotUnderstood(f"fix bond/create with molecule {said['molecule'][0]}", fix.line)
    for kind, key in ((first, "iparam"), (second, "jparam")):
        most, new = [int(script.number(w)) for w in said.get(key, ["0", str(kind)])]
        if most and new != kind:
            raise NotUnderstood("fix bond/create that changes types of particles", fix.line)
        limit(script, fix, limits, kind, bond, most)
    made = {"types": [str(first), str(second)], "bond": str(bond),
            "distance": script.number(words[3])}
    if "prob" in said:
        made["probability"] = script.number(said["prob"][0])
    if "atype" in said:
        made["angle"] = said["atype"][0]
    script.result.changed.append((fix.line, "of several partners within the distance one is drawn; "
                                  "LAMMPS makes bonds of particles that are each other's nearest"))
    return made


def limit(script, fix, limits, kind, bond, most):
    """`valence` counts bonds of all types, LAMMPS those of one."""
    a = script.start
    kinds, members = a.lists.get("bond", (np.zeros(0, int), np.zeros((0, 2), int)))
    other = np.bincount(a.index(members[kinds != bond]).ravel(), minlength=len(a.r))[a.type == kind]
    if most and len(other) and np.ptp(other):
        raise NotUnderstood(f"fix bond/create: particles of the type {kind} have different numbers "
                            "of other bonds, and valence of a job counts all", fix.line)
    if not most:
        script.result.changed.append((fix.line, f"particles of the type {kind} have at most "
                                      f"{UNBOUNDED} bonds"))
    value = most + int(other.max(initial=0)) if most else UNBOUNDED
    if limits.setdefault(str(kind), value) != value:
        raise NotUnderstood(f"several limits for the bonds of the type {kind}", fix.line)


def breaks(script, fix):
    whole_group(script, fix, [])
    said = options(fix.words[3:], {"prob": 2})
    script.result.changed.append((fix.line, "all bonds that are too long break; LAMMPS breaks that "
                                  "of two particles of which it is the longest"))
    return {"bond": fix.words[1], "length": script.number(fix.words[2]),
            **({"probability": script.number(said["prob"][0])} if "prob" in said else {})}
