"""The statistics of `perrin report`, computed anew with numpy from their definitions."""

import numpy as np


def block_errors(x):
    """Errors of the mean with blocks of 1, 2, 4, … rows (Flyvbjerg, Petersen 1989, eq. 20, 27)."""
    errors = []
    while len(x) >= 4:
        errors.append(np.std(x, ddof=1) / np.sqrt(len(x)))
        x = x[: len(x) // 2 * 2].reshape(-1, 2).mean(axis=1)
    return np.array(errors)


def blocked_error(x):
    """The error of the smallest block B with B^3 > 2 n (e_B / e_1)^4 (Lee et al. 2011)."""
    errors = block_errors(x)
    size = 2.0 ** np.arange(len(errors))
    growth = errors / errors[0] if errors[0] > 0 else np.ones(len(errors))
    good = size**3 > 2 * len(x) * growth**4
    return errors[np.argmax(good)] if good.any() else errors.max()


def inefficiency(x):
    """1 + 2 sum (1 - t/n) C(t), up to the first C(t) <= 0 behind t = 3."""
    d = x - x.mean()
    n = len(d)
    c = np.correlate(d, d, "full")[n - 1:] / (n - np.arange(n)) / np.mean(d * d)
    stop = [t for t in range(4, n - 1) if c[t] <= 0]
    t = np.arange(1, stop[0] if stop else n - 1)
    return max(1.0, 1 + 2 * np.sum(c[t] * (1 - t / n)))


def start(x):
    """(row, inefficiency) as series_statistics.h describes them."""
    half = x[len(x) - len(x) // 2:]
    far = np.abs(x[: len(x) // 2] - half.mean()) > 5 * half.std()
    wild = len(far) if far.all() else int(np.argmin(far))
    x = x[wild:]
    for most in (512, 4096):  # the finer only where the coarser is not correlated over much of it
        width = -(-len(x) // most)
        coarse = x[: len(x) // width * width].reshape(-1, width).mean(axis=1)
        if inefficiency(coarse) >= 32:
            break
    n = len(coarse)
    places = sorted({n * k // 64 for k in range(64)})
    places = [p for p in places if n - p >= 8]
    g = [inefficiency(coarse[p:]) for p in places]
    best = int(np.argmax([(n - p) / one for p, one in zip(places, g)]))
    rest = x[places[best] * width:]
    ratio = coarse[places[best]:].var() / rest.var() if width > 1 else 1
    return wild + places[best] * width, max(1.0, g[best] * width * ratio)
