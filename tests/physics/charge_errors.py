#!/usr/bin/python3
"""What `perrin validate --measure` says of the errors of Ewald sums: against forces of LAMMPS, and
beside the predicted ones.

    charge_errors.py PERRIN [unittest arguments]
"""

import json
import math
import os
import re
import sys
import unittest

import numpy

import charges
import dipoles
import water
from charges import REFERENCE, scattered, tilted
from job_case import mean_and_error

BOXES = (tilted(12, 12, 12), tilted(12, 11, 13, 5, -4, 6), tilted(20, 20, 6))
SPRING = {"type": "bond_harmonic", "bonds": {"1": {"stiffness": 1e-12, "length": 1}}}
SAID = re.compile(r"forces\[0\], (\w+): measured error of forces ([\d.e+-]+) \(rms of (\d+) "
                  r"particles at the start; predicted ([\d.e+-]+)\), accuracy ([\d.e+-]+)")


class Said:
    """Of any test of jobs."""

    def said(self, job):
        """The number of particles; the measured error and the predicted one, both in the unit of
        "accuracy"."""
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out, default=float)
        done = self.perrin("validate", "job.json", "--overwrite", "--measure")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = SAID.search(done.stdout)
        self.assertIsNotNone(found, done.stdout)
        measured, predicted, accuracy = (float(found[k]) for k in (2, 4, 5))
        return int(found[3]), accuracy, predicted * accuracy / measured

    def check_error(self, job, least, most, particles=None):
        """The measured error in terms of the predicted one."""
        n, measured, predicted = self.said(job)
        self.assertEqual(n, particles or n)
        self.assertGreater(measured, least * predicted)
        self.assertLess(measured, most * predicted)

    def refused_with(self, job, pattern):
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out, default=float)
        done = self.perrin("validate", "job.json", "--overwrite", "--measure")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, pattern)


