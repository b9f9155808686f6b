"""`perrin import lammps`: jobs from scripts. ENERGIES are LAMMPS's own (22 Jul 2025 - Update 4), of
the same scripts after `run 0` with `thermo_style custom pe press` and `thermo_modify norm no`."""
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import perrin
from perrin.lammps import convert

DATA = """three chains by hand

12 atoms
9 bonds
6 angles
3 dihedrals
2 atom types
2 bond types
1 angle types
1 dihedral types

0 12 xlo xhi
-1 11 ylo yhi
0 12 zlo zhi

Masses

1 1.0
2 2.5

Pair Coeffs # lj/cut

1 1.0 1.0
2 0.5 1.2

Atoms # molecular

""" + "".join(
    f"{4 * m + k + 1} {m + 1} {1 + k % 2} {2 + 3.3 * m + 0.9 * k} {1.5 * m + 0.4 * (k % 2)} "
    f"{3 + 0.3 * (k == 3) + m}\n" for m in range(3) for k in range(4)) + "\nBonds\n\n" + "".join(
    f"{3 * m + k + 1} {1 + k % 2} {4 * m + k + 1} {4 * m + k + 2}\n"
    for m in range(3) for k in range(3)) + "\nAngles\n\n" + "".join(
    f"{2 * m + k + 1} 1 {4 * m + k + 1} {4 * m + k + 2} {4 * m + k + 3}\n"
    for m in range(3) for k in range(2)) + "\nDihedrals\n\n" + "".join(
    f"{m + 1} 1 {4 * m + 1} {4 * m + 2} {4 * m + 3} {4 * m + 4}\n" for m in range(3))

LATTICE = """units lj
variable n index 5
variable rho equal 0.7+0.1442
lattice fcc ${rho}
region box block 0 $n 0 $n 0 $n
create_box %d box
create_atoms 1 box
mass * 1.0
"""
RUN = "\nfix 1 all nve\nthermo 10\nrun 20\n"
SCRIPTS = {
    "melt": LATTICE % 1 + "velocity all create 1.44 87287\npair_style lj/cut 2.5\n"
            "pair_coeff 1 1 1.0 1.0" + RUN,
    "shifted": LATTICE % 1 + "pair_style lj/cut/opt $(1.2*2^(1/6))\npair_coeff * * 2.0 1.2\n"
               "pair_modify shift yes" + RUN,
    "mixture": LATTICE % 2 + "region half block INF INF INF INF 0 2.4\nset region half type 2\n"
               "pair_style lj/cut 2.0\npair_coeff 1 1 1 1\npair_coeff 2 2 0.5 0.9 1.8\n"
               "pair_modify mix arithmetic tail yes" + RUN,
    "unlike": LATTICE % 2 + "set atom 1*100 type 2\n"
              "pair_style hybrid/overlay lj/cut 2.0 gauss 1.5\n"
              "pair_coeff * * lj/cut 1.0 0.9\npair_coeff 1 2 lj/cut 0.3 1.0\n"
              "pair_coeff 1 2 gauss 1.5 2.0" + RUN,
    "hybrid mixed": LATTICE % 3 + "set atom 1*150 type 2\nset atom 300*400 type 3\n"
              "pair_style hybrid lj/cut 2.0 gauss 1.5\npair_modify mix arithmetic\n"
              "pair_coeff 1 1 lj/cut 1.0 0.9\npair_coeff 2 2 lj/cut 0.3 1.0\n"
              "pair_coeff 3 3 gauss 1.5 2.0\npair_coeff 1 3 none\n"
              "pair_coeff 2 3 lj/cut 1.2 0.8" + RUN,
    "force shift": LATTICE % 1 + "pair_style lj/smooth/linear 2.5\npair_coeff 1 1 1.0 1.0" + RUN,
    "morse": LATTICE % 1 + "pair_style morse 2.5\npair_coeff 1 1 1.5 3.0 1.2" + RUN,
    "yukawa": LATTICE % 1 + "pair_style yukawa 1.2 2.5\npair_coeff 1 1 3.0" + RUN,
    "buckingham": LATTICE % 1 + "pair_style buck 2.5\npair_coeff 1 1 900.0 0.2 1.0" + RUN,
    "mie": LATTICE % 1 + "pair_style mie/cut 2.5\npair_coeff 1 1 1.0 1.0 18 6" + RUN,
    "soft": LATTICE % 1 + "pair_style soft 1.3\npair_coeff 1 1 4.0" + RUN,
    "dpd": LATTICE % 1 + "comm_modify vel yes\npair_style dpd 1.0 1.3 34387\n"
           "pair_coeff 1 1 25.0 4.5" + RUN,
    "flat": "units lj\ndimension 2\nlattice hex 0.9\nregion box block 0 10 0 6 -0.1 0.1\n"
            "create_box 1 box\ncreate_atoms 1 box\nmass 1 1\npair_style lj/cut 2.5\n"
            "pair_coeff * * 1 1\nfix 2 all enforce2d" + RUN,
    "tilted": "units lj\nlattice custom 1.0 a1 1 0 0 a2 0.5 1 0 a3 0 0.25 1 basis 0 0 0\n"
              "region box prism 0 12 0 10 0 8 5 0 2 units box\n"
              "create_box 1 box\ncreate_atoms 1 box\n"
              "mass 1 1\npair_style lj/cut 2.1\npair_coeff * * 1 1" + RUN,
    "chains": "atom_style molecular\nspecial_bonds lj 0 0 1\npair_style lj/cut 2.5\n"
              "bond_style hybrid harmonic fene\nangle_style harmonic\ndihedral_style opls\n"
              "read_data start.data\nbond_coeff 1 fene 30 1.5 1 1\nbond_coeff 2 harmonic 50 0.95\n"
              "angle_coeff * 5.0 150\ndihedral_coeff 1 1.5 -0.2 0.8 0.1" + RUN,
    "cosines": "atom_style molecular\nspecial_bonds lj 0 1 1\npair_style lj/cut 1.1\n"
               "bond_style harmonic\nangle_style cosine/squared\ndihedral_style multi/harmonic\n"
               "read_data start.data\nbond_coeff * 20 0.9\nangle_coeff 1 7.0 140\n"
               "dihedral_coeff 1 0.3 1.1 -0.7 0.2 0.4" + RUN,
    "real": "units real\nlattice fcc 5.4\nregion box block 0 5 0 5 0 5\ncreate_box 1 box\n"
            "create_atoms 1 box\nmass 1 39.95\nvelocity all create 90 1234\npair_style lj/cut 8.5\n"
            "pair_coeff 1 1 0.238 3.405\ntimestep 2" + RUN,
}
ENERGIES = {
    "melt": -3386.68402663, "shifted": 7634.73832582, "mixture": -2252.43033794, "unlike":
    -1872.71800124, "hybrid mixed": -1149.37450897, "force shift":
    -2846.63913786, "morse": -7018.73235491, "yukawa":
    3139.5867322, "buckingham": 6394.32363134, "mie": -2847.04309479, "soft": 439.55306822,
    "dpd": 364.086229067, "flat": -394.374062046, "tilted": -5206.94733171, "chains":
    130.671810065, "cosines": -1.15292586132, "real": -924.752735118}
