#!/usr/bin/env python3
"""Plots spectra and the flux of neutrons with energies: plot.py [layers.h5 [layers.png]]"""
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

source = sys.argv[1] if len(sys.argv) > 1 else "layers.h5"
picture = sys.argv[2] if len(sys.argv) > 2 else "layers.png"

with h5py.File(source, "r") as file:
    observables = file["observables"]
    last = {name: observables[name]["value"][-1] for name in observables}

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
energy = last["energy_edges"]
lethargy = np.log(energy[1:] / energy[:-1])
for name in ("reflected", "transmitted", "absorbed"):
    left.step(energy[:-1], last[f"{name}_spectrum"] / lethargy, where="post", label=name)
left.set(xlabel="energy", ylabel="per neutron and unit of lethargy", xscale="log", yscale="log")
left.legend()
right.step(energy[:-1], last["flux_spectrum"] / lethargy, where="post")
right.set(xlabel="energy", ylabel="flux per unit of lethargy, mean over the depth", xscale="log",
          yscale="log")
figure.tight_layout()
figure.savefig(picture, dpi=120)

# The same on the console, by decades.
print(f"{'from':>8} {'to':>8} {'reflected':>10} {'transmitted':>11} {'absorbed':>9} {'flux':>8}")
decades = np.floor(np.log10(energy[:-1]) + 1e-9)
for decade in np.unique(decades):
    here = decades == decade
    sums = [last[f"{name}_spectrum"][here].sum()
            for name in ("reflected", "transmitted", "absorbed", "flux")]
    print(f"{10**decade:8.0e} {10**(decade + 1):8.0e} {sums[0]:10.5f} {sums[1]:11.5f} "
          f"{sums[2]:9.5f} {sums[3]:8.4f}")
