#!/usr/bin/python3
"""Rigid molecules that are inserted at random places, turned at random: trial insertions and the
grand canonical ensemble, against integrals over all places and directions, and against one another.

    rigid_insertion.py PERRIN [unittest arguments]
"""

import math
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase, mean_and_error

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


def insertion(activity, trials=100, of="D"):
    return {"type": of, "activity": activity, "trials": trials}


def open_job(system, reservoir, forces, *stages, **more):
    return job(system, forces, *stages, **more) | {"reservoir": reservoir}


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


def turned(q, at):
    """Sites of bodies with these orientations, (x, y, z, w), from their centres."""
    u, w = q[..., None, :3], q[..., None, 3:]
    t = 2 * numpy.cross(u, numpy.broadcast_to(at, (*q.shape[:-1], *numpy.shape(at))))
    return at + w * t + numpy.cross(numpy.broadcast_to(u, t.shape), t)


def mayer_of_bodies(sites, pair, kt, samples=400000):
    """As mayer_of_dimers(), of bodies with these sites, of which two have the energy
    pair(i, j, r²): by random directions, stratified along r. With its error, at most."""
    rng = numpy.random.default_rng(4)
    reach = CUTOFF + 2 * numpy.linalg.norm(sites, axis=1).max()
    r = (numpy.arange(samples) + rng.uniform(size=samples)) * reach / samples
    q = rng.normal(size=(2, samples, 4))
    one, other = turned(q / numpy.linalg.norm(q, axis=-1, keepdims=True), sites)
    other[..., 2] += r[:, None]
    u = sum(pair(i, j, ((one[:, i] - other[:, j]) ** 2).sum(axis=-1))
            for i in range(len(sites)) for j in range(len(sites)))
    found = 4 * math.pi * r ** 2 * reach * numpy.expm1(-u / kt)
    return found.mean(), found.std() / math.sqrt(samples)


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

    def molecule(self, edge, types, at, **more):
        """A system of one molecule, its particles bonded in a row."""
        return {"type": "parts", "box": [edge] * 3, "parts": [{
            "type": "molecules", "number": 1,
            "particles": [{"type": t, "position": list(r)} for t, r in zip(types, at)],
            "bonds": {"bond": [[k, k + 1] for k in range(len(at) - 1)]}, **more}]}

    def held(self, at):
        """A chain of bonds of one length, which constraints keep."""
        return job(self.molecule(6, "A" * len(at), at), [LJ], {
            "type": "md", "steps": 5, "integrator": {"type": "velocity_verlet", "timestep": 0.002}},
            bodies=None, constraints={"bonds": {"bond": math.dist(at[0], at[1])}},
            observers=[widom(temperature=1)])

    def test_molecules_of_charges(self):
        """Beside one like itself: exp(-U1/kT) (1 - 2 B2/V), where U1 is what a molecule has alone,
        of its charges by themselves and of its excluded pairs. Straight and flat bodies, and a
        triangle held by constraints in dynamics."""
        kt, edge, alpha = 1.3, 6, 0.4
        r = numpy.linspace(1e-3, CUTOFF, 20000)
        screened = math.erfc(alpha * CUTOFF) / CUTOFF
        slope = screened / CUTOFF + 2 * alpha / math.sqrt(math.pi) * math.exp(
            -(alpha * CUTOFF) ** 2) / CUTOFF
        k = 79 / 161 / CUTOFF ** 3  # (ε - 1)/(2 ε + 1)/R³
        # C. J. Fennell, J. D. Gezelter (2006); J. A. Barker, R. O. Watts (1973).
        damped = ({"type": "coulomb_dsf", "damping": alpha},
                  numpy.array([math.erfc(alpha * x) / x for x in r]) - screened
                  + slope * (r - CUTOFF), -(screened + slope * CUTOFF) / 2
                  - alpha / math.sqrt(math.pi))
        field = ({"type": "reaction_field", "permittivity_ratio": 80},
                 1 / r + k * r ** 2 - (1 / CUTOFF + k * CUTOFF ** 2),
                 -(1 / CUTOFF + k * CUTOFF ** 2) / 2)
        square = 0.4 * numpy.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        bent = numpy.array([[0.5, 0, 0], [0, 0, 0], [-0.1, 0.45, 0]])
        row = numpy.array([[0.45, 0, 0], [0, 0, 0], [-0.45, 0, 0]])
        for (law, acting, own), types, sites in (
                (damped, "PMP", row), (field, "NNPP", square), (damped, "PMP", bent)):
            charge = {"P": 0.4, "M": -0.8, "N": -0.4}
            q = [charge[t] for t in types]

            def pair(i, j, r2):
                """Of sites of two bodies."""
                return energy(r2) + numpy.where(r2 < CUTOFF ** 2, q[i] * q[j] * numpy.interp(
                    numpy.sqrt(r2), r, acting), 0)
            apart = [(i, j, math.dist(sites[i], sites[j])) for i in range(len(q)) for j in range(i)]
            alone = own * sum(x * x for x in q) + sum(
                q[i] * q[j] * (numpy.interp(d, r, acting) - 1 / d) for i, j, d in apart)
            missing = sum(q[i] * q[j] * (numpy.interp(d, r, acting) - 1 / d) for i, j, d in apart)
            core = {**LJ, "pairs": [{"types": [a, b], "epsilon": 1, "sigma": 0.8}
                                    for a in "MNP" for b in "MNP" if a <= b
                                    and {a, b} <= set(types)]}
            forces = [core, {"cutoff": CUTOFF, **law}]
            more = {"attributes": {"charge": {"types": {t: charge[t] for t in set(types)},
                                              "default": 0}}, "observers": [widom(4000)]}
            with self.subTest(law["type"], types=types, bent=sites is bent):
                if sites is bent:
                    angle = math.degrees(math.acos(numpy.dot(bent[0], bent[2]) / math.dist(
                        bent[0], bent[1]) / math.dist(bent[2], bent[1])))
                    start = self.molecule(edge, types, bent, angles={"bend": [[0, 1, 2]]},
                                          bonds={"long": [[0, 1]], "short": [[1, 2]]})
                    lengths = {"long": apart[0][2], "short": apart[2][2]}
                    self.run_job(job(start, forces, {
                        "type": "md", "steps": 100, "integrator": {
                            "type": "langevin", "timestep": 0.002, "temperature": kt,
                            "friction": 1}}, bodies=None, velocity={"temperature": kt},
                        constraints={"bonds": lengths, "angles": {"bend": angle}}, **more))
                else:
                    body = {"D": {"sites": [{"type": t, "at": list(at)}
                                            for t, at in zip(types, sites)]}}
                    self.run_job(job(random({"D": 1}, edge), forces, stage(150, kt, **moves()),
                                     bodies=body, **more))
                # The energy of one molecule is that of the whole system, and that of none is 0.
                numpy.testing.assert_allclose(self.column("potential_energy"), alone, rtol=1e-4)
                integral, of_it = mayer_of_bodies(sites, pair, kt)
                volume, found = edge ** 3, self.factor()
                expected = math.exp(-alone / kt) * (1 + integral / volume)
                error = math.hypot(found[1], math.exp(-alone / kt) * of_it / volume)
                self.assertGreater(abs(missing) / kt, 20 * error / expected)
                self.close((found[0], error), expected)

    def test_insertions_that_are_refused(self):
        start = random({"D": 5, "B": 3}, 8)
        for what, pattern in (
                (self.chains("A2", observers=[widom()]),
                 r"observers\[1\]\.molecules: the molecule of particle 0, of 2 particles, is not "
                 r"rigid: expected \"bodies\""),
                (self.chains("A3", constraints={"bonds": {"bond": 2 * HALF}}, observers=[widom()]),
                 r"of 3 particles, is not rigid"),
                (self.held(numpy.outer(numpy.arange(3), [1, 0.3, 0.2])),
                 r"of 3 particles, is not rigid: its particles are on a line, on which constraints "
                 r"do not hold them: expected \"bodies\""),
                (self.held([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]),
                 r"of 4 particles, is not rigid: its particles are in a plane, in which "),
                (job(random({"A": 9}, 8), [LJ], stage(5, translation={"displacement": 0.1}),
                     bodies=None, observers=[widom()]),
                 r"molecules: the system has no molecules: expected \"bodies\""),
                (job(start, [LJ], stage(5, **moves()), groups={"some": {"types": ["A"]}},
                     observers=[widom(group="some")]),
                 r"molecules: 2 of the 3 particles of the molecule of particle [03] are in the "
                 r"group \"some\": expected a group of whole molecules"),
                (job(start, [LJ], stage(5, **moves()), groups={"some": {"types": ["B"]}},
                     observers=[widom(group="some")]),
                 r"no molecule of the group \"some\" has several particles")):
            self.refused(what, pattern)
        long = {"D": {"sites": [{"type": "A", "at": [x, 0, 0]} for x in (-2.5, 2.5)]}}
        with self.assertRaisesRegex(AssertionError, r"molecules: a molecule reaches 2\.5 from its "
                                    r"first particle, and the box is 4\.5 wide"):
            self.run_job(job(random({"D": 2}, 4.5), [LJ], stage(5, **moves()), bodies=long,
                             observers=[widom()]))

    # -- the grand canonical ensemble, against exact distributions -----------------------------

    def test_an_ideal_gas(self):
        """Poisson's distribution, all directions alike; beside atoms that come and go, in one cell
        and in many. Nothing else turns them far."""
        none = {"type": "gaussian_core", "cutoff": 2, "pairs": [
            {"types": list(pair), "epsilon": 1e-9, "sigma": 1} for pair in ("AA", "AB", "BB")]}
        mean = {"D": 15, "B": 6}
        for edges in ([4.5, 5, 6], [12, 11, 10]):
            volume = numpy.prod(edges)
            start = random({"D": 9, "B": 2}, 1) | {"box": edges}
            self.run_job(open_job(start, {"D": 50, "B": 40}, [none], stage(4000, insertion=[
                insertion(mean["D"] / volume, 40), insertion(mean["B"] / volume, 40, "B")],
                **moves(1e-3, 1e-3)),
                observers=[{"type": "trajectory", "stride": 1, "precision": "double",
                            "quantities": ["position"]}]))
            with h5py.File(self.path("trajectory.h5")) as h:
                atoms = h["particles/all"]
                species, ids = atoms["species/value"][()], atoms["id/value"][()]
                at = atoms["position/value"][()]
            names = "BDA"  # then those that are not there
            is_center, is_site = (species == names.index(name) for name in "DA")
            numpy.testing.assert_array_equal(ids >= 0, species < 3)
            numpy.testing.assert_array_equal(2 * is_center.sum(axis=1), is_site.sum(axis=1))
            numpy.testing.assert_array_equal((ids >= 0).sum(axis=1), self.column("particles"))
            for name in "DB":
                count = (species == names.index(name)).sum(axis=1)[200:]
                self.close(mean_and_error(count), mean[name])
                self.close(mean_and_error((count - mean[name]) ** 2), mean[name])
            self.assertAlmostEqual(self.column("pressure").mean(), (
                self.column("particles") - is_site.sum(axis=1)).mean() / volume, places=4)
            along = at[:, -2 * 59:].reshape(len(at), 59, 2, 3)  # sites, body by body
            along = along[:, :, 0] - along[:, :, 1]
            along -= edges * numpy.round(along / edges)
            length = numpy.linalg.norm(along, axis=-1)
            numpy.testing.assert_allclose(length, 2 * HALF, atol=2e-6)
            there = is_center[:, [*range(2, 11), *range(51, 101)]]
            numpy.testing.assert_array_equal(there.sum(axis=1), is_center.sum(axis=1))
            for axis in range(3):
                cosine = along[..., axis] / length
                for power, expected in ((1, 0), (2, 1 / 3), (4, 1 / 5)):
                    means = [(cosine[f] ** power)[there[f]].mean() for f in range(200, len(at))
                             if there[f].any()]
                    self.close(mean_and_error(means), expected)

    def test_a_few_that_meet(self):
        """P(N) = z^N Z_N / N! of uneven trimers in a small box, Z_N by integration; also in two
        dimensions. Centres meet the sites of others as well."""
        edge, reach = 4.2, 1.9
        strength = {"AA": 3, "AC": 1, "CC": -1, "AD": 2}
        pairs = {"type": "gaussian_core", "cutoff": reach, "truncation": "cut", "pairs": [
            {"types": list(t), "epsilon": e, "sigma": 0.7} for t, e in strength.items()]}
        for dimension, activity in ((3, 0.025), (2, 0.1)):
            sites = numpy.array([[0.5, 0.1, 0.2], [-0.4, 0.3, 0], [0, -0.4, -0.2]])
            if dimension == 2:
                sites[:, 2] = 0
            sites -= sites.mean(axis=0)
            kinds, at = "DAAC", numpy.vstack([[0, 0, 0], sites])
            body = {"D": {"sites": [{"type": k, "at": list(r)} for k, r in zip("AAC", sites)]}}
            self.run_job(open_job(
                random({"D": 2}, edge) | {"box": [edge] * dimension, "dimension": dimension},
                {"D": 25}, [pairs], stage(8000, insertion=[insertion(activity, 30)], **moves()),
                bodies=body))
            rng = numpy.random.default_rng(1)
            samples, weight = 60000, []
            for n in range(9):
                center = rng.uniform(0, edge, (samples, n, 1, 3))
                if dimension == 2:
                    angle = rng.uniform(0, 2 * math.pi, (samples, n))
                    zero = numpy.zeros_like(angle)
                    q = numpy.stack([zero, zero, numpy.sin(angle / 2), numpy.cos(angle / 2)], -1)
                else:
                    q = rng.normal(size=(samples, n, 4))
                    q /= numpy.linalg.norm(q, axis=-1, keepdims=True)
                r = center + turned(q, at)
                total = numpy.zeros(samples)
                for i in range(n):
                    for j in range(i):
                        for one in range(4):
                            for other in range(4):
                                e = strength.get("".join(sorted(kinds[one] + kinds[other])), 0)
                                if e == 0:
                                    continue
                                d = r[:, i, one] - r[:, j, other]
                                d -= edge * numpy.round(d / edge)
                                if dimension == 2:
                                    d[:, 2] = 0
                                r2 = (d ** 2).sum(axis=-1)
                                total += numpy.where(r2 < reach ** 2, e * numpy.exp(-r2 / 0.49), 0)
                weight.append((activity * edge ** dimension) ** n / math.factorial(n)
                              * numpy.exp(-total).mean())
            expected = numpy.array(weight) / sum(weight)
            self.assertLess(expected[-1], 0.002)
            count = self.column("particles")[100:] / 4
            self.assertGreater(expected[3], 0.02)
            for n in numpy.nonzero(expected > 0.003)[0]:  # the integrals are known to 1 %
                self.close(mean_and_error(count == n), expected[n], 0.01 * expected[n])

    def test_a_gas_in_many_cells(self):
        """The activity is that which trial insertions find at the same density; in a thin gas
        density = z + 2 b2 z², but for b3."""
        for kt, activity, edge in ((1.3, 0.002, 20), (2.0, 0.05, 13)):
            self.run_job(open_job(random({"D": 20}, edge, min_distance=1.2), {"D": 500}, [LJ],
                                  stage(1200, kt, insertion=[insertion(activity, 150)], **moves()),
                                  stride=4))
            found = mean_and_error(self.column("particles")[75:] / 3 / edge ** 3)
            if activity < 0.01:
                b2 = mayer_of_dimers(kt) / 2
                self.close(found, activity + 2 * b2 * activity ** 2, 6 * (b2 * activity) ** 2
                           * activity)
                continue
            n = round(found[0] * edge ** 3)
            self.run_job(job(random({"D": n}, edge, min_distance=1.2), [LJ],
                             stage(1200, kt, **moves()), stride=4,
                             observers=[widom(3000, 10)]), folder="canonical")
            factor = mean_and_error(self.column("boltzmann_factor", "canonical",
                                                file="widom.h5")[30:], 10)
            here = n / edge ** 3 / factor[0]
            # d ln z / d ln density is 1 at most in a gas whose molecules attract one another.
            error = here * math.hypot(factor[1] / factor[0], found[1] / found[0])
            self.close((here, error), activity, activity / n)
            both = [mean_and_error(self.column("pressure", folder)[75:], 10)
                    for folder in (".", "canonical")]
            self.close((both[0][0], math.hypot(both[0][1], both[1][1])), both[1][0],
                       both[1][0] / n)

    def turns(self, last=3):
        """Trial moves and dynamics in turns, with atoms beside the bodies."""
        langevin = {"type": "langevin", "timestep": 0.004, "temperature": 1.2, "friction": 1}
        put = [insertion(0.02, 100), insertion(0.05, 60, "B")]
        stages = [stage(15, 1.2, name="first", insertion=put[:1], **moves()),
                  {"type": "md", "name": "second", "steps": 40, "integrator": langevin},
                  stage(15, 1.2, name="third", insertion=put, translation={"displacement": 0.3},
                        **moves())]
        return open_job(random({"D": 80, "B": 60}, 12, min_distance=1.2), {"D": 200, "B": 200},
                        [{**LJ, "mixing": "geometric", "pairs": [
                            {"types": [t, t], "epsilon": 1, "sigma": 0.8} for t in "AB"]}],
                        *stages[:last], velocity={"temperature": 1.2},
                        observers=[{"type": "trajectory", "stride": 5, "quantities": [
                            "position", "velocity", "orientation", "angular_momentum"]},
                                   {"type": "checkpoint"}])

    def state(self, folder):
        names = ("position", "velocity", "species", "id", "orientation", "angular_momentum")
        found = {}
        with h5py.File(self.path(folder, "trajectory.h5")) as h:
            for name in names:
                found[name] = h["particles/all"][name]["value"][()].tobytes()
        with h5py.File(self.path(folder, "checkpoint.h5")) as h:
            particles = h["state/simulation/particles"]
            for name in ("orientation", "angular_momentum", "velocity", "position", "image"):
                found["checkpoint: " + name] = particles[name][()].tobytes()
        return found

    def test_stopped_and_resumed_and_on_threads(self):
        self.run_job(self.turns(), folder="whole")
        self.run_job(self.turns(), folder="one thread", threads="1")
        self.same_state("one thread", "whole")
        self.assertGreater(len(set(self.column("particles", "whole"))), 8)
        for last, key in enumerate(("sweeps", "steps", "sweeps")):
            part = self.turns(last + 1)
            length = f"stages[{last}].{key}"
            self.run_job(part, folder="whole")
            self.run_job(part, "--set", f"{length}=7", folder="half")
            done = self.perrin("resume", self.path("half", "checkpoint.h5"), "--set",
                               f"{length}={part['stages'][last][key]}", "--device", DEVICE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.same_state("half", "whole")

    def test_three_processes(self):
        self.check_processes({"turns": self.turns()}, ("particles", "potential_energy"))

    def test_dynamics_of_those_who_are_there(self):
        """All motions have the temperature of the bath, and sites are where their bodies are."""
        langevin = {"type": "langevin", "timestep": 0.004, "temperature": 2, "friction": 2,
                    "rotational_friction": 2}
        self.run_job(open_job(random({"D": 100}, 12, min_distance=1.2), {"D": 200}, [LJ],
                              stage(200, 2, insertion=[insertion(0.05, 150)], **moves()),
                              {"type": "md", "steps": 6000, "integrator": langevin}, stride=10,
                              velocity={"temperature": 1.2},
                              observers=[{"type": "trajectory", "stride": 2000, "precision":
                                          "double", "quantities": ["position"]}]))
        count = self.column("particles")
        self.assertNotEqual(count[20], 300)
        self.assertTrue((count[20:] == count[20]).all())
        for name in ("temperature", "rotational_temperature"):
            found = self.column(name)
            if name.startswith("rot"):
                self.assertTrue(numpy.isnan(found[:20]).all())
            # Of a time step of 0.004 in a bath of friction 2: 0.5 % of the rotation.
            self.close(mean_and_error(found[60:]), 2, 0.01)
        at = self.frames("position")
        length = at[:, 300::2] - at[:, 301::2]
        length -= 12 * numpy.round(length / 12)
        numpy.testing.assert_allclose(numpy.linalg.norm(length, axis=-1), 2 * HALF, atol=4e-6)

    # -- mistakes ----------------------------------------------------------------------------------

    def test_mistakes_are_told(self):
        start, put = random({"D": 9, "B": 3}, 8), {"insertion": [insertion(0.1)]}
        pairs = {**LJ, "mixing": "geometric", "pairs": [
            {"types": [t, t], "epsilon": 1, "sigma": 0.8} for t in "AB"]}

        def wrong(pattern, room={"D": 9}, stages=(), system=start, **more):
            self.refused(open_job(system, room, [pairs], *(stages or [stage(5, **put)]), **more),
                         pattern)
        wrong(r"reservoir\.A: is the type of a site of the bodies of type \"D\"", {"A": 5, "D": 9})
        wrong(r"insertion\[0\]\.type: \"A\" is the type of sites of rigid bodies: expected that of "
              r"their centres, \"D\"", stages=[stage(5, insertion=[insertion(0.1, 9, "A")])])
        wrong(r"insertion\[0\]\.type: there is no room", {"B": 9})
        wrong(r"observers\[1\]\.type: has no place for rigid bodies where particles come and go",
              observers=[{"type": "gsd", "stride": 1}])
        long = {"D": {"sites": [{"type": "A", "at": [x, 0, 0]} for x in (-2.5, 2.5)]}}
        wrong(r"insertion\[0\]\.type: a body reaches 2\.5 from its centre, and the box is 4\.5 "
              r"wide: expected a box more than twice as wide", system=random({"D": 1}, 4.5),
              bodies=long)
        wrong(r"pivot: cannot be combined with", stages=[stage(5, pivot={"rotation": 1}, **put)])
        wrong(r"reservoir\.D: the particles of the type \"A\" in them have different values of "
              r"\"charge\"", attributes={"charge": {"random": {"uniform": [0.8, 1.2]}}})
        with self.assertRaisesRegex(AssertionError, r"all bodies of the type \"D\" are in the box"):
            self.run_job(open_job(start, {"D": 9}, [pairs], stage(
                60, insertion=[insertion(5)], **moves())))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
