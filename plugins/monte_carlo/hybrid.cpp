#include "hybrid.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "integrators/verlet_halves.h"
#include "rng/math.h"

namespace perrin::monte_carlo {
namespace {

/// Of a trial.
struct DrawVelocity {
  GroupMask group;
  RunKey key;
  const std::uint64_t* sweep;
  Real kt;
  bool flat;

  PERRIN_HD void operator()(std::uint32_t id, Real sign, Real4& velocity) const {
    if (!group.has(id)) return;
    auto random = keyed<Philox>(key, *sweep, id);
    const Vec3<Real> normal = random.template normal3<Real>();
    const Real inverse_mass = velocity.w;
    const Real width = sign * std::sqrt(kt * inverse_mass);
    velocity = {width * normal.x, width * normal.y, flat ? Real(0) : width * normal.z,
                inverse_mass};
  }
};

/// Notes where the particles are, and draws velocities.
struct BeginTrajectory {
  ParticleView particles;
  DrawVelocity draw;
  Position* position;
  Image* image;

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    position[id] = particles.position[i];
    image[id] = particles.image[i];
    draw(id, Real(1), particles.velocity[i]);
  }
};

/// With the velocities that were drawn turned round: so these, too, keep their distribution, and
/// nothing is left of a trajectory that went astray.
struct GoBack {
  ParticleView particles;
  DrawVelocity draw;
  const Position* position;
  const Image* image;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    particles.position[i] = position[id];
    particles.image[i] = image[id];
    draw(id, Real(-1), particles.velocity[i]);
  }
};

struct EnergyOf {
  ParticleView particles;
  GroupMask group;
  const Real4* force;
  PERRIN_HD double operator()(std::int64_t i) const {
    double energy = double(force[i].w);
    const Real4 v = particles.velocity[i];
    if (v.w > 0 && group.has(particles.id[i]))
      energy += 0.5 * double(dot(v.xyz(), v.xyz())) / double(v.w);
    return energy;
  }
};

}  // namespace

void Hybrid::begin(StageContext& s) {
  const std::int64_t n = s.particles().size();
  group_ = group_of(s, group_name_);
  position_ = {s.device(), n}, image_ = {s.device(), n}, force_ = {s.device(), n};
}

void Hybrid::sweep(StepContext& s, double kt) {
  if ((std::int64_t(s.step()) + 1) % settings_.every != 0) return;
  const RunKey key(Purpose::monte_carlo_hybrid, s.seed());
  const std::int64_t n = s.particles().size();
  const DrawVelocity draw{group_.mask(), key, s.device_step(), Real(kt),
                          s.particles().box().dimension == 2};
  s.renew_neighbors();
  for_each(s.device(), "a trajectory begins", n,
           BeginTrajectory{s.particles().view(), draw, position_.data(), image_.data()});
  s.compute_forces();
  const double before = energy(s);
  const auto [ends_well, after] = run(s);
  s.particles().domain().gather_all();
  ++counts_.tried;
  auto random = keyed<Philox>(key, s.step(), TrialMove::none);
  if (ends_well && after - before <= -kt * std::log(random.uniform_open<double>())) {
    ++counts_.accepted;
    return;
  }
  for_each(s.device(), "a trajectory is taken back", n,
           GoBack{s.particles().view(), draw, position_.data(), image_.data()});
}

Hybrid::End Hybrid::run(StepContext& s) {
  s.begin_trial();
  // Of the stage's particles alone.
  StepContext::OfIntegrator own{group_.mask(), s.degrees_of_freedom(), 0};
  s.exchange(own);
  for (std::int64_t step = 0; step < settings_.steps; ++step) {
    move_particles(s, KickAndDrift{Real(timestep_)});
    s.update_neighbors();
    s.compute_forces();
    update_particles(s, Kick{Real(timestep_)}, false);
  }
  s.exchange(own);
  const double energy_there = energy(s);
  return {!s.end_trial(), energy_there};
}

/// Potential and kinetic, without what does not change. Waits.
double Hybrid::energy(StepContext& s) {
  bool add = false;
  for (const auto& force : s.forces()) {
    force->act(s, {force_.data(), nullptr, add, true});
    add = true;
  }
  if (s.forces().empty()) force_.zero();
  return sum<double>(s.device(), "energy of a trajectory", s.particles().size(),
                     EnergyOf{s.particles().view(), group_.mask(), force_.data()});
}

std::string Hybrid::size_text() const { return fmt::format("time step {:.6g}", timestep_); }

void Hybrid::state(Archive& archive) {
  archive("timestep", timestep_);
  archive.require(timestep_ > 0 && std::isfinite(timestep_), "timestep", "a time above 0");
  archive_counts(archive, counts_);
}

}  // namespace perrin::monte_carlo
