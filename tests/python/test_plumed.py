"""PLUMED through a PythonForce, against the same biases of the engine and by hand. Needs the
package plumed and, in PLUMED_KERNEL, its library."""
import os

import numpy as np
import pytest

import perrin
from conftest import GAS_TIMESTEP as TIMESTEP

pytest.importorskip("plumed")
if not os.path.exists(os.environ.get("PLUMED_KERNEL", "")):
    pytest.skip("PLUMED_KERNEL names no library", allow_module_level=True)
from perrin.plumed import plumed_force  # noqa: E402


def simulation(gas, lines, **more):
    return perrin.Simulation({**gas, "forces": [plumed_force(lines, timestep=TIMESTEP, **more)]})


def test_a_restraint_of_a_distance(gas):
    """Energy, forces and virial of κ/2 (d - d0)², by hand, along a path."""
    sim = simulation(gas, "d: DISTANCE ATOMS=4,18\nRESTRAINT ARG=d AT=2.0 KAPPA=30")
    begin = sim.totals.total
    for _ in range(4):
        r = sim.box.nearest(sim.unwrapped[17] - sim.unwrapped[3])
        d = np.linalg.norm(r)
        pull = 30 * (d - 2) * r / d  # on particle 3
        expected = np.zeros((64, 3))
        expected[3], expected[17] = pull, -pull
        np.testing.assert_allclose(sim.forces, expected, atol=1e-4 * np.abs(expected).max())
        assert sim.totals.potential == pytest.approx(15 * (d - 2) ** 2, rel=1e-5)
        xx, yy, zz, xy, xz, yz = -np.outer(r, pull)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        np.testing.assert_allclose(sim.totals.virial, [xx, yy, zz, xy, xz, yz],
                                   atol=1e-4 * np.abs(pull).max() * d)
        sim.run(40)
    # The error of velocity Verlet: (ω h)²/8 of the spring's energy, ω² = 2 κ/m.
    assert sim.totals.total == pytest.approx(begin, abs=60 * TIMESTEP**2 / 8 * abs(begin))


def test_it_is_the_bias_of_the_engine(gas):
    """A spring between centres of mass of groups, beside the force group_restraint."""
    spring = {"type": "group_restraint", "groups": ["one", "two"], "stiffness": 40, "length": 3}
    job = {**gas, "groups": {"one": {"ids": list(range(8))}, "two": {"ids": list(range(30, 36))}}}
    own = perrin.Simulation({**job, "forces": [spring]})
    by_plumed = simulation(job, "one: COM ATOMS=1-8 NOPBC\ntwo: COM ATOMS=31-36 NOPBC\n"
                                "d: DISTANCE ATOMS=one,two NOPBC\nRESTRAINT ARG=d AT=3 KAPPA=40",
                           conserves_momentum=True)  # velocities are drawn alike
    own.run(60)
    by_plumed.run(60)
    np.testing.assert_allclose(by_plumed.unwrapped, own.unwrapped, atol=2e-4)
    assert by_plumed.totals.potential == pytest.approx(own.totals.potential, rel=1e-3)


def test_named_units(gas):
    """PLUMED's own nm and kJ/mol for a job in Å and kcal/mol."""
    job = {**gas, "units": {"length": "angstrom", "energy": "kcal/mol", "mass": "u"},
           "system": {**gas["system"], "parts": [{"type": "random", "particles": {"A": 64}}],
                      "masses": {"A": 40}}, "velocity": {"temperature": 300}}
    sim = simulation(job, "d: DISTANCE ATOMS=1,2\nRESTRAINT ARG=d AT=0.2 KAPPA=8368",
                     units=job["units"])
    d = np.linalg.norm(sim.box.nearest(sim.unwrapped[1] - sim.unwrapped[0]))
    # 8368 kJ/mol/nm² = 20 kcal/mol/Å²
    assert sim.totals.potential == pytest.approx(10 * (d - 2) ** 2, rel=1e-4)


def test_hills_are_put_down_once(gas, tmp_path):
    hills = tmp_path / "HILLS"
    sim = simulation(gas, f"""
d: DISTANCE ATOMS=1,2   # of two particles
METAD ...
  ARG=d SIGMA=0.1 HEIGHT=0.5 PACE=10
  FILE={hills}
... METAD
FLUSH STRIDE=1
""", temperature=1.0, log=tmp_path / "plumed.log")
    for _ in range(5):
        sim.run(10)
        sim.totals, sim.forces
    rows = np.loadtxt(hills)
    np.testing.assert_allclose(rows[:, 0], TIMESTEP * 10 * np.arange(1, 6), rtol=1e-6)
    assert "Perrin" in (tmp_path / "plumed.log").read_text()


def test_mistakes(gas):
    with pytest.raises(Exception, match="NOSUCHACTION"):
        simulation(gas, "NOSUCHACTION ARG=d").run(1)
    flat = {**gas, "system": {"type": "random", "particles": {"A": 10}, "box": [9, 9],
                              "dimension": 2}}
    with pytest.raises(perrin.JobError, match="boxes of three dimensions"):
        simulation(flat, "d: DISTANCE ATOMS=1,2").run(1)
