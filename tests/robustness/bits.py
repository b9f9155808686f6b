"""The bits of a set of small runs: hashes of what their output files hold.

    bits.py BUILD [--device cpu|cuda] [--save FILE] [--compare FILE]
    bits.py BUILD [--device cpu|cuda] --processes 2,3 [--short] [--move-cuts] [--far]
            [--only NAME]…

One line per run; --compare names those that differ from a file that --save has made with the same
compiler and the same kind of device, and fails if there are any. Changes of structure must not
change them. --processes runs each of them alone and under mpirun with so many processes, stops it
with the first of these numbers and goes on with the last, and fails where bits differ. --short:
whole runs with the first number alone, unless PERRIN_LONG_TESTS=1. --move-cuts:
shares are cut anywhere at every chance (PERRIN_TEST_CUTS), which a whole run must say, or it
fails. --far: no GPU sees another's memory (PERRIN_TEST_FAR), as on several hosts."""

import argparse
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy

LJ = {"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}
OBSERVERS = [{"type": "trajectory", "stride": 50,
              "quantities": ["position", "velocity", "force", "image"]},
             {"type": "thermo", "stride": 10, "console_stride": 100000}]
NVE = {"type": "velocity_verlet", "timestep": 0.004}
THERMOSTAT = {"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1}
LANGEVIN = {"type": "langevin", "timestep": 0.004, "temperature": 1, "friction": 2}
CPU = ["clusters", "cells", "verlet_list"]
CUDA = ["tiles", "small", "cells", "verlet_list"]


def job(system, forces, *integrators, steps=150, **more):
    return {"seed": 11, "system": system, "velocity": {"temperature": 1.0}, "forces": forces,
            "observers": OBSERVERS,
            "stages": [{"type": "md", "steps": steps, "integrator": i} for i in integrators],
            **more}


def liquid(*integrators, **more):
    return job({"type": "lattice", "structure": "fcc", "density": 0.8442, "cells": [8, 8, 8]}, [LJ],
               *integrators, **more)


def with_traversal(name, of):
    found = copy.deepcopy(of)
    found["neighbors"] = {**found.get("neighbors", {}), "traversal": name}
    return found


def checkerboard(box, atoms, cutoffs, **more):
    """A stage; of several types each pair has its own cut-off."""
    pairs = [{"types": list(types), "sigma": 1, "epsilon": 1, "cutoff": cutoff}
             for types, cutoff in cutoffs.items()]
    return {"type": "metropolis", "engine": "checkerboard", "box": box, "pairs": pairs,
            "molecules": {name: {"number": n, "sites": [{"type": name, "at": [0, 0, 0]}]}
                          for name, n in atoms.items()},
            "temperature": 1, "translation": 0.2, "stride": 5, **more}


def checkerboards():
    """Jobs. The gas and the few leave processes without atoms; in double precision sums are not
    exact."""
    tuned = {"equilibration": 40, "tune": {"acceptance": 0.4, "interval": 10}, "pressure": True,
             "recompute": 25}
    mixed = {"AA": 2.5, "AB": 2.3, "BB": 2.2}
    stages = {
        "liquid": checkerboard([11, 11, 16], {"A": 800}, {"AA": 2.5}, cycles=40,
                               trajectory={"interval": 20},
                               rdf={"bins": 50, "interval": 4, "rows": 20}),
        "mixture": checkerboard([11, 16, 21], {"A": 1000, "B": 400}, mixed, precision="double",
                                cycles=40, trials=3, **tuned),
        "gas": checkerboard([30, 40, 30], {"A": 300}, {"AA": 2.5}, precision="double", cycles=60,
                            start="random", **tuned),
        "few": checkerboard([40, 40, 40], {"A": 5}, {"AA": 3}, cycles=60,
                            rdf={"bins": 20, "rows": 30})}
    return {f"checkerboard, {name}": {"seed": 3, "stages": [stage]}
            for name, stage in stages.items()}


def dynamic_bonds(device):
    """A gel, living polymers in two dimensions, an uneven system, and chains that are linked and
    break: in every traversal."""
    unlike = {**LJ, "pairs": [{"types": [*pair], "epsilon": 1, "sigma": 1}
                              for pair in ("AA", "AB", "BB")]}
    springs = {"type": "bond_harmonic", "bonds": {"link": {"stiffness": 100, "length": 1}}}
    bends = {"type": "angle_cosine", "angles": {"bend": {"stiffness": 2}}}
    counts = {"type": "bonds", "stride": 10}
    gel = {"stride": 10, "valence": {"A": 2, "B": 3},
           "form": [{"types": ["A", "B"], "bond": "link", "distance": 1.3, "probability": 0.3,
                     "angle": "bend"}],
           "break": [{"bond": "link", "length": 1.25, "probability": 0.3}]}
    living = {"stride": 15, "valence": {"A": 2},
              "form": [{"types": ["A", "A"], "bond": "link", "distance": 1.2,
                        "probability": 0.2}],
              "break": [{"bond": "link", "probability": 0.05}]}
    found = {
        "gel": job({"type": "random", "particles": {"A": 1500, "B": 1000}, "density": 0.4,
                    "min_distance": 0.9}, [unlike, springs, bends], LANGEVIN,
                   dynamic_bonds=gel),
        "flat": job({"type": "lattice", "structure": "square", "density": 0.7,
                     "cells": [40, 40, 1]}, [LJ, springs], LANGEVIN, dynamic_bonds=living,
                    neighbors={"exclusions": []}),
        "droplet": job({"type": "lattice", "structure": "fcc", "density": 0.02,
                        "cells": [7, 7, 7]},
                       [LJ, springs, {"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0.5]}],
                       LANGEVIN, steps=500, dynamic_bonds=living, neighbors={"exclusions": []}),
        "chains": job({"type": "chains", "chains": 300, "pattern": "A6", "bond_length": 1,
                       "density": 0.5, "min_distance": 0.7, "angle_type": "bend",
                       "dihedral_type": "torsion"},
                      [LJ, {"type": "bond_harmonic",
                            "bonds": {"bond": {"stiffness": 100, "length": 1},
                                      "link": {"stiffness": 50, "length": 1.1}}}, bends,
                       {"type": "dihedral_opls",
                        "dihedrals": {"torsion": {"k": [1.5, -0.5, 2.5, 0]}}}],
                      {"type": "fire", "force_tolerance": 10, "maximum_move": 0.02},
                      {**THERMOSTAT, "barostat": {"pressure": 1, "tau": 0.5}}, steps=200,
                      dynamic_bonds={
                          "stride": 20, "valence": {"A": 3},
                          "form": [{"types": ["A", "A"], "bond": "link", "distance": 1.3,
                                    "probability": 0.2}],
                          "break": [{"bond": "bond", "length": 1.15, "probability": 0.2}]})}
    everywhere = {
        "dpd": job({"type": "random", "particles": {"A": 2400}, "density": 3, "min_distance": 0},
                   [{"type": "dpd", "temperature": 1, "pairs": [
                       {"types": ["A", "A"], "repulsion": 25, "gamma": 4.5}]},
                    {"type": "bond_harmonic", "bonds": {"link": {"stiffness": 50,
                                                                 "length": 0.5}}}],
                   {"type": "velocity_verlet", "timestep": 0.01}, dynamic_bonds={
                       "stride": 10, "valence": {"A": 2}, "form": [
                           {"types": ["A", "A"], "bond": "link", "distance": 0.7,
                            "probability": 0.02, "reactivity": "valence"}],
                       "break": [{"bond": "link", "length": 0.75, "probability": 0.3}]},
                   neighbors={"exclusions": []}),
        "shear": liquid(THERMOSTAT, dynamic_bonds=living, neighbors={"exclusions": []}),
        "walls": job({"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [7, 7, 7],
                      "periodic": [True, True, False]},
                     [LJ, springs,
                      *({"type": "lj_wall", "axis": "z", "position": z, "epsilon": 1, "sigma": 0.5}
                        for z in (-6.8, 6.8))], LANGEVIN, dynamic_bonds=living,
                     neighbors={"exclusions": []})}
    # Partners are further away than pair forces look.
    wca = {"type": "wca", "pairs": LJ["pairs"]}
    found["far"] = job(
        {"type": "lattice", "structure": "fcc", "density": 0.5, "cells": [9, 9, 9]},
        [wca, {"type": "bond_harmonic", "bonds": {"link": {"stiffness": 20, "length": 2.5}}}],
        LANGEVIN, dynamic_bonds={
            "stride": 10, "valence": {"A": 2},
            "form": [{"types": ["A", "A"], "bond": "link", "distance": 3, "probability": 0.02}],
            "break": [{"bond": "link", "force": 4}]})
    everywhere["shear"]["forces"].append(springs)
    everywhere["shear"]["stages"][0]["shear"] = {"rate": 0.5}
    for text in [*found.values(), *everywhere.values()]:
        text["observers"] = [*OBSERVERS, counts]
    return {f"dynamic bonds, {name}": text for name, text in everywhere.items()} | {
        f"dynamic bonds, {name}, {traversal}": with_traversal(traversal, text)
        for name, text in found.items() for traversal in (CPU if device == "cpu" else CUDA)}


def charges():
    """Sums over pairs with corrections for bonded ones; Ewald's sum in boxes that change, of chains
    that link and break, of a slab, in a plane, with a background and a dipole moment."""
    core = {**LJ, "pairs": [{"types": [*pair], "epsilon": 1, "sigma": 1}
                            for pair in ("AA", "AB", "BB")]}
    ewald = {"type": "ewald", "cutoff": 3, "accuracy": 1e-2}
    attributes = {"charge": {"types": {"A": 1, "B": -1}}}

    def ions(*forces, integrator=THERMOSTAT, stage=None, **more):
        found = liquid(integrator, attributes=attributes, steps=100, **more)
        found["system"] |= {"types": {"A": 1, "B": 1}, "cells": [6, 6, 6]}
        found["forces"] = [core, *forces]
        found["stages"][0] |= stage or {}
        return found
    chains = job({"type": "chains", "chains": 150, "pattern": "A3B3", "bond_length": 1,
                  "density": 0.3, "min_distance": 0.7, "angle_type": "bend",
                  "dihedral_type": "torsion"},
                 [core, {"type": "bond_harmonic",
                         "bonds": {"bond": {"stiffness": 100, "length": 1}}},
                  {"type": "special_coulomb", "scale": 0.5},
                  # Without cores unlike charges fall into each other.
                  {"type": "special_pairs", "scale": 0.5, "pairs": core["pairs"]}],
                 LANGEVIN, steps=100,
                 attributes=attributes, ignore=["angles", "dihedrals"],
                 neighbors={"exclusions": ["bonds", "angles", "dihedrals"]})
    linked = copy.deepcopy(chains)
    linked["forces"] = [core, {"type": "bond_harmonic", "bonds": {
        name: {"stiffness": 100, "length": 1} for name in ("bond", "link")}}, ewald]
    linked |= {"neighbors": {"exclusions": ["bonds"]}, "dynamic_bonds": {
        "stride": 10, "valence": {"A": 3, "B": 3}, "form": [
            {"types": ["A", "B"], "bond": "link", "distance": 1.3, "probability": 0.2}],
        "break": [{"bond": "bond", "length": 1.15, "probability": 0.2}]}}
    relax = {"type": "md", "steps": 100, "name": "relax", "integrator": {
        "type": "fire", "force_tolerance": 10, "maximum_move": 0.02}}
    for text in (chains, linked):
        text["stages"].insert(0, relax)
    dsf, field = ({"type": "coulomb_dsf", "cutoff": 2.5, "damping": 0.3},
                  {"type": "reaction_field", "cutoff": 2.5})
    walls = [{"type": "lj_wall", "axis": "z", "position": z, "epsilon": 1, "sigma": 0.5}
             for z in (-5.7, 5.7)]
    slab = ions(*walls, {**ewald, "slab": 3})
    slab["system"] |= {"density": 0.6, "periodic": [True, True, False]}
    flat = ions({**ewald, "net_charge": "background"})
    flat["system"] |= {"structure": "square", "density": 0.4, "cells": [15, 15, 1]}
    # Trial moves one after another, with dynamics between them.
    moves = {"type": "monte_carlo", "sweeps": 30, "temperature": 1.2, "tune": {"sweeps": 20},
             "translation": {"displacement": 0.2}}
    trials = ions({**ewald, "surface_permittivity": 1})
    trials["system"]["cells"] = [4, 4, 4]
    turns = {**chains, "forces": [*chains["forces"], ewald]}
    for text, stage in ((trials, moves),
                        (turns, {"type": "monte_carlo", "sweeps": 8, "temperature": 1,
                                 "translation": {"displacement": 0.1}, "pivot": {"rotation": 0.5},
                                 "molecule": {"displacement": 0.2, "rotation": 0.3}})):
        text["stages"] = [*text["stages"], stage]
    found = {
        "dsf": ions(dsf),
        "reaction_field, chains": {**chains, "forces": [*chains["forces"], field]},
        "ewald": ions(ewald), "ewald, chains": {**chains, "forces": [*chains["forces"], ewald]},
        "ewald, clouds": {**chains, "forces": [*chains["forces"], {
            **ewald, "smearing": {"cloud": "slater", "width": 0.3}}]},
        "ewald, links": linked, "ewald, slab": slab, "ewald, flat": flat,
        "ewald, trials": trials, "ewald, turns": turns,
        "ewald, barostat": ions(ewald, integrator={**THERMOSTAT, "barostat": {
            "pressure": 1, "tau": 0.5, "axes": "flexible"}}),
        "ewald, shear": ions({**ewald, "net_charge": "background"}, stage={"shear": {"rate": 2}}),
        "ewald, dipole": ions({**ewald, "surface_permittivity": 2}),
        "ewald, changes": ions({**ewald, "net_charge": "background"})}
    found["ewald, changes"]["attributes"] = {"charge": {"types": {"A": 1, "B": -1}, "updates": {
        "formula": "charge*(1 + 0.01*(x > 0))", "every": 7, "between": [-2, 2]}}}
    mesh = {**ewald, "mesh": {"order": 5}}
    found |= {
        "mesh": ions(mesh), "mesh, clouds": ions({
            **mesh, "smearing": {"cloud": "gaussian", "width": 0.3}}),
        "mesh, chains": {**chains, "forces": [*chains["forces"], mesh]},
        "mesh, barostat": ions(mesh, integrator={**THERMOSTAT, "barostat": {
            "pressure": 1, "tau": 0.5, "axes": "flexible"}}),
        "mesh, shear": ions({**mesh, "net_charge": "background"}, stage={"shear": {"rate": 2}}),
        "mesh, slow forces": ions(mesh, stage={"slow_force_stride": 4}),
        "ewald, slow forces": {**chains, "forces": [*chains["forces"], ewald], "stages": [
            relax, {**chains["stages"][1], "slow_force_stride": 2}]}}
    for traversal in ("cells", "verlet_list"):
        found[f"ewald, {traversal}"] = with_traversal(traversal, found["ewald, chains"])
    return {f"charges, {name}": text for name, text in found.items()}


def jobs(device):
    mixture = job(
        {"type": "random", "particles": {"B": 20, "S": 3000}, "density": 0.05, "min_distance": 0},
        [{"type": "soft_dpd", "pairs": [{"types": ["S", "S"], "repulsion": 25, "range": 1},
                                        {"types": ["B", "B"], "repulsion": 100, "range": 5},
                                        {"types": ["B", "S"], "repulsion": 50, "range": 3}]},
         {"type": "harmonic_trap", "stiffness": [2, 2, 2]}], LANGEVIN)
    fluid = {"type": "random", "particles": {"A": 3000}, "density": 3, "min_distance": 0}
    dpd = [{"type": "dpd", "temperature": 1,
            "pairs": [{"types": ["A", "A"], "repulsion": 25, "gamma": 4.5}]}]
    # Liquid and vapour: droplets form.
    mdpd = [{"type": "mdpd", "temperature": 1, "repulsion": 25, "density_cutoff": 0.75,
             "pairs": [{"types": ["A", "A"], "attraction": -40, "gamma": 4.5}]}]
    thin = {**fluid, "density": 2}
    # Densities that depend on the order of two types.
    embedded = {"type": "many_body_formula", "density": "(1 - r/2.5)^2*s", "energy": "-a*sqrt(rho)",
                "pair": "b/r^9", "cutoff": 2.5, "truncation": "switch",
                "pairs": [{"types": [*pair], "s": s, "b": 0.2}
                          for pair, s in [("AA", 1), ("AB", 0.7), ("BA", 0.4), ("BB", 0.5)]],
                "types": {"A": {"a": 2}, "B": {"a": 1.5}}}
    melt = job({"type": "chains", "chains": 60, "pattern": "A50", "bond_length": 0.97,
                "density": 0.85,
                "min_distance": 0.7},
               [{"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]},
                {"type": "bond_fene", "bonds": {"bond": {"stiffness": 30, "maximum_length": 1.5}}}],
               {"type": "fire", "force_tolerance": 10, "maximum_move": 0.02}, THERMOSTAT,
               neighbors={"exclusions": []}, steps=500)
    # With everything that is looked for by id, up to three bonds away.
    molecules = job({"type": "chains", "chains": 400, "pattern": "A6", "bond_length": 1,
                     "density": 0.5, "min_distance": 0.7, "angle_type": "angle",
                     "dihedral_type": "torsion"},
                    [LJ, {"type": "bond_harmonic",
                          "bonds": {"bond": {"stiffness": 200, "length": 1}}},
                     {"type": "angle_harmonic", "angles": {"angle": {"stiffness": 50,
                                                                     "angle": 112}}},
                     {"type": "dihedral_opls",
                      "dihedrals": {"torsion": {"k": [1.5, -0.5, 2.5, 0]}}},
                     {"type": "special_pairs", "scale": 0.5, "pairs": LJ["pairs"]}],
                    {"type": "fire", "force_tolerance": 10, "maximum_move": 0.02}, LANGEVIN,
                    neighbors={"exclusions": ["bonds", "angles", "dihedrals"]}, steps=200)
    # Partners that get further away than they are looked for at first.
    stretching = job({"type": "chains", "chains": 1500, "pattern": "A2", "bond_length": 1,
                      "box": [60, 12, 12], "min_distance": 0.7},
                     [LJ, {"type": "bond_harmonic",
                           "bonds": {"bond": {"stiffness": 5, "length": 5.5}}}],
                     {"type": "fire", "force_tolerance": 100, "maximum_move": 0.02}, LANGEVIN,
                     steps=300)
    gas = job({"type": "lattice", "structure": "fcc", "density": 0.01, "cells": [7, 7, 7]}, [
        LJ, {"type": "lj_wall", "axis": "z", "position": 0.2, "epsilon": 1, "sigma": 1},
        {"type": "constant_force", "force": [0.1, 0, 0]}], LANGEVIN)
    # Comes together in the middle, so that shares of space become uneven while it runs.
    droplet = job({"type": "lattice", "structure": "fcc", "density": 0.02, "cells": [8, 8, 8]},
                  [LJ, {"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0.5]}], LANGEVIN,
                  steps=600)
    flat = job({"type": "lattice", "structure": "square", "density": 0.7, "cells": [40, 40, 1]},
               [LJ], THERMOSTAT)
    argon = {"seed": 3, "stages": [
        {"type": "metropolis", "engine": engine, "molecules": {"Ar": {"number": 500, "sites": [
            {"type": "Ar", "at": [0, 0, 0]}]}},
         "pairs": [{"types": ["Ar", "Ar"], "sigma": 1, "epsilon": 1, "cutoff": 2.5}],
         "box": [11, 11, 11],
         "temperature": 1, "translation": 0.2, "cycles": 60, "stride": 5, "file": f"{engine}.h5"}
        for engine in ("sequential", "pipelined", "checkerboard")]}
    slab = {"seed": 5, "stages": [
        {"type": "neutron_slab", "thickness": 10, "total": 1.1, "scattering": 1.0,
         "histories": 200000,
         "estimator": estimator, "kernel": "persistent", "generator": "saru", "depth_bins": 50,
         "angle_bins": 10, "stride": 100000, "file": f"{estimator}.h5"}
        for estimator in ("analogue", "weighted")]}
    layers = {"seed": 5, "stages": [
        {"type": "neutron_slab", "layers": [
            {"thickness": 1, "mass": 1, "scattering": "2 + 1/sqrt(E)",
             "absorption": "0.1/sqrt(E)"},
            {"thickness": 2, "mass": 12, "total": [[0.001, 3], [1, 2], [1000, 1]],
             "absorption": 0.05}],
         "source": {"direction": "cosine", "maxwell": 1}, "cutoff_energy": 0.01,
         "far_face": "reflecting", "histories": 100000, "estimator": estimator, "depth_bins": 50,
         "angle_bins": 10, "energy_bins": 30, "stride": 50000, "file": f"{estimator}.h5"}
        for estimator in ("analogue", "weighted")]}
    found = {"standard": liquid(NVE), "thermostat": liquid(THERMOSTAT),
             "langevin": liquid(LANGEVIN),
             "brownian": liquid({"type": "brownian", "timestep": 0.0002, "temperature": 1,
                                 "friction": 2}),
             "mixture": mixture, "polymer": melt, "gas": gas, "droplet": droplet,
             "two dimensions": flat,
             "dpd": job(fluid, dpd, {"type": "velocity_verlet", "timestep": 0.01}),
             "dpd cells": with_traversal("cells", job(fluid, dpd, {"type": "velocity_verlet",
                                                                   "timestep": 0.04})),
             "groot_warren": job(fluid, dpd, {"type": "groot_warren", "timestep": 0.03}),
             "dpd_split": job(fluid, dpd, {"type": "dpd_split", "timestep": 0.03}),
             "mdpd": job(thin, mdpd, {"type": "velocity_verlet", "timestep": 0.01}),
             "mdpd cells": with_traversal("cells", job(thin, mdpd, {"type": "groot_warren",
                                                                    "timestep": 0.01})),
             "mdpd_split": job(thin, mdpd, {"type": "dpd_split", "timestep": 0.01}),
             "metropolis": argon, "neutron_slab": slab,
             "neutron_slab, energies": layers} | checkerboards()
    # What keeps arrays of its own for particles, changes the box, or feeds sums back.
    tallied = {**LANGEVIN, "tally_heat": True}
    found |= {
        "molecules": molecules, "stretching": stretching,
        "leimkuhler_matthews": liquid({"type": "brownian", "timestep": 0.0002, "temperature": 1,
                                       "friction": 2, "method": "leimkuhler_matthews",
                                       "tally_heat": True}),
        "langevin, velocity_verlet": liquid({**tallied, "method": "velocity_verlet"}),
        "langevin, ran2": liquid({**LANGEVIN, "rng": "ran2", "scheme": "per_particle"}),
        "langevin, ziggurat": liquid({**LANGEVIN, "normals": "ziggurat"}),
        "brownian, polar": liquid({"type": "brownian", "timestep": 0.0002, "temperature": 1,
                                   "friction": 2, "rng": "hybrid_taus", "normals": "polar"}),
        "barostat": liquid({**THERMOSTAT, "barostat": {"pressure": 1, "tau": 0.5}}),
        "nose_hoover": liquid({"type": "nose_hoover", "timestep": 0.004, "temperature": 1,
                               "tau": 0.1, "barostat": {"pressure": 0, "tau": 5}}),
        "fire": liquid({"type": "fire", "force_tolerance": 0.01}, NVE)}
    if device == "cuda":  # so many bricks that they are numbered along a curve
        found["curve"] = liquid(LANGEVIN, neighbors={"traversal": "tiles", "cells": 2, "brick": 1})
        found["curve"]["system"]["cells"] = [18, 18, 18]
        found["curve, cells"] = with_traversal("cells", found["curve"])
        # So large that shares have tiles without ghosts.
        found["layers"] = liquid(THERMOSTAT, neighbors={"traversal": "tiles"})
        found["layers"]["system"]["cells"] = [14, 14, 28]
        # Lists that are void sooner than GPUs warn each other, until they do not rely on it.
        found["layers, short skin"] = copy.deepcopy(found["layers"]) | {
            "neighbors": {"traversal": "tiles", "skin": 0.06}}
        found["layers, mixture"] = copy.deepcopy(found["layers"]) | {"forces": [
            {**LJ, "pairs": [{"types": [*pair], "epsilon": 1, "sigma": 1, "cutoff": cutoff}
                             for pair, cutoff in [("AA", 2.5), ("AB", 2), ("BB", 1.5)]]}]}
        found["layers, mixture"]["system"] |= {"types": {"A": 1, "B": 1}}
        found["layers, dpd"] = job(
            {"type": "random", "particles": {"A": 24000}, "density": 3, "min_distance": 0}, dpd,
            {"type": "velocity_verlet", "timestep": 0.01}, neighbors={"traversal": "tiles"})
        found["layers, mdpd"] = job(
            {"type": "random", "particles": {"A": 24000}, "density": 2, "min_distance": 0}, mdpd,
            {"type": "velocity_verlet", "timestep": 0.01}, neighbors={"traversal": "tiles"})
        found["layers, many_body"] = copy.deepcopy(found["layers"]) | {"forces": [embedded]}
        found["layers, many_body"]["system"] |= {"types": {"A": 1, "B": 1}}
        found["grid"] = copy.deepcopy(found["layers"]) | {"processes": {"grid": [1, 2, 2]}}
        found["grid, cells"] = with_traversal("cells", found["grid"])
    found["correlations"] = liquid(NVE)
    found["correlations"]["observers"] = [
        *OBSERVERS, {"type": "mean_square_displacement", "stride": 5, "rows_every": 50},
        {"type": "velocity_autocorrelation", "stride": 5, "rows_every": 50},
        {"type": "stress_autocorrelation", "stride": 5, "rows_every": 50},
        {"type": "pressure_profile", "stride": 10, "rows_every": 50},
        {"type": "bond_order", "distance": 1.5, "stride": 50, "rows_every": 50}]
    found["shear"] = liquid(THERMOSTAT)
    found["shear"]["stages"][0]["shear"] = {"rate": 0.5}
    # Sums over particles that a stage keeps: of places in memory whose process may change.
    for name, change in [("shear, work", {"shear": {"rate": 1, "work": True}}),
                         ("deform, work", {"deform": {"xy": 1, "form": "oscillating", "period": 2,
                                                     "work": True}})]:
        found[name] = liquid(THERMOSTAT)
        found[name]["stages"][0] |= change
    found["groups"] = groups = liquid()
    groups["groups"] = {
        "left": {"box": [[None, None, None], [0, None, None]]}, "right": {"not": ["left"]},
        "wall": {"box": [[None, None, -4], [None, None, -2]]},
        "plate": {"box": [[None, None, 4], [None, None, 6]]},
        "cold": {"and": ["left"], "not": ["wall", "plate"]},
        "hot": {"and": ["right"], "not": ["wall", "plate"]}}
    groups["forces"] = [LJ, {"type": "constant_force", "force": [0, 0.5, 0], "on": "cold"},
                        {"type": "harmonic_trap", "stiffness": [0.1, 0, 0], "on": "hot"}]
    groups["observers"] = [
        OBSERVERS[0], {**OBSERVERS[1], "groups": ["hot", "wall", "plate"], "box": True},
        {**OBSERVERS[0], "group": "hot", "file": "hot.h5"},
        {"type": "mean_square_displacement", "stride": 5, "rows_every": 50, "group": "cold"},
        {"type": "rdf", "stride": 5, "rows_every": 50, "groups": ["cold", "hot"]},
        {"type": "group_distance", "stride": 25, "minimum": True,
         "pairs": [["cold", "hot"], ["wall", "plate"]]}]
    groups["stages"] = [{"type": "md", "steps": 150, "integrators": [
        {**tallied, "group": "cold"}, {**THERMOSTAT, "group": "hot"},
        {"type": "frozen", "timestep": 0.004, "group": "wall"},
        {"type": "moving", "timestep": 0.004, "group": "plate", "velocity": [0.5, 0, 0],
         "oscillation": {"amplitude": [0, 0.1, 0], "period": 0.3}}]}]
    # A barostat of one of them.
    found["groups, barostat"] = pressed = copy.deepcopy(groups)
    pressed["forces"], pressed["observers"] = [LJ], groups["observers"][:3]
    pressed["stages"][0]["integrators"] = [
        {**tallied, "group": "cold", "barostat": {"pressure": 2, "tau": 0.2, "stride": 7,
                                                  "axes": "flexible"}},
        {**THERMOSTAT, "group": "hot"}, *({"type": "frozen", "group": name}
                                          for name in ("wall", "plate"))]
    # Friction of pairs, of which some are of a wall.
    found["groups, dpd_split"] = job(fluid, dpd, groups={
        "wall": {"box": [[None, None, -4], [None, None, -3]]}, "rest": {"not": ["wall"]}})
    found["groups, dpd_split"]["stages"] = [{"type": "md", "steps": 150, "integrators": [
        {"type": "dpd_split", "timestep": 0.03, "group": "rest"},
        {"type": "moving", "timestep": 0.03, "group": "wall", "velocity": [0.2, 0, 0]}]}]
    # A minimisation beside a wall.
    found["groups, minimised"] = minimised = copy.deepcopy(groups)
    minimised["groups"]["free"] = {"not": ["wall"]}
    minimised["stages"].append({"type": "md", "name": "relax", "steps": 60, "integrators": [
        {"type": "fire", "force_tolerance": 1e-2, "group": "free"},
        {"type": "frozen", "group": "wall"}]})
    minimised["observers"] = OBSERVERS
    # Integrators on groups that are chosen anew.
    found["groups, anew"] = anew = liquid()
    anew["attributes"] = {"u": {"random": {"uniform": [0, 1]}}}
    anew["groups"] = {"hot": {"formula": "x < u", "every": 7}, "rest": {"not": ["hot"]},
                      "tagged": {"formula": "u > 0.6"}, "driven": {"and": ["tagged", "rest"]},
                      "cold": {"and": ["rest"], "not": ["tagged"]}}
    anew["observers"] = [OBSERVERS[0], {**OBSERVERS[1], "groups": ["hot", "cold", "driven"],
                                        "box": True},
                         {"type": "structure_factor", "stride": 5, "rows_every": 50, "k_max": 2,
                          "group": "tagged"},
                         {"type": "bond_order", "distance": 1.5, "stride": 50, "rows_every": 50,
                          "group": "tagged"},
                         {"type": "cluster_size", "distance": 1.1, "stride": 50, "rows_every": 50,
                          "group": "tagged"},
                         {"type": "coordination", "distance": 1.5, "smooth_from": 1.2, "stride": 10,
                          "rows_every": 50, "group": "hot", "neighbor_group": "tagged"}]
    anew["stages"] = [{"type": "md", "steps": 150, "integrators": [
        {**THERMOSTAT, "temperature": 2, "group": "hot"}, {**tallied, "group": "cold"},
        {**NVE, "group": "driven"}]}]
    found["many_body"] = liquid(THERMOSTAT)
    found["many_body"] |= {"forces": [embedded]}
    found["many_body"]["system"]["types"] = {"A": 1, "B": 1}
    found["many_body, cells"] = with_traversal("cells", found["many_body"])
    found["many_body, verlet_list"] = with_traversal("verlet_list", found["many_body"])
    # With another force before it, in a box that changes, and uneven in two dimensions.
    found["many_body, barostat"] = copy.deepcopy(found["many_body"])
    found["many_body, barostat"]["forces"] = [
        {**LJ, "mixing": "geometric", "pairs": [*LJ["pairs"], {"types": ["B", "B"], "epsilon": 1,
                                                               "sigma": 1}]}, embedded]
    found["many_body, barostat"]["stages"][0]["integrator"]["barostat"] = {"pressure": 1,
                                                                           "tau": 0.5}
    found["many_body, droplet"] = copy.deepcopy(flat)
    found["many_body, droplet"]["system"]["types"] = {"A": 1, "B": 1}
    found["many_body, droplet"]["forces"] = [
        embedded, {"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0]}]
    # Trial moves in turns with dynamics: of pairs alone, and with bonds, angles and a field.
    found["monte_carlo"] = liquid()
    found["monte_carlo"]["stages"] = trials = [
        {"type": "monte_carlo", "sweeps": 40, "temperature": 1.2, "tune": {"sweeps": 20},
         "translation": {"displacement": 0.2}},
        {"type": "md", "steps": 60, "integrator": THERMOSTAT, "name": "dynamics"},
        {"type": "monte_carlo", "sweeps": 30, "temperature": 1, "name": "second",
         "translation": {"displacement": 0.1, "trials": 2}}]
    found["monte_carlo, chains"] = job(
        {"type": "chains", "chains": 100, "pattern": "A6", "bond_length": 1, "density": 0.3,
         "min_distance": 0.8, "angle_type": "bend"},
        [LJ, {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 100, "length": 1}}},
         {"type": "angle_cosine", "angles": {"bend": {"stiffness": 2}}},
         {"type": "harmonic_trap", "stiffness": [0.1, 0.1, 0.1]}], THERMOSTAT)
    found["monte_carlo, chains"]["stages"] = copy.deepcopy(trials)
    found["monte_carlo, chains"]["stages"][2] |= {"pivot": {"rotation": 0.5},
                                                  "crankshaft": {"rotation": 1, "longest": 4},
                                                  "reptation": {"stretch": 0.1, "bend": 1}}
    # Rigid bodies among particles.
    found["monte_carlo, bodies"] = rigid = job(
        {"type": "lattice", "structure": "sc", "density": 0.5, "cells": [8, 8, 8],
         "types": {"D": 1, "A": 1}},
        [{**LJ, "pairs": [{"types": ["A", "A"], "epsilon": 0.5, "sigma": 0.7}]}], THERMOSTAT,
        orientations={"start": "random"}, bodies={"D": {"sites": [
            {"type": "A", "at": [0.3, 0.2, 0.1]}, {"type": "A", "at": [-0.3, 0.1, 0]},
            {"type": "A", "at": [0, 0.4, 0.5]}]}})
    rigid["stages"] = copy.deepcopy(trials)
    for k in (0, 2):
        rigid["stages"][k]["molecule"] = {"displacement": 0.1, "rotation": 0.4}
    rigid["stages"][2]["barostat"] = {"pressure": 1, "tau": 4}
    # Rigid bonds, in a bath and with a thermostat that looks at all; and in two dimensions.
    found["constraints"] = job(
        {"type": "chains", "chains": 150, "pattern": "A3", "bond_length": 1, "density": 0.4,
         "min_distance": 0.85},
        [{**LJ, "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.9}]}],
        {"type": "langevin", "timestep": 0.004, "temperature": 1, "friction": 1},
        constraints={"bonds": {"bond": 1}})
    found["constraints"]["stages"] = [
        {"type": "md", "steps": 60, "name": name, "integrator": integrator}
        for name, integrator in (("bath", found["constraints"]["stages"][0]["integrator"]),
                                 ("chain", {"type": "nose_hoover", "timestep": 0.004,
                                            "temperature": 1, "tau": 0.2}))]
    found["constraints, barostat"] = copy.deepcopy(found["constraints"])
    found["constraints, barostat"]["stages"][1]["integrator"] = THERMOSTAT
    for stage, axes in zip(found["constraints, barostat"]["stages"], ("all", "flexible")):
        stage["integrator"] = {**stage["integrator"], "timestep": 0.004, "barostat": {
            "pressure": 1, "tau": 0.4, "stride": 3, "axes": axes}}
    found["constraints, flat"] = copy.deepcopy(found["constraints"])
    found["constraints, flat"]["system"] |= {"box": [34, 32], "dimension": 2}
    del found["constraints, flat"]["system"]["density"]
    # All moves, of dumb-bells in a mixture; and in two dimensions, where particles lie unevenly.
    found["monte_carlo, all"] = moves = job(
        {"type": "parts", "box": [14, 14, 14], "min_distance": 0.8, "parts": [
            {"type": "chains", "number": 150, "pattern": "A2", "bond_length": 1},
            {"type": "fill", "types": {"S": 2, "T": 1}, "density": 0.35}]},
        [{**LJ, "mixing": "geometric", "pairs": [*LJ["pairs"], *(
            {"types": [t, t], "epsilon": e, "sigma": 0.9} for t, e in (("S", 1), ("T", 0.6)))]},
         {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 100, "length": 1}}}],
        THERMOSTAT, groups={"S": {"types": ["S"]}, "T": {"types": ["T"]}})
    moves["stages"] = [
        {"type": "monte_carlo", "sweeps": 40, "temperature": 1.2, "tune": {"sweeps": 20},
         "translation": {"displacement": 0.2}, "swap": {"groups": ["S", "T"]},
         "molecule": {"displacement": 0.2, "rotation": 0.5},
         "hybrid": {"timestep": 0.004, "steps": 5, "every": 2},
         "barostat": {"pressure": 1, "tau": 8}},
        {"type": "md", "steps": 40, "integrator": THERMOSTAT, "name": "dynamics"}]
    moves["observers"] = [*OBSERVERS, {"type": "widom", "stride": 20, "insertions": 500,
                                       "group": "S", "temperature": 1}]
    found["monte_carlo, all, cells"] = with_traversal("cells", moves)
    found["monte_carlo, all, verlet_list"] = with_traversal("verlet_list", moves)
    # Clusters of large and small particles, of which some stay; in a box that changes.
    found["monte_carlo, clusters"] = clusters = job(
        {"type": "parts", "box": [16, 16, 16], "tilts": [3, -2, 1], "min_distance": 0.9,
         "min_distances": [{"types": ["B", "B"], "distance": 2.8},
                           {"types": ["A", "B"], "distance": 1.9}], "parts": [
             {"type": "random", "particles": {"B": 12}}, {"type": "random",
                                                          "particles": {"A": 600}}]},
        [{"type": "wca", "mixing": "lorentz_berthelot", "pairs": [
            {"types": [t, t], "epsilon": 1, "sigma": size} for t, size in (("A", 1), ("B", 3))]}],
        THERMOSTAT, groups={"B": {"types": ["B"]}, "moving": {"ids": [[1, 600]]}})
    clusters["stages"] = [
        {"type": "monte_carlo", "sweeps": 30, "temperature": 1.2, "tune": {"sweeps": 20},
         "barostat": {"pressure": 1, "tau": 8}, "translation": {"displacement": 0.2},
         "cluster": {"trials": 20, "displacement": 2, "largest": 40, "first": "B"}},
        {"type": "md", "steps": 20, "integrator": THERMOSTAT, "name": "dynamics"},
        {"type": "monte_carlo", "sweeps": 20, "temperature": 1, "name": "second",
         "group": "moving", "cluster": {"trials": 10}}]
    found["monte_carlo, droplet"] = copy.deepcopy(flat)
    found["monte_carlo, droplet"]["system"]["types"] = {"A": 1, "B": 1}
    found["monte_carlo, droplet"]["forces"] = [
        moves["forces"][0] | {"pairs": [*LJ["pairs"], {"types": ["B", "B"], "epsilon": 0.5,
                                                       "sigma": 1}]},
        {"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0]}]
    found["monte_carlo, droplet"]["stages"] = [
        {"type": "monte_carlo", "sweeps": 60, "temperature": 1,
         "translation": {"displacement": 0.2}, "swap": {"trials": 0.5},
         "hybrid": {"timestep": 0.004, "steps": 5, "every": 3}}]
    # A box whose energy jumps, and trajectories of which some go astray.
    found["monte_carlo, steep"] = steep = job(
        {"type": "lattice", "structure": "fcc", "density": 0.7, "cells": [5, 5, 5]},
        [LJ, {"type": "pair_formula", "energy": "if(r < 0.9, 1e6, 0)", "cutoff": 1,
              "pairs": [{"types": ["A", "A"]}]}], THERMOSTAT)
    steep["stages"] = [
        {"type": "monte_carlo", "sweeps": 60, "temperature": 1, "tune": {"sweeps": 40},
         "translation": {"displacement": 0.15}, "barostat": {"pressure": 2, "tau": 4},
         "hybrid": {"timestep": 0.03, "steps": 5, "every": 3}}]
    # Turns of particles that interact in all directions; and in two dimensions.
    found["monte_carlo, turns"] = turns = job(
        {"type": "lattice", "structure": "sc", "density": 0.04, "cells": [10, 10, 10],
         "types": {"A": 1, "B": 1}},
        [{"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift", "pairs": [
            {"types": list(t), "epsilon": e, "sigma": 1} for t, e in (
                ("AA", 1), ("AB", 0.8), ("BB", 0.5))]}], THERMOSTAT,
        orientations={"start": "random",
                      "moments_of_inertia": {"A": [0.2, 0.8, 0.8], "B": [1, 1, 1]}})
    turns["stages"] = copy.deepcopy(trials)
    for k in (0, 2):
        turns["stages"][k]["rotation"] = {"angle": 0.5, "trials": 2 - k // 2}
    # Dipoles and all their copies, in a box that changes.
    found["dipoles"] = job(
        {"type": "lattice", "structure": "fcc", "density": 0.7, "cells": [5, 5, 5],
         "types": {"A": 1, "B": 1}},
        [{**LJ, "mixing": "geometric", "pairs": [*LJ["pairs"], {"types": ["B", "B"], "epsilon": 1,
                                                               "sigma": 1}]},
         {"type": "dipole_ewald", "cutoff": 2.5, "accuracy": 0.03, "surface_permittivity": 3,
          "moments": {"A": 1, "B": 2}}],
        {"type": "bussi", "timestep": 0.002, "temperature": 1.3, "tau": 0.1,
         "barostat": {"pressure": 1, "tau": 0.5, "stride": 5}}, steps=120,
        orientations={"start": "random",
                      "moments_of_inertia": {"A": [0.1, 0.1, 0.1], "B": [0.2, 0.1, 0.1]}})
    found["dipoles, trials"] = one_by_one = copy.deepcopy(found["dipoles"])
    one_by_one["system"]["cells"] = [3, 3, 3]
    one_by_one["stages"].append({
        "type": "monte_carlo", "sweeps": 20, "temperature": 1.2, "tune": {"sweeps": 10},
        "translation": {"displacement": 0.2}, "rotation": {"angle": 0.5}, "swap": {"trials": 0.3}})
    found["monte_carlo, flat turns"] = copy.deepcopy(flat)
    found["monte_carlo, flat turns"] |= {
        "orientations": {"start": "random", "moments_of_inertia": {"A": [0, 0, 1]}},
        "forces": [LJ, {"type": "dipole", "cutoff": 2.5, "truncation": "switch",
                        "pairs": [{"types": ["A", "A"], "strength": 1}]},
                   {"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0]}],
        "stages": [{"type": "monte_carlo", "sweeps": 40, "temperature": 1,
                    "translation": {"displacement": 0.2}, "rotation": {"angle": 0.8}}]}
    # Particles that come and go, in turns with dynamics; and in two dimensions, where they lie
    # unevenly.
    here = {"type": "monte_carlo", "temperature": 1.2, "translation": {"displacement": 0.2}}
    put = [{"type": "A", "activity": 0.1, "trials": 300}]
    found["insertion"] = insertion = job(
        {"type": "lattice", "structure": "sc", "density": 0.5, "cells": [8, 8, 8],
         "types": {"A": 1, "B": 1}}, [{**LJ, "mixing": "geometric", "pairs": [
             *LJ["pairs"], {"types": ["B", "B"], "epsilon": 0.7, "sigma": 0.9}]}], THERMOSTAT)
    insertion["reservoir"] = {"A": 400, "B": 300}
    insertion["observers"] = [{"type": "thermo", "stride": 10},
                              {"type": "trajectory", "stride": 20},
                              {"type": "acceptance", "stride": 10}]
    insertion["stages"] = [
        here | {"sweeps": 20, "insertion": put},
        {"type": "md", "steps": 60, "integrator": THERMOSTAT, "name": "dynamics"},
        here | {"sweeps": 20, "name": "second", "swap": {"trials": 0.1}, "insertion": [
            {"type": "B", "chemical_potential": -2, "trials": 200}, *put]}]
    found["insertion, bodies"] = bodies = copy.deepcopy(insertion)
    bodies["system"] = {"type": "random", "particles": {"D": 200, "B": 150}, "box": [12, 12, 12],
                        "min_distance": 1.1}
    bodies |= {"reservoir": {"D": 400, "B": 300}, "orientations": {"start": "random"}, "bodies": {
        "D": {"sites": [{"type": "A", "at": [x, 0, 0]} for x in (-0.3, 0.3)]}}}
    for k in (0, 2):
        bodies["stages"][k] |= {"molecule": {"displacement": 0.2, "rotation": 0.5}, "insertion": [
            {"type": "D", "activity": 0.01, "trials": 200}]}
        del bodies["stages"][k]["swap" if k else "translation"]
    found["insertion, flat"] = copy.deepcopy(insertion)
    found["insertion, flat"]["system"] = {
        "type": "random", "particles": {"A": 300, "B": 20}, "box": [40, 30], "dimension": 2,
        "min_distance": 0.9}
    found["insertion, flat"]["stages"] = [
        here | {"sweeps": 60, "temperature": 0.5, "insertion": [put[0] | {"activity": 0.02}]}]
    # Attributes that are written anew, in a field, in angles and dihedrals, in densities.
    update = {"formula": "min(u + 0.01*vx^2 + 0.02*(x > 0), 1.2)", "every": 7,
              "between": [0.8, 1.2]}
    attributes = {"u": {"random": {"uniform": [0.8, 1]}, "updates": update}}
    found["attributes"] = liquid(THERMOSTAT)
    found["attributes"] |= {"attributes": attributes, "forces": [
        {"type": "pair_formula", "cutoff": 2.5, "truncation": "force_shift",
         "energy": "4*((s/r)^12 - (s/r)^6); s = (u_1 + u_2)/2", "range": "(u_1 + u_2)",
         "pairs": [{"types": ["A", "A"]}]},
        {"type": "external_formula", "energy": "0.1*u*cos(x)", "types": {"A": {}},
         "unwrapped": True}]}
    found["attributes, many_body"] = liquid(THERMOSTAT)
    found["attributes, many_body"] |= {"attributes": attributes, "forces": [
        {"type": "many_body_formula", "energy": "-a*u*sqrt(rho)", "cutoff": 2.5,
         "density": "u_2*(1 - r/2.5)^2*(1 + u_1)", "pair": "0.2/r^9", "truncation": "switch",
         "pairs": [{"types": ["A", "A"]}], "types": {"A": {"a": 1}}}]}
    found["attributes, chains"] = job(
        {"type": "chains", "chains": 300, "pattern": "A6", "bond_length": 1, "density": 0.5,
         "min_distance": 0.7, "angle_type": "bend", "dihedral_type": "torsion"},
        [LJ, {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 100, "length": 1}}},
         {"type": "angle_formula", "energy": "k*u_2*(1 + (u_1 + u_3)*cos(theta))",
          "angles": {"bend": {"k": 2}}},
         {"type": "dihedral_formula", "energy": "u_1*u_4*(1 + cos(phi))*u_2*u_3",
          "dihedrals": {"torsion": {}}}],
        {"type": "fire", "force_tolerance": 10, "maximum_move": 0.02}, LANGEVIN, steps=200,
        attributes=attributes)
    found["groups, cells"] = with_traversal("cells", groups)
    found["groups, verlet_list"] = with_traversal("verlet_list", groups)
    found["groups, anew, verlet_list"] = with_traversal("verlet_list", anew)
    found["groups, anew, cells"] = with_traversal("cells", anew)
    found["groups, anew, droplet"] = copy.deepcopy(flat)
    found["groups, anew, droplet"] |= {
        "groups": {"inner": {"formula": "x^2 + y^2 < 100", "every": 30},
                   "outer": {"not": ["inner"]}},
        "forces": [LJ, {"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0], "on": "outer"}],
        "stages": [{"type": "md", "steps": 300, "integrators": [
            {**tallied, "group": "outer"}, {**THERMOSTAT, "group": "inner"}]}]}
    # An uneven system in two dimensions, with arrays that integrators keep for particles.
    found["groups, droplet"] = copy.deepcopy(flat)
    found["groups, droplet"] |= {
        "groups": {"some": {"ids": [[0, 99], 500, [700, 1200]]}, "others": {"not": ["some"]},
                   "inner": {"formula": "x^2 + y^2 < 100", "every": 30}},
        "forces": [LJ, {"type": "harmonic_trap", "stiffness": [0.5, 0.5, 0], "on": "others"},
                   {"type": "constant_force", "force": [0.2, 0, 0], "on": "inner"},
                   {"type": "tether", "stiffness": [0.1, 0.1, 0], "on": "some"}],
        "stages": [{"type": "md", "steps": 300, "integrators": [
            {**tallied, "method": "velocity_verlet", "group": "others"},
            {**LANGEVIN, "rng": "hybrid_taus", "group": "some"}]}]}
    found["groups, droplet"]["observers"] = [
        *OBSERVERS, {"type": "group_distance", "stride": 50, "minimum": True,
                     "pairs": [["some", "others"], ["others", "some"]]},
        {"type": "coordination", "distance": 1.5, "smooth_from": 1.2, "stride": 25,
         "rows_every": 100, "group": "inner", "neighbor_group": "some"}]
    # Particles that swim: in two dimensions, drawn together; velocities that persist. What drives
    # each is written anew, or changes with the time.
    swims = {"timestep": 0.0002, "friction": 1, "speed_attribute": "v", "temperature": 0.3}
    speeds = {"random": {"uniform": [4, 12]}}
    found["active, droplet"] = copy.deepcopy(flat)
    found["active, droplet"] |= {
        "system": {**flat["system"], "density": 0.2}, "orientations": {"start": "random"},
        "attributes": {"v": {**speeds, "updates": {"formula": "min(v + 0.5*(x > 0), 13)",
                                                   "every": 70, "between": [0, 13]}},
                       "w": {"random": {"uniform": [0.2, 0.8]}, "changes": "w*cos(20*t)"}},
        "forces": [LJ, {"type": "harmonic_trap", "stiffness": [4, 4, 0]},
                   {"type": "active_force", "force": 1, "torque_attribute": "w"}],
        "stages": [{"type": "md", "steps": 600, "integrator": {
            "type": "active_brownian", **swims, "rotational_friction": 0.2}}]}
    found["active, persistent"] = job(
        droplet["system"], droplet["forces"],
        {"type": "active_ornstein_uhlenbeck", **swims, "persistence_time": 0.05}, steps=300,
        attributes={"v": {**speeds, "changes": "v*(1 + 0.5*sin(300*t))"}})
    for name, of in [("liquid", liquid(THERMOSTAT)), ("mixture", mixture), ("polymer", melt),
                     ("droplet", droplet), ("dpd", found["dpd"]), ("barostat", found["barostat"]),
                     ("mdpd", found["mdpd"]), ("many_body", found["many_body"])]:
        found[f"sorted cells, {name}"] = with_traversal("cells", of)
        found[f"sorted cells, {name}"]["neighbors"]["interaction_sorting"] = "axes"
    for traversal in CPU if device == "cpu" else CUDA:
        found[f"liquid, {traversal}"] = with_traversal(traversal, liquid(NVE))
        found[f"mixture, {traversal}"] = with_traversal(traversal, mixture)
    if device != "cpu":  # where so few particles have the traversal "small" by themselves
        found |= {f"{name}, tiles": with_traversal("tiles", text) for name, text in found.items()
                  if "system" in text and "neighbors" not in text and text.get("forces")}
    return found | dynamic_bonds(device) | charges()


def hash_of(folder):
    """Every number of every observable and particle datum, by its path."""
    found = hashlib.sha256()

    def add(path, node):
        if isinstance(node, h5py.Dataset) and node.dtype.kind in "iuf" and node.size > 0:
            found.update(path.encode())
            found.update(numpy.ascontiguousarray(node[()]).tobytes())
    for name in sorted(os.listdir(folder)):
        if name.endswith(".h5"):
            with h5py.File(os.path.join(folder, name)) as file:
                for root in ("particles", "observables", "connectivity"):
                    if root in file:
                        file[root].visititems(add)
    return found.hexdigest()[:16]


def run(options, folder, count, command, *arguments):
    """The hash of what is in the folder when so many processes have run; or why they did not."""
    launcher = [] if count == 1 else ["mpirun", "--oversubscribe", "--allow-run-as-root", "-np",
                                      str(count)]
    program = os.path.join(os.path.abspath(options.build), "bin/perrin")
    hook = {"PERRIN_TEST_CUTS": "1"} if options.move_cuts else {}
    if options.far:
        hook["PERRIN_TEST_FAR"] = "1"
    done = subprocess.run([*launcher, program, command, *arguments, "--device", options.device],
                          cwd=folder, capture_output=True, text=True, env={**os.environ, **hook})
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr[:300]}"
    if options.move_cuts and count > 1 and command == "run" and not re.search(
            r"rebalanced [1-9]\d* times", done.stdout):
        return "status 0, but the load was never rebalanced"
    return hash_of(folder)


def stopped_and_resumed(options, text, folder, first, last):
    """The hash of a run that stops amid its last stage; with stages "monte_carlo", amid the last of
    these, after an odd number of sweeps: while sizes are tuned, between moves of every other sweep.
    """
    stages = text["stages"]
    trials = [k for k, stage in enumerate(stages) if stage["type"] == "monte_carlo"]
    at = trials[-1] if trials else len(stages) - 1
    length = next((key for key in ("steps", "cycles", "sweeps") if key in stages[at]), None)
    if length is None:
        stop = more = ["--time-limit", "1e-7"]
    else:
        whole = stages[at][length]
        part = {**stages[at], length: whole // 3 | 1 if length == "sweeps" else whole // 2}
        stop = ["--set", f"stages={json.dumps([*stages[:at], part])}"]
        more = ["--set", f"stages={json.dumps(stages)}"]
    at_stop = run(options, folder, first, "run", "job.json", *stop)
    if at_stop.startswith("status"):
        return at_stop
    return run(options, folder, last, "resume", "checkpoint.h5",
               *([] if length is None else more))


def compare_processes(options, chosen):
    counts = [int(n) for n in options.processes.split(",")]
    whole = counts[:1] if options.short and os.environ.get("PERRIN_LONG_TESTS") != "1" else counts
    wrong = False
    for name, text in chosen.items():
        text = copy.deepcopy(text)
        text["observers"] = [*text.get("observers", []), {"type": "checkpoint"}]
        # Dealt out, however few there are.
        text["processes"] = {**text.get("processes", {}), "particles": 1}
        found = {}
        for count in [1, *whole, "resumed"]:
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "job.json"), "w") as file:
                    json.dump(text, file)
                found[count] = (
                    stopped_and_resumed(options, text, folder, counts[0], counts[-1])
                    if count == "resumed" else run(options, folder, count, "run", "job.json"))
        other = {k: v for k, v in found.items() if v != found[1]}
        wrong = wrong or bool(other) or found[1].startswith("status")
        print(f"{found[1]}  {name}", *(f"not {k}: {v}" for k, v in other.items()), flush=True)
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--save")
    parser.add_argument("--compare")
    parser.add_argument("--processes")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--move-cuts", action="store_true")
    parser.add_argument("--far", action="store_true")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    chosen = {name: text for name, text in jobs(options.device).items()
              if (not options.only or name in options.only)
              and ("system" in text or not options.move_cuts)}
    if options.processes:
        compare_processes(options, chosen)
    hashes = {}
    for name, text in chosen.items():
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "job.json"), "w") as file:
                json.dump(text, file)
            hashes[name] = run(options, folder, 1, "run", "job.json")
        print(f"{hashes[name]}  {name}", flush=True)
    if options.save:
        with open(options.save, "w") as file:
            json.dump(hashes, file, indent=1)
    if options.compare:
        with open(options.compare) as file:
            before = json.load(file)
        other = [name for name in before if hashes.get(name) != before[name]]
        print(f"{len(before) - len(other)} of {len(before)} as before"
              + (": not " + "; ".join(other) if other else ""))
        sys.exit(1 if other else 0)


if __name__ == "__main__":
    main()
