"""What docs/guide/readers.md says, run as it stands; and what the readers see, against the run
itself.

Usage: run_documented.py PERRIN WORKFOLDER SOURCE. Prints what fails; 77: PyPI cannot be reached.
"""
import json
import os
import re
import shutil
import subprocess
import sys

from newest_python import newest_python

perrin, folder, source = (os.path.abspath(argument) for argument in sys.argv[1:4])
python = newest_python(os.path.join(os.path.dirname(folder), "readers_python"))
if python is None:
    print("skipped: PyPI cannot be reached")
    sys.exit(77)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def run(*command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          env=dict(os.environ, QT_QPA_PLATFORM="offscreen", OMP_NUM_THREADS="1"))
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done


with open(os.path.join(source, "docs", "guide", "readers.md")) as file:
    text = file.read()
observers = json.loads("[" + re.search(r"\n((?:    \{.*\n)+)", text).group(1) + "]")
# Two types, on wide ways; XTC beyond the sizes of its table that liquids need.
observers += [
    {"type": "trajectory", "stride": 10, "file": "rounded.h5", "compression": "rounded"},
    {"type": "trajectory", "stride": 10, "file": "fine.h5", "positions": "unwrapped",
     "precision": "double"},
    {"type": "gsd", "stride": 10, "file": "fine.gsd", "positions": "unwrapped",
     "precision": "double"},
    *({"type": "xtc", "stride": 10, "file": f"{k}.xtc", "decimals": k, "positions": "unwrapped"}
      for k in (0, 2, 4, 6))]
JOB = {"seed": 5, "system": {"type": "chains", "chains": 60, "pattern": "A6B6", "density": 0.1},
       "velocity": {"temperature": 1.5}, "ignore": ["bonds"], "forces": [],
       "observers": observers,
       "stages": [{"type": "md", "name": name, "steps": 200,
                   "integrator": {"type": "velocity_verlet", "timestep": 0.05}}
                  for name in ("equilibration", "production")]}
with open(os.path.join(folder, "job.json"), "w") as file:
    json.dump(JOB, file)
run(perrin, "run", "job.json", "--device", "cpu", "--quiet")
for line in re.findall(r"^    perrin (convert .*)$", text, re.M):
    run(perrin, *line.split())

for arguments, what in (
        (("trajectory.h5", "a.gsd", "--origin", "corner"), "--origin is not for the format gsd"),
        (("trajectory.h5", "a.xyz", "--chunk", "time"), "--chunk time is not for the format xyz"),
        (("trajectory.h5", "a.gsd", "--compression", "rounded"), "--compression is not for"),
        (("trajectory.h5", "a.xyz", "--precision", "double"), "--precision double is not for"),
        (("trajectory.h5", "a.xyz", "--types", "C=Ar"), 'no type "C" to rename; the types are A'),
        (("trajectory.xtc", "a.xyz"), "the format xtc can be written but not read"),
        (("trajectory.h5", "a.xyz", "--types", "A"), "--types A: expected OLD=NEW")):
    done = subprocess.run([perrin, "convert", *arguments], cwd=folder, capture_output=True,
                          text=True)
    assert done.returncode == 2 and what in done.stderr, (arguments, done)
run(perrin, "convert", "fine.h5", "converted.xtc", "--unwrap", "--decimals", "4")
blocks = re.findall(r"^## (.*?)\n|^```python\n(.*?)^```", text, re.M | re.S)
title, count = "", 0
for heading, code in blocks:
    if heading:
        title = heading
        continue
    done = run(python, "-W", "ignore", "-c", code)
    assert done.stdout or "print" not in code, title
    print(title, done.stdout.splitlines()[-1:], flush=True)
    count += 1
assert count >= 9, count
for script in re.findall(r"^```lammps\n(.*?)^```", text, re.M | re.S):
    with open(os.path.join(folder, "in.lammps"), "w") as file:
        file.write(script)
    if shutil.which("lmp"):
        seen = run("lmp", "-in", "in.lammps", "-log", "none").stdout
        assert "720 atoms" in seen and "660 bonds" in seen, seen
        print("LAMMPS", *re.findall("Total wall time.*", seen))
shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_values.py"), folder)
print(run(python, "-W", "ignore", "check_values.py").stdout)
# Special pairs of a GSD file are refused, not lost in silence.
run(python, "-W", "ignore", "-c", """
import gsd.hoomd
frame = gsd.hoomd.Frame()
frame.configuration.box = [10, 10, 10, 0, 0, 0]
frame.particles.N, frame.particles.position = 3, [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
frame.pairs.N, frame.pairs.types, frame.pairs.group = 1, ["A-A"], [[0, 2]]
gsd.hoomd.open("pairs.gsd", "w").append(frame)""")
lj = {"epsilon": 1, "sigma": 1, "types": ["A", "A"]}
job = {"system": {"type": "file", "path": "pairs.gsd"}, "stages": JOB["stages"],
       "forces": [{"type": "special_pairs", "from": "list", "list": [[0, 2]], "pairs": [lj]}]}
for ignore, status, what in (([], 2, 'the file\'s 1 pairs are not read; if a force'),
                             (["pairs"], 0, "")):
    with open(os.path.join(folder, "pairs.json"), "w") as file:
        json.dump(dict(job, ignore=ignore), file)
    done = subprocess.run([perrin, "validate", "pairs.json"], cwd=folder, capture_output=True,
                          text=True)
    assert done.returncode == status and what in done.stderr, done
assert "1 pairs are left out" in run(perrin, "convert", "pairs.gsd", "pairs.xyz").stderr
run(perrin, "convert", "back.xyz", "from_ase.h5")
print(run(python, "-W", "ignore", "check_values.py", "from_ase.h5").stdout)
