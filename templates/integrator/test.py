"""The conserved quantity is conserved, and the kinetic energy is distributed as in the canonical
ensemble: g degrees of freedom have the mean g kT/2 and the variance g (kT)²/2."""

import numpy

import checks

job = checks.job()
checks.devices_agree(job, ["temperature", "conserved_energy"])
checks.resumes(job)

folder = checks.run(job)
kinetic = checks.column(folder, "kinetic_energy")[300:]
total, conserved = (checks.column(folder, name)[300:]
                    for name in ("total_energy", "conserved_energy"))
print(f"fluctuations: total energy {total.std():.3g}, conserved quantity {conserved.std():.2g}")
assert conserved.std() < 0.02 * total.std()
g = 3 * 256 - 3
checks.near("mean kinetic energy", kinetic.mean(), g / 2, 0.01)
checks.near("its variance", kinetic.var(), g / 2, 0.25)
