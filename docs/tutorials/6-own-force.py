# %% [markdown]
# # 6. A force of your own
#
# Write a force in three ways: as a formula in the job, as a function of Python, and as a plug-in in
# C++. Take the first that is enough.

# %%
import matplotlib.pyplot as plt
import numpy as np
import perrin

# %% [markdown]
# ## A formula
#
# `pair_formula` takes the energy of a pair as a formula of the distance r. Other names in it are
# parameters, whose values stand with each pair of types. The force is the derivative, which Perrin
# takes itself. The formula is compiled for the CPU and the GPU when it is first used; without a
# compiler it becomes a table with errors below 10⁻⁹ of the energy.
#
# This potential has a hard core and a soft shoulder, as models of water and of liquid metals do.

# %%
energy = "(sigma/r)^14 + height/2*(1 - tanh(steepness*(r - width)))"
values = {"sigma": 1.0, "height": 1.0, "steepness": 10.0, "width": 1.35}


def u(r):
    return r ** -14.0 + 0.5 * (1 - np.tanh(10 * (r - 1.35)))


r = np.linspace(0.9, 2.2, 300)
plt.plot(r, u(r))
plt.ylim(0, 4)
plt.xlabel("r")
plt.ylabel("energy");

# %%
bath = {"type": "langevin", "timestep": 0.004, "temperature": 1.0, "friction": 1.0}
gas = {
    "seed": 6,
    "system": {"type": "random", "particles": {"A": 400}, "density": 0.05, "min_distance": 1.6},
    "velocity": {"temperature": 1.0},
    "forces": [{"type": "pair_formula", "energy": energy, "cutoff": 2.2,
                "truncation": "energy_shift", "pairs": [{"types": ["A", "A"], **values}]}],
    "observers": [{"type": "thermo", "stride": 10}],
    "stages": [{"type": "md", "steps": 30000, "integrator": bath}]}
sim = perrin.Simulation(gas, output_dir="gas", overwrite=True, threads=1)
sim

# %% [markdown]
# Compare the energy of the first configuration with numpy: this finds mistakes in the formula.

# %%
separation = sim.box.nearest(sim.positions[:, None] - sim.positions)[np.triu_indices(400, 1)]
distance = np.linalg.norm(separation, axis=1)
by_hand = np.sum(u(distance[distance < 2.2]) - u(2.2))
print(f"{sim.totals.potential:.5f} by Perrin, {by_hand:.5f} by numpy")
assert abs(sim.totals.potential - by_hand) < 1e-3

# %% [markdown]
# A dilute gas knows the potential by its second virial coefficient,
#
#     P = ρ kT (1 + B₂ ρ + …),   B₂ = −2π ∫ (exp(−u/kT) − 1) r² dr.

# %%
sim.run()
pressure = perrin.mean(perrin.thermo("gas/thermo.h5").pressure[300:])
s = np.linspace(0.3, 2.2, 100_000)
b2 = -2 * np.pi * np.sum((np.exp(-(u(s) - u(2.2))) - 1) * s ** 2) * (s[1] - s[0])
b2 += 2 * np.pi * 0.3 ** 3 / 3                      # below 0.3, where exp(-u) is 0
print(f"P = {pressure.value:.5f} ± {pressure.error:.5f}")
print(f"ideal gas 0.05, with B2 = {b2:.3f}: {0.05 * (1 + b2 * 0.05):.5f}")

# %% [markdown]
# The next term is B₃ρ². For hard spheres B₃ = 5/8 B₂², which is more than that of this softer
# potential: the pressure lies between the two, but for four standard errors.

# %%
lower = 0.05 * (1 + b2 * 0.05)
upper = lower + 0.05 * 5 / 8 * (b2 * 0.05) ** 2
assert lower - 4 * pressure.error < pressure.value < upper + 4 * pressure.error

# %% [markdown]
# ## A function of Python
#
# A `PythonForce` is called in every step with what the simulation shows of its particles, and
# returns forces and, if you like, the energy. Use it for what no formula can say. Here a trap that
# is stiff far from the middle, U = c/4 |r|⁴, is written with numpy.

# %%
c = 2.0


def trap(particles):
    r = particles.positions
    square = np.sum(r ** 2, axis=1, keepdims=True)
    return -c * square * r, c / 4 * np.sum(square ** 2)


trapped = {
    "seed": 6,
    "system": {"type": "random", "particles": {"A": 500}, "box": [20, 20, 20],
               "min_distance": 0},
    "velocity": {"temperature": 1.0},
    "forces": [perrin.PythonForce(trap)],
    "stages": [{"type": "md", "integrator": {**bath, "timestep": 0.01}}]}
sim = perrin.Simulation(trapped, threads=1)
sim.positions = np.random.default_rng(6).normal(size=(500, 3))

# %% [markdown]
# The system was made at random places in the box, where this force is far too strong. So the
# particles were first set to places near the middle. The stage has no `"steps"`: it runs for as
# long as it is told to. `every` calls a function during the run.

# %%
energies = []


@sim.every(20)
def look(sim):
    if sim.step > 1000:
        energies.append(sim.totals.potential / len(sim))


sim.run(11000)
mean = perrin.mean(energies)
print(f"U/N = {mean.value:.4f} ± {mean.error:.4f}")

# %% [markdown]
# The virial theorem says ⟨r · ∇U⟩ = 3 kT. Here r · ∇U = 4 U, hence ⟨U⟩ = 3/4 kT, without any
# approximation. The error of the time step is below the statistical one.

# %%
assert abs(mean.value - 0.75) < 4 * mean.error + 0.003 and mean.error < 0.01

# %% [markdown]
# ## Is it the derivative of its energy?
#
# Run without a heat bath: the total energy must stay. What is left is the error of velocity Verlet,
# which is proportional to the square of the time step. A wrong force drifts, whatever the step.

# %%
start = sim.positions, sim.velocities
spread = {}
for timestep in (0.02, 0.01):
    free = perrin.Simulation({**trapped, "stages": [{"type": "md", "integrator": {
        "type": "velocity_verlet", "timestep": timestep}}]}, threads=1)
    free.positions, free.velocities = start
    total = []
    while free.time < 10:
        free.run(round(0.1 / timestep))
        total.append(free.totals.total)
    spread[timestep] = np.std(total)
    print(f"time step {timestep}: energy {np.mean(total):.3f}, spread {spread[timestep]:.4f}")
print(f"ratio {spread[0.02] / spread[0.01]:.2f}")
assert 3 < spread[0.02] / spread[0.01] < 5

# %% [markdown]
# ## A plug-in
#
# A force in C++ runs at the speed of Perrin's own, on CPU and GPU. `perrin new-plugin` writes a
# folder with a pair potential, its build file, a job and a test to start from:
#
#     perrin new-plugin pair my_force
#     cmake -S my_force -B my_force/build -DCMAKE_PREFIX_PATH=PREFIX    # where Perrin is installed
#     cmake --build my_force/build
#     PERRIN_PLUGIN_PATH=my_force/build perrin run my_force/job.json --output-dir out
#
# The heart of `my_force.cpp` is a function of the square of the distance. It returns the force over
# the distance, and the energy:
#
#     template <class T>
#     PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
#       const auto distance = Distance<T>::from_square(r2);
#       const T energy = T(c.height) * std::exp(-distance.r * T(c.inverse_length));
#       return {energy * T(c.inverse_length) * distance.inverse, energy};
#     }
#
# [Plug-ins](../guide/plugins.md) says what they may use, and
# [lessons](../guide/plugin-lessons.md) go through each kind: bonds, fields, integrators, observers.
