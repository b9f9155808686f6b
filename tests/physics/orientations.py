#!/usr/bin/python3
"""Particles that have orientations: free rotation against Euler's equations, energies,
equipartition, rotational diffusion, resumed runs and several processes, mistakes.

    orientations.py PERRIN [unittest arguments]
"""

import json
import math
import os
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase

GAY_BERNE = {"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift",
             "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
DIPOLES = {"type": "dipole", "cutoff": 3, "truncation": "switch",
           "pairs": [{"types": ["A", "A"], "strength": 2}]}
LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
NVE = {"type": "velocity_verlet", "timestep": 0.002}


def job(integrator, *forces, steps=1000, cells=(6, 6, 6), density=0.03, moments=(0.2, 0.8, 0.8),
        start="random", temperature=1.5, system=None, **more):
    return {"seed": 5,
            "system": system or {"type": "lattice", "structure": "sc", "density": density,
                                 "cells": list(cells)},
            "orientations": {"start": start, "moments_of_inertia": {"A": list(moments)}},
            "velocity": {"temperature": temperature}, "forces": list(forces),
            "observers": [{"type": "thermo", "stride": 10}, {"type": "checkpoint"}],
            "stages": [{"type": "md", "steps": steps, "integrator": integrator}], **more}


def euler(q, spin, moments, time, steps=4000):
    """Free rotation by the classical Runge-Kutta method: dL/dt = L × ω in the body's frame, dq/dt =
    q (0, ω)/2; quaternions as x, y, z, w."""
    def slope(y):
        q, l = y[:, :4], y[:, 4:]
        w = l / moments
        v, s = q[:, :3], q[:, 3:]
        dq = numpy.hstack([s * w + numpy.cross(v, w), -(v * w).sum(1, keepdims=True)]) / 2
        return numpy.hstack([dq, numpy.cross(l, w)])
    y, h = numpy.hstack([q, spin]).astype(float), time / steps
    for _ in range(steps):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        d = slope(y + h * c)
        y += h / 6 * (a + 2 * b + 2 * c + d)
    return y[:, :4], y[:, 4:]


def axes(q):
    """The first axis of each frame in space."""
    x, y, z, w = q.T
    return numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1)


def logistic(c, patches):
    """f of forces/anisotropic/patchy.h for cosines c."""
    def of(x):
        return 0.5 + 0.5 * numpy.tanh(patches["steepness"] / 2 * (
            x - math.cos(math.radians(patches["half_angle"]))))
    return (of(c) - of(-1)) / (of(1) - of(-1))


def patchy_energy(at, q, names, edge, patches, pairs):
    """The sum over all pairs of particles in a cube, q with w last."""
    total = 0.0
    vectors = at[None] - at[:, None]  # [i, j]: from i to j
    vectors -= edge * numpy.round(vectors / edge)
    r = numpy.sqrt((vectors**2).sum(-1)) + numpy.eye(len(at)) * 1e9
    x, y, z, w = q.astype(float).T
    matrix = numpy.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # [a, b, i]
    sums = numpy.zeros_like(r)
    for name, of in patches.items():
        for direction in of["directions"]:
            n = numpy.array(direction, float)
            n = numpy.einsum("abi,b->ia", matrix, n / numpy.sqrt(n @ n))
            cosine = (n[:, None] * vectors).sum(-1) / r
            sums += (names == name)[:, None] * logistic(cosine, of)
    for pair in pairs:
        a, b = pair["types"]
        both = numpy.outer(names == a, names == b)
        both = numpy.triu(both | both.T) & (r < 2.5)
        six = (pair["sigma"] / r[both])**6
        core = pair.get("core_epsilon", pair["epsilon"])
        total += numpy.where(six > 0.5, core * (4 * (six * six - six) + 1), 0).sum()
        if "range" in pair:
            u = numpy.clip((r[both] - pair["range"]) / pair["width"] + 1, 0, 1)
            well = -pair["epsilon"] * (1 - u**3 * (10 - 15 * u + 6 * u * u))
        else:
            well = numpy.where(six > 0.5, -pair["epsilon"], 4 * pair["epsilon"] * (six * six - six))
        total += (well * sums[both] * sums.T[both]).sum()
    return total


