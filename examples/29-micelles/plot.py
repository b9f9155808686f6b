"""Clusters of tails while micelles form, and where the surfactants are in the end.

    plot.py FOLDER PICTURE
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
tail, chains = 4, 100
with h5py.File(f"{folder}/cluster_size.h5") as file:
    f = file["observables"]
    time = f["clusters/time"][:]
    clusters, mean = f["clusters/value"][:], f["weight_mean_size/value"][:] / tail
with h5py.File(f"{folder}/trajectory.h5") as file:
    all_ = file["particles/all"]
    position, box = all_["position/value"][-1], all_["box/edges"]
    box = box["value"][-1] if isinstance(box, h5py.Group) else box[:]
    species = all_["species"][:]
print(f"{clusters[0]:.0f} clusters of tails at the start, {clusters[-1]:.1f} in the end; "
      f"a surfactant is in one of {mean[-1]:.0f}, on average")

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.8))
left.plot(time, clusters, label="clusters of tails")
left.plot(time, mean, label="surfactants in one, weight mean")
left.set_xlabel("time")
left.legend(loc="center right")
length = numpy.atleast_1d(box.diagonal() if box.ndim == 2 else box)
place = position % length
for kind, colour, size in ((0, "tab:blue", 3), (1, "tab:orange", 6)):
    p = place[species == numpy.unique(species)[kind]]
    right.scatter(p[:, 0], p[:, 1], s=size, color=colour, label="heads" if kind == 0 else "tails")
right.set_xlim(0, length[0])
right.set_ylim(0, length[-1])
right.set_aspect("equal")
right.set_xlabel("x")
right.set_ylabel("y")
right.legend(loc="upper right", bbox_to_anchor=(1.34, 1), fontsize=8)
figure.tight_layout()
figure.savefig(picture, dpi=110)
