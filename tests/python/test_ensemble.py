"""perrin.ensemble(): systems of one job in a folder, and what is read of them."""
import numpy as np
import pytest

import perrin

PATH = "stages[0].integrator.temperature"


def job():
    return {
        "seed": 3, "system": {"type": "lattice", "structure": "fcc", "density": 0.8,
                              "cells": [3, 3, 3]},
        "velocity": {"temperature": 1.0},
        "forces": [{"type": "lennard_jones", "cutoff": 2.0,
                    "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
        "observers": [{"type": "thermo", "stride": 10}],
        "stages": [{"type": "md", "steps": 100,
                    "integrator": {"type": "langevin", "timestep": 0.004, "temperature": 1.0,
                                   "friction": 5.0}}]}


def test_tables_of_all_systems(tmp_path):
    scan = perrin.ensemble(job(), count=3, vary={PATH: {"linear": [0.5, 1.5]}}, threads=2,
                           device="cpu", folder=tmp_path / "scan")
    assert len(scan) == 3 and scan.states == ["complete"] * 3 and not scan.errors
    assert list(scan.values[PATH]) == [0.5, 1.0, 1.5]
    rows, columns = scan.thermo()
    assert rows.shape == (3, 11, len(columns))
    temperature = rows[:, :, columns.index("temperature")]
    assert np.all(np.diff(temperature[:, 5:].mean(axis=1)) > 0)
    means = scan.means()
    assert list(means[PATH]) == [0.5, 1.0, 1.5] and "pressure_error" in means
    assert "3 systems, 3 complete" in repr(scan)
    with pytest.raises(perrin.JobError, match="exchange no replicas"):
        scan.exchanges


def test_a_system_has_the_numbers_that_it_has_alone(tmp_path):
    scan = perrin.ensemble(job(), vary={PATH: np.array([0.7, 1.1])}, folder=tmp_path / "scan",
                           device="cpu")
    alone = job()
    alone["stages"][0]["integrator"]["temperature"] = 1.1
    alone["seed"] = 4
    perrin.run(alone, output_dir=tmp_path / "alone", device="cpu")
    assert perrin.thermo(tmp_path / "alone" / "thermo.h5").equals(
        perrin.thermo(scan[1] / "thermo.h5"))


def test_exchange_and_mistakes(tmp_path):
    scan = perrin.ensemble(job(), vary={PATH: [1.0, 1.05, 1.1]}, exchange={"every": 10},
                           folder=tmp_path / "scan", device="cpu")
    assert list(scan.exchanges.index) == list(range(10, 100, 10))
    assert sorted(scan.exchanges.iloc[-1]) == [0, 1, 2]
    with pytest.raises(perrin.JobError, match="has an ensemble already"):
        perrin.ensemble(job(), count=2, folder=tmp_path / "scan")
    with pytest.raises(perrin.JobError, match="must have 3 values"):
        perrin.ensemble(job(), count=3, vary={PATH: [1, 2]}, folder=tmp_path / "other")
    with pytest.raises(perrin.JobError, match='has no "ensemble"'):
        perrin.ensemble(job(), folder=tmp_path / "other")
    with pytest.raises(perrin.RunError, match="1 of 2 systems failed"):
        perrin.ensemble(job(), vary={"stages[0].integrator.timestep": [0.004, 9.0]},
                        folder=tmp_path / "fails", device="cpu")
    failed = perrin.Ensemble(tmp_path / "fails")
    assert failed.states == ["complete", "failed"] and list(failed.errors) == [1]


def test_replicas_on_their_way(tmp_path):
    what = job()
    what["observers"] += [{"type": "trajectory", "stride": 5,
                           "quantities": ["position", "image", "velocity"]}]
    what["stages"][0]["integrator"]["friction"] = 20
    scan = perrin.ensemble(what, vary={PATH: [1.0, 1.02, 1.04]}, exchange={"every": 10},
                           folder=tmp_path / "scan", device="cpu")
    table = scan.exchanges
    assert scan.acceptance.shape == (2,) and np.all((scan.acceptance > 0) & (scan.acceptance <= 1))
    # Each pair tries every second time; what was accepted is a change of the first pair's systems.
    rows = np.vstack([[0, 1, 2], table.to_numpy()])
    for k in (0, 1):
        tried = [j for j, step in enumerate(table.index) if step // 10 % 2 == k]
        changed = sum(rows[j + 1][k] != rows[j][k] for j in tried)
        assert scan.acceptance[k] == changed / len(tried)
    assert scan.round_trips >= 0
    moved, ways = 0, [scan.replica(r) for r in range(3)]
    for way in ways:
        assert all(table.loc[step].iloc[k] == way.number for step, k in way.systems.items())
        # The frame at the step of an exchange is of before it.
        assert list(way.system_at([0, 10])) == [way.number] * 2
        assert way.system_at(11) == way.systems[10]
        frames = list(way.frames())
        assert [frame.step for frame in frames] == list(range(0, 101, 5))
        # Within 5 steps of 0.004 a particle goes about 0.02; other replicas are a fluid apart.
        jumps = [np.abs(b.unwrapped - a.unwrapped).max() for a, b in zip(frames, frames[1:])]
        assert max(jumps) < 0.3
        thermo = way.thermo()
        assert list(thermo["step"]) == list(range(0, 101, 10))
        assert np.array_equal(thermo["system"], way.system_at(thermo["step"]))
        for _, row in thermo.iterrows():
            own = perrin.thermo(scan[int(row["system"])] / "thermo.h5").set_index("step")
            assert own.loc[row["step"], "potential_energy"] == row["potential_energy"]
        moved += len(set(way.systems)) > 1
    assert moved >= 2
    assert np.array_equal(sum((np.bincount(way.thermo()["system"], minlength=3) for way in ways)),
                          [11, 11, 11])
    # What is followed by system jumps where it changes its replica.
    with scan.trajectory(0) as trajectory:
        by_system = [np.abs(b.unwrapped - a.unwrapped).max()
                     for a, b in zip(trajectory, trajectory[1:])]
    assert (max(by_system) > 0.3) == any(table["system_0"] != 0)
    with pytest.raises(perrin.JobError, match="r: must be at most 2, got 3"):
        scan.replica(3)
    with pytest.raises(perrin.JobError, match="r: must be a whole number"):
        scan.replica(-1)
    alone = perrin.ensemble(job(), count=2, folder=tmp_path / "alone", device="cpu")
    for ask in (lambda: alone.acceptance, lambda: alone.round_trips, lambda: alone.replica(0)):
        with pytest.raises(perrin.JobError, match="exchange no replicas"):
            ask()


def test_means_over_seeds(tmp_path):
    """Of an ensemble and of a sweep: from the means of the systems and how these differ."""
    vary = {PATH: [0.7, 0.7, 0.7, 1.1], "seed": [3, 4, 5, 3]}
    scan = perrin.ensemble(job(), vary=vary, folder=tmp_path / "scan", device="cpu")
    each, both = scan.means(), scan.means(together=True)
    assert list(both[PATH]) == [0.7, 1.1] and list(both["systems"]) == [3, 1]
    assert "seed" not in both
    found = each["pressure"][:3]
    assert np.isclose(both["pressure"][0], found.mean())
    assert np.isclose(both["pressure_error"][0], found.std(ddof=1) / np.sqrt(3))
    assert both["pressure"][1] == each["pressure"][3]
    assert both["pressure_error"][1] == each["pressure_error"][3]
    for together in (False, True):
        table = perrin.sweep(job(), {(PATH, "seed"): list(zip(vary[PATH], vary["seed"]))},
                             folder=tmp_path / f"sweep{together}", device="cpu", over_seeds=True,
                             together=together)
        assert list(table["points"]) == [3, 1] and list(table[PATH]) == [0.7, 1.1]
        for name in ("pressure", "pressure_error", "temperature", "temperature_error"):
            assert np.allclose(table[name], both[name], rtol=1e-12)


def test_one_file_has_what_folders_have(tmp_path):
    what = job()
    what["observers"] += [{"type": "trajectory", "stride": 20}, {"type": "checkpoint", "steps": 50}]
    settings = {"vary": {PATH: [0.8, 1.2], "system.cells": [[3, 3, 3], [4, 3, 3]]}, "device": "cpu"}
    folders = perrin.ensemble(what, folder=tmp_path / "folders", **settings)
    one = perrin.ensemble(what, folder=tmp_path / "one", files="one", **settings)
    assert not (one[0] / "thermo.h5").exists() and (one[0] / "checkpoint.h5").exists()
    for a, b in zip(folders.thermo(), one.thermo()):
        assert np.array_equal(a, b)
    assert folders.means().equals(one.means())
    for k in range(2):
        with folders.trajectory(k) as a, one.trajectory(k) as b:
            assert len(a) == len(b) == 6 and a.job == b.job
            assert np.array_equal(a[-1].positions, b[-1].positions)
    import h5py
    with h5py.File(tmp_path / "one" / "ensemble.h5") as file:
        table = file["tables/thermo.h5"]
        columns = [name.decode() for name in table["column"]]
        rows, names = one.thermo()
        assert set(columns) == set(names)
        for name in names:
            assert np.array_equal(table["value"][:, :, columns.index(name)],
                                  rows[:, :, names.index(name)])
        assert list(file[f"values/{PATH}"]) == [0.8, 1.2]
        assert file["values/system.cells"][1] == b"[4,3,3]"
        assert file["systems/1"].attrs["state"] == "complete"
    one.extract(1, "thermo.h5", one[1] / "thermo.h5")
    one.extract(1, "trajectory.h5", one[1] / "trajectory.h5")
    assert perrin.thermo(one[1] / "thermo.h5").equals(perrin.thermo(folders[1] / "thermo.h5"))
    assert perrin.open(one[1] / "trajectory.h5")[-1].step == 100
    with pytest.raises(perrin.JobError, match="has no g.h5 of system 1"):
        one.extract(1, "g.h5", tmp_path / "g.h5")
    # Of an ensemble that is complete the files come back into the one.
    one.resume()
    assert not (one[1] / "thermo.h5").exists()
    assert folders.means().equals(one.means())


def test_all_systems_go_on(tmp_path):
    longer, shorter = ({**job(), "observers": [*job()["observers"], {"type": "checkpoint"}]}
                       for _ in range(2))
    longer["stages"][0]["steps"] = 160
    vary = {PATH: [0.7, 1.1]}
    whole = perrin.ensemble(longer, vary=vary, folder=tmp_path / "whole", device="cpu")
    scan = perrin.ensemble(shorter, vary=vary, folder=tmp_path / "scan", device="cpu")
    assert scan.resume(more_steps=40, device="cpu") is scan
    scan.resume(set={"stages[0].steps": 160}, device="cpu")
    assert scan.states == ["complete"] * 2
    columns = scan.thermo()[1]
    same = [columns.index(name) for name in ("temperature", "potential_energy")]
    assert np.array_equal(scan.thermo()[0][:, :, same], whole.thermo()[0][:, :, same])
    with pytest.raises(perrin.JobError, match="varies from system to system"):
        scan.resume(set={PATH: 1.0})
    with pytest.raises(perrin.JobError, match="more_steps"):
        scan.resume(more_steps=-1)
