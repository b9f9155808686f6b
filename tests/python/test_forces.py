"""Forces that Python computes, against the engine's own and against what is known."""
import gc

import numpy as np
import pytest

import perrin
from conftest import DEVICE, assert_runs_as_the_engine_s


@pytest.fixture
def gas():
    """20 particles that do not interact, in a wide box."""
    return {"seed": 3, "device": DEVICE,
            "system": {"type": "random", "particles": {"A": 20}, "box": [20, 20, 20],
                       "min_distance": 0.5},
            "velocity": {"temperature": 1.0}, "forces": [],
            "stages": [{"type": "md",
                        "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}


def spring(particles):
    r = particles.positions
    return -2 * r, np.sum(r**2)


def test_a_trap_is_that_of_the_engine(gas):
    own = perrin.Simulation({**gas, "forces": [{"type": "harmonic_trap", "stiffness": [2, 2, 2]}]})
    python = perrin.Simulation({**gas, "forces": [perrin.PythonForce(spring)]})
    start, velocities = python.positions, python.velocities
    for sim in (own, python):
        sim.run(100)
    np.testing.assert_allclose(python.positions, own.positions, atol=1e-5)
    assert python.totals.potential == pytest.approx(own.totals.potential, rel=1e-5)
    assert python.totals.potential == pytest.approx(np.sum(python.positions**2), rel=1e-6)
    assert python.totals.virial == pytest.approx(np.zeros(6))
    # r(t) of an oscillator of frequency sqrt(2).
    w, t = np.sqrt(2), 0.5
    exact = start * np.cos(w * t) + velocities / w * np.sin(w * t)
    np.testing.assert_allclose(python.positions, exact, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_in_memory_order(liquid, dtype):
    def field(r):
        return np.stack([np.sin(r[:, 0]), np.zeros(len(r)), r[:, 2]], axis=1)

    def local(particles):
        rows = np.zeros((len(particles), 5), dtype)[:, 1:4]  # not contiguous
        rows[:] = field(particles.local.points)
        return rows

    by_id = lambda particles: field(particles.positions).astype(dtype)
    sims = []
    for force in (perrin.PythonForce(by_id), perrin.PythonForce(local, local=True)):
        sims.append(perrin.Simulation({**liquid, "forces": liquid["forces"] + [force]}))
    for sim in sims:
        sim.run(50)  # memory has been sorted meanwhile
    np.testing.assert_array_equal(sims[0].positions, sims[1].positions)


def test_energy_and_virial_of_a_pair_force(liquid):
    """Lennard-Jones of numpy: the run of the engine's own, with its energies and pressure."""
    def pairs(particles):
        r = particles.positions
        i, j = np.triu_indices(len(r), 1)
        d = particles.box.nearest(r[i] - r[j])
        near = np.sum(d**2, axis=1) < 2.5**2
        i, j, d = i[near], j[near], d[near]
        x = np.sqrt(np.sum(d**2, axis=1))
        energy = lambda x: 4 * (x**-12 - x**-6)
        slope = lambda x: 4 * (-12 * x**-13 + 6 * x**-7)
        f = (-(slope(x) - slope(2.5)) / x)[:, None] * d
        forces = np.zeros_like(r)
        np.add.at(forces, i, f)
        np.add.at(forces, j, -f)
        total = np.sum(energy(x) - energy(2.5) - (x - 2.5) * slope(2.5))
        w = d.T @ f
        return forces, total, [w[0, 0], w[1, 1], w[2, 2], w[0, 1], w[0, 2], w[1, 2]]

    assert_runs_as_the_engine_s(liquid, perrin.PythonForce(pairs, conserves_momentum=True))


def test_called_once_for_a_step_and_held_between(gas):
    steps = []

    def push(particles):
        steps.append(particles.step)
        return np.full((20, 3), particles.step + 1.0)

    sim = perrin.Simulation({**gas, "forces": [perrin.PythonForce(push, stride=4)]})
    v = sim.velocities
    sim.every(1)(lambda s: s.totals)
    sim.run(12)
    assert steps == [0, 4, 8, 12]
    # Kicks of velocity Verlet: half of the forces at both ends of every step.
    forces = [1] * 4 + [5] * 4 + [9] * 4 + [13]
    kick = 0.005 * (sum(forces) - forces[0] / 2 - forces[-1] / 2)
    np.testing.assert_allclose(sim.velocities - v, kick, rtol=1e-5)


def test_resumed_with_its_forces(gas, tmp_path):
    """The stop is between two calls of the function: the forces of the last one stay."""
    def push(particles):
        return np.cos(particles.positions) * particles.step, particles.step, range(6)

    force = perrin.PythonForce(push, stride=10)
    job = {**gas, "forces": [{"type": "harmonic_trap", "stiffness": [1, 1, 1]}, force],
           "observers": [{"type": "thermo", "stride": 3, "console_stride": 0}]}
    whole = perrin.Simulation(job, output_dir=tmp_path / "whole")
    whole.run(60)
    whole.close()
    with perrin.Simulation(job, output_dir=tmp_path / "parts") as first:
        first.run(34)
        first.checkpoint("stop.h5")
        first.run(5)
    parts = perrin.Simulation.resume(tmp_path / "parts" / "stop.h5", [force])
    assert parts.step == 34
    parts.run(26)
    parts.close()
    np.testing.assert_array_equal(parts.positions, whole.positions)
    tables = [perrin.thermo(tmp_path / name / "thermo.h5") for name in ("whole", "parts")]
    np.testing.assert_array_equal(*(t.to_numpy() for t in tables))
    for given, said in (
            ([], r"forces\[1\].function: is number 0 .from 0. of the job's PythonForce objects"),
            ([force, force], "the job has 1 PythonForce objects, got 2"),
            ([perrin.PythonForce(push)], "stride must be that of the job, 10, got 1"),
            ([perrin.PythonForce(push, 10, local=True)], "local must be .* False, got True")):
        with pytest.raises(perrin.JobError, match=said):
            perrin.Simulation.resume(tmp_path / "parts" / "stop.h5", given)


def test_exceptions_come_out(gas):
    def fail(particles):
        if particles.step == 7:
            raise ZeroDivisionError("mine")
        return np.zeros((20, 3))

    sim = perrin.Simulation({**gas, "forces": [perrin.PythonForce(fail)]})
    with pytest.raises(ZeroDivisionError, match="mine"):
        sim.run(100)
    assert len(sim.positions) == 20
    with pytest.raises(perrin.RunError, match="ended with an error"):
        sim.run(1)


@pytest.mark.parametrize("result, words", [
    (None, "an array of forces, .* got None"),
    ([[0, 0, 0]], "an array of forces"),
    (np.zeros((19, 3)), r"shape \(20, 3\) .* got shape \(19, 3\)"),
    (np.zeros((20, 3), int), "float32 or float64, got .* int64"),
    ((np.zeros((20, 3)), np.zeros(20)), r"a finite number as the energy, got shape \(20,\)"),
    ((np.zeros((20, 3)), 1.0, np.zeros((3, 3))), r"six finite numbers .* got shape \(3, 3\)"),
    ((np.zeros((20, 3)), 1.0, [0, 0, np.nan, 0, 0, 0]), r"six finite numbers .* got .0, 0, nan"),
    ((np.zeros((20, 3)), np.float64("nan")), "a finite number as the energy, got nan"),
    (np.ma.masked_less(np.ones((20, 3)), 2), "some are masked"),
    ((np.zeros((20, 3)), 1.0, np.zeros(6), 2), "got 4 values")])
def test_what_a_function_must_return(gas, result, words):
    with pytest.raises(perrin.JobError, match=r"^PythonForce\(.*\): must return .*" + words):
        perrin.Simulation({**gas, "forces": [perrin.PythonForce(lambda p: result)]}).run(1)


def test_two_dimensions(gas):
    """Nothing leaves the plane."""
    flat = {**gas, "system": {"type": "random", "particles": {"A": 20}, "box": [10, 10],
                              "dimension": 2}}

    def pull(z, local):
        def f(particles):
            r = np.array(particles.local.points if local else particles.positions)
            r[:, 2] += z
            return -r
        return perrin.Simulation({**flat, "forces": [perrin.PythonForce(f, local=local)]})

    for local in (False, True):
        sim = pull(0, local)
        sim.run(20)
        assert (sim.positions[:, 2] == 0).all() and (sim.velocities[:, 2] == 0).all()
        with pytest.raises(perrin.JobError, match="without a z component in two dim.*got -1 for"):
            pull(1, local).run(1)


def test_another_function_is_set(gas):
    def trap(stiffness):
        return perrin.PythonForce(lambda p: (-stiffness * p.positions,
                                             stiffness * np.sum(p.positions**2) / 2))

    sim = perrin.Simulation({**gas, "forces": [trap(2)]})
    sim.run(3)
    sim.set({"forces[0]": trap(6)})
    sim.run(1)
    assert sim.totals.potential == pytest.approx(3 * np.sum(sim.positions**2), rel=1e-6)
    with pytest.raises(perrin.JobError):
        sim.set({"forces[0]": trap(5), "forces[0].stride": -1})
    sim.run(1)
    assert sim.totals.potential == pytest.approx(3 * np.sum(sim.positions**2), rel=1e-6)


def test_what_a_function_must_not_do(gas):
    kept = []

    def ask(particles):
        kept.append(particles)
        particles._state.totals

    with pytest.raises(perrin.JobError, match="cannot ask for totals"):
        perrin.Simulation({**gas, "forces": [perrin.PythonForce(ask)]}).run(1)
    with pytest.raises(perrin.RunError, match="only within its call"):
        kept[0].positions
    gas["stages"][0]["integrator"] = {
        "type": "bussi", "timestep": 0.005, "temperature": 1, "tau": 1,
        "barostat": {"pressure": 1, "tau": 1, "compressibility": 1}}
    with pytest.raises(perrin.JobError):
        perrin.Simulation({**gas, "forces": [perrin.PythonForce(spring)]}).run(1)


def test_views_of_a_call_hold_the_memory_that_they_show(liquid):
    kept = []

    def look(particles):
        velocity = particles.local.velocity
        kept[:] = [velocity, np.asarray(velocity) if DEVICE == "cpu" else None]
        return np.zeros((256, 3))

    sim = perrin.Simulation({**liquid, "forces": [perrin.PythonForce(look)]})
    sim.run(1)
    velocity, array = kept
    with pytest.raises(perrin.RunError, match="only within its call"):
        velocity.__dlpack__()
    if DEVICE == "cpu":
        assert not array.flags.writeable and not array.flags.owndata
        before = array.copy()
        del sim
        gc.collect()
        np.testing.assert_array_equal(array, before)
