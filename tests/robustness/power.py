#!/usr/bin/python3
"""Losing power: what may be on the disk then, replayed from logs of all calls, and resumed.

    power.py PERRIN CALLS [--states N]    CALLS: calls.c, to be preloaded; N of each kind (8)

A run, and a resume of one, are logged with every call that changes a file. The power is lost at N
places of each log, and what is on the disk then is one of

    synced     names as they are, contents as each file's last fsync has left them
    folder     names, too, as the last fsync of the folder has left them
    zeros      as synced, but sizes as they are: zeros where the contents did not come
    random     as synced, and any half of the writes since; sizes as far as they reach
    sizes      random, and sizes as they are

After the first three the last checkpoint leads to the bits of the run that was never interrupted.
After the others it does, or the resume ends with status 2 or 3 and names the file (a block that
refers to another came without it): never does it hang, and never is anything wrong after status 0.
"""

import argparse
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import campaign

BUSSI = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}
JOB = {"seed": 3,
       "system": {"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [3, 3, 3]},
       "velocity": {"temperature": 1},
       "forces": [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
       "observers": [
           {"type": "trajectory", "stride": 3, "compression": "deflate",
            "quantities": ["position", "velocity", "image", "force"]},
           {"type": "trajectory", "stride": 4, "file": "unwrapped.h5", "positions": "unwrapped",
            "precision": "double"},
           {"type": "trajectory", "stride": 2, "file": "rounded.h5", "compression": "rounded"},
           {"type": "gsd", "stride": 2, "quantities": ["position", "velocity", "image"]},
           {"type": "xtc", "stride": 2},
           {"type": "thermo", "stride": 1, "box": True}, {"type": "checkpoint", "steps": 9}],
       "stages": [
           {"type": "md", "steps": 25, "integrator": {
               **BUSSI, "barostat": {"pressure": 1, "tau": 0.5, "stride": 3}}},
           {"type": "md", "steps": 25, "integrator": BUSSI}]}
FILES = ["trajectory.h5", "unwrapped.h5", "rounded.h5", "thermo.h5", "trajectory.gsd",
         "trajectory.xtc"]
CERTAIN = ("synced", "folder", "zeros")


class Disk:
    """Files by inode, as the system has them and as the disk may have them."""

    def __init__(self, folder):
        self.names, self.now, self.synced, self.since = {}, {}, {}, {}
        for name in os.listdir(folder) if folder else ():
            path = os.path.join(folder, name)
            inode = os.stat(path).st_ino
            self.names[name] = inode
            with open(path, "rb") as file:
                self.synced[inode] = file.read()
            self.now[inode], self.since[inode] = bytearray(self.synced[inode]), []
        self.names_on_disk = dict(self.names)

    @staticmethod
    def change(contents, call):
        kind, at, data = call
        if kind == "W":
            contents.extend(bytes(max(0, at + len(data) - len(contents))))
            contents[at:at + len(data)] = data
        elif at < len(contents):
            del contents[at:]
        else:
            contents.extend(bytes(at - len(contents)))

    def do(self, call):
        kind, a, b, at, inode, data = call
        if kind in "CWT" and inode not in self.now:
            self.now[inode], self.synced[inode], self.since[inode] = bytearray(), b"", []
        if kind == "C":
            if self.names.get(a) != inode:  # the number of a file that is gone
                self.now[inode], self.synced[inode], self.since[inode] = bytearray(), b"", []
            self.names[a] = inode
        elif kind in "WT":
            self.change(self.now[inode], (kind, at, data))
            self.since[inode].append((kind, at, data))
        elif kind == "S" and inode in self.now:
            self.synced[inode], self.since[inode] = bytes(self.now[inode]), []
        elif kind == "D":
            self.names_on_disk = dict(self.names)
        elif kind == "R" and a in self.names:
            self.names[b] = self.names.pop(a)
        elif kind == "L" and a in self.names:
            self.names[b] = self.names[a]
        elif kind == "U":
            self.names.pop(a, None)

    def after_power_is_lost(self, how, rng):
        for name, inode in (self.names_on_disk if how == "folder" else self.names).items():
            contents = bytearray(self.synced[inode])
            for call in self.since[inode] if how in ("random", "sizes") else ():
                if rng.random() < 0.5:
                    self.change(contents, call)
            if how in ("zeros", "sizes"):
                contents.extend(bytes(max(0, len(self.now[inode]) - len(contents))))
            if name != ".perrin.lock":
                yield name, bytes(contents)


class Power(campaign.Campaign):
    def begin(self, folder, fault=None):
        return self.start("run", self.job, "--device", "cpu", "--threads", "1", "--quiet",
                          "--output-dir", folder, fault=fault)

    def log(self, *arguments, folder):
        """All calls of a run that change files of the folder."""
        log = self.path("log")
        if os.path.exists(log):
            os.remove(log)
        self.finish(self.start(*arguments, fault={"CALLS_UNDER": folder, "CALLS_LOG": log}))
        with open(log, "rb") as file:
            data = file.read()
        calls, at = [], 0
        while at < len(data):
            total, kind, la, lb, place, inode, n = struct.unpack_from("<IcIIqqq", data, at)
            begin = at + 37
            names = [os.path.basename(data[p:q].decode())
                     for p, q in ((begin, begin + la), (begin + la, begin + la + lb))]
            calls.append((kind.decode(), *names, place, inode,
                          data[begin + la + lb:begin + la + lb + n]))
            at += 4 + total
        return calls

    def try_resume(self, trial):
        """good, refused or wrong."""
        where, how, at, state = trial
        folder = self.path("lost")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name, contents in state:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(contents)
        wrong = self.resume(folder)
        if wrong is None:
            self.count(where, how, "no checkpoint yet")
        elif not wrong:
            self.count(where, how, "good")
        elif how not in CERTAIN and re.search(r"cannot be resumed: [23] .*[.](h5|gsd|xtc)\b",
                                              wrong[0], re.DOTALL):
            self.count(where, how, "refused")
            print(where, how, at, wrong[0][-200:], flush=True)
        else:
            self.problem((where, how, at), wrong[0], folder)

    def run(self, states):
        self.run_whole()
        rng = random.Random(1)
        lost = self.path("run")
        logs = [("run", None, self.log("run", self.job, "--device", "cpu", "--threads", "1",
                                       "--quiet", "--output-dir", lost, folder=lost))]
        # What is resumed has frames beyond its checkpoint.
        half = self.path("half")
        shutil.copytree(lost, half)
        os.replace(os.path.join(half, "checkpoint.h5.prev"), os.path.join(half, "checkpoint.h5"))
        kept = self.path("kept")
        before = Disk(half)
        shutil.copytree(half, kept)
        logs.append(("resume", before, self.log(
            "resume", os.path.join(half, "checkpoint.h5"), "--quiet", folder=half)))
        for where, before, calls in logs:
            print(len(calls), "calls of a", where, flush=True)
            places = sorted({len(calls) * k // states + rng.randrange(max(1, len(calls) // states))
                             for k in range(states)})
            for how in CERTAIN + ("random", "sizes"):
                disk, done = Disk(None), 0
                if before is not None:
                    disk.names = dict(before.names)
                    disk.names_on_disk = dict(before.names)
                    disk.now = {k: bytearray(v) for k, v in before.synced.items()}
                    disk.synced = dict(before.synced)
                    disk.since = {k: [] for k in before.synced}
                for at in places:
                    for call in calls[done:at]:
                        disk.do(call)
                    done = at
                    self.try_resume((where, how, at, list(disk.after_power_is_lost(how, rng))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("perrin", type=os.path.abspath)
    parser.add_argument("shim", type=os.path.abspath)
    parser.add_argument("--states", type=int, default=8)
    options = parser.parse_args()
    campaign.JOB, campaign.FILES = JOB, FILES
    power = Power(options.perrin, options.shim)
    power.run(options.states)
    power.end()
