#!/usr/bin/python3
"""Ensembles whose systems are dealt out over several processes: the files of one process.

    ensemble_processes.py PERRIN [unittest arguments]
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import h5py
import numpy

from job_case import DEVICE, PERRIN, JobCase

LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
CLOSE = {**LJ, "cutoff": 2.0}  # in boxes that shrink
TRAJECTORY = {"type": "trajectory", "stride": 50, "quantities": ["position", "velocity", "image"]}
TEMPERATURE = "stages[0].integrator.temperature"


def job(ensemble, steps=300, forces=(LJ,), observers=(TRAJECTORY,), **integrator):
    return {"seed": 5, "ensemble": ensemble, "forces": list(forces),
            "system": {"type": "lattice", "structure": "fcc", "density": 0.8, "cells": [3, 3, 3]},
            "velocity": {"temperature": 1.0},
            "observers": [{"type": "thermo", "stride": 10}, *observers],
            "stages": [{"type": "md", "steps": steps,
                        "integrator": {"type": "langevin", "timestep": 0.005, "temperature": 1.0,
                                       "friction": 2.0, **integrator}}]}


class EnsembleProcesses(JobCase):
    def command(self, processes, *arguments):
        launcher = ["mpirun", "-np", str(processes), "--oversubscribe", "--allow-run-as-root"]
        # Of several GPUs each process takes one; of one they all have a share.
        return [*(launcher if processes > 1 else []), PERRIN, *arguments, "--device", DEVICE,
                "--threads", "1" if processes > 1 else "2"]

    def run_on(self, processes, what, folder, *arguments, status=0):
        with open(self.path("job.json"), "w") as out:
            json.dump(what, out)
        done = subprocess.run(self.command(processes, "run", self.path("job.json"), "--output-dir",
                                           self.path(folder), *arguments),
                              cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def data(self, folder):
        found = {}
        for file in ("thermo.h5", "trajectory.h5"):
            if not os.path.exists(self.path(folder, file)):
                continue
            with h5py.File(self.path(folder, file)) as h:
                h.visititems(lambda name, item: found.update({(file, name): item[()]})
                             if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf"
                             and not name.endswith("wall_time") else None)
        return found

    def same(self, one, other, systems):
        for k in systems:
            a, b = self.data(f"{one}/{k}"), self.data(f"{other}/{k}")
            self.assertEqual(a.keys(), b.keys())
            self.assertGreater(len(a), 5)
            for name in a:
                numpy.testing.assert_array_equal(a[name], b[name], err_msg=f"system {k} {name}")

    def exchanges(self, folder):
        with open(self.path(folder, "exchange.csv")) as file:
            return [[int(x) for x in row] for row in list(csv.reader(file))[1:]]

    def states(self, folder, count):
        found = []
        for k in range(count):
            with open(self.path(folder, str(k), "system.json")) as file:
                found.append(json.load(file)["state"])
        return found

    def test_systems_have_the_bits_of_one_process(self):
        """Of different sizes, dealt out to as many processes, fewer, and more than there are."""
        what = job({"vary": {TEMPERATURE: [0.8, 1.0, 1.1, 1.2],
                             "system.cells": [[3, 3, 3], [4, 3, 3], [4, 4, 3], [4, 4, 4]]}})
        self.run_on(1, what, "one")
        for processes in (2, 3, 5):
            done = self.run_on(processes, what, f"on{processes}")
            self.assertEqual(done.stdout.count("4 systems complete"), 1, done.stdout)
            self.assertIn(f"4 at a time in {processes} processes" if processes > 3 else
                          f"{processes} at a time in {processes} processes", done.stdout)
            self.same("one", f"on{processes}", range(4))
            self.assertEqual(self.states(f"on{processes}", 4), ["complete"] * 4)
        self.assertEqual(sorted(os.listdir(self.path("one"))), sorted(os.listdir(self.path("on3"))))

    def test_exchange_has_the_bits_of_one_process(self):
        weaker = {"forces[0].pairs": [[{"types": ["A", "A"], "epsilon": e, "sigma": 1}]
                                      for e in (1, 1, 0.98, 0.97, 0.97)]}
        pressures = {"stages[0].integrator.barostat.pressure": [2, 2.1, 2.2, 2.3, 2.4]}
        for vary in ({TEMPERATURE: {"geometric": [0.9, 1.1]}}, weaker,
                     {TEMPERATURE: [0.9, 0.95, 1.0, 1.0, 1.05], **weaker}, pressures,
                     {**pressures, **weaker}):
            with self.subTest(vary):
                for folder in ("one", "on2", "on3", "on5"):
                    shutil.rmtree(self.path(folder), ignore_errors=True)
                barostat = {"barostat": {"pressure": 2, "tau": 0.3, "stride": 5}}
                what = job({"count": 5, "vary": vary, "exchange": {"every": 20}}, forces=[CLOSE],
                           **(barostat if set(pressures) <= set(vary) else {}))
                said = self.run_on(1, what, "one").stdout
                exchanges = self.exchanges("one")
                self.assertGreater(len({tuple(row[1:]) for row in exchanges}), 3)
                for processes in (2, 3, 5):
                    folder = f"on{processes}"
                    done = self.run_on(processes, what, folder)
                    self.assertEqual(exchanges, self.exchanges(folder))
                    self.same("one", folder, range(5))
                    self.assertEqual([line for line in said.splitlines() if "exchange  " in line],
                                     [line for line in done.stdout.splitlines()
                                      if "exchange  " in line])

    def test_replicas_of_oriented_particles(self):
        what = job({"vary": {TEMPERATURE: [0.9, 1.0, 1.1]}, "exchange": {"every": 20}},
                   forces=[{"type": "gay_berne", "cutoff": 3, "truncation": "energy_shift",
                            "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}])
        what["system"] = {**what["system"], "density": 0.03}
        what["orientations"] = {"start": "random", "moments_of_inertia": {"A": [0, 0.5, 0.5]}}
        what["observers"][1] = {**TRAJECTORY, "quantities": ["position", "velocity", "orientation",
                                                             "angular_momentum"]}
        self.run_on(1, what, "one")
        self.run_on(3, what, "three")
        self.assertEqual(self.exchanges("one"), self.exchanges("three"))
        self.same("one", "three", range(3))

    def test_one_file_of_several_processes(self):
        what = job({"vary": {TEMPERATURE: [0.9, 1.0, 1.1]}, "files": "one"})
        tables = []
        for processes in (1, 3):
            folder = f"on{processes}"
            self.run_on(processes, what, folder)
            self.assertEqual(os.listdir(self.path(folder, "2")), ["system.json"])
            with h5py.File(self.path(folder, "ensemble.h5")) as h:
                tables.append(h["tables/thermo.h5/value"][:])
                self.assertEqual(sorted(h["systems/2"].attrs["files"]),
                                 ["thermo.h5", "trajectory.h5"])
        numpy.testing.assert_array_equal(*tables)

    # -- stops -------------------------------------------------------------------------------------

    def parts(self, what, folder, counts):
        """A run that is stopped by a signal to one process, and resumed on the next number of
        processes until it is complete. Returns how often it was stopped."""
        with open(self.path("job.json"), "w") as out:
            json.dump(what, out)
        arguments = ["run", self.path("job.json"), "--output-dir", self.path(folder)]
        for stops, processes in enumerate(counts):
            last = stops == len(counts) - 1
            with subprocess.Popen(self.command(processes, *arguments, "--quiet"), cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                if not last:
                    self.stop_one(process, folder, stops)
                said, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, said + errors)
            if last or "stopped" not in said:
                return stops
            self.assertEqual(said.count("stopped; continue with: perrin resume"), 1, said)
            arguments = ["resume", self.path(folder)]
        return len(counts)

    def stop_one(self, process, folder, before):
        """SIGUSR1 to the last of its processes, once the first has said that systems run, unless
        all is done by then: mpirun hears nothing of it."""
        deadline = time.time() + 60
        while self.beginnings(folder) == before and time.time() < deadline:
            time.sleep(0.02)
        time.sleep(0.1)
        found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True,
                               text=True).stdout.split()
        if len(found) < 2:  # all is done already
            return
        try:
            os.kill(int(found[-1]), signal.SIGUSR1)
        except ProcessLookupError:
            pass

    def beginnings(self, folder):
        try:
            with open(self.path(folder, "perrin.log")) as log:
                return log.read().count("\nensemble  ")
        except FileNotFoundError:
            return 0

    def test_a_signal_to_one_process_stops_all(self):
        for exchange in ({}, {"exchange": {"every": 20}}):
            with self.subTest(exchange):
                name = "exchange" if exchange else "each"
                what = job({"count": 5, "vary": {TEMPERATURE: {"linear": [0.9, 1.1]}}, **exchange},
                           steps=8000, observers=())
                self.run_on(1, what, f"{name}-whole")
                stops = self.parts(what, f"{name}-parts", [3, 2, 3, 1])
                self.assertGreater(stops, 0)
                self.same(f"{name}-whole", f"{name}-parts", range(5))
                if exchange:
                    self.assertEqual(self.exchanges(f"{name}-whole"),
                                     self.exchanges(f"{name}-parts"))

    def test_the_time_limit_stops_all(self):
        what = job({"count": 3, "vary": {TEMPERATURE: {"linear": [0.9, 1.1]}},
                    "exchange": {"every": 20}}, steps=12000, observers=())
        self.run_on(1, what, "whole")
        done = self.run_on(3, what, "parts", "--time-limit", "0.3")
        self.assertIn("stopped; continue with", done.stdout)
        for processes in (2, 1):
            done = subprocess.run(self.command(processes, "resume", self.path("parts"),
                                               *(["--time-limit", "0.5"] if processes > 1 else [])),
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.same("whole", "parts", range(3))
        self.assertEqual(self.exchanges("whole"), self.exchanges("parts"))

    def kill(self, process, k):
        """All of its processes, or the last one: mpirun then ends the others."""
        found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True,
                               text=True).stdout.split()
        for pid in found[-1:] if k % 2 else found:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def test_killed_and_resumed_on_another_number_of_processes(self):
        steps = 2500 if DEVICE == "cpu" else 15000
        what = job({"vary": {TEMPERATURE: {"linear": [0.9, 1.1]}}, "count": 5,
                    "exchange": {"every": 20}}, steps=steps,
                   observers=[TRAJECTORY, {"type": "checkpoint", "minutes": 2e-4}])
        self.run_on(1, what, "whole")
        kills = self.killed_and_resumed(
            self.command(3, "run", self.path("job.json"), "--output-dir", self.path("parts"),
                         "--quiet"),
            lambda k: self.command(2 + k % 2, "resume", self.path("parts"), "--quiet"),
            "parts", 4)
        self.assertGreater(kills, 1)
        self.assertEqual(self.exchanges("whole"), self.exchanges("parts"))
        self.same("whole", "parts", range(5))

    # -- what goes wrong ---------------------------------------------------------------------------

    def test_one_that_fails_is_told_once(self):
        for exchange in ({}, {"exchange": {"every": 5}}):
            with self.subTest(exchange):
                what = job({"vary": {"stages[0].integrator.timestep": [0.005, 0.004, 5.0, 0.004]},
                            **exchange}, steps=50, observers=())
                done = self.run_on(3, what, "failed", "--overwrite", status=3)
                self.assertEqual(done.stderr.count("warning: system 2 failed"), 1, done.stderr)
                self.assertEqual(done.stderr.count("1 of 4 systems failed, the first of them "
                                                   "system 2"), 1, done.stderr)
                self.assertEqual(self.states("failed", 4),
                                 ["complete", "complete", "failed", "complete"])

    def test_mistakes_are_told_once(self):
        done = self.run_on(3, job({"vary": {TEMPERATURE: [1, -1]}}), "none", status=2)
        self.assertEqual(done.stderr.count("must not be negative, got -1"), 1, done.stderr)
        self.assertFalse(os.path.exists(self.path("none")))
        done = self.run_on(2, job({"vary": {"system.density": [0.7, 0.8]},
                                   "exchange": {"every": 20}}), "differ", status=2)
        self.assertEqual(done.stderr.count("systems 0 and 1 cannot exchange particles: their boxes "
                                           "differ"), 1, done.stderr)
        small = job({"count": 2}, steps=10, observers=())
        self.run_on(2, small, "small")
        done = self.run_on(2, small, "small", status=2)
        self.assertEqual(done.stderr.count("has an ensemble already"), 1, done.stderr)


if __name__ == "__main__":
    info = subprocess.run([PERRIN, "info"], capture_output=True, text=True).stdout
    if shutil.which("mpirun") is None or "MPI         not built in" in info:
        print("skipped: there is no mpirun, or this build has no MPI")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
