"""A script of LAMMPS, command by command, and the job that it becomes."""
import os
import re

import numpy as np

from perrin.lammps import fixes, forces
from perrin.lammps.atoms import Atoms, Data, Lattice, region
from perrin.lammps.script import NotUnderstood, Variables, logical_lines, split
from perrin.lammps.units import Units
from perrin.lammps.write import Commented, job_text

NO_EFFECT = {"neigh_modify", "neighbor", "newton", "processors", "thermo_modify", "thermo_style",
             "dump_modify", "echo", "log", "print", "package", "suffix", "timer", "comm_modify",
             "comm_style", "atom_modify", "info", "run_style", "min_style", "min_modify", "balance",
             "shell", "undump", "uncompute", "label", "partition", "clear_not", "quit_not",
             "compute_modify", "write_data", "write_restart", "write_dump", "write_coeff",
             "thermo_not", "kim_not", "log_not", "variable_not", "reset_atoms"}
MEASURED = {"msd": "mean_square_displacement", "vacf": "velocity_autocorrelation", "rdf": "rdf",
            "gyration/chunk": "chain_size"}


class Result:
    """text: the job; not_understood: [(line, reason)]; changed: what means nearly the same;
    data: [path of a written start]; stages, particles: how many."""

    def __init__(self):
        self.text, self.job, self.data = "", {}, []
        self.not_understood, self.changed, self.no_effect = [], [], []


