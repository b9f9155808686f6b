#!/usr/bin/python3
"""Forces of whole jobs against numbers from formulas, and what users are told: tables that jump,
exclusions along bonds, bonds beside the box, chains of wrapped files, fields at faces, messages.

    force_jobs.py PERRIN [unittest arguments]
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import h5py
import numpy

PERRIN = sys.argv[1]

STILL = {"type": "md", "steps": 0, "integrator": {"type": "velocity_verlet", "timestep": 1e-6}}


def lj(r):
    return 4 * (r**-12 - r**-6)


def lj_force(r):
    return 4 * (12 * r**-13 - 6 * r**-7)


def rows(x, energy, force):
    return "".join(f"{a:.12g} {b:.12g} {c:.12g}\n" for a, b, c in zip(x, energy, force))


def data(positions, box, bonds=(), tilts=None, images=None):
    """A LAMMPS data file of one type of particles and bonds."""
    n = len(positions)
    text = f"test\n\n{n} atoms\n{len(bonds)} bonds\n1 atom types\n1 bond types\n\n"
    for axis, (low, high) in zip("xyz", box):
        text += f"{low} {high} {axis}lo {axis}hi\n"
    if tilts:
        text += "{} {} {} xy xz yz\n".format(*tilts)
    text += "\nMasses\n\n1 1\n\nAtoms # bond\n\n"
    for k, r in enumerate(positions):
        image = " {} {} {}".format(*images[k]) if images else ""
        text += f"{k + 1} 1 1 {r[0]:.12g} {r[1]:.12g} {r[2]:.12g}{image}\n"
    if bonds:
        text += "\nBonds\n\n"
        text += "".join(f"{k + 1} 1 {a + 1} {b + 1}\n" for k, (a, b) in enumerate(bonds))
    return text


def cube(length):
    return [(-length / 2, length / 2)] * 3


class ForceJobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-forces-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as out:
            out.write(text)

    def call(self, *arguments):
        return subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=300)

    def run_job(self, forces, text=None, system=None, stages=None, rc=0, **keys):
        """What was said, forces on the particles and the potential energy of the first frame."""
        if text is not None:
            self.write("start.data", text)
            system = {"type": "file", "path": "start.data", **(system or {})}
        job = {"seed": 1, "system": system, "forces": forces, "stages": stages or [STILL],
               "observers": [{"type": "thermo", "stride": 1},
                             {"type": "trajectory", "stride": 1,
                              "quantities": ["position", "image", "force"]}], **keys}
        self.write("job.json", json.dumps(job, indent=1))
        done = self.call("run", "job.json", "--device", "cpu", "--threads", "1", "--overwrite")
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, rc, said)
        if rc != 0:
            return said, None, None
        with h5py.File(os.path.join(self.folder, "thermo.h5")) as file:
            energy = file["observables/potential_energy/value"][0]
        with h5py.File(os.path.join(self.folder, "trajectory.h5")) as file:
            return said, file["particles/all/force/value"][0].astype(float), energy

    # --- tables ---

    def table(self, text, distance, kind="pair_table", rc=0):
        self.write("table.txt", text)
        forces = [{"type": "pair_table", "pairs": [{"types": ["1", "1"], "file": "table.txt"}]}]
        bonds = ()
        if kind == "bond_table":
            forces, bonds = [{"type": kind, "bonds": {"1": {"file": "table.txt"}}}], [(0, 1)]
        said, force, energy = self.run_job(
            forces, data([(0, 0, 0), (distance, 0, 0)], cube(20), bonds), rc=rc)
        return said, None if force is None else force[1, 0], energy

    def test_a_last_row_of_zeros_is_a_jump_and_no_steep_force(self):
        x = numpy.linspace(0.8, 2.5, 200)
        energy, force = lj(x), lj_force(x)
        energy[-1] = force[-1] = 0
        for kind in ("pair_table", "bond_table"):
            for r in (2.4, 2.485, 2.4925, 2.4985):
                said, f, u = self.table(rows(x, energy, force), r, kind)
                # As LAMMPS: the force goes in a straight line from row to row.
                self.assertAlmostEqual(f, numpy.interp(r, x, force), delta=1e-3)
                self.assertAlmostEqual(u, lj(r), delta=1e-3)
            self.assertIn("table.txt:199 and 200", said)
            self.assertIn("treated as a jump", said)

    def test_a_level_tail_is_a_jump_too_also_in_rows_that_are_not_equidistant(self):
        for x in (numpy.linspace(0.8, 3, 260), numpy.sqrt(numpy.linspace(0.64, 9, 400))):
            energy, force = lj(x), lj_force(x)
            inside = x < 2.5
            energy[~inside] = force[~inside] = 0
            last = int(numpy.argmin(inside)) - 1
            middle = (x[last] + x[last + 1]) / 2
            for r in (1.2, x[last] - 0.003, middle, x[last + 1] + 0.02, 2.9):
                said, f, u = self.table(rows(x, energy, force), r)
                wide = 0.02 if r == middle else 2e-3  # resampled where rows are uneven
                self.assertAlmostEqual(f, numpy.interp(r, x, force), delta=wide)
            self.assertIn(f"table.txt:{last + 1} and {last + 2}", said)
            # Energies alone.
            self.write("energies", "")
            text = "".join(f"{a:.12g} {b:.12g}\n" for a, b in zip(x, energy))
            for r in (2.3, x[last + 1] + 0.03):
                said, f, u = self.table(text, r)
                self.assertAlmostEqual(f, lj_force(r) if r < 2.5 else 0, delta=3e-3)
            self.assertIn("treated as a jump", said)

    def test_rows_that_are_too_far_apart_are_named_and_do_no_harm_elsewhere(self):
        x = numpy.arange(1, 251) * 0.01
        for text in (rows(x, lj(x), lj_force(x)),
                     "".join(f"{a:.10g} {b:.10g}\n" for a, b in zip(x, lj(x)))):
            for r in (0.95, 1.1, 1.505, 2.4):
                said, f, u = self.table(text, r)
                self.assertAlmostEqual(u, lj(r), delta=1e-3 * (1 + abs(lj(r))))
                self.assertAlmostEqual(f, lj_force(r), delta=2e-3 * (1 + abs(lj_force(r))))
            self.assertIn("table.txt:1 and ", said)
            self.assertIn("too far apart", said)

    def test_smooth_tables_are_taken_in_silence_and_wrong_forces_are_refused(self):
        x = numpy.linspace(0.8, 2.5, 100)
        said, f, u = self.table(rows(x, lj(x), lj_force(x)), 1.3)
        self.assertNotIn("warning", said)
        for factor in (-1, 2, 4.184, 0.1):
            said, _, _ = self.table(rows(x, lj(x), factor * lj_force(x)), 1.3, rc=2)
            self.assertIn("not minus the derivative", said)

    def test_distances_of_rows_may_change_by_less_than_files_round(self):
        """Of many rows that adds up to distances from other rows by far."""
        x = 0.5 + numpy.insert(numpy.cumsum(numpy.linspace(1.8e-5, 2.2e-5, 100000)), 0, 0)
        text = rows(x, 5 * (x - 1)**2, -10 * (x - 1))
        for kind in ("pair_table", "bond_table"):
            for r in (0.8, 1.5, 2.2):
                _, f, u = self.table(text, r, kind)
                self.assertAlmostEqual(u, 5 * (r - 1)**2, delta=1e-4)
                self.assertAlmostEqual(f, -10 * (r - 1), delta=1e-3)

    def test_rows_that_are_too_close_together_are_told(self):
        """Closer than 65536 equal distances are."""
        near = 1 + 5e-5 * numpy.linspace(-1, 1, 400)
        x = numpy.unique(numpy.concatenate([numpy.linspace(0.5, 8, 4000), near]))
        energy = 0.1 * (x - 1)**2 - 5 * numpy.exp(-((x - 1) / 1e-5)**2)
        said, _, _ = self.table("".join(f"{a:.12g} {b:.12g}\n" for a, b in zip(x, energy)), 1.2)
        self.assertIn("rows are too close together: they are brought to 65536 equal", said)
        x = numpy.geomspace(1e-3, 8, 3000)  # where energies change slowly nothing is lost
        said, _, u = self.table("".join(f"{a:.12g} {1 / a:.12g}\n" for a in x), 0.01)
        self.assertNotIn("warning", said)
        self.assertAlmostEqual(u, 100, delta=1e-2)

    def test_a_turn_in_rounded_radians_is_closed(self):
        """Whose last row is the first one again, but for the rounding of both."""
        def energy(phi):
            return 2 * (1 + numpy.cos(3 * phi - 0.7)) + numpy.sin(phi)

        def torque(phi):  # minus the derivative
            return 6 * numpy.sin(3 * phi - 0.7) - numpy.cos(phi)
        phi = numpy.linspace(-numpy.pi, numpy.pi, 181)
        for digits, forces in ((5, True), (5, False), (4, False), (7, False)):
            text = "TURN\nN 181 RADIANS" + " NOF" * (not forces) + "\n\n"
            for k, a in enumerate(phi):
                force = f" {torque(a):.10g}" if forces else ""
                text += f"{k + 1} {a:.{digits}f} {energy(a):.10g}{force}\n"
            self.write("table.txt", text)
            for angle in (179.99, -179.99, 178.5, 30):
                a = numpy.radians(angle)
                said, force, u = self.torsion([(1, 0, 0), (0, 0, 0), (0, 0, -1),
                                               (numpy.cos(a), -numpy.sin(a), -1)])
                self.assertNotIn("warning", said)
                self.assertAlmostEqual(u, energy(a), delta=2e-3)
                # The first particle turns about the axis with an arm of 1.
                self.assertAlmostEqual(abs(force[0, 1]), abs(torque(a)), delta=2e-2)

    def torsion(self, positions, rc=0):
        text = data(positions, cube(20)).replace("1 bond types\n", "1 dihedral types\n").replace(
            "0 bonds\n", "1 dihedrals\n").replace("# bond", "# molecular")
        return self.run_job([{"type": "dihedral_table", "dihedrals": {"1": {"file": "table.txt"}}}],
                            text + "\nDihedrals\n\n1 1 1 2 3 4\n", rc=rc)

    def test_a_turn_that_does_not_close_is_told(self):
        self.write("table.txt", "".join(f"{a} {a / 100:.10g}\n" for a in range(-180, 180, 2)))
        said, _, _ = self.torsion([(1, 0, 0), (0, 0, 0), (0, 0, -1), (0, 1, -1)])
        self.assertIn("table.txt:180 and 1: the energy goes from 1.78 to -1.8", said)

    def test_formulas_that_end_before_their_cutoff_become_whole_tables(self):
        """Without a compiler. Of energies of the outer half nothing is known of those within."""
        without = unittest.mock.patch.dict(os.environ, PERRIN_COMPILER="/none")
        without.start()
        self.addCleanup(without.stop)
        for energy, value, force, places in (
                ("if(r < 2^(1/6), 4*(r^-12 - r^-6) + 1, 0)",
                 lambda r: lj(r) + 1 if r < 2**(1 / 6) else 0,
                 lambda r: lj_force(r) if r < 2**(1 / 6) else 0, (0.5, 0.8, 1, 1.1, 1.5)),
                ("10*max(0, 1 - r)^3", lambda r: 10 * max(0, 1 - r)**3,
                 lambda r: 30 * max(0, 1 - r)**2, (0.05, 0.3, 0.8, 1.4)),
                ("exp(-(r/0.15)^2)", lambda r: numpy.exp(-(r / 0.15)**2),
                 lambda r: 2 * r / 0.15**2 * numpy.exp(-(r / 0.15)**2), (0.01, 0.1, 0.3, 0.5)),
                ("1e5*exp(-30*r)/r", lambda r: 1e5 * numpy.exp(-30 * r) / r,
                 lambda r: 1e5 * numpy.exp(-30 * r) * (30 / r + 1 / r**2), (0.3, 0.5, 1)),
                ("4*(r^-12 - r^-6)", lj, lj_force, (0.4, 0.8, 1, 2.9, 20))):
            cutoff = 40 if 20 in places else 3
            with self.subTest(energy):
                for r in places:
                    said, f, u = self.run_job(
                        [{"type": "pair_formula", "energy": energy, "cutoff": cutoff,
                          "pairs": [{"types": ["1", "1"]}]}],
                        data([(0, 0, 0), (r, 0, 0)], cube(90)))
                    self.assertIn("is tabulated", said)
                    self.assertAlmostEqual(u, value(r), delta=1e-5 * (1 + value(r)))
                    self.assertAlmostEqual(f[1, 0], force(r), delta=1e-4 * (1 + abs(force(r))))

    def test_formulas_of_dihedrals_go_round(self):
        text = data([(1, 0, 0), (0, 0, 0), (0, 0, -1), (0, 1, -1)], cube(20)).replace(
            "1 bond types\n", "1 dihedral types\n").replace("0 bonds\n", "1 dihedrals\n").replace(
            "# bond", "# molecular") + "\nDihedrals\n\n1 1 1 2 3 4\n"
        for energy in ("k/2*(phi - 0.5)^2", "k*phi", "k*sin(phi/2)"):
            said, _, _ = self.run_job([{"type": "dihedral_formula", "energy": energy,
                                        "dihedrals": {"1": {"k": 2}}}], text, rc=2)
            self.assertIn("dihedrals.1: the energy must be the same at -pi and pi", said)

    # --- exclusions and special pairs ---

    POSITIONS = numpy.array([(0, 0, 0), (1, 0, 0), (1.3, .95, 0), (2.2, 1, .4), (2.6, .2, .8),
                             (3.4, .9, 1.3)])
    CHAIN = [(k, k + 1) for k in range(5)]
    LJ = {"type": "lennard_jones", "cutoff": 9,
          "pairs": [{"types": ["1", "1"], "epsilon": 1, "sigma": 1}]}
    NO_BOND = {"type": "bond_harmonic", "bonds": {"1": {"stiffness": 0, "length": 1}}}

    def energy_of(self, apart, power=1):
        return sum(lj(numpy.linalg.norm(self.POSITIONS[i] - self.POSITIONS[j]))
                   for i, j in itertools.combinations(range(6), 2) if apart(abs(i - j)))

    def test_exclusions_count_bonds(self):
        text = data(self.POSITIONS, cube(20), self.CHAIN)
        for kinds, left_out in ((["bonds"], {1}), (["bonds", "angles"], {1, 2}),
                                (["bonds", "angles", "dihedrals"], {1, 2, 3}),
                                (["dihedrals"], {3}), ([], set())):
            said, _, energy = self.run_job([self.LJ, self.NO_BOND], text,
                                           neighbors={"exclusions": kinds})
            want = self.energy_of(lambda k: k not in left_out)
            self.assertAlmostEqual(energy, want, delta=2e-5 * abs(want) + 1e-6)
            self.assertEqual("5 bonded (1-2)" in said, 1 in left_out)
            self.assertEqual("4 of angles (1-3)" in said, 2 in left_out)
            self.assertEqual("3 of dihedrals (1-4)" in said, 3 in left_out)
        # A ring: the shortest way counts.
        turn = 2 * numpy.pi / 5
        ring = numpy.array([(numpy.cos(k * turn), numpy.sin(k * turn), 0) for k in range(5)])
        text = data(1.2 * ring, cube(20), [(k, (k + 1) % 5) for k in range(5)])
        _, _, energy = self.run_job([self.LJ, self.NO_BOND], text,
                                    neighbors={"exclusions": ["bonds", "dihedrals"]})
        self.assertAlmostEqual(energy, 5 * lj(2.4 * numpy.sin(2 * numpy.pi / 5)), delta=1e-4)
        # Molecules are what bonds hold together, where a file numbers none.
        self.call("convert", "start.data", "start.gsd", "--overwrite")
        _, _, energy = self.run_job([self.LJ, self.NO_BOND],
                                    neighbors={"exclusions": ["molecules"]},
                                    system={"type": "file", "path": "start.gsd"})
        self.assertEqual(energy, 0)

    def test_exclusions_that_exclude_nothing_are_said(self):
        text = data(self.POSITIONS[:2], cube(20), [(0, 1)])
        said, _, _ = self.run_job([self.LJ, self.NO_BOND], text,
                                  neighbors={"exclusions": ["bonds", "angles"]})
        self.assertIn("neighbors.exclusions: warning: \"angles\" excludes no pair", said)

    def test_ignored_bonds_leave_no_pair_out(self):
        text = data(self.POSITIONS, cube(20), self.CHAIN)
        _, _, energy = self.run_job([self.LJ], text, ignore=["bonds"],
                                    neighbors={"exclusions": ["bonds", "angles"]})
        self.assertAlmostEqual(energy, self.energy_of(lambda k: True), delta=1e-2)

    def test_special_pairs_are_three_bonds_apart(self):
        text = data(self.POSITIONS, cube(20), self.CHAIN)
        special = {"type": "special_pairs", "scale": 0.5,
                   "pairs": [{"types": ["1", "1"], "epsilon": 1, "sigma": 1}]}
        _, _, energy = self.run_job([special, self.NO_BOND], text)
        want = self.energy_of(lambda k: k == 3) / 2
        self.assertAlmostEqual(energy, want, delta=1e-5 * abs(want) + 1e-6)

    # --- bonds beside the box ---

    def bond(self, stiffness, length):
        return [{"type": "bond_harmonic", "bonds": {"1": {"stiffness": stiffness,
                                                          "length": length}}}]

    def test_bonds_take_the_nearest_image_in_tilted_boxes(self):
        lengths, tilts = (10., 6., 5.), (4.5, -4., 2.7)
        edges = numpy.array([(10., 0, 0), (4.5, 6, 0), (-4., 2.7, 5)])
        random = numpy.random.default_rng(7)
        shifts = numpy.array(list(itertools.product(range(-3, 4), repeat=3))) @ edges
        a, b = (random.random((60, 3)) @ edges for _ in range(2))
        best = numpy.array([numpy.linalg.norm(p - q + shifts, axis=1).min() for p, q in zip(a, b)])
        positions = numpy.empty((120, 3))
        positions[::2], positions[1::2] = a, b
        text = data(positions, [(0, l) for l in lengths], [(2 * k, 2 * k + 1) for k in range(60)],
                    tilts)
        _, force, energy = self.run_job(self.bond(2, 0), text)
        self.assertAlmostEqual(energy, (best**2).sum(), delta=1e-4 * (best**2).sum())
        numpy.testing.assert_allclose(numpy.linalg.norm(force[::2], axis=1), 2 * best, rtol=1e-4)

    def test_bonds_go_the_whole_way_where_the_box_is_not_periodic(self):
        text = data([(-4.4, 0, 0), (4.4, 1, 0)], cube(10), [(0, 1)])
        _, force, energy = self.run_job(self.bond(1, 0), text,
                                        system={"periodic": [False, True, True]})
        self.assertAlmostEqual(energy, (8.8**2 + 1) / 2, delta=1e-4)
        numpy.testing.assert_allclose(force[0], (8.8, 1, 0), atol=1e-4)

    def test_bonds_that_do_not_fit_the_box_are_warned_of(self):
        text = data([(-2, 0, 0), (2, 0, 0)], cube(5), [(0, 1)])
        said, _, _ = self.run_job(self.bond(10, 4), text)
        self.assertIn("forces[0].bonds.1: warning: the energy of these bonds is lowest at a length "
                      "of 4, more than half", said)
        said, _, _ = self.run_job(self.bond(10, 1), text)
        self.assertNotIn("warning", said)
        text = data([(-2, 0, 0), (2, 0, 0)], cube(5), [(0, 1)], images=[(0, 0, 0), (1, 0, 0)])
        said, _, _ = self.run_job(self.bond(10, 1), text)
        self.assertIn("bond 0 (type \"1\") of particles 0 and 1 is 9 long by positions and images, "
                      "and 1 to the nearest image", said)

    # --- chains of files that were wrapped ---

    def test_wrapped_chains_are_whole(self):
        n, length = 30, 12.
        whole = numpy.zeros((n, 3))
        whole[:, 0] = numpy.arange(n) * 0.9 + 1
        whole[:, 1] = numpy.arange(n) * 0.3
        whole[:, 2] = 0.2 * numpy.sin(numpy.arange(n))
        wrapped = (whole + length / 2) % length - length / 2
        bonds = [(k, k + 1) for k in range(n - 1)]
        for images in (None, [(0, 0, 0)] * n):
            self.write("start.data", data(wrapped, cube(length), bonds, images=images))
            for name in ("start.data", "start.gsd", "start.h5"):
                if name != "start.data":
                    done = self.call("convert", "start.data", name, "--overwrite")
                    self.assertEqual(done.returncode, 0, done.stderr)
                _, force, _ = self.run_job(self.bond(1, 1), system={"type": "file", "path": name})
                with h5py.File(os.path.join(self.folder, "trajectory.h5")) as file:
                    group = file["particles/all"]
                    r = group["position/value"][0] + length * group["image/value"][0]
                numpy.testing.assert_allclose(r - r[0], whole - whole[0], atol=1e-5)

    def test_what_winds_around_the_box_stays(self):
        ring = [(-4, 0, 0), (0, 0, 0), (4, 0, 0)]
        said, force, energy = self.run_job(
            self.bond(1, 4), data(ring, cube(12), [(0, 1), (1, 2), (2, 0)]))
        self.assertAlmostEqual(energy, 0, delta=1e-6)
        self.assertNotIn("warning", said)

    # --- fields ---

    def field(self, energy, parameters, periodic=(True, True, True), **keys):
        self.write("start.data", data([(1, 2, 3)], cube(10)))
        return self.run_job([{"type": "external_formula", "energy": energy,
                              "types": {"1": parameters}, **keys}],
                            system={"type": "file", "path": "start.data",
                                    "periodic": list(periodic)})

    def test_fields_that_jump_at_a_periodic_face_are_warned_of(self):
        said, _, _ = self.field("g*z", {"g": 2})
        self.assertIn("forces[0].types.1: warning: the energy of this field jumps by 20", said)
        self.assertIn("axis z", said)
        said, _, _ = self.field("k/2*(x - v*t)^2", {"k": 1, "v": 0.1})
        self.assertIn("axis x", said)
        self.assertIn("at the time 0.1", said)
        for energy, parameters, periodic in (
                ("g*z", {"g": 2}, (True, True, False)),
                ("k*cos(w*x)", {"k": 1, "w": 0.628318530718}, (True, True, True)),
                ("k/2*(x^2 + y^2)", {"k": 1}, (True, True, True)),
                ("k*t", {"k": 1}, (True, True, True))):
            said, _, _ = self.field(energy, parameters, periodic)
            self.assertNotIn("warning", said, energy)

    def test_fields_can_follow_the_path_of_a_particle(self):
        text = data([(1, 2, 3)], cube(10), images=[(2, 0, -1)])
        said, force, energy = self.run_job(
            [{"type": "external_formula", "energy": "k/2*x^2 + g*z", "unwrapped": True,
              "types": {"1": {"k": 1, "g": 2}}}], text)
        self.assertNotIn("warning", said)
        numpy.testing.assert_allclose(force[0], (-21, 0, -2), atol=1e-4)
        self.assertAlmostEqual(energy, 21**2 / 2 - 14, delta=1e-3)

    def test_walls_that_reach_no_particle_are_refused(self):
        wall = {"type": "lj_wall", "axis": "z", "position": 8, "epsilon": 1, "sigma": 1}
        text = data([(0, 0, 4.5)], cube(10))
        said, _, _ = self.run_job([wall], text, system={"periodic": [True, True, False]}, rc=2)
        self.assertIn("forces[0].position: must be closer to the box, which extends from -5 to 5",
                      said)
        # Along a periodic axis it is an image of the wall at -2.
        _, force, _ = self.run_job([wall], data([(0, 0, -1)], cube(10)))
        self.assertAlmostEqual(force[0, 2], 9 * 2 / 15 - 3, delta=1e-4)

    # --- messages ---

    def lattice(self):
        return {"type": "lattice", "density": 0.3, "cells": [5, 5, 5]}

    def refused(self, forces, *sentences, system=None, **keys):
        said, _, _ = self.run_job(forces, system=system or self.lattice(), rc=2, **keys)
        for sentence in sentences:
            self.assertIn(sentence, said)
        return said

    def test_settings_that_do_nothing_are_refused(self):
        one = {"types": ["A", "A"], "epsilon": 1, "sigma": 1}
        self.refused([{"type": "wca", "cutoff": 2.5, "pairs": [one]}],
                     "forces[0].cutoff: must be at most 1.12246")
        self.refused([{"type": "wca", "pairs": [{**one, "cutoff": 2.5}]}],
                     "forces[0].pairs[0].cutoff: must be at most 1.12246")
        for shift in ("energy_shift", "force_shift"):
            self.refused([{"type": "wca", "truncation": shift, "pairs": [one]}],
                         "forces[0].truncation:")
        self.refused([{"type": "lennard_jones", "cutoff": 2.5, "switch_on": 2, "pairs": [one]}],
                     "forces[0].switch_on: has no effect")
        soft = {"types": ["A", "A"], "repulsion": 25, "range": 1}
        self.refused([{"type": "soft_dpd", "cutoff": 1.5, "pairs": [soft]}],
                     "forces[0].cutoff: must be at most 1")
        for end in ({"cutoff": 1}, {"cutoff": 1.1225}, {"truncation": "switch"}):
            self.run_job([{"type": "wca", **end, "pairs": [one]}], system=self.lattice())

    def test_unknown_types_and_missing_cutoffs_are_said_once(self):
        one = {"types": ["A", "A"], "epsilon": 1, "sigma": 1}
        said = self.refused([{"type": "lennard_jones", "cutoff": 2.5,
                              "pairs": [one, {**one, "types": ["A", "C"]}]}],
                            "pairs[1].types: unknown particle type \"C\"")
        self.assertNotIn("given twice", said)
        self.refused([{"type": "lennard_jones", "pairs": [one]}],
                     "forces[0].cutoff: is missing: lennard_jones needs a cut-off distance")
        self.refused([{"type": "lennard_jones", "cutoff": 2.5, "pairs": [one, one]}],
                     "the pair A, A is given twice")
        self.refused([{"type": "lennard_jones", "cutoff": 99, "pairs": [one]}],
                     "half the shortest distance between opposite faces of the box")

    def test_advice_on_overlaps_fits_the_stage(self):
        fire = [{"type": "md", "steps": 10, "integrator": {"type": "fire", "force_tolerance": 1}}]
        verlet = [{"type": "md", "steps": 10,
                   "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]
        near = lambda r: data([(0, 0, 0), (r, 0, 0)], cube(20))
        lj = {**self.LJ, "cutoff": 2.5}
        said, _, _ = self.run_job([lj], near(0.5), stages=verlet, rc=2)
        self.assertIn('"name": "relax"', said)
        said, _, _ = self.run_job([lj], near(0), stages=fire, rc=2)
        self.assertIn("have the same position", said)
        self.assertNotIn("add an energy minimisation", said)
        said, _, _ = self.run_job([lj], near(0.001), stages=fire, rc=2)
        self.assertIn("Fix the initial configuration", said)
        self.assertNotIn("add an energy minimisation", said)
        # No steps move nothing.
        _, force, energy = self.run_job(
            [lj], near(0.5), stages=[{**verlet[0], "steps": 0}])
        self.assertAlmostEqual(energy, 4 * (2**12 - 2**6), delta=0.1)

    def test_torn_bonds_are_named(self):
        text = data([(0, 0, 0), (1, 0, 0), (2.6, 0, 0)], cube(20), [(0, 1), (1, 2)])
        said, _, _ = self.run_job([{"type": "bond_fene", "bonds": {"1": {}}}], text, rc=3)
        self.assertIn("bond 1 (type \"1\") of particles 1 and 2 is 1.6 long", said)
        self.assertIn("maximum_length", said)


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
