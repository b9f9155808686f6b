"""fix indent: a sphere, a cylinder or a plane that pushes with K (r - R)^2, as a formula of x, y, z
and, where it moves, of the time."""
from perrin.importing.lines import NotUnderstood

COUNTS = {"sphere": 4, "cylinder": 4, "plane": 3}


def indenter(script, words, line):
    """The force of one fix. Its energy is K/3 (depth)^3, which LAMMPS adds to the potential energy
    with fix_modify energy yes."""
    script.whole = None  # a start from a file has the script's coordinates
    stiffness, kind, rest = script.steady(words[0]), words[1], list(words[2:])
    if kind not in COUNTS:
        raise NotUnderstood(f"fix indent {kind}: expected sphere, cylinder or plane")
    shape, rest = rest[:COUNTS[kind]], rest[COUNTS[kind]:]
    said = dict(zip(rest[::2], rest[1::2]))
    if set(said) - {"side", "units"} or len(rest) % 2:
        raise NotUnderstood(f"fix indent with {' '.join(rest)}")
    scale = [1, 1, 1] if said.get("units") == "box" or script.lattice is None \
        else script.lattice.spacing
    script.place_in_box()
    made = Shape(script, scale, line)
    if kind == "plane":
        depth = made.plane(*shape)
    else:
        axis = shape[0] if kind == "cylinder" else None
        depth = made.round(axis, shape if axis is None else shape[1:], said.get("side", "out"))
    numbers = {"k": stiffness / 3, **made.numbers}
    if set(numbers) & {"hx", "hy", "hz"}:
        script.of_box.append(line)
    return {"type": "external_formula", "energy": f"k*max({depth}, 0)^3{made.where}",
            "types": {str(t): dict(numbers) for t in script.there}}


class Shape:
    """Formulas of how deep a particle is in an indenter; `numbers`: their parameters; `where`:
    their definitions."""

    def __init__(self, script, scale, line):
        self.script, self.scale, self.line = script, scale, line
        self.numbers, self.where = {}, ""

    def place(self, name, word, k, scale):
        """A coordinate along an axis, or one that a variable moves at a constant speed: a variable
        is in units of the box, and has its value of the step 0 at the beginning of a job of one
        part."""
        script = self.script
        if not word.startswith("v_"):
            self.numbers[name] = script.number(word) * scale + script.shift[k]
            return name, False
        start, slope = script.variables.line(word)
        script.read_now.append((word, start, slope))
        if not slope:
            self.numbers[name] = start + script.shift[k]
            return name, False
        if script.part > 1 or script.steps:
            raise NotUnderstood(f"{word}, which changes with the step, after a run")
        step = script.keyword("dt")
        script.of_time.append((self.line, step))
        self.numbers.update({name: start, f"v{name}": slope / script.units.time(step)})
        return f"({name} + v{name}*t)", True

    def plane(self, axis, word, side):
        if side not in ("lo", "hi"):
            raise NotUnderstood(f"fix indent plane … {side}: expected lo or hi")
        if self.script.boundary["xyz".index(axis)] in ("p", "pp"):
            raise NotUnderstood(f"fix indent plane across {axis}, which is periodic")
        place, _ = self.place("p", word, "xyz".index(axis), self.scale["xyz".index(axis)])
        return f"{place} - {axis}" if side == "lo" else f"{axis} - {place}"

    def round(self, axis, words, side):
        if side not in ("in", "out"):
            raise NotUnderstood(f"fix indent side {side}: expected in or out")
        axes = [a for a in "xyz" if a != axis]
        radius = words[-1]
        self.numbers["R"] = self.script.steady(radius) * (
            1 if radius.startswith("v_") else self.scale[0])
        squares = []
        for a, word in zip(axes, words):
            place, moves = self.place(f"{a}0", word, "xyz".index(a), self.scale["xyz".index(a)])
            squares.append(f"{self.nearest(a, place, moves)}^2")
        distance = f"sqrt({' + '.join(squares)})"
        return f"R - {distance}" if side == "out" else f"{distance} - R"

    def nearest(self, axis, place, moves):
        """The distance along an axis from the nearest image of the centre."""
        k, script = "xyz".index(axis), self.script
        if script.boundary[k] not in ("p", "pp"):
            return f"({axis} - {place})"
        if moves:
            raise NotUnderstood(f"fix indent that moves along {axis}, which is periodic")
        low, high = script.box[axis]
        tilts = script.atoms.tilts if script.atoms is not None else script.data.tilts
        if any(tilts):
            raise NotUnderstood("fix indent in a tilted box that is periodic")
        edge = high - low
        # A field is given the image of a particle that is nearest to 0.
        self.numbers[f"{axis}0"] = (self.numbers[f"{axis}0"] + edge / 2) % edge - edge / 2
        self.numbers[f"h{axis}"] = edge / 2
        self.where += (f"; d{axis} = {axis} - {axis}0")
        return (f"(d{axis} - 2*h{axis}*(if(d{axis} > h{axis}, 1, 0) - "
                f"if(d{axis} < -h{axis}, 1, 0)))")
