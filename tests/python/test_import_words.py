"""`perrin import lammps`: words of commands that scripts of users have, against LAMMPS's manual
and, where a number says so, LAMMPS 22 Jul 2025. Nothing is run."""
import math

import numpy as np
import pytest
from lammps_fields import LIQUID
from test_import_lammps import job_of, simulation
from test_import_script import members

LENGTH = 4 * (4 / 0.8) ** (1 / 3)  # of LIQUID's box


def liquid(lines):
    return LIQUID % ("p p p", lines)


def told(result):
    return [why for _, why in result.not_understood]


@pytest.mark.parametrize("words, ids", [
    ("id 1:9:4 20 30:31", {0, 4, 8, 19, 29, 30}), ("id < 4", {0, 1, 2}), ("id <= 2", {0, 1}),
    ("id <> 3 5", {2, 3, 4}), ("id == 7", {6}), ("id != 7", {*range(6), *range(7, 256)}),
    ("id > 254", {254, 255}), ("type 2", set(range(90))), ("type > 1", set(range(90))),
    ("type 1:2:1", set(range(256))), ("type 2*", set(range(90)))])
def test_groups_by_number(tmp_path, words, ids):
    text = liquid(f"group g {words}\nfix 2 g addforce 1 0 0").replace("1 region inner", "1 box")
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    made = result.job["groups"]["g"]
    found = members(result, "g") if "ids" in made else {
        k for t in made["types"] for k in (range(90) if t == "2" else range(90, 256))}
    assert found == ids


def test_groups_of_no_numbers(tmp_path):
    assert "expected numbers" in told(job_of(tmp_path, liquid("group g id seven")))[0]


@pytest.mark.parametrize("words, count", [("type/ratio 2 0.25", 64), ("type/subset 2 31", 31)])
def test_so_many_of_a_type(tmp_path, words, count):
    text = liquid("").replace("set atom 1*90 type 2", f"set type 1 {words} 77").replace(
        "1 region inner", "1 box")
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    rows = (tmp_path / "job.data").read_text().split("Atoms")[1].split("Velocities")[0]
    kinds = [line.split()[1] for line in rows.splitlines()[2:] if line.strip()]
    assert kinds.count("2") == count


def test_sites_of_the_basis(tmp_path):
    """Caesium chloride: the second place of each cell has another type."""
    text = liquid("").replace("lattice fcc", "lattice bcc").replace(
        "1 region inner", "1 box basis 2 2").replace("set atom 1*90 type 2", "")
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    rows = (tmp_path / "job.data").read_text().split("Atoms")[1].split("Velocities")[0]
    table = np.array([line.split()[1:5] for line in rows.splitlines()[2:] if line.strip()], float)
    cell = (2 / 0.8) ** (1 / 3)
    place = (table[:, 1:] - 0.2 * cell) / cell - np.where(table[:, :1] == 2, 0.5, 0)
    assert len(table) == 128 and np.abs(place - place.round()).max() < 1e-6
    assert "with basis" in told(job_of(tmp_path, text.replace("1 box basis", "1 single 0 0 0 "
                                                              "basis")))[0]


CHARGED = """units lj
atom_style charge
lattice sc 0.1
region box block 0 6 0 6 0 6
create_box 3 box
create_atoms 1 box
set atom 1*70 type 2
set atom 190*216 type 3
mass * 1
set type 1 charge 1
set type 2 charge -1
pair_style %s
%s
fix 1 all nve
run 1
"""
COUL = "hybrid lj/cut/coul/cut 4 buck/coul/cut 4"


def test_charges_of_a_hybrid(tmp_path):
    """Two styles with charges are one force: the energies of both were added."""
    coefficients = "pair_coeff * * lj/cut/coul/cut 1 1\npair_coeff 1 2 buck/coul/cut 9 0.3 1"
    result = job_of(tmp_path, CHARGED % (COUL, coefficients))
    assert not result.not_understood, result.not_understood
    kinds = [force["type"] for force in result.job["forces"]]
    assert kinds.count("coulomb") == 1 and "buckingham" in kinds


@pytest.mark.parametrize("style, coefficients, why", [
    (COUL.replace("buck/coul/cut 4", "buck/coul/cut 5"),
     "pair_coeff * * lj/cut/coul/cut 1 1\npair_coeff 1 2 buck/coul/cut 9 0.3 1", "other settings"),
    ("hybrid lj/cut/coul/cut 4 morse 2",
     "pair_coeff * * lj/cut/coul/cut 1 1\npair_coeff 1 2 morse 1 2 1", "the types 1 and 2"),
    ("hybrid/overlay coul/cut 4 lj/cut/coul/cut 4",
     "pair_coeff * * coul/cut\npair_coeff * * lj/cut/coul/cut 1 1", "the same pair of types")])
def test_charges_that_a_job_cannot_have(tmp_path, style, coefficients, why):
    assert why in told(job_of(tmp_path, CHARGED % (style, coefficients)))[0]


