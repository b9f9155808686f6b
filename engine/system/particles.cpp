#include "engine/system/particles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "engine/base/error.h"
#include "engine/device/parallel.h"
#include "engine/system/configuration_archive.h"
#include "engine/system/orientations.h"

namespace perrin {
namespace {

constexpr std::int64_t most_crossings = 1000000000;  // far from where 32 bits end

struct GatherEverything {
  Particles::Arrays to, from;
  const std::uint32_t* order;
  std::uint32_t* index;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t k = order[i];
    to.copy(i, from, k);
    index[from.id[k]] = std::uint32_t(i);
  }
};

struct CopyEverything {
  Particles::Arrays to, from;
  Position* positions;
  PERRIN_HD void operator()(std::int64_t i) const {
    to.copy(i, from, i);
    if (positions) positions[i] = from.position[i];
  }
};

}  // namespace

Particles::Particles(const Device& device, const Configuration& c)
    : box_state(device, c.box),
      types(c.types),
      charge(c.charge),
      diameter(c.diameter),
      topology(c.topology),
      attributes(c.attributes),
      groups(c.groups),
      extra(device, std::int64_t(c.position.size())) {
  const std::size_t n = c.position.size();
  PERRIN_ASSERT(n < (std::size_t(1) << 32) && c.type.size() == n);
  PERRIN_ASSERT(c.types.size() <= Position::type_count);
  // One array after another: each is twice in memory while it is made.
  const auto make = [&](auto& buffer, const auto& host) {
    buffer = {device, std::int64_t(n)};
    buffer.assign(host);
  };
  {
    std::vector<Image> images = c.image;
    images.resize(n);
    std::vector<Position> positions(n);
    for (std::size_t i = 0; i < n; ++i)
      positions[i] = box.fixed(c.position[i], c.type[i], &images[i]);
    make(position, positions);
    make(image, images);
  }
  {
    std::vector<Real4> velocities(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3<double> v = c.velocity.empty() ? Vec3<double>{} : c.velocity[i];
      const double mass = c.mass.empty() ? 1.0 : c.mass[i];
      velocities[i] = {Real(v.x), Real(v.y), Real(v.z), Real(1.0 / mass)};
    }
    make(velocity, velocities);
  }
  {
    std::vector<std::uint32_t> ids(n);
    std::iota(ids.begin(), ids.end(), std::uint32_t(0));
    make(id, ids);
    make(index, ids);
  }
  force = {device, std::int64_t(n)};
  spare_position_ = {device, std::int64_t(n)}, spare_velocity_ = {device, std::int64_t(n)};
  spare_image_ = {device, std::int64_t(n)}, spare_id_ = {device, std::int64_t(n)};
  if (!c.orientation.empty()) orientations = std::make_unique<Orientations>(device, c, extra);
}

Particles::~Particles() = default;

ParticleView Particles::view() {
  return {size(),       position.data(), velocity.data(), force.data(),
          image.data(), id.data(),       index.data()};
}

ConstParticleView Particles::view() const {
  return {size(),       position.data(), velocity.data(), force.data(),
          image.data(), id.data(),       index.data()};
}

Configuration Particles::configuration() const {
  const auto p = position.to_host();
  const auto v = velocity.to_host();
  const auto im = image.to_host();
  const auto ids = id.to_host();
  Configuration c;
  c.box = box, c.types = types, c.charge = charge, c.diameter = diameter, c.topology = topology;
  c.attributes = attributes, c.groups = groups;
  const std::size_t n = p.size();
  c.position.resize(n), c.type.resize(n), c.velocity.resize(n), c.image.resize(n), c.mass.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = ids[i];
    c.position[k] = box.point(p[i]);
    c.type[k] = p[i].type();
    c.velocity[k] = {double(v[i].x), double(v[i].y), double(v[i].z)};
    c.image[k] = im[i];
    c.mass[k] = 1.0 / double(v[i].w);
  }
  if (orientations) orientations->put_into(c, ids);
  return c;
}

Particles::Arrays Particles::arrays() {
  return {position.data(), velocity.data(), image.data(), id.data()};
}
Particles::Arrays Particles::spare_arrays() {
  return {spare_position_.data(), spare_velocity_.data(), spare_image_.data(), spare_id_.data()};
}

void Particles::copy_back(Position* positions, const Share& places) {
  for_each(device(), "keep the new order", places,
           CopyEverything{arrays(), spare_arrays(), positions});
}

