#!/usr/bin/python3
"""Every type of component: the example of `perrin help` runs as it stands, its record is a job that
validates, and every key does something. An integrator runs on groups that are chosen anew, with the
same state after a stop, or says why it cannot.

    every_type.py PERRIN [NAME …]

A key does something where another value of it is refused, or changes what a run gives: files (but
for the record of the job), the rows on the console or how pairs are found.
"""

import concurrent.futures
import copy
import json
import os
import shutil
import sys
import tempfile

from type_jobs import Types

# What changes nothing that a run of one process on a CPU gives, and why.
NO_EFFECT = {
    # Speed or memory alone.
    ("integrator", "langevin", "scheme"), ("integrator", "brownian", "scheme"),
    ("integrator", "velocity_verlet", "max_displacement"),
    ("stage", "metropolis", "margin"), ("stage", "metropolis", "threads"),
    ("stage", "neutron_slab", "kernel"), ("stage", "neutron_slab", "batch"),
    # Names for people, which are on the console and in the record.
    ("stage", "md", "name"), ("stage", "metropolis", "name"), ("stage", "neutron_slab", "name"),
    ("stage", "monte_carlo", "name"),
    ("integrator", "brownian", "fuse"), ("integrator", "brownian", "keep_forces"),
    # In the group of the file that says who has made it.
    ("observer", "trajectory", "author"),
    # Nothing in these jobs that it is about: other formats, units, images; one type.
    ("system", "file", "format"), ("system", "file", "units"), ("system", "file", "images"),
    ("system", "file", "dimension"),
    ("part", "file", "format"), ("part", "file", "units"), ("part", "file", "dimension"),
    # Where no bond crosses the faces of the file's box, and no part is there before.
    ("part", "file", "box"), ("part", "lattice", "overlapping"),
    ("observer", "xtc", "positions"), ("observer", "cluster_size", "stride"),
    ("observer", "coordination", "stride"),
    ("stage", "metropolis", "mixing"), ("force", "improper_periodic", "impropers"),
    # A limit that the time step does not grow to in ten steps, and not below where it begins.
    ("integrator", "fire", "maximum_timestep"),
    # Of a system without a net charge.
    ("force", "ewald", "net_charge"),
    # By the clock.
    ("observer", "checkpoint", "minutes"),
}


def others(schema, value):
    """Other values of a key, after its schema; `value`: what the job has, or the default."""
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if "enum" in schema:
        return [v for v in schema["enum"] if v != value]
    if "const" in schema:
        return []
    kind = schema.get("type")
    if isinstance(kind, list):  # a number, or a formula of numbers
        kind = kind[0]
    if kind == "boolean":
        return [not value] if value is not None else [True, False]
    if kind in ("integer", "number"):
        number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        least = max(schema.get("minimum", schema.get("exclusiveMinimum", -1e9)), -1e9)
        most = min(schema.get("maximum", 1e9), 1e9)
        found = [number * 2, number + 1, number / 2, number - 1] if number is not None else []
        found += [1, 2, 0.001, 0.5, 0.25, 5, 10, 100, least, most]
        if kind == "integer":
            found = [int(v) for v in found if v == int(v)]
        low = schema.get("exclusiveMinimum")
        return [v for v in dict.fromkeys(found)
                if v != number and least <= v <= most and (low is None or v > low)]
    if kind == "string":
        return ["other.h5" if isinstance(value, str) and value.endswith(".h5") else "other"]
    if kind == "array":
        if isinstance(value, list) and value and "enum" not in schema["items"]:
            first = others(schema["items"], value[0])
            return [[v, *value[1:]] for v in first] + ([value[:-1]] if len(value) > 1 else [])
        count = schema.get("maxItems", 1)
        entries = others(schema["items"], None)
        return [[v] * count for v in entries] + [[v] for v in (["A"] if not entries else [])]
    if kind == "object" and "additionalProperties" in schema and not schema.get("properties"):
        entry = schema["additionalProperties"]
        found = [{"A": v} for v in others(entry, 1)]
        return found + [{"A": v, "B": v} for v in others(entry, None)[:1]]
    if kind == "object":
        least = object_of(schema)
        return [least, *({**least, key: v} for key, of in schema.get("properties", {}).items()
                         for v in others(of, None)[:1])]
    return ["other", 1, {}]


def object_of(schema):
    found = {}
    for key in schema.get("required", []):
        values = others(schema["properties"][key], None)
        found[key] = values[0] if values else None
    return found


