#!/usr/bin/python3
"""The record of any job that is accepted is a job, and a resumed run goes on with it.

    random_jobs.py PERRIN [JOBS [SEED]]

Jobs are made from the schema: the example of each type, with keys of it and of its surroundings
set to values that the schema allows, from fixed seeds. Those that are accepted run two steps; what
they were run as (the job in the checkpoint) must validate and give the same bits; resumed for two
steps more they must have the bits of four steps at once.
"""

import concurrent.futures
import copy
import json
import os
import random
import sys
import tempfile

from every_type import others
from type_jobs import CHAINS, LATTICE, Types

FLAT = [
    {"type": "random", "particles": {"A": 60}, "box": [25, 25], "dimension": 2,
     "min_distance": 0.9},
    {"type": "random", "particles": {"A": 60}, "box": [25, 20, 1], "dimension": 2,
     "min_distance": 0.9},
    {"type": "random", "particles": {"A": 60}, "density": 0.1, "dimension": 2,
     "min_distance": 0.9},
    {"type": "random", "particles": {"A": 40, "B": 20}, "box": [25, 20], "dimension": 2,
     "periodic": [True, True], "min_distance": 0.9},
    {"type": "lattice", "structure": "square", "density": 0.5, "cells": [12, 12]},
    {"type": "lattice", "structure": "hexagonal", "density": 0.5, "cells": [12, 8]},
    {"type": "chains", "chains": 10, "pattern": "A6", "box": [25, 25], "dimension": 2},
]
# Types that need a third dimension, or particles that these systems do not have.
SOLID_ONLY = {"improper_harmonic", "improper_periodic", "lj_wall", "chain_size", "special_pairs"}


def changed(rng, component, definition):
    """The component with up to three keys set otherwise."""
    found = copy.deepcopy(component)
    keys = [k for k in definition["properties"] if k not in ("type", "file", "path", "steps")]
    for key in rng.sample(keys, min(len(keys), rng.randrange(0, 4))):
        schema = definition["properties"][key]
        values = others(schema, found.get(key, schema.get("default")))
        if values:
            found[key] = rng.choice(values)
    return found


class RandomJobs(Types):
    def make(self, seed):
        """A job, from the seed alone."""
        rng = random.Random(seed)
        kind, name = rng.choice([n for n in self.names if n[1] not in (
            "external_formula", "many_body_formula")])
        example = self.example(kind, name)
        component = changed(rng, example, self.definition(kind, name))
        job = self.job_of(kind, name, component, steps=2)
        flat = rng.random() < 0.4 and name not in SOLID_ONLY and kind not in ("system", "stage")
        if flat and "system" in job and job["system"] in (LATTICE, CHAINS):
            chains = job["system"] == CHAINS
            job["system"] = copy.deepcopy(FLAT[-1] if chains else rng.choice(FLAT))
            if chains:
                job["system"] |= {"angle_type": "angle", "dihedral_type": "dihedral"}
        if kind != "stage" and rng.random() < 0.5:
            job["observers"].append({"type": "trajectory", "stride": rng.choice([1, 2, 3]),
                                     "file": "frames.h5"})
        if kind in ("force", "observer", "system") and rng.random() < 0.3:
            job["stages"][-1]["integrator"] = {
                "type": rng.choice(["bussi", "langevin", "nose_hoover"]), "timestep": 0.002,
                "temperature": 1}
            more = {"langevin": {"friction": 1}}
            integrator = job["stages"][-1]["integrator"]
            integrator |= more.get(integrator["type"], {"tau": 0.5})
        if rng.random() < 0.3 and "system" in job:
            skin = self.schema["properties"]["neighbors"]
            job["neighbors"] = changed(rng, {}, skin)
        if rng.random() < 0.2:
            job["title"] = rng.choice(["", "a \"title\"", "zwei\nZeilen", "é ∞"])
        if rng.random() < 0.2:
            job["seed"] = rng.choice([0, 2**53, 2**64 - 1])
        return job

    def check(self, seed):
        """Whether the job was accepted, and what is wrong with it."""
        job = self.make(seed)
        out = f"job{seed}"
        done = self.run_job(job, out)
        if done.returncode == 4 or (done.returncode != 0 and not done.stderr.strip()):
            return False, [f"{seed}: {done.returncode} {done.stderr} {json.dumps(job)}"]
        if done.returncode != 0:
            return False, []
        about = json.dumps(job)
        record = self.record(out)
        again = self.run_job(record, out + "-again")
        if again.returncode != 0:
            return True, [f"{seed}: the record is refused: {again.stderr} {about}"]
        if self.state(out) != self.state(out + "-again"):
            return True, [f"{seed}: the record has other bits: {about}"]
        stage = job["stages"][-1]
        if stage["type"] != "md" or stage["integrator"]["type"] == "fire":
            done = self.run("resume", os.path.join(out, "checkpoint.h5"))
            return True, ([] if done.returncode == 0 else
                          [f"{seed}: resume: {done.returncode} {done.stderr} {about}"])
        stage["steps"] += 2
        whole = self.run_job(job, out + "-whole")
        done = self.run("resume", out, "--steps", "2")
        if whole.returncode != done.returncode:
            return True, [f"{seed}: resume: {done.returncode} {done.stderr} {about}"]
        if whole.returncode == 0 and self.state(out) != self.state(out + "-whole"):
            return True, [f"{seed}: resumed it has other bits: {about}"]
        return True, []


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 80
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory(prefix="perrin-jobs-") as folder:
        jobs = RandomJobs(sys.argv[1], folder)
        jobs.environment["PERRIN_COMPILER"] = "/none"  # formulas as tables, which take no time
        jobs.make_start()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(jobs.check, range(first, first + count)))
    wrong = sum((w for _, w in found), [])
    accepted = sum(good for good, _ in found)
    print(f"{count} jobs, {accepted} accepted, {len(wrong)} failures")
    print("\n".join(wrong))
    if accepted < count // 3:
        print("too few are accepted for this to say much")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
