#!/usr/bin/env python3
"""What users of other programs ran into, as README.md lists it, with the right values.

    check.py PERRIN [unittest arguments, such as Cases.test_16 or -k gsd]

Needs numpy, h5py and gsd from version 3 on; ends with 77 without them.
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import gsd.hoomd
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if not hasattr(gsd.hoomd, "Frame"):  # the name that version 3 gave to what was a Snapshot
    print(f"skipped: gsd {getattr(gsd, '__version__', '')} is older than version 3")
    sys.exit(77)

PERRIN = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))


# Not yet right: skipped, unless PERRIN_ALL_CASES is set. The aim is an empty list.
WAITING = []


def lennard_jones(r):
    return 4 * (r**-12 - r**-6)


class Outcome:
    """How the program ended, what it said, and where it wrote."""

    def __init__(self, done, out):
        self.status, self.out = done.returncode, out
        self.said = done.stdout + done.stderr

    def values(self, name, file="thermo.h5"):
        with h5py.File(os.path.join(self.out, file)) as f:
            return f[f"observables/{name}/value"][:]

    def particles(self, name, file="trajectory.h5"):
        with h5py.File(os.path.join(self.out, file)) as f:
            return f[f"particles/all/{name}/value"][:].astype(float)

    def frames(self):
        """Of a GSD file."""
        with gsd.hoomd.open(self.out) as file:
            return list(file)


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="perrin-case-")
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        number = self._testMethodName.split("_")[1]
        if number in WAITING and not os.environ.get("PERRIN_ALL_CASES"):
            self.skipTest("not yet right")
        self.folder, = glob.glob(os.path.join(HERE, number + "-*"))

    def input(self, name):
        return os.path.join(self.folder, name)

    def program(self, *arguments, out=""):
        done = subprocess.run([PERRIN, *arguments], capture_output=True, text=True, timeout=300)
        return Outcome(done, out)

    def good(self, outcome):
        self.assertEqual(outcome.status, 0, outcome.said)
        return outcome

    def try_convert(self, name, *options, to="gsd"):
        out = os.path.join(self.scratch, f"{name}.{to}")
        return self.program("convert", self.input(name), out, "--overwrite", *options, out=out)

    def convert(self, name, *options, to="gsd"):
        return self.good(self.try_convert(name, *options, to=to))

    def try_run(self, name="job.json", *options):
        out = os.path.join(self.scratch, name + ".out")
        return self.program("run", self.input(name), "--device", "cpu", "--threads", "1", "--quiet",
                            "--output-dir", out, *options, out=out)

    def run_job(self, name="job.json", *options):
        return self.good(self.try_run(name, *options))

    def validate(self, name="job.json", *options):
        """The warnings, too, that --quiet keeps from a run."""
        return self.program("validate", self.input(name), "--output-dir",
                            os.path.join(self.scratch, "none"), *options)

    def assert_close(self, value, wanted, rel=1e-4, absolute=1e-5):
        self.assertLessEqual(abs(value - wanted), absolute + rel * abs(wanted),
                             f"{value}, wanted {wanted}")

    def assert_energy(self, outcome, wanted, rel=1e-4, absolute=1e-5):
        self.assert_close(outcome.values("potential_energy")[0], wanted, rel, absolute)


class Files(Case):
    """Files that other programs have written."""

    def test_01_gsd_defaults(self):
        for name in ("one-at-origin.gsd", "starts-at-origin.gsd", "unit-box.gsd",
                     "bond-types-no-bonds.gsd"):
            with self.subTest(name), gsd.hoomd.open(self.input(name)) as file:
                frames = self.convert(name).frames()
                self.assertEqual(len(frames), len(file))
                for ours, theirs in zip(frames, file):
                    np.testing.assert_allclose(ours.particles.position, theirs.particles.position,
                                               atol=1e-6)
                    np.testing.assert_allclose(ours.configuration.box, theirs.configuration.box)

    def test_02_h5md_species_once(self):
        types = [f.particles.typeid.tolist() for f in self.convert("dump.h5").frames()]
        self.assertEqual(types, [[0, 1] * 4] * 3)

    def test_03_h5md_boundary_as_one_text(self):
        self.convert("espresso.h5")

    def test_04_h5md_bonds_as_a_series(self):
        self.assertEqual(self.convert("espresso-bonds.h5").frames()[0].bonds.N, 5)

    def test_05_h5md_several_groups(self):
        self.assertEqual(self.convert("mixture.h5").frames()[0].particles.N, 10)

    def test_07_h5md_elements_with_steps_of_their_own(self):
        """Velocities are those of the same step, or none, or the frame is refused."""
        for frame, wanted in ((0, 0.0), (1, None), (2, 2.0), (3, None)):
            outcome = self.try_convert("linear.h5", "--frame", str(frame), to="xyz")
            if outcome.status != 0:
                self.assertIsNone(wanted, outcome.said)
                continue
            with open(outcome.out) as file:
                lines = file.read().splitlines()
            velocity = float(lines[2].split()[4]) if "velo" in lines[1] else None
            self.assertEqual(velocity, wanted, f"frame {frame}")

    def test_08_h5md_units_without_masses(self):
        self.run_job()

    def test_09_lammps_general_triclinic(self):
        box = self.convert("ovito.data").frames()[0].configuration.box
        np.testing.assert_allclose(box, [10, 10, 10, 0, 0, 0])

    def test_11_lammps_type_labels(self):
        masses = self.convert("labels.data").frames()[0].particles.mass
        np.testing.assert_allclose(masses, [12.011, 1.008])

    def test_12_lammps_style_of_several(self):
        """Refused with the styles that fit; or read as what it is, not as full."""
        outcome = self.try_convert("sphere.data")
        if outcome.status != 0:
            self.assertIn("sphere", outcome.said)
            return
        particles = outcome.frames()[0].particles
        self.assertEqual(particles.typeid.tolist(), [0, 0, 1, 1])
        self.assertFalse(particles.charge.any())

    def test_14_lammps_style_is_named(self):
        self.convert("chain.data", "--atom-style", "molecular")

    def test_16_lammps_units_of_velocities(self):
        self.assert_close(self.run_job().values("temperature")[0], 120, 2e-3)

    def test_18_lammps_angles_twice(self):
        self.assert_energy(self.run_job(), 0.0054452, 1e-3)  # LAMMPS counts both

    def test_19_lammps_two_dimensions(self):
        run = self.try_run()
        if run.status != 0:  # the way out is named
            self.assertIn('"dimension": 2', run.said)
            self.run_job("job.json", "--set", "system.dimension=2")

    def test_20_xyz_ids(self):
        r = self.convert("ovito.xyz", to="h5")
        with h5py.File(r.out) as file:
            q = file["particles/all/position/value"][:]
        self.assert_close(np.sqrt(((q[1] - q[0])**2).sum(1).mean()), 0.01 * 3**0.5, 0.02)

    def test_22_xyz_without_a_box(self):
        self.assertIn("--box", self.try_convert("packmol.xyz").said)
        box = self.convert("packmol.xyz", "--box", "20,20,20").frames()[0].configuration.box
        np.testing.assert_allclose(box, [20, 20, 20, 0, 0, 0])

    def test_23_chain_that_was_wrapped(self):
        run = self.run_job()
        file = "chain_size.h5"
        self.assert_close(run.values("radius_of_gyration_squared", file).reshape(-1)[0], 8.25)
        self.assert_close(run.values("end_to_end_squared", file).reshape(-1)[0], 81)

    def test_48_lammps_image_flags(self):
        self.assertIn("image", self.try_convert("far.xyz", to="data").said)


class Forces(Case):
    def test_25_table_with_zeros_in_the_last_row(self):
        """As LAMMPS ends it, or with a warning that names the row."""
        table, own = self.run_job("point-table.json"), self.run_job("point-lj.json")
        force = [run.particles("force")[0, 1, 0] for run in (table, own)]
        if "row" not in self.validate("point-table.json").said:
            self.assert_close(force[0], force[1], 0.1, 0.01)
        run = self.run_job()
        p, edge = run.particles("position")[-1], run.particles("box/edges")[-1][0, 0]
        virial = 0
        for i in range(len(p) - 1):
            d = p[i + 1:] - p[i]
            r2 = ((d - edge * np.round(d / edge))**2).sum(1)
            r2 = r2[r2 < 2.5**2]
            virial += (24 * (2 * r2**-6 - r2**-3)).sum()
        kinetic = 2 * run.values("kinetic_energy")[-1]
        ours = 3 * edge**3 * run.values("pressure")[-1] - kinetic
        self.assert_close(ours, virial, 0.05)

    def test_27_table_from_small_distances(self):
        self.assert_energy(self.run_job(), lennard_jones(1.1), 1e-3)

    def test_28_exclusions_by_bonds(self):
        self.assert_energy(self.run_job(), -0.0096891, 1e-3)  # LAMMPS, special_bonds lj 0 0 0

    def test_29_bond_longer_than_half_the_box(self):
        """Refused, told, or the file's own distance of 4."""
        run = self.try_run()
        if run.status == 0 and "half" not in self.validate().said:
            self.assert_energy(run, 0, 0, 1e-3)

    def test_32_particles_at_one_place(self):
        fire = self.try_run("fire.json")
        if fire.status != 0:
            self.assertNotIn("add an energy minimisation", fire.said)
        self.run_job("single-point.json")

    def test_33_types_that_do_not_exist(self):
        self.run_job()
        refused = self.try_run("unknown-type.json")
        self.assertEqual(refused.status, 2)
        self.assertNotIn("given twice", refused.said)

    def test_35_angles_of_180_degrees(self):
        self.assertEqual(self.run_job().particles("force")[0, 1, 1], 0)
        self.assert_close(self.run_job("nearly.json").particles("force")[0, 1, 1], -0.4, 1e-3)

    def test_36_fene_across_the_boundary(self):
        r = 0.969
        wanted = -33.75 * np.log(1 - (r / 1.5)**2) + lennard_jones(r) + 1
        self.assert_energy(self.run_job(), wanted)
        self.assert_energy(self.run_job("ring.json"), 0)

    def test_38_tail_of_a_mixture(self):
        with_tail, without = self.run_job("with.json"), self.run_job("without.json")
        for name, wanted in (("potential_energy", -207.54751), ("pressure", -0.20729960)):
            self.assert_close(with_tail.values(name)[0] - without.values(name)[0], wanted)

    def test_46_two_dimensions(self):
        near, far = 1.1, 2**0.5 * 1.1
        self.assert_energy(self.run_job(), 4 * lennard_jones(near) + 2 * lennard_jones(far))
        g = self.run_job("rdf.json").values("rdf", "rdf.h5")[-1].ravel()[5:]
        self.assert_close(g.mean(), 1, 0, 0.02)

    def test_47_seventy_thousand_molecules(self):
        shutil.copy(self.input("job.json"), self.scratch)
        with open(os.path.join(self.scratch, "many.data"), "w") as out:
            subprocess.run([sys.executable, self.input("make.py")], stdout=out, check=True)
        self.folder = self.scratch
        self.assert_energy(self.run_job(), 70000 * 50 * 0.03**2)


