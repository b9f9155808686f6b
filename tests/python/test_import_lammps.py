"""`perrin import lammps` of molecules, bodies and particles that look somewhere, against LAMMPS:
lammps_scripts.py, lammps_reference.py, lammps_import.json."""
import json
import os

import numpy as np
import pytest
from lammps_scripts import FOLDER_FILES, SCRIPTS, SHEAR, SHEARED

import perrin
from perrin.lammps import convert

with open(os.path.join(os.path.dirname(__file__), "lammps_import.json")) as file:
    LAMMPS = json.load(file)
ATMOSPHERE = 1.458397e-5  # kcal/mol/angstrom^3


def job_of(folder, text):
    (folder / "in.lmp").write_text(text)
    for name, content in FOLDER_FILES.items():
        if name in text:
            (folder / name).write_text(content)
    return convert(str(folder / "in.lmp"), "job", str(folder))


def simulation(folder, result):
    (folder / "job.json").write_text(result.text)
    return perrin.Simulation(str(folder / "job.json"), output_dir=str(folder / "out"),
                             device="cpu", quiet=True)


def order_of(result, sim):
    """Ids of the job by those of the script: sites of bodies are behind all others."""
    n = len(sim.positions)
    if "bodies" not in result.job:
        return np.arange(n)
    names = [sim.type_names[k] for k in sim.types]
    first = next(k for k, name in enumerate(names) if name in result.job["bodies"])
    after = first + sum(name in result.job["bodies"] for name in names)
    return np.concatenate([np.arange(after, n), np.arange(first)])


# Pressures: relative tolerance. LAMMPS's of constraints is that of a step of finite length; those
# of bodies at the start (see import.md), and of active forces are others.
# Sums over waves at the accuracy 1e-6 are 0.7e-4 from what finer ones converge to, LAMMPS's 0.3e-4.
PRESSURE = {**dict.fromkeys(["charmm/coul/long", "weights", "weights of charges", "fourier"], 2e-4),
            "shake": 1e-3, "rattle by mass": 1e-3, "rigid/small": None, "rigid": None,
            "rigid groups": None, "rigid charges": None, "propel/self": None,
            "propel/self quat": None, "charmm/coul/charmm": None}
NOT_DERIVATIVES = ["charmm/coul/charmm"]  # forces of LAMMPS
TABULATED = ["class2", "bonded", "bonded table"]  # formulas that are not compiled, to save time


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.filterwarnings("ignore:no compiler")
def test_like_lammps(tmp_path, monkeypatch, name):
    """Energies are those of LAMMPS to single precision, 3e-6 of their parts, also after the run;
    particles have moved as far, to 2e-4 of the longest way."""
    if name in TABULATED:
        monkeypatch.setenv("PERRIN_COMPILER", "none")
    result = job_of(tmp_path, SCRIPTS[name])
    assert not result.not_understood, result.not_understood
    wanted = LAMMPS[name]
    with simulation(tmp_path, result) as sim:
        order, slack = order_of(result, sim), 3e-6 * wanted["parts"]
        assert sim.totals.potential == pytest.approx(wanted["potential"], abs=slack)
        unit = ATMOSPHERE if "units real" in SCRIPTS[name] else 1
        if PRESSURE.get(name, 1e-4) is not None:
            assert sim.totals.pressure == pytest.approx(wanted["pressure"] * unit,
                                                        rel=PRESSURE.get(name, 1e-4))
        before = sim.unwrapped
        sim.run()
        if name not in NOT_DERIVATIVES:
            assert sim.totals.potential == pytest.approx(wanted["end"], abs=slack)
            moved = (sim.unwrapped - before)[order]
            np.testing.assert_allclose(moved, wanted["moved"],
                                       atol=2e-4 * np.abs(wanted["moved"]).max())


def without_lag(name, what):
    """The box of LAMMPS is behind by a step, which makes errors of the first order: what two time
    steps lead to."""
    return 2 * np.array(LAMMPS[f"{name}, half"][what]) - LAMMPS[name][what]


