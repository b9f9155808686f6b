#!/usr/bin/python3
"""The observers of the plug-in analysis against numpy and theory, through the real program.

    observers.py PERRIN [unittest arguments]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

PERRIN = sys.argv[1]
DEVICE = os.environ.get("PERRIN_TEST_DEVICE", "cpu")
if DEVICE != "cpu" and "cuda:0" not in subprocess.run([PERRIN, "info"], capture_output=True,
                                                      text=True).stdout:
    print("skipped: no CUDA device")
    sys.exit(77)

VERLET = {"type": "velocity_verlet", "timestep": 0.004}


def multiple_tau(series, product, levels, p=16):
    """[(lag, mean over the origins, their number)] of series[sample, particle, axis], where
    product(a, b) is that of frames; written from the paper, means of two frames or, for
    displacements, every second frame."""
    means = product is dot
    result = []
    for level in range(levels):
        for j in range(0 if level == 0 else p // 2, p):
            n = len(series) - j
            values = [product(series[k + j], series[k]) for k in range(n)]
            result.append((j * 2**level, np.mean(values) if values else np.nan, len(values)))
        even = len(series) // 2 * 2
        series = (series[:even:2] + series[1:even:2]) / 2 if means else series[::2]
    return np.array(result)


def dot(a, b):
    return (a * b).sum(axis=-1).mean()


def square_displacement(a, b):
    return ((a - b) ** 2).sum(axis=-1).mean()


class Observers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-observers-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_job(self, system, observers, steps=0, forces=(), integrator=None, **more):
        job = {"seed": 11, "system": system, "forces": list(forces), "observers": list(observers),
               "stages": [{"type": "md", "steps": steps, "integrator": integrator or VERLET}],
               **more}
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out)
        done = subprocess.run(
            [PERRIN, "run", self.path("job.json"), "--device", DEVICE, "--threads", "2", "--quiet",
             "--overwrite", "--output-dir", self.folder],
            capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def refused(self, system, observers, pattern, **more):
        with open(self.path("wrong.json"), "w") as out:
            json.dump({"seed": 11, "system": system, "forces": [], "observers": observers,
                       "stages": [{"type": "md", "steps": 10, "integrator": VERLET}], **more}, out)
        done = subprocess.run([PERRIN, "validate", self.path("wrong.json")], capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)

    def read(self, name, what, row=-1):
        with h5py.File(self.path(name)) as file:
            return file[f"observables/{what}/value"][row]

    def trajectory(self):
        """Positions (in 0 … L), images, velocities, edges, types."""
        with h5py.File(self.path("trajectory.h5")) as file:
            all = file["particles/all"]
            return (all["position/value"][:].astype(float), all["image/value"][:],
                    all["velocity/value"][:].astype(float), all["box/edges/value"][0],
                    all["species"][:])

    @staticmethod
    def vectors(a, b, edges):
        """From b to a, nearest images, all with all."""
        inverse = np.linalg.inv(edges)
        f = (a[:, None, :] - b[None, :, :]) @ inverse
        return (f - np.round(f)) @ edges

    # -- g(r) ------------------------------------------------------------------------------------

    def check_rdf(self, dimension, particles, box, bins, r_max):
        self.run_job({"type": "random", "particles": particles, "box": box, "min_distance": 0,
                      "dimension": dimension},
                     [{"type": "trajectory", "stride": 1,
                       "quantities": ["position", "velocity", "image"]},
                      {"type": "rdf", "stride": 1, "rows_every": 1, "bins": bins, "r_max": r_max}])
        r, g = self.read("rdf.h5", "r"), self.read("rdf.h5", "rdf")
        position, _, _, edges, species = self.trajectory()
        limits = np.linspace(0, r_max, bins + 1)
        np.testing.assert_allclose(r, (limits[1:] + limits[:-1]) / 2)
        shell = np.diff(limits**3) * 4 * np.pi / 3 if dimension == 3 else np.diff(limits**2) * np.pi
        volume = np.prod(box[:dimension])
        chi2, cells = 0, 0
        for k, (a, b) in enumerate(((0, 0), (0, 1), (1, 1))):
            x, y = position[0][species == a], position[0][species == b]
            d = np.linalg.norm(self.vectors(x, y, edges), axis=-1)
            counts = np.histogram(d[np.triu_indices(len(x), 1)] if a == b else d, limits)[0]
            pairs = len(x) * (len(x) - 1) / 2 if a == b else len(x) * len(y)
            ideal = pairs * shell / volume
            # Positions in the file are floats: a few pairs change bins.
            self.assertLess(np.abs(g[k] * ideal - counts).max(), 4)
            self.assertLess(abs((g[k] * ideal).sum() - counts.sum()), 4)
            chi2 += ((g[k] - 1) ** 2 * ideal).sum()
            cells += bins
        self.assertLess(abs(chi2 - cells), 5 * np.sqrt(2 * cells))  # an ideal gas: 1

    def test_rdf_of_an_ideal_gas(self):
        # Few A: with N_a² / 2 pairs g would be 5 % low.
        self.check_rdf(3, {"A": 20, "B": 1500}, [9, 10, 11], 30, 4.5)
        self.check_rdf(3, {"A": 200, "B": 2000}, [9, 10, 11], 20, 1.9)  # with cells

    def test_rdf_in_two_dimensions(self):
        self.check_rdf(2, {"A": 20, "B": 1500}, [30, 40, 1], 30, 15)

    def test_rdf_without_bonds_and_molecules(self):
        chains = {"type": "chains", "chains": 20, "pattern": "A3B3", "density": 0.1,
                  "min_distance": 0.8}
        observers = [{"type": "trajectory", "stride": 1,
                      "quantities": ["position", "velocity", "image"]}]
        for kind in ("bonds", "molecules"):
            observers.append({"type": "rdf", "stride": 1, "rows_every": 1, "bins": 20, "r_max": 3,
                              "exclude": kind, "pairs": [["B", "A"]], "file": kind + ".h5"})
        self.run_job(chains, observers, ignore=["bonds", "angles"])
        position, _, _, edges, species = self.trajectory()
        with h5py.File(self.path("trajectory.h5")) as file:
            bonds = file["connectivity/bonds"][:]
        a, b = np.nonzero(species == 0)[0], np.nonzero(species == 1)[0]
        d = np.linalg.norm(self.vectors(position[0][a], position[0][b], edges), axis=-1)
        ids = np.array(np.broadcast_arrays(a[:, None], b[None, :]))
        bonded = {tuple(sorted(pair)) for pair in bonds}
        left_out = {"bonds": np.array([[tuple(sorted(p)) in bonded for p in row]
                                       for row in ids.transpose(1, 2, 0)]),
                    "molecules": ids[0] // 6 == ids[1] // 6}
        limits = np.linspace(0, 3, 21)
        for kind, out in left_out.items():
            self.assertGreater(out.sum(), 0)
            ideal = (~out).sum() * np.diff(limits**3) * 4 * np.pi / 3 / np.linalg.det(edges)
            counts = np.histogram(d[~out], limits)[0]
            self.assertLess(np.abs(self.read(kind + ".h5", "rdf")[0] * ideal - counts).max(), 3)

    def rdf_of_pairs(self, d, counted, limits, edges):
        """Counts of these pairs by bin, [i, j] with i < j, and what an ideal gas would have."""
        counted = np.triu(counted | counted.T, 1)
        ideal = counted.sum() * np.diff(limits**3) * 4 * np.pi / 3 / np.linalg.det(edges)
        return np.histogram(d[counted], limits)[0], ideal

    def test_rdf_of_groups(self):
        """Within a group, and between two groups that overlap, with all that can be excluded,
        against every pair."""
        groups = {"left": {"formula": "x < 0"}, "some": {"ids": [[5, 60], [70, 119]]},
                  "b": {"types": ["B"]}}
        chains = {"type": "chains", "chains": 20, "pattern": "A3B3", "density": 0.1,
                  "min_distance": 0.8}
        observers = [{"type": "trajectory", "stride": 1, "precision": "double",
                      "quantities": ["position", "velocity", "image"]}]
        which = {"left": {"group": "left"}, "two": {"groups": ["left", "some"]},
                 "unlike": {"groups": ["some", "b"]}}
        for kind in ("none", "bonds", "molecules"):
            for name, key in which.items():
                observers.append({"type": "rdf", "stride": 1, "rows_every": 1, "bins": 20,
                                  "r_max": 3, "exclude": kind, **key, "file": f"{name}{kind}.h5"})
        self.run_job(chains, observers, ignore=["bonds", "angles"], groups=groups)
        position, _, _, edges, species = self.trajectory()
        with h5py.File(self.path("trajectory.h5")) as file:
            bonds = file["connectivity/bonds"][:]
        n = len(species)
        ids = np.arange(n)
        member = {"left": position[0][:, 0] < edges[0, 0] / 2, "b": species == 1,
                  "some": (ids >= 5) & (ids < 120) & ~((ids > 60) & (ids < 70))}
        self.assertTrue((member["left"] & member["some"]).any())
        bonded = np.zeros((n, n), bool)
        bonded[bonds[:, 0], bonds[:, 1]] = bonded[bonds[:, 1], bonds[:, 0]] = True
        left_out = {"none": np.zeros((n, n), bool), "bonds": bonded,
                    "molecules": ids[:, None] // 6 == ids[None] // 6}
        d = np.linalg.norm(self.vectors(position[0], position[0], edges), axis=-1)
        limits = np.linspace(0, 3, 21)
        for kind, out in left_out.items():
            for name, key in which.items():
                one, other = key.get("groups", [key.get("group")] * 2)
                pairs = member[one][:, None] & member[other][None] & ~out
                with h5py.File(self.path(f"{name}{kind}.h5")) as file:
                    names = [text.decode() for text in file["parameters/perrin/pairs"][:]]
                    found = file["observables/rdf/value"][0]
                expected = ["A-B", "B-B"] if name == "unlike" else ["A-A", "A-B", "B-B"]
                self.assertEqual(names, expected)
                for g, text in zip(found, names):
                    a, b = ("AB".index(letter) for letter in text.split("-"))
                    of = (species == a)[:, None] & (species == b)[None]
                    counts, ideal = self.rdf_of_pairs(d, (pairs | pairs.T) & (of | of.T), limits,
                                                      edges)
                    self.assertGreater(counts.sum(), 50)
                    np.testing.assert_allclose(g * ideal, counts, rtol=1e-9, atol=1e-9)

    def test_rdf_of_a_group_that_is_a_type(self):
        """The same numbers as by type, whatever is excluded."""
        chains = {"type": "chains", "chains": 30, "pattern": "A2B3", "density": 0.2,
                  "min_distance": 0.8}
        common = {"type": "rdf", "stride": 1, "rows_every": 10, "bins": 30}
        observers = []
        for kind in ("none", "bonds", "molecules"):
            observers += [
                {**common, "exclude": kind, "pairs": [["B", "B"]], "file": kind + "_type.h5"},
                {**common, "exclude": kind, "group": "b", "file": kind + "_group.h5"},
                {**common, "exclude": kind, "pairs": [["A", "B"]], "file": kind + "_types.h5"},
                {**common, "exclude": kind, "groups": ["b", "a"], "file": kind + "_groups.h5"}]
        self.run_job(chains, observers, steps=20, velocity={"temperature": 1},
                     groups={"a": {"types": ["A"]}, "b": {"types": ["B"]}},
                     forces=[{"type": "bond_harmonic",
                              "bonds": {"bond": {"stiffness": 30, "length": 1}}}])
        for kind in ("none", "bonds", "molecules"):
            for one, other in (("type", "group"), ("types", "groups")):
                for row in (0, 1):
                    expected = self.read(f"{kind}_{one}.h5", "rdf", row)
                    self.assertGreater(expected.max(), 0.5)
                    np.testing.assert_array_equal(self.read(f"{kind}_{other}.h5", "rdf", row),
                                                  expected)

    def test_rdf_of_groups_that_are_wrong(self):
        system = {"type": "random", "particles": {"A": 50}, "density": 0.5, "min_distance": 0}
        groups = {"slab": {"box": [[None, None, 0], [None, None, None]], "every": 10},
                  "one": {"ids": [3]}, "some": {"ids": [1, 2, 5]}}
        for keys, pattern in (
                ({"group": "slab"}, "group: .*slab.* chosen anew"),
                ({"groups": ["some", "slab"]}, r"groups\[1\]: .*slab.* chosen anew"),
                ({"group": "sum"}, "group: unknown group \"sum\""),
                ({"group": "one"}, "group: no pair of particles is in the group one"),
                ({"groups": ["some"]}, "groups: must be two names, got 1"),
                ({"group": "some", "groups": ["some", "one"]}, "cannot stand beside \"group\""),
                ({"group": "one", "pairs": [["A", "A"]]}, "no pair A-A is in the group one")):
            self.refused(system, [{"type": "rdf", **keys}], pattern, groups=groups)

    # -- S(k) by types ---------------------------------------------------------------------------

    def test_wave_vectors_name_their_unit(self):
        system = {"type": "random", "particles": {"A": 20}, "box": [6, 6, 6], "min_distance": 0}
        for units, unit in (("lj", None), ({"length": "angstrom", "energy": "kJ/mol", "mass": "u"},
                                           "angstrom-1")):
            self.run_job(system, [{"type": "structure_factor", "stride": 1, "rows_every": 1,
                                   "k_max": 3}], units=units)
            with h5py.File(self.path("structure_factor.h5")) as file:
                self.assertEqual(file["parameters/perrin/wave_vectors"].attrs.get("unit"), unit)

    def test_partial_structure_factors(self):
        self.run_job({"type": "random", "particles": {"A": 300, "B": 100}, "density": 0.5,
                      "min_distance": 0.6},
                     [{"type": "trajectory", "stride": 1},
                      {"type": "structure_factor", "k_max": 2.5, "partial": True, "stride": 1,
                       "rows_every": 1}])
        with h5py.File(self.path("trajectory.h5")) as file:
            position = file["particles/all/position/value"][0].astype(float)
            species = file["particles/all/species"][:]
        with h5py.File(self.path("structure_factor.h5")) as file:
            k = file["parameters/perrin/wave_vectors"][:]
            names = [name.decode() for name in file["parameters/perrin/pairs"][:]]
        self.assertEqual(names, ["A-A", "A-B", "B-B"])
        rho = np.array([np.exp(1j * position[species == t] @ k.T).sum(axis=0) for t in (0, 1)])
        n = np.array([300, 100])
        expected = [(rho[a] * rho[b].conj()).real / np.sqrt(n[a] * n[b])
                    for a, b in ((0, 0), (0, 1), (1, 1))]
        np.testing.assert_allclose(self.read("structure_factor.h5", "partial_structure_factor"),
                                   expected, atol=1e-3)
        np.testing.assert_allclose(self.read("structure_factor.h5", "structure_factor"),
                                   abs(rho.sum(axis=0)) ** 2 / 400, atol=1e-3)

    def test_structure_factors_of_a_group(self):
        """Of those who scatter alone, in all and by types."""
        self.run_job({"type": "random", "particles": {"A": 300, "B": 100}, "density": 0.5,
                      "min_distance": 0.6},
                     [{"type": "trajectory", "stride": 1},
                      {"type": "structure_factor", "k_max": 2.5, "partial": True, "stride": 1,
                       "rows_every": 1, "group": "some"}],
                     groups={"some": {"ids": [[50, 349]], "not": ["left"]},
                             "left": {"formula": "(x < 0)*(y < 0)"}})
        with h5py.File(self.path("trajectory.h5")) as file:
            position = file["particles/all/position/value"][0].astype(float)
            edges = file["particles/all/box/edges/value"][0]
            species = file["particles/all/species"][:]
        with h5py.File(self.path("structure_factor.h5")) as file:
            k = file["parameters/perrin/wave_vectors"][:]
        ids = np.arange(400)
        half = np.diag(edges) / 2
        some = (ids >= 50) & (ids < 350) & ~((position[:, :2] < half[:2]).all(axis=1))
        self.assertTrue(150 < some.sum() < 280)
        rho = np.array([np.exp(1j * position[some & (species == t)] @ k.T).sum(axis=0)
                        for t in (0, 1)])
        n = [(some & (species == t)).sum() for t in (0, 1)]
        expected = [(rho[a] * rho[b].conj()).real / np.sqrt(n[a] * n[b])
                    for a, b in ((0, 0), (0, 1), (1, 1))]
        np.testing.assert_allclose(self.read("structure_factor.h5", "partial_structure_factor"),
                                   expected, atol=1e-3)
        np.testing.assert_allclose(self.read("structure_factor.h5", "structure_factor"),
                                   abs(rho.sum(axis=0)) ** 2 / some.sum(), atol=1e-3)

    def test_chain_sizes_of_a_group(self):
        """Of molecules that are wholly in it."""
        self.run_job({"type": "chains", "chains": 20, "pattern": "A6", "density": 0.1,
                      "min_distance": 0.8},
                     [{"type": "trajectory", "stride": 1, "precision": "double",
                       "positions": "unwrapped"},
                      {"type": "chain_size", "stride": 1, "group": "some"}],
                     ignore=["bonds", "angles"], groups={"some": {"ids": [[9, 44]]}})
        with h5py.File(self.path("trajectory.h5")) as file:
            chains = file["particles/all/position/value"][0].reshape(20, 6, 3)[2:7]
        gyration = ((chains - chains.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean(axis=1)
        ends = ((chains[:, -1] - chains[:, 0]) ** 2).sum(axis=1)
        self.assertAlmostEqual(self.read("chain_size.h5", "radius_of_gyration_squared"),
                               gyration.mean(), places=5)
        self.assertAlmostEqual(self.read("chain_size.h5", "end_to_end_squared"), ends.mean(),
                               places=4)

    def test_groups_that_cannot_be_observed(self):
        system = {"type": "chains", "chains": 20, "pattern": "A6", "density": 0.1,
                  "min_distance": 0.8}
        groups = {"slab": {"box": [[None, None, 0], [None, None, None]], "every": 10},
                  "one": {"ids": [3]}}
        for observer in ({"type": "structure_factor", "k_max": 2}, {"type": "chain_size"},
                         {"type": "bond_order", "distance": 1.2},
                         {"type": "cluster_size", "distance": 1.2}):
            for keys, pattern in (({"group": "slab"}, "group: .*slab.* chosen anew"),
                                  ({"group": "sum"}, 'group: unknown group "sum"')):
                self.refused(system, [{**observer, **keys}], pattern, groups=groups,
                             ignore=["bonds", "angles"])
        self.refused(system, [{"type": "chain_size", "group": "one"}],
                     'no molecule of several particles is wholly in "one"', groups=groups,
                     ignore=["bonds", "angles"])

    # -- distances and neighbours of groups ------------------------------------------------------

    MOVES = {"forces": [{"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 30,
                                                                     "length": 1}}}],
             "ignore": ["angles"], "velocity": {"temperature": 40}}
    FRAMES = {"type": "trajectory", "stride": 1, "precision": "double",
              "quantities": ["position", "velocity", "image"]}

    @staticmethod
    def shortest(d, edges, axes=(True, True, True), reach=2):
        """The shortest images of vectors, of all that there are nearby."""
        ranges = [range(-reach, reach + 1) if wraps else (0,) for wraps in axes]
        shifts = np.array(np.meshgrid(*ranges)).reshape(3, -1).T @ edges
        best = np.array(d)
        for shift in shifts:
            other = d + shift
            shorter = (other**2).sum(axis=-1) < (best**2).sum(axis=-1) - 1e-9
            best = np.where(shorter[..., None], other, best)
        return best

    def check_group_distance(self, system, groups, members, masses, steps=40,
                             axes=(True, True, True), **more):
        """`members`: ids of each group."""
        pairs = [["one", "other"], ["other", "third"], ["third", "one"]]
        self.run_job(system, [{**self.FRAMES, "stride": 10},
                              {"type": "group_distance", "pairs": pairs, "stride": 10,
                               "minimum": True}], steps=steps, groups=groups,
                     integrator={**VERLET, "timestep": 0.01}, **more)
        position, image, _, _, _ = self.trajectory()
        with h5py.File(self.path("trajectory.h5")) as file:
            edges = file["particles/all/box/edges/value"][0]
        with h5py.File(self.path("group_distance.h5")) as file:
            names = [text.decode() for text in file["parameters/perrin/pairs"][:]]
            found = {name: file[f"observables/{name}/value"][:]
                     for name in ("distance", "vector", "minimum_distance")}
            self.assertEqual(list(file["observables/distance/step"]), list(range(0, steps + 1, 10)))
        self.assertEqual(names, [" ".join(pair) for pair in pairs])
        edges = np.diag(edges) if edges.ndim == 1 else edges
        whole = position + image @ edges
        for frame in range(len(whole)):
            for k, (a, b) in enumerate(pairs):
                a, b = members[a], members[b]
                centre = [np.average(whole[frame][ids], axis=0, weights=masses[ids])
                          for ids in (a, b)]
                vector = self.shortest(centre[1] - centre[0], edges, axes, reach=6)
                np.testing.assert_allclose(found["vector"][frame, k], vector, atol=1e-6)
                self.assertAlmostEqual(found["distance"][frame, k], np.linalg.norm(vector), 6)
                d = position[frame][b][None] - position[frame][a][:, None]
                least = np.linalg.norm(self.shortest(d, edges, axes), axis=-1).min()
                self.assertAlmostEqual(found["minimum_distance"][frame, k], least, 6)
        return image, found

    def test_group_distances(self):
        """Of chains that cross the box, with masses, against all images of all pairs."""
        chains = {"type": "chains", "chains": 30, "pattern": "A3B3", "density": 0.2,
                  "min_distance": 0.8, "masses": {"B": 2.5}}
        groups = {"one": {"ids": [[0, 5]]}, "other": {"molecules": [17, 20]},
                  "third": {"types": ["B"], "not": ["one", "other"]}}
        ids = np.arange(180)
        first, two = ids[:6], ids[(ids // 6 == 17) | (ids // 6 == 20)]
        rest = np.array([i for i in ids[ids % 6 >= 3] if i not in first and i not in two])
        masses = np.where(ids % 6 < 3, 1, 2.5)
        image, _ = self.check_group_distance(
            chains, groups, {"one": first, "other": two, "third": rest}, masses, **self.MOVES)
        self.assertGreater(abs(image[-1] - image[0]).max(), 0)

    def test_group_distances_in_other_boxes(self):
        """Tilted, in two dimensions, with open faces; near and beyond half the box."""
        rng = np.random.default_rng(5)
        blob = lambda n, at, width=0.3: rng.normal(size=(n, 3)) * width + at
        groups = {"one": {"ids": [[0, 9]]}, "other": {"ids": [[10, 39]]}, "third": {"ids": [40]}}
        members = {"one": np.arange(10), "other": np.arange(10, 40), "third": np.array([40])}
        for name, edges, at, axes in (
                ("far apart", np.diag([8., 9, 10]), [[2, 2, 2], [6, 6.5, 7], [2, 2.5, 7]], "T T T"),
                ("tilted", np.array([[8., 0, 0], [3.9, 8, 0], [-3.7, 3.8, 8]]),
                 [[1, 1, 1], [5, 6, 5], [5.5, 4, 4.4]], "T T T"),
                ("open", np.diag([6., 7, 20]), [[1, 1, 2], [4, 4, 17], [5.5, 6.5, 9]], "T T F"),
                ("flat", np.diag([9., 12, 1]), [[1, 1, 0], [5, 7, 0], [8.5, 3, 0]], "T T T")):
            with self.subTest(name):
                x = np.concatenate([blob(10, at[0]), blob(30, at[1]), blob(1, at[2])])
                flat = name == "flat"
                if flat:
                    x[:, 2] = 0
                system = self.write_xyz(x, edges, axes)
                if flat:
                    system["dimension"] = 2
                _, found = self.check_group_distance(
                    system, groups, members, np.ones(41), steps=0,
                    axes=[a == "T" and not (flat and k == 2) for k, a in enumerate(axes.split())])
                if name == "far apart":
                    self.assertGreater(found["minimum_distance"][0, 0], 4)  # half of the box

    def test_coordination(self):
        """By group and type, smooth and not, within molecules and not, against every pair."""
        chains = {"type": "chains", "chains": 40, "pattern": "A3B3", "density": 0.3,
                  "min_distance": 0.7}
        groups = {"left": {"formula": "x < 0", "every": 4}, "some": {"ids": [[5, 60], [70, 119]]}}
        common = {"type": "coordination", "stride": 4, "rows_every": 20, "distance": 1.5,
                  "numbers": 6}
        which = {"all": {}, "types": {"types": ["A"], "neighbor_types": ["B"]},
                 "groups": {"group": "some", "neighbor_group": "left", "neighbor_types": ["A"]},
                 "layer": {"group": "left", "neighbor_group": "some"}}
        observers = [{**self.FRAMES, "stride": 4}]
        for name, keys in which.items():
            for exclude in ("none", "molecules"):
                observers += [{**common, **keys, "exclude": exclude, "file": f"{name}{exclude}.h5"},
                              {**common, **keys, "exclude": exclude, "smooth_from": 1.1,
                               "file": f"{name}{exclude}_smooth.h5"}]
        self.run_job(chains, observers, steps=20, groups=groups,
                     integrator={**VERLET, "timestep": 0.005}, **self.MOVES)
        position, _, _, edges, species = self.trajectory()
        ids = np.arange(240)
        some = (ids >= 5) & (ids < 120) & ~((ids > 60) & (ids < 70))
        everyone = np.ones(240, bool)
        for row, frames in ((0, [0]), (1, range(1, 6))):
            for name, keys in which.items():
                for exclude in ("none", "molecules"):
                    n, weights = [], []
                    for frame in frames:
                        x = position[frame]
                        group = {"all": everyone, "some": some,
                                 # Chosen when the step after the frame before began.
                                 "left": position[max(frame - 1, 0)][:, 0] < edges[0, 0] / 2}
                        of = lambda key, types: group[keys.get(key, "all")] & np.isin(
                            species, ["AB".index(t) for t in keys.get(types, "AB")])
                        near = (of("group", "types")[:, None]
                                & of("neighbor_group", "neighbor_types")[None]
                                & (ids[:, None] != ids[None]))
                        if exclude == "molecules":
                            near &= ids[:, None] // 6 != ids[None] // 6
                        r = np.linalg.norm(self.vectors(x, x, edges), axis=-1)
                        y = np.clip((r - 1.1) / 0.4, 0, 1)
                        own = of("group", "types")
                        n.append((near & (r < 1.5)).sum(axis=1)[own])
                        weights.append((near * (1 - 10 * y**3 + 15 * y**4 - 6 * y**5))
                                       .sum(axis=1)[own])
                    n, weights = np.concatenate(n), np.concatenate(weights)
                    self.assertGreater(n.sum(), 20)
                    for end, mean in (("", n.mean()), ("_smooth", weights.mean())):
                        file = f"{name}{exclude}{end}.h5"
                        self.assertAlmostEqual(self.read(file, "coordination", row), mean, 6)
                        self.assertAlmostEqual(self.read(file, "particles", row),
                                               len(n) / len(frames))
                        np.testing.assert_allclose(
                            self.read(file, "distribution", row),
                            np.bincount(np.minimum(n, 7), minlength=8) / len(n), atol=1e-12)

    def test_coordination_in_two_dimensions(self):
        """Of a hexagonal lattice; and of an ideal gas: Poisson's distribution."""
        self.run_job({"type": "lattice", "structure": "hexagonal", "lattice_constant": 1,
                      "cells": [8, 6, 1]},
                     [{"type": "coordination", "stride": 1, "rows_every": 1, "distance": 1.3}])
        self.assertEqual(self.read("coordination.h5", "coordination"), 6)
        self.assertEqual(self.read("coordination.h5", "distribution")[6], 1)
        self.run_job({"type": "random", "particles": {"A": 8000}, "density": 0.5,
                      "min_distance": 0, "dimension": 2},
                     [{"type": "coordination", "stride": 1, "rows_every": 1, "distance": 1.4,
                       "numbers": 30}])
        mean = 0.5 * np.pi * 1.4**2
        self.assertAlmostEqual(self.read("coordination.h5", "coordination"), mean, delta=0.06)
        expected = np.exp(-mean) * np.cumprod(np.r_[1, mean / np.arange(1, 31)])
        np.testing.assert_allclose(self.read("coordination.h5", "distribution")[:31], expected,
                                   atol=0.02)

    def test_mistakes_of_distances_and_neighbours(self):
        system = {"type": "random", "particles": {"A": 100, "B": 10}, "density": 0.1,
                  "min_distance": 0.5}
        groups = {"slab": {"box": [[None, None, 0], [None, None, None]], "every": 10},
                  "low": {"ids": [[0, 20]]}, "high": {"ids": [[20, 40]]}}
        for observer, pattern in (
                ({"type": "group_distance", "pairs": []}, "pairs: must name at least one pair"),
                ({"type": "group_distance", "pairs": [["low", "hi"]]},
                 r'pairs\[0\]\[1\]: unknown group "hi"'),
                ({"type": "group_distance", "pairs": [["slab", "high"]]},
                 r"pairs\[0\]\[0\]: .*slab.* chosen anew"),
                ({"type": "group_distance", "pairs": [["low", "high"]], "minimum": True},
                 r'pairs\[0\]: must have no particle in common with "minimum", got 20 in "low"'),
                ({"type": "coordination", "distance": 50}, "distance: must be at most half"),
                ({"type": "coordination", "distance": 2, "smooth_from": 2},
                 r"smooth_from: must be below distance \(2\), got 2"),
                ({"type": "coordination", "distance": 2, "exclude": "molecules"},
                 "exclude: needs molecules"),
                ({"type": "coordination", "distance": 2, "types": ["C"]},
                 'unknown particle type "C"'),
                ({"type": "coordination", "distance": 2, "neighbor_types": ["B"],
                  "neighbor_group": "low"}, 'neighbor_types: "low" has no particle of these'),
                ({"type": "coordination", "distance": 2, "neighbor_group": "some"},
                 'neighbor_group: unknown group "some"')):
            with self.subTest(observer=observer):
                self.refused(system, [observer], pattern, groups=groups)

    # -- profiles --------------------------------------------------------------------------------

    def check_radial(self, position, velocity, middle, edges, r_max, axis=None, file="radial.h5"):
        d = self.vectors(position, middle[None], edges)[:, 0]
        volume = np.linspace(0, r_max, 11) ** 3 * 4 * np.pi / 3
        if axis is not None:
            d[:, axis] = 0
            volume = np.linspace(0, r_max, 11) ** 2 * np.pi * edges[axis, axis]
        r = np.linalg.norm(d, axis=1)
        radial = (velocity * d).sum(axis=1) / r
        read = lambda name: self.read(file, name)
        for b in range(10):
            own = (r >= b * r_max / 10) & (r < (b + 1) * r_max / 10)
            n = own.sum()
            self.assertAlmostEqual(read("density")[b] * (volume[b + 1] - volume[b]), n, delta=1.01)
            if abs(read("density")[b] * (volume[b + 1] - volume[b]) - n) > 0.1 or n == 0:
                continue  # a particle at the face of a bin
            u = radial[own].mean()
            self.assertAlmostEqual(read("radial_velocity")[b], u, delta=1e-4)
            self.assertAlmostEqual(read("temperature")[b],
                                   ((velocity[own] ** 2).sum() / n - u * u) / 3, delta=1e-4)

    def test_radial_profiles(self):
        common = {"type": "radial_profile", "bins": 10, "stride": 1, "rows_every": 1}
        self.run_job({"type": "random", "particles": {"A": 3000}, "box": [9, 10, 11],
                      "min_distance": 0},
                     [{"type": "trajectory", "stride": 1, "quantities": ["position", "velocity"]},
                      {**common, "center": [-4, 2, 5], "r_max": 4, "file": "point.h5"},
                      {**common, "axis": "y", "file": "axis.h5"},
                      {**common, "about": "center_of_mass", "file": "mass.h5"}],
                     velocity={"temperature": 1})
        with h5py.File(self.path("trajectory.h5")) as file:
            position = file["particles/all/position/value"][0].astype(float)
            velocity = file["particles/all/velocity/value"][0].astype(float)
        edges = np.diag([9.0, 10, 11])
        half = np.array([4.5, 5, 5.5])  # of the file's coordinates
        self.check_radial(position, velocity, half + [-4, 2, 5], edges, 4, file="point.h5")
        self.check_radial(position, velocity, half, edges, 4.5, axis=1, file="axis.h5")
        turn = np.exp(2j * np.pi * position / np.diag(edges)).mean(axis=0)
        middle = np.angle(turn) / 2 / np.pi * np.diag(edges)
        self.check_radial(position, velocity, middle, edges, 4.5, file="mass.h5")

    def test_pressure_profile(self):
        """Against pair forces by numpy, and the mean over the slabs against thermo."""
        self.run_job({"type": "random", "particles": {"A": 500}, "box": [8, 9, 10],
                      "min_distance": 0.85},
                     [{"type": "trajectory", "stride": 10, "quantities": ["position", "velocity"]},
                      {"type": "thermo", "stride": 10},
                      {"type": "pressure_profile", "axis": "y", "bins": 6, "stride": 10,
                       "rows_every": 10},
                      {"type": "pressure_profile", "bins": 7, "stride": 10, "rows_every": 50,
                       "file": "mean.h5"}],
                     forces=[{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1,
                                                        "sigma": 1}]}],
                     velocity={"temperature": 1}, steps=50,
                     integrator={**VERLET, "timestep": 0.001})
        with h5py.File(self.path("trajectory.h5")) as file:
            position = file["particles/all/position/value"][-1].astype(float)
            velocity = file["particles/all/velocity/value"][-1].astype(float)
        edges = np.diag([8.0, 9, 10])
        d = self.vectors(position, position, edges)
        r2 = (d**2).sum(axis=-1)
        near = (r2 > 0) & (r2 < 2 ** (1 / 3))
        inverse = np.where(near, 1 / np.where(near, r2, 1), 0)
        force = 24 * (2 * inverse**7 - inverse**4)  # over distance
        share = velocity**2 + (force[..., None] * d * d).sum(axis=1) / 2
        slab = (position[:, 1] / 1.5).astype(int)
        expected = [share[slab == b].sum(axis=0) / (720 / 6) for b in range(6)]
        np.testing.assert_allclose(self.read("pressure_profile.h5", "pressure"), expected,
                                   rtol=1e-3)
        tensor = self.read("thermo.h5", "pressure_tensor", slice(1, None))
        np.testing.assert_allclose(self.read("mean.h5", "pressure").mean(axis=0),
                                   np.diagonal(tensor, axis1=1, axis2=2).mean(axis=0), rtol=1e-6)

    # -- correlations ----------------------------------------------------------------------------

    def test_correlations_of_a_liquid(self):
        common = {"stride": 2, "rows_every": 150, "levels": 4}
        lj = {"type": "lennard_jones", "cutoff": 2, "truncation": "force_shift", "mixing":
              "lorentz_berthelot", "pairs": [{"types": [t, t], "epsilon": 1, "sigma": s}
                                             for t, s in (("A", 1), ("B", 0.9))]}
        self.run_job({"type": "lattice", "density": 0.7, "cells": [4, 4, 4],
                      "types": {"A": 3, "B": 1}, "masses": {"B": 2}},
                     [{"type": "trajectory", "stride": 2,
                       "quantities": ["position", "velocity", "image"]},
                      {"type": "thermo", "stride": 2},
                      {"type": "mean_square_displacement", **common},
                      {"type": "mean_square_displacement", **common, "remove_drift": True,
                       "types": ["B"], "particles": 0, "file": "without_drift.h5"},
                      {"type": "velocity_autocorrelation", **common},
                      {"type": "stress_autocorrelation", **common}],
                     steps=300, forces=[lj], velocity={"temperature": 1.5},
                     integrator={"type": "langevin", "timestep": 0.004, "temperature": 1.5,
                                 "friction": 2})
        position, image, velocity, edges, species = self.trajectory()
        unwrapped = position + image @ edges
        mass = np.where(species == 1, 2.0, 1.0)
        centre = (unwrapped * mass[:, None]).sum(axis=1) / mass.sum()
        lags = None
        for file, series, product in (
                ("mean_square_displacement", unwrapped, square_displacement),
                ("velocity_autocorrelation", velocity, dot)):
            for kind in (0, 1):
                lags = multiple_tau(series[:, species == kind], product, 4)
                np.testing.assert_allclose(self.read(file + ".h5", file)[kind], lags[:, 1],
                                           rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(self.read(file + ".h5", "lag_time"), lags[:, 0] * 0.008)
            np.testing.assert_array_equal(self.read(file + ".h5", "origins"), lags[:, 2])
        still = multiple_tau((unwrapped - centre[:, None])[:, species == 1], square_displacement, 4)
        np.testing.assert_allclose(
            self.read("without_drift.h5", "mean_square_displacement")[0], still[:, 1], rtol=1e-4,
            atol=1e-4)
        # The stress, from what thermo wrote.
        p = self.read("thermo.h5", "pressure_tensor", slice(None))
        w = 6**-0.5
        stress = np.stack([p[:, 0, 1], p[:, 0, 2], p[:, 1, 2], w * (p[:, 0, 0] - p[:, 1, 1]),
                           w * (p[:, 0, 0] - p[:, 2, 2]), w * (p[:, 1, 1] - p[:, 2, 2])], axis=-1)
        temperature = self.read("thermo.h5", "temperature", slice(None)).mean()
        lags = multiple_tau(stress[:, None, :], dot, 4)
        g = lags[:, 1] * np.linalg.det(edges) / 5 / temperature
        np.testing.assert_allclose(self.read("stress_autocorrelation.h5", "stress_autocorrelation"),
                                   g, rtol=1e-9)
        time = lags[:, 0] * 0.008
        viscosity = np.concatenate([[0], np.cumsum(np.diff(time) * (g[1:] + g[:-1]) / 2)])
        np.testing.assert_allclose(self.read("stress_autocorrelation.h5", "viscosity"), viscosity,
                                   rtol=1e-9)
        self.assertAlmostEqual(self.read("stress_autocorrelation.h5", "temperature"), temperature)

    def test_free_langevin_particles(self):
        """An Ornstein-Uhlenbeck process: <v v> = 3 T exp(-t), <dr²> = 6 T (t - 1 + exp(-t))."""
        common = {"stride": 5, "rows_every": 4000, "levels": 6}
        self.run_job({"type": "random", "particles": {"A": 1000}, "density": 1, "min_distance": 0},
                     [{"type": "mean_square_displacement", **common},
                      {"type": "velocity_autocorrelation", **common}],
                     steps=4000, velocity={"temperature": 1},
                     integrator={"type": "langevin", "timestep": 0.01, "temperature": 1,
                                 "friction": 1})
        t = self.read("mean_square_displacement.h5", "lag_time")
        kept = (t > 0) & (t < 6)
        self.assertGreater(kept.sum(), 30)
        t = t[kept]
        msd = self.read("mean_square_displacement.h5", "mean_square_displacement")[0][kept]
        vacf = self.read("velocity_autocorrelation.h5", "velocity_autocorrelation")[0][kept]
        # 1000 particles, some ten independent spans of time: 2 %.
        np.testing.assert_allclose(msd, 6 * (t - 1 + np.exp(-t)), rtol=0.04)
        np.testing.assert_allclose(vacf, 3 * np.exp(-t), atol=0.06)

    def test_chains_of_which_motion_is_measured(self):
        """Against numpy, of every second chain."""
        beads, inner, modes = 7, 3, [1, 4]
        self.run_job({"type": "chains", "chains": 12, "pattern": "A7", "density": 0.1,
                      "min_distance": 0.8},
                     [{"type": "trajectory", "stride": 2, "precision": "double",
                       "quantities": ["position", "velocity", "image"]},
                      {"type": "chain_dynamics", "stride": 2, "rows_every": 100, "levels": 3,
                       "chains": 6, "inner": inner, "modes": modes}],
                     steps=200, velocity={"temperature": 1}, ignore=["angles"],
                     forces=[{"type": "bond_harmonic",
                              "bonds": {"bond": {"stiffness": 50, "length": 1}}}],
                     integrator={"type": "langevin", "timestep": 0.01, "temperature": 1,
                                 "friction": 1})
        position, image, _, edges, _ = self.trajectory()
        r = (position + image @ edges).reshape(len(position), 12, beads, 3)[:, ::2]
        centre = r.mean(axis=2, keepdims=True)
        middle = r[:, :, 2:5]
        n = np.arange(beads) + 0.5
        flat = lambda x: x.reshape(len(x), -1, 3)
        expected = {"g1": multiple_tau(flat(middle), square_displacement, 3),
                    "g2": multiple_tau(flat(middle - centre), square_displacement, 3),
                    "g3": multiple_tau(flat(centre), square_displacement, 3),
                    "end_to_end": multiple_tau(r[:, :, -1] - r[:, :, 0], dot, 3)}
        read = lambda name: self.read("chain_dynamics.h5", name)
        for name, lags in expected.items():
            np.testing.assert_allclose(read(name), lags[:, 1], rtol=1e-5, atol=1e-5)
        for k, p in enumerate(modes):
            mode = (r * np.cos(p * np.pi * n / beads)[:, None]).mean(axis=2)
            np.testing.assert_allclose(read("rouse_modes")[k], multiple_tau(mode, dot, 3)[:, 1],
                                       rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(read("lag_time"), expected["g1"][:, 0] * 0.02)

    def test_phantom_chains_move_as_rouse_says(self):
        """Brownian beads on springs k: X_p relaxes as exp(-4 k sin²(p pi / 2N) t / friction), from
        3 T / (8 N k sin²(p pi / 2N)); the centre diffuses with T / (N friction)."""
        beads, k, friction = 10, 3.0, 1.0
        self.run_job({"type": "chains", "chains": 2000, "pattern": "A10", "density": 0.1,
                      "min_distance": 0},
                     [{"type": "chain_dynamics", "stride": 20, "rows_every": 16000, "levels": 6,
                       "chains": 0, "stages": ["measured"]}],
                     forces=[{"type": "bond_harmonic",
                              "bonds": {"bond": {"stiffness": k, "length": 0}}}],
                     ignore=["angles"],
                     stages=[{"type": "md", "name": name, "steps": steps,
                              "integrator": {"type": "brownian", "timestep": 0.002,
                                             "temperature": 1, "friction": friction}}
                             for name, steps in (("equilibration", 12000), ("measured", 16000))])
        read = lambda name: self.read("chain_dynamics.h5", name)
        t, modes = read("lag_time"), read("rouse_modes")
        np.testing.assert_array_equal(len(modes), 5)
        for p, found in enumerate(modes, 1):
            s2 = np.sin(p * np.pi / 2 / beads) ** 2
            static, time = 3 / (8 * beads * k * s2), friction / (4 * k * s2)
            # 6000 numbers, 32 / time independent ones each or one; the time step: 4 k s2 dt.
            error = np.sqrt(2 / 6000 / max(1, 32 / (2 * time))) + 2 * k * s2 * 0.002
            short = t < 2 * time
            np.testing.assert_allclose(found[short], static * np.exp(-t[short] / time),
                                       atol=5 * error * static)
        some = (t > 0) & (t < 3)
        # Of 2000 chains and some ten times: 1 %.
        np.testing.assert_allclose(read("g3")[some], 6 * t[some] / beads / friction, rtol=0.04)

    def test_chains_whose_motion_cannot_be_measured(self):
        chains = {"type": "chains", "chains": 20, "pattern": "A6", "density": 0.1,
                  "min_distance": 0.8}
        two = {"type": "parts", "box": [20, 20, 20], "parts": [
            {"type": "chains", "number": 3, "pattern": "A4", "bond_length": 1},
            {"type": "chains", "number": 3, "pattern": "B6", "bond_length": 1}]}
        observer = {"type": "chain_dynamics"}
        self.refused(two, [observer], "group: has chains of 4 to 6 beads: expected one length",
                     ignore=["bonds", "angles"])
        self.refused(chains, [{**observer, "modes": [2, 6]}],
                     r"modes\[1\]: must be below 6, the number of beads of a chain, got 6",
                     ignore=["bonds", "angles"])
        self.refused(chains, [{**observer, "inner": 7}],
                     "inner: must be at most the 6 beads of a chain, got 7",
                     ignore=["bonds", "angles"])
        self.refused({"type": "lattice", "density": 0.7, "cells": [3, 3, 3]}, [observer],
                     "group: the system has no linear molecule")
        self.refused(chains, [{**observer, "group": "one"}],
                     "group: no linear molecule of two beads or more is wholly in \"one\"",
                     ignore=["bonds", "angles"], groups={"one": {"ids": [3]}})

    def test_correlations_begin_anew_after_a_gap(self):
        stage = {"type": "md", "steps": 20, "integrator": VERLET}
        self.run_job({"type": "random", "particles": {"A": 100}, "density": 1, "min_distance": 0},
                     [{"type": "mean_square_displacement", "stride": 2, "rows_every": 60,
                       "levels": 1, "stages": ["measured"]}], velocity={"temperature": 1},
                     stages=[{**stage, "name": "measured"}, stage, {**stage, "name": "measured"}])
        # Samples at 40, 42, … 60 alone are correlated.
        np.testing.assert_array_equal(self.read("mean_square_displacement.h5", "origins"),
                                      [11 - k if k < 11 else 0 for k in range(16)])

    # -- order and clusters ----------------------------------------------------------------------

    def write_xyz(self, positions, edges, pbc="T T T"):
        with open(self.path("crystal.xyz"), "w") as out:
            numbers = " ".join(repr(float(x)) for x in np.ravel(edges))
            out.write(f'{len(positions)}\nLattice="{numbers}" Properties=species:S:1:pos:R:3 '
                      f'pbc="{pbc}"\n')
            for r in positions:
                out.write("A {:.12f} {:.12f} {:.12f}\n".format(*r))
        return {"type": "file", "path": "crystal.xyz"}

    def bond_order(self, system, distance, **more):
        self.run_job(system, [{"type": "bond_order", "distance": distance, "stride": 1,
                               "rows_every": 1, **more}])
        return lambda name: self.read("bond_order.h5", name)

    def test_bond_order_of_crystals(self):
        """Table I of W. Mickel et al., J. Chem. Phys. 138, 044501 (2013)."""
        for name, lattice, distance, neighbors, q4, q6 in (
                ("fcc", 1.0, 0.85, 12, 0.1909, 0.5745),
                ("bcc", 1.0, 0.93, 8, 0.5092, 0.6285),
                ("sc", 1.0, 1.1, 6, 0.7638, 0.3536)):
            q = self.bond_order({"type": "lattice", "structure": name, "lattice_constant": lattice,
                                 "cells": [4, 4, 4]}, distance)
            self.assertEqual(q("neighbors"), neighbors)
            for kind in ("", "_averaged", "_global"):  # alike in a perfect crystal
                self.assertAlmostEqual(q("q4" + kind), q4, delta=1e-4)
                self.assertAlmostEqual(q("q6" + kind), q6, delta=1e-4)
            self.assertAlmostEqual(q("q6_distribution")[int(100 * q6)], 1)
        c = np.sqrt(8 / 3)
        cell = np.array([1, np.sqrt(3), c])
        basis = np.array([[0, 0, 0], [.5, .5, 0], [.5, 5 / 6, .5], [0, 1 / 3, .5]]) * cell
        shifts = np.array(np.meshgrid(*[range(4)] * 3)).reshape(3, -1).T * cell
        q = self.bond_order(self.write_xyz((basis[None] + shifts[:, None]).reshape(-1, 3),
                                           np.diag(4 * cell)), 1.2)
        self.assertEqual(q("neighbors"), 12)
        self.assertAlmostEqual(q("q4"), 0.0972, delta=1e-4)
        self.assertAlmostEqual(q("q6"), 0.4848, delta=1e-4)

    def test_psi6_of_a_hexagonal_lattice(self):
        q = self.bond_order({"type": "lattice", "structure": "hexagonal", "lattice_constant": 1,
                             "cells": [8, 6, 1]}, 1.3)
        self.assertEqual(q("neighbors"), 6)
        self.assertAlmostEqual(q("psi6"), 1, delta=1e-6)
        self.assertAlmostEqual(q("psi6_global"), 1, delta=1e-6)

    def test_bond_order_and_clusters_of_a_gas(self):
        """Any arrangement, by brute force, with Y_2m written out."""
        distance = 1.1
        self.run_job({"type": "random", "particles": {"A": 300, "B": 100}, "density": 0.3,
                      "min_distance": 0.5},
                     [{"type": "trajectory", "stride": 1,
                       "quantities": ["position", "velocity", "image"]},
                      {"type": "bond_order", "distance": distance, "l": [2], "stride": 1,
                       "rows_every": 1, "types": ["A"], "bins": 4},
                      {"type": "cluster_size", "distance": distance, "stride": 1, "rows_every": 1,
                       "types": ["A"], "sizes": 5}])
        position, _, _, edges, species = self.trajectory()
        self.check_bond_order_and_clusters(position[0][species == 0], edges, distance)

    def test_bond_order_and_clusters_of_a_group(self):
        distance = 1.1
        common = {"distance": distance, "stride": 1, "rows_every": 1, "group": "some"}
        self.run_job({"type": "random", "particles": {"A": 500}, "density": 0.3,
                      "min_distance": 0.5},
                     [{"type": "trajectory", "stride": 1,
                       "quantities": ["position", "velocity", "image"]},
                      {"type": "bond_order", "l": [2], "bins": 4, **common},
                      {"type": "cluster_size", "sizes": 5, **common}],
                     groups={"some": {"ids": [[10, 300], 444]}})
        position, _, _, edges, _ = self.trajectory()
        some = position[0][[*range(10, 301), 444]]
        self.check_bond_order_and_clusters(some, edges, distance)

    def check_bond_order_and_clusters(self, x, edges, distance):
        d = self.vectors(x, x, edges)
        r = np.linalg.norm(d, axis=-1)
        near = (r < distance) & (r > 0)
        u = d / np.where(r > 0, r, 1)[..., None]
        y2 = np.stack([np.sqrt(5 / 16 / np.pi) * (3 * u[..., 2] ** 2 - 1) + 0j,
                       np.sqrt(15 / 8 / np.pi) * (u[..., 0] + 1j * u[..., 1]) * u[..., 2],
                       np.sqrt(15 / 32 / np.pi) * (u[..., 0] + 1j * u[..., 1]) ** 2])
        n = near.sum(axis=1)
        q = (y2 * near).sum(axis=2) / np.maximum(n, 1)
        weight = np.array([1, 2, 2])[:, None]
        local = np.sqrt(4 * np.pi / 5 * (weight * abs(q) ** 2).sum(axis=0))
        mean = (q + (q[:, None, :] * near[None]).sum(axis=2)) / (n + 1)
        averaged = np.sqrt(4 * np.pi / 5 * (weight * abs(mean) ** 2).sum(axis=0))
        one = (q * n).sum(axis=1) / n.sum()
        self.assertAlmostEqual(self.read("bond_order.h5", "neighbors"), n.mean())
        self.assertAlmostEqual(self.read("bond_order.h5", "q2"), local.mean(), delta=1e-5)
        self.assertAlmostEqual(self.read("bond_order.h5", "q2_averaged"), averaged.mean(),
                               delta=1e-5)
        self.assertAlmostEqual(self.read("bond_order.h5", "q2_global"),
                               np.sqrt(4 * np.pi / 5 * (weight[:, 0] * abs(one) ** 2).sum()),
                               delta=1e-5)
        np.testing.assert_allclose(self.read("bond_order.h5", "q2_distribution"),
                                   np.histogram(np.minimum(local, 1), 4, (0, 1))[0] / len(x),
                                   atol=0.01)
        # Clusters: labels spread until nothing changes.
        label = np.arange(len(x))
        while True:
            least = np.where(near | np.eye(len(x), dtype=bool), label[None, :], len(x)).min(axis=1)
            if (least == label).all():
                break
            label = least
        size = np.bincount(label)
        size = size[size > 0]
        cluster = lambda name: self.read("cluster_size.h5", name)
        self.assertEqual(cluster("clusters"), len(size))
        self.assertEqual(cluster("largest"), size.max())
        self.assertGreater(size.max(), 5)
        self.assertAlmostEqual(cluster("mean_size"), size.mean())
        self.assertAlmostEqual(cluster("weight_mean_size"), (size**2).sum() / size.sum())
        np.testing.assert_array_equal(
            cluster("distribution"), [(size == k).sum() for k in range(1, 5)] + [(size >= 5).sum()])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
