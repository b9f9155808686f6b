"""`perrin import lammps` of fields, copies, exclusions, exchange by trials and output, against LAMMPS
(lammps_fields.py, lammps_import.json) and theory."""
import itertools
import json
import math
import os

import numpy as np
import pytest
from lammps_fields import EVERY, FIELDS, LIQUID
from lammps_scripts import SCRIPTS
from test_import_lammps import LAMMPS, job_of, order_of, simulation


@pytest.mark.parametrize("name", FIELDS)
def test_like_lammps(tmp_path, name):
    """To the tolerances of test_import_lammps.py: energies to 3e-6 of their parts (those of fields
    are beside them), before and after the run; ways to 2e-4 of the longest."""
    result = job_of(tmp_path, FIELDS[name])
    assert not result.not_understood, result.not_understood
    wanted = LAMMPS[name]
    with simulation(tmp_path, result) as sim:
        order = order_of(result, sim)
        slack = 3e-6 * (wanted["parts"] + abs(wanted["potential"]))
        assert sim.totals.potential == pytest.approx(wanted["potential"], abs=slack)
        before = sim.unwrapped
        sim.run()
        assert sim.totals.potential == pytest.approx(wanted["end"], abs=slack)
        moved = (sim.unwrapped - before)[order][::EVERY]
        np.testing.assert_allclose(moved, wanted["moved"],
                                   atol=2e-4 * np.abs(wanted["moved"]).max())
