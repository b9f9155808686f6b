#!/usr/bin/env python3
"""Numbers and figures of `perrin rng` against theory.   check_numbers.py PERRIN

Moments within 5 standard errors; the largest deviation of the distribution, times sqrt(n), below
2.2, which a right program exceeds once in 8000 (Kolmogorov). Seeds are fixed: a test either passes
for ever or is wrong."""
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PERRIN = os.path.abspath(sys.argv.pop(1))
N = 200_000


def rng(*arguments, code=0):
    done = subprocess.run([PERRIN, "rng", *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: exit {done.returncode}\n{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def numbers(*arguments):
    return np.array(rng(*arguments, "--count", str(N)).split(), dtype=float)


erf = np.vectorize(math.erf)


class Numbers(unittest.TestCase):
    def follows(self, sample, distribution, mean, variance):
        """Kurtosis 9 is above that of all of them."""
        self.assertEqual(len(sample), N)
        self.assertLess(abs(sample.mean() - mean), 5 * math.sqrt(variance / N))
        self.assertLess(abs(sample.var() - variance), 5 * variance * math.sqrt(8 / N))
        exact = distribution(np.sort(sample))
        steps = np.arange(N + 1) / N
        largest = max(np.max(steps[1:] - exact), np.max(exact - steps[:-1]))
        self.assertLess(largest * math.sqrt(N), 2.2)
        self.assertGreater(largest * math.sqrt(N), 0.2)  # too even is wrong, too

    def test_uniform(self):
        self.follows(numbers("saru", "--distribution", "uniform"), lambda x: x, 1 / 2, 1 / 12)

    def test_exponential(self):
        self.follows(numbers("philox", "--distribution", "exponential"),
                     lambda x: 1 - np.exp(-x), 1, 1)

    def test_normal(self):
        seen = []
        for method in ("inversion", "box_muller", "polar", "ziggurat"):
            with self.subTest(method):
                sample = numbers("saru", "--distribution", "normal", "--method", method)
                self.follows(sample, lambda x: (1 + erf(x / math.sqrt(2))) / 2, 0, 1)
                self.assertLess(abs((sample**3).mean()), 5 * math.sqrt(15 / N))
                self.assertLess(abs((sample**4).mean() - 3), 5 * math.sqrt(96 / N))
                seen.append(sample[:10].tolist())
        self.assertEqual(len({tuple(s) for s in seen}), 4)
        self.assertEqual(numbers("saru", "--distribution", "normal")[:10].tolist(), seen[0])

    def test_a_density_by_a_formula(self):
        self.follows(numbers("tea", "--density", "sin(x)", "--range", f"0,{math.pi}"),
                     lambda x: (1 - np.cos(x)) / 2, math.pi / 2, math.pi**2 / 4 - 2)
        # Of the text: a density 2 x, so that x is the square root of a uniform number.
        self.follows(numbers("ran2", "--density", "x", "--range", "0,1"), lambda x: x**2, 2 / 3,
                     1 / 18)
        # A step, and a norm of its own: mean (1/2 + 9/2)/4, mean square (1/3 + 7)/4.
        self.follows(numbers("saru", "--density", "1 + 2*step(x - 1)", "--range", "0,2"),
                     lambda x: np.where(x < 1, x / 4, (3 * x - 2) / 4), 5 / 4, 11 / 6 - 25 / 16)

    def test_a_density_by_a_table(self):
        with tempfile.TemporaryDirectory(prefix="perrin-numbers-") as folder:
            path = os.path.join(folder, "triangle.txt")
            with open(path, "w") as out:
                out.write("# x  density\n-1 0\n0 5\n\n2 0\n3 0\n")
            self.follows(numbers("mt607", "--density-file", path),
                         lambda x: np.where(x < 0, (x + 1)**2 / 3, 1 - (2 - x)**2 / 6),
                         1 / 3, 7 / 18)
            with open(path, "w") as out:
                out.write("0 1\n0 2\n")
            self.assertIn("must increase", rng("saru", "--density-file", path, code=2))
            with open(path, "w") as out:
                out.write("0 1\n1 x\n")
            self.assertIn("triangle.txt:2", rng("saru", "--density-file", path, code=2))

    def test_the_same_seed_gives_the_same(self):
        one = numbers("saru", "--distribution", "uniform", "--seed", "7")
        np.testing.assert_array_equal(one, numbers("saru", "--distribution", "uniform", "--seed",
                                                   "7"))
        self.assertFalse(np.array_equal(one, numbers("saru", "--distribution", "uniform")))

    def figure(self, formula, box, exact):
        out = rng("saru", "--figure", formula, "--box", box, "--count", str(N))
        _, value, error = re.match(r"(\w+) (\S+) ± (\S+) ", out).groups()
        self.assertLess(abs(float(value) - exact), 4.5 * float(error), out)
        size = math.prod(b - a for a, b in np.reshape([float(x) for x in box.split(",")], (-1, 2)))
        share = exact / size
        self.assertAlmostEqual(float(error), size * math.sqrt(share * (1 - share) / N),
                               delta=0.1 * float(error))
        return out

    def test_figures(self):
        self.assertIn("area", self.figure("x^2 + y^2 < 1", "0,1,0,1", math.pi / 4))
        self.assertIn("length", self.figure("sin(x)", f"0,{3 * math.pi}", 2 * math.pi))
        self.figure("1 - (x/3)^2 - (y/2)^2", "-3,3,-2,2", 6 * math.pi)
        self.assertIn("volume", self.figure("x^2 + y^2 + z^2 < 1", "-1,1,-1,1,-1,1",
                                            4 / 3 * math.pi))
        self.figure("(sqrt(x^2 + y^2) - 2)^2 + z^2 < 0.25", "-3,3,-3,3,-1,1", math.pi**2)

    def test_points_that_all_fall_on_one_side(self):
        out = rng("saru", "--figure", "x > 2", "--box", "0,1", "--count", "1000")
        self.assertIn("length 0 ± 0.003 (0 of 1000 points in a box of 1; ±: with a confidence of "
                      "95 %)", out)

    def test_mistakes_are_named(self):
        for arguments, words in (
                (["--distribution", "gauss"], "--distribution gauss: expected uniform, normal"),
                (["--distribution", "normal", "--method", "sum"], "--method sum: expected inv"),
                (["--distribution", "uniform", "--method", "polar"], "--method is for"),
                (["--density", "x"], "--range LOW,HIGH"),
                (["--density", "x - 1", "--range", "0,1"], "not negative, got -1 at x = 0"),
                (["--density", "x + q", "--range", "0,1"], 'unknown name "q"'),
                (["--density", "x +", "--range", "0,1"], "--density: expected"),
                (["--figure", "x < 1"], "--figure needs --box"),
                (["--figure", "x < 1", "--box", "1,0"], "from a smaller to a larger"),
                (["--figure", "x < y", "--box", "0,1"], 'unknown name "y"'),
                (["--figure", "x", "--box", "0,1", "--distribution", "uniform"], "give one of"),
                (["--range", "0,1"], "need --distribution")):
            with self.subTest(words):
                self.assertIn(words, rng("saru", *arguments, "--count", "10", code=2))


if __name__ == "__main__":
    unittest.main()
