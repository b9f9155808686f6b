"""perrin resume, as users call it: the run that never stopped and the one that did, compared by id;
what --set changes and what it must not. resume_test.cpp has every type and traversal, in one
process."""

import copy
import json
import os
import shutil
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
                             # The same by other spellings of the path.
                             ('["seed"]=99', "seed cannot change"),
                             ('["system"].density=0.3', "system cannot change"),
                             ('["velocity"]["temperature"]=3', "velocity cannot change"),
                             ('["units"]={"length":"nm"}', "units cannot change"),
                             ('["reservoir"]={"A":10}', "reservoir cannot change"),
                             ('["orientations"]={}', "orientations cannot change"),
                             ('["device"]=cpu', "--device"),
                             ("stages[00].steps=100", "this stage is complete"),
                             ('["stages"][0].integrator.temperature=9', "this stage is complete"),
                             ("stages=" + json.dumps([{**job["stages"][0], "steps": 50},
                                                      job["stages"][1]]),
                              "stages[0].steps: cannot change in a resumed run: this stage is"),
                             ("constraints.bonds.b=1", "cannot change in a resumed run"),
                             ("forces[0].cutof=2", "cutof")):
            with self.subTest(change):
                done = self.perrin("resume", "out/checkpoint.h5", "--set", change)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(word, done.stderr)
        longer = [{**job["stages"][0], "steps": 20}, {**job["stages"][1], "steps": 110}]
        self.good("resume", "out/checkpoint.h5", "--set", "stages=" + json.dumps(longer), "--set",
                  "forces[0].cutoff=2.2")

    def test_what_a_running_stage_cannot_be_given_or_lose(self):
        """How it began is in the checkpoint."""
        barostat = {"pressure": 1, "tau": 1}
        changes = {"shear": {"rate": 0.1}, "deform": {"density": 0.62},
                   "integrator.barostat": barostat}
        self.run_job(LIQUID, "out", 20)
        for path, value in changes.items():
            self.stays(path, value, "cannot be added to the stage that is running, only to stages")
        for path in changes:
            job = copy.deepcopy(LIQUID)
            (job["stages"][0]["integrator"] if "." in path else job["stages"][0])[
                path.split(".")[-1]] = changes[path]
            shutil.rmtree(self.path("out"))
            self.run_job(job, "out", 20)
            self.stays(path, None, "cannot be taken from the stage that is running, only from ")

    def stays(self, path, value, said):
        done = self.perrin("resume", "out", "--set", f"stages[0].{path}={json.dumps(value)}")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(f"stages[0].{path}: {said}", done.stderr)

    def test_files_that_are_not_in_another_output_directory(self):
        self.run_job(LIQUID, "out", 20)
        done = self.perrin("resume", "out", "--output-dir", "other")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "other/trajectory.h5 does not exist: a resumed run appends "
                         "to its files; copy those in out/? to other first")
        os.makedirs(self.path("other"), exist_ok=True)
        shutil.copy(self.path("out", "trajectory.h5"), self.path("other"))
        self.good("resume", "out", "--output-dir", "other", "--steps", "80")
        with h5py.File(self.path("other", "trajectory.h5")) as file:
            self.assertEqual(file["particles/all/position/step"][-1], 100)

    def test_steps_are_said_once(self):
        self.run_job(LIQUID, "out", 20)
        for change in ("stages[0].steps=500", "stages[-1].steps=500", '["stages"][0].steps=500',
                       "stages[1]=" + json.dumps(LIQUID["stages"][0])):
            done = self.perrin("resume", "out", "--steps", "10", "--set", change)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("expected one of the two options", done.stderr)
        for steps in ("-5", "0"):
            done = self.perrin("resume", "out", "--steps", steps)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(f"expected an integer from 1, got {steps}", done.stderr)
        self.good("resume", "out", "--steps", "10", "--set", "stages[0].integrator.tau=0.2")

    def refused(self, job, change, *said):
        """Of one run, one change or several: each and what was expected are named, and the files
        stay as they are."""
        with tempfile.TemporaryDirectory() as self.folder:
            self.run_job(job, "out", 50)
            files = [name for name in sorted(os.listdir(self.path("out")))
                     if name.endswith((".h5", ".gsd", ".xtc"))]
            before = [os.stat(self.path("out", name)).st_mtime_ns for name in files]
            for one in [change] if isinstance(change, str) else change:
                with self.subTest(one):
                    done = self.perrin("resume", "out/checkpoint.h5", "--steps", "30", "--set", one)
                    self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                    for word in (one.split("=")[0] + ": cannot change", "expected ", *said):
                        self.assertIn(word, done.stderr)
                    after = [os.stat(self.path("out", name)).st_mtime_ns for name in files]
                    self.assertEqual(before, after)

    def grouped(self, *observers, **groups):
        job = copy.deepcopy(LIQUID)
        job["system"] = {"type": "lattice", "structure": "sc", "density": 0.5,
                         "cells": [6, 6, 6], "types": {"A": 1, "B": 1}}
        job["forces"][0]["mixing"] = "lorentz_berthelot"
        job["forces"][0]["pairs"].append({"types": ["B", "B"], "epsilon": 1, "sigma": 1})
        job["groups"] = {"a": {"ids": [[0, 199]]}, "b": {"types": ["A"]}, **groups}
        job["observers"] = [*observers, {"type": "checkpoint"}]
        return job

    def test_a_file_of_frames_keeps_its_particles(self):
        """With fewer members rows were lost, and memory behind a frame was read."""
        for kind, ending in (("trajectory", "h5"), ("gsd", "gsd"), ("xtc", "xtc")):
            job = self.grouped({"type": kind, "stride": 10, "group": "a"})
            name = "trajectory." + ending
            self.refused(job, "groups.a.ids=[[10,12]]", name, "[[0,199]], as in the checkpoint, "
                         "got [[10,12]]", "observers[0]")
            self.refused(job, 'groups.a.types=["A"]', name)
            self.refused(job, "observers[0].group=all", name,
                         'expected "a", as in the checkpoint, got "all"')
        job = self.grouped({"type": "trajectory", "stride": 10, "group": "c"},
                           c={"or": ["a"]})
        self.refused(job, "groups.a.ids=[[10,12]]", "trajectory.h5", 'group "c"')

    def test_what_is_averaged_keeps_its_definition(self):
        every = {"stride": 10, "rows_every": 40}
        for observer, changes in (
                ({"type": "mean_square_displacement", "group": "a"},
                 ("observers[0].remove_drift=true", "groups.a.ids=[[5,30]]")),
                ({"type": "velocity_autocorrelation", "group": "a"},
                 ("observers[0].remove_drift=true", "groups.a.ids=[[100,209]]")),
                ({"type": "coordination", "distance": 1.5, "neighbor_group": "a"},
                 ("observers[0].distance=1.4", "groups.a.ids=[[5,30]]")),
                ({"type": "profile", "group": "a"},
                 ("observers[0].axis=x", "observers[0].group=b", "groups.a.ids=[[5,30]]")),
                ({"type": "pressure_profile"},
                 ("observers[0].axis=x", "observers[0].group=b")),
                ({"type": "radial_profile"},
                 ("observers[0].axis=x", "observers[0].group=b")),
                ({"type": "structure_factor", "k_max": 3}, ("observers[0].group=b",)),
                ({"type": "bond_order", "distance": 1.5}, ("observers[0].distance=1.4",)),
                ({"type": "cluster_size", "distance": 1.5}, ("observers[0].distance=1.4",)),
                ({"type": "widom", "temperature": 1}, ("observers[0].temperature=2",))):
            rows = {"stride": 10} if observer["type"] == "widom" else every
            self.refused(self.grouped({**observer, **rows}), changes, observer["type"] + ".h5")

    def test_compression_is_that_of_the_file(self):
        job = self.grouped({"type": "trajectory", "stride": 10})
        for value in ("deflate", "rounded"):
            self.refused(job, "observers[0].compression=" + value, "trajectory.h5",
                         f'expected "none", as in the checkpoint, got "{value}"')

    def test_numbers_of_the_start_stay(self):
        """Of attributes; their formulas can change. Of groups chosen once by places."""
        job = self.grouped({"type": "thermo", "stride": 10}, c={"formula": "x < 0"})
        job["attributes"] = {"size": {"types": {"A": 1, "B": 2}}, "mood": {"default": 1},
                             "drawn": {"random": {"uniform": [0, 1]}}, "placed": {"from": "x"}}
        for change in ("attributes.size.types.A=3", "attributes.mood.default=2",
                       "attributes.drawn.random.uniform=[0,2]", "attributes.placed.from=y",
                       "groups.c.formula=x>0"):
            with self.subTest(change), tempfile.TemporaryDirectory() as self.folder:
                self.run_job(job, "out", 50)
                done = self.perrin("resume", "out/checkpoint.h5", "--steps", "30", "--set", change)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, r"(attributes|groups)\.\w+\.\w+: cannot change .*"
                                              "as in the checkpoint, got")

    def test_what_can_change_beside_files(self):
        """Strides; formulas of attributes; groups that are chosen anew, and those of nobody's
        file; and a setting that says what is so already."""
        job = self.grouped({"type": "gsd", "stride": 10},
                           {"type": "thermo", "stride": 10, "groups": ["c"]},
                           {"type": "profile", "group": "c", "stride": 5, "rows_every": 20},
                           c={"formula": "x < 0", "every": 5})
        job["attributes"] = {"n": {"default": 1, "updates": {"formula": "n + 1", "every": 10}}}
        self.run_job(job, "out", 50)
        self.good("resume", "out/checkpoint.h5", "--steps", "30", "--set", "groups.a.ids=[3]",
                  "--set", "attributes.n.updates.formula=n + 100", "--set",
                  "observers[1].stride=5", "--set", "observers[2].rows_every=10",
                  "--set", "observers[2].axis=" + self.axis_of_profile("out"))
        with h5py.File(self.path("out", "thermo.h5")) as file:
            steps = file["observables/temperature/step"][:]
        self.assertEqual(list(steps[-6:]), [55, 60, 65, 70, 75, 80])

    def axis_of_profile(self, output):
        with h5py.File(self.path(output, "checkpoint.h5")) as file:
            job = json.loads(file["job"][()])
        return job["observers"][2]["axis"]

    def test_sizes_of_moves_hold_from_the_resume(self):
        """As in the run that had them from the start of a second stage: larger steps are accepted
        less. Where they are tuned they cannot change."""
        job = self.grouped({"type": "acceptance", "stride": 10})
        for moves, change, column, size in (
                ({"translation": {"displacement": 0.1}}, "translation.displacement=0.3",
                 "displacement", 0.3),
                ({"translation": {"displacement": 0.1},
                  "hybrid": {"timestep": 0.001, "steps": 2}},
                 "hybrid.timestep=0.002", "hybrid_timestep", 0.002),
                ({"translation": {"displacement": 0.1}, "cluster": {"displacement": 0.2}},
                 "cluster.displacement=0.4", "cluster_displacement", 0.4)):
            job["stages"] = [{"type": "monte_carlo", "sweeps": 50, "temperature": 1, **moves}]
            for tuned in (False, True):
                with self.subTest(change, tuned=tuned), \
                        tempfile.TemporaryDirectory() as self.folder:
                    if tuned:
                        job["stages"][0]["tune"] = {"sweeps": 20}
                    with open(self.path("job.json"), "w") as file:
                        json.dump(job, file)
                    self.good("run", "job.json", "--device", "cpu", "--threads", "1",
                              "--output-dir", "out")
                    again = ("resume", "out/checkpoint.h5", "--set", "stages[0].sweeps=80",
                             "--set", "stages[0]." + change)
                    if tuned:
                        done = self.perrin(*again)
                        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                        self.assertRegex(done.stderr, change.split(".")[0] + ": its size is tuned")
                        continue
                    self.good(*again)
                    self.good("resume", "out/checkpoint.h5", "--set", "stages[0].sweeps=100")
                    with h5py.File(self.path("out", "acceptance.h5")) as file:
                        value = file["observables"][column]["value"][:].ravel()
                        step = file["observables"][column]["step"][:]
                    self.assertEqual(step[-1], 100)
                    self.assertTrue((value[step > 50] == size).all(), value)
                    self.assertTrue((value[step <= 50] < size).all(), value)

    def test_a_barostat_at_work_keeps_its_speed(self):
        job = copy.deepcopy(LIQUID)
        box = {"pressure": 1, "tau": 1, "stride": 5}
        job["stages"] = [{"type": "monte_carlo", "sweeps": 20, "temperature": 1,
                          "translation": {"displacement": 0.1}, "barostat": box}]
        with open(self.path("job.json"), "w") as file:
            json.dump(job, file)
        self.good("run", "job.json", "--device", "cpu", "--threads", "1", "--output-dir", "mc")
        again = ("resume", "mc/checkpoint.h5", "--set", "stages[0].sweeps=30", "--set")
        done = self.perrin(*again, "stages[0].barostat.tau=0.2")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("stages[0].barostat.tau: cannot change while the barostat is at work",
                      done.stderr)
        self.good(*again, "stages[0].barostat.pressure=2")
        job = copy.deepcopy(LIQUID)
        job["stages"][0]["integrator"]["barostat"] = box
        self.refused(job, ("stages[0].integrator.barostat.tau=0.2",
                           "stages[0].integrator.barostat.compressibility=0.5"), "at work")

    def test_a_ramp_at_work_that_is_given_other_numbers_is_named(self):
        ramp = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1,
                "final_temperature": 2, "ramp_steps": 100}
        job = copy.deepcopy(LIQUID)
        job["stages"] = [{"type": "md", "steps": 100, "integrator": ramp}]
        with open(self.path("job.json"), "w") as file:
            json.dump(job, file)
        stop = ("run", "job.json", "--device", "cpu", "--threads", "1", "--output-dir")
        self.good(*stop, "ramp", "--set", "stages[0].steps=50")

        def said(*changes):
            return self.good("resume", "ramp", "--quiet", *[
                word for change in changes for word in ("--set", change)]).stderr

        self.assertNotIn("has begun", said("stages[0].steps=51", "stages[0].integrator.tau=0.2"))
        for change in ("final_temperature=3", "ramp_steps=200", "temperature=0.5"):
            self.assertRegex(said("stages[0].integrator." + change, "stages[0].steps=52"),
                             r"stages\[0\]\.integrator: warning: .*a stage which has begun")
        job["stages"] = [{"type": "md", "steps": 100,
                          "integrator": {key: value for key, value in ramp.items()
                                         if key not in ("final_temperature", "ramp_steps")}}]
        with open(self.path("job.json"), "w") as file:
            json.dump(job, file)
        self.good(*stop, "constant")
        done = self.good("resume", "constant", "--set", "stages[0].steps=110",
                         "--set", "stages[0].integrator.final_temperature=3",
                         "--set", "stages[0].integrator.ramp_steps=1000")
        self.assertIn("the ramp is that of a stage which has begun", done.stdout + done.stderr)

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
                self.assertRegex(done.stderr, r"cannot change in a resumed run, which goes on with "
                                              r"trajectory\.(h5|gsd): expected .*, got")

    def test_the_file_of_another_observer_is_refused(self):
        """It has as many frames at the same steps. Nothing is changed."""
        job = copy.deepcopy(LIQUID)
        job["groups"] = {"left": {"box": [[None, None, None], [0, None, None]]}}
        left = {"stride": 10, "group": "left"}
        job["observers"] += [
            {"type": "trajectory", "file": "left.h5", "quantities": ["position", "velocity"],
             **left},
            {"type": "trajectory", "file": "bare.h5", "stride": 10, "quantities": ["position"]},
            {"type": "trajectory", "file": "double.h5", "stride": 10, "precision": "double",
             "quantities": ["position", "velocity"]},
            {"type": "trajectory", "file": "rounded.h5", "stride": 10, "compression": "rounded",
             "quantities": ["position", "velocity"]},
            {"type": "gsd", "stride": 10}, {"type": "gsd", "file": "left.gsd", **left},
            {"type": "gsd", "file": "bare.gsd", "stride": 10, "quantities": ["position"]},
            {"type": "gsd", "file": "double.gsd", "stride": 10, "precision": "double"},
            {"type": "xtc", "stride": 10}, {"type": "xtc", "file": "left.xtc", **left},
            {"type": "thermo", "stride": 10, "console_stride": 0},
            {"type": "thermo", "file": "box.h5", "stride": 10, "box": True}]
        self.run_job(job, "out", 40)
        for mine, other, said in (
                ("trajectory.h5", "left.h5", "it has 250 particles, expected 500"),
                ("left.h5", "trajectory.h5", "it has 500 particles, expected 250"),
                ("trajectory.h5", "bare.h5", "it has no velocity"),
                ("bare.h5", "trajectory.h5", "it has velocity"),
                ("trajectory.h5", "double.h5", "its positions are in double precision"),
                ("trajectory.h5", "rounded.h5", "its positions are rounded, or"),
                ("trajectory.h5", "thermo.h5", "it has no /particles/all/position/value"),
                ("trajectory.gsd", "left.gsd", "it has 250 particles, expected 500"),
                ("trajectory.gsd", "bare.gsd", "it has no image"),
                ("trajectory.gsd", "double.gsd", "it is not in single precision"),
                ("trajectory.xtc", "left.xtc", "it has 250 particles, expected 500"),
                ("thermo.h5", "box.h5", "it has .* columns, expected"),
                ("box.h5", "thermo.h5", "it has no column"),
                ("thermo.h5", "trajectory.h5", "it has no /observables")):
            with self.subTest(f"{other} as {mine}"):
                shutil.rmtree(self.path("swapped"), ignore_errors=True)
                shutil.copytree(self.path("out"), self.path("swapped"))
                shutil.copy(self.path("out", other), self.path("swapped", mine))
                done = self.perrin("resume", "swapped/checkpoint.h5", "--set",
                                   "stages[0].steps=60")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, f"{mine}: cannot be continued: {said}.* it is not "
                                              "the file of this observer")
                with open(self.path("out", other), "rb") as before, \
                        open(self.path("swapped", mine), "rb") as after:
                    self.assertEqual(before.read(), after.read())
        self.resume("out", 60)

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
