"""Boltzmann: the density is proportional to exp(-E/kT)."""

import numpy

import checks

job = checks.job()
checks.forces_follow_energy(job)
checks.devices_agree(job, ["potential_energy"])
checks.resumes(job)

x = (numpy.arange(200) + 0.5) / 20 - 5  # the box, in cells of 0.05
r2 = x[:, None, None]**2 + x[None, :, None]**2 + x[None, None, :]**2
energy = -2 * numpy.exp(-r2 / 2)
weight = numpy.exp(-energy)
measured = checks.column(checks.run(job), "potential_energy")[100:].mean() / 2000
checks.near("energy of a particle", measured, (energy * weight).sum() / weight.sum(), 0.06)
