#include "group_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/registry.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/observation.h"
#include "engine/system/nearest_vector.h"
#include "forces/unwrapped.h"
#include "io/file_units.h"
#include "io/h5md_elements.h"
#include "output.h"

namespace perrin::analysis {
namespace {

std::vector<io::ObservableColumn> columns(const GroupDistanceSettings& s, Setup& setup) {
  const hsize_t n = std::max<hsize_t>(s.pairs.size(), 1);  // none: reported
  const auto length = io::file_length(setup.units());
  std::vector<io::ObservableColumn> list{{"distance", {n}, length.name, length.factor},
                                         {"vector", {n, 3}, length.name, length.factor}};
  if (s.minimum) list.push_back({"minimum_distance", {n}, length.name, length.factor});
  return list;
}

}  // namespace

GroupDistance::GroupDistance(const GroupDistanceSettings& settings, Setup& setup)
    : settings_(settings),
      file_(output_path(settings.file, setup), columns(settings, setup), setup),
      scratch_(setup.device(), sum_chunks) {
  if (settings.pairs.empty()) setup.error("pairs", "must name at least one pair of groups");
  for (std::size_t k = 0; k < settings.pairs.size(); ++k) {
    const auto& [first, second] = settings.pairs[k];
    const std::string key = fmt::format("pairs[{}]", k);
    const std::size_t a = place_of(first, key + "[0]", setup);
    const std::size_t b = place_of(second, key + "[1]", setup);
    if (a >= groups_.size() || b >= groups_.size()) continue;
    pairs_.push_back({a, b});
    if (!settings.minimum) continue;
    const auto ids = groups_[a].ids();
    if (const auto both =
            std::ranges::find_if(ids, [&](std::uint32_t id) { return groups_[b].has(id); });
        both != ids.end()) {
      setup.error(key, fmt::format("must have no particle in common with \"minimum\", got {} in "
                                   "\"{}\" and \"{}\"",
                                   *both, first, second));
      continue;
    }
    minima_.emplace_back(ids, groups_[b].ids(), setup);
  }
  centres_ = {setup.device(), std::int64_t(groups_.size())};
}

std::size_t GroupDistance::place_of(const std::string& name, const std::string& key, Setup& setup) {
  const auto known =
      std::ranges::find_if(groups_, [&](const Group& group) { return group.name() == name; });
  if (known != groups_.end()) return std::size_t(known - groups_.begin());
  const Group* const group = setup.fixed_group(name, key);
  if (!group) return std::size_t(-1);
  groups_.push_back(*group);
  on_device_.emplace_back(setup.device(), *group);
  return groups_.size() - 1;
}

void GroupDistance::begin(const Observation& seen, bool resumed) {
  file_.begin(seen, resumed, [&](const io::Node& root) {
    std::vector<std::string> names;
    for (const auto& [first, second] : settings_.pairs) names.push_back(first + " " + second);
    io::write_names(root, "parameters/perrin/pairs", names);
  });
}

void GroupDistance::observe(const Observation& s) {
  const ConstParticleView particles = s.particles().view();
  for (std::size_t g = 0; g < groups_.size(); ++g)
    sum<MassCenterSums>(s.device(), "centre of mass", particles.n,
                        AddToMassCenter{particles, on_device_[g].mask()}, scratch_,
                        centres_.data() + g);
  const std::vector<MassCenterSums> centres = centres_.to_host();
  const Box& box = s.particles().box();
  std::vector<double> row, vectors;
  for (const auto& [a, b] : pairs_) {
    const Vec3<double> d = images_of(box).nearest(
        nearest_by_fractions(box, centres[b].center(box) - centres[a].center(box)));
    row.push_back(std::sqrt(dot(d, d)));
    vectors.insert(vectors.end(), {d.x, d.y, d.z});
  }
  row.insert(row.end(), vectors.begin(), vectors.end());
  for (MinimumDistance& minimum : minima_) row.push_back(minimum.measure(s.particles()));
  file_.append(std::int64_t(s.step()), s.time(), std::move(row));
}

void register_group_distance(Registry& registry) {
  registry.add<Observer, GroupDistanceSettings>(
      "group_distance", "distances between groups: of centres of mass, of the nearest particles",
      [](const GroupDistanceSettings& s, Setup& setup) {
        return std::make_unique<GroupDistance>(s, setup);
      });
}

}  // namespace perrin::analysis
