"""The examples, which judge themselves, and the code of docs/guide/python.md."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("script", ["metadynamics.py", "neural.py"])
def test_example(script, tmp_path):
    done = subprocess.run([sys.executable, SOURCE / "examples/14-python" / script], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_document(tmp_path):
    """All blocks of docs/guide/python.md in order, as one program."""
    text = (SOURCE / "docs/guide/python.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert os.path.exists(tmp_path / "trajectory.h5")