class Charges(charges.ChargeCase, Said):
    def random(self, h, bonds=(), net=0.0, **layer):
        p = scattered(400, h, 0.2, 5, **layer)
        return self.data(p, numpy.where(numpy.arange(400) % 2, 1.0, net - 1), h, bonds)

    def ewald(self, system, *more, **settings):
        return self.job(system, [{"type": "ewald", "cutoff": 2.5, "accuracy": 1e-4, **settings},
                                 *more])

    def test_measured_is_what_it_says(self):
        """The difference from forces of LAMMPS (tests/reference/lammps), with the digits said."""
        with open(os.path.join(REFERENCE, "lammps", "charges.json")) as file:
            reference = json.load(file)
        for name, of in reference["boxes"].items():
            system = self.data(numpy.array(of["positions"]), numpy.array(reference["charges"]),
                               tilted(*of["box"]))
            for more in ({"accuracy": 1e-2}, {"accuracy": 1e-4}, {"mesh": {}, "accuracy": 1e-3}):
                job = self.ewald(system, **more)
                d = self.measured(job)[1] - numpy.array(of["styles"]["ewald"]["forces"])
                n, measured, _ = self.said(job)
                self.assertEqual(n, 80)
                self.assertAlmostEqual(measured / math.sqrt((d**2).sum(axis=1).mean()), 1,
                                       delta=0.06, msg=f"{name}, {more}")

    def test_random_charges_have_the_predicted_error(self):
        for h in BOXES:
            for more in ({"accuracy": 1e-2}, {}, {"mesh": {}}, {"surface_permittivity": 2}):
                self.check_error(self.ewald(self.random(h), **more), 0.8, 1.2, 400)
        charged = self.ewald(self.random(BOXES[1], net=0.3), net_charge="background")
        self.check_error(charged, 0.8, 1.2)
        named = self.ewald(self.random(BOXES[0]), coulomb={"permittivity": 3})
        named.update(units={"length": "nm", "energy": "kJ/mol", "mass": "u"})
        named["stages"][0]["integrator"] = {"type": "velocity_verlet", "timestep": 1e-6}
        self.check_error(named, 0.8, 1.2)

    def test_excluded_pairs_and_clouds(self):
        bonds = [(k, k + 1) for k in range(0, 400, 2)]
        self.check_error(self.ewald(self.random(BOXES[1], bonds), SPRING), 0.8, 1.2)
        for cloud in ("gaussian", "slater"):
            self.check_error(self.ewald(self.random(BOXES[0]), cutoff=3.5, accuracy=1e-3,
                                  smearing={"cloud": cloud, "width": 0.3}), 0.8, 1.2)

    def test_slabs(self):
        """Thin and thick layers, much and little empty space; and a layer that fills a third of
        the box, whose forces and errors go as the root of its density."""
        for h, cutoff, low, high, slabs, by in (
                (tilted(12, 11, 9), 2.5, 0, 1, (1.5, 3, 6), 1),
                (tilted(25, 24, 2), 2.5, 0, 1, (3, 6), 1),
                (tilted(7, 6.5, 30), 2.5, 0, 1, (1.5,), 1),
                (tilted(12, 11, 18), 2.5, 1 / 3, 2 / 3, (2,), math.sqrt(3))):
            system = {**self.random(h, low=low, high=high), "periodic": [True, True, False]}
            for slab in slabs:
                for more in ({"accuracy": 1e-2}, {"accuracy": 1e-4}, {"mesh": {}}):
                    with self.subTest(h=h, slab=slab, **more):
                        self.check_error(self.ewald(system, slab=slab, cutoff=cutoff, **more),
                                         0.7 * by, 1.3 * by)

    def test_water_has_less(self):
        """Neutral molecules are a structure, which the estimate knows nothing of."""
        system, _, _ = water.Nist.water(self, 1)
        for more in ({}, {"mesh": {"order": 5}}):
            job = self.job(system, [{"type": "ewald", "cutoff": 9, "accuracy": 1e-4, **more}],
                           units={"length": "angstrom", "energy": "kJ/mol", "mass": "u"},
                           neighbors={"exclusions": ["molecules"]})
            self.check_error(job, 0.2, 0.95, 300)

    def test_waves_beyond_the_last_of_excluded_pairs(self):
        """Pairs ±1 that do not act on each other have hardly any waves: the mean of what the sum
        leaves out of them makes up for that of each charge by itself, by which energy and virial
        would be wrong. Left is the difference of a sum over waves and its mean."""
        n, h, alpha = 60, tilted(24, 23, 25, 3, -2, 4), 0.35
        centre = scattered(n, h, 4, 3)
        axis = numpy.random.default_rng(4).normal(size=(n, 3))
        axis /= numpy.sqrt((axis**2).sum(axis=1))[:, None]
        for length, left in ((0.5, 0.03), (1.0, 0.1)):
            p = numpy.concatenate([centre + length / 2 * axis, centre - length / 2 * axis])
            system = self.data(p, numpy.repeat([1.0, -1], n), h, [(k, n + k) for k in range(n)])
            exact = self.measured(self.job(system, [{"type": "ewald", "cutoff": 10, "k_max": 4.5,
                                                     "splitting": 0.45}, SPRING]))
            for k_max in (0.9, 1.2):
                found = self.measured(self.job(system, [{"type": "ewald", "cutoff": 10,
                                                         "k_max": k_max, "splitting": alpha},
                                                        SPRING]))
                x = k_max / (2 * alpha)
                energy = alpha / math.sqrt(math.pi) * math.erfc(x) * 2 * n
                virial = k_max * math.exp(-x * x) / (3 * math.pi) * 2 * n
                self.assertLess(abs(found[0] - exact[0]), left * energy)
                self.assertLess(abs(found[2] - exact[2]).max(), left * virial)

    def test_mistakes(self):
        system = self.random(BOXES[0])
        self.refused_with(self.job(system, [{"type": "coulomb", "cutoff": 2}]),
                          "job.json: --measure: no force of the job predicts an error")
        self.refused_with({**self.ewald(system), "ensemble": {"runs": 2}},
                          "job.json: --measure: is for one system")
        many = {"type": "lattice", "structure": "sc", "density": 1, "cells": [40, 40, 40],
                "types": {"A": 1, "B": 1}}
        self.refused_with(self.job(many, [{"type": "ewald", "cutoff": 4, "mesh": {}}], attributes={
            "charge": {"types": {"A": 1, "B": -1}}}),
            r"job.json: forces\[0\]: --measure: 64000 charges or dipoles .* more than 1e\+09")
        few = {**many, "cells": [4, 4, 4]}
        self.refused_with(
            self.job(few, [{"type": "ewald", "cutoff": 2, "accuracy": 0.1,
                            "net_charge": "background"}],
                     attributes={"charge": {"default": 0, "changes": "0.1*t"}}),
            "--measure: no particle has a charge at the start")
        wide = self.ewald(self.random(tilted(20, 20, 6)), accuracy=1e-2, cutoff=2.9,
                          smearing={"cloud": "slater", "width": 0.6})
        self.refused_with(wide, r"--measure: the clouds of charge reach beyond half of the box")


