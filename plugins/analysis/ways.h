// How far particles have gone since a correlation began.
//
// In a box that changes a particle's way is the sum of what it has moved relative to the box from
// sample to sample, in the box at each: what the box does to places far away is no diffusion (S.
// von Bülow, J. T. Bullerjahn, G. Hummer, J. Chem. Phys. 153, 021101 (2020)).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/real.h"
#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "engine/system/particles.h"
#include "lengths.h"

namespace perrin::analysis {

class Ways {
 public:
  /// The ways (length) of particles that are at these unwrapped places, in fixed-point units, from
  /// any origin that stays.
  const std::vector<Vec3<double>>& follow(const Particles& particles,
                                          const std::vector<Vec3<double>>& places);
  void forget() { last_.clear(); }
  /// `count`: of the particles that are followed.
  void state(Archive& archive, std::int64_t count);

 private:
  bool moved_ = false;              // the box has changed
  std::vector<Vec3<double>> last_;  // places at the last sample, in fixed-point units
  std::vector<Vec3<double>> way_;   // since then and before
};

/// Some particles' places or velocities, and the centre of mass of all.
class Followed {
 public:
  Followed() = default;
  Followed(const Device& device, const std::vector<std::uint32_t>& ids);
  std::int64_t size() const { return ids_.size(); }
  /// In the order of the ids. `drift`: less those of the centre of mass of all particles. Waits.
  std::vector<Vec3<double>> measure(const Particles& particles, const Device& device, bool velocity,
                                    bool drift);

  struct Sum {  // of mass, and of mass times place or velocity
    double mass = 0;
    Vec3<double> moment{};
    PERRIN_HD Sum& operator+=(const Sum& b) { return mass += b.mass, moment += b.moment, *this; }
  };

 private:
  Buffer<std::uint32_t> ids_;
  Buffer<Vec3<double>> values_;
  Buffer<Sum> scratch_;  // and the result behind it
};

}  // namespace perrin::analysis
