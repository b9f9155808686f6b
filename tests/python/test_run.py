"""Running jobs from Python: the same bits as the program, whatever calls and callbacks."""
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import weakref

import h5py
import numpy as np
import pytest

import perrin
from conftest import DEVICE


def contents(path):
    found = {}
    with h5py.File(path) as f:
        f.visititems(lambda name, x: found.update({name: x[()]}) if isinstance(x, h5py.Dataset)
                     and not name.startswith("parameters/perrin") else None)
    return found


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.fixture
def reference(program, thermostatted, tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    (folder / "job.json").write_text(json.dumps(thermostatted))
    subprocess.run([program, "run", "job.json", "--quiet"], cwd=folder,
                   check=True)
    return {name: contents(folder / name) for name in ("trajectory.h5", "thermo.h5")}


def test_portions_have_the_bits_of_the_program(thermostatted, reference, tmp_path):
    with perrin.Simulation(thermostatted, output_dir=tmp_path) as sim:
        for steps in (1, 7, 0, 60, 12, 90):
            assert not sim.run(steps)
        assert sim.step == 170
        with pytest.warns(UserWarning, match="complete after 23 steps"):
            assert sim.run(1000)  # the job ends before
        assert sim.step == 193 and sim.complete
        with pytest.raises(perrin.JobError, match="complete at step 193"):
            sim.run(1)
        assert sim.run() and sim.run(0)
    for name in reference:
        assert_same(contents(tmp_path / name), reference[name])
    last = perrin.open(tmp_path / "trajectory.h5")
    assert list(last.steps) == [0, 30, 60, 90, 120, 150, 180]


def test_a_whole_run_and_callbacks(thermostatted, reference, tmp_path):
    sim = perrin.Simulation(thermostatted, output_dir=tmp_path)
    seen = []

    @sim.every(30)
    def look(s):
        assert s is sim
        seen.append((s.step, s.positions - s.box.origin, s.velocities, s.forces))

    sim.every(7)(lambda s: s.totals)
    sim.run()
    frames = reference["trajectory.h5"]
    assert [row[0] for row in seen] == [0, 30, 60, 90, 120, 150, 180]
    np.testing.assert_allclose([row[1] for row in seen], frames["particles/all/position/value"],
                               atol=1e-14)  # the rounding of r - origin
    for k, name in ((2, "velocity"), (3, "force")):
        np.testing.assert_array_equal([row[k] for row in seen],
                                      frames[f"particles/all/{name}/value"])
    for name in reference:
        assert_same(contents(tmp_path / name), reference[name])


def test_job_files_and_settings(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 100
    path = tmp_path / "job.json"
    path.write_text("// a comment\n" + json.dumps(liquid))
    sim = perrin.run(path, set={"stages[0].steps": 3}, output_dir=tmp_path, quiet=True)
    assert sim.step == 3 and sim.complete
    assert sim.job["stages"][0]["steps"] == 3
    assert not (tmp_path / "checkpoint.h5").exists()


def test_parts_of_steps_are_refused(liquid):
    sim = perrin.Simulation(liquid)
    with pytest.raises(perrin.JobError, match="whole number .* got 2.5"):
        sim.run(2.5)
    sim.run(np.int64(2))
    assert sim.step == 2


def test_a_checkpoint_makes_the_folder_of_a_job_without_observers(liquid, tmp_path):
    sim = perrin.Simulation({**liquid, "observers": []}, output_dir=tmp_path / "new" / "out")
    sim.set({"stages[0].integrator.timestep": 0.002})
    sim.run(3)
    sim.checkpoint()
    sim.close()
    again = perrin.Simulation.resume(tmp_path / "new/out/checkpoint.h5")
    np.testing.assert_array_equal(again.positions, sim.positions)


def test_mistakes_are_listed(liquid, tmp_path):
    liquid["forces"][0].update(cutoff=-1, truncaton="cut")
    with pytest.raises(perrin.JobError) as error:
        perrin.Simulation(liquid)
    problems = {p.path: p for p in error.value.problems}
    assert problems["forces[0].cutoff"] == ("forces[0].cutoff", None, "must be positive, got -1")
    assert 'did you mean "truncation"' in problems["forces[0].truncaton"].message
    path = tmp_path / "job.json"
    path.write_text(json.dumps(liquid, indent=1))
    with pytest.raises(perrin.JobError, match=r"job.json:\d+: forces\[0\].cutoff") as error:
        perrin.Simulation(path)
    line = next(p.line for p in error.value.problems if p.path == "forces[0].cutoff")
    assert '"cutoff"' in path.read_text().splitlines()[line - 1]
    with pytest.raises(perrin.JobError, match="no_such_file"):
        perrin.Simulation("no_such_file.json")
    with pytest.raises(perrin.JobError, match="types that JSON knows"):
        perrin.Simulation({"title": object()})


def test_outputs_are_not_overwritten(thermostatted, tmp_path):
    perrin.run(thermostatted, output_dir=tmp_path, quiet=True)
    with pytest.raises(perrin.JobError, match="trajectory.h5"):
        perrin.run(thermostatted, output_dir=tmp_path, quiet=True)
    perrin.run(thermostatted, output_dir=tmp_path, quiet=True, overwrite=True)


def test_an_exception_in_a_callback_comes_out_and_the_run_goes_on(liquid):
    plain = perrin.Simulation(liquid)
    plain.run(60)
    sim = perrin.Simulation(liquid)

    @sim.every(20)
    def fail(s):
        if s.step == 20:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sim.run(60)
    assert sim.step == 20
    sim.remove(fail)
    sim.run(40)
    np.testing.assert_array_equal(sim.positions, plain.positions)
    with pytest.raises(perrin.RunError, match="running"):
        sim.every(1)(lambda s: s.run(1))
        sim.run(1)


def test_callbacks_that_come_late_and_go(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(30)
    steps = []
    sim.every(10)(lambda s: steps.append(s.step))
    sim.every(4)(lambda s: steps.append(-s.step))
    sim.run(12)
    assert steps == [-32, -36, 40, -40]


def test_interrupt(liquid):
    sim = perrin.Simulation(liquid)
    sim.every(100)(lambda s: s.step >= 300 and os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        sim.run()
    step = sim.step
    assert step >= 300
    plain = perrin.Simulation(liquid)
    plain.run(step)
    np.testing.assert_array_equal(sim.positions, plain.positions)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupt_within_the_engine(liquid):
    sim = perrin.Simulation(liquid)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.run()
    sim.run(10)


def test_a_stage_without_particles(tmp_path):
    """Stopped by Ctrl-C and run on, its file is that of a run without."""
    slab = {"seed": 1, "device": DEVICE, "stages": [
        {"type": "neutron_slab", "thickness": 2.0, "total": 1.0, "absorption": 0.4,
         "histories": 1500000 * os.cpu_count() if DEVICE == "cpu" else 4 * 10**9}]}
    perrin.run(slab, output_dir=tmp_path / "whole", quiet=True)
    parts = perrin.Simulation(slab, output_dir=tmp_path / "parts")
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        parts.run()
    assert not parts.complete
    assert parts.run() and parts.complete
    name = os.listdir(tmp_path / "whole")[0]
    assert_same(contents(tmp_path / "parts" / name), contents(tmp_path / "whole" / name))
    with pytest.raises(perrin.JobError, match="no stage of the job has steps of particles"):
        parts.run(5)
    with pytest.raises(perrin.JobError, match="a job with a system"):
        parts.every(5)


def test_an_interrupted_run_can_be_resumed(program, liquid, reference, thermostatted, tmp_path):
    sim = perrin.Simulation(thermostatted, output_dir=tmp_path,
                            checkpoint="checkpoint.h5")
    sim.run(101)
    sim.close()
    with pytest.raises(perrin.RunError, match="closed"):
        sim.run(1)
    assert len(sim.positions) == 256
    subprocess.run([program, "resume", "checkpoint.h5", "--quiet"], cwd=tmp_path, check=True)
    for name in reference:
        assert_same(contents(tmp_path / name), reference[name])


def test_two_at_once(liquid):
    other = {**liquid, "seed": 8}
    alone = []
    for job in (liquid, other):
        sim = perrin.Simulation(job)
        sim.run(200)
        alone.append(sim.positions)
    both = [perrin.Simulation(liquid), perrin.Simulation(other)]
    for _ in range(10):
        for sim in both:
            sim.run(10)
    threads = [threading.Thread(target=sim.run, args=(100,)) for sim in both]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for sim, positions in zip(both, alone):
        np.testing.assert_array_equal(sim.positions, positions)


def test_one_thread_at_a_time(liquid):
    sim = perrin.Simulation(liquid)
    thread = threading.Thread(target=sim.run, args=(20000,))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            sim.positions
        except perrin.RunError as error:
            assert "another thread" in str(error)
            refused += 1
    thread.join()
    assert refused > 0


def test_a_child_of_a_fork_is_refused(liquid):
    sim = perrin.Simulation(liquid)
    sim.run(5)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        words = []
        for use in (lambda: sim.run(5), lambda: sim.positions, lambda: perrin.Simulation(liquid)):
            try:
                use()
                words.append("nothing")
            except perrin.RunError as error:
                words.append(str(error))
        os.write(writer, "\n".join(words).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        lines = pipe.read().splitlines()
    assert os.waitpid(child, 0)[1] == 0
    assert len(lines) == 3 and all("fork" in line for line in lines)
    sim.run(5)


@pytest.mark.skipif(DEVICE != "cpu", reason="numpy sees arrays of the CPU")
def test_nothing_is_kept_alive(liquid):
    sim = perrin.Simulation(liquid)
    sim.every(10)(lambda s: sim.step)  # a circle
    sim.run(10)
    array = np.asarray(sim.local.velocity)
    copy = array.copy()
    gone = weakref.ref(sim)
    del sim
    gc.collect()
    assert gone() is None
    np.testing.assert_array_equal(array, copy)


def test_the_program(program):
    said = [subprocess.run(command, capture_output=True, text=True, check=True).stdout
            for command in ([program, "help", "wca"],
                            [sys.executable, "-m", "perrin", "help", "wca"])]
    assert said[0] == said[1] != ""
