"""Particles whose motion is given: fix setforce 0 0 0, freeze and move, as the integrators frozen
and moving."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps.groups import ranges

MOST = 8  # velocities of the particles that one fix holds


class Held:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def held(self, fix, made):
        """[(group, integrator)] of particles without forces. Those that an integrator moves go on
        at the velocities that they have; others rest. made: of Motion.integrators()."""
        self.check_held(fix)
        key = fix.group, str(self.groups.get(fix.group))
        if key not in self.held_groups:
            self.held_groups[key] = self.by_velocity(fix, made)
        return self.held_groups[key]

    def by_velocity(self, fix, made):
        """The particles of a fix, those of each velocity by themselves."""
        moved = [group for group, _, _ in made if group not in self.rigid_groups.values()]
        if not moved:
            return [(fix.group, {"type": "frozen"})]
        if self.velocity is not None or self.dynamics:
            return self.at_rest_of_all(fix)
        try:
            who, start = self.members(fix.group), self.start
        except NotUnderstood:  # of a style whose rows are not read
            return self.at_rest_of_all(fix)
        v = np.zeros_like(start.r) if start.v is None else start.v.copy()
        v[~np.logical_or.reduce([self.members(group) for group in moved])] = 0
        kinds, which = np.unique(v[who].round(12), axis=0, return_inverse=True)
        if len(kinds) > MOST:
            return self.at_rest_of_all(fix)
        parts, ids = [], start.numbers()[who] - 1
        for k, velocity in enumerate(kinds.tolist()):
            name = fix.group
            if len(kinds) > 1:
                name = self.free_name(f"{fix.group}-{k + 1}")
                self.groups[name] = {"ids": ranges(np.sort(ids[which.ravel() == k]))}
            velocity = [x / self.units.of_time for x in velocity]
            parts.append((name, {"type": "moving", "velocity": velocity} if any(velocity)
                          else {"type": "frozen"}))
        return parts or [(fix.group, {"type": "frozen"})]

    def at_rest_of_all(self, fix):
        self.result.changed.append((fix.line, "particles without forces rest; in LAMMPS each goes "
                                    "on at the velocity that it has"))
        return [(fix.group, {"type": "frozen"})]

    def check_held(self, fix):
        """fix setforce, freeze: all forces are 0."""
        if fix.style == "freeze":
            return
        if len(fix.words) > 3:
            raise NotUnderstood(f"fix setforce with {fix.words[3]}", fix.line)
        if any(w == "NULL" or self.number(w) for w in fix.words[:self.dimension]):
            raise NotUnderstood(f"fix {fix.style} of a part of the forces: in a job particles "
                                "move along all axes or along none", fix.line)

    def held_apart(self, fire, held):
        """The integrators of a minimisation in which some particles stay where they are."""
        for fix in held:
            self.check_held(fix)
        names = list(dict.fromkeys(fix.group for fix in held))
        if "all" in names:
            return {"integrator": {"type": "frozen", "timestep": self.units.time(
                self.keyword("dt"))}}
        own = [self.use(name) for name in names]
        return {"integrators": [*({"type": "frozen", "group": name} for name in own),
                                Commented({**fire, "group": self.rest_of(own)}, fire.line)]}

    def prescribed(self, fix):
        """The integrator of `fix move`: linear or wiggle."""
        kind, words = fix.words[0], fix.words[1:]
        scale = [1, 1, 1] if words[-2:] == ["units", "box"] or self.lattice is None \
            else self.lattice.spacing
        if kind not in ("linear", "wiggle"):
            raise NotUnderstood(f"fix move {kind}: expected linear or wiggle")
        numbers = [self.number(w) * s if w != "NULL" else None for w, s in zip(words[:3], scale)]
        if None in numbers[:self.dimension]:
            raise NotUnderstood(f"fix move {kind} with NULL: other forces move these particles "
                                "along that axis")
        numbers = [v or 0 for v in numbers]
        if kind == "linear":
            return {"type": "moving", "velocity": [v / self.units.of_time for v in numbers]}
        return {"type": "moving", "velocity": [0, 0, 0], "oscillation": {
            "amplitude": numbers, "period": self.units.time(self.number(words[3]))}}
