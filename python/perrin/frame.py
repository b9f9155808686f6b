"""Particles at one instant: frames of trajectories, of a simulation, and what a job starts from."""
from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from perrin import arguments, checked, frame_file, show
from perrin.errors import JobError, warn
from perrin.view import Box, read_only

Path = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass
class Members:
    """Bonds, angles, dihedrals or impropers."""

    ids: np.ndarray  # [m, 2], [m, 3] or [m, 4]
    types: np.ndarray  # [m]: index into type_names
    type_names: Tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


def _no(width):
    return dataclasses.field(default_factory=lambda: Members(np.zeros((0, width), int),
                                                             np.zeros(0, int)))


@dataclasses.dataclass(repr=False)
class Frame:
    """Particles at one instant; arrays are by id, None where there is nothing of the kind. Lengths,
    times and so on are in `units`.

    A simulation starts from one that is the "system" of its job.
    """

    step: int
    time: float
    box: Box
    positions: np.ndarray  # [n, 3], in the coordinates of the simulation
    images: Optional[np.ndarray]
    velocities: Optional[np.ndarray]
    forces: Optional[np.ndarray]
    types: np.ndarray  # index into type_names
    type_names: Tuple[str, ...] = ()
    orientations: Optional[np.ndarray] = None  # [n, 4]: w, x, y, z
    angular_momenta: Optional[np.ndarray] = None  # in the frame of each particle
    torques: Optional[np.ndarray] = None  # in space
    masses: Optional[np.ndarray] = None
    charges: Optional[np.ndarray] = None
    diameters: Optional[np.ndarray] = None
    moments_of_inertia: Optional[np.ndarray] = None  # [n, 3], in the frame of each particle
    attributes: Dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    molecules: Optional[np.ndarray] = None  # [n]: numbers
    bonds: Members = _no(2)
    angles: Members = _no(3)
    dihedrals: Members = _no(4)
    impropers: Members = _no(4)
    bodies: Optional[np.ndarray] = None  # [n]: id of the centre of its rigid body, -1: in none
    constraints: Optional[np.ndarray] = None  # [m, 2]: particles that keep their distance
    constraint_lengths: Optional[np.ndarray] = None  # [m]
    units: Dict[str, str] = dataclasses.field(default_factory=dict)  # empty: reduced
    job_units: Any = None  # "units" of the job of the simulation that it is of

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self):
        has = [name for name in ("images", "velocities", "forces", "orientations",
                                 "angular_momenta", "torques", "bodies", "constraints")
               if getattr(self, name) is not None]
        has += [f"{len(getattr(self, name))} {name}" for name in frame_file.LISTS
                if len(getattr(self, name))]
        return (f"Frame(step {self.step}, time {show.number(self.time)}, {len(self)} particles, "
                f"box {show.box_text(self.box)}{''.join(', ' + name for name in has)})")

    def _repr_html_(self):
        return show.page(f"frame at step {self.step}", [
            ("time", show.number(self.time)),
            ("particles", show.counts(self.types, self.type_names)),
            ("box", show.box_text(self.box))], self.picture(), show.thinned(len(self)))

    def picture(self, width: float = 420) -> str:
        """An SVG of the particles in their box, coloured by type."""
        return show.picture(self.positions, self.types, self.type_names, self.box, width)

    @property
    def unwrapped(self) -> np.ndarray:
        """Positions without jumps at the faces of the box: a copy, read-only."""
        if self.images is None:
            return read_only(np.array(self.positions))
        return read_only(self.positions + self.images @ self.box.edges)

    def save(self, path: Path, overwrite: bool = False) -> None:
        """Writes a file of this frame, in the format of its name: H5MD (.h5), in which numbers keep
        all their digits, or what `perrin convert` writes. Of rigid bodies and constraints a GSD
        file is as to_gsd() writes it. What a format has no place for is named in a warning."""
        name = arguments.new_file(path, overwrite)
        extension = os.path.splitext(name)[1]
        if held := self._held():
            if extension == ".gsd":
                return self.to_gsd(name, overwrite)
            warn(f"{name}: the {held} of the frame are left out: GSD files (.gsd) have them")
        if left_out := frame_file.forces_of(self):
            warn(f"{name}: the {left_out} of the frame are left out")
        if extension in (".h5", ".h5md", ".hdf5"):
            return frame_file.write(self, name)
        with tempfile.TemporaryDirectory(prefix="perrin_") as folder:
            whole = os.path.join(folder, "frame.h5")
            frame_file.write(self, whole)
            more = ["--overwrite"] * overwrite + ["--precision", "single"] * (extension == ".gsd")
            for text in checked.convert(whole, name, *more):
                warn(text.replace(whole, "the frame"))

    def _held(self):
        """What holds particles at their distances: "rigid bodies and constraints"."""
        some = {"rigid bodies": self.sites.any(),
                "constraints": self.constraints is not None and len(self.constraints) > 0}
        return " and ".join(name for name, here in some.items() if here)

    def to_gsd(self, path: Path, overwrite: bool = False) -> None:
        """Writes a GSD file of this frame, with rigid bodies and constraints (needs gsd)."""
        from perrin import hoomd_frame
        hoomd_frame.write(self, arguments.new_file(path, overwrite))

    def to_hoomd(self) -> Any:
        """A gsd.hoomd.Frame (needs gsd): numbers become float32 when it is written, and the origin
        is the middle of the box. Attributes are in its log. A warning names what it has no place
        for."""
        from perrin import hoomd_frame
        if axes := hoomd_frame.open_axes(self.box):
            warn(f"gsd.hoomd takes all axes as periodic: {axes} of this frame")
        return hoomd_frame.of(self)

    def without(self, left_out: np.ndarray) -> Frame:
        """Without some particles ([n] of bool); the others are numbered anew, in their order."""
        left_out = np.asarray(left_out)
        if left_out.dtype != bool or left_out.shape != (len(self),):
            raise JobError(f"without(): must be an array of bool of shape ({len(self)},), got "
                           f"shape {left_out.shape} in {left_out.dtype}")
        kept = ~left_out
        number = np.cumsum(kept) - 1
        made = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in frame_file.LISTS:
                here = kept[value.ids].all(axis=1)
                value = Members(number[value.ids[here]], value.types[here], value.type_names)
            elif field.name == "attributes":
                value = {name: numbers[kept] for name, numbers in value.items()}
            elif field.name == "bodies" and value is not None:
                value = np.where(value >= 0, number[value], -1)[kept]
            elif isinstance(value, np.ndarray) and not field.name.startswith("constraint"):
                value = value[kept]
            made[field.name] = value
        if self.constraints is not None and self.constraint_lengths is not None:
            here = kept[self.constraints].all(axis=1)
            made["constraints"] = number[self.constraints[here]]
            made["constraint_lengths"] = self.constraint_lengths[here]
        return Frame(**made)

    @property
    def sites(self) -> np.ndarray:
        """[n] of bool: particles that the centre of a rigid body carries."""
        if self.bodies is None:
            return np.zeros(len(self), bool)
        return (self.bodies >= 0) & (self.bodies != np.arange(len(self)))


