#!/usr/bin/python3
"""Spheres that are nearly hard, each with a diameter of its own, against the equation of state of
mixtures of hard spheres.

    hard_spheres.py PERRIN [unittest arguments]

The potential is the steep repulsion of J. Jover, A. J. Haslam, A. Galindo, G. Jackson, E. A.
Müller, J. Chem. Phys. 137, 144505 (2012), which at kT = 1.5 epsilon stands for hard spheres.
"""

import math
import sys
import unittest

import h5py
import numpy

from job_case import JobCase

KT = 1.5
REPULSION = {
    "type": "pair_formula", "truncation": "cut", "cutoff": 1.3,
    "energy": "a*((s/r)^50 - (s/r)^49) + 1; s = (sigma_1 + sigma_2)/2",
    "range": "50/49*(sigma_1 + sigma_2)/2",
    "pairs": [{"types": ["A", "A"], "a": 50 * (50 / 49) ** 49}]}


def compressibility(packing, sigma):
    """P/(n kT) of a mixture of hard spheres: T. Boublík, J. Chem. Phys. 53, 471 (1970); G. A.
    Mansoori, N. F. Carnahan, K. E. Starling, T. W. Leland, J. Chem. Phys. 54, 1523 (1971)."""
    m1, m2, m3 = (numpy.mean(sigma ** k) for k in (1, 2, 3))
    free = 1 - packing
    return (1 / free + 3 * packing * m1 * m2 / (m3 * free ** 2) +
            packing ** 2 * (3 - packing) * m2 ** 3 / (m3 ** 2 * free ** 3))


class HardSpheres(JobCase):
    overwrite = True

    def fluid(self, packing, steps):
        """P/(n kT) over that of hard spheres, and its error."""
        density = packing * 6 / math.pi / 1.0625  # the mean cube of the diameters
        job = {"seed": 4, "attributes": {"sigma": {"random": {"uniform": [0.75, 1.25]}}},
               "system": {"type": "lattice", "structure": "fcc", "density": density,
                          "cells": [6, 6, 6]},
               "velocity": {"temperature": KT}, "forces": [REPULSION],
               "observers": [{"type": "thermo", "stride": 5, "stages": ["fluid"]},
                             {"type": "trajectory", "stride": steps, "stages": ["fluid"]}],
               "stages": [{"type": "md", "name": name, "steps": n, "integrator": {
                   "type": "bussi", "timestep": 0.001, "temperature": KT, "tau": 0.5}}
                   for name, n in (("melt", 6000), ("fluid", steps))]}
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as file:
            sigma = file["parameters/perrin/attributes/sigma"][:]
        z = self.column("pressure") / (density * self.column("temperature"))
        blocks = z[:len(z) // 20 * 20].reshape(20, -1).mean(axis=1)
        # With the diameters that were drawn.
        exact = compressibility(density * math.pi / 6 * numpy.mean(sigma ** 3), sigma)
        return z.mean() / exact, blocks.std(ddof=1) / 20 ** 0.5 / exact

    def test_pressure_of_polydisperse_spheres(self):
        """Diameters from 0.75 to 1.25, 14 % of polydispersity, in a fluid and where equal spheres
        would freeze. The equation of state is right to 0.5 %, and the potential stands for hard
        spheres to 1 %."""
        for packing in (0.4, 0.5):
            ratio, error = self.fluid(packing, 12000)
            self.assertLess(error, 0.006)
            self.assertAlmostEqual(ratio, 1, delta=0.012 + 3 * error)


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
