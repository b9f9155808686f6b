"""`perrin import hoomd`: jobs from scripts. Energies are of HOOMD-blue's formulas, in numpy."""
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import perrin
from perrin.hoomd import convert
from perrin.hoomd.gsd_file import Frame, type_names, write

BOX = np.array([9.0, 9.0, 10.0])


def state(path, charged=False):
    """Chains A-B-A-B… of four on sites of a lattice, shaken: bonds, angles and dihedrals."""
    rng = np.random.default_rng(3)
    sites = np.array(list(itertools.product(range(8), range(8), range(8))))
    r = (sites + 0.5) * BOX / 8 - BOX / 2 + rng.normal(size=(len(sites), 3)) * 0.05
    kind = np.arange(len(r)) % 2
    first = np.arange(0, len(r), 4)
    data = {
        "configuration/box": np.array([*BOX, 0, 0, 0], "f4"),
        "particles/N": np.array([len(r)], "u4"), "particles/types": type_names(["A", "B"]),
        "particles/typeid": kind.astype("u4"), "particles/position": r.astype("f4")}
    if charged:
        data["particles/charge"] = np.where(kind == 0, 1.0, -1.0).astype("f4")
    for what, size, rows in (("bonds", 2, 3), ("angles", 3, 2), ("dihedrals", 4, 1)):
        groups = np.array([[f + k + j for j in range(size)] for f in first for k in range(rows)])
        data[f"{what}/N"] = np.array([len(groups)], "u4")
        data[f"{what}/types"] = type_names([what[:-1]])
        data[f"{what}/typeid"] = np.zeros(len(groups), "u4")
        data[f"{what}/group"] = groups.astype("u4")
    write(str(path), data)
    return data


def plain(path, n=6, edge=7.2):
    """Particles of one type without bonds, at rest."""
    sites = np.array(list(itertools.product(range(n), repeat=3)))
    r = (sites + 0.5) * edge / n - edge / 2 + np.random.default_rng(5).normal(
        size=(n ** 3, 3)) * 0.05
    write(str(path), {"configuration/box": np.array([edge] * 3 + [0] * 3, "f4"),
                      "particles/N": np.array([n ** 3], "u4"),
                      "particles/types": type_names(["A"]),
                      "particles/position": r.astype("f4")})


def imported(folder, text, **more):
    (folder / "script.py").write_text(text)
    return convert(str(folder / "script.py"), "job", str(folder), **more)


def simulated(folder, result, part=0):
    (folder / "job.json").write_text(result.texts[part])
    return perrin.Simulation(str(folder / "job.json"), output_dir=str(folder / "out"),
                             device="cpu", quiet=True, overwrite=True)


def run_all(folder, result):
    """Each part of a job runs."""
    for part in range(len(result.texts)):
        name = "job.json" if part == 0 else f"job-{part + 1}.json"
        (folder / name).write_text(result.texts[part])
        perrin.run(str(folder / name), output_dir=str(folder / ("out" if part == 0 else
                                                                f"out-{part + 1}")),
                   quiet=True, device="cpu", overwrite=True)


def minimum_image(d):
    return d - BOX * np.round(d / BOX)


def pair_energy(data, energy, excluded=("bonds",)):
    """Sum of energy(r, type, type), which has the cut-off, over pairs that are not excluded."""
    r, kind = data["particles/position"].astype(float), data["particles/typeid"]
    i, j = np.triu_indices(len(r), 1)
    d = np.linalg.norm(minimum_image(r[i] - r[j]), axis=1)
    barred = {tuple(sorted((int(g[0]), int(g[-1])))) for what in excluded
              for g in data[f"{what}/group"]}
    allowed = np.array([(a, b) not in barred for a, b in zip(i[d < 4], j[d < 4])])
    i, j, d = i[d < 4][allowed], j[d < 4][allowed], d[d < 4][allowed]
    return sum(energy(x, *sorted((a, b))) for x, a, b in zip(d, kind[i], kind[j]))


HEAD = """import hoomd

sim = hoomd.Simulation(device=hoomd.device.auto_select(), seed=7)
sim.create_state_from_gsd(filename="state.gsd")
cell = hoomd.md.nlist.Cell(buffer=0.4)
"""
TAIL = """
integrator = hoomd.md.Integrator(dt=0.002, forces=[pair])
integrator.methods.append(hoomd.md.methods.ConstantVolume(filter=hoomd.filter.All()))
sim.operations.integrator = integrator
sim.run(0)
"""
R_CUT = {(0, 0): 2.5, (0, 1): 2.0, (1, 1): 1.6}
NAMES = {(0, 0): ("A", "A"), (0, 1): ("A", "B"), (1, 1): ("B", "B")}
PARAMS = {
    "LJ": [dict(epsilon=1.0, sigma=1.0), dict(epsilon=0.7, sigma=0.9),
           dict(epsilon=2.0, sigma=1.1)],
    "Gaussian": [dict(epsilon=3.0, sigma=0.6), dict(epsilon=-1.0, sigma=0.8),
                 dict(epsilon=2.0, sigma=0.5)],
    "Yukawa": [dict(epsilon=2.0, kappa=1.5), dict(epsilon=-3.0, kappa=0.8),
               dict(epsilon=1.0, kappa=2.0)],
    "Morse": [dict(D0=1.0, alpha=3.0, r0=1.1), dict(D0=2.0, alpha=4.0, r0=1.0),
              dict(D0=0.5, alpha=2.5, r0=1.2)],
    "Mie": [dict(epsilon=1.0, sigma=1.0, n=14, m=7), dict(epsilon=0.5, sigma=0.9, n=12, m=6),
            dict(epsilon=0.5, sigma=1.0, n=10, m=5)],
    "Buckingham": [dict(A=900.0, rho=0.2, C=1.0), dict(A=700.0, rho=0.22, C=0.5),
                   dict(A=1000.0, rho=0.2, C=1.5)],
    "ExpandedLJ": [dict(epsilon=1.0, sigma=0.8, delta=0.2), dict(epsilon=1.0, sigma=1.0, delta=0.0),
                   dict(epsilon=0.5, sigma=0.9, delta=0.1)],
    "LJ1208": [dict(epsilon=1.0, sigma=1.0)] * 3,
    "LJ0804": [dict(epsilon=0.5, sigma=0.9)] * 3,
    "LJGauss": [dict(epsilon=1.5, sigma=0.15, r0=1.5), dict(epsilon=1.0, sigma=0.1, r0=1.4),
                dict(epsilon=2.0, sigma=0.2, r0=1.6)],
    "OPP": [dict(C1=1.0, C2=1.0, eta1=15, eta2=3, k=7.0, phi=0.5)] * 3,
    "Fourier": [dict(a=[0.08, -0.03, 0.02], b=[0.05, 0.01, -0.04])] * 3,
    "TWF": [dict(epsilon=0.01, sigma=0.5, alpha=50.0)] * 3,
    "Moliere": [dict(qi=2.0, qj=3.0, aF=0.7)] * 3,
    "ZBL": [dict(qi=2.0, qj=1.5, aF=0.4)] * 3,
    "ReactionField": [dict(epsilon=1.0, eps_rf=4.0)] * 3,
    "DLVO": [dict(a1=0.2, a2=0.3, kappa=2.0, Z=3.0, A=0.1)] * 3,
    "ForceShiftedLJ": [dict(epsilon=1.0, sigma=1.0)] * 3,
}


def fourier(r, a, b, r_cut):
    a, b = np.array([0, *a]), np.array([0, *b])
    n = np.arange(2, 5)
    a[0], b[0] = np.sum((-1.0) ** n * a[1:]), np.sum(n * (-1.0) ** n * b[1:])
    w = np.pi * r / r_cut * np.arange(1, 5)
    return r ** -12 + np.sum(a * np.cos(w) + b * np.sin(w)) / r ** 2


def dlvo(r, a1, a2, kappa, Z, A):
    s, d = r * r - (a1 + a2) ** 2, r * r - (a1 - a2) ** 2
    return -A / 6 * (2 * a1 * a2 / s + 2 * a1 * a2 / d + np.log(s / d)) + \
        a1 * a2 / (a1 + a2) * Z * np.exp(-kappa * (r - a1 - a2))


def lj(r, epsilon, sigma, n=12, m=6):
    return 4 * epsilon * ((sigma / r) ** n - (sigma / r) ** m)