@pytest.mark.parametrize("name", ["sheared", "sheared bath"])
def test_shear(tmp_path, name):
    """To the tolerances above. LAMMPS's nvt/sllod without a bath (a time of 1e6) has not the motion
    of its nve: of the bath it is the change that is compared."""
    result = job_of(tmp_path, SHEARED[name])
    assert not result.not_understood, result.not_understood
    slack, end = 3e-6 * LAMMPS[name]["parts"], without_lag(name, "end")
    if name == "sheared bath":
        assert result.job["stages"][0]["integrator"]["chain"] == 1
        end += without_lag("sheared", "end") - without_lag("sheared without", "end")
    with simulation(tmp_path, result) as sim:
        assert sim.totals.potential == pytest.approx(LAMMPS[name]["potential"], abs=slack)
        before = sim.unwrapped
        sim.run()
        assert sim.totals.potential == pytest.approx(end, abs=slack)
        if name == "sheared":
            moved = without_lag(name, "moved")
            np.testing.assert_allclose(sim.unwrapped - before, moved,
                                       atol=2e-4 * np.abs(moved).max())


@pytest.mark.parametrize("change, why", [
    (("xy erate", "xy vel"), "fix deform xy: expected erate and remap v"),
    (("remap v", "remap x"), "fix deform xy: expected erate and remap v"),
    (("nve", "nvt temp 1 1 1"), "expected fix nvt/sllod, or nve"),
    (("fix 2 all deform 1 xy erate 1.0 remap v", ""), "velocity ramp without fix deform"),
    (("vx 0 3.0", "vx 0 2.0"), "velocity ramp: expected the flow of fix deform"),
    (("timestep", "run_style respa 3 2 4 bond 1 pair 2 kspace 3\ntimestep"), "take timestep/8")])
def test_shear_that_is_listed(tmp_path, change, why):
    result = job_of(tmp_path, (SHEAR % "nve").replace(*change))
    assert any(why in told for _, told in result.not_understood), result.not_understood


TILT, AXIS = "fix 2 all deform 1 xy erate 1.0 remap v\n", "fix 3 all deform 1 z erate 0.1\n"
OTHER = "fix 3 all deform 1 xz erate 0.5 remap v\n"


@pytest.mark.parametrize("first, second, why", [
    (TILT, AXIS, "beside that of a tilt"), (AXIS, TILT, "beside that of a tilt"),
    (TILT, OTHER, "a second fix deform of a tilt")])
def test_shear_beside_another_deform(tmp_path, first, second, why):
    """A stage has one: the shear that is first."""
    result = job_of(tmp_path, (SHEAR % "nve").replace(TILT, first + second))
    told = [(line.text.split()[1], said) for line, said in result.not_understood]
    assert len(told) == 1 and told[0][0] == "3" and why in told[0][1], told
    stage = result.job["stages"][0]
    assert stage["shear"] == {"rate": 1.0} and "deform" not in stage


def test_several_axes_of_deform(tmp_path):
    """Each fix has an axis of its own: all are in the stage."""
    text = (SHEAR % "nve").replace("velocity all ramp vx 0 3.0 y 0 3 sum yes\n", "").replace(
        "prism 0 3 0 3 0 3 0 0 0", "block 0 3 0 3 0 3")
    two = "fix 2 all deform 1 x scale 1.1\n" + AXIS.replace("erate 0.1", "scale 1.2")
    result = job_of(tmp_path, text.replace(TILT, two))
    assert not result.not_understood, result.not_understood
    edge = 3 * 5 ** (1 / 3)  # of three cells of four at the density 0.8
    assert result.job["stages"][0]["deform"] == {
        "remap_velocities": False, "x": pytest.approx(1.1 * edge), "z": pytest.approx(1.2 * edge)}
    result = job_of(tmp_path, text.replace(TILT, two.replace("z scale 1.2", "x scale 1.2")))
    assert any("several fixes deform" in why for _, why in result.not_understood)


