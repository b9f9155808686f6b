// perrin-bench dpd-noise, bd-noise: the micro-benchmarks of C. L. Phillips, J. A. Anderson, S. C.
// Glotzer, J. Comput. Phys. 230, 7191 (2011).
//
// dpd-noise: forces of n particles with 50 neighbours each, every pair with a random number:
// conservative, friction and noise, from positions and velocities. Two ways. Keyed: both particles
// of a pair make the number themselves; a thread reads all 50 neighbours and writes one force: 56 +
// 36·50 bytes. Stateful: one generator per thread; both particles can only have the number if one
// of them draws it and adds the force to the other, atomically, one addition per component: 72 +
// 60·25 bytes with Saru's 8 bytes of state (each read and written). Beside them, to tell what the
// generator does and what the atomics do: the keyed number with half the pairs and atomics, and the
// stateful way with one atomic addition of four floats where the GPU has it. Neighbours near in
// memory, or anywhere. Sums of atomic additions do not repeat themselves; forces are not set to
// zero between steps, which the stateful way would need and is not charged for.
//
// bd-noise: the second half step of velocity Verlet with drag and uniform noise (their equation 1):
// reads velocity, force and id, draws three numbers, writes the velocity: 52 bytes, and the state.
#include <algorithm>
#include <random>

#include "engine/device/parallel.h"
#include "plugins/dpd/noise.h"
#include "tests/benchmarks/bench.h"
#include "tests/benchmarks/particle_states.h"
#include "tests/benchmarks/xorwow.h"

namespace perrin::bench {
namespace {

constexpr int neighbours = 50;

/// Symmetric lists: i has i ± the offsets of its own residue; entry k of particle i at [k·n + i].
struct Lists {
  std::vector<std::uint32_t> full, half;
};

/// Rings: particle i has i ± d for 25 distances d. Near: 1 … 25; random: the same after the
/// particles' places in memory have been shuffled.
Lists make_lists(std::int64_t n, bool near) {
  std::vector<std::uint32_t> place(std::size_t(n), 0);
  for (std::size_t k = 0; k < place.size(); ++k) place[k] = std::uint32_t(k);
  if (!near) std::shuffle(place.begin(), place.end(), std::mt19937_64(1));
  Lists lists;
  lists.full.resize(std::size_t(n * neighbours));
  lists.half.resize(std::size_t(n * neighbours / 2));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t d = 1; d <= neighbours / 2; ++d) {
      const std::size_t me = place[std::size_t(i)], k = std::size_t(d - 1);
      const std::uint32_t up = place[std::size_t((i + d) % n)];
      const std::uint32_t down = place[std::size_t((i + n - d) % n)];
      lists.half[k * std::size_t(n) + me] = up;
      lists.full[2 * k * std::size_t(n) + me] = up;
      lists.full[(2 * k + 1) * std::size_t(n) + me] = down;
    }
  return lists;
}

/// Particles within 0.5 of each other, so that every pair is in range.
std::vector<Real4> random_vectors(std::int64_t n, double width, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(0, width);
  std::vector<Real4> all;
  for (std::int64_t i = 0; i < n; ++i)
    all.push_back({Real(place(random)), Real(place(random)), Real(place(random)), Real(0)});
  return all;
}

struct Fluid {
  const Real4 *position, *velocity;
  const std::uint32_t *id, *count;
  std::int64_t n;

