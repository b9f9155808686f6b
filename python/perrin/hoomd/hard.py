"""Monte Carlo of hard spheres: hoomd.hpmc.integrate.Sphere as a stage monte_carlo."""
from perrin.hoomd.values import number
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

BARRIER = 1e6  # energy of an overlap, in k_B T


def spheres(integrator, script):
    """(force, settings of the stage) of hard spheres."""
    integrator.only("shape", "d", "a", "default_d", "default_a", "nselect",
                    "translation_move_probability", "kT")
    shapes, moves = integrator.table("shape"), integrator.table("d")
    types = script.types or sorted(shapes)
    diameters, steps = {}, set()
    for name in types:
        line = shapes.lines.get(name, integrator.line)
        shape = shapes.get(name)
        if not isinstance(shape, dict):
            raise NotUnderstood(f"no shape of the type {name}", line)
        for key, value in shape.items():
            if key != "diameter" and not (key == "orientable" and value is False):
                raise NotUnderstood(f"{key} of a sphere", line)
        diameters[name] = number(shape.get("diameter"), "diameter", line)
        steps.add(number(moves.get(name, integrator.get("default_d", 0.1)), "d", line))
    if len(steps) > 1:
        raise NotUnderstood("types that move by different distances d", integrator.line_of("d"))
    script.near(integrator.line, "a trial moves a sphere by up to d along each axis, in place of "
                                 "within a sphere of the radius d")
    widest = max(diameters.values())
    if widest <= 0:
        raise NotUnderstood("spheres without diameter", integrator.line)
    made = {"type": "pair_formula", "energy": "if(r < diameter, barrier, 0)", "cutoff": widest,
            "pairs": []}
    for k, a in enumerate(types):
        for b in types[k:]:
            middle = (diameters[a] + diameters[b]) / 2
            made["pairs"].append({"types": [a, b], "diameter": middle or widest,
                                  "barrier": BARRIER if middle else 0,
                                  **({"cutoff": middle} if 0 < middle < widest else {})})
    stage = {"temperature": 1, "translation": {
        "displacement": steps.pop(), "trials": int(integrator.number("nselect", 4))}}
    return Commented(made, integrator.line), stage
