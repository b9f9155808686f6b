"""Frames of a simulation: out of it, through files, and into another one."""
import dataclasses
import gzip
import importlib.util
import sys
import warnings

import h5py
import numpy as np
import pytest

import perrin
from conftest import DEVICE

STAGE = {"type": "md", "integrator": {"type": "velocity_verlet", "timestep": 0.002}}
LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
BY_ID = ("positions", "images", "velocities", "types", "masses", "charges", "diameters",
         "orientations", "angular_momenta", "moments_of_inertia", "molecules", "bodies")
LISTS = ("bonds", "angles", "dihedrals", "impropers")


def polymers():
    """Chains with bonds and angles, charges and an attribute, beside single particles."""
    return {"seed": 5, "device": DEVICE,
            "system": {"type": "parts", "box": [9, 10, 11], "tilts": [1, -2, 0.5],
                       "min_distance": 0.85,
                       "parts": [{"type": "chains", "number": 12, "pattern": "A3B2",
                                  "bond_type": "b", "angle_type": "c"},
                                 {"type": "random", "particles": {"W": 100}}]},
            "velocity": {"temperature": 1.0},
            "attributes": {"charge": {"types": {"B": 0.5}, "default": 0},
                           "radius": {"random": {"uniform": [0.4, 0.6]}}},
            "ignore": ["angles", "charges"],
            "forces": [{"type": "bond_harmonic", "bonds": {"b": {"stiffness": 20, "length": 1}}}],
            "stages": [STAGE]}


def spheres():
    """Discs that turn, in two dimensions with an open axis."""
    return {"seed": 5, "device": DEVICE,
            "system": {"type": "random", "particles": {"A": 40}, "box": [12, 9], "dimension": 2,
                       "periodic": [True, False], "min_distance": 0.9},
            "orientations": {"moments_of_inertia": {"A": [0.1, 0.1, 0.1]}},
            "velocity": {"temperature": 1.0}, "forces": [LJ], "stages": [STAGE]}


def dumbbells():
    return {"seed": 5, "device": DEVICE,
            "system": {"type": "lattice", "structure": "sc", "density": 0.2, "cells": [4, 4, 4],
                       "types": {"D": 1}},
            "bodies": {"D": {"sites": [{"type": "A", "at": [0.35, 0, 0]},
                                       {"type": "A", "at": [-0.35, 0, 0]}]}},
            "velocity": {"temperature": 1.0}, "forces": [LJ], "stages": [STAGE]}


def assert_same(a, b, but=()):
    assert len(a) == len(b) and a.type_names == b.type_names
    for name in BY_ID:
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None), name
        if one is not None and name not in but:
            np.testing.assert_array_equal(one, other, err_msg=name)
    for name in LISTS:
        one, other = getattr(a, name), getattr(b, name)
        np.testing.assert_array_equal(one.ids, other.ids, err_msg=name)
        assert [one.type_names[t] for t in one.types] == [other.type_names[t] for t in other.types]
    np.testing.assert_array_equal(a.box.edges, b.box.edges)
    np.testing.assert_array_equal(a.box.origin, b.box.origin)
    assert (a.box.periodic, a.box.dimension) == (b.box.periodic, b.box.dimension)
    assert a.attributes.keys() == b.attributes.keys()
    for name in a.attributes:
        np.testing.assert_array_equal(a.attributes[name], b.attributes[name])


def start(job, **more):
    """With the velocities and attributes of its system."""
    return perrin.Simulation({k: v for k, v in job.items() if k not in ("velocity", "attributes")},
                             **more)


def later(job, steps=40):
    sim = perrin.Simulation(job)
    sim.run(steps)
    return sim


def test_out_and_in_has_every_bit():
    """Numbers of the engine are fixed point and single precision: double precision holds them."""
    job = polymers()
    frame = later(job).frame()
    assert np.any(frame.images) and len(frame.bonds) == 48 and len(frame.angles) == 36
    assert len(set(frame.molecules[:60])) == 12
    again = start({**job, "system": frame})
    assert_same(frame, again.frame())
    assert again.step == 0 and frame.step == 40
    # Two that begin from the frame go the same way.
    other = start({**job, "system": frame})
    again.run(30)
    other.run(30)
    assert_same(again.frame(), other.frame())
    np.testing.assert_allclose(again.totals.total, other.totals.total)


