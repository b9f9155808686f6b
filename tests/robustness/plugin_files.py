#!/usr/bin/python3
"""A job, or a checkpoint, names code that is to run: which is said before it is loaded, and what is
no plug-in is not.

    plugin_files.py PERRIN OTHER_VERSION_PLUGIN BAD_PLUGIN [unittest arguments]
"""
import os
import shutil
import subprocess
import sys

import program
from program import argon

BAD_PLUGIN = os.path.abspath(sys.argv.pop(3))
OTHER_VERSION_PLUGIN = os.path.abspath(sys.argv.pop(2))
# Says where it is when it is loaded.
LIBRARY = """#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { fprintf(stderr, "code ran\\n"); }
"""


class PluginFiles(program.Case):
    def test_a_library_that_is_no_plugin_is_not_loaded(self):
        self.write("other.c", LIBRARY)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", self.path("other.so"),
                        self.path("other.c")], check=True)
        self.write("job.json", argon(plugins=["./other.so"]))
        for command in ("validate", "run"):
            done = self.refused(r"job\.json:\d+: plugins\[0\]: cannot load plug-in .*other\.so: it "
                                r"is not a plug-in for Perrin: it lacks Perrin's mark", command,
                                "job.json")
            self.assertNotIn("code ran", done.stderr)
            self.assertNotIn("loading", done.stderr)
        # Beside the plug-ins that are looked through for an unknown type, too.
        self.write("job.json", argon(forces=[{"type": "quark"}]))
        done = self.refused("lacks Perrin's mark", "validate", "job.json",
                            PERRIN_PLUGIN_PATH=self.folder)
        self.assertNotIn("code ran", done.stderr)

    def test_what_is_no_file_is_not_read(self):
        os.mkfifo(self.path("pipe.so"))
        for name in ("./pipe.so", "/dev/zero", "."):
            self.write("job.json", argon(plugins=[name if name != "." else "./"]))
            self.refused("it is not a regular file", "validate", "job.json")

    def test_which_file_is_loaded_is_said_first(self):
        """By run, resume and validate; before any of its code."""
        self.write("job.json", argon(plugins=["./mine.so"], observers=[{"type": "checkpoint"}]))
        shutil.copy(BAD_PLUGIN, self.path("mine.so"))
        note = rf"plugins\[0\]: note: loading the plug-in {self.path('mine.so')}; its code"
        for arguments in (["validate", "job.json"], ["run", "job.json"],
                          ["resume", "checkpoint.h5", "--steps", "5"]):
            self.assertRegex(self.good(*arguments).stderr, note)
        self.assertNotIn("note", self.good("validate", "job.json", "--quiet").stderr
                         if "--quiet" in self.perrin("validate", "--help").stdout else "")
        done = self.refused(note, "validate", "job.json", PERRIN_BAD_PLUGIN="static")
        self.assertLess(done.stderr.index("note"), done.stderr.index("no licence"))

    def test_one_of_the_search_folders_is_not_the_job_s_choice(self):
        self.write("job.json", argon(plugins=["bad_plugin"]))
        shutil.copy(BAD_PLUGIN, self.path("bad_plugin.so"))
        done = self.good("validate", "job.json", PERRIN_PLUGIN_PATH=self.folder)
        self.assertEqual(done.stderr, "")

    def test_one_of_another_version_is_refused(self):
        self.write("job.json", argon(plugins=[OTHER_VERSION_PLUGIN]))
        self.refused('built as "gcc-1 cpu-only', "validate", "job.json")


program.main()
