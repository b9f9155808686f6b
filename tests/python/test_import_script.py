"""`perrin import lammps`: what a script means, command by command, against LAMMPS's manual and what
LAMMPS (22 Jul 2025) does with the same lines. Nothing is run."""
import numpy as np
import pytest
from lammps_fields import BONDED, FIVE_IN_A_ROW, LIQUID, TEMPLATES
from test_import_lammps import job_of

import perrin
from perrin.import_command import main

SPACING = (4 / 0.8) ** (1 / 3)  # of LIQUID's lattice; its box has four of them along each edge


def liquid(lines, boundary="p p p"):
    return LIQUID % (boundary, lines)


def told(result):
    return [why for _, why in result.not_understood]


@pytest.mark.parametrize("formula, value", [
    ("-2^2", 4), ("2^3^2", 64), ("8-3-2", 3), ("!0+1", 2), ("round(2.5)", 3), ("2^-1", 0.5),
    ("yes+1", 2), ("-7%3", -1), ("1 < 2 == 1", 1), ("2*(3+(4-1))", 12), ("(1||0)&&!(0|^0)", 1),
    ("count(few)/2", 35), ("ternary(2>1,5,6)", 5)])
def test_formulas(tmp_path, formula, value):
    """LAMMPS 22 Jul 2025 has these values; signs before powers, and equals from the left."""
    result = job_of(tmp_path, liquid(f'variable f equal "{formula}"\n'
                                     f"fix 2 all addforce v_f $({formula}) 0"))
    assert not result.not_understood, result.not_understood
    force, = (f for f in result.job["forces"] if f["type"] == "constant_force")
    assert force["force"] == pytest.approx([value, value, 0])


def test_variables_of_now(tmp_path):
    """What is not in quotes is substituted when it is read, that in an `if` when it runs."""
    result = job_of(tmp_path, liquid(
        'variable t equal 2\nvariable a equal ${t}*2\nvariable t equal 5\n'
        'if "${a} == 10" then "fix 2 all addforce 9 9 9" elif "$a == 4" "variable q equal 3" '
        '"fix 2 all addforce ${q} $t 0" else "fix 2 all addforce 8 8 8"'))
    assert not result.not_understood, result.not_understood
    assert result.job["forces"][-1]["force"] == [3, 5, 0]


LOOP = """variable i loop 2 4
variable T index 1.0 1.5 2.0 9.0
label top
fix 2 all langevin $T $T 1.0 7
run $(10*v_i)
next T
next i
jump SELF top
unfix 2"""


def test_loops(tmp_path):
    result = job_of(tmp_path, liquid(LOOP))
    assert not result.not_understood, result.not_understood
    stages = result.job["stages"]
    assert [s["steps"] for s in stages] == [20, 30, 40, 40]
    assert [s["integrator"].get("temperature") for s in stages] == [1.0, 1.5, 2.0, None]
    out = job_of(tmp_path, liquid("variable i loop 9\nlabel top\nif \"$i > 2\" then \"jump SELF "
                                  "out\"\nrun 5\nnext i\njump SELF top\nlabel out"))
    assert [s["steps"] for s in out.job["stages"]] == [5, 5, 40] and not out.not_understood
    endless = job_of(tmp_path, liquid("label top\nrun 5\nif \"$(pe) < 2\" then \"jump SELF out\"\n"
                                      "jump SELF top\nlabel out"))
    assert told(endless) == ["pe in a formula", "a loop whose end depends on what a run does: its "
                             "first turn is translated"]
    assert [s["steps"] for s in endless.job["stages"]] == [5, 40]
    assert "no label" in told(job_of(tmp_path, liquid("jump SELF nowhere")))[0]
    assert "more than 20000 lines" in told(job_of(tmp_path, liquid("label a\njump SELF a")))[0]
    assert not job_of(tmp_path, liquid("timestep 0.002\n" * 20001)).not_understood