def test_a_frame_goes_on_as_the_run_it_is_of():
    job = polymers()
    sim = later(job)
    again = start({**job, "system": sim.frame()})
    assert again.totals.potential == pytest.approx(sim.totals.potential, rel=1e-6)
    sim.run(20)
    again.run(20)
    np.testing.assert_allclose(again.positions, sim.positions, atol=1e-4)  # lists are new: rounding


def test_steps_can_go_on(liquid):
    frame = later(liquid, 7).frame()
    sim = start({**liquid,
                 "system": {"type": "file", "path": frame, "keep_step": True}})
    assert sim.step == 7 and sim.time == pytest.approx(0.035)


def test_two_dimensions_open_axes_and_orientations():
    job = spheres()
    frame = later(job).frame()
    again = start({**job, "system": frame,
                   "orientations": {"moments_of_inertia": {"A": [0.1] * 3}}}).frame()
    # Quaternions get length 1 again: their last bit may change.
    assert_same(frame, again, but=("orientations", "angular_momenta", "moments_of_inertia"))
    np.testing.assert_allclose(frame.orientations, again.orientations, atol=2e-7)


def test_orientations_come_from_the_frame():
    job = spheres()
    job.pop("forces")
    frame = later(job, 5).frame()
    del job["orientations"]
    again = start({**job, "system": frame}).frame()
    np.testing.assert_allclose(frame.orientations, again.orientations, atol=2e-7)
    np.testing.assert_array_equal(frame.angular_momenta, again.angular_momenta)
    np.testing.assert_array_equal(frame.moments_of_inertia, again.moments_of_inertia)


def test_bodies():
    job = dumbbells()
    frame = later(job).frame()
    assert frame.sites.sum() == 128 and set(frame.bodies) == set(range(64))
    again = start({**job, "system": frame}).frame()
    sites = frame.sites
    np.testing.assert_array_equal(again.positions[~sites], frame.positions[~sites])
    np.testing.assert_allclose(again.box.nearest(again.positions - frame.positions), 0, atol=1e-6)
    np.testing.assert_array_equal(again.bodies, frame.bodies)
    with pytest.raises(perrin.JobError, match='rigid bodies: expected "bodies" in the job'):
        start({**job, "system": frame, "bodies": {}})
    one = {"D": {"sites": [{"type": "A", "at": [0.35, 0, 0]}], "mass": 1,
                 "moments_of_inertia": [1, 1, 1]}}
    with pytest.raises(perrin.JobError, match="2 sites in the body of particle 0.*expected 1"):
        start({**job, "system": frame, "bodies": one})
    frame.bodies = None
    assert len(start({**job, "system": frame, "bodies": {}, "forces": []})) == len(frame)


@pytest.fixture
def recorded(tmp_path):
    """The folder of a run of dumbbells, and its last frame."""
    turn = ["position", "image", "velocity", "orientation", "angular_momentum"]
    job = {**dumbbells(), "observers": [
        {"type": "trajectory", "stride": 20, "quantities": turn},
        {"type": "gsd", "stride": 20, "quantities": turn},
        {"type": "gsd", "stride": 20, "file": "unturned.gsd"}]}
    with perrin.Simulation(job, output_dir=tmp_path) as sim:
        sim.run(40)
        return tmp_path, sim.frame()


