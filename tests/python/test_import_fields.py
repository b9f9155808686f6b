"""`perrin import lammps` of fields, copies, exclusions, exchange by trials and output, against
LAMMPS (lammps_fields.py, lammps_import.json) and theory."""
import math

import numpy as np
import pytest
from lammps_fields import CHAINS, EVERY, FIELDS, FIVE_IN_A_ROW, IN_PARTS, LIQUID
from test_import_lammps import LAMMPS, job_of, order_of, simulation

import perrin


@pytest.mark.parametrize("name", FIELDS)
def test_like_lammps(tmp_path, name):
    """To the tolerances of test_import_lammps.py: energies to 3e-6 of their parts (those of fields
    are beside them), before and after the run; ways to 2e-4 of the longest."""
    result = job_of(tmp_path, FIELDS[name])
    assert not result.not_understood, result.not_understood
    wanted = LAMMPS[name]
    with simulation(tmp_path, result) as sim:
        order = order_of(result, sim)
        # Terms of a pair of colloids are up to its A, 1 to 5, and cancel each other.
        parts = 5 if "colloids" in name else wanted["parts"]
        slack = 3e-6 * (parts + abs(wanted["potential"]))
        assert sim.totals.potential == pytest.approx(wanted["potential"], abs=slack)
        before = sim.unwrapped
        sim.run()
        assert sim.totals.potential == pytest.approx(wanted["end"], abs=slack)
        moved = (sim.unwrapped - before)[order][::EVERY]
        np.testing.assert_allclose(moved, wanted["moved"],
                                   atol=2e-4 * np.abs(wanted["moved"]).max())


@pytest.mark.parametrize("name", IN_PARTS)
def test_fields_that_change(tmp_path, name):
    """A field that comes or goes after a run begins another job, to the same tolerances."""
    result = job_of(tmp_path, IN_PARTS[name])
    assert not result.not_understood, result.not_understood
    wanted = LAMMPS[name]
    assert len(result.texts) == 2
    (tmp_path / "job.json").write_text(result.texts[0])
    perrin.run(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"), quiet=True,
               device="cpu")
    (tmp_path / "job-2.json").write_text(result.texts[1])
    with perrin.Simulation(str(tmp_path / "job-2.json"), output_dir=str(tmp_path / "out-2"),
                           device="cpu", quiet=True) as sim:
        slack = 3e-6 * (wanted["parts"] + abs(wanted["potential"]))
        assert sim.totals.potential == pytest.approx(wanted["potential"], abs=slack)
        before = sim.unwrapped
        sim.run()
        assert sim.totals.potential == pytest.approx(wanted["end"], abs=slack)
        np.testing.assert_allclose((sim.unwrapped - before)[::EVERY], wanted["moved"],
                                   atol=2e-4 * np.abs(wanted["moved"]).max())


BATH = LIQUID % ("p p p", "%s\nfix 2 all langevin v_T 1.0 0.5 7")


@pytest.mark.parametrize("variable, wanted", [
    ("variable T equal ramp(1.0,3.0)", {"temperature": 1, "final_temperature": 3,
                                        "ramp_steps": 40}),
    ("variable T equal 0.5+0.02*step", {"temperature": 0.5, "final_temperature": 1.3,
                                        "ramp_steps": 40}),
    ("variable a equal 0.1*elapsed\nvariable T equal 2*v_a+1",
     {"temperature": 1, "final_temperature": 9, "ramp_steps": 40}),
    ("variable k equal 3\nvariable T equal v_k/2", {"temperature": 1.5}),
    ("variable T string 0.7", {"temperature": 0.7})])
def test_temperatures_by_variables(tmp_path, variable, wanted):
    """A variable has its value of every step, and the second number of langevin means nothing."""
    result = job_of(tmp_path, BATH % variable)
    assert not result.not_understood, result.not_understood
    made = result.job["stages"][0]["integrator"]
    found = {k: made[k] for k in ("temperature", "final_temperature", "ramp_steps") if k in made}
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize("variable", ["equal 1+floor(step/10)", "equal 1+0.5*sin(0.1*step)",
                                      "equal 1+0.01*step^2"])
def test_temperatures_that_are_listed(tmp_path, variable):
    told = job_of(tmp_path, BATH % f"variable T {variable}").not_understood
    assert told[0][1] == "v_T, which changes with the step and not linearly"


