"""A learned pair potential: u(r) = (1 - (r/rc)²)³ Σ c_k tanh(a_k r + b_k), fitted to the Gaussian
core model, in a run of its own against that of the engine's gaussian_core.

    python neural.py [STEPS]     some 10 s; forces by PyTorch's gradients where it is installed
"""
import sys

import numpy as np

import perrin

RC, HIDDEN = 3.0, 24

JOB = perrin.Job(
    seed=5,
    system=perrin.system.random(particles={"A": 200}, density=0.3, min_distance=0.7),
    velocity={"temperature": 1},
    forces=[],
    stages=[perrin.stage.md(integrator=perrin.integrator.velocity_verlet(timestep=0.01))])


def target(r):
    """Gaussian core, epsilon = 2, sigma = 1, shifted to 0 at the cut-off."""
    return 2 * (np.exp(-r**2) - np.exp(-RC**2))


class Network:
    """The weights of the first layer are drawn, those of the second fitted (least squares)."""

    def __init__(self):
        random = np.random.default_rng(1)
        self.a = random.normal(0, 2, HIDDEN)
        self.b = -self.a * random.uniform(0, RC, HIDDEN)
        r = np.linspace(0, RC - 0.01, 600)
        layer = (1 - (r / RC) ** 2)[:, None] ** 3 * np.tanh(np.outer(r, self.a) + self.b)
        self.c = np.linalg.lstsq(layer, target(r), rcond=1e-9)[0]
        self.error = np.abs(layer @ self.c - target(r)).max()

    def energy_and_slope(self, r):
        end = 1 - (r / RC) ** 2
        t = np.tanh(np.outer(r, self.a) + self.b)
        u = t @ self.c
        return end**3 * u, -6 * r / RC**2 * end**2 * u + end**3 * ((1 - t**2) @ (self.a * self.c))


def with_torch(network):
    """The same by gradients of PyTorch."""
    import torch
    a, b, c = (torch.tensor(w) for w in (network.a, network.b, network.c))

    def energy_and_slope(r):
        r = torch.tensor(r, requires_grad=True)
        u = (1 - (r / RC) ** 2) ** 3 * (torch.tanh(torch.outer(r, a) + b) @ c)
        slope, = torch.autograd.grad(u.sum(), r)
        return u.detach().numpy(), slope.numpy()

    return energy_and_slope


def pair_force(energy_and_slope):
    """f of perrin.PythonForce: all pairs within the cut-off."""
    def force(particles):
        r, box = particles.positions, particles.box
        i, j = np.triu_indices(len(r), 1)
        d = box.nearest(r[i] - r[j])
        near = np.einsum("ij,ij->i", d, d) < RC**2
        i, j, d = i[near], j[near], d[near]
        x = np.linalg.norm(d, axis=1)
        energy, slope = energy_and_slope(x)
        f = (-slope / x)[:, None] * d
        forces = np.zeros_like(r)
        np.add.at(forces, i, f)
        np.add.at(forces, j, -f)
        w = d.T @ f
        return forces, energy.sum(), [w[0, 0], w[1, 1], w[2, 2], w[0, 1], w[0, 2], w[1, 2]]

    return force


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    network = Network()
    try:
        energy_and_slope, how = with_torch(network), "PyTorch"
    except ImportError:
        energy_and_slope, how = network.energy_and_slope, "numpy"
    print(f"{HIDDEN} neurons, worst error of the fit {network.error:.1e}, forces by {how}")
    learnt = perrin.Simulation({**JOB, "forces": [
        perrin.PythonForce(pair_force(energy_and_slope), conserves_momentum=True)]}, device="cpu")
    exact = perrin.Simulation({**JOB, "forces": [perrin.force.gaussian_core(
        cutoff=RC, truncation="energy_shift",
        pairs=[{"types": ["A", "A"], "epsilon": 2, "sigma": 1}])]}, device="cpu")
    start = learnt.totals.total
    for sim in (learnt, exact):
        sim.run(steps)
    a, b = learnt.totals, exact.totals
    apart = np.abs(learnt.unwrapped - exact.unwrapped).max()
    print(f"           {'learnt':>10} {'exact':>10}")
    for name in ("potential", "pressure", "temperature"):
        print(f"{name:<12}{getattr(a, name):9.4f} {getattr(b, name):10.4f}")
    print(f"paths apart by at most {apart:.4f}, energy drifted by {a.total - start:.4f}")
    good = abs(a.potential / b.potential - 1) < 0.02 and abs(a.pressure / b.pressure - 1) < 0.02
    return 0 if good and abs(a.total - start) < 0.01 * abs(start) else 1


if __name__ == "__main__":
    sys.exit(main())
