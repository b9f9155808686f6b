#!/usr/bin/python3
"""Monte Carlo of particles with orientations: against quadrature, Wertheim's theory and dynamics.

    monte_carlo_orientations.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import numpy

from job_case import JobCase, mean_and_error

GAY_BERNE = {"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift",
             "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}


def dipoles(strength, cutoff=1.5):
    return {"type": "dipole", "cutoff": cutoff,
            "pairs": [{"types": ["A", "A"], "strength": strength}]}


def stage(sweeps, temperature=1.0, **more):
    return {"type": "monte_carlo", "sweeps": sweeps, "temperature": temperature, **more}


def job(system, forces, *stages, observers=(), stride=5, start="random", **more):
    return {"seed": 8, "system": system, "forces": forces,
            "orientations": {"start": start, "moments_of_inertia": {"A": [1, 1, 1]}},
            "observers": [{"type": "thermo", "stride": stride}, *observers],
            "stages": list(stages), **more}


def logistic(c, steepness, half_angle):
    """How much of a patch is in a direction (forces/anisotropic/patchy.h)."""
    def of(x):
        return 1 / (1 + numpy.exp(-steepness * (x - math.cos(math.radians(half_angle)))))
    return (of(c) - of(-1)) / (of(1) - of(-1))


class Orientations(JobCase):
    overwrite = True

    def close(self, found, expected, more=0.0, sigmas=4):
        mean, error = found
        self.assertLess(abs(mean - expected), sigmas * error + more, f"{found} {expected}")

    # -- turns, against all orientations that there are --------------------------------------------

    def pairs_of_dipoles(self, distance, flat):
        """64 pairs, each far from all others."""
        position, edge = [], 32 if flat else 16
        for k in range(64):
            x, y, z = (k % 8, k // 8, 0) if flat else (k % 4, k // 4 % 4, k // 16)
            position += [(4 * x + 1, 4 * y + 1, 4 * z + 1), (4 * x + 1 + distance, 4 * y + 1,
                                                             4 * z + 1)]
        with open(self.path("start.xyz"), "w") as out:
            out.write(f'{len(position)}\nLattice="{edge} 0 0 0 {edge} 0 0 0 {edge}" '
                      'Properties=species:S:1:pos:R:3\n')
            for x, y, z in position:
                out.write(f"A {x!r} {y!r} {0 if flat else z!r}\n")
        return {"type": "file", "path": self.path("start.xyz"), "dimension": 2 if flat else 3}

    def test_two_dipoles(self):
        """The energy of dipoles that stay where they are, and its fluctuations."""
        strength, r = 2.5, 1.1
        f = strength / r ** 3
        a = (numpy.arange(400) + 0.5) / 400
        c, other = numpy.meshgrid(2 * a - 1, 2 * a - 1, indexing="ij")
        energies, weights = [], []
        for phi in 2 * math.pi * (numpy.arange(64) + 0.5) / 64:  # between the two about the line
            u_v = c * other + numpy.sqrt((1 - c ** 2) * (1 - other ** 2)) * math.cos(phi)
            u = f * (u_v - 3 * c * other)
            energies.append(u), weights.append(numpy.exp(-u))
        energies, weights = numpy.array(energies), numpy.array(weights)
        mean = (energies * weights).sum() / weights.sum()
        square = (energies ** 2 * weights).sum() / weights.sum()
        system = self.pairs_of_dipoles(r, False)
        for trials in (1, 3):
            self.run_job(job(system, [dipoles(strength)],
                             stage(6000, rotation={"angle": 1.0, "trials": trials})))
            u = self.column("potential_energy")[40:]
            self.close(mean_and_error(u / 64), mean)
            # Pairs are independent of one another.
            self.close(mean_and_error((u - 64 * mean) ** 2 / 64), square - mean ** 2)

    def test_two_dipoles_in_a_plane(self):
        strength, r = 1.5, 1.0
        angle = 2 * math.pi * (numpy.arange(720) + 0.5) / 720
        a, b = numpy.meshgrid(angle, angle)
        u = strength / r ** 3 * (numpy.cos(a - b) - 3 * numpy.cos(a) * numpy.cos(b))
        expected = (u * numpy.exp(-u)).sum() / numpy.exp(-u).sum()
        self.run_job(job(self.pairs_of_dipoles(r, True), [dipoles(strength)],
                         stage(6000, rotation={"angle": 1.5}),
                         observers=[{"type": "trajectory", "stride": 1000,
                                     "quantities": ["orientation"]}]))
        self.close(mean_and_error(self.column("potential_energy")[40:] / 64), expected)
        q = self.frames("orientation")[-1]  # w comes first
        self.assertLess(abs(q[:, 1:3]).max(), 1e-6)
        self.assertGreater(abs(q[:, 3]).max(), 0.5)
        numpy.testing.assert_allclose((q ** 2).sum(axis=1), 1, atol=1e-5)

    # -- with displacements, against dynamics and theory -------------------------------------------

    def test_two_dipoles_and_their_copies(self):
        """Turns of two dipoles that stay where they are, in a cube with all copies: the energy is
        E - u·A·v, of which one integral is known."""
        side, square, alpha = 4.0, 18.0, 3.3
        r, volume = numpy.array([1.6, 1.0, 0.4]), side**3
        with open(self.path("start.xyz"), "w") as out:
            out.write(f'2\nLattice="{side} 0 0 0 {side} 0 0 0 {side}" '
                      f"Properties=species:S:1:pos:R:3\nA 0 0 0\nA {r[0]} {r[1]} {r[2]}\n")
        # With this alpha nothing is left between copies of point charges but waves.
        k = numpy.array(list(numpy.ndindex(51, 51, 51))) - 25
        k = k[len(k) // 2 + 1:] * (2 * math.pi / side)
        k2 = (k**2).sum(axis=1)
        weight = 8 * math.pi / volume * numpy.exp(-k2 / (4 * alpha**2)) / k2 * numpy.cos(k @ r)
        of_waves = square * (k.T * weight) @ k
        a = (numpy.arange(200) + 0.5) / 200
        c, phi = numpy.meshgrid(2 * a - 1, 2 * math.pi * a, indexing="ij")
        s = numpy.sqrt(1 - c**2)
        u = numpy.stack([s * numpy.cos(phi), s * numpy.sin(phi), c], axis=-1).reshape(-1, 3)
        for surface in (None, 1.0):
            around = 4 * math.pi * square / volume / (2 * surface + 1) if surface else 0.0
            tensor = -of_waves - around * numpy.eye(3)
            own = -4 * math.pi * square / (3 * volume) + around
            x = numpy.linalg.norm(u @ tensor, axis=1)
            # Over v: sinh(x)/x, and of the energy coth(x) - 1/x times x.
            z = numpy.sinh(x) / x
            mean = own - ((x / numpy.tanh(x) - 1) * z).sum() / z.sum()
            force = {"type": "dipole_ewald", "cutoff": 1.9, "accuracy": 1e-4,
                     "moments": {"A": math.sqrt(square)}}
            if surface:
                force["surface_permittivity"] = surface
            self.run_job(job({"type": "file", "path": "start.xyz"}, [force],
                             stage(40000, rotation={"angle": 1.5})))
            self.close(mean_and_error(self.column("potential_energy")[100:]), mean)

    def test_a_dipolar_fluid_by_dynamics(self):
        """Stockmayer's fluid with Ewald's sum: turns, translations and swaps."""
        system = {"type": "lattice", "structure": "sc", "density": 0.5, "cells": [4, 4, 4],
                  "types": {"A": 1, "B": 1}}
        forces = [{"type": "wca", "pairs": [{"types": list(t), "epsilon": 1, "sigma": 1}
                                            for t in ("AA", "AB", "BB")]},
                  {"type": "dipole_ewald", "cutoff": 2.4, "accuracy": 3e-3,
                   "moments": {"A": 1.8, "B": 0.9}}]
        found = []
        for part in (stage(2500, translation={"displacement": 0.25}, rotation={"angle": 0.8},
                           swap={"trials": 0.3}),
                     {"type": "md", "steps": 25000, "integrator": {
                         "type": "langevin", "timestep": 0.005, "temperature": 1, "friction": 1,
                         "rotational_friction": 0.3}}):
            text = job(system, forces, part, stride=5 if part["type"] == "monte_carlo" else 50)
            text["velocity"] = {"temperature": 1}
            text["orientations"]["moments_of_inertia"]["B"] = [1, 1, 1]
            self.run_job(text)
            found.append(mean_and_error(self.column("potential_energy")[50:]))
        (a, da), (b, db) = found
        self.assertLess(abs(a - b), 4 * math.hypot(da, db), found)
        self.assertLess(math.hypot(da, db), 0.02 * abs(a), found)

    def test_gay_berne_by_dynamics(self):
        system = {"type": "lattice", "structure": "sc", "density": 0.2, "cells": [6, 6, 6]}
        apart = stage(500, 1.5, name="apart", translation={"displacement": 0.2},
                      rotation={"angle": 0.5})
        dynamics = job(system, [GAY_BERNE], apart,
                       {"type": "md", "steps": 60000, "integrator": {
                           "type": "langevin", "timestep": 0.003, "temperature": 1.5,
                           "friction": 1, "rotational_friction": 1}},
                       stride=50, velocity={"temperature": 1.5})
        self.run_job(dynamics)
        by_dynamics = mean_and_error(self.column("potential_energy")[210:] / 216)
        self.run_job(job(system, [GAY_BERNE], stage(
            6000, 1.5, translation={"displacement": 0.3}, rotation={"angle": 0.5},
            tune={"sweeps": 500, "acceptance": 0.4})))
        mean, error = mean_and_error(self.column("potential_energy")[200:] / 216)
        # The time step moves the energy of dynamics by less than this.
        self.close((mean, math.hypot(error, by_dynamics[1])), by_dynamics[0], 0.003)

    def patches(self, half_angle, directions, width=1e-3):
        """The model of Kern and Frenkel: hard spheres, wells of the depth 1 that end at 1.5."""
        return [{"type": "pair_formula", "energy": "if(r < 1, 1e6, 0)", "cutoff": 1.05,
                 "pairs": [{"types": ["A", "A"]}]},
                {"type": "patchy", "cutoff": 1.501,
                 "patches": {"A": {"directions": directions, "half_angle": half_angle,
                                   "steepness": 1e4}},
                 "pairs": [{"types": ["A", "A"], "epsilon": 1, "core_epsilon": 0, "sigma": 1,
                            "attraction": "well", "range": 1.5 + width / 2, "width": width}]}]

    def energies(self, first):
        """Without those where two hard spheres touch: energies of a frame may find them a rounding
        nearer than the trial did that brought them there."""
        u = self.column("potential_energy")[first:]
        self.assertLess((u > 1e5).mean(), 0.01)
        return u[u < 1e5]

    def test_particles_of_kern_and_frenkel(self):
        """Two patches that are 0.7 of the surface, T = 0.7, in a cube of the edge 8. Two particles:
        exact, the weight of bonds in the volume. Five: FEASST (NIST) has -0.38780 in its tutorial
        launch_09_kf_tm_parallel.py; its -0.03876 of two is off by 0.3 %, which is allowed."""
        chi, beta = 0.7, 1 / 0.7
        forces = self.patches(math.degrees(2 * math.asin(math.sqrt(chi / 2))),
                              [[1, 0, 0], [-1, 0, 0]])
        bonded, core = 4 * math.pi / 3 * (1.5 ** 3 - 1) * chi ** 2, 4 * math.pi / 3
        exact = -bonded * math.exp(beta) / (512 - core + bonded * math.expm1(beta))
        for number, expected, more in ((2, exact, 0), (5, -0.38780, 0.003 * 0.3878)):
            system = {"type": "random", "particles": {"A": number}, "box": [8, 8, 8],
                      "min_distance": 1.05}
            self.run_job(job(system, forces, stage(
                24000, 1 / beta, translation={"displacement": 2, "trials": 10},
                rotation={"angle": 3.1, "trials": 10}), stride=1))
            found = mean_and_error(self.energies(100))
            self.close(found, expected, more)
            self.assertLess(found[1], 0.05 * abs(expected))

    def test_patches_all_over_are_a_square_well(self):
        """Energies of 256 particles that a program of its own found: moves of one particle at a
        time, all pairs in double precision, 135 000 sweeps. An equation (R. Espíndola-Heredia, F.
        del Río, A. Malijevský, J. Chem. Phys. 130, 024509 (2009), by teqp 0.23.2) is off by 0.3 %
        and 0.9 %: -3.804 and -5.132."""
        moves = {"translation": {"displacement": 0.15, "trials": 2}}
        for kt, density, expected, error in ((1.5, 0.5, -3.7920, 0.0020), (2, 0.7, -5.1771, 7e-4)):
            system = {"type": "lattice", "structure": "fcc", "density": density,
                      "cells": [4, 4, 4]}
            self.run_job(job(system, self.patches(180, [[1, 0, 0]]), stage(400, kt, **moves),
                             stage(1500, kt, **moves), stride=5))
            mean, own = mean_and_error(self.energies(100) / 256)
            self.assertLess(own, 0.004 * abs(expected))
            self.close((mean, math.hypot(own, error)), expected)

    def test_chains_of_patchy_particles(self):
        """Two patches, which take one bond each: M. S. Wertheim, J. Stat. Phys. 42, 477 (1986), at
        a low density: 1 - X of the patches are bonded, X + 2 density Delta X² = 1. F. Sciortino, E.
        Bianchi, J. F. Douglas, P. Tartaglia, J. Chem. Phys. 126, 194903 (2007) found energies as
        the theory has them."""
        density, epsilon, kt = 0.02, 8.0, 1.0
        steepness, half_angle, inner, end = 150, 23, 1.05, 1.12
        force = {"type": "patchy", "cutoff": end,
                 "patches": {"A": {"directions": [[1, 0, 0], [-1, 0, 0]],
                                   "half_angle": half_angle, "steepness": steepness}},
                 "pairs": [{"types": ["A", "A"], "epsilon": epsilon, "core_epsilon": 40,
                            "sigma": 0.89, "attraction": "well", "range": end,
                            "width": end - inner}]}
        self.run_job(job(
            {"type": "lattice", "structure": "sc", "density": density, "cells": [6, 6, 6]}, [force],
            stage(10000, kt, translation={"displacement": 0.6}, rotation={"angle": 0.6}),
            stage(60000, kt, translation={"displacement": 0.2}, rotation={"angle": 0.3}),
            stride=50))
        found = mean_and_error(self.column("potential_energy")[400:] / 216)

        sigma = 0.89
        r = numpy.linspace(0.8, end, 401)
        six = (sigma / r) ** 6
        core = numpy.where(six > 0.5, 160 * (six ** 2 - six + 0.25), 0.0)
        x = numpy.clip((r - inner) / (end - inner), 0, 1)
        well = -epsilon * (1 - x ** 3 * (10 - x * (15 - 6 * x)))
        c = numpy.linspace(0.8, 1, 401)
        s = logistic(c, steepness, half_angle)
        both = s[:, None] * s[None]

        def average(values, at):
            return numpy.trapezoid(values, at) if hasattr(numpy, "trapezoid") else numpy.trapz(
                values, at)

        def delta(beta):
            of_r = [average(average(numpy.expm1(-beta * w * both), c), c) / 4 for w in well]
            return average(4 * math.pi * r ** 2 * numpy.exp(-beta * core) * numpy.array(of_r), r)

        # Of hard spheres as large as the core, at contact: N. F. Carnahan, K. E. Starling.
        packing = math.pi / 6 * density
        contact = (1 - packing / 2) / (1 - packing) ** 3

        def free_energy(beta):
            by = 2 * density * contact * delta(beta)
            x_free = (math.sqrt(1 + 4 * by) - 1) / (2 * by)
            return 2 * (math.log(x_free) - x_free / 2 + 0.5)

        beta, h = 1 / kt, 1e-4
        expected = (free_energy(beta + h) - free_energy(beta - h)) / (2 * h)
        # The core has little energy; the theory has no rings and no second neighbours.
        self.close(found, expected, 0.025 * abs(expected))
        self.assertLess(expected, -0.5)  # there are bonds

    def test_molecules_with_orientations(self):
        """Moves of whole molecules turn their particles as well: dumbbells of dipoles."""
        system = {"type": "chains", "chains": 40, "pattern": "A2", "bond_length": 1, "density": 0.2,
                  "min_distance": 0.9}
        forces = [{"type": "lennard_jones", "cutoff": 2 ** (1 / 6), "truncation": "energy_shift",
                   "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
                  {**dipoles(3.0, 2.0), "truncation": "switch"},
                  {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 200, "length": 1}}}]
        single = {"translation": {"displacement": 0.1}, "rotation": {"angle": 0.6}}
        found = []
        for more in ({}, {"molecule": {"displacement": 0.3, "rotation": 1.0}}):
            self.run_job(job(system, forces, stage(12000, **single, **more)))
            found.append(mean_and_error(self.column("potential_energy")[400:] / 80))
        self.close((found[0][0], math.hypot(found[0][1], found[1][1])), found[1][0])

    # -- what must be, and must not be -------------------------------------------------------------

    def test_turns_stay_in_their_group(self):
        system = {"type": "lattice", "structure": "sc", "density": 0.2, "cells": [5, 5, 5]}
        self.run_job(job(system, [GAY_BERNE], stage(20, rotation={"angle": 1.0}, group="some"),
                         groups={"some": {"ids": list(range(10))}}, start="aligned",
                         observers=[{"type": "trajectory", "stride": 20,
                                     "quantities": ["orientation", "position"]}]))
        q, r = self.frames("orientation"), self.frames("position")
        turned = abs(q[-1] - q[0]).max(axis=1) > 0
        self.assertFalse(turned[10:].any())
        self.assertGreater(turned[:10].sum(), 5)
        numpy.testing.assert_array_equal(r[-1], r[0])

    def test_mistakes(self):
        system = {"type": "lattice", "structure": "sc", "density": 0.2, "cells": [5, 5, 5]}
        turns = job(system, [GAY_BERNE], stage(10, rotation={"angle": 0.1}))
        bare = {k: v for k, v in turns.items() if k != "orientations"}
        bare["forces"] = []
        self.refused(bare, r"stages\[0\]\.rotation: turns particles, and these have no")
        self.refused(job(system, [GAY_BERNE], stage(10, rotation={"angle": 4})), r"rotation\.angle")
        self.refused(job(system, [GAY_BERNE], stage(10, translation={"displacement": 0.1}),
                         observers=[{"type": "widom", "stride": 1, "insertions": 10}]),
                     "depends on orientations")
        still = job(system, [GAY_BERNE], stage(10, translation={"displacement": 0.1}))
        done = self.run_job(still)
        self.assertRegex(done.stderr, "does not turn particles.*monte_carlo")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
