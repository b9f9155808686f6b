"""One group of particles of an H5MD file, frame by frame (H5MD 1.1, and what Perrin adds to it)."""
import h5py
import numpy as np

# Lists under /connectivity by the number of particles in an entry.
KINDS = {2: "bonds", 3: "angles", 4: "dihedrals"}


class File:
    """What readers ask of a file: particles in the order of the file, ids beside them.

    names: of the types, by the number in `species`; lists: {"bonds": [M][2] rows from 0, …} of a
    frame; dimension: 2 or 3. The file is open until close().
    """

    def __init__(self, path, group=None):
        self.path = str(path)
        self.file = h5py.File(path, "r")
        try:
            groups = list(self.file["particles"]) if "particles" in self.file else []
            chosen = [group] if group else [g for g in ("all", "trajectory", "system")
                                            if g in groups] or groups
            if not chosen or chosen[0] not in groups:
                raise ValueError(f"{path}: no group of particles"
                                 f"{f' {group!r}' if group else ''} in an H5MD file")
            self.group = self.file["particles"][chosen[0]]
            if "position" not in self.group:
                raise ValueError(f"{path}: {self.group.name} has no positions")
        except Exception:
            self.file.close()
            raise
        position = self.group["position"]
        self.fixed = isinstance(position, h5py.Dataset)
        shape = position.shape if self.fixed else position["value"].shape
        self.n = shape[-2]
        self.frames = 1 if self.fixed else shape[0]
        self.steps = np.array([0]) if self.fixed else self._steps(position, "step")
        self.times = None if self.fixed or "time" not in position else \
            self._steps(position, "time")
        own = self.file.get("parameters/perrin")
        self.own = own if own is not None else {}
        self.dimension = int(self.own["dimension"][()]) if "dimension" in self.own else 3

    def close(self):
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _steps(self, element, name):
        """Steps (or times) of the values of an element; H5MD also has one and its increment."""
        stored = element[name]
        if stored.shape:
            return stored[:]
        offset = stored.attrs.get("offset", 0)
        return offset + stored[()] * np.arange(element["value"].shape[0])

    def quantity(self, name, frame, group=None):
        """The value of an element at a frame, or None: fixed in time, or its last one until then;
        of velocities, forces, images and orientations the one of this very step."""
        group = self.group if group is None else group
        if name not in group:
            return None
        element = group[name]
        if isinstance(element, h5py.Dataset):
            return element[()]
        if "step" not in element:
            return element["value"][frame]
        steps, step = self._steps(element, "step"), self.steps[frame]
        row = int(np.searchsorted(steps, step, side="right")) - 1
        exact = name in ("velocity", "force", "image", "position", "orientation")
        if row < 0 or exact and steps[row] != step:
            return None
        return element["value"][row]

    def orientation(self, frame):
        """[n][4], quaternions x, y, z, w; None where there are none, or their order is not said."""
        value = self.quantity("orientation", frame)
        if value is None or np.shape(value) != (self.n, 4):
            return None
        names = [c.decode() if isinstance(c, bytes) else str(c)
                 for c in self.group["orientation"].attrs.get("components", [])]
        if sorted(names) != ["w", "x", "y", "z"]:
            return None
        return np.asarray(value, float)[:, [names.index(c) for c in "xyzw"]]

    def edges(self, frame):
        """[3][3], rows are the edges; None without a box."""
        box = self.group.get("box")
        value = None if box is None else self.quantity("edges", frame, box)
        if value is None:
            return None
        value = np.asarray(value, float)
        return np.diag(value) if value.ndim == 1 else value

    def periodic(self):
        """[3] of true and false."""
        box = self.group.get("box")
        words = [] if box is None else box.attrs.get("boundary", [])
        words = [words] * 3 if isinstance(words, (str, bytes)) else list(words)
        words = [w.decode() if isinstance(w, bytes) else str(w) for w in words] or ["none"] * 3
        return [word == "periodic" for word in words]

    def origin(self, frame):
        """The lower corner of the box in the coordinates of the run; H5MD counts from it."""
        if "box_origin" not in self.own:
            return np.zeros(3)
        return np.asarray(self.own["box_origin/value"][frame], float)

    def ids(self):
        return None if "id" not in self.group else np.ravel(self.quantity("id", 0))

    def species(self, frame):
        value = self.quantity("species", frame)
        return np.zeros(self.n, int) if value is None else np.asarray(value, int)

    def names(self):
        """{number: name} of the types."""
        if "type_names" in self.own:
            return dict(enumerate(self._texts(self.own["type_names"])))
        return {int(k): str(k) for k in np.unique(self.species(0))}

    def molecules(self):
        return np.asarray(self.own["molecule"][:]) if "molecule" in self.own else None

    @staticmethod
    def _texts(data):
        return [t.decode() if isinstance(t, bytes) else str(t) for t in data[:]]

    def lists(self, frame):
        """{"bonds": (rows, types, names)} of bonds, angles, dihedrals and impropers."""
        found = {}
        for name, element in self.file.get("connectivity", {}).items():
            value = self.quantity(name, frame, self.file["connectivity"])
            if value is None or value.ndim != 2 or value.shape[1] not in KINDS:
                continue
            rows = self._rows(np.asarray(value, int), element)
            kind = KINDS[value.shape[1]]
            kind = "impropers" if kind == "dihedrals" and name.startswith("improper") else kind
            types = self._list_types(name, frame, len(value))
            kept = (rows >= 0).all(axis=1) & (rows < self.n).all(axis=1)
            names = self._texts(self.own[f"{name}_type_names"]) \
                if f"{name}_type_names" in self.own else []
            if kind in found:
                rows = np.vstack([found[kind][0], rows[kept]])
                found[kind] = rows, None, []
            else:
                found[kind] = rows[kept], None if types is None else types[kept], names
        return found

    def _list_types(self, name, frame, count):
        key = f"{name}_type"
        if key not in self.own:
            return None
        value = self.quantity(key, frame, self.own)
        return None if value is None or len(value) != count else np.asarray(value, int)

    def _rows(self, value, element):
        """Ids as rows, where the group has ids; else /connectivity has rows already."""
        ids = self.ids()
        if ids is None or np.array_equal(ids, np.arange(len(ids))):
            return value
        order = np.argsort(ids)
        place = np.clip(np.searchsorted(ids, value, sorter=order), 0, len(ids) - 1)
        rows = order[place]
        return np.where((ids[rows] == value) & (value >= 0), rows, -1)
