"""A small job around each type of component that `perrin help` knows, from the example that it
prints there. For every_type.py and random_jobs.py."""

import copy
import hashlib
import json
import math
import os
import re
import subprocess

import h5py

LATTICE = {"type": "lattice", "structure": "fcc", "density": 0.4, "cells": [6, 6, 6]}
CHAINS = {"type": "chains", "chains": 40, "pattern": "A6", "bond_length": 1, "density": 0.05,
          "angle_type": "angle", "dihedral_type": "dihedral"}
LJ = {"type": "lennard_jones", "cutoff": 2.5,
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
DPD = {"type": "dpd", "temperature": 1,
       "pairs": [{"types": ["A", "A"], "repulsion": 25, "gamma": 4.5}]}
SPRINGS = {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 100, "length": 1}}}
CHARGED = ("coulomb", "coulomb_dsf", "reaction_field", "debye_hueckel", "ewald", "special_coulomb")
ORIENTED = ("gay_berne", "dipole", "dipole_ewald", "patchy", "anisotropic_formula",
            "anisotropic_table")
WITH_ORIENTATIONS = ("active_brownian", "run_and_tumble", "active_force", "orientational_order",
                     "orientational_correlation", "patch_bonds")
STEP = {"type": "velocity_verlet", "timestep": 0.001}
TRIALS = {"type": "monte_carlo", "sweeps": 20, "temperature": 1,
          "translation": {"displacement": 0.2}}

# Four particles of which an improper keeps one in the plane of the others.
IMPROPER = """LAMMPS data file # molecular

4 atoms
1 impropers
1 atom types
1 improper types

0 9 xlo xhi
0 9 ylo yhi
0 9 zlo zhi

Masses

1 1

Atoms # molecular

1 1 1 4.0 4.0 4.2
2 1 1 5.0 4.0 4.0
3 1 1 3.5 4.9 4.0
4 1 1 3.5 3.1 4.0

Impropers

1 1 1 2 3 4
"""


def table(kind):
    """Rows of a potential of this kind."""
    if kind == "pair":
        rows = [(r, 4 * (r**-12 - r**-6)) for r in (0.8 + 0.01 * k for k in range(171))]
    elif kind == "bond":
        rows = [(r, 50 * (r - 1)**2) for r in (0.02 * k + 0.2 for k in range(91))]
    elif kind == "angle":
        rows = [(t, 2 * (1 + math.cos(math.radians(t)))) for t in range(0, 181)]
    else:
        rows = [(t, 2 * (1 + math.cos(3 * math.radians(t)))) for t in range(-180, 180)]
    return "".join(f"{x} {e:.10g}\n" for x, e in rows)


