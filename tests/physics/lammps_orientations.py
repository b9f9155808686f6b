#!/usr/bin/python3
"""Writes lammps_orientations.json: ellipsoids and rigid bodies by LAMMPS, whose program `lmp` must
be installed with the packages ASPHERE, MOLECULE and RIGID.

    lammps_orientations.py lammps_orientations.json
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import textwrap

import numpy


def lammps(folder, script):
    with open(os.path.join(folder, "in.lammps"), "w") as out:
        out.write(script)
    done = subprocess.run(["lmp", "-in", "in.lammps", "-log", "log"], cwd=folder,
                          capture_output=True, text=True, check=True)
    return done.stdout


def rows(text, steps, columns):
    """Of the thermo output: the lines of these steps."""
    return [[float(x) for x in line.split()] for line in text.splitlines()
            if len(line.split()) == columns and line.split()[0] in steps]


def last_frame(path):
    frames = []
    with open(path) as lines:
        for line in lines:
            if line.startswith("ITEM: ATOMS"):
                frames.append([])
            elif line.startswith("ITEM: TIMESTEP"):
                frames = frames[:1]
            elif frames and len(line.split()) == 7:
                frames[-1].append([float(x) for x in line.split()])
    return numpy.array(frames[-1])


def box(edge):
    return "".join(f"0 {edge} {a}lo {a}hi\n" for a in "xyz")


def unit_quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / numpy.linalg.norm(q, axis=1)[:, None]


def gay_berne(folder):
    kappa, kappa_prime, mu, nu, cutoff, edge, n = 3, 5, 2, 1, 4, 9.0, 40
    rng = numpy.random.default_rng(3)
    at = numpy.empty((0, 3))
    while len(at) < n:
        r = rng.uniform(0, edge, 3)
        d = at - r
        d -= edge * numpy.round(d / edge)
        if (numpy.sqrt((d**2).sum(1)) > 1.75).all():
            at = numpy.vstack([at, r])
    at, q = at.round(8), unit_quaternions(rng, n).round(9)
    with open(os.path.join(folder, "data"), "w") as out:
        out.write(f"ellipsoids\n\n{n} atoms\n{n} ellipsoids\n1 atom types\n\n{box(edge)}\n"
                  "Atoms # ellipsoid\n\n")
        out.writelines(f"{i + 1} 1 1 1 {x} {y} {z}\n" for i, (x, y, z) in enumerate(at))
        out.write("\nEllipsoids\n\n")
        out.writelines(f"{i + 1} {kappa} 1 1 {w} {x} {y} {z}\n"
                       for i, (w, x, y, z) in enumerate(q))
    # In LAMMPS epsilon has a factor that depends on the shapes; for parallel ellipsoids it is
    # taken out, and that of Gay and Berne put in.
    chi = (kappa**2 - 1) / (kappa**2 + 1)
    a, b, c = kappa / 2, 0.5, 0.5
    shape = (a * b + c * c) * math.sqrt(a * b)
    epsilon = (1 - chi**2)**(-nu / 2) / (2 * shape**2 / (8 * (a * b * c)**2))**(nu / 2)
    text = lammps(folder, f"""units lj
atom_style ellipsoid
read_data data
pair_style gayberne 1.0 {nu} {mu} {cutoff}
pair_coeff 1 1 {epsilon:.15g} 1.0 {1 / kappa_prime} 1 1 {1 / kappa_prime} 1 1
fix 1 all nve/asphere
thermo_style custom step pe
thermo_modify format float %.12g norm no
dump 1 all custom 1 frames id fx fy fz tqx tqy tqz
dump_modify 1 sort id format float %.9g
run 0
""")
    frame = last_frame(os.path.join(folder, "frames"))
    return {"edge": edge, "kappa": kappa, "kappa_prime": kappa_prime, "mu": mu, "nu": nu,
            "cutoff": cutoff, "positions": at.tolist(), "quaternions": q.tolist(),
            "energy": rows(text, ["0"], 2)[0][1], "forces": frame[:, 1:4].tolist(),
            "torques": frame[:, 4:7].tolist()}


def rigid(folder):
    """Trimers of equal masses on a lattice, from rest."""
    rng = numpy.random.default_rng(4)
    sites = numpy.array([[0.3, 0.2, 0.1], [-0.3, 0.1, 0], [0, 0.4, 0.5]])
    sites -= sites.mean(0)
    inertia = sum((s @ s) * numpy.eye(3) - numpy.outer(s, s) for s in sites)
    moments, axes = numpy.linalg.eigh(inertia)
    if numpy.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    sites = sites @ axes
    k, spacing, timestep, steps = 3, 1.6, 0.0005, 400
    edge = k * spacing
    grid = numpy.meshgrid(*[numpy.arange(k)] * 3, indexing="ij")
    at = (numpy.stack(grid, -1).reshape(-1, 3) + 0.5) * spacing
    q = unit_quaternions(rng, len(at))
    w, x, y, z = q.T
    turn = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    r = (at[:, None] + numpy.einsum("abi,kb->ika", turn, sites)).reshape(-1, 3)
    image = numpy.floor(r / edge).astype(int)
    r -= image * edge
    with open(os.path.join(folder, "data"), "w") as out:
        out.write(f"trimers\n\n{len(r)} atoms\n1 atom types\n\n{box(edge)}\nMasses\n\n1 1\n\n"
                  "Atoms # molecular\n\n")
        for i, (p, m) in enumerate(zip(r, image)):
            out.write(f"{i + 1} {i // 3 + 1} 1 {p[0]:.15g} {p[1]:.15g} {p[2]:.15g} "
                      f"{m[0]} {m[1]} {m[2]}\n")
    text = lammps(folder, f"""units lj
atom_style molecular
read_data data
pair_style lj/cut 2.2
pair_coeff 1 1 0.5 0.7
pair_modify shift yes
neighbor 0.2 bin
neigh_modify exclude molecule/intra all
fix 1 all rigid/nve/small molecule
timestep {timestep}
thermo_style custom step pe ke
thermo_modify format float %.12g norm no
thermo {steps}
dump 1 all custom {steps} frames id xu yu zu fx fy fz
dump_modify 1 sort id format float %.10g
run {steps}
""")
    frame = last_frame(os.path.join(folder, "frames"))
    table = rows(text, ["0", str(steps)], 3)
    return {"edge": edge, "centers": at.round(12).tolist(), "quaternions": q.round(12).tolist(),
            "sites": sites.round(12).tolist(), "mass": 3, "moments": moments.round(12).tolist(),
            "timestep": timestep, "steps": steps, "energy": [row[1] for row in table],
            "kinetic": table[-1][2], "sites_after": frame[:, 1:4].tolist()}


result = {"about": "pair_style gayberne and fix rigid/nve/small, by lammps_orientations.py"}
for make in (gay_berne, rigid):
    with tempfile.TemporaryDirectory() as folder:
        result[make.__name__] = make(folder)
with open(sys.argv[1], "w") as out:
    out.write(textwrap.fill(json.dumps(result), 100, break_long_words=False,
                            break_on_hyphens=False) + "\n")
