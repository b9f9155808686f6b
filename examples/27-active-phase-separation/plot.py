"""The last frame of the first folder, and local packing fractions in all of them.

    plot.py PICTURE FOLDER…
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.collections import EllipseCollection  # noqa: E402

AROUND = 3.0  # radius of the disc in which others are counted


def packing(points, edge):
    """Around each disc of the diameter 1."""
    apart = points[:, None] - points[None]
    apart -= edge * numpy.round(apart / edge)
    near = (apart**2).sum(axis=2) < AROUND**2
    return near.sum(axis=1) * 0.25 / AROUND**2


picture, *folders = sys.argv[1:]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
for k, folder in enumerate(folders):
    with h5py.File(f"{folder}/trajectory.h5") as file:
        edges = numpy.asarray(file["particles/all/box/edges/value"][-1])
        edge = edges.flat[0]
        frames = file["particles/all/position/value"][:][..., :2] % edge
    late = frames[len(frames) // 2:]
    found = [packing(frame.astype(float), edge) for frame in late]
    right.hist(numpy.concatenate(found), bins=numpy.arange(0.014, 1.2, 0.5 / AROUND**2),
               density=True, histtype="step", label=folder, linewidth=1.5)
    if k == 0:
        discs = EllipseCollection(numpy.ones(len(late[-1])), numpy.ones(len(late[-1])),
                                  numpy.zeros(len(late[-1])), units="x", offsets=late[-1],
                                  transOffset=left.transData, cmap="viridis")
        discs.set_array(found[-1])
        discs.set_clim(0, 1.1)
        left.add_collection(discs)
        left.set(xlim=(0, edge), ylim=(0, edge), xticks=[], yticks=[], aspect="equal",
                 title=f"{folder}, last frame")
        figure.colorbar(discs, ax=left, label="local packing fraction")
right.set(xlabel="local packing fraction", ylabel="probability density")
right.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