@pytest.mark.parametrize("then, listed, noted", [
    ("run 10", 0, 0), ("unfix 2\nrun 10", 1, 0),
    ("unfix 2\nvelocity all create 1.0 7\nrun 10", 0, 0),
    ("velocity all create 1.0 7\nrun 10", 0, 1),
    ("fix 2 all deform 1 xy erate 0.5 remap v\nrun 10", 0, 1),
    ("unfix 2\n" + OTHER + "run 10", 0, 1),
    ("unfix 2\nrun 10\n" + TILT + "run 10\nrun 10", 1, 1)])
def test_a_flow_that_changes(tmp_path, then, listed, noted):
    """In LAMMPS velocities have the flow of the run before; those of a job are relative to that of
    the stage."""
    result = job_of(tmp_path, SHEAR % "nve" + then)
    assert sum("particles keep the velocity of the flow" in why
               for _, why in result.not_understood) == len(result.not_understood) == listed
    assert sum("relative to the flow" in why for _, why in result.changed) == noted


def test_velocities_that_are_added(tmp_path):
    """velocity set … sum yes adds; without it velocities are replaced."""
    text = SHEAR.replace("velocity all ramp vx 0 3.0 y 0 3 sum yes\n", "").replace(
        "fix 2 all deform 1 xy erate 1.0 remap v\n", "") % "nve"
    with simulation(tmp_path, job_of(tmp_path, text)) as sim:
        scale = (4 / 0.8) ** (1 / 3)  # lattice units
        np.testing.assert_allclose(sim.velocities[:54], [[0.1 * scale, 0.1 * scale, -0.2 * scale]]
                                   * 54, rtol=1e-6)
        np.testing.assert_allclose(sim.velocities[54:], -sim.velocities[:54], rtol=1e-6)


GAS = """units lj
lattice sc 0.05
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
pair_style lj/cut 1.5
pair_coeff 1 1 0.0 1.0
%s
fix 2 all gcmc %s
run 4000
"""


@pytest.mark.parametrize("words, density", [
    ("2 20 0 1 4711 2.0 -4.0 0.5", np.exp(-2.0)), ("2 10 30 1 4711 2.0 0 0.5 pressure 0.16 "
                                                   "fugacity_coeff 1.5", 0.12)])
def test_exchange_with_a_reservoir(tmp_path, words, density):
    """Without interactions: an ideal gas of the density exp(mu/kT), or fugacity/kT. The mean of N
    over n samples that are m sweeps apart is off by sqrt(N t/n), t their correlation time in
    samples: below 2 for these sweeps, and 5 times that is allowed."""
    result = job_of(tmp_path, GAS % ("", words))
    assert not result.not_understood, result.not_understood
    stage, = result.job["stages"]
    assert stage["type"] == "monte_carlo" and stage["sweeps"] == 2000
    assert stage["insertion"][0]["activity"] == pytest.approx(density, rel=1e-8)
    assert any("there is room for" in why for _, why in result.changed)
    with simulation(tmp_path, result) as sim:
        sim.run(200)
        counts = []
        for _ in range(90):
            sim.run(20)
            counts.append(int(np.count_nonzero([not sim.type_names[k].endswith("(absent)")
                                                for k in sim.types])))
        wanted = density * np.prod(sim.box.lengths if hasattr(sim.box, "lengths")
                                   else np.array(sim.box)[:3])
        assert np.mean(counts) == pytest.approx(wanted, abs=5 * np.sqrt(2 * wanted / 90))


RIGID_GAS = """units lj
atom_style bond
lattice sc 0.05
region box block 0 4 0 4 0 4
create_box 1 box
molecule two two.mol
create_atoms 0 box mol two 7
mass 1 1.0
pair_style lj/cut 1.5
pair_coeff 1 1 0.0 1.0
fix 1 all rigid/small molecule mol two
fix 2 all gcmc 1 20 %d 0 4711 2.0 -6.0 0.5 mol two rigid 1 max 140
run %d
"""


