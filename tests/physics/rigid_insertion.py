#!/usr/bin/python3
"""Rigid molecules that are inserted at random places, turned at random: trial insertions and the
grand canonical ensemble, against integrals over all places and directions, and against one another.

    rigid_insertion.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import numpy

from job_case import JobCase, mean_and_error

HALF = 0.3
DIMER = {"D": {"sites": [{"type": "A", "at": [HALF, 0, 0]}, {"type": "A", "at": [-HALF, 0, 0]}]}}
CUTOFF = 2.0
LJ = {"type": "lennard_jones", "cutoff": CUTOFF, "truncation": "cut",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.8}]}


def random(types, edge, **more):
    return {"type": "random", "particles": types, "box": [edge] * 3, "min_distance": 0, **more}


def stage(sweeps, temperature=1.0, **more):
    return {"type": "monte_carlo", "sweeps": sweeps, "temperature": temperature, **more}


def moves(displacement=0.3, rotation=1.0):
    return {"molecule": {"displacement": displacement, "rotation": rotation}}


def job(system, forces, *stages, bodies=DIMER, observers=(), stride=1, **more):
    text = {"seed": 7, "system": system, "forces": forces,
            "observers": [{"type": "thermo", "stride": stride}, *observers],
            "stages": list(stages), **more}
    if bodies:
        text |= {"bodies": bodies, "orientations": {"start": "random"}}
    return text


def widom(insertions=3000, stride=1, **more):
    return {"type": "widom", "stride": stride, "insertions": insertions, "molecules": True, **more}


def energy(r2):
    """Of a pair of sites, at a squared distance."""
    u = (0.64 / numpy.maximum(r2, 0.05)) ** 3
    return numpy.where(r2 < CUTOFF ** 2, 4 * (u ** 2 - u), 0)


def mayer_of_dimers(kt):
    """The integral over all places and directions of exp(-U/kT) - 1 of two dimers: -2 B2. By
    Gauss's rule in both cosines, by sums about the axis and along r: 2.5 times as many points
    change it by 2e-5 of itself."""
    cosine, weight = numpy.polynomial.legendre.leggauss(16)
    angle = (numpy.arange(24) + 0.5) * math.pi / 24
    a, b, c = numpy.meshgrid(cosine, cosine, angle, indexing="ij")
    of = (weight[:, None, None] * weight[None, :, None] / 4 / 24) * numpy.ones_like(c)
    one = numpy.stack([numpy.sqrt(1 - a ** 2), 0 * a, a], -1)
    other = numpy.stack([numpy.sqrt(1 - b ** 2) * numpy.cos(c),
                         numpy.sqrt(1 - b ** 2) * numpy.sin(c), b], -1)
    total, n, reach = 0.0, 600, CUTOFF + 2 * HALF
    for r in (numpy.arange(n) + 0.5) * reach / n:
        u = 0
        for s in (HALF, -HALF):
            for t in (HALF, -HALF):
                d = s * one - t * other - [0, 0, r]
                u = u + energy((d ** 2).sum(-1))
        total += 4 * math.pi * r ** 2 * reach / n * (of * numpy.expm1(-u / kt)).sum()
    return total


class RigidInsertion(JobCase):
    overwrite = True

    def close(self, found, expected, more=0.0, sigmas=4):
        mean, error = found
        self.assertLess(abs(mean - expected), sigmas * error + more, f"{found} {expected}")

    # -- trial insertions --------------------------------------------------------------------------

    def factor(self, skip=0):
        return mean_and_error(self.column("boltzmann_factor", file="widom.h5")[skip:])

    def test_beside_one_dimer(self):
        """1 - 2 B2/V, in a box of one cell and in one of many, tilted."""
        kt = 1.3
        integral = mayer_of_dimers(kt)
        self.assertGreater(integral, 5)
        with open(self.path("start.xyz"), "w") as file:
            file.write('1\nLattice="9 0 0 1.5 9 0 -1 2 9" Properties=species:S:1:pos:R:3\n'
                       'D 1 2 3\n')
        tilted = {"type": "file", "path": self.path("start.xyz")}
        for edge, start in ((6, random({"D": 1}, 6)), (9, tilted)):
            self.run_job(job(start, [LJ], stage(400, kt, **moves()),
                             observers=[widom(4000)]))
            found = self.factor()
            self.assertLess(found[1], 0.02 * integral / edge ** 3)
            self.close(found, 1 + integral / edge ** 3)

    def test_in_a_field(self):
        """Of dimers in a wave the mean over directions of I0(2 h cos(k d cos)/kT)); and of atoms
        beside them, which are molecules as well."""
        edge, h, kt = 8, 0.8, 1.2
        wave = {"type": "external_formula", "energy": "h*cos(k*x)",
                "types": {name: {"h": h, "k": 2 * math.pi / edge} for name in "AB"}}
        cosine, weight = numpy.polynomial.legendre.leggauss(20)
        dimers = (weight / 2 * numpy.i0(
            2 * h / kt * numpy.cos(2 * math.pi / edge * HALF * cosine))).sum()
        self.run_job(job(random({"D": 20, "B": 30}, edge), [wave], stage(100, kt, **moves()),
                         groups={"bodies": {"types": ["D", "A"]}},
                         observers=[widom(group="bodies"), widom(file="all.h5")]))
        self.close(self.factor(), dimers)
        both = mean_and_error(self.column("boltzmann_factor", file="all.h5"))
        self.close(both, (20 * dimers + 30 * numpy.i0(h / kt)) / 50)
        self.assertGreater(abs(dimers - numpy.i0(h / kt)) / both[1], 20)

    def chains(self, pattern, **more):
        spring = {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 50, "length": 2 * HALF}}}
        return job({"type": "chains", "chains": 1, "pattern": pattern, "bond_length": 2 * HALF,
                    "density": int(pattern[1]) / 6 ** 3}, [LJ, spring],
                   {"type": "md", "steps": 800, "integrator": {
                       "type": "langevin", "timestep": 0.004, "temperature": 1.3, "friction": 1}},
                   bodies=None, velocity={"temperature": 1.3}, **more)

    def test_dimers_held_by_constraints(self):
        """The same second virial coefficient, in dynamics."""
        integral = mayer_of_dimers(1.3)
        self.run_job(self.chains("A2", constraints={"bonds": {"bond": 2 * HALF}},
                                 observers=[widom(4000, 2)]))
        found = self.factor()
        self.assertLess(found[1], 0.03 * integral / 6 ** 3)
        self.close(found, 1 + integral / 6 ** 3)

    def test_insertions_that_are_refused(self):
        start = random({"D": 5, "B": 3}, 8)
        for what, pattern in (
                (self.chains("A2", observers=[widom()]),
                 r"observers\[1\]\.molecules: the molecule of particle 0, of 2 particles, is not "
                 r"rigid: expected \"bodies\""),
                (self.chains("A3", constraints={"bonds": {"bond": 2 * HALF}}, observers=[widom()]),
                 r"of 3 particles, is not rigid"),
                (job(random({"A": 9}, 8), [LJ], stage(5, translation={"displacement": 0.1}),
                     bodies=None, observers=[widom()]),
                 r"molecules: the system has no molecules: expected \"bodies\""),
                (job(start, [LJ], stage(5, **moves()), groups={"some": {"types": ["A"]}},
                     observers=[widom(group="some")]),
                 r"molecules: 2 of the 3 particles of the molecule of particle [03] are in the group "
                 r"\"some\": expected a group of whole molecules"),
                (job(start, [LJ], stage(5, **moves()), groups={"some": {"types": ["B"]}},
                     observers=[widom(group="some")]),
                 r"no molecule of the group \"some\" has several particles")):
            self.refused(what, pattern)
        long = {"D": {"sites": [{"type": "A", "at": [x, 0, 0]} for x in (-2.5, 2.5)]}}
        with self.assertRaisesRegex(AssertionError, r"molecules: a molecule reaches 2\.5 from its "
                                    r"first particle, and the box is 4\.5 wide"):
            self.run_job(job(random({"D": 2}, 4.5), [LJ], stage(5, **moves()), bodies=long,
                             observers=[widom()]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
