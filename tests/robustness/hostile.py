#!/usr/bin/python3
"""Folders and files of others: damaged, made up, or made to do harm; file systems without locks.

    hostile.py PERRIN NO_LOCKS [unittest arguments]

Whatever a folder holds that `perrin resume`, `report` or `run` is pointed to, they end soon, with a
status of 0, 2 or 3 and a message that names the file, within 3 GB of memory; and they change no
file but those of the run in that folder. NO_LOCKS: no_locks.c, preloaded.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

import reseal

PERRIN, NO_LOCKS = map(os.path.abspath, sys.argv[1:3])

SYSTEM = {"seed": 1, "system": {"type": "lattice", "density": 0.6, "cells": [4, 4, 4]},
          "velocity": {"temperature": 1},
          "forces": [{"type": "wca",
                      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}]}
TRAJECTORY = {"type": "trajectory", "stride": 3}


def job(steps, observers):
    return {**SYSTEM, "observers": observers, "stages": [
        {"type": "md", "steps": steps,
         "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}


def limited(*arguments):
    return ["bash", "-c", 'ulimit -v 3000000; exec "$@"', "-", PERRIN, *arguments]


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-hostile-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def perrin(self, *arguments, status=None, names=None, **environment):
        """Ends within a minute; with one of these statuses, and a message that names the file."""
        done = subprocess.run(limited(*arguments), cwd=self.folder, capture_output=True, text=True,
                              timeout=60,
                              env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
        status = (0, 2, 3) if status is None else status
        self.assertIn(done.returncode, status if isinstance(status, tuple) else (status,),
                      f"{arguments}: {done.stderr[-500:]}")
        if done.returncode != 0 and names:
            self.assertIn(names, done.stderr)
        return done

    def run_job(self, observers, steps=60, folder="run", **environment):
        with open(self.path("job.json"), "w") as out:
            json.dump(job(steps, observers), out)
        self.perrin("run", "job.json", "--device", "cpu", "--threads", "1", "--quiet",
                    "--output-dir", folder, status=0, **environment)

    def stopped(self, observers):
        """A run of 60 steps that can be resumed from step 40."""
        self.run_job([*observers, {"type": "checkpoint", "steps": 20}])
        os.replace(self.path("run", "checkpoint.h5.prev"), self.path("run", "checkpoint.h5"))
        shutil.copytree(self.path("run"), self.path("good"))

    def again(self):
        shutil.rmtree(self.path("run"))
        shutil.copytree(self.path("good"), self.path("run"))

    def positions(self, *names):
        with h5py.File(self.path(*names)) as file:
            return file["particles/all/position/value"][()]

    def test_file_systems_without_locks(self):
        self.run_job([TRAJECTORY, {"type": "checkpoint", "steps": 20}], folder="locked")
        for error in ("37", "95", "22", "38"):  # ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS
            shim = {"LD_PRELOAD": NO_LOCKS, "LOCK_ERRNO": error}
            self.run_job([TRAJECTORY, {"type": "checkpoint", "steps": 20}], folder=error, **shim)
            self.perrin("resume", f"{error}/checkpoint.h5.prev", "--quiet", status=0, **shim)
            self.perrin("convert", f"{error}/trajectory.h5", f"{error}/t.gsd", status=0, **shim)
            self.perrin("report", error, status=0, **shim)
            numpy.testing.assert_array_equal(self.positions(error, "trajectory.h5"),
                                             self.positions("locked", "trajectory.h5"))

    def test_a_flipped_bit_in_an_output_ends_a_resume(self):
        self.stopped([TRAJECTORY])
        whole = self.positions("good", "trajectory.h5")
        with open(self.path("good", "trajectory.h5"), "rb") as file:
            data = file.read()
        places = [m.start() for m in re.finditer(b"EADB|OHDR|EAHD|EAIB", data)]
        self.assertGreater(len(places), 30)
        refused = 0
        for place in places[::2]:
            self.again()
            bad = bytearray(data)
            bad[place + 30] ^= 1
            with open(self.path("run", "trajectory.h5"), "wb") as file:
                file.write(bad)
            done = self.perrin("resume", "run/checkpoint.h5", "--quiet", names="trajectory.h5")
            refused += done.returncode != 0
            if done.returncode == 0:
                numpy.testing.assert_array_equal(self.positions("run", "trajectory.h5"), whole)
        self.assertGreater(refused, 0)

    def checksum(self, file):
        total = reseal.xxh64(file["version"][()], reseal.xxh64(file["job"][()]))
        for name in file["facts"]:
            total += reseal.xxh64(file["facts/" + name][()], reseal.xxh64(name.encode()))
        for name in reseal.records(file):
            total += reseal.record_hash(name, file["state/" + name])
        return total % 2**64

    def reseal(self, change, path="run/checkpoint.h5"):
        """Changes a checkpoint and makes hash and seal fit where it is still one."""
        path = self.path(path)
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(data[:-32])
        with h5py.File(path, "r+") as file:
            if change(file):
                file["checksum"][()] = self.checksum(file)
        reseal.seal(path)

    def test_checkpoints_of_another_structure(self):
        self.stopped([])
        os.mkfifo(self.path("pipe"))
        with h5py.File(self.path("other.h5"), "w") as file:
            file["x"] = numpy.zeros(256)

        def within_itself(file):
            file["state"]["loop"] = file["state"]

        def record_within_itself(file):
            group = file["state/configuration"]
            for k in range(30):
                group[f"a{k}"] = file["state"]

        def nested(file):
            group = file["state"]
            for _ in range(5000):
                group = group.create_group("a")

        def from_a_pipe(file):
            del file["version"]
            file["version"] = h5py.ExternalLink(self.path("pipe"), "/x")

        def record_elsewhere(file):
            file["state/elsewhere"] = h5py.ExternalLink(self.path("other.h5"), "/x")

        def soft(file):
            file["state/soft"] = h5py.SoftLink("/state")

        def virtual(file):
            layout = h5py.VirtualLayout(shape=(256,), dtype="f8")
            layout[:] = h5py.VirtualSource(self.path("other.h5"), "x", shape=(256,))
            file["state"].create_virtual_dataset("virtual", layout)

        def texts(file):
            del file["version"]
            file.create_dataset("version", shape=(1 << 27,), dtype="S8", chunks=(1 << 20,))

        def numbers(file):
            file["state"].create_dataset("numbers", shape=(1 << 40,), dtype="f8", chunks=(1024,))

        def raw_numbers(file):
            file["state"].create_dataset("numbers", shape=(1 << 28,), dtype="f8")

        def no_version(file):
            del file["version"]

        def job_is_a_group(file):
            del file["job"]
            file.create_group("job")

        changes = [within_itself, record_within_itself, nested, from_a_pipe, record_elsewhere, soft,
                   virtual, texts, numbers, raw_numbers, no_version, job_is_a_group]
        for fact in ("device", "job_directory", "output_directory"):
            def without(file, fact=fact):
                del file["facts"][fact]
                return True
            changes.append(without)
        for text in ("[]", "{}", '{"stages": 3}', '{"stages": []}', '{"stages": [3]}',
                     '{"stages": [{"type": 3}], "observers": [3]}', "[" * 100000):
            def other_job(file, text=text):
                del file["job"]
                file["job"] = text
                return True
            changes.append(other_job)
        for change in changes:
            self.again()
            self.reseal(change)
            for more in ([], ["--steps", "10"]):
                done = self.perrin("resume", "run/checkpoint.h5", "--quiet", *more, status=2,
                                   names="checkpoint.h5")
                self.assertNotIn("filesystem error", done.stderr, change.__name__)
            self.perrin("report", "run", "--overwrite", status=(0, 2))

    def test_a_checkpoint_whose_facts_are_nested_in_a_report(self):
        self.stopped([])

        def timings(file):
            if "timings" in file["facts"]:
                del file["facts/timings"]
            file["facts/timings"] = "[" * 300000 + "]" * 300000
            return True
        self.reseal(timings)
        self.perrin("report", "run", status=0)

    def test_nothing_is_written_through_links(self):
        self.stopped([TRAJECTORY, {"type": "gsd", "stride": 5}, {"type": "xtc", "stride": 5},
                      {"type": "thermo", "stride": 2}])
        text = b"echo a file of the user\n" * 400
        page = b"#!/bin/sh\necho written by perrin resume\n".ljust(4096, b"#")
        for name in ("trajectory.h5", "trajectory.gsd", "trajectory.xtc", "thermo.h5"):
            with open(self.path("good", name), "rb") as file:
                own = file.read()
            for contents in (text, own):
                for make in (os.symlink, os.link):
                    self.again()
                    with open(self.path("victim"), "wb") as file:
                        file.write(contents)
                    os.remove(self.path("run", name))
                    make(self.path("victim"), self.path("run", name))
                    if name != "trajectory.xtc":
                        journal = self.path("run", name + ".journal")
                        with open(journal, "wb") as file:
                            file.write(struct.pack("<QQ", 4096, 0) + page)
                        reseal.seal(journal)
                    elif make is os.link and contents != text:
                        continue  # a trajectory of the run under another name: may be continued
                    self.perrin("resume", "run/checkpoint.h5", "--quiet", status=(2, 3), names=name)
                    with open(self.path("victim"), "rb") as file:
                        self.assertEqual(file.read(), contents, f"{name} {make.__name__}")

    def test_a_journal_belongs_to_a_file_of_ours(self):
        self.stopped([TRAJECTORY])
        with open(self.path("run", "trajectory.h5"), "wb") as file:
            file.write(b"no HDF5 " * 1000)
        for pages in ((0,), (1 << 60,)):
            journal = self.path("run", "trajectory.h5.journal")
            with open(journal, "wb") as file:
                file.write(struct.pack("<Q", 4096))
                for page in pages:
                    file.write(struct.pack("<Q", page) + b"x" * 4096)
            reseal.seal(journal)
            self.perrin("resume", "run/checkpoint.h5", "--quiet", status=3, names="journal")
        os.remove(journal)
        os.symlink(self.path("good", "trajectory.h5"), journal)
        self.perrin("resume", "run/checkpoint.h5", "--quiet", status=(2, 3), names="journal")

    def test_no_other_files_are_shortened_as_trajectories(self):
        self.stopped([{"type": "xtc", "stride": 50}])

        def none(record):
            return record - record if record.size == 1 else record
        with h5py.File(self.path("run", "checkpoint.h5")) as file:
            names = [n for n in reseal.records(file) if n.endswith(("frames", "last_step"))]
        for name in names:
            reseal.change(self.path("run", "checkpoint.h5"), name,
                          none if name.endswith("frames") else lambda r: r - r - 1)
        with open(self.path("run", "trajectory.xtc"), "wb") as file:
            file.write(b"a thesis\n" * 1000)
        self.perrin("resume", "run/checkpoint.h5", "--quiet", status=(2, 3), names="trajectory.xtc")
        self.assertEqual(os.path.getsize(self.path("run", "trajectory.xtc")), 9000)

    def test_locks_that_are_no_locks(self):
        self.stopped([TRAJECTORY])
        lock = self.path("run", ".perrin.lock")
        with open(self.path("victim"), "w") as file:
            file.write("a file of the user")
        makers = {"pipe": lambda: os.mkfifo(lock), "folder": lambda: os.mkdir(lock),
                  "symbolic link": lambda: os.symlink(self.path("victim"), lock),
                  "hard link": lambda: os.link(self.path("victim"), lock)}
        for what, make in makers.items():
            self.again()
            make()
            self.perrin("report", "run", status=0)
            self.perrin("resume", "run/checkpoint.h5", "--quiet", status=2, names=".perrin.lock")
            self.perrin("run", "job.json", "--device", "cpu", "--quiet", "--overwrite",
                        "--output-dir", "run", status=2, names=".perrin.lock")
            with open(self.path("victim")) as file:
                self.assertEqual(file.read(), "a file of the user", what)

    def test_reports_of_files_that_are_made_up(self):
        self.run_job([TRAJECTORY, {"type": "thermo", "stride": 1}])
        deep = '{"stages":[{"name":' + "[" * 200000 + "]" * 200000 + "}]}"

        def deep_job(file):
            del file["parameters/perrin/job"]
            file["parameters/perrin/job"] = deep

        def many_texts(file):
            del file["parameters/perrin/version"]
            file.create_dataset("parameters/perrin/version", shape=(1 << 27,), dtype="S8",
                                chunks=(1024,))

        def job_is_a_number(file):
            del file["parameters/perrin/job"]
            file["parameters/perrin/job"] = 3

        def edges_without_columns(file):
            source = file["observables/" + next(iter(file["observables"]))]
            for name, shape in (("a_edges", (61,)), ("b", (61, 61)), ("c_edges", (61, 1, 1))):
                group = file.create_group("observables/" + name)
                group["value"] = numpy.zeros(shape)
                group["step"], group["time"] = source["step"], source["time"]

        def axis_of_another_shape(file):
            source = file["observables/" + next(iter(file["observables"]))]
            for name, shape, axis in (("profile", (61, 40), "places"), ("places", (61,), "")):
                group = file.create_group("observables/" + name)
                group["value"] = numpy.zeros(shape)
                group["step"], group["time"] = source["step"], source["time"]
                if axis:
                    group.attrs["axis"] = axis

        for change in (deep_job, many_texts, job_is_a_number, edges_without_columns,
                       axis_of_another_shape):
            for name in ("trajectory.h5", "thermo.h5"):
                shutil.rmtree(self.path("x"), ignore_errors=True)
                os.mkdir(self.path("x"))
                shutil.copy(self.path("run", name), self.path("x", "t.h5"))
                with h5py.File(self.path("x", "t.h5"), "r+") as file:
                    if change in (edges_without_columns, axis_of_another_shape) and \
                            "observables" not in file:
                        continue
                    change(file)
                self.perrin("report", "x", status=(0, 2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
