#include "integrators/cluster_scaling.h"

#include <cmath>
#include <span>
#include <vector>

#include "engine/components/constraint_clusters.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/system/moved_position.h"
#include "engine/system/nearest_vector.h"
#include "integrators/box_strain.h"

namespace perrin {
namespace detail {

/// What kernels are given.
struct ClusterView {
  ParticleView p;
  const std::uint32_t *particle, *parent, *first;
  Vec3<double>* way;
  Position* position;
  Image* image;
  Real4* velocity;
  Share mine;

  PERRIN_HD std::uint32_t place(std::uint32_t m) const { return p.index[particle[m]]; }
  PERRIN_HD double mass(std::uint32_t m) const { return 1 / double(p.velocity[place(m)].w); }
};

}  // namespace detail

namespace {

using detail::ClusterView;

struct Keep {
  ClusterView of;
  Current<Metric> metric;
  BondVector vector;

  PERRIN_HD void operator()(std::int64_t cluster) const {
    const std::uint32_t begin = of.first[cluster], end = of.first[cluster + 1];
    Vec3<double> centre{}, momentum{};
    double all = 0;
    for (std::uint32_t m = begin; m < end; ++m) {
      const std::uint32_t i = of.place(m);
      const double mass = of.mass(m);
      const std::uint32_t from = of.parent[m];
      const Real3 r = vector(*metric, of.p.position[i], of.p.position[of.place(from)]);
      const Real4 v = of.p.velocity[i];
      of.way[m] = Vec3<double>{double(r.x), double(r.y), double(r.z)} +
                  (m > begin ? of.way[from] : Vec3<double>{});
      centre += mass * of.way[m];
      momentum += mass * Vec3<double>{double(v.x), double(v.y), double(v.z)};
      all += mass;
      of.position[m] = of.p.position[i], of.image[m] = of.p.image[i];
    }
    for (std::uint32_t m = begin; m < end; ++m) {
      of.way[m] -= (1 / all) * centre;
      const std::uint32_t i = of.place(m);
      of.velocity[i] = {Real(momentum.x / all), Real(momentum.y / all), Real(momentum.z / all),
                        of.p.velocity[i].w};
    }
  }
};

struct Correct {
  ClusterView of;
  Real4* force;
  Real* virial;

  PERRIN_HD void operator()(std::int64_t cluster) const {
    const std::uint32_t begin = of.first[cluster], end = of.first[cluster + 1];
    Vec3<double> sum{};
    double all = 0;
    for (std::uint32_t m = begin; m < end; ++m) {
      const std::uint32_t i = of.place(m);
      const Real4 f = force[i];
      sum += Vec3<double>{double(f.x), double(f.y), double(f.z)};
      all += of.mass(m);
      if (!of.mine.meets(i, 1)) continue;
      const Vec3<double> w = of.way[m];
      // Of xy what a tilt of the box by xy does, which moves x by y.
      const double part[6] = {w.x * double(f.x), w.y * double(f.y), w.z * double(f.z),
                              w.y * double(f.x), w.z * double(f.x), w.z * double(f.y)};
      for (int c = 0; c < 6; ++c) {
        Real& of_i = virial[c * of.p.n + i];
        of_i = Real(double(of_i) - part[c]);
      }
    }
    for (std::uint32_t m = begin; m < end; ++m) {
      const std::uint32_t i = of.place(m);
      const double part = of.mass(m) / all;
      force[i] = {Real(part * sum.x), Real(part * sum.y), Real(part * sum.z), force[i].w};
    }
  }
};

/// What a change of the box would do to ways from centres is taken back.
struct Follow {
  ClusterView of;
  Current<Metric> metric;
  const BarostatMemory* memory;

