#!/usr/bin/python3
"""The force "anisotropic_table": energies, forces and torques of tables of smooth functions against
sums over all pairs by the functions' own derivatives; conservation; stops, processes, trial moves;
mistakes in files.

    anisotropic_table.py PERRIN [unittest arguments]
"""

import json
import sys
import unittest

import h5py
import numpy

from job_case import DEVICE, JobCase

END = 2.4


def fade(r):
    """1 at short distances, 0 with two derivatives at the end, and its derivative."""
    x = numpy.clip((r - 1.6) / (END - 1.6), 0, 1)
    return (1 - x**3 * (10 - 15 * x + 6 * x * x),
            -30 * (x * (1 - x))**2 / (END - 1.6))


def of_one_type(r, c1, c2):
    """An energy that is the same when the cosines are exchanged, and its derivatives."""
    s, ds = fade(r)
    core, dcore = r**-12, -12 * r**-13
    well = 2 + 3 * (c1 + c2) + 4 * c1 * c2 * (c1 + c2) + c1**2 * c2**2
    by_1 = 3 + 4 * c2 * (2 * c1 + c2) + 2 * c1 * c2**2
    by_2 = 3 + 4 * c1 * (c1 + 2 * c2) + 2 * c1**2 * c2
    return (s * (core - 0.5 * well), ds * (core - 0.5 * well) + s * dcore,
            -0.5 * s * by_1, -0.5 * s * by_2)


def of_an_axis(r, c1, c2):
    """Particle 2 has no direction."""
    s, ds = fade(r)
    core, dcore = r**-10, -10 * r**-11
    well = 1 + 2 * c1**3
    return (s * (core - well), ds * (core - well) + s * dcore, -s * 6 * c1**2, 0 * c2)


def spheres(r, c1, c2):
    s, ds = fade(r)
    return s * r**-12, ds * r**-12 - 12 * s * r**-13, 0 * c1, 0 * c2


PAIRS = {("A", "A"): of_one_type, ("A", "B"): of_an_axis, ("B", "B"): spheres}


def rows(energy, angles, distances=65, cosines=21):
    c = numpy.linspace(-1, 1, cosines)
    grid = numpy.meshgrid(numpy.linspace(0.8, END, distances), *[c] * angles, indexing="ij")
    found = energy(grid[0], grid[1], grid[2] if angles == 2 else 0 * grid[1])[0]
    return "\n".join(" ".join(f"{x:.12g}" for x in row) for row in numpy.stack(
        [x.ravel() for x in (*grid, found)], 1)) + "\n"


def axes(q):
    """The first axis of each frame in space; q with w first."""
    w, x, y, z = q.T
    return numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1)


def sums(at, q, names, edge):
    """Energy, forces and torques, over all pairs of particles in a cube."""
    u, total = axes(q), 0.0
    force, torque = numpy.zeros_like(at), numpy.zeros_like(at)
    for (one, two), energy in PAIRS.items():
        i, j = (index.ravel() for index in numpy.meshgrid(
            numpy.flatnonzero(names == one), numpy.flatnonzero(names == two), indexing="ij"))
        keep = i < j if one == two else i >= 0
        i, j = i[keep], j[keep]
        d = at[j] - at[i]
        d -= edge * numpy.round(d / edge)
        r = numpy.sqrt((d**2).sum(1))
        i, j, d, r = i[r < END], j[r < END], d[r < END], r[r < END]
        e = d / r[:, None]
        c1, c2 = (u[i] * e).sum(1), -(u[j] * e).sum(1)
        value, by_r, by_1, by_2 = (x[:, None] for x in energy(r, c1, c2))
        total += value.sum()
        # dU/dr of particle j, by e and across it
        by_j = by_r * e + (by_1 * (u[i] - c1[:, None] * e) -
                           by_2 * (u[j] + c2[:, None] * e)) / r[:, None]
        numpy.add.at(force, j, -by_j)
        numpy.add.at(force, i, by_j)
        numpy.add.at(torque, i, -numpy.cross(u[i], by_1 * e))
        numpy.add.at(torque, j, numpy.cross(u[j], by_2 * e))
    return total, force, torque


