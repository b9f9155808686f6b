"""Access to particles: copies by id, and views in memory order."""
from __future__ import annotations

import dataclasses
import types
import weakref
from typing import Any, List, Mapping, Tuple

import numpy as np

from perrin import show
from perrin.errors import StaleError


def read_only(array):
    """The same array. It is a copy: writing into it would change nothing, and numpy refuses it."""
    array.flags.writeable = False
    return array


@dataclasses.dataclass(repr=False, frozen=True)
class Box:
    """The simulation box: edges a = (lx, 0, 0), b = (xy, ly, 0), c = (xz, yz, lz), lower corner
    `origin`, all in units of length. Arrays of a simulation's box are read-only."""

    lengths: np.ndarray  # lx, ly, lz
    tilts: np.ndarray  # xy, xz, yz
    origin: np.ndarray
    periodic: Tuple[bool, ...]
    dimension: int
    padding: np.ndarray  # of axes that are not periodic, in units of the edge

    @classmethod
    def of(cls, d):
        lengths, tilts, origin, padding = (read_only(np.array(d[name])) for name in
                                           ("lengths", "tilts", "origin", "padding"))
        return cls(lengths, tilts, origin, tuple(d["periodic"]), d["dimension"], padding)

    def copy(self) -> Box:
        """One whose arrays can be written into."""
        return Box(self.lengths.copy(), self.tilts.copy(), self.origin.copy(), self.periodic,
                   self.dimension, self.padding.copy())

    def __repr__(self):
        return f"Box({show.box_text(self)})"

    @property
    def edges(self) -> np.ndarray:
        """The vectors a, b, c as rows; read-only."""
        (lx, ly, lz), (xy, xz, yz) = self.lengths, self.tilts
        return read_only(np.array([[lx, 0, 0], [xy, ly, 0], [xz, yz, lz]]))

    @property
    def volume(self) -> float:
        """Volume; in two dimensions an area."""
        return float(np.prod(self.lengths[:self.dimension]))

    def nearest(self, vectors: Any) -> np.ndarray:
        """The nearest images of vectors [..., 3] (length): exact if they are shorter than half
        the heights of the box."""
        v = np.array(vectors, dtype=float)
        if v.ndim == 0 or v.shape[-1] != 3:
            raise ValueError(f"nearest(): must be vectors of shape [..., 3], got shape {v.shape}")
        for axis in (2, 1, 0):
            if self.periodic[axis] and axis < self.dimension:
                edge = self.edges[axis]
                v -= np.round(v[..., axis:axis + 1] / edge[axis]) * edge
        return v

    @property
    def fixed_point(self):
        """(offset, matrix): points are offset + position[:, :3] @ matrix, of Local.position in
        float64."""
        stretch = np.where(self.periodic, 1, 1 + 2 * self.padding)
        edges = self.edges
        return self.origin - self.padding @ edges, edges * (stretch / 2.0**32)[:, None]


class LocalArray:
    """An array of the engine, without a copy: numpy.asarray(a) on the CPU; on a GPU what takes
    DLPack or __cuda_array_interface__ (torch.from_dlpack(a), cupy.asarray(a), jax).

    Every conversion checks that the particles have not been reordered, or raises StaleError.
    Earlier conversions remain views of the same memory: do not use them after a reordering.
    """

    def __init__(self, local, name):
        self._local, self._name = local, name

    def _native(self):
        self._local._check()
        return self._local._state.array(self._name)

    def __array__(self, dtype=None, copy=None):
        if self._local._state.device != "cpu":
            raise TypeError("this array is on a GPU: torch.from_dlpack(), cupy.asarray()")
        array = self._native()
        if not self._local._writable:
            array.flags.writeable = False
        if copy or (dtype is not None and array.dtype != dtype):
            return np.array(array, dtype=dtype)
        return array

    def __dlpack__(self, **arguments):
        return self._native().__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._native().__dlpack_device__()

    @property
    def __cuda_array_interface__(self):
        self._local._check()
        if self._local._state.device == "cpu":
            raise AttributeError("this array is on the CPU")
        address, shape, kind = self._local._state.address(self._name)
        # The device has been waited for: whatever stream reads it need not wait.
        return {"data": (address, not self._local._writable), "shape": tuple(shape),
                "typestr": kind, "version": 3, "stream": None}

    @property
    def shape(self):
        return tuple(self._local._state.address(self._name)[1])

    @property
    def dtype(self):
        return np.dtype(self._local._state.address(self._name)[2])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key):
        return np.asarray(self)[key]

    def __setitem__(self, key, value):
        np.asarray(self)[key] = value

    def __repr__(self):
        return f"LocalArray({self._name}, {self.shape}, {self.dtype})"