PRESSURES = {
    "melt": -5.02210056609, "shifted": 97.2716337439, "mixture": -4.77247202474, "unlike":
    -4.83992099994, "hybrid mixed": -2.77271773667, "force shift":
    -5.67450648354, "morse": -7.04679910466, "yukawa":
    5.01479320972, "buckingham": 22.2621089319, "mie": -7.22959883185, "soft": 5.19813929003,
    "flat": -1.59754423828, "tilted": 7.62432635877, "chains": -0.0412781700486, "cosines":
    -0.00695830747657, "real": -1046.45483202}


def job_of(folder, text, data=True, **more):
    (folder / "in.lmp").write_text(text)
    if data:
        (folder / "start.data").write_text(DATA)
    return convert(str(folder / "in.lmp"), "job", str(folder), **more)


@pytest.mark.parametrize("name", SCRIPTS)
def test_energies_are_those_of_lammps(tmp_path, name):
    result = job_of(tmp_path, SCRIPTS[name])
    assert not result.not_understood, result.not_understood
    (tmp_path / "job.json").write_text(result.text)
    with perrin.Simulation(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"),
                           device="cpu", quiet=True) as sim:
        totals = sim.totals
        assert totals.potential == pytest.approx(ENERGIES[name], rel=3e-6)
        if name in PRESSURES:  # velocities are drawn with other numbers, at the same temperature
            unit = 1.458397e-5 if name == "real" else 1
            assert totals.pressure == pytest.approx(PRESSURES[name] * unit, rel=1e-5)
        sim.run(20)


