"""fix shake and fix rattle as the "constraints" of a job: bonds and angles of certain types that
all keep their length."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps.forces import several

# Styles of bonds and angles whose second number is the length or angle at rest.
LENGTH, ANGLE = ("harmonic",), ("harmonic", "charmm", "cosine/squared", "cosine/delta")
MASSES = 0.1  # LAMMPS takes masses that differ by less as equal


def constraints(script):
    """The job's "constraints"; {"bond", "angle"}: types that need no force."""
    fix = script.shake
    wanted = words_of(fix, script)
    a = script.start
    bonds, held = held_bonds(script, a, wanted)
    lengths = {}
    for kind in sorted(set(bonds[0][held])):
        if not held[bonds[0] == kind].all():
            raise NotUnderstood(f"fix {fix.style}: a part of the bonds of type {kind}; constraints "
                                "of a job are of all bonds of a type", fix.line)
        lengths[str(kind)] = at_rest(script, "bond", int(kind), LENGTH, fix)
    if not lengths:
        raise NotUnderstood(f"fix {fix.style}: it constrains no bond", fix.line)
    made = {"bonds": lengths}
    angles = held_angles(script, a, wanted["a"], bonds, held, fix)
    if angles:
        made["angles"] = angles
    made["tolerance"] = min(max(script.number(fix.words[0]), 1e-10), 1e-3)
    noticed(script, fix, bool(angles))
    return Commented(made, fix.line), {"bond": {int(k) for k in lengths},
                                       "angle": {int(k) for k in angles}}


def noticed(script, fix, angles):
    weights = script.special
    if weights[0] or angles and weights[1]:
        script.result.changed.append((fix.line, "pairs whose distance is constrained have no "
                                      "energy; with these special_bonds LAMMPS adds a constant"))


def words_of(fix, script):
    """{"b", "a", "t", "m"}: what is constrained."""
    found, key = {k: set() for k in "batm"}, None
    words = list(fix.words[3:])
    while words:
        word = words.pop(0)
        if word in found:
            key = word
        elif word in ("kbond", "store"):
            words.pop(0)
        elif key is None or word == "mol":
            raise NotUnderstood(f"fix {fix.style} … {word}", fix.line)
        elif key == "m":
            found[key].add(script.number(word))
        else:
            found[key].update(several(word, script.types if key == "t" else script.kinds(
                "bond" if key == "b" else "angle")))
    return found


def held_bonds(script, a, wanted):
    """Types and places of all bonds, and which of them are constrained."""
    if "bond" not in a.lists:
        raise NotUnderstood(f"fix {script.shake.style}: there are no bonds", script.shake.line)
    kinds, members = a.lists["bond"]
    ends = a.index(members)
    masses = a.masses_of(script.masses)
    heavy = np.array(sorted(wanted["m"]))[:, None, None]
    held = np.isin(kinds, list(wanted["b"])) | np.isin(a.type[ends], list(wanted["t"])).any(axis=1)
    if heavy.size:
        held |= (np.abs(masses[ends] - heavy) <= MASSES).any(axis=(0, 2))
    inside = script.members(script.shake.group)
    return (kinds, ends), held & inside[ends].all(axis=1)


def held_angles(script, a, wanted, bonds, held, fix):
    """{type: degrees} of angles whose two bonds are constrained."""
    made = {}
    if not wanted or "angle" not in a.lists:
        return made
    kinds, members = a.lists["angle"]
    pairs = {tuple(sorted(p)) for p in bonds[1][held].tolist()}
    for kind in sorted(wanted):
        of = a.index(members[kinds == kind])
        both = [{tuple(sorted(row[:2])), tuple(sorted(row[1:]))} <= pairs for row in of.tolist()]
        if any(both) and not all(both):
            raise NotUnderstood(f"fix {fix.style}: a part of the angles of type {kind}; "
                                "constraints of a job are of all angles of a type", fix.line)
        if any(both):
            made[str(kind)] = at_rest(script, "angle", kind, ANGLE, fix)
    return made


def at_rest(script, what, kind, known, fix):
    style, words = script.bonded[what].coefficients.get(kind, (None, []))
    if style not in known:
        raise NotUnderstood(f"fix {fix.style}: {what}s of type {kind} and style {style}, whose "
                            "value at rest is not known", fix.line)
    if len(words) < 2:
        raise NotUnderstood(f"fix {fix.style}: coefficients of {what}s of type {kind} are missing",
                            fix.line)
    return script.number(words[1])
