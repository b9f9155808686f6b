"""Scripts of LAMMPS for test_import_fields.py: fields, copies and exclusions. lammps_reference.py
runs them in LAMMPS."""
import numpy as np
from lammps_scripts import CHARMM, FOLDER_FILES, RIGID, data, grid

EVERY = 7  # particles whose way is kept
LIQUID = """units lj
boundary %s
lattice fcc 0.8
region box block 0 4 0 4 0 4
region inner block 0 3.6 0 3.6 0 3.6
create_box 2 box
create_atoms 1 region inner
set atom 1*90 type 2
mass 1 1.0
mass 2 1.7
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0
pair_coeff 2 2 0.7 1.1
displace_atoms all move 0.2 0.2 0.2
group few id 1:70
velocity all set 0 0 0
velocity few set 0.3 -0.2 0.1
fix 1 all nve
timestep 0.002
%s
run 40
"""


def field(lines, boundary="p p p"):
    return LIQUID % (boundary, f"{lines}\nfix_modify 2 energy yes")


MOVING = """variable place equal "1.5*xlat + 0.4*step*dt"
fix 2 all indent 80.0 sphere v_place 2.0 0.4 0.7"""
MELT = """units lj
lattice fcc 0.8
region box prism 0 2 0 3 0 2 0.4 0 -0.3
create_box 2 box
create_atoms 1 box
set atom 2*17 type 2
group few id 3:15
group heavy type 2
mass 1 1.0
mass 2 1.7
velocity all set 0 0 0
velocity few set 0.3 -0.2 0.1
replicate 2 1 2
set group few type 1
pair_style lj/cut 1.6
pair_coeff 1 1 1.0 1.0
pair_coeff 2 2 0.7 1.1
fix 1 all nve
timestep 0.002
run 40
"""


def gas():
    """64 particles of two types with velocities, in a file whose ids leave some out."""
    rng = np.random.default_rng(9)
    data("gas.data", [[1 + k % 2, *(place + rng.uniform(-0.1, 0.1, 3))]
                      for k, place in enumerate(grid(4, 6.0))], [6.0] * 3, "atomic", [1.0, 2.0])
    FOLDER_FILES["gas.data"] += "\nVelocities\n\n" + "".join(
        f"{k} " + " ".join(f"{v:.9g}" for v in rng.normal(size=3)) + "\n" for k in range(1, 65))


gas()
GAS = """units lj
atom_style atomic
read_data gas.data
lattice sc 1.0
region corner block 0 2.5 0 2.5 0 2.5
region middle block 1.5 4.4 1.5 4.4 1.5 4.4
region slab block INF INF INF INF 4.6 INF
group inner region middle
group top region slab
group few id 3:9 20:30
%s
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0
pair_coeff 2 2 0.7 1.1
fix 1 all nve
timestep 0.002
run 40
"""
COLLOIDS = """units lj
lattice sc 0.004
region box block 0 4 0 4 0 4
create_box 3 box
create_atoms 1 box
set atom 2*60 type 2
set atom 5*9 type 3
create_atoms 3 single 3.9 0.1 0.05 units box
create_atoms 3 single 3.9 1.2 0.1 units box
create_atoms 3 single 6.2 6.4 3.1 units box
set atom 13 type 1
group third id 1 6 11 16
displace_atoms third move 0.8 0.6 0.3 units box
mass 1 9.0
mass 2 6.0
mass 3 1.0
pair_style colloid 12.5
pair_coeff 1 1 1.0 1.0 5.0 5.0 12.5
pair_coeff 1 2 2.0 1.1 5.0 3.0
pair_coeff 2 2 1.5 1.0 3.0 3.0 11.0
pair_coeff 1 3 5.0 1.0 5.0 0.0 7.0
pair_coeff 2 3 4.0 1.0 3.0 0.0 6.0
pair_coeff 3 3 10.0 1.0 0.0 0.0 2.5
group few id 1:20
velocity all set 0 0 0
velocity few set 0.3 -0.2 0.1
fix 1 all nve
timestep 0.002
run 40
"""
BONDED = """units lj
atom_style molecular
lattice sc 0.8
region box block 0 5 0 5 0 5
create_box 2 box bond/types 2 angle/types 1 extra/bond/per/atom 6 %s
create_atoms 1 box
set atom 1*40 type 2
mass * 1.0
group few type 2
group others id 60:90
pair_style lj/cut 2.0
pair_coeff * * 1.0 0.9
bond_style harmonic
bond_coeff 1 40 1.0
bond_coeff 2 30 1.2
angle_style harmonic
angle_coeff 1 9.0 95
special_bonds lj/coul 0 1 1
create_bonds many few few 1 0.5 1.1
create_bonds many few others 2 0.5 1.1
create_bonds single/bond 2 100 101
create_bonds single/angle 1 100 101 106
velocity all set 0 0 0
displace_atoms few move 0.05 0.02 0
fix 1 all nve
timestep 0.002
run 40
""" % "extra/special/per/atom 40 extra/angle/per/atom 2"
CHAINS = (CHARMM % "pair_style lj/charmm/coul/charmm/implicit 4.0 5.5 3.0 5.0").replace(
    "3 180 1.0", "3 180 0").replace("2 0 0.5", "2 0 0")
