// What integrators of prescribed motion have in common. For files compiled as CUDA.
#pragma once

#include <vector>

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/system/orientations.h"
#include "integrators/particle_steps.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace detail {

struct HoldParticle {
  ParticleView particles;
  Current<Metric> metric;
  MoveCheck check;
  GroupMask group;
  PERRIN_HD void operator()(std::int64_t i) const {
    if (group.has(particles.id[i]))
      check(i, particles.position[i], *metric);
    else
      check.pass_over(i);
  }
};

}  // namespace detail

/// In place of move_particles() where particles do not move: lists need nothing, but without lists
/// every particle is counted in its cell.
inline void hold_particles(StepContext& s) {
  if (!s.neighbors() || s.neighbors()->has_lists() || s.device().halt().skipping()) return;
  const MoveCheck check = s.check_moves();
  if (!check.watches()) return;
  for_each(s.device(), "particles at rest", s.particles().share(),
           detail::HoldParticle{s.particles().view(), s.particles().metric(), check, s.group()});
}

/// Of the particles of a group, from the host; they do not turn any more. All processes call it.
inline void set_velocities(StepContext& s, const GroupMask& mask, Vec3<double> velocity) {
  auto all = s.particles().velocity().to_host();
  const auto id = s.particles().id().to_host();
  std::vector<std::uint8_t> group;  // [id]
  if (mask) {
    group.resize(all.size());
    s.device().memory().copy_out(group.data(), mask.value, group.size());
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (group.empty() || group[id[i]] == mask.member)
      all[i] = {Real(velocity.x), Real(velocity.y), Real(velocity.z), all[i].w};
  s.particles().velocity().assign(all);
  if (!s.particles().orientations()) return;
  auto spin = s.particles().orientations()->angular_momentum().to_host();
  for (std::size_t i = 0; i < spin.size(); ++i)
    if (group.empty() || group[id[i]] == mask.member) spin[i] = {};
  s.particles().orientations()->angular_momentum().assign(spin);
}

}  // namespace perrin