FUNCTIONS = {
    "LJ": lj, "Gaussian": lambda r, epsilon, sigma: epsilon * np.exp(-0.5 * (r / sigma) ** 2),
    "Yukawa": lambda r, epsilon, kappa: epsilon * np.exp(-kappa * r) / r,
    "Morse": lambda r, D0, alpha, r0: D0 * (np.exp(-2 * alpha * (r - r0)) -
                                            2 * np.exp(-alpha * (r - r0))),
    "Mie": lambda r, epsilon, sigma, n, m: n / (n - m) * (n / m) ** (m / (n - m)) * epsilon * (
        (sigma / r) ** n - (sigma / r) ** m),
    "Buckingham": lambda r, A, rho, C: A * np.exp(-r / rho) - C / r ** 6,
    "ExpandedLJ": lambda r, epsilon, sigma, delta: lj(r - delta, epsilon, sigma),
    "LJ1208": lambda r, epsilon, sigma: lj(r, epsilon, sigma, 12, 8),
    "LJ0804": lambda r, epsilon, sigma: lj(r, epsilon, sigma, 8, 4),
    "LJGauss": lambda r, epsilon, sigma, r0: r ** -12 - 2 * r ** -6 - epsilon * np.exp(
        -(r - r0) ** 2 / (2 * sigma ** 2)),
    "OPP": lambda r, C1, C2, eta1, eta2, k, phi: C1 * r ** -eta1 + C2 * r ** -eta2 * np.cos(
        k * r - phi),
    "Fourier": fourier,
    "TWF": lambda r, epsilon, sigma, alpha: 4 * epsilon / alpha ** 2 * (
        (sigma ** 2 / (r * r - sigma ** 2)) ** 6 -
        alpha * (sigma ** 2 / (r * r - sigma ** 2)) ** 3),
    "Moliere": lambda r, qi, qj, aF: qi * qj / r * (
        0.35 * np.exp(-0.3 * r / aF) + 0.55 * np.exp(-1.2 * r / aF) + 0.1 * np.exp(-6 * r / aF)),
    "ZBL": lambda r, qi, qj, aF: qi * qj / r * (
        0.1818 * np.exp(-3.2 * r / aF) + 0.5099 * np.exp(-0.9423 * r / aF) +
        0.2802 * np.exp(-0.4029 * r / aF) + 0.02817 * np.exp(-0.2016 * r / aF)),
    "ReactionField": lambda r, epsilon, eps_rf, r_cut: epsilon / r * (
        1 + (eps_rf - 1) * r ** 3 / ((2 * eps_rf + 1) * r_cut ** 3)),
    "DLVO": dlvo,
    "ForceShiftedLJ": lambda r, epsilon, sigma, r_cut: lj(r, epsilon, sigma) - lj(
        r_cut, epsilon, sigma) + (r - r_cut) * 24 * epsilon / r_cut * (
            2 * (sigma / r_cut) ** 12 - (sigma / r_cut) ** 6),
}


def expected(data, kind, mode, r_on):
    def energy(r, a, b):
        cut, on = R_CUT[a, b], r_on
        if r >= cut:
            return 0
        values = dict(PARAMS[kind][a + b])
        if kind in ("Fourier", "ReactionField", "ForceShiftedLJ"):
            values["r_cut"] = cut
        made = FUNCTIONS[kind](r, **values)
        if mode == "shift" or mode == "xplor" and on >= cut:
            return made - FUNCTIONS[kind](cut, **values)
        if mode == "xplor" and r > on:
            return made * (cut ** 2 - r ** 2) ** 2 * (cut ** 2 + 2 * r ** 2 - 3 * on ** 2) / (
                cut ** 2 - on ** 2) ** 3
        return made
    return pair_energy(data, energy)


CASES = [(kind, "none") for kind in PARAMS] + [
    ("LJ", "shift"), ("LJ", "xplor"), ("Gaussian", "shift"), ("Yukawa", "shift"),
    ("Morse", "shift"), ("Morse", "xplor"), ("Buckingham", "xplor")]


@pytest.mark.parametrize("kind, mode", CASES)
def test_energies_of_pairs(tmp_path, monkeypatch, kind, mode):
    """At step 0; r_on is beyond the cut-off of one pair of types, which is then shifted. Formulas
    are tabulated: there are many."""
    monkeypatch.setenv("PERRIN_COMPILER", "/none")
    data = state(tmp_path / "state.gsd")
    text = HEAD + f"pair = hoomd.md.pair.{kind}(nlist=cell, mode='{mode}', default_r_cut=2.5)\n" \
        if kind != "Fourier" else HEAD + "pair = hoomd.md.pair.Fourier(nlist=cell)\n"
    for both, names in NAMES.items():
        text += f"pair.params[{names}] = {PARAMS[kind][sum(both)]!r}\n"
        text += f"pair.r_cut[{names}] = {R_CUT[both]}\n"
    if mode == "xplor":
        text += "types = sim.state.particle_types\npair.r_on[(types, types)] = 1.7\n"
    result = imported(tmp_path, text + TAIL)
    assert not result.not_understood, result.not_understood
    assert result.job["ignore"] == ["angles", "dihedrals"]
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(expected(data, kind, mode, 1.7), rel=2e-5)


def test_bonded_energies(tmp_path):
    """HOOMD-blue's ½k of bonds and angles, its FENE with WCA, its dihedrals."""
    data = state(tmp_path / "state.gsd")
    text = HEAD + """
bonds = hoomd.md.bond.Harmonic()
bonds.params["bond"] = dict(k=80.0, r0=0.95)
angles = hoomd.md.angle.Harmonic()
angles.params["angle"] = dict(k=6.0, t0=2.4)
dihedrals = hoomd.md.dihedral.Periodic()
dihedrals.params["dihedral"] = dict(k=3.0, d=-1, n=3, phi0=0.4)
integrator = hoomd.md.Integrator(dt=0.002)
integrator.forces.extend([bonds, angles, dihedrals])
integrator.methods.append(hoomd.md.methods.ConstantVolume(hoomd.filter.All()))
sim.operations.integrator = integrator
sim.run(0)
"""
    r = data["particles/position"].astype(float)

    def bond(i, j):
        return minimum_image(r[j] - r[i])

    lengths = np.array([np.linalg.norm(bond(i, j)) for i, j in data["bonds/group"]])
    energy = np.sum(80 / 2 * (lengths - 0.95) ** 2)
    for i, j, k in data["angles/group"]:
        a, b = bond(j, i), bond(j, k)
        theta = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        energy += 6 / 2 * (theta - 2.4) ** 2
    for i, j, k, m in data["dihedrals/group"]:
        a, b, c = bond(i, j), bond(j, k), bond(k, m)
        n, o = np.cross(a, b), np.cross(b, c)
        phi = np.arctan2(np.linalg.norm(b) * (a @ o), n @ o)
        energy += 3 / 2 * (1 - np.cos(3 * phi - 0.4))
    result = imported(tmp_path, text)
    assert not result.not_understood
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(energy, rel=1e-5)
    fene = text.replace("bond.Harmonic()", "bond.FENEWCA()").replace(
        "dict(k=80.0, r0=0.95)", "dict(k=30.0, r0=3.0, epsilon=2.0, sigma=1.2, delta=0.0)")
    fene = fene.replace("[bonds, angles, dihedrals]", "[bonds]")
    inside = lengths < 2 ** (1 / 6) * 1.2
    energy = np.sum(-30 / 2 * 9 * np.log(1 - (lengths / 3) ** 2)) + np.sum(
        lj(lengths[inside], 2.0, 1.2) + 2.0)
    result = imported(tmp_path, fene)
    assert not result.not_understood and result.job["ignore"] == ["angles", "dihedrals"]
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(energy, rel=1e-5)


def test_dpd(tmp_path):
    """The soft repulsion; pairs along bonds are not excluded here."""
    data = state(tmp_path / "state.gsd")
    text = HEAD.replace("buffer=0.4", "buffer=0.4, exclusions=[]") + """
pair = hoomd.md.pair.DPD(nlist=cell, kT=1.5, default_r_cut=1.3)
pair.params[(["A", "B"], ["A", "B"])] = dict(A=25.0, gamma=4.5)
pair.params[("A", "B")] = dict(A=40.0, gamma=3.0)
""" + TAIL
    result = imported(tmp_path, text)
    assert not result.not_understood
    assert result.job["forces"][0]["temperature"] == 1.5
    assert result.job["stages"][0]["integrator"]["type"] == "groot_warren"
    a = {0: 25.0, 1: 40.0, 2: 25.0}

    def energy(r, i, j):
        return 0 if r > 1.3 else a[i + j] * (1.3 - r) - a[i + j] / 2.6 * (1.3 ** 2 - r * r)

    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(pair_energy(data, energy, ()), rel=1e-5)


def test_a_table(tmp_path):
    """Its rows are those of a function of the script; a spline is between them."""
    data = state(tmp_path / "state.gsd")
    text = "import numpy as np\n" + HEAD + """
def energy(r, depth=1.0):
    return depth * np.exp(-2 * r)

r = np.linspace(0.3, 2.0, 400, endpoint=False)
pair = hoomd.md.pair.Table(nlist=cell, default_r_cut=2.0)
for a in "AB":
    pair.params[(a, ["A", "B"])] = dict(r_min=0.3, U=energy(r, depth=3.0), F=2 * energy(r, 3.0))
""" + TAIL
    result = imported(tmp_path, text)
    assert not result.not_understood and "a spline" in result.changed[0][1]
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(pair_energy(
            data, lambda r, a, b: 3 * np.exp(-2 * r) if r < 2 else 0), rel=1e-5)


