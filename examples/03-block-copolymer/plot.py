#!/usr/bin/python3
"""Peaks of the structure factor and pictures of the cylinders.   plot.py [FOLDER] [PNG]

Prints the strongest modes of S(k) of the A beads, averaged over the last tenth of the run, and
whether the three strongest are those of hexagonally packed cylinders: coplanar (one is the sum or
difference of the other two), of nearly equal length, and far above the rest.
"""
import sys

import h5py
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "."
picture = sys.argv[2] if len(sys.argv) > 2 else "block-copolymer.png"

with h5py.File(f"{folder}/structure_factor.h5") as file:
    series = file["observables/structure_factor"]
    rows = max(1, len(series["value"]) // 10)
    history = series["value"][:]
    steps = series["step"][:]
    k = file["parameters/perrin/wave_vectors"][:]
    numbers = file["parameters/perrin/wave_numbers"][:]
s = history[-rows:].mean(axis=0)
length = np.linalg.norm(k, axis=1)

order = np.argsort(s)[::-1]
print(f"S(k) of the A beads, mean of the last {rows} rows (steps {steps[-rows]} to {steps[-1]})")
print("   n_x  n_y  n_z    |k|      S(k)")
for m in order[:10]:
    print("  {:4d} {:4d} {:4d}  {:6.3f} {:9.2f}".format(*numbers[m], length[m], s[m]))

# Neighbouring lattice points can share a peak that lies between them: strongest first, each takes
# the modes within 2 pi / L of it (and of its opposite) along.
spacing = 1.01 * length.min()
peaks = []
for m in order:
    if all(min(np.linalg.norm(k[m] - k[p]), np.linalg.norm(k[m] + k[p])) > spacing for p in peaks):
        peaks.append(m)
    if len(peaks) == 4:
        break
a, b, c = (k[m] for m in peaks[:3])
normal = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
tilt = abs(np.degrees(np.arcsin(np.dot(normal, c) / np.linalg.norm(c))))
closure = min(np.linalg.norm(c - a - b), np.linalg.norm(c + a + b), np.linalg.norm(c - a + b),
              np.linalg.norm(c + a - b)) / spacing
print("three strongest peaks: |k| = " + ", ".join(f"{length[m]:.3f}" for m in peaks[:3]) +
      "; S = " + ", ".join(f"{s[m]:.1f}" for m in peaks[:3]) + f"; next peak {s[peaks[3]]:.1f}")
hexagonal = tilt < 15 and closure <= 1.01 and s[peaks[2]] > 2 * s[peaks[3]]
verdict = "hexagonal cylinders" if hexagonal else "not (yet) hexagonal"
print(f"the third is {tilt:.1f} degrees out of the plane of the others, its distance from "
      f"their sum or difference {closure:.2f} lattice spacings: {verdict}")

with h5py.File(f"{folder}/trajectory.h5") as file:
    particles = file["particles/all"]
    edge = np.diag(particles["box/edges/value"][-1])
    position = particles["position/value"][-1]
    names = [n.decode() for n in file["parameters/perrin/type_names"][:]]
    type_a = particles["species"][:] == names.index("A")
beads = position[type_a]

figure = plt.figure(figsize=(14, 4.4), constrained_layout=True)
left, middle = figure.add_subplot(1, 3, 1), figure.add_subplot(1, 3, 2)
right = figure.add_subplot(1, 3, 3, projection="3d")
left.semilogy(length, np.maximum(s, 1e-3), ".", ms=3, color="0.6")
left.semilogy(length[peaks[:3]], s[peaks[:3]], "o", color="C3")
left.set(xlabel="|k|", ylabel="S(k)", title="structure factor of the A beads")

# Along the cylinders: periodic copies, seen along the normal of the plane of the peaks.
u = a / np.linalg.norm(a)
v = np.cross(normal, u)
shifts = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), axis=-1).reshape(-1, 3) * edge
copies = (beads[None] + shifts[:, None]).reshape(-1, 3) - edge / 2
inside = (np.abs(copies @ normal) < edge.min() / 3)
half = 0.6 * edge.min()
h, x, y = np.histogram2d(copies[inside] @ u, copies[inside] @ v, bins=96, range=[[-half, half]] * 2)
kernel = np.exp(-0.5 * (np.arange(-6, 7) / 2.0) ** 2)
for axis in (0, 1):
    h = np.apply_along_axis(lambda line: np.convolve(line, kernel / kernel.sum(), "same"), axis, h)
middle.imshow(h.T, origin="lower", extent=[-half, half, -half, half], cmap="magma")
middle.set(title="A beads along the cylinders", xlabel="length", ylabel="length")

right.scatter(*beads.T, s=3, c=beads @ normal, cmap="viridis", alpha=0.5, linewidths=0)
elevation = np.degrees(np.arcsin(np.clip(normal[2], -1, 1)))
right.view_init(elev=elevation + 12, azim=np.degrees(np.arctan2(normal[1], normal[0])) + 12)
right.set_box_aspect((1, 1, 1))
right.set(title="A beads", xticks=[], yticks=[], zticks=[])
figure.savefig(picture, dpi=110)
