"""A script of LAMMPS, command by command, and the job that it becomes."""
import os
import re

import numpy as np

from perrin.importing.lines import NotUnderstood, Result
from perrin.importing.write import job_text
from perrin.lammps import forces
from perrin.lammps.bonded import Bonded
from perrin.lammps.charges import Charges
from perrin.lammps.groups import Groups
from perrin.lammps.linking import Linking
from perrin.lammps.replicate import Replicate
from perrin.lammps.runs import Runs
from perrin.lammps.script import Variables, logical_lines, split
from perrin.lammps.styles import Styles
from perrin.lammps.system import System
from perrin.lammps.units import Units
from perrin.lammps.watch import Watch

NO_EFFECT = {"neighbor", "newton", "processors", "thermo_modify", "thermo_style",
             "dump_modify", "echo", "log", "print", "package", "suffix", "timer", "comm_modify",
             "comm_style", "atom_modify", "info", "min_style", "min_modify", "balance",
             "shell", "label", "compute_modify", "write_data",
             "write_restart", "write_dump", "write_coeff"}
# What begins another job where a run has been: other forces, other velocities.
FORCES = {"pair_style", "pair_coeff", "pair_modify", "bond_style", "bond_coeff", "angle_style",
          "angle_coeff", "dihedral_style", "dihedral_coeff", "improper_style", "improper_coeff",
          "special_bonds", "kspace_style", "kspace_modify", "dielectric"}
PARTICLES = {"create_atoms", "delete_atoms", "displace_atoms", "set", "mass", "read_data",
             "change_box", "replicate"}


