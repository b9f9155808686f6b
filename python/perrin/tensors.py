"""The argument of a captured function."""
from __future__ import annotations

import functools

from perrin.view import Box


class Tensors:
    """Particles as tensors of PyTorch by id, float64, in the units of the job, on the simulation's
    device. On a GPU their memory is the same in every step, and computations with them are
    repeated in every step; `types`, `masses`, `charges`, `diameters` and the box are constant."""

    def __init__(self, state, arrays=None):
        self._state, self._arrays = state, arrays

    @staticmethod
    def module():
        try:
            import torch
        except ImportError as error:
            raise ImportError("PythonForce(captured=True) needs PyTorch") from error
        return torch

    def __len__(self):
        return self._state.size

    def __repr__(self):
        return f"<perrin.Tensors: {len(self)} particles by id, {self._state.device}>"

    def _moving(self, name):
        torch = self.module()
        if self._arrays is None:
            return torch.from_numpy(getattr(self._state, name))
        return torch.from_dlpack(self._arrays.array(name))

    def _constant(self, array):
        return self.module().as_tensor(array, device=self.device)

    @functools.cached_property
    def device(self):
        return self.module().device(self._state.device)

    @functools.cached_property
    def positions(self):
        """[n, 3], wrapped into the box (length)."""
        return self._moving("positions")

    @functools.cached_property
    def unwrapped(self):
        """[n, 3], without jumps at the faces of the box (length)."""
        return self._moving("unwrapped")

    @functools.cached_property
    def velocities(self):
        """[n, 3] (length/time)."""
        return self._moving("velocities")

    @functools.cached_property
    def step(self):
        """Steps since the beginning of the job: one int64."""
        if self._arrays is None:
            return self.module().tensor(self._state.step)
        return self._moving("step")[0]

    @functools.cached_property
    def types(self):
        """int64 [n]: index into type_names."""
        return self._constant(self._state.types.astype("int64"))

    @property
    def type_names(self):
        return self._state.type_names

    @functools.cached_property
    def masses(self):
        """[n]."""
        return self._constant(self._state.masses)

    @functools.cached_property
    def charges(self):
        """[n]; [0] if the system has none."""
        return self._constant(self._state.charges)

    @functools.cached_property
    def diameters(self):
        """[n] (length); [0] if the system has none."""
        return self._constant(self._state.diameters)

    @functools.cached_property
    def box(self) -> Box:
        return Box.of(self._state.box)

    @functools.cached_property
    def _edges(self):
        return self._constant(self.box.edges.copy())  # torch takes no read-only arrays

    def nearest(self, vectors):
        """The nearest images of vectors [..., 3] (length): exact if they are shorter than half
        the heights of the box."""
        for axis in (2, 1, 0):
            if self.box.periodic[axis] and axis < self.box.dimension:
                edge = self._edges[axis]
                turns = (vectors[..., axis:axis + 1] / edge[axis]).round()
                vectors = vectors - turns * edge
        return vectors
