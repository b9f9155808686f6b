#!/usr/bin/python3
"""What whole jobs give: temperatures, bonds, ends of stages, independent noise, through the real
program.

    jobs.py PERRIN [unittest arguments]
"""

import copy
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy

PERRIN = sys.argv[1]
DEVICE = os.environ.get("PERRIN_TEST_DEVICE", "cpu")
if DEVICE != "cpu" and "cuda:0" not in subprocess.run([PERRIN, "info"], capture_output=True,
                                                      text=True).stdout:
    print("skipped: no CUDA device")
    sys.exit(77)

WCA = {"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
BUSSI = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-jobs-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, job, name="job.json"):
        with open(self.path(name), "w") as out:
            json.dump(job, out, indent=1)
        return self.path(name)

    def perrin(self, *arguments):
        return subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=300)

    def run_job(self, job, *arguments, folder="."):
        done = self.perrin("run", self.write(job), "--device", DEVICE, "--threads", "1",
                           "--output-dir", self.path(folder), *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def refused(self, job, pattern):
        """Refused alike by run and validate."""
        path = self.write(job)
        for arguments in (("run", path, "--device", DEVICE), ("validate", path)):
            done = self.perrin(*arguments)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertRegex(done.stderr, pattern)
        return done.stderr

    def column(self, name, folder="."):
        with h5py.File(self.path(folder, "thermo.h5")) as file:
            group = file["observables"][name]
            return group["step"][:], group["value"][:]

    # -- degrees of freedom ----------------------------------------------------------------------

    def mixture(self):
        """A stage that moves a tenth of the particles, then one that moves all."""
        return {
            "seed": 5,
            "system": {"type": "random", "particles": {"A": 100, "B": 900}, "density": 0.3,
                       "min_distance": 0.9},
            "velocity": {"temperature": 1},
            "forces": [{"type": "wca", "mixing": "lorentz_berthelot",
                        "pairs": [{"types": [t, t], "epsilon": 1, "sigma": 1} for t in "AB"]}],
            "observers": [{"type": "thermo", "stride": 10}, {"type": "checkpoint"}],
            "stages": [
                {"type": "md", "steps": 40, "integrator": {
                    "type": "langevin", "timestep": 0.004, "temperature": 1, "friction": 1,
                    "types": ["A"], "axes": "xyz"}},
                {"type": "md", "steps": 1200, "integrator": {**BUSSI, "tau": 0.05}}]}

    def test_rates_are_written_out(self):
        """Also those above 10⁵, for people and for programs that look for them."""
        job = {"system": {"type": "lattice", "structure": "sc", "density": 0.1, "cells": [2, 1, 1]},
               "velocity": {"temperature": 1}, "forces": [], "seed": 1,
               "stages": [{"type": "md", "steps": 100000, "integrator": {
                   "type": "velocity_verlet", "timestep": 0.001}}]}
        self.assertRegex(self.run_job(job).stdout,
                         r"\n100000 steps, [\d.]+ steps/s, [\d.]+ million particle steps/s\n")

    def test_degrees_of_freedom_are_those_of_the_stage(self):
        self.run_job(self.mixture())
        step, kinetic = self.column("kinetic_energy")
        temperature = self.column("temperature")[1]
        first, late = step < 40, step > 800
        # 3·100 particles of the bath; then 3·1000 - 3. The kinetic energy of n degrees of freedom
        # scatters by √(n/2).
        numpy.testing.assert_allclose(2 * kinetic[first] / 300, temperature[first], rtol=1e-6)
        # The bath of the first stage has left them a momentum, which nothing changes any more.
        drift = (self.column("momentum")[1][late] ** 2).sum(axis=1) / 1000
        numpy.testing.assert_allclose((2 * kinetic[late] - drift) / 2997, temperature[late],
                                      rtol=1e-6)
        self.assertAlmostEqual(kinetic[late].mean() / 1498.5, 1, delta=0.03)

    def test_degrees_of_freedom_after_a_resume(self):
        """A process that begins in the second stage counts as one that has seen the first."""
        job = self.mixture()
        job["observers"][1]["steps"] = 700
        self.run_job(job, folder="whole")
        shutil.copytree(self.path("whole"), self.path("again"))
        # The last checkpoint is that of the end; the one before is of step 700.
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("kinetic_energy", "temperature"):
            numpy.testing.assert_array_equal(self.column(name, "whole"), self.column(name, "again"))

    # -- a box that changes ----------------------------------------------------------------------

    def test_constant_pressure(self):
        """Of a tilted box table and trajectory hold the same lengths, angles, density, enthalpy;
        without "box" the table is as it always was."""
        with open(self.path("start.xyz"), "w") as out:
            out.write('512\nLattice="9 0 0 1.5 9 0 0 0 9" Properties=species:S:1:pos:R:3\n')
            for k in range(512):
                a, b, c = 9 / 8 * (k % 8), 9 / 8 * (k // 8 % 8), 9 / 8 * (k // 64)
                out.write(f"A {a + 1.5 * b / 9} {b} {c}\n")
        barostat = {"pressure": 3, "tau": 0.1, "stride": 4}
        job = {"seed": 3, "velocity": {"temperature": 1},
               "system": {"type": "file", "path": "start.xyz"}, "forces": [WCA],
               "observers": [{"type": "thermo", "stride": 20, "box": True},
                             {"type": "trajectory", "stride": 20, "precision": "double",
                              "quantities": ["position", "image"]},
                             {"type": "mean_square_displacement", "stride": 20, "levels": 1,
                              "rows_every": 200},
                             {"type": "stress_autocorrelation", "stride": 20, "levels": 1,
                              "rows_every": 200},
                             {"type": "pressure_profile", "stride": 20, "rows_every": 200,
                              "bins": 3},
                             {"type": "radial_profile", "stride": 20, "rows_every": 200,
                              "r_max": 3, "bins": 6},
                             {"type": "rdf", "stride": 20, "rows_every": 200, "r_max": 2.5,
                              "bins": 25},
                             {"type": "profile", "stride": 20, "rows_every": 200, "bins": 4}],
               "stages": [{"type": "md", "steps": 200,
                           "integrator": {**BUSSI, "timestep": 0.002, "barostat": barostat}}]}
        self.run_job(job, folder="whole")
        with h5py.File(self.path("whole", "thermo.h5")) as file:
            table = {k: v["value"][()] for k, v in file["observables"].items()}
        with h5py.File(self.path("whole", "trajectory.h5")) as file:
            edges = file["particles/all/box/edges/value"][()]
        self.assertEqual(len(table["volume"]), 11)
        volume = numpy.linalg.det(edges)
        self.assertGreater(abs(volume[-1] / volume[0] - 1), 0.02)
        numpy.testing.assert_allclose(table["volume"], volume, rtol=1e-12)
        numpy.testing.assert_allclose(table["box_lengths"], numpy.linalg.norm(edges, axis=2),
                                      rtol=1e-12)
        for k in range(3):
            a, b = edges[:, (k + 1) % 3], edges[:, (k + 2) % 3]
            cosine = (a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)
            numpy.testing.assert_allclose(table["box_angles"][:, k],
                                          numpy.degrees(numpy.arccos(cosine)), rtol=1e-9)
        numpy.testing.assert_allclose(table["density"], 512 / volume, rtol=1e-12)
        numpy.testing.assert_allclose(table["enthalpy"],
                                      table["total_energy"] + table["pressure"] * volume,
                                      rtol=1e-12)
        with h5py.File(self.path("whole", "trajectory.h5")) as file:
            positions = file["particles/all/position/value"][()]
            images = file["particles/all/image/value"][()]
        self.check_samples(positions[1:], edges[1:])
        self.check_correlations(positions, images, edges, table)
        del job["observers"][0]["box"]
        self.run_job(job, folder="plain")
        with h5py.File(self.path("plain", "thermo.h5")) as file:
            self.assertNotIn("density", file["observables"])
            self.assertEqual(file["observables/volume/value"][()].tolist(),
                             table["volume"].tolist())

    def check_samples(self, positions, edges):
        """rdf and profile of frames with boxes of their own, by all pairs."""
        bounds = numpy.linspace(0, 2.5, 26)
        shells = 4 * numpy.pi / 3 * numpy.diff(bounds ** 3)
        counts, inverse, slabs, upper = 0, 0, 0, numpy.triu_indices(512, 1)
        for r, h in zip(positions, edges):
            s = r @ numpy.linalg.inv(h)
            d = (s[:, None] - s[None])[upper]
            d -= numpy.rint(d)
            counts = counts + numpy.histogram(numpy.linalg.norm(d @ h, axis=1), bounds)[0]
            inverse += 1 / numpy.linalg.det(h)
            slabs = slabs + numpy.bincount(numpy.clip(s[:, 2] * 4, 0, 3).astype(int), minlength=4)
        with h5py.File(self.path("whole", "rdf.h5")) as file:
            rdf = file["observables/rdf/value"][-1][0]
        numpy.testing.assert_allclose(rdf * shells * inverse * 512 * 511 / 2, counts, rtol=1e-9,
                                      atol=1.01)
        with h5py.File(self.path("whole", "profile.h5")) as file:
            density = file["observables/density/value"][-1]
        numpy.testing.assert_allclose(density * len(edges) ** 2 / (4 * inverse), slabs, atol=1.01)
        fractions = [r @ numpy.linalg.inv(h) for r, h in zip(positions, edges)]
        middle = [numpy.linalg.norm((s - 0.5) @ h, axis=1) for s, h in zip(fractions, edges)]
        shells = numpy.linspace(0, 3, 7)
        with h5py.File(self.path("whole", "radial_profile.h5")) as file:
            density = file["observables/density/value"][-1]
        counts = numpy.histogram(numpy.concatenate(middle), shells)[0]
        numpy.testing.assert_allclose(
            density * len(edges) * 4 * numpy.pi / 3 * numpy.diff(shells ** 3), counts, atol=1.01)

    def check_correlations(self, positions, images, edges, table):
        """Samples 20 steps apart; of displacements the ways within the boxes."""
        fractions = [r @ numpy.linalg.inv(h) + i for r, h, i in zip(positions, edges, images)]
        way = [numpy.zeros((512, 3))]
        for k in range(1, len(edges)):
            way.append(way[-1] + (fractions[k] - fractions[k - 1]) @ edges[k])
        tensor = table["pressure_tensor"] * numpy.sqrt(table["volume"])[:, None, None]
        with h5py.File(self.path("whole", "mean_square_displacement.h5")) as file:
            displacement = file["observables/mean_square_displacement/value"][-1][0]
        with h5py.File(self.path("whole", "stress_autocorrelation.h5")) as file:
            stress = file["observables/stress_autocorrelation/value"][-1]
        for lag in range(len(edges)):
            pairs = [(k + lag, k) for k in range(len(edges) - lag)]
            numpy.testing.assert_allclose(
                displacement[lag],
                numpy.mean([((way[a] - way[b]) ** 2).sum(1).mean() for a, b in pairs]), rtol=1e-6,
                atol=1e-12)
            shear = [tensor[a, i, j] * tensor[b, i, j] for a, b in pairs
                     for i, j in ((0, 1), (0, 2), (1, 2))]
            normal = [(tensor[a, i, i] - tensor[a, j, j]) * (tensor[b, i, i] - tensor[b, j, j]) / 6
                      for a, b in pairs for i, j in ((0, 1), (0, 2), (1, 2))]
            numpy.testing.assert_allclose(
                stress[lag], (sum(shear) + sum(normal)) / len(pairs) / 5
                / table["temperature"].mean(), rtol=1e-5, atol=1e-5)
        with h5py.File(self.path("whole", "pressure_profile.h5")) as file:
            pressure = file["observables/pressure/value"][-1].mean(0)
        numpy.testing.assert_allclose(
            pressure, numpy.einsum("kii->ki", table["pressure_tensor"])[1:].mean(0), rtol=1e-5)

    def test_deform_to_angles(self):
        """Edges whose angles are those asked for, by numpy; and what no edges can have."""
        job = {"seed": 3, "velocity": {"temperature": 1}, "forces": [WCA],
               "system": {"type": "lattice", "structure": "fcc", "density": 0.5,
                          "cells": [4, 4, 4]},
               "observers": [{"type": "trajectory", "stride": 60}],
               "stages": [{"type": "md", "steps": 60, "deform": {"angles": [95, 80, 100], "y": 8.2},
                           "integrator": {"type": "velocity_verlet", "timestep": 0.001}}]}
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as file:
            before, after = file["particles/all/box/edges/value"][()]
        numpy.testing.assert_allclose(numpy.diag(after), [before[0, 0], 8.2, before[2, 2]],
                                      rtol=1e-12)
        unit = after / numpy.linalg.norm(after, axis=1)[:, None]
        numpy.testing.assert_allclose(
            numpy.degrees(numpy.arccos([unit[1] @ unit[2], unit[0] @ unit[2], unit[0] @ unit[1]])),
            [95, 80, 100], rtol=1e-12)
        job["stages"][0]["deform"] = {"angles": [30, 40, 100]}
        self.refused(job, "angles.*must be three angles.*got 30, 40, 100")

    def test_boxes_on_the_way_are_checked_before_the_run(self):
        """A later stage would end it after all those before; behind a barostat no box is known."""
        def md(steps, integrator=None, **more):
            return {"type": "md", "steps": steps, **more,
                    "integrator": integrator or {"type": "velocity_verlet", "timestep": 0.002}}

        npt = md(50, {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1,
                      "barostat": {"pressure": 1, "tau": 1}})
        job = {"seed": 3, "velocity": {"temperature": 1}, "forces": [WCA],
               "system": {"type": "lattice", "structure": "sc", "density": 0.5,
                          "cells": [8, 8, 8]}}  # edges of 10.08, range 1.12
        small, fast = "deform: the box shrinks to a height of .* along x", "step, which must be"
        for stages, said in (([md(400, deform={"x": 2})], r"stages\[0\]." + small),
                             ([md(20, deform={"x": 8})], r"stages\[0\].deform: lengths .*" + fast),
                             ([md(20, shear={"rate": 10})], r"stages\[0\].shear: .*" + fast),
                             ([md(10), md(300, deform={"x": 5}), md(300, deform={"x": 2.1})],
                              r"stages\[2\]." + small),
                             ([md(300, deform={"x": 5}), md(20, deform={"x": 4})],
                              r"stages\[1\].deform: lengths .*" + fast)):
            self.refused({**job, "stages": stages}, said)
        for stages in ([md(300, deform={"x": 5}), md(300, deform={"x": 4})],
                       [npt, md(20, deform={"x": 8})], [md(20, shear={"rate": 4})]):
            with open(self.path("good.json"), "w") as out:
                json.dump({**job, "stages": stages}, out)
            done = self.perrin("validate", self.path("good.json"))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.refused({**job, "stages": [md(10, {"type": "dpd_split", "timestep": 0.01})]},
                     r"stages\[0\].integrator.type: no force has pairwise friction")

    def fluid_under(self, integrator, steps=400):
        """Melted before."""
        return {"seed": 3, "velocity": {"temperature": 1.5},
                "system": {"type": "lattice", "structure": "fcc", "density": 0.6,
                           "cells": [6, 6, 6]},
                "forces": [{"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
                            "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
                "observers": [{"type": "thermo", "stride": 10, "box": True},
                              {"type": "checkpoint", "steps": 370}],
                "stages": [{"type": "md", "steps": 200, "integrator": {**BUSSI, "temperature": 1.5,
                                                                       "timestep": 0.002}},
                           {"type": "md", "steps": steps, "integrator": integrator}]}

    def test_nose_hoover_conserves_what_its_table_says(self):
        """With ramps of both; and a process that resumes has the same table."""
        integrator = {"type": "nose_hoover", "timestep": 0.002, "temperature": 1.5, "tau": 0.2,
                      "final_temperature": 2, "ramp_steps": 300,
                      "barostat": {"pressure": 1, "final_pressure": 3, "ramp_steps": 300, "tau": 1}}
        self.run_job(self.fluid_under(integrator), folder="whole")
        total, conserved, volume = (self.column(name, "whole")[1][21:] for name in (
            "total_energy", "conserved_energy", "volume"))
        self.assertGreater(abs(total[-1] - total[0]), 100)
        self.assertGreater(abs(volume[-1] / volume[0] - 1), 0.03)
        # The error of velocity Verlet, and of reading the box between two of its pushes.
        self.assertLess(numpy.ptp(conserved), 0.003 * numpy.ptp(total))
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("conserved_energy", "volume", "pressure"):
            numpy.testing.assert_array_equal(self.column(name, "whole"), self.column(name, "again"))

    def test_what_a_box_that_moves_cannot_have(self):
        chain = {"type": "nose_hoover", "timestep": 0.002, "temperature": 1, "tau": 0.2}
        ramp = "a ramp needs both final_pressure and ramp_steps"
        for integrator, pattern in (
                ({**chain, "barostat": {"pressure": 1, "tau": 1, "ramp_steps": 5}}, ramp),
                ({**chain, "barostat": {"pressure": 1, "tau": 1, "final_pressure": 5}}, ramp),
                ({**BUSSI, "barostat": {"pressure": 1, "tau": 1, "final_pressure": 5}}, ramp)):
            self.refused(self.fluid_under(integrator), pattern)
        wrong = {"pressure": 1, "tau": 1, "axes": "isotropic"}
        for integrator in ({**chain, "barostat": wrong}, {**BUSSI, "barostat": wrong},
                           {"type": "fire", "force_tolerance": 1,
                            "cell": {"pressure": 1, "tolerance": 1, "axes": "isotropic"}}):
            self.refused(self.fluid_under(integrator), r"axes: must be all, flexible, or groups of "
                         r'x, y and z with commas .*, got "isotropic"')
        job = self.fluid_under({**chain, "barostat": {"pressure": 1, "tau": 1, "axes": "yz"}})
        job["system"]["periodic"] = [True, True, False]
        self.refused(job, r"stages\[1\].integrator.barostat.axes: must be periodic axes of "
                          "the box, got yz, and z is not periodic")
        fire = {"type": "fire", "force_tolerance": 1, "cell": {"pressure": 1, "tolerance": 1}}
        job["stages"][1]["integrator"] = fire
        self.refused(job, "integrator.cell.axes: must be periodic axes of the box")
        for integrator in ({**chain, "barostat": {"pressure": 1, "tau": 1}}, fire):
            job = self.fluid_under(integrator)
            job["forces"].append({"type": "constant_force", "force": [0.1, 0, 0]})
            done = self.perrin("run", self.write(job), "--device", DEVICE, "--overwrite")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('forces[1]: cannot be combined with the stage "md"', done.stderr)

    def sheared(self, forces, density, particles, integrator, stages):
        return {"seed": 3, "velocity": {"temperature": integrator.get("temperature", 1)},
                "system": {"type": "random", "particles": {"A": particles}, "density": density,
                           "min_distance": 0.85 if density < 1 else 0},
                "forces": forces,
                "observers": [{"type": "thermo", "stride": 4, "box": True},
                              {"type": "trajectory", "stride": 1000}],
                "stages": [{"type": "md", "integrator": integrator, **stage} for stage in stages]}

    def viscosity(self, rate, begin):
        """And its standard error, of 20 blocks."""
        step, pressure = self.column("pressure_tensor")
        blocks = [-b.mean() / rate for b in numpy.array_split(pressure[step > begin][:, 0, 1], 20)]
        return numpy.mean(blocks), numpy.std(blocks, ddof=1) / 20 ** 0.5

    def test_viscosity_of_a_sheared_fluid(self):
        """WCA at density 0.8442 and temperature 0.722: 2.3 to 2.4 at low rates, less at this one
        (examples/13-sheared-fluid, figures in docs/guide/shear.md). Table and trajectory agree on
        the box; it has turned, and unwrapped places go with the flow."""
        bath = {**BUSSI, "temperature": 0.722}
        job = self.sheared([WCA], 0.8442, 800, bath,
                           [{"steps": 0, "integrator": {"type": "fire", "timestep": 0.002,
                                                        "force_tolerance": 1}},
                            {"steps": 1500}, {"steps": 9000, "shear": {"rate": 0.4}}])
        job["stages"][0]["steps"] = 2000
        self.run_job(job)
        step, strain = self.column("shear_strain")
        begin = step[-1] - 9000
        self.assertAlmostEqual(strain[-1], 0.4 * 0.004 * 9000, delta=1e-9)
        eta, error = self.viscosity(0.4, begin + 1500)
        self.assertLess(error, 0.06)
        self.assertAlmostEqual(eta, 2.05, delta=0.03 + 4 * error)
        late = self.column("temperature")[1][step > begin + 1500]
        self.assertAlmostEqual(late.mean(), 0.722, delta=0.04)
        with h5py.File(self.path("trajectory.h5")) as file:
            edges = file["particles/all/box/edges/value"][()]
            frames = file["particles/all/box/edges/step"][()]
            lengths = edges[0, 0, 0]
        tilt = 0.4 * 0.004 * numpy.maximum(frames - begin, 0) * lengths
        turned = edges[:, 1, 0] - (tilt - lengths * numpy.round(tilt / lengths))
        # Or by one edge more, where a step has just taken it beyond half.
        turned -= lengths * numpy.round(turned / lengths)
        numpy.testing.assert_allclose(turned, 0, atol=1e-6)
        self.assertLess(abs(edges[:, 1, 0]).max(), 0.51 * lengths)

    def test_viscosity_of_the_dpd_fluid(self):
        """The standard fluid of Groot and Warren: 0.84 to 0.87 (docs/guide/dpd.md)."""
        dpd = {"type": "dpd", "temperature": 1,
               "pairs": [{"types": ["A", "A"], "repulsion": 25, "gamma": 4.5}]}
        job = self.sheared([dpd], 3, 1500, {"type": "velocity_verlet", "timestep": 0.02},
                           [{"steps": 400}, {"steps": 4000, "shear": {"rate": 0.5}}])
        job["observers"] = [{"type": "thermo", "stride": 1}]
        self.run_job(job)
        eta, error = self.viscosity(0.5, 600)
        self.assertLess(error, 0.02)
        self.assertAlmostEqual(eta, 0.855, delta=0.015 + 4 * error)
        momentum = self.column("momentum")[1]
        self.assertLess(abs(momentum).max(), 0.01)

    def test_what_cannot_deform_is_refused(self):
        job = self.sheared([WCA], 0.5, 100, BUSSI, [{"steps": 10, "shear": {"rate": 1}}])
        for change, pattern in (
                ({"shear": {"rate": 1, "flow": "y", "gradient": "y"}},
                 "shear.gradient: must follow flow"),
                ({"deform": {"x": 5}}, "either deform or shear"),
                ({"shear": None, "deform": {}}, "has no target"),
                ({"shear": None, "deform": {"x": 5, "volume": 100}}, "lengths of edges"),
                ({"shear": None, "deform": {"x": 5, "steps": 20}}, "at most those of the stage"),
                ({"shear": None, "deform": {"x": 5, "form": "oscillating"}}, "period: is missing"),
                ({"shear": None, "deform": {"x": 8, "form": "oscillating",
                                            "period": BUSSI["timestep"]}},
                 "period: must be at least four time steps"),
                ({"integrator": {**BUSSI, "barostat": {"pressure": 1, "tau": 1}}}, "barostat"),
                ({"integrator": {"type": "fire", "timestep": 0.001, "force_tolerance": 1}},
                 "is not possible with this integrator")):
            changed = copy.deepcopy(job)
            changed["stages"][0].update(change)
            if changed["stages"][0]["shear"] is None:
                del changed["stages"][0]["shear"]
            self.refused(changed, pattern)
        for change, pattern in (({"rate": 20}, "smaller rate, a shorter time step"),):
            job["stages"][0]["shear"] = change
            done = self.perrin("run", self.write(job), "--device", DEVICE)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, pattern)

    def test_a_tilted_box_with_an_open_face_is_resumed(self):
        """Its height along the open axis has changed; positions keep their bits all the same."""
        random = numpy.random.default_rng(2)
        with open(self.path("open.xyz"), "w") as out:
            out.write('80\nLattice="7 0 0 1.2 7 0 0 0.5 7" pbc="F T T" '
                      'Properties=species:S:1:pos:R:3:velo:R:3\n')
            for x, y, z in random.random((80, 3)):
                at = numpy.array([1.75 + 3.5 * x + 1.2 * y, 7 * y + 0.5 * z, 7 * z])
                numbers = [*at, *random.normal(size=3)]
                out.write("A " + " ".join(f"{number:.6f}" for number in numbers) + "\n")
        job = {"seed": 1, "system": {"type": "file", "path": "open.xyz"},
               "forces": [{"type": "gaussian_core", "cutoff": 2, "pairs": [
                   {"types": ["A", "A"], "epsilon": 2, "sigma": 0.7}]}],
               "observers": [{"type": "thermo", "stride": 5, "box": True},
                             {"type": "checkpoint", "steps": 33}],
               "stages": [{"type": "md", "steps": 60, "integrator": {**BUSSI, "barostat": {
                   "pressure": 1, "tau": 0.3, "stride": 2, "axes": "y"}}}]}
        self.run_job(job, folder="whole")
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"), "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = ("position", "velocity", "image", "force", "box")
        with h5py.File(self.path("whole", "checkpoint.h5")) as whole, \
                h5py.File(self.path("again", "checkpoint.h5")) as again:
            for name in names:
                name = "state/simulation/particles/" + name
                self.assertEqual(again[name][()].tobytes(), whole[name][()].tobytes(), name)
        for name in ("pressure", "box_lengths", "conserved_energy"):
            numpy.testing.assert_array_equal(self.column(name, "again")[1],
                                             self.column(name, "whole")[1])

    def test_a_resumed_deformation_goes_on_as_it_began(self):
        """Extended, or with another target, it would have come to another box."""
        def run(stage):
            job = self.sheared([WCA], 0.5, 300, BUSSI, [{"type": "md", "steps": 10, **stage}])
            job["observers"].append({"type": "checkpoint"})
            self.run_job(job, "--overwrite")
        default = "by default those of the stage"
        for stage, changes in (
                ({"deform": {"x": 8.1}}, ("steps=20", "deform.x=8.2")),
                ({"deform": {"x": 8.1, "steps": 10}}, ("deform.x=8.2",)),
                ({"shear": {"rate": 1}}, ("shear.rate=2",))):
            run(stage)
            for change in changes:
                done = self.perrin("resume", "checkpoint.h5", "--set", "stages[0]." + change)
                self.assertEqual(done.returncode, 2, done.stdout)
                key = "shear" if "shear" in stage else "deform"
                self.assertRegex(done.stderr, rf"stages\[0\].{key}: the checkpoint has another box")
                self.assertEqual(default in done.stderr,
                                 key == "deform" and "steps" not in stage["deform"])
        run({"deform": {"x": 8.1}})
        done = self.perrin("resume", "checkpoint.h5", "--set", "stages[0].deform.steps=10",
                           "--steps", "20")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_a_box_that_has_changed_cannot_have(self):
        """Known from the job, and said before it runs: shear behind tilts of other stages, and
        observers whose result has no meaning in such a box."""
        pressed = {**BUSSI, "barostat": {"pressure": 1, "tau": 1}}
        flexible = {**BUSSI, "barostat": {"pressure": 1, "tau": 1, "axes": "flexible"}}
        flow = {"name": "flow", "steps": 10, "shear": {"rate": 1}}
        def fluid(*stages):
            return self.sheared([WCA], 0.5, 300, BUSSI, stages)
        tilted = {"name": "tilt", "steps": 10, "deform": {"yz": 0.5, "xz": 0.3}}
        bent = {"name": "npt", "steps": 10, "integrator": flexible}
        for before, tilts in ((tilted, ("xz", "yz")), (bent, ("xz", "yz"))):
            error = self.refused(fluid(before, flow), r"stages\[1\]\.shear: needs a box without")
            for tilt in tilts:
                self.assertIn(f'the tilt {tilt}, which the stage "{before["name"]}" leaves; set '
                              'it to 0 with "deform"', error)
        straight = {"name": "back", "steps": 10, "deform": {"xz": 0, "yz": 0}}
        for stages in ((flow, bent), (flow, tilted), (bent, straight, flow),
                       (tilted, straight, flow, flow)):
            self.run_job(fluid(*stages), "--overwrite")
        with open(self.path("tilted.xyz"), "w") as out:
            out.write('1\nLattice="9 0 0 0 9 0 1 0 9" Properties=species:S:1:pos:R:3\nA 1 1 1\n')
        job = fluid(flow)
        job["system"] = {"type": "file", "path": "tilted.xyz"}
        self.refused(job, "shear: needs a box without the tilt xz, which the system's has")

        def watched(observer, *stages):
            job = fluid(*stages)
            job["observers"] = [observer]
            return job
        npt = {"name": "npt", "steps": 20, "integrator": pressed}
        rest = {"name": "rest", "steps": 20}
        waves = {"type": "structure_factor", "stride": 5, "rows_every": 10, "k_max": 3}
        stress = {"type": "stress_autocorrelation", "stride": 5, "rows_every": 10}
        ways = {"type": "mean_square_displacement", "stride": 5, "rows_every": 10}
        for observer, stages, pattern in (
                (waves, (npt,), 'structure_factor is not measured in a box that changes, and the '
                                'stage "npt" changes the box;'),
                (waves, (npt, rest), 'the stage "npt" changes the box;'),
                (dict(waves, stages=["rest"]), (npt, rest), '"npt" changes the box before;'),
                (waves, (rest, flow), 'the stage "flow" deforms the box;'),
                (stress, (rest, flow), 'stress_autocorrelation is not measured'),
                (ways, (rest, flow), 'mean_square_displacement is not measured')):
            self.refused(watched(observer, *stages),
                         r"observers\[0\]: .*" + pattern + ".* restrict it")
        for observer, stages in ((dict(waves, stages=["rest"]), (rest, npt)),
                                 (stress, (npt, rest)), (ways, (npt, rest)),
                                 (dict(stress, stages=["rest"]), (rest, flow)),
                                 (dict(ways, stages=["rest"]), (flow, rest))):
            self.run_job(watched(observer, *stages), "--overwrite")
        unwrapped = {"type": "trajectory", "stride": 10, "positions": "unwrapped", "file": "u.h5"}
        for stages, warned in (((npt,), True), ((rest, npt), True), ((rest,), False)):
            done = self.perrin("validate", self.write(watched(unwrapped, *stages)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual('observers[0]: warning: the stage "npt" changes the box to keep the '
                             'pressure: "unwrapped" positions' in done.stderr, warned, done.stderr)

    # -- the end of a minimisation ---------------------------------------------------------------

    def minimised(self, tolerance=0.5, steps=20000):
        return {
            "seed": 5,
            "system": {"type": "random", "particles": {"A": 1000}, "density": 0.8,
                       "min_distance": 0.8},
            "velocity": {"temperature": 1},
            "forces": [WCA],
            "observers": [{"type": "thermo", "stride": 50},
                          {"type": "trajectory", "stride": 100000, "file": "t.h5"}],
            "stages": [{"type": "md", "name": "push apart", "steps": steps,
                        "integrator": {"type": "fire", "force_tolerance": tolerance}},
                       {"type": "md", "name": "nvt", "steps": 50, "integrator": BUSSI}]}

    def test_fire_ends_at_the_same_step_whoever_looks(self):
        """Observers cut the run into other pieces, and so does a process that is stopped now and
        then."""
        job = self.minimised()
        often = copy.deepcopy(job)
        often["observers"][1]["stride"] = 1
        self.run_job(job, folder="quiet")
        self.run_job(often, folder="often")
        process = subprocess.Popen([PERRIN, "run", self.write(job), "--device", DEVICE, "--threads",
                                    "1", "--output-dir", self.path("slow"), "--quiet"])
        while process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.005)
        self.assertEqual(process.returncode, 0)
        expected = self.column("potential_energy", "quiet")
        for other in ("often", "slow"):
            numpy.testing.assert_array_equal(expected, self.column("potential_energy", other))

    def test_a_stage_whose_type_is_unknown_after_a_minimisation(self):
        job = self.fluid_under(BUSSI)
        job["stages"] = [{"type": "md", "name": "relax", "steps": 100, "integrator": {
            "type": "fire", "force_tolerance": 1}}, {"type": "nowhere"}]
        job["observers"] = [{"type": "trajectory", "stride": 7}]
        self.refused(job, r'stages\[1\]\.type: unknown stage "nowhere"')

    def test_fire_says_whether_it_converged(self):
        done = self.run_job(self.minimised(), folder="yes")
        line = re.search(r"push apart: (\d+) of (\d+) steps \(100 %\).*converged \(largest force "
                         r"(\S+), tolerance 0\.5\)", done.stdout)
        self.assertTrue(line, done.stdout)
        self.assertEqual(line[1], line[2])
        self.assertLessEqual(float(line[3]), 0.5)
        done = self.run_job(self.minimised(1e-9, 64), folder="no")
        self.assertRegex(done.stdout,
                         r"push apart: 64 of 64 steps \(100 %\).*, not converged \(largest "
                         r"force \S+, tolerance 1e-09\)")

    # -- noise -----------------------------------------------------------------------------------

    def test_two_pair_thermostats_give_one_temperature(self):
        pair = {"types": ["A", "A"], "gamma": 4.5}
        self.run_job({
            "seed": 5,
            "system": {"type": "random", "particles": {"A": 1500}, "density": 3, "min_distance": 0},
            "velocity": {"temperature": 1},
            "forces": [{"type": "dpd", "temperature": 1, "pairs": [{**pair, "repulsion": 25}]},
                       {"type": "dpd_thermostat", "temperature": 1, "pairs": [pair]}],
            "observers": [{"type": "thermo", "stride": 10}],
            "stages": [{"type": "md", "steps": 600,
                        "integrator": {"type": "velocity_verlet", "timestep": 0.01}}]})
        step, temperature = self.column("temperature")
        # √(2/4497) each, correlated over about 20 steps; the time step adds a few per cent.
        self.assertAlmostEqual(temperature[step > 200].mean(), 1, delta=0.06)

    def test_equal_stages_are_independent(self):
        chain = {"type": "metropolis", "engine": "sequential", "cycles": 20,
                 "molecules": {"a": {"number": 100, "sites": [{"type": "A"}]}},
                 "pairs": [{"types": ["A", "A"], "sigma": 1, "epsilon": 1}], "cutoff": 2.5,
                 "box": [6, 6, 6], "temperature": 1, "translation": 0.2, "stride": 20}
        slab = {"type": "neutron_slab", "thickness": 2, "absorption": 0.5, "scattering": 0.5,
                "histories": 20000}
        self.run_job({"seed": 3, "stages": [{**chain, "file": "a.h5"}, {**chain, "file": "b.h5"},
                                            {**slab, "file": "c.h5"}, {**slab, "file": "d.h5"}]})
        for one, other in ("ab", "cd"):
            with h5py.File(self.path(one + ".h5")) as a, h5py.File(self.path(other + ".h5")) as b:
                different = []

                def compare(name, node):
                    if isinstance(node, h5py.Dataset) and node.dtype.kind == "f":
                        different.append(not numpy.array_equal(node[()], b[name][()]))
                a.visititems(compare)
            self.assertTrue(any(different), one + other)

    # -- topology --------------------------------------------------------------------------------

    def chains(self, *forces):
        return {"seed": 7,
                "system": {"type": "chains", "chains": 40, "pattern": "A10", "bond_length": 0.97,
                           "density": 0.4, "min_distance": 0.8},
                "velocity": {"temperature": 1},
                "forces": list(forces),
                "observers": [{"type": "trajectory", "stride": 100}],
                "stages": [
                    {"type": "md", "steps": 500, "integrator": {
                        "type": "fire", "force_tolerance": 10, "maximum_move": 0.02}},
                    {"type": "md", "steps": 3000, "integrator": {**BUSSI, "timestep": 0.005}}]}

    def bond_length(self):
        with h5py.File(self.path("trajectory.h5")) as file:
            bonds = file["connectivity/bonds"][:]
            position = file["particles/all/position/value"][:]
            edges = numpy.diag(file["particles/all/box/edges/value"][0])
        late = position[len(position) // 2:]
        d = late[:, bonds[:, 0]] - late[:, bonds[:, 1]]
        d -= edges * numpy.rint(d / edges)
        return numpy.sqrt((d ** 2).sum(axis=2)).mean()

    def test_the_plain_job_of_kremer_and_grest(self):
        """Mean bond length 0.97 at k = 30, R0 = 1.5, k_B T = 1, whoever brings the repulsion."""
        fene = {"type": "bond_fene", "bonds": {"bond": {}}}
        for exclusions in (None, [], ["bonds"]):
            job = self.chains(WCA, fene)
            if exclusions is not None:
                job["neighbors"] = {"exclusions": exclusions}
            self.run_job(job, "--overwrite")
            # 360 bonds in 18 frames; a bond's length scatters by 0.03.
            self.assertAlmostEqual(self.bond_length(), 0.97, delta=0.005)

    def test_torsions_follow_boltzmann(self):
        """examples/10: chains of four, each by itself, so that the law is exact; the steps make
        an error far below that of the sample."""
        example = os.path.join(os.path.dirname(__file__), "..", "..", "examples",
                               "10-chain-torsions")
        sys.path.insert(0, example)
        import torsions
        with open(os.path.join(example, "job.json")) as text:
            job = json.load(text)
        job["stages"][1]["steps"] = 8000
        self.run_job(job)
        share, error = torsions.measured(self.path("trajectory.h5"), 6)
        expected = torsions.boltzmann()
        self.assertGreater(expected.max(), 5 * expected.min())
        for p, dp, q in zip(share, error, expected):
            self.assertLess(abs(p - q), 4.5 * dp)
            self.assertLess(dp, 0.01)

    def test_a_table_that_has_changed_is_noticed(self):
        """Resumed with a table of nothing: not even the forces of the checkpoint act."""
        def write_table(scale):
            with open(self.path("soft.table"), "w") as out:
                for k in range(101):
                    out.write(f"{0.02 * k} {scale * (2 - 0.02 * k)**2}\n")
        write_table(5)
        self.run_job({"seed": 3,
                      "system": {"type": "random", "particles": {"A": 200}, "density": 0.5,
                                 "min_distance": 0.7},
                      "velocity": {"temperature": 1},
                      "forces": [{"type": "pair_table", "pairs": [
                          {"types": ["A", "A"], "file": "soft.table"}]}],
                      "observers": [{"type": "thermo", "stride": 1}, {"type": "checkpoint"}],
                      "stages": [{"type": "md", "steps": 20, "integrator": {
                          "type": "velocity_verlet", "timestep": 0.005}}]})
        before = self.column("kinetic_energy")[1]
        self.assertGreater(abs(before[20] - before[19]), 1e-4)
        write_table(0)
        done = self.perrin("resume", "checkpoint.h5", "--set", "stages[0].steps=30")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = self.column("kinetic_energy")[1]
        self.assertEqual(list(after[21:]), [after[20]] * 10)
        self.assertEqual(list(self.column("potential_energy")[1][21:]), [0] * 10)

    def test_bonds_that_no_force_handles(self):
        self.refused(self.chains(WCA),
                     r'job\.json:\d+: forces: no force acts on the system\'s 360 bonds '
                     r'of type "bond"; if this is intended, add "ignore": \["bonds"\]')
        job = self.chains(WCA)
        job["ignore"] = ["bonds"]
        job["stages"] = [{"type": "md", "steps": 5000, "integrator": {**BUSSI, "timestep": 0.002}}]
        self.run_job(job)
        # The chains fall apart, and their pairs are pairs like all others.
        self.assertGreater(self.bond_length(), 1.2)

    def write_lammps(self, charge=0.0):
        rows = "".join(f"{k + 1} 1 1 {charge} {k % 2 * 1.5 + 1} {k // 2 * 1.5 + 1} 2\n"
                       for k in range(4))
        with open(self.path("in.data"), "w") as out:
            out.write("file\n\n4 atoms\n3 bonds\n2 angles\n1 dihedrals\n1 atom types\n1 bond "
                      "types\n"
                      "1 angle types\n1 dihedral types\n\n0 12 xlo xhi\n0 12 ylo yhi\n0 12 zlo "
                      "zhi\n\n"
                      "Masses\n\n1 1 # A\n\nAtoms # full\n\n" + rows +
                      "\nBonds\n\n1 1 1 2\n2 1 2 3\n3 1 3 4\n\nAngles\n\n1 1 1 2 3\n2 1 2 3 4\n\n"
                      "Dihedrals\n\n1 1 1 2 3 4\n")

    def test_topology_of_a_file(self):
        self.write_lammps()
        job = {"system": {"type": "file", "path": "in.data"}, "forces": [WCA],
               "stages": [{"type": "md", "steps": 1, "integrator": BUSSI}]}
        error = self.refused(job, r"3 bonds of type")
        self.assertRegex(error, r"2 angles of type")
        self.assertRegex(error, r'1 dihedrals of type "1"; if this is intended')
        job["ignore"] = ["bonds", "angles", "dihedrals"]
        self.assertEqual(self.run_job(job).stderr, "")

    def test_charges_that_no_force_handles(self):
        self.write_lammps(0.5)
        job = {"system": {"type": "file", "path": "in.data"}, "forces": [WCA],
               "ignore": ["bonds", "angles", "dihedrals"],
               "stages": [{"type": "md", "steps": 1, "integrator": BUSSI}]}
        for done in (self.run_job(job), self.perrin("validate", self.write(job))):
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr,
                             r"forces: warning: 4 particles carry charges, but no force")
        job["ignore"].append("charges")
        done = self.perrin("validate", self.write(job))
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, ": valid")

    def test_charges_that_two_forces_handle(self):
        """Each of these acts between all of them; what scales pairs of bonds goes beside it."""
        ewald, coulomb = {"type": "ewald", "cutoff": 2}, {"type": "coulomb", "cutoff": 2}
        screened = {"type": "debye_hueckel", "cutoff": 2, "kappa": 1}
        damped = {"type": "coulomb_dsf", "cutoff": 2, "damping": 0.3}
        field = {"type": "reaction_field", "cutoff": 2}
        job = {"system": {"type": "random", "particles": {"A": 20, "B": 20}, "box": [8, 8, 8]},
               "attributes": {"charge": {"types": {"A": 1, "B": -1}}},
               "stages": [{"type": "md", "steps": 0, "integrator": BUSSI}]}
        for one, other in ((ewald, ewald), (ewald, damped), (coulomb, screened), (field, coulomb)):
            job["forces"] = [one, other]
            done = self.perrin("validate", self.write(job))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"forces[1]: warning: {other['type']} acts between all charges, and so "
                          f"does {one['type']} (forces[0])", done.stderr)
        job["forces"] = [ewald, {"type": "constant_force", "force": [0, 0, 0]}]
        self.assertNotIn("acts between all", self.perrin("validate", self.write(job)).stderr)

    def test_lists_of_a_box_that_becomes_too_small_for_them(self):
        """Its half becomes shorter than cut-off and skin: lists are cut anew, and are longer than
        there was room for."""
        rows = {}
        for traversal in ("verlet_list", "clusters"):
            job = {"seed": 2, "velocity": {"temperature": 1}, "neighbors": {"traversal": traversal},
                   "system": {"type": "random", "box": [7, 7, 7], "particles": {"A": 60},
                              "min_distance": 0.8},
                   "forces": [{"type": "lennard_jones", "cutoff": 2.2, "truncation": "switch",
                               "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.7}]}],
                   "observers": [{"type": "thermo", "stride": 50}],
                   "stages": [{"type": "md", "steps": 1000, "integrator": {
                       "type": "velocity_verlet", "timestep": 0.002}, "deform": {"volume": 115}}]}
            done = self.perrin("run", self.write(job), "--output-dir", self.path(traversal))
            self.assertEqual(done.returncode, 0, done.stderr)
            with h5py.File(self.path(traversal, "thermo.h5")) as file:
                rows[traversal] = file["observables/potential_energy/value"][:]
        numpy.testing.assert_allclose(rows["verlet_list"], rows["clusters"], rtol=1e-3)

    def test_special_pairs_that_act_twice(self):
        self.write_lammps(0.5)
        pairs = [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]
        fluid = {"type": "lennard_jones", "cutoff": 2, "pairs": pairs}
        special = {"type": "special_pairs", "from": "list", "list": [[0, 1]], "pairs": pairs}
        job = {"system": {"type": "file", "path": "in.data"},
               "ignore": ["bonds", "angles", "dihedrals", "charges"],
               "stages": [{"type": "md", "steps": 0, "integrator": BUSSI}]}
        for scale, excluded, twice in ((0.5, [], True), (-0.5, [], False),
                                       (0.5, ["molecules"], False)):
            job["neighbors"] = {"exclusions": excluded}
            job["forces"] = [{**special, "scale": scale}, fluid]
            done = self.perrin("validate", self.write(job))
            self.assertEqual(done.returncode, 0, done.stderr)
            said = "1 of the 1 pairs of special_pairs act in lennard_jones (forces[1]) as well"
            self.assertEqual(said in done.stderr, twice, done.stderr)
            self.assertEqual(done.stderr.count("warning"), int(twice), done.stderr)

    def test_charges_that_act_twice_or_by_two_constants(self):
        self.write_lammps(0.5)
        special = {"type": "special_coulomb", "scale": 0.5}
        job = {"system": {"type": "file", "path": "in.data"},
               "ignore": ["bonds", "angles", "dihedrals"], "neighbors": {"exclusions": []},
               "stages": [{"type": "md", "steps": 0, "integrator": BUSSI}]}
        for more, said in (({}, "of the 1 pairs of special_coulomb act in coulomb (forces[0]) as "
                                "well"),
                           ({"scale": -0.5}, ""), ({"exclusions": ["molecules"]}, ""),
                           ({"exclusions": ["molecules"], "coulomb": {"permittivity": 4}},
                            "special_coulomb has 0.25 for Coulomb's constant, and coulomb "
                            "(forces[0]) 1: expected the same")):
            job["neighbors"]["exclusions"] = more.pop("exclusions", [])
            job["forces"] = [{"type": "coulomb", "cutoff": 3}, {**special, **more}]
            done = self.perrin("validate", self.write(job))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("warning"), bool(said), done.stderr)

    # -- forces from formulas ---------------------------------------------------------------------

    def test_a_field_of_time_drives_an_oscillator(self):
        """x'' = -k x + a cos(omega t) has an exact solution; the time goes on in another stage with
        another time step, and the energy is that of the instant."""
        k, a, omega = 2.0, 1.0, 3.0
        with open(self.path("in.xyz"), "w") as out:
            out.write('3\nLattice="40 0 0 0 40 0 0 0 40" Origin="-20 -20 -20" '
                      "Properties=species:S:1:pos:R:3:velo:R:3\n"
                      "A 1 2 3 0.5 0 0\nA -4 0 -3 0 1 0\nA 0 5 0 -1 0 0\n")
        start = numpy.array([[1, 2, 3], [-4, 0, -3], [0, 5, 0]], float)
        speed = numpy.array([[0.5, 0, 0], [0, 1, 0], [-1, 0, 0]], float)
        force = {"type": "external_formula", "energy": "k/2*(x^2 + y^2) - a*x*cos(omega*t)",
                 "types": {"A": {"k": k, "a": a, "omega": omega}}}
        stage = lambda n, dt: {"type": "md", "steps": n,
                               "integrator": {"type": "velocity_verlet", "timestep": dt}}
        job = {"system": {"type": "file", "path": "in.xyz"}, "forces": [force],
               "observers": [{"type": "trajectory", "stride": 500}, {"type": "thermo",
                                                                     "stride": 500}],
               "stages": [stage(2500, 0.004), stage(5000, 0.002)]}
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as f:
            r = f["particles/all/position/value"][:] - 20.0
            t = f["particles/all/position/time"][:]
        with h5py.File(self.path("thermo.h5")) as f:
            energy = f["observables/potential_energy/value"][:]
        self.assertAlmostEqual(t[-1], 20.0)
        free = numpy.sqrt(k)
        driven = numpy.array([a / (k - omega**2), 0, 0])
        for row, time_ in enumerate(t):
            c, s = numpy.cos(free * time_), numpy.sin(free * time_)
            exact = (start - driven) * c + speed / free * s + driven * numpy.cos(omega * time_)
            exact[:, 2] = start[:, 2]
            numpy.testing.assert_allclose(r[row], exact, atol=2e-4)
            expected = (k / 2 * (r[row, :, 0]**2 + r[row, :, 1]**2)
                        - a * r[row, :, 0] * numpy.cos(omega * time_)).sum()
            self.assertAlmostEqual(energy[row], expected, delta=2e-4)

    def test_the_centre_of_mass_of_the_driven_trap(self):
        """examples/11, its own check: repulsion between the particles does not matter to it."""
        example = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples",
                               "11-driven-trap")
        done = self.perrin("run", os.path.join(example, "job.json"), "--device", DEVICE, "--quiet",
                           "--output-dir", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = subprocess.run([sys.executable, os.path.join(example, "check.py"), self.path("out")],
                              capture_output=True, text=True, check=True).stdout
        self.assertLess(float(said.split()[-1]), 1e-3, said)

    # -- errors at the start ---------------------------------------------------------------------

    def test_the_force_that_is_wrong_at_the_start_is_named(self):
        """Particles far from one another, one of them in a wall."""
        with open(self.path("in.xyz"), "w") as out:
            out.write('3\nLattice="10 0 0 0 10 0 0 0 10" Properties=species:S:1:pos:R:3\n'
                      "A 1 1 1\nA 5 5 3.0001\nA 5 8 8\n")
        job = {"system": {"type": "file", "path": "in.xyz"},
               "forces": [WCA, {"type": "lj_wall", "axis": "z", "position": 3, "epsilon": 1,
                                "sigma": 1}],
               "stages": [{"type": "md", "steps": 1, "integrator": BUSSI}]}
        error = self.refused(job,
                             r"job\.json:\d+: forces\[1\]: lj_wall: its force on particle 1 at "
                             r"\(5, 5, "
                             r"3\.0001\) ")
        self.assertNotRegex(error, "closest|overlap")

    def test_a_potential_refuses_settings_that_do_not_go_together(self):
        fene = {"type": "bond_fene", "bonds": {"bond": {"sigma": 1.5}}}
        self.refused(self.chains(WCA, fene),
                     r"forces\[1\]\.bonds\.bond\.sigma: must be below maximum_length")


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