  /// On the particle at x with velocity v, by neighbour j; theta is the pair's number.
  PERRIN_HD Real3 force(const Real4& x, const Real4& v, std::uint32_t j, Real theta) const {
    const Real4 xj = position[j], vj = velocity[j];
    const Real3 d = x.xyz() - xj.xyz(), u = v.xyz() - vj.xyz();
    const Real inverse = Real(1) / std::sqrt(dot(d, d) + Real(1e-12));
    const Real weight = Real(1) - dot(d, d) * inverse;
    return weight * inverse *
           (Real(25) - Real(4.5) * weight * inverse * dot(d, u) + Real(15) * theta) * d;
  }
};

constexpr Real width = Real(1.7320508075688772);  // (-1, 1) has variance 1/3

template <class G>
PERRIN_HD Real pair_number(const RunKey& key, std::uint64_t step, std::uint32_t a,
                           std::uint32_t b) {
  return dpd::UniformNoise<dpd::DefaultKeys<G>>{dpd::DefaultKeys<G>(key)}(step, a, b);
}

/// Each thread all of its pairs.
template <class G>
struct Keyed {
  Fluid fluid;
  const std::uint32_t* list;
  Real4* total;
  RunKey key;
  std::uint64_t step;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 x = fluid.position[i], v = fluid.velocity[i];
    const std::uint32_t id = fluid.id[i], count = fluid.count[i];
    Real3 sum{};
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t j = list[k * fluid.n + i];
      sum += fluid.force(x, v, j, pair_number<G>(key, step, id, j));
    }
    total[i] = {sum.x, sum.y, sum.z, Real(0)};
  }
};

PERRIN_HD void atomic_add(Real* place, Real value) {
#ifdef __CUDA_ARCH__
  atomicAdd(place, value);
#else
  Real seen = *place, wanted = seen + value;
  while (
      !__atomic_compare_exchange(place, &seen, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    wanted = seen + value;
#endif
}
/// One atomic addition per component.
struct ByComponent {
  PERRIN_HD static void add(Real4* place, const Real3& f) {
    atomic_add(&place->x, f.x);
    atomic_add(&place->y, f.y);
    atomic_add(&place->z, f.z);
  }
};
/// All components by one, where the device can.
struct AtOnce {
  PERRIN_HD static void add(Real4* place, const Real3& f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(PERRIN_DOUBLE)
    atomicAdd(reinterpret_cast<float4*>(place), float4{f.x, f.y, f.z, 0.0f});
#else
    ByComponent::add(place, f);
#endif
  }
};

/// Each thread half of its pairs, with numbers of a generator of its own.
template <class G, class Add>
struct Stateful {
  Fluid fluid;
  const std::uint32_t* list;
  Real4* total;
  typename ParticleStates<G>::View states;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 x = fluid.position[i], v = fluid.velocity[i];
    const std::uint32_t id = fluid.id[i], count = fluid.count[i] / 2;
    auto g = states.load(id);
    Real3 sum{};
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t j = list[k * fluid.n + i];
      const Real3 f = fluid.force(x, v, j, width * g.template symmetric<Real>());
      sum += f;
      Add::add(total + j, -f);
    }
    Add::add(total + i, sum);
    states.save(id, g);
  }
};

/// Half of the pairs with keyed numbers.
template <class G>
struct KeyedHalf {
  Fluid fluid;
  const std::uint32_t* list;
  Real4* total;
  RunKey key;
  std::uint64_t step;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 x = fluid.position[i], v = fluid.velocity[i];
    const std::uint32_t id = fluid.id[i], count = fluid.count[i] / 2;
    Real3 sum{};
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint32_t j = list[k * fluid.n + i];
      const Real3 f = fluid.force(x, v, j, pair_number<G>(key, step, id, j));
      sum += f;
      ByComponent::add(total + j, -f);
    }
    ByComponent::add(total + i, sum);
  }
};

/// Seconds of one `work(step)`, from steps recorded as a simulation's are.
double step_time(const Options& options, const std::function<void(std::uint64_t)>& work) {
  constexpr int steps = 10;
  const Recording recording(options.device, [&] {
    for (int k = 0; k < steps; ++k) work(std::uint64_t(k));
  });
  return median_time(options.device, options.seconds / 8, [&] { recording.replay(); }) / steps;
}

