"""Energy of a dilute gas: N density/2 times the integral of E exp(-E/kT) over space, but for terms
of the density squared (here about one part in a hundred)."""

import numpy

import checks

job = checks.job()
dense = checks.job()
dense["system"].update(particles={"A": 500}, density=0.5)
checks.forces_follow_energy(dense)
checks.devices_agree(dense, ["potential_energy", "pressure"])
checks.resumes(checks.shortened(dense, 3000))

r = numpy.linspace(0, 2.5, 2501)
energy = 5 * numpy.exp(-r / 0.3)
shifted = energy - energy[-1] + (r - 2.5) * energy[-1] / 0.3  # "force_shift"
integral = (4 * numpy.pi * r**2 * shifted * numpy.exp(-shifted)).sum() * (r[1] - r[0])
expected = 2000 * 0.01 / 2 * integral
measured = checks.column(checks.run(job), "potential_energy")[50:].mean()
checks.near("energy of the gas", measured, expected, 0.06)
