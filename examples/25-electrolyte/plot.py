"""Density of counterions between two charged walls, and what the Poisson-Boltzmann equation says.

    plot.py FOLDER PICTURE
"""

import json
import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
with h5py.File(f"{folder}/profile.h5") as file:
    z, density = (file[f"observables/{name}/value"][-1] for name in ("coordinate", "density"))
    job = json.loads(file["parameters/perrin/job"][()])

edge = job["system"]["box"][0]
ions = job["system"]["parts"][2]["particles"]["ion"]
bjerrum = job["forces"][1]["coulomb"]["bjerrum_length"]
sigma = ions / 2 / edge**2  # charge of a wall by area
# Ions keep a distance from the walls: the width in which they are, 1 % of the ions aside.
total = numpy.cumsum(density) / density.sum()
width = numpy.interp(0.995, total, z) - numpy.interp(0.005, total, z)
# K tan(K d/2) = 2 pi l_B sigma; n = K²/(2 pi l_B)/cos²(K z).
low, high = 0.0, numpy.pi / width
for _ in range(60):
    k = (low + high) / 2
    low, high = (k, high) if k * numpy.tan(k * width / 2) < 2 * numpy.pi * bjerrum * sigma else (
        low, k)
inside = numpy.linspace(-width / 2, width / 2, 400)
theory = k**2 / (2 * numpy.pi * bjerrum) / numpy.cos(k * inside)**2
middle = abs(z) < 1
print(f"density in the middle: {density[middle].mean():.4f}, Poisson-Boltzmann "
      f"{(k**2 / (2 * numpy.pi * bjerrum)):.4f}")
figure, axes = plt.subplots(figsize=(6, 4))
axes.plot(z, density, ".", label="counterions")
axes.plot(inside, theory, label="Poisson-Boltzmann")
axes.set(xlabel="z", ylabel="density", ylim=(0, None))
axes.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
