#!/usr/bin/python3
"""Charges: sums over pairs against all pairs in double precision, Ewald's sum against one of other
parameters, Madelung's constant, differences of energies for forces and pressures.

    charges.py PERRIN [unittest arguments]
"""

import json
import math
import os
import subprocess
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, PERRIN, JobCase

trapezoid = getattr(numpy, "trapezoid", None) or numpy.trapz  # the name before numpy 2

WAYS = [{"traversal": "verlet_list"}, {"traversal": "tiles" if DEVICE != "cpu" else "clusters"},
        *({"traversal": "cells", "interaction_sorting": s} for s in ("axes", "x", "none"))]
NVE = {"type": "velocity_verlet", "timestep": 0.001}
DOUBLE = "double" in subprocess.run([PERRIN, "info"], capture_output=True, text=True).stdout
REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference")
erfc = numpy.vectorize(math.erfc, otypes=[float])
erf = numpy.vectorize(math.erf, otypes=[float])


def tilted(lx, ly, lz, xy=0.0, xz=0.0, yz=0.0):
    """Edges in rows."""
    return numpy.array([[lx, 0, 0], [xy, ly, 0], [xz, yz, lz]], dtype=float)


def nearest(d, h, periodic=(1, 1, 1)):
    """The shortest image of vectors, of those next to the nearest by fractions."""
    s = d @ numpy.linalg.inv(h)
    d = d - numpy.round(s * periodic) @ h
    best = d.copy()
    for n in numpy.ndindex(3, 3, 3):
        e = d + ((numpy.array(n) - 1) * periodic) @ h
        better = (e**2).sum(axis=-1) < (best**2).sum(axis=-1) - 1e-12
        best[better] = e[better]
    return best


def wave_vectors(h, alpha):
    """Of one half of space, until nothing is left of exp(-k²/(4 alpha²)), and their squares."""
    reciprocal = 2 * math.pi * numpy.linalg.inv(h).T
    k_max = 2 * alpha * 6.3
    most = [int(k_max * math.sqrt(edge @ edge) / (2 * math.pi)) + 1 for edge in h]
    grid = numpy.stack(numpy.meshgrid(*(numpy.arange(-m, m + 1) for m in most), indexing="ij"),
                       axis=-1).reshape(-1, 3)
    k = grid[len(grid) // 2 + 1:] @ reciprocal
    k2 = (k**2).sum(axis=1)
    return k[k2 < k_max**2], k2[k2 < k_max**2]


def ewald_energy(p, q, h, alpha, excluded=(), scale=(), surface=None, background=True):
    """Ewald's sum, of other parameters than Perrin's: pairs of the nearest 27 cells, and of wave
    vectors until nothing is left of them. alpha times the shortest height must be about 6."""
    volume = abs(numpy.linalg.det(h))
    i, j = numpy.triu_indices(len(p), 1)
    d = p[i] - p[j]
    d = d - numpy.round(d @ numpy.linalg.inv(h)) @ h
    energy = 0.0
    for n in numpy.ndindex(3, 3, 3):
        shift = (numpy.array(n) - 1) @ h
        r = numpy.sqrt(((d + shift)**2).sum(axis=1))
        near = alpha * r < 6.5
        energy += (q[i] * q[j])[near] @ (erfc(alpha * r[near]) / r[near])
        length = math.sqrt(shift @ shift)
        if 0 < alpha * length < 6.5:
            energy += 0.5 * (q @ q) * math.erfc(alpha * length) / length
    k, k2 = wave_vectors(h, alpha)
    for part in range(0, len(k), 4000):
        phase = k[part:part + 4000] @ p.T
        s2 = (numpy.cos(phase) @ q)**2 + (numpy.sin(phase) @ q)**2
        one = k2[part:part + 4000]
        energy += 4 * math.pi / volume * (numpy.exp(-one / (4 * alpha**2)) / one) @ s2
    energy -= alpha / math.sqrt(math.pi) * (q @ q)
    if background:
        energy -= math.pi * q.sum()**2 / (2 * alpha**2 * volume)
    if surface is not None:
        moment = q @ p
        energy += 2 * math.pi * (moment @ moment) / ((2 * surface + 1) * volume)
    for pair in excluded:
        r = nearest(p[[pair[0]]] - p[[pair[1]]], h)[0]
        energy -= q[pair[0]] * q[pair[1]] / math.sqrt(r @ r)
    for a, b, factor in scale:
        r = nearest(p[[a]] - p[[b]], h)[0]
        energy += factor * q[a] * q[b] / math.sqrt(r @ r)
    return energy


def slope(f, step):
    """df/dx at 0, of fourth order."""
    return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step)


def scattered(n, h, distance, seed=1, low=0.0, high=1.0):
    """n points, no two nearer than the distance; z between two fractions of the height."""
    random = numpy.random.default_rng(seed)
    found = numpy.empty((0, 3))
    while len(found) < n:
        s = random.uniform(0, 1, 3)
        s[2] = low + (high - low) * s[2]
        p = s @ h
        if len(found) == 0 or ((nearest(p - found, h)**2).sum(axis=1) > distance**2).all():
            found = numpy.vstack([found, p])
    return found


class ChargeCase(JobCase):
    overwrite = True

    def data(self, p, q, h, bonds=(), name="start.data"):
        """A file in which particles are numbered from 1; bonds from 0."""
        with open(self.path(name), "w") as out:
            out.write(f"charges\n\n{len(p)} atoms\n1 atom types\n")
            if len(bonds) > 0:
                out.write(f"{len(bonds)} bonds\n1 bond types\n")
            h = h.tolist()  # plain numbers: their repr is what a file needs
            out.write(f"\n0 {h[0][0]!r} xlo xhi\n0 {h[1][1]!r} ylo yhi\n0 {h[2][2]!r} zlo zhi\n")
            if h[1][0] or h[2][0] or h[2][1]:
                out.write(f"{h[1][0]!r} {h[2][0]!r} {h[2][1]!r} xy xz yz\n")
            out.write("\nMasses\n\n1 1\n\nAtoms # full\n\n")
            for k, (x, c) in enumerate(zip(p.tolist(), q.tolist())):
                out.write(f"{k + 1} {k + 1} 1 {c!r} {x[0]!r} {x[1]!r} {x[2]!r}\n")
            if len(bonds) > 0:
                out.write("\nBonds\n\n")
                for k, (a, b) in enumerate(bonds):
                    out.write(f"{k + 1} 1 {a + 1} {b + 1}\n")
        return {"type": "file", "path": name}

    def job(self, system, forces, steps=0, **more):
        return {"seed": 3, "system": system, "forces": forces,
                "observers": [{"type": "trajectory", "stride": 10, "precision": "double",
                               "quantities": ["position", "velocity", "force"]},
                              {"type": "thermo", "stride": 5}, {"type": "checkpoint"}],
                "stages": [{"type": "md", "steps": steps, "integrator": NVE}], **more}

    def measured(self, job, *arguments):
        """Energy, forces, and the virial: volume · pressure tensor of particles at rest."""
        self.run_job(job, *arguments)
        with h5py.File(self.path("trajectory.h5")) as file:
            edges = file["particles/all/box/edges"]
            edges = edges["value"][0] if isinstance(edges, h5py.Group) else edges[:]
        volume = abs(numpy.linalg.det(edges if edges.ndim == 2 else numpy.diag(edges)))
        return (self.column("potential_energy")[0], self.frames("force")[0],
                volume * self.column("pressure_tensor")[0])

    def check(self, measured, energy, p, h, tolerance, some=3, tensor=True):
        """Against energy(p, h): its value, and its differences."""
        found, force, virial = measured
        size = numpy.sqrt((force**2).mean())
        self.assertGreater(size, 0.01)
        scale = len(p) * size
        self.assertAlmostEqual(found, energy(p, h), delta=tolerance * max(abs(found), 0.1 * scale))
        for i in range(0, len(p), max(1, len(p) // some)):
            for axis in range(3):
                def at(x):
                    moved = p.copy()
                    moved[i, axis] += x
                    return energy(moved, h)
                self.assertAlmostEqual(force[i, axis], -slope(at, 1e-4), msg=f"{i}, {axis}",
                                       delta=20 * tolerance * size)
        for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)) if tensor else ():
            def strained(x):
                matrix = numpy.eye(3)
                matrix[b, a] += x  # r_a += x r_b: the edges stay upper triangular
                return energy(p @ matrix, h @ matrix)
            self.assertAlmostEqual(virial[a, b], -slope(strained, 1e-4),
                                   delta=tolerance * (abs(virial).max() + 0.1 * scale),
                                   msg=f"virial {a}{b}")

    @staticmethod
    def neutral(n, seed=2):
        q = numpy.random.default_rng(seed).uniform(-1.5, 1.5, n)
        return q - q.mean()


