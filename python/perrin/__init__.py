"""Perrin, a particle engine for soft matter: the same engine as the program `perrin`.

    sim = perrin.Simulation("job.json")
    sim.run(1000)
    print(sim.totals.temperature, sim.positions)

docs/guide/python.md tells the rest.
"""
from typing import TYPE_CHECKING

from perrin import _native  # first: what it says is better than what its importers would
from perrin import force, integrator, observer, part, stage, system
from perrin._perrin import build, cuda_count, version as __version__
from perrin._schema import schema
from perrin.ensemble import Ensemble, ensemble, Replica
from perrin.errors import BugError, JobError, JobWarning, Problem, RunError, StaleError
from perrin.frame import Frame, Members
from perrin.python_force import PythonForce
from perrin.simulation import Simulation, load_job, run
from perrin.statistics import Mean, autocorrelation_time, mean
from perrin.sweep import sweep
from perrin.tensors import Tensors
from perrin.trajectory import Trajectory, open, thermo
from perrin.view import Box, Local, LocalArray, View

__all__ = ["__version__", "autocorrelation_time", "Box", "BugError", "build", "cuda_count",
           "Ensemble", "ensemble", "force", "Frame", "integrator", "Job", "JobError", "JobWarning",
           "load_job", "Local", "LocalArray", "Mean", "mean", "Members", "observer", "open", "part",
           "Problem", "PythonForce", "Replica", "run", "RunError", "schema", "Simulation", "stage",
           "StaleError", "sweep", "system", "Tensors", "thermo", "Trajectory", "View"]

if TYPE_CHECKING:
    from perrin.job import Job


def __getattr__(name):
    # The schema, with all plug-ins, is looked up when somebody wants it.
    if name != "Job":
        raise AttributeError(f"module 'perrin' has no attribute {name!r}")
    from perrin.job import Job
    globals()["Job"] = Job
    return Job