def test_exchange_of_bodies(tmp_path):
    """As above: bodies of an ideal gas have the density exp(mu/kT), too. Turns of dynamics, which
    move them freely, and sweeps."""
    result = job_of(tmp_path, RIGID_GAS % (100, 3))
    assert not result.not_understood, result.not_understood
    assert [s["type"] for s in result.job["stages"]] == ["md", "monte_carlo"] * 3
    stage = result.job["stages"][1]
    (centre,) = result.job["bodies"]
    assert result.job["reservoir"] == {centre: 76}
    assert stage["insertion"] == [{"type": centre, "trials": 20,
                                   "activity": pytest.approx(np.exp(-3.0), rel=1e-8)}]
    assert stage["molecule"] == {"displacement": 0.5, "rotation": pytest.approx(np.pi / 18),
                                 "trials": 2}
    result.job["stages"] = [{**stage, "sweeps": 1000}]
    (tmp_path / "job.json").write_text(json.dumps({**result.job, "seed": 5}))
    with perrin.Simulation(str(tmp_path / "job.json"), output_dir=str(tmp_path / "sweeps"),
                           device="cpu", quiet=True) as sim:
        sim.run(100)
        counts = []
        for _ in range(45):
            sim.run(20)
            counts.append(sum(sim.type_names[k] == centre for k in sim.types))
        wanted = np.exp(-3.0) * np.prod(sim.box.lengths)
        assert np.mean(counts) == pytest.approx(wanted, abs=5 * np.sqrt(2 * wanted / 45))
    with simulation(tmp_path, result) as sim:
        sim.run()
    charged = RIGID_GAS.replace("atom_style bond", "atom_style full") % (0, 3)
    charged = charged.replace("pair_style lj/cut 1.5", "pair_style lj/cut/coul/cut 1.5").replace(
        "mass 1 1.0", "mass 1 1.0\nset atom * charge 0.3")
    told = [why for _, why in job_of(tmp_path, charged).not_understood]
    assert "fix gcmc of molecules with charges" in told[0]


def test_exchange_beside_dynamics(tmp_path):
    """Turns of stages, of as many steps and sweeps as the run has."""
    text = GAS % ("velocity all create 2.0 1\nfix 1 all nvt temp 2.0 2.0 0.5",
                  "50 10 0 1 4711 2.0 -4.0 0.5")
    result = job_of(tmp_path, text.replace("run 4000", "run 230"))
    assert not result.not_understood, result.not_understood
    kinds = [stage["type"] for stage in result.job["stages"]]
    assert kinds == ["md", "monte_carlo"] * 4
    assert sum(s.get("steps", 0) for s in result.job["stages"]) == 230
    assert sum(s.get("sweeps", 0) for s in result.job["stages"]) == 4
    with simulation(tmp_path, result) as sim:
        sim.run()
    longer = job_of(tmp_path, text.replace("run 4000", "run 20000"))
    assert len(longer.job["stages"]) == 200
    assert sum(s.get("sweeps", 0) for s in longer.job["stages"]) == 400
    assert any("100 turns" in why for _, why in longer.changed)


def integrators_of(result):
    stage = result.job["stages"][0]
    return stage.get("integrators") or [stage["integrator"]]


