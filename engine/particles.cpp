#include "engine/particles.h"

#include <fmt/format.h>

#include "engine/parallel.h"

namespace perrin {
namespace {

template <class Word>
struct Gather {
  Word* to;
  const Word* from;
  const std::uint32_t* order;
  std::int64_t words;  // of an element
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t i = k / words;
    to[k] = from[std::int64_t(order[i]) * words + (k - i * words)];
  }
};

/// What every particle has, besides the forces.
struct Everything {
  Position* position;
  Real4* velocity;
  Image* image;
  std::uint32_t* id;
};

struct GatherEverything {
  Everything to, from;
  const std::uint32_t* order;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t k = order[i];
    to.position[i] = from.position[k];
    to.velocity[i] = from.velocity[k];
    to.image[i] = from.image[k];
    to.id[i] = from.id[k];
  }
};

struct CopyEverything {
  Everything to, from;
  std::uint32_t* index;
  Position* positions;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = from.position[i];
    to.position[i] = p;
    if (positions) positions[i] = p;
    to.velocity[i] = from.velocity[i];
    to.image[i] = from.image[i];
    to.id[i] = from.id[i];
    index[from.id[i]] = std::uint32_t(i);
  }
};

}  // namespace

Particles::Particles(const Device& device, const Configuration& c)
    : box(c.box), types(c.types), charge(c.charge), diameter(c.diameter), topology(c.topology) {
  const std::size_t n = c.position.size();
  PERRIN_ASSERT(n < (std::size_t(1) << 32) && c.type.size() == n);
  std::vector<Position> p(n);
  std::vector<Real4> v(n);
  std::vector<Image> im(n);
  std::vector<std::uint32_t> ids(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!c.image.empty()) im[i] = c.image[i];
    p[i] = box.fixed(c.position[i], c.type[i], &im[i]);
    const Vec3<double> u = c.velocity.empty() ? Vec3<double>{} : c.velocity[i];
    const double mass = c.mass.empty() ? 1.0 : c.mass[i];
    v[i] = {Real(u.x), Real(u.y), Real(u.z), Real(1.0 / mass)};
    ids[i] = static_cast<std::uint32_t>(i);
  }
  const auto make = [&](auto& buffer, const auto& host) {
    buffer = {device, std::int64_t(n)};
    buffer.assign(host);
  };
  make(position, p);
  make(velocity, v);
  make(image, im);
  make(id, ids);
  make(index, ids);
  force = {device, std::int64_t(n)};
  scratch_ = {device, std::int64_t(n * (sizeof(Position) + sizeof(Real4) + sizeof(Image) + 4))};
}

ParticleView Particles::view() {
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
  const std::size_t n = p.size();
  c.position.resize(n), c.type.resize(n), c.velocity.resize(n), c.image.resize(n), c.mass.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = ids[i];
    c.position[k] = box.point(p[i]);
    c.type[k] = p[i].type;
    c.velocity[k] = {double(v[i].x), double(v[i].y), double(v[i].z)};
    c.image[k] = im[i];
    c.mass[k] = 1.0 / double(v[i].w);
  }
  return c;
}

void Particles::attach_bytes(std::function<void*()> data, std::size_t bytes) {
  attached_.push_back({std::move(data), bytes});
  const auto needed = std::int64_t(bytes) * size();
  if (scratch_.size() < needed) scratch_.resize(needed);
}

void Particles::detach(const void* data) {
  std::erase_if(attached_, [&](const Attached& a) { return a.data() == data; });
}

void Particles::reorder(const Buffer<std::uint32_t>& order, Position* positions) {
  const Device& d = device();
  const std::int64_t n = size();
  auto* bytes = scratch_.data();
  const Everything here{position.data(), velocity.data(), image.data(), id.data()};
  Everything there{};  // the widest words first: all are aligned
  there.velocity = reinterpret_cast<Real4*>(bytes);
  there.position = reinterpret_cast<Position*>(bytes + n * std::int64_t(sizeof(Real4)));
  there.image = reinterpret_cast<Image*>(there.position + n);
  there.id = reinterpret_cast<std::uint32_t*>(there.image + n);
  for_each(d, "reorder particles", n, GatherEverything{there, here, order.data()});
  for_each(d, "keep the new order", n, CopyEverything{here, there, index.data(), positions});
  for (const Attached& a : attached_) {
    auto* to = reinterpret_cast<std::uint32_t*>(scratch_.data());
    auto* array = static_cast<std::uint32_t*>(a.data());
    const auto words = std::int64_t(a.bytes / 4);
    for_each(d, "reorder an attached array", n * words,
             Gather<std::uint32_t>{to, array, order.data(), words});
    d.copy(array, to, std::size_t(n) * a.bytes);
  }
}

void Particles::state(Archive& a) {
  Archive::Scope scope(a, "particles");
  a("box", box);
  a("position", position);
  a("velocity", velocity);
  a("force", force);
  a("image", image);
  a("id", id);
  a("index", index);
}

}  // namespace perrin
