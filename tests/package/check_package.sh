#!/usr/bin/env bash
# Installs Perrin into a folder of its own, begins a plug-in of every kind with `perrin new-plugin`,
# builds them against it as their authors would, and runs the job and the test of each.
#   check_package.sh BUILD_DIR WORK_DIR
set -euo pipefail
build=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cd "$work"
perrin=$work/prefix/bin/perrin
kinds="pair many_body bond angle field force integrator noisy_integrator observer system stage"
for kind in $kinds; do "$perrin" new-plugin $kind my_$kind >/dev/null; done

# What is refused writes nothing.
refused() {
  local expected=$1
  shift
  if "$perrin" new-plugin "$@" >out 2>&1; then echo "not refused: $*" >&2; exit 1; fi
  grep -q -- "$expected" out || { cat out >&2; exit 1; }
}
refused 'did you mean "field"' fild my_other
refused 'lower-case letters' pair My-Force
refused 'a reserved word of C++' pair class
refused 'exists already (perrin help wca)' pair wca
refused 'my_pair exists: nothing was written' bond my_pair
for name in my_other My-Force class wca; do
  if [ -e $name ]; then echo "$name was written" >&2; exit 1; fi
done
"$perrin" completion >out && grep -q new-plugin out
"$perrin" man >out && grep -q new out

# One configuration for all.
{
  echo 'cmake_minimum_required(VERSION 3.25)'
  echo 'project(all LANGUAGES CXX)'
  echo 'find_package(perrin REQUIRED)'
  for kind in $kinds; do echo "add_subdirectory(my_$kind)"; done
} >CMakeLists.txt
generator=()
! command -v ninja >/dev/null || generator=(-G Ninja)
# The compiler cache finds them in any checkout: names are relative to it.
root=$(cd "$here/../.." && pwd)
launcher="env;CCACHE_BASEDIR=$root;CCACHE_NOHASHDIR=1;ccache"
! command -v ccache >/dev/null || generator+=("-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher"
                                              "-DCMAKE_CUDA_COMPILER_LAUNCHER=$launcher")
cmake "${generator[@]}" -S . -B all -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DPERRIN_PYTHON=/usr/bin/python3 \
  ${PERRIN_TEST_CUDA_ARCH:+-DCMAKE_CUDA_ARCHITECTURES=$PERRIN_TEST_CUDA_ARCH} \
  ${PERRIN_TEST_CUDA_FLAGS:+-DCMAKE_CUDA_FLAGS=$PERRIN_TEST_CUDA_FLAGS} >/dev/null
begin=$SECONDS
cmake --build all -j "$(nproc)" >out || { cat out >&2; exit 1; }
echo "plug-ins built in $((SECONDS - begin)) s"
for kind in $kinds; do export PERRIN_PLUGIN_PATH=$work/all/my_$kind:${PERRIN_PLUGIN_PATH:-}; done
"$perrin" plugins >out
[ "$(grep -cE '^    [a-z]+ my_' out)" = 11 ]
"$perrin" help my_pair | grep height
[ "$(ctest --test-dir all -N | grep -c ' Test ')" = 11 ]
ctest --test-dir all --output-on-failure -j "$(nproc)"

# Private headers are not to be had.
echo '#include "neighbor/tiles/tile_loop.h"' >private.cpp
if g++ -std=c++20 -I prefix/include/perrin -fsyntax-only private.cpp 2>out; then exit 1; fi
grep -q 'No such file' out
# What is missing of a potential is said in a sentence.
if g++ -std=c++20 -I prefix/include/perrin -fsyntax-only "$here/wrong_potentials.cpp" 2>out; then
  exit 1
fi
for words in 'a potential needs a line for perrin help' 'the Settings of a potential need' \
  'an angle potential needs: template' 'a field needs: template' \
  'a potential needs a struct Coefficients'; do
  grep -q "static assertion failed: $words" out || { cat out >&2; exit 1; }
done
# So is a forgotten PERRIN_HD, by nvcc.
if [ -n "${PERRIN_TEST_CUDA_ARCH:-}" ]; then
  "$perrin" new-plugin field my_host >/dev/null
  sed -i 's/PERRIN_HD static/static/' my_host/my_host.cpp
  cmake -S my_host -B host -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_CUDA_ARCHITECTURES="$PERRIN_TEST_CUDA_ARCH" >/dev/null
  if cmake --build host >out 2>&1; then exit 1; fi
  grep -q 'calling a __host__ function' out
fi
# A formula, compiled against what was installed; an example.
cat >formula.json <<'JOB'
{"seed": 1, "system": {"type": "lattice", "density": 0.5, "cells": [4, 4, 4]},
 "velocity": {"temperature": 1},
 "forces": [{"type": "pair_formula", "energy": "amplitude*exp(-r/lambda)", "cutoff": 2.5,
             "pairs": [{"types": ["A", "A"], "amplitude": 10, "lambda": 0.5}]}],
 "stages": [{"type": "md", "steps": 20,
             "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}
JOB
PERRIN_CACHE=$work/cache "$perrin" run formula.json --device auto | tail -n 1
"$perrin" examples 01 example
"$perrin" validate example/job.json --output-dir example | tail -n 1
