"""What other programs see in the files of Perrin: h5py, MDAnalysis, h5dump.

Usage: check_readers.py PERRIN WORKFOLDER. Runs small jobs and converts a file; prints what fails.
"""
import json
import os
import shutil
import subprocess
import sys
import warnings

import h5py
import numpy as np

from newest_python import newest_python

perrin, folder = sys.argv[1], sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def path(name):
    return os.path.join(folder, name)


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def job(name, system, extra=None, forces=None):
    document = {
        "system": system,
        "forces": forces or [],
        "observers": [
            {"type": "trajectory", "stride": 10, "author": "Jean Perrin",
             "quantities": ["position", "velocity", "force", "image"]},
            {"type": "thermo", "stride": 5},
        ],
        "stages": [{"type": "md", "steps": 100,
                    "integrator": {"type": "velocity_verlet", "timestep": 0.002}}],
        "seed": 5,
    }
    document.update(extra or {})
    os.makedirs(path(name))
    with open(path(name + "/job.json"), "w") as f:
        json.dump(document, f)
    run(perrin, "run", path(name + "/job.json"), "--device", "cpu", "--output-dir", path(name),
        "--quiet")
    return path(name + "/trajectory.h5"), path(name + "/thermo.h5")


def check_h5md(name, frames):
    """The rules of H5MD 1.1, and those of the readers in docs/guide/files.md."""
    with h5py.File(name, "r") as f:
        assert list(f["h5md"].attrs["version"]) == [1, 1]
        assert f["h5md/author"].attrs["name"] == "Jean Perrin"
        assert f["h5md/creator"].attrs["name"] == "Perrin"
        everything = f["particles/all"]
        for link in ("trajectory", "system"):
            assert f["particles/" + link] == everything
            assert isinstance(f["particles"].get(link, getlink=True), h5py.HardLink)
        position = everything["position"]
        n = position["value"].shape[1]
        assert position["value"].shape == (frames, n, 3)
        assert position["value"].dtype == np.float32
        assert position["value"].chunks == (1, n, 3)
        assert position["step"].dtype == np.int64 and position["time"].dtype == np.float64
        assert list(position["step"]) == [10 * k for k in range(frames)]
        assert np.allclose(position["time"], 0.002 * position["step"][:])
        for element in ("velocity", "force", "image", "box/edges"):
            assert everything[element + "/step"] == position["step"], element  # a hard link
            assert everything[element + "/time"] == position["time"], element
            assert everything[element + "/value"].shape[0] == frames
        assert everything["box/edges/value"].shape == (frames, 3, 3)
        assert everything["box"].attrs["dimension"] == 3
        edges = everything["box/edges/value"][0]
        fraction = position["value"][:] @ np.linalg.inv(edges)
        assert fraction.min() >= -1e-6 and fraction.max() <= 1 + 1e-6, "not wrapped into 0..L"
        assert everything["species"].shape == (n,) and everything["mass"].shape == (n,)
        assert json.loads(f["parameters/perrin/job"][()])["seed"] == 5
        assert f["parameters/perrin/seed"][()] == 5
        assert f["parameters/perrin/wall_time"][()] > 0
        return [b.decode() for b in f["parameters/perrin/type_names"][:]]


def check_mdanalysis(name, frames):
    import MDAnalysis
    from MDAnalysis.coordinates.H5MD import H5MDReader

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with h5py.File(name, "r") as f:
            n = f["particles/all/position/value"].shape[1]
            positions = f["particles/all/position/value"][:]
            edges = f["particles/all/box/edges/value"][:]
        universe = MDAnalysis.Universe.empty(n, trajectory=False, velocities=True, forces=True)
        universe.load_new(name, format="H5MD", convert_units=False)
        assert isinstance(universe.trajectory, H5MDReader)
        assert len(universe.trajectory) == frames
        for k, ts in enumerate(universe.trajectory):
            assert np.array_equal(ts.positions, positions[k])
            assert np.allclose(MDAnalysis.lib.mdamath.triclinic_vectors(ts.dimensions), edges[k],
                               atol=1e-4)
            assert ts.has_velocities and ts.has_forces
            assert ts.data["step"] == 10 * k


