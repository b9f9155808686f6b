"""Formulas: compiled while Python runs, which has the engine's library for itself alone."""
import json
import subprocess
import sys

import numpy as np
import pytest

import perrin
from conftest import DEVICE

PAIRS = [{"types": ["A", "A"], "epsilon": 1.0, "sigma": 1.0}]
LENNARD_JONES = "4*epsilon*((sigma/r)^12 - (sigma/r)^6)"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """One for this file: what is compiled once is found again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERRIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def formula_job(liquid):
    return {**liquid, "forces": [{"type": "pair_formula", "energy": LENNARD_JONES, "cutoff": 2.5,
                                  "truncation": "force_shift", "pairs": PAIRS}]}


def test_a_pair_formula_is_the_pair_potential(liquid):
    own, formula = perrin.Simulation(liquid), perrin.Simulation(formula_job(liquid))
    for sim in (own, formula):
        sim.run(20)
    np.testing.assert_allclose(formula.positions, own.positions, atol=1e-4)
    assert formula.totals.potential == pytest.approx(own.totals.potential, rel=1e-5)
    assert formula.totals.pressure == pytest.approx(own.totals.pressure, rel=1e-4, abs=1e-3)


def test_an_external_formula_gives_its_own_energy():
    k, job = 2.5, {
        "seed": 3, "device": DEVICE,
        "system": {"type": "random", "particles": {"A": 20}, "box": [20, 20, 20]},
        "forces": [{"type": "external_formula", "energy": "k/2*(x^2 + y^2 + z^2)",
                    "types": {"A": {"k": 2.5}}}],
        "stages": [{"type": "md",
                    "integrator": {"type": "velocity_verlet", "timestep": 0.001}}]}
    sim = perrin.Simulation(job)
    x = sim.positions - 20 * np.round(sim.positions / 20)  # the image nearest to 0
    assert sim.totals.potential == pytest.approx(k / 2 * np.sum(x**2), rel=1e-5)
    np.testing.assert_allclose(sim.forces, -k * x, rtol=1e-4, atol=1e-4)


def test_the_program_takes_formulas(liquid, program, tmp_path):
    """As `perrin` of the wheel, `python -m perrin`, and the program of the same build."""
    job = formula_job(liquid)
    job["stages"][0] = {**job["stages"][0], "steps": 2}
    (tmp_path / "job.json").write_text(json.dumps(job))
    for command in ([sys.executable, "-m", "perrin"], [program]):
        done = subprocess.run([*command, "run", "job.json", "--quiet"], cwd=tmp_path,
                              capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
