#!/usr/bin/env python3
"""The centre of mass of the run beside the exact solution; the largest difference."""
import sys

import h5py
import numpy

folder = sys.argv[1] if len(sys.argv) > 1 else "."
k, a, omega = 1.0, 1.0, 1.5
with h5py.File(f"{folder}/trajectory.h5") as f:
    stages = f["parameters/perrin/stages"]
    begin = dict(zip(stages["name"].asstr()[:], stages["step"][:]))["production"]
    all_ = f["particles/all"]
    frames = all_["position/step"][:] >= begin
    t = all_["position/time"][frames]
    edges = all_["box/edges/value"][0].diagonal()
    x = (all_["position/value"][frames] + all_["image/value"][frames] * edges - edges / 2)
    x = x[:, :, 0].mean(axis=1)
    v = all_["velocity/value"][frames][0, :, 0].mean()
driven = a / (k - omega**2)
free, s = numpy.sqrt(k), t - t[0]
start = x[0] - driven * numpy.cos(omega * t[0])
speed = v + driven * omega * numpy.sin(omega * t[0])
exact = (driven * numpy.cos(omega * t) + start * numpy.cos(free * s)
         + speed / free * numpy.sin(free * s))
print(f"amplitude {numpy.ptp(exact) / 2:.3f}, largest difference {abs(x - exact).max():.1e}")