def test_sites_of_a_frame_are_not_added_again(recorded):
    """H5MD does not say which particles are sites."""
    folder, frame = recorded
    with perrin.open(folder / "trajectory.h5") as trajectory:
        last = trajectory[-1]
    assert last.bodies is None and len(last) == 192
    pattern = "bodies.D: the frame has these sites among its particles already"
    with pytest.raises(perrin.JobError, match=pattern):
        start({**dumbbells(), "system": last})
    with pytest.raises(perrin.JobError, match=pattern):
        start({**dumbbells(), "system": {"type": "file", "path": last}})
    again = start({**dumbbells(), "system": last.without(last.types == 1)}).frame()
    np.testing.assert_array_equal(again.bodies, frame.bodies)
    np.testing.assert_allclose(again.box.nearest(again.positions - frame.positions), 0, atol=1e-5)
    last.bodies = np.full(len(last), -1)  # all are free
    assert len(start({**dumbbells(), "system": last, "forces": []})) == 320
    last.bodies = None
    with h5py.File(folder / "trajectory.h5", "r+") as file:
        file["parameters/perrin/no_sites"] = 1
    with perrin.open(folder / "trajectory.h5") as trajectory:
        assert trajectory[-1].bodies is None
    system = {"type": "file", "path": str(folder / "trajectory.h5"), "frame": -1}
    assert len(start({**dumbbells(), "system": system, "forces": []})) == 320
    last.positions[last.types == 1] += 0.01  # particles of type A that are free
    assert len(start({**dumbbells(), "system": last, "forces": []})) == 320
    pytest.importorskip("gsd.hoomd")
    frame.bodies = None
    with pytest.raises(perrin.JobError, match=pattern):
        start({**dumbbells(), "system": frame.to_hoomd()})
    import gsd.hoomd
    with gsd.hoomd.open(folder / "free.gsd", "w") as file:
        file.file.write_chunk("particles/body", np.full(len(frame), -1, np.int32))
        file.append(frame.to_hoomd())
    system = {"type": "file", "path": str(folder / "free.gsd")}
    assert len(start({**dumbbells(), "system": system, "forces": []})) == 320
    free = start({**dumbbells(), "bodies": {}, "system": system, "forces": []})
    assert len(free) == 192 and free.frame().bodies is None


def test_bodies_of_gsd_files_are_read(recorded, monkeypatch):
    gsd = pytest.importorskip("gsd.hoomd")
    folder, frame = recorded
    with open(folder / "trajectory.gsd", "rb") as plain, gzip.open(folder / "a.gsd.gz", "w") as out:
        out.write(plain.read())
    for name in ("trajectory.gsd", "a.gsd.gz"):
        with perrin.open(folder / name) as trajectory:
            assert [step.bodies.tolist() for step in trajectory] == [frame.bodies.tolist()] * 3
            last = trajectory[-1]
        again = start({**dumbbells(), "system": last}).frame()
        np.testing.assert_array_equal(again.bodies, frame.bodies)
        # The file has float32 of lengths up to 3.5.
        np.testing.assert_allclose(again.box.nearest(again.positions - frame.positions), 0,
                                   atol=4e-6)
    with perrin.open(folder / "unturned.gsd") as trajectory:
        with pytest.raises(perrin.JobError, match="rigid bodies without orientations"):
            start({**dumbbells(), "system": trajectory[-1]})
    with gsd.open(folder / "trajectory.gsd") as file:
        found = file[0]
    found.particles.body[-2:] = -2  # a group that is not rigid
    with gsd.open(folder / "floppy.gsd", "w") as file:
        file.append(found)
    with perrin.open(folder / "floppy.gsd") as trajectory:
        assert trajectory[0].bodies.tolist() == [*frame.bodies[:-2], -1, -1]
    found.particles.body[70] = 69
    with gsd.open(folder / "wrong.gsd", "w") as file:
        file.append(found)
    with perrin.open(folder / "wrong.gsd") as trajectory:
        with pytest.warns(perrin.JobWarning, match="of 190 particles .* particle 70 has 69"):
            assert trajectory[0].bodies is None
    monkeypatch.setitem(sys.modules, "gsd.fl", None)
    with pytest.warns(perrin.JobWarning, match="rigid bodies .* are left out: pip install gsd"):
        with perrin.open(folder / "trajectory.gsd") as trajectory:
            assert trajectory[0].bodies is None


@pytest.mark.parametrize("name", ["frame.h5", "frame.xyz"])
def test_bodies_that_a_file_has_no_place_for_are_named(tmp_path, name, capfd):
    frame = later(dumbbells()).frame()
    with pytest.warns(perrin.JobWarning, match=f"{name}: the rigid bodies of the frame") as warned:
        frame.save(tmp_path / name)
    assert all(one.filename == __file__ for one in warned)
    assert capfd.readouterr() == ("", "")


