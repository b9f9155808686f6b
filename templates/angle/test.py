"""Angles of free trimers are distributed as sin theta exp(-E/kT): what bonds do plays no part."""

import numpy

import checks

job = checks.job()
checks.forces_follow_energy(job, timestep=0.001)
checks.devices_agree(job, ["potential_energy", "pressure"])
checks.resumes(job)

cosine = numpy.linspace(-1, 1, 4001)
x = cosine - numpy.cos(110 * numpy.pi / 180)
energy = 5 / 2 * x**2 + 20 / 4 * x**4
weight = numpy.exp(-energy)  # sin theta d(theta) = d(cos theta)
position = checks.frames(checks.run(job))[20:]
u, v = position[:, ::3] - position[:, 1::3], position[:, 2::3] - position[:, 1::3]
measured = (u * v).sum(axis=2) / numpy.linalg.norm(u, axis=2) / numpy.linalg.norm(v, axis=2)
x = measured - numpy.cos(110 * numpy.pi / 180)
checks.near("cosine", measured.mean(), (cosine * weight).sum() / weight.sum(), 0.03)
checks.near("energy of an angle", (5 / 2 * x**2 + 20 / 4 * x**4).mean(),
            (energy * weight).sum() / weight.sum(), 0.03)
