"""perrin resume, as users call it: the run that never stopped and the one that did, compared by id;
what --set changes and what it must not. resume_test.cpp has every type and traversal, in one
process."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

PERRIN = os.path.abspath(sys.argv[1])

LIQUID = {
    "seed": 5,
    "system": {"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [5, 5, 5]},
    "velocity": {"temperature": 1.2},
    "forces": [{"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "observers": [{"type": "trajectory", "stride": 10, "quantities": ["position", "velocity"]},
                  {"type": "checkpoint"}],
    "stages": [{"type": "md", "steps": 100,
                "integrator": {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}}],
}


def droplet(particles, pairs, density):
    """A trap draws the particles together: what is measured at the start is long past at the
    stop."""
    job = copy.deepcopy(LIQUID)
    job["system"] = {"type": "random", "particles": particles, "density": density,
                     "min_distance": 0}
    job["forces"] = [{"type": "soft_dpd", "pairs": [
        {"types": t, "repulsion": a, "range": r} for t, a, r in pairs]},
        {"type": "harmonic_trap", "stiffness": [2, 2, 2]}]
    job["stages"][0]["integrator"] = {"type": "langevin", "timestep": 0.01, "temperature": 0.5,
                                      "friction": 3, "axes": "xyz"}
    return job


class Resume(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def perrin(self, *arguments):
        return subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=300)

    def good(self, *arguments):
        done = self.perrin(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done

    def run_job(self, job, output, steps, threads=1, last=None):
        with open(self.path("job.json"), "w") as file:
            json.dump(job, file)
        return self.good("run", "job.json", "--device", "cpu", "--threads", str(threads),
                         "--output-dir", output,
                         "--set", f"stages[0].steps={steps}", *(["--set", last] if last else []))

    def resume(self, output, steps, *more):
        return self.good("resume", f"{output}/checkpoint.h5", "--set", f"stages[0].steps={steps}",
                         *more)

    def frames(self, output):
        with h5py.File(self.path(output, "trajectory.h5")) as file:
            all_ = file["particles/all"]
            return (all_["position/step"][:], all_["position/value"][:], all_["velocity/value"][:],
                    numpy.diag(all_["box/edges/value"][0]))

    def assert_same(self, job, stop, end, *more, threads=1):
        self.run_job(job, "whole", end)
        self.run_job(job, "parts", stop)
        self.resume("parts", end, "--threads", str(threads), *more)
        for one, other in zip(self.frames("whole"), self.frames("parts")):
            self.assertTrue(numpy.array_equal(one, other))

    def assert_near(self, job, stop, end, *more):
        """Other settings: the same particles at the same places, for the few steps that are
        left."""
        self.run_job(job, "whole", end)
        self.run_job(job, "parts", stop)
        self.resume("parts", end, *more)
        whole, parts = self.frames("whole"), self.frames("parts")
        self.assertTrue(numpy.array_equal(whole[0], parts[0]))
        apart = whole[1] - parts[1]
        apart -= whole[3] * numpy.round(apart / whole[3])
        self.assertLess(numpy.abs(apart).max(), 0.01)

    def test_mixture_that_draws_together(self):
        job = droplet({"B": 20, "S": 1500},
                      [(["S", "S"], 25, 1), (["B", "B"], 100, 5), (["B", "S"], 50, 3)], 0.05)
        self.assert_same(job, 130, 140)

    def test_droplet_of_small_particles(self):
        job = droplet({"S": 2000}, [(["S", "S"], 25, 1)], 0.05)
        job["neighbors"] = {"traversal": "verlet_list"}
        self.assert_same(job, 130, 140, threads=2)

    def test_forces_that_are_not_kept(self):
        job = copy.deepcopy(LIQUID)
        job["forces"] = [{"type": "harmonic_trap", "stiffness": [1, 1, 1]}]
        job["observers"][0]["quantities"] = ["position", "velocity"]
        job["stages"][0]["integrator"] = {"type": "brownian", "timestep": 0.001, "temperature": 1,
                                          "friction": 1, "keep_forces": False}
        self.assert_same(job, 30, 60)

    def test_thin_gas(self):
        job = copy.deepcopy(LIQUID)
        for density in (0.02, 0.1):
            job["system"] = {"type": "lattice", "structure": "sc", "density": density,
                             "cells": [9, 9, 9]}
            with tempfile.TemporaryDirectory() as self.folder:
                self.assert_same(job, 200, 210)

    def test_more_particles_than_densities_are_measured_from(self):
        job = copy.deepcopy(LIQUID)
        job["system"] = {"type": "random", "particles": {"A": 66000}, "density": 1.1,
                         "min_distance": 0}
        job["velocity"]["temperature"] = 0.0001
        job["neighbors"] = {"traversal": "clusters"}
        job["forces"] = [{"type": "soft_dpd",
                          "pairs": [{"types": ["A", "A"], "repulsion": 25, "range": 1}]}]
        job["stages"][0]["integrator"] = {"type": "velocity_verlet", "timestep": 0.0005}
        self.assert_same(job, 20, 30)

    def test_other_traversals(self):
        job = copy.deepcopy(LIQUID)
        job["neighbors"] = {"skin": 0.3}
        for traversal in ("verlet_list", "cells", "auto"):
            with self.subTest(traversal):
                with tempfile.TemporaryDirectory() as self.folder:
                    self.assert_near(job, 60, 70, "--set", f"neighbors.traversal={traversal}")

    def test_the_record_of_the_trajectory_is_that_of_the_resumed_job(self):
        self.run_job(LIQUID, "out", 50)
        self.resume("out", 70, "--set", "stages[0].integrator.temperature=2")
        self.resume("out", 90, "--set", "title=longer")
        with h5py.File(self.path("out", "trajectory.h5")) as file:
            own = file["parameters/perrin"]
            records = [own[f"earlier/{k}"] for k in sorted(own["earlier"])] + [own]
            jobs = [json.loads(r["job"][()]) for r in records]
            self.assertEqual([j["stages"][0]["steps"] for j in jobs], [50, 70, 90])
            self.assertEqual([j["stages"][0]["integrator"]["temperature"] for j in jobs], [1, 2, 2])
            self.assertEqual(jobs[2]["title"], "longer")
            self.assertEqual([int(r["last_step"][()]) for r in records[:2]], [50, 70])

    def test_what_a_resumed_run_cannot_change_is_refused(self):
        job = copy.deepcopy(LIQUID)
        job["stages"].append(copy.deepcopy(job["stages"][0]))
        self.run_job(job, "out", 20)
        for change, word in (("system.density=0.3", "system cannot change"),
                             ("seed=6", "seed cannot change"),
                             ("velocity.temperature=3", "velocity cannot change"),
                             ("units.length=nm", "units cannot change"), ("device=cpu", "--device"),
                             ("stages[0].steps=100", "this stage is complete"),
                             ("stages[-2].steps=100", "this stage is complete"),
                             ("stages[-3].steps=100", "stages has 2 entries"),
                             ("stages[1].steps=50", "must be at least 100, the steps of this"),
                             ("stages[1].integrator.type=velocity_verlet", "cannot change in a"),
                             ("forces[0].type=wca", "cannot change in a resumed run"),
                             ("reservoir.A=10", "cannot change in a resumed run"),
                             ("constraints.bonds.b=1", "cannot change in a resumed run"),
                             ("forces[0].cutof=2", "cutof")):
            with self.subTest(change):
                done = self.perrin("resume", "out/checkpoint.h5", "--set", change)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(word, done.stderr)
        self.good("resume", "out/checkpoint.h5", "--set", "stages[-1].steps=110", "--set",
                  "forces[0].cutoff=2.2")

    def test_another_file_is_one_that_is_there(self):
        self.run_job(LIQUID, "out", 20)
        change = ("--set", "observers[0].file=other.h5", "--set", "stages[0].steps=30")
        done = self.perrin("resume", "out/checkpoint.h5", *change)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, r'observers\[0\]\.file: .*"trajectory\.h5"; '
                                      r'got "other\.h5", .* not exist in out')
        os.rename(self.path("out", "trajectory.h5"), self.path("out", "other.h5"))
        self.good("resume", "out/checkpoint.h5", *change)
        with h5py.File(self.path("out", "other.h5")) as file:
            self.assertEqual(list(file["particles/all/position/step"][:]), [0, 10, 20, 30])

    def test_a_file_keeps_its_kind_of_frames(self):
        job = copy.deepcopy(LIQUID)
        job["observers"] += [{"type": "gsd", "stride": 10}]
        self.run_job(job, "out", 20)
        for change in ('observers[0].quantities=["position"]', "observers[0].positions=unwrapped",
                       "observers[0].precision=double", "observers[2].positions=unwrapped",
                       "observers[2].precision=double"):
            with self.subTest(change):
                done = self.perrin("resume", "out/checkpoint.h5", "--set", change, "--set",
                                   "stages[0].steps=30")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, r"trajectory\.(h5|gsd): .*a resumed run cannot")

    def test_frames_beyond_the_checkpoint_are_cut_off(self):
        """Of GSD and XTC: whole ones, and what a kill has left of one; fewer are refused."""
        job = copy.deepcopy(LIQUID)
        job["observers"] += [{"type": "gsd", "stride": 1}, {"type": "xtc", "stride": 1}]
        self.run_job(job, "whole", 100)
        whole = {}
        for name in ("trajectory.gsd", "trajectory.xtc"):
            with open(self.path("whole", name), "rb") as file:
                whole[name] = file.read()
        self.run_job(job, "out", 40)
        with open(self.path("out", "trajectory.xtc"), "rb") as file:
            begun = file.read()
        self.assertTrue(whole["trajectory.xtc"].startswith(begun))
        with open(self.path("out", "trajectory.xtc"), "ab") as file:
            file.write(whole["trajectory.xtc"][len(begun):-100])
        # A whole run's file has more frames, and another place for its index.
        with open(self.path("out", "trajectory.gsd"), "wb") as file:
            file.write(whole["trajectory.gsd"])
        self.good("resume", "out/checkpoint.h5", "--set", "stages[0].steps=100")
        with open(self.path("out", "trajectory.xtc"), "rb") as file:
            self.assertEqual(file.read(), whole["trajectory.xtc"])
        for folder in ("whole", "out"):
            self.good("convert", folder + "/trajectory.gsd", folder + ".xyz")
        with open(self.path("whole.xyz")) as first, open(self.path("out.xyz")) as second:
            text = first.read()
            self.assertEqual(text.count("Step="), 101)
            self.assertEqual(text, second.read())
        for name in whole:
            self.run_job(job, "short" + name, 40)
            with open(self.path("short" + name, name), "rb+") as file:
                file.truncate(file.seek(0, os.SEEK_END) // 2)
            done = self.perrin("resume", f"short{name}/checkpoint.h5", "--set",
                               "stages[0].steps=100")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(name + ": cannot be continued", done.stderr)

    def test_a_complete_run_says_so(self):
        self.run_job(LIQUID, "out", 20)
        before = os.stat(self.path("out", "trajectory.h5")).st_mtime_ns
        done = self.good("resume", "out/checkpoint.h5")
        self.assertIn("this run is complete", done.stdout)
        self.assertEqual(before, os.stat(self.path("out", "trajectory.h5")).st_mtime_ns)

    def test_a_complete_run_is_made_longer(self):
        """By steps and by a stage: the files of a run that was so long from the start."""
        job = copy.deepcopy(LIQUID)
        more = dict(copy.deepcopy(job["stages"][0]), steps=10)
        job["stages"].append(more)
        self.run_job(job, "whole", 40)
        job["stages"].pop()
        self.run_job(job, "parts", 20)
        self.good("resume", "parts/checkpoint.h5", "--steps", "20")
        self.good("resume", "parts/checkpoint.h5", "--set", "stages[1]=" + json.dumps(more))
        for one, other in zip(self.frames("whole"), self.frames("parts")):
            self.assertTrue(numpy.array_equal(one, other))
        for bad, said in (("observers[9]={}", "observers has"), ("stages[3].steps=1", "appends"),
                          (f"forces[{len(job['forces'])}]={{}}", "none can be added")):
            done = self.perrin("resume", "parts/checkpoint.h5", "--set", bad)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, done.stderr)

    def assert_same_box_and_rows(self, stages, *observers):
        """Stopped and gone on with in the last stage, twice: the same frames, boxes and rows."""
        job = copy.deepcopy(LIQUID)
        job["system"]["cells"] = [4, 4, 4]
        job["forces"] = [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1,
                                                    "sigma": 1}]}]
        job["observers"] += [{"type": "thermo", "stride": 10, "box": True}, *observers]
        job["stages"] = [dict({"type": "md", "integrator": {
            "type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1,
            **stage.pop("bath", {})}, "steps": 120}, **stage) for stage in copy.deepcopy(stages)]
        last = len(stages) - 1
        for output, steps in (("whole", 120), ("parts", 50)):
            self.run_job(job, output, job["stages"][0]["steps"] if last > 0 else steps,
                         last=f"stages[{last}].steps={steps}")
        for steps in (90, 120):
            self.good("resume", "parts/checkpoint.h5", "--set", f"stages[{last}].steps={steps}")
        names = ["trajectory.h5", "thermo.h5"] + [o["type"] + ".h5" for o in observers]
        changed = False
        for name in names:
            with h5py.File(self.path("whole", name)) as one, \
                    h5py.File(self.path("parts", name)) as other:
                def compare(path, item):
                    if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
                        numpy.testing.assert_array_equal(item[()], other[path][()], path)
                for group in ("particles", "observables"):
                    if group in one:
                        one[group].visititems(lambda path, item, g=group: compare(f"{g}/{path}",
                                                                                  item))
                if name == "trajectory.h5":
                    edges = one["particles/all/box/edges/value"][()]
                    changed = (edges[0] != edges[-1]).any()
        self.assertTrue(changed)  # else this tests nothing

    def test_shear_and_then_a_flexible_barostat(self):
        """Tilts that the shear of a stage that is done could not begin with."""
        self.assert_same_box_and_rows([
            {"steps": 100, "shear": {"rate": 1}},
            {"bath": {"barostat": {"pressure": 1, "tau": 0.5, "stride": 5, "axes": "flexible"}}}])

    def test_tilts_by_deform_behind_shear(self):
        self.assert_same_box_and_rows([
            {"steps": 60, "shear": {"rate": 1}}, {"steps": 50, "deform": {"xz": 0.3, "yz": 0.2}},
            {"deform": {"yz": 0, "xz": 0, "xy": 0.1, "steps": 40}}])

    def test_default_ranges_in_a_box_that_changes(self):
        """Half of the box at the start, though the box at the stop is another one."""
        barostat = {"barostat": {"pressure": 3, "tau": 0.2, "stride": 3}}
        ranged = [{"type": "rdf", "stride": 10, "rows_every": 40, "bins": 20},
                  {"type": "radial_profile", "stride": 10, "rows_every": 40, "bins": 8}]
        self.assert_same_box_and_rows([{"bath": barostat}], *ranged)
        with tempfile.TemporaryDirectory() as self.folder:
            for one in ranged:
                one["stages"] = ["after"]
            self.assert_same_box_and_rows(
                [{"steps": 100, "bath": barostat}, {"name": "after"}], *ranged)

    def test_langevin_without_axes(self):
        job = copy.deepcopy(LIQUID)
        for name in ("langevin", "brownian"):
            with tempfile.TemporaryDirectory() as self.folder:
                job["stages"][0]["integrator"] = {"type": name, "timestep": 0.0004,
                                                  "temperature": 1, "friction": 1}
                self.assert_same(job, 20, 30)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
