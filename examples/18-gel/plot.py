"""How a gel forms, and how it breaks when it is stretched.

    plot.py FOLDER PICTURE
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
with h5py.File(f"{folder}/bonds.h5") as file:
    f = file["observables"]
    step = f["conversion/step"][:]
    row = {name: f[f"{name}/value"][:] for name in
           ("conversion", "largest", "weight_mean_size", "broken", "bonds")}
with h5py.File(f"{folder}/thermo.h5") as file:
    f = file["observables"]
    when, pressure = f["pressure_tensor/step"][:], f["pressure_tensor/value"][:]
particles, cure = 2500, 40000
cured = step <= cure
p = row["conversion"][cured]
# Without the largest molecule the mean of the others has its maximum at the gel point.
rest = (row["weight_mean_size"][cured] * particles - row["largest"][cured]**2) / (
    particles - row["largest"][cured])
print(f"conversion after the cure {p[-1]:.3f}, in the largest molecule "
      f"{row['largest'][cured][-1] / particles:.3f} of the particles")
print(f"gel point: mean of the other molecules is largest at {p[rest.argmax()]:.3f}; without loops "
      f"it would be at {0.5**0.5:.3f}")
print(f"broken by stretching: {row['broken'][-1, 0]:.0f} of {row['bonds'][cured][-1, 0]:.0f} bonds")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.semilogy(p, rest, ".", label="weight mean, without the largest")
left.semilogy(p, row["largest"][cured], label="largest")
left.axvline(0.5**0.5, color="0.6", linestyle="--", label="Flory: $1/\\sqrt{2}$")
left.set_xlabel("conversion")
left.set_ylabel("particles in a molecule")
left.legend(loc="upper left", fontsize=8)
late = when >= cure
strain = 1 + 2 * (when[late] - cure) / 20000  # length over first length
stress = -(pressure[late, 0, 0] - (pressure[late, 1, 1] + pressure[late, 2, 2]) / 2)
window = 10
mean = numpy.convolve(stress, numpy.ones(window) / window, "valid")
right.plot(strain[window - 1:], mean, label="tensile stress")
right.set_xlabel("length / first length")
right.set_ylabel("stress")
other = right.twinx()
other.plot(1 + 2 * (step[step >= cure] - cure) / 20000, row["bonds"][step >= cure, 0], color="C3")
other.set_ylabel("bonds", color="C3")
right.legend(loc="lower right", fontsize=8)
figure.tight_layout()
figure.savefig(picture, dpi=110)