class Local:
    """Particles in memory order, on the simulation's device; valid until they are reordered, when
    neighbour lists are built, and until Simulation.set(); afterwards access raises StaleError."""

    def __init__(self, state, writable=False, view=None):
        self._state, self._writable = state, writable
        self._order = state.order
        self._view = None if view is None else weakref.ref(view)

    def _is_stale(self):
        view = self._view and self._view()  # Simulation.set() gives it a new state
        return self._state.order != self._order or (view and view._state is not self._state)

    def _names(self):
        names = ["position", "velocity", "force", "image", "id", "index"]
        if len(self._state.orientations):
            names += ["orientation", "angular_momentum", "moment_of_inertia", "torque"]
        return names

    def _kind(self):
        if self._is_stale():
            return "stale: the particles have been reordered since"
        return "may be changed" if self._writable else "to be read"

    def __repr__(self):
        return (f"<perrin.Local: {self._state.size} particles in memory order, "
                f"{self._state.device}; {', '.join(self._names())}; {self._kind()}>")

    def _repr_html_(self):
        rows = [(name, f"{array.dtype} {list(array.shape)}") for name, array in
                ((name, LocalArray(self, name)) for name in self._names())]
        return show.page(f"perrin.Local: {self._state.size} particles in memory order", [
            ("device", self._state.device), ("arrays", self._kind()), *rows])

    def _check(self):
        if self._is_stale():
            raise StaleError("the particles have been reordered in memory since: use "
                             "sim.local again")

    @property
    def position(self):
        """uint32 [n, 4]: the fraction of the (padded) box along x, y, z in units of 2^-32; the
        fourth word has remainders below that and the type (its highest byte)."""
        return LocalArray(self, "position")

    @property
    def velocity(self):
        """[n, 4]: velocity (length/time) and 1/mass."""
        return LocalArray(self, "velocity")

    @property
    def force(self):
        """[n, 4]: force (energy/length); the fourth number has no meaning between steps."""
        return LocalArray(self, "force")

    @property
    def orientation(self):
        """[n, 4]: unit quaternion x, y, z, w from the particle's frame to space. This and the
        following three: of particles that have orientations."""
        return LocalArray(self, "orientation")

    @property
    def angular_momentum(self):
        """[n, 4]: in the particle's frame (mass length^2/time); the fourth number is not used."""
        return LocalArray(self, "angular_momentum")

    @property
    def moment_of_inertia(self):
        """[n, 4]: about the axes of the particle's frame (mass length^2)."""
        return LocalArray(self, "moment_of_inertia")

    @property
    def torque(self):
        """[n, 4]: in space (energy); the fourth number is not used."""
        return LocalArray(self, "torque")

    @property
    def image(self):
        """int32 [n, 3]: crossings of the box."""
        return LocalArray(self, "image")

    @property
    def id(self):
        """uint32 [n]: the id of the particle at each place in memory."""
        return LocalArray(self, "id")

    @property
    def index(self):
        """uint32 [n]: the place in memory of each id."""
        return LocalArray(self, "index")

    @property
    def points(self):
        """float64 [n, 3] in memory order, wrapped into the box (length); a copy, read-only. Set
        within Simulation.changing(), they are rounded to fixed point."""
        self._check()
        return read_only(self._state.positions[self._ids()])

    @points.setter
    def points(self, rows):
        self._check_writable()
        self._state.set_positions(np.asarray(rows, dtype=float), by_id=False, unwrapped=False)

    def _ids(self):
        return self._state.ids

    def _check_writable(self):
        self._check()
        if not self._writable:
            raise ValueError("particles can be changed only within Simulation.changing()")