def test_gsd_has_a_place_for_bodies(tmp_path):
    pytest.importorskip("gsd.hoomd")
    frame = later(dumbbells()).frame()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame.save(tmp_path / "frame.gsd")
    with perrin.open(tmp_path / "frame.gsd") as trajectory:
        np.testing.assert_array_equal(trajectory[0].bodies, frame.bodies)


def test_saving_prints_nothing(tmp_path, capfd):
    """What `perrin convert` warns of are warnings of Python."""
    frame = later(polymers()).frame()
    with pytest.warns(perrin.JobWarning, match="frame.gsd: numbers of molecules are left out"):
        frame.save(tmp_path / "frame.gsd")
    with pytest.warns(perrin.JobWarning, match="bonds, angles and dihedrals are left out"):
        frame.save(tmp_path / "frame.xyz")
    frame.save(tmp_path / "frame.h5")
    with perrin.open(tmp_path / "frame.h5") as trajectory:
        with pytest.warns(perrin.JobWarning, match="numbers of molecules are left out"):
            trajectory.to_gsd(tmp_path / "all.gsd")
        with pytest.raises(perrin.JobError, match="all.gsd: exists: overwrite=True"):
            trajectory.to_gsd(tmp_path / "all.gsd")
    with pytest.raises(perrin.JobError, match="frame.foo: unknown format"):
        frame.save(tmp_path / "frame.foo")
    assert capfd.readouterr() == ("", "")


def test_files_of_frames(tmp_path):
    job = polymers()
    frame = later(job).frame()
    frame.save(tmp_path / "frame.h5")
    with perrin.open(tmp_path / "frame.h5") as trajectory:
        assert_same(trajectory[-1], frame)
        assert (trajectory[-1].step, trajectory[-1].time) == (frame.step, frame.time)
    with pytest.raises(perrin.JobError, match="frame.h5: exists"):
        frame.save(tmp_path / "frame.h5")
    frame.save(tmp_path / "frame.xyz")
    with perrin.open(tmp_path / "frame.xyz") as trajectory:
        np.testing.assert_allclose(trajectory[0].positions, frame.positions, atol=1e-13)
        np.testing.assert_array_equal(trajectory[0].velocities, frame.velocities)
    by_program = start({**job, "system": {"type": "file", "path": str(tmp_path / "frame.h5")}})
    assert_same(by_program.frame(), frame)


def test_a_frame_of_a_trajectory_has_all_that_is_in_the_file(tmp_path):
    job = {**polymers(), "observers": [{"type": "trajectory", "stride": 20, "precision": "double",
                                        "quantities": ["position", "image", "velocity"]}]}
    with perrin.Simulation(job, output_dir=tmp_path) as sim:
        sim.run(40)
        frame = sim.frame()
    with perrin.open(tmp_path / "trajectory.h5") as trajectory:
        assert_same(trajectory[-1], frame, but=("positions",))
        np.testing.assert_allclose(trajectory[-1].positions, frame.positions, atol=1e-12)
        again = start({**polymers(), "system": trajectory[-1]})
    assert_same(again.frame(), frame, but=("positions",))


def test_named_units_are_kept():
    job = {"seed": 1, "device": DEVICE, "units": {"length": "nm", "energy": "kJ/mol", "mass": "u"},
           "system": {"type": "lattice", "structure": "fcc", "density": 21, "cells": [4, 4, 4],
                      "masses": {"A": 39.95}},
           "velocity": {"temperature": 100}, "forces": [],
           "stages": [{"type": "md", "integrator": {"type": "velocity_verlet",
                                                    "timestep": 0.001}}]}
    frame = later(job, 10).frame()
    assert frame.units["position"] == "nm" and frame.units["velocity"] == "nm ps-1"
    assert_same(start({**job, "system": frame}).frame(), frame)
    angstrom = start({**job, "system": frame,
                      "units": {"length": "angstrom", "energy": "kcal/mol", "mass": "u"}})
    np.testing.assert_allclose(angstrom.positions, 10 * frame.positions, rtol=1e-9)
    # The unit of time there is sqrt(u Å²/(kcal/mol)) = 1/sqrt(4.184) of 0.1 ps; speeds follow.
    np.testing.assert_allclose(angstrom.velocities, frame.velocities / np.sqrt(4.184), rtol=1e-5)
    with pytest.raises(perrin.JobError, match="the frame: is in named units"):
        start({**job, "system": frame, "units": "lj"})
    reduced = dict(job, units="lj")
    with pytest.raises(perrin.JobError, match="the frame: names no units"):
        start({**job, "system": later(reduced, 1).frame()})


