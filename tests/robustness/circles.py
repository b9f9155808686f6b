"""scripts/layers finds circles of files in a small tree of its own.   circles.py LAYERS"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LAYERS = sys.argv.pop(1)
TABLE = "| folder | what | may include all above, but not |\n|---|---|---|\n| `a/` | | |\n"


class Circles(unittest.TestCase):
    def found(self, files):
        """What scripts/layers says of a tree with these files (name → names that it includes)."""
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for folder in ("a", "cmake", "docs/guide", "scripts", "tests/fuzz", "io"):
                (root / folder).mkdir(parents=True)
            shutil.copy(LAYERS, root / "scripts/layers")
            (root / "ARCHITECTURE.md").write_text(TABLE)
            (root / "cmake/PublicHeaders.cmake").write_text("set(NONE)")
            (root / "docs/guide/plugins.md").write_text("")
            (root / "tests/fuzz/CMakeLists.txt").write_text("")
            (root / "io/file_formats.cmake").write_text("")
            for file, includes in files.items():
                lines = "".join(f'#include "{other}"\n' for other in includes)
                (root / "a" / file).write_text(lines)
            subprocess.run(["git", "init", "-q", root], check=True)
            subprocess.run(["git", "-C", root, "add", "a"], check=True)
            run = subprocess.run([root / "scripts/layers"], capture_output=True, text=True)
            self.assertEqual(run.stderr, "")
            self.assertEqual(run.returncode != 0, "circle" in run.stdout, run.stdout)
            return [line for line in run.stdout.splitlines() if "circle" in line]

    def test_a_tree_without_a_circle(self):
        self.assertEqual(self.found({"x.h": [], "x.cpp": ["a/x.h", "a/y.h"], "y.h": ["a/z.h"],
                                     "z.h": []}), [])

    def test_headers_that_include_one_another(self):
        said = self.found({"x.h": ["a/y.h"], "y.h": ["a/z.h"], "z.h": ["x.h"], "u.h": ["x.h"]})
        self.assertEqual(len(said), 1)
        self.assertIn("a/x, a/y, a/z include one another", said[0])

    def test_a_circle_by_way_of_a_source_file(self):
        said = self.found({"x.h": [], "x.cpp": ["x.h", "y.h"], "y.h": [], "y.cpp": ["y.h", "x.h"]})
        self.assertEqual(len(said), 1)
        self.assertIn("a/x, a/y include one another", said[0])

    def test_two_circles_are_told_apart(self):
        said = self.found({"x.h": ["y.h"], "y.h": ["x.h", "u.h"], "u.h": ["v.h"], "v.h": ["u.h"]})
        self.assertEqual(len(said), 2)

    def test_a_header_may_have_kernels(self):
        self.assertEqual(self.found({"x.h": [], "x.cpp": ["x.h", "k.h"], "k.h": ["l.cuh"],
                                     "l.cuh": ["x.h"]}), [])

    def test_a_header_may_not_include_its_kernels(self):
        said = self.found({"x.h": ["k.h"], "x.cpp": ["x.h"], "k.h": ["x.h"]})
        self.assertEqual(len(said), 1)
        self.assertIn("a/k, a/x include one another", said[0])


unittest.main()
