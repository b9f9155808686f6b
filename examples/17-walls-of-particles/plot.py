"""Velocity and density across the gap, and the viscosity from the forces on the walls.

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
    velocity = f["velocity/value"][-1, :, 0]  # the first row is the sample of the beginning
with h5py.File(f"{folder}/thermo.h5") as file:
    f = file["observables"]
    late = f["force_lower/step"][:] > 10000
    lower, upper = (f[f"force_{wall}/value"][late, 0] for wall in ("lower", "upper"))
    volume = f["volume/value"][0]
area = (5 * (4 / 0.8) ** (1 / 3)) ** 2
inside = abs(z) < 6
slope = numpy.polyfit(z[inside], velocity[inside], 1)[0]
blocks = [half[:len(half) // 20 * 20].reshape(20, -1).mean(axis=1) for half in (lower, upper)]
stress = (blocks[0] - blocks[1]) / (2 * area)
print(f"force on the lower wall {lower.mean():.2f}, on the upper wall {upper.mean():.2f}")
print(f"shear rate {slope:.4f}, stress {stress.mean():.4f} ± {stress.std() / 20 ** 0.5:.4f}, "
      f"viscosity {stress.mean() / slope:.3f}")
figure, axis = plt.subplots(figsize=(6, 4))
axis.plot(z, velocity, "o-", markersize=3, label="velocity")
axis.plot(z[inside], numpy.polyval(numpy.polyfit(z[inside], velocity[inside], 1), z[inside]), "k--",
          label="linear between the walls")
axis.plot(z, density / 4, color="0.7", zorder=0, label="density / 4")
axis.set_xlabel("z")
axis.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