class Tables(JobCase):
    overwrite = True

    def setUp(self):
        super().setUp()
        for (one, two), energy in PAIRS.items():
            with open(self.path(f"{one}{two}.txt"), "w") as out:
                out.write("# r cos_1 [cos_2] energy\n" + rows(
                    energy, 1 if energy is of_an_axis else 2))

    def force(self, **more):
        return {"type": "anisotropic_table", "pairs": [
            {"types": list(types), "file": "".join(types) + ".txt"} for types in PAIRS], **more}

    def job(self, steps, *stages, particles=None, density=0.3, **more):
        return {"seed": 9,
                "system": {"type": "random", "particles": particles or {"A": 150, "B": 150},
                           "density": density, "min_distance": 0.95},
                "orientations": {"start": "random", "moments_of_inertia": {
                    "A": [0.3, 0.3, 0.3], "B": [0.2, 0.3, 0.4]}},
                "velocity": {"temperature": 1}, "forces": [self.force()],
                "observers": [{"type": "thermo", "stride": 5}, {"type": "checkpoint"}],
                "stages": list(stages) or [{"type": "md", "steps": steps, "integrator": {
                    "type": "velocity_verlet", "timestep": 0.001}}], **more}

    def column(self, name, folder="."):
        with h5py.File(self.path(folder, "thermo.h5")) as f:
            return f[f"observables/{name}/value"][()]

    def state(self, folder):
        found = {}
        with h5py.File(self.path(folder, "checkpoint.h5")) as f:
            f["state"].visititems(lambda name, item: found.update({name: item[()].tobytes()})
                                  if isinstance(item, h5py.Dataset)
                                  and item.dtype.kind in "iuf" else None)
        return {name: value for name, value in found.items()
                if any(word in name for word in ("position", "velocity", "orientation"))}

    def test_energies_forces_and_torques(self):
        """The spline's error is of fourth order in the steps: of r^-12 near 0.95, with steps of
        0.025, 12·13·14·15/384 · 0.025⁴ · 0.95^-16 ≈ 8e-5 for the energy of a pair, and for its
        slope some 24 / 0.025 · 2 of it, 5e-3 of forces near 20."""
        text = self.job(0)
        text["observers"].append({"type": "trajectory", "stride": 1, "precision": "double",
                                  "quantities": ["position", "orientation", "force", "torque"]})
        self.run_job(text)
        with h5py.File(self.path("trajectory.h5")) as f:
            of = {name: f[f"particles/all/{name}/value"][0].astype(float)
                  for name in ("position", "orientation", "force", "torque")}
            species = f["particles/all/species"]
            species = species["value"][0] if isinstance(species, h5py.Group) else species[()]
        names = numpy.array(["A", "B"])[species.astype(int)]
        total, force, torque = sums(of["position"], of["orientation"], names, (300 / 0.3)**(1 / 3))
        self.assertAlmostEqual(self.column("potential_energy")[0], total, delta=0.02)
        self.assertLess(abs(of["force"] - force).max(), 0.03)
        self.assertLess(abs(of["torque"] - torque).max(), 0.01)
        self.assertGreater(abs(torque).max(), 1)

    def test_energy_is_conserved(self):
        """The error of velocity Verlet and NO_SQUISH goes with the square of the step."""
        change = []
        for steps, timestep in ((200, 0.002), (400, 0.001)):
            text = self.job(steps)
            text["stages"][0]["integrator"]["timestep"] = timestep
            text["observers"][0]["stride"] = steps // 40
            self.run_job(text)
            change.append(numpy.std(self.column("total_energy")))
        self.assertLess(change[1], 0.35 * change[0])
        self.assertLess(change[0], 0.5)

    def trials(self, temperature, sweeps, **more):
        return {"type": "monte_carlo", "sweeps": sweeps, "temperature": temperature,
                "translation": {"displacement": 0.1}, "rotation": {"angle": 0.3}, **more}

    def test_trial_moves(self):
        """Near temperature 0 no accepted move raises the energy."""
        self.run_job(self.job(0, self.trials(1e-6, 10)))
        energy = self.column("potential_energy")
        self.assertTrue((numpy.diff(energy) < 1e-3).all(), energy)
        self.assertLess(energy[-1], energy[0] - 10)

    def test_stopped_and_resumed(self):
        self.check_resumed(self.kinds())

    def test_any_number_of_processes(self):
        self.check_processes(self.kinds())

    def kinds(self):
        langevin = {"type": "md", "steps": 60, "integrator": {
            "type": "langevin", "timestep": 0.002, "temperature": 1, "friction": 1,
            "rotational_friction": 1}}
        return {"dynamics": self.job(0, langevin, particles={"A": 700, "B": 500}),
                "trials": self.job(0, self.trials(1, 20), particles={"A": 700, "B": 500})}

    def refused(self, text, pattern, name="AA.txt", **more):
        with open(self.path(name)) as file:
            before = file.read()
        if text is not None:
            with open(self.path(name), "w") as out:
                out.write(text)
        with open(self.path("job.json"), "w") as out:
            json.dump({**self.job(1), "forces": [self.force(**more)]}, out)
        done = self.perrin("validate", "job.json")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, pattern)
        with open(self.path(name), "w") as out:
            out.write(before)

    def test_mistakes(self):
        good = rows(of_one_type, 2, 9, 5).splitlines()
        key = r"forces\[0\]\.pairs\[0\]\.file: "
        self.refused("\n".join([*good[:7], *good[8:]]) + "\n", key + (
            r".*AA\.txt:24: expected 5 rows for each cos_1, the last of r = 0.8 has 4"))
        self.refused("\n".join([*good[:32], *good[33:]]) + "\n",
                     key + r".*AA\.txt:33: expected cos_2 = 0, got 0.5: rows are all")
        self.refused("\n".join(good[:-1]) + "\n",
                     key + r".*AA\.txt:224: expected 225 rows of 9 distances, got 224")
        self.refused("\n".join([*good[:3], good[3].replace(good[3].split()[0], "x")]) + "\n",
                     key + r'.*AA\.txt:4: expected a number, got "x"')
        self.refused("1 2\n", key + r".*AA\.txt:1: expected r cos_1 energy or .*, got 2 numbers")
        self.refused("", key + ".*expected rows r cos_1 energy")
        self.refused(rows(of_an_axis, 1), key + ".*one type must not change when cos_1 and cos_2")
        uneven = "".join(f"{r} {c} {d:.12g} {1 + d}\n" for r in (1, 1.5, 2, 2.5)
                         for c in (-1, -0.5, 0, 0.5, 1) for d in numpy.linspace(-1, 1, 7))
        self.refused(uneven, key + "two particles of one type have as many values of cos_1")
        self.refused(None, r"forces\[0\]\.cutoff: must be at most 2\.4", cutoff=4)
        coarse = rows(of_one_type, 2, 5, 5)
        with open(self.path("AA.txt"), "w") as out:
            out.write(coarse)
        with open(self.path("job.json"), "w") as out:
            json.dump(self.job(1), out)
        done = self.perrin("validate", "job.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "distances are too far apart for a smooth energy: between r")


if __name__ == "__main__":
    print(f"device {DEVICE}")
    unittest.main(argv=["anisotropic_table", *sys.argv[2:]])
