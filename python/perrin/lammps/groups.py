"""Groups, as definitions of a job and as members where the script makes the atoms; velocities."""
import re

import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps import forces


class Groups:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

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
                kinds = [t for w in rest for t in forces.several(w.replace(":", "*"), self.types)]
            self.groups[name] = {"types": [str(t) for t in kinds]}
        elif style in ("id", "molecule"):
            if rest[0] == "<>":
                rest = [f"{rest[1]}:{rest[2]}"]
            if not all(re.fullmatch(r"\d+(:\d+)?", w) for w in rest):
                raise NotUnderstood(f"group by {style} with {' '.join(rest)}")
            key, first = ("ids", 1) if style == "id" else ("molecules", 0)
            self.groups[name] = {key: [  # ids of a job count from 0
                [int(v) - first for v in w.split(":")] if ":" in w else int(w) - first
                for w in rest]}
            if style == "molecule" and self.data is not None and self.members_of_none(name):
                # in a job these are no molecule, and bonds number them
                self.groups[name] = {"ids": ranges(np.sort(self.start.numbers()[
                    self.members(name)] - 1))}
        elif style == "region":
            made = self.regions[rest[0]]
            if self.atoms is None:
                if made.box is None:
                    raise NotUnderstood("a group by a region that is no block, of a data file")
                self.groups[name] = {"box": [[v if abs(v) < 1e29 else None for v in corner]
                                             for corner in made.box]}
            else:
                ids = np.flatnonzero(made.inside(self.places()))
                self.groups[name] = {"ids": ranges(ids)}
        elif style in ("union", "intersect"):
            self.groups[name] = {"or" if style == "union" else "and": list(rest)}
        elif style == "subtract":
            self.groups[name] = {"and": [rest[0]], "not": list(rest[1:])} \
                if rest[0] != "all" else {"not": list(rest[1:])}
        elif style in ("delete", "clear"):
            self.groups.pop(name, None)
        else:  # listed where something uses it
            self.groups[name] = {"unknown": f"the group {name}, by {style}"}
            self.result.no_effect.append(line)

    def members_of_none(self, name):
        """Whether a group by molecules has particles that are in none, number 0."""
        return any((entry[0] if isinstance(entry, list) else entry) == 0
                   for entry in self.groups[name]["molecules"])

    def members(self, name):
        """Which particles of the start are in a group."""
        a = self.start
        if name not in self.groups:
            raise NotUnderstood(f"the group {name} is not known")
        made = self.groups[name]
        if made is None:
            return np.ones(len(a.r), bool)
        if "unknown" in made:
            raise NotUnderstood(made["unknown"])
        if "types" in made:
            return np.isin(a.type, [int(t) for t in made["types"]])
        if "ids" in made or "molecules" in made:
            of = a.numbers() - 1 if "ids" in made else a.get("molecule")
            found = np.zeros(len(a.r), bool)
            for entry in made["ids"] if "ids" in made else made["molecules"]:
                low, high = entry if isinstance(entry, list) else (entry, entry)
                found |= (of >= low) & (of <= high)
            return found
        if "box" in made:
            low, high = ([side * np.inf if v is None else v for v in corner]
                         for side, corner in zip((-1, 1), made["box"]))
            r = self.places()
            return ((r >= low) & (r <= high)).all(axis=1)
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
        if "unknown" in self.groups[name]:
            raise NotUnderstood(self.groups[name]["unknown"])
        if name not in self.used_groups:
            self.used_groups[name] = self.groups[name]
            for key in ("and", "or", "not"):
                for other in self.groups[name].get(key, []):
                    self.use(other)
        return name

    def do_neigh_modify(self, rest, line):
        """Pairs that have no energy: only those within rigid bodies are left out by a job, too."""
        words, excluded, none = list(rest), [], False
        while words:
            word = words.pop(0)
            if word == "exclude":
                kind = words.pop(0)
                count = {"molecule": 1, "molecule/intra": 1, "molecule/inter": 1, "none": 0}
                take = count.get(kind, 2)
                if kind == "none":
                    excluded, none = [], True
                else:
                    excluded.append((line, kind, words[:take]))
                words = words[take:]
            elif word == "collection/type":
                words = words[1 + int(words[0]):]
            else:
                words = words[1:]
        if none:
            if self.ran and self.silent:
                raise NotUnderstood("neigh_modify exclude none after a run: pairs of a job act in "
                                    "all stages, or in none")
            self.excluded, self.silent, self.apart = [], [], False
        self.excluded += excluded
        if not excluded and not none:
            self.result.no_effect.append(line)

    def leave_out(self):
        """Exclusions by neigh_modify are known when a run begins: all pairs within bodies, or of
        whole types, whose forces are then 0."""
        within = np.zeros(0, int)
        for line, kind, names in self.excluded:
            body = self.bodies.body if self.bodies is not None and kind != "type" else None
            which = self.members(names[0]) if body is not None else None
            of = body[which] if body is not None else np.array([-1])
            same = kind == "group" and names[0] == names[1] and len(np.unique(of)) == 1
            if (of >= 0).all() and (same or kind in ("molecule", "molecule/intra")):
                within = np.union1d(within, of)
                continue
            kinds = [self.whole_types(kind, name) for name in names]
            if None in kinds or self.ran:
                self.result.not_understood.append((line, "pairs of particles that have no energy: "
                                                   "a job has exclusions along bonds, and types "
                                                   "that do not act on each other"))
            else:
                self.silent.append((line, {tuple(sorted((i, j)))
                                           for i in kinds[0] for j in kinds[1]}))
        self.excluded = []
        if self.bodies is not None:
            self.apart |= len(within) == self.bodies.body.max() + 1

    def whole_types(self, kind, name):
        """Types of an exclusion; of a group those that it has wholly, else None."""
        if kind == "type":
            return [int(name)]
        if kind != "group" or not self.count():
            return None
        mine, of = self.members(name), self.start.type
        kinds = np.unique(of[mine]).tolist()
        return kinds if (np.isin(of, kinds) == mine).all() else None

    def do_velocity(self, rest, line):
        group, style, words = rest[0], rest[1], rest[2:]
        if style == "zero":
            self.result.no_effect.append(line)
            return
        if self.ran:
            raise NotUnderstood("velocity after a run")
        if group != "all" and self.part > 1:
            raise NotUnderstood(f"velocity {group} {style} after a run")
        if group == "all" and style == "ramp":
            self.flowing(words, line)
            return
        if group == "all" and style == "scale":
            said = dict(zip(words[1::2], words[2::2]))
            if self.computes.get(said.get("temp"), ("all", "temp", []))[:2] != ("all", "temp"):
                raise NotUnderstood("velocity all scale by another temperature than that of all")
            self.scaled(self.number(words[0]), line)
            return
        if group == "all" and style == "create":
            self.velocity = Commented({"temperature": self.number(words[0])}, line)
            self.seed = int(self.number(words[1]))
            return
        if style not in ("create", "set"):
            raise NotUnderstood(f"velocity {group} {style}")
        if self.units.style != "lj":
            raise NotUnderstood(f"velocity {group} {style} in units {self.units.style}")
        who = self.members(group)
        v = self.own_velocities(line)
        if style == "set":
            scale = self.lattice.spacing if self.lattice is not None and "box" not in words \
                else np.ones(3)
            for k, word in enumerate(words[:3]):
                if word != "NULL":
                    v[who, k] = self.number(word) * scale[k] + v[who, k] * summed(words)
            self.set_velocities[group] = [None if w == "NULL" else self.number(w) * scale[k]
                                          for k, w in enumerate(words[:3])]
        else:
            self.result.changed.append((line, "velocities are drawn with other random numbers"))
            v[who] = self.drawn(who, self.number(words[0]), int(self.number(words[1])))

    def scaled(self, temperature, line):
        """velocity all scale: velocities of the start at another temperature. Those of a run before
        are drawn anew."""
        if self.velocity is not None:
            self.velocity = Commented({"temperature": temperature}, line)
            return
        if self.part > 1:
            self.velocity = Commented({"temperature": temperature}, line)
            self.result.changed.append((line, "velocities are drawn anew, at this temperature"))
            return
        a = self.start
        if a.v is None or self.units.style != "lj":
            raise NotUnderstood(f"velocity all scale in units {self.units.style}" if a.v is not None
                                else "velocity all scale of particles at rest")
        free = self.dimension * (len(a.v) - 1)
        now = float((a.masses_of(self.masses)[:, None] * a.v ** 2).sum()) / free
        self.rewrite().v *= np.sqrt(temperature / now)

    def flowing(self, words, line):
        """velocity ramp of the flow that fix deform makes: velocities of a job are relative to
        it, so that the ramp needs nothing if it is this flow."""
        (v, a, b, along, low, high), rest = words[:6], words[6:]
        scale = np.ones(3) if "box" in rest or self.lattice is None else self.lattice.spacing
        numbers = [self.number(w) for w in (a, b, low, high)]
        flow, gradient = "xyz".index(v[1]), "xyz".index(along)
        moving = self.velocity is not None or self.atoms is not None and self.atoms.v is not None
        if moving and not summed(rest):  # it replaces this component
            if self.atoms is None:
                raise NotUnderstood("velocity all ramp without sum yes after velocity all create")
            self.own_velocities(line)[:, flow] = 0
        self.ramp = (v[1] + along, (numbers[1] - numbers[0]) * scale[flow] / (
            (numbers[3] - numbers[2]) * scale[gradient]), line)

    def own_velocities(self, line):
        """Velocities of the start's particles, in place of the job's `velocity`."""
        a = self.rewrite()
        if self.velocity is not None:
            a.v = self.drawn(np.ones(len(a), bool), self.velocity["temperature"], self.seed)
            self.result.changed.append((line, "velocities are drawn by perrin import"))
        elif a.v is None:
            a.v = np.zeros_like(a.r)
        self.velocity = None
        return a.v

    def drawn(self, who, temperature, seed):
        """Velocities of so many particles at exactly this temperature, without drift."""
        m = self.start.masses_of(self.masses)[who, None]
        v = np.random.default_rng(seed).normal(size=(len(m), 3)) / np.sqrt(m)
        v[:, self.dimension:] = 0
        v -= (m * v).sum(axis=0) / m.sum()
        free = self.dimension * (len(m) - 1)
        return v * np.sqrt(temperature * free / max((m * v ** 2).sum(), 1e-300)) if free else v * 0


def summed(words):
    """Whether a command velocity adds to what there is."""
    return any(pair == ("sum", "yes") for pair in zip(words, words[1:]))


def ranges(ids):
    """[1, 2, 3, 7] as [[1, 3], 7]."""
    made = []
    for run in np.split(ids, np.flatnonzero(np.diff(ids) != 1) + 1) if len(ids) else []:
        made.append(int(run[0]) if len(run) == 1 else [int(run[0]), int(run[-1])])
    return made
