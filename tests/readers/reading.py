"""What the tests of readers share: the program, a folder of its own, and what `convert` makes of a
file, by numbers. Imported by scripts that are started as  check_….py PERRIN WORKFOLDER [-v].
"""
import os
import shutil
import subprocess
import sys

import numpy as np

perrin, folder = sys.argv[1], sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def path(name):
    return os.path.join(folder, name)


def call(*command):
    done = subprocess.run([perrin, *command], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def convert(name, *options):
    """All frames as XYZ: a list of dictionaries of columns, with step, edges of the box and origin;
    and what was said."""
    out = path(name + ".xyz")
    status, said = call("convert", path(name), out, "--overwrite", *options)
    assert status == 0, f"{name}: {said}"
    lines, frames, at = open(out).read().split("\n"), [], 0
    while lines[at]:
        n, comment = int(lines[at]), lines[at + 1]
        words = comment.split("Properties=")[1].split()[0].split(":")
        rows = [line.split() for line in lines[at + 2:at + 2 + n]]
        numbers = {key: np.array(comment.split(key + '="')[1].split('"')[0].split(), float)
                   for key in ("Lattice", "Origin")}
        frame, column = {"step": int(comment.split("Step=")[1].split()[0]),
                         "edges": numbers["Lattice"].reshape(3, 3),
                         "origin": numbers["Origin"]}, 0
        for name_, kind, width in zip(words[::3], words[1::3], map(int, words[2::3])):
            values = [row[column:column + width] for row in rows]
            values = np.array(values if kind == "S" else np.array(values, float))
            frame[name_] = values[:, 0] if int(width) == 1 else values
            column += width
        frames.append(frame)
        at += 2 + n
    return frames, said


def refused(name, part, *options):
    status, said = call("convert", path(name), path("refused.gsd"), "--overwrite", *options)
    assert status == 2 and part in said, f"{name}: {status} {said}"


def run_checks(checks):
    """All of them; the exit status is 1 where one fails."""
    failed = 0
    for check in checks:
        try:
            check()
        except Exception as error:  # the others are tried as well
            failed += 1
            print(f"{check.__name__}: {type(error).__name__}: {error}")
            if "-v" in sys.argv:
                raise
    sys.exit(1 if failed else 0)
