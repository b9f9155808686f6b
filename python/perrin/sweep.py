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
from perrin.errors import JobError, RunError, warn
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
    """row.json, which is there where the point has been run: its means ("row"), and the part of the
    rows that they leave out ("skip"), where they have been taken. None: it is to be run."""
    try:
        return json.loads(pathlib.Path(folder, "row.json").read_text())
    except FileNotFoundError:
        return None


def _keep(folder, kept):
    part = os.path.join(folder, "row.json.part")
    with open(part, "w") as file:
        json.dump(kept, file)
    os.replace(part, os.path.join(folder, "row.json"))


def _kept_means(folder, skip):
    """None: there are none of this `skip`."""
    kept = _kept(folder) or {}
    return kept.get("row") if kept.get("skip") == skip else None


def _measured(folder, measure, skip):
    """The row of a point that has been run. What `measure` does is not known: its rows are not
    kept."""
    if measure is not None:
        return _plain(dict(measure(folder)), [])
    row = _kept_means(folder, skip)
    if row is None:
        row = _plain(_means(folder, skip), [])
        _keep(folder, {"skip": skip, "row": row})
    return row


def _run_one(job, values, folder, options, anew, measure, skip):
    """The row of a point, which is run unless it has been, or `anew`. Another sweep that runs the
    point is waited for."""
    os.makedirs(folder, exist_ok=True)
    with _alone(folder + ".lock"):
        if anew or _kept(folder) is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, "row.json"))
            run(job, set=values, output_dir=folder, overwrite=True, quiet=True, checkpoint="",
                **options)  # refuses a job without an end
            _keep(folder, {})
        return _measured(folder, measure, skip)


def _run_in_worker(k, *arguments):
    """(point, row), and what was warned of."""
    with warnings.catch_warnings(record=True) as found:
        result = _guarded(k, lambda: _run_one(*arguments))
    return result, [(str(one.message), one.category) for one in found]


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


def _steps_of(path, job):
    """The names and places of a path, whichever way it is written: "a[0].b", "a.0.b",
    '["a"][0].b'; places count from the beginning where the job has them."""
    steps, at = [], job
    for text in re.findall(r'"[^"]*"|[^][."]+', path):
        step = text.strip('"')
        if re.fullmatch(r"-?[0-9]+", step):
            step = int(step)
            if step < 0 and isinstance(at, (list, tuple)):
                step += len(at)
        try:
            at = at[step]
        except (TypeError, KeyError, IndexError):
            at = None
        steps.append(step)
    return steps


def _check_paths(paths, job):
    """No setting has two values in a point."""
    parsed = job if isinstance(job, dict) else json.loads(job_text(os.fspath(job)))
    known = [(path, _steps_of(path, parsed)) for path in paths]
    for (one, of_one), (other, of_other) in itertools.combinations(known, 2):
        both = min(len(of_one), len(of_other))
        if of_one[:both] == of_other[:both]:
            same = "twice" if one == other else f"by {one} and by {other}"
            raise JobError(f"sweep(): a point sets {max(one, other, key=len)} {same}: expected one "
                           "list of values for a setting (a name alone stands for all settings of "
                           "that name)")


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
    gives new points. A point that another sweep is running is waited for. What a PythonForce does
    is not known from the job: all points of a job that has one run in every call.

    `together`: the missing points run as the systems of one ensemble (perrin.ensemble()), on a GPU
    in the same launches, with the same results; JobError if any has a mistake in its job.
    Otherwise `processes` points run at the same time; they end with the calling process.

    A bare name, temperature=[0.8, 1.0], sets every setting of that name in the job: that of the
    velocities and of every thermostat.

    A row has the values, the folder, an error if the point failed (of which a warning tells), and
    the result of measure(folder): by default the means of thermo.h5 with their errors
    ("temperature", "temperature_error"), without the first fraction `skip` of the rows. `measure`
    is called in every sweep, also for points that have been run before; where it fails the run is
    kept.
    `over_seeds`: a row for all points that differ in "seed" alone, with their number ("points"):
    means of their results, and standard errors from how these differ; failed points do not count.
    """
    import pandas
    if together and processes != 1:
        raise JobError("sweep(): processes is for points that do not run together")
    arguments.whole(processes, "sweep(processes)", 1)
    if measure is not None:
        arguments.function(measure, "sweep(measure)")
    skip = arguments.fraction(skip, "sweep(skip)")
    parameters = dict(parameters or {})
    _check_values({**parameters, **names})
    for name, values in names.items():
        paths = _named(job, name)
        parameters[paths] = [(value,) * len(paths) for value in values]
    keys = [k if isinstance(k, tuple) else (k,) for k in parameters]
    _check_paths([path for key in keys for path in key], job)
    choices = [[v if isinstance(k, tuple) else (v,) for v in vs] for k, vs in parameters.items()]
    points, known, functions = [], {}, []
    for combination in itertools.product(*choices):
        values = {p: _plain(v, functions) for path, vs in zip(keys, combination)
                  for p, v in zip(path, vs, strict=True)}
        points.append((values, os.path.join(os.fspath(folder),
                                            _name(job, values, known))))
    if functions:
        raise JobError(f"sweep(): {functions[0]!r} cannot be a value: expected it in the job")
    if isinstance(job, dict):
        _plain(job, functions)
    anew = bool(functions)
    rows = [None if anew or measure else _kept_means(place, skip) for _, place in points]
    missing = [k for k, row in enumerate(rows) if row is None]
    bar = sys.stderr.isatty() if progress is None else progress
    done, failed = len(points) - len(missing), 0
    _show(done, len(points), failed, bar)
    options = {"device": device, "threads": threads}
    how = (options, anew, measure, skip)
    results = (_together(job, points, missing, os.fspath(folder), *how)
               if together else _results(job, points, missing, processes, *how))
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


def _take(system, place, measure, skip):
    """The folder of a system becomes that of the point, unless another sweep has made it."""
    with _alone(place + ".lock"):
        if _kept(place) is None:
            shutil.rmtree(place, ignore_errors=True)
            os.rename(system, place)
            _keep(place, {})
        return _measured(place, measure, skip)


def _together(job, points, missing, folder, options, anew, measure, skip):
    """As _results(), of the systems of one ensemble; with a PythonForce that refuses the job."""
    complete = [] if anew else [k for k in missing if _kept(points[k][1]) is not None]
    for k in complete:
        yield _guarded(k, lambda: _run_one(job, *points[k], options, anew, measure, skip))
    missing = [k for k in missing if k not in complete]
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


def _results(job, points, missing, processes, *how):
    """(point, row) as they come; a point that fails has a row with its error."""
    if processes == 1:
        for k in missing:
            yield _guarded(k, lambda: _run_one(job, *points[k], *how))
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context,
                                                initializer=_end_with_parent) as pool:
        waiting = {pool.submit(_run_in_worker, k, job, *points[k], *how): k for k in missing}
        for future in concurrent.futures.as_completed(waiting):
            k, result = _guarded(waiting[future], future.result)
            if isinstance(result, tuple):  # no error of the worker itself
                (k, result), told = result
                for text, category in told:
                    warn(text, category)
            yield k, result