class Types:
    """Runs Perrin in a folder that the caller removes."""

    def __init__(self, perrin, folder):
        self.perrin, self.folder = perrin, folder
        self.environment = {"PERRIN_CACHE": os.path.join(folder, "cache"), **os.environ,
                            "OMP_NUM_THREADS": "1"}
        self.schema = json.loads(self.run("schema").stdout)
        for kind in ["pair", "bond", "angle", "dihedral"]:
            with open(os.path.join(folder, f"{kind}.txt"), "w") as out:
                out.write(table(kind))
        with open(os.path.join(folder, "anisotropic.txt"), "w") as out:
            out.write("".join(f"{r:g} {c:g} {d:g} {(2.5 - r)**3 * (1 + c * d):g}\n"
                              for r in (0.5 + 0.1 * k for k in range(21))
                              for c in (-1 + 0.25 * k for k in range(9))
                              for d in (-1 + 0.25 * k for k in range(9))))
        with open(os.path.join(folder, "middle.xyz"), "w") as out:
            places = [(x, y, z) for x in (-2, 0, 2) for y in (-2, 0, 2) for z in (-5, -2, 0, 2)]
            out.write(f'{len(places)}\nLattice="14 0 0 0 14 0 0 0 14" Origin="-7 -7 -7" '
                      'Properties=species:S:1:pos:R:3\n'
                      + "".join("A {} {} {}\n".format(*place) for place in places))
        with open(os.path.join(folder, "improper.data"), "w") as out:
            out.write(IMPROPER)
        self.names = [tuple(name.split(".")) for name in self.schema["definitions"] if "." in name]

    def run(self, *arguments, environment=None):
        return subprocess.run([self.perrin, *arguments], cwd=self.folder, text=True,
                              capture_output=True, timeout=300,
                              env={**self.environment, **(environment or {})})

    def definition(self, kind, name):
        return self.schema["definitions"][f"{kind}.{name}"]

    def example(self, kind, name):
        """Of `perrin help NAME`, word by word but for names of files."""
        text = self.run("help", name).stdout
        at = re.search(rf"^{name} \({kind}", text, re.MULTILINE).start()
        line = text[text.index("Example:\n", at):].splitlines()[1]
        found = json.loads(line)
        if name == "file":
            found["path"] = "start/trajectory.h5"
            self.make_start()
        if name.endswith("_table"):
            kind_of_table = name.split("_")[0]
            found = json.loads(line.replace("table.txt", f"{kind_of_table}.txt"))
        return found

    def make_start(self):
        if os.path.exists(os.path.join(self.folder, "start")):
            return
        with open(os.path.join(self.folder, "start.json"), "w") as out:
            json.dump(self.job_of("observer", "trajectory", {
                "type": "trajectory", "stride": 5, "quantities": ["velocity", "image"]}), out)
        done = self.run("run", "start.json", "--output-dir", "start")
        assert done.returncode == 0, done.stderr

    def job_of(self, kind, name, component, steps=10):
        """A job with this component."""
        system, forces, integrator, observers = LATTICE, [LJ], STEP, []
        stages, groups = None, None
        if kind == "system":
            system, forces = component, []
        elif kind == "part":
            edge = 40 if name == "file" else 14
            before = [{"type": "random", "particles": {"P": 20}}] if name == "fill" else []
            system = {"type": "parts", "box": [edge] * 3, "parts": [*before, component]}
            forces = []
        elif kind == "force":
            forces = [component]
            if name.startswith(("bond_", "angle_", "dihedral_")):
                system = CHAINS
                if not name.startswith("bond_"):
                    forces = [SPRINGS, component]
            if name.startswith("improper_"):
                system = {"type": "file", "path": "improper.data"}
                component = copy.deepcopy(component)
                if isinstance(component.get("impropers"), dict):
                    component["impropers"] = {"1": v for v in component["impropers"].values()}
                forces = [component]
            if name == "lj_wall":
                system = {"type": "file", "path": "middle.xyz"}
            if name in ("constant_force", "harmonic_trap", "lj_wall", "periodic_shear",
                        "external_formula", "group_restraint", "active_force"):
                forces = [LJ, component]
            if name == "dpd_thermostat":
                forces = [LJ, component]
            if name.startswith(("dpd", "mdpd")):
                integrator = {"type": "groot_warren", "timestep": 0.01}
        elif kind == "integrator":
            integrator = component
            forces = [DPD] if name in ("groot_warren", "dpd_split") else [LJ]
            if name == "fire":  # a lattice is a minimum
                system = {"type": "random", "particles": {"A": 300}, "density": 0.3,
                          "min_distance": 0.85}
        elif kind == "observer":
            observers = [component]
            if name in ("chain_size", "chain_dynamics", "bonds"):
                system, forces = CHAINS, [SPRINGS]
            if name in ("acceptance", "widom"):
                stages = [TRIALS]  # of a heat bath; no steps of an integrator have trials
            if name == "group_distance":  # its example has the groups "one" and "other"
                groups = {"one": {"ids": [[0, 99]]}, "other": {"ids": [[200, 299]]}}
            if name == "restraint":
                forces = [LJ, {"type": "group_restraint", "groups": ["all"], "stiffness": 10,
                               "point": [0, 0, 1]}]
        job = {"seed": 7, "system": system, "velocity": {"temperature": 1},
               "ignore": ["bonds", "angles", "dihedrals", "impropers", "charges"],
               "forces": forces,
               "observers": [*observers, {"type": "thermo", "stride": 5, "file": "all.h5"}],
               "stages": stages or [{"type": "md", "steps": steps, "integrator": integrator}]}
        if groups:
            job["groups"] = groups
        if (kind, name) == ("system", "file"):
            del job["velocity"]  # it has its own
        if name != "checkpoint":
            job["observers"].append({"type": "checkpoint"})
        if kind == "force" and name in CHARGED:
            job["system"] = {**LATTICE, "types": {"A": 1, "B": 1}}
            job["attributes"] = {"charge": {"types": {"A": 1, "B": -1}}}
        if kind == "force" and name in ORIENTED:
            job["system"] = {**LATTICE, "density": 0.02}
            if name == "dipole_ewald":  # few waves
                job["system"]["cells"] = [3, 3, 3]
            job["orientations"] = {"moments_of_inertia": {"A": [0.2, 0.8, 0.8]}}
        if name in WITH_ORIENTATIONS:
            job["orientations"] = {"moments_of_inertia": {"A": [0.2, 0.8, 0.8]}}
        if kind == "stage":
            job["stages"] = [component]
            if name not in ("md", "monte_carlo"):
                job = {"seed": 7, "observers": [{"type": "checkpoint"}], "stages": [component]}
        return copy.deepcopy(job)

    def run_job(self, job, out, *arguments, command="run"):
        with open(os.path.join(self.folder, out + ".json"), "w") as text:
            json.dump(job, text, indent=1)
        more = ["--output-dir", out, "--overwrite"] if command == "run" else ["--output-dir", out]
        return self.run(command, out + ".json", *more, *arguments)

    def record(self, out, name="checkpoint.h5"):
        """The job as it was run, from its checkpoint."""
        with h5py.File(os.path.join(self.folder, out, name)) as file:
            return json.loads(file["job"].asstr()[()])

    def state(self, out):
        """A hash of what the checkpoint saved of the system and of the stage."""
        found = hashlib.sha256()

        def add(name, node):
            if isinstance(node, h5py.Dataset):
                found.update(name.encode() + node[()].tobytes())

        with h5py.File(os.path.join(self.folder, out, "checkpoint.h5")) as file:
            file["state"].visititems(add)
        return found.hexdigest()

    def results(self, out, stdout):
        """A hash of all that a run has given: files but for the record of the job and for times,
        and the rows on the console."""
        found = hashlib.sha256()
        for line in stdout.splitlines():
            if re.match(r"^ +\d+ +[-\d.e]+ |^neighbours:| +step +time", line):
                found.update(line.encode())
        folder = os.path.join(self.folder, out)
        for name in sorted(os.listdir(folder)):
            if name.startswith(".perrin") or name == "perrin.log":
                continue
            found.update(name.encode())
            path = os.path.join(folder, name)
            if not name.endswith(".h5"):
                with open(path, "rb") as file:
                    found.update(file.read() if not name.endswith(".prev") else b"")
                continue

            def add(name, node):
                words = name.split("/")
                if words[0] in ("job", "version", "facts", "checksum", "h5md"):
                    return
                if "perrin" in words and words[-1] not in ("step", "neighbors"):
                    return
                found.update(name.encode() + str(sorted(node.attrs)).encode())
                if isinstance(node, h5py.Dataset):
                    value = node[()]
                    found.update(value.tobytes() if hasattr(value, "tobytes") else value)
                    found.update(f"{node.dtype} {node.chunks} {node.compression}".encode())

            with h5py.File(path) as file:
                file.visititems(add)
        return found.hexdigest()
