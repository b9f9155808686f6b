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

    def test_a_crystal_beside_its_melt(self):
        """Equal hard spheres, 640 as a crystal and 432 as a fluid: packing fractions 0.492 and
        0.545 (G. Odriozola, L. Berthier, arXiv 1010.5607), and so the pressure 11.57 (L. A.
        Fernández, V. Martín-Mayor, B. Seoane, P. Verrocchio, arXiv 1103.2599), of the fluid by
        Carnahan and Starling. The density of a volume V of fluid beside a crystal that may melt and
        freeze has the variance 1/(V ∂μ/∂ρ): here that is 0.0024 of the packing, and as it takes
        thousands of sweeps to change, of the mean, too. The pressure, whose slope is 100, has 2 %.
        The crystal is so thin in the end that its interfaces are counted with it."""
        edge = (4 * math.pi / 6 / 0.545) ** (1 / 3)
        width = 4 * edge
        cells = numpy.array(list(numpy.ndindex(4, 4, 10)), float)
        basis = numpy.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2 + 0.25
        sites = numpy.array(list(numpy.ndindex(6, 6, 12)), float) + 0.5
        positions = numpy.concatenate([
            (cells[:, None] + basis[None]).reshape(-1, 3) * edge,
            sites * [width / 6, width / 6, 1] + [0, 0, 10 * edge + 0.3]])
        length = 10 * edge + 12.6
        with open(self.path("start.xyz"), "w") as out:
            out.write(f'{len(positions)}\nLattice="{width} 0 0 0 {width} 0 0 0 {length}" '
                      'Properties=species:S:1:pos:R:3\n')
            out.writelines(f"A {x:.7f} {y:.7f} {z:.7f}\n" for x, y, z in positions)
        stage = {"type": "monte_carlo", "temperature": 1,
                 "translation": {"displacement": 0.07, "trials": 4}}
        self.run_job({
            "seed": 3, "system": {"type": "file", "path": "start.xyz"},
            "forces": [{"type": "pair_formula", "energy": "if(r < 1, 1e6, 0)", "cutoff": 1.05,
                        "pairs": [{"types": ["A", "A"]}]}],
            "observers": [{"type": "trajectory", "stride": 50, "stages": ["slab"]}],
            "stages": [{**stage, "name": "start", "sweeps": 2500},
                       {**stage, "name": "slab", "sweeps": 5000}]})
        profile = numpy.zeros(18)
        for frame in self.frames("position"):
            at = frame[:, 2] / length
            middle = numpy.angle(numpy.exp(2j * math.pi * at).mean()) / (2 * math.pi)
            profile += numpy.histogram((at - middle + 0.5) % 1, 18, (0, 1))[0]
        profile *= math.pi / 6 / (width ** 2 * length / 18) / len(self.frames("position"))
        fluid, crystal = profile[[0, 1, 2, 15, 16, 17]].mean(), profile[7:11].mean()
        self.assertAlmostEqual(fluid, 0.492, delta=0.006)
        self.assertAlmostEqual(crystal, 0.545, delta=0.010)
        z = (1 + fluid + fluid ** 2 - fluid ** 3) / (1 - fluid) ** 3
        self.assertAlmostEqual(6 / math.pi * fluid * z, 11.57, delta=0.06 * 11.57)


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