class Script:
    def __init__(self, path, variables, result, folder, name):
        self.path, self.result, self.folder, self.name = path, result, folder, name
        self.variables = Variables(variables, self.keyword)
        self.units, self.dimension, self.boundary = Units(), 3, ["p", "p", "p"]
        self.special, self.style = (0.0, 0.0, 0.0), None
        self.lattice, self.regions, self.atoms, self.data = None, {}, None, None
        self.masses, self.types, self.timestep = {}, 0, None
        self.pairs = forces.Pairs()
        self.bonded = {k: forces.Bonded(k) for k in ("bond", "angle", "dihedral", "improper")}
        self.groups, self.fixes, self.velocity = {"all": None}, {}, None
        self.used_groups, self.stages, self.observers, self.computes = {}, [], {}, {}
        self.system_line = self.data_path = None
        self.thermo, self.fields, self.ran, self.friction = None, [], False, False
        self.box, self.steps, self.seed, self.lost = None, 0, None, False
        self.whole = None  # the type that fills the box as one lattice

    # Words of the state in formulas.
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
        return None

    def count(self):
        return len(self.atoms.r) if self.atoms is not None else \
            self.data.counts.get("atoms", 0) if self.data else 0

    def number(self, word):
        return self.variables.number(word)

    def file(self, name):
        return os.path.join(os.path.dirname(os.path.abspath(self.path)), name)

    # Lines.
    def read(self, path):
        for line in logical_lines(path):
            self.run_line(line)
            if self.lost:
                return

    def run_line(self, line, text=None):
        try:
            text = line.text if text is None else text
            command = text.split()[0]
            if command != "variable":
                text = self.variables.substitute(text)
            self.command(split(text) if command != "variable" else text.split(), line)
        except NotUnderstood as error:
            self.result.not_understood.append((line, str(error)))
        except (IndexError, ValueError, KeyError) as error:
            self.result.not_understood.append((line, f"words are missing or wrong ({error!r})"))

    def command(self, words, line):
        name, rest = words[0], words[1:]
        if name in NO_EFFECT:
            self.result.no_effect.append(line)
            return
        handler = getattr(self, f"do_{name}", None)
        if handler is None:
            raise NotUnderstood(f"the command {name}")
        if self.ran and name in CHANGES:
            raise NotUnderstood(f"{name} after a run: a job has one system and one set of forces")
        handler(rest, line)

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

    # The system.
    def do_units(self, rest, line):
        self.units = Units(rest[0])

    def do_dimension(self, rest, line):
        self.dimension = int(rest[0])

    def do_boundary(self, rest, line):
        self.boundary = list(rest)
        if any(set(b) - set("pfsm") for b in rest):
            raise NotUnderstood("boundary")

    def do_atom_style(self, rest, line):
        self.style = " ".join(rest)
        if rest[0] in ("template", "body", "ellipsoid", "line", "tri", "electron", "peri", "smd"):
            raise NotUnderstood(f"atom_style {rest[0]}")

    def do_lattice(self, rest, line):
        self.lattice = Lattice(rest, self.units.style == "lj", self.number)

    def do_region(self, rest, line):
        edges = None if self.box is None else \
            ([self.box[k][0] for k in "xyz"], [self.box[k][1] for k in "xyz"])
        self.regions[rest[0]] = region(rest[1:], self.lattice, self.number, self.regions, edges)

    def do_create_box(self, rest, line):
        made = self.regions.get(rest[1])
        if made is None or made.box is None:
            raise NotUnderstood("create_box of a region that is no block or prism")
        if len(rest) > 2:
            self.result.no_effect.append(line)  # room for bonds
        self.types = int(rest[0])
        low, high = (np.array(b, float) for b in made.box)
        if self.dimension == 2:
            low[2], high[2] = -0.5, 0.5
        self.atoms = Atoms(low, high, made.tilts or [0, 0, 0], self.types)
        self.box = {k: (low[i], high[i]) for i, k in enumerate("xyz")}
        self.system_line = line

    def do_create_atoms(self, rest, line):
        if self.atoms is None:
            raise NotUnderstood("create_atoms in a box that is not made by create_box")
        kind, style, rest = int(rest[0]), rest[1], rest[2:]
        named = None
        if style == "region":
            named, rest = self.regions[rest[0]], rest[1:]
        elif style == "single":
            scale = self.lattice.spacing if self.lattice is not None and "box" not in rest \
                else np.ones(3)
            self.whole = None
            self.atoms.add(kind, np.array([[self.number(w) for w in rest[:3]]]) * scale)
            return
        elif style != "box":
            raise NotUnderstood(f"create_atoms {style}")
        rest = [w for w in rest if w not in ("units", "box", "lattice")]
        if rest:
            raise NotUnderstood(f"create_atoms with {rest[0]}")
        if self.lattice is None or self.lattice.style == "none":
            raise NotUnderstood("create_atoms without a lattice")
        a = self.atoms
        low, high = a.low.copy(), a.high.copy()
        for (i, j), tilt in zip(((0, 1), (0, 2), (1, 2)), a.tilts):
            low[i] += min(0, tilt)
            high[i] += max(0, tilt)
        tilted = any(a.tilts)
        r = self.lattice.points(low, high, [b == "p" and not tilted for b in self.boundary])
        if self.dimension == 2:
            r = r[np.abs(r[:, 2]) < 1e-9]
        self.whole = named is None and not tilted and not len(a.r) and kind
        r = r[a.inside(r)] if tilted else r
        if named is not None:
            r = r[named.inside(r)]
        a.add(kind, r)

    def do_read_data(self, rest, line):
        if len(rest) > 1 and set(rest[1::2]) - {"extra", "nocoeff"} and \
                not rest[1].startswith("extra"):
            raise NotUnderstood(f"read_data with {rest[1]}")
        path = self.file(rest[0])
        if not os.path.exists(path):
            self.lost = True
            raise NotUnderstood(f"the data file {rest[0]} is not beside the script: nothing that "
                                "follows was read")
        self.data, self.data_path, self.system_line = Data(path), path, line
        self.types = self.data.counts.get("atom types", 1)
        self.box = dict(self.data.box)
        self.masses.update({int(k): m for k, m in self.data.masses.items() if k.isdigit()})
        for name, rows in self.data.sections.items():
            kind = name.split()[0].lower()
            try:
                if kind in ("pair", "pairij"):
                    self.pairs.section(name, rows, self.types)
                else:
                    for row in rows:
                        self.bonded[kind].coefficient(row, self.kinds(kind), line)
            except NotUnderstood as error:
                raise NotUnderstood(f"{name} of {rest[0]}: {error}") from None

    def kinds(self, kind):
        return self.data.counts.get(f"{kind} types", 1) if self.data else 1

    def do_mass(self, rest, line):
        for kind in forces.several(rest[0], self.types):
            self.masses[kind] = self.number(rest[1])

    def do_set(self, rest, line):
        self.whole = None
        style, which, rest = rest[0], rest[1], rest[2:]
        if rest[0] == "type/fraction" and self.atoms is not None:
            self.result.changed.append((line, "types are drawn with other random numbers"))
            chosen = self.chosen(style, which)
            random = np.random.default_rng(int(float(rest[3])))
            self.atoms.type[chosen & (random.random(len(chosen)) < self.number(rest[2]))] = \
                int(rest[1])
        elif rest[0] == "type" and self.atoms is not None:
            self.atoms.type[self.chosen(style, which)] = int(rest[1])
        elif rest[0] == "image":
            self.result.no_effect.append(line)
        else:
            raise NotUnderstood(f"set {style} … {rest[0]}")

    def chosen(self, style, which):
        a = self.atoms
        if style == "group":
            return self.members(which)
        if style == "region":
            return self.regions[which].inside(a.r)
        if style in ("atom", "type"):
            of = a.type if style == "type" else np.arange(1, len(a.r) + 1)
            return np.isin(of, forces.several(which, int(of.max())))
        raise NotUnderstood(f"set {style}")

    def do_delete_atoms(self, rest, line):
        self.whole = None
        if self.atoms is None or rest[0] not in ("group", "region"):
            raise NotUnderstood(f"delete_atoms {rest[0]}")
        keep = ~self.chosen(rest[0], rest[1])
        self.atoms.r, self.atoms.type = self.atoms.r[keep], self.atoms.type[keep]

    def do_displace_atoms(self, rest, line):
        self.whole = None
        if self.atoms is None or rest[1] not in ("move", "random"):
            raise NotUnderstood("displace_atoms")
        chosen = self.members(rest[0])
        shift = np.array([self.number(w) for w in rest[2:5]])
        if "box" not in rest and self.lattice is not None:
            shift = shift * self.lattice.spacing
        if rest[1] == "random":
            self.result.changed.append((line, "displaced by other random numbers"))
            shift = (np.random.default_rng(1).random((int(chosen.sum()), 3)) * 2 - 1) * shift
        self.atoms.r[chosen] += shift

    # Groups: definitions as Perrin's where they can be, members where the script made the atoms.
    def do_group(self, rest, line):
        name, style, rest = rest[0], rest[1], rest[2:]
        if style == "type":
            if rest[0] in ("<", "<=", ">", ">=", "<>", "==", "!="):
                test = {"<": lambda t, a: t < a, "<=": lambda t, a: t <= a, ">": lambda t, a: t > a,
                        ">=": lambda t, a: t >= a, "==": lambda t, a: t == a,
                        "!=": lambda t, a: t != a,
                        "<>": lambda t, a, b=None: a <= t <= b}[rest[0]]
                bounds = [int(w) for w in rest[1:]]
                kinds = [t for t in range(1, self.types + 1) if test(t, *bounds)]
            else:
                kinds = [t for w in rest for t in forces.several(w, self.types)]
            self.groups[name] = {"types": [str(t) for t in kinds]}
        elif style in ("id", "molecule"):
            if not all(re.fullmatch(r"\d+(:\d+)?", w) for w in rest):
                raise NotUnderstood(f"group by {style} with {' '.join(rest)}")
            key = "ids" if style == "id" else "molecules"
            self.groups[name] = {key: [
                [int(v) for v in w.split(":")] if ":" in w else int(w) for w in rest]}
        elif style == "region":
            made = self.regions[rest[0]]
            if self.atoms is None:
                if made.box is None:
                    raise NotUnderstood("a group by a region that is no block, of a data file")
                self.groups[name] = {"box": [[v if abs(v) < 1e29 else None for v in corner]
                                             for corner in made.box]}
            else:
                ids = np.flatnonzero(made.inside(self.atoms.r)) + 1
                self.groups[name] = {"ids": ranges(ids)}
        elif style in ("union", "intersect"):
            self.groups[name] = {"or" if style == "union" else "and": list(rest)}
        elif style == "subtract":
            self.groups[name] = {"and": [rest[0]], "not": list(rest[1:])} \
                if rest[0] != "all" else {"not": list(rest[1:])}
        elif style in ("delete", "clear"):
            self.groups.pop(name, None)
        else:
            raise NotUnderstood(f"group {style}")

    def members(self, name):
        a, made = self.atoms, self.groups[name]
        if made is None:
            return np.ones(len(a.r), bool)
        if "types" in made:
            return np.isin(a.type, [int(t) for t in made["types"]])
        if "ids" in made:
            found = np.zeros(len(a.r), bool)
            for entry in made["ids"]:
                low, high = entry if isinstance(entry, list) else (entry, entry)
                found[low - 1:high] = True
            return found
        found = np.ones(len(a.r), bool)
        if "or" in made:
            found = np.logical_or.reduce([self.members(n) for n in made["or"]])
        for other in made.get("and", []):
            found &= self.members(other)
        for other in made.get("not", []):
            found &= ~self.members(other)
        return found

    def use(self, name):
        """The name of a group in the job; those that it is made of come with it."""
        if name == "all":
            return "all"
        if name not in self.groups:
            raise NotUnderstood(f"the group {name} is not known")
        if name not in self.used_groups:
            self.used_groups[name] = self.groups[name]
            for key in ("and", "or", "not"):
                for other in self.groups[name].get(key, []):
                    self.use(other)
        return name

    # Forces.
    def do_pair_style(self, rest, line):
        self.pairs.style(rest, line)

    def do_pair_coeff(self, rest, line):
        self.pairs.coefficient(rest, self.types, line)

    def do_pair_modify(self, rest, line):
        known = {"shift", "tail", "mix"}
        words = list(rest)
        while words:
            key = words.pop(0)
            if key in ("table", "table/disp", "compute", "tabinner"):
                words = words[1:]
            elif key in known:
                self.pairs.modify[key] = words.pop(0)
            else:
                raise NotUnderstood(f"pair_modify {key}")

    def do_special_bonds(self, rest, line):
        words, values = list(rest), None
        while words:
            word = words.pop(0)
            if word == "fene":
                values = (0.0, 1.0, 1.0)
            elif word == "charmm":
                values = (0.0, 0.0, 0.0)
            elif word == "dreiding":
                values = (0.0, 0.0, 1.0)
            elif word in ("lj", "lj/coul"):
                values, words = tuple(self.number(w) for w in words[:3]), words[3:]
            elif word == "coul":
                words = words[3:]
            elif word in ("angle", "dihedral", "one/five"):
                words = words[1:]
            elif word == "extra":
                words = words[1:]
            else:
                values, words = tuple(self.number(w) for w in [word, *words[:2]]), words[2:]
        self.special = values or self.special

    def do_kspace_style(self, rest, line):
        if rest[0] != "none":
            raise NotUnderstood(f"kspace_style {rest[0]}: long-range sums")

    def do_minimize(self, rest, line):
        tolerance = self.number(rest[1])
        self.add_forces()
        self.stage({"type": "md", "name": "minimize", "steps": int(self.number(rest[2])),
                    "integrator": Commented({"type": "fire",
                                             "force_tolerance": tolerance or 1e-3}, line)}, line)

    # Runs.
    def do_timestep(self, rest, line):
        self.timestep = self.number(rest[0])

    def do_reset_timestep(self, rest, line):
        self.result.no_effect.append(line)

    def do_run(self, rest, line):
        steps = int(self.number(rest[0]))
        if len(rest) > 1 and rest[1] == "upto":
            steps = max(steps - self.steps, 0)
        elif len(rest) > 1 and rest[1] not in ("pre", "post"):
            raise NotUnderstood(f"run with {rest[1]}")
        self.add_forces()
        step = self.timestep if self.timestep is not None else self.units.timestep
        held, moved = [], []
        for fix in self.fixes.values():
            if fix.style in ("setforce", "freeze"):
                held.append(fix)
            elif fix.style in fixes.BATHS or fix.style in ("nve", "nvt", "npt", "nph", "brownian"):
                moved.append(fix)
        motion = fixes.Motion(self, moved, steps)
        made = motion.integrators()
        self.result.changed += motion.notes
        deform = None
        for fix in [f for f in self.fixes.values() if f.style == "deform"]:
            deform, self.box = fixes.deformation(fix, self.box, step, steps, self.number)
            deform = Commented(deform, fix.line)
        stage = {"type": "md", "steps": steps, **self.moving(made, held, step)}
        if deform is not None and steps:
            stage["deform"] = deform
        self.stage(stage, line)

    def moving(self, made, held, step):
        """"integrator" or "integrators" of a stage; what no fix moves is frozen."""
        step = self.units.time(step)
        if not made and not held:
            return {"integrator": {"type": "frozen", "timestep": step}}
        frozen = []
        for fix in held:
            if any(w not in ("0.0", "0", "NULL") for w in fix.words[:3]) or \
                    fix.style == "setforce" and "NULL" in fix.words[:3]:
                raise NotUnderstood(f"{fix.line}: fix {fix.style} of a part of the forces")
            frozen.append(fix.group)
        if len(made) == 1 and made[0][0] == "all" and not frozen:
            _, integrator, line = made[0]
            integrator = {"type": integrator["type"], "timestep": step, **integrator}
            return {"integrator": Commented(integrator, line)}
        integrators, named = [], []
        for group, integrator, line in made:
            name = self.use(group)
            if frozen and name == "all":
                name = "moving"
                self.used_groups[name] = {"not": [self.use(f) for f in frozen]}
            integrator = {"type": integrator["type"], "timestep": step, **integrator}
            integrators.append(Commented({**integrator, "group": name}, line))
            named.append(name)
        if frozen and not set(named) & {"moving"}:
            named += [self.use(f) for f in frozen]
        if "moving" in named:
            rest = [self.use(f) for f in frozen]
            group = rest[0] if len(rest) == 1 else "held"
            if len(rest) > 1:
                self.used_groups["held"] = {"or": rest}
            integrators.append({"type": "frozen", "timestep": step, "group": group})
        elif "all" not in named:
            self.used_groups["others"] = {"not": named}
            integrators.append({"type": "frozen", "timestep": step, "group": "others"})
        return {"integrators": integrators}

    def stage(self, stage, line):
        self.stages.append(Commented(stage, line))
        self.steps += stage["steps"]
        self.ran = True

    def add_forces(self):
        """Those of fixes and styles, when a run begins."""
        if not self.ran:
            self.friction = any(style in ("dpd", "dpd/tstat") for style, _ in self.pairs.styles)

    def do_fix(self, rest, line):
        name, group, style, words = rest[0], rest[1], forces.base(rest[2]), rest[3:]
        if style in fixes.MEASURES:
            self.result.no_effect.append(line)
            return
        if style in fixes.BATHS or style in ("nve", "nvt", "npt", "nph", "brownian", "setforce",
                                             "freeze", "deform"):
            self.fixes[name] = fixes.Fix(line, group, style, words)
            return
        from perrin.lammps.fields import field
        made = field(self, group, style, words)
        if made is None:
            raise NotUnderstood(f"fix {style}")
        if self.ran:
            raise NotUnderstood(f"fix {style} after a run: forces of a job act in all stages")
        self.fields += [(name, Commented(force, line)) for force in made]

    def do_unfix(self, rest, line):
        if self.fixes.pop(rest[0], None) is None:
            if any(name == rest[0] for name, _ in self.fields):
                raise NotUnderstood(f"unfix {rest[0]}: forces of a job act in all stages")
            self.result.no_effect.append(line)

    def do_fix_modify(self, rest, line):
        if set(rest[1::2]) - {"energy", "temp", "press", "virial"}:
            raise NotUnderstood(f"fix_modify {rest[1]}")
        self.result.no_effect.append(line)

    # Velocities and output.
    def do_velocity(self, rest, line):
        group, style, words = rest[0], rest[1], rest[2:]
        if style == "zero":
            self.result.no_effect.append(line)
            return
        if group != "all" or style != "create":
            raise NotUnderstood(f"velocity {group} {style}")
        if self.ran:
            raise NotUnderstood("velocity after a run")
        self.velocity = Commented({"temperature": self.number(words[0])}, line)
        self.seed = int(self.number(words[1]))

    def do_thermo(self, rest, line):
        if self.number(rest[0]) > 0:
            self.thermo = Commented(
                {"type": "thermo", "stride": int(self.number(rest[0])),
                 "console_stride": int(self.number(rest[0]))}, line)

    def do_dump(self, rest, line):
        style, stride = forces.base(rest[2]), int(self.number(rest[3]))
        if style in ("image", "movie", "local", "cfg"):
            raise NotUnderstood(f"dump {style}; `perrin report` has pictures")
        quantities = ["position", "image"]
        if style == "custom" and {"vx", "vy", "vz"} & set(rest):
            quantities.insert(1, "velocity")
        kind = {"xtc": "xtc"}.get(style, "trajectory")
        observer = {"type": kind, "stride": stride}
        if kind == "trajectory":
            observer["quantities"] = quantities
        if kind in self.observers:
            observer["file"] = f"{rest[0]}.{'xtc' if kind == 'xtc' else 'h5'}"
        self.observers[kind if kind not in self.observers else rest[0]] = Commented(observer, line)

    def do_restart(self, rest, line):
        if int(self.number(rest[0])):
            self.observers["checkpoint"] = Commented(
                {"type": "checkpoint", "steps": int(self.number(rest[0]))}, line)

    def do_compute(self, rest, line):
        kind = MEASURED.get(rest[2])
        if kind and kind not in self.observers:
            self.observers[kind] = Commented({"type": kind}, line)
        else:
            self.result.no_effect.append(line)


