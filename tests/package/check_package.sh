#!/usr/bin/env bash
# Installs Perrin into a folder of its own, builds the example plug-in against it as a user would,
# and
# runs a job with it.   check_package.sh BUILD_DIR SOURCE_DIR WORK_DIR
set -euo pipefail
build=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work/plugin"
cmake --install "$build" --prefix "$work/prefix" >/dev/null
# The plug-in as its author has it: away from Perrin's tree, and not among the shipped ones.
cp "$source"/plugins/example_force/* "$work/plugin/"
sed -i 's/exponential_repulsion/repulsion_of_mine/; s/"example_force"/"my_force"/' \
  "$work/plugin/example_force.cpp"
sed -i 's/perrin_add_plugin(example_force/perrin_add_plugin(my_force/' "$work/plugin/CMakeLists.txt"
lines=$(wc -l <"$work/plugin/example_force.cpp")
if [ "$lines" -ge 60 ]; then
  echo "the example plug-in has $lines lines; under 60 are promised" >&2
  exit 1
fi
cmake -S "$work/plugin" -B "$work/plugin-build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_BUILD_TYPE=Release \
  ${PERRIN_TEST_CUDA_ARCH:+-DCMAKE_CUDA_ARCHITECTURES=$PERRIN_TEST_CUDA_ARCH} >/dev/null
cmake --build "$work/plugin-build"
cat >"$work/job.json" <<'JOB'
{"seed": 1, "system": {"type": "lattice", "density": 0.5, "cells": [4, 4, 4]},
 "velocity": {"temperature": 1},
 "forces": [{"type": "repulsion_of_mine", "cutoff": 2.5,
             "pairs": [{"types": ["A", "A"], "amplitude": 10, "lambda": 0.5}]}],
 "stages": [{"type": "md", "steps": 20,
             "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}
JOB
export PERRIN_PLUGIN_PATH=$work/plugin-build
cd "$work"
prefix/bin/perrin plugins | grep my_force
prefix/bin/perrin help repulsion_of_mine | grep amplitude
prefix/bin/perrin run job.json --device auto | tail -n 1
# A formula, compiled against what was installed; an example.
sed 's/"repulsion_of_mine"/"pair_formula", "energy": "amplitude*exp(-r\/lambda)"/' job.json \
  >formula.json
PERRIN_CACHE=$work/cache prefix/bin/perrin run formula.json --device auto | tail -n 1
prefix/bin/perrin examples 01 example
prefix/bin/perrin validate example/job.json --output-dir example | tail -n 1
