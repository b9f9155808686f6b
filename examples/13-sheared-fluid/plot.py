#!/usr/bin/python3
"""Viscosity against rate, of the file that curve.py writes.   plot.py [FOLDER] [PNG]"""
import json
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "out"
picture = sys.argv[2] if len(sys.argv) > 2 else "viscosity.png"
with open(f"{folder}/curve.json") as file:
    found = json.load(file)
rate, eta, error = np.array(found["rates"]).T
figure, axes = plt.subplots(figsize=(6, 3.6), constrained_layout=True)
axes.errorbar(rate, eta, error, fmt="o", capsize=3, label="Lees-Edwards")
value, wrong = found["green_kubo"]
axes.errorbar([rate.min() / 2], [value], [wrong], fmt="d", color="C1", capsize=3,
              label="Green-Kubo, at rest")
value, wrong, at = found["field"]
axes.errorbar([at], [value], [wrong], fmt="s", color="C2", capsize=3, label="periodic field")
if rate[-1] > 3:  # what the thermostat makes of it
    axes.annotate("strings", (rate[-1], eta[-1]), xytext=(-50, 4), textcoords="offset points")
axes.axhspan(2.3, 2.4, color="0.9", zorder=0, label="published, at low rate")
axes.set(xscale="log", xlabel="shear rate", ylabel="viscosity",
         title="WCA fluid, density 0.8442, temperature held at 0.722")
axes.legend()
figure.savefig(picture, dpi=90)
print(picture)
