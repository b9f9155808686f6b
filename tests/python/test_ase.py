"""The calculator of ASE, against ASE's own Lennard-Jones, numerical derivatives and Perrin's own
motion."""
import numpy as np
import pytest

import perrin
from conftest import DEVICE

ase = pytest.importorskip("ase")
from ase.build import bulk, molecule  # noqa: E402
from ase.calculators.lj import LennardJones  # noqa: E402
from ase.md.verlet import VelocityVerlet  # noqa: E402
from ase.optimize import BFGS  # noqa: E402

from perrin.ase import Perrin  # noqa: E402

EPSILON, SIGMA, CUTOFF = 0.0104, 3.40, 8.0  # argon: eV, Å
# Forces are single precision, with some 50 neighbours: 1e-6 of the largest terms of their sums.
NEAR = 1e-5 if "double" not in perrin.build else 1e-10


def lennard_jones(**more):
    return {"type": "lennard_jones", "cutoff": CUTOFF, "truncation": "energy_shift",
            "pairs": [{"types": ["Ar", "Ar"], "epsilon": EPSILON, "sigma": SIGMA}], **more}


def calculator(**more):
    return Perrin([lennard_jones()], device=DEVICE, **more)


def reference():
    return LennardJones(sigma=SIGMA, epsilon=EPSILON, rc=CUTOFF)  # shifted to 0 at rc


@pytest.fixture
def crystal():
    """256 atoms off their sites, in a cell that is tilted and turned in space."""
    atoms = bulk("Ar", "fcc", a=5.3, cubic=True).repeat(4)
    atoms.rattle(0.15, seed=3)
    strain = np.eye(3) + [[0.02, 0.03, 0], [0, -0.01, 0.02], [0.04, 0, 0.01]]
    atoms.set_cell(atoms.cell.array @ strain, scale_atoms=True)
    atoms.rotate(33, (1, 2, 3), rotate_cell=True)
    return atoms


def assert_as_reference(atoms, calc, stress=True):
    mine, other = atoms.copy(), atoms.copy()
    mine.calc, other.calc = calc, reference()
    size = np.abs(other.get_forces()).max()
    assert mine.get_potential_energy() == pytest.approx(other.get_potential_energy(), rel=NEAR)
    np.testing.assert_allclose(mine.get_forces(), other.get_forces(), atol=NEAR * 3 * size)
    if stress:
        s = other.get_stress()
        np.testing.assert_allclose(mine.get_stress(), s, atol=NEAR * 3 * np.abs(s).max())


def test_energy_forces_and_stress_are_those_of_ase(crystal):
    assert_as_reference(crystal, calculator())


@pytest.mark.parametrize("pbc", [(False, False, False), (True, True, False), (False, True, True)])
def test_open_axes(crystal, pbc):
    crystal.set_pbc(pbc)
    calc = calculator()
    assert_as_reference(crystal, calc, stress=False)
    crystal.calc = calc
    with pytest.raises(ase.calculators.calculator.PropertyNotImplementedError):
        crystal.get_stress()
    crystal.positions[5] += [60, 70, 80]  # out of the box: another is made
    assert_as_reference(crystal, calc, stress=False)


def test_a_cluster_without_a_cell():
    atoms = ase.Atoms("Ar3", [(0, 0, 0), (3.8, 0, 0), (0, 3.9, 0.3)])
    assert_as_reference(atoms, calculator(), stress=False)


def test_energies_follow_masses(crystal):
    """ASE itself does not count masses among what changes."""
    weight = perrin.PythonForce(lambda p: (np.zeros((len(p), 3)), 0.01 * p.masses.sum()))
    crystal.calc = Perrin([weight], device=DEVICE)
    for mass in (40.0, 40.0, 2.0):
        crystal.set_masses([mass] * len(crystal))
        assert crystal.get_potential_energy() == pytest.approx(0.01 * mass * len(crystal), rel=1e-5)


def test_other_units(crystal):
    """The same potential in nm and kJ/mol."""
    pair = {"types": ["A", "A"], "epsilon": EPSILON / (ase.units.kJ / ase.units.mol),
            "sigma": SIGMA / 10}
    assert_as_reference(crystal, Perrin(
        [lennard_jones(cutoff=CUTOFF / 10, pairs=[pair])], types={"Ar": "A"}, device=DEVICE,
        units={"length": "nm", "energy": "kJ/mol", "mass": "u"}))


def test_forces_are_the_derivative_of_the_energy(crystal):
    """Central differences: their error is h²/6 of the second derivative of the force, and the
    rounding of the energy over h. With h = 0.02 Å those of ASE's own calculator, in double
    precision, are wrong by up to 1.9e-4 of the largest force; rounding adds 5e-5."""
    crystal.calc = calculator()
    forces, h = crystal.get_forces(), 0.02
    for atom, axis in ((0, 0), (17, 1), (100, 2)):
        energies = []
        for sign in (1, -1):
            crystal.positions[atom, axis] += sign * h
            energies.append(crystal.get_potential_energy())
            crystal.positions[atom, axis] -= sign * h
        slope = -(energies[0] - energies[1]) / (2 * h)
        assert slope == pytest.approx(forces[atom, axis], abs=4e-4 * np.abs(forces).max())


def test_stress_is_the_derivative_by_strain(crystal):
    """Central differences of ASE's own calculator, in double precision, are wrong by up to 1.2e-4
    of the largest component with this h; rounding of the energy adds 6e-5."""
    crystal.calc = calculator()
    stress, cell, h = crystal.get_stress(), crystal.cell.copy(), 1e-3
    volume = crystal.get_volume()
    for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))):
        energies = []
        for sign in (1, -1):
            strain = np.eye(3)
            strain[i, j] += sign * h / 2
            strain[j, i] += sign * h / 2
            crystal.set_cell(cell @ strain, scale_atoms=True)
            energies.append(crystal.get_potential_energy())
            crystal.set_cell(cell, scale_atoms=True)
        slope = (energies[0] - energies[1]) / (2 * h * volume)
        assert slope == pytest.approx(stress[k], abs=3e-4 * np.abs(stress).max()), k