MELT = """# A melt as in a first lesson: constants, a lattice, two runs.
import itertools
import math

import gsd.hoomd
import hoomd
import numpy
import matplotlib.pyplot as plt

kT = 1.5
N = 4 * 3**3
spacing = 1.3
K = math.ceil(N ** (1 / 3))
L = K * spacing
x = numpy.linspace(-L / 2, L / 2, K, endpoint=False)
frame = gsd.hoomd.Frame()
frame.particles.N = N
frame.particles.position = list(itertools.product(x, repeat=3))[:N]
frame.particles.typeid = [0] * N
frame.particles.types = ["A"]
frame.configuration.box = [L, L, L, 0, 0, 0]
with gsd.hoomd.open(name="lattice.gsd", mode="x") as f:
    f.append(frame)

simulation = hoomd.Simulation(device=hoomd.device.CPU(), seed=11)
simulation.create_state_from_gsd(filename="lattice.gsd")
integrator = hoomd.md.Integrator(dt=0.005 / 2)
lj = hoomd.md.pair.LJ(nlist=hoomd.md.nlist.Cell(buffer=0.4))
lj.params[("A", "A")] = dict(epsilon=1, sigma=1)
lj.r_cut[("A", "A")] = 2.5
integrator.forces.append(lj)
nvt = hoomd.md.methods.ConstantVolume(
    filter=hoomd.filter.All(), thermostat=hoomd.md.methods.thermostats.Bussi(kT=kT)
)
integrator.methods.append(nvt)
simulation.operations.integrator = integrator
simulation.run(0)
simulation.state.thermalize_particle_momenta(filter=hoomd.filter.All(), kT=kT)
thermo = hoomd.md.compute.ThermodynamicQuantities(filter=hoomd.filter.All())
simulation.operations.computes.append(thermo)
logger = hoomd.logging.Logger(categories=["scalar"])
logger.add(thermo, quantities=["pressure"])
logger[("mine",)] = (lambda: 1, "scalar")
simulation.operations.writers.append(
    hoomd.write.HDF5Log(trigger=hoomd.trigger.Periodic(20), filename="log.h5", logger=logger))
if simulation.device.communicator.rank == 0:
    print(thermo.kinetic_temperature, f"{simulation.tps:0.4g}")
simulation.run(40)
simulation.run(60)
fig = plt.figure()
ax = fig.add_subplot()
ax.plot(thermo.pressure)
"""


def test_a_start_of_the_script(tmp_path):
    result = imported(tmp_path, MELT)
    assert not result.not_understood and not result.changed
    assert [os.path.basename(p) for p in result.data] == ["job-start.gsd"]
    frame = Frame(result.data[0])
    assert frame.count("particles") == 108 and frame.box[0] == pytest.approx(1.3 * 5)
    job = result.job
    assert job["seed"] == 11 and job["velocity"] == {"temperature": 1.5}
    stage, = job["stages"]
    assert stage["steps"] == 100 and stage["integrator"] == {
        "type": "bussi", "timestep": 0.0025, "temperature": 1.5, "tau": 0}
    assert {"type": "thermo", "stride": 20} in job["observers"]
    line = 1 + [row.startswith("lj = ") for row in MELT.split("\n")].index(True)
    assert f"// script.py:{line}: lj = hoomd.md.pair.LJ(" in result.text
    run_all(tmp_path, result)


START = """import hoomd
sim = hoomd.Simulation(device=hoomd.device.CPU(), seed=3)
sim.create_state_from_gsd(filename="state.gsd")
nlist = hoomd.md.nlist.Tree(buffer=0.3)
lj = hoomd.md.pair.LJ(nlist, default_r_cut=2.0, mode="shift")
lj.params[("A", "A")] = {"epsilon": 1.0, "sigma": 1.0}
everything = hoomd.filter.All()
"""
NVE = "hoomd.md.methods.ConstantVolume(everything)"
GOES = "\nintegrator = hoomd.md.Integrator(dt=0.002, forces=[lj], methods=[{}])\n" \
    "sim.operations.integrator = integrator\n{}sim.run(20)\n"
THERMAL = "sim.state.thermalize_particle_momenta(everything, kT=1.2)\n"
BATHS = {
    "hoomd.md.methods.ConstantVolume(everything, thermostat=hoomd.md.methods.thermostats.MTTK("
    "kT=1.2, tau=0.5))": {"type": "nose_hoover", "temperature": 1.2, "tau": 0.5, "chain": 1},
    "hoomd.md.methods.NVT(kT=1.2, filter=everything, tau=1.0)": {
        "type": "nose_hoover", "temperature": 1.2, "tau": 1.0, "chain": 1},
    "hoomd.md.methods.ConstantVolume(everything, hoomd.md.methods.thermostats.Berendsen("
    "kT=1.2, tau=0.3))": {"type": "bussi", "temperature": 1.2, "tau": 0.3},
    "hoomd.md.methods.Langevin(filter=everything, kT=1.2)": {
        "type": "langevin", "temperature": 1.2, "friction": 1.0},
    "hoomd.md.methods.Langevin(everything, hoomd.variant.Ramp(1.0, 2.0, 0, 20), "
    "default_gamma=0.5)": {"type": "langevin", "temperature": 1.0, "final_temperature": 2.0,
                           "ramp_steps": 20, "friction": 0.5},
    "hoomd.md.methods.Brownian(everything, kT=1.2, default_gamma=50.0)": {
        "type": "brownian", "temperature": 1.2, "friction": 50.0},
    "hoomd.md.methods.OverdampedViscous(everything, default_gamma=50.0)": {
        "type": "brownian", "temperature": 0, "friction": 50.0},
    "hoomd.md.methods.ConstantPressure(filter=everything, S=2.0, tauS=1.5, couple='xyz', "
    "thermostat=hoomd.md.methods.thermostats.MTTK(kT=1.2, tau=0.5))": {
        "type": "nose_hoover", "temperature": 1.2, "tau": 0.5, "chain": 1,
        "barostat": {"pressure": 2.0, "tau": 1.5}},
    "hoomd.md.methods.ConstantPressure(everything, S=[1, 1, hoomd.variant.Constant(1), 0, 0, 0], "
    "tauS=1.5, couple='none', thermostat=hoomd.md.methods.thermostats.Bussi(1.2, 0.2))": None,
    "hoomd.md.methods.ConstantPressure(everything, S=2.0, tauS=1.5, couple='xy', box_dof=[True, "
    "True, True, False, False, False], thermostat=hoomd.md.methods.thermostats.Bussi(1.2, 0.2))": {
        "type": "bussi", "temperature": 1.2, "tau": 0.2,
        "barostat": {"pressure": 2.0, "tau": 1.5, "axes": "xy,z"}},
    "hoomd.md.methods.DisplacementCapped(everything, maximum_displacement=0.01)": {
        "type": "fire", "force_tolerance": 0.001, "maximum_move": 0.01, "maximum_timestep": 0.05},
    NVE: {"type": "velocity_verlet"},
}


@pytest.mark.parametrize("number", range(len(BATHS)))
def test_motion(tmp_path, number):
    plain(tmp_path / "state.gsd")
    method, expects = list(BATHS.items())[number]
    result = imported(tmp_path, START + GOES.format(method, THERMAL))
    if expects is None:
        assert "the variant" in result.not_understood[0][1] or result.not_understood
        return
    assert not result.not_understood
    integrator = dict(result.job["stages"][0]["integrator"])
    assert integrator.pop("timestep") == 0.002
    assert integrator == expects
    assert result.job["velocity"] == {"temperature": 1.2}
    run_all(tmp_path, result)


def test_changes_between_runs(tmp_path):
    """A thermostat that changes is another stage; forces or velocities that change, another job."""
    plain(tmp_path / "state.gsd")
    text = START + GOES.format("hoomd.md.methods.Langevin(everything, kT=2.0)", THERMAL) + """
integrator.methods[0].kT = 1.0
integrator.dt *= 2
dump = hoomd.write.GSD(filename="out/dump.gsd", trigger=10, mode="wb",
                       dynamic=["property", "momentum"])
sim.operations.writers.append(dump)
for _ in range(3):
    sim.run(10)
sim.operations.writers.remove(dump)
integrator.methods.clear()
integrator.methods.append(hoomd.md.methods.ConstantVolume(filter=everything))
while sim.timestep < 80:
    sim.run(min(20, 80 - sim.timestep))
lj.params[("A", "A")]["epsilon"] = 2.0
lj.r_cut[("A", "A")] = 2.2
sim.run(20)
sim.state.thermalize_particle_momenta(everything, kT=0.5)
sim.run(10)
"""
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    stages = [[(s["steps"], s["integrator"]["type"], s["integrator"]["timestep"])
               for s in job["stages"]] for job in result.jobs]
    assert stages[0][:-1] == [(20, "langevin", 0.002), (30, "langevin", 0.004),
                              (30, "velocity_verlet", 0.004)]
    assert stages[0][-1][0] == 0 and len(stages) == 3
    assert result.jobs[0]["forces"][0]["pairs"][0]["epsilon"] == 1
    assert result.jobs[1]["forces"][0]["pairs"][0]["epsilon"] == 2
    assert result.jobs[1]["forces"][0]["cutoff"] == 2.2
    assert result.jobs[2]["velocity"] == {"temperature": 0.5}
    written, = (o for o in result.job["observers"] if o["type"] == "gsd")
    assert written == {"type": "gsd", "stride": 10, "file": "dump.gsd", "stages": ["run-2"],
                       "quantities": ["position", "velocity", "image"]}
    run_all(tmp_path, result)


