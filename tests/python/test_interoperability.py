"""The code of docs/guide/interoperability.md, as it stands, where its packages are installed."""
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = {re.findall(r"^(?:import|from) .*\b(ase|signac)\b", text, re.M)[0]: text
          for text in re.findall(r"^```python\n(.*?)^```",
                                 (SOURCE / "docs/guide/interoperability.md").read_text(),
                                 re.M | re.S)}


def run(package, folder):
    pytest.importorskip(package)
    done = subprocess.run([sys.executable, "-c", BLOCKS[package]], cwd=folder, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return [[float(word) for word in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", line)]
            for line in done.stdout.splitlines()]


def test_ase(tmp_path):
    """Argon at 5.3 Å: some -0.08 eV an atom, and pressed less than 0.01 eV/Å³."""
    numbers = sum(run("ase", tmp_path), [])
    assert -0.1 * 256 < numbers[0] < -0.06 * 256
    assert all(abs(stress) < 0.01 for stress in numbers[1:])


def test_signac(tmp_path):
    """Two seeds at one temperature; nothing is run twice."""
    rows = run("signac", tmp_path)
    assert sorted(row[0] for row in rows) == [1, 2]
    for _, pressure, error in rows:
        assert pressure > 1 and 0 < error < pressure / 5
    files = {p: p.stat().st_mtime_ns for p in tmp_path.glob("liquids/workspace/*/thermo.h5")}
    assert len(files) == 4
    assert all((p.parent / "perrin.log").exists() for p in files)
    assert sorted(run("signac", tmp_path)) == sorted(rows)
    assert files == {p: p.stat().st_mtime_ns for p in files}
