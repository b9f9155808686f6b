"""A frame as an H5MD file with all its digits, which the engine reads with all its checks."""
from __future__ import annotations

import numpy as np

from perrin.errors import JobError

LISTS = ("bonds", "angles", "dihedrals", "impropers")
ABSENT = " (absent)"  # ends the names of types of particles that are not there (of a reservoir)


def _rows(frame, name, width):
    """Its numbers, if they have the shape that they must have; None: there are none."""
    values = getattr(frame, name)
    if values is None:
        return None
    shape = (len(frame), width) if width > 1 else (len(frame),)
    if np.shape(values) != shape:
        raise JobError(f"the frame: {name}: must be an array of shape {shape}, "
                       f"got {np.shape(values)}")
    if np.iscomplexobj(values) or np.ma.is_masked(values):
        raise JobError(f"the frame: {name}: must be numbers, got complex or masked ones")
    return np.asarray(values)


def _whole(values, least, most, where):
    """The same, if all are whole numbers within these limits, which files of frames keep."""
    values = np.asarray(values)
    wrong = np.argwhere(~((values >= least) & (values <= most) & (values == np.rint(values))))
    if len(wrong):
        place = tuple(int(k) for k in wrong[0])
        raise JobError(f"the frame: {where}: {values[place]} at {list(place)}, expected a whole "
                       f"number from {least} to {most}")
    return values


def _whole_rows(frame, name, width, least, most):
    values = _rows(frame, name, width)
    return values if values is None else _whole(values, least, most, name)


def forces_of(frame):
    """"forces and torques": which of them it has; files of frames have no place for them."""
    return " and ".join(name for name in ("forces", "torques") if getattr(frame, name) is not None)


def _check_types(types, names, where):
    """Numbers of types have names; without any, 0 is one."""
    types = np.asarray(types)
    wrong = np.flatnonzero((types < 0) | (types >= max(len(names), 1)) | (types != np.rint(types)))
    if len(wrong):
        raise JobError(f"the frame: {where}: {types[wrong[0]]} at [{wrong[0]}], expected 0 to "
                       f"{max(len(names), 1) - 1}: type_names are "
                       f"{', '.join(map(str, names)) or 'none'}")


def check_types(frame):
    """Of particles, bonds and so on."""
    _check_types(frame.types, frame.type_names, "types")
    for name in LISTS:
        list_ = getattr(frame, name)
        _check_types(list_.types, list_.type_names, f"{name}.types")


def absent(frame):
    """[n] of bool: particles that are not there."""
    check_types(frame)
    names = np.array([name.endswith(ABSENT) for name in frame.type_names] or [False])
    return names[frame.types]


def _texts(names):
    return np.array([str(name).encode() for name in names])


class _File:
    def __init__(self, file, frame, units):
        self.file, self.frame = file, frame
        self.units = units
        self.group = file.create_group("particles/all")

    def series(self, path, values, kind, unit=""):
        """An element with one frame."""
        if values is None:
            return None
        group = self.file.create_group(path)
        group["value"] = np.asarray(values)[None].astype(kind)
        if path == "particles/all/position":
            group["step"] = np.array([self.frame.step], np.int64)
            group["time"] = np.array([self.frame.time], np.float64)
            if "time" in self.units:
                group["time"].attrs["unit"] = self.units["time"]
        else:
            group["step"], group["time"] = (self.group["position/" + name]
                                            for name in ("step", "time"))
        if self.units.get(unit):
            group["value"].attrs["unit"] = self.units[unit]
        return group

    def fixed(self, path, values, kind, unit=""):
        if values is None:
            return
        self.file[path] = np.asarray(values).astype(kind)
        if self.units.get(unit):
            self.file[path].attrs["unit"] = self.units[unit]

    def box(self):
        box = self.frame.box
        group = self.group.create_group("box")
        group.attrs["dimension"] = np.int32(3)
        periodic = [p and not (box.dimension == 2 and axis == 2)
                    for axis, p in enumerate(box.periodic)]
        group.attrs["boundary"] = _texts("periodic" if p else "none" for p in periodic)
        self.series("particles/all/box/edges", box.edges, np.float64, "position")
        self.series("parameters/perrin/box_origin", box.origin, np.float64, "position")
        self.file["parameters/perrin/dimension"] = np.int32(box.dimension)

    def particles(self):
        frame, f8 = self.frame, np.float64
        inside = _rows(frame, "positions", 3) - frame.box.origin
        if frame.box.dimension == 2:
            inside[:, 2] = 0.5
        self.series("particles/all/position", inside, f8, "position")
        self.box()
        self.series("particles/all/image", _whole_rows(frame, "images", 3, -2**31, 2**31 - 1),
                    np.int32)
        self.series("particles/all/velocity", _rows(frame, "velocities", 3), f8, "velocity")
        turned = self.series("particles/all/orientation", _rows(frame, "orientations", 4), f8)
        if turned is not None:
            turned.attrs["components"] = _texts("wxyz")
        spins = self.series("particles/all/angular_momentum", _rows(frame, "angular_momenta", 3),
                            f8, "angular_momentum")
        if spins is not None:
            spins.attrs["frame"] = "particle"
        types = _rows(frame, "types", 1)
        self.fixed("particles/all/species", types, np.int32)
        self.fixed("particles/all/mass", _rows(frame, "masses", 1), f8, "mass")
        self.fixed("particles/all/charge", _rows(frame, "charges", 1), f8)
        self.fixed("particles/all/id", np.where(absent(frame), -1, np.arange(len(frame))),
                   np.int32)

    def parameters(self):
        frame, own = self.frame, "parameters/perrin/"
        self.file[own + "type_names"] = _texts(frame.type_names)
        self.fixed(own + "molecule", _whole_rows(frame, "molecules", 1, 0, 2**32 - 1), np.uint32)
        self.fixed(own + "diameter", _rows(frame, "diameters", 1), np.float64, "position")
        self.fixed(own + "moment_of_inertia", _rows(frame, "moments_of_inertia", 3), np.float64,
                   "moment_of_inertia")
        if frame.bodies is not None and not frame.sites.any():
            self.file[own + "no_sites"] = np.int32(1)  # it is known that no particle is one
        for name, values in frame.attributes.items():
            self.fixed(f"{own}attributes/{name}", values, np.float64)
        for name in LISTS:
            list_ = getattr(frame, name)
            if not len(list_):
                continue
            if np.shape(list_.types) != (len(list_),):
                raise JobError(f"the frame: {name}.types: must be an array of shape "
                               f"({len(list_)},), got {np.shape(list_.types)}")
            ids = _whole(list_.ids, 0, len(frame) - 1, f"{name}.ids")
            self.fixed("connectivity/" + name, ids, np.int32)
            self.file["connectivity/" + name].attrs["particles_group"] = self.group.ref
            self.fixed(f"{own}{name}_type", list_.types, np.int32)
            self.file[f"{own}{name}_type_names"] = _texts(list_.type_names)


def write(frame, path, units=None):
    """`units`: those that the file names; None: those of the frame."""
    try:
        import h5py
    except ImportError:
        raise JobError("frames are written by h5py: pip install h5py") from None
    with h5py.File(path, "w") as file:
        head = file.create_group("h5md")
        head.attrs["version"] = np.array([1, 1], np.int32)
        head.create_group("author").attrs["name"] = "Perrin"
        head.create_group("creator").attrs["name"] = "Perrin"
        made = _File(file, frame, frame.units if units is None else units)
        made.particles()
        made.parameters()