def test_ramps_are_cut_where_they_begin(tmp_path):
    plain(tmp_path / "state.gsd")
    kT = "hoomd.variant.Ramp(A=2.0, B=1.0, t_start=10, t_ramp=20)"
    result = imported(tmp_path, START + GOES.format(
        f"hoomd.md.methods.Langevin(everything, kT={kT})", THERMAL) + "sim.run(20)\n")
    assert not result.not_understood
    made = [(s["steps"], s["integrator"]["temperature"],
             s["integrator"].get("final_temperature")) for s in result.job["stages"]]
    assert made == [(10, 2.0, None), (10, 2.0, 1.5), (10, 1.5, 1.0), (10, 1.0, None)]
    run_all(tmp_path, result)


def test_a_box_that_changes(tmp_path):
    plain(tmp_path / "state.gsd")
    text = START + GOES.format(NVE, THERMAL + """
initial = sim.state.box
final = hoomd.Box.from_box(initial)
final.volume = sim.state.N_particles / 0.9
ramp = hoomd.variant.Ramp(A=0, B=1, t_start=sim.timestep, t_ramp=20)
resize = hoomd.update.BoxResize(box1=initial, box2=final, variant=ramp, trigger=1)
sim.operations.updaters.append(resize)
""") + "sim.operations.updaters.remove(resize)\nsim.run(10)\n"
    edge = (216 / 0.9) ** (1 / 3)
    newer = text.replace("box1=initial, box2=final, variant=ramp, trigger=1", "trigger=1, "
                         "box=hoomd.variant.box.Interpolate(initial, final, ramp)")
    for one in (text, newer):
        result = imported(tmp_path, one)
        assert not result.not_understood, result.not_understood
        assert result.job["stages"][0]["deform"] == {
            "x": pytest.approx(edge), "y": pytest.approx(edge), "z": pytest.approx(edge),
            "remap_velocities": False}
        assert "deform" not in result.job["stages"][1]
    run_all(tmp_path, result)
    field = "integrator.forces.append(hoomd.md.force.Constant(everything))\n" \
            "integrator.forces[-1].constant_force['A'] = (0, 0, 1)\nsim.run(20)"
    told = imported(tmp_path, text.replace("sim.run(20)", field)).not_understood
    assert any("a field in a run that deforms the box" in why for _, why in told), told


def test_groups_fields_and_walls(tmp_path):
    state(tmp_path / "state.gsd")
    text = HEAD + """
import numpy as np
a, b = hoomd.filter.Type(["A"]), hoomd.filter.Type(["B"])
first = hoomd.filter.Tags(list(range(0, 40)))
mobile = hoomd.filter.SetDifference(b, first)
pair = hoomd.md.pair.LJ(cell, default_r_cut=2.0)
for i, j in [("A", "A"), ("A", "B"), ("B", "B")]:
    pair.params[(i, j)] = dict(epsilon=0.5, sigma=0.9)
pull = hoomd.md.force.Constant(filter=mobile)
pull.constant_force["B"] = (0, 0, 0.5)
walls = [hoomd.wall.Plane(origin=(0, 0, sign * 4.8), normal=(0, 0, -sign)) for sign in (1, -1)]
wall = hoomd.md.external.wall.LJ(walls=walls)
wall.params[["A", "B"]] = dict(epsilon=1.0, sigma=0.1, r_cut=0.1 * 2**(1/6))
langevin = hoomd.md.methods.Langevin(filter=mobile, kT=1.0, default_gamma=2.0)
langevin.gamma["B"] = 3.0
integrator = hoomd.md.Integrator(dt=0.002, methods=[langevin], forces=[pair, pull, wall])
sim.operations.integrator = integrator
sim.operations += hoomd.write.DCD(trigger=hoomd.trigger.Periodic(10), filename="b.dcd", filter=b)
sim.run(20)
"""
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    job = result.job
    assert job["groups"] == {"B": {"types": ["B"]}, "tags": {"ids": [[0, 39]]},
                             "rest": {"and": ["B"], "not": ["tags"]}, "still": {"not": ["rest"]}}
    kinds = {i["group"]: i["type"] for i in job["stages"][0]["integrators"]}
    assert kinds == {"rest": "langevin", "still": "frozen"}
    assert job["stages"][0]["integrators"][0]["frictions"] == {"B": 3.0}
    forces = [f for f in job["forces"] if f["type"] == "lj_wall"]
    assert [(f["axis"], f["position"], f["types"], f["form"]) for f in forces] == [
        ("z", z, [kind], "12-6") for z in (4.8, -4.8) for kind in "AB"]
    assert {"type": "constant_force", "force": [0, 0, 0.5], "types": ["B"], "on": "rest"} in \
        job["forces"]
    assert {"type": "xtc", "stride": 10, "file": "b.xtc", "group": "B"} in job["observers"]
    run_all(tmp_path, result)


def test_a_minimisation(tmp_path):
    plain(tmp_path / "state.gsd")
    text = START + f"""
fire = hoomd.md.minimize.FIRE(dt=0.005, force_tol=1e-2, angmom_tol=1e-2, energy_tol=1e-7)
fire.methods.append({NVE})
fire.forces = [lj]
sim.operations.integrator = fire
while not fire.converged:
    sim.run(100)
fire.forces.remove(lj)
""" + GOES.format(NVE, THERMAL)
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    first = result.jobs[0]["stages"][0]
    assert first["steps"] == 100000 and first["integrator"]["type"] == "fire"
    assert len(result.jobs) == 2 and "ends where it has converged" in result.text
    run_all(tmp_path, result)


def test_charges(tmp_path):
    state(tmp_path / "state.gsd", charged=True)
    text = HEAD + """
pair = hoomd.md.pair.LJ(cell, default_r_cut=2.0)
pair.params[(["A", "B"], ["A", "B"])] = dict(epsilon=1.0, sigma=0.8)
real, sums = hoomd.md.long_range.pppm.make_pppm_coulomb_forces(
    nlist=cell, resolution=(32, 32, 32), order=5, r_cut=3.0)
"""
    result = imported(tmp_path, text + TAIL.replace("[pair]", "[pair, real, sums]"))
    assert not result.not_understood and "PPPM" in result.changed[0][1]
    assert result.job["forces"][1] == {"type": "ewald", "cutoff": 3.0}
    assert "charges" not in result.job["ignore"]
    with simulated(tmp_path, result) as sim:
        assert np.isfinite(sim.totals.potential)
    result = imported(tmp_path, text + TAIL)
    assert "charges" in result.job["ignore"]


