#!/usr/bin/env python3
"""Every name in the column of Perrin of docs/guide/phrase-book.md is one that a job may use:

    phrase_book.py PERRIN
"""
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/phrase-book.md"
KINDS = {"system", "part", "force", "integrator", "observer", "stage"}


def names(schema, found):
    """Keys of settings, and texts that they may have."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
                found.update(value)
            if key == "const" and isinstance(value, str):
                found.add(value)
            if key == "enum":
                found.update(v for v in value if isinstance(v, str))
            names(value, found)
    elif isinstance(schema, list):
        for value in schema:
            names(value, found)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    program = sys.argv[1]
    known = {"perrin", "run", "sim", "every", "mpirun", "np", "sweep", "Simulation", "PythonForce",
             "set", "cuda", "cpu", "lj", "real", "lammps"}
    names(json.loads(run(program, "schema")), known)
    known.update(re.findall(r"^ +([a-z-]+) ", run(program, "--help"), re.M))
    rows, wrong = 0, []
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if not line.startswith("|") or set(line) <= set("|-"):
            continue
        rows += 1
        for code in re.findall(r"`([^`]+)`", line.rstrip("| ").rsplit("|", 1)[1]):
            for word in re.findall(r"[A-Za-z_]{2,}", code):
                if word not in known:
                    wrong.append(f"{PAGE.name}:{number}: {word}: no type, key or value of a job")
    print("\n".join(wrong) or f"{rows} phrases, every name is known")
    sys.exit(bool(wrong) or rows < 100)


main()
