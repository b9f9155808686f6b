"""`replicate`: copies of the particles and of the box along its edges."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.lammps.groups import become, ranges

LISTED = ("atoms", "bonds", "angles", "dihedrals", "impropers")


class Replicate:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_replicate(self, rest, line):
        """Ids and molecules of copies follow those of the particles before, x first, as LAMMPS has
        them; groups have the copies of their particles."""
        counts = [int(self.number(w)) for w in rest[:3]]
        if set(rest[3:]) - {"bbox"}:
            raise NotUnderstood(f"replicate with {rest[3]}")
        if min(counts) < 1 or self.dimension == 2 and counts[2] != 1:
            raise NotUnderstood("replicate: expected whole numbers from 1 on, in two dimensions 1 "
                                "along z")
        whole, total = self.whole, int(np.prod(counts))
        members = {name: self.members(name) for name, made in self.groups.items()
                   if made and {"ids", "molecules", "box"} & set(made)}
        made = self.rewrite()
        self.whole = whole
        copies(made, counts)
        for name, which in members.items():
            become(self.groups[name],
                   {"ids": ranges(np.sort(made.numbers()[np.tile(which, total)] - 1))})
        self.box = {a: (made.low[k], made.high[k]) for k, a in enumerate("xyz")}
        if self.data is not None:
            for name in LISTED:
                self.data.counts[name] = self.data.counts.get(name, 0) * total
        if self.velocity is not None:
            self.result.changed.append((line, "copies have velocities of their own, in LAMMPS "
                                              "those of the particles before"))


def copies(made, counts):
    """Of Particles, along the edges of their box."""
    h, n = made.cell(), len(made)
    shifts = np.array([(i, j, k) for k in range(counts[2]) for j in range(counts[1])
                       for i in range(counts[0])])
    total = len(shifts)
    ids, molecules = made.numbers(), made.extra.get("molecule")
    made.r = (shifts[:, None] @ h + made.r[None]).reshape(-1, 3)
    made.type = np.tile(made.type, total)
    made.v = None if made.v is None else np.tile(made.v, (total, 1))
    made.extra = {name: np.concatenate([values] * total) for name, values in made.extra.items()}
    behind = np.repeat(np.arange(total), n)
    if molecules is not None:  # those of no molecule stay so
        made.extra["molecule"] += np.where(made.extra["molecule"] > 0,
                                           behind * molecules.max(initial=0), 0)
    if made.ids is not None:
        made.ids = np.tile(ids, total) + behind * ids.max(initial=0)
    made.lists = {kind: (np.tile(of, total), np.concatenate(
        [members + k * ids.max(initial=0) for k in range(total)]))
        for kind, (of, members) in made.lists.items()}
    made.high = made.low + np.diag(h) * counts
    made.tilts = [made.tilts[0] * counts[1], made.tilts[1] * counts[2], made.tilts[2] * counts[2]]
