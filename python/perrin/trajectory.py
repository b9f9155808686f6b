"""Reading trajectories, and the tables of a run (H5MD)."""
from __future__ import annotations

import builtins
import gzip
import json
import os
import re
import shutil
import tempfile
import zlib
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, overload

import numpy as np

from perrin import arguments, checked, hoomd_frame, show
from perrin.errors import JobError, warn
from perrin.frame import Frame, Members
from perrin.frame_file import ABSENT, LISTS, absent
from perrin.view import Box


def _h5py():
    import h5py
    return h5py


def _texts(dataset):
    return [t.decode() if isinstance(t, bytes) else str(t) for t in np.atleast_1d(dataset[()])]


class Trajectory:
    """A trajectory of a run, which may still be running: t[5], t[-1], t[::10], for frame in t. A
    frame is read and checked when it is accessed.

    A file of another program or format is first converted, as by `perrin convert`, into a temporary
    file that exists until close(). Raises JobError if a file is invalid."""

    def __init__(self, path: Union[str, os.PathLike[str]], group: str = "") -> None:
        """`group`: where the trajectory is in a file that has several, as in ensemble.h5."""
        if group:
            self._open_group(path, group)
            return
        self.path = arguments.existing_file(
            arguments.path(path, "path"), "a trajectory: what the observer \"trajectory\" has "
            "written, or what perrin convert reads")
        self._folder, self._file, self._opened, self._gsd = None, None, None, None
        with builtins.open(self.path, "rb") as file:
            head = file.read(8)
        source = self.path
        if head[:2] == b"\x1f\x8b":
            source = self._unpacked()
            with builtins.open(source, "rb") as file:
                head = file.read(8)
        is_hdf5 = head == b"\x89HDF\r\n\x1a\n"
        if is_hdf5:
            self._file = _h5py().File(source, "r")
        if not is_hdf5 or not self._is_own():
            if self._file is not None:
                self._file.close()
            self._convert(source)
        self._gsd = hoomd_frame.opened(source) if head == hoomd_frame.MAGIC else None
        self._look_at_file()

    def _convert(self, source):
        made, told = checked.converted(source, self._temporary())
        self._file = _h5py().File(made, "r")
        for text in told:
            # H5MD has no place for the bodies of GSD: hoomd_frame reads them, or says so.
            if not re.match(re.escape(made) + ": the rigid bodies of .* are left out", text):
                warn(text.replace(made, self.path).replace(source, self.path))

    def _open_group(self, path, group):
        self.path, self._folder, self._gsd = f"{os.fspath(path)}:{group}", None, None
        self._opened = _h5py().File(path, "r")
        self._file = checked.find(self._opened, group)
        if self._file is None or not self._is_own():
            self._opened.close()
            raise JobError(f"{os.fspath(path)}: {group} is no trajectory of Perrin")
        self._look_at_file()

    def _look_at_file(self):
        self._group = self._file["particles/all"]
        self._dimension = int(np.atleast_1d(self._perrin("dimension", 3))[0])
        names = self._perrin("type_names", None)
        self.type_names = [] if names is None else _texts(names)
        self._particles = self._group["position/value"].shape[1]
        ids = self._ids_in_file()
        same = ids is None or ((ids == np.arange(self._particles)) | (ids < 0)).all()
        self._ids = None if same else ids

    def _temporary(self):
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="perrin_")
        return self._folder.name

    def _unpacked(self):
        """A copy of a file of gzip, without its .gz."""
        name = os.path.basename(self.path).removesuffix(".gz")
        folder = os.path.join(self._temporary(), "unpacked")
        os.mkdir(folder)
        path = os.path.join(folder, name)
        try:
            with gzip.open(self.path) as packed, builtins.open(path, "wb") as file:
                shutil.copyfileobj(packed, file)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise JobError(f"{self.path}: cannot be unpacked by gzip: {error}") from None
        return path

    def _is_own(self):
        """Whether its layout is that of Perrin."""
        series = ("position/value", "position/step", "position/time", "box/edges/value")
        parts = [checked.find(self._file, "particles/all/" + name) for name in series]
        if (checked.find(self._file, "parameters/perrin/type_names") is None or
                any(not hasattr(part, "shape") for part in parts) or
                [len(part.shape) for part in parts] != [3, 1, 1, 3]):
            return False
        self._group = self._file["particles/all"]
        ids = self._ids_in_file()
        if ids is None:
            return True
        there = ids[ids >= 0]
        return ids.shape == parts[0].shape[1:2] and bool((there[1:] > there[:-1]).all())

    def _ids_in_file(self):
        """[n], None without. Those of a group of particles are not 0, 1, …; a particle that comes
        and goes has -1 in frames in which it is not there, and here if it is in none."""
        ids = checked.find(self._group, "id")
        if ids is None:
            return None
        rows = ids if hasattr(ids, "shape") else checked.find(ids, "value")
        if rows is None or rows.dtype.kind not in "iu":
            raise JobError(f"{self.path}: /particles/all/id: expected whole numbers")
        if rows is ids:
            return checked.check_size(rows)[:].astype(np.int64)
        rows = checked.check_size(rows)
        ids = np.full(rows.shape[1:], -1, np.int64)
        for row in rows:
            if not ((row == ids) | (row < 0) | (ids < 0)).all():
                raise JobError(f"{self.path}: /particles/all/id: the order of particles changes")
            ids = np.maximum(ids, row)
        return ids

    def _perrin(self, name, otherwise):
        found = checked.find(self._file, "parameters/perrin/" + name)
        if found is None:
            return otherwise
        return checked.check_size(found) if hasattr(found, "shape") else found

    def _values(self, name, k=None):
        """Of an element of the group, at a frame if it has some; None where it is missing."""
        found = checked.find(self._group, name)
        if found is None:
            return None
        if not hasattr(found, "shape"):
            found = checked.find(found, "value")
            if found is None:
                return None
            return checked.check_size(found)[k]
        return checked.check_size(found)[:]

    def _row(self):
        steps, n = self.steps, len(self)
        span = f"steps {steps[0]} to {steps[-1]}" if n else "none yet"
        return (f"{n} frames, {span}", f"{self._particles} particles of "
                f"type{'s'[:len(self.type_names) != 1]} {', '.join(self.type_names)}")

    def __repr__(self):
        if self._file is None or not self._file:
            return f"<perrin.Trajectory {self.path!r}, closed>"
        return f"<perrin.Trajectory {self.path!r}: {', '.join(self._row())}>"

    def _repr_html_(self):
        if self._file is None or not self._file or not len(self):
            return show.page(repr(self), [])
        frames, particles = self._row()
        last = self[-1]
        return show.page(self.path, [("frames", frames), ("particles", particles),
                                     ("box", show.box_text(last.box))],
                         last.picture(), "the last frame. " + show.thinned(len(last)))

    @property
    def job(self) -> Dict[str, Any]:
        """The job that wrote it, with all defaults."""
        text = self._perrin("job", None)
        if text is None or not _texts(text)[0]:
            raise JobError(f"{self.path}: records no job")
        return json.loads(_texts(text)[0])

    @property
    def steps(self) -> np.ndarray:
        return self._values("position/step")

    @property
    def times(self) -> np.ndarray:
        return self._values("position/time")

    @property
    def units(self) -> Dict[str, str]:
        """Units of the quantities in the file; empty in reduced units."""
        units = {}
        for name in ("position", "velocity", "force", "angular_momentum", "torque"):
            if name in self._group and "unit" in self._group[name]["value"].attrs:
                units[name] = str(self._group[name]["value"].attrs["unit"])
        if "unit" in self._group["position/time"].attrs:
            units["time"] = str(self._group["position/time"].attrs["unit"])
        return units

    @property
    def ids(self) -> np.ndarray:
        """[n]: the number that each particle has in the system; not 0, 1, … in files of a group of
        particles. In frames particles are numbered from 0 in this order, also in bonds. -1: it is
        in no frame (of a reservoir)."""
        return np.arange(self._particles) if self._ids is None else self._ids.copy()

    @property
    def masses(self) -> np.ndarray:
        return checked.finite(self._values("mass"), f"{self.path}: masses")

    @property
    def moments_of_inertia(self) -> Optional[np.ndarray]:
        """[n, 3] by id, about the axes of each particle's own frame; None if the file has none."""
        found = self._perrin("moment_of_inertia", None)
        where = f"{self.path}: moments of inertia"
        return None if found is None else checked.finite(found[:], where)

    @property
    def bonds(self) -> np.ndarray:
        """[bond, 2]: places in a frame; where bonds are made and broken, those of the last
        frame."""
        return self.bonds_of(-1)

    def bonds_of(self, k: int) -> np.ndarray:
        """[bond, 2]: places in frame k."""
        bonds = checked.find(self._file, "connectivity/bonds")
        if bonds is None:
            return np.zeros((0, 2), int)
        where = f"{self.path}: /connectivity/bonds"
        import h5py
        if not isinstance(bonds, h5py.Group):
            return checked.members(checked.check_size(bonds)[:], self._particles, where, self._ids)
        if not -len(self) <= k < len(self):
            raise IndexError(f"frame {k} of {len(self)}")
        rows = checked.check_size(checked.find(bonds, "value"))[k % len(self)]
        return checked.members(rows[(rows >= 0).any(axis=1)], self._particles, where, self._ids)

    def __len__(self) -> int:
        return self._group["position/value"].shape[0]

    @overload
    def __getitem__(self, k: int) -> Frame: ...

    @overload
    def __getitem__(self, k: slice) -> List[Frame]: ...

    def __getitem__(self, k: Union[int, slice]) -> Union[Frame, List[Frame]]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"frame {k} of {len(self)}")
        return self._frame(k % len(self))

    def _frame(self, k):
        box = self._box(k)
        species = self._values("species", k)
        if species is None:
            species = np.zeros(self._particles, int)
        if self.type_names and not ((species >= 0) & (species < len(self.type_names))).all():
            raise JobError(f"{self.path}: frame {k}: species beyond the {len(self.type_names)} "
                           f"types that have a name")
        value = {}
        for name in ("position", "image", "velocity", "force", "orientation", "angular_momentum",
                     "torque"):
            value[name] = self._values(name, k)
            if value[name] is not None:
                checked.finite(value[name], f"{self.path}: frame {k}: {name}")
        step, time = self._group["position/step"][k], self._group["position/time"][k]
        return Frame(int(step), float(time), box, value["position"].astype(float) + box.origin,
                     value["image"], value["velocity"], value["force"], species,
                     tuple(self.type_names), value["orientation"], value["angular_momentum"],
                     value["torque"], **self._beside(k), bodies=self._bodies(k),
                     units=self._all_units())

    def _bodies(self, k):
        """H5MD, into which GSD is converted, has no place for them."""
        if self._gsd is None:
            return None
        return hoomd_frame.bodies(self._gsd, k, self._particles, self.path)

    def _beside(self, k):
        """What is there once for all frames, mostly."""
        def numbers(name):
            value = self._parameter(name, k)
            return value if value is None else checked.finite(value, f"{self.path}: {name}")

        names = checked.find(self._file, "parameters/perrin/attributes")
        found = {name: self._values(name, k) for name in ("mass", "charge")}
        return {"masses": found["mass"], "charges": found["charge"],
                "diameters": numbers("diameter"),
                "moments_of_inertia": numbers("moment_of_inertia"),
                "attributes": {name: numbers("attributes/" + name) for name in names or ()},
                "molecules": numbers("molecule"),
                **{name: self._members(name, k) for name in LISTS}}

    def _parameter(self, name, k):
        found = self._perrin(name, None)
        if found is not None and not hasattr(found, "shape"):
            found = checked.check_size(checked.find(found, "value"))[k]
        return found if found is None or isinstance(found, np.ndarray) else found[:]

    def _members(self, name, k):
        rows = checked.find(self._file, "connectivity/" + name)
        width = {"bonds": 2, "angles": 3}.get(name, 4)
        if rows is None:
            return Members(np.zeros((0, width), int), np.zeros(0, int))
        types, names = self._perrin(f"{name}_type", None), self._perrin(f"{name}_type_names", None)
        if not hasattr(rows, "shape"):
            rows = checked.check_size(checked.find(rows, "value"))[k]
            if types is not None and not hasattr(types, "shape"):
                types = checked.check_size(checked.find(types, "value"))[k]
        ids, here = np.asarray(rows[:]), np.asarray(rows[:] >= 0).any(axis=1)
        where = f"{self.path}: /connectivity/{name}"
        ids = checked.members(ids[here].astype(np.int64), self._particles, where, self._ids)
        kinds = np.zeros(len(here), int) if types is None else np.asarray(types[:])
        return Members(ids, kinds[here], () if names is None else tuple(_texts(names)))

    def _all_units(self):
        units = self.units
        for name, place in (("mass", self._group.get("mass")), ("moment_of_inertia",
                            self._perrin("moment_of_inertia", None))):
            if hasattr(place, "attrs") and "unit" in place.attrs:
                units[name] = str(place.attrs["unit"])
        return units

    def _box(self, k):
        e = checked.finite(self._values("box/edges", k), f"{self.path}: frame {k}: the box")
        origin = self._perrin("box_origin", None)
        corner = np.zeros(3) if origin is None else origin["value"][k].astype(float)
        boundary = self._group["box"].attrs["boundary"]
        periodic = tuple((b.decode() if isinstance(b, bytes) else b) == "periodic"
                         for b in boundary)
        return Box(np.diag(e).copy(), np.array([e[1, 0], e[2, 0], e[2, 1]]), corner, periodic,
                   self._dimension, np.zeros(3))

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        elif self._file is not None:
            self._file.close()
        if self._gsd is not None:
            self._gsd.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Trajectory:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _require_file(self):
        if self._opened is not None:
            raise JobError(f"{self.path}: is a group of a file; Ensemble.extract() makes a file of "
                           "its own of it")

    def to_mdanalysis(self) -> Any:
        """An MDAnalysis Universe over the file, with types, masses and bonds."""
        self._require_file()
        if any(name.endswith(ABSENT) for name in self.type_names):
            raise JobError(f"{self.path}: particles come and go (\"reservoir\"), which a Universe "
                           "does not know: expected all to be there in every frame")
        import MDAnalysis
        universe = MDAnalysis.Universe.empty(self._particles, trajectory=True)
        universe.add_TopologyAttr("types", [self.type_names[t] for t in self[0].types])
        universe.add_TopologyAttr("masses", self.masses)
        universe.add_TopologyAttr("bonds", [tuple(map(int, b)) for b in self.bonds])
        universe.load_new(self._file.filename, format="H5MD", convert_units=bool(self.units))
        return universe

    def to_freud(self) -> Iterator[Tuple[Any, np.ndarray]]:
        """(freud.box.Box, points) of every frame, lazily: what freud takes as a system. Points are
        relative to the middle of the box; particles of a reservoir that are not there have none."""
        import freud
        for frame in self:
            (lx, ly, lz), (xy, xz, yz) = frame.box.lengths, frame.box.tilts
            box = freud.box.Box(lx, ly, lz if self._dimension == 3 else 0, xy / ly, xz / lz,
                                yz / lz, is2D=self._dimension == 2)
            middle = frame.box.origin + frame.box.edges.sum(axis=0) / 2
            points = (frame.positions - middle)[~absent(frame)].astype(np.float32)
            if self._dimension == 2:
                points[:, 2] = 0
            yield box, points

    def to_gsd(self, path: Union[str, os.PathLike[str]], overwrite: bool = False) -> None:
        """Writes a GSD file of all frames, as `perrin convert`. What GSD has no place for is named
        in a warning."""
        self._require_file()
        name = arguments.new_file(path, overwrite)
        for text in checked.convert(self.path, name, *["--overwrite"] * overwrite):
            warn(text.replace(": --precision", ": perrin convert --precision"))


