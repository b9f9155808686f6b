#!/usr/bin/python3
"""Constraints of distances: a free rotor, a pendulum, energies and lengths, temperatures, the same
as rigid bodies, starts, resumed runs, mistakes.

    constraints.py PERRIN [unittest arguments]
"""

import copy
import json
import math
import os
import unittest

import h5py
import numpy

from job_case import DEVICE, PERRIN, JobCase

DIMER = [("1", [0.35, 0, 0]), ("1", [-0.35, 0, 0])]
BENT = 109.47
WATER = [("1", [0, 0, 0]), ("2", [0.6, 0, 0]),
         ("2", [0.6 * math.cos(math.radians(BENT)), 0.6 * math.sin(math.radians(BENT)), 0])]
MASSES = {"1": 4.0, "2": 1.0}
LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift", "mixing": "geometric",
      "pairs": [{"types": ["1", "1"], "epsilon": 0.5, "sigma": 0.7},
                {"types": ["2", "2"], "epsilon": 0.2, "sigma": 0.5}]}
ONE = {**LJ, "pairs": LJ["pairs"][:1]}
NVE = {"type": "velocity_verlet", "timestep": 0.002}
BATHS = [{"type": "langevin", "timestep": 0.004, "temperature": 1.2, "friction": 4},
         {"type": "bussi", "timestep": 0.004, "temperature": 1.2, "tau": 0.1},
         {"type": "nose_hoover", "timestep": 0.004, "temperature": 1.2, "tau": 0.2}]


def turned(random, flat):
    """A rotation, at random."""
    if flat:
        a = random.uniform(0, 2 * math.pi)
        return numpy.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0],
                            [0, 0, 1]])
    q, r = numpy.linalg.qr(random.normal(size=(3, 3)))
    return q * numpy.sign(numpy.diag(r)) * numpy.linalg.det(q * numpy.sign(numpy.diag(r)))


