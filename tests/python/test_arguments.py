"""What is passed by mistake: each refusal names the argument, its value and what is expected."""
import numpy as np
import pytest

import perrin


@pytest.mark.parametrize("job, said", [
    (None, "the job: must be the name of a file or a dict, got None"),
    ([1], r"the job: .* got \[1\]"),
    ({"seed": float("nan")}, "seed: must be a finite number, got nan"),
    ({"stages": [{"steps": float("inf")}]}, r"stages\[0\].steps: must be a finite number"),
])
def test_what_is_no_job(job, said):
    with pytest.raises(perrin.JobError, match=said):
        perrin.Simulation(job)


@pytest.mark.parametrize("options, said", [
    ({"threads": -1}, "threads: must be a whole number of at least 0, got -1"),
    ({"threads": "two"}, "threads: .* got 'two'"),
    ({"device": 0}, "device: must be .*cuda:N.* got 0"),
    ({"output_dir": None}, "output_dir: must be the name of a file or folder, got None"),
    ({"set": "seed=3"}, "set: must be a dict of paths and values, .* got 'seed=3'"),
    ({"set": {"velocity.temperature": float("nan")}}, "velocity.temperature: must be a finite"),
])
def test_options(liquid, options, said):
    with pytest.raises(perrin.JobError, match=said):
        perrin.Simulation(liquid, **options)


UNITS = {"length": "nm", "energy": "kJ/mol", "mass": "u"}


@pytest.mark.parametrize("units, said", [
    ({**UNITS, "length": "inch"}, "units.length: unknown unit 'inch'; expected nm, angstrom, Å"),
    ({**UNITS, "energy": "Ry"}, "units.energy: unknown unit 'Ry'; expected kJ/mol, kcal/mol, eV"),
    ({**UNITS, "energy": ["eV"]}, r"units.energy: unknown unit \['eV'\]"),
    ({"energy": "eV", "mass": "u"}, "units.length: is missing; expected nm"),
    ("real", "units: must be \"lj\" or a dict .* got 'real'"),
    (None, "units: must be \"lj\" or a dict .* got None"),
])
def test_units(units, said):
    """Those of a calculator and of a bias, before either of them is asked for a force."""
    from perrin.plumed import plumed_force
    with pytest.raises(perrin.JobError, match=r"plumed_force\(\): " + said):
        plumed_force("d: DISTANCE ATOMS=1,2", timestep=0.001, units=units)
    pytest.importorskip("ase")
    from perrin.ase import Perrin
    with pytest.raises(perrin.JobError, match=r"Perrin\(\): " + said):
        Perrin([], units=units)


def test_units_of_mass():
    from perrin.plumed import plumed_force
    with pytest.raises(perrin.JobError, match="units.mass: unknown unit 'mg'; expected u, g/mol"):
        plumed_force("d: DISTANCE ATOMS=1,2", timestep=0.001, units={**UNITS, "mass": "mg"})


def test_methods(liquid):
    sim = perrin.Simulation(liquid)
    n = len(sim)
    for call, said in (
            (lambda: sim.run("ten"), "run.steps.: must be a whole number of at least 0, got 'ten'"),
            (lambda: sim.run(float("nan")), "run.steps.: .* got nan"),
            (lambda: sim.every(2.5), "every.steps.: must be a whole number of at least 1, got 2.5"),
            (lambda: sim.every(print), r"@sim.every\(100\)"),
            (lambda: sim.every(5)(3), "every.5.: must be a function, got 3"),
            (lambda: sim.remove(print), "remove.*that every.. was given, got <built-in"),
            (lambda: sim.set("x"), "set: must be a dict of paths and values"),
            (lambda: sim.checkpoint(3), "path: must be the name of a file or folder, got 3"),
            (lambda: setattr(sim, "positions", [1, 2]),
             rf"positions: must be numbers in an array of shape \({n}, 3\), got \(2,\)"),
            (lambda: setattr(sim, "velocities", 0), rf"velocities: .*\({n}, 3\), got \(\)"),
            (lambda: setattr(sim, "unwrapped", "a"), "unwrapped: must be numbers .* got 'a'"),
            (lambda: perrin.PythonForce(3), "PythonForce.function.: must be a function, got 3"),
            (lambda: perrin.PythonForce(print, 0), "PythonForce.stride.: .* at least 1, got 0"),
            (lambda: perrin.force.lennard_jones(2.5), "by name, cutoff=…; got 2.5 without one")):
        with pytest.raises(perrin.JobError, match=said):
            call()
    sim.run(2)  # nothing of it has done harm
    assert sim.step == 2


