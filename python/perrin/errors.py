"""Errors: of a job, of a run, of Perrin."""
from __future__ import annotations

import os
import re
import sys
import warnings
from typing import NamedTuple, Optional


class Problem(NamedTuple):
    """One mistake in a job."""

    path: str  # "forces[0].cutoff"
    line: Optional[int]  # in the job file; None where the job is no file
    message: str  # "must be positive, got -2.5"


# Words of the program's command line, and what a caller from Python says instead.
_WORDS = {"--overwrite replaces it": "overwrite=True replaces it",
          "--output-dir uses another folder": "output_dir=... uses another folder",
          "perrin resume continues a run": "perrin.Simulation.resume() continues a run",
          "--set 'stages": "set: 'stages",
          "--set: ": "set: ", "--set ": "set: ", "--device": "device", "--steps": "more_steps",
          "--output-dir": "output_dir", "--overwrite": "overwrite=True", "--threads": "threads"}


def _in_python(text):
    for word, instead in _WORDS.items():
        text = text.replace(word, instead)
    return re.sub(rf"another run \(process {os.getpid()} on [^)]*\) is writing into this folder; "
                  "wait until it ends, or", "another simulation of this process writes into this "
                  "folder: call its close(), or", text)


class JobError(ValueError):
    """A mistake in a job, a file or an argument; nothing has been overwritten.

    `problems` lists all mistakes of a job; the text has a line for each.
    """

    def __init__(self, text, problems=()):
        super().__init__(_in_python(text))
        self.problems = [Problem(path, line, _in_python(message))
                         for path, line, message in problems]

    def renamed(self, path, name):
        """The same, with another name for a file."""
        made = JobError(renamed(str(self), path, name))
        made.problems = [Problem(p.path, p.line, renamed(p.message, path, name))
                         for p in self.problems]
        return made


class RunError(RuntimeError):
    """The run went wrong: a lost particle, a number that is not finite, a full disk."""


class StaleError(RunError):
    """A view of particles in memory order is invalid: they have been reordered since."""


class BugError(RuntimeError):
    """A bug in Perrin or in a plug-in."""


class JobWarning(UserWarning):
    """What is valid in a job, or has come to its end, but is probably not intended."""


def renamed(text, path, name):
    return text.replace(path, name) if path else text


def of_job(text):
    """A warning without the file and the line of the job, which may be a dict."""
    return re.sub(r"^[^:]+:\d+: ", "", text).replace(": warning: ", ": ", 1)


def warn(text, category=JobWarning):
    """A warning at the line of the caller outside of this package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "perrin":
        level, frame = level + 1, frame.f_back
    warnings.warn(_in_python(text), category, stacklevel=level)
