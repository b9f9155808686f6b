"""Ensembles: many systems of one job, run beside one another, and exchange of replicas."""
from __future__ import annotations

import json
import os
import pathlib
import warnings
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from perrin import arguments
from perrin._perrin import resume_ensemble as _resume, run_ensemble as _run
from perrin.errors import JobError
from perrin.simulation import _assignments, _plain
from perrin.statistics import mean, over_seeds
from perrin.trajectory import Frame, Trajectory, open as _open, table_of, thermo as _thermo

_NO_FUNCTIONS = ("an ensemble cannot have forces of Python: its systems run in threads of the "
                 "engine")


class Ensemble:
    """What an ensemble's folder holds; `perrin run` of a job with "ensemble" makes the same.

    len(ensemble) systems; ensemble[k] is the folder of one, ensemble.trajectory(k) opens its
    trajectory. Files of a system are read from its folder, or from ensemble.h5 ("files": "one").
    """

    def __init__(self, folder: Union[str, os.PathLike[str]]) -> None:
        self.folder = pathlib.Path(folder).absolute()  # os.chdir() does not move it
        try:
            self._record = json.loads((self.folder / "ensemble.json").read_text())
        except FileNotFoundError:
            raise JobError(f"{self.folder} is not the folder of an ensemble: it has no "
                           "ensemble.json") from None
        self._systems = self._record["systems"]

    def __len__(self) -> int:
        return len(self._systems)

    def __getitem__(self, k: int) -> pathlib.Path:
        return self.folder / self._systems[k]["folder"]

    def __repr__(self):
        states = self.states
        return (f"<perrin.Ensemble {str(self.folder)!r}: {len(self)} systems, "
                f"{states.count('complete')} complete, {states.count('failed')} failed>")

    @property
    def states(self) -> List[str]:
        """Of each system: "complete", "failed", or "" where it has not ended."""
        return [system.get("state", "") for system in map(self._ended, range(len(self)))]

    @property
    def errors(self) -> Dict[int, str]:
        """{system: why it failed}."""
        ended = map(self._ended, range(len(self)))
        return {k: system["error"] for k, system in enumerate(ended) if "error" in system}

    def _ended(self, k):
        try:
            return json.loads((self[k] / "system.json").read_text())
        except FileNotFoundError:
            return {}

    @property
    def values(self) -> Any:
        """What differs between the systems (pandas DataFrame): a row for each."""
        import pandas
        return pandas.DataFrame([system["values"] for system in self._systems])

    def _stored(self, k, file):
        """The group of ensemble.h5 that has a file of a system, unless its folder has it."""
        group = f"systems/{self._systems[k]['folder']}/{file}"
        if (self[k] / file).exists() or not self._store.exists():
            return ""
        import h5py
        with h5py.File(self._store, "r") as store:
            return group if group in store else ""

    @property
    def _store(self):
        return self.folder / "ensemble.h5"

    def _table(self, k, file):
        group = self._stored(k, file)
        if not group:
            return _thermo(self[k] / file)
        import h5py
        with h5py.File(self._store, "r") as store:
            return table_of(store[group], f"{self._store}:{group}")

    def thermo(self, file: str = "thermo.h5") -> Tuple[np.ndarray, List[str]]:
        """The table of a file of all systems: array [system, row, column], and the names of the
        columns. Rows and columns that a system does not have are NaN."""
        tables = []
        for k in range(len(self)):
            try:
                tables.append(self._table(k, file))
            except FileNotFoundError:
                tables.append(None)
        known = [table for table in tables if table is not None]
        if not known:
            raise JobError(f"no system of {self.folder} has a file {file}")
        columns = list(dict.fromkeys(name for table in known for name in table.columns))
        all_of = np.full((len(self), max(map(len, known)), len(columns)), np.nan)
        for k, table in enumerate(tables):
            if table is not None:
                all_of[k, :len(table)] = table.reindex(columns=columns).to_numpy(dtype=float)
        return all_of, columns

    def means(self, skip: float = 0.2, file: str = "thermo.h5", together: bool = False) -> Any:
        """Means over time of each system and their errors, beside its values (pandas DataFrame);
        without the first fraction `skip` of the rows.

        `together`: a row for all systems that differ in their seeds alone, with their number
        ("systems"): the mean of their means, and its standard error from how these differ. Of one
        system that is its own error. Systems without the file do not count."""
        skip = arguments.fraction(skip, "means(skip)")
        if together:
            return self._means_of_seeds(skip, file)
        import pandas
        rows = []
        for k in range(len(self)):
            row = dict(self._systems[k]["values"])
            try:
                table = self._table(k, file)
            except FileNotFoundError:
                rows.append(row)
                continue
            table = table[int(skip * len(table)):]
            for name in table.columns.difference(["step", "time"], sort=False):
                if len(table) >= 2:
                    m = mean(table[name])
                    row[name], row[name + "_error"] = m.value, m.error
            rows.append(row)
        return pandas.DataFrame(rows)

    def _means_of_seeds(self, skip, file):
        import pandas
        exchange = self._record["job"]["ensemble"].get("exchange") or {}
        if exchange.get("type") == "gibbs":
            raise JobError("means(together=True): the systems of a Gibbs ensemble are the boxes of "
                           "pairs")
        known = self.means(skip, file).to_dict("records")
        return pandas.DataFrame(over_seeds([
            (system["values"], {name: x for name, x in row.items() if name not in system["values"]})
            for system, row in zip(self._systems, known)], "systems"))

    def _exchange_record(self):
        """exchange.json of replica exchange."""
        try:
            record = json.loads((self.folder / "exchange.json").read_text())
        except FileNotFoundError:
            self.exchanges  # says so where there are none at all
            raise JobError(f"{self.folder} has no exchange.json yet: it is written with the first "
                           "checkpoints and at the end") from None
        if "replicas" not in record:
            raise JobError(f"the systems of {self.folder} are a Gibbs ensemble: there are no "
                           "replicas, and Ensemble.exchanges has what was accepted")
        return record

    @property
    def acceptance(self) -> np.ndarray:
        """[k]: which part of the exchanges that systems k and k + 1 have tried was accepted; NaN
        where they have tried none. Of the last checkpoints, or of the end."""
        pairs = np.array(self._exchange_record()["pairs"], dtype=float).reshape(-1, 2)
        return np.divide(pairs[:, 1], pairs[:, 0], out=np.full(len(pairs), np.nan),
                         where=pairs[:, 0] > 0)

    @property
    def round_trips(self) -> int:
        """How often replicas went from the first system to the last and back."""
        return int(self._exchange_record()["round_trips"])

    def replica(self, r: int) -> Replica:
        """A replica, by the system in which it began, on its way through the systems."""
        return Replica(self, r)

    @property
    def exchanges(self) -> Any:
        """Which replica each system has after every exchange; of a Gibbs ensemble acceptance and
        activities of each pair (pandas DataFrame)."""
        import pandas
        try:
            return pandas.read_csv(self.folder / "exchange.csv", index_col="step")
        except FileNotFoundError:
            raise JobError(f"the systems of {self.folder} exchange no replicas or particles"
                           ) from None

    def trajectory(self, k: int, file: str = "trajectory.h5") -> Trajectory:
        group = self._stored(k, file)
        return Trajectory(self._store, group) if group else _open(self[k] / file)

    def extract(self, k: int, file: str, path: Union[str, os.PathLike[str]]) -> None:
        """Makes a file of its own, which must not exist, of a system's file in ensemble.h5."""
        group = self._stored(k, file)
        if not group:
            raise JobError(f"{self._store} has no {file} of system {k}")
        import h5py
        with h5py.File(self._store, "r") as store, h5py.File(
                path, "x", libver=("v110", "v110")) as out:
            for name in store[group]:
                store.copy(f"{group}/{name}", out, expand_refs=True)
            for name, value in store[group].attrs.items():
                out.attrs[name] = value

    def resume(self, *, more_steps: int = 0, set: Optional[Mapping[str, Any]] = None,
               device: str = "", threads: int = 0, quiet: bool = True) -> Ensemble:
        """Goes on where systems were stopped; complete ones stay as they are, unless there is more
        to do. `more_steps`: extends the last stage of all systems. `set`: settings of the job by
        their paths, for all systems; not those that vary."""
        functions: List[Any] = []
        sets = _assignments(set, functions)
        if functions:
            raise JobError(_NO_FUNCTIONS)
        _resume(os.fspath(self.folder), sets,
                arguments.whole(more_steps, "more_steps", 0), device, threads, quiet)
        self.__init__(self.folder)
        self._say_if_stopped()
        return self

    def _say_if_stopped(self):
        waiting = self.states.count("")
        if waiting:
            warnings.warn(f"{waiting} systems of {self.folder} were stopped; "
                          "Ensemble.resume() continues them", stacklevel=3)


