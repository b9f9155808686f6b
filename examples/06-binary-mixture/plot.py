#!/usr/bin/python3
"""Cooling, and who is next to whom at its end.   plot.py [FOLDER] [PNG]"""
import sys

import h5py
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "."
picture = sys.argv[2] if len(sys.argv) > 2 else "binary-mixture.png"

with h5py.File(f"{folder}/thermo.h5") as file:
    rows = file["observables"]
    step = rows["temperature/step"][:]
    temperature = rows["temperature/value"][:]
    potential = rows["potential_energy/value"][:]
    stages = file["parameters/perrin/stages"]
    begin = dict(zip(stages["name"].asstr()[:], stages["step"][:]))
with h5py.File(f"{folder}/trajectory.h5") as file:
    last = file["particles/all/position/value"][-2:]  # the coldest
    edge = file["particles/all/box/edges/value"][-1, 0, 0]
    species = file["particles/all/species"][:]

n = len(species)
bins = np.linspace(0, 3, 151)
shell = 4 / 3 * np.pi * (bins[1:] ** 3 - bins[:-1] ** 3)
r = (bins[1:] + bins[:-1]) / 2


def g(a, b):
    histogram = np.zeros(len(bins) - 1)
    for frame in last:
        centres, others = frame[species == a], frame[species == b]
        for centre in centres:
            d = others - centre
            d -= edge * np.rint(d / edge)
            d = np.sqrt((d ** 2).sum(axis=1))
            histogram += np.histogram(d[d > 0], bins)[0]
    centres = len(last) * (species == a).sum()
    return histogram / centres / shell / ((species == b).sum() / edge ** 3)


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), constrained_layout=True)
cooling = step >= begin["cooling"]
left.plot(temperature[cooling], potential[cooling] / n)
left.set(xlabel="temperature", ylabel="potential energy per particle", title="cooling")
for a, b, name in ((0, 0, "AA"), (0, 1, "AB"), (1, 1, "BB")):
    values = g(a, b)
    right.plot(r, values, label=name)
    print(f"g_{name}: first peak {values.max():.2f} at r = {r[values.argmax()]:.2f}")
right.axhline(1, color="grey", linewidth=0.5)
right.legend()
right.set(xlabel="$r/\\sigma_{AA}$", ylabel="$g(r)$", title=f"at T = {temperature[-1]:.2f}")
figure.savefig(picture, dpi=90)
print(f"{picture}: T = {temperature[-10:].mean():.3f}, "
      f"E/N = {potential[-10:].mean() / n:.3f} at the end")
