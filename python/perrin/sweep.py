"""Parameter scans: one job, many values."""
from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import hashlib
import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import re
import shutil
import signal
import sys
import threading
import traceback
import warnings
from typing import Any, Callable, Mapping, Optional, Union

from perrin import arguments, statistics
from perrin._perrin import job_text
from perrin.ensemble import Ensemble, ensemble
from perrin.errors import JobError, RunError
from perrin.progress import drawn
from perrin.simulation import _plain, run
from perrin.statistics import mean
from perrin.trajectory import thermo


def _means(folder, skip):
    """Means and errors of thermo.h5, without the first part `skip` of its rows."""
    path = pathlib.Path(folder, "thermo.h5")
    if not path.exists():
        return {}
    table = thermo(path)
    table = table[int(skip * len(table)):]
    row = {}
    for name in table.columns.difference(["step", "time"], sort=False):
        if len(table) >= 2:
            m = mean(table[name])
            row[name], row[name + "_error"] = m.value, m.error
    return row


@contextlib.contextmanager
def _alone(path):
    """Locks the file of this name, which is removed at the end; waits while another process has it.
    The lock ends with the process that has it. Without effect where files have no locks."""
    while True:
        file = open(path, "a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                break
        except FileNotFoundError:  # whoever had it before has removed it
            pass
        except OSError:
            break
        except BaseException:
            file.close()
            raise
        file.close()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        file.close()


def _kept(folder):
    try:
        return json.loads(pathlib.Path(folder, "row.json").read_text())
    except FileNotFoundError:
        return None


def _run_one(job, values, folder, options, measure, skip):
    """Runs a point; its row is kept in row.json, behind which it is not run again. Another sweep
    that runs the point is waited for, and its row taken."""
    os.makedirs(folder, exist_ok=True)
    with _alone(folder + ".lock"):
        if (row := _kept(folder)) is not None:
            return row
        run(job, set=values, output_dir=folder, overwrite=True, quiet=True, checkpoint="",
            **options)  # refuses a job without an end
        return _keep(folder, measure, skip)


def _end_with_parent():
    """In a worker: it ends when the process that has started it does, whatever it is doing."""
    def watch(sentinel):
        multiprocessing.connection.wait([sentinel])
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=watch, args=(multiprocessing.parent_process().sentinel,),
                     daemon=True).start()


def _texts(value, key=""):
    """The texts in a job, or in values for it, but for names of outputs."""
    if isinstance(value, dict):
        for name, v in value.items():
            if name != "observers":
                yield from _texts(v, name)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _texts(v, key)
    elif isinstance(value, str):
        yield value


def _inputs(job, values, known):
    """Names and hashes of the files that a point reads: of all texts of the job that name a file.
    `known`: hashes that are known already."""
    if isinstance(job, dict):
        place, parsed = ".", _plain(job, [])
    else:
        place = os.path.dirname(os.fspath(job))
        try:
            parsed = json.loads(job_text(os.fspath(job)))
        except (JobError, ValueError):
            parsed = {}  # the run says what is wrong
    found = {}
    for text in {*_texts(parsed), *_texts(values)}:
        path = os.path.join(place, text)
        if not text or "\0" in text or not os.path.isfile(path):
            continue
        if path not in known:
            digest = hashlib.sha256()
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            known[path] = digest.hexdigest()
        found[text] = known[path]
    return found


def _name(job, values, known):
    what = [_plain(job, []) if isinstance(job, dict) else pathlib.Path(job).read_text(), values]
    if inputs := _inputs(job, values, known):
        what.append(inputs)
    text = json.dumps(what, sort_keys=True)
    return readable(values) + hashlib.sha256(text.encode()).hexdigest()[:12]


def readable(values):
    """"temperature=0.8,seed=1-": the values of a point for the name of its folder."""
    said = dict.fromkeys(f"{re.split(r'[.]', path)[-1]}={value}" for path, value in values.items()
                         if isinstance(value, (int, float, str, bool)))
    text = re.sub(r"[^A-Za-z0-9_.,=+-]", "", ",".join(said))[:60]
    return f"{text}-" if text else ""


