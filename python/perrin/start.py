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
        _write_hoomd(entry["path"], job, path)
    return {**job, "system": {**entry, "path": path}}, path


def _write(entry, job, path):
    """Adds to the entry what the file does not say."""
    frame = entry["path"]
    if frame.bodies is None:
        _refuse_sites(frame.types, frame.type_names, job)
    elif frame.sites.any():
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


def _refuse_sites(types, type_names, job):
    """Particles of a frame that says nothing of bodies, where the job would add its sites again."""
    count = {name: np.count_nonzero(np.asarray(types) == k) for k, name in enumerate(type_names)}
    for center, sites in _sites_of(job).items():
        site = next((type for type in sites if count.get(type)), None)
        if site is None or not count.get(center):
            continue
        raise JobError(
            f"system: the frame has {count[site]} particles of type {site}, and does not say which "
            f'are sites of rigid bodies: "bodies" of the job would add those of {center} again. '
            "Expected a frame of sim.frame() or of a GSD file with bodies, the centres alone, or "
            "frame.bodies = numpy.full(len(frame), -1) where none is a site")


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


def _write_hoomd(snapshot, job, path):
    import gsd.hoomd
    body = snapshot.particles.body
    if body is None and snapshot.particles.types and snapshot.particles.typeid is not None:
        _refuse_sites(snapshot.particles.typeid, snapshot.particles.types, job)
    if job.get("bodies") and body is not None:
        body = np.asarray(body).astype(np.int64)
        sites = (body >= 0) & (body < len(body)) & (body != np.arange(len(body)))
        if sites.any():
            raise JobError(f"system: the frame has {sites.sum()} sites of rigid bodies "
                           '(particles.body), which the "bodies" of the job would add again: '
                           "expected the centres alone, or a frame of Perrin")
    with gsd.hoomd.open(path, "w") as file:
        file.append(snapshot)