@pytest.mark.parametrize("base, change, wanted", [
    ("rigid/small", ("fix 1 bound rigid/small molecule",
                     "fix 1 bound rigid/nvt/small molecule temp 1.0 2.0 0.3"),
     {"type": "nose_hoover", "temperature": 1.0, "final_temperature": 2.0, "ramp_steps": 150,
      "tau": 0.3}),
    ("rigid/small", ("fix 1 bound rigid/small molecule",
                     "fix 1 bound rigid/small molecule langevin 1.2 1.2 0.5 7"),
     {"type": "langevin", "frictions": {"4": 8.0}}),
    ("rigid/small", ("fix 2 free nve", "fix 2 free nve\nfix 3 all langevin 1.2 1.2 0.5 7"),
     {"type": "langevin", "frictions": {"4": 8.0}}),
    ("shake", ("fix 1 all nve", "fix 1 all npt temp 300 300 100 iso 1 1 1000"),
     {"type": "bussi", "temperature": 300.0}),
    ("dipole/cut", ("sphere update dipole", "sphere update dipole\n"
                    "fix 3 all langevin 1.0 1.0 2.0 7 omega yes"),
     # I = 2/5 m r^2 with the density 2 and the diameter 1; 10/3 I/damp
     {"type": "langevin", "friction": np.pi / 3 / 2.0,
      "rotational_frictions": {"1": np.pi / 3 * 0.1 * 10 / 3 / 2.0}}),
    ("dipole/cut", ("sphere update dipole", "sphere update dipole\n"
                    "fix 3 all langevin 1.0 1.0 2.0 7 scale 1 4.0 omega yes"),
     {"type": "langevin", "friction": np.pi / 3 / 8.0,
      "rotational_frictions": {"1": np.pi / 3 * 0.1 * 10 / 3 / 8.0}}),
    # a mass by diameter and density, and one that a later diameter leaves
    ("spheres", ("fix 1 all nve/sphere", "set atom 17 type 2\nfix 1 all nve/sphere\n"
                 "fix 2 all langevin 1.0 1.0 0.5 7 scale 2 4.0"),
     {"type": "langevin", "frictions": {"1": 3 * np.pi / 6 * 8 / 0.5, "2": np.pi / 6 / 2.0}}),
    ("dipole/cut", ("fix 1 all nve/sphere update dipole", "fix 1 all brownian/sphere 1.0 7 "
                    "gamma_t 3.0 gamma_r 0.7"),
     {"type": "brownian", "friction": 3.0, "rotational_friction": 0.7}),
    ("gayberne x", ("nve/asphere", "npt/asphere temp 1 1 0.5 iso 0.1 0.1 2"),
     {"type": "nose_hoover", "tau": 0.5, "barostat": {"pressure": 0.1, "tau": 2.0}}),
])
def test_baths(tmp_path, base, change, wanted):
    """What a bath becomes, and that the job runs."""
    assert change[0] in SCRIPTS[base]
    result = job_of(tmp_path, SCRIPTS[base].replace(*change))
    assert not result.not_understood, result.not_understood
    found = integrators_of(result)[0]
    for key, value in wanted.items():
        assert found[key] == (value if isinstance(value, str) else pytest.approx(value)), key
    with simulation(tmp_path, result) as sim:
        sim.run(3)


def test_frictions_along_axes(tmp_path):
    """Of ellipsoids those of the script; of rigid bodies each moment of inertia over the time."""
    made, = integrators_of(job_of(tmp_path, SCRIPTS["brownian/asphere"]))
    assert made["frictions_of_axes"] == {t: [0.5, 2.0, 3.0] for t in "12"}
    assert made["rotational_frictions_of_axes"] == {t: [0.1, 0.4, 0.7] for t in "12"}
    result = job_of(tmp_path, SCRIPTS["rigid/small"].replace(
        "rigid/small molecule", "rigid/small molecule langevin 1.2 1.2 0.5 7"))
    made = integrators_of(result)[0]
    moments = result.job["bodies"]["4"]["moments_of_inertia"]
    assert max(moments) > 1.5 * min(moments)
    assert made["rotational_frictions_of_axes"]["4"] == pytest.approx([2 * v for v in moments])
    with simulation(tmp_path, result) as sim:
        sim.run(3)


def test_weight_of_spheres(tmp_path):
    """fix gravity acts on each sphere by its own mass."""
    result = job_of(tmp_path, SCRIPTS["spheres"].replace(
        "fix 1", "set atom 17 type 2\nfix 2 all gravity 2.0 vector 0 0 -1\nfix 1"))
    assert not result.not_understood, result.not_understood
    weights = {f["types"][0]: f["force"][2] for f in result.job["forces"]
               if f["type"] == "constant_force"}
    assert weights == pytest.approx({"1": -2 * 4 * np.pi, "2": -2 * np.pi / 6})


