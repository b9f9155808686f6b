# %% [markdown]
# # 2. A polymer melt
#
# Simulate the melt of Kremer and Grest (J. Chem. Phys. 92, 5057 (1990)): chains of beads that repel
# one another, held together by bonds that cannot pass through one another. Measure how large the
# chains are and how they move.

# %%
import h5py
import matplotlib.pyplot as plt
import numpy as np
import perrin

# %% [markdown]
# ## The job
#
# - `system`: 48 chains of 10 beads are random walks with bonds of 0.97, at the density 0.85. No two
#   beads are nearer than 0.7.
# - `forces`: `wca` is the repulsive part of the Lennard-Jones potential. `bond_fene` holds the
#   chain together; its energy is infinite at the length 1.5. In the model of Kremer and Grest
#   bonded beads repel one another like all others: `"exclusions": []` leaves no pair out.
# - `langevin` integrates the equations of motion with friction and random forces: a heat bath for
#   every bead.

# %%
chains, length = 48, 10
bath = {"type": "langevin", "timestep": 0.008, "temperature": 1.0, "friction": 0.5}
job = {
    "seed": 2,
    "system": {"type": "chains", "chains": chains, "pattern": f"A{length}", "bond_length": 0.97,
               "density": 0.85, "min_distance": 0.7},
    "velocity": {"temperature": 1.0},
    "neighbors": {"exclusions": []},
    "forces": [
        {"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
        {"type": "bond_fene", "bonds": {"bond": {"stiffness": 30, "maximum_length": 1.5}}}],
    "observers": [
        {"type": "thermo", "stride": 20},
        {"type": "chain_size", "stride": 200},
        {"type": "mean_square_displacement", "stride": 1, "rows_every": 24000,
         "stages": ["melt"]},
        {"type": "trajectory", "stride": 500, "stages": ["melt"]}],
    "stages": [
        {"type": "md", "name": "push off", "steps": 2000,
         "integrator": {"type": "fire", "force_tolerance": 10, "maximum_move": 0.02}},
        {"type": "md", "name": "equilibrate", "steps": 8000, "integrator": bath},
        {"type": "md", "name": "melt", "steps": 24000, "integrator": bath}]}

# %% [markdown]
# ## The push-off
#
# Beads of random walks overlap, and the forces between them would throw the chains apart. The first
# stage takes the overlaps away: `fire` minimizes the energy, and no bead moves by more than 0.02
# in a step, so that no bond breaks. The stage ends when the largest force is below 10.
#
# ## Run it
#
# Two threads that share 480 beads mostly wait for each other: `threads=1` costs less.

# %%
sim = perrin.run(job, output_dir="out", overwrite=True, quiet=True, threads=1)
trajectory = perrin.open("out/trajectory.h5")
trajectory

# %% [markdown]
# `thermo.h5` knows at which step each stage began. The push-off took far fewer than 2000 steps.

# %%
with h5py.File("out/thermo.h5") as file:
    stages = file["parameters/perrin/stages"]
    begin = dict(zip(stages["name"].asstr()[:], (int(step) for step in stages["step"][:])))
print("first steps of the stages:", begin)

table = perrin.thermo("out/thermo.h5")
melt = table[table.step > begin["melt"]]
print(f"temperature {perrin.mean(melt.temperature).value:.3f}")
print(f"pressure    {perrin.mean(melt.pressure).value:.2f}")

# %% [markdown]
# The temperature is about one percent below that of the bath: an error of the time step, which
# shows in the velocities of stiff bonds. The positions are better than that. With half the time
# step the error is a quarter.
#
# ## The size of the chains
#
# Put the unwrapped positions in an array [frame, chain, bead, xyz]. Beads of a chain have
# consecutive ids.

# %%
x = np.array([frame.unwrapped for frame in trajectory]).reshape(-1, chains, length, 3)
bonds = np.linalg.norm(np.diff(x, axis=2), axis=-1)
ends = ((x[:, :, -1] - x[:, :, 0]) ** 2).sum(axis=-1).mean(axis=1)
from_middle = x - x.mean(axis=2, keepdims=True)
gyration = (from_middle ** 2).sum(axis=-1).mean(axis=(1, 2))
end_to_end, radius = perrin.mean(ends), perrin.mean(gyration)

print(f"bond length  {bonds.mean():.4f}")
print(f"R_e² = {end_to_end.value:.2f} ± {end_to_end.error:.2f}")
print(f"R_g² = {radius.value:.3f} ± {radius.error:.3f}")
print(f"R_e²/R_g² = {end_to_end.value / radius.value:.2f}")

# %% [markdown]
# The observer `chain_size` computes the same during the run.

# %%
with h5py.File("out/chain_size.h5") as file:
    group = file["observables/end_to_end_squared"]
    time, value = group["time"][:], group["value"][:].ravel()
plt.plot(time, value, label="chain_size")
plt.axhline(end_to_end.value, color="black", linewidth=1, label="mean of the last stage")
plt.xlabel("time")
plt.ylabel("R_e²")
plt.legend();

# %% [markdown]
# ## What is known
#
# - The bond length of this model is 0.97 (Kremer and Grest, 1990);
#   [longer chains](../../examples/07-polymer-melt) have 0.965. Hence the tolerance: 0.967 ± 0.005.
# - In a melt chains are nearly ideal: R_e² = C l² (N − 1). For long chains C is near 1.88 (R. Auhl
#   et al., J. Chem. Phys. 119, 12718 (2003), [arXiv](https://arxiv.org/abs/cond-mat/0306026)); for
#   short ones it is less, since a chain of 10 beads has not yet forgotten its ends.
# - For long ideal chains R_e²/R_g² = 6. For 10 beads joined freely it is 6 N/(N + 1) = 5.45, and
#   stiffness brings it up. The ratio has to lie in between, but for its error of some 0.1.

# %%
characteristic = end_to_end.value / (bonds ** 2).mean() / (length - 1)
print(f"C = {characteristic:.2f}")
assert abs(bonds.mean() - 0.967) < 0.005
assert 1.3 < characteristic < 1.88
assert 5.45 < end_to_end.value / radius.value < 6.3

# %% [markdown]
# ## How beads move
#
# `mean_square_displacement` averages over all time origins, at lags that grow by factors.

# %%
with h5py.File("out/mean_square_displacement.h5") as file:
    lag = file["observables/lag_time/value"][-1]
    beads = file["observables/mean_square_displacement/value"][-1, 0]
known = (lag > 0) & (beads > 0) & (lag < 60)
lag, beads = lag[known], beads[known]

frame_time = np.diff(trajectory.times)[0]
middles = x.mean(axis=2)
gaps = np.array([1, 2, 4, 8, 16])
centre = np.array([((middles[gap:] - middles[:-gap]) ** 2).sum(axis=-1).mean() for gap in gaps])

plt.loglog(lag, beads, label="beads")
plt.loglog(gaps * frame_time, centre, "o", label="centres of chains")
plt.loglog(lag[lag < 0.2], 3 * lag[lag < 0.2] ** 2, "--", color="black", label="3 kT/m t²")
middle = (lag > 2) & (lag < 20)
plt.loglog(lag[middle], 0.4 * lag[middle] ** 0.5, ":", color="black", label="t^½")
plt.xlabel("t")
plt.ylabel("mean square displacement")
plt.legend();

# %% [markdown]
# At short times a bead flies: 3 (kT/m) t², which is exact for t → 0. At the first lag, 0.008,
# friction, the first collisions and the time step each change that by less than one percent.
#
# Then the neighbours along the chain hold the bead back. In the model of Rouse its displacement
# grows as t^½ until the whole chain moves, and as t from then on. In a chain of 10 beads the
# regime is short: the exponent lies between ½ and 1.

# %%
flight = beads[0] / (3 * lag[0] ** 2)
exponent = np.polyfit(np.log(lag[middle]), np.log(beads[middle]), 1)[0]
diffusion = centre[-1] / (6 * gaps[-1] * frame_time)
print(f"first lag over 3 kT/m t²: {flight:.3f}; exponent from 2 to 20: {exponent:.2f}")
print(f"diffusion coefficient of the chains: {diffusion:.4f}")
assert abs(flight - 1) < 0.02
assert 0.5 < exponent < 0.9

# %% [markdown]
# Next: take chains of 20 beads. They need four times as long to forget how they began. For the
# start of long chains see [starts](../guide/starts.md).
