"""How many bonds there are at which temperature, beside Wertheim's theory, and the last frame.

    plot.py FOLDER PICTURE
"""

import json
import sys

import h5py
import matplotlib
import numpy

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = sys.argv[1:]
PATCHES = numpy.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / numpy.sqrt(3)
EPSILON, RANGE, WIDTH, STEEPNESS, DENSITY = 10, 1.25, 0.1, 100, 0.3
HALF = numpy.cos(numpy.radians(22))


def covered(cosine):
    return 0.5 + 0.5 * numpy.tanh(STEEPNESS / 2 * (cosine - HALF))


def well(r):
    u = numpy.clip((r - RANGE) / WIDTH + 1, 0, 1)
    return -EPSILON * (1 - u**3 * (10 - 15 * u + 6 * u * u))


def bonds(at, q, edge):
    """Pairs of particles whose patches attract each other by a quarter of epsilon or more."""
    w, x, y, z = q.T
    frame = numpy.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    axes = numpy.einsum("abi,kb->ika", frame, PATCHES)
    d = at[None] - at[:, None]
    d -= edge * numpy.round(d / edge)
    r = numpy.sqrt((d**2).sum(-1))
    i, j = numpy.nonzero(numpy.triu(r < RANGE, 1))
    e = d[i, j] / r[i, j][:, None]
    both = (covered((axes[i] * e[:, None]).sum(-1)).sum(1) *
            covered(-(axes[j] * e[:, None]).sum(-1)).sum(1))
    keep = well(r[i, j]) * both < -EPSILON / 4
    return i[keep], j[keep]


def wertheim(kt):
    """The share of patches that are bonded, by first-order perturbation theory: each patch bonds
    once, and the fluid of the cores has its contact value (Carnahan-Starling) over the well."""
    r = numpy.linspace(0.85, RANGE, 400)
    c = (numpy.arange(600) + 0.5) / 600 * 0.3 + 0.7  # beyond that patches do not reach
    f = covered(c)
    six = r**-6
    core = numpy.where(six > 0.5, 4 * (six * six - six) + 1, 0)
    pairs = numpy.array([numpy.expm1(-u / kt * numpy.outer(f, f)).mean() for u in well(r)])
    eta = numpy.pi / 6 * DENSITY
    contact = (1 - eta / 2) / (1 - eta)**3
    delta = (4 * numpy.pi * r * r * contact * numpy.exp(-core / kt) * pairs * 0.15**2).sum() * (
        r[1] - r[0])
    a = 4 * DENSITY * delta  # p = a (1 - p)²
    return 1 - (numpy.sqrt(1 + 4 * a) - 1) / (2 * a)


with h5py.File(f"{folder}/trajectory.h5") as file:
    group = file["particles/all"]
    positions = group["position/value"][:].astype(float)
    quaternions = group["orientation/value"][:].astype(float)
    steps = group["position/step"][:]
    mix, cool = json.loads(file["parameters/perrin/job"].asstr()[()])["stages"]
    number = positions.shape[1]
edge = (number / DENSITY)**(1 / 3)
ramp = cool["integrator"]
cooling = steps >= mix["steps"]
kt = numpy.interp(steps[cooling] - mix["steps"], (0, ramp["ramp_steps"]),
                  (ramp["temperature"], ramp["final_temperature"]))
share = [2 * len(bonds(at, q, edge)[0]) / (4 * number)
         for at, q in zip(positions[cooling], quaternions[cooling])]

figure = plt.figure(figsize=(10, 4.4))
panel = figure.add_subplot(1, 2, 1)
panel.plot(kt, share, "o", label="this run")
line = numpy.linspace(kt.min(), kt.max(), 60)
panel.plot(line, [wertheim(t) for t in line], label="Wertheim's theory")
panel.set(xlabel="temperature", ylabel="share of patches that are bonded", ylim=(0, 1))
panel.legend()
panel = figure.add_subplot(1, 2, 2, projection="3d")
at = positions[-1]
i, j = bonds(at, quaternions[-1], edge)
vector = at[j] - at[i]
vector -= edge * numpy.round(vector / edge)
for a, v in zip(at[i], vector):
    panel.plot(*numpy.stack([a, a + v]).T, color="tab:blue", linewidth=0.8)
panel.scatter(*at.T, s=8, color="tab:orange", depthshade=True)
panel.set(xticks=[], yticks=[], zticks=[], title=f"temperature {kt[-1]:.2f}")
figure.tight_layout()
figure.savefig(picture, dpi=110)
