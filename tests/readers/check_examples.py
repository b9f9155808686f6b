"""The examples' trajectories open in OVITO and MDAnalysis as they are: every job that writes
H5MD, which needs an add-on there, writes the same frames as GSD.

Usage: check_examples.py PERRIN WORKFOLDER SOURCE. Prints what fails. Without PyPI the files are not
opened (77).
"""
import json
import os
import shutil
import subprocess
import sys

from newest_python import newest_python

# What tells frames apart: when, and of whom.
SAME = ("stride", "schedule", "stages", "group")
LOOK = r'''
import json, sys
import ovito.io, MDAnalysis
for name, (frames, particles) in json.load(open("expected.json")).items():
    seen = ovito.io.import_file(name)
    data = seen.compute(seen.source.num_frames - 1)
    assert (seen.source.num_frames, data.particles.count) == (frames, particles), name
    universe = MDAnalysis.Universe(name)
    assert (len(universe.trajectory), len(universe.atoms)) == (frames, particles), name
    last = universe.trajectory[-1].positions
    apart = abs(last - data.particles.positions[...]).max()
    assert apart <= 1e-4 * max(1, abs(last).max()), (name, apart)
    print(name, "opens:", particles, "particles")
'''
# Of the same particles; what an example measures is no matter here.
STAGE = {"type": "md", "steps": 2, "integrator": {"type": "velocity_verlet", "timestep": 1e-6}}


def jobs_of(perrin, source):
    """(name, job) of every job of the examples, without comments."""
    examples = os.path.join(source, "examples")
    for folder in sorted(os.listdir(examples)):
        for file in sorted(os.listdir(os.path.join(examples, folder))):
            if not file.endswith(".json"):
                continue
            path = os.path.join(examples, folder, file)
            shown = subprocess.run([perrin, "show", path], capture_output=True, text=True,
                                   check=True)
            yield f"{folder}/{file}", json.loads(shown.stdout)


def frames_of(job, kind):
    return [{key: o[key] for key in SAME if key in o} for o in job.get("observers", ())
            if o["type"] == kind]


def run_short(perrin, name, job, folder, source):
    """Runs two steps of each stage in a copy of its folder; returns the path of the GSD file, and
    how many frames it must have."""
    place = os.path.join(folder, name.replace("/", "-").removesuffix(".json"))
    shutil.copytree(os.path.join(source, "examples", os.path.dirname(name)), place)
    observer = next(o for o in job["observers"] if o["type"] == "gsd")
    observer = {k: v for k, v in observer.items() if k not in ("schedule", "stages")}
    stages = [{**STAGE, "name": stage.get("name", stage["type"])} for stage in job["stages"]]
    short = {**job, "stages": stages,
             "observers": [{**observer, "stride": 1, "file": "short.gsd"}]}
    short.pop("ensemble", None)  # of its systems, one is enough
    with open(os.path.join(place, "short.json"), "w") as out:
        json.dump(short, out)
    done = subprocess.run([perrin, "run", "short.json", "--device", "cpu", "--threads", "1",
                           "--quiet"], cwd=place, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stdout}{done.stderr}")
    return os.path.join(place, "short.gsd"), 1 + 2 * len(stages)


def count_of(python, path):
    """By the package gsd, which knows nothing of Perrin."""
    look = "import sys, gsd.hoomd; print(gsd.hoomd.open(sys.argv[1])[0].particles.N)"
    return int(subprocess.run([python, "-c", look, path], capture_output=True, text=True,
                              check=True).stdout)


def main():
    perrin, folder, source = (os.path.abspath(argument) for argument in sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    wrong, with_frames = [], {}
    for name, job in jobs_of(perrin, source):
        missing = [f for f in frames_of(job, "trajectory") if f not in frames_of(job, "gsd")]
        wrong += [f'{name}: "trajectory" with {f}, and no "gsd" with the same' for f in missing]
        if frames_of(job, "gsd"):
            with_frames[name] = job
    if wrong or len(with_frames) < 15:
        sys.exit("\n".join([*wrong, f"{len(with_frames)} examples write GSD"]))
    python = newest_python(os.path.join(os.path.dirname(folder), "readers_python"))
    if python is None:
        print("skipped: PyPI cannot be reached")
        return 77
    paths = [run_short(perrin, name, job, folder, source) for name, job in with_frames.items()]
    with open(os.path.join(folder, "expected.json"), "w") as out:
        json.dump({path: [frames, count_of(python, path)] for path, frames in paths}, out)
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", OMP_NUM_THREADS="1")
    done = subprocess.run([python, "-c", LOOK], cwd=folder, capture_output=True, text=True,
                          env=environment)
    print(done.stdout, done.stderr if done.returncode else "", sep="", end="")
    return done.returncode


sys.exit(main())
