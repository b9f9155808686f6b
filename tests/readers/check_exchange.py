"""DCD, PDB, GRO, XTC and LAMMPS dumps against MDAnalysis: what it writes is read, what Perrin
writes it reads, and of a dump both see the same.

    check_exchange.py PERRIN WORKFOLDER [-v]

77 without MDAnalysis.
"""
import os
import sys
import warnings

try:
    import numpy as np
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import MDAnalysis
        from MDAnalysis.lib.mdamath import triclinic_box, triclinic_vectors
except ImportError:
    sys.exit(77)

from reading import call, convert, path, refused, run_checks

warnings.simplefilter("ignore")
rng = np.random.default_rng(23)
BOXES = {"right": np.diag([19.0, 18.0, 21.0]),
         "tilted": np.array([[19.0, 0, 0], [4.5, 18, 0], [-2.5, 3, 21]])}
FRAMES, N = 3, 12


def same(a, b, within=2e-4):
    np.testing.assert_allclose(a, b, rtol=0, atol=within)


def places(edges, n=N):
    return rng.uniform(0.02, 0.98, (n, 3)) @ edges


def xyz_file(name, edges, frames, velocities=None, types=("A", "Cl"), scale=1):
    """Extended XYZ, with a corner that is not at 0."""
    corner = np.array([-3.0, 5.0, 1.0])
    with open(path(name), "w") as f:
        for k, x in enumerate(frames):
            lattice = " ".join(map(repr, map(float, (scale * edges).ravel())))
            extra = ":velo:R:3" if velocities is not None else ""
            f.write(f'{len(x)}\nLattice="{lattice}" Origin="{corner[0]} {corner[1]} {corner[2]}" '
                    f'Properties=species:S:1:pos:R:3{extra} Step={100 + 50 * k} '
                    f'Time={2 + k}\n')
            for i, r in enumerate(scale * x + corner):
                v = "" if velocities is None else " {} {} {}".format(*velocities[i])
                f.write(f"{types[i % len(types)]} {r[0]} {r[1]} {r[2]}{v}\n")


def made(source, out, *options):
    status, said = call("convert", path(source), path(out), "--overwrite", *options)
    assert status == 0, said
    return said


def seen_by_mdanalysis(name):
    u = MDAnalysis.Universe.empty(N, trajectory=True)
    u.load_new(path(name))
    return u


def check_dcd_is_read():
    for kind, edges in BOXES.items():
        u = MDAnalysis.Universe.empty(N, trajectory=True)
        frames = [places(edges) for _ in range(FRAMES)]
        with MDAnalysis.Writer(path(f"{kind}.dcd"), N, dt=2.0, nsavc=5, istart=10) as writer:
            for k, x in enumerate(frames):
                u.atoms.positions = x
                u.dimensions = triclinic_box(*(edges * (1 + 0.1 * k)))
                writer.write(u.atoms)
        read, said = convert(f"{kind}.dcd")
        assert len(read) == FRAMES and "no types" in said, said
        reference = seen_by_mdanalysis(f"{kind}.dcd")
        for k, (frame, seen) in enumerate(zip(read, reference.trajectory)):
            # Single precision of angles.
            same(frame["edges"], edges * (1 + 0.1 * k), 2e-4)
            same(frame["edges"], triclinic_vectors(seen.dimensions), 2e-4)
            fraction = (frame["pos"] - seen.positions) @ np.linalg.inv(frame["edges"])
            same(fraction, np.rint(fraction), 1e-5)
            assert frame["step"] == 10 + 5 * k


def check_dcd_is_written():
    for kind, edges in BOXES.items():
        frames = [places(edges) for _ in range(FRAMES)]
        xyz_file(f"w_{kind}.xyz", edges, frames)
        said = made(f"w_{kind}.xyz", f"w_{kind}.dcd")
        assert "everything but positions and box is left out" in said, said
        u = seen_by_mdanalysis(f"w_{kind}.dcd")
        assert len(u.trajectory) == FRAMES and u.atoms.n_atoms == N
        for x, seen in zip(frames, u.trajectory):
            same(seen.positions, x)
            same(triclinic_vectors(seen.dimensions), edges)
        assert abs(u.trajectory.dt - 1) < 1e-5, u.trajectory.dt
        back, _ = convert(f"w_{kind}.dcd")
        for k, frame in enumerate(back):
            same(frame["edges"], edges, 1e-6)
            same(frame["pos"], frames[k], 1e-5)
            assert frame["step"] == 100 + 50 * k


