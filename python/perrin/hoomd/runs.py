"""Starts and runs: what a simulation is when it runs becomes a stage."""
import json
import os

import numpy as np

from perrin.hoomd import gsd_file, snapshot
from perrin.hoomd.aniso import turned
from perrin.hoomd.bodies import bodies_of
from perrin.hoomd.bonded import bonded_forces
from perrin.hoomd.constraints import distances
from perrin.hoomd.fields import field_forces
from perrin.hoomd.hard import spheres
from perrin.hoomd.motion import diffusion, moving
from perrin.hoomd.output import observer
from perrin.hoomd.pairs import pair_forces
from perrin.hoomd.resize import deformation, resize_period, resized
from perrin.hoomd.values import ORDER, Thing, Unknown, number
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented

BONDED = ("hoomd.md.bond", "hoomd.md.angle", "hoomd.md.dihedral", "hoomd.md.improper")
EXCLUDED = {"bond": "bonds", "1-3": "angles", "angle": "angles", "1-4": "dihedrals",
            "dihedral": "dihedrals"}
TUNERS = ("hoomd.tune.ParticleSorter", "hoomd.tune.LoadBalancer",  # of speed alone
          "hoomd.md.tune.NeighborListBuffer")
FIELDS = ("constant_force", "external_formula", "lj_wall", "active_force")
TURNS = 100  # in which the box changes in a run of Monte Carlo, at most
UNTIL_CONVERGED = 100000  # steps of a minimisation that goes on until it has converged


