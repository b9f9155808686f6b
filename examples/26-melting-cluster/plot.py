"""Heat capacity of the cluster at each temperature, from the fluctuations of its energy.

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

folder, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
systems = json.loads((folder / "ensemble.json").read_text())["systems"]
rows = []
for system in systems:
    temperature = system["values"]["stages[0].integrator.temperature"]
    with h5py.File(folder / system["folder"] / "thermo.h5") as file:
        energy = file["observables/potential_energy/value"][:]
    energy = energy[len(energy) // 5:]
    blocks = [part.var() for part in numpy.array_split(energy, 10)]
    # Of the 39 degrees of freedom half are velocities: k_B/2 each.
    rows.append((temperature, 19.5 + energy.var() / temperature ** 2,
                 numpy.std(blocks, ddof=1) / 10 ** 0.5 / temperature ** 2))
temperature, capacity, error = numpy.array(rows).T
for row in rows:
    print("T {:.4f}: C {:.1f} ± {:.1f} k_B".format(*row))
figure, axes = plt.subplots(figsize=(6, 4))
axes.errorbar(temperature, capacity, error, fmt="o-", capsize=3)
axes.set(xlabel="temperature (ε/k)", ylabel="heat capacity of the cluster (k)")
figure.tight_layout()
figure.savefig(picture, dpi=120)
