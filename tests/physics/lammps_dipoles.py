#!/usr/bin/python3
"""Writes lammps_dipoles.json, dipoles that LAMMPS has summed up (dipoles.py). Needs LAMMPS with the
packages KSPACE and EXTRA-PAIR, and numpy:

    lammps_dipoles.py [LMP]
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy

INPUT = """units lj
atom_style hybrid sphere dipole
read_data start.data
pair_style lj/long/dipole/long cut long 3.9
pair_coeff * * 0.0 1.0
kspace_style ewald/disp 1e-9
kspace_modify gewald 0.95
neighbor 0.05 bin
thermo_style custom step pe
thermo_modify norm no format float %.12g
dump all all custom 1 all.dump id fx fy fz tqx tqy tqz
dump_modify all sort id format float %.9g
run 0
"""


def scattered(n, box, distance, random):
    found = []
    while len(found) < n:
        x = random.uniform(0, 1, 3) * box
        d = numpy.array([x - y for y in found]).reshape(-1, 3)
        d -= numpy.round(d / box) * box
        if ((d**2).sum(axis=1) > distance**2).all():
            found.append(numpy.round(x, 6))
    return numpy.array(found)


def main():
    random, box, n = numpy.random.default_rng(21), numpy.array([8, 9, 10]), 48
    p = scattered(n, box, 0.8, random)
    q = random.normal(size=(n, 4))
    q = numpy.round(q / numpy.sqrt((q**2).sum(axis=1))[:, None], 8)
    w, x, y, z = q.T
    m = 1.5 * numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], 1)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "start.data"), "w") as out:
            out.write(f"dipoles\n\n{n} atoms\n1 atom types\n\n" + "".join(
                f"0 {edge} {axis}lo {axis}hi\n" for edge, axis in zip(box, "xyz")) +
                "\nAtoms # hybrid\n\n")
            for k in range(n):
                out.write(f"{k + 1} 1 {' '.join(map(str, p[k]))} 1 1 0 "
                          f"{' '.join(f'{v:.12f}' for v in m[k])}\n")
        with open(os.path.join(folder, "in.dipoles"), "w") as out:
            out.write(INPUT)
        done = subprocess.run([sys.argv[1] if len(sys.argv) > 1 else "lmp", "-in", "in.dipoles"],
                              cwd=folder, capture_output=True, text=True, check=True).stdout
        lines = done.splitlines()
        row = next(k for k, line in enumerate(lines) if line.split() == ["Step", "PotEng"])
        found = numpy.loadtxt(os.path.join(folder, "all.dump"), skiprows=9)
    text = json.dumps({
        "about": "dipoles of 1.5 along x of each frame, by lammps_dipoles.py", "version": lines[0],
        "box": box.tolist(), "energy": float(lines[row + 1].split()[1]), "position": p.tolist(),
        "quaternion": q.tolist(), "force": found[:, 1:4].tolist(),
        "torque": found[:, 4:7].tolist()})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lammps_dipoles.json")
    with open(path, "w") as out:
        out.write(text.replace("], [", "],\n[").replace(', "', ',\n"') + "\n")


main()
