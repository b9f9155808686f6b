"""Several processes under mpirun, as users call them: the bits of one, one voice, one end.

    processes.py PERRIN"""

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

PERRIN = os.path.abspath(sys.argv[1])
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root"]
# mpirun's own words about processes that ended badly; `perrin` says each error once beside them.
SAID_BY_MPIRUN = ("---", "Primary job", "a non-zero", "mpirun", "the job to be", "Process name",
                  "Exit code")
# Open MPI's, of a message whose sender died while it was fetched from its memory.
CUT_SHORT = re.compile(r"\[\S+:\d+\] Read -1, expected \d+, errno = 3$")

LIQUID = {
    "seed": 5, "processes": {"particles": 1},  # dealt out, however few there are
    "system": {"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [4, 4, 4]},
    "velocity": {"temperature": 1.2},
    "forces": [{"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "observers": [{"type": "trajectory", "stride": 10, "quantities": ["position", "velocity"]},
                  {"type": "thermo", "stride": 5}, {"type": "checkpoint", "steps": 100}],
    "stages": [{"type": "md", "steps": 60,
                "integrator": {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}}],
}
NEUTRONS = {"seed": 5, "stages": [
    {"type": "neutron_slab", "thickness": 10, "total": 1.1, "scattering": 1.0, "histories": 50007,
     "depth_bins": 20, "angle_bins": 10, "stride": 10000, "batch": 1000, "file": "slab.h5"}]}
ENERGIES = {"seed": 5, "stages": [
    {"type": "neutron_slab", "layers": [
        {"thickness": 1, "mass": 1, "scattering": "2 + 1/sqrt(E)", "absorption": "0.1/sqrt(E)"},
        {"thickness": 2, "mass": 12, "total": [[0.001, 3], [1000, 1]], "absorption": 0.05}],
     "source": {"direction": "cosine", "maxwell": 1}, "cutoff_energy": 0.01,
     "near_face": "reflecting", "histories": 50007, "depth_bins": 20, "angle_bins": 10,
     "energy_bins": 15, "stride": 10000, "batch": 1000, "file": "layers.h5"}]}
REPLICAS = {"seed": 4, "stages": [
    {"type": "metropolis", "engine": "pipelined", "molecules": {"AB": {"number": 40, "sites": [
        {"type": "A", "at": [0, 0, 0]}, {"type": "B", "at": [0.5, 0, 0]}]}},
     "pairs": [{"types": ["A", "A"], "sigma": 1, "epsilon": 1},
               {"types": ["A", "B"], "sigma": 0.9, "epsilon": 1},
               {"types": ["B", "B"], "sigma": 0.8, "epsilon": 0.5}],
     "box": [5, 5, 5], "temperatures": [0.8, 0.9, 1.0, 1.2], "exchange": 5, "translation": 0.2,
     "rotation": 0.3, "tune": {"acceptance": 0.4, "interval": 10}, "equilibration": 40,
     "cycles": 80, "stride": 5, "pressure": True, "trajectory": {"interval": 20},
     "rdf": {"bins": 40, "interval": 10, "own_molecule": True, "csv": "g.csv"}, "file": "mc.h5"}]}


def numbers(file):
    """Every number that a file holds of the run, by its path; not how long it took."""
    found = {}

    def add(path, node):
        if isinstance(node, h5py.Dataset) and node.dtype.kind in "iuf" and "wall_time" not in path \
                and "earlier" not in path:
            found[path] = node[()].tobytes() if node.shape else numpy.asarray(node[()]).tobytes()

    with h5py.File(file, "r") as opened:
        opened.visititems(add)
    return found


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, job, name="job.json"):
        with open(self.path(name), "w") as file:
            json.dump(job, file)

    def start(self, count, *command):
        """Runs on the CPU; several GPUs are bits.py's."""
        if command[0] == PERRIN and command[1] in ("run", "resume"):
            command += ("--device", "cpu")
        launcher = MPIRUN + ["-np", str(count)] if count > 1 else []
        program = subprocess.Popen([*launcher, *command], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(program.kill)
        return program

    def end(self, program):
        """Status, standard output, and what perrin says on standard error."""
        out, error = program.communicate(timeout=120)
        lines = [line for line in error.splitlines()
                 if line.strip() and not line.strip().startswith(SAID_BY_MPIRUN)
                 and not CUT_SHORT.match(line)]
        return program.returncode, out, lines

    def perrin(self, count, *arguments):
        return self.end(self.start(count, PERRIN, *arguments))

    def good(self, count, *arguments):
        status, out, lines = self.perrin(count, *arguments)
        self.assertEqual((status, lines), (0, []), out)
        return out

    def assert_same_numbers(self, one, other):
        files = sorted(f for f in os.listdir(self.path(one)) if f.endswith(".h5"))
        self.assertTrue(files)
        for name in files:
            if name.startswith("checkpoint"):
                continue
            a, b = numbers(self.path(one, name)), numbers(self.path(other, name))
            self.assertEqual(sorted(a), sorted(b))
            self.assertEqual([path for path in a if a[path] != b[path]], [], name)

    # The bits of one process

    def same_bits(self, job, counts=(2, 3), stopped=True):
        self.write(job)
        self.good(1, "run", "job.json", "--output-dir", "alone")
        for count in counts:
            out = self.good(count, "run", "job.json", "--output-dir", f"of{count}")
            self.assertEqual(out.count("precision "), 1, out)
            self.assertIn(f"processes {count} on 1 host", out)
            self.assert_same_numbers("alone", f"of{count}")
        if not stopped:
            return out
        # Stopped at the first look, and gone on with by another number of processes.
        self.good(3, "run", "job.json", "--output-dir", "stopped", "--time-limit", "0.0000001")
        self.good(2, "resume", "stopped/checkpoint.h5")
        self.assert_same_numbers("alone", "stopped")
        return out

    def test_too_few_particles_for_so_many_processes(self):
        few = {**LIQUID, "processes": {}, "system": {**LIQUID["system"], "cells": [3, 3, 3]}}  # 108
        for fewest, words in (({}, "stage md: 1 of the 3 processes is the useful maximum "
                                   "for 108 particles (processes.particles); each does all of "
                                   "the work"),
                              ({"processes": {"particles": 50}},
                               "stage md: 2 of the 3 processes are the useful maximum for "
                               "108 particles (processes.particles); the others are idle"),
                              ({"processes": {"particles": 36}}, "")):
            self.write({**few, **fewest})
            for name in ("alone", "together"):
                out = self.good(1 if name == "alone" else 3, "run", "job.json", "--overwrite",
                                "--output-dir", name)
            self.assertIn(words, out)
            self.assertEqual("useful maximum" in out, bool(words), out)
            self.assert_same_numbers("alone", "together")
        self.write({**few, "processes": {"particles": -1}})
        self.assertIn("processes.particles", " ".join(self.perrin(1, "validate", "job.json")[2]))

    def test_neutron_histories_are_dealt_out(self):
        self.assertNotIn("not parallelised over processes", self.same_bits(NEUTRONS, (3,)))

    def test_neutrons_with_energies_are_dealt_out(self):
        self.assertNotIn("not dealt out", self.same_bits(ENERGIES, (3,)))

    def test_streams_of_generators_with_a_state(self):
        for slab, generator, streams in ((NEUTRONS, "ran2", 7), (NEUTRONS, "mt19937", 2),
                                         (ENERGIES, "mt607", 5)):
            job = copy.deepcopy(slab)
            job["stages"][0] |= {"generator": generator, "streams": streams}
            with self.subTest(generator):
                self.same_bits(job, (3,))
                for folder in ("alone", "of3", "stopped"):
                    shutil.rmtree(self.path(folder))

    def test_metropolis_replicas_are_dealt_out(self):
        self.assertNotIn("not parallelised over processes", self.same_bits(REPLICAS))
        with open(self.path("alone", "g.csv")) as a, open(self.path("of3", "g.csv")) as b:
            self.assertEqual(a.read(), b.read())

    def test_a_checkerboard_is_dealt_out(self):
        job = {"seed": 4, "observers": [{"type": "checkpoint"}], "stages": [
            {"type": "metropolis", "engine": "checkerboard", "precision": "double",
             "molecules": {"A": {"number": 700, "sites": [{"type": "A", "at": [0, 0, 0]}]}},
             "pairs": [{"types": ["A", "A"], "sigma": 1, "epsilon": 1, "cutoff": 2.5}],
             "box": [11, 11, 16], "temperature": 1, "translation": 0.2, "cycles": 30,
             "rdf": {"bins": 40, "interval": 5, "csv": "g.csv"}}]}
        self.assertNotIn("not parallelised over processes", self.same_bits(job, (2, 3, 4)))
        for folder in ("of2", "of3", "of4", "stopped"):
            with open(self.path("alone", "g.csv")) as a, open(self.path(folder, "g.csv")) as b:
                self.assertEqual(a.read(), b.read())
            a, b = (numbers(self.path(f, "checkpoint.h5")) for f in ("alone", folder))
            self.assertEqual([path for path in a if a[path] != b[path]], ["checksum"], folder)

    def test_molecular_dynamics(self):
        self.same_bits(LIQUID)

    def write_slab(self):
        """A dense slab in a gas, as many particles in each; a cut-off as for interfaces."""
        slab = [(0.5 + 1.08 * i, 0.5 + 1.08 * j, 0.5 + 1.08 * k)
                for i in range(20) for j in range(12) for k in range(12)]
        gas = [(24 + 4.3 * i, 2 * j, 2 * k)
               for i in range(48) for j in range(6) for k in range(10)]
        with open(self.path("slab.xyz"), "w") as file:
            file.write(f'{len(slab + gas)}\nLattice="232 0 0 0 13 0 0 0 20" '
                       'Properties=species:S:1:pos:R:3\n')
            file.writelines(f"A {x:.3f} {y:.3f} {z:.3f}\n" for x, y, z in slab + gas)
        return {**LIQUID, "system": {"type": "file", "path": "slab.xyz"},
                "forces": [{**LIQUID["forces"][0], "cutoff": 5}],
                "observers": [{"type": "thermo", "stride": 100}],
                "stages": [{"type": "md", "steps": 1500, "integrator": {
                    "type": "velocity_verlet", "timestep": 0.002}}]}

    def test_shares_are_cut_by_measured_time(self):
        self.write(self.write_slab())
        self.good(1, "run", "job.json", "--output-dir", "alone")
        out = self.good(2, "run", "job.json", "--output-dir", "time")
        self.assertRegex(out, r"load imbalance \(maximum/mean\) [\d.]+ at first, [\d.]+ at the "
                              r"end; rebalanced [1-9]\d* times")
        equal = ("--set", "processes.balance=equal")
        out = self.good(2, "run", "job.json", "--output-dir", "equal", *equal)
        self.assertRegex(out, "at the end; equal numbers of particles")
        for folder in ("time", "equal"):
            self.assert_same_numbers("alone", folder)

    def test_the_job_says_how_particles_are_dealt_out(self):
        self.same_bits({**LIQUID, "processes": {"balance": "equal", "particles": 1}}, (2,))
        self.good(2, "run", "job.json", "--output-dir", "other", "--time-limit", "0.0000001")
        self.good(3, "resume", "other/checkpoint.h5", "--set", "processes.balance=time")
        self.assert_same_numbers("alone", "other")
        self.write({**LIQUID, "processes": {"balance": "grid"}})
        self.assert_says(self.perrin(2, "run", "job.json"), 2, "job.json:1: processes.balance:",
                         "one of time, equal", '"grid"')

    def test_what_is_not_dealt_out_is_said(self):
        job = copy.deepcopy(REPLICAS)
        del job["stages"][0]["exchange"]
        job["stages"][0]["temperatures"] = [1.0]
        self.assertIn("not parallelised over processes", self.same_bits(job, (2,), stopped=False))

    def test_threads_of_a_process(self):
        """All cores for one, also under mpirun, which binds it to a core; what is asked for."""
        def cpu(*launcher):
            done = self.end(self.start(1, *launcher, PERRIN, "info"))
            return next(line for line in done[1].splitlines() if " cpu " in line)
        self.assertEqual(cpu(*MPIRUN, "-np", "1"), cpu())
        self.assertIn("CPU, 1 thread,", cpu(*MPIRUN, "--bind-to", "core", "-np", "1"))

    # One voice

    def assert_says(self, result, status, *words):
        """One message with these words, and this status."""
        self.assertEqual(result[0], status, result)
        self.assertEqual(len(result[2]), 1, result)
        for word in words:
            self.assertIn(word, result[2][0])

    def test_an_error_of_all_is_said_once(self):
        self.write({**LIQUID, "sed": 1})
        result = self.perrin(3, "run", "job.json")
        self.assert_says(result, 2, "job.json:1: sed: unknown key")
        self.assertNotIn("process", result[2][0])

    def test_the_first_process_looks_at_output(self):
        self.write(NEUTRONS)
        with open(self.path("slab.h5"), "w") as file:
            file.write("mine")
        result = self.perrin(2, "run", "job.json")
        self.assert_says(result, 2, "slab.h5 exists")
        self.assertTrue(result[2][0].startswith("job.json:1: stages[0].file"), result)

    def test_a_run_that_goes_wrong(self):
        job = copy.deepcopy(LIQUID)
        job["stages"][0]["integrator"]["timestep"] = 1
        self.write(job)
        result = self.perrin(2, "run", "job.json")
        self.assert_says(result, 3, "perrin: the run stopped", "unstable")
        self.assertNotIn("process ", result[2][0])

    def test_an_error_of_one_names_it(self):
        self.write(LIQUID)
        command = f"[ $OMPI_COMM_WORLD_RANK = 1 ] && cd /; exec {PERRIN} run job.json"
        result = self.end(self.start(3, "sh", "-c", command))
        self.assert_says(result, 2, "process 1 (", "job.json: cannot be read")

    def test_jobs_that_differ(self):
        self.write(LIQUID)
        command = f"exec {PERRIN} run job.json --set seed=$OMPI_COMM_WORLD_RANK"
        self.assert_says(self.end(self.start(2, "sh", "-c", command)), 2, "process 1 (",
                         "other than process 0", '"seed": 1, instead of "seed": 0,')

    def test_other_commands_are_done_once(self):
        self.assertEqual(self.good(2, "help", "md"), self.good(1, "help", "md"))
        self.assertIn("processes     2", self.good(2, "info"))

    def test_processes_that_cannot_reach_each_other(self):
        """Started by the launcher of another MPI."""
        self.write(LIQUID)
        for rank in ("0", "1"):
            done = subprocess.run([PERRIN, "run", "job.json"], cwd=self.folder, text=True,
                                  capture_output=True, timeout=60,
                                  env={**os.environ, "PMI_SIZE": "2", "PMI_RANK": rank})
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr.count("2 processes were started"), 1 - int(rank))

    # An end for all

    def long_run(self, count, *more):
        """A run that would not end, once it has written a checkpoint; and its processes."""
        self.write(LIQUID)
        program = self.start(count, PERRIN, "run", "job.json", "--output-dir", "out",
                             "--set", "stages[0].steps=100000000", *more)
        limit = time.time() + 60
        while not os.path.exists(self.path("out", "checkpoint.h5")) and time.time() < limit:
            time.sleep(0.02)
        found = subprocess.run(["pgrep", "-P", str(program.pid)], capture_output=True, text=True)
        processes = [int(pid) for pid in found.stdout.split()]
        self.assertEqual(len(processes), count)
        return program, processes

    def assert_all_ended(self, processes):
        limit = time.time() + 20
        while any(os.path.exists(f"/proc/{pid}") for pid in processes) and time.time() < limit:
            time.sleep(0.02)
        self.assertEqual([pid for pid in processes if os.path.exists(f"/proc/{pid}")], [])

    def assert_goes_on(self):
        """From the checkpoint, to the bits of a run that was never stopped."""
        with h5py.File(self.path("out", "checkpoint.h5")) as file:
            step = int(numpy.asarray(file["state/simulation/step"]).reshape(-1)[0])
        steps = f"stages[0].steps={step + 20}"
        self.good(1, "resume", "out/checkpoint.h5", "--set", steps)
        self.good(1, "run", "job.json", "--output-dir", "alone", "--set", steps)
        self.assert_same_numbers("alone", "out")

    def test_a_signal_to_one_stops_all(self):
        for which in (0, 1):
            program, processes = self.long_run(2)
            os.kill(processes[which], signal.SIGTERM)
            status, out, lines = self.end(program)
            self.assertEqual((status, lines, out.count("stopped by SIGTERM")), (0, [], 1), out)
            self.assert_goes_on()
            shutil.rmtree(self.path("out"))
            shutil.rmtree(self.path("alone"))

    def test_a_signal_to_mpirun(self):
        program, processes = self.long_run(2)
        program.terminate()
        self.end(program)
        self.assert_all_ended(processes)
        self.assert_goes_on()

    def test_a_killed_process_ends_all(self):
        program, processes = self.long_run(2)
        os.kill(processes[1], signal.SIGKILL)
        status, _, lines = self.end(program)
        self.assertNotEqual(status, 0)
        self.assertEqual(lines, [])  # mpirun says it
        self.assert_all_ended(processes)
        self.assert_goes_on()

    def test_an_error_of_the_first_while_running_ends_all(self):
        program, processes = self.long_run(2)
        os.remove(self.path("out", "trajectory.h5"))
        self.assert_says(self.end(program), 3, "the run stopped", "trajectory.h5", "deleted")
        self.assert_all_ended(processes)


if __name__ == "__main__":
    info = subprocess.run([PERRIN, "info"], capture_output=True, text=True).stdout
    if shutil.which("mpirun") is None or "MPI         not built in" in info:
        print("skipped: there is no mpirun, or this build has no MPI")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