class View:
    """Particles between two steps, or those that a PythonForce is given.

    Arrays by id are copies, float64, in the units of the job. They are read-only: writing into
    one would change no particle. numpy.array(view.positions) can be written into.
    """

    def __init__(self, state):
        self._state = state

    @property
    def step(self) -> int:
        """Steps since the beginning of the job."""
        return self._state.step

    @property
    def time(self) -> float:
        """Simulated time."""
        return self._state.time

    @property
    def positions(self) -> np.ndarray:
        """[n, 3] by id, wrapped into the box (length)."""
        return read_only(self._state.positions)

    @property
    def unwrapped(self) -> np.ndarray:
        """[n, 3] by id, without jumps at the faces of the box (length)."""
        return read_only(self._state.unwrapped)

    @property
    def velocities(self) -> np.ndarray:
        """[n, 3] by id (length/time)."""
        return read_only(self._state.velocities)

    @property
    def images(self) -> np.ndarray:
        """int32 [n, 3] by id: crossings of the box."""
        return read_only(self._state.images)

    @property
    def types(self) -> np.ndarray:
        """uint32 [n] by id: index into type_names."""
        return read_only(self._state.types)

    @property
    def type_names(self) -> List[str]:
        return self._state.type_names

    @property
    def masses(self) -> np.ndarray:
        """[n] by id."""
        return read_only(self._state.masses)

    @property
    def charges(self) -> np.ndarray:
        """[n] by id; [0] if the system has none."""
        return read_only(self._state.charges)

    @property
    def diameters(self) -> np.ndarray:
        """[n] by id (length); [0] if the system has none."""
        return read_only(self._state.diameters)

    @property
    def orientations(self) -> np.ndarray:
        """[n, 4] by id: unit quaternions w, x, y, z that turn vectors of a particle's own frame
        into space; [0, 4] if particles have no orientations."""
        return read_only(self._state.orientations)

    @property
    def angular_momenta(self) -> np.ndarray:
        """[n, 3] by id, in the frame of each particle (mass length^2/time); [0, 3] without
        orientations."""
        return read_only(self._state.angular_momenta)

    @property
    def moments_of_inertia(self) -> np.ndarray:
        """[n, 3] by id, about the axes of the frame of each particle (mass length^2); [0, 3]
        without orientations."""
        return read_only(self._state.moments_of_inertia)

    @property
    def attributes(self) -> Mapping[str, np.ndarray]:
        """Those of the job by their names: [n] by id; read-only."""
        return types.MappingProxyType({name: read_only(values) for name, values in
                                       self._state.attributes.items()})

    @property
    def box(self) -> Box:
        return Box.of(self._state.box)

    @property
    def local(self) -> Local:
        """Views in memory order, without copies."""
        return Local(self._state, view=self)

    @property
    def device(self) -> str:
        """"cpu" or "cuda:0"."""
        return self._state.device

    @property
    def stream(self) -> int:
        """The CUDA stream of the simulation (torch.cuda.ExternalStream); 0 on the CPU."""
        return self._state.stream

    def __len__(self) -> int:
        return self._state.size


class Totals:
    """Energies, temperature, pressure, momentum and tensors, by name."""

    potential: float
    kinetic: float
    rotational: float
    total: float
    temperature: float
    pressure: float
    pressure_tensor: np.ndarray
    virial: np.ndarray
    kinetic_tensor: np.ndarray
    momentum: np.ndarray
    heat: float
    work: float

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: totals are of one instant, and setting them changes no "
                             "particle")

    def __repr__(self):
        return "Totals(" + ", ".join(
            f"{name}={show.number(getattr(self, name))}" for name in
            ("potential", "kinetic", "total", "temperature", "pressure")) + ", …)"

    def _repr_html_(self):
        return show.table([(name, show.number(value) if np.ndim(value) == 0 else
                            " ".join(show.number(x) for x in np.ravel(value)))
                           for name, value in vars(self).items()])


def totals_of(d) -> Totals:
    d = dict(d)
    for key in ("pressure_tensor", "virial", "kinetic_tensor", "momentum"):
        d[key] = np.array(d[key])
    return Totals(**d)