def test_temperature_of_the_second_run(tmp_path):
    """The step goes on; that of reset_timestep begins anew."""
    text = BATH % "variable T equal 0.5+0.02*step"
    result = job_of(tmp_path, text + "run 10\nreset_timestep 5\nrun 10\nrun 30 upto\n")
    assert not result.not_understood, result.not_understood
    told = [(s["steps"], s["integrator"]["temperature"], s["integrator"]["final_temperature"])
            for s in result.job["stages"]]
    np.testing.assert_allclose(told, [(40, 0.5, 1.3), (10, 1.3, 1.5), (10, 0.6, 0.8),
                                      (15, 0.8, 1.1)])


@pytest.mark.parametrize("lines, said", [
    ("variable f equal 0.1*step\nfix 2 all addforce v_f 0 0", "v_f, which changes with the step"),
    ("variable f equal v_g+1\nvariable g equal 2*v_f\nfix 2 all addforce v_f 0 0",
     "the variable f, which is made of itself"),
    ("variable f equal ramp(1,2)\nfix 2 all spring/self v_f", "v_f, which changes with the step"),
    ("variable x equal 2+sin(step)\nfix 2 all indent 9 sphere v_x 0 0 1",
     "v_x, which changes with the step and not linearly"),
    ("variable x equal 2+step*dt\nfix 2 all indent 9 sphere v_x 0 0 1", "moves along x"),
    ("variable x equal 1+step*dt\nfix 2 all indent 9 sphere 1 1 v_x 1\ntimestep 0.003",
     "with another time step"),
    ("variable x equal 1+step*dt\nfix 2 all indent 9 sphere 1 1 v_x 1\nminimize 0 1 5 5",
     "in a minimisation"),
    ("variable R equal 2+step*dt\nfix 2 all indent 9 sphere 1 1 1 v_R", "v_R, which changes"),
    ("fix 2 all indent 9 sphere 1 1 1 1\nfix 3 all deform 1 x scale 1.1", "whose edges change"),
    ("fix 2 all indent 9 plane x 1 lo", "plane across x, which is periodic"),
    ("fix 2 all indent 9 cone z 0 0 1 2 0 1", "fix indent cone"),
    ("fix 2 all gravity 1 gradient 1 2 3", "fix gravity gradient"),
    ("fix 2 all aveforce 0 0 0", "fix aveforce"),
    ("neigh_modify exclude group few few", "pairs of particles that have no energy"),
    ("pair_modify tail yes\nneigh_modify exclude type 1 1", "beside the force lennard_jones"),
    ("replicate 2 0 1", "replicate: expected whole numbers"),
    ("replicate 2 1 1 bond/periodic", "replicate with bond/periodic")])
def test_what_is_listed(tmp_path, lines, said):
    told = job_of(tmp_path, LIQUID % ("p p f", lines)).not_understood
    assert any(said in why for _, why in told), [why for _, why in told]


LAYERS = """units lj
boundary p p f
region box block 0 6 0 6 -1 5
create_box 2 box
lattice sc 0.25
region low block 0 6 0 6 -0.1 0.1 units box
region high block 0 6 0 6 1.5 2.5 units box
create_atoms 1 region low
create_atoms 1 region high
set atom 1*6 type 2
mass 1 1.0
mass 2 4.0
pair_style lj/cut 1.0
pair_coeff * * 0.0 1.0
fix 2 all gravity 0.4 vector 0 0 -1
fix 3 all atom/swap 5 9 4711 2.0 ke no types 1 2
run 20000
"""


