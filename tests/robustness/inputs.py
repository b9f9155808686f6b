#!/usr/bin/python3
"""Where a job writes: never over what it reads, and elsewhere than in its folder only with a word.

    inputs.py PERRIN [unittest arguments]
"""
import os

import h5py

import program
import reseal
from program import argon

XYZ = ('2\nLattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3\nA 1 1 1\nA 4 4 4\n')
TABLE = "".join(f"{r / 10} {(3 - r / 10)**2} {2 * (3 - r / 10)}\n" for r in range(1, 31))


class Inputs(program.Case):
    def setUp(self):
        super().setUp()
        self.write("start.xyz", XYZ)
        self.write("table.txt", TABLE)

    def job(self, *files, **changes):
        observers = [{"type": "thermo", "stride": 5, "file": name} for name in files]
        return argon(system={"type": "file", "path": "start.xyz"}, observers=observers, **changes)

    def kept(self, job, pattern, *names, command=("run", "job.json", "--overwrite")):
        """The job is refused, by validate as well, and these files are as they were."""
        self.write("job.json", job)
        before = [self.read(name) for name in names]
        there = sorted(os.listdir(self.folder))
        self.refused(pattern, *command)
        if command[0] == "run":
            self.refused(pattern, "validate", *command[1:])
        self.assertEqual([self.read(name) for name in names], before)
        self.assertEqual(sorted(os.listdir(self.folder)), there)

    # -- over what is read -----------------------------------------------------------------------

    def test_the_job_itself(self):
        self.kept(self.job("job.json"), r"observers\[0\]: would replace job\.json, which the job "
                  r"reads \(the job\): name another file", "job.json")

    def test_the_system(self):
        os.makedirs(self.path("sub"))
        os.link(self.path("start.xyz"), self.path("other.xyz"))
        for name in ("start.xyz", "sub/../start.xyz", self.path("start.xyz"), "other.xyz"):
            self.kept(self.job(name), r"observers\[0\]: would replace \S+\.xyz, which the job "
                      r"reads \(system\.path\)", "start.xyz", "other.xyz")

    def test_a_table(self):
        job = self.job("table.txt", forces=[{"type": "pair_table", "pairs": [
            {"types": ["A", "A"], "file": "table.txt"}]}])
        self.kept(job, r"would replace table\.txt, which the job reads \(forces\[0\]", "table.txt")

    def test_under_the_name_that_it_has_while_it_is_made(self):
        for suffix in (".part", ".journal"):
            name = "thermo.h5" + suffix
            self.write(name, TABLE)
            job = self.job("thermo.h5", forces=[{"type": "pair_table", "pairs": [
                {"types": ["A", "A"], "file": name}]}])
            self.kept(job, rf"would replace thermo\.h5\{suffix}, which the job reads", name)

    def test_the_checkpoint_that_no_job_names(self):
        self.write("job.json", argon(observers=[{"type": "trajectory", "stride": 5}]))
        self.good("run", "job.json")
        os.rename(self.path("trajectory.h5"), self.path("checkpoint.h5"))
        job = argon(system={"type": "file", "path": "checkpoint.h5"})
        self.kept(job, r"would replace checkpoint\.h5, which the job reads", "checkpoint.h5")

    def test_a_resumed_run(self):
        job = self.job("thermo.h5")
        job["observers"].append({"type": "checkpoint"})
        self.write("job.json", job)
        self.good("run", "job.json")
        self.kept(job, r"would replace start\.xyz, which the job reads \(system\)", "start.xyz",
                  command=("resume", "checkpoint.h5", "--steps", "5", "--set",
                           "observers[1].file=start.xyz"))

    def test_convert(self):
        before = self.read("start.xyz")
        self.refused("start.xyz: is the input file", "convert", "start.xyz", "./start.xyz",
                     "--overwrite")
        self.assertEqual(self.read("start.xyz"), before)

    # -- elsewhere -------------------------------------------------------------------------------

    def test_outside_of_the_folder_it_is_told(self):
        os.makedirs(self.path("out"))
        self.write("thesis.tex", "all of it")
        directory = ("--output-dir", "out", "--overwrite")
        for name, real in (("../thermo.h5", "thermo.h5"), (self.path("x.h5"), "x.h5"),
                           ("link/y.h5", "y.h5")):
            if not os.path.lexists(self.path("out", "link")):
                os.symlink(self.folder, self.path("out", "link"))
            self.write("job.json", self.job(name))
            for _ in ("made", "replaced"):
                done = self.good("run", "job.json", *directory)
                self.assertIn(f"observers[0]: warning: writes outside of {self.path('out')}: ",
                              done.stderr)
                with h5py.File(self.path(real)) as file:
                    self.assertIn("observables", file)
        self.kept(self.job("../thesis.tex"),
                  r"observers\[0\]: \S*thesis\.tex is not an HDF5, GSD or XTC file and is "
                  r"outside of \S+/out: to replace it, remove it first", "thesis.tex",
                  command=("run", "job.json", *directory))
        self.kept(self.job("../new/x.h5"), r"the folder \S+/new does not exist", "thesis.tex",
                  command=("run", "job.json", *directory))
        self.write("job.json", self.job("deep/down/x.h5"))
        self.assertEqual(self.good("run", "job.json", *directory).stderr, "")

    def test_a_folder_that_its_owner_has_linked_is_the_output_directory(self):
        os.makedirs(self.path("scratch"))
        os.symlink(self.path("scratch"), self.path("out"))
        self.write("job.json", self.job("thermo.h5"))
        self.assertEqual(self.good("run", "job.json", "--output-dir", "out").stderr, "")

    def test_a_checkpoint_of_others_names_no_file_of_mine(self):
        """It says in which folder its run has written."""
        self.write("job.json", argon(observers=[{"type": "checkpoint", "file": "c.h5"}]))
        self.good("run", "job.json", "--output-dir", "theirs")
        self.assertEqual(self.good("resume", "theirs/c.h5", "--steps", "5").stderr, "")
        os.makedirs(self.path("mine"))
        self.set_fact("theirs/c.h5", "output_directory", self.path("mine"))
        done = self.good("resume", "theirs/c.h5", "--steps", "5")
        self.assertIn(f"warning: writes outside of {self.path('theirs')}: {self.path('mine')}",
                      done.stderr)
        self.write("mine/c.h5", "my notes")
        self.refused("is not an HDF5, GSD or XTC file", "resume", "theirs/c.h5", "--steps", "5")
        self.assertEqual(self.read("mine/c.h5"), b"my notes")

    def test_a_run_with_checkpoints_in_a_folder_goes_on_without_a_word(self):
        self.write("job.json", argon(observers=[
            {"type": "thermo", "stride": 5}, {"type": "checkpoint", "file": "saved/c.h5"}]))
        self.good("run", "job.json")
        self.assertEqual(self.good("resume", "saved/c.h5", "--steps", "5").stderr, "")

    def set_fact(self, checkpoint, name, text):
        with h5py.File(self.path(checkpoint), "r+") as file:
            def hash_of(value):
                return reseal.xxh64(value.encode(), reseal.xxh64(name.encode()))
            old = file["facts/" + name][()].decode()
            checksum = int(file["checksum"][()]) - hash_of(old) + hash_of(text)
            del file["facts/" + name]
            file["facts/" + name] = text
            file["checksum"][()] = checksum % 2**64
        reseal.seal(self.path(checkpoint))


    # -- what a file cannot hold -----------------------------------------------------------------

    def test_coordinates_beyond_xtc(self):
        """Known before the run; 32 bits at 1e9 steps a unit end at 2.1. Messages of convert name
        the file as the user does, not as it is called while it is made."""
        self.write("start.xyz", "12\n" + XYZ.splitlines()[1].replace("8", "2.5") + "\n" +
                   "".join(f"A {0.2 * k} 1 1\n" for k in range(12)))
        job = self.job()
        for positions in ("wrapped", "unwrapped"):
            job["observers"] = [{"type": "xtc", "stride": 5, "decimals": 9, "positions": positions}]
            self.kept(job, r"observers\[0\]\.decimals: coordinates up to 2\.5 are beyond the 32 "
                           r"bits of XTC with 9 decimals: expected at most 8", "start.xyz")
        job["observers"][0]["decimals"] = 8
        self.write("job.json", job)
        self.good("run", "job.json", "--overwrite")
        done = self.refused(r"out\.xtc: coordinate 2\.2 of particle 11 is beyond the 32 bits",
                            "convert", "start.xyz", "out.xtc", "--decimals", "9")
        self.assertNotIn(".part", done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if "out" in name], [])
        self.refused(r"no/out\.h5: the folder no does not exist", "convert", "start.xyz",
                     "no/out.h5")


program.main()
