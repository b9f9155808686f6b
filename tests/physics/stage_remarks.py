#!/usr/bin/python3
"""What stages warn of, on the console and in their files: minimisations with the default time steps
converge from ten standard starts, and one that has not says so; a temperature that is not the
bath's; a system that is driven as a whole.

    stage_remarks.py PERRIN [unittest arguments]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

PERRIN = sys.argv[1]


def pairs(kind, *list, **more):
    return dict({"type": kind, "pairs": [dict({"types": types, "epsilon": epsilon, "sigma": sigma},
                                              **({"cutoff": cutoff} if cutoff else {}))
                                         for types, epsilon, sigma, cutoff in list]}, **more)


def random(density, min_distance, dimension=3, **particles):
    return {"type": "random", "particles": particles, "density": density,
            "min_distance": min_distance, "dimension": dimension}


def chains(length, **more):
    return dict({"type": "chains", "chains": 10, "pattern": "A50", "bond_length": length,
                 "density": 0.85, "min_distance": 0.7}, **more)


LJ = pairs("lennard_jones", ("AA", 1, 1, 2.5), truncation="energy_shift")
WCA = pairs("wca", ("AA", 1, 1, None))
KOB_ANDERSEN = pairs("lennard_jones", ("AA", 1, 1, 2.5), ("AB", 1.5, 0.8, 2),
                     ("BB", 0.5, 0.88, 2.2), truncation="energy_shift")
SIZES = pairs("lennard_jones", ("AA", 1, 1, 2.5), ("AB", 1, 1.2, 3), ("BB", 1, 1.4, 3.5),
              truncation="energy_shift")
for force in (LJ, WCA, KOB_ANDERSEN, SIZES):
    for pair in force["pairs"]:
        pair["types"] = list(pair["types"])
FENE = {"type": "bond_fene", "bonds": {"bond": {"stiffness": 30, "maximum_length": 1.5}}}
STIFF = {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 2000, "length": 1}}}
ALL = {"neighbors": {"exclusions": []}}

STARTS = {
    "LJ melt": (random(0.8442, 0.8, A=500), [LJ], {}),
    "LJ melt, closer": (random(0.8442, 0.5, A=500), [LJ], {}),
    "LJ, high density": (random(1.1, 0.7, A=500), [LJ], {}),
    "WCA, high density": (random(1.2, 0.6, A=500), [WCA], {}),
    "Kob-Andersen": (random(1.2, 0.75, A=400, B=100), [KOB_ANDERSEN], {}),
    "two dimensions": (random(0.9, 0.75, 2, A=500), [LJ], {}),
    "mixture in two dimensions": (random(1.2, 0.6, 2, A=325, B=175), [KOB_ANDERSEN], {}),
    "Kremer-Grest": (chains(0.97), [WCA, FENE], ALL),
    "stiff chains": (chains(1.0), [LJ, STIFF], {}),
    "two sizes": (random(0.5, 0.75, A=250, B=250), [SIZES], {}),
}


class Stages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="perrin-stages-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_job(self, job, *arguments):
        with open(os.path.join(self.folder, "job.json"), "w") as out:
            json.dump(job, out)
        done = subprocess.run([PERRIN, "run", "job.json", "--device", "cpu", "--threads", "1",
                               "--overwrite", *arguments], cwd=self.folder, capture_output=True,
                              text=True, timeout=120)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, text)
        return text

    def remarks(self, name="thermo.h5"):
        with h5py.File(os.path.join(self.folder, name)) as f:
            return [text.decode() for text in f["parameters/perrin/stages/remark"][()]]

    def test_minimisation_converges(self):
        for name, (system, forces, more) in STARTS.items():
            # Long chains that hold one another come to rest slowly, whatever the time step.
            tolerance = 1 if system["type"] == "chains" else 0.1
            for seed in (1, 2):
                with self.subTest(name, seed=seed):
                    text = self.run_job(dict(
                        {"seed": seed, "system": system, "forces": forces,
                         "observers": [{"type": "thermo", "stride": 100}],
                         "stages": [{"type": "md", "steps": 4000,
                                     "integrator": {"type": "fire",
                                                    "force_tolerance": tolerance}}]},
                        **more))
                    self.assertIn(", converged (", text)
                    self.assertNotIn("warning", text)
                    self.assertEqual(self.remarks(), [""])

    def test_what_has_not_converged_says_so(self):
        job = {"seed": 1, "system": random(0.8442, 0.8, A=200), "forces": [LJ],
               "observers": [{"type": "thermo", "stride": 10},
                             {"type": "trajectory", "stride": 50}],
               "stages": [{"type": "md", "name": "relax", "steps": 20,
                           "integrator": {"type": "fire", "force_tolerance": 1e-3}},
                          {"type": "md", "steps": 20, "name": "next",
                           "integrator": {"type": "bussi", "timestep": 0.001, "temperature": 1,
                                          "tau": 0.1}}]}
        text = self.run_job(job)
        self.assertIn("warning: stage relax: not converged (largest force ", text)
        self.assertIn("maximum_timestep", text)
        for name in ("thermo.h5", "trajectory.h5"):
            first, second = self.remarks(name)
            self.assertRegex(first, r"^not converged \(largest force .*, tolerance 0\.001\)")
            self.assertEqual(second, "")
        page = subprocess.run([PERRIN, "report", "."], cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(page.returncode, 0, page.stdout + page.stderr)
        with open(os.path.join(self.folder, "report.html")) as f:
            self.assertIn("not converged (largest force", f.read())

    def fluid(self, integrator, steps=2000, **stage):
        return {"seed": 1, "system": dict(random(0.8, 0.85, A=200)), "forces": [WCA],
                "velocity": {"temperature": 1},
                "observers": [{"type": "thermo", "stride": 10}],
                "stages": [dict({"type": "md", "name": "flow", "steps": steps,
                                 "integrator": integrator}, **stage)]}

    def test_temperature_off_the_bath(self):
        weak = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 1}
        text = self.run_job(self.fluid(weak, shear={"rate": 1}))
        self.assertIn("warning: stage flow: the mean temperature of its second half", text)
        self.assertIn("differs from that of the bath, 1", text)
        self.assertIn("smaller tau", self.remarks()[0])
        # Power per degree of freedom is viscosity · rate² / (3 density), here some 0.8.
        with h5py.File(os.path.join(self.folder, "thermo.h5")) as f:
            measured = numpy.mean(f["observables/temperature/value"][-100:])
        self.assertAlmostEqual(float(self.remarks()[0].split(", ")[1].split(" ")[0]), measured,
                               delta=0.05 * measured)

    def test_temperature_of_the_bath(self):
        for integrator in (
                {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1},
                {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0},
                {"type": "nose_hoover", "timestep": 0.004, "temperature": 1, "tau": 0.5},
                {"type": "langevin", "timestep": 0.004, "temperature": 1, "friction": 1}):
            with self.subTest(integrator["type"]):
                self.assertNotIn("warning", self.run_job(self.fluid(integrator)))
                self.assertEqual(self.remarks(), [""])

    def test_driven_as_a_whole(self):
        pull = {"type": "constant_force", "force": [1, 0, 0]}
        for kind, more in (("bussi", {"tau": 0.1}), ("nose_hoover", {"tau": 0.5})):
            job = self.fluid(dict({"type": kind, "timestep": 0.004, "temperature": 1}, **more))
            job["forces"] = [WCA, pull]
            text = self.run_job(job)
            self.assertIn("stages[0]: warning: constant forces accelerate the centre of mass "
                          "along x", text)
            self.assertIn("motion of the centre of mass", self.remarks()[0])
        # Held back, or in balance.
        job["stages"][0]["integrator"] = {"type": "langevin", "timestep": 0.004, "temperature": 1,
                                          "friction": 10}
        self.assertNotIn("warning", self.run_job(job))
        job["stages"][0]["integrator"] = {"type": "bussi", "timestep": 0.004, "temperature": 1,
                                          "tau": 0.1}
        job["system"]["particles"] = {"A": 100, "B": 100}
        job["forces"] = [pairs("wca", (["A", "A"], 1, 1, None), (["A", "B"], 1, 1, None),
                               (["B", "B"], 1, 1, None)),
                         dict(pull, types=["A"]), dict(pull, force=[-1, 0, 0], types=["B"])]
        self.assertNotIn("accelerate the centre of mass", self.run_job(job))

    def test_barostat_that_never_acts(self):
        barostat = {"pressure": 1, "tau": 1, "stride": 50}
        bath = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1,
                "barostat": barostat}
        line = "the barostat never changed the box: it does so in "
        for steps, said in ((49, True), (50, False)):
            self.assertEqual(f"{line}steps that are multiples of 50" in self.run_job(
                self.fluid(bath, steps)), said)
            self.assertEqual(line in self.remarks()[0], said)
            job = self.fluid(None)
            del job["velocity"]
            job["stages"] = [{"type": "monte_carlo", "sweeps": steps, "temperature": 1,
                              "translation": {"displacement": 0.1}, "barostat": barostat}]
            self.assertEqual(f"{line}sweeps that are multiples of 50" in self.run_job(job), said)

    def test_barostat_of_a_small_system(self):
        """By the default compressibility the noise is sqrt(0.1 stride dt/(tau N))/3 of a length,
        and a change of the box has room for 0.8 %."""
        for tau, stride, said in ((0.1, 5, True), (0.11, 5, False), (0.1, 4, False)):
            bath = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1,
                    "barostat": {"pressure": 1, "tau": tau, "stride": stride}}
            job = self.fluid(bath, 1)
            job["system"] = random(0.1, 0.9, A=60)
            self.assertEqual(f"barostat.tau: warning: the volume relaxes slower than this: in "
                             f"{stride} steps" in self.run_job(job), said)

    def test_ramps_that_are_longer_than_their_stage(self):
        baths = [{"type": "bussi", "timestep": 0.005, "tau": 0.1, "temperature": 1,
                  "final_temperature": 3, "ramp_steps": 200},
                 {"type": "bussi", "timestep": 0.005, "tau": 0.1, "temperature": 1, "barostat": {
                     "pressure": 1, "final_pressure": 2, "ramp_steps": 400, "tau": 1}}]
        stages = [{"type": "md", "steps": 100, "integrator": bath} for bath in baths]
        stages.append({"type": "md", "steps": 200, "integrator": baths[0]})
        stages.append({"type": "md", "steps": 150, "integrators": [
            {"group": "a", **baths[0]}, {"group": "b", "type": "frozen"}]})
        stages.append({"type": "monte_carlo", "sweeps": 50, "temperature": 1, "ramp_steps": 100,
                       "final_temperature": 2, "translation": {"displacement": 0.1}})
        with open(os.path.join(self.folder, "job.json"), "w") as out:
            json.dump({"seed": 1, "system": STARTS["LJ melt"][0], "forces": [LJ], "stages": stages,
                       "groups": {"a": {"ids": [[0, 399]]}, "b": {"not": ["a"]}}}, out)
        done = subprocess.run([PERRIN, "validate", "job.json"], cwd=self.folder,
                              capture_output=True, text=True)
        said = done.stdout + done.stderr
        self.assertEqual(said.count("ramp_steps: warning: is more than the stage has"), 4, said)
        for what in ("stages[0].integrator.ramp_steps: warning: is more than the stage has, 100: "
                     "the ramp ends with the stage, at temperature 2, not 3; got 200",
                     "stages[1].integrator.barostat.ramp_steps: warning: is more than the stage "
                     "has, 100: the ramp ends with the stage, at pressure 1.25, not 2; got 400",
                     "stages[3].integrators[0].ramp_steps: warning: ",
                     "stages[4].ramp_steps: warning: is more than the stage has, 50: the ramp "
                     "ends with the stage, at temperature 1.5, not 2; got 100"):
            self.assertIn(what, said)

    def test_tuning_of_nothing_and_without_end(self):
        def warned(**more):
            job = self.fluid(None)
            del job["velocity"]
            job["stages"] = [{"type": "monte_carlo", "sweeps": 10, "temperature": 1, **more}]
            return self.run_job(job)

        moves = {"translation": {"displacement": 0.1}}
        self.assertIn("tune.sweeps: warning: is not below the sweeps of the stage, 10",
                      warned(tune={"sweeps": 10}, **moves))
        self.assertNotIn("tune", warned(tune={"sweeps": 9}, **moves))
        self.assertIn("tune: warning: changes nothing: no move of the stage has a size",
                      warned(tune={"sweeps": 5}, cluster={"trials": 1}))

    def test_box_that_is_too_long_for_its_steps(self):
        """Said with --quiet, too, and in the files. A heavy particle, which its bath makes slow."""
        def xyz(edge, rows):
            with open(os.path.join(self.folder, "far.xyz"), "w") as out:
                out.write(f'{len(rows)}\nLattice="{edge} 0 0 0 {edge} 0 0 0 {edge}" '
                          "Properties=species:S:1:pos:R:3:velo:R:3:mass:R:1\n")
                out.writelines(f"A {10 * k} 1 1 {row}\n" for k, row in enumerate(rows))

        job = {"seed": 1, "system": {"type": "file", "path": "far.xyz"},
               "forces": [{"type": "constant_force", "force": [0, 0, 0]}],
               "observers": [{"type": "thermo", "stride": 10}],
               "stages": [{"type": "md", "steps": 10, "integrator": {
                   "type": "velocity_verlet", "timestep": 0.001}}]}
        verlet = job["stages"][0]["integrator"]
        bath = {"type": "bussi", "timestep": 0.001, "temperature": 1, "tau": 0}
        fast = ["1 1 1 1", "1 -1 1 1", "-1 1 -1 1", "-1 -1 -1 1"]
        for edge, rows, integrator, part in (
                (1e9, ["0.3 1 0.7 1"], None, "the box is too long for this time step"),
                (1e6, [*fast, "1e-5 0 0 1"], None, "steps of 1 of 5 particles: along x"),
                (1e6, [*fast, "1e-5 0 0 1e6"], bath, "steps of 1 of 5 particles: along x"),
                (1e6, [*fast, "1e-5 0 0 1"], bath, ""), (1e6, fast, None, ""),
                (1e6, [*fast, "0 0 0 1"], None, "")):
            with self.subTest(rows=rows, bath=bool(integrator)):
                xyz(edge, rows)
                job["stages"][0]["integrator"] = integrator or verlet
                text = self.run_job(job, "--quiet")
                self.assertEqual("warning" in text, part != "", text)
                self.assertIn(part, text)
                self.assertIn(part, self.remarks()[0])
                self.assertEqual(self.remarks() == [""], part == "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
