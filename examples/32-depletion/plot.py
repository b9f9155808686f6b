"""The radial distribution function of large spheres among small ones, with and without clusters.

    plot.py FOLDER_WITH FOLDER_WITHOUT PICTURE
"""

import math
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

*folders, picture = sys.argv[1:]
volume = 28 ** 3
# Contact value of a mixture: G. A. Mansoori, N. F. Carnahan, K. E. Starling, T. W. Leland, J. Chem.
# Phys. 54, 1523 (1971).
number = {5: 34, 1: 4200}
xi2, xi3 = (sum(math.pi / 6 * n * d ** k / volume for d, n in number.items()) for k in (2, 3))
x = xi2 * 5 / 2
contact = 1 / (1 - xi3) + 3 * x / (1 - xi3) ** 2 + 2 * x ** 2 / (1 - xi3) ** 3

figure, axes = plt.subplots(figsize=(6, 4))
for folder, label, style in zip(folders, ("with clusters", "displacements alone"),
                                ({"linewidth": 2}, {"linewidth": 0.8})):
    with h5py.File(f"{folder}/rdf.h5") as file:
        r = file["observables/r/value"][-1]
        g = file["observables/rdf/value"][-1, 0]
    axes.plot(r, g, label=label, **style)
    near = (r > 5) & (r < 5.3)
    print(f"{label}: {g[near].mean():.2f} between 5 and 5.3")
axes.plot([5], [contact], "o", color="black", label=f"contact, theory: {contact:.2f}")
axes.set(xlabel="distance of large spheres", ylabel="g", xlim=(4.5, 12))
axes.legend()
figure.tight_layout()
figure.savefig(picture, dpi=120)
