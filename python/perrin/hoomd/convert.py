"""A script of HOOMD-blue, read statement by statement, and the job that it becomes."""
import ast
import os

from perrin.hoomd.assemble import assemble
from perrin.hoomd.evaluate import Scope
from perrin.hoomd.groups import Groups
from perrin.hoomd.objects import Objects
from perrin.hoomd.runs import Runs
from perrin.hoomd.script import Statements
from perrin.hoomd.values import Thing, number
from perrin.importing.lines import Line, NotUnderstood, Result
from perrin.importing.write import job_text


class Script(Statements, Objects, Runs, Groups):
    def __init__(self, path, given, result, folder, name, state):
        self.path, self.result, self.folder, self.name = path, result, folder, name
        self.script, self.modules = path, {}
        self.given, self.state = given, state
        self.globals, self.statements, self.depth = Scope(), 0, 0
        self.globals.update({"__name__": "__main__", "__file__": path, **given})
        self.source, self.line, self.until_converged = [], Line(path, 0, ""), False
        self.sim = self.system = self.frame = self.start_data = self.zero = self.box = None
        self.written, self.types, self.particles, self.dimensions = {}, [], 0, 3
        self.first_step, self.given_step, self.steps = 0, None, 0
        self.groups, self.used_groups, self.exclusions = {}, {}, {}
        self.velocity = self.new_velocity = self.rotation = self.mark = None
        self.job_forces, self.stages, self.writers_of, self.observers = [], [], [], {}
        self.ran, self.part, self.friction = False, 1, False
        self.bodies, self.constraints = {}, None
        self.of_box = None  # the line of a field that is one of the box
        self.orientations = self.turned = self.uses_charges = False
        self.turns, self.along_x, self.turned_data, self.first = {}, False, None, None

    def near(self, line, text):
        self.result.changed.append((line, text))

    def course(self, thing, name, start, steps):
        return self.course_of(thing.get(name), name, start, steps, thing.line_of(name))

    def course_of(self, value, name, start, steps, line):
        """(first value, last value, steps from one to the other) within a stage."""
        if not isinstance(value, Thing):
            made = number(value, name, line)
            return made, made, 0
        if value.path == "hoomd.variant.Constant":
            made = value.number("value")
            return made, made, 0
        if value.path != "hoomd.variant.Ramp":
            raise NotUnderstood(f"{name}: the variant {value.kind}", line)
        a, b, begin, over = (value.number(k) for k in ("A", "B", "t_start", "t_ramp"))

        def at(step):
            return a + (b - a) * min(max((step - begin) / over, 0), 1)

        return at(start), at(start + steps), max(int(steps), 1)

    def constant(self, thing, name):
        value = thing.get(name)
        first, last, _ = self.course_of(value, name, 0, 0, thing.line_of(name))
        if isinstance(value, Thing) and value.kind == "Ramp":
            raise NotUnderstood(f"{name} of {thing.kind} that changes", thing.line_of(name))
        return first

    def next_part(self):
        """What was read becomes a job; what follows another, which begins where it ends."""
        forces = self.job_forces
        self.result.jobs.append(assemble(self, last=False))
        self.part += 1
        self.stages, self.writers_of, self.observers = [], [], {}
        self.velocity, self.used_groups, self.job_forces = None, {}, forces


def convert(path, name=None, folder=None, variables=None, state=None):
    """A script of HOOMD-blue as a job. name: of files that are written beside the job, a start or
    tables that the script makes; folder: where the job will be; variables: values of names, in
    place of those that the script gives them; state: a GSD file that is the start, where that of
    the script is not there or not known."""
    result, folder = Result(), os.path.abspath(folder or ".")
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    given = {k: literal(v) for k, v in (variables or {}).items()}
    name = name or os.path.splitext(os.path.basename(path))[0]
    script = Script(path, given, result, folder, name, state)
    try:
        script.read(text)
    except SyntaxError as error:
        result.not_understood.append((Line(path, error.lineno or 0, (error.text or "").strip()),
                                      f"this is no Python: {error.msg}"))
    script.finish()
    result.jobs.append(assemble(script))
    result.once()
    result.texts = [job_text("hoomd", job, result, path, part, len(result.jobs))
                    for part, job in enumerate(result.jobs, 1)]
    return result


def literal(text):
    try:
        return ast.literal_eval(text) if isinstance(text, str) else text
    except (ValueError, SyntaxError):
        return text
