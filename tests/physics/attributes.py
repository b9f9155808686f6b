#!/usr/bin/python3
"""Attributes of particles: where their numbers come from, formulas that read them, files.

    attributes.py PERRIN [unittest arguments]
"""

import json
import os
import shutil
import sys
import unittest
import unittest.mock

import h5py
import numpy

from job_case import DEVICE, JobCase

TRAVERSALS = ["tiles", "small", "cells", "verlet_list"] if DEVICE != "cpu" else [
    "clusters", "cells", "verlet_list"]
NVE = {"type": "velocity_verlet", "timestep": 0.002}
# Lennard-Jones with a diameter of each particle (Lorentz's rule).
LJ = {"type": "pair_formula", "cutoff": 2.5,
      "energy": "4*epsilon*((s/r)^12 - (s/r)^6); s = (sigma_1 + sigma_2)/2",
      "pairs": [{"types": ["A", "A"], "epsilon": 1}]}


def liquid(force=LJ, attributes=None, steps=100, **more):
    return {"seed": 7, "system": {"type": "lattice", "structure": "fcc", "density": 0.7,
                                  "cells": [6, 6, 6]},
            "velocity": {"temperature": 1.0}, "forces": [force],
            "attributes": {"sigma": {"random": {"uniform": [0.8, 1.2]}}}
            if attributes is None else attributes,
            "observers": [{"type": "trajectory", "stride": 50, "precision": "double",
                           "quantities": ["position", "velocity", "force", "image"]},
                          {"type": "thermo", "stride": 10}, {"type": "checkpoint"}],
            "stages": [{"type": "md", "steps": steps, "integrator": NVE}], **more}


