#!/usr/bin/python3
"""Active particles against what is known exactly: mean square displacements, correlations of
directions, circles, harmonic traps; the same bits however a run is cut, resumed and shared out.

    active.py PERRIN [unittest arguments]

Tolerances are five standard errors of the mean over particles, which are independent, and where
the step is Euler's the expected value is that of the step, not of its limit.
"""

import json
import math
import shutil
import subprocess
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, PERRIN, JobCase

ERRORS = 5
LJ = {"type": "lennard_jones", "cutoff": 2.5,
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}


def brownian(**more):
    return {"type": "active_brownian", "timestep": 0.002, "temperature": 0, "friction": 2,
            "speed": 3, **more}


def tumbling(**more):
    return {"type": "run_and_tumble", "timestep": 0.002, "friction": 2, "speed": 3,
            "tumble_rate": 1.5, **more}


def persistent(**more):
    return {"type": "active_ornstein_uhlenbeck", "timestep": 0.002, "friction": 2, "speed": 3,
            "persistence_time": 0.7, **more}


def persistent_square(rate, t):
    """The mean square displacement of a walker of speed 1 whose direction is correlated as
    exp(-rate t)."""
    return 2 / rate**2 * (rate * t - 1 + numpy.exp(-rate * t))


def kept_in_a_turn(diffusion, dt, dimension):
    """The mean cosine of the angle by which an axis turns in a step: about z by a normal number, or
    about a vector of three of them."""
    s2 = 2 * diffusion * dt
    if dimension == 2:
        return math.exp(-s2 / 2)
    return (1 + 2 * (1 - s2) * math.exp(-s2 / 2)) / 3