def _units_of(names):
    """As H5MD files name them."""
    length, mass, time = names
    if not length:
        return {}
    words = [f"{1 / float(word):.15g}" if word[0].isdigit() else word + "-1"
             for word in time.split()]
    per_time = " ".join(words)
    return {"position": length, "time": time, "velocity": f"{length} {per_time}", "mass": mass,
            "angular_momentum": f"{mass} {length}2 {per_time}",
            "moment_of_inertia": f"{mass} {length}2"}


def of_simulation(sim: Any, units: List[str], job_units: Any) -> Frame:
    """The present state, in arrays that can be written into."""
    state, topology = sim._state, sim._state.topology
    turns = len(state.orientations) > 0

    def some(array):
        return array if len(array) else None

    pairs, lengths = topology["constraints"]
    return Frame(
        sim.step, sim.time, sim.box.copy(), state.positions, state.images, state.velocities, None,
        state.types, tuple(state.type_names), some(state.orientations),
        some(state.angular_momenta), None, state.masses, some(state.charges),
        some(state.diameters), state.moments_of_inertia if turns else None, state.attributes,
        some(topology["molecules"]),
        *(Members(ids.astype(np.int64), types, tuple(names))
          for ids, types, names in (topology[name] for name in frame_file.LISTS)),
        some(topology["bodies"]), some(pairs.astype(np.int64)), some(lengths), _units_of(units),
        job_units)