def members(result, name):
    """ids of a group of the job, which counts from 0."""
    made = result.job["groups"][name]
    found = set()
    for entry in made.get("ids", []):
        low, high = entry if isinstance(entry, list) else (entry, entry)
        found |= set(range(low, high + 1))
    for other in made.get("or", []):
        found |= members(result, other)
    return found


def test_groups_are_static(tmp_path):
    """Particles that change their type, or come later, stay in their groups or out of them."""
    result = job_of(tmp_path, liquid(
        "group two type 2\ngroup ends union two\nset atom 1*30 type 1\n"
        "create_atoms 2 single 3.9 3.9 3.9\ngroup two id 200\nfix 2 two addforce 1 0 0\n"
        "fix 3 ends addforce 1 0 0"))
    assert not result.not_understood, result.not_understood
    assert members(result, "two") == {*range(90), 199}
    assert members(result, "ends") == set(range(90))
    text = liquid("fix 2 few setforce 0 0 0\nvelocity few set 0 0 0\nrun 5\ngroup few id 80")
    result = job_of(tmp_path, text)
    held = [i["group"] for stage in result.job["stages"] for i in stage["integrators"]
            if i["type"] == "frozen"]
    assert members(result, held[0]) == set(range(70))
    assert members(result, held[1]) == {*range(70), 79}
    assert any("at the velocity that it has" in why for _, why in result.changed)
    parts = job_of(tmp_path, liquid("fix 2 few setforce 0 0 0\nvelocity few set 0 0 0\nrun 5\n"
                                    "pair_coeff 1 1 1.1 1.0\ngroup few id 80"))
    assert [job["groups"]["few"] for job in parts.jobs[:1]] == [{"ids": [[0, 69]]}]
    assert {"ids": [[0, 69], 79]} in parts.jobs[1]["groups"].values()
    late = job_of(tmp_path, liquid("run 5\ngroup late region inner\nfix 2 late addforce 1 0 0"))
    assert "by a region after a run" in told(late)[0]


def test_groups_that_have_a_job_s_names(tmp_path):
    """A group `rest` of the script, and the rest that each run of a job has of its own."""
    result = job_of(tmp_path, liquid(
        "unfix 1\ngroup rest id 71:100\nfix 2 few nve\nrun 5\nfix 3 rest nve\nrun 5\nfix 4 rest "
        "addforce 1 0 0\nvelocity all create 1 2"))
    groups = result.jobs[0]["groups"]
    frozen = [next(i["group"] for i in stage["integrators"] if i["type"] == "frozen")
              for stage in result.jobs[0]["stages"][:2]]
    assert groups["rest"] == {"ids": [[70, 99]]}
    assert [groups[name] for name in frozen] == [{"not": ["few"]}, {"not": ["few", "rest"]}]


def test_particles_without_forces(tmp_path):
    """They go on at their velocities where an integrator moves them, and rest where none does."""
    lines = "group top id 71:100\ngroup held union few top\nvelocity top set 0 0 0\n" \
            "fix 2 held setforce 0 0 0\n"
    made = job_of(tmp_path, liquid(lines)).job["stages"][0]["integrators"]
    kinds = {i["group"]: i.get("velocity", [0, 0, 0]) for i in made
             if i["type"] != "velocity_verlet"}
    assert kinds == {"held-1": [0, 0, 0],
                     "held-2": pytest.approx([0.3 * SPACING, -0.2 * SPACING, 0.1 * SPACING])}
    made = job_of(tmp_path, liquid(lines + "unfix 1\ngroup free subtract all held\n"
                                   "fix 1 free nve")).job["stages"][0]["integrators"]
    assert {i["group"]: i["type"] for i in made} == {"free": "velocity_verlet", "held": "frozen"}
    drawn = job_of(tmp_path, liquid("velocity all create 1 2\nfix 2 few setforce 0 0 0"))
    assert any("at the velocity that it has" in why for _, why in drawn.changed)
    least = job_of(tmp_path, liquid("fix 2 few setforce 0 0 0\nminimize 0 1e-3 50 50"))
    made = least.job["stages"][0]["integrators"]
    assert [i["type"] for i in made] == ["frozen", "fire"]
    assert least.job["groups"][made[1]["group"]] == {"not": ["few"]}


