"""Functions that are evaluated: of Python, math, numpy and itertools, those that only compute."""
import copy
import itertools
import math
import os

import numpy as np

LARGEST = 10 ** 8  # numbers of an array

BUILTINS = {"abs": abs, "all": all, "any": any, "bool": bool, "dict": dict, "divmod": divmod,
            "enumerate": lambda *a: list(enumerate(*a)), "float": float, "int": int, "len": len,
            "list": list, "max": max, "min": min, "pow": lambda a, b: power(a, b),
            "range": lambda *a: bounded_range(*a), "reversed": lambda a: list(reversed(a)),
            "round": round, "set": set, "sorted": sorted, "str": str, "sum": sum, "tuple": tuple,
            "zip": lambda *a: list(zip(*a)), "repr": repr, "frozenset": frozenset}
MATH = {k: getattr(math, k) for k in (
    "acos asin atan atan2 cbrt ceil comb cos cosh degrees e erf exp fabs factorial floor fmod fsum "
    "gcd hypot inf isclose isfinite isinf isnan log log10 log2 pi radians sin sinh sqrt tan tanh "
    "tau trunc").split()
    if hasattr(math, k)}
MATH["pow"] = lambda a, b: power(a, b)
NUMPY = {k: getattr(np, k) for k in (
    "abs absolute all any amax amin append arange arccos arcsin arctan arctan2 around array "
    "asarray cbrt ceil clip column_stack concatenate copy cos cosh cross cumsum deg2rad degrees "
    "diff dot dstack e empty exp expand_dims eye float32 float64 floor full full_like gradient "
    "hstack hypot identity inf int32 int64 linspace log log10 logspace max mean meshgrid min mod "
    "nan newaxis ones ones_like outer pi power prod rad2deg radians ravel repeat reshape rint "
    "round sin sinh sqrt square stack sum tan tanh tile transpose uint32 vstack where zeros "
    "zeros_like").split() if hasattr(np, k)}
SIZED = {"zeros", "ones", "empty", "full", "eye", "identity"}
METHODS = {
    list: {"append", "extend", "insert", "remove", "pop", "index", "count", "copy", "reverse",
           "sort", "clear"},
    dict: {"get", "items", "keys", "values", "update", "pop", "copy", "setdefault"},
    str: {"format", "join", "split", "strip", "replace", "lower", "upper", "startswith",
          "endswith", "rstrip", "lstrip"},
    tuple: {"index", "count"}, set: {"add", "union", "copy"}, float: {"is_integer"},
    np.ndarray: {"tolist", "reshape", "copy", "astype", "flatten", "sum", "min", "max", "mean",
                 "item", "dot", "ravel", "transpose", "repeat", "prod", "fill"},
    np.random.Generator: {"random", "uniform", "normal", "integers", "choice", "shuffle",
                          "permutation", "standard_normal"}}
ATTRIBUTES = {np.ndarray: {"shape", "T", "size", "dtype", "ndim"}, float: {"real"}}
# What prints, draws, measures or stores: the run is the same without it.
HARMLESS = ("print", "matplotlib", "plt", "time", "logging", "warnings", "json", "pickle", "sys",
            "datetime", "csv", "os.makedirs", "os.mkdir", "os.remove", "os.environ", "numpy.save",
            "numpy.savetxt", "numpy.savez", "numpy.random.seed", "random.seed", "gc", "IPython",
            "pathlib", "open", "shutil", "fresnel", "display", "h5py", "freud", "os.chdir",
            "yaml", "subprocess", "signal", "plotly", "seaborn", "pandas", "input")


def power(a, b):
    if isinstance(a, int) and isinstance(b, int) and (abs(b) > 1000 or abs(a) > 10 ** 9):
        a = float(a)
    return a ** b


def bounded_range(*arguments):
    made = range(*[int(a) for a in arguments])
    if len(made) > LARGEST:
        raise ValueError(f"range of {len(made)}")
    return made


def sized(make):
    """A function that makes an array of a shape, with a limit."""
    def bounded(shape, *more, **named):
        if np.prod(np.atleast_1d(shape).astype(float)) > LARGEST:
            raise ValueError(f"an array of {shape}")
        return make(shape, *more, **named)
    return bounded


def function(name):
    """The function or number of this full name, or None."""
    module, _, rest = name.rpartition(".")
    if module == "math":
        return MATH.get(rest)
    if module == "numpy":
        return sized(NUMPY[rest]) if rest in SIZED else NUMPY.get(rest)
    return {"numpy.linalg.norm": np.linalg.norm, "numpy.random.default_rng": np.random.default_rng,
            "itertools.product": lambda *a, **n: list(itertools.product(*a, **n)),
            "itertools.combinations": lambda *a: list(itertools.combinations(*a)),
            "itertools.combinations_with_replacement":
                lambda *a: list(itertools.combinations_with_replacement(*a)),
            "os.path.join": lambda *a: os.path.join(*[str(v) for v in a]),
            "os.path.basename": os.path.basename, "os.path.dirname": os.path.dirname,
            "os.path.splitext": os.path.splitext, "os.path.abspath": lambda p: p,
            "pathlib.Path": str, "copy.deepcopy": copy.deepcopy, "copy.copy": copy.copy,
            "os.getcwd": lambda: ".", "os.path.expandvars": os.path.expandvars,
            "os.path.expanduser": os.path.expanduser}.get(name)


def harmless(name):
    return any(name == h or name.startswith(h + ".") for h in HARMLESS)