class Script(System, Groups, Styles, Charges, Linking, Replicate, Runs, Watch):
    def __init__(self, path, variables, result, folder, name):
        self.path, self.result, self.folder, self.name = path, result, folder, name
        self.variables = Variables(variables, self.keyword)
        self.units, self.dimension, self.boundary = Units(), 3, ["p", "p", "p"]
        self.special, self.style, self.special_line = (0.0, 0.0, 0.0), None, None
        self.lattice, self.regions, self.atoms, self.data = None, {}, None, None
        self.masses, self.types, self.timestep = {}, 0, None
        self.pairs = forces.Pairs()
        self.bonded = {k: Bonded(k) for k in ("bond", "angle", "dihedral", "improper")}
        self.groups, self.fixes, self.velocity = {"all": None}, {}, None
        self.used_groups, self.stages, self.observers, self.computes = {}, [], {}, {}
        self.watchers, self.longest_cutoff = {}, 0.0
        self.of_box = []  # lines of fields that know the lengths of the box
        self.of_time = []  # (line, time step) of fields that move with the step
        self.weightless = {}  # {a fix gravity that no run has had: its group}
        self.field_parts = {}  # the part in which a fix of a field was defined
        # [(variable, value at the step 0 of the job, change per step)] of the fix that is read, and
        # of each fix of a field.
        self.read_now, self.read_by = [], {}
        self.system_line = self.data_path = None
        self.thermo, self.fields, self.ran, self.friction = None, [], False, False
        self.box, self.steps, self.seed, self.lost = None, 0, None, False
        self.set_velocities, self.part, self.adapted = {}, 1, set()
        self.kspace, self.slab, self.special_charges = None, None, (0.0, 0.0, 0.0)
        self.dielectric, self.charges = 1.0, {}
        self.data_particles, self.rewritten = None, False
        self.kinds_of_box = {}  # types of bonds, angles, … of create_box
        self.shake, self.constrained = None, False
        self.rigid, self.rigid_groups, self.bodies = {}, {}, None
        self.excluded, self.apart = [], False
        self.silent = []  # (line, pairs of types without energy)
        self.axis, self.disc = None, False
        self.framed = None  # the fix that acts along axes of frames
        self.turning = []  # (group, whether a fix turns its particles, line)
        self.reactions, self.reservoir = [], {}
        self.whole = None  # the type that fills the box as one lattice
        self.ramp = None   # (plane, rate, line) of velocity ramp
        self.flow = None   # `shear` of the last run, whose velocities particles have

    def keyword(self, word):
        if self.box is not None:
            match = re.fullmatch(r"([xyz])(lo|hi)|l([xyz])", word)
            if match and match[1]:
                return float(self.box[match[1]][match[2] == "hi"])
            if match:
                low, high = self.box[match[3]]
                return float(high - low)
            if word == "vol":
                return float(np.prod([b - a for a, b in self.box.values()]))
        if word == "atoms" and self.count():
            return float(self.count())
        if word in ("xlat", "ylat", "zlat") and self.lattice is not None:
            return float(self.lattice.spacing["xyz".index(word[0])])
        if word == "dt":
            return self.timestep if self.timestep is not None else self.units.timestep
        return float(self.steps) if word == "step" else None

    def count(self):
        return len(self.atoms.r) if self.atoms is not None else \
            self.data.counts.get("atoms", 0) if self.data else 0

    def number(self, word):
        return self.variables.number(word)

    def steady(self, word):
        value = self.variables.steady(word)
        if word.startswith("v_"):
            self.read_now.append((word, value, 0.0))
        return value

    def file(self, name):
        return os.path.join(os.path.dirname(os.path.abspath(self.path)), name)

    def read(self, path):
        for line in logical_lines(path):
            self.run_line(line)
            if self.lost:
                return

    def run_line(self, line, text=None):
        try:
            text = line.text if text is None else text
            command = text.split()[0]
            if command in NO_EFFECT:
                self.result.no_effect.append(line)
                return
            if command != "variable":
                text = self.variables.substitute(text)
            self.command(split(text) if command != "variable" else text.split(), line)
        except NotUnderstood as error:
            self.result.not_understood.append((line, str(error)))
        except (IndexError, ValueError, KeyError) as error:
            self.result.not_understood.append((line, f"words are missing or wrong ({error!r})"))

    def command(self, words, line):
        name, rest = words[0], words[1:]
        handler = getattr(self, f"do_{name}", None)
        if handler is None:
            raise NotUnderstood(f"the command {name}")
        if self.ran and name in PARTICLES:
            raise NotUnderstood(f"{name} after a run: a job has one system")
        drawn = name == "velocity" and (words[2] == "create" or words[1:3] == ["all", "scale"])
        if self.ran and (name in FORCES or drawn):
            self.next_part()
            if name == "velocity":
                self.flow = None
        handler(rest, line)

    def next_part(self):
        """What was read becomes a job; what follows another, which begins where it ends. Fields of
        that have the script's coordinates, those of a start from a file."""
        self.whole = None
        self.close_part(last=False)
        self.part += 1
        self.stages, self.velocity, self.ran = [], None, False
        self.watch_next_part()
        self.used_groups, self.system_line = {}, None
        self.reactions = []

    def close_part(self, last=True):
        from perrin.lammps.assemble import assemble
        self.result.jobs.append(assemble(self, last))

    def do_variable(self, rest, line):
        rest = [rest[0], rest[1], *(split(" ".join(rest[2:])) if rest[1] != "equal" else rest[2:])]
        if rest[1] not in ("equal",):
            rest[2:] = [self.variables.substitute(w) for w in rest[2:]]
        self.variables.define(rest)

    def do_if(self, rest, line):
        words = list(rest)
        verdict = self.variables.condition(words.pop(0))
        branches, kind = {"then": []}, None
        for word in words:
            if word in ("then", "else", "elif"):
                kind = word
                branches.setdefault(kind, [])
                if word == "elif":
                    raise NotUnderstood("if with elif")
            else:
                branches[kind].append(word)
        for text in branches["then"] if verdict else branches.get("else", []):
            self.run_line(line, text)

    def do_include(self, rest, line):
        path = self.file(rest[0])
        if not os.path.exists(path):
            raise NotUnderstood(f"the file {rest[0]} is not there")
        self.read(path)

    def do_jump(self, rest, line):
        raise NotUnderstood("jump: loops are not translated")

    def do_next(self, rest, line):
        raise NotUnderstood("next: loops are not translated")

    def do_clear(self, rest, line):
        self.lost = True
        raise NotUnderstood("clear: what follows is another simulation, a job of its own")

    def do_quit(self, rest, line):
        self.lost = True


def convert(path, name=None, folder=None, variables=None, data=None):
    """A script of LAMMPS as a job. name: of the start that is written beside the job, where the
    script makes one; folder: where the job will be; variables: values of `-var`; data: a data file
    to take in place of the one that the script reads."""
    result = Result()
    folder = os.path.abspath(folder or ".")
    script = Script(path, variables, result, folder, name or os.path.basename(path))
    if data is not None:
        script.file = lambda asked, own=script.file: data if asked and not os.path.exists(
            own(asked)) else own(asked)
    script.read(path)
    script.close_part()
    result.once()
    result.texts = [job_text("lammps", job, result, path, part, len(result.jobs))
                    for part, job in enumerate(result.jobs, 1)]
    return result
