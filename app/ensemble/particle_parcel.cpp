#include "app/ensemble/particle_parcel.h"

#include <cstring>

#include "engine/base/error.h"
#include "engine/system/orientations.h"

namespace perrin {
namespace {

template <class T>
void put(std::string& parcel, const std::vector<T>& values) {
  parcel.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// Takes `n` values from a parcel, one kind after the other.
class Unpacker {
 public:
  Unpacker(const std::string& parcel, std::size_t at, std::int64_t n)
      : parcel_(parcel), n_(std::size_t(n)), at_(at) {}

  template <class T>
  std::vector<T> take() {
    std::vector<T> values(n_);
    PERRIN_ASSERT(at_ + n_ * sizeof(T) <= parcel_.size());
    if (n_ > 0) std::memcpy(values.data(), parcel_.data() + at_, n_ * sizeof(T));
    at_ += n_ * sizeof(T);
    return values;
  }
  std::vector<Real4> take_times(double factor) {
    std::vector<Real4> values = take<Real4>();
    for (Real4& v : values) v = {Real(factor * v.x), Real(factor * v.y), Real(factor * v.z), v.w};
    return values;
  }

 private:
  const std::string& parcel_;
  std::size_t n_, at_;
};

}  // namespace

std::string pack_particles(const Particles& particles) {
  std::string parcel(reinterpret_cast<const char*>(&particles.box()), sizeof particles.box());
  put(parcel, particles.by_id(particles.position()));
  put(parcel, particles.by_id(particles.velocity()));
  put(parcel, particles.by_id(particles.image()));
  if (const Orientations* const o = particles.orientations()) {
    put(parcel, particles.by_id(o->orientation()));
    put(parcel, particles.by_id(o->angular_momentum()));
  }
  return parcel;
}

void unpack_particles(const std::string& parcel, double factor, Particles& particles) {
  Box box;
  PERRIN_ASSERT(parcel.size() >= sizeof box);
  std::memcpy(&box, parcel.data(), sizeof box);
  if (!(box == particles.box())) particles.box_state().set(box);
  Unpacker unpacker(parcel, sizeof box, particles.size());
  particles.assign_by_id(particles.position(), unpacker.take<Position>());
  particles.assign_by_id(particles.velocity(), unpacker.take_times(factor));
  particles.assign_by_id(particles.image(), unpacker.take<Image>());
  if (Orientations* const o = particles.orientations()) {
    particles.assign_by_id(o->orientation(), unpacker.take<Real4>());
    particles.assign_by_id(o->angular_momentum(), unpacker.take_times(factor));
  }
}

}  // namespace perrin
