"""Biases of PLUMED as a force of a job:

    from perrin.plumed import plumed_force
    bias = plumed_force("d: DISTANCE ATOMS=1,2\\nRESTRAINT ARG=d AT=1.5 KAPPA=10", timestep=0.005)
    sim = perrin.Simulation({**job, "forces": [*job["forces"], bias]})

The package plumed and its library are needed (PLUMED_KERNEL names libplumedKernel.so). Atoms are
numbered from 1 there.
"""
from __future__ import annotations

import os
from typing import Any, List, Mapping, Union

import numpy as np

from perrin import arguments
from perrin.errors import JobError
from perrin.python_force import PythonForce

_NM = {"nm": 1.0, "angstrom": 0.1, "Å": 0.1, "um": 1e3, "µm": 1e3, "m": 1e9}
_AVOGADRO, _BOLTZMANN, _ELECTRON = 6.02214076e23, 1.380649e-23, 1.602176634e-19  # SI, exact
_KJ_PER_MOL = {"kJ/mol": 1.0, "kcal/mol": 4.184, "eV": 1e-3 * _ELECTRON * _AVOGADRO,
               "J": 1e-3 * _AVOGADRO, "pN nm": 1e-24 * _AVOGADRO,
               "K": 1e-3 * _BOLTZMANN * _AVOGADRO}
_U = {"u": 1.0, "g/mol": 1.0, "kg": 1e3 * _AVOGADRO}


class _Bias:
    """What the engine calls: it asks PLUMED once for each step."""

    def __init__(self, lines: str, timestep: float, units: Union[str, Mapping[str, str]],
                 temperature: float, log: str, kernel: str) -> None:
        self._lines, self._timestep = lines, timestep
        self._scales = None if units == "lj" else [  # nm, kJ/mol, u
            arguments.unit(units, name, known, "plumed_force()") for name, known in
            (("length", _NM), ("energy", _KJ_PER_MOL), ("mass", _U))]
        self._temperature, self._log, self._kernel = temperature, log, kernel
        self._plumed: Any = None
        self._atoms = 0
        self._step = -1
        self._seen: Any = None
        self._last: Any = None

    def __repr__(self) -> str:
        return f"PLUMED: {self._lines.count(chr(10)) + 1} lines"

    def __call__(self, particles):
        r = np.array(particles.unwrapped)  # PLUMED takes no read-only arrays
        # A force may be asked for twice at a step; a hill is put down once.
        if particles.step == self._step and np.array_equal(r, self._seen):
            return self._last
        if self._plumed is None:
            self._begin(particles)
        p, n = self._plumed, len(r)
        if n != self._atoms:
            raise JobError(f"plumed_force(): the bias has begun with {self._atoms} particles, got "
                           f"{n}: expected a plumed_force() for each simulation")
        forces, virial, energy = np.zeros((n, 3)), np.zeros((3, 3)), np.zeros(1)
        # A job may have masses and charges change.
        box, masses, charges = (np.array(x) for x in (particles.box.edges, particles.masses,
                                                      particles.charges))
        p.cmd("setStep", int(particles.step))
        p.cmd("setPositions", r)
        p.cmd("setMasses", masses)
        if len(charges):
            p.cmd("setCharges", charges)
        p.cmd("setForces", forces)
        p.cmd("setVirial", virial)
        if all(particles.box.periodic):
            p.cmd("setBox", box)
        p.cmd("calc")
        p.cmd("getBias", energy)
        # PLUMED's virial is minus the sum of r and f.
        w = -(virial + virial.T) / 2
        self._step, self._seen = particles.step, r
        self._last = forces, float(energy[0]), [w[0, 0], w[1, 1], w[2, 2], w[0, 1], w[0, 2],
                                                w[1, 2]]
        return self._last

    def _begin(self, particles):
        import plumed
        periodic = particles.box.periodic[:particles.box.dimension]
        if any(periodic) and not all(periodic) or particles.box.dimension == 2:
            raise JobError("plumed_force(): PLUMED takes boxes of three dimensions that are "
                           f"periodic along all axes or none, got {particles.box}")
        p = plumed.Plumed(kernel=self._kernel or None)
        if self._scales is None:
            p.cmd("setNaturalUnits")
            k_boltzmann = 1.0
        else:
            nm, kj, mass = self._scales
            p.cmd("setMDLengthUnits", nm)
            p.cmd("setMDEnergyUnits", kj)
            p.cmd("setMDMassUnits", mass)
            # u nm²/(kJ/mol) = ps²
            p.cmd("setMDTimeUnits", nm * np.sqrt(mass / kj))
            k_boltzmann = _KJ_PER_MOL["K"] / kj
        p.cmd("setMDEngine", "Perrin")
        p.cmd("setNatoms", len(particles))
        p.cmd("setTimestep", float(self._timestep))
        if self._temperature:
            p.cmd("setKbT", self._temperature * k_boltzmann)
        p.cmd("setLogFile", self._log)
        p.cmd("init")
        for line in _joined(self._lines):
            p.cmd("readInputLine", line)
        self._atoms = len(particles)
        self._plumed = p


def _joined(text: str) -> List[str]:
    """Lines of PLUMED's input: "…" goes on to the line that begins with "…"."""
    lines: List[str] = []
    inside = False
    for line in text.splitlines():
        words = line.split("#")[0].strip()
        if not words:
            continue
        if inside:
            inside = not words.startswith("...")
            if inside:
                lines[-1] += " " + words
            continue
        inside = words.endswith("...")
        lines.append(words.removesuffix("...").strip())
    return lines


def plumed_force(lines: str, *, timestep: float, temperature: float = 0,
                 units: Union[str, Mapping[str, str]] = "lj", log: "str | os.PathLike[str]" = "",
                 kernel: "str | os.PathLike[str]" = "", **options: Any) -> PythonForce:
    """`lines`: what stands in a plumed.dat. `timestep` is that of the integrator, `units` are those
    of the job, in which forces and numbers of MD are; those of `lines` are PLUMED's (nm, kJ/mol,
    ps), with "lj" the job's. `temperature`: for biases that need it, as the job has it. `log`: a
    file (none: it is lost). `kernel`: libplumedKernel.so, else PLUMED_KERNEL. `options` are those
    of PythonForce; with a stride PLUMED sees these steps alone."""
    return PythonForce(_Bias(lines, timestep, units, temperature, os.fspath(log) or os.devnull,
                             os.fspath(kernel)), **options)
