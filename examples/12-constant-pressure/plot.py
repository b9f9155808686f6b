#!/usr/bin/python3
"""Density over time and its distribution; compressibility and heat capacity at constant pressure
from fluctuations of volume and enthalpy.   plot.py [FOLDER] [PNG]"""
import sys

import h5py
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "."
picture = sys.argv[2] if len(sys.argv) > 2 else "constant-pressure.png"
PRESSURE, TEMPERATURE, ATOMS = 2.0, 2.0, 864

with h5py.File(f"{folder}/thermo.h5") as file:
    rows = file["observables"]
    time, step = rows["density/time"][:], rows["density/step"][:]
    density, volume = rows["density/value"][:], rows["volume/value"][:]
    energy = rows["total_energy/value"][:]
    stages = file["parameters/perrin/stages"]  # where each of them began
    begin = dict(zip(stages["name"].asstr()[:], stages["step"][:]))["production"]
produced = step > begin


def error(x, blocks=20):
    """Of a mean, from blocks."""
    x = x[: len(x) // blocks * blocks].reshape(blocks, -1).mean(axis=1)
    return x.std(ddof=1) / blocks ** 0.5


rho, v = density[produced], volume[produced]
mean, wrong = ATOMS / v.mean(), error(rho)
compressibility = v.var() / (v.mean() * TEMPERATURE)
enthalpy = energy[produced] + PRESSURE * v
capacity = enthalpy.var() / (TEMPERATURE ** 2 * ATOMS)
print(f"density {mean:.4f} ± {wrong:.4f}, isothermal compressibility {compressibility:.3f}, "
      f"heat capacity at constant pressure {capacity:.2f} k per atom")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), constrained_layout=True, sharey=True,
                                     width_ratios=(3, 1))
left.plot(time, density, lw=0.7)
left.axvline(time[step >= begin][0], color="0.7", lw=1)
left.axhline(mean, color="C1", label=f"mean {mean:.4f} ± {wrong:.4f}")
left.set(xlabel="time", ylabel="density",
         title=f"Lennard-Jones fluid, pressure {PRESSURE:g}, temperature {TEMPERATURE:g}")
left.legend()
right.hist(rho, bins=30, density=True, orientation="horizontal", alpha=0.6)
at = np.linspace(rho.min(), rho.max(), 200)
width = rho.std()
right.plot(np.exp(-0.5 * ((at - rho.mean()) / width) ** 2) / (width * np.sqrt(2 * np.pi)), at)
right.set(xlabel="probability density", title=f"compressibility {compressibility:.3f}")
figure.savefig(picture, dpi=90)
print(picture)