class Active(JobCase):
    overwrite = True

    def job(self, integrator, dimension=2, n=20000, steps=1000, stride=100, start="random", **more):
        md = {"type": "md", "steps": steps}
        md |= {"integrators": integrator} if isinstance(integrator, list) else {
            "integrator": integrator}
        job = {"seed": 11, "orientations": {"start": start},
               "system": {"type": "random", "particles": {"A": n}, "density": 0.5,
                          "min_distance": 0, "dimension": dimension},
               "observers": [{"type": "trajectory", "stride": stride, "quantities": ["image"]}],
               "stages": [md], **more}
        if not start:
            del job["orientations"]
        return job

    def paths(self, job, folder="."):
        """Of all particles [frame, id, axis], without a jump at a face."""
        self.run_job(job, folder=folder)
        with h5py.File(self.path(folder, "trajectory.h5")) as h:
            of = h["particles/all"]
            edges = of["box/edges"]
            edges = edges["value"][0] if isinstance(edges, h5py.Group) else edges[()]
            edges = numpy.diag(edges) if edges.ndim == 1 else edges
            origin = h["parameters/perrin/box_origin"]
            origin = origin["value"][0] if isinstance(origin, h5py.Group) else origin[()]
            return of["position/value"][:].astype(float) + of["image/value"][:] @ edges + origin

    def expect_mean(self, what, values, expected):
        """values: of independent particles along the last axis."""
        mean = values.mean(axis=-1)
        error = values.std(axis=-1) / math.sqrt(values.shape[-1])
        off = (mean - expected) / numpy.maximum(error, 1e-12)
        self.assertLess(numpy.abs(off).max(), ERRORS, f"{what}: {mean} for {expected}")

    def expect_displacements(self, job, square):
        """square(t): the mean square displacement in all dimensions."""
        x = self.paths(job)
        t = (numpy.arange(len(x)) * job["observers"][0]["stride"] *
             job["stages"][0]["integrator"]["timestep"])
        self.expect_mean("square displacements", ((x - x[0])**2).sum(axis=2)[1:], square(t[1:]))
        if job["system"]["dimension"] == 2:
            self.assertEqual(numpy.abs(x[..., 2] - x[0, :, 2]).max(), 0)

    # Free particles.

    def test_active_brownian_displacements(self):
        """D_r is given, or follows from the friction of the rotation."""
        for d in (2, 3):
            for rotation, kt in (({"rotational_diffusion": 0.8}, 0.5),
                                 ({"rotational_friction": 0.625}, 0.5),
                                 ({"rotational_diffusion": 0.8}, 0)):
                with self.subTest(dimension=d, rotation=rotation, kt=kt):
                    self.expect_displacements(
                        self.job(brownian(temperature=kt, **rotation), d),
                        lambda t: 2 * d * kt / 2 * t + 9 * persistent_square((d - 1) * 0.8, t))

    def test_run_and_tumble_displacements(self):
        """Tumbles alone, and with rotational diffusion between them: rates add up."""
        for d in (2, 3):
            self.expect_displacements(self.job(tumbling(), d),
                                      lambda t: 9 * persistent_square(1.5, t))
        self.expect_displacements(
            self.job(tumbling(rotational_diffusion=0.5, temperature=0.2), 3),
            lambda t: 6 * 0.1 * t + 9 * persistent_square(1.5 + 2 * 0.5, t))

    def test_ornstein_uhlenbeck_displacements(self):
        for d, kt in ((2, 0), (3, 0.4)):
            self.expect_displacements(
                self.job(persistent(temperature=kt), d, start=None),
                lambda t: 2 * d * kt / 2 * t + 9 * persistent_square(1 / 0.7, t))

    def test_circle_swimmers_that_diffuse(self):
        """S. van Teeffelen, H. Löwen, Phys. Rev. E 78, 020101 (2008)."""
        z = 0.5 + 4j
        self.expect_displacements(
            self.job(brownian(rotational_diffusion=0.5, angular_speed=4), 2),
            lambda t: 9 * persistent_square(z, t).real)

    def test_active_velocities(self):
        """Normal, with the variance speed²/d along each axis, correlated as exp(-t/tau) from the
        first step on."""
        x = self.paths(self.job(persistent(timestep=0.02), 3, stride=1, steps=60, start=None))
        v = numpy.diff(x, axis=0) / 0.02
        t = numpy.arange(len(v)) * 0.02
        for axis in range(3):
            self.expect_mean("<v v(0)>", v[..., axis] * v[0, :, axis], 3 * numpy.exp(-t / 0.7))
        self.expect_mean("<v^4>", v[-1, :, 0]**4, 3 * 9)

    def test_directions(self):
        """First and second harmonics: exp(-l (l + d - 2) D_r t) in the limit of short steps; of
        tumbles all alike."""
        dt, d_r = 0.005, 0.9
        for d in (2, 3):
            job = self.job(brownian(timestep=dt, rotational_diffusion=d_r), d, stride=1, steps=80)
            x = self.paths(job)
            u = numpy.diff(x, axis=0) / (3 * dt)
            numpy.testing.assert_allclose((u**2).sum(axis=2), 1, atol=5e-3)  # of floats
            cosine = (u * u[0]).sum(axis=2)[1:]
            n = numpy.arange(1, len(u))
            self.expect_mean("<u u(0)>", cosine, kept_in_a_turn(d_r, dt, d)**n)
            second = 2 * cosine**2 - 1 if d == 2 else 1.5 * cosine**2 - 0.5
            self.expect_mean("second", second, numpy.exp(-(4 if d == 2 else 6) * d_r * n * dt))
            self.expect_mean("isotropic", u[-1, :, 0]**2, 1 / d)
            x = self.paths(self.job(tumbling(timestep=dt), d, stride=1, steps=80))
            u = numpy.diff(x, axis=0) / (3 * dt)
            cosine = (u * u[0]).sum(axis=2)[1:]
            left = numpy.exp(-1.5 * n * dt)
            self.expect_mean("<u u(0)>", cosine, left)
            second = 2 * cosine**2 - 1 if d == 2 else 1.5 * cosine**2 - 0.5
            self.expect_mean("second", second, left)
            # Runs are straight: the same direction, to the bit of a position, or a new one.
            straight = numpy.isclose(cosine[-1], 1, rtol=0, atol=5e-3).mean()
            chance = math.acos(1 - 5e-3) / math.pi if d == 2 else 2.5e-3
            self.assertAlmostEqual(straight, left[-1] + (1 - left[-1]) * chance, delta=5 * 0.0035)

    def test_types(self):
        """Every number by type; B is passive."""
        for integrator, rate in (
                (brownian(temperature=0.5, frictions={"B": 1}, speeds={"B": 0, "C": 1},
                          rotational_diffusion=0.8, rotational_diffusions={"C": 2}), (0.8, 2)),
                (tumbling(temperature=0.5, frictions={"B": 1}, speeds={"B": 0, "C": 1},
                          tumble_rates={"C": 0.5}), (1.5, 0.5))):
            job = self.job(integrator, 2)
            job["system"]["particles"] = {"A": 15000, "B": 15000, "C": 15000}
            x = self.paths(job)
            t = numpy.arange(1, len(x)) * 0.2
            square = ((x - x[0])**2).sum(axis=2)[1:]
            self.expect_mean("A", square[:, :15000], t + 9 * persistent_square(rate[0], t))
            self.expect_mean("B", square[:, 15000:30000], 2 * t)
            self.expect_mean("C", square[:, 30000:], t + persistent_square(rate[1], t))

    def test_groups(self):
        """Integrators for groups: each moves and turns its own alone."""
        n = 12000
        job = self.job([{**brownian(rotational_diffusion=0.8), "group": "one"},
                        {**tumbling(), "group": "two"},
                        {**persistent(), "group": "three"},
                        {"type": "frozen", "timestep": 0.002, "group": "four"}], 3, n=4 * n,
                       steps=500)
        job["groups"] = {name: {"ids": [[k * n, (k + 1) * n - 1]]}
                         for k, name in enumerate(("one", "two", "three", "four"))}
        x = self.paths(job)
        t = numpy.arange(1, len(x)) * 0.2
        square = ((x - x[0])**2).sum(axis=2)[1:]
        for k, rate in enumerate((1.6, 1.5, 1 / 0.7)):
            self.expect_mean("group", square[:, k * n:(k + 1) * n], 9 * persistent_square(rate, t))
        self.assertEqual(square[:, 3 * n:].max(), 0)

    def test_speeds_by_attribute(self):
        """Particles of one type with a speed of their own."""
        for d, kt, rate, integrator in (
                (2, 0.5, 0.8, brownian(temperature=0.5, rotational_diffusion=0.8)),
                (3, 0, 1 / 0.7, persistent())):
            self.by_attribute(integrator, "speed", "v")
            job = self.job(integrator, d, n=24000, steps=500,
                           start=None if "persistence_time" in integrator else "random",
                           attributes={"v": {"from": "if(x < 0, 1, 4)"}})
            x = self.paths(job)
            t = numpy.arange(1, len(x)) * 0.2
            square = ((x - x[0])**2).sum(axis=2)[1:]
            for speed, chosen in ((1, x[0, :, 0] < 0), (4, x[0, :, 0] >= 0)):
                self.assertGreater(chosen.sum(), 10000)
                self.expect_mean(f"{integrator['type']}, {speed}", square[:, chosen],
                                 2 * d * kt / 2 * t + speed**2 * persistent_square(rate, t))

    # Without noise.

    def test_drives_that_change(self):
        """Straight paths, of what a drive is at the beginning of each step; another integrator
        takes over on the way, of two groups."""
        dt, n = 0.01, 40
        still = {"timestep": dt, "temperature": 0, "friction": 2, "rotational_friction": 1}
        swims = {"type": "active_brownian", **still, "speed_attribute": "v"}
        is_pushed = {"type": "brownian", **still}
        push = {"type": "active_force", "force_attribute": "v"}
        for change, growth in (
                ({"changes": "v*(1 + 20*t)"}, 1 + 20 * dt * numpy.arange(n)),
                ({"updates": {"formula": "v + u", "every": 10, "between": [0, 99]}},
                 1 + numpy.arange(n) // 10)):
            for integrator, forces, friction in ((swims, [], 1), (is_pushed, [push], 2)):
                job = self.job(integrator, n=100, stride=10)
                job["system"]["particles"] = {"A": 50, "B": 50}
                job["attributes"] = {"u": {"types": {"A": 1, "B": 3}}, "v": {"from": "u", **change}}
                job["groups"] = {"odd": {"ids": list(range(1, 100, 2))}, "even": {"not": ["odd"]}}
                job["forces"] = forces
                job["stages"] = [
                    {"type": "md", "steps": n // 2, "integrator": integrator},
                    {"type": "md", "steps": n // 2, "name": "groups", "integrators": [
                        {**integrator, "group": name} for name in job["groups"]]}]
                x = self.paths(job)
                moved = numpy.linalg.norm(x - x[0], axis=2)
                u = numpy.repeat([1, 3], 50)
                path = numpy.concatenate([[0], numpy.cumsum(growth * dt / friction)])[::10]
                numpy.testing.assert_allclose(moved, path[:, None] * u, atol=2e-5)

    def expect_circles(self, x, radius, closed):
        """x: [frame, id, axis] of one turn; frames are even parts of it."""
        center = x[:-1].mean(axis=0)
        distance = numpy.sqrt(((x - center)**2).sum(axis=2))
        numpy.testing.assert_allclose(distance, radius, rtol=closed)
        numpy.testing.assert_allclose(x[-1], x[0], atol=closed * radius)

    def test_circles(self):
        """The polygon of 400 steps, of the radius v dt / (2 sin(omega dt / 2)); in space each has a
        plane of its own."""
        dt = 0.005
        omega = 2 * math.pi / (400 * dt)
        radius = 3 * dt / (2 * math.sin(omega * dt / 2))
        for d in (2, 3):
            for integrator in (brownian(timestep=dt, rotational_diffusion=0, angular_speed=omega),
                               tumbling(timestep=dt, tumble_rate=0, angular_speed=-omega)):
                x = self.paths(self.job(integrator, d, n=100, steps=400, stride=10))
                self.expect_circles(x, radius, 2e-4)
                area = numpy.cross(x[1] - x[0], x[2] - x[1])
                area /= numpy.linalg.norm(area, axis=1)[:, None]
                if d == 2:
                    numpy.testing.assert_allclose(area[:, 2], math.copysign(1, integrator[
                        "angular_speed"]), rtol=1e-6)
                else:
                    self.assertLess(numpy.linalg.norm(area.mean(axis=0)), 5 / math.sqrt(100))

    def test_active_force(self):
        """Force and torque are a speed and an angular speed where motion is overdamped."""
        dt = 0.005
        omega = 2 * math.pi / (400 * dt)
        radius = 3 * dt / (2 * math.sin(omega * dt / 2))
        passive = {"timestep": dt, "temperature": 0, "friction": 2, "rotational_friction": 0.5}
        for integrator in ({"type": "brownian", **passive},
                           {"type": "active_brownian", **passive, "speed": 0}):
            for d in (2, 3):
                job = self.job(integrator, d, n=100, steps=400, stride=10)
                job["forces"] = [{"type": "active_force", "force": 6, "torque": 0.5 * omega}]
                self.expect_circles(self.paths(job), radius, 2e-4)
        # Of one type, on one group, and several of them.
        job["system"]["particles"] = {"A": 100, "B": 100}
        job["groups"] = {"others": {"not": ["some"]}, "some": {"ids": [[0, 49], 150]}}
        job["forces"] = [{"type": "active_force", "force": 2, "types": ["A"]},
                         {"type": "active_force", "force": 4, "torque": 1, "on": "others"},
                         {"type": "active_force", "force": 3, "torque": 0.5, "types": ["B"],
                          "on": "some"}]
        x = self.paths(job)
        moved = numpy.sqrt(((x[1] - x[0])**2).sum(axis=1))
        turned = numpy.zeros(200)
        step = numpy.diff(x, axis=0)
        length = numpy.linalg.norm(step, axis=2)
        going = length[0] > 0
        turned[going] = numpy.arccos(numpy.clip(
            (step[1] * step[0]).sum(axis=1)[going] / (length[0] * length[1])[going], -1, 1))
        force, torque = numpy.zeros(200), numpy.zeros(200)
        some = numpy.zeros(200, bool)
        some[:50] = some[150] = True
        is_a = numpy.arange(200) < 100
        force += 2 * is_a + 4 * ~some + 3 * (~is_a & some)
        torque += 1.0 * ~some + 0.5 * (~is_a & some)
        half = torque / 0.5 * dt / 2
        chord = numpy.where(half > 0, numpy.sin(10 * half) / numpy.sin(numpy.maximum(half, 1e-9)),
                            10)
        numpy.testing.assert_allclose(moved, force / 2 * dt * chord, rtol=2e-4)
        numpy.testing.assert_allclose(turned, 20 * half, atol=5e-3)

    def test_inertia(self):
        """langevin and active_force at temperature 0: m v' = -xi v + f u with u turning at the
        speed omega: a circle of the radius f / (omega sqrt(xi² + m² omega²))."""
        dt, omega, xi, f = 0.005, 2 * math.pi / 2, 2, 6
        for d in (2, 3):
            job = self.job({"type": "langevin", "timestep": dt, "temperature": 0, "friction": xi,
                            "rotational_friction": 0.5}, d, n=100, steps=4000, stride=10)
            job["orientations"]["moments_of_inertia"] = {"A": [0.1, 0.1, 0.1]}
            job["forces"] = [{"type": "active_force", "force": f, "torque": 0.5 * omega}]
            x = self.paths(job)[-41:]
            self.expect_circles(x, f / (omega * math.sqrt(xi**2 + omega**2)), 2e-3)

    def test_rigid_bodies(self):
        """Forces on the sites of a body turn it as in brownian."""
        paths = []
        for integrator in ({"type": "brownian"}, {"type": "active_brownian", "speed": 0}):
            job = self.job({**integrator, "timestep": 0.002, "temperature": 0,
                            "frictions": {"A": 2}, "rotational_frictions": {"A": 0.5},
                            **({"friction": 1} if integrator["type"] == "brownian" else {})},
                           2, n=50, steps=500)
            job["bodies"] = {"A": {"sites": [{"type": t, "at": [x, 0, 0]}
                                             for t, x in (("B", 0.5), ("C", -0.5))]}}
            job["forces"] = [{"type": "constant_force", "force": [1, 2, 0], "types": ["B"]},
                             {"type": "harmonic_trap", "stiffness": [0.2, 0.1, 0],
                              "unwrapped": True}]
            paths.append(self.paths(job))
        numpy.testing.assert_allclose(paths[1], paths[0], atol=2e-3)
        turned = paths[0][:, 50::2] - paths[0][:, :50]
        self.assertGreater(numpy.abs(turned[-1] - turned[0]).max(), 0.5)
        del job["stages"][0]["integrator"]["rotational_frictions"]
        job["stages"][0]["integrator"]["rotational_diffusion"] = 0.1
        self.refused(job, "rotational_friction: is needed for rigid bodies")

    # In a trap.

    def test_trap(self):
        """<r²> of the step x' = (1 - k dt/xi) x + v dt + noise in its steady state; in the limit
        of short steps d kT / k + v² / (k/xi (k/xi + rate))."""
        k, xi, dt, kt, v = 4, 2, 0.005, 0.3, 3
        rho = 1 - k / xi * dt
        common = {"timestep": dt, "temperature": kt}
        for d, integrator, kept in (
                (2, brownian(**common, rotational_diffusion=1.2), kept_in_a_turn(1.2, dt, 2)),
                (3, brownian(**common, rotational_diffusion=1.2), kept_in_a_turn(1.2, dt, 3)),
                (2, tumbling(**common), math.exp(-1.5 * dt)),
                (2, persistent(**common), math.exp(-dt / 0.7)),
                (3, persistent(**common), math.exp(-dt / 0.7))):
            job = self.job(integrator, d, n=20000, steps=1600, stride=800)
            job["forces"] = [{"type": "harmonic_trap", "stiffness": [k, k, k if d == 3 else 0],
                              "unwrapped": True}]
            x = self.paths(job)[-1]
            expected = (d * kt / k / (1 - k * dt / xi / 2) +
                        (v * dt)**2 * (1 + rho * kept) / ((1 - rho**2) * (1 - rho * kept)))
            self.expect_mean(f"{integrator['type']} in {d}", (x**2).sum(axis=1), expected)

    # However a run is cut.

    def content(self, folder, name="trajectory.h5"):
        found = {}
        with h5py.File(self.path(folder, name)) as h:
            def add(path, node):
                if isinstance(node, h5py.Dataset) and node.dtype.kind in "iuf":
                    found[path] = node[()]
            h["particles"].visititems(add)
        return found

    def expect_same(self, one, other):
        a, b = self.content(one), self.content(other)
        self.assertEqual(a.keys(), b.keys())
        for path in a:
            numpy.testing.assert_array_equal(a[path], b[path], f"{path} of {one} and {other}")

    def dense_jobs(self):
        more = {"timestep": 0.0005}
        for d, integrator in (
                (2, brownian(**more, temperature=0.5, rotational_friction=0.3)),
                (3, tumbling(**more, temperature=0.5, rotational_diffusion=0.5)),
                (2, persistent(**more)), (3, persistent(**more, temperature=0.5))):
            job = self.job(integrator, d, steps=300, stride=30,
                           start=None if "persistence_time" in integrator else "random")
            job["system"] = {"type": "lattice", "structure": "fcc" if d == 3 else "square",
                             "density": 0.4, "cells": [6, 6, 6] if d == 3 else [20, 20, 1]}
            job["forces"] = [LJ]
            if integrator["type"] != "active_ornstein_uhlenbeck":
                job["forces"].append({"type": "active_force", "force": 1, "torque": 0.4})
            if integrator["type"] == "run_and_tumble":  # each particle has a drive of its own
                job["attributes"] = {
                    "v": {"random": {"uniform": [1, 3]}, "changes": "v*(1 + sin(20*t))"},
                    "f": {"random": {"uniform": [0, 2]}, "updates": {
                        "formula": "max(f - 0.1*(x > 0), 0)", "every": 20}}}
                self.by_attribute(job["stages"][0]["integrator"], "speed", "v")
                self.by_attribute(job["forces"][1], "force", "f")
            job["observers"].append({"type": "checkpoint"})
            if d == 2 and integrator["type"] == "active_brownian":
                sheared = json.loads(json.dumps(job))
                sheared["forces"] = [LJ]
                sheared["stages"][0]["shear"] = {"rate": 5}
                yield sheared
            yield job

    @staticmethod
    def by_attribute(settings, key, name):
        for given in (key, key + "s"):
            settings.pop(given, None)
        settings[f"{key}_attribute"] = name

    def flock(self, strength):
        """Swimmers in a plane that align as in the guide, with a core; the polar order."""
        self.run_job({
            "seed": 4, "system": {"type": "lattice", "structure": "square", "density": 0.6,
                                  "cells": [12, 12, 1]},
            "orientations": {"start": "random", "moments_of_inertia": {"A": [0, 0, 0]}},
            "forces": [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
                       {"type": "anisotropic_formula", "cutoff": 2, "truncation": "cut",
                        "energy": "-J*cos_12*(1 - r/rc)^2",
                        "pairs": [{"types": ["A", "A"], "J": strength, "rc": 2}]}],
            "observers": [{"type": "orientational_order", "stride": 200}],
            "stages": [{"type": "md", "steps": 20000, "integrator": brownian(
                timestep=0.0005, friction=1, speed=1, rotational_diffusion=2,
                temperature=0.1)}]})
        return self.column("polar_order", file="orientational_order.h5")[40:].mean()

    def test_alignment_without_force(self):
        """Of two that stand still the angle between them closes as tan(a/2) = tan(a0/2)
        exp(-2 J t / xi_r), and nobody is pushed."""
        j, xi, dt, n = 1.5, 0.5, 0.0005, 400
        pairs = 8
        at = [(10 * p + x, 10, 10) for p in range(pairs) for x in (0, 1.9)]
        start = numpy.repeat(numpy.linspace(0.3, 2.8, pairs), 2) * numpy.tile([0.5, -0.5], pairs)
        flat = [(math.cos(a / 2), 0, 0, math.sin(a / 2)) for a in start]
        self.oriented("pairs.xyz", 80, at, flat)
        job = {"seed": 3, "system": {"type": "file", "path": "pairs.xyz"},
               "forces": [{"type": "anisotropic_formula", "cutoff": 2, "truncation": "cut",
                           "energy": "-J*cos_12", "pairs": [{"types": ["A", "A"], "J": j}]}],
               "observers": [{"type": "trajectory", "stride": n,
                              "quantities": ["position", "orientation"]}],
               "stages": [{"type": "md", "steps": n, "integrator": brownian(
                   timestep=dt, speed=0, rotational_friction=xi)}]}
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as h:
            of = h["particles/all"]
            x, q = of["position/value"][:], of["orientation/value"][:].astype(float)
        numpy.testing.assert_array_equal(x[-1], x[0])
        w, i, k, l = numpy.moveaxis(q[-1], -1, 0)
        axis = numpy.stack([1 - 2 * (k * k + l * l), 2 * (i * k + w * l), 2 * (i * l - w * k)], -1)
        angle = numpy.arccos(numpy.clip((axis[::2] * axis[1::2]).sum(axis=1), -1, 1))
        expected = 2 * numpy.arctan(numpy.tan(numpy.linspace(0.3, 2.8, pairs) / 2) *
                                    math.exp(-2 * j * n * dt / xi))
        numpy.testing.assert_allclose(angle, expected, atol=2e-3)  # of Euler's steps

    def test_flocks_align(self):
        """As T. Vicsek et al., Phys. Rev. Lett. 75, 1226 (1995): order above a strength. Without
        interactions the mean of |<u>| of n axes in a plane is (π/n)^1/2 / 2."""
        free = math.sqrt(math.pi / 144) / 2
        # Over 12 times 1/D: each of as many independent samples scatters by half of the mean.
        self.assertLess(abs(self.flock(0) - free), 0.5 * free)
        self.assertGreater(self.flock(1), 0.7)

    def test_types_or_attribute(self):
        """The same bits where an attribute says what the types said, also of numbers that no float
        has."""
        more = {"timestep": 0.0005, "temperature": 0.5}
        for d, integrator in ((2, brownian(**more, rotational_friction=0.3)),
                              (3, persistent(**more))):
            job = self.job(integrator, d, steps=100, stride=20)
            job["system"] = {"type": "lattice", "structure": "sc" if d == 3 else "square",
                             "density": 0.4, "cells": [8, 8, 8] if d == 3 else [20, 20, 1],
                             "types": {"A": 1, "B": 1}}
            job["forces"] = [{**LJ, "mixing": "geometric", "pairs": [
                *LJ["pairs"], {"types": ["B", "B"], "epsilon": 1, "sigma": 1}]}]
            if d == 2:
                job["forces"] += [{"type": "active_force", "force": f, "torque": f / 3,
                                   "types": [name]} for name, f in (("A", 1.1), ("B", 2.3))]
            else:
                del job["orientations"]
            job["stages"][0]["integrator"].update({"speed": 3.3, "speeds": {"B": 0.7}})
            self.run_job(job, folder="types")
            job["attributes"] = {"v": {"types": {"A": 3.3, "B": 0.7}},
                                 "f": {"types": {"A": 1.1, "B": 2.3}},
                                 "m": {"types": {"A": 1.1 / 3, "B": 2.3 / 3}}}
            self.by_attribute(job["stages"][0]["integrator"], "speed", "v")
            if d == 2:
                job["forces"][1:] = [{"type": "active_force", "force_attribute": "f",
                                      "torque_attribute": "m"}]
            self.run_job(job, folder="attribute")
            self.expect_same("types", "attribute")

    def test_cuts(self):
        for job in self.dense_jobs():
            with self.subTest(job["stages"][0]["integrator"]["type"]):
                self.run_job(job, folder="whole")
                cut = json.loads(json.dumps(job))
                cut["observers"].append({"type": "thermo", "stride": 7})
                self.run_job(cut, folder="cut", threads="1")
                self.expect_same("whole", "cut")
                self.run_job(job, "--set", "stages[0].steps=130", folder="resumed")
                done = self.perrin("resume", self.path("resumed", "checkpoint.h5"), "--set",
                                   "stages[0].steps=300", "--device", DEVICE, "--output-dir",
                                   self.path("resumed"))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.expect_same("whole", "resumed")

    @unittest.skipIf(shutil.which("mpirun") is None or DEVICE != "cpu", "processes of a CPU")
    def test_processes(self):
        for job in self.dense_jobs():
            with self.subTest(job["stages"][0]["integrator"]["type"]):
                self.run_job(job, folder="whole")
                job["processes"] = {"particles": 1}
                with open(self.path("several.json"), "w") as out:
                    json.dump(job, out)
                done = subprocess.run(
                    ["mpirun", "-np", "3", "--oversubscribe", "--allow-run-as-root", PERRIN, "run",
                     self.path("several.json"), "--device", "cpu", "--output-dir",
                     self.path("several"), "--overwrite"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.expect_same("whole", "several")

    # What is said.

    def test_temperature_is_that_of_the_bath(self):
        job = self.job(brownian(temperature=0.5, rotational_diffusion=1), 2, n=500, steps=100)
        job["observers"].append({"type": "thermo", "stride": 10})
        self.run_job(job)
        numpy.testing.assert_allclose(self.column("temperature"), 0.5)
        numpy.testing.assert_allclose(self.column("pressure"), 0.5 * 0.5, rtol=1e-6)

    def test_refusals(self):
        def wrong(integrator, pattern, **more):
            self.refused(self.job(integrator, **{"n": 100, **more}), pattern)
        turning = {"rotational_diffusion": 1}
        for integrator in (brownian(**turning), tumbling()):
            wrong(integrator, 'integrator.*add "orientations" to the job', start=None)
        wrong(brownian(), 'rotational_diffusion: is missing for type "A"')
        wrong(brownian(**turning, friction=-1), "friction")
        wrong(brownian(**turning, speeds={"C": 1}), r"speeds\.C: .*A")
        wrong(brownian(**turning, angular_speeds={"C": 1}), r"angular_speeds\.C: .*A")
        wrong({k: v for k, v in tumbling().items() if k != "tumble_rate"},
              'tumble_rate: is missing for type "A"')
        for key in ("friction", "speed"):
            wrong({k: v for k, v in persistent().items() if k != key},
                  f'{key}: is missing for type "A": give {key}, or {key}s by type')
        wrong(persistent(persistence_time=0), "persistence_time")
        # Attributes.
        def of(integrator, *keys, **attribute):
            integrator = {**integrator, "speed_attribute": "v"}
            return self.job({k: v for k, v in integrator.items() if k not in keys}, n=100,
                            **({"attributes": {"v": attribute}} if attribute else {}))
        speeds = brownian(**turning)
        self.refused(of(speeds, "speed"), 'speed_attribute: the particles have no attribute "v"')
        self.refused(of(speeds, default=1), 'speed_attribute: .* cannot stand beside "speed"')
        self.refused(of({**persistent(), "speeds": {"A": 1}}, "speed", default=1),
                     'speed_attribute: .* cannot stand beside "speeds"')
        for attribute, what in (
                ({"default": -1}, 'is -1 for a particle of type "A"'),
                ({"default": 1, "changes": "v - t"}, 'may be -inf by its "changes".*max'),
                ({"default": 1, "updates": {"formula": "v - 1", "every": 5}},
                 'may be less: expected "between" from 0 on')):
            self.refused(of(speeds, "speed", **attribute),
                         f'integrator.speed_attribute: is a speed, .* at least 0, and "v" {what}')
        for force, pattern in (
                ({}, "force, force_attribute, torque(,| or) torque_attribute"),
                ({"force_attribute": "w"}, 'force_attribute: the particles have no attribute "w"'),
                ({"torque": 1, "torque_attribute": "charge"},
                 'torque_attribute: .* cannot stand beside "torque"')):
            wrong(brownian(rotational_friction=1), r"forces\[0\].*" + pattern,
                  forces=[{"type": "active_force", **force}])
        # Torques, and nothing that says how easily particles turn.
        torque = {"forces": [{"type": "active_force", "force": 1, "torque": 1}]}
        for integrator in (brownian(**turning), tumbling(), [{**tumbling(), "group": "all"}]):
            wrong(integrator, r"forces\[0\].*torques turn particles.*rotational_friction", **torque)
        # Where they have no orientations, or nobody turns them; nor do energies know of the force.
        wrong({"type": "velocity_verlet", "timestep": 0.001}, "orientations", start=None, **torque)
        job = self.job(brownian(**turning), n=100, **torque)
        job["stages"] = [{"type": "monte_carlo", "sweeps": 10, "temperature": 1,
                          "translation": {"displacement": 0.1}}]
        self.refused(job, r"forces\[0\].*has no potential, and energies decide")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
