#!/usr/bin/python3
"""Groups of particles: who moves by which integrator, on whom forces act, and what is measured.

    groups.py PERRIN [unittest arguments]
"""

import copy
import importlib.util
import json
import math
import re
import shutil
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase

TRAVERSALS = ["tiles", "small", "cells", "verlet_list"] if DEVICE != "cpu" else [
    "clusters", "cells", "verlet_list"]

LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
NVE = {"type": "velocity_verlet", "timestep": 0.004}
BUSSI = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}
LANGEVIN = {"type": "langevin", "timestep": 0.004, "temperature": 1, "friction": 2}
CHAIN = {"type": "nose_hoover", "timestep": 0.004, "temperature": 1, "tau": 0.2}
FROZEN = {"type": "frozen", "timestep": 0.004}
HALVES = {"left": {"box": [[None, None, None], [0, None, None]]}, "right": {"not": ["left"]}}
QUANTITIES = ["position", "velocity", "force", "image"]


def md(integrators, steps=200, **more):
    key = "integrators" if isinstance(integrators, list) else "integrator"
    return {"type": "md", "steps": steps, key: integrators, **more}


def liquid(*stages, groups=HALVES, cells=(6, 6, 6), watched=(), **more):
    """864 particles."""
    return {"seed": 7, "groups": groups,
            "system": {"type": "lattice", "structure": "fcc", "density": 0.8442, "cells": cells},
            "velocity": {"temperature": 1.0}, "forces": [LJ],
            "observers": [{"type": "trajectory", "stride": 50, "quantities": QUANTITIES,
                           "precision": "double"},
                          {"type": "thermo", "stride": 10, "groups": list(watched)},
                          {"type": "checkpoint"}],
            "stages": list(stages), **more}


def gas(*stages, groups, particles=2000, forces=(), **more):
    """Without interactions."""
    return {"seed": 3, "groups": groups,
            "system": {"type": "random", "particles": {"A": particles}, "density": 0.5,
                       "min_distance": 0},
            "forces": list(forces),
            "observers": [{"type": "trajectory", "stride": 100, "quantities": QUANTITIES,
                           "positions": "unwrapped", "precision": "double"},
                          {"type": "thermo", "stride": 10, "groups": list(groups)}],
            "stages": list(stages), **more}


