"""Density against activity, of systems that began as a gas and as a liquid.

    plot.py FOLDER PICTURE
"""

import json
import pathlib
import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# J. Vrabec, G. K. Kedia, G. Fuchs, H. Hasse, Mol. Phys. 104, 1509 (2006), at T = 0.9.
GAS, LIQUID = 0.0444, 0.6632

folder, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
branches = {"from a gas": [], "from a liquid": []}
for system in json.loads((folder / "ensemble.json").read_text())["systems"]:
    with h5py.File(folder / system["folder"] / "thermo.h5") as file:
        number = file["observables/particles/value"][:]
        volume = file["observables/volume/value"][:]
    density = (number / volume)[len(number) // 3:]
    blocks = [part.mean() for part in numpy.array_split(density, 8)]
    start = "from a gas" if system["values"]["system.densities.A"] < 0.3 else "from a liquid"
    branches[start].append((system["values"]["stages[0].insertion[0].activity"], density.mean(),
                            numpy.std(blocks, ddof=1) / 8 ** 0.5))
figure, axes = plt.subplots(figsize=(6, 4))
for (name, rows), marker in zip(branches.items(), "os"):
    activity, density, error = numpy.array(sorted(rows)).T
    for row in zip(activity, density, error):
        print("{}: activity {:.4f}, density {:.4f} ± {:.4f}".format(name, *row))
    axes.errorbar(activity, density, error, fmt=marker + "-", capsize=3, label=name)
for density, text in ((GAS, "saturated gas (Vrabec et al.)"), (LIQUID, "saturated liquid")):
    axes.axhline(density, linestyle="--", color="gray", linewidth=1)
    axes.text(activity[0], density + 0.012, text, fontsize=8)
axes.set(xlabel="activity (σ⁻³)", ylabel="density (σ⁻³)")
axes.legend(loc="center right")
figure.tight_layout()
figure.savefig(picture, dpi=120)