def test_the_second_part_of_a_script(tmp_path):
    """Particles of another job are those of the first one's last frame."""
    lines = "run 5\npair_coeff 1 1 1.1 1.0\ncreate_atoms 1 single 0 0 0\nset atom 1 type 2\n" \
            "mass 2 1.7\nmass 1 3\ndelete_atoms group few\ncreate_bonds single/bond 1 1 2"
    result = job_of(tmp_path, liquid(lines))
    assert told(result) == [f"{name} after a run: a job has one system" for name in (
        "create_atoms", "set", "mass", "delete_atoms", "create_bonds")]


PRESSED = "unfix 1\nfix 1 all npt temp 1 1 1 iso 1 1 1 drag %s\nrun 20\nfix 1 all nve\n"


@pytest.mark.parametrize("line, said", [
    ("fix 2 all indent 9 sphere 1 1 1 1", "a place after a run with a barostat"),
    ("fix 2 all spring tether 5 1 1 1 0", "a place after a run with a barostat"),
    ("variable a equal lx\nfix 2 all addforce v_a 0 0", "the box after a run with a barostat"),
    ("fix 2 all deform 1 x erate 0.1", "the box after a run with a barostat"),
    ("fix 2 all deform 1 x final 0 9 units box", None)])
def test_a_box_that_is_not_known(tmp_path, line, said):
    result = job_of(tmp_path, liquid(PRESSED.replace("%s", "0.2") + line))
    assert told(result) == [] if said is None else said in told(result)[0]
    assert any("no drag" in why for _, why in result.changed)
    calm = job_of(tmp_path, liquid(PRESSED.replace("%s", "0.0")))
    assert not any("no drag" in why for _, why in calm.changed)


@pytest.mark.parametrize("words, long", [
    ("final 0.5 4.0", 3.5 * SPACING), ("final 0.5 8.0 units box", 7.5),
    ("delta -0.1 0.2", 4.3 * SPACING), ("vel 2.0", (4 + 2 * 0.08) * SPACING),
    ("erate 1.0", 4 * 1.08 * SPACING)])
def test_lengths_of_deform(tmp_path, words, long):
    """In units of the lattice; 40 steps of 0.002."""
    result = job_of(tmp_path, liquid(f"fix 2 all deform 1 x {words}"))
    assert result.job["stages"][0]["deform"]["x"] == pytest.approx(long)


@pytest.mark.parametrize("lines, wanted", [
    ("single/bond 2 1 2 special no\ncreate_bonds single/bond 2 3 4 special yes", None),
    ("single/bond 2 1 2 special no", "special no before a run"),
    ("many few few 1 0.5 1.1 special no", "create_bonds many … special no")])
def test_bonds_that_are_not_looked_along(tmp_path, lines, wanted):
    result = job_of(tmp_path, BONDED.replace("velocity all", f"create_bonds {lines}\nvelocity all"))
    assert told(result) == [] if wanted is None else wanted in told(result)[0]


def test_pairs_of_bonds_that_are_not_looked_along(tmp_path):
    """`many` finds a pair again that a bond of `special no` joins: 5 in a row, one pair each."""
    text = FIVE_IN_A_ROW + """create_bonds single/bond 2 1 2 special no
create_bonds many all all 1 0.9 1.1
fix 1 all nve
run 1
"""
    for word, count in (("no", 4), ("yes", 3)):
        assert not job_of(tmp_path, text.replace("special no", f"special {word}")).not_understood
        rows = (tmp_path / "job.data").read_text().partition("Bonds")[2].split("\n")
        assert sum(row.split()[1:2] == ["1"] for row in rows) == count


