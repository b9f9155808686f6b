#!/usr/bin/python3
"""Rigid bodies: they stay as they are, energies, pressure against the derivative of the energy,
equipartition, resumed runs, mistakes.

    bodies.py PERRIN [unittest arguments]
"""

import copy
import json
import math
import os
import unittest

import h5py
import numpy

from job_case import JobCase

LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 0.5, "sigma": 0.7}]}
DIMER = {"D": {"sites": [{"type": "A", "at": [0.35, 0, 0]}, {"type": "A", "at": [-0.35, 0, 0]}]}}
# Uneven, its centre of mass elsewhere, its axes oblique.
TRIMER = {"D": {"sites": [{"type": "A", "at": [0.3, 0.2, 0.1]}, {"type": "A", "at": [-0.3, 0.1, 0]},
                          {"type": "A", "at": [0, 0.4, 0.5]}]}}
NVE = {"type": "velocity_verlet", "timestep": 0.002}
BUSSI = {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1}


def job(bodies, integrator, *forces, steps=500, density=0.3, cells=(6, 6, 6), temperature=1.5,
        start="random", structure="sc", **more):
    return {"seed": 5,
            "system": {"type": "lattice", "structure": structure, "density": density,
                       "cells": list(cells), "types": {"D": 1}},
            "bodies": bodies, "orientations": {"start": start},
            "velocity": {"temperature": temperature}, "forces": list(forces) or [LJ],
            "observers": [{"type": "thermo", "stride": 10}, {"type": "checkpoint"},
                          {"type": "trajectory", "stride": 250, "precision": "double",
                           "quantities": ["position", "image", "velocity"]}],
            "stages": [{"type": "md", "steps": steps, "integrator": integrator}], **more}