class Attributes(JobCase):
    overwrite = True

    def attribute(self, name, folder="."):
        with h5py.File(self.path(folder, "trajectory.h5")) as h:
            return h["parameters/perrin/attributes"][name][:]

    def changing(self, name, folder="."):
        """[frame][particle]"""
        with h5py.File(self.path(folder, "trajectory.h5")) as h:
            return h[f"parameters/perrin/attributes/{name}/value"][:]

    # -- numbers -----------------------------------------------------------------------------------

    def test_where_numbers_come_from(self):
        job = liquid({"type": "constant_force", "force": [0, 0, 0]}, {
            "one": {"default": 2.5}, "kind": {"types": {"A": 1, "B": -1}},
            "even": {"random": {"uniform": [0.8, 1.2]}},
            "bell": {"random": {"normal": [3, 0.5]}},
            "skew": {"random": {"lognormal": [2, 0.4]}},
            "charge": {"types": {"B": 1}, "default": 0},
            "mass": {"from": "one*2 + x*0"}, "both": {"from": "even + charge + mass"},
            "far": {"from": "x^2 + y^2 + z^2 > 16"}}, steps=0, ignore=["charges"])
        job["system"]["types"] = {"A": 1, "B": 1}
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as file:
            charge, mass = file["particles/all/charge"][:], file["particles/all/mass"][:]
            species = file["particles/all/species"][:]
        n = len(charge)
        even, bell, skew = (self.attribute(name) for name in ("even", "bell", "skew"))
        numpy.testing.assert_array_equal(self.attribute("one"), 2.5)
        numpy.testing.assert_array_equal(self.attribute("kind"), 1 - 2.0 * species)
        numpy.testing.assert_array_equal(charge, species)
        numpy.testing.assert_allclose(mass, 5, rtol=1e-6)  # kept as an inverse in single precision
        numpy.testing.assert_allclose(self.attribute("both"), even + charge + 5, rtol=1e-15)
        self.assertTrue(0 < self.attribute("far").sum() < n)
        self.assertTrue((even >= 0.8).all() and (even < 1.2).all())
        # Means scatter by sigma/√n.
        for values, mean, deviation in ((even, 1, 0.4 / 12 ** 0.5), (bell, 3, 0.5), (skew, 2, 0.4)):
            self.assertAlmostEqual(values.mean(), mean, delta=4 * deviation / n ** 0.5)
            self.assertAlmostEqual(values.std() / deviation, 1, delta=0.15)
        self.assertLess(abs(numpy.corrcoef(even, bell)[0, 1]), 4 / n ** 0.5)
        # Another attribute changes none of these; another seed does.
        self.run_job({**job, "attributes": {"even": job["attributes"]["even"]}}, folder="other")
        numpy.testing.assert_array_equal(self.attribute("even", "other"), even)
        self.run_job({**job, "seed": 8}, folder="other")
        self.assertGreater(abs(self.attribute("even", "other") - even).max(), 0.1)

    def test_from_a_file(self):
        self.run_job(liquid(steps=0))
        self.run_job({**liquid(attributes={}, steps=0), "system": {
            "type": "file", "path": self.path("trajectory.h5")}}, folder="again")
        numpy.testing.assert_array_equal(self.attribute("sigma"), self.attribute("sigma", "again"))
        numpy.testing.assert_allclose(self.frames("force"), self.frames("force", "again"),
                                      atol=1e-3)

    # -- formulas ----------------------------------------------------------------------------------

    def test_forces_are_those_of_the_formula(self):
        """Against every pair of particles in double precision, for every truncation."""
        for truncation in ("cut", "energy_shift", "force_shift", "switch"):
            job = liquid({**LJ, "truncation": truncation}, steps=0)
            self.run_job(job)
            sigma, p = self.attribute("sigma"), self.frames("position")[0]
            length = (4 * 216 / 0.7) ** (1 / 3)
            d = p[:, None, :] - p[None, :, :]
            d -= length * numpy.round(d / length)
            r = numpy.sqrt((d ** 2).sum(axis=2)) + 1e9 * numpy.eye(len(p))
            s = (sigma[:, None] + sigma[None, :]) / 2

            def lj(r):
                x = (s / r) ** 6
                return 4 * (x * x - x), 24 * (2 * x * x - x) / r
            energy, force = lj(r)
            cut = 2.5
            if truncation == "energy_shift":
                energy = energy - lj(cut)[0]
            if truncation == "force_shift":
                energy = energy - lj(cut)[0] + (r - cut) * lj(cut)[1]
                force = force - lj(cut)[1]
            if truncation == "switch":
                x = numpy.clip((r - 0.9 * cut) / (0.1 * cut), 0, 1)
                smooth = 1 - 10 * x ** 3 + 15 * x ** 4 - 6 * x ** 5
                slope = 30 * x ** 2 * (1 - x) ** 2 / (0.1 * cut)
                force = force * smooth + energy * slope
                energy = energy * smooth
            inside = r < cut
            total = (numpy.where(inside, force / r, 0)[:, :, None] * d).sum(axis=1)
            scale = numpy.sqrt((total ** 2).mean())
            # Single precision.
            self.assertLess(abs(self.frames("force")[0] - total).max(), 2e-5 * max(scale, 10))
            self.assertAlmostEqual(self.column("potential_energy")[0] /
                                   (numpy.where(inside, energy, 0).sum() / 2), 1, delta=2e-6)

    def pairs(self, sigma, folder=".", frame=0):
        """Distances of all pairs, and the vectors."""
        p = self.frames("position", folder)[frame]
        length = (4 * 216 / 0.7) ** (1 / 3)
        d = p[:, None, :] - p[None, :, :]
        d -= length * numpy.round(d / length)
        return numpy.sqrt((d ** 2).sum(axis=2)) + 1e9 * numpy.eye(len(p)), d

    def types(self):
        with h5py.File(self.path("trajectory.h5")) as h:
            return h["particles/all/species"][:]

    def test_types_with_parameters_of_their_own(self):
        """Against every pair in double precision, in a step with energies and in one without. Of
        two, three and five types coefficients are laid out beside each cluster, of twelve for each
        pair of clusters."""
        for types, ends in ((2, 1), (3, 2), (5, 2), (12, 1)):
            names = [chr(ord("A") + k) for k in range(types)]
            epsilon = numpy.array([[1 + (a + b) / 8 + a * b / 50 for a in range(types)]
                                   for b in range(types)])
            cut = numpy.array([[2.5 - 0.3 * ((a + b) % ends) for a in range(types)]
                               for b in range(types)])
            force = {**LJ, "truncation": "force_shift", "pairs": [
                {"types": [names[a], names[b]], "epsilon": epsilon[a, b], "cutoff": cut[a, b]}
                for a in range(types) for b in range(a, types)]}
            job = liquid(force, steps=2, neighbors={"traversal": TRAVERSALS[0]})
            job["system"]["types"] = {name: 1 for name in names}
            job["observers"][0]["stride"] = 1
            self.run_job(job)
            sigma, kind = self.attribute("sigma"), self.types()
            e, end = (table[kind[:, None], kind[None]] for table in (epsilon, cut))
            for frame in (0, 1):
                r, d = self.pairs(sigma, frame=frame)
                s = (sigma[:, None] + sigma[None]) / 2

                def slope(r):
                    x = (s / r) ** 6
                    return 24 * e * (2 * x * x - x) / r
                push = numpy.where(r < end, slope(r) - slope(end), 0) / r
                total = (push[:, :, None] * d).sum(axis=1)
                scale = numpy.sqrt((total ** 2).mean())
                self.assertLess(abs(self.frames("force")[frame] - total).max(),
                                2e-5 * max(scale, 10), (types, frame))

    def test_the_range_of_a_pair_depends_on_attributes(self):
        """Against every pair in double precision; each is truncated at 1.25 of its own diameter,
        as in the swap Monte Carlo of A. Ninarello, L. Berthier, D. Coslovich, Phys. Rev. X 7,
        021039 (2017)."""
        for truncation in ("energy_shift", "force_shift", "switch"):
            force = {"type": "pair_formula", "cutoff": 1.6, "truncation": truncation,
                     "energy": "(s/r)^12; s = (sigma_1 + sigma_2)/2*(1 - 0.2*abs(sigma_1 - "
                     "sigma_2))", "range": "f*(sigma_1 + sigma_2)/2*(1 - 0.2*abs(sigma_1 - "
                     "sigma_2))", "pairs": [{"types": ["A", "A"], "f": 1.25}]}
            for traversal in TRAVERSALS:
                self.run_job(liquid(force, steps=0, neighbors={"traversal": traversal}))
                sigma = self.attribute("sigma")
                r, d = self.pairs(sigma)
                s = (sigma[:, None] + sigma[None]) / 2 * (1 - 0.2 * abs(sigma[:, None] - sigma))
                cut = 1.25 * s
                energy, slope = (s / r) ** 12, 12 * (s / r) ** 12 / r
                end, end_slope = (s / cut) ** 12, 12 * (s / cut) ** 12 / cut
                if truncation == "energy_shift":
                    energy = energy - end
                if truncation == "force_shift":
                    energy, slope = energy - end + (r - cut) * end_slope, slope - end_slope
                if truncation == "switch":
                    x = numpy.clip((r - 0.9 * cut) / (0.1 * cut), 0, 1)
                    smooth = 1 - 10 * x ** 3 + 15 * x ** 4 - 6 * x ** 5
                    slope = slope * smooth + energy * 30 * x ** 2 * (1 - x) ** 2 / (0.1 * cut)
                    energy = energy * smooth
                inside = r < cut
                self.assertTrue((inside.sum() > 2000) and ((r < 1.6) & ~inside).sum() > 1000)
                total = (numpy.where(inside, slope / r, 0)[:, :, None] * d).sum(axis=1)
                self.assertLess(abs(self.frames("force")[0] - total).max(), 1e-3)
                self.assertAlmostEqual(self.column("potential_energy")[0] /
                                       (numpy.where(inside, energy, 0).sum() / 2), 1, delta=1e-5)

    def test_attributes_that_change(self):
        """Diameters that grow: forces at each frame are those of the diameters of that moment, and
        a resumed run goes on with them."""
        attributes = {"start": {"random": {"uniform": [0.5, 0.7]}},
                      "sigma": {"from": "start", "changes": "min(sigma + rate*t, 0.9)"},
                      "rate": {"default": 1.5}}
        force = {"type": "pair_formula", "cutoff": 1.2, "truncation": "energy_shift",
                 "energy": "k/2*(less(r, s)*(r - s))^2; s = (sigma_1 + sigma_2)/2",
                 "range": "(sigma_1 + sigma_2)/2", "pairs": [{"types": ["A", "A"], "k": 100}]}
        job = liquid(force, attributes, groups={"all_of_it": {"formula": "start > 0"}})
        job["observers"][2]["steps"] = 37
        self.run_job(job, folder="whole")
        with h5py.File(self.path("whole", "trajectory.h5")) as file:
            start = file["parameters/perrin/attributes/start"][:]
        length = (4 * 216 / 0.7) ** (1 / 3)
        largest = []
        for frame, t in enumerate((0, 0.1, 0.2)):
            sigma = numpy.minimum(start + 1.5 * t, 0.9)
            p = self.frames("position", "whole")[frame]
            d = p[:, None, :] - p[None, :, :]
            d -= length * numpy.round(d / length)
            r = numpy.sqrt((d ** 2).sum(axis=2)) + 1e9 * numpy.eye(len(p))
            s = (sigma[:, None] + sigma[None]) / 2
            total = (numpy.where(r < s, 100 * (s - r) / r, 0)[:, :, None] * d).sum(axis=1)
            numpy.testing.assert_allclose(self.frames("force", "whole")[frame], total, atol=1e-3)
            largest.append(abs(total).max())
            numpy.testing.assert_allclose(self.changing("sigma", "whole")[frame], sigma, rtol=1e-12)
        self.assertGreater(largest[2], 1)
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(self.frames("force", "again"),
                                         self.frames("force", "whole"))

    def test_bonds_between_particles_with_attributes(self):
        job = {"seed": 5, "system": {"type": "chains", "chains": 20, "pattern": "A10",
                                     "bond_length": 1, "box": [20, 20, 20]},
               "attributes": {"radius": {"random": {"uniform": [0.3, 0.7]}}},
               "forces": [{"type": "bond_formula", "energy": "k/2*(r - radius_1 - radius_2)^2",
                           "bonds": {"bond": {"k": 30}}}],
               "observers": [{"type": "trajectory", "stride": 50, "positions": "unwrapped",
                              "precision": "double", "quantities": ["position", "force"]},
                             {"type": "thermo", "stride": 10}],
               "stages": [{"type": "md", "steps": 100, "integrator": NVE}]}
        self.run_job(job)
        radius, p = self.attribute("radius"), self.frames("position").reshape(-1, 20, 10, 3)
        way = numpy.diff(p, axis=2)
        r = numpy.sqrt((way ** 2).sum(axis=3))
        radius = radius.reshape(20, 10)
        stretch = r - radius[:, 1:] - radius[:, :-1]
        pull = (30 * stretch / r)[..., None] * way
        force = numpy.zeros_like(p)
        force[:, :, :-1] += pull
        force[:, :, 1:] -= pull
        numpy.testing.assert_allclose(self.frames("force").reshape(force.shape), force, atol=2e-4)
        numpy.testing.assert_allclose(self.column("potential_energy")[::5],
                                      15 * (stretch ** 2).sum(axis=(1, 2)), rtol=1e-4)
        job["forces"][0]["energy"] = "k/2*(r - radius_1)^2"
        self.refused(job, "must not change when particles 1 and 2 are exchanged.*the bond of")

    def test_equal_attributes_are_a_parameter(self):
        plain = {"type": "pair_formula", "cutoff": 2.5, "energy": "4*((s/r)^12 - (s/r)^6); s = 1",
                 "pairs": [{"types": ["A", "A"]}]}
        self.run_job(liquid(plain, {}), folder="plain")
        for traversal in TRAVERSALS:
            self.run_job(liquid(attributes={"sigma": {"default": 1}},
                                neighbors={"traversal": traversal}), folder="attributes")
            numpy.testing.assert_allclose(self.frames("position", "attributes")[1],
                                          self.frames("position", "plain")[1], atol=1e-4)

    @unittest.skipIf(DEVICE != "cpu", "compiled for the GPU anyway")
    def test_code_for_a_gpu_elsewhere(self):
        """What a GPU runs of a formula compiles, and runs on the CPU as well."""
        if "CUDA        not" in self.perrin("info").stdout:
            self.skipTest("a build for the CPU alone")
        with unittest.mock.patch.dict(os.environ, PERRIN_GPU_ARCHITECTURE="90"):
            self.run_job(liquid(), folder="gpu")
        self.run_job(liquid(), folder="cpu")
        numpy.testing.assert_allclose(self.frames("position", "gpu")[1],
                                      self.frames("position", "cpu")[1], atol=1e-4)
        with unittest.mock.patch.dict(os.environ, PERRIN_GPU_ARCHITECTURE="9.0"):
            self.refused(liquid(), "PERRIN_GPU_ARCHITECTURE: expected a compute capability without")

    def test_energy_is_conserved_and_momentum(self):
        for traversal in TRAVERSALS:
            self.run_job(liquid({**LJ, "truncation": "force_shift"}, steps=500,
                                neighbors={"traversal": traversal}))
            total = self.column("total_energy")
            self.assertLess(abs(total - total[0]).max(), 2e-3 * abs(total[0]))
            self.assertLess(abs(self.column("momentum")).max(), 1e-2)

    def test_stopped_and_resumed(self):
        for traversal in TRAVERSALS:
            job = liquid(neighbors={"traversal": traversal})
            job["observers"][2]["steps"] = 37
            job["groups"] = {"large": {"formula": "sigma > 1.1"}, "others": {"not": ["large"]}}
            job["stages"][0] = {"type": "md", "steps": 100, "integrators": [
                {**NVE, "group": "others"},
                {"type": "bussi", "timestep": 0.002, "temperature": 2, "tau": 0.1,
                 "group": "large"}]}
            self.run_job(job, folder="whole")
            shutil.rmtree(self.path("again"), ignore_errors=True)
            shutil.copytree(self.path("whole"), self.path("again"))
            done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("position", "velocity", "force"):
                numpy.testing.assert_array_equal(self.frames(name, "whole"),
                                                 self.frames(name, "again"), traversal)

    def test_a_field_on_charges(self):
        """E = -charge F z, and one that oscillates."""
        job = liquid({"type": "external_formula", "energy": "-charge*F*z*cos(omega*t)",
                      "types": {"A": {"F": 3, "omega": 10}}, "unwrapped": True},
                     {"charge": {"random": {"normal": [0, 1]}}})
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as file:
            charge = file["particles/all/charge"][:]
        force = self.frames("force")
        for frame, t in enumerate((0, 0.1, 0.2)):
            numpy.testing.assert_allclose(force[frame, :, 2], 3 * charge * numpy.cos(10 * t),
                                          rtol=1e-5, atol=1e-5)
            self.assertEqual(abs(force[frame, :, :2]).max(), 0)

    # -- angles, dihedrals, densities --------------------------------------------------------------

    def chains(self, force):
        """Frames of chains of ten; sigma by chain."""
        key = force["type"].split("_")[0]
        job = {"seed": 5, "system": {"type": "chains", "chains": 20, "pattern": "A10",
                                     "bond_length": 1, "box": [20, 20, 20],
                                     f"{key}_type": "bend"},
               "attributes": {"k": {"random": {"uniform": [0.5, 1.5]}},
                              "u": {"random": {"uniform": [-1, 1]}}},
               "forces": [{"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 0,
                                                                       "length": 1}}}, force],
               "observers": [{"type": "trajectory", "stride": 50, "positions": "unwrapped",
                              "precision": "double", "quantities": ["position", "force"]},
                             {"type": "thermo", "stride": 50}],
               "stages": [{"type": "md", "steps": 100, "integrator": NVE}]}
        self.run_job(job)
        return job, self.frames("position").reshape(-1, 20, 10, 3)

    def agrees(self, p, energy):
        """Forces are minus the central differences of the energy of a whole frame."""
        h = 1e-4
        for frame in (0, 2):
            total = energy(p[frame]).sum()
            self.assertAlmostEqual(self.column("potential_energy")[frame], total,
                                   delta=3e-6 * abs(energy(p[frame])).sum())
            force = self.frames("force")[frame].reshape(20, 10, 3)
            # Chains are independent: the same particle of all of them is moved at once.
            for bead in range(10):
                for axis in range(3):
                    moved = []
                    for step in (h, -h):
                        q = p[frame].copy()
                        q[:, bead, axis] += step
                        moved.append(energy(q).sum(axis=1))
                    slope = (moved[0] - moved[1]) / (2 * h)
                    numpy.testing.assert_allclose(force[:, bead, axis], -slope, atol=1e-4,
                                                  rtol=1e-4)

    def test_angles_of_particles_with_attributes(self):
        force = {"type": "angle_formula", "angles": {"bend": {"a": 2}},
                 "energy": "a*k_2*(cos(theta) - (u_1 + u_3)/4)^2 + k_1*k_3*sin(theta)^2"}
        job, p = self.chains(force)
        k, u = (self.attribute(name).reshape(20, 10) for name in ("k", "u"))

        def energy(p):
            a, b = p[:, :-2] - p[:, 1:-1], p[:, 2:] - p[:, 1:-1]
            cosine = (a * b).sum(axis=2) / numpy.sqrt((a ** 2).sum(axis=2) * (b ** 2).sum(axis=2))
            return (2 * k[:, 1:-1] * (cosine - (u[:, :-2] + u[:, 2:]) / 4) ** 2 +
                    k[:, :-2] * k[:, 2:] * (1 - cosine ** 2))
        self.agrees(p, energy)
        force["energy"] = "a*k_1*(1 + cos(theta))"
        self.refused(job, "must not change when particles 1 and 3 are exchanged.*the angle of")

    def test_dihedrals_of_particles_with_attributes(self):
        force = {"type": "dihedral_formula", "dihedrals": {"bend": {"a": 1.5}},
                 "energy": "a*k_2*k_3*(1 + cos(phi - u_2 - u_3)) + u_1*u_4*sin(phi)"}
        job, p = self.chains(force)
        k, u = (self.attribute(name).reshape(20, 10) for name in ("k", "u"))

        def energy(p):
            b = numpy.diff(p, axis=1)
            m, n = numpy.cross(b[:, :-2], b[:, 1:-1]), numpy.cross(b[:, 1:-1], b[:, 2:])
            length = numpy.sqrt((b[:, 1:-1] ** 2).sum(axis=2))
            phi = numpy.arctan2((b[:, :-2] * n).sum(axis=2) * length, (m * n).sum(axis=2))
            return (1.5 * k[:, 1:-2] * k[:, 2:-1] * (1 + numpy.cos(phi - u[:, 1:-2] - u[:, 2:-1])) +
                    u[:, :-3] * u[:, 3:] * numpy.sin(phi))
        self.agrees(p, energy)
        force["energy"] = "a*(k_1 + 2*k_4)*(1 + cos(phi))"
        self.refused(job, "must not change when particles 1, 2, 3, 4 become 4, 3, 2, 1.*dihedral")

    def test_densities_of_particles_with_attributes(self):
        """What a particle adds to the density of another depends on both, and so does the energy of
        a density; against every pair in double precision."""
        force = {"type": "many_body_formula", "cutoff": 1.8,
                 "density": "g*size_2*(1 + w_1/2)*exp(-r/size_1)",
                 "energy": "a*w*rho^2 - sqrt(rho)",
                 "pair": "e*(size_1*size_2)^3/r^6",
                 "pairs": [{"types": ["A", "A"], "g": 2, "e": 0.5},
                           {"types": ["B", "B"], "g": 1, "e": 0.5},
                           {"types": ["A", "B"], "g": 1.5, "e": 0.5},
                           {"types": ["B", "A"], "g": 0.5, "e": 0.5}],
                 "types": {"A": {"a": 0.3}, "B": {"a": 0.2}}}
        attributes = {"size": {"random": {"uniform": [0.8, 1.2]}},
                      "w": {"random": {"uniform": [0, 1]}}}
        for truncation, traversal in (("cut", TRAVERSALS[0]), ("energy_shift", TRAVERSALS[1]),
                                      ("force_shift", TRAVERSALS[2]), ("switch", TRAVERSALS[0])):
            job = liquid({**force, "truncation": truncation}, attributes, steps=2,
                         neighbors={"traversal": traversal})
            job["system"]["types"] = {"A": 1, "B": 1}
            job["observers"][0]["stride"] = 1
            self.run_job(job)
            kind = self.types()
            size, w = self.attribute("size"), self.attribute("w")
            self.check_densities(truncation, kind, size, w)

    def check_densities(self, truncation, kind, size, w):
        """Forces in a step with energies and in one without."""
        for frame in (0, 1):
            r, d = self.pairs(size, frame=frame)
            g = numpy.array([[2, 1.5], [0.5, 1]])[kind[:, None], kind[None]]

            def added(r):
                x = g * size[None] * (1 + w[:, None] / 2) * numpy.exp(-r / size[:, None])
                return x, -x / size[:, None]

            def pair(r):
                v = 0.5 * (size[:, None] * size[None]) ** 3 / r ** 6
                return v, -6 * v / r

            def ended(f, cut=1.8):
                value, slope = f(r)
                end, end_slope = f(numpy.full_like(r, cut))
                if truncation == "energy_shift":
                    value = value - end
                if truncation == "force_shift":
                    value, slope = value - end - (r - cut) * end_slope, slope - end_slope
                if truncation == "switch":
                    x = numpy.clip((r - 0.9 * cut) / (0.1 * cut), 0, 1)
                    smooth = 1 - 10 * x ** 3 + 15 * x ** 4 - 6 * x ** 5
                    slope = slope * smooth - value * 30 * x ** 2 * (1 - x) ** 2 / (0.1 * cut)
                    value = value * smooth
                return numpy.where(r < cut, value, 0), numpy.where(r < cut, slope, 0)
            weight, weight_slope = ended(added)
            rho, (v, v_slope) = weight.sum(axis=1), ended(pair)
            a = numpy.array([0.3, 0.2])[kind]
            embedding = a * w * rho ** 2 - numpy.sqrt(rho)
            of_rho = 2 * a * w * rho - 0.5 / numpy.sqrt(rho)
            push = -(of_rho[:, None] * weight_slope + of_rho[None] * weight_slope.T + v_slope)
            total = (push / r)[:, :, None] * d
            scale = abs(total).sum(axis=(1, 2)).max()
            self.assertLess(abs(self.frames("force")[frame] - total.sum(axis=1)).max(),
                            3e-6 * scale)
            if frame == 0:
                self.assertAlmostEqual(self.column("potential_energy")[0],
                                       embedding.sum() + v.sum() / 2,
                                       delta=3e-6 * (abs(embedding).sum() + v.sum() / 2))

    def test_energy_and_momentum_of_densities_are_conserved(self):
        force = {"type": "many_body_formula", "cutoff": 1.8, "truncation": "switch",
                 "density": "size_2*(1 - r/1.8)^2", "energy": "-sqrt(rho*size)",
                 "pair": "0.1/r^9", "pairs": [{"types": ["A", "A"]}]}
        for traversal in TRAVERSALS:
            self.run_job(liquid(force, {"size": {"random": {"uniform": [0.8, 1.2]}}}, steps=500,
                                neighbors={"traversal": traversal}))
            total = self.column("total_energy")
            self.assertLess(abs(total - total[0]).max(), 1e-3 * self.column("kinetic_energy")[0])
            self.assertLess(abs(self.column("momentum")).max(), 1e-2)

    # -- written anew ------------------------------------------------------------------------------

    def test_attributes_that_are_written_anew(self):
        """Diameters that grow while particles are on the right, and a sum of speeds: forces at each
        frame are those of the numbers that the path gives, in a resumed run, too."""
        every, grown = 10, "min(sigma + 0.02*(x > 0), 0.9)"
        attributes = {"start": {"random": {"uniform": [0.5, 0.7]}},
                      "sigma": {"from": "start", "updates": {"formula": grown, "every": every,
                                                             "between": [0.5, 0.9]}},
                      "path": {"default": 0, "updates": {
                          "formula": "path + sqrt(vx^2 + vy^2 + vz^2) + 0*t", "every": 25}}}
        force = {"type": "pair_formula", "cutoff": 1.2, "truncation": "energy_shift",
                 "energy": "k/2*(less(r, s)*(r - s))^2; s = (sigma_1 + sigma_2)/2",
                 "range": "(sigma_1 + sigma_2)/2", "pairs": [{"types": ["A", "A"], "k": 100}]}
        job = liquid(force, attributes,
                     groups={"far": {"formula": "x + path > 0", "every": 50}})
        job["observers"][0]["stride"] = 5
        job["observers"][1]["groups"] = ["far"]
        job["observers"][2]["steps"] = 37
        self.run_job(job, folder="whole")
        with h5py.File(self.path("whole", "trajectory.h5")) as file:
            sigma = file["parameters/perrin/attributes/start"][:]
        position, velocity = self.frames("position", "whole"), self.frames("velocity", "whole")
        force = self.frames("force", "whole")
        length, path = (4 * 216 / 0.7) ** (1 / 3), 0
        for frame, p in enumerate(position):
            step, x = 5 * frame, p[:, 0] - length / 2  # as the job has it
            if step > 0 and step % every == 0:
                sigma = numpy.minimum(sigma + 0.02 * (x > 0), 0.9)
            if step > 0 and step % 25 == 0:
                path = path + numpy.sqrt((velocity[frame] ** 2).sum(axis=1))
            if step == 50:
                far = x + path > 0
            d = p[:, None, :] - p[None, :, :]
            d -= length * numpy.round(d / length)
            r = numpy.sqrt((d ** 2).sum(axis=2)) + 1e9 * numpy.eye(len(p))
            s = (sigma[:, None] + sigma[None]) / 2
            total = (numpy.where(r < s, 100 * (s - r) / r, 0)[:, :, None] * d).sum(axis=1)
            numpy.testing.assert_allclose(force[frame], total, atol=1e-3)
            for name, now in (("sigma", sigma), ("path", path)):
                numpy.testing.assert_allclose(self.changing(name, "whole")[frame], now, rtol=1e-5)
        self.assertGreater(abs(total).max(), 1)
        # A group that is chosen anew, and what a checkpoint holds.
        self.assertGreater(far.sum(), 482)
        self.assertLess(far.sum(), 864)
        numpy.testing.assert_allclose(self.column("kinetic_energy_far", "whole")[6],
                                      0.5 * (velocity[12][far] ** 2).sum(), rtol=1e-5)
        with h5py.File(self.path("whole", "checkpoint.h5")) as file:
            kept = {}
            file.visititems(lambda name, node: kept.update({name: node[()]})
                            if "attribute/" in name else None)
        for name, expected in (("sigma", sigma), ("path", path)):
            found, = [values for key, values in kept.items() if key.endswith("attribute/" + name)]
            numpy.testing.assert_allclose(found, expected, rtol=1e-5)
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("force", "position", "velocity"):
            numpy.testing.assert_array_equal(self.frames(name, "again"), self.frames(name, "whole"))
        for name in ("sigma", "path"):
            numpy.testing.assert_array_equal(self.changing(name, "again"),
                                             self.changing(name, "whole"))

    def test_types_that_attributes_alone_tell_apart(self):
        """Where all pairs of types have the same parameters they are computed as one type; where
        one pair differs they are not."""
        job = liquid()
        job["system"]["types"] = {"A": 1, "B": 1}
        pairs = [{"types": types, "epsilon": 1} for types in (["A", "A"], ["A", "B"], ["B", "B"])]
        job["forces"][0] = {**LJ, "pairs": pairs}
        self.run_job(liquid(), folder="one")
        self.run_job(job, folder="two")
        numpy.testing.assert_allclose(self.frames("position", "two")[1],
                                      self.frames("position", "one")[1], atol=1e-4)
        pairs[1]["epsilon"] = 2
        self.run_job(job, folder="other")
        self.assertGreater(abs(self.frames("force", "other")[0] -
                               self.frames("force", "one")[0]).max(), 1)

    def test_an_attribute_that_leaves_its_bounds_ends_the_run(self):
        job = liquid(attributes={"sigma": {"default": 0.8, "updates": {
            "formula": "sigma + 0.01", "every": 10, "between": [0.8, 0.835]}}})
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out)
        done = self.perrin("run", "job.json", "--device", DEVICE, "--output-dir", "out")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "step 40: attributes.sigma.updates: the formula gives 0.84 "
                         "for particle 0, must be from 0.8 to 0.835")

    def test_stages_in_which_attributes_are_written(self):
        update = {"formula": "n + 1", "every": 10, "stages": ["grow"]}
        job = liquid(attributes={"sigma": {"default": 0.8},
                                 "n": {"default": 0, "updates": update}})
        job["stages"] = [{"type": "md", "steps": 35, "name": name, "integrator": NVE}
                         for name in ("before", "grow", "after")]
        job["forces"].append({"type": "external_formula", "energy": "-n*x", "types": {"A": {}},
                              "unwrapped": True})
        job["forces"][0] = {**LJ, "pairs": [{"types": ["A", "A"], "epsilon": 0}]}
        job["observers"][0]["stride"] = 5
        self.run_job(job)
        steps = 5 * numpy.arange(22)
        expected = numpy.clip(steps // 10 - 3, 0, 4)
        numpy.testing.assert_allclose(self.frames("force")[:, 0, 0], expected)

    # -- mistakes ----------------------------------------------------------------------------------

    def test_mistakes_of_updates(self):
        def sigma(formula, start=1, **more):
            return liquid(attributes={"sigma": {"default": start, "updates": {
                "formula": formula, "every": 10, **more}}})
        self.refused(sigma("sigma + u"), r'sigma.updates.formula: .*no attribute "u"')
        self.refused(sigma("1 +"), "sigma.updates.formula: ")
        self.refused(sigma("1", between=[2, 1]), "between: must be a lower and an upper number")
        self.refused(sigma("1", between=[2, 3]), "particle 0 has 1, which is not from 2 to 3")
        self.refused(sigma("1", every=0), "sigma.updates.every: must be positive")
        self.refused(sigma("1", stages=["x"]), 'no stage has the name or the type "x"')
        late = sigma("1", every=1000)
        with open(self.path("late.json"), "w") as out:
            json.dump(late, out)
        self.assertIn("sigma.updates: warning: has no effect: the stages in which it acts contain "
                      "no multiple of every 1000", self.perrin("validate", "late.json").stderr)
        wrong = sigma("1")
        wrong["attributes"]["sigma"]["changes"] = "1 + t"
        self.refused(wrong, 'updates: cannot stand beside "changes"')
        wrong = sigma("tau")
        wrong["attributes"]["tau"] = {"default": 1, "changes": "1 + t"}
        self.refused(wrong, '"tau" has "changes"')
        wrong = sigma("1")
        wrong["attributes"]["tau"] = {"default": 1, "changes": "sigma + t"}
        self.refused(wrong, 'tau.changes: reads "sigma" as it is at the start')
        wrong = sigma("vx")
        wrong["attributes"]["vx"] = {"default": 1}
        self.refused(wrong, '"vx" is a velocity, and also the name of an attribute')
        self.refused(liquid(attributes={"sigma": {"default": 1}, "mass": {
            "default": 1, "updates": {"formula": "2", "every": 1}}}), "masses do not change")
        wrong = sigma("min(sigma + 0.1, 1.2)")
        wrong["forces"][0] = {**LJ, "range": "sigma_1 + sigma_2"}
        self.refused(wrong, 'give the "updates" of the attribute "sigma" "between"')
        wrong["attributes"]["sigma"]["updates"]["between"] = [1, 1.3]
        self.refused(wrong, "range: may be as long as 2.6 .* the cut-off 2.5")
        wrong = sigma("1")
        wrong["stages"][0]["integrator"] = {"type": "fire", "force_tolerance": 1}
        self.refused(wrong, "sigma.updates: has no effect: no stage has an integrator")
        many = " + ".join(f"a{k}_1*a{k}_2" for k in range(4))
        self.refused(liquid({"type": "many_body_formula", "density": f"({many})/r", "cutoff": 2,
                             "energy": "rho", "pairs": [{"types": ["A", "A"]}]}),
                     "expected at most 3 attributes")

    def test_a_default_where_the_start_has_no_diameters(self):
        force = {"type": "constant_force", "force": [0, 0, 0]}
        radius = {"radius": {"default": 0.5, "from": "diameter/2"}}
        self.run_job(liquid(force, radius, steps=0), folder="without")
        self.run_job(liquid(force, {**radius, "diameter": {"types": {"A": 3}}}, steps=0),
                     folder="with")
        self.assertEqual(set(self.attribute("radius", "without")), {0.5})
        self.assertEqual(set(self.attribute("radius", "with")), {1.5})

    def test_friction_by_diameters_that_change(self):
        """It is that of the diameters at the start, for all times: refused, as what writes the
        mass is."""
        force = {"type": "constant_force", "force": [0, 0, 0]}
        for rule in ({"changes": "1 + t"}, {"updates": {"formula": "2", "every": 1}}, {}):
            for kind in ("langevin", "brownian"):
                job = liquid(force, {"diameter": {"default": 1, **rule}}, steps=1)
                bath = {"type": kind, "timestep": 0.001, "temperature": 1}
                job["stages"][0]["integrator"] = {**bath, "viscosity": 1}
                if not rule:
                    self.run_job(job)
                    continue
                self.refused(job, r'integrator.viscosity: takes diameters that stay as they are, '
                                  r'and "attributes.diameter" has "changes" or "updates"')
                job["stages"][0]["integrator"] = {**bath, "friction": 1}
                self.run_job(job)

    def test_mistakes(self):
        def sigma(**settings):
            return liquid(attributes={"sigma": settings})
        self.refused(liquid(attributes={}), 'no attribute "sigma"; they have mass')
        self.refused(sigma(), "must have one of: default and types; from and default; random")
        self.refused(sigma(types={"A": 1}, **{"from": "x"}), "must have one of")
        self.refused(sigma(default=1, **{"from": "x"}), 'default: .*"from" reads neither')
        self.refused(sigma(types={"B": 1}), 'attributes.sigma.types.B: unknown particle type')
        self.refused(sigma(**{"from": "1/0"}), "attributes.sigma.from")
        self.refused(sigma(**{"from": "radius/2"}), 'no attribute "radius"')
        self.refused(sigma(**{"from": "sigma"}), "is defined by itself")
        self.refused(sigma(random={"uniform": [2, 1]}), "must be a lower and an upper number")
        self.refused(sigma(random={"normal": [2, -1]}), "standard deviation must not be negative")
        self.refused(liquid(attributes={"sigma": {"default": 1}, "a_1": {"default": 1}}),
                     "must have a name")
        self.refused(liquid({**LJ, "energy": "epsilon*sigma_1/r"}),
                     "must not change when particles 1 and 2 are exchanged")
        polydisperse = {**LJ, "range": "2*(sigma_1 + sigma_2)"}
        self.refused(liquid(polydisperse), r"range: may be as long as 4\.79.* the cut-off 2.5")
        self.refused(liquid({**LJ, "range": "2"}), "range: must depend on attributes")
        self.refused(liquid({**LJ, "range": "r*sigma_1"}), "range: .*cannot depend on r")
        self.refused(liquid({**LJ, "range": 2}), "range: must be text, got 2")
        self.refused(sigma(default=1, changes="sigma + u"), r'sigma.changes: .*attribute "u"')
        self.refused(sigma(default=1, changes="1 +"), r"attributes.sigma.changes: ")
        self.refused(liquid(attributes={"sigma": {"default": 1},
                                        "mass": {"default": 1, "changes": "1 + t"}}),
                     "masses do not change")
        self.refused(liquid({**LJ, "range": "sigma_1 + sigma_2"},
                            {"sigma": {"default": 1, "changes": "sigma + t"}}),
                     "range: may be as long as inf")
        many = " + ".join(f"a{k}_1*a{k}_2" for k in range(5))
        self.refused(liquid({**LJ, "energy": f"epsilon*({many})/r"}), "expected at most 4")
        self.refused(sigma(default=1) | {"groups": {"g": {"formula": "sigma > tau"}}},
                     'groups.g.formula: .*no attribute "tau"')
        self.refused(liquid(attributes={"sigma": {"default": 1}, "mass": {"default": -1}}),
                     "attributes: .*mass")
        for name, kind in (("exp", "function"), ("pi", "number")):
            self.refused(liquid(attributes={"sigma": {"default": 1}, name: {"default": 1}}),
                         f'attributes.{name}: must have a name of its own.* is a {kind}')


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
