"""perrin-readers (python/readers), installed by pip: H5MD files in OVITO and MDAnalysis, against
what both see in GSD files of the same run and what the engine says of itself.

Usage: check_plugins.py PERRIN WORKFOLDER SOURCE. Prints what fails; 77: PyPI cannot be reached.
"""
import json
import os
import shutil
import subprocess
import sys

from newest_python import newest_python

COMMON = {"velocity": {"temperature": 1}, "stages": [
    {"type": "md", "steps": 60, "integrator": {"type": "langevin", "timestep": 0.005,
                                               "temperature": 1, "friction": 1}}]}
FENE = {"type": "bond_fene", "bonds": {"bond": {"stiffness": 30, "maximum_length": 1.5,
                                                "epsilon": 1, "sigma": 1}}}
WCA = {"type": "wca", "pairs": [{"types": [a, b], "epsilon": 1, "sigma": 1}
                                for a, b in ("AA", "AB", "BB")]}
QUANTITIES = ["position", "velocity", "image"]
OBSERVERS = [{"type": "trajectory", "stride": 20, "quantities": QUANTITIES},
             {"type": "trajectory", "stride": 20, "file": "unwrapped.h5",
              "positions": "unwrapped"},
             {"type": "gsd", "stride": 20, "quantities": QUANTITIES}]
JOBS = {
    "chains": {"seed": 3, "forces": [{"type": "bond_harmonic", "bonds": {"bond": {
        "stiffness": 100, "length": 1}}}], "observers": OBSERVERS,
        "system": {"type": "chains", "chains": 40, "pattern": "A4B4", "density": 0.1}},
    "triclinic": {"seed": 4, "forces": [{**WCA, "pairs": WCA["pairs"][:1]}],
                  "observers": OBSERVERS,
                  "system": {"type": "lattice", "structure": "fcc", "density": 0.6,
                             "cells": [5, 5, 5]}},
    "flat": {"seed": 5, "forces": [{**WCA, "pairs": WCA["pairs"][:1]}], "observers": OBSERVERS,
             "system": {"type": "random", "particles": {"A": 100}, "box": [20, 20],
                        "dimension": 2, "min_distance": 0.9}},
    "units": {"seed": 6, "units": {"length": "nm", "energy": "kJ/mol", "mass": "u"},
              "velocity": {"temperature": 100},
              "forces": [{"type": "lennard_jones", "cutoff": 0.85, "pairs": [
                  {"types": ["Ar", "Ar"], "epsilon": 0.99, "sigma": 0.34}]}],
              "observers": OBSERVERS,
              "system": {"type": "lattice", "structure": "fcc", "density": 20, "cells": [4, 4, 4],
                         "types": {"Ar": 1}, "masses": {"Ar": 39.95}},
              "stages": [{"type": "md", "steps": 60, "integrator": {
                  "type": "velocity_verlet", "timestep": 0.002}}]}}
# The lattice has no tilts: the box is given them by a deformation.
JOBS["triclinic"]["stages"] = [{**COMMON["stages"][0], "deform": {"xy": 2, "xz": 1, "yz": -1}}]

LOOK = r'''
import json, sys
import numpy as np
import h5py, ovito.io, MDAnalysis
import perrin_readers, perrin_readers.mdanalysis

def equal(a, b, tolerance, what):
    difference = np.abs(np.asarray(a, float) - np.asarray(b, float)).max()
    assert difference <= tolerance, f"{what}: {difference} apart"

name = sys.argv[1]
h5 = ovito.io.import_file("trajectory.h5")
gsd = ovito.io.import_file("trajectory.gsd")
assert h5.source.num_frames == gsd.source.num_frames == 4
for frame in range(4):
    a, b = h5.compute(frame), gsd.compute(frame)
    cell, other = a.cell[:, :3], b.cell[:, :3]
    equal(cell, other, 1e-4, "cell")
    # The same points of the periodic box, each from the corner of its cell.
    apart = np.linalg.solve(cell, ((a.particles.positions[...] - a.cell[:, 3]) -
                                   (b.particles.positions[...] - b.cell[:, 3])).T)
    flat = a.cell.is2D
    equal(apart[:2 if flat else 3], np.rint(apart[:2 if flat else 3]), 1e-5, "positions")
    equal(a.particles.velocities, b.particles.velocities, 1e-5, "velocities")
    types = [[c.particles.particle_types.type_by_id(t).name
              for c in (a, b) for t in c.particles.particle_types]]
    half = len(types[0]) // 2
    assert types[0][:half] == types[0][half:]
    assert a.attributes["Timestep"] == 20 * frame
    assert (a.particles.bonds is None) == (b.particles.bonds is None)
    if a.particles.bonds is not None:
        equal(a.particles.bonds.topology, b.particles.bonds.topology, 0, "bonds")
        equal(a.particles.bonds.pbc_vectors, b.particles.bonds.pbc_vectors
              if frame else a.particles.bonds.pbc_vectors, 0, "images of bonds")
        ends = a.particles.positions[a.particles.bonds.topology]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0] + a.particles.bonds.pbc_vectors @ cell.T,
                                axis=1)
        assert length.max() < 2, length.max()
assert a.cell.is2D == (name == "flat")
assert tuple(a.cell.pbc) == ((True, True, False) if name == "flat" else (True,) * 3), a.cell.pbc

u = MDAnalysis.Universe("trajectory.h5")
with h5py.File("trajectory.h5") as f:
    names = f["parameters/perrin/type_names"].asstr()[:]
    assert list(u.atoms.types) == list(names[f["particles/all/species"][:]])
    equal(u.atoms.masses, f["particles/all/mass"][:], 1e-5, "masses")
    factor = 10 if name == "units" else 1     # nm, Å
    equal(u.trajectory[-1].positions, factor * f["particles/all/position/value"][-1], 1e-4,
          "positions")
    if "connectivity" in f:
        assert len(u.bonds) == len(f["connectivity/bonds"]) == 280
        assert len(u.atoms.fragments) == len(u.residues) == 40
        assert {bond.type for bond in u.bonds} == {"bond"}
unwrapped = MDAnalysis.Universe("trajectory.h5", unwrap=True)
straight = MDAnalysis.Universe("unwrapped.h5")
for one, other in zip(unwrapped.trajectory, straight.trajectory):
    equal(one.positions, other.positions, 2e-4 * factor, "unwrapped positions")
print(name, "as it should be")
'''
FOREIGN = r'''
import sys
import ovito.io
import perrin_readers
for path in sys.argv[1:]:
    with perrin_readers.File(path) as file:
        data = ovito.io.import_file(path).compute(file.frames - 1)
        assert data.particles.count == file.n, path
        lists = file.lists(file.frames - 1)
        assert ("bonds" in lists) == (data.particles.bonds is not None), path
assert not __import__("perrin_readers.ovito").ovito.H5MDFileReader.detect(__file__)
print(len(sys.argv) - 1, "files of other programs open")
'''


