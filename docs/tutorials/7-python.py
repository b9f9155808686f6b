# %% [markdown]
# # 7. Python
#
# Use Python for what a job cannot say: loops, scans, many systems at once, particles that are taken
# out and put in. And read what Perrin says when a job is wrong.

# %%
import matplotlib.pyplot as plt
import numpy as np
import perrin

bath = {"type": "bussi", "timestep": 0.004, "temperature": 1.5, "tau": 0.2}
job = {
    "seed": 1,
    "system": {"type": "lattice", "structure": "fcc", "density": 0.7, "cells": [4, 4, 4]},
    "velocity": {"temperature": 1.5},
    "forces": [{"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "observers": [{"type": "thermo", "stride": 5}],
    "stages": [{"type": "md", "steps": 6000, "integrator": bath}]}

# %% [markdown]
# ## Mistakes
#
# A job is checked before it runs. `JobError` lists all mistakes at once: where, what was found, and
# what was expected.

# %%
wrong = {**job, "velocity": {"temperatur": 1.5},
         "stages": [{"type": "md", "steps": -1, "integrator": {**bath, "type": "busy"}}]}
try:
    perrin.Simulation(wrong)
except perrin.JobError as error:
    print(error)
    problems = error.problems
assert len(problems) >= 3

# %% [markdown]
# `error.problems` has the same as a list of (path, line, message). A mistake in an argument is
# a `JobError`, too; what goes wrong during a run is a `RunError`.
#
# ## A loop
#
# A simulation runs in pieces, and shows its particles between them as arrays of numpy.

# %%
sim = perrin.Simulation(job, output_dir="loop", overwrite=True, threads=1)
steps, energies = [], []
for _ in range(30):
    sim.run(20)
    steps.append(sim.step)
    energies.append(sim.totals.potential / len(sim))
plt.plot(steps, energies)
plt.xlabel("step")
plt.ylabel("potential energy / N");

# %% [markdown]
# `sim.set` changes settings between two runs, by their paths in the job.

# %%
sim.set({"stages[-1].integrator.temperature": 1.2})
sim.run(1000)
print(f"temperature {sim.totals.temperature:.2f}, of the bath "
      f"{sim.job['stages'][-1]['integrator']['temperature']}")
sim.close()

# %% [markdown]
# ## Particles out and in
#
# `positions` and `velocities` are copies, by the ids of the particles. Set them in another
# simulation, and that goes on from there. The engine keeps positions to 2⁻⁴⁰ of the edges of the
# box and velocities in single precision, so the copies in double precision lose nothing. Sums in
# another order may still make a difference in the last bit.

# %%
nve = {**job, "observers": [],
       "stages": [{"type": "md", "integrator": {"type": "velocity_verlet", "timestep": 0.004}}]}
one, other = perrin.Simulation(nve, threads=1), perrin.Simulation(nve, threads=1)
one.run(500)
np.savez("snapshot.npz", positions=one.positions, velocities=one.velocities)

kept = np.load("snapshot.npz")
other.positions, other.velocities = kept["positions"], kept["velocities"]
one.run(100)
other.run(100)
difference = np.abs(one.box.nearest(one.positions - other.positions)).max()
print(f"largest difference after 100 steps: {difference:.1e}")
assert difference < 1e-3

# %% [markdown]
# A checkpoint keeps the state of thermostats, observers and random numbers, too: a run that is
# resumed has the same bits as one that was not stopped.

# %%
whole = perrin.Simulation(nve, output_dir="whole", overwrite=True, threads=1)
whole.run(50)
whole.checkpoint("checkpoint.h5")
whole.run(50)
again = perrin.Simulation.resume("whole/checkpoint.h5", threads=1)
again.run(50)
print("same bits:", np.array_equal(whole.positions, again.positions))
assert np.array_equal(whole.positions, again.positions)

# %% [markdown]
# ## A sweep
#
# `perrin.sweep` runs a job for all combinations of values. A bare name stands for all settings of
# that name: here the temperature of the velocities and that of the bath. With `together=True` the
# points run beside one another, one to a thread. Each point has a folder; what is there is not run
# again. The result is a table of means, without the first fifth of the rows.

# %%
temperatures = [1.3, 1.4, 1.5, 1.6, 1.7]
table = perrin.sweep(job, temperature=temperatures, folder="sweep", together=True)
table[["velocity.temperature", "temperature", "total_energy", "total_energy_error", "pressure"]]

# %% [markdown]
# The slope of the energy is the heat capacity at constant volume.

# %%
particles = 256
slope, start = np.polyfit(temperatures, table.total_energy / particles, 1)
error = np.mean(table.total_energy_error) / particles / np.sqrt(np.sum(
    (np.array(temperatures) - np.mean(temperatures)) ** 2))
plt.errorbar(temperatures, table.total_energy / particles, table.total_energy_error / particles,
             fmt="o", capsize=3)
plt.plot(temperatures, slope * np.array(temperatures) + start, color="black", linewidth=1)
plt.xlabel("temperature")
plt.ylabel("energy / N");

# %% [markdown]
# ## An ensemble
#
# `perrin.ensemble` runs copies of one job that differ in their seeds. Their scatter gives an error
# without any assumption about correlations in time.

# %%
copies = perrin.ensemble(job, count=6, folder="copies")
rows, columns = copies.thermo()
energy = rows[:, 240:, columns.index("total_energy")]         # [system, row]
potential = rows[:, 240:, columns.index("potential_energy")] / particles
by_seeds = potential.mean(axis=1).std(ddof=1)
by_time = np.mean([perrin.mean(series).error for series in potential])
print(f"error of the potential energy of one system: {by_seeds:.4f} by seeds, "
      f"{by_time:.4f} by autocorrelation")

# %% [markdown]
# ## The check
#
# The energy of a system in a heat bath fluctuates, and its variance is kT² C: the same heat
# capacity as the slope, from one temperature. Ideal gas alone has 3/2. The sum of both errors
# decides whether they agree; that of the fluctuations is the scatter of the six copies.

# %%
capacities = energy.var(axis=1) / 1.5 ** 2 / particles
fluctuations = capacities.mean()
scatter = capacities.std(ddof=1) / np.sqrt(len(capacities))
print(f"C/N = {slope:.2f} ± {error:.2f} by the slope, {fluctuations:.2f} ± {scatter:.2f} by "
      "fluctuations")
assert abs(slope - fluctuations) < 4 * np.hypot(error, scatter)
assert 1.5 < fluctuations < 3.5 and scatter < 0.4
assert 0.25 < by_seeds / by_time < 4        # a standard deviation of six numbers

# %% [markdown]
# Next: [Python](../guide/python.md) has all the rest: views without copies, forces of PyTorch,
# readers of other formats, scans in several processes.
