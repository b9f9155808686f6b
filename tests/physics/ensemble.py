#!/usr/bin/python3
"""Ensembles: several systems of one job, each with the bits that it has alone, and exchange of
replicas between them.

    ensemble.py PERRIN [unittest arguments]
"""

import csv
import json
import math
import os
import re
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
LIQUID = {"type": "lattice", "structure": "fcc", "density": 0.8, "cells": [4, 4, 4]}


def langevin(steps, temperature=1.0, timestep=0.005, friction=2.0, **more):
    return {"type": "md", "steps": steps,
            "integrator": {"type": "langevin", "timestep": timestep, "temperature": temperature,
                           "friction": friction}, **more}


def job(ensemble, *stages, system=LIQUID, forces=(LJ,), stride=10, observers=(), **more):
    return {"seed": 5, "ensemble": ensemble, "system": system, "forces": list(forces),
            "velocity": {"temperature": 1.0},
            "observers": [{"type": "thermo", "stride": stride}, *observers],
            "stages": list(stages), **more}


def free_particles(number):
    """That do not meet: in a trap of their own each, so to speak."""
    return {"type": "random", "particles": {"A": number}, "box": [20, 20, 20], "min_distance": 0}


CHECKPOINT = {"type": "checkpoint"}  # at the end
TEMPERATURE = "stages[0].integrator.temperature"


