// The bonds of frames, where they are made and broken while the job runs.
#pragma once

#include <memory>
#include <optional>

#include "engine/dynamics/dynamic_bonds.h"
#include "engine/dynamics/observation.h"
#include "engine/system/part.h"

namespace perrin::io {

/// Shared by all frames between two changes.
class FrameBonds {
 public:
  /// As they are now; with a group, those between its members, by their numbers in it.
  std::shared_ptr<const Topology> operator()(const Observation& seen,
                                             const std::optional<Group>& group) {
    const std::int64_t changes = seen.dynamic_bonds()->changes();
    if (now_ && changes == changes_) return now_;
    const Particles& particles = seen.particles();
    changes_ = changes;
    now_ = std::make_shared<const Topology>(
        group ? part_of(particles.properties().topology, std::size_t(particles.size()), *group)
              : particles.properties().topology);
    return now_;
  }

 private:
  std::int64_t changes_ = 0;
  std::shared_ptr<const Topology> now_;
};

}  // namespace perrin::io
