#!/usr/bin/python3
"""Charges in a plane (two dimensions): Ewald's sum against that of a slab in three dimensions, and
lattices.

    flat_charges.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import numpy

from charges import ChargeCase, erfc, ewald_energy, nearest, slope, tilted
from job_case import mean_and_error

TILTED = tilted(14, 12, 1, 4)
SPRING = {"type": "bond_harmonic", "bonds": {"1": {"stiffness": 1e-12, "length": 1}}}


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


def flat_energy(p, q, h, alpha, excluded=()):
    """D. E. Parry (1975), of charges in a plane that add up to 0: pairs of the nearest 9 cells and
    wave vectors until nothing is left of them. alpha times the shortest height must be about 6."""
    i, j = numpy.triu_indices(len(p), 1)
    d = p[i] - p[j]
    d = d - numpy.round(d @ numpy.linalg.inv(h)) @ h
    energy = -alpha / math.sqrt(math.pi) * (q @ q)
    for n in numpy.ndindex(3, 3):
        r = numpy.sqrt(((d + (numpy.array([*n, 1]) - 1) @ h)**2).sum(axis=1))
        near = alpha * r < 6.5
        energy += (q[i] * q[j])[near] @ (erfc(alpha * r[near]) / r[near])
    reciprocal, k_max = 2 * math.pi * numpy.linalg.inv(h).T, 12.6 * alpha
    most = [int(k_max * math.sqrt(edge @ edge) / (2 * math.pi)) + 1 for edge in h[:2]]
    grid = numpy.array([(a, b, 0) for a in range(-most[0], most[0] + 1)
                        for b in range(-most[1], most[1] + 1)])
    k = grid[len(grid) // 2 + 1:] @ reciprocal
    length = numpy.sqrt((k**2).sum(axis=1))
    phase = k @ p.T
    s2 = (numpy.cos(phase) @ q)**2 + (numpy.sin(phase) @ q)**2
    energy += 2 * math.pi / (h[0, 0] * h[1, 1]) * (erfc(length / (2 * alpha)) / length) @ s2
    for a, b in excluded:
        r = nearest(p[[a]] - p[[b]], h, (1, 1, 0))[0]
        energy -= q[a] * q[b] / math.sqrt(r @ r)
    return energy


class Flat(ChargeCase):
    def plane(self, p, q, h, **more):
        return {**self.data(p, q, h, **more), "dimension": 2}

    def scattered(self, n, h, seed=3, distance=0.4):
        random, found = numpy.random.default_rng(seed), numpy.empty((0, 3))
        while len(found) < n:
            p = numpy.array([*random.uniform(0, 1, 2), 0]) @ h
            d = nearest(p - found, h, (1, 1, 0)) if len(found) else numpy.ones((1, 3))
            if ((d**2).sum(axis=1) > distance**2).all():
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
        for excluded in ((), bonds):
            def of(x, h):
                found = energy(x, h)
                for a, b in excluded:
                    d = nearest(x[[a]] - x[[b]], h, (1, 1, 0))[0]
                    found -= q[a] * q[b] / math.sqrt(d @ d)
                return found
            forces = [{"type": "ewald", "cutoff": 5, "accuracy": 1e-6}]
            measured = self.measured(self.job(self.plane(p, q, TILTED, bonds=excluded),
                                              forces + [SPRING] * bool(excluded)))
            self.compare(measured, of, p)

    def bonded(self, n, length, h):
        """Pairs ±1 of bonds in all directions, and the bonds."""
        centre = self.scattered(n, h, distance=1.5)
        angle = numpy.random.default_rng(4).uniform(0, 2 * math.pi, n)
        half = length / 2 * numpy.stack([numpy.cos(angle), numpy.sin(angle), 0 * angle], axis=1)
        return (numpy.concatenate([centre + half, centre - half]), numpy.repeat([1.0, -1], n),
                [(k, n + k) for k in range(n)])

    def test_waves_beyond_the_last_of_excluded_pairs(self):
        """Pairs ±1 that do not act on each other have hardly any waves: what a few waves leave out
        of them is what they leave out of each charge by itself."""
        h, alpha, n = tilted(24, 23, 1, 3), 0.35, 60
        for length in (0.3, 0.8):
            p, q, bonds = self.bonded(n, length, h)
            expected = flat_energy(p, q, h, 0.28, bonds)
            for k_max in (0.9, 1.2):
                energy, _, virial = self.measured(self.job(self.plane(p, q, h, bonds=bonds), [
                    {"type": "ewald", "cutoff": 10, "splitting": alpha, "k_max": k_max}, SPRING]))
                x = k_max / (2 * alpha)
                own = 2 * n * alpha * (math.exp(-x * x) / math.sqrt(math.pi) - x * math.erfc(x))
                own_virial = 2 * n * k_max * math.erfc(x) / 4
                self.assertLess(abs(energy - expected), 0.03 * own)
                # Energies go as 1/length.
                self.assertLess(abs(virial[0, 0] + virial[1, 1] - expected), 0.1 * own_virial)
                for a, b in ((0, 0), (0, 1)):
                    def strained(s):
                        matrix = numpy.eye(3)
                        matrix[b, a] += s
                        return flat_energy(p @ matrix, q, h @ matrix, 0.28, bonds)
                    self.assertLess(abs(virial[a, b] + slope(strained, 1e-3)), 0.1 * own_virial)
                self.assertEqual(abs(virial[2]).max(), 0)

    def test_trial_moves_of_an_excluded_pair(self):
        """Two charges that do not act on each other have the bond of their spring, with few waves,
        too: without what these leave out it would be shorter by 0.05."""
        stiffness, h = 10.0, tilted(20, 20, 1)
        p = numpy.array([[5.0, 5, 0], [6, 5, 0]])
        job = self.job(self.plane(p, numpy.array([1.0, -1]), h, bonds=[(0, 1)]), [
            {"type": "ewald", "cutoff": 9, "splitting": 0.5, "k_max": 1,
             "coulomb": {"bjerrum_length": 20, "temperature": 1}},
            {"type": "bond_harmonic", "bonds": {"1": {"stiffness": stiffness, "length": 1}}}])
        job["observers"] = [{"type": "trajectory", "stride": 10, "quantities": ["position"]}]
        job["stages"] = [{"type": "monte_carlo", "sweeps": 80000, "temperature": 1,
                          "translation": {"displacement": 0.5}}]
        self.run_job(job)
        position = self.frames("position")[100:].astype(float)
        length = numpy.sqrt((nearest(position[:, 0] - position[:, 1], h, (1, 1, 0))**2).sum(axis=1))
        mean, error = mean_and_error(length, 16)
        r = numpy.linspace(0, 4, 4001)
        weight = r * numpy.exp(-stiffness / 2 * (r - 1)**2)
        self.assertLess(abs(mean - (r * weight).sum() / weight.sum()), 4 * error + 0.005)
        self.assertLess(error, 0.01)

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
