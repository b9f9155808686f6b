"""`create_bonds`: bonds, angles and dihedrals between particles of the start."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.lammps.special import apart

MEMBERS = {"bond": 2, "angle": 3, "dihedral": 4, "improper": 4}


class Linking:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def do_create_bonds(self, rest, line):
        style, words = rest[0], list(rest[1:])
        built = True  # whether LAMMPS then looks along all bonds for pairs that are bonded
        if words[-2:-1] == ["special"]:
            if words[-1] not in ("yes", "no") or words[-1] == "no" and style == "many":
                raise NotUnderstood(f"create_bonds {style} … special {words[-1]}")
            built, words = words[-1] == "yes", words[:-2]
        kind = style.partition("/")[2]
        if style == "many" and len(words) == 5:
            low, high = (self.number(w) for w in words[3:])
            which = [self.members(name) for name in words[:2]]
            if self.special[0] or self.special_charges[0] or self.kspace is not None:
                raise NotUnderstood("create_bonds many with special_bonds whose weight of bonded "
                                    "pairs is not 0, or a kspace_style, which LAMMPS refuses")
            kind, of = "bond", int(words[2])
            rows, known = self.near(which, low, high), self.linked_pairs()
            left = np.array([tuple(row) not in known for row in rows.tolist()], bool)
            if len(rows) and not left.any():
                return
            rows = rows[left]
        elif style.startswith("single/") and len(words) == 1 + MEMBERS.get(kind, 9):
            of, rows = int(words[0]), np.array([[int(w) for w in words[1:]]])
        else:
            raise NotUnderstood(f"create_bonds {' '.join(rest)}")
        if not len(rows):
            raise NotUnderstood("create_bonds between no particles")
        a = self.rewrite()
        types, ids = a.lists.get(kind, (np.zeros(0, int), np.zeros((0, rows.shape[1]), int)))
        if not built and self.special_old is None:
            self.special_known = len(a.lists.get("bond", ((),))[0])
        self.special_old = None if built else line
        a.lists[kind] = np.append(types, np.full(len(rows), of)), np.vstack([ids, rows])
        if built:
            self.special_known = None

    def linked_pairs(self):
        """Pairs of ids, the lower one first, that LAMMPS's list of neighbours leaves out: those one
        to three bonds apart, as far as special_bonds gives them the weight 0."""
        bonds = self.start.lists.get("bond", ((), np.zeros((0, 2), int)))[1]
        known = set()  # along those that LAMMPS has looked along
        for pairs, own, charge in zip(apart(bonds[:self.special_known]), self.special,
                                      self.special_charges):
            if not (own or charge):
                known |= pairs
        return known

    def near(self, which, low, high):
        """Ids of pairs of a particle of each group, from one distance to the other."""
        a, periodic = self.start, np.array([b in ("p", "pp") for b in self.boundary])
        if any(a.tilts):
            raise NotUnderstood("create_bonds many in a tilted box")
        edges, ids = np.asarray(a.high, float) - a.low, a.numbers()
        if self.dimension == 2:
            periodic[2] = False
        one, other = (np.flatnonzero(w) for w in which)
        if len(one) * float(len(other)) > 4e9:
            raise NotUnderstood("create_bonds many between more than 4e9 pairs")
        found = []
        for k in one:
            d = a.r[other] - a.r[k]
            d -= np.where(periodic, edges * np.round(d / edges), 0)
            far = np.linalg.norm(d, axis=1)
            mine = other[(far >= low) & (far <= high) & (other != k)]
            found += [(min(ids[k], ids[m]), max(ids[k], ids[m])) for m in mine]
        return np.unique(np.array(found).reshape(-1, 2), axis=0)
