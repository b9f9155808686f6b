#!/usr/bin/python3
"""Bonds that are made and broken while a job runs: sizes of molecules against Flory and Stockmayer,
what files hold of them, what follows them, and what is refused.

    dynamic_bonds.py PERRIN [unittest arguments]
"""

import copy
import json
import math
import os
import shutil
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase

WCA = {"type": "wca", "mixing": "lorentz_berthelot",
       "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1},
                 {"types": ["B", "B"], "epsilon": 1, "sigma": 1}]}
SPRINGS = {"type": "bond_harmonic", "bonds": {"ab": {"stiffness": 100, "length": 1}}}
BENDS = {"type": "angle_cosine", "angles": {"bend": {"stiffness": 1}}}
LANGEVIN = {"type": "langevin", "timestep": 0.003, "temperature": 1, "friction": 1}
FORM = {"types": ["A", "B"], "bond": "ab", "distance": 1.3, "probability": 0.3}
TRAVERSALS = ["tiles", "small", "cells", "verlet_list"] if DEVICE != "cpu" else [
    "clusters", "cells", "verlet_list"]


def gel(stages=None, forces=None, observers=(), **bonds):
    """600 particles of A and 400 of B."""
    rules = {"stride": 20, "form": [FORM], "valence": {"A": 2, "B": 3}, **bonds}
    return {"seed": 3, "dynamic_bonds": {k: v for k, v in rules.items() if v is not None},
            "system": {"type": "random", "particles": {"A": 600, "B": 400}, "density": 0.5,
                       "min_distance": 0.9},
            "velocity": {"temperature": 1}, "forces": forces or [WCA, SPRINGS],
            "observers": list(observers),
            "stages": stages or [{"type": "md", "steps": 400, "integrator": LANGEVIN}]}


def values(path, name):
    with h5py.File(path) as file:
        return file["observables"][name]["value"][()]


def connectivity(path, kind="bonds"):
    """[frame]: members and types."""
    with h5py.File(path) as file:
        members = file[f"connectivity/{kind}/value"][()]
        types = file[f"parameters/perrin/{kind}_type/value"][()]
        steps = file[f"connectivity/{kind}/step"][()]
        assert (steps == file["particles/all/position/step"][()]).all()
    there = members[:, :, 0] >= 0
    return [(m[t], k[t]) for m, k, t in zip(members, types, there)]


