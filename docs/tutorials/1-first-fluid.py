# %% [markdown]
# # 1. A first fluid
#
# Simulate the fluid of Lennard and Jones: describe it in a job, run the job, read its files, and
# compare its energy and pressure with published ones. All numbers are in reduced units: lengths in
# σ, energies in ε, masses in m, temperatures in ε/k, times in σ √(m/ε).

# %%
import json

import matplotlib.pyplot as plt
import numpy as np
import perrin

# %% [markdown]
# ## The job
#
# A job says what the system is, which forces act, what is measured, and in which stages it runs.
# In Python it is a dict.
#
# - `system`: 500 particles on a face-centred cubic lattice, 4 in each of 5 × 5 × 5 cells.
# - `velocity`: drawn at twice the temperature that is wanted, because half of the kinetic energy
#   goes into the potential when the crystal melts.
# - `forces`: the Lennard-Jones potential, left out beyond 3 σ. `"tail"` adds to the energy and to
#   the pressure what is left out, as if g(r) were 1 there.
# - `observers`: each writes a file. `thermo` is a table of energies and pressures, `rdf` the
#   radial distribution function, `trajectory` the particles.
# - `stages`: one stage to melt and equilibrate, one to measure. `bussi` is a thermostat: it scales
#   the velocities so that the kinetic energy has the distribution of the canonical ensemble.

