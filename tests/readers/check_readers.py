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
    run(perrin, "run", path(name + "/job.json"), "--device", "cpu", "--output-dir", path(name), "--quiet")
    return path(name + "/trajectory.h5"), path(name + "/thermo.h5")


def check_h5md(name, frames):
    """The rules of H5MD 1.1, and those of the readers in docs/files.md."""
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
            assert np.allclose(MDAnalysis.lib.mdamath.triclinic_vectors(ts.dimensions), edges[k], atol=1e-4)
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
lennard_jones = [{"type": "lennard_jones", "cutoff": 2.5, "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}]
for name in job("auto", {"type": "lattice", "density": 0.8, "particles": 864},
                {"neighbors": {"traversal": "auto"},
                 "stages": [{"type": "md", "steps": 2000,
                             "integrator": {"type": "velocity_verlet", "timestep": 0.002}}]},
                lennard_jones):
    with h5py.File(name, "r") as f:
        report = f["parameters/perrin/neighbors"][()].decode()
        assert "skin" in report and "; auto: " in report and "tried clusters" in report, report
with h5py.File(thermo, "r") as f:
    assert f["parameters/perrin/neighbors"][()] == b""  # no forces

# Chains: bonds for VMD and in the H5MD way.
trajectory, _ = job("chains", {"type": "chains", "chains": 5, "pattern": "A3B4", "density": 0.05,
                               "min_distance": 0.8},
                    {"ignore": ["bonds"]}, forces=[{"type": "harmonic_trap", "stiffness": [0.1, 0.1, 0.1]}])
check_h5md(trajectory, 11)
with h5py.File(trajectory, "r") as f:
    bonds = f["connectivity/bonds"]
    assert f[bonds.attrs["particles_group"]] == f["particles/all"]
    vmd = f["parameters/vmd_structure"]
    assert np.array_equal(np.stack([vmd["bond_from"][:], vmd["bond_to"][:]], 1), bonds[:] + 1)
    assert len(bonds) == 30

# Triclinic, through GSD's tilts of a file: extended XYZ → job → H5MD.
with open(path("tilted.xyz"), "w") as f:
    f.write('2\nLattice="6 0 0 1 7 0 -1 0.5 8" Properties=species:S:1:pos:R:3:velo:R:3 pbc="T T T"\n'
            'A 1 1 1 1 0 0\nB 3 3 3 0 -1 0\n')
trajectory, _ = job("tilted", {"type": "file", "path": "../tilted.xyz"})
check_h5md(trajectory, 11)
check_mdanalysis(trajectory, 11)

# Real units are written as variable-length text, which MDAnalysis needs.
trajectory, _ = job("units", lattice, {"units": {"length": "nm", "energy": "kJ/mol", "mass": "u"}})
with h5py.File(trajectory, "r") as f:
    unit = f["particles/all/position/value"].attrs.get_id("unit")
    assert unit.get_type().is_variable_str()
    assert f["particles/all/position/value"].attrs["unit"] == "nm"
    assert f["particles/all/position/time"].attrs["unit"] == "ps"
    assert "units" in f["h5md/modules"]

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
