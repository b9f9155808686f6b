"""What Perrin reads of files in the layouts of other programs, made here by their packages or as
their sources write them: ESPResSo, HALMD, pyh5md, LAMMPS (dump h5md), MDAnalysis, gsd.

Usage: check_foreign.py PERRIN WORKFOLDER. Without a package its part is left out; without h5py 77.
"""
import json
import os
import re
import sys
import warnings

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)
try:
    import gsd.hoomd
except ImportError:
    gsd = None

from reading import call, convert, path, refused, run_checks

rng = np.random.default_rng(7)
EDGE = 10.0


def bonds(name, *options):
    out = path(name + ".out.h5")
    status, said = call("convert", path(name), out, "--overwrite",
                        *(options if "--frame" in options else [*options, "--frame", "-1"]))
    assert status == 0, said
    with h5py.File(out) as f:
        return sorted(map(tuple, f["connectivity/bonds"][()])) if "connectivity" in f else []


def file(name):
    f = h5py.File(path(name), "w")
    f.require_group("h5md").attrs["version"] = np.array([1, 1], np.int32)
    return f


def box(group, boundary=("periodic",) * 3):
    b = group.require_group("box")
    b.attrs["dimension"] = 3
    b.attrs["boundary"] = boundary if isinstance(boundary, str) else np.array(boundary, "S8")
    b["edges"] = np.full(3, EDGE)


def series(group, name, values, steps=None, offset=None):
    """steps: a list, a number (an increment) or None; a group that has them."""
    g = group.create_group(name)
    g["value"] = np.asarray(values)
    if isinstance(steps, h5py.Group):
        g["step"], g["time"] = steps["step"], steps["time"]
    elif steps is not None:
        g["step"] = np.asarray(steps, np.int64)
        g["time"] = 0.01 * np.asarray(steps, float)
        if offset is not None:
            g["step"].attrs["offset"] = offset
            g["time"].attrs["offset"] = 0.01 * offset
    return g


def places(frames, n):
    return rng.uniform(0.5, EDGE - 0.5, (frames, n, 3))


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=2e-5)


def check_espresso():
    """One text for all axes; bonds as a series; ids in any order; steps that are hard links."""
    x, ids = places(3, 6), np.array([[3, 1, 0, 5, 4, 2], [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]])
    with file("espresso.h5") as f:
        g = f.create_group("particles/atoms")
        box(g, "periodic")
        series(g, "position", [x[k][ids[k]] for k in range(3)], [0, 10, 20])
        for name, values in (("id", ids), ("species", ids % 2), ("mass", 1.0 + ids)):
            series(g, name, values, g["position"])
        chain = [[i, i + 1] for i in range(5)]
        filled = [[0, 1], [4, 5], [-1, -1], [-1, -1], [-1, -1]]  # two bonds are left
        series(f, "connectivity/atoms", np.array([chain, chain, filled]), g["position"])
    frames, _ = convert("espresso.h5")
    for k, frame in enumerate(frames):
        same(frame["pos"], x[k])
        same(frame["masses"] if "masses" in frame else frame["mass"], 1.0 + np.arange(6))
        assert list(frame["species"]) == ["0", "1"] * 3 and frame["step"] == 10 * k
    assert bonds("espresso.h5", "--frame", "0") == [(i, i + 1) for i in range(5)]
    assert bonds("espresso.h5") == [(0, 1), (4, 5)]
    job = {"seed": 1, "system": {"type": "file", "path": "espresso.h5"}, "stages": [
        {"type": "md", "steps": 1, "integrator": {"type": "velocity_verlet", "timestep": 1e-6}}]}
    json.dump(job, open(path("espresso.json"), "w"))
    status, said = call("validate", path("espresso.json"))
    assert status == 2 and "no force acts on the system's 2 bonds" in said, said


