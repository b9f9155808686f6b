// Gaussian noise by a method that the user chooses ("normals"). The integrators draw by inversion,
// one word a number, within their own kernels. All other methods draw here: a kernel of its own
// makes the numbers of a step, and the integrator reads them. Rejection loops and logarithms thus
// take no registers from the kernels that everybody runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/real.h"
#include "engine/components/step_context.h"
#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "rng/purpose.h"

namespace perrin::langevin {

enum class NormalMethod : std::uint32_t { inversion, box_muller, polar, ziggurat };

/// What the integrators draw by in their own kernels: inversion needs single precision.
constexpr NormalMethod usual_method =
    sizeof(Real) == 4 ? NormalMethod::inversion : NormalMethod::box_muller;

/// Of a setting: "default", "inversion", "box_muller", "polar" or "ziggurat".
inline NormalMethod normal_method(const std::string& name) {
  return name == "inversion"    ? NormalMethod::inversion
         : name == "box_muller" ? NormalMethod::box_muller
         : name == "polar"      ? NormalMethod::polar
         : name == "ziggurat"   ? NormalMethod::ziggurat
                                : usual_method;
}

/// Standard normals, one for each of these axes, by box_muller, polar or ziggurat (see
/// rng/distributions.h). What is left of a pair is thrown away.
struct NormalLaw {
  bool x, y, z;
  NormalMethod method;

  PERRIN_HD int axes() const { return int(x) + int(y) + int(z); }
  /// 32-bit words that one call takes at most. Rejection has no bound: a generator that counts is
  /// given room for 24 attempts at a pair (polar; each fails with probability 1 - pi/4) or for some
  /// 8 at a number (ziggurat; 0.012), which do not suffice once in 10^15 calls.
  int words() const {
    const int of_real = int(sizeof(Real) / 4), pairs = axes() == 3 ? 2 : 1;
    if (method == NormalMethod::polar) return 24 * 2 * pairs * of_real;
    if (method == NormalMethod::ziggurat) return 32 * axes() * of_real;
    return of_real == 1 ? 2 * pairs : 3 * pairs;
  }

  template <class Generator>
  PERRIN_HD Real4 draw(Generator& g) const {
    Real a, b = 0, c = 0;
    const int n = axes();
    if (method == NormalMethod::ziggurat) {
      a = g.template normal_ziggurat<Real>();
      if (n > 1) b = g.template normal_ziggurat<Real>();
      if (n > 2) c = g.template normal_ziggurat<Real>();
    } else {
      const bool polar = method == NormalMethod::polar;
      const auto first =
          polar ? g.template normal_pair_polar<Real>() : g.template normal_pair<Real>();
      a = first.first, b = first.second;
      if (n > 2)
        c = polar ? g.template normal_pair_polar<Real>().first
                  : g.template normal_pair<Real>().first;
    }
    return {x ? a : Real(0), y ? (x ? b : a) : Real(0),
            z ? (x && y   ? c
                 : x || y ? b
                          : a)
              : Real(0),
            Real(0)};
  }
};

/// A generator that makes the numbers of a step for all particles of this process.
class NormalSource {
 public:
  virtual ~NormalSource() = default;
  /// Device work: numbers[id] for the step that is launched next.
  virtual void draw(StepContext& context, Real4* numbers) = 0;
  virtual void check(std::uint64_t steps) const = 0;
  virtual void state(Archive& archive) = 0;
  /// The states of generators that each belong to a particle, as ParticleStream has them.
  virtual Buffer<std::uint32_t>& words() = 0;
};

/// In the place of a stream (rng/stream.h) of an integrator.
class DrawnNormals {
 public:
  struct Local {
    Real3 numbers;
  };
  struct View {
    const Real4* numbers;  // [id]
    PERRIN_HD Local local(std::uint64_t, std::uint32_t id) const { return {numbers[id].xyz()}; }
    PERRIN_HD void store(std::uint32_t, const Local&) const {}
  };

  /// `rng`, `scheme`: of with_generator(); `seed`: of the stage.
  DrawnNormals(const StepContext& context, const std::string& rng, const std::string& scheme,
               const NormalLaw& law, Purpose purpose, std::uint64_t seed);
  View view() const { return {numbers_.data()}; }
  void begin_step(StepContext& context) { source_->draw(context, numbers_.data()); }
  void check(std::uint64_t steps) const { source_->check(steps); }
  void state(Archive& archive) { source_->state(archive); }
  Buffer<std::uint32_t>& words() { return source_->words(); }

 private:
  std::unique_ptr<NormalSource> source_;
  Buffer<Real4> numbers_;  // by id; read in the step in which they are made, and never again
};

}  // namespace perrin::langevin
