// A plug-in that does what plug-ins must not; PERRIN_BAD_PLUGIN says when it is loaded: "static"
// (an object of it throws), "throws" or "throws a number" (its registration does, half done). Its
// force "bad_force" gives NaN, allocates or waits within a step.
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "engine/device/parallel.h"
#include "engine/dynamics/simulation.h"
#include "engine/job/plugin_api.h"

namespace bad {
using namespace perrin;

bool asked_for(const std::string& what) {
  const char* asked = std::getenv("PERRIN_BAD_PLUGIN");
  return asked && what == asked;
}

const struct Static {
  Static() {
    if (asked_for("static")) throw std::runtime_error("no licence");
  }
} static_object;

struct BadForceSettings {
  std::string does;
  std::int64_t step = 0;
};
template <class D>
void describe(D& d, BadForceSettings& s) {
  d.required("does", s.does, OneOf{"nan", "allocate", "wait"}, "what it must not");
  d.required("step", s.step, NonNegative{}, "from which step on there is NaN");
}

struct NanFrom {
  Real4* force;
  const std::uint64_t* step;
  std::uint64_t first;
  bool add;
  PERRIN_HD void operator()(std::int64_t i) const {
    if (!add) force[i] = {};
    if (*step >= first && i == 0) force[i].x = NAN;
  }
};

class BadForce final : public Force {
 public:
  BadForce(const BadForceSettings& s, const Setup& setup) : settings_(s), one_(setup.device(), 1) {}
  void compute(StepContext& s, const ForceOutput& out) override {
    if (settings_.does == "allocate") Buffer<Real>(s.device(), 1);
    if (settings_.does == "wait") one_.to_host();
    const auto first = std::uint64_t(settings_.does == "nan" ? settings_.step : 1000000);
    for_each(s.device(), "bad force", s.particles().size(),
             NanFrom{out.force, s.device_step(), first, out.add});
  }

 private:
  BadForceSettings settings_;
  Buffer<Real> one_;
};

void register_components(Registry& registry) {
  registry.add<Force, BadForceSettings>(
      "bad_force", "for tests of Perrin",
      [](const BadForceSettings& s, Setup& setup) { return std::make_unique<BadForce>(s, setup); });
  if (asked_for("throws")) throw std::runtime_error("no licence");
  if (asked_for("throws a number")) throw 7;
}

}  // namespace bad

PERRIN_PLUGIN("bad_plugin", "1.0", bad::register_components)
