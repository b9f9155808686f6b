"""Fields, walls, constant and active forces of HOOMD-blue, and its sums over charges."""
import re

import numpy as np

from perrin.hoomd.pairs import FORMS, parameters
from perrin.hoomd.values import Thing, number, vector
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

AXES = {(1, 0, 0): "x", (0, 1, 0): "y", (0, 0, 1): "z"}


def field_forces(thing, script):
    """Forces of a thing that is no potential of pairs, bonds and so on."""
    if thing.path == "hoomd.md.force.Constant":
        return constant(thing, script)
    if thing.path == "hoomd.md.force.Active":
        return active(thing, script)
    if thing.family == "hoomd.md.external.wall":
        return walls(thing, script)
    if thing.path == "hoomd.md.external.field.Electric":
        return electric(thing, script)
    if thing.path == "hoomd.md.external.field.Periodic":
        return periodic(thing, script)
    if thing.path == "hoomd.md.long_range.pppm.real":
        return ewald(thing, script)
    if thing.path == "hoomd.md.long_range.pppm.reciprocal":
        return []
    raise NotUnderstood(f"the force {thing.path.replace('hoomd.md.', '')}")


def constant(thing, script):
    thing.only("filter", "constant_force", "constant_torque")
    made, table = [], thing.table("constant_force")
    for value in thing.table("constant_torque").values():
        if any(vector(value, "constant_torque")):
            raise NotUnderstood("constant_torque", thing.line_of("constant_torque"))
    for kind, value in table.items():
        line = table.lines.get(kind, thing.line)
        force = {"type": "constant_force", "force": vector(value, "constant_force", line),
                 "types": [kind]}
        made.append(Commented(script.on(force, thing), line))
    return made


def active(thing, script):
    made = []
    thing.only("filter", "active_force", "active_torque")
    forces, torques = thing.table("active_force"), thing.table("active_torque")
    for kind, value in forces.items():
        line = forces.lines.get(kind, thing.line)
        f = vector(value, "active_force", line)
        t = vector(torques.get(kind, (0, 0, 0)), "active_torque", line)
        if f[1] or f[2] or t[0] or t[1]:
            raise NotUnderstood("an active force that is not along x of the particle's frame, or "
                                "a torque that is not about z", line)
        force = {"type": "active_force", "force": f[0], "torque": t[2], "types": [kind]}
        made.append(Commented(script.on(force, thing), line))
    script.orientations = True
    return made


def electric(thing, script):
    thing.only("E")
    table, made = thing.table("E"), []
    for kind, value in table.items():
        line = table.lines.get(kind, thing.line)
        x, y, z = vector(value, "E", line)
        made.append(Commented({
            "type": "external_formula", "energy": "-charge*(ex*x + ey*y + ez*z)",
            "unwrapped": True, "types": {kind: {"ex": x, "ey": y, "ez": z}}}, line))
    script.uses_charges = True
    return made


def periodic(thing, script):
    """A modulation with p periods along a reciprocal vector of the box."""
    thing.only("params")
    if script.box is None:
        raise NotUnderstood("the field Periodic of a box that is not known")
    lx, ly, lz, xy, xz, yz = script.box
    flat = script.dimensions == 2 or not lz
    lz = lz or 1.0
    edges = np.array([[lx, 0, 0], [xy * ly, ly, 0], [xz * lz, yz * lz, lz]])
    vectors, table, made = 2 * np.pi * np.linalg.inv(edges).T, thing.table("params"), []
    for kind, given in table.items():
        line = table.lines.get(kind, thing.line)
        if not isinstance(given, dict) or set(given) != {"A", "i", "w", "p"}:
            raise NotUnderstood("the field Periodic: expected A, i, w and p", line)
        a, i, w, p = (number(given[k], k, line) for k in ("A", "i", "w", "p"))
        if i not in range(2 if flat else 3):
            raise NotUnderstood(f"the field Periodic: i = {i}", line)
        q = {f"q{axis}": float(p * v) for axis, v in zip("xyz", vectors[int(i)]) if v}
        text = " + ".join(f"{name}*{name[1]}" for name in q)
        made.append(Commented({
            "type": "external_formula", "energy": f"A*tanh(c*cos({text}))",
            "types": {kind: {"A": a, "c": 1 / (2 * np.pi * p * w), **q}}}, line))
    script.of_box = thing.line
    return made


def ewald(thing, script):
    if number(thing.get("alpha", 0), "alpha"):
        raise NotUnderstood("PPPM with screening, alpha")
    script.near(thing.line, "PPPM became Ewald's sum: its accuracy is Perrin's, not that of the "
                            "resolution and order of the mesh")
    script.uses_charges = True
    return [Commented({"type": "ewald", "cutoff": thing.number("r_cut")}, thing.line)]