def _show(done, total, failed, bar):
    if not bar:
        return
    text = f"\r{drawn(done / max(total, 1))} {done} of {total}"
    print(text + (f", {failed} failed" if failed else ""), end="" if done < total else "\n",
          file=sys.stderr, flush=True)


def _paths(job, name, at=""):
    """Of all settings of this name in the job."""
    if isinstance(job, dict):
        for key, value in job.items():
            path = f"{at}.{key}" if at else str(key)
            if key == name:
                yield path
            else:
                yield from _paths(value, name, path)
    elif isinstance(job, (list, tuple)):
        for k, value in enumerate(job):
            yield from _paths(value, name, f"{at}[{k}]")


def _named(job, name):
    paths = tuple(_paths(job if isinstance(job, dict) else json.loads(job_text(os.fspath(job))),
                         name))
    if not paths:
        raise JobError(f'sweep(): the job has no setting "{name}"; give a path in a '
                       'dict, {"velocity.temperature": [0.8, 1.0]}')
    return paths


def _check_values(parameters):
    for name, values in parameters.items():
        if (isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__") or
                not hasattr(values, "__len__") or len(values) == 0):
            raise JobError(f"sweep(): {name}: must be a list of at least one value, got {values!r}")


def sweep(job: Any, parameters: Optional[Mapping[Any, Any]] = None, *,
          folder: Union[str, os.PathLike[str]] = "sweep", processes: int = 1, device: str = "",
          threads: int = 0, together: bool = False,
          measure: Optional[Callable[[str], Mapping[str, Any]]] = None, skip: float = 0.2,
          progress: Optional[bool] = None, over_seeds: bool = False, **names: Any) -> Any:
    """Runs a job for all combinations of values, and returns one table (pandas DataFrame).

    `parameters` maps paths in the job to values: {"velocity.temperature": [0.8, 1.0],
    ("forces[0].pairs[0].epsilon", "seed"): [(1, 1), (2, 2)]}; paths in a tuple change together.
    Each point runs in a separate folder below `folder`, named by its values and a hash of the job,
    the values and the contents of the files that the job reads: an interrupted sweep continues
    with the missing points, a sweep with more values runs only the new ones, and a changed file
    gives new points. A point that another sweep is running is waited for.

    `together`: the missing points run as the systems of one ensemble (perrin.ensemble()), on a GPU
    in the same launches, with the same results; JobError if any has a mistake in its job.
    Otherwise `processes` points run at the same time; they end with the calling process.

    A bare name, temperature=[0.8, 1.0], sets every setting of that name in the job: that of the
    velocities and of every thermostat.

    A row has the values, the folder, an error if the point failed (of which a warning tells), and
    the result of measure(folder): by default the means of thermo.h5 with their errors
    ("temperature", "temperature_error"), without the first fraction `skip` of the rows.
    `over_seeds`: a row for all points that differ in "seed" alone, with their number ("points"):
    means of their results, and standard errors from how these differ; failed points do not count.
    """
    import pandas
    if together and processes != 1:
        raise JobError("sweep(): processes is for points that do not run together")
    arguments.whole(processes, "sweep(processes)", 1)
    if measure is not None:
        arguments.function(measure, "sweep(measure)")
    parameters = dict(parameters or {})
    _check_values({**parameters, **names})
    for name, values in names.items():
        paths = _named(job, name)
        parameters[paths] = [(value,) * len(paths) for value in values]
    keys = [k if isinstance(k, tuple) else (k,) for k in parameters]
    choices = [[v if isinstance(k, tuple) else (v,) for v in vs] for k, vs in parameters.items()]
    points, known = [], {}
    for combination in itertools.product(*choices):
        values = {p: _plain(v, []) for path, vs in zip(keys, combination)
                  for p, v in zip(path, vs, strict=True)}
        points.append((values, os.path.join(os.fspath(folder),
                                            _name(job, values, known))))
    rows = [None] * len(points)
    missing = []
    for k, (_, place) in enumerate(points):
        rows[k] = _kept(place)
        if rows[k] is None:
            missing.append(k)
    bar = sys.stderr.isatty() if progress is None else progress
    done, failed = len(points) - len(missing), 0
    _show(done, len(points), failed, bar)
    options = {"device": device, "threads": threads}
    results = (_together(job, points, missing, os.fspath(folder), options, measure, skip)
               if together else _results(job, points, missing, processes, options, measure, skip))
    for k, result in results:
        rows[k] = result
        done, failed = done + 1, failed + ("error" in result)
        _show(done, len(points), failed, bar)
    if failed:
        first = next(row["error"] for row in rows if "error" in row)
        warnings.warn(f"sweep(): {failed} of {len(points)} points failed (column \"error\"), the "
                      f"first one by {first}", stacklevel=2)
    if over_seeds:
        return pandas.DataFrame(statistics.over_seeds(
            [(values, row) for (values, _), row in zip(points, rows)], "points"))
    return pandas.DataFrame([{**values, "folder": place, **row}
                             for (values, place), row in zip(points, rows)])


