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


def test_jobs_are_shown_as_tables():
    """Each part has a row; texts of a job are no markup."""
    force = perrin.force.pair_formula(energy="if(r < a, 1, 0)", cutoff=2.5, pairs=[
        {"types": ["A", other], "a": k} for k, other in enumerate("ABCDEFGH")])
    lattice = perrin.system.lattice(density=0.5, cells=[3, 3, 3])
    job = perrin.Job(seed=1, title="<b>", system=lattice,
                     forces=[force, perrin.force.constant_force(force=[1, 0, 0])],
                     stages=[perrin.stage.md(steps=20, integrator=perrin.integrator.langevin(
                         timestep=0.005, temperature=1.0, friction=1.0))])
    page = xml.fromstring(job._repr_html_())
    rows = [[cell.text or "" for cell in row] for row in page.iter("tr")]
    assert [key for key, _ in rows] == ["seed", "title", "system", "forces", "", "stages"]
    assert rows[1][1] == '"<b>"'
    assert rows[3][1] == 'pair_formula: energy "if(r < a, 1, 0)", cutoff 2.5, pairs 8 of types, a'
    assert rows[4][1] == "constant_force: force [1, 0, 0]"
    assert json.loads(page.find(".//pre").text) == job
    assert repr(job) == repr(dict(job))  # so that pprint and copies of it do what they do
    assert xml.fromstring(force._repr_html_()).find("b").text == "perrin.force.pair_formula"


def test_nothing_is_shown_as_an_address(sim, tmp_path):
    """Of what perrin names, and of what simulations have."""
    sim.run(30)
    shown = {name: getattr(perrin, name) for name in perrin.__all__
             if not callable(getattr(perrin, name)) or isinstance(getattr(perrin, name), type)}
    shown.update({name: getattr(sim, name) for name in dir(sim) if name[0] != "_" and
                  not callable(getattr(sim, name))})
    shown.update(frame=sim.frame(), bonds=sim.frame().bonds, view=sim.local.position,
                 tensors=perrin.Tensors(sim.local._state), force=perrin.PythonForce(len),
                 system=perrin.system.lattice(density=0.5, cells=[3, 3, 3]))
    assert len(shown) > 50
    assert [name for name, thing in shown.items() if " at 0x" in repr(thing)] == []


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
