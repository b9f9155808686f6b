// Forces on angles: the kernel around any angle potential, and its registration. For files compiled
// as CUDA.
//
// An angle potential is a struct with Settings (and describe()), Coefficients, type, help,
// coefficients(settings) and
//
//     template <class T>
//     PERRIN_HD static AngleSlope<T> evaluate(T cosine, T sine, const Coefficients&);
//
// of the angle theta between the two bonds at the vertex, 0 ≤ theta ≤ pi, stretched is pi. One that
// reads attributes, as formulas do, has `attributes` and evaluate(cosine, sine, coefficients, a, b,
// c) with a Real4 of each particle.
#pragma once

#include "engine/system/nearest_vector.h"
#include "forces/bonded_force.h"
#include "forces/deposit.h"
#include "forces/device_math.h"
#include "forces/pair_potential.h"

namespace perrin {

/// dE/d(cos theta), which unlike dE/d(theta) needs no division where the angle is stretched, and E.
template <class T>
struct AngleSlope {
  T slope, energy;
};

/// Of the energy of an angle, each of its particles has this part.
constexpr Real share_of_angle = Real(1) / Real(3);

/// The force on particle i alone, from the angles it takes part in: each angle is computed three
/// times, nothing is added atomically. Energy and virial are shared equally.
template <class P>
struct AngleKernel {
  ParticleView particles;
  Current<Metric> metric;
  BondVector vector;
  BondedView<AngleEntry> table;
  const typename P::Coefficients* coefficients;  // by angle type
  ForceOutput out;
  const Real4* attributes = nullptr;  // by id; of a potential that reads them

  PERRIN_HD Position at(std::uint32_t id) const { return particles.position[particles.index[id]]; }

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = particles.id[i];
    const std::int64_t begin = table.offset[id], end = table.offset[id + 1];
    if (out.add && begin == end) return;
    Real3 force{};
    Real energy = 0;
    Virial virial;
    for (std::int64_t k = begin; k < end; ++k) {
      const AngleEntry angle = table.entries[k];
      const Position vertex = at(angle.b);
      const Real3 u = vector(*metric, at(angle.a), vertex),
                  v = vector(*metric, at(angle.c), vertex);
      const Real iu = inverse_sqrt(dot(u, u)), iv = inverse_sqrt(dot(v, v));
      const Real3 eu = iu * u, ev = iv * v;
      const Real3 normal = cross(eu, ev);
      const Real cosine = dot(eu, ev), sine = std::sqrt(dot(normal, normal));
      AngleSlope<Real> f;
      if constexpr (ReadsAttributes<P>)
        f = P::evaluate(cosine, sine, coefficients[angle.type], attributes[angle.a],
                        attributes[angle.b], attributes[angle.c]);
      else
        f = P::evaluate(cosine, sine, coefficients[angle.type]);
      const Real3 fa = (-f.slope * iu) * (ev - cosine * eu);
      const Real3 fc = (-f.slope * iv) * (eu - cosine * ev);
      force += id == angle.a ? fa : id == angle.c ? fc : -(fa + fc);
      energy += f.energy;
      virial.add(u, fa);
      virial.add(v, fc);
    }
    deposit(out, particles.n, i, force, energy, virial, share_of_angle);
  }
};

struct Angles {
  static constexpr const char *what = "angle", *key = "angles",
                              *help = "coefficients of each angle type, by its name",
                              *skip_help = "angle types excluded from this force";
  static const std::vector<std::string>& types(const Topology& t) { return t.angle_types; }
  static const std::vector<Topology::Angle>& members(const Topology& t) { return t.angles; }
  static constexpr Real share = share_of_angle;
  static std::vector<bool>& handled(Handled& h) { return h.angle_types; }
  static BondedTable<AngleEntry> table(const Device& device, std::size_t n, const Topology& t,
                                       const std::vector<bool>& used) {
    return angle_table(device, n, t, used);
  }
  /// Reports an energy that changes when the two ends of an angle are exchanged.
  template <class P>
  static void check_exchange(const AttributeWords& words, const Topology& topology,
                             const std::map<std::string, typename P::Settings>& settings,
                             Setup& setup) {
    for (const Topology::Angle& t : topology.angles) {
      const auto of_type = settings.find(topology.angle_types[t.type]);
      if (of_type == settings.end()) continue;
      const auto c = P::coefficients(of_type->second);
      const Real4 a = words.word(t.a), b = words.word(t.b), d = words.word(t.c);
      const double one = P::evaluate(-0.6, 0.8, c, a, b, d).energy;
      const double other = P::evaluate(-0.6, 0.8, c, d, b, a).energy;
      if (std::abs(one - other) <= 1e-6 * (std::abs(one) + std::abs(other))) continue;
      return setup.error(
          "energy", fmt::format("must not change when particles 1 and 3 are exchanged, got {:.7g} "
                                "and {:.7g} for the angle of particles {}, {} and {}",
                                one, other, t.a, t.b, t.c));
    }
  }
  template <class P>
  static AngleKernel<P> kernel(StepContext& s, BondedView<AngleEntry> table,
                               const typename P::Coefficients* coefficients,
                               const ForceOutput& output) {
    return {s.particles().view(),
            s.particles().metric(),
            BondVector(s.particles().box()),
            table,
            coefficients,
            output};
  }
};

template <class P>
using AngleForce = BondedForce<P, Angles>;

template <class P>
concept EvaluatesAngles = requires(const typename P::Coefficients& coefficients) {
  { P::evaluate(Real(1), Real(0), coefficients) } -> std::same_as<AngleSlope<Real>>;
};

/// Adds the angle potential to the force types that a job can name.
template <class P>
void register_angle(Registry& registry) {
  static_assert(check_potential<P>());
  static_assert(ReadsAttributes<P> || EvaluatesAngles<P>,
                "an angle potential needs: template <class T> PERRIN_HD static AngleSlope<T> "
                "evaluate(T cosine, T sine, const Coefficients& c);");
  register_bonded<P, Angles>(registry);
}

}  // namespace perrin
