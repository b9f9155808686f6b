// An external field of which energy and force are functions of the position: the kernel and the
// class around any of them. For files compiled as CUDA.
//
// A field is a struct like a pair potential (forces/pair_potential.h): Settings with describe(),
// Coefficients, type, help, coefficients(settings) and
//
//     template <class T>
//     PERRIN_HD static FieldForce<T> evaluate(T x, T y, T z, const Coefficients&);
//
// or, where it depends on the time t, evaluate(x, y, z, t, …), which is called with doubles: a
// phase such as omega t is large after many steps. The energy of such a field is that of the
// instant, and the total energy is not conserved.
//
// Coordinates are those of the job, along periodic axes of the image nearest to 0 (-L/2 … L/2): a
// field without the period of the box jumps half a box away, of which the job's maker is warned
// (forces/field_faces.h). With "unwrapped" they are those of the particle's whole path. In two
// dimensions there is no force along z. See forces/external.h for what external forces have in
// common, and forces/attribute_field_force.h for fields that depend on attributes of the particle.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/deposit.h"
#include "forces/external.h"
#include "forces/field_faces.h"
#include "forces/number_range.h"
#include "forces/particle_loop.h"
#include "forces/potential_checks.h"

namespace perrin {

template <class T>
struct FieldForce {
  T x, y, z, energy;
};

template <class F>
struct FieldSettings {
  std::map<std::string, typename F::Settings> types;
  bool unwrapped = false;
};

template <class D, class F>
void describe(D& d, FieldSettings<F>& s) {
  d.required("types", s.types, Any{},
             "parameters for each particle type that the field acts on, by its name");
  d.optional("unwrapped", s.unwrapped, Any{}, unwrapped_help);
}

/// A field that depends on the time.
template <class F>
concept FieldOfTime = requires(double x, const typename F::Coefficients& c) {
  F::evaluate(x, x, x, x, c);
};

/// Of a field that reads none of its particles' attributes.
struct NoAttributes {
  struct View {};
  static constexpr bool read = false;
  View view(StepContext&) { return {}; }
  View trial_view(StepContext&) { return {}; }
};

template <class F, class Attributes>
struct FieldKernel {
  ParticleView particles;
  Current<Metric> metric;
  Anchor origin;
  const std::uint32_t* mask;
  const typename F::Coefficients* coefficients;  // by type
  bool flat;                                     // two dimensions
  bool unwrapped;
  DeviceTime time;
  typename Attributes::View attributes;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = particles.position[i];
    Real3 force{};
    Real energy = 0;
    if (mask[p.type()]) {
      const Real3 r = origin.to(*metric, p, unwrapped ? particles.image[i] : Image{});
      const auto f = at(r, coefficients[p.type()], i);
      force = {Real(f.x), Real(f.y), flat ? Real(0) : Real(f.z)};
      energy = Real(f.energy);
    }
    deposit(out, particles.n, i, force, energy, Virial{}, Real(1));
  }
  PERRIN_HD auto at(const Real3& r, const typename F::Coefficients& c, std::int64_t i) const {
    if constexpr (Attributes::read) {
      const Real4 a = attributes(std::uint32_t(i));
      if constexpr (F::timed)
        return F::evaluate(double(r.x), double(r.y), double(r.z), time(), c, a);
      else
        return F::evaluate(r.x, r.y, r.z, Real(0), c, a);
    } else if constexpr (FieldOfTime<F>) {
      return F::evaluate(double(r.x), double(r.y), double(r.z), time(), c);
    } else {
      return F::evaluate(r.x, r.y, r.z, c);
    }
  }
};

/// What the settings say, type by type.
template <class F>
struct FieldTypes {
  std::vector<std::uint32_t> chosen;
  std::vector<typename F::Coefficients> coefficients;  // [type]

  /// `check(type, key, coefficients)` looks at each type that is chosen.
  template <class Check>
  FieldTypes(const FieldSettings<F>& s, Setup& setup, const Check& check)
      : coefficients(setup.configuration().types.size()) {
    if (s.types.empty()) setup.error("types", "names no particle type");
    for (const auto& [name, settings] : s.types) {
      const std::string key = "types." + name;
      chosen.push_back(std::uint32_t(setup.type_index(name, key)));
      coefficients[chosen.back()] = F::coefficients(settings);
      check(chosen.back(), key, coefficients[chosen.back()]);
    }
  }
};

template <class F, class Attributes = NoAttributes>
class FieldForceField final : public Force {
 public:
  FieldForceField(const Device& device, const FieldTypes<F>& types, bool unwrapped,
                  Attributes attributes = {})
      : Force(ForceTraits::of_field()),
        unwrapped_(unwrapped),
        mask_(device, types.coefficients.size(), types.chosen),
        coefficients_(device, types.coefficients),
        attributes_(std::move(attributes)) {
    if constexpr (Attributes::read) traits_.handled.charges = attributes_.has("charge");
  }

  void compute(StepContext& context, const ForceOutput& output) override {
    const Box& box = context.particles().box();
    const auto attributes =
        output.places ? attributes_.trial_view(context) : attributes_.view(context);
    for_each_particle(
        F::type, context, output,
        FieldKernel<F, Attributes>{context.particles().view(), context.particles().metric(),
                                   Anchor(box, {0, 0, 0}, unwrapped_), mask_.data(),
                                   coefficients_.data(), box.dimension == 2, unwrapped_,
                                   context.device_time(), attributes, output});
  }
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override {
    const bool acts = mask_.count(particles) > 0;
    return {{acts, acts, acts}, {}};
  }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    if constexpr (Attributes::read) attributes_.words.follow(changed);
  }

 private:
  bool unwrapped_;
  TypeMask mask_;
  Buffer<typename F::Coefficients> coefficients_;
  Attributes attributes_;
};

template <class F>
concept EvaluatesFields = requires(const typename F::Coefficients& coefficients) {
  { F::evaluate(Real(0), Real(0), Real(0), coefficients) } -> std::same_as<FieldForce<Real>>;
};

/// Adds the field to the force types that a job can name.
template <class F>
void register_field(Registry& registry) {
  static_assert(check_potential<F>());
  static_assert(EvaluatesFields<F> || FieldOfTime<F>,
                "a field needs: template <class T> PERRIN_HD static FieldForce<T> evaluate(T x, T "
                "y, T z, const Coefficients& c), or with T t after T z;");
  registry.add<Force, FieldSettings<F>>(
      F::type, F::help, [](const FieldSettings<F>& s, Setup& setup) -> std::unique_ptr<Force> {
        const auto check = [&](std::uint32_t, const std::string& key, const auto& c) {
          if (s.unwrapped) return;
          warn_of_faces(setup, key, FieldOfTime<F>, [&](Vec3<double> r, double t) {
            if constexpr (FieldOfTime<F>)
              return double(F::evaluate(r.x, r.y, r.z, t, c).energy);
            else
              return double(F::evaluate(Real(r.x), Real(r.y), Real(r.z), c).energy);
          });
        };
        return std::make_unique<FieldForceField<F>>(setup.device(), FieldTypes<F>(s, setup, check),
                                                    s.unwrapped);
      });
}

}  // namespace perrin
