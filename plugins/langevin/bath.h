// The heat bath that the integrators of this plug-in share: who moves, temperature, friction, heat.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "engine/components/setup.h"
#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "engine/system/particle_array.h"
#include "integrators/rotation.h"
#include "noise.h"
#include "settings.h"

namespace perrin::langevin {

/// The square root of k_B T, by step.
struct Temperature {
  Real root_from;  // where there is no ramp
  Ramp kt;

  PERRIN_HD Real root(std::uint64_t step) const {
    return kt.constant() ? root_from : Real(std::sqrt(kt.at(step)));
  }
};

/// Which particles move, and along which axes.
struct Mobile {
  const std::uint32_t* types;  // [type]: 1 or 0; nullptr: all
  Real4 axes;                  // 1 or 0

  PERRIN_HD bool moves(std::uint32_t type) const { return types == nullptr || types[type] != 0; }
  PERRIN_HD Real4 along(const Real4& v) const { return product(axes, v); }
};

/// A particle's coefficients: the same for all, by its type, or by its id.
template <class C>
struct Coefficients {
  C all;
  const C* values;  // nullptr: all
  bool by_id;
  PERRIN_HD C of(std::uint32_t type, std::uint32_t id) const {
    return values == nullptr ? all : values[by_id ? id : type];
  }
};

/// Owns what a Coefficients points to.
template <class C>
class CoefficientTable {
 public:
  /// `by_id[id]` of every particle; kept by type, or once, where that says the same.
  void assign(const Device& device, const std::vector<C>& by_id,
              const std::vector<std::uint32_t>& type_of, std::size_t types) {
    std::vector<C> by_type(types);
    std::vector<bool> known(types, false);
    by_id_ = uniform_ = true;
    bool of_type = true;
    for (std::size_t id = 0; id < by_id.size(); ++id) {
      const auto t = type_of[id];
      if (!known[t]) by_type[t] = by_id[id], known[t] = true;
      of_type = of_type && same(by_type[t], by_id[id]);
      uniform_ = uniform_ && same(by_id[0], by_id[id]);
    }
    if (!by_id.empty()) all_ = by_id[0];
    by_id_ = !of_type;
    values_ = Buffer<C>(device, std::span<const C>(of_type ? by_type : by_id));
  }
  Coefficients<C> view() const { return {all_, uniform_ ? nullptr : values_.data(), by_id_}; }

 private:
  static bool same(const C& a, const C& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
  C all_{};
  bool by_id_ = false, uniform_ = true;
  Buffer<C> values_;
};

class Bath {
 public:
  /// Reports the user's mistakes.
  Bath(const BathSettings& settings, const std::string& default_noise, Purpose purpose,
       Setup& setup);

  /// From the integrator's begin(): the ramp starts here, heat is 0. Particles are read back from
  /// the device.
  void begin(StepContext& context, bool tally_heat);
  void end() { heat_ = {}; }
  /// The velocities that are left after rest().
  Motion motion() const { return {moving_, {moves_.x, moves_.y, moves_.z}, false}; }
  /// Velocities that can never change are set to 0: those of particles that do not move, and those
  /// along axes that do not count.
  void rest(StepContext& context) const;