def test_dynamics(tmp_path):
    text = LATTICE % 2 + """set group all type/fraction 2 0.5 1
mass 2 4.0
pair_style lj/cut 2.5
pair_coeff * * 1 1
velocity all create 1.0 1
timestep 0.002
fix 1 all nve
fix 2 all langevin 1.0 2.0 0.5 7
thermo 50
dump d all custom 25 x.lammpstrj id x y z vx
run 100
unfix 1
unfix 2
fix 1 all npt temp 2.0 2.0 0.3 iso 1.0 3.0 1.5
run 200
unfix 1
fix 1 all nve
fix 2 all temp/csvr 2.0 2.0 0.1 7
run 10 upto
"""
    result = job_of(tmp_path, text)
    assert not result.not_understood
    one, two, three = (stage["integrator"] for stage in result.job["stages"])
    assert one == {"type": "langevin", "timestep": 0.002, "temperature": 1, "final_temperature": 2,
                   "ramp_steps": 100, "frictions": {"1": 2.0, "2": 8.0}}
    assert two == {"type": "nose_hoover", "timestep": 0.002, "temperature": 2, "tau": 0.3,
                   "barostat": {"pressure": 1, "tau": 1.5, "final_pressure": 3,
                                "ramp_steps": 200}}
    assert three["type"] == "bussi" and result.job["stages"][2]["steps"] == 0
    assert {"type": "trajectory", "stride": 25, "quantities": ["position", "velocity", "image"]} \
        in result.job["observers"]
    assert "// in.lmp:22: fix 1 all npt temp 2.0 2.0 0.3 iso 1.0 3.0 1.5" in result.text
    (tmp_path / "job.json").write_text(result.text)
    perrin.run(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"), quiet=True,
               device="cpu")


