#!/usr/bin/python3
"""Rigid bodies: they stay as they are, energies, pressure against the derivative of the energy,
equipartition, resumed runs, mistakes.

    bodies.py PERRIN [unittest arguments]
"""

import copy
import math
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase

LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 0.5, "sigma": 0.7}]}
DIMER = {"D": {"sites": [{"type": "A", "at": [0.35, 0, 0]}, {"type": "A", "at": [-0.35, 0, 0]}]}}
# Uneven, its centre of mass elsewhere, its axes oblique.
TRIMER = {"D": {"sites": [{"type": "A", "at": [0.3, 0.2, 0.1]}, {"type": "A", "at": [-0.3, 0.1, 0]},
                          {"type": "A", "at": [0, 0.4, 0.5]}]}}
NVE = {"type": "velocity_verlet", "timestep": 0.002}


def job(bodies, integrator, *forces, steps=500, density=0.3, cells=(6, 6, 6), temperature=1.5,
        start="random", structure="sc", **more):
    return {"seed": 5,
            "system": {"type": "lattice", "structure": structure, "density": density,
                       "cells": list(cells), "types": {"D": 1}},
            "bodies": bodies, "orientations": {"start": start},
            "velocity": {"temperature": temperature}, "forces": list(forces) or [LJ],
            "observers": [{"type": "thermo", "stride": 10}, {"type": "checkpoint"},
                          {"type": "trajectory", "stride": 250, "precision": "double",
                           "quantities": ["position", "image", "velocity"]}],
            "stages": [{"type": "md", "steps": steps, "integrator": integrator}], **more}


