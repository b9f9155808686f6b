#!/usr/bin/env python3
"""Plots energy per pass and g(r) of the dimers: plot.py [FOLDER [PICTURE]]"""
import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
picture = sys.argv[2] if len(sys.argv) > 2 else str(folder / "dimers.png")
ATOMS, EQUILIBRATION, BOND = 1000, 300, 2.43

with h5py.File(folder / "metropolis.h5", "r") as file:
    observables = file["observables"]
    passes = observables["energy/step"][:]
    energy = observables["energy/value"][:] / ATOMS
    accepted = observables["acceptance_since_start/value"][:]
names = open(folder / "distribution.csv").readline().strip().split(",")
columns = np.genfromtxt(folder / "distribution.csv", delimiter=",", skip_header=1)

# The standard error of the mean from ten blocks.
blocks = [block.mean() for block in np.array_split(energy[passes > EQUILIBRATION], 10)]
mean, error = np.mean(blocks), np.std(blocks, ddof=1) / np.sqrt(len(blocks))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(passes, energy, lw=0.6, label="energy per atom")
left.axhspan(-1.313, -1.273, color="orange", alpha=0.3, label="published, -1.293 ± 0.020")
left.set(xlabel="pass", ylabel="kJ/mol", ylim=(-1.45, -1.05))
left.legend()
for name, g in zip(names[1:], columns.T[1:]):
    right.plot(columns[:, 0], g, lw=0.8, label=name)
right.axvline(BOND, color="gray", ls=":", label="bond")
right.set(xlabel="distance (Å)", ylabel="g(r)", ylim=(0, 2))
right.legend()
figure.suptitle(f"dimers, 240 K: {mean:.4f} ± {error:.4f} kJ/mol per atom, "
                f"{accepted[-1] * 100:.0f} % accepted since the first pass")
figure.tight_layout()
figure.savefig(picture, dpi=100)

print(f"energy per atom {mean:.4f} ± {error:.4f} kJ/mol")
for name, g in zip(names[1:], columns.T[1:]):
    other = np.where(np.abs(columns[:, 0] - BOND) < 0.1, 0, g)
    print(f"{name}: peak {other.max():.3f} at {columns[other.argmax(), 0]:.3f} Å")
