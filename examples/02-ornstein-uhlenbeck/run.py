#!/usr/bin/env python3
"""Runs the oscillators once for every random number generator: run.py [--device cuda] [--timestep
NS]."""
import argparse
import pathlib
import subprocess
import sys
import time

GENERATORS = ["saru", "tea", "sarutea", "philox", "threefry", "hybrid_taus", "ran2", "lcg",
              "park_miller", "mt607", "lagged_fibonacci"]
FRAMES = 520

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--perrin", default="perrin", help="the program")
options.add_argument("--device", default="auto")
options.add_argument("--timestep", type=float, default=0.001, help="ns; the experiment's: 0.001")
options.add_argument("--duration", type=float, default=13000.0,
                     help="ns; 13000 are 7.8 relaxation times")
options.add_argument("--particles", type=int, default=10000)
options.add_argument("--seed", type=int, default=1)
options.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out"))
options.add_argument("generators", nargs="*", default=GENERATORS)
options = options.parse_args()

here = pathlib.Path(__file__).resolve().parent
options.output.mkdir(parents=True, exist_ok=True)
positions = (options.output / "start.xyz").resolve()
with open(positions, "w") as start:
    start.write(f"{options.particles}\n")
    start.write('Lattice="400 0 0 0 400 0 0 0 400" Origin="-200 -200 -200" pbc="T T T" '
                "Properties=species:S:1:pos:R:3\n")
    start.write("A 10 0 0\n" * options.particles)

steps = round(options.duration / options.timestep)
for generator in options.generators:
    begin = time.time()
    command = [options.perrin, "run", str(here / "job.json"), "--overwrite", "--quiet",
               "--device", options.device, "--output-dir", str(options.output / generator)]
    for setting in (f"system.path={positions}", f"stages[0].integrator.rng={generator}",
                    f"stages[0].integrator.timestep={options.timestep}",
                    f"stages[0].steps={steps}", f"seed={options.seed}",
                    f"observers[0].stride={max(1, steps // FRAMES)}"):
        command += ["--set", setting]
    if subprocess.run(command).returncode != 0:
        sys.exit(f"run.py: {' '.join(command)} failed")
    print(f"{generator:18s} {time.time() - begin:8.1f} s", flush=True)