def main():
    perrin, folder, source = (os.path.abspath(argument) for argument in sys.argv[1:4])
    python = newest_python(os.path.join(os.path.dirname(folder), "readers_python"))
    if python is None:
        print("skipped: PyPI cannot be reached")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copytree(os.path.join(source, "python", "readers"), os.path.join(folder, "package"))
    done = subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--target",
                           os.path.join(folder, "site"), os.path.join(folder, "package")],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", OMP_NUM_THREADS="1",
                       PYTHONPATH=os.path.join(folder, "site"))

    def run(*command, cwd):
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment)
        if done.returncode:
            sys.exit(f"{command[0]} {command[-1]}\n{done.stdout}{done.stderr}")
        return done.stdout

    for name, job in JOBS.items():
        place = os.path.join(folder, name)
        os.makedirs(place)
        for file, text in (("job.json", json.dumps({**COMMON, **job})), ("look.py", LOOK)):
            with open(os.path.join(place, file), "w") as out:
                out.write(text)
        run(perrin, "run", "job.json", "--device", "cpu", "--threads", "1", "--quiet", cwd=place)
        print(run(python, "look.py", name, cwd=place), end="")
    with open(os.path.join(folder, "foreign.py"), "w") as out:
        out.write(FOREIGN)
    values = os.path.join(folder, "other.h5")
    with open(os.path.join(folder, "other.py"), "w") as out:
        out.write(OTHER)
    run(python, "other.py", values, cwd=folder)
    print(run(python, "foreign.py", values, cwd=folder), end="")
    return 0


# As other programs write it: boundary as one text, edges as a vector, ids out of order, bonds by
# ids of which a row is empty, species with the time, velocities at every second frame alone.
OTHER = r'''
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    f.create_group("h5md").attrs["version"] = [1, 1]
    g = f.create_group("particles/fluid")
    box = g.create_group("box")
    box.attrs["dimension"] = 3
    box.attrs["boundary"] = "periodic"
    box["edges"] = [4.0, 5.0, 6.0]
    p = g.create_group("position")
    p["value"] = np.random.default_rng(1).random((3, 4, 3)) * 4
    p["step"] = 10
    p["step"].attrs["offset"] = 5
    v = g.create_group("velocity")
    v["value"], v["step"], v["time"] = np.ones((2, 4, 3)), [5, 25], [0.5, 2.5]
    s = g.create_group("species")
    s["value"], s["step"], s["time"] = [[1, 1, 2, 2], [2, 2, 1, 1]], [5, 25], [0.5, 2.5]
    g["id"] = [7, 3, 9, 1]
    f["connectivity/pairs"] = np.array([[7, 9], [1, 3], [-1, -1]])

import perrin_readers
with perrin_readers.File(sys.argv[1]) as file:
    assert list(file.steps) == [5, 15, 25]
    assert file.quantity("velocity", 1) is None and file.quantity("velocity", 2) is not None
    assert list(file.species(1)) == [1, 1, 2, 2] and list(file.species(2)) == [2, 2, 1, 1]
    rows = file.lists(0)["bonds"][0]
    assert rows.tolist() == [[0, 2], [3, 1]], rows
    assert file.periodic() == [True] * 3 and file.edges(0)[2][2] == 6
'''

sys.exit(main())
