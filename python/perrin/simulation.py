"""Running jobs: perrin.run() as the program does, perrin.Simulation step by step."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import threading
import warnings
import weakref
from typing import (Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, TypeVar,
                    Union)

import numpy as np

from perrin import arguments, frame, show, start
from perrin._perrin import Session, job_text
from perrin.errors import JobError, of_job, renamed, warn
from perrin.progress import Bar
from perrin.python_force import PythonForce
from perrin.view import Local, Totals, View, read_only, totals_of

Path = Union[str, "os.PathLike[str]"]
JobLike = Union[Path, Mapping[str, Any]]
Function = TypeVar("Function", bound=Callable[..., Any])
_END = 2**64 - 1
_FOREVER = 10**15


def _plain(value, functions):
    """Converts a value to types of JSON; a PythonForce becomes its entry and joins the list."""
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
    if start.is_frame(value):
        raise JobError('a frame can be the "system" of perrin.Simulation() and perrin.run(), or '
                       'the "path" of a system "file" there: elsewhere name a file that '
                       'frame.save(FILE) has written')
    return value


def _assignments(values, functions):
    """PATH=VALUE for each."""
    found = []
    for path, value in arguments.settings({} if values is None else values, "set").items():
        value = _plain(value, functions)
        arguments.finite_numbers(value, path)
        try:
            found.append(f"{path}={json.dumps(value)}")
        except TypeError as error:
            raise JobError(f"{path}: must consist of types that JSON knows: {error}") from None
    return found


def _check_forces(forces, job):
    """Those given to a resumed run are those of its job."""
    entries = [force for force in job["forces"] if force["type"] == "python"]
    if len(forces) > max([entry["function"] + 1 for entry in entries], default=0):
        raise JobError(f"resume(forces): the job has {len(entries)} PythonForce objects, got "
                       f"{len(forces)}")
    for entry in entries:
        given = forces[entry["function"]]
        mine = given.entry(entry["function"])
        for key in mine:
            if mine[key] != entry[key]:
                name = {"memory_order": "local"}.get(key, key)
                raise JobError(f"resume(forces): {given}: {name} must be that of the job, "
                               f"{entry[key]!r}, got {mine[key]!r}")


def _called(name, what, set=None, **more):
    """For the log: a call of Python as a line."""
    given = {"set": set and dict(set), **more}
    return (f"perrin.{name}("
            f"{', '.join([what, *(f'{k}={v!r}' for k, v in given.items() if v)])})")


def _session(job, *settings, **more):
    """And what messages call a temporary file."""
    if isinstance(job, (str, os.PathLike)):
        return *_session_of(job, *settings, **more), ("", "")
    if not isinstance(job, Mapping):
        raise JobError(f"the job: must be the name of a file or a dict, got {job!r}")
    entry = start.entry_of(job)
    if entry is None:
        return *_session_of(job, *settings, **more), ("", "")
    with tempfile.TemporaryDirectory(prefix="perrin_") as folder:
        plain, path = start.in_file(job, entry, folder)
        try:
            return *_session_of(plain, *settings, **more), (path, "the frame")
        except JobError as error:
            raise error.renamed(path, "the frame") from None


def _session_of(job, set=None, *, device="", threads=0, output_dir="", overwrite=False, quiet=True,
                checkpoint=""):
    functions, file, text = [], "", ""
    if isinstance(job, (str, os.PathLike)):
        file = os.fspath(job)
    else:
        job = _plain(dict(job), functions)
        arguments.finite_numbers(job)
        stages = job.get("stages") or [{}]
        if isinstance(stages, list) and isinstance(stages[-1], dict):
            if stages[-1].get("type") == "md":
                stages[-1].setdefault("steps", _FOREVER)
        try:
            text = json.dumps(job, indent=1)
        except TypeError as error:
            raise JobError(f"the job must consist of types that JSON knows: {error}") from None
    arguments.text(device, "device", '"auto", "cpu", "cuda" or "cuda:N"')
    folder, sets = arguments.path(output_dir, "output_dir"), _assignments(set, functions)
    command = _called("Simulation", repr(file) if file else "a dict", set, output_dir=folder)
    session = Session(file, text, sets, functions, device, arguments.whole(threads, "threads", 0),
                      folder or ".", bool(overwrite), bool(quiet),
                      arguments.path(checkpoint, "checkpoint"), command, bool(folder))
    return session, functions


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
    """A job that is run step by step, bitwise identical to `perrin run`.

    `job` is the name of a job file, or a dict with the same contents (perrin.Job makes one), in
    which forces may be PythonForce objects. A last stage "md" without "steps" has no end.
    `set` changes values of the job: {"stages[0].steps": 100}. The observers of the job write their
    files into `output_dir`, the current folder if it is not given; existing files are never
    overwritten unless `overwrite` is true. `perrin.log` is beside them; a job that writes no files
    has one where `output_dir` is given.
    If `checkpoint`, the name of a file, is given, closing an unfinished simulation writes it.

    Raises JobError with all mistakes of the job.
    """

    def __init__(self, job: JobLike, *, device: str = "", threads: int = 0,
                 set: Optional[Mapping[str, Any]] = None, output_dir: Path = "",
                 overwrite: bool = False, quiet: bool = True, checkpoint: Path = "") -> None:
        self._session, self._functions, self._renamed = _session(
            job, set, device=device, threads=threads, output_dir=output_dir, overwrite=overwrite,
            quiet=quiet, checkpoint=checkpoint)
        self._output, self._logs = os.path.abspath(output_dir), bool(os.fspath(output_dir))
        self._quiet, self._threads = quiet, threads
        self._begin()
        self._warn()

    @classmethod
    def resume(cls, path: Path, forces: Sequence[PythonForce] = (), *, more_steps: int = 0,
               device: str = "", threads: int = 0, set: Optional[Mapping[str, Any]] = None,
               output_dir: Path = "", quiet: bool = True) -> Simulation:
        """Continues from a checkpoint, as `perrin resume`: bitwise identical to a run without the
        stop. Device and folder default to those of the checkpoint. `forces`: the PythonForce
        objects of the job, in its order. `more_steps`: extends the last stage. The state of
        callbacks and functions is not saved."""
        self = cls.__new__(cls)
        file, folder = arguments.path(path, "path"), arguments.path(output_dir, "output_dir")
        self._functions = list(forces)
        sets = _assignments(set, self._functions)
        self._session = Session(resumed=file, sets=sets,
                                functions=self._functions, device=device,
                                threads=arguments.whole(threads, "threads", 0), quiet=bool(quiet),
                                more_steps=arguments.whole(more_steps, "more_steps", 0),
                                output_directory=folder, always_logs=bool(folder),
                                command=_called("Simulation.resume", repr(file), set,
                                                more_steps=more_steps, output_dir=folder))
        _check_forces(self._functions, self.job)
        self._quiet, self._threads = quiet, threads
        self._logs, self._renamed = bool(folder), ("", "")
        self._output = (os.path.abspath(output_dir) if os.fspath(output_dir)
                        else os.path.dirname(os.path.abspath(path)))
        self._begin()
        self._warn()
        return self

    def _begin(self):
        self._callbacks = {}
        if self._session.has_system:
            super().__init__(self._session.state())
        changing = {name for name, one in (self.job.get("attributes") or {}).items()
                    if isinstance(one, dict) and (one.get("changes") or one.get("updates"))}
        constant = sorted(changing & {"charge", "diameter"})
        if constant and "cuda" in self.device and any(f.captured for f in self._functions):
            warn(f"attributes: {', '.join(constant)}: what a captured PythonForce sees of this is "
                 "constant on a GPU, the numbers of the first step")

    def _of_job(self):
        return [renamed(of_job(text), *self._renamed) for text in self._session.warnings]

    def _warn(self, known=()):
        """Of the job; not of what is known already."""
        self._known = list(known)
        for warning in self._of_job():
            if warning not in self._known:
                warn(warning)

    def __repr__(self):
        if not self._session.has_system:
            return f"<perrin.Simulation{', complete' if self.complete else ''}>"
        return (f"<perrin.Simulation: step {self.step}{', complete' if self.complete else ''}, "
                f"{show.counts(self.types, self.type_names)}, box {show.box_text(self.box)}, "
                f"{self.device}>")

    def _repr_html_(self):
        if not self._session.has_system:
            return show.page(repr(self)[1:-1], [])
        rows = [("step", f"{self.step}{', the job is complete' if self.complete else ''}"),
                ("time", show.number(self.time)),
                ("particles", show.counts(self.types, self.type_names)),
                ("box", show.box_text(self.box)), ("device", self.device)]
        return show.page("perrin.Simulation", rows, self.picture(), show.thinned(len(self)))

    def picture(self, width: float = 420) -> str:
        """An SVG of the particles in their box, coloured by type."""
        return show.picture(self.positions, self.types, self.type_names, self.box, width)

    def _last_step(self):
        """The step at which the job ends, where its stages say so."""
        steps = [stage.get("steps") for stage in self.job["stages"] if stage["type"] == "md"]
        total = sum(s for s in steps if s is not None)
        return None if len(steps) < len(self.job["stages"]) or total >= _FOREVER else total

    @contextlib.contextmanager
    def _shown(self, progress, last):
        """A bar that follows the run to the step `last`."""
        if not progress or last is None or last <= self.step:
            yield
            return
        begin, bar = self.step, Bar(last - self.step)
        me = weakref.ref(self)
        number = self._session.add_callback(
            max(1, (last - begin) // 200), lambda: bar.to(me().step - begin))
        try:
            yield
        finally:
            self._session.remove_callback(number)
            bar.to(min(self.step, last) - begin)
            bar.close()

    def run(self, steps: Optional[int] = None, *, progress: bool = False) -> bool:
        """Runs a number of steps, or to the end of the job. True: the job is complete.

        `progress=True` shows a bar with the time left: tqdm's where it is installed. A job without
        an end has none unless `steps` are given.

        If the job ends earlier, a warning gives the number of steps done. If the job is already
        complete, this raises JobError: give its last stage more "steps", or omit "steps", so that
        it has no end.

        An exception of a callback is raised when the step is done, and so is Ctrl-C: the
        simulation can then continue. After any other error it can only be read.
        """
        if steps is not None:
            steps = arguments.whole(steps, "run(steps)", 0)
            if not self._session.has_system:
                raise JobError(f"run({steps}): no stage of the job has steps of particles: expected"
                               " run() without a number")
        if steps is None:
            last = self._last_step() if progress and self._session.has_system else None
            with self._shown(progress, last), _interrupts(self._session):
                return self._session.run(_END)
        if steps > 0 and self._session.complete:
            raise JobError(f"run({steps}): the job is complete at step {self.step}: give its last "
                           "stage more \"steps\", or omit them, or continue from its checkpoint "
                           "with perrin.Simulation.resume(..., more_steps=N)")
        begin = self.step
        with self._shown(progress, begin + steps), _interrupts(self._session):
            complete = self._session.run(begin + steps)
        if complete and self.step < begin + steps:
            warnings.warn(f"run({steps}): the job was complete after {self.step - begin} steps",
                          stacklevel=2)
        return complete

    def every(self, steps: int) -> Callable[[Function], Function]:
        """Decorates a function that is called with the simulation at every multiple of `steps`,
        including the first step of the job."""

        if not self._session.has_system:
            raise JobError("every() needs a job with a system")
        if callable(steps):
            raise JobError("every(): must be given a number of steps: @sim.every(100)")
        steps = arguments.whole(steps, "every(steps)", 1)

        def register(function):
            self._add(arguments.function(function, f"every({steps})"), steps)
            return function

        return register

    def _add(self, function, steps):
        me = weakref.ref(self)
        number = self._session.add_callback(steps, lambda: function(me()))
        self._callbacks.setdefault(function, []).append((number, steps))

    def remove(self, function: Callable[..., Any]) -> None:
        """Removes a function that was given to every()."""
        if function not in self._callbacks:
            raise JobError(f"remove(): must be a function that every() was given, got {function!r}")
        for number, _ in self._callbacks.pop(function):
            self._session.remove_callback(number)

    def set(self, values: Mapping[str, Any]) -> None:
        """Changes values of the job between two runs, as `perrin resume --set` does:
        sim.set({"stages[-1].integrator.temperature": 1.5}). The system stays as it is. Output files
        go on, and say from which step on the job was another. Raises JobError, and changes nothing,
        if a value is invalid.
        """
        if self.complete:
            raise JobError("set(): the job is complete")
        functions = list(self._functions)  # those of the job keep their numbers
        sets = _assignments(values, functions)
        name = f".perrin-{os.getpid()}-{id(self)}.h5"
        self.checkpoint(name)
        path, known = os.path.join(self._output, name), self.warnings
        try:
            self._session.close(goes_on=True)
            made, refused = self._resumed(path, sets, functions,
                                          f"perrin.Simulation.set({dict(values)!r})")
        finally:
            for file in (path, path + ".prev"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(file)
        callbacks, self._session, self._functions = self._callbacks, made, functions
        self._begin()
        for function, entries in callbacks.items():
            for _, steps in entries:
                self._add(function, steps)
        self._warn(known)
        if refused is not None:
            raise refused

    def _resumed(self, path, sets, functions, command):
        """A session from a checkpoint, and why these settings are not its own: None if they are."""
        refused = None
        for wanted in (sets, []):  # where that is refused the old job goes on
            try:
                made = Session(resumed=path, sets=wanted, functions=functions,
                               device=self.device, threads=self._threads, quiet=self._quiet,
                               more_steps=0, output_directory=self._output,
                               checkpoint=self._session.checkpoint_path,
                               command=command if wanted else f"{command}: refused",
                               always_logs=self._logs)
                made.begin()  # reads the checkpoint: not all mistakes show before
                return made, refused
            except JobError as error:
                refused = refused or error
        raise refused

    @contextlib.contextmanager
    def changing(self) -> Iterator[Local]:
        """with sim.changing() as local: …  — the views of `local` may be written to. Forces and
        lists are recomputed afterwards, and the integrator starts from the new state."""
        self._session.begin()
        local = Local(self._state, writable=True, view=self)
        try:
            yield local
        finally:
            local._writable = False
            self._state.changed()

    def _set(self, name, setter, rows, columns=3, **how):
        shape = (len(self), columns)
        if columns == 4 or name == "angular_momenta":  # the engine says so where there are none
            shape = (len(self._state.orientations) or len(self), columns)
        array = arguments.rows(rows, name, shape)
        self._session.begin()
        setter(array, by_id=True, **how)
        self._state.changed()

    def __setattr__(self, name, value):
        arguments.known_attribute(self, name)
        super().__setattr__(name, value)

    @property
    def positions(self) -> np.ndarray:
        """[n, 3] by id, wrapped into the box (length). Setting them rounds them to 2^-40 of
        the edges; a position beyond a face of the box counts as a crossing."""
        return read_only(self._state.positions)

    @positions.setter
    def positions(self, rows: Any) -> None:
        self._set("positions", self._state.set_positions, rows, unwrapped=False)

    @property
    def unwrapped(self) -> np.ndarray:
        """[n, 3] by id, without jumps at the faces of the box (length); may be set."""
        return read_only(self._state.unwrapped)

    @unwrapped.setter
    def unwrapped(self, rows: Any) -> None:
        self._set("unwrapped", self._state.set_positions, rows, unwrapped=True)

    @property
    def velocities(self) -> np.ndarray:
        """[n, 3] by id (length/time); may be set."""
        return read_only(self._state.velocities)

    @velocities.setter
    def velocities(self, rows: Any) -> None:
        self._set("velocities", self._state.set_velocities, rows)

    @property
    def charges(self) -> np.ndarray:
        """[n] by id; [0] if the system has none."""
        return super().charges

    @property
    def diameters(self) -> np.ndarray:
        """[n] by id (length); [0] if the system has none."""
        return super().diameters

    @property
    def attributes(self) -> Mapping[str, np.ndarray]:
        """Those of the job by their names: [n] by id; read-only."""
        return super().attributes

    @property
    def orientations(self) -> np.ndarray:
        """[n, 4] by id: unit quaternions w, x, y, z; may be set. [0, 4] if particles have no
        orientations."""
        return read_only(self._state.orientations)

    @orientations.setter
    def orientations(self, rows: Any) -> None:
        self._set("orientations", self._state.set_orientations, rows, 4)

    @property
    def angular_momenta(self) -> np.ndarray:
        """[n, 3] by id, in the frame of each particle (mass length^2/time); may be set."""
        return read_only(self._state.angular_momenta)

    @angular_momenta.setter
    def angular_momenta(self, rows: Any) -> None:
        self._set("angular_momenta", self._state.set_angular_momenta, rows)

    @property
    def torques(self) -> np.ndarray:
        """[n, 3] by id, in space (energy); a copy. [0, 3] without orientations. Begins the job, as
        totals do."""
        self._session.begin()
        return read_only(self._state.torques)

    @property
    def forces(self) -> np.ndarray:
        """[n, 3] by id (energy/length); a copy. Begins the job, as totals do."""
        self._session.begin()
        return read_only(self._state.forces)

    @property
    def totals(self) -> Totals:
        """Energies (potential, kinetic, rotational, total; heat and work of the stage),
        temperature, pressure, momentum; tensors pressure_tensor, virial, kinetic_tensor are
        xx yy zz xy xz yz."""
        self._session.begin()
        return totals_of(self._state.totals)

    @property
    def complete(self) -> bool:
        """Whether the job is complete."""
        return self._session.complete

    @property
    def job(self) -> Dict[str, Any]:
        """The job with all defaults: a copy, for another simulation. set() changes settings of
        this one."""
        return json.loads(self._session.job_text)

    @property
    def warnings(self) -> List[str]:
        """What is valid in the job but probably not intended, and what its run has warned of so
        far. Each was a JobWarning when it was found."""
        return list(dict.fromkeys([*self._of_job(), *self._known, *self._session.told]))

    @property
    def summary(self) -> str:
        """The summary that `perrin run` prints first."""
        return self._session.summary

    @property
    def neighbors(self) -> str:
        """The neighbour search: traversal, skin and tuning."""
        return self._state.neighbors

    @property
    def timings(self) -> Dict[str, float]:
        """Seconds spent in the parts of a step."""
        return self._state.timings

    def frame(self) -> frame.Frame:
        """The present state as a frame: a copy, without forces. A simulation starts from it where
        it is the "system" of a job."""
        return frame.of_simulation(self, self._session.units, self.job["units"])

    def checkpoint(self, path: Path = "checkpoint.h5") -> None:
        """Writes a checkpoint for `perrin resume` into the output folder, which is made if it is
        not there."""
        name = arguments.path(path, "path")
        os.makedirs(os.path.join(self._output, os.path.dirname(name)) or ".", exist_ok=True)
        self._session.checkpoint(name)

    def close(self) -> None:
        """Closes the files of a job that is not complete. Particles can still be read."""
        self._session.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def load_job(path: Path) -> Dict[str, Any]:
    """A job file, with or without comments, as a dict. Names of files in it are relative to its
    folder, those of a dict to the current one."""
    return json.loads(job_text(arguments.path(path, "path")))


def run(job: JobLike, *, device: str = "", threads: int = 0,
        set: Optional[Mapping[str, Any]] = None, output_dir: Path = "", overwrite: bool = False,
        quiet: bool = False, checkpoint: Path = "checkpoint.h5",
        progress: bool = False) -> Simulation:
    """Runs a job to its end, as `perrin run` does, and returns the simulation. `progress=True`
    shows a bar.

    Ctrl-C writes a checkpoint for `perrin resume`. For the arguments see Simulation.
    """
    with Simulation(job, device=device, threads=threads, set=set, output_dir=output_dir,
                    overwrite=overwrite, quiet=quiet, checkpoint=checkpoint) as simulation:
        if simulation.job["stages"][-1].get("steps", 0) >= _FOREVER:
            raise JobError('run(): stages[-1].steps: is missing, so the run would never end: give '
                           'a number, or use perrin.Simulation(job).run(N)')
        if not quiet:
            print(simulation.summary, end="", flush=True)
        simulation.run(progress=progress)
    return simulation
