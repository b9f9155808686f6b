"""Energy of a dilute gas: two particles that meet have the energy E = 2 F(w(r)), and the gas N
density/2 times the integral of E exp(-E/kT) over space, but for terms of the density squared (here
about one part in a hundred)."""

import numpy

import checks

job = checks.job()
dense = checks.job()
dense["system"].update(particles={"A": 500}, density=2)
checks.forces_follow_energy(dense)
checks.devices_agree(dense, ["potential_energy", "pressure"])
checks.resumes(checks.shortened(dense, 3000))

r = numpy.linspace(0, 1, 1001)
energy = 2 * 2 * (1 - r) ** 4
integral = (4 * numpy.pi * r**2 * energy * numpy.exp(-energy)).sum() * (r[1] - r[0])
expected = 2000 * 0.01 / 2 * integral
measured = checks.column(checks.run(job), "potential_energy")[50:].mean()
checks.near("energy of the gas", measured, expected, 0.06)