def test_exchange_of_places(tmp_path):
    """Two layers of n sites, m heavy particles among 2 n: the number k of those in the upper one
    has the weight C(n, k) C(n, m - k) exp(-k dM g h/T). The mean is within five standard errors:
    those of independent samples, with as many of them as the correlation time of k leaves."""
    result = job_of(tmp_path, LAYERS)
    assert not result.not_understood, result.not_understood
    stage, = result.job["stages"]
    assert stage["type"] == "monte_carlo" and stage["sweeps"] == 4000
    result.texts[0] = result.text.replace('"system"', '"seed": 4711,\n  "system"', 1)
    with simulation(tmp_path, result) as sim:
        kinds = np.array(sim.type_names)[sim.types]
        height = sim.positions[:, 2].copy()
        high = height > height.mean()
        n, m, h = int(high.sum()), int((kinds == "2").sum()), np.ptp(height)
        assert n == len(high) - n
        assert stage["swap"]["trials"] * 2 * n == pytest.approx(9)
        k = np.arange(m + 1)
        weight = np.array([math.comb(n, i) * math.comb(n, m - i) for i in k]) * np.exp(
            -k * 3.0 * 0.4 * h / 2.0)
        mean, square = (np.sum(k ** p * weight) / weight.sum() for p in (1, 2))
        sim.run(100)
        counts = []
        for _ in range(390):
            sim.run(10)
            up = sim.positions[:, 2] > height.mean()
            assert up.sum() == n
            counts.append((up & (kinds == "2")).sum())
        apart = max(2 * perrin.autocorrelation_time(counts), 1)  # samples
        assert apart < 20
        assert np.mean(counts) == pytest.approx(
            mean, abs=5 * np.sqrt((square - mean ** 2) * apart / len(counts)))


def test_exchange_beside_a_ramp(tmp_path):
    """Turns of dynamics and sweeps; each has its part of the ramp."""
    lines = "velocity all create 1.0 4\nfix 2 all temp/csvr 1.0 3.0 0.1 9\n" \
            "fix 3 few atom/swap 10 20 4711 2.0 types 1 2"
    result = job_of(tmp_path, LIQUID % ("p p p", lines.replace("few", "all")))
    assert not result.not_understood, result.not_understood
    stages = result.job["stages"]
    assert [s["type"] for s in stages] == ["md", "monte_carlo"] * 4
    told = [(s["integrator"]["temperature"], s["integrator"]["final_temperature"],
             s["integrator"]["ramp_steps"]) for s in stages[::2]]
    assert told == [(1.0, 1.5, 10), (1.5, 2.0, 10), (2.0, 2.5, 10), (2.5, 3.0, 10)]
    with simulation(tmp_path, result) as sim:
        sim.run()
    part = job_of(tmp_path, LIQUID % ("p p p", lines))
    assert part.job["stages"][1]["swap"]["groups"] == ["swap-1-of-few", "swap-2-of-few"]


@pytest.mark.parametrize("words, said", [
    ("10 5 7 1.0 types 1 2 semi-grand yes mu 0 0", "types that change"),
    ("10 5 7 1.0 types 1 2 region box", "types that change"), ("10 5 7 1.0 types 1", "two types"),
    ("10 5 7 1.0 types 1 2\nfix 4 all gcmc 5 5 5 1 7 1.0 0 0.1", "fix gcmc beside fix atom/swap"),
    ("10 5 7 1.0 types 1 2\nfix 4 all deform 1 x erate 0.1", "beside fix deform")])
def test_exchange_that_is_listed(tmp_path, words, said):
    told = job_of(tmp_path, LIQUID % ("p p p", f"fix 3 all atom/swap {words}")).not_understood
    assert any(said in why for _, why in told), [why for _, why in told]


OUTPUT = LIQUID % ("p p p", """run 20
compute g all rdf 50 1 1 1 2 cutoff 2.0
compute h few rdf 30
compute m all msd com yes
compute v few vacf
compute c all chunk/atom bin/1d z lower 0.25
compute r all chunk/atom bin/sphere 2 2 2 0 1.5 6
compute e all pe/atom
dump d all custom 10 x.lammpstrj id x y z vx
dump f all xtc 5 x.xtc
fix 3 all ave/time 2 10 20 c_g[*] file g.txt mode vector
fix 4 all ave/time 4 1 4 c_m[4] c_thermo_temp v_other
fix 5 all ave/chunk 5 2 20 c density/number vz temp c_e norm sample file z.txt
fix 6 few ave/chunk 1 20 20 r density/number
run 20
undump f
unfix 5
run 40""")


