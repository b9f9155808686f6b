// What the integrators of this plug-in are told in a job.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"
#include "integrators/barostat.h"
#include "integrators/ramp.h"

namespace perrin::langevin {

/// The heat bath, common to all of them.
struct BathSettings {
  double timestep = 0.005, temperature = 1;
  RampSettings ramp;  // of the temperature
  std::optional<double> friction, viscosity, rotational_friction;
  std::map<std::string, double> frictions, rotational_frictions;
  std::map<std::string, Vec3<double>> frictions_of_axes;  // of brownian alone
  std::map<std::string, std::array<double, 3>> rotational_frictions_of_axes;
  std::vector<std::string> types;
  std::optional<std::string> axes, bath_axes;
  std::string rng = "saru", scheme = "default", noise = "default", normals = "default";
};

template <class D>
void describe_bath(D& d, BathSettings& s) {
  d.example("{\"timestep\": 0.005, \"temperature\": 1, \"friction\": 1}");
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.required("temperature", s.temperature, NonNegative{},
             "temperature of the heat bath; at 0 no random numbers are drawn");
  describe_ramp(d, s.ramp, "temperature", NonNegative{});
  d.optional("friction", s.friction, Positive{},
             "friction coefficient xi: force per velocity (mass/time); velocities of free "
             "particles decay as exp(-xi t / mass), their diffusion coefficient is k_B T / xi. A "
             "steady power input (from shear, for example) keeps k_B T of langevin above that of "
             "the bath by power mass / (xi degrees of freedom)");
  d.optional("frictions", s.frictions, Positive{},
             "friction coefficients by particle type; other types have that of friction");
  d.optional("viscosity", s.viscosity, Positive{},
             "instead of friction: xi = 3 pi viscosity diameter of each particle (Stokes)");
  d.optional("rotational_friction", s.rotational_friction, Positive{},
             "friction of the rotation of particles that have orientations: torque per angular "
             "velocity (mass length^2/time); free particles have the rotational diffusion "
             "coefficient k_B T over this. Default with viscosity: pi viscosity diameter^3");
  d.optional("rotational_frictions", s.rotational_frictions, NonNegative{},
             "the same by particle type; other types have that of rotational_friction; 0: none");
  d.optional("rotational_frictions_of_axes", s.rotational_frictions_of_axes, NonNegative{},
             "the same by particle type, about the x, y and z axes of the particle's own frame; in "
             "three dimensions");
  d.optional("types", s.types, Any{},
             "particle types that are integrated; all others are frozen. Default: all");
  d.optional("axes", s.axes, OneOf{"x", "y", "z", "xy", "xz", "yz", "xyz"},
             "axes along which particles move. Default: all axes of the box");
  d.optional("rng", s.rng,
             OneOf{"saru", "tea", "sarutea", "philox", "threefry", "hybrid_taus", "ran2", "lcg",
                   "park_miller", "mt607", "lagged_fibonacci"},
             "random number generator");
  d.optional(
      "scheme", s.scheme,
      OneOf{"default", "per_call", "phillips", "per_particle", "one_for_all", "separate_kernel"},
      "per_call: a generator for each (seed, step, id), without memory (saru, tea, sarutea, "
      "philox, threefry); phillips: the same with the keys of Phillips et al. 2011 (saru, tea, "
      "sarutea); per_particle: states in memory (saru and the rest); one_for_all: "
      "lagged_fibonacci, with numbers generated in the kernel that uses them; separate_kernel: in "
      "a separate kernel. Default: the first one available for the generator");
  d.optional(
      "normals", s.normals, OneOf{"default", "inversion", "box_muller", "polar", "ziggurat"},
      "how Gaussian numbers are made: inversion of the distribution function (default in single "
      "precision), Box and Muller (default in double precision), Marsaglia's polar method, or "
      "the ziggurat of 256 layers. The default is drawn by the kernel that uses the numbers; "
      "another method by a kernel of its own, which costs 32 bytes of memory traffic per particle "
      "and step");
}

struct LangevinSettings : BathSettings {
  std::string method = "baoab";
  bool tally_heat = true;
  std::optional<BarostatSettings> barostat;
};

template <class D>
void describe(D& d, LangevinSettings& s) {
  describe_bath(d, s);
  d.optional("method", s.method, OneOf{"baoab", "velocity_verlet"},
             "baoab: the splitting of Leimkuhler and Matthews; velocity_verlet: random and "
             "friction forces are added to the other forces (Phillips et al. 2011)");
  d.optional("noise", s.noise, OneOf{"default", "gaussian", "uniform"},
             "distribution of one random number; default: gaussian for baoab, uniform for "
             "velocity_verlet");
  d.optional("tally_heat", s.tally_heat, Any{},
             "record the energy exchanged with the bath (needed for conserved_energy of thermo); "
             "costs 16 bytes of memory traffic per particle and step");
  d.optional("bath_axes", s.bath_axes, OneOf{"x", "y", "z", "xy", "xz", "yz", "xyz"},
             "axes along which the bath acts, while particles move along all axes; in shear, the "
             "vorticity axis leaves the flow unbiased. Default: all axes");
  d.optional("barostat", s.barostat, Any{}, "constant pressure by stochastic cell rescaling");
}

struct BrownianSettings : BathSettings {
  std::string method = "ermak_mccammon";
  bool tally_heat = false, fuse = true, keep_forces = true;
  std::optional<BarostatSettings> barostat;
};

template <class D>
void describe(D& d, BrownianSettings& s) {
  describe_bath(d, s);
  d.example("{\"timestep\": 0.0002, \"temperature\": 1, \"friction\": 1}");
  d.optional("frictions_of_axes", s.frictions_of_axes, Positive{},
             "friction coefficients by particle type along the x, y and z axes of the particle's "
             "own frame, in place of one: a rod has less along its axis, x. Of particles that have "
             "orientations; with the method ermak_mccammon");
  d.optional("method", s.method, OneOf{"ermak_mccammon", "leimkuhler_matthews"},
             "leimkuhler_matthews: the noise is the mean of two successive ones; averages over "
             "positions are then accurate to second order in the time step");
  d.optional("noise", s.noise, OneOf{"default", "gaussian", "uniform"},
             "distribution of one random number; default: gaussian");
  d.optional("tally_heat", s.tally_heat, Any{},
             "record the energy exchanged with the bath (needed for conserved_energy of thermo)");
  d.optional("fuse", s.fuse, Any{},
             "if a harmonic trap is the only force, compute it within the step");
  d.optional("keep_forces", s.keep_forces, Any{},
             "false: if the trap is fused, forces are not written to memory, which is faster; they "
             "are NaN in trajectories");
  d.optional("barostat", s.barostat, Any{}, "constant pressure by stochastic cell rescaling");
}

}  // namespace perrin::langevin
