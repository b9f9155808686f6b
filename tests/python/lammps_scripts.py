"""Scripts of LAMMPS for test_import_lammps.py, and their data files. lammps_reference.py runs them
in LAMMPS and keeps what it says in lammps_import.json."""
import numpy as np

FOLDER_FILES = {}
FOLDER_FILES["two.mol"] = """two particles

2 atoms

Coords

1 0.0 0.0 0.0
2 0.8 0.0 0.0

Types

1 1
2 1
"""


def data(name, atoms, box, style, masses, lists=None, more=""):
    """Writes a data file: atoms are rows without ids; lists: {"Bonds": [(type, ids …)]}."""
    lists = lists or {}
    kinds = {k: max(row[0] for row in rows) for k, rows in lists.items()}
    text = f"{name}\n\n{len(atoms)} atoms\n{len(masses)} atom types\n"
    text += "".join(f"{len(rows)} {k.lower()}\n{kinds[k]} {k[:-1].lower()} types\n"
                    for k, rows in lists.items())
    text += more + "\n" + "".join(f"0 {edge} {a}lo {a}hi\n" for a, edge in zip("xyz", box))
    text += "\nMasses\n\n" + "".join(f"{k} {m}\n" for k, m in enumerate(masses, 1))
    text += f"\nAtoms # {style}\n\n" + "".join(
        f"{k} " + " ".join(f"{v:.15g}" for v in row) + "\n" for k, row in enumerate(atoms, 1))
    for k, rows in lists.items():
        text += f"\n{k}\n\n" + "".join(f"{n} " + " ".join(map(str, row)) + "\n"
                                       for n, row in enumerate(rows, 1))
    FOLDER_FILES[name] = text


def rotation(rng):
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def grid(n, edge):
    return (np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.5) * (
        edge / n)


def water():
    """64 molecules of SPC/E at exact lengths and angles."""
    rng, atoms, bonds, angles = np.random.default_rng(1), [], [], []
    half = np.radians(109.47) / 2
    shape = np.array([[0, 0, 0], [np.sin(half), np.cos(half), 0], [-np.sin(half), np.cos(half), 0]])
    for m, place in enumerate(grid(4, 12.4)):
        turn = rotation(rng)
        for k, site in enumerate(shape):
            atoms.append([m + 1, 1 if k == 0 else 2, -0.8476 if k == 0 else 0.4238,
                          *(place + turn @ site)])
        bonds += [(1, 3 * m + 1, 3 * m + 2), (1, 3 * m + 1, 3 * m + 3)]
        angles.append((1, 3 * m + 2, 3 * m + 1, 3 * m + 3))
    data("water.data", atoms, [12.4] * 3, "full", [15.9994, 1.008],
         {"Bonds": bonds, "Angles": angles})


def trimers(charged):
    """27 bent trimers of two kinds of particles, and 27 single ones."""
    rng, atoms = np.random.default_rng(2), []
    shape = np.array([[0, 0, 0], [0.6, 0.1, 0], [-0.2, 0.7, 0.1]])
    for m, place in enumerate(grid(3, 9.0)):
        turn = rotation(rng)
        for k, site in enumerate(shape):
            q = [0.4 if k == 0 else -0.2] if charged else []
            atoms.append([m + 1, 1 if k == 0 else 2, *q, *(place + turn @ site)])
    for place in grid(3, 9.0):
        atoms.append([0, 3, *([0.0] if charged else []), *(place + 1.5)])
    data("charged.data" if charged else "trimers.data", atoms, [9.0] * 3,
         "full" if charged else "molecular", [2.0, 1.0, 1.5])


