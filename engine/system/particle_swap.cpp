#include "engine/system/particle_swap.h"

#include "engine/base/error.h"
#include "engine/device/parallel.h"
#include "engine/system/orientations.h"

namespace perrin {
namespace {

PERRIN_HD Real4 times_double(double factor, const Real4& v) {
  return {Real(factor * v.x), Real(factor * v.y), Real(factor * v.z), v.w};
}

struct SwapParticle {
  ParticleView a, b;
  double into_a, into_b;

  PERRIN_HD void operator()(std::int64_t id) const {
    const std::uint32_t i = a.index[id], j = b.index[id];
    const Position position = a.position[i];
    a.position[i] = b.position[j], b.position[j] = position;
    const Real4 velocity = a.velocity[i];
    a.velocity[i] = times_double(into_a, b.velocity[j]);
    b.velocity[j] = times_double(into_b, velocity);
    const Image image = a.image[i];
    a.image[i] = b.image[j], b.image[j] = image;
  }
};

struct SwapOrientation {
  const std::uint32_t *index_a, *index_b;
  OrientationView a, b;
  double into_a, into_b;

  PERRIN_HD void operator()(std::int64_t id) const {
    const std::uint32_t i = index_a[id], j = index_b[id];
    const Real4 orientation = a.orientation[i], spin = a.angular_momentum[i];
    a.orientation[i] = b.orientation[j], b.orientation[j] = orientation;
    a.angular_momentum[i] = times_double(into_a, b.angular_momentum[j]);
    b.angular_momentum[j] = times_double(into_b, spin);
  }
};

}  // namespace

void swap_particles(Particles& a, Particles& b, double into_a, double into_b) {
  PERRIN_ASSERT(a.size() == b.size());
  for_each(a.device(), "exchange of particles", a.size(),
           SwapParticle{a.view(), b.view(), into_a, into_b});
  if (a.orientations && b.orientations)
    for_each(a.device(), "exchange of orientations", a.size(),
             SwapOrientation{a.index.data(), b.index.data(), a.orientations->view(),
                             b.orientations->view(), into_a, into_b});
}

}  // namespace perrin
