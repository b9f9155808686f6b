"""The mean square velocity of free particles along an axis is s² tau / (xi (m + xi tau)); with the
time step its error is of second order."""

import copy

import checks

job = checks.job()
liquid = copy.deepcopy(job)
liquid["forces"] = [{"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
                     "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}]
liquid["stages"][0]["steps"] = 2000
checks.devices_agree(liquid, ["temperature", "potential_energy"])
checks.resumes(liquid)

folder = checks.run(job)
s, tau, xi = 3, 0.5, 2
# 3 · 1728 velocities, and 200 units of time of which each remembers about 0.5: 0.2 %.
checks.near("mean square velocity", checks.column(folder, "temperature")[100:].mean(),
            s * s * tau / (xi * (1 + xi * tau)), 0.015)
