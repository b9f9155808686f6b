// The kernels of a barostat: what a change of the box takes, its proposal and the decision
// (integrators/barostat.h).
#pragma once

#include <cmath>

#include "engine/components/force.h"
#include "engine/device/faults.h"
#include "engine/system/group.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "integrators/barostat.h"
#include "rng/keyed.h"

namespace perrin::detail {

/// Which way the box may change: one after the other.
struct ChooseStrain {
  const std::uint64_t* step;
  std::uint64_t stride;
  BoxStrains strains;
  BarostatMemory* memory;
  PERRIN_HD void operator()(std::int64_t) const {
    const BoxStrain strain = strains.of[(*step + 1) / stride % std::uint64_t(strains.count)];
    memory->strain = strain;
    memory->off_diagonal = strain.tilt >= 0;
  }
};

struct AddWork {
  const BarostatMemory* memory;
  BoxWork work;
  BoxForceShares shares;
  const Real4* velocity;
  OrientationView turning;
  std::int64_t n;
  const std::uint32_t* id;
  GroupMask counted;  // whose velocities are theirs: others take no energy from the forces

  PERRIN_HD StrainWork operator()(std::int64_t i) const {
    StrainWork s = of_all(i);
    if (counted && !counted.has(id[i])) s.power = 0;
    return s;
  }

 private:
  PERRIN_HD StrainWork of_all(std::int64_t i) const {
    const BoxStrain& strain = memory->strain;
    const Real4 a = shares.work ? shares.work[i] : Real4{};
    StrainWork s{strain.part(a.x, a.y, a.z), double(a.w)};
    if (shares.torque) s.power += power_of_torque(i);
    if (!shares.virial) return s;
    const Real* v = shares.virial + (strain.tilt >= 0 ? 3 * n : 0) + i;
    s.virial += strain.part(v[0], v[n], v[2 * n]);
    const Real4 f = shares.force[i];
    s.power += double(work.power(velocity[i], f.x, f.y, f.z));
    return s;
  }
  /// torque · angular velocity after the kick, about the axes that have a moment of inertia.
  PERRIN_HD double power_of_torque(std::int64_t i) const {
    const Real3 t = rotate_back(turning.orientation[i], shares.torque[i].xyz());
    const Real4 spin = turning.angular_momentum[i], moment = turning.moment[i];
    const auto along = [&](Real torque, Real l, Real inertia) {
      return inertia > Real(0) ? torque * (l + work.kick * torque) / inertia : Real(0);
    };
    return double(along(t.x, spin.x, moment.x)) + double(along(t.y, spin.y, moment.y)) +
           double(along(t.z, spin.z, moment.z));
  }
};

/// Of forces that were asked for energies.
struct EnergyOfParticle {
  const Real4* force;
  PERRIN_HD double operator()(std::int64_t i) const { return double(force[i].w); }
};

struct AddKinetic {
  const BarostatMemory* memory;
  const Real4* velocity;
  const std::uint32_t* id;
  GroupMask counted;
  Vec3<double> drift;
  PERRIN_HD StrainKinetic operator()(std::int64_t i) const {
    const BoxStrain& strain = memory->strain;
    const Real4 v = velocity[i];
    if (!(v.w > 0) || (counted && !counted.has(id[i]))) return {};
    const double x = double(v.x) - drift.x, y = double(v.y) - drift.y, z = double(v.z) - drift.z;
    const double m = 1 / double(v.w);
    if (strain.tilt < 0) return {m * strain.part(x * x, y * y, z * z), 0};
    const double along = strain.tilt == 2 ? y : x;
    return {m * strain.part(x * y, x * z, y * z), m * along * along};
  }
};

/// What proposal and decision need. Energies and volumes in the job's units.
struct BoxMove {
  BarostatMemory* memory;
  Box* box;
  const std::uint64_t* step;
  RunKey key;
  Ramp kt_ramp, pressure_ramp;
  double mobility, most, tail_virial, range, half_step;
  double free_particles;  // without velocities, else 0
  bool flexible;
  double width;        // of a random walk that whole energies decide on; 0: forces do
  double tail_energy;  // times the volume

