"""Looking at particles and changing them."""
import numpy as np
import pytest

import perrin
from conftest import DEVICE

on_cpu = pytest.mark.skipif(DEVICE != "cpu", reason="numpy sees arrays of the CPU")


def test_totals_are_those_of_the_particles(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(20)
    v, r = sim.velocities, sim.positions
    assert sim.totals.kinetic == pytest.approx(0.5 * np.sum(v**2), rel=1e-6)
    # Lennard-Jones with a shifted force, from all pairs.
    i, j = np.triu_indices(len(r), 1)
    d = sim.box.nearest(r[i] - r[j])
    distance = np.linalg.norm(d, axis=1)
    d, distance = d[distance < 2.5], distance[distance < 2.5]
    energy = lambda x: 4 * (x**-12 - x**-6)
    slope = lambda x: 4 * (-12 * x**-13 + 6 * x**-7)
    pairs = energy(distance) - energy(2.5) - (distance - 2.5) * slope(2.5)
    assert sim.totals.potential == pytest.approx(pairs.sum(), rel=1e-5)
    pull = -(slope(distance) - slope(2.5)) * distance
    pressure = (np.sum(v**2) + pull.sum()) / 3 / sim.box.volume
    assert sim.totals.pressure == pytest.approx(pressure, rel=1e-4)
    assert sim.totals.temperature == pytest.approx(np.sum(v**2) / (3 * 255), rel=1e-6)
    assert sim.forces.sum() == pytest.approx(0, abs=1e-2)


def test_positions_that_are_set_are_exact(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(300)
    r, unwrapped = sim.positions, sim.unwrapped
    edge = sim.box.lengths[0]
    sim.positions = r
    np.testing.assert_array_equal(sim.positions, r)
    np.testing.assert_array_equal(sim.unwrapped, unwrapped)
    r = r + [3 * edge, -edge / 3, 1e-9]
    sim.positions = r
    # Rounded to 2^-40 of the edge, to the nearest.
    np.testing.assert_allclose(sim.positions, r - edge * np.floor((r + edge / 2) / edge),
                               atol=edge * 2**-41 + 1e-14)
    sim.unwrapped = unwrapped
    np.testing.assert_allclose(sim.unwrapped, unwrapped, atol=edge * 2**-41 + 1e-14)
    before = sim.totals.total
    sim.run(100)
    assert sim.totals.total == pytest.approx(before, rel=1e-4)


def test_velocities_that_are_set_turn_back_time(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(1)
    start = sim.unwrapped
    sim.run(50)
    sim.velocities = -sim.velocities
    sim.run(50)
    assert np.abs(sim.unwrapped - start).max() < 1e-3
    assert np.abs(sim.velocities).max() > 1


def test_what_cannot_be_set(liquid):
    sim = perrin.Simulation(liquid)
    r = np.array(sim.positions)
    with pytest.raises(perrin.JobError, match=r"shape \(256, 3\), got \(255, 3\)"):
        sim.positions = r[1:]
    r[17, 1] = np.nan
    with pytest.raises(perrin.JobError, match="position of particle 17 must be finite"):
        sim.positions = r
    with pytest.raises(perrin.JobError, match="velocity of particle 17"):
        sim.velocities = r
    for wrong in (r + 1j, np.ma.masked_invalid(r)):
        with pytest.raises(perrin.JobError, match="velocities: must be numbers in an array"):
            sim.velocities = wrong
    r[17, 1] = 1e39  # no number of 32 bits
    with pytest.raises(perrin.JobError, match="velocity of particle 17 must be finite"):
        sim.velocities = r
    liquid["system"] = {"type": "random", "particles": {"A": 20}, "box": [10, 10, 10],
                        "periodic": [True, True, False]}
    sim = perrin.Simulation(liquid)
    r = np.array(sim.positions)
    r[3, 2] = 6
    with pytest.raises(perrin.JobError, match="particle 3 is outside of the box along z"):
        sim.positions = r
    liquid["system"] = {"type": "random", "particles": {"A": 20}, "box": [10, 10], "dimension": 2}
    sim = perrin.Simulation(liquid)
    with pytest.raises(perrin.JobError, match="particle 4 must have no z component"):
        sim.velocities = [[0, 0, k == 4] for k in range(20)]
    if DEVICE != "cpu":
        return
    with pytest.raises(perrin.JobError, match="must have no z component .* were set to 0"):
        with sim.changing() as local:
            np.asarray(local.velocity)[3, 2] = 1
    sim.run(3)
    assert (sim.positions[:, 2] == 0).all()


def test_copies_cannot_be_written_into(liquid):
    """They would not change what they are of."""
    sim = perrin.Simulation({**liquid, "attributes": {"radius": {"default": 0.5},
                                                      "charge": {"default": 1}},
                             "ignore": ["charges"],
                             "orientations": {"moments_of_inertia": {"A": [1, 1, 1]}}})
    state = sim.frame()
    seen = {name: getattr(sim, name) for name in (
        "positions", "unwrapped", "velocities", "forces", "images", "types", "masses", "charges",
        "orientations", "angular_momenta", "moments_of_inertia", "torques")}
    seen.update(radius=sim.attributes["radius"], points=sim.local.points, edges=sim.box.edges,
                lengths=sim.box.lengths, tilts=sim.box.tilts, origin=sim.box.origin,
                path=state.unwrapped)
    for name, array in seen.items():
        assert len(array), name
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        sim.attributes["radius"] = np.zeros(256)
    with pytest.raises(AttributeError, match="temperature: totals are of one instant"):
        sim.totals.temperature = 2.0
    # Those of a frame are its own.
    for array in (state.positions, state.velocities, state.masses, state.attributes["radius"],
                  state.box.lengths):
        array *= 2
    state.attributes["other"] = np.zeros(256)
    np.testing.assert_array_equal(2 * sim.positions, state.positions)


def test_copies_in_a_force_cannot_be_written_into(liquid):
    def stop(particles):
        particles.velocities[:] = 0

    with pytest.raises(ValueError, match="read-only"):
        perrin.Simulation({**liquid, "forces": [perrin.PythonForce(stop)]}).run(1)


@on_cpu
def test_local_views(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(40)
    local = sim.local
    ids = np.asarray(local.id)
    assert sorted(ids) == list(range(256))
    np.testing.assert_array_equal(np.asarray(local.index)[ids], np.arange(256))
    np.testing.assert_array_equal(local.velocity[:, :3], sim.velocities[ids].astype(np.float32))
    offset, matrix = sim.box.fixed_point
    np.testing.assert_allclose(offset + np.asarray(local.position)[:, :3] @ matrix,
                               sim.positions[ids], atol=2e-9)
    np.testing.assert_array_equal(local.points, sim.positions[ids])
    velocity = np.from_dlpack(local.velocity)
    assert velocity.__array_interface__["data"][0] == \
        np.asarray(local.velocity).__array_interface__["data"][0]
    assert local.velocity.shape == (256, 4) and local.velocity.dtype == np.float32
    with pytest.raises(ValueError):
        local.velocity[0, 0] = 1


@on_cpu
def test_local_views_are_refused_when_stale(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(1)
    local, ids = sim.local, sim.local.id[:].copy()
    for _ in range(200):
        sim.run(1)
        try:
            now = local.id[:]
        except perrin.StaleError:
            break
        np.testing.assert_array_equal(now, ids)
    else:
        pytest.fail("no list was built")
    with pytest.raises(perrin.StaleError):
        local.points
    assert sorted(sim.local.id) == list(range(256))


@on_cpu
def test_local_views_end_with_set(liquid):
    """The memory that they show is no more that of the simulation."""
    sim = perrin.Simulation(liquid)
    sim.run(10)
    local = sim.local
    sim.set({"stages[0].integrator.timestep": 0.004})
    with pytest.raises(perrin.StaleError):
        np.asarray(local.velocity)
    assert "stale" in repr(local) and len(sim.local.velocity) == 256
    local = sim.local
    del sim  # what is left of it
    assert np.isfinite(np.asarray(local.velocity)).all()


@on_cpu
def test_writing_through_views(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(10)
    kinetic, potential, r = sim.totals.kinetic, sim.totals.potential, sim.positions
    with sim.changing() as local:
        np.asarray(local.velocity)[:, :3] *= 2
        local.points = local.points + 0.25
    assert sim.totals.kinetic == pytest.approx(4 * kinetic, rel=1e-6)
    assert sim.totals.potential == pytest.approx(potential, rel=1e-5)
    np.testing.assert_allclose(sim.box.nearest(sim.positions - r), 0.25, atol=1e-10)
    with pytest.raises((ValueError, perrin.StaleError)):
        local.points = r
    with pytest.raises(ValueError, match="changing"):
        sim.local.points = r


def test_other_kinds_of_system():
    job = {"seed": 1, "system": {"type": "chains", "chains": 10, "pattern": "A3B2",
                                 "density": 0.1},
           "velocity": {"temperature": 1}, "ignore": ["bonds"],
           "stages": [{"type": "md",
                       "integrator": {"type": "velocity_verlet", "timestep": 0.01}}]}
    sim = perrin.Simulation(job)
    assert sim.type_names == ["A", "B"] and len(sim) == 50
    np.testing.assert_array_equal(sim.types[:5], [0, 0, 0, 1, 1])
    r, v = sim.unwrapped, sim.velocities
    sim.run(100)
    np.testing.assert_allclose(sim.unwrapped, r + v, atol=1e-5)
    assert sim.time == pytest.approx(1)


def test_attributes_of_files(tmp_path):
    """Columns of extended XYZ, logs of GSD, and those of the job in place of them."""
    rng = np.random.default_rng(3)
    position, radius = rng.random((50, 3)) * 5, rng.random(50)
    (tmp_path / "start.xyz").write_text(
        '50\nLattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3:radius:R:1\n' +
        "".join(f"A {x!r} {y!r} {z!r} {r!r}\n"
                for (x, y, z), r in zip(position.tolist(), radius.tolist())))

    def job(name, **more):
        return {"system": {"type": "file", "path": str(tmp_path / name)}, "forces": [],
                "observers": [], "seed": 1, "velocity": {"temperature": 1},
                "stages": [{"type": "md", "steps": 20, "integrator": {
                    "type": "velocity_verlet", "timestep": 0.01}}], **more}

    first = job("start.xyz", attributes={"double": {"from": "2*radius"}},
                observers=[{"type": "gsd", "stride": 10}])
    sim = perrin.run(first, output_dir=tmp_path, quiet=True)
    assert sorted(sim.attributes) == ["double", "radius"]
    np.testing.assert_array_equal(sim.attributes["radius"], radius)
    sim = perrin.Simulation(job("trajectory.gsd", attributes={"double": {"default": 7}}))
    np.testing.assert_array_equal(sim.attributes["radius"], radius)
    np.testing.assert_array_equal(sim.attributes["double"], 7)
    sim.run(5)
    np.testing.assert_array_equal(sim.attributes["radius"], radius)


def test_attributes_that_change_are_the_present_ones(liquid):
    """For whoever looks, between steps and within a step: forces are computed at its end."""
    seen = []

    def push(particles):
        seen.append((particles.charges[5], particles.diameters[5]))
        return 0 * particles.positions
    job = {**liquid, "ignore": ["charges"], "attributes": {
        "charge": {"default": 1, "changes": "charge + t"},
        "diameter": {"default": 3, "updates": {"formula": "diameter + 1", "every": 2}},
        "radius": {"default": 1}, "size": {"default": 1, "changes": "2*size - t"}}}
    job["forces"] = [*job["forces"], perrin.PythonForce(push)]
    step = job["stages"][0]["integrator"]["timestep"]
    sim = perrin.Simulation(job)
    for n, width in ((0, 3), (1, 3), (2, 4)):
        sim.run(n - sim.step)
        frame = sim.frame()
        for one in sim, frame:
            np.testing.assert_allclose(one.charges, 1 + n * step)
            np.testing.assert_allclose(one.diameters, width)
            np.testing.assert_allclose(one.attributes["size"], 2 - n * step)
            assert one.attributes["radius"][3] == 1
    np.testing.assert_allclose([charge for charge, _ in seen], 1 + np.arange(3) * step)
    assert [width for _, width in seen] == [3, 3, 3]