class Orientations(JobCase):
    overwrite = True

    def test_free_rotation_is_that_of_eulers_equations(self):
        moments = numpy.array([1, 2, 3.5])
        errors = []
        for steps in (100, 200, 400):
            dt = 4 / steps
            free = job({"type": "velocity_verlet", "timestep": dt}, steps=1, cells=(4, 4, 4),
                       moments=moments)
            self.run_job(free)
            q, spin = self.words("orientation"), self.words("angular_momentum")[:, :3]
            free["stages"][0]["steps"] = steps + 1
            self.run_job(free)
            expected, expected_spin = euler(q, spin, moments, 4)
            got, got_spin = self.words("orientation"), self.words("angular_momentum")[:, :3]
            numpy.testing.assert_allclose((got**2).sum(1), 1, atol=1e-5)
            numpy.testing.assert_allclose((got_spin**2).sum(1), (spin**2).sum(1), rtol=1e-4)
            errors.append([numpy.sqrt(((got - expected)**2).sum(1).mean()),
                           numpy.sqrt(((got_spin - expected_spin)**2).sum(1).mean())])
        # A method of second order: half of the step, a quarter of the error.
        for before, after in zip(errors, errors[1:]):
            for k in (0, 1):
                self.assertLess(after[k], 0.35 * before[k], errors)
        self.assertLess(max(errors[-1]), 2e-3, errors)

    def test_energy_is_conserved_and_its_error_is_of_second_order(self):
        spread = []
        for dt in (0.004, 0.002):
            self.run_job(job({"type": "velocity_verlet", "timestep": dt}, GAY_BERNE,
                             steps=round(6 / dt), cells=(7, 7, 7)))
            energy = self.column("total_energy")
            numpy.testing.assert_allclose(energy, self.column("conserved_energy"))
            spread.append(energy[len(energy) // 5:].std())
            self.assertLess(spread[-1], 1e-3 * 3 * 343)
        self.assertLess(spread[1], 0.4 * spread[0], spread)

    def test_momenta_of_all_axes_have_the_temperature(self):
        # 3 N and 2 N velocities; N = 216. A temperature of n velocities has the variance 2 T²/n;
        # samples are some relaxation times apart, of which the longest is m/ξ = 0.5, that is 0.5 of
        # 10 rows: 600 rows are 240 independent ones, or more.
        for integrator in ({"type": "langevin", "timestep": 0.005, "temperature": 1.2,
                            "friction": 2, "rotational_friction": 1},
                           {"type": "langevin", "timestep": 0.005, "temperature": 1.2,
                            "friction": 2, "rotational_friction": 1, "method": "velocity_verlet"},
                           {"type": "bussi", "timestep": 0.005, "temperature": 1.2, "tau": 0.2},
                           {"type": "nose_hoover", "timestep": 0.005, "temperature": 1.2,
                            "tau": 0.2}):
            with self.subTest(integrator["type"]):
                self.run_job(job(integrator, GAY_BERNE, steps=6500, temperature=1.2))
                for name, velocities in (("temperature", 3 * 216 - 3),
                                         ("rotational_temperature", 2 * 216)):
                    rows = self.column(name)[50:]
                    error = 1.2 * math.sqrt(2 / velocities / 240)
                    self.assertLess(abs(rows.mean() - 1.2), 4 * error + 0.005, name)
                    # The distribution is canonical: its width within some tenths.
                    width = 1.2 * math.sqrt(2 / velocities)
                    self.assertLess(abs(rows.std() / width - 1), 0.25, name)
                heat = self.column("conserved_energy")
                self.assertLess(abs(heat[-1] - heat[100]), 0.02 * 216)

    def test_rotational_diffusion(self):
        # <u(t)·u(0)> = exp(-(d - 1) D t). Each u·u' has at most the variance 1/2.
        diffusion, time = 1.2 / 2, 0.4
        for dimension, cells in ((3, (16, 16, 16)), (2, (64, 64, 1))):
            with self.subTest(dimension):
                system = {"type": "lattice", "structure": "sc" if dimension == 3 else "square",
                          "density": 0.5, "cells": list(cells)}
                brownian = job({"type": "brownian", "timestep": 0.002, "temperature": 1.2,
                                "friction": 1, "rotational_friction": 2}, steps=1, system=system,
                               moments=(0, 0, 0))
                brownian["observers"] = [{"type": "checkpoint"}]
                del brownian["velocity"]
                self.run_job(brownian)
                before = axes(self.words("orientation"))
                brownian["stages"][0]["steps"] = 1 + round(time / 0.002)
                self.run_job(brownian)
                q = self.words("orientation")
                overlap = (axes(q) * before).sum(1)
                expected = math.exp(-(dimension - 1) * diffusion * time)
                self.assertLess(abs(overlap.mean() - expected), 4 * math.sqrt(0.5 / len(overlap)))
                if dimension == 2:
                    numpy.testing.assert_array_equal(q[:, :2], 0)

    def test_torques_turn_overdamped_particles(self):
        # Two dipoles held beside each other: U = s cos(φ1 - φ2) …; each goes down the energy, so
        # that it falls in every step, to that of the best directions found from 64 starts: 0.
        system = {"type": "lattice", "structure": "square", "density": 0.25, "cells": [8, 8, 1]}
        cold = job({"type": "brownian", "timestep": 0.01, "temperature": 0, "friction": 1e6,
                    "rotational_friction": 1}, DIPOLES, system=system, moments=(0, 0, 0),
                   steps=2000)
        del cold["velocity"]
        self.run_job(cold)
        energy = self.column("potential_energy")
        self.assertTrue((numpy.diff(energy) < 1e-4 * abs(energy[-1])).all())
        self.assertLess(energy[-1], energy[0] - 10)
        torque = self.words("torque")
        self.assertLess(abs(torque[:, :2]).max(), 1e-6)  # about z alone
        self.assertLess(abs(torque).max(), 0.1)

    def test_orders_are_those_of_the_axes(self):
        for planar in (False, True):
            system = {"type": "lattice", "structure": "square" if planar else "sc",
                      "density": 0.5, "cells": [30, 30, 1] if planar else [10, 10, 10]}
            diffusing = job({"type": "brownian", "timestep": 0.002, "temperature": 1,
                             "friction": 1, "rotational_friction": 1}, steps=1000, system=system,
                            moments=(0, 0, 0), start="aligned")
            del diffusing["velocity"]
            diffusing["observers"] = [{"type": "checkpoint"},
                                      {"type": "orientational_order", "stride": 50}]
            self.run_job(diffusing)
            u = axes(self.words("orientation"))
            d, n = (2, 900) if planar else (3, 1000)
            u = u[:, :d]
            tensor = (d * u.T @ u / n - numpy.eye(d)) / (d - 1)
            values, vectors = numpy.linalg.eigh(tensor)
            rows = {name: self.column(name, file="orientational_order.h5") for name in (
                "nematic_order", "director", "polar_order", "autocorrelation")}
            self.assertAlmostEqual(rows["nematic_order"][0], 1, 5)
            self.assertAlmostEqual(rows["nematic_order"][-1], values[-1], 5)
            self.assertAlmostEqual(abs(vectors[:, -1] @ rows["director"][-1][:d]), 1, 4)
            self.assertAlmostEqual(rows["polar_order"][-1], math.hypot(*u.mean(0)), 5)
            self.assertAlmostEqual(rows["autocorrelation"][-1], u[:, 0].mean(), 5)
            # <u(t)·u(0)> = exp(-(d - 1) D t), D = 1, to the scatter of n particles.
            time = numpy.arange(21) * 0.1
            self.assertLess(abs(rows["autocorrelation"] - numpy.exp(-(d - 1) * time)).max(),
                            4 * math.sqrt(0.5 / n))

    def configuration_of(self, planar):
        """A disordered one, with the two observers: positions, frames' axes, edge of the cube."""
        system = {"type": "lattice", "structure": "square" if planar else "sc",
                  "density": 0.6 if planar else 0.4, "cells": [15, 15, 1] if planar else [6, 6, 6]}
        text = job({"type": "langevin", "timestep": 0.002, "temperature": 1, "friction": 1,
                    "rotational_friction": 1}, LJ, {**DIPOLES, "pairs": [
                        {"types": ["A", "A"], "strength": 4}]}, steps=1500, system=system,
                   moments=(0, 0, 0.1) if planar else (0.1, 0.1, 0.1))
        text["observers"] = [
            {"type": "trajectory", "stride": 1500, "precision": "double",
             "quantities": ["orientation"]},
            {"type": "patch_bonds", "stride": 1500, "rows_every": 1500, "distance": 1.3,
             "numbers": 2, "sizes": 5,
             "patches": {"A": {"directions": [[2, 0, 0], [-1, 1, 0]], "half_angle": 50}}},
            {"type": "orientational_correlation", "stride": 1500, "rows_every": 1500, "bins": 12,
             "r_max": 3, "l": [1, 2, 4]}]
        self.run_job(text)
        with h5py.File(self.path("trajectory.h5")) as file:
            edges = file["particles/all/box/edges"]
            edges = edges["value"][0] if isinstance(edges, h5py.Group) else edges[:]
        x, y, z, w = self.frames("orientation")[-1][:, [1, 2, 3, 0]].astype(float).T
        first = numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1)
        second = numpy.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z),
                              2 * (y * z + w * x)], 1)
        return self.frames("position")[-1], first, second, numpy.diag(edges)[0]

    def test_bonds_of_patches(self):
        for planar in (False, True):
            at, first, second, edge = self.configuration_of(planar)
            n = len(at)
            d = at[None] - at[:, None]
            d[..., :2 if planar else 3] -= edge * numpy.round(d[..., :2 if planar else 3] / edge)
            r = numpy.sqrt((d**2).sum(-1)) + 9 * numpy.eye(n)
            e = d / r[..., None]
            covered = numpy.zeros((n, n), bool)  # [i, j]: j is in front of a patch of i
            for patch in (first, (second - first) / math.sqrt(2)):
                covered |= (patch[:, None] * e).sum(-1) >= math.cos(math.radians(50))
            bonded = covered & covered.T & (r < 1.3)
            number = bonded.sum(1)
            cluster = numpy.arange(n)
            for _ in range(n):
                lowest = numpy.where(bonded, cluster[None], n).min(1)
                if (cluster <= lowest).all():
                    break
                cluster = numpy.minimum(cluster, lowest)
            size = numpy.bincount(cluster, minlength=n)
            size = size[size > 0]
            rows = {name: self.column(name, file="patch_bonds.h5")[-1] for name in (
                "bonds", "distribution", "clusters", "largest", "mean_size", "weight_mean_size",
                "sizes")}
            self.assertGreater(number.mean(), 0.2)
            self.assertAlmostEqual(rows["bonds"], number.mean(), 12)
            numpy.testing.assert_allclose(rows["distribution"], numpy.bincount(
                numpy.minimum(number, 2), minlength=3) / n, rtol=1e-12)
            self.assertEqual((rows["clusters"], rows["largest"]), (len(size), size.max()))
            self.assertAlmostEqual(rows["mean_size"], n / len(size), 12)
            self.assertAlmostEqual(rows["weight_mean_size"], (size**2).sum() / n, 12)
            numpy.testing.assert_array_equal(rows["sizes"], numpy.bincount(
                numpy.minimum(size, 5), minlength=6)[1:])

    def test_correlations_of_axes(self):
        for planar in (False, True):
            at, u, _, edge = self.configuration_of(planar)
            n, dimension = len(at), 2 if planar else 3
            i, j = numpy.triu_indices(n, 1)
            d = (at[j] - at[i])[:, :dimension]
            d -= edge * numpy.round(d / edge)
            u = u[:, :dimension]
            r = numpy.sqrt((d**2).sum(1))
            c = (u[i] * u[j]).sum(1)
            e = d / r[:, None]
            along = 3 * (u[i] * e).sum(1) * (u[j] * e).sum(1) - c
            ends = numpy.linspace(0, 3, 13)
            shell = numpy.diff(math.pi * ends**2 if planar else 4 * math.pi / 3 * ends**3)
            ideal = n * (n - 1) / 2 * shell / edge**dimension

            def of(weights):
                return numpy.histogram(r, ends, weights=weights)[0]
            pairs = of(numpy.ones(len(r)))

            def row(name):
                return self.column(name, file="orientational_correlation.h5")[-1]
            numpy.testing.assert_allclose(row("r"), (ends[1:] + ends[:-1]) / 2)
            numpy.testing.assert_allclose(row("g"), pairs / ideal, rtol=1e-5)
            legendre = {1: c, 2: (3 * c**2 - 1) / 2, 4: (35 * c**4 - 30 * c**2 + 3) / 8}
            for l, of_l in legendre.items():
                if planar:
                    of_l = numpy.cos(l * numpy.arccos(numpy.clip(c, -1, 1)))
                some = pairs > 0
                numpy.testing.assert_allclose(row(f"g_{l}")[some], of(of_l)[some] / pairs[some],
                                              atol=2e-6)
                self.assertTrue(numpy.isnan(row(f"g_{l}")[~some]).all())
            numpy.testing.assert_allclose(row("h110"), dimension * of(c) / ideal, atol=1e-5)
            self.assertGreater(abs(row("g_1")[some]).max(), 0.2)  # dipoles are not alone
            if not planar:
                numpy.testing.assert_allclose(row("h112"), 1.5 * of(along) / ideal, atol=1e-5)

    def test_gay_berne_is_that_of_lammps(self):
        # 40 ellipsoids at random places: pair_style gayberne, with the constant that its factor for
        # the shapes has for parallel ellipsoids taken out of epsilon.
        with open(os.path.join(os.path.dirname(__file__), "lammps_orientations.json")) as file:
            known = json.load(file)["gay_berne"]
        self.oriented("start.xyz", known["edge"], known["positions"], known["quaternions"])
        text = job({"type": "velocity_verlet", "timestep": 1e-9},
                   {**GAY_BERNE, "cutoff": known["cutoff"], "truncation": "cut"}, steps=1,
                   system={"type": "file", "path": "start.xyz"}, start="default")
        del text["velocity"]
        text["observers"][0]["stride"] = 1
        text["observers"].append({"type": "trajectory", "stride": 1, "quantities": ["torque"]})
        self.run_job(text)
        self.assertAlmostEqual(self.column("potential_energy")[0] / known["energy"], 1, delta=2e-5)
        for name, of in (("force", "forces"), ("torque", "torques")):
            expected = numpy.array(known[of])
            self.assertLess(abs(self.words(name)[:, :3] - expected).max(),
                            2e-5 * abs(expected).max(), name)
        expected = numpy.array(known["torques"])
        self.assertLess(abs(self.frames("torque")[0] - expected).max(), 2e-5 * abs(expected).max())

    def test_energy_in_shear(self):
        """The stress that does work is what a tilt does to the energy at fixed directions: with
        torques the tensor is not symmetric. Energy is conserved as by dt²."""
        drift = []
        for dt in (0.004, 0.002):
            text = job({"type": "velocity_verlet", "timestep": dt}, GAY_BERNE, steps=round(6 / dt),
                       cells=(8, 8, 8), temperature=2)
            text["observers"][0]["box"] = True
            text["stages"][0]["shear"] = {"rate": 1, "work": True}
            self.run_job(text)
            energy = self.column("conserved_energy")
            drift.append(abs(energy - energy[0]).max())
        self.assertGreater(self.column("work")[-1], 20)
        self.assertLess(drift[1], 0.01 * self.column("work")[-1])
        self.assertLess(drift[1], 0.4 * drift[0])

    def test_patchy_is_its_formula(self):
        # 400 particles at random places, two patches on each of half of them and three on the
        # others, against sums over all pairs; forces and torques are derivatives of the energy by
        # registry_forces_test.
        patches = {"A": {"directions": [[1, 0, 0], [-1, 1, 0]], "half_angle": 40, "steepness": 20},
                   "B": {"directions": [[0, 0, 2], [0, 1, 0], [1, 1, 1]], "half_angle": 60,
                         "steepness": 5}}
        pairs = [{"types": ["A", "A"], "epsilon": 3, "sigma": 1, "core_epsilon": 1},
                 {"types": ["A", "B"], "epsilon": 4, "sigma": 0.9, "attraction": "well",
                  "range": 1.7, "width": 0.6},
                 {"types": ["B", "B"], "epsilon": 2, "sigma": 1.1}]
        text = job(NVE, {"type": "patchy", "cutoff": 2.5, "patches": patches, "pairs": pairs},
                   steps=1, system={"type": "random", "particles": {"A": 200, "B": 200},
                                    "density": 0.4, "min_distance": 0.85},
                   start="random", moments=(1, 1, 1))
        text["orientations"]["moments_of_inertia"] = {"A": [1, 1, 1], "B": [1, 1, 1]}
        text["observers"].append({"type": "trajectory", "stride": 1, "precision": "double",
                                  "quantities": ["position", "orientation"]})
        self.run_job(text)
        at = self.frames("position")[0].astype(float)
        q = self.frames("orientation")[0][:, [1, 2, 3, 0]]  # w comes first in files
        edge = (400 / 0.4)**(1 / 3)
        with h5py.File(self.path("trajectory.h5")) as f:
            species = f["particles/all/species"]
            species = (species["value"][0] if isinstance(species, h5py.Group) else species[()])
        names = numpy.array(["A", "B"])[species.astype(int)]
        self.assertAlmostEqual(self.column("potential_energy")[0],
                               patchy_energy(at, q, names, edge, patches, pairs), delta=2e-2)

    def energy_of_pairs(self, force, vectors, q):
        """Of pairs far from one another, each at one of the vectors [pair, 3] and with two
        quaternions [pair, 2, 4], w first."""
        across, apart = math.ceil(len(vectors)**(1 / 3)), 4.0
        k = numpy.arange(len(vectors))
        at = apart * (0.5 + numpy.stack([k % across, k // across % across, k // across**2], 1))
        self.oriented("pairs.xyz", apart * across,
                      numpy.stack([at, at + vectors], 1).reshape(-1, 3).tolist(),
                      q.reshape(-1, 4).tolist())
        self.run_job(job(NVE, force, steps=0, moments=(1, 1, 1), start="default",
                         system={"type": "file", "path": self.path("pairs.xyz")}))
        return self.column("potential_energy")[0]

    def test_each_axis_has_its_share_of_the_temperature(self):
        """<L²/I> = kT about each axis of asymmetric tops, drawn at the start and after steps in a
        bath. Frames are a time of 2 apart, in which the bath (friction 3) forgets nearly all."""
        kt, moments, n = 1.2, numpy.array([0.2, 0.5, 0.9]), 1000
        text = job({"type": "langevin", "timestep": 0.005, "temperature": kt, "friction": 1,
                    "rotational_friction": 1}, GAY_BERNE, steps=4000, cells=(10, 10, 10),
                   moments=moments, temperature=kt)
        text["observers"] = [{"type": "trajectory", "stride": 400,
                              "quantities": ["angular_momentum"]}]
        self.run_job(text)
        spin = self.frames("angular_momentum").astype(float)
        # Of a chi-squared number the variance is twice the square of the mean.
        for frames in (spin[:1], spin[1:]):
            found = (frames**2).mean((0, 1)) / moments / kt
            self.assertLess(abs(found - 1).max(), 4 * math.sqrt(2 / (n * len(frames))) + 0.003)

    def test_sharp_patches_have_the_second_virial_coefficient_of_kern_and_frenkel(self):
        """B = 2π/3 (σ³ - χ² (exp(ε/kT) - 1) (λ³ - σ³)), N. Kern, D. Frenkel, J. Chem. Phys. 118,
        9882 (2003): χ = n (1 - cos δ)/2 is what n patches cover, λ where the well ends, σ the
        diameter of hard spheres that have the core's B. A pair is bonded or not, and the energy of
        pairs that lie as the core alone would have them counts the bonds."""
        end, width, depth, high = 1.4, 0.01, 1.7, 1.5
        random = numpy.random.default_rng(11)
        r = numpy.linspace(0.7, high, 40001)  # nothing is left below
        six = (0.89 / r)**6
        core = numpy.where(six > 0.5, 50 * (4 * (six * six - six) + 1), 0)
        weight = numpy.exp(-core) * r**2
        inside = numpy.cumsum(weight[1:] + weight[:-1]) / 2 * (r[1] - r[0])
        inside = numpy.concatenate([[0], inside])
        sigma3 = high**3 - 3 * inside[-1]
        for half_angle, directions in ((60, [[1, 0, 0]]), (50, [[0, 1, 0], [0, -1, 0]])):
            force = {"type": "patchy", "cutoff": high,
                     "patches": {"A": {"directions": directions, "half_angle": half_angle,
                                       "steepness": 4000}},
                     "pairs": [{"types": ["A", "A"], "epsilon": depth, "core_epsilon": 50,
                                "sigma": 0.89, "attraction": "well", "range": end,
                                "width": width}]}
            shares = []
            for _ in range(8):  # the cosines of both patches and distances are spread evenly
                even = numpy.stack(numpy.meshgrid(*[range(m) for m in (30, 30, 16)]))
                even = (even.reshape(3, -1).T + random.random((30 * 30 * 16, 3))) / [30, 30, 16]
                cosine, length = 2 * even[:, :2].T - 1, numpy.interp(even[:, 2] * inside[-1],
                                                                     inside, r)
                axis = random.normal(size=(len(even), 3))  # from the first to the second
                axis /= numpy.sqrt((axis**2).sum(1))[:, None]
                q = numpy.stack([self.turned_to(numpy.array(directions[0]), sign * axis, c, random)
                                 for sign, c in zip((1, -1), cosine)], 1)
                energy = self.energy_of_pairs(force, length[:, None] * axis, q)
                shares.append((numpy.interp(length, r, core).sum() - energy) / depth / len(even))
            by_bonds = 2 * math.pi * inside[-1] * math.expm1(depth) * numpy.array(shares)
            mean, error = by_bonds.mean(), by_bonds.std(ddof=1) / math.sqrt(8)
            chi = len(directions) * (1 - math.cos(math.radians(half_angle))) / 2
            expected = 2 * math.pi / 3 * chi**2 * math.expm1(depth) * (
                (end - width / 2)**3 - sigma3)
            # A steep patch and well are not quite sharp.
            self.assertLess(abs(mean - expected), 4 * error + 0.003 * expected, half_angle)
            self.assertLess(error, 0.01 * expected)

    def turned_to(self, patch, axis, cosine, random):
        """Quaternions, w first, that turn a direction of the frame to these cosines with the axes
        [particle, 3], and are random about both."""
        across = numpy.cross(axis, random.normal(size=axis.shape))
        across /= numpy.sqrt((across**2).sum(1))[:, None]
        to = cosine[:, None] * axis + numpy.sqrt(1 - cosine**2)[:, None] * across
        # Half a turn about the mean of the two directions, after any turn about the first.
        about = to + patch
        about /= numpy.sqrt((about**2).sum(1))[:, None]
        turn = math.pi * random.random(len(axis))
        w, v = numpy.cos(turn)[:, None], numpy.sin(turn)[:, None] * patch
        return numpy.hstack([-(about * v).sum(1, keepdims=True), w * about + numpy.cross(about, v)])

    def kinds(self):
        """Jobs of each kind; all write frames with torques and observe patches and axes."""
        found = self.forces_and_integrators()
        for text in found.values():
            text["observers"] += [
                {"type": "trajectory", "stride": 50, "quantities": ["orientation", "torque"]},
                {"type": "patch_bonds", "stride": 20, "rows_every": 60, "distance": 2,
                 "patches": {"A": {"directions": [[1, 0, 0], [-1, 0, 0]], "half_angle": 50}}},
                {"type": "orientational_correlation", "stride": 20, "rows_every": 60, "r_max": 4,
                 "bins": 20}]
        return found

    def forces_and_integrators(self):
        """With ramps, which a resumed run must not begin anew."""
        planar = {"type": "lattice", "structure": "square", "density": 0.4, "cells": [14, 14, 1]}
        bath = {"timestep": 0.002, "temperature": 1, "final_temperature": 1.5, "ramp_steps": 150}
        rising = {"pressure": 0.1, "final_pressure": 0.2, "ramp_steps": 150, "tau": 1}
        return {
            "gay_berne": job({**bath, "type": "langevin", "friction": 1,
                              "rotational_friction": 1}, GAY_BERNE, steps=200),
            "dipoles": job({**bath, "type": "bussi", "tau": 0.1}, LJ, DIPOLES, system=planar,
                           moments=(0, 0, 0.1), steps=200),
            "droplet": job({**bath, "type": "brownian", "timestep": 2e-4, "friction": 1,
                            "rotational_friction": 0.3}, LJ, DIPOLES,
                           {"type": "harmonic_trap", "stiffness": [0.2] * 3}, density=0.05,
                           steps=200),
            "barostat": job({"type": "velocity_verlet", "timestep": 0.002, "barostat": {
                **rising, "temperature": 1, "final_temperature": 1.5}}, GAY_BERNE, steps=200),
            "chains": job({**bath, "type": "nose_hoover", "tau": 0.1, "barostat": rising},
                          GAY_BERNE, steps=200)}

    def state(self, folder):
        found = {name: self.words(name, folder) for name in (
            "orientation", "angular_momentum", "torque", "velocity", "position")}
        found["torque of frames"] = self.frames("torque", folder)
        for kind, names in (("patch_bonds", ("bonds", "distribution", "clusters", "sizes")),
                            ("orientational_correlation", ("g", "g_1", "g_2", "h110"))):
            for name in names:
                found[f"{kind}: {name}"] = self.column(name, folder, kind + ".h5")
        return {name: values.tobytes() for name, values in found.items()}

    def test_stopped_and_resumed(self):
        self.check_resumed(self.kinds())

    def test_any_number_of_processes(self):
        self.check_processes(self.kinds())

    def test_traversals_agree(self):
        ways = ["clusters", "cells", "verlet_list"] if DEVICE == "cpu" else [
            "tiles", "small", "cells", "verlet_list"]
        found = {}
        for way in ways:
            text = job(NVE, GAY_BERNE, steps=20, cells=(8, 8, 8))
            text["neighbors"] = {"traversal": way}
            self.run_job(text)
            found[way] = self.words("torque")
        scale = abs(found[ways[0]]).max()
        for way in ways[1:]:
            self.assertLess(abs(found[way] - found[ways[0]]).max(), 1e-3 * scale, way)

    def test_mistakes(self):
        bare = job(NVE, GAY_BERNE)
        del bare["orientations"]
        self.refused(bare, r'forces\[0\]: gay_berne depends on the orientations.*"orientations"')
        cooled = job({"type": "langevin", "timestep": 0.002, "temperature": 1, "friction": 1,
                      "rotational_friction": 1}, LJ)
        del cooled["orientations"]
        self.refused(cooled, "rotational_friction: has no effect: particles have no orientations")
        minimised = job({"type": "fire", "force_tolerance": 1, "torque_tolerance": 1}, LJ)
        del minimised["orientations"]
        self.refused(minimised, "torque_tolerance: has no effect: particles have no orientations")
        unknown = job(NVE, GAY_BERNE)
        unknown["orientations"]["moments_of_inertia"] = {"B": [1, 1, 1]}
        self.refused(unknown, 'moments_of_inertia.B: unknown particle type')
        shifted = job(NVE, {**GAY_BERNE, "truncation": "force_shift"})
        self.refused(shifted, "truncation: must be one of cut, energy_shift, switch, got")
        for force in ("gay_berne", "dipole", "patchy", "anisotropic_table", "anisotropic_formula"):
            self.assertNotIn("force_shift", self.perrin("help", force).stdout)
        still = job({"type": "groot_warren", "timestep": 0.002}, GAY_BERNE, steps=10)
        done = self.run_job(still)
        self.assertIn("does not turn particles", done.stdout + done.stderr)


unittest.main(argv=["orientations", *__import__("sys").argv[2:]])