  PERRIN_HD void operator()(std::int64_t m) const {
    if (memory->change == 0) return;
    const BoxStrain& s = memory->strain;
    const Vec3<double> w = of.way[m];
    Vec3<double> by{};
    if (s.tilt >= 0) {
      (s.tilt == 2 ? by.y : by.x) = -memory->change * (s.tilt == 0 ? w.y : w.z);
    } else {
      const double more = std::expm1(memory->change / s.axes());
      for (int axis = 0; axis < 3; ++axis)
        if (s.axis[axis]) by[axis] = -more * w[axis];
    }
    const std::uint32_t i = of.place(std::uint32_t(m));
    const Real3 u = metric->fixed({Real(by.x), Real(by.y), Real(by.z)});
    const Position before = of.p.position[i], to = moved_by_axes(before, {u.x, u.y, u.z, 0});
    of.p.position[i] = to;
    of.p.image[i] += Image{crossing(before.x, to.x, u.x), crossing(before.y, to.y, u.y),
                           crossing(before.z, to.z, u.z)};
  }
};

struct PutBack {
  ClusterView of;
  const BarostatMemory* memory;
  bool pending;  // of a change that has not been decided on; else of one that was refused

  PERRIN_HD void operator()(std::int64_t m) const {
    if (pending ? memory->pending == 0 : memory->change != 0) return;
    const std::uint32_t i = of.place(std::uint32_t(m));
    of.p.position[i] = of.position[m], of.p.image[i] = of.image[m];
  }
};

/// The particles of clusters in an order in which each but the first of its cluster comes behind
/// one that a constraint connects it with: its parent, a place in the order.
struct Tree {
  std::vector<std::uint32_t> particle, parent;

  explicit Tree(const ConstraintClusters& all) {
    std::vector<std::vector<std::uint32_t>> partners(all.particle.size());
    for (const ConstraintPair& c : all.pair)
      partners[c.a].push_back(c.b), partners[c.b].push_back(c.a);
    std::vector<std::uint32_t> reached(all.particle.size());  // in all.particle
    std::vector<bool> known(all.particle.size());
    for (std::size_t cluster = 0; cluster < all.size(); ++cluster) {
      std::uint32_t end = all.first[cluster];
      const auto add = [&](std::uint32_t member, std::uint32_t from) {
        if (known[member]) return;
        known[member] = true;
        reached[end++] = member;
        particle.push_back(all.particle[member]), parent.push_back(from);
      };
      add(all.first[cluster], all.first[cluster]);
      for (std::uint32_t k = all.first[cluster]; k < end; ++k)
        for (const std::uint32_t member : partners[reached[k]]) add(member, k);
    }
  }
};

}  // namespace

ClusterScaling::ClusterScaling(const Device& device, const Topology& topology,
                               std::int64_t particles) {
  const ConstraintClusters all(topology);
  const Tree tree(all);
  clusters_ = std::int64_t(all.size());
  particle_ = {device, std::span<const std::uint32_t>(tree.particle)};
  parent_ = {device, std::span<const std::uint32_t>(tree.parent)};
  first_ = {device, std::span<const std::uint32_t>(all.first)};
  way_ = {device, particle_.size()};
  position_ = {device, particle_.size()}, image_ = {device, particle_.size()};
  velocity_ = {device, particles};
}

detail::ClusterView ClusterScaling::view(StepContext& s) {
  return {s.particles().view(), particle_.data(), parent_.data(),
          first_.data(),        way_.data(),      position_.data(),
          image_.data(),        velocity_.data(), s.particles().share()};
}

void ClusterScaling::keep(StepContext& s) {
  s.particles().domain().gather(s.particles().velocity());
  velocity_.copy_from(s.particles().velocity());
  for_each(s.device(), "centres of clusters", clusters_,
           Keep{view(s), s.particles().metric(), BondVector(s.particles().box())});
}

void ClusterScaling::correct(StepContext& s, Buffer<Real4>& force, Buffer<Real>& virial) {
  s.particles().domain().gather(force);
  for_each(s.device(), "virial of clusters", clusters_,
           Correct{view(s), force.data(), virial.data()});
}

void ClusterScaling::follow(StepContext& s, const BarostatMemory* memory) {
  for_each(s.device(), "clusters in the box", particle_.size(),
           Follow{view(s), s.particles().metric(), memory});
}

void ClusterScaling::settle(StepContext& s, const BarostatMemory* memory) {
  for_each(s.device(), "clusters as they were", particle_.size(), PutBack{view(s), memory, false});
}

void ClusterScaling::take_back(StepContext& s, const BarostatMemory* memory) {
  for_each(s.device(), "clusters as they were", particle_.size(), PutBack{view(s), memory, true});
}

}  // namespace perrin
