#!/usr/bin/python3
"""Groups in fields, against what is known exactly: flow between walls of particles, and a column of
gas in which one species has weight.

    channels.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import h5py
import numpy

from job_case import JobCase

WCA = {"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
# The same friction in every frame of reference: no drag on what flows.
BATH = {"type": "dpd_thermostat", "temperature": 1, "cutoff": 1.2,
        "pairs": [{"types": ["A", "A"], "gamma": 4.5}]}
NVE = {"type": "velocity_verlet", "timestep": 0.005}
FCC = {"type": "lattice", "structure": "fcc"}


def mean(column, blocks=20):
    """With its error, from blocks."""
    of_blocks = column[:len(column) // blocks * blocks].reshape(blocks, -1).mean(axis=1)
    return of_blocks.mean(), of_blocks.std(ddof=1) / blocks ** 0.5


class Channels(JobCase):
    def viscosity(self, density, rate=0.25):
        """Of the fluid in the bulk, from the stress in steady shear."""
        job = {"seed": 5, "plugins": ["dpd"], "velocity": {"temperature": 1.0},
               "system": {**FCC, "density": density, "cells": [5, 5, 5]}, "forces": [WCA, BATH],
               "observers": [{"type": "thermo", "stride": 5, "stages": ["flow"]}],
               "stages": [{"type": "md", "steps": 2000, "name": "melt", "integrator": NVE,
                           "shear": {"rate": rate}},
                          {"type": "md", "steps": 24000, "name": "flow", "integrator": NVE,
                           "shear": {"rate": rate}}]}
        self.run_job(job, folder="bulk")
        stress, error = mean(self.column("pressure_tensor", "bulk")[:, 0, 1])
        return -stress / rate, error / rate

    def test_poiseuille_flow_between_walls_of_particles(self):
        """A force g on each particle of the fluid: in the steady state the walls take up N g, half
        each, the velocity is a parabola, and its curvature is -n g/eta with the viscosity that the
        same fluid has in the bulk. An error of the force on a group, of walls or of averages shows
        in one of the three."""
        g = 0.1
        groups = {"lower": {"box": [[None, None, None], [None, None, -7]]},
                  "upper": {"box": [[None, None, 7], [None, None, None]]},
                  "fluid": {"not": ["lower", "upper"]}}
        integrators = [{"type": "frozen", "timestep": 0.005, "group": "lower"},
                       {"type": "frozen", "timestep": 0.005, "group": "upper"},
                       {**NVE, "group": "fluid"}]
        job = {"seed": 3, "plugins": ["dpd", "analysis"], "groups": groups,
               "system": {**FCC, "density": 0.8, "cells": [4, 4, 10],
                          "periodic": [True, True, False]},
               "velocity": {"temperature": 1.0},
               "forces": [WCA, BATH, {"type": "constant_force", "force": [g, 0, 0],
                                      "on": "fluid"}],
               "observers": [
                   {"type": "thermo", "stride": 10, "groups": list(groups), "stages": ["flow"]},
                   {"type": "profile", "axis": "z", "bins": 40, "stride": 10, "rows_every": 40000,
                    "stages": ["flow"]},
                   {"type": "trajectory", "stride": 48000, "group": "fluid"}],
               "stages": [{"type": "md", "name": name, "steps": steps, "integrators": integrators}
                          for name, steps in (("start", 8000), ("flow", 40000))]}
        self.run_job(job)
        particles = self.frames("position").shape[1]
        forces = {name: mean(self.column(f"force_{name}")[:, 0]) for name in groups}
        # The force on the fluid is that of its momentum's change: none, but for noise.
        self.assertAlmostEqual(forces["fluid"][0], 0, delta=4 * forces["fluid"][1])
        weight = particles * g
        for name in ("lower", "upper"):
            self.assertAlmostEqual(forces[name][0], weight / 2, delta=4 * forces[name][1])
            self.assertLess(forces[name][1], 0.1 * weight)
        both, error = mean(self.column("force_lower")[:, 0] + self.column("force_upper")[:, 0])
        self.assertAlmostEqual(both, weight, delta=4 * error)
        self.assertLess(error, 0.02 * weight)
        with h5py.File(self.path("profile.h5")) as file:
            z = file["observables/coordinate/value"][-1]
            velocity = file["observables/velocity/value"][-1, :, 0]
            density = file["observables/density/value"][-1]
        inner = abs(z) < 4.5
        fit = numpy.polyfit(z[inner], velocity[inner], 2)
        self.assertLess(fit[0], 0)
        # A bin has some 18 particles, and velocities are forgotten after 0.2 time units or so.
        rest = velocity[inner] - numpy.polyval(fit, z[inner])
        self.assertLess(abs(rest).max(), 0.06)
        # Half of the highest modes' noise is odd: the middle is that of the channel.
        self.assertLess(abs(fit[1]), 0.2 * abs(2 * fit[0] * 4.5))
        n, rate = density[inner].mean(), 0.4
        eta, error = self.viscosity(n)
        self.assertLess(error, 0.05 * eta)
        # The slowest mode of the channel is forgotten after rho H²/(pi² eta), 7 or so: some 30
        # times in the run, each with kT/M of energy along x. 4 standard deviations of both.
        slow = 0.8 * 14 ** 2 / (numpy.pi ** 2 * eta)
        noise = (2 * slow / 200 / particles) ** 0.5 / (n * g * 14 ** 2 / (8 * eta))
        self.assertAlmostEqual(-n * g / (2 * fit[0]) / eta, 1,
                               delta=4 * (noise ** 2 + (error / eta) ** 2) ** 0.5)

    DPD = {"type": "groot_warren", "timestep": 0.04}

    def dpd(self, *types):
        """Groot and Warren's fluid, F; walls rub it more than it does itself."""
        return [{"type": "dpd", "temperature": 1, "pairs": [
            {"types": [a, b], "repulsion": 25, "gamma": 4.5 if a == b else 10}
            for k, a in enumerate(types) for b in types[k:]]}]

    def test_couette_flow_of_a_dpd_fluid(self):
        """In two channels between walls that slide to and fro, each thicker than forces reach. The
        stress is the same everywhere: velocities are linear, walls get opposite forces, which are
        the area of both sides times the slope times the viscosity that the fluid has in the bulk,
        by Lees and Edwards' boundaries. Whether the fluid slips at the walls does not matter."""
        speed, edge, height, wall, steps = 3.0, 6.0, 20.0, 2.0, 10000
        slabs = {"B": [(-wall / 2, wall / 2)],
                 "T": [(-height / 2, (wall - height) / 2), ((height - wall) / 2, height / 2)]}
        parts = [{"type": "lattice", "structure": "sc", "lattice_constant": 0.5, "types": {name: 1},
                  "region": {"box": [[None, None, low], [None, None, high]]}}
                 for name in slabs for low, high in slabs[name]]
        width = height / 2 - wall  # of a channel
        parts += [{"type": "random", "particles": {"F": round(3 * edge**2 * width)},
                   "region": {"box": [[None, None, low + 0.2], [None, None, low + width - 0.2]]}}
                  for low in (wall / 2, wall / 2 - height / 2)]
        groups = {"back": {"types": ["B"]}, "forth": {"types": ["T"]}, "fluid": {"types": ["F"]}}
        integrators = [{**self.DPD, "group": "fluid"}] + [
            {"type": "moving", "timestep": 0.04, "group": name, "velocity": [v, 0, 0]}
            for name, v in (("back", -speed), ("forth", speed))]
        self.run_job({
            "seed": 11, "plugins": ["dpd", "analysis"], "velocity": {"temperature": 1},
            "groups": groups, "forces": self.dpd("F", "B", "T"),
            "system": {"type": "parts", "box": [edge, edge, height], "min_distance": 0,
                       "parts": parts},
            "observers": [
                {"type": "thermo", "stride": 4, "groups": list(groups), "stages": ["flow"]},
                {"type": "profile", "axis": "z", "bins": 40, "stride": 10, "rows_every": steps,
                 "stages": ["flow"], "group": "fluid"}],
            "stages": [{"type": "md", "name": name, "steps": number, "integrators": integrators}
                       for name, number in (("start", 1500), ("flow", steps))]})
        with h5py.File(self.path("profile.h5")) as file:
            z = file["observables/coordinate/value"][-1]
            velocity = file["observables/velocity/value"][-1, :, 0]
            density = file["observables/density/value"][-1]
        inner = (abs(z) > 2.5) & (abs(z) < 7.5)
        slope, middle = numpy.polyfit(abs(z[inner]), velocity[inner], 1)
        rest = velocity[inner] - slope * abs(z[inner]) - middle
        forces = {name: mean(self.column(f"force_{name}")[:, 0]) for name in groups}
        # In the middle of a channel nothing flows. Its slowest modes, forgotten after some 25 time
        # units, have k_B T per mass of energy, which leaves 0.013 in 360; bins have some more.
        self.assertAlmostEqual(middle + 5 * slope, 0, delta=0.05)
        self.assertLess(abs(rest).max(), 0.1)
        self.assertGreater(slope, 0.3)
        self.assertGreater(forces["back"][0], 8 * forces["back"][1])
        both, error = mean(self.column("force_back")[:, 0] + self.column("force_forth")[:, 0])
        self.assertLess(abs(both), 4 * error)
        whole = sum(self.column(f"force_{name}") for name in groups)
        self.assertLess(abs(whole).max(), 0.02)  # rounding: at every moment no momentum is made
        pull = (self.column("force_back") - self.column("force_forth"))[:, 0] / (4 * edge**2)
        stress, error = mean(pull)
        # The same fluid in the bulk.
        n, rate = density[inner].mean(), 0.4
        self.run_job({
            "seed": 5, "plugins": ["dpd"], "velocity": {"temperature": 1},
            "system": {"type": "random", "particles": {"F": round(343 * n)}, "box": [7, 7, 7],
                       "min_distance": 0},
            "forces": self.dpd("F"),
            "observers": [{"type": "thermo", "stride": 5, "stages": ["flow"]}],
            "stages": [{"type": "md", "name": name, "steps": number, "integrator": self.DPD,
                        "shear": {"rate": rate}} for name, number in (("start", 700),
                                                                     ("flow", 7000))]},
            folder="bulk")
        bulk, its_error = mean(self.column("pressure_tensor", "bulk")[:, 0, 1])
        # Modes change the slope by 0.013 pi / 8 or so.
        allowed = math.hypot(error / stress, its_error / bulk, 0.005 / slope)
        self.assertAlmostEqual(stress / slope / (-bulk / rate), 1, delta=4 * allowed)
        self.assertLess(allowed, 0.04)

    def test_barometric_law_of_one_of_two_species(self):
        """Without interactions the density is that of Boltzmann in the potential of weight and
        walls: exact for either species, at every height."""
        weight, temperature, half, per_kind = 0.6, 1.2, 5, 1500
        walls = [{"type": "lj_wall", "axis": "z", "position": z, "epsilon": 0.5, "sigma": 0.4}
                 for z in (-half, half)]
        job = {"seed": 8, "groups": {"heavy": {"types": ["H"]}, "light": {"not": ["heavy"]}},
               "system": {"type": "parts", "box": [10, 10, 2 * half], "min_distance": 0,
                          "periodic": [True, True, False], "parts": [{
                              "type": "random", "particles": {"H": per_kind, "L": per_kind},
                              "region": {"box": [[None, None, 0.5 - half],
                                                 [None, None, half - 0.5]]}}]},
               "velocity": {"temperature": temperature},
               "forces": [*walls, {"type": "constant_force", "force": [0, 0, -weight],
                                   "on": "heavy"}],
               "observers": [
                   {"type": "trajectory", "stride": 1000, "positions": "unwrapped",
                    "quantities": ["position"], "stages": ["column"]},
                   {"type": "thermo", "stride": 10, "groups": ["heavy", "light"],
                    "stages": ["column"]}],
               "stages": [{"type": "md", "name": name, "steps": steps, "integrator": {
                   "type": "langevin", "timestep": 0.01, "temperature": temperature,
                   "friction": 1}} for name, steps in (("settle", 8000), ("column", 40000))]}
        self.run_job(job)
        with h5py.File(self.path("trajectory.h5")) as file:
            kind = file["particles/all/species"][:]
        height = self.frames("position")[:, :, 2] - half  # as the job has it
        edges = numpy.linspace(-half, half, 5001)
        z = (edges[1:] + edges[:-1]) / 2

        def wall(distance):
            """9-3, cut and shifted at 2.5 sigma."""
            def u(r):
                return 0.5 * (2 / 15 * (0.4 / r) ** 9 - (0.4 / r) ** 3)
            return numpy.where(distance < 1, u(numpy.maximum(distance, 1e-3)) - u(1.0), 0)
        for number, g in ((0, weight), (1, 0)):
            energy = wall(z + half) + wall(half - z) + g * z
            share = numpy.exp(-(energy - energy.min()) / temperature)
            share /= share.sum()
            found = height[:, kind == number]
            # Frames are 10 time units apart; the slowest relaxation, that of the light ones, takes
            # H²/(pi² kT/friction) = 9.8: a frame is worth a third of an independent one at least.
            worth = found.size / 3
            self.assertAlmostEqual(found.mean(), (share * z).sum(), delta=4 * (
                (share * z ** 2).sum() - (share * z).sum() ** 2) ** 0.5 / worth ** 0.5)
            bins = share.reshape(50, 100).sum(axis=1)
            counts = numpy.histogram(found, edges[::100])[0] / found.size
            self.assertEqual(numpy.histogram(found, edges[::100])[0].sum(), found.size)
            error = numpy.sqrt(bins * (1 - bins) / worth) + 1 / worth
            self.assertLess(abs((counts - bins) / error).max(), 4.5)
            self.assertLess(((counts - bins) ** 2 / error ** 2).mean(), 1.5)
        # The weight of the column is on the floor: nothing is left over.
        for name in ("heavy", "light"):
            force, error = mean(self.column(f"force_{name}")[:, 2])
            self.assertAlmostEqual(force, 0, delta=4 * error)
            self.assertLess(error, 0.05 * weight * per_kind)
            self.assertAlmostEqual(mean(self.column(f"temperature_{name}"))[0] / temperature, 1,
                                   delta=0.02)


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
