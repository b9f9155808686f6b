# %% [markdown]
# # 5. Shear
#
# Measure the viscosity of a fluid in two ways: drive a flow by a field and look at its profile, and
# shear the whole box with the boundary conditions of Lees and Edwards. The fluid is that of WCA
# particles at the density 0.8442 and the temperature 0.722.

# %%
import h5py
import matplotlib.pyplot as plt
import numpy as np
import perrin

density, temperature = 0.8442, 0.722
bussi = {"type": "bussi", "timestep": 0.003, "temperature": temperature}
melt = {"type": "md", "name": "melt", "steps": 2000, "integrator": {**bussi, "tau": 0.1}}
wca = {"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]}

# %% [markdown]
# ## A flow and its profile
#
# The force `periodic_shear` pushes every particle along x by A sin(2π y/L). It pushes one half of
# the box to the right and the other to the left. The velocity becomes a sine, too, with the
# amplitude
#
#     u = A ρ / (η k²),   k = 2π/L,
#
# where the viscosity η balances the force. The observer `profile` averages velocities in slabs.
#
# A flow produces heat, which a thermostat has to take away. It must not act along x, or it would
# slow the flow down, too: `langevin` with `"bath_axes": "z"` acts along z alone. Collisions bring
# the heat there. The friction is weak: a strong one would slow the particles and raise the
# viscosity.

# %%
amplitude = 0.2
along_z = {"type": "langevin", "timestep": 0.003, "temperature": temperature, "friction": 2.0,
           "bath_axes": "z"}
flow = {
    "seed": 5,
    "system": {"type": "lattice", "structure": "fcc", "density": density, "cells": [4, 9, 4]},
    "velocity": {"temperature": temperature},
    "forces": [wca, {"type": "periodic_shear", "amplitude": amplitude, "flow": "x",
                     "gradient": "y"}],
    "observers": [{"type": "profile", "axis": "y", "bins": 24, "stride": 20, "rows_every": 2000,
                   "stages": ["flow"]}],
    "stages": [melt, {"type": "md", "name": "flow", "steps": 30000, "integrator": along_z}]}
sim = perrin.run(flow, output_dir="flow", overwrite=True, quiet=True, threads=1)
height = sim.box.lengths[1]
sim

# %% [markdown]
# Rows of the profile are means over 2000 steps, 6 units of time. The flow needs the time
# τ = ρ/(η k²), here about 2, to become steady: leave the first row out.
#
# Without a force the particles move, too. Of their thermal motion the wave has the amplitude
# (2 kT/N)^½ = 0.05, and keeps it for the time τ. So the mean over a time t has the error
# (2 kT/N · 2τ/t)^½.

# %%
with h5py.File("flow/profile.h5") as file:
    y = file["observables/coordinate/value"][-1]
    velocity = file["observables/velocity/value"][1:, :, 0]    # [row, slab], along x
wave = np.sin(2 * np.pi * (y + height / 2) / height)
u = 2 * (velocity * wave).mean()                            # amplitude of the sine
k = 2 * np.pi / height
eta_field = abs(amplitude * density / (u * k ** 2))

tau = density / (eta_field * k ** 2)
time = len(velocity) * 2000 * 0.003
error = np.sqrt(2 * temperature / len(sim) * 2 * tau / time)
error_field = eta_field * error / abs(u)
print(f"amplitude of the flow {u:.3f} ± {error:.3f}")
print(f"viscosity {eta_field:.2f} ± {error_field:.2f}")

plt.plot(y, velocity.mean(axis=0), "o", label="slabs")
plt.plot(y, u * wave, color="black", linewidth=1, label="sine")
plt.xlabel("y")
plt.ylabel("velocity along x")
plt.legend();

# %% [markdown]
# ## Lees and Edwards
#
# `"shear"` of a stage moves the periodic images above and below the box along x, so that the box
# has the same shear rate everywhere. The equations of motion are SLLOD. The viscosity is
# −⟨P_xy⟩/rate, of the pressure tensor in thermo.h5.
#
# Velocities are relative to the flow here, so that thermostats leave it alone. `bussi` with
# `"tau": 0` holds the temperature; with a larger tau the fluid would be warmer than its bath
# ([shear](../guide/shear.md#temperature-of-a-sheared-fluid)).

# %%
def sheared(rate):
    return {
        "seed": 5,
        "system": {"type": "lattice", "structure": "fcc", "density": density, "cells": [5, 5, 5]},
        "velocity": {"temperature": temperature},
        "forces": [wca],
        "observers": [
            {"type": "thermo", "stride": 5, "box": True},
            {"type": "profile", "axis": "y", "bins": 10, "stride": 20, "rows_every": 12000,
             "stages": ["shear"]}],
        "stages": [melt, {"type": "md", "name": "shear", "steps": 12000,
                          "integrator": {**bussi, "tau": 0},
                          "shear": {"rate": rate, "flow": "x", "gradient": "y"}}]}


viscosity, slabs = {}, {}
for rate in (0.4, 0.8, 1.6):
    folder = f"rate-{rate}"
    perrin.run(sheared(rate), output_dir=folder, overwrite=True, quiet=True, threads=1)
    table = perrin.thermo(f"{folder}/thermo.h5")
    steady = table[table.shear_strain > 2]
    viscosity[rate] = perrin.mean(-steady.pressure_tensor_xy / rate)
    with h5py.File(f"{folder}/profile.h5") as file:
        slabs[rate] = (file["observables/coordinate/value"][-1],
                       file["observables/velocity/value"][-1, :, 0])
    print(f"rate {rate}: temperature {steady.temperature.mean():.3f}, "
          f"viscosity {viscosity[rate].value:.3f} ± {viscosity[rate].error:.3f}")

# %% [markdown]
# The means are taken when the strain is above 2: until then the stress builds up.
#
# The profile has velocities relative to the flow, too. Add rate · y to have them in space. It is
# straight, and nothing but the boundary conditions makes it so.

# %%
for rate, (y, relative) in slabs.items():
    plt.plot(y, rate * y + relative, "o-", label=f"rate {rate}")
plt.xlabel("y")
plt.ylabel("velocity along x")
plt.legend();

# %% [markdown]
# ## The check
#
# At low rates the viscosity of this fluid is 2.3 to 2.4. It falls as the rate grows, about as
# 2.43 − 0.6 rate^½ (of the form of D. J. Evans, Phys. Rev. A 23, 1988 (1981)). Long runs gave
# 2.057, 1.870 and 1.660 at these three rates ([figures](../guide/shear.md#figures)). The tolerance
# is four standard errors, and 0.03 for the smaller system here.
#
# The rate of the driven flow is u k cos(k y), with a root mean square of 0.13. Long runs gave 2.34
# at the rate 0.1 and 2.20 at 0.2, between them 2.30 at 0.13; the curve is a little lower there.

# %%
rates = np.linspace(0.01, 2, 100)
mean_rate = abs(u) * k / np.sqrt(2)
plt.plot(rates, 2.43 - 0.6 * rates ** 0.5, color="black", linewidth=1, label="2.43 − 0.6 rate^½")
plt.errorbar(list(viscosity), [v.value for v in viscosity.values()],
             [v.error for v in viscosity.values()], fmt="o", capsize=3, label="Lees-Edwards")
plt.errorbar([mean_rate], [eta_field], [error_field], fmt="s", capsize=3, label="field")
plt.xlabel("shear rate")
plt.ylabel("viscosity")
plt.legend();

# %%
for rate, known in ((0.4, 2.057), (0.8, 1.870), (1.6, 1.660)):
    assert abs(viscosity[rate].value - known) < 4 * viscosity[rate].error + 0.03, rate
    assert viscosity[rate].error < 0.1
assert abs(eta_field - 2.30) < 4 * error_field and error_field < 0.1
for rate, (y, relative) in slabs.items():
    assert np.abs(relative).max() < 0.1 * rate * height

# %% [markdown]
# Next: a flow between walls is in examples/17-walls-of-particles, the viscosity of the fluid at
# rest (Green and Kubo) in the observer `stress_autocorrelation`.
