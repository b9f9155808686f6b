// How dense it is where the particles are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/system/particles.h"

namespace perrin {

struct Crowding {
  /// Number density around a particle, averaged over particles: what a droplet sees, not the vapour
  /// around it. At least the mean density of the box.
  double density;
  /// The mean density divided by this one: the share of the box where there is something.
  double occupied;
  std::vector<std::int64_t> by_type;  // particles of each type

  double particles() const;
};

/// From pairs that share a cell of width `reach`; large systems are sampled. Waits for the device.
Crowding measure_crowding(const Particles& particles, double reach);

/// Volume of the padded box; in two dimensions its area.
double padded_volume(const Box& box);

}  // namespace perrin
