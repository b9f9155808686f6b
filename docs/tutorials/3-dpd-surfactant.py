# %% [markdown]
# # 3. A surfactant in water
#
# Simulate water and a surfactant by dissipative particle dynamics (DPD): put the system together
# from parts, see micelles form, and measure their sizes. A DPD bead is a few molecules of water or
# a piece of a chain; the unit of length is the range of the forces, that of energy is kT.

# %%
import h5py
import matplotlib.pyplot as plt
import numpy as np
import perrin

# %% [markdown]
# ## Water alone
#
# Beads repel one another softly, with the force a (1 − r) at distances r below 1. Friction and
# noise between pairs keep the temperature. Groot and Warren (J. Chem. Phys. 107, 4423 (1997)) chose
# a = 25 at the density 3, which gives the compressibility of water.

# %%
step = {"type": "dpd_split", "timestep": 0.04}


def dpd(repulsions):
    """The force of DPD, from the repulsion of each pair of types."""
    return {"type": "dpd", "temperature": 1, "pairs": [
        {"types": list(types), "repulsion": a, "gamma": 4.5} for types, a in repulsions.items()]}


water = {
    "seed": 3,
    "system": {"type": "random", "particles": {"W": 1029}, "density": 3, "min_distance": 0},
    "velocity": {"temperature": 1},
    "forces": [dpd({"WW": 25})],
    "observers": [{"type": "thermo", "stride": 5}],
    "stages": [{"type": "md", "steps": 1000, "integrator": step}]}
perrin.run(water, output_dir="water", overwrite=True, quiet=True, threads=1)
table = perrin.thermo("water/thermo.h5")
pressure = perrin.mean(table[table.step > 200].pressure)
print(f"pressure {pressure.value:.2f} ± {pressure.error:.2f}")

# %% [markdown]
# The pressure of this fluid is known: 23.65 in the limit of short time steps
# ([DPD](../guide/dpd.md)); the formula of Groot and Warren, ρ kT + 0.101 a ρ², is an approximation
# for high densities and gives 25.7. The tolerance of 0.1 is the error of the time step (0.02) and
# some standard errors.

# %%
assert abs(pressure.value - 23.65) < 0.1

# %% [markdown]
# ## The system, from parts
#
# The system `parts` puts several things into one box, in their order. First come 40 surfactant
# molecules: two head beads H and two tail beads T in a chain. Then water fills the box until the
# density of all beads is 3.
#
# Heads like water (20), tails dislike water (80) and heads (50). Beads of one kind repel as in
# water (25).

# %%
repulsions = {"WW": 25, "HH": 25, "TT": 25, "HW": 20, "TW": 80, "HT": 50}
surfactant = {
    "seed": 3,
    "system": {"type": "parts", "box": [8, 8, 8], "min_distance": 0, "parts": [
        {"type": "chains", "number": 40, "pattern": "H2T2", "bond_length": 0.6},
        {"type": "fill", "types": {"W": 1}, "density": 3}]},
    "velocity": {"temperature": 1},
    "neighbors": {"exclusions": []},
    "forces": [dpd(repulsions),
               {"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 100, "length": 0.6}}}],
    "observers": [
        {"type": "thermo", "stride": 20},
        {"type": "cluster_size", "distance": 1.0, "types": ["T"], "stride": 50,
         "rows_every": 250, "sizes": 80},
        {"type": "trajectory", "stride": 500}],
    "stages": [{"type": "md", "steps": 5000, "integrator": step}]}
sim = perrin.run(surfactant, output_dir="out", overwrite=True, quiet=True, threads=1)
sim

# %% [markdown]
# ## Micelles
#
# `cluster_size` counts tail beads nearer than 1 to each other as one cluster. There are two in
# every molecule, so half the size of a cluster is its number of molecules. At the beginning the
# molecules are alone; then tails find each other, and small clusters merge.

# %%
with h5py.File("out/cluster_size.h5") as file:
    found = file["observables"]
    time = found["clusters/time"][:]
    clusters = found["clusters/value"][:].ravel()
    weight_mean = found["weight_mean_size/value"][:].ravel() / 2
plt.subplot(2, 1, 1)
plt.plot(time, clusters)
plt.ylabel("clusters")
plt.subplot(2, 1, 2)
plt.plot(time, weight_mean)
plt.ylabel("molecules\n(weight mean)")
plt.xlabel("time");

# %% [markdown]
# The weight mean is the size of the cluster in which a molecule finds itself, on average.
#
# See them in the last frame, water left out: tails (orange) are inside and heads (blue) outside. A
# micelle at a face of the box goes on at the opposite one.

# %%
trajectory = perrin.open("out/trajectory.h5")
frame = trajectory[-1]
kind = np.array(frame.type_names)[frame.types]
for name, colour in (("H", "#0072b2"), ("T", "#e69f00")):
    points = frame.positions[kind == name]
    plt.scatter(points[:, 0], points[:, 1], s=60, color=colour, label=name, alpha=0.7)
plt.gca().set_aspect("equal")
plt.legend();

# %% [markdown]
# ## The check
#
# Clusters are found anew here, from the positions of the last frame. Tails nearer than 1 are
# connected; the label of a bead becomes the least one that it can reach.

# %%
tails = frame.positions[kind == "T"]
distance = np.linalg.norm(frame.box.nearest(tails[:, None] - tails), axis=-1)
near = distance < 1
label = np.arange(len(tails))
for _ in range(len(tails)):
    label = np.where(near, label, len(tails)).min(axis=1)
sizes = np.unique(label, return_counts=True)[1] / 2
print("molecules in each cluster:", np.sort(sizes)[::-1])

# %% [markdown]
# What has to hold:
#
# - Tails are hidden from water. Few molecules are alone: the last clusters have many molecules.
# - The observer's clusters are those found here. Its last row is a mean over five samples, the last
#   of which is the last frame; clusters hardly change any more, so the numbers may differ by one.
# - Friction and noise keep the temperature at 1. The error of this integrator at this time step is
#   below one percent.

# %%
table = perrin.thermo("out/thermo.h5")
temperature = perrin.mean(table[table.step > 2000].temperature)
print(f"temperature {temperature.value:.3f} ± {temperature.error:.3f}")
assert clusters[-1] < clusters[0] / 4 and weight_mean[-1] > 8
assert abs(len(sizes) - clusters[-1]) <= 1
assert abs(temperature.value - 1) < 0.01

# %% [markdown]
# Next: make the tails longer (`"H2T4"`), or fill half of the box with surfactant, which gives
# layers. A box of 8 holds few micelles: sizes of micelles need a larger one and a longer run.
