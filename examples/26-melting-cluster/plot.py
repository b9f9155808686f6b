"""Heat capacity of the cluster at each temperature, from the fluctuations of its energy and from
the slope of its mean, and the temperature of the peak.

    plot.py FOLDER PICTURE
"""

import json
import pathlib
import sys

import h5py
import numpy

PARTS = 10  # of a run, for errors
VELOCITIES = 19.5  # k/2 for each of 39 degrees of freedom


def measured(folder):
    """Temperatures; of each part of the run the means of the potential energy and its square."""
    systems = json.loads((folder / "ensemble.json").read_text())["systems"]
    temperature, mean, square = [], [], []
    for system in systems:
        temperature.append(system["values"]["stages[0].integrator.temperature"])
        with h5py.File(folder / system["folder"] / "thermo.h5") as file:
            energy = file["observables/potential_energy/value"][:]
        parts = numpy.array_split(energy[len(energy) // 5:], PARTS)
        mean.append([p.mean() for p in parts])
        square.append([(p**2).mean() for p in parts])
    return numpy.array(temperature), numpy.array(mean), numpy.array(square)


def with_error(of):
    """Value and standard error of a function of the parts that are taken, by leaving out one."""
    whole = of(numpy.arange(PARTS))
    others = numpy.array([of(numpy.delete(numpy.arange(PARTS), k)) for k in range(PARTS)])
    return whole, numpy.sqrt((PARTS - 1) * others.var(axis=0))


def results(temperature, mean, square):
    """With their errors: the capacity at each temperature, without that of the velocities; the
    temperature of its peak; and by how much the energy that is gained from the first to the last
    temperature differs from the integral of the capacity."""

    def capacity(parts):
        # The square of a mean is too large by the mean's own variance.
        u = mean[:, parts]
        known = u.mean(axis=1)**2 - u.var(axis=1, ddof=1) / len(parts)
        return (square[:, parts].mean(axis=1) - known) / temperature**2

    def peak(parts):
        """Of a parabola through what is near the largest value."""
        c = capacity(parts)
        near = abs(temperature - temperature[c.argmax()]) < 0.04
        a, b, _ = numpy.polyfit(temperature[near], c[near], 2)
        return -b / (2 * a)

    def difference(parts):
        c, u = capacity(parts), mean[:, parts].mean(axis=1)
        return u[-1] - u[0] - ((c[1:] + c[:-1]) / 2 * numpy.diff(temperature)).sum()

    return [with_error(of) for of in (capacity, peak, difference)]


def main():
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    temperature, mean, square = measured(pathlib.Path(sys.argv[1]))
    (capacity, error), peak, difference = results(temperature, mean, square)
    capacity += VELOCITIES
    for row in zip(temperature, capacity, error):
        print("T {:.4f}: C {:.1f} ± {:.1f} k".format(*row))
    print("peak at T = {:.4f} ± {:.4f}".format(*peak))
    print("energy gained, less the integral of C: {:.2f} ± {:.2f}".format(*difference))

    some = slice(0, None, 4)
    slope = numpy.diff(mean.mean(axis=1)[some]) / numpy.diff(temperature[some])
    middle = (temperature[some][1:] + temperature[some][:-1]) / 2
    figure, axes = plt.subplots(figsize=(6, 4))
    axes.errorbar(temperature, capacity, error, fmt="o", markersize=4, capsize=2,
                  label="fluctuations of the energy")
    axes.plot(middle, slope + VELOCITIES, label="slope of its mean")
    axes.set(xlabel="temperature (ε/k)", ylabel="heat capacity of the cluster (k)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=120)


if __name__ == "__main__":
    main()
