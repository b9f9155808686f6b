#!/usr/bin/python3
"""The stage "monte_carlo": Metropolis Monte Carlo of the job's particles and forces, against
molecular dynamics, theory and numbers of others.

    monte_carlo.py PERRIN [unittest arguments]
"""

import json
import math
import os
import re
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase, PERRIN, mean_and_error

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robustness"))
from type_jobs import Types

LJ = {"type": "lennard_jones", "cutoff": 2.5,
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
BUSSI = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}


def sweeps(number, temperature=1.0, displacement=0.1, trials=1, **more):
    return {"type": "monte_carlo", "sweeps": number, "temperature": temperature,
            "translation": {"displacement": displacement, "trials": trials}, **more}


def job(system, forces, *stages, stride=10, observers=(), **more):
    return {"seed": 5, "system": system, "forces": forces,
            "observers": [{"type": "thermo", "stride": stride}, *observers],
            "stages": list(stages), **more}


def lattice(cells, density, structure="fcc"):
    return {"type": "lattice", "structure": structure, "density": density, "cells": [cells] * 3}


def gas(particles, edge, **more):
    return {"type": "random", "particles": {"A": particles}, "box": [edge] * 3, "min_distance": 0,
            **more}


class MonteCarlo(JobCase):
    overwrite = True

    def agree(self, one, other, more=0.0, sigmas=4):
        (a, da), (b, db) = one, other
        self.assertLess(abs(a - b), sigmas * math.hypot(da, db) + more, f"{one} {other}")

    def averages(self, name, skip):
        return mean_and_error(self.column(name)[skip:], 10)

    # -- forces ------------------------------------------------------------------------------------

    def test_no_force_is_left_out(self):
        """Near temperature 0 no accepted trial raises the energy. Were a force's part of the
        differences missing, most trials would; each force stands alone here, and the energies are
        those of compute(), not of the trials."""
        types, tried, refused = Types(PERRIN, self.folder), [], []
        for kind, name in types.names:
            if kind != "force" or name.endswith("_formula"):  # these have tests of their own
                continue
            with self.subTest(name):
                text = types.job_of("force", name, types.example("force", name))
                del text["velocity"]
                if name not in ("special_coulomb",):
                    text["forces"] = [text["forces"][-1]]
                text["stages"] = [sweeps(12, 1e-9, 0.05)]
                text["observers"] = [{"type": "thermo", "stride": 4}]
                done = types.run_job(text, "cold", "--device", DEVICE)
                if done.returncode == 2:
                    self.assertRegex(done.stderr, "trial|monte_carlo|Monte Carlo|no steps", name)
                    refused.append(name)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("no trials", done.stdout)
                with h5py.File(self.path("cold", "thermo.h5")) as file:
                    energy = file["observables/potential_energy/value"][()]
                rounding = 1e-5 * max(1, abs(energy).max())
                self.assertTrue((numpy.diff(energy) <= rounding).all(), f"{energy}")
                tried.append(name)
        print(f"trials of {len(tried)} forces: {tried}; refused: {refused}")
        self.assertGreater(len(tried), 20)

    # -- distributions that are known exactly ------------------------------------------------------

    def test_a_trap_has_the_width_of_the_temperature(self):
        """Without interactions: <x²> = k_B T / k, of each axis its own."""
        trap = {"type": "harmonic_trap", "stiffness": [1, 4, 16], "center": [0, 0, 0]}
        self.run_job(job(gas(500, 14), [trap], sweeps(1500, 2.0, 0.7),
                         observers=[{"type": "trajectory", "stride": 75,
                                     "precision": "double"}]))
        r = self.frames("position")[5:]
        r -= 0 if abs(r.mean()) < 2 else 7  # files begin at the lower corner
        for axis, stiffness in enumerate((1, 4, 16)):
            width = (r[:, :, axis] ** 2).mean()
            # Of sixteen frames of 500 particles, half count as independent.
            self.assertLess(abs(width * stiffness / 2 - 1), 5 * math.sqrt(2 / 4000))

    def test_bonds_have_the_lengths_of_their_energy(self):
        """Dimers of harmonic springs: the distribution of the length is r² exp(-k (r - l)²/2T)."""
        bond = {"type": "bond_harmonic", "bonds": {"b": {"stiffness": 20, "length": 1}}}
        system = {"type": "chains", "chains": 1500, "pattern": "A2", "bond_type": "b",
                  "bond_length": 1, "box": [24] * 3}
        self.run_job(job(system, [bond], sweeps(400, 1.0, 0.3),
                         observers=[{"type": "trajectory", "stride": 40, "positions": "unwrapped",
                                     "precision": "double"}]))
        r = self.frames("position")[4:]
        length = numpy.linalg.norm(r[:, 1::2] - r[:, 0::2], axis=2).ravel()
        grid = numpy.linspace(0, 4, 4001)
        weight = grid ** 2 * numpy.exp(-10 * (grid - 1) ** 2)
        mean = (grid * weight).sum() / weight.sum()
        square = (grid ** 2 * weight).sum() / weight.sum()
        error = math.sqrt((square - mean ** 2) / 3000)
        self.assertLess(abs(length.mean() - mean), 5 * error)
        self.assertLess(abs((length ** 2).mean() - square), 10 * error)

    def test_pairs_are_distributed_by_their_energy(self):
        """Two particles at a time, in many cells: exp(-U/kT) of the distance, in bins."""
        formula = {"type": "gaussian_core", "cutoff": 3.0,
                   "pairs": [{"types": ["A", "A"], "epsilon": 2, "sigma": 1}]}
        self.run_job(job(gas(2, 16), [formula], sweeps(60000, 1.0, 3.0), stride=1))
        energy = self.column("potential_energy")
        r = (numpy.arange(40000) + 0.5) * 3.0 / 40000
        of_r = 2 * numpy.exp(-r ** 2)
        inside = 4 * math.pi * r ** 2 * 3.0 / 40000 * numpy.exp(-of_r)
        total = 16 ** 3 - 4 / 3 * math.pi * 27 + inside.sum()
        expected = (of_r * inside).sum() / total
        mean, error = mean_and_error(energy[1000:], 30)
        self.assertLess(error, 0.1 * expected)
        self.assertLess(abs(mean - expected), 4.5 * error)

    # -- against molecular dynamics and equations of state -----------------------------------------

    def test_lennard_jones_fluids(self):
        """Energy and pressure of J. Kolafa, I. Nezbeda, Fluid Phase Equilib. 100, 1 (1994), less
        the tail beyond 2.5; to these 0.01 and 0.02 are granted."""
        for cells, t, density, step, u, p in ((6, 1.2, 0.7, 0.15, -4.3838, 1.1890),
                                              (5, 2.0, 0.3, 0.4, -1.7664, 0.5826)):
            self.run_job(job(lattice(cells, density), [LJ], sweeps(1200, t, step), stride=5))
            n = 4 * cells ** 3
            energy, error = self.averages("potential_energy", 60)
            pressure, scatter = self.averages("pressure", 60)
            self.agree((energy / n, error / n), (u, 0), 0.01)
            self.agree((pressure, scatter), (p, 0), 0.02)

    def same_as_dynamics(self, system, forces, temperature, displacement, number=1500, steps=30000,
                         before=(), chain=0, **more):
        """Both begin with what dynamics has made of the start, behind the stages `before`. Of
        chains of so many particles bonds have the same length, too."""
        found = []
        bath = {**BUSSI, "temperature": temperature}
        for stage, stride in ((sweeps(number, temperature, displacement), 5),
                              ({"type": "md", "steps": steps, "integrator": bath}, 50)):
            begin = {"type": "md", "steps": steps // 2, "integrator": bath, "name": "begin"}
            frames = [{"type": "trajectory", "stride": 20 * stride, "positions": "unwrapped",
                       "precision": "double"}] if chain else []
            self.run_job(job(system, forces, *before, begin, {**stage, "name": "measured"},
                             stride=stride, velocity={"temperature": temperature},
                             observers=frames, **more))
            rows = stage.get("sweeps", steps) // stride
            found.append([mean_and_error(self.column(name)[1 - rows:], 10)
                          for name in ("potential_energy", "pressure")])
            if chain:
                r = self.frames("position")[1 - rows // 20:]
                r = r.reshape(len(r), -1, chain, 3)
                bonds = numpy.linalg.norm(r[:, :, 1:] - r[:, :, :-1], axis=-1)
                found[-1].append(mean_and_error(bonds.mean(axis=(1, 2)), 10))
        for one, other in zip(*found):
            self.agree(one, other)

    def test_a_binary_mixture_with_a_shift(self):
        """Kob and Andersen's."""
        forces = [{"type": "lennard_jones", "cutoff": 2.5, "truncation": "energy_shift", "pairs": [
            {"types": ["A", "A"], "epsilon": 1, "sigma": 1},
            {"types": ["A", "B"], "epsilon": 1.5, "sigma": 0.8, "cutoff": 2.0},
            {"types": ["B", "B"], "epsilon": 0.5, "sigma": 0.88, "cutoff": 2.2}]}]
        system = {"type": "random", "particles": {"A": 400, "B": 100}, "density": 1.0,
                  "min_distance": 0.7}
        self.same_as_dynamics(system, forces, 2.0, 0.1)

    def test_chains(self):
        """Kremer and Grest's, with angles: bonds that may not be too long."""
        forces = [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
                  {"type": "bond_fene", "bonds": {"b": {"stiffness": 30, "maximum_length": 1.5}}},
                  {"type": "angle_cosine", "angles": {"a": {"stiffness": 1.5}}}]
        system = {"type": "chains", "density": 0.3, "bond_length": 0.97, "min_distance": 0.9,
                  "chains": 25, "pattern": "A20", "bond_type": "b", "angle_type": "a"}
        self.same_as_dynamics(system, forces, 1.0, 0.1, number=3000, steps=60000)

    def test_a_melt_of_chains(self):
        """Kremer and Grest's density, with angles; pushed apart first."""
        forces = [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
                  {"type": "bond_fene", "bonds": {"b": {"stiffness": 30, "maximum_length": 1.5}}},
                  {"type": "angle_cosine", "angles": {"a": {"stiffness": 1.5}}}]
        system = {"type": "chains", "density": 0.85, "bond_length": 0.97, "min_distance": 0.7,
                  "chains": 25, "pattern": "A20", "bond_type": "b", "angle_type": "a"}
        apart = {"type": "md", "steps": 5000, "name": "push apart", "integrator": {
            "type": "fire", "force_tolerance": 10, "maximum_move": 0.02}}
        self.same_as_dynamics(system, forces, 1.0, 0.07, number=2000, steps=40000, before=[apart],
                              chain=20)

    def test_between_walls(self):
        """A slit that is open along z. Without a jump at the cut-off: trials see it, and forces do
        not."""
        walls = [{"type": "lj_wall", "axis": "z", "position": z, "epsilon": 1, "sigma": 0.5}
                 for z in (-5, 5)]
        system = {"type": "lattice", "structure": "fcc", "density": 0.5, "cells": [5] * 3,
                  "periodic": [True, True, False]}
        self.same_as_dynamics(system, [{**LJ, "truncation": "energy_shift"}, *walls], 1.5, 0.2,
                              3000, 40000)

    def test_a_potential_of_a_plug_in(self):
        plugged = {"type": "exponential_repulsion", "cutoff": 2.5, "truncation": "energy_shift",
                   "pairs": [{"types": ["A", "A"], "amplitude": 30, "lambda": 0.4}]}
        self.same_as_dynamics(lattice(5, 0.6), [plugged], 1.0, 0.2, 1000, 20000)

    def test_a_formula_of_an_attribute(self):
        """Particles of many sizes (Ninarello, Berthier and Coslovich's)."""
        sized = {"type": "pair_formula", "cutoff": 2.01, "pairs": [
            {"types": ["A", "A"], "c0": 1.924145349, "c2": 2.111062325, "c4": 0.591097451}],
            "energy": "x^-12 - c0 + c2*x^2 - c4*x^4; "
                      "x = r/((s_1 + s_2)/2*(1 - 0.2*abs(s_1 - s_2)))",
            "range": "1.25*(s_1 + s_2)/2*(1 - 0.2*abs(s_1 - s_2))"}
        self.same_as_dynamics(lattice(5, 0.8), [sized], 1.0, 0.1, 1000, 20000, attributes={
            "u": {"random": {"uniform": [0, 1]}},
            "s": {"from": "(0.725^-2 - u*(0.725^-2 - 1.606^-2))^-0.5"}})

    def test_a_group_moves(self):
        """The others stay, and add nothing to the pressure of an ideal gas."""
        trap = {"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.01}]}
        self.run_job(job(gas(200, 10), [trap], sweeps(20, 1.5, 0.5, group="some"),
                         groups={"some": {"ids": [[0, 49]]}},
                         observers=[{"type": "trajectory", "stride": 20}]))
        r = self.frames("position")
        moved = (r[-1] != r[0]).any(axis=1)
        self.assertTrue(moved[:50].all() and not moved[50:].any())
        numpy.testing.assert_allclose(self.column("pressure"), 1.5 * 50 / 1000, rtol=1e-6)

    def test_displacements_are_those_of_sweeps(self):
        """An ideal gas takes every trial that stays in its cell, some 19 of 20: <r²> is that part
        of the number of sweeps times the square of the displacement."""
        ideal = {"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1e-6, "sigma": 0.01}]}
        self.run_job(job(gas(500, 40), [ideal], sweeps(64, 1.0, 0.2),
                         observers=[{"type": "mean_square_displacement", "stride": 1,
                                     "rows_every": 64}]))
        file = "mean_square_displacement.h5"
        numpy.testing.assert_array_equal(self.column("lag_time", file=file)[-1][:4], [0, 1, 2, 3])
        found = self.column("mean_square_displacement", file=file)[-1, 0]
        self.assertLess(abs(found[1] / 0.04 - 0.94), 0.03)
        # 8 independent intervals of 500 particles.
        self.assertLess(abs(found[8] / found[1] / 8 - 1), 5 * math.sqrt(2 / 3 / 4000))

    # -- the same bits -----------------------------------------------------------------------------

    def test_a_resumed_run_and_other_threads(self):
        stages = (sweeps(30, 1.2, 0.15, tune={"sweeps": 20}),
                  {"type": "md", "steps": 100, "integrator": BUSSI}, sweeps(30, 1.0, 0.1, 2))
        full = job(lattice(5, 0.8), [LJ], *stages, stride=1, velocity={"temperature": 1},
                   observers=[{"type": "trajectory", "stride": 10, "precision": "double"},
                              {"type": "checkpoint"}])
        self.run_job(full, folder="whole")
        self.run_job(full, folder="one thread", threads="1")
        # Stopped while sizes are tuned; and behind the dynamics, resumed twice.
        self.run_job({**full, "stages": [{**stages[0], "sweeps": 13}]}, folder="tuned")
        self.run_job(full, "--set", "stages[2].sweeps=7", folder="twice")
        self.resume("twice", "--set", "stages[2].sweeps=18")
        for folder in ("tuned", "twice"):
            self.resume(folder, "--set", f"stages={json.dumps(stages)}")
        for folder in ("one thread", "tuned", "twice"):
            for name in ("potential_energy", "pressure"):
                numpy.testing.assert_array_equal(self.column(name, "whole"),
                                                 self.column(name, folder), folder)
            numpy.testing.assert_array_equal(self.frames("position", "whole"),
                                             self.frames("position", folder), folder)

    def resume(self, folder, *arguments):
        done = self.perrin("resume", self.path(folder, "checkpoint.h5"), "--device", DEVICE,
                           "--threads", "1", *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_acceptance_is_written(self):
        fluid = job(lattice(5, 0.8), [LJ], sweeps(60, 1.0, 0.4, tune={"sweeps": 30}),
                    observers=[{"type": "acceptance", "stride": 20}])
        said = self.run_job(fluid).stdout
        part = self.column("translation", file="acceptance.h5")[1:]
        self.assertEqual(list(self.column("translation_trials", file="acceptance.h5")),
                         [0] + [20 * 500] * 3)
        self.assertTrue(numpy.isnan(self.column("swap_trials", file="acceptance.h5")).all())
        size = self.column("displacement", file="acceptance.h5")
        self.assertLess(part[0], 0.25)
        self.assertLess(abs(part[2] - 0.4), 0.05)
        self.assertTrue(size[0] == 0.4 and size[2] == size[3] < 0.25, size)
        self.assertIn(f"{part.mean():.4g} of 30000 trials", said)

    def test_sizes_that_are_tuned_are_written(self):
        """Those of the log, in the last row; of moves that the stage does not make none."""
        chains = {"type": "chains", "chains": 40, "pattern": "A5", "density": 0.2,
                  "min_distance": 0.8, "bond_length": 1, "bond_type": "b"}
        bond = {"type": "bond_harmonic", "bonds": {"b": {"stiffness": 50, "length": 1}}}
        stage = sweeps(40, 1.0, 0.4, tune={"sweeps": 30}, molecule={"displacement": 0.3,
                                                                   "rotation": 0.6},
                       pivot={"rotation": 0.7}, crankshaft={"rotation": 0.8},
                       hybrid={"timestep": 0.008, "steps": 5})
        said = self.run_job(job(chains, [{**LJ, "truncation": "energy_shift"}, bond], stage,
                                observers=[{"type": "acceptance", "stride": 10}])).stdout
        told = re.search(r"translation: .*displacement ([\d.]+),.*molecule: .*displacement "
                         r"([\d.]+), rotation ([\d.]+),.*pivot: .*rotation ([\d.]+),.*crankshaft:"
                         r" .*rotation ([\d.]+),.*hybrid: .*time step ([\d.]+)", said)
        self.assertTrue(told, said)
        for name, first, last in zip(
                ("displacement", "molecule_displacement", "molecule_angle", "pivot_angle",
                 "crankshaft_angle", "hybrid_timestep"),
                (0.4, 0.3, 0.6, 0.7, 0.8, 0.008), map(float, told.groups()), strict=True):
            column = self.column(name, file="acceptance.h5")
            self.assertEqual(column[0], first, name)
            self.assertAlmostEqual(column[-1], last, 5, name)
            self.assertNotEqual(column[-1], first, name)
        for name in ("rotation_angle", "cluster_displacement"):
            self.assertTrue(numpy.isnan(self.column(name, file="acceptance.h5")).all())

    def test_the_log_says_how_many_trials_are_made_at_a_time(self):
        trap = {"type": "harmonic_trap", "stiffness": [1, 1, 1]}
        chains = {"type": "chains", "chains": 60, "pattern": "A3", "density": 0.1,
                  "min_distance": 0.8, "bond_length": 1, "bond_type": "b"}
        bond = {"type": "bond_harmonic", "bonds": {"b": {"stiffness": 50, "length": 1}}}
        cells = "one in each cell at a time, 8 colours of 8 cells"
        for system, forces, way in (
                (lattice(6, 0.8), [LJ], f"chains of trials, {cells}\n"),
                (lattice(6, 0.8), [LJ, LJ], f"{cells} (no chains of trials: 2 forces act)\n"),
                (lattice(6, 0.8), [LJ, trap], f"{cells} (no chains of trials: a field acts)\n"),
                (chains, [LJ, bond], f"{cells} (no chains of trials: bonds act)\n"),
                ({**lattice(6, 0.8), "periodic": [True, True, False]}, [LJ],
                 "(no chains of trials: the box is not periodic along all axes)\n"),
                (lattice(3, 0.8), [LJ],
                 "chains of trials, one after another, for the box is too small for cells\n")):
            said = self.run_job(job(system, forces, sweeps(2, 1.0, 0.01))).stdout
            self.assertIn(way, said)

    # -- what cannot be ----------------------------------------------------------------------------

    def test_a_chemical_potential_without_a_temperature(self):
        bath = {"type": "md", "name": "bath", "steps": 1, "integrator": BUSSI}
        free = {"type": "md", "name": "free", "steps": 1,
                "integrator": {"type": "velocity_verlet", "timestep": 0.004}}
        widom = {"type": "widom", "stride": 1, "insertions": 10}
        late = job(lattice(4, 0.8), [LJ], bath, free, observers=[widom])
        self.refused(late, r'observers\[1\]\.temperature: is missing, and stage "free" has no heat')
        for right in ({"stages": ["bath"]}, {"temperature": 2}):
            self.run_job({**late, "observers": [widom | right]})
        swim = {"type": "active_brownian", "timestep": 1e-4, "temperature": 1, "friction": 1,
                "speed": 1, "rotational_diffusion": 1}
        driven = job(lattice(4, 0.8), [LJ], {**bath, "integrator": swim}, observers=[widom],
                     orientations={"start": "random"})
        self.assertIn('observers[1]: warning: in stage "bath" particles are driven by no potential',
                      self.run_job(driven).stderr)
        late["observers"] = [widom | {"temperature": 2}]
        late["system"]["types"] = {"A": 1, "B": 1}
        late["forces"] = [{**LJ, "tail": True, "mixing": "geometric", "pairs": [
            {"types": [t, t], "epsilon": 1, "sigma": 1} for t in "AB"]}]
        self.refused(late, r"forces\[0\]: .*has tail corrections, which are not known")

    def test_restraints_of_groups(self):
        """Two particles as two groups: the distance is distributed by r² exp(-k (r - l)²/2T) with
        "hybrid"; single moves know no energy of it, and are refused."""
        spring = {"type": "group_restraint", "groups": ["a", "b"], "stiffness": 20, "length": 2}
        of_two = job({"type": "random", "particles": {"A": 1, "B": 1}, "box": [10] * 3}, [spring],
                     groups={"a": {"types": ["A"]}, "b": {"types": ["B"]}},
                     observers=[{"type": "restraint", "stride": 5}])
        for moves in ({"translation": {"displacement": 0.3}}, {"swap": {}},
                      {"hybrid": {"timestep": 0.02}, "translation": {"displacement": 0.3}}):
            of_two["stages"] = [{"type": "monte_carlo", "sweeps": 10, "temperature": 1, **moves}]
            self.refused(of_two, r"forces\[0\]: .*has no energies of single moves")
        with_widom = {**of_two, "stages": [{"type": "md", "steps": 1, "integrator": BUSSI}],
                      "observers": [{"type": "widom", "stride": 1}]}
        self.refused(with_widom, r"forces\[0\]: .*has no energies of single particles")
        of_two["stages"] = [{"type": "monte_carlo", "sweeps": 20000, "temperature": 1,
                             "hybrid": {"timestep": 0.08, "steps": 8}}]
        self.run_job(of_two)
        r = self.column("distance", file="restraint.h5")[40:]
        grid = numpy.linspace(0, 5, 5001)
        weight = grid ** 2 * numpy.exp(-10 * (grid - 2) ** 2)
        mean = (grid * weight).sum() / weight.sum()
        for power in (1, 2):
            exact = (abs(grid - mean) ** power * weight).sum() / weight.sum()
            found, error = mean_and_error(abs(r - mean) ** power)
            self.assertLess(error, 0.05 * exact)
            self.assertLess(abs(found - exact), 4.5 * error, (found, error, exact))

    def test_forces_without_a_potential(self):
        """What drives a flow, or swimmers: no energies say whether to accept."""
        shear = {"type": "periodic_shear", "amplitude": 1}
        push = {"type": "active_force", "force": 1}
        for moves in ({"translation": {"displacement": 0.3}}, {"hybrid": {"timestep": 0.005}}):
            stage = {"type": "monte_carlo", "sweeps": 10, "temperature": 1, **moves}
            self.refused(job(lattice(4, 0.8), [LJ, shear], stage),
                         r"forces\[1\]: .*has no potential, and energies decide on trials")
            self.refused(job(lattice(4, 0.8), [LJ, push], stage,
                             orientations={"start": "random"}),
                         r"forces\[1\]: .*has no potential, and energies decide on trials")
        with_widom = job(lattice(4, 0.8), [LJ, shear],
                         {"type": "md", "steps": 1, "integrator": BUSSI},
                         observers=[{"type": "widom", "stride": 1}])
        self.refused(with_widom, r"forces\[1\]: .*has no energies of single particles")

    def test_mistakes_are_told(self):
        fluid = job(lattice(4, 0.8), [LJ], sweeps(10, 1.0, 5.0))
        self.refused(fluid, r"translation.displacement: must be at most a quarter of the box")
        many = {"type": "many_body_formula", "density": "(1 - r/2)^2", "energy": "a*rho^2",
                "cutoff": 2, "types": {"A": {"a": 1}}, "pairs": [{"types": ["A", "A"]}]}
        self.refused(job(lattice(4, 0.8), [many], sweeps(10)),
                     r"forces\[0\]: cannot be combined with the stage \"monte_carlo\"")
        self.refused(job(lattice(4, 0.8), [LJ], sweeps(10, group="wall")), r"group")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