class Bodies(JobCase):
    overwrite = True

    def state(self, folder):
        """What a checkpoint has of the particles, by name."""
        with h5py.File(self.path(folder, "checkpoint.h5")) as f:
            particles = f["state/simulation/particles"]
            return {name: particles[name][()].tobytes() for name in (
                "orientation", "angular_momentum", "velocity", "position", "force", "image")}

    def sites(self, per_body, bodies):
        """Of each frame and body: places and velocities of the sites relative to the centre."""
        with h5py.File(self.path("trajectory.h5")) as f:
            at = f["particles/all/position/value"][()].astype(float)
            v = f["particles/all/velocity/value"][()].astype(float)
            edges = numpy.diag(f["particles/all/box/edges/value"][0]) if (
                "value" in f["particles/all/box/edges"]) else f["particles/all/box/edges"][()]
            edges = numpy.asarray(edges, float)
            edges = edges if edges.ndim == 1 else numpy.diag(edges)
        center = at[:, :bodies, None]
        own = at[:, bodies:].reshape(len(at), bodies, per_body, 3) - center
        own -= edges * numpy.round(own / edges)
        turn = v[:, bodies:].reshape(len(at), bodies, per_body, 3) - v[:, :bodies, None]
        return own, turn

    def test_they_stay_as_they_are_and_conserve_energy(self):
        spread = []
        for dt in (0.004, 0.002):
            self.run_job(job(TRIMER, {"type": "velocity_verlet", "timestep": dt},
                             steps=round(4 / dt)))
            energy = self.column("total_energy")
            spread.append(energy[len(energy) // 5:].std())
            own, turn = self.sites(3, 216)
            # Masses are equal: the centre of mass is the mean.
            numpy.testing.assert_allclose(own.mean(2), 0, atol=2e-6)
            expected = numpy.array([s["at"] for s in TRIMER["D"]["sites"]])
            for a, b in ((0, 1), (0, 2), (1, 2)):
                length = numpy.sqrt(((own[:, :, a] - own[:, :, b])**2).sum(-1))
                numpy.testing.assert_allclose(length, math.dist(expected[a], expected[b]),
                                              rtol=3e-6)
                # No velocity along a distance that does not change.
                along = ((own[:, :, a] - own[:, :, b]) * (turn[:, :, a] - turn[:, :, b])).sum(-1)
                self.assertLess(abs(along).max(), 1e-5)
            momentum = self.column("momentum")
            self.assertLess(abs(momentum).max(), 5e-3)
        self.assertLess(spread[1], 0.4 * spread[0], spread)
        self.assertLess(spread[1], 1e-4 * 216 * 6 * 1.5 / 2 * 10)

    def test_pressure_is_the_derivative_of_the_energy(self):
        # Bodies that keep their directions, in boxes a little larger and smaller: P = N k T/V -
        # dU/dV of the centres.
        for bodies, cells, structure in ((TRIMER, (6, 6, 6), "sc"), (DIMER, (9, 9, 1), "square")):
            bodies = copy.deepcopy(bodies)
            planar = structure == "square"
            density, h, rows = (0.5 if planar else 0.35), 1e-3, {}
            for scale in (1 - h, 1, 1 + h):
                self.run_job(job(bodies, NVE, steps=1, start="aligned", cells=cells,
                                 structure=structure, density=density * scale))
                rows[scale] = [self.column(name)[0] for name in (
                    "potential_energy", "volume", "pressure", "kinetic_energy")]
            (low, v_low, *_), (high, v_high, *_) = rows[1 + h], rows[1 - h]
            _, volume, pressure, kinetic = rows[1]
            ideal = 2 * kinetic / ((2 if planar else 3) * volume)
            expected = ideal - (high - low) / (v_high - v_low)
            self.assertGreater(abs(expected - ideal), 0.05)
            self.assertLess(abs(pressure - expected), 2e-3 * abs(expected - ideal) + 1e-4)

    def test_all_motions_have_the_temperature(self):
        # 216 bodies: 3 N - 3 velocities (3 N with a bath), 3 N and 2 N angular ones. As in
        # orientations.py.
        bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.2, "friction": 4,
                "rotational_friction": 0.4}
        bussi = {"type": "bussi", "timestep": 0.004, "temperature": 1.2, "tau": 0.1}
        for bodies, axes, integrator in ((TRIMER, 3, bath), (DIMER, 2, bath), (TRIMER, 3, bussi)):
            with self.subTest(f"{integrator['type']}, {axes}"):
                self.run_job(job(bodies, integrator, steps=4000, temperature=1.2))
                for name, number in (("temperature", 3), ("rotational_temperature", axes)):
                    found = self.column(name)[60:]
                    error = 1.2 * math.sqrt(2 / (number * 216) / 150)
                    self.assertLess(abs(found.mean() - 1.2), 4 * error + 0.005, name)

    def test_a_body_is_a_molecule_of_stiff_springs(self):
        # The same energy on average as dumbbells whose bonds are springs so stiff that their length
        # hardly varies (T/k = 6e-4 of a length squared of 0.49): LJ energies of dimers in an
        # equilibrium of temperature 1.5. 216 dimers, 300 rows: see the errors found.
        bath = {"type": "langevin", "timestep": 0.002, "temperature": 1.5, "friction": 1,
                "rotational_friction": 0.5}
        rigid = job(DIMER, bath, steps=8000, density=0.3)
        self.run_job(rigid)
        one = self.column("potential_energy")[200:]
        chains = {"seed": 6, "system": {"type": "chains", "chains": 216, "pattern": "A2",
                                        "bond_length": 0.7, "density": 0.6, "min_distance": 0.55},
                  "velocity": {"temperature": 1.5},
                  "forces": [LJ, {"type": "bond_harmonic",
                                  "bonds": {"bond": {"stiffness": 2500, "length": 0.7}}}],
                  "observers": [{"type": "thermo", "stride": 10}],
                  "stages": [
                      {"type": "md", "steps": 2000, "name": "relax", "integrator": {
                          "type": "fire", "force_tolerance": 10, "maximum_move": 0.02}},
                      {"type": "md", "steps": 8000, "integrator": {
                          "type": "langevin", "timestep": 0.002, "temperature": 1.5,
                          "friction": 1}}]}
        self.run_job(chains)
        with h5py.File(self.path("thermo.h5")) as f:
            steps = f["observables/potential_energy/step"][()]
            other = f["observables/potential_energy/value"][()]
        other = other[steps > steps[-1] - 6000] - 216 * 1.5 / 2  # that of the springs
        def error(x):
            blocks = x[:len(x) // 10 * 10].reshape(10, -1).mean(1)
            return blocks.std(ddof=1) / math.sqrt(10)
        allowed = 4 * math.hypot(error(one), error(other)) + 0.01 * abs(one.mean())
        self.assertLess(abs(one.mean() - other.mean()), allowed)

    def kinds(self):
        bath = {"type": "langevin", "timestep": 0.002, "temperature": 1, "friction": 1,
                "rotational_friction": 1}
        return {"trimers": job(TRIMER, bath, steps=200),
                "planar": job(DIMER, {"type": "bussi", "timestep": 0.002, "temperature": 1,
                                      "tau": 0.1}, structure="square", cells=(12, 12, 1),
                              density=0.4, steps=200),
                "droplet": job(DIMER, {"type": "brownian", "timestep": 1e-4, "temperature": 1,
                                       "friction": 1, "rotational_friction": 0.3}, LJ,
                               {"type": "harmonic_trap", "stiffness": [0.2] * 3}, density=0.05,
                               steps=200)}

    def test_stopped_and_resumed(self):
        for name, text in self.kinds().items():
            with self.subTest(name):
                self.run_job(text, folder="whole", threads="1")
                half = copy.deepcopy(text)
                half["stages"][0]["steps"] = 90
                self.run_job(half, folder="half")
                done = self.perrin("resume", self.path("half", "checkpoint.h5"), "--set",
                                   "stages[0].steps=200", "--device", DEVICE, "--threads", "2",
                                   "--output-dir", self.path("half"))
                self.assertEqual(done.returncode, 0, done.stderr)
                half, whole = self.state("half"), self.state("whole")
                self.assertEqual([name for name in whole if half[name] != whole[name]], [])

    def test_mistakes(self):
        self.refused(job({"B": DIMER["D"]}, NVE), r"bodies\.B: no particle of the system is of")
        self.refused(job({"D": {"sites": []}}, NVE), r"bodies\.D\.sites: must have a site")
        self.refused(job({"D": {"sites": [{"type": "A", "at": [0, 0, 0]}]}}, NVE),
                     "has no moment of inertia")
        self.refused(job({"D": {"sites": [{"type": "D", "at": [1, 0, 0]}]}}, NVE),
                     "is the type of a body")
        self.refused(job(DIMER, {"type": "nose_hoover", "timestep": 0.002, "temperature": 1,
                                 "tau": 0.1}), "one integrator that moves and turns rigid bodies")
        self.refused(job(DIMER, {**NVE, "barostat": {"pressure": 1, "tau": 1, "temperature": 1}}),
                     "must not change the box")
        sheared = job(DIMER, NVE)
        sheared["stages"][0]["shear"] = {"rate": 0.1}
        self.refused(sheared, "must not change the box")


unittest.main(argv=["bodies", *__import__("sys").argv[2:]])
