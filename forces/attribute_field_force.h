// An external field that depends on attributes of the particle (charge E z), as a formula gives it.
//
// F is a struct like a field (forces/field_force.h) with the attributes that it reads, at most
// four, and
//
//     static constexpr std::array<const char*, N> attributes{"charge", …};
//     template <class T>
//     PERRIN_HD static FieldForce<T> evaluate(T x, T y, T z, T t, const Coefficients&,
//                                             const Real4& a);
//
// which is called with doubles where `timed` is true, and else with t 0.
#pragma once

#include <algorithm>
#include <string_view>

#include "forces/attribute_words.h"
#include "forces/field_force.h"

namespace perrin {
namespace detail {

template <class F>
struct AttributeFieldKernel {
  ParticleView particles;
  Current<Metric> metric;
  Anchor origin;
  const std::uint32_t* mask;
  const typename F::Coefficients* coefficients;  // by type
  bool flat;                                     // two dimensions
  bool unwrapped;
  DeviceTime time;
  AttributeView<F::attributes.size()> attributes;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = particles.position[i];
    Real3 force{};
    Real energy = 0;
    if (mask[p.type()]) {
      const Real3 r = origin.to(*metric, p, unwrapped ? particles.image[i] : Image{});
      const auto f = at(r, coefficients[p.type()], to_real4(attributes(std::uint32_t(i))));
      force = {Real(f.x), Real(f.y), flat ? Real(0) : Real(f.z)};
      energy = Real(f.energy);
    }
    deposit(out, particles.n, i, force, energy, Virial{}, Real(1));
  }
  PERRIN_HD auto at(const Real3& r, const typename F::Coefficients& c, const Real4& a) const {
    if constexpr (F::timed)
      return F::evaluate(double(r.x), double(r.y), double(r.z), time(), c, a);
    else
      return F::evaluate(r.x, r.y, r.z, Real(0), c, a);
  }
};

template <class F>
class AttributeField final : public Force {
 public:
  AttributeField(const Device& device, const std::vector<typename F::Coefficients>& coefficients,
                 const std::vector<std::uint32_t>& chosen, bool unwrapped, AttributeWords words)
      : Force(ForceTraits::of_field()),
        unwrapped_(unwrapped),
        mask_(device, coefficients.size(), chosen),
        coefficients_(device, coefficients),
        words_(std::move(words)) {
    traits_.handled.charges = std::ranges::count(F::attributes, std::string_view("charge")) > 0;
  }

  void compute(StepContext& context, const ForceOutput& output) override {
    const Box& box = context.particles.box;
    const auto attributes = words_.view<F::attributes.size()>(context);
    for_each(context.device(), F::type, context.particles.share(),
             AttributeFieldKernel<F>{context.particles.view(), context.particles.metric(),
                                     Anchor(box, {0, 0, 0}, unwrapped_), mask_.data(),
                                     coefficients_.data(), box.dimension == 2, unwrapped_,
                                     context.device_time(), attributes, output});
  }
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override {
    const bool acts = mask_.count(particles) > 0;
    return {{acts, acts, acts}, {}};
  }

 private:
  bool unwrapped_;
  TypeMask mask_;
  Buffer<typename F::Coefficients> coefficients_;
  AttributeWords words_;
};

}  // namespace detail

/// Adds the field to the force types that a job can name.
template <class F>
void register_attribute_field(Registry& registry) {
  static_assert(F::attributes.size() <= AttributeWords::most);
  registry.add<Force, FieldSettings<F>>(
      F::type, F::help, [](const FieldSettings<F>& s, Setup& setup) -> std::unique_ptr<Force> {
        if (s.types.empty()) setup.error("types", "names no particle type");
        const Configuration& c = setup.configuration();
        AttributeWords words({F::attributes.begin(), F::attributes.end()}, "energy", setup);
        std::vector<std::uint32_t> chosen;
        std::vector<typename F::Coefficients> coefficients(c.types.size());
        for (const auto& [name, settings] : s.types) {
          const std::uint32_t type = setup.type_index(name, "types." + name);
          chosen.push_back(type);
          coefficients[type] = F::coefficients(settings);
          // Of one of its particles, for all.
          const auto one = std::ranges::find(c.type, type);
          if (s.unwrapped || one == c.type.end()) continue;
          const auto& v = words.values()[std::size_t(one - c.type.begin())];
          const Real4 a{Real(v[0]), Real(v[1]), Real(v[2]), Real(v[3])};
          warn_of_faces(setup, "types." + name, F::timed, [&](Vec3<double> r, double t) {
            return double(F::evaluate(r.x, r.y, r.z, t, coefficients[type], a).energy);
          });
        }
        return std::make_unique<detail::AttributeField<F>>(setup.device(), coefficients, chosen,
                                                           s.unwrapped, std::move(words));
      });
}

}  // namespace perrin
