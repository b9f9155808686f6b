"""Parameter scans: one job, many values."""
from __future__ import annotations

import concurrent.futures
import hashlib
import itertools
import json
import multiprocessing
import os
import pathlib
import sys
import traceback

import numpy as np

from perrin._perrin import job_text
from perrin.errors import JobError
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


def _run_one(job, values, folder, options, measure, skip):
    """Runs a point; its row is kept in row.json, behind which it is not run again."""
    os.makedirs(folder, exist_ok=True)
    run(job, set=values, output_dir=folder, overwrite=True, quiet=True, checkpoint="", **options)
    row = _plain(dict(measure(folder) if measure else _means(folder, skip)), [])
    part = os.path.join(folder, "row.json.part")
    with open(part, "w") as file:
        json.dump(row, file)
    os.replace(part, os.path.join(folder, "row.json"))
    return row


def _name(job, values):
    text = json.dumps([_plain(job, []) if isinstance(job, dict) else
                       pathlib.Path(job).read_text(), values], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _show(done, total, failed, bar):
    if not bar:
        return
    width = 30
    filled = width * done // max(total, 1)
    text = f"\r[{'#' * filled}{'.' * (width - filled)}] {done} of {total}"
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
        raise JobError(f'sweep(): the job has no setting "{name}"; a path in it is given in a '
                       'dict, {"velocity.temperature": [0.8, 1.0]}')
    return paths


def sweep(job, parameters=None, *, folder="sweep", processes=1, device="", threads=0,
          measure=None, skip=0.2, progress=None, **names):
    """Runs a job for all combinations of values, and returns one table (pandas DataFrame).

    `parameters` maps paths in the job to values: {"velocity.temperature": [0.8, 1.0],
    ("forces[0].pairs[0].epsilon", "seed"): [(1, 1), (2, 2)]}; paths in a tuple change together.
    Each point runs in a folder of its own below `folder`, whose name follows from job and values:
    a sweep that was interrupted goes on with what is missing, one with more values runs those
    alone. `processes` points run side by side, which a small system on a GPU gains from, too.

    A name alone, temperature=[0.8, 1.0], stands for all settings of that name in the job: that of
    the velocities and of every thermostat.

    A row has the values, the folder, an error where the point failed, and what measure(folder)
    returns: by default the means of thermo.h5 without the first part `skip` of its rows, with
    their errors ("temperature", "temperature_error").
    """
    import pandas
    parameters = dict(parameters or {})
    for name, values in names.items():
        paths = _named(job, name)
        parameters[paths] = [(value,) * len(paths) for value in values]
    keys = [k if isinstance(k, tuple) else (k,) for k in parameters]
    choices = [[v if isinstance(k, tuple) else (v,) for v in vs] for k, vs in parameters.items()]
    points = []
    for combination in itertools.product(*choices):
        values = {p: _plain(v, []) for path, vs in zip(keys, combination)
                  for p, v in zip(path, vs, strict=True)}
        points.append((values, os.path.join(os.fspath(folder), _name(job, values))))
    rows = [None] * len(points)
    missing = []
    for k, (_, place) in enumerate(points):
        kept = pathlib.Path(place, "row.json")
        if kept.exists():
            rows[k] = json.loads(kept.read_text())
        else:
            missing.append(k)
    bar = sys.stderr.isatty() if progress is None else progress
    done, failed = len(points) - len(missing), 0
    _show(done, len(points), failed, bar)
    options = {"device": device, "threads": threads}
    for k, result in _results(job, points, missing, processes, options, measure, skip):
        rows[k] = result
        done, failed = done + 1, failed + ("error" in result)
        _show(done, len(points), failed, bar)
    return pandas.DataFrame([{**values, "folder": place, **row}
                             for (values, place), row in zip(points, rows)])


def _results(job, points, missing, processes, options, measure, skip):
    """(point, row) as they come; a point that fails has a row with its error."""
    def guarded(k, get):
        try:
            return k, get()
        except Exception as error:  # the others go on
            return k, {"error": "".join(traceback.format_exception_only(error)).strip()}

    if processes == 1:
        for k in missing:
            yield guarded(k, lambda: _run_one(job, *points[k], options, measure, skip))
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = {pool.submit(_run_one, job, *points[k], options, measure, skip): k
                   for k in missing}
        for future in concurrent.futures.as_completed(waiting):
            yield guarded(waiting[future], future.result)
