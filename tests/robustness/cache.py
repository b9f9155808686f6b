#!/usr/bin/python3
"""The cache of compiled formulas: that nobody else can put code there, and that what is damaged or
was left behind is made anew or removed.

    cache.py PERRIN [unittest arguments]
"""
import glob
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

import program
from program import PERRIN, argon

FORMULA = argon(forces=[{"type": "external_formula", "energy": "k*x^2", "types": {"A": {"k": 1}}}])


def fnv1a(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:016x}"


class Cache(program.Case):
    @classmethod
    def setUpClass(cls):
        """The formula, compiled once for all tests: theirs copies what came of it."""
        cls.shared = tempfile.mkdtemp(prefix="perrin-test-")
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        job, copy = os.path.join(cls.shared, "job.json"), os.path.join(cls.shared, "copy")
        with open(job, "w") as out:
            json.dump(FORMULA, out)
        cache = os.path.join(cls.shared, "cache")
        subprocess.run([PERRIN, "validate", job], check=True, capture_output=True,
                       env={**os.environ, "PERRIN_CACHE": cache})
        made = glob.glob(os.path.join(cache, "*", "plugin.so"))[0]
        with open(copy, "w") as out:
            out.write('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n' f'cp {made} "$2"\n')
        os.chmod(copy, 0o700)
        cls.compiler = copy

    def setUp(self):
        super().setUp()
        self.write("job.json", FORMULA)

    def environment(self, **changes):
        return super().environment(**{"PERRIN_CACHE": self.path("cache"),
                                      "PERRIN_COMPILER": self.compiler, **changes})

    def validate(self, **environment):
        return self.good("validate", "job.json", **environment)

    def entry(self):
        """The one folder of the cache."""
        names = [n for n in os.listdir(self.path("cache")) if n != ".lock"]
        self.assertEqual(len(names), 1, names)
        return self.path("cache", names[0])

    def test_one_is_made_once_and_only_for_the_user(self):
        previous = os.umask(0)  # whatever that is
        try:
            self.assertIn("compiling the formula k*x^2", self.validate().stderr)
        finally:
            os.umask(previous)
        for folder in (self.path("cache"), self.entry()):
            self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        self.assertEqual(self.validate().stderr, "")
        self.assertEqual(sorted(os.listdir(self.entry())),
                         ["key", "lock", "plugin.cpp", "plugin.so", "sums"])

    def test_what_is_damaged_is_made_again(self):
        self.validate()
        library = os.path.join(self.entry(), "plugin.so")
        whole = self.read(library)

        def cut(file):
            os.truncate(file, os.path.getsize(file) // 2)

        def zero(file):
            with open(file, "r+b") as out:
                out.seek(len(whole) // 3)
                out.write(b"\0" * 4096)

        def empty(file):
            os.truncate(file, 0)

        for damage, name in [(cut, "plugin.so"), (zero, "plugin.so"), (empty, "key"),
                             (os.remove, "sums"), (os.remove, "plugin.so")]:
            damage(os.path.join(self.entry(), name))
            self.assertIn("compiling", self.validate().stderr)
            self.assertEqual(self.validate().stderr, "")

    def test_what_cannot_be_loaded_is_made_again(self):
        """Whole by its sums: a library that this system cannot load."""
        self.validate()
        entry = self.entry()
        before = fnv1a(self.read(os.path.join(entry, "plugin.so")))
        self.write("other.c", 'void missing(void); const char mark[] = "perrin_1";\n'
                              "void* perrin_plugin(void) { missing(); return 0; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", os.path.join(entry, "plugin.so"),
                        self.path("other.c")], check=True)
        sums = self.read(os.path.join(entry, "sums")).decode()
        with open(os.path.join(entry, "sums"), "w") as out:
            out.write(sums.replace(before, fnv1a(self.read(os.path.join(entry, "plugin.so")))))
        self.assertIn("compiling", self.validate().stderr)
        self.assertEqual(self.validate().stderr, "")

    def test_a_folder_that_others_can_write_is_refused(self):
        words = r"compiled formulas, \S+, can be written by other users \(mode 777; chmod go-w"
        os.mkdir(self.path("cache"))
        os.chmod(self.path("cache"), 0o777)
        self.refused(words, "validate", "job.json")
        self.assertEqual(os.listdir(self.path("cache")), [])
        os.chmod(self.path("cache"), 0o755)
        self.validate()
        os.chmod(self.entry(), 0o777)
        self.refused(words, "validate", "job.json")
        os.chmod(self.entry(), 0o755)
        self.assertEqual(self.validate().stderr, "")

    def test_without_a_home_it_is_a_folder_of_the_user_s_own(self):
        temporary = self.path("tmp")
        os.mkdir(temporary)
        os.chmod(temporary, 0o1777)
        nowhere = {"PERRIN_CACHE": None, "XDG_CACHE_HOME": None, "HOME": None, "TMPDIR": temporary}
        cache = os.path.join(temporary, f"perrin-{os.geteuid()}")
        self.good("validate", "job.json", **nowhere)
        self.assertEqual(stat.S_IMODE(os.stat(cache).st_mode), 0o700)
        os.rename(cache, self.path("cache"))
        os.symlink(self.path("cache"), cache)  # of anybody
        self.refused(r"compiled formulas, \S+, is not a folder", "validate", "job.json", **nowhere)
        os.remove(cache)
        os.mkdir(cache)
        os.chmod(cache, 0o1777)
        self.refused(r"can be written by other users", "validate", "job.json", **nowhere)
        os.chmod(cache, 0o700)
        os.chmod(temporary, 0o777)  # others could put another folder in its place
        self.refused(r"can be written by other users", "validate", "job.json", **nowhere)

    @unittest.skipIf(os.geteuid() != 0, "needs a second user")
    def test_a_folder_of_somebody_else_is_refused(self):
        self.validate()
        os.chown(self.entry(), 1001, 1001)
        self.refused(r"belongs to the user 1001, not to you", "validate", "job.json")

    def test_a_link_to_one_s_own_folder_is_good(self):
        os.mkdir(self.path("elsewhere"), 0o700)
        os.symlink(self.path("elsewhere"), self.path("cache"))
        self.validate()

    def test_what_a_killed_process_has_left_is_removed(self):
        slow = self.write("slow", f"#!/bin/sh\necho $$ > {self.path('started')}\nsleep 60\n")
        os.chmod(slow, 0o700)
        with subprocess.Popen([PERRIN, "validate", "job.json"], cwd=self.folder,
                              stderr=subprocess.DEVNULL, start_new_session=True,
                              env=self.environment(PERRIN_COMPILER=slow)) as one:
            while not os.path.exists(self.path("started")):
                time.sleep(0.01)
            left = os.path.basename(self.entry())
            self.assertRegex(left, r"^[0-9a-f]{16}\.")
            # Another process leaves alone what is in the making.
            self.refused("could not be compiled", "validate", "job.json",
                         PERRIN_COMPILER="/bin/false")
            self.assertEqual(os.path.basename(self.entry()), left)
            os.killpg(one.pid, signal.SIGKILL)
        self.validate()
        self.assertNotIn(".", os.path.basename(self.entry()))

    def test_a_compiler_that_hangs_is_killed(self):
        """With what it has started; nothing of it stays in the cache."""
        child = "sh -c 'echo $$ >> pids; exec sleep 60'"
        slow = self.write("slow", f"#!/bin/sh\necho $$ >> pids\n{child} &\n{child}\n")
        os.chmod(slow, 0o700)
        begin = time.time()
        self.refused(r"k\*x\^2 could not be compiled: \S+/slow had not ended after 1 s "
                     r"\(PERRIN_COMPILER_SECONDS=4 ", "validate", "job.json",
                     PERRIN_COMPILER=slow, PERRIN_COMPILER_SECONDS="1")
        self.assertLess(time.time() - begin, 30)
        pids = self.read("pids").split()
        self.assertEqual(len(pids), 3)
        def alive():  # a process that has ended has no folder, also where nobody waited for it
            return [pid for pid in pids if os.path.exists(f"/proc/{pid.decode()}/cwd")]
        while alive() and time.time() - begin < 30:  # SIGKILL was sent: the end may take a moment
            time.sleep(0.05)
        self.assertEqual(alive(), [])
        self.assertEqual(glob.glob(self.path("cache", "*", "plugin.so")), [])
        for value in ("-1", "soon", ""):
            self.refused("PERRIN_COMPILER_SECONDS: expected a positive number", "validate",
                         "job.json", PERRIN_COMPILER_SECONDS=value)
        self.validate()


program.main()
