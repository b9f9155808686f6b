# %% [markdown]
# # Metadynamics of an end-to-end distance
#
# Well-tempered (A. Barducci et al., Phys. Rev. Lett. 100, 020603 (2008)), of 64 dimers whose bond
# is a double well with a barrier of 8 kT. They share one bias, which a `perrin.PythonForce` applies
# and a callback grows. Against F(r) = E(r) - 2 kT ln r.

# %%
import json
import pathlib
import re

import numpy as np

import perrin

STEPS = 30000
KT = 1.0
WIDTH, HEIGHT, FACTOR, STRIDE = 0.1, 0.02, 10.0, 20  # of hills; steps from one to the next
GRID = np.linspace(0, 6, 601)

# %% [markdown]
# The bias: hills on a grid. Energy and slope in between are interpolated.


# %%
class Bias:
    def __init__(self):
        self.energy = np.zeros_like(GRID)
        self.slope = np.zeros_like(GRID)

    def force(self, particles):
        """f of perrin.PythonForce: bonds are particles 0 and 1, 2 and 3, …"""
        r = particles.unwrapped
        d = r[1::2] - r[::2]
        distance = np.linalg.norm(d, axis=1)
        along = -(np.interp(distance, GRID, self.slope) / distance)[:, None] * d
        forces = np.empty_like(r)
        forces[1::2], forces[::2] = along, -along
        return forces, np.interp(distance, GRID, self.energy).sum()

    def add(self, distances):
        for r in distances:
            height = HEIGHT * np.exp(-np.interp(r, GRID, self.energy) / (KT * (FACTOR - 1)))
            hill = height * np.exp(-((GRID - r) ** 2) / (2 * WIDTH**2))
            self.energy += hill
            self.slope -= hill * (GRID - r) / WIDTH**2

    def free_energy(self):
        return -self.energy * FACTOR / (FACTOR - 1)


# %% [markdown]
# The job is that of `job.json`, with the bias as a force more.

# %%
folder = pathlib.Path(globals().get("__file__", "")).parent.resolve()
job = json.loads(re.sub(r"^//.*$", "", (folder / "job.json").read_text(), flags=re.M))
job["forces"][0]["bonds"]["bond"]["file"] = str(folder / "double_well.txt")
bias = Bias()
job["forces"].append(perrin.PythonForce(bias.force, conserves_momentum=True))
sim = perrin.Simulation(job, device="cpu")


@sim.every(STRIDE)
def deposit(s):
    r = s.unwrapped
    bias.add(np.linalg.norm(r[1::2] - r[::2], axis=1))


sim.run(STEPS)

# %%
r = GRID[(GRID > 1.6) & (GRID < 4.4)]
exact = 8 * ((r - 3) ** 2 - 1) ** 2 - 2 * KT * np.log(r)
found = np.interp(r, GRID, bias.free_energy())
error = (found - found.mean()) - (exact - exact.mean())
print("    r      F   exact  (kT)")
for k in range(0, len(r), 35):
    print(f"{r[k]:5.2f} {found[k] - found.min():6.2f} {exact[k] - exact.min():6.2f}")
print(f"worst error {np.abs(error).max():.2f} kT, in the mean {np.sqrt(np.mean(error**2)):.2f}")

assert np.abs(error).max() < 0.5
