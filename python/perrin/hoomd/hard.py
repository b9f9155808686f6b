"""Monte Carlo of spheres: hoomd.hpmc.integrate.Sphere, its potentials and walls as a stage
monte_carlo."""
from perrin.hoomd.fields import distance_from
from perrin.hoomd.pairs import pair_forces
from perrin.hoomd.values import Table, Thing, number, vector
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

BARRIER = 1e6  # energy of an overlap, in k_B T
# Potentials that are those of molecular dynamics, by their names there.
SAME = {"LennardJones": "LJ", "ExpandedGaussian": "ExpandedGaussian", "OPP": "OPP",
        "LJGauss": "LJGauss"}


def spheres(integrator, script):
    """(forces, settings of the stage)."""
    integrator.only("shape", "d", "a", "default_d", "default_a", "nselect", "kT",
                    "translation_move_probability", "pair_potentials", "external_potentials",
                    "external_potential")
    temperature = script.constant(integrator, "kT") if integrator.has("kT") else 1
    types = script.types or sorted(integrator.table("shape"))
    diameters, step = sizes(integrator, types)
    script.near(integrator.line, "a trial moves a sphere by up to d along each axis, in place of "
                                 "within a sphere of the radius d")
    forces = []
    for thing in integrator.list("pair_potentials"):
        forces += listed(script, thing, pair_potential)
    walls = integrator.list("external_potentials")
    if integrator.get("external_potential") is not None:
        walls.append(integrator.get("external_potential"))
    for thing in walls:
        forces += listed(script, thing, external, diameters, temperature)
    if max(diameters.values()) > 0:
        forces.insert(0, cores(integrator, diameters, temperature))
    elif not forces:
        raise NotUnderstood("spheres without diameter", integrator.line)
    return forces, {"temperature": temperature, "translation": {
        "displacement": step, "trials": int(integrator.number("nselect", 4))}}


def sizes(integrator, types):
    """({type: diameter}, the largest step of all)."""
    shapes, moves = integrator.table("shape"), integrator.table("d")
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
    return diameters, steps.pop()


def cores(integrator, diameters, temperature):
    """Pairs that must not overlap."""
    widest, types = max(diameters.values()), list(diameters)
    made = {"type": "pair_formula", "energy": "if(r < diameter, barrier, 0)", "cutoff": widest,
            "pairs": []}
    for k, a in enumerate(types):
        for b in types[k:]:
            middle = (diameters[a] + diameters[b]) / 2
            made["pairs"].append({"types": [a, b], "diameter": middle or widest,
                                  "barrier": BARRIER * temperature if middle else 0,
                                  **({"cutoff": middle} if 0 < middle < widest else {})})
    return Commented(made, integrator.line)


def listed(script, thing, make, *more):
    """What make() says of a thing; it is listed by its own line where it is not understood."""
    try:
        if not isinstance(thing, Thing):
            raise NotUnderstood(getattr(thing, "reason", "expected a potential"))
        return make(thing, script, *more)
    except NotUnderstood as error:
        script.list_line(str(error), error.line or getattr(thing, "line", None))
        return []


def pair_potential(thing, script):
    if thing.path == "hoomd.hpmc.pair.Step":
        return [steps_of(thing, script)]
    if thing.family != "hoomd.hpmc.pair" or thing.kind not in SAME:
        raise NotUnderstood(f"the pair potential {thing.path.replace('hoomd.', '')}")
    thing.only("params", "default_r_cut", "default_r_on", "mode")
    same = Thing(f"hoomd.md.pair.{SAME[thing.kind]}", [], {}, thing.line)
    same.values.update({k: v for k, v in thing.values.items() if k != "params"})
    tables = {name: Table() for name in ("params", "r_cut", "r_on")}
    params = thing.table("params")
    for pair, given in params.items():
        if not isinstance(given, dict):
            raise NotUnderstood(f"params of {pair[0]} and {pair[1]} are not known",
                                params.lines[pair])
        given = dict(given)
        for name in ("r_cut", "r_on"):
            if name in given:
                tables[name].put(pair, given.pop(name), params.lines[pair])
        tables["params"].put(pair, given, params.lines[pair])
    same.values.update(tables)
    return pair_forces(same, script)


