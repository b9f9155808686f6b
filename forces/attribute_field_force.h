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
struct FieldAttributes {
  struct View {
    AttributeView<F::attributes.size()> words;
    PERRIN_HD Real4 operator()(std::uint32_t i) const { return to_real4(words(i)); }
  };
  static constexpr bool read = true;
  AttributeWords words;
  View view(StepContext& s) { return {words.template view<F::attributes.size()>(s)}; }
  View trial_view(StepContext& s) { return {words.template trial_view<F::attributes.size()>(s)}; }
  static bool has(std::string_view name) { return std::ranges::count(F::attributes, name) > 0; }
};

}  // namespace detail

/// Adds the field to the force types that a job can name.
template <class F>
void register_attribute_field(Registry& registry) {
  static_assert(F::attributes.size() <= AttributeWords::most);
  registry.add<Force, FieldSettings<F>>(
      F::type, F::help, [](const FieldSettings<F>& s, Setup& setup) -> std::unique_ptr<Force> {
        const Configuration& c = setup.configuration();
        AttributeWords words({F::attributes.begin(), F::attributes.end()}, "energy", setup);
        // Of one particle of each type, for all.
        const auto check = [&](std::uint32_t type, const std::string& key, const auto& of_type) {
          const auto one = std::ranges::find(c.type, type);
          if (s.unwrapped || one == c.type.end()) return;
          const Real4 a = words.word(std::size_t(one - c.type.begin()));
          warn_of_faces(setup, key, F::timed, [&](Vec3<double> r, double t) {
            return double(F::evaluate(r.x, r.y, r.z, t, of_type, a).energy);
          });
        };
        const FieldTypes<F> types(s, setup, check);
        using Attributes = detail::FieldAttributes<F>;
        return std::make_unique<FieldForceField<F, Attributes>>(setup.device(), types, s.unwrapped,
                                                                Attributes{std::move(words)});
      });
}

}  // namespace perrin
