#!/usr/bin/env python3
"""Rates of JAX MD (PyPI jax_md) for the liquids of `scripts/rates-table … ensembles small`: a
Lennard-Jones crystal of density 0.8442 that melts, T 1.44, time step 0.004, velocity Verlet, single
precision. Systems together by jax.vmap, and one alone. A line of JSON each:

    jax_md_lj.py [--steps N] [--seconds S] [--short] [--only TEXT]

JAX MD smooths the energy from 0.8 of the cut-off on. Under vmap its conditional list update becomes
one each time, so lists of many systems (skin 0.5) are made every 10 steps without asking; one alone
asks each step. "list" is Dense or OrderedSparse, or "pairs" for none. The time of compilation is
apart. energy_error: of the start, against a sum over all pairs in double precision."""
import argparse
import json
import sys
import time
import types

import numpy


def anything(key):
    if key.startswith("__"):
        raise AttributeError(key)
    return type(key, (), {})


def import_jax_md():
    """Its networks need packages that may be missing, and that no liquid needs."""
    try:
        import jax_md
    except (ImportError, AttributeError) as error:
        print("jax_md without networks:", error, file=sys.stderr)
        for name in [n for n in sys.modules if n.split(".")[0] in ("jax_md", "jraph", "e3nn_jax")]:
            del sys.modules[name]
        for name in ("jax_md.nn", "jraph", "ml_collections"):
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__getattr__ = anything
        import jax_md
    return jax_md


import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

jax_md = import_jax_md()
from jax_md import energy, partition, quantity, simulate, space  # noqa: E402

EVERY = 10  # steps between lists of many systems
SKIN = 0.5
FORMATS = {"Dense": partition.Dense, "OrderedSparse": partition.OrderedSparse}


def lattice(cells):
    a = (4 / 0.8442) ** (1 / 3)
    corners = numpy.stack(numpy.meshgrid(*map(numpy.arange, cells), indexing="ij"), -1)
    basis = numpy.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]]) + 0.25
    return (corners.reshape(-1, 1, 3) + basis).reshape(-1, 3) * a, numpy.array(cells) * a


def brute_force(positions, box, cutoff):
    """Energy per particle of the smoothed potential."""
    total, onset = 0.0, (0.8 * cutoff) ** 2
    for i in range(len(positions) - 1):
        d = positions[i + 1:] - positions[i]
        r2 = ((d - box * numpy.round(d / box)) ** 2).sum(1)
        r2 = r2[r2 < cutoff ** 2]
        smooth = ((cutoff ** 2 - r2) ** 2 * (cutoff ** 2 + 2 * r2 - 3 * onset)
                  / (cutoff ** 2 - onset) ** 3)
        total += (4 * (r2 ** -6 - r2 ** -3) * numpy.where(r2 < onset, 1, smooth)).sum()
    return total / len(positions)


class Liquid:
    def __init__(self, systems, cells, cutoff, kind):
        self.start, self.box = lattice(cells)
        self.systems, self.cutoff, self.kind = systems, cutoff, kind
        displacement, shift = space.periodic(jnp.array(self.box, jnp.float32))
        laws = {"sigma": 1.0, "epsilon": 1.0, "r_onset": 0.8 * cutoff, "r_cutoff": cutoff}
        self.position = jnp.array(self.start, jnp.float32)
        self.neighbors = ()
        if kind == "pairs":
            self.energy = energy.lennard_jones_pair(displacement, **laws)
        else:
            lists, self.energy = energy.lennard_jones_neighbor_list(
                displacement, jnp.array(self.box, jnp.float32), dr_threshold=SKIN,
                format=FORMATS[kind], capacity_multiplier=1.5,
                disable_cell_list=bool(min(self.box) < 4 * (cutoff + SKIN)), **laws)
            self.neighbors = lists.allocate(self.position)
        self.first, self.step = simulate.nve(self.energy, shift, 0.004)

    def given(self, neighbors):
        return {} if self.kind == "pairs" else {"neighbor": neighbors}

    def renewed(self, state, neighbors):
        return neighbors if self.kind == "pairs" else neighbors.update(state.position)

    def begin(self, key):
        state = self.first(key, self.position, kT=1.44, **self.given(self.neighbors))
        return state, self.neighbors

    def block(self, state, neighbors):
        """EVERY steps; of one system alone, lists as they are needed."""
        if self.systems > 1:
            neighbors = self.renewed(state, neighbors)

        def one(_, both):
            state, neighbors = both
            if self.systems == 1:
                neighbors = self.renewed(state, neighbors)
            return self.step(state, **self.given(neighbors)), neighbors
        return jax.lax.fori_loop(0, EVERY, one, (state, neighbors))

    def total(self, state, neighbors):
        neighbors = self.renewed(state, neighbors)
        potential = self.energy(state.position, **self.given(neighbors))
        kinetic = quantity.kinetic_energy(momentum=state.momentum, mass=state.mass)
        return potential / len(self.start), kinetic / len(self.start)

    def many(self, function):
        return jax.vmap(function) if self.systems > 1 else function

    def run(self, both, blocks):
        return jax.lax.fori_loop(0, blocks, lambda _, b: self.many(self.block)(*b), both)