def steps_of(thing, script):
    """Energies that are constant between distances."""
    thing.only("params")
    params, made = thing.table("params"), {}
    for pair, given in params.items():
        line = params.lines[pair]
        if given is None:
            continue
        if not isinstance(given, dict) or set(given) != {"epsilon", "r"}:
            raise NotUnderstood("Step: expected epsilon and r", line)
        energies, ends = (vector(given[k], k, line) for k in ("epsilon", "r"))
        if len(energies) != len(ends) or not ends or ends != sorted(ends):
            raise NotUnderstood("Step: expected as many epsilon as r, which increase", line)
        made[pair] = energies, ends, line
    if not made:
        raise NotUnderstood("Step without pairs of types that act on each other")
    count = max(len(ends) for _, ends, _ in made.values())
    text = "0"
    for k in reversed(range(count)):
        text = f"if(r < r{k}, e{k}, {text})"
    force = {"type": "pair_formula", "energy": text,
             "cutoff": max(ends[-1] for _, ends, _ in made.values()), "pairs": []}
    types = script.types or sorted({name for pair in made for name in pair})
    for k, a in enumerate(types):
        for b in types[k:]:
            energies, ends, line = made.get(tuple(sorted((a, b))), ([0.0], [force["cutoff"]], None))
            one = {"types": [a, b]}
            for n in range(count):
                one[f"r{n}"] = ends[min(n, len(ends) - 1)]
                one[f"e{n}"] = energies[n] if n < len(ends) else 0
            if ends[-1] != force["cutoff"]:
                one["cutoff"] = ends[-1]
            force["pairs"].append(Commented(one, line))
    return Commented(force, thing.line)


def external(thing, script, diameters, temperature):
    """A linear field, or walls that spheres do not touch."""
    if thing.path == "hoomd.hpmc.external.Linear":
        return [linear(thing, script, diameters)]
    if thing.path not in ("hoomd.hpmc.external.WallPotential",
                          "hoomd.hpmc.external.wall.WallPotential"):
        raise NotUnderstood(f"the potential {thing.path.replace('hoomd.', '')}")
    thing.only("walls")
    made = []
    for wall in thing.list("walls"):
        if not isinstance(wall, Thing) or wall.family != "hoomd.wall":
            raise NotUnderstood(f"walls: {getattr(wall, 'reason', 'expected walls')}")
        h, numbers = distance_from(wall)
        numbers["barrier"] = BARRIER * temperature
        made.append(Commented({
            "type": "external_formula", "energy": f"if({h} < radius_of, barrier, 0)",
            "types": {name: {**numbers, "radius_of": d / 2} for name, d in diameters.items()}},
            wall.line))
    return made


def linear(thing, script, types):
    thing.only("default_alpha", "alpha", "plane_origin", "plane_normal")
    origin = vector(thing.get("plane_origin", (0, 0, 0)), "plane_origin")
    normal = vector(thing.get("plane_normal", (0, 1, 0)), "plane_normal")
    if abs(sum(v * v for v in normal) - 1) > 1e-6:
        raise NotUnderstood("plane_normal: expected a vector of the length 1",
                            thing.line_of("plane_normal"))
    table = thing.table("alpha")
    numbers = {f"n{a}": v for a, v in zip("xyz", normal) if v}
    numbers["shift"] = sum(n * p for n, p in zip(normal, origin))
    text = " + ".join(f"n{a}*{a}" for a, v in zip("xyz", normal) if v)
    made = {"type": "external_formula", "energy": f"alpha*({text} - shift)", "types": {}}
    for name in types:
        value = table.get(name, thing.get("default_alpha"))
        made["types"][name] = {**numbers, "alpha": number(value, f"alpha of {name}",
                                                          table.lines.get(name, thing.line))}
    return Commented(made, thing.line)
