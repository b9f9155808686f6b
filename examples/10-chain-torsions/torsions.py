#!/usr/bin/python3
"""How often each dihedral angle occurs, beside Boltzmann's law: torsions.py [trajectory.h5]"""

import sys

import h5py
import numpy

BINS = 12


def dihedrals(r, edges):
    """Angles in degrees of r[..., 4, 3], by the vectors along the chain; 180 is trans."""
    b = numpy.diff(r, axis=-2)
    b -= edges * numpy.rint(b / edges)
    m = numpy.cross(b[..., 0, :], b[..., 1, :])
    n = numpy.cross(b[..., 1, :], b[..., 2, :])
    axis = numpy.linalg.norm(b[..., 1, :], axis=-1)
    return numpy.degrees(numpy.arctan2(axis * (b[..., 0, :] * n).sum(-1), (m * n).sum(-1)))


def measured(path, first_frame):
    """Share of each bin of 30 degrees and its standard error: chains are independent."""
    with h5py.File(path) as file:
        members = file["connectivity/dihedrals"][:]
        r = file["particles/all/position/value"][first_frame:].astype(float)[:, members]
        edges = numpy.diag(file["particles/all/box/edges/value"][0])
    phi = dihedrals(r, edges)
    bin_of = numpy.minimum(((phi + 180) * BINS / 360).astype(int), BINS - 1)
    shares = numpy.array([(bin_of == k).mean(axis=0) for k in range(BINS)])  # [bin][chain]
    return shares.mean(axis=1), shares.std(axis=1, ddof=1) / shares.shape[1]**0.5


def boltzmann(k=(1.5, -0.5, 2.5, 0), temperature=1):
    """Bonds and angles do not act on torsions, other particles neither: p(phi) ~ exp(-E/kT)."""
    phi = numpy.radians(numpy.arange(-180, 180, 0.01) + 0.005)
    energy = sum(k[n - 1] / 2 * (1 - (-1)**n * numpy.cos(n * phi)) for n in (1, 2, 3, 4))
    weight = numpy.exp(-energy / temperature).reshape(BINS, -1).sum(axis=1)
    return weight / weight.sum()


if __name__ == "__main__":
    share, error = measured(sys.argv[1] if len(sys.argv) > 1 else "trajectory.h5", 6)
    print("  phi          share   Boltzmann   difference/error")
    for k, (p, dp, q) in enumerate(zip(share, error, boltzmann())):
        print(f"{30 * k - 180:5} {30 * k - 150:5}  {p:.4f}    {q:.4f}    {(p - q) / dp:6.1f}")
