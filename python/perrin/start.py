"""Jobs whose system is a frame: the engine reads it from a temporary file, with all its checks."""
from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from perrin import frame_file, hoomd_frame
from perrin.errors import JobError, warn
from perrin.frame import Frame


def is_frame(value):
    return isinstance(value, Frame) or hoomd_frame.is_one(value)


def entry_of(job):
    """The entry of the job's system, where a frame is the system, or the "path" of a system of type
    "file"; else None."""
    system = job.get("system")
    entry = dict(system) if isinstance(system, Mapping) else {"type": "file", "path": system}
    return entry if entry.get("type") == "file" and is_frame(entry.get("path")) else None


def in_file(job, entry, folder):
    """The job with a file in this folder in place of its frame; and its path."""
    if isinstance(entry["path"], Frame):
        path = os.path.join(folder, "frame.h5")
        _write(entry, job, path)
    else:
        path = os.path.join(folder, "frame.gsd")
        _write_hoomd(entry["path"], path)
    return {**job, "system": {**entry, "path": path}}, path


def _write(entry, job, path):
    """Adds to the entry what the file does not say."""
    frame = entry["path"]
    if frame.bodies is not None and frame.sites.any():
        frame = _without_sites(frame, job)
    if frame.constraints is not None and not job.get("constraints"):
        warn("system: the frame has constraints and the job has none: the distances are free")
    if job.get("velocity") and frame.velocities is not None and np.any(frame.velocities):
        warn('system: "velocity" of the job replaces the velocities of the frame')
    units = job.get("units", "lj")
    if frame.job_units is not None and frame.job_units == units:
        # No conversion, which would round.
        entry.setdefault("units", "job")
    frame_file.write(frame, path, {} if entry.get("units") == "job" else None)


def _sites_of(job):
    """The types of the sites of each type of centres; the engine tells what is wrong with them."""
    bodies = job.get("bodies")
    if not isinstance(bodies, Mapping):
        return {}
    return {center: [site.get("type") for site in body.get("sites") or ()
                     if isinstance(site, Mapping)]
            for center, body in bodies.items() if isinstance(body, Mapping)}


def _without_sites(frame, job):
    """A job adds the sites of its bodies itself; they must be those of the frame."""
    expected_sites = _sites_of(job)
    if not job.get("bodies"):
        raise JobError('system: the frame has rigid bodies: expected "bodies" in the job, as '
                       "in that of the frame, or frame.bodies = None, which sets their sites free")
    if frame.orientations is None:
        raise JobError("system: the frame has rigid bodies without orientations: expected "
                       'frame.orientations ("orientation" among the quantities of the observer)')
    sites = frame.sites
    count = np.bincount(frame.bodies[sites], minlength=len(frame))
    for k, name in enumerate(frame.type_names):
        of_type = (np.asarray(frame.types) == k) & ~sites
        expected = len(expected_sites.get(name, ()))
        wrong = np.flatnonzero(of_type & (count != expected))
        if len(wrong):
            raise JobError(f"system: the frame has {count[wrong[0]]} sites in the body of particle "
                           f"{wrong[0]}, of type {name}: expected {expected}, as the job's "
                           '"bodies" says')
    return frame.without(sites)


def _write_hoomd(snapshot, path):
    """Rigid bodies of the frame are those of the file, and have to be those of the job."""
    import gsd.hoomd
    with gsd.hoomd.open(path, "w") as file:
        file.append(snapshot)
