#!/usr/bin/env python3
"""Plots energy and g(r) of the benzene example: plot.py [FOLDER [PICTURE]]"""
import json
import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
picture = sys.argv[2] if len(sys.argv) > 2 else str(folder / "benzene.png")

with h5py.File(folder / "metropolis.h5", "r") as file:
    # The job as it ran, with what --set changed.
    stage = json.loads(file["parameters/perrin/job"][()])["stages"][0]
    equilibration = stage["equilibration"]
    sites = sum(m["number"] * len(m["sites"]) for m in stage["molecules"].values())
    observables = file["observables"]
    cycle = observables["energy/step"][:]
    energy = observables["energy/value"][:] / sites
    acceptance = observables["acceptance/value"][:]
with h5py.File(folder / "rdf.h5", "r") as file:
    r = file["observables/r/value"][-1]
    g = file["observables/g_C-C/value"][-1]

# The standard error of the mean from ten blocks.
production = energy[cycle > equilibration]
blocks = [block.mean() for block in np.array_split(production, 10)]
mean, error = np.mean(blocks), np.std(blocks, ddof=1) / np.sqrt(len(blocks))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(cycle[1:], energy[1:], lw=0.8)
left.axvline(equilibration, color="gray", ls=":")
left.axhspan(-5.33, -5.27, color="orange", alpha=0.3, label="published, -5.30 ± 0.03")
left.set(xlabel="cycle", ylabel="energy per site (kJ/mol)", ylim=(-5.8, -4.4))
left.legend()
right.plot(r, g)
right.axhline(1, color="gray", lw=0.8)
right.set(xlabel="distance of carbons of different molecules (nm)", ylabel="g(r)")
figure.suptitle(f"benzene, 298 K: {mean:.3f} ± {error:.3f} kJ/mol per site, "
                f"{acceptance[-1] * 100:.0f} % accepted")
figure.tight_layout()
figure.savefig(picture, dpi=120)

print(f"energy per site {mean:.4f} ± {error:.4f} kJ/mol")
for k in range(1, len(r) - 1):
    if g[k] > 0.5 and g[k] == g[max(0, k - 8):k + 9].max() and g[k] > 1.02:
        print(f"peak of g(r): {g[k]:.3f} at {r[k]:.3f} nm")