def test_averages(tmp_path):
    """A running mean has one row; a fix of the same ID ends the one before, which is kept."""
    result = job_of(tmp_path, liquid(
        "compute g all rdf 50 1 1 cutoff 2.0\n"
        "fix 3 all ave/time 2 10 20 c_g[*] mode vector ave running\nrun 20\n"
        "fix 3 all ave/time 5 10 50 c_g[*] mode vector ave window 4"))
    assert not result.not_understood, result.not_understood
    first, second = (o for o in result.job["observers"] if o["type"] == "rdf")
    assert first["stride"] == 2 and first["rows_every"] >= 10 ** 9 and first["stages"] == ["run-1"]
    assert first["rows_every"] % 20 == 0
    assert second["stride"] == 5 and second["rows_every"] == 50 and second["stages"] == ["run-2"]
    notes = [why for _, why in result.changed]
    assert any("one row, the mean of a run" in why for why in notes)
    assert any("in LAMMPS of those of 4 rows" in why for why in notes)


def test_dumps(tmp_path):
    result = job_of(tmp_path, liquid(
        "dump d few custom 10 x.d id x fx vx\ndump_modify d every 25 sort id\n"
        "dump e all atom 100 y\nrun 20\ndump_modify e every 50\ndump_modify d thresh x > 1"))
    made = [{k: o.get(k) for k in ("stride", "group", "stages", "quantities")}
            for o in result.job["observers"] if o["type"] == "trajectory"]
    assert made == [
        {"stride": 25, "group": "few", "stages": None,
         "quantities": ["position", "velocity", "image", "force"]},
        {"stride": 100, "group": None, "stages": ["run-1"], "quantities": ["position", "image"]},
        {"stride": 50, "group": None, "stages": ["run-2"], "quantities": ["position", "image"]}]
    assert any("without thresh" in why for _, why in result.changed)


@pytest.mark.parametrize("line, said", [
    ("create_atoms 1 single 1 1 1 mol bent 7", "types of particles beyond 1 to 3"),
    ("create_atoms 0 single 1 1 1 mol other 7", "the molecule other is not known"),
    ("molecule two bent.mol bent.mol", "expected one file"),
    ("molecule two nothing.mol", "the file nothing.mol is not there"),
    ("molecule two bent.mol scale 2", "molecule with scale"),
    ("create_atoms 1 box subset 9 2", "create_atoms with the keyword subset"),
    ("fix 7 all gcmc 10 10 0 0 77 1 1 1 mol bent", "fix gcmc of molecules"),
    ("fix 8 all deposit 10 0 10 77 mol bent", "fix deposit")])
def test_templates_that_are_listed(tmp_path, line, said):
    text = TEMPLATES.replace("boff 1", "boff 1 toff 1") if "beyond" in said else TEMPLATES
    text = text.replace("create_atoms 1", "create_atoms 0") if "beyond" in said else text
    result = job_of(tmp_path, text.replace("velocity all", f"{line}\nvelocity all"))
    assert any(said in why for why in told(result)), told(result)


def test_bodies_of_a_template(tmp_path):
    """Molecules at random are turned, not bent: one kind of body, in 27 of them on the lattice."""
    text = TEMPLATES.replace("block 0 2 0 2 0 2", "block 0 3 0 3 0 3").replace(
        "create_atoms 0 single 0.4 0.5 0.6 mol bent 7 rotate 40 1 2 -1",
        "create_atoms 0 box mol bent 7").replace("fix 1 all nve",
                                                 "fix 1 all rigid/small molecule mol bent")
    text = "\n".join(line for line in text.split("\n") if "single" not in line)
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    (body,) = result.job["bodies"].values()
    assert [s["type"] for s in body["sites"]] == ["1", "2", "2"] and body["mass"] == 4.5
    other = job_of(tmp_path, text.replace("molecule mol bent", "molecule mol other"))
    assert "the molecule other is not known" in told(other)
    at = np.array([s["at"] for s in body["sites"]])
    d = np.linalg.norm(at[[0, 0, 1]] - at[[1, 2, 2]], axis=1)
    assert d == pytest.approx([np.sqrt(0.86), np.sqrt(1.13), np.sqrt(1.89)], abs=1e-6)


