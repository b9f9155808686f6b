"""Computes of LAMMPS, and the averages that fix ave/time and ave/chunk make of them, as settings of
observers."""
import numpy as np

from perrin.importing.lines import NotUnderstood

ROWS = 10000  # steps between rows of correlators, at least
LONG = 10 ** 12  # steps, more than a run has
PROFILED = ("density/number", "vx", "vy", "vz", "temp")  # what profiles have
OPTIONS = {"type", "prefactor", "norm", "ave", "start", "file", "overwrite", "title1", "title2",
           "title3", "adof", "cdof", "bias", "format", "mode", "off", "append"}


class Average:
    """Nevery, Nrepeat, Nfreq and values of a fix; running: rows are the mean since the beginning,
    of which the last one says all."""

    def __init__(self, script, words):
        self.every, self.repeat, self.rows = (int(script.number(w)) for w in words[:3])
        self.values, self.notes = [], []
        for k, word in enumerate(words[3:], 3):
            if word in OPTIONS:
                break
            self.values.append(word)
        else:
            k = len(words)
        said = dict(zip(words[k:], words[k + 1:]))
        self.running = said.get("ave") == "running"
        if said.get("ave") == "window":
            self.notes.append("a row is a mean of its own samples, in LAMMPS of those of "
                              f"{words[words.index('window') + 1]} rows")
        if "start" in said and script.number(said["start"]) > script.now():
            self.notes.append("samples are taken from the beginning of the run, in LAMMPS from "
                              f"the step {said['start']} on")
        if self.repeat == 1:
            self.every = self.rows

    def strides(self):
        """A running mean is one row at the end of each stage."""
        return {"stride": self.every, "rows_every": self.rows * (
            max(LONG // self.rows, 1) if self.running else 1)}

    def note(self, script, line):
        """An observer averages all samples of a row."""
        for note in self.notes:
            script.result.changed.append((line, note))
        if self.running:
            script.result.changed.append((line, "there is one row, the mean of a run, in LAMMPS "
                                          "one after another of the mean so far"))
        if self.every * self.repeat != self.rows and self.repeat > 1:
            script.result.changed.append((line, f"a row is the mean of all samples since the last "
                                          f"one, in LAMMPS of the last {self.repeat}"))


def of_pairs(script, group, words, watcher):
    """compute rdf."""
    made, rest = {"type": "rdf", "bins": int(script.number(words[0]))}, list(words[1:])
    if "cutoff" in rest:
        at = rest.index("cutoff")
        made["r_max"], rest = script.number(rest[at + 1]), rest[:at]
    elif script.longest_cutoff:
        made["r_max"] = script.longest_cutoff
    near = script.types > 1 and not rest
    if all(w.isdigit() for w in rest):
        pairs = list(dict.fromkeys((a, b) for a, b in zip(rest[::2], rest[1::2])))
        if pairs:
            made["pairs"] = [list(pair) for pair in pairs]
    else:
        near = True
    if near:
        script.result.changed.append((watcher.line, "g(r) of each pair of types on its own, in "
                                      "LAMMPS one of all"))
    if script.start_lists().get("bond") and script.special[0] == script.special_charges[0] == 0:
        made["exclude"] = "bonds"
        if 0 in script.special[1:]:
            script.result.changed.append((watcher.line, "pairs along a bond are left out, in "
                                          "LAMMPS those along two and three, too"))
    if watcher.average is not None:
        watcher.average.note(script, watcher.line)
        made.update(watcher.average.strides())
    return {**made, **script.within(group)}


def correlator(kind):
    def make(script, group, words, watcher):
        """compute msd, vacf: LAMMPS's is that from the moment when it was defined."""
        said = dict(zip(words[::2], words[1::2]))
        made = {"type": kind}
        if said.get("com") == "yes":
            made["remove_drift"] = True
            if group != "all":
                raise NotUnderstood("compute msd com yes of a group: an observer takes away the "
                                    "motion of all particles")
        script.result.changed.append((watcher.line, "the mean is over many time origins, in LAMMPS "
                                      "there is one"))
        if watcher.average is not None:
            rows = watcher.average.rows
            made.update(stride=watcher.average.every, rows_every=rows * max(-(-ROWS // rows), 1))
        return {**made, **script.within(group)}

    return make


def of_molecules(script, group, words, watcher):
    """compute gyration/chunk, or gyration of a group that is one molecule."""
    made = {"type": "chain_size"}
    if watcher.average is not None:
        watcher.average.note(script, watcher.line)
        made["stride"] = watcher.average.every
    return {**made, **script.within(group)}


def of_one(script, group, words, watcher):
    """compute gyration, of a group."""
    if watcher.average is None:
        return None
    which = script.members(group)
    parts = linked(script.start, which)
    if parts != 1:
        what = f"that is {parts} molecules" if parts else "that is a part of molecules"
        raise NotUnderstood(f"the radius of gyration of a group {what}: that of molecules is what "
                            "an observer writes")
    return of_molecules(script, group, words, watcher)


def linked(start, which):
    """How many molecules hold these particles, and no others; 0: some have others."""
    label = np.arange(len(which))
    ids = start.lists.get("bond", (0, np.zeros((0, 2), int)))[1]
    a, b = start.index(ids[:, 0]), start.index(ids[:, 1])
    while True:
        least = np.minimum(label[a], label[b])
        before = label.copy()
        np.minimum.at(label, a, least)
        np.minimum.at(label, b, least)
        if (label == before).all():
            break
    if np.isin(label[~which], label[which]).any():
        return 0
    return len(np.unique(label[which]))


COMPUTES = {"rdf": of_pairs, "msd": correlator("mean_square_displacement"),
            "vacf": correlator("velocity_autocorrelation"), "gyration/chunk": of_molecules,
            "gyration": of_one}


def profile(script, group, chunks, values, average, line):
    """(settings of an observer or None, values that it does not write) of fix ave/chunk."""
    of, _, words = chunks
    known = [v for v in values if v in PROFILED]
    if not known or of not in ("all", group):
        return None, list(values)
    if words[0] == "bin/1d":
        made = slabs(script, *words[1:4], dict(zip(words[4::2], words[5::2])), line)
    elif words[0] == "bin/sphere" and not script.number(words[4]):
        made = shells(script, words)
    else:
        return None, list(values)
    average.note(script, line)
    if "temp" in known:
        script.result.changed.append((line, "the temperature is that of the motion relative to the "
                                      "mean velocity of each slab or shell"))
    return {**made, **average.strides()}, [v for v in values if v not in PROFILED]


def slabs(script, axis, origin, delta, said, line):
    """Slabs of equal thickness that fill the box."""
    if set(said) - {"units", "discard", "bound", "nchunk", "limit", "ids", "compress", "pbc"}:
        raise NotUnderstood(f"compute chunk/atom with {' '.join(said)}")
    low, high = script.box[axis]
    k, units = "xyz".index(axis), said.get("units", "lattice")
    scale = high - low if units == "reduced" else 1.0 if units == "box" or script.lattice is None \
        else script.lattice.spacing[k]
    wide = script.number(delta) * scale
    where = {"lower": low, "upper": high, "center": (low + high) / 2}.get(origin)
    if where is None:
        where = script.number(origin) * scale + (low if units == "reduced" else 0)
    bins = max(round((high - low) / wide), 1)
    off = (where - low) / wide
    if abs((high - low) / wide - bins) > 1e-6 * bins or abs(off - round(off)) > 1e-6:
        script.result.changed.append((line, f"{bins} slabs of equal thickness fill the box, in "
                                      "LAMMPS some at its ends have another one"))
    return {"type": "profile", "axis": axis, "bins": bins}


def shells(script, words):
    """bin/sphere x y z 0 rmax n."""
    said = dict(zip(words[7::2], words[8::2]))
    scale = [1.0] * 3 if said.get("units") == "box" or script.lattice is None else \
        script.lattice.spacing
    if said.get("units") == "reduced":
        raise NotUnderstood("compute chunk/atom bin/sphere in reduced units")
    script.whole = None  # a start from a file has the script's coordinates
    script.place_in_box()
    center = [script.number(w) * s + shift
              for w, s, shift in zip(words[1:4], scale, script.shift.tolist())]
    return {"type": "radial_profile", "center": center,
            "r_max": script.number(words[5]) * scale[0], "bins": int(words[6])}