def walls(thing, script):
    form = FORMS.get(thing.kind)
    if form is None or thing.kind not in ("LJ", "Gaussian", "Gauss", "Yukawa", "Morse", "Mie"):
        raise NotUnderstood(f"walls of the potential {thing.kind}")
    thing.only("walls", "params")
    made, params = [], thing.table("params")
    for wall in thing.list("walls"):
        if not isinstance(wall, Thing) or wall.family != "hoomd.wall":
            raise NotUnderstood(f"walls: {getattr(wall, 'reason', 'expected walls')}")
        for kind, given in params.items():
            line = params.lines.get(kind, thing.line)
            given = dict(given)
            if given.pop("r_extrap", 0):
                raise NotUnderstood("walls with r_extrap", line)
            cut = number(given.pop("r_cut", None), "r_cut", line)
            if cut <= 0:
                continue
            numbers = parameters(form, thing.kind, {**given, "line": line})
            made.append(Commented(
                flat(wall, kind, numbers, cut) if thing.kind == "LJ" and inside(wall, cut, script)
                else formula(wall, form, kind, numbers, cut), line))
    return made


def axis_of(wall):
    if wall.kind != "Plane":
        return None
    normal = tuple(abs(v) for v in vector(wall.get("normal"), "normal"))
    return AXES.get(normal)


def inside(wall, cut, script):
    """Whether lj_wall, which acts on both of its sides and on the nearest image, is this wall."""
    axis = axis_of(wall)
    if axis is None or script.box is None:
        return axis is not None
    k = "xyz".index(axis)
    return abs(vector(wall.get("origin"), "origin")[k]) + cut <= script.box[k] / 2


def flat(wall, kind, numbers, cut):
    axis = axis_of(wall)
    return {"type": "lj_wall", "axis": axis, "position": vector(wall.get("origin"), "origin")[
        "xyz".index(axis)], "epsilon": numbers["epsilon"], "sigma": numbers["sigma"],
        "form": "12-6", "cutoff": cut, "types": [kind]}


def formula(wall, form, kind, numbers, cut):
    """Energy of the distance h from a wall, less that at the cut-off."""
    h, place = distance_from(wall)
    numbers = {**numbers, "h_c": cut, **place}
    inner, end = (of_distance(form.energy, name) for name in ("h", "h_c"))
    text = f"if(h < h_c, if(h > 0, {inner} - ({end}), 0), 0); h = {h}"
    return {"type": "external_formula", "energy": text, "types": {kind: {
        k: v for k, v in numbers.items() if re.search(rf"\b{k}\b", text)}}}


def distance_from(wall):
    """(formula of the distance from a wall, positive where particles are, its parameters)."""
    origin = vector(wall.get("origin", (0, 0, 0)), "origin")
    numbers = {"x0": origin[0], "y0": origin[1], "z0": origin[2]}
    if wall.kind == "Plane":
        normal = vector(wall.get("normal"), "normal")
        length = sum(v * v for v in normal) ** 0.5
        numbers.update(zip(("nx", "ny", "nz"), (v / length for v in normal)))
        h = "nx*(x - x0) + ny*(y - y0) + nz*(z - z0)"
    elif wall.kind == "Sphere" or wall.kind == "Cylinder":
        rho2 = "(x - x0)^2 + (y - y0)^2 + (z - z0)^2"
        if wall.kind == "Cylinder":
            axis = AXES.get(tuple(abs(v) for v in vector(wall.get("axis"), "axis")))
            if axis is None:
                raise NotUnderstood("a cylinder that is not along x, y or z", wall.line)
            rho2 = " + ".join(f"({a} - {a}0)^2" for a in "xyz" if a != axis)
            del numbers[f"{axis}0"]
        numbers["radius"] = wall.number("radius")
        h = f"radius - sqrt({rho2})" if wall.get("inside", True) else f"sqrt({rho2}) - radius"
    else:
        raise NotUnderstood(f"the wall {wall.kind}", wall.line)
    return h, numbers


def of_distance(energy, name):
    """A formula of r as one of this name, its definitions put in where they are used: their names
    are those of coordinates, some of them."""
    energy, *definitions = (part.strip() for part in energy.split(";"))
    for definition in definitions:
        short, _, long = definition.partition("=")
        energy = re.sub(rf"\b{short.strip()}\b", f"({long.strip()})", energy)
    return re.sub(r"\br\b", name, energy)