def test_frames_of_hoomd(tmp_path):
    pytest.importorskip("gsd.hoomd")
    job = polymers()
    frame = later(job).frame()
    with pytest.warns(perrin.JobWarning, match="numbers of molecules"):
        snapshot = frame.to_hoomd()
    snapshot.validate()
    middle = frame.box.origin + frame.box.edges.sum(axis=0) / 2
    again = start({**job, "system": snapshot})
    f = again.frame()
    for name in ("velocities", "images", "types", "masses", "charges"):
        np.testing.assert_allclose(getattr(f, name), getattr(frame, name), rtol=1e-6)
    np.testing.assert_allclose(
        f.positions - f.box.origin - f.box.edges.sum(axis=0) / 2, frame.positions - middle,
        atol=1e-6)
    np.testing.assert_array_equal(f.bonds.ids, frame.bonds.ids)
    np.testing.assert_array_equal(f.angles.ids, frame.angles.ids)
    np.testing.assert_allclose(f.attributes["radius"], frame.attributes["radius"], rtol=1e-6)
    snapshot.pairs.N, snapshot.pairs.group, snapshot.pairs.typeid = 1, [[0, 1]], [0]
    snapshot.pairs.types = ["special"]
    with pytest.raises(perrin.JobError, match="1 pairs are not read"):
        start({**job, "system": snapshot})


def test_gsd_files_have_bodies_constraints_and_open_axes(tmp_path):
    gsd = pytest.importorskip("gsd.hoomd")
    frame = later(dumbbells()).frame()
    frame.to_gsd(tmp_path / "bodies.gsd")
    with gsd.open(tmp_path / "bodies.gsd") as file:
        found = file[0]
    np.testing.assert_array_equal(found.particles.body, frame.bodies)
    # HOOMD-blue's angular momentum is the quaternion 2 q (0, L): (0, L) = conjugate(q) p / 2.
    w, x, y, z = found.particles.orientation.T.astype(float)
    p = found.particles.angmom.astype(float)
    back = np.stack([w * p[:, 1] - x * p[:, 0] - y * p[:, 3] + z * p[:, 2],
                     w * p[:, 2] + x * p[:, 3] - y * p[:, 0] - z * p[:, 1],
                     w * p[:, 3] - x * p[:, 2] + y * p[:, 1] - z * p[:, 0]], axis=1) / 2
    np.testing.assert_allclose(back, frame.angular_momenta, atol=1e-5)
    again = start({**dumbbells(), "system": found}).frame()
    np.testing.assert_array_equal(again.bodies, frame.bodies)
    np.testing.assert_allclose(again.box.nearest(again.positions - frame.positions), 0, atol=1e-5)
    other = {"D": {"sites": [{"type": "A", "at": [x, 0, 0]} for x in (0.4, -0.4)]}}
    with pytest.raises(perrin.JobError, match="bodies.D: is not as the bodies of the file are"):
        start({**dumbbells(), "system": found, "bodies": other})
    with pytest.warns(perrin.JobWarning, match="of 192 particles .* the job has no \"bodies\""):
        start({**dumbbells(), "system": found, "bodies": {}, "forces": []})
    flat = later(spheres(), 3).frame()
    flat.to_gsd(tmp_path / "flat.gsd")
    with perrin.open(tmp_path / "flat.gsd") as trajectory:
        assert trajectory[0].box.periodic[:2] == (True, False)
    with pytest.warns(perrin.JobWarning, match="all axes as periodic: y of this frame"):
        flat.to_hoomd()


