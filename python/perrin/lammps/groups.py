"""Groups, as definitions of a job and as members where the script makes the atoms; velocities."""
import contextlib
import itertools
import re

import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps import forces


COMPARED = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
            "==": np.equal, "!=": np.not_equal,
            "<>": lambda of, low, high: (of >= low) & (of <= high)}


def numbered(words):
    """Numbers of `group` that 7, 3:9 or 3:9:2 name, as numbers and [first, last]."""
    made = []
    for word in words:
        if not re.fullmatch(r"\d+(:\d+){0,2}", word):
            raise NotUnderstood(f"a group of {word!r}: expected numbers, as 7, 3:9 or 3:9:2")
        first, last, step = ([int(v) for v in word.split(":")] + [None, None])[:3]
        if step:
            made += range(first, last + 1, step)
        else:
            made.append(first if last is None else [first, last])
    return made


def expanded(entries):
    return [v for entry in entries
            for v in (range(entry[0], entry[1] + 1) if isinstance(entry, list) else [entry])]


class Groups:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_group(self, rest, line):
        """Groups are static: of the particles that are there. One that is there already gets more
        of them."""
        name, style, rest = rest[0], rest[1], rest[2:]
        if style in ("delete", "clear"):
            self.part_of_others(name)
            self.groups.pop(name, None)
            if style == "clear":
                self.groups[name] = {"ids": []}
            return
        if name == "all":  # has all of them already
            self.result.no_effect.append(line)
            return
        made = self.definition(name, style, rest, line)
        before = self.groups.get(name)
        if before is None:
            self.groups[name] = made
            return
        for key in ("types", "ids", "molecules"):
            if key in before and key in made:
                both = {key: joined(before[key], made[key])}
                break
        else:
            first, second = self.hidden(name, before), self.hidden(name, made)
            both = {"or": [first, second]} if "unknown" not in {**before, **made} else \
                {"unknown": f"the group {name}, of which a part is not known"}
        self.part_of_others(name)
        later = self.ran or self.part > 1  # what has used it keeps it
        if later and any(name in (force.get("on"), *force.get("groups", []))
                         for _, force in self.fields):
            self.groups[name] = {"unknown": f"the group {name}, which gets other particles after a "
                                            "run"}
            raise NotUnderstood("a group of a field that gets other particles after a run")
        if later:
            self.groups[name] = both
        else:
            become(before, both)

    def hidden(self, name, made):
        """A name for what a group is now."""
        count = sum(1 for known in self.groups if known.startswith(f"{name}-part-"))
        hidden = f"{name}-part-{count + 1}"
        self.groups[hidden] = dict(made)
        return hidden

    def part_of_others(self, name):
        """Before a group changes: others that are made of it have what it was."""
        others = [made for known, made in self.groups.items() if known != name and made and any(
            name in made.get(key, []) for key in ("or", "and", "not"))]
        if not others or name not in self.groups:
            return
        hidden = self.hidden(name, self.groups[name])
        for made in others:
            for key in ("or", "and", "not"):
                if key in made:
                    made[key] = [hidden if of == name else of for of in made[key]]

    def definition(self, name, style, rest, line):
        if style == "type":
            kinds = np.arange(1, self.types + 1)
            if rest[0] in COMPARED:
                kinds = kinds[COMPARED[rest[0]](kinds, *map(int, rest[1:]))]
            else:
                kinds = [t for w in rest for t in (
                    forces.several(w, self.types) if "*" in w else expanded(numbered([w])))]
            there = [t for t in kinds if 1 <= t <= self.types]  # no particle has the others
            return {"types": [str(t) for t in (there or kinds)]}
        if style in ("id", "molecule"):
            return self.by_number(style, rest)
        if style == "empty":
            return {"ids": []}
        if style == "region":
            return self.by_region(name, self.regions[rest[0]])
        if style in ("union", "intersect"):
            return {"or" if style == "union" else "and": list(rest)}
        if style == "subtract":
            return {"and": [rest[0]], "not": list(rest[1:])} if rest[0] != "all" else \
                {"not": list(rest[1:])}
        self.result.no_effect.append(line)  # listed where something uses it
        return {"unknown": f"the group {name}, by {style}"}

    def by_number(self, style, rest):
        key, first = ("ids", 1) if style == "id" else ("molecules", 0)  # ids of a job are from 0
        if rest[0] in COMPARED:
            of = self.start.numbers() if style == "id" else self.start.get("molecule")
            of = np.unique(of[COMPARED[rest[0]](of, *map(int, rest[1:]))])
            made = {key: ranges(of - first)}
        else:
            made = {key: [[v - first for v in entry] if isinstance(entry, list) else entry - first
                          for entry in numbered(rest)]}
        if style == "molecule" and self.data is not None and any(
                (entry[0] if isinstance(entry, list) else entry) == 0
                for entry in made["molecules"]):  # in a job these are no molecule
            return {"ids": ranges(np.sort(self.start.numbers()[self.members_of(made)] - 1))}
        return made

    def by_region(self, name, made):
        if self.ran or self.part > 1:
            return {"unknown": f"the group {name}, by a region after a run: where particles are is "
                               "not known"}
        if self.atoms is not None:
            return {"ids": ranges(np.sort(self.start.numbers()[made.inside(self.places())] - 1))}
        if made.box is None:
            raise NotUnderstood("a group by a region that is no block, of a data file")
        return {"box": [[v if abs(v) < 1e29 else None for v in corner] for corner in made.box]}

    @contextlib.contextmanager
    def same_members(self):
        """Groups that what follows would change keep the particles of before."""
        before = {name: self.start.numbers()[self.members(name)]
                  for name, made in self.groups.items()
                  if made and {"types", "molecules", "box"} & set(made)}
        yield
        for name, ids in before.items():
            if not np.array_equal(self.start.numbers()[self.members(name)], ids):
                become(self.groups[name], {"ids": ranges(np.sort(ids - 1))})

    def fixed_members(self):
        """Groups by a region of a data file have the members of now, before particles change."""
        for name, made in self.groups.items():
            if made and "box" in made:
                become(made, {"ids": ranges(np.sort(self.start.numbers()[self.members(name)] - 1))})

    def members(self, name):
        """Which particles of the start are in a group."""
        if name not in self.groups:
            raise NotUnderstood(f"the group {name} is not known")
        return self.members_of(self.groups[name])

    def members_of(self, made):
        a = self.start
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
        """The name of a group in the job; those that it is made of come with it. It is another one
        where the group has changed since a run had it."""
        if name == "all":
            return "all"
        if name not in self.groups:
            raise NotUnderstood(f"the group {name} is not known")
        made = self.groups[name]
        if "unknown" in made:
            raise NotUnderstood(made["unknown"])
        own = name
        for count in itertools.count(2):
            if self.named.setdefault(own, made) is made or self.named[own] == made:
                break
            own = f"{name}-{count}"
        self.use_again(own)
        return own

    def use_again(self, own):
        """A group by its name in a job, in this one too."""
        if own == "all" or own in self.used_groups:
            return
        made = self.used_groups[own] = self.named[own]
        for key in ("and", "or", "not"):
            for other in made.get(key, []):
                self.use(other)

    def free_name(self, name):
        """A name that no group of the script has."""
        while name in self.groups:
            name += "-of-job"
        return name

    def rest_of(self, names):
        """The group, in the job, of all particles that are in none of these."""
        made = {"not": names}
        for count in itertools.count(1):
            own = f"rest-{count}" if count > 1 else "rest"
            if own not in self.groups and self.named.setdefault(own, made) == made:
                self.used_groups[own] = made
                return own
        return None

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
            elif word == "include" and words[0] != "all":
                raise NotUnderstood(f"neigh_modify include {words[0]}: pairs of all particles act")
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
            self.at_rest(group, words, line)
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
        if group == "all" and style == "create" and not (summed(words) and (
                self.velocity is not None or self.atoms is not None and self.atoms.v is not None)):
            self.velocity = Commented({"temperature": self.number(words[0])}, line)
            self.seed = int(self.number(words[1]))
            self.drift(words, line)
            return
        if style not in ("create", "set"):
            raise NotUnderstood(f"velocity {group} {style}")
        who = self.members(group)
        v = self.own_velocities(line)
        if style == "set":
            scale = self.lattice.spacing if self.lattice is not None and "box" not in words \
                else np.ones(3)
            for k, word in enumerate(words[:3]):
                if word != "NULL":
                    v[who, k] = self.number(word) * scale[k] + v[who, k] * summed(words)
        else:
            self.result.changed.append((line, "velocities are drawn with other random numbers"))
            v[who] = self.drawn(who, self.number(words[0]), int(self.number(words[1]))) + \
                v[who] * summed(words)

    def drift(self, words, line):
        """What velocities that a job draws have, and have not."""
        said = set(zip(words, words[1:]))
        if ("mom", "no") in said:
            self.result.changed.append((line, "drawn velocities have no drift"))
        if ("rot", "yes") in said:
            self.result.changed.append((line, "drawn velocities have an angular momentum"))

    def at_rest(self, group, words, line):
        """velocity zero linear: drawn velocities have no drift; others lose it."""
        if words[:1] != ["linear"]:
            raise NotUnderstood(f"velocity {group} zero {' '.join(words)}")
        if self.ran or self.part > 1:
            self.result.changed.append((line, "the drift stays: a job takes it away from "
                                        "velocities that it draws"))
            return
        if self.velocity is not None and group == "all" or not self.count():
            self.result.no_effect.append(line)
            return
        who = self.members(group)
        v, m = self.own_velocities(line), self.start.masses_of(self.masses)[:, None]
        v[who] -= (m * v)[who].sum(axis=0) / max(m[who].sum(), 1e-300)

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
        if a.v is None:
            raise NotUnderstood("velocity all scale of particles at rest")
        free = self.dimension * (len(a.v) - 1)
        now = float((a.masses_of(self.masses)[:, None] * a.v ** 2).sum()) / free / (
            self.units.thermal ** 2)
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
        free, temperature = self.dimension * (len(m) - 1), temperature * self.units.thermal ** 2
        return v * np.sqrt(temperature * free / max((m * v ** 2).sum(), 1e-300)) if free else v * 0


def summed(words):
    """Whether a command velocity adds to what there is."""
    return any(pair == ("sum", "yes") for pair in zip(words, words[1:]))


def become(made, other):
    """A definition, wherever it is kept, is another one."""
    made.clear()
    made.update(other)


def joined(first, second):
    """Types, or ids and molecules with their ranges, of two definitions."""
    if any(isinstance(entry, str) for entry in first + second):
        return sorted({*first, *second}, key=int)
    ends = [entry if isinstance(entry, list) else [entry, entry] for entry in first + second]
    return ranges(np.unique(np.concatenate([np.arange(a, b + 1) for a, b in ends]
                                           or [np.zeros(0, int)])))


def ranges(ids):
    """[1, 2, 3, 7] as [[1, 3], 7]."""
    made = []
    for run in np.split(ids, np.flatnonzero(np.diff(ids) != 1) + 1) if len(ids) else []:
        made.append(int(run[0]) if len(run) == 1 else [int(run[0]), int(run[-1])])
    return made
