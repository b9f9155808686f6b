#include "io/gather.h"

#include "engine/device/parallel.h"
#include "engine/system/orientations.h"

namespace perrin::io {
namespace {

struct GatherById {
  ConstParticleView from;
  ConstOrientationView turning;  // nullptr where they have none
  const std::uint32_t* members;  // ids; nullptr: all
  Vec3<float>* position;         // or, in its place,
  Vec3<double>* fine;
  Vec3<float>*velocity, *force;  // and the rest: nullptr where not wanted
  Image* image;
  std::int32_t *species, *id;
  std::uint32_t absent_from;  // type
  float* orientation;         // four of each particle: w, x, y, z
  Vec3<float>*angular_momentum, *torque;
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
    const std::int64_t i = from.index[members ? members[k] : k];
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
    if (id) id[k] = p.type() < absent_from ? std::int32_t(from.id[i]) : -1;
    if (orientation) {
      const Real4 q = turning.orientation[i];
      float* const to = orientation + 4 * k;
      to[0] = float(q.w), to[1] = float(q.x), to[2] = float(q.y), to[3] = float(q.z);
    }
    if (angular_momentum) {
      const Real4 spin = turning.angular_momentum[i];
      angular_momentum[k] = {float(spin.x), float(spin.y), float(spin.z)};
    }
    if (torque) {
      const Real4 t = turning.torque[i];
      torque[k] = {float(t.x), float(t.y), float(t.z)};
    }
  }
};

}  // namespace

FrameGather::FrameGather(const Device& device, std::int64_t all, const Wants& wants,
                         const std::vector<std::uint32_t>& members)
    : n_(members.empty() ? all : std::int64_t(members.size())),
      members_(device, std::span<const std::uint32_t>(members)),
      unwrapped_(wants.unwrapped),
      absent_from_(wants.absent_from.value_or(0)),
      position_(place(wants.fine ? 0 : std::size_t(n_) * sizeof(Vec3<float>))),
      fine_position_(place(wants.fine ? std::size_t(n_) * sizeof(Vec3<double>) : 0)),
      velocity_(place(wants.velocity ? std::size_t(n_) * sizeof(Vec3<float>) : 0)),
      force_(place(wants.force ? std::size_t(n_) * sizeof(Vec3<float>) : 0)),
      image_(place(wants.image ? std::size_t(n_) * sizeof(Image) : 0)),
      species_(place(wants.species ? std::size_t(n_) * sizeof(std::int32_t) : 0)),
      orientation_(place(wants.orientation ? std::size_t(n_) * 4 * sizeof(float) : 0)),
      angular_momentum_(place(wants.angular_momentum ? std::size_t(n_) * sizeof(Vec3<float>) : 0)),
      torque_(place(wants.torque ? std::size_t(n_) * sizeof(Vec3<float>) : 0)),
      id_(place(wants.absent_from ? std::size_t(n_) * sizeof(std::int32_t) : 0)),
      memory_(device, bytes_),
      gathered_(device, device.is_cuda() ? std::int64_t(bytes_) : 0),
      copies_(device) {}

FrameGather::Place FrameGather::place(std::size_t bytes) {
  constexpr std::size_t line = 64;
  const Place place{bytes_, bytes};
  bytes_ += (bytes + line - 1) / line * line;
  return place;
}

H5mdFrame FrameGather::operator()(const Particles& particles) {
  const Device& device = particles.device();
  const std::shared_ptr<std::byte> block = memory_.take();
  std::byte* const to = device.is_cuda() ? gathered_.data() : block.get();
  const Box& box = particles.box();
  GatherById f{};
  f.from = particles.view();
  f.members = members_.data();
  f.position = position_.in<Vec3<float>>(to);
  f.fine = fine_position_.in<Vec3<double>>(to);
  f.velocity = velocity_.in<Vec3<float>>(to);
  f.force = force_.in<Vec3<float>>(to);
  f.image = image_.in<Image>(to);
  f.species = species_.in<std::int32_t>(to);
  f.id = id_.in<std::int32_t>(to);
  f.absent_from = absent_from_;
  f.orientation = orientation_.in<float>(to);
  f.angular_momentum = angular_momentum_.in<Vec3<float>>(to);
  f.torque = torque_.in<Vec3<float>>(to);
  if (f.orientation || f.angular_momentum || f.torque) f.turning = particles.orientations()->view();
  for (int axis = 0; axis < 3; ++axis) {
    const double padding = box.periodic[std::size_t(axis)] ? 0.0 : box.padding[axis];
    f.scale[axis] = (1 + 2 * padding) / 4294967296.0;
    f.shift[axis] = -padding;
  }
  f.length = box.length;
  f.xy = box.xy, f.xz = box.xz, f.yz = box.yz;
  f.unwrapped = unwrapped_;
  copies_.hold_device();
  for_each(device, "gather a frame", n_, f);
  H5mdFrame frame;
  frame.set_box(box);
  frame.position = position_.array<float>(block);
  frame.fine_position = fine_position_.array<double>(block);
  frame.velocity = velocity_.array<float>(block);
  frame.force = force_.array<float>(block);
  frame.image = image_.array<std::int32_t>(block);
  frame.species = species_.array<std::int32_t>(block);
  frame.id = id_.array<std::int32_t>(block);
  frame.orientation = orientation_.array<float>(block);
  frame.angular_momentum = angular_momentum_.array<float>(block);
  frame.torque = torque_.array<float>(block);
  if (device.is_cuda()) frame.arrival = copies_.copy(block.get(), to, bytes_);
  return frame;
}

}  // namespace perrin::io
