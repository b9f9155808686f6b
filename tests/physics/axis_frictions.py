#!/usr/bin/python3
"""Frictions along and about the axes of particles: displacements and turns of free particles
against theory, forces, rigid bodies, resumed runs and several processes, mistakes.

    axis_frictions.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import h5py
import numpy

from job_case import JobCase

KT, DT = 1.5, 0.002
XI = numpy.array([1.0, 2.0, 4.0])
BROWNIAN = {"type": "brownian", "timestep": DT, "temperature": KT}
GAY_BERNE = {"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift",
             "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
SPACE = {"type": "lattice", "structure": "sc", "density": 0.03, "cells": [24, 24, 24]}
PLANE = {"type": "lattice", "structure": "square", "density": 0.3, "cells": [110, 110, 1]}


def job(integrator, *forces, steps, stride, system=SPACE, **more):
    return {"seed": 7, "system": system, "orientations": {"start": "random"},
            "forces": list(forces),
            "observers": [{"type": "trajectory", "stride": stride, "positions": "unwrapped",
                           "precision": "double", "quantities": ["position", "orientation"]},
                          {"type": "checkpoint"}],
            "stages": [{"type": "md", "steps": steps, "integrator": integrator}], **more}


def frames_of(q):
    """[particle][axis]: the axes of each frame in space; quaternions with w first."""
    w, x, y, z = q.T
    return numpy.stack([
        numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1),
        numpy.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], 1),
        numpy.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], 1)], 1)


class AxisFrictions(JobCase):
    overwrite = True

    def moved(self, folder="."):
        """Positions, and the axes of all frames."""
        with h5py.File(self.path(folder, "trajectory.h5")) as file:
            order = [c.decode() if isinstance(c, bytes) else c for c in
                     file["particles/all/orientation"].attrs["components"]]
            q = file["particles/all/orientation/value"][:].astype(float)
        q = q[:, :, [order.index(c) for c in "wxyz"]]
        return self.frames("position", folder), numpy.array([frames_of(one) for one in q])

    def along(self, way, frame):
        """Displacements along the three axes of frames."""
        return numpy.einsum("pac,pc->pa", frame, way)

    def check_variances(self, found, expected):
        """Of Gaussian numbers of mean 0: within four standard errors."""
        error = numpy.sqrt(2 / len(found)) * numpy.asarray(expected)
        numpy.testing.assert_array_less(abs((found ** 2).mean(0) - expected), 4 * error)
        mean = numpy.sqrt(numpy.asarray(expected) / len(found))
        numpy.testing.assert_array_less(abs(found.mean(0)), 4 * mean)

    def test_a_step(self):
        """Frames that stay: <(dr·e)²> = 2 kT dt/xi along each axis, and no correlation of two."""
        for noise in ("gaussian", "uniform"):
            self.run_job(job({**BROWNIAN, "frictions_of_axes": {"A": list(XI)}, "noise": noise},
                             steps=1, stride=1))
            p, frame = self.moved()
            numpy.testing.assert_array_equal(frame[1], frame[0])
            way = self.along(p[1] - p[0], frame[0])
            self.check_variances(way, 2 * KT * DT / XI)
            scaled = way / numpy.sqrt(2 * KT * DT / XI)
            for a, b in ((0, 1), (0, 2), (1, 2)):
                self.assertLess(abs((scaled[:, a] * scaled[:, b]).mean()),
                                4 / math.sqrt(len(way)))

    def test_rods_move_and_turn(self):
        """D1 along the axis, D2 across, D3 of rotation: along the axis that it had a rod goes, in
        steps of which each is along the axis as it then is,
        <r²> = 2 d t + 4/3 (D1 - D2) sum dt exp(-6 D3 t), d = (D1 + 2 D2)/3, which is that of a
        long time; across half as much less. Axes go as <u(t)·u(0)> = exp(-2 D3 t)."""
        d1, d2, d3, steps = 2.0, 0.4, 0.8, 600
        self.run_job(job({**BROWNIAN, "frictions_of_axes": {"A": [KT / d1, KT / d2, KT / d2]},
                          "rotational_frictions_of_axes": {"A": [0, KT / d3, KT / d3]}},
                         steps=steps, stride=50))
        p, frame = self.moved()
        for k in (1, 2, 12):  # times of 0.1, 0.2 and 1.2; exp(-6 D3 t): 0.62, 0.38, 0.003
            n, t = 50 * k, 50 * k * DT
            total = sum(DT * math.exp(-6 * d3 * j * DT) for j in range(1, n + 1))
            mean = 2 * (d1 + 2 * d2) / 3 * t
            way = self.along(p[k] - p[0], frame[0])
            expected = mean + (d1 - d2) * total * numpy.array([4 / 3, -2 / 3, -2 / 3])
            # Not Gaussian: the error of a mean is taken from the numbers themselves.
            squares = way ** 2
            error = squares.std(0) / math.sqrt(len(way))
            numpy.testing.assert_array_less(abs(squares.mean(0) - expected),
                                            4 * error + 2e-3 * mean)
            self.assertLess(error.max(), 0.03 * mean)
            overlap = (frame[k, :, 0] * frame[0, :, 0]).sum(1)
            self.assertLess(abs(overlap.mean() - math.exp(-2 * d3 * t)),
                            4 * math.sqrt(0.5 / len(overlap)))
        # At last nothing is left of the axis that a rod had: in every direction d.
        found = ((p[12] - p[8]) ** 2).mean(0) / (2 * 200 * DT)
        self.assertLess(abs(found / ((d1 + 2 * d2) / 3) - 1).max(), 0.06)

    def test_turns_about_three_axes(self):
        """<e(t)·e(0)> = exp(-(D' + D'') t) with the coefficients of the two other axes (L. D.
        Favro, Phys. Rev. 119, 53 (1960)); by Langevin dynamics with small moments of inertia, too:
        there the decay begins after the time I/xi."""
        d = numpy.array([0.4, 1.0, 2.0])
        given = {"friction": 1, "rotational_frictions_of_axes": {"A": list(KT / d)}}
        small = 0.002
        for text, late in (
                (job({**BROWNIAN, **given}, steps=100, stride=100), numpy.zeros(3)),
                (job({**BROWNIAN, **given, "type": "langevin", "timestep": 5e-4}, steps=400,
                     stride=400, velocity={"temperature": KT}), small * d / KT)):
            if late.any():
                text["orientations"]["moments_of_inertia"] = {"A": [small] * 3}
            self.run_job(text)
            _, frame = self.moved()
            overlap = (frame[1] * frame[0]).sum(2)
            times = 0.2 - late
            expected = numpy.exp(-(d * times).sum() + d * times)
            self.assertLess(abs(overlap.mean(0) - expected).max(),
                            4 * math.sqrt(0.5 / len(overlap)) + 3e-3 * late.any())

    def test_in_a_plane(self):
        """The same as in space, with <cos 2φ> = exp(-4 D3 t)."""
        d1, d2, d3, n = 2.0, 0.4, 0.8, 150
        self.run_job(job({**BROWNIAN, "frictions_of_axes": {"A": [KT / d1, KT / d2]},
                          "rotational_friction": KT / d3}, steps=n, stride=n, system=PLANE))
        p, frame = self.moved()
        self.assertEqual(abs(p[1] - p[0])[:, 2:].sum(), 0)
        way = p[1] - p[0]
        way = numpy.einsum("pac,pc->pa", frame[0, :, :2, :2], way[:, :2])
        total = sum(DT * math.exp(-4 * d3 * j * DT) for j in range(1, n + 1))
        expected = (d1 + d2) * n * DT + (d1 - d2) * total * numpy.array([1, -1])
        squares = way ** 2
        error = squares.std(0) / math.sqrt(len(way))
        numpy.testing.assert_array_less(abs(squares.mean(0) - expected), 4 * error)

    def test_forces_pull_along_axes(self):
        """At temperature 0 a particle goes M F dt, with M = sum e e/xi over the axes; a type
        without frictions of axes F dt/xi; also in a trap, alone."""
        system = {**SPACE, "types": {"A": 1, "B": 1}}
        pull = numpy.array([30.0, -20.0, 10.0])
        cold = {**BROWNIAN, "temperature": 0, "frictions": {"B": 3},
                "frictions_of_axes": {"A": list(XI)}}
        trap = {"type": "harmonic_trap", "stiffness": [30, 20, 10], "unwrapped": True}
        for force in ({"type": "constant_force", "force": list(pull)}, trap):
            self.run_job(job(cold, force, steps=1, stride=1, system=system))
            p, frame = self.moved()
            with h5py.File(self.path("trajectory.h5")) as file:
                of_a = file["particles/all/species"][()] == 0
                edge = numpy.ravel(file["particles/all/box/edges/value"][0])[0]
            f = pull if force is not trap else -(p[0] - edge / 2) * [30, 20, 10]
            f = numpy.broadcast_to(f, p[0].shape)
            expected = numpy.einsum("pac,pa->pc", frame[0], self.along(f, frame[0]) / XI) * DT
            self.assertEqual(of_a.sum(), len(p[0]) // 2)
            both = numpy.where(of_a[:, None], expected, f / 3 * DT)
            numpy.testing.assert_allclose(p[1] - p[0], both, atol=2e-5 * abs(both).max())

    def test_rigid_bodies(self):
        """Centres move as particles do; sites keep their distances."""
        text = job({**BROWNIAN, "frictions_of_axes": {"D": list(XI)},
                    "rotational_frictions_of_axes": {"D": [1, 2, 3]}}, steps=1, stride=1,
                   system={**SPACE, "cells": [16, 16, 16], "types": {"D": 1}},
                   bodies={"D": {"sites": [{"type": "A", "at": [0.35, 0.1, 0]},
                                           {"type": "A", "at": [-0.35, 0.1, 0]},
                                           {"type": "A", "at": [0, -0.2, 0]}]}})
        self.run_job(text)
        p, frame = self.moved()
        n = 16 ** 3
        # The mobility is that of the frame as it is after the step's turn.
        self.check_variances(self.along(p[1, :n] - p[0, :n], frame[1, :n]), 2 * KT * DT / XI)
        self.assertGreater(abs(frame[1, :n] - frame[0, :n]).max(), 0.05)
        at = (p[:, n:] - numpy.repeat(p[:, :n], 3, axis=1))
        numpy.testing.assert_allclose((at[1] ** 2).sum(1), (at[0] ** 2).sum(1), atol=1e-5)

    def interacting(self):
        """Rods that touch, in a trap, with a second type and a barostat; and a plane."""
        rods = {**BROWNIAN, "timestep": 2e-4, "frictions_of_axes": {"A": [1, 2, 3]},
                "frictions": {"B": 2}, "rotational_frictions_of_axes": {"A": [0.1, 0.3, 0.4]},
                "rotational_friction": 0.2}
        two = {**GAY_BERNE, "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                      for t in ("AA", "AB", "BB")]}
        system = {"type": "lattice", "structure": "sc", "density": 0.06, "cells": [8, 8, 8],
                  "types": {"A": 1, "B": 1}}
        pressed = {**rods, "barostat": {"pressure": 0.5, "tau": 0.2}}
        flat = {**BROWNIAN, "timestep": 2e-4, "frictions_of_axes": {"A": [1, 2]},
                "rotational_friction": 0.2}
        wca = {"type": "wca", "pairs": GAY_BERNE["pairs"]}
        more = {"steps": 200, "stride": 50}
        return {"trap": job(rods, two, {"type": "harmonic_trap", "stiffness": [0.5] * 3},
                            system=system, **more),
                "barostat": job(pressed, two, system=system, **more),
                "plane": job(flat, wca, system={**PLANE, "cells": [20, 20, 1]}, **more)}

    def state(self, folder):
        return {name: self.words(name, folder).tobytes()
                for name in ("orientation", "torque", "position")}

    def test_stopped_and_resumed(self):
        self.check_resumed(self.interacting())

    def test_any_number_of_processes(self):
        self.check_processes(self.interacting())

    def test_mistakes(self):
        axes = {**BROWNIAN, "frictions_of_axes": {"A": [1, 2, 3]}}

        def wrong(pattern, integrator=None, system=SPACE, stage=(), **more):
            text = job({**axes, **(integrator or {})}, steps=1, stride=1, system=system, **more)
            text["stages"][0].update(stage)
            text = {k: v for k, v in text.items() if v is not None}
            self.refused(text, pattern)
        wrong("frictions_of_axes: has no effect: particles have no orientations", orientations=None,
              observers=None)
        wrong('frictions_of_axes.Q: unknown particle type "Q"',
              {"frictions_of_axes": {"A": [1, 1, 1], "Q": [1, 2, 3]}})
        wrong(r"frictions_of_axes.A\[1\]: must be positive",
              {"frictions_of_axes": {"A": [1, 0, 1]}})
        wrong(r"frictions_of_axes.A: must have no z component in two dimensions",
              system=PLANE)
        wrong("frictions_of_axes.A: give this type either", {"frictions": {"A": 1}})
        wrong(r'method: must be ermak_mccammon with frictions_of_axes',
              {"method": "leimkuhler_matthews"})
        wrong(r'frictions_of_axes: is not possible where particles move along "xy" alone',
              {"axes": "xy"})
        wrong("viscosity: give either viscosity, or friction", {"viscosity": 1})
        wrong("shear: is not possible with this integrator .*has frictions of axes",
              stage={"shear": {"rate": 1}})
        turning = {"rotational_frictions_of_axes": {"A": [1, 2, 3]}}
        wrong("rotational_frictions_of_axes.A: give this type either",
              {**turning, "rotational_frictions": {"A": 1}})
        wrong("rotational_frictions_of_axes: in two dimensions particles turn about z alone",
              {**turning, "frictions_of_axes": {"A": [1, 2]}}, system=PLANE)
        wrong('unknown key; expected one of', {"type": "langevin"})


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
