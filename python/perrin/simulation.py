"""Running jobs: perrin.run() as the program does, perrin.Simulation step by step."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import warnings
import weakref

import numpy as np

from perrin._perrin import Session
from perrin.errors import JobError
from perrin.python_force import PythonForce
from perrin.view import Local, View, totals_of

_END = 2**64 - 1
_FOREVER = 10**15


def _plain(value, functions):
    """What JSON knows; a PythonForce becomes its entry, and one of the list."""
    if isinstance(value, PythonForce):
        functions.append(value)
        return value.entry(len(functions) - 1)
    if isinstance(value, dict):
        return {str(k): _plain(v, functions) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, functions) for v in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def _session(job, set=None, *, device="", threads=0, output_dir=".", overwrite=False, quiet=True,
             checkpoint=""):
    functions, file, text = [], "", ""
    if isinstance(job, (str, os.PathLike)):
        file = os.fspath(job)
    else:
        job = _plain(job, functions)
        stages = job.get("stages") or [{}]
        if isinstance(stages, list) and isinstance(stages[-1], dict):
            if stages[-1].get("type") == "md":
                stages[-1].setdefault("steps", _FOREVER)
        try:
            text = json.dumps(job, indent=1)
        except TypeError as error:
            raise JobError(f"the job must be what JSON knows: {error}") from None
    sets = [f"{path}={json.dumps(_plain(value, functions))}" for path, value in (set or {}).items()]
    return Session(file, text, sets, functions, device, threads, os.fspath(output_dir), overwrite,
                   quiet, checkpoint)


@contextlib.contextmanager
def _interrupts(session):
    """Ctrl-C ends the run between two steps, whatever Python is in the middle of; a second one at
    once."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came = []

    def interrupt(number, frame):
        if came:
            before(number, frame)
        came.append((number, frame))
        session.interrupt()

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(*came[0])


