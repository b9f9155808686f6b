"""Checks of what callers pass: every refusal names the argument, its value and what is expected."""
from __future__ import annotations

import difflib
import errno
import math
import numbers
import os
from collections.abc import Mapping

import numpy as np

from perrin.errors import JobError


def whole(value, name, least):
    """An integer of at least `least`; numpy's, too."""
    try:
        if not isinstance(value, (str, bytes)) and value == int(value) and value >= least:
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise JobError(f"{name}: must be a whole number of at least {least}, got {value!r}")


def fraction(value, name):
    """A part of rows that is left out; numpy's numbers, too."""
    if isinstance(value, numbers.Real) and 0 <= value < 1:
        return float(value)
    raise JobError(f"{name}: must be a number from 0 to below 1, got {value!r}")


def text(value, name, expected):
    if isinstance(value, str):
        return value
    raise JobError(f"{name}: must be {expected}, got {value!r}")


def path(value, name):
    try:
        return os.fspath(value)
    except TypeError:
        raise JobError(f"{name}: must be the name of a file or folder, got {value!r}") from None


def function(value, name):
    if not callable(value):
        raise JobError(f"{name}: must be a function, got {value!r}")
    return value


def settings(values, name):
    """Paths of a job and their values."""
    if isinstance(values, Mapping) and all(isinstance(key, str) for key in values):
        return values
    raise JobError(f"{name}: must be a dict of paths and values, "
                   f'{{"stages[0].steps": 100}}, got {values!r}')


def rows(values, name, shape):
    """An array of numbers of this shape. Complex numbers, and numbers that are masked, are none."""
    try:
        array = None
        if not np.iscomplexobj(values) and not np.ma.is_masked(values):
            array = np.ascontiguousarray(values, dtype=float)
    except (TypeError, ValueError):
        array = None
    if array is None or np.shape(values) != shape:
        got = repr(values) if array is None else f"{np.shape(values)}"
        raise JobError(f"{name}: must be numbers in an array of shape {shape}, got {got[:80]}")
    return array


def finite_numbers(value, at=""):
    """Raises JobError for the first number of a job that is NaN or infinite."""
    if isinstance(value, dict):
        for key, v in value.items():
            finite_numbers(v, f"{at}.{key}" if at else str(key))
    elif isinstance(value, (list, tuple)):
        for k, v in enumerate(value):
            finite_numbers(v, f"{at}[{k}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise JobError(f"{at}: must be a finite number, got {value}")


def existing_file(name, expected):
    """Raises FileNotFoundError or IsADirectoryError, which say what was expected."""
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, f"expected {expected}, got a folder", name)
    if not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, f"no such file; expected {expected}", name)
    return name


def new_file(value, overwrite):
    name = path(value, "path")
    if os.path.exists(name) and not overwrite:
        raise JobError(f"{name}: exists: overwrite=True replaces it")
    return name


def unit(units, quantity, known, where):
    """The value in `known` of the unit that units of a job name for a quantity."""
    if not isinstance(units, Mapping):
        raise JobError(f'{where}: units: must be "lj" or a dict of the units of length, energy and '
                       f"mass, got {units!r}")
    expected = "expected " + ", ".join(known)
    if quantity not in units:
        raise JobError(f"{where}: units.{quantity}: is missing; {expected}")
    name = units[quantity]
    if not isinstance(name, str) or name not in known:
        raise JobError(f"{where}: units.{quantity}: unknown unit {name!r}; {expected}")
    return known[name]


def known_attribute(instance, name):
    """Refuses to set an attribute whose name is nearly that of one that there is: velocity."""
    if name.startswith("_") or hasattr(type(instance), name):
        return
    public = [known for known in dir(type(instance)) if not known.startswith("_")]
    close = difflib.get_close_matches(name, public, 1, 0.75)
    if close and name not in instance.__dict__:
        raise AttributeError(f"a {type(instance).__name__} has no attribute {name!r}: did you mean "
                             f"{close[0]!r}?")
