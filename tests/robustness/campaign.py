#!/usr/bin/python3
"""Campaigns of faults and kills against the real program.

    campaign.py faults PERRIN SHIM [--trials N]    every kind of call fails, at N places each (24)
    campaign.py kills  PERRIN      [--trials N]    N runs are killed, and resumed (50)

A run whose n-th write, sync, rename, … or allocation fails (SHIM: faults.c, preloaded) is complete
or says so with status 3; 2 is for files that it reads. Never is anything missing after status 0,
what was written is a beginning of the whole run, and the last checkpoint leads to the same bits.
The same holds for a run that is resumed under faults, and for one that is killed at any moment,
again and again.
"""

import argparse
import concurrent.futures
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

JOB = {
    "title": "campaign", "seed": 3,
    "system": {"type": "chains", "chains": 40, "pattern": "A3B2", "density": 0.5,
               "bond_length": 0.97},
    "velocity": {"temperature": 1},
    "neighbors": {"exclusions": []},
    "forces": [
        {"type": "dpd", "temperature": 1, "pairs": [
            {"types": ["A", "A"], "repulsion": 25, "gamma": 4.5},
            {"types": ["A", "B"], "repulsion": 30, "gamma": 4.5},
            {"types": ["B", "B"], "repulsion": 25, "gamma": 4.5}]},
        {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 20, "length": 0.97}}}],
    "observers": [
        {"type": "trajectory", "stride": 3,
         "quantities": ["position", "velocity", "image", "force"]},
        {"type": "gsd", "stride": 2, "quantities": ["position", "velocity", "image"]},
        {"type": "xtc", "stride": 3},
        {"type": "thermo", "stride": 1, "console_stride": 10},
        {"type": "structure_factor", "k_max": 3, "stride": 10, "rows_every": 20},
        {"type": "chain_size", "stride": 5},
        {"type": "profile", "stride": 5, "rows_every": 20},
        {"type": "checkpoint", "steps": 15}],
    "stages": [
        {"type": "md", "steps": 30, "integrator": {"type": "velocity_verlet", "timestep": 0.01}},
        {"type": "md", "steps": 30, "integrator": {
            "type": "langevin", "timestep": 0.01, "temperature": 1, "friction": 1, "axes": "xyz"}}]}
FILES = ["trajectory.h5", "thermo.h5", "structure_factor.h5", "chain_size.h5", "profile.h5",
         "trajectory.gsd", "trajectory.xtc"]
CHECKPOINTS = ["checkpoint.h5", "checkpoint.h5.prev"]
# Calls whose failure may leave a file beside the outputs, because it could not be removed or
# renamed.
LEAVE_LITTER = {"unlink", "rename", "open"}


def gsd_results(path):
    """The values of every name in every frame, as a reader without mercy sees them."""
    with open(path, "rb") as file:
        data = file.read()
    _, index_at, room, names_at, blocks = struct.unpack_from("<5Q", data)
    if len(data) < max(index_at + 32 * room, names_at + 64 * blocks):
        raise OSError("shorter than its header says")
    names = data[names_at:names_at + 64 * blocks].split(b"\0")
    frames = {}
    for entry in struct.iter_unpack("<QQqIHBB", data[index_at:index_at + 32 * room]):
        frame, rows, at, columns, name, kind, _ = entry
        if at == 0:
            break
        size = rows * columns * [0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1][kind]
        if at + size > len(data) or frame not in (len(frames) - 1, len(frames)):
            raise OSError(f"frame {frame} of {len(frames)} has {size} bytes at {at}")
        frames.setdefault(frame, {})[names[name].decode()] = numpy.frombuffer(data, numpy.uint8,
                                                                              size, at)
    moving = {"configuration/step", "configuration/dimensions", "configuration/box",
              "particles/position", "particles/velocity", "particles/image", "log/perrin/time",
              "log/perrin/stage"}
    found = {name: numpy.array([frame[name] for frame in frames.values()]) for name in moving}
    found.update((name, value) for name, value in frames.get(0, {}).items()
                 if name not in moving and not name.startswith("perrin/"))
    return found