def open(path: Union[str, os.PathLike[str]]) -> Trajectory:
    """A trajectory of the observer `trajectory`, or any file that `perrin convert` reads (GSD,
    extended XYZ, LAMMPS data and dumps, DCD, H5MD of other programs), also packed by gzip."""
    return Trajectory(path)


def thermo(path: Union[str, os.PathLike[str]] = "thermo.h5") -> Any:
    """A table of a run as a pandas DataFrame, with a row for each step and columns step, time and
    one for each observable; of tensors one for each component (pressure_tensor_xx, …). Units are in
    its attrs["units"]."""
    h5py = _h5py()
    path = arguments.existing_file(arguments.path(path, "path"), "a table of a run: what the "
                                   "observer \"thermo\" has written")
    if not h5py.is_hdf5(path):
        raise JobError(f"{path}: is no HDF5 file: expected a table of a run, such as thermo.h5")
    with h5py.File(path, "r") as file:
        return table_of(file, path)


def table_of(file: Any, where: str) -> Any:
    """The table in a file of h5py, or in a group that holds what a file does; `where` is it, for
    errors."""
    import pandas
    if "observables" not in file:
        raise JobError(f"{where}: is no table of a run: it has no /observables "
                       "(perrin.open() reads trajectories)")
    columns, units = {}, {}
    for name, group in file["observables"].items():
        if "value" not in group:
            continue
        values = group["value"][:]
        if "unit" in group["value"].attrs:
            units[name] = str(group["value"].attrs["unit"])
        if not columns:
            columns = {"step": group["step"][:], "time": group["time"][:]}
        for place in np.ndindex(values.shape[1:]):
            axes = "".join("xyz"[k] if values.shape[-1] == 3 else str(k) for k in place)
            columns[name + ("_" + axes if axes else "")] = values[(slice(None), *place)]
    table = pandas.DataFrame(columns)
    table.attrs["units"] = units
    return table