def test_names_that_are_nearly_right_are_not_set(liquid):
    sim = perrin.Simulation(liquid)
    with pytest.raises(AttributeError, match="no attribute 'velocity': did you mean 'velocities'"):
        sim.velocity = np.zeros((len(sim), 3))
    sim.notes = "one's own"
    assert sim.notes == "one's own"
    with pytest.raises(AttributeError):  # it would change nothing
        sim.box.lengths = [1, 1, 1]
    with pytest.raises(ValueError, match=r"vectors of shape \[..., 3\], got shape \(2,\)"):
        sim.box.nearest([1, 2])


def test_files_that_are_not_what_was_meant(tmp_path):
    (tmp_path / "text.txt").write_text("hello")
    with pytest.raises(FileNotFoundError, match='no such file; expected a table.*"thermo".*no.h5'):
        perrin.thermo(tmp_path / "no.h5")
    with pytest.raises(FileNotFoundError, match="no such file; expected a trajectory"):
        perrin.open(tmp_path / "no.h5")
    with pytest.raises(IsADirectoryError, match="expected a table of a run.*got a folder"):
        perrin.thermo(tmp_path)
    with pytest.raises(perrin.JobError, match="text.txt: is no HDF5 file: expected a table"):
        perrin.thermo(tmp_path / "text.txt")
    with pytest.raises(perrin.JobError, match="path: must be the name of a file or folder, got 3"):
        perrin.thermo(3)


def test_runs_without_an_end(liquid, tmp_path):
    with pytest.raises(perrin.JobError, match=r"run\(\): stages\[-1\].steps: is missing"):
        perrin.run(liquid, output_dir=tmp_path)
    with pytest.warns(UserWarning, match="1 of 1 points failed.*never end"):
        perrin.sweep(liquid, {"seed": [1]}, folder=tmp_path)
    for values, said in (({"seed": []}, r"seed: must be a list of at least one value, got \[\]"),
                         ({"seed": 3}, "seed: .* got 3")):
        with pytest.raises(perrin.JobError, match=said):
            perrin.sweep(liquid, values, folder=tmp_path)
    # A setting has one value in a point, whichever way its path is written.
    for first, second, names in (
            ("velocity.temperature", "seed", {"temperature": [1]}),
            ("stages[0].integrator.timestep", "stages[-1].integrator.timestep", {}),
            ("stages[0].integrator.timestep", '["stages"].0.integrator["timestep"]', {}),
            ("velocity", "velocity.temperature", {}), (("seed", "seed"), "title", {})):
        value = [(1, 1)] if isinstance(first, tuple) else [1]
        with pytest.raises(perrin.JobError, match="a point sets .* expected one list of values"):
            perrin.sweep(liquid, {first: value, second: [2]}, folder=tmp_path, **names)
    with pytest.raises(perrin.JobError, match="sweep.measure.: must be a function, got 3"):
        perrin.sweep(liquid, {"seed": [1]}, measure=3, folder=tmp_path)
    with pytest.raises(perrin.JobError, match="sweep.processes.: .* at least 1, got 0"):
        perrin.sweep(liquid, {"seed": [1]}, processes=0, folder=tmp_path)
