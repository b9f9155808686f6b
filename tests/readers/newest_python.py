"""A Python with the newest packages of others from PyPI, in the build folder."""
import fcntl
import os
import shutil
import subprocess
import sys

PACKAGES = ["MDAnalysis", "h5py", "gsd", "freud-analysis", "mdtraj", "ase", "pandas", "ovito",
            "pytest", "signac"]
UNREACHABLE = ("Could not find a version", "Connection", "Temporary failure", "timed out")


def newest_python(folder):
    """Its path; None where PyPI cannot be reached."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        venv = os.path.join(folder, "venv")
        python = os.path.join(venv, "bin", "python")
        ready = os.path.join(venv, "ready " + " ".join(PACKAGES))
        if os.path.exists(ready):
            return python
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES],
                              capture_output=True, text=True)
        if done.returncode != 0:
            assert any(text in done.stderr for text in UNREACHABLE), done.stderr
            return None
        open(ready, "w").close()
    return python
