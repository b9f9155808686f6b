"""Density profiles of the slab, of the stages of dynamics and of those of Monte Carlo.

    plot.py FOLDER PICTURE
"""

import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
figure, axes = plt.subplots(figsize=(6, 4))
for name in ("dynamics", "monte-carlo"):
    with h5py.File(f"{folder}/{name}.h5") as file:
        z = file["observables/coordinate/value"][0]
        rows = file["observables/density/value"][:]
    rows = rows[1::2]  # at the end of each stage; the row before is of its first step alone
    # The slab drifts: each row is centred by the phase of its first Fourier mode.
    centred = []
    for row in rows:
        turns = numpy.angle((row * numpy.exp(-2j * numpy.pi * numpy.arange(80) / 80)).sum())
        centred.append(numpy.roll(row, 40 + round(turns / (2 * numpy.pi) * 80)))
    density = numpy.mean(centred, axis=0)
    z = z - z.mean()
    axes.plot(z, density, label=name)
    liquid = density[abs(z) < 4].mean()
    gas = density[abs(z) > 14].mean()
    print(f"{name}: liquid {liquid:.4f}, gas {gas:.4f}")
away = 1.0779 - 0.8
for name, sign, linear, more in (("liquid", 1, 0.1314, 0.0413), ("gas", -1, 0.2128, 0.0702)):
    published = 0.3190 + sign * 0.5649 * away ** (1 / 3) + linear * away + more * away ** 1.5
    print(f"{name} of Vrabec and others: {published:.4f}")
    axes.axhline(published, color="0.7", linestyle="--", zorder=0)
axes.set(xlabel="z", ylabel="density")
axes.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
