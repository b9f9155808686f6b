#include "engine/system/particles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/system/configuration_archive.h"
#include "engine/system/orientations.h"

namespace perrin {
namespace {

constexpr std::int64_t most_crossings = 1000000000;  // far from where 32 bits end

}  // namespace

Particles::Particles(const Device& device, const Configuration& c)
    : ParticleBuffers(device, c),
      box_state_(device, c.box),
      properties_{c.types, c.charge, c.diameter, c.attributes, c.topology, c.groups},
      extra_(device, size()) {
  if (!c.orientation.empty()) orientations_ = std::make_unique<Orientations>(device, c, extra_);
}

Particles::~Particles() = default;

ParticleView Particles::view() {
  return {size(),         position().data(), velocity().data(), force().data(),
          image().data(), id().data(),       index().data()};
}

ConstParticleView Particles::view() const {
  return {size(),         position().data(), velocity().data(), force().data(),
          image().data(), id().data(),       index().data()};
}

Configuration Particles::configuration() const {
  const auto p = position().to_host();
  const auto v = velocity().to_host();
  const auto im = image().to_host();
  const auto ids = id().to_host();
  Configuration c;
  c.box = box(), c.topology = properties_.topology;
  c.types = properties_.types, c.charge = properties_.charge, c.diameter = properties_.diameter;
  c.attributes = properties_.attributes, c.groups = properties_.groups;
  const std::size_t n = p.size();
  c.position.resize(n), c.type.resize(n), c.velocity.resize(n), c.image.resize(n), c.mass.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = ids[i];
    c.position[k] = box().point(p[i]);
    c.type[k] = p[i].type();
    c.velocity[k] = {double(v[i].x), double(v[i].y), double(v[i].z)};
    c.image[k] = im[i];
    c.mass[k] = 1.0 / double(v[i].w);
  }
  if (orientations_) orientations_->put_into(c, ids);
  return c;
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
  const auto p = by_id(position());
  const auto v = by_id(velocity()), f = by_id(force());
  const auto im = by_id(image());
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
  Box saved = box();
  archive_box(a, "box", saved);
  Box mine = box();
  mine.padding = saved.padding;
  a.require(saved == mine, "box", "the box of the configuration");
  box_state_.state_of_given(a);
  const auto type_of = by_id(position());
  const auto mass_of = by_id(velocity());
  auto order = id().to_host();
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
    id().assign(order);
    index().assign(place);
  }
  archive_by_id(a, "position", *this, position());
  archive_by_id(a, "velocity", *this, velocity());
  archive_by_id(a, "force", *this, force());
  archive_by_id(a, "image", *this, image());
  if (orientations_) orientations_->state(a, id().to_host());
  if (a.is_saving()) return;
  check_restored(a, type_of, mass_of);
  if (saved == box()) return;
  if (padded_alike(saved, box(), box_state_.given())) return box_state_.set(saved);
  auto positions = position().to_host();
  for (Position& p : positions) p = box().fixed(saved.point(p), p.type());
  position().assign(positions);
}

}  // namespace perrin