class Constraints(JobCase):
    overwrite = True

    def write_data(self, name, edges, positions, types, bonds=(), angles=(), velocities=None):
        """A LAMMPS data file, from 0 on; ids as they are counted from 0."""
        kinds = sorted(set(types))
        with open(self.path(name), "w") as out:
            out.write(f"test\n\n{len(positions)} atoms\n{len(bonds)} bonds\n{len(angles)} angles\n"
                      f"{len(kinds)} atom types\n1 bond types\n1 angle types\n\n")
            for axis, edge in zip("xyz", edges):
                out.write(f"0 {edge!r} {axis}lo {axis}hi\n")
            out.write("\nMasses\n\n")
            for kind in kinds:
                out.write(f"{kind} {self.masses[kind]}\n")
            out.write("\nAtoms # angle\n\n")
            for k, (kind, r) in enumerate(zip(types, positions)):
                out.write(f"{k + 1} 1 {kind} " + " ".join(f"{x:.15g}" for x in r) + "\n")
            if velocities is not None:
                out.write("\nVelocities\n\n")
                for k, v in enumerate(velocities):
                    out.write(f"{k + 1} " + " ".join(f"{x:.15g}" for x in v) + "\n")
            if len(bonds):
                out.write("\nBonds\n\n")
                for k, bond in enumerate(bonds):
                    out.write(f"{k + 1} 1 " + " ".join(str(i + 1) for i in bond) + "\n")
            if len(angles):
                out.write("\nAngles\n\n")
                for k, angle in enumerate(angles):
                    out.write(f"{k + 1} 1 " + " ".join(str(i + 1) for i in angle) + "\n")

    masses = MASSES

    def molecules(self, shape, density, cells, seed=3, name="start.data"):
        """On a lattice, each turned at random; `density` of molecules."""
        random = numpy.random.default_rng(seed)
        flat = cells[2] == 0
        a = density ** (-1 / 2 if flat else -1 / 3)
        places = [numpy.array([x, y, z]) * a for x in range(cells[0]) for y in range(cells[1])
                  for z in range(max(cells[2], 1))]
        positions, types, bonds, angles = [], [], [], []
        at = numpy.array([r for _, r in shape], float)
        for place in places:
            first = len(positions)
            positions += list(place + at @ turned(random, flat).T)
            types += [t for t, _ in shape]
            bonds += [(first, first + k) for k in range(1, len(shape))]
            if len(shape) == 3:
                angles.append((first + 1, first, first + 2))
        edges = [cells[0] * a, cells[1] * a, 1 if flat else cells[2] * a]
        edges = [float(e) for e in edges]
        wrapped = numpy.array(positions) % numpy.array(edges)
        if flat:
            wrapped[:, 2] = 0
        self.write_data(name, edges, wrapped, types, bonds, angles)
        return numpy.array(edges), numpy.array(bonds), numpy.array(angles)

    def job(self, constraints, integrator, *forces, steps=500, temperature=1.5, every=250,
            system=None, **more):
        text = {"seed": 5, "system": {"type": "file", "path": "start.data", **(system or {})},
                "constraints": constraints, "velocity": {"temperature": temperature},
                "forces": list(forces), "ignore": ["angles"],
                "observers": [{"type": "thermo", "stride": 10},
                              {"type": "checkpoint"},
                              {"type": "trajectory", "stride": every, "precision": "double",
                               "quantities": ["position", "velocity", "force"]}],
                "stages": [{"type": "md", "steps": steps, "integrator": integrator}], **more}
        if not temperature:
            del text["velocity"]
        return text

    def check_lengths(self, edges, pairs, lengths, rtol=2e-7, folder="."):
        at = self.frames("position", folder).astype(float)
        v = self.frames("velocity", folder).astype(float)
        a, b = pairs.T
        r = at[:, a] - at[:, b]
        r -= edges * numpy.round(r / edges)
        found = numpy.sqrt((r**2).sum(-1))
        numpy.testing.assert_allclose(found, numpy.broadcast_to(lengths, found.shape), rtol=rtol)
        along = (r * (v[:, a] - v[:, b])).sum(-1) / found
        self.assertLess(abs(along).max(), 2e-5)

    def test_a_free_rotor(self):
        """Two masses that turn about their centre of mass, which moves: in every step SHAKE turns
        them by asin(ω dt). The pressure tensor is that of the centre, and of the rotation, whose
        trace is 0."""
        self.masses = {"1": 1.0, "2": 3.0}
        length, omega, drift = 1.3, 0.9, numpy.array([0.2, -0.1, 0.05])
        along, up = numpy.array([2, 1, 2]) / 3, numpy.array([1, 2, -2]) / 3
        center = numpy.array([9.5, 3.0, 0.2])  # across two faces
        at = [center + 0.75 * length * along, center - 0.25 * length * along]
        v = [drift + 0.75 * length * omega * up, drift - 0.25 * length * omega * up]
        self.write_data("start.data", [10.0, 10.0, 10.0], numpy.array(at) % 10, ["1", "2"],
                        [(0, 1)], [], v)
        for dt, steps in ((0.1, 100), (0.02, 500)):
            text = self.job({"bonds": {"1": length}}, {**NVE, "timestep": dt}, steps=steps,
                            temperature=0, every=steps // 2)
            self.run_job(text)
            found, moving = self.frames("position"), self.frames("velocity")
            for k, n in enumerate((0, steps // 2, steps)):
                angle = n * math.asin(omega * dt)
                turn = math.cos(angle) * along + math.sin(angle) * up
                rate = omega * (math.cos(angle) * up - math.sin(angle) * along)
                for i, share in ((0, 0.75), (1, -0.25)):
                    off = found[k, i] - (center + n * dt * drift + share * length * turn)
                    off -= 10 * numpy.round(off / 10)
                    # Velocities are rounded to 24 bits in every step.
                    numpy.testing.assert_allclose(off, 0, atol=3e-5)
                    numpy.testing.assert_allclose(moving[k, i], drift + share * length * rate,
                                                  atol=5e-6)
            tensor = self.column("pressure_tensor")[-1].reshape(-1)
            expected = 4 * numpy.outer(drift, drift) + 0.75 * (length * omega)**2 * (
                numpy.outer(rate, rate) / omega**2 - numpy.outer(turn, turn))
            numpy.testing.assert_allclose(tensor, expected.reshape(-1) / 1000, atol=2e-8)

    def test_a_pendulum(self):
        """Between two masses, one of which is pulled: L θ'' = -(F/m) sin θ, errors as dt²."""
        length, pull, m = 1.0, 2.0, self.masses["2"]
        start = 2.5
        heavy, light = numpy.array([20.0, 20, 20]), numpy.array([
            20 + length * math.cos(start), 20 + length * math.sin(start), 20])
        self.write_data("start.data", [40.0, 40.0, 40.0], [heavy, light], ["1", "2"], [(0, 1)], [],
                        [[0, 0, 0], [0, 0, 0]])
        time, fine, theta, rate = 6.0, 20000, start, 0.0
        for _ in range(fine):
            h = time / fine
            def slope(a):
                return -pull / (m * length) * math.sin(a)
            k1, l1 = rate, slope(theta)
            k2, l2 = rate + h / 2 * l1, slope(theta + h / 2 * k1)
            k3, l3 = rate + h / 2 * l2, slope(theta + h / 2 * k2)
            k4, l4 = rate + h * l3, slope(theta + h * k3)
            theta += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            rate += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        errors = []
        for dt in (0.02, 0.01):
            text = self.job({"bonds": {"1": length}}, {**NVE, "timestep": dt},
                            {"type": "constant_force", "on": "light", "force": [pull, 0, 0]},
                            steps=round(time / dt), temperature=0, every=round(time / dt),
                            groups={"light": {"types": ["2"]}})
            self.run_job(text)
            r = numpy.diff(self.frames("position")[-1], axis=0)[0]
            r -= 40 * numpy.round(r / 40)
            found = math.atan2(r[1], r[0])
            errors.append(abs((found - theta + math.pi) % (2 * math.pi) - math.pi))
            # The forces that are written hold the distance: along it the relative acceleration is
            # that of the circle.
            f, v = self.frames("force")[-1], self.frames("velocity")[-1]
            a = f[1] / m - f[0] / self.masses["1"]
            speed2 = ((v[1] - v[0])**2).sum()
            self.assertAlmostEqual(-(a * r).sum(), speed2, delta=0.1 * dt / 0.01 * (1 + speed2))
        self.assertLess(errors[0], 0.02)
        self.assertLess(errors[1], 0.3 * errors[0], errors)

    def test_lengths_stay_and_energy_is_conserved(self):
        for shape, cells, density, angles in ((WATER, (6, 6, 6), 0.25, {"1": BENT}),
                                              (WATER, (14, 14, 0), 0.4, {"1": BENT}),
                                              (DIMER, (14, 14, 0), 0.4, {})):
            flat = cells[2] == 0
            edges, bonds, ends = self.molecules(shape, density, cells)
            length = 0.6 if shape is WATER else 0.7
            pairs, lengths = bonds, numpy.full(len(bonds), length)
            if angles:
                pairs = numpy.concatenate([bonds, ends[:, [0, 2]]])
                far = 2 * length * math.sin(math.radians(BENT) / 2)
                lengths = numpy.concatenate([lengths, numpy.full(len(ends), far)])
            spread = []
            for dt in (0.004, 0.002):
                self.run_job(self.job({"bonds": {"1": length}, "angles": angles},
                                      {**NVE, "timestep": dt}, LJ if shape is WATER else ONE,
                                      steps=round(4 / dt),
                                      system={"dimension": 2} if flat else None))
                energy = self.column("total_energy")
                spread.append(energy[len(energy) // 5:].std())
                self.check_lengths(edges, pairs, lengths)
                self.assertLess(abs(self.column("momentum")).max(), 5e-3)
            self.assertLess(spread[1], 0.4 * spread[0], spread)

    def test_drawn_velocities_and_starts(self):
        """The temperature is the one asked for, with 3 degrees of freedom less in each molecule;
        lengths that are off by a little are put right, others told."""
        edges, bonds, angles = self.molecules(WATER, 0.2, (4, 4, 4))
        for length in (0.6, 0.61):
            self.run_job(self.job({"bonds": {"1": length}, "angles": {"1": 104}}, NVE, LJ, steps=1,
                                  every=1, temperature=1.1))
            v = self.frames("velocity")[0].astype(float)
            mass = numpy.tile([4.0, 1, 1], 64)
            number = 64 * 6 - 3
            self.assertAlmostEqual((mass[:, None] * v**2).sum() / number, 1.1, places=5)
            self.assertAlmostEqual(self.column("temperature")[0], 1.1, places=5)
            self.check_lengths(edges, bonds, length)
        self.refused(self.job({"bonds": {"1": 0.7}}, NVE, LJ),
                     r"constraints: particles \d+ and \d+ are 0\.6\d* apart at the start, expected "
                     r"0\.7, up to 10 %, .*128 of 128")

    def test_all_motions_have_the_temperature(self):
        """Of centres of mass and of rotation, each 3 N degrees of freedom (N = 216)."""
        self.molecules(WATER, 0.25, (6, 6, 6))
        for bath in BATHS:
            with self.subTest(bath["type"]):
                self.run_job(self.job({"bonds": {"1": 0.6}, "angles": {"1": BENT}}, bath, LJ,
                                      steps=6000, temperature=1.2, every=20))
                found = self.column("temperature")[100:]
                self.assertLess(abs(found.mean() - 1.2), 4 * self.error(found) + 0.004)
                v = self.frames("velocity")[50:].astype(float).reshape(-1, 216, 3, 3)
                mass = numpy.array([4.0, 1, 1])[:, None]
                center = (mass * v).sum(2) / 6
                whole = 6 * (center**2).sum((1, 2)) / (3 * 216)
                turning = (mass * (v - center[:, :, None])**2).sum((1, 2, 3)) / (3 * 216)
                for part in (whole, turning):
                    self.assertLess(abs(part.mean() - 1.2), 4 * self.error(part) + 0.012)
                # What noise does along constraints counts as no heat, of which there would be
                # several kT in every step.
                kept = self.column("conserved_energy")
                self.assertLess(abs(kept[-1] - kept[100]), 0.02 * 216 * 1.2)

    @staticmethod
    def error(x):
        blocks = x[:len(x) // 10 * 10].reshape(10, -1).mean(1)
        return blocks.std(ddof=1) / math.sqrt(10)

    def bodies(self, integrator, steps, every):
        """The dimers as rigid bodies."""
        return {"seed": 8, "system": {"type": "lattice", "structure": "sc", "density": 0.3,
                                      "cells": [6, 6, 6], "types": {"D": 1}},
                "bodies": {"D": {"sites": [{"type": t, "at": r} for t, r in DIMER]}},
                "attributes": {"mass": {"types": {"1": 4, "D": 8}}},
                "orientations": {"start": "random"}, "velocity": {"temperature": 1.5},
                "forces": [ONE],
                "observers": [{"type": "thermo", "stride": 10},
                              {"type": "trajectory", "stride": every, "precision": "double",
                               "quantities": ["position", "velocity"]}],
                "stages": [{"type": "md", "steps": steps, "integrator": integrator}]}

    def test_averages_are_those_of_rigid_bodies(self):
        """Energy and pressure in a bath."""
        self.molecules(DIMER, 0.3, (6, 6, 6))
        bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.5, "friction": 1}
        self.run_job(self.job({"bonds": {"1": 0.7}}, bath, ONE, steps=12000))
        mine = {name: self.column(name)[200:] for name in ("potential_energy", "pressure")}
        self.run_job(self.bodies({**bath, "rotational_friction": 0.5}, 12000, 12000))
        for name, one in mine.items():
            other = self.column(name)[200:]
            allowed = 4 * math.hypot(self.error(one), self.error(other)) + 0.003 * abs(one.mean())
            self.assertLess(abs(one.mean() - other.mean()), allowed, name)

    def test_motion_is_that_of_rigid_bodies(self):
        """From the places and velocities of bodies: the difference is that of the two methods, and
        goes with the square of the time step; and rounding."""
        difference = []
        for dt in (0.016, 0.008, 0.002):
            steps = round(0.4 / dt)
            self.run_job(self.bodies({**NVE, "timestep": dt}, steps, steps))
            at, v = self.frames("position"), self.frames("velocity")
            pressure = self.column("pressure")
            edges = numpy.full(3, (216 / 0.3) ** (1 / 3))
            sites = at[0][216:].astype(float) % edges
            bonds = [(2 * k, 2 * k + 1) for k in range(216)]
            self.write_data("start.data", [float(e) for e in edges], sites, ["1"] * 432, bonds, [],
                            v[0][216:].astype(float))
            self.run_job(self.job({"bonds": {"1": 0.7}}, {**NVE, "timestep": dt}, ONE, steps=steps,
                                  every=steps, temperature=0))
            off = self.frames("position")[-1].astype(float) - at[-1][216:]
            off -= edges * numpy.round(off / edges)
            difference.append(abs(off).max())
            # That of bodies counts the motion of centres alone: the same on average, not now; here
            # the virial of the rotation is beside its kinetic energy.
            self.assertLess(abs(self.column("pressure").mean() - pressure.mean()), 0.05)
        self.assertLess(difference[1], 0.35 * difference[0], difference)
        self.assertLess(difference[2], 5e-5)

    def test_motion_is_that_of_lammps(self):
        """27 bent molecules from rest, 800 steps by fix rattle and nve."""
        with open(os.path.join(os.path.dirname(__file__), "lammps_constraints.json")) as file:
            known = json.load(file)
        edge, steps = known["edge"], known["steps"]
        bonds = [(3 * k, 3 * k + j) for k in range(27) for j in (1, 2)]
        angles = [(3 * k + 1, 3 * k, 3 * k + 2) for k in range(27)]
        self.write_data("start.data", [edge] * 3, known["start"], ["1", "2", "2"] * 27, bonds,
                        angles)
        self.run_job(self.job({"bonds": {"1": 0.6}, "angles": {"1": BENT}},
                              {**NVE, "timestep": known["timestep"]},
                              {**LJ, "cutoff": 2.0, "truncation": "energy_shift"}, steps=steps,
                              every=steps, temperature=0))
        for k in (0, -1):
            self.assertAlmostEqual(self.column("potential_energy")[k],
                                   known["potential_energy"][k], delta=2e-4)
        self.assertAlmostEqual(self.column("kinetic_energy")[-1], known["kinetic_energy"],
                               delta=5e-4)
        self.assertAlmostEqual(self.column("temperature")[-1], known["temperature"], delta=1e-5)
        # LAMMPS takes forces of constraints from the middle of a step.
        self.assertAlmostEqual(self.column("pressure")[-1], known["pressure"], delta=1e-4)
        tensor = self.column("pressure_tensor")[-1].reshape(3, 3)
        numpy.testing.assert_allclose(tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
                                      known["tensor"], atol=1e-4)
        off = self.frames("position")[-1].astype(float) - numpy.array(known["after"])
        off -= edge * numpy.round(off / edge)
        self.assertLess(abs(off).max(), 1e-5)

    def test_chains_of_rigid_bonds(self):
        """Of 20 particles: freely jointed in a bath, <R²> of the ideal chain is (n-1) l² with
        momenta integrated out but for the metric of the constraints, 1 % or less for n = 20."""
        text = self.job({"bonds": {"bond": 1.0}}, {"type": "langevin", "timestep": 0.005,
                                                   "temperature": 1, "friction": 1},
                        {**ONE, "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.9}]},
                        steps=2000, temperature=1)
        text["system"] = {"type": "chains", "chains": 40, "pattern": "A20", "bond_length": 1,
                          "density": 0.3, "min_distance": 0.85}
        del text["ignore"]
        self.run_job(text)
        with h5py.File(self.path("trajectory.h5")) as f:
            edges = numpy.asarray(f["particles/all/box/edges"][()] if isinstance(
                f["particles/all/box/edges"], h5py.Dataset)
                else f["particles/all/box/edges/value"][0], float)
        edges = numpy.diag(edges) if edges.ndim == 2 else edges
        pairs = numpy.array([(20 * c + k, 20 * c + k + 1) for c in range(40) for k in range(19)])
        self.check_lengths(edges, pairs, 1.0)
        found = self.column("temperature")[50:]
        self.assertLess(abs(found.mean() - 1), 4 * self.error(found) + 0.006)

    def test_molecules_without_forces_are_an_ideal_gas(self):
        """Of n clusters, stiff or not: the density of volumes is V^n exp(-P V/kT), their mean (n +
        1) kT/P, the variance (n + 1) (kT/P)². Volumes relax within tau or so."""
        n, kt, pressure = 64, 1.5, 0.5
        barostat = {"pressure": pressure, "tau": 0.5, "compressibility": 1 / pressure, "stride": 4}
        nothing = {"type": "gaussian_core", "cutoff": 1.2}
        bath = {"timestep": 0.005, "temperature": kt}
        self.molecules(WATER, 0.3, (4, 4, 4))
        stiff = {"bonds": {"1": 0.6}, "angles": {"1": BENT}}
        chains = {"type": "chains", "chains": n, "pattern": "A5", "bond_length": 1,
                  "density": 1.5, "min_distance": 0.5}
        for constraints, system, types in ((stiff, None, "12"),
                                           ({"bonds": {"bond": 1.0}}, chains, "A")):
            with self.subTest(types):
                integrator = {**bath, "type": "langevin", "friction": 2}
                pairs = [{"types": [t, t], "epsilon": 1e-9, "sigma": 0.1} for t in types]
                if len(types) > 1:
                    pairs.append({"types": list(types), "epsilon": 1e-9, "sigma": 0.1})
                text = self.job(constraints, {**integrator, "barostat": barostat},
                                {**nothing, "pairs": pairs}, steps=16000, temperature=kt,
                                every=16000)
                if system:
                    text["system"] = system
                    del text["ignore"]
                text["observers"][0]["stride"] = 20
                self.run_job(text)
                volume = self.column("volume")[80:]
                mean, width = (n + 1) * kt / pressure, math.sqrt(n + 1) * kt / pressure
                self.assertLess(abs(volume.mean() - mean), 4 * width / math.sqrt(80), volume.mean())
                self.assertLess(abs(volume.std() / width - 1), 0.35)

    def test_pressure_is_that_of_the_barostat(self):
        """What a bath at constant volume says is the pressure at its density is what barostats have
        that density at; lengths stay, and energy less heat is conserved."""
        edges, bonds, _ = self.molecules(WATER, 0.35, (5, 5, 5))
        constraints = {"bonds": {"1": 0.6}, "angles": {"1": BENT}}
        bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.5, "friction": 1}
        self.run_job(self.job(constraints, bath, LJ, steps=20000))
        held = self.column("pressure")[100:]
        pressure, error = held.mean(), self.error(held)
        # The compressibility that the width of the volumes says: they are independent after tau.
        barostat = {"pressure": float(pressure), "tau": 1, "compressibility": 1.4, "stride": 5}
        for integrator in ({**bath, "barostat": barostat},
                           {"type": "bussi", "timestep": 0.004, "temperature": 1.5,
                            "tau": 0.2, "barostat": {**barostat, "axes": "z"}}):
            with self.subTest(integrator["type"]):
                steps = round(90 / integrator["timestep"])
                self.run_job(self.job(constraints, integrator, LJ, steps=steps, every=steps))
                self.check_pressed(steps // 50, 125 / 0.35, 1.5, (pressure, error), 0.02 * 125)
                at = self.frames("position").astype(float)[-1]
                with h5py.File(self.path("trajectory.h5")) as f:
                    box = numpy.diag(f["particles/all/box/edges/value"][-1]) if f[
                        "particles/all/box/edges/value"].ndim == 3 else f[
                        "particles/all/box/edges/value"][-1]
                r = at[bonds[:, 0]] - at[bonds[:, 1]]
                r -= box * numpy.round(r / box)
                numpy.testing.assert_allclose(numpy.sqrt((r**2).sum(-1)), 0.6, rtol=1e-6)

    def test_groups_and_exclusions(self):
        """Whole molecules have the temperature of all; pairs that are constrained are left out."""
        self.molecules(WATER, 0.25, (4, 4, 4))
        text = self.job({"bonds": {"1": 0.6}, "angles": {"1": BENT}}, BATHS[1], LJ, steps=100,
                        groups={"some": {"ids": [[0, 95]]}, "others": {"ids": [[96, 191]]}})
        text["observers"][0]["groups"] = ["some", "others"]
        done = self.run_job(text)
        self.assertRegex(done.stdout + done.stderr, "128 bonded .1-2., 192 constrained")
        mean = (self.column("temperature_some") + self.column("temperature_others")) / 2
        numpy.testing.assert_allclose(mean, self.column("temperature"), rtol=1e-4)

    def test_resumed_runs_have_the_same_bits(self):
        self.molecules(WATER, 0.25, (5, 5, 5))
        pressed = {**BATHS[1], "barostat": {"pressure": 2, "tau": 0.3, "stride": 3}}
        for bath in (BATHS[0], BATHS[2], pressed):
            whole = self.job({"bonds": {"1": 0.6}, "angles": {"1": BENT}}, bath, LJ, steps=300)
            self.run_job(whole, folder="whole", threads="1")
            part = copy.deepcopy(whole)
            part["stages"][0]["steps"] = 130
            self.run_job(part, folder="part")
            done = self.perrin("resume", self.path("part", "checkpoint.h5"), "--steps", "170",
                               "--device", DEVICE, "--threads", "2")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            states = []
            for folder in ("whole", "part"):
                with h5py.File(self.path(folder, "checkpoint.h5")) as f:
                    particles = f["state/simulation/particles"]
                    states.append({name: particles[name][()].tobytes()
                                   for name in ("velocity", "position", "force", "image")})
            self.assertEqual(states[0], states[1])

    def test_mistakes(self):
        self.molecules(WATER, 0.25, (4, 4, 4))
        good = self.job({"bonds": {"1": 0.6}, "angles": {"1": BENT}}, NVE, LJ)
        pressed = {**BATHS[1], "barostat": {"pressure": 1, "tau": 1}}
        for change, pattern in (
                ({"constraints": {"bonds": {"2": 0.6}}}, "no bonds of this type"),
                ({"constraints": {"bonds": {}, "angles": {"1": BENT}}}, "both bonds of the angle"),
                ({"constraints": {"bonds": {"1": -1}}}, "must be positive|greater than 0"),
                ({"dynamic_bonds": {"form": []}}, "cannot be combined with constraints|dynamic"),
                ({"stages": [{"type": "md", "steps": 5, "integrator": {
                    "type": "fire", "force_tolerance": 1}}]}, "velocity_verlet, bussi"),
                ({"stages": [{"type": "md", "steps": 5, "integrator": {
                    "type": "brownian", "timestep": 1e-4, "temperature": 1, "friction": 1}}]},
                 "velocity_verlet, bussi, nose_hoover, or langevin"),
                ({"stages": [{"type": "md", "steps": 5, "integrator": {
                    **BATHS[0], "method": "velocity_verlet"}}]}, "with the method baoab"),
                ({"stages": [{"type": "md", "steps": 5, "integrator": {
                    **BATHS[0], "axes": "xy"}}]}, "all particles along all axes"),
                ({"stages": [{"type": "md", "steps": 5, "integrator": {
                    **BATHS[2], "barostat": {"pressure": 1, "tau": 1}}}]},
                 "barostat: does not follow"),
                ({"stages": [{"type": "md", "steps": 5, "integrator": pressed}],
                  "neighbors": {"traversal": "cells"}}, "must keep lists"),
                ({"stages": [{"type": "md", "steps": 5, "integrator": NVE,
                              "shear": {"rate": 0.1}}]}, "expected no deform or shear"),
                ({"groups": {"a": {"ids": [[0, 95]]}, "b": {"ids": [[96, 191]]}},
                  "stages": [{"type": "md", "steps": 5, "integrators": [
                      {"group": "a", **NVE}, {"group": "b", **NVE}]}]}, "must have one integrator"),
                ({"stages": [{"type": "monte_carlo", "sweeps": 5, "temperature": 1,
                              "translation": {"displacement": 0.1}}]},
                 "makes trial moves, of which none keeps")):
            with self.subTest(str(change)):
                self.refused({**good, **change}, pattern)
        # On a line the third distance follows from the others.
        self.masses = {"1": 1.0}
        self.write_data("start.data", [9.0] * 3, [[1, 1, 1], [2, 1, 1], [3, 1, 1]], ["1"] * 3,
                        [(0, 1), (1, 2), (0, 2)])
        self.refused(self.job({"bonds": {"1": 1.05}}, NVE), "not independent|apart at the start")

    def test_what_cannot_be_kept(self):
        """A time step that is far too long ends with particles, distances and the step."""
        self.molecules(DIMER, 0.3, (4, 4, 4))
        text = self.job({"bonds": {"1": 0.7}}, {**NVE, "timestep": 0.6}, temperature=4)
        with open(self.path("job.json"), "w") as out:
            json.dump(text, out)
        done = self.perrin("run", self.path("job.json"), "--device", DEVICE, "--output-dir",
                           self.path("bad"))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"step \d+: (the constrained distance between particles \d+ "
                                      r"and \d+, now|particle \d+ moved)")


if __name__ == "__main__":
    print(PERRIN)
    unittest.main(argv=["constraints.py", *__import__("sys").argv[2:]])
