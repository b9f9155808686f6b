"""HDF5 files that anybody may have written: nothing is read that lies in another file, or that is
larger than what the file holds."""
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from perrin.errors import JobError

_ALWAYS = 1 << 20  # bytes that are read whatever the file stores
_PACKED = 1100  # deflate packs at most 1032 to one
_WARNING = "warning: "  # of the program


def find(group, path):
    """The object of this name in a group, or None. Links to other places are refused."""
    import h5py
    for name in path.strip("/").split("/"):
        link = group.get(name, getlink=True) if isinstance(group, h5py.Group) else None
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):
            raise JobError(f"{group.file.filename}: {group.name}/{name} is a link, perhaps to "
                           f"another file: expected it in this place")
        group = group[name]
    return group


def check_size(dataset):
    """Throws if an object is not a dataset, or larger than what the file stores of it."""
    import h5py
    where = f"{dataset.file.filename}: {dataset.name}"
    if not isinstance(dataset, h5py.Dataset):
        raise JobError(f"{where}: expected a dataset")
    if dataset.is_virtual or dataset.external:
        raise JobError(f"{where}: its values are in other files: expected them in this one")
    stored = min(dataset.id.get_storage_size(), os.path.getsize(dataset.file.filename))
    packed = dataset.id.get_create_plist().get_nfilters() > 0
    most = max(_ALWAYS, stored * (_PACKED if packed else 1))
    # In Python's numbers: those of numpy overflow.
    count = 1
    for extent in dataset.shape or ():
        count *= int(extent)
    if count * dataset.dtype.itemsize > most:
        raise JobError(f"{where}: the shape {dataset.shape} is larger than what the file stores of "
                       f"it ({stored} bytes)")
    return dataset


def finite(values, where):
    """The same, if all are finite numbers."""
    if not np.isfinite(values).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise JobError(f"{where}: {values[place]} at {list(place)}, expected finite numbers")
    return values


def members(values, particles, where, ids=None):
    """Rows of particles, if they are there, and none is twice in a row. `ids`: the numbers by
    which they are named, where these are not 0, 1, …"""
    if ids is None:
        wrong = (values < 0) | (values >= particles)
        expected = f"0 to {particles - 1}"
    else:
        named, order = values, np.argsort(ids)
        values = order[np.minimum(np.searchsorted(ids, values, sorter=order), len(ids) - 1)]
        wrong = ids[values] != named
        expected = "a number of /particles/all/id"
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        name = (values if ids is None else named)[row, column]
        raise JobError(f"{where}: row {row} names particle {name}, expected {expected}")
    rows = np.sort(values, axis=1)
    twice = (rows[:, 1:] == rows[:, :-1]).any(axis=1)
    if twice.any():
        raise JobError(f"{where}: row {int(np.argmax(twice))} names a particle twice")
    return values


def convert(path, out, *options):
    """`perrin convert`, with all its checks, in a process of its own: it prints nothing here.
    Returns what it has warned of."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [package] + os.environ.get("PYTHONPATH", "").split(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    done = subprocess.run([sys.executable, "-m", "perrin", "convert", path, out, *options],
                          capture_output=True, text=True, env=environment)
    if done.returncode:
        raise JobError((done.stderr or done.stdout).strip())
    return [line.removeprefix(_WARNING) for line in done.stderr.splitlines()
            if line.startswith(_WARNING)]


def converted(path, folder):
    """The file as one of Perrin's own, in a folder; and what `perrin convert` has warned of."""
    out = os.path.join(folder, "trajectory.h5")
    return out, convert(path, out, "--to", "h5md", "--precision", "double")
