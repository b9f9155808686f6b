"""Methods of PySAGES through a PythonForce, against the same bias of the engine and against free
energies that are known. Needs PySAGES, which PyPI has not (docs/guide/interoperability.md)."""
import numpy as np
import pytest

import perrin
from conftest import GAS_TIMESTEP as TIMESTEP

pysages = pytest.importorskip("pysages")
from perrin.pysages import pysages_force  # noqa: E402


def test_it_is_the_bias_of_the_engine(gas):
    """A spring between centres of mass of groups, beside the force group_restraint; to the single
    precision of jax and 300 steps."""
    spring = {"type": "group_restraint", "groups": ["one", "two"], "stiffness": 40, "length": 3}
    job = {**gas, "groups": {"one": {"ids": list(range(8))}, "two": {"ids": list(range(30, 36))}}}
    distance = pysages.colvars.Distance([list(range(8)), list(range(30, 36))])
    bias = pysages_force(pysages.methods.HarmonicBias([distance], 40.0, [3.0]), timestep=TIMESTEP,
                         conserves_momentum=True)
    assert repr(bias) == "PythonForce(PySAGES: HarmonicBias, conserves_momentum=True)"
    with pytest.raises(perrin.JobError, match="no result before a step"):
        bias.result()
    own = perrin.Simulation({**job, "forces": [spring]})
    other = perrin.Simulation({**job, "forces": [bias]})
    np.testing.assert_allclose(other.forces, own.forces, atol=1e-5 * np.abs(own.forces).max())
    for sim in (own, other):
        sim.run(300)
    np.testing.assert_allclose(other.positions, own.positions, atol=2e-4)
    now = own.unwrapped
    length = np.linalg.norm(now[30:36].mean(0) - now[:8].mean(0))
    assert float(bias.state.xi[0][0]) == pytest.approx(length, abs=1e-3)


def test_the_method_is_called_once_for_a_step(gas):
    """Callbacks see every step, and results go on where they were."""
    seen = []
    grid = pysages.Grid(lower=(0.5,), upper=(6.0,), shape=(32,))
    method = pysages.methods.Metadynamics([pysages.colvars.Distance([3, 17])], 0.2, 0.3, 5, 20,
                                          grid=grid)
    bias = pysages_force(method, timestep=TIMESTEP,
                         callback=lambda snapshot, state, step: seen.append(step))
    sim = perrin.Simulation({**gas, "forces": [bias]})
    sim.run(20)
    assert seen == list(range(21))
    found = bias.result()
    assert found.states[0].idx == 4 and found.callbacks == [found.callbacks[0]]
    more = pysages_force(found, timestep=TIMESTEP)
    perrin.Simulation({**gas, "forces": [more]}).run(10)
    assert more.state.ncalls == bias.state.ncalls + 11 and more.state.idx > 4


def test_the_mean_force_of_a_trap(liquid):
    """Adaptive biasing force of a particle in a harmonic trap, which takes the change of momenta
    for the force: -k x. Noise of the bath in a bin of n steps: sqrt(2 friction kT/dt/n); the bound
    is five times that of the slope over all bins."""
    k, friction, dt, steps = 5.0, 0.5, 0.02, 8000
    job = {**liquid, "system": {"type": "random", "particles": {"A": 1}, "box": [20, 20, 20]},
           "velocity": {"temperature": 1.0},
           "stages": [{"type": "md", "integrator": {"type": "langevin", "timestep": dt,
                                                    "temperature": 1.0, "friction": friction}}]}
    grid = pysages.Grid(lower=(10.0,), upper=(12.0,), shape=(16,))
    method = pysages.methods.ABF([pysages.colvars.Component([0], 0)], grid, N=50)
    bias = pysages_force(method, timestep=dt)
    trap = {"type": "harmonic_trap", "stiffness": [k, k, k], "center": [11, 10, 10]}
    sim = perrin.Simulation({**job, "forces": [trap, bias]})
    sim.positions = [[11, 10, 10]]
    sim.run(steps)
    found = pysages.analyze(bias.result())
    count = np.array(found["histogram"]).ravel()
    x, mean = np.array(found["mesh"]).ravel() - 11, np.array(found["mean_force"]).ravel()
    slope = np.sum(count * x * mean) / np.sum(count * x * x)
    error = np.sqrt(2 * friction / dt / np.sum(count * x * x))
    assert -slope == pytest.approx(k, abs=5 * error) and error < 0.25


def test_flat_boxes_are_refused(liquid):
    flat = {**liquid, "system": {"type": "random", "particles": {"A": 9}, "box": [9, 9],
                                 "dimension": 2, "min_distance": 1}}
    method = pysages.methods.HarmonicBias([pysages.colvars.Distance([0, 1])], 1.0, [1.0])
    with pytest.raises((perrin.JobError, perrin.RunError), match="three dimensions"):
        perrin.Simulation({**flat, "forces": [pysages_force(method, timestep=0.01)]}).run(1)