class Runs:
    """A part of perrin.hoomd.convert.Script, whose members it uses."""

    def simulation_create_state_from_gsd(self, filename, frame=-1, domain_decomposition=None):
        if isinstance(filename, Unknown) and self.state is None:
            self.begin()
            self.system = Commented({"type": "file", "path": "", "format": "gsd"}, self.line)
            raise NotUnderstood(f"filename: {filename.reason}")
        name = str(filename) if not isinstance(filename, Unknown) else ""
        if self.state is None and name in self.written and not os.path.exists(self.file(name)):
            return self.simulation_create_state_from_snapshot(self.written[name])
        path = self.file(name) if name else ""
        if not os.path.isfile(path) and self.state is not None:
            path = self.state
        self.begin()
        self.system = Commented({"type": "file", "path": os.path.relpath(path, self.folder),
                                 "format": "gsd"}, self.line)
        if frame != -1:
            self.system["frame"] = int(number(frame, "frame"))
        if not os.path.isfile(path):
            raise NotUnderstood(f"the file {name} is not there: types, charges and the box of the "
                                "state are not known; give it as the second file")
        try:
            self.know(gsd_file.Frame(path, self.system.get("frame", -1)))
        except (ValueError, OSError) as error:
            raise NotUnderstood(str(error)) from None

    def simulation_create_state_from_snapshot(self, snapshot_, domain_decomposition=None):
        if self.state is not None:
            return self.simulation_create_state_from_gsd("")
        self.begin()
        self.system = Commented({"type": "file", "path": "", "format": "gsd"}, self.line)
        try:
            if isinstance(snapshot_, Unknown):
                raise NotUnderstood(snapshot_.reason)
            self.start_data = snapshot.data_of(snapshot_)
        except (NotUnderstood, AttributeError, TypeError, ValueError) as error:
            raise NotUnderstood(
                f"the snapshot is not known ({error}): write the state to a GSD file with "
                "hoomd.write.GSD.write(state, filename) and give it as the second file") from None
        self.write_start()
        return None

    def begin(self):
        if self.ran:
            raise NotUnderstood("another state after a run")
        self.sim.values["state"] = Thing("hoomd.State", [], {}, self.line)

    def write_start(self):
        path = os.path.join(self.folder, f"{self.name}-start.gsd")
        gsd_file.write(path, self.start_data)
        if path not in self.result.data:
            self.result.data.append(path)
        line = self.system.line if self.system is not None else self.line
        self.system = Commented({"type": "file", "path": os.path.basename(path),
                                 "format": "gsd"}, line)
        self.know(gsd_file.Frame(path))

    def turn_start(self):
        """The start with other frames of its particles, where forces of the job ask for it."""
        data = self.start_data if self.start_data is not None else \
            self.frame.data if self.frame is not None else None
        if data is None:
            return
        path = os.path.join(self.folder, f"{self.name}-start.gsd")
        try:
            self.turned_data = turned(data, self.turned)
            gsd_file.write(path, self.turned_data)
        except NotUnderstood as error:
            self.list_line(str(error), self.system.line)
            return
        if path not in self.result.data:
            self.result.data.append(path)
        self.system = Commented({"type": "file", "path": os.path.basename(path),
                                 "format": "gsd"}, self.system.line)
        self.near(self.system.line, "frames of particles are turned: long axes and dipoles are x, "
                                    "in the start and in what the job writes")

    def know(self, frame):
        """What the state says of itself."""
        self.frame, self.types, self.box = frame, frame.names("particles"), frame.box
        self.particles = frame.count("particles")
        self.first_step = frame.step if self.given_step is None else self.given_step
        self.dimensions = frame.dimensions

    def topology_types(self, what):
        return self.frame.names(what) if self.frame is not None else []

    def moments(self):
        """{type: moments of inertia}, of the first particle of each; bodies have those of the
        job. None: the state is not known."""
        if self.frame is None:
            return None
        found = self.frame.get("particles/moment_inertia")
        kinds = self.frame.get("particles/typeid")
        made = {}
        for k, name in enumerate(self.types):
            mine = np.flatnonzero(np.asarray(kinds) == k) if kinds is not None else \
                np.arange(self.particles if k == 0 else 0)
            made[name] = [0.0] * 3 if found is None or not len(mine) else \
                np.asarray(found)[mine[0]].tolist()
        return made

    def state_replicate(self, nx, ny, nz=1):
        if self.start_data is None:
            raise NotUnderstood("replicate of a state from a file")
        self.start_data = snapshot.replicated(self.start_data, [int(nx), int(ny), int(nz)])
        self.write_start()

    def state_thermalize_particle_momenta(self, filter=None, kT=None):
        if self.group(filter) != "all":
            raise NotUnderstood("thermalize_particle_momenta of a part of the particles")
        first, _, _ = self.course_of(kT, "kT", self.first_step + self.steps, 0, self.line)
        self.new_velocity = Commented({"temperature": first}, self.line)

    def state_get_snapshot(self):
        return Unknown("the state at this time is not known", self.line)

    def simulation_run(self, steps, write_at_start=False):
        line = self.line
        if isinstance(steps, Unknown):
            self.list_line(f"the number of steps, for which the job has 0: {steps.reason}")
            steps = 0
        steps = int(number(steps, "steps"))
        integrator = self.sim.values["operations"].values.get("integrator")
        if isinstance(integrator, Unknown) or not isinstance(integrator, Thing):
            raise NotUnderstood(f"run: {getattr(integrator, 'reason', 'there is no integrator')}")
        if integrator.path == "hoomd.hpmc.integrate.Sphere":
            self.monte_carlo(integrator, steps)
            return
        if integrator.path not in ("hoomd.md.Integrator", "hoomd.md.minimize.FIRE"):
            raise NotUnderstood(f"run with {integrator.path}", integrator.line)
        self.check(integrator)
        forces = self.forces(integrator)
        self.new_part_where_needed(forces)
        end = self.steps + steps
        if integrator.kind == "FIRE" and self.until_converged:
            steps = UNTIL_CONVERGED
            self.near(line, f"the loop became a minimisation that ends where it has converged, "
                            f"after {steps} steps at most")
        pieces = self.pieces(steps)
        for piece in pieces:
            if piece or steps == 0:
                self.stage(integrator, piece, line)
        self.steps, self.line = end, line

    def monte_carlo(self, integrator, steps):
        line = self.line
        self.exclusions = {}
        forces, settings = spheres(integrator, self)
        self.new_part_where_needed(forces)
        for piece in self.pieces(steps):
            if piece or steps == 0:
                self.sweep({"type": "monte_carlo", "sweeps": piece, **settings}, line)

    def sweep(self, settings, line):
        """Sweeps; where the box changes, turns of a stage in which it does, and of sweeps."""
        stage, steps = Commented(settings, line), settings["sweeps"]
        before = self.box
        self.updates(stage, self.first_step + self.steps, steps)
        deform = stage.pop("deform", None)
        if deform is None:
            self.keep(stage, "sweeps", steps)
            return
        turns = max(min(steps // resize_period(self), TURNS), 1)
        self.near(deform.line, f"the box changes in {turns} turns, whose steps count beside the "
                               "sweeps")
        self.box = before
        for k in range(turns):
            part = steps * (k + 1) // turns - steps * k // turns
            self.keep(resized(self, part), "steps", 0)
            self.keep(Commented({**settings, "sweeps": part}, line), "sweeps", part)

    def finish(self):
        """A script that sets up and does not run: its forces are looked at, too."""
        if self.sim is None or self.stages or self.zero is not None:
            return
        integrator = self.sim.values["operations"].values.get("integrator")
        if integrator is not None:
            try:
                self.simulation_run(0)
            except NotUnderstood as error:
                self.list_line(str(error), error.line or integrator.line)

    def pieces(self, steps):
        """Where ramps begin within the run, another stage begins."""
        now, cuts = self.first_step + self.steps, set()
        for thing in self.sim_things():
            for value in thing.values.values():
                if isinstance(value, Thing) and value.path.startswith("hoomd.variant.") and \
                        value.has("t_start"):
                    start = value.number("t_start")
                    cuts |= {start, start + value.number("t_ramp")}
        inside = sorted({int(c) - now for c in cuts if now < c < now + steps})
        places = [0, *inside, steps]
        return [b - a for a, b in zip(places, places[1:])]

    def sim_things(self):
        """All objects that a run looks at."""
        operations, found = self.sim.values["operations"], []
        ahead = [operations]
        while ahead:
            thing = ahead.pop()
            if any(t is thing for t in found):
                continue
            found.append(thing)
            for value in thing.values.values():
                inner = value if isinstance(value, list) else [value]
                ahead += [v for v in inner if isinstance(v, Thing)]
        return found

    def check(self, integrator):
        if integrator.kind == "Integrator":
            integrator.only(*ORDER["hoomd.md.Integrator"])
        for thing in integrator.list("constraints"):
            self.take_constraint(thing)
        rigid = integrator.values.get("rigid")
        if rigid is not None:
            self.take_bodies(rigid)
        if integrator.values.get("integrate_rotational_dof") is True:
            self.rotation = integrator.line_of("integrate_rotational_dof")
        if integrator.values.get("half_step_hook") is not None:
            self.list_line("half_step_hook", integrator.line_of("half_step_hook"))

    def take_constraint(self, thing):
        line = getattr(thing, "line", self.line)
        if not isinstance(thing, Thing) or thing.path != "hoomd.md.constrain.Distance":
            self.list_line(f"the constraint {getattr(thing, 'path', 'unknown')}", line)
            return
        if self.constraints is not None:
            return
        try:
            if self.part > 1 or self.stages:
                raise NotUnderstood("constraints that begin after a run")
            self.constraints, data = distances(thing, self)
            self.start_data = data
            self.write_start()
        except NotUnderstood as error:
            self.list_line(str(error), error.line or line)

    def take_bodies(self, rigid):
        line = getattr(rigid, "line", self.line)
        try:
            if not isinstance(rigid, Thing) or rigid.kind != "Rigid":
                raise NotUnderstood("rigid: expected hoomd.md.constrain.Rigid")
            self.bodies = bodies_of(rigid, self)
        except NotUnderstood as error:
            self.list_line(str(error), error.line or line)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self.list_line(f"rigid bodies: {type(error).__name__}: {error}", line)

    def forces(self, integrator):
        made, self.friction, self.of_box = [], False, None
        if not self.ran:  # what has turned goes on to turn
            self.orientations, self.turned, self.turns, self.along_x = False, False, {}, False
        try:
            things = integrator.list("forces")
        except NotUnderstood as error:
            self.list_line(str(error), error.line)
            return made
        exclusions = {}
        for thing in things:
            if not isinstance(thing, Thing):
                self.list_line(f"a force: {getattr(thing, 'reason', 'expected a force')}",
                               getattr(thing, "line", None))
                continue
            try:
                if thing.path.startswith("hoomd.md.pair."):
                    found = pair_forces(thing, self)
                elif thing.family in BONDED:
                    found = bonded_forces(thing, self)
                else:
                    found = field_forces(thing, self)
                made += found
                self.friction |= any(f["type"] in ("dpd", "dpd_lj") for f in found)
                self.exclude(thing, exclusions)
            except NotUnderstood as error:
                self.list_line(str(error), error.line or thing.line)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                self.list_line(f"{thing.path}: {type(error).__name__}: {error}", thing.line)
        self.exclusions = exclusions
        self.along_x |= any(f["type"] == "active_force" for f in made)
        if self.turned and self.along_x:
            self.list_line("an active force along x beside a potential whose axis is z")
        return made

    def exclude(self, thing, exclusions):
        nlist = thing.values.get("nlist")
        if not isinstance(nlist, Thing):
            return
        said = nlist.get("exclusions", ["bond"])
        made = sorted({EXCLUDED[e] for e in said if e in EXCLUDED})
        for other in said:
            if other not in EXCLUDED and other not in ("body", "constraint", "meshbond") and not (
                    other == "special_pair" and not self.topology_types("pairs")):
                raise NotUnderstood(f"exclusions: {other!r}", nlist.line_of("exclusions"))
        for before in exclusions.values():
            if before != made:
                raise NotUnderstood("exclusions that differ from those of another force: a job has "
                                    "one list", nlist.line_of("exclusions"))
        exclusions[id(nlist)] = made

    def new_part_where_needed(self, forces):
        mark = json.dumps([forces, sorted(map(str, self.exclusions.values()))[:1]])
        if self.stages and (mark != self.mark or self.new_velocity is not None):
            self.next_part()
        self.mark, self.job_forces = mark, forces
        if self.new_velocity is not None:
            self.velocity, self.new_velocity = self.new_velocity, None

    def stage(self, integrator, steps, line):
        now = self.first_step + self.steps
        stage = Commented({"type": "md", "steps": steps, **moving(self, integrator, now, steps)},
                          line)
        self.updates(stage, now, steps)
        if self.of_box is not None and ("deform" in stage or '"barostat"' in json.dumps(stage)):
            self.list_line("the field Periodic of a box that changes, which it would follow",
                           self.of_box)
        self.keep(stage, "steps", steps)

    def keep(self, stage, unit, steps):
        """Adds a stage, or its steps to those of the last one where nothing else is different."""
        for force in self.job_forces if "deform" in stage else ():
            if force["type"] in FIELDS:
                self.list_line("a field in a run that deforms the box, which a job does not have",
                               getattr(force, "line", None))
        self.steps += steps
        if steps == 0 and not stage[unit]:
            self.zero = stage
            return
        writers = self.writers()
        self.ran = True
        last = self.stages[-1] if self.stages else None
        ramps = "ramp_steps" in json.dumps(stage)
        if last is not None and not ramps and "deform" not in stage and \
                {**last, unit: 0} == {**stage, unit: 0} and self.writers_of[-1] == writers:
            last[unit] += steps
            return
        self.stages.append(stage)
        self.writers_of.append(writers)

    def writers(self):
        """Keys of the observers of the writers that are there."""
        keys = []
        for writer in self.sim.values["operations"].raw("writers"):
            try:
                made = observer(writer, self)
                key = json.dumps(made)
                self.observers.setdefault(key, made)
                keys.append(key)
            except NotUnderstood as error:
                self.list_line(str(error), error.line or self.line)
        return keys

    def updates(self, stage, now, steps):
        for tuner in self.sim.values["operations"].raw("tuners"):
            path = getattr(tuner, "path", "unknown")
            if path not in TUNERS:
                self.list_line(f"the tuner {path.replace('hoomd.', '')}",
                               getattr(tuner, "line", None))
        for updater in self.sim.values["operations"].raw("updaters"):
            try:
                if not isinstance(updater, Thing):
                    raise NotUnderstood(f"updaters: {getattr(updater, 'reason', '?')}")
                if updater.path == "hoomd.update.BoxResize":
                    made = deformation(self, updater, now, steps)
                    if made is not None:
                        stage["deform"] = made
                elif updater.path == "hoomd.md.update.ActiveRotationalDiffusion":
                    diffusion(self, updater, stage)
                elif updater.path == "hoomd.md.update.ZeroMomentum":
                    self.near(updater.line, "the momentum is 0 from the start and is not set to 0 "
                                            "later")
                else:
                    raise NotUnderstood(f"the updater {updater.path.replace('hoomd.', '')}")
            except NotUnderstood as error:
                self.list_line(str(error), error.line or getattr(updater, "line", None))

    def write_table(self, name, rows, thing):
        safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)
        file = f"{self.name}-{thing.path.split('.')[2]}-{safe}.txt"
        path = os.path.join(self.folder, file)
        text = "\n".join(" ".join(f"{v:.10g}" for v in row) for row in np.asarray(rows))
        with open(path, "w") as out:
            out.write(f"# from {os.path.basename(self.script)}:{thing.line.number}\n{text}\n")
        if path not in self.result.data:
            self.result.data.append(path)
        return file
