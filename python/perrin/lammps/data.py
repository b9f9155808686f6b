"""LAMMPS data files: what a script needs to know of them before it runs, and their particles where
a job needs a start of its own."""
import numpy as np

from perrin.importing.lines import NotUnderstood
from perrin.lammps.bonded import CROSS_SECTIONS
from perrin.lammps.particles import Particles, is_sphere

COEFFICIENTS = ("Pair Coeffs", "PairIJ Coeffs", "Bond Coeffs", "Angle Coeffs", "Dihedral Coeffs",
                "Improper Coeffs", *CROSS_SECTIONS)
LISTS = {"Bonds": 2, "Angles": 3, "Dihedrals": 4, "Impropers": 4}
KEPT = ("Atoms", "Velocities", "Ellipsoids", *LISTS)
SECTIONS = ("Masses", *KEPT, *COEFFICIENTS)
# Columns of a row of Atoms by style; xyz and dipole are three.
COLUMNS = {"atomic": "id type xyz", "charge": "id type charge xyz", "bond": "id molecule type xyz",
           "angle": "id molecule type xyz", "molecular": "id molecule type xyz",
           "full": "id molecule type charge xyz", "sphere": "id type diameter density xyz",
           "ellipsoid": "id type flag density xyz", "dipole": "id type charge xyz dipole"}


class Data:
    """Box, counts, masses and coefficients; particles are read where a job needs them. `of_fixes`:
    titles of sections that belong to fixes."""

    def __init__(self, path, of_fixes=()):
        self.path, self.counts, self.masses, self.style = path, {}, {}, None
        self.titles, self.of_fixes = {*SECTIONS, *of_fixes}, {title: [] for title in of_fixes}
        self.box = {a: (-0.5, 0.5) for a in "xyz"}
        self.tilts, self.sections = [0, 0, 0], {}
        self.labels = {}  # words behind masses, which name types in Perrin where each is another
        for section, text, comment in self._lines():
            if text == section:
                if section == "Atoms" and comment:
                    self.style = comment
            elif section is None:
                self._header(text.split())
            elif section == "Masses":
                self.masses[text.split()[0]] = float(text.split()[1])
                if comment and not set(" \t#") & set(comment):
                    self.labels[text.split()[0]] = comment
            elif section in self.of_fixes:
                self.of_fixes[section].append(text.split())
            elif section in COEFFICIENTS:
                self.sections.setdefault(section, []).append(text.split())
        words = [*self.labels.values(), *(str(k + 1) for k in range(
            self.counts.get("atom types", 1)))]
        self.labels = {k: v for k, v in self.labels.items() if v != k and words.count(v) == 1}

    def _lines(self):
        """(section, text, comment) of each line that is not empty; of a title the text is the
        section."""
        section = None
        with open(self.path, errors="replace") as file:
            next(file, None)
            for raw in file:
                text, _, comment = raw.partition("#")
                text, comment = text.strip(), comment.strip()
                if text in self.titles or text and text[0].isalpha() and section and \
                        text[1:2].islower() and len(text.split()) <= 3 and \
                        not text[-1].isdigit():
                    section = text
                if text:
                    yield section, text, comment

    def _header(self, words):
        if words[-1] in ("xhi", "yhi", "zhi"):
            self.box[words[-1][0]] = (float(words[0]), float(words[1]))
        elif words[-1] == "yz" and len(words) == 6:
            self.tilts = [float(w) for w in words[:3]]
        elif words[0].isdigit():
            self.counts[" ".join(words[1:])] = int(words[0])

    def particles(self, style):
        """Particles, in the order of their ids. style: that of the script, where it names one."""
        columns, rows = self.columns(style or self.style), {}
        for section, text, _ in self._lines():
            if section in KEPT and text != section:
                rows.setdefault(section, []).append(text.split())
        table = rows.get("Atoms", [])
        if not table:
            raise NotUnderstood("the data file has no particles")
        wide = sum(3 if c in ("xyz", "dipole") else 1 for c in columns)
        if any(len(row) not in (wide, wide + 3) for row in table):
            raise NotUnderstood(f"the rows of Atoms: expected {wide} columns, or {wide + 3} with "
                                "images")
        try:
            values = np.array([[float(w) for w in row[:wide + 3]] for row in table])
        except ValueError as error:
            raise NotUnderstood(f"the rows of Atoms: {error}") from None
        values = values[np.argsort(values[:, columns.index("id")])]
        low, high = (np.array([self.box[k][side] for k in "xyz"]) for side in (0, 1))
        made = Particles(low, high, list(self.tilts), self.counts.get("atom types", 1),
                         style or self.style)
        at, density = 0, None
        for name in columns:
            width = 3 if name in ("xyz", "dipole") else 1
            column = values[:, at] if width == 1 else values[:, at:at + 3]
            at += width
            if name == "xyz":
                made.r = column.copy()
            elif name in ("type", "id"):
                setattr(made, "ids" if name == "id" else name, column.astype(int))
            elif name == "density":
                density = column
            elif name != "flag":
                made.extra[name] = column.astype(int) if name == "molecule" else column.copy()
        if values.shape[1] > wide:
            made.r += values[:, wide:] @ made.cell()
        more(made, rows)
        if density is not None:
            made.extra["mass"] = density * made.volumes()
        return made

    def columns(self, style):
        words = (style or "atomic").split()
        if words[0] != "hybrid":
            words = words[:1]
        unknown = [w for w in words if w not in COLUMNS and w != "hybrid"]
        if unknown:
            raise NotUnderstood(f"particles of the atom_style {unknown[0]}")
        if words[0] != "hybrid":
            return COLUMNS[words[0]].split()
        columns = ["id", "type", "xyz"]
        for word in words[1:]:
            columns += [c for c in COLUMNS[word].split() if c not in columns]
        return columns


def more(made, rows_of):
    """Velocities, shapes and lists of bonds."""
    if "Velocities" in rows_of:
        rows = np.array([[float(w) for w in row] for row in rows_of["Velocities"]])
        made.v = np.zeros_like(made.r)
        where = made.index(rows[:, 0])
        made.v[where] = rows[:, 1:4]
        if rows.shape[1] >= 7:
            made.set("omega" if is_sphere(made.style) else "spin", where, rows[:, 4:7])
    if "Ellipsoids" in rows_of:
        rows = np.array([[float(w) for w in row] for row in rows_of["Ellipsoids"]])
        where = made.index(rows[:, 0])
        made.set("shape", where, rows[:, 1:4])
        made.set("quaternion", where, rows[:, 4:8])
    for section, many in LISTS.items():
        if section in rows_of:
            rows = np.array([[int(w) for w in row[1:2 + many]] for row in rows_of[section]])
            made.lists[section[:-1].lower()] = rows[:, 0], rows[:, 1:]