def results(path):
    """Everything that a file says about the system; clocks and texts of the run are its own."""
    if path.endswith(".gsd"):
        return gsd_results(path)
    if path.endswith(".xtc"):  # frames, one behind the other; the last may be cut off by a kill
        return {"frames": numpy.fromfile(path, numpy.uint8)}
    found = {}
    with h5py.File(path) as file:
        def take(key, item):
            if isinstance(item, h5py.Dataset) and key.startswith(("particles", "observables")):
                found[key] = item[()]
        file.visititems(take)
    return found


def differences(whole, folder, begun):
    """What is not as in the whole run; `begun`: series may be shorter, together."""
    wrong = []
    for name in FILES:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            if not begun:
                wrong.append(f"{name} is missing")
            continue
        if begun and os.path.exists(path + ".journal"):
            continue  # in the middle of a change, which the resume finishes
        try:
            found = results(path)
        except (OSError, KeyError, RuntimeError) as error:
            wrong.append(f"{name} cannot be read: {error}")
            continue
        frames = len(found.get("particles/all/position/value", ()))
        for key, expected in whole[name].items():
            value = found.get(key)
            if value is None and begun and len(found.get("configuration/step", [1])) == 0:
                continue  # GSD without frames has nothing else, either
            if value is None:
                wrong.append(f"{name} has no {key}")
                continue
            size = len(value) if begun and expected.ndim > 0 else None
            if begun and name == "trajectory.h5" and key.endswith(("/value", "/step", "/time")):
                if size < frames:
                    wrong.append(f"{name}: {key} is shorter than the positions")
                size = frames
            same = (value[:size].tobytes() == expected[:size].tobytes() if expected.ndim > 0 else
                    value == expected)
            if not same:
                wrong.append(f"{name}: {key} differs")
    return wrong


class Campaign:
    def __init__(self, perrin, shim):
        self.perrin, self.shim = perrin, shim
        self.folder = tempfile.mkdtemp(prefix="perrin-campaign-")
        self.job = self.path("job.json")
        with open(self.job, "w") as out:
            json.dump(JOB, out)
        self.problems, self.counts = [], {}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, *arguments, fault=None):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if fault:
            environment.update(LD_PRELOAD=self.shim, **fault)
        return subprocess.Popen([self.perrin, *arguments], env=environment, cwd=self.folder,
                                text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, process):
        try:
            out, error = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            out, error = process.communicate()
            error += "\n(still running after two minutes)"
        return process.returncode, out, error

    def begin(self, folder, fault=None):
        return self.start("run", self.job, "--device", "cpu", "--threads", "1", "--output-dir",
                          folder,
                          fault=fault)

    def run_whole(self):
        status, _, error = self.finish(self.begin(self.path("whole")))
        if status != 0:
            sys.exit("the job does not run: " + error)
        self.whole = {name: results(self.path("whole", name)) for name in FILES}

    def resume(self, folder):
        """The last whole checkpoint leads to the whole run. None: there was no checkpoint."""
        names = [name for name in CHECKPOINTS if os.path.exists(os.path.join(folder, name))]
        if not names:
            return None
        status, error = -1, ""
        for name in names:  # the one before only where the last is not whole
            status, _, error = self.finish(self.start("resume", os.path.join(folder, name),
                                                      "--quiet"))
            if status == 0 or "the previous checkpoint is intact" not in error:
                break
        if status != 0:
            return [f"{names} cannot be resumed: {status} {error[-300:]}"]
        return ["resumed: " + what for what in differences(self.whole, folder, False)]

    def count(self, *group):
        self.counts[group] = self.counts.get(group, 0) + 1

    def problem(self, trial, what, folder=None):
        self.problems.append(f"{trial}: {what}")
        print("PROBLEM", self.problems[-1], flush=True)
        if folder and os.path.isdir(folder) and "PERRIN_CAMPAIGN_KEEP" in os.environ:
            kept = os.path.join(os.environ["PERRIN_CAMPAIGN_KEEP"],
                                f"{os.getpid()}-{len(self.problems)}")
            shutil.copytree(folder, kept, dirs_exist_ok=True)

    def end(self):
        for group in sorted(self.counts):
            print(*group, self.counts[group])
        print("problems:", len(self.problems))
        shutil.rmtree(self.folder, ignore_errors=True)
        sys.exit(1 if self.problems else 0)


