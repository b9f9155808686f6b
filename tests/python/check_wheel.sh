#!/usr/bin/env bash
# Installs a wheel into a fresh virtual environment and runs the tests and examples of the package
# there, with the program that comes with it:
#   check_wheel.sh WHEEL [PYTHON]
set -euo pipefail
wheel=$(realpath "$1") python=${2:-/usr/bin/python3}
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check "$wheel[files]" pytest
cd "$folder"
unset LD_LIBRARY_PATH PYTHONPATH
VENV=$folder/venv venv/bin/python - <<'EOF'
import os
import perrin
venv = os.path.realpath(os.environ["VENV"])
perrin.cuda_count()
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1] for line in maps if "/lib" in line and (
        "perrin" in line or "hdf5" in line or "fmt" in line or "cudart" in line)}
assert loaded and all(path.startswith(venv) for path in loaded), loaded
assert "langevin" in dir(perrin.integrator)
EOF
venv/bin/perrin info
PERRIN=$folder/venv/bin/perrin PYTHONDONTWRITEBYTECODE=1 venv/bin/python -m pytest -q \
  -p no:cacheprovider --basetemp="$folder/tests" "$source/tests/python"
