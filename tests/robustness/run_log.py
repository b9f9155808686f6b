#!/usr/bin/python3
"""The log of a run, perrin.log: what it holds, and that nothing of it is lost.

    run_log.py PERRIN
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PERRIN = sys.argv[1]
JOB = {
    "seed": 1, "system": {"type": "lattice", "density": 0.5, "cells": [5, 5, 5]},
    "velocity": {"temperature": 1},
    "forces": [{"type": "lennard_jones", "cutoff": 2.5,
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "observers": [{"type": "thermo", "stride": 10, "console_stride": 20},
                  {"type": "checkpoint", "file": "state.h5"}],
    "stages": [{"type": "md", "name": "first", "steps": 40,
                "integrator": {"type": "velocity_verlet", "timestep": 0.001}}]}
START = r"=== \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ perrin "


class Log(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-log-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def perrin(self, *arguments, status=0):
        done = subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def run_job(self, job, *arguments, status=0):
        with open(os.path.join(self.folder, "job.json"), "w") as out:
            json.dump(job, out)
        return self.perrin("run", "job.json", "--device", "cpu", "--threads", "1", *arguments,
                           status=status)

    def log(self, folder="."):
        with open(os.path.join(self.folder, folder, "perrin.log")) as text:
            return text.read()

    def test_holds_what_is_printed(self):
        done = self.run_job(JOB, "--output-dir", "out", "--set", "seed=3")
        log = self.log("out")
        first, *rest = log.splitlines()
        self.assertRegex(first, START + r"run job.json --set 'seed=3' --output-dir out \(Perrin ")
        printed = done.stdout.splitlines()
        self.assertEqual([line for line in rest if not line.startswith("timings {")], printed)
        self.assertTrue(any(re.match(r" +20 +0.02 ", line) for line in rest), log)
        times = json.loads(re.search(r"^timings (\{.*\})$", log, re.M).group(1))
        self.assertEqual((times["steps"], times["particles"]), (40, 500))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "perrin.log")))

    def test_quiet_runs_have_the_same_log(self):
        self.run_job(JOB, "--output-dir", "loud")
        done = self.run_job(JOB, "--output-dir", "quiet", "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")
        words = [[re.sub(r"[\d.:]+", "#", line) for line in self.log(folder).splitlines()[1:]]
                 for folder in ("loud", "quiet")]
        self.assertEqual([re.sub(" +", " ", line) for line in words[0]],
                         [re.sub(" +", " ", line) for line in words[1]])

    def test_resumed_and_repeated_runs_append(self):
        self.run_job(JOB)
        before = self.log()
        self.perrin("resume", "state.h5", "--steps", "20", "--quiet")
        self.run_job(JOB, "--overwrite", "--quiet")
        after = self.log()
        self.assertTrue(after.startswith(before))
        self.assertEqual(re.findall(START + r"(\w+ \S+)", after),
                         ["run job.json", "resume state.h5", "run job.json"])

    def test_warnings_and_errors(self):
        hot = json.loads(json.dumps(JOB))
        hot["velocity"]["temperature"] = 1e9
        done = self.run_job(hot, status=3)
        what = done.stderr.strip().splitlines()[-1]
        log = self.log()
        self.assertIn("\nerror: " + what.removeprefix("perrin: the run stopped: ") + "\n", log)
        self.assertRegex(log, r"\nerror: (.|\n)*\n=== \S+ ended by an error\n$")
        odd = json.loads(json.dumps(JOB))
        odd["stages"][0]["steps"] = "many"
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)
        self.run_job(odd, status=2)  # a job with mistakes writes nothing
        self.assertEqual(os.listdir(self.folder), ["job.json"])

    def test_a_folder_of_that_name(self):
        os.mkdir(os.path.join(self.folder, "perrin.log"))
        done = self.run_job(JOB)
        self.assertRegex(done.stderr, r"^note: \S*perrin.log: cannot open the log: Is a directory")
        self.assertIn("100 %", done.stdout)

    def test_links_and_pipes_are_not_written(self):
        other = os.path.join(self.folder, "other")
        with open(other, "w") as out:
            out.write("mine")
        log = os.path.join(self.folder, "perrin.log")
        for make in (lambda: os.symlink("other", log), lambda: os.mkfifo(log)):
            make()
            self.assertIn("cannot open the log", self.run_job(JOB, "--overwrite").stderr)
            os.remove(log)
        with open(other) as text:
            self.assertEqual(text.read(), "mine")

    def test_no_output_has_its_name(self):
        job = json.loads(json.dumps(JOB))
        job["observers"][0]["file"] = "perrin.log"
        done = self.run_job(job, status=2)
        self.assertIn("observers[0].file: is the name of the log of a run", done.stderr)

    def test_ensembles(self):
        job = {**JOB, "ensemble": {"count": 3, "vary": {"seed": "each"}}}
        done = self.run_job(job, "--output-dir", "many")
        log = self.log("many").splitlines()
        self.assertRegex(log[0], START + r"run job.json \(")
        self.assertEqual(log[1:], done.stdout.splitlines())
        self.perrin("resume", "many", "--quiet")
        self.assertIn("complete  3 systems already", self.log("many"))

    def test_report_reads_the_times(self):
        job = {**JOB, "observers": JOB["observers"][:1]}
        self.run_job(job, "--output-dir", "out", "--quiet")
        self.perrin("report", "out")
        with open(os.path.join(self.folder, "out", "report.html")) as page:
            data = json.loads(re.search(r'id="data">(.*?)</script>', page.read(), re.S).group(1))
        self.assertEqual((data["timings"]["steps"], data["timings"]["file"]), (40, "perrin.log"))
        self.assertIn({"name": "perrin.log", "kind": "log"},
                      [{"name": f["name"], "kind": f["kind"]} for f in data["files"]])
        for odd in ('{"total": "long"}', "[]", "{", '{"total": 1}'):
            with open(os.path.join(self.folder, "out", "perrin.log"), "a") as out:
                out.write(f"timings {odd}\n")
            self.perrin("report", "out")
            with open(os.path.join(self.folder, "out", "report.html")) as page:
                self.assertIn('"timings":null', page.read())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
