"""The Python module with the newest packages of others from PyPI: ASE, signac, freud, MDAnalysis;
PLUMED, where PLUMED_KERNEL names its library.

Usage: check_packages.py WORKFOLDER, with the environment of the test `python`. 77: PyPI cannot be
reached.
"""
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(TESTS), "readers"))
from newest_python import newest_python  # noqa: E402


def main():
    folder = os.path.abspath(sys.argv[1])
    python = newest_python(os.path.join(os.path.dirname(folder), "readers_python"))
    if python is None:
        print("skipped: PyPI cannot be reached")
        return 77
    # Tests skip what is missing: here nothing may be, but PLUMED.
    subprocess.run([python, "-c", "import ase, freud, gsd.hoomd, MDAnalysis, perrin, pytest, "
                    "signac"], check=True)
    chosen = ["test_ase.py", "test_frames.py", "test_interoperability.py", "test_plumed.py",
              "test_files.py::test_readers_of_others"]
    return subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           f"--basetemp={folder}", *(os.path.join(TESTS, name) for name in chosen)]
                          ).returncode


sys.exit(main())
