#!/usr/bin/python3
"""Monte Carlo with particles that come and go: against exact distributions, trial insertions and an
equation of state; and what a job with a reservoir refuses.

    insertion.py PERRIN [unittest arguments]
"""

import math
import os
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase, mean_and_error

PAIR = [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]
LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "energy_shift", "pairs": PAIR}


def random(particles, edge, **more):
    return {"type": "random", "particles": particles, "box": edge, "min_distance": 0, **more}


def stage(sweeps, temperature=1.0, **more):
    return {"type": "monte_carlo", "sweeps": sweeps, "temperature": temperature, **more}


def insertion(activity, trials=100, of="A"):
    return {"type": of, "activity": activity, "trials": trials}


def job(system, reservoir, forces, *stages, observers=(), stride=1, **more):
    return {"seed": 5, "system": system, "reservoir": reservoir, "forces": forces,
            "observers": [{"type": "thermo", "stride": stride}, *observers],
            "stages": list(stages), **more}


class Insertion(JobCase):
    overwrite = True

    def close(self, found, expected, more=0.0, sigmas=4):
        mean, error = found
        self.assertLess(abs(mean - expected), sigmas * error + more, f"{found} {expected}")

    # -- exact distributions -----------------------------------------------------------------------

    def test_an_ideal_gas(self):
        """Poisson's distribution, of two types at once, in one cell and in many."""
        none = {"type": "gaussian_core", "cutoff": 2, "pairs": [
            {"types": list(pair), "epsilon": 1e-9, "sigma": 1} for pair in ("AA", "AB", "BB")]}
        for edge in ([4, 5, 6], [10, 9, 8]):
            volume = numpy.prod(edge)
            mean = {"A": 20, "B": 5}
            self.run_job(job(random({"A": 30, "B": 1}, edge), {"A": 80, "B": 60}, [none],
                             stage(4000, insertion=[insertion(mean[t] / volume, 40, t)
                                                    for t in "AB"]),
                             observers=[{"type": "trajectory", "stride": 1, "quantities": []}]))
            with h5py.File(self.path("trajectory.h5")) as h:
                atoms = h["particles/all"]
                there = atoms["id/value"][()] >= 0
                species = atoms["species/value"][()]
                ids = atoms["id/value"][()]
            numpy.testing.assert_array_equal(there, species < 2)
            numpy.testing.assert_array_equal(ids[there], numpy.nonzero(there)[1])
            numpy.testing.assert_array_equal(there.sum(axis=1), self.column("particles"))
            for k, name in enumerate("AB"):
                count = (species == k).sum(axis=1)[200:]
                self.close(mean_and_error(count), mean[name])
                self.close(mean_and_error((count - mean[name]) ** 2), mean[name])
            self.assertAlmostEqual(self.column("pressure").mean(), self.column(
                "particles").mean() / volume, places=4)

    def test_a_few_that_meet(self):
        """P(N) = z^N Z_N / N! of soft spheres in a small box, Z_N by integration."""
        edge, activity = 4.2, 0.06
        pairs = {"type": "gaussian_core", "cutoff": 2.0, "truncation": "cut", "pairs": [
            {"types": ["A", "A"], "epsilon": 3, "sigma": 1}]}
        self.run_job(job(random({"A": 2}, [edge] * 3), {"A": 30}, [pairs],
                         stage(8000, insertion=[insertion(activity, 10)],
                               translation={"displacement": 0.5})))
        rng = numpy.random.default_rng(1)
        weight = []
        for n in range(12):
            r = rng.uniform(0, edge, (100000, n, 3))
            energy = numpy.zeros(len(r))
            for i in range(n):
                d = r[:, i + 1:] - r[:, i:i + 1]
                d -= edge * numpy.round(d / edge)
                r2 = (d ** 2).sum(axis=2)
                energy += numpy.where(r2 < 4, 3 * numpy.exp(-r2), 0).sum(axis=1)
            weight.append((activity * edge ** 3) ** n / math.factorial(n)
                          * numpy.exp(-energy).mean())
        expected = numpy.array(weight) / sum(weight)
        count = self.column("particles")[100:]
        for n in range(7):  # the integrals are known to 1 %
            self.close(mean_and_error(count == n), expected[n], 0.01 * expected[n])

    def test_two_dimensions(self):
        """The same by the second virial coefficient, of a thin gas."""
        edge, activity = 30, 0.01
        pairs = {**LJ, "truncation": "cut"}
        self.run_job(job(random({"A": 8}, [edge] * 2, dimension=2), {"A": 60}, [pairs],
                         stage(6000, 1.5, insertion=[insertion(activity, 60)],
                               translation={"displacement": 1})))
        r = (numpy.arange(200000) + 0.5) * 2.5 / 200000
        b2 = math.pi * ((numpy.exp(-4 * (r ** -12 - r ** -6) / 1.5) - 1) * r).sum() * 2.5 / 200000
        # density = z + 2 b2 z² + 3 b3 z³: the third is of the size (b2 z)²
        expected = edge ** 2 * (activity + 2 * b2 * activity ** 2)
        self.close(mean_and_error(self.column("particles")[300:]), expected,
                   edge ** 2 * 6 * (b2 * activity) ** 2 * activity)

    # -- fluids ------------------------------------------------------------------------------------

    def test_the_density_of_an_equation_of_state(self):
        """At T = 2 the excess chemical potential of the density 0.5 is -0.5601 (J. Kolafa, I.
        Nezbeda, Fluid Phase Equilib. 100, 1 (1994)); of pairs cut at 4 without what lies beyond:
        2 U_tail/N less. 0.01 are granted to it, which are 0.003 of density."""
        cutoff, density, kt = 4.0, 0.5, 2.0
        tail = 8 / 3 * math.pi * density * (cutoff ** -9 / 3 - cutoff ** -3)
        activity = density * math.exp((-0.5601 - 2 * tail) / kt)
        pairs = {**LJ, "truncation": "cut", "cutoff": cutoff}
        moves = {"translation": {"displacement": 0.3},
                 "insertion": [{"type": "A", "chemical_potential": kt * math.log(activity),
                                "trials": 300}]}
        self.run_job(job({"type": "lattice", "structure": "fcc", "density": 0.4,
                          "cells": [5] * 3}, {"A": 400}, [pairs], stage(1500, kt, **moves)))
        found = self.column("particles")[300:] / self.column("volume")[300:]
        self.close(mean_and_error(found, 10), density, 0.005)

    def test_a_fluid_in_many_cells(self):
        """The activity is that which trial insertions find at the same density. Then dynamics go
        on: temperature and pressure stay."""
        kt, activity = 1.5, 0.12
        moves = {"translation": {"displacement": 0.3}, "insertion": [insertion(activity, 500)]}
        langevin = {"type": "langevin", "timestep": 0.005, "temperature": kt, "friction": 1}
        self.run_job(job(random({"A": 300}, [13] * 3, min_distance=0.9), {"A": 1200}, [LJ],
                         stage(900, kt, name="mc", **moves),
                         {"type": "md", "steps": 2000, "integrator": langevin}, stride=5))
        count = self.column("particles")
        found = mean_and_error(count[60:180], 10)
        self.assertTrue((count[180:] == count[180]).all())
        temperature = mean_and_error(self.column("temperature")[280:], 10)
        self.close(temperature, kt, 0.01)
        pressure = mean_and_error(self.column("pressure")[60:180], 10)
        density = found[0] / 13 ** 3
        canonical = job({"type": "lattice", "structure": "sc", "cells": [8] * 3,
                         "density": density}, {}, [LJ],
                        stage(700, kt, translation={"displacement": 0.3}), stride=5,
                        observers=[{"type": "widom", "stride": 10, "insertions": 2000}])
        self.run_job(canonical, folder="canonical")
        factor = mean_and_error(self.column("boltzmann_factor", "canonical",
                                            file="widom.h5")[20:], 10)
        # ln z = ln density - ln factor; d ln z / d ln density is at most some 4 here.
        expected = activity
        here = density / factor[0]
        error = here * math.hypot(factor[1] / factor[0], 4 * found[1] / found[0])
        self.close((here, error), expected, 0.002)
        both = mean_and_error(self.column("pressure", "canonical")[40:], 10)
        self.close((pressure[0], math.hypot(pressure[1], both[1])), both[0], 0.01)

    def test_in_turns_resumed_and_on_threads(self):
        """The same bits, also where a run is stopped in each stage."""
        langevin = {"type": "langevin", "timestep": 0.004, "temperature": 1.2, "friction": 1}
        stages = [stage(20, 1.2, name="first", translation={"displacement": 0.3},
                        insertion=[insertion(0.1, 200)]),
                  {"type": "md", "name": "second", "steps": 40, "integrator": langevin},
                  stage(20, 1.2, name="third", translation={"displacement": 0.3},
                        swap={"trials": 0.1}, insertion=[insertion(0.02, 200),
                                                         insertion(0.05, 100, "B")])]
        forces = [{**LJ, "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                   for t in ("AA", "AB", "BB")]}]
        one = job(random({"A": 200, "B": 100}, [11] * 3, min_distance=0.9), {"A": 300, "B": 200},
                  forces, *stages, observers=[{"type": "trajectory", "stride": 4},
                                              {"type": "checkpoint"}],
                  velocity={"temperature": 1.2})
        names = ("position/value", "velocity/value", "species/value", "id/value")

        def data(folder):
            with h5py.File(self.path(folder, "trajectory.h5")) as h:
                return [h["particles/all"][n][()] for n in names if n in h["particles/all"]]
        self.run_job(one, folder="whole")
        self.run_job(one, folder="one thread", threads="1")
        whole = data("whole")
        self.assertGreater(len(set((whole[-1] >= 0).sum(axis=1))), 5)
        for a, b in zip(whole, data("one thread")):
            numpy.testing.assert_array_equal(a, b)
        for last, key in enumerate(("sweeps", "steps", "sweeps")):
            part = {**one, "stages": stages[:last + 1]}
            length = f"stages[{last}].{key}"
            self.run_job(part, folder="part")
            self.run_job(part, "--set", f"{length}=13", folder="stopped")
            done = self.perrin("resume", self.path("stopped", "checkpoint.h5"), "--set",
                               f"{length}={stages[last][key]}", "--device", DEVICE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for a, b in zip(data("part"), data("stopped")):
                numpy.testing.assert_array_equal(a, b, err_msg=length)

    def test_files(self):
        """Frames that are read have those who are there; so has a profile, on average."""
        one = job(random({"A": 30, "B": 10}, [8] * 3, min_distance=0.8), {"A": 90},
                  [{**LJ, "cutoff": 2, "mixing": "geometric", "pairs": [
                      *PAIR, {"types": ["B", "B"], "epsilon": 1, "sigma": 1}]}],
                  stage(200, 1.5, translation={"displacement": 0.3}, insertion=[
                      insertion(0.03, 50)]), stride=5,
                  attributes={"u": {"types": {"A": 2, "B": 3}}},
                  observers=[{"type": "trajectory", "stride": 10}, {"type": "gsd", "stride": 10},
                             {"type": "profile", "stride": 5, "axis": "x", "bins": 4,
                              "rows_every": 200}])
        self.run_job(one)
        count = self.column("particles")
        density = self.column("density", file="profile.h5")[-1]
        self.assertAlmostEqual(density.mean() * 512, count[1:].mean(), places=3)
        for frame in (3, 7, -1):
            read = []
            for name in ("trajectory.h5", "trajectory.gsd"):
                done = self.perrin("convert", self.path(name), self.path("one.xyz"), "--frame",
                                   str(frame), "--overwrite")
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(self.path("one.xyz")) as lines:
                    rows = lines.read().splitlines()
                read.append([row.split() for row in rows[2:]])
                self.assertEqual(len(read[-1]), count[2 * frame if frame > 0 else -1])
            self.assertEqual([row[0] for row in read[0]], [row[0] for row in read[1]])
            places = [numpy.array([row[1:4] for row in rows], float) for rows in read]
            apart = places[0] - places[1]
            self.assertLess(abs(apart - 8 * numpy.round(apart / 8)).max(), 1e-5)
        self.run_job({k: v for k, v in one.items() if k not in ("reservoir", "attributes")} | {
            "system": {"type": "file", "path": self.path("trajectory.h5"), "frame": 7},
            "stages": [stage(5, translation={"displacement": 0.1})]}, folder="again")
        with open(self.path("again", "perrin.log")) as log:
            self.assertNotIn("absent", log.read())

    def test_processes_whose_shares_change(self):
        """Where lists deal particles out anew at every chance, all processes count all of them."""
        self.need_mpi()
        text = job({"type": "lattice", "structure": "square", "density": 0.25, "cells": [8, 8, 1]},
                   {"A": 150}, [LJ], stage(60, temperature=1, translation={"displacement": 0.2},
                                           insertion=[insertion(0.3, trials=50)]))
        text |= {"processes": {"particles": 1}, "observers": [{"type": "thermo", "stride": 1}]}
        self.run_job(text, folder="whole")
        os.environ["PERRIN_TEST_CUTS"] = "1"
        self.addCleanup(os.environ.pop, "PERRIN_TEST_CUTS")
        self.run_by_three("three")
        for column in ("particles", "density", "potential_energy", "total_energy"):
            numpy.testing.assert_array_equal(self.column(column, "three"),
                                             self.column(column, "whole"))

    # -- mistakes ----------------------------------------------------------------------------------

    def test_one_cell_of_many(self):
        """A box that is one cell of trials: who moves in which order does not depend on the order
        in memory."""
        found = []
        for traversal in ("verlet_list", "standard"):
            self.run_job(job(random({"A": 250}, [8] * 3, min_distance=0.8), {"A": 200}, [LJ],
                             stage(5, translation={"displacement": 0.2},
                                   insertion=[insertion(0.1, 300)]),
                             stage(5, insertion=[insertion(0.1, 300)]), neighbors={
                                 "traversal": traversal},
                             observers=[{"type": "trajectory", "stride": 10,
                                         "precision": "double"}]))
            with h5py.File(self.path("trajectory.h5")) as h:
                found.append([h["particles/all"][f"{name}/value"][-1]
                              for name in ("id", "position")])
            self.assertTrue((found[0][0] != numpy.arange(450)).any())
        for a, b in zip(*found):
            numpy.testing.assert_array_equal(a, b)

    def test_mistakes_are_told(self):
        start, moves = random({"A": 20}, [8] * 3), {"translation": {"displacement": 0.3}}
        put = {"insertion": [insertion(0.1)]}
        self.refused(job(start, {}, [LJ], stage(5, **put)), r"expected \"reservoir\": \{\"A\"")
        self.refused(job(start, {"A": 0}, [LJ], stage(5, **put)), r"reservoir\.A: must be positive")
        self.refused(job(start, {"A": 9}, [LJ], stage(5, insertion=[{"type": "A"}])),
                     r"either activity or chemical_potential")
        self.refused(job(start, {"A": 9}, [LJ], stage(5, insertion=[insertion(1), insertion(2)])),
                     r"insertion\[1\]\.type: \"A\" is given twice")
        self.refused(job(start, {"A": 9}, [LJ], stage(5, **moves, **put, hybrid={"timestep": 1})),
                     r"hybrid: cannot be combined with a reservoir")
        self.refused(job(start, {"A": 9}, [LJ], stage(5, **put),
                         observers=[{"type": "radial_distribution", "stride": 1, "file": "g.h5",
                                     "bins": 10, "r_max": 2}]),
                     r"particles come and go \(\"reservoir\"\)|radial_distribution")
        self.refused(job(start, {"A": 9}, [LJ], stage(5, **put), groups={"one": {"ids": [0]}}),
                     r"groups: cannot be combined with a \"reservoir\"")
        self.refused(job(start, {"A": 9}, [{**LJ, "truncation": "cut", "tail": True}],
                         stage(5, **put)), r"tail correction")
        trap = {"type": "harmonic_trap", "stiffness": [1, 1, 1], "center": [0, 0, 0]}
        self.refused(job(start, {"A": 9}, [LJ, trap], stage(5, **put)), r"no external force")
        self.refused(job(start, {"A": 9}, [LJ], {"type": "md", "steps": 1, "integrator": {
            "type": "bussi", "timestep": 0.001, "temperature": 1, "tau": 1,
            "barostat": {"pressure": 1, "tau": 1}}}), r"changes the box")
        chains = {"type": "chains", "chains": 4, "pattern": "A2", "bond_length": 1,
                  "density": 0.1}
        spring = {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 9, "length": 1}}}
        self.refused(job(chains, {"A": 9}, [LJ, spring], stage(5, **put)), r"has bonds, which")
        kinds = {"charge": {"random": {"uniform": [0.8, 1.2]}}}
        self.refused(job(start, {"A": 9}, [LJ], stage(5, **put), attributes=kinds),
                     r"reservoir\.A: the particles of this type have different values of "
                     r"\"charge\"")
        with self.assertRaisesRegex(AssertionError, r"larger number at reservoir\.A"):
            self.run_job(job(start, {"A": 9}, [{**LJ, "cutoff": 1.2}],
                             stage(50, insertion=[insertion(5)])))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