def test_uncharged_types_of_a_hybrid(tmp_path):
    """Pairs without charges need no style with charges."""
    result = job_of(tmp_path, CHARGED % (
        "hybrid lj/cut/coul/cut 4 morse 2", "pair_coeff *2 *2 lj/cut/coul/cut 1 1\n"
        "pair_coeff * 3 morse 1 2 1"))
    assert not result.not_understood, result.not_understood


LONG = "lj/cut/coul/long 2\nkspace_style ewald 1e-5"


def test_charges_that_are_not_neutral(tmp_path):
    """LAMMPS adds a uniform background; Perrin refused the job."""
    text = CHARGED % (LONG, "pair_coeff * * 1 1")
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    assert result.job["forces"][0]["net_charge"] == "background"
    assert any("uniform charge" in why for _, why in result.changed)
    even = job_of(tmp_path, text.replace("1*70 type 2", "1*95 type 2").replace(
        "set type 2 charge -1", "set type 2 charge -1\nset atom 190 charge 1"))
    assert sum("net_charge" in force for force in even.job["forces"]) == 0
    flat = job_of(tmp_path, text.replace("units lj", "units lj\nboundary p p f").replace(
        "1e-5", "1e-5\nkspace_modify slab 3.0"))
    assert "do not add up to 0" in told(flat)[0]


def test_deform_beside_a_barostat(tmp_path):
    """Perrin refused the job of which the importer had said that every line was in it."""
    result = job_of(tmp_path, liquid("unfix 1\nfix 1 all npt temp 1 1 1 y 0 0 5 z 0 0 5\n"
                                     "fix 2 all deform 1 x erate 0.1"))
    assert told(result) == ["fix deform beside the barostat of fix npt: one of them moves the box "
                            "of a job"]
    assert "deform" not in result.job["stages"][0]


@pytest.mark.parametrize("rule, name", [("geometric", "geometric"),
                                        ("arithmetic", "lorentz_berthelot")])
def test_many_types(tmp_path, monkeypatch, rule, name):
    """Pairs that the rule of LAMMPS gives are left to the rule of the job: the same energy."""
    text = liquid(f"pair_modify mix {rule}\npair_coeff 3 5 0.7 1.02\n" + "".join(
        f"pair_coeff {t} {t} {0.5 + 0.02 * t} {0.9 + 0.004 * t}\n" for t in range(1, 47)) + "".join(
        f"set atom {t} type {t}\n" for t in range(1, 47)) + "mass * 1.0").replace(
        "create_box 2 ", "create_box 46 ")
    text = "\n".join(line for line in text.split("\n") if line[:14] not in (
        "pair_coeff * *", "pair_coeff 1 2"))
    energies, jobs = [], []
    for many in (1000, 10000):
        monkeypatch.setattr("perrin.lammps.mixing.MANY", many)
        folder = tmp_path / str(many)
        folder.mkdir()
        result = job_of(folder, text)
        assert not result.not_understood, result.not_understood
        jobs.append(result.job["forces"][0])
        with simulation(folder, result) as sim:
            energies.append(sim.totals.potential)
    assert len(jobs[0]["pairs"]) == 47 and jobs[0]["mixing"] == name
    assert len(jobs[1]["pairs"]) == 46 * 47 // 2 and "mixing" not in jobs[1]
    assert energies[0] == pytest.approx(energies[1], rel=1e-7)


def of_types(first, second, types):
    """The liquid with two of so many types, which a force field of all types comes with."""
    text = liquid(f"pair_coeff {first} {second} 0.8 1.05\nset type {first} charge 0.2\n"
                  f"set type {second} charge -0.3\ngroup g type {second} 3\n"
                  "fix 2 g addforce 0.1 0 0\nfix 3 all langevin 1 1 1 7")
    for old, new in {"create_box 2 ": f"create_box {types} ", "mass 1": "mass *",
                     "mass 2": f"mass {second}", "create_atoms 1": f"create_atoms {first}",
                     "90 type 2": f"90 type {second}",
                     "pair_coeff 1 1": f"pair_coeff * * 0.5 0.9\npair_coeff {first} {first}",
                     "pair_coeff 2 2": f"pair_coeff {second} {second}"}.items():
        text = text.replace(old, new, 1)
    return text


def test_more_types_than_a_job_has(tmp_path):
    """A job has the types that particles have, by their names in the script."""
    energies, jobs = [], []
    for first, second, types in ((1, 2, 2), (7, 399, 400)):
        folder = tmp_path / str(types)
        folder.mkdir()
        result = job_of(folder, of_types(first, second, types))
        assert not result.not_understood, result.not_understood
        jobs.append(result.job)
        with pytest.warns(match="no force acts on them"), simulation(folder, result) as sim:
            energies.append((sim.totals.potential, sim.totals.kinetic))
            assert sorted(sim.type_names) == sorted((str(first), str(second)))
            assert sorted(set(sim.masses.tolist())) == pytest.approx([1, 1.7])
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)
    assert jobs[1]["groups"]["g"]["types"] == ["399"]
    assert jobs[1]["stages"][0]["integrator"]["frictions"] == {"7": 1.0, "399": 1.7}
    assert [pair["types"] for pair in jobs[1]["forces"][0]["pairs"]] == [
        ["7", "7"], ["7", "399"], ["399", "399"]]