def test_random_places(tmp_path):
    """No two are nearer than `overlap`, in the periodic box."""
    text = LIQUID.replace("create_atoms 1 region inner", "create_atoms 1 random 200 77 inner "
                          "overlap 0.8") % ("p p p", "")
    result = job_of(tmp_path, text)
    assert not result.not_understood, result.not_understood
    rows = (tmp_path / "job.data").read_text().partition("Atoms")[2].split("\n\n")[1].split("\n")
    r = np.array([[float(w) for w in row.split()[2:5]] for row in rows if row]) - 0.2 * SPACING
    assert len(r) == 200 and 0 <= r.min() and r.max() <= 3.6 * SPACING
    d = r[:, None] - r
    d -= 4 * SPACING * np.round(d / (4 * SPACING))
    assert np.linalg.norm(d, axis=2)[np.triu_indices(200, 1)].min() >= 0.8


@pytest.mark.parametrize("line, said", [
    ("neigh_modify delay 0 include few", "neigh_modify include few"),
    ("pair_modify compute no", "pair_modify compute no"),
    ("kspace_modify compute no", "kspace_modify compute no"),
    ("shell cd sub", "shell cd: files are looked for beside the script"),
    ("fix 3 all halt 10 v_x > 3 error soft", "fix halt: a run of a job has all its steps"),
    ("compute p all temp/partial 0 1 1\nfix 2 all temp/rescale 1 1 1 0 1\nfix_modify 2 temp p",
     "fix_modify temp of compute temp/partial"),
    ("fix_modify 1 reset_time", "fix_modify reset_time"),
    ("fix 2 few setforce 0 0 0 region inner", "fix setforce with region"),
    ("special_bonds 0 0 1", "special_bonds with 0"),
    ("velocity few zero angular", "velocity few zero angular"),
    ("fix 2 all wall/lj93 zhi EDGE 1 1 2.5", "the edge of a box that follows its particles"),
    ("pair_style soft 1.0\npair_coeff * * 0\nvariable a equal 0.1*step\n"
     "fix 2 all adapt 1 pair soft a * * v_a", "in fix adapt: expected ramp()")])
def test_what_is_listed(tmp_path, line, said):
    assert any(said in why for why in told(job_of(tmp_path, liquid(line, "p p s"))))


def test_particles_that_move_twice(tmp_path):
    """LAMMPS integrates them twice in a step."""
    for lines, twice in (("fix 2 few nve", True), ("unfix 1\nfix 2 few nve", False),
                         ("group g id 60:90\nfix 1 g nve\nfix 2 few nvt temp 1 1 1", True),
                         ("group g id 71:90\nfix 1 g nve\nfix 2 few nvt temp 1 1 1", False)):
        changed = [why for _, why in job_of(tmp_path, liquid(lines)).changed]
        assert any("move the same particles" in why for why in changed) == twice


def test_settings_that_begin_anew(tmp_path):
    """pair_style of another name forgets pair_modify; of the same name it keeps coefficients, with
    its own cut-off; special_bonds forgets what it does not name."""
    lines = "pair_coeff 1 1 1.0 1.0 1.6\n%spair_style lj/cut 2.0"
    made = job_of(tmp_path, liquid(lines % "")).job["forces"][0]
    assert made["cutoff"] == 2.0 and not any("cutoff" in pair for pair in made["pairs"])
    made = job_of(tmp_path, liquid("pair_modify shift yes\n" + lines % "")).job["forces"][0]
    assert made["truncation"] == "energy_shift"
    made = job_of(tmp_path, liquid("pair_modify shift yes\n" + lines % "pair_style morse 2.0\n" +
                                   "\npair_coeff * * 1 1")).job["forces"][0]
    assert made["type"] == "lennard_jones" and "truncation" not in made
    for words, wanted in (("fene", ["bonds"]),
                          ("fene\nspecial_bonds dihedral no", ["bonds", "angles", "dihedrals"])):
        text = BONDED.replace("special_bonds lj/coul 0 1 1", f"special_bonds {words}")
        assert job_of(tmp_path, text).job["neighbors"]["exclusions"] == wanted