def chains():
    """12 charged chains of five, bent and twisted, for the force field of CHARMM."""
    rng, atoms, lists = np.random.default_rng(3), [], {
        "Bonds": [], "Angles": [], "Dihedrals": [], "Impropers": []}
    shape = np.array([[0, 0, 0], [1.4, 0.3, 0], [2.0, 1.6, 0.2], [3.3, 1.9, 0.9], [4.0, 3.1, 1.1]])
    for m in range(12):
        place = np.array([7 * (m % 2), 6 * (m // 2 % 2), 5.5 * (m // 4)]) + 1
        first = 5 * m
        for k, site in enumerate(shape + rng.uniform(-0.1, 0.1, shape.shape)):
            atoms.append([m + 1, 1 + k % 2, (-1)**k * 0.3 if k < 4 else 0.0, *(place + site)])
        lists["Bonds"] += [(1, first + k, first + k + 1) for k in range(1, 5)]
        lists["Angles"] += [(1, first + k, first + k + 1, first + k + 2) for k in range(1, 4)]
        lists["Dihedrals"] += [(1 + k % 2, *range(first + k, first + k + 4)) for k in (1, 2)]
        lists["Impropers"].append((1, first + 2, first + 1, first + 3, first + 4))
    data("chains.data", atoms, [15, 14, 18], "full", [12.0, 14.0], lists)


def styles():
    """20 chains of five, with five types of bonds and angles and three of dihedrals; tables of
    pairs, springs and a dihedral."""
    rng, atoms, lists = np.random.default_rng(4), [], {"Bonds": [], "Angles": [], "Dihedrals": []}
    shape = np.array([[0, 0, 0], [1.4, 0.3, 0], [2.0, 1.6, 0.2], [3.3, 1.9, 0.9], [4.0, 3.1, 1.1]])
    for m in range(20):
        first = 5 * m
        for site in shape + rng.uniform(-0.1, 0.1, shape.shape):
            atoms.append([m + 1, 1, *(site + [7 * (m % 2) + 1, 6 * (m // 2 % 2) + 1, m // 4 * 5])])
        lists["Bonds"] += [(1 + (m + k) % 5, first + k, first + k + 1) for k in range(1, 5)]
        lists["Angles"] += [(1 + (m + k) % 5, first + k, first + k + 1, first + k + 2)
                            for k in range(1, 4)]
        lists["Dihedrals"] += [(1 + (m + k) % 3, *range(first + k, first + k + 4))
                               for k in (1, 2)]
    data("styles.data", atoms, [15, 14, 26], "molecular", [12.0], lists)
    radians = np.pi / 180
    for name, x, energy, slope, words in (
            ("pair", np.linspace(0.5, 2.0, 601), lambda r: 3 * np.exp(-2 * r * r),
             lambda r: -12 * r * np.exp(-2 * r * r), ""),
            ("bond", np.linspace(0.5, 2.5, 401), lambda r: 200 * (r - 1.4)**2,
             lambda r: 400 * (r - 1.4), "FP -400 -400"),
            ("angle", np.linspace(0, 180, 361), lambda a: 30 * (a - 110)**2 * radians**2,
             lambda a: 60 * (a - 110) * radians**2, ""),
            ("dihedral", np.linspace(-180, 175, 72), lambda a: np.cos(2 * a * radians + 0.3),
             lambda a: -2 * radians * np.sin(2 * a * radians + 0.3), "DEGREES")):
        FOLDER_FILES[f"{name}.table"] = f"a table\n\nONE\nN {len(x)} {words}\n\n" + "".join(
            f"{k} {v:.10g} {energy(v):.15g} {-slope(v):.15g}\n" for k, v in enumerate(x, 1))


def pairs():
    """64 pairs far from each other, at distances from 0.9 to 1.3; 20 of them have a bond."""
    rng, atoms = np.random.default_rng(5), []
    for m, place in enumerate(grid(4, 16.0)):
        step = rng.normal(size=3)
        for k in range(2):
            atoms.append([m + 1, k + 1, *(place + k * rng.uniform(0.9, 1.3) *
                                          step / np.linalg.norm(step))])
    data("pairs.data", atoms, [16.0] * 3, "bond", [1, 1],
         {"Bonds": [(1, 2 * k + 1, 2 * k + 2) for k in range(20)]},
         "4 extra bond per atom\n10 extra special per atom\n")


def dipoles():
    """125 spheres with dipoles of the magnitude 1.3."""
    rng, atoms = np.random.default_rng(6), []
    for place in grid(5, 7.0):
        mu = rng.normal(size=3)
        atoms.append([1, *(place + rng.uniform(-0.1, 0.1, 3)), 0, *(1.3 * mu / np.linalg.norm(mu)),
                      1.0, 2.0])
    data("dipoles.data", atoms, [7.0] * 3, "hybrid dipole sphere", [1.0])


def spinning():
    """The same, of which each also turns: velocities and angular velocities."""
    dipoles()
    rng = np.random.default_rng(7)
    rows = "".join(f"{k} " + " ".join(f"{v:.9g}" for v in rng.uniform(-1, 1, 6) *
                                      [0.5, 0.5, 0.5, 8, 8, 8]) + "\n" for k in range(1, 126))
    FOLDER_FILES["spinning.data"] = FOLDER_FILES["dipoles.data"] + f"\nVelocities\n\n{rows}"


def spheres():
    """64 spheres of diameters from 0.8 to 1.2 and two densities."""
    rng = np.random.default_rng(8)
    data("spheres.data", [[1 + k % 2, rng.uniform(0.8, 1.2), 1.5 + k % 2,
                           *(place + rng.uniform(-0.1, 0.1, 3))]
                          for k, place in enumerate(grid(4, 5.0))], [5.0] * 3, "sphere", [1.0, 1.0])
    FOLDER_FILES["spheres.data"] = FOLDER_FILES["spheres.data"].replace(
        "\nMasses\n\n1 1.0\n2 1.0\n", "")  # which LAMMPS refuses of this style


for _make in (water, chains, styles, pairs, dipoles, spinning, spheres):
    _make()
trimers(False)
trimers(True)

ELLIPSOIDS = """units lj
atom_style ellipsoid
lattice sc 0.05
region box block 0 5 0 5 0 5
create_box 2 box
create_atoms 1 box
set type 1 mass 1.3 shape %s
set group all quat 1 0.3 0.2 50
set atom 1*40 quat 0.2 0.9 0.3 110
set atom 3*30 type 2
set type 2 shape 2 2 2
pair_style gayberne %s 4.0
pair_coeff 1 1 2.0 %s
pair_coeff 2 2 0.7 1.0 1 1 1 1 1 1
pair_coeff 1 2 0 1.0 0 0 0 1 1 1
fix 1 all nve/asphere
timestep 0.002
run 20
"""
CHARMM = """units real
atom_style full
read_data chains.data
%s
pair_coeff 1 1 0.08 3.1 0.05 2.8
pair_coeff 2 2 0.12 2.9
bond_style harmonic
bond_coeff 1 300 1.45
angle_style charmm
angle_coeff 1 40 112 0 0
dihedral_style charmm
dihedral_coeff 1 0.4 3 180 1.0
dihedral_coeff 2 0.3 2 0 0.5
improper_style harmonic
improper_coeff 1 12 0
special_bonds charmm
fix 1 all nve
timestep 0.5
run 20
"""
WATER = """units real
atom_style full
read_data water.data
pair_style lj/cut/coul/long 6.0
pair_coeff 1 1 0.1553 3.166
pair_coeff * 2 0.0 1.0
kspace_style ewald 1.0e-6
bond_style harmonic
bond_coeff 1 1000 1.0
angle_style harmonic
angle_coeff 1 100 109.47
special_bonds lj/coul 0 0 0
fix 1 all nve
fix 2 all %s
timestep 0.5
run 20
"""
RIGID = """units lj
atom_style molecular
read_data trimers.data
pair_style lj/cut 2.5
pair_coeff * * 1.0 1.0
pair_coeff 3 3 0.5 1.2
group bound type 1 2
group free type 3
neigh_modify exclude molecule/intra bound
fix 1 bound %s
fix 2 free nve
timestep 0.004
run 150
"""
DIPOLES = """units lj
atom_style hybrid dipole sphere
read_data dipoles.data
pair_style %s
pair_coeff 1 1 1.0 1.0
%s
timestep 0.002
run 20
"""
SPHERES = """units lj
atom_style sphere
%s
pair_style lj/cut 2.5
pair_coeff * * 1.0 1.0
fix 1 all nve/sphere
timestep 0.004
run 50
"""
MADE = """lattice sc 0.6
region box block 0 5 0 5 0 5
create_box 2 box
create_atoms 1 box
set atom 3*60 type 2
%s
displace_atoms all move 0.2 0 0
set atom 17 type 1
group few id 1:20
velocity all set 0 0 0
velocity few set 1.0 0.5 -0.5"""
AMBER = (CHARMM % "pair_style lj/cut/coul/long 5.5 6.0\nkspace_style ewald 1e-6").replace(
    " 0.05 2.8", "").replace("180 1.0", "180 0").replace("2 0 0.5", "2 0 0")
CLASS2 = """units real
atom_style full
read_data chains.data
pair_style lj/class2/coul/cut 5.5 6.0
pair_modify tail yes
pair_coeff 1 1 0.08 3.3
pair_coeff 2 2 0.12 3.0
bond_style class2
bond_coeff 1 1.45 300 -400 500
angle_style hybrid class2
angle_coeff 1 class2 112 40 -12 5
angle_coeff 1 class2 bb %s 1.45 1.45
angle_coeff 1 class2 ba 0 0 1.45 1.45
dihedral_style class2
dihedral_coeff 1 0.4 10 0.3 0 0.2 -20
dihedral_coeff 2 0.3 0 0.0 0 0.1 0
dihedral_coeff * mbt 0 0 0 1.45
dihedral_coeff * ebt 0 0 0 0 0 0 1.45 1.45
dihedral_coeff * at 0 0 0 0 0 0 112 112
dihedral_coeff * aat 0 112 112
dihedral_coeff * bb13 0 1.45 1.45
improper_style class2
improper_coeff 1 0 0
improper_coeff 1 aa 0 0 0 112 112 112
special_bonds lj/coul 0 0 1 dihedral yes
fix 1 all nve
timestep 0.5
run 20
"""
BONDED = """units real
atom_style molecular
read_data styles.data
pair_style lj/cut 5.5
pair_coeff 1 1 0.08 3.1
bond_style hybrid morse gromos harmonic/shift table spline 2000
bond_coeff 1 morse 90 1.9 1.45
bond_coeff 2*3 gromos 60 1.45
bond_coeff 4 harmonic/shift 40 1.45 2.1
bond_coeff 5 table bond.table ONE
angle_style hybrid quartic cosine/delta cosine/shift fourier %s
%s
dihedral_style hybrid quadratic helix table spline 2000
dihedral_coeff 1 quadratic 0.8 140
dihedral_coeff 2 helix 0.4 0.3 0.2
dihedral_coeff 3 table dihedral.table ONE
special_bonds lj 0 0 0
fix 1 all nve
timestep 0.5
run 20
"""
ANGLES = """angle_coeff 1 quartic 112 40 -12 5
angle_coeff 2 cosine/delta 40 110
angle_coeff 3 cosine/shift 20 110
angle_coeff 4 fourier 25 0.9 0.7 0.2
angle_coeff 5 """
CUBIC = """units lj
lattice fcc 0.8
region box block 0 3 0 3 0 3
create_box 2 box
create_atoms 1 box
set atom 1*40 type 2
mass * 1.2
pair_style lj/cubic
pair_coeff 1 1 1.0 1.0
pair_coeff 2 2 0.7 1.1
displace_atoms all move 0.1 0 0
group few id 1:50
velocity all set 0 0 0
velocity few set 1.0 0.5 -0.5
fix 1 all nve
timestep 0.002
run 50
"""
LJ96 = CUBIC.replace("pair_style lj/cubic", "pair_style lj96/cut 2.0\npair_modify tail yes\n"
                     "pair_coeff 1 2 0.8 1.05 1.8")
TABLE = CUBIC.replace("lj/cubic", "hybrid table spline 4000 lj/cut 2.0").replace(
    "1 1 1.0 1.0", "1 1 table pair.table ONE").replace(
    "2 2 0.7 1.1", "2 2 lj/cut 0.7 1.1\npair_coeff 1 2 lj/cut 0.8 1.05")
FIELD = """units real
atom_style charge
boundary p f p
region box block -12 12 -12 12 -12 12
lattice sc 5.0
create_box 2 box
region inner block -8 8 -8 8 -8 8 units box
create_atoms 1 region inner
set atom 1*9 type 2
set type 1 charge 0.3
set type 2 charge -0.6
mass * 20
pair_style lj/cut/coul/cut 9.0 8.0
pair_coeff * * 0.1 3.0
fix 1 all nve
fix 2 all efield 0.1 -0.2 0.05
fix_modify 2 energy yes
timestep 1.0
run 50
"""
SHEAR = """units lj
lattice fcc 0.8
region box prism 0 3 0 3 0 3 0 0 0
create_box 2 box
create_atoms 1 box
set atom 1*40 type 2
mass * 1.3
pair_style lj/cut 2.0
pair_coeff 1 1 1.0 1.0
pair_coeff 2 2 0.7 1.1
pair_modify mix arithmetic
group few id 1:54
group many id 55:108
velocity few set 0.1 0.1 -0.2
velocity many set -0.05 0 0.2
velocity many set -0.05 -0.1 0 sum yes
velocity all ramp vx 0 3.0 y 0 3 sum yes
fix 1 all %s
fix 2 all deform 1 xy erate 1.0 remap v
timestep 0.0005
run 100
"""
HALF = ("timestep 0.0005\nrun 100", "timestep 0.00025\nrun 200")
BOTH = "fix 1 all nve/sphere update dipole"
SCRIPTS = {
    "shake": WATER % "shake 1e-8 100 0 b 1 a 1",
    "rattle by mass": WATER % "rattle 1e-8 100 0 m 1.008 a 1",
    "rigid/small": RIGID % "rigid/small molecule",
    "rigid": RIGID % "rigid/nve molecule",
    "rigid groups": RIGID.replace("fix 1", "group a id 1:3\ngroup b id 4:6\ngroup rest id 7:81\n"
                                  "fix 9 rest rigid molecule\nfix 1") % "rigid group 2 a b",
    "rigid charges": RIGID.replace("molecular", "full").replace("trimers", "charged").replace(
        "pair_style lj/cut 2.5", "pair_style lj/cut/coul/cut 2.5 2.8") % "rigid/small molecule",
    "charmm/coul/charmm": CHARMM % "pair_style lj/charmm/coul/charmm 4.0 5.5",
    "charmm implicit": (CHARMM % "pair_style lj/charmm/coul/charmm/implicit 4.0 5.5 3.0 5.0")
    .replace("3 180 1.0", "3 180 0").replace("2 0 0.5", "2 0 0"),
    "charmm/coul/long": CHARMM % "pair_style lj/charmm/coul/long 4.0 5.5 6.0\n"
                                 "kspace_style ewald 1e-6",
    "weights of amber": AMBER.replace("special_bonds charmm", "special_bonds amber"),
    "weights": AMBER.replace("special_bonds charmm", "special_bonds lj/coul 0 0 0.5"),
    "weights of charges": AMBER.replace("special_bonds charmm",
                                        "special_bonds lj 0 0 1 coul 0 0 0.25"),
    "fourier": AMBER.replace("dihedral_style charmm", "dihedral_style hybrid fourier nharmonic")
    .replace("dihedral_coeff 1 0.4 3 180 0", "dihedral_coeff 1 fourier 2 0.4 3 180 0.7 1 30")
    .replace("dihedral_coeff 2 0.3 2 0 0", "dihedral_coeff 2 nharmonic 4 0.5 0.8 -0.3 1.2")
    .replace("improper_style harmonic", "improper_style cvff")
    .replace("improper_coeff 1 12 0", "improper_coeff 1 2.2 -1 2"),
    "weights and charmm": AMBER.replace("special_bonds charmm", "special_bonds amber").replace(
        "lj/cut/coul/long 5.5 6.0", "lj/charmm/coul/long 5.0 5.5 6.0"),
    "gromacs": AMBER.replace("pair_style lj/cut/coul/long 5.5 6.0",
                             "pair_style lj/gromacs/coul/gromacs 4.0 6.0 0.5 5.8")
    .replace("kspace_style ewald 1e-6", "").replace("special_bonds charmm",
                                                    "dielectric 4.0\nspecial_bonds lj/coul 0 0 1"),
    "gayberne x": ELLIPSOIDS % ("3 1 1", "1.0 3.0 1.0", "1.0 0.2 1 1 0.2 1 1"),
    "gayberne y": ELLIPSOIDS % ("1 3 1", "1.0 1.0 2.0", "1.0 1.5 0.3 1.5 1.5 0.3 1.5"),
    "gayberne z general": ELLIPSOIDS % ("1 1 3", "0.8 2.0 1.3", "1.1 1 1 0.2 1 1 0.2"),
    "gayberne without a cut-off": (ELLIPSOIDS % ("3 1 1", "1.0 3.0 1.0", "1.0 0.2 1 1 0.2 1 1")
                                   ).replace("pair_coeff 1 2 0 1.0 0 0 0 1 1 1",
                                             "pair_coeff 1 2 1 1.0 0 0 0 1 1 1 0.0"),
    "class2": CLASS2 % 0,
    "lj96 and tail": LJ96,
    "pair table": TABLE,
    "bonded": BONDED % ("fourier/simple", ANGLES + "fourier/simple 20 1.0 2.0"),
    "bonded table": BONDED % ("table spline 2000", ANGLES + "table angle.table ONE"),
    "cubic": CUBIC,
    "field": FIELD,
    "dipole/cut": DIPOLES % ("lj/cut/dipole/cut 2.5 3.0", BOTH),
    "dipole/long": DIPOLES % ("lj/cut/dipole/long 2.5 3.4",
                              "kspace_style ewald/disp 1.0e-6\n" + BOTH),
    "propel/self": DIPOLES % ("lj/cut/dipole/cut 2.5 3.0", BOTH + "\nfix 2 all propel/self dipole "
                              "7.0"),
    "propel/self quat": ELLIPSOIDS.replace("timestep", "fix 2 all propel/self quat 5.0\n"
                                           "timestep") % ("3 1 1", "1.0 3.0 1.0",
                                                          "1.0 0.2 1 1 0.2 1 1"),
    "angular velocities": (DIPOLES % ("lj/cut/dipole/cut 2.0 3.0", BOTH + "/dlm")).replace(
        "dipoles.data", "spinning.data").replace("timestep 0.002", "timestep 0.001"),
    "spheres": SPHERES % (MADE % "set type 1 diameter 2\nset type 1 density 3\n"
                          "set type 2 diameter 1.2"),
    "spheres, density first": SPHERES % (MADE % "set group all density 3\n"
                                         "set group all diameter 2"),
    "spheres of a file": SPHERES % "read_data spheres.data\nset type 2 diameter 2\n"
                                   "set atom 5 density 9",
    "spheres as they are made": SPHERES % (MADE % ""),
    "brownian/asphere": (ELLIPSOIDS % ("3 1 1", "1.0 3.0 1.0", "1.0 0.2 1 1 0.2 1 1")).replace(
        "nve/asphere", "brownian/asphere 1.0 7 rng none gamma_t_eigen 0.5 2.0 3.0 "
                       "gamma_r_eigen 0.1 0.4 0.7").replace("0.002", "0.000005"),
    "bonds": """units lj
atom_style bond
special_bonds lj 0 1 1
read_data pairs.data
bond_style harmonic
bond_coeff 1 30 1.0
pair_style lj/cut 1.5
pair_coeff * * 0.0 1.0
fix 1 all nve
fix 2 all bond/create 5 1 2 1.1 1 iparam 1 1 jparam 1 2
fix 3 all bond/break 5 1 1.2
timestep 0.001
run 5
""",
}
SHEARED = {"sheared": SHEAR % "nve", "sheared bath": SHEAR % "nvt/sllod temp 0.5 0.5 0.1",
           "sheared without": SHEAR % "nvt/sllod temp 0.5 0.5 1e6"}
SHEARED.update({f"{name}, half": text.replace(*HALF) for name, text in SHEARED.items()})
