#!/usr/bin/python3
"""Radii of gyration of the chains, rings and stars.   plot.py [FOLDER] [PNG]"""
import sys

import h5py
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "."
picture = sys.argv[2] if len(sys.argv) > 2 else "mixed-start.png"
KINDS = ("chains", "rings", "stars")  # in the order of the parts
EACH, BEADS = 12, 21
IDEAL = {"chains": 1, "rings": 1 / 2, "stars": (3 * 4 - 2) / 4**2}  # of random walks

with h5py.File(f"{folder}/trajectory.h5") as file:
    everything = file["particles/all"]
    edges = everything["box/edges/value"][0]
    count = len(KINDS) * EACH * BEADS  # the polymers come before the solvent
    image = everything["image/value"][:, :count]
    paths = everything["position/value"][:, :count] + image @ edges
    time = everything["position/time"][:]
    start = everything["position/value"][0]
    species = everything["species"][:]

paths = paths.reshape(len(paths), len(KINDS), EACH, BEADS, 3)
from_middle = paths - paths.mean(axis=3, keepdims=True)
square = (from_middle ** 2).sum(axis=-1).mean(axis=-1)  # frame, kind, molecule
later = square[time > 50]
mean = later.mean(axis=(0, 2))
error = later.mean(axis=0).std(axis=1, ddof=1) / np.sqrt(EACH)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), constrained_layout=True)
place = start - start.min(axis=0)
slab = place[:, 2] < 6
left.plot(*place[slab & (species == species[-1])][:, :2].T, ".", color="0.85", markersize=3)
for k, kind in enumerate(KINDS):
    of_kind = np.zeros(len(place), bool)
    of_kind[k * EACH * BEADS:(k + 1) * EACH * BEADS] = True
    left.plot(*place[slab & of_kind][:, :2].T, "o", markersize=5, label=kind)
left.set(aspect="equal", title="the start: a slab of 6", xlabel="x", ylabel="y")
left.legend(loc="upper right")
for k, kind in enumerate(KINDS):
    right.plot(time, square[:, k].mean(axis=1), label=f"{kind}: {mean[k]:.2f} ± {error[k]:.2f}")
right.set(xlabel="time", ylabel="mean square radius of gyration", ylim=(0, None))
right.legend()
figure.savefig(picture, dpi=90)
print(picture)
for k, kind in enumerate(KINDS):
    ratio = mean[k] / mean[0]
    print(f"{kind}: Rg2 = {mean[k]:.2f} ± {error[k]:.2f}, {ratio:.2f} of that of chains; "
          f"random walks: {IDEAL[kind]:.3f}")
