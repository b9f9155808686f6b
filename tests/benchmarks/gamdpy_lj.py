#!/usr/bin/env python3
"""Steps a second of gamdpy (PyPI) for the liquids of `scripts/rates-table … small`: a
Lennard-Jones crystal of density 0.8442 that melts, T 1.44, shifted forces, cut-off 2.5, time step
0.004. Needs an NVIDIA GPU, numba and gamdpy. A line of JSON each:

    gamdpy_lj.py [--steps N] [--no-tuning] [EDGE…]

EDGE: cells of the lattice along an edge, 4 EDGE³ particles. gamdpy tunes itself first
(Simulation.autotune(), which compiles some dozens of kernels); the rate is that of its own clock,
without the time between blocks. "plan": what it has chosen."""
import argparse
import contextlib
import json
import sys

import numpy

numpy.row_stack = numpy.vstack  # gamdpy 0.8.3 has the name before numpy 2.5
import gamdpy as gp  # noqa: E402


def rate(edge, steps, tuning, blocks=8):
    """Steps a second and the plan of the kernels."""
    configuration = gp.Configuration(D=3)
    configuration.make_lattice(gp.unit_cells.FCC, cells=[edge] * 3, rho=0.8442)
    configuration["m"] = 1.0
    configuration.randomize_velocities(temperature=1.44, seed=1)
    pairs = gp.PairPotential(gp.apply_shifted_force_cutoff(gp.LJ_12_6_sigma_epsilon),
                             params=[1.0, 1.0, 2.5], max_num_nbs=1000)
    simulation = gp.Simulation(configuration, [pairs], gp.integrators.NVE(dt=0.004), [],
                               num_timeblocks=blocks, steps_per_timeblock=max(1, steps // blocks),
                               storage="memory")
    with contextlib.redirect_stdout(sys.stderr):
        try:
            if tuning:
                simulation.autotune()
        except Exception as error:
            print("not tuned:", error)
        for _ in simulation.run_timeblocks():  # it melts
            pass
        for _ in simulation.run_timeblocks():
            pass
    seconds = numpy.sum(simulation.timing_numba_blocks) / 1000
    steps = simulation.last_num_blocks * simulation.steps_per_block
    return steps / seconds, simulation.compute_plan


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--no-tuning", action="store_true", help="gamdpy's first guess")
    parser.add_argument("edges", nargs="*", type=int, default=[5, 6, 8, 10, 16, 25])
    options = parser.parse_args()
    for edge in options.edges:
        row = {"program": "gamdpy", "version": getattr(gp, "__version__", "?"),
               "particles": 4 * edge ** 3, "tuned": not options.no_tuning}
        try:
            steps, plan = rate(edge, options.steps, not options.no_tuning)
            row.update(steps_per_s=round(float(steps)), plan=str(plan))
        except Exception as error:  # the others go on
            row["error"] = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