def test_output(tmp_path):
    result = job_of(tmp_path, OUTPUT.rsplit("run 40", 1)[0])
    assert not result.not_understood, result.not_understood
    observers = {}
    for one in result.job["observers"]:
        observers.setdefault(one["type"], []).append(one)
    later = ["run-2", "run-3"]
    assert [s["name"] for s in result.job["stages"]] == ["run-1", *later]
    assert observers["rdf"] == [
        {"type": "rdf", "bins": 30, "r_max": 2.5, "group": "few", "stages": later},
        {"type": "rdf", "bins": 50, "r_max": 2.0, "pairs": [["1", "1"], ["1", "2"]], "stride": 2,
         "rows_every": 20, "file": "rdf-3.h5", "stages": later}]
    assert observers["mean_square_displacement"] == [
        {"type": "mean_square_displacement", "remove_drift": True, "stride": 4, "rows_every": 10000,
         "stages": later}]
    assert observers["velocity_autocorrelation"] == [
        {"type": "velocity_autocorrelation", "group": "few", "stages": later}]
    assert observers["profile"] == [{"type": "profile", "axis": "z", "bins": 16, "stride": 5,
                                     "rows_every": 20, "stages": ["run-2"]}]
    edge = (4 / 0.8) ** (1 / 3)
    shells, = observers["radial_profile"]
    assert shells.pop("center") == pytest.approx([2 * edge] * 3)
    assert shells == {"type": "radial_profile", "r_max": pytest.approx(1.5 * edge), "bins": 6,
                      "stride": 1, "rows_every": 20, "group": "few", "stages": later}
    assert observers["trajectory"][0]["stages"] == later
    assert observers["xtc"][0]["stages"] == ["run-2"]
    told = " ".join(why for _, why in result.changed)
    assert "no observer writes v_other" in told and "no observer writes c_e" in told
    assert "in LAMMPS of the last 2" in told
    with simulation(tmp_path, result) as sim:
        sim.run()
    text = OUTPUT.rsplit("run 40", 1)[0].replace(
        "run 40", "variable s equal pxy\nfix 8 all ave/correlate 5 100 500 v_s type auto\n"
                  "fix 9 all ave/correlate 5 100 500 v_other\nrun 40")
    assert {"type": "stress_autocorrelation", "stride": 5, "stages": ["run-3"]} in job_of(
        tmp_path, text).job["observers"]


def test_trial_insertions(tmp_path):
    widom = job_of(tmp_path, LIQUID % ("p p p", "fix 8 all widom 10 50 2 77 0.8\n"
                                       "fix 9 all widom 5 50 0 77 0.8 mol h2o"))
    assert {"type": "widom", "stride": 10, "insertions": 50, "temperature": 0.8,
            "group": "widom-2"} in widom.job["observers"]
    assert [why for _, why in widom.not_understood] == [
        "fix widom of molecules, or with region, charge or intra_energy"]
    with simulation(tmp_path, widom) as sim:
        sim.run()


@pytest.mark.parametrize("group, made", [("molecule 3", True), ("molecule 2 3", False),
                                         ("id 1 2 3", False)])
def test_gyration_of_a_group(tmp_path, group, made):
    """An observer has radii of whole molecules."""
    text = CHAINS.replace("run 20", f"group one {group}\ncompute g one gyration\n"
                          "fix 8 all ave/time 5 1 5 c_g\nrun 20")
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    observers = [o for o in result.job["observers"] if o["type"] == "chain_size"]
    assert observers == ([{"type": "chain_size", "stride": 5, "group": "one"}] if made else [])
    assert any("no observer: the radius of gyration" in why for _, why in result.changed) != made
    with simulation(tmp_path, result) as sim:
        sim.run()


@pytest.mark.parametrize("lines, wanted", [
    ("velocity all create 2.0 7\nvelocity all scale 0.5", 0.5), ("velocity all scale 0.7", 0.7)])
def test_velocities_that_are_scaled(tmp_path, lines, wanted):
    """The temperature is that of LAMMPS: 3 N - 3 degrees of freedom, with the energy of the whole
    liquid that moves."""
    with simulation(tmp_path, job_of(tmp_path, LIQUID % ("p p p", lines))) as sim:
        twice = np.sum(np.array(sim.masses)[:, None] * sim.velocities ** 2)
        assert twice / (3 * len(sim.masses) - 3) == pytest.approx(wanted, rel=1e-5)
    result = job_of(tmp_path, LIQUID % ("p p p", lines + "\nrun 10\nvelocity all scale 0.9"))
    assert len(result.texts) == 2 and not result.not_understood
    assert result.jobs[1]["velocity"] == {"temperature": 0.9}
    assert any("drawn anew" in why for _, why in result.changed)


@pytest.mark.parametrize("lines, said", [
    ("fix 2 few spring/self 4.0", "where they are when it begins"),
    ("variable x equal 2+0.1*step*dt\nfix 2 all indent 9 sphere v_x 1 1 1", "whose time begins")])