def test_constraints_are_not_lost_silently(tmp_path):
    gsd = pytest.importorskip("gsd.hoomd")
    job = {"seed": 1, "device": DEVICE,
           "system": {"type": "parts", "box": [8, 8, 8],
                      "parts": [{"type": "chains", "number": 20, "pattern": "A2", "bond_type": "b",
                                  "bond_length": 1.0}]},
           "constraints": {"bonds": {"b": 1.0}}, "velocity": {"temperature": 1},
           "forces": [], "stages": [STAGE]}
    frame = later(job).frame()
    assert frame.constraints.shape == (20, 2) and np.all(frame.constraint_lengths == 1)
    again = start({**job, "system": frame}).frame()
    # A start puts lengths right that single precision has left wrong by some 1e-7.
    assert_same(again, frame, but=("positions", "velocities"))
    np.testing.assert_allclose(again.positions, frame.positions, atol=1e-7)
    np.testing.assert_allclose(again.velocities, frame.velocities, atol=1e-6)
    np.testing.assert_array_equal(again.constraints, frame.constraints)
    with pytest.warns(perrin.JobWarning, match="the frame has constraints and the job has none"):
        start({**{k: v for k, v in job.items() if k != "constraints"}, "system": frame,
               "ignore": ["bonds"]})
    frame.to_gsd(tmp_path / "frame.gsd")
    with pytest.warns(perrin.JobWarning, match="numbers of molecules"):
        frame.save(tmp_path / "saved.gsd")
    for name in ("frame.gsd", "saved.gsd"):
        with gsd.open(tmp_path / name) as file:
            np.testing.assert_array_equal(file[0].constraints.group, frame.constraints)
    with pytest.warns(perrin.JobWarning, match="saved.h5: the constraints of the frame are left"):
        frame.save(tmp_path / "saved.h5")


def test_velocities_that_are_drawn_anew_are_told(liquid):
    with pytest.warns(perrin.JobWarning, match="replaces the velocities of the frame") as warned:
        perrin.Simulation({**liquid, "system": later(liquid, 1).frame()})
    assert warned[0].filename == __file__


def test_other_places_want_a_file(liquid, tmp_path):
    frame = later(liquid, 1).frame()
    for refused in (lambda: perrin.sweep({**liquid, "system": frame}, {"seed": [1]},
                                         folder=tmp_path),
                    lambda: perrin.Simulation({**liquid, "observers": [{"path": frame}]})):
        with pytest.raises(perrin.JobError, match=r"frame\.save\(FILE\)"):
            refused()


def test_mistakes_name_the_frame(liquid):
    frame = later(liquid, 1).frame()
    frame.positions[3, 1] = np.nan
    with pytest.raises(perrin.JobError, match="the frame, .* y of particle 3 is nan"):
        start({**liquid, "system": frame})
    frame = later(liquid, 1).frame()
    frame.velocities = frame.velocities[1:]
    with pytest.raises(perrin.JobError, match=r"velocities: must be an array of shape \(256, 3\), "
                                              r"got \(255, 3\)"):
        start({**liquid, "system": frame})


def test_parts_of_numbers_are_refused(liquid, tmp_path):
    """Whole numbers are not made of others."""
    frame = later(polymers(), 1).frame()
    n = len(frame)
    bonds = frame.bonds
    half = perrin.Members(bonds.ids + 0.5, bonds.types, bonds.type_names)
    fewer = perrin.Members(bonds.ids, bonds.types[1:], bonds.type_names)
    for change, said in (({"images": frame.images + 0.5}, "images: .* at .0, 0., expected a whole"),
                         ({"images": frame.images.astype(np.int64) + 2**31},
                          "images: .*from -2147483648"),
                         ({"types": frame.types + 0.5}, "types: .* expected 0 to 2"),
                         ({"molecules": np.full(n, -1)}, "molecules: -1 at .0., expected a whole"),
                         ({"molecules": np.full(n, np.nan)}, "molecules: nan at .0."),
                         ({"charges": np.ones(n) * 1j}, "charges: must be numbers, got complex"),
                         ({"positions": np.ma.masked_less(frame.positions, 0)},
                          "positions: must be numbers, got complex or masked"),
                         ({"bonds": half}, "bonds.ids: 0.5 at .0, 0., expected a whole number"),
                         ({"bonds": fewer}, "bonds.types: must be an array of shape")):
        changed = dataclasses.replace(frame, **change)
        for use in (lambda: start({**polymers(), "system": changed}),
                    lambda: changed.save(tmp_path / "a.xyz")):
            with pytest.raises(perrin.JobError, match=said):
                use()
    large = dataclasses.replace(frame, molecules=np.arange(n) + 2**31)
    np.testing.assert_array_equal(start({**polymers(), "system": large}).frame().molecules,
                                  large.molecules)
    for mask in (np.zeros(n, int), np.zeros(n - 1, bool), 3):
        with pytest.raises(perrin.JobError, match="without.*: must be an array of bool"):
            frame.without(mask)


