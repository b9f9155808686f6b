#include <fmt/format.h>

#include <cmath>

#include "engine/base/error.h"
#include "io/placement.h"
#include "io/sources.h"

namespace perrin {
namespace {

constexpr int attempts = 2000;  // per particle

class RandomSource : public Source {
 public:
  RandomSource(std::map<std::string, std::int64_t> counts, const Box& box,
               const RandomSettings& settings, std::uint64_t seed)
      : counts_(std::move(counts)), box_(box), settings_(settings), seed_(seed) {}

  Configuration make() override {
    Configuration c;
    c.box = box_;
    io::Placement placement(box_, settings_.min_distance);
    std::int64_t total = 0;
    for (const auto& [name, n] : counts_) total += n;
    for (const auto& [name, n] : counts_) {
      const auto type = std::uint32_t(c.types.size());
      c.types.push_back(name);
      for (std::int64_t k = 0; k < n; ++k) {
        const auto id = std::uint32_t(c.type.size());
        if (!place(placement, id)) {
          throw UserError(
              fmt::format("min_distance: no position found for particle {} of {} at a distance of "
                          "{} from the others in {} attempts; use a smaller min_distance or "
                          "density, or start from a lattice",
                          id + 1, total, settings_.min_distance, attempts));
        }
        c.type.push_back(type);
      }
    }
    c.position = placement.positions();
    c.mass = masses_of(settings_.masses, c.types, c.type);
    return c;
  }

 private:
  bool place(io::Placement& placement, std::uint32_t id) const {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      Philox stream = io::position_stream(seed_, std::uint64_t(attempt), id);
      Vec3<double> s;
      for (int axis = 0; axis < 3; ++axis) s[axis] = stream.uniform<double>();
      Vec3<double> r = box_.point(s);
      if (box_.dimension == 2) r.z = 0;
      if (!placement.fits(r)) continue;
      placement.add(r);
      return true;
    }
    return false;
  }

  std::map<std::string, std::int64_t> counts_;
  Box box_;
  RandomSettings settings_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Source> make_random(const RandomSettings& s, Setup& setup) {
  auto counts = s.particles;
  if (s.particles.empty() == s.densities.empty()) {
    setup.error(s.particles.empty() ? "particles" : "densities",
                "give either particles or densities");
    return nullptr;
  }
  if (!s.densities.empty()) {
    if (!s.box) {
      setup.error("box", "is needed with densities");
      return nullptr;
    }
    const double volume = s.box->x * s.box->y * (s.dimension == 2 ? 1.0 : s.box->z);
    for (const auto& [name, density] : s.densities) {
      if (!check_count(density * volume, "densities", setup)) return nullptr;
      counts[name] = std::llround(density * volume);
      if (counts[name] < 1)
        setup.error("densities", fmt::format("\"{}\" gives no particle in this box", name));
    }
  }
  double all = 0;
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) {
    all += double(count);
    names.push_back(name);
  }
  if (!check_count(all, s.densities.empty() ? "particles" : "densities", setup)) return nullptr;
  const auto n = std::int64_t(all);
  check_masses(s.masses, names, setup);
  const Box box = box_for(s.density, s.box, n, s.dimension, s.periodic, setup);
  return std::make_unique<RandomSource>(counts, box, s, setup.seed());
}

}  // namespace perrin
