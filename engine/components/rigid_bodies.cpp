#include "engine/components/rigid_bodies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "engine/components/box_mover.h"
#include "engine/device/faults.h"
#include "engine/device/parallel.h"
#include "engine/system/moved_position.h"
#include "engine/system/orientations.h"
#include "engine/system/particles.h"
#include "engine/system/quaternion.h"
#include "neighbor/move_check.h"

namespace perrin {
namespace {

using Site = RigidBodies::Site;

/// Sites by their place in memory: neighbours in memory are neighbours in space, often of one body.
struct SitesInMemory {
  const std::uint32_t* site_of;  // [id]
  const Site* site;

  /// The site that this particle is; nullptr: it is none.
  PERRIN_HD const Site* operator()(std::uint32_t id) const {
    const std::uint32_t k = site_of[id];
    return k == RigidBodies::no_site ? nullptr : site + k;
  }
};

/// Of the body's frame, in units of its axes; 0 about an axis without a moment of inertia.
PERRIN_HD Real3 angular_velocity(const Real4& spin, const Real4& moment) {
  return {moment.x > Real(0) ? spin.x / moment.x : Real(0),
          moment.y > Real(0) ? spin.y / moment.y : Real(0),
          moment.z > Real(0) ? spin.z / moment.z : Real(0)};
}

/// Where a site is.
struct SitePlace {
  Position position;
  Image image;
  Real3 from_center;  // in space (length)

  /// Of the particle i, whose centre is at c in memory.
  PERRIN_HD SitePlace(const ParticleView& p, const OrientationView& turning, const Metric& metric,
                      std::int64_t i, std::uint32_t c, const Site& site) {
    from_center = rotate(turning.orientation[c], site.at.xyz());
    const Real3 by = metric.fixed(from_center);
    const Position center = p.position[c];
    position = moved_by_axes(center, Real4{by.x, by.y, by.z, 0});
    position.tail = (position.tail & 0x00ffffffu) | p.position[i].type() << 24;
    const Image at = p.image[c];
    image = {at.x + crossing(center.x, position.x, by.x),
             at.y + crossing(center.y, position.y, by.y),
             at.z + crossing(center.z, position.z, by.z)};
  }
};

struct PlaceSite {
  ParticleView p;
  Current<Metric> metric;
  OrientationView turning;
  SitesInMemory sites;
  FaultSink faults;
  MoveCheck check;
  Real limit;
  const Flow* flow;
  const std::uint64_t* step;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Site* const site = sites(p.id[i]);
    if (site != nullptr) put(i, *site);
  }
  /// Where the particle i in memory is this site.
  PERRIN_HD void put(std::int64_t i, const Site& site) const {
    const std::uint32_t c = p.index[site.center];
    const SitePlace to(p, turning, *metric, i, c, site);
    const Real moved2 = metric->distance2(to.position, p.position[i]);
    if (!(moved2 <= limit * limit)) {
      faults.report(moved2 - moved2 == Real(0) ? FaultKind::too_fast : FaultKind::not_finite,
                    p.id[i], std::sqrt(double(moved2)), double(limit));
      return;
    }
    p.position[i] = to.position;
    p.image[i] = to.image;
    if (metric->open) watch_open_faces(std::uint32_t(i), to.position, moved2);
    const Real4 q = turning.orientation[c];
    const Real3 spin = rotate(q, angular_velocity(turning.angular_momentum[c], turning.moment[c]));
    Real3 v = p.velocity[c].xyz() + cross(spin, to.from_center);
    if (flow != nullptr) v -= flow_across(to.from_center);
    p.velocity[i] = {v.x, v.y, v.z, p.velocity[i].w};
    check(i, to.position, *metric);
  }

 private:
  /// How much faster the flow is there than at the centre.
  PERRIN_HD Real3 flow_across(const Real3& r) const {
    const Real(&l)[6] = flow[*step & 1].gradient;
    return {l[0] * r.x + l[3] * r.y + l[4] * r.z, l[1] * r.y + l[5] * r.z, l[2] * r.z};
  }
  PERRIN_HD void watch_open_faces(std::uint32_t i, const Position& to, Real moved2) const {
    const std::uint32_t at[3] = {to.x, to.y, to.z};
    for (std::uint32_t axis = 0; axis < 3; ++axis)
      if (at[axis] < metric->lower[axis] || at[axis] > metric->upper[axis])
        return faults.report(FaultKind::left_the_box, p.id[i], std::sqrt(double(moved2)),
                             double(limit), axis);
  }
};

/// In the order of the sites: on a CPU, whose caches then have what is read of a centre.
struct PlaceInTurn {
  PlaceSite place;
  Share mine;

  PERRIN_HD void operator()(std::int64_t k) const {
    const Site& site = place.sites.site[k];
    const std::uint32_t i = place.p.index[site.id];
    if (mine.meets(i, 1)) place.put(i, site);
  }
};

struct FollowBox {
  ParticleView p;
  Current<Metric> metric;
  OrientationView turning;
  SitesInMemory sites;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Site* const site = sites(p.id[i]);
    if (site == nullptr) return;
    const SitePlace to(p, turning, *metric, i, p.index[site->center], *site);
    p.position[i] = to.position;
    p.image[i] = to.image;
  }
};

/// In the order of the sites.
struct CollectForces {
  const std::uint32_t* index;
  const Real4* orientation;
  const Site* site;
  const std::uint32_t* begin;
  Real4 *force, *torque;
  bool add_torque, take;
  Share mine;