class Faults(Campaign):
    # kind → the ways in which it fails: once, for good, short
    KINDS = {"write": ("once", "sticky", "short"), "sync": ("once", "sticky"),
             "truncate": ("once", "sticky"),
             "rename": ("once", "sticky"), "link": ("once", "sticky"), "unlink": ("once",),
             "open": ("once", "sticky"), "close": ("once",), "read": ("once",),
             "memory": ("once", "sticky"),
             "hdf5_memory": ("once",)}
    ERRNO = {"once": "5", "sticky": "28", "short": "5"}  # EIO; ENOSPC
    BYTES = "4096"  # smaller allocations than that do not fail on any machine we know of

    def fault(self, kind, at, way="once"):
        it = {"FAULT_CALL": kind, "FAULT_AT": str(at), "FAULT_ERRNO": self.ERRNO[way],
              "FAULT_BYTES": self.BYTES}
        if way != "once":
            it["FAULT_" + way.upper()] = "1"
        return it

    def calls(self, start):
        """How often each kind of call is made by what start(fault) starts."""
        counts = {}
        for kind in self.KINDS:
            told = self.path("count")
            self.finish(start(dict(self.fault(kind, 0), FAULT_COUNT=told)))
            with open(told) as file:
                counts[kind] = int(file.read())
        return counts

    def places(self, calls, trials):
        """Every call, or so many at equal distances, the first and the last among them."""
        if calls <= trials:
            return range(1, calls + 1)
        return sorted({1 + k * (calls - 1) // (trials - 1) for k in range(trials)})

    def judge(self, trial, folder, status, error):
        kind = trial[1]
        self.count(*trial[:2], "status", status)
        if status == 0:
            for what in differences(self.whole, folder, False):
                self.problem(trial, "status 0, but " + what, folder)
            if not os.path.exists(os.path.join(folder, "checkpoint.h5")):
                self.problem(trial, "status 0 without a checkpoint", folder)
        else:
            # HDF5 1.10 corrupts its own memory where it gets none: no word, but no harm to files
            # either.
            crashed = kind == "hdf5_memory" and status in (-signal.SIGABRT, -signal.SIGSEGV)
            if not crashed and status not in ((2, 3) if kind in ("read", "open", "memory")
                                              else (3,)):
                self.problem(trial, f"status {status}: {error[-300:]}", folder)
            if not crashed and not error.strip():
                self.problem(trial, "no message", folder)
            if trial[0] == "run":
                for what in differences(self.whole, folder, True):
                    self.problem(trial, f"status {status}, and {what}", folder)
        litter = [name for name in os.listdir(folder) if name.endswith((".part", ".lock"))] \
            if os.path.isdir(folder) else []
        if litter and kind not in LEAVE_LITTER and status >= 0:
            self.problem(trial, f"left behind: {litter}", folder)

    def try_run(self, trial):
        _, kind, way, at = trial
        folder = self.path("-".join(map(str, trial)))
        status, _, error = self.finish(self.begin(folder, self.fault(kind, at, way)))
        self.judge(trial, folder, status, error)
        for what in self.resume(folder) or ():
            self.problem(trial, f"status {status}, {what}", folder)
        shutil.rmtree(folder, ignore_errors=True)

    def try_resume(self, trial):
        _, kind, way, at = trial
        folder = self.path("-".join(map(str, trial)))
        shutil.copytree(self.path("stopped"), folder)
        status, _, error = self.finish(self.begin_resume(folder, self.fault(kind, at, way)))
        self.judge(trial, folder, status, error)
        wrong = self.resume(folder)
        for what in ["no checkpoint is left"] if wrong is None else wrong:
            self.problem(trial, f"status {status}, {what}", folder)
        shutil.rmtree(folder, ignore_errors=True)

    def begin_resume(self, folder, fault):
        return self.start("resume", os.path.join(folder, "checkpoint.h5"), fault=fault)

    def run(self, trials):
        self.run_whole()
        calls = self.calls(lambda fault: self.begin(tempfile.mkdtemp(dir=self.folder), fault))
        # Stopped by a disk that fills up: with frames beyond its last checkpoint.
        self.finish(self.begin(self.path("stopped"),
                               self.fault("write", 7 * calls["write"] // 10, "sticky")))

        def copy(fault):
            folder = tempfile.mkdtemp(dir=self.folder)
            shutil.copytree(self.path("stopped"), folder, dirs_exist_ok=True)
            return self.begin_resume(folder, fault)
        resumed_calls = self.calls(copy)
        print("calls of a run", calls)
        print("calls of a resumed run", resumed_calls)
        # As many sticky and short faults as there are single ones would say little more.
        trial_list = [("run", kind, way, at) for kind, ways in self.KINDS.items() for way in ways
                      for at in self.places(calls[kind], trials if way == "once" else trials // 4)]
        resumes = [("resume", kind, "once", at) for kind in self.KINDS
                   for at in self.places(resumed_calls[kind], trials // 2)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.try_run, trial_list))
            list(pool.map(self.try_resume, resumes))
        print(len(trial_list) + len(resumes), "faults")


class Kills(Campaign):
    def check_files(self, trial, folder):
        for name in CHECKPOINTS:
            if os.path.exists(os.path.join(folder, name)):
                try:
                    with h5py.File(os.path.join(folder, name)) as file:
                        file.visititems(lambda _,
                                        item: item[()] if isinstance(item, h5py.Dataset) else None)
                except (OSError, RuntimeError) as error:
                    self.problem(trial, f"{name} cannot be read: {error}", folder)
        for what in differences(self.whole, folder, True):
            self.problem(trial, what, folder)

    def chain(self, number, kills):
        """A run that is killed up to `kills` times at random moments, then left to end. Returns the
        kills."""
        rng = random.Random(number)
        folder = self.path(f"killed-{number}")
        process = self.begin(folder)
        killed = 0
        while True:
            delay = rng.uniform(0.3, 1.05) if killed == 0 else rng.uniform(0, 1.05)
            try:
                process.wait(delay * self.seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed += 1
            status, _, error = self.finish(process)
            self.count("status", status)
            if status not in (0, -signal.SIGKILL):
                self.problem(number, f"status {status}: {error[-300:]}", folder)
                break
            self.check_files(number, folder)
            if status == 0 or killed == kills:
                break
            if not os.path.exists(os.path.join(folder, "checkpoint.h5")):
                self.count("killed before the first checkpoint")
                break
            process = self.start("resume", os.path.join(folder, "checkpoint.h5"), "--quiet")
        for what in self.resume(folder) or ():
            self.problem(number, what, folder)
        self.count("resumed to the end")
        shutil.rmtree(folder, ignore_errors=True)
        return killed

    def run(self, trials):
        self.run_whole()
        begin = time.monotonic()
        self.finish(self.begin(self.path("timed")))
        self.seconds = time.monotonic() - begin
        kills = number = 0
        while kills < trials and number < 20 * trials and len(self.problems) < 10:
            number += 1
            kills += self.chain(number, min(4, trials - kills))
        self.counts["kills",] = kills
        if kills < trials:
            self.problem("all", f"only {kills} kills came in time")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("campaign", choices=["faults", "kills"])
    parser.add_argument("perrin", type=os.path.abspath)
    parser.add_argument("shim", nargs="?", type=os.path.abspath)
    parser.add_argument("--trials", type=int)
    options = parser.parse_args()
    campaign = (Faults if options.campaign == "faults" else Kills)(options.perrin, options.shim)
    campaign.run(options.trials or (24 if options.campaign == "faults" else 50))
    campaign.end()
