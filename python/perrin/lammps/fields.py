"""Fixes that act on particles as a field, a wall or a spring."""
import math

from perrin.importing.lines import NotUnderstood
from perrin.lammps.aniso import propelled
from perrin.lammps.fixes import RIGID
from perrin.lammps.indent import indenter


def field(script, group, style, words, line):
    """Forces of a fix, or None where it is of another kind."""
    number, made = script.steady, None
    if style == "addforce":
        if len(words) > 3:
            raise NotUnderstood(f"fix addforce with {words[3]}")
        made = [{"type": "constant_force", "force": [number(w) for w in words[:3]]}]
    elif style == "efield":
        made = [electric(script, words)]
    elif style == "gravity":
        # Of the mass 1: masses are known when a run begins (weights()).
        made = [{"type": "constant_force", "force": acceleration(script, words)}]
    elif style == "indent":
        made = [indenter(script, words, line)]
    elif style in ("wall/lj93", "wall/lj126", "wall/harmonic"):
        made = [wall(script, style, *each) for each in faces(script, words, line)]
    elif style == "spring/self":
        script.of_box.append(line)
        axes = words[1] if len(words) > 1 else "xyz"
        if script.dimension == 2:
            axes = axes.replace("z", "")
        made = [{"type": "tether", "stiffness": [number(words[0]) if a in axes else 0
                                                 for a in "xyz"]}]
    elif style == "propel/self":
        made = propelled(script, words)
        script.result.changed.append((line, "the pressure has no part of this force"))
    elif style == "spring":
        return [spring(script, group, words, line)]
    if made is None:
        return None
    if group != "all":
        made = [{**force, "on": script.use(group)} for force in made]
    return made


def acceleration(script, words):
    """Of fix gravity. Angles are in degrees: phi from x, theta from z (in two dimensions from y),
    that of chute from the opposite of that axis."""
    number, how, flat = script.steady, words[1], script.dimension == 2
    if how == "vector":
        way = [number(w) for w in words[2:5]]
    elif how in ("chute", "spherical"):
        phi, theta = (math.radians(number(w)) for w in words[2:4]) if how == "spherical" else \
            (0.0, math.pi - math.radians(number(words[2])))
        way = [math.sin(theta) * math.cos(phi), math.sin(theta) * math.sin(phi), math.cos(theta)]
        if flat:
            way = [math.sin(theta), math.cos(theta), 0.0]
    else:
        raise NotUnderstood(f"fix gravity {how}: expected vector, chute or spherical")
    if flat:
        way[2] = 0.0
    norm = math.hypot(*way)
    return [number(words[0]) * x / norm for x in way]


def weights(script, group, force):
    """The same acceleration of all, which LAMMPS has as force/mass: a force for each type that has
    another mass."""
    masses = script.mass_by_type()
    if group != "all" and script.count():
        kinds = set(script.start.type[script.members(group)].tolist())
        masses = {t: m for t, m in masses.items() if t in kinds}
    made = [{**force, "force": [m * x for x in force["force"]], "types": [str(t)]}
            for t, m in masses.items()]
    if not made:
        raise NotUnderstood(f"fix gravity of the group {group}, which has no particles")
    return made if len(set(masses.values())) > 1 else [
        {k: v for k, v in made[0].items() if k != "types"}]


def electric(script, words):
    """A constant field; the energy is that of unwrapped positions, as in LAMMPS."""
    if len(words) > 3:
        raise NotUnderstood(f"fix efield with {words[3]}")
    if script.bodies is not None or any(f.style in RIGID for f in script.fixes.values()):
        raise NotUnderstood("fix efield beside rigid bodies")
    if script.axis == "dipole" or "dipole" in (script.style or ""):
        raise NotUnderstood("fix efield on dipoles")
    script.whole = None  # a start from a file has the script's coordinates
    field = {f"e{axis}": script.steady(w) * script.units.field for axis, w in zip("xyz", words)}
    field = {name: value for name, value in field.items() if value} or {"ex": 0}
    energy = " + ".join(f"{name}*{name[1]}" for name in field)
    return {"type": "external_formula", "energy": f"-charge*({energy})", "unwrapped": True,
            "types": {str(t): field for t in script.there}}


def spring(script, group, words, line):
    """A spring at the centre of mass of a group: to a point, or to another group. LAMMPS shares its
    force by mass, as the job does; a coordinate NULL is one that it does not act along."""
    number, kind = script.steady, words[0]
    if kind not in ("tether", "couple"):
        raise NotUnderstood(f"fix spring {kind}: expected tether or couple")
    names, rest = [group], list(words[1:])
    if kind == "couple":
        names.append(rest.pop(0))
    stiffness, place, length = rest[0], rest[1:4], number(rest[4])
    axes = "".join(a for a, word in zip("xyz", place) if word != "NULL")
    if script.dimension == 2:
        axes = axes.replace("z", "")
    made = {"type": "group_restraint",
            "groups": [script.use(name) if name != "all" else name for name in names],
            "stiffness": number(stiffness), "length": length}
    if kind == "couple" and any(number(w) for w in place if w != "NULL"):
        raise NotUnderstood("fix spring couple with a distance along axes: expected 0.0 0.0 0.0 "
                            "and a length")
    if kind == "tether":
        script.whole = None  # a start from a file has the script's coordinates
        script.place_in_box()
        script.of_box.append(line)
        made["point"] = [number(word) + shift if word != "NULL" else 0
                         for word, shift in zip(place, script.shift.tolist())]
    if axes not in ("xyz", "xy") or script.dimension == 3 and axes != "xyz":
        made["axes"] = axes
    return made


def faces(script, words, line):
    """(face, place, three numbers) of each wall of a fix wall/…. A wall at the edge of the box
    follows it in LAMMPS."""
    found, words, box = [], list(words), False
    script.whole = None  # a start from a file has the script's coordinates
    while words:
        word = words.pop(0)
        if word in ("units", "fld", "pbc"):
            box = words.pop(0) == "box" if word == "units" else box
            continue
        found.append((word, words[:4]))
        words = words[4:]
    scale = [1, 1, 1] if box or script.lattice is None else script.lattice.spacing
    for face, (place, *values) in found:
        axis = "xyz".index(face[0])
        script.place_in_box()
        if place == "EDGE":
            if set(script.boundary[axis]) & set("sm"):
                raise NotUnderstood("a wall at the edge of a box that follows its particles")
            script.of_box.append(line)
            where = script.box[face[0]][0 if face.endswith("lo") else 1]
        else:
            where = script.steady(place) * scale[axis]
        where += script.shift[axis]
        yield face, float(where), [script.steady(v) for v in values]


def wall(script, style, face, where, values):
    if style != "wall/harmonic":
        epsilon, sigma, cutoff = values
        return {"type": "lj_wall", "axis": face[0], "position": where, "epsilon": epsilon,
                "sigma": sigma, "cutoff": cutoff,
                "form": "9-3" if style.endswith("93") else "12-6"}
    k, _, cutoff = values
    h = f"({face[0]} - p)" if face.endswith("lo") else f"(p - {face[0]})"
    numbers = {"k": k, "p": where, "rc": cutoff}
    return {"type": "external_formula", "energy": f"if({h} < rc, k*(rc - {h})^2, 0)",
            "types": {str(t): numbers for t in script.there}}
