#!/usr/bin/python3
"""Energies, forces and virials of charges against those of LAMMPS (tests/reference/lammps).

    lammps_charges.py PERRIN [unittest arguments]
"""

import json
import math
import os
import sys
import unittest

import numpy

from charges import REFERENCE, ChargeCase, tilted

# xx, yy, zz, xy, xz, yz in a tensor.
ELEMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
ERROR_OF_PPPM = 1e-5


class Lammps(ChargeCase):
    def setUp(self):
        super().setUp()
        with open(os.path.join(REFERENCE, "lammps", "charges.json")) as file:
            self.reference = json.load(file)

    def compare(self, style, force, accuracy, tensor=True, **system):
        """Forces within 1.5 times their error (rms), energy and virial within 20 and 50 times it,
        as of OpenMM (charges.py). Returns the three differences."""
        for name, of in self.reference["boxes"].items():
            if style not in of["styles"]:
                continue
            expected = of["styles"][style]
            given = self.data(numpy.array(of["positions"]), numpy.array(self.reference["charges"]),
                              tilted(*of["box"]))
            energy, forces, virial = self.measured(self.job({**given, **system}, [force]))
            d = forces - numpy.array(expected["forces"])
            rms = math.sqrt((d**2).sum(axis=1).mean())
            where = f"{style}, {name}, {force}"
            self.assertLess(rms, 1.5 * accuracy, where)
            self.assertAlmostEqual(energy, expected["energy"], delta=20 * accuracy, msg=where)
            for (a, b), value in zip(ELEMENTS, expected["virial"]) if tensor else ():
                self.assertAlmostEqual(virial[a, b], value, delta=50 * accuracy,
                                       msg=f"{where}: virial {a}{b}")

    def test_sums_over_waves(self):
        for accuracy, cutoff in ((1e-3, 2.5), (1e-5, 4)):
            force = {"type": "ewald", "cutoff": cutoff, "accuracy": accuracy}
            self.compare("ewald", force, accuracy)
            self.compare("pppm", force, math.hypot(accuracy, ERROR_OF_PPPM))

    def test_meshes(self):
        for accuracy, order in ((1e-3, 5), (1e-5, 7)):
            force = {"type": "ewald", "cutoff": 4, "accuracy": accuracy, "mesh": {"order": order}}
            self.compare("ewald", force, accuracy)
            self.compare("pppm", force, math.hypot(accuracy, ERROR_OF_PPPM))

    def test_a_slab(self):
        """The virial of LAMMPS is without the dipole. Errors of slabs may be 1.3 times those that
        are predicted (docs/guide/charges.md)."""
        force = {"type": "ewald", "cutoff": 4, "accuracy": 1e-5, "slab": 3}
        for mesh in ({}, {"mesh": {"order": 7}}):
            self.compare("slab", {**force, **mesh}, 1.3e-5, tensor=False,
                         periodic=[True, True, False])

    def test_pairs(self):
        """Of rounding: 2·10⁻⁷ of the largest forces, some 10 here."""
        for style, force in (("cut", {"type": "coulomb", "cutoff": 4}),
                             ("dsf", {"type": "coulomb_dsf", "cutoff": 4, "damping": 0.3}),
                             ("debye", {"type": "debye_hueckel", "cutoff": 4, "kappa": 0.7})):
            self.compare(style, force, 2e-6)

    def test_clouds(self):
        self.compare("slater", {"type": "ewald", "cutoff": 5, "accuracy": 1e-5, "smearing": {
            "cloud": "slater_approximate", "width": 5 / 8 * 0.25}}, 1e-5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