class Dipoles(dipoles.DipoleCase, Said):
    def bonded(self, p, h, bonds):
        """Particles of type 2 are the second ones of bonds; x is the axis of all."""
        with open(self.path("start.data"), "w") as out:
            out.write(f"dipoles\n\n{len(p)} atoms\n2 atom types\n{len(bonds)} bonds\n"
                      f"1 bond types\n\n0 {h[0][0]} xlo xhi\n0 {h[1][1]} ylo yhi\n"
                      f"0 {h[2][2]} zlo zhi\n{h[1][0]} {h[2][0]} {h[2][1]} xy xz yz\n"
                      "\nMasses\n\n1 1\n2 1\n\nAtoms # bond\n\n")
            second = {b for _, b in bonds}
            for k, x in enumerate(p.tolist()):
                out.write(f"{k + 1} {k + 1} {2 if k in second else 1} {x[0]!r} {x[1]!r} {x[2]!r}\n")
            out.write("\nBonds\n\n")
            for k, (a, b) in enumerate(bonds):
                out.write(f"{k + 1} 1 {a + 1} {b + 1}\n")
        job = self.job({"type": "file", "path": self.path("start.data")}, {
            "type": "dipole_ewald", "moments": {"1": 1.3, "2": -1.3}})
        job["forces"].append({"type": "bond_harmonic",
                              "bonds": {"1": {"stiffness": 0, "length": 1}}})
        job["orientations"] = {"start": "aligned", "moments_of_inertia": {
            "1": [1, 1, 1], "2": [1, 1, 1]}}
        return job

    def test_waves_beyond_the_last_of_excluded_pairs(self):
        """Two opposite dipoles that do not act on each other have hardly any waves: what a few
        waves leave out of them is what they leave out of each by itself, of energy and tensor."""
        n, h, alpha, k_max = 40, tilted(16, 15, 17, 2, -1, 2), 0.55, 2.0
        centre = scattered(n, h, 2.2, 3)
        axis = numpy.random.default_rng(4).normal(size=(n, 3))
        axis /= numpy.sqrt((axis**2).sum(axis=1))[:, None]
        x = k_max / (2 * alpha)
        own = 8 * alpha**3 / (3 * math.pi) * (
            x / 2 * math.exp(-x * x) + math.sqrt(math.pi) / 4 * math.erfc(x)) * 2 * n * 1.3**2
        own_virial = k_max**3 * math.exp(-x * x) / (9 * math.pi) * 2 * n * 1.3**2
        m = numpy.zeros((2 * n, 3))
        m[:, 0] = numpy.repeat([1.3, -1.3], n)
        bonds = [(k, n + k) for k in range(n)]
        for length in (0.3, 0.6):
            p = numpy.concatenate([centre + length / 2 * axis, centre - length / 2 * axis])
            job = self.bonded(p, h, bonds)
            job["forces"][0].update(cutoff=6.8, splitting=alpha, k_max=k_max)
            energy, force, torque, virial = self.measured(job)

            def exact(x, cell, moment=m):
                return dipoles.dipole_energy(x, moment, cell, 0.43, excluded=bonds)
            expected = exact(p, h)
            self.assertLess(abs(energy - expected), 0.02 * own)
            # Energies go as 1/length³.
            self.assertLess(abs(numpy.trace(virial) - 3 * expected), 0.03 * own_virial)
            for a in range(2):
                def strained(s, a=a):
                    matrix = numpy.eye(3)
                    matrix[a, a] += s
                    return exact(p @ matrix, h @ matrix)
                slope = (strained(1e-3) - strained(-1e-3)) / 2e-3
                self.assertLess(abs(virial[a, a] + slope), 0.06 * own_virial)

    def test_excluded_dipoles_close_together(self):
        """No force, torque and virial are left of 1/r³, 1/r⁴ and their rounding."""
        for r in (0.2, 0.01):
            job = self.bonded(numpy.array([[5.0, 5, 5], [5 + 0.6 * r, 5 + 0.8 * r, 5]]),
                              tilted(14, 14, 14), [(0, 1)])
            job["forces"][0].update(cutoff=4, accuracy=1e-4)
            for of in self.measured(job):
                self.assertLess(numpy.abs(of).max(), 1e-4)

    def test_trial_moves_of_an_excluded_pair(self):
        """Dipoles that do not act on each other look anywhere, with few waves, too: without what
        these leave out the mean cosine of the two would be 0.26."""
        h = tilted(14, 14, 14)
        job = self.bonded(numpy.array([[5.0, 5, 5], [5.5, 5, 5]]), h, [(0, 1)])
        job["forces"][0].update(moments={"1": 3.2, "2": 3.2}, cutoff=6.5, splitting=0.55, k_max=1)
        job["forces"][1]["bonds"]["1"].update(stiffness=100, length=0.5)
        job["observers"] = [{"type": "trajectory", "stride": 10, "quantities": ["orientation"]}]
        job["stages"] = [{"type": "monte_carlo", "sweeps": 30000, "temperature": 1,
                          "translation": {"displacement": 0.15}, "rotation": {"angle": 2}}]
        self.run_job(job)
        axis = [dipoles.axes(q.astype(float)) for q in self.frames("orientation")[100:]]
        mean, error = mean_and_error([a @ b for a, b in axis], 16)
        self.assertLess(abs(mean), 4 * error + 0.02)
        self.assertLess(error, 0.02)

    def test_the_tensor_of_dipoles_that_are_alike(self):
        """What a few waves leave out of a dipole by itself is more along it than across it."""
        n, h, alpha, k_max = 40, tilted(16, 15, 17, 2, -1, 2), 0.55, 2.0
        p = scattered(n, h, 2.2, 3)
        job = self.job(self.start(p, numpy.tile([1.0, 0, 0, 0], (n, 1)), h), {
            "type": "dipole_ewald", "moments": {"A": 1.3}, "cutoff": 6.8, "splitting": alpha,
            "k_max": k_max})
        virial = self.measured(job)[3]
        own = k_max**3 * math.exp(-(k_max / (2 * alpha))**2) / (9 * math.pi) * n * 1.3**2
        m = numpy.tile([1.3, 0, 0], (n, 1))
        for a in range(3):
            def strained(s, a=a):
                matrix = numpy.eye(3)
                matrix[a, a] += s
                return dipoles.dipole_energy(p @ matrix, m, h @ matrix, 0.43)
            slope = (strained(1e-3) - strained(-1e-3)) / 2e-3
            # Without the direction of the dipoles it would be 0.8 along them.
            self.assertLess(abs(virial[a, a] + slope), 0.25 * own, a)

    def test_random_dipoles_have_the_predicted_error(self):
        for h in (tilted(12, 12, 12), tilted(12, 11, 13, 5, -4, 6)):
            system = self.start(scattered(300, h, 0.5, 4), dipoles.drawn(300, 5), h)
            for accuracy in (1e-1, 1e-3):
                self.check_error(self.job(system, {
                    "type": "dipole_ewald", "moments": {"A": 1}, "cutoff": 3,
                    "accuracy": accuracy}), 0.7, 1.5, 300)

    def test_a_box_that_shrinks_beyond_the_accuracy(self):
        """The error goes as the root of the volume, 343 of 1728: 2.2 times. A warning says so."""
        h = tilted(12, 12, 12)
        force = {"type": "dipole_ewald", "moments": {"A": 1e-3}, "cutoff": 2.5, "accuracy": 1e-8}
        system = self.start(scattered(60, h, 1, 4), dipoles.drawn(60, 5), h)
        job = self.job(system, force, steps=200)
        done = self.run_job(job)
        self.assertNotIn("predicted error of forces is", done.stdout + done.stderr)
        job["stages"][0]["deform"] = {axis: 7.0 for axis in "xyz"}
        done = self.run_job(job)
        self.assertRegex(done.stdout + done.stderr,
                         r"dipole_ewald: in the box as it is now, of the volume 343 after 1728, "
                         r"the predicted error of forces is [\d.e-]+, 2.2 times that of the start")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
