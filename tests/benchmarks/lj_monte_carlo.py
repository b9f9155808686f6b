#!/usr/bin/python3
"""Speed and means of Monte Carlo of Perrin beside LAMMPS (fix gcmc, fix atom/swap) and Cassandra:

    lj_monte_carlo.py PERRIN LMP CASSANDRA [--particles 500,4000] [--states liquid,gas]
                      [--moves translation,insertion,swap] [--repeats 2] [--seconds 2]

needs h5py and numpy; "-" in place of a program leaves it out, and PERRIN may be several programs,
separated by commas. One thread, Lennard-Jones particles, cut off at 2.5 with a jump, temperature 1:
Perrin makes a start, then all programs make trials from it, in turn. Each makes few trials and then
many, about SECONDS of CPU time: what a trial takes is the difference of the CPU times. Prints a
line of JSON for each move: microseconds of a trial, the least of the repeats, the part that was
accepted, and means of what was made with half of the means' errors by blocks, and the load.

translation  along each axis by up to 0.15 (gas: 2); of LAMMPS, whose steps are uniform in a sphere,
             by up to sqrt(5/3) times that, which has the same mean square
insertion    half of the trials insert and half remove, at the activity z of each state: mu is
             kT ln z in LAMMPS's units lj, whose thermal wavelength is 1, and kT ln(z Lambda^3),
             Lambda = h/sqrt(2 pi m kT), in Cassandra, with one trial position (kappa_ins 1)
swap         two particles of different types of a mixture (Kob-Andersen, at the density 1.2)
"""

import argparse
import json
import math
import os
import re
import resource
import subprocess
import tempfile

import h5py
import numpy

STATES = {"liquid": {"density": 0.7, "activity": 0.03, "step": 0.15},
          "gas": {"density": 0.03, "activity": 0.022, "step": 2.0}}
CUTOFF = 2.5
KOB_ANDERSEN = {"AA": (1, 1), "AB": (1.5, 0.8), "BB": (0.5, 0.88)}
# Cassandra's units: Å, K, g/mol. One sigma is 1 Å, one epsilon 100 K.
KELVIN, MASS = 100.0, 40.0
KJ_PER_MOL = 1.380649e-23 * 6.02214076e23 * KELVIN / 1000
WAVELENGTH = 1e10 * 6.62607015e-34 / math.sqrt(
    2 * math.pi * MASS * 1.66053906660e-27 * 1.380649e-23 * KELVIN)


