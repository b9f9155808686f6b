"""The log of runs from Python: that of the program, beside the outputs."""
import json
import re
import subprocess
import time

import pytest

import perrin
from conftest import DEVICE


@pytest.fixture
def job(liquid):
    liquid["stages"][0]["steps"] = 60
    return {**liquid, "observers": [{"type": "thermo", "stride": 10, "console_stride": 20}]}


def log(folder):
    return (folder / "perrin.log").read_text()


def times(folder):
    return [json.loads(line.removeprefix("timings ")) for line in log(folder).splitlines()
            if line.startswith("timings {")]


def words(folder):
    """Its lines but the first, without numbers and how wide they are."""
    return [re.sub(r"[\d.e+-]+", "#", re.sub(" +", " ", line))
            for line in log(folder).splitlines()[1:]]


def test_it_is_that_of_the_program(job, program, tmp_path):
    (tmp_path / "job.json").write_text(json.dumps(job))
    subprocess.run([program, "run", "job.json", "--quiet", "--output-dir", "own"], cwd=tmp_path,
                   check=True)
    perrin.run(tmp_path / "job.json", output_dir=tmp_path / "python", quiet=True)
    assert words(tmp_path / "python") == words(tmp_path / "own")
    assert re.match(r"=== \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ perrin\.Simulation\('\S+/job\.json', "
                    r"output_dir='\S+/python'\) \(Perrin ", log(tmp_path / "python"))


def test_a_report_has_its_times(job, program, tmp_path):
    slept = []
    with perrin.Simulation(job, output_dir=tmp_path) as sim:
        sim.every(30)(lambda sim: slept.append(sim.step))
        sim.run(20)
        sim.run()
    subprocess.run([program, "report", str(tmp_path)], check=True)
    page = (tmp_path / "report.html").read_text()
    found = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))["timings"]
    assert (found["steps"], found["particles"], found["file"]) == (60, 256, "perrin.log")
    parts = sum(found[name] for name in ("neighbors", "forces", "integration", "output"))
    assert 0 < found["forces"] < parts <= found["total"] * (1 + 1e-12)
    assert slept == [0, 30, 60]


def test_checkpoints_have_the_times(job, program, tmp_path):
    sim = perrin.Simulation(job, output_dir=tmp_path)
    sim.run(20)
    sim.checkpoint()
    subprocess.run([program, "report", str(tmp_path)], check=True)
    page = (tmp_path / "report.html").read_text()
    assert '"file":"checkpoint.h5"' in page and '"steps":20' in page
    sim.close()


def test_what_python_does_between_takes_no_time(job, tmp_path):
    began = time.monotonic()
    with perrin.Simulation(job, output_dir=tmp_path) as sim:
        sim.run(20)
        time.sleep(0.5)
        sim.run()
        took = time.monotonic() - began
    assert times(tmp_path)[0]["total"] < took - 0.5


def test_changed_closed_and_resumed_runs_append(job, tmp_path):
    with perrin.Simulation(job, output_dir=tmp_path) as sim:
        sim.run(20)
        sim.set({"stages[-1].integrator.timestep": 0.004})
        with pytest.raises(perrin.JobError):
            sim.set({"stages[-1].integrator.timestep": -1})
        sim.run(10)
        sim.checkpoint()
    perrin.Simulation.resume(tmp_path / "checkpoint.h5", device=DEVICE).run()
    text = log(tmp_path)
    assert re.findall(r"^=== \S+ perrin\.(Simulation(?:\.\w+)?)\(.*", text, re.M) == [
        "Simulation", "Simulation.set", "Simulation.set", "Simulation.resume"]
    assert text.count("settings change at step 20") == 2
    assert ("set({'stages[-1].integrator.timestep': -1}): refused" in text and
            f"at step 30; continue with: perrin resume {tmp_path}/checkpoint.h5" in text)
    assert [t["steps"] for t in times(tmp_path)] == [20, 0, 10, 30]
    assert text.rindex("(100 %)") > text.rindex("===")


def test_errors_and_warnings_are_in_it(job, tmp_path):
    def fails(particles):
        if particles.step > 4:
            raise ZeroDivisionError("by a force")
        return 0 * particles.positions

    sim = perrin.Simulation({**job, "forces": [perrin.PythonForce(fails)]}, output_dir=tmp_path)
    with pytest.raises(ZeroDivisionError):
        sim.run()
    assert re.search(r"\nerror: (.|\n)*by a force(.|\n)*\n=== \S+ ended by an error\n$",
                     log(tmp_path)), log(tmp_path)
    hot = {**job, "velocity": {"temperature": 1e9}}
    with pytest.raises(perrin.RunError) as error:
        perrin.run(hot, output_dir=tmp_path / "hot", quiet=True)
    assert f"\nerror: {error.value}\n" in log(tmp_path / "hot")


def test_a_log_that_cannot_be_opened_is_warned_of(job, tmp_path):
    (tmp_path / "perrin.log").mkdir()
    sim = perrin.Simulation(job, output_dir=tmp_path)
    with pytest.warns(perrin.JobWarning, match="perrin.log: cannot open the log: Is a directory"):
        sim.run()
    assert sim.complete


def test_runs_that_write_nothing_have_none(job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    perrin.Simulation({**job, "observers": []}).run()
    assert list(tmp_path.iterdir()) == []
    perrin.Simulation(job)  # not begun
    assert not (tmp_path / "perrin.log").exists()
    perrin.run({**job, "observers": []}, quiet=True, output_dir="out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["perrin.log"]
