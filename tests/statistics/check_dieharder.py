#!/usr/bin/python3
"""A bounded part of dieharder over the words of `perrin rng`.   check_dieharder.py PERRIN

Seeds are fixed, so that a result never changes by itself. Good generators must not fail (dieharder
says FAILED below p = 10^-6; WEAK it says once in 100 tests), the LCG must: a battery that lets it
pass is not looking. 25 p values go into each result: with 10, dieharder's test of their
distribution is too rough and calls too even what is not (of its own AES and MT19937, 3 of 240
serial tests then FAIL near p = 1). Exit status 77 where dieharder is not installed.
"""
import concurrent.futures
import shutil
import subprocess
import sys

# dieharder's numbers: 32×32 binary ranks, runs, monobit, runs of bits, serial patterns up to 16
# bits.
TESTS = [2, 15, 100, 101, 102]
GOOD = [("saru", "keyed", "particles"), ("saru", "keyed", "pairs"),
        ("philox", "keyed", "particles"),
        ("tea", "keyed", "rows")]
BAD = ("lcg", "state", "sequence")


def dieharder(perrin, stream, test):
    """(test, psamples, p, verdict) for each line of dieharder's result."""
    name, scheme, pattern = stream
    words = subprocess.Popen([perrin, "rng", name, "--scheme", scheme, "--pattern", pattern,
                              "--seed", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = subprocess.run(["dieharder", "-g", "200", "-d", str(test), "-p", "25", "-c", "|", "-D",
                             "test_name",
                             "-D", "ntuple", "-D", "pvalues", "-D", "assessment"],
                            stdin=words.stdout, capture_output=True, text=True)
    words.stdout.close()
    words.wait()  # ended by the closed pipe
    if result.returncode != 0:
        sys.exit(f"dieharder -d {test} ended with {result.returncode}:\n{result.stderr}")
    lines = [[field.strip() for field in line.split("|")] for line in result.stdout.splitlines()]
    return [line for line in lines if len(line) >= 4 and line[3] in ("PASSED", "WEAK", "FAILED")]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if shutil.which("dieharder") is None:
        print("skipped: dieharder is not installed (scripts/install-packages test)")
        sys.exit(77)
    jobs = [(stream, test) for stream in GOOD for test in TESTS] + [(BAD, 102)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda job: dieharder(sys.argv[1], *job), jobs))
    wrong = 0
    for (stream, test), lines in zip(jobs, results):
        failed = [line for line in lines if line[3] == "FAILED"]
        bad = not failed if stream == BAD else bool(failed)
        wrong += bad or not lines
        print(f"{' '.join(stream):28s} -d {test:<4d} " + ("no result" if not lines else
              f"{len(lines)} p values, {len(failed)} failed" + (": WRONG" if bad else "")))
        for line in failed:
            print(f"    {line[0]} {line[1]}: p = {line[2]}")
    sys.exit(1 if wrong else 0)


main()
