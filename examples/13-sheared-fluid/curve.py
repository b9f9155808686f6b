#!/usr/bin/python3
"""The viscosity of the fluid of job.json by three ways, into curve.json for plot.py.

    curve.py --perrin ../../build/bin/perrin --folder out [--scale 0.2] [--device cuda]

Lees-Edwards shear at several rates; Green and Kubo's integral at rest (stress_autocorrelation); a
periodic field (periodic_shear) whose shear rates stay below 0.1. Errors are standard errors of 20
blocks, of Green and Kubo those of five runs. Runs that are there are kept. --scale shortens all."""
import argparse
import json
import math
import pathlib
import subprocess

import h5py
import numpy as np

DENSITY, TEMPERATURE, TIMESTEP = 0.8442, 0.722, 0.003
RATES = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2]
# With a relaxation time tau the heat of the flow keeps the temperature above the bath by
# 2 tau power / degrees of freedom, 20 % at rate 1 and tau 0.1. With 0 it is held.
BATH = {"type": "bussi", "timestep": TIMESTEP, "temperature": TEMPERATURE, "tau": 0.1}
HELD = {**BATH, "tau": 0}


def job(args, name, steps, *, seed=2026, stage=None, observers=(), forces=()):
    steps = max(4000, int(steps * args.scale) // 4000 * 4000)
    return {
        "title": name, "seed": seed, "device": args.device,
        "system": {"type": "lattice", "structure": "fcc", "density": DENSITY,
                   "cells": [args.cells] * 3},
        "velocity": {"temperature": TEMPERATURE},
        "forces": [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
                   *forces],
        "observers": [{"type": "thermo", "stride": 10}, *observers],
        "stages": [{"type": "md", "steps": 4000, "integrator": BATH},
                   {"type": "md", "name": "measured", "steps": steps,
                    "integrator": HELD if stage else BATH, **(stage or {})}]}


def jobs(args):
    found = {f"rate-{rate}": job(args, f"rate {rate}", 200000, stage={"shear": {"rate": rate}})
             for rate in RATES}
    for seed in range(1, 6):
        found[f"green-kubo-{seed}"] = job(args, "Green and Kubo", 200000, seed=seed, observers=[
            {"type": "stress_autocorrelation", "stride": 4, "rows_every": 4000,
             "stages": ["measured"]}])
    found["field"] = job(args, "periodic field", 200000, forces=[
        {"type": "periodic_shear", "amplitude": 0.1, "flow": "x", "gradient": "y"}], observers=[
        {"type": "profile", "axis": "y", "bins": 20, "stride": 20, "rows_every": 1000,
         "stages": ["measured"]}])
    return found


def run(args, name, text):
    folder = pathlib.Path(args.folder) / name
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_text(json.dumps(text))
    subprocess.run([args.perrin, "run", "job.json", "--overwrite", "--quiet",
                    *args.options.split()], cwd=folder, check=True)
    (folder / "done").touch()
    return folder


def mean_error(values):
    blocks = np.array([b.mean() for b in np.array_split(np.asarray(values), 20)])
    return blocks.mean(), blocks.std(ddof=1) / math.sqrt(len(blocks))


def of_shear(folder, rate):
    with h5py.File(folder / "thermo.h5") as file:
        rows = file["observables/pressure_tensor"]
        # Two units of strain and of time until the flow is steady.
        begin = 4000 + max(2, 2 / rate) / TIMESTEP
        stress = -rows["value"][:][rows["step"][:] > begin][:, 0, 1]
    mean, error = mean_error(stress)
    return mean / rate, error / rate


def of_field(folder, args):
    text = json.loads((folder / "job.json").read_text())
    with h5py.File(folder / "profile.h5") as file:
        u = file["observables/velocity/value"][:][2:, :, 0]
    length = (4 * args.cells ** 3 / DENSITY) ** (1 / 3)
    k, bins = 2 * math.pi / length, u.shape[1]
    phase = 2 * math.pi * (np.arange(bins) + 0.5) / bins
    lower = math.sin(math.pi / bins) / (math.pi / bins)  # what the mean over a slab leaves
    mean, error = mean_error(2 * (u * np.sin(phase)).mean(axis=1) / lower)
    force = text["forces"][1]["amplitude"]
    # The thermostat takes the heat out of all velocities, the flow's as well: as a drag.
    drag = force * mean / 2 / (3 * TEMPERATURE)
    eta = (DENSITY * force / mean - DENSITY * drag) / k ** 2
    return eta, eta * error / mean, k * mean


def of_green_kubo(folder):
    with h5py.File(folder / "stress_autocorrelation.h5") as file:
        rows = file["observables"]
        lag, eta = rows["lag_time/value"][-1], rows["viscosity/value"][:]
    # Level from a lag of 1 on; rows are of all samples so far: the last one counts.
    level = (lag > 1) & (lag < 2)
    return float(np.nanmean(eta[-1][level]))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--perrin", default="perrin")
    p.add_argument("--folder", default="out")
    p.add_argument("--device", default="auto")
    p.add_argument("--options", default="", help="for perrin run, e.g. --threads=2")
    p.add_argument("--cells", type=int, default=7)
    p.add_argument("--scale", type=float, default=1.0)
    args = p.parse_args()
    args.perrin = str(pathlib.Path(args.perrin).resolve()) if "/" in args.perrin else args.perrin
    found, integrals = {"rates": []}, []
    for name, text in jobs(args).items():
        folder = run(args, name, text)
        if name.startswith("green-kubo"):
            integrals.append(of_green_kubo(folder))
        elif name == "field":
            found["field"] = of_field(folder, args)
            eta, error, rate = found["field"]
            print(f"field (rates up to {rate:.3f}) eta = {eta:.3f} ± {error:.3f}")
        else:
            rate = text["stages"][1]["shear"]["rate"]
            eta, error = of_shear(folder, rate)
            found["rates"].append([rate, eta, error])
            print(f"rate {rate:<6} eta = {eta:.3f} ± {error:.3f}", flush=True)
    found["green_kubo"] = np.mean(integrals), np.std(integrals, ddof=1) / math.sqrt(len(integrals))
    eta, error = found["green_kubo"]
    print(f"Green-Kubo  eta = {eta:.3f} ± {error:.3f}")
    (pathlib.Path(args.folder) / "curve.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