class Simulation(View):
    """A job that is run step by step, with the bits of `perrin run`.

    `job` is the name of a job file, or a dict with the same contents (perrin.Job makes one), in
    which forces may be PythonForce objects. A last stage "md" without "steps" goes on for as long
    as it is run. `set` changes values of the job: {"stages[0].steps": 100}. Files are written into
    `output_dir` as the job's observers say; those that exist are refused without `overwrite`.
    With `checkpoint`, the name of a file, one is written when an unfinished simulation is closed.

    Raises JobError with all mistakes of the job.
    """

    def __init__(self, job, *, device="", threads=0, set=None, output_dir=".", overwrite=False,
                 quiet=True, checkpoint=""):
        self._session = _session(job, set, device=device, threads=threads, output_dir=output_dir,
                                 overwrite=overwrite, quiet=quiet, checkpoint=checkpoint)
        self._begin()

    @classmethod
    def resume(cls, path, forces=(), *, more_steps=0, device="", threads=0, set=None,
               output_dir="", quiet=True):
        """Goes on from a checkpoint, as `perrin resume`: with the same bits, on the same device and
        in the same folder where they are not named. `forces`: the PythonForce objects of the job,
        in its order. `more_steps`: of the last stage. What callbacks and functions have in mind is
        their own affair."""
        self = cls.__new__(cls)
        sets = [f"{path}={json.dumps(_plain(value, []))}" for path, value in (set or {}).items()]
        self._session = Session(resumed=os.fspath(path), sets=sets, functions=list(forces),
                                device=device, threads=threads, quiet=quiet, more_steps=more_steps,
                                output_directory=os.fspath(output_dir))
        self._begin()
        return self

    def _begin(self):
        self._callbacks = {}
        if self._session.has_system:
            super().__init__(self._session.state())

    def run(self, steps=None) -> bool:
        """So many steps, or to the end of the job. True: the job is complete.

        Where the job ends before, a warning says after how many steps; of a job that is complete
        already none can be run (JobError): give its last stage more "steps", or none, which lets
        it go on for as long as it is run.

        What a callback raises comes out of it when the step is done, and so does Ctrl-C: the
        simulation can then be run on. After any other error it can only be looked at.
        """
        if steps is not None and (steps < 0 or not self._session.has_system):
            raise JobError(f"run(): must be a number of steps of a job that has a system, "
                           f"got {steps}")
        if steps is None:
            with _interrupts(self._session):
                return self._session.run(_END)
        if steps > 0 and self._session.complete:
            raise JobError(f"run({steps}): the job is complete at step {self.step}: give its last "
                           "stage more \"steps\", or none, or go on from its checkpoint with "
                           "perrin.Simulation.resume(..., more_steps=N)")
        begin = self.step
        with _interrupts(self._session):
            complete = self._session.run(begin + int(steps))
        if complete and self.step < begin + int(steps):
            warnings.warn(f"run({steps}): the job was complete after {self.step - begin} steps",
                          stacklevel=2)
        return complete

    def every(self, steps):
        """Decorates a function that is called with the simulation at all steps that are multiples
        of this one, also at that where the job begins."""

        if not self._session.has_system:
            raise JobError("every() is for a job that has a system")

        def register(function):
            me = weakref.ref(self)
            number = self._session.add_callback(int(steps), lambda: function(me()))
            self._callbacks.setdefault(function, []).append(number)
            return function

        return register

    def remove(self, function):
        """A function that was given to every() is not called any more."""
        for number in self._callbacks.pop(function):
            self._session.remove_callback(number)

    @contextlib.contextmanager
    def changing(self):
        """with sim.changing() as local: …  — the views of `local` may be written to. Forces and
        lists are computed anew afterwards, and the integrator begins from what is there."""
        self._session.begin()
        local = Local(self._state, writable=True)
        try:
            yield local
        finally:
            local._writable = False
            self._state.changed()

    def _set(self, setter, rows, **how):
        self._session.begin()
        setter(np.ascontiguousarray(rows, dtype=float), by_id=True, **how)
        self._state.changed()

    @property
    def positions(self) -> np.ndarray:
        """[n, 3] by id, wrapped into the box (length). Setting them rounds as the engine does, to
        2^-40 of the edges; one that is set across a face of the box has crossed it."""
        return self._state.positions

    @positions.setter
    def positions(self, rows):
        self._set(self._state.set_positions, rows, unwrapped=False)

    @property
    def unwrapped(self) -> np.ndarray:
        """[n, 3] by id, without jumps at the faces of the box (length); may be set."""
        return self._state.unwrapped

    @unwrapped.setter
    def unwrapped(self, rows):
        self._set(self._state.set_positions, rows, unwrapped=True)

    @property
    def velocities(self) -> np.ndarray:
        """[n, 3] by id (length/time); may be set."""
        return self._state.velocities

    @velocities.setter
    def velocities(self, rows):
        self._set(self._state.set_velocities, rows)

    @property
    def forces(self) -> np.ndarray:
        """[n, 3] by id (energy/length); a copy. Begins the job, as totals do."""
        self._session.begin()
        return self._state.forces

    @property
    def totals(self):
        """Energies (potential, kinetic, total, heat and work of the stage), temperature, pressure,
        momentum; tensors pressure_tensor, virial, kinetic_tensor are xx yy zz xy xz yz."""
        self._session.begin()
        return totals_of(self._state.totals)

    @property
    def complete(self) -> bool:
        """Whether the job has reached its end."""
        return self._session.complete

    @property
    def job(self) -> dict:
        """The job as it runs, with every default."""
        return json.loads(self._session.job_text)

    @property
    def warnings(self) -> list:
        """What is allowed in the job and probably not meant."""
        return self._session.warnings

    @property
    def summary(self) -> str:
        """What `perrin run` prints first."""
        return self._session.summary

    @property
    def neighbors(self) -> str:
        """How pairs are found."""
        return self._state.neighbors

    @property
    def timings(self) -> dict:
        """Seconds in parts of the steps."""
        return self._state.timings

    def checkpoint(self, path="checkpoint.h5"):
        """Writes one, for `perrin resume`, in the output folder."""
        self._session.checkpoint(os.fspath(path))

    def close(self):
        """Closes the files of a job that is not complete. Particles can still be looked at."""
        self._session.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def run(job, *, device="", threads=0, set=None, output_dir=".", overwrite=False, quiet=False,
        checkpoint="checkpoint.h5") -> Simulation:
    """Runs a job to its end, as `perrin run` does, and returns what it has come to.

    After Ctrl-C there is a checkpoint for `perrin resume`. Arguments as of Simulation.
    """
    with Simulation(job, device=device, threads=threads, set=set, output_dir=output_dir,
                    overwrite=overwrite, quiet=quiet, checkpoint=checkpoint) as simulation:
        for warning in simulation.warnings:
            print(warning, file=sys.stderr)
        if not quiet:
            print(simulation.summary, end="", flush=True)
        simulation.run()
    return simulation
