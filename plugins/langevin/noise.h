// Which generator, spread over the particles how, and what is drawn from it.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "engine/base/error.h"
#include "normals.h"
#include "rng/streams.h"
#include "schemes.h"

namespace perrin::langevin {

/// One generator per call, with the keys of Phillips, Anderson, Glotzer (2011); see rng/keyed.h for
/// what is weak about them. The seed is cut to 32 bits.
template <class Generator>
class PhillipsStream {
 public:
  struct View {
    static constexpr bool by_key = true;
    PhillipsKey key;
    PERRIN_HD Generator local(std::uint64_t step, std::uint32_t id) const {
      return phillips_single<Generator>(key, step, id);
    }
    PERRIN_HD void store(std::uint32_t, const Generator&) const {}
  };

  PhillipsStream(const Device&, Purpose, std::uint64_t seed, std::int64_t particles, int draws)
      : view_{PhillipsKey(std::uint32_t(seed))} {
    check_stream_size("keyed", particles, draws);
  }
  View view() const { return view_; }
  void begin_step(const std::uint64_t*) {}
  void check(std::uint64_t) const {}
  void state(Archive&) {}
  std::int64_t bytes() const { return 0; }

 private:
  View view_;
};

/// True where a step's numbers follow from its number.
template <class Stream>
constexpr bool follows_step = false;
template <class Generator>
constexpr bool follows_step<KeyedStream<Generator>> = true;
template <class Generator>
constexpr bool follows_step<PhillipsStream<Generator>> = true;

/// The same of its view.
template <class View>
constexpr bool is_keyed = requires {
  requires View::by_key;
};

/// Steps of a stage after which the host looks how much of the stream's period is left; 0: no need.
template <class Stream>
constexpr std::int64_t check_stride = follows_step<Stream> ? 0 : 8192;

/// At temperature 0: draws nothing.
class NoNoise {
 public:
  struct Local {};
  struct View {
    PERRIN_HD Local local(std::uint64_t, std::uint32_t) const { return {}; }
    PERRIN_HD void store(std::uint32_t, const Local&) const {}
  };
  NoNoise(const Device&, Purpose, std::uint64_t, std::int64_t, int) {}
  View view() const { return {}; }
  void begin_step(const std::uint64_t*) {}
  void check(std::uint64_t) const {}
  void state(Archive&) {}
};
template <>
inline constexpr std::int64_t check_stride<NoNoise> = 0;

/// Calls f(std::type_identity<Stream>{}) with the class of a generator and one of its schemes.
template <class F>
auto with_generator(const std::string& rng, const std::string& scheme, F&& f) {
  if (scheme == "phillips") {
    if (rng == "saru") return f(std::type_identity<PhillipsStream<Saru>>{});
    if (rng == "tea") return f(std::type_identity<PhillipsStream<Tea>>{});
    PERRIN_ASSERT(rng == "sarutea");
    return f(std::type_identity<PhillipsStream<SaruTea>>{});
  }
  if (rng == "lagged_fibonacci" && scheme == "one_for_all")
    return f(std::type_identity<FusedLaggedFibonacciStream>{});
  return with_stream(rng == "saru" && scheme == "per_particle" ? "saru_state" : rng, f);
}

/// The same; NoNoise for the scheme "none", DrawnNormals for "drawn".
template <class F>
auto with_noise(const std::string& rng, const std::string& scheme, F&& f) {
  if (scheme == "none") return f(std::type_identity<NoNoise>{});
  if (scheme == "drawn") return f(std::type_identity<DrawnNormals>{});
  return with_generator(rng, scheme, f);
}

/// Numbers of mean 0 and variance 1, one for each axis that particles move along.
struct NoiseLaw {
  bool x, y, z;
  bool uniform;  // else Gaussian

  int axes() const { return int(x) + int(y) + int(z); }
  /// 32-bit words that one call takes.
  int words() const {
    if (sizeof(Real) == 4) return axes();
    return uniform ? 2 * axes() : axes() == 3 ? 6 : 3;
  }

  /// By the generator of a particle in a step.
  template <class Noise>
  PERRIN_HD Real4 draw_from(const Noise& noise, std::uint64_t step, std::uint32_t id) const {
    auto g = noise.local(step, id);
    const Real3 r = draw(g);
    noise.store(id, g);
    return {r.x, r.y, r.z, Real(0)};
  }
  PERRIN_HD Real3 draw(NoNoise::Local&) const { return {}; }
  PERRIN_HD Real3 draw(DrawnNormals::Local& drawn) const { return drawn.numbers; }
  template <class Generator>
  PERRIN_HD Real3 draw(Generator& g) const {
    Real3 r{};
    if (uniform) {
      const Real width = Real(1.7320508075688772);  // (-1, 1) has variance 1/3
      if (x) r.x = width * g.template symmetric<Real>();
      if (y) r.y = width * g.template symmetric<Real>();
      if (z) r.z = width * g.template symmetric<Real>();
      return r;
    }
    if constexpr (sizeof(Real) == 4) {  // by inversion; see rng/distributions.h
      if (x) r.x = g.normal_quantile();
      if (y) r.y = g.normal_quantile();
      if (z) r.z = g.normal_quantile();
      return r;
    }
    if (x && y && z) return g.template normal3<Real>();
    const auto pair = g.template normal_pair<Real>();
    if (x) r.x = pair.first;
    if (y) r.y = x ? pair.second : pair.first;
    if (z) r.z = x || y ? pair.second : pair.first;
    return r;
  }
};

/// Three Gaussian numbers, the usual case, without a branch: on the CPU vectors are drawn.
struct FullGaussian {
  FullGaussian() = default;
  explicit FullGaussian(const NoiseLaw&) {}
  static bool is(const NoiseLaw& law) { return law.axes() == 3 && !law.uniform; }

  template <class Noise>
  PERRIN_HD Real4 draw_from(const Noise& noise, std::uint64_t step, std::uint32_t id) const {
    return NoiseLaw{true, true, true, false}.draw_from(noise, step, id);
  }
};

}  // namespace perrin::langevin