CHANGES = {"pair_style", "pair_coeff", "pair_modify", "bond_style", "bond_coeff", "angle_style",
           "angle_coeff", "dihedral_style", "dihedral_coeff", "improper_style", "improper_coeff",
           "special_bonds", "create_atoms", "delete_atoms", "displace_atoms", "set", "mass",
           "read_data", "kspace_style", "lattice_not", "change_box", "replicate"}


def bonded(kind):
    def style(self, rest, line):
        self.bonded[kind].style(rest, line)

    def coefficient(self, rest, line):
        self.bonded[kind].coefficient(rest, self.kinds(kind), line)

    setattr(Script, f"do_{kind}_style", style)
    setattr(Script, f"do_{kind}_coeff", coefficient)


for _kind in ("bond", "angle", "dihedral", "improper"):
    bonded(_kind)


def ranges(ids):
    """[1, 2, 3, 7] as [[1, 3], 7]."""
    made = []
    for run in np.split(ids, np.flatnonzero(np.diff(ids) != 1) + 1) if len(ids) else []:
        made.append(int(run[0]) if len(run) == 1 else [int(run[0]), int(run[-1])])
    return made


def convert(path, name=None, folder=None, variables=None, data=None):
    """A script of LAMMPS as a job. name: of the start that is written beside the job, where the
    script makes one; folder: where the job will be; variables: values of `-var`; data: a data file
    to take in place of the one that the script reads."""
    from perrin.lammps.assemble import assemble
    result = Result()
    folder = os.path.abspath(folder or ".")
    script = Script(path, variables, result, folder, name or os.path.basename(path))
    if data is not None:
        script.file = lambda asked, own=script.file: data if asked and not os.path.exists(
            own(asked)) else own(asked)
    script.read(path)
    result.job = assemble(script)
    result.text = job_text(result.job, result, path)
    return result