UNKNOWN = {
    "a force of another package": ("extra = azplugins.pair.Colloid(nlist)\n",
                                   "integrator.forces.append(extra)\n", "extra = azplugins"),
    "anisotropy": ("extra = hoomd.md.pair.aniso.Dipole(nlist)\n",
                   "integrator.forces.append(extra)\n", "extra = hoomd.md.pair.aniso"),
    "a class of the script": ("class Mine(hoomd.md.force.Custom):\n    pass\nextra = Mine()\n",
                              "integrator.forces.append(extra)\n", "extra = Mine()"),
    "rigid bodies": ("rigid = hoomd.md.constrain.Rigid()\n", "integrator.rigid = rigid\n",
                     "rigid = hoomd"),
    "constraints that are not there": (
        "bars = hoomd.md.constrain.Distance()\n", "integrator.constraints.append(bars)\n",
        "bars = hoomd"),
    "a constraint": ("bars = hoomd.md.constrain.Constraint()\n",
                     "integrator.constraints.append(bars)\n", "bars = hoomd"),
    "patches": ("extra = hoomd.md.pair.aniso.PatchyLJ(nlist)\n",
                "integrator.forces.append(extra)\n", "extra = hoomd.md.pair.aniso"),
    "an updater": ("", "sim.operations.updaters.append(hoomd.update.CustomUpdater(1, action))\n",
                   "sim.operations.updaters"),
    "a writer": ("", "sim.operations += hoomd.write.Burst(1, 'x.gsd')\n", "sim.operations +="),
    "a parameter": ("", "lj.params[('A', 'A')] = dict(epsilon=read_from(3), sigma=1.0)\n",
                    "lj.params"),
    "a filter": ("", "integrator.methods[0].filter = hoomd.filter.Rigid(['constituent'])\n",
                 "integrator.methods"),
    "a condition": ("", "if something():\n    lj.mode = 'xplor'\n", "if something"),
    "a function with the simulation": ("", "prepare(sim)\n", "prepare(sim)"),
    "a function that returns": ("", "held = fix.prepare(integrator)\n", "held ="),
    "a function in a condition": ("def soften():\n    lj.mode = 'none'\n",
                                  "if something():\n    soften()\n", "if something"),
    "a setting of a method": ("", "integrator.methods[0].alpha = 2.0\n", "integrator.methods"),
    "a parameter too many": ("", "lj.params[('A', 'A')] = dict(epsilon=1, sigma=1, delta=1)\n",
                             "lj.params"),
    "a list that is not known": ("", "integrator.forces.extend(more())\n", "integrator.forces"),
    "forces in a comprehension": ("", "[integrator.forces.append(f) for f in more()]\n",
                                  "[integrator.forces"),
    "text that is executed": ("", "exec('integrator.forces.append(x)')\n", "exec"),
    "an object of a class": ("class Helper:\n    def add(self):\n"
                             "        integrator.forces.append(self.force)\n",
                             "helper = Helper()\nhelper.add()\n", "helper.add()"),
    "a setting": ("", "lj.special = 3\n", "lj.special"),
    "the step": ("", "integrator.dt = argument\n", "integrator.dt"),
    "a state": ("", "sim.state.set_snapshot(snap)\n", "sim.state"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_understood_is_listed(tmp_path, name):
    """Each by its line; the rest is translated."""
    plain(tmp_path / "state.gsd")
    before, inside, where = UNKNOWN[name]
    text = (START + before + GOES).format(NVE, inside) if "{" not in START + before else \
        START + before + GOES.format(NVE, inside)
    result = imported(tmp_path, text)
    assert result.not_understood, result.text
    listed = [line for line, _ in result.not_understood]
    assert any(line.text.startswith(where) for line in listed), [x.text for x in listed]
    assert all(text.split("\n")[line.number - 1] for line in listed if line.number)
    assert "NOT translated" in result.text


def test_a_start_from_a_frame(tmp_path):
    """Of another file, which is changed: here a box that is larger along z."""
    plain(tmp_path / "bulk.gsd")
    text = START.replace("""sim.create_state_from_gsd(filename="state.gsd")
""", """import gsd.hoomd
with gsd.hoomd.open("bulk.gsd") as trajectory:
    frame = trajectory[-1]
frame.configuration.box[2] = 12.0
frame.particles.velocity = [[0.0, 0.0, 0.1]] * frame.particles.N
with gsd.hoomd.open("slab.gsd", "w") as file:
    file.append(frame)
sim.create_state_from_gsd(filename="slab.gsd")
""")
    result = imported(tmp_path, text + GOES.format(NVE, ""))
    assert not result.not_understood, result.not_understood
    frame = Frame(result.data[0])
    assert frame.box[:3] == pytest.approx([7.2, 7.2, 12]) and frame.count("particles") == 216
    np.testing.assert_array_equal(frame.get("particles/position"),
                                  Frame(tmp_path / "bulk.gsd").get("particles/position"))
    run_all(tmp_path, result)


HARD = """import hoomd
mc = hoomd.hpmc.integrate.Sphere(default_d=0.05, nselect=2)
mc.shape["A"] = dict(diameter=0.8)
sim = hoomd.Simulation(device=hoomd.device.CPU(), seed=1)
sim.operations.integrator = mc
sim.create_state_from_gsd("state.gsd")
sim.run(10)
sim.run(20)
"""


def test_hard_spheres(tmp_path):
    plain(tmp_path / "state.gsd")
    result = imported(tmp_path, HARD)
    assert not result.not_understood
    assert result.job["stages"] == [{"type": "monte_carlo", "sweeps": 30, "temperature": 1,
                                     "translation": {"displacement": 0.05, "trials": 2}}]
    assert result.job["forces"] == [{
        "type": "pair_formula", "energy": "if(r < diameter, barrier, 0)", "cutoff": 0.8,
        "pairs": [{"types": ["A", "A"], "diameter": 0.8, "barrier": 1e6}]}]
    run_all(tmp_path, result)
    for change in ("mc.pair_potentials = [square_well]\n", "mc.d['A'] = length\n",
                   "sim.operations += hoomd.hpmc.tune.MoveSize.scale_solver(1)\n"):
        result = imported(tmp_path, HARD.replace("sim.run(10)\n", change + "sim.run(10)\n"))
        assert result.not_understood, change
    result = imported(tmp_path, HARD.replace("Sphere(default_d=0.05, nselect=2)",
                                             "ConvexPolyhedron()"))
    assert any("hpmc" in reason for _, reason in result.not_understood)


def test_nothing_is_executed(tmp_path):
    """Files, modules and attributes of Python itself are out of reach."""
    plain(tmp_path / "state.gsd")
    mark = tmp_path / "mark"
    text = f"""import os, subprocess
os.system("touch {mark}")
subprocess.run(["touch", "{mark}"])
open("{mark}", "w").write("x")
__import__("os").system("touch {mark}")
().__class__.__base__.__subclasses__()
"".join.__globals__
eval("open('{mark}', 'w')")
exec("open('{mark}', 'w')")
n = 10 ** 10 ** 10
long = [0] * 10 ** 12
def again(): return again()
again()
while True: pass
""" + START + GOES.format(NVE, "")
    result = imported(tmp_path, text)
    assert not mark.exists()
    assert any("goes on for more than" in reason for _, reason in result.not_understood)


def test_files_that_are_not_there(tmp_path):
    text = START + GOES.format(NVE, "")
    result = imported(tmp_path, text)
    assert "the file state.gsd is not there" in result.not_understood[0][1]
    plain(tmp_path / "given.gsd")
    result = imported(tmp_path, text, state=str(tmp_path / "given.gsd"))
    assert not result.not_understood
    assert result.job["system"] == {"type": "file", "path": "given.gsd", "format": "gsd"}
    (tmp_path / "state.gsd").write_bytes(b"no GSD file " * 40)
    result = imported(tmp_path, text)
    assert "expected a GSD file" in result.not_understood[0][1]
    result = imported(tmp_path, "import hoomd\nsim = (\n")
    assert "this is no Python" in result.not_understood[0][1]


def test_functions_arguments_and_variables(tmp_path):
    plain(tmp_path / "state.gsd")
    text = """import argparse
import os
import hoomd
from hoomd import md

def make(kT, *, steps=10):
    sim = hoomd.Simulation(hoomd.device.auto_select(), seed=args.seed)
    sim.create_state_from_gsd(os.path.join(FOLDER, f"{NAME}.gsd"))
    lj = md.pair.LJ(md.nlist.Cell(0.4))
    lj.params.default = 1
    lj.params[("A", "A")] = dict(epsilon=eps[NAME], sigma=1)
    lj.r_cut[("A", "A")] = 2 ** (1 / 6) if wca else 2.5
    bath = md.methods.Langevin(filter=hoomd.filter.All(), kT=kT)
    sim.operations.integrator = md.Integrator(0.001, methods=[bath], forces=[lj])
    sim.run(steps)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--kT", type=float)
    args = parser.parse_args()
    FOLDER, NAME, wca = ".", "state", True
    eps = {"state": 3.0}
    make(args.kT, steps=30)
""".replace("    lj.params.default = 1\n", "")
    result = imported(tmp_path, text)
    assert ["--var kT" in reason for _, reason in result.not_understood] == [True]
    result = imported(tmp_path, text, variables={"kT": "0.7", "wca": "False"})
    assert not result.not_understood
    stage, = result.job["stages"]
    assert stage["steps"] == 30 and stage["integrator"]["temperature"] == 0.7
    assert result.job["seed"] == 4 and result.job["forces"][0]["cutoff"] == 2.5
    run_all(tmp_path, result)


def test_command(tmp_path):
    plain(tmp_path / "state.gsd")
    (tmp_path / "lj.py").write_text(START + GOES.format(NVE, ""))

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "perrin", "import", "hoomd", *arguments],
                              cwd=tmp_path, capture_output=True, text=True)

    done = run("lj.py", "-o", "made.json")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "made.json").read_text()
    job = json.loads("\n".join(line for line in text.splitlines()
                               if not line.lstrip().startswith("//")))
    assert job["system"]["path"] == "state.gsd"
    assert run("lj.py", "-o", "made.json").returncode == 2
    assert run("nothing.py").returncode == 2
    (tmp_path / "lj.py").write_text(START + GOES.format(NVE, "prepare(sim)\n"))
    done = run("lj.py", "-o", "made.json", "--overwrite")
    assert done.returncode == 1 and "lj.py:11: not understood: prepare(sim)" in done.stderr


def directions(q):
    """The z axes of frames, by quaternions w, x, y, z."""
    w, x, y, z = q.T
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)


@pytest.mark.parametrize("mode", ["none", "shift"])
def test_ellipsoids(tmp_path, mode):
    """GayBerne: energies of HOOMD-blue's formula; the frames of the start are turned, and so are
    moments of inertia and angular momenta, whose energy stays."""
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    rng, data = np.random.default_rng(11), dict(Frame(str(tmp_path / "state.gsd")).data)
    n = 64
    q = rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    spin, inertia = rng.normal(size=(n, 3)), np.tile([0.5, 0.6, 0.2], (n, 1))
    w, v = q[:, :1], q[:, 1:]
    data["particles/orientation"] = q.astype("f4")
    data["particles/moment_inertia"] = inertia.astype("f4")
    data["particles/angmom"] = 2 * np.hstack([
        -np.sum(v * spin, axis=1)[:, None], w * spin + np.cross(v, spin)]).astype("f4")
    write(str(tmp_path / "state.gsd"), data)
    text = HEAD + f"""
pair = hoomd.md.pair.aniso.GayBerne(nlist=cell, default_r_cut=3.5, mode="{mode}")
pair.params[("A", "A")] = dict(epsilon=1.3, lperp=0.3, lpar=0.75)
""" + TAIL.replace("forces=[pair]", "forces=[pair], integrate_rotational_dof=True")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    r, u = data["particles/position"].astype(float), directions(q)
    i, j = np.triu_indices(n, 1)
    d = r[i] - r[j]
    d -= 8 * np.round(d / 8)
    length = np.linalg.norm(d, axis=1)
    near = length < 3.5
    i, j, d, length = i[near], j[near], d[near] / length[near][:, None], length[near]

    def energy(length):
        h = 2 * 0.3 ** 2 * np.eye(3) + (0.75 ** 2 - 0.3 ** 2) * (
            u[i][:, :, None] * u[i][:, None, :] + u[j][:, :, None] * u[j][:, None, :])
        sigma = (0.5 * np.einsum("ka,kab,kb->k", d, np.linalg.inv(h), d)) ** -0.5
        zeta = (length - sigma + 0.6) / 0.6
        return 4 * 1.3 * np.sum(zeta ** -12 - zeta ** -6)

    wanted = energy(length) - (energy(3.5) if mode == "shift" else 0)
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(wanted, rel=2e-5)
        assert sim.totals.rotational == pytest.approx(np.sum(spin ** 2 / inertia) / 2, rel=1e-5)