class DpdLines {
 public:
  DpdLines(const Options& options, std::int64_t n, bool near)
      : options_(options), n_(n), near_(near) {
    const Device& device = options.device;
    const Lists lists = make_lists(n, near);
    full_ = {device, std::span<const std::uint32_t>(lists.full)};
    half_ = {device, std::span<const std::uint32_t>(lists.half)};
    position_ = {device, std::span<const Real4>(random_vectors(n, 0.5, 2))};
    velocity_ = {device, std::span<const Real4>(random_vectors(n, 1, 3))};
    std::vector<std::uint32_t> ids(std::size_t(n), 0);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = std::uint32_t(i);
    id_ = {device, std::span<const std::uint32_t>(ids)};
    ids.assign(ids.size(), neighbours);
    count_ = {device, std::span<const std::uint32_t>(ids)};
    total_ = Buffer<Real4>(device, n);
    fluid_ = {position_.data(), velocity_.data(), id_.data(), count_.data(), n};
  }

  template <class G>
  void keyed(const char* generator) {
    const RunKey key(Purpose::benchmark, 1);
    line(generator, "keyed", 56 + 36 * neighbours, [&](std::uint64_t step) {
      loop(Keyed<G>{fluid_, full_.data(), total_.data(), key, step});
    });
  }
  template <class G>
  void keyed_half(const char* generator) {
    const RunKey key(Purpose::benchmark, 1);
    line(generator, "keyed, atomics", 56 + 60 * neighbours / 2, [&](std::uint64_t step) {
      loop(KeyedHalf<G>{fluid_, half_.data(), total_.data(), key, step});
    });
  }
  template <class G, class Add = ByComponent>
  void stateful(const char* generator, const char* way = "stateful") {
    ParticleStates<G> states(options_.device, n_);
    line(generator, way, 56 + 8 * PerParticle<G>::words + 60 * neighbours / 2, [&](std::uint64_t) {
      loop(Stateful<G, Add>{fluid_, half_.data(), total_.data(), states.view()});
    });
  }

 private:
  template <class F>
  void loop(const F& f) {
    for_each(options_.device, "dpd noise", n_, f);
  }
  void line(const char* generator, const char* way, int bytes,
            const std::function<void(std::uint64_t)>& work) {
    const double time = step_time(options_, work);
    if (baseline_ == 0) baseline_ = time;
    print_line({{"subject", "dpd-noise"},
                {"size", n_},
                {"device", options_.device.description()},
                {"indices", near_ ? "near" : "random"},
                {"generator", generator},
                {"way", way},
                {"bytes_per_particle", bytes},
                {"time_s", time},
                {"rate", double(n_) * neighbours / 2 / time},
                {"rate_unit", "pairs/s"},
                {"baseline", "saru, stateful"},
                {"ratio", baseline_ / time}});
  }

  const Options& options_;
  std::int64_t n_;
  bool near_;
  double baseline_ = 0;
  Buffer<std::uint32_t> full_, half_, id_, count_;
  Buffer<Real4> position_, velocity_, total_;
  Fluid fluid_;
};

/// v' = v + dt/2m (F - gamma v + sqrt(6 kT gamma / dt) u), u from (-1, 1) along each axis.
struct BrownianKick {
  Real4* velocity;
  const Real4* force;
  const std::uint32_t* id;
  template <class G>
  PERRIN_HD void kick(std::int64_t i, G& g) const {
    const Real4 v = velocity[i], f = force[i];
    const Real half = Real(0.0025), gamma = Real(1), strength = Real(34.641016);
    const Real x = g.template symmetric<Real>(), y = g.template symmetric<Real>(),
               z = g.template symmetric<Real>();
    velocity[i] = {v.x + half * (f.x - gamma * v.x + strength * x),
                   v.y + half * (f.y - gamma * v.y + strength * y),
                   v.z + half * (f.z - gamma * v.z + strength * z), v.w};
  }
};
template <class Make>
struct KeyedKick {
  BrownianKick move;
  Make make;
  std::uint64_t step;
  PERRIN_HD void operator()(std::int64_t i) const {
    auto g = make(step, move.id[i]);
    move.kick(i, g);
  }
};
template <class G>
struct StatefulKick {
  BrownianKick move;
  typename ParticleStates<G>::View states;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = move.id[i];
    auto g = states.load(id);
    move.kick(i, g);
    states.save(id, g);
  }
};
/// What is left without a generator: every number is 0.
struct Silence {
  template <class T>
  PERRIN_HD T symmetric() {
    return T(0);
  }
};
struct MakeSilence {
  PERRIN_HD Silence operator()(std::uint64_t, std::uint32_t) const { return {}; }
};
template <class G>
struct MakePhillips {
  PhillipsKey key;
  PERRIN_HD G operator()(std::uint64_t step, std::uint32_t id) const {
    return phillips_single<G>(key, step, id);
  }
};

