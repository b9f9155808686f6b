"""Free particles in a heat bath (Ornstein, Uhlenbeck): 6 kT/xi [t - m/xi (1 - exp(-xi t/m))]."""

import numpy

import checks

job = checks.job()
checks.devices_agree(job, ["mean_square_displacement"], file="plugin_name.h5")
checks.resumes(job)

folder = checks.run(job)
t = checks.column(folder, "mean_square_displacement", "plugin_name.h5", "time")
measured = checks.column(folder, "mean_square_displacement", "plugin_name.h5")
expected = 6 * (t - 1 + numpy.exp(-t))
assert measured[0] == 0
for k in (1, 5, 20):
    checks.near(f"mean square displacement at t = {t[k]:g}", measured[k], expected[k], 0.04)