class Replica:
    """A replica of an ensemble with exchange: what its particles have done, whichever system they
    were in. Made by Ensemble.replica(r).

    Systems write what they have at a step before they exchange there: a row or a frame at the step
    of an exchange is of the replica that was in the system until then.
    """

    def __init__(self, ensemble: Ensemble, r: int) -> None:
        self.ensemble, self.number = ensemble, r
        table = ensemble.exchanges
        if list(table.columns) != [f"system_{k}" for k in range(len(ensemble))]:
            raise JobError(f"the systems of {ensemble.folder} are a Gibbs ensemble: there are no "
                           "replicas")
        if arguments.whole(r, "r", 0) >= len(ensemble):
            raise JobError(f"r: must be at most {len(ensemble) - 1}, got {r}")
        self._steps = table.index.to_numpy()
        held = np.nonzero(table.to_numpy() == r)[1]
        if len(held) != len(table):
            raise JobError(f"{ensemble.folder / 'exchange.csv'}: a row does not have replica {r} "
                           "once")
        self._systems = np.concatenate([[r], held])  # [exchanges before]

    def __repr__(self):
        return f"<perrin.Replica {self.number} of {str(self.ensemble.folder)!r}>"

    @property
    def systems(self) -> Any:
        """The system that it came to, or stayed in, at each exchange (pandas Series by step)."""
        import pandas
        return pandas.Series(self._systems[1:], index=pandas.Index(self._steps, name="step"),
                             name="system")

    def system_at(self, steps: Any) -> np.ndarray:
        """The system that it was in when these steps were made."""
        return self._systems[np.searchsorted(self._steps, np.asarray(steps), side="left")]

    def thermo(self, file: str = "thermo.h5") -> Any:
        """The rows of tables that it has made (pandas DataFrame), with the system of each."""
        import pandas
        parts = []
        for k in np.unique(self._systems):
            table = self.ensemble._table(int(k), file)
            mine = table[self.system_at(table["step"].to_numpy()) == k]
            parts.append(mine.assign(system=int(k)))
        return pandas.concat(parts).sort_values("step", kind="stable", ignore_index=True)

    def frames(self, file: str = "trajectory.h5") -> Iterator[Frame]:
        """The frames of trajectories that it has made, in turn. Images go with the particles:
        Frame.unwrapped is continuous."""
        found = []
        for k in np.unique(self._systems):
            with self.ensemble.trajectory(int(k), file) as trajectory:
                steps = np.asarray(trajectory.steps)
            at = np.nonzero(self.system_at(steps) == k)[0]
            found += [(int(steps[j]), int(k), int(j)) for j in at]
        opened: Dict[int, Trajectory] = {}
        try:
            for _, k, j in sorted(found):
                if k not in opened:
                    opened[k] = self.ensemble.trajectory(k, file)
                yield opened[k][j]
        finally:
            for trajectory in opened.values():
                trajectory.close()