def measure(systems, cells, cutoff, kind, options):
    liquid = Liquid(systems, cells, cutoff, kind)
    keys = jax.random.split(jax.random.PRNGKey(1), systems)
    both = jax.jit(liquid.many(liquid.begin))(keys if systems > 1 else keys[0])
    total = jax.jit(liquid.many(liquid.total))
    began = time.perf_counter()
    run = jax.jit(liquid.run).lower(both, 1).compile()
    compiled = time.perf_counter() - began
    energies = [numpy.asarray(e, float) for e in total(*both)]
    error = abs(energies[0] - brute_force(liquid.start, liquid.box, cutoff)).max()

    def timed(blocks):
        nonlocal both
        began = time.perf_counter()
        both = jax.block_until_ready(run(both, blocks))
        return time.perf_counter() - began
    timed(1)
    few = max(1, options.steps // EVERY // 20)
    blocks = min(options.steps // EVERY, int(few * options.seconds / timed(few)))
    timed(max(1, min(blocks // 2, 50)))  # it melts
    seconds = timed(max(1, blocks))
    after = [numpy.asarray(e, float) for e in total(*both)]
    if kind != "pairs" and bool(jnp.any(both[1].did_buffer_overflow)):
        raise RuntimeError("a list was full")
    steps = max(1, blocks) * EVERY
    return {"steps": steps, "steps_per_s": round(steps / seconds, 1),
            "million_particle_steps_per_s":
                round(steps * systems * len(liquid.start) / seconds / 1e6, 2),
            "energy_error": float(f"{error:.2g}"),
            "energy_drift": float(f"{numpy.mean(sum(after) - sum(energies)):.2g}"),
            "temperature": round(2 / 3 * float(after[1].mean()), 3),
            "compile_s": round(compiled, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=20000, help="at most")
    parser.add_argument("--seconds", type=float, default=1.5, help="of a row's clock, about")
    parser.add_argument("--short", action="store_true", help="few systems, few steps")
    parser.add_argument("--only", default="", help="rows that have it, such as '64 ×' or 'alone'")
    options = parser.parse_args()
    rows = [(64, (6, 6, 7), 2.5, "Dense"), (64, (6, 6, 7), 2.5, "pairs"),
            (1000, (3, 3, 3), 1.8, "pairs"), (1000, (3, 3, 3), 1.8, "Dense"),
            (1, (5, 5, 5), 2.5, "Dense"), (1, (6, 6, 6), 2.5, "Dense"),
            (1, (8, 8, 8), 2.5, "Dense"), (1, (10, 10, 10), 2.5, "Dense"),
            (1, (5, 5, 5), 2.5, "pairs"), (1000, (6, 6, 7), 2.5, "Dense"),
            (64, (6, 6, 7), 2.5, "OrderedSparse"), (1, (10, 10, 10), 2.5, "OrderedSparse")]
    if options.short:
        rows = [(2, (6, 6, 7), 2.5, "Dense"), (3, (3, 3, 3), 1.8, "pairs"),
                (3, (3, 3, 3), 1.8, "Dense"), (1, (5, 5, 5), 2.5, "Dense"),
                (2, (5, 5, 5), 2.5, "OrderedSparse")]
        options.steps = min(options.steps, 200)
    for systems, cells, cutoff, kind in rows:
        particles = 4 * cells[0] * cells[1] * cells[2]
        name = f"{systems} × {particles}" if systems > 1 else f"{particles} alone"
        if options.only not in name:
            continue
        row = {"program": "jax_md", "version": getattr(jax_md, "__version__", None) or version(),
               "device": jax.devices()[0].device_kind, "row": name, "systems": systems,
               "particles": particles, "cutoff": cutoff, "list": kind}
        try:
            row.update(measure(systems, cells, cutoff, kind, options))
        except Exception as error:  # the others go on
            row["error"] = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(row, ensure_ascii=False), flush=True)


def version():
    from importlib import metadata
    return metadata.version("jax_md")


if __name__ == "__main__":
    main()
