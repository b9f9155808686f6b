#!/usr/bin/python3
"""What Perrin says to files that are no jobs, to words of other programs, to names that terminals
obey, and how large its answers get.

    words.py PERRIN
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

PERRIN = sys.argv[1]
PHRASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..",
                       "docs/guide/phrase-book.md")
JOB = {
    "seed": 1, "system": {"type": "lattice", "density": 0.5, "cells": [5, 5, 5]},
    "forces": [{"type": "lennard_jones", "cutoff": 2.5,
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "observers": [{"type": "checkpoint", "file": "state.h5"}],
    "stages": [{"type": "md", "steps": 4,
                "integrator": {"type": "velocity_verlet", "timestep": 0.001}}]}
SLAB = {"seed": 1, "stages": [{"type": "neutron_slab", "thickness": 1, "total": 1,
                               "scattering": 0.5, "histories": 10, "file": ""}]}
# A word of the field, where it would be written, and what the answer names.
WORDS = {
    "integrator": {"nvt": "bussi", "npt": "barostat", "nve": "velocity_verlet", "NVE": "verlet",
                   "berendsen": "bussi", "minimize": "fire", "bd": "brownian",
                   "nose-hoover": "nose_hoover", "trajectory": "observer",
                   "abp": "active_brownian"},
    "observer": {"msd": "mean_square_displacement", "dump": "trajectory", "vacf": "velocity_auto",
                 "gr": "rdf", "log": "thermo", "restart": "checkpoint", "rg": "chain_size"},
    "force": {"lj": "lennard_jones", "lj/cut": "lennard_jones", "gravity": "constant_force",
              "coul/cut": "ewald", "gayberne": "gay_berne", "fene": "bond_fene", "wall": "lj_wall",
              "pppm": "Ewald",
              "thermo": "observer", "harmonic": "bond_harmonic", "table": "pair_table"},
    "stage": {"rigid": "docs/guide/orientations.md", "mc": "metropolis",
              "respa": "slow_force_stride",
              "shear": "docs/guide/shear.md", "run": "md"},
    "system": {"fcc": "lattice", "polymer": "chains", "read_data": "file",
               "packmol": "parts", "solvent": "parts"},
}

# Words of the phrase book that say too little alone: parts of a row, names of programs.
NOT_ALONE = {"LAMMPS", "OpenMM", "ESPResSo", "Step", "System"}


class Words(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-words-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, text, name="job.json"):
        text = text if isinstance(text, (str, bytes)) else json.dumps(text)
        with open(os.path.join(self.folder, name), "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())
        return name

    def perrin(self, *arguments, **options):
        done = subprocess.run([PERRIN, *arguments], cwd=self.folder, capture_output=True,
                              timeout=120, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def refused(self, pattern, *arguments, **options):
        status, _, said = self.perrin(*arguments, **options)
        self.assertEqual(status, 2, said)
        self.assertRegex(said, pattern)
        return said

    def test_words_of_the_field(self):
        places = {"integrator": lambda j, w: j["stages"][0].update(integrator={"type": w}),
                  "observer": lambda j, w: j.update(observers=[{"type": w}]),
                  "force": lambda j, w: j.update(forces=[{"type": w}]),
                  "stage": lambda j, w: j.update(stages=[{"type": w}]),
                  "system": lambda j, w: j.update(system={"type": w})}
        for kind, words in WORDS.items():
            for word, answer in words.items():
                job = json.loads(json.dumps(JOB))
                places[kind](job, word)
                said = self.refused(f'unknown {kind} "{re.escape(word)}".*{answer}', "validate",
                                    self.write(job))
                self.assertEqual(len(said.splitlines()), 1, said)
        for word, answer in (("nvt", "bussi"), ("damp", "friction"), ("pair_modify", "truncation"),
                             ("momentum", "drift"), ("f_s(k,t)", "mean_square_displacement")):
            self.refused(answer, "help", word)

    def test_keys_of_the_job(self):
        for key, word in (("groups", "molecules"), ("dynamic_bonds", "probability"),
                          ("attributes", "random"), ("neighbors", "skin")):
            status, text, said = self.perrin("help", key)
            self.assertEqual((status, said), (0, ""))
            self.assertTrue(text.startswith(f"of the job's top level:\n  {key}  ("), text)
            self.assertIn(f"      {word}  (", text)

    def test_words_of_the_phrase_book(self):
        """docs/guide/phrase-book.md says that `perrin help WORD` answers; the word alone, or as
        Python has it."""
        with open(PHRASES, encoding="utf-8") as book:
            rows = [row.split("|")[1] for row in book if row.startswith("| ") and
                    row.count("|") == 3]
        first = re.compile(r"^(\S+_style|fix|compute|…|with the thermostat|mode) +")
        words = [first.sub("", word.strip()) for row in rows for word in re.split("[,;+]", row)]
        words = {word for word in words if re.fullmatch(r"[A-Za-z][\w./]*", word)}
        self.assertGreater(len(words), 150)
        words, silent = sorted(words - NOT_ALONE), []
        for first in range(0, len(words), 40):  # the answers of `help`, many in one process
            some = words[first:first + 40]
            _, _, said = self.perrin("validate", self.write(
                {**JOB, "forces": [{"type": word} for word in some]}))
            told = re.findall(r"forces\[(\d+)\](.*)", said)
            self.assertGreater(len(told), len(some) / 2, said)
            silent += [some[int(k)] for k, text in told if "expected one of" in text]
        self.assertEqual(silent, [])
        self.assertIn("dihedral_opls", self.perrin("help", "md.dihedral.OPLS")[2])
        self.refused("python3 -m perrin import", "import", "lammps", "in.melt")

    def test_several_values_behind_one_set(self):
        """As `perrin help run` shows it, and as often as needed; a file is a job all the same."""
        self.assertIn("--set PATH=VALUE ...", self.perrin("help", "run")[1])
        job = self.write(JOB)
        self.write(JOB, "a=1.json")
        ways = ([job, "--set", "seed=7", "title=x y=z", "stages[0].steps=-1"],
                ["--set", "seed=7", "title=x y=z", "stages[0].steps=-1", job],
                [job, "--set=seed=7", "title=x y=z", "--set", "stages[0].steps=-1"],
                ["--set", "seed=7", "a=1.json", "--set", "title=x y=z", "stages[0].steps=-1"])
        for way in ways:
            status, shown, said = self.perrin("show", *way)
            self.assertEqual(status, 0, said)
            made = json.loads(shown)
            self.assertEqual((made["seed"], made["title"], made["stages"][0]["steps"]),
                             (7, "x y=z", -1))
        for command in ("run", "validate"):
            self.refused(r"--set: stages\[0\].steps", command, *ways[0])
        self.refused("seed=7", "show", job, "seed=7")  # behind no --set

    def test_plugins_that_are_not_there(self):
        """Where only the engine is built, every type of a shipped plug-in names it."""
        status, listed, _ = self.perrin("plugins")
        self.assertEqual(status, 0)
        library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(PERRIN))), "lib",
                               "libperrin.so.0")
        copied = os.path.join(self.folder, "libperrin.so.0")
        shutil.copy(library, copied)
        alone = {**os.environ, "LD_PRELOAD": copied}
        alone.pop("PERRIN_PLUGIN_PATH", None)
        status, none, said = self.perrin("plugins", env=alone)
        self.assertIn("none", none, said)
        plugin, found = "", 0
        for line in listed.split("plug-ins\n")[1].split("refused\n")[0].splitlines():
            if not line.startswith("    "):
                plugin = line.split()[0]
                continue
            kind, name = line.split()
            found += 1
            self.refused(f"plug-in {plugin} .*scripts/build {plugin}", "help", name, env=alone)
            if kind == "observer":
                self.refused(f'unknown observer "{name}".*scripts/build {plugin}', "validate",
                             self.write({**JOB, "observers": [{"type": name}]}), env=alone)
        self.assertGreater(found, 0)

    def test_what_is_no_job(self):
        text = json.dumps(JOB)
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
            self.refused("UTF-16 or UTF-32, expected UTF-8", "validate",
                         self.write(text.encode(encoding)))
        self.refused("is not a text file", "validate", self.write(b'{"a": "' + b"\0" * 9 + b'"}'))
        self.refused("trailing comma before the ]", "validate", self.write('{"stages": [1, 2, ]}'))
        self.refused("trailing comma before the }", "validate", self.write('{"a": 1,\n }'))
        self.refused("double quotes", "validate", self.write("{'a': 1}"))
        self.refused("comma may be missing", "validate", self.write('{"a": 1 "b": 2}'))
        # A byte order mark is none of them.
        status, _, said = self.perrin("validate", self.write(b"\xef\xbb\xbf" + text.encode()))
        self.assertEqual(status, 0, said)

    def test_jobs_and_checkpoints_taken_for_each_other(self):
        self.write(JOB)
        self.refused("the folder has no checkpoint", "resume", ".")
        status, _, said = self.perrin("run", "job.json", "--quiet")
        self.assertEqual(status, 0, said)
        self.refused("is an HDF5 file.*perrin resume state.h5", "run", "state.h5")
        self.refused("is a job, not a checkpoint: perrin run job.json", "resume", "job.json")
        self.refused("is a folder.*did you mean ./job.json", "run", ".")
        status, _, said = self.perrin("resume", ".", "--steps", "2", "--quiet")
        self.assertEqual(status, 0, said)
        shutil.copy(os.path.join(self.folder, "state.h5"), os.path.join(self.folder, "two.h5"))
        self.refused("several checkpoints; name one of them: ./state.h5, ./two.h5", "resume", ".")

    def test_escape_sequences(self):
        wild = "\x1b]0;owned\x07\x1b[2J\u202e\x9b1m"
        job = {**JOB, "title": wild + "\nPerrin: all is well", wild: 1}
        job["stages"] = [{**JOB["stages"][0], "name": wild}, {"type": wild}]
        job["forces"] = [{**JOB["forces"][0], wild: 2}]
        for status in (2, 0):
            if status == 0:
                job.pop(wild), job["stages"].pop(), job["forces"][0].pop(wild)
            found, out, said = self.perrin("run", self.write(job))
            self.assertEqual(found, status, said)
            for character in (out + said):
                self.assertTrue(character == "\n" or character >= " ", repr(character))
                self.assertNotIn(character, "\x7f\x9b\u202e")
            self.assertIn("\\u001b", out + said)
        self.assertIn("\\nPerrin: all is well", out)

    def test_keys_without_effect(self):
        for key, value in {"system": JOB["system"], "velocity": {"temperature": 1},
                           "forces": JOB["forces"], "neighbors": {"skin": 0.5},
                           "ignore": ["bonds"]}.items():
            if key == "forces":
                continue  # needs particles, which is said
            self.refused(f"{key}: has no effect: neutron_slab", "validate",
                         self.write({**SLAB, key: value}))
        job = {**JOB, "stages": [*SLAB["stages"], *JOB["stages"]]}
        status, _, said = self.perrin("validate", self.write(job))
        self.assertEqual(status, 0, said)
        self.assertRegex(said, "stages.0.: warning: the stage neutron_slab takes its system")

    def test_names_of_outputs(self):
        def with_file(name, other="thermo.h5"):
            more = [{"type": "thermo", "stride": 1, "file": other},
                    {"type": "trajectory", "stride": 2, "file": name}]
            return {**JOB, "observers": JOB["observers"] + more}
        for name, said in {"state.h5.part": "same temporary name", "state.h5.prev": "written by",
                           "state.h5.prev.part": "same temporary name", "a\0b": "character 0",
                           "thermo.h5.journal": "same temporary name", "x" * 250: "250 bytes",
                           ".perrin.lock": "lock file of an output folder",
                           "sub/": "got a folder"}.items():
            self.refused("observers.*" + said, "run", self.write(with_file(name)))
            self.assertEqual(os.listdir(self.folder), ["job.json"], name)
        status, _, said = self.perrin("run", self.write(with_file("x" * 235)), "--quiet")
        self.assertEqual(status, 0, said)

    def test_small_jobs_that_were_large(self):
        def small():
            resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
        pair = JOB["forces"][0]["pairs"][0]
        for job in ({"k" * 100000: [0] * 20000}, {f"key{k}": k for k in range(100000)},
                    {**JOB, "forces": [{**JOB["forces"][0], "pairs": [pair] * 16000}]},
                    {**JOB, "stages": [{"steps": k} for k in range(4000)]}):
            said = self.refused(".", "validate", self.write(job), preexec_fn=small,
                                env={**os.environ, "OMP_NUM_THREADS": "1"})
            self.assertLess(len(said), 100000)
            self.assertLessEqual(len(said.splitlines()), 102)
        self.assertRegex(said, "and 3900 more\n$")

    def test_values_out_of_their_range(self):
        for more, said in (({"device": "gpu"}, 'device: unknown device "gpu": expected auto, cpu'),
                           ({"device": "cuda:x"}, 'device: unknown device "cuda:x"'),
                           ({"seed": 2 ** 64}, "seed: must be an integer from 0 to 18446744073709"),
                           ({"seed": 1e17}, "seed: must be written out in digits")):
            self.refused(re.escape(said), "validate", self.write({**JOB, **more}))
        self.assertEqual(self.perrin("validate", self.write({**JOB, "device": "cuda:3"}))[0], 0)

    def test_formulas(self):
        def with_energy(energy, **parameters):
            return {**JOB, "forces": [{"type": "pair_formula", "energy": energy, "cutoff": 2,
                                       "pairs": [{"types": ["A", "A"], **parameters}]}]}
        environment = {**os.environ, "PERRIN_CACHE": self.folder, "PERRIN_COMPILER": "/bin/false"}
        for energy, said in {"e*1e300*1e300/r": "beyond double precision",
                             "+".join(f"p{k}*r^{k}" for k in range(1, 70)): "69 parameters",
                             "exp(r*" * 100 + "a" + ")" * 100: "too many terms",
                             "4*e*(1/r^12": "at character"}.items():
            self.refused(r"^job.json:1: forces\[0\].energy: .*" + said, "validate",
                         self.write(with_energy(energy, **{"a": 1} if "a" in energy else {})),
                         env=environment)
        self.refused(r"pairs\[0\]: the key \"e\" is missing: a number \(of the form", "validate",
                     self.write(with_energy("e/r")), env=environment)
        # Other mistakes, and its own, are told before a compiler is asked.
        job = with_energy("e/r", e=1)
        job["stages"] = [{**JOB["stages"][0], "stepz": 3}]
        said = self.refused("stepz", "validate", self.write(job), env=environment)
        self.assertNotIn("compil", said)
        job["forces"] = with_energy("e/(r", e=1)["forces"]
        self.refused("(?s)stepz.*energy: expected", "validate", self.write(job), env=environment)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
