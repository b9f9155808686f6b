"""Mean square displacements of small and large particles, and the distribution of diameters.

    plot.py FOLDER PICTURE
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
for name in ("small", "large"):
    with h5py.File(f"{folder}/{name}.h5") as file:
        f = file["observables"]
        lag = f["lag_time/value"][-1] if "value" in f["lag_time"] else f["lag_time"][:]
        msd = f["mean_square_displacement/value"][-1]
    msd = msd.reshape(-1, len(lag))[0] if msd.shape[-1] == len(lag) else msd[:, 0]
    good = (lag > 0) & numpy.isfinite(msd)
    left.loglog(lag[good], msd[good], "o-", markersize=3, label=name)
    late = good & (lag > lag[good].max() / 4)
    print(f"{name}: D = {numpy.polyfit(lag[late], msd[late], 1)[0] / 6:.5f}")
left.set(xlabel="time", ylabel="mean square displacement")
left.legend()
with h5py.File(f"{folder}/trajectory.h5") as file:
    sigma = file["parameters/perrin/attributes/s"][:]
    step = file["particles/all/position/step"][:]
print(f"diameters: mean {sigma.mean():.3f}, standard deviation {sigma.std():.3f}")
print("frames at the steps", *(step - step[0]))
right.hist(sigma, 30, density=True, color="0.8", label="drawn")
s = numpy.linspace(0.725, 1.606, 200)
right.plot(s, 2 * s ** -3 / (0.725 ** -2 - 1.606 ** -2), "k--", label="1/s³")
right.set_xlabel("diameter")
right.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
