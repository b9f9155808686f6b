#!/usr/bin/python3
"""The Gibbs ensemble: two boxes that exchange particles and volume, against exact distributions,
published densities of coexisting phases, and itself: on several processes, stopped and resumed.

    gibbs.py PERRIN [unittest arguments]
"""

import csv
import json
import math
import os
import shutil
import subprocess
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, PERRIN, JobCase

PAIR = [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]
LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift", "pairs": PAIR}


def ideal(range_of_forces):
    """Forces that are there, and too weak to matter."""
    return {"type": "gaussian_core", "cutoff": range_of_forces, "pairs": [
        {"types": ["A", "A"], "epsilon": 1e-9, "sigma": 1}]}


def random(particles, edge, **more):
    return {"type": "random", "particles": {"A": particles}, "box": [edge] * more.get(
        "dimension", 3), "min_distance": 0, **more}


def stage(sweeps, temperature=1.0, displacement=0.3, **more):
    return {"type": "monte_carlo", "sweeps": sweeps, "temperature": temperature,
            "translation": {"displacement": displacement}, **more}


def gibbs(every=1, transfers=20, **more):
    return {"type": "gibbs", "every": every, "transfers": transfers, **more}


def job(systems, reservoir, force, exchange, *stages, observers=(), stride=1, **more):
    ensemble = {"vary": {"system": list(systems)}, "exchange": exchange}
    return {"seed": 3, "ensemble": ensemble, "system": systems[0],
            "reservoir": {"A": reservoir}, "forces": [force],
            "observers": [{"type": "thermo", "stride": stride}, *observers],
            "stages": list(stages), **more}


def mean_and_error(values, blocks=20):
    parts = numpy.array([p.mean() for p in numpy.array_split(numpy.asarray(values, float),
                                                             blocks)])
    return parts.mean(), parts.std(ddof=1) / math.sqrt(blocks)


