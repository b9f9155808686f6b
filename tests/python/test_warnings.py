"""Warnings of jobs and runs as Python's, what set() leaves behind, and modules of other builds."""
import os
import shutil
import subprocess
import sys
import warnings

import pytest

import perrin
from perrin.errors import JobWarning


@pytest.fixture
def tiny_steps(liquid):
    """Steps that are rounded away: the engine warns of them when the stage begins."""
    return {**liquid, "stages": [{"type": "md", "steps": 9, "integrator": {
        "type": "velocity_verlet", "timestep": 1e-11}}]}


def test_what_a_run_warns_of_is_a_warning_of_python(tiny_steps, capfd):
    sim = perrin.Simulation(tiny_steps)
    assert sim.warnings == []
    with pytest.warns(JobWarning, match="too long for this time step") as caught:
        sim.run(3)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert len(sim.warnings) == 1 and sim.warnings[0].startswith("the box is too long")
    sim.run()  # said once
    assert len(sim.warnings) == 1
    assert capfd.readouterr() == ("", "")


def test_warnings_may_be_errors(tiny_steps):
    sim = perrin.Simulation(tiny_steps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(JobWarning, match="too long for this time step"):
            sim.run(3)
    sim.run()  # as after an exception of a callback
    assert sim.complete and sim.step == 9


def test_warnings_of_jobs(liquid, tmp_path):
    job = {**liquid, "neighbors": {"exclusions": ["molecules"]}}
    with pytest.warns(JobWarning, match="excludes no pair") as caught:
        sim = perrin.Simulation(job)
    assert caught[0].filename == __file__ and sim.warnings == [str(caught[0].message)]
    assert sim.warnings[0].startswith("neighbors.exclusions: \"molecules\" excludes no pair")
    sim.run(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # not again
        sim.set({"stages[0].integrator.timestep": 0.002})
    assert len(sim.warnings) == 1
    job["stages"] = [{**job["stages"][0], "steps": 1}]
    with pytest.warns(JobWarning, match="excludes no pair"):
        perrin.run(job, output_dir=tmp_path, quiet=True)


def test_warnings_of_ensembles(tiny_steps, tmp_path, capfd):
    """Of the job once, of the runs, which are on threads of their own, each."""
    job = {**tiny_steps, "neighbors": {"exclusions": ["molecules"]}}
    with pytest.warns(JobWarning) as caught:
        perrin.ensemble(job, count=3, folder=tmp_path / "scan", threads=3, device="cpu")
    texts = sorted(str(warning.message) for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    assert texts[0].startswith("neighbors.exclusions: \"molecules\" excludes no pair")
    assert len(texts) == 4
    for system, text in enumerate(texts[1:]):
        assert text.startswith(f"system {system}: ") and "too long for this time step" in text
    assert capfd.readouterr() == ("", "")


def test_an_error_of_an_ensemble_comes_before_its_warnings(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(perrin.RunError, match="1 of 2 systems failed"):
            perrin.ensemble(liquid, vary={"stages[0].integrator.timestep": [0.002, 9.0]},
                            folder=tmp_path / "fails", device="cpu")


def test_folders_stay_where_they_were(liquid, tmp_path, monkeypatch):
    """os.chdir() between the construction and the run, as notebooks have it."""
    liquid["stages"][0]["steps"] = 20
    job = {**liquid, "observers": [{"type": "thermo", "stride": 1},
                                   {"type": "xtc", "stride": 5}, {"type": "checkpoint"}]}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    sim = perrin.Simulation(job, output_dir="out")
    os.chdir(elsewhere)
    sim.run(5)
    sim.set({"stages[0].integrator.timestep": 0.002})
    sim.run(5)
    sim.checkpoint("half.h5")
    sim.close()
    os.chdir(tmp_path)
    resumed = perrin.Simulation.resume("out/half.h5")
    os.chdir(elsewhere)
    assert resumed.run() and resumed.step == 20
    assert len(perrin.thermo(tmp_path / "out" / "thermo.h5")) == 21
    assert {"thermo.h5", "trajectory.xtc", "half.h5"} <= {*os.listdir(tmp_path / "out")}
    os.chdir(tmp_path)
    scan = perrin.ensemble(job, count=2, folder="scan", device="cpu")
    os.chdir(elsewhere)
    assert scan.states == ["complete"] * 2 and len(scan.thermo()[0]) == 2
    assert os.listdir(elsewhere) == [] and {*os.listdir(tmp_path)} == {"elsewhere", "out", "scan"}


def test_set_leaves_no_files_and_no_lock(liquid, tmp_path):
    """The copy through which it goes is no checkpoint of the simulation, which wants none."""
    sim = perrin.Simulation({**liquid, "observers": []}, output_dir=tmp_path)
    sim.run(3)
    sim.set({"stages[0].integrator.timestep": 0.002})
    sim.run(3)
    with perrin.Simulation({**liquid, "observers": [{"type": "thermo", "stride": 1}]},
                           output_dir=tmp_path) as other:  # nobody writes here
        other.run(1)
        with pytest.raises(perrin.JobError, match="another simulation of this process.*close()"):
            perrin.Simulation({**liquid, "observers": [{"type": "thermo", "stride": 1}]},
                              output_dir=tmp_path, overwrite=True)
    sim.close()
    assert set(os.listdir(tmp_path)) == {"thermo.h5", "perrin.log"}


def test_set_keeps_the_wanted_checkpoint(liquid, tmp_path):
    sim = perrin.Simulation(liquid, output_dir=tmp_path, checkpoint="last.h5")
    sim.run(3)
    sim.set({"stages[0].integrator.timestep": 0.002})
    sim.run(2)
    sim.close()
    assert {*os.listdir(tmp_path)} <= {"last.h5", "last.h5.prev", "perrin.log"}
    assert perrin.Simulation.resume(tmp_path / "last.h5").step == 5


def test_set_refuses_what_shows_when_the_checkpoint_is_read(liquid):
    liquid["stages"][0]["steps"] = 20
    sim = perrin.Simulation(liquid)
    sim.run(10)
    with pytest.raises(perrin.JobError, match="must be at least 10, .* got 5"):
        sim.set({"stages[0].steps": 5})
    assert sim.run() and sim.step == 20


@pytest.mark.skipif(not shutil.which("cc"), reason="makes another libperrin by a compiler")
def test_a_library_of_another_build_is_refused(tmp_path):
    (tmp_path / "other.c").write_text("int other;\n")
    subprocess.run(["cc", "-shared", "-o", "libperrin.so.0", "other.c"], cwd=tmp_path, check=True)
    folders = f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    program = ("import perrin\n"
               "with open('/proc/self/maps') as maps:\n"
               "    print({line.split()[-1] for line in maps if 'libperrin' in line})")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": folders})
    if done.returncode == 0:  # a wheel's libraries are found before those of LD_LIBRARY_PATH
        assert "libperrin" in done.stdout and str(tmp_path) not in done.stdout
        return
    assert done.returncode == 1
    assert "ImportError: " in done.stderr and "different builds of Perrin" in done.stderr
    assert "_perrin." in done.stderr and f"{tmp_path}/libperrin.so.0" in done.stderr