  PERRIN_HD void operator()(std::int64_t body) const {
    const std::uint32_t first = begin[body], last = begin[body + 1];
    const std::uint32_t c = index[site[first].center];
    if (mine.meets(c, 1)) collect(first, last, c);
    if (!take) return;
    for (std::uint32_t k = first; k < last; ++k) force[index[site[k].id]] = Real4{};
  }

 private:
  PERRIN_HD void collect(std::uint32_t first, std::uint32_t last, std::uint32_t c) const {
    constexpr std::uint32_t at_once = 4;  // forces that are waited for together
    const Real4 q = orientation[c];
    Real3 sum{}, turn{};
    for (std::uint32_t k = first; k < last; k += at_once) {
      Real3 f[at_once];
      for (std::uint32_t j = 0; j < at_once; ++j)
        f[j] = k + j < last ? force[index[site[k + j].id]].xyz() : Real3{};
      for (std::uint32_t j = 0; j < at_once && k + j < last; ++j) {
        sum += f[j];
        turn += cross(rotate(q, site[k + j].at.xyz()), f[j]);
      }
    }
    const Real4 own = force[c], before = add_torque ? torque[c] : Real4{};
    force[c] = {own.x + sum.x, own.y + sum.y, own.z + sum.z, own.w};
    torque[c] = {before.x + turn.x, before.y + turn.y, before.z + turn.z, 0};
  }
};

struct CorrectVirial {
  ParticleView p;
  OrientationView turning;
  SitesInMemory sites;
  const Real4* force;
  Real* virial;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Site* const site = sites(p.id[i]);
    if (site == nullptr) return;
    const Real4 q = turning.orientation[p.index[site->center]];
    const Real3 r = rotate(q, site->at.xyz()), f = force[i].xyz();
    // Of xy what a tilt of the box by xy does at fixed directions: with torques that is not yx.
    const Real of[6] = {r.x * f.x, r.y * f.y, r.z * f.z, r.y * f.x, r.z * f.x, r.z * f.y};
    for (int c6 = 0; c6 < 6; ++c6) virial[c6 * p.n + i] -= of[c6];
  }
};

}  // namespace

RigidBodies::RigidBodies(const Device& device, const Topology& t) {
  std::map<std::uint32_t, std::vector<Site>> bodies;  // by their centres
  std::vector<std::uint8_t> moved(t.body.size(), 1);
  for (std::uint32_t id = 0; id < t.body.size(); ++id) {
    if (t.body[id] == Topology::no_body || t.body[id] == id) continue;
    const Vec3<double>& at = t.site[id];
    extent_ = std::max(extent_, std::sqrt(dot(at, at)));
    bodies[t.body[id]].push_back({{Real(at.x), Real(at.y), Real(at.z), 0}, id, t.body[id]});
    moved[id] = 0;
  }
  std::vector<Site> all;
  std::vector<std::uint32_t> begin{0}, site_of(t.body.size(), no_site);
  for (const auto& [center, sites] : bodies) {
    for (const Site& site : sites) {
      site_of[site.id] = std::uint32_t(all.size());
      all.push_back(site);
    }
    begin.push_back(std::uint32_t(all.size()));
  }
  bodies_ = std::int64_t(bodies.size());
  sites_ = {device, std::span<const Site>(all)};
  site_of_ = {device, std::span<const std::uint32_t>(site_of)};
  begin_ = {device, std::span<const std::uint32_t>(begin)};
  moved_ = {device, std::span<const std::uint8_t>(moved)};
}

void RigidBodies::place(Particles& p, const FaultSink& faults, Real limit, const MoveCheck& check,
                        const Flow* flow, const std::uint64_t* step) const {
  gather_centers(p);
  const PlaceSite place{p.view(),
                        p.metric(),
                        p.orientations()->view(),
                        SitesInMemory{site_of_.data(), sites_.data()},
                        faults,
                        check,
                        limit,
                        flow,
                        step};
  if (p.device().is_cuda())
    for_each(p.device(), "sites of bodies", p.share(), place);
  else
    for_each(p.device(), "sites of bodies", sites_.size(), PlaceInTurn{place, p.share()});
}

/// Centres and sites may be in different processes. All calls do nothing in a single one.
void RigidBodies::gather_centers(Particles& p) const {
  p.domain().gather(p.position());
  p.domain().gather(p.image());
  p.domain().gather(p.velocity());
  p.domain().gather(p.orientations()->orientation());
  p.domain().gather(p.orientations()->angular_momentum());
}

void RigidBodies::follow_box(Particles& p) const {
  for_each(p.device(), "sites in the box", p.size(),
           FollowBox{p.view(), p.metric(), p.orientations()->view(),
                     SitesInMemory{site_of_.data(), sites_.data()}});
}

void RigidBodies::collect(Particles& p, bool add_torque) const {
  add_up(p, p.force(), p.orientations()->torque(), add_torque, false);
}

void RigidBodies::take(Particles& p, Buffer<Real4>& force, Buffer<Real4>& torque,
                       bool add_torque) const {
  add_up(p, force, torque, add_torque, true);
}

void RigidBodies::add_up(Particles& p, Buffer<Real4>& force, Buffer<Real4>& torque, bool add_torque,
                         bool take) const {
  p.domain().gather(force);
  for_each(p.device(), "forces on bodies", bodies_,
           CollectForces{p.index().data(), p.orientations()->orientation().data(), sites_.data(),
                         begin_.data(), force.data(), torque.data(), add_torque, take, p.share()});
}

void RigidBodies::correct_virial(Particles& p, const Real4* force, Real* virial) const {
  for_each(p.device(), "virial of bodies", p.share(),
           CorrectVirial{p.view(), p.orientations()->view(),
                         SitesInMemory{site_of_.data(), sites_.data()}, force, virial});
}

}  // namespace perrin
