#!/usr/bin/python3
"""What tables and correlations say of overdamped motion and of minimisations, which have no
velocities: temperatures and pressures of the heat bath, refusals of what has no meaning.

    overdamped.py PERRIN [unittest arguments]
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

PERRIN = sys.argv[1]
N, RHO, KT = 500, 0.5, 1.5
BROWNIAN = {"type": "brownian", "timestep": 0.005, "temperature": KT, "friction": 1}
LANGEVIN = {"type": "langevin", "timestep": 0.005, "temperature": KT, "friction": 1}
LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "energy_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}


def stage(integrator, steps=100, **more):
    return dict({"type": "md", "steps": steps, "integrator": integrator}, **more)


def gas(*stages, velocity=None, **system):
    """An ideal gas; at a temperature of its own, which nothing but a stage with velocities uses."""
    job = {"seed": 3,
           "system": dict({"type": "random", "particles": {"A": N}, "density": RHO,
                           "min_distance": 0}, **system),
           "observers": [{"type": "thermo", "stride": 10, "box": True}],
           "stages": list(stages)}
    if velocity is not None:
        job["velocity"] = {"temperature": velocity}
    return job


class Overdamped(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-overdamped-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def perrin(self, *arguments):
        return subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=120)

    def write(self, job):
        with open(os.path.join(self.folder, "job.json"), "w") as out:
            json.dump(job, out)
        return "job.json"

    def run_job(self, job):
        done = self.perrin("run", self.write(job), "--device", "cpu", "--threads", "1",
                           "--overwrite")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def refused(self, job, *parts):
        for command in ("run", "validate"):
            done = self.perrin(command, self.write(job))
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            for part in parts:
                self.assertIn(part, done.stdout + done.stderr)

    def table(self, name="thermo.h5"):
        with h5py.File(os.path.join(self.folder, name)) as f:
            rows = {key: f["observables"][key]["value"][()] for key in f["observables"]}
            rows["step"] = f["observables/temperature/step"][()]
            return rows

    def remarks(self, name="thermo.h5"):
        with h5py.File(os.path.join(self.folder, name)) as f:
            return [text.decode() for text in f["parameters/perrin/stages/remark"][()]]

    def expect_gas(self, rows, kt, n=N, axes=3):
        """Every row is that of n particles of an ideal gas that move along so many axes."""
        density = n / rows["volume"]
        numpy.testing.assert_allclose(rows["temperature"], kt)
        expected = numpy.zeros((len(density), 3, 3))
        for axis in range(axes):
            expected[:, axis, axis] = kt * density
        numpy.testing.assert_allclose(rows["pressure_tensor"], expected, atol=1e-12)
        numpy.testing.assert_allclose(rows["pressure"], kt * density)
        energy = axes / 2 * n * kt
        numpy.testing.assert_allclose(rows["total_energy"], numpy.broadcast_to(energy,
                                                                               density.shape))
        numpy.testing.assert_allclose(rows["enthalpy"], energy + n * kt * numpy.ones(len(density)))
        self.assertTrue(numpy.isnan(rows["kinetic_energy"]).all())
        self.assertTrue(numpy.isnan(rows["momentum"]).all())

    def test_ideal_gas(self):
        for velocity in (None, 2.0):
            self.run_job(gas(stage(BROWNIAN), velocity=velocity))
            self.expect_gas(self.table(), KT)

    def test_two_dimensions(self):
        self.run_job(gas(stage(BROWNIAN), dimension=2))
        self.expect_gas(self.table(), KT, axes=2)

    def test_ramp_of_the_bath(self):
        hot = dict(BROWNIAN, final_temperature=3.5, ramp_steps=100)
        self.run_job(gas(stage(BROWNIAN), stage(hot, 200)))
        rows = self.table()
        self.expect_gas(rows, KT + 2 * numpy.clip((rows["step"] - 100) / 100, 0, 1))

    def test_particles_at_rest_and_axes(self):
        job = gas(stage(dict(BROWNIAN, types=["A"])), particles={"A": N, "B": 200})
        self.run_job(job)
        rows = self.table()
        numpy.testing.assert_allclose(rows["pressure"], N * KT / rows["volume"])
        self.run_job(gas(stage(dict(BROWNIAN, axes="xy"))))
        tensor = self.table()["pressure_tensor"]
        numpy.testing.assert_allclose(tensor[:, 0, 0], RHO * KT, rtol=1e-6)
        numpy.testing.assert_allclose(tensor[:, 2, 2], 0)

    def test_stages_in_turn(self):
        """Each row is of the motion of its stage."""
        self.run_job(gas(stage(BROWNIAN), stage({"type": "velocity_verlet", "timestep": 0.005}),
                         stage(BROWNIAN), velocity=2.0))
        rows = self.table()
        step = rows["step"]
        # The row between two stages is the last of the first one.
        moved = (step > 100) & (step <= 200)
        numpy.testing.assert_allclose(rows["temperature"][~moved], KT)
        numpy.testing.assert_allclose(rows["temperature"][moved], 2.0, rtol=2e-2)
        numpy.testing.assert_array_equal(numpy.isnan(rows["kinetic_energy"]), ~moved)

    def test_resumed(self):
        job = gas(stage(dict(BROWNIAN, final_temperature=3, ramp_steps=100)))
        job["observers"].append({"type": "checkpoint", "steps": 50})
        self.run_job(job)
        done = self.perrin("resume", "checkpoint.h5", "--steps", "100", "--device", "cpu")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = self.table()
        self.assertEqual(rows["step"][-1], 200)
        self.expect_gas(rows, KT + 1.5 * numpy.clip(rows["step"] / 100, 0, 1))

    def test_same_as_langevin(self):
        """Static averages of a liquid do not depend on the friction."""
        means = []
        for integrator in (dict(BROWNIAN, timestep=1e-4), LANGEVIN):
            job = gas(stage(LANGEVIN, 1000), stage(integrator, 4000, name="measured"),
                      min_distance=0.85, particles={"A": 300})
            job["forces"] = [LJ]
            self.run_job(job)
            rows = self.table()
            late = rows["step"] > 1500
            means.append([numpy.mean(rows[name][late])
                          for name in ("temperature", "pressure", "total_energy", "enthalpy")])
        # Correlated samples of 300 particles: T to 1.5 %, P to 0.15, energies to 30 of some 300.
        for own, other, tolerance in zip(*means, (0.05, 0.2, 40, 140)):
            self.assertAlmostEqual(own, other, delta=tolerance)

    def test_correlations_and_profiles(self):
        job = gas(stage(BROWNIAN, 400), velocity=2.0)
        job["observers"] += [
            {"type": "stress_autocorrelation", "stride": 10, "rows_every": 400},
            {"type": "pressure_profile", "stride": 10, "rows_every": 400, "bins": 4},
            {"type": "profile", "stride": 10, "rows_every": 400, "bins": 4},
            {"type": "radial_profile", "stride": 10, "rows_every": 400, "bins": 4}]
        self.run_job(job)

        def last(name, column):
            with h5py.File(os.path.join(self.folder, name + ".h5")) as f:
                return f["observables"][column]["value"][-1]
        seen = last("stress_autocorrelation", "stress_autocorrelation")
        numpy.testing.assert_allclose(seen[~numpy.isnan(seen)], 0, atol=1e-20)
        numpy.testing.assert_allclose(last("stress_autocorrelation", "temperature"), KT)
        # The mean over the slabs is the pressure.
        pressure = last("pressure_profile", "pressure")
        numpy.testing.assert_allclose(numpy.mean(pressure, axis=0), RHO * KT, rtol=1e-6)
        for name, velocity in (("profile", "velocity"), ("radial_profile", "radial_velocity")):
            numpy.testing.assert_allclose(last(name, "temperature"), KT)
            self.assertTrue(numpy.isnan(last(name, velocity)).all())

    def test_what_displacements_say(self):
        """Free diffusion: displacements are Gaussian, of variance 2Dt along each axis, and D is
        k_B T / friction."""
        k, a = 1.5, 0.8
        for dimension in (3, 2):
            job = gas(stage(BROWNIAN, 400))
            if dimension == 2:
                job["system"] = {"type": "lattice", "structure": "square", "density": RHO,
                                 "cells": [40, 40, 1]}
            else:
                job["system"]["particles"] = {"A": 1600}
            job["observers"] += [{"type": "mean_square_displacement", "stride": 2,
                                  "rows_every": 400, "wave_numbers": [k, 2 * k], "overlap": a,
                                  "non_gaussian": True, "particles": 0}]
            self.run_job(job)
            with h5py.File(os.path.join(self.folder, "mean_square_displacement.h5")) as f:
                read = {name: f["observables"][name]["value"][-1] for name in f["observables"]}
                numpy.testing.assert_allclose(f["parameters/perrin/wave_numbers"][:], [k, 2 * k])
            lag = read["lag_time"]
            known = (lag > 0) & (read["origins"] > 0)
            t = lag[known]
            # Some 200 / (lag / stride) independent intervals of 1600 particles.
            count = 1600 * numpy.maximum(1, 4 / t)
            numpy.testing.assert_array_less(
                abs(read["mean_square_displacement"][0][known] / (2 * dimension * KT * t) - 1),
                5 * numpy.sqrt(2 / (dimension * count)))
            self.assertLess(abs(read["non_gaussian"][0][known]).max(), 5 * math.sqrt(2 / 1600))
            for row, wave in enumerate((k, 2 * k)):
                found = read["self_scattering"][0][row]
                self.assertEqual(found[0], 1)
                numpy.testing.assert_array_less(
                    abs(found[known] - numpy.exp(-wave ** 2 * KT * t)), 5 / numpy.sqrt(2 * count))
            x = a / numpy.sqrt(4 * KT * t)
            erf = numpy.array([math.erf(v) for v in x])
            inside = (erf - 2 / math.sqrt(math.pi) * x * numpy.exp(-x ** 2) if dimension == 3
                      else 1 - numpy.exp(-x ** 2))
            numpy.testing.assert_array_less(abs(read["overlap"][0][known] - inside),
                                            5 * numpy.sqrt(0.25 / count))

    def test_velocities_are_refused(self):
        for observer, part in (
                ({"type": "velocity_autocorrelation", "stride": 10}, "autocorrelation"),
                ({"type": "thermo", "stride": 10, "file": "b.h5", "console_stride": 10,
                  "console": ["step", "kinetic_energy"]}, '"kinetic_energy"')):
            job = gas(stage(BROWNIAN, name="slow"), stage(LANGEVIN, name="fast"), velocity=1)
            job["observers"].append(observer)
            self.refused(job, "observers[1]", part, "overdamped motion has no velocities",
                         "stage slow", '"stages": ["fast"]')
            job["observers"][1] = dict(observer, stages=["fast"])
            self.run_job(job)
        for kind in ("trajectory", "gsd"):
            job["observers"][1] = {"type": kind, "stride": 10, "quantities": ["velocity"]}
            self.assertIn('observers[1]: warning: "velocity" of frames', self.run_job(job))
            job["observers"][1]["stages"] = ["fast"]
            self.assertNotIn("warning", self.run_job(job))

    def test_forces_of_velocities_are_refused(self):
        """Their noise would move particles, and no friction answer it."""
        pairs = [{"types": ["A", "A"], "gamma": 4.5, "repulsion": 25, "attraction": -40}]
        for kind, keys in (("dpd", {"repulsion"}), ("mdpd", {"attraction"}),
                           ("dpd_thermostat", set())):
            force = {"type": kind, "temperature": 1,
                     "pairs": [{key: value for key, value in pairs[0].items()
                                if key in keys | {"types", "gamma"}}]}
            if kind == "mdpd":
                force["repulsion"] = 25
            active = {"type": "active_ornstein_uhlenbeck", "timestep": 0.001, "friction": 1,
                      "speed": 1, "persistence_time": 1}
            for integrator in (BROWNIAN, active):
                job = gas(stage(LANGEVIN, name="fast"), stage(integrator, name="slow"))
                job["forces"] = [force]
                self.refused(job, "forces[0]: ", 'overdamped motion has none (stage "slow")')
            del job["stages"][1]
            self.run_job(job)

    def test_minimum_is_at_rest(self):
        job = gas(stage({"type": "fire", "force_tolerance": 1}, 50),
                  stage({"type": "velocity_verlet", "timestep": 0.001}, 50), velocity=2,
                  min_distance=0.85)
        job["forces"] = [LJ]
        self.run_job(job)
        rows = self.table()
        rest = rows["step"] <= 50
        for name in ("temperature", "kinetic_energy", "momentum"):
            numpy.testing.assert_array_equal(rows[name][rest], 0)
        numpy.testing.assert_array_equal(rows["total_energy"][rest],
                                         rows["potential_energy"][rest])
        # The velocities of the job are those of the next stage.
        self.assertGreater(rows["kinetic_energy"][~rest].min(), 0.5 * 1.5 * 2 * N)

    def test_conserved_energy(self):
        """What the bath gives is what comes into the potential energy."""
        job = gas(stage(dict(BROWNIAN, timestep=2e-5, tally_heat=True), 2500), min_distance=0.9)
        job["forces"] = [LJ]
        self.run_job(job)
        rows = self.table()
        change = rows["conserved_energy"] - rows["conserved_energy"][0]
        self.assertLess(numpy.abs(change).max(),
                        0.05 * numpy.abs(rows["potential_energy"][-1] -
                                         rows["potential_energy"][0]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