def test_fields_that_go_on(tmp_path, lines, said):
    """In another job, after other forces, they would be others."""
    text = LIQUID % ("f p p", f"{lines}\nrun 10\npair_coeff 1 1 1.1 1.0")
    told = job_of(tmp_path, text).not_understood
    assert len(told) == 1 and said in told[0][1], told
    assert not job_of(tmp_path, text.replace("pair_coeff 1 1 1.1 1.0", "")).not_understood


def test_regions_of_particles_that_moved(tmp_path):
    """LAMMPS looks for a region where particles are in the box: after a displacement beyond the
    edges it has 32 of 256 below 0.4 and 32 above 3.4, 4 of them in both."""
    text = LIQUID.split("region inner")[0] % "p p p" + """create_box 2 box
region low block 0 0.4 INF INF INF INF
region top block INF INF INF INF 3.4 INF
create_atoms 1 box
displace_atoms all move 2.75 2.75 2.75
group top region top
mass * 1.0
pair_style lj/cut 1.5
pair_coeff * * 1.0 1.0
velocity top set 1 0 0
fix 1 all nve
%s
run 1
"""
    with simulation(tmp_path, job_of(tmp_path, text % "set region low type 2")) as sim:
        kinds = np.array(sim.type_names)[sim.types]
        assert (kinds == "2").sum() == 32 and (sim.velocities[:, 0] > 0.5).sum() == 32
    with simulation(tmp_path, job_of(tmp_path, text % "delete_atoms region low")) as sim:
        assert len(sim.positions) == 224 and (sim.velocities[:, 0] > 0.5).sum() == 28


def test_fields_of_a_name_that_is_there(tmp_path):
    """A fix of the same ID and style replaces the one before; after a run in another job."""
    lines = "fix 2 all addforce 1 0 0\nfix 3 all addforce 0 0 5\nfix 2 all addforce 0 2 0"
    result = job_of(tmp_path, LIQUID % ("p p p", lines))
    told = [f["force"] for f in result.job["forces"] if f["type"] == "constant_force"]
    assert told == [[0, 0, 5], [0, 2, 0]] and not result.not_understood
    result = job_of(tmp_path, LIQUID % ("p p p", "fix 2 all addforce 1 0 0\nrun 10\n"
                                       "fix 2 all addforce 0 2 0"))
    told = [[f["force"] for f in job["forces"] if f["type"] == "constant_force"]
            for job in result.jobs]
    assert told == [[[1, 0, 0]], [[0, 2, 0]]] and not result.not_understood


@pytest.mark.parametrize("weights, wanted", [("0 0 0", 0), ("0 0 1", 2), ("0 1 1", 5)])
def test_bonds_between_bonded_pairs(tmp_path, weights, wanted):
    """In a row of five LAMMPS makes none of the pairs that special_bonds gives the weight 0: of 4
    pairs one bond apart, 3 of two and 2 of three."""
    text = FIVE_IN_A_ROW + f"""special_bonds lj/coul {weights}
create_bonds many all all 1 0.9 1.1
create_bonds many all all 2 0.9 3.1
fix 1 all nve
run 1
"""
    result = job_of(tmp_path, text)
    with simulation(tmp_path, result) as sim:
        pass
    bonds = (tmp_path / "job.data").read_text().partition("Bonds")[2].split("\n\n")[1].split("\n")
    assert [row.split()[1] for row in bonds if row].count("2") == wanted
    assert not result.not_understood
    told = job_of(tmp_path, text.replace(f"coul {weights}", "coul 0.5 1 1")).not_understood
    assert any("which LAMMPS refuses" in why for _, why in told)


def test_groups_of_fields_in_another_job(tmp_path):
    """It has those of fields that go on."""
    lines = "group few id 1:70\ngroup ends union few\nfix 2 few addforce 1 0 0\n" \
            "fix 3 ends spring tether 2.0 1 1 1 0\nrun 5\npair_coeff 1 1 1.1 1.0"
    result = job_of(tmp_path, LIQUID.replace("run 40", "run 5") % ("p p p", lines))
    assert not result.not_understood, result.not_understood
    assert result.jobs[1]["groups"] == {"few": {"ids": [[0, 69]]}, "ends": {"or": ["few"]}}
    (tmp_path / "job.json").write_text(result.texts[0])
    perrin.run(str(tmp_path / "job.json"), output_dir=str(tmp_path / "out"), quiet=True,
               device="cpu")
    (tmp_path / "job-2.json").write_text(result.texts[1])
    perrin.run(str(tmp_path / "job-2.json"), output_dir=str(tmp_path / "out-2"), quiet=True,
               device="cpu")


