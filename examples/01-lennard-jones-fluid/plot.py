#!/usr/bin/python3
"""Temperature, energy and the radial distribution function of the run.   plot.py [FOLDER] [PNG]"""
import sys

import h5py
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "."
picture = sys.argv[2] if len(sys.argv) > 2 else "lennard-jones.png"

with h5py.File(f"{folder}/thermo.h5") as file:
    rows = file["observables"]
    time = rows["temperature/time"][:]
    temperature = rows["temperature/value"][:]
    energy = rows["total_energy/value"][:]
    stages = file["parameters/perrin/stages"]  # where each of them began
    begin = dict(zip(stages["name"].asstr()[:], stages["step"][:]))["production"]
    produced = rows["temperature/step"][:] >= begin

with h5py.File(f"{folder}/trajectory.h5") as file:
    position = file["particles/all/position"]
    positions = position["value"][position["step"][:] > begin]
    edge = file["particles/all/box/edges/value"][0, 0, 0]

n = positions.shape[1]
bins = np.linspace(0, 5, 251)
histogram = np.zeros(len(bins) - 1)
for frame in positions:
    for i in range(0, n, 8):  # every eighth particle as a centre is plenty
        d = frame - frame[i]
        d -= edge * np.rint(d / edge)
        r = np.sqrt((d ** 2).sum(axis=1))
        histogram += np.histogram(r[r > 0], bins)[0]
centres = len(range(0, n, 8)) * len(positions)
shell = 4 / 3 * np.pi * (bins[1:] ** 3 - bins[:-1] ** 3)
g = histogram / centres / shell / (n / edge ** 3)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.4), constrained_layout=True)
left.plot(time, temperature)
left.set(xlabel="time", ylabel="temperature", title="bath at 0.7, then constant energy")
middle.plot(time[produced], (energy[produced] - energy[produced][0]) / n * 1e6)
middle.set(xlabel="time", ylabel="energy per particle $-$ start, $10^{-6}\\,\\epsilon$",
           title="total energy, NVE stage")
right.plot((bins[1:] + bins[:-1]) / 2, g)
right.axhline(1, color="grey", linewidth=0.5)
right.set(xlabel="$r/\\sigma$", ylabel="$g(r)$", title="radial distribution")
figure.savefig(picture, dpi=90)
print(f"{picture}: T = {temperature[produced].mean():.4f}, "
      f"first peak g({bins[g.argmax()]:.2f}) = {g.max():.2f}")
