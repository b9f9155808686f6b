"""fix atom/swap as trials of the stage monte_carlo: particles of two types exchange places."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.lammps.particles import own_mass


class Swap:
    """`every` steps there is a sweep, `stage`, of as many trials as the fix has."""

    def __init__(self, script, fix):
        self.fix, words = fix, fix.words
        self.every, trials = (int(script.number(w)) for w in words[:2])
        kinds = self.types(words[4:])
        if own_mass(script.style or (script.data.style if script.data else None)):
            raise NotUnderstood("fix atom/swap of spheres or ellipsoids: LAMMPS exchanges their "
                                "types and leaves their sizes where they are", fix.line)
        bonded = np.unique(np.concatenate(
            [ids.ravel() for _, ids in script.start.lists.values()] or [[]])).astype(int)
        which = np.isin(script.start.type, [int(k) for k in kinds]) & script.members(fix.group)
        if np.isin(script.start.numbers()[which], bonded).any():
            raise NotUnderstood("fix atom/swap of particles with bonds", fix.line)
        groups = [self.group(script, kind) for kind in kinds]
        self.stage = {"type": "monte_carlo", "sweeps": 1,
                      "temperature": script.number(words[3]),
                      "swap": {"trials": trials / script.count(), "groups": groups}}
        script.result.changed.append((fix.line, "particles exchange their places with all that "
                                      "they have, also their velocities; LAMMPS exchanges their "
                                      "types"))

    def types(self, words):
        """The two types; other keywords that mean something are listed."""
        said, key = {}, None
        for word in words:
            if word in ("ke", "semi-grand", "types", "mu", "region"):
                key = word
                said[key] = []
            elif key is None:
                raise NotUnderstood(f"fix atom/swap with {word}", self.fix.line)
            else:
                said[key].append(word)
        if "region" in said or "mu" in said or said.get("semi-grand", ["no"]) != ["no"]:
            raise NotUnderstood("fix atom/swap with semi-grand, mu or region: types that change",
                                self.fix.line)
        if len(set(said.get("types", []))) != 2:
            raise NotUnderstood("fix atom/swap: expected two types", self.fix.line)
        return said["types"]

    def group(self, script, kind):
        """A group of the job: particles of a type that are in the group of the fix."""
        name = f"swap-{kind}"
        script.groups[name] = {"types": [str(kind)]}
        if self.fix.group != "all":
            script.groups[f"{name}-of-{self.fix.group}"] = {"and": [name, self.fix.group]}
            name = f"{name}-of-{self.fix.group}"
        return script.use(name)
