#include "cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/components/force.h"
#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "near_particles.h"
#include "turn.h"

namespace perrin::monte_carlo {
namespace {

struct Gone {
  std::uint32_t place;  // in memory
  Position from, to;
};

struct MoveGone {
  const Gone* gone;
  TrialParticles particles;
  PERRIN_HD void operator()(std::int64_t k) const {
    particles.go(gone[k].place, gone[k].from, gone[k].to);
  }
};

}  // namespace

/// About a point of which twice the position is given, in units of 2^-32 of the box.
struct Cluster::Reflection {
  std::uint32_t x, y, z;
  bool flat;

  Position of(Position p) const {
    p.x = x - p.x, p.y = y - p.y;
    if (!flat) p.z = z - p.z;
    p.set_remainders(0, 0, 0);
    return p;
  }
};

void check_cluster(const ClusterSettings& s, const std::string& group, Setup& setup) {
  const Configuration& c = setup.configuration();
  require_periodic("cluster", "needs", setup);
  if (s.displacement) check_displacement("cluster.displacement", *s.displacement, setup);
  if (!c.orientation.empty())
    setup.error("cluster", "reflects particles, and these have orientations, which it would not");
  const Group* const all = setup.fixed_group(group, "group");
  const Group* const first = setup.fixed_group(s.first, "cluster.first");
  if (!all || !first) return;
  bool any = false;
  const std::vector<bool> bonded = bonded_particles(c);
  for (std::size_t id = 0; id < bonded.size(); ++id) {
    any = any || (all->has(id) && first->has(id));
    if (!bonded[id] || !all->has(id)) continue;
    setup.error("cluster", fmt::format("particle {} has bonds, which would be torn: expected a "
                                       "\"group\" of particles without",
                                       id));
    return;
  }
  if (!any)
    setup.error("cluster.first",
                fmt::format("no particle of \"{}\" is in the group \"{}\", whose particles move",
                            s.first, group));
}

std::string cluster_objection(const Force& force) {
  const ForceTraits& traits = force.traits();
  // What has bonds does not move.
  if (traits.range() > 0 || traits.reads == ForceTraits::Reads::bonded) return {};
  return "holds particles to places, as fields and walls do, and \"cluster\" reflects them without "
         "a look at it: expected forces between pairs alone";
}

void Cluster::begin(StageContext& s) {
  const auto n = std::size_t(s.particles().size());
  const auto members = [&](const std::string& name) {
    std::vector<bool> in(n, true);
    for (const Group& group : s.particles().properties().groups)
      for (std::size_t id = 0; group.name() == name && id < n; ++id) in[id] = group.has(id);
    return in;
  };
  moves_ = members(group_name_);
  const std::vector<bool> begins = members(settings_.first);
  first_.clear();
  for (std::uint32_t id = 0; id < n; ++id)
    if (moves_[id] && begins[id]) first_.push_back(id);
  ranges_ = {};
  for (const auto& force : s.forces())
    if (force->traits().range() > 0) ranges_ = join(ranges_, force->traits().ranges);
  changes_.begin(s);
}

void Cluster::sweep(StepContext& s, double kt) {
  largest_displacement_ = least_height(s.particles().box()) / 4;
  if (first_.empty()) return;
  const Device& device = s.device();
  const std::vector<std::uint32_t> index = s.particles().index().to_host();
  const std::vector<Position> before = s.particles().by_id(s.particles().position());
  NearParticles near(s.particles().box(), ranges_, s.particles().properties().types.size(), before);
  // Of the same purpose as swaps, with numbers of its own.
  const RunKey key(Purpose::monte_carlo_swap, instance_seed(s.seed(), 1));
  for (std::int64_t t = 0; t < settings_.trials; ++t) {
    auto random = keyed<Random>(key, s.step(), std::uint32_t(t));
    const std::uint32_t first = first_[below(std::uint32_t(first_.size()), random.next())];
    ++counts_.tried;
    if (grow(s, near, index, first, kt, random)) ++counts_.accepted;
  }
  std::vector<Gone> gone;
  for (std::uint32_t id = 0; id < before.size(); ++id) {
    const Position &from = before[id], &to = near.position(id);
    if (from.x != to.x || from.y != to.y || from.z != to.z) gone.push_back({index[id], from, to});
  }
  const Buffer<Gone> on_device(device, std::span<const Gone>(gone));
  for_each(
      device, "clusters are reflected", std::int64_t(gone.size()),
      MoveGone{on_device.data(), {s.particles().position().data(), s.particles().image().data()}});
  device.synchronize();
}

/// So that the first particle goes by the wanted displacement, or anywhere.
Cluster::Reflection Cluster::draw(const StepContext& s, const Position& first,
                                  Random& random) const {
  const bool flat = s.particles().box().dimension == 2;
  if (displacement_ == 0) return {random.next(), random.next(), random.next(), flat};
  const auto edges = s.particles().box().edges();
  const auto about = [&](std::uint32_t at, const Vec3<double>& edge) {
    const double most = std::min(0.5, displacement_ / std::sqrt(dot(edge, edge)));
    return 2 * at + std::uint32_t(std::llround(0x1p32 * between(most, random.next())));
  };
  const std::uint32_t x = about(first.x, edges[0]), y = about(first.y, edges[1]);
  return {x, y, about(first.z, edges[2]), flat};
}

bool Cluster::grow(StepContext& s, NearParticles& near, const std::vector<std::uint32_t>& index,
                   std::uint32_t first, double kt, Random& random) {
  const Reflection reflection = draw(s, near.position(first), random);
  const auto largest = std::size_t(settings_.largest.value_or(std::int64_t(moves_.size())));
  std::vector<std::uint32_t> cluster{first};
  std::vector<bool> in(moves_.size());
  in[first] = true;
  for (std::size_t looked_at = 0; looked_at < cluster.size();) {
    changes_.clear();
    std::vector<std::uint32_t> linked;  // perhaps: ids
    for (; looked_at < cluster.size(); ++looked_at) {
      const std::uint32_t i = cluster[looked_at];
      const Position here = near.position(i), there = reflection.of(here);
      changes_.start(here, index[i], i);
      // As if j were reflected, and i stayed: the same two distances.
      const auto add = [&](std::uint32_t j) {
        const Position& at = near.position(j);
        changes_.add(index[j], at, reflection.of(at));
        linked.push_back(j);
      };
      near.for_each_near(here, [&](std::uint32_t j) {
        if (!in[j]) add(j);
      });
      near.for_each_near(there, [&](std::uint32_t j) {
        const Position& at = near.position(j);
        if (!in[j] && near.distance2(here, at) >= near.reach2(here.type(), at.type())) add(j);
      });
    }
    const std::vector<double> change = changes_.measure(s);
    for (std::size_t k = 0; k < linked.size(); ++k) {
      const std::uint32_t j = linked[k];
      if (in[j] || change[k] <= -kt * std::log(random.uniform_open<double>())) continue;
      if (!moves_[j] || cluster.size() == largest) return false;
      in[j] = true;
      cluster.push_back(j);
    }
  }
  for (const std::uint32_t id : cluster) near.move(id, reflection.of(near.position(id)));
  moved_ += std::int64_t(cluster.size());
  return true;
}

std::vector<MoveSize> Cluster::sizes() const {
  if (!settings_.displacement) return {};
  return {{"cluster_displacement", displacement_}};
}

std::string Cluster::size_text() const {
  std::string text;
  if (displacement_ > 0) text = fmt::format("displacement {:.6g}, ", displacement_);
  if (counts_.accepted == 0) return text.empty() ? text : text.substr(0, text.size() - 2);
  return text + fmt::format("{:.4g} particles each", double(moved_) / double(counts_.accepted));
}

std::string Cluster::shortcoming() const {
  const double mean = double(moved_) / double(std::max<std::int64_t>(1, counts_.accepted));
  const auto all = double(std::ranges::count(moves_, true));
  if (all < 10 || mean < 0.5 * all) return {};
  return fmt::format(
      "clusters have {:.4g} of {:.6g} particles on average, and little changes by that: the system "
      "is too dense, or too cold; try a smaller \"displacement\", and \"largest\"",
      mean, all);
}

void Cluster::state(Archive& archive) {
  archive("displacement", displacement_);
  archive.require(displacement_ >= 0 && std::isfinite(displacement_) &&
                      (displacement_ > 0) == settings_.displacement.has_value(),
                  "displacement", "a length above 0 where the job gives one");
  archive_counts(archive, counts_);
  archive("moved", moved_);
  archive.require(moved_ >= counts_.accepted &&
                      double(moved_) <= double(counts_.accepted) * double(moves_.size()),
                  "moved", "at least one particle for each cluster, at most all");
}

}  // namespace perrin::monte_carlo
