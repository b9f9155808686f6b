// A system: particles in a cube, their density along x proportional to 1 + wave cos(2 pi x / L).
#include <cmath>

#include "engine/job/plugin_api.h"

using namespace perrin;

namespace plugin_name {

struct PluginNameSettings {
  std::int64_t particles = 1000;
  double edge = 10, wave = 0;
};
template <class D>
void describe(D& d, PluginNameSettings& s) {
  d.required("particles", s.particles, Positive{}, "number of particles");
  d.required("edge", s.edge, Positive{}, "edge of the cubic box (length)");
  d.optional("wave", s.wave, Between{0, 1},
             "amplitude of the density wave, relative to the mean density");
}

class PluginName final : public Source {
 public:
  PluginName(const PluginNameSettings& s, std::uint64_t seed) : settings_(s), seed_(seed) {}

  Configuration make() override {
    const double edge = settings_.edge;
    Configuration c;
    c.box.length = {edge, edge, edge};
    c.box.origin = {-edge / 2, -edge / 2, -edge / 2};
    c.types = {"A"};
    const RunKey key(plugin_purpose(12345), seed_);  // of your own
    for (std::int64_t id = 0; id < settings_.particles; ++id) {
      auto random = keyed<Philox>(key, 0, std::uint32_t(id));
      const double share = random.uniform<double>();
      c.position.push_back({place(share) * edge, (random.uniform<double>() - 0.5) * edge,
                            (random.uniform<double>() - 0.5) * edge});
      c.type.push_back(0);
    }
    return c;
  }

 private:
  /// Left of which (in units of the edge, -1/2 … 1/2) this share of the particles is: by bisection.
  double place(double share) const {
    double low = -0.5, high = 0.5;
    for (int k = 0; k < 50; ++k) {
      const double x = (low + high) / 2;
      const double left = x + 0.5 + settings_.wave * std::sin(2 * M_PI * x) / (2 * M_PI);
      (left < share ? low : high) = x;
    }
    return low;
  }

  PluginNameSettings settings_;
  std::uint64_t seed_;
};

void register_components(Registry& registry) {
  registry.add<Source, PluginNameSettings>("plugin_name", "particles in a wave of density along x",
                                           [](const PluginNameSettings& s, Setup& setup) {
                                             return std::make_unique<PluginName>(s, setup.seed());
                                           });
}

}  // namespace plugin_name

PERRIN_PLUGIN("plugin_name", "1.0", plugin_name::register_components)
