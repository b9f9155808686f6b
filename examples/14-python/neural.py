# %% [markdown]
# # A learned pair potential
#
# u(r) = (1 - (r/rc)²)³ Σ c_k tanh(a_k r + b_k), fitted to the Gaussian core model, in a run of its
# own against that of the engine's `gaussian_core`. Forces are PyTorch's gradients where that is
# installed: on a GPU they are captured once and replayed with the engine's steps.

# %%
import functools

import numpy as np

import perrin

try:
    import torch
except ImportError:
    torch = None

STEPS, RC, HIDDEN = 400, 3.0, 24

job = perrin.Job(
    seed=5,
    system=perrin.system.random(particles={"A": 200}, density=0.3, min_distance=0.7),
    velocity={"temperature": 1},
    forces=[],
    stages=[perrin.stage.md(integrator=perrin.integrator.velocity_verlet(timestep=0.01))])

# %% [markdown]
# The weights a and b of the first layer are drawn, those of the second, c, fitted (least squares).


# %%
def target(r):
    """Gaussian core, epsilon = 2, sigma = 1, shifted to 0 at the cut-off."""
    return 2 * (np.exp(-r**2) - np.exp(-RC**2))


random = np.random.default_rng(1)
a = random.normal(0, 2, HIDDEN)
b = -a * random.uniform(0, RC, HIDDEN)
r = np.linspace(0, RC - 0.01, 600)
layer = (1 - (r / RC) ** 2)[:, None] ** 3 * np.tanh(np.outer(r, a) + b)
c = np.linalg.lstsq(layer, target(r), rcond=1e-9)[0]
print(f"{HIDDEN} neurons, worst error of the fit {np.abs(layer @ c - target(r)).max():.1e}")

# %% [markdown]
# With PyTorch: all vectors between two particles at once, since what is captured has the same shape
# in every step. The energy's gradients with respect to these vectors are forces and virial.


# %%
@functools.cache
def weights(device):
    return [torch.tensor(w, device=device) for w in (a, b, c)]


def learned(particles):
    """f of perrin.PythonForce(captured=True)."""
    r = particles.positions
    wa, wb, wc = weights(r.device)
    d = particles.nearest(r[:, None] - r[None, :]).requires_grad_()
    # A particle is far from itself.
    x = ((d**2).sum(-1) + 4 * RC**2 * torch.eye(len(r), dtype=r.dtype, device=r.device)).sqrt()
    u = (1 - (x / RC) ** 2).clamp(min=0) ** 3 * (torch.tanh(x[..., None] * wa + wb) @ wc)
    energy = u.sum() / 2
    slope, = torch.autograd.grad(energy, d)
    w = -torch.einsum("ija,ijb->ab", d.detach(), slope)
    virial = (w[0, 0], w[1, 1], w[2, 2], w[0, 1], w[0, 2], w[1, 2])
    return slope.sum(0) - slope.sum(1), energy, virial


# %% [markdown]
# Without PyTorch: the same by numpy, for the pairs within the cut-off.


# %%
def by_numpy(particles):
    """f of perrin.PythonForce."""
    r = particles.positions
    i, j = np.triu_indices(len(r), 1)
    d = particles.box.nearest(r[i] - r[j])
    near = np.einsum("ij,ij->i", d, d) < RC**2
    i, j, d = i[near], j[near], d[near]
    x = np.linalg.norm(d, axis=1)
    end, t = 1 - (x / RC) ** 2, np.tanh(np.outer(x, a) + b)
    u = t @ c
    slope = -6 * x / RC**2 * end**2 * u + end**3 * ((1 - t**2) @ (a * c))
    f = (-slope / x)[:, None] * d
    forces = np.zeros_like(r)
    np.add.at(forces, i, f)
    np.add.at(forces, j, -f)
    w = d.T @ f
    return forces, (end**3 * u).sum(), [w[0, 0], w[1, 1], w[2, 2], w[0, 1], w[0, 2], w[1, 2]]


# %%
if torch:
    force = perrin.PythonForce(learned, captured=True, conserves_momentum=True)
else:
    force = perrin.PythonForce(by_numpy, conserves_momentum=True)
own = perrin.force.gaussian_core(cutoff=RC, truncation="energy_shift",
                                 pairs=[{"types": ["A", "A"], "epsilon": 2, "sigma": 1}])
learnt, exact = (perrin.Simulation({**job, "forces": [f]}) for f in (force, own))
start = learnt.totals.total
for sim in (learnt, exact):
    sim.run(STEPS)
A, B = learnt.totals, exact.totals
apart = np.abs(learnt.unwrapped - exact.unwrapped).max()
print(f"on {learnt.device}, forces by {'PyTorch' if torch else 'numpy'}")
print(f"           {'learnt':>10} {'exact':>10}")
for name in ("potential", "pressure", "temperature"):
    print(f"{name:<12}{getattr(A, name):9.4f} {getattr(B, name):10.4f}")
print(f"paths apart by at most {apart:.4f}, energy drifted by {A.total - start:.4f}")

assert abs(A.potential / B.potential - 1) < 0.02 and abs(A.pressure / B.pressure - 1) < 0.02
assert abs(A.total - start) < 0.01 * abs(start)
