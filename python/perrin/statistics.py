"""Means of series with errors: blocks, and autocorrelation times."""
from __future__ import annotations

import json
import numbers
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np


class Mean(NamedTuple):
    """Mean of a series: `error` is one standard deviation of the mean, `time` the integrated
    autocorrelation time in rows (0.5: independent), `rows` the number of rows."""

    value: float
    error: float
    time: float
    rows: int


def _numbers(series):
    if np.iscomplexobj(series) or np.ma.is_masked(series):
        raise ValueError("expected a series of numbers, got complex or masked ones")
    return np.asarray(series, dtype=float)


def autocorrelation_time(series: Any) -> float:
    """Integrated autocorrelation time in rows, 1/2 + sum of rho(t), summed to the first t that is
    at least 5 times the sum (A. D. Sokal, Functional Integration (1997), p. 131; U. Wolff, Comput.
    Phys. Commun. 156, 143 (2004)). 0.5 if rows are independent or all equal. At least 2 rows."""
    x = _numbers(series)
    if x.ndim != 1 or len(x) < 2:
        raise ValueError(f"expected a series of at least 2 rows, got shape {x.shape}")
    x = x - x.mean()
    n = len(x)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(x, size)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, size)[:n] / np.arange(n, 0, -1)
    if covariance[0] <= 0:
        return 0.5
    tau = 0.5 + np.cumsum(covariance[1:] / covariance[0])
    window = np.nonzero(np.arange(1, n) >= 5 * tau)[0]
    return float(max(0.5, tau[window[0]] if len(window) else tau[-1]))


def mean(series: Any, blocks: int = 0) -> Mean:
    """Mean of a series with its error: from the autocorrelation time, error² = 2 time variance / n;
    with `blocks`, from the means of `blocks` blocks of equal length (excess rows at the
    beginning are discarded), which must each be much longer than the autocorrelation time."""
    x = _numbers(series)
    time = autocorrelation_time(x)
    if blocks == 0:
        error = np.sqrt(2 * time * x.var(ddof=1) / len(x))
        return Mean(float(x.mean()), float(error), time, len(x))
    if not 2 <= blocks <= len(x):
        raise ValueError(f"blocks must be 2 to {len(x)}, got {blocks}")
    length = len(x) // blocks
    means = x[len(x) - blocks * length:].reshape(blocks, length).mean(axis=1)
    return Mean(float(means.mean()), float(means.std(ddof=1) / np.sqrt(blocks)), time, len(x))


def over_seeds(points: Sequence[Tuple[Mapping[str, Any], Mapping[str, Any]]],
               number: str) -> List[Dict[str, Any]]:
    """Rows of points (values, results) put together where values differ in the seed alone: values,
    how many there are of each (`number`), and of each result that is a number the mean, and its
    standard error from how the points differ ("NAME_error"). Of one point that is its own."""
    groups: Dict[str, Tuple[Mapping[str, Any], List[Mapping[str, Any]]]] = {}
    for values, results in points:
        others = {path: value for path, value in values.items() if path != "seed"}
        groups.setdefault(json.dumps(others, sort_keys=True), (others, []))[1].append(results)
    rows = []
    for values, members in groups.values():
        row: Dict[str, Any] = {**values, number: len(members)}
        names = dict.fromkeys(name for results in members for name in results)
        for name in names:
            if name.endswith("_error") and name[:-len("_error")] in names:
                continue
            found = [results for results in members
                     if isinstance(results.get(name), numbers.Real) and
                     np.isfinite(results[name])]
            if not found:
                continue
            x = np.array([results[name] for results in found], dtype=float)
            row[name] = x.mean()
            row[name + "_error"] = (x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1
                                    else found[0].get(name + "_error", np.nan))
        rows.append(row)
    return rows
