"""Methods of PySAGES as a force of a job:

    bias = pysages_force(method, timestep=0.005)
    sim = perrin.Simulation({**job, "forces": [*job["forces"], bias]})
    sim.run(10_000)
    pysages.analyze(bias.result())

PySAGES and jax are needed. Method, collective variables and results are PySAGES's own; its numbers
are single precision unless jax is told otherwise (jax_enable_x64).
"""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from perrin.errors import JobError
from perrin.python_force import PythonForce


class _Sampler:
    """What the engine calls: it updates the method once for each step."""

    def __init__(self, method: Any, timestep: float, callback: Optional[Callable]) -> None:
        self.method, self.callback = method, callback
        self.timestep, self.state, self.snapshot = timestep, None, None
        self._update: Any = None
        self._step, self._seen, self._last = -1, None, None
        if hasattr(method, "states"):  # a Result goes on
            if len(method.states) != 1:
                raise JobError(f"pysages_force(): a result of {len(method.states)} replicas: "
                               "expected one")
            self.method, self.state = method.method, method.states[0]

    def __repr__(self) -> str:
        return f"PySAGES: {type(self.method).__name__}"

    def __call__(self, particles):
        # A force may be asked for twice at a step; a hill is put down once.
        if particles.step == self._step and np.array_equal(particles.positions, self._seen):
            return self._last
        if self._update is None:
            self._begin(particles)
        if len(particles) != len(self._ids):
            raise JobError(f"pysages_force(): the method has begun with {len(self._ids)} particles,"
                           f" got {len(particles)}: expected a pysages_force() for each simulation")
        self.snapshot = self._snapshot_of(particles)
        self.state = self._update(self.snapshot, self.state)
        if self.callback:
            self.callback(self.snapshot, self.state, particles.step)
        self._step, self._seen = particles.step, particles.positions
        bias = self.state.bias
        self._last = np.zeros((len(particles), 3)) if bias is None else np.asarray(bias, float)
        return self._last

    def _snapshot_of(self, particles):
        from jax import numpy as jnp
        from pysages.backends.snapshot import Box, Snapshot
        return Snapshot(jnp.asarray(particles.unwrapped),
                        (jnp.asarray(particles.velocities),
                         jnp.asarray(particles.masses).reshape(-1, 1)), self._zeros, self._ids,
                        Box(particles.box.edges.T, particles.box.origin), self.timestep)

    def _begin(self, particles):
        from jax import jit, numpy as jnp
        from pysages.backends.snapshot import HelperMethods, SnapshotMethods, build_data_querier
        if particles.box.dimension == 2:
            raise JobError("pysages_force(): PySAGES takes boxes of three dimensions")
        self._zeros, self._ids = jnp.zeros((len(particles), 3)), jnp.arange(len(particles))
        methods = SnapshotMethods(
            jit(lambda s: s.positions), jit(lambda s: s.ids),
            jit(lambda s: (s.vel_mass[0] * s.vel_mass[1]).flatten()), jit(lambda s: s.vel_mass[1]))
        helpers = HelperMethods(build_data_querier(methods, self.method.snapshot_flags), lambda: 3)
        _, initialize, self._update = self.method.build(self._snapshot_of(particles), helpers)
        if self.state is None:
            self.state = initialize()


class PySAGESForce(PythonForce):
    """A PythonForce that has a method of PySAGES behind it."""

    @property
    def state(self) -> Any:
        """Of the method, after the last step; None before the first."""
        return self.function.state

    def result(self) -> Any:
        """For pysages.analyze() and pysages.save(), and to go on: pysages_force(result, …)."""
        from pysages.methods.core import Result
        made = self.function
        if made.state is None:
            raise JobError("pysages_force(): there is no result before a step has been made")
        return Result(made.method, [made.state],
                      None if made.callback is None else [made.callback], [made.snapshot])


def pysages_force(method: Any, *, timestep: float, callback: Optional[Callable] = None,
                  conserves_momentum: bool = False) -> PySAGESForce:
    """`method`: a sampling method of PySAGES, or the result of an earlier run, to go on with.
    `timestep` is that of the integrator, `callback(snapshot, state, step)` as that of
    pysages.run(). Atoms count from 0; positions have no jumps at the faces of the box. The method
    has no energy and no virial: energy and pressure are those of the other forces."""
    return PySAGESForce(_Sampler(method, timestep, callback),
                        conserves_momentum=conserves_momentum)
