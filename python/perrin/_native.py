"""Loads the native module, and says what is wrong where that fails."""
import glob
import os
import subprocess
import sys


def _library(module):
    """The libperrin that the module finds, as ldd tells it."""
    try:
        lines = subprocess.run(["ldd", module], capture_output=True, text=True).stdout.splitlines()
    except OSError:
        return "libperrin"
    found = [line.split("=>")[1].split(" (")[0].strip() for line in lines
             if "libperrin" in line and "=>" in line]
    return found[0] if found and found[0] != "not found" else "libperrin"


def _reason(error):
    """A better text for what went wrong; empty: there is none."""
    folder = os.path.dirname(os.path.abspath(__file__))
    modules = sorted(glob.glob(os.path.join(folder, "_perrin.*.so")))
    if not modules:
        return (f"{folder}: the compiled module _perrin is not here: expected an installed package "
                "(pip install .) or PYTHONPATH=BUILD/python of a build with PERRIN_PYTHON_MODULE")
    if isinstance(error, ModuleNotFoundError):
        names = ", ".join(os.path.basename(module) for module in modules)
        return (f"{folder}: got {names}, expected a module for Python "
                f"{sys.version_info[0]}.{sys.version_info[1]}")
    # The module checks its build itself, but the dynamic linker may refuse it before.
    if "undefined symbol" in str(error):
        return (f"{modules[0]} and {_library(modules[0])} are of different builds of Perrin: "
                "install both from the same build, and see that LD_LIBRARY_PATH names no other "
                f"libperrin ({error})")
    return ""


try:
    from perrin import _perrin  # noqa: F401
except ImportError as error:
    reason = _reason(error)
    if not reason:
        raise
    raise ImportError(reason) from None
