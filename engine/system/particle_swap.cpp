#include "engine/system/particle_swap.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/buffer.h"
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

  PERRIN_HD std::int64_t size() const { return a.n; }
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
  std::int64_t n;
  const std::uint32_t *index_a, *index_b;
  OrientationView a, b;
  double into_a, into_b;

  PERRIN_HD std::int64_t size() const { return n; }
  PERRIN_HD void operator()(std::int64_t id) const {
    const std::uint32_t i = index_a[id], j = index_b[id];
    const Real4 orientation = a.orientation[i], spin = a.angular_momentum[i];
    a.orientation[i] = b.orientation[j], b.orientation[j] = orientation;
    a.angular_momentum[i] = times_double(into_a, b.angular_momentum[j]);
    b.angular_momentum[j] = times_double(into_b, spin);
  }
};

/// Element k % most of what k / most says.
template <class Swap>
struct EachOfAll {
  const Swap* swaps;
  std::int64_t most;

  PERRIN_HD void operator()(std::int64_t k) const {
    const Swap& swap = swaps[k / most];
    if (k % most < swap.size()) swap(k % most);
  }
};

/// In one launch.
template <class Swap>
void do_all(const Device& device, const char* name, const std::vector<Swap>& swaps) {
  std::int64_t most = 0;
  for (const Swap& swap : swaps) most = std::max(most, swap.size());
  if (most == 0) return;
  const Buffer<Swap> there(device, std::span<const Swap>(swaps));
  for_each(device, name, most * std::int64_t(swaps.size()), EachOfAll<Swap>{there.data(), most});
}

}  // namespace

void swap_particles(std::span<const ParticleSwap> swaps) {
  std::vector<SwapParticle> particles;
  std::vector<SwapOrientation> orientations;
  for (const auto& [a, b, into_a, into_b] : swaps) {
    PERRIN_ASSERT(a->size() == b->size());
    particles.push_back({a->view(), b->view(), into_a, into_b});
    if (a->orientations() && b->orientations())
      orientations.push_back({a->size(), a->index().data(), b->index().data(),
                              a->orientations()->view(), b->orientations()->view(), into_a,
                              into_b});
  }
  if (swaps.empty()) return;
  const Device& device = swaps.front().a->device();
  do_all(device, "exchange of particles", particles);
  do_all(device, "exchange of orientations", orientations);
}

}  // namespace perrin
