"""What Python costs beside the program: a line of JSON for each subject.

    PERRIN=BUILD/bin/perrin PYTHONPATH=BUILD/python python_overhead.py [--device cpu|cuda]
        [--cells 10] [--steps 20000] [--turns 5]

Times are the least of some turns, in microseconds: of a step, or of a call beside the step. On the
CPU one thread is used. Program and Python begin with the same first steps; the others are in the
middle of a run, on the CPU by processor time. Forces by PyTorch where it is installed."""
import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
import time

import perrin

try:
    import torch
except ImportError:
    torch = None


def job(device, cells, steps, forces=()):
    lj = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
          "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
    return {"seed": 1, "device": device,
            "system": {"type": "lattice", "structure": "fcc", "density": 0.8442,
                       "cells": [cells] * 3},
            "velocity": {"temperature": 1.44}, "forces": [lj, *forces],
            "stages": [{"type": "md", "steps": steps,
                        "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}


def now(device):
    if device != "cpu":
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def of_program(options):
    """Seconds of all steps, as the program says at its end."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/job.json", "w") as file:
            json.dump(job(options.device, options.cells, options.steps), file)
        done = subprocess.run([os.environ["PERRIN"], "run", "--threads", "1", "--output-dir",
                               folder, f"{folder}/job.json"], check=True, capture_output=True,
                              text=True)
    return options.steps / float(re.search(r"([0-9.]+) steps/s, ", done.stdout)[1])


def whole_run(options):
    """The same from Python, by the clock as well."""
    sim = perrin.Simulation(job(options.device, options.cells, 10**9), threads=1)
    start = time.perf_counter()
    sim.run(options.steps)
    return time.perf_counter() - start


def simulation(options, forces=()):
    sim = perrin.Simulation(job(options.device, options.cells, 10**9, forces), threads=1)
    sim.run(options.steps // 4)
    return sim


def of_python(options, sim, stride=None):
    """Seconds of the steps."""
    call = lambda s: None
    if stride:
        sim.every(stride)(call)
        sim.run(4 * stride)  # recordings follow
    start = now(options.device)
    sim.run(options.steps)
    seconds = now(options.device) - start
    if stride:
        sim.remove(call)
        sim.run(options.steps // 4)
    return seconds


def trap(particles):
    r = particles.positions
    return -r, (r**2).sum() / 2


def local_trap(particles):
    offset, matrix = (torch.tensor(x, device=particles.device) for x in
                      particles.box.fixed_point)
    p = torch.from_dlpack(particles.local.position)[:, :3].to(torch.int64) & 0xffffffff
    r = offset + p.double() @ matrix
    return -r, float((r**2).sum() / 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--cells", type=int, default=10)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    n = 4 * options.cells**3
    least = {}

    def take(name, seconds, count):
        least[name] = min(least.get(name, 1e30), 1e6 * seconds / count)

    sim = simulation(options)
    for _ in range(options.turns):
        take("program", of_program(options), options.steps)
        take("python", whole_run(options), options.steps)
        take("no callback", of_python(options, sim), options.steps)
        for stride in (10, 100):
            take(f"every {stride}", of_python(options, sim, stride), options.steps)
    forces = {"harmonic_trap": {"type": "harmonic_trap", "stiffness": [1, 1, 1]},
              "PythonForce, numpy": perrin.PythonForce(trap)}
    if torch:
        forces["PythonForce, captured"] = perrin.PythonForce(trap, captured=True)
        if options.device != "cpu":
            forces["PythonForce, local"] = perrin.PythonForce(local_trap, local=True)
    options.steps //= 10
    for _ in range(options.turns):
        for name, force in forces.items():
            take(name, of_python(options, simulation(options, [force])), options.steps)
    for name, microseconds in least.items():
        line = {"subject": name, "size": n, "device": options.device,
                "microseconds": round(microseconds, 3), "rate": round(1e6 / microseconds, 1)}
        if name.startswith("every"):
            stride = int(name.split()[1])
            line["microseconds_per_call"] = round(
                (microseconds - least["no callback"]) * stride, 2)
        baseline = ("harmonic_trap" if name in forces
                    else "no callback" if name.startswith("every") else "program")
        line["ratio"] = round(microseconds / least[baseline], 4)
        line["baseline"] = baseline
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
