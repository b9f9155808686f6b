"""Counterions of a charged rod beside the Poisson-Boltzmann equation, and the size of charged and
neutral chains.

    plot.py FOLDER_OF_RODS FOLDER_OF_CHAINS PICTURE
"""

import json
import pathlib
import sys

import h5py
import numpy

ROD, CELL = 1.0, 8.0  # radii


def poisson_boltzmann(xi, r, energy):
    """The fraction of the counterions within r (rising evenly in ln r), of a rod with the Manning
    parameter xi whose counterions have this energy besides; in k_B T. Gauss's law has the field of
    the rod and of these ions, and they have Boltzmann's distribution in it."""
    fraction, step = numpy.full(len(r), 0.5), numpy.diff(numpy.log(r))

    def summed(f):
        return numpy.concatenate([[0], numpy.cumsum((f[1:] + f[:-1]) / 2 * step)])
    for _ in range(4000):
        potential = summed(2 * xi * (1 - fraction)) + energy
        within = summed(r**2 * numpy.exp(potential.min() - potential))
        change = within / within[-1] - fraction
        fraction += 0.2 * change
        if abs(change).max() < 1e-9:
            break
    return fraction


def fuoss_katchalsky_lifson(xi, r, rod=ROD, cell=CELL):
    """The same of hard surfaces, in closed form, for xi > 1 and cells that are not too small; and
    the Manning radius, within which the fraction is 1 - 1/xi."""
    low, high = 1e-9, 10.0
    for _ in range(100):
        g = (low + high) / 2
        found = numpy.arctan(1 / g) + numpy.arctan((xi - 1) / g) - g * numpy.log(cell / rod)
        low, high = (g, high) if found > 0 else (low, g)
    manning = cell * numpy.exp(-numpy.arctan(1 / g) / g)
    return 1 - 1 / xi + g / xi * numpy.tan(g * numpy.log(r / manning)), manning


def measured(file):
    """Outer radii of shells, and the fraction within, of each row of a profile."""
    with h5py.File(file) as h:
        middle = h["observables/r/value"][-1]
        density = h["observables/density/value"][:]
    half = (middle[1] - middle[0]) / 2
    counts = density * ((middle + half)**2 - (middle - half)**2)
    return middle + half, numpy.cumsum(counts, axis=1) / counts.sum(axis=1)[:, None]


def rods(folder, axes):
    job = json.loads((folder / "ensemble.json").read_text())
    r = numpy.exp(numpy.linspace(numpy.log(0.5), numpy.log(9), 10000))
    wall = 100 * (numpy.maximum(ROD - r, 0)**2 + numpy.maximum(r - CELL, 0)**2)
    for k, system in enumerate(job["systems"]):
        xi = 8 * system["values"]["forces[1].coulomb.bjerrum_length"]
        edge, within = measured(folder / system["folder"] / "radial_profile.h5")
        expected = poisson_boltzmann(xi, r, wall)
        mean = within.mean(axis=0)
        error = within.std(axis=0, ddof=1) / len(within)**0.5
        some = slice(42, None, 6)
        axes.plot(edge[some], mean[some], ".", color=f"C{k}")
        axes.plot(r, expected, color=f"C{k}", linewidth=1, label=f"ξ = {xi:g}")
        text = f"xi {xi:g}: within 2 {numpy.interp(2, edge, mean):.4f} ± " \
               f"{numpy.interp(2, edge, error):.4f}, theory {numpy.interp(2, r, expected):.4f}"
        if xi > 1:
            _, manning = fuoss_katchalsky_lifson(xi, r)
            text += f"; within the Manning radius {manning:.3f} " \
                    f"{numpy.interp(manning, edge, mean):.4f} ± " \
                    f"{numpy.interp(manning, edge, error):.4f}, 1 - 1/xi = {1 - 1 / xi:.4f}"
            axes.plot(manning, 1 - 1 / xi, "k+", markersize=10)
        print(text)
    axes.set(xscale="log", xlim=(0.6, 9), xlabel="distance from the axis", ylim=(0, 1),
             ylabel="fraction of the counterions within")
    axes.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes.minorticks_off()
    axes.legend(title="points: ions\nlines: theory\n+: 1 - 1/ξ", loc="upper left", fontsize="small")


def chains(folder, axes):
    systems = json.loads((folder / "ensemble.json").read_text())["systems"]
    for charged in (False, True):
        rows = []
        for system in systems:
            if (system["values"]["forces[2].coulomb.bjerrum_length"] > 0.5) != charged:
                continue
            beads = system["values"]["system.parts[1].particles.ion"]
            with h5py.File(folder / system["folder"] / "chain_size.h5") as h:
                squares = h["observables/end_to_end_squared/value"][:].ravel()
            parts = [part.mean() for part in numpy.array_split(squares, 10)]
            mean, error = numpy.mean(parts), numpy.std(parts, ddof=1) / 10**0.5
            rows.append((beads - 1, mean**0.5, error / mean**0.5 / 2))
        bonds, size, error = numpy.array(rows).T
        slope, covariance = numpy.polyfit(numpy.log(bonds), numpy.log(size), 1, w=size / error,
                                          cov="unscaled")
        label = "charged" if charged else "neutral"
        print(f"{label}: end to end", ", ".join(f"{s:.2f} ± {e:.2f}" for s, e in zip(size, error)),
              f"exponent {slope[0]:.3f} ± {covariance[0, 0]**0.5:.3f}")
        axes.errorbar(bonds, size, error, fmt="o", capsize=2, label=f"{label}: {slope[0]:.2f}")
        axes.plot(bonds, numpy.exp(numpy.polyval(slope, numpy.log(bonds))), color="grey",
                  linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="bonds", ylabel="end-to-end distance")
    axes.set_xticks([15, 31, 63], ["15", "31", "63"])
    axes.set_yticks([5, 10, 20, 40], ["5", "10", "20", "40"])
    axes.minorticks_off()
    axes.legend(title="exponent")


def main():
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    rods(pathlib.Path(sys.argv[1]), left)
    chains(pathlib.Path(sys.argv[2]), right)
    figure.tight_layout()
    figure.savefig(sys.argv[3], dpi=120)


if __name__ == "__main__":
    main()
