"""Reading files, statistics, builders and sweeps."""
import copy
import gzip
import inspect
import json
import os
import shutil

import h5py
import numpy as np
import pytest

import perrin
from conftest import DEVICE


def test_trajectories(thermostatted, tmp_path):
    sim = perrin.run(thermostatted, output_dir=tmp_path, quiet=True)
    thermostatted["stages"][1]["steps"] = 107  # ends with a frame
    sim = perrin.run(thermostatted, output_dir=tmp_path, quiet=True, overwrite=True)
    with perrin.open(tmp_path / "trajectory.h5") as t:
        assert len(t) == 7 and t.job["seed"] == 7 and t.type_names == ["A"] and t.units == {}
        frame = t[-1]
        assert frame.step == sim.step == 180 and frame.time == pytest.approx(sim.time)
        np.testing.assert_allclose(frame.positions, sim.positions, atol=1e-12)
        np.testing.assert_allclose(frame.unwrapped, sim.unwrapped, atol=1e-12)
        np.testing.assert_array_equal(frame.velocities, sim.velocities)
        np.testing.assert_allclose(frame.box.edges, sim.box.edges)
        assert [f.step for f in t[1:5:2]] == [30, 90]
        assert [f.step for f in t] == list(t.steps)
        with pytest.raises(IndexError):
            t[7]
        t.to_gsd(tmp_path / "out.gsd")
        assert (tmp_path / "out.gsd").stat().st_size > 7 * 256 * 12


def test_files_of_others(thermostatted, tmp_path):
    sim = perrin.run(thermostatted, output_dir=tmp_path, quiet=True)
    own = tmp_path / "trajectory.h5"
    with perrin.open(own) as t:
        t.to_gsd(tmp_path / "out.gsd")
        last = t[-1]
    with perrin.open(tmp_path / "out.gsd") as t:
        assert t.type_names == ["A"] and t[-1].step == last.step
        np.testing.assert_allclose(t[-1].unwrapped - t[-1].unwrapped.mean(axis=0),
                                   last.unwrapped - last.unwrapped.mean(axis=0), atol=1e-4)
    n = len(sim)

    def refused(change, part):
        shutil.copy(own, tmp_path / "bad.h5")
        with h5py.File(tmp_path / "bad.h5", "r+") as f:
            change(f)
        with pytest.raises(perrin.JobError, match=part):
            with perrin.open(tmp_path / "bad.h5") as bad:
                bad.masses, bad.bonds, list(bad)

    def nan(f):
        f["particles/all/position/value"][0, 1, 2] = np.nan

    def twice(f):
        f["particles/all/id"][0] = 1

    def nowhere(f):
        f["connectivity/bonds"] = np.array([[0, n]])

    def made_up(f):
        if "force" in f["particles/all"]:
            del f["particles/all/force"]
        f.create_dataset("particles/all/force/value", shape=(3, 1 << 40, 3), dtype="f8",
                         chunks=(1, 1024, 3))

    def elsewhere(f):
        del f["particles/all/mass"]
        f["particles/all/mass"] = h5py.ExternalLink(str(own), "/particles/all/mass")

    refused(nan, "position: nan")
    refused(twice, "occurs twice")
    refused(nowhere, f"names particle {n}")
    refused(made_up, "larger than what the file stores")
    refused(elsewhere, "mass is a link")
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(perrin.JobError, match="text.h5"):
        perrin.open(tmp_path / "text.h5")


