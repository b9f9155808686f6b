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
