#!/usr/bin/python3
"""Charges in a plane (two dimensions): Ewald's sum against that of a slab in three dimensions, and
lattices.

    flat_charges.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import numpy

from charges import ChargeCase, ewald_energy, nearest, slope, tilted
from job_case import mean_and_error

TILTED = tilted(14, 12, 1, 4)


def alternating(f, terms=60):
    """f(0) - f(1) + …, by repeated means of partial sums."""
    sums = numpy.cumsum([(-1)**k * f(k) for k in range(terms)])
    while len(sums) > 1:
        sums = (sums[1:] + sums[:-1]) / 2
    return sums[0]


def lattice_sum(sign):
    """Of 1/r over a square lattice without its origin, by sums of Dirichlet: of like charges that
    is 4 ζ(1/2) β(1/2), which a background makes finite; of the two colours of a chessboard, less
    by the factor 1 - √2."""
    eta = alternating(lambda k: (k + 1)**-0.5)  # (1 - √2) ζ(1/2)
    beta = alternating(lambda k: (2 * k + 1)**-0.5)
    return 4 * eta * beta / (1 - math.sqrt(2)) if sign == "like" else -4 * eta * beta


class Flat(ChargeCase):
    def plane(self, p, q, h, **more):
        return {**self.data(p, q, h, **more), "dimension": 2}

    def scattered(self, n, h, seed=3):
        random, found = numpy.random.default_rng(seed), numpy.empty((0, 3))
        while len(found) < n:
            p = numpy.array([*random.uniform(0, 1, 2), 0]) @ h
            d = nearest(p - found, h, (1, 1, 0)) if len(found) else numpy.ones((1, 3))
            if ((d**2).sum(axis=1) > 0.4**2).all():
                found = numpy.vstack([found, p])
        return found

    def test_against_a_slab_in_three_dimensions(self):
        """Layers 60 apart, which for a box of 14 is far: of their fields exp(-2π 60/14) is left.
        All are at z = 0, so that the dipole of the slab is 0."""
        p, q = self.scattered(60, TILTED), self.neutral(60)
        long = numpy.diag([1.0, 1, 60])

        def energy(x, h):
            return ewald_energy(x, q, h @ long, 6.3 / 5.6)
        bonds = [(0, 1), (2, 3), (4, 9)]
        spring = {"type": "bond_harmonic", "bonds": {"1": {"stiffness": 1e-12, "length": 1}}}
        for excluded in ((), bonds):
            def of(x, h):
                found = energy(x, h)
                for a, b in excluded:
                    d = nearest(x[[a]] - x[[b]], h, (1, 1, 0))[0]
                    found -= q[a] * q[b] / math.sqrt(d @ d)
                return found
            forces = [{"type": "ewald", "cutoff": 5, "accuracy": 1e-6}]
            measured = self.measured(self.job(self.plane(p, q, TILTED, bonds=excluded),
                                              forces + [spring] * bool(excluded)))
            self.compare(measured, of, p)

    def compare(self, measured, energy, p):
        found, force, virial = measured
        size = numpy.sqrt((force**2).mean())
        self.assertAlmostEqual(found, energy(p, TILTED), delta=1e-5 * len(p) * size)
        for i, axis in ((0, 0), (0, 1), (20, 0), (40, 1)):
            def at(x):
                moved = p.copy()
                moved[i, axis] += x
                return energy(moved, TILTED)
            self.assertAlmostEqual(force[i, axis], -slope(at, 1e-4), delta=5e-5 * size)
        numpy.testing.assert_array_equal(force[:, 2], 0)
        for a, b in ((0, 0), (1, 1), (0, 1)):
            def strained(x):
                matrix = numpy.eye(3)
                matrix[b, a] += x
                return energy(p @ matrix, TILTED @ matrix)
            self.assertAlmostEqual(virial[a, b], -slope(strained, 1e-4), msg=f"virial {a}{b}",
                                   delta=1e-5 * (abs(virial).max() + len(p) * size))
        self.assertEqual(abs(virial[2]).max(), 0)

    def test_lattices(self):
        """Madelung's constants of a chessboard, and of a square lattice with a background."""
        p = numpy.array([[i, j, 0] for i in range(8) for j in range(8)], float) + [0.3, 0.3, 0]
        for q, sign, more in ((1 - 2 * (p.sum(axis=1).round() % 2), "chessboard", {}),
                              (numpy.ones(64), "like", {"net_charge": "background"})):
            for cutoff in (2.2, 3.9):
                energy, force, virial = self.measured(self.job(
                    self.plane(p, q, tilted(8, 8, 1)),
                    [{"type": "ewald", "cutoff": cutoff, "accuracy": 1e-6, **more}]))
                self.assertAlmostEqual(energy / 64, lattice_sum(sign) / 2, delta=1e-6)
                self.assertLess(abs(force).max(), 3e-6)
                # Energies go as 1/length.
                self.assertAlmostEqual(virial[0, 0] + virial[1, 1], energy,
                                       delta=1e-5 * abs(energy))

    def ions(self, stage, n=12, **more):
        core = {"type": "wca", "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                         for t in ("AA", "AB", "BB")]}
        job = self.job({"type": "lattice", "structure": "square", "density": 0.4,
                        "cells": [n, n, 1], "types": {"A": 1, "B": 1}},
                       [core, {"type": "ewald", "cutoff": 4, "accuracy": 1e-3,
                               "coulomb": {"bjerrum_length": 3, "temperature": 1}}],
                       velocity={"temperature": 1},
                       attributes={"charge": {"types": {"A": 1, "B": -1}}}, **more)
        job["observers"] = [{"type": "thermo", "stride": 10}]
        job["stages"] = [stage]
        return job

    def test_energy_is_conserved(self):
        self.run_job(self.ions({"type": "md", "steps": 2000, "integrator": {
            "type": "velocity_verlet", "timestep": 0.002}}))
        total = self.column("total_energy")
        self.assertLess(abs(total - total[0]).max(), 3e-4 * self.column("kinetic_energy").mean())

    def test_trial_moves(self):
        """Monte Carlo has the energy of dynamics."""
        means = []
        for stage in ({"type": "monte_carlo", "sweeps": 1200, "temperature": 1,
                       "translation": {"displacement": 0.3}},
                      {"type": "md", "steps": 12000, "integrator": {
                          "type": "bussi", "timestep": 0.005, "temperature": 1, "tau": 0.1}}):
            self.run_job(self.ions(stage, n=8))
            energy = self.column("potential_energy") / 64
            means.append(mean_and_error(energy[len(energy) // 5:], 10))
        (a, da), (b, db) = means
        self.assertLess(abs(a), 5)
        self.assertLess(math.hypot(da, db), 0.05)
        self.assertLess(abs(a - b), 4 * math.hypot(da, db), means)

    def test_a_box_that_changes(self):
        """What a deformed box has is what a job has that begins there, within the accuracy."""
        bath = {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1}
        job = self.ions({"type": "md", "steps": 400, "integrator": bath,
                         "deform": {"x": 20, "y": 18}})
        job["forces"][1]["accuracy"] = 1e-5
        job["observers"] += [{"type": "trajectory", "stride": 400, "precision": "double",
                              "quantities": ["position", "velocity", "force"]},
                             {"type": "checkpoint"}]
        self.run_job(job)
        energy, force = self.column("potential_energy")[-1], self.frames("force")[-1]
        job["system"] = {"type": "file", "path": "trajectory.h5", "frame": -1}
        job["stages"] = [{"type": "md", "steps": 0, "integrator": bath}]
        del job["velocity"], job["attributes"]
        self.run_job(job, folder="again")
        self.assertAlmostEqual(self.column("potential_energy", "again")[0], energy, delta=2e-3)
        numpy.testing.assert_allclose(self.frames("force", "again")[0], force,
                                      atol=2e-4 + 1e-5 * abs(force).max())

    def test_mistakes(self):
        job = self.ions({"type": "md", "steps": 0, "integrator": {
            "type": "velocity_verlet", "timestep": 0.002}})
        ewald = job["forces"][1]
        for more, message in (
                ({"cutoff": 0.02, "accuracy": 1e-6},
                 r"choose a longer cutoff or a lower accuracy\n"),
                ({"slab": 3}, r"forces\[1\].slab: is for three dimensions"),
                ({"surface_permittivity": 1}, r"surface_permittivity: is for three dimensions"),
                ({"mesh": {}}, r"forces\[1\].mesh: is for three dimensions")):
            self.refused({**job, "forces": [job["forces"][0], {**ewald, **more}]}, message)
        self.refused({**job, "system": {**job["system"], "periodic": [True, False]}},
                     r"forces\[1\]: requires a box that is periodic along x and y")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