@pytest.mark.parametrize("name", ["group.h5", "group.h5.gz"])
def test_own_files_of_a_group_are_read_as_they_are(tmp_path, name):
    """Their ids are those of the system, by which bonds name particles."""
    job = {"seed": 5, "device": DEVICE,
           "system": {"type": "parts", "box": [9, 9, 9], "min_distance": 0.85,
                      "parts": [{"type": "chains", "number": 3, "pattern": "A3B2",
                                 "bond_type": "b"},
                                {"type": "random", "particles": {"A": 20}}]},
           "velocity": {"temperature": 1.0}, "groups": {"ends": {"types": ["B"]}},
           "forces": [{"type": "bond_harmonic", "bonds": {"b": {"stiffness": 20, "length": 1}}}],
           "observers": [{"type": "trajectory", "stride": 5, "file": file, **more,
                          "quantities": ["position", "image", "velocity", "force"]}
                         for file, more in (("all.h5", {}), ("group.h5", {"group": "ends"}))],
           "stages": [{"type": "md", "steps": 10,
                       "integrator": {"type": "velocity_verlet", "timestep": 0.002}}]}
    perrin.run(job, output_dir=tmp_path, quiet=True)
    with open(tmp_path / "group.h5", "rb") as plain, gzip.open(tmp_path / "group.h5.gz",
                                                               "wb") as packed:
        shutil.copyfileobj(plain, packed)
    ids = np.array([3, 4, 8, 9, 13, 14])
    with perrin.open(tmp_path / "all.h5") as whole, perrin.open(tmp_path / name) as part:
        np.testing.assert_array_equal(whole.ids, np.arange(35))
        np.testing.assert_array_equal(part.ids, ids)
        assert len(part) == 3 and np.abs(part[2].forces).max() > 0
        with pytest.warns(perrin.JobWarning, match="a.h5: the forces of the frame are left out"):
            part[2].save(tmp_path / "a.h5")
        for one, other in zip(part, whole):
            for array in ("positions", "images", "velocities", "forces", "types", "masses"):
                np.testing.assert_array_equal(getattr(one, array), getattr(other, array)[ids])
        for bonds in (part.bonds, part.bonds_of(0), part[1].bonds.ids):
            np.testing.assert_array_equal(bonds, [[0, 1], [2, 3], [4, 5]])
    with h5py.File(tmp_path / "group.h5", "r+") as file:
        file["connectivity/bonds"][1] = [8, 7]
    with perrin.open(tmp_path / "group.h5") as part:
        with pytest.raises(perrin.JobError, match="row 1 names particle 7, expected a number of"):
            part[0]


def test_what_is_left_out_of_other_files_is_said(tmp_path):
    text = ('2\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:forces:R:3:tag:S:1\n'
            "A 1 1 1 1 2 3 x\nA 2 2 2 1 2 3 y\n")
    (tmp_path / "a.xyz").write_text(text)
    with gzip.open(tmp_path / "b.xyz.gz", "wt") as packed:
        packed.write(text)
    for name in ("a.xyz", "b.xyz.gz"):
        with pytest.warns(perrin.JobWarning) as told:
            perrin.open(tmp_path / name).close()
        said = f"{tmp_path / name}: properties are not read: forces, tag"
        assert [str(one.message) for one in told] == [said]


def test_particles_of_a_reservoir(tmp_path):
    """Those that are not there have types of their own, as in frames of a simulation."""
    job = {"seed": 5, "device": "cpu",
           "system": {"type": "random", "particles": {"A": 20}, "box": [6, 6, 6]},
           "reservoir": {"A": 60}, "observers": [{"type": "trajectory", "stride": 4}],
           "stages": [{"type": "monte_carlo", "sweeps": 8, "temperature": 1,
                       "insertion": [{"type": "A", "activity": 0.1, "trials": 10}]}]}
    sim = perrin.run(job, output_dir=tmp_path, quiet=True)
    with perrin.open(tmp_path / "trajectory.h5") as trajectory:
        last, frame = trajectory[-1], sim.frame()
        assert last.type_names == frame.type_names == ("A", "A (absent)")
        np.testing.assert_array_equal(last.types, frame.types)
        there = frame.types == 0
        assert not there.all()
        np.testing.assert_allclose(last.positions[there], frame.positions[there], atol=1e-6)
        with pytest.raises(perrin.JobError, match="come and go"):
            trajectory.to_mdanalysis()


def test_tables(thermostatted, tmp_path):
    sim = perrin.run(thermostatted, output_dir=tmp_path, quiet=True,
                     set={"stages[1].steps": 107})
    table = perrin.thermo(tmp_path / "thermo.h5")
    assert list(table["step"]) == list(range(0, 181, 10))
    with h5py.File(tmp_path / "thermo.h5") as f:
        for name in ("temperature", "pressure"):
            np.testing.assert_array_equal(table[name], f[f"observables/{name}/value"])
        np.testing.assert_array_equal(table["pressure_tensor_xz"],
                                      f["observables/pressure_tensor/value"][:, 0, 2])
    assert table["pressure"].iloc[-1] == pytest.approx(sim.totals.pressure, rel=1e-6)
    with pytest.raises(perrin.JobError, match="no table"):
        perrin.thermo(tmp_path / "trajectory.h5")