def test_exclusions_that_end(tmp_path):
    """`none` takes back what was said before it, and is listed after a run with exclusions."""
    def strengths(result):
        pairs = result.job["forces"][0]["pairs"]
        return {tuple(sorted(p["types"])) for p in pairs if p["epsilon"] == 0}

    lines = "neigh_modify exclude type 1 2\nneigh_modify exclude none exclude type 2 2"
    result = job_of(tmp_path, LIQUID % ("p p p", lines))
    assert strengths(result) == {("2", "2")} and not result.not_understood
    result = job_of(tmp_path, LIQUID % ("p p p", "run 5\nneigh_modify exclude none"))
    assert not result.not_understood
    lines = "neigh_modify exclude type 1 2\nrun 5\n%sneigh_modify exclude none"
    told = job_of(tmp_path, LIQUID % ("p p p", lines % "")).not_understood
    assert len(told) == 1 and "exclude none after a run" in told[0][1]
    result = job_of(tmp_path, LIQUID % ("p p p", lines % "pair_coeff 1 1 1.1 1.0\n"))
    assert strengths(result) == {("1", "2")} and not result.not_understood
    assert result.jobs[1]["forces"][0]["pairs"][0]["epsilon"] == 1.1
    assert all(p["epsilon"] for p in result.jobs[1]["forces"][0]["pairs"])


ONE_PLACE = "variable x equal %s\nfix 2 all indent 9 sphere v_x 1 1 1"


@pytest.mark.parametrize("lines, said", [
    (ONE_PLACE % "ramp(1,3)", "ramp(), which begins anew in each run"),
    (ONE_PLACE % "1+elapsed*dt", None),
    (ONE_PLACE % "1+elapsed*dt" + "\nrun 0", None),
    (ONE_PLACE % "1+elapsed*dt" + "\nrun 10", "v_x, which is another one in a run"),
    (ONE_PLACE % "1+step*dt" + "\nrun 10", None),
    (ONE_PLACE % "1+step*dt" + "\nrun 10\nreset_timestep 10", None),
    (ONE_PLACE % "1+step*dt" + "\nrun 10\nreset_timestep 0", "v_x, which is another one in a run"),
    (ONE_PLACE % "1+step*dt" + "\nreset_timestep 100", "v_x, which is another one in a run"),
    (ONE_PLACE % "1+step*dt" + "\nrun 10\nvariable x equal 1+2*step*dt", "v_x, which is another"),
    ("variable f equal 2\nfix 2 all addforce v_f 0 0\nvariable f equal 3", "v_f, which is another"),
    ("variable f equal 2\nfix 2 all addforce v_f 0 0\nrun 5\nvariable f equal 3", "v_f, which is"),
    ("variable f equal 2\nfix 2 all addforce v_f 0 0\nrun 5\nvariable f equal 3\nunfix 2", None),
    ("variable f equal 2\nfix 2 all addforce ${f} 0 0\nvariable f equal 3", None),
    ("variable f equal 2\nfix 2 all addforce v_f 0 0\nvariable f delete", "f has no value"),
    ("variable f equal 2\nfix 2 all addforce v_f 0 0\nrun 5\nfix 3 all addforce 0 0 1\n"
     "variable f equal 3", "v_f, which is another")])
def test_variables_of_fields(tmp_path, lines, said):
    """LAMMPS reads a variable in each step; fields of a job are the same in all stages."""
    told = [why for _, why in job_of(tmp_path, LIQUID % ("f p p", lines)).not_understood]
    assert not told if said is None else len(told) == 1 and said in told[0], told


def test_masses_that_follow_gravity(tmp_path):
    """Weights are those of the masses when the run begins."""
    result = job_of(tmp_path, LIQUID % ("p p f", "fix 2 all gravity 0.5 vector 0 0 -1\n"
                                       "mass 1 4.0\nmass 2 6.0"))
    assert not result.not_understood, result.not_understood
    told = {f["types"][0]: f["force"] for f in result.job["forces"]
            if f["type"] == "constant_force"}
    assert told == {"1": [0, 0, -2], "2": [0, 0, -3]}
    text = LIQUID % ("p p f", "group none id 9999\nfix 2 none gravity 0.5 vector 0 0 -1")
    told = job_of(tmp_path, text).not_understood
    assert [why for _, why in told] == ["fix gravity of the group none, which has no particles"]


