"""Overdamped, a particle that a wave of speed c pushes with u < c at most slips back by
sqrt(c² - u²): its mean velocity is c - sqrt(c² - u²)."""

import numpy

import checks

job = checks.job()
still = checks.job()
still["forces"][0]["frequency"] = 0
checks.forces_follow_energy(still)
checks.devices_agree(job, ["potential_energy"])
checks.resumes(job)

x = checks.frames(checks.run(job))[:, :, 0]
measured = (x[-1] - x[4]).mean() / ((len(x) - 5) * 5)
c, u = 0.5 * 10 / 2, 1 * 2 * numpy.pi * 2 / 10
checks.near("velocity", measured, c - numpy.sqrt(c**2 - u**2), 0.02)
