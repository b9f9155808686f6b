#!/usr/bin/env python3
"""<R(t)> and <R(t) R(0)> of every run below a folder, against theory: plot.py [out] [picture.png].

Left: <R(t)> decays from R0 = 10 nm as (1 - k dt/xi)^n. Right: the correlation of the equilibrium,
from the time after 4 relaxation times on, is (k_B T/k) / (1 - k dt/2 xi) times the same. Both are
the exact results of the discretised equation. Drawn are the deviations in standard errors, as they
are for 10000 independent oscillators: beyond 3, something is wrong with the noise. Printed: their
root mean square over time, 1 where all is well (0.5 to 1.6: neighbouring times are correlated).
"""
import json
import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out")
picture = sys.argv[2] if len(sys.argv) > 2 else "oscillators.png"
R0 = 10.0


def analyse(path):
    with h5py.File(path) as f:
        job = json.loads(f["parameters/perrin/job"][()])
        x = f["particles/all/position/value"][:, :, 0].astype(np.float64)
        x += f["parameters/perrin/box_origin/value"][0, 0]
        step = f["particles/all/position/step"][:]
    mover = job["stages"][0]["integrator"]
    k = job["forces"][0]["stiffness"][0]
    dt, xi, kt = mover["timestep"], mover["friction"], mover["temperature"]
    decay = 1 - k * dt / xi
    variance = kt / k / (1 - k * dt / (2 * xi))
    n = x.shape[1]
    t = step * dt

    expected = R0 * decay**step
    error = np.sqrt(variance * (1 - decay ** (2.0 * step)) / n)
    mean = x.mean(axis=1)
    z_mean = (mean[1:] - expected[1:]) / error[1:]

    first = np.searchsorted(t, 4 * xi / k)
    lag = step[first:] - step[first]
    rho = decay**lag
    product = (x[first:] * x[first]).mean(axis=1)
    z_product = (product - variance * rho) / (variance * np.sqrt((1 + rho**2) / n))
    return dict(t=t, dt=dt, n=n, mean=mean, expected=expected, z_mean=z_mean, lag=lag * dt,
                product=product, theory=variance * rho, z_product=z_product, unit=xi / k)


runs = {p.parent.name: analyse(p) for p in sorted(folder.glob("*/oscillators.h5"))}
if not runs:
    sys.exit(f"plot.py: no oscillators.h5 below {folder}")
figure, axes = plt.subplots(2, 2, figsize=(10, 6), sharex="col",
                            gridspec_kw={"height_ratios": [3, 2]}, layout="constrained")
print(f"{'generator':18s} {'<R>':>6s} {'<RR>':>6s}   rms of the deviations, in standard errors")
for number, (name, r) in enumerate(runs.items()):
    style = dict(color="crimson" if name == "lcg" else plt.cm.viridis(number / len(runs)),
                 lw=1.6 if name == "lcg" else 0.7, label=name, zorder=3 if name == "lcg" else 2)
    axes[0, 0].plot(r["t"] / r["unit"], r["mean"], **style)
    axes[1, 0].plot(r["t"][1:] / r["unit"], r["z_mean"], **style)
    axes[0, 1].plot(r["lag"] / r["unit"], r["product"], **style)
    axes[1, 1].plot(r["lag"] / r["unit"], r["z_product"], **style)
    rms = [np.sqrt(np.mean(r[z] ** 2)) for z in ("z_mean", "z_product")]
    print(f"{name:18s} {rms[0]:6.2f} {rms[1]:6.2f}")
any_run = next(iter(runs.values()))
axes[0, 0].plot(any_run["t"] / any_run["unit"], any_run["expected"], "k--", lw=1, label="theory")
axes[0, 1].plot(any_run["lag"] / any_run["unit"], any_run["theory"], "k--", lw=1, label="theory")
axes[0, 0].set_ylabel(r"$\langle R(t)\rangle$ / nm")
axes[0, 1].set_ylabel(r"$\langle R(t)R(0)\rangle$ / nm²")
for axis in axes[1]:
    axis.axhspan(-3, 3, color="0.9", zorder=0)
    axis.set_ylabel("deviation / standard error")
axes[1, 0].set_xlabel(r"$t\,k/\xi$")
axes[1, 1].set_xlabel(r"$t\,k/\xi$, from equilibrium")
axes[0, 1].legend(fontsize=7, ncol=2)
figure.suptitle(f"{any_run['n']} oscillators, dt = {any_run['dt']:g} ns", fontsize=10)
figure.savefig(picture, dpi=90)