def test_types_of_which_one_turns(tmp_path):
    result = job_of(tmp_path, SCRIPTS["propel/self quat"].replace(
        "fix 1 all nve/asphere", "group a type 1\ngroup b type 2\nfix 1 a nve/asphere\n"
        "fix 9 b nve"))
    assert not result.not_understood, result.not_understood
    assert result.job["orientations"]["moments_of_inertia"] == {"2": [0, 0, 0]}
    with simulation(tmp_path, result) as sim:
        before, kinds = sim.orientations.copy(), np.array(sim.types)
        sim.run(20)
        turned = np.abs(sim.orientations - before).max(axis=1) > 0
        names = np.array(sim.type_names)[kinds]
        assert turned[names == "1"].any() and not turned[names == "2"].any()


BODIES = """units lj
atom_style %s
region box block 0 8 0 8 0 8
create_box 2 box
create_atoms 1 single 2 2 2
create_atoms 2 single 3 2 2
create_atoms 1 single 5 5 5
create_atoms 2 single 5 6 5
mass * 1.0
%s
pair_style lj/cut/coul/cut 2.5
pair_coeff * * 1.0 1.0
group one id 1:2
group two id 3:4
fix 1 all rigid group 2 one two
run 5
"""


def test_charges_of_bodies_that_the_script_makes(tmp_path):
    result = job_of(tmp_path, BODIES % ("full", "set type 1 charge 0.5\nset type 2 charge -0.25"))
    assert not result.not_understood, result.not_understood
    assert result.job["attributes"]["charge"]["types"] == {"1": 0.5, "2": -0.25}
    with simulation(tmp_path, result) as sim:
        sim.run()
    told = job_of(tmp_path, BODIES % ("sphere", "")).not_understood
    assert any("rigid bodies of spheres" in why for _, why in told), told


def test_particles_that_do_not_turn(tmp_path):
    """fix nve moves dipoles and turns none."""
    result = job_of(tmp_path, SCRIPTS["dipole/cut"].replace("nve/sphere update dipole", "nve"))
    assert result.job["orientations"]["moments_of_inertia"] == {"1": [0, 0, 0]}
    with simulation(tmp_path, result) as sim:
        before = sim.orientations.copy()
        sim.run(20)
        np.testing.assert_array_equal(sim.orientations, before)


def test_minimisation_before_constraints(tmp_path):
    """A job has constraints in all of its stages, and none in a minimisation: another job."""
    text = SCRIPTS["shake"].replace("run 20", "minimize 0 0.5 40 100\nrun 20")
    result = job_of(tmp_path, text)
    assert not result.not_understood and len(result.jobs) == 2
    assert "constraints" not in result.jobs[0] and "constraints" in result.jobs[1]
    assert any(f["type"] == "bond_harmonic" for f in result.jobs[0]["forces"])
    assert not any(f["type"] == "bond_harmonic" for f in result.jobs[1]["forces"])
    for part, text in enumerate(result.texts):
        name = f"job-{part}.json"
        (tmp_path / name).write_text(text)
        perrin.run(str(tmp_path / name), output_dir=str(tmp_path / ("out-2" if part else "out")),
                   quiet=True, device="cpu")


def test_directions_go_on_in_another_job(tmp_path):
    """Other forces after a run: the second job begins with the frames of the first."""
    text = SCRIPTS["gayberne x"] + "pair_coeff 1 1 1.0 1.0 0.4 1 1 0.4 1 1\nrun 3\n"
    result = job_of(tmp_path, text)
    assert not result.not_understood and len(result.jobs) == 2
    ends = []
    for part, text in enumerate(result.texts):
        (tmp_path / f"job-{part}.json").write_text(text)
        with perrin.Simulation(str(tmp_path / f"job-{part}.json"), device="cpu", quiet=True,
                               output_dir=str(tmp_path / ("out-2" if part else "out"))) as sim:
            ends.append((sim.orientations.copy(), sim.angular_momenta.copy()))
            sim.run()
            ends.append((sim.orientations.copy(), sim.angular_momenta.copy()))
            inertia = sim.moments_of_inertia
            assert inertia[0] == pytest.approx([1.3 / 20 * 2, 1.3 / 20 * 10, 1.3 / 20 * 10])
    assert np.abs(ends[1][1]).max() > 1e-4
    np.testing.assert_allclose(ends[2][0], ends[1][0], atol=1e-6)
    np.testing.assert_allclose(ends[2][1], ends[1][1], atol=1e-6)


