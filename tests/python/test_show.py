"""What Python shows of a simulation: texts, pictures, progress; and settings that change."""
import io
import json
import re
import xml.etree.ElementTree as xml

import numpy as np
import pytest

import perrin
from conftest import DEVICE


@pytest.fixture
def sim(thermostatted, tmp_path):
    with perrin.Simulation(thermostatted, output_dir=tmp_path, device=DEVICE) as simulation:
        yield simulation


def test_texts_are_short_and_say_what_it_is(sim, tmp_path):
    sim.run(30)
    assert re.fullmatch(r"<perrin\.Simulation: step 30, \d+ A, box [\d.]+ × [\d.]+ × [\d.]+, "
                        r"\w+(:\d)?>", repr(sim)), repr(sim)
    assert repr(sim.box).startswith("Box(") and len(repr(sim.box)) < 100
    assert repr(sim.totals).startswith("Totals(potential=") and len(repr(sim.totals)) < 150
    sim.run()
    assert ", complete," in repr(sim)
    with perrin.open(tmp_path / "trajectory.h5") as trajectory:
        assert re.search(r"7 frames, steps 0 to 180, \d+ particles of type A",
                         repr(trajectory)), repr(trajectory)
        frame = trajectory[2]
        assert repr(frame).startswith("Frame(step 60, time ") and len(repr(frame)) < 200
        assert len(frame) == len(sim) and frame.type_names == ("A",)
        assert "<svg" in trajectory._repr_html_()
    assert "closed" in repr(trajectory) and "closed" in trajectory._repr_html_()


def test_forces_of_python_and_views_say_what_they_are(sim):
    def spring(particles):
        return -particles.positions

    assert repr(perrin.PythonForce(spring)).endswith("spring)")
    assert re.fullmatch(r"PythonForce\(\S+spring, stride=5, local=True, conserves_momentum=True\)",
                        repr(perrin.PythonForce(spring, 5, local=True, conserves_momentum=True)))

    class Trap:
        def __repr__(self):
            return "a trap"

        def __call__(self, particles):
            return -particles.positions

    assert repr(perrin.PythonForce(Trap(), captured=True)) == "PythonForce(a trap, captured=True)"
    sim.run(1)
    local = sim.local
    assert re.fullmatch(rf"<perrin\.Local: {len(sim)} particles in memory order, \w+(:\d)?; "
                        r"position, velocity, force, image, id, index; to be read>", repr(local))
    assert f"uint32 [{len(sim)}, 4]" in local._repr_html_()
    xml.fromstring(local._repr_html_())
    with sim.changing() as writable:
        assert repr(writable).endswith("may be changed>")
    sim.run(100)
    assert repr(local).endswith("stale: the particles have been reordered since>")
    assert "stale" in local._repr_html_()


def test_pictures_show_the_particles(sim):
    svg = xml.fromstring(sim.picture(width=300))
    circles = svg.findall(".//{*}circle")
    assert len(circles) == len(sim)
    left, top, width, height = map(float, svg.get("viewBox").split())
    for circle in circles:
        assert left <= float(circle.get("cx")) <= left + width
        assert top <= float(circle.get("cy")) <= top + height
    whole = sim._repr_html_()
    assert whole.count("<svg") == 1 and "particles" in whole
    xml.fromstring(whole)


def test_pictures_of_flat_boxes_are_seen_from_above(tmp_path):
    job = {"seed": 1, "system": {"type": "random", "particles": {"A": 20, "B": 10},
                                 "box": [10, 20], "dimension": 2, "min_distance": 0},
           "stages": [{"type": "md", "steps": 0, "integrator": {"type": "velocity_verlet",
                                                                "timestep": 0.001}}]}
    with perrin.Simulation(job, output_dir=tmp_path) as sim:
        circles = xml.fromstring(sim.picture(width=400)).findall(".//{*}circle")
        assert len(circles) == 30 and len({c.get("fill") for c in circles}) == 2
        x = np.array([float(c.get("cx")) for c in circles])
        expected = (sim.positions[:, 0] - sim.box.origin[0]) * 400 / 20
        np.testing.assert_allclose(np.sort(x), np.sort(expected), atol=0.06)


def test_progress(sim, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)  # as if there were none
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)
    sim.run(50, progress=True)
    assert shown.getvalue().endswith("\n") and "50 of 50 steps" in shown.getvalue()
    sim.run(progress=True)
    assert "143 of 143 steps" in shown.getvalue()


def test_progress_changes_no_bits(thermostatted, tmp_path):
    ends = []
    for progress in (False, True):
        with perrin.Simulation(thermostatted, output_dir=tmp_path / str(progress),
                               device=DEVICE) as sim:
            sim.run(progress=progress)
            ends.append(sim.positions)
    np.testing.assert_array_equal(*ends)


def test_settings_change_between_runs(thermostatted, tmp_path):
    job = json.loads(json.dumps(thermostatted))
    seen = []
    with perrin.Simulation(job, output_dir=tmp_path, device=DEVICE) as sim:
        sim.every(10)(lambda s: seen.append(s.step))
        sim.run(100)
        before = sim.positions
        with pytest.raises(perrin.JobError, match="temperature"):
            sim.set({"stages[-1].integrator.temperature": -1})
        np.testing.assert_array_equal(sim.positions, before)
        sim.set({"stages[-1].integrator.temperature": 9.0})
        np.testing.assert_array_equal(sim.positions, before)
        assert sim.step == 100
        assert sim.job["stages"][-1]["integrator"]["temperature"] == 9
        sim.run()
        assert sim.complete and sim.totals.temperature > 2
        with pytest.raises(perrin.JobError, match="complete"):
            sim.set({"stages[-1].integrator.temperature": 1.0})
    assert seen == list(range(0, 191, 10))
    with perrin.open(tmp_path / "trajectory.h5") as trajectory:
        assert list(trajectory.steps) == [0, 30, 60, 90, 120, 150, 180]
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".perrin")]


def test_settings_change_as_in_resume(thermostatted, tmp_path):
    change = {"stages[0].integrator.temperature": 9.0}
    with perrin.Simulation(thermostatted, output_dir=tmp_path / "one", device=DEVICE) as sim:
        sim.run(70)
        sim.checkpoint("stop.h5")
        sim.set(change)
        sim.run(60)
        here = sim.positions
    with perrin.Simulation.resume(tmp_path / "one/stop.h5", set=change) as sim:
        sim.run(60)
        np.testing.assert_array_equal(here, sim.positions)


def test_load_job_reads_comments(tmp_path):
    (tmp_path / "job.json").write_text('// a job\n{"seed": 3, /* one */ "stages": []}')
    assert perrin.load_job(tmp_path / "job.json") == {"seed": 3, "stages": []}
