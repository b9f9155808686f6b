"""What the tests of the Python module share. PERRIN names the program of the same build,
PERRIN_TEST_DEVICE the device (cpu)."""
import os
import signal

import numpy as np
import pytest

import perrin

# A shell starts what it runs in the background with SIGINT ignored; tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DEVICE = os.environ.get("PERRIN_TEST_DEVICE", "cpu")


def pytest_sessionstart():
    if DEVICE != "cpu" and perrin.cuda_count() == 0:
        pytest.exit("skipped: no GPU", returncode=77)


def assert_runs_as_the_engine_s(job, force):
    """The force in place of the job's own: the same path, energies and pressure."""
    own, python = perrin.Simulation(job), perrin.Simulation({**job, "forces": [force]})
    for sim in (own, python):
        sim.run(20)
    np.testing.assert_allclose(python.positions, own.positions, atol=1e-4)
    for name in ("potential", "temperature", "pressure", "pressure_tensor"):
        assert getattr(python.totals, name) == pytest.approx(getattr(own.totals, name), rel=1e-4,
                                                             abs=1e-3), name


@pytest.fixture
def program():
    return os.environ["PERRIN"]


GAS_TIMESTEP = 0.004


@pytest.fixture
def liquid():
    """256 particles of a Lennard-Jones liquid that goes on for as long as it is run."""
    return {"seed": 7, "device": DEVICE,
            "system": {"type": "lattice", "structure": "fcc", "density": 0.8442,
                       "cells": [4, 4, 4]},
            "velocity": {"temperature": 1.0},
            "forces": [{"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
                        "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}],
            "stages": [{"type": "md",
                        "integrator": {"type": "velocity_verlet", "timestep": 0.005}}]}


@pytest.fixture
def thermostatted(liquid):
    """Two stages, of which the second has random numbers, and a trajectory with every bit."""
    return {**liquid,
            "observers": [{"type": "trajectory", "stride": 30, "precision": "double",
                           "quantities": ["position", "image", "velocity", "force"]},
                          {"type": "thermo", "stride": 10}],
            "stages": [{"type": "md", "steps": 73,
                        "integrator": {"type": "bussi", "timestep": 0.005, "temperature": 0.8,
                                       "tau": 0.1}},
                       {"type": "md", "steps": 120,
                        "integrator": {"type": "langevin", "timestep": 0.005, "temperature": 0.8,
                                       "friction": 1.0}}]}


@pytest.fixture
def gas():
    """64 particles in a tilted box, without forces of their own."""
    return {"seed": 3, "device": DEVICE,
            "system": {"type": "parts", "box": [8, 9, 10], "tilts": [1, 0.5, -1],
                       "parts": [{"type": "random", "particles": {"A": 64}}]},
            "velocity": {"temperature": 1.0}, "forces": [],
            "stages": [{"type": "md", "integrator": {"type": "velocity_verlet",
                                                     "timestep": GAS_TIMESTEP}}]}
