#include "io/gather.h"

#include "engine/core/parallel.h"

namespace perrin::io {
namespace {

struct GatherById {
  ParticleView from;
  Vec3<float>* position;  // or, in its place,
  Vec3<double>* fine;
  Vec3<float>*velocity, *force;  // and the rest: nullptr where not wanted
  Image* image;
  std::int32_t* species;
  Vec3<double> scale, shift;  // fixed point → units of the edges
  Vec3<double> length;
  double xy, xz, yz;
  bool unwrapped;

  /// Below the upper face also after rounding to float: readers take [0, L).
  PERRIN_HD static float inside(double x, double edge) {
    const float f = float(x);
    return double(f) < edge ? f : nextafterf(float(edge), 0.0f);
  }

  PERRIN_HD void put_position(std::int64_t k, double x, double y, double z) const {
    if (unwrapped)
      position[k] = {float(length.x * x + xy * y + xz * z), float(length.y * y + yz * z),
                     float(length.z * z)};
    else if (xy == 0 && xz == 0 && yz == 0)
      position[k] = {inside(length.x * x, length.x), inside(length.y * y, length.y),
                     inside(length.z * z, length.z)};
    else
      position[k] = {float(length.x * x + xy * y + xz * z), float(length.y * y + yz * z),
                     inside(length.z * z, length.z)};
  }

  /// A fraction of the edge with its remainder; one that is below the lower face is put on it.
  PERRIN_HD double fraction(std::uint32_t whole, const Position& p, int axis) const {
    const double x = (whole + p.remainder(axis) / 256.0) * scale[axis] + shift[axis];
    return x < 0 && !unwrapped ? 0 : x;
  }

  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t i = from.index[k];
    const Position p = from.position[i];
    const Image turns = unwrapped ? from.image[i] : Image{};
    if (fine) {
      const double x = fraction(p.x, p, 0) + turns.x, y = fraction(p.y, p, 1) + turns.y,
                   z = fraction(p.z, p, 2) + turns.z;
      fine[k] = {length.x * x + xy * y + xz * z, length.y * y + yz * z, length.z * z};
    } else {
      put_position(k, p.x * scale.x + shift.x + turns.x, p.y * scale.y + shift.y + turns.y,
                   p.z * scale.z + shift.z + turns.z);
    }
    if (velocity) {
      const Real4 v = from.velocity[i];
      velocity[k] = {float(v.x), float(v.y), float(v.z)};
    }
    if (force) {
      const Real4 f = from.force[i];
      force[k] = {float(f.x), float(f.y), float(f.z)};
    }
    if (image) image[k] = from.image[i];
    if (species) species[k] = std::int32_t(p.type());
  }
};

template <class To, class From>
std::vector<To> copy_out(const Buffer<From>& buffer) {
  static_assert(sizeof(From) % sizeof(To) == 0);
  std::vector<To> host(std::size_t(buffer.bytes()) / sizeof(To));
  if (!host.empty())
    buffer.device().copy_out(host.data(), buffer.data(), std::size_t(buffer.bytes()));
  return host;
}

}  // namespace

FrameGather::FrameGather(const Device& device, std::int64_t n, const Wants& wants) : wants_(wants) {
  if (wants.fine)
    fine_position_ = Buffer<Vec3<double>>(device, n);
  else
    position_ = Buffer<Vec3<float>>(device, n);
  if (wants.velocity) velocity_ = Buffer<Vec3<float>>(device, n);
  if (wants.force) force_ = Buffer<Vec3<float>>(device, n);
  if (wants.image) image_ = Buffer<Image>(device, n);
  if (wants.species) species_ = Buffer<std::int32_t>(device, n);
}

H5mdFrame FrameGather::operator()(Particles& particles) {
  const Box& box = particles.box;
  GatherById f{};
  f.from = particles.view();
  f.position = position_.data();
  f.fine = fine_position_.data();
  f.velocity = velocity_.data();
  f.force = force_.data();
  f.image = image_.data();
  f.species = species_.data();
  for (int axis = 0; axis < 3; ++axis) {
    const double padding = box.periodic[std::size_t(axis)] ? 0.0 : box.padding[axis];
    f.scale[axis] = (1 + 2 * padding) / 4294967296.0;
    f.shift[axis] = -padding;
  }
  f.length = box.length;
  f.xy = box.xy, f.xz = box.xz, f.yz = box.yz;
  f.unwrapped = wants_.unwrapped;
  for_each(particles.device(), "gather a frame", particles.size(), f);
  H5mdFrame frame;
  frame.set_box(box);
  frame.position = copy_out<float>(position_);
  frame.fine_position = copy_out<double>(fine_position_);
  frame.velocity = copy_out<float>(velocity_);
  frame.force = copy_out<float>(force_);
  frame.image = copy_out<std::int32_t>(image_);
  frame.species = copy_out<std::int32_t>(species_);
  return frame;
}

}  // namespace perrin::io
