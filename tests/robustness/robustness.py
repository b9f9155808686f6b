#!/usr/bin/python3
"""Bad input, full disks, signals and kills, against the real program.

    robustness.py PERRIN OTHER_VERSION_PLUGIN BAD_PLUGIN [unittest arguments]

Every mistake must give one clear message and the right exit status: 2 for the user's, 3 where the
run goes wrong; and nothing may be lost.
"""

import copy
import json
import os
import random
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

import reseal

PERRIN, OTHER_VERSION_PLUGIN, BAD_PLUGIN = sys.argv[1:4]
DEVICE = os.environ.get("PERRIN_TEST_DEVICE", "cpu")
if DEVICE != "cpu" and "cuda:0" not in subprocess.run([PERRIN, "info"], capture_output=True,
                                                      text=True).stdout:
    print("skipped: no CUDA device")
    sys.exit(77)

JOB = {
    "system": {"type": "lattice", "density": 0.8, "cells": [4, 4, 4]},
    "velocity": {"temperature": 0.7},
    "seed": 11,
    "forces": [{"type": "lennard_jones", "cutoff": 2.5,
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "observers": [{"type": "trajectory", "stride": 10,
                   "quantities": ["position", "image", "velocity"]},
                  {"type": "thermo", "stride": 5}],
    "stages": [{"type": "md", "steps": 40,
                "integrator": {"type": "velocity_verlet", "timestep": 0.005}}],
}


class Robustness(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-robustness-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write_job(self, job, name="job.json"):
        text = job if isinstance(job, str) else json.dumps(job, indent=1)
        with open(self.path(name), "w") as out:
            out.write(text)
        return self.path(name)

    def perrin(self, *arguments, environment=None):
        done = subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "OMP_NUM_THREADS": "1",
                                                **(environment or {})})
        self.assertNotIn("terminate called", done.stderr)
        return done

    def run_job(self, job, *arguments, **options):
        return self.perrin("run", self.write_job(job), "--device", DEVICE, "--threads", "1",
                           *arguments, **options)

    def test_two_entries_in_two_dimensions(self):
        def job(system, center):
            return {"seed": 1, "system": system, "forces": [
                        {"type": "harmonic_trap", "stiffness": [1, 1], "center": center}],
                    "stages": [{"type": "md", "steps": 2, "integrator": {
                        "type": "velocity_verlet", "timestep": 0.001}}]}
        flat = {"type": "random", "dimension": 2, "particles": {"A": 10}, "box": [8, 6],
                "periodic": [True, False], "min_distance": 0.5}
        for system in [flat, {"type": "lattice", "structure": "square", "density": 0.5,
                              "cells": [4, 3]}]:
            done = self.run_job(job(system, [0.5, 0]), "--overwrite")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"12 particles")
        deep = {"type": "lattice", "density": 0.5, "cells": [4, 4, 4]}
        self.refused(job(deep, [0, 0, 0]), r"forces\[0\].stiffness: must be a list of 3 entries: "
                     r"the system has three dimensions")
        self.refused(job({**deep, "cells": [4, 4]}, [0, 0, 0]),
                     r"system.cells: must be a list of 3")
        self.refused(job({**flat, "dimension": 3, "periodic": [True] * 3}, [0, 0, 0]),
                     r"system.box: must be a list of 3")

    def refused(self, job, pattern, *arguments, **options):
        """The job is refused with status 2, one line on the pattern, and no output file."""
        before = set(os.listdir(self.folder))
        done = self.run_job(job, *arguments, **options)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")
        left = set(os.listdir(self.folder)) - before - {"job.json"}
        self.assertEqual(left, set(), "files were left behind")
        return done.stderr

    def changed(self, change):
        job = copy.deepcopy(JOB)
        change(job)
        return job

    # -- the job file ----------------------------------------------------------------------------

    def test_good_job(self):
        done = self.run_job(JOB)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        for word in ("256 particles", "CPU|NVIDIA", "mixed|double", "neighbours", "forces",
                     "integration",
                     "output", "100 %"):
            self.assertRegex(done.stdout, word)
        with h5py.File(self.path("trajectory.h5")) as file:
            self.assertEqual(list(file["particles/all/position/step"][:]), [0, 10, 20, 30, 40])

    def test_quiet_formula(self):
        """What is compiled is said, but not with --quiet."""
        os.makedirs(self.path("cache"))
        environment = {**os.environ, "PERRIN_CACHE": self.path("cache"),
                       "PERRIN_COMPILER": "/bin/false"}
        job = copy.deepcopy(JOB)
        job["forces"] = [{"type": "external_formula", "energy": "k*x", "types": {"A": {"k": 1}}}]
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out)
        for quiet in ([], ["--quiet"]):
            done = subprocess.run([PERRIN, "run", "job.json", "--device", DEVICE, *quiet],
                                  cwd=self.folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("could not be compiled", done.stderr)
            self.assertEqual("compiling" in done.stderr, not quiet)

    def test_show(self):
        """Strict JSON of a job with comments, with --set applied; every example."""
        with open(self.path("job.json"), "w") as out:
            out.write('{ // one\n "seed": 18446744073709551615, /* two */ "stages": []}')
        done = self.perrin("show", "job.json", "--set", "title=new")
        self.assertEqual(json.loads(done.stdout),
                         {"seed": 18446744073709551615, "stages": [], "title": "new"})
        self.assertEqual(self.perrin("show", "none.json").returncode, 2)

    def test_missing_type_names_those_of_plugins(self):
        job = copy.deepcopy(JOB)
        job["stages"] = [{"steps": 1}]
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out)
        done = self.perrin("run", "job.json")
        self.assertRegex(done.stderr, 'stages\\[0\\]: the key "type" is missing.*neutron_slab')

    def test_quiet(self):
        done = self.run_job(JOB, "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_truncated_json(self):
        text = json.dumps(JOB, indent=1)
        error = self.refused(text[:len(text) // 2], r"job\.json:\d+:\d+: .*")
        self.assertEqual(len(error.splitlines()), 1)

    def test_missing_job(self):
        done = self.perrin("run", "nowhere.json")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"nowhere\.json: cannot be read: No such file")

    def test_wrong_types(self):
        def change(job):
            job["forces"][0]["cutoff"] = "long"
            job["stages"][0]["steps"] = 1.5
            job["observers"] = {}
        error = self.refused(self.changed(change),
                             r"forces\[0\]\.cutoff: must be a number, positive, "
                             r'got the text "long"')
        self.assertRegex(error, r"stages\[0\]\.steps: must be an integer, got 1\.5")
        self.assertRegex(error, r"observers: must be a list, got an object")
        self.assertEqual(len(error.splitlines()), 3)

    def test_negative_cutoff_with_its_line(self):
        text = json.dumps(self.changed(lambda j: j["forces"][0].update(cutoff=-2.5)), indent=1)
        line = 1 + text[:text.index('"cutoff"')].count("\n")
        self.refused(text,
                     rf"job\.json:{line}: forces\[0\]\.cutoff: must be positive, got -2\.5\n$")

    def test_set_is_named_as_the_place(self):
        self.refused(JOB, r"^--set: forces\[0\]\.cutoff: must be positive, got -1\n$", "--set",
                     "forces[0].cutoff=-1")
        self.refused(JOB, r"^--set: forces\[0\]\.cutoff: must be positive, got -1\n$", "--set",
                     "forces[-1].cutoff=-1")
        self.refused(JOB, r"--set forces\[7\]\.cutoff=1: forces has 1 entry", "--set",
                     "forces[7].cutoff=1")

    def ensemble(self, change, **ensemble):
        def both(job):
            job["ensemble"] = {"count": 3, **ensemble}
            change(job)
        return self.changed(both)

    def test_systems_of_an_ensemble_write_no_file_twice(self):
        def to(file):
            return lambda job: job["observers"][1].update(file=file)
        twice = r"observers\[1\]: .*{} is also written by {}; every output needs a separate file"
        for file, writer in (("../a.h5", "system 0"), (self.path("a.h5"), "system 0"),
                             ("system.json", "the ensemble"), ("../2/system.json", "the ensemble"),
                             ("../ensemble.json", "the ensemble")):
            with self.subTest(file):
                name = re.escape(os.path.basename(file))
                self.refused(self.ensemble(to(file)), twice.format(name, writer), "--overwrite")
        self.refused(self.ensemble(
            to("../exchange.csv"), vary={"stages[0].integrator.temperature": [1, 1.1, 1.2]},
            exchange={"type": "replica", "every": 10}) | {"stages": [
                {"type": "md", "steps": 40, "integrator": {
                    "type": "bussi", "timestep": 0.005, "temperature": 1, "tau": 1}}]},
            twice.format(r"exchange\.csv", "the ensemble"), "--overwrite")
        done = self.run_job(self.ensemble(to("a.h5")), "--output-dir", "good")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_paths_that_vary(self):
        def nothing(job):
            pass
        done = self.run_job(self.ensemble(nothing, vary={"stages[-1].steps": [5, 10, 15]}),
                            "--output-dir", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        for k in range(3):
            with open(self.path("out", str(k), "system.json")) as file:
                self.assertEqual(json.load(file)["values"]["stages[0].steps"], 5 * k + 5)
        for other in ("stages.0.steps", "stages[00].steps", '["stages"][0].steps',
                      "stages[-1].steps"):
            self.refused(self.ensemble(nothing, vary={"stages[0].steps": [1, 2, 3],
                                                      other: [4, 5, 6]}),
                         r"is the same setting as ensemble\.vary.*: give it once")
        self.refused(self.ensemble(nothing, vary={"stages[-2].steps": [1, 2, 3]}),
                     r"stages has 1 entry: expected \[-1\]")
        self.refused(self.ensemble(nothing, vary={'["device"]': ["cpu"] * 3}),
                     r"all systems of an ensemble are on one device")

    def test_schedules_are_said_where_they_are_written(self):
        def thermo(**settings):
            return lambda job: job["observers"][1].update(settings)
        self.refused(self.changed(thermo(stride=[50, 3])),
                     r"observers\[1\]\.stride\[1\]: must be greater than the step before, 50, "
                     r"got 3")
        self.refused(self.changed(thermo(stride={"log": -5})),
                     r"observers\[1\]\.stride\.log: must be .*got -5")
        self.refused(self.changed(thermo(stride={"log": 5}, schedule={"log": 5})),
                     r'observers\[1\]\.stride: must be an integer beside "schedule"')
        self.refused(self.changed(thermo(stride=5, schedule={"steps": [5, 2]})),
                     r"observers\[1\]\.schedule\.steps\[1\]: must be greater")

    def test_bond_rules_without_use(self):
        def rules(job):
            rule = {"types": ["A", "A"], "bond": "b", "distance": 1.2}
            job["dynamic_bonds"] = {"stride": 10, "valence": {"A": 2}, "form": [
                rule, {**rule, "probability": 0}, rule]}
            job["forces"].append({"type": "bond_harmonic", "bonds": {
                "b": {"stiffness": 30, "length": 1}}})
        done = self.perrin("validate", self.write_job(self.changed(rules)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("form[1].probability: warning: is 0, so that the rule has no effect",
                      done.stderr)
        self.assertIn("form[2]: warning: is the same rule as dynamic_bonds.form[0]", done.stderr)

    def convert(self, *arguments):
        done = self.perrin("convert", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def ids_in(self, name):
        """As the formats write them: h5py's and the text's, not Perrin's."""
        if name.endswith(".h5"):
            with h5py.File(self.path(name)) as file:
                return list(file["particles/all/id"][:])
        with open(self.path(name)) as file:
            lines = file.read().splitlines()
        self.assertIn(":id:I:1", lines[1])
        column = sum(int(width) for width in re.search(r"Properties=(.*?):id:I:1", lines[1])[1]
                     .split(":")[2::3])
        return [int(line.split()[column]) for line in lines[2:2 + int(lines[0])]]

    def test_convert_keeps_ids(self):
        def few(job):
            job["groups"] = {"few": {"ids": [3, 7, 10, 100]}}
            job["observers"] = [{"type": kind, "stride": 10, "group": "few", "file": "few." + end}
                                for kind, end in (("trajectory", "h5"), ("gsd", "gsd"))]
        self.assertEqual(self.run_job(self.changed(few)).returncode, 0)
        with open(self.path("few.xyz"), "w") as out:
            out.write('4\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:id:I:1\n'
                      "A 1 1 1 100\nA 2 2 2 7\nA 3 3 3 3\nA 4 4 4 10\n")
        with open(self.path("few.data"), "w") as out:
            out.write("x\n\n4 atoms\n1 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\n"
                      "Atoms # atomic\n\n100 1 1 1 1\n7 1 2 2 2\n3 1 3 3 3\n10 1 4 4 4\n")
        for source in ("few.h5", "few.gsd", "few.xyz", "few.data"):
            for end in ("h5", "xyz"):
                with self.subTest(source=source, to=end):
                    self.convert(source, f"a.{end}", "--overwrite")
                    self.assertEqual(self.ids_in(f"a.{end}"), [3, 7, 10, 100])
                    # By way of a third format.
                    self.convert(f"a.{end}", "b.gsd", "--overwrite")
                    self.convert("b.gsd", f"c.{end}", "--overwrite")
                    self.assertEqual(self.ids_in(f"c.{end}"), [3, 7, 10, 100])
            for end in ("data", "gro", "pdb"):
                said = self.convert(source, f"d.{end}", "--overwrite", "--frame", "0")
                self.assertIn("ids of particles are left out", said)

    def test_convert_of_frames_that_are_not_there(self):
        self.assertEqual(self.run_job(JOB).returncode, 0)  # five frames
        for frame in (5, -6, -7, -10, -11):
            done = self.perrin("convert", "trajectory.h5", "a.xyz", "--frame", str(frame))
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(f"no frame {frame}: the file has 5 frames", done.stderr)
        self.convert("trajectory.h5", "a.xyz", "--frame", "-5")
        with open(self.path("a.xyz")) as file:
            self.assertRegex(file.read(), r"\bStep=0\b")
        done = self.perrin("convert", "trajectory.h5", "b.h5", "--decimals", "2")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("expected --compression rounded", done.stderr)

    def test_steps_and_times_that_convert_is_told_nothing_of(self):
        def frames(*comments):
            with open(self.path("a.xyz"), "w") as out:
                for k, comment in enumerate(comments):
                    out.write('1\nLattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3 '
                              f"{comment}\nA {k} 1 1\n")

        def said(end):
            return self.convert("a.xyz", "b." + end, "--overwrite")
        none = "0 in all frames: the input has no others"
        frames("", "", "")
        for end in ("h5", "xtc", "gro", "xyz"):
            self.assertIn("steps and times are " + none, said(end))
        self.assertIn("steps are " + none, said("gsd"))  # most of these have no times
        frames("Step=10", "Step=20")
        self.assertIn("times are " + none, said("h5"))
        self.assertNotIn(none, said("gsd"))
        frames("Time=1", "Time=2")
        self.assertIn("steps are " + none, said("h5"))
        for steps in ((20, 10, 30), (10, 10, 20)):
            frames(*(f"Step={step} Time={step}" for step in steps))
            self.assertIn(f"b.h5: step 10 follows step {steps[0]}: in H5MD steps increase",
                          said("h5"))
            self.assertEqual(said("gsd"), "")
        frames("Step=10 Time=1", "Step=20 Time=2")
        self.assertEqual(said("h5"), "")
        frames("")
        self.assertEqual(said("h5"), "")

    def test_steps_of_data_files(self):
        self.assertEqual(self.run_job(JOB).returncode, 0)
        self.convert("trajectory.h5", "a.data")
        self.convert("a.data", "a.gsd")
        self.convert("a.gsd", "a.xyz")
        with open(self.path("a.xyz")) as file:
            self.assertRegex(file.read(), r"\bStep=40\b")

    def test_examples_are_listed_and_copied(self):
        done = self.perrin("examples")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"01-lennard-jones-fluid +Lennard-Jones liquid\n")
        self.assertEqual(self.perrin("examples", "01", "mine").returncode, 0)
        done = self.perrin("validate", "mine/job.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words, said in ((("01", "mine"), "mine exists: nothing was copied"),
                            (("fluids",), "unknown example"), (("0",), "matches 1")):
            done = self.perrin("examples", *words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)

    def test_cutoff_beyond_half_the_box(self):
        self.refused(self.changed(lambda j: j["forces"][0].update(cutoff=4)),
                     r"forces\[0\]\.cutoff: must be at most 3\.4.*, half the shortest distance "
                     r"between opposite faces of the box, got 4")

    def test_unknown_names(self):
        def change(job):
            job["forces"][0]["type"] = "lennard_jone"
            job["stages"][0]["integrator"]["timestp"] = 1
            job["observer"] = []
        error = self.refused(self.changed(change),
                             r'forces\[0\]\.type: unknown force "lennard_jone"; did you mean '
                             r'"lennard_jones"\?')
        self.assertRegex(error, r'integrator\.timestp: unknown key; did you mean "timestep"\?')
        self.assertRegex(error, r'observer: unknown key; did you mean "observers"\?')

    def test_missing_coefficients(self):
        self.refused(self.changed(lambda j: j["system"].update(types={"A": 1, "B": 1})),
                     r"forces\[0\]\S*: .*\bB\b")

    def test_unknown_particle_type(self):
        self.refused(self.changed(lambda j: j["forces"][0]["pairs"][0].update(types=["A", "C"])),
                     r'forces\[0\]\.pairs\[0\]\.types\S*: unknown particle type "C"; the system '
                     r'has A')

    def test_no_stages_and_no_system(self):
        self.refused(self.changed(lambda j: j.update(stages=[])), r"stages: must have at least one")
        self.refused(self.changed(lambda j: j.pop("stages")), r'the key "stages" is missing')
        self.refused(self.changed(lambda j: j.pop("system")), r'"system"')

    def test_bad_command_line(self):
        for arguments in (["run"], ["run", "job.json", "--devise", "cpu"], ["dance"], [],
                          ["run", "job.json", "--threads", "0"]):
            self.assertEqual(self.perrin(*arguments).returncode, 2, arguments)
        self.write_job(JOB)
        for arguments in (["--device", "abacus"], ["--time-limit", "soon"]):
            done = self.perrin("run", "job.json", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(arguments[0], done.stderr)

    def test_validate_reports_the_same_and_touches_nothing(self):
        bad = self.write_job(self.changed(lambda j: j["forces"][0].update(cutoff=4)))
        done = self.perrin("validate", bad)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "half the shortest distance")
        good = self.write_job(JOB)
        done = self.perrin("validate", good)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["job.json"])

    # -- extremes --------------------------------------------------------------------------------

    def refused_at_once(self, job, pattern, *arguments, seconds=1.0):
        """Status 2 and one clear sentence, soon; a busy machine gets a second try and some
        patience."""
        for attempt in range(3):
            begin = os.times()
            error = self.refused(job, pattern, *arguments)
            end = os.times()
            used = (end.children_user + end.children_system - begin.children_user
                    - begin.children_system)
            if used < seconds:
                break
        self.assertLess(used, seconds)
        return error

    def test_extreme_numbers(self):
        atom = {"type": "random", "particles": {"A": 10}, "box": [10, 10, 10], "min_distance": 0.9}
        box = lambda edge: self.changed(lambda j: j.update(system={**atom, "box": [edge] * 3}))
        self.refused_at_once(box(1e300),
                             r"system\.box\[0\]: must be 0 or from 1e-37 to 1e\+?37 in magnitude")
        self.refused_at_once(box(1e30),
                             r"system: edges and heights of the box must be from 1e-18 to 1e\+?18")
        self.refused_at_once(self.from_file("huge.xyz",
                                            self.xyz([(1, 2, 3), (4, 5, 6)], box=1e300)),
                             r"edges and heights of the box must be from 1e-18 to 1e\+?18|box")
        self.refused_at_once(self.changed(lambda j: j["system"].update(density=1e-320)),
                             r"system\.density: must be")
        self.refused_at_once(self.changed(lambda j: (j["system"].pop("density"),
                                                     j["system"].update(lattice_constant=1e19))),
                             r"system: edges and heights of the box must be")
        for cutoff in (1e-320, 1e-300, 1e300):
            self.refused_at_once(self.changed(lambda j: j["forces"][0].update(cutoff=cutoff)),
                                 r"forces\[0\]\.cutoff: must be")
        far = self.changed(lambda j: j["stages"][0]["integrator"].update(timestep=1e300))
        self.refused_at_once(far, r"timestep: must be")

    def test_extreme_counts(self):
        def system(**of):
            return self.changed(lambda j: j.update(system=of))
        large = 2**63 - 1
        self.refused_at_once(self.changed(lambda j: j["stages"][0].update(steps=2**63)),
                             r"stages\[0\]\.steps: must be an integer from")
        for many in (large, 2**32, 2**32 - 2):
            self.refused_at_once(system(type="random", particles={"A": many, "B": many},
                                        density=0.1),
                                 r"system\.particles: too many")
            self.refused_at_once(system(type="lattice", particles=many, density=0.1),
                                 r"system\.particles: (too many|must be)")
            self.refused_at_once(system(type="chains", chains=many, pattern="A100", density=0.1,
                                        bond_length=0.97),
                                 r"system\.chains: (too many|must be)")
        self.refused_at_once(system(type="chains", chains=2, pattern=[["A", large], ["B", large]],
                                    density=0.1,
                                    bond_length=0.97),
                             r"system\.chains: too many")
        self.refused_at_once(system(type="random", densities={"A": 1e30}, box=[10, 10, 10]),
                             r"system\.densities: too many")
        self.refused_at_once(system(type="lattice", cells=[2**31 - 1] * 3, density=0.1),
                             r"system\.cells: too many")

    def test_extreme_jobs(self):
        many = [{"type": "thermo", "stride": 5, "file": f"{i}.h5"} for i in range(100000)]
        error = self.refused_at_once(self.changed(lambda j: j.update(observers=many)),
                                     r"observers: must have at most 4096 entries, got 100000",
                                     seconds=2.0)
        self.assertEqual(len(error.splitlines()), 1)
        self.refused_at_once('{"title": ' + "[" * 1000000,
                             r"job\.json:1: lists and objects .* nested")
        self.refused_at_once('{"a":' * 200000, r"job\.json:1: lists and objects .* nested")
        self.refused_at_once(JOB, r"^--set title=\[+.{0,10}: lists and objects .* nested",
                             "--set",
                             "title=" + "[" * 50000 + "]" * 50000)
        for bad in (b"title=\xff\xfe", b"title=\"\xc3\x28\"", b"\xff=1"):
            self.refused_at_once(JOB, r"^--set .*: is not valid UTF-8", "--set", bad)

    def used_by(self, *arguments):
        """CPU seconds of a command that must succeed; the best of three, for machines are busy."""
        best = float("inf")
        for attempt in range(3):
            begin = os.times()
            done = self.perrin(*arguments)
            end = os.times()
            self.assertEqual(done.returncode, 0, done.stderr)
            best = min(best, end.children_user + end.children_system
                       - begin.children_user - begin.children_system)
        return best

    def test_3000_observers(self):
        """A run costs in proportion to their number, and does not need a file descriptor or a
        megabyte for each; a check compares names of each two, and no more."""
        def job(number):
            return self.changed(lambda j: (
                j["stages"][0].update(steps=4), j["forces"][0].update(cutoff=1.5),
                j.update(observers=[{"type": "thermo", "stride": 2, "file": f"{i}.h5"}
                                    for i in range(number)])))
        start = self.used_by("validate", self.write_job(job(1)))  # CUDA's among others
        check = {number: self.used_by("validate", self.write_job(job(number))) - start
                 for number in (750, 3000)}
        self.assertLess(check[3000], 16 * check[750] + 0.5)
        seconds = {}
        for number in (100, 400):
            seconds[number] = self.used_by("run", self.write_job(job(number)), "--device", DEVICE,
                                           "--quiet", "--overwrite")
        # Nothing in a start of theirs goes with the square of the number (16) but the job that
        # every file records.
        self.assertLess(seconds[400], 9 * seconds[100])
        for i in (0, 399):
            with h5py.File(self.path(f"{i}.h5")) as file:
                self.assertEqual(list(file["observables/temperature/step"][:]), [0, 2, 4])
        if DEVICE != "cpu":
            return  # the driver of a GPU wants descriptors of its own
        self.write_job(self.changed(lambda j: (
            j["stages"][0].update(steps=4),
            j.update(observers=[{"type": kind, "stride": 2, "file": f"{i}.{kind}"}
                                for i in range(400) for kind in ("thermo", "gsd", "xtc")]))))
        script = f"ulimit -n 100; exec '{PERRIN}' run job.json --quiet --overwrite --device cpu"
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for kind in ("gsd", "xtc"):
            self.assert_alike(f"0.{kind}", f"399.{kind}")

    def assert_alike(self, one, other):
        with open(self.path(one), "rb") as first, open(self.path(other), "rb") as second:
            contents = first.read()
            self.assertGreater(len(contents), 1000)
            self.assertEqual(contents, second.read())

    def test_files_of_many_observers_survive_a_stop(self):
        """More files than are kept open, stopped and resumed: the rows of all of them."""
        job = self.changed(lambda j: j.update(
            observers=[{"type": "thermo", "stride": 3, "file": f"{i}.h5"} for i in range(80)]
            + [{"type": "trajectory", "stride": 10, "file": f"t{i}.h5"} for i in range(40)]
            + [{"type": kind, "stride": 10, "file": f"{kind}{i}"}
               for i in range(3) for kind in ("gsd", "xtc")]))
        self.write_job(job)
        done = self.perrin("run", "job.json", "--device", DEVICE, "--quiet", "--set",
                           "stages[0].steps=1000000000", "--time-limit", "2s")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.path("checkpoint.h5")) as file:
            step = int(file["state/simulation/step"][0])
        done = self.perrin("resume", "checkpoint.h5", "--quiet", "--set",
                           f"stages[0].steps={step + 20}")
        self.assertEqual(done.returncode, 0, done.stderr)
        for kind in ("gsd", "xtc"):
            self.assert_alike(f"{kind}0", f"{kind}2")
        for i in (0, 31, 32, 79):
            with h5py.File(self.path(f"{i}.h5")) as file:
                steps = file["observables/temperature/step"][:]
                self.assertEqual(list(steps), list(range(0, step + 21, 3)))
        for i in (0, 39):
            with h5py.File(self.path(f"t{i}.h5")) as file:
                self.assertEqual(list(file["particles/all/position/step"][:]),
                                 list(range(0, step + 21, 10)))

    def test_convert_says_what_it_leaves_out(self):
        atoms = "\n".join(f"{i} 1 1 {i}.5 1 1" for i in range(1, 5))
        with open(self.path("chain.data"), "w") as out:
            out.write("a chain\n\n4 atoms\n1 atom types\n3 bonds\n1 bond types\n1 dihedrals\n"
                      "1 dihedral types\n\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\n"
                      f"Atoms # molecular\n\n{atoms}\n\nBonds\n\n1 1 1 2\n2 1 2 3\n3 1 3 4\n\n"
                      "Dihedrals\n\n1 1 1 2 3 4\n")
        for out, said in {"chain.h5": "", "chain.gsd": "molecules are left out",
                          "chain.xyz": "bonds, angles and dihedrals are left out",
                          "again.data": "names of types"}.items():
            done = self.perrin("convert", "chain.data", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stderr)
            if not said:
                self.assertEqual(done.stderr, "")
        with h5py.File(self.path("chain.h5")) as file:
            self.assertEqual(file["connectivity/dihedrals"][:].tolist(), [[0, 1, 2, 3]])

    def test_convert_reports_what_run_reports(self):
        """No memory: status 3 and a sentence, from every command."""
        with open(self.path("many.xyz"), "w") as out:
            out.write(self.xyz([(i * 0.001, 0, 0) for i in range(200000)], box=1000))
        for limit in range(90000, 40000, -5000):  # KiB; how much the libraries take differs
            script = f"ulimit -v {limit}; exec '{PERRIN}' convert many.xyz many.h5"
            done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True,
                                  text=True,
                                  timeout=120)
            if done.returncode != 0:
                break
            os.remove(self.path("many.h5"))
        if "shared libraries" in done.stderr or "Sanitizer" in done.stderr:
            self.skipTest("does not start in so little memory")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        # Whoever asks for too much: Perrin, or HDF5 for a chunk.
        self.assertRegex(done.stderr,
                         r"^perrin: convert: (out of memory|.*: memory allocation failed)")
        self.assertEqual(os.listdir(self.folder), ["many.xyz"])

    # -- the system ------------------------------------------------------------------------------

    def from_file(self, name, text=None):
        if text is not None:
            with open(self.path(name), "w") as out:
                out.write(text)
        return self.changed(lambda j: j.update(system={"type": "file", "path": name}))

    @staticmethod
    def xyz(points, box=10):
        rows = "".join(f"A {x} {y} {z}\n" for x, y, z in points)
        return (f'{len(points)}\nLattice="{box} 0 0 0 {box} 0 0 0 {box}" '
                f'Properties=species:S:1:pos:R:3 pbc="T T T"\n{rows}')

    def test_missing_input_file(self):
        self.refused(self.from_file("nowhere.xyz"), r"job\.json:\d+: system\S*: .*nowhere\.xyz")

    def test_unreadable_hdf5(self):
        self.refused(self.from_file("bad.h5", "this is no HDF5 file" * 100),
                     r"system\S*: .*bad\.h5")

    def test_hdf5_without_positions(self):
        with h5py.File(self.path("empty.h5"), "w") as file:
            group = file.create_group("h5md")
            group.attrs["version"] = numpy.array([1, 1], dtype="i4")
            file.create_group("particles/all/box").attrs["dimension"] = 3
        self.refused(self.from_file("empty.h5"), r"system\S*: .*empty\.h5.*position")

    def test_zero_particles(self):
        self.refused(self.from_file("none.xyz", self.xyz([])),
                     r"system\S*: .*(no|0|without) particles")

    def test_nan_coordinates(self):
        self.refused(self.from_file("nan.xyz", self.xyz([(1, 2, 3), (4, "nan", 6), (7, 8, 9)])),
                     r"system\S*: .*nan")

    def test_overlapping_start(self):
        points = [(2 * i, 2 * j, 2 * k) for i in range(5) for j in range(5) for k in range(5)]
        for offset in (0, 1e-3):
            points[60] = (points[61][0], points[61][1], points[61][2] + offset)
            error = self.refused(self.from_file("overlap.xyz", self.xyz(points)),
                                 r"particles (are )?60 and 61")
            self.assertRegex(error, "overlap")
            done = self.perrin("validate", "job.json")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, "60 and 61")

    # -- files that are written ------------------------------------------------------------------

    def test_existing_output_is_left_alone(self):
        with open(self.path("trajectory.h5"), "w") as out:
            out.write("precious")
        self.refused(JOB, r"observers\[0\]\S*: .*trajectory\.h5 exists: --overwrite")
        with open(self.path("trajectory.h5")) as kept:
            self.assertEqual(kept.read(), "precious")
        done = self.run_job(JOB, "--overwrite")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.path("trajectory.h5")) as file:
            self.assertEqual(file["particles/all/position/value"].shape, (5, 256, 3))

    def test_one_file_for_two_observers(self):
        self.refused(self.changed(lambda j: j["observers"][1].update(file="trajectory.h5")),
                     r"observers\[1\]\S*: .*also written by observers\[0\]")

    def test_unwritable_folder(self):
        with open(self.path("file"), "w") as out:
            out.write("precious")
        self.refused(JOB, r"cannot write .*file", "--output-dir", self.path("file", "below"))
        self.refused(JOB, r"cannot .*(/proc/perrin|/proc)", "--output-dir", "/proc/perrin")

    def test_full_disk(self):
        """On a tmpfs of 400 KiB: status 3, and the frames that fitted can be read."""
        job = self.changed(lambda j: (j["stages"][0].update(steps=2000),
                                      j["observers"][0].update(stride=2)))
        self.write_job(job)
        os.mkdir(self.path("small"))
        script = ("mount -t tmpfs -o size=400k tmpfs small || exit 77; "
                  f"'{PERRIN}' run job.json --device {DEVICE} --threads 1 --output-dir small; "
                  f"status=$?; "
                  "cp small/*.h5 .; exit $status")
        done = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", script],
                              cwd=self.folder, capture_output=True, text=True, timeout=120)
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest("no tmpfs can be mounted here: " + done.stderr)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"perrin: the run stopped: .*\.h5.*No space left on device")
        with h5py.File(self.path("trajectory.h5")) as file:
            frames = file["particles/all/position/value"]
            self.assertGreater(len(frames), 3)
            self.assertTrue(numpy.isfinite(frames[:]).all())

    def test_validate_looks_at_outputs(self):
        self.assertEqual(self.run_job(JOB).returncode, 0)
        done = self.perrin("validate", "job.json")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"observers\[0\]\S*: .*trajectory\.h5 exists")
        self.assertRegex(done.stderr, r"observers\[1\]\S*: .*thermo\.h5 exists")
        for more in (["--overwrite"], ["--output-dir", "elsewhere"]):
            done = self.perrin("validate", "job.json", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(self.path("elsewhere")))

    def test_mistyped_absolute_path(self):
        wrong = self.path("mistyped", "runs", "t.h5")
        self.refused(self.changed(lambda j: j["observers"][0].update(file=wrong)),
                     r"observers\[0\]\.file: the folder .*mistyped/runs does not exist")
        self.refused(JOB, r"--output-dir: the folder .*/mistyped does not exist", "--output-dir",
                     self.path("mistyped", "runs"))
        # The last folder of a run, and folders below it, are made.
        job = self.changed(lambda j: j["observers"][0].update(file="below/t.h5"))
        self.assertEqual(self.run_job(job, "--output-dir", self.path("made")).returncode, 0)
        self.assertTrue(os.path.exists(self.path("made", "below", "t.h5")))

    def test_only_regular_files_are_replaced(self):
        with open(self.path("precious"), "w") as out:
            out.write("precious")
        os.symlink("precious", self.path("link"))
        os.symlink("nowhere", self.path("dangling"))
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        for name, what in (("link", "symbolic link"), ("dangling", "symbolic link"),
                           ("pipe", "a pipe"),
                           ("folder", "is a folder"), ("/dev/null", "a device")):
            self.refused(self.changed(lambda j: j["observers"][0].update(file=name)),
                         rf"observers\[0\]\.file: .*{what}", "--overwrite")
        self.write_job(JOB, "whole.json")
        self.assertEqual(self.perrin("run", "whole.json", "--output-dir", "whole").returncode, 0)
        for name in ("link", "pipe", "folder"):
            done = self.perrin("convert", "whole/trajectory.h5", name, "--to", "xyz", "--overwrite")
            self.assertEqual(done.returncode, 2, name)
        with open(self.path("precious")) as kept:
            self.assertEqual(kept.read(), "precious")

    def test_a_stopped_run_leaves_another_checkpoint_alone(self):
        """The checkpoint of a stopped run is an output as all others."""
        for name in ("checkpoint.h5", "checkpoint.h5.prev"):
            with open(self.path(name), "w") as out:
                out.write("precious")
            job = self.changed(lambda j: j["stages"][0].update(steps=10**9))
            self.refused(job, rf"{name} exists: ", "--time-limit", "0.2s")
            with open(self.path(name)) as kept:
                self.assertEqual(kept.read(), "precious")
            os.remove(self.path(name))

    def test_one_run_per_folder(self):
        self.write_job(self.changed(lambda j: j["stages"][0].update(steps=10**9)))
        first = self.start("out")
        self.wait_for(first, self.path("out", "thermo.h5"), "thermo table")
        other = self.changed(lambda j: (j.update(seed=12),
                                        j["observers"][0].update(file="other.h5"),
                                        j["observers"].pop(1)))
        self.write_job(other, "other.json")
        for more in ([], ["--overwrite"]):
            second = self.perrin("run", "other.json", "--output-dir", "out", *more)
            self.assertEqual(second.returncode, 2)
            self.assertRegex(second.stderr,
                             rf"out: another run \(process {first.pid} on .*\) is writing")
        first.send_signal(signal.SIGTERM)
        out, error = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, error)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["checkpoint.h5", "perrin.log", "thermo.h5", "trajectory.h5"])
        # A run and one that goes on from a checkpoint in the same folder, which is the other's
        # output.
        self.assertEqual(self.perrin("run", "other.json", "--output-dir", "out", "--set",
                                     "observers[0].file=beside.h5").returncode, 2)
        resumed = subprocess.Popen([PERRIN, "resume", "out/checkpoint.h5"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(resumed.communicate)
        self.addCleanup(resumed.kill)
        self.wait_for(resumed, self.path("out", ".perrin.lock"), "lock")
        second = self.perrin("resume", "out/checkpoint.h5")
        self.assertEqual(second.returncode, 2)
        self.assertRegex(second.stderr, rf"another run \(process {resumed.pid} ")
        # The lock dies with its process.
        resumed.kill()
        resumed.communicate(timeout=60)
        self.assertTrue(os.path.exists(self.path("out", ".perrin.lock")))
        done = self.perrin("resume", "out/checkpoint.h5", "--time-limit", "0.3s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(self.path("out", ".perrin.lock")))

    def test_folder_deleted_in_mid_run(self):
        self.write_job(self.changed(lambda j: j["stages"][0].update(steps=10**9)))
        process = self.start("out")
        self.wait_for(process, self.path("out", "thermo.h5"), "thermo table")
        while os.path.getsize(self.path("out", "thermo.h5")) < 2**19 and process.poll() is None:
            time.sleep(0.005)  # until rows are written: the file is then longer than its contents
        shutil.rmtree(self.path("out"))
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, error)
        self.assertRegex(error, r"(trajectory|thermo)\.h5: was deleted, moved or replaced")

    def test_full_disk_behind_standard_output(self):
        self.write_job(self.changed(lambda j: j["observers"][1].update(console_stride=5)))
        for arguments in (["run", "job.json"], ["run", "job.json", "--overwrite"],
                          ["validate", "job.json", "--output-dir", "elsewhere"],
                          ["help"], ["schema"], ["info"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PERRIN, *arguments], cwd=self.folder, stdout=full, text=True,
                                      stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertRegex(done.stderr,
                             "perrin: .*No space left on device|perrin: .*earlier write")
        # What is closed does not become one of the files.
        done = subprocess.run(f"'{PERRIN}' run job.json --output-dir closed >&-", shell=True,
                              cwd=self.folder,
                              timeout=60)
        self.assertEqual(done.returncode, 0)
        with h5py.File(self.path("closed", "trajectory.h5")) as file:
            self.assertEqual(len(file["particles/all/position/value"]), 5)

    def test_info_says_which_fourier_transforms_a_gpu_has(self):
        done = subprocess.run([PERRIN, "info"], capture_output=True, text=True)
        self.assertRegex(done.stdout, r"cuFFT +(\d+\.\d+\.\d+|not built in)\n"
                         if "CUDA        not" not in done.stdout else "^Perrin")

    # -- plug-ins --------------------------------------------------------------------------------

    def test_missing_plugin(self):
        self.refused(self.changed(lambda j: j.update(plugins=["absent"])),
                     r'job\.json:\d+: plugins\[0\]: cannot find plug-in "absent"; tried '
                     r'/nowhere/absent\.so \(No such file or directory\), /.*/absent\.so ',
                     environment={"PERRIN_PLUGIN_PATH": "/nowhere"})

    def test_plugin_for_another_version(self):
        self.refused(self.changed(lambda j: j.update(plugins=[OTHER_VERSION_PLUGIN])),
                     r'plugins\[0\]: .*built as "gcc-1 cpu-only perrin-0\.0\.1", this Perrin as '
                     r'"\S+ .*"')
        # Found on the way to an unknown type, it is named beside the mistake, and stops no other
        # job.
        found = {"PERRIN_PLUGIN_PATH": os.path.dirname(OTHER_VERSION_PLUGIN)}
        error = self.refused(self.changed(lambda j: j["forces"][0].update(type="quark")),
                             r'unknown force "quark"', environment=found)
        self.assertRegex(error, r"this plug-in was not loaded: it was built as")
        self.assertEqual(self.run_job(JOB, environment=found).returncode, 0)
        listed = self.perrin("plugins", environment=found)
        self.assertRegex(listed.stdout, r"refused\n.*built as")

    def test_folders_without_plugins(self):
        """Where a type is unknown, folders that may have been meant to have it are named."""
        for folder, why in (("/nowhere", "is not there"), (self.folder, "holds no plug-in")):
            found = {"PERRIN_PLUGIN_PATH": folder}
            error = self.refused(self.changed(lambda j: j["forces"][0].update(type="quark")),
                                 r'unknown force "quark"', environment=found)
            self.assertRegex(error, f"{folder}: PERRIN_PLUGIN_PATH names this folder, which {why}")
            asked = self.perrin("help", "quark", environment=found)
            self.assertRegex(asked.stderr, f"{folder}: PERRIN_PLUGIN_PATH names .* {why}")
        self.assertEqual(self.run_job(JOB, environment=found).returncode, 0)

    def test_library_that_is_no_plugin(self):
        with open(self.path("broken.so"), "w") as out:
            out.write("not a library")
        self.refused(self.changed(lambda j: j.update(plugins=["./broken.so"])),
                     r"cannot load plug-in .*it is not a plug-in for Perrin: it lacks Perrin's")

    def use_plugin(self, path):
        return self.changed(lambda j: j.update(plugins=[path]))

    def test_plugin_that_is_cut_off(self):
        with open(BAD_PLUGIN, "rb") as file:
            whole = file.read()
        for length in (0, 30, 100, 5000, len(whole) // 2, len(whole) - 1):
            with open(self.path("cut.so"), "wb") as out:
                out.write(whole[:length])
            self.refused(self.use_plugin("./cut.so"),
                         rf"cannot load plug-in .*it is truncated: it has {length} bytes and "
                         r"should have \d+" if length >= 30 else "cannot be read, or is empty")

    def test_plugin_of_other_headers(self):
        """Refused before anything in it runs: its static object would throw."""
        with open(BAD_PLUGIN, "rb") as file:
            whole = file.read()
        mark = re.search(rb" perrin-[0-9.]+ headers-([0-9a-f]{12})", whole).group(1)
        with open(self.path("stale.so"), "wb") as out:
            out.write(whole.replace(mark, b"0123456789ab"))
        self.refused(self.use_plugin("./stale.so"),
                     rf"it was built with other headers of Perrin \(0123456789ab\) than this "
                     rf"Perrin was \({mark.decode()}\): build the plug-in again",
                     environment={"PERRIN_BAD_PLUGIN": "static"})

    def test_plugin_without_a_symbol(self):
        with open(self.path("less.cpp"), "w") as out:
            out.write('namespace mine { void forgotten(int); }\n'
                      'extern const char mark[] = "perrin_1";\n'
                      'extern "C" const void* perrin_plugin() { mine::forgotten(1); return 0; }\n')
        subprocess.run(["g++", "-shared", "-fPIC", "-o", self.path("less.so"),
                        self.path("less.cpp")], check=True)
        self.refused(self.use_plugin("./less.so"),
                     r"undefined symbol: mine::forgotten\(int\): a source file or library")

    def test_plugin_that_throws_when_it_is_loaded(self):
        for way, words in (("static", "a global object threw an exception while it was loaded: "
                            "no licence"),
                           ("throws", "its registration failed: no licence"),
                           ("throws a number", "its registration failed: it threw something")):
            asked = {"PERRIN_BAD_PLUGIN": way}
            self.refused(self.use_plugin(BAD_PLUGIN), "cannot load plug-in .*" + words,
                         environment=asked)
            # Nothing of it is there, and another job is not stopped by it.
            asked["PERRIN_PLUGIN_PATH"] = os.path.dirname(BAD_PLUGIN)
            self.assertIn(words, self.perrin("plugins", environment=asked).stdout)
            self.assertEqual(self.perrin("help", "bad_force", environment=asked).returncode, 2)
            self.assertEqual(
                self.run_job(JOB, "--overwrite", environment=asked).returncode, 0)

    def test_plugin_whose_force_is_not_finite(self):
        for step, words in ((0, r"the force of bad_force on particle 0|bad_force"),
                            (10, r"perrin: the run stopped: step 1\d: particle \d+: .*finite")):
            job = self.use_plugin(BAD_PLUGIN)
            job["forces"].append({"type": "bad_force", "does": "nan", "step": step})
            done = self.run_job(job, "--overwrite")
            self.assertIn(done.returncode, (2, 3), done.stderr)
            self.assertRegex(done.stderr, words)

    @unittest.skipIf(DEVICE == "cpu", "steps are recorded on GPUs alone")
    def test_plugin_that_allocates_or_waits_in_a_step(self):
        for does, words in (("allocate", "allocated memory"), ("wait", "copied to the host")):
            job = self.use_plugin(BAD_PLUGIN)
            job["forces"].append({"type": "bad_force", "does": does, "step": 0})
            done = self.run_job(job, "--overwrite")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, f"a force or integrator {words} inside a step")

    def test_shipped_plugin_is_found_by_its_type(self):
        done = self.run_job(self.changed(lambda j: j["forces"].append(
            {"type": "exponential_repulsion", "cutoff": 2,
             "pairs": [{"types": ["A", "A"], "amplitude": 0.1, "lambda": 0.5}]})))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"plug-ins +example_force 1\.0")

    # -- while it runs ---------------------------------------------------------------------------

    def test_particle_that_flies_off(self):
        def change(job):
            job["forces"].append({"type": "constant_force", "force": [1e4, 0, 0]})
            job["observers"][0]["stride"] = 1
        done = self.run_job(self.changed(change))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"perrin: the run stopped: step \d+: particle \d+.*")
        with h5py.File(self.path("trajectory.h5")) as file:
            frames = file["particles/all/position/value"]
            self.assertGreater(len(frames), 1)
            self.assertTrue(numpy.isfinite(frames[:]).all())

    LONG = 1200

    def long_job(self):
        def change(job):
            job["stages"][0]["steps"] = self.LONG // 3
            second = copy.deepcopy(job["stages"][0])
            second.update(steps=self.LONG - self.LONG // 3, integrator={
                "type": "bussi", "timestep": 0.004, "temperature": 0.8, "tau": 0.1})
            job["stages"].append(second)
            job["observers"].append({"type": "checkpoint", "steps": 50})
        return self.changed(change)

    def start(self, folder):
        process = subprocess.Popen([PERRIN, "run", "job.json", "--device", DEVICE, "--threads", "1",
                                    "--output-dir", folder], cwd=self.folder,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def run_whole(self):
        process = self.start("whole")
        _, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, error)

    def wait_for(self, process, path, what):
        """Until the file can hold something: waiting for it is surer than any time."""
        limit = time.monotonic() + 60
        while not os.path.exists(path) and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.005)
        self.assertTrue(os.path.exists(path), f"no {what}")

    def assert_same_results(self, one, other):
        for name in ("trajectory.h5", "thermo.h5"):
            with h5py.File(self.path(one, name)) as a, h5py.File(self.path(other, name)) as b:
                compared = 0
                datasets = []
                a.visititems(lambda key,
                             item: datasets.append(key) if isinstance(item, h5py.Dataset) else None)
                for key in datasets:
                    if not key.startswith(("particles", "observables")):
                        continue  # the record of the run has its own times
                    one_value, other_value = a[key][()], b[key][()]
                    self.assertEqual(one_value.shape, other_value.shape, f"{name}: {key}")
                    self.assertTrue(numpy.array_equal(one_value, other_value), f"{name}: {key}")
                    compared += 1
                self.assertGreater(compared, 4)

    def test_stopped_and_resumed_is_the_same_run(self):
        self.write_job(self.long_job())
        self.run_whole()
        process = self.start("parts")
        self.wait_for(process, self.path("parts", "checkpoint.h5"), "checkpoint")
        time.sleep(random.Random().uniform(0, 0.5))
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, error)
        match = re.search(r"stopped by SIGTERM at step (\d+); continue with: perrin resume (\S+)",
                          out)
        if not match:
            self.skipTest("the run was over before the signal came")
        done = self.perrin("resume", match[2])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same_results("whole", "parts")

    def test_killed_moved_and_resumed_is_the_same_run(self):
        """Kills in number: campaign.py. Moved as a whole, the folder can still be resumed."""
        self.write_job(self.long_job())
        self.run_whole()
        process = self.start("parts")
        self.wait_for(process, self.path("parts", "checkpoint.h5"), "checkpoint")
        process.kill()
        process.communicate(timeout=60)
        os.rename(self.path("parts"), self.path("moved"))
        done = self.perrin("resume", "moved/checkpoint.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same_results("whole", "moved")

    def test_time_limit(self):
        job = self.changed(lambda j: j["stages"][0].update(steps=10**9))
        done = self.run_job(job, "--time-limit", "0.5s")
        self.assertEqual(done.returncode, 0, done.stderr)
        match = re.search(r"stopped by the time limit of 0\.5 s at step (\d+); .* (\S+)$",
                          done.stdout.strip())
        self.assertTrue(match, done.stdout)
        done = self.perrin("resume", match[2], "--set", f"stages[0].steps={int(match[1]) + 20}")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.path("thermo.h5")) as file:
            steps = file["observables/temperature/step"][:]
            self.assertEqual(list(numpy.diff(steps)), [5] * (len(steps) - 1))
            self.assertGreaterEqual(steps[-1], int(match[1]) + 15)

    def test_hangup_is_a_request_to_stop(self):
        self.write_job(self.changed(lambda j: j["stages"][0].update(steps=10**9)))
        process = self.start("out")
        self.wait_for(process, self.path("out", "thermo.h5"), "thermo table")
        process.send_signal(signal.SIGHUP)
        out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, error)
        self.assertRegex(out,
                         r"stopped by SIGHUP at step \d+; continue with: perrin resume "
                         r"out/checkpoint\.h5")
        self.assertTrue(os.path.exists(self.path("out", "checkpoint.h5")))
        # What the program was started to ignore, it ignores.
        ignoring = subprocess.Popen(["nohup", PERRIN, "run", "job.json", "--output-dir",
                                     "ignoring"],
                                    cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
        self.addCleanup(ignoring.communicate)
        self.addCleanup(ignoring.kill)
        self.wait_for(ignoring, self.path("ignoring", "thermo.h5"), "thermo table")
        ignoring.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            ignoring.wait(timeout=0.5)
        ignoring.send_signal(signal.SIGTERM)
        out, _ = ignoring.communicate(timeout=60)
        self.assertIn("stopped by SIGTERM", out)

    def test_second_signal_stops_at_once(self):
        job = self.changed(lambda j: j["stages"][0].update(steps=10**9))
        self.write_job(job)
        process = self.start("out")
        self.wait_for(process, self.path("out", "thermo.h5"), "thermo table")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        # Either the first was served already, or the second ended the program by its default
        # action.
        self.assertIn(process.returncode, (0, -signal.SIGTERM, -signal.SIGINT))

    # -- checkpoints -----------------------------------------------------------------------------

    def test_not_a_checkpoint(self):
        with h5py.File(self.path("other.h5"), "w") as file:
            file["x"] = 1
        os.mkfifo(self.path("pipe"))
        for name in ("other.h5", "nowhere.h5", "pipe", "."):
            done = self.perrin("resume", name)
            self.assertEqual(done.returncode, 2)
            self.assertIn(name, done.stderr)

    def saved(self):
        """A whole run, twice; its last checkpoint is of the end, the one before of its second
        stage."""
        job = self.changed(lambda j: j["observers"].append({"type": "checkpoint", "steps": 25}))
        job["stages"].append({"type": "md", "steps": 20, "integrator": {
            "type": "bussi", "timestep": 0.004, "temperature": 0.8, "tau": 0.1}})
        self.write_job(job)
        self.run_whole()
        os.rename(self.path("whole"), self.path("saved"))
        self.run_whole()

    def test_damaged_checkpoint(self):
        self.saved()
        path, previous = self.path("saved", "checkpoint.h5"), self.path("saved",
                                                                        "checkpoint.h5.prev")
        with open(path, "rb") as file:
            good = file.read()

        def refused(data, pattern="not a valid checkpoint"):
            os.remove(path)  # the one before may be the same file
            with open(path, "wb") as file:
                file.write(data)
            done = self.perrin("resume", "saved/checkpoint.h5")
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertRegex(done.stderr, r"saved/checkpoint\.h5: .*" + pattern)
            return done.stderr

        rng = random.Random(1)
        places = [0, 11, 28, len(good) - 1,
                  len(good) - 32] + [rng.randrange(len(good)) for _ in range(40)]
        for at in places:
            error = refused(good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1:])
            self.assertRegex(error, r"continue with: perrin resume saved/checkpoint\.h5\.prev")
        for size in (0, 1, 31, 32, 48, len(good) // 2, len(good) - 32, len(good) - 1):
            refused(good[:size])
        refused(good + b"\0")
        # One that another program has written to.
        with open(path, "wb") as file:
            file.write(good)
        with h5py.File(path, "r+") as file:
            file["state/run/stage"][...] = 0
        with open(path, "rb") as file:
            changed = file.read()
        refused(changed)
        # The one before leads on, and checkpoints are written under their own names again.
        os.remove(path)
        error = self.perrin("resume", "saved/checkpoint.h5").stderr
        self.assertRegex(error, r"No such file.*\n.*perrin resume saved/checkpoint\.h5\.prev")
        with open(path, "wb") as file:
            file.write(changed)
        done = self.perrin("resume", "saved/checkpoint.h5.prev")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same_results("whole", "saved")
        self.assertEqual(self.perrin("resume", "saved/checkpoint.h5").returncode, 0)
        # Where none is whole, none is named.
        with open(previous, "wb") as file:
            file.write(changed)
        self.assertNotIn(".prev", refused(good[:100]))

    def test_tampered_checkpoint(self):
        """Whatever the configuration of a checkpoint refers to, made absurd and sealed again:
        refused, or the run goes on; no crash."""
        self.saved()
        path = self.path("saved", "checkpoint.h5")
        os.replace(path + ".prev", path)
        shutil.copytree(self.path("saved"), self.path("good"))
        with h5py.File(path) as file:
            names = [name for name in reseal.records(file) if name.startswith("configuration/")]
        self.assertGreater(len(names), 9)
        changes = {
            "longer": lambda a: numpy.concatenate([a, a[:1]]), "shorter": lambda a: a[:-1],
            "ones": lambda a: numpy.frombuffer(b"\xff" * a.nbytes, dtype=a.dtype),
            "zeros": lambda a: a * 0}
        statuses = {}
        for name in names + ["run/stage"]:
            for what, changed in changes.items():
                shutil.rmtree(self.path("saved"))
                shutil.copytree(self.path("good"), self.path("saved"))
                reseal.change(path, name, changed)
                done = self.perrin("resume", "saved/checkpoint.h5", "--time-limit", "20s")
                self.assertIn(done.returncode, (0, 2, 3), f"{name} {what}: {done.stderr}")
                if done.returncode != 0:
                    self.assertRegex(done.stderr, r"\S", f"{name} {what}")
                statuses[name, what] = done.returncode
        for name in ("run/stage", "configuration/type", "configuration/box"):
            self.assertEqual(statuses[name, "ones"], 2, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