def test_readers_of_others(thermostatted, tmp_path):
    freud = pytest.importorskip("freud")
    perrin.run(thermostatted, output_dir=tmp_path, quiet=True)
    t = perrin.open(tmp_path / "trajectory.h5")
    rdf = freud.density.RDF(bins=50, r_max=2.0)
    for system in t.to_freud():
        rdf.compute(system, reset=False)
    assert 1.0 < rdf.bin_centers[np.argmax(rdf.rdf)] < 1.2
    universe = t.to_mdanalysis()
    np.testing.assert_allclose(universe.trajectory[3].positions,
                               t[3].positions - t[3].box.origin, atol=1e-5)


def test_autocorrelation_times_and_errors():
    """x' = rho x + noise has the time 1/2 (1 + rho) / (1 - rho), and a mean whose variance is
    known; so has every block of it."""
    random = np.random.default_rng(5)
    rho, n, pulls = 0.9, 20000, []
    for _ in range(20):
        noise = random.standard_normal(n)
        x = np.empty(n)
        x[0] = noise[0] / np.sqrt(1 - rho**2)
        for k in range(1, n):
            x[k] = rho * x[k - 1] + noise[k]
        whole, blocks = perrin.mean(x + 3), perrin.mean(x + 3, blocks=50)
        assert whole.time == pytest.approx(0.5 * (1 + rho) / (1 - rho), rel=0.25)
        expected = np.sqrt(1 / (1 - rho) ** 2 / n)
        assert whole.error == pytest.approx(expected, rel=0.15)
        assert blocks.error == pytest.approx(expected, rel=0.5)
        pulls.append((whole.value - 3) / whole.error)
    assert 0.5 < np.std(pulls) < 1.6
    assert perrin.autocorrelation_time(random.standard_normal(n)) == pytest.approx(0.5, abs=0.06)
    assert perrin.autocorrelation_time(np.ones(10)) == 0.5
    with pytest.raises(ValueError):
        perrin.mean([1.0])
    for wrong in np.arange(5) * 1j, np.ma.masked_less(np.arange(5.0), 3):
        with pytest.raises(ValueError, match="complex or masked"):
            perrin.mean(wrong)


def test_builders(liquid):
    built = perrin.Job(
        seed=7, device=liquid["device"],
        system=perrin.system.lattice(structure="fcc", density=0.8442, cells=[4, 4, 4]),
        velocity={"temperature": 1.0},
        forces=[perrin.force.lennard_jones(
            cutoff=2.5, truncation="force_shift",
            pairs=[{"types": ["A", "A"], "epsilon": 1, "sigma": 1}])],
        stages=[perrin.stage.md(integrator=perrin.integrator.velocity_verlet(timestep=0.005))])
    assert built == liquid
    with pytest.raises(perrin.JobError, match="cut_off") as error:
        perrin.force.wca(cut_off=1, pairs=[])
    assert error.value.problems[0].path == "cut_off"
    with pytest.raises(perrin.JobError, match="pairs: is missing"):
        perrin.force.wca(cutoff=1)
    with pytest.raises(AttributeError, match="lennard_jones"):
        perrin.force.leonard_jones
    assert "langevin" in dir(perrin.integrator)  # of a plug-in
    assert "cut-off distance" in perrin.force.wca.__doc__
    assert inspect.signature(perrin.force.wca).parameters["truncation"].default == "cut"