class Ensemble(JobCase):
    overwrite = True

    def data(self, folder, *files):
        """All numbers of these files."""
        found = {}
        for file in files:
            with h5py.File(self.path(folder, file)) as h:
                h.visititems(lambda name, item: found.update({(file, name): item[()]})
                             if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf"
                             and not name.endswith("wall_time")
                             and "/perrin/earlier/" not in name else None)  # jobs of resumed runs
        return found

    def same(self, one, other, *files):
        a, b = self.data(one, *files), self.data(other, *files)
        self.assertEqual(a.keys(), b.keys())
        self.assertGreater(len(a), 5)
        for name in a:
            numpy.testing.assert_array_equal(a[name], b[name], err_msg=str(name))

    def exchanges(self, folder="."):
        with open(self.path(folder, "exchange.csv")) as file:
            return [[int(x) for x in row] for row in list(csv.reader(file))[1:]]

    # -- systems -----------------------------------------------------------------------------------

    def test_each_system_has_the_bits_that_it_has_alone(self):
        """Of different temperatures, numbers of particles and boxes; on one thread and on three."""
        trajectory = {"type": "trajectory", "stride": 50, "quantities": ["position", "velocity"]}
        vary = {TEMPERATURE: {"linear": [0.7, 1.3]},
                "system.cells": [[3, 3, 3], [4, 4, 3], [5, 4, 4]]}
        both = job({"count": 3, "vary": vary}, langevin(200), observers=[trajectory])
        done = self.run_job(both, folder="three", threads="3")
        self.assertNotIn("took turns", done.stdout)  # a GPU does their steps together
        self.run_job(both, folder="one", threads="1")
        for k, (temperature, cells) in enumerate(zip([0.7, 1.0, 1.3],
                                                     vary["system.cells"], strict=True)):
            alone = {key: value for key, value in both.items() if key != "ensemble"}
            alone = json.loads(json.dumps(alone))
            alone["seed"] = 5 + k
            alone["system"]["cells"] = cells
            alone["stages"][0]["integrator"]["temperature"] = temperature
            self.run_job(alone, folder="alone", threads="1")
            self.same("alone", f"three/{k}", "thermo.h5", "trajectory.h5")
            self.same("alone", f"one/{k}", "thermo.h5", "trajectory.h5")

    def test_one_that_explodes_is_told_and_the_others_go_on(self):
        done = self.try_job(job({"vary": {"stages[0].integrator.timestep": [0.005, 5.0, 0.004]}},
                                langevin(50)))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stderr + done.stdout, "system 1")
        for k, state in enumerate(["complete", "failed", "complete"]):
            with open(self.path(str(k), "system.json")) as file:
                self.assertEqual(json.load(file)["state"], state)
        self.assertEqual(len(self.column("temperature", "2")), 6)

    def test_a_replica_that_explodes_is_left_out(self):
        done = self.try_job(job({"vary": {"stages[0].integrator.timestep": [0.005, 0.004, 5.0]},
                                 "exchange": {"every": 5}}, langevin(50)))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "1 of 3 systems failed, the first of them system 2")
        self.assertEqual([row[0] for row in self.exchanges()], list(range(5, 50, 5)))

    def try_job(self, what, *arguments, folder="."):
        with open(self.path("job.json"), "w") as out:
            json.dump(what, out)
        return self.perrin("run", self.path("job.json"), "--device", DEVICE, "--threads", "2",
                           "--output-dir", self.path(folder), *arguments)

    def test_what_systems_warn_of_is_said(self):
        """By each, also with --quiet."""
        done = self.try_job(job({"count": 3}, {"type": "md", "steps": 5, "integrator": {
            "type": "velocity_verlet", "timestep": 1e-11}}), "--quiet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for k in range(3):
            line = f"system {k}: warning: the box is too long for this time step"
            self.assertIn(line, done.stderr)
            with open(self.path("perrin.log")) as log:
                self.assertIn(line, log.read())
        self.assertEqual(done.stdout, "")

    def test_mistakes_are_told(self):
        steps = langevin(10)
        for ensemble, pattern in (
                ({"vary": {}}, "needs \"count\""),
                ({"count": 3, "vary": {TEMPERATURE: [1, 2]}}, "must have 3 values.*got 2"),
                ({"count": 3, "vary": {TEMPERATURE: {"linear": [1]}}}, "two numbers"),
                ({"count": 3, "vary": {TEMPERATURE: {"geometric": [0, 1]}}}, "must be positive"),
                ({"count": 3, "vary": {TEMPERATURE: "each"}}, "list of a value for each system"),
                ({"count": 2, "vary": {"stages[5].steps": [1, 2]}}, "stages has 1 entry"),
                ({"count": 2, "vary": {TEMPERATURE: [1, -1]}},
                 "system 1:\\nensemble.vary: stages.0..integrator.temperature: must not be "
                 "negative, got -1"),
                ({"count": 2, "vary": {"stages[0].integrator.temprature": [1, 1]}},
                 "system 0 and 1 others:(.|\n)*did you mean \"temperature\""),
                ({"count": 2, "exchange": {"every": 0}}, "ensemble.exchange.every"),
                ({"count": 2, "exchange": {"every": 5, "stages": ["equlibration"]}},
                 "exchange.stages.0.: no stage has the name or the type \"equlibration\""),
                ({"vary": {"neighbors.exclusions": [["bonds"], []]}, "exchange": {"every": 5}},
                 "neighbors.exclusions.*: must exclude the same pairs in .* list ..bonds"),
                ({"count": 2, "varied": {}}, "unknown key; expected one of"),
                ({"vary": {"ensemble.count": [1]}}, "cannot vary itself"),
                ({"vary": {"device": ["cpu", "cpu"]}},
                 "ensemble.vary.device: all systems of an ensemble are on one device")):
            with self.subTest(ensemble):
                self.refused(job(ensemble, steps), pattern)

    def test_a_folder_with_an_ensemble_is_kept(self):
        small = job({"count": 2}, langevin(10))
        self.run_job(small)
        done = self.try_job(small)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "has an ensemble already.*perrin resume")

    def test_seeds_are_different_unless_the_job_says_otherwise(self):
        self.run_job(job({"count": 2}, langevin(20)), folder="each")
        self.run_job(job({"count": 2, "vary": {"seed": [7, 7]}}, langevin(20)), folder="same")
        self.same("same/0", "same/1", "thermo.h5")
        one, other = (self.column("temperature", f"each/{k}") for k in (0, 1))
        self.assertFalse((one[1:] == other[1:]).any())

    # -- stops -------------------------------------------------------------------------------------

    def stopped_by(self, what, seconds, folder):
        """A run that gets SIGTERM once and again until it is complete; begun earlier where it is
        complete before."""
        for _ in range(5):
            stops = self.stopped_at(what, seconds, folder)
            if stops > 0:
                return stops
            shutil.rmtree(self.path(folder))
            seconds /= 2
        return 0

    def stopped_at(self, what, seconds, folder):
        with open(self.path("job.json"), "w") as out:
            json.dump(what, out)
        command = [PERRIN, "run", self.path("job.json"), "--output-dir", self.path(folder),
                   "--device", DEVICE, "--threads", "2", "--quiet"]
        stops = 0
        while True:
            with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) as process:
                time.sleep(seconds)
                process.send_signal(signal.SIGTERM)
                said, _ = process.communicate(timeout=300)
            if process.returncode == -signal.SIGTERM:  # it had not begun
                seconds *= 2
                continue
            self.assertEqual(process.returncode, 0, said)
            if "stopped" not in said:
                return stops
            stops += 1
            seconds *= 1.3
            command = [PERRIN, "resume", self.path(folder), "--threads", str(1 + stops % 3),
                       "--device", DEVICE, "--quiet"]

    def test_a_stopped_ensemble_goes_on(self):
        what = job({"count": 4, "vary": {TEMPERATURE: {"geometric": [0.7, 1.4]}}},
                   langevin(3000 if DEVICE == "cpu" else 60000))
        self.run_job(what, folder="whole")
        self.assertGreater(self.stopped_by(what, 0.5, "parts"), 0)
        for k in range(4):
            self.same(f"whole/{k}", f"parts/{k}", "thermo.h5")

    def test_a_stopped_exchange_goes_on(self):
        steps = 3000 if DEVICE == "cpu" else 12000
        what = job({"count": 4, "vary": {TEMPERATURE: {"geometric": [0.9, 1.1]}},
                    "exchange": {"every": 20}}, langevin(steps))
        self.run_job(what, folder="whole")
        self.run_job(what, folder="one_thread", threads="1")
        self.assertGreater(self.stopped_by(what, 0.6, "parts"), 0)
        exchanges = self.exchanges("whole")
        self.assertEqual([row[0] for row in exchanges], list(range(20, steps, 20)))
        self.assertGreater(len({tuple(row[1:]) for row in exchanges}), 5)
        for folder in ("one_thread", "parts"):
            self.assertEqual(exchanges, self.exchanges(folder))
            for k in range(4):
                self.same(f"whole/{k}", f"{folder}/{k}", "thermo.h5")

    def test_a_stopped_exchange_at_constant_pressure_goes_on(self):
        steps = 2000 if DEVICE == "cpu" else 8000
        stage = langevin(steps, timestep=0.004)
        stage["integrator"]["barostat"] = {"pressure": 2, "tau": 0.3, "stride": 5}
        what = job({"vary": {"stages[0].integrator.barostat.pressure": [2, 2.1, 2.2]},
                    "exchange": {"every": 20}}, stage)
        self.run_job(what, folder="whole")
        self.assertGreater(self.stopped_by(what, 0.6, "parts"), 0)
        self.assertGreater(len({tuple(row[1:]) for row in self.exchanges("whole")}), 3)
        self.assertEqual(self.exchanges("whole"), self.exchanges("parts"))
        for k in range(3):
            self.same(f"whole/{k}", f"parts/{k}", "thermo.h5")

    def killed(self, what, folder, kills=4):
        with open(self.path("job.json"), "w") as out:
            json.dump(what, out)
        return self.killed_and_resumed(
            [PERRIN, "run", self.path("job.json"), "--output-dir", self.path(folder), "--device",
             DEVICE, "--threads", "2", "--quiet"],
            lambda k: [PERRIN, "resume", self.path(folder), "--threads", str(1 + k % 3), "--device",
                       DEVICE, "--quiet"], folder, kills)

    def test_a_killed_exchange_goes_on(self):
        """With the bits of a whole run: checkpoints by time and by steps, at constant volume and at
        constant pressure; of systems of which the first is complete long before the others."""
        pressed = langevin(1500, timestep=0.004)
        pressed["integrator"]["barostat"] = {"pressure": 2, "tau": 0.3, "stride": 5}
        long = 1 if DEVICE == "cpu" else 6
        for name, checkpoint, stage, vary in (
                ("time", {"minutes": 2e-4}, langevin(2500 * long),
                 {TEMPERATURE: {"geometric": [0.9, 1.1]}}),
                ("steps", {"steps": 90}, langevin(2500 * long),
                 {TEMPERATURE: {"geometric": [0.9, 1.1]}, "stages[0].steps": [
                     500, 2500 * long, 2500 * long, 2500 * long]}),
                ("pressure", {"minutes": 2e-4}, pressed,
                 {"stages[0].integrator.barostat.pressure": [2, 2.1, 2.2, 2.3]})):
            with self.subTest(name):
                what = job({"count": 4, "vary": vary, "exchange": {"every": 20}}, stage,
                           observers=[{"type": "checkpoint", **checkpoint},
                                      {"type": "trajectory", "stride": 200}])
                self.run_job(what, folder=f"{name}-whole")
                self.assertGreater(self.killed(what, f"{name}-parts"), 1)
                self.assertEqual(self.exchanges(f"{name}-whole"), self.exchanges(f"{name}-parts"))
                for k in range(4):
                    self.same(f"{name}-whole/{k}", f"{name}-parts/{k}", "thermo.h5",
                              "trajectory.h5")

    def torn(self, folder):
        """What a kill leaves while the systems write their checkpoints: system 0 has its new ones,
        the others have the ones before."""
        what = job({"vary": {TEMPERATURE: [0.95, 1.0, 1.05]}, "exchange": {"every": 20}},
                   langevin(200), observers=[{"type": "checkpoint", "steps": 70}])
        self.run_job(what, folder=folder)
        for k in (0, 1, 2):
            os.remove(self.path(folder, str(k), "system.json"))
            if k > 0:
                checkpoint = self.path(folder, str(k), "checkpoint.h5")
                os.replace(checkpoint + ".prev", checkpoint)

    def test_checkpoints_of_two_times(self):
        """All go on from the last one that all have, also those that had come to their end."""
        self.torn("torn")
        self.torn("whole")
        shutil.rmtree(self.path("whole"))
        with open(self.path("job.json")) as file:
            self.run_job(json.load(file), folder="whole")
        self.resume("torn")
        self.assertEqual(self.exchanges("whole"), self.exchanges("torn"))
        for k in range(3):
            self.same(f"whole/{k}", f"torn/{k}", "thermo.h5")
        # Killed before all systems had their first one: there is no exchange.json, and all begin
        # anew, those with a checkpoint and those that are complete, too.
        for k in (1, 2):
            os.remove(self.path("torn", str(k), "system.json"))
            for name in ("checkpoint.h5", "checkpoint.h5.prev", "thermo.h5"):
                os.remove(self.path("torn", str(k), name))
        os.remove(self.path("torn", "exchange.json"))
        self.resume("torn")
        self.assertEqual(self.exchanges("whole"), self.exchanges("torn"))
        for k in range(3):
            self.same(f"whole/{k}", f"torn/{k}", "thermo.h5")

    def resume(self, folder, *arguments, status=0):
        done = self.perrin("resume", self.path(folder), "--device", DEVICE, "--threads", "2",
                           *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_complete_systems_go_on_with_more_steps(self):
        """With the bits of a longer run, with exchange and without; and in another stage."""
        for exchange in ({}, {"exchange": {"every": 20}}):
            with self.subTest(**exchange):
                ensemble = {"vary": {TEMPERATURE: [0.95, 1.0, 1.05]}, **exchange}
                whole, short = f"whole{len(exchange)}", f"short{len(exchange)}"
                self.run_job(job(ensemble, langevin(200), langevin(60)), folder=whole)
                self.run_job(job(ensemble, langevin(120), observers=[CHECKPOINT]), folder=short)
                self.resume(short, "--steps", "80")
                self.resume(short)  # nothing is left to do
                self.resume(short, "--set", "stages[1]=" + json.dumps(langevin(60)))
                for k in range(3):
                    self.same(f"{whole}/{k}", f"{short}/{k}", "thermo.h5")
                if exchange:
                    self.assertEqual(self.exchanges(whole), self.exchanges(short))

    def test_a_system_that_had_not_begun_has_what_was_set(self):
        """It has no folder; the checkpoint of the other one is from before the change."""
        self.run_job(job({"count": 2}, langevin(40), observers=[CHECKPOINT]))
        shutil.rmtree(self.path("1"))
        self.resume(".", "--set", "stages[0].steps=60")
        for k in (0, 1):
            self.assertEqual(len(self.column("temperature", str(k))), 7)

    def test_what_cannot_be_set_is_refused_and_changes_nothing(self):
        self.run_job(job({"vary": {TEMPERATURE: [0.9, 1.1]}}, langevin(40),
                         observers=[CHECKPOINT]))
        with open(self.path("ensemble.json")) as file:
            before = file.read()
        for assignment, pattern in (
                (TEMPERATURE + "=1", "varies from system to system"),
                (TEMPERATURE.replace("[0]", "[-1]") + "=1", "varies from system to system"),
                ("stages[0]=" + json.dumps(langevin(50)), "varies from system to system"),
                ("ensemble.count=3", "cannot change in a resumed ensemble"),
                ("system.density=0.5", "system cannot change in a resumed run"),
                ("stages[0].stepz=50", 'did you mean "steps"')):
            with self.subTest(assignment):
                said = self.resume(".", "--set", assignment, status=2)
                self.assertRegex(said, pattern)
                with open(self.path("ensemble.json")) as file:
                    self.assertEqual(file.read(), before)
                with open(self.path("1", "system.json")) as file:
                    self.assertEqual(json.load(file)["state"], "complete")
        self.run_job(job({"count": 2}, langevin(20)), folder="none")
        said = self.resume("none", "--steps", "20", status=2)
        self.assertRegex(said, "system 0 and 1 others:\nis complete and has no checkpoint")
        self.run_job(job({"count": 2, "files": "one"}, langevin(20), observers=[CHECKPOINT]),
                     folder="one")
        said = self.resume("one", "--steps", "20", status=2)
        self.assertRegex(said, "files of complete systems are in ensemble.h5")

    def test_checkpoints_of_different_times_do_not_go_together(self):
        """And nothing is begun anew where one has none."""
        self.torn(".")
        os.remove(self.path("0", "checkpoint.h5.prev"))
        self.assertRegex(self.resume(".", status=2),
                         "checkpoints of systems 0 and 1 .* do not go together")
        os.remove(self.path("0", "checkpoint.h5"))
        self.assertRegex(self.resume(".", status=2), "system 0 has no checkpoint to go on from")

    def test_a_failed_replica_stays_left_out(self):
        """When the others, which were killed, go on."""
        what = job({"vary": {"stages[0].integrator.timestep": [0.005, 0.004, 5.0]},
                    "exchange": {"every": 5}}, langevin(200),
                   observers=[{"type": "checkpoint", "steps": 50}])
        self.assertEqual(self.try_job(what, folder="whole").returncode, 3)
        shutil.copytree(self.path("whole"), self.path("torn"))
        os.replace(self.path("torn", "0", "checkpoint.h5.prev"),
                   self.path("torn", "0", "checkpoint.h5"))
        for k in (0, 1):
            os.remove(self.path("torn", str(k), "system.json"))
        self.assertRegex(self.resume("torn", status=3), "system 2 failed: has failed before")
        self.assertEqual(self.exchanges("whole"), self.exchanges("torn"))
        for k in (0, 1):
            self.same(f"whole/{k}", f"torn/{k}", "thermo.h5")

    def test_a_checkpoint_that_is_away_is_missed(self):
        """Only the one before is there: nothing is begun anew over what the system has written."""
        self.run_job(job({"count": 2}, langevin(100),
                         observers=[{"type": "checkpoint", "steps": 70}]))
        os.remove(self.path("0", "checkpoint.h5"))
        os.remove(self.path("0", "system.json"))
        with open(self.path("0", "thermo.h5"), "rb") as file:
            before = file.read()
        done = self.perrin("resume", self.path("."), "--threads", "2")
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "has no checkpoint.h5, and .*checkpoint.h5.prev: rename that")
        with open(self.path("0", "thermo.h5"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_the_first_exchange_of_a_start_that_keeps_its_step(self):
        self.run_job(job({"count": 1}, langevin(1000), observers=[CHECKPOINT, {
            "type": "trajectory", "stride": 1000, "quantities": ["position", "velocity"]}]),
            folder="first")
        start = {"type": "file", "path": self.path("first", "0", "trajectory.h5"),
                 "keep_step": True}
        what = job({"count": 2, "vary": {TEMPERATURE: [0.9, 1.1]}, "exchange": {"every": 20}},
                   langevin(60), system=start)
        del what["velocity"]
        self.run_job(what)
        self.assertEqual([row[0] for row in self.exchanges()], [1020, 1040])

    # -- one file ----------------------------------------------------------------------------------

    def one(self, folder, system):
        """All numbers of the files of a system in ensemble.h5."""
        found = {}
        with h5py.File(self.path(folder, "ensemble.h5")) as h:
            for file in h[f"systems/{system}"].attrs["files"]:
                h[f"systems/{system}/{file}"].visititems(
                    lambda name, item: found.update({(file, name): item[()]})
                    if isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf"
                    and not name.endswith("wall_time") else None)
        return found

    def outputs(self, folder, system):
        return sorted(f for f in os.listdir(self.path(folder, str(system))) if f.endswith(".h5")
                      and not f.startswith("checkpoint"))

    def same_as_folders(self, one, folders, systems):
        for k in systems:
            a, b = self.one(one, k), self.data(f"{folders}/{k}", "thermo.h5", "trajectory.h5")
            self.assertEqual(a.keys(), b.keys())
            self.assertGreater(len(a), 5)
            for name in a:
                numpy.testing.assert_array_equal(a[name], b[name], err_msg=str(name))

    def stop_after_the_first(self, what, folder):
        """SIGTERM when the first system is complete."""
        with open(self.path("job.json"), "w") as out:
            json.dump(what, out)
        with subprocess.Popen([PERRIN, "run", self.path("job.json"), "--output-dir",
                               self.path(folder), "--device", DEVICE, "--threads", "2", "--quiet"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as process:
            state = self.path(folder, "0", "system.json")
            while process.poll() is None:
                if os.path.exists(state):
                    with open(state) as text:
                        if '"complete"' in text.read():
                            break
                time.sleep(0.005)
            process.send_signal(signal.SIGTERM)
            said, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("stopped", said)

    def test_one_file_after_stops_has_what_folders_have(self):
        what = job({"count": 3, "vary": {TEMPERATURE: [0.9, 1.0, 1.1], "stages[0].steps":
                                         [200, 20000, 20000]}}, langevin(20000),
                   observers=[{"type": "trajectory", "stride": 1000}])
        self.run_job(what, folder="folders")
        what["ensemble"]["files"] = "one"
        self.stop_after_the_first(what, "one")
        self.assertEqual(self.outputs("one", 0), [])
        self.assertEqual(self.outputs("one", 1), ["thermo.h5", "trajectory.h5"])
        with h5py.File(self.path("one", "ensemble.h5")) as h:
            self.assertEqual([h[f"systems/{k}"].attrs["state"] for k in (0, 1)], ["complete", ""])
            self.assertEqual(list(h["systems/1"].attrs["files"]), ["thermo.h5", "trajectory.h5"])
        done = self.perrin("resume", self.path("one"), "--device", DEVICE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([self.outputs("one", k) for k in range(3)], [[], [], []])
        self.same_as_folders("one", "folders", range(3))
        with h5py.File(self.path("one", "ensemble.h5")) as h:
            table = h["tables/thermo.h5/value"][:]
            column = [name.decode() for name in h["tables/thermo.h5/column"]].index("temperature")
        self.assertEqual(table.shape[:2], (3, 2001))
        self.assertTrue(numpy.isnan(table[0, 21:]).all())
        numpy.testing.assert_array_equal(table[2, :, column],
                                         self.column("temperature", "folders/2"))

    def test_one_file_of_an_ensemble_with_a_failure(self):
        what = job({"vary": {"stages[0].integrator.timestep": [0.005, 5.0]}, "files": "one"},
                   langevin(50))
        done = self.try_job(what)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        with h5py.File(self.path("ensemble.h5")) as h:
            self.assertEqual([h[f"systems/{k}"].attrs["state"] for k in (0, 1)],
                             ["complete", "failed"])
        self.assertEqual([self.outputs(".", k) for k in (0, 1)], [[], ["thermo.h5"]])

    def test_references_within_a_file_are_kept(self):
        """Of bonds to the group of their particles."""
        chain = {"type": "chains", "chains": 5, "pattern": "A4", "bond_length": 1, "density": 0.1,
                 "min_distance": 0}
        what = job({"count": 2, "files": "one"}, langevin(10, timestep=0.001), system=chain,
                   forces=[{"type": "bond_harmonic",
                            "bonds": {"bond": {"stiffness": 10, "length": 1}}}],
                   observers=[{"type": "trajectory", "stride": 5}])
        self.run_job(what)
        with h5py.File(self.path("ensemble.h5")) as h:
            file = h["systems/1/trajectory.h5"]
            found = []
            file.visititems(lambda name, item: found.extend(
                (name, h[value].name) for value in item.attrs.values()
                if isinstance(value, h5py.Reference)))
        self.assertEqual([target for _, target in found],
                         ["/systems/1/trajectory.h5/particles/all"] * len(found))
        self.assertGreater(len(found), 0)

    def test_a_file_of_this_name_is_kept(self):
        with h5py.File(self.path("ensemble.h5"), "w") as h:
            h["mine"] = 1
        what = job({"count": 2, "files": "one"}, langevin(10))
        done = self.try_job(what)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "ensemble.h5: exists; --overwrite replaces it")
        what["ensemble"]["files"] = "folders"
        self.assertEqual(self.try_job(what).returncode, 0)
        with h5py.File(self.path("ensemble.h5")) as h:
            self.assertEqual(h["mine"][()], 1)

    # -- exchange ----------------------------------------------------------------------------------

    def positions(self, system, skip, axis=0):
        with h5py.File(self.path(str(system), "trajectory.h5")) as h:
            r = h["particles/all/position/value"][skip:] - 10  # from the middle of the box
        return r[:, :, axis]

    def test_a_double_well_has_exact_populations(self):
        """U = h (x² - 1)² + a x: at the lowest temperature no particle crosses by itself."""
        h, a, temperatures = 2.0, 0.1, [0.12, 0.24, 0.5, 1.0]
        well = {"type": "external_formula", "energy": "h*(x^2 - 1)^2 + a*x + (y^2 + z^2)/2",
                "types": {"A": {"h": h, "a": a}}}
        self.run_job(job({"vary": {TEMPERATURE: temperatures}, "exchange": {"every": 100}},
                         langevin(200000, timestep=0.02, friction=1.0), system=free_particles(2),
                         forces=[well], stride=1000,
                         observers=[{"type": "trajectory", "stride": 100}]))
        x = numpy.linspace(-4, 4, 20001)
        for k, t in enumerate(temperatures):
            weight = numpy.exp(-(h * (x ** 2 - 1) ** 2 + a * x) / t)
            exact = weight[x < 0].sum() / weight.sum()
            left = (self.positions(k, 200) < 0).mean(axis=1)
            blocks = numpy.array([part.mean() for part in numpy.array_split(left, 12)])
            error = blocks.std(ddof=1) / math.sqrt(12)
            self.assertLess(abs(left.mean() - exact), 4 * error + 0.01, f"T {t}: {left.mean()} "
                            f"± {error}, exact {exact}")
            self.assertLess(error, 0.06)
        replicas = numpy.array(self.exchanges())[:, 1:]
        self.assertEqual(set(replicas[:, 0]), {0, 1, 2, 3})

    def test_temperatures_stay_what_they_are(self):
        """Energies of N oscillators at T are those of theory, whoever was exchanged: <U> = 3/2 N T
        and its variance 3/2 N T²; and the mean acceptance of a pair is that of two such
        distributions."""
        n, temperatures = 10, [1.0, 1.4, 2.0]
        trap = {"type": "harmonic_trap", "stiffness": [1, 1, 1]}
        done = self.run_job(job({"vary": {TEMPERATURE: temperatures}, "exchange": {"every": 50}},
                                langevin(100000, timestep=0.05, friction=1.0),
                                system=free_particles(n), forces=[trap], stride=50))
        generator = numpy.random.default_rng(1)
        drawn = [generator.gamma(1.5 * n, t, 200000) for t in temperatures]
        for k, t in enumerate(temperatures):
            u = self.column("potential_energy", str(k))[100:]
            self.assertLess(abs(u.mean() - 1.5 * n * t), 0.02 * 1.5 * n * t)
            self.assertLess(abs(u.var() / (1.5 * n * t * t) - 1), 0.12)
        for k in (0, 1):
            delta = (drawn[k + 1] - drawn[k]) * (1 / temperatures[k] - 1 / temperatures[k + 1])
            expected = numpy.minimum(1, numpy.exp(-delta)).mean()
            found = float(done.stdout.split(f"exchange  {k} and {k + 1}")[1].split("(")[1]
                          .split(")")[0])
            self.assertLess(abs(found - expected), 0.06, f"{found} {expected}")

    def test_forces_are_exchanged(self):
        """One temperature, traps of different strengths: <x²> = T/k of each."""
        strengths, t = [1.0, 1.5, 2.25], 0.8
        trap = {"type": "harmonic_trap", "stiffness": [1, 1, 1]}
        vary = {"forces[0].stiffness": [[k] * 3 for k in strengths]}
        self.run_job(job({"vary": vary, "exchange": {"every": 20}},
                         langevin(50000, temperature=t, timestep=0.05, friction=1.0),
                         system=free_particles(5), forces=[trap], stride=50,
                         observers=[{"type": "trajectory", "stride": 20}]))
        for k, strength in enumerate(strengths):
            x = numpy.concatenate([self.positions(k, 50, axis) for axis in range(3)])
            self.assertLess(abs((x ** 2).mean() * strength / t - 1), 0.03)
        replicas = numpy.array(self.exchanges())[:, 1:]
        self.assertEqual(set(replicas[:, 2]), {0, 1, 2})

    def blocked(self, values, blocks=12):
        means = numpy.array([part.mean() for part in numpy.array_split(values, blocks)])
        return means.mean(), means.std(ddof=1) / math.sqrt(blocks)

    def test_places_of_tethers_stay(self):
        """Of systems with starts of their own tethers hold particles to other places: each has the
        energy 3/2 N T of its oscillators, and nothing is exchanged. With one start there is."""
        n, temperatures = 40, [1.0, 1.1, 1.2]
        for seed, many in (("each", False), ([5, 5, 5], True)):
            done = self.run_job(job({"vary": {TEMPERATURE: temperatures, "seed": seed},
                                     "exchange": {"every": 20}}, langevin(6000, timestep=0.05),
                                    system=free_particles(n),
                                    forces=[{"type": "tether", "stiffness": [4, 4, 4]}]))
            for k, temperature in enumerate(temperatures):
                energy = self.column("potential_energy", str(k))[50:]
                error = energy.std() / math.sqrt(len(energy) / 4)
                self.assertLess(abs(energy.mean() - 1.5 * n * temperature), 5 * error)
            accepted = int(done.stdout.split("exchange  0 and 1: ")[1].split()[0])
            self.assertEqual(accepted > 20, many, done.stdout)

    def test_systems_of_one_temperature_exchange(self):
        """By min(1, exp(0)): a ladder is not blocked where two rungs are alike."""
        stage = langevin(80, timestep=0.001)
        done = self.run_job(job({"vary": {TEMPERATURE: [1.0, 1.0],
                                          "stages[0].integrator.friction": [0.5, 2.0]},
                                 "exchange": {"every": 10}}, stage))
        self.assertIn("exchange  0 and 1: 3 of 3 accepted", done.stdout)

    def test_exchange_needs_a_potential(self):
        """And members, attributes and bodies that are those of both systems."""
        rods = {"types": {"C": 1}, "structure": "sc", "density": 0.05, "cells": [4, 4, 4],
                "type": "lattice"}
        bodies = {"C": {"sites": [{"type": "S", "at": [x, 0, 0]} for x in (0.5, -0.5)],
                        "moments_of_inertia": [0, 1, 1]}}
        sites = {**LJ, "mixing": "lorentz_berthelot", "pairs": [
            {"types": [t, t], "epsilon": e, "sigma": 1} for t, e in (("S", 1), ("C", 0))]}
        turning = langevin(20)
        turning["integrator"]["rotational_friction"] = 1
        push = {"type": "constant_force", "types": ["A"], "force": [0.1, 0, 0]}
        wall = {"type": "lj_wall", "axis": "x", "position": 0, "epsilon": 1, "sigma": 0.1}
        shut = job({"count": 2, "vary": {}, "exchange": {"every": 5}}, langevin(20, timestep=1e-5),
                   forces=[LJ, push, wall])
        self.assertEqual(self.try_job(shut, "--overwrite").returncode, 0)
        swim = {"type": "md", "steps": 20, "integrator": {
            "type": "active_brownian", "timestep": 1e-4, "temperature": 1, "friction": 1,
            "speed": 1, "rotational_diffusion": 1}}
        for vary, stage, more, said in (
                ({}, langevin(20), {"forces": [LJ, push]}, "constant_force along x, a periodic"),
                *(({}, langevin(20), {"forces": [LJ, push, {**wall, **other}],
                                      "groups": {"few": {"ids": [0, 1]}}},
                   "constant_force along x, a periodic")
                  for other in ({"axis": "y"}, {"epsilon": 0}, {"on": "few"})),
                ({}, langevin(20), {"forces": [LJ, {**push, "on": "h"}], "groups": {
                    "h": {"formula": "x > 0", "every": 5}}}, "are chosen anew while the job"),
                ({}, swim, {"orientations": {"start": "random"}}, "drives particles by no"),
                ({"attributes.diameter.default": [1.0, 1.1]}, langevin(20),
                 {"attributes": {"diameter": {"default": 1}}}, "attributes or diameters"),
                ({"bodies.C.sites[0].at": [[0.5, 0, 0], [0.6, 0, 0]]}, turning,
                 {"bodies": bodies, "system": rods, "forces": [sites]}, "rigid bodies differ"),
                ({"bodies.C.moments_of_inertia": [[0, 1, 1], [0, 2, 2]]}, turning,
                 {"bodies": bodies, "system": rods, "forces": [sites]}, "or moments of inertia")):
            with self.subTest(said):
                what = job({"count": 2, "vary": vary, "exchange": {"every": 5}}, stage, **more)
                done = self.try_job(what, "--overwrite")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(said, done.stderr)

    def test_particles_that_cannot_be_exchanged(self):
        what = job({"vary": {TEMPERATURE: [1.0, 1.1]}, "exchange": {"every": 5}}, langevin(20))
        for more, said in (({"reservoir": {"A": 10}}, "would need a chemical potential"),
                           ({"dynamic_bonds": {"stride": 10, "valence": {"A": 2}, "form": [
                               {"types": ["A", "A"], "bond": "b", "distance": 1.1,
                                "probability": 0.1}]}, "forces": [LJ, {
                                    "type": "bond_harmonic",
                                    "bonds": {"b": {"stiffness": 50, "length": 1}}}]},
                            "change their bonds")):
            done = self.try_job({**what, **more}, folder=next(iter(more)))
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertRegex(done.stderr, "systems 0 and 1 cannot exchange.*" + said)

    def test_pressures_are_exchanged(self):
        """An ideal gas at constant pressure: volumes have the density V^N exp(-PV/T), so that their
        mean is (N + 1) T/P and their variance (N + 1) (T/P)², whoever was exchanged; the mean
        acceptance of a pair is that of two such distributions. Temperatures may vary as well."""
        n = 60
        barostat = {"pressure": 1, "tau": 1, "compressibility": 0.02, "stride": 1}
        gas = {**free_particles(n), "box": [5, 5, 5]}
        for temperatures, pressures in (([1.0] * 3, [0.5, 0.55, 0.62]),
                                        ([1.0, 1.1, 1.1], [0.5, 0.5, 0.57])):
            vary = {TEMPERATURE: temperatures, "stages[0].integrator.barostat.pressure": pressures}
            stage = langevin(150000, timestep=0.05, friction=1.0)
            stage["integrator"]["barostat"] = barostat
            done = self.run_job(job({"vary": vary, "exchange": {"every": 50}}, stage,
                                    system=gas, forces=[], stride=50))
            found = [self.column("volume", str(k))[200:] for k in range(3)]
            for v, t, p in zip(found, temperatures, pressures, strict=True):
                mean, error = self.blocked(v)
                self.assertLess(abs(mean - (n + 1) * t / p), 4 * error, (t, p))
                self.assertLess(error, 0.03 * mean)
                self.assertLess(abs(v.var() / ((n + 1) * (t / p) ** 2) - 1), 0.2)
            replicas = numpy.array(self.exchanges())[:, 1:]
            self.assertEqual(set(replicas[:, 0]), {0, 1, 2})
            generator = numpy.random.default_rng(1)
            volume = [generator.gamma(n + 1, t / p, 200000)
                      for t, p in zip(temperatures, pressures, strict=True)]
            for k in (0, 1):
                i, j = k, k + 1
                change = volume[j] - volume[i]
                delta = pressures[i] * change / temperatures[i] - (
                    pressures[j] * change / temperatures[j])
                expected = numpy.minimum(1, numpy.exp(-delta)).mean()
                told = float(done.stdout.split(f"exchange  {i} and {j}")[1].split("(")[1]
                             .split(")")[0])
                self.assertLess(abs(told - expected), 0.06, (temperatures, pressures, k))

    def test_boxes_go_with_the_particles(self):
        """A liquid at three pressures: volumes, energies, pressures with and without exchange."""
        stage = langevin(6000, timestep=0.004)
        stage["integrator"]["barostat"] = {"pressure": 2, "tau": 0.3, "stride": 5}
        vary = {"stages[0].integrator.barostat.pressure": [2.0, 2.15, 2.3]}
        system = {**LIQUID, "cells": [3, 3, 3]}
        lj = {**LJ, "cutoff": 2.0}
        self.run_job(job({"vary": vary, "exchange": {"every": 20}}, stage, system=system,
                         forces=[lj]), folder="with")
        self.run_job(job({"vary": vary}, stage, system=system, forces=[lj]), folder="without")
        for k in range(3):
            for name in ("volume", "potential_energy", "pressure"):
                (a, da), (b, db) = (self.blocked(self.column(name, f"{folder}/{k}")[100:])
                                    for folder in ("with", "without"))
                self.assertLess(abs(a - b), 4.5 * math.hypot(da, db), (k, name))
        self.assertGreater(len({tuple(row[1:]) for row in self.exchanges("with")}), 4)

    def test_boxes_of_very_different_sizes_come_back(self):
        """Where forces differ, each system is asked in the other's box, far from its own volume.
        Nothing is accepted then, and both go on as if nothing had been."""
        stages = [langevin(steps, timestep=0.004, name=name) for name, steps in (("a", 800),
                                                                                 ("b", 60))]
        vary = {"forces[0].pairs": [[{"types": ["A", "A"], "epsilon": e, "sigma": 1}]
                                    for e in (1, 0.9)]}
        for k, stage in enumerate(stages):
            stage["integrator"]["barostat"] = {"pressure": 1, "tau": 0.2, "stride": 5}
            vary[f"stages[{k}].integrator.barostat.pressure"] = [0.3, 12]
        for traversal in ("verlet_list", "clusters", "cells") if DEVICE == "cpu" else ("auto",):
            with self.subTest(traversal):
                for folder, exchange in (("with", {"exchange": {"every": 20, "stages": ["b"]}}),
                                         ("without", {})):
                    done = self.run_job(job({"vary": vary, **exchange}, *stages,
                                            neighbors={"traversal": traversal}), folder=folder)
                    if exchange:
                        self.assertIn("exchange  0 and 1: 0 of ", done.stdout)
                volumes = [self.column("volume", f"without/{k}")[-1] for k in (0, 1)]
                self.assertGreater(volumes[0], 1.4 * volumes[1])
                for k in (0, 1):
                    for name in ("volume", "potential_energy"):
                        numpy.testing.assert_allclose(self.column(name, f"with/{k}"),
                                                      self.column(name, f"without/{k}"), rtol=1e-3)

    def test_stages_of_exchanges_by_type(self):
        stage = langevin(60, name="production")
        for name in ("md", "production"):
            done = self.run_job(job({"vary": {TEMPERATURE: [1, 1.05]}, "exchange": {
                "every": 20, "stages": [name]}}, stage), folder=name)
            self.assertRegex(done.stdout, r"exchange  0 and 1: \d of [1-9]")

    def test_exchanges_that_never_come(self):
        gibbs = {"stages": [{"type": "monte_carlo", "sweeps": 30, "temperature": 1,
                             "translation": {"displacement": 0.1}}], "reservoir": {"A": 256}}
        kinds = [({}, {}), ({"type": "gibbs"}, gibbs)]
        for exchange, more in kinds[:1] if "cuda" in DEVICE else kinds:  # gibbs: on the CPU alone
            for every, said in ((31, True), (5, False)):
                with self.subTest(**exchange, every=every):
                    text = {**job({"count": 2, "exchange": {"every": every, **exchange}},
                                  langevin(30)), **more}
                    if exchange:
                        del text["velocity"]
                    done = self.run_job(text)
                    line = f'no exchange was tried: .* steps that are multiples of "every", {every}'
                    self.assertEqual(bool(re.search(line, done.stderr)), said, done.stderr)

    def test_stopped_before_the_first_exchange(self):
        """What an ensemble is warned of is said at its end, not where it was stopped on the way."""
        text = job({"count": 2, "exchange": {"every": 5, "stages": ["p"]}},
                   langevin(10**8, name="long"))
        text["stages"].append(langevin(30, name="p"))
        done = self.run_job(text, "--time-limit", "2")
        self.assertIn("stopped", done.stdout)
        self.assertNotIn("warning", done.stderr)

    def test_what_cannot_be_exchanged_is_told(self):
        nve = {"type": "md", "steps": 40,
               "integrator": {"type": "velocity_verlet", "timestep": 0.004}}
        sizes = {"system.cells": [[3, 3, 3], [4, 4, 4]]}
        for ensemble, stage, pattern in (
                ({"count": 2}, nve, "no temperature"),
                ({"count": 2}, {**nve, "steps": 40, "integrator": {
                    "type": "nose_hoover", "timestep": 0.004, "temperature": 1, "tau": 0.5,
                    "barostat": {"pressure": 1, "tau": 200}}}, "boxes must not change"),
                ({"vary": {"system.density": [0.7, 0.8]}}, {**langevin(40), "integrator": {
                    **langevin(40)["integrator"], "barostat": {"pressure": 1, "tau": 20}}},
                 "boxes at the start differ"),
                ({"vary": {"stages[0].integrator.barostat": [None, {"pressure": 1, "tau": 20}]}},
                 langevin(40), "one of them has a barostat"),
                ({"vary": sizes}, langevin(40), "boxes differ"),
                ({"vary": {"system.density": [0.7, 0.8]}}, langevin(40), "boxes differ")):
            with self.subTest(pattern):
                ensemble = {**ensemble, "exchange": {"every": 20}}
                done = self.try_job(job(ensemble, stage), "--overwrite")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, f"systems 0 and 1 cannot exchange.*{pattern}")

    def test_monte_carlo_is_exchanged(self):
        """Replicas in the stage monte_carlo: the same mean energies as without exchange."""
        stage = {"type": "monte_carlo", "sweeps": 2000, "temperature": 1.0,
                 "translation": {"displacement": 0.1}}
        vary = {"stages[0].temperature": [1.0, 1.05, 1.1]}
        system = {**LIQUID, "cells": [3, 3, 3]}
        self.run_job(job({"vary": vary, "exchange": {"every": 10}}, stage, system=system),
                     folder="with")
        self.run_job(job({"vary": vary}, stage, system=system), folder="without")
        for k in range(3):
            means = []
            for folder in ("with", "without"):
                u = self.column("potential_energy", f"{folder}/{k}")[40:]
                blocks = numpy.array([part.mean() for part in numpy.array_split(u, 10)])
                means.append((blocks.mean(), blocks.std(ddof=1) / math.sqrt(10)))
            (a, da), (b, db) = means
            self.assertLess(abs(a - b), 4 * math.hypot(da, db))
        self.assertGreater(len({tuple(row[1:]) for row in self.exchanges("with")}), 3)

    def told(self, done, i, j):
        return float(done.stdout.split(f"exchange  {i} and {j}")[1].split("(")[1].split(")")[0])

    def test_forces_are_exchanged_between_sweeps(self):
        """One temperature, traps of different strengths: <x²> = T/k of each, and the acceptance of
        a pair is that of such particles. Of 15 coordinates in 2000 frames a third at least are
        independent: 0.03 are 3.7 standard deviations of (2/n)^(1/2) or more."""
        strengths, t, n = [1.0, 1.5, 2.25], 0.8, 5
        trap = {"type": "harmonic_trap", "stiffness": [1, 1, 1]}
        stage = {"type": "monte_carlo", "sweeps": 40000, "temperature": t,
                 "translation": {"displacement": 2.0}}
        done = self.run_job(job({"vary": {"forces[0].stiffness": [[k] * 3 for k in strengths]},
                                 "exchange": {"every": 10}}, stage, system=free_particles(n),
                                forces=[trap], stride=1000,
                                observers=[{"type": "trajectory", "stride": 20}]))
        for k, strength in enumerate(strengths):
            x = numpy.concatenate([self.positions(k, 50, axis) for axis in range(3)])
            self.assertLess(abs((x ** 2).mean() * strength / t - 1), 0.03)
        self.assertEqual(set(numpy.array(self.exchanges())[:, 1:][:, 2]), {0, 1, 2})
        generator = numpy.random.default_rng(1)
        squares = [generator.gamma(1.5 * n, 2 * t / k, 200000) for k in strengths]
        for i in (0, 1):
            delta = (strengths[i] - strengths[i + 1]) * (squares[i + 1] - squares[i]) / (2 * t)
            expected = numpy.minimum(1, numpy.exp(-delta)).mean()
            self.assertLess(abs(self.told(done, i, i + 1) - expected), 0.06)

    def test_pressures_are_exchanged_between_sweeps(self):
        """An ideal gas: as test_pressures_are_exchanged(). By the compressibility that the barostat
        takes, a twentieth of the gas's, volumes relax in 20 tau, 80 sweeps: of 60000 some 350
        volumes are independent, and 0.3 are four standard deviations of the variance."""
        n, pressures = 60, [0.5, 0.55, 0.62]
        stage = {"type": "monte_carlo", "sweeps": 60000, "temperature": 1,
                 "translation": {"displacement": 0.5},
                 "barostat": {"pressure": 1, "tau": 4, "stride": 1}}
        done = self.run_job(job({"vary": {"stages[0].barostat.pressure": pressures},
                                 "exchange": {"every": 20}}, stage,
                                system={**free_particles(n), "box": [5, 5, 5]}, forces=[],
                                stride=20))
        for k, p in enumerate(pressures):
            v = self.column("volume", str(k))[200:]
            mean, error = self.blocked(v)
            self.assertLess(abs(mean - (n + 1) / p), 4 * error, p)
            self.assertLess(error, 0.03 * mean)
            self.assertLess(abs(v.var() / ((n + 1) / p ** 2) - 1), 0.3)
        self.assertEqual(set(numpy.array(self.exchanges())[:, 1:][:, 0]), {0, 1, 2})
        generator = numpy.random.default_rng(1)
        volume = [generator.gamma(n + 1, 1 / p, 200000) for p in pressures]
        for i in (0, 1):
            delta = (pressures[i] - pressures[i + 1]) * (volume[i + 1] - volume[i])
            expected = numpy.minimum(1, numpy.exp(-delta)).mean()
            self.assertLess(abs(self.told(done, i, i + 1) - expected), 0.06)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
