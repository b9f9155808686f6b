"""Diffusion: the wave begins with the mean of cos(k x) = wave/2 and decays with exp(-D k² t)."""

import numpy

import checks

job = checks.job()
checks.resumes(job)

x = checks.frames(checks.run(job))[:, :, 0] - 5  # trajectories say 0 … L
k = 2 * numpy.pi / 10
for t, measured in zip(0.5 * numpy.arange(5), numpy.cos(k * x).mean(axis=1)):
    checks.near(f"wave at t = {t:g}", measured, 0.4 * numpy.exp(-k**2 * t), 0.06)
