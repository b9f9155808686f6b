// A pair potential of one's own: E = A exp(-r / lambda), on CPU and GPU, in one file.
#include "engine/job/plugin_api.h"
#include "forces/pair_force.h"

using namespace perrin;

namespace example {

struct ExponentialRepulsion {
  struct Settings {
    double amplitude = 1, lambda = 1;
  };
  struct Coefficients {
    Real amplitude, inverse_lambda;
  };
  static constexpr const char* type = "exponential_repulsion";
  static constexpr const char* help =
      "exponential repulsion: A exp(-r / lambda), from the example plug-in";

  static Coefficients coefficients(const Settings& s) {
    return {Real(s.amplitude), Real(1 / s.lambda)};
  }

  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c) {
    const auto distance = Distance<T>::from_square(r2);
    const T energy = T(c.amplitude) * std::exp(-distance.r * T(c.inverse_lambda));
    return {energy * T(c.inverse_lambda) * distance.inverse, energy};
  }
};

template <class D>
void describe(D& d, ExponentialRepulsion::Settings& s) {
  d.required("amplitude", s.amplitude, Any{}, "energy at r = 0");
  d.required("lambda", s.lambda, Positive{}, "decay length");
}

void register_components(Registry& registry) {
  register_pair_potential<ExponentialRepulsion>(registry);
}

}  // namespace example

PERRIN_PLUGIN("example_force", "1.0", example::register_components)
