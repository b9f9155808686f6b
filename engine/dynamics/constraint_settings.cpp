#include "engine/dynamics/constraint_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "engine/components/constraint_clusters.h"
#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/system/nearest_vector.h"

namespace perrin {
namespace {

constexpr double small = 0.1;  // what a start may be wrong by, relative

std::string path_of(const char* kind, const std::string& type) {
  return join_path(join_path("constraints", kind), type);
}

void check_types(const std::map<std::string, double>& given, const std::vector<std::string>& names,
                 const char* kind, const ReportMistake& report) {
  for (const auto& [type, value] : given)
    if (std::ranges::find(names, type) == names.end())
      report(path_of(kind, type),
             fmt::format("the system has no {} of this type; {}", kind, suggest(type, names)));
}

/// What a cluster is solved with on the host, place by place and pair by pair.
struct Work {
  Work(const ConstraintClusters& all, const Configuration& c)
      : along(all.pair.size()),
        at(all.particle.size()),
        rate(all.pair.size()),
        impulse(all.pair.size()) {
    for (const std::uint32_t id : all.particle)
      inverse_mass.push_back(c.mass.empty() ? 1.0 : 1 / c.mass[id]);
    const Images<double> images = images_of(c.box);
    for (std::size_t k = 0; k < all.pair.size(); ++k)
      along[k] = images.nearest(c.position[all.particle[all.pair[k].a]] -
                                c.position[all.particle[all.pair[k].b]]);
  }
  std::vector<Vec3<double>> along, at;
  std::vector<double> rate, impulse, inverse_mass;

  ConstraintEquations equations(const ConstraintClusters& all, std::size_t cluster,
                                double tolerance, std::int64_t iterations) const {
    const std::size_t k = all.pairs_from[cluster];
    return {all.pair.data() + k, std::int64_t(all.pairs_from[cluster + 1] - k),
            along.data() + k,    inverse_mass.data(),
            tolerance,           iterations};
  }
};

}  // namespace

void add_constraints(const ConstraintSettings& s, Configuration& c, const ReportMistake& report) {
  Topology& t = c.topology;
  check_types(s.bonds, t.bond_types, "bonds", report);
  check_types(s.angles, t.angle_types, "angles", report);
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> length;  // of ids in order
  const auto add = [&](std::uint32_t a, std::uint32_t b, double of) {
    if (length.emplace(std::minmax(a, b), of).second) t.constraints.push_back({a, b, of});
  };
  for (const auto& bond : t.bonds)
    if (const auto found = s.bonds.find(t.bond_types[bond.type]); found != s.bonds.end())
      add(bond.a, bond.b, found->second);
  for (const auto& angle : t.angles) {
    const auto found = s.angles.find(t.angle_types[angle.type]);
    if (found == s.angles.end()) continue;
    const auto one = length.find(std::minmax(angle.a, angle.b)),
               other = length.find(std::minmax(angle.b, angle.c));
    if (one == length.end() || other == length.end())
      return report(path_of("angles", found->first),
                    fmt::format("both bonds of the angle {}-{}-{} must be constrained, too",
                                angle.a, angle.b, angle.c));
    const double p = one->second, q = other->second;
    const double cosine = std::cos(found->second * std::numbers::pi / 180);
    add(angle.a, angle.c, std::sqrt(p * p + q * q - 2 * p * q * cosine));
  }
  for (const auto& constraint : t.constraints)
    for (const std::uint32_t id : {constraint.a, constraint.b}) {
      if (!t.body.empty() && t.body[id] != Topology::no_body)
        return report("constraints", fmt::format("particle {} belongs to a rigid body", id));
      if (is_absent(c.types[c.type[id]]))
        return report(
            "constraints",
            fmt::format("cannot be combined with \"reservoir\": particle {} is not there", id));
    }
  const ConstraintClusters all(t);
  for (std::size_t k = 0; k < all.size(); ++k)
    if (const auto n = all.first[k + 1] - all.first[k]; n > Constraints::most)
      return report("constraints",
                    fmt::format("connect {} particles, {} and others, expected {} at most: "
                                "constrain fewer of the bonds, and keep the rest by bond_harmonic",
                                n, all.particle[all.first[k]], Constraints::most));
}

void fit_to_constraints(const ConstraintSettings& s, Configuration& c,
                        const ReportMistake& report) {
  if (c.topology.constraints.empty()) return;
  const ConstraintClusters all(c.topology);
  Work work(all, c);
  std::size_t wrong = 0, worst = 0;
  double furthest = small;
  for (std::size_t k = 0; k < all.pair.size(); ++k) {
    const double off =
        std::abs(std::sqrt(dot(work.along[k], work.along[k])) / all.pair[k].length - 1);
    wrong += off > small ? 1 : 0;
    if (off > furthest) furthest = off, worst = k;
  }
  const auto tell = [&](std::size_t k, const std::string& what) {
    const ConstraintPair pair = all.pair[k];
    report("constraints",
           fmt::format("particles {} and {} are {:.6g} apart at the start, expected {:.6g}{}",
                       all.particle[pair.a], all.particle[pair.b],
                       std::sqrt(dot(work.along[k], work.along[k])), pair.length, what));
  };
  if (wrong > 0)
    return tell(worst, fmt::format(", up to {:g} %, which is moved; {} of {} constraints are "
                                   "further away. Begin with other positions, or bring them there "
                                   "by bond_harmonic in a job before",
                                   100 * small, wrong, all.pair.size()));
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t from = all.pairs_from[k];
    const std::int64_t failed = work.equations(all, k, std::min(s.tolerance, 1e-10), s.iterations)
                                    .shake(work.along.data() + from, work.at.data());
    if (failed != ConstraintEquations::solved)
      return tell(from + std::size_t(failed),
                  fmt::format(": SHAKE has not converged in {} iterations", s.iterations));
  }
  for (std::size_t m = 0; m < all.particle.size(); ++m) {
    const std::uint32_t id = all.particle[m];
    const Vec3<double> to = c.position[id] + work.at[m];
    Image image = c.image.empty() ? Image{} : c.image[id];
    if (work.at[m] == Vec3<double>{}) continue;
    c.position[id] = c.box.point(c.box.fixed(to, c.type[id], &image));
    if (!c.image.empty()) c.image[id] = image;
  }
  try {
    constrained_freedom(c);
  } catch (const UserError& e) {
    return report("constraints", e.what());
  }
  project_velocities(c);
}

void project_velocities(Configuration& c) {
  if (c.topology.constraints.empty() || c.velocity.empty()) return;
  const ConstraintClusters all(c.topology);
  Work work(all, c);
  for (std::size_t m = 0; m < all.particle.size(); ++m) work.at[m] = c.velocity[all.particle[m]];
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::size_t from = all.pairs_from[k];
    double largest = 0;  // speed
    for (std::size_t m = all.first[k]; m < all.first[k + 1]; ++m)
      largest = std::max(largest, std::sqrt(dot(work.at[m], work.at[m])));
    if (largest == 0) continue;
    double shortest = all.pair[from].length;
    for (std::size_t j = from; j < all.pairs_from[k + 1]; ++j)
      shortest = std::min(shortest, all.pair[j].length);
    work.equations(all, k, 1e-10, 100000)
        .project(work.rate.data() + from, 1e-10 * largest / shortest, work.at.data(),
                 work.impulse.data() + from);
  }
  for (std::size_t m = 0; m < all.particle.size(); ++m) c.velocity[all.particle[m]] = work.at[m];
}

}  // namespace perrin
