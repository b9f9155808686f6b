# %% [markdown]
# # 4. Towards the glass
#
# Simulate the mixture of Kob and Andersen (Phys. Rev. E 51, 4626 (1995)) at two temperatures, and
# measure how its particles forget where they were: the scattering function F_s(k, t), the overlap,
# and the non-Gaussian parameter α₂.

# %%
import h5py
import matplotlib.pyplot as plt
import numpy as np
import perrin

# %% [markdown]
# ## The job
#
# Four of five particles are A, the others B. A and B attract each other more than they attract
# their own kind, so that the mixture does not crystallize. Each pair of types has a cut-off of 2.5
# of its own σ.
#
# A function makes the job for a temperature. First a minimizer takes overlaps away, then the
# mixture is a liquid at the temperature 1; then it is cooled, and kept at the last temperature for
# as long as it was cooled.

# %%
k = 7.25            # the first peak of the structure factor of A
timestep = 0.004


def mixture(temperature, steps):
    bath = {"type": "bussi", "timestep": timestep, "temperature": temperature, "tau": 0.5}
    return {
        "seed": 4,
        "system": {"type": "random", "particles": {"A": 400, "B": 100}, "density": 1.2,
                   "min_distance": 0.75},
        "velocity": {"temperature": 1.0},
        "forces": [{"type": "lennard_jones", "truncation": "energy_shift", "pairs": [
            {"types": ["A", "A"], "epsilon": 1.0, "sigma": 1.0, "cutoff": 2.5},
            {"types": ["A", "B"], "epsilon": 1.5, "sigma": 0.8, "cutoff": 2.0},
            {"types": ["B", "B"], "epsilon": 0.5, "sigma": 0.88, "cutoff": 2.2}]}],
        "observers": [
            {"type": "thermo", "stride": 20},
            {"type": "mean_square_displacement", "types": ["A"], "stride": 1, "rows_every": steps,
             "wave_numbers": [k], "overlap": 0.3, "non_gaussian": True, "stages": ["measure"]},
            {"type": "trajectory", "stride": {"log": 10}, "positions": "unwrapped",
             "precision": "double", "stages": ["measure"]}],
        "stages": [
            {"type": "md", "name": "push off", "steps": 1000,
             "integrator": {"type": "fire", "force_tolerance": 1}},
            {"type": "md", "name": "liquid", "steps": 2000,
             "integrator": {**bath, "temperature": 1.0, "tau": 0.1}},
            {"type": "md", "name": "cool", "steps": steps,
             "integrator": {**bath, "temperature": 1.0, "final_temperature": temperature,
                            "ramp_steps": steps // 2}},
            {"type": "md", "name": "measure", "steps": steps, "integrator": bath}]}


steps = {1.0: 4000, 0.6: 10000}
for temperature in steps:
    perrin.run(mixture(temperature, steps[temperature]), output_dir=f"T{temperature}",
               overwrite=True, quiet=True, threads=1)

# %% [markdown]
# ## What the observer measures
#
# All three are means over particles A and over all time origins, from displacements d(t):
#
# - F_s(k, t), the mean of cos(k · d) over all directions of k: 1 while particles have not moved by
#   a fraction of 2π/k, 0 when they are far away.
# - the overlap, the part of the particles that have moved by less than 0.3;
# - α₂(t) = 3 ⟨d⁴⟩ / (5 ⟨d²⟩²) − 1: 0 if displacements are Gaussian.
#
# Lags grow by factors, with several values to each factor of two. Long lags have few origins; those
# with fewer than ten are left out.

# %%
def correlations(temperature):
    with h5py.File(f"T{temperature}/mean_square_displacement.h5") as file:
        rows = {name: np.squeeze(group["value"][-1])
                for name, group in file["observables"].items()}
    known = (rows["origins"] >= 10) & (rows["lag_time"] > 0)
    return {name: values[known] for name, values in rows.items()}


found = {temperature: correlations(temperature) for temperature in steps}
names = {"self_scattering": "F_s(k, t)", "overlap": "overlap", "non_gaussian": "α₂",
         "mean_square_displacement": "⟨d²⟩"}
for place, (name, label) in enumerate(names.items(), 1):
    plt.subplot(2, 2, place)
    for temperature, rows in found.items():
        plt.semilogx(rows["lag_time"], rows[name], label=f"T = {temperature}")
    plt.ylabel(label)
    plt.xlabel("t")
plt.yscale("log")
plt.legend();

# %% [markdown]
# At the lower temperature F_s has two steps. Within a time of 0.3 a particle explores the cage of
# its neighbours; then it waits there, and leaves it late. The mean square displacement has a
# shoulder at the same times. α₂ is largest when some particles have left their cages and others
# have not.
#
# The relaxation time τ is where F_s has fallen to 1/e.

# %%
tau = {}
for temperature, rows in found.items():
    tau[temperature] = np.exp(np.interp(-1 / np.e, -rows["self_scattering"],
                                        np.log(rows["lag_time"])))
    print(f"T = {temperature}: tau = {tau[temperature]:.2f}, "
          f"largest alpha_2 {rows['non_gaussian'].max():.2f}")
print(f"slower by a factor of about {tau[0.6] / tau[1.0]:.0f}")

# %% [markdown]
# ## The same from frames at logarithmic strides
#
# `"stride": {"log": 10}` writes ten frames for each factor of ten in time, counted from the
# beginning of the stage. A few dozen frames cover four decades. Displacements from the first frame
# are one time origin, so the values scatter more than the observer's.

# %%
trajectory = perrin.open("T0.6/trajectory.h5")
print(trajectory.steps[:20] - trajectory.steps[0], "…")
first = trajectory[0]
of_a = first.types == first.type_names.index("A")
times, scattering = [], []
for frame in trajectory[1:]:
    d = np.linalg.norm((frame.unwrapped - first.unwrapped)[of_a], axis=1)
    times.append(frame.time - first.time)
    scattering.append(np.sinc(k * d / np.pi).mean())     # sin(kd)/(kd), the mean over directions
times, scattering = np.array(times), np.array(scattering)

rows = found[0.6]
plt.semilogx(rows["lag_time"], rows["self_scattering"], label="observer, all origins")
plt.semilogx(times, scattering, ".", label="frames, one origin")
plt.xlabel("t")
plt.ylabel("F_s(k, t)")
plt.legend();

# %% [markdown]
# ## The check
#
# For t → 0 particles fly freely, with velocities of Maxwell's distribution: ⟨d²⟩ = 3 (kT/m) t²,
# F_s = exp(−k² ⟨d²⟩/6), and α₂ = 0. At the first lag, 0.004, collisions bend the paths by less than
# one percent, and the temperature of 500 particles is known to about one percent: the tolerance is
# 2 %. α₂ of some 10⁵ independent displacements has an error of about 0.01.
#
# The observer and the frames have to agree within the scatter of one origin: an estimate from 400
# particles has a standard error of at most (1/2/400)^½ = 0.035, and particles that move together
# make it larger. 0.2 is allowed. The measurement at 0.6 is a few relaxation times long, so that τ
# is known there within a factor of two or so: seeds differ.

# %%
for temperature, rows in found.items():
    t, flight = rows["lag_time"][0], rows["mean_square_displacement"][0]
    print(f"T = {temperature}: first lag {flight / (3 * temperature * t ** 2):.4f} of 3 kT/m t², "
          f"alpha_2 {rows['non_gaussian'][0]:.4f}")
    assert abs(flight / (3 * temperature * t ** 2) - 1) < 0.02
    assert abs(rows["self_scattering"][0] - np.exp(-k ** 2 * flight / 6)) < 1e-4
    assert abs(rows["non_gaussian"][0]) < 0.03
inside = times < rows["lag_time"][-1]
expected = np.interp(times[inside], rows["lag_time"], rows["self_scattering"])
assert np.abs(scattering[inside] - expected).max() < 0.2
assert 3 < tau[0.6] / tau[1.0] < 30

# %% [markdown]
# Next: at the temperature 0.5 the relaxation is slower by another factor of about ten, and
# equilibration has to be longer by as much. examples/06-binary-mixture cools 4000 particles.
