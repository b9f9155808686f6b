#!/usr/bin/python3
"""The beginning of each Monte Carlo run of bits.py, and of those with charges and dipoles, on a GPU
and on the CPU: random numbers are the same, so that tables are, but for rounding.

    devices.py PERRIN [unittest arguments]
"""

import copy
import json
import os
import sys
import unittest

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "physics"))

import bits  # noqa: E402
from job_case import DEVICE, JobCase  # noqa: E402

SWEEPS, STEPS = 3, 20
# Single precision, some hundred terms in a sum, and 20 steps in which differences double.
TOLERANCE = 1e-4


def chosen():
    """Without formulas, which would be compiled for each."""
    return {name: job for name, job in bits.jobs("cpu").items()
            if (name.startswith(("charges, ", "insertion", "dipoles")) or any(
                stage["type"] == "monte_carlo" for stage in job["stages"]))
            and "_formula" not in json.dumps(job, default=float)}


def shortened(job):
    job = copy.deepcopy(job)
    job.pop("processes", None)
    job["observers"] = [{"type": "thermo", "stride": 1}]
    for stage in job["stages"]:
        if "sweeps" in stage:
            stage["sweeps"] = SWEEPS
        if "steps" in stage:
            stage["steps"] = min(stage["steps"], STEPS)
        if "tune" in stage:
            stage["tune"]["sweeps"] = 1
    return job


class Devices(JobCase):
    overwrite = True

    def table(self, folder):
        with h5py.File(self.path(folder, "thermo.h5")) as file:
            return {name: column["value"][()].astype(float)
                    for name, column in file["observables"].items()
                    if isinstance(column, h5py.Group) and "value" in column}

    def test_tables_agree(self):
        for name, job in chosen().items():
            with self.subTest(name):
                job = shortened(job)
                for device in (DEVICE, "cpu"):
                    self.run_job(job, folder=device, device=device)
                there, here = self.table(DEVICE), self.table("cpu")
                self.assertEqual(there.keys(), here.keys())
                for column, values in here.items():
                    if column == "momentum":  # of nothing but rounding where it is kept
                        continue
                    numpy.testing.assert_allclose(
                        there[column], values, rtol=0, err_msg=column,
                        atol=TOLERANCE * max(abs(values[numpy.isfinite(values)]).max(initial=0),
                                             1e-30))


if __name__ == "__main__":
    sys.exit(unittest.main(argv=["devices", *sys.argv[2:]]))
