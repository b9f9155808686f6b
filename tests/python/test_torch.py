"""PyTorch on the engine's arrays, without copies; skipped where PyTorch is not installed."""
import numpy as np
import pytest

import perrin

torch = pytest.importorskip("torch")


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
