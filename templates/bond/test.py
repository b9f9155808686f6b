"""Lengths of free bonds are distributed as r² exp(-E/kT)."""

import numpy

import checks

job = checks.job()
checks.forces_follow_energy(job, timestep=0.0005)
checks.devices_agree(job, ["potential_energy", "pressure"])
checks.resumes(job)

r = numpy.linspace(0.01, 3, 3000)
energy = 10 * (r - 1)**2 + 125 * (r - 1)**4
weight = r**2 * numpy.exp(-energy)
folder = checks.run(job)
measured = checks.column(folder, "potential_energy")[20:].mean() / 1000
checks.near("energy of a bond", measured, (energy * weight).sum() / weight.sum(), 0.02)
position = checks.frames(folder)[20:]
lengths = numpy.linalg.norm(position[:, 1::2] - position[:, ::2], axis=2)
checks.near("length of a bond", lengths.mean(), (r * weight).sum() / weight.sum(), 0.003)
