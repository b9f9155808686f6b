"""A script of LAMMPS, command by command, and the job that it becomes."""
import os

from perrin.importing.lines import NoJob, NotUnderstood, Result, wrong_words
from perrin.importing.write import job_text
from perrin.lammps import forces
from perrin.lammps.bonded import Bonded
from perrin.lammps.box import Boxes
from perrin.lammps.charges import Charges
from perrin.lammps.flow import Flow
from perrin.lammps.groups import Groups
from perrin.lammps.linking import Linking
from perrin.lammps.molecules import Molecules
from perrin.lammps.replicate import Replicate
from perrin.lammps.runs import Runs
from perrin.lammps.script import Variables, split
from perrin.lammps.styles import Styles
from perrin.lammps.system import System
from perrin.lammps.units import Units
from perrin.lammps.watch import Watch

NO_EFFECT = {"neighbor", "newton", "processors", "thermo_modify", "thermo_style",
             "echo", "log", "print", "package", "suffix", "timer", "comm_modify",
             "comm_style", "atom_modify", "info", "min_style", "min_modify", "balance",
             "label", "compute_modify", "write_data",
             "write_restart", "write_dump", "write_coeff"}
# What begins another job where a run has been: other forces, other velocities.
FORCES = {"pair_style", "pair_coeff", "pair_modify", "bond_style", "bond_coeff", "angle_style",
          "angle_coeff", "dihedral_style", "dihedral_coeff", "improper_style", "improper_coeff",
          "special_bonds", "kspace_style", "kspace_modify", "dielectric"}
# What changes the start, which is that of the first job alone.
PARTICLES = {"create_atoms", "create_bonds", "delete_atoms", "displace_atoms", "set", "mass",
             "read_data", "change_box", "replicate"}
RAW = {"variable", "if"}  # whose words are substituted one by one


