"""PyTorch on the engine's arrays, without copies; skipped where PyTorch is not installed."""
import numpy as np
import pytest

import perrin
from conftest import DEVICE, assert_runs_as_the_engine_s

torch = pytest.importorskip("torch")
if DEVICE != "cpu" and not torch.cuda.is_available():
    pytest.skip("this PyTorch has no CUDA", allow_module_level=True)


def test_it_sees_and_changes_the_engine_s_memory(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(10)
    velocity = torch.from_dlpack(sim.local.velocity)
    before = sim.velocities
    seen = velocity[:, :3].double().cpu().numpy()  # in another order
    np.testing.assert_array_equal(np.sort(seen.ravel()), np.sort(before.ravel()))
    with sim.changing() as local:
        torch.from_dlpack(local.velocity)[:, :3] *= 0.5
    np.testing.assert_allclose(sim.velocities, before / 2, rtol=1e-6)


def test_friction_slows_as_it_must(liquid):
    """f = -c v: velocities become exp(-c t) of what they were."""
    def friction(particles):
        return -0.1 * torch.from_dlpack(particles.local.velocity)[:, :3], 0.0

    sim = perrin.Simulation({**liquid, "forces": [perrin.PythonForce(friction, local=True)]})
    before = sim.velocities
    sim.run(200)
    np.testing.assert_allclose(sim.velocities, before * np.exp(-0.1), rtol=1e-3)


def test_gradients_are_forces(liquid):
    """A trap whose forces are the gradients of its energy."""
    def trap(particles):
        r = torch.tensor(particles.positions, requires_grad=True)
        energy = (r**2).sum()
        energy.backward()
        return -r.grad.numpy(), energy.item()

    own = {"type": "harmonic_trap", "stiffness": [2, 2, 2]}
    sims = [perrin.Simulation({**liquid, "forces": [force]})
            for force in (own, perrin.PythonForce(trap))]
    for sim in sims:
        sim.run(100)
    np.testing.assert_allclose(sims[1].unwrapped, sims[0].unwrapped, atol=1e-4)


# Captured functions: on the CPU they are called, on a GPU they are a part of recorded steps.

TRAP = {"type": "harmonic_trap", "stiffness": [2, 2, 2]}


def captured(f, **how):
    return perrin.PythonForce(f, captured=True, **how)


def trap(particles):
    r = particles.positions.detach().requires_grad_()
    energy = (r**2).sum()
    f, = torch.autograd.grad(energy, r)
    return -f, energy


def test_a_captured_trap_is_that_of_the_engine(liquid):
    sims = [perrin.Simulation({**liquid, "forces": liquid["forces"] + [force]})
            for force in (TRAP, captured(trap))]
    assert not any("not recorded" in w for w in sims[1].warnings)
    for sim in sims:
        sim.run(333)
    np.testing.assert_allclose(sims[1].unwrapped, sims[0].unwrapped, atol=2e-3)
    for name in ("potential", "total", "pressure"):
        assert getattr(sims[1].totals, name) == pytest.approx(getattr(sims[0].totals, name),
                                                              rel=1e-3), name


def test_a_captured_pair_force(liquid):
    """Lennard-Jones of torch: the run of the engine's own, with its energies and pressure."""
    def pairs(particles):
        r = particles.positions
        d = particles.nearest(r[:, None] - r[None, :]).requires_grad_()
        x2 = (d**2).sum(-1) + 100 * torch.eye(len(r), dtype=r.dtype, device=r.device)
        x = x2.sqrt()
        u = 4 * (x2**-6 - x2**-3)
        end, slope = 4 * (2.5**-12 - 2.5**-6), 4 * (6 * 2.5**-7 - 12 * 2.5**-13)
        energy = torch.where(x < 2.5, u - end - (x - 2.5) * slope, torch.zeros_like(u)).sum() / 2
        g, = torch.autograd.grad(energy, d)
        w = -torch.einsum("ija,ijb->ab", d.detach(), g)
        return (g.sum(0) - g.sum(1), energy,
                (w[0, 0], w[1, 1], w[2, 2], w[0, 1], w[0, 2], w[1, 2]))

    assert_runs_as_the_engine_s(liquid, captured(pairs, conserves_momentum=True))


def test_captured_forces_are_held_between(liquid):
    def push(particles):
        return (particles.step.double() + 1) * torch.ones_like(particles.positions)

    sim = perrin.Simulation({**liquid, "forces": [captured(push, stride=4)]})
    v = sim.velocities
    sim.every(3)(lambda s: s.totals)  # forces are asked for again with energies
    sim.run(12)
    forces = [1] * 4 + [5] * 4 + [9] * 4 + [13]
    kick = 0.005 * (sum(forces) - forces[0] / 2 - forces[-1] / 2)
    np.testing.assert_allclose(sim.velocities - v, kick, rtol=1e-4)


def uneven(liquid):
    """A thin gas that the force pulls into a droplet: lists are built often."""
    return {**liquid, "velocity": {"temperature": 2.0},
            "system": {"type": "lattice", "structure": "fcc", "density": 0.05, "cells": [5, 5, 5]},
            "stages": [{"type": "md", "integrator": {"type": "langevin", "timestep": 0.005,
                                                     "temperature": 2.0, "friction": 1.0}}]}


@pytest.mark.parametrize("stride", [1, 7])
@pytest.mark.parametrize("of", [lambda job: job, uneven])
def test_a_captured_force_resumes_with_the_same_bits(liquid, tmp_path, of, stride):
    def pull(particles):
        return -0.5 * particles.unwrapped + 0.1 * particles.velocities, particles.step.double()

    force = captured(pull, stride=stride)
    job = {**of(liquid), "forces": liquid["forces"] + [force],
           "observers": [{"type": "thermo", "stride": 30, "console_stride": 0}]}
    whole = perrin.Simulation(job, output_dir=tmp_path / "whole")
    whole.run(600)
    whole.close()
    with perrin.Simulation(job, output_dir=tmp_path / "parts") as first:
        first.run(341)
        first.checkpoint("stop.h5")
        first.run(50)
    parts = perrin.Simulation.resume(tmp_path / "parts" / "stop.h5", [force])
    parts.run(259)
    parts.close()
    np.testing.assert_array_equal(parts.positions, whole.positions)
    np.testing.assert_array_equal(parts.velocities, whole.velocities)
    assert parts.totals.total == whole.totals.total


def test_a_captured_force_sees_what_was_changed(liquid):
    sim = perrin.Simulation({**liquid, "forces": [captured(trap, stride=1000)]})
    sim.run(10)
    sim.positions = 0.5 * sim.positions
    sim.run(1)
    np.testing.assert_allclose(sim.forces, -2 * sim.positions, atol=0.1)


def test_constants_of_captured_functions(liquid):
    seen = {}

    def look(particles):
        for name in ("types", "masses", "charges", "diameters"):
            seen[name] = getattr(particles, name)
        seen["box"] = particles.box
        return torch.zeros_like(particles.velocities) * particles.masses[:, None]

    sim = perrin.Simulation({**liquid, "forces": [captured(look)]})
    sim.run(3)
    assert str(seen["types"].device).startswith(DEVICE) and seen["types"].dtype == torch.int64
    np.testing.assert_array_equal(seen["types"].cpu(), sim.types)
    np.testing.assert_array_equal(seen["masses"].cpu(), sim.masses)
    np.testing.assert_array_equal(seen["box"].lengths, sim.box.lengths)


@pytest.mark.parametrize("result, words", [
    (lambda r: r.cpu().numpy(), "must return tensors|cannot be captured"),
    (lambda r: r[1:], r"shape \(256, 3\)"),
    (lambda r: (r, 1.0), "a tensor as the energy"),
    (lambda r: (r, r.sum(), r.sum(0)), "six numbers"),
    (lambda r: (r, r.sum(), r, r), "got 4 values")])
def test_what_a_captured_function_must_return(liquid, result, words):
    with pytest.raises((perrin.JobError, perrin.RunError), match=words):
        perrin.Simulation({**liquid, "forces": [captured(lambda p: result(p.positions))]}).run(1)


def test_captured_and_local_exclude_each_other():
    with pytest.raises(ValueError, match="exclude each other"):
        perrin.PythonForce(trap, local=True, captured=True)
