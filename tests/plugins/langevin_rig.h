// What the tests of the Langevin plug-in share.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/components/registry.h"
#include "engine/dynamics/simulation.h"
#include "forces/harmonic_trap.h"
#include "plugins/langevin/register.h"
#include "plugins/langevin/schemes.h"
#include "rng/stream_names.h"
#include "tests/devices.h"

namespace perrin::langevin_tests {

constexpr double sigmas = 4.5;

/// The integrator of a stage; `earlier`: how many stages of its kind the job has before.
inline std::unique_ptr<Integrator> integrator(const Device& device, const Configuration& c,
                                              const std::string& json, int earlier = 0) {
  Registry registry("langevin");
  langevin::register_langevin(registry);
  langevin::register_brownian(registry);
  SetupContext context;
  context.configuration = &c;
  context.device = device;
  for (const Purpose purpose : {Purpose::langevin, Purpose::brownian})
    for (int k = 0; k < earlier; ++k)
      context.drawers[purpose].push_back("stages[" + std::to_string(k) + "].integrator");
  return make_component<Integrator>(registry, json, context);
}

/// n particles at the middle of a box, at rest; types in turn.
inline Configuration at_rest(int n, double length = 100, int types = 1) {
  Configuration c;
  c.box.length = {length, length, length};
  c.box.origin = -0.5 * c.box.length;
  for (int t = 0; t < types; ++t) c.types.push_back(std::string(1, char('A' + t)));
  c.position.assign(std::size_t(n), {});
  c.velocity.assign(std::size_t(n), {});
  for (int i = 0; i < n; ++i) c.type.push_back(std::uint32_t(i % types));
  return c;
}

using Forces = std::vector<std::unique_ptr<Force>>;

inline Forces trap(const Device& device, double k, std::size_t types = 1) {
  HarmonicTrapSettings s;
  s.stiffness = {k, k, k};
  Forces forces;
  forces.push_back(std::make_unique<HarmonicTrap>(s, device, types, std::vector<std::uint32_t>{}));
  return forces;
}

/// A simulation with an integrator that has begun.
struct Rig {
  Simulation simulation;
  std::unique_ptr<Integrator> mover;

  Rig(const Device& device, const Configuration& c, Forces forces, const std::string& json,
      std::uint64_t seed = 7)
      : simulation(device, c, std::move(forces), seed), mover(integrator(device, c, json)) {
    simulation.prepare(*mover);
    mover->begin(simulation);
  }
  void run(std::int64_t steps) { simulation.advance(*mover, steps); }
  Configuration now() const { return simulation.particles().configuration(); }
};

inline Vec3<double> unwrapped(const Configuration& c, std::size_t i) {
  Vec3<double> r = c.position[i];
  for (int axis = 0; axis < 3; ++axis) r[axis] += c.image[i][axis] * c.box.length[axis];
  return r;
}

/// Means over particles, axes and `samples` moments, `apart` steps from each other.
struct Moments {
  double x2 = 0, v2 = 0, mean = 0, numbers = 0;
};
inline Moments sample(Rig& rig, int samples, int apart) {
  Moments m;
  for (int k = 0; k < samples; ++k) {
    rig.run(apart);
    const Configuration c = rig.now();
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      m.x2 += dot(c.position[i], c.position[i]);
      m.v2 += dot(c.velocity[i], c.velocity[i]);
      m.mean += c.position[i].x + c.position[i].y + c.position[i].z;
      m.numbers += 3;
    }
  }
  m.x2 /= m.numbers, m.v2 /= m.numbers, m.mean /= m.numbers;
  return m;
}

/// Every generator with every scheme it has.
inline std::vector<std::array<std::string, 2>> generators() {
  std::vector<std::array<std::string, 2>> all;
  for (const std::string& name : stream_names())
    if (name != "saru_state")
      for (const std::string& scheme : langevin::schemes_of(name)) all.push_back({name, scheme});
  return all;
}
inline std::string with_generator(std::string json, const std::array<std::string, 2>& g) {
  json.pop_back();
  return json + R"(, "rng": ")" + g[0] + R"(", "scheme": ")" + g[1] + "\"}";
}

/// What makes Gaussian numbers in a kernel of its own.
inline const std::vector<std::string>& methods_of_normals() {
  static const std::vector<std::string> names = {"box_muller", "polar", "ziggurat"};
  return names;
}
/// Has every generator a place in every method?
inline bool fits(const std::string& method, const std::array<std::string, 2>& generator) {
  return method == "box_muller" || generator[0] != "lagged_fibonacci";
}
inline std::string with_normals(std::string json, const std::string& method) {
  json.pop_back();
  return json + R"(, "normals": ")" + method + "\"}";
}

}  // namespace perrin::langevin_tests
