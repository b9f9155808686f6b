#!/usr/bin/env python3
"""An area by throwing darts, and the middle-square generator: run.py [--perrin PATH] [--seed N]"""
import argparse
import math
import subprocess

import numpy as np

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--perrin", default="perrin", help="the program")
options.add_argument("--seed", type=int, default=1)
options.add_argument("--generators", nargs="*", default=["saru", "philox", "mt607", "park_miller"])
options = options.parse_args()
AREA = math.pi / 4  # of the quarter of a disc in the unit square
SIZES = [100, 10_000, 1_000_000]


def perrin_numbers(generator, count):
    """Uniform numbers in [0, 1) from `perrin rng`, which writes raw 32-bit words."""
    done = subprocess.run([options.perrin, "rng", generator, "--seed", str(options.seed),
                           "--count", str(count)], stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, dtype="<u4") * 2.0**-32


def middle_square(state, digits):
    """The middle digits of the square: von Neumann's generator."""
    return state * state // 10 ** (digits // 2) % 10**digits


def middle_square_numbers(seed, digits, count):
    numbers = np.empty(count)
    for k in range(count):
        seed = middle_square(seed, digits)
        numbers[k] = seed / 10**digits
    return numbers


def report(name, numbers):
    x, y = numbers[0::2], numbers[1::2]
    hits = np.cumsum(x * x + y * y < 1)
    line = f"{name:24s}"
    for n in SIZES:
        area = hits[n - 1] / n
        error = math.sqrt(AREA * (1 - AREA) / n)
        line += f"  {area:.5f} ({(area - AREA) / error:+8.1f})"
    print(line)


print(f"area, and how many standard errors it is off; exact {AREA:.5f}")
print(f"{'darts':24s}" + "".join(f"  {n:18d}" for n in SIZES))
for generator in options.generators:
    report(generator, perrin_numbers(generator, 2 * SIZES[-1]))
for digits, seed in ((4, 5678), (8, 56781234), (16, 5678123456781234)):
    report(f"middle square, {digits} digits", middle_square_numbers(seed, digits, 2 * SIZES[-1]))

print("\nmiddle square, all seeds of 4 digits: numbers until one comes again")
# By seed: how many different numbers follow one another, and where it ends.
lengths, ends = [], {}
for seed in range(10_000):
    seen, state = {}, seed
    while state not in seen:
        seen[state] = len(seen)
        state = middle_square(state, 4)
    lengths.append(len(seen))
    period = len(seen) - seen[state]
    key = "0" if state == 0 else f"a cycle of {period}"
    ends[key] = ends.get(key, 0) + 1
print(f"mean {np.mean(lengths):.1f}, median {np.median(lengths):.0f}, longest {max(lengths)} "
      f"(seed {int(np.argmax(lengths))})")
for key, count in sorted(ends.items(), key=lambda item: -item[1]):
    print(f"{count / 100:6.2f} % of the seeds end in {key}")
