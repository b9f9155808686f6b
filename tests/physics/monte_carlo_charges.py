#!/usr/bin/python3
"""Monte Carlo of charges whose energy all particles share: two ions against an integral over all
places, and trial moves against hybrid trials, which look at whole energies alone.

    monte_carlo_charges.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import numpy

from job_case import JobCase

SIDE, BJERRUM = 5.0, 3.0


def wca(r):
    inverse = (1 / numpy.minimum(r, 2**(1 / 6)))**6
    return 4 * (inverse**2 - inverse) + 1


def pair_energy(points):
    """Of a charge 1 at 0 and a charge -1, in a cube with all its copies, in a conductor."""
    alpha, volume = 6.2 / SIDE, SIDE**3
    n = numpy.array(list(numpy.ndindex(3, 3, 3))) - 1
    potential = numpy.zeros(len(points))
    erfc = numpy.vectorize(math.erfc, otypes=[float])
    for shift in n:
        r = numpy.linalg.norm(points + SIDE * shift, axis=1)
        near = alpha * r < 6.2
        potential[near] += erfc(alpha * r[near]) / r[near]
    k = numpy.array(list(numpy.ndindex(27, 27, 27))) - 13
    k = k[len(k) // 2 + 1:] * (2 * math.pi / SIDE)
    k2 = (k**2).sum(axis=1)
    weight = 8 * math.pi / volume * numpy.exp(-k2 / (4 * alpha**2)) / k2
    k, weight = k[weight > 1e-7], weight[weight > 1e-7]
    for part in range(0, len(points), 2000):
        potential[part:part + 2000] += numpy.cos(points[part:part + 2000] @ k.T) @ weight
    # Of a charge in its own copies; copies of neighbouring cells are further than erfc reaches.
    own = weight.sum() - 2 * alpha / math.sqrt(math.pi)
    return BJERRUM * (own - potential) + wca(numpy.linalg.norm(points, axis=1))


class ChargeTrials(JobCase):
    overwrite = True

    def run_stage(self, job, stage, equilibration):
        """Mean of the energy with its error, by 16 blocks."""
        job["stages"] = [stage]
        job["observers"] = [{"type": "thermo", "stride": stage.pop("every", 5)}]
        self.run_job(job)
        energy = self.column("potential_energy")
        energy = energy[int(equilibration * len(energy)):]
        blocks = [block.mean() for block in numpy.array_split(energy, 16)]
        return numpy.mean(blocks), numpy.std(blocks, ddof=1) / 4

    @staticmethod
    def job(system, forces, **more):
        return {"seed": 5, "system": system, "forces": forces,
                "attributes": {"charge": {"types": {"A": 1, "B": -1}}}, **more}

    @staticmethod
    def forces(types="AB", **ewald):
        core = {"type": "wca", "pairs": [{"types": [a, b], "epsilon": 1, "sigma": 1}
                                         for a in types for b in types if a <= b]}
        return [core, {"type": "ewald", "cutoff": 2, "accuracy": 1e-3, "coulomb": {
            "bjerrum_length": BJERRUM, "temperature": 1}, **ewald}]

    def test_two_ions(self):
        """Mean and variance of the energy against the integral over all places."""
        m = 32
        edge = (numpy.arange(m) + 0.5) * SIDE / (2 * m)
        octant = numpy.stack(numpy.meshgrid(edge, edge, edge, indexing="ij"), axis=-1)
        periodic = pair_energy(octant.reshape(-1, 3)).reshape(m, m, m)
        # Over ±2.5 boxes: the dipole moment is that of the whole path.
        mirrored = periodic
        for axis in range(3):
            mirrored = numpy.concatenate([mirrored, numpy.flip(mirrored, axis)] * 2 + [mirrored],
                                         axis)
        far = (numpy.arange(5 * m) + 0.5) * SIDE / (2 * m)
        square = far[:, None, None]**2 + far[None, :, None]**2 + far[None, None, :]**2
        for surface in (None, 1.0):
            energy, more = periodic, {}
            if surface:
                energy = mirrored + 2 * math.pi * BJERRUM / (2 * surface + 1) / SIDE**3 * square
                more = {"surface_permittivity": surface}
            weight = numpy.exp(-energy)
            mean = (energy * weight).sum() / weight.sum()
            spread = math.sqrt((energy**2 * weight).sum() / weight.sum() - mean**2)
            job = self.job({"type": "random", "box": [SIDE] * 3, "particles": {"A": 1, "B": 1},
                            "min_distance": 1}, self.forces(accuracy=1e-5, **more))
            stage = {"type": "monte_carlo", "sweeps": 60000, "temperature": 1, "every": 3,
                     "translation": {"displacement": 1.2}}
            found, error = self.run_stage(job, stage, 0.05)
            self.assertLess(abs(found - mean), 4 * error, (surface, found, mean, error))
            self.assertLess(error, 0.05 * spread)

    def compare(self, job, moves, hybrid, sweeps, every=2, error=0.03):
        """Trial moves beside trajectories, whose whole energies decide."""
        a, da = self.run_stage(job, {"type": "monte_carlo", "sweeps": sweeps, "temperature": 1,
                                     "every": every, **moves}, 0.15)
        b, db = self.run_stage(job, {"type": "monte_carlo", "sweeps": sweeps, "temperature": 1,
                                     "every": every, "hybrid": hybrid}, 0.15)
        self.assertLess(abs(a - b), 4 * math.hypot(da, db), ((a, da), (b, db)))
        self.assertLess(math.hypot(da, db), error * abs(a), ((a, da), (b, db)))

    def test_ions(self):
        """With and without a dipole term; types are exchanged as well."""
        system = {"type": "lattice", "structure": "sc", "density": 0.3, "cells": [4, 4, 4],
                  "types": {"A": 1, "B": 1}}
        hybrid = {"timestep": 0.02, "steps": 12}
        self.compare(self.job(system, self.forces(surface_permittivity=2)),
                     {"translation": {"displacement": 0.3}}, hybrid, 900)
        self.compare(self.job(system, self.forces()),
                     {"translation": {"displacement": 0.3}, "swap": {"trials": 0.5}}, hybrid, 900)

    def test_a_slab(self):
        system = {"type": "lattice", "structure": "sc", "density": 0.3, "cells": [4, 4, 4],
                  "types": {"A": 1, "B": 1}, "periodic": [True, True, False]}
        walls = {"type": "external_formula", "energy": "100*max(0, abs(z) - 2.3)^2",
                 "types": {"A": {}, "B": {}}}
        job = self.job(system, [*self.forces(slab=3), walls])
        self.compare(job, {"translation": {"displacement": 0.3}, "swap": {"trials": 0.3}},
                     {"timestep": 0.02, "steps": 12}, 900)

    def chains(self, charges):
        """Neutral chains, whose bonded pairs do not act on each other."""
        system = {"type": "chains", "density": 0.2, "chains": 8, "pattern": "A1B2A2B1",
                  "bond_length": 1.1, "min_distance": 1}
        spring = {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 60, "length": 1.1}}}
        return self.job(system, [self.forces()[0], charges, spring],
                        neighbors={"exclusions": ["bonds", "angles"]})

    def test_chains_of_ewald(self):
        """Corrections of excluded pairs, and moves of many particles at once."""
        self.compare(self.chains(self.forces()[1]),
                     {"translation": {"displacement": 0.12},
                      "molecule": {"displacement": 0.4, "rotation": 0.5},
                      "pivot": {"rotation": 1}, "crankshaft": {"rotation": 1}},
                     {"timestep": 0.02, "steps": 20}, 1500, error=0.04)

    def test_chains_of_damped_charges(self):
        charges = {"type": "coulomb_dsf", "cutoff": 2.4, "damping": 0.4,
                   "coulomb": {"bjerrum_length": BJERRUM, "temperature": 1}}
        self.compare(self.chains(charges),
                     {"translation": {"displacement": 0.12},
                      "molecule": {"displacement": 0.4, "rotation": 0.5},
                      "pivot": {"rotation": 1}},
                     {"timestep": 0.02, "steps": 20}, 1500, error=0.04)

    def test_bodies_that_only_turn(self):
        """Quadrupoles about their centres, which stay where they are: with steps of the centres
        so small that they change nothing the energy is the same."""
        sites = [{"type": kind, "at": at} for kind, at in (
            ("M", [0.5, 0, 0]), ("M", [-0.5, 0, 0]), ("P", [0, 0.5, 0]), ("P", [0, -0.5, 0]))]
        charges = {"type": "ewald", "cutoff": 0.9, "accuracy": 1e-3,
                   "coulomb": {"bjerrum_length": 30, "temperature": 1}}
        energies = []
        for displacement in (0, 1e-5):
            job = {"seed": 5, "system": {"type": "lattice", "structure": "sc", "density": 0.12,
                                         "cells": [2, 2, 2], "types": {"D": 1}},
                   "bodies": {"D": {"sites": sites}}, "orientations": {"start": "random"},
                   "attributes": {"charge": {"types": {"M": -1, "P": 1}, "default": 0}},
                   "forces": [charges]}
            energies.append(self.run_stage(job, {
                "type": "monte_carlo", "sweeps": 2500, "temperature": 1, "molecule": {
                    "displacement": displacement, "rotation": 3.1, "trials": 4}}, 0.2))
        (a, da), (b, db) = energies
        self.assertLess(abs(a - b), 4 * math.hypot(da, db), energies)
        self.assertLess(math.hypot(da, db), 0.03 * abs(a), energies)

    def test_insertions_have_the_energy_of_a_charge_by_itself(self):
        """Beside one charge q: <exp(-U)> = exp(-u_self) (1 + ∫ (exp(-u) - 1) 4 π r² dr / V), with
        the energies that Fennell and Gezelter, Barker and Watts give a pair and a charge with what
        neutralizes it at the cut-off (papers in forces/coulomb.cpp)."""
        q, cutoff, alpha, edge = 0.8, 2.0, 0.4, 6.0
        r = (numpy.arange(100000) + 0.5) * cutoff / 100000
        erfc = numpy.vectorize(math.erfc, otypes=[float])
        screened = math.erfc(alpha * cutoff) / cutoff
        slope = screened / cutoff + 2 * alpha / math.sqrt(math.pi) * math.exp(
            -(alpha * cutoff)**2) / cutoff
        k = 79 / 161 / cutoff**3  # (ε - 1)/(2 ε + 1)/R³
        for law, pair, own in (
                ({"type": "coulomb_dsf", "damping": alpha},
                 erfc(alpha * r) / r - screened + slope * (r - cutoff),
                 -(screened + slope * cutoff) / 2 - alpha / math.sqrt(math.pi)),
                ({"type": "reaction_field", "permittivity_ratio": 80},
                 1 / r + k * r**2 - (1 / cutoff + k * cutoff**2),
                 -(1 / cutoff + k * cutoff**2) / 2)):
            mayer = (numpy.exp(-q * q * pair) - 1) * 4 * math.pi * r**2
            expected = math.exp(-q * q * own) * (1 + mayer.sum() * cutoff / 100000 / edge**3)
            # Of partners that are left out one that is new has none.
            for neighbors in ({}, {"exclusions": ["bonds"]}):
                with self.subTest(law["type"], **neighbors):
                    job = {"seed": 5, "attributes": {"charge": {"types": {"A": q}, "default": 0}},
                           "system": {"type": "random", "particles": {"A": 1}, "box": [edge] * 3},
                           "forces": [{"cutoff": cutoff, **law}], "neighbors": neighbors,
                           "observers": [{"type": "widom", "stride": 1, "insertions": 3000}],
                           "stages": [{"type": "monte_carlo", "sweeps": 100, "temperature": 1,
                                       "translation": {"displacement": 1}}]}
                    if neighbors:
                        job["system"] = {"type": "parts", "box": [edge] * 3, "parts": [
                            {"type": "molecules", "number": 1, "particles": [
                                {"type": "A", "position": [0, 0, 0]},
                                {"type": "N", "position": [1, 0, 0]}], "bonds": {"b": [[0, 1]]}}]}
                        job["forces"].append({"type": "bond_harmonic", "bonds": {
                            "b": {"stiffness": 50, "length": 1}}})
                        job["groups"] = {"charged": {"types": ["A"]}}
                        job["observers"][0]["group"] = "charged"
                    self.run_job(job)
                    factor = self.column("boltzmann_factor", file="widom.h5")
                    # 3·10⁵ insertions, each with a factor from 0 to exp(-u_self), most are 1: the
                    # error is below 10⁻³ of it; without u_self it would be 15 % off and more.
                    error = factor.std(ddof=1) / math.sqrt(len(factor))
                    self.assertLess(error, 1e-3 * expected)
                    self.assertLess(abs(factor.mean() - expected), 4.5 * error,
                                    (factor.mean(), error, expected))

    def test_mistakes(self):
        system = {"type": "lattice", "structure": "sc", "density": 0.3, "cells": [6, 6, 6],
                  "types": {"A": 1, "B": 1}}
        stage = {"type": "monte_carlo", "sweeps": 1, "temperature": 1,
                 "translation": {"displacement": 0.1}}
        job = self.job(system, self.forces(), stages=[{**stage, "cluster": {"trials": 5}}])
        self.refused(job, r"forces\[1\]: cannot be combined with the stage \"monte_carlo\": acts "
                          r"between all particles, .* got \"cluster\"")
        job = self.job(system, self.forces(mesh={}), stages=[stage])
        self.refused(job, r"forces\[1\]: .*has no energies of single moves")
        job = self.chains(self.forces(surface_permittivity=1)[1])
        job["stages"] = [{**stage, "pivot": {"rotation": 0.3}}]
        self.refused(job, r"forces\[1\]: .*depends on the dipole moment .* got \"pivot\"")
        job = self.job(system, self.forces(), stages=[stage],
                       observers=[{"type": "widom", "stride": 1, "group": "all"}])
        self.refused(job, r"forces\[1\]: .*has no energies of single particles")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
