#!/usr/bin/python3
"""The JSON Schema of `perrin schema` against an independent validator.

    schema.py PERRIN SOURCE_FOLDER

Every examples/*/*.json that is a job must pass it and `perrin validate`; the example fragment that
`perrin help` prints for each type must pass its definition; jobs with mistakes must not pass.
"""

import copy
import glob
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

PERRIN, SOURCE = sys.argv[1:3]


def without_comments(text):
    """JSON text with // and /* */ comments blanked, but not inside strings."""
    out, i = [], 0
    while i < len(text):
        if text[i] == '"':
            end = i + 1
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[i:end + 1])
            i = end + 1
        elif text.startswith("//", i):
            i = text.find("\n", i) if "\n" in text[i:] else len(text)
        elif text.startswith("/*", i):
            i = text.index("*/", i) + 2
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def perrin(*arguments):
    return subprocess.run([PERRIN, *arguments], capture_output=True, text=True, check=True).stdout


schema = json.loads(perrin("schema"))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
failures = []


def expect(what, document, good, against=validator):
    errors = [f"{'.'.join(map(str, e.path))}: {e.message[:200]}"
              for e in against.iter_errors(document)]
    if good and errors:
        failures.append(f"{what}: refused: {errors}")
    if not good and not errors:
        failures.append(f"{what}: passed")


jobs = sorted(glob.glob(os.path.join(SOURCE, "examples", "*", "*.json")))
for path in jobs:
    with open(path) as text:
        job = json.loads(without_comments(text.read()))
    if "stages" not in job:
        continue
    expect(path, job, True)
    done = subprocess.run([PERRIN, "validate", path], capture_output=True, text=True)
    if done.returncode != 0:
        failures.append(f"perrin validate {path}: {done.stderr}")

types = 0
for name in schema["definitions"]:
    kind, _, type_name = name.partition(".")
    if not type_name:
        continue
    types += 1
    text = perrin("help", type_name)
    fragments = [json.loads(line) for line in text.splitlines() if line.startswith('  {"type":')]
    own = {"$ref": f"#/definitions/{kind}", "definitions": schema["definitions"]}
    passed = [f for f in fragments if not list(jsonschema.Draft7Validator(own).iter_errors(f))]
    if not passed:
        failures.append(f"the example of {name} is refused: {fragments}")