class EveryType(Types):
    def __init__(self, perrin, folder):
        super().__init__(perrin, folder)
        self.before = {}

    def try_type(self, kind, name):
        """What is wrong with it."""
        example = self.example(kind, name)
        out = f"{kind}-{name}"
        if kind == "observer" or (kind, name) == ("stage", "monte_carlo"):
            done = self.run_job(self.job_of(kind, name, example), out + "-example")
            if done.returncode != 0:
                return [f"the example of {kind} {name} does not run: {done.stderr}"]
            # So that there is something to see in ten steps; and fewer sweeps show as much.
            shorter = {"stride": 1, "rows_every": 5} if kind == "observer" else {"sweeps": 20}
            example |= {k: v for k, v in shorter.items()
                        if k in self.definition(kind, name)["properties"]}
        done = self.run_job(self.job_of(kind, name, example), out)
        if done.returncode != 0:
            return [f"the example of {kind} {name} does not run: {done.stderr}"]
        wrong = []
        self.before[kind, name] = self.results(out, done.stdout + done.stderr)
        done = self.run_job(self.job_of(kind, name, example), out + "-twice")
        if self.before[kind, name] != self.results(out + "-twice", done.stdout + done.stderr):
            return [f"{kind} {name}: two runs of one job give different files"]
        record = self.record(out)
        done = self.run_job(record, out + "-record", command="validate")
        if done.returncode != 0:
            wrong.append(f"{kind} {name}: its record does not validate: {done.stderr}")
        if kind == "integrator":
            wrong += self.try_groups(name, example)
        for key, schema in self.definition(kind, name)["properties"].items():
            if key != "type" and (kind, name, key) not in NO_EFFECT:
                wrong += self.try_key(kind, name, example, key, schema)
        return wrong

    def try_groups(self, name, example):
        """Two of the integrator on groups that are chosen anew in every third step."""
        job, out = self.job_of("integrator", name, example), f"integrator-{name}-groups"
        job["groups"] = {"a": {"formula": "x < 0", "every": 3}, "b": {"not": ["a"]}}
        stage = job["stages"][0]
        one = stage.pop("integrator")
        stage["integrators"] = [{**one, "group": "a"}, {**one, "group": "b"}]
        job["observers"][-1]["steps"] = 5  # the checkpoint
        done = self.run_job(job, out)
        if done.returncode == 2 and any(text in done.stderr for text in (
                "are chosen anew every 3 steps, and " + name, "moves all particles")):
            return []
        if done.returncode != 0:
            return [f"integrator {name}: neither runs on groups nor says why: {done.stderr}"]
        shutil.copytree(os.path.join(self.folder, out), os.path.join(self.folder, out + "-again"))
        done = self.run("resume", f"{out}-again/checkpoint.h5.prev")
        if done.returncode != 0:
            return [f"integrator {name}, on groups: {done.stderr}"]
        if self.state(out + "-again") != self.state(out):
            return [f"integrator {name}, on groups: another state after a stop"]
        return []

    def try_key(self, kind, name, example, key, schema):
        """Values of the key until one is seen to do something."""
        out = f"{kind}-{name}"
        wanted = example.get(key, schema.get("default"))
        taken = []
        for value in others(schema, wanted)[:12]:
            changed = {**copy.deepcopy(example), key: value}
            done = self.run_job(self.job_of(kind, name, changed), out + "-changed")
            if done.returncode == 4:
                return [f"{kind} {name}: {key} = {json.dumps(value)}: {done.stderr}"]
            if done.returncode != 0:
                continue  # refused; another value may not be
            after = self.results(out + "-changed", done.stdout + done.stderr)
            shutil.rmtree(os.path.join(self.folder, out + "-changed"))
            if after != self.before[kind, name] or "warning" in done.stderr:
                return []
            taken.append(json.dumps(value))
        return [f"{kind} {name}: {key} changes nothing: {', '.join(taken)}"] if taken else []


def main():
    with tempfile.TemporaryDirectory(prefix="perrin-types-") as folder:
        types = EveryType(sys.argv[1], folder)
        chosen = [n for n in types.names if not sys.argv[2:] or n[1] in sys.argv[2:]]
        types.make_start()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            wrong = sum(pool.map(lambda n: types.try_type(*n), chosen), [])
        print(f"{len(chosen)} types, {len(wrong)} failures")
        print("\n".join(wrong))
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