def test_sweeps_go_on_where_they_were(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 200
    liquid["observers"] = [{"type": "thermo", "stride": 5}]
    before = copy.deepcopy(liquid)
    values = {"velocity.temperature": [0.5, 1.0], ("seed", "title"): [(1, "a"), (2, "b")]}
    table = perrin.sweep(liquid, values, folder=tmp_path)
    assert liquid == before and len(table) == 4
    assert list(table["title"]) == ["a", "b"] * 2
    assert (table["temperature"][2:].to_numpy() > table["temperature"][:2].to_numpy()).all()
    assert (table["temperature_error"] > 0).all()
    first = perrin.thermo(os.path.join(table["folder"][0], "thermo.h5"))[8:]
    assert table["potential_energy"][0] == pytest.approx(first["potential_energy"].mean())

    made = {f: os.stat(os.path.join(f, "thermo.h5")).st_mtime_ns for f in table["folder"]}
    os.remove(os.path.join(table["folder"][3], "row.json"))  # as if it had been interrupted
    values["velocity.temperature"].append(0.7)
    longer = perrin.sweep(liquid, values, folder=tmp_path, processes=2)
    assert len(longer) == 6
    for k in range(3):
        folder = table["folder"][k]
        assert os.stat(os.path.join(folder, "thermo.h5")).st_mtime_ns == made[folder]
    np.testing.assert_array_equal(longer["temperature"][:4], table["temperature"])


def test_a_name_stands_for_all_settings_of_it(thermostatted, tmp_path):
    thermostatted["observers"] = []
    thermostatted["seed"] = 7
    job = tmp_path / "job.json"
    job.write_text("// a comment\n" + json.dumps(thermostatted))
    paths = ["velocity.temperature", "stages[0].integrator.temperature",
             "stages[1].integrator.temperature"]
    for k, of in enumerate([thermostatted, job]):
        table = perrin.sweep(of, {"seed": [3]}, temperature=[0.5, 1.5], folder=tmp_path / str(k),
                             measure=lambda folder: {"points": 1})
        assert [list(table[path]) for path in paths] == [[0.5, 1.5]] * 3
        assert list(table["seed"]) == [3, 3]
    with pytest.raises(perrin.JobError, match='no setting "temprature"'):
        perrin.sweep(thermostatted, temprature=[1])


def test_a_point_that_fails_has_a_row(liquid, tmp_path):
    liquid["stages"][0]["steps"] = 5
    with pytest.warns(UserWarning, match="1 of 2 points failed"):
        table = perrin.sweep(liquid, {"forces[0].cutoff": [2.5, -1]}, folder=tmp_path,
                             measure=lambda folder: {"found": os.listdir(folder)})
    assert sorted(table["found"][0]) == ["perrin.log", "row.json"]
    assert "must be positive" in table["error"][1]
    kept = [os.path.exists(os.path.join(folder, "row.json")) for folder in table["folder"]]
    assert kept == [True, False]


def test_stubs_say_what_the_classes_do():
    folder = os.path.dirname(os.path.realpath(perrin._perrin.__file__))
    if not os.path.exists(os.path.join(folder, "py.typed")):
        pytest.skip("the target python_stubs was not built")
    for kind in ("system", "force", "integrator", "observer", "stage"):
        names = {}
        with open(os.path.join(folder, kind + ".pyi")) as file:
            exec(compile(file.read(), kind, "exec"), names)
        for name in dir(getattr(perrin, kind)):
            stub = inspect.signature(names[name]).parameters
            made = inspect.signature(getattr(getattr(perrin, kind), name)).parameters
            assert set(stub) == set(made), name
            assert names[name].__doc__.split("\n")[0] == \
                getattr(getattr(perrin, kind), name).__doc__.split("\n")[0]
    with open(os.path.join(folder, "_perrin.pyi")) as file:
        assert "def set_positions(self" in file.read()


def test_dumps_that_are_packed(tmp_path):
    """Of gzip, by its first bytes; what is cut off is said, and other numbers of particles are."""
    def frame(step, n):
        rows = "".join(f"{k + 1} 1 {k} 2 3\n" for k in range(n))
        return (f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{n}\nITEM: BOX BOUNDS pp pp pp\n"
                f"0 10\n0 10\n0 10\nITEM: ATOMS id type x y z\n{rows}")

    packed = gzip.compress((frame(0, 3) + frame(10, 3)).encode())
    for name in ("run.lammpstrj.gz", "run"):
        (tmp_path / name).write_bytes(packed)
        with perrin.open(tmp_path / name) as trajectory:
            assert list(trajectory.steps) == [0, 10] and len(trajectory[1]) == 3
            np.testing.assert_allclose(trajectory[1].positions[2], [2, 2, 3])
    (tmp_path / "cut.gz").write_bytes(packed[:-20])
    with pytest.raises(perrin.JobError, match="cut.gz: cannot be unpacked by gzip"):
        perrin.open(tmp_path / "cut.gz")
    (tmp_path / "grows.lammpstrj").write_text(frame(0, 3) + frame(10, 4))
    with pytest.raises(perrin.JobError, match="has 4 particles, the frame read before 3"):
        perrin.open(tmp_path / "grows.lammpstrj")
