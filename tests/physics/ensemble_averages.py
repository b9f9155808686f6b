#!/usr/bin/python3
"""Averages of ensembles: many short replicas and one long run, replica exchange and runs alone, and
the cluster of examples/26-melting-cluster.

    ensemble_averages.py PERRIN [unittest arguments]
"""

import json
import math
import pathlib
import re
import sys
import unittest

import h5py
import numpy

from ensemble import LIQUID, LJ, TEMPERATURE, job, langevin
from job_case import DEVICE, JobCase, mean_and_error

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SMALL = {**LIQUID, "cells": [3, 3, 3]}  # 108 particles


def correlation_time(values):
    """1/2 + the sum of the autocorrelation up to five times itself, in rows."""
    x = values - values.mean()
    n = len(x)
    f = numpy.fft.rfft(x, 2 * n)
    c = numpy.fft.irfft(abs(f)**2)[:n] / numpy.arange(n, 0, -1)
    tau = 0.5
    for k in range(1, n):
        tau += c[k] / c[0]
        if k > 5 * tau:
            break
    return tau


def largest_difference(one, other):
    """Kolmogorov's and Smirnov's, of two samples."""
    both = numpy.concatenate([one, other])
    return abs(numpy.searchsorted(numpy.sort(one), both, side="right") / len(one)
               - numpy.searchsorted(numpy.sort(other), both, side="right") / len(other)).max()


class Averages(JobCase):
    overwrite = True

    def check_distribution(self, one, other, independent):
        """Of two samples of so many independent values each: the difference is beyond 1.95 times
        the root below with the probability 0.001."""
        bound = 1.95 * math.sqrt(sum(1 / n for n in independent))
        self.assertLess(largest_difference(one, other), bound)

    def test_many_short_replicas_are_one_long_run(self):
        """200 replicas, each from a lattice of its own: means and variances of energy and pressure,
        and the distribution of their last energies, against one long run. Kinetic energies have the
        distribution of 3N normal numbers."""
        n, replicas, discarded, rows = 108, 200, 50, 40
        stage = langevin(20 * (discarded + rows))
        self.run_job(job({"count": replicas, "files": "one"}, stage, system=SMALL, stride=20))
        with h5py.File(self.path("ensemble.h5")) as file:
            table = file["tables/thermo.h5/value"][:, discarded + 1:]
            columns = [name.decode() for name in file["tables/thermo.h5/column"]]
        alone = job({}, langevin(240000), system=SMALL, stride=20)
        del alone["ensemble"]
        self.run_job(alone, folder="long")
        for name in ("potential_energy", "kinetic_energy", "pressure"):
            with self.subTest(name):
                short = table[:, :, columns.index(name)]
                long = self.column(name, "long")[discarded:]
                tau = correlation_time(long)
                self.assertLess(tau, 20)  # of some 600: blocks of the errors below are far longer
                error = short.mean(axis=1).std(ddof=1) / math.sqrt(replicas)
                mean, its_error = mean_and_error(long)
                self.assertLess(abs(short.mean() - mean), 4 * math.hypot(error, its_error))
                # Squares of differences from one mean, as a series of their own.
                square, error = mean_and_error(((short - mean)**2).mean(axis=1))
                of_long, its_error = mean_and_error((long - mean)**2)
                self.assertLess(abs(square - of_long), 4.5 * math.hypot(error, its_error))
                self.assertLess(its_error, 0.1 * of_long)
                self.check_distribution(short[:, -1], long, (replicas, len(long) / (2 * tau)))
        drawn = numpy.random.default_rng(1).gamma(1.5 * n, 1.0, 1_000_000)
        self.check_distribution(table[:, -1, columns.index("kinetic_energy")], drawn,
                                (replicas, len(drawn)))

    def test_replica_exchange_has_the_averages_of_runs_alone(self):
        """Twelve temperatures of a liquid: energy and pressure of each; and all replicas have been
        in a third of the systems at least. Of 24 differences in units of their errors the sum of
        squares has the mean 24 and the variance 48 (and somewhat more, errors being measured)."""
        what = job({"count": 12, "vary": {TEMPERATURE: {"geometric": [0.9, 2.0]}},
                    "exchange": {"every": 50}}, langevin(20000), system=SMALL, stride=25)
        done = self.run_job(what, folder="with")
        del what["ensemble"]["exchange"]
        self.run_job(what, folder="without")
        found = []
        for k in range(12):
            for name in ("potential_energy", "pressure"):
                (a, da), (b, db) = (mean_and_error(self.column(name, f"{folder}/{k:02}")[60:])
                                    for folder in ("with", "without"))
                found.append((a - b) / math.hypot(da, db))
        self.assertLess(max(map(abs, found)), 4.5, found)
        self.assertLess(sum(x * x for x in found), 24 + 4.5 * math.sqrt(48), found)
        accepted = [float(x) for x in re.findall(r"accepted \(([\d.]+)\)", done.stdout)]
        self.assertEqual(len(accepted), 11)
        self.assertGreater(min(accepted), 0.2)
        # What two systems have of energies tells how often they exchange, without any run.
        energies = [self.column("potential_energy", f"without/{k:02}")[60:] for k in range(12)]
        beta = 1 / numpy.geomspace(0.9, 2.0, 12)
        for k in range(11):
            step = energies[k][:, None] - energies[k + 1]
            expected = numpy.exp(numpy.minimum(0, (beta[k] - beta[k + 1]) * step)).mean()
            self.assertLess(abs(accepted[k] - expected), 0.12, k)
        with open(self.path("with", "exchange.csv")) as file:
            replicas = numpy.loadtxt(file, delimiter=",", skiprows=1, dtype=int)[:, 1:]
        self.assertGreater(min(len(set(numpy.argwhere(replicas == r)[:, 1])) for r in range(12)), 3)

    def test_the_cluster_of_the_example_melts(self):
        """examples/26-melting-cluster, a fifteenth of its steps: what energy is gained from the
        first to the last of 64 temperatures is the integral of the heat capacity by fluctuations,
        and the peak is where the example's is, 0.288(6)."""
        folder = EXAMPLES / "26-melting-cluster"
        with open(self.path("icosahedron.xyz"), "w") as out:
            out.write((folder / "icosahedron.xyz").read_text())
        what = json.loads(re.sub(r"//.*", "", (folder / "job.json").read_text()))
        what["stages"][0]["steps"] = 20000
        self.run_job(what)
        sys.path.insert(0, str(folder))
        import plot
        capacity, peak, difference = plot.results(*plot.measured(pathlib.Path(self.path())))
        self.assertEqual(len(capacity[0]), 64)
        self.assertLess(abs(difference[0]), 4 * difference[1])
        self.assertLess(difference[1], 1.2)  # of 12.4
        self.assertLess(abs(peak[0] - 0.288), 0.035)
        # At the lowest temperature 33 springs with k/2 each, softer when they are stretched; where
        # the cluster melts far more.
        self.assertGreater(capacity[0][0], 16.5)
        self.assertLess(capacity[0][0], 30)
        self.assertGreater(capacity[0].max(), 3 * capacity[0][0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