def test_forces_that_change_begin_another_job(tmp_path):
    """A soft start, then Lennard-Jones: the second job begins with the last frame of the first."""
    text = LATTICE % 1 + """velocity all create 1.0 1
pair_style soft 1.1
pair_coeff 1 1 0.0
variable a equal ramp(0,20)
fix push all adapt 1 pair soft a * * v_a
fix 1 all nvt temp 1 1 0.5
minimize 0 0.001 50 100
run 30
unfix push
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0
pair_modify shift yes
run 20
velocity all create 2.5 7
run 10
"""
    (tmp_path / "in.melt").write_text(text)
    done = subprocess.run([sys.executable, "-m", "perrin", "import", "lammps", "in.melt"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "the prefactor has its last value, 20," in done.stderr
    told = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  perrin")]
    assert [t[1] for t in told] == ["job.json", "job-2.json", "job-3.json"]
    ends = []
    for _, job, _, out in told:
        with perrin.Simulation(str(tmp_path / job), output_dir=str(tmp_path / out),
                               device="cpu") as sim:
            ends.append([sim.positions, sim.totals.temperature])
            sim.run()
            ends.append([sim.positions, sim.totals.temperature])
            forces = [force["type"] for force in sim.job["forces"]]
            assert forces == ["pair_formula" if job == "job.json" else "lennard_jones"]
    np.testing.assert_allclose(ends[2][0], ends[1][0], atol=1e-10)
    assert ends[2][1] == pytest.approx(ends[1][1], rel=1e-5)
    np.testing.assert_allclose(ends[4][0], ends[3][0], atol=1e-10)
    assert ends[4][1] == pytest.approx(2.5)


def test_walls_and_groups(tmp_path):
    text = """dimension 2
boundary p s p
lattice hex 0.7
region box block 0 20 0 10 -0.25 0.25
create_box 3 box
create_atoms 1 box
mass * 1.0
pair_style lj/cut 1.12246
pair_coeff * * 1.0 1.0
region 1 block INF INF INF 1.25 INF INF
group lower region 1
region 2 block INF INF 8.75 INF INF INF
group upper region 2
group walls union lower upper
group flow subtract all walls
set group lower type 2
set group upper type 3
velocity flow create 1.0 482748
velocity upper set 3.0 0.0 0.0 units box
fix 1 all nve
fix 2 flow temp/csvr 1.0 1.0 0.2 3
fix 3 lower setforce 0.0 0.0 0.0
fix 4 upper setforce 0.0 0.0 0.0
run 10
"""
    result = job_of(tmp_path, text)
    assert not result.not_understood
    kinds = {i["group"]: i["type"] for i in result.job["stages"][0]["integrators"]}
    assert kinds == {"flow": "bussi", "lower": "frozen", "upper": "moving"}
    moving, = (i for i in result.job["stages"][0]["integrators"] if i["type"] == "moving")
    assert moving["velocity"] == [3, 0, 0]
    (tmp_path / "job.json").write_text(result.text)
    perrin.run(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"), quiet=True,
               device="cpu")


def test_a_barostat_of_one_group_beside_another_thermostat(tmp_path):
    text = SCRIPTS["melt"].replace("fix 1 all nve", """region half block INF 4 INF INF INF INF
group left region half
group right subtract all left
fix 1 left npt temp 3.0 3.0 0.2 iso 1.0 1.0 1.0 tchain 2 dilate all
fix 2 right nvt temp 3.0 3.0 0.2""")
    result = job_of(tmp_path, text)
    assert not result.not_understood
    of = {i["group"]: i for i in result.job["stages"][0]["integrators"]}
    assert of["left"]["type"] == "bussi" and of["right"]["type"] == "nose_hoover"
    assert of["left"]["barostat"] == {"pressure": 1.0, "tau": 1.0} and "chain" not in of["left"]
    assert any("became Bussi's" in why for _, why in result.changed)
    (tmp_path / "job.json").write_text(result.text)
    perrin.run(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"), quiet=True,
               device="cpu")


def test_what_is_not_understood_is_listed(tmp_path):
    text = SCRIPTS["melt"].replace("fix 1 all nve", """fix 1 all nve
fix 7 all srd 20 1 1 0.5 4
compute 5 all pe/atom
print "nothing ${there} to see"
kspace_style msm 1e-4
variable i loop 3
next j
partition yes 1 run 5""")
    result = job_of(tmp_path, text)
    assert [(line.number, line.text.split()[0]) for line, _ in result.not_understood] == [
        (13, "fix"), (16, "kspace_style"), (18, "next"), (19, "partition")]
    assert "fix srd" in result.text and "NOT translated" in result.text


def test_control_and_variables(tmp_path):
    (tmp_path / "more.in").write_text("pair_coeff 1 1 ${epsilon} 1.0\n")
    text = SCRIPTS["melt"].replace("pair_coeff 1 1 1.0 1.0", """variable epsilon string 3
if "${n} > 4 && $n != 6" then "include more.in" &
  else "pair_coeff 1 1 7.0 1.0\"""")
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    assert result.job["forces"][0]["pairs"][0]["epsilon"] == 3
    other = job_of(tmp_path, text, variables={"n": 4})
    assert other.job["forces"][0]["pairs"][0]["epsilon"] == 7
    assert other.job["system"]["cells"] == [4, 4, 4]


def test_command(tmp_path):
    (tmp_path / "in.melt").write_text(SCRIPTS["melt"])

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "perrin", "import", *arguments], cwd=tmp_path,
                              capture_output=True, text=True)

    done = run("lammps", "in.melt", "--var", "n", "3")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "job.json").read_text()
    job = json.loads("\n".join(line for line in text.splitlines()
                               if not line.lstrip().startswith("//")))
    assert job["system"]["cells"] == [3, 3, 3]
    assert run("lammps", "in.melt").returncode == 2
    assert run("lammps", "in.nothing").returncode == 2
    (tmp_path / "in.melt").write_text(SCRIPTS["melt"] + "fix 8 all srd 20 1 1 0.5 4\n")
    done = run("lammps", "in.melt", "--overwrite")
    assert done.returncode == 1 and "in.melt:15: not understood: fix 8 all srd" in done.stderr
    assert os.listdir(tmp_path).count("job.json") == 1


def ions(rng):
    """64 ions of rock salt that have moved a little, in a box of 4 x 4 x 4."""
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    kind = 1 + grid.sum(axis=1) % 2
    return grid + 0.5 + rng.uniform(-0.1, 0.1, grid.shape), kind, np.where(kind == 1, 0.8, -0.8)


def pairs_within(r, cutoff, edge=4.0):
    """Indices and distances of all pairs closer than the cut-off, with their images."""
    shifts = edge * np.stack(np.meshgrid(*[np.arange(-1, 2)] * 3), axis=-1).reshape(-1, 3)
    i, j = np.triu_indices(len(r), 1)
    d = np.linalg.norm(r[i][:, None] - r[j][:, None] + shifts, axis=2)
    pair, image = np.nonzero(d < cutoff)
    return i[pair], j[pair], d[pair, image]