@pytest.mark.parametrize("style", ["lj/charmm/coul/charmm 2.0 2.5", "soft 2.5", "lj/class2 2.5",
                                   "lj/gromacs/coul/gromacs 2.0 2.5", "lj/cubic 2.5"])
def test_pairs_of_types_that_nobody_has(tmp_path, style):
    result = job_of(tmp_path, of_types(7, 399, 400).replace("lj/cut 2.5", style))
    assert not result.not_understood, result.not_understood
    for force in result.job["forces"]:
        for pair in force.get("pairs", ()):
            assert {*pair["types"]} <= {"7", "399"}


@pytest.mark.parametrize("bath, kind", [
    ("langevin 2.0 1.0 0.5 7", {"type": "langevin", "frictions": {"1": 2.0, "2": 3.4}}),
    ("temp/csvr 2.0 1.0 0.5 7", {"type": "bussi", "tau": 0.5})])
def test_nph_beside_a_thermostat(tmp_path, bath, kind):
    """Together they keep pressure and temperature; axes without a pressure keep their lengths."""
    text = "unfix 1\nfix 2 all nph x 0.5 0.5 5 y 0.5 0.5 5 couple %s\n"
    result = job_of(tmp_path, liquid(text % "xy" + "fix 1 all " + bath))
    assert not result.not_understood, result.not_understood
    assert any("stochastic cell rescaling" in why for _, why in result.changed)
    made = result.job["stages"][0]["integrator"]
    assert made.pop("barostat") == {"pressure": 0.5, "tau": 5.0, "axes": "xy"}
    made.pop("timestep")
    assert made == {**kind, "temperature": 2.0, "final_temperature": 1.0, "ramp_steps": 40}
    for words, why in ((text % "xy", "no temperature"),
                       (text % "xz" + "fix 1 all " + bath, "couple of others"),
                       (text % "xy" + "fix 1 all viscous 1.0", "a temperature above 0")):
        said = told(job_of(tmp_path, liquid(words)))
        assert any(why in line for line in said), said


@pytest.mark.parametrize("words, form, wide, note", [
    ("x trate 5 y volume z volume", "exponential", math.exp(0.4), False),
    ("x erate 5 y volume z volume", None, 1.4, True), ("x erate 5 y volume", None, 1.4, True),
    ("x trate 5 y trate -5", "exponential", math.exp(0.4), False)])
def test_deform_of_one_volume(tmp_path, words, form, wide, note):
    """The run is 40 steps of 0.002. LAMMPS has these edges, to 10⁻⁷."""
    result = job_of(tmp_path, liquid(f"fix 2 all deform 1 {words}"))
    assert not result.not_understood, result.not_understood
    deform = result.job["stages"][0]["deform"]
    axes = [k for k in "xyz" if k in words]
    across = wide ** (-1 / (len(axes) - 1))
    assert [deform[k] for k in axes] == pytest.approx(
        [LENGTH * wide] + [LENGTH * across] * (len(axes) - 1))
    assert deform.get("form") == form
    assert any("differs on the way by up to" in why for _, why in result.changed) == note


def test_deform_of_two_forms(tmp_path):
    assert told(job_of(tmp_path, liquid("fix 2 all deform 1 x trate 1 y erate 1"))) == [
        "fix deform of an axis by trate beside others: a stage has one form"]
    assert "an axis that changes" in told(job_of(tmp_path, liquid(
        "fix 2 all deform 1 x volume")))[0]


def test_limited_moves(tmp_path):
    """fix nve/limit takes overlaps away, which a minimisation does; the runs that follow were left
    out where a thermostat stood beside it."""
    result = job_of(tmp_path, liquid(
        "unfix 1\nfix 1 all nve/limit 0.05\nfix 2 all langevin 1 1 1 7\nrun 30\nunfix 1\n"
        "fix 1 all nve"))
    assert not result.not_understood, result.not_understood
    first, second = (stage["integrator"] for stage in result.job["stages"])
    assert (first["type"], first["maximum_move"]) == ("fire", 0.05)
    assert second["type"] == "langevin"
    assert any("nve/limit became a minimisation" in why for _, why in result.changed)
    part = job_of(tmp_path, liquid("unfix 1\nfix 1 few nve/limit 0.05"))
    assert [i["type"] for i in part.job["stages"][0]["integrators"]] == ["fire", "frozen"]
    two = job_of(tmp_path, liquid("unfix 1\ngroup others subtract all few\n"
                                  "fix 1 few nve/limit 0.05\nfix 2 others nve"))
    assert "beside other fixes that move" in told(two)[0]


def test_text_that_a_fix_prints(tmp_path):
    """It is evaluated at each step in LAMMPS, and nothing of a run depends on it."""
    result = job_of(tmp_path, liquid('fix 2 all print 10 "$(step) $(pe) ${later}" file a.txt'))
    assert not result.not_understood, result.not_understood
