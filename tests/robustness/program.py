"""What the tests of the program share: a folder for each, jobs, and the program run in it.

    class Mine(program.Case): ...
    program.main()                    # of a test that is started as  test.py PERRIN [arguments]
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PERRIN = os.path.abspath(sys.argv[1])


def argon(**changes):
    """A job of 64 particles and ten steps that writes nothing."""
    return {"seed": 11,
            "system": {"type": "lattice", "density": 0.6, "cells": [4, 4, 4]},
            "forces": [],
            "stages": [{"type": "md", "steps": 10,
                        "integrator": {"type": "velocity_verlet", "timestep": 0.001}}], **changes}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as out:
            out.write(text if isinstance(text, str) else json.dumps(text, indent=1))
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def environment(self, **changes):
        """That of the test with these variables; None: without them."""
        all_of_them = {**os.environ, "OMP_NUM_THREADS": "1", **changes}
        return {name: value for name, value in all_of_them.items() if value is not None}

    def perrin(self, *arguments, cwd=None, **environment):
        done = subprocess.run([PERRIN, *arguments], cwd=cwd or self.folder, capture_output=True,
                              text=True, timeout=120, env=self.environment(**environment))
        self.assertNotIn("terminate called", done.stderr)
        return done

    def good(self, *arguments, **options):
        done = self.perrin(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def refused(self, pattern, *arguments, **options):
        """Status 2, with these words."""
        done = self.perrin(*arguments, **options)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, pattern)
        return done


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
