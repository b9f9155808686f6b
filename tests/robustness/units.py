#!/usr/bin/python3
"""The same physical system in every combination of named units, under every pair potential.

    units.py PERRIN

The same temperature, energy and pressure after conversion; or, where numbers of forces leave single
precision (in m, and for some in um), a refusal that says what to use instead.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile

import h5py

LENGTHS = {"nm": 1e-9, "angstrom": 1e-10, "um": 1e-6, "m": 1.0}  # in SI
ENERGIES = {"kJ/mol": 1e3 / 6.02214076e23, "kcal/mol": 4184 / 6.02214076e23, "eV": 1.602176634e-19,
            "J": 1.0, "pN nm": 1e-21, "K": 1.380649e-23}
MASSES = {"u": 1.66053906660e-27, "g/mol": 1e-3 / 6.02214076e23, "kg": 1.0}

# Parameters in SI, with powers of energy and length.
FORCES = {
    "lennard_jones": {"epsilon": (1.65e-21, 1, 0), "sigma": (3.4e-10, 0, 1)},
    "wca": {"epsilon": (1.65e-21, 1, 0), "sigma": (4e-10, 0, 1)},
    "morse": {"depth": (1.65e-21, 1, 0), "steepness": (1.5e10, 0, -1), "distance": (3.8e-10, 0, 1)},
    "yukawa": {"amplitude": (1.2e-30, 1, 1), "kappa": (3e9, 0, -1)},
    "gaussian_core": {"epsilon": (3e-21, 1, 0), "sigma": (3e-10, 0, 1)},
    "mie": {"epsilon": (1.65e-21, 1, 0), "sigma": (3.4e-10, 0, 1), "repulsive": (13.5, 0, 0)},
    "buckingham": {"amplitude": (1.488e-15, 1, 0), "rho": (2.714e-11, 0, 1),
                   "dispersion": (8.69e-78, 1, 6)},
    "soft_dpd": {"repulsion": (1e-11, 1, -1), "range": (6e-10, 0, 1)},
}


def job(force, units):
    length, energy, mass = (table[name] for table, name in
                            zip((LENGTHS, ENERGIES, MASSES), units))
    pair = {key: value / energy**e / length**n for key, (value, e, n) in FORCES[force].items()}
    forces = {"type": force, "pairs": [{"types": ["A", "A"], **pair}]}
    if force not in ("wca", "soft_dpd"):
        forces.update(cutoff=8.5e-10 / length, truncation="energy_shift")
    time = length * (mass / energy)**0.5
    return {"seed": 5, "units": dict(zip(("length", "energy", "mass"), units)),
            "system": {"type": "lattice", "structure": "fcc", "lattice_constant": 5.4e-10 / length,
                       "cells": [4, 4, 4], "masses": {"A": 6.63e-26 / mass}},
            "velocity": {"temperature": 80}, "forces": [forces],
            "observers": [{"type": "thermo", "stride": 20}],
            "stages": [{"type": "md", "steps": 20, "integrator": {
                "type": "velocity_verlet", "timestep": 2e-15 / time}}]}


def run(perrin, folder, force, units):
    """Temperature, potential energy and pressure in SI at the end; or the refusal."""
    path = os.path.join(folder, "job.json")
    with open(path, "w") as out:
        json.dump(job(force, units), out)
    done = subprocess.run([perrin, "run", path, "--device", "cpu", "--threads", "1", "--quiet",
                           "--overwrite", "--output-dir", folder], capture_output=True, text=True)
    # "in magnitude": of a setting that no number of this build can hold.
    if done.returncode == 2 and ("choose" in done.stderr or "in magnitude" in done.stderr):
        return done.stderr
    assert done.returncode == 0, f"{force} in {units}: {done.stderr}"
    length, energy = LENGTHS[units[0]], ENERGIES[units[1]]
    with h5py.File(os.path.join(folder, "thermo.h5")) as file:
        last = [file[f"observables/{name}/value"][-1]
                for name in ("temperature", "potential_energy", "pressure")]
    return last[0], last[1] * energy, last[2] * energy / length**3


def check(perrin, folder):
    refused = 0
    for force in FORCES:
        expected = run(perrin, folder, force, ("nm", "kJ/mol", "u"))
        for k, (length, energy) in enumerate(itertools.product(LENGTHS, ENERGIES)):
            units = (length, energy, list(MASSES)[k % len(MASSES)])
            found = run(perrin, folder, force, units)
            if isinstance(found, str):
                assert length in ("um", "m"), f"{force} in {units}: {found}"
                refused += 1
                continue
            # Single precision, and what chaos makes of its last bits in twenty steps.
            for x, y in zip(found, expected):
                assert abs(x - y) < 1e-4 * abs(y), f"{force} in {units}: {found}, {expected}"
    assert refused >= len(ENERGIES) * len(FORCES), "in m no potential of atoms can be right"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="perrin-units-") as temporary:
        check(sys.argv[1], temporary)
    print("the same in all units")
