"""Order of the crystal while it melts or not, and pressures from the contact value of g(r).

    plot.py PICTURE FOLDER...
"""

import json
import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

picture, *folders = sys.argv[1:]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
for folder in folders:
    with h5py.File(f"{folder}/rdf.h5") as file:
        r = file["observables/r/value"][-1]
        g = file["observables/rdf/value"][-1, 0]
        job = json.loads(file["parameters/perrin/job"][()])
    eta = numpy.pi / 6 * job["system"]["density"]
    with h5py.File(f"{folder}/bond_order.h5") as file:
        order = file["observables/q6_averaged"]
        left.plot(order["step"][:], order["value"][:], label=f"packing {eta:.3f}")
    right.plot(r, g)
    near = (r > 1) & (r < 1.06)
    contact = numpy.exp(numpy.polyval(numpy.polyfit(r[near] - 1, numpy.log(g[near]), 1), 0))
    fluid = (1 + eta + eta ** 2 - eta ** 3) / (1 - eta) ** 3
    print(f"packing {eta:.3f}: P V / N kT = {1 + 4 * eta * contact:.3f}; of the fluid, by Carnahan "
          f"and Starling, {fluid:.3f}")
left.set(xlabel="sweeps", ylabel="order q6, averaged over neighbours")
left.legend()
right.set(xlabel="distance", ylabel="g(r)")
figure.tight_layout()
figure.savefig(picture, dpi=120)