class DynamicBonds(JobCase):
    def refused(self, job, pattern):
        with open(self.path("wrong.json"), "w") as out:
            json.dump(job, out, indent=1)
        done = self.perrin("validate", "wrong.json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stderr, pattern)

    def test_sizes_of_molecules_are_those_of_flory_and_stockmayer(self):
        # Everybody meets everybody in half the box: no correlations, nearly no loops.
        f, n = 3, 3000
        job = {"seed": 5,
               "system": {"type": "random", "particles": {"A": n}, "density": 1,
                          "min_distance": 0},
               "forces": [{"type": "bond_harmonic",
                           "bonds": {"aa": {"stiffness": 1e-6, "length": 1}}}],
               "dynamic_bonds": {"stride": 1, "valence": {"A": f}, "form": [
                   {"types": ["A", "A"], "bond": "aa", "distance": 7.2, "probability": 1.2e-6,
                    "reactivity": "valence"}]},
               "observers": [{"type": "bonds", "stride": 5, "sizes": 12}],
               "stages": [{"type": "md", "steps": 60, "integrator": {
                   "type": "brownian", "timestep": 0.01, "temperature": 1, "friction": 1}}]}
        self.run_job(job)
        conversion = values(self.path("bonds.h5"), "conversion")
        found = values(self.path("bonds.h5"), "distribution")
        weight = values(self.path("bonds.h5"), "weight_mean_size")
        number = values(self.path("bonds.h5"), "molecules")
        self.assertGreater(conversion[-1], 0.2)
        self.assertLess(conversion[-1], 0.4)
        looked = 0
        for row, a in enumerate(conversion):
            if not 0.03 < a < 0.3:
                continue
            looked += 1
            for x in range(1, 9):
                # W. H. Stockmayer, J. Chem. Phys. 11, 45 (1943), eq. 15.
                ways = f * math.factorial(f * x - x) / (
                    math.factorial(f * x - 2 * x + 2) * math.factorial(x))
                expected = n * ways * a**(x - 1) * (1 - a)**(f * x - 2 * x + 2)
                self.assertLess(abs(found[row][x - 1] - expected), 4.5 * math.sqrt(expected) + 1,
                                f"{x} particles at conversion {a}: {expected}")
            # Each bond joins two molecules, but for the few that close loops.
            self.assertLess(abs(number[row] - n * (1 - f * a / 2)), 4)
            mean = (1 + a) / (1 - (f - 1) * a)
            self.assertLess(abs(weight[row] / mean - 1), 0.15)
        self.assertGreater(looked, 4)

    def test_a_gel_keeps_valences_and_files_agree(self):
        for traversal in TRAVERSALS:
            with self.subTest(traversal):
                job = gel(observers=[
                    {"type": "trajectory", "stride": 50, "precision": "double"},
                    {"type": "gsd", "stride": 50}, {"type": "bonds", "stride": 50}],
                    forces=[WCA, SPRINGS, BENDS], form=[{**FORM, "angle": "bend"}],
                    **{"break": [{"bond": "ab", "length": 1.25, "probability": 0.5}]})
                job["neighbors"] = {"traversal": traversal}
                self.run_job(job, folder=traversal)
                self.check_gel(self.path(traversal))

    def test_bonds_are_the_same_on_all_devices_and_traversals(self):
        """Of particles that stay where they are: then positions are equal everywhere, and bonds
        follow from these, seed, step and ids alone. Where there is a GPU, on the CPU and there."""
        ways = [("cpu", name) for name in ("clusters", "cells", "verlet_list")]
        if "cuda:0" in self.perrin("info").stdout:
            ways += [("cuda", name) for name in ("tiles", "small", "cells", "verlet_list")]
        job = gel([{"type": "md", "steps": 400, "integrator": {"type": "frozen",
                                                               "timestep": 0.003}}],
                  forces=[WCA, SPRINGS, BENDS], form=[{**FORM, "angle": "bend"}],
                  observers=[{"type": "trajectory", "stride": 50, "precision": "double"},
                             {"type": "bonds", "stride": 20}],
                  **{"break": [{"bond": "ab", "length": 1.1, "probability": 0.5}]})
        first = None
        for device, traversal in ways:
            with self.subTest(device=device, traversal=traversal):
                folder = f"{device}-{traversal}"
                job["neighbors"] = {"traversal": traversal}
                self.run_job(job, folder=folder, device=device)
                file = self.path(folder, "trajectory.h5")
                found = [connectivity(file), connectivity(file, "angles")]
                rows = [values(self.path(folder, "bonds.h5"), name)
                        for name in ("bonds", "formed", "broken", "weight_mean_size")]
                self.assertGreater(rows[0][-1][0], 300)
                self.assertGreater(rows[2][-1][0], 300)
                first = first or (found, rows)
                numpy.testing.assert_equal((found, rows), first)

    def check_gel(self, folder):
        frames = connectivity(os.path.join(folder, "trajectory.h5"))
        angles = connectivity(os.path.join(folder, "trajectory.h5"), "angles")
        table = {name: values(os.path.join(folder, "bonds.h5"), name)
                 for name in ("bonds", "formed", "broken", "conversion")}
        self.assertEqual(len(frames[0][0]), 0)
        self.assertGreater(len(frames[-1][0]), 300)
        self.assertGreater(table["broken"][-1][0], 20)
        for k, (bonds, types) in enumerate(frames):
            self.assertEqual(len(bonds), table["bonds"][k][0])
            self.assertEqual(table["formed"][k][0] - table["broken"][k][0], len(bonds))
            self.assertAlmostEqual(table["conversion"][k], 2 * len(bonds) / (600 * 2 + 400 * 3))
            self.assertTrue((types == 0).all())
            count = numpy.bincount(bonds.ravel(), minlength=1000)
            self.assertLessEqual(count[:600].max(), 2)
            self.assertLessEqual(count[600:].max(), 3)
            self.assertTrue(((bonds < 600).sum(axis=1) == 1).all(), "A with B")
            pairs = {tuple(sorted(bond)) for bond in bonds.tolist()}
            self.assertEqual(len(pairs), len(bonds))
            # Of all bonds, each two at a particle make an angle.
            self.assertEqual(len(angles[k][0]), (count * (count - 1) // 2).sum())
            for a, b, c in angles[k][0].tolist():
                self.assertTrue({tuple(sorted((a, b))), tuple(sorted((b, c)))} <= pairs)
        self.read_back(folder, frames, angles)

    def read_back(self, folder, frames, angles):
        """Perrin's readers: GSD and H5MD have the same bonds in each frame."""
        for frame in (0, 3, len(frames) - 1):
            found = []
            for name in ("trajectory.gsd", "trajectory.h5"):
                out = os.path.join(folder, f"{name}.{frame}.data")
                done = self.perrin("convert", os.path.join(folder, name), out, "--frame",
                                   str(frame))
                self.assertEqual(done.returncode, 0, done.stderr)
                found.append(self.sections(out))
            expected = {kind: sorted((int(t) + 1, *(int(i) + 1 for i in m))
                                     for m, t in zip(*lists[frame]))
                        for kind, lists in (("Bonds", frames), ("Angles", angles))}
            self.assertEqual(found[0], expected)
            self.assertEqual(found[1], expected)

    @staticmethod
    def sections(path):
        """Bonds and angles of LAMMPS data: type and members."""
        found, now = {"Bonds": [], "Angles": []}, None
        with open(path) as lines:
            for line in lines:
                words = line.split("#")[0].split()
                if len(words) == 1 and words[0].isalpha():
                    now = words[0]
                elif now in found and words:
                    found[now].append(tuple(int(w) for w in words[1:]))
        return {kind: sorted(rows) for kind, rows in found.items()}

    def test_gsd_and_mdanalysis_read_the_files(self):
        self.run_job(gel(observers=[{"type": "trajectory", "stride": 100},
                                    {"type": "gsd", "stride": 100}]))
        frames = connectivity(self.path("trajectory.h5"))
        looked = 0
        try:
            import gsd.hoomd
            with gsd.hoomd.open(self.path("trajectory.gsd")) as file:
                self.assertEqual(len(file), len(frames))
                for frame, (bonds, _) in zip(file, frames):
                    self.assertEqual(frame.bonds.N, len(bonds))
                    self.assertEqual(frame.bonds.types, ["ab"])
                    self.assertTrue((frame.bonds.group == bonds).all())
            looked += 1
        except ImportError:
            pass
        try:
            import MDAnalysis
            universe = MDAnalysis.Universe.empty(1000, trajectory=False)
            universe.load_new(self.path("trajectory.h5"), format="H5MD", convert_units=False)
            self.assertEqual(len(universe.trajectory), len(frames))
            looked += 1
        except ImportError:
            pass
        if looked == 0:
            self.skipTest("neither gsd nor MDAnalysis is installed")

    def test_frames_of_a_group_have_its_bonds(self):
        job = gel(observers=[{"type": "trajectory", "stride": 100},
                             {"type": "trajectory", "stride": 100, "group": "some",
                              "file": "some.h5"}])
        job["groups"] = {"some": {"ids": [[300, 899]]}}
        self.run_job(job)
        for (all_bonds, _), (some, _) in zip(connectivity(self.path("trajectory.h5")),
                                             connectivity(self.path("some.h5"))):
            inside = ((all_bonds >= 300) & (all_bonds < 900)).all(axis=1)
            self.assertTrue((all_bonds[inside] == some).all())
        self.assertGreater(len(some), 50)

    def test_stages_link_stretch_and_break(self):
        stages = [{"type": "md", "name": "link", "steps": 200, "integrator": LANGEVIN},
                  {"type": "md", "name": "rest", "steps": 40, "integrator": LANGEVIN},
                  {"type": "md", "name": "break", "steps": 200, "integrator": LANGEVIN}]
        job = gel(stages=stages, observers=[{"type": "bonds", "stride": 20}],
                  form=[{**FORM, "stages": ["link"]}],
                  **{"break": [{"bond": "ab", "probability": 0.2, "stages": ["break"]}]})
        job["neighbors"] = {"exclusions": []}  # who is bonded may be near
        self.run_job(job)
        bonds = values(self.path("bonds.h5"), "bonds")[:, 0]
        steps = 20 * numpy.arange(len(bonds))
        self.assertTrue((numpy.diff(bonds[steps <= 200]) > 0).all())
        self.assertTrue((bonds[(steps >= 200) & (steps <= 240)] == bonds[10]).all())
        broken = bonds[steps >= 240]
        # 0.8 of them are left by each event.
        for before, after in zip(broken, broken[1:]):
            self.assertLess(abs(after - 0.8 * before), 5 * math.sqrt(0.16 * before) + 1)

    def test_the_work_of_a_deformation_knows_new_bonds(self):
        """Between events energy less work is conserved, also in the step behind one."""
        job = gel(stages=[{"type": "md", "steps": 60, "deform": {"density": 0.6, "work": True},
                           "integrator": {"type": "velocity_verlet", "timestep": 0.001}}],
                  observers=[{"type": "thermo", "stride": 1, "box": True},
                             {"type": "checkpoint", "steps": 40}],
                  form=[{**FORM, "distance": 1.5, "probability": 1}])
        self.run_job(job, folder="whole")
        kept = values(self.path("whole", "thermo.h5"), "conserved_energy")
        changes = abs(numpy.diff(kept))
        for event in (20, 40):
            self.assertGreater(changes[event - 1], 1)
            self.assertLess(changes[event], 0.05)
        # Resumed at the event itself.
        shutil.copytree(self.path("whole"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stderr)
        numpy.testing.assert_array_equal(values(self.path("again", "thermo.h5"), "work"),
                                         values(self.path("whole", "thermo.h5"), "work"))

    def test_bonds_break_by_the_force_along_them(self):
        """Chains without other forces: at each event those break, and only those, whose length is
        one at which the potential's force, known from its formula, is larger than the rule's."""
        harmonic = {"type": "bond_harmonic", "bonds": {"ab": {"stiffness": 100, "length": 1}}}
        # Its force grows, and falls again where it is long: f = a x exp(-x²), x = r - 1 - u1 - u2.
        soft = {"type": "bond_formula", "energy": "-a/2*exp(-(r - 1 - u_1 - u_2)^2)",
                "bonds": {"ab": {"a": 60}}}
        numbers = {"u": {"random": {"uniform": [-0.05, 0.05]}}}
        table = self.path("bond.txt")
        with open(table, "w") as out:
            for r in numpy.linspace(0.2, 2.5, 500):
                out.write(f"{r:.17g} {50 * (r - 1) ** 2:.17g} {-100 * (r - 1):.17g}\n")
        tabulated = {"type": "bond_table", "bonds": {"ab": {"file": table}}}
        for force, rule, attributes in ((harmonic, {"force": 17}, {}),
                                        (harmonic, {"force": 15, "length": 1}, {}),
                                        (tabulated, {"force": 17}, {}),
                                        (soft, {"force": 13}, numbers)):
            job = {"seed": 2, "attributes": attributes,
                   "system": {"type": "chains", "chains": 60, "pattern": "A10", "bond_length": 1,
                              "bond_type": "ab", "box": [30, 30, 30]},
                   "velocity": {"temperature": 1}, "forces": [force],
                   "dynamic_bonds": {"stride": 5, "break": [{"bond": "ab", **rule}]},
                   "observers": [{"type": "trajectory", "stride": 5, "precision": "double",
                                  "positions": "unwrapped"}],
                   "stages": [{"type": "md", "steps": 200, "integrator": LANGEVIN}]}
            self.run_job(job)
            path = self.path("trajectory.h5")
            with h5py.File(path) as file:
                position = file["particles/all/position/value"][()]
                u = (file["parameters/perrin/attributes/u"][()] if attributes
                     else numpy.zeros(600))
            frames = [members for members, types in connectivity(path)]
            gone = pressed = 0
            for k in range(1, len(frames)):
                a, b = frames[k - 1].T
                r = numpy.sqrt(((position[k][a] - position[k][b]) ** 2).sum(axis=1))
                x = r - 1 - u[a] - u[b]
                f = 60 * x * numpy.exp(-x * x) if force is soft else 100 * (r - 1)
                breaks = (abs(f) > rule["force"]) & (r > rule.get("length", 0))
                left = {tuple(pair) for pair in frames[k]}
                found = numpy.array([tuple(pair) not in left for pair in frames[k - 1]])
                # Both are rounded to single precision.
                sure = abs(abs(f) - rule["force"]) > 1e-3
                numpy.testing.assert_array_equal(found[sure], breaks[sure])
                gone += found.sum()
                pressed += (found & (f < 0)).sum()
            self.assertGreater(gone, 40)
            self.assertEqual(pressed > 10, "length" not in rule, pressed)
            self.overwrite = True

    def test_a_minimisation_makes_no_bonds(self):
        stages = [{"type": "md", "steps": 60,
                   "integrator": {"type": "fire", "force_tolerance": 1e-9}},
                  {"type": "md", "steps": 40, "integrator": LANGEVIN}]
        self.run_job(gel(stages=stages, observers=[{"type": "bonds", "stride": 20}]))
        formed = values(self.path("bonds.h5"), "formed")[:, 0]
        self.assertTrue((formed[:4] == 0).all())
        self.assertGreater(formed[4], 10)

    def test_mistakes_are_told(self):
        self.refused(gel(form=None), '"form" or "break"')
        self.refused(gel(stride=0), "stride.*must be positive|stride.*must be greater|stride")
        self.refused(gel(valence={"A": 2}), "valence.*of type B can have")
        self.refused(gel(valence={"A": 2, "B": 0}), "must be at least 1, got 0")
        self.refused(gel(valence={"A": 2, "B": 3, "C": 1}), 'unknown particle type "C"')
        self.refused(gel(form=[{**FORM, "types": ["A", "A"]}]),
                     "valence.B: has no effect")
        self.refused(gel(form=[{**FORM, "types": ["A", "C"]}]), 'unknown particle type "C"')
        self.refused(gel(form=[{**FORM, "distance": 70}]), "half the shortest distance.*got 70")
        self.refused(gel(form=[{**FORM, "probability": 1.5}]), "probability.*1.5")
        self.refused(gel(form=[{**FORM, "bond": ""}]), "must be a name of one line")
        self.refused(gel(form=[{**FORM, "bond": "other"}]),
                     'no force acts on the bonds of type "other" that dynamic_bonds makes')
        self.refused(gel(form=[{**FORM, "angle": "bend"}]),
                     'no force acts on the angles of type "bend" that dynamic_bonds makes')
        self.refused(gel(form=[{**FORM, "stages": ["cure"]}]), "no stage has the name.*cure")
        with open(self.path("late.json"), "w") as out:
            json.dump(gel(stride=10 ** 6), out)
        self.assertRegex(self.perrin("validate", "late.json").stderr,
                         r"form\[0\]: warning: has no effect: .* no multiple of the stride 1000000")
        self.refused(gel(**{"break": [{"bond": "ba"}]}), 'unknown bond type "ba"')
        self.refused(gel(**{"break": [{"bond": "ab", "force": 0}]}), r"force: must be positive")
        self.refused(gel(form=[{**FORM, "distances": 1}]), "distances.*unknown|unknown.*distances")
        self.refused(gel(observers=[{"type": "chain_size"}]), "chain_size")
        fire = [{"type": "md", "name": "down", "steps": 60,
                 "integrator": {"type": "fire", "force_tolerance": 1}}]
        self.refused(gel(stages=fire), "no stage has an integrator of equations of motion")
        self.refused(gel(stages=fire + [{"type": "md", "steps": 1, "integrator": LANGEVIN}],
                         form=[{**FORM, "stages": ["down"]}]),
                     'the stage "down" has no integrator')

        chains = {"seed": 1, "system": {"type": "chains", "chains": 20, "pattern": "A6",
                                        "density": 0.1, "min_distance": 0.8,
                                        "dihedral_type": "torsion"},
                  "forces": [{**WCA, "pairs": WCA["pairs"][:1]},
                             {"type": "bond_harmonic", "bonds": {
                                 "bond": {"stiffness": 100, "length": 1}}},
                             {"type": "dihedral_opls",
                              "dihedrals": {"torsion": {"k": [1, 0, 0, 0]}}}],
                  "dynamic_bonds": {"stride": 10, "break": [{"bond": "bond"}]},
                  "observers": [{"type": "rdf", "exclude": "bonds"}],
                  "stages": [{"type": "md", "steps": 10, "integrator": LANGEVIN}]}
        self.refused(chains, "rdf as it is set cannot be combined with dynamic_bonds")
        chains["observers"] = [{"type": "chain_size"}]
        self.refused(chains, "chain_size as it is set cannot be combined")
        chains["observers"] = []
        special = copy.deepcopy(chains)
        special["forces"].append({"type": "special_pairs", "pairs": [
            {"types": ["A", "A"], "epsilon": 1, "sigma": 1}]})
        self.refused(special, "special_pairs cannot be combined with dynamic_bonds")
        linked = copy.deepcopy(chains)
        linked["dynamic_bonds"] = {"stride": 10, "valence": {"A": 1}, "form": [
            {"types": ["A", "A"], "bond": "bond", "distance": 1.2}]}
        self.refused(linked, "valence.A: must be at least 2, the number of bonds that particle")

    def test_a_bond_longer_than_its_potential_allows_ends_the_run(self):
        fene = {"type": "bond_fene", "bonds": {"ab": {"maximum_length": 1.2, "epsilon": 0}}}
        with open(self.path("job.json"), "w") as out:
            json.dump(gel(forces=[WCA, fene]), out)
        done = self.perrin("run", "job.json", "--device", DEVICE)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"step 20: .*bond.*long, the limit is 1.2")


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
