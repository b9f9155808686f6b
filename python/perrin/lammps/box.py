"""The box: its edges, as far as a script knows them, and change_box."""
import re

import numpy as np

from perrin.importing.lines import NotUnderstood

TILTS = ("xy", "xz", "yz")


class Boxes:
    """A part of perrin.lammps.convert.Script, whose members it uses.

    box: {axis: (low, high)} in coordinates of LAMMPS; shift: what coordinates of the job are more,
    along each axis. LAMMPS keeps the middle of a box that a run deforms, a job the place 0."""

    def begin_box(self):
        self.edges, self.shift, self.open_box = None, np.zeros(3), None

    @property
    def box(self):
        if self.open_box is not None:
            raise NotUnderstood(f"the box after {self.open_box}, whose edges are not known")
        return self.edges

    @box.setter
    def box(self, edges):
        self.edges, self.open_box = edges, None

    def of_the_box(self, word):
        """The number of a word like lx, yhi or vol; None: it is none of these."""
        match = re.fullmatch(r"([xyz])(lo|hi)|l([xyz])|vol", word)
        if match is None or self.edges is None:
            return None
        axis = match[1] or match[3]
        shrinks = any(set(self.boundary["xyz".index(a)]) & set("sm") for a in axis or "xyz")
        if shrinks and (self.ran or self.part > 1):
            raise NotUnderstood(f"{word} of a box that follows its particles, after a run")
        if match[1]:
            return float(self.box[axis][match[2] == "hi"])
        if axis:
            low, high = self.box[axis]
            return float(high - low)
        return float(np.prod([b - a for a, b in self.box.values()]))

    def edges_of_box(self):
        """(low, high), for EDGE; None without a box."""
        box = self.box
        return None if box is None else ([box[k][0] for k in "xyz"], [box[k][1] for k in "xyz"])

    def deformed(self, made, after):
        """A run has brought the edges of `made` to `after`: a job has scaled coordinates about
        0."""
        for k, axis in enumerate("xyz"):
            if axis in made:
                (low, high), (new_low, new_high) = self.box[axis], after[axis]
                factor = (new_high - new_low) / (high - low)
                self.shift[k] = factor * (low + self.shift[k]) - new_low
        self.box = after

    def place_in_box(self):
        """For fields with places: coordinates of the job are known."""
        if self.open_box is not None:
            raise NotUnderstood(f"a place after {self.open_box}: LAMMPS scales positions about the "
                                "middle of the box, a job about 0")

    def do_change_box(self, rest, line):
        """Of the start. Words act one after the other; remap takes particles along from the box
        that was last kept (the beginning, set, remap)."""
        if self.edges is None:
            raise NotUnderstood("change_box without a box")
        group, words = rest[0], list(rest[1:])
        self.fixed_members()
        a, self.whole = self.rewrite(), None
        scale = np.ones(3) if "box" in [v for k, v in zip(words, words[1:]) if k == "units"] or \
            self.lattice is None else self.lattice.spacing
        kept, who = (a.low.copy(), a.cell()), self.members(group)
        while words:
            word = words.pop(0)
            if word in ("x", "y", "z"):
                words = self.edge(a, "xyz".index(word), words, scale)
            elif word == "boundary":
                self.boundary, words = words[:3], words[3:]
            elif word == "units":
                words.pop(0)
            elif word == "set":
                kept = a.low.copy(), a.cell()
            elif word == "remap":
                low, cell = kept
                a.r[who] = (a.r[who] - low) @ np.linalg.inv(cell) @ a.cell() + a.low
                kept = a.low.copy(), a.cell()
            elif word != "triclinic" and (word != "ortho" or any(a.tilts)):
                raise NotUnderstood(f"change_box with {word}: expected x, y, z, boundary, set, "
                                    "remap, units or triclinic")
        self.box = {axis: (a.low[k], a.high[k]) for k, axis in enumerate("xyz")}

    def edge(self, a, k, words, scale):
        """One axis of change_box; the words behind it."""
        how, words = words[0], words[1:]
        low, high = a.low[k], a.high[k]
        if how in ("final", "delta"):
            low, high = (self.number(w) * scale[k] + (edge if how == "delta" else 0)
                         for w, edge in zip(words[:2], (low, high)))
            words = words[2:]
        elif how == "scale":
            middle, half = (low + high) / 2, (high - low) / 2 * self.number(words[0])
            low, high, words = middle - half, middle + half, words[1:]
        else:
            raise NotUnderstood(f"change_box {'xyz'[k]} {how}: expected final, delta or scale")
        if low >= high:
            raise NotUnderstood("change_box to a box without volume")
        a.low[k], a.high[k] = low, high
        return words
