#!/usr/bin/python3
"""Bond lengths and internal distances of the chains.   plot.py [FOLDER] [PNG]"""
import sys

import h5py
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "."
picture = sys.argv[2] if len(sys.argv) > 2 else "polymer-melt.png"

with h5py.File(f"{folder}/thermo.h5") as file:
    rows = file["observables"]
    time = rows["temperature/time"][:]
    temperature = rows["temperature/value"][:]
    pressure = rows["pressure/value"][:]
    stages = file["parameters/perrin/stages"]
    begin = dict(zip(stages["name"].asstr()[:], stages["step"][:]))["melt"]
    melt = rows["temperature/step"][:] > begin
with h5py.File(f"{folder}/trajectory.h5") as file:
    everything = file["particles/all"]
    edges = everything["box/edges/value"][0]
    paths = everything["position/value"][:] + everything["image/value"][:] @ edges
    first = np.searchsorted(everything["position/step"][:], begin)
    molecule = file["parameters/perrin/molecule"][:]

chains = paths.reshape(len(paths), molecule.max() + 1, -1, 3)
length = chains.shape[2]
bonds = np.linalg.norm(np.diff(chains[-1], axis=1), axis=-1)
separation = np.arange(1, length)


def internal(frame):
    """Mean square distance of beads that are n bonds apart, by n, over n."""
    return np.array([((frame[:, k:] - frame[:, :-k]) ** 2).sum(axis=-1).mean() / k
                     for k in separation])


radius = chains[-1] - chains[-1].mean(axis=1, keepdims=True)
gyration = (radius ** 2).sum(axis=-1).mean()
ends = ((chains[-1][:, -1] - chains[-1][:, 0]) ** 2).sum(axis=-1).mean()

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.4), constrained_layout=True)
left.plot(time[melt], temperature[melt])
left.set(xlabel="time", ylabel="temperature", title="melt")
middle.hist(bonds.ravel(), 60, density=True)
middle.set(xlabel="bond length", title=f"mean {bonds.mean():.3f}")
right.plot(separation, internal(chains[first]), label="pushed apart")
right.plot(separation, internal(chains[-1]), label="end")
right.legend()
right.set(xlabel="$n$", ylabel="$\\langle R^2(n)\\rangle/n$", title="internal distances")
figure.savefig(picture, dpi=90)
late = melt & (time > (time[melt][0] + time[-1]) / 2)
print(f"{picture}: T = {temperature[late].mean():.3f}, P = {pressure[late].mean():.2f}, "
      f"bond {bonds.mean():.3f}, Re2 = {ends:.1f}, Rg2 = {gyration:.1f}, "
      f"Re2/Rg2 = {ends / gyration:.2f}")
