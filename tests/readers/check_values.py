"""In a folder of run_documented.py: what readers see is what the run had, which moves freely."""
import sys

import ase.io
import gsd.hoomd
import h5py
import MDAnalysis
import MDAnalysis.analysis.msd
import mdtraj
import numpy as np
import ovito.io


def particles(name):
    return h5py.File(name)["particles/all"]


def positions(name):
    return particles(name)["position/value"][:].astype(float)


wrapped, paths, fine = map(positions, ("trajectory.h5", "unwrapped.h5", "fine.h5"))
edges = particles("trajectory.h5")["box/edges/value"][0]
L = edges.diagonal()
time = particles("trajectory.h5")["position/time"][:]

if len(sys.argv) > 1:  # written by ASE, from what Perrin wrote for it
    f = particles(sys.argv[1])
    assert np.abs(f["velocity/value"][0] - particles("trajectory.h5")["velocity/value"][-1]).max() \
        < 1e-6
    assert np.array_equal(f["mass"][:], particles("trajectory.h5")["mass"][:])
    moved = f["position/value"][0] - wrapped[-1]
    assert np.abs(moved - L * np.rint(moved / L)).max() < 1e-5
    print("ASE both ways")
    sys.exit()

# Nobody pushes: paths are straight, and single precision rounds them by 2^-25 of the next power.
straight = fine[0] + (fine[1] - fine[0]) / (time[1] - time[0]) * time[:, None, None]
assert np.abs(fine - straight).max() < 1e-8
assert np.abs(paths - fine).max() <= 2.0 ** (np.ceil(np.log2(np.abs(fine).max())) - 25)
assert np.abs(wrapped + particles("trajectory.h5")["image/value"][:] @ edges - fine).max() < 1e-5
# HDF5 computes in the floats of the file: half of the last digit, and a few of their own.
assert np.abs(positions("rounded.h5") - wrapped).max() < 0.0005 + L.max() * 2.0 ** -22
assert np.array_equal(positions("paths.h5").shape, paths.shape)
assert np.abs(positions("paths.h5") - paths).max() < 1e-5
assert particles("paths.h5")["position/value"].chunks[0] == len(time)

# Mean square displacements: right with paths, wrong with positions in the box.
exact = ((fine[-1] - fine[0]) ** 2).sum(axis=-1).mean()
for name, right in (("unwrapped.h5", True), ("paths.h5", True), ("trajectory.h5", False)):
    u = MDAnalysis.Universe.empty(len(wrapped[0]), trajectory=True)
    u.load_new(name, format="H5MD", convert_units=False)
    msd = MDAnalysis.analysis.msd.EinsteinMSD(u, select="all", fft=False).run().results.timeseries
    assert np.isclose(msd[-1], exact, rtol=1e-5) == right, (name, msd[-1], exact)

for k in (0, 2, 4, 6):  # XTC by two readers, with small and large differences from bead to bead
    xyz, t, step, box = mdtraj.formats.XTCTrajectoryFile(f"{k}.xtc").read()
    bound = 0.501 * 10.0 ** -k + 1e-7 * np.abs(fine).max()
    assert np.abs(xyz - fine).max() < bound, k
    assert np.allclose(t, time) and np.allclose(box, edges)
    assert np.array_equal(step, particles("trajectory.h5")["position/step"][:])
    frames = MDAnalysis.coordinates.XTC.XTCReader(f"{k}.xtc", convert_units=False)
    for frame, expected in zip(frames, fine, strict=True):
        assert np.abs(frame.positions - expected).max() < bound, k

xyz = mdtraj.formats.XTCTrajectoryFile("converted.xtc").read()[0]
assert np.abs(xyz - fine).max() < 0.501e-4 + 1e-7 * np.abs(fine).max()

for name, version, dtype in (("trajectory.gsd", (1, 4), np.float32),
                             ("fine.gsd", (2, 0), np.float64)):
    frames = gsd.hoomd.open(name)
    expected = fine if name == "fine.gsd" else wrapped
    assert frames.file.schema_version == version and len(frames) == len(time)
    for k, frame in enumerate(frames):
        assert frame.particles.position.dtype == dtype
        assert np.abs(frame.particles.position + L / 2 - expected[k]).max() < 2e-6
        assert np.isclose(frame.log["perrin/time"][0], time[k])
        assert frame.log["perrin/stage"] == [int(frame.configuration.step > 200)]
    names = frames.file.read_chunk(0, "perrin/stages")
    assert [bytes(row).rstrip(b"\0") for row in names] == [b"equilibration", b"production"]
    assert frame.particles.types == ["A", "B"] and frame.bonds.N == 660
frame = gsd.hoomd.open("trajectory.gsd")[7]
assert np.array_equal(frame.particles.velocity, particles("trajectory.h5")["velocity/value"][7])
assert np.array_equal(frame.particles.image, particles("trajectory.h5")["image/value"][7])
seen = ovito.io.import_file("trajectory.gsd").compute(7).particles
assert np.array_equal(seen.positions[:], frame.particles.position)
seen = ovito.io.import_file("ase.xyz").compute(7).particles
assert np.allclose(seen["Velocity"][:], frame.particles.velocity)
assert np.allclose(ase.io.read("ase.xyz", index=7).get_momenta(), frame.particles.velocity)
print("all values agree")