class Groups(JobCase):
    def left(self, folder="."):
        """Which particles were on the left at the start."""
        with h5py.File(self.path(folder, "trajectory.h5")) as file:
            return file["particles/all/position/value"][0, :, 0] < self.middle(file)

    @staticmethod
    def middle(file):
        """Files begin at the lower corner, or in the middle: x = 0 of the job."""
        edges = file["particles/all/box/edges"]
        edges = edges["value"][0] if isinstance(edges, h5py.Group) else edges[:]
        length = edges[0] if edges.ndim == 1 else edges[0, 0]
        lowest = file["particles/all/position/value"][0, :, 0].min()
        return 0.0 if lowest < -length / 4 else length / 2

    # -- the same bits -----------------------------------------------------------------------------

    def test_a_group_of_all_particles_changes_no_bit(self):
        for integrator in (NVE, LANGEVIN, BUSSI, CHAIN,
                           {**BUSSI, "barostat": {"pressure": 3, "tau": 0.2, "stride": 5}},
                           {"type": "brownian", "timestep": 1e-4, "temperature": 1, "friction": 2}):
            self.run_job(liquid(md(integrator)), "--overwrite", folder="one")
            self.run_job(liquid(md([{**integrator, "group": "all"}])), "--overwrite",
                         folder="group")
            for name in ("position", "velocity"):
                numpy.testing.assert_array_equal(self.frames(name, "one"),
                                                 self.frames(name, "group"), integrator["type"])

    def test_two_groups_with_the_same_integrator_are_one(self):
        self.run_job(liquid(md(NVE)), folder="one")
        self.run_job(liquid(md([{**NVE, "group": "left"}, {**NVE, "group": "right"}])),
                     folder="two")
        for name in QUANTITIES:
            numpy.testing.assert_array_equal(self.frames(name, "one"), self.frames(name, "two"))
        numpy.testing.assert_array_equal(self.column("temperature", "one"),
                                         self.column("temperature", "two"))

    def parts(self, **more):
        groups = {**HALVES, "wall": {"box": [[None, None, -3], [None, None, -1.5]]},
                  "plate": {"box": [[None, None, 3], [None, None, 4.5]]},
                  "cold": {"and": ["left"], "not": ["wall", "plate"]},
                  "hot": {"and": ["right"], "not": ["wall", "plate"]}}
        return liquid(
            md([{**LANGEVIN, "group": "cold", "temperature": 0.8},
                {**BUSSI, "group": "hot", "temperature": 1.4},
                {**FROZEN, "group": "wall"},
                {"type": "moving", "timestep": 0.004, "group": "plate", "velocity": [0.5, 0, 0],
                 "oscillation": {"amplitude": [0, 0.1, 0], "period": 0.3}}]),
            groups=groups, watched=["cold", "hot", "wall", "plate"], **more)

    def test_stopped_and_resumed(self):
        """Also for regions: who is in them was decided at the start."""
        for traversal in TRAVERSALS:
            job = self.parts(neighbors={"traversal": traversal})
            job["observers"][2]["steps"] = 77
            job["observers"].append({"type": "rdf", "stride": 7, "rows_every": 70,
                                     "groups": ["cold", "hot"]})
            self.run_job(job, "--overwrite", folder="whole")
            shutil.rmtree(self.path("again"), ignore_errors=True)
            shutil.copytree(self.path("whole"), self.path("again"))
            done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in QUANTITIES:
                numpy.testing.assert_array_equal(self.frames(name, "whole"),
                                                 self.frames(name, "again"), traversal)
            for name in ("temperature", "temperature_hot", "force_wall", "momentum_plate",
                         "conserved_energy"):
                numpy.testing.assert_array_equal(self.column(name, "whole"),
                                                 self.column(name, "again"), traversal)
            numpy.testing.assert_array_equal(self.column("rdf", "whole", "rdf.h5"),
                                             self.column("rdf", "again", "rdf.h5"), traversal)

    # -- motion ------------------------------------------------------------------------------------

    def test_frozen_particles_stay_and_moving_ones_follow_their_path(self):
        for traversal in TRAVERSALS:
            self.run_job(self.parts(neighbors={"traversal": traversal}), "--overwrite")
            with h5py.File(self.path("trajectory.h5")) as file:
                p = file["particles/all/position/value"][:]
                image = file["particles/all/image/value"][:]
                v = file["particles/all/velocity/value"][:]
                edges = file["particles/all/box/edges"]
                edges = edges["value"][0] if isinstance(edges, h5py.Group) else edges[:]
                length = edges if edges.ndim == 1 else numpy.diag(edges)
            p = p + image * length
            z = p[0, :, 2]
            z = z - (length[2] / 2 if z.min() > -length[2] / 4 else 0)
            wall, plate = (z >= -3) & (z < -1.5), (z >= 3) & (z < 4.5)
            self.assertGreater(wall.sum(), 50)
            self.assertGreater(plate.sum(), 50)
            numpy.testing.assert_array_equal(p[-1, wall], p[0, wall], traversal)
            self.assertEqual(abs(v[:, wall]).max(), 0)
            t = 200 * 0.004
            way = [0.5 * t, 0.1 * numpy.sin(2 * numpy.pi * t / 0.3), 0]
            # Positions are rounded to 2^-40 of the edges in each step, displacements to single
            # precision.
            numpy.testing.assert_allclose(p[-1, plate] - p[0, plate],
                                          numpy.tile(way, (plate.sum(), 1)), atol=2e-6)
            free = ~wall & ~plate
            self.assertGreater(abs(p[-1, free] - p[0, free]).min(axis=1).max(), 0.01)

    def test_a_velocity_that_is_a_formula(self):
        """x(t) is its integral, v(t) its value; stopped and resumed with the same bits."""
        job = gas(md([{"type": "moving", "timestep": 0.01, "group": "plate",
                       "velocity": ["0.5*sin(3*t)", 0.25, "if(t < 1, t^2, 1)"]},
                      {**NVE, "timestep": 0.01, "group": "rest"}], steps=300),
                  groups={"plate": {"ids": [[0, 99]]}, "rest": {"not": ["plate"]}},
                  velocity={"temperature": 1})
        job["observers"] = [job["observers"][0], {"type": "checkpoint", "steps": 130}]
        self.run_job(job, folder="whole")
        p, v = self.frames("position", "whole"), self.frames("velocity", "whole")
        for frame, t in enumerate((0, 1.0, 2.0, 3.0)):
            way = [0.5 / 3 * (1 - numpy.cos(3 * t)), 0.25 * t, min(t, 1) ** 3 / 3 + max(t - 1, 0)]
            speed = [0.5 * numpy.sin(3 * t), 0.25, min(t, 1) ** 2]
            # Displacements of each step are rounded to single precision.
            numpy.testing.assert_allclose(p[frame, :100] - p[0, :100], numpy.tile(way, (100, 1)),
                                          atol=1e-5)
            numpy.testing.assert_allclose(v[frame, :100], numpy.tile(speed, (100, 1)), atol=1e-6)
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(self.frames("position", "again"), p)
        # Resumed with another time step the path goes on from where it was.
        shutil.copytree(self.path("whole"), self.path("slower"))
        done = self.perrin("resume", self.path("slower", "checkpoint.h5.prev"),
                           *[f"--set=stages[0].integrators[{k}].timestep=0.005" for k in (0, 1)])
        self.assertEqual(done.returncode, 0, done.stderr)
        t = 260 * 0.01 + 40 * 0.005
        way = [0.5 / 3 * (1 - numpy.cos(3 * t)), 0.25 * t, 1 / 3 + t - 1]
        numpy.testing.assert_allclose(self.frames("position", "slower")[-1, :100] - p[0, :100],
                                      numpy.tile(way, (100, 1)), atol=1e-5)
        numpy.testing.assert_allclose(self.frames("velocity", "slower")[-1, :100],
                                      numpy.tile([0.5 * numpy.sin(3 * t), 0.25, 1], (100, 1)),
                                      atol=1e-6)

    def test_a_velocity_that_is_no_number(self):
        for velocity, said in (("1/t", "got inf at t = 0"), ("sqrt(t - 1)", "got -?nan at t = 0"),
                               ("log(t)", "got -inf at t = 0")):
            moving = {"type": "moving", "timestep": 0.004, "velocity": [0, velocity, 0],
                      "group": "left"}
            self.refused(liquid(md([moving, {**NVE, "group": "right"}])),
                         r"integrators\[0\]\.velocity\[1\]: must be a number.*" + said)

    def test_pairs_of_frozen_particles_are_left_out(self):
        """Where all particles of a type are frozen in every stage: the others move as before, and
        the energy has no pairs of that type."""
        def walls(integrator):
            job = liquid(md([{**NVE, "group": "fluid"}, integrator], steps=100),
                         groups={"wall": {"types": ["W"]}, "fluid": {"not": ["wall"]}})
            job["system"]["types"] = {"A": 4, "W": 1}
            job["forces"] = [{**LJ, "pairs": [
                {"types": list(t), "epsilon": 1, "sigma": 1} for t in ("AA", "AW", "WW")]}]
            return job
        still = {"type": "moving", "timestep": 0.004, "group": "wall", "velocity": [0, 0, 0]}
        for traversal in TRAVERSALS:
            more = {"neighbors": {"traversal": traversal}}
            self.run_job({**walls({**FROZEN, "group": "wall"}), **more}, "--overwrite",
                         folder="frozen")
            self.run_job({**walls(still), **more}, "--overwrite", folder="still")
            numpy.testing.assert_allclose(self.frames("position", "frozen")[1],
                                          self.frames("position", "still")[1], atol=1e-3)
            with h5py.File(self.path("frozen", "trajectory.h5")) as file:
                wall = file["particles/all/species"][:] == 1
            p = self.frames("position", "frozen")[0, wall]
            length = (864 / 0.8442) ** (1 / 3)
            d = p[:, None] - p[None]
            d -= length * numpy.round(d / length)
            r = numpy.sqrt((d ** 2).sum(axis=2))[numpy.triu_indices(len(p), 1)]
            cut = 2.5
            slope = 24 * (2 * cut ** -13 - cut ** -7)
            pairs = 4 * (r ** -12 - r ** -6 - cut ** -12 + cut ** -6) + (r - cut) * slope
            missing = pairs[r < cut].sum()
            self.assertGreater(abs(missing), 50)
            difference = (self.column("potential_energy", "still") -
                          self.column("potential_energy", "frozen"))
            numpy.testing.assert_allclose(difference[:5], missing, rtol=1e-4)

    def test_a_minimisation_beside_a_wall(self):
        """The fluid comes to rest, the wall stays; pairs of a type that is always frozen are left
        out; stopped and resumed with the same bits."""
        still = {"type": "frozen", "group": "wall"}  # the time step is that of the others
        heat = md([{**LANGEVIN, "group": "fluid"}, still], steps=100)
        relax = md([still, {"type": "fire", "group": "fluid", "force_tolerance": 0.05}], steps=9000)
        job = liquid(heat, {**relax, "name": "relax"}, groups={"wall": {"types": ["W"]},
                                                               "fluid": {"not": ["wall"]}})
        job["system"]["types"] = {"A": 4, "W": 1}
        job["forces"] = [{**LJ, "pairs": [
            {"types": list(t), "epsilon": 1, "sigma": 1} for t in ("AA", "AW", "WW")]}]
        job["observers"][0]["stride"] = 4
        job["observers"][2]["steps"] = 130
        for traversal in TRAVERSALS:
            job["neighbors"] = {"traversal": traversal}
            done = self.run_job(job, "--overwrite", folder="whole")
            self.assertRegex(done.stdout, r"fluid: converged \(largest force")
            with h5py.File(self.path("whole", "trajectory.h5")) as file:
                frames = file["particles/all"]
                wall = frames["species"][:] == 1
                p, last = frames["position/value"][:], frames["position/step"][-1]
            self.assertGreater(last, 130)
            self.assertLess(last, 9000)
            numpy.testing.assert_array_equal(p[-1, wall], p[0, wall], traversal)
            force = self.frames("force", "whole")
            largest = numpy.linalg.norm(force[:, ~wall], axis=2).max(axis=1)
            self.assertGreater(largest[25], 10)
            self.assertLess(largest[-1], 0.05)
        # From a checkpoint in the midst of it.
        job["stages"][1]["steps"] = 40
        self.run_job(job, "--overwrite", folder="whole")
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in QUANTITIES:
            numpy.testing.assert_array_equal(self.frames(name, "whole"), self.frames(name, "again"))

    def test_two_thermostats(self):
        """Without interactions each half has the temperature of its bath: of n degrees of freedom
        the kinetic energy scatters by a share of √(2/n), and 50 samples of it that are independent
        after a relaxation time by less."""
        half = {"low": {"ids": [[0, 999]]}, "high": {"not": ["low"]}}
        for one, other in ((LANGEVIN, BUSSI), (CHAIN, LANGEVIN)):
            job = gas(md([{**one, "group": "low", "temperature": 0.5},
                          {**other, "group": "high", "temperature": 2.0}], steps=3000),
                      groups=half, velocity={"temperature": 1})
            if one["type"] == "nose_hoover":  # whose chain swings for long in an ideal gas
                job["velocity"]["temperature"] = 0.5
            self.run_job(job, "--overwrite")
            for name, temperature in (("low", 0.5), ("high", 2.0)):
                found = self.column(f"temperature_{name}")[150:].mean()
                self.assertAlmostEqual(found / temperature, 1, delta=5 * (2 / 3000) ** 0.5 / 3)
                # Without interactions all energy comes from the group's own bath.
                kinetic, heat = self.column(f"kinetic_energy_{name}"), self.column(f"heat_{name}")
                numpy.testing.assert_allclose(heat, kinetic - kinetic[0], atol=2e-4 * kinetic.max())
            self.assertAlmostEqual(self.column("temperature")[150:].mean() / 1.25, 1, delta=0.03)

    def test_heat_that_flows_between_baths_of_two_kinds(self):
        """`langevin` (BAOAB) gives heat in the middle of a step, `bussi` at its end. What velocity
        Verlet conserves (Hairer, Lubich, Wanner, Geometric Numerical Integration, IX.3) is
        E + dt² (v·U''·v/12 - F²/24m) at the end of steps, E + dt² (F²/12m - v·U''·v/24) in their
        middle, and heat Q makes v·U''·v larger by 2 Q w², w² = <F²>/(3 m kT). In steady flow this
        is constant, so E less all heat goes by dt² w² (Q_b/6 - Q_l/12). w² is that of an
        equilibrium at the temperature of the half, terms of dt⁴ are left out: 20 %."""
        drift = []
        for dt in (0.004, 0.002):
            job = liquid(md([{**LANGEVIN, "temperature": 0.8, "friction": 1, "timestep": dt,
                              "tally_heat": True, "group": "left"},
                             {**BUSSI, "temperature": 1.6, "tau": 0.2, "timestep": dt,
                              "group": "right"}], steps=round(18 / dt)), watched=HALVES)
            job["velocity"]["temperature"] = 1.4
            job["observers"][0]["stride"] = round(2 / dt)
            job["observers"][1]["stride"] = round(0.04 / dt)
            self.run_job(job, "--overwrite")
            began = 100  # rows, time 4
            energy = self.column("conserved_energy")[began:]
            square = (self.frames("force")[2:].astype(float) ** 2).mean(axis=(0, 2))
            left, share = self.left(), {}
            for name, own, part in (("left", left, -1 / 12), ("right", ~left, 1 / 6)):
                heat = self.column(f"heat_{name}")[began:]
                temperature = self.column(f"temperature_{name}")[began:].mean()
                share[name] = part * (heat[-1] - heat[0]) * square[own].mean() / temperature
            drift.append(energy[-1] - energy[0])
            self.assertAlmostEqual(drift[-1] / (dt ** 2 * sum(share.values())), 1, delta=0.2)
        self.assertAlmostEqual(drift[0] / drift[1], 4, delta=1)

    def test_energy_is_conserved_beside_a_plate_that_moves(self):
        """Total energy less the work of the plate, to the order of velocity Verlet."""
        groups = {"plate": {"box": [[None, None, 3], [None, None, 4.5]]},
                  "rest": {"not": ["plate"]}}
        job = liquid(md([{**NVE, "group": "rest", "timestep": 0.002},
                         {"type": "moving", "timestep": 0.002, "group": "plate",
                          "velocity": [1.0, 0, 0],
                          "oscillation": {"amplitude": [0, 0, 0.1], "period": 1}}], steps=1500),
                     groups=groups, watched=["plate"])
        job["observers"][1]["box"] = True
        self.run_job(job)
        conserved, work = self.column("conserved_energy"), self.column("work")
        self.assertGreater(abs(work[-1]), 100)
        self.assertLess(abs(conserved - conserved[0]).max(), 2e-3 * abs(work).max())

    # -- forces and measurements -------------------------------------------------------------------

    def test_a_force_on_a_group(self):
        groups = {"pulled": {"ids": [3, 17, [100, 299]]}, "rest": {"not": ["pulled"]}}
        job = gas(md(NVE, steps=100), groups=groups, velocity={"temperature": 1}, forces=[
            {"type": "constant_force", "force": [2, 0, 0], "on": "pulled"},
            {"type": "harmonic_trap", "stiffness": [0, 3, 0], "on": "rest"}])
        self.run_job(job)
        pulled = numpy.zeros(2000, bool)
        pulled[[3, 17]] = pulled[100:300] = True
        force, velocity = self.frames("force"), self.frames("velocity")
        numpy.testing.assert_array_equal(force[:, :, 0], numpy.tile(2.0 * pulled, (2, 1)))
        self.assertEqual(abs(force[:, pulled, 1]).max(), 0)
        self.assertGreater(abs(force[:, ~pulled, 1]).max(), 1)
        numpy.testing.assert_allclose(velocity[1, :, 0] - velocity[0, :, 0],
                                      2.0 * 0.4 * pulled, atol=5e-5)
        numpy.testing.assert_allclose(self.column("force_pulled")[:, 0], 2.0 * pulled.sum())

    def test_a_wall_for_a_group(self):
        """`lj_wall` with "on": 9-3, both sides, within the cut-off; others go through it. The force
        on the wall is in force_NAME, its energy in the table."""
        edge, epsilon, sigma, cutoff = 4000 ** (1 / 3), 2.0, 1.5, 3.0
        groups = {"held": {"ids": [[0, 999]], "formula": f"abs(y - {edge / 4}) > 0.6"},
                  "free": {"not": ["held"]}}
        job = gas(md(NVE, steps=0), groups=groups, velocity={"temperature": 1}, forces=[
            {"type": "lj_wall", "axis": "y", "position": 0.25 * edge, "epsilon": epsilon,
             "sigma": sigma, "cutoff": cutoff, "on": "held"}])
        job["observers"][0]["positions"] = "wrapped"
        self.run_job(job)
        h = self.frames("position")[0, :, 1] - 0.75 * edge  # frames count from the corner
        h -= edge * numpy.round(h / edge)
        held = (numpy.arange(2000) < 1000) & (abs(h) > 0.6)

        def energy(h):
            return epsilon * (2 / 15 * (sigma / h) ** 9 - (sigma / h) ** 3)
        slope = epsilon / h * (9 * 2 / 15 * (sigma / abs(h)) ** 9 - 3 * (sigma / abs(h)) ** 3)
        near = held & (abs(h) < cutoff)
        self.assertGreater(near.sum(), 200)
        force = self.frames("force")[0]
        # h is rounded to single precision, relative to the edge: 1e-6/0.6 with the tenth power.
        numpy.testing.assert_allclose(force[near, 1], slope[near], rtol=2e-5, atol=1e-4)
        self.assertEqual(abs(force[~near]).max(), 0)
        self.assertEqual(abs(force[:, [0, 2]]).max(), 0)
        expected = (energy(abs(h)) - energy(cutoff))[near].sum()
        self.assertAlmostEqual(self.column("potential_energy")[0] / expected, 1, delta=1e-4)
        numpy.testing.assert_allclose(self.column("force_held")[0, 1], force[held, 1].sum(),
                                      rtol=1e-4)
        self.assertEqual(abs(self.column("force_free")[0]).max(), 0)

    def test_tethers_and_a_trap_that_moves(self):
        groups = {"tied": {"ids": [[0, 499]]}, "dragged": {"not": ["tied"]}}
        job = gas(md(NVE, steps=300), groups=groups, velocity={"temperature": 1}, forces=[
            {"type": "tether", "stiffness": [5, 0, 2], "on": "tied"},
            {"type": "harmonic_trap", "stiffness": [4, 0, 0], "center": [1, 0, 0],
             "velocity": [7, 0, 0], "on": "dragged"}])
        job["observers"].append({"type": "checkpoint", "steps": 130})
        self.run_job(job, folder="whole")
        p, force = self.frames("position", "whole"), self.frames("force", "whole")
        way = p - p[0]
        length = 4000 ** (1 / 3)
        for frame in range(4):
            numpy.testing.assert_allclose(force[frame, :500], -way[frame, :500] * [5, 0, 2],
                                          atol=1e-4)
            x = p[frame, 500:, 0] - length / 2 - 1 - 7 * 0.4 * frame
            x -= length * numpy.round(x / length)
            near = abs(abs(x) - length / 2) > 1e-3  # one image more than the other
            numpy.testing.assert_allclose(force[frame, 500:, 0][near], -4 * x[near], atol=1e-3)
        # The energy of tethers is that of their lengths.
        job["forces"] = job["forces"][:1]
        self.run_job(job, folder="tied")
        way = self.frames("position", "tied") - self.frames("position", "tied")[0]
        energy = 0.5 * (way[:, :500] ** 2 * [5, 0, 2]).sum(axis=(1, 2))
        numpy.testing.assert_allclose(self.column("potential_energy", "tied")[::10], energy,
                                      rtol=1e-5, atol=1e-4)
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(self.frames("force", "again"), force)

    def test_a_trap_whose_center_is_a_formula(self):
        """Of the time of the job, also in a second stage, resumed, and for an integrator that
        computes traps that do not move itself."""
        trap = {"type": "harmonic_trap", "stiffness": [4, 3, 2],
                "center": ["2*sin(0.9*t)", 1, "0.5*t^2 - 1"]}
        edge, stages = 4000 ** (1 / 3), [md(NVE, steps=200), md(NVE, steps=100, name="second")]

        def check(folder, times):
            p, force = self.frames("position", folder), self.frames("force", folder)
            self.assertEqual(len(p), len(times))
            for frame, t in enumerate(times):
                r = p[frame] - edge / 2 - [2 * math.sin(0.9 * t), 1, 0.5 * t ** 2 - 1]
                r -= edge * numpy.round(r / edge)
                near = abs(abs(r) - edge / 2) > 1e-3  # one image more than the other
                numpy.testing.assert_allclose(force[frame][near], (r * [-4, -3, -2])[near],
                                              atol=1e-4)
        job = gas(*stages, groups={}, velocity={"temperature": 1}, forces=[trap])
        job["observers"] += [{"type": "checkpoint", "steps": 230}]
        self.run_job(job, folder="whole")
        check("whole", [0, 0.4, 0.8, 1.2])
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(self.frames("force", "again"),
                                         self.frames("force", "whole"))
        brownian = {"type": "brownian", "timestep": 0.004, "temperature": 1, "friction": 1}
        job["stages"] = [md(brownian, steps=300)]
        self.run_job(job, folder="brownian")
        check("brownian", [0, 0.4, 0.8, 1.2])
        # A formula that is linear in t is a velocity.
        both = []
        for more in ({"center": ["1 + 7*t", 0, 0]}, {"center": [1, 0, 0], "velocity": [7, 0, 0]}):
            job["forces"] = [{**trap, **more}]
            self.run_job(job, "--overwrite", folder="linear")
            both.append(self.frames("force", "linear"))
        numpy.testing.assert_allclose(*both, atol=2e-3)

    # -- when observers are called -----------------------------------------------------------------

    def steps(self, file="trajectory.h5", folder="."):
        with h5py.File(self.path(folder, file)) as h:
            frames = "particles/all/position"
            group = h[frames if frames in h else "observables/potential_energy"]
            step = group["step"]
            return [int(s) for s in step[:]] if step.ndim else [
                int(step[()]) * k for k in range(len(group["value"]))]

    def test_schedules(self):
        """Steps of observers: spaced by their logarithms, a list, an event; resumed likewise."""
        job = liquid(md(LANGEVIN, steps=30), md(NVE, steps=1000, name="second"))
        quantities = {"quantities": ["position"]}
        job["observers"] = [
            {"type": "trajectory", "stride": {"log": 4}, "stages": ["second"], **quantities},
            {"type": "trajectory", "file": "late.h5", **quantities,
             "stride": {"when": "step > 99", "every": 30}},
            {"type": "trajectory", "file": "list.h5", "stride": [0, 3, 7, 500, 2000],
             **quantities},
            {"type": "trajectory", "file": "sevens.h5", "stride": {"log": 2, "every": 7},
             "stages": ["second"], **quantities},
            {"type": "trajectory", "file": "event.h5", **quantities,
             "stride": {"when": "temperature > 0.61", "every": 5}},
            {"type": "thermo", "stride": 5, "schedule": {"log": 10}},
            {"type": "thermo", "file": "all.h5", "stride": 5},
            {"type": "checkpoint", "steps": 417}]
        done = self.run_job(job, folder="whole")
        self.assertRegex(done.stderr, r"observers\[2\].stride: warning: step 2000 is never "
                         "reached: no stage in which it is called has more than 1000")

        def spaced(n, stride=1, last=1000):
            return sorted({0} | {s for s in (stride * round(10 ** (k / n) / stride)
                                             for k in range(4 * n)) if s <= last})
        self.assertEqual(self.steps(folder="whole"), [30 + s for s in spaced(4)])
        self.assertEqual(self.steps("list.h5", "whole"), [0, 3, 7, 30, 33, 37, 530])
        self.assertEqual(self.steps("sevens.h5", "whole"), [30 + s for s in spaced(2, 7)])
        self.assertEqual(self.steps("thermo.h5", "whole"),
                         sorted(set(spaced(10, 5, 30)) | {30 + s for s in spaced(10, 5)}))
        hot = numpy.r_[0, 1 * (self.column("temperature", "whole", "all.h5") > 0.61)]
        rises = [5 * int(k) for k in numpy.flatnonzero(numpy.diff(hot) == 1)]
        self.assertGreater(len(rises), 2)
        self.assertEqual(self.steps("event.h5", "whole"), rises)
        self.assertEqual(self.steps("late.h5", "whole"), [120])
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("trajectory.h5", "list.h5", "sevens.h5", "event.h5", "late.h5", "thermo.h5"):
            self.assertEqual(self.steps(name, "again"), self.steps(name, "whole"), name)

    def test_when_a_group_is_chosen(self):
        """At the start, which is also what "when" can say."""
        said = {"left": {**HALVES["left"], "when": "start"}, "right": {"not": ["left"]}}
        columns = []
        for groups in (HALVES, said):
            job = liquid(md([{**NVE, "group": "left"}, {**LANGEVIN, "group": "right"}], steps=100),
                         groups=groups, watched=["left"])
            self.run_job(job, "--overwrite")
            columns.append(self.column("kinetic_energy_left"))
        self.assertGreater(columns[0].std(), 0)
        numpy.testing.assert_array_equal(*columns)
        for wrong in ("end", 3):
            self.refused(liquid(md(NVE), groups={"left": {**HALVES["left"], "when": wrong}}),
                         r"groups\.left\.when: must be (one of start|a text)")

    def test_a_group_that_is_chosen_anew(self):
        """Those in a slab at the last multiple of 20 steps: a force acts on them, and their totals
        are in the table; a group that is made of it follows."""
        groups = {"slab": {"box": [[None, None, -2], [None, None, 2]], "every": 20},
                  "outside": {"not": ["slab"]}}
        job = gas(md({**LANGEVIN, "temperature": 4}, steps=200), groups=groups, forces=[
            {"type": "constant_force", "force": [2, 0, 0], "on": "slab"},
            {"type": "constant_force", "force": [0, 3, 0], "on": "outside"}],
            velocity={"temperature": 4})
        job["observers"][0].update(stride=10, positions="wrapped")
        job["observers"].append({"type": "checkpoint", "steps": 90})
        self.run_job(job, folder="whole")
        p, v = self.frames("position", "whole"), self.frames("velocity", "whole")
        inside = abs(p[:, :, 2] - 4000 ** (1 / 3) / 2) < 2
        for frame in range(1, 21):
            chosen = inside[2 * ((frame - 1) // 2)]
            force = self.frames("force", "whole")[frame]
            numpy.testing.assert_array_equal(force[:, 0], 2.0 * chosen, str(frame))
            numpy.testing.assert_array_equal(force[:, 1], 3.0 * ~chosen)
            # The totals of a group are those of its members; equal masses.
            kinetic = 0.5 * (v[frame, chosen].astype(float) ** 2).sum()
            self.assertAlmostEqual(self.column("kinetic_energy_slab", "whole")[frame] / kinetic, 1,
                                   delta=1e-5)
            self.assertAlmostEqual(self.column("temperature_slab", "whole")[frame] /
                                   (2 * kinetic / 3 / chosen.sum()), 1, delta=2e-3)
        self.assertGreater((inside[0] != inside[20]).sum(), 200)
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("position", "force"):
            numpy.testing.assert_array_equal(self.frames(name, "again"), self.frames(name, "whole"))
        for name in ("kinetic_energy_slab", "temperature_outside"):
            numpy.testing.assert_array_equal(self.column(name, "again"), self.column(name, "whole"))

    def test_columns_of_groups_add_up(self):
        self.run_job(self.parts())
        names = ("cold", "hot")
        for column in ("kinetic_energy", "momentum"):
            parts = sum(self.column(f"{column}_{name}") for name in names)
            numpy.testing.assert_allclose(parts, self.column(column), rtol=1e-9, atol=1e-9)
        # Newton's third law, in single precision.
        force = sum(self.column(f"force_{name}") for name in ("cold", "hot", "wall", "plate"))
        self.assertLess(abs(force).max(), 1e-2)
        self.assertGreater(abs(self.column("force_wall")).max(), 10)
        self.assertTrue(numpy.isnan(self.column("temperature_wall")).all())

    def test_profiles_leave_out_what_does_not_count(self):
        """Temperatures of slabs and shells are those of the particles that move by themselves;
        densities and velocities those of all."""
        job = self.parts()
        job["observers"] += [{"type": "profile", "bins": 1, "stride": 50, "rows_every": 50},
                             {"type": "radial_profile", "bins": 1, "stride": 50,
                              "rows_every": 50}]
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as file:
            frames = file["particles/all"]
            v = frames["velocity/value"][:].astype(float)
            box = frames["box/edges"]
            edge = numpy.ravel(box["value"][0] if isinstance(box, h5py.Group) else box[:])[0]
            r = frames["position/value"][:] - self.middle(file)
        z = r[0, :, 2]
        moves = ~(((z >= -3) & (z < -1.5)) | ((z >= 3) & (z < 4.5)))
        self.assertLess(moves.sum(), 700)
        profile = {name: self.column(name, file="profile.h5")[:, 0]
                   for name in ("density", "velocity", "temperature")}
        numpy.testing.assert_allclose(profile["density"], len(z) / edge**3, rtol=1e-6)
        numpy.testing.assert_allclose(profile["velocity"], v.mean(axis=1), atol=1e-6)
        numpy.testing.assert_allclose(profile["temperature"], v[:, moves].var(axis=1).mean(axis=1),
                                      rtol=1e-5)
        shell = {name: self.column(name, file="radial_profile.h5")[:, 0]
                 for name in ("density", "radial_velocity", "temperature")}
        distance = numpy.linalg.norm(r, axis=2)
        inside = distance < edge / 2
        outwards = (v * r).sum(axis=2) / distance
        for k in range(len(v)):
            self.assertAlmostEqual(shell["density"][k], inside[k].sum() / (math.pi / 6 * edge**3),
                                   delta=0.002)  # a particle at the surface
            radial, thermal = outwards[k, inside[k]], inside[k] & moves
            self.assertAlmostEqual(shell["radial_velocity"][k], radial.mean(), delta=0.003)
            n, twice = thermal.sum(), (v[k, thermal]**2).sum()
            expected = (twice - n * outwards[k, thermal].mean()**2) / (3 * n)
            self.assertAlmostEqual(shell["temperature"][k], expected, delta=0.003 * expected)

    def test_pressure_of_groups(self):
        """Against every pair, half of whose virial belongs to each of its particles; without the
        motion of those whose velocities are prescribed."""
        for traversal in TRAVERSALS:
            job = self.parts(neighbors={"traversal": traversal})
            profile = {"type": "pressure_profile", "bins": 5, "stride": 50, "rows_every": 50}
            job["observers"] += [{**profile, "group": "hot"}, {**profile, "file": "all.h5"},
                                 {**profile, "group": "plate", "file": "plate.h5"}]
            self.run_job(job, "--overwrite")
            names = ("cold", "hot", "wall", "plate")
            share = {name: self.column(f"pressure_tensor_{name}") for name in names}
            numpy.testing.assert_allclose(sum(share.values()), self.column("pressure_tensor"),
                                          rtol=1e-9, atol=1e-9)
            for file, tensor in (("pressure_profile.h5", share["hot"]),
                                 ("plate.h5", share["plate"]),
                                 ("all.h5", self.column("pressure_tensor"))):
                slabs = self.column("pressure", file=file).mean(axis=1)
                expected = numpy.diagonal(tensor, axis1=1, axis2=2)[::5]
                numpy.testing.assert_allclose(slabs[-len(expected):], expected, rtol=1e-9,
                                              atol=1e-9)
        frame, cut = 4, 2.5
        p, v = self.frames("position")[frame], self.frames("velocity")[frame].astype(float)
        start = self.frames("position")[0]
        length = (864 / 0.8442) ** (1 / 3)
        z = start[:, 2] - length / 2
        wall, plate = (z >= -3) & (z < -1.5), (z >= 3) & (z < 4.5)
        left = start[:, 0] < length / 2
        member = {"wall": wall, "plate": plate, "cold": left & ~wall & ~plate,
                  "hot": ~left & ~wall & ~plate}
        d = p[:, None] - p[None]
        d -= length * numpy.round(d / length)
        r = numpy.sqrt((d ** 2).sum(axis=2)) + 1e9 * numpy.eye(len(p))
        force = 24 * (2 * r ** -12 - r ** -6) / r - 24 * (2 * cut ** -12 - cut ** -6) / cut
        weight = numpy.where(r < cut, force / r, 0) / 2
        virial = numpy.einsum("ij,ija,ijb->iab", weight, d, d)
        for name in names:
            own = member[name]
            expected = virial[own].sum(axis=0)
            if name in ("cold", "hot"):
                expected = expected + numpy.einsum("ia,ib->ab", v[own], v[own])
            numpy.testing.assert_allclose(share[name][5 * frame], expected / length ** 3,
                                          atol=2e-5, err_msg=name)

    def test_pressure_of_groups_without_velocities(self):
        """Overdamped: k_B T of the bath for every particle that moves, whether the groups are those
        of integrators or not, or are chosen anew."""
        groups = {"low": {"ids": [[0, 599]]}, "high": {"not": ["low"]}, "wall": {"ids": [[0, 99]]},
                  "fluid": {"not": ["wall"]},
                  "slab": {"box": [[None, None, 0], [None, None, None]], "every": 10}}
        brownian = {"type": "brownian", "timestep": 1e-3, "temperature": 1.5, "friction": 2}
        job = gas(md([{**brownian, "group": "fluid"},
                      {"type": "frozen", "timestep": 1e-3, "group": "wall"}], steps=100),
                  groups=groups)
        job["observers"][0] = {"type": "trajectory", "stride": 10, "quantities": ["position"]}
        self.run_job(job)
        volume = 4000
        for name, number in (("low", 500), ("high", 1400), ("wall", 0), ("fluid", 1900)):
            numpy.testing.assert_allclose(self.column(f"pressure_tensor_{name}"),
                                          numpy.tile(1.5 * number / volume * numpy.eye(3),
                                                     (11, 1, 1)), rtol=1e-9)
        z = self.frames("position")[:, 100:, 2] - volume ** (1 / 3) / 2
        inside = (z >= 0).sum(axis=1)
        slab = self.column("pressure_tensor_slab")[:, 2, 2] * volume / 1.5
        self.assertGreater(len(set(inside)), 3)
        # A row is written before the group is chosen anew; a particle at the border is rounded.
        for row in range(1, 11):
            self.assertLessEqual(abs(slab[row] - inside[row - 1]), 1)

    def test_frames_of_a_group_keep_their_ids(self):
        job = self.parts()
        job["observers"] += [
            {"type": "trajectory", "stride": 50, "file": "some.h5", "group": "wall",
             "quantities": QUANTITIES, "precision": "double"}]
        self.run_job(job)
        with h5py.File(self.path("some.h5")) as file:
            ids = file["particles/all/id"][:]
        self.assertGreater(len(ids), 50)
        for name in QUANTITIES:
            numpy.testing.assert_array_equal(self.frames(name, file="some.h5"),
                                             self.frames(name)[:, ids])

    @unittest.skipUnless(importlib.util.find_spec("MDAnalysis"), "without MDAnalysis")
    def test_frames_of_a_group_in_xtc(self):
        """As MDAnalysis reads them: the same particles at the same places, rounded to 4 digits."""
        from MDAnalysis.coordinates.XTC import XTCReader
        job = self.parts()
        job["observers"] += [{"type": "xtc", "stride": 50, "file": "some.xtc", "group": "wall",
                              "decimals": 4},
                             {"type": "trajectory", "stride": 50, "file": "some.h5",
                              "group": "wall", "quantities": ["position"], "precision": "double"}]
        self.run_job(job)
        expected = self.frames("position", file="some.h5")
        edge = (4 * 216 / 0.8442) ** (1 / 3)
        self.assertLess(len(expected[0]), 864)
        with XTCReader(self.path("some.xtc"), convert_units=False) as frames:
            self.assertEqual(len(frames), len(expected))
            for frame, positions in zip(frames, expected):
                self.assertEqual(frame.data["step"], 50 * frame.frame)
                numpy.testing.assert_allclose(frame.dimensions[:3], edge, rtol=1e-6)
                # Half of the last digit, and single precision; whichever side of a face.
                apart = frame.positions - positions
                apart -= edge * numpy.round(apart / edge)
                self.assertLess(abs(apart).max(), 0.52e-4)

    @unittest.skipIf(DEVICE != "cpu", "a small system for long")
    def test_couette_flow_between_walls(self):
        """The DPD thermostat is the same in every frame of reference: between a wall at rest and
        one that slides the velocity is linear, and each wall feels the stress of the fluid, the
        two opposite to each other."""
        groups = {"lower": {"box": [[None, None, None], [None, None, -7]]},
                  "upper": {"box": [[None, None, 7], [None, None, None]]},
                  "fluid": {"not": ["lower", "upper"]}}
        integrators = [{**FROZEN, "group": "lower"},
                       {"type": "moving", "timestep": 0.004, "group": "upper",
                        "velocity": [1, 0, 0]}, {**NVE, "group": "fluid"}]
        job = liquid(md(integrators, steps=5000), md(integrators, steps=30000, name="flow"),
                     groups=groups, watched=["lower", "upper"], plugins=["dpd", "analysis"])
        job["system"].update(density=0.8, cells=[4, 4, 10], periodic=[True, True, False])
        job["forces"] = [{"type": "wca", "pairs": LJ["pairs"]},
                         {"type": "dpd_thermostat", "temperature": 1, "cutoff": 1.2,
                          "pairs": [{"types": ["A", "A"], "gamma": 4.5}]}]
        job["observers"] = [
            {"type": "thermo", "stride": 10, "groups": ["lower", "upper", "fluid"],
             "stages": ["flow"]},
            {"type": "profile", "axis": "z", "bins": 34, "stride": 10, "rows_every": 30000,
             "stages": ["flow"]}]
        self.run_job(job)
        with h5py.File(self.path("profile.h5")) as file:
            z = file["observables/coordinate/value"][-1]
            velocity = file["observables/velocity/value"][-1, :, 0]
        inner = abs(z) < 4.5
        slope, middle = numpy.polyfit(z[inner], velocity[inner], 1)
        self.assertAlmostEqual(middle, 0.5, delta=0.06)
        self.assertGreater(slope, 0.04)
        # A bin of 0.5 has some 18 particles; velocities are forgotten after 0.2 time units or so.
        self.assertLess(abs(velocity[inner] - slope * z[inner] - middle).max(), 0.06)

        def mean(column):
            blocks = column[:len(column) // 20 * 20].reshape(20, -1).mean(axis=1)
            return blocks.mean(), blocks.std(ddof=1) / 20 ** 0.5
        lower, lower_error = mean(self.column("force_lower")[:, 0])
        upper, upper_error = mean(self.column("force_upper")[:, 0])
        self.assertGreater(lower, 5 * lower_error)  # dragged along
        self.assertLess(upper, -5 * upper_error)    # held back
        self.assertAlmostEqual(lower + upper, 0, delta=4 * (lower_error + upper_error))
        # What the walls give in momentum the fluid has: the three forces add up to 0.
        total = sum(self.column(f"force_{name}") for name in groups)
        self.assertLess(abs(total[:, :2]).max(), 1e-2)

    # -- restraints --------------------------------------------------------------------------------

    def pair_in_a_window(self, length, **more):
        """Two particles that attract each other, held at a distance in a bath."""
        return {"seed": 4, "groups": {"one": {"ids": [0]}, "other": {"ids": [1]}},
                "system": {"type": "chains", "chains": 1, "pattern": "A2", "bond_length": length,
                           "box": [12, 12, 12]}, "ignore": ["bonds"],
                "forces": [LJ, {"type": "group_restraint", "groups": ["one", "other"],
                                "stiffness": 400, "length": length, **more}],
                "observers": [{"type": "restraint", "stride": 10}],
                "stages": [md(LANGEVIN, steps=3000), md(LANGEVIN, steps=150000)]}

    def readings(self, folder="."):
        with h5py.File(self.path(folder, "restraint.h5")) as file:
            group = file["observables"]
            return {name: group[name]["value"][:] for name in group}

    @unittest.skipIf(DEVICE != "cpu", "two particles")
    def test_windows_give_the_pair_potential_back(self):
        """The mean force of the spring is the slope of A(r) = U(r) - 2 k_B T log r at the mean
        distance, up to half its third derivative times the variance of r (umbrella integration:
        J. Kästner, W. Thiel, J. Chem. Phys. 123, 144104 (2005)), which is below 0.2 here."""
        def slope(r):
            u = [24 * (x ** -7 - 2 * x ** -13) for x in (r, 2.5)]
            return u[0] - u[1] - 2 / r
        for length in (1.2, 1.5, 2.0):
            self.run_job(self.pair_in_a_window(length), "--overwrite")
            found = self.readings()
            d, force = found["distance"][300:, 0], found["force"][300:, 0]
            numpy.testing.assert_allclose(force, -400 * (d - length), atol=1e-6)
            # Blocks of 100 samples: 4 time units, many relaxation times of the bath.
            blocks = force[:len(force) // 100 * 100].reshape(-1, 100).mean(axis=1)
            error = blocks.std() / len(blocks) ** 0.5
            self.assertLess(error, 0.2)
            self.assertAlmostEqual(force.mean(), slope(d.mean()), delta=4 * error + 0.2)

    @unittest.skipIf(DEVICE != "cpu", "two particles")
    def test_work_of_a_spring_that_is_pulled(self):
        """Without a bath total energy changes by the work."""
        job = self.pair_in_a_window(1.2, rate=0.05)
        job["stages"] = [md(NVE, steps=5000)]
        job["observers"].append({"type": "thermo", "stride": 10})
        self.run_job(job)
        found = self.readings()
        numpy.testing.assert_allclose(found["length"][:, 0],
                                      1.2 + 0.05 * 0.004 * numpy.arange(0, 5001, 10), rtol=1e-9)
        energy = self.column("total_energy")
        self.assertGreater(abs(energy[-1] - energy[0]), 0.2)
        # The time step of the spring: (omega dt)²/24 of its energy.
        self.assertLess(abs(energy - energy[0] - found["work"][:, 0]).max(),
                        0.02 * abs(found["work"]).max() + 0.05)

    def test_a_spring_that_is_a_formula(self):
        job = self.pair_in_a_window(1.2, rate=0.05)
        job["stages"] = [md(NVE, steps=2000)]
        self.run_job(job, folder="spring")
        job["forces"][1] = {"type": "group_restraint", "groups": ["one", "other"],
                            "energy": "200*(r - 1.2 - 0.05*t)^2"}
        self.run_job(job, folder="formula")
        spring, formula = self.readings("spring"), self.readings("formula")
        for name in ("distance", "force", "work"):
            numpy.testing.assert_allclose(formula[name], spring[name], atol=2e-3)
        self.assertGreater(abs(spring["work"]).max(), 0.1)

    @unittest.skipIf(DEVICE != "cpu", "few particles")
    def test_jarzynski(self):
        """Each of 200 free particles is held by a spring that becomes three times as stiff, in a
        time too short for them to follow: the mean of exp(-W/k_B T) is that of the free energies,
        3^(-3/2) (C. Jarzynski, Phys. Rev. Lett. 78, 2690 (1997)), while the mean work is larger.
        Were the change at once, W would be k r², and exp(-W) would scatter by 1.2 of its mean."""
        n, begin, ramp = 200, 9, 2
        names = [f"one{k}" for k in range(n)]
        stiff = f"min(max(1, 1 + 2*(t - {begin})/{ramp}), 3)"
        job = gas(md({**LANGEVIN, "timestep": 0.01, "friction": 1}, steps=1100), particles=n,
                  groups={name: {"ids": [k]} for k, name in enumerate(names)},
                  velocity={"temperature": 1}, forces=[
                      {"type": "group_restraint", "groups": [name], "point": [0, 0, 0],
                       "energy": f"{stiff}*r^2"} for name in names])
        job["observers"] = [{"type": "restraint", "stride": 1100}]
        self.run_job(job, "--quiet", threads="1")
        work = self.readings()["work"][-1]
        self.assertEqual(work.shape, (n,))
        free = 1.5 * numpy.log(3)
        self.assertAlmostEqual(numpy.exp(free - work).mean(), 1, delta=4 * 1.2 / n ** 0.5)
        # At once it would be 3 on average; slowly, the free energy.
        self.assertGreater(work.mean() - free, 0.2)
        self.assertLess(work.mean(), 3)

    @unittest.skipIf(DEVICE != "cpu", "few particles")
    def test_work_on_beads_that_are_pulled(self):
        """Each of 2000 beads is in a spring whose end moves at a constant velocity v through a
        bath, from equilibrium on. All is linear, so that work is Gaussian; its mean is
        -k v ∫ <y> dt with y'' + friction (y' + v) + k y = 0 of the way y behind the end, y = 0 and
        y' = -v at first; and as no free energy is gained, its variance is 2 k_B T <W> and
        <exp(-W/k_B T)> = 1."""
        n, k, v, friction, time = 2000, 2.0, 1.0, 1.0, 1.2
        generator = numpy.random.default_rng(6)
        with open(self.path("beads.xyz"), "w") as out:
            out.write(f'{n}\nLattice="40 0 0 0 40 0 0 0 40" Origin="-20 -20 -20" '
                      "Properties=species:S:1:pos:R:3:velo:R:3\n")
            for x, speeds in zip(generator.normal(0, k**-0.5, n).tolist(),
                                 generator.normal(0, 1, (n, 3)).tolist()):
                out.write(f"A {x!r} 0 0 {' '.join(map(repr, speeds))}\n")
        names = [f"one{j}" for j in range(n)]
        bath = {"type": "langevin", "timestep": 0.01, "temperature": 1, "friction": friction}
        self.run_job({"seed": 9, "system": {"type": "file", "path": "beads.xyz"},
                      "groups": {name: {"ids": [j]} for j, name in enumerate(names)},
                      "forces": [{"type": "group_restraint", "groups": [name], "axes": "x",
                                  "point": [0, 0, 0], "velocity": [v, 0, 0], "stiffness": k,
                                  "length": 0} for name in names],
                      "observers": [{"type": "restraint", "stride": round(time / 0.01)}],
                      "stages": [md(bath, steps=round(time / 0.01))]}, threads="1")
        work = self.readings()["work"][-1]
        self.assertEqual(work.shape, (n,))
        # y + friction v/k is a sum of two exponentials.
        rates = numpy.roots([1, friction, k])
        parts = numpy.linalg.solve(numpy.array([[1, 1], rates]), [friction * v / k, -v])
        way = (parts / rates * (numpy.exp(rates * time) - 1)).sum().real - friction * v / k * time
        mean = -k * v * way
        self.assertAlmostEqual(work.mean(), mean, delta=4 * (2 * mean / n) ** 0.5)
        self.assertAlmostEqual(work.var() / (2 * mean), 1, delta=4 * (2 / n) ** 0.5)
        self.assertAlmostEqual(numpy.exp(-work).mean(), 1,
                               delta=4 * (math.expm1(2 * mean) / n) ** 0.5)
        scaled = (work - work.mean()) / work.std()
        self.assertAlmostEqual((scaled**3).mean(), 0, delta=4 * (6 / n) ** 0.5)
        self.assertAlmostEqual((scaled**4).mean(), 3, delta=4 * (24 / n) ** 0.5)

    def test_restraints_are_resumed(self):
        """Two parts of a liquid, and one that is dragged: the same bits after a stop."""
        job = liquid(md([{**LANGEVIN, "group": "all"}]), groups={
            "core": {"box": [[-2, -2, -2], [2, 2, 2]]}, "rest": {"not": ["core"]}})
        job["forces"] = [LJ, {"type": "group_restraint", "groups": ["core", "rest"],
                              "stiffness": 50, "length": 1},
                         {"type": "group_restraint", "groups": ["core"], "stiffness": 80,
                          "point": [0, 0, 1], "velocity": [0, 0.5, 0], "axes": "yz"}]
        job["observers"].append({"type": "restraint", "stride": 10})
        job["observers"][2]["steps"] = 77
        self.run_job(job, folder="whole")
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        whole, again = self.readings("whole"), self.readings("again")
        self.assertEqual(whole["work"].shape, (21, 2))
        self.assertGreater(abs(whole["work"][-1, 1]), 0.01)
        for name in whole:
            numpy.testing.assert_array_equal(whole[name], again[name], name)
        for name in QUANTITIES:
            numpy.testing.assert_array_equal(self.frames(name, "whole"),
                                             self.frames(name, "again"))

    # -- integrators on groups that are chosen anew ------------------------------------------------

    def test_integrators_follow_groups_that_are_chosen_anew(self):
        """Free particles: on the left they keep their velocities, on the right friction alone acts
        on them. Each step of the latter is a factor, whatever a particle did before."""
        for dimension in (3, 2):
            none = [None] * (dimension - 1)
            groups = {"left": {"box": [[None, *none], [0, *none]], "every": 20},
                      "right": {"not": ["left"]}}
            job = gas(md([{**NVE, "group": "left"},
                          {**LANGEVIN, "temperature": 0, "friction": 1.5, "group": "right"}],
                         steps=400), groups=groups, velocity={"temperature": 9})
            job["system"]["dimension"] = dimension
            job["observers"][0].update(stride=20, positions="wrapped")
            self.run_job(job, "--overwrite")
            x, v = self.frames("position")[:, :, 0], self.frames("velocity").astype(float)
            with h5py.File(self.path("trajectory.h5")) as file:
                x = x - self.middle(file)
            kept = (abs(x) > 1e-3).all(axis=0)
            self.assertGreater(kept.sum(), 1900)
            right = (x[:-1] > 0).sum(axis=0)  # how often it was chosen
            self.assertGreater((x[0] * x[-1] < 0).sum(), 100)
            expected = v[0] * numpy.exp(-1.5 * 0.004 * 20 * right)[:, None]
            numpy.testing.assert_allclose(v[-1][kept], expected[kept], rtol=1e-4, atol=1e-5)

    def test_a_group_that_has_come_to_be_empty_is_resumed(self):
        """All have left it when the run stops, and come back later."""
        groups = {"left": {"box": [[None, None, None], [2, None, None]], "every": 10},
                  "right": {"not": ["left"]}}
        job = gas(md([{**NVE, "group": "left"}, {**NVE, "group": "right"}], steps=400),
                  groups=groups)
        job["system"] = {"type": "file", "path": "one.xyz"}
        job["observers"].append({"type": "checkpoint"})
        with open(self.path("one.xyz"), "w") as out:
            out.write('2\nLattice="4 0 0 0 4 0 0 0 4" Properties=species:S:1:pos:R:3:velo:R:3\n'
                      'A 2.5 0 0 -2 0 0\nA 1 1 1 0 0 0\n')
        self.run_job(job, folder="whole")
        kinetic = self.column("kinetic_energy_right", "whole")
        self.assertIn(0, kinetic)
        self.assertGreater(kinetic[-1], 0)
        for stop in (100, 104, 110):
            self.assertEqual(kinetic[11], 0)
            job["stages"][0]["steps"] = stop
            self.run_job(job, "--overwrite", folder="half")
            done = self.perrin("resume", self.path("half", "checkpoint.h5"), "--steps",
                               str(400 - stop))
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("position", "velocity"):
                numpy.testing.assert_array_equal(self.frames(name, "half"),
                                                 self.frames(name, "whole"))
            numpy.testing.assert_array_equal(self.column("kinetic_energy_right", "half"), kinetic)

    def test_equipartition_in_groups_that_are_chosen_anew(self):
        """The border moves, and most particles change sides: each thermostat has the degrees of
        freedom of those who are its own. What the baths give is what the energy changes by; a
        resumed run has the same bits."""
        groups = {"left": {"formula": "x < edge", "every": 5}, "right": {"not": ["left"]}}
        job = gas(md([{**BUSSI, "tau": 0.05, "timestep": 0.01, "group": "left"},
                      {**BUSSI, "tau": 0.05, "timestep": 0.01, "group": "right"}], steps=3000),
                  groups=groups, velocity={"temperature": 1}, attributes={
                      "edge": {"default": 5, "updates": {"formula": "max(5 - t, -5)", "every": 5}}})
        job["observers"][0].update(stride=10, positions="wrapped")
        job["observers"].append({"type": "checkpoint", "steps": 1237})
        self.run_job(job, folder="whole")
        v = self.frames("velocity", "whole").astype(float)
        with h5py.File(self.path("whole", "trajectory.h5")) as file:
            x = self.frames("position", "whole")[:, :, 0] - self.middle(file)
        left = x < numpy.maximum(5 - 0.1 * numpy.arange(len(x)), -5)[:, None]
        self.assertGreater(left[0].sum(), 1500)
        self.assertLess(left[100:].sum(axis=1).max(), 500)
        for own in (left, ~left):
            # Of 370 particles or more, 200 samples that are nearly independent: 0.4 %.
            squares = (v[100:] ** 2).sum(axis=2)[own[100:]].mean()
            self.assertAlmostEqual(squares / 3, 1, delta=0.02)
        heat = self.column("heat_left", "whole") + self.column("heat_right", "whole")
        energy = self.column("total_energy", "whole")
        self.assertGreater(abs(self.column("heat_left", "whole")).max(), 30)
        numpy.testing.assert_allclose(energy - energy[0], heat, atol=1e-3 * energy.max())
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("position", "velocity"):
            numpy.testing.assert_array_equal(self.frames(name, "again"), self.frames(name, "whole"))
        numpy.testing.assert_array_equal(self.column("heat_left", "again"),
                                         self.column("heat_left", "whole"))

    def test_two_temperatures_in_two_places(self):
        """Friction so strong that particles have the temperature of the place where they are."""
        groups = {"left": {"box": [[None, None, None], [0, None, None]], "every": 1},
                  "right": {"not": ["left"]}}
        bath = {**LANGEVIN, "friction": 50, "tally_heat": True}
        job = gas(md([{**bath, "temperature": 0.5, "group": "left"},
                      {**bath, "temperature": 2, "group": "right"}], steps=2000),
                  groups=groups, velocity={"temperature": 1})
        job["observers"][0].update(stride=20, positions="wrapped")
        self.run_job(job)
        v = self.frames("velocity")[20:].astype(float)
        with h5py.File(self.path("trajectory.h5")) as file:
            x = self.frames("position")[20:, :, 0] - self.middle(file)
        for temperature, own in ((0.5, (x < -1) & (x > -6)), (2, (x > 1) & (x < 6))):
            found = (v ** 2).sum(axis=2)[own].mean() / 3
            self.assertAlmostEqual(found / temperature, 1, delta=0.02)
        kinetic = self.column("kinetic_energy")
        heat = self.column("heat_left") + self.column("heat_right")
        numpy.testing.assert_allclose(kinetic - kinetic[0], heat, atol=1e-3 * kinetic.max())

    def test_integrators_that_need_the_same_particles(self):
        groups = {"a": {"formula": "x < 0", "every": 10}, "b": {"not": ["a"]}}
        brownian = {"type": "brownian", "timestep": 0.004, "temperature": 1, "friction": 1}
        for one, why in (
                (FROZEN, "frozen stops particles"),
                ({"type": "moving", "timestep": 0.004, "velocity": [1, 0, 0]}, "moving prescribes"),
                (CHAIN, "nose_hoover "),
                ({**LANGEVIN, "method": "velocity_verlet"}, "keeps the bath's force"),
                ({**LANGEVIN, "axes": "xy"}, "with types or axes"),
                ({**LANGEVIN, "rng": "hybrid_taus"}, "generator with a memory")):
            self.refused(liquid(md([{**one, "group": "a"}, {**NVE, "group": "b"}]), groups=groups),
                         r'integrators\[0\].group: the particles of "a" are chosen anew every 10 '
                         f"steps, and .*{why}.*stays the same")
        middle = {**brownian, "method": "leimkuhler_matthews"}
        self.refused(liquid(md([{**brownian, "group": "a"}, {**middle, "group": "b"}]),
                            groups=groups), r"integrators\[1\].group: .*keeps the noise")

    def test_particles_that_come_to_be_nobodys(self):
        groups = {"a": {"formula": "x < 0", "every": 10}, "b": {"formula": "x >= 0"}}
        job = liquid(md([{**NVE, "group": "a"}, {**NVE, "group": "b"}]), groups=groups)
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out)
        done = self.perrin("run", self.path("job.json"), "--output-dir", self.path("out"))
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr,
                         r"particle \d+ has come to be in (no group|\"a\" and in \"b\")")

    # -- a barostat of one of them -----------------------------------------------------------------

    def test_overdamped_particles_beside_frozen_ones_at_constant_pressure(self):
        """V^N exp(-PV/kT) of the N that move: without momenta they are counted. (The frozen ones
        of a gas push nobody.)"""
        n, pressure = 400, 0.5
        pressed = {"type": "brownian", "timestep": 0.001, "temperature": 1, "friction": 1,
                   "group": "free", "barostat": {"pressure": pressure, "tau": 1, "stride": 1,
                                                 "compressibility": 0.072 * n / pressure}}
        job = gas(md([{**FROZEN, "timestep": 0.001, "group": "still"}, pressed], steps=24000),
                  groups={"still": {"ids": [[n, 599]]}, "free": {"not": ["still"]}}, particles=600,
                  velocity={"temperature": 1})
        job["system"]["density"] = 600 * pressure / n
        job["observers"] = [{"type": "thermo", "stride": 5, "box": True}]
        self.run_job(job, threads="1")
        volume = self.column("volume")[800:]
        # By the noise of 0.012 in ln V some 35 steps are one independent sample.
        error = (n + 1) ** 0.5 / pressure / (len(volume) * 5 / 70) ** 0.5
        self.assertAlmostEqual(volume.mean(), (n + 1) / pressure, delta=4.5 * error)
        self.assertLess(error, 0.005 * volume.mean())
        self.assertAlmostEqual(volume.std() * pressure / (n + 1) ** 0.5, 1, delta=0.2)

    def test_the_pressure_of_two_overdamped_groups(self):
        """In every row, also the first one, all that move are counted: the rows are those of one
        integrator."""
        pressed = {"type": "brownian", "timestep": 0.001, "temperature": 1, "friction": 1,
                   "barostat": {"pressure": 0.5, "tau": 1, "stride": 1}}
        free = {k: v for k, v in pressed.items() if k != "barostat"}
        groups = {"some": {"ids": [[0, 399]]}, "others": {"not": ["some"]}}
        for name, integrators in (("one", pressed), ("two", [{**pressed, "group": "some"},
                                                             {**free, "group": "others"}])):
            job = gas(md(integrators, steps=20), groups=groups, particles=600)
            job["observers"] = [{"type": "thermo", "stride": 5, "box": True, "groups": ["some"]}]
            self.run_job(job, folder=name)
        for column in ("pressure", "pressure_tensor", "pressure_tensor_some", "enthalpy"):
            numpy.testing.assert_array_equal(self.column(column, "two"), self.column(column, "one"))
        numpy.testing.assert_allclose(self.column("pressure", "two")[0], 0.5, rtol=1e-6)

    def test_two_temperatures_at_one_pressure(self):
        """Half of the particles is hot: no ensemble, but the mean pressure is that of the barostat,
        of the momenta of all; a wall of frozen particles goes with the box, and its energy counts
        in what is conserved."""
        groups = {"wall": {"types": ["W"]}, "hot": {"and": ["left"], "not": ["wall"]},
                  "cold": {"and": ["right"], "not": ["wall"]}, **HALVES}
        job = liquid(md([{**BUSSI, "temperature": 1.6, "group": "hot",
                          "barostat": {"pressure": 2, "tau": 0.2, "stride": 5}},
                         {**BUSSI, "temperature": 0.9, "group": "cold"},
                         {"type": "frozen", "group": "wall"}], steps=12000),
                     groups=groups, watched=["hot", "cold"])
        job["system"]["types"] = {"A": 5, "W": 1}
        job["forces"] = [{**LJ, "pairs": [{"types": types, "epsilon": 1, "sigma": 1}
                                          for types in (["A", "A"], ["A", "W"], ["W", "W"])]}]
        job["observers"][1]["box"] = True
        self.run_job(job)
        pressure = self.column("pressure")[201:].reshape(10, -1).mean(axis=1)
        self.assertAlmostEqual(pressure.mean(), 2, delta=4.5 * pressure.std() / 3)
        self.assertLess(pressure.std() / 3, 0.05)
        # Heat flows from one to the other, so that neither has its bath's temperature.
        self.assertGreater(self.column("temperature_hot")[201:].mean() -
                           self.column("temperature_cold")[201:].mean(), 0.3)
        self.assertGreater(self.column("volume").std(), 10)
        conserved, energy = self.column("conserved_energy"), self.column("total_energy")
        self.assertLess(abs(conserved - conserved[0]).max(), 5)
        self.assertGreater(abs(energy - energy[0]).max(), 100)
        self.assertEqual(abs(self.frames("velocity")[-1][self.kinds() == 1]).max(), 0)
        edges = self.box_edges()
        walls = self.frames("position")[:, self.kinds() == 1] / edges[:, None]
        self.assertGreater(edges.std(), 0.01)
        numpy.testing.assert_allclose(walls, walls[0][None].repeat(len(walls), 0), atol=1e-9)

    def kinds(self):
        with h5py.File(self.path("trajectory.h5")) as file:
            return file["particles/all/species"][:]

    def box_edges(self):
        """[frame][axis]"""
        with h5py.File(self.path("trajectory.h5")) as file:
            return numpy.diagonal(file["particles/all/box/edges/value"][:], axis1=1, axis2=2)

    def mistakes_beside_a_barostat(self):
        left = {**BUSSI, "group": "left", "barostat": {"pressure": 1, "tau": 1}}
        right = {"group": "right"}
        self.refused(liquid(md([left, {**left, **right}])),
                     r"integrators\[1\].barostat: is given twice")
        chain = {**CHAIN, "group": "left", "barostat": {"pressure": 1, "tau": 1}}
        self.refused(liquid(md([chain, {**NVE, **right}])),
                     r"integrators\[0\].barostat: acts on what nose_hoover moves alone")
        self.refused(liquid(md([left, {"type": "moving", "timestep": 0.004, **right,
                                       "velocity": [1, 0, 0]}])),
                     r"integrators\[1\]: moving prescribes a path.*expected frozen")
        self.refused(liquid(md([left, {**LANGEVIN, "axes": "xy", **right}])),
                     r"integrators\[1\]: stops particles along axes")
        slow = {"type": "brownian", "timestep": 0.0004, "temperature": 1, "friction": 1}
        pressed = {**slow, "group": "left", "barostat": left["barostat"]}
        self.refused(liquid(md([pressed, {**slow, **right, "temperature": 2}])),
                     r"integrators\[1\].temperature: must be that of the integrator with the baro")
        swims = {"type": "active_brownian", **{k: slow[k] for k in slow if k != "type"},
                 "rotational_friction": 1, "speed": 1}
        self.refused({**liquid(md([pressed, {**swims, **right}])),
                      "orientations": {"start": "random"}},
                     r"integrators\[1\]: active_brownian cannot stand beside the barostat of brown")

    # -- friction of pairs -------------------------------------------------------------------------

    def dpd(self, integrators, walls, steps):
        """A fluid of A, with a wall of W below z = -4."""
        job = gas(md(integrators, steps=steps), particles=3000, velocity={"temperature": 1},
                  groups={"wall": {"types": ["W"]}, "fluid": {"types": ["A"]}},
                  forces=[{"type": "dpd", "temperature": 1, "pairs": [
                      {"types": ["A", "A"], "repulsion": 25, "gamma": 4.5},
                      {"types": ["A", "W"], **walls}, {"types": ["W", "W"], **walls}]}])
        job["system"] = {"type": "parts", "box": [10, 10, 10], "min_distance": 0, "parts": [
            {"type": "random", "particles": {"W": 480},
             "region": {"box": [[None, None, None], [None, None, -3.4]]}},
            {"type": "random", "particles": {"A": 2520},
             "region": {"box": [[None, None, -3.4], [None, None, None]]}}]}
        return job

    def test_pairs_of_a_group_conserve_momentum(self):
        """Particles of the other group feel nothing: what one of a pair gets, the other
        loses."""
        split = {"type": "dpd_split", "timestep": 0.04, "group": "fluid"}
        job = self.dpd([split, {"type": "frozen", "group": "wall"}],
                       {"repulsion": 0, "gamma": 0}, 2000)
        self.run_job(job)
        momentum = self.column("momentum_fluid")
        self.assertLess(abs(momentum - momentum[0]).max(), 5e-3)
        self.assertAlmostEqual(self.column("temperature_fluid")[100:].mean(), 1, delta=0.01)

    def test_the_first_forces_are_those_of_walls_that_are_held(self):
        """Whichever integrator is named first: not those of the velocities that their particles
        were drawn."""
        warren = {"type": "groot_warren", "timestep": 0.02, "group": "fluid"}
        moving = {"type": "moving", "timestep": 0.02}
        walls = [{"type": "frozen", "group": "wall"}, {**moving, "group": "plate",
                                                      "velocity": [2, 0, 0]}]
        for k, integrators in enumerate(([warren, *walls], [*walls, warren],
                                         [walls[1], warren, walls[0]])):
            job = self.dpd(integrators, {"repulsion": 25, "gamma": 4.5}, 4)
            job["groups"]["plate"] = {"ids": [[0, 99]]}
            job["groups"]["wall"] = {"types": ["W"], "not": ["plate"]}
            job["observers"] = [{"type": "trajectory", "stride": 1, "quantities": QUANTITIES},
                                {"type": "thermo", "stride": 1}]
            self.run_job(job, folder=str(k))
            for name in QUANTITIES:
                numpy.testing.assert_array_equal(self.frames(name, str(k)), self.frames(name, "0"))
            numpy.testing.assert_array_equal(self.column("pressure", str(k)),
                                             self.column("pressure", "0"))

    def test_friction_with_a_wall_that_moves(self):
        """The fluid has its bath's temperature, in the frame of the wall, which drags it along."""
        split = {"type": "dpd_split", "timestep": 0.04, "group": "fluid"}
        u = 1.5
        job = self.dpd([{"type": "moving", "timestep": 0.04, "group": "wall",
                         "velocity": [u, 0, 0]}, split], {"repulsion": 25, "gamma": 4.5}, 6000)
        self.run_job(job)
        mass = 2520
        drift = self.column("momentum_fluid")[300:] / mass
        # The centre of mass has kT/M for itself, and forgets after (8.4/pi)²/0.28 = 26, of 120.
        error = (1 / mass / (120 / 52)) ** 0.5
        self.assertAlmostEqual(drift[:, 0].mean(), u, delta=4.5 * error)
        self.assertLess(abs(drift[:, 1:].mean(axis=0)).max(), 4.5 * error)
        kinetic = self.column("kinetic_energy_fluid")[300:]
        inside = kinetic - mass * (u * drift[:, 0] - u ** 2 / 2)
        self.assertAlmostEqual(2 * inside.mean() / (3 * mass), 1, delta=0.01)

    def test_friction_comes_before_the_next_step_of_others(self):
        """Whichever of the two integrators is named first."""
        split = {"type": "dpd_split", "timestep": 0.04, "group": "fluid"}
        moving = {"type": "moving", "timestep": 0.04, "group": "wall", "velocity": [1.5, 0, 0]}
        for traversal in ("verlet_list", "cells", "standard"):
            found = []
            for integrators in ([split, moving], [moving, split]):
                job = self.dpd(integrators, {"repulsion": 25, "gamma": 4.5}, 100)
                job["neighbors"] = {"traversal": traversal}
                self.run_job(job, "--overwrite")
                found.append([self.column(name) for name in ("kinetic_energy_fluid",
                                                             "potential_energy")])
            numpy.testing.assert_array_equal(*found, err_msg=traversal)

    # -- mistakes ----------------------------------------------------------------------------------

    def test_only_the_first_cause_is_told(self):
        """Of a group that is wrong nobody who names it complains."""
        for wrong, what in (({"types": ["B"]}, "groups.a.types"), ({"ids": [864]}, "groups.a.ids"),
                            ({"typs": ["A"]}, "groups.a.typs"), ({"types": "A"}, "groups.a.types"),
                            ({}, "groups.a: must have"), ({"and": ["c"]}, "groups.a.and"),
                            (5, "groups.a: must be an object")):
            job = liquid(md([{**FROZEN, "group": "a"}, {**NVE, "group": "b"}]),
                         groups={"a": wrong, "b": {"not": ["a"]}}, watched=["a"],
                         forces=[LJ, {"type": "constant_force", "force": [1, 0, 0], "on": "b"}])
            job["observers"].append({"type": "gsd", "stride": 5, "group": "a"})
            lines = self.refused(job, re.escape(what)).strip().splitlines()
            self.assertEqual(len(lines), 1, lines)

    def test_mistakes(self):
        two = md([{**NVE, "group": "left"}, {**NVE, "group": "right"}])
        self.refused(liquid(md([{**NVE, "group": "left"}])), "432 of 864 particles are in no group")
        self.refused(liquid(md([{**NVE, "group": "left"}, {**NVE, "group": "all"}])),
                     r'particle \d+ is also in "left"')
        self.refused(liquid(md([{**NVE, "group": "lift"}])), 'unknown group "lift".*left')
        self.refused(liquid(md(NVE), watched=["left", "right", "left"]),
                     r"observers\[1\].groups\[2\]: is given twice")
        self.refused(liquid(md([NVE])), 'integrators\\[0\\]: the key "group" is missing')
        slow = copy.deepcopy(two)
        slow["integrators"][1]["timestep"] = 0.002
        self.refused(liquid(slow), r"integrators\[1\].timestep: must be that of the other.*0.002")
        self.mistakes_beside_a_barostat()
        split = {"type": "dpd_split", "timestep": 0.004, "group": "left"}
        self.refused(liquid(md([split, {**NVE, "group": "right"}])),
                     r"integrators\[1\]: velocity_verlet cannot stand beside dpd_split, whose "
                     "friction.*: expected frozen or moving; groot_warren")
        fire = {"type": "fire", "force_tolerance": 1, "group": "left"}
        still = {"type": "frozen", "group": "right"}
        self.refused(liquid(md([fire, {**NVE, "group": "right"}])),
                     r"integrators\[1\]: velocity_verlet cannot stand beside fire.*expected frozen")
        self.refused(liquid(md([{**still, "timestep": 0.004}, fire])),
                     r"integrators\[0\].timestep: must be left out beside fire")
        self.refused(liquid(md([{**fire, "cell": {"pressure": 1, "tolerance": 1}}, still])),
                     r"integrators\[0\].cell: .*is not possible beside other integrators")
        self.refused(liquid(md([{**still, "group": "left"}, still])), "timestep: is missing")
        self.refused(liquid(md({"type": "frozen"})), "integrator.timestep: is missing")
        self.refused(liquid({**two, "integrator": NVE}), "either integrator or integrators")
        self.refused(liquid({"type": "md", "steps": 1}), "keys integrator, integrators is missing")
        mixed = copy.deepcopy(two)
        mixed["integrators"][0] = {"type": "brownian", "timestep": 0.004, "temperature": 1,
                                   "friction": 1, "group": "left"}
        self.refused(liquid(mixed), "overdamped motion cannot be combined")
        self.refused(liquid(md(NVE), groups={"a": {"not": ["b"]}, "b": {"not": ["a"]}}),
                     "is defined by itself")
        self.refused(liquid(md(NVE), groups={"a": {"box": [[50, 0, 0], [60, 1, 1]]}}),
                     "groups.a: has no particles")
        self.refused(liquid(md(NVE), groups={"a": {"box": [[5, 0, 0], [4, 1, 1]]}}),
                     "must be below the upper one along x, got 5 and 4")
        self.refused(liquid(md(NVE), groups={"a": {"ids": [864]}}), "has 864 particles.*got 864")
        self.refused(liquid(md(NVE), groups={"a": {"types": ["B"]}}), 'unknown particle type "B"')
        self.refused(liquid(md(NVE), groups={"a": {}}), "must have at least one of")
        slab = {"formula": "abs(z) < 3", "every": 10}
        self.refused(liquid(md([{**FROZEN, "group": "a"}, {**NVE, "group": "b"}]),
                            groups={"a": slab, "b": {"not": ["a"]}}), "chosen anew every 10 steps")
        self.refused(liquid(md(NVE), groups={"a": {"ids": [1], "every": 3}}),
                     "a.every: is for a group with a box or a formula")
        self.refused(liquid(md(NVE), groups={"a": slab, "b": {"formula": "x > 0", "and": ["a"]}}),
                     "groups.b: is made of groups that are chosen anew")
        self.refused(liquid(md(NVE), groups={"all": {"ids": [1]}}), "must have a name")
        self.refused(liquid(md(NVE), forces=[{**LJ, "on": "left"}]),
                     "acts between particles, and cannot act on a group")
        self.refused(liquid(md(NVE), watched=["nobody"]), 'unknown group "nobody"')
        self.refused(liquid({**two, "deform": {"x": 12}}), "deform: .*several integrators")
        mixed = liquid(md(NVE), groups={"wall": {"types": ["W"]}})
        mixed["system"]["types"] = {"A": 1, "W": 1}
        for force in ({"type": "constant_force", "force": [1, 0, 0], "types": ["A"]},
                      {"type": "external_formula", "energy": "k*x", "types": {"A": {"k": 1}}}):
            self.refused({**mixed, "forces": [{**force, "on": "wall"}]},
                         'on: the group "wall" has no particles of the "types"')
        spring = {"type": "group_restraint", "groups": ["left", "right"], "stiffness": 1}
        self.refused(liquid(md(NVE), forces=[LJ, spring]), "length: is missing")
        self.refused(liquid(md(NVE), forces=[LJ, {**spring, "groups": ["left", "all"],
                                                  "length": 1}]),
                     r'no particle in common: particle \d+ is in "left" and in "all"')
        self.refused(liquid(md(NVE), forces=[LJ, {**spring, "length": 1, "on": "left"}]),
                     r'on: group_restraint acts on its "groups"')
        self.refused(liquid(md(NVE), forces=[LJ, {**spring, "groups": ["left"]}]),
                     "point: is missing")
        formula = {"type": "group_restraint", "groups": ["left", "right"]}
        self.refused(liquid(md(NVE), forces=[LJ, formula]), "one of the keys stiffness, energy")
        self.refused(liquid(md(NVE), forces=[LJ, {**formula, "energy": "k*r"}]), 'unknown name "k"')
        self.refused(liquid(md(NVE), forces=[LJ, {**formula, "energy": "r^2", "length": 2}]),
                     "stands in place of")
        pulled = {"type": "group_restraint", "groups": ["left"], "stiffness": 1,
                  "point": [0, 0, 0], "axes": "xy", "velocity": [0, 0, 1]}
        self.refused(liquid(md(NVE), forces=[LJ, pulled]),
                     'velocity: moves the point along z, which is none of the axes "xy"')
        moving = {"type": "moving", "timestep": 0.004, "group": "left"}
        for wrong, message in (([0, "1 +", 0], r"velocity\[1\]: "),
                               ([0, "x", 0], 'unknown name "x"'), ([0, 0], "must have 3 entries"),
                               ([None, 0, 0], "must be a number or a formula of t, got null")):
            self.refused(liquid(md([{**NVE, "group": "right"}, {**moving, "velocity": wrong}])),
                         message)
        flat = liquid(md(NVE))
        flat["system"] = {"type": "lattice", "structure": "square", "density": 0.7,
                          "cells": [20, 20, 1]}
        trap = {"type": "harmonic_trap", "stiffness": [1, 1, 0]}
        for wrong, message in (
                ({"center": ["t", 0, 0], "velocity": [1, 2, 0]},
                 'velocity: must be 0 along x, where "center" is a formula of t, got 1'),
                ({"center": ["k*t", 0, 0]}, r'center\[0\]: unknown name "k"; a center is a form'),
                ({"center": [0, 0]}, "center: must have 3 entries, got 2"),
                ({"center": [0, None, 0]}, r"center\[1\]: must be a number or a formula of t"),
                ({"center": [0, "1 +", 0]}, r"center\[1\]: ")):
            self.refused(liquid(md(NVE), forces=[LJ, {**trap, **wrong}]), message)
        for force, key in (({**trap, "stiffness": [1, 1, 1]}, "stiffness"),
                           ({**trap, "center": [0, 0, 1]}, "center"),
                           ({**trap, "center": [0, 0, "t"]}, "center"),
                           ({**trap, "velocity": [0, 0, 1]}, "velocity"),
                           ({"type": "tether", "stiffness": [1, 1, 1]}, "stiffness"),
                           ({"type": "constant_force", "force": [0, 0, 1]}, "force"),
                           ({**pulled, "velocity": [0, 0, 0], "point": [0, 0, 1]}, "point")):
            self.refused({**flat, "groups": {"left": {"ids": [0]}}, "forces": [LJ, force]},
                         rf"{key}: must have no z component in two dimensions, got (1|the te)")
        self.refused({**flat, "forces": [LJ, {**pulled, "axes": "xz", "velocity": [0, 0, 0]}]},
                     "axes: must be x, y or xy in two dimensions, got xz")
        shaken = {**moving, "velocity": [0, 0], "oscillation": {"amplitude": [0, 0, 1],
                                                                "period": 1}}
        self.refused({**flat, "stages": [md([{**NVE, "group": "right"}, shaken])]},
                     "oscillation.amplitude: must have no z component")
        shaken["oscillation"] = {"amplitude": [0, 1, 0], "period": 0.0159}
        self.refused({**flat, "stages": [md([{**NVE, "group": "right"}, shaken])]},
                     "oscillation.period: must be at least four time steps, 0.016, got 0.0159")
        for schedule, message in (({}, "must have one of log, steps and when"),
                                  ({"log": 2, "steps": [1]}, "only one of log and steps"),
                                  ({"steps": [3, 2]}, "must be greater than the step before"),
                                  ({"when": "heat > 3"}, 'unknown name "heat"'),
                                  ({"when": "step + sin > 3"}, "after the function sin"),
                                  ({"log": 0}, "log: must be")):
            wrong = liquid(md(NVE))
            wrong["observers"][0]["schedule"] = schedule
            self.refused(wrong, message)
        average = liquid(md(NVE))
        average["plugins"] = ["analysis"]
        average["observers"].append({"type": "rdf", "schedule": {"log": 3}})
        self.refused(average, "rdf takes averages over all multiples of its stride")
        lonely = liquid(md(NVE))
        lonely["observers"].append({"type": "restraint", "stride": 10})
        self.refused(lonely, 'the job has no force "group_restraint"')


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
