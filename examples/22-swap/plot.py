"""The energy after a quench, with and without exchanges.

    plot.py FOLDER_WITH FOLDER_WITHOUT PICTURE
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

*folders, picture = sys.argv[1:]
figure, axes = plt.subplots(figsize=(6, 4))
for folder, label in zip(folders, ("with swaps", "displacements alone")):
    with h5py.File(f"{folder}/thermo.h5") as file:
        energy = file["observables/potential_energy"]
        step, value = energy["step"][:], energy["value"][:] / 729
    sweeps = step - step[0] + 1
    axes.semilogx(sweeps, value, label=label)
    late = value[len(value) // 2:]
    parts = numpy.array([p.mean() for p in numpy.array_split(late, 10)])
    print(f"{label}: energy {parts.mean():.4f} ± {parts.std(ddof=1) / 10 ** 0.5:.4f} a particle "
          "in the second half")
axes.set(xlabel="sweeps at T = 0.1", ylabel="energy of a particle")
axes.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