def test_frames_of_hoomd_need_gsd(monkeypatch, tmp_path):
    frame = later(polymers(), 1).frame()
    monkeypatch.setitem(sys.modules, "gsd", None)
    for use in frame.to_hoomd, lambda: frame.to_gsd(tmp_path / "a.gsd"):
        with pytest.raises(perrin.JobError, match="by gsd: pip install gsd"):
            use()


@pytest.mark.parametrize("wrong", [1, -1])
def test_types_have_names(wrong, tmp_path):
    frame = later(polymers(), 1).frame()
    assert frame.type_names == ("A", "B", "W") and frame.bonds.type_names == ("b",)
    types, of_bonds = frame.types.astype(np.int64), frame.bonds.types.astype(np.int64)
    types[5] = of_bonds[5] = 3 * wrong
    bonds = perrin.Members(frame.bonds.ids, of_bonds, ("b",))
    for changed, said in (
            (dataclasses.replace(frame, types=types),
             f"types: {3 * wrong} at .5., expected 0 to 2"),
            (dataclasses.replace(frame, bonds=bonds),
             f"bonds.types: {3 * wrong} at .5., expected 0 to 0: type_names are b$")):
        uses = [lambda: start({**polymers(), "system": changed}),
                lambda: changed.save(tmp_path / "a.xyz")]
        if importlib.util.find_spec("gsd"):
            uses.append(changed.to_hoomd)
        for use in uses:
            with pytest.raises(perrin.JobError, match=said):
                use()


def test_a_run_from_a_frame_resumes(liquid, tmp_path, program):
    """Checkpoints hold the particles: the temporary file is not needed again."""
    import subprocess
    frame = later(liquid, 5).frame()
    liquid["stages"][0]["steps"] = 40
    sim = start({**liquid, "system": frame}, output_dir=tmp_path)
    sim.run(20)
    sim.checkpoint()
    sim.set({"stages[0].integrator.timestep": 0.002})
    sim.close()
    subprocess.run([program, "resume", "checkpoint.h5", "--quiet"], cwd=tmp_path, check=True)


def test_particles_that_are_not_there(tmp_path):
    """A frame of a grand canonical job has room for more: a start has those that are there."""
    job = {"seed": 3, "device": DEVICE,
           "system": {"type": "random", "particles": {"A": 40}, "box": [7, 7, 7],
                      "min_distance": 0.9},
           "reservoir": {"A": 100},
           "forces": [{**LJ, "truncation": "cut"}],
           "stages": [{"type": "monte_carlo", "sweeps": 20, "temperature": 1.5,
                       "insertion": [{"type": "A", "activity": 0.2, "trials": 50}]}]}
    sim = perrin.Simulation(job)
    sim.run()
    frame = sim.frame()
    there = np.array([not frame.type_names[t].endswith(" (absent)") for t in frame.types])
    assert len(frame) == 140 and 40 < there.sum() < 140
    del job["reservoir"]
    again = perrin.Simulation({**job, "system": frame, "stages": [STAGE]})
    np.testing.assert_array_equal(again.positions, frame.positions[there])
    gsd = pytest.importorskip("gsd.hoomd")
    frame.to_gsd(tmp_path / "to.gsd")
    frame.save(tmp_path / "saved.gsd")
    middle = frame.box.origin + frame.box.edges.sum(axis=0) / 2
    made = [frame.to_hoomd()]
    for name in ("to.gsd", "saved.gsd"):
        with gsd.open(tmp_path / name) as file:
            made.append(file[0])
    for one in made:
        assert (one.particles.N, one.particles.types) == (there.sum(), ["A"])
        assert not one.particles.typeid.any()
        np.testing.assert_allclose(one.particles.position, frame.positions[there] - middle,
                                   atol=1e-6)
