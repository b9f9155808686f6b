#!/usr/bin/python3
"""Multiple time steps (r-RESPA) of Ewald's sum: the kicks of every step, energies and forces that
are whole, conserved energy, averages, and where they are refused.

    slow_forces.py PERRIN [unittest arguments]
"""

import math
import unittest

import numpy

from job_case import DEVICE, JobCase

CORE = {"type": "wca", "pairs": [{"types": [*pair], "epsilon": 1, "sigma": 1}
                                 for pair in ("AA", "AB", "BB")]}
EWALD = {"type": "ewald", "cutoff": 3, "accuracy": 1e-3,
         "coulomb": {"bjerrum_length": 4, "temperature": 1}}
MESHED = {**EWALD, "mesh": {"order": 5}}
NVE = {"type": "velocity_verlet", "timestep": 0.002}
LANGEVIN = {"type": "langevin", "timestep": 0.004, "temperature": 1, "friction": 1}


class SlowForces(JobCase):
    overwrite = True

    def ions(self, steps, integrator, slow=None, force=MESHED, stride=1, **more):
        """A dense electrolyte; `slow`: the stride of slow forces, None: not given."""
        stage = {"type": "md", "steps": steps, "integrator": integrator}
        if slow is not None:
            stage["slow_force_stride"] = slow
        return {"seed": 5, "system": {"type": "lattice", "structure": "fcc", "density": 0.4,
                                      "cells": [4, 4, 4], "types": {"A": 1, "B": 1}},
                "velocity": {"temperature": 1}, "forces": [CORE, force],
                "attributes": {"charge": {"types": {"A": 1, "B": -1}}},
                "observers": [{"type": "trajectory", "stride": stride, "precision": "double",
                               "quantities": ["position", "velocity", "force"]},
                              {"type": "thermo", "stride": stride}],
                "stages": [stage], **more}

    def two_ions(self, steps, slow):
        """Farther apart than the cut-off: all of their force is slow."""
        with open(self.path("two.data"), "w") as out:
            out.write("ions\n\n2 atoms\n1 atom types\n\n0 20 xlo xhi\n0 20 ylo yhi\n0 20 zlo zhi\n"
                      "\nMasses\n\n1 2\n\nAtoms # full\n\n1 1 1 1 5 6 7\n2 2 1 -1 9 7 7.5\n")
        return {"seed": 1, "system": {"type": "file", "path": "two.data"},
                "forces": [{"type": "ewald", "cutoff": 3, "accuracy": 1e-6,
                            "coulomb": {"bjerrum_length": 20, "temperature": 1}}],
                "observers": [{"type": "trajectory", "stride": 1, "precision": "double",
                               "quantities": ["position", "velocity", "force"]}],
                "stages": [{"type": "md", "steps": steps, "slow_force_stride": slow,
                            "integrator": {"type": "velocity_verlet", "timestep": 0.02}}]}

    def test_kicks_of_every_step(self):
        """Velocities change as the impulse method says, from the first step of each stage on."""
        for n in (2, 3, 4):
            job = self.two_ions(4 * n, n)
            # The second stage begins amid the cycles of the first, were these counted on.
            first = {"type": "md", "steps": 5, "integrator": job["stages"][0]["integrator"]}
            job["stages"].insert(0, first)
            self.run_job(job)
            v, f = self.frames("velocity"), self.frames("force")
            kick = 0.5 * 0.02 * f / 2
            self.assertGreater(abs(kick).max(), 1e-3)
            for k in range(1, len(v)):
                at = k - 5
                if at <= 0:
                    change = kick[k - 1] + kick[k]
                else:
                    change = n * (kick[k - 1] * ((at - 1) % n == 0) + kick[k] * (at % n == 0))
                numpy.testing.assert_allclose(v[k] - v[k - 1], change, atol=2e-6,
                                              err_msg=f"n = {n}, step {k}")

    def test_one_is_none(self):
        found = []
        for slow in (None, 1):
            self.run_job(self.ions(20, LANGEVIN, slow))
            found.append([self.frames(name) for name in ("position", "velocity", "force")])
        numpy.testing.assert_array_equal(found[0], found[1])

    def test_energies_and_forces_are_whole(self):
        """At every step, also within a cycle, as a job finds them that begins there."""
        for force in (EWALD, MESHED):
            job = self.ions(6, NVE, 3, force)
            self.run_job(job, folder="cycles")
            energy = self.column("potential_energy", "cycles")
            pressure = self.column("pressure_tensor", "cycles")
            forces, velocity = self.frames("force", "cycles"), self.frames("velocity", "cycles")
            for step in range(7):
                again = self.ions(0, NVE, None, force)
                again["system"] = {"type": "file", "path": "cycles/trajectory.h5", "frame": step}
                del again["velocity"], again["attributes"]
                self.run_job(again, folder="again")
                found = self.column("potential_energy", "again")[0]
                self.assertAlmostEqual(energy[step] / found, 1, delta=2e-6)
                numpy.testing.assert_allclose(forces[step], self.frames("force", "again")[0],
                                              atol=2e-4)
                numpy.testing.assert_allclose(
                    pressure[step], self.column("pressure_tensor", "again")[0], atol=1e-4)
            # Where nobody looks, velocities are the same.
            unseen = self.ions(6, NVE, 3, force, stride=6)
            unseen["observers"][0]["quantities"] = ["velocity"]
            self.run_job(unseen)
            numpy.testing.assert_array_equal(velocity[6], self.frames("velocity")[1])

    def drift(self, slow, steps=4000):
        """Of the total energy in time, its scatter around that, and the mean of the potential
        energy; all over the kinetic energy."""
        job = self.ions(steps, {**NVE, "timestep": 0.003}, slow, stride=steps)
        job["observers"][1]["stride"] = 8
        job["stages"].insert(0, {"type": "md", "steps": 1000, "integrator": LANGEVIN})
        self.run_job(job)
        begin = 1000 // 8 + 1
        total, kinetic = (self.column(name)[begin:] for name in ("total_energy", "kinetic_energy"))
        time = numpy.arange(len(total)) / len(total)
        slope, _ = numpy.polyfit(time, total, 1)
        scatter = (total - numpy.polyval(numpy.polyfit(time, total, 1), time)).std()
        return slope / kinetic.mean(), scatter / kinetic.mean()

    def test_energy_is_conserved(self):
        for slow in (1, 2, 4):
            drift, scatter = self.drift(slow)
            with self.subTest(slow=slow, drift=drift, scatter=scatter):
                self.assertLess(abs(drift), 1e-3)
                self.assertLess(scatter, 1e-3)

    def test_averages(self):
        """Energy and pressure of an electrolyte, with errors of ten parts of the run."""
        found = []
        for slow in (1, 4):
            job = self.ions(12000, LANGEVIN, slow, stride=12000)
            job["observers"][1]["stride"] = 20
            self.run_job(job)
            found.append([numpy.array([part.mean() for part in numpy.array_split(
                self.column(name)[50:], 10)])
                for name in ("potential_energy", "pressure", "temperature")])
        for one, many in zip(*found):
            error = math.hypot(one.std(), many.std()) / 3
            self.assertLess(abs(one.mean() - many.mean()), 4 * error)
        temperature = found[1][2]
        self.assertAlmostEqual(temperature.mean(), 1, delta=0.004 + 4 * temperature.std() / 3)

    def test_several_integrators(self):
        """One of a group and one of the rest; walls of particles that are frozen."""
        job = self.ions(8, NVE, 4)
        job["groups"] = {"a": {"types": ["A"]}, "b": {"types": ["B"]}}
        del job["stages"][0]["integrator"]
        job["stages"][0]["integrators"] = [{**NVE, "group": "a"},
                                           {"type": "frozen", "timestep": 0.002, "group": "b"}]
        self.run_job(job)
        velocity, force = self.frames("velocity"), self.frames("force")
        moves = abs(velocity[-1]).sum(axis=1) > 0
        self.assertEqual(moves.sum(), len(moves) // 2)
        self.assertGreater(abs(force[-1][~moves]).max(), 0)

    def test_stopped_within_a_cycle(self):
        """And resumed: the same bits as without a stop."""
        job = self.ions(12, LANGEVIN, 4)
        job["observers"].append({"type": "checkpoint"})
        self.run_job(job, folder="whole")
        self.run_job(job, "--set", "stages[0].steps=6", folder="parts")
        done = self.perrin("resume", self.path("parts", "checkpoint.h5"), "--set",
                           "stages[0].steps=12", "--device", DEVICE, "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("position", "velocity", "force"):
            whole, parts = self.frames(name, "whole"), self.frames(name, "parts")
            self.assertEqual(len(parts), 13)
            numpy.testing.assert_array_equal(whole, parts, err_msg=name)

    def test_frames_of_three_processes(self):
        """Forces and torques of charged bodies, at every step, also within a cycle."""
        self.need_mpi()
        job = self.ions(7, NVE, 4, EWALD)
        job["system"].update(density=0.1, cells=[3, 3, 3], types={"D": 1})
        job["bodies"] = {"D": {"sites": [{"type": "A", "at": [0.4, 0, 0]},
                                         {"type": "B", "at": [-0.4, 0, 0]},
                                         {"type": "B", "at": [0, 0.5, 0]},
                                         {"type": "A", "at": [0, 0, 0.5]}]}}
        job["attributes"]["charge"]["types"]["D"] = 0
        job["orientations"] = {"start": "random"}
        job["processes"] = {"particles": 1}
        job["observers"][0]["quantities"] = ["force", "torque"]
        self.run_job(job, folder="whole")
        self.run_by_three("three")
        for name in ("force", "torque"):
            whole = self.frames(name, "whole")
            self.assertGreater(abs(whole[:, :108]).max(), 0.1)
            numpy.testing.assert_array_equal(whole, self.frames(name, "three"), err_msg=name)

    def test_too_long_cycles(self):
        job = self.ions(64, {**NVE, "timestep": 0.016}, 8, stride=64)
        said = self.run_job(job).stdout
        self.assertRegex(said, r"warning: .*slow_force_stride 8: slow forces act once in 0.128")
        said = self.run_job(self.ions(64, NVE, 2, stride=64)).stdout
        self.assertNotIn("slow_force_stride", said)

    def test_mistakes(self):
        for integrator in ({"type": "brownian", "timestep": 1e-4, "temperature": 1, "friction": 1},
                           {"type": "fire", "force_tolerance": 1}):
            self.refused(self.ions(20, integrator, 2),
                         r"stages\[0\].slow_force_stride: must be 1 with this integrator, got 2")
        barostat = {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1,
                    "barostat": {"pressure": 1, "tau": 1}}
        self.refused(self.ions(20, barostat, 2),
                     r"stages\[0\].slow_force_stride: must be 1 in a box that changes, got 2")
        job = self.ions(20, NVE, 2)
        job["stages"][0]["deform"] = {"x": 11}
        self.refused(job, r"stages\[0\].slow_force_stride: must be 1 in a box that changes")
        done = self.run_job(self.ions(21, NVE, 2))
        self.assertRegex(done.stdout + done.stderr,
                         r"stages\[0\].steps: warning: is no multiple of slow_force_stride, 2: ")
        job = self.ions(20, NVE, 2)
        job["system"] = {"type": "chains", "chains": 20, "pattern": "A1B1", "bond_length": 1,
                         "density": 0.1}
        job["constraints"] = {"bonds": {"bond": 1}}
        self.refused(job, r"stages\[0\].slow_force_stride: must be 1 with \"constraints\"")
        self.refused(self.ions(27, NVE, 9), r"stages\[0\].slow_force_stride: must be")
        job = self.ions(20, NVE, 2)
        job["forces"][1] = {"type": "coulomb_dsf", "cutoff": 2.5, "damping": 0.3}
        self.refused(job, r"stages\[0\].slow_force_stride: must be 1 where no force has a slow "
                          r"part, as ewald has, got 2")


if __name__ == "__main__":
    import sys
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