def check_xtc_is_written():
    """Of more particles than one thread packs at a time: the same bytes by any number of threads,
    and what MDAnalysis reads is what was written."""
    edges = BOXES["tilted"]
    for kind, decimals in (("gas", 3), ("chains", 3), ("mixed", 2), ("wide", 6), ("clouds", 4)):
        for n in (16384, 2 * 16384 + 1, 40001):
            x = places(edges, n)
            if kind == "chains":
                x = rng.normal(0, 0.3, (n, 3)).cumsum(axis=0)
            elif kind == "mixed":  # some steps are near, some far
                x = np.where(rng.random((n, 1)) < 0.2, x, rng.normal(0, 0.4, (n, 3)) + 9)
            elif kind == "wide":
                x = x * 50
            elif kind == "clouds":  # ways of all sizes from one particle to the next
                x = rng.normal(0, 1, (n, 3)) * np.exp(rng.uniform(-9, 2, (n, 1)))
            xyz_file("many.xyz", edges, [x, x[::-1]])
            written = []
            for threads in ("1", "2", "5"):
                os.environ["OMP_NUM_THREADS"] = threads
                made("many.xyz", "many.xtc", "--unwrap", "--decimals", str(decimals))
                with open(path("many.xtc"), "rb") as f:
                    written.append(f.read())
            del os.environ["OMP_NUM_THREADS"]
            assert written[0] == written[1] == written[2], (kind, n)
            with MDAnalysis.coordinates.XTC.XTCReader(path("many.xtc"),
                                                      convert_units=False) as frames:
                for frame, expected in zip(frames, (x, x[::-1]), strict=True):
                    bound = 0.501 * 10.0 ** -decimals + 2e-7 * np.abs(x).max()
                    assert np.abs(frame.positions - expected).max() < bound, (kind, n)


def check_gro_is_read():
    for kind, edges in BOXES.items():
        x, v = places(edges), rng.normal(0, 1, (N, 3))
        xyz_file(f"g_{kind}.xyz", edges, [x], v)
        made(f"g_{kind}.xyz", f"g_{kind}.gro")
        u = MDAnalysis.Universe(path(f"g_{kind}.gro"))
        same(u.atoms.positions, 10 * x, 0.0051 + 1e-4)   # read as nm
        same(u.atoms.velocities, 10 * v, 0.00051 + 1e-4)
        same(triclinic_vectors(u.dimensions), 10 * edges, 1e-3)
        assert list(u.atoms.names[:2]) == ["A", "Cl"] and u.residues.n_residues == 1
        made(f"g_{kind}.xyz", f"g_{kind}.gro", "--decimals", "6")
        u = MDAnalysis.Universe(path(f"g_{kind}.gro"))
        same(u.atoms.positions, 10 * x, 5e-5)
        same(u.atoms.velocities, 10 * v, 5e-5)


def check_gro_of_many():
    """More than the columns of numbers hold."""
    n, edges = 100050, np.diag([50.0, 50, 50])
    x = places(edges, n)
    xyz_file("many.xyz", edges, [x])
    made("many.xyz", "many.gro")
    made("many.xyz", "many.pdb")
    for name, unit in (("many.gro", 10), ("many.pdb", 1)):
        u = MDAnalysis.Universe(path(name))
        assert u.atoms.n_atoms == n
        same(u.atoms.positions, unit * x, 0.006)


def check_pdb_is_read():
    for kind, edges in BOXES.items():
        frames = [places(edges) for _ in range(FRAMES)]
        xyz_file(f"p_{kind}.xyz", edges, frames)
        made(f"p_{kind}.xyz", f"p_{kind}.pdb")
        u = MDAnalysis.Universe(path(f"p_{kind}.pdb"))
        assert len(u.trajectory) == FRAMES
        assert list(u.atoms.names[:2]) == ["A", "Cl"]
        assert list(u.atoms.elements[:2]) in (["", "Cl"], ["", "CL"]), u.atoms.elements
        for x, seen in zip(frames, u.trajectory):
            same(seen.positions, x, 0.00051)
            same(triclinic_vectors(seen.dimensions), edges, 0.01)
    tilted = np.array([u.dimensions for _ in u.trajectory])
    same(tilted, np.tile(tilted[0], (FRAMES, 1)))


def check_pdb_box_changes():
    with open(path("growing.xyz"), "w") as f:
        for edge in (10, 11, 12):
            f.write(f'1\nLattice="{edge} 0 0 1 {edge} 0 0 0 {edge}"\nA 1 2 3\n')
    made("growing.xyz", "growing.pdb")
    u = MDAnalysis.Universe(path("growing.pdb"))
    same([seen.dimensions[0] for seen in u.trajectory], [10, 11, 12])