void Particles::swap_buffers() {
  position.swap(spare_position_), velocity.swap(spare_velocity_);
  image.swap(spare_image_), id.swap(spare_id_);
  swapped_ = !swapped_;
}

void Particles::copy_back_buffers() {
  if (!swapped_) return;
  swap_buffers();
  copy_back(nullptr, {0, size()});
}

void Particles::assume_swapped(bool swapped) {
  if (swapped != swapped_) swap_buffers();
}

void Particles::reorder(const Buffer<std::uint32_t>& order, Position* positions) {
  for_each(device(), "reorder particles", size(),
           GatherEverything{spare_arrays(), arrays(), order.data(), index.data()});
  copy_back(positions, {0, size()});
  extra.reorder(order.data(), id.data());
}

void check_particle_count(const std::string& name, std::int64_t count, std::int64_t particles) {
  if (count != particles)
    throw UserError(fmt::format("\"{}\" in the checkpoint is of {} particles, the system has {}",
                                name, count, particles));
}

/// Whether `saved`, a box of a run that began in `given`, is padded for the range that `made` is
/// padded for: edges are padded once, whatever a barostat then does to their heights.
bool padded_alike(const Box& saved, const Box& made, const Box& given) {
  const Vec3<double> before = given.heights(), now = made.heights();
  for (int axis = 0; axis < 3; ++axis) {
    const double expected = made.padding[axis] * now[axis] / before[axis];
    if (std::abs(saved.padding[axis] - expected) > 1e-12 * expected) return false;
  }
  return true;
}

/// What a job cannot change, and what no run leaves behind.
void Particles::check_restored(Archive& a, const std::vector<Position>& type_of,
                               const std::vector<Real4>& mass_of) const {
  const auto finite = [](const Real4& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z) && std::isfinite(v.w);
  };
  const auto p = by_id(position);
  const auto v = by_id(velocity), f = by_id(force);
  const auto im = by_id(image);
  // An integrator that keeps no forces leaves none behind.
  const bool absent = std::all_of(f.begin(), f.end(), [](const Real4& word) {
    return std::isnan(word.x) && std::isnan(word.y) && std::isnan(word.z) && word.w == 0;
  });
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto what = [&](const char* must) { return fmt::format("{} (particle {})", must, i); };
    if (p[i].type() != type_of[i].type())
      a.require(false, "position", what("of the types in the configuration"));
    if (!finite(v[i])) a.require(false, "velocity", what("finite numbers"));
    // 1/mass has been through a mass since.
    if (!(std::abs(v[i].w / mass_of[i].w - 1) < Real(1e-5)))
      a.require(false, "velocity", what("with the masses of the configuration"));
    if (!absent && !finite(f[i])) a.require(false, "force", what("finite numbers"));
    for (const std::int64_t k : {im[i].x, im[i].y, im[i].z})
      if (std::abs(k) > most_crossings)
        a.require(false, "image", what("crossings of the box, at most 10^9"));
  }
}

void Particles::state(Archive& a) {
  Archive::Scope scope(a, "particles");
  // A resumed job is made from the configuration of the checkpoint, with the box of that moment.
  Box saved = box;
  archive_box(a, "box", saved);
  Box mine = box;
  mine.padding = saved.padding;
  a.require(saved == mine, "box", "the box of the configuration");
  box_state.state_of_given(a);
  const auto type_of = by_id(position);
  const auto mass_of = by_id(velocity);
  auto order = id.to_host();
  a("order", order);
  if (!a.is_saving()) {
    constexpr std::uint32_t nowhere = 0xffffffffu;
    check_particle_count("particles/order", std::int64_t(order.size()), size());
    std::vector<std::uint32_t> place(order.size(), nowhere);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i] >= place.size() || place[order[i]] != nowhere)
        throw UserError(
            "\"particles/order\" in the checkpoint does not name every particle once: it is "
            "damaged");
      place[order[i]] = std::uint32_t(i);
    }
    id.assign(order);
    index.assign(place);
  }
  archive_by_id(a, "position", *this, position);
  archive_by_id(a, "velocity", *this, velocity);
  archive_by_id(a, "force", *this, force);
  archive_by_id(a, "image", *this, image);
  if (orientations) orientations->state(a, id.to_host());
  if (a.is_saving()) return;
  check_restored(a, type_of, mass_of);
  if (saved == box) return;
  if (padded_alike(saved, box, box_state.given())) return box_state.set(saved);
  auto positions = position.to_host();
  for (Position& p : positions) p = box.fixed(saved.point(p), p.type());
  position.assign(positions);
}

}  // namespace perrin
