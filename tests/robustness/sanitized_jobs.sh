#!/usr/bin/env bash
# Small jobs for a program built with sanitizers: every traversal with two threads, output of all
# kinds, a
# signal, a resume, the plug-ins.   sanitized_jobs.sh PERRIN SOURCE_DIR
set -euo pipefail
perrin=$1 examples=$2/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
run() {
  "$perrin" run "$@" --device cpu --threads 2 --overwrite >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
}

lj=$examples/01-lennard-jones-fluid/job.json
small=(--set 'system.cells=[6,6,6]' --set 'stages[0].steps=60' --set 'stages[1].steps=60'
       --set 'observers[0].stride=10' --set 'observers[1].stride=5')
for traversal in clusters verlet_list cells; do
  run "$lj" "${small[@]}" --set "neighbors.traversal=\"$traversal\""
  echo "$traversal: done"
done
run "$examples/06-binary-mixture/job.json" --time-limit 5
run "$examples/07-polymer-melt/job.json" --time-limit 5
run "$examples/03-block-copolymer/job.json" --time-limit 5
run "$examples/04-metropolis-benzene/job.json" --time-limit 5
run "$examples/05-neutron-slab/job.json" --time-limit 5
run "$examples/08-metropolis-dimers/job.json" --time-limit 5
(cd "$examples/02-ornstein-uhlenbeck" && run job.json --time-limit 5 --output-dir "$work/ou")
echo "examples: done"

# A signal in the middle of writing, and the rest of the run.
rm -f trajectory.h5
"$perrin" run "$lj" "${small[@]}" --set 'stages[1].steps=100000' --device cpu --threads 2 \
  --overwrite >log 2>&1 &
for _ in $(seq 300); do [ ! -f trajectory.h5 ] || break; sleep 0.2; done  # it hears signals by then
sleep 1
kill -TERM $!  # what a script starts beside itself ignores SIGINT
wait $! || { cat log; exit 1; }
grep -q "stopped by SIGTERM" log || { cat log; echo "the signal was not heard" >&2; exit 1; }
"$perrin" resume checkpoint.h5 --time-limit 3 >log 2>&1 || { cat log; exit 1; }
echo "signal and resume: done"