  PERRIN_HD static double volume(const Box& b) { return b.length.x * b.length.y * b.length.z; }
  PERRIN_HD double kt() const { return kt_ramp.at(*step); }
  PERRIN_HD double pressure() const { return pressure_ramp.at(*step); }
  PERRIN_HD bool by_energy() const { return width > 0; }
  PERRIN_HD double diffusion(double v) const {
    return by_energy() ? 0.5 * width * width : mobility * kt() / v;
  }
  /// Virial with tail corrections: for a change of the lengths' logarithm, or of the tilt.
  PERRIN_HD double virial(const StrainWork& work, double v) const {
    const BoxStrain& s = memory->strain;
    return s.tilt >= 0 ? work.virial
                       : work.virial + s.axes() * tail_virial / (double(box->dimension) * v);
  }
  /// The mean change: the force on it times its mobility; where the pressure is far off, no more
  /// than it can be undone from. `change`: what has been done since the kinetic energy was taken.
  PERRIN_HD double mean_change(const StrainWork& work, double v, double change) const {
    if (by_energy()) return 0;
    const BoxStrain& s = memory->strain;
    const StrainKinetic& k = memory->kinetic;
    double sum = virial(work, v);
    if (s.tilt >= 0)
      sum += k.linear - change * k.quadratic;
    else
      sum = (sum + k.linear * (free_particles > 0 ? 1 : std::exp(-2 * change / s.axes()))) /
                s.axes() -
            pressure() * v;
    const double far = 0.5 * s.axes() * most, mean = mobility / v * sum;
    return mean > far ? far : mean < -far ? -far : mean;
  }
  /// What the change adds to the energy of the particles; between two overlaps not a number.
  PERRIN_HD double energy_change(double v0, double v1) const {
    if (by_energy()) return memory->energy[1] - memory->energy[0] + tail_energy * (1 / v1 - 1 / v0);
    const BoxStrain& s = memory->strain;
    const StrainKinetic& k = memory->kinetic;
    const double u = memory->change;
    double energy = -0.5 * (virial(memory->before, v0) + virial(memory->after, v1)) * u / s.axes();
    if (free_particles == 0)
      energy += s.tilt >= 0 ? u * (0.5 * u * k.quadratic - k.linear)
                            : 0.5 * k.linear * std::expm1(-2 * u / s.axes());
    // The second half of the kick is still to come.
    return energy + half_step * (memory->after.power - memory->before.power);
  }
};

/// The box after a change: of the logarithm of the volume, or of a tilt.
PERRIN_HD Box strained(Box b, const BoxStrain& s, double change) {
  if (s.tilt == 0) {
    b.xy += change * b.length.y, b.xz += change * b.yz, b.origin.x += change * b.origin.y;
  } else if (s.tilt == 1) {
    b.xz += change * b.length.z, b.origin.x += change * b.origin.z;
  } else if (s.tilt == 2) {
    b.yz += change * b.length.z, b.origin.y += change * b.origin.z;
  } else {
    const double f = std::exp(change / s.axes());
    for (int k = 0; k < 3; ++k)
      if (s.axis[k]) b.length[k] *= f, b.origin[k] *= f;
    if (s.axis[0]) b.xy *= f, b.xz *= f;
    if (s.axis[1]) b.yz *= f;
  }
  return b;
}

/// What keeps momenta times edges as they are.
PERRIN_HD VelocityStrain velocity_strain(const BoxStrain& s, double change) {
  VelocityStrain v;
  if (s.tilt >= 0) {
    (s.tilt == 0 ? v.tilt.x : s.tilt == 1 ? v.tilt.y : v.tilt.z) = Real(-change);
  } else {
    const Real f = Real(std::exp(-change / s.axes()));
    v.scale = {s.axis[0] ? f : Real(1), s.axis[1] ? f : Real(1), s.axis[2] ? f : Real(1), 0};
  }
  return v;
}

struct Propose {
  BoxMove m;
  FaultSink faults;
  PERRIN_HD void operator()(std::int64_t) const {
    BarostatMemory& memory = *m.memory;
    memory.box = *m.box;
    memory.change = 0;
    if (m.free_particles > 0)
      memory.kinetic = {
          memory.strain.tilt >= 0 ? 0 : m.free_particles * m.kt() * memory.strain.axes(), 0};
    const double v = BoxMove::volume(memory.box);
    auto random = keyed<Philox>(m.key, *m.step, 0);
    const double change = m.mean_change(memory.before, v, 0) +
                          std::sqrt(2 * m.diffusion(v)) * random.normal<double>();
    const double longest = memory.strain.axes() * m.most;
    if (!(change <= longest && change >= -longest)) return;
    const Box b = strained(memory.box, memory.strain, change);
    const auto heights = b.padded_heights();
    for (int k = 0; k < b.dimension; ++k)
      if (b.periodic[std::size_t(k)] && heights[k] / 2 < m.range) {
        faults.report(FaultKind::box_too_small, 0, heights[k] / 2, m.range);
        return;
      }
    memory.change = change;
    memory.velocities = velocity_strain(memory.strain, change);
    memory.pending = 1;
    *m.box = b;
  }
};

/// A search without lists was halted by something full before the decision: what is left of the
/// step is run again.
struct TakeBack {
  BarostatMemory* memory;
  Box* box;
  PERRIN_HD void operator()(std::int64_t) const {
    if (memory->pending) *box = memory->box;
    memory->pending = 0;
  }
};

struct Decide {
  BoxMove m;
  PERRIN_HD void operator()(std::int64_t) const {
    BarostatMemory& memory = *m.memory;
    memory.pending = 0;
    memory.tried += 1;
    const double u = memory.change;
    if (u == 0) return;
    const BoxStrain& s = memory.strain;
    const double v0 = BoxMove::volume(memory.box), v1 = BoxMove::volume(*m.box);
    const double forth = u - m.mean_change(memory.before, v0, 0);
    const double back = -u - m.mean_change(memory.after, v1, u);
    const double energy = m.energy_change(v0, v1);
    double log_ratio = -(energy + m.pressure() * (v1 - v0)) / m.kt() +
                       (forth * forth / m.diffusion(v0) - back * back / m.diffusion(v1)) / 4;
    if (s.tilt < 0) {
      // The measure V^N dV, and of the Gaussians √(D(V)/D(V')), unless all have the same width.
      log_ratio += (m.free_particles + (m.by_energy() ? 1 : 1.5)) * u;
      if (m.flexible)
        for (int i = 0; i < m.box->dimension; ++i)
          if (s.axis[i]) log_ratio += double(m.box->dimension - 1 - 2 * i) * u / s.axes();
    }
    auto random = keyed<Philox>(m.key, *m.step, 1);
    if (std::log(random.uniform_open<double>()) < log_ratio) {
      if (!m.by_energy()) memory.heat += energy;  // may have been infinite
      memory.accepted += 1;
    } else {
      *m.box = memory.box;
      memory.change = 0;
    }
  }
};

/// BoxStrains what velocities are beside the drift, where the box has changed.
struct StrainVelocities {
  Real4* velocity;
  const BarostatMemory* memory;
  Vec3<double> drift;
  const std::uint32_t* id;
  GroupMask moved;
  const Real4* common;  // of what moves as one; nullptr: each for itself
  PERRIN_HD void operator()(std::int64_t i) const {
    if (memory->change == 0 || (moved && !moved.has(id[i]))) return;
    const Real4 v = velocity[i];
    if (common == nullptr) {
      velocity[i] = strained(v);
      return;
    }
    const Real4 before = common[i], after = strained(before);
    velocity[i] = {v.x + (after.x - before.x), v.y + (after.y - before.y),
                   v.z + (after.z - before.z), v.w};
  }

 private:
  PERRIN_HD Real4 strained(const Real4& v) const {
    const VelocityStrain s = memory->velocities;
    // Of the drift what the matrix takes away: small, and so not lost in the last digit.
    const double x = drift.x, y = drift.y, z = drift.z;
    const Real back[3] = {
        Real((1 - double(s.scale.x)) * x), Real((1 - double(s.scale.y)) * y - double(s.tilt.x) * x),
        Real((1 - double(s.scale.z)) * z - double(s.tilt.y) * x - double(s.tilt.z) * y)};
    return {multiply_add(s.scale.x, v.x, back[0]),
            multiply_add(s.scale.y, v.y, multiply_add(s.tilt.x, v.x, back[1])),
            multiply_add(s.scale.z, v.z,
                         multiply_add(s.tilt.y, v.x, multiply_add(s.tilt.z, v.y, back[2]))),
            v.w};
  }
};

}  // namespace perrin::detail
