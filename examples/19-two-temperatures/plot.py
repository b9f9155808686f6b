"""Temperature across the fluid, the heat of both thermostats, and the thermal conductivity.

    plot.py FOLDER PICTURE
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
with h5py.File(f"{folder}/profile.h5") as file:
    f = file["observables"]
    z, density = f["coordinate/value"][-1], f["density/value"][-1]
    temperature = f["temperature/value"][-1]
with h5py.File(f"{folder}/thermo.h5") as file:
    f = file["observables"]
    time = f["heat_hot/time"][:]
    heat = {name: f[f"heat_{name}/value"][:] for name in ("hot", "cold")}
flow = time >= 60.3  # of the stage "flow": its heat is counted from its beginning
area = (5 * (4 / 0.8) ** (1 / 3)) ** 2
fit = {name: numpy.polyfit(time[flow], values[flow], 1) for name, values in heat.items()}
inside = abs(z) < 7
slope = numpy.polyfit(z[inside], temperature[inside], 1)
rate = (fit["hot"][0] - fit["cold"][0]) / 2
print(f"heat per time: hot {fit['hot'][0]:.2f}, cold {fit['cold'][0]:.2f}")
print(f"slope of the temperature {slope[0]:.4f}, conductivity {rate / area / slope[0]:.2f}")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.plot(z, numpy.where(density > 0, temperature, numpy.nan), "o", markersize=3)
left.plot(z[inside], numpy.polyval(slope, z[inside]), "k--")
left.set_xlabel("z")
left.set_ylabel("temperature")
for name, values in heat.items():
    right.plot(time[flow], values[flow], label=f"to the {name} crystal")
right.set_xlabel("time")
right.set_ylabel("heat")
right.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
