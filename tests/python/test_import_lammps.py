"""`perrin import lammps` of molecules, bodies and particles that look somewhere, against LAMMPS:
lammps_scripts.py, lammps_reference.py, lammps_import.json."""
import json
import os

import numpy as np
import pytest
from lammps_scripts import FOLDER_FILES, SCRIPTS

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


# Pressures: relative tolerance. LAMMPS's of constraints is that of a step of finite length; those of
# bodies at the start (see import.md) and of active forces are others.
PRESSURE = {"shake": 1e-3, "rattle by mass": 1e-3, "rigid/small": None, "rigid": None,
            "rigid groups": None, "rigid charges": None, "propel/self": None,
            "propel/self quat": None, "charmm/coul/charmm": None}
NOT_DERIVATIVES = ["charmm/coul/charmm"]  # forces of LAMMPS


@pytest.mark.parametrize("name", SCRIPTS)
def test_like_lammps(tmp_path, name):
    """Energies are those of LAMMPS to single precision, 3e-6 of their parts, also after the run;
    particles have moved as far, to 2e-4 of the longest way."""
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