def test_packed_data(tmp_path):
    (tmp_path / "packed.data").write_bytes(b"\x1f\x8b\x08\x00")
    assert "is packed" in told(job_of(tmp_path, "read_data packed.data\n"))[0]


@pytest.mark.parametrize("words, said", [("mom no", "no drift"), ("rot yes", "angular momentum"),
                                         ("mom yes rot no", None)])
def test_drawn_velocities(tmp_path, words, said):
    result = job_of(tmp_path, liquid(f"velocity all create 1.0 7 {words}"))
    assert result.job["velocity"] == {"temperature": 1.0} and not result.not_understood
    notes = [why for _, why in result.changed if "drawn velocities" in why]
    assert notes == [] if said is None else len(notes) == 1 and said in notes[0]


@pytest.mark.parametrize("lines, wanted", [
    ("velocity few set 1 2 3\nvelocity few zero linear", [0, 0, 0]),
    ("velocity few set 1 0 0 units box\nvelocity few set 1 0 0 sum yes units box", [2, 0, 0])])
def test_velocities(tmp_path, lines, wanted):
    job_of(tmp_path, liquid(lines))
    rows = (tmp_path / "job.data").read_text().partition("Velocities")[2].strip().split("\n")
    v = np.array([[float(w) for w in row.split()[1:4]] for row in rows])
    np.testing.assert_allclose(v[:70], np.tile(wanted, (70, 1)), atol=1e-12)


@pytest.mark.parametrize("types, kind", [(1, "lattice"), (2, "file")])
def test_whole_lattices(tmp_path, types, kind):
    """The system `lattice` has the types of its particles alone, and forces name all."""
    result = job_of(tmp_path, f"""lattice fcc 0.8
region box block 0 4 0 4 0 4
create_box {types} box
create_atoms {types} box
mass * 1.5
pair_style lj/cut 2.5
pair_coeff * * 1 1
fix 1 all nve
run 1
""")
    assert not result.not_understood, result.not_understood
    assert result.job["system"]["type"] == kind
    assert len(result.job["forces"][0]["pairs"]) == types * (types + 1) // 2


@pytest.mark.parametrize("group", ["late subtract few few", "late empty", "late id 500:600"])
def test_groups_without_particles(tmp_path, group):
    """Nothing moves or holds them; a job has no such groups."""
    result = job_of(tmp_path, liquid(f"group {group}\nfix 2 few langevin 1 1 1 7\n"
                                     "fix 3 late nve\nfix 4 late langevin 1 1 1 7\n"
                                     "fix 5 late rigid/small molecule\n"
                                     "fix 6 late setforce 0 0 0"))
    assert not result.not_understood, result.not_understood
    assert sum("the group late has no particles" in why for _, why in result.changed) == 4
    assert "late" not in result.job["groups"] and "late" not in str(result.job["stages"])


OF_FIXES = """data with sections of fixes

4 atoms
2 atom types
0 8 xlo xhi
0 8 ylo yhi
0 8 zlo zhi

Atoms # atomic

4 1 1 1 1
2 2 2 2 2
3 1 3 3 3
1 2 4 4 4

KIND-Info

3 5 7 -1
1 6 8 -2
2 5 7 -3
4 5 0 -4

Molecules

1 9
2 9
4 5
3 5

Velocities

1 1 0 0
2 2 0 0
3 3 0 0
4 4 0 0
"""
WITH_SECTIONS = """units lj
fix one all property/atom i_kind mol i_more ghost yes
read_data of.data fix one NULL KIND-Info%s
pair_style lj/cut 2.5
pair_coeff * * 1 1
group pair molecule 7
fix 1 pair nve
run 1
"""


