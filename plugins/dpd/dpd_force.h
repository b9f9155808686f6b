// The forces "dpd", "mdpd", "dpd_thermostat" and "dpd_lj".
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "many_body.h"
#include "pair_bath.h"
#include "pair_run.h"

namespace perrin::dpd {

/// What they share. Lengths, energies and 1/time in the job's units.
struct BathSettings {
  double temperature = 1, cutoff = 1, exponent = 1;
  std::string noise = "uniform", rng = "saru", keys = "default";
};

template <class D>
void describe(D& d, BathSettings& s) {
  d.required("temperature", s.temperature, NonNegative{}, "temperature of the heat bath");
  d.optional(
      "cutoff", s.cutoff, Positive{},
      "cut-off of friction and noise (and of the soft repulsion or attraction) for pairs of types "
      "without one");
  d.optional("exponent", s.exponent, Positive{},
             "exponent s of the noise weight (1 - r/cutoff)^s; the friction weight is its square");
  d.optional("noise", s.noise, OneOf{"uniform", "normal"}, "distribution of the random numbers");
  d.optional("rng", s.rng, OneOf{"saru", "tea", "sarutea", "philox"}, "random number generator");
  d.optional("keys", s.keys, OneOf{"default", "phillips"},
             "generator key from seed, step and ids; phillips: as in Phillips et al. 2011, with 32 "
             "bits of seed and step");
}

struct DpdPair {
  std::array<std::string, 2> types;
  double repulsion = 25, gamma = 4.5;
  std::optional<double> cutoff;
};
template <class D>
void describe(D& d, DpdPair& s) {
  d.required("types", s.types, Any{}, "the two particle types, e.g. [\"A\", \"B\"]");
  d.required("repulsion", s.repulsion, Any{}, "a: force at r = 0");
  d.required("gamma", s.gamma, NonNegative{}, "friction coefficient (mass/time)");
  d.optional("cutoff", s.cutoff, Positive{}, "cut-off of this pair of types");
}

struct MdpdPair {
  std::array<std::string, 2> types;
  double attraction = -40, gamma = 4.5;
  std::optional<double> cutoff;
};
template <class D>
void describe(D& d, MdpdPair& s) {
  d.required("types", s.types, Any{}, "the two particle types, e.g. [\"A\", \"B\"]");
  d.required("attraction", s.attraction, Any{},
             "A: force at r = 0 of A (1 - r/cutoff), negative where particles attract each other");
  d.required("gamma", s.gamma, NonNegative{}, "friction coefficient (mass/time)");
  d.optional("cutoff", s.cutoff, Positive{}, "cut-off of this pair of types, but of densities");
}

struct ThermostatPair {
  std::array<std::string, 2> types;
  double gamma = 4.5;
  std::optional<double> cutoff;
};
template <class D>
void describe(D& d, ThermostatPair& s) {
  d.required("types", s.types, Any{}, "the two particle types, e.g. [\"A\", \"B\"]");
  d.required("gamma", s.gamma, NonNegative{}, "friction coefficient (mass/time)");
  d.optional("cutoff", s.cutoff, Positive{}, "cut-off of this pair of types");
}

struct DpdLjPair {
  std::array<std::string, 2> types;
  double epsilon = 1, sigma = 1, gamma = 1;
  std::optional<double> cutoff, lj_cutoff;
};
template <class D>
void describe(D& d, DpdLjPair& s) {
  d.required("types", s.types, Any{}, "the two particle types, e.g. [\"A\", \"B\"]");
  d.required("epsilon", s.epsilon, NonNegative{}, "depth of the well, in energy units");
  d.required("sigma", s.sigma, Positive{}, "distance at which the energy is zero");
  d.required("gamma", s.gamma, NonNegative{}, "friction coefficient (mass/time)");
  d.optional("cutoff", s.cutoff, Positive{}, "cut-off of friction and noise of this pair of types");
  d.optional("lj_cutoff", s.lj_cutoff, Positive{},
             "cut-off of Lennard-Jones, whose energy is shifted to 0 there; default: 2.5 sigma");
}

template <class Pair>
struct DpdSettings {
  BathSettings bath;
  std::vector<Pair> pairs;
};
template <class D, class Pair>
void describe(D& d, DpdSettings<Pair>& s) {
  describe(d, s.bath);
  d.required("pairs", s.pairs, Any{}, "parameters for each pair of types");
}

struct MdpdSettings {
  BathSettings bath;
  double repulsion = 25, density_cutoff = 0.75;
  std::vector<MdpdPair> pairs;
};
template <class D>
void describe(D& d, MdpdSettings& s) {
  describe(d, s.bath);
  d.required("repulsion", s.repulsion, NonNegative{},
             "B of the force B (rho_i + rho_j) (1 - r/density_cutoff), for all pairs of types");
  d.optional("density_cutoff", s.density_cutoff, Positive{},
             "r_d: distance within which particles count to the local density rho, for all pairs "
             "of types (length)");
  d.required("pairs", s.pairs, Any{}, "parameters for each pair of types");
}

template <class C>
class DpdForce final : public Force, public PairBath {
 public:
  /// `kt`: energy. `table`: [type_i · types + type_j]. `instance`: which of the forces of this
  /// plug-in (Setup::instance), since all of them ask for the same pairs in the same steps.
  /// `many_body`: with SoftRepulsion; or nullptr.
  DpdForce(const Device& device, const char* name, const std::vector<PairCoefficients<C>>& table,
           std::uint32_t types, const Ranges& ranges, double kt, double exponent,
           NoiseChoice choice, std::int64_t particles, std::uint32_t instance,
           std::unique_ptr<ManyBody> many_body);

  bool prepare(const Integrator& integrator) override;
  void compute(StepContext& context, const ForceOutput& output) override;
  void update_velocities(StepContext& context, const Real4* shift) override;
  void state(Archive& archive) override { archive("split", split_); }

 private:
  const char* name_;
  Buffer<PairCoefficients<C>> table_;
  std::uint32_t types_;
  double kt_, exponent_;
  NoiseChoice choice_;
  std::uint32_t instance_;
  std::unique_ptr<ManyBody> many_body_;
  bool split_ = false;              // the integrator applies friction and noise
  Buffer<Real4> moving_;            // velocity and id
  Buffer<Real4> impulse_, middle_;  // of the split update
};

void register_forces(Registry& registry);

}  // namespace perrin::dpd
