"""What tests of whole jobs have in common: a folder of their own, runs of the program, files."""

import copy
import json
import math
import os
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


def mean_and_error(values, blocks=20):
    """Of the rows of a series, with the standard error of means of blocks."""
    parts = numpy.array([p.mean(axis=0) for p in numpy.array_split(numpy.asarray(values), blocks)])
    return parts.mean(axis=0), parts.std(axis=0, ddof=1) / math.sqrt(blocks)


class JobCase(unittest.TestCase):
    overwrite = False  # files of an earlier run in the same folder
    seconds = 600      # that a run may take

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-jobs-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def perrin(self, *arguments):
        return subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=self.seconds)

    def run_job(self, job, *arguments, folder=".", threads="2", device=DEVICE):
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out, indent=1, default=float)
        done = self.perrin("run", self.path("job.json"), "--device", device, "--threads", threads,
                           "--output-dir", self.path(folder),
                           *["--overwrite"] * self.overwrite, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def need_mpi(self):
        if not shutil.which("mpirun") or "Open MPI" not in self.perrin("info").stdout:
            self.skipTest("no MPI")

    def run_by_three(self, folder):
        """Three processes run job.json, as run_job() has written it."""
        done = subprocess.run(
            ["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", "3", PERRIN, "run",
             "job.json", "--device", DEVICE, "--output-dir", folder, "--overwrite"],
            cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)

    def same_state(self, one, other):
        """By state(folder), a dict."""
        one, other = self.state(one), self.state(other)
        self.assertEqual([name for name in other if one[name] != other[name]], [])

    def same_frames(self, one, other, file="trajectory.h5"):
        """All numbers of all frames, where there are any."""
        if not os.path.exists(self.path(other, file)):
            return
        with h5py.File(self.path(one, file)) as a, h5py.File(self.path(other, file)) as b:
            for name, quantity in b["particles/all"].items():
                if isinstance(quantity, h5py.Group) and "value" in quantity:
                    numpy.testing.assert_array_equal(a["particles/all"][name]["value"][()],
                                                     quantity["value"][()], name)

    def check_processes(self, jobs, columns=()):
        """Three processes give each job the state and the frames of one, and the same columns of
        the table."""
        self.need_mpi()
        for name, text in jobs.items():
            with self.subTest(name):
                text = {**text, "processes": {"particles": 1}}
                self.run_job(text, folder="whole")
                self.run_by_three("three")
                self.same_state("three", "whole")
                self.same_frames("three", "whole")
                for column in columns:
                    numpy.testing.assert_array_equal(self.column(column, "three"),
                                                     self.column(column, "whole"))

    def check_resumed(self, jobs):
        """Each job, stopped a little before its half and resumed by another number of threads, has
        the state of one that was not."""
        for name, text in jobs.items():
            with self.subTest(name):
                self.run_job(text, folder="whole")
                half = copy.deepcopy(text)
                stage = half["stages"][0]
                length = "sweeps" if "sweeps" in stage else "steps"
                end = stage[length]
                stage[length] = 9 * end // 20
                self.run_job(half, folder="half")
                done = self.perrin("resume", self.path("half", "checkpoint.h5"), "--set",
                                   f"stages[0].{length}={end}", "--device", DEVICE, "--threads",
                                   "1", "--output-dir", self.path("half"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.same_state("half", "whole")

    def kill(self, process, k):
        process.kill()

    def killed_and_resumed(self, run, resume, folder, kills):
        """An ensemble with exchange that is killed a moment after all its systems have written a
        checkpoint (later each time, so that it may meet them while they write), gone on with by
        resume(k), and in the end left alone. Returns how often the kill came before its end."""
        found, command, saved = 0, run, self.path(folder, "exchange.json")
        for k in range(kills + 1):
            before = os.stat(saved).st_mtime_ns if os.path.exists(saved) else 0
            with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) as process:
                while k < kills and process.poll() is None and not (
                        os.path.exists(saved) and os.stat(saved).st_mtime_ns > before):
                    time.sleep(0.005)
                if k < kills:
                    time.sleep(0.013 * k)
                    self.kill(process, k)
                said, _ = process.communicate(timeout=self.seconds)
            if process.returncode == 0:
                return found
            self.assertLess(k, kills, said)
            self.assertIn(process.returncode, (-signal.SIGKILL, 128 + signal.SIGKILL), said)
            found += 1
            command = resume(k)
        return found

    def refused(self, job, pattern):
        with open(self.path("wrong.json"), "w") as out:
            json.dump(job, out, indent=1, default=float)
        done = self.perrin("validate", self.path("wrong.json"))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)
        return done.stderr

    def oriented(self, name, edge, positions, quaternions, type="A"):
        """An extended XYZ file of particles in a cube from 0 on; quaternions have w first, in the
        file last."""
        with open(self.path(name), "w") as out:
            out.write(f'{len(positions)}\nLattice="{edge} 0 0 0 {edge} 0 0 0 {edge}" '
                      'Properties=species:S:1:pos:R:3:orientation:R:4\n')
            for at, (w, x, y, z) in zip(positions, quaternions):
                out.write(" ".join([type, *map(repr, [*at, x, y, z, w])]) + "\n")

    def frames(self, name, folder=".", file="trajectory.h5"):
        with h5py.File(self.path(folder, file)) as h:
            return h["particles/all"][name]["value"][:]

    def words(self, name, folder=".", file="checkpoint.h5"):
        """What a checkpoint has of each particle, by id."""
        with h5py.File(self.path(folder, file)) as f:
            raw = f["state/simulation/particles/" + name][()]
        return numpy.frombuffer(raw.tobytes(), "f4").reshape(-1, 4).astype(float)

    def check_pressed(self, first, volume, kt, pressure, drift):
        """Of rows from the first on: the mean volume is the one at which a bath has had this
        pressure (value, error), and energy less heat has stayed, but for `drift`."""
        found = self.column("volume")[first:]
        # dV/dP from the fluctuations, for the error of the pressure.
        slope = found.var() / kt
        allowed = 4 * math.hypot(self.error(found), slope * pressure[1]) + 0.002 * volume
        self.assertLess(abs(found.mean() - volume), allowed)
        mean = self.column("pressure")[first:]
        self.assertLess(abs(mean.mean() - pressure[0]), 4 * self.error(mean) + 0.003)
        kept = self.column("conserved_energy")
        self.assertLess(abs(kept[-1] - kept[first]), drift)

    def column(self, name, folder=".", file="thermo.h5"):
        with h5py.File(self.path(folder, file)) as h:
            return h["observables"][name]["value"][:]
