#!/usr/bin/env python3
"""Plots the flux in the slab and the exit angles: plot.py [slab.h5 [slab.png]]"""
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

source = sys.argv[1] if len(sys.argv) > 1 else "slab.h5"
picture = sys.argv[2] if len(sys.argv) > 2 else "slab.png"

with h5py.File(source, "r") as file:
    observables = file["observables"]
    histories = observables["transmission/step"][-1]
    last = {name: observables[name]["value"][-1] for name in observables}

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
edges = last["depth_edges"]
middle = (edges[1:] + edges[:-1]) / 2
left.errorbar(middle, last["flux"], last["flux_error"], fmt=".", markersize=3, label="all neutrons")
# Cross-section of the job: what the beam alone would be.
left.plot(middle, np.exp(-1.1 * middle), "--", label="not yet collided")
left.set(xlabel="depth", ylabel="flux per incoming neutron", yscale="log", ylim=(1e-3, 3))
left.legend()

cosine = last["cosine_edges"]
width = np.diff(cosine)
for side in ("reflected", "transmitted"):
    share = last[f"{side}_angles"]
    error = last[f"{side}_angles_error"]
    total = share.sum()
    right.errorbar((cosine[1:] + cosine[:-1]) / 2, share / total / width, error / total / width,
                   fmt=".-",
                   label=side)
right.plot(cosine, 2 * cosine, "k:", label="2 cos (isotropic flux)")
right.set(xlabel="cosine of the exit angle", ylabel="probability density")
right.legend()
figure.suptitle(f"{histories} neutrons: T {last['transmission']:.5f}, R {last['reflection']:.4f}, "
                f"A {last['absorption']:.4f}")
figure.tight_layout()
figure.savefig(picture, dpi=120)

# The same on the console, for those without a screen.
print(f"{'depth':>6} {'flux':>10} {'error':>9}")
for k in range(0, len(middle), 10):
    print(f"{middle[k]:6.2f} {last['flux'][k]:10.5f} {last['flux_error'][k]:9.5f}")