class Dynamics(Case):
    def test_31_displacements_at_constant_pressure(self):
        """The unwrapped file's are those of the observer, or the job is told that they are not."""
        run = self.run_job()
        u = run.particles("position", "unwrapped.h5")
        with h5py.File(os.path.join(run.out, "mean_square_displacement.h5")) as file:
            all_of_them = file["observables"]
            name, = [n for n in all_of_them if "displacement" in n]
            lag = all_of_them["lag_time"]
            lag = np.ravel(lag["value"][-1] if "value" in lag else lag)
            msd = np.ravel(all_of_them[name + "/value"][-1])[np.nanargmin(np.abs(lag - 0.5))]
        if "pressure" not in self.validate().said:
            self.assert_close(((u[1:] - u[:-1])**2).sum(-1).mean(), msd, 0.05)

    def test_40_drift_and_thermostats(self):
        """The temperature about the drift, and the variance of a chi-square distribution: seven
        particles have 21 degrees of freedom. 0.06 and 0.3 are four errors of 4 500 samples."""
        for name in ("bussi.json", "nose-hoover.json"):
            v = self.run_job(name).particles("velocity")[500:]
            twice_kinetic = ((v - v.mean(1, keepdims=True))**2).sum((1, 2))
            self.assert_close(twice_kinetic.mean() / 21, 1.5, 0, 0.06)
            self.assert_close(twice_kinetic.var() / twice_kinetic.mean() / 1.5, 2, 0, 0.3)

    def test_42_dpd_with_any_skin(self):
        pressures = [self.run_job(f"{way}-{skin}.json").values("pressure")[-1]
                     for skin in (0.1, 0.6) for way in ("clusters", "verlet_list", "cells")]
        self.assertLess(np.ptp(pressures), 1e-3)

    def test_44_resumed_under_shear(self):
        whole = self.run_job()
        out = os.path.join(self.scratch, "killed")
        checkpoint = os.path.join(out, "checkpoint.h5")
        with subprocess.Popen([PERRIN, "run", self.input("job.json"), "--device", "cpu",
                               "--threads", "1", "--quiet", "--output-dir", out]) as run:
            while not os.path.exists(checkpoint) and run.poll() is None:
                time.sleep(0.01)
            time.sleep(0.2)
            run.send_signal(signal.SIGKILL)
        resumed = self.good(self.program("resume", checkpoint, "--threads", "1", "--quiet",
                                         out=out))
        with h5py.File(os.path.join(out, "thermo.h5")) as file:
            self.assertTrue((np.diff(file["observables/temperature/step"][:]) == 50).all())
        np.testing.assert_array_equal(resumed.values("pressure_tensor"),
                                      whole.values("pressure_tensor"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
