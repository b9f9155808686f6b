"""Nematic order over the density, and the axes before and after.

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
with h5py.File(f"{folder}/orientational_order.h5") as file:
    steps = file["observables/nematic_order/step"][:]
    order = file["observables/nematic_order/value"][:]
    director = file["observables/director/value"][-1]
with h5py.File(f"{folder}/thermo.h5") as file:
    at = dict(zip(file["observables/density/step"][:], file["observables/density/value"][:]))
density = numpy.array([at[step] for step in steps])
slow = density > 0.255

with h5py.File(f"{folder}/trajectory.h5") as file:
    group = file["particles/all"]
    positions = group["position/value"][:].astype(float)
    w, x, y, z = numpy.moveaxis(group["orientation/value"][:].astype(float), -1, 0)
    frames = group["position/step"][:]
    first = json.loads(file["parameters/perrin/job"].asstr()[()])["stages"][0]["steps"]
axes = numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], -1)

# Along the director, and one direction across it.
across = numpy.cross(director, numpy.eye(3)[abs(director).argmin()])
across /= numpy.linalg.norm(across)
plane = numpy.stack([across, director], 1)

figure, panels = plt.subplots(1, 3, figsize=(13, 4.2))
panels[0].plot(density[slow], order[slow], linewidth=1)
panels[0].set(xlabel="density", ylabel="nematic order", ylim=(0, 1))
for panel, frame in ((panels[1], abs(frames - first).argmin()), (panels[2], len(frames) - 1)):
    u = axes[frame] @ plane
    r = positions[frame] @ plane
    panel.quiver(*r.T, *u.T, numpy.abs(axes[frame] @ director), pivot="mid", headwidth=0,
                 headlength=0, headaxislength=0, scale=1, scale_units="xy", angles="xy",
                 width=0.004, cmap="viridis", clim=(0, 1))
    panel.set(aspect="equal", xticks=[], yticks=[],
              title=f"density {at.get(frames[frame], density[-1]):.2f}")
figure.tight_layout()
figure.savefig(picture, dpi=110)
