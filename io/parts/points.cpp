// "random" and "fill".
#include "io/parts/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/lattice_cell.h"
#include "io/parts/room.h"
#include "io/placement.h"
#include "io/sources.h"

namespace perrin::parts {
namespace {

constexpr int point_attempts = 2000;                 // per particle
constexpr std::uint64_t volume_seed = 0x766f6c756d;  // so that volumes depend on the region alone

using Counts = std::vector<std::pair<std::string, std::int64_t>>;

Crowd crowd_of(const Counts& counts, const Distances& distances, double volume, const Box& box,
               bool whole) {
  Crowd crowd{0, 0, volume, box.dimension, whole};
  for (const auto& [name, n] : counts) {
    const double d = distances.between(name, name);
    crowd.spheres += double(n) * sphere_volume(d, box.dimension);
    crowd.diameter = std::max(crowd.diameter, d);
  }
  return crowd;
}

/// Places them one after the other.
void scatter(Start& start, const Region& region, const Counts& counts, std::uint64_t seed) {
  std::int64_t total = 0, placed = 0;
  for (const auto& [name, n] : counts) total += n;
  for (const auto& [name, n] : counts) {
    const std::uint32_t type = start.type(name);
    for (std::int64_t k = 0; k < n; ++k, ++placed) {
      bool found = false;
      for (int attempt = 0; attempt < point_attempts && !found; ++attempt) {
        Philox stream = io::position_stream(seed, std::uint64_t(attempt), std::uint32_t(placed));
        const auto r = region.sample(stream);
        found = r && start.fits(*r, type);
        if (found) start.add(*r, type), start.end_molecule();
      }
      if (!found)
        throw UserError(fmt::format(
            "no place found for particle {} of {} (type {}, at least {} from others) in {} "
            "attempts; use a smaller minimum distance, fewer particles or a larger region, or a "
            "part \"lattice\"",
            placed + 1, total, name, start.distances().text({name}), point_attempts));
    }
  }
}

class RandomPart : public StartPart {
 public:
  explicit RandomPart(const RandomSettings& settings) : settings_(settings) {}

  std::vector<std::string> types() const override {
    std::vector<std::string> names;
    for (const auto& [name, n] : settings_.particles) names.push_back(name);
    for (const auto& [name, n] : settings_.densities) names.push_back(name);
    return names;
  }
  double particles(const Box& box) const override {
    double n = 0;
    for (const auto& [name, count] : settings_.particles) n += double(count);
    for (const auto& [name, density] : settings_.densities) n += density * box.volume();
    return n;
  }
  void check(const Box& box, const Distances& distances, const Report& error) const override;
  void place(Start& start, std::uint64_t seed) const override {
    const Region region(settings_.region, start.box());
    scatter(start, region, counts(region.volume(volume_seed)), seed);
  }

 private:
  Counts counts(double volume) const {
    Counts found;
    for (const auto& [name, n] : settings_.particles) found.emplace_back(name, n);
    for (const auto& [name, density] : settings_.densities)
      found.emplace_back(name, rounded(density * volume));
    return found;
  }

  RandomSettings settings_;
};

void RandomPart::check(const Box& box, const Distances& distances, const Report& error) const {
  bool good = true;
  Region::check(settings_.region, box, [&](const std::string& key, const std::string& what) {
    good = false;
    error(key, what);
  });
  if (!good) return;
  const Region region(settings_.region, box);
  const double volume = region.volume(volume_seed);
  for (const auto& [name, n] : counts(volume))
    if (n < 1) error("densities", fmt::format("\"{}\" gives no particle in this region", name));
  const Crowd crowd = crowd_of(counts(volume), distances, volume, box, region.whole());
  if (const std::string what = crowd.stuck(); !what.empty())
    error(settings_.densities.empty() ? "particles" : "densities", what);
}

class FillPart : public StartPart {
 public:
  explicit FillPart(const FillSettings& settings) : settings_(settings) {}

  std::vector<std::string> types() const override {
    std::vector<std::string> names;
    for (const auto& [name, amount] : settings_.types) names.push_back(name);
    return names;
  }
  double particles(const Box& box) const override { return settings_.density * box.volume(); }
  void check(const Box& box, const Distances&, const Report& error) const override {
    Region::check(settings_.region, box, error);
  }
  void place(Start& start, std::uint64_t seed) const override;

 private:
  std::int64_t count(Start& start, const Region& region) const;

  FillSettings settings_;
};

std::int64_t FillPart::count(Start& start, const Region& region) const {
  if (settings_.of == "free") {
    // Of mixtures the type that needs most room says what is free.
    const auto types = start.types(this->types());
    const auto free = [&](Vec3<double> r) {
      return std::ranges::all_of(types, [&](std::uint32_t t) { return start.fits(r, t); });
    };
    return rounded(settings_.density * region.volume(volume_seed, free));
  }
  std::int64_t there = 0;
  for (std::size_t id = 0; id < start.size(); ++id)
    if (region.contains(start.position(std::uint32_t(id)))) ++there;
  return rounded(settings_.density * region.volume(volume_seed)) - there;
}

void FillPart::place(Start& start, std::uint64_t seed) const {
  const Region region(settings_.region, start.box());
  const std::int64_t n = count(start, region);
  if (n < 1)
    throw UserError(fmt::format(
        "density: {:g} is reached already by the particles of earlier parts; use a higher density",
        settings_.density));
  const auto shares = io::apportion(settings_.types, std::size_t(n));
  Counts counts;
  for (const auto& [name, amount] : settings_.types)
    counts.emplace_back(name, std::int64_t(shares[counts.size()]));
  const Crowd crowd =
      crowd_of(counts, start.distances(), region.volume(volume_seed), start.box(), region.whole());
  if (const std::string what = crowd.stuck(); !what.empty()) throw UserError("density: " + what);
  scatter(start, region, counts, seed);
}

}  // namespace

std::unique_ptr<StartPart> make_random(const RandomSettings& s, Setup& setup) {
  if (s.particles.empty() == s.densities.empty()) {
    setup.error(s.particles.empty() ? "particles" : "densities",
                "give either particles or densities");
    return nullptr;
  }
  double n = 0;
  for (const auto& [name, count] : s.particles) n += double(count);
  if (!check_count(n, "particles", setup)) return nullptr;
  return std::make_unique<RandomPart>(s);
}

std::unique_ptr<StartPart> make_fill(const FillSettings& s, Setup& setup) {
  if (s.types.empty()) {
    setup.error("types", "must name at least one type");
    return nullptr;
  }
  return std::make_unique<FillPart>(s);
}

}  // namespace perrin::parts