class Bodies(JobCase):
    overwrite = True

    def state(self, folder):
        """What a checkpoint has of the particles, by name."""
        with h5py.File(self.path(folder, "checkpoint.h5")) as f:
            particles = f["state/simulation/particles"]
            return {name: particles[name][()].tobytes() for name in (
                "orientation", "angular_momentum", "velocity", "position", "force", "image")}

    def sites(self, per_body, bodies):
        """Of each frame and body: places and velocities of the sites relative to the centre."""
        with h5py.File(self.path("trajectory.h5")) as f:
            at = f["particles/all/position/value"][()].astype(float)
            v = f["particles/all/velocity/value"][()].astype(float)
            edges = numpy.diag(f["particles/all/box/edges/value"][0]) if (
                "value" in f["particles/all/box/edges"]) else f["particles/all/box/edges"][()]
            edges = numpy.asarray(edges, float)
            edges = edges if edges.ndim == 1 else numpy.diag(edges)
        center = at[:, :bodies, None]
        own = at[:, bodies:].reshape(len(at), bodies, per_body, 3) - center
        own -= edges * numpy.round(own / edges)
        turn = v[:, bodies:].reshape(len(at), bodies, per_body, 3) - v[:, :bodies, None]
        return own, turn

    def test_they_stay_as_they_are_and_conserve_energy(self):
        spread = []
        for dt in (0.004, 0.002):
            self.run_job(job(TRIMER, {"type": "velocity_verlet", "timestep": dt},
                             steps=round(4 / dt)))
            energy = self.column("total_energy")
            spread.append(energy[len(energy) // 5:].std())
            own, turn = self.sites(3, 216)
            # Masses are equal: the centre of mass is the mean.
            numpy.testing.assert_allclose(own.mean(2), 0, atol=2e-6)
            expected = numpy.array([s["at"] for s in TRIMER["D"]["sites"]])
            for a, b in ((0, 1), (0, 2), (1, 2)):
                length = numpy.sqrt(((own[:, :, a] - own[:, :, b])**2).sum(-1))
                numpy.testing.assert_allclose(length, math.dist(expected[a], expected[b]),
                                              rtol=3e-6)
                # No velocity along a distance that does not change.
                along = ((own[:, :, a] - own[:, :, b]) * (turn[:, :, a] - turn[:, :, b])).sum(-1)
                self.assertLess(abs(along).max(), 1e-5)
            # What velocities (masses of 3, numbers below 2) lose by rounding in two kicks a step.
            rounding = math.sqrt(2 * round(4 / dt) * 216) * 3 * 2**-23 / math.sqrt(12)
            momentum = self.column("momentum")
            self.assertLess(abs(momentum).max(), 5 * rounding)
        self.assertLess(spread[1], 0.4 * spread[0], spread)
        self.assertLess(spread[1], 1e-4 * 216 * 6 * 1.5 / 2 * 10)

    def test_pressure_is_the_derivative_of_the_energy(self):
        # Bodies that keep their directions, in boxes a little larger and smaller: P = N k T/V -
        # dU/dV of the centres.
        for bodies, cells, structure in ((TRIMER, (6, 6, 6), "sc"), (DIMER, (9, 9, 1), "square")):
            bodies = copy.deepcopy(bodies)
            planar = structure == "square"
            density, h, rows = (0.5 if planar else 0.35), 1e-3, {}
            for scale in (1 - h, 1, 1 + h):
                self.run_job(job(bodies, NVE, steps=1, start="aligned", cells=cells,
                                 structure=structure, density=density * scale))
                rows[scale] = [self.column(name)[0] for name in (
                    "potential_energy", "volume", "pressure", "kinetic_energy")]
            (low, v_low, *_), (high, v_high, *_) = rows[1 + h], rows[1 - h]
            _, volume, pressure, kinetic = rows[1]
            ideal = 2 * kinetic / ((2 if planar else 3) * volume)
            expected = ideal - (high - low) / (v_high - v_low)
            self.assertGreater(abs(expected - ideal), 0.05)
            self.assertLess(abs(pressure - expected), 2e-3 * abs(expected - ideal) + 1e-4)

    def test_all_motions_have_the_temperature(self):
        # 216 bodies: 3 N - 3 velocities (3 N with a bath), 3 N and 2 N angular ones. As in
        # orientations.py.
        bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.2, "friction": 4,
                "rotational_friction": 0.4}
        bussi = {"type": "bussi", "timestep": 0.004, "temperature": 1.2, "tau": 0.1}
        chain = {"type": "nose_hoover", "timestep": 0.004, "temperature": 1.2, "tau": 0.2}
        for bodies, axes, integrator in ((TRIMER, 3, bath), (DIMER, 2, bath), (TRIMER, 3, bussi),
                                         (TRIMER, 3, chain)):
            with self.subTest(f"{integrator['type']}, {axes}"):
                # Friction/mass of a bath is 4/3 or 2, friction/moment some 0.8 and more: energies
                # forget themselves as exp(-2 friction t/mass), in 60 units of time 48 times.
                slow = integrator is bath
                self.run_job(job(bodies, integrator, steps=15600 if slow else 4000,
                                 temperature=1.2))
                for name, number in (("temperature", 3), ("rotational_temperature", axes)):
                    found = self.column(name)[60:]
                    error = 1.2 * math.sqrt(2 / (number * 216) / (48 if slow else 150))
                    self.assertLess(abs(found.mean() - 1.2), 4 * error + 0.005, name)

    def test_a_body_is_a_molecule_of_stiff_springs(self):
        # The same energy on average as dumbbells whose bonds are springs so stiff that their length
        # hardly varies (T/k = 6e-4 of a length squared of 0.49): LJ energies of dimers in an
        # equilibrium of temperature 1.5. 216 dimers, 300 rows: see the errors found.
        bath = {"type": "langevin", "timestep": 0.002, "temperature": 1.5, "friction": 1,
                "rotational_friction": 0.5}
        rigid = job(DIMER, bath, steps=8000, density=0.3)
        self.run_job(rigid)
        one = self.column("potential_energy")[200:]
        chains = {"seed": 6, "system": {"type": "chains", "chains": 216, "pattern": "A2",
                                        "bond_length": 0.7, "density": 0.6, "min_distance": 0.55},
                  "velocity": {"temperature": 1.5},
                  "forces": [LJ, {"type": "bond_harmonic",
                                  "bonds": {"bond": {"stiffness": 2500, "length": 0.7}}}],
                  "observers": [{"type": "thermo", "stride": 10}],
                  "stages": [
                      {"type": "md", "steps": 2000, "name": "relax", "integrator": {
                          "type": "fire", "force_tolerance": 10, "maximum_move": 0.02}},
                      {"type": "md", "steps": 8000, "integrator": {
                          "type": "langevin", "timestep": 0.002, "temperature": 1.5,
                          "friction": 1}}]}
        self.run_job(chains)
        with h5py.File(self.path("thermo.h5")) as f:
            steps = f["observables/potential_energy/step"][()]
            other = f["observables/potential_energy/value"][()]
        other = other[steps > steps[-1] - 6000] - 216 * 1.5 / 2  # that of the springs
        def error(x):
            blocks = x[:len(x) // 10 * 10].reshape(10, -1).mean(1)
            return blocks.std(ddof=1) / math.sqrt(10)
        allowed = 4 * math.hypot(error(one), error(other)) + 0.01 * abs(one.mean())
        self.assertLess(abs(one.mean() - other.mean()), allowed)

    def test_motion_is_that_of_lammps(self):
        # 27 trimers from rest, 400 steps of 0.0005 by fix rigid/nve/small: the two methods differ
        # by the square of the time step, and rounding by some 1e-7 of an edge.
        with open(os.path.join(os.path.dirname(__file__), "lammps_orientations.json")) as file:
            known = json.load(file)["rigid"]
        self.oriented("start.xyz", known["edge"], known["centers"], known["quaternions"], "D")
        body = {"D": {"sites": [{"type": "A", "at": at} for at in known["sites"]],
                      "mass": known["mass"], "moments_of_inertia": known["moments"]}}
        text = job(body, {"type": "velocity_verlet", "timestep": known["timestep"]},
                   {**LJ, "cutoff": 2.2, "truncation": "energy_shift"}, steps=known["steps"],
                   system={"type": "file", "path": "start.xyz"}, start="default")
        del text["velocity"]
        text["observers"][2] |= {"positions": "unwrapped", "stride": known["steps"]}
        self.run_job(text)
        energy = self.column("potential_energy")
        for k in (0, -1):
            self.assertAlmostEqual(energy[k] / known["energy"][k], 1, 5)
        self.assertAlmostEqual(
            (self.column("kinetic_energy") + self.column("rotational_energy"))[-1],
            known["kinetic"], delta=2e-5)
        at = self.frames("position")[-1][27:].astype(float)
        moved = at - numpy.array(known["sites_after"])
        moved -= known["edge"] * numpy.round(moved / known["edge"])
        self.assertLess(abs(moved).max(), 1e-5)  # of 0.012

    def test_bodies_without_forces_are_an_ideal_gas(self):
        # Of n bodies, whatever they carry: the density of volumes is V^n exp(-P V/kT), their mean
        # (n + 1) kT/P, the variance (n + 1) (kT/P)². Volumes relax within tau or so: 8 tau are left
        # out, and 400 rows of 0.2 tau are 40 independent ones or more.
        n, kt, pressure = 64, 1.5, 0.5
        barostat = {"pressure": pressure, "tau": 0.5, "compressibility": 1 / pressure, "stride": 4}
        nothing = {"type": "gaussian_core", "cutoff": 1.2,
                   "pairs": [{"types": ["A", "A"], "epsilon": 1e-9, "sigma": 0.1}]}
        bath = {"timestep": 0.005, "temperature": kt, "friction": 2, "rotational_friction": 1}
        for integrator in ({**bath, "type": "langevin", "barostat": barostat},
                           {**bath, "type": "brownian", "barostat": barostat},
                           {"type": "bussi", "timestep": 0.005, "temperature": kt, "tau": 0.1,
                            "barostat": barostat}):
            with self.subTest(integrator["type"]):
                text = job(TRIMER, integrator, nothing, steps=16000, cells=(4, 4, 4), density=0.3,
                           temperature=kt)
                text["observers"][0]["stride"] = 20
                self.run_job(text)
                volume = self.column("volume")[80:]
                mean, width = (n + 1) * kt / pressure, math.sqrt(n + 1) * kt / pressure
                self.assertLess(abs(volume.mean() - mean), 4 * width / math.sqrt(80), volume.mean())
                self.assertLess(abs(volume.std() / width - 1), 0.35)
        # Of trial moves, beside eight particles that belong to no body.
        text = job(TRIMER, None, nothing, cells=(4, 4, 4), density=0.3, system={
            "type": "lattice", "structure": "sc", "density": 0.3, "cells": [4, 4, 4],
            "types": {"D": 7, "S": 1}}, stages=[{
                "type": "monte_carlo", "sweeps": 7000, "temperature": kt, "tune": {"sweeps": 500},
                "molecule": {"displacement": 0.3, "rotation": 1}, "translation": {
                    "displacement": 0.5}, "barostat": {"pressure": pressure, "tau": 5}}])
        text["forces"][0]["pairs"] += [{**nothing["pairs"][0], "types": list(t)}
                                       for t in ("AS", "SS")]
        self.run_job(text)
        volume = self.column("volume")[70:]
        self.assertLess(abs(volume.mean() - mean), 4 * self.error(volume), volume.mean())
        self.assertLess(self.error(volume), 0.2 * width)
        self.assertLess(abs(volume.std() / width - 1), 0.35)

    def test_pressure_is_that_of_the_barostat(self):
        # What a bath at constant volume says is the pressure at its density is what barostats have
        # that density at; and energy less heat is conserved, torques and all.
        bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.5, "friction": 1,
                "rotational_friction": 0.5}
        self.run_job(job(TRIMER, bath, steps=6000, density=0.4))
        held = self.column("pressure")[100:]
        pressure, error = held.mean(), self.error(held)
        barostat = {"pressure": float(pressure), "tau": 1}
        # The compressibility that the width of the volumes says: they are independent after tau.
        for integrator in ({**bath, "barostat": {**barostat, "compressibility": 0.7, "stride": 5}},
                           {"type": "nose_hoover", "timestep": 0.002, "temperature": 1.5,
                            "tau": 0.2, "barostat": {**barostat, "tau": 2}}):
            with self.subTest(integrator["type"]):
                steps = round(60 / integrator["timestep"])
                self.run_job(job(TRIMER, integrator, steps=steps, density=0.4))
                self.check_pressed(steps // 50, 216 / 0.4, 1.5, (pressure, error), 0.01 * 216)
        # Trial moves, whose decisions are by energies, have the same density.
        text = job(TRIMER, None, density=0.4, stages=[{
            "type": "monte_carlo", "sweeps": 5000, "temperature": 1.5, "tune": {"sweeps": 500},
            "molecule": {"displacement": 0.1, "rotation": 0.4},
            "barostat": {"pressure": float(pressure), "tau": 5}}])
        self.run_job(text)
        density = 216 / self.column("volume")[60:]
        # dρ/dP = ρ κ, with the compressibility above.
        error = math.hypot(self.error(density), 0.4 * 0.7 * error)
        self.assertLess(abs(density.mean() - 0.4), 4 * error, (density.mean(), error))
        self.assertLess(error, 0.01)

    def test_fire_finds_minima_of_places_and_directions(self):
        # Two dimers: at best all four distances between their sites are that of the lowest energy,
        # 2^(1/6) σ. Then many, with their box.
        with open(self.path("two.xyz"), "w") as out:
            out.write('2\nLattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3\n'
                      "D 0 0 0\nD 0.4 0.9 0.3\n")
        pair = job(DIMER, {"type": "fire", "force_tolerance": 1e-3}, {**LJ, "truncation": "cut"},
                   steps=4000, system={"type": "file", "path": "two.xyz"})
        del pair["velocity"]
        pair["observers"][2]["stride"] = 1
        done = self.run_job(pair)
        self.assertRegex(done.stdout, "converged .*largest torque")
        with h5py.File(self.path("trajectory.h5")) as f:
            at = f["particles/all/position/value"][-1].astype(float)
        between = at[2:4, None] - at[None, 4:6]
        between -= 8 * numpy.round(between / 8)
        numpy.testing.assert_allclose(numpy.sqrt((between**2).sum(-1)), 0.7 * 2**(1 / 6),
                                      atol=1e-3)
        many = job(TRIMER, {"type": "fire", "force_tolerance": 0.02,
                            "cell": {"pressure": 0.5, "tolerance": 0.01}}, steps=6000)
        done = self.run_job(many)
        self.assertRegex(done.stdout, "converged .largest force")
        self.assertLess(abs(self.column("pressure")[-1] -
                            2 * self.column("kinetic_energy")[-1] / 3 / self.column("volume")[-1]
                            - 0.5), 0.03)

    def mean(self, column, skip):
        values = self.column(column)[skip:]
        return values.mean(), self.error(values)

    def test_trial_moves_agree_with_dynamics(self):
        """Trimers among atoms, by trial moves and by a bath: energy and pressure. Sites are exactly
        where their bodies are afterwards, and dynamics goes on from there."""
        pairs = [{"types": list(t), "epsilon": e, "sigma": 0.7}
                 for t, e in (("AA", 0.5), ("AS", 0.8), ("SS", 0.6))]
        bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.2, "friction": 1,
                "rotational_friction": 0.5}
        mixed = job(TRIMER, bath, {**LJ, "pairs": pairs}, density=0.6, temperature=1.2, steps=16000)
        mixed["system"]["types"] = {"D": 1, "S": 1}
        self.run_job(mixed)
        dynamics = [self.mean(c, 200) for c in ("potential_energy", "pressure")]
        mixed["stages"] = [
            {"type": "monte_carlo", "sweeps": 3000, "temperature": 1.2, "tune": {"sweeps": 200},
             "translation": {"displacement": 0.1}, "molecule": {"displacement": 0.1,
                                                                "rotation": 0.3}},
            {"type": "md", "steps": 10, "name": "on", "integrator": NVE}]
        self.run_job(mixed)
        for (a, da), column in zip(dynamics, ("potential_energy", "pressure")):
            b, db = self.mean(column, 30)
            # The bath's time step of 0.004 is worth less than 0.002 of the energy.
            self.assertLess(abs(a - b), 4 * math.hypot(da, db) + 0.002 * abs(a), column)
        with h5py.File(self.path("trajectory.h5")) as f:
            species = f["particles/all/species"][()]
            at = f["particles/all/position/value"][()].astype(float)
        self.assertEqual(len(species), 216 + 3 * 108)
        edge = (216 / 0.6) ** (1 / 3)
        found = at[:, 216:].reshape(len(at), 108, 3, 3)
        body = numpy.array([site["at"] for site in TRIMER["D"]["sites"]])
        for k, j in ((0, 1), (0, 2), (1, 2)):
            between = found[:, :, k] - found[:, :, j]
            between -= edge * numpy.round(between / edge)
            length = numpy.linalg.norm(between, axis=-1)
            numpy.testing.assert_allclose(length, numpy.linalg.norm(body[k] - body[j]), atol=3e-6)

    @staticmethod
    def parts(*integrators, **more):
        """Dimers and trimers among atoms, which integrators of their own move. No group names a
        site."""
        pairs = [{"types": list(t), "epsilon": e, "sigma": 0.7}
                 for t, e in (("AA", 0.5), ("AS", 0.8), ("SS", 0.6), ("AB", 0.5), ("BB", 0.5),
                              ("BS", 0.7))]
        trimer = {"sites": [{**site, "type": "B"} for site in TRIMER["D"]["sites"]]}
        text = job({**DIMER, "E": trimer}, None, {**LJ, "pairs": pairs}, density=0.5,
                   temperature=1.2, **more)
        text["system"]["types"] = {"D": 1, "E": 1, "S": 2}
        text["groups"] = {name: {"types": [t]} for name, t in
                          (("dimers", "D"), ("trimers", "E"), ("atoms", "S"))}
        text["groups"]["others"] = {"types": ["E", "S"]}
        stage = text["stages"][0]
        del stage["integrator"]
        stage["integrators"] = [{"group": group, **integrator} for group, integrator in
                                zip(("dimers", "trimers", "atoms"), integrators)]
        text["observers"][0]["groups"] = ["dimers", "trimers", "atoms"]
        return text

    def test_two_groups_with_one_integrator_are_one(self):
        text = self.parts(NVE, NVE, NVE)
        self.run_job(text, folder="groups")
        whole = copy.deepcopy(text)
        whole["stages"][0]["integrators"] = [{"group": "all", **NVE}]
        self.run_job(whole, folder="whole")
        self.same_state("groups", "whole")
        for column in ("temperature", "rotational_temperature", "pressure", "temperature_dimers",
                       "kinetic_energy_trimers"):
            numpy.testing.assert_array_equal(self.column(column, "groups"),
                                             self.column(column, "whole"), column)
        # What groups have is all there is: sites have no part in it.
        total = sum(self.column(f"kinetic_energy_{g}", "whole")
                    for g in ("dimers", "trimers", "atoms"))
        numpy.testing.assert_allclose(total, self.column("kinetic_energy", "whole"), rtol=1e-12)
        counts = (54, 54, 108)
        mean = sum(n * self.column(f"temperature_{g}", "whole")
                   for n, g in zip(counts, ("dimers", "trimers", "atoms"))) / 216
        numpy.testing.assert_allclose(mean, self.column("temperature", "whole"), rtol=1e-9)

    def test_temperature_of_a_slab(self):
        """It is that of the centres and atoms, as the whole temperature."""
        text = self.parts(BUSSI, NVE, NVE, steps=100)
        text["observers"].append({"type": "profile", "bins": 1, "stride": 10, "rows_every": 10})
        self.run_job(text)
        # Relative to the centre of mass, which hardly moves.
        numpy.testing.assert_allclose(self.column("temperature", file="profile.h5")[:, 0],
                                      self.column("temperature"), rtol=0.005)

    def test_pressure_of_a_group_by_trial_moves(self):
        """Of bodies without forces kT for each centre that moves, and nothing for sites."""
        text = job(TRIMER, None, stages=[{**self.trials(), "group": "half"}],
                   groups={"half": {"ids": [[0, 107], [216, 539]]}})
        text["forces"] = []
        text["observers"].append({"type": "pressure_profile", "bins": 1, "stride": 20,
                                  "rows_every": 20})
        self.run_job(text)
        numpy.testing.assert_allclose(
            self.column("pressure", file="pressure_profile.h5").reshape(-1),
            108 / (216 / 0.3), rtol=1e-6)

    def test_frozen_and_moving_bodies(self):
        """Sites stay with their bodies; with the work that is done the energy is conserved."""
        drift = []
        for dt in (0.004, 0.002):
            still = {"type": "frozen", "timestep": dt}
            push = {"type": "moving", "timestep": dt, "velocity": [0.05, 0, 0],
                    "oscillation": {"amplitude": [0, 0.03, 0], "period": 0.5}}
            self.run_job(self.parts(still, push, {"type": "velocity_verlet", "timestep": dt},
                                    steps=round(2 / dt)))
            with h5py.File(self.path("trajectory.h5")) as f:
                at = f["particles/all/position/value"][()]
                species = f["particles/all/species"][()]
                types = [name.decode() for name in f["parameters/perrin/type_names"][()]]
                time = f["particles/all/position/time"][()]
                edge = f["particles/all/box/edges/value"][0].diagonal() if (
                    "value" in f["particles/all/box/edges"]) else numpy.diagonal(
                        numpy.atleast_2d(f["particles/all/box/edges"][()]))
            edge = numpy.asarray(edge, float).max()
            moved = at - at[0]
            moved -= edge * numpy.round(moved / edge)
            for center, site, path in (("D", "A", [0, 0, 0]), ("E", "B", [0.05, 0.03, 0])):
                expected = numpy.outer(time, [path[0], 0, 0])
                expected[:, 1] = path[1] * numpy.sin(2 * numpy.pi * time / 0.5)
                expected -= edge * numpy.round(expected / edge)
                for t in (center, site):
                    own = moved[:, species == types.index(t)]
                    self.assertGreater(own.shape[1], 50)
                    off = own - expected[:, None]
                    off -= edge * numpy.round(off / edge)
                    # Positions are multiples of 2^-32 edges, of which each step rounds one.
                    numpy.testing.assert_allclose(off, 0, atol=2e-5)
            self.assertTrue((self.column("kinetic_energy_dimers") == 0).all())
            energy = self.column("conserved_energy")
            drift.append(numpy.abs(energy - energy[0]).max())
        self.assertLess(drift[1], 0.4 * drift[0])
        self.assertLess(drift[1], 1e-3 * abs(energy[0]))

    def test_thermostats_of_bodies(self):
        """Dimers and atoms have the temperatures of their baths, in all motions, beside trimers
        that are held."""
        bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.6, "friction": 8,
                "rotational_friction": 4}
        cold = {"type": "langevin", "timestep": 0.004, "temperature": 0.8, "friction": 8}
        self.run_job(self.parts(bath, {"type": "frozen", "timestep": 0.004}, cold, steps=6000))
        for column, expected, weight in (("temperature_dimers", 1.6, 3 * 54),
                                         ("rotational_temperature", 1.6, 2 * 54),
                                         ("temperature_atoms", 0.8, 3 * 108)):
            mean, error = self.mean(column, 50)
            # What flows between the two keeps them apart from their baths by a few per cent.
            self.assertLess(abs(mean - expected), 4 * error + 0.06 * expected, (column, mean))
            # One value scatters by sqrt(2/f).
            spread = self.column(column)[50:].std() / expected
            self.assertLess(abs(spread / math.sqrt(2 / weight) - 1), 0.25, (column, spread))

    def sheared(self, integrator, rate=1.0, steps=500, **more):
        text = job(TRIMER, integrator, neighbors={"traversal": "verlet_list"}, steps=steps, **more)
        text["stages"][0]["shear"] = {"rate": rate, "work": True}
        text["observers"][0]["box"] = True
        return text

    def test_energy_in_shear(self):
        """With the work that is done it is conserved, as by dt², also where the tilt turns; bodies
        stay as they are."""
        drift = []
        for dt in (0.004, 0.002):
            self.run_job(self.sheared({"type": "velocity_verlet", "timestep": dt},
                                      steps=round(4 / dt), temperature=1))
            energy = self.column("conserved_energy")
            drift.append(abs(energy - energy[0]).max())
            work = self.column("work")
        self.assertLess(drift[1], 0.4 * drift[0])
        self.assertLess(drift[1], 0.01 * work[-1])
        self.assertGreater(work[-1], 20)
        with h5py.File(self.path("trajectory.h5")) as f:
            at = f["particles/all/position/value"][()]
            v = f["particles/all/velocity/value"][()]
            edges = f["particles/all/box/edges/value"][()]
        body = numpy.array([site["at"] for site in TRIMER["D"]["sites"]])
        for k, h in enumerate(edges):
            own = at[k, 216:].reshape(216, 3, 3)
            turn = v[k, 216:].reshape(216, 3, 3)
            for a, b in ((0, 1), (0, 2), (1, 2)):
                d = own[:, a] - own[:, b]
                d -= numpy.round(d @ numpy.linalg.inv(h)) @ h
                length = numpy.linalg.norm(body[a] - body[b])
                numpy.testing.assert_allclose(numpy.linalg.norm(d, axis=1), length, atol=3e-6)
                # Velocities are relative to the flow: in space no two sites come nearer.
                apart = turn[:, a] - turn[:, b]
                apart[:, 0] += 1.0 * d[:, 1]
                if k > 0:
                    self.assertLess(abs((apart * d).sum(axis=1)).max(), 1e-5)

    def test_energy_in_a_box_that_is_deformed(self):
        """The same where a stage makes it denser and tilts it, and in a plane that is sheared."""
        denser = job(TRIMER, NVE, neighbors={"traversal": "verlet_list"}, temperature=1)
        denser["stages"][0]["deform"] = {"x": 7.5, "z": 8.5, "xy": 2, "work": True}
        plane = job(DIMER, NVE, neighbors={"traversal": "verlet_list"}, structure="square",
                    cells=(12, 12, 1), density=0.4, temperature=1)
        plane["stages"][0]["shear"] = {"rate": 1, "work": True}
        for text in (denser, plane):
            text["observers"][0]["box"] = True
            drift = []
            for dt in (0.004, 0.002):
                text["stages"][0].update(steps=round(2 / dt), integrator={**NVE, "timestep": dt})
                self.run_job(text)
                energy = self.column("conserved_energy")
                drift.append(abs(energy - energy[0]).max())
            self.assertGreater(self.column("work")[-1], 2)
            self.assertLess(drift[1], 0.02 * self.column("work")[-1])
            self.assertLess(drift[1], 0.4 * drift[0])

    def test_a_flow_turns_particles(self):
        """Without noise and torques friction gives them the rotation of the flow, -rate/2."""
        rate, dt, steps = 0.8, 0.01, 400
        for integrator, plane in (
                ({"type": "langevin", "temperature": 1e-12, "friction": 3,
                  "rotational_friction": 10}, True),
                ({"type": "langevin", "temperature": 1e-12, "friction": 3,
                  "rotational_friction": 10}, False),
                ({"type": "brownian", "temperature": 1e-12, "friction": 3,
                  "rotational_friction": 10}, True),
                ({"type": "brownian", "temperature": 1e-12, "friction": 3,
                  "rotational_friction": 10}, False),
                ({"type": "active_brownian", "temperature": 0, "friction": 3, "speed": 0.1,
                  "rotational_diffusion": 0}, True)):
            text = {"seed": 5, "system": {"type": "lattice", "density": 0.3, "cells": [5, 5, 5],
                                          "structure": "sc"},
                    "orientations": {"start": "random", "moments_of_inertia": {"A": [1, 1, 1]}},
                    "velocity": {"temperature": 0.01}, "forces": [],
                    "observers": [{"type": "trajectory", "stride": 100, "precision": "double",
                                   "quantities": ["position", "orientation"]}],
                    "stages": [{"type": "md", "steps": steps, "shear": {"rate": rate},
                                "integrator": {**integrator, "timestep": dt}}]}
            if plane:
                text["system"].update(structure="square", cells=[8, 8, 1])
            self.run_job(text)
            with h5py.File(self.path("trajectory.h5")) as f:
                q = f["particles/all/orientation/value"][()].astype(float)
            # q(t) q(0)*: the turn in space between the last frames.
            w, v = q[..., 0], q[..., 1:]
            a, b = 2, 4
            turn_w = (w[b] * w[a] + (v[b] * v[a]).sum(-1))
            turn_v = (w[a][:, None] * v[b] - w[b][:, None] * v[a] - numpy.cross(v[b], v[a]))
            turn_v *= numpy.sign(turn_w)[:, None]
            angle = 2 * numpy.arctan2(numpy.linalg.norm(turn_v, axis=1), abs(turn_w))
            expected = rate / 2 * dt * 200
            numpy.testing.assert_allclose(angle, expected, rtol=2e-3, err_msg=str(integrator))
            self.assertTrue((turn_v[:, 2] < 0).all(), integrator)
            numpy.testing.assert_allclose(turn_v[:, :2], 0, atol=3e-3, err_msg=str(integrator))

    def test_rigid_water(self):
        """SPC/E: Monte Carlo has the energy of dynamics."""
        angle, mass = math.radians(109.47 / 2), numpy.array([15.999, 1.008, 1.008])
        at = numpy.array([[0, 0, 0], *([math.cos(angle), s * math.sin(angle), 0]
                                       for s in (1, -1))])
        at -= mass @ at / mass.sum()
        along = mass @ at**2
        water = {"W": {"sites": [{"type": t, "at": list(r)} for t, r in zip("OHH", at)],
                       "mass": mass.sum(),
                       "moments_of_inertia": [along[1], along[0], along[0] + along[1]]}}
        forces = [{"type": "lennard_jones", "cutoff": 6, "truncation": "energy_shift",
                   "pairs": [{"types": list(t), "epsilon": e, "sigma": 3.166}
                             for t, e in (("OO", 0.650), ("OH", 0), ("HH", 0))]},
                  {"type": "coulomb_dsf", "cutoff": 6, "damping": 0.2}]
        bath = {"type": "langevin", "timestep": 0.02, "temperature": 298, "friction": 5,
                "rotational_friction": 5}
        text = job(water, bath, *forces, density=0.0334, cells=(4, 4, 4), temperature=298,
                   steps=20000)
        text["system"]["types"] = {"W": 1}
        text["attributes"] = {"charge": {"types": {"O": -0.8476, "H": 0.4238}, "default": 0}}
        text["units"] = {"length": "angstrom", "energy": "kJ/mol", "mass": "u"}
        self.run_job(text)
        a, da = self.mean("potential_energy", 400)
        text["stages"] = [{"type": "monte_carlo", "sweeps": 6000, "temperature": 298,
                           "tune": {"sweeps": 600}, "molecule": {"displacement": 0.2,
                                                                 "rotation": 0.3}}]
        self.run_job(text)
        b, db = self.mean("potential_energy", 150)
        print(f"rigid water: {a / 64:.3f}({da / 64:.3f}) and {b / 64:.3f}({db / 64:.3f}) kJ/mol")
        self.assertLess(abs(a - b), 4 * math.hypot(da, db) + 0.005 * abs(a))

    @staticmethod
    def error(x):
        # Eight blocks: volumes relax slowly.
        blocks = x[:len(x) // 8 * 8].reshape(8, -1).mean(1)
        return blocks.std(ddof=1) / math.sqrt(8)

    def kinds(self):
        bath = {"type": "langevin", "timestep": 0.002, "temperature": 1, "friction": 1,
                "rotational_friction": 1}
        return {"trimers": job(TRIMER, bath, steps=200),
                "planar": job(DIMER, BUSSI, structure="square", cells=(12, 12, 1), density=0.4,
                              steps=200),
                "droplet": job(DIMER, {"type": "brownian", "timestep": 1e-4, "temperature": 1,
                                       "friction": 1, "rotational_friction": 0.3}, LJ,
                               {"type": "harmonic_trap", "stiffness": [0.2] * 3}, density=0.05,
                               steps=200),
                "barostat": job(TRIMER, {**bath, "barostat": {
                    "pressure": 1, "tau": 0.2, "axes": "flexible", "stride": 3}}, steps=200),
                "chains": job(TRIMER, {"type": "nose_hoover", "timestep": 0.002, "temperature": 1,
                                       "tau": 0.1, "barostat": {"pressure": 1, "tau": 4}},
                              steps=200),
                "groups": self.parts(bath, {"type": "moving", "timestep": 0.002,
                                            "velocity": [0.3, 0, 0]}, BUSSI, steps=200),
                "shear": self.sheared(bath, rate=3, steps=200),
                "trials": job(TRIMER, None, stages=[self.trials()]),
                "planar trials": job(
                    DIMER, None, {**LJ, "pairs": [{"types": list(t), "epsilon": 0.5, "sigma": 0.7}
                                                  for t in ("AA", "AS", "SS")]},
                    {"type": "harmonic_trap", "stiffness": [0.02, 0.02, 0]}, density=0.4,
                    system={"type": "lattice", "structure": "square", "density": 0.4,
                            "cells": [12, 12, 1], "types": {"D": 1, "S": 1}},
                    stages=[{**self.trials(), "translation": {"displacement": 0.1}}])}

    @staticmethod
    def trials():
        return {"type": "monte_carlo", "sweeps": 40, "temperature": 1, "tune": {"sweeps": 30},
                "molecule": {"displacement": 0.1, "rotation": 0.5}}

    def test_any_number_of_processes(self):
        """Also frames: sites have other velocities than at the start in the first one of a flow,
        and where bodies that were turning are held."""
        denser = job(TRIMER, NVE, steps=20, neighbors={"traversal": "verlet_list"})
        denser["stages"][0]["deform"] = {"density": 1.3}
        held = self.parts(BUSSI, {"type": "frozen"}, BUSSI, steps=20)
        self.check_processes({**self.kinds(), "denser": denser, "held": held},
                             ("pressure", "total_energy"))

    def test_stopped_and_resumed(self):
        self.check_resumed(self.kinds())

    def from_file(self, path, **more):
        """A job that goes on from the last frame of a file."""
        text = {**job(TRIMER, NVE, steps=0), "orientations": {"start": "default"}, **more}
        del text["velocity"]
        text["system"] = {"type": "file", "path": path, "frame": -1}
        return text

    def test_a_start_from_frames_of_gsd(self):
        """Bodies of a file of Perrin's are bodies again: the same particles and energies, to the
        single precision of the file; their template must be that of the file."""
        frames = {"type": "gsd", "stride": 100, "quantities": [
            "position", "velocity", "image", "orientation", "angular_momentum"]}
        text = job(TRIMER, NVE, steps=400)
        text["system"]["types"] = {"D": 2, "S": 1}
        text["forces"] = [{**LJ, "pairs": [{"types": list(t), "epsilon": 0.5, "sigma": 0.7}
                                           for t in ("AA", "AS", "SS")]}]
        text["attributes"] = {"mass": {"types": {"A": 0.7, "S": 1.3, "D": 1}}}
        text["observers"].append(frames)
        self.run_job(text, folder="first")
        path = self.path("first", "trajectory.gsd")
        again = self.from_file(path, forces=text["forces"])
        self.run_job(again, folder="second")
        with h5py.File(self.path("second", "trajectory.h5")) as file:
            self.assertEqual(file["particles/all/position/value"].shape[1], 216 + 3 * 144)
        for name in ("potential_energy", "kinetic_energy", "rotational_energy", "temperature",
                     "rotational_temperature", "pressure"):
            one, two = self.column(name, "first")[-1], self.column(name, "second")[0]
            self.assertLess(abs(one - two), 2e-4 * max(abs(one), 1), name)
        # They go on as bodies, and through a conversion, too.
        done = self.perrin("convert", path, "converted.gsd", "--overwrite")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        again["system"] = {"type": "file", "path": self.path("converted.gsd"), "frame": -1}
        again["stages"][0]["steps"] = 300
        self.run_job(again, folder="third")
        energy = self.column("total_energy", "third")
        self.assertLess(abs(energy - self.column("total_energy", "first")[-1]).max(), 0.15)
        q = self.words("orientation", "third")
        self.assertGreater(abs(q[:, :3]).max(), 0.5)
        done = self.perrin("convert", path, "converted.xyz", "--overwrite")
        self.assertRegex(done.stderr, "the rigid bodies of 576 particles are left out")
        # Where all look along the axes of space, files have no orientations.
        still = job(TRIMER, NVE, steps=0, start="aligned", cells=(4, 4, 4))
        still["observers"].append(frames)
        still["velocity"] = {"temperature": 0}
        self.run_job(still, folder="still")
        self.run_job(self.from_file(self.path("still", "trajectory.gsd"), forces=[LJ]),
                     folder="as it was")
        self.assertAlmostEqual(self.column("potential_energy", "as it was")[0] /
                               self.column("potential_energy", "still")[0], 1, 5)
        self.misfits(path, text["forces"])

    def test_sites_of_a_file_without_bodies_are_not_added_again(self):
        """H5MD does not say which particles are sites. With or without orientations in the file,
        bodies that would have theirs twice are refused; what is free at other places is not."""
        text = job(TRIMER, NVE, steps=100)
        both = ["position", "orientation"]
        text["observers"] = [{"type": "trajectory", "stride": 100, "file": name, "quantities": what}
                             for name, what in (("turned.h5", both), ("places.h5", both[:1]))]
        self.run_job(text)
        for name in ("turned.h5", "places.h5"):
            self.refused(self.from_file(self.path(name)),
                         rf"bodies.D: \S*{name} has these sites among its particles already, in no "
                         "body: .* particle 0 of type D")
        other = {"D": {"sites": [{"type": "A", "at": [0.3, 0, 0]}, {"type": "A", "at": [0, 0, 0]},
                                 {"type": "A", "at": [0, 1, 0]}]}}
        free = self.from_file(self.path("turned.h5"), bodies=other, forces=[])
        self.run_job(free, folder="free")
        with h5py.File(self.path("free", "trajectory.h5")) as file:
            self.assertEqual(file["particles/all/position/value"].shape[1], 216 * 7)

    def test_sites_of_a_part_are_not_added_again(self):
        """Likewise where the file is a part of the start, or the system of one."""
        self.run_job({**job(TRIMER, NVE, steps=0), "observers": [
            {"type": "trajectory", "stride": 1, "file": "places.h5", "quantities": ["position"]}]})
        file = {"type": "file", "path": self.path("places.h5")}
        with h5py.File(self.path("places.h5")) as places:
            edges = places["particles/all/box/edges"]
            edges = edges["value"][0] if isinstance(edges, h5py.Group) else edges[()]
        edge = float(numpy.asarray(edges).ravel()[0])
        for part in ({"type": "source", "system": file},
                     {**file, "number": 1, "center": [0, 0, 0], "orientation": "fixed"}):
            with self.subTest(part["type"]):
                text = self.from_file("")
                text["system"] = {"type": "parts", "box": [edge] * 3, "min_distance": 0,
                                  "parts": [part]}
                self.refused(text, r"bodies.D: \S*places.h5 has these sites among its particles "
                                   "already, in no body: .* particle 0 of type D")
        # Beside centres alone, others of the sites' type are free.
        text = self.from_file("", forces=[])
        text["system"] = {"type": "parts", "box": [20] * 3, "min_distance": 1, "parts": [
            {"type": "random", "particles": {"D": 60, "A": 60}}]}
        self.run_job(text, folder="free")
        with h5py.File(self.path("free", "thermo.h5")) as table:
            self.assertIn("observables", table)

    def lammps_file(self, name, edge, types, places, digits=6):
        """A data file of single particles in a cube."""
        with open(self.path(name), "w") as out:
            out.write(f"\n\n{len(places)} atoms\n2 atom types\n\n" + "".join(
                f"0 {edge} {k}lo {k}hi\n" for k in "xyz"))
            out.write("\nMasses\n\n1 1\n2 1\n\nAtoms # atomic\n\n")
            for k, (type, at) in enumerate(zip(types, places)):
                out.write(f"{k + 1} {type} " + " ".join(f"{x:.{digits}f}" for x in at) + "\n")
        return self.path(name)

    def test_sites_are_found_by_their_arrangement(self):
        """Particles as far from a centre as its sites, which are arranged otherwise about it, are
        no sites of its; files with three decimals are found to have theirs."""
        n, pairs = 6, [{"types": list(p), "epsilon": 1, "sigma": 1e-3} for p in ("11", "12", "22")]
        force = {"type": "wca", "pairs": pairs}

        def bodies(*places):
            return {"2": {"sites": [{"type": "1", "at": list(at)} for at in places]}}

        def free(text):
            self.run_job(text, folder="free")

        def there(text):
            self.refused(text, "bodies.2: .* are about particle 0 of type 2 as its sites are")

        # The neighbours on a simple cubic lattice are at the distance of (0, 0.6, 0.8), too, and
        # there are three pairs of them. With one pair alone the dumbbell is there, turned.
        sites = numpy.indices((n, n, n)).reshape(3, -1).T + [0.5, 0.5, 0.5]
        around = numpy.array([[3, 3, 3], [4, 3, 3], [2, 3, 3], [3, 4, 3], [3, 3, 4]])
        lattice = self.lammps_file("lattice", n, [2, *[1] * (n**3 - 1)], sites)
        pair = self.lammps_file("pair", n, [2, 1, 1], around[:3])
        three = self.lammps_file("three", n, [2, 1, 1, 1], around[[0, 1, 3, 4]])
        four = self.lammps_file("four", n, [2, 1, 1, 1, 1], around)
        ends, corner = [(0, 0.6, 0.8), (0, -0.6, -0.8)], [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
        turned = [(0.6 * x - 0.8 * y, 0.8 * x + 0.6 * y, z) for x, y, z in corner]
        moments = {"moments_of_inertia": [1, 1, 1]}  # places are as they are said
        for path, places, check in (
                (lattice, ends, free), (pair, ends, there), (three, ends, free),
                (three, corner, there), (three, turned, there), (pair, corner, free),
                # What stands for the first sites is no part of the whole.
                (four, [(0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0)], there),
                (four, [(1, 0, 0), (0, 1, 0), (0, 0.6, 0.8)], free),
                (pair, [(1, 0, 0), (-1, 0, 0), (1, 0, 0.01)], free)):
            check(self.from_file(path, forces=[force],
                                 bodies={"2": {**bodies(*places)["2"], **moments}}))
        # Dumbbells, a centre between two sites; the third decimal moves a site by 1e-3 of 0.5.
        rng, types, places = numpy.random.default_rng(7), [], []
        for at in numpy.indices((4, 4, 4)).reshape(3, -1).T * 3 + 1.5:
            u = rng.normal(size=3)
            u /= 2 * numpy.linalg.norm(u)
            types += [2, 1, 1]
            places += [at + rng.uniform(-0.5, 0.5, 3)]
            places += [places[-1] + u, places[-1] - u]
        for digits in (3, 4, 6):
            path = self.lammps_file("dumbbells", 12, types, places, digits)
            there(self.from_file(path, forces=[force], bodies=bodies((0.5, 0, 0), (-0.5, 0, 0))))
        for at in (0.49, 0.51):
            free(self.from_file(path, forces=[force], bodies=bodies((at, 0, 0), (-at, 0, 0))))

    def misfits(self, path, forces):
        (a, b, c), type = TRIMER["D"]["sites"], {"type": "S"}
        none = self.from_file(path)
        none["forces"] = []
        del none["bodies"]
        done = self.run_job(none, folder="none")
        self.assertRegex(done.stdout + done.stderr,
                         "the rigid bodies of 576 particles .* the job has no \"bodies\"")
        for sites, more, pattern in (
                ([a, b], {}, r"bodies.D: is not as the bodies of the file are: the body of "
                 r"particle 0 has sites of the types \[A, A, A\] in the file, expected \[A, A\]"),
                ([a, b, {**c, **type}], {}, r"expected \[A, A, S\]"),
                ([a, c, b], {}, "particle 216, site 0 of the body of particle 0, is .* from where|"
                 "particle 217, site 1 of the body of particle 0, is .* from where"),
                ([a, b, c], {"mass": 3}, "particle 0 has the mass 2.1 in the file, expected 3"),
                ([a, b, {**c, "at": [0, 0.4, 0.6]}], {}, "has the moments of inertia"),
                ([a, b, c], {"moments_of_inertia": [1, 2, 3]}, r"expected \(1, 2, 3\)")):
            bodies = {"D": {"sites": sites, **more}}
            self.refused(self.from_file(path, forces=forces, bodies=bodies), pattern)
        self.refused(self.from_file(path, forces=forces, bodies={"S": TRIMER["D"]}),
                     r'bodies: the file has bodies whose centres are of type "D" \(particle 0\)')
        absent = self.from_file(path, forces=forces, reservoir={"S": 10})
        self.refused(absent, "reservoir: cannot be combined with a file that has orientations or")
        both = {**TRIMER, "S": TRIMER["D"]}
        self.refused(self.from_file(path, forces=forces, bodies=both),
                     r"bodies.S: particle \d+ is of this type, and is the centre of no body")

    def test_sites_have_no_directions(self):
        """They would keep those that they were given while their bodies turn. Forces that need them
        are refused, observers leave them out."""
        refused = r"whose directions do not turn with their bodies: expected the type of the bodies"
        sides = {"types": ["A", "A"], "epsilon": 1, "sigma": 0.5}
        patches = {"directions": [[1, 0, 0]]}
        for where, force in {
                "pairs: act between": {"type": "gay_berne", "cutoff": 2, "pairs": [sides]},
                "pairs:": {"type": "dipole", "cutoff": 2, "pairs": [
                    {"types": ["A", "A"], "strength": 1}]},
                "patches.A": {"type": "patchy", "cutoff": 2, "patches": {"A": patches},
                              "pairs": [sides]},
                "types": {"type": "active_force", "force": 1, "types": ["A"]}}.items():
            self.refused(job(DIMER, NVE, LJ, force), r"forces\[1\]\." + where + ".*" + refused)
        for where, observer in {
                "types": {"type": "orientational_correlation", "types": ["A"]},
                "patches.A": {"type": "patch_bonds", "distance": 1, "patches": {"A": patches}}
        }.items():
            wrong = job(DIMER, NVE)
            wrong["observers"] = [observer]
            self.refused(wrong, r"observers\[0\]\." + where + ".*" + refused)
        wrong = job(DIMER, NVE)
        wrong["orientations"]["moments_of_inertia"] = {"A": [1, 1, 1]}
        self.refused(wrong, "moments_of_inertia.A: is of sites of rigid bodies")
        # A push on all passes over them.
        fine = job(DIMER, NVE, {"type": "active_force", "force": 3, "torque": 0.5}, steps=0,
                   start="aligned")
        fine["observers"] += [{"type": "orientational_order", "stride": 1},
                              {"type": "orientational_correlation", "rows_every": 100}]
        fine["observers"][2]["quantities"] = ["force", "torque"]
        self.run_job(fine)
        force, torque = self.frames("force")[0], self.frames("torque")[0]
        numpy.testing.assert_allclose(force[:216], [[3, 0, 0]] * 216, atol=1e-6)
        numpy.testing.assert_allclose(torque[:216], [[0, 0, 0.5]] * 216, atol=1e-6)
        self.assertEqual(numpy.abs(force[216:]).max(), 0)
        order = self.column("polar_order", file="orientational_order.h5")
        numpy.testing.assert_allclose(order, 1, atol=1e-6)

    def test_mistakes(self):
        self.refused(job({"B": DIMER["D"]}, NVE), r"bodies\.B: no particle of the system is of")
        self.refused(job({"D": {"sites": []}}, NVE), r"bodies\.D\.sites: must have a site")
        self.refused(job({"D": {"sites": [{"type": "A", "at": [0, 0, 0]}]}}, NVE),
                     "has no moment of inertia")
        self.refused(job({"D": {"sites": [{"type": "D", "at": [1, 0, 0]}]}}, NVE),
                     "is the type of a body")
        straight = {"type": "groot_warren", "timestep": 0.002}
        self.refused(self.parts(NVE, straight, NVE),
                     r"stages\[0\]\.integrators\[1\]: .* does not turn rigid bodies, which are in "
                     r'the group "trimers"')
        unowned = self.parts(NVE, NVE)
        self.refused(unowned, "108 of 486 particles are in no group of an integrator")
        compressed = {**NVE, "barostat": {"pressure": 1, "tau": 1, "temperature": 1}}
        self.refused(job(DIMER, compressed, neighbors={"traversal": "cells"}),
                     "neighbors.traversal: must keep lists")
        sheared = job(DIMER, NVE, neighbors={"traversal": "cells"})
        sheared["stages"][0]["shear"] = {"rate": 0.1}
        self.refused(sheared, "neighbors.traversal: must keep lists where the box of rigid bodies")
        trials = job(DIMER, NVE, stages=[{**self.trials(), "translation": {"displacement": 0.1}}])
        self.refused(trials, "translation: would move single particles, and all belong to rigid")
        del trials["stages"][0]["molecule"]
        self.refused(trials, 'must have a move that moves and turns rigid bodies: .* "molecule"')

    def test_sites_have_no_motion_of_their_own(self):
        bath = {"timestep": 0.002, "temperature": 1, "friction": 1}
        swims = {"timestep": 1e-4, "temperature": 1, "friction": 1, "rotational_friction": 1,
                 "speed": 1}
        for kind, given, key in (
                ("langevin", {**bath, "frictions": {"A": 2}}, "frictions.A"),
                ("langevin", {**bath, "types": ["A"]}, r"types\[0\]"),
                ("brownian", {**bath, "rotational_frictions": {"A": 2}}, "rotational_frictions.A"),
                ("brownian", {**bath, "rotational_frictions_of_axes": {"A": [1, 2, 3]}},
                 "rotational_frictions_of_axes.A"),
                ("active_brownian", {**swims, "speeds": {"A": 2}}, "speeds.A")):
            with self.subTest(kind=kind, key=key):
                self.refused(job(DIMER, {"type": kind, **given}),
                             key + ': "A" is the type of sites of rigid bodies, which move with')


unittest.main(argv=["bodies", *__import__("sys").argv[2:]])
