// What the integrators of this plug-in are told in a job.
#pragma once

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
  std::optional<double> friction, viscosity;
  std::map<std::string, double> frictions;
  std::vector<std::string> types;
  std::optional<std::string> axes, bath_axes;
  std::string rng = "saru", scheme = "default", noise = "default";
};

template <class D>
void describe_bath(D& d, BathSettings& s) {
  d.example("{\"timestep\": 0.005, \"temperature\": 1, \"friction\": 1}");
  d.required("timestep", s.timestep, Positive{}, "in time units");
  d.required("temperature", s.temperature, NonNegative{},
             "of the heat bath; at 0 no random numbers are drawn");
  describe_ramp(d, s.ramp, "temperature", NonNegative{});
  d.optional("friction", s.friction, Positive{},
             "drag coefficient xi: force per velocity (mass/time); a free velocity decays as "
             "exp(-xi t / mass), a free particle diffuses with k_B T / xi. A power that is fed in "
             "(shear, say) keeps the temperature of langevin above the bath, by power mass / (xi "
             "degrees of freedom)");
  d.optional("frictions", s.frictions, Positive{},
             "drag coefficients by particle type; other types take friction");
  d.optional("viscosity", s.viscosity, Positive{},
             "instead of friction: xi = 3 pi viscosity diameter of each particle (Stokes)");
  d.optional("types", s.types, Any{},
             "particle types that move; all others stay where they are. Default: all");
  d.optional("axes", s.axes, OneOf{"x", "y", "z", "xy", "xz", "yz", "xyz"},
             "particles move along these alone. Default: all of the box");
  d.optional("rng", s.rng,
             OneOf{"saru", "tea", "sarutea", "philox", "threefry", "hybrid_taus", "ran2", "lcg",
                   "park_miller", "mt607", "lagged_fibonacci"},
             "random number generator");
  d.optional(
      "scheme", s.scheme,
      OneOf{"default", "per_call", "phillips", "per_particle", "one_for_all", "separate_kernel"},
      "per_call: a generator from each (seed, step, id), no memory (saru, tea, sarutea, "
      "philox, threefry); phillips: the same with the keys of Phillips et al. 2011 (saru, "
      "tea, sarutea); per_particle: states in memory (saru and the rest); one_for_all: "
      "lagged_fibonacci, its numbers made by the kernel that draws them; separate_kernel: by "
      "one of their own. Default: the first that the generator has");
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
             "baoab: the splitting of Leimkuhler and Matthews; velocity_verlet: random and drag "
             "force added to the others (Phillips et al. 2011)");
  d.optional("noise", s.noise, OneOf{"default", "gaussian", "uniform"},
             "distribution of one random number; default: gaussian for baoab, uniform for "
             "velocity_verlet");
  d.optional("tally_heat", s.tally_heat, Any{},
             "count the energy drawn from the bath (conserved_energy of thermo needs it); costs "
             "16 bytes of memory traffic a particle and step");
  d.optional("bath_axes", s.bath_axes, OneOf{"x", "y", "z", "xy", "xz", "yz", "xyz"},
             "the bath acts along these alone, while particles move along all their axes: in shear "
             "that is neutral across flow and gradient. Default: along all");
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
  d.optional("method", s.method, OneOf{"ermak_mccammon", "leimkuhler_matthews"},
             "leimkuhler_matthews: the mean of two successive noises, which makes averages over "
             "positions accurate to the square of the time step");
  d.optional("noise", s.noise, OneOf{"default", "gaussian", "uniform"},
             "distribution of one random number; default: gaussian");
  d.optional("tally_heat", s.tally_heat, Any{},
             "count the energy drawn from the bath (conserved_energy of thermo needs it)");
  d.optional("fuse", s.fuse, Any{},
             "compute a harmonic trap that is the only force within the step");
  d.optional("keep_forces", s.keep_forces, Any{},
             "false: where the trap is fused, the forces of the particles are not written to "
             "memory, which is faster; a trajectory then shows them as NaN");
  d.optional("barostat", s.barostat, Any{}, "constant pressure by stochastic cell rescaling");
}

}  // namespace perrin::langevin