@pytest.mark.parametrize("style, words, ids, second", [
    ("atomic", "", [*range(1, 63)], [1]),
    ("atomic", "compress no", [*range(3, 65)], []),
    ("molecular", "", [*range(3, 65)], []),
    ("molecular", "mol yes", [6, 7, 8, 9, *range(11, 65)], [])])
def test_ids_after_delete_atoms(tmp_path, style, words, ids, second):
    """As LAMMPS writes them; the group is that of the particles that had its ids."""
    mol = "" if style == "atomic" else "set atom 1*5 mol 3\nset atom 10 mol 3\n"
    text = f"""units lj
atom_style {style}
lattice sc 1.0
region box block 0 4 0 4 0 4
create_box 2 box
create_atoms 1 box
{mol}set atom 64 type 2
group gone id 1:2
group last id 64
delete_atoms group gone {words}
mass * 1.0
pair_style lj/cut 1.5
pair_coeff * * 0.0 1.0
velocity last set 0.5 0 0
fix 1 all nve
fix 2 last addforce 1 0 0
run 1
"""
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    rows = (tmp_path / "job.data").read_text().partition("Atoms")[2].split("\n\n")[1].split("\n")
    assert sorted(int(row.split()[0]) for row in rows if row) == ids
    last = [int(row.split()[0]) for row in rows if row.split()[1 + bool(mol)] == "2"]
    assert last == (second or [64])
    place = sorted(ids).index(last[0])  # a job counts from 0 in the order of ids
    assert result.job["groups"] == {"last": {"ids": [place]}}
    with simulation(tmp_path, result) as sim:
        sim.run()
        moved = np.flatnonzero(sim.velocities[:, 0] > 0.25)
        assert np.array(sim.type_names)[sim.types[moved]].tolist() == ["2"]
        assert sim.velocities[moved[0], 0] == pytest.approx(0.5 + 0.005, rel=1e-5)


@pytest.mark.parametrize("words", ["condense yes", "mol maybe", "mol", "mol yes"])
def test_delete_atoms_that_are_listed(tmp_path, words):
    told = job_of(tmp_path, LIQUID % ("p p p", f"delete_atoms group few {words}")).not_understood
    assert any("delete_atoms" in why for _, why in told), told


@pytest.mark.parametrize("words, said", [
    ("upto", None), ("pre no post no", None), ("upto pre no", None), ("start 0", "run with start"),
    ("pre no stop 80", "run with stop"), ("upto start 0 stop 80", "run with start"),
    ("every 10 NULL", "run with every"), ("pre", "run with pre")])
def test_words_of_run(tmp_path, words, said):
    """Those that would change what the run is are listed, wherever they stand."""
    result = job_of(tmp_path, LIQUID % ("p p p", "run 15") + f"run 75 {words}\n")
    told = [why for _, why in result.not_understood]
    assert told == ([] if said is None else [said])
    steps = [s["steps"] for s in result.job["stages"]]
    assert steps == [15, 40] + ([] if said else [20 if "upto" in words else 75])


FLAT = """units lj
dimension 2
atom_style bond
lattice sq 0.8
region box block 0 4 0 4 -0.5 0.5
create_box 1 box bond/types 3
create_atoms 1 box
mass 1 1.0
pair_style lj/cut 1.5
pair_coeff * * 1.0 1.0
bond_style harmonic
bond_coeff * 5.0 1.0
fix 1 all nve
fix 2 all enforce2d
fix 3 all spring/self 4.0%s
run 1
"""


@pytest.mark.parametrize("axes", ["", " xyz", " xy"])
def test_tethers_in_two_dimensions(tmp_path, axes):
    """LAMMPS's have no force along z, which a flat job cannot have; nor has a job without bonds a
    force of bonds."""
    result = job_of(tmp_path, FLAT % axes)
    assert not result.not_understood, result.not_understood
    tether, = (f for f in result.job["forces"] if f["type"] == "tether")
    assert tether["stiffness"] == [4.0, 4.0, 0]
    assert not any(f["type"].startswith("bond") for f in result.job["forces"])
    with simulation(tmp_path, result) as sim:
        sim.run()
