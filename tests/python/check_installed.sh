#!/usr/bin/env bash
# Installs the package away from the build, and runs it there:
#   check_installed.sh PYTHON BUILD FOLDER
set -euo pipefail
python=$1 build=$2 folder=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$folder"
cmake --install "$build" --prefix "$folder" >/dev/null
cd "$folder"
export PYTHONPATH=$(echo "$folder"/lib*/python)
FOLDER=$folder "$python" - <<'EOF'
import os, perrin
folder = os.path.realpath(os.environ["FOLDER"])
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1] for line in maps if "libperrin" in line}
assert loaded and all(path.startswith(folder) for path in loaded), loaded
assert "langevin" in dir(perrin.integrator)
EOF
PERRIN=$folder/bin/perrin "$python" -m pytest -q -p no:cacheprovider --basetemp="$folder/tests" \
  "$source/tests/python/test_run.py"
