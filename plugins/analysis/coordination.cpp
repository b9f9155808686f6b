#include "coordination.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/dynamics/observation.h"
#include "engine/system/changed_since.h"

namespace perrin::analysis {
namespace {

// Weights are added up as integers, so that sums do not depend on the order of particles.
constexpr double weights_per_neighbor = 0x1p30;

struct CountNeighbors {
  PairGrid::View grid;
  const std::uint32_t *id, *molecule;  // molecule: nullptr where it does not matter
  Selected centers, neighbors;
  double from, per_length;  // of the smooth weight
  std::int32_t* count;      // [place]; -1: no particle whose neighbours are counted
  std::int64_t* weight;     // nullptr: every neighbour counts 1

  PERRIN_HD std::int64_t weight_of(double d2) const {
    const double x = (std::sqrt(d2) - from) * per_length;
    const double w = x > 0 ? 1 - x * x * x * (10 - x * (15 - 6 * x)) : 1.0;
    return std::int64_t(w * weights_per_neighbor + 0.5);
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::uint32_t own = id[grid.member[k]];
    std::int32_t found = -1;
    std::int64_t sum = 0;
    if (centers.has(grid.position[k].type(), own)) {
      found = 0;
      grid.around(k, true, [&](std::int64_t m, const Vec3<double>&, double d2) {
        const std::uint32_t other = id[grid.member[m]];
        if (!neighbors.has(grid.position[m].type(), other)) return;
        if (molecule && molecule[own] == molecule[other]) return;
        ++found;
        if (weight) sum += weight_of(d2);
      });
    }
    count[k] = found;
    if (weight) weight[k] = sum;
  }
};

/// Reports types of which a group has no particle.
void check_selection(const std::vector<std::string>& types, const std::string& group,
                     const std::string& prefix, Setup& setup) {
  const Configuration& c = setup.configuration();
  const Group* const members = setup.group(group, prefix + "group");
  if (!members || members->changes() || types.empty()) return;
  for (std::size_t id = 0; id < c.type.size(); ++id)
    if (members->has(id) && std::ranges::count(types, c.types[c.type[id]]) > 0) return;
  for (const std::string& type : types)
    if (std::ranges::count(c.types, type) == 0) return;  // reported
  setup.error(prefix + "types", members->has_all()
                                    ? "the system has no particle of these types"
                                    : "\"" + group + "\" has no particle of these types");
}

/// Which particles are of one molecule; empty: it does not matter.
Buffer<std::uint32_t> molecules(const std::string& exclude, Setup& setup) {
  const std::vector<std::uint32_t>& molecule = setup.configuration().topology.molecule;
  if (exclude == "none") return {};
  if (molecule.empty()) setup.error("exclude", "needs molecules: the system has none");
  return {setup.device(), std::span<const std::uint32_t>(molecule)};
}

}  // namespace

Coordination::Coordination(const CoordinationSettings& settings, Setup& setup)
    : SampledObserver(settings,
                      {{"coordination", {}, ""},
                       {"distribution", {hsize_t(settings.numbers) + 2}, ""},
                       {"particles", {}, ""}},
                      setup),
      settings_(settings),
      centers_(settings.types, settings.group, setup),
      neighbors_(settings.neighbor_types, settings.neighbor_group, setup),
      molecule_(molecules(settings.exclude, setup)),
      sums_(std::size_t(settings.numbers) + 4) {
  const Configuration& c = setup.configuration();
  check_selection(settings.types, settings.group, "", setup);
  check_selection(settings.neighbor_types, settings.neighbor_group, "neighbor_", setup);
  if (settings.smooth_from && *settings.smooth_from >= settings.distance)
    setup.error("smooth_from", fmt::format("must be below distance ({:.6g}), got {:.6g}",
                                           settings.distance, *settings.smooth_from));
  const double most = half_height(c.box);
  if (settings.distance > most) {
    setup.error("distance", fmt::format("must be at most half the shortest distance between "
                                        "opposite faces of the box ({:.6g}), got {:.6g}",
                                        most, settings.distance));
    return;
  }
  const auto particles = std::int64_t(c.type.size());
  grid_ = std::make_unique<PairGrid>(setup.device(), particles, c.box, settings.distance);
  count_ = {setup.device(), particles};
  if (settings.smooth_from) weight_ = {setup.device(), particles};
}

void Coordination::sample(const Observation& s) {
  grid_->build(s.particles().position().data(), s.particles().box());
  const double from = settings_.smooth_from.value_or(settings_.distance);
  const bool smooth = settings_.smooth_from.has_value();
  const PairGrid::View grid = grid_->view();
  for_each(s.device(), "coordination", grid.n,
           CountNeighbors{grid, s.particles().id().data(),
                          molecule_.size() > 0 ? molecule_.data() : nullptr, centers_.view(),
                          neighbors_.view(), from, smooth ? 1 / (settings_.distance - from) : 0.0,
                          count_.data(), smooth ? weight_.data() : nullptr});
  std::vector<std::int64_t> with(sums_.size() - 2);  // so many neighbours
  std::int64_t particles = 0, neighbors = 0, weights = 0;
  for (const std::int32_t n : count_.to_host()) {
    if (n < 0) continue;
    ++particles, neighbors += n;
    ++with[std::min(std::size_t(n), with.size() - 1)];
  }
  if (smooth)
    for (const std::int64_t w : weight_.to_host()) weights += w;
  sums_[0] += double(particles);
  sums_[1] += smooth ? double(weights) / weights_per_neighbor : double(neighbors);
  for (std::size_t n = 0; n < with.size(); ++n) sums_[2 + n] += double(with[n]);
}

std::vector<double> Coordination::row(const Box&) {
  const double all = sums_[0];  // 0: no number
  std::vector<double> row{sums_[1] / all};
  for (std::size_t n = 2; n < sums_.size(); ++n) row.push_back(sums_[n] / all);
  row.push_back(all / double(samples()));
  std::ranges::fill(sums_, 0.0);
  return row;
}

void Coordination::sums(Archive& archive) {
  const CoordinationSettings& s = settings_;
  std::string now = fmt::format("distance {}, smooth_from {}, exclude {}, group {}, types",
                                s.distance, s.smooth_from.value_or(s.distance), s.exclude, s.group);
  for (const std::string& type : s.types) now += " " + type;
  now += fmt::format(", neighbor_group {}, neighbor_types", s.neighbor_group);
  for (const std::string& type : s.neighbor_types) now += " " + type;
  std::string before;
  if (changed_since(archive, "counted", now, &before))
    throw UserError(fmt::format(
        "coordination: the checkpoint has counts of \"{}\"; a resumed run cannot change to \"{}\"",
        before, now));
  state_of_sums(archive, sums_);
}

void register_coordination(Registry& registry) {
  registry.add<Observer, CoordinationSettings>(
      "coordination", "number of neighbours of one kind around another: mean, distribution",
      [](const CoordinationSettings& s, Setup& setup) {
        return std::make_unique<Coordination>(s, setup);
      });
}

}  // namespace perrin::analysis