def check_pdb_bonds():
    edges = BOXES["right"]
    bonds = [(1, 2), (2, 3), (3, 4), (3, 5), (3, 6), (3, 7), (8, 9)]
    with open(path("bonds.data"), "w") as f:
        f.write(f"bonds\n\n{N} atoms\n1 atom types\n{len(bonds)} bonds\n1 bond types\n"
                f"0 {edges[0, 0]} xlo xhi\n0 {edges[1, 1]} ylo yhi\n0 {edges[2, 2]} zlo zhi\n\n"
                "Atoms # molecular\n\n")
        for i, r in enumerate(places(edges)):
            f.write(f"{i + 1} {1 + i // 7} 1 {r[0]} {r[1]} {r[2]}\n")
        f.write("\nBonds\n\n")
        for k, (a, b) in enumerate(bonds):
            f.write(f"{k + 1} 1 {a} {b}\n")
    made("bonds.data", "bonds.pdb")
    u = MDAnalysis.Universe(path("bonds.pdb"))
    assert sorted(map(tuple, u.bonds.indices)) == [(a - 1, b - 1) for a, b in bonds]
    assert u.residues.n_residues == 2


def dump_file(name, edges, origin, kind, frames):
    """As LAMMPS writes it; rows in any order. `kind`: of the columns of positions."""
    x = {"x": "x y z", "xs": "xs ys zs", "xu": "xu yu zu", "xsu": "xsu ysu zsu"}[kind]
    xy, xz, yz = edges[1, 0], edges[2, 0], edges[2, 1]
    low = origin + [min(0, xy, xz, xy + xz), min(0, yz), 0]
    high = origin + np.diag(edges) + [max(0, xy, xz, xy + xz), max(0, yz), 0]
    with open(path(name), "w") as f:
        for k, r in enumerate(frames):
            tilts = ([xy], [xz], [yz]) if xy or xz or yz else ([], [], [])
            f.write(f"ITEM: TIMESTEP\n{1000 * k}\nITEM: NUMBER OF ATOMS\n{N}\nITEM: BOX BOUNDS "
                    f"{'xy xz yz ' if tilts[0] else ''}pp pp pp\n")
            for axis in range(3):
                f.write(" ".join(f"{v:.16e}" for v in [low[axis], high[axis], *tilts[axis]]) + "\n")
            f.write(f"ITEM: ATOMS id type {x}\n")
            for i in rng.permutation(N):
                s = (r[i] - origin) @ np.linalg.inv(edges) if "s" in kind else r[i]
                f.write(f"{i + 1} {1 + i % 2} {s[0]:.10g} {s[1]:.10g} {s[2]:.10g}\n")


def check_dump():
    origin = np.array([-4.0, 2.0, 0.5])
    for shape, edges in BOXES.items():
        for kind in ("x", "xs", "xu", "xsu"):
            frames = [places(edges) + origin for _ in range(FRAMES)]
            if "u" in kind:
                frames = [r + rng.integers(-2, 3, (N, 3)) @ edges for r in frames]
            name = f"{shape}_{kind}.lammpstrj"
            dump_file(name, edges, origin, kind, frames)
            read, said = convert(name)
            assert said.count("warning") == 0, said
            convention = {"x": "unscaled", "xs": "scaled", "xu": "unwrapped",
                          "xsu": "scaled_unwrapped"}[kind]
            u = MDAnalysis.Universe(path(name), format="LAMMPSDUMP",
                                    lammps_coordinate_convention=convention)
            assert len(read) == FRAMES == len(u.trajectory)
            for k, (frame, seen) in enumerate(zip(read, u.trajectory)):
                assert frame["step"] == 1000 * k == seen.data["step"]
                same(frame["edges"], edges, 1e-9)
                same(triclinic_vectors(seen.dimensions), edges, 2e-4)
                same(frame["Origin"] if "Origin" in frame else frame["origin"], origin, 1e-9)
                whole = frame["pos"] + frame.get("image", np.zeros((N, 3))) @ edges
                same(whole, frames[k], 1e-6)
                # MDAnalysis may count from the corner of the box.
                fraction = (seen.positions - frames[k]) @ np.linalg.inv(edges)
                if kind in ("x", "xu"):
                    fraction -= fraction[0]
                    same(fraction, np.rint(fraction), 1e-4)
                assert list(frame["species"]) == [str(1 + i % 2) for i in range(N)]


def check_dump_to_gsd():
    made("tilted_x.lammpstrj", "from_dump.gsd")
    made("tilted_x.lammpstrj", "from_dump.dcd")
    a, _ = convert("from_dump.gsd")
    b, _ = convert("from_dump.dcd")
    for one, two in zip(a, b):
        same((one["pos"] - one["origin"]), two["pos"], 1e-5)
        assert one["step"] == two["step"]


def check_cut_files_are_refused():
    for name in ("w_tilted.dcd", "tilted_xu.lammpstrj"):
        whole = open(path(name), "rb").read()
        for share in (0.01, 0.3, 0.55, 0.9):
            with open(path("cut" + name), "wb") as f:
                f.write(whole[:int(share * len(whole)) | 1])
            refused("cut" + name, "cut" + name)


run_checks([value for name, value in list(globals().items()) if name.startswith("check_")])
