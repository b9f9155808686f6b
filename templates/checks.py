"""Tests for every plug-in, with numpy and h5py: forces are the derivatives of energies, CPU and GPU
agree, a resumed run is bitwise identical to one that was not stopped.

PERRIN names the program (default: perrin), PERRIN_PLUGIN_PATH the folder of the built plug-in
(default: build, here)."""

import copy
import json
import os
import pathlib
import subprocess
import tempfile
import time

import h5py
import numpy

HERE = pathlib.Path(__file__).resolve().parent
PERRIN = os.environ.get("PERRIN", "perrin")
os.environ.setdefault("PERRIN_PLUGIN_PATH", str(HERE / "build"))


def job():
    """job.json, to be changed before it is run."""
    return json.loads((HERE / "job.json").read_text())


def call(*words):
    done = subprocess.run([PERRIN, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(job, *options, device="auto"):
    """Runs it in a folder of its own, which is returned."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="perrin-"))
    (folder / "job.json").write_text(json.dumps(job))
    call("run", folder / "job.json", "--output-dir", folder, "--device", device, "--quiet",
         *options)
    return folder


def column(folder, name, file="thermo.h5", part="value"):
    """Rows of an observable."""
    with h5py.File(folder / file) as f:
        return f["observables"][name][part][:]


def frames(folder, name="position", file="trajectory.h5"):
    with h5py.File(folder / file) as f:
        return f["particles/all"][name]["value"][:]


def near(what, value, expected, tolerance):
    """`tolerance`: relative."""
    print(f"{what}: {value:.6g}, expected {expected:.6g} ({tolerance:.2g})")
    assert abs(value - expected) <= tolerance * abs(expected), what


def shortened(job, steps):
    job = copy.deepcopy(job)
    job["stages"] = job["stages"][-1:]
    job["stages"][0]["steps"] = steps
    return job


def forces_follow_energy(job, steps=20, timestep=0.002):
    """E(t+h) - E(t-h) = -sum of F(t) (r(t+h) - r(t-h)), along the steps of a run."""
    job = shortened(job, steps)
    job["velocity"] = {"temperature": 1}
    job["stages"][0]["integrator"] = {"type": "velocity_verlet", "timestep": timestep}
    job["observers"] = [{"type": "thermo", "stride": 1},
                        {"type": "trajectory", "stride": 1, "positions": "unwrapped",
                         "precision": "double", "quantities": ["position", "force"]}]
    folder = run(job)
    energy, r = column(folder, "potential_energy"), frames(folder)
    work = numpy.sum(frames(folder, "force")[1:-1] * (r[2:] - r[:-2]), axis=2)  # of each particle
    wrong = numpy.abs(energy[2:] - energy[:-2] + work.sum(axis=1))
    size = numpy.sqrt((work**2).sum(axis=1))
    print(f"forces against energies: {numpy.max(wrong / size):.2g} of what the forces do")
    assert numpy.all(wrong < 0.01 * size)


def devices_agree(job, names, steps=20, file="thermo.h5", tolerance=1e-4):
    """The same numbers on CPU and GPU after a few steps, but for the last digits."""
    if "cuda:0" not in call("info"):
        return print("devices: there is no GPU here")
    job = shortened(job, steps)
    for observer in job.get("observers", []):
        observer["stride"] = steps
    cpu, gpu = (run(job, device=device) for device in ("cpu", "cuda"))
    for name in names:
        a, b = column(cpu, name, file), column(gpu, name, file)
        assert numpy.allclose(a, b, rtol=tolerance, atol=tolerance * numpy.abs(a).max()), name
    print("devices: agree")


def same(a, b):
    """All series of two files, to the last bit."""
    def compare(name, node):
        if isinstance(node, h5py.Dataset) and not name.startswith("parameters"):
            assert node[()].tobytes() == other[name][()].tobytes(), name
    with h5py.File(a) as one, h5py.File(b) as other:
        one.visititems(compare)


def resumes(job):
    """Stopped somewhere in the middle and resumed, it writes the same files."""
    begin = time.time()
    whole = run(job)
    limit = time.time() - begin
    for attempt in range(8):
        limit /= 2
        cut = run(job, "--time-limit", f"{limit:.4f}s")
        if (cut / "checkpoint.h5").exists():  # it was stopped
            break
    else:
        raise AssertionError("the run is too short to be stopped: give it more steps")
    call("resume", cut / "checkpoint.h5", "--quiet")
    for file in whole.glob("*.h5"):
        if not file.name.startswith("checkpoint"):
            same(file, cut / file.name)
    print("resume: bitwise identical")