class Script(System, Boxes, Groups, Styles, Charges, Linking, Molecules, Replicate, Runs, Flow,
             Watch):
    def __init__(self, path, variables, result, folder, name):
        self.path, self.result, self.folder, self.name = path, result, folder, name
        self.variables = Variables(variables, self.keyword, self.particles_of)
        self.begin_flow()
        self.begin_box()
        self.units, self.dimension, self.boundary = Units(), 3, ["p", "p", "p"]
        self.special, self.style, self.special_line = (0.0, 0.0, 0.0), None, None
        self.lattice, self.regions, self.atoms, self.data = None, {}, None, None
        self.masses, self.types, self.timestep = {}, 0, None
        self.pairs = forces.Pairs()
        self.bonded = {k: Bonded(k) for k in ("bond", "angle", "dihedral", "improper")}
        self.groups, self.fixes, self.velocity = {"all": None}, {}, None
        self.named = {}  # groups by their names in jobs
        self.used_groups, self.stages, self.observers, self.computes = {}, [], {}, {}
        self.watchers, self.dumped, self.longest_cutoff = {}, {}, 0.0
        self.of_box = []  # lines of fields that know the lengths of the box
        self.of_time = []  # (line, time step) of fields that move with the step
        self.weightless = {}  # {a fix gravity that no run has had: its group}
        self.field_parts = {}  # the part in which a fix of a field was defined
        # [(variable, value at the step 0 of the job, change per step)] of the fix that is read, and
        # of each fix of a field.
        self.read_now, self.read_by = [], {}
        self.system_line = self.data_path = None
        self.thermo, self.fields, self.ran, self.friction = None, [], False, False
        self.steps, self.seed, self.lost = 0, None, False
        self.step_known = True  # not behind a minimisation, whose number of steps is open
        self.part, self.adapted = 1, set()
        self.properties = {}  # {fix property/atom: what it gives particles}
        self.held_groups = {}  # {a group of fix setforce: its parts and integrators}
        self.stopped = None    # the line of a run that nothing moves
        self.dynamics = False  # whether there was a run, beside minimisations
        self.kspace, self.slab, self.special_charges = None, None, (0.0, 0.0, 0.0)
        self.dielectric, self.charges = 1.0, {}
        self.data_particles, self.rewritten = None, False
        self.kinds_of_box = {}  # types of bonds, angles, … of create_box
        self.shake, self.constrained = None, False
        self.rigid, self.rigid_groups, self.bodies, self.centers = {}, {}, None, None
        self.excluded, self.apart = [], False
        self.silent = []  # (line, pairs of types without energy)
        self.axis, self.disc = None, False
        self.framed = None  # the fix that acts along axes of frames
        self.turning = []  # (group, whether a fix turns its particles, line)
        self.reactions, self.reservoir = [], {}
        self.special_listed = {"angle": False, "dihedral": False}  # special_bonds … yes
        self.templates = {}  # of molecules
        self.special_known, self.special_old = None, None  # see create_bonds
        self.whole = None  # the type that fills the box as one lattice
        self.ramp = None   # (plane, rate, line) of velocity ramp
        self.flow = None   # `shear` of the last run, whose velocities particles have

    def keyword(self, word):
        value = self.of_the_box(word)
        if value is not None:
            return value
        if word == "atoms" and self.count():
            return float(self.count())
        if word in ("xlat", "ylat", "zlat") and self.lattice is not None:
            return float(self.lattice.spacing["xyz".index(word[0])])
        if word == "dt":
            return self.timestep if self.timestep is not None else self.units.timestep
        if word == "step":
            return float(self.now())
        return None

    def now(self):
        """The step of the script."""
        if not self.step_known:
            raise NotUnderstood("the step after a minimisation, which ends when it has converged")
        return self.steps

    def particles_of(self, group):
        if group != "all" and (self.ran or self.part > 1):
            raise NotUnderstood(f"count({group}) after a run")
        return self.count() if group == "all" else int(self.members(group).sum())

    def count(self):
        if self.reservoir and (self.ran or self.part > 1):
            raise NotUnderstood("the number of particles after a run in which they come and go")
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

    def run_line(self, line, text=None):
        try:
            text = line.text if text is None else text
            command = text.split()[0]
            if command in NO_EFFECT:
                self.result.no_effect.append(line)
                return
            if command == "fix" and text.split()[3:4] == ["print"]:  # its text, at each step
                text = self.variables.substitute_outside(text)
            elif command not in RAW:
                text = self.variables.substitute(text)
            self.command(text.split() if command == "variable" else split(text), line)
        except NoJob as error:
            raise NoJob(str(error), line) from error
        except NotUnderstood as error:
            self.result.not_understood.append((line, str(error)))
        except (IndexError, ValueError, KeyError) as error:
            self.result.not_understood.append((line, wrong_words(error)))

    def command(self, words, line):
        name, rest = words[0], words[1:]
        handler = getattr(self, f"do_{name}", None)
        if handler is None:
            raise NotUnderstood(f"the command {name}")
        if (self.ran or self.part > 1) and name in PARTICLES and not self.same_mass(name, rest):
            raise NotUnderstood(f"{name} after a run: a job has one system")
        drawn = name == "velocity" and (words[2] == "create" or words[1:3] == ["all", "scale"])
        if self.ran and (name in FORCES or drawn):
            if self.reactions or self.reservoir:
                raise NotUnderstood(f"{name} after a run: bonds that change and a reservoir are "
                                    "those of one job")
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

    def same_mass(self, name, rest):
        """Whether a command is `mass` with what the type has."""
        return name == "mass" and all(
            self.masses.get(kind) == self.number(rest[1])
            for kind in forces.several(rest[0], self.types))

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
    try:
        script.read(path)
    except NoJob as error:
        result.not_understood.append((error.line, f"{error}; no job is written"))
        return result
    script.close_part()
    result.once()
    result.texts = [job_text("lammps", job, result, path, part, len(result.jobs))
                    for part, job in enumerate(result.jobs, 1)]
    return result
