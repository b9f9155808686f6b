#!/usr/bin/python3
"""Attributes and ids of particles in extended XYZ and GSD: read, written, converted, replaced.

    attribute_files.py PERRIN [unittest arguments]

The files to read are written here and by the package gsd, which also reads those of Perrin.
"""

import shutil
import subprocess
import sys
import unittest

import h5py
import numpy

from job_case import PERRIN, JobCase

try:
    import gsd.hoomd
except ImportError:
    gsd = None

N = 64
NVE = {"type": "velocity_verlet", "timestep": 0.002}
RNG = numpy.random.default_rng(5)
POSITION = (numpy.indices((4, 4, 4)).reshape(3, N).T + 0.5) * 1.5 - 3
RADIUS, DRIVE = 0.4 + 0.2 * RNG.random(N), RNG.integers(-3, 4, N)
WCA = {"type": "pair_formula", "cutoff": 1.6, "energy": "exp(-(r - radius_1 - radius_2)/0.1)",
       "pairs": [{"types": ["A", "A"]}]}


def job(path, steps=0, **more):
    return {"seed": 1, "system": {"type": "file", "path": path}, "forces": [],
            "observers": [{"type": "trajectory", "stride": 10, "precision": "double",
                           "quantities": ["position", "velocity", "force", "image"]},
                          {"type": "gsd", "stride": 10}, {"type": "checkpoint"}],
            "stages": [{"type": "md", "steps": steps, "integrator": NVE}], **more}