ERFC = np.vectorize(math.erfc)
A, RC = 0.3, 1.9  # the cut-off is less than half of the box
DSF = ERFC(A * RC) / RC**2 + 2 * A / np.sqrt(np.pi) * np.exp(-(A * RC)**2) / RC
CHARGES = {
    "coul/cut 1.9": lambda r: 1 / r,
    "coul/debye 1.5 1.9": lambda r: np.exp(-1.5 * r) / r,
    "coul/dsf 0.3 1.9": lambda r: ERFC(A * r) / r - ERFC(A * RC) / RC + DSF * (r - RC),
    "coul/wolf 0.3 1.9": lambda r: ERFC(A * r) / r - ERFC(A * RC) / RC,
}


@pytest.mark.parametrize("style", CHARGES)
@pytest.mark.parametrize("beside", ["", "lj/cut/"])
def test_charges_within_a_cutoff(tmp_path, style, beside):
    """Against the formulas of LAMMPS's manual; dsf and wolf have an energy of each charge, too."""
    r, kind, q = ions(np.random.default_rng(3))
    lines = "".join(f"{n + 1} {k} {c} {x:.12f} {y:.12f} {z:.12f}\n"
                    for n, (k, c, (x, y, z)) in enumerate(zip(kind, q, r)))
    data = ("ions\n\n64 atoms\n2 atom types\n\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\n"
            "Masses\n\n1 1\n2 1\n\nAtoms # charge\n\n" + lines)
    (tmp_path / "ions.data").write_text(data)
    words = style.split()
    if beside:  # the cut-off of Lennard-Jones is another one
        words.insert(len(words) - 1, "1.2")
    text = (f"units lj\natom_style charge\ndielectric 2.0\nread_data ions.data\n"
            f"pair_style {beside}{' '.join(words)}\n"
            f"pair_coeff * *{' 1.0 0.9' if beside else ''}\nfix 1 all nve\nrun 0\n")
    result = job_of(tmp_path, text, data=False)
    assert not result.not_understood, result.not_understood
    i, j, d = pairs_within(r, RC)
    wanted = np.sum(q[i] * q[j] * CHARGES[style](d)) / 2
    if "dsf" in style or "wolf" in style:
        shift = ERFC(A * RC) / RC + (DSF * RC if "dsf" in style else 0)
        wanted -= np.sum(q**2) * (shift / 2 + A / np.sqrt(np.pi)) / 2
    if beside:
        near = d[d < 1.2]
        wanted += np.sum(4 * ((0.9 / near)**12 - (0.9 / near)**6))
    (tmp_path / "job.json").write_text(result.text)
    sim = perrin.Simulation(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"),
                            device="cpu")
    assert sim.totals.potential == pytest.approx(wanted, rel=2e-5)