def test_sections_of_fixes(tmp_path):
    """Those of fix property/atom, of which numbers of molecules are read; others are listed."""
    (tmp_path / "of.data").write_text(OF_FIXES)
    result = job_of(tmp_path, WITH_SECTIONS % "")
    assert not result.not_understood, result.not_understood
    assert [why for _, why in result.changed if "i_kind, i_more" in why]
    written = (tmp_path / "job.data").read_text()
    rows = written.partition("Atoms")[2].partition("Velocities")[0].split("\n")[2:6]
    assert [row.split()[:3] for row in rows] == [
        ["1", "8", "2"], ["2", "7", "2"], ["3", "7", "1"], ["4", "0", "1"]]
    assert "Info" not in written
    rows = written.partition("Velocities")[2].strip().split("\n")
    assert [float(row.split()[1]) for row in rows[:4]] == [1, 2, 3, 4]
    assert told(job_of(tmp_path, WITH_SECTIONS % " fix cmap NULL Molecules")) == [
        "the section Molecules of the fix cmap"]


def test_units_that_are_not_translated_make_no_job(tmp_path):
    """Lengths of 1e-10 would be those of a job in reduced units."""
    (tmp_path / "in.si").write_text(liquid("").replace("units lj", "units si"))
    result = perrin.lammps.convert(str(tmp_path / "in.si"), "job", str(tmp_path))
    assert told(result) == ["units si: lj, real and metal are translated; no job is written"]
    assert not result.texts and str(result.not_understood[0][0]).endswith(":1")
    assert main(["lammps", str(tmp_path / "in.si"), "-o", str(tmp_path / "job.json")]) == 2
    assert not (tmp_path / "job.json").exists()


def test_groups_that_are_not_there(tmp_path):
    """The line that names one is listed; the run after it is translated."""
    result = job_of(tmp_path, liquid("fix 2 nosuch langevin 1 1 1 3\nfix 3 nosuch setforce 0 0 0"))
    assert [line.text.split()[1] for line, _ in result.not_understood] == ["2", "3"]
    assert told(result) == ["the group nosuch is not known"] * 2
    assert [stage["steps"] for stage in result.job["stages"]] == [40]


@pytest.mark.parametrize("line, said", [
    ("run", "words are missing"), ("timestep abc", "expected a number, got 'abc'"),
    ("fix 2 all wall/lj93 zlo -1 1 1", "words are missing"),
    ("pair_style sw", "functions of Python"), ("pair_style eam/alloy", "many_body_formula"),
    ("pair_style gran/hooke 1 1 1 1 1 1", "granular"), ("pair_style zbl/x 1", "pair_formula"),
    ("region s sphere 2 2 2 9\nfix 2 all wall/region s lj93 1 1 2.5", "external_formula"),
    ("fix 2 all heat 1 1.0", "a job has none")])
def test_what_is_said_of_a_line(tmp_path, line, said):
    """No style without counterpart is left out in silence, and none with Python's own words."""
    text = f"{line}\npair_coeff * * x" if line.startswith("pair_style") else line
    result = job_of(tmp_path, liquid(text))
    assert any(said in why for why in told(result)), told(result)
    assert not any("Error" in why or "list index" in why for why in told(result))


@pytest.mark.parametrize("kind, style", [("bond", "nonlinear"), ("angle", "mm3")])
def test_what_is_said_of_bonded_styles(tmp_path, kind, style):
    result = job_of(tmp_path, BONDED.replace(f"{kind}_style harmonic", f"{kind}_style {style}"))
    assert f"{kind}_style {style}: {kind}_formula or {kind}_table may say it" in told(result)
    improper = perrin.lammps.bonded.Bonded("improper").without()
    assert "improper_harmonic" in improper
