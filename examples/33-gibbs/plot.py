"""Densities of a liquid and its gas against the temperature, and what is published.

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

# NIST Standard Reference Simulation Website, SAT-TMMC, Lennard-Jones fluid with a linear-force
# shifted potential at 3 σ: temperature, density of the gas, of the liquid.
PUBLISHED = numpy.array([
    (0.70, 0.007501, 0.7852), (0.75, 0.01260, 0.7582), (0.80, 0.02000, 0.7294),
    (0.85, 0.03043, 0.6981), (0.90, 0.04502, 0.6632), (0.95, 0.06578, 0.6229),
    (1.00, 0.09728, 0.5727), (1.05, 0.1567, 0.4959)])

folder, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
rows = []
for system in json.loads((folder / "ensemble.json").read_text())["systems"]:
    with h5py.File(folder / system["folder"] / "thermo.h5") as file:
        density = file["observables/density/value"][:]
    density = density[len(density) // 5:]
    blocks = [part.mean() for part in numpy.array_split(density, 10)]
    rows.append((system["values"]["stages[0].temperature"], density.mean(),
                 numpy.std(blocks, ddof=1) / 10 ** 0.5))
for (temperature, liquid, a), (_, gas, b) in zip(rows[::2], rows[1::2]):
    known = PUBLISHED[numpy.isclose(PUBLISHED[:, 0], temperature)][0]
    print(f"T = {temperature}: liquid {liquid:.4f} ± {a:.4f} (published {known[2]:.4f}), "
          f"gas {gas:.4f} ± {b:.4f} ({known[1]:.4f})")
temperature, density, error = numpy.array(rows).T
figure, axes = plt.subplots(figsize=(6, 4))
for column, label in ((1, "NIST, by transition matrices"), (2, None)):
    axes.plot(PUBLISHED[:, column], PUBLISHED[:, 0], "-", color="gray", label=label)
axes.errorbar(density[::2], temperature[::2], xerr=error[::2], fmt="s", label="first box: liquid")
axes.errorbar(density[1::2], temperature[1::2], xerr=error[1::2], fmt="o", label="second box: gas")
axes.set(xlabel="density (σ⁻³)", ylabel="temperature (ε)")
axes.legend(loc="lower center")
figure.tight_layout()
figure.savefig(picture, dpi=120)
