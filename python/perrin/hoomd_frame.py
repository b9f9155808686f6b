"""Frames as those of the package gsd (gsd.hoomd), which HOOMD-blue and many readers take."""
from __future__ import annotations

import struct

import numpy as np

from perrin import frame_file
from perrin.errors import JobError, warn

MAGIC = struct.pack("<Q", 0x65DF65DF65DF65DF)  # GSD files begin with it


def opened(path):
    """A GSD file by gsd.fl, if it names particles/body; else None."""
    with open(path, "rb") as file:
        header = file.read(40)
        # Magic number, index, its entries, names, their entries of 64 bytes.
        _, _, _, names, entries = struct.unpack("<QQQQQ", header)
        file.seek(names)
        if b"particles/body\0" not in file.read(64 * entries):
            return None
    try:
        import gsd.fl
    except ImportError:
        warn(f"{path}: its rigid bodies (particles/body) are read by gsd, and are left out: "
             "pip install gsd")
        return None
    return gsd.fl.open(path, "r")


def bodies(file, k, particles, where):
    """particles/body of frame k of a file of gsd.fl: of each particle the number of its body's
    centre, which has its own, and -1 in no body; None: there are no bodies. What is wrong is told,
    as by the reader of `perrin convert`."""
    name = "particles/body"
    k = next((n for n in (k, 0) if file.chunk_exists(n, name)), None)
    if k is None:
        return None
    found = np.asarray(file.read_chunk(k, name)).astype(np.int64)
    if found.shape != (particles,):
        raise JobError(f"{where}: frame {k}: {name}: must be an array of shape ({particles},), "
                       f"got {found.shape}")
    within = found >= 0  # less than -1 have groups that are not rigid
    centers = np.append(found == np.arange(particles), False)  # none for numbers out of range
    number = np.where(within & (found < particles), found, particles)
    wrong = np.flatnonzero(within & ~centers[number])
    if len(wrong):
        warn(f"{where}: the rigid bodies of {within.sum()} particles ({name}) are left out: "
             f"particle {wrong[0]} has {found[wrong[0]]}, which is no particle that is a centre; "
             "expected -1 for particles in no body, and the number of a particle that has its own "
             "number for all others")
    return np.where(within, found, -1) if within.any() and not len(wrong) else None


def is_one(value):
    """Whether it is a gsd.hoomd.Frame; the package need not be there."""
    kind = type(value)
    return kind.__module__.startswith("gsd.hoomd") and kind.__name__ in ("Frame", "Snapshot")


def _q_times_momentum(q, momentum):
    """HOOMD-blue's angular momentum: the quaternion 2 q (0, L)."""
    w, v = q[:, :1], q[:, 1:]
    return 2 * np.hstack([-(v * momentum).sum(axis=1, keepdims=True),
                          w * momentum + np.cross(v, momentum)])


def open_axes(box):
    """"x, z": those that are not periodic."""
    return ", ".join("xyz"[k] for k in range(box.dimension) if not box.periodic[k])


def _without_absent(frame):
    frame_file.check_types(frame)
    here = [k for k, name in enumerate(frame.type_names) if not name.endswith(frame_file.ABSENT)]
    if len(here) == len(frame.type_names):
        return frame
    left = frame.without(frame_file.absent(frame))
    left.types = np.searchsorted(here, left.types)
    left.type_names = tuple(frame.type_names[k] for k in here)
    return left


def _gsd(what):
    try:
        import gsd.hoomd
    except ImportError:
        raise JobError(f"{what} by gsd: pip install gsd") from None
    return gsd.hoomd


def write(frame, path):
    hoomd = _gsd("GSD files with rigid bodies or constraints are written")
    with hoomd.open(path, "w") as file:
        if open_axes(frame.box):  # known to Perrin alone
            flags = np.array(frame.box.periodic, np.uint8).reshape(3, 1)
            file.file.write_chunk("perrin/periodic", flags)
        file.append(of(frame))


def of(frame):
    """Particles that are not there (of a reservoir) and their types are left out."""
    hoomd = _gsd("frames of HOOMD-blue are made")
    frame = _without_absent(frame)
    made = hoomd.Frame()
    box = frame.box
    (lx, ly, lz), (xy, xz, yz) = box.lengths, box.tilts
    made.configuration.step = frame.step
    made.configuration.dimensions = box.dimension
    made.configuration.box = [lx, ly, lz, xy / ly, xz / lz, yz / lz]
    p = made.particles
    p.N, p.types, p.typeid = len(frame), list(frame.type_names), np.asarray(frame.types)
    middle = box.origin + box.edges.sum(axis=0) / 2
    p.position = frame.positions - middle
    if box.dimension == 2:
        p.position[:, 2] = 0
    p.velocity, p.image = frame.velocities, frame.images
    p.mass, p.charge, p.diameter = frame.masses, frame.charges, frame.diameters
    p.moment_inertia, p.orientation = frame.moments_of_inertia, frame.orientations
    if frame.angular_momenta is not None and frame.orientations is not None:
        p.angmom = _q_times_momentum(frame.orientations, frame.angular_momenta)
    p.body = frame.bodies
    for name in frame_file.LISTS:
        list_, to = getattr(frame, name), getattr(made, name)
        to.N, to.group, to.typeid = len(list_), list_.ids, list_.types
        to.types = list(list_.type_names)
    if frame.constraints is not None:
        made.constraints.N = len(frame.constraints)
        made.constraints.group, made.constraints.value = frame.constraints, frame.constraint_lengths
    made.log["perrin/time"] = np.array([frame.time])
    for name, values in frame.attributes.items():
        made.log["particles/" + name] = values
    if left_out := frame_file.forces_of(frame):
        warn(f"gsd.hoomd has no place for {left_out}, which are left out")
    if frame.molecules is not None:
        warn("gsd.hoomd has no place for numbers of molecules, which are left out")
    return made
