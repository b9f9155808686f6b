"""Sweeps that are killed, run twice at the same time, and whose input changes."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import perrin

SWEEP = """
import sys, perrin
job = {"seed": 1, "system": {"type": "lattice", "density": 0.7, "cells": [4, 4, 4]},
       "velocity": {"temperature": 1},
       "forces": [{"type": "lennard_jones", "cutoff": 2.2,
                   "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
       "observers": [{"type": "thermo", "stride": 10}],
       "stages": [{"type": "md", "steps": 20000,
                   "integrator": {"type": "velocity_verlet", "timestep": 0.004}}]}
if __name__ == "__main__":
    table = perrin.sweep(job, {"seed": [1, 2, 3]}, folder=sys.argv[1], processes=2, threads=1,
                         device="cpu")
    print("errors:", table["error"].dropna().tolist() if "error" in table else [])
"""


def children_of(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        return [int(child) for child in file.read().split()]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "took too long"
        time.sleep(0.05)


def test_workers_end_with_a_killed_sweep_and_it_goes_on(tmp_path):
    script, folder = tmp_path / "scan.py", tmp_path / "scan"
    script.write_text(SWEEP)
    command = [sys.executable, str(script), str(folder)]
    process = subprocess.Popen(command)
    wait_until(lambda: process.poll() is not None or folder.exists() and
               sum(os.path.exists(folder / f / "thermo.h5") for f in os.listdir(folder)) >= 2)
    workers = children_of(process)
    assert len(workers) >= 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert again.stdout == "errors: []\n", again.stdout + again.stderr
    wait_until(lambda: not any(map(alive, workers)))


def test_a_point_that_another_sweep_runs_is_waited_for(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 20
    liquid["observers"] = [{"type": "thermo", "stride": 5}]
    table = perrin.sweep(liquid, {"seed": [1]}, folder=tmp_path)
    os.remove(os.path.join(table["folder"][0], "row.json"))
    rows = []
    with open(table["folder"][0] + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(
            target=lambda: rows.append(perrin.sweep(liquid, {"seed": [1]}, folder=tmp_path)))
        thread.start()
        time.sleep(0.5)
        assert not rows
        with open(os.path.join(table["folder"][0], "row.json"), "w") as file:
            file.write('{"skip": 0.2, "row": {"of": "the other"}}')
    thread.join()
    assert rows[0]["of"][0] == "the other"
    assert not os.path.exists(table["folder"][0] + ".lock")


def test_rows_are_of_what_was_asked_for(liquid, tmp_path):
    """The runs stay; means are of this `skip`, and columns of this `measure`."""
    liquid["stages"][0]["steps"] = 40
    liquid["observers"] = [{"type": "thermo", "stride": 2}]
    parameters = {"seed": [1, 2]}
    table = perrin.sweep(liquid, parameters, folder=tmp_path)
    files = [os.path.join(folder, "thermo.h5") for folder in table["folder"]]
    made = [os.stat(file).st_mtime_ns for file in files]
    for skip in (0.2, 0.75, 0.2):
        table = perrin.sweep(liquid, parameters, folder=tmp_path, skip=skip)
        rows = [perrin.thermo(file)["temperature"].to_numpy() for file in files]
        assert table["temperature"].tolist() == pytest.approx(
            [t[int(skip * 21):].mean() for t in rows], rel=1e-12)
    for number in (1, 2):
        table = perrin.sweep(liquid, parameters, folder=tmp_path,
                             measure=lambda folder: {"n": number})
        assert table["n"].tolist() == [number] * 2 and "temperature" not in table
    with pytest.warns(UserWarning, match="2 of 2 points failed"):
        perrin.sweep(liquid, parameters, folder=tmp_path, measure=lambda folder: {"n": 1 / 0})
    # Rows as they were written without a word on what they are of.
    with open(os.path.join(table["folder"][0], "row.json"), "w") as file:
        file.write('{"temperature": 5}')
    table = perrin.sweep(liquid, parameters, folder=tmp_path, together=True)
    assert table["temperature"][0] == pytest.approx(rows[0][4:].mean(), rel=1e-12)
    assert made == [os.stat(file).st_mtime_ns for file in files]
    with pytest.raises(perrin.JobError, match=r"sweep\(skip\): must be a number from 0"):
        perrin.sweep(liquid, parameters, folder=tmp_path, skip=1)


def test_points_with_functions_run_anew(liquid, tmp_path):
    """The job does not say what a function does."""
    def job(pull):
        force = perrin.PythonForce(lambda particles: np.full((len(particles), 3), pull))
        return {**liquid, "forces": [force], "stages": [{**liquid["stages"][0], "steps": 100}],
                "observers": [{"type": "thermo", "stride": 100}]}

    kinetic = [perrin.sweep(job(pull), {"seed": [1]}, folder=tmp_path, measure=lambda folder: {
        "energy": perrin.thermo(os.path.join(folder, "thermo.h5"))["kinetic_energy"].iloc[-1]})
        ["energy"][0] for pull in (0.0, 2.0, -2.0)]
    # All particles get the velocity f t/m along each axis; what they had counts with both signs.
    gained = (kinetic[1] + kinetic[2]) / 2 - kinetic[0]
    assert gained == pytest.approx(256 * 3 * (2.0 * 0.5) ** 2 / 2, rel=1e-4)
    with pytest.raises(perrin.JobError, match=r"PythonForce\(.*\) cannot be a value"):
        perrin.sweep(job(0.0), {"forces[0]": job(2.0)["forces"]}, folder=tmp_path)


def test_warnings_of_points_in_other_processes(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 5
    liquid["neighbors"] = {"exclusions": ["molecules"]}  # there are none
    with pytest.warns(perrin.JobWarning) as alone:
        perrin.sweep(liquid, {"seed": [1]}, folder=tmp_path / "alone")
    with pytest.warns(perrin.JobWarning) as there:
        perrin.sweep(liquid, {"seed": [1, 2]}, folder=tmp_path / "there", processes=2)
    texts = {str(one.message) for one in alone}
    assert texts and {str(one.message) for one in there} == texts
    assert {one.filename for one in there} == {__file__}


def test_a_changed_input_makes_another_point(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(x):
        (tmp_path / "in.xyz").write_text(
            f'2\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3\nA {x} 0 0\nA 4 4 4\n')
    job = {"seed": 1, "device": "cpu", "system": {"type": "file", "path": "in.xyz"},
           "stages": [{"type": "md", "steps": 1,
                       "integrator": {"type": "velocity_verlet", "timestep": 0.001}}]}
    (tmp_path / "job.json").write_text(json.dumps(job))
    for of in (job, "job.json", tmp_path / "job.json"):
        write(1)
        first = perrin.sweep(of, {"seed": [1, 2]}, folder="scan")
        same = perrin.sweep(of, {"seed": [1, 2]}, folder="scan")
        write(2)
        changed = perrin.sweep(of, {"seed": [1, 2]}, folder="scan")
        assert list(first["folder"]) == list(same["folder"])
        assert not set(first["folder"]) & set(changed["folder"])
        by_value = perrin.sweep(of, {"system.path": ["in.xyz"]}, folder="scan")
        write(3)
        other = perrin.sweep(of, {"system.path": ["in.xyz"]}, folder="scan")
        assert by_value["folder"][0] != other["folder"][0]


def test_points_together_are_those_one_by_one(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 40
    job = {**liquid, "observers": [{"type": "thermo", "stride": 5}]}
    parameters = {"velocity.temperature": [0.8, 1.0, 1.4], "seed": [1, 2]}
    alone = perrin.sweep(job, parameters, folder=tmp_path / "alone")
    together = perrin.sweep(job, {**parameters, "seed": [1]}, folder=tmp_path / "together",
                            together=True)
    assert len(together) == 3
    # More points: only the new ones run.
    before = {place: os.stat(os.path.join(place, "row.json")).st_mtime_ns
              for place in together["folder"]}
    together = perrin.sweep(job, parameters, folder=tmp_path / "together",
                            together=True)
    for place, time_ns in before.items():
        assert os.stat(os.path.join(place, "row.json")).st_mtime_ns == time_ns
    assert not (tmp_path / "together" / "together").exists()
    numbers = [name for name in alone.columns if name != "folder"]
    assert alone[numbers].equals(together[numbers])
    with pytest.raises(perrin.JobError, match="a sweep varies a job of one system"):
        perrin.sweep({**job, "ensemble": {"count": 2}}, parameters, folder=tmp_path / "nested",
                     together=True)


def test_one_of_the_points_together_fails(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 20
    with pytest.warns(UserWarning, match="1 of 2 points failed"):
        table = perrin.sweep(liquid, {"velocity.temperature": [1.0, 1e9]},
                             folder=tmp_path / "sweep", together=True,
                             measure=lambda folder: {"ran": 1})
    assert table["ran"].tolist()[0] == 1
    assert "step" in table["error"].tolist()[1]
