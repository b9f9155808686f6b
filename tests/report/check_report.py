#!/usr/bin/env python3
"""`perrin report`: its statistics beside numpy and theory, its pages beside the files and in a
browser, and what it says of runs that are not complete, of bad folders and files.

    check_report.py PERRIN FOLDER      PERRIN_NEED_BROWSER=1: without Chromium it fails
"""

import atexit
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np

import browser
import expected as reference

perrin = sys.argv[1]
work = pathlib.Path(sys.argv[2])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
TITLE = 'Liquid </script><b> & "quotes" <!-- é'


def run(*arguments, status=0):
    done = subprocess.run([perrin, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def report(folder, *arguments):
    said = run("report", folder, *arguments)
    page = (folder / "report.html").read_text()
    text = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
    assert "<" not in text
    return json.loads(text), said


def series(data, file, name):
    of = next(o for o in data["observables"] if o["file"] == file)
    return next(q for q in of["series"] if q["name"] == name)


def near(a, b, tolerance=2e-6):
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def table(path, columns):
    """A file of observables as others might write it; rows 10 steps of 0.005 apart."""
    with h5py.File(path, "w") as f:
        for name, values in columns.items():
            group = f.create_group(f"observables/{name}")
            group["value"] = values
            group["step"] = np.arange(len(values)) * 10
            group["time"] = np.arange(len(values)) * 0.05


def autoregressive(rng, n, phi):
    """Unit variance, correlation phi^t: the error of the mean of n is known."""
    x = np.empty(n)
    x[0] = rng.standard_normal()
    noise = rng.standard_normal(n) * np.sqrt(1 - phi * phi)
    for k in range(1, n):
        x[k] = phi * x[k - 1] + noise[k]
    return x


def check_statistics():
    """Against numpy to the last digit written, and against what theory says of the process."""
    folder = work / "made"
    folder.mkdir()
    rng = np.random.default_rng(7)
    n, phi = 40000, 0.9
    x = autoregressive(rng, n, phi)
    decay = 40 * np.exp(-np.arange(n) / 500.0)
    columns = {"level": 3 + x, "decaying": x + decay, "drifting": x + np.linspace(0, 8, n),
               "wild": np.concatenate([[5e4, 300.0], autoregressive(rng, 500, 0.3)]),
               "short": x[:12], "constant": np.full(100, 4.25)}
    for name, values in columns.items():
        table(folder / f"{name}.h5", {name: values})
    data, _ = report(folder)
    assert data["runs"] == [] and data["standing"]["state"] == "unknown"
    found = {}
    for name, values in columns.items():
        t = found[name] = series(data, f"{name}.h5", name)["lines"][0]["statistics"]
        if name in ("short", "constant"):
            continue
        begin, g = reference.start(values)
        assert t["start"] == begin and near(t["inefficiency"], g), (name, t, begin, g)
        used = values[begin:]
        assert near(t["mean"], used.mean()), name
        assert near(t["error"], reference.blocked_error(used)), name
        assert np.allclose(t["errors"], reference.block_errors(used), rtol=2e-6), name
    # The variance of the mean of n is (1 + phi) / (1 - phi) / n to O(1/n²).
    theory = np.sqrt((1 + phi) / (1 - phi) / n)
    t = found["level"]
    assert abs(t["error"] / theory - 1) < 0.15 and abs(t["mean"] - 3) < 4 * theory
    assert abs(t["inefficiency"] / 19 - 1) < 0.15 and t["level"] and t["verdict"] == "stationary"
    # 40 exp(-t/500) is below the noise after some 2000 rows; the mean is that of what follows.
    t = found["decaying"]
    assert 1500 < t["start"] < 12000 and t["level"] and abs(t["mean"]) < 5 * theory
    assert not found["drifting"]["level"]
    assert found["wild"]["start"] >= 2 and abs(found["wild"]["mean"]) < 0.3
    assert not found["short"]["level"] and "too short" in found["short"]["verdict"]
    assert found["constant"]["verdict"] == "constant" and found["constant"]["mean"] == 4.25
    # The extremes of a long series stay in its figure.
    line = series(data, "drifting.h5", "drifting")["lines"][0]
    assert len(line["x"]) <= 600
    assert near(max(line["y"]), columns["drifting"].max())
    assert near(min(line["y"]), columns["drifting"].min())
    return folder


JOB = {
    "title": TITLE, "seed": 18446744073709551615,
    "system": {"type": "lattice", "structure": "fcc", "density": 0.8, "cells": [5, 5, 5],
               "types": {"A": 0.7, "B": 0.3}},
    "velocity": {"temperature": 1.2},
    "forces": [{"type": "wca", "pairs": [{"types": a, "epsilon": 1, "sigma": 1}
                                         for a in (["A", "A"], ["A", "B"], ["B", "B"])]}],
    "observers": [{"type": "trajectory", "stride": 200}, {"type": "thermo", "stride": 4},
                  {"type": "rdf", "stride": 50, "rows_every": 100, "r_max": 3},
                  {"type": "mean_square_displacement", "stride": 10, "rows_every": 500},
                  {"type": "structure_factor", "stride": 100, "rows_every": 500, "k_max": 2.5},
                  {"type": "profile", "stride": 100, "rows_every": 500, "bins": 10},
                  {"type": "checkpoint"}],
    "stages": [{"type": "md", "name": "melt", "steps": 400,
                "integrator": {"type": "velocity_verlet", "timestep": 0.004}},
               {"type": "md", "name": "production", "steps": 1200,
                "integrator": {"type": "velocity_verlet", "timestep": 0.004}}]}


def make(name, job, *arguments):
    folder = work / name
    folder.mkdir()
    file = work / f"{name}.json"
    file.write_text(json.dumps(job))
    return folder, ["run", file, "--output-dir", folder, "--quiet", "--threads", "1",
                    "--device", "cpu", *arguments]


def check_run():
    folder, command = make("run", JOB)
    run(*command)
    data, _ = report(folder)
    assert data["standing"]["state"] == "complete"
    first = data["runs"][0]
    assert len(data["runs"]) == 1 and first["seed"] == str(JOB["seed"])
    assert json.loads(first["job"])["title"] == TITLE and first["device"].startswith("CPU")
    assert [(s["name"], s["begin"], s["steps"]) for s in data["stages"]] == [
        ("melt", 0, 400), ("production", 400, 1200)]
    assert data["timings"]["steps"] == 1600 and data["timings"]["particles"] == 500
    assert 0 < data["timings"]["forces"] < data["timings"]["total"]
    assert data["timings"]["file"] == "perrin.log"
    line = series(data, "thermo.h5", "pressure")["lines"][0]
    assert line["x"][0] == 0 and near(line["last_stage"]["x"][0], 404 * 0.004)
    assert line["last_stage"]["y"][-1] == line["y"][-1]
    with h5py.File(folder / "thermo.h5") as f:
        for name in ("pressure", "temperature"):
            values = f[f"observables/{name}/value"][:]
            t = series(data, "thermo.h5", name)["lines"][0]["statistics"]
            production = values[f[f"observables/{name}/step"][:] >= 400]
            begin, g = reference.start(production)
            assert t["rows"] == len(production) and t["start"] == begin
            assert near(t["mean"], production[begin:].mean())
            assert near(t["error"], reference.blocked_error(production[begin:]))
    check_curves(folder, data)
    check_view(folder, data)
    return folder


def curve(data, file, name):
    of = next(o for o in data["observables"] if o["file"] == file)
    return next(c for c in of["curves"] if c["name"] == name)


def check_curves(folder, data):
    with h5py.File(folder / "rdf.h5") as f:
        rows = f["observables/rdf/step"][:] >= 400
        g = f["observables/rdf/value"][:][rows]
        seen = curve(data, "rdf.h5", "rdf")
        assert seen["axis"]["name"] == "r" and [x["label"] for x in seen["lines"]] == [
            "A-A", "A-B", "B-B"]
        assert np.allclose(seen["lines"][1]["x"], f["observables/r/value"][-1], rtol=1e-5)
        assert np.allclose(seen["lines"][1]["y"], g.mean(axis=0)[1], rtol=2e-6, atol=1e-9)
        error = [reference.blocked_error(b) if len(b) > 3 else b.std(ddof=1) / len(b)**0.5
                 for b in g[:, 1].T]
        assert np.allclose(seen["lines"][1]["e"], error, rtol=1e-5, atol=1e-9)
    with h5py.File(folder / "mean_square_displacement.h5") as f:
        value = f["observables/mean_square_displacement/value"][-1]
        seen = curve(data, "mean_square_displacement.h5", "mean_square_displacement")
        good = np.isfinite(value[1])
        assert np.allclose(seen["lines"][1]["y"], value[1][good], rtol=2e-6)
        assert np.allclose(seen["lines"][1]["x"], f["observables/lag_time/value"][-1][good],
                           rtol=1e-5)
    with h5py.File(folder / "structure_factor.h5") as f:
        k = np.linalg.norm(f["parameters/perrin/wave_vectors"][:], axis=1)
        rows = f["observables/structure_factor/step"][:] >= 400
        s = f["observables/structure_factor/value"][:][rows].mean(axis=0)
        seen = curve(data, "structure_factor.h5", "structure_factor")
        shells = [s[np.abs(k - x) < 1e-4].mean() for x in seen["lines"][0]["x"]]
        assert seen["axis"]["name"] == "|k|" and np.allclose(seen["lines"][0]["y"], shells,
                                                            rtol=1e-5)
    with h5py.File(folder / "profile.h5") as f:
        rows = f["observables/velocity/step"][:] >= 400
        v = f["observables/velocity/value"][:][rows].mean(axis=0)
        seen = curve(data, "profile.h5", "velocity")
        assert len(seen["lines"]) == 3
        assert np.allclose(seen["lines"][2]["y"], v[:, 2], rtol=2e-6)


def check_curve_errors():
    """Errors of curves, by blocking: of rows, and of what each row adds to a best estimate."""
    folder = work / "curves"
    folder.mkdir()
    rng = np.random.default_rng(5)
    n, phi = 900, 0.8
    x = np.array([autoregressive(rng, n, phi) for _ in range(40)]).T
    x[:, 7] = np.nan
    x[3, 8] = np.nan
    table(folder / "rows.h5", {"g": 5 + x, "r": np.tile(np.arange(40.0), (n, 1))})
    seen = curve(report(folder)[0], "rows.h5", "g")
    errors = [reference.blocked_error(b[np.isfinite(b)]) for b in x.T if np.isfinite(b).any()]
    assert np.allclose(seen["lines"][0]["e"], errors, rtol=2e-5)
    # What theory says, and not the third of it that independent rows would have.
    theory = np.sqrt((1 + phi) / (1 - phi) / n)
    assert abs(np.mean(seen["lines"][0]["e"]) / theory - 1) < 0.15
    assert "standard errors by blocking" in seen["what"] and "900 of 900 rows" in seen["what"]
    # [row][type][lag] means over all origins so far, more of them for short lags; from row 200 on
    # anew, as in another stage.
    added = np.stack([x[:, :5], 3 + x[:, 10:15]], axis=1)
    more = np.array([10.0, 10, 5, 5, 2])
    origins = np.concatenate([np.arange(1, 201), np.arange(1, 701)])[:, None] * more
    sums = np.concatenate([np.cumsum(added[:200], axis=0), np.cumsum(added[200:], axis=0)])
    best = sums * more / origins[:, None, :]
    mean = np.concatenate([np.cumsum(x[:200, 20]), np.cumsum(x[200:, 20])]) / (origins[:, 0] / 10)
    table(folder / "best.h5", {"square": best, "origins": origins, "temperature": mean,
                               "lag_time": np.tile(np.arange(5.0), (n, 1))})
    data = report(folder)[0]
    seen = curve(data, "best.h5", "square")
    of = next(o for o in data["observables"] if o["file"] == "best.h5")
    assert of["series"] == [] and [r["name"] for r in of["results"]] == ["temperature"]
    assert near(of["results"][0]["value"], x[200:, 20].mean())
    assert near(of["results"][0]["error"], reference.blocked_error(x[200:, 20]), 2e-5)
    assert "e" not in curve(data, "best.h5", "origins")["lines"][0]
    for of in (0, 1):
        assert np.allclose(seen["lines"][of]["y"], added[200:, of].mean(axis=0), rtol=2e-6)
        assert np.allclose(seen["lines"][of]["e"],
                           [reference.blocked_error(b) for b in added[200:, of].T], rtol=2e-4)
    assert "best estimate" in seen["what"] and "by blocking" in seen["what"]
    return folder


def check_rows_of_no_number():
    """What is left out is said: a column without a number, and rows of one that has some."""
    folder = work / "broken"
    folder.mkdir()
    y = np.random.default_rng(6).normal(size=50)
    y[30:33] = np.nan
    table(folder / "thermo.h5", {"pressure": y, "temperature": np.full(50, np.nan),
                                 "energy": np.zeros(50)})
    seen = report(folder)[0]["observables"][0]
    assert seen["no_numbers"] == [{"name": "pressure", "rows": 3},
                                  {"name": "temperature", "rows": 50}], seen["no_numbers"]
    assert [q["name"] for q in seen["series"]] == ["energy", "pressure"]
    chromium = browser.find()
    if chromium:
        text = browser.open_page(chromium, folder / "report.html", dark=False)
        assert "pressure (3 of 50 rows)" in text and "No row is a number: temperature." in text


def check_view(folder, data):
    shown = data["trajectories"][0]
    with h5py.File(folder / "trajectory.h5") as f:
        r = f["particles/all/position/value"][-1]
        edge = f["particles/all/box/edges/value"][-1][0, 0]
        species = f["particles/all/species"][:]
    words = np.frombuffer(base64.b64decode(shown["view"]["position"]), "<u2").reshape(-1, 3)
    d = words / 65535 * edge - r
    assert len(words) == 500 and np.abs(d - edge * np.round(d / edge)).max() < 2e-5 * edge
    types = np.frombuffer(base64.b64decode(shown["view"]["type"]), "u1")
    assert (types == species).all() and shown["frame"] == shown["frames"] - 1 == 8


def check_stages():
    """Results of the stages that have no system."""
    folder, command = make("slab", {"seed": 5, "stages": [
        {"type": "neutron_slab", "thickness": 4, "total": 1.1, "scattering": 1.0,
         "histories": 20000, "depth_bins": 20, "angle_bins": 20, "stride": 5000,
         "file": "slab.h5"}]})
    run(*command)
    data, _ = report(folder)
    assert data["standing"]["state"] == "complete" and data["trajectories"] == []
    with h5py.File(folder / "slab.h5") as f:
        f = f["observables"]
        results = {r["name"]: r for r in data["observables"][0]["results"]}
        assert near(results["transmission"]["value"], f["transmission/value"][-1])
        assert near(results["transmission"]["error"], f["transmission_error/value"][-1])
        for name, edges in (("flux", "depth"), ("transmitted_angles", "cosine")):
            seen = curve(data, "slab.h5", name)
            x = f[f"{edges}_edges/value"][-1]
            assert seen["axis"]["name"] == edges
            assert np.allclose(seen["lines"][0]["x"], (x[1:] + x[:-1]) / 2, rtol=1e-5)
            assert np.allclose(seen["lines"][0]["e"], f[f"{name}_error/value"][-1], rtol=2e-6)
    other, command = make("dimers", {"seed": 4, "stages": [
        {"type": "metropolis", "temperature": 1.5, "box": [9, 9, 9], "equilibration": 40,
         "cycles": 160, "stride": 4, "translation": 0.2,
         "molecules": {"atom": {"number": 200, "sites": [{"type": "A", "at": [0, 0, 0]}]}},
         "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}], "rdf": {"bins": 50},
         "trajectory": {"interval": 50}}]})
    run(*command)
    data, _ = report(other)
    assert data["standing"]["state"] == "complete" and len(data["trajectories"]) == 1
    with h5py.File(other / "metropolis.h5") as f:
        energy = f["observables/energy/value"][:]
        t = series(data, "metropolis.h5", "energy")["lines"][0]["statistics"]
        assert near(t["mean"], energy[reference.start(energy)[0]:].mean())
    assert series(data, "metropolis.h5", "acceptance_since_start")["lines"][0]["statistics"] is None
    assert len(curve(data, "rdf.h5", "g_A-A")["lines"][0]["x"]) == 50
    return folder, other


def started(command):
    """A run that ends with this test, whatever happens."""
    process = subprocess.Popen([perrin, *map(str, command), "--time-limit", "60"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(process.kill)
    return process


def check_interrupted():
    """While it runs, killed, stopped; a table cut off in the middle; frames of no use."""
    long = json.loads(json.dumps(JOB))
    long["observers"] = [{"type": "thermo", "stride": 10}, {"type": "gsd", "stride": 50},
                         {"type": "checkpoint", "steps": 200}]
    long["stages"][1]["steps"] = 10**9
    folder, command = make("killed", long)
    process = started(command)
    while not (folder / "checkpoint.h5.prev").exists():
        assert process.poll() is None
        time.sleep(0.05)
    for _ in range(20):  # a reader can meet a write
        data, _ = report(folder)
        if not any("problem" in f for f in data["files"]):
            break
    assert data["standing"]["state"] == "running" and str(process.pid) in data["standing"]["text"]
    process.kill()
    process.wait()
    data, _ = report(folder)
    assert data["standing"]["state"] == "killed" and "perrin resume" in data["standing"]["text"]
    assert data["trajectories"][0]["file"] == "trajectory.gsd"
    (folder / "checkpoint.h5").write_bytes((folder / "checkpoint.h5").read_bytes()[:5000])
    (folder / "table.h5").write_bytes((folder / "thermo.h5").read_bytes()[:3000])
    (folder / "thermo.h5.part").write_bytes(b"")
    data, said = report(folder)
    problems = {f["name"]: f.get("problem") for f in data["files"]}
    assert problems["table.h5"] and problems["checkpoint.h5"] and "table.h5" in said
    assert problems["thermo.h5"] is None and data["standing"]["state"] == "killed"
    stopped, command = make("stopped", long)
    process = started(command)
    while not (stopped / "checkpoint.h5").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    data, _ = report(stopped)
    assert data["standing"]["state"] == "stopped" and "perrin resume" in data["standing"]["text"]
    (stopped / "checkpoint.h5").unlink()
    (stopped / "checkpoint.h5.prev").unlink()
    assert "not complete" in report(stopped)[0]["standing"]["text"]
    return folder


def check_large():
    job = {"title": "large", "seed": 1,
           "system": {"type": "chains", "chains": 1500, "pattern": "A20", "density": 0.5},
           "forces": [{"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 10, "length": 1}}}],
           "observers": [{"type": "trajectory", "stride": 1}] + [
               {"type": "trajectory", "stride": stride, "file": f"other{k}.h5"}
               for k, stride in enumerate([3, 9, 6, 5, 4])],  # last frames: 9, 9, 6, 10, 8
           "stages": [{"type": "md", "steps": 11,
                       "integrator": {"type": "velocity_verlet", "timestep": 0.001}}]}
    folder, command = make("large", job)
    run(*command)
    data, said = report(folder)
    view = data["trajectories"][0]["view"]
    assert view["shown"] == 20000 and view["molecules"] and len(view["bonds"]) == 2 * 19 * 1000
    assert len(data["trajectories"]) == 4 and "at most 4 trajectories" in said
    assert [t["also"] for t in data["trajectories"]] == [["other1.h5"], [], [], []]
    colors = np.frombuffer(base64.b64decode(view["molecule"]), "u1")
    assert set(colors) == set(range(8)) and (np.diff(colors.reshape(-1, 20)) == 0).all()
    assert (folder / "report.html").stat().st_size < 3e6
    return folder


def check_solvent():
    """What more than half of the particles are, without a bond, is not drawn at first."""
    job = {"seed": 1, "system": {"type": "parts", "box": [45, 45, 45], "parts": [
               {"type": "chains", "number": 30, "pattern": "H1T2"},
               {"type": "random", "particles": {"W": 25000}}]},
           "forces": [{"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 10, "length": 1}}}],
           "observers": [{"type": "trajectory", "stride": 1}, {"type": "gsd", "stride": 1}],
           "stages": [{"type": "md", "steps": 1,
                       "integrator": {"type": "velocity_verlet", "timestep": 0.001}}]}
    folder, command = make("solvent", job)
    run(*command)
    data, _ = report(folder)
    assert len(data["trajectories"]) == 1
    frame = data["trajectories"][0]
    assert frame["also"] == ["trajectory.h5"] and frame["view"]["shown"] == 20000
    assert {t["name"]: (t["count"], t["solvent"]) for t in frame["types"]} == {
        "H": (30, False), "T": (60, False), "W": (25000, True)}
    types = np.frombuffer(base64.b64decode(frame["view"]["type"]), "u1")
    colors = np.frombuffer(base64.b64decode(frame["view"]["molecule"]), "u1")
    assert (np.bincount(types)[:2] == [30, 60]).all()
    assert (colors[types == 2] == 255).all() and (colors[types < 2] < 8).all()
    return folder


def ensemble(name, settings, *arguments, steps=2000, **more):
    job = {"title": name, "seed": 3, "ensemble": settings,
           "system": {"type": "lattice", "structure": "fcc", "density": 0.8, "cells": [3, 3, 3]},
           "velocity": {"temperature": 1.0},
           "forces": [{"type": "lennard_jones", "cutoff": 2.0, "truncation": "force_shift",
                       "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
           "observers": [{"type": "thermo", "stride": 10}, {"type": "trajectory", "stride": 500}],
           "stages": [{"type": "md", "steps": steps,
                       "integrator": {"type": "langevin", "timestep": 0.004, "temperature": 1.0,
                                      "friction": 2.0}}], **more}
    folder, command = make(name, job, *arguments)
    return folder, command


def thermo_of(folder, k, name):
    """A column of a system, from its folder or from ensemble.h5."""
    alone = folder / str(k) / "thermo.h5"
    file = alone if alone.exists() else folder / "ensemble.h5"
    path = f"observables/{name}/value"
    with h5py.File(file) as f:
        return f[path if alone.exists() else f"systems/{k}/thermo.h5/{path}"][:]


def check_ensembles():
    """Means of systems as their own reports have them, and over systems that differ in their seeds
    alone; exchange as the console has it."""
    temperature = "stages[0].integrator.temperature"
    scan, command = ensemble(
        "scan", {"vary": {temperature: [0.8, 0.8, 1.2, 1.2, 1.2, 1.0]}},
        observers=[{"type": "thermo", "stride": 10}, {"type": "trajectory", "stride": 500},
                   {"type": "rdf", "stride": 20, "rows_every": 200, "bins": 40}])
    run(*command)
    data, _ = report(scan)
    assert data["standing"] == {"state": "complete",
                                "text": "Ensemble of 6 systems: 6 complete."}
    groups = data["ensemble"]["groups"]
    assert [g["systems"] for g in groups] == [["0", "1"], ["2", "3", "4"], ["5"]]
    assert data["ensemble"]["axes"] == [{"name": temperature, "x": [0.8, 1.2, 1.0]}]

    def quantity(of, name):
        return next(q for q in of["ensemble"]["quantities"] if q["name"] == name)

    for name in ("temperature", "potential_energy", "pressure"):
        means, errors = [], []
        for k in range(6):
            values = thermo_of(scan, k, name)
            used = values[reference.start(values)[0]:]
            means.append(used.mean())
            errors.append(reference.blocked_error(used))
        q = quantity(data, name)
        assert q["systems"] == 6 and near(q["mean"][2], means[5]) and near(q["error"][2], errors[5])
        for g, systems in ((0, [0, 1]), (1, [2, 3, 4])):
            of = np.array([means[k] for k in systems])
            assert near(q["mean"][g], of.mean())
            assert near(q["error"][g], of.std(ddof=1) / np.sqrt(len(of)), 1e-3)
    (curve,) = [c for c in data["ensemble"]["curves"] if c["name"] == "rdf"]
    assert [g["systems"] for g in curve["groups"]] == [2, 3, 1] and curve["left_out"] == 0
    lines = []
    for k in range(6):
        (line,) = next(c for o in report(scan / str(k))[0]["observables"] for c in o["curves"]
                       if c["name"] == "rdf")["lines"]
        lines.append(line)
    for g, systems in enumerate(([0, 1], [2, 3, 4], [5])):
        shown, of = curve["groups"][g], np.array([lines[k]["y"] for k in systems])
        assert shown["x"] == lines[0]["x"]
        assert np.allclose(shown["y"], of.mean(axis=0), rtol=1e-6)
        assert np.allclose(shown["e"], lines[5]["e"] if g == 2 else
                           of.std(axis=0, ddof=1) / np.sqrt(len(of)), rtol=1e-4, atol=1e-6)
    for k in range(6):
        (scan / str(k) / "report.html").unlink()
    data, _ = report(scan)
    assert [s["report"] for s in data["ensemble"]["systems"]] == [None] * 6
    data, _ = report(scan, "--systems")
    assert data["ensemble"]["systems"][4]["report"] == "4/report.html"
    assert (scan / "4" / "report.html").exists()

    exchange, command = ensemble("exchange", {
        "vary": {temperature: [0.9, 1.0, 1.1]}, "files": "one",
        "exchange": {"every": 20, "stages": ["second"]}})
    file = work / "exchange.json"
    job = json.loads(file.read_text())
    job["stages"] = [{**job["stages"][0], "name": "first", "steps": 100},
                     {**job["stages"][0], "name": "second"}]
    job["ensemble"]["vary"] = {path: job["ensemble"]["vary"][temperature] for path in
                               (temperature, temperature.replace("0", "1", 1))}
    file.write_text(json.dumps(job))
    run(*command)
    said = (exchange / "perrin.log").read_text()
    data, _ = report(exchange, "--systems")
    x = data["ensemble"]["exchange"]
    for k in (0, 1):
        assert f"exchange  {k} and {k + 1}: {x['accepted'][k]} of {x['tried'][k]} accepted" in said
    assert f"exchange  {x['round_trips']} round trips" in said
    assert x["rows"] == 104 and len(x["paths"]) == 3 and sum(x["tried"]) == 100
    assert quantity(data, "temperature")["systems"] == 3
    text = re.search(r'id="data">(.*?)</script>',
                     (exchange / "1" / "report.html").read_text(), re.S).group(1)
    alone = json.loads(text)
    t = series(alone, "thermo.h5", "temperature")["lines"][0]["statistics"]
    assert near(t["mean"], quantity(data, "temperature")["mean"][1])
    assert [f["kind"] for f in alone["files"] if f["name"] == "trajectory.h5"] == [
        "trajectory, in ensemble.h5 (not shown)"]

    failed, command = ensemble("failed", {"vary": {"stages[0].integrator.timestep": [0.004, 5.0]}},
                               steps=50)
    run(*command, status=3)
    data, _ = report(failed)
    assert data["standing"]["text"] == "Ensemble of 2 systems: 1 complete, 1 failed."
    assert data["ensemble"]["systems"][1]["error"]
    (failed / "0" / "thermo.h5").write_bytes((failed / "0" / "thermo.h5").read_bytes()[:3000])
    assert "0/thermo.h5" in report(failed)[1]
    assert "--systems" in run("report", failed / "0", "--systems", status=2)
    (failed / "ensemble.json").write_text('{"systems": [{"folder": "../x", "values": {}}]}')
    assert "no folder of a system" in run("report", failed, status=2)
    return scan, exchange


def check_refusals():
    empty = work / "empty"
    empty.mkdir()
    (empty / "notes.txt").write_text("x")
    assert "no output files of a run" in run("report", empty, status=2)
    assert "no such folder" in run("report", work / "missing", status=2)
    assert "is not a folder" in run("report", empty / "notes.txt", status=2)
    folder = work / "made"
    run("report", folder)  # a report may be made anew
    (folder / "report.html").write_text("mine")
    assert "--overwrite" in run("report", folder, status=2)
    assert (folder / "report.html").read_text() == "mine"
    run("report", folder, "--output", folder / "other.html")
    run("report", folder, "--overwrite")
    run("report", folder, "--output", empty / "no" / "report.html", status=2)
    for name in sorted(p.name for p in folder.iterdir() if p.is_file() and p.suffix != ".html"):
        before = (folder / name).read_bytes()
        said = run("report", folder, "--output", folder / name, "--overwrite", status=2)
        assert "is not an HTML page" in said, (name, said)
        assert (folder / name).read_bytes() == before, name
    assert not list(folder.glob("*.part"))


def luminance(color):
    parts = [int(color[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def check_colors():
    """Contrasts of WCAG 2.1: 4.5 for text, 3 for lines, on paper and card, light and dark."""
    page = (work / "run" / "report.html").read_text()
    themes = [dict(re.findall(r"(--\w+): (#\w{6})", block))
              for block in re.findall(r":root \{(.*?)\}", page, re.S)]
    assert len(themes) == 2 and set(themes[0]) == set(themes[1])
    for theme in themes:
        for name, color in theme.items():
            if name in ("--paper", "--card", "--line"):
                continue
            least = 3 if re.match(r"--c\d", name) else 4.5
            for ground in ("--paper", "--card"):
                a, b = sorted((luminance(color), luminance(theme[ground])))
                assert (b + 0.05) / (a + 0.05) >= least, (name, color, ground)


def check_pages(folders):
    chromium = browser.find()
    if not chromium:
        assert os.environ.get("PERRIN_NEED_BROWSER") != "1", "no Chromium (apt: chromium)"
        print("no Chromium: the pages were not opened")
        return
    for folder in folders:
        dom = browser.open_page(chromium, folder / "report.html", dark=folder.name == "slab")
        data, _ = report(folder)
        text = re.sub(r"<script.*?</script>|<[^>]+>", " ", dom, flags=re.S)
        assert data["standing"]["text"].split("; ")[0] in text
        axes = re.findall(r'<svg[^>]*aria-label="([^"]+)"', dom)
        if "ensemble" in data:
            setting = "temperature" if folder.name == "scan" else (
                "stages[0].integrator.temperature")
            assert f"temperature against {setting}" in axes, axes
            assert ("Replica exchange" in text) == (folder.name == "exchange")
            assert not re.search(r"NaN|undefined", text)
            continue
        figures = sum(len(o["series"]) + len(o["curves"]) for o in data["observables"])
        assert len(axes) == figures + ("Standard error against block length" in text)
        odd = re.search(r".{0,200}\b(NaN|undefined)\b.{0,100}", text, re.S)
        assert not odd, (folder, odd.group(0))
        if data["trajectories"]:
            seen = json.loads(re.search(r'data-seen="([^"]+)"', dom).group(1))
            few = folder.name == "solvent"  # whose 25000 are not drawn
            assert seen[0][0] > (1000 if few else 20000), "an empty picture"
            assert seen[1] != seen[0], "it does not turn"
            assert seen[2] == seen[0], f"{folder}: reset does not bring it back"
            assert seen[3][0] < seen[0][0], "a type is not hidden"
        if folder.name == "run":
            assert TITLE in dom.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            t = series(data, "thermo.h5", "temperature")["lines"][0]["statistics"]
            digits = 1 - int(np.floor(np.log10(t["error"])))
            assert f"{t['mean']:.{digits}f} ± {t['error']:.{digits}f}" in text
            assert "show all stages" in text
            assert "time (reduced units)" in text and "million particle steps/s" in text
    browser.screenshot(chromium, folders[0] / "report.html", work / "report.png")


made = check_statistics()
curves = check_curve_errors()
check_rows_of_no_number()
simulated = check_run()
slab, dimers = check_stages()
killed = check_interrupted()
large = check_large()
solvent = check_solvent()
scan, exchange = check_ensembles()
check_refusals()
check_colors()
check_pages([scan, exchange, simulated, slab, dimers, killed, large, solvent, made, curves])
print("report: good")
