"""Output of LAMMPS as observers: dumps, computes and the averages of them, in the stages in which
they are there."""
from perrin.importing.lines import NotUnderstood
from perrin.importing.write import Commented
from perrin.lammps import forces
from perrin.lammps.measures import COMPUTES, Average, profile

THERMO = ("temp", "pressure", "pe", "ke")  # computes that the observer thermo writes, too


class Watcher:
    """make(): settings of an observer, or None; begin, end: of the stages in which it is there."""

    def __init__(self, make, line, begin):
        self.make, self.line, self.begin, self.end = make, line, begin, None
        self.average = None  # of fix ave/time


class Watch:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def watch(self, key, make, line):
        self.watchers[key] = Watcher(make, line, len(self.stages))

    def unwatch(self, *key):
        """Ends those whose key begins so; whether there are some."""
        mine = [k for k, w in self.watchers.items() if k[:2] == key and w.end is None]
        for k in mine:
            watcher = self.watchers.pop(k)
            if watcher.begin < len(self.stages):
                watcher.end = len(self.stages)
                self.watchers[(*k, len(self.watchers), watcher.end)] = watcher
        return bool(mine)

    def watch_next_part(self):
        """What is not ended goes on in the next job."""
        self.watchers = {k: w for k, w in self.watchers.items() if w.end is None}
        for watcher in self.watchers.values():
            watcher.begin = 0

    def do_dump(self, rest, line):
        style, stride = forces.base(rest[2]), int(self.number(rest[3]))
        if style in ("image", "movie", "local", "cfg"):
            raise NotUnderstood(f"dump {style}; `perrin report` has pictures")
        quantities = ["position", "image"]
        if style == "custom" and {"vx", "vy", "vz"} & set(rest[5:]):
            quantities.insert(1, "velocity")
        if style == "custom" and {"fx", "fy", "fz"} & set(rest[5:]):
            quantities.append("force")
        made = {"type": "xtc" if style == "xtc" else "trajectory", "stride": stride}
        if style != "xtc":
            made["quantities"] = quantities
        self.watch(("dump", rest[0]), lambda: {**made, **self.of_dump(rest[1], line)}, line)
        self.dumped[rest[0]] = made

    def of_dump(self, group, line):
        """The group of a dump; where particles come and go a job has none."""
        if group == "all" or not self.reservoir:
            return self.within(group)
        self.result.changed.append((line, "frames have all particles"))
        return {}

    def do_dump_modify(self, rest, line):
        """What changes how often frames are written, or which particles they have."""
        made, words = self.dumped.get(rest[0]), list(rest[1:])
        for k, word in enumerate(words):
            if made is not None and word == "every":
                if not words[k + 1].isdigit():
                    raise NotUnderstood(f"dump_modify every {words[k + 1]}")
                if ("dump", rest[0]) in self.watchers:
                    self.other_stride(("dump", rest[0]), made, int(words[k + 1]), line)
            elif made is not None and word in ("every/time", "thresh", "region", "delay", "skip"):
                self.result.changed.append((line, f"frames are written without {word}"))
        self.result.no_effect.append(line)

    def other_stride(self, key, made, stride, line):
        """Of a dump: after a run it is another observer."""
        if self.watchers[key].begin == len(self.stages):
            made["stride"] = stride
            return
        again = self.watchers[key].make
        self.unwatch(*key)
        self.watch(key, lambda: {**again(), "stride": stride}, line)

    def do_undump(self, rest, line):
        if not self.unwatch("dump", rest[0]):
            self.result.no_effect.append(line)

    def do_uncompute(self, rest, line):
        self.computes.pop(rest[0], None)
        if not self.unwatch("compute", rest[0]):
            self.result.no_effect.append(line)

    def do_compute(self, rest, line):
        name, group, style, words = rest[0], rest[1], rest[2], rest[3:]
        self.computes[name] = group, style, words
        if style not in COMPUTES:
            self.result.no_effect.append(line)
            return
        self.averaged(("compute", name), self.computes[name], None, line)

    def average(self, name, style, group, words, line):
        """fix ave/time, ave/chunk, ave/correlate; what they would write that no observer does is
        said."""
        self.unwatch("fix", name)  # one of this name is replaced
        average, left = Average(self, words), []
        if style == "ave/correlate":
            self.correlated(name, average, line)
            return
        if style == "ave/chunk":
            chunks, values = words[3], average.values[1:]
            if self.computes.get(chunks, (0, 0, 0))[1] != "chunk/atom":
                raise NotUnderstood(f"fix ave/chunk of {chunks}, which is no compute chunk/atom")
            made, left = profile(self, group, self.computes[chunks], values, average, line)
            if made is not None:
                self.watch(("fix", name), lambda: {**made, **self.within(group)}, line)
        else:
            left, known = self.computed(name, average, line)
        if left:
            self.result.changed.append((line, f"no observer writes {', '.join(left)}"))
        elif style == "ave/time" and not known:
            self.result.no_effect.append(line)

    def correlated(self, name, average, line):
        """fix ave/correlate of components of the stress."""
        formulas = [self.variables.values.get(value[2:], ("", ""))[1] for value in average.values]
        if not set(formulas) & {"pxy", "pxz", "pyz"}:
            self.result.no_effect.append(line)
            return
        self.result.changed.append((line, "the autocorrelation of the stress is the mean of all "
                                    "components that shear"))
        made = {"type": "stress_autocorrelation", "stride": average.every}
        self.watch(("fix", name), lambda: dict(made), line)

    def computed(self, name, average, line):
        """Values of fix ave/time that nothing writes, and whether there are others that an observer
        has for itself."""
        left, known = [], False
        for value in average.values:
            of = value[2:].partition("[")[0] if value.startswith("c_") else ""
            group, style, words = self.computes.get(of, ("all", None, []))
            if style in COMPUTES:
                known = True
                self.watchers.pop(("compute", of), None)
                self.averaged(("fix", name, of), (group, style, words), average, line)
            elif not of.startswith("thermo_") and style not in THERMO:
                left.append(value)
        return left, known

    def averaged(self, key, compute, average, line):
        group, style, words = compute
        self.watch(key, None, line)
        mine = self.watchers[key]
        mine.average = average
        mine.make = lambda: COMPUTES[style](self, group, words, mine)

    def inserted(self, name, words, line):
        """fix widom of atoms: trial insertions of a particle of a type that there is."""
        every, count, kind = (int(self.number(w)) for w in words[:3])
        if not kind or set(words[5:]) - {"full_energy"}:
            raise NotUnderstood("fix widom of molecules, or with region, charge or intra_energy")
        if not self.count_of(kind):
            raise NotUnderstood(f"fix widom of the type {kind}, of which there are no particles")
        group = f"widom-{kind}"
        self.groups[group] = {"types": [str(kind)]}
        made = {"type": "widom", "stride": every, "insertions": count,
                "temperature": self.number(words[4])}
        self.watch(("fix", name), lambda: {**made, **self.within(group)}, line)

    def within(self, group):
        return {} if group == "all" else {"group": self.use(group)}

    def watched(self):
        """Observers of the job that is put together."""
        made, names = [], set()
        for key, watcher in self.watchers.items():
            end = len(self.stages) if watcher.end is None else watcher.end
            if watcher.begin >= end and self.stages:
                continue
            try:
                settings = watcher.make()
            except NotUnderstood as error:
                self.result.changed.append((watcher.line, f"no observer: {error}"))
                continue
            except (IndexError, ValueError, KeyError) as error:
                self.result.changed.append((watcher.line, "no observer: words are missing or "
                                            f"wrong ({error!r})"))
                continue
            if settings is None:
                continue
            kind = settings["type"]
            if kind in names:
                name = key[1] if key[0] == "dump" else f"{kind}-{key[1]}"
                name = name if name not in names else f"{name}-{len(names)}"
                settings["file"] = f"{name}.{'xtc' if kind == 'xtc' else 'h5'}"
                names.add(name)
            names.add(kind)
            if watcher.begin > 0 or end < len(self.stages):
                settings["stages"] = self.names_of_stages()[watcher.begin:end]
            made.append(Commented(settings, watcher.line))
        return made

    def names_of_stages(self):
        """Names that tell the stages apart."""
        names = []
        for n, stage in enumerate(self.stages, 1):
            if stage.get("name", "") in ("", *names):
                stage["name"] = f"{stage['name']}-{n}" if "name" in stage else f"run-{n}"
            names.append(stage["name"])
        return names
