#include "engine/components/rigid_bodies.h"

#include <map>
#include <span>
#include <vector>

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

/// Of the body's frame, in units of its axes; 0 about an axis without a moment of inertia.
PERRIN_HD Real3 angular_velocity(const Real4& spin, const Real4& moment) {
  return {moment.x > Real(0) ? spin.x / moment.x : Real(0),
          moment.y > Real(0) ? spin.y / moment.y : Real(0),
          moment.z > Real(0) ? spin.z / moment.z : Real(0)};
}

struct PlaceSite {
  ParticleView p;
  Current<Metric> metric;
  OrientationView turning;
  const Site* site;
  FaultSink faults;
  MoveCheck check;
  Real limit;

  PERRIN_HD void operator()(std::int64_t k) const {
    const Site s = site[k];
    const std::uint32_t i = p.index[s.id], c = p.index[s.center];
    const Real4 q = turning.orientation[c];
    const Real3 r = rotate(q, s.at.xyz());
    const Real3 by = metric->fixed(r);
    const Position before = p.position[i], center = p.position[c];
    Position to = moved_by_axes(center, Real4{by.x, by.y, by.z, 0});
    to.tail = (to.tail & 0x00ffffffu) | before.type() << 24;
    const Real moved2 = metric->distance2(to, before);
    if (!(moved2 <= limit * limit)) {
      faults.report(moved2 - moved2 == Real(0) ? FaultKind::too_fast : FaultKind::not_finite, s.id,
                    std::sqrt(double(moved2)), double(limit));
      return;
    }
    p.position[i] = to;
    const Image image = p.image[c];
    p.image[i] = {image.x + crossing(center.x, to.x, by.x),
                  image.y + crossing(center.y, to.y, by.y),
                  image.z + crossing(center.z, to.z, by.z)};
    if (metric->open) watch_open_faces(i, to, moved2);
    const Real3 spin = rotate(q, angular_velocity(turning.angular_momentum[c], turning.moment[c]));
    const Real3 v = p.velocity[c].xyz() + cross(spin, r);
    p.velocity[i] = {v.x, v.y, v.z, p.velocity[i].w};
    check(i, to, *metric);
  }

 private:
  PERRIN_HD void watch_open_faces(std::uint32_t i, const Position& to, Real moved2) const {
    const std::uint32_t at[3] = {to.x, to.y, to.z};
    for (std::uint32_t axis = 0; axis < 3; ++axis)
      if (at[axis] < metric->lower[axis] || at[axis] > metric->upper[axis])
        return faults.report(FaultKind::left_the_box, p.id[i], std::sqrt(double(moved2)),
                             double(limit), axis);
  }
};

/// In the order of the sites.
struct CollectForces {
  ParticleView p;
  OrientationView turning;
  const Site* site;
  const std::uint32_t* begin;
  bool add_torque;

  PERRIN_HD void operator()(std::int64_t body) const {
    const std::uint32_t first = begin[body], last = begin[body + 1];
    const std::uint32_t c = p.index[site[first].center];
    const Real4 q = turning.orientation[c];
    Real3 force{}, torque{};
    for (std::uint32_t k = first; k < last; ++k) {
      const Real3 f = p.force[p.index[site[k].id]].xyz();
      force += f;
      torque += cross(rotate(q, site[k].at.xyz()), f);
    }
    const Real4 own = p.force[c], before = add_torque ? turning.torque[c] : Real4{};
    p.force[c] = {own.x + force.x, own.y + force.y, own.z + force.z, own.w};
    turning.torque[c] = {before.x + torque.x, before.y + torque.y, before.z + torque.z, 0};
  }
};

struct CorrectVirial {
  ParticleView p;
  OrientationView turning;
  const Site* site;
  const Real4* force;
  Real* virial;

  PERRIN_HD void operator()(std::int64_t k) const {
    const std::uint32_t i = p.index[site[k].id], c = p.index[site[k].center];
    const Real3 r = rotate(turning.orientation[c], site[k].at.xyz()), f = force[i].xyz();
    const Real of[6] = {r.x * f.x, r.y * f.y, r.z * f.z, r.x * f.y, r.x * f.z, r.y * f.z};
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
    bodies[t.body[id]].push_back({{Real(at.x), Real(at.y), Real(at.z), 0}, id, t.body[id]});
    moved[id] = 0;
  }
  std::vector<Site> all;
  std::vector<std::uint32_t> begin{0};
  for (const auto& [center, sites] : bodies) {
    all.insert(all.end(), sites.begin(), sites.end());
    begin.push_back(std::uint32_t(all.size()));
  }
  bodies_ = std::int64_t(bodies.size());
  sites_ = {device, std::span<const Site>(all)};
  begin_ = {device, std::span<const std::uint32_t>(begin)};
  moved_ = {device, std::span<const std::uint8_t>(moved)};
}

void RigidBodies::place(Particles& p, const FaultSink& faults, Real limit,
                        const MoveCheck& check) const {
  for_each(
      p.device(), "sites of bodies", sites_.size(),
      PlaceSite{p.view(), p.metric(), p.orientations->view(), sites_.data(), faults, check, limit});
}

void RigidBodies::collect(Particles& p, bool add_torque) const {
  for_each(
      p.device(), "forces on bodies", bodies_,
      CollectForces{p.view(), p.orientations->view(), sites_.data(), begin_.data(), add_torque});
}

void RigidBodies::correct_virial(Particles& p, const Real4* force, Real* virial) const {
  for_each(p.device(), "virial of bodies", sites_.size(),
           CorrectVirial{p.view(), p.orientations->view(), sites_.data(), force, virial});
}

}  // namespace perrin
