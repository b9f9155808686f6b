#!/usr/bin/python3
"""Named potentials of pair_formula and dihedral_formula in whole jobs: every one of the library as
`perrin help` shows it, numbers from publications, the bits of a formula that is written out, what
records say, and messages.

    potential_jobs.py PERRIN [unittest arguments]
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import jsonschema
import numpy

from force_jobs import cube, data

PERRIN = sys.argv[1]
STILL = {"type": "md", "steps": 0, "integrator": {"type": "velocity_verlet", "timestep": 1e-6}}
WANG_FRENKEL = {"type": "pair_formula", "potential": "wang_frenkel",
                "pairs": [{"types": ["1", "1"], "epsilon": 1.5, "sigma": 1, "r_c": 2}]}
# Four particles of a chain along which the angles are right and the dihedral is 0 (cis) or pi.
CHAIN = """chain

4 atoms
1 dihedrals
1 atom types
1 dihedral types

-5 5 xlo xhi
-5 5 ylo yhi
-5 5 zlo zhi

Masses

1 1

Atoms # bond

1 1 1 0 1 0
2 1 1 0 0 0
3 1 1 1 0 0
4 1 1 1 {} 0

Dihedrals

1 1 1 2 3 4
"""


def evaluated(formula, values, x):
    """A formula by Python's own arithmetic; x: r or phi."""
    text, *definitions = formula.replace("^", "**").replace("if(", "where(").split(";")
    names = {"r": x, "phi": x, "pi": math.pi, "max": max,
             "where": lambda condition, a, b: a if condition else b,
             **{f: getattr(math, f) for f in ("exp", "log", "cos", "sqrt")}, **values}
    parts = {}
    for definition in definitions:
        name, _, part = definition.partition("=")
        parts[name.strip()] = part.strip()
    while len(parts) > 0:  # those that need others come after them
        for name, part in list(parts.items()):
            if not set(re.findall(r"[a-z]\w*", part)) & set(parts):
                names[name] = eval(part, {}, names)
                del parts[name]
    return eval(text, {}, names)


class PotentialJobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([PERRIN, "schema"], capture_output=True, text=True, check=True)
        cls.schema = json.loads(done.stdout)
        cls.cache = tempfile.mkdtemp(prefix="perrin-potentials-cache-")
        cls.addClassCleanup(shutil.rmtree, cls.cache, ignore_errors=True)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-potentials-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {"PERRIN_CACHE": self.cache, **os.environ}

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as out:
            out.write(text)

    def call(self, *arguments):
        return subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=300, env=self.environment)

    def run_job(self, force, text, rc=0, out="out", **keys):
        """What was said, or the potential energy of the first frame and the record."""
        self.write("start.data", text)
        job = {"seed": 1, "system": {"type": "file", "path": "start.data"}, "forces": [force],
               "stages": [STILL], "observers": [{"type": "thermo", "stride": 1},
                                                {"type": "trajectory", "stride": 1},
                                                {"type": "checkpoint"}], **keys}
        self.write("job.json", json.dumps(job, indent=1))
        done = self.call("run", "job.json", "--device", "cpu", "--threads", "1",
                         "--output-dir", out)
        self.assertEqual(done.returncode, rc, done.stdout + done.stderr)
        if rc != 0:
            return done.stderr
        with h5py.File(os.path.join(self.folder, out, "thermo.h5")) as file:
            energy = file["observables/potential_energy/value"][0]
        with h5py.File(os.path.join(self.folder, out, "checkpoint.h5")) as file:
            record = json.loads(file["job"].asstr()[()])
        return energy, record["forces"][0]

    def positions(self, out):
        with h5py.File(os.path.join(self.folder, out, "trajectory.h5")) as file:
            return file["particles/all/position/value"][:].tobytes()

    def names(self, force):
        definition = self.schema["definitions"][f"force.{force}"]
        return definition["properties"]["potential"]["anyOf"][0]["enum"]

    def example(self, name):
        done = self.call("help", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def pair(self, r, box):
        return data([(0, 0, 0), (r, 0, 0)], cube(box))

    # --- every potential ---

    def test_help_lists_and_explains_every_one(self):
        listed = self.call("help", "potentials").stdout
        names = self.names("pair_formula") + self.names("dihedral_formula")
        self.assertGreaterEqual(len(names), 22)
        for name in names:
            self.assertRegex(listed, rf"(?m)^  {name} +\S")
            said = self.call("help", name).stdout
            for part in (rf"^{name} \(potential of ", "  energy\n", "  source\n", "Example:\n"):
                self.assertRegex(said, part)

    def test_every_one_runs_as_help_shows_it(self):
        own = {"$ref": "#/definitions/force", "definitions": self.schema["definitions"]}
        validator = jsonschema.Draft7Validator(own)
        for name in self.names("pair_formula"):
            with self.subTest(name):
                self.environment.pop("PERRIN_COMPILER", None)
                self.environment.update({k: os.environ[k] for k in ["PERRIN_COMPILER"]
                                         if k in os.environ})
                if name != "jagla":  # as tables, which take no time; but for one that bends sharply
                    self.environment["PERRIN_COMPILER"] = "/none"
                force = self.example(name)
                validator.validate(force)
                del force["pairs"][0]["types"]
                wrong = {**force, "pairs": [{**force["pairs"][0], "types": ["1", "1"], "tau": 1}]}
                self.assertFalse(validator.is_valid(wrong), "the schema takes any parameter")
                force["pairs"][0]["types"] = ["1", "1"]
                entry = force["pairs"][0]
                end = force.get("cutoff")
                if end is None:
                    _, record = self.run_job(force, self.pair(1, 100), out=name)
                    end = record["pairs"][0]["cutoff"]
                r = 0.7 * end
                energy, record = self.run_job(force, self.pair(r, 4 * end), out=name + "-at")
                self.assertEqual(record["potential"], name)
                expected = evaluated(record["energy"], record["pairs"][0], r)
                # Particles are within 2^-32 of the box, energies are rounded to float.
                self.assertAlmostEqual(energy, expected, delta=1e-5 * abs(expected) + 1e-7)
                self.assertNotEqual(expected, 0)
                self.assertLessEqual(set(entry), set(record["pairs"][0]))
                validator.validate(record)

    # --- numbers of publications, compiled ---

    def test_the_well_of_wang_and_frenkel_is_epsilon_deep(self):
        energy, record = self.run_job(WANG_FRENKEL, self.pair(2 / math.sqrt(3), 10))
        self.assertAlmostEqual(energy, -1.5, delta=1e-6)
        self.assertTrue(record["energy"].endswith("; mu = 1; nu = 1"), record["energy"])
        self.assertEqual(record["pairs"][0], {"types": ["1", "1"], "epsilon": 1.5, "sigma": 1,
                                              "r_c": 2, "mu": 1, "nu": 1, "cutoff": 2})
        # At r_c both are gone, and nothing goes wrong a rounding before or behind it.
        for r in (1.999999, 2.000001):
            energy, _ = self.run_job(WANG_FRENKEL, self.pair(r, 10), out=f"at-{r}")
            self.assertAlmostEqual(energy, 0, delta=1e-9)

    def test_the_well_of_c60_is_that_of_girifalco(self):
        # 3218 K at 10.056 angstrom (J. Phys. Chem. 96, 858); k_B = 8.617333e-5 eV/K.
        force = self.example("girifalco")
        force["pairs"][0]["types"] = ["1", "1"]
        energy, _ = self.run_job(force, self.pair(10.056, 60),
                                 units={"length": "angstrom", "energy": "eV", "mass": "u"})
        self.assertAlmostEqual(energy / 8.617333e-5, -3218, delta=1)

    def test_butane_has_the_barrier_of_opls(self):
        force = {"type": "dihedral_formula", "potential": "fourier", "dihedrals": {
            "1": {"k_1": 355.03, "k_2": -68.19, "d_2": 180, "k_3": 791.32}}}
        for y, expected in ((1, 2292.7), (-1, 0)):
            energy, record = self.run_job(force, CHAIN.format(y), out=f"at{y}")
            self.assertAlmostEqual(energy, expected, delta=1e-3)
        self.assertEqual(record["dihedrals"]["1"]["k_4"], 0)

    # --- the same as a formula ---

    def test_a_name_has_the_bits_of_its_formula(self):
        system = {"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [5, 5, 5],
                  "types": {"A": 0.7, "B": 0.3}}
        keys = {"system": system, "velocity": {"temperature": 1}, "stages": [
            {"type": "md", "steps": 30,
             "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}
        pairs = [{"types": ["A", "A"], "epsilon": 1, "sigma": 1, "r_c": 2},
                 {"types": ["B", "B"], "epsilon": 0.7, "sigma": 0.9, "r_c": 1.7}]
        mixing = {"epsilon": "geometric", "sigma": "arithmetic", "r_c": "arithmetic"}
        _, record = self.run_job({"type": "pair_formula", "potential": "wang_frenkel",
                                  "mixing": mixing, "pairs": pairs}, "", out="name", **keys)
        by_hand = {"type": "pair_formula", "energy": record["energy"], "mixing": mixing,
                   "cutoff": 1.85, "pairs": [{**p, "cutoff": p["r_c"]} for p in pairs]}
        self.run_job(by_hand, "", out="hand", **keys)
        self.assertEqual(self.positions("name"), self.positions("hand"))
        done = self.call("resume", "name/checkpoint.h5", "--steps", "5")
        self.assertEqual(done.returncode, 0, done.stderr)
        _, again = self.run_job(record, "", out="record", **keys)
        self.assertEqual(again, record)
        for out in ("hand", "record"):
            done = self.call("resume", f"{out}/checkpoint.h5", "--steps", "5")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.positions("name"), self.positions(out), "after resume")
        with h5py.File(os.path.join(self.folder, "name", "trajectory.h5")) as file:
            r = file["particles/all/position/value"][:]
        self.assertGreater(numpy.abs(r[-1] - r[0]).max(), 0.1, "nothing has moved")

    # --- messages ---

    def refused(self, change, expected):
        """The job with the change: the whole message after the line."""
        force = json.loads(json.dumps(WANG_FRENKEL))
        change(force)
        said = self.run_job(force, self.pair(1.2, 10), rc=2)
        self.assertRegex(said, r"(?m)^job\.json:\d+: forces\[0\]\." + expected)
        self.assertNotIn("compil", said)

    def test_mistakes_are_named(self):
        self.environment["PERRIN_COMPILER"] = "/bin/false"  # none of them needs it
        pair = "pairs[0]"

        def changed(**keys):
            return lambda f: f["pairs"][0].update(keys)

        for change, expected in (
                (lambda f: f.update(potential="wang_frenkle"),
                 'potential: unknown potential .*; did you mean "wang_frenkel"\\?'),
                (lambda f: f.update(potential="fourier"),
                 'potential: "fourier" is a potential of dihedral_formula, not of pair_formula'),
                (lambda f: f.update(potential=3), "potential: must be text, got 3"),
                (lambda f: f.update(energy="1/r"),
                 'energy: is given beside "potential", and is not that of wang_frenkel, .*remove '
                 'one of them; got the text "1/r"'),
                (lambda f: f.pop("potential"), 'energy: is missing: .*or "potential"'),
                (lambda f: f.pop("pairs"), "pairs: must be a list with the parameters of "
                                           "wang_frenkel, got nothing"),
                (lambda f: f["pairs"][0].pop("sigma"),
                 re.escape(pair) + ': the key "sigma" is missing: a number, positive .*'
                                   "perrin help wang_frenkel"),
                (changed(sigm=1), re.escape(pair) + '.sigm: unknown key; did you mean "sigma"'),
                (changed(epsilon=-1), re.escape(pair) + ".epsilon: must be positive, got -1"),
                (changed(epsilon="x"), re.escape(pair) + ".epsilon: must be a number, positive, "
                                                         'got the text "x"'),
                (changed(r_c=0.9), re.escape(pair) + r".r_c: must be above sigma \(1\), got 0.9"),
                (changed(mu=1.5), re.escape(pair) + ".mu: must be an integer, got 1.5"),
                (changed(cutoff=2.5), re.escape(pair) + ".cutoff: must be at most 2, the range of "
                                                        "wang_frenkel, got 2.5"),
                (lambda f: f.update(cutoff=2.5), "cutoff: must be at most 2, the range of "
                                                 "wang_frenkel, got 2.5"),
                (lambda f: f.update(truncation="force_shift"),
                 'truncation: "force_shift" has no effect: energy and force of wang_frenkel are 0'),
                (lambda f: f.update(mixing={"epsilonn": "geometric"}),
                 'mixing.epsilonn: is not a parameter of wang_frenkel; did you mean "epsilon"'),
                (lambda f: f.update(mixing={"epsilon": "harmonic"}),
                 "mixing.epsilon: must be geometric or arithmetic"),
                (lambda f: f.update(mixing="geometric"), "mixing: must give"),
                (lambda f: f.update(
                    mixing={"sigma": "arithmetic"},
                    pairs=[{**f["pairs"][0], "types": [t, t], "epsilon": e}
                           for t, e in (("1", 1), ("2", 2))]),
                 'mixing: the parameter "epsilon" of wang_frenkel is missing')):
            with self.subTest(expected):
                self.refused(change, expected)

    def test_the_type_of_a_force_is_not_a_potential(self):
        said = self.run_job({"type": "dlvo"}, self.pair(1, 10), rc=2)
        self.assertIn('unknown force "dlvo"; "dlvo" is a potential of the force "pair_formula"',
                      said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