# %%
bath = {"type": "bussi", "timestep": 0.005, "temperature": 0.9, "tau": 0.5}
job = {
    "seed": 1,
    "system": {"type": "lattice", "structure": "fcc", "density": 0.86, "cells": [5, 5, 5]},
    "velocity": {"temperature": 1.8},
    "forces": [{"type": "lennard_jones", "cutoff": 3.0, "tail": True,
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "observers": [
        {"type": "thermo", "stride": 10},
        {"type": "rdf", "stride": 100, "rows_every": 10000, "stages": ["measure"]},
        {"type": "trajectory", "stride": 1000}],
    "stages": [
        {"type": "md", "name": "melt", "steps": 2000, "integrator": bath},
        {"type": "md", "name": "measure", "steps": 10000, "integrator": bath}]}

# %% [markdown]
# Run it. The files are written into the folder `out`. `overwrite=True` allows it to replace the
# files of an earlier run; without it Perrin refuses to.

# %%
sim = perrin.run(job, output_dir="out", overwrite=True, quiet=True)
sim

# %% [markdown]
# The picture shows the particles at the end of the run. `sim.picture()` returns it as SVG.
#
# ## The same from a file
#
# A job is JSON, so a file can hold it. `perrin run job.json` on the command line and
# `perrin.run("job.json")` in Python run it, with the same result bit for bit. To see this, run the
# first 100 steps of both.

# %%
with open("job.json", "w") as file:
    json.dump(job, file, indent=2)

from_dict = perrin.Simulation(job, output_dir="dict", overwrite=True)
from_file = perrin.Simulation("job.json", output_dir="file", overwrite=True)
from_dict.run(100)
from_file.run(100)
print("same bits:", np.array_equal(from_dict.positions, from_file.positions))
assert np.array_equal(from_dict.positions, from_file.positions)
from_dict.close()
from_file.close()

# %% [markdown]
# ## The table
#
# `perrin.thermo` reads `thermo.h5` as a table of pandas, one row every 10 steps.

# %%
table = perrin.thermo("out/thermo.h5")
table[["step", "time", "temperature", "potential_energy", "total_energy", "pressure"]].iloc[::200]

# %% [markdown]
# Look at the beginning before you take a mean. The crystal melts within a few hundred steps: its
# potential energy rises and the temperature falls. Then both fluctuate about constant values.

# %%
plt.subplot(2, 1, 1)
plt.plot(table.time, table.temperature)
plt.axhline(0.9, color="black", linewidth=1)
plt.ylabel("temperature")
plt.subplot(2, 1, 2)
plt.plot(table.time, table.potential_energy / 500)
plt.axvspan(0, 10, color="0.9")
plt.ylabel("potential energy / N")
plt.xlabel("time (the stage melt in grey)");

# %% [markdown]
# `perrin.mean` returns the mean of a series with its standard error. Rows that follow each other
# closely resemble each other. The error takes that into account: it is computed from the
# autocorrelation time, which `time` gives in rows.

# %%
measured = table[table.step > 2000]
energy = perrin.mean(measured.potential_energy / 500)
pressure = perrin.mean(measured.pressure)
print(f"energy   {energy.value:.4f} ± {energy.error:.4f}")
print(f"pressure {pressure.value:.3f} ± {pressure.error:.3f}, "
      f"autocorrelation time {pressure.time:.0f} rows")

# %% [markdown]
# ## The check
#
# NIST publishes Monte Carlo results for this fluid (Standard Reference Simulation Website,
# [Lennard-Jones fluid properties, MC](https://mmlapps.nist.gov/srs/LJ_PURE/mc.htm)): at the
# temperature 0.90 and the density 0.86, with the same cut-off and tail, the energy per particle is
# −5.9753 and the pressure 1.5781. The run must agree within four of its own standard errors, and
# the errors must be small enough for that to mean something.

# %%
assert abs(energy.value + 5.9753) < 4 * energy.error and energy.error < 0.01
assert abs(pressure.value - 1.5781) < 4 * pressure.error and pressure.error < 0.06

# %% [markdown]
# ## The radial distribution function
#
# `rdf.h5` has g(r), the density at the distance r from a particle over the mean density. Files of
# observers are HDF5: the last row of `/observables/rdf/value` is the mean over the stage.

# %%
import h5py

with h5py.File("out/rdf.h5") as file:
    r = file["observables/r/value"][-1]
    g = file["observables/rdf/value"][-1, 0]      # of the first pair of types, A and A
plt.plot(r, g)
plt.axhline(1, color="black", linewidth=1)
plt.xlabel("r")
plt.ylabel("g(r)");

# %% [markdown]
# The integral of g(r) up to its first minimum is the number of nearest neighbours: near 12 in a
# dense liquid, as in a crystal. And the energy is an integral over g(r), too,
#
#     U/N = 2 π ρ ∫ u(r) g(r) r² dr,
#
# which has to give the energy that the forces gave. The bins of the histogram are 0.02 wide, where
# the potential is steep: that limits the agreement to about one percent.

# %%
inside = r < 3.0
u = 4 * (r[inside] ** -12.0 - r[inside] ** -6.0)
width = r[1] - r[0]
integral = 2 * np.pi * 0.86 * np.sum(u * g[inside] * r[inside] ** 2) * width
tail = 8 / 3 * np.pi * 0.86 * (3.0 ** -9 / 3 - 3.0 ** -3)
shell = r < r[np.argmin(np.where((r > 1.2) & (r < 1.8), g, 9))]
neighbours = 4 * np.pi * 0.86 * np.sum(g[shell] * r[shell] ** 2) * width
print(f"U/N = {integral + tail:.3f} by g(r), {energy.value:.3f} by the forces")
print(f"{neighbours:.1f} nearest neighbours")
assert abs(integral + tail - energy.value) < 0.06
assert 11 < neighbours < 14

# %% [markdown]
# ## The trajectory
#
# `perrin.open` opens a trajectory. Frames are read when they are asked for.

# %%
trajectory = perrin.open("out/trajectory.h5")
print(trajectory)
frame = trajectory[-1]
print(frame.positions.shape, frame.box.lengths)
moved = frame.unwrapped - trajectory[0].unwrapped
print(f"root of the mean square displacement: {np.sqrt((moved ** 2).sum(axis=1).mean()):.2f} σ")

# %% [markdown]
# In a crystal particles stay within a small part of the distance of neighbours, 1.1 σ. Here they
# have moved by several such distances: it is a liquid.
#
# Next: change the temperature or the density in the job and compare with the other values of
# NIST. `perrin help lennard_jones` lists all settings of the force.