class Gibbs(JobCase):
    overwrite = True

    def close(self, values, expected, more=0.0, sigmas=4, blocks=20):
        mean, error = mean_and_error(values, blocks)
        self.assertLess(abs(mean - expected), sigmas * error + more, f"{mean} ± {error}, not "
                        f"{expected}")

    def boxes(self, folder=".", skip=0):
        """N and V of both boxes, in every row."""
        found = []
        for name in ("particles", "volume"):
            for system in "01":
                found.append(self.column(name, os.path.join(folder, system))[skip:])
        return found

    def table(self, folder="."):
        with open(self.path(folder, "exchange.csv")) as file:
            rows = list(csv.reader(file))
        return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}

    # -- exact distributions -----------------------------------------------------------------------

    def test_particles_of_an_ideal_gas(self):
        """In boxes that stay, each particle is in either with the probability of its volume."""
        n, part = 20, 6 ** 3 / (6 ** 3 + 4 ** 3)
        self.run_job(job([random(12, 6), random(8, 4)], 20, ideal(1.5), gibbs(transfers=40),
                         stage(3000)))
        here, there, v, w = self.boxes(skip=50)
        self.assertTrue((here + there == n).all())
        self.assertTrue((v == 216).all() and (w == 64).all())
        self.close(here, n * part)
        self.close((here - n * part) ** 2, n * part * (1 - part))
        for count in range(12, 20):
            expected = math.comb(n, count) * part ** count * (1 - part) ** (n - count)
            self.close(here == count, expected)
        rows = self.table()
        self.assertEqual(rows["step"], list(range(100, 3000, 100)))
        for system in "01":
            self.close(1 / numpy.array(rows[f"activity_A_{system}"])[1:], self.inverse(
                n, part if system == "0" else 1 - part, 216 if system == "0" else 64), blocks=14)
        self.assertTrue(all(math.isnan(x) for x in rows["volume_0_1"]))

    @staticmethod
    def inverse(n, part, volume):
        """<V/(N + 1)> of trials that find a particle in the other box."""
        p = numpy.array([math.comb(n, k) * part ** k * (1 - part) ** (n - k) for k in range(n)])
        return (p * volume / (numpy.arange(n) + 1)).sum() / p.sum()

    def test_particles_and_volume_of_an_ideal_gas(self):
        """All numbers of particles from 0 to N are equally likely, each fraction of the volume as
        well; given N1 it has the distribution x^N1 (1 - x)^N2. Boxes become empty and tiny."""
        n = 8
        self.run_job(job([random(3, 6), random(5, 7)], 8, ideal(0.2), gibbs(
            transfers=20, volume={"step": 3.0}), stage(20000, displacement=0.05)))
        here, there, v, w = self.boxes(skip=50)
        self.assertTrue((here + there == n).all())
        numpy.testing.assert_allclose(v + w, 6 ** 3 + 7 ** 3, rtol=1e-12)
        x = v / (v + w)
        for count in range(n + 1):
            self.close(here == count, 1 / (n + 1))
        self.close(here, n / 2)
        self.close(x, 1 / 2)
        self.close((x - 1 / 2) ** 2, 1 / 12)
        a, b = here + 1, there + 1
        self.close(x - a / (n + 2), 0)
        self.close((x - a / (n + 2)) * here, 0)
        self.close((x - a / (n + 2)) ** 2 - a * b / (n + 2) ** 2 / (n + 3), 0)
        self.assertLess(v.min(), 5)

    def test_two_dimensions(self):
        """As above, in boxes that are not square."""
        n = 6
        systems = [{"type": "random", "particles": {"A": k}, "box": box, "dimension": 2,
                    "min_distance": 0} for k, box in ((2, [6, 9]), (4, [5, 4]))]
        self.run_job(job(systems, 6, ideal(0.2), gibbs(volume={"step": 3.0}),
                         stage(6000, displacement=0.05),
                         observers=[{"type": "trajectory", "stride": 500, "quantities": []}]))
        here, there, v, w = self.boxes(skip=50)
        numpy.testing.assert_allclose(v + w, 74, rtol=1e-12)
        self.close(here, n / 2)
        x = v / 74
        self.close(x, 1 / 2)
        self.close(x - (here + 1) / (n + 2), 0)
        with h5py.File(self.path("1", "trajectory.h5")) as h:
            edges = h["particles/all/box/edges/value"][()]
        numpy.testing.assert_allclose(edges[:, 0, 0] / edges[:, 1, 1], 1.25, rtol=1e-6)

    def two(self, cutoff, kt, fixed, exchange, sweeps):
        """Two particles with tail corrections; weights of N1 = 0, 1, 2 by integration over the
        distance: (V1^N1/N1!) (V2^N2/N2!) times the mean Boltzmann factor."""
        pairs = {"type": "lennard_jones", "cutoff": cutoff, "truncation": "cut", "tail": True,
                 "pairs": PAIR}
        self.run_job(job([random(1, edge, min_distance=0) for edge in fixed], 1, pairs, exchange,
                         stage(sweeps, kt, displacement=0.4)))
        r = (numpy.arange(200000) + 0.5) * cutoff / 200000
        mayer = numpy.exp(-4 * (r ** -12.0 - r ** -6.0) / kt) - 1
        integral = 4 * math.pi * (mayer * r * r).sum() * cutoff / 200000
        beyond = 8 / 3 * math.pi * (cutoff ** -9 / 3 - cutoff ** -3)  # N² times it over V

        def weight(n, v):
            return (v ** n / math.factorial(n) * math.exp(-n * n * beyond / v / kt)
                    * (1 + integral / v if n == 2 else 1))
        return lambda n, v, w: weight(n, v) * weight(2 - n, w)

    def test_two_types(self):
        """Two particles each of A and B, of which all nine ways to be in two boxes have weights by
        random places: with tail corrections of all pairs of types."""
        cutoff, kt, edges = 1.5, 1.5, (3.2, 3.8)
        epsilon = {"AA": 1.0, "AB": 1.5, "BB": 0.5}
        force = {"type": "lennard_jones", "cutoff": cutoff, "truncation": "cut", "tail": True,
                 "pairs": [{"types": list(pair), "epsilon": e, "sigma": 1}
                           for pair, e in epsilon.items()]}
        systems = [{"type": "random", "particles": {"A": 1, "B": 1}, "box": [edge] * 3,
                    "min_distance": 0} for edge in edges]
        what = job(systems, 1, force, gibbs(transfers=30), stage(8000, kt, 0.5),
                   observers=[{"type": "trajectory", "stride": 1, "quantities": []}])
        what["reservoir"] = {"A": 1, "B": 1}
        self.run_job(what)
        with h5py.File(self.path("0", "trajectory.h5")) as h:
            species = h["particles/all/species/value"][50:]
        found = numpy.array([(species == k).sum(axis=1) for k in range(2)])

        beyond = 8 / 3 * math.pi * (cutoff ** -9 / 3 - cutoff ** -3)
        rng = numpy.random.default_rng(2)
        names = "AABB"
        factor = []  # [box][a, b]: volume to the power, mean Boltzmann factor
        for edge in edges:
            r = rng.uniform(0, edge, (4, 300000, 3))
            energy = {}
            for i in range(4):
                for j in range(i):
                    d = r[i] - r[j]
                    r2 = ((d - edge * numpy.round(d / edge)) ** 2).sum(axis=1)
                    energy[j, i] = epsilon[names[j] + names[i]] * numpy.where(
                        r2 < cutoff ** 2, 4 * (r2 ** -6 - r2 ** -3), 0)
            weight = numpy.zeros((3, 3))
            for a in range(3):
                for b in range(3):
                    there = [*range(a), *range(2, 2 + b)]
                    u = sum((energy[pair] for pair in energy if set(pair) <= set(there)),
                            numpy.zeros(300000))
                    tail = beyond / edge ** 3 * (a * a * epsilon["AA"] + b * b * epsilon["BB"]
                                                 + 2 * a * b * epsilon["AB"])
                    weight[a, b] = edge ** (3 * (a + b)) / math.factorial(a) / math.factorial(
                        b) * numpy.exp(-(u + tail) / kt).mean()
            factor.append(weight)
        expected = factor[0] * factor[1][::-1, ::-1]
        expected /= expected.sum()
        for a in range(3):
            for b in range(3):  # the integrals are known to 1 %
                self.close((found[0] == a) & (found[1] == b), expected[a, b],
                           0.02 * expected[a, b])

    def test_two_particles_in_boxes_that_stay(self):
        weight = self.two(1.5, 0.8, (3.1, 3.8), gibbs(transfers=10), 20000)
        here, _, v, w = self.boxes(skip=50)
        weights = numpy.array([weight(n, v[0], w[0]) for n in range(3)])
        for n, expected in enumerate(weights / weights.sum()):
            self.close(here == n, expected)

    def test_two_particles_that_exchange_volume(self):
        """The same over all volumes down to the smallest, of which a warning tells."""
        cutoff, kt = 1.5, 0.8
        weight = self.two(cutoff, kt, (3.1, 3.8), gibbs(transfers=10, volume={"step": 1.0}), 30000)
        here, _, v, w = self.boxes(skip=50)
        both, least = 3.1 ** 3 + 3.8 ** 3, (2 * cutoff) ** 3
        self.assertGreater(min(v.min(), w.min()), least)
        self.assertLess(min(v.min(), w.min()), 1.1 * least)
        x = numpy.linspace(least, both - least, 20001)
        density = numpy.array([[weight(n, one, both - one) for one in x[::10]] for n in range(3)])
        total = density.sum()
        for n in range(3):
            self.close(here == n, density[n].sum() / total, 0.002)
        self.close(v, (density * x[::10]).sum() / total, 0.05)
        self.close(v * here, (density * x[::10] * numpy.arange(3)[:, None]).sum() / total, 0.05)
        with open(self.path("perrin.log")) as log:
            self.assertRegex(log.read(), r"exchange: warning: systems 0 and 1: \d+ of 29999 "
                             r"exchanges of volume were not made")

    def test_two_dimers(self):
        """Rigid bodies that attract one another, with atoms beside them, which nobody meets:
        P(N1, V1) ~ V1^N1 V2^N2 f(N1, V1) f(N2, V2) / (N1! N2!), where f is the mean of exp(-U/kT)
        of two dimers at random places in a cube, else 1. By 4e5 places at each of 24 edges; of its
        smooth change with the edge a polynomial."""
        half, cutoff, n, m = 0.4, 1.5, 2, 3
        rng = numpy.random.default_rng(2)

        def turned(samples):
            r = rng.normal(size=(samples, 3))
            return half * r / numpy.linalg.norm(r, axis=1, keepdims=True)

        def pair(edge, samples=400000):
            r, a, b = rng.uniform(0, edge, (samples, 3)), turned(samples), turned(samples)
            energy = 0
            for s in (-1, 1):
                for t in (-1, 1):
                    d = r + s * a + t * b
                    d -= edge * numpy.round(d / edge)
                    r2 = (d ** 2).sum(axis=1)
                    energy = energy - numpy.where(r2 < cutoff ** 2, numpy.exp(-r2 / 0.64), 0)
            return edge ** 3 * (numpy.exp(-energy).mean() - 1)
        edges = numpy.linspace(2 * cutoff, 6, 24)
        fit = numpy.polynomial.Polynomial.fit(edges, [pair(edge) for edge in edges], 3)
        self.assertGreater(fit(5), 10)
        least, both = (2 * cutoff) ** 3, 3.6 ** 3 + 4.4 ** 3
        x = numpy.linspace(least, both - least, 4001)
        f = {"one": 1 + fit(numpy.cbrt(x)) / x, "other": 1 + fit(numpy.cbrt(both - x)) / (both - x)}
        weight = numpy.zeros((n + 1, m + 1, len(x)))
        for k in range(n + 1):
            for j in range(m + 1):
                weight[k, j] = math.comb(n, k) * math.comb(m, j) * x ** (k + j) * (both - x) ** (
                    n + m - k - j) * (f["one"] if k == 2 else f["other"] if k == 0 else 1)
        weight /= weight.sum()
        force = {"type": "gaussian_core", "cutoff": cutoff, "truncation": "cut", "pairs": [
            {"types": ["A", "A"], "epsilon": -1, "sigma": 0.8}] + [
                {"types": list(t), "epsilon": 1e-9, "sigma": 0.8} for t in ("AB", "BB")]}
        systems = [{"type": "random", "particles": {"D": 1, "B": b}, "box": [edge] * 3,
                    "min_distance": 0} for b, edge in ((1, 3.6), (2, 4.4))]
        what = job(systems, 1, force, gibbs(transfers=10, volume={"step": 1.5}), stage(
            20000, molecule={"displacement": 0.5, "rotation": 1.5}))
        what |= {"reservoir": {"D": 2, "B": 3}, "orientations": {"start": "random"}, "bodies": {
            "D": {"sites": [{"type": "A", "at": [s * half, 0, 0]} for s in (-1, 1)]}}}
        self.run_job(what)
        here, there, v, w = self.boxes(skip=100)
        numpy.testing.assert_allclose(v + w, both, rtol=1e-6)
        # Three particles of each dimer and one of each atom.
        self.assertTrue((here + there == 3 * n + m).all())
        for count in range(3 * n + m + 1):
            expected = sum(weight[k, count - 3 * k].sum() for k in range(n + 1)
                           if 0 <= count - 3 * k <= m)
            self.close(here == count, expected, 0.002)
        self.close(v, (weight * x).sum(), 0.05)
        self.close(v ** 2, (weight * x ** 2).sum(), 8)
        rows = self.table()
        self.assertTrue({"activity_D_0", "activity_B_1"} <= rows.keys(), rows.keys())
        self.assertFalse(any("_A_" in name for name in rows), rows.keys())

    def test_bodies_larger_than_half_of_a_box(self):
        sites = [{"type": "A", "at": [s * 1.9, 0, 0]} for s in (-1, 1)]
        force = {"type": "lennard_jones", "cutoff": 1.5, "mixing": "geometric", "pairs": [
            {"types": [t, t], "epsilon": 1, "sigma": 0.8} for t in "AD"]}
        what = job([{"type": "random", "particles": {"D": 1}, "box": [edge] * 3,
                     "min_distance": 0} for edge in (4.4, 3.6)], 1, force,
                   gibbs(transfers=10), stage(
                       2, molecule={"displacement": 0.5, "rotation": 1}))
        what |= {"reservoir": {"D": 2}, "orientations": {"start": "random"},
                 "bodies": {"D": {"sites": sites}}}
        del what["stages"][0]["translation"]
        with self.assertRaisesRegex(AssertionError, "exchange: a body reaches 1.9 from its centre, "
                                    "and the box is 3.6 wide: expected a box more than twice"):
            self.run_job(what)

    # -- coexistence -------------------------------------------------------------------------------

    def coexistence(self, force, temperature, liquid, gas, sweeps):
        """Densities of both boxes and 1/activity, behind a fifth of the sweeps."""
        systems = [{"type": "lattice", "structure": "sc", "cells": [edge] * 3, "density": density}
                   for edge, density in ((6, liquid), (4, gas))]
        tune = {"steps": 500, "acceptance": 0.4}
        self.run_job(job(systems, 280, force, gibbs(
            transfers=200, rows_every=100, volume={"step": 0.05, "tune": tune}),
            stage(sweeps, temperature, 0.2, tune={"sweeps": 500}), stride=5))
        here, there, v, w = self.boxes(skip=sweeps // 25)
        rows = self.table()
        return here / v, there / w, [1 / numpy.array(rows[f"activity_A_{k}"])[sweeps // 500:]
                                     for k in "01"]

    def test_a_liquid_and_its_gas(self):
        """Lennard-Jones with a shifted force at 3: densities and activity at T = 0.9 by transition
        matrices, NIST Standard Reference Simulation Website, SAT-TMMC, Linear-Force Shifted
        Potential at 3.0 σ. Densities of the gas are correlated over some 500 sweeps: five standard
        errors are granted, as runs of this length with other seeds differ (0.0025 and 0.0015)."""
        liquid, gas, (first, second) = self.coexistence({**LJ, "cutoff": 3.0}, 0.9, 0.66, 0.045,
                                                        9000)
        self.assertAlmostEqual(liquid.mean(), 0.6632, delta=0.0125)
        self.assertAlmostEqual(gas.mean(), 0.04502, delta=0.0075)
        # ln z = -3.549. It is measured well in the gas, and badly in the liquid.
        self.assertAlmostEqual(math.log(second.mean()), 3.549, delta=0.12)
        self.assertAlmostEqual(math.log(first.mean()), 3.549, delta=0.25)

    def test_tail_corrections_of_a_liquid_and_its_gas(self):
        """Cut at 2.5, with tail corrections, T = 1: 0.7012 and 0.0298 by the equation of state of
        J. K. Johnson, J. A. Zollweg, K. E. Gubbins, Mol. Phys. 78, 591 (1993); 0.652 and 0.051
        without them."""
        liquid, gas, _ = self.coexistence({**LJ, "truncation": "cut", "tail": True}, 1.0, 0.7, 0.03,
                                          6000)
        self.assertAlmostEqual(liquid.mean(), 0.7012, delta=0.015)
        self.assertAlmostEqual(gas.mean(), 0.0298, delta=0.007)

    # -- same bits ---------------------------------------------------------------------------------

    def small(self, sweeps=60, pairs=2, checkpoint=None, **more):
        systems = [{"type": "lattice", "structure": "sc", "cells": [n] * 3, "density": density}
                   for n, density in ((5, 0.6), (4, 0.1))] * pairs
        force = {**LJ, "cutoff": 2.0, "truncation": "cut", "tail": True}
        return job(systems, 125, force, gibbs(
            every=3, transfers=30, rows_every=2,
            volume={"step": 0.05, "stride": 2, "tune": {"steps": 40}}),
            stage(sweeps, 1.0, tune={"sweeps": 40}),
            observers=[{"type": "trajectory", "stride": 20, "quantities": [
                "position", "velocity"]}, {"type": "checkpoint", **(checkpoint or {})}], **more)

    def data(self, folder, systems):
        found = {}
        for k in range(systems):
            for file in ("thermo.h5", "trajectory.h5"):
                with h5py.File(self.path(folder, str(k), file)) as h:
                    h.visititems(lambda name, item: found.update({(k, file, name): item[()]})
                                 if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf"
                                 and name.startswith(("observables", "particles")) else None)
        with open(self.path(folder, "exchange.csv")) as file:
            found["exchange"] = file.read()
        with open(self.path(folder, "exchange.json")) as file:
            found["counts"] = file.read()
        return found

    def same(self, one, other, systems=4):
        a, b = self.data(one, systems), self.data(other, systems)
        self.assertEqual(a.keys(), b.keys())
        self.assertGreater(len(a), 20)
        for name in a:
            numpy.testing.assert_array_equal(a[name], b[name], err_msg=str(name))

    def test_threads_and_stops_change_nothing(self):
        what = self.small()
        self.run_job(what, folder="whole")
        volumes = self.column("volume", "whole/0")
        self.assertGreater(len(set(volumes)), 5)
        self.assertGreater(len(set(self.column("particles", "whole/2"))), 3)
        self.assertEqual(self.table("whole")["step"], list(range(6, 60, 6)))
        self.run_job(what, folder="one thread", threads="1")
        self.same("whole", "one thread")
        for first in (24, 31):  # of which one is a step of an exchange
            self.run_job(what, "--set", f"stages[0].sweeps={first}", folder="parts")
            done = self.perrin("resume", self.path("parts"), "--set", "stages[0].sweeps=60",
                               "--device", "cpu")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.same("whole", "parts")

    def test_bodies_stopped_and_resumed(self):
        what = self.small()
        systems = [{"type": "lattice", "structure": "sc", "cells": [n] * 3, "density": density,
                    "types": {"D": 2, "A": 1}} for n, density in ((5, 0.15), (4, 0.03))]
        what["ensemble"]["vary"]["system"] = systems * 2
        del what["forces"][0]["tail"]
        what |= {"system": systems[0], "orientations": {"start": "random"},
                 "reservoir": {"D": 84, "B": 5}, "bodies": {"D": {"sites": [
                     {"type": t, "at": [x, 0, 0]} for t, x in (("S", -0.3), ("S", 0.3))]}}}
        systems[0]["types"] = systems[1]["types"] = {"D": 2, "B": 1}
        what["reservoir"] = {"D": 84, "B": 42}
        what["forces"][0] |= {"mixing": "geometric", "pairs": [
            {"types": [t, t], "epsilon": 1, "sigma": s} for t, s in (("S", 0.7), ("B", 0.9))]}
        what["stages"][0]["molecule"] = {"displacement": 0.2, "rotation": 0.5}
        for observer in what["observers"]:
            if observer["type"] == "trajectory":
                observer["quantities"] += ["orientation", "angular_momentum"]
        self.run_job(what, folder="whole")
        self.assertGreater(len(set(self.column("particles", "whole/2"))), 3)
        self.assertGreater(len(set(self.column("volume", "whole/0"))), 3)
        self.run_job(what, "--set", "stages[0].sweeps=31", folder="parts", threads="1")
        done = self.perrin("resume", self.path("parts"), "--set", "stages[0].sweeps=60",
                           "--device", "cpu")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.same("whole", "parts")

    def test_stopped_by_the_clock(self):
        what = self.small(6000, pairs=1)
        self.run_job(what, folder="whole")
        done = self.run_job(what, "--time-limit", "1e-7", folder="parts")  # before the first step
        stops = 0
        while "stopped; continue" in done.stdout:
            stops += 1
            self.assertLess(stops, 20)
            done = self.perrin("resume", self.path("parts"), "--device", "cpu",
                               *(["--time-limit", "0.05"] if stops < 15 else []))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(stops, 1)  # the first was before the first step
        self.same("whole", "parts", 2)

    def test_killed(self):
        """While systems write checkpoints, and between exchanges."""
        for checkpoint in ({"minutes": 5e-4}, {"steps": 40}):
            with self.subTest(checkpoint):
                what = self.small(1000, pairs=2, checkpoint=checkpoint)
                self.run_job(what, folder="whole")  # which writes the file of the job
                shutil.rmtree(self.path("parts"), ignore_errors=True)
                kills = self.killed_and_resumed(
                    [PERRIN, "run", self.path("job.json"), "--output-dir", self.path("parts"),
                     "--device", "cpu", "--threads", "2", "--quiet"],
                    lambda k: [PERRIN, "resume", self.path("parts"), "--device", "cpu",
                               "--threads", str(1 + k % 2), "--quiet"], "parts", 4)
                self.assertGreater(kills, 1)
                self.same("whole", "parts")

    def test_processes_change_nothing(self):
        info = subprocess.run([PERRIN, "info"], capture_output=True, text=True).stdout
        if shutil.which("mpirun") is None or "MPI         not built in" in info:
            self.skipTest("there is no mpirun, or this build has no MPI")
        self.run_job(self.small(), folder="one")
        for processes in ("2", "3"):  # the third has nothing to do
            done = subprocess.run(
                ["mpirun", "-np", processes, "--oversubscribe", "--allow-run-as-root", PERRIN,
                 "run", self.path("job.json"), "--output-dir", self.path("several"), "--device",
                 "cpu", "--threads", "1", "--overwrite"], capture_output=True, text=True,
                timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.count("transfers accepted"), 2, done.stdout)
            self.same("one", "several")

    def test_what_is_said_and_reported(self):
        done = self.run_job(self.small(), folder="said")
        self.assertRegex(done.stdout, r"exchange  0 and 1: \d+ of 570 transfers accepted "
                         r"\(0\.\d+\), \d+ of 9 exchanges of volume accepted \(0\.\d+\), step "
                         r"0\.\d+")
        report = self.perrin("report", self.path("said"))
        self.assertEqual(report.returncode, 0, report.stdout + report.stderr)
        with open(self.path("said", "report.html")) as page:
            self.assertIn('"transfers"', page.read())
        for system in "01":
            density = self.column("density", f"said/{system}")
            numpy.testing.assert_allclose(density, self.column("particles", f"said/{system}")
                                          / self.column("volume", f"said/{system}"))

    # -- mistakes ----------------------------------------------------------------------------------

    def test_one_that_fails_ends_its_pair(self):
        """A system whose particles overlap in a stage of dynamics, and the one that is to have
        particles of it."""
        what = self.small()
        what["ensemble"]["vary"]["system"][1] = random(64, 4.5)
        what["ensemble"]["exchange"]["stages"] = ["third"]
        md = {"type": "md", "steps": 20, "integrator": {
            "type": "langevin", "timestep": 0.01, "temperature": 1, "friction": 1}}
        what["stages"] = [stage(1, name="first"), md, stage(30, name="third")]
        with open(self.path("job.json"), "w") as file:
            json.dump(what, file)
        done = self.perrin("run", self.path("job.json"), "--output-dir", self.path("out"),
                           "--device", "cpu")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr,
                         "system 0 failed: system 1, with which it exchanges particles, has ended")
        for system in "23":
            with open(self.path("out", system, "system.json")) as file:
                self.assertEqual(json.load(file)["state"], "complete")

    def test_mistakes_are_told(self):
        start = [random(20, 8), random(20, 8)]

        def wrong(pattern, systems=start, room=20, force=LJ, exchange=None, stages=None, **more):
            self.refused(job(systems, room, force, exchange or gibbs(volume={"step": 0.1}),
                             *(stages or [stage(5)]), **more), pattern)
        wrong(r"ensemble.*must be even with the exchange \"gibbs\".*got 3", start + start[:1])
        wrong(r"reservoir\.A: must be at least 20.*system 0 has room for all.*system 1, got 15",
              room=15)
        wrong(r"ensemble\.exchange\.transfers: must be positive without \"volume\"",
              exchange=gibbs(transfers=0))
        wrong(r"ensemble\.exchange\.volume: is a setting of the type \"gibbs\"",
              exchange={"every": 5, "volume": {"step": 0.1}})
        wrong(r"ensemble\.exchange\.type", exchange={"every": 5, "type": "grand"})
        wrong(r"volume\.step: must be positive", exchange=gibbs(volume={"step": 0}))
        wrong(r"stages\[0\]: cannot exchange particles: it inserts and removes",
              stages=[stage(5, insertion=[{"type": "A", "activity": 0.1}])])
        md = {"type": "md", "steps": 5, "integrator": {
            "type": "langevin", "timestep": 0.001, "temperature": 1, "friction": 1}}
        wrong(r"stages\[1\]\.type: is \"md\", which exchanges no particles: expected "
              r"\"monte_carlo\"", stages=[stage(5), md])
        wrong(r"ensemble\.exchange\.stages\[0\]: no stage has the name or the type \"production\"",
              exchange=gibbs(stages=["production"]))
        wrong(r"barostat: cannot be combined with a reservoir",
              stages=[stage(5, barostat={"pressure": 1, "tau": 10})])
        wrong(r"groups: cannot be combined with a \"reservoir\"", groups={"one": {"ids": [0]}})
        wrong(r"\"monte_carlo\": depends on orientations, of which particles that come are given",
              forces=[{"type": "dipole", "cutoff": 2, "truncation": "switch", "pairs": [
                  {"types": list(two), "strength": 1} for two in ("AA", "AS", "SS")]}],
              stages=[{"type": "monte_carlo", "sweeps": 5, "temperature": 1,
                       "molecule": {"displacement": 0.1, "rotation": 0.1}}],
              orientations={"start": "random"},
              bodies={"A": {"sites": [{"type": "S", "at": [0.1, 0, 0]},
                                      {"type": "S", "at": [-0.1, 0, 0]}]}})
        wrong(r"device: must be \"cpu\".*got \"cuda\"", device="cuda")
        what = job(start, 20, LJ, gibbs(), stage(5))
        del what["reservoir"]
        self.refused(what, r"reservoir: is missing, so that no particle could come")
        for path, values in (("stages[0].temperature", [1.0, 1.1]),
                             ("forces[0].cutoff", [2.5, 2.4])):
            what = job(start, 20, LJ, gibbs(), stage(5))
            what["ensemble"]["vary"][path] = values
            self.refused(what, r"must be the same in systems 0 and 1, which exchange particles, "
                         f"got {values[0]} and {values[1]}".replace("1.0", r"1(\.0)?"))
        chains = {"type": "chains", "chains": 4, "pattern": "A2", "bond_length": 1, "density": 0.01}
        spring = {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 9, "length": 1}}}
        what = job([chains, chains], 8, LJ, gibbs(), stage(5))
        what["forces"].append(spring)
        self.refused(what, r"system: has 4 bonds, and the Gibbs ensemble exchanges single")
        walls = random(20, 8, periodic=[True, True, False])
        wrong(r"system: must be periodic along all axes to exchange particles, and z is not",
              [walls, walls])
        small = [random(20, 8), random(20, 4)]
        wrong(r"2\.5", small)


if __name__ == "__main__":
    if DEVICE != "cpu":
        print("skipped: boxes exchange particles on the CPU alone")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