SKEWED = tilted(9.0, 8.0, 10.0, 2.5, -1.7, 3.1)


class Pairs(ChargeCase):
    """Sums within a cut-off."""

    def check_pairs(self, measured, laws, p, q, h, cut, self_energy=0.0):
        """laws(i, j): of these pairs, energies of unit charges by distance."""
        found, force, virial = measured
        i, j = numpy.triu_indices(len(p), 1)
        d = nearest(p[i] - p[j], h)
        r = numpy.sqrt((d**2).sum(axis=1))
        i, j, d, r = i[r < cut], j[r < cut], d[r < cut], r[r < cut]
        product = q[i] * q[j]
        energy = product * laws(i, j, r)
        f = -(product * slope(lambda x: laws(i, j, r + x), 1e-4) / r)[:, None] * d
        expected = numpy.zeros((len(p), 3))
        numpy.add.at(expected, i, f), numpy.add.at(expected, j, -f)
        size = numpy.sqrt((expected**2).mean())
        self.assertGreater(size, 0.01)
        numpy.testing.assert_allclose(force, expected, atol=5e-6 * abs(expected).max())
        self.assertAlmostEqual(found, energy.sum() + self_energy,
                               delta=3e-7 * (abs(energy).sum() + abs(self_energy)))
        tensor = d.T @ f
        numpy.testing.assert_allclose(virial, tensor, atol=1e-6 * abs(d * f).sum())

    def laws(self, cut):
        a, kappa, ratio = 0.4, 0.7, 5.0
        root = 2 / math.sqrt(math.pi)

        def shifted(g, slope_of_g, energy, force):
            value, falls = g(cut), slope_of_g(cut)
            return lambda r: g(r) - (value if energy else 0) - (falls * (r - cut) if force else 0)
        plain = (lambda r: 1 / r, lambda r: -1 / r**2)
        damped = (lambda r: erfc(a * r) / r,
                  lambda r: -erfc(a * r) / r**2 - root * a * math.exp(-a * a * r * r) / r)
        screened = (lambda r: numpy.exp(-kappa * r) / r,
                    lambda r: -math.exp(-kappa * r) * (1 / r**2 + kappa / r))
        k = (ratio - 1) / (2 * ratio + 1) / cut**3
        c = 1 / cut + k * cut**2
        wolf = -(math.erfc(a * cut) / (2 * cut) + a / math.sqrt(math.pi))
        at_end = math.erfc(a * cut) / cut**2 + root * a * math.exp(-(a * cut)**2) / cut
        yield {"type": "coulomb"}, shifted(*plain, False, False), 0, 1
        yield ({"type": "coulomb", "truncation": "energy_shift", "coulomb": {"permittivity": 4}},
               shifted(*plain, True, False), 0, 0.25)
        yield ({"type": "coulomb", "truncation": "force_shift",
                "coulomb": {"bjerrum_length": 0.7, "temperature": 1.5}},
               shifted(*plain, True, True), 0, 1.05)
        yield ({"type": "coulomb_dsf", "damping": a, "truncation": "energy_shift"},
               shifted(*damped, True, False), wolf, 1)
        yield ({"type": "coulomb_dsf", "damping": a}, shifted(*damped, True, True),
               wolf - at_end * cut / 2, 1)
        yield ({"type": "reaction_field", "permittivity_ratio": ratio},
               lambda r: 1 / r + k * r**2 - c, -c / 2, 1)
        yield ({"type": "reaction_field"},
               lambda r: 1 / r + r**2 / (2 * cut**3) - 1.5 / cut, -0.75 / cut, 1)
        yield {"type": "debye_hueckel", "kappa": kappa}, shifted(*screened, False, False), 0, 1
        yield ({"type": "debye_hueckel", "kappa": kappa, "truncation": "force_shift"},
               shifted(*screened, True, True), 0, 1)

    def test_forces_are_those_of_the_law(self):
        h, cut = SKEWED, 3.0
        p, q = scattered(60, h, 0.7), self.neutral(60)
        system = self.data(p, q, h)
        for force, law, self_energy, constant in self.laws(cut):
            with self.subTest(force):
                self.check_pairs(self.measured(self.job(system, [{**force, "cutoff": cut}])),
                                 lambda i, j, r: constant * law(r), p, q, h, cut,
                                 constant * self_energy * (q @ q))

    def test_excluded_pairs(self):
        """A method that stands for charges beyond the cut-off keeps its part for them."""
        h, cut = SKEWED, 3.0
        p, q = scattered(60, h, 0.7), self.neutral(60)
        order = [numpy.argsort((nearest(x - p, h)**2).sum(axis=1)) for x in p]
        bonds = sorted({(min(k, o[1]), max(k, o[1])) for k, o in list(enumerate(order))[::6]})
        system = self.data(p, q, h, bonds)
        spring = {"type": "bond_harmonic", "bonds": {"1": {"stiffness": 1e-12, "length": 1}}}
        for force, law, self_energy, constant in self.laws(cut):
            keeps = force["type"] in ("coulomb_dsf", "reaction_field")

            def of_pairs(i, j, r):
                bonded = numpy.array([(a, b) in bonds for a, b in zip(i.tolist(), j.tolist())])
                left = law(r) - 1 / r if keeps else 0 * r
                return constant * numpy.where(bonded, left, law(r))
            with self.subTest(force):
                for way in WAYS[:2]:
                    job = self.job(system, [{**force, "cutoff": cut}, spring], neighbors=way)
                    self.check_pairs(self.measured(job), of_pairs, p, q, h, cut,
                                     constant * self_energy * (q @ q))

    def test_a_formula_of_charges(self):
        """Is the law that it writes out: screened charges, by their attribute."""
        h, cut = SKEWED, 3.0
        p, q = scattered(60, h, 0.7), self.neutral(60)
        force = {"type": "pair_formula", "energy": "charge_1*charge_2*exp(-0.7*r)/r", "cutoff": cut,
                 "pairs": [{"types": ["1", "1"]}]}
        self.check_pairs(self.measured(self.job(self.data(p, q, h), [force])),
                         lambda i, j, r: numpy.exp(-0.7 * r) / r, p, q, h, cut)

    def test_traversals_and_types(self):
        """Types without charges are not looked for; those of frozen types are left out."""
        for force in ({"type": "coulomb_dsf", "cutoff": 2.5, "damping": 0.3},
                      {"type": "debye_hueckel", "cutoff": 2.5, "kappa": 1}):
            found = []
            for way in WAYS:
                job = self.job({"type": "lattice", "structure": "fcc", "density": 0.7,
                                "cells": [6, 6, 6], "types": {"A": 1, "B": 1, "W": 2}},
                               [force], steps=20, neighbors=way, velocity={"temperature": 3},
                               attributes={"charge": {"types": {"A": 1, "B": -1}, "default": 0}})
                self.run_job(job)
                found.append((self.frames("force"), self.column("potential_energy")))
            for force_of, energy in found[1:]:
                numpy.testing.assert_allclose(force_of, found[0][0], atol=1e-3)
                numpy.testing.assert_allclose(energy, found[0][1], rtol=1e-5)

    def test_trial_moves(self):
        """Monte Carlo and dynamics have the same energy."""
        core = {"type": "wca", "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                         for t in ("AA", "AB", "BB")]}
        means = []
        for stage in ({"type": "monte_carlo", "sweeps": 1500, "temperature": 1,
                       "translation": {"displacement": 0.2}},
                      {"type": "md", "steps": 15000, "integrator": {
                          "type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}}):
            job = self.job({"type": "lattice", "structure": "sc", "density": 0.3,
                            "cells": [6, 6, 6], "types": {"A": 1, "B": 1}},
                           [core, {"type": "coulomb_dsf", "cutoff": 2.5, "damping": 0.3,
                                   "coulomb": {"bjerrum_length": 3, "temperature": 1}}],
                           velocity={"temperature": 1},
                           attributes={"charge": {"types": {"A": 1, "B": -1}}})
            job["observers"] = [{"type": "thermo", "stride": 10}]
            job["stages"] = [stage]
            self.run_job(job)
            energy = self.column("potential_energy")
            parts = [part.mean() for part in numpy.array_split(energy[len(energy) // 5:], 10)]
            means.append((numpy.mean(parts), numpy.std(parts, ddof=1) / math.sqrt(10)))
        (a, da), (b, db) = means
        self.assertLess(abs(a), 2000)
        self.assertLess(abs(a - b), 4 * math.hypot(da, db), means)
        self.assertLess(math.hypot(da, db), 0.02 * abs(a))

    def test_units(self):
        """Two elementary charges in water at a distance of 1 nm: 1.72 kJ/mol."""
        h = tilted(10, 10, 10)
        p, q = numpy.array([[1.0, 1, 1], [2, 1, 1]]), numpy.array([1.0, -1])
        system = self.data(p, q, h)
        for units, energy in (({"length": "nm", "energy": "kJ/mol", "mass": "u"}, 138.935458),
                              ({"length": "angstrom", "energy": "kcal/mol", "mass": "g/mol"},
                               332.06371),
                              ({"length": "angstrom", "energy": "eV", "mass": "u"}, 14.3996454),
                              ({"length": "nm", "energy": "K", "mass": "u"}, 16710.0)):
            job = self.job(system, [{"type": "coulomb", "cutoff": 3,
                                     "coulomb": {"permittivity": 80.8}}], units=units)
            job["stages"][0]["integrator"] = {"type": "velocity_verlet", "timestep": 1e-6}
            self.assertAlmostEqual(self.measured(job)[0] * -80.8 / energy, 1, delta=1e-5)
            job["forces"][0]["coulomb"] = {"bjerrum_length": 0.7, "temperature": 300}
            boltzmann = {"kJ/mol": 0.00831446, "kcal/mol": 0.00198720, "eV": 8.617333e-5, "K": 1}
            self.assertAlmostEqual(
                self.measured(job)[0] / (-0.7 * 300 * boltzmann[units["energy"]]), 1, delta=1e-5)

    def test_mistakes(self):
        system = {"type": "lattice", "structure": "fcc", "density": 0.5, "cells": [5, 5, 5]}
        job = self.job(system, [{"type": "coulomb", "cutoff": 2}])
        self.refused(job, r"forces\[0\]: acts on charges, but no particle of the system has one")
        job["attributes"] = {"charge": {"from": "sin(9*x)"}}
        job["forces"][0]["coulomb"] = {"bjerrum_length": 1}
        self.refused(job, r"forces\[0\].coulomb.temperature: is missing")
        job["forces"][0]["coulomb"] = {"bjerrum_length": 1, "temperature": 1, "permittivity": 1}
        self.refused(job, r"forces\[0\].coulomb: must have only one of")
        job["forces"][0]["coulomb"] = {"temperature": 1}
        self.refused(job, r"forces\[0\].coulomb.temperature: is for \"bjerrum_length\"")
        job["forces"][0]["coulomb"] = {"permittivity": 0}
        self.refused(job, r"forces\[0\].coulomb.permittivity: must be positive")


def acting(cloud, w, r):
    """S(r): the energy of two unit clouds is S/r."""
    x = r / w
    if cloud == "gaussian":
        return erf(x / 2)
    if cloud == "slater":
        return 1 - (1 + 11 * x / 8 + 3 * x**2 / 4 + x**3 / 6) * numpy.exp(-2 * x)
    if cloud == "slater_approximate":
        return 1 - (1 + 0.625 * x) * numpy.exp(-1.25 * x)
    return -numpy.expm1(-x)


CLOUDS = ("gaussian", "slater", "slater_approximate", "bessel")
# Transforms of unit clouds.
TRANSFORMS = {"gaussian": lambda k, w: numpy.exp(-(k * w)**2 / 2),
              "slater": lambda k, w: (1 + (k * w)**2 / 4)**-2,
              "bessel": lambda k, w: (1 + (k * w)**2)**-0.5}


class Clouds(ChargeCase):
    """Charges that are clouds."""

    def test_closed_forms(self):
        """The energy of two clouds is (2/pi) ∫ |cloud(k)|² sin(kr)/(kr) dk. Gaussian and Slater
        clouds have the density of their names."""
        k = numpy.linspace(1e-9, 4000, 4_000_001)
        s = numpy.linspace(0, 40, 400_001)
        for cloud, transform in TRANSFORMS.items():
            for r in (0.1, 0.5, 1.0, 2.5):
                energy = 2 / math.pi * trapezoid(
                    transform(k, 0.7)**2 * numpy.sin(k * r) / (k * r), k)
                self.assertAlmostEqual(energy, acting(cloud, 0.7, r) / r, delta=2e-6, msg=cloud)
            if cloud == "bessel":
                continue
            density = numpy.exp(-s**2 / 2) if cloud == "gaussian" else numpy.exp(-2 * s)
            total = trapezoid(density * s**2, s)
            for q in (0.3, 1.0, 3.0):
                self.assertAlmostEqual(trapezoid(density * s * numpy.sin(q * s) / q, s) / total,
                                       transform(q, 1), delta=1e-7)
        # The approximation has the energy of two clouds in one place.
        self.assertAlmostEqual(acting("slater_approximate", 1, 1e-6) / 1e-6,
                               acting("slater", 1, 1e-6) / 1e-6, delta=1e-5)

    def test_two_clouds(self):
        """Also in one place: no force has a pole. Errors are those of rounding, about 1e-7/r²."""
        h, w = tilted(12, 12, 12), 0.8
        for cloud in CLOUDS:
            # All pairs have far less to do with each other than the two of one pair.
            for r in (0.0, 1e-4, 0.01, 0.03, 0.1, 0.5, 1.7):
                p = numpy.array([[3.0, 4, 5], [3 + 0.6 * r, 4, 5 + 0.8 * r]])
                q = numpy.array([1.0, -2.0])
                job = self.job(self.data(p, q, h), [{
                    "type": "coulomb", "cutoff": 3, "smearing": {"cloud": cloud, "width": w}}])
                energy, force, virial = self.measured(job)
                at = max(r, 1e-5)
                def of(x):
                    return -2 * acting(cloud, w, x) / x
                expected = -slope(lambda x: of(at + x), 1e-3 * at)
                core = 2e-3 if cloud == "bessel" else 0  # where the force has a cusp
                self.assertAlmostEqual(energy, of(at), delta=1e-4 + core, msg=f"{cloud}, {r}")
                if r > core:
                    self.assertAlmostEqual(force[1] @ [0.6, 0, 0.8], expected, msg=f"{cloud}, {r}",
                                           delta=2e-3 if r < 0.04 else 1e-4)
                numpy.testing.assert_allclose(force.sum(axis=0), 0, atol=1e-6)
                self.assertLess(abs(force).max(), 2)
                self.assertAlmostEqual(numpy.trace(virial), r * (force[1] @ [0.6, 0, 0.8]),
                                       delta=1e-4)

    def energy_of(self, q, alpha, cloud, w, **reference):
        """Ewald's sum of points, and what clouds lack, over copies."""
        def energy(p, h):
            i, j = numpy.triu_indices(len(p), 1)
            d = p[i] - p[j]
            d = d - numpy.round(d @ numpy.linalg.inv(h)) @ h
            left = {(min(a), max(a)) for a in reference.get("excluded", ())}
            known = numpy.array([(a, b) in left for a, b in zip(i.tolist(), j.tolist())])
            found = ewald_energy(p, q, h, alpha, **reference)
            for n in numpy.ndindex(3, 3, 3):
                r = numpy.sqrt(((d + (numpy.array(n) - 1) @ h)**2).sum(axis=1))
                # Of an excluded pair the nearest copy alone is excluded.
                found -= (q[i] * q[j] * (1 - acting(cloud, w, r)) / r)[~(known & (r < 3))].sum()
            return found
        return energy

    def test_sum_over_copies(self):
        """Energy, forces and virial, of overlapping clouds, also of bonded ones that exclude."""
        h = SKEWED
        p, q = scattered(50, h, 0.25), self.neutral(50)
        alpha = 6.2 / (1 / numpy.linalg.norm(numpy.linalg.inv(h).T, axis=1)).min()
        order = [numpy.argsort((nearest(x - p, h)**2).sum(axis=1)) for x in p]
        bonds = sorted({(int(min(k, o[1])), int(max(k, o[1]))) for k, o in enumerate(order)})[::3]
        spring = {"type": "bond_harmonic", "bonds": {"1": {"stiffness": 1e-12, "length": 1}}}
        for cloud, w, mesh, excluded in (
                ("gaussian", 0.3, False, ()), ("gaussian", 0.3, True, bonds),
                ("slater", 0.25, False, bonds), ("slater_approximate", 0.2, False, bonds),
                ("bessel", 0.15, True, ())):
            force = {"type": "ewald", "cutoff": 3, "accuracy": 1e-5 if mesh else 2e-6,
                     "smearing": {"cloud": cloud, "width": w}}
            if mesh:
                force["mesh"] = {"order": 7}
            forces = [force, spring] if excluded else [force]
            with self.subTest(cloud, excluded=len(excluded)):
                self.check(self.measured(self.job(self.data(p, q, h, excluded), forces)),
                           self.energy_of(q, alpha, cloud, w, excluded=excluded), p, h,
                           5e-5 if mesh else 1e-5, 2)

    def test_errors_are_those_predicted(self):
        """Clouds that end at the cut-off add an error, which the other parts make up for."""
        h = tilted(12, 11, 13, 2, 1, -3)
        p = scattered(400, h, 0.2, 5)
        system = self.data(p, numpy.where(numpy.arange(400) % 2, 1.0, -1), h)
        smearing = {"cloud": "slater", "width": 0.5}
        exact = self.measured(self.job(system, [{"type": "ewald", "cutoff": 4.8, "accuracy": 1e-5,
                                                 "smearing": smearing}]))[1]
        job = self.job(system, [{"type": "ewald", "cutoff": 3, "accuracy": 2e-3,
                                 "smearing": smearing}])
        rms = math.sqrt(((self.measured(job)[1] - exact)**2).sum(axis=1).mean())
        self.assertLess(rms, 1.5 * 2e-3)
        self.assertGreater(rms, 0.3 * 2e-3)
        said = self.perrin("validate", "job.json", "--overwrite").stdout
        self.assertRegex(said, r"0.002 \(rms; .* of wave vectors, [\d.e-]+ of clouds that end at "
                               r"the cut-off\)")

    def test_cut_off_methods(self):
        """coulomb, shifted; coulomb_dsf and reaction_field, of which excluded pairs keep what
        stands for other charges."""
        h, cut, w = SKEWED, 3.0, 0.35
        p, q = scattered(60, h, 0.3), self.neutral(60)
        order = [numpy.argsort((nearest(x - p, h)**2).sum(axis=1)) for x in p]
        bonds = sorted({(int(min(k, o[1])), int(max(k, o[1]))) for k, o in enumerate(order)})[::3]
        spring = {"type": "bond_harmonic", "bonds": {"1": {"stiffness": 1e-12, "length": 1}}}
        a = 0.4
        wolf = -(math.erfc(a * cut) / (2 * cut) + a / math.sqrt(math.pi))
        for cloud in CLOUDS[:2]:
            def s(r):
                return acting(cloud, w, r)

            def dsf(r):
                return (s(r) - erf(a * r)) / r
            end = numpy.array([cut])
            at_end = -slope(lambda x: s(end + x) / (end + x), 1e-4)[0]
            field = 1 / (2 * cut**3)
            for force, law, excluded, own in (
                    ({"type": "coulomb", "truncation": "force_shift"},
                     lambda r: s(r) / r - s(end) / cut + at_end * (r - cut), None, 0),
                    ({"type": "coulomb_dsf", "damping": a, "truncation": "energy_shift"},
                     lambda r: dsf(r) - dsf(end), lambda r: -erf(a * r) / r - dsf(end), wolf),
                    ({"type": "reaction_field"},
                     lambda r: s(r) / r + field * r**2 - 1.5 / cut,
                     lambda r: field * r**2 - 1.5 / cut, -0.75 / cut)):
                def laws(i, j, r):
                    bonded = numpy.array([(m, n) in bonds for m, n in zip(i.tolist(), j.tolist())])
                    return numpy.where(bonded, excluded(r) if excluded else 0 * r, law(r))
                job = self.job(self.data(p, q, h, bonds), [{
                    **force, "cutoff": cut, "smearing": {"cloud": cloud, "width": w}}, spring])
                with self.subTest(force, cloud=cloud):
                    Pairs.check_pairs(self, self.measured(job), laws, p, q, h, cut, own * (q @ q))

    def test_random_phase_approximation(self):
        """Weakly coupled clouds without cores: the energy of a particle is
        -1/2 ∫ d³k/(2π)³ v(k) kappa² c²/(k² + kappa² c²), v = 4π l_B c²/k², c the transform of a
        cloud, kappa² = 4π l_B times the density; plus all pairs' at random, which is 0."""
        density, bjerrum, w = 3.0, 1.0, 0.6
        kappa2 = 4 * math.pi * bjerrum * density
        k = numpy.linspace(1e-6, 200, 400_001)
        for cloud in ("gaussian", "slater"):
            c2 = TRANSFORMS[cloud](k, w)**2
            expected = -bjerrum / math.pi * trapezoid(c2 * kappa2 * c2 / (k**2 + kappa2 * c2), k)
            job = self.job({"type": "lattice", "structure": "sc", "density": density,
                            "cells": [10, 10, 10], "types": {"A": 1, "B": 1}},
                           [{"type": "ewald", "cutoff": 3.3, "accuracy": 0.02,
                             "smearing": {"cloud": cloud, "width": w},
                             "coulomb": {"bjerrum_length": bjerrum, "temperature": 1}}],
                           velocity={"temperature": 1},
                           attributes={"charge": {"types": {"A": 1, "B": -1}}})
            job["stages"] = [{"type": "md", "steps": 2000, "integrator": {
                "type": "langevin", "timestep": 0.02, "temperature": 1, "friction": 1}}]
            job["observers"] = [{"type": "thermo", "stride": 10}]
            self.run_job(job)
            energy = self.column("potential_energy")[40:] / 10**3
            parts = [part.mean() for part in numpy.array_split(energy, 8)]
            error = numpy.std(parts, ddof=1) / math.sqrt(8)
            self.assertLess(error, 0.003)
            self.assertLess(abs(numpy.mean(parts) - expected), 4 * error + 0.001,
                            (cloud, parts, expected))

    def test_mistakes(self):
        system = {"type": "lattice", "structure": "fcc", "density": 0.5, "cells": [8, 8, 8],
                  "types": {"A": 1, "B": 1}}
        job = self.job(system, [{"type": "ewald", "cutoff": 3}],
                       attributes={"charge": {"types": {"A": 1, "B": -1}}})
        for force, smearing, message in (
                ({}, {"cloud": "slater", "width": 1},
                 r"forces\[0\].cutoff: must be at least [\d.]+, since two clouds of this width "
                 r"\(\"smearing\"\) do not act as points before, within the accuracy of 0.0001; "
                 r"got 3"),
                ({}, {"cloud": "cone", "width": 1}, r"forces\[0\].smearing.cloud: must be "),
                ({}, {"cloud": "slater"}, r"forces\[0\].smearing: the key \"width\" is missing"),
                ({}, {"cloud": "slater", "width": 0},
                 r"forces\[0\].smearing.width: must be positive"),
                ({"type": "coulomb_dsf", "damping": 0.2}, {"cloud": "bessel", "width": 0.7},
                 r"forces\[0\].cutoff: must be at least 4.84, where two clouds of this width "
                 r"\(\"smearing\"\) act as points within 0.001; got 3")):
            self.refused({**job, "forces": [{**job["forces"][0], **force, "smearing": smearing}]},
                         message)


class Ewald(ChargeCase):
    def test_madelung_constant_of_rock_salt(self):
        """1.7475645946331822 e²/(4πε₀ a) per pair of ions."""
        p = numpy.array(list(numpy.ndindex(6, 6, 6)), dtype=float)
        q = 1 - 2 * (p.sum(axis=1) % 2)
        p += 0.3
        job = self.job(self.data(p, q, tilted(6, 6, 6)),
                       [{"type": "ewald", "cutoff": 2.9, "accuracy": 1e-8}])
        for way in WAYS:
            energy, force, virial = self.measured({**job, "neighbors": {**way, "skin": 0.05}})
            self.assertAlmostEqual(-2 * energy / len(p) / 1.7475645946331822, 1,
                                   delta=1e-8 if DOUBLE else 5e-7)
            self.assertLess(abs(force).max(), 3e-6)
            # E ∝ 1/L.
            numpy.testing.assert_allclose(virial, energy / 3 * numpy.eye(3), atol=2e-6 * -energy)

    def check_random(self, force, h, n=50, seed=1, tolerance=5e-6, q=None, **reference):
        p = scattered(n, h, 0.7, seed)
        q = self.neutral(n) if q is None else q
        heights = 1 / numpy.linalg.norm(numpy.linalg.inv(h).T, axis=1)
        alpha = 6.2 / heights.min()

        def energy(x, cell):
            return ewald_energy(x, q, cell, alpha, **reference)
        self.check(self.measured(self.job(self.data(p, q, h), [force])), energy, p, h, tolerance)

    def test_random_charges(self):
        for h in (tilted(7, 8, 9), SKEWED, tilted(6.5, 12, 7, -3, 2, 5)):
            self.check_random({"type": "ewald", "cutoff": 2.8, "accuracy": 1e-6}, h)

    def test_net_charge_and_surface(self):
        q = self.neutral(50) + 0.1
        self.check_random({"type": "ewald", "cutoff": 3, "accuracy": 1e-6,
                           "net_charge": "background"}, SKEWED, q=q)
        self.check_random({"type": "ewald", "cutoff": 3, "accuracy": 1e-6,
                           "surface_permittivity": 1}, SKEWED, surface=1)
        self.check_random({"type": "ewald", "cutoff": 3, "accuracy": 1e-6,
                           "surface_permittivity": 4}, SKEWED, surface=4)

    def test_errors_are_those_predicted(self):
        """Forces of random charges against those of a far more accurate sum."""
        h = tilted(12, 11, 13, 2, 1, -3)
        p = scattered(400, h, 0.2, 5)
        q = numpy.where(numpy.arange(400) % 2, 1.0, -1)
        system = self.data(p, q, h)
        exact = self.measured(self.job(system, [{"type": "ewald", "cutoff": 4.8,
                                                 "accuracy": 1e-7}]))[1]
        for accuracy in (1e-1, 1e-2, 1e-3, 1e-4):
            for cutoff in (2, 4):
                job = self.job(system, [{"type": "ewald", "cutoff": cutoff, "accuracy": accuracy}])
                error = self.measured(job)[1] - exact
                rms = math.sqrt((error**2).sum(axis=1).mean())
                self.assertLess(rms, 1.5 * accuracy)
                self.assertGreater(rms, 0.4 * accuracy)
        job = self.job(system, [{"type": "ewald", "cutoff": 2, "accuracy": 1e-3}])
        self.run_job(job)
        said = self.perrin("validate", "job.json", "--overwrite")
        self.assertRegex(said.stdout, r"ewald: splitting 1\.\d+, \d+ wave vectors up to [\d.]+, "
                         r"predicted error of forces 0.001 \(rms; 0.00071 of pairs, 0.00071 of "
                         r"wave vectors\), accuracy 0.001")

    def test_parts_that_cancel(self):
        """Energies and forces do not depend on the splitting."""
        h = SKEWED
        p, q = scattered(50, h, 0.7), self.neutral(50)
        system = self.data(p, q, h)
        found = [self.measured(self.job(system, [{"type": "ewald", "cutoff": cutoff,
                                                  "accuracy": 1e-6}]))
                 for cutoff in (1.8, 2.5, 3.3)]
        for energy, force, virial in found[1:]:
            self.assertAlmostEqual(energy / found[0][0], 1, delta=3e-6)
            numpy.testing.assert_allclose(force, found[0][1], atol=1e-5 * abs(force).max())
            numpy.testing.assert_allclose(virial, found[0][2], atol=1e-5 * abs(virial).max())

    def test_openmm(self):
        """Energy, forces and virial of OpenMM's particle mesh Ewald (tests/reference/openmm)."""
        with open(os.path.join(REFERENCE, "openmm", "charges.json")) as file:
            reference = json.load(file)
        for name, box in reference["boxes"].items():
            p, h = numpy.array(box["positions"]), numpy.array(box["edges"])
            system = self.data(p, numpy.array(reference["charges"]), h)
            for accuracy, cutoff in ((1e-3, 2.5), (1e-5, 4)):
                energy, force, virial = self.measured(self.job(system, [
                    {"type": "ewald", "cutoff": cutoff, "accuracy": accuracy}]))
                error = force - numpy.array(box["forces"])
                self.assertLess(math.sqrt((error**2).sum(axis=1).mean()), 1.5 * accuracy, name)
                self.assertAlmostEqual(energy, box["energy"], delta=20 * accuracy, msg=name)
                upper = virial[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
                numpy.testing.assert_allclose(upper, box["virial"], atol=50 * accuracy)

    def test_excluded_and_special_pairs(self):
        """Of bonded particles, also far apart, and those three bonds apart."""
        h = SKEWED
        p, q = scattered(50, h, 0.7), self.neutral(50)
        chains = [tuple(range(5 * c, 5 * c + 5)) for c in range(4)]
        bonds = [(c[k], c[k + 1]) for c in chains for k in range(4)]
        excluded = [(c[k], c[k + n]) for c in chains for n in (1, 2, 3) for k in range(5 - n)]
        special = [(c[k], c[k + 3], 0.4) for c in chains for k in range(2)]
        alpha = 6.2 / (1 / numpy.linalg.norm(numpy.linalg.inv(h).T, axis=1)).min()

        def energy(x, cell):
            return ewald_energy(x, q, cell, alpha, excluded=excluded, scale=special)
        job = self.job(self.data(p, q, h, bonds),
                       [{"type": "ewald", "cutoff": 3, "accuracy": 1e-6},
                        {"type": "special_coulomb", "scale": 0.4},
                        {"type": "bond_harmonic",
                         "bonds": {"1": {"stiffness": 1e-12, "length": 1}}}],
                       neighbors={"exclusions": ["bonds", "angles", "dihedrals"]})
        self.check(self.measured(job), energy, p, h, 5e-6)

    def test_slab(self):
        """A layer of charges against a sum in which other layers are far away, and a capacitor."""
        h = tilted(7, 8, 9, 1.5)
        p, q = scattered(40, h, 0.7, 1, 0.1, 0.9), self.neutral(40)
        force = {"type": "ewald", "cutoff": 3, "accuracy": 1e-6, "slab": 4}
        long = numpy.diag([1.0, 1, 4])

        def energy(x, cell):
            cell = cell @ long
            return ewald_energy(x, q, cell, 6.2 / 6.8) + 2 * math.pi / numpy.linalg.det(cell) * (
                q @ x[:, 2])**2
        system = {**self.data(p, q, h), "periodic": [True, True, False]}
        self.check(self.measured(self.job(system, [force])), energy, p, h, 5e-6, tensor=False)
        # Two plates with a charge of ±1 for each square: the field between them is 4π/a², and on
        # each plate half of it acts.
        n, a, gap = 6, 1.2, 5.0
        plate = numpy.array([(a * i, a * j) for i in range(n) for j in range(n)]) + 0.1
        p = numpy.concatenate([numpy.column_stack([plate, numpy.full(n * n, z)])
                               for z in (1.0, 1.0 + gap)])
        q = numpy.repeat([1.0, -1], n * n)
        system = {**self.data(p, q, tilted(n * a, n * a, 8)), "periodic": [True, True, False]}
        energy, force, _ = self.measured(self.job(system, [
            {"type": "ewald", "cutoff": 3, "accuracy": 1e-5, "slab": 3}]))
        expected = numpy.zeros((2 * n * n, 3))
        expected[:, 2] = numpy.repeat([1, -1], n * n) * 2 * math.pi / a**2
        numpy.testing.assert_allclose(force, expected, atol=2e-5)

    def ions(self, steps, integrator=NVE, n=6, density=0.3, **more):
        """Ions with soft cores."""
        core = {"type": "wca", "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                         for t in ("AA", "AB", "BB")]}
        job = self.job({"type": "lattice", "structure": "sc", "density": density,
                        "cells": [n, n, n], "types": {"A": 1, "B": 1}},
                       [core, {"type": "ewald", "cutoff": 3, "accuracy": 1e-3,
                               "coulomb": {"bjerrum_length": 4, "temperature": 1}}],
                       steps=steps, **{"velocity": {"temperature": 1.5}, "attributes": {
                           "charge": {"types": {"A": 1, "B": -1}}}, **more})
        job["stages"][0]["integrator"] = integrator
        return job

    def same_parameters(self, force, numbers):
        """As the log says them."""
        force.update(splitting=float(numbers[1]), k_max=float(numbers[numbers.index("to") + 1]))

    def test_energy_is_conserved(self):
        self.run_job(self.ions(3000, {"type": "velocity_verlet", "timestep": 0.002}))
        total = self.column("total_energy")
        kinetic = self.column("kinetic_energy").mean()
        self.assertLess(abs(total - total[0]).max(), 2e-4 * kinetic)

    def test_debye_hueckel_limit(self):
        """Energy of a thin electrolyte of ions of diameter 1: U/N kT = -κ l_B/2(1 + κ)."""
        job = self.ions(4000, {"type": "langevin", "timestep": 0.02, "temperature": 1,
                               "friction": 0.3}, n=8, density=0.002)
        job["forces"][1].update(cutoff=20, coulomb={"bjerrum_length": 1, "temperature": 1})
        job["observers"] = [{"type": "thermo", "stride": 20}]
        self.run_job(job)
        energy = self.column("potential_energy")[30:] / 512
        parts = numpy.array([part.mean() for part in numpy.array_split(energy, 10)])
        kappa = math.sqrt(4 * math.pi * 0.002)
        self.assertAlmostEqual(energy.mean(), -kappa / 2 / (1 + kappa),
                               delta=4 * parts.std() / math.sqrt(10))
        self.assertLess(parts.std() / math.sqrt(10), 0.004)

    def test_a_box_that_changes(self):
        """What steps find in a box that a barostat, a deformation or a shear changes is what a job
        finds that begins there."""
        bath = {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1}
        for what, change in (
                ("barostat", {"integrator": {**bath, "barostat": {"pressure": 3, "tau": 0.5,
                                                                  "axes": "flexible"}}}),
                ("nose_hoover", {"integrator": {
                    "type": "nose_hoover", "timestep": 0.002, "temperature": 1, "tau": 0.2,
                    "barostat": {"pressure": 2, "tau": 5, "axes": "x,y,z"}}}),
                ("deform", {"integrator": bath, "deform": {"x": 12, "y": 8.5}}),
                ("shear", {"integrator": bath,
                           "shear": {"rate": 2, "flow": "x", "gradient": "y"}})):
            with self.subTest(what):
                job = self.ions(1000)
                job["stages"][0].update(change)
                job["observers"][0]["stride"] = 1000
                job["observers"][1]["stride"] = 100
                self.run_job(job)
                energy = self.column("potential_energy")[-1]
                force = self.frames("force")[-1]
                job["system"] = {"type": "file", "path": "trajectory.h5", "frame": -1}
                job["stages"] = [{"type": "md", "steps": 0, "integrator": NVE}]
                del job["velocity"], job["attributes"]
                # The splitting would be chosen from the box.
                with h5py.File(self.path("checkpoint.h5")) as file:
                    said = self.perrin("validate", "job.json", "--overwrite").stdout
                numbers = said[said.index("splitting"):].replace(",", " ").split()
                self.same_parameters(job["forces"][1], numbers)
                del job["forces"][1]["accuracy"]
                self.run_job(job, folder="again")
                found = self.column("potential_energy", "again")[0]
                self.assertAlmostEqual(found / energy, 1, delta=1e-5)
                numpy.testing.assert_allclose(self.frames("force", "again")[0], force,
                                              atol=2e-4 * abs(force).max())

    def test_a_box_that_grows_beyond_the_accuracy(self):
        """A mesh keeps its points, and a warning says what that costs; waves follow the box."""
        job = self.ions(100, n=4, density=0.3)
        job["forces"][1].update(cutoff=2.5)
        job["stages"][0]["deform"] = {"x": 10, "y": 10, "z": 10}
        done = self.run_job(job)
        warned = "the predicted error of forces is" in done.stdout + done.stderr
        self.assertEqual(warned, "mesh" in job["forces"][1], done.stdout + done.stderr)

    def test_charges_that_change(self):
        """A charge that grows with the time, with a background; and one that is written anew."""
        job = self.ions(10)
        job["forces"][1].update(net_charge="background", accuracy=1e-5)
        job["attributes"]["charge"]["changes"] = "charge*(1 + t)"
        self.run_job(job)
        first = self.frames("force")
        grown = 1 + 10 * 0.001
        q = {"A": grown, "B": -grown}
        still = self.ions(0, attributes={"charge": {"types": q}})
        still["system"] = {"type": "file", "path": "trajectory.h5"}
        still["forces"][1]["accuracy"] = 1e-5
        del still["velocity"]
        self.run_job(still, folder="again")
        numpy.testing.assert_allclose(self.frames("force", "again")[0], first[-1], atol=1e-4)

    def test_mistakes(self):
        job = self.ions(0)
        ewald = job["forces"][1]
        for change, message in (
                ({"k_max": 3}, r"forces\[1\].splitting: is missing"),
                ({"splitting": 1, "accuracy": None}, r"forces\[1\].k_max: is missing"),
                ({"splitting": 1, "k_max": 3}, r"forces\[1\].accuracy: is chosen by splitting"),
                ({"cutoff": 0.1}, r"forces\[1\].accuracy: takes [\d.e+]+ wave vectors"),
                ({"slab": 3}, r"forces\[1\].slab: is for a box that is not periodic along z"),
                ({"cutoff": 30}, r"forces\[1\].cutoff: must be at most"),
                ({"surface_permittivity": 1, "net_charge": "background"},
                 r"forces\[1\].net_charge: must be refuse")):
            changed = {k: v for k, v in {**ewald, **change}.items() if v is not None}
            self.refused({**job, "forces": [job["forces"][0], changed]}, message)
        self.refused({**job, "attributes": {"charge": {"types": {"A": 1, "B": -0.9}}}},
                     r"forces\[1\].net_charge: the charges of the system add up to 10\.8: make")
        self.refused({**job, "attributes": {"charge": {"types": {"A": 1, "B": -1},
                                                       "changes": "charge*t"}}},
                     r"forces\[1\].net_charge: must be background where charges change")
        open_box = {**job["system"], "periodic": [True, True, False]}
        self.refused({**job, "system": open_box}, r"requires a box that is periodic along x, y and "
                                                  r"z, or \"slab\"")
        close = {**ewald, "slab": 1.5, "cutoff": 5}
        self.refused({**job, "system": {**open_box, "cells": [8, 8, 6]},
                      "forces": [job["forces"][0], close]},
                     r"slab: must be at least 1\.558, so that copies, 4\.481 apart, are beyond the "
                     r"cut-off \(5\)")

    def test_hybrid_trials(self):
        """Trajectories as trials work with every potential."""
        job = self.ions(0)
        job["stages"] = [{"type": "monte_carlo", "sweeps": 20, "temperature": 1,
                          "hybrid": {"timestep": 0.004, "steps": 5}}]
        job["observers"].append({"type": "acceptance", "stride": 20})
        self.run_job(job)
        self.assertGreater(abs(self.frames("position")[-1] - self.frames("position")[0]).max(), 0.1)



class Mesh(Ewald):
    """What holds for the sum over wave vectors, by a particle mesh."""
    test_madelung_constant_of_rock_salt = None
    test_debye_hueckel_limit = test_charges_that_change = test_errors_are_those_predicted = None
    test_mistakes = test_slab = test_parts_that_cancel = test_hybrid_trials = None

    def job(self, system, forces, steps=0, **more):
        meshed = [{**f, "mesh": {}} if f["type"] == "ewald" else f for f in forces]
        for force in meshed:
            if force.get("accuracy") == 1e-6:  # of a mesh this is more than a test has time for
                force.update(accuracy=1e-5)
        return super().job(system, meshed, steps, **more)

    def check(self, measured, energy, p, h, tolerance, some=3, tensor=True):
        super().check(measured, energy, p, h, 10 * tolerance, some, tensor)

    def same_parameters(self, force, numbers):
        size = [int(numbers[numbers.index("mesh") + k]) for k in (1, 3, 5)]
        force.update(splitting=float(numbers[1]), mesh={"size": size})

    def test_madelung_constant_of_rock_salt_on_a_mesh(self):
        """Of order 8, within the accuracy of forces."""
        p = numpy.array(list(numpy.ndindex(6, 6, 6)), dtype=float)
        q = 1 - 2 * (p.sum(axis=1) % 2)
        energy, force, _ = self.measured(ChargeCase.job(
            self, self.data(p + 0.3, q, tilted(6, 6, 6)),
            [{"type": "ewald", "cutoff": 2.9, "accuracy": 1e-6, "mesh": {"order": 8}}]))
        self.assertAlmostEqual(-2 * energy / len(p) / 1.7475645946331822, 1, delta=1e-6)
        self.assertLess(abs(force).max(), 1e-5)

    def test_errors_of_the_mesh(self):
        """Forces of random charges against those of a far more accurate sum, as predicted."""
        for h in (tilted(12, 11, 13), tilted(12, 11, 13, 2, 1, -3)):
            p = scattered(400, h, 0.2, 5)
            q = numpy.where(numpy.arange(400) % 2, 1.0, -1)
            system = self.data(p, q, h)
            exact = self.measured(ChargeCase.job(self, system, [
                {"type": "ewald", "cutoff": 4.5, "accuracy": 1e-7}]))
            for accuracy, order in ((1e-2, 5), (1e-3, 4), (1e-3, 7), (1e-4, 6), (1e-4, 8),
                                    (1e-5, 6), (1e-5, 8)):
                job = self.job(system, [{"type": "ewald", "cutoff": 3, "accuracy": accuracy}])
                job["forces"][0]["mesh"] = {"order": order}
                energy, force, virial = self.measured(job)
                rms = math.sqrt(((force - exact[1])**2).sum(axis=1).mean())
                self.assertLess(rms, 1.3 * accuracy)
                self.assertGreater(rms, 0.6 * accuracy)
                self.assertLess(abs(energy - exact[0]), 50 * accuracy)
                self.assertLess(abs(virial - exact[2]).max(), 50 * accuracy)
                # Derivatives in k space: actions are opposite to reactions.
                self.assertLess(abs(force.sum(axis=0)).max(), 1e-4)

    def test_a_slab(self):
        """Against the sum over wave vectors."""
        h = tilted(7, 8, 9, 1.5)
        p, q = scattered(40, h, 0.7, 1, 0.1, 0.9), self.neutral(40)
        system = {**self.data(p, q, h), "periodic": [True, True, False]}
        force = {"type": "ewald", "cutoff": 3, "accuracy": 1e-5, "slab": 4}
        energy, forces, virial = self.measured(ChargeCase.job(self, system, [force]))
        found = self.measured(self.job(system, [force]))
        self.assertAlmostEqual(found[0], energy, delta=1e-4)
        numpy.testing.assert_allclose(found[1], forces, atol=1e-4)
        numpy.testing.assert_allclose(found[2], virial, atol=5e-4)

    def test_threads_do_not_matter(self):
        """Charges are spread in fixed point: not to the last bit."""
        job = self.ions(50)
        found = []
        for threads in ("1", "2", "3", "9"):  # more than eight share one mesh
            self.run_job(job, threads=threads)
            found.append(self.frames("force"))
        for other in found[1:]:
            numpy.testing.assert_array_equal(found[0], other)

    def test_axes_of_a_mesh_are_alike(self):
        """On the CPU points along z are numbers of a vector; here also the fewest there are."""
        h = tilted(4, 5, 6)
        p, q = scattered(30, h, 0.5), self.neutral(30)
        for order, size in ((3, [6, 10, 16]), (4, [16, 18, 8]), (5, [10, 12, 20]),
                            (8, [16, 24, 20])):
            force = {"type": "ewald", "cutoff": 1.9, "splitting": 0.9}
            found = []
            for turn in (1, -1):
                system = self.data(p[:, ::turn], q, h[::turn, ::turn])
                found.append(self.measured(ChargeCase.job(self, system, [
                    {**force, "mesh": {"order": order, "size": size[::turn]}}])))
            self.assertAlmostEqual(found[0][0], found[1][0], delta=1e-4)
            numpy.testing.assert_allclose(found[0][1], found[1][1][:, ::-1], atol=2e-5)

    def test_mistakes_of_the_mesh(self):
        job = self.ions(0)
        ewald = {**job["forces"][1], "mesh": {}}
        for change, message in (
                ({"k_max": 3}, r"forces\[1\].k_max: has no effect with \"mesh\""),
                ({"splitting": 1}, r"forces\[1\].accuracy: is chosen by splitting"),
                ({"splitting": 1, "accuracy": None}, r"forces\[1\].mesh.size: is missing"),
                ({"mesh": {"size": [30, 30, 34]}},
                 r"mesh.size: must be even products of 2, 3 and 5, got 34; the next is 36"),
                ({"mesh": {"size": [30, 30, 8]}},
                 r"mesh.size: must be at least twice the order along each axis, 12, got 8"),
                ({"splitting": 1, "accuracy": None, "mesh": {"size": [2048, 2048, 512]}},
                 r"mesh.size: must have less than 2\^31 = 2147483648 points in all, got 2048 × "
                 r"2048 × 512 = 2147483648"),
                ({"accuracy": 1e-12, "cutoff": 0.9},
                 r"forces\[1\].mesh: needs more than 6e\+07 points"),
                ({"mesh": {"order": 9}}, r"forces\[1\].mesh.order: must be ")):
            changed = {k: v for k, v in {**ewald, **change}.items() if v is not None}
            self.refused({**job, "forces": [job["forces"][0], changed]}, message)
        self.refused({**job, "forces": [job["forces"][0], {**ewald, "net_charge": "background"}],
                      "attributes": {"charge": {"types": {"A": 1, "B": -1},
                                                "changes": "charge*t"}}},
                     r"forces\[1\].mesh: is not for charges that change")


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