def _guarded(k, get):
    try:
        return k, get()
    except Exception as error:  # the others go on
        return k, {"error": "".join(traceback.format_exception_only(error)).strip()}


def _keep(folder, measure, skip):
    row = _plain(dict(measure(folder) if measure else _means(folder, skip)), [])
    part = os.path.join(folder, "row.json.part")
    with open(part, "w") as file:
        json.dump(row, file)
    os.replace(part, os.path.join(folder, "row.json"))
    return row


def _take(system, place, measure, skip):
    """The folder of a system becomes that of the point, unless another sweep has made it."""
    with _alone(place + ".lock"):
        if (row := _kept(place)) is not None:
            return row
        shutil.rmtree(place, ignore_errors=True)
        os.rename(system, place)
        return _keep(place, measure, skip)


def _together(job, points, missing, folder, options, measure, skip):
    """As _results(), of the systems of one ensemble."""
    if not missing:
        return
    vary = {path: [points[k][0][path] for k in missing] for path in points[missing[0]][0]}
    parsed = job if isinstance(job, dict) else json.loads(job_text(os.fspath(job)))
    if "ensemble" in parsed:
        raise JobError("the job has an \"ensemble\" itself: a sweep varies a job of one system")
    if "seed" in parsed:
        vary.setdefault("seed", [parsed["seed"]] * len(missing))  # as alone
    os.makedirs(folder, exist_ok=True)
    place = os.path.join(folder, "together")
    with _alone(place + ".lock"):
        shutil.rmtree(place, ignore_errors=True)
        try:
            ensemble(job, count=len(missing), vary=vary, folder=place, **options)
        except RunError:
            pass  # of some systems, which say why
        finally:  # what is complete is kept, whatever ended the others
            made = []
            if os.path.exists(os.path.join(place, "ensemble.json")):
                ended = Ensemble(place)
                states, errors = ended.states, ended.errors
                for n, k in enumerate(missing):
                    if states[n] == "complete":
                        made.append(_guarded(k, lambda: _take(ended[n], points[k][1], measure,
                                                              skip)))
                    else:
                        made.append((k, {"error": errors.get(n, "was stopped")}))
        shutil.rmtree(place, ignore_errors=True)
    yield from made


def _results(job, points, missing, processes, options, measure, skip):
    """(point, row) as they come; a point that fails has a row with its error."""

    if processes == 1:
        for k in missing:
            yield _guarded(k, lambda: _run_one(job, *points[k], options, measure, skip))
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context,
                                                initializer=_end_with_parent) as pool:
        waiting = {pool.submit(_run_one, job, *points[k], options, measure, skip): k
                   for k in missing}
        for future in concurrent.futures.as_completed(waiting):
            yield _guarded(waiting[future], future.result)
