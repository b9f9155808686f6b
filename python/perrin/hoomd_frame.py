"""Frames as those of the package gsd (gsd.hoomd), which HOOMD-blue and many readers take."""
from __future__ import annotations

import numpy as np

from perrin import frame_file
from perrin.errors import warn


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


def write(frame, path):
    import gsd.hoomd
    with gsd.hoomd.open(path, "w") as file:
        if open_axes(frame.box):  # known to Perrin alone
            flags = np.array(frame.box.periodic, np.uint8).reshape(3, 1)
            file.file.write_chunk("perrin/periodic", flags)
        file.append(of(frame))


def of(frame):
    import gsd.hoomd
    made = gsd.hoomd.Frame()
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
    if frame.molecules is not None:
        warn("gsd.hoomd has no place for numbers of molecules, which are left out")
    return made