def check_lists():
    """Lists that hold for all frames, in a group or not; what is no list of bonds is told."""
    def write(lists):
        with file("lists.h5") as f:
            g = f.create_group("particles/all")
            box(g)
            series(g, "position", places(2, 4), [0, 10])
            for name, value in lists.items():
                f[name] = np.array(value)
    write({"connectivity/a/value": [[0, 1]], "connectivity/b": [[2, 3]]})
    assert bonds("lists.h5") == [(0, 1), (2, 3)]
    write({"connectivity/fives": [[0, 1, 2, 3, 0]], "connectivity/x/y": [1]})
    _, said = convert("lists.h5")
    assert "/connectivity/fives has the shape [1][5]" in said, said
    assert "/connectivity/x is neither a list nor a series of lists: left out" in said, said
    write({"parameters/vmd_structure/bond_from": [1], "parameters/vmd_structure/bond_to": [2],
           "observables/energy": [1.0], "particles/all/force": np.zeros((4, 3))})
    _, said = convert("lists.h5")
    for part in ("vmd_structure/bond_from names bonds", "/observables is left out",
                 "/particles/all/force is left out"):
        assert part in said, said


def check_species_in_another_order():
    """Written once, beside ids that change: values belong to the ids of their step."""
    x, ids = places(2, 4), np.array([[2, 0, 3, 1], [0, 1, 2, 3]])
    for static in (False, True):
        with file("order.h5") as f:
            g = f.create_group("particles/all")
            box(g)
            series(g, "position", [x[k][ids[k]] for k in range(2)], [0, 5])
            series(g, "id", ids, g["position"])
            if static:
                g["species"] = ids[0]
            else:
                series(g, "species", [ids[0]], [0])
        if static:
            refused("order.h5", "species: holds for all frames, but the order of particles")
            continue
        frames, _ = convert("order.h5")
        for k in range(2):
            same(frames[k]["pos"], x[k])
            assert list(frames[k]["species"]) == ["0", "1", "2", "3"]


def check_names_of_species():
    """An enumeration has them, of 8 bits or more; each group its own."""
    x = places(2, 4)
    for base in "u1", "i4", "i8":
        with file("names.h5") as f:
            for name, kinds in (("one", {"Ar": 3, "Kr": 1}), ("other", {"Xe": 3, "Ar": 0})):
                g = f.create_group("particles/" + name)
                box(g)
                series(g, "position", x[:, :2] if name == "one" else x[:, 2:], [0, 5])
                g.create_dataset("species", data=np.array(list(kinds.values())[::-1], base),
                                 dtype=h5py.enum_dtype(kinds, base))
        frames, _ = convert("names.h5", "--group", "one,other")
        assert list(frames[1]["species"]) == ["Kr", "Ar", "Ar", "Xe"], frames[1]["species"]


def check_halmd():
    """A group for each species, without numbers of species."""
    x, y = places(2, 4), places(2, 3)
    with file("halmd.h5") as f:
        for name, values in (("A", x), ("B", y)):
            g = f.create_group("particles/" + name)
            box(g)
            series(g, "position", values, [0, 100])
            series(g, "velocity", values + 1, g["position"])
        f["connectivity/b"] = np.array([[0, 1], [1, 2]])
        f["connectivity/b"].attrs["particles_group"] = f["particles/B"].ref
    frames, said = convert("halmd.h5")
    assert "the groups of particles A, B are joined" in said, said
    for k in range(2):
        same(frames[k]["pos"], np.concatenate([x[k], y[k]]))
        same(frames[k]["velo"], np.concatenate([x[k], y[k]]) + 1)
        assert list(frames[k]["species"]) == ["A"] * 4 + ["B"] * 3
    assert bonds("halmd.h5") == [(4, 5), (5, 6)]
    assert bonds("halmd.h5", "--group", "B") == [(0, 1), (1, 2)]
    assert bonds("halmd.h5", "--group", "A") == []
    assert bonds("halmd.h5", "--group", "B,A") == [(0, 1), (1, 2)]
    same(convert("halmd.h5", "--group", "B")[0][1]["pos"], y[1])
    refused("halmd.h5", "no group of particles C; the groups are: A, B", "--group", "C")
    for group, n in (("A", 4), (["B"], 3), (["B", "A"], 7)):
        job = {"seed": 1, "system": {"type": "file", "path": "halmd.h5", "group": group},
               "ignore": ["bonds"], "observers": [{"type": "trajectory", "stride": 1}],
               "stages": [{"type": "md", "steps": 0, "integrator": {
                   "type": "velocity_verlet", "timestep": 1e-6}}]}
        json.dump(job, open(path("halmd.json"), "w"))
        out = path("halmd_" + "".join(group))
        status, said = call("run", path("halmd.json"), "--device", "cpu", "--quiet", "--output-dir",
                            out)
        assert status == 0, said
        with h5py.File(out + "/trajectory.h5") as f:
            assert f["particles/all/position/value"].shape == (1, n, 3)
    # Subsets of one system, with its ids: a particle is in both.
    with file("subsets.h5") as f:
        for name, which in (("most", [0, 1, 2]), ("few", [2, 3])):
            g = f.create_group("particles/" + name)
            box(g)
            series(g, "position", x[:, which], [0, 100])
            g["id"] = np.array(which)
    refused("subsets.h5", "particle 2 is in /particles/few and in /particles/most")
    same(convert("subsets.h5", "--group", "few")[0][0]["pos"], x[0, 2:])


