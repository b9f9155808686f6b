"""Boxes, lattices and regions that a script makes by itself."""
import itertools
import math

import numpy as np

from perrin.importing.lines import NotUnderstood

BASES = {"sc": [(0, 0, 0)], "bcc": [(0, 0, 0), (.5, .5, .5)],
         "fcc": [(0, 0, 0), (.5, .5, 0), (.5, 0, .5), (0, .5, .5)],
         "diamond": [(0, 0, 0), (0, .5, .5), (.5, 0, .5), (.5, .5, 0), (.25, .25, .25),
                     (.25, .75, .75), (.75, .25, .75), (.75, .75, .25)],
         "hcp": [(0, 0, 0), (.5, .5, 0), (.5, 5 / 6, .5), (0, 1 / 3, .5)],
         "sq": [(0, 0, 0)], "sq2": [(0, 0, 0), (.5, .5, 0)], "hex": [(0, 0, 0), (.5, .5, 0)]}
FLAT = ("sq", "sq2", "hex")


class Lattice:
    """A lattice in the units of the script; `spacing` is what its distances are multiples of."""

    def __init__(self, words, reduced, number):
        self.style, self.spacing = words[0], np.ones(3)
        scale, rest = number(words[1]), words[2:]
        self.simple = self.style in BASES and not rest
        self.vectors, self.basis = np.eye(3), list(BASES.get(self.style, []))
        if self.style == "hcp":
            self.vectors = np.diag([1, math.sqrt(3), math.sqrt(8 / 3)])
        if self.style == "hex":
            self.vectors = np.diag([1, math.sqrt(3), 1])
        if self.style == "none":
            self.spacing[:] = scale
            self.scale = scale
            return
        rotation, origin, spacing = np.eye(3), np.zeros(3), None
        while rest:
            word = rest.pop(0)
            take = 3 if word != "orient" else 4
            values, rest = rest[:take], rest[take:]
            if word == "origin":
                origin = np.array([number(v) for v in values])
            elif word == "spacing":
                spacing = np.array([number(v) for v in values])
            elif word == "orient":
                row = np.array([number(v) for v in values[1:]])
                rotation["xyz".index(values[0])] = row
            elif word in ("a1", "a2", "a3"):
                self.vectors[int(word[1]) - 1] = [number(v) for v in values]
            elif word == "basis":
                self.basis.append(tuple(number(v) for v in values))
            else:
                raise NotUnderstood(f"a lattice with {word}")
        if not self.basis:
            raise NotUnderstood(f"a lattice of the style {self.style}")
        rotation = rotation / np.linalg.norm(rotation, axis=1)[:, None]
        dimension = 2 if self.style in FLAT else 3
        if reduced:
            volume = abs(np.linalg.det(self.vectors))
            scale = (len(self.basis) / volume / scale) ** (1 / dimension)
        self.vectors = self.vectors @ rotation.T * scale
        corners = np.array(list(itertools.product((0, 1), repeat=3))) @ self.vectors
        self.spacing = spacing * scale if spacing is not None else np.ptp(corners, axis=0)
        self.shift = origin * self.spacing  # along the axes of the box, whatever orient says
        self.scale = scale

    def points(self, low, high, periodic):
        """All sites with low <= r < high; on an axis that is not periodic r = high is in it. Beside
        them the number of each in the basis, from 0."""
        corners = np.array(list(itertools.product(*zip(low, high))))
        inverse = np.linalg.inv(self.vectors)
        cells = (corners - self.shift) @ inverse
        ranges = [np.arange(math.floor(a) - 1, math.ceil(b) + 2)
                  for a, b in zip(cells.min(axis=0), cells.max(axis=0))]
        if np.prod([float(len(r)) for r in ranges]) > 3e7:
            raise NotUnderstood("more than 30 million lattice cells")
        # The order of LAMMPS: x fastest, and the sites of a cell within it.
        grid = np.stack(np.meshgrid(*ranges[::-1], indexing="ij")[::-1], axis=-1).reshape(-1, 3)
        sites = (grid[:, None, :] + np.array(self.basis)[None]).reshape(-1, 3)
        r = sites @ self.vectors + self.shift
        slack = 1e-6 * self.scale
        top = np.where(periodic, np.array(high) - slack, np.array(high) + slack)
        inside = ((r >= np.array(low) - slack) & (r < top)).all(axis=1)
        return r[inside], np.tile(np.arange(len(self.basis)), len(grid))[inside]