def seconds(command):
    """CPU time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stdout[-800:]}{done.stderr[-800:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mean(values):
    """And its error: of ten blocks."""
    blocks = numpy.array_split(numpy.asarray(values, float), 10)
    means = [b.mean() for b in blocks if len(b)]
    return [round(float(numpy.mean(means)), 5),
            round(float(numpy.std(means, ddof=1) / math.sqrt(len(means))), 5)]


class Case:
    def __init__(self, move, state, particles):
        self.move, self.particles, self.state = move, particles, STATES[state]
        self.types = "AB" if move == "swap" else "A"
        self.density = 1.2 if move == "swap" else self.state["density"]

    def read(self, frame):
        with h5py.File(frame) as file:
            all_of = file["particles/all"]
            edges = all_of["box/edges"]
            self.edge = float(numpy.ravel(edges["value"])[0])
            kind = numpy.ravel(all_of["species/value"][-1] if "value" in all_of["species"]
                               else all_of["species"])
            self.position = all_of["position/value"][-1] % self.edge
        self.kind = kind - kind.min() + 1

    # Each of these writes the input of `trials` trials, and returns a command and a function that
    # reads trials made, accepted ones, numbers of particles and energies.

    def perrin(self, program, trials, start="start/trajectory.h5"):
        n = self.particles
        pairs = [{"types": list(t), "epsilon": KOB_ANDERSEN[t][0], "sigma": KOB_ANDERSEN[t][1]}
                 for t in (("AA", "AB", "BB") if self.types == "AB" else ("AA",))]
        system = {"type": "file", "path": start, "frame": -1}
        move = {"translation": {"translation": {"displacement": self.state["step"]}},
                "insertion": {"insertion": [{"type": "A", "activity": self.state["activity"],
                                             "trials": n}]},
                "swap": {"swap": {"trials": 1.0}}}[self.move]
        observers = [{"type": "acceptance", "stride": 10},
                     {"type": "thermo", "stride": 10}]
        if start is None:
            edge = round((n / 4) ** (1 / 3))
            system = {"type": "lattice", "structure": "fcc", "density": self.density,
                      "cells": [edge] * 3}
            if self.types == "AB":
                system["types"] = {"A": 0.8, "B": 0.2}
            move = {"translation": {"displacement": self.state["step"]}}
            observers = [{"type": "trajectory", "stride": 300, "precision": "double"}]
        job = {"seed": 7, "system": system,
               "forces": [{"type": "lennard_jones", "cutoff": CUTOFF, "truncation": "cut",
                           "pairs": pairs}],
               "observers": observers,
               "stages": [{"type": "monte_carlo", "sweeps": -(-trials // n) if start else 300,
                           "temperature": 1, **move}]}
        if self.move == "insertion" and start:
            job["reservoir"] = {"A": n}
        with open("job.json", "w") as out:
            json.dump(job, out)

        def read():
            with h5py.File("out/acceptance.h5") as file, h5py.File("out/thermo.h5") as thermo:
                made = file[f"observables/{self.move}_trials/value"][:]
                part = file[f"observables/{self.move}/value"][:]
                there = numpy.isfinite(made) & numpy.isfinite(part)
                # Of all sweeps, by those that rows are of.
                whole = -(-trials // n) / (10 * there.sum()) if there.any() else 1
                energy = thermo["observables/potential_energy/value"][:]
                count = thermo["observables/particles/value"][:] \
                    if self.move == "insertion" else numpy.full(len(energy), n)
            return whole * made[there].sum(), whole * (made * part)[there].sum(), count, energy

        return [program, "run", "job.json", "--overwrite", "--quiet", "--device", "cpu",
                "--threads", "1", "--output-dir", "out" if start else "start"], read

    def lammps(self, program, trials):
        with open("start.data", "w") as out:
            out.write(f"start\n\n{len(self.position)} atoms\n{len(self.types)} atom types\n\n" +
                      "".join(f"0 {self.edge!r} {a}lo {a}hi\n" for a in "xyz") + "\nMasses\n\n" +
                      "".join(f"{k + 1} 1\n" for k in range(len(self.types))) + "\nAtoms\n\n")
            for k, (r, t) in enumerate(zip(self.position, self.kind)):
                out.write(f"{k + 1} {t} {r[0]:.12g} {r[1]:.12g} {r[2]:.12g}\n")
        coefficients = "".join(f"pair_coeff {' '.join(str('AB'.index(t) + 1) for t in pair)} "
                               f"{KOB_ANDERSEN[pair][0]} {KOB_ANDERSEN[pair][1]}\n"
                               for pair in (("AA", "AB", "BB") if self.types == "AB" else ("AA",)))
        row = min(self.particles, trials)
        mu = math.log(self.state["activity"])
        step = self.state["step"] * math.sqrt(5 / 3)
        fix = {"translation": f"gcmc 1 0 {row} 1 4711 1.0 0 {step}",
               "insertion": f"gcmc 1 {row} 0 1 4711 1.0 {mu!r} 0",
               "swap": f"atom/swap 1 {row} 4711 1.0 ke no types 1 2"}[self.move]
        counted = {"translation": (1, 2), "insertion": (3, 4, 5, 6), "swap": (1, 2)}[self.move]
        with open("in.lammps", "w") as out:
            out.write(f"""units lj
