#!/usr/bin/python3
"""Counterions around a charged rod in a cylindrical cell, against the Poisson-Boltzmann equation.

    polyelectrolytes.py PERRIN [unittest arguments]
"""

import json
import math
import pathlib
import re
import sys
import unittest

import numpy

from job_case import JobCase

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "34-polyelectrolyte"
sys.path.insert(0, str(EXAMPLE))
import plot  # noqa: E402


class Rod(JobCase):
    overwrite = True
    radii = numpy.array([1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0])

    def counterions(self, xi, beads, steps, accuracy=1e-2):
        """Fractions within the radii, with errors, of a rod with so many charges in a length of 8;
        and the coupling: the Manning parameter times the Bjerrum length over the radius."""
        job = json.loads(re.sub(r"//.*", "", (EXAMPLE / "rod.json").read_text()))
        del job["ensemble"]
        job["system"]["parts"][1]["particles"]["ion"] = beads
        job["attributes"]["charge"]["types"]["rod"] = -beads / 16
        job["forces"][1].update(accuracy=accuracy * beads / 64, coulomb={
            "bjerrum_length": 8 * xi / beads, "temperature": 1})
        job["stages"][0]["steps"], job["stages"][1]["steps"] = steps // 6, steps
        job["observers"][1]["rows_every"] = steps // 20
        self.run_job(job)
        edge, within = plot.measured(self.path("radial_profile.h5"))
        found = numpy.array([numpy.interp(self.radii, edge, row) for row in within])
        error = found.std(axis=0, ddof=1) / math.sqrt(len(found))
        return found.mean(axis=0), error, 8 * xi**2 / beads

    def expected(self, xi):
        r = numpy.exp(numpy.linspace(math.log(0.5), math.log(9), 10000))
        wall = 100 * (numpy.maximum(1 - r, 0)**2 + numpy.maximum(r - 8, 0)**2)
        return numpy.interp(self.radii, r, plot.poisson_boltzmann(xi, r, wall))

    def test_counterions_of_a_rod(self):
        """Below and above the charge at which ions condense. Correlations, which the equation
        leaves out, add to the fractions in first order of the coupling, up to 0.05 times it. What
        is left of two couplings at none is that of the equation."""
        # The closed form of hard surfaces is what the iteration finds.
        r = numpy.exp(numpy.linspace(0, math.log(8), 20000))
        for xi in (1.5, 3.0):
            numpy.testing.assert_allclose(plot.poisson_boltzmann(xi, r, 0 * r),
                                          plot.fuoss_katchalsky_lifson(xi, r)[0], atol=1e-5)
        for xi, many, steps in ((0.7, 64, 50000), (2.0, 128, 50000)):
            expected = self.expected(xi)
            strong, strong_error, coupling = self.counterions(xi, many // 2, steps)
            weak, weak_error, half = self.counterions(xi, many, steps)
            self.assertAlmostEqual(half, coupling / 2)
            for at, mean, error in ((coupling, strong, strong_error), (half, weak, weak_error),
                                    (0, 2 * weak - strong,
                                     numpy.hypot(2 * weak_error, strong_error))):
                off = mean - expected
                self.assertLess((abs(off) - 4.5 * error - 0.05 * at).max(), 0, (xi, at, off))
                self.assertLess(error.max(), 0.02)
            # Without charges there are (2² - 1)/(8² - 1) of the ions within 2.
            self.assertGreater(weak[3], 0.1 if xi < 1 else 0.35)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
