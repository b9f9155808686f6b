#include "patch_bonds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "engine/system/site_types.h"

namespace perrin::analysis {
namespace {

/// Those that the system has: others are told of elsewhere.
std::vector<std::string> types_of(const PatchBondsSettings& s, const Setup& setup) {
  std::vector<std::string> known;
  for (const auto& [type, of] : s.patches)
    if (std::ranges::count(setup.configuration().types, type) > 0) known.push_back(type);
  return known;
}

}  // namespace

PatchBonds::PatchBonds(const PatchBondsSettings& s, Setup& setup)
    : SampledObserver(s,
                      {{"bonds", {}, ""},
                       {"distribution", {hsize_t(s.numbers) + 1}, ""},
                       {"clusters", {}, ""},
                       {"largest", {}, ""},
                       {"mean_size", {}, ""},
                       {"weight_mean_size", {}, ""},
                       {"sizes", {hsize_t(s.sizes)}, ""}},
                      setup),
      numbers_(std::size_t(s.numbers)),
      sizes_(std::size_t(s.sizes)),
      type_(setup.configuration().type),
      neighborhood_(s.distance, types_of(s, setup), s.group, setup),
      clusters_(std::size_t(neighborhood_.particles())),
      sums_(1 + numbers_ + 1 + 4 + sizes_) {
  if (setup.configuration().orientation.empty())
    setup.error("type", "needs particles that have orientations: add \"orientations\" to the job");
  take_patches(s, setup);
}

void PatchBonds::take_patches(const PatchBondsSettings& s, Setup& setup) {
  const Configuration& c = setup.configuration();
  const std::vector<std::uint8_t> sites = site_types(c);
  patches_.resize(c.types.size());
  if (s.patches.empty()) setup.error("patches", "must have those of a type at least");
  for (const auto& [type, of] : s.patches) {
    const std::string key = "patches." + type;
    const auto found = std::ranges::find(c.types, type);
    if (found == c.types.end()) {
      setup.error(key, "unknown particle type");
      continue;
    }
    if (sites[std::size_t(found - c.types.begin())] != 0)
      setup.error(key, fmt::format("is {}", sites_have_no_axes));
    Patches& patches = patches_[std::size_t(found - c.types.begin())];
    patches.cos_half = std::cos(of.half_angle * std::numbers::pi / 180);
    if (of.directions.empty()) setup.error(key + ".directions", "must have a patch at least");
    for (std::size_t k = 0; k < of.directions.size(); ++k) {
      const auto& at = of.directions[k];
      const double length = std::hypot(at[0], at[1], at[2]);
      const std::string which = fmt::format("{}.directions[{}]", key, k);
      if (!(length > 0)) setup.error(which, "must not be zero");
      if (c.box.dimension == 2 && at[2] != 0)
        setup.error(which, fmt::format("must lie in the plane of a two-dimensional system, z = 0, "
                                       "got z = {}",
                                       at[2]));
      patches.directions.push_back({at[0] / length, at[1] / length, at[2] / length});
    }
  }
}

void PatchBonds::sample(const Observation& s) {
  const Orientations& turning = *s.particles().orientations();
  const std::vector<Real4> orientation = s.particles().by_id(turning.orientation());
  const PairGrid::View grid = neighborhood_.look(s.particles());
  /// Whether the particle at place k has a patch along d.
  const auto covers = [&](std::int64_t k, const Vec3<double>& d, double r) {
    const std::uint32_t id = neighborhood_.ids()[grid.member[k]];
    const Patches& own = patches_[type_[id]];
    const Vec3<double> e = rotate_back(to_quaternion(orientation[id]), d);
    return std::ranges::any_of(own.directions, [&](const Vec3<double>& direction) {
      return dot(direction, e) >= own.cos_half * r;
    });
  };
  clusters_.part();
  std::vector<std::size_t> number(std::size_t(grid.n));
  for (std::int64_t k = 0; k < grid.n; ++k)
    grid.around(k, false, [&](std::int64_t m, const Vec3<double>& d, double d2) {
      const double r = std::sqrt(d2);
      if (!covers(k, d, r) || !covers(m, -1.0 * d, r)) return;
      ++number[std::size_t(k)], ++number[std::size_t(m)];
      clusters_.join(std::uint32_t(k), std::uint32_t(m));
    });
  const double n = double(grid.n);
  std::vector<double> with(numbers_ + 1);
  double all = 0;
  for (const std::size_t bonds : number) all += double(bonds), ++with[std::min(bonds, numbers_)];
  sums_[0] += all / n;
  for (std::size_t k = 0; k <= numbers_; ++k) sums_[1 + k] += with[k] / n;
  clusters_.add_to(sums_.data() + 2 + numbers_, sizes_);
}

std::vector<double> PatchBonds::row(const Box&) {
  std::vector<double> row = sums_;
  for (double& value : row) value /= double(samples());
  std::fill(sums_.begin(), sums_.end(), 0.0);
  return row;
}

void register_patch_bonds(Registry& registry) {
  registry.add<Observer, PatchBondsSettings>(
      "patch_bonds",
      "bonds of patches that face each other: how many, and the clusters and chains that they make",
      [](const PatchBondsSettings& s, Setup& setup) {
        return std::make_unique<PatchBonds>(s, setup);
      });
}

}  // namespace perrin::analysis