class BdLines {
 public:
  BdLines(const Options& options, std::int64_t n) : options_(options), n_(n) {
    velocity_ = {options.device, std::span<const Real4>(random_vectors(n, 1, 3))};
    force_ = {options.device, std::span<const Real4>(random_vectors(n, 1, 4))};
    std::vector<std::uint32_t> ids(std::size_t(n), 0);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = std::uint32_t(i);
    id_ = {options.device, std::span<const std::uint32_t>(ids)};
    move_ = {velocity_.data(), force_.data(), id_.data()};
  }
  template <class G>
  void stateful(const char* generator) {
    ParticleStates<G> states(options_.device, n_);
    line(generator, "stateful", 52 + 8 * PerParticle<G>::words, [&](std::uint64_t) {
      loop(StatefulKick<G>{move_, states.view()});
    });
  }
  template <class Make>
  void keyed(const char* generator, const char* way, const Make& make) {
    line(generator, way, 52, [&](std::uint64_t step) { loop(KeyedKick<Make>{move_, make, step}); });
  }

 private:
  template <class F>
  void loop(const F& f) {
    for_each(options_.device, "bd noise", n_, f);
  }
  void line(const char* generator, const char* way, int bytes,
            const std::function<void(std::uint64_t)>& work) {
    const double time = step_time(options_, work);
    if (baseline_ == 0) baseline_ = time;
    print_line({{"subject", "bd-noise"},
                {"size", n_},
                {"device", options_.device.description()},
                {"generator", generator},
                {"way", way},
                {"bytes_per_particle", bytes},
                {"time_s", time},
                {"rate", double(n_) / time},
                {"rate_unit", "particles/s"},
                {"baseline", "saru, stateful"},
                {"ratio", baseline_ / time}});
  }
  const Options& options_;
  std::int64_t n_;
  double baseline_ = 0;
  Buffer<Real4> velocity_, force_;
  Buffer<std::uint32_t> id_;
  BrownianKick move_{};
};

}  // namespace

int dpd_noise(const Options& options) {
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {10000, 30000, 100000};
  for (const long n : sizes)
    for (const bool near : {true, false}) {
      DpdLines lines(options, n, near);
      lines.stateful<Saru>("saru");
      lines.stateful<Saru, AtOnce>("saru", "stateful, one atomic of four");
      lines.stateful<Xorwow>("xorwow");
      lines.stateful<HybridTaus>("hybrid_taus");
      lines.keyed_half<Saru>("saru");
      lines.keyed<Saru>("saru");
      lines.keyed<Tea>("tea");
      lines.keyed<SaruTea>("sarutea");
      lines.keyed<Philox>("philox");
    }
  return 0;
}

int bd_noise(const Options& options) {
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {10000, 100000, 1000000};
  for (const long n : sizes) {
    BdLines lines(options, n);
    lines.stateful<Saru>("saru");
    lines.stateful<Xorwow>("xorwow");
    lines.stateful<HybridTaus>("hybrid_taus");
    const PhillipsKey key(1);
    lines.keyed("saru", "keyed", MakePhillips<Saru>{key});
    lines.keyed("tea", "keyed", MakePhillips<Tea>{key});
    lines.keyed("sarutea", "keyed", MakePhillips<SaruTea>{key});
    lines.keyed("none", "no noise", MakeSilence{});
  }
  return 0;
}

}  // namespace perrin::bench