def ensemble(job: Any, *, count: Optional[int] = None, vary: Optional[Mapping[str, Any]] = None,
             exchange: Optional[Mapping[str, Any]] = None, files: Optional[str] = None,
             folder: Union[str, os.PathLike[str]] = "ensemble", device: str = "", threads: int = 0,
             overwrite: bool = False, quiet: bool = True) -> Ensemble:
    """Runs systems of one job beside one another, each with the bits that it has alone.

    `vary` maps paths in the job to a value for each system, {"linear": [first, last]} or
    {"geometric": [first, last]}; seeds differ unless it says otherwise. `exchange`:
    {"every": steps}, replica exchange, or {"type": "gibbs", …}. `files`: "folders", or "one" for
    all in ensemble.h5. Without them the job's own "ensemble" counts. Returns an Ensemble. Raises
    JobError with all mistakes, RunError where a system has failed (the others are complete then:
    perrin.Ensemble(folder) has them).
    """
    file, text = "", ""
    functions = []
    settings = {"count": count, "vary": vary, "exchange": exchange, "files": files}
    settings = {k: _plain(v, functions) for k, v in settings.items() if v is not None}
    if isinstance(job, (str, os.PathLike)) and not settings:
        file = os.fspath(job)
    else:
        if isinstance(job, (str, os.PathLike)):
            from perrin._perrin import job_text
            place, job = os.fspath(job), json.loads(job_text(os.fspath(job)))
            file = place  # its folder is that of the job's inputs
        job = _plain(job, functions)
        if settings:
            job = {**job, "ensemble": {**(job.get("ensemble") or {}), **settings}}
        text = json.dumps(job, indent=1)
    if functions:
        raise JobError(_NO_FUNCTIONS)
    _run(file, text, device, threads, os.fspath(folder), overwrite, quiet)
    result = Ensemble(folder)
    result._say_if_stopped()
    return result