@pytest.mark.parametrize("name, change, said", [
    ("shake", ("b 1 a 1", "b 1 a 1 mol water"), "fix shake … mol"),
    ("shake", ("bond_style harmonic", "bond_style class2"), "whose value at rest is not known"),
    ("shake", ("fix 2 all", "group few id 1:2\nfix 2 few"), "a part of the bonds of type 1"),
    ("rigid", ("rigid/nve molecule", "rigid molecule force * off on on"), "the keyword force"),
    ("rigid", ("rigid/nve molecule", "rigid custom i_body"), "expected single, molecule or group"),
    ("rigid", ("neigh_modify exclude molecule/intra bound", "group few id 82:90\n"
               "neigh_modify exclude group few few"), "pairs of particles that have no energy"),
    ("rigid", ("run 150", "run 10\nunfix 1\nrun 10"), "rigid bodies that end"),
    ("bonds", ("iparam 1 1", "iparam 1 2"), "changes types"),
    ("bonds", ("iparam 1 1", "iparam 1 1 dtype 1"), "the keyword dtype"),
    ("bonds", ("bond/break 5", "bond/break 10"), "different numbers of steps"),
    ("bonds", ("fix 3 all", "group few id 1:20\nfix 3 few"), "a part of the particles"),
    ("gayberne x", ("pair_coeff 1 2 0", "pair_coeff 1 2 1.0"), "between the types 1 and 2"),
    ("gayberne x", ("set type 1 mass 1.3 shape 3 1 1", "set type 1 mass 1.3 shape 3 2 1"),
     "ellipsoids of one shape"),
    ("dipole/cut", ("read_data dipoles.data", "read_data dipoles.data\nset atom 3 charge 0.5"),
     "charges beside dipoles"),
    ("dipole/cut", ("read_data dipoles.data", "read_data dipoles.data\nset atom 3 dipole 0 0 2"),
     "different magnitudes"),
    ("propel/self", ("dipole 7.0", "velocity 7.0"), "a force along the velocity"),
    ("propel/self quat", ("quat 5.0", "quat 5.0 qvector 0 1 0"), "expected the direction 1 0 0"),
    ("charmm implicit", ("3 180 0", "3 180 1.0"), "which go as 1/r^2"),
    ("charmm/coul/long", ("112 0 0", "112 20 2.3"), "springs between the ends of angles"),
    ("charmm/coul/long", ("improper_coeff 1 12 0", "improper_coeff 1 12 35"),
     "angle that is not 0"),
    ("class2", ("bb 0", "bb 15"), "the term bb of class2, between two bonds, of angles of the "
     "types 1"),
    ("class2", ("improper_coeff 1 0 0", "improper_coeff 1 2 0"), "improper_style class2"),
    ("lj96 and tail", ("lj96/cut 2.0", "born 2.0\npair_coeff * * 1 1 1 1 0"), "(tail) of"),
    ("weights", ("lj/coul 0 0 0.5", "lj/coul 0 0.2 0.5"), "expected 0 for pairs one and two"),
    ("gromacs", ("special_bonds lj/coul 0 0 1", "special_bonds lj 0 0 0 coul 0 0 0.5"),
     "the weight 0.5 of charges"),
    ("spheres", ("fix 1 all nve/sphere", "fix 1 all nve/sphere\nfix 2 all langevin 1 1 1 7"),
     "particles of the type 1 with different masses"),
    ("dipole/cut", ("fix 1 all nve/sphere update dipole", "group a id 1:60\ngroup b id 61:125\n"
                    "fix 1 a nve/sphere update dipole\nfix 9 b nve/sphere"),
     "that one fix turns and another does not"),
    ("gayberne y", ("nve/asphere", "brownian/asphere 1.0 7 gamma_t_eigen 1 2 2 gamma_r_eigen 1 2 "
                    "2"), "acts along axes of frames"),
])
def test_what_is_listed(tmp_path, name, change, said):
    assert change[0] in SCRIPTS[name]
    told = job_of(tmp_path, SCRIPTS[name].replace(*change)).not_understood
    assert any(said in why for _, why in told), [why for _, why in told]