atom_style atomic
read_data start.data
pair_style lj/cut {CUTOFF}
{coefficients}neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
fix mc all {fix}
thermo_style custom step atoms pe {' '.join(f'f_mc[{k}]' for k in counted)}
thermo_modify norm no lost ignore format float %.10g
thermo 1
run {trials // row}
""")

        def read():
            with open("log.lammps") as file:
                rows = [[float(w) for w in line.split()] for line in file
                        if re.match(r"[ \d.e+-]+$", line) and len(line.split()) == 3 + len(counted)]
            last = rows[-1][3:]
            return sum(last[::2]), sum(last[1::2]), [r[1] for r in rows], [r[2] for r in rows]

        return [program, "-in", "in.lammps", "-screen", "none"], read

    def cassandra(self, program, trials):
        n = self.particles
        with open("start.xyz", "w") as out:
            out.write(f"{n}\n\n" + "".join(f"A {r[0] - self.edge / 2:.12g} "
                                           f"{r[1] - self.edge / 2:.12g} "
                                           f"{r[2] - self.edge / 2:.12g}\n" for r in self.position))
        with open("a.mcf", "w") as out:
            out.write(f"# Atom_Info\n1\n1 A A {MASS} 0.0 LJ {KELVIN} 1.0\n\n" +
                      "".join(f"# {what}_Info\n0\n\n"
                              for what in ("Bond", "Angle", "Dihedral", "Improper")) +
                      "# Intra_Scaling\n0. 0. 0. 1.\n0. 0. 0. 1.\n\n# Fragment_Info\n1\n1 1 1\n\n"
                      "# Fragment_Connectivity\n0\n\nEND\n")
        with open("a.dat", "w") as out:
            out.write(f"1\n{KELVIN} 0.0\nA 0.0 0.0 0.0\n")
        mu = KJ_PER_MOL * (math.log(self.state["activity"]) + 3 * math.log(WAVELENGTH))
        comes = self.move == "insertion"
        moves = "# Prob_Insertion\n0.5\ncbmc\n\n# Prob_Deletion\n0.5\n" if comes else \
            f"# Prob_Translation\n1.0\n{self.state['step']}\n"
        ensemble = f"# Chemical_Potential_Info\n{mu!r}\n\n" if comes else ""
        with open("a.inp", "w") as out:
            out.write(f"""# Run_Name
a.out

# Sim_Type
{'gcmc' if comes else 'nvt'}

# Nbr_Species
1

# VDW_Style
lj cut {CUTOFF}

# Charge_Style
none

# Seed_Info
1219130951 1219130952

# Rcutoff_Low
0.5

# Pair_Energy
{self.pairs}

# Molecule_Files
a.mcf {2 * n}

# Box_Info
1
cubic
{self.edge!r}

# Temperature_Info
{KELVIN}

{ensemble}# Move_Probability_Info

{moves}
# Done_Probability_Info

# Start_Type
read_config {n} start.xyz

# Run_Type
production {10 * trials}

# Simulation_Length_Info
units steps
prop_freq {n}
coord_freq {10 * trials}
run {trials}

# Property_Info 1
energy_total
nmols

# Fragment_Files
a.dat 1

# CBMC_Info
kappa_ins 1
rcut_cbmc {CUTOFF}

END
""")

        def read():
            with open("a.out.prp") as file:
                rows = [[float(w) for w in line.split()] for line in file if "#" not in line]
            with open("a.out.log") as file:
                said = file.read()
            made, accepted = 0, 0
            for name in ("Translate", "Insert", "Delete"):
                for found in re.findall(rf"^\s*{name}\s+(\d+)\s+(\d+)", said, re.M):
                    made, accepted = made + int(found[0]), accepted + int(found[1])
            return made, accepted, [r[2] for r in rows], [r[1] / KJ_PER_MOL for r in rows]

        return [program, "a.inp"], read


def enough(write, program, few, wanted):
    """As many trials as take about the seconds wanted."""
    trials = 4 * few
    short = seconds(write(program, few)[0])
    while (took := seconds(write(program, trials)[0]) - short) < 0.2:
        trials *= 4
    return few * max(2, round(wanted / took * trials / few))


def measure(write, program, few, many):
    command, _ = write(program, few)
    short = seconds(command)
    command, read = write(program, many)
    long = seconds(command)
    made, accepted, count, energy = read()
    # Swaps of particles of one type are no trials.
    return (long - short) / (many - few) * many / made, accepted / made, count, energy


def compare(case, programs, options):
    command, _ = case.perrin(programs["perrin"][0], 0, None)
    seconds(command)
    case.read("start/trajectory.h5")
    ways = {f"perrin {k}" if k else "perrin": (case.perrin, p)
            for k, p in enumerate(programs["perrin"])}
    if programs["lammps"]:
        ways["lammps"] = case.lammps, programs["lammps"]
    if programs["cassandra"] and case.move != "swap":
        ways["cassandra"] = case.cassandra, programs["cassandra"]
    rows = {}
    for name, (write, program) in ways.items():
        case.pairs = "true" if options.pair_energy else "false"
        trials = enough(write, program, case.particles, options.seconds)
        rows[name] = {"trials": trials, "each": []}
    for _ in range(options.repeats):
        for name, (write, program) in ways.items():
            took, part, count, energy = measure(write, program, case.particles,
                                                rows[name]["trials"])
            skip = len(count) // 5
            count, energy = numpy.array(count[skip:], float), numpy.array(energy[skip:], float)
            rows[name]["each"].append(round(1e6 * took, 4))
            rows[name].update(microseconds=min(rows[name]["each"]), accepted=round(part, 5),
                              particles=mean(count),
                              energy_of_one=mean(energy / numpy.maximum(count, 1)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("perrin", "lammps", "cassandra"):
        parser.add_argument(name)
    parser.add_argument("--particles", default="500,4000")
    parser.add_argument("--states", default="liquid,gas")
    parser.add_argument("--moves", default="translation,insertion,swap")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--pair-energy", action="store_true", help="Cassandra keeps pair energies")
    options = parser.parse_args()
    where = lambda name: None if name == "-" else os.path.abspath(name)
    programs = {"perrin": [where(p) for p in options.perrin.split(",")],
                "lammps": where(options.lammps), "cassandra": where(options.cassandra)}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for move in options.moves.split(","):
            for state in options.states.split(",") if move != "swap" else ["liquid"]:
                for n in options.particles.split(","):
                    rows = compare(Case(move, state, int(n)), programs, options)
                    print(json.dumps({"move": move, "state": state if move != "swap" else "mixture",
                                      "particles": int(n), "load": os.getloadavg()[0], **rows}),
                          flush=True)


main()