class AttributeFiles(JobCase):
    overwrite = True

    def xyz(self, name="start.xyz", columns=None, more="", order=None):
        """Positions and these columns, {"name:kind:width": numbers or words}."""
        columns = {"radius:R:1": RADIUS, "drive:I:1": DRIVE} if columns is None else columns
        with open(self.path(name), "w") as out:
            out.write(f"{N}\nLattice=\"6 0 0 0 6 0 0 0 6\" Origin=\"-3 -3 -3\" {more}"
                      f"Properties=species:S:1:pos:R:3:{':'.join(columns)}\n")
            for k in range(N) if order is None else order:
                row = ["A", *(repr(float(x)) for x in POSITION[k])]
                for values in columns.values():
                    row += [str(x) for x in numpy.atleast_1d(values[k])]
                out.write(" ".join(row) + "\n")
        return self.path(name)

    def gsd_file(self, name="start.gsd", frames=({"radius": RADIUS, "drive": DRIVE},)):
        new = hasattr(gsd.hoomd, "Frame")  # gsd 3
        with gsd.hoomd.open(self.path(name), "w" if new else "wb") as out:
            for logs in frames:
                frame = gsd.hoomd.Frame() if new else gsd.hoomd.Snapshot()
                frame.configuration.box = [6, 6, 6, 0, 0, 0]
                frame.particles.N = N
                frame.particles.position = POSITION
                frame.log = {key if "/" in key else "particles/" + key: values
                             for key, values in logs.items()}
                out.append(frame)
        return self.path(name)

    @staticmethod
    def open_gsd(path):
        return gsd.hoomd.open(path)

    def attributes(self, folder=".", file="trajectory.h5"):
        with h5py.File(self.path(folder, file)) as h:
            if "attributes" not in h["parameters/perrin"]:
                return {}
            return {name: values[:] for name, values in h["parameters/perrin/attributes"].items()}

    def convert(self, *arguments):
        done = subprocess.run([PERRIN, "convert", *arguments, "--overwrite"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def check_start(self, path):
        """Whatever the format: the attributes are there, a formula reads them, and those of the job
        replace them."""
        self.run_job(job(path, forces=[WCA]))
        found = self.attributes()
        self.assertEqual(sorted(found), ["drive", "radius"])
        numpy.testing.assert_array_equal(found["radius"], RADIUS)
        numpy.testing.assert_array_equal(found["drive"], DRIVE)
        d = POSITION[:, None] - POSITION[None]
        d -= 6 * numpy.round(d / 6)
        r = numpy.sqrt((d ** 2).sum(axis=2)) + 1e9 * numpy.eye(N)
        f = numpy.exp(-(r - RADIUS[:, None] - RADIUS[None]) / 0.1) / 0.1 * (r < 1.6)
        force = (d * (f / r)[:, :, None]).sum(axis=1)
        numpy.testing.assert_allclose(self.frames("force")[0], force, rtol=1e-4, atol=1e-4)
        self.run_job(job(path, attributes={"radius": {"default": 0.25},
                                           "double": {"from": "2*drive"}}))
        found = self.attributes()
        numpy.testing.assert_array_equal(found["radius"], 0.25)
        numpy.testing.assert_array_equal(found["double"], 2 * DRIVE)
        numpy.testing.assert_array_equal(found["drive"], DRIVE)

    # -- extended XYZ ------------------------------------------------------------------------------

    def test_start_from_xyz(self):
        self.check_start(self.xyz())

    def test_xyz_in_the_order_of_ids(self):
        order = RNG.permutation(N)
        path = self.xyz(columns={"id:I:1": numpy.arange(N) + 1, "radius:R:1": RADIUS}, order=order)
        self.run_job(job(path))
        found = self.attributes()
        self.assertEqual(list(found), ["radius"])
        numpy.testing.assert_array_equal(found["radius"], RADIUS)

    def test_columns_of_xyz_that_are_no_attributes(self):
        words = RADIUS.astype(str)
        words[7] = "many"
        nan = RADIUS.astype(str)
        nan[9] = "nan"
        path = self.xyz(columns={
            "radius:R:1": RADIUS, "label:S:1": ["x"] * N, "fixed:L:1": ["T"] * N,
            "dipole:R:3": RNG.random((N, 3)), "c_pe[1]:R:1": RADIUS, "end_1:R:1": RADIUS,
            "r:R:1": RADIUS, "words:R:1": words, "empty:R:1": nan})
        done = self.run_job(job(path))
        self.assertEqual(list(self.attributes()), ["radius"])
        for pattern in (r"start\.xyz: properties are not read: label, fixed, dipole",
                        r'start\.xyz: the property "c_pe\[1\]" is not read as an attribute: '
                        "expected a name of letters, digits and _",
                        'the property "end_1" is not read', 'the property "r" is not read',
                        '"words" is not read as an attribute: line 10: expected a number, got '
                        '"many"',
                        '"empty" is not read as an attribute: it is nan for particle 9, expected a '
                        "number up to 1e\\+30"):
            self.assertRegex(done.stdout + done.stderr, pattern)

    def test_converted_xyz(self):
        """Through H5MD and back, to the last bit."""
        self.xyz(more="Step=7 ")
        self.assertEqual(self.convert("start.xyz", "a.h5"), "")
        numpy.testing.assert_array_equal(self.attributes(file="a.h5")["radius"], RADIUS)
        self.convert("a.h5", "b.xyz")
        with open(self.path("b.xyz")) as file:
            lines = file.read().splitlines()
        self.assertRegex(lines[1], "Properties=species:S:1:pos:R:3.*:drive:R:1:radius:R:1")
        rows = numpy.array([line.split()[-2:] for line in lines[2:]], float)
        numpy.testing.assert_array_equal(rows[:, 0], DRIVE)
        numpy.testing.assert_array_equal(rows[:, 1], RADIUS)
        self.assertRegex(self.convert("a.h5", "c.data"),
                         "c.data: the attributes drive, radius are left out")

    def test_attributes_that_xyz_has_another_property_for(self):
        self.run_job(job(self.xyz(), attributes={"element": {"default": 3}}))
        self.assertRegex(self.convert("trajectory.h5", "b.xyz"),
                         "the attribute element is left out: extended XYZ has a property of this")

    def parts(self, *parts, **more):
        return {**job(""), "system": {"type": "parts", "box": [20, 20, 20], "min_distance": 0.5,
                                      "parts": list(parts), **more}}

    def test_parts_keep_attributes(self):
        """Each copy of a file has those of the file, and a part "source" has its own; all others
        have the numbers that the system gives."""
        self.xyz()
        self.xyz("other.xyz", columns={"radius:R:1": 2 * RADIUS})
        file = {"type": "file", "path": "start.xyz", "number": 2}
        source = {"type": "source", "system": {
            "type": "random", "particles": {"W": 1}, "box": [20, 20, 20]}}
        other = {"type": "source", "system": {"type": "file", "path": "other.xyz"}}
        fill = [{"type": "random", "particles": {"W": 3, "V": 2}}, source]
        self.run_job(self.parts(file))
        numpy.testing.assert_array_equal(self.attributes()["radius"], numpy.tile(RADIUS, 2))
        self.run_job(self.parts(other, fill[0], file, attributes={
            "radius": {"types": {"W": 0.25, "V": 0.125}}, "drive": {"default": 7}}))
        found = self.attributes()
        self.assertEqual(sorted(found), ["drive", "radius"])
        numpy.testing.assert_array_equal(
            found["radius"], [*(2 * RADIUS), 0.125, 0.125, 0.25, 0.25, 0.25, *RADIUS, *RADIUS])
        numpy.testing.assert_array_equal(found["drive"], [7] * (N + 5) + [*DRIVE, *DRIVE])
        # A formula of the job reads them.
        self.run_job({**self.parts(*fill, file, attributes={
            "radius": {"default": 1}, "drive": {"default": 0}}),
            "attributes": {"double": {"from": "2*radius"}, "drive": {"default": 3}}})
        found = self.attributes()
        numpy.testing.assert_array_equal(found["double"], [2] * 6 + [*(2 * RADIUS)] * 2)
        numpy.testing.assert_array_equal(found["drive"], 3)

    def test_attributes_that_other_parts_lack(self):
        """Are left out with a warning, unless the system gives numbers; then all must have one."""
        self.xyz()
        parts = [{"type": "random", "particles": {"W": 3, "V": 2}},
                 {"type": "file", "path": "start.xyz", "number": 1}]
        done = self.run_job(self.parts(*parts, attributes={"drive": {"default": 1}}))
        self.assertRegex(done.stdout + done.stderr, r"the attribute radius is left out: particle 0 "
                         r"\(type V\) has no number in its part")
        self.assertEqual(sorted(self.attributes()), ["drive"])
        for given, pattern in (
                ({"radius": {"types": {"W": 1}}}, r"attributes.radius: has no number for particle "
                 r"0 \(type V\), whose part has none either"),
                ({"mass": {"default": 1}}, 'attributes.mass: no part "file" or "source" has '
                 'an attribute "mass"'),
                ({"radius": {"default": 1, "types": {"Q": 2}}}, "attributes.radius.types: unknown "
                 'type "Q"'),
                ({"radius": {"default": "one"}}, "attributes.radius.default: ")):
            self.refused(self.parts(*parts, attributes=given), pattern)

    def test_attributes_that_change_from_frame_to_frame(self):
        two = ""
        for values in (RADIUS, 2 * RADIUS):
            with open(self.xyz(columns={"radius:R:1": values})) as file:
                two += file.read()
        with open(self.path("two.xyz"), "w") as out:
            out.write(two)
        self.assertRegex(self.convert("two.xyz", "a.h5"),
                         "a.h5: the attribute radius is not the same in all frames: H5MD keeps")
        numpy.testing.assert_array_equal(self.attributes(file="a.h5")["radius"], RADIUS)
        for frame, values in ((0, RADIUS), (1, 2 * RADIUS), (-1, 2 * RADIUS)):
            self.run_job({**job(self.path("two.xyz")), "system": {
                "type": "file", "path": self.path("two.xyz"), "frame": frame}})
            numpy.testing.assert_array_equal(self.attributes()["radius"], values)

    # -- diameters ---------------------------------------------------------------------------------

    def test_diameters_in_the_unit_of_the_file(self):
        """A job in um writes nm; files of earlier versions have diameters in the job's unit."""
        self.xyz(columns={"diameter:R:1": RADIUS, "masses:R:1": numpy.ones(N)})
        units = {"length": "um", "energy": "pN nm", "mass": "kg"}
        self.run_job(job(self.path("start.xyz"), units=units))
        for earlier in (False, True):
            shutil.copy(self.path("trajectory.h5"), self.path("first.h5"))
            if earlier:
                with h5py.File(self.path("first.h5"), "r+") as file:
                    diameter = file["parameters/perrin/diameter"]
                    numpy.testing.assert_allclose(diameter[:], 1000 * RADIUS)
                    self.assertEqual(diameter.attrs["unit"], "nm")
                    diameter[:] = RADIUS
                    del diameter.attrs["unit"], diameter.attrs["job_factor"]
            self.convert("first.h5", "b.xyz")
            with open(self.path("b.xyz")) as file:
                lines = file.read().splitlines()
            self.assertRegex(lines[1], ":diameter:R:1 Step")
            values = [float(line.split()[-1]) for line in lines[2:]]
            numpy.testing.assert_allclose(values, 1000 * RADIUS)

    # -- GSD ---------------------------------------------------------------------------------------

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_start_from_gsd(self):
        self.check_start(self.gsd_file())

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_frames_of_gsd(self):
        """A frame that is silent has what the first one has, as the package reads it."""
        self.gsd_file(frames=({"radius": RADIUS, "drive": DRIVE}, {"radius": 2 * RADIUS}))
        self.assertRegex(self.convert("start.gsd", "b.xyz"), "^$")
        for file in ("start.gsd", "b.xyz"):
            self.run_job({**job(""), "system": {"type": "file", "path": self.path(file),
                                                "frame": 1}})
            numpy.testing.assert_array_equal(self.attributes()["radius"], 2 * RADIUS)
            numpy.testing.assert_array_equal(self.attributes()["drive"], DRIVE)
        self.convert("b.xyz", "c.gsd")
        for name in ("start.gsd", "c.gsd"):
            frames = self.open_gsd(self.path(name))
            numpy.testing.assert_array_equal(frames[0].log["particles/radius"], RADIUS)
            numpy.testing.assert_array_equal(frames[1].log["particles/radius"], 2 * RADIUS)
            numpy.testing.assert_array_equal(frames[1].log["particles/drive"], DRIVE)

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_logs_of_gsd_that_are_no_attributes(self):
        path = self.gsd_file(frames=({
            "radius": RADIUS, "dipole": RNG.random((N, 3)), "few": RADIUS[:5], "mass": RADIUS,
            "z": RADIUS, "hot": numpy.where(DRIVE > 0, numpy.inf, 1),
            "particles/md/pair/LJ/energies": RADIUS, "md/compute/temperature": [1.0]},))
        done = self.run_job(job(path))
        self.assertEqual(list(self.attributes()), ["radius"])
        text = done.stdout + done.stderr
        for pattern in ("start.gsd: log/particles/dipole is not read as an attribute: 64 × 3 "
                        "numbers, expected 64 × 1 numbers",
                        "log/particles/few is not read as an attribute: 5 × 1",
                        "log/particles/mass is not read as an attribute: the mass of a particle",
                        "log/particles/z is not read as an attribute: expected a name",
                        "log/particles/hot is not read as an attribute: it is inf for particle"):
            self.assertRegex(text, pattern)
        self.assertNotIn("energies", text)
        self.assertIn("logged values (log/...) are left out, other than log/particles/NAME",
                      self.convert("start.gsd", "a.h5"))

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_frames_of_a_run_in_gsd(self):
        """Attributes in the first frame, for all; resumed with the same bits; a start from it."""
        self.run_job(job(self.xyz(), steps=40, velocity={"temperature": 1},
                         attributes={"k": {"random": {"uniform": [1, 2]}}}), folder="run")
        frames = self.open_gsd(self.path("run", "trajectory.gsd"))
        self.assertEqual(len(frames), 5)
        for k in (0, 3):
            self.assertEqual(sorted(name for name in frames[k].log if name.startswith("particles")),
                             ["particles/drive", "particles/k", "particles/radius"])
            numpy.testing.assert_array_equal(frames[k].log["particles/radius"], RADIUS)
            numpy.testing.assert_array_equal(frames[k].log["particles/k"],
                                             self.attributes("run")["k"])
        done = self.perrin("resume", self.path("run", "checkpoint.h5"), "--steps", "20")
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = self.open_gsd(self.path("run", "trajectory.gsd"))
        self.assertEqual(len(frames), 7)
        numpy.testing.assert_array_equal(frames[6].log["particles/drive"], DRIVE)
        self.run_job(job(self.path("run", "trajectory.gsd")), folder="again")
        for name, values in self.attributes("run").items():
            numpy.testing.assert_array_equal(self.attributes("again")[name], values)

    def test_frames_have_numbers_that_change(self):
        """Those of their step, in H5MD and GSD, of all particles and of a group; a run that begins
        with a frame has its numbers."""
        attributes = {
            "grown": {"from": "radius", "updates": {"formula": "grown + 0.001", "every": 5}},
            "charge": {"from": "drive", "changes": "charge + t*drive"},
            "diameter": {"from": "2*radius", "updates": {"formula": "diameter/2", "every": 20}}}
        start = job(self.xyz(), steps=40, velocity={"temperature": 1}, attributes=attributes,
                    ignore=["charges"], groups={"some": {"ids": [3, [30, 40]]}})
        start["observers"] += [{"type": "trajectory", "stride": 20, "group": "some",
                                "file": "some.h5"}]
        start["observers"][2]["steps"] = 17
        self.run_job(start, folder="run")
        some = [3, *range(30, 41)]
        grown = [RADIUS + 0.002 * k for k in range(5)]
        charge = [DRIVE * (1 + 0.02 * k) for k in range(5)]
        diameter = [2 * RADIUS / 2 ** (k // 2) for k in range(5)]

        def check(folder):
            with h5py.File(self.path(folder, "trajectory.h5")) as file:
                own = file["parameters/perrin"]
                found = own["attributes/grown"], file["particles/all/charge"], own["diameter"]
                for element, expected in zip(found, (grown, charge, diameter)):
                    numpy.testing.assert_allclose(element["value"][:], expected, rtol=1e-12)
                    numpy.testing.assert_array_equal(element["step"][:], 10 * numpy.arange(5))
                numpy.testing.assert_array_equal(own["attributes/drive"][:], DRIVE)
            with h5py.File(self.path(folder, "some.h5")) as file:
                numpy.testing.assert_allclose(
                    file["parameters/perrin/attributes/grown/value"][:],
                    numpy.array(grown)[::2][:, some], rtol=1e-12)
            if not gsd:
                return
            frames = self.open_gsd(self.path(folder, "trajectory.gsd"))
            for k, frame in enumerate(frames):
                numpy.testing.assert_allclose(frame.log["particles/grown"], grown[k], rtol=1e-12)
                numpy.testing.assert_array_equal(frame.log["particles/drive"], DRIVE)
                numpy.testing.assert_allclose(frame.particles.charge, charge[k], rtol=1e-6)
                numpy.testing.assert_allclose(frame.particles.diameter, diameter[k], rtol=1e-6)
        check("run")
        shutil.copytree(self.path("run"), self.path("again"))
        done = self.perrin("resume", self.path("again", "checkpoint.h5.prev"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        check("again")
        for suffix in ("h5", "gsd"):
            path = self.path("run", f"trajectory.{suffix}")
            after = job(path, ignore=["charges"])
            after["system"]["frame"] = 3
            self.run_job(after, folder="after")
            numpy.testing.assert_allclose(self.attributes("after")["grown"], grown[3], rtol=1e-12)
            with h5py.File(self.path("after", "trajectory.h5")) as file:
                numpy.testing.assert_allclose(file["particles/all/charge"][:], charge[3], rtol=1e-6)
                numpy.testing.assert_allclose(file["parameters/perrin/diameter"][:], diameter[3],
                                              rtol=1e-6)
        self.assertNotIn("grown", self.convert("run/trajectory.h5", "converted.h5"))
        with h5py.File(self.path("converted.h5")) as file:
            own = file["parameters/perrin"]
            found = own["attributes/grown"], file["particles/all/charge"], own["diameter"]
            for element, expected in zip(found, (grown, charge, diameter)):
                numpy.testing.assert_allclose(element["value"][:], expected, rtol=1e-12)
            numpy.testing.assert_array_equal(own["attributes/drive"][:], DRIVE)
        self.convert("run/trajectory.h5", "converted.gsd")
        if gsd:
            for k, frame in enumerate(self.open_gsd(self.path("converted.gsd"))):
                numpy.testing.assert_allclose(frame.log["particles/grown"], grown[k], rtol=1e-12)
                numpy.testing.assert_allclose(frame.particles.charge, charge[k], rtol=1e-6)

    def test_more_attributes_than_gsd_has_room_for(self):
        """As many as there is room for are written, with all that frames can have besides."""
        many = {f"a{k}": {"default": k} for k in range(32)}
        everything = job(self.xyz(columns={"molecule:I:1": numpy.arange(N) // 2}), steps=20,
                         velocity={"temperature": 1}, groups={"some": {"ids": [[0, 40]]}},
                         attributes=many)
        everything["observers"][1] = {"type": "gsd", "stride": 1, "group": "some",
                                      "quantities": ["position", "velocity", "image"]}
        self.run_job(everything)
        if gsd:
            frames = self.open_gsd(self.path("trajectory.gsd"))
            self.assertEqual(len(frames), 21)
            self.assertEqual(frames[20].log["particles/a31"][0], 31)
        self.refused({**everything, "attributes": {**many, "b": {"default": 1}}},
                     r"observers\[1\].file: a GSD file has room for 32 attributes, the particles "
                     "have 33")

    # -- ids of a group ----------------------------------------------------------------------------

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_a_group_in_gsd_keeps_its_ids(self):
        some = [3, 4, 17, *range(30, 60)]
        groups = {"some": {"ids": [3, 4, 17, [30, 59]]}}
        observers = [*job("")["observers"],
                     {"type": "gsd", "stride": 10, "group": "some", "file": "some.gsd"}]
        self.run_job(job(self.xyz(), steps=40, velocity={"temperature": 1}, groups=groups,
                         observers=observers), folder="run")
        whole = self.open_gsd(self.path("run", "trajectory.gsd"))
        frames = self.open_gsd(self.path("run", "some.gsd"))
        self.assertNotIn("particles/id", whole[0].log)
        for k in (0, 4):
            ids = frames[k].log["particles/id"]
            numpy.testing.assert_array_equal(ids, some)
            numpy.testing.assert_array_equal(frames[k].particles.position,
                                             whole[k].particles.position[ids])
            numpy.testing.assert_array_equal(frames[k].log["particles/radius"], RADIUS[ids])
        # A start has particles of its own; a conversion keeps who they were.
        done = self.run_job(job(self.path("run", "some.gsd")), folder="again")
        self.assertNotIn("log/particles/id", done.stdout + done.stderr)
        self.assertEqual(sorted(self.attributes("again")), ["drive", "radius"])
        with h5py.File(self.path("again", "trajectory.h5")) as file:
            numpy.testing.assert_array_equal(file["particles/all/id"][:], range(len(some)))
        self.assertNotIn("particles/id",
                         self.open_gsd(self.path("again", "trajectory.gsd"))[0].log)
        shutil.copy(self.path("run", "some.gsd"), self.path("some.gsd"))
        self.convert("some.gsd", "some.h5")
        with h5py.File(self.path("some.h5")) as file:
            numpy.testing.assert_array_equal(file["particles/all/id"][:], some)
        self.convert("some.gsd", "other.gsd")
        numpy.testing.assert_array_equal(
            self.open_gsd(self.path("other.gsd"))[4].log["particles/id"], some)
        self.convert("some.gsd", "some.xyz")
        with open(self.path("some.xyz")) as file:
            lines = file.read().splitlines()
        self.assertRegex(lines[1], ":id:I:1:drive:R:1:radius:R:1")
        self.assertEqual([int(line.split()[-3]) for line in lines[2:2 + len(some)]], some)

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_ids_of_gsd_that_are_wrong(self):
        for ids in (RNG.permutation(N), numpy.arange(N) + 0.5):
            done = self.run_job(job(self.gsd_file(frames=({"id": ids},))))
            self.assertRegex(done.stdout + done.stderr,
                             "start.gsd: log/particles/id is not read: expected the ids")


if __name__ == "__main__":
    sys.argv[1:2] = []
    unittest.main()