class Region:
    """Whether points are in it; `box`: its corners, of a block."""

    def __init__(self, inside, box=None, tilts=None):
        self.inside, self.box, self.tilts = inside, box, tilts


def region(words, lattice, number, known, edges):
    """`region ID style …` without the ID. edges(): of the box, for EDGE."""
    style, words = words[0], list(words[1:])
    count = {"block": 6, "sphere": 4, "cylinder": 6, "prism": 9, "plane": 6}.get(style)
    if style in ("union", "intersect"):
        n = int(words[0])
        parts = [known.get(name) for name in words[1:n + 1]]
        if None in parts:
            raise NotUnderstood("a region that is not known")
        join = np.logical_or if style == "union" else np.logical_and
        inside = lambda r: join.reduce([p.inside(r) for p in parts])  # noqa: E731
        values, rest, box = [], words[n + 1:], None
    elif count is None:
        raise NotUnderstood(f"a region of the style {style}")
    else:
        values, rest = words[:count], words[count:]
    if "move" in rest or "rotate" in rest:
        raise NotUnderstood("a region that moves")
    options = dict(zip(rest[::2], rest[1::2]))
    if set(options) - {"units", "side"}:
        raise NotUnderstood(f"a region with {' '.join(sorted(set(options) - {'units', 'side'}))}")
    # Without a lattice LAMMPS has one of the spacing 1.
    scale = np.ones(3) if options.get("units") == "box" or not values or lattice is None \
        else lattice.spacing

    def place(word, axis, upper):
        box = edges() if word == "EDGE" else None
        if word in ("INF", "EDGE"):
            return box[int(upper)][axis] if box is not None else 1e30 if upper else -1e30
        return number(word) * scale[axis]

    box = tilts = None
    if style in ("block", "prism"):
        low = np.array([place(values[2 * k], k, False) for k in range(3)])
        high = np.array([place(values[2 * k + 1], k, True) for k in range(3)])
        box = (low, high)
        if style == "prism":
            tilts = [number(values[6]) * scale[0], number(values[7]) * scale[0],
                     number(values[8]) * scale[1]]
            h = np.diag(high - low)
            h[1, 0], h[2, 0], h[2, 1] = tilts

            def inside(r):
                f = (r - low) @ np.linalg.inv(h)
                return ((f >= -1e-9) & (f <= 1 + 1e-9)).all(axis=1)
        else:
            def inside(r):
                return ((r >= low - 1e-12) & (r <= high + 1e-12)).all(axis=1)
    elif style == "sphere":
        center = np.array([number(values[k]) * scale[k] for k in range(3)])
        radius = number(values[3]) * scale[0]
        inside = lambda r: np.linalg.norm(r - center, axis=1) <= radius  # noqa: E731
    elif style == "cylinder":
        axis = "xyz".index(values[0])
        others = [k for k in range(3) if k != axis]
        center = np.array([number(values[1]) * scale[others[0]],
                           number(values[2]) * scale[others[1]]])
        radius = number(values[3]) * scale[others[0]]
        ends = place(values[4], axis, False), place(values[5], axis, True)

        def inside(r):
            return (np.linalg.norm(r[:, others] - center, axis=1) <= radius) & \
                (r[:, axis] >= ends[0]) & (r[:, axis] <= ends[1])
    elif style == "plane":
        point = np.array([number(values[k]) * scale[k] for k in range(3)])
        normal = np.array([number(v) for v in values[3:6]])

        def inside(r):
            return (r - point) @ normal >= 0
    if options.get("side") == "out":
        return Region(lambda r: ~inside(r))
    return Region(inside, box, tilts)
