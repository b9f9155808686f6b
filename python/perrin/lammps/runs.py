"""Runs, minimisations, fixes and output: the stages and observers of the job."""
import json

import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps import fixes, forces, reactions
from perrin.lammps.bodies import bodies_of
from perrin.lammps.fields import field, weights
from perrin.lammps.held import Held
from perrin.lammps.insertion import Insertion
from perrin.lammps.swap import Swap
from perrin.lammps.turns import in_turns

# Why there is no counterpart, where that is not plain.
WITHOUT = {"aveforce": ": a job has no group whose particles all have their mean force",
           "wall/reflect": ": a job has no walls that turn velocities round; lj_wall repels"}
OTHER_WALLS = ": walls of a job are flat (lj_wall) or a formula of x, y, z (external_formula)"


class Runs(Held):
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_minimize(self, rest, line):
        tolerance = self.number(rest[1])
        self.begin(False)
        made = Commented({"type": "fire", "force_tolerance": tolerance or 1e-3}, line)
        stage = {"type": "md", "name": "minimize", "steps": int(self.number(rest[2]))}
        held = [f for f in self.fixes.values() if f.style in ("setforce", "freeze")]
        if held and self.bodies is not None:
            raise NotUnderstood("a minimisation of rigid bodies and particles that are held")
        stage.update(self.held_apart(made, held) if held else {"integrator": made})
        self.stage(stage, line)
        self.step_known = False

    def do_timestep(self, rest, line):
        self.timestep = self.number(rest[0])

    def do_run_style(self, rest, line):
        if not rest[0].startswith("respa"):
            self.result.no_effect.append(line)
            return
        inner = int(np.prod([int(w) for w in rest[2:1 + int(rest[1])]]))
        raise NotUnderstood(f"run_style respa: the job has the time step of the outermost level; "
                            f"take timestep/{inner}, that of the innermost, and {inner} times the "
                            "steps, with \"slow_force_stride\" where charges have a mesh")

    def do_reset_timestep(self, rest, line):
        self.steps, self.step_known = int(self.number(rest[0])), True
        self.result.no_effect.append(line)

    def do_run(self, rest, line):
        steps = int(self.number(rest[0]))
        words = list(rest[1:])
        while words:
            word = words.pop(0)
            if word == "upto":
                steps = max(steps - self.now(), 0)
            elif word in ("pre", "post") and words[:1] in (["yes"], ["no"]):
                words.pop(0)
            else:  # start and stop, too: what changes with the step does so in each run by itself
                raise NotUnderstood(f"run with {word}")
        self.begin(self.shake is not None)
        step = self.timestep if self.timestep is not None else self.units.timestep
        held, moved = [], []
        for fix in self.fixes.values():
            hold = fix.style in ("setforce", "freeze", "move")
            if not hold and fix.style not in fixes.BATHS + fixes.MOVING + fixes.RIGID:
                continue
            if self.moves_nobody(fix):
                self.result.changed.append((fix.line, f"the group {fix.group} has no particles: "
                                            "the job leaves the fix out"))
            else:
                (held if hold else moved).append(fix)
        if any(f.style == "nve/limit" for f in moved):
            self.limited(moved, held, steps, line)
            return
        motion = fixes.Motion(self, moved, steps)
        made = motion.integrators()
        self.result.changed += motion.notes
        self.stop_or_go(made, steps, line)
        self.moved_twice([f for f in moved if f.style in fixes.MOVING])
        deform, shear = self.box_changes(moved, step, steps, line)
        stage = {"type": "md", "steps": steps, **self.moving(made, held, step, steps)}
        if deform is not None and steps:
            stage["deform"] = deform
        if shear is not None and steps:
            stage["shear"] = shear
        trials = [f for f in self.fixes.values() if f.style in ("gcmc", "atom/swap")]
        if trials:
            self.exchange(trials, stage if made or held else None, steps, line)
            return
        self.react(stage)
        self.stage(stage, line)
        self.dynamics |= steps > 0

    def limited(self, moved, held, steps, line):
        """A run with fix nve/limit, which takes overlaps away: a minimisation."""
        fix, *others = [f for f in moved if f.style not in fixes.BATHS]
        if others or self.bodies is not None:
            raise NotUnderstood("fix nve/limit beside other fixes that move particles")
        made = Commented({"type": "fire", "force_tolerance": 1e-3,
                          "maximum_move": self.number(fix.words[0])}, fix.line)
        stage = {"type": "md", "name": "nve/limit", "steps": steps}
        if fix.group != "all" and not self.covered([fix.group]):
            own = self.use(fix.group)
            stage["integrators"] = [Commented({**made, "group": own}, fix.line),
                                    {"type": "frozen", "group": self.rest_of([own])}]
        else:
            stage.update(self.held_apart(made, held) if held else {"integrator": made})
        self.result.changed.append((fix.line, "nve/limit became a minimisation by FIRE with this "
                                    "largest displacement in a step: no thermostat acts in it, and "
                                    "velocities are those of before"))
        self.react(stage)
        self.stage(stage, line)
        self.step_known = False

    def moves_nobody(self, fix):
        """Whether its group has no particles, as far as that is known, and none may come."""
        if fix.group == "all" or any(f.style == "gcmc" for f in self.fixes.values()):
            return False
        try:
            return not self.members(fix.group).any()
        except NotUnderstood:  # said where the group is used
            return False

    def box_changes(self, moved, step, steps, line):
        """`deform` and `shear` of a stage, which has one of the two: the shear."""
        deform, shear, others = None, None, []
        for fix in [f for f in self.fixes.values() if f.style == "deform"]:
            if shear is not None and fix.words[1] in fixes.TILTS:
                self.result.not_understood.append((
                    fix.line, "a second fix deform of a tilt: a stage has one shear"))
                continue
            found = fixes.shear(self, fix, moved)
            shear = shear or found
            if found is None:
                others.append(fix)
        if shear is None:
            fixes.at_rest(self, moved, line)
        for fix in others:
            if shear is not None:
                self.result.not_understood.append((
                    fix.line, "fix deform of an axis beside that of a tilt: a stage has one"))
                continue
            try:
                made, after = fixes.deformation(self, fix, step, steps)
            except NotUnderstood as error:
                self.result.not_understood.append((fix.line, str(error)))
                continue
            before = {} if deform is None else deform
            if before and any(before.get(k) != made.get(k) for k in ("remap_velocities", "form")) \
                    or set(before) & set(made) & set("xyz"):
                raise NotUnderstood("several fixes deform: expected other axes, the same remap and "
                                    "trate of all or of none", fix.line)
            deform = Commented({**before, **made}, fix.line)
            if after is not None and steps:
                self.deformed(made, after)
        barostats = [f for f in moved if fixes.has_barostat(f)]
        if deform is not None and barostats:
            self.result.not_understood.append((deform.line, f"fix deform beside the barostat of "
                                               f"fix {barostats[0].style}: one of them moves the "
                                               "box of a job"))
            deform = None
        return deform, shear

    def exchange(self, trials, md, steps, line):
        """A run with fix gcmc or atom/swap: turns of stages."""
        fix, *others = trials
        if others:
            raise NotUnderstood(f"fix {others[0].style} beside fix {fix.style}", others[0].line)
        if fix.style == "gcmc" and md is not None and "integrators" in md:
            raise NotUnderstood("fix gcmc beside several integrators", fix.line)
        if md is None:
            self.result.changed.append((fix.line, "velocities stay as they are in a run of "
                                        "Monte Carlo alone"))
        made = (Insertion if fix.style == "gcmc" else Swap)(self, fix)
        if fix.style == "gcmc":
            self.reservoir = {str(made.kind): made.room}
        for stage in in_turns(self, fix, made.stage, made.every, (steps, md, line)):
            self.stage(stage, line, stage.get("steps", 0))
        self.steps += 0 if md is not None else steps

    def react(self, stage):
        """Which stages make and break bonds."""
        now = [f for f in self.fixes.values() if f.style in reactions.STYLES]
        if now or self.reactions:
            stage["name"] = f"run-{len(self.stages) + 1}"
        for fix in now:
            for known, names in self.reactions:
                if known is fix:
                    names.append(stage["name"])
                    break
            else:
                self.reactions.append((fix, [stage["name"]]))

    def count_of(self, kind):
        """Particles of a type at the start."""
        return int((self.start.type == kind).sum()) if self.count() or self.data else 0

    def rigidly(self):
        """Rigid bodies are those of the first run, and stay."""
        rigid = {k: f for k, f in self.fixes.items()
                 if f.style in fixes.RIGID and not self.moves_nobody(f)}
        if not rigid:
            if self.bodies is not None:
                raise NotUnderstood("rigid bodies that end: those of a job are there in all stages")
            return
        line = next(iter(rigid.values())).line
        if self.bodies is None and (self.ran or self.part > 1):
            raise NotUnderstood("rigid bodies after a run: the places of their sites are not "
                                "known; write the state by write_data and begin another script",
                                line)
        if self.part > 1:
            raise NotUnderstood("rigid bodies in a job that follows another", line)
        if self.bodies is None:
            self.rigid = rigid
            self.bodies = bodies_of(self)
            made = {self.free_name(name): group
                    for name, group in self.bodies.groups(list(rigid.values())).items()}
            self.centers = self.free_name("bodies")
            self.groups.update({self.centers: {"types": list(self.bodies.settings)}, **made})
            self.rigid_groups = dict(zip(map(id, rigid.values()), made))

    def moved_twice(self, movers):
        """Particles that several fixes integrate: LAMMPS moves them by each of them."""
        for k, fix in enumerate(movers):
            others = {other.group for other in movers[:k] if other is not fix}
            twice = bool(others) and (fix.group == "all" or "all" in others)
            if others and not twice and (self.atoms is not None or self.data_particles is not None):
                twice = any((self.members(fix.group) & self.members(name)).any()
                            for name in others)
            if twice:
                self.result.changed.append((fix.line, "several fixes move the same particles: in "
                                            "LAMMPS by each of them, in the job by one"))

    def stop_or_go(self, made, steps, line):
        """Particles that no fix moves keep their velocities in LAMMPS and have none in a job, which
        is told when a later run moves them."""
        if made and self.stopped is not None:
            self.result.changed.append((self.stopped, "no fix moves particles in this run: they "
                                        "have lost their velocities when a later one does"))
            self.stopped = None
        moves = self.velocity is not None or self.part > 1 or self.ran
        if not moves and (self.atoms is not None or self.data_particles is not None):
            moves = self.start.v is not None and bool(np.any(self.start.v))
        if not made and steps and (moves or self.atoms is None):
            self.stopped = line

    def moving(self, made, held, step, steps):
        """"integrator" or "integrators" of a stage; what no fix moves is frozen."""
        step = self.units.time(step)
        kept = []  # (group, integrator, line) of those whose forces are set to 0
        for fix in held:
            if fix.style == "move":
                kept.append((fix.group, self.prescribed(fix), fix.line))
                continue
            kept += [(group, integrator, fix.line) for group, integrator in self.held(fix, made)]
        if not made and not kept:  # frozen particles would lose their velocities
            still = "frozen" if steps else "velocity_verlet"
            return {"integrator": {"type": still, "timestep": step}}
        if len(made) == 1 and made[0][0] == "all" and not kept:
            _, integrator, line = made[0]
            if self.constrained:
                integrator = self.beside_others(integrator, line, "constraints")
            integrator = {"type": integrator["type"], "timestep": step, **integrator}
            return {"integrator": Commented(integrator, line)}
        if self.constrained:
            raise NotUnderstood("several integrators beside constraints of distances")
        # "all" means all that is in no other.
        mine = [group for group, _, _ in made + kept if group != "all"]
        named = {group: self.use(group) for group in mine}
        all_named, integrators, rest = self.covered(mine), [], None
        for group, integrator, line in made + kept:
            if group == "all" and all_named:
                continue
            if group == "all":
                group = rest = self.rest_of(list(named.values()))
            else:
                group = named[group]
            if len(made) + len(kept) > 1 or not all_named:
                integrator = self.beside_others(integrator, line)
            integrators.append(Commented(
                {"type": integrator["type"], "timestep": step, **integrator, "group": group}, line))
        if rest is None and not all_named:
            integrators.append({"type": "frozen", "timestep": step,
                                "group": self.rest_of(list(named.values()))})
        return {"integrators": integrators}

    def beside_others(self, integrator, line, what="other integrators"):
        """The barostat of nose_hoover acts on its own particles; that of bussi on all."""
        if integrator["type"] != "nose_hoover" or "barostat" not in integrator:
            return integrator
        self.result.changed.append((line, f"beside {what} Nosé and Hoover's thermostat "
                                          "and barostat became Bussi's and stochastic cell "
                                          "rescaling, of the same ensemble"))
        kept = {k: v for k, v in integrator.items() if k != "chain"}
        return {**kept, "type": "bussi"}

    def covered(self, names):
        """Whether every particle is in one of the groups, as far as that is known."""
        if self.bodies is not None:
            return bool(np.logical_or.reduce([
                self.bodies.body >= 0 if n in self.rigid_groups.values() else self.members(n)
                for n in names]).all())
        if self.atoms is not None:
            return bool(np.logical_or.reduce([self.members(n) for n in names]).all())
        kinds = {t for n in names for t in (self.groups[n] or {}).get("types", [])}
        return len(kinds) == self.types

    def stage(self, stage, line, steps=None):
        self.unlike_fields(stage)
        if '"barostat"' in json.dumps(stage):
            self.open_box = "a run with a barostat"
        self.stages.append(Commented(stage, line))
        self.steps += stage["steps"] if steps is None else steps
        self.ran = True

    def begin(self, constrained):
        """A run or a minimisation begins; constraints that begin or end make another job."""
        if self.ran and self.constrained != constrained:
            self.next_part()
        self.constrained = constrained
        try:
            self.rigidly()
        finally:
            self.leave_out()
        if self.special_old is not None:
            if set(self.special) | set(self.special_charges) != {1.0}:
                self.result.not_understood.append((self.special_old, "special no before a run: in "
                                                   "LAMMPS pairs along these bonds act on each "
                                                   "other, in the job they do not"))
            self.special_old = None
        if not self.ran:
            self.give_weights()
            self.fields_of_parts()
        self.variables_of_fields()
        if not self.ran:
            self.friction = any(style in ("dpd", "dpd/tstat") for style, _ in self.pairs.styles)

    def do_fix(self, rest, line):
        name, group, style, words = rest[0], rest[1], forces.base(rest[2]), rest[3:]
        if style in ("ave/time", "ave/chunk", "ave/correlate"):
            self.average(name, style, group, words, line)
            return
        if style == "widom":
            self.inserted(name, words, line)
            return
        if style in fixes.MEASURES:
            if style in fixes.STEERING:
                raise NotUnderstood(f"fix {style}" + fixes.STEERING[style])
            if style == "property/atom":
                self.properties[name] = words[:words.index("ghost")] if "ghost" in words else words
            if style in fixes.SAID:
                self.result.changed.append((line, fixes.SAID[style]))
            self.result.no_effect.append(line)
            return
        if style in (*fixes.BATHS, *fixes.MOVING, *fixes.RIGID, *reactions.STYLES, "setforce",
                     "freeze", "move", "deform", "gcmc", "atom/swap"):
            if group != "all" and group not in self.groups:
                raise NotUnderstood(f"the group {group} is not known")
            self.fixes[name] = fixes.Fix(line, group, style, words)
            return
        if style == "adapt" and words[1:4] == ["pair", "soft", "a"] and len(words) == 7:
            self.adapt(words, line)
            self.adapted.add(name)
            return
        if style in ("shake", "rattle"):
            self.shake = fixes.Fix(line, group, style, words)
            self.shake.name = name
            return
        self.read_now = []
        made = field(self, group, style, words, line)
        if made is None:
            raise NotUnderstood(f"fix {style}" + WITHOUT.get(
                style, OTHER_WALLS if style.startswith("wall/") else ": a job has none"))
        if self.ran:
            self.other_forces(f"fix {style} after a run")
            self.read_now = []
            made = field(self, group, style, words, line)
        # One of this name is replaced.
        self.fields = [(known, force) for known, force in self.fields if known != name]
        self.fields += [(name, Commented(force, line)) for force in made]
        self.weightless.pop(name, None)
        if style == "gravity":
            self.weightless[name] = group
        self.field_parts[name], self.read_by[name] = self.part, self.read_now

    def other_forces(self, what):
        """Another job, which begins with the last frame of this one."""
        if self.bodies is not None or self.reactions or self.reservoir:
            raise NotUnderstood(f"{what}: forces of a job act in all stages, and bodies, bonds "
                                "that change and a reservoir are those of one job")
        self.next_part()

    def unlike_fields(self, stage):
        """Fields that know lengths of the box, or the step, in a stage that changes these."""
        there = {force.line: None for _, force in self.fields}
        deforms = {"deform", "shear"} & set(stage)
        told = [(of, "a field in a run that deforms the box, which a job does not have")
                for of in there if deforms]
        told += [(of, "a field with places, in a box whose edges change") for of in self.of_box
                 if "deform" in stage or '"barostat"' in json.dumps(stage)]
        told += [(of, "a place that changes with the step, in a minimisation or with another time "
                  "step") for of, step in self.of_time
                 if step != self.keyword("dt") or stage.get("integrator", {}).get("type") == "fire"]
        self.result.not_understood += [(of, why) for of, why in told if of in there]

    def fields_of_parts(self):
        """Fields of an earlier part: their groups are those of this one, too. Those that would be
        others are listed."""
        for name, force in self.fields:
            for group in [force.get("on", "all"), *force.get("groups", [])]:
                self.use_again(group)
            old = self.field_parts[name] < self.part
            if old and force["type"] == "tether":
                self.result.not_understood.append((
                    force.line, "fix spring/self goes on in another job, which holds particles "
                    "where they are when it begins"))
            elif old and "*t)" in force.get("energy", ""):
                self.result.not_understood.append((
                    force.line, "a place that changes with the step goes on in another job, whose "
                    "time begins anew"))

    def give_weights(self):
        """Gravity with the masses that particles have when a run begins."""
        made = []
        for name, force in self.fields:
            try:
                forces_of = [force] if name not in self.weightless else \
                    weights(self, self.weightless.pop(name), force)
            except NotUnderstood as error:
                self.result.not_understood.append((force.line, str(error)))
                continue
            made += [(name, Commented(dict(each), force.line)) for each in forces_of]
        self.fields = made

    def variables_of_fields(self):
        """Fields whose variables are not what they were where the fix was read: others of the
        same name, or the step of another run."""
        done = sum(stage.get("steps", 0) for stage in self.stages)
        for name, line in {name: force.line for name, force in self.fields}.items():
            for word, start, slope in self.read_by[name]:
                if slope and self.field_parts[name] < self.part:
                    continue  # listed by fields_of_parts
                try:
                    value, _ = self.variables.later(word, 0)
                    now = self.variables.line(word)[1]
                except NotUnderstood as error:
                    self.result.not_understood.append((line, str(error)))
                    continue
                wanted = start + slope * done
                if abs(value - wanted) > 1e-9 * max(abs(value), abs(wanted)) or \
                        abs(now - slope) > 1e-9 * abs(slope):
                    self.result.not_understood.append((
                        line, f"{word}, which is another one in a run after the fix"))

    def adapt(self, words, line):
        """A prefactor of pair_style soft that grows during a run: its last value throughout."""
        self.variables.ends = True
        try:
            value, changes = self.variables.later(words[6], 0)
        finally:
            self.variables.ends = False
        if changes:
            raise NotUnderstood(f"{words[6]}, which changes with the step, in fix adapt: expected "
                                "ramp()")
        for pair, numbers in list(self.pairs.coefficients.items()):
            if pair[1] in forces.several(words[4], self.types) and \
                    pair[2] in forces.several(words[5], self.types):
                self.pairs.coefficients[pair] = [str(value), *numbers[1:]]
        self.result.changed.append((line, f"the prefactor has its last value, {value:g}, from the "
                                          "start"))

    def do_unfix(self, rest, line):
        if self.shake is not None and self.shake.name == rest[0]:
            self.shake = None
            return
        if self.unwatch("fix", rest[0]):
            return
        if rest[0] in self.adapted:
            self.adapted.remove(rest[0])
            return
        if self.fixes.pop(rest[0], None) is None:
            if not any(name == rest[0] for name, _ in self.fields):
                self.result.no_effect.append(line)
                return
            if self.ran:
                self.other_forces(f"unfix {rest[0]}")
            self.fields = [(name, force) for name, force in self.fields if name != rest[0]]

    def do_fix_modify(self, rest, line):
        words = dict(zip(rest[1::2], rest[2::2]))
        other = set(rest[1::2]) - {"energy", "temp", "press", "virial", "bodyforces"}
        if other:
            raise NotUnderstood(f"fix_modify {' '.join(sorted(other))}")
        fix = self.fixes.get(rest[0])
        if fix is not None and "temp" in words:
            group, style, _ = self.computes.get(words["temp"], (None, "temp", []))
            if style != "temp" or group not in (None, fix.group):
                raise NotUnderstood(f"fix_modify temp of compute {style}" + (
                    f" of the group {group}" if group not in (None, fix.group) else ""))
        self.result.no_effect.append(line)

    def do_thermo(self, rest, line):
        if self.number(rest[0]) > 0:
            self.thermo = Commented(
                {"type": "thermo", "stride": int(self.number(rest[0])),
                 "console_stride": int(self.number(rest[0]))}, line)

    def do_restart(self, rest, line):
        if int(self.number(rest[0])):
            self.observers["checkpoint"] = Commented(
                {"type": "checkpoint", "steps": int(self.number(rest[0]))}, line)