@pytest.mark.parametrize("kspace", ["ewald 1e-5", "pppm 1e-5"])
def test_charges_of_all_copies(tmp_path, kspace):
    """Rock salt: Madelung's constant 1.74756459 (nearest neighbours at the distance 1)."""
    text = ("units lj\nlattice sc 1.0\nregion box block 0 6 0 6 0 6\ncreate_box 2 box\n"
            "create_atoms 1 box\nmass * 1\n" + "".join(
                f"set atom {6 * row + 1 + k} type 2\n" for row in range(36)
                for k in range((row + row // 6 + 1) % 2, 6, 2)) +
            "set type 1 charge 1.5\nset type 2 charge -1.5\n"
            "pair_style hybrid/overlay lj/cut 1.5 coul/long 2.4\npair_coeff * * coul/long\n"
            f"pair_coeff * * lj/cut 0.0 1.0\nkspace_style {kspace}\nfix 1 all nve\nrun 0\n")
    result = job_of(tmp_path, text, data=False)
    assert not result.not_understood, result.not_understood
    (tmp_path / "job.json").write_text(result.text)
    sim = perrin.Simulation(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"),
                            device="cpu")
    assert sim.totals.potential == pytest.approx(-1.74756459 * 1.5**2 * 216 / 2, rel=1e-4)
    ewald, = (f for f in result.job["forces"] if f["type"] == "ewald")
    assert ewald["accuracy"] == 1e-5 and ("mesh" in ewald) == kspace.startswith("pppm")


def test_weights_of_charges(tmp_path):
    """Other weights along bonds than those of the other pairs are not those of a job."""
    text = ("atom_style full\nspecial_bonds lj 0 1 1\npair_style lj/cut/coul/cut 2.0\n"
            "bond_style harmonic\nread_data full.data\npair_coeff * * 1 1\nbond_coeff * 20 1\n"
            "fix 1 all nve\nrun 0\n")
    (tmp_path / "full.data").write_text(
        "full\n\n3 atoms\n2 bonds\n1 atom types\n1 bond types\n\n0 9 xlo xhi\n0 9 ylo yhi\n"
        "0 9 zlo zhi\n\nMasses\n\n1 1\n\nAtoms # full\n\n1 1 1 1 1 1 1\n2 1 1 -1 2 1 1\n"
        "3 1 1 0.5 3 1 1\n\nBonds\n\n1 1 1 2\n2 1 2 3\n")
    told = job_of(tmp_path, text, data=False).not_understood
    assert len(told) == 1 and "(0.0, 0.0, 0.0) of charges" in told[0][1]
    same = text.replace("lj 0 1 1", "lj/coul 0 1 1")
    result = job_of(tmp_path, same, data=False)
    assert not result.not_understood and "ignore" not in result.job


def test_names_behind_masses(tmp_path):
    """Perrin calls types by the words behind their masses; the job names them by number."""
    (tmp_path / "named.data").write_text(
        "named\n\n2 atoms\n6 atom types\n\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nMasses\n\n"
        "1 2.0 # CA\n2 3.0 # OW\n3 1 # HW\n4 1 # HW\n5 1 # two words\n6 1 # # no\n\n"
        "Atoms # atomic\n\n1 1 1 1 1\n2 2 2.5 1 1\n")
    text = ("read_data named.data\nmass 2 5.0\npair_style lj/cut 3\npair_coeff * * 1 1\n"
            "pair_coeff 1 2 2.0 1.1\nfix 1 all nve\nrun 1\n")
    result = job_of(tmp_path, text, data=False)
    assert not result.not_understood
    (tmp_path / "job.json").write_text(result.text)
    sim = perrin.Simulation(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"),
                            device="cpu")
    assert list(sim.masses) == pytest.approx([2.0, 5.0])
    assert sim.totals.potential == pytest.approx(8 * ((1.1 / 1.5)**12 - (1.1 / 1.5)**6), rel=1e-6)


def test_springs_and_prescribed_motion(tmp_path):
    """fix spring: energies K/2 (distance - R0)^2 of centres of mass; fix move: where they are."""
    text = """units lj
region box block 0 10 0 12 0 14
create_box 2 box
create_atoms 1 single 2 3 4 units box
create_atoms 1 single 3 3 4 units box
create_atoms 2 single 6 7 5 units box
create_atoms 2 single 6 9 5 units box
create_atoms 2 single 8 9 5 units box
mass 1 1.0
mass 2 3.0
group one id 1 2
group two id 3 4
group last id 5
pair_style zero 1.0
pair_coeff * *
fix 1 one spring tether 5.0 1.0 NULL 4.5 0.2
fix 2 one spring couple two 2.0 0.0 0.0 0.0 1.5
fix 3 all nve
fix 4 last move wiggle 0.5 0.0 -0.2 3.0 units box
timestep 0.01
run 60
"""
    result = job_of(tmp_path, text, data=False)
    assert not result.not_understood, result.not_understood
    (tmp_path / "job.json").write_text(result.text)
    sim = perrin.Simulation(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"),
                            device="cpu")
    centre, other = np.array([2.5, 3, 4]), np.array([6, 8, 5])
    place = np.hypot(centre[0] - 1.0, centre[2] - 4.5)  # not along y
    wanted = 5.0 / 2 * (place - 0.2)**2 + 2.0 / 2 * (np.linalg.norm(other - centre) - 1.5)**2
    assert sim.totals.potential == pytest.approx(wanted, rel=1e-6)
    start = sim.positions[4]
    sim.run()
    np.testing.assert_allclose(sim.positions[4] - start,
                               np.array([0.5, 0, -0.2]) * np.sin(2 * np.pi * 0.6 / 3), atol=1e-6)


@pytest.mark.parametrize("line, said", [
    ("fix 9 all spring tether 5.0 1 1 1 0\nfix 8 all move rotate 0 0 0 0 0 1 5", "fix move rotate"),
    ("fix 9 all spring couple 1 5.0 1 0 0 1", "the group 1 is not known"),
    ("kspace_modify slab nozforce", "slab nozforce"),
    ("set group all vx 1.0", "set group … vx"),
])
def test_what_of_it_is_listed(tmp_path, line, said):
    text = SCRIPTS["melt"].replace("\nfix 1 all nve", f"\n{line}\nfix 1 all nve")
    told = job_of(tmp_path, text).not_understood
    assert any(said in why for _, why in told), told