def check_pyh5md():
    """The three ways in which pyh5md stores elements, and steps of their own."""
    x, v = places(4, 5), rng.normal(size=(2, 5, 3))
    stores = {"time": ([10, 20, 30, 40], [20, 40], None), "linear": (10, 20, None),
              "linear with offset": (10, 20, 0)}
    for name, (steps, other, offset) in stores.items():
        begin = 10 if name == "time" else 0
        with file("cadence.h5") as f:
            g = f.create_group("particles/all")
            box(g)
            series(g, "position", x, steps, offset)
            series(g, "velocity", v, other, offset)
            g["species"] = np.array([0, 0, 1, 1, 1])
            series(g, "charge", [np.full(5, 1.0), np.full(5, 2.0)], [begin, begin + 20])
        for k in range(4):
            (frame,), said = convert("cadence.h5", "--frame", str(k))
            same(frame["pos"], x[k])
            step = begin + 10 * k
            assert frame["step"] == step and (frame["charge"] == (1 if k < 2 else 2)).all()
            has = step % 20 == 0 and (step > 0 or name != "time")
            assert ("velo" in frame) == has, (name, k)
            row = step // 20 - (1 if name == "time" else 0)
            if has:
                same(frame["velo"], v[row])
            else:
                assert f"velocity has no value at step {step}" in said, said
        _, said = convert("cadence.h5")
        assert "applies to 2 of 4 frames" in said, said
        assert said.count("velocity has no value") == 1, said
        frames, said = convert("cadence.h5", "--no-velocities")
        assert "warning" not in said and all("velo" not in frame for frame in frames), said
        job = {"seed": 1,
               "system": {"type": "file", "path": "cadence.h5", "frame": 0 if begin else 1},
               "stages": [{"type": "md", "steps": 1, "integrator": {
                   "type": "velocity_verlet", "timestep": 1e-6}}]}
        for more, status in (({}, 2), ({"velocities": False}, 0)):
            job["system"].update(more)
            json.dump(job, open(path("cadence.json"), "w"))
            got, said = call("validate", path("cadence.json"))
            assert got == status and (got == 0 or "has no value at step 10" in said), said
    # A box that changes must have one at the step; one that is written once holds.
    for steps, good in (([10], True), ([10, 30], False)):
        with file("box.h5") as f:
            g = f.create_group("particles/all")
            box(g)
            del g["box/edges"]
            series(g, "box/edges", np.full((len(steps), 3), EDGE), steps)
            series(g, "position", x, [10, 20, 30, 40])
        if good:
            same(convert("box.h5")[0][3]["pos"], x[3])
        else:
            refused("box.h5", "box/edges: no value at step 20 of the positions")
    with file("early.h5") as f:
        g = f.create_group("particles/all")
        box(g)
        series(g, "position", x, [10, 20, 30, 40])
        series(g, "species", [[0, 1, 0, 1, 0]], [20])
    refused("early.h5", "species: no value at step 10 of the positions, nor before it")


