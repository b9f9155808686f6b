"""Energies, forces and virials of charges by OpenMM, for tests/physics/charges.py.

    make_charges.py [FILE]      default: charges.json beside this script

needs the packages openmm and numpy. Platform "Reference", in double precision; particle mesh Ewald
(PME, fifth-order B-splines) whose mesh is so fine that its error is below that of single precision.
Lengths are nm there; energies and forces are divided by the energy of two unit charges at the unit
distance, which OpenMM itself is asked for. OpenMM has no virial: it is the derivative of the energy
with respect to strains of the box and the positions, by differences.
"""

import json
import os
import sys

import numpy
import openmm
from openmm import unit

EDGES = {"orthogonal": [[12, 0, 0], [0, 11, 0], [0, 0, 13]],
         "tilted": [[12, 0, 0], [2, 11, 0], [1, -3, 13]]}
CHARGES = numpy.tile([1.0, -1.0, 0.5, -0.5], 60)


def scattered(edges, distance, seed):
    """No two nearer than the distance."""
    random = numpy.random.default_rng(seed)
    found = numpy.empty((0, 3))
    while len(found) < len(CHARGES):
        p = random.uniform(0, 1, 3) @ edges
        d = p - found
        d -= numpy.round(d @ numpy.linalg.inv(edges)) @ edges
        if ((d**2).sum(axis=1) > distance**2).all():
            found = numpy.vstack([found, numpy.round(p, 6)])
    return found


def measured(positions, charges, edges=None, cutoff=3.0, tolerance=1e-9):
    system = openmm.System()
    force = openmm.NonbondedForce()
    for q in charges:
        system.addParticle(1)
        force.addParticle(float(q), 1, 0)
    if edges is None:
        force.setNonbondedMethod(openmm.NonbondedForce.NoCutoff)
    else:
        system.setDefaultPeriodicBoxVectors(*(openmm.Vec3(*map(float, e)) for e in edges))
        force.setNonbondedMethod(openmm.NonbondedForce.PME)
        force.setCutoffDistance(cutoff)
        alpha = numpy.sqrt(-numpy.log(2 * tolerance)) / cutoff
        force.setPMEParameters(alpha, 180, 180, 180)
    system.addForce(force)
    context = openmm.Context(system, openmm.VerletIntegrator(0.001),
                             openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions)
    state = context.getState(getEnergy=True, getForces=True)
    kilojoule = unit.kilojoule_per_mole
    return (state.getPotentialEnergy().value_in_unit(kilojoule),
            numpy.array(state.getForces(asNumpy=True).value_in_unit(kilojoule / unit.nanometer)))


def virial_of(positions, edges):
    """xx, yy, zz, xy, xz, yz: r_a += x r_b, under which the edges stay upper triangular."""
    found = []
    for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        def energy(x):
            strain = numpy.eye(3)
            strain[b, a] += x
            return measured(positions @ strain, CHARGES, edges @ strain)[0]
        x = 2e-4
        found.append((8 * (energy(-x) - energy(x)) + energy(2 * x) - energy(-2 * x)) / (12 * x))
    return numpy.array(found)


def main():
    unit_energy = measured([[0, 0, 0], [1, 0, 0]], [1, 1])[0]
    found = {"openmm": openmm.version.version, "charges": CHARGES.tolist(), "boxes": {}}
    for seed, (name, edges) in enumerate(EDGES.items()):
        edges = numpy.array(edges, float)
        positions = scattered(edges, 0.3, seed)
        energy, forces = measured(positions, CHARGES, edges)
        other, _ = measured(positions, CHARGES, edges, cutoff=4.0)
        print(name, energy / unit_energy, "with another cut-off", other / unit_energy)
        virial = virial_of(positions, edges) / unit_energy
        print("virial", virial, "whose trace should be the energy")
        found["boxes"][name] = {"edges": edges.tolist(), "positions": positions.tolist(),
                                "energy": energy / unit_energy,
                                "virial": numpy.round(virial, 6).tolist(),
                                "forces": numpy.round(forces / unit_energy, 7).tolist()}
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "charges.json")
    with open(sys.argv[1] if len(sys.argv) > 1 else default, "w") as out:
        json.dump(found, out)


main()