# Examples of systems make jobs that validate; so does what else help knows.
with tempfile.TemporaryDirectory() as folder:
    job = os.path.join(folder, "job.json")
    for name in ["lattice", "random", "chains", "file"]:
        text = perrin("help", name)
        fragment = [json.loads(x) for x in text.splitlines() if x.startswith('  {"type":')][0]
        if name == "file":
            with open(os.path.join(folder, "start.xyz"), "w") as start:
                start.write('1\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3\n'
                            'A 1 1 1\n')
            fragment["path"] = "start.xyz"
        with open(job, "w") as out:
            json.dump({"system": fragment, "ignore": ["bonds"], "stages": [
                {"type": "md", "steps": 1,
                 "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}, out)
        done = subprocess.run([PERRIN, "validate", job], capture_output=True, text=True)
        if done.returncode != 0:
            failures.append(f"the example of {name}: {done.stderr}")
for topic, said in {"units": "kcal/mol", "coordinates": "box_origin", "force": "lennard_jones",
                    "forces": "lennard_jones", "system": "lattice", "stage": "md"}.items():
    if said not in perrin("help", topic):
        failures.append(f"perrin help {topic} does not mention {said}")
for command, said in {"resume": "CHECKPOINT", "new-plugin": "many_body", "run": 'stage "md"',
                      "import": "python3 -m perrin import"}.items():
    if said not in perrin("help", command):
        failures.append(f"perrin help {command} does not mention {said}")
for words, said in {("help", "unit"): '"units"', ("rn",): '"rng"',
                    ("valdate", "x"): '"validate"'}.items():
    done = subprocess.run([PERRIN, *words], capture_output=True, text=True)
    if done.returncode != 2 or said not in done.stderr:
        failures.append(f"perrin {words}: {done.returncode}, {done.stderr}")
completed = subprocess.run(
    ["bash", "-c", 'source <("$0" completion); COMP_WORDS=(perrin va); COMP_CWORD=1; _perrin; '
     'echo "${COMPREPLY[@]}"; COMP_WORDS=(perrin help buck); COMP_CWORD=2; _perrin; '
     'echo "${COMPREPLY[@]}"; COMP_WORDS=(perrin run --th); _perrin; echo "${COMPREPLY[@]}"',
     PERRIN], capture_output=True, text=True)
if completed.stdout.split() != ["validate", "buckingham", "--threads"]:
    failures.append(f"completion: {completed.stdout} {completed.stderr}")
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "job.json"), "w") as file:
        json.dump({"system": {"type": "lattice", "density": 0.8, "cells": [4, 4, 4]},
                   "forces": [{"type": "lennard_jones", "cutoff": 2.5,
                               "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
                   "stages": [{"type": "md", "steps": 10, "integrator": {
                       "type": "velocity_verlet", "timestep": 0.005}}],
                   "observers": [{"type": "checkpoint"}]}, file)
    subprocess.run([PERRIN, "run", "job.json", "--quiet", "--output-dir", "out"], cwd=folder,
                   check=True)
    cases = {
        "run job.json --set st": ["stages[0]."],
        "run job.json --set stages[0].st": ["stages[0].steps="],
        "run job.json --set stages[0].integrator.": [  # what it has, and what it can have
            f"stages[0].integrator.{key}" for key in ("barostat.", "group=", "timestep=", "type=")],
        "run --overwrite job.json --set seed = 5 --set forces[0].pairs[0].s": [
            "forces[0].pairs[0].sigma="],
        "show job.json --set system.cells": ["system.cells=", "system.cells[0]=",
                                             "system.cells[1]=", "system.cells[2]="],
        "run job.json --set neighbors.sk": ["neighbors.skin="],
        "run job.json --set forces[0].truncation =": [
            "cut", "energy_shift", "force_shift", "switch"],
        "run job.json --set forces[0].truncation = en": ["energy_shift"],
        "run job.json --set stages[0].integrator.type = nose": ["nose_hoover"],
        "run job.json --set stages[0].steps = ": ["10"],
        "run job.json --set forces[0].mixing=geo": ["forces[0].mixing=geometric"],
        "resume out --set stages[0].st": ["stages[0].steps="],
        "resume --set stages[0].st": [], "resume out/checkpoint.h5 --set se": ["seed="],
        "run none.json --set st": [], "run --set st": [], "run job.json --set nothing": []}
    completed = subprocess.run(
        ["bash", "-c", 'source <("$0" completion); while IFS= read -r line; do '
         'mapfile -t -d " " COMP_WORDS < <(printf %s "$line"); [ "${line: -1}" != " " ] || '
         'COMP_WORDS+=(""); COMP_WORDS=("$0" "${COMP_WORDS[@]}"); '
         'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _perrin; echo "${COMPREPLY[@]}"; '
         'done', PERRIN], input="".join(case + "\n" for case in cases),
        capture_output=True, text=True, cwd=folder)
    for (words, expected), line in zip(cases.items(), completed.stdout.splitlines(), strict=True):
        if sorted(line.split()) != sorted(expected):
            failures.append(f"completion of {words}: {line} {completed.stderr}")
page = perrin("man")
for said in [".TH PERRIN", ".SS validate", "\\-\\-overwrite", ".SH EXIT STATUS"]:
    if said not in page:
        failures.append(f"perrin man does not have {said}")

good = {
    "system": {"type": "lattice", "density": 0.8, "cells": [4, 4, 4]},
    "units": {"length": "nm", "energy": "kJ/mol", "mass": "u"},
    "forces": [{"type": "lennard_jones", "cutoff": 2.5,
                "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
    "stages": [{"type": "md", "steps": 10,
                "integrator": {"type": "velocity_verlet", "timestep": 0.005}}],
}
expect("a good job", good, True)
for what, change in {
    "negative cut-off": lambda j: j["forces"][0].update(cutoff=-1),
    "unknown key": lambda j: j["forces"][0].update(cutof=1),
    "unknown type": lambda j: j["forces"][0].update(type="lennard"),
    "missing type": lambda j: j["forces"][0].pop("type"),
    "wrong type": lambda j: j["stages"][0].update(steps="many"),
    "missing key": lambda j: j["stages"][0].pop("integrator"),
    "wrong nested key": lambda j: j["stages"][0]["integrator"].update(step=1),
    "no stages": lambda j: j.update(stages=[]),
    "unknown unit": lambda j: j["units"].update(length="mile"),
    "unknown top-level key": lambda j: j.update(observer=[]),
    "a force as an integrator": lambda j: j["stages"][0].update(integrator=good["forces"][0]),
}.items():
    bad = copy.deepcopy(good)
    change(bad)
    expect(what, bad, False)

# scripts/run builds what a job names: for every type of a plug-in, that plug-in; for the others
# none.
plugin, shipped = None, {}
for line in perrin("plugins").split("plug-ins\n")[1].split("refused\n")[0].splitlines():
    words = line.split()
    if line.startswith("    "):
        shipped[words[1]] = plugin
    else:
        plugin = words[0]
with tempfile.TemporaryDirectory() as folder:
    for name in schema["definitions"]:
        kind = name.partition(".")[2]
        if kind:
            job = os.path.join(folder, "job.json")
            with open(job, "w") as out:
                json.dump({"stages": [{"integrator": {"type": kind}}]}, out)
            named = subprocess.run([os.path.join(SOURCE, "scripts", "plugins-for"), job],
                                   capture_output=True, text=True, check=True).stdout.split()
            if named != ([shipped[kind]] if kind in shipped else []):
                failures.append(f"scripts/plugins-for: type {kind} needs {shipped.get(kind)}, got "
                                f"{named}")

print(f"{len(jobs)} example jobs, {types} types, {len(failures)} failures")
print("\n".join(failures))
sys.exit(1 if failures else 0)
