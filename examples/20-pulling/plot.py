"""Force against distance beside the Langevin function, and the work.

    plot.py FOLDER PICTURE
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
with h5py.File(f"{folder}/restraint.h5") as file:
    f = file["observables"]
    distance, force, work = (f[name + "/value"][:, 0] for name in ("distance", "force", "work"))
blocks = len(force) // 60
mean = [x[:60 * blocks].reshape(60, blocks).mean(axis=1) for x in (distance, force)]
f = numpy.linspace(0.01, 25, 2000)
x = 50 * (1 / numpy.tanh(f) - 1 / f)
end = mean[0][-1]
inside, force = x[x < end], f[x < end]
ideal = (0.5 * (force[1:] + force[:-1]) * numpy.diff(inside)).sum()
print(f"work {work[-1]:.1f}; integral of the Langevin function up to {end:.1f}: {ideal:.1f}")
figure, axis = plt.subplots(figsize=(6, 4))
axis.plot(mean[0], mean[1], "o", markersize=4, label="means of 20 time units")
axis.plot(x, f, "k--", label="Langevin function")
axis.set(xlim=(0, 50), ylim=(-1, 25), xlabel="distance of the ends", ylabel="force")
axis.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
