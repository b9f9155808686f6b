#!/usr/bin/env python3
"""Speed of OpenMM with charges, beside Perrin's `ewald` on a mesh:

    openmm_charges.py PERRIN [IONS [CUTOFF [DEVICE [DENSITY]]]]     default: 8000 4 cpu 0.5

needs the packages openmm (for cuda: openmm-cuda-13, too), h5py and numpy. Ions ±1 with soft cores,
Bjerrum length 1, temperature 1: Perrin makes 500 steps, then both make steps at constant energy
from its last frame, on the CPU each on one thread. OpenMM's tolerance is the largest of some whose
rms error of forces is below 10⁻⁴, Perrin's accuracy, against its own sum with a finer mesh. OpenMM
has Lennard-Jones forces to the cut-off, Perrin repulsive cores. Prints one JSON object:
milliseconds of a step, of CPU time on the CPU.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import h5py
import numpy
import openmm

PERRIN = os.path.abspath(sys.argv[1])
IONS = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
CUTOFF = float(sys.argv[3]) if len(sys.argv) > 3 else 4.0
DEVICE = sys.argv[4] if len(sys.argv) > 4 else "cpu"
DENSITY = float(sys.argv[5]) if len(sys.argv) > 5 else 0.5
STEPS = max(20, 400000 // IONS) if DEVICE == "cpu" else max(500, 200000000 // IONS)
DT = 0.005


def seconds():
    """Of CPU time of this program, or on a GPU of the clock."""
    return time.process_time() if DEVICE == "cpu" else time.perf_counter()


def perrin(steps, start=None):
    """Seconds of a run, which leaves its last frame in a folder."""
    edge = round(IONS ** (1 / 3))
    system = {"type": "lattice", "structure": "sc", "density": DENSITY, "cells": [edge] * 3,
              "types": {"P": 1, "M": 1}}
    if start:
        system = {"type": "file", "path": start, "frame": -1}
    job = {"seed": 1, "system": system,
           "attributes": {"charge": {"types": {"P": 1, "M": -1}}},
           "forces": [{"type": "lennard_jones", "cutoff": 2 ** (1 / 6), "truncation":
                       "energy_shift", "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                                 for t in ("PP", "PM", "MM")]},
                      {"type": "ewald", "cutoff": CUTOFF, "accuracy": 1e-4, "mesh": {}}],
           "observers": [{"type": "trajectory", "stride": steps,
                          "quantities": ["position", "velocity"], "precision": "double"}],
           "stages": [{"type": "md", "steps": steps, "integrator": {
               "type": "langevin" if not start else "velocity_verlet", "timestep": DT,
               **({} if start else {"temperature": 1, "friction": 1})}}]}
    if not start:
        job["velocity"] = {"temperature": 1}
    with open("job.json", "w") as out:
        json.dump(job, out)
    used = lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    before, began = used(), seconds()
    subprocess.run([PERRIN, "run", "job.json", "--quiet", "--overwrite", "--device", DEVICE,
                    *(["--threads", "1"] if DEVICE == "cpu" else []),
                    "--output-dir", "again" if start else "out"], check=True)
    return used() - before if DEVICE == "cpu" else seconds() - began


def context(positions, charges, edge, tolerance, exact=False):
    system = openmm.System()
    force = openmm.NonbondedForce()
    unit_charge = 138.93545764438198 ** -0.5  # so that two have the energy 1 at distance 1
    for q in charges:
        system.addParticle(1)
        force.addParticle(q * unit_charge, 1, 1)
    system.setDefaultPeriodicBoxVectors(*(edge * openmm.Vec3(*e) for e in numpy.eye(3)))
    force.setNonbondedMethod(openmm.NonbondedForce.PME)
    force.setCutoffDistance(CUTOFF)
    force.setEwaldErrorTolerance(tolerance)
    force.setUseDispersionCorrection(False)
    system.addForce(force)
    made = openmm.Context(system, openmm.VerletIntegrator(DT),
                          openmm.Platform.getPlatformByName(DEVICE.upper()),
                          {"Threads": "1"} if DEVICE == "cpu" else
                          {"Precision": "mixed" if exact else "single"})
    made.setPositions(positions)
    return made


def forces(of):
    return numpy.array(of.getState(getForces=True).getForces(asNumpy=True)._value)


def main():
    os.chdir(tempfile.mkdtemp())
    perrin(500)
    with h5py.File("out/trajectory.h5") as f:
        frame = f["particles/all"]
        positions = frame["position/value"][-1]
        velocities = frame["velocity/value"][-1]
        charges = frame["charge"][()] if isinstance(frame["charge"], h5py.Dataset) else (
            frame["charge/value"][0])
        edges = frame["box/edges"]
        edge = float(numpy.ravel(edges["value"][0] if isinstance(edges, h5py.Group)
                                 else edges[()])[0])
    exact = forces(context(positions, charges, edge, 1e-6, exact=True))
    found = {"ions": IONS, "cutoff": CUTOFF, "density": DENSITY, "device": DEVICE,
             "openmm": openmm.version.version}
    for tolerance in (5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6):
        one = context(positions, charges, edge, tolerance)
        error = numpy.sqrt(((forces(one) - exact)**2).sum(axis=1).mean())
        if error < 1e-4:
            break
    one.setVelocities(velocities)
    one.getIntegrator().step(5)
    one.getState(getEnergy=True)  # waits for the GPU
    began = seconds()
    one.getIntegrator().step(STEPS)
    one.getState(getEnergy=True)
    found.update(tolerance=tolerance, openmm_error=error,
                 openmm_ms=1e3 * (seconds() - began) / STEPS)
    short, long = (perrin(k, "out/trajectory.h5") for k in (STEPS, 3 * STEPS))
    found.update(perrin_ms=1e3 * (long - short) / (2 * STEPS))
    found["ratio"] = found["openmm_ms"] / found["perrin_ms"]
    print(json.dumps(found))


main()
