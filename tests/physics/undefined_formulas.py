#!/usr/bin/python3
"""Formulas where they are no numbers, as the logarithm of a negative one: told at the start, during
the run and of energies alone, with the formula and the place; never accepted by Monte Carlo, and
not hidden by max, min, if, exp and their like.

    undefined_formulas.py PERRIN [unittest arguments]
"""

import json
import os
import sys
import unittest

import h5py
import numpy

from job_case import JobCase

NVE = {"type": "velocity_verlet", "timestep": 0.01}
NO_COMPILER = "/nonexistent/compiler"


def md(steps=10, **integrator):
    return {"type": "md", "steps": steps, "integrator": integrator or NVE}


class UndefinedFormulas(JobCase):
    def write_start(self, *places, bonds=(), name="start.data"):
        text = (f"start\n\n{len(places)} atoms\n{len(bonds)} bonds\n1 atom types\n1 bond types\n\n"
                "-5 5 xlo xhi\n-5 5 ylo yhi\n-5 5 zlo zhi\n\nMasses\n\n1 1\n\nAtoms # bond\n\n")
        text += "".join("{} 1 1 {} {} {}\n".format(k + 1, *r) for k, r in enumerate(places))
        if bonds:
            text += "\nBonds\n\n"
            text += "".join(f"{k + 1} 1 {a + 1} {b + 1}\n" for k, (a, b) in enumerate(bonds))
        with open(self.path(name), "w") as out:
            out.write(text)
        return {"type": "file", "path": self.path(name)}

    def bond(self, length, energy, stage=None, **parameters):
        return {"seed": 1, "system": self.write_start((0, 0, 0), (length, 0, 0), bonds=[(0, 1)]),
                "forces": [{"type": "bond_formula", "energy": energy, "bonds": {"1": parameters}}],
                "observers": [{"type": "thermo", "stride": 1}], "stages": [stage or md()]}

    def fails(self, job, pattern, status=2, command="run"):
        with open(self.path("job.json"), "w") as out:
            json.dump(job, out)
        more = ["--overwrite", "--output-dir", self.folder, "--device", "cpu"]
        done = self.perrin(command, "job.json", *more[:0 if command == "validate" else None])
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)

    FENE = "-k/2*R^2*log(1 - (r/R)^2)"

    def test_a_bond_beyond_its_formula(self):
        """Its force has a number there, and its energy has none."""
        place = (r"is not finite at the start: the formula -k/2\*R\^2\*log\(1 - \(r/R\)\^2\) is "
                 r"not a number \(NaN\) at r = 1.2, of the bond of particles 0 and 1\s*$")
        job = self.bond(1.2, self.FENE, k=30, R=1.1)
        self.fails(job, place)
        self.fails(job, place, command="validate")
        self.fails({**job, "stages": [md(10, type="fire", force_tolerance=1)]}, place)

    def test_a_bond_that_leaves_its_formula(self):
        job = self.bond(1.0, self.FENE, k=1, R=1.1,
                        stage=md(1000, type="bussi", timestep=0.01, temperature=3, tau=0.1))
        job["velocity"] = {"temperature": 3}
        self.fails(job, r"step \d+: .*: forces\[0\] \(bond_formula\): the formula .* is not a "
                        r"number \(NaN\) at r = 1\.\d+, of the bond of particles 0 and 1", 3)

    def test_an_energy_that_is_no_number(self):
        """Where the sign of a parameter makes it so everywhere, and forces know nothing of it."""
        self.fails(self.bond(1.2, "k*log(r/s)", k=1, s=-1),
                   r"step 0: the potential energy is not a number \(NaN\): forces\[0\] "
                   r"\(bond_formula\): the formula k\*log\(r/s\) is .* at r = 1.2", 3)

    def test_a_field(self):
        job = {"seed": 1, "system": self.write_start((0, 0, 0)),
               "forces": [{"type": "external_formula", "energy": "-f*x + e*log(b - x)",
                           "types": {"1": {"f": 10, "e": 1e-6, "b": 1}}}],
               "observers": [{"type": "thermo", "stride": 5}], "stages": [md(100)]}
        self.fails(job, r"step \d+: particle 0: .*: forces\[0\] \(external_formula\): the formula "
                        r"-f\*x \+ e\*log\(b - x\) is not a number \(NaN\) at x = 1\.\d+, y = 0", 3)

    def test_a_bond_in_a_tilted_box(self):
        """Its nearest image is not that of the rounded fractions."""
        job = self.bond(1.2, self.FENE, k=30, R=2)
        with open(self.path("start.data")) as data:
            text = data.read().replace("-5 5", "-2 2").replace("zhi\n", "zhi\n2 0 0 xy xz yz\n")
        with open(self.path("start.data"), "w") as out:
            out.write(text.replace("1.2 0 0", "1.9 1.9 0"))
        self.fails(job, r"at r = 2\.10238, of the bond of particles 0 and 1")

    def test_a_dihedral(self):
        """Of both signs, as those of the forces are."""
        for height, phi in ((1, "1.5708"), (-1, "-1.5708")):
            text = ("start\n\n4 atoms\n1 dihedrals\n1 atom types\n1 dihedral types\n\n"
                    "-5 5 xlo xhi\n-5 5 ylo yhi\n-5 5 zlo zhi\n\nMasses\n\n1 1\n\n"
                    "Atoms # bond\n\n1 1 1 0 1 0\n2 1 1 0 0 0\n3 1 1 1 0 0\n"
                    f"4 1 1 1 0 {height}\n\nDihedrals\n\n1 1 1 2 3 4\n")
            with open(self.path("start.data"), "w") as out:
                out.write(text)
            job = {"seed": 1, "system": {"type": "file", "path": self.path("start.data")},
                   "forces": [{"type": "dihedral_formula", "energy": "k*sqrt(abs(phi) - 2)",
                               "dihedrals": {"1": {"k": 1}}}],
                   "observers": [{"type": "thermo", "stride": 1}], "stages": [md()]}
            with self.subTest(phi):
                self.fails(job, rf"sqrt\(abs\(phi\) - 2\) is not a number \(NaN\) at phi = {phi}, "
                                r"of the dihedral angle of particles 0, 1, 2 and 3")

    def test_directions(self):
        job = {"seed": 1, "orientations": {"start": "aligned"},
               "system": self.write_start((0, 0, 0), (1, 0, 0)),
               "forces": [{"type": "anisotropic_formula",
                           "energy": "e*log(1.2 - r - cos_12)*(1 + cos_1*cos_2)", "cutoff": 3,
                           "pairs": [{"types": ["1", "1"], "e": 1}]}],
               "observers": [{"type": "thermo", "stride": 1}], "stages": [md()]}
        self.fails(job, r"is not a number \(NaN\) at r = 1, cos_1 = 1, cos_2 = -1, cos_12 = 1, of "
                        r"particles 0 and 1")

    def test_a_particle_alone(self):
        job = {"seed": 1, "system": self.write_start((0, 0, 0), (1, 0, 0), (-4, 0, 0)),
               "forces": [{"type": "many_body_formula", "density": "(1 - r/d)^2",
                           "energy": "a/rho", "cutoff": 2,
                           "pairs": [{"types": ["1", "1"], "d": 2}], "types": {"1": {"a": 1}}}],
               "observers": [{"type": "thermo", "stride": 5}], "stages": [md()]}
        self.fails(job, r"step 0: the potential energy is infinite: forces\[0\] "
                        r"\(many_body_formula\): the formula a/rho is infinite at rho = 0, of "
                        r"particle 2", 3)

    def test_nothing_hides_them(self):
        for energy in ("max(0, log(1 - r/R))", "if(log(1 - r/R) > -1, r, 2*r)"):
            with self.subTest(energy):
                self.fails(self.bond(1.2, energy + " + r^2", R=1),
                           r"is not a number \(NaN\) at r = 1.2")

    def test_what_is_guarded_is_taken(self):
        self.run_job(self.bond(1.2, "if(r < R, k*log(R - r), 0) + r^2", k=1, R=1),
                     "--overwrite", device="cpu")
        with h5py.File(self.path("thermo.h5")) as file:
            energy = file["observables/potential_energy/value"][()]
        self.assertAlmostEqual(energy[0], 1.44, places=5)
        self.assertTrue(numpy.isfinite(energy).all())

    def test_monte_carlo_never_goes_there(self):
        job = {"seed": 1, "system": self.write_start((0, 0, 0), (1.3, 0, 0)),
               "forces": [{"type": "pair_formula", "energy": "k*r^2 - exp(-sqrt(r - s))",
                           "cutoff": 4, "pairs": [{"types": ["1", "1"], "s": 1, "k": 10}]}],
               "observers": [{"type": "trajectory", "stride": 1},
                             {"type": "thermo", "stride": 10}],
               "stages": [{"type": "monte_carlo", "sweeps": 500, "temperature": 1,
                           "translation": {"displacement": 0.2}}]}
        self.run_job(job, "--overwrite", device="cpu")
        with h5py.File(self.path("trajectory.h5")) as file:
            r = file["particles/all/position/value"][()]
        d = r[:, 0] - r[:, 1]
        length = numpy.sqrt(((d - 10 * numpy.round(d / 10))**2).sum(axis=1))
        self.assertGreater(length.min(), 1)
        self.assertLess(length.min(), 1.05)
        self.assertGreater(len(set(length)), 50)

    def test_a_table_ends_where_its_formula_does(self):
        """Without a compiler."""
        job = self.bond(1.0, self.FENE + " + 4*e*((s/r)^12 - (s/r)^6)", k=30, R=1.5, e=1, s=1)
        os.environ["PERRIN_COMPILER"], before = NO_COMPILER, os.environ.get("PERRIN_COMPILER")
        try:
            done = self.run_job(job, "--overwrite", device="cpu")
            self.assertIn("is tabulated", done.stderr)
            self.fails(self.bond(1.4999, self.FENE, k=30, R=1.5), "the limit is 1.498", 3)
        finally:
            if before is None:
                del os.environ["PERRIN_COMPILER"]
            else:
                os.environ["PERRIN_COMPILER"] = before
        with h5py.File(self.path("thermo.h5")) as file:
            energy = file["observables/potential_energy/value"][0]
        self.assertAlmostEqual(energy, -15 * 1.5**2 * numpy.log(1 - 1 / 1.5**2), places=3)


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
