"""A script of a user under mypy --strict, with the stubs that the build has made."""
import subprocess
import sys

import pytest

pytest.importorskip("mypy")

SCRIPT = '''\
from __future__ import annotations
import numpy as np
import perrin

job = perrin.Job(seed=1, system=perrin.system.lattice(density=0.8, cells=[4, 4, 4]),
                 forces=[perrin.force.lennard_jones(cutoff=2.5, pairs=[
                     {"types": ["A", "A"], "epsilon": 1, "sigma": 1}])],
                 stages=[perrin.stage.md(steps=10, integrator=perrin.integrator.langevin(
                     timestep=0.005, temperature=1.0, friction=1.0))])
sim = perrin.Simulation(job, device="cpu", overwrite=True)

@sim.every(5)
def look(sim: perrin.Simulation) -> None:
    print(sim.totals.temperature, sim.positions.mean())

done: bool = sim.run(10, progress=True)
sim.set({"stages[-1].integrator.temperature": 1.5})
positions: np.ndarray = sim.positions
with perrin.open("trajectory.h5") as trajectory:
    frame: perrin.Frame = trajectory[-1]
    print(len(trajectory), frame.unwrapped.shape, frame.box.volume)
table = perrin.thermo("thermo.h5")
value: float = perrin.mean(table["pressure"]).value
found = perrin.sweep(job, temperature=[0.8, 1.0])
print(perrin.load_job("job.json")["stages"], sim.box.nearest(positions))
'''
MISTAKES = [
    ('perrin.integrator.langevin(timestep="a", temperature=1.0, friction=2)', '"timestep"'),
    ("perrin.integrator.langevin(timestep=0.1, temperature=1.0, frictoin=2)", '"friction"?'),
    ("sim.run('10')", '"run"'), ("sim.totals.temprature", '"temperature"'),
    ("perrin.force.lennard_johns()", '"lennard_jones"')]


def check(folder, text):
    (folder / "script.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir",
                           str(folder / "cache"), "script.py"], cwd=folder, capture_output=True,
                          text=True)
    return done.returncode, done.stdout + done.stderr


def test_a_good_script_has_no_errors(tmp_path):
    status, said = check(tmp_path, SCRIPT)
    assert status == 0, said


def test_mistakes_are_found(tmp_path):
    lines = SCRIPT + "".join(line + "\n" for line, _ in MISTAKES)
    status, said = check(tmp_path, lines)
    assert status == 1
    first = SCRIPT.count("\n") + 1
    for number, (line, word) in enumerate(MISTAKES, first):
        assert any(found.startswith(f"script.py:{number}: error") and word in found
                   for found in said.splitlines()), (line, said)