FOLDER_FILES["bent.mol"] = """a bent molecule

3 atoms
2 bonds
1 angles

Coords

1 0.5 0.0 0.1
2 1.4 0.2 0.0
3 0.3 1.0 -0.2

Types

1 1
2 2
3 2

Charges

1 -0.6
2 0.3
3 0.3

Bonds

1 1 1 2
2 1 1 3

Angles

1 1 2 1 3
"""
TEMPLATES = """units lj
atom_style full
lattice sc 0.03
region box block 0 2 0 2 0 2
create_box 3 box bond/types 2 angle/types 1 extra/bond/per/atom 2 %s
mass * 1.5
molecule bent bent.mol boff 1
create_atoms 0 single 0.4 0.5 0.6 mol bent 7 rotate 40 1 2 -1
create_atoms 1 single 1.1 0.6 0.8 mol bent 7 rotate 110 0 1 1
create_atoms 0 single 0.7 1.3 0.5 mol bent 7 rotate 200 1 0 1
group few id 1:4
pair_style lj/cut/coul/cut 2.5
pair_coeff * * 1.0 0.9
bond_style harmonic
bond_coeff * 40 1.1
angle_style harmonic
angle_coeff 1 9.0 95
special_bonds coul 1 1 1
special_bonds lj 0 0 1
velocity all set 0 0 0
velocity few set 0.3 -0.2 0.1
fix 1 all nve
timestep 0.002
run 40
""" % "extra/angle/per/atom 1 extra/special/per/atom 6"
REAL = """units real
lattice fcc 5.3
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
group few id 1:60
mass 1 39.9
pair_style lj/cut 8.0
pair_coeff 1 1 0.24 3.4
velocity all set 0 0 0
velocity few set 0.01 -0.005 0.002 units box
displace_atoms few move 0.1 0.05 0.02 units box
fix 1 all nve
fix 2 all viscous 3.0
run 60
"""
FIELDS = {
    "indent": field("fix 2 all indent 100.0 sphere 0.3 3.8 1.5 0.9"),
    "indent within": field("fix 2 all indent 30.0 sphere 3.1 3.6 3.3 3.0 side in units box"),
    "indent by a cylinder": field("fix 2 few indent 60.0 cylinder y 0.2 3.9 0.8"),
    "indent by a plane": field("fix 2 all indent 50.0 plane z 0.7 lo", "p p f"),
    "indent by a plane above": field("fix 2 all indent 50.0 plane x 6.0 hi units box", "f p p"),
    "indent that moves": field(MOVING, "f p p"),
    "gravity down a chute": field("fix 2 all gravity 0.7 chute 25", "p p f"),
    "gravity by angles": field("fix 2 few gravity 0.7 spherical 40 110", "f f f"),
    "tethers along two axes": field("fix 2 few spring/self 40.0 xz"),
    "force": field("variable push equal 0.5*2\nfix 2 few addforce v_push 0.0 -0.4"),
    "replicate": MELT,
    "replicate a file": CHAINS.replace("read_data chains.data",
                                       "read_data chains.data\nreplicate 1 2 2"),
    "a file that is changed": GAS % (
        "delete_atoms group few\ncreate_atoms 2 single 0.2 0.1 0.2\n"
        "displace_atoms inner move 0.1 0.05 0.0\nvelocity top set 0.5 NULL -0.2\n"
        "velocity all scale 0.9\nvelocity few set 0 0 0"),
    "colloids": COLLOIDS,
    "colloids, shifted": COLLOIDS.replace("velocity", "pair_modify shift yes\nvelocity", 1),
    "bonds that are made": BONDED,
    "a box that was changed": field(
        "change_box all x scale 1.05 remap y final 0 4.4 units lattice\n"
        "variable K equal -2^2*20+2^3^2\nfix 2 all indent ${K} sphere 0.3 4.1 1.5 0.9"),
    "groups are static": field("group two type 2\ngroup both type 1\ngroup both id 240:256\n"
                               "group ends union two few\ngroup few id 200\nset atom 1*30 type 1\n"
                               "fix 3 both addforce 0.0 0.3 0.0\nfix_modify 3 energy yes\n"
                               "fix 2 ends addforce 0.7 0.0 -0.4"),
    "a hybrid has one style for a pair": (LIQUID % ("p p p", "")).replace(
        "pair_style lj/cut 2.5", "pair_style hybrid lj/cut 2.5 morse 2.3").replace(
        "pair_coeff 1 1", "pair_coeff * * lj/cut 1.0 1.0\npair_coeff 1 2 morse 1.1 5.0 1.2\n"
        "pair_coeff 1 1 lj/cut").replace("pair_coeff 2 2", "pair_coeff 2 2 lj/cut"),
    "molecules of a template": TEMPLATES,
    "drag in units real": REAL,
    "no energy by types": LIQUID % ("p p p", "neigh_modify exclude type 1 2"),
    "no energy by groups": LIQUID % ("p p p", "group two type 2\n"
                                     "neigh_modify delay 0 exclude group two two"),
    "no energy beside bodies": (RIGID % "rigid/small molecule").replace(
        "fix 1 bound", "neigh_modify exclude type 3 3\nfix 1 bound"),
}
# Of several jobs: their last one is compared.
IN_PARTS = {
    "a field in a box that was deformed": field(
        "unfix 1\nfix 8 all deform 1 x scale 1.1 y delta -0.1 0.2 z final 0.1 4.3 units lattice\n"
        "run 20\nunfix 8\nfix 1 all nve\nfix 2 all indent 100.0 sphere 0.3 4.1 1.5 0.9").replace(
            "velocity few set 0.3 -0.2 0.1\n", ""),
    "a field that ends": field("fix 2 all indent 100.0 sphere 0.3 3.8 1.5 0.9").replace(
        "run 40", "run 30\nunfix 2\nfix 3 all indent 60.0 cylinder y 0.2 3.9 0.8\n"
        "fix_modify 3 energy yes\nrun 40"),
    "walls that come": (LIQUID % ("p p f", "run 20\nfix 2 all wall/lj93 zlo -0.8 1.0 1.0 2.5 zhi "
                                  "EDGE 1.0 1.0 2.5\nfix_modify 2 energy yes")),
}

# Without bonds yet: five particles, each at the distance 1 of the next.
FIVE_IN_A_ROW = """units lj
atom_style molecular
boundary f p p
lattice sc 1.0
region box block 0 6 0 20 0 20
create_box 1 box bond/types 2 extra/bond/per/atom 20 extra/special/per/atom 60
""" + "".join(f"create_atoms 1 single {k} 1 1\n" for k in range(1, 6)) + """mass 1 1
pair_style lj/cut 5.0
pair_coeff * * 0 1
bond_style harmonic
bond_coeff * 1 1
"""
