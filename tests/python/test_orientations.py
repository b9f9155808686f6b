"""Particles that turn: what Python shows of them and sets."""
import numpy as np
import pytest

import perrin
from conftest import DEVICE

MOMENTS = np.array([0.2, 0.8, 0.9])


@pytest.fixture
def rods():
    return {"seed": 3, "system": {"type": "lattice", "structure": "sc", "density": 0.05,
                                  "cells": [6, 6, 6]},
            "orientations": {"start": "random", "moments_of_inertia": {"A": list(MOMENTS)}},
            "velocity": {"temperature": 1.5},
            "forces": [{"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift",
                        "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
            "observers": [{"type": "trajectory", "stride": 10, "quantities": [
                "position", "velocity", "orientation", "angular_momentum"]}],
            "stages": [{"type": "md", "integrator": {"type": "velocity_verlet",
                                                     "timestep": 0.001}}]}


def turned(q, v):
    """Vectors of the particles' frames in space."""
    u, w = q[:, 1:], q[:, :1]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def test_energies_and_torques(rods, tmp_path):
    sim = perrin.Simulation(rods, output_dir=tmp_path)
    sim.run(20)
    q, spin, totals = sim.orientations, sim.angular_momenta, sim.totals
    assert q.shape == (216, 4) and spin.shape == (216, 3)
    np.testing.assert_allclose((q**2).sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(sim.moments_of_inertia, np.tile(MOMENTS, (216, 1)), rtol=1e-6)
    assert totals.rotational == pytest.approx(0.5 * (spin**2 / MOMENTS).sum(), rel=1e-5)
    assert totals.total == pytest.approx(totals.potential + totals.kinetic + totals.rotational,
                                         rel=1e-6)
    # Turned by a small angle about an axis of space, the energy falls by angle times torque.
    torque, k = sim.torques, np.argmax((sim.torques**2).sum(1))
    change = []
    for angle in (1e-2, -1e-2):
        half = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * torque[k] /
                                              np.linalg.norm(torque[k]))])
        other = q.copy()
        other[k] = [half[0] * q[k, 0] - half[1:] @ q[k, 1:],
                    *(half[0] * q[k, 1:] + q[k, 0] * half[1:] + np.cross(half[1:], q[k, 1:]))]
        sim.orientations = other
        np.testing.assert_allclose(sim.orientations, other, atol=1e-6)
        change.append(sim.totals.potential)
    assert (change[1] - change[0]) / 2e-2 == pytest.approx(np.linalg.norm(torque[k]), rel=1e-2)
    # Backwards in time.
    sim.orientations = q
    sim.angular_momenta, sim.velocities = -spin, -sim.velocities
    np.testing.assert_allclose(sim.angular_momenta, -spin)
    sim.run(20)
    start = perrin.open(tmp_path / "trajectory.h5")[0]
    np.testing.assert_allclose(abs((sim.orientations * start.orientations).sum(1)), 1, atol=1e-4)
    np.testing.assert_allclose(sim.angular_momenta, -start.angular_momenta, atol=1e-2)


def test_frames(rods, tmp_path):
    with perrin.Simulation(rods, output_dir=tmp_path) as sim:
        sim.run(10)
        q, spin = sim.orientations, sim.angular_momenta
    with perrin.open(tmp_path / "trajectory.h5") as trajectory:
        np.testing.assert_allclose(trajectory[-1].orientations, q, atol=1e-6)
        np.testing.assert_allclose(trajectory[-1].angular_momenta, spin, atol=1e-6)
        np.testing.assert_allclose(trajectory.moments_of_inertia[5], MOMENTS, rtol=1e-6)
        assert "orientations" in repr(trajectory[0])


def test_local_views(rods, tmp_path):
    sim = perrin.Simulation(rods, output_dir=tmp_path)
    sim.run(5)
    assert sim.local.orientation.shape == (216, 4)
    if DEVICE != "cpu":
        return
    ids = np.asarray(sim.local.id)
    np.testing.assert_allclose(sim.local.orientation[:, [3, 0, 1, 2]], sim.orientations[ids])
    np.testing.assert_allclose(sim.local.angular_momentum[:, :3], sim.angular_momenta[ids])
    np.testing.assert_allclose(sim.local.moment_of_inertia[:, :3], sim.moments_of_inertia[ids])
    np.testing.assert_allclose(sim.local.torque[:, :3], sim.torques[ids])


def test_what_cannot_be_set(rods, liquid):
    rods["observers"] = []
    sim = perrin.Simulation(rods)
    q = np.array(sim.orientations)
    with pytest.raises(perrin.JobError, match=r"shape \(216, 4\), got \(216, 3\)"):
        sim.orientations = q[:, 1:]
    q[17] = 0
    with pytest.raises(perrin.JobError, match="orientation of particle 17 must be a quaternion"):
        sim.orientations = q
    spin = np.array(sim.angular_momenta)
    spin[3, 1] = np.inf
    with pytest.raises(perrin.JobError, match="angular momentum of particle 3 must be finite"):
        sim.angular_momenta = spin
    rods["orientations"]["moments_of_inertia"] = {"A": [0, 1, 1]}
    sim = perrin.Simulation(rods)
    with pytest.raises(perrin.JobError, match="particle 0 about its x axis must be 0"):
        sim.angular_momenta = np.ones((216, 3))
    sim = perrin.Simulation(liquid)
    for values, width in ((sim.orientations, 4), (sim.angular_momenta, 3), (sim.torques, 3),
                          (sim.moments_of_inertia, 3)):
        assert values.shape == (0, width)
    with pytest.raises(perrin.JobError, match="particles have no orientations"):
        sim.orientations = np.ones((256, 4))
    assert sim.totals.rotational == 0