def test_rigid_bodies(tmp_path):
    """Sites of dimers that create_bodies adds: energy of all pairs but those within a body."""
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    rng, data, n = np.random.default_rng(2), dict(Frame(str(tmp_path / "state.gsd")).data), 64
    q = rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    data["particles/types"] = type_names(["D", "A"])
    data["particles/orientation"] = q.astype("f4")
    data["particles/mass"] = np.full(n, 2.5, "f4")
    data["particles/moment_inertia"] = np.tile([0.0, 0.4, 0.4], (n, 1)).astype("f4")
    write(str(tmp_path / "state.gsd"), data)
    text = HEAD + """
rigid = hoomd.md.constrain.Rigid()
rigid.body["D"] = dict(constituent_types=["A", "A"], positions=[[0, 0, 0.4], [0, 0, -0.3]],
                       orientations=[[1, 0, 0, 0]] * 2)
rigid.create_bodies(sim.state)
cell.exclusions = ["body"]
pair = hoomd.md.pair.LJ(nlist=cell, default_r_cut=2.5)
pair.params[("A", "A")] = dict(epsilon=0.8, sigma=0.9)
pair.params[("D", ["D", "A"])] = dict(epsilon=0, sigma=1)
pair.r_cut[("D", ["D", "A"])] = 0
""" + TAIL.replace("forces=[pair]", "forces=[pair], integrate_rotational_dof=True, rigid=rigid") \
        .replace("hoomd.filter.All()", "hoomd.filter.Rigid(('center', 'free'))")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    assert result.job["bodies"]["D"]["mass"] == 2.5
    axis, r = directions(q), data["particles/position"].astype(float)
    sites = np.stack([r + 0.4 * axis, r - 0.3 * axis], axis=1).reshape(-1, 3)
    i, j = np.triu_indices(2 * n, 1)
    d = sites[i] - sites[j]
    length = np.linalg.norm(d - 8 * np.round(d / 8), axis=1)[i // 2 != j // 2]
    wanted = np.sum(lj(length[length < 2.5], 0.8, 0.9))
    with simulated(tmp_path, result) as sim:
        assert len(sim) == 3 * n
        assert sim.totals.potential == pytest.approx(wanted, rel=2e-5)
    frictions_of_bodies(tmp_path, text)


def frictions_of_bodies(folder, text):
    """Sites, which have gamma_r as all types do, are named by no friction of the job."""
    result = imported(folder, text.replace("ConstantVolume(", "Langevin(kT=1.0, "))
    assert not result.not_understood, result.not_understood
    integrator = result.job["stages"][0]["integrator"]
    of_axes = integrator.get("rotational_frictions_of_axes", integrator.get("rotational_frictions"))
    assert list(of_axes) == ["D"]
    with simulated(folder, result) as sim:
        assert sim.totals.potential < 0


def dumbbells(path, lengths):
    """64 pairs at these distances in turn, each with a constraint; every third has a bond, too."""
    rng, n = np.random.default_rng(8), 64
    sites = np.array(list(itertools.product(range(4), repeat=3)))
    r = (sites + 0.5) * 2.0 - 4
    u = rng.normal(size=(n, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    length = np.resize(lengths, n)
    both = np.stack([r - u * length[:, None] / 2, r + u * length[:, None] / 2], 1).reshape(-1, 3)
    groups = np.arange(2 * n).reshape(n, 2)
    data = {"configuration/box": np.array([8.0, 8.0, 8.0, 0, 0, 0], "f4"),
            "particles/N": np.array([2 * n], "u4"), "particles/types": type_names(["A"]),
            "particles/position": both.astype("f4"), "constraints/N": np.array([n], "u4"),
            "constraints/value": length.astype("f4"), "constraints/group": groups.astype("u4"),
            "bonds/N": np.array([n - 2], "u4"), "bonds/types": type_names(["far"]),
            "bonds/typeid": np.zeros(n - 2, "u4"),
            "bonds/group": np.stack([groups[:-2, 0], groups[2:, 0]], 1).astype("u4")}
    write(str(path), data)
    return data, groups, length


@pytest.mark.parametrize("bath", ["None", "hoomd.md.methods.thermostats.MTTK(kT=1.2, tau=0.3)"])
def test_distances(tmp_path, bath):
    """Lengths stay (the tolerance of single precision), the energy has no part of constrained
    pairs, and each constraint takes a degree of freedom: the temperature asked for is that of
    3N - 3 - 64."""
    data, groups, length = dumbbells(tmp_path / "state.gsd", [0.6, 0.85])
    text = HEAD + """
cell.exclusions = ["bond", "constraint"]
pair = hoomd.md.pair.LJ(nlist=cell, default_r_cut=2.0, mode="shift")
pair.params[("A", "A")] = dict(epsilon=0.5, sigma=0.7)
springs = hoomd.md.bond.Harmonic()
springs.params["far"] = dict(k=3.0, r0=2.0)
sim.state.thermalize_particle_momenta(hoomd.filter.All(), kT=1.5)
""" + TAIL.replace("forces=[pair]", "forces=[pair, springs], constraints=["
                   "hoomd.md.constrain.Distance(tolerance=1e-4)]").replace(
        "filter=hoomd.filter.All()", f"filter=hoomd.filter.All(), thermostat={bath}").replace(
        "run(0)", "run(50)")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    assert sorted(result.job["constraints"]["bonds"].values()) == pytest.approx([0.6, 0.85])
    r = data["particles/position"].astype(float)
    i, j = np.triu_indices(len(r), 1)
    barred = {tuple(sorted(g)) for g in [*groups.tolist(), *data["bonds/group"].tolist()]}
    d = np.linalg.norm(r[i] - r[j] - 8 * np.round((r[i] - r[j]) / 8), axis=1)
    near = [x for x, *p in zip(d, i, j) if x < 2.0 and tuple(p) not in barred]
    wanted = sum(lj(x, 0.5, 0.7) - lj(2.0, 0.5, 0.7) for x in near)
    b = r[data["bonds/group"][:, 0]] - r[data["bonds/group"][:, 1]]
    wanted += 1.5 * np.sum((np.linalg.norm(b - 8 * np.round(b / 8), axis=1) - 2.0) ** 2)
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(wanted, rel=2e-5)
        assert sim.totals.temperature == pytest.approx(1.5, rel=1e-5)
        assert 2 * sim.totals.kinetic / 1.5 == pytest.approx(3 * 128 - 3 - 64, rel=1e-5)
        sim.run()
        ends = sim.unwrapped[groups]
        np.testing.assert_allclose(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), length,
                                   rtol=2e-6)


def test_methods_beside_constraints(tmp_path):
    dumbbells(tmp_path / "state.gsd", [0.7])
    text = HEAD + """
pair = hoomd.md.pair.LJ(nlist=cell, default_r_cut=2.0)
pair.params[("A", "A")] = dict(epsilon=0.0, sigma=0.7)
""" + TAIL.replace("forces=[pair]", "forces=[pair], constraints=[hoomd.md.constrain.Distance()]")
    pressed = text.replace("ConstantVolume(filter=hoomd.filter.All()", (
        "ConstantPressure(filter=hoomd.filter.All(), S=1.0, tauS=2.0, couple='xyz', "
        "thermostat=hoomd.md.methods.thermostats.MTTK(kT=1, tau=1)")).replace("run(0)", "run(5)")
    result = imported(tmp_path, pressed)
    assert [w for _, w in result.not_understood] == []
    assert result.job["stages"][0]["integrator"]["type"] == "bussi"
    assert any("became Bussi's" in why for _, why in result.changed)
    run_all(tmp_path, result)
    result = imported(tmp_path, text.replace("ConstantVolume(filter=hoomd.filter.All()",
                                             "Brownian(filter=hoomd.filter.All(), kT=1"))
    assert any("the integrator brownian beside constraints" in w for _, w in result.not_understood)


def turned(tmp_path, seed):
    """64 particles that look anywhere: what state.gsd has of them, and their quaternions."""
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    rng, data = np.random.default_rng(seed), dict(Frame(str(tmp_path / "state.gsd")).data)
    q = rng.normal(size=(64, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    data["particles/orientation"] = q.astype("f4")
    data["particles/moment_inertia"] = np.full((64, 3), 0.1, "f4")
    write(str(tmp_path / "state.gsd"), data)
    return data, q


@pytest.mark.parametrize("mu", [(1.5, 0, 0), (0, 0.9, 0), (0, 0, -1.2), (0.6, 0.8, 0)])
@pytest.mark.parametrize("kappa", [0.0, 0.8])
def test_dipoles(tmp_path, mu, kappa):
    """Dipole, with and without screening, along any vector of the frame: HOOMD-blue's formula; its
    U_dd with r the vector between the particles."""
    data, q = turned(tmp_path, seed=4)
    n = len(q)
    text = HEAD + f"""
pair = hoomd.md.pair.aniso.Dipole(nlist=cell, default_r_cut=3.0)
pair.params[("A", "A")] = dict(A=1.4, kappa={kappa})
pair.mu["A"] = {mu}
""" + TAIL.replace("forces=[pair]", "forces=[pair], integrate_rotational_dof=True")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    w, v = q[:, :1], q[:, 1:]
    m = np.tile(np.array(mu, float), (n, 1))
    m = m + 2 * np.cross(v, np.cross(v, m) + w * m)
    r = data["particles/position"].astype(float)
    i, j = np.triu_indices(n, 1)
    d = r[i] - r[j]
    d -= 8 * np.round(d / 8)
    x = np.linalg.norm(d, axis=1)
    each = 1.4 * np.exp(-kappa * x) * (np.sum(m[i] * m[j], axis=1) / x ** 3 - 3 * np.sum(
        m[i] * d, axis=1) * np.sum(m[j] * d, axis=1) / x ** 5)
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(np.sum(each[x < 3]), abs=2e-5 * np.sum(
            np.abs(each[x < 3])))


PATCHY = {
    "LJ": (dict(epsilon=1.3, sigma=0.9), lambda r: 5.2 * ((0.9 / r) ** 12 - (0.9 / r) ** 6)),
    "ExpandedGaussian": (dict(epsilon=-2.0, sigma=0.4, delta=0.8),
                         lambda r: -2 * np.exp(-((r - 0.8) / 0.4) ** 2 / 2))}


@pytest.mark.parametrize("kind, directors, mode", [
    ("LJ", [(1, 0, 0)], "none"), ("LJ", [(0, 0.6, 0.8)], "shift"),
    ("LJ", [(0, 0, 2), (0, 0, -1)], "none"), ("ExpandedGaussian", [(0, 0.6, 0.8)], "none")])
def test_patches(tmp_path, kind, directors, mode):
    """Patchy…: HOOMD-blue's formula, an isotropic potential times the envelope of each patch of
    both particles."""
    data, q = turned(tmp_path, seed=6)
    n = len(q)
    values, pair = PATCHY[kind]
    alpha, omega = 0.9, 12.0
    text = "import math\n" + HEAD + f"""
pair = hoomd.md.pair.aniso.Patchy{kind}(nlist=cell, default_r_cut=2.9, mode="{mode}")
pair.params[("A", "A")] = dict(pair_params={values},
                               envelope_params=dict(alpha={alpha}, omega={omega}))
pair.directors["A"] = {directors}
""" + TAIL.replace("forces=[pair]", "forces=[pair], integrate_rotational_dof=True")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood

    def envelope(cosine):
        bare = [1 / (1 + np.exp(-omega * (x - np.cos(alpha)))) for x in (cosine, -1, 1)]
        return (bare[0] - bare[1]) / (bare[2] - bare[1])

    r, (w, v) = data["particles/position"].astype(float), (q[:, :1], q[:, 1:])
    i, j = np.triu_indices(n, 1)
    d = r[j] - r[i]
    d -= 8 * np.round(d / 8)
    x = np.linalg.norm(d, axis=1)
    sums = []
    for particle, sign in ((i, 1), (j, -1)):
        total = 0
        for axis in directors:
            m = np.tile(np.array(axis) / np.linalg.norm(axis), (n, 1))
            m = m + 2 * np.cross(v, np.cross(v, m) + w * m)
            total = total + envelope(sign * np.sum(m[particle] * d, axis=1) / x)
        sums.append(total)
    each = (sums[0] * sums[1] * (pair(x) - (pair(2.9) if mode == "shift" else 0)))[x < 2.9]
    with simulated(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(np.sum(each), abs=2e-5 * np.abs(each).sum())


def test_patches_that_are_listed(tmp_path):
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    for directors, why in (("[(1, 0, 0), (0, 1, 0)]", "2 patches of A: a formula has one axis"),
                           ("[]", "no pair of types has a cut-off and patches"),
                           ("lookup()", "directors of A")):
        text = HEAD + f"""
pair = hoomd.md.pair.aniso.PatchyLJ(nlist=cell, default_r_cut=2.9)
pair.params[("A", "A")] = dict(pair_params=dict(epsilon=1, sigma=1),
                               envelope_params=dict(alpha=1, omega=10))
pair.directors["A"] = {directors}
""" + TAIL
        assert any(why in told for _, told in imported(tmp_path, text).not_understood)


PATCH = """
{name} = hoomd.md.pair.aniso.PatchyLJ(nlist=cell, default_r_cut=2.9)
{name}.params[("A", "A")] = dict(pair_params=dict(epsilon=1, sigma=1),
                                 envelope_params=dict(alpha=1, omega=10))
{name}.directors["A"] = [{along}]
"""
OTHERS = {"patch": PATCH.replace("epsilon=1", "epsilon=2").format(
    name="other", along="(0, 0, 1)"), "ellipsoid": """
other = hoomd.md.pair.aniso.GayBerne(nlist=cell, default_r_cut=2.5)
other.params[("A", "A")] = dict(epsilon=1, lperp=0.3, lpar=0.5)
""", "dipole": """
other = hoomd.md.pair.aniso.Dipole(nlist=cell, default_r_cut=2.5)
other.params[("A", "A")] = dict(A=1, kappa=0)
other.mu["A"] = (0, 0, 2)
"""}


@pytest.mark.parametrize("name", OTHERS)
def test_axes_of_two_potentials(tmp_path, name):
    """Particles have one axis for all potentials, in all runs; one that is x already is one."""
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    both = TAIL.replace("forces=[pair]", "forces=[pair, other]")
    later = TAIL.replace("sim.run(0)", "sim.run(4)\nintegrator.forces = [other]\nsim.run(4)")
    for tail in (both, later):
        for along in ("(1, 0, 0)", "(0, 1, 0)"):
            text = HEAD + PATCH.format(name="pair", along=along) + OTHERS[name] + tail
            assert any("whose axes of A differ" in why
                       for _, why in imported(tmp_path, text).not_understood)
        text = HEAD + PATCH.format(name="pair", along="(0, 0, 3)") + OTHERS[name] + tail
        result = imported(tmp_path, text)
        assert not result.not_understood, result.not_understood
        assert len(result.jobs) == (1 if tail == both else 2)
        run_all(tmp_path, result)


def test_axes_after_other_runs(tmp_path):
    """Frames are turned in the start: where the first job has none, or has forces along x, what
    follows is listed."""
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    first = """
pair = hoomd.md.pair.LJ(nlist=cell, default_r_cut=2.0)
pair.params[("A", "A")] = dict(epsilon=1.0, sigma=1.0)
"""
    active = ACTIVE.removeprefix(HEAD).removesuffix(TAIL)
    late = TAIL.replace("sim.run(0)", "sim.run(4)\nintegrator.forces = [other]\nsim.run(4)")
    later = late.replace("integrator.forces = [other]", """pair.params[("A", "A")] = dict(
    epsilon=2.0, sigma=1.0)
sim.run(4)
integrator.forces = [other]""")
    result = imported(tmp_path, HEAD + first + OTHERS["patch"] + late)
    assert not result.not_understood and "orientations" in result.jobs[0]
    run_all(tmp_path, result)
    for text, said in ((first + OTHERS["patch"] + later, "follows others without orientations"),
                       (active + OTHERS["patch"] + late, "an active force along x")):
        told = imported(tmp_path, HEAD + text).not_understood
        assert any(said in why for _, why in told), told


ACTIVE = HEAD + """
pair = hoomd.md.force.Active(filter=hoomd.filter.All())
pair.active_force["A"] = (2, 0, 0)
""" + TAIL


def moments_of_state(folder, moments, **data):
    plain(folder / "state.gsd", n=4, edge=8.0)
    data = {**Frame(str(folder / "state.gsd")).data, **data}
    data["particles/moment_inertia"] = np.tile(moments, (64, 1)).astype("f4")
    write(str(folder / "state.gsd"), data)


@pytest.mark.parametrize("method, moments, wanted", [
    ("Langevin(filter=hoomd.filter.All(), kT=1.5)", [0.1] * 3, ("rotational_frictions", 1.0)),
    ("Brownian(filter=hoomd.filter.All(), kT=1.5, default_gamma_r=(0.3, 0.3, 0.3))", [0.1] * 3,
     ("rotational_frictions", 0.3)),
    ("Brownian(filter=hoomd.filter.All(), kT=1.5, default_gamma_r=(0.3, 0.2, 0.4))",
     [0.1, 0, 0.1], ("rotational_frictions_of_axes", [0.3, 0, 0.4])),
    ("Brownian(filter=hoomd.filter.All(), kT=1.5)", [0.0] * 3, ("rotational_frictions", 0))])
def test_frictions_of_rotation(tmp_path, method, moments, wanted):
    """gamma_r, which is 1 where nobody says anything, about axes with a moment of inertia."""
    moments_of_state(tmp_path, moments)
    text = ACTIVE.replace("ConstantVolume(filter=hoomd.filter.All())", method)
    turning = text.replace("forces=[pair]", "forces=[pair], integrate_rotational_dof=True")
    result = imported(tmp_path, turning)
    assert not result.not_understood, result.not_understood
    integrator = result.job["stages"][0]["integrator"]
    found = {k: v["A"] for k, v in integrator.items() if k.startswith("rotational")}
    assert found == dict([wanted])
    result = imported(tmp_path, text)  # nothing turns
    assert result.job["stages"][0]["integrator"]["rotational_frictions"] == {"A": 0}
    assert result.job["orientations"]["moments_of_inertia"]["A"] == [0, 0, 0]
    with simulated(tmp_path, result) as sim:
        assert not sim.moments_of_inertia.any()


@pytest.mark.parametrize("method", ["Langevin(filter=hoomd.filter.All(), kT=1.5)",
                                    "Brownian(filter=hoomd.filter.All(), kT=1.5)",
                                    "OverdampedViscous(filter=hoomd.filter.All())"])
def test_rotation_of_a_state_that_is_not_there(tmp_path, method):
    text = ACTIVE.replace("ConstantVolume(filter=hoomd.filter.All())", method).replace(
        "forces=[pair]", "forces=[pair], integrate_rotational_dof=True")
    told = [why for _, why in imported(tmp_path, text).not_understood]
    assert "the file state.gsd is not there" in told[0] and len(told) == 2
    assert "moments of inertia of the state are not known" in told[1]
    text = HEAD + PATCH.format(name="pair", along="(0, 0, 1)") + TAIL
    told = [why for _, why in imported(tmp_path, text).not_understood]
    assert told[1:] == ["an anisotropic pair potential of types that are not known"]


@pytest.mark.parametrize("values", [{}, {"orientation": [1, 0, 0, 0]}, {
    "moment_inertia": [0.1, 0.1, 0.1]}, {"orientation": [0, 0.6, 0, 0.8]}])
@pytest.mark.parametrize("along", [None, (1, 0, 0), (0, 0.6, 0.8)])
def test_orientations_that_nobody_says(tmp_path, values, along):
    """Frames of HOOMD-blue's states are those of space where a file says nothing; axes of patches
    are then along the director itself."""
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    data = {**Frame(str(tmp_path / "state.gsd")).data, **{
        f"particles/{name}": np.tile(value, (64, 1)).astype("f4")
        for name, value in values.items()}}
    write(str(tmp_path / "state.gsd"), data)
    text = ACTIVE if along is None else HEAD + PATCH.format(name="pair", along=along) + TAIL
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    m = np.array(along or (1, 0, 0))
    w, v = np.split(np.array(values.get("orientation", [1, 0, 0, 0])), [1])
    m = m + 2 * np.cross(v, np.cross(v, m) + w * m)
    with simulated(tmp_path, result) as sim:
        w, x, y, z = sim.orientations.T
        axes = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1)
        np.testing.assert_allclose(axes, np.tile(m, (64, 1)), atol=1e-6)


def test_active_rotational_diffusion(tmp_path):
    """In two dimensions <cos> of the angle that a free particle turns by is exp(-D t), and <cos 2>
    exp(-4 D t), which gives the variance: to five standard errors of 400 particles."""
    n, d, steps, dt = 400, 1.5, 200, 0.002
    data = {"configuration/box": np.array([40.0, 40.0, 0, 0, 0, 0], "f4"),
            "configuration/dimensions": np.array([2], "u1"), "particles/N": np.array([n], "u4"),
            "particles/types": type_names(["A"]), "particles/position": np.stack(
                [*np.meshgrid(np.arange(20) * 2 - 19.0, np.arange(20) * 2 - 19.0)] + [
                    np.zeros((20, 20))], -1).reshape(-1, 3).astype("f4"),
            "particles/moment_inertia": np.tile([0, 0, 0.1], (n, 1)).astype("f4")}
    write(str(tmp_path / "state.gsd"), data)
    text = ACTIVE.replace("ConstantVolume(", "Brownian(kT=0.7, ").replace("sim.run(0)", f"""
turn = hoomd.md.update.ActiveRotationalDiffusion(1, pair, rotational_diffusion={d})
sim.operations += turn
sim.run({steps})""")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    with simulated(tmp_path, result) as sim:
        sim.run()
        q = sim.orientations
    cosine = 1 - 2 * (q[:, 2] ** 2 + q[:, 3] ** 2)
    mean = np.exp(-d * steps * dt)
    error = np.sqrt(((1 + mean ** 4) / 2 - mean ** 2) / n)
    assert np.mean(cosine) == pytest.approx(mean, abs=5 * error) and error < 0.025
    deep = text.replace("sim.run(0)", "").replace("Brownian(kT=0.7, ", "Langevin(kT=0.7, ")
    assert any("expected the method Brownian" in why
               for _, why in imported(tmp_path, deep).not_understood)


def test_dipoles_off_the_axes(tmp_path):
    """A frame along a dipole that is along no principal axis would have other moments of inertia;
    charges of dipoles are listed."""
    plain(tmp_path / "state.gsd", n=4, edge=8.0)
    data = dict(Frame(str(tmp_path / "state.gsd")).data)
    data["particles/moment_inertia"] = np.tile([0.1, 0.2, 0.3], (64, 1)).astype("f4")
    write(str(tmp_path / "state.gsd"), data)
    text = HEAD + """
pair = hoomd.md.pair.aniso.Dipole(nlist=cell, default_r_cut=3.0)
pair.params[("A", "A")] = dict(A=1.0, kappa=0.0)
pair.mu["A"] = (1, 1, 0)
""" + TAIL
    assert any("principal axes" in why for _, why in imported(tmp_path, text).not_understood)
    data["particles/charge"] = np.full(64, 0.5, "f4")
    write(str(tmp_path / "state.gsd"), data)
    assert any("have charges" in why for _, why in imported(tmp_path, text).not_understood)


def test_rigid_bodies_of_the_state(tmp_path):
    """Sites that the state has are taken out of it, and are where the job puts them."""
    rng, n = np.random.default_rng(2), 27
    sites = (np.array(list(itertools.product(range(3), repeat=3))) + 0.5) * 3 - 4.5
    q = rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    axis = directions(q)
    r = np.stack([sites, sites + 0.4 * axis, sites - 0.3 * axis], 1).reshape(-1, 3)
    data = {"configuration/box": np.array([9.0, 9.0, 9.0, 0, 0, 0], "f4"),
            "particles/N": np.array([3 * n], "u4"), "particles/types": type_names(["D", "A"]),
            "particles/typeid": np.tile([0, 1, 1], n).astype("u4"),
            "particles/body": np.repeat(3 * np.arange(n), 3).astype("i4"),
            "particles/mass": np.full(3 * n, 2.0, "f4"),
            "particles/moment_inertia": np.tile([0.3, 0.3, 0.0], (3 * n, 1)).astype("f4"),
            "particles/orientation": np.repeat(q, 3, axis=0).astype("f4"),
            "particles/position": r.astype("f4")}
    write(str(tmp_path / "state.gsd"), data)
    text = HEAD + """
rigid = hoomd.md.constrain.Rigid()
rigid.body["D"] = dict(constituent_types=["A", "A"], positions=[[0, 0, 0.4], [0, 0, -0.3]],
                       orientations=[[1, 0, 0, 0]] * 2)
cell.exclusions = ["body"]
pair = hoomd.md.pair.LJ(nlist=cell, default_r_cut=2.5)
pair.params[("A", "A")] = dict(epsilon=0.8, sigma=0.9)
pair.params[("D", ["D", "A"])] = dict(epsilon=0, sigma=1)
pair.r_cut[("D", ["D", "A"])] = 0
""" + TAIL.replace("forces=[pair]", "forces=[pair], integrate_rotational_dof=True, rigid=rigid") \
        .replace("hoomd.filter.All()", "hoomd.filter.Rigid(('center', 'free'))")
    result = imported(tmp_path, text)
    assert not result.not_understood, result.not_understood
    ends = r.reshape(n, 3, 3)[:, 1:].reshape(-1, 3)
    i, j = np.triu_indices(2 * n, 1)
    d = ends[i] - ends[j]
    length = np.linalg.norm(d - 9 * np.round(d / 9), axis=1)[i // 2 != j // 2]
    with simulated(tmp_path, result) as sim:
        assert len(sim) == 3 * n
        np.testing.assert_allclose(sim.positions[n:], (ends + 4.5) % 9 - 4.5, atol=2e-6)
        assert sim.totals.potential == pytest.approx(np.sum(lj(length[length < 2.5], 0.8, 0.9)),
                                                     rel=2e-5)
    frictions_of_bodies(tmp_path, text)