  /// False after a mistake that leaves no generator to choose.
  bool usable() const { return usable_; }
  /// Of the rotation of particles that have orientations.
  RotationalBath rotation(const StepContext& context, Purpose purpose) const {
    return {rotational_drag_, RunKey(purpose, seed(context.seed()))};
  }
  /// For with_noise().
  std::string scheme() const {
    const bool cold = settings_.temperature == 0 && !settings_.ramp.to;
    return cold ? "none" : draws_apart() ? "drawn" : settings_.scheme;
  }
  const NoiseLaw& law() const { return law_; }
  /// For the scheme "drawn"; from begin().
  DrawnNormals drawn_normals(const StepContext& context, Purpose purpose) const {
    return {context, settings_.rng, settings_.scheme, normals(), purpose, seed(context.seed())};
  }
  /// Gaussian numbers by the method of the settings.
  NormalLaw normals() const { return {law_.x, law_.y, law_.z, normal_method(settings_.normals)}; }
  /// By a kernel of its own?
  bool draws_apart() const {
    return !law_.uniform && normal_method(settings_.normals) != usual_method;
  }
  /// Friction along the axes of particles' own frames, [type]; 0: that of any direction. Empty:
  /// no type has such.
  const std::vector<Vec3<double>>& drag_of_axes() const { return drag_of_axes_; }
  /// Friction that depends on how particles are turned: along or about their axes.
  bool has_axes() const {
    return !drag_of_axes_.empty() || !settings_.rotational_frictions_of_axes.empty();
  }
  /// Does every particle move along all axes of the box?
  bool moves_all() const { return moves_all_; }
  Mobile mobile() const {
    return {mask_.size() > 0 ? mask_.data() : nullptr,
            {Real(moves_.x), Real(moves_.y), Real(moves_.z), Real(0)}};
  }
  Temperature temperature() const;
  std::int64_t start() const { return start_; }

  /// make(drag coefficient, mass) for every particle, by way of its type where that is enough.
  template <class C, class Make>
  void tabulate(const StepContext& context, CoefficientTable<C>& table, Make make) const;

  /// Where the particle in place i of memory adds the energy that it gets; nullptr: not counted.
  double* heat() { return heat_.data(); }
  /// Its sum, into *total on the device; false: not counted.
  bool measure_heat(double* total);
  void state(Archive& archive);

  /// Of all random numbers of this stage: other stages have others, also with generators whose
  /// states do not follow the step.
  std::uint64_t seed(std::uint64_t of_job) const { return instance_seed(of_job, instance_); }

 private:
  /// Types, masses and drag coefficients by id.
  struct ById {
    std::vector<std::uint32_t> type;
    std::vector<double> mass, drag;
  };
  ById by_id(const StepContext& context) const;
  void check_normals(Setup& setup) const;
  void find_drag(Setup& setup);
  void find_drag_of_axes(Setup& setup);
  void find_rotational_drag(Setup& setup);
  bool read_rotational_drag(Setup& setup);

  BathSettings settings_;
  bool usable_ = true;
  NoiseLaw law_{};
  Vec3<bool> moves_{};  // along the axes; the law may be that of fewer
  bool moves_all_ = true;
  double k_boltzmann_;
  std::uint32_t instance_;
  std::vector<double> drag_of_type_;  // empty: from diameters
  std::vector<Vec3<double>> drag_of_axes_;
  std::vector<Vec3<double>> rotational_drag_;  // [type]
  std::vector<std::uint32_t> moving_;          // [type]: 1 or 0; empty: all
  Buffer<std::uint32_t> mask_;
  std::int64_t start_ = 0, particles_ = 0;
  ParticleArray<double> heat_;  // by place
  Buffer<double> heat_scratch_;
};

template <class C, class Make>
void Bath::tabulate(const StepContext& context, CoefficientTable<C>& table, Make make) const {
  const ById all = by_id(context);
  std::vector<C> values(all.type.size());
  for (std::size_t id = 0; id < values.size(); ++id) {
    const bool again =
        id > 0 && all.drag[id] == all.drag[id - 1] && all.mass[id] == all.mass[id - 1];
    values[id] = again ? values[id - 1] : make(all.drag[id], all.mass[id]);
  }
  table.assign(context.device(), values, all.type, context.particles().properties().types.size());
}

/// Refuses vectors of a checkpoint that are not finite.
template <class Vector>
void require_finite(const Archive& archive, const std::string& name,
                    const ParticleArray<Vector>& vectors) {
  if (archive.is_saving()) return;
  for (const Vector& v : vectors.to_host())
    archive.require(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z), name,
                    "finite numbers");
}

}  // namespace perrin::langevin