def test_styles_that_no_particle_has(tmp_path):
    """Force fields come whole: what they say of types that are not there is no matter."""
    text = SCRIPTS["bonded"].replace("styles.data", "styles.data extra/atom/types 1 "
                                     "extra/angle/types 1").replace(
        "hybrid quartic", "hybrid dipole quartic").replace(
        "pair_style lj/cut 5.5\npair_coeff 1 1",
        "pair_style hybrid/overlay sw threebody off lj/cut 5.5\npair_coeff * 2 sw 1.0\n"
        "pair_coeff 1 1 lj/cut")
    assert not job_of(tmp_path, (text + "run 5").replace(
        "fix 1", "angle_coeff 6 dipole 1 2\npair_coeff 2 2 lj/cut 1 1\nfix 1")).not_understood
    said = [why for _, why in job_of(tmp_path, text.replace("5 fourier/simple 20 1.0", "5 dipole 1")
                                     .replace("* 2 sw", "* * sw")).not_understood]
    assert [why.split(":")[0] for why in said] == ["pair_style sw", "angle_style dipole"]


@pytest.mark.parametrize("mixed", [False, True])
def test_class2_of_a_data_file(tmp_path, mixed):
    """Terms of class2 have sections of their own there."""
    word = "class2 " if mixed else ""
    (tmp_path / "own.data").write_text(FOLDER_FILES["chains.data"] + (
        "\nAngle Coeffs\n\n1 @112 40 -12 5\n\nBondBond Coeffs\n\n1 @15 1.45 1.45\n"
        "\nBondAngle Coeffs\n\n1 @0 0 1.45 1.45\n").replace("@", word))
    style = "angle_style hybrid class2\n"
    text = SCRIPTS["class2"].replace("chains.data", "own.data")
    text = "\n".join(line for line in text.split("\n") if not line.startswith("angle_"))
    result = job_of(tmp_path, (style if mixed else style.replace("hybrid ", "")) + text)
    assert [why[:40] for _, why in result.not_understood] == [
        "the term bb of class2, between two bonds"]
    angle, = (f for f in result.job["forces"] if f["type"] == "angle_formula")
    assert angle["angles"]["1"] == {"t0": pytest.approx(np.radians(112)), "K2": 40, "K3": -12,
                                    "K4": 5}


@pytest.mark.parametrize("words, said", [
    ("10 5 0 0 4711 2.0 -4.0 0.5 mol water", "fix gcmc of molecules"),
    ("10 5 0 0 4711 2.0 -4.0 0.5", "fix gcmc of molecules"),
    ("10 5 5 1 4711 2.0 -4.0 0.5 mcmoves 1 1 0", "moves of molecules"),
    ("10 5 5 1 4711 2.0 -4.0 0.5 region box", "the keyword region"),
    ("10 5 5 1 4711 2.0 -4.0 0.5 group some", "with group, or tfac_insert"),
    ("10 5 5 1 4711 2.0 -4.0 0.5 tfac_insert 1.7", "with group, or tfac_insert")])
def test_what_is_listed_of_gcmc(tmp_path, words, said):
    told = job_of(tmp_path, GAS % ("", words)).not_understood
    assert any(said in why for _, why in told), [why for _, why in told]


def test_exchange_of_a_group(tmp_path):
    """A group by type is all that a job exchanges; one of some particles is listed."""
    text = GAS % ("group gas type 1\ngroup few id 1:2", "10 5 5 1 4711 2.0 -4.0 0.5")
    assert not job_of(tmp_path, text.replace("2 all gcmc", "2 gas gcmc")).not_understood
    told = job_of(tmp_path, text.replace("2 all gcmc", "2 few gcmc")).not_understood
    assert any("fix gcmc of the group few" in why for _, why in told), told