def test_motion_is_perrin_s_own(crystal):
    """Velocity Verlet of ASE with these forces, and the job of the same numbers: positions after 60
    steps of 2 fs, and the total energy of both. Forces of some 0.2 eV/Å that single precision has
    wrong by 1e-6 displace an atom by f t²/2m = 4e-7 Å in this time, and the energy of -14 eV has
    8e-7 eV for its last bit: five times these are allowed."""
    speed = np.sqrt(60 * ase.units.kB / crystal.get_masses()[0])
    crystal.set_velocities(speed * np.random.default_rng(2).normal(size=(len(crystal), 3)))
    crystal.calc = calc = calculator()
    begin = crystal.get_total_energy()
    frame = calc.simulation.frame()
    # In eV, Å and u the unit of time is that of ASE.
    frame.velocities = crystal.get_velocities() @ calc._turn.T
    own = perrin.Simulation({
        "system": frame, "units": calc._units, "forces": [lennard_jones()], "device": DEVICE,
        "stages": [{"type": "md", "integrator": {"type": "velocity_verlet",
                                                 "timestep": 2 * ase.units.fs}}]})
    VelocityVerlet(crystal, 2 * ase.units.fs).run(60)
    own.run(60)
    np.testing.assert_allclose(own.unwrapped @ calc._turn, crystal.positions, atol=2e-6)
    assert own.totals.total == pytest.approx(crystal.get_total_energy(), abs=4e-6)
    # The error of velocity Verlet is some (ω h)²/8 of the kinetic energy, with ω below 1e13/s.
    kinetic = crystal.get_kinetic_energy()
    assert crystal.get_total_energy() == pytest.approx(begin, abs=1e-3 * kinetic)


def test_atoms_may_change(crystal):
    """A calculator is asked for other atoms, other cells and the same ones again."""
    calc = calculator()
    small = crystal[:40].copy()
    small.set_pbc(False)
    for atoms in (crystal, small, crystal):
        assert_as_reference(atoms, calc, stress=atoms.pbc.all())
    before = calc.simulation
    crystal.rattle(0.05, seed=1)
    assert_as_reference(crystal, calc)
    assert calc.simulation is before  # the same box: particles are moved


def test_optimisers_of_ase_work():
    atoms = ase.Atoms("Ar2", [(0, 0, 0), (4.2, 0.3, 0)], calculator=calculator())
    BFGS(atoms, logfile=None).run(fmax=1e-4, steps=200)
    assert atoms.get_distance(0, 1) == pytest.approx(2 ** (1 / 6) * SIGMA, abs=2e-3)


def test_bonds_and_charges():
    """Water: harmonic bonds and an angle, by hand."""
    atoms = molecule("H2O")
    atoms.positions += [[0.05, 0, 0], [0, 0.04, 0], [0, 0, 0.03]]
    bonds = perrin.Members(np.array([[0, 1], [0, 2]]), np.array([0, 0]), ("OH",))
    angles = perrin.Members(np.array([[1, 0, 2]]), np.array([0]), ("HOH",))
    atoms.calc = Perrin([{"type": "bond_harmonic", "bonds": {"OH": {"stiffness": 45,
                                                                    "length": 0.96}}},
                         {"type": "angle_harmonic", "angles": {"HOH": {"stiffness": 3.3,
                                                                       "angle": 104.5}}}],
                        bonds=bonds, angles=angles, device=DEVICE)
    energy = sum(22.5 * (atoms.get_distance(0, k) - 0.96) ** 2 for k in (1, 2))
    energy += 1.65 * np.radians(atoms.get_angle(1, 0, 2) - 104.5) ** 2
    assert atoms.get_potential_energy() == pytest.approx(energy, rel=1e-4)
    np.testing.assert_allclose(atoms.get_forces().sum(axis=0), 0, atol=1e-5)


def test_forces_of_python(crystal):
    """A PythonForce in the calculator: a trap, added to the rest."""
    def trap(particles):
        r = particles.unwrapped
        return -0.1 * r, 0.05 * (r**2).sum()

    crystal.set_pbc(False)
    crystal.calc = calculator()
    alone, forces = crystal.get_potential_energy(), crystal.get_forces()
    crystal.calc = Perrin([lennard_jones(), perrin.PythonForce(trap)], device=DEVICE)
    more = 0.05 * (crystal.positions**2).sum()
    assert crystal.get_potential_energy() - alone == pytest.approx(more, rel=1e-5)
    np.testing.assert_allclose(crystal.get_forces() - forces, -0.1 * crystal.positions, atol=1e-4)


def test_mistakes(crystal):
    with pytest.raises(perrin.JobError, match="got stages, which the calculator makes"):
        Perrin([lennard_jones()], job={"stages": []})
    crystal.calc = Perrin([lennard_jones()], types=["A"] * 3)
    with pytest.raises(perrin.JobError, match="a name for each of 256 atoms, got 3"):
        crystal.get_potential_energy()
    crystal.calc = Perrin([lennard_jones(pairs=[])])
    with pytest.raises(perrin.JobError, match="no parameters for the types Ar and Ar"):
        crystal.get_potential_energy()
    crystal.calc = calculator()
    crystal.set_cell(crystal.cell.array[[1, 0, 2]])
    with pytest.raises(perrin.JobError, match="right-handed"):
        crystal.get_potential_energy()
