#!/usr/bin/python3
"""Speed of LAMMPS `pppm`, beside Perrin's `ewald` on a mesh, with multiple time steps, too:

    lammps_charges.py PERRIN LMP [IONS [CUTOFF [THREADS [REPEATS]]]]     default: 8000 4 2 3

needs h5py and numpy. On several threads LAMMPS runs as so many processes (-sf opt), started by what
MPIEXEC says (default: "mpirun --allow-run-as-root --oversubscribe"; it must be that of LAMMPS's
MPI), and as one process of so many threads (-sf omp).
Ions ±1 with soft cores, density 0.5, Bjerrum length 1, temperature 1, accuracy 1e-4 of both, orders
6 and 5, the same cut-off: Perrin makes 500 steps, then all make steps at constant energy from its
last frame, in turn, REPEATS times. Prints JSON: milliseconds of a step, the least of the repeats,
and how loaded the machine was: of CPU time on one thread, else by the clock. PERRIN may be several
programs, separated by commas.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

PROGRAMS, LMP = [os.path.abspath(p) for p in sys.argv[1].split(",")], os.path.abspath(sys.argv[2])
IONS = int(sys.argv[3]) if len(sys.argv) > 3 else 8000
CUTOFF = float(sys.argv[4]) if len(sys.argv) > 4 else 4.0
THREADS = int(sys.argv[5]) if len(sys.argv) > 5 else 2
REPEATS = int(sys.argv[6]) if len(sys.argv) > 6 else 3
STEPS = max(24, 800000 // IONS // 8 * 8)
CORE = 2 ** (1 / 6)


def perrin(program, steps, start=None, slow=1):
    """Seconds of a run; leaves the last frame in a folder."""
    edge = round(IONS ** (1 / 3))
    system = {"type": "lattice", "structure": "sc", "density": 0.5, "cells": [edge] * 3,
              "types": {"P": 1, "M": 1}}
    if start:
        system = {"type": "file", "path": start, "frame": -1}
    bath = {} if start else {"temperature": 1, "friction": 1}
    stage = {"type": "md", "steps": steps, "integrator": {
        "type": "langevin" if not start else "velocity_verlet", "timestep": 0.005, **bath}}
    if slow > 1:
        stage["slow_force_stride"] = slow
    job = {"seed": 1, "system": system,
           "attributes": {"charge": {"types": {"P": 1, "M": -1}}},
           "forces": [{"type": "wca", "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                                for t in ("PP", "PM", "MM")]},
                      {"type": "ewald", "cutoff": CUTOFF, "accuracy": 1e-4, "mesh": {}}],
           "observers": [{"type": "trajectory", "stride": steps, "precision": "double",
                          "quantities": ["position", "velocity"]}],
           "stages": [stage]}
    if not start:
        job["velocity"] = {"temperature": 1}
    with open("job.json", "w") as out:
        json.dump(job, out)
    used = lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    before, began = used(), time.perf_counter()
    subprocess.run([program, "run", "job.json", "--overwrite", "--quiet", "--device", "cpu",
                    "--threads", str(THREADS), "--output-dir", "again" if start else "out"],
                   check=True)
    return used() - before if THREADS == 1 else time.perf_counter() - began


def milliseconds(program, slow=1):
    """Of a step: a long run less a short one."""
    few = 8
    seconds = [perrin(program, n, "out/trajectory.h5", slow) for n in (few, few + STEPS)]
    return 1000 * (seconds[1] - seconds[0]) / STEPS


def lammps(threads, accuracy=1e-4):
    """`threads`: of one process; else processes."""
    with h5py.File("out/trajectory.h5") as file:
        particles = file["particles/all"]
        x, v = particles["position/value"][-1], particles["velocity/value"][-1]
        edges = particles["box/edges"]
        edge = float(numpy.ravel(edges["value"] if isinstance(edges, h5py.Group) else edges)[0])
        kind = particles["species"][:]
    kind = kind - kind.min() + 1
    with open("start.data", "w") as out:
        out.write(f"ions\n\n{len(x)} atoms\n2 atom types\n\n0 {edge!r} xlo xhi\n"
                  f"0 {edge!r} ylo yhi\n0 {edge!r} zlo zhi\n\nMasses\n\n1 1\n2 1\n\n"
                  "Atoms # charge\n\n")
        for k, (r, t) in enumerate(zip(x % edge, kind)):
            out.write(f"{k + 1} {t} {1 if t == 1 else -1} {r[0]:.9g} {r[1]:.9g} {r[2]:.9g}\n")
        out.write("\nVelocities\n\n")
        for k, u in enumerate(v):
            out.write(f"{k + 1} {u[0]:.9g} {u[1]:.9g} {u[2]:.9g}\n")
    with open("in.ions", "w") as out:
        out.write(f"""units lj
atom_style charge
read_data start.data
pair_style lj/cut/coul/long {CORE} {CUTOFF}
pair_coeff * * 1 1
pair_modify shift yes
kspace_style pppm {accuracy}
neighbor 0.3 bin
neigh_modify every 1 delay 5 check yes
timestep 0.005
fix 1 all nve
thermo {STEPS}
run {STEPS}
""")
    start = os.environ.get("MPIEXEC", "mpirun --allow-run-as-root --oversubscribe").split()
    start = [*start, "-np", str(THREADS)] if THREADS > 1 and not threads else []
    way = ["-sf", "omp", "-pk", "omp", str(THREADS)] if threads else ["-sf", "opt"]
    done = subprocess.run([*start, LMP, "-in", "in.ions", *way],
                          check=True, capture_output=True, text=True).stdout
    if THREADS > 1 and not threads and f"on {THREADS} procs" not in done:
        raise SystemExit(f"LAMMPS did not run as {THREADS} processes: MPIEXEC is of another MPI")
    seconds = float(re.search(r"Loop time of ([\d.e+-]+)", done).group(1))
    if THREADS == 1:
        seconds *= float(re.search(r"([\d.]+)% CPU use", done).group(1)) / 100
    return 1000 * seconds / STEPS


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        perrin(PROGRAMS[-1], 500)
        ways = {f"perrin {k}": lambda p=p: milliseconds(p) for k, p in enumerate(PROGRAMS)}
        for slow in (2, 4):
            ways[f"slow_force_stride {slow}"] = lambda n=slow: milliseconds(PROGRAMS[-1], n)
        ways["pppm"] = lambda: lammps(False)
        if THREADS > 1:
            ways["pppm, threads"] = lambda: lammps(True)
        found = {name: [] for name in ways}
        for _ in range(REPEATS):
            for name, run in ways.items():
                found[name].append(run())
    print(json.dumps({"ions": IONS, "cutoff": CUTOFF, "threads": THREADS, "steps": STEPS,
                      "load": os.getloadavg()[0],
                      "milliseconds": {name: round(min(t), 3) for name, t in found.items()},
                      "all": {name: [round(x, 3) for x in t] for name, t in found.items()}}))


main()