def check_lammps():
    """dump h5md: species and charges once, steps as 32 bits."""
    x = places(3, 8)
    with file("lammps.h5") as f:
        g = f.create_group("particles/all")
        box(g)
        p = series(g, "position", x, [10, 20, 30])
        del p["step"]
        p["step"] = np.array([10, 20, 30], np.int32)
        series(g, "velocity", -x, p)
        series(g, "species", [[1, 2] * 4], [10])
        series(g, "charge", [[0.5, -0.5] * 4], [10])
    frames, _ = convert("lammps.h5")
    for k in range(3):
        same(frames[k]["pos"], x[k])
        same(frames[k]["velo"], -x[k])
        assert list(frames[k]["species"]) == ["1", "2"] * 4
        assert list(frames[k]["charge"]) == [0.5, -0.5] * 4


def check_mdanalysis():
    """Its writer; named units without masses, which the job gives in its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import MDAnalysis
        except ImportError:
            return
        n = 5
        universe = MDAnalysis.Universe.empty(n, trajectory=True, velocities=True)
        x, v = places(2, n) * 3, rng.normal(size=(2, n, 3))
        with MDAnalysis.Writer(path("mda.h5md"), n, format="H5MD", positions=True,
                               velocities=True, forces=False, lengthunit="Angstrom",
                               timeunit="ps", velocityunit="Angstrom/ps") as w:
            for k in range(2):
                universe.trajectory.ts.dt = 0.5
                universe.atoms.positions, universe.atoms.velocities = x[k], v[k]
                universe.dimensions = [30, 30, 30, 90, 90, 90]
                universe.trajectory.ts.time, universe.trajectory.ts.data["step"] = 0.5 * k, 250 * k
                w.write(universe)
            opened = w.h5md_file
        opened.close()
    frames, _ = convert("mda.h5md")
    for k in range(2):
        same(frames[k]["pos"], x[k])
    job = {"seed": 1, "units": {"length": "nm", "energy": "kJ/mol", "mass": "u"},
           "system": {"type": "file", "path": "mda.h5md", "masses": {"0": 12.0},
                      "keep_step": True},
           "observers": [{"type": "trajectory", "stride": 1,
                          "quantities": ["position", "velocity"]}],
           "stages": [{"type": "md", "steps": 0, "integrator": {
               "type": "velocity_verlet", "timestep": 1e-6}}]}
    json.dump(job, open(path("mda.json"), "w"))
    status, said = call("run", path("mda.json"), "--device", "cpu", "--quiet", "--output-dir",
                        path("mda"))
    assert status == 0, said
    with h5py.File(path("mda/trajectory.h5")) as f:
        g = f["particles/all"]
        same(g["position/value"][0], x[1] / 10)
        same(g["velocity/value"][0], v[1] / 10)
        assert g["position/step"][0] == 250 and abs(g["position/time"][0] - 0.5) < 1e-6
        same(g["mass"][()], np.full(n, 12.0))
    del job["system"]["masses"]
    json.dump(job, open(path("mda.json"), "w"))
    status, said = call("validate", path("mda.json"))
    assert status == 2 and 'expected "masses", in u, of the types 0' in said, said


def check_gsd():
    """A chunk that is equal to its default is not in the file; what has no place here is told."""
    if gsd is None:
        return
    def frame(step, x, **more):
        # Frame in newer gsd, Snapshot in older.
        f = getattr(gsd.hoomd, "Frame", getattr(gsd.hoomd, "Snapshot", None))()
        f.configuration.step, f.configuration.box = step, [EDGE, EDGE, EDGE, 0, 0, 0]
        f.particles.N, f.particles.types = len(x), ["A", "B"]
        f.particles.position = x
        for name, value in more.items():
            setattr(f.particles, name, value)
        return f
    def write(name, *frames):
        mode = "w" if hasattr(gsd.hoomd, "Frame") else "wb"
        with gsd.hoomd.open(path(name), mode) as out:
            for f in frames:
                out.append(f)
    x = places(2, 3) - EDGE / 2
    write("defaults.gsd", frame(0, np.zeros((3, 3))), frame(7, x[0]))
    frames, said = convert("defaults.gsd")
    assert "warning" not in said, said
    same(frames[0]["pos"], np.zeros((3, 3)))
    same(frames[1]["pos"], x[0])
    assert [f["step"] for f in frames] == [0, 7]
    f = frame(0, np.zeros((1, 3)))
    f.configuration.box = [1, 1, 1, 0, 0, 0]
    f.bonds.types = ["soft"]
    write("unit.gsd", f)
    status, said = call("convert", path("unit.gsd"), path("unit2.gsd"))
    assert status == 0, said
    with gsd.hoomd.open(path("unit2.gsd"), "r" if hasattr(gsd.hoomd, "Frame") else "rb") as t:
        assert list(t[0].bonds.types) == ["soft"]
        same(t[0].configuration.box, f.configuration.box)
    dropped = {"body": ([0, 0, -1], "the rigid bodies of 2 particles"),
               "type_shapes": ([{"type": "Sphere", "diameter": 2.0}, {}], "the shapes of types")}
    for name, (value, part) in dropped.items():
        write("more.gsd", frame(3, x[0], **{name: value}))
        _, said = convert("more.gsd")
        # Shapes are left out by who reads the file, bodies by who writes one without a place.
        assert re.search(rf"more\.gsd(\.xyz)?: {part}", said) and "left out" in said, (name, said)
        job = {"seed": 1, "system": {"type": "file", "path": "more.gsd"}, "stages": [
            {"type": "md", "steps": 1,
             "integrator": {"type": "velocity_verlet", "timestep": 1e-6}}]}
        json.dump(job, open(path("more.json"), "w"))
        status, said = call("validate", path("more.json"))
        assert status == 0 and part in said and "warning" in said, (name, said)
    usual = {"orientation": [[1, 0, 0, 0]] * 3, "body": [-1] * 3, "angmom": [[0] * 4] * 3,
             "type_shapes": [{}, {}]}
    write("usual.gsd", frame(3, x[0], **usual))
    assert "left out" not in convert("usual.gsd")[1]


def start(name):
    """A file of each format with a frame of step 1003 and time 5, where the format has times."""
    if name.endswith(".data"):
        with open(path(name), "w") as f:
            f.write("LAMMPS data file via write_data, version 2 Aug 2023, timestep = 1003, units = "
                    "lj\n\n2 atoms\n1 atom types\n\n0 6 xlo xhi\n0 6 ylo yhi\n0 6 zlo zhi\n\n"
                    "Atoms # atomic\n\n1 1 0 0 0\n2 1 2 0 0\n\nVelocities\n\n1 1 0 0\n2 0 1 0\n")
        return
    if name.endswith(".gsd"):  # written by Perrin where gsd is not there
        start("keep.xyz")
        assert call("convert", path("keep.xyz"), path(name), "--overwrite")[0] == 0
        if gsd is not None and hasattr(gsd.hoomd, "Frame"):
            with gsd.hoomd.open(path(name), "r") as f:
                own = f[0]
            with gsd.hoomd.open(path(name), "w") as f:
                f.append(own)
        return
    if name.endswith(".xyz"):
        with open(path(name), "w") as f:
            f.write('2\nLattice="6 0 0 0 6 0 0 0 6" Properties=species:S:1:pos:R:3:velo:R:3 '
                    'Step=1003 Time=5\nA 0 0 0 1 0 0\nA 2 0 0 0 1 0\n')
        return
    with file(name) as f:
        g = f.create_group("particles/all")
        box(g)
        if name == "linear.h5":
            series(g, "position", places(3, 2), 500, 3)
            del g["position/time"]
            g["position/time"] = 2.5
        else:
            series(g, "position", places(1, 2), [1003])
            g["position/time"][0] = 5


def check_keep_step():
    """Steps and time go on from those of the file: outputs, schedules, resume."""
    def job(name, keep):
        return {"seed": 1, "system": {"type": "file", "path": name, "keep_step": keep},
                "velocity": {"temperature": 1},
                "observers": [{"type": "trajectory", "stride": 10},
                              {"type": "thermo", "stride": 5}],
                "stages": [{"type": "md", "steps": 24, "integrator": {
                    "type": "bussi", "timestep": 0.005, "tau": 0.1, "temperature": 1}}]}
    for name, begin in (("keep.xyz", 5), ("keep.h5", 5), ("keep.data", 0), ("keep.gsd", 5),
                        ("linear.h5", 5)):
        start(name)
        for keep, first in ((True, 1003), (False, 0)):
            json.dump(job(name, keep), open(path("keep.json"), "w"))
            out = path("keep_" + name + str(keep))
            status, said = call("run", path("keep.json"), "--device", "cpu", "--quiet",
                                "--output-dir", out)
            assert status == 0, said
            with h5py.File(out + "/trajectory.h5") as f, h5py.File(out + "/thermo.h5") as t:
                step, time = (f["particles/all/position/" + q][()] for q in ("step", "time"))
                assert list(step) == [s for s in range(first, first + 25) if s % 10 == 0], step
                same(time, (begin if keep else 0) + 0.005 * (step - first))
                row = t["observables/temperature/step"][()]
                assert list(row) == [s for s in range(first, first + 25) if s % 5 == 0], row
                assert f["parameters/perrin/stages/step"][0] == first
                whole = t["observables/temperature/value"][()] if keep else whole
    # Stopped and resumed: the same rows.
    json.dump(job("linear.h5", True), open(path("keep.json"), "w"))
    out = path("keep_resumed")
    status, said = call("run", path("keep.json"), "--device", "cpu", "--quiet", "--output-dir", out,
                        "--set", "stages[0].steps=11", "--set",
                        'observers[2]={"type": "checkpoint", "steps": 1000}')
    assert status == 0, said
    status, said = call("resume", out + "/checkpoint.h5", "--quiet", "--set", "stages[0].steps=24")
    assert status == 0, said
    with h5py.File(out + "/thermo.h5") as t:
        assert list(t["observables/temperature/step"]) == [1005, 1010, 1015, 1020, 1025]
        assert (t["observables/temperature/value"][()] == whole).all()
    # A step that is not there cannot be gone on from.
    with file("static.h5") as f:
        g = f.create_group("particles/all")
        box(g)
        g["position"] = places(1, 2)[0]
    json.dump(job("static.h5", True), open(path("keep.json"), "w"))
    status, said = call("validate", path("keep.json"))
    assert status == 2 and "static.h5: names no step" in said, said
    with file("negative.h5") as f:
        g = f.create_group("particles/all")
        box(g)
        series(g, "position", places(1, 2), [-5])
    json.dump(job("negative.h5", True), open(path("keep.json"), "w"))
    status, said = call("validate", path("keep.json"))
    assert status == 2 and "the step -5" in said, said


def check_other_files():
    """Nothing is read but the file itself; names as one text."""
    with h5py.File(path("other.h5"), "w") as f:
        f["m"] = np.full(3, 7.0)
    if not os.path.exists(path("fifo")):
        os.mkfifo(path("fifo"))
    layout = h5py.VirtualLayout(shape=(3,), dtype="f8")
    layout[:] = h5py.VirtualSource(path("other.h5"), "m", shape=(3,))
    x = places(1, 3)[0]

    def base(name):
        f = file(name)
        g = f.create_group("particles/all")
        box(g)
        g["position"] = x
        return f, g
    for kind in ("external", "pipe", "through a soft link", "virtual", "raw"):
        f, g = base("links.h5")
        with f:
            if kind == "external":
                g["mass"] = h5py.ExternalLink(path("other.h5"), "/m")
            if kind == "pipe":
                g["mass"] = h5py.ExternalLink(path("fifo"), "/m")
            if kind == "through a soft link":
                f["elsewhere"] = h5py.ExternalLink(path("other.h5"), "/")
                g["mass"] = h5py.SoftLink("/elsewhere/m")
            if kind == "virtual":
                g.create_virtual_dataset("mass", layout)
            if kind == "raw":
                g.create_dataset("mass", shape=(3,), dtype="f8",
                                 external=[(path("raw"), 0, 24)])
        refused("links.h5", "/particles/all/mass")
    f, g = base("one_text.h5")
    with f:
        f["parameters/perrin/type_names"] = "Bead"
    assert list(convert("one_text.h5")[0][0]["species"]) == ["Bead"] * 3


run_checks([value for name, value in list(globals().items()) if name.startswith("check_")])