lattice = {"type": "lattice", "density": 0.4, "particles": 100, "types": {"A": 3, "B": 1}}
trajectory, thermo = job("plain", lattice)
assert check_h5md(trajectory, 11) == ["A", "B"]
check_mdanalysis(trajectory, 11)
with h5py.File(thermo, "r") as f:
    for name, series in f["observables"].items():
        assert list(series["step"]) == list(range(0, 101, 5)), name
        assert series["value"].shape[0] == series["time"].shape[0] == 21
        assert 512 <= series["value"].chunks[0] <= 1024
    assert np.allclose(np.trace(f["observables/pressure_tensor/value"][:], axis1=1, axis2=2) / 3,
                       f["observables/pressure/value"][:])
for name in (trajectory, thermo):
    run("h5dump", "-H", name)

# What the run found out about neighbours, in all of its files.
lennard_jones = [{"type": "lennard_jones", "cutoff": 2.5,
                  "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}]
for name in job("auto", {"type": "lattice", "density": 0.8, "particles": 864},
                {"neighbors": {"traversal": "auto"},
                 "stages": [{"type": "md", "steps": 2000,
                             "integrator": {"type": "velocity_verlet", "timestep": 0.002}}]},
                lennard_jones):
    with h5py.File(name, "r") as f:
        report = f["parameters/perrin/neighbors"][()].decode()
        assert "; auto: " in report and "tried clusters" in report, report
with h5py.File(thermo, "r") as f:
    assert f["parameters/perrin/neighbors"][()] == b""  # no forces

# Chains: bonds for VMD and in the H5MD way.
trajectory, _ = job("chains", {"type": "chains", "chains": 5, "pattern": "A3B4", "density": 0.05,
                               "min_distance": 0.8},
                    {"ignore": ["bonds"]},
                    forces=[{"type": "harmonic_trap", "stiffness": [0.1, 0.1, 0.1]}])
check_h5md(trajectory, 11)
with h5py.File(trajectory, "r") as f:
    bonds = f["connectivity/bonds"]
    assert f[bonds.attrs["particles_group"]] == f["particles/all"]
    vmd = f["parameters/vmd_structure"]
    assert np.array_equal(np.stack([vmd["bond_from"][:], vmd["bond_to"][:]], 1), bonds[:] + 1)
    assert len(bonds) == 30

# Particles that come and go: frames of H5MD have room for all, those of GSD have who is there.
trajectory, thermo = job(
    "reservoir", {"type": "lattice", "density": 0.3, "particles": 60},
    {"reservoir": {"A": 80}, "stages": [
        {"type": "monte_carlo", "sweeps": 100, "temperature": 2,
         "translation": {"displacement": 0.3},
         "insertion": [{"type": "A", "activity": 0.5, "trials": 50}]}]}, lennard_jones)
with h5py.File(thermo, "r") as f:
    numbers = f["observables/particles/value"][::2].astype(int).tolist()
assert len(numbers) == 11 and numbers[0] == 60 and len(set(numbers)) > 5, numbers
with h5py.File(trajectory, "r") as f:
    everything = f["particles/all"]
    present = everything["id/value"][:] >= 0
    positions = everything["position/value"][:]
    edge = everything["box/edges/value"][0, 0, 0]
    assert present.shape == (11, 140) and present.sum(axis=1).tolist() == numbers
    ids = [sorted(row[row >= 0]) for row in everything["id/value"][:]]
    assert all(len(set(row)) == len(row) for row in ids), "an id is given twice"
check_mdanalysis(trajectory, 11)
out = path("reservoir.gsd")
run(perrin, "convert", trajectory, out)
try:
    import gsd.hoomd
except ImportError as error:
    print("skipped gsd", error)
else:
    with gsd.hoomd.open(out) as frames:
        assert [frame.particles.N for frame in frames] == numbers
        for k, frame in enumerate(frames):
            assert frame.particles.types == ["A"], frame.particles.types
            assert frame.particles.position.shape == (numbers[k], 3)
            # The origin of GSD is the middle of the box; its particles are in the order of ids.
            seen = np.sort(frame.particles.position + edge / 2, axis=0)
            assert np.allclose(seen, np.sort(positions[k][present[k]], axis=0), atol=1e-5), k

# Triclinic, through GSD's tilts of a file: extended XYZ → job → H5MD.
with open(path("tilted.xyz"), "w") as f:
    f.write('2\nLattice="6 0 0 1 7 0 -1 0.5 8" Properties=species:S:1:pos:R:3:velo:R:3 pbc="T T '
            'T"\n'
            'A 1 1 1 1 0 0\nB 3 3 3 0 -1 0\n')
trajectory, _ = job("tilted", {"type": "file", "path": "../tilted.xyz"})
check_h5md(trajectory, 11)
check_mdanalysis(trajectory, 11)

# Named units: whatever the job names, files say what readers know, as variable-length text, and the
# numbers are in these units. Every combination opens in MDAnalysis, which converts to angstrom and
# ps.
ANGSTROM = {"nm": 10, "angstrom": 1, "um": 1e4, "m": 1e10}
JOULE = {"kJ/mol": 1e3 / 6.02214076e23, "kcal/mol": 4184 / 6.02214076e23, "eV": 1.602176634e-19,
         "J": 1, "pN nm": 1e-21, "K": 1.380649e-23}
KILOGRAM = {"u": 1.66053906660e-27, "g/mol": 1e-3 / 6.02214076e23, "kg": 1}
COMBINATIONS = [("nm", "kJ/mol", "u"), ("nm", "kJ/mol", "g/mol"), ("angstrom", "kJ/mol", "u"),
                ("angstrom", "kcal/mol", "u"), ("angstrom", "kcal/mol", "g/mol"),
                ("angstrom", "eV", "u"), ("angstrom", "K", "u"), ("nm", "eV", "kg"),
                ("um", "pN nm", "kg"), ("um", "J", "kg"), ("m", "J", "kg")]
unit_files = []
for length, energy, mass in COMBINATIONS:
    name = "units " + " ".join((length, energy, mass)).replace("/", "_")
    trap = [{"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0.5]}]
    trajectory, thermo = job(name, lattice,
                             {"units": {"length": length, "energy": energy, "mass": mass},
                              "velocity": {"temperature": 1.0 if energy != "J" else 1e20}},
                             forces=trap)
    second = ANGSTROM[length] * 1e-10 * (KILOGRAM[mass] / JOULE[energy]) ** 0.5
    edge = (100 / 0.4) ** (1 / 3)
    with h5py.File(trajectory, "r") as f:
        for path_, unit in (("position/value", ("nm", "Angstrom")), ("position/time", ("ps",)),
                            ("velocity/value", ("nm ps-1", "Angstrom ps-1")),
                            ("box/edges/value", ("nm", "Angstrom")),
                            ("mass", ("u", "g mol-1", "kg"))):
            dataset = f["particles/all/" + path_]
            assert dataset.attrs["unit"] in unit, (name, path_, dataset.attrs["unit"])
            assert dataset.attrs.get_id("unit").get_type().is_variable_str()
        everything = f["particles/all"]
        in_file = 10.0 if everything["position/value"].attrs["unit"] == "nm" else 1.0
        assert "units" in f["h5md/modules"]
        n = everything["mass"].shape[0]
        scale = {"edge": edge * ANGSTROM[length], "end": 100 * 0.002 * second * 1e12}
        box = np.diag(everything["box/edges/value"][0]) * in_file
        assert np.allclose(box, scale["edge"], rtol=1e-6), (name, box, scale)
        assert np.isclose(everything["position/time"][-1], scale["end"], rtol=1e-8), name
        # The velocities are those of the positions, in the file's own units.
        step = np.diff(everything["position/value"][:] +
                       everything["image/value"][:] * np.diag(everything["box/edges/value"][0]),
                       axis=0)
        speed = step / np.diff(everything["position/time"][:])[:, None, None]
        mean = 0.5 * (everything["velocity/value"][1:] + everything["velocity/value"][:-1])
        assert np.abs(speed - mean).max() < 1e-2 * np.abs(mean).max(), name
        # … and the forces those of m dv/dt: 1 N = 6.02214e13 kJ/mol/nm.
        force = everything["force/value"]
        si = {"N": 1, "kJ mol-1 nm-1": 1e3 / 6.02214076e23 / 1e-9,
              "kJ mol-1 Angstrom-1": 1e3 / 6.02214076e23 / 1e-10,
              "kcal mol-1 Angstrom-1": 4184 / 6.02214076e23 / 1e-10}[force.attrs["unit"]]
        expected = 0.5 * JOULE[energy] / (ANGSTROM[length] * 1e-10) ** 2  # stiffness in N/m
        change = np.diff(force[:], axis=0) * si
        moved = step * in_file * 1e-10
        assert np.allclose(change, -expected * moved, atol=1e-3 * np.abs(change).max()), name
    with h5py.File(thermo, "r") as f:
        assert f["observables/momentum/time"].attrs["unit"] == "ps"
        assert np.isclose(f["observables/momentum/time"][-1], scale["end"], rtol=1e-8)
    unit_files.append([trajectory, n, scale["edge"], scale["end"]])

OPEN = """
import json, sys, warnings
warnings.simplefilter("ignore")
import MDAnalysis
from MDAnalysis.coordinates.H5MD import HAS_H5PY
for name, n, edge, end in json.loads(sys.argv[1]):
    universe = MDAnalysis.Universe.empty(n, trajectory=False, velocities=True, forces=True)
    universe.load_new(name, format="H5MD")  # convert_units=True
    assert len(universe.trajectory) == 11
    universe.trajectory[10]
    assert abs(universe.trajectory.ts.dimensions[0] / edge - 1) < 1e-5, (name, universe.dimensions)
    assert abs(universe.trajectory.ts.time / end - 1) < 1e-6, (name, universe.trajectory.ts.time)
    assert universe.trajectory.ts.has_velocities and universe.trajectory.ts.has_forces
print(MDAnalysis.__version__)
"""


newest = newest_python(os.path.join(os.path.dirname(folder), "readers_python"))
for python in (sys.executable, newest):
    if python is None:
        print("skipped: the newest MDAnalysis, since PyPI cannot be reached")
        continue
    print("MDAnalysis", run(python, "-c", OPEN, json.dumps(unit_files)).strip(),
          "opens", len(unit_files), "combinations of units")

# From one system of units to another, both ways, and what is left of them in a conversion.


def edge_and_energy(path_, units, settings={}):
    _, table = job("from " + path_.replace("/", "_")[-40:] + str(len(os.listdir(folder))),
                   {"type": "file", "path": path_, **settings},
                   {"units": units} if units else None)
    with h5py.File(table, "r") as f:
        return (f["observables/volume/value"][0] ** (1 / 3),
                f["observables/kinetic_energy/value"][0],
                f["observables/temperature/value"][0])


nm = {"length": "nm", "energy": "kJ/mol", "mass": "u"}
kcal = {"length": "angstrom", "energy": "kcal/mol", "mass": "g/mol"}
source = unit_files[0][0]
edge, energy, temperature = edge_and_energy(source, nm)
other_edge, other_energy, other_temperature = edge_and_energy(source, kcal)
assert np.isclose(other_edge, 10 * edge, rtol=1e-6), (edge, other_edge)
assert np.isclose(other_energy, energy / 4.184, rtol=1e-6), (energy, other_energy)
assert np.isclose(other_temperature, temperature, rtol=1e-6)
run(perrin, "convert", source, path("units.h5"))
assert np.allclose(edge_and_energy(path("units.h5"), kcal), (other_edge, other_energy, temperature),
                   rtol=1e-6)
plain, _ = job("reduced", lattice)
for path_, units in ((source, None), (plain, nm)):
    try:
        edge_and_energy(path_, units)
    except AssertionError as error:
        assert '"units": "job"' in str(error), error
    else:
        raise AssertionError("units that are missing on one side were passed over")
assert np.isclose(edge_and_energy(source, None, {"units": "job"})[0], edge, rtol=1e-6)

# ASE writes momenta, and masses only where they were set.
with open(path("ase.xyz"), "w") as f:
    f.write('1\nLattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3:momenta:R:3 pbc="T T '
            'T"\n'
            'Ar 1 1 1 3 0 4\n')
try:
    edge_and_energy(path("ase.xyz"), kcal)
except AssertionError as error:
    assert "masses" in str(error), error
else:
    raise AssertionError("momenta without masses were taken")
assert np.isclose(edge_and_energy(path("ase.xyz"), kcal, {"masses": {"Ar": 40}})[1], 25 / 80)

trajectory = unit_files[0][0]
# Conversion: MDAnalysis reads the extended XYZ's plain part, GSD and LAMMPS data.
for extension in ("gsd", "xyz", "data"):
    out = path("converted." + extension)
    run(perrin, "convert", trajectory, out)
    import MDAnalysis
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if extension == "data":
                universe = MDAnalysis.Universe(out, format="DATA", topology_format="DATA",
                                               atom_style="id type x y z")
            else:
                universe = MDAnalysis.Universe(out)
        except ImportError as error:  # the gsd module is not in Debian
            print("skipped", extension, error)
            continue
    assert universe.atoms.n_atoms == 100
    assert len(universe.trajectory) == (1 if extension == "data" else 11)
print("all readers agree")
