"""The tutorials, which judge themselves: each runs as a plain script. Where there is no matplotlib
their plots are left out."""
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import DEVICE

SOURCES = sorted((pathlib.Path(__file__).resolve().parents[2] / "docs/tutorials").glob("*.py"))
# Formulas as tables: what nvcc makes of them takes a minute, and is test_formulas.py's matter.
SETTINGS = {"MPLBACKEND": "Agg", "PERRIN_COMPILER": "none"}
RUN = """
import importlib.util, runpy, sys, unittest.mock
if importlib.util.find_spec("matplotlib") is None:
    for name in ("matplotlib", "matplotlib.pyplot"):
        sys.modules[name] = unittest.mock.MagicMock()
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def test_there_are_tutorials():
    assert len(SOURCES) == 7


@pytest.mark.skipif(DEVICE != "cpu", reason="they choose their device themselves")
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_tutorial(source, tmp_path):
    done = subprocess.run([sys.executable, "-c", RUN, source], cwd=tmp_path, capture_output=True,
                          text=True, env={**os.environ, **SETTINGS})
    assert done.returncode == 0, done.stdout + done.stderr
