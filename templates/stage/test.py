"""E. Ising, Z. Physik 31, 253 (1925): the energy of a spin is -coupling tanh(coupling/kT)."""

import numpy

import checks

job = checks.job()
checks.resumes(job)

energy = checks.column(checks.run(job), "energy_per_spin", "plugin_name.h5")[20:]
checks.near("energy of a spin", energy.mean(), -numpy.tanh(1 / 1.5), 0.01)
