"""Perrin's forces as a calculator of ASE:

    from perrin.ase import Perrin
    atoms.calc = Perrin([{"type": "lennard_jones", …}])
    print(atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress())
"""
from __future__ import annotations

from typing import Any, ClassVar, List, Mapping, Optional, Sequence, Union

import ase.units
import numpy as np
from ase.calculators.calculator import (Calculator, PropertyNotImplementedError, all_changes)
from ase.cell import Cell

from perrin import arguments
from perrin.errors import JobError
from perrin.frame import Frame, Members
from perrin.simulation import Simulation
from perrin.view import Box

UNITS = {"length": "angstrom", "energy": "eV", "mass": "u"}  # those of ASE
_LENGTHS = {"nm": ase.units.nm, "angstrom": 1.0, "Å": 1.0, "um": 1e4, "µm": 1e4, "m": ase.units.m}
_ENERGIES = {"kJ/mol": ase.units.kJ / ase.units.mol, "kcal/mol": ase.units.kcal / ase.units.mol,
             "eV": 1.0, "J": ase.units.J, "pN nm": 1e-21 * ase.units.J, "K": ase.units.kB}
_MARGIN = 20.0  # Å that atoms may move along an open axis before the box is made anew


class Perrin(Calculator):  # type: ignore[misc]
    """Energy, forces and, of cells that are periodic along all axes, stress.

    `forces`: as in a job, PythonForce objects among them. Numbers of the job are in `units`, by
    default eV, Å and u; "lj" takes all numbers as they are. A type has the name of the chemical
    symbol, or what `types` says: a name for each symbol, or for each atom. `bonds`, `angles`,
    `dihedrals`, `impropers`: perrin.Members. Initial charges of the atoms are charges. `job`: other
    settings, such as {"neighbors": …}. `device`, `threads`: of perrin.Simulation.
    """

    implemented_properties: ClassVar[List[str]] = ["energy", "free_energy", "forces", "stress"]
    _lists = ("bonds", "angles", "dihedrals", "impropers")

    def __init__(self, forces: Sequence[Any], *, units: Union[str, Mapping[str, str]] = UNITS,
                 types: Optional[Union[Mapping[str, str], Sequence[str]]] = None,
                 bonds: Optional[Members] = None, angles: Optional[Members] = None,
                 dihedrals: Optional[Members] = None, impropers: Optional[Members] = None,
                 job: Optional[Mapping[str, Any]] = None, device: str = "cpu",
                 threads: int = 0) -> None:
        super().__init__()
        taken = {"forces", "units", "system", "stages", "observers"} & set(job or ())
        if taken:
            raise JobError(f"Perrin(job): got {', '.join(sorted(taken))}, which the calculator "
                           "makes: expected other settings of a job")
        self._forces, self._units, self._types = list(forces), units, types
        self._members = {name: given for name, given in
                         zip(self._lists, (bonds, angles, dihedrals, impropers))
                         if given is not None}
        self._job, self._where = dict(job or {}), {"device": device, "threads": threads}
        self._length, self._energy = 1.0, 1.0
        if units != "lj":
            self._length = arguments.unit(units, "length", _LENGTHS, "Perrin()")
            self._energy = arguments.unit(units, "energy", _ENERGIES, "Perrin()")
        self.simulation: Optional[Simulation] = None  # of the last atoms

    def check_state(self, atoms, tol=1e-15):
        """Of ASE: what has changed since the last results. Energies may depend on masses."""
        changes = super().check_state(atoms, tol)
        if self.atoms is not None and not changes:
            if not np.array_equal(atoms.get_masses(), self.atoms.get_masses()):
                changes.append("masses")
        return changes

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        """Of ASE: fills self.results."""
        super().calculate(atoms, properties, system_changes)
        atoms = self.atoms
        periodic = bool(atoms.pbc.all())
        if "stress" in properties and not periodic:
            raise PropertyNotImplementedError(
                f"Perrin: stress needs a cell that is periodic along all axes, got {atoms.pbc}")
        if self.simulation is None or set(system_changes) - {"positions", "initial_magmoms"}:
            self._begin(atoms)
        elif not self._move(atoms):
            self._begin(atoms)
        sim = self.simulation
        totals = sim.totals
        energy = totals.potential * self._energy
        forces = sim.forces @ self._turn * (self._energy / self._length)
        self.results = {"energy": energy, "free_energy": energy, "forces": forces}
        if periodic:
            xx, yy, zz, xy, xz, yz = totals.virial
            virial = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * self._energy
            stress = -self._turn.T @ virial @ self._turn / atoms.cell.volume
            self.results["stress"] = stress[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]

    def _begin(self, atoms):
        """A simulation of these atoms. Its box has a along x and b in the xy plane: the cell is
        turned. Along an open axis the box is as long as it must be."""
        vectors = np.where(atoms.pbc[:, None], atoms.cell.array, 0)
        cell = Cell(vectors).complete()
        if np.linalg.det(cell.array) < 0:
            if atoms.pbc.all():
                raise JobError("Perrin: the cell must be right-handed, got "
                               f"{atoms.cell.array.tolist()}")
            cell = Cell(np.where(atoms.pbc[:, None], cell.array, -cell.array))
        lower, self._turn = cell.standard_form()
        edges = np.array(lower)
        positions = atoms.positions @ self._turn.T
        inside = np.linalg.solve(edges.T, positions.T).T  # along the edges
        low, high = inside.min(axis=0), inside.max(axis=0)
        origin = np.zeros(3)
        for axis in np.flatnonzero(~atoms.pbc):  # its edge is a unit vector, normal to the others
            origin += (low[axis] - _MARGIN) * edges[axis]
            edges[axis] *= high[axis] - low[axis] + 2 * _MARGIN
        self._box = Box(np.diag(edges) / self._length,
                        np.array([edges[1, 0], edges[2, 0], edges[2, 1]]) / self._length,
                        origin / self._length, tuple(bool(p) for p in atoms.pbc), 3, np.zeros(3))
        self.simulation = Simulation(
            {"seed": 1, **self._job, "units": self._units, "forces": self._forces,
             "observers": [], "system": self._frame(atoms, positions / self._length),
             "stages": [{"type": "md", "integrator": {"type": "velocity_verlet",
                                                      "timestep": 1e-6}}]}, **self._where)

    def _frame(self, atoms, positions):
        names = self._names(atoms)
        known = list(dict.fromkeys(names))
        wrapped = positions - self._box.origin
        images = np.floor(np.linalg.solve(self._box.edges.T, wrapped.T).T).astype(int)
        charges = atoms.get_initial_charges()
        return Frame(0, 0.0, self._box, positions - images @ self._box.edges, images, None, None,
                     np.array([known.index(name) for name in names]), tuple(known),
                     masses=atoms.get_masses(), charges=charges if charges.any() else None,
                     units={}, job_units=self._units, **self._members)

    def _names(self, atoms):
        symbols = atoms.get_chemical_symbols()
        if self._types is None:
            return symbols
        if isinstance(self._types, Mapping):
            return [self._types.get(symbol, symbol) for symbol in symbols]
        if len(self._types) != len(atoms):
            raise JobError(f"Perrin(types): must have a name for each of {len(atoms)} atoms, got "
                           f"{len(self._types)}")
        return list(self._types)

    def _move(self, atoms):
        """False: atoms have left the box along an open axis."""
        positions = atoms.positions @ self._turn.T / self._length
        inside = np.linalg.solve(self._box.edges.T, (positions - self._box.origin).T).T
        open_axes = ~atoms.pbc
        if ((inside[:, open_axes] < 0) | (inside[:, open_axes] > 1)).any():
            return False
        self.simulation.unwrapped = positions
        return True
