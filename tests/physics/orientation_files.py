#!/usr/bin/python3
"""Orientations, angular momenta and moments of inertia in H5MD, GSD, extended XYZ and LAMMPS data:
written, read, converted; of groups, resumed runs and several processes; in other units.

    orientation_files.py PERRIN [unittest arguments]

GSD is held against the package gsd, which writes the files to read and reads those of Perrin; the
other formats against numpy.
"""

import copy
import shutil
import subprocess
import unittest

import h5py
import numpy

from job_case import PERRIN, JobCase

try:
    import gsd.hoomd
except ImportError:
    gsd = None

N = 64
RNG = numpy.random.default_rng(11)
POSITION = (numpy.indices((4, 4, 4)).reshape(3, N).T + 0.5) * 2.5 - 5
Q = RNG.normal(size=(N, 4))  # w, x, y, z
Q /= numpy.sqrt((Q**2).sum(1))[:, None]
SPIN = RNG.normal(size=(N, 3))  # in the frame of each particle
MOMENTS = numpy.array([0.2, 0.8, 0.9])
GAY_BERNE = {"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift",
             "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
NVE = {"type": "velocity_verlet", "timestep": 0.002}
ALL = ["position", "velocity", "image", "orientation", "angular_momentum"]
TRAJECTORY = {"type": "trajectory", "stride": 10, "quantities": ALL}
GSD = {"type": "gsd", "stride": 10, "quantities": ALL}


def product(a, b):
    """Of quaternions w, x, y, z by rows."""
    v, w = numpy.array(a)[:, 1:], numpy.array(b)[:, 1:]
    real = a[:, 0] * b[:, 0] - (v * w).sum(1)
    return numpy.hstack([real[:, None],
                         a[:, :1] * w + b[:, :1] * v + numpy.cross(v, w)])


def in_space(q, v):
    """Vectors of the particles' frames in space: the vector part of q (0, v) q*."""
    zero = numpy.zeros((len(v), 1))
    return product(product(q, numpy.hstack([zero, v])), q * [1, -1, -1, -1])[:, 1:]


def hoomd(q, spin):
    """HOOMD-blue's angular momentum."""
    return 2 * product(q, numpy.hstack([numpy.zeros((len(spin), 1)), spin]))


def job(*observers, system=None, steps=40, integrator=NVE, forces=(GAY_BERNE,), **more):
    return {"seed": 5,
            "system": system or {"type": "lattice", "structure": "sc", "density": 0.05,
                                 "cells": [6, 6, 6]},
            "orientations": {"start": "random", "moments_of_inertia": {"A": list(MOMENTS)}},
            "velocity": {"temperature": 1.5}, "forces": list(forces),
            "observers": [*copy.deepcopy(observers or (TRAJECTORY,)), {"type": "checkpoint"}],
            "stages": [{"type": "md", "steps": steps, "integrator": integrator}], **more}


def from_file(path, *observers, **more):
    """One frame of what a file has."""
    system = {"type": "file", "path": path, **more.pop("file", {})}
    text = job(*observers, system=system, steps=0, forces=[], **more)
    if "orientations" not in more:
        del text["orientations"]
    if "velocity" not in more:
        del text["velocity"]
    return text


class OrientationFiles(JobCase):
    overwrite = True

    def words(self, name, folder=".", file="checkpoint.h5"):
        """What a checkpoint has of each particle, by id."""
        with h5py.File(self.path(folder, file)) as f:
            raw = f["state/simulation/particles/" + name][()]
        return numpy.frombuffer(raw.tobytes(), "f4").reshape(-1, 4)

    def moments(self, folder=".", file="trajectory.h5"):
        with h5py.File(self.path(folder, file)) as h:
            return h["parameters/perrin/moment_of_inertia"][:]

    def convert(self, *arguments):
        done = subprocess.run([PERRIN, "convert", *arguments, "--overwrite"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def not_converted(self, *arguments):
        done = subprocess.run([PERRIN, "convert", *arguments, "--overwrite"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def open_gsd(self, *names):
        return gsd.hoomd.open(self.path(*names))

    # -- H5MD --------------------------------------------------------------------------------------

    def test_frames_in_h5md(self):
        """The last frame is what the checkpoint has; a system that is read from it, too."""
        self.run_job(job())
        q, spin = self.words("orientation"), self.words("angular_momentum")[:, :3]
        frames, momenta = self.frames("orientation"), self.frames("angular_momentum")
        self.assertEqual(frames.shape, (5, 216, 4))
        numpy.testing.assert_array_equal(frames[-1], q[:, [3, 0, 1, 2]])
        numpy.testing.assert_array_equal(momenta[-1], spin)
        self.assertGreater(abs(frames[-1] - frames[0]).max(), 0.01)
        numpy.testing.assert_allclose(self.moments(), numpy.tile(MOMENTS, (216, 1)), rtol=1e-6)
        with h5py.File(self.path("trajectory.h5")) as h:
            group = h["particles/all/orientation"]
            self.assertEqual(list(group.attrs["components"]), ["w", "x", "y", "z"])
            self.assertEqual(group["step"], h["particles/all/position/step"])
            self.assertEqual(h["particles/all/angular_momentum"].attrs["frame"], "particle")
        shutil.copy(self.path("trajectory.h5"), self.path("start.h5"))
        for frame in (-1, 1):
            self.run_job(from_file("start.h5", file={"frame": frame}), folder="again")
            numpy.testing.assert_allclose(self.frames("orientation", "again")[0], frames[frame],
                                          atol=1e-6)
            numpy.testing.assert_array_equal(self.frames("angular_momentum", "again")[0],
                                             momenta[frame])
            numpy.testing.assert_array_equal(self.moments("again"), self.moments())
        self.run_job(from_file("start.h5", file={"velocities": False}), folder="again")
        numpy.testing.assert_array_equal(self.frames("angular_momentum", "again")[0], 0)
        # "orientations" with "default" keeps them; "random" does not.
        for start, same in (("default", True), ("random", False)):
            self.run_job(from_file("start.h5", orientations={
                "start": start, "moments_of_inertia": {"A": [1, 2, 3]}}), folder="again")
            difference = abs(self.frames("orientation", "again")[0] - frames[-1]).max()
            self.assertEqual(difference < 1e-6, same, difference)
            numpy.testing.assert_array_equal(self.moments("again")[0], [1, 2, 3])

    def test_frames_without(self):
        """What is not asked for is not written; moments alone do not make orientations."""
        self.run_job(job({"type": "trajectory", "stride": 10}, {"type": "gsd", "stride": 10}))
        with h5py.File(self.path("trajectory.h5")) as h:
            self.assertNotIn("orientation", h["particles/all"])
            self.assertNotIn("angular_momentum", h["particles/all"])
        shutil.copy(self.path("trajectory.h5"), self.path("start.h5"))
        self.run_job(from_file("start.h5", TRAJECTORY, orientations={}), folder="again")
        numpy.testing.assert_array_equal(self.moments("again"), self.moments())
        self.assertIn("moments of inertia are left out: the particles have no orientations",
                      self.convert("start.h5", "a.gsd"))

    def test_deflated(self):
        self.run_job(job(TRAJECTORY, {**TRAJECTORY, "file": "small.h5", "compression": "deflate"},
                         {**TRAJECTORY, "file": "round.h5", "compression": "rounded"}))
        for name in ("orientation", "angular_momentum"):
            for file in ("small.h5", "round.h5"):
                numpy.testing.assert_array_equal(self.frames(name, file=file), self.frames(name))
        self.assertEqual(self.convert("trajectory.h5", "time.h5", "--chunk", "time",
                                      "--compression", "deflate"), "")
        for name in ("orientation", "angular_momentum"):
            numpy.testing.assert_allclose(self.frames(name, file="time.h5"), self.frames(name),
                                          rtol=1e-6, atol=1e-7)

    def test_other_conventions_in_h5md(self):
        """Components in another order; elements of the name that say nothing of themselves."""
        self.run_job(job())
        with h5py.File(self.path("trajectory.h5"), "r+") as h:
            group = h["particles/all/orientation"]
            group["value"][:] = group["value"][:][:, :, [1, 2, 3, 0]]
            group.attrs["components"] = ["x", "y", "z", "w"]
        self.assertEqual(self.convert("trajectory.h5", "a.h5"), "")
        with h5py.File(self.path("trajectory.h5"), "r+") as h:
            xyzw = h["particles/all/orientation/value"][:]
            del h["particles/all/orientation"].attrs["components"]
            del h["particles/all/angular_momentum"].attrs["frame"]
        numpy.testing.assert_allclose(self.frames("orientation", file="a.h5"),
                                      xyzw[:, :, [3, 0, 1, 2]], atol=1e-7)
        text = self.convert("trajectory.h5", "a.h5")
        self.assertIn("/particles/all/orientation is left out: its attribute components does not "
                      "name w, x, y and z", text)
        self.assertIn('angular_momentum is left out: its attribute frame is not "particle"', text)

    def test_frames_that_have_none(self):
        self.run_job(job())
        with h5py.File(self.path("trajectory.h5"), "r+") as h:
            group = h["particles/all/orientation"]
            value = group["value"][:]
            del group["value"], group["step"], group["time"]
            group["value"], group["step"] = value[:2], [0, 20]
        self.assertIn("orientation has no value at step 10 of the positions: left out",
                      self.convert("trajectory.h5", "a.xyz", "--frame", "1"))
        self.refused(from_file("trajectory.h5", {"type": "thermo", "stride": 1},
                               file={"frame": 1}),
                     'orientation has no value at step 10 of the positions: use another "frame"')
        self.assertIn("orientations (none there, or here) are",
                      self.not_converted("trajectory.h5", "a.h5"))

    def test_groups_and_resumed_runs(self):
        text = job(TRAJECTORY, {**TRAJECTORY, "file": "some.h5", "group": "some"},
                   {**GSD, "group": "some"}, groups={"some": {"ids": [3, 4, 17, [30, 59]]}})
        self.run_job(text, folder="whole")
        ids = [3, 4, 17, *range(30, 60)]
        for name in ("orientation", "angular_momentum"):
            numpy.testing.assert_array_equal(self.frames(name, "whole", "some.h5"),
                                             self.frames(name, "whole")[:, ids])
        self.assertEqual(self.moments("whole", "some.h5").shape, (33, 3))
        text["stages"][0]["steps"] = 20
        self.run_job(text, folder="half")
        done = self.perrin("resume", self.path("half", "checkpoint.h5"), "--steps", "20")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("orientation", "angular_momentum"):
            for file in ("trajectory.h5", "some.h5"):
                numpy.testing.assert_array_equal(self.frames(name, "half", file),
                                                 self.frames(name, "whole", file))
        with open(self.path("half", "trajectory.gsd"), "rb") as a, \
                open(self.path("whole", "trajectory.gsd"), "rb") as b:
            self.assertEqual(len(a.read()), len(b.read()))
        for k, what in ((0, "goes on with trajectory.h5"), (2, "goes on with trajectory.gsd")):
            done = self.perrin("resume", self.path("half", "checkpoint.h5"), "--steps", "20",
                               "--set", f'observers[{k}].quantities=["orientation"]')
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(what, done.stderr)

    def test_any_number_of_processes(self):
        self.need_mpi()
        text = job(TRAJECTORY, GSD, processes={"particles": 1})
        self.run_job(text, folder="one")
        self.run_by_three("three")
        for name in ("position", "orientation", "angular_momentum"):
            numpy.testing.assert_array_equal(self.frames(name, "three"), self.frames(name, "one"))
        if gsd:
            a, b = self.open_gsd("one", "trajectory.gsd"), self.open_gsd("three", "trajectory.gsd")
            for k in range(5):
                for name in ("orientation", "angmom", "moment_inertia"):
                    numpy.testing.assert_array_equal(getattr(b[k].particles, name),
                                                     getattr(a[k].particles, name))

    def test_what_frames_cannot_have(self):
        text = job()
        del text["orientations"]
        text["forces"] = []
        self.refused(text, r'observers\[0\]\.quantities\[3\]: the particles have no orientations, '
                           r'so frames cannot have "orientation"[\s\S]*quantities\[4\].*'
                           '"angular_momentum"')
        text = job(integrator={"type": "brownian", "timestep": 1e-4, "temperature": 1,
                               "friction": 1, "rotational_friction": 1}, steps=0)
        text["observers"][0]["quantities"] = ["orientation", "angular_momentum"]
        del text["velocity"]
        self.assertIn('"angular_momentum" of frames: overdamped motion has no velocities',
                      self.run_job(text).stderr)

    # -- GSD ---------------------------------------------------------------------------------------

    def gsd_file(self, *frames, name="start.gsd", box=(10, 10, 10, 0, 0, 0), position=POSITION):
        new = hasattr(gsd.hoomd, "Frame")  # gsd 3
        with gsd.hoomd.open(self.path(name), "w" if new else "wb") as out:
            for k, values in enumerate(frames):
                frame = gsd.hoomd.Frame() if new else gsd.hoomd.Snapshot()
                frame.configuration.step = k
                frame.configuration.box = box
                frame.particles.N = len(position)
                frame.particles.position = position
                for key, value in values.items():
                    setattr(frame.particles, key, value)
                out.append(frame)
        return self.path(name)

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_bodies_in_gsd(self):
        """As HOOMD-blue has them: the number of the centre; -1 for particles in no body."""
        lj = {"type": "lennard_jones", "cutoff": 2, "truncation": "energy_shift",
              "pairs": [{"types": ["S", "S"], "epsilon": 1, "sigma": 0.8}]}
        dimer = {"sites": [{"type": "S", "at": [0.4, 0, 0]}, {"type": "S", "at": [-0.4, 0, 0]}]}
        text = job(GSD, {"type": "gsd", "stride": 10, "group": "sites", "file": "sites.gsd"},
                   forces=[lj], bodies={"D": dimer}, orientations={"start": "random"},
                   groups={"sites": {"types": ["S"]}},
                   system={"type": "lattice", "structure": "sc", "density": 0.1,
                           "cells": [4, 4, 4], "types": {"D": 1, "S": 1}})
        self.run_job(text)
        with self.open_gsd("trajectory.gsd") as frames:
            for frame in frames:
                body, kind = frame.particles.body, frame.particles.typeid
                types = frame.particles.types
                numpy.testing.assert_array_equal(body[:64][kind[:64] == types.index("S")], -1)
                centers = numpy.flatnonzero(kind == types.index("D"))
                self.assertEqual(len(centers), 32)
                numpy.testing.assert_array_equal(body[centers], centers)
                numpy.testing.assert_array_equal(body[64:], numpy.repeat(centers, 2))
        with self.open_gsd("sites.gsd") as frames:
            numpy.testing.assert_array_equal(frames[0].particles.body, [-1] * 96)

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_start_from_gsd(self):
        self.gsd_file({"orientation": Q, "angmom": hoomd(Q, SPIN),
                       "moment_inertia": numpy.tile(MOMENTS, (N, 1))})
        done = self.run_job(from_file("start.gsd", TRAJECTORY, GSD))
        self.assertNotIn("left out", done.stdout + done.stderr)
        numpy.testing.assert_allclose(self.frames("orientation")[0], Q, atol=1e-6)
        numpy.testing.assert_allclose(self.frames("angular_momentum")[0], SPIN, atol=2e-6)
        numpy.testing.assert_allclose(self.moments(), numpy.tile(MOMENTS, (N, 1)), rtol=1e-6)
        particles = self.open_gsd("trajectory.gsd")[0].particles
        numpy.testing.assert_allclose(particles.orientation, Q, atol=1e-6)
        numpy.testing.assert_allclose(particles.angmom, hoomd(Q, SPIN), atol=4e-6)
        numpy.testing.assert_allclose(particles.moment_inertia, self.moments(), rtol=1e-6)

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_frames_of_a_run_in_gsd(self):
        self.run_job(job(TRAJECTORY, GSD, {**GSD, "file": "two.gsd", "precision": "double",
                                           "quantities": ["orientation"]}))
        q, spin = self.frames("orientation"), self.frames("angular_momentum")
        frames, two = self.open_gsd("trajectory.gsd"), None
        for k in range(5):
            particles = frames[k].particles
            numpy.testing.assert_array_equal(particles.orientation, q[k])
            numpy.testing.assert_allclose(particles.angmom, hoomd(q[k], spin[k]), atol=1e-5)
            numpy.testing.assert_allclose(particles.moment_inertia, self.moments(), rtol=1e-6)
        try:
            two = self.open_gsd("two.gsd")
        except RuntimeError:
            pass  # a package older than the schema
        if two:
            numpy.testing.assert_array_equal(two[4].particles.orientation, q[4])
            numpy.testing.assert_array_equal(two[4].particles.angmom, 0)

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_gsd_that_has_none(self):
        """Frames with nothing but defaults have no orientations; bodies are still told of."""
        self.gsd_file({"body": numpy.where(numpy.arange(N) < 4, 0, -1)})
        done = self.run_job(from_file("start.gsd", {"type": "trajectory", "stride": 1}))
        self.assertIn("the rigid bodies of 4 particles (particles/body) are left out",
                      done.stdout + done.stderr)
        self.gsd_file({"body": numpy.where(numpy.arange(N) < 4, 3, -1)})
        done = self.perrin("convert", "start.gsd", "wrong.xyz")
        self.assertNotIn("no particle that is a centre", done.stderr)
        done = self.perrin("convert", "start.gsd", "wrong.xyz")
        self.assertRegex(done.stderr, r"wrong\.xyz exists: --overwrite replaces it, or name "
                                      "another file\n")
        self.gsd_file({"body": numpy.where(numpy.arange(N) < 4, 5, -1)})
        done = self.perrin("convert", "start.gsd", "wrong.xyz", "--overwrite")
        self.assertRegex(done.stderr, "of 4 particles .* particle 0 has 5, .* expected -1 for")
        # Groups that are not rigid are in no body; bodies beside them stay.
        self.gsd_file({"body": numpy.where(numpy.arange(N) < 4, 0,
                                           numpy.where(numpy.arange(N) < 6, -2, -1))})
        done = self.perrin("convert", "start.gsd", "floppy.xyz")
        self.assertRegex(done.stderr, "bodies of 4 particles are left out")
        self.assertRegex(done.stderr, "2 particles have less than -1 in particles/body")
        self.gsd_file({"body": numpy.where(numpy.arange(N) < 4, 0, -1)})
        self.refused(from_file("start.gsd", GSD), "the particles have no orientations")
        q = Q.copy()
        q[7] = 0
        self.gsd_file({"orientation": q})
        self.refused(from_file("start.gsd", {"type": "thermo", "stride": 1}),
                     r"start\.gsd, frame 0: the orientation of particle 7 is \(0, 0, 0, 0\)")

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_gsd_through_all_formats(self):
        """Frames with the same moments and others; back to GSD they are the same."""
        first = {"orientation": Q, "angmom": hoomd(Q, SPIN), "velocity": POSITION[::-1] / 7,
                 "moment_inertia": numpy.tile(MOMENTS, (N, 1))}
        second = {**first, "orientation": Q[::-1], "angmom": hoomd(Q[::-1], SPIN)}
        self.gsd_file(first, second)
        last = "start.gsd"
        for name in ("a.h5", "b.xyz", "c.gsd", "d.xyz", "e.h5"):
            self.assertNotIn("left out", self.convert(last, name))
            last = name
        for k, values in ((0, first), (1, second)):
            numpy.testing.assert_allclose(self.frames("orientation", file="e.h5")[k],
                                          values["orientation"], atol=1e-6)
            numpy.testing.assert_allclose(self.frames("angular_momentum", file="e.h5")[k], SPIN,
                                          atol=4e-6)
            for key, value in values.items():
                numpy.testing.assert_allclose(
                    getattr(self.open_gsd("c.gsd")[k].particles, key), value, atol=1e-5)
        numpy.testing.assert_allclose(self.moments(file="e.h5")[0], MOMENTS, rtol=1e-6)
        self.convert("b.xyz", "fine.gsd", "--precision", "double")
        self.convert("fine.gsd", "f.xyz")
        with open(self.path("b.xyz")) as a, open(self.path("f.xyz")) as b:
            for one, other in zip(a, b):
                if one.startswith("A "):
                    numpy.testing.assert_allclose(numpy.array(one.split()[1:], float),
                                                  numpy.array(other.split()[1:], float),
                                                  rtol=1e-12, atol=1e-12)

    # -- two dimensions ----------------------------------------------------------------------------

    @unittest.skipUnless(gsd, "without the package gsd")
    def test_two_dimensions(self):
        angle = RNG.random(16) * 3
        flat = numpy.zeros((16, 4))
        flat[:, 0], flat[:, 3] = numpy.cos(angle), numpy.sin(angle)
        position = numpy.zeros((16, 3))
        position[:, :2] = (numpy.indices((4, 4)).reshape(2, 16).T + 0.5) * 2.5 - 5
        self.gsd_file({"orientation": flat, "moment_inertia": numpy.tile([0, 0, 2], (16, 1))},
                      box=(10, 10, 0, 0, 0, 0), position=position)
        two = {"file": {"dimension": 2}}
        self.run_job(from_file("start.gsd", TRAJECTORY, **two))
        numpy.testing.assert_allclose(self.frames("orientation")[0], flat, atol=1e-6)
        flat[3] = [0.6, 0.8, 0, 0]
        self.gsd_file({"orientation": flat}, box=(10, 10, 0, 0, 0, 0), position=position)
        self.refused(from_file("start.gsd", TRAJECTORY, **two),
                     "start.gsd: particle 3 is turned out of the plane")

    # -- extended XYZ ------------------------------------------------------------------------------

    def xyz(self, columns, name="start.xyz", lattice="10 0 0 0 10 0 0 0 10"):
        with open(self.path(name), "w") as out:
            out.write(f"{N}\nLattice=\"{lattice}\" Origin=\"-5 -5 -5\" "
                      f"Properties=species:S:1:pos:R:3:{':'.join(columns)}\n")
            for k in range(N):
                row = [*POSITION[k], *(x for c in columns.values() for x in numpy.ravel(c[k]))]
                out.write("A " + " ".join(repr(float(x)) for x in row) + "\n")
        return self.path(name)

    def test_xyz_as_ovito_has_it(self):
        """Quaternions x, y, z, w; angular momenta in space."""
        self.xyz({"orientation:R:4": Q[:, [1, 2, 3, 0]], "angular_momentum:R:3": in_space(Q, SPIN),
                  "moment_of_inertia:R:3": numpy.tile(MOMENTS, (N, 1))})
        self.run_job(from_file("start.xyz"))
        numpy.testing.assert_allclose(self.frames("orientation")[0], Q, atol=1e-6)
        numpy.testing.assert_allclose(self.frames("angular_momentum")[0], SPIN, atol=1e-6)
        self.convert("trajectory.h5", "b.xyz")
        with open(self.path("b.xyz")) as file:
            lines = file.read().splitlines()
        self.assertRegex(lines[1], ":orientation:R:4:angular_momentum:R:3:moment_of_inertia:R:3")
        rows = numpy.array([line.split()[-10:] for line in lines[2:]], float)
        numpy.testing.assert_allclose(rows[:, :4], Q[:, [1, 2, 3, 0]], atol=1e-6)
        numpy.testing.assert_allclose(rows[:, 4:7], in_space(Q, SPIN), atol=2e-6)
        numpy.testing.assert_allclose(rows[:, 7:], numpy.tile(MOMENTS, (N, 1)), rtol=1e-6)

    def test_turned_boxes(self):
        """A box whose edges are turned by a third of a turn about (1, 1, 1): what particles look at
        is the same among the edges."""
        self.xyz({"orientation:R:4": Q[:, [1, 2, 3, 0]], "angular_momentum:R:3": in_space(Q, SPIN),
                  "moment_of_inertia:R:3": numpy.tile(MOMENTS, (N, 1))},
                 lattice="0 10 0 0 0 10 10 0 0")
        self.run_job(from_file("start.xyz"))
        # Edges along y, z, x become those along x, y, z.
        for axis in numpy.eye(3):
            before = in_space(Q, numpy.tile(axis, (N, 1)))
            after = in_space(self.frames("orientation")[0], numpy.tile(axis, (N, 1)))
            numpy.testing.assert_allclose(after, before[:, [1, 2, 0]], atol=2e-6)
        numpy.testing.assert_allclose(self.frames("angular_momentum")[0], SPIN, atol=1e-6)

    def test_xyz_that_is_something_else(self):
        done = self.run_job(from_file(self.xyz({"orientation:R:3": SPIN}),
                                      {"type": "trajectory", "stride": 1}))
        self.assertIn("properties are not read: orientation", done.stdout + done.stderr)
        done = self.run_job(from_file(self.xyz({"angular_momentum:R:3": SPIN}),
                                      {"type": "trajectory", "stride": 1}))
        self.assertIn("angular momenta are left out: the particles have no orientations",
                      done.stdout + done.stderr)

    # -- LAMMPS data -------------------------------------------------------------------------------

    def lammps(self, style="ellipsoid", name="start.data", more=lambda k: ""):
        """Ellipsoids of two shapes, every fourth particle a point."""
        shape = numpy.where(numpy.arange(N)[:, None] % 2 == 0, [1.0, 1.5, 3.0], [2.0, 2.0, 1.0])
        ellipsoid = numpy.arange(N) % 4 != 3
        with open(self.path(name), "w") as out:
            out.write(f"A test\n\n{N} atoms\n1 atom types\n{ellipsoid.sum()} ellipsoids\n\n"
                      "-5 5 xlo xhi\n-5 5 ylo yhi\n-5 5 zlo zhi\n\n"
                      f"Atom Type Labels\n\n1 A\n\nAtoms # {style}\n\n")
            for k in reversed(range(N)):
                words = [k + 1, 1, int(ellipsoid[k]), 2.5, *POSITION[k]]
                if style != "ellipsoid":
                    words = [k + 1, 1, *POSITION[k], int(ellipsoid[k]), 2.5, more(k)]
                out.write(" ".join(map(str, words)) + "\n")
            out.write("\nVelocities\n\n")
            for k, spin in enumerate(in_space(Q, SPIN) * ellipsoid[:, None]):
                out.write(" ".join(map(str, [k + 1, *POSITION[k] / 9, *spin])) + "\n")
            out.write("\nEllipsoids\n\n")
            for k in numpy.flatnonzero(ellipsoid):
                out.write(" ".join(map(str, [k + 1, *shape[k], *Q[k]])) + "\n")
        a, b, c = (shape / 2).T
        mass = numpy.where(ellipsoid, 2.5 * 4 / 3 * numpy.pi * a * b * c, 2.5)
        moments = mass[:, None] / 5 * numpy.stack([b**2 + c**2, a**2 + c**2, a**2 + b**2], 1)
        return mass, moments * ellipsoid[:, None], ellipsoid

    def check_lammps(self, mass, moments, ellipsoid, folder="."):
        q, spin = self.frames("orientation", folder)[0], self.frames("angular_momentum", folder)[0]
        numpy.testing.assert_allclose(q[ellipsoid], Q[ellipsoid], atol=1e-6)
        numpy.testing.assert_allclose(q[~ellipsoid], [[1, 0, 0, 0]] * (N // 4))
        numpy.testing.assert_allclose(spin, SPIN * ellipsoid[:, None], atol=1e-6)
        numpy.testing.assert_allclose(self.moments(folder), moments, rtol=2e-6)
        with h5py.File(self.path(folder, "trajectory.h5")) as h:
            numpy.testing.assert_allclose(h["particles/all/mass"][:], mass, rtol=1e-6)
            self.assertEqual(h["parameters/perrin/type_names"].asstr()[:].tolist(), ["A"])

    def test_ellipsoids_of_lammps(self):
        expected = self.lammps()
        done = self.run_job(from_file("start.data"))
        self.assertNotIn("not read", done.stdout + done.stderr)
        self.check_lammps(*expected)
        text = self.convert("trajectory.h5", "back.data")
        self.assertIn("the orientations of 16 particles without moments of inertia are left out",
                      text)
        with open(self.path("back.data")) as file:
            text = file.read()
        for part in ("\n48 ellipsoids\n", "\nAtoms # ellipsoid\n", "\nAtom Type Labels\n\n1 A\n"):
            self.assertIn(part, text)
        self.assertNotIn("Masses", text)
        self.run_job(from_file("back.data"), folder="again")
        self.check_lammps(*expected, folder="again")

    def test_ellipsoids_with_charges(self):
        expected = self.lammps("hybrid ellipsoid charge", more=lambda k: k % 2 - 0.5)
        self.run_job(from_file("start.data"))
        self.check_lammps(*expected)
        self.convert("trajectory.h5", "back.data")
        with open(self.path("back.data")) as file:
            self.assertIn("\nAtoms # hybrid ellipsoid charge\n", file.read())
        self.run_job(from_file("back.data"), folder="again")
        self.check_lammps(*expected, folder="again")

    def test_what_is_no_ellipsoid(self):
        text = job()
        text["orientations"]["moments_of_inertia"] = {"A": [0, 1, 1]}  # a rod
        self.run_job(text)
        self.assertRegex(self.convert("trajectory.h5", "a.data"),
                         r"orientations, and all that turns, are left out: LAMMPS has those of "
                         r"ellipsoids with their moments of inertia, those of particle 0, "
                         r"\(0, 1, 1\)")
        self.assertIn("everything but positions and box is left out",
                      self.convert("trajectory.h5", "a.xtc"))

    # -- units -------------------------------------------------------------------------------------

    def test_named_units(self):
        """nm and kJ/mol; read in Angstrom and kcal/mol the energies of rotation are the same."""
        units = {"length": "nm", "energy": "kJ/mol", "mass": "u"}
        text = job(TRAJECTORY, units=units, forces=[], steps=0)
        text["system"]["masses"] = {"A": 20}
        text["velocity"]["temperature"] = 300
        self.run_job(text)
        with h5py.File(self.path("trajectory.h5")) as h:
            self.assertEqual(h["particles/all/angular_momentum/value"].attrs["unit"],
                             h["particles/all/mass"].attrs["unit"] + " nm2 ps-1")
            self.assertEqual(h["parameters/perrin/moment_of_inertia"].attrs["unit"],
                             h["particles/all/mass"].attrs["unit"] + " nm2")
        spin, moments = self.frames("angular_momentum")[0], self.moments()
        energy = 0.5 * (spin**2 / moments).sum()
        self.assertAlmostEqual(energy / (216 * 1.5 * 0.00831446 * 300), 1, delta=1e-4)
        shutil.copy(self.path("trajectory.h5"), self.path("start.h5"))
        other = {"length": "angstrom", "energy": "kcal/mol", "mass": "g/mol"}
        self.run_job(from_file("start.h5", TRAJECTORY, units=other), folder="other")
        numpy.testing.assert_allclose(self.moments("other"), 100 * moments, rtol=1e-6)
        numpy.testing.assert_allclose(self.frames("angular_momentum", "other")[0], 100 * spin,
                                      rtol=1e-5)
        there = self.words("angular_momentum", "other")[:, :3]
        numpy.testing.assert_allclose(0.5 * (there**2 / (100 * moments)).sum(), energy / 4.184,
                                      rtol=1e-5)
        self.run_job(from_file(self.path("other", "trajectory.h5"), TRAJECTORY, units=units),
                     folder="back")
        numpy.testing.assert_allclose(self.frames("angular_momentum", "back")[0], spin, rtol=1e-5)
        numpy.testing.assert_allclose(self.moments("back"), moments, rtol=1e-6)

    def test_units_of_lammps(self):
        mass, moments, ellipsoid = self.lammps()
        units = {"length": "nm", "energy": "kJ/mol", "mass": "u"}
        self.run_job(from_file("start.data", TRAJECTORY, units=units, file={"units": "real"}))
        numpy.testing.assert_allclose(self.moments(), moments / 100, rtol=1e-6)
        # Angstrom^2/fs are 10 nm^2/ps.
        numpy.testing.assert_allclose(self.frames("angular_momentum")[0],
                                      10 * SPIN * ellipsoid[:, None], rtol=1e-5, atol=1e-5)


unittest.main(argv=["orientation_files", *__import__("sys").argv[2:]])
