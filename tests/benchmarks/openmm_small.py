#!/usr/bin/env python3
"""Steps a second of OpenMM for small liquids, one alone and a process each: a Lennard-Jones crystal
of density 0.8442 that melts, T 1.44, cut-off 2.5, time step 0.004 (nm, ps, dalton, kJ/mol stand for
the units of Lennard-Jones). NonbondedForce without charges, VerletIntegrator, single precision. A
line of JSON each:

    openmm_small.py [--platform CUDA|CPU|Reference] [--steps N] [--short] [--processes P…]

Processes run at the same time; their rate is of all together, by the slowest. With CUDA they run
with NVIDIA's MPS where it starts, and the most of them without, too. energy_error: of the start,
against a sum over all pairs."""
import argparse
import contextlib
import json
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import time

import numpy

ALONE = ((5, 5, 5), (6, 6, 6), (8, 8, 8), (10, 10, 10))
TOGETHER = ((5, 5, 5), (6, 6, 7))


def lattice(cells):
    a = (4 / 0.8442) ** (1 / 3)
    corners = numpy.stack(numpy.meshgrid(*map(numpy.arange, cells), indexing="ij"), -1)
    basis = numpy.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]]) + 0.25
    return (corners.reshape(-1, 1, 3) + basis).reshape(-1, 3) * a, numpy.array(cells) * a


def brute_force(positions, box):
    total = 0.0
    for i in range(len(positions) - 1):
        d = positions[i + 1:] - positions[i]
        r2 = ((d - box * numpy.round(d / box)) ** 2).sum(1)
        r2 = r2[r2 < 6.25]
        total += 4 * (r2 ** -6 - r2 ** -3).sum()
    return total / len(positions)


def context(cells, platform, seed):
    import openmm
    positions, box = lattice(cells)
    system, force = openmm.System(), openmm.NonbondedForce()
    for _ in positions:
        system.addParticle(1)
        force.addParticle(0, 1, 1)
    system.setDefaultPeriodicBoxVectors(*(float(e) * openmm.Vec3(*(int(i == j) for j in range(3)))
                                          for i, e in enumerate(box)))
    force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(2.5)
    force.setUseDispersionCorrection(False)
    system.addForce(force)
    properties = {"CUDA": {"Precision": "single"}, "CPU": {"Threads": "1"}}.get(platform, {})
    made = openmm.Context(system, openmm.VerletIntegrator(0.004),
                          openmm.Platform.getPlatformByName(platform), properties)
    made.setPositions(positions)
    made.setVelocitiesToTemperature(1.44 / 0.00831446261815324, seed)
    return made


def energies(made, particles):
    import openmm.unit as unit
    state = made.getState(getEnergy=True)
    return [e.value_in_unit(unit.kilojoule_per_mole) / particles
            for e in (state.getPotentialEnergy(), state.getKineticEnergy())]


def timed(made, steps):
    """Seconds, with the wait for the device."""
    began = time.perf_counter()
    made.getIntegrator().step(steps)
    made.getState(getEnergy=True)
    return time.perf_counter() - began


def row(**more):
    import openmm
    print(json.dumps({"program": "openmm", "version": openmm.Platform.getOpenMMVersion(), **more}),
          flush=True)


def alone(cells, options):
    positions, box = lattice(cells)
    began = time.perf_counter()
    made = context(cells, options.platform, 1)
    before = energies(made, len(positions))
    timed(made, 10)
    started = time.perf_counter() - began
    timed(made, max(10, options.steps // 4))  # it melts
    seconds = timed(made, options.steps)
    after = energies(made, len(positions))
    row(platform=options.platform, systems=1, particles=len(positions), steps=options.steps,
        steps_per_s=round(options.steps / seconds, 1),
        million_particle_steps_per_s=round(options.steps * len(positions) / seconds / 1e6, 2),
        energy_error=float(f"{abs(before[0] - brute_force(positions, box)):.2g}"),
        energy_drift=float(f"{sum(after) - sum(before):.2g}"),
        temperature=round(2 / 3 * after[1], 3), compile_s=round(started, 2))


def worker(index, platform, sizes, steps, barrier, results):
    try:
        for cells in sizes:
            made = context(cells, platform, index + 1)
            timed(made, max(10, steps // 10))
            barrier.wait(60)
            results.put((cells, timed(made, steps)))
            barrier.wait(60)
            del made
    except Exception as error:  # the others are told, and end
        barrier.abort()
        results.put((None, f"{type(error).__name__}: {error}"[:300]))


def together(count, options, mps):
    spawn = multiprocessing.get_context("spawn")
    barrier, results = spawn.Barrier(count), spawn.Queue()
    given = (options.platform, TOGETHER, options.steps, barrier, results)
    crew = [spawn.Process(target=worker, args=(i, *given)) for i in range(count)]
    for one in crew:
        one.start()
    took = {cells: [] for cells in TOGETHER}
    try:
        for _ in range(count * len(TOGETHER)):
            cells, seconds = results.get(timeout=options.patience)
            if cells is None:
                raise RuntimeError(seconds)
            took[cells].append(seconds)
    except Exception as error:
        row(platform=options.platform, systems=count, mps=mps, error=f"{type(error).__name__}: "
            f"{error}"[:300])
        return
    finally:
        for one in crew:
            one.join(5)
            if one.is_alive():
                one.kill()
    for cells, seconds in took.items():
        particles, rate = 4 * cells[0] * cells[1] * cells[2], options.steps * count / max(seconds)
        row(platform=options.platform, systems=count, processes=count, mps=mps, particles=particles,
            steps=options.steps, steps_per_s=round(rate, 1),
            million_particle_steps_per_s=round(rate * particles / 1e6, 2))


@contextlib.contextmanager
def mps(platform):
    """Gives whether NVIDIA's service for processes that share a GPU runs, and ends it."""
    control = shutil.which("nvidia-cuda-mps-control")
    if platform != "CUDA" or not control:
        yield False
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        names = ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")
        os.environ.update({name: folder for name in names})
        try:
            begun = subprocess.run([control, "-d"], timeout=20, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            yield begun.returncode == 0
        finally:
            with contextlib.suppress(Exception):
                subprocess.run([control], input="quit\n", text=True, timeout=20,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name in names:
                del os.environ[name]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--platform", default="CUDA")
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--processes", nargs="*", type=int, default=[1, 4, 16])
    parser.add_argument("--patience", type=float, default=60, help="seconds for a row's processes")
    parser.add_argument("--short", action="store_true", help="few steps, two processes")
    options = parser.parse_args()
    if options.short:
        options.steps, options.processes = min(options.steps, 100), [2]
    if options.processes:  # first: this process has no context of the GPU then
        if options.platform == "CUDA":
            together(max(options.processes), options, False)
        with mps(options.platform) as running:
            for count in options.processes:
                together(count, options, running)
    for cells in ALONE[:2] if options.short else ALONE:
        alone(cells, options)


if __name__ == "__main__":
    main()
