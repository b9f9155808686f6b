// The three ways to spread a generator over the particles, on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/device/parallel.h"
#include "rng/streams.h"
#include "tests/benchmarks/lagged_jump.h"
#include "tests/benchmarks/state_words.h"
#include "tests/devices.h"

namespace perrin {
namespace {

constexpr int draws = 6;

// Particle ids are visited backwards, so that the place in the loop is not the id.
template <class View>
struct Draw {
  View view;
  const std::uint64_t* step;
  std::uint32_t* out;
  std::int64_t n;
  int taken;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = std::uint32_t(n - 1 - i);
    auto g = view.local(*step, id);
    for (int k = 0; k < taken; ++k) out[std::int64_t(id) * draws + k] = g.next();
    view.store(id, g);
  }
};

template <class Stream>
struct Rig {
  Device device;
  Stream stream;
  std::int64_t n;
  Buffer<std::uint64_t> step;
  Buffer<std::uint32_t> out;

  Rig(const Device& d, std::int64_t particles, std::uint64_t seed = 11)
      : device(d),
        stream(d, Purpose::test, seed, particles, draws),
        n(particles),
        step(d, 1),
        out(d, particles * draws) {}
  std::vector<std::uint32_t> take(std::uint64_t at, int taken = draws, bool begin = true) {
    step.assign(std::span<const std::uint64_t>(&at, 1));
    if (begin) stream.begin_step(step.data());
    using View = decltype(stream.view());
    for_each(device, "draw", n, Draw<View>{stream.view(), step.data(), out.data(), n, taken});
    return out.to_host();
  }
};

class RngStream : public DeviceTest {};

TEST_P(RngStream, IntegersEqualThoseOfOneCpuThread) {
  for (const std::string& name : stream_names())
    with_stream(name, [&](auto type) {
      using Stream = typename decltype(type)::type;
      Rig<Stream> here(device(), 5000), reference(Device::cpu(1), 5000);
      for (std::uint64_t step : {0u, 1u, 2u})
        EXPECT_EQ(here.take(step), reference.take(step)) << name;
    });
}

TEST_P(RngStream, IdsStepsAndSeedsDiffer) {
  for (const std::string& name : stream_names())
    with_stream(name, [&](auto type) {
      using Stream = typename decltype(type)::type;
      Rig<Stream> one(device(), 1000, 11), other(device(), 1000, 12);
      std::vector<std::uint32_t> all = one.take(0);
      for (const auto& more : {one.take(1), other.take(0)})
        all.insert(all.end(), more.begin(), more.end());
      std::sort(all.begin(), all.end());
      const auto repeats = all.end() - std::unique(all.begin(), all.end());
      // 18000 words of 32 bits (31 for two of them): 0.04 (0.08) repeats expected.
      EXPECT_LE(repeats, 3) << name;
    });
}

TEST_P(RngStream, ResumesWhereItWasSaved) {
  for (const std::string& name : stream_names())
    with_stream(name, [&](auto type) {
      using Stream = typename decltype(type)::type;
      Rig<Stream> run(device(), 777);
      run.take(0);
      run.take(1);
      Archive saved = Archive::saving();
      run.stream.state(saved);
      const auto expected = run.take(2);

      Rig<Stream> resumed(device(), 777);
      Archive restored = Archive::restoring(saved.records());
      resumed.stream.state(restored);
      EXPECT_EQ(resumed.take(2), expected) << name;
    });
}

// The parallel stream against the sequence made one by one, over many turns of the ring.
TEST_P(RngStream, LaggedFibonacciIsTheSequence) {
  constexpr int n = 150;
  Rig<LaggedFibonacciStream> rig(device(), n);
  const Lags lags = rig.stream.lags();
  EXPECT_EQ(lags.long_lag, 4423);
  LaggedFibonacci sequence(lags, LaggedRings::seeds(Purpose::test, 11, lags, 1));
  for (std::uint64_t step = 0; step < 40; ++step) {
    const auto block = rig.take(step);
    for (int i = 0; i < n * draws; ++i) ASSERT_EQ(block[i], sequence.next()) << step << " " << i;
  }
  rig.stream.check(40);
}
TEST(RngLaggedFibonacci, AnyNumberOfThreads) {
  Rig<LaggedFibonacciStream> one(Device::cpu(1), 3000), three(Device::cpu(3), 3000),
      seven(Device::cpu(7), 3000);
  for (std::uint64_t step = 0; step < 10; ++step) {
    const auto block = one.take(step);
    EXPECT_EQ(three.take(step), block);
    EXPECT_EQ(seven.take(step), block);
  }
}
TEST_P(RngStream, LaggedFibonacciSplitsLargeSystems) {
  LaggedFibonacciStream stream(device(), Purpose::test, 1, 400000, draws);
  EXPECT_EQ(stream.rings(), 3);
  EXPECT_LE(std::int64_t(133334) * draws, stream.lags().parallel());
}

// Particles that draw less, or nothing, do not disturb the others or the next step.
TEST_P(RngStream, LaggedFibonacciMayBeDrawnFromInPart) {
  Rig<LaggedFibonacciStream> all(device(), 100), part(device(), 100);
  all.take(0);
  part.take(0, 1);
  EXPECT_EQ(all.take(1), part.take(1));
}

// Made by the kernel that draws: from any first step, drawn from in part, on several rings.
TEST_P(RngStream, FusedLaggedFibonacciIsTheSequence) {
  constexpr int n = 150;
  Rig<FusedLaggedFibonacciStream> rig(device(), n);
  const Lags lags = rig.stream.lags();
  LaggedFibonacci sequence(lags, LaggedRings::seeds(Purpose::test, 11, lags, 1));
  for (std::uint64_t step = 7; step < 47; ++step) {
    const int taken = step % 5 == 0 ? 1 : draws;
    const auto block = rig.take(step, taken);
    for (int i = 0; i < n * draws; ++i) {
      const std::uint32_t expected = sequence.next();
      if (i % draws < taken) {
        ASSERT_EQ(block[std::size_t(i)], expected) << step << " " << i;
      }
    }
  }
  EXPECT_NO_THROW(rig.stream.check(40));

  Rig<FusedLaggedFibonacciStream> fused(device(), 400000);
  Rig<LaggedFibonacciStream> separate(device(), 400000);
  EXPECT_EQ(separate.stream.rings(), 3);
  for (std::uint64_t step = 0; step < 3; ++step) EXPECT_EQ(fused.take(step), separate.take(step));
}
TEST_P(RngStream, FusedLaggedFibonacciResumesAndFindsStepsLeftOut) {
  Rig<FusedLaggedFibonacciStream> run(device(), 777);
  for (std::uint64_t step = 3; step < 6; ++step) run.take(step);
  Archive saved = Archive::saving();
  run.stream.state(saved);
  const auto expected = run.take(6);
  Rig<FusedLaggedFibonacciStream> resumed(device(), 777);
  Archive restored = Archive::restoring(saved.records());
  resumed.stream.state(restored);
  EXPECT_EQ(resumed.take(6), expected);
  resumed.take(9);
  EXPECT_THROW(resumed.stream.check(4), BugError);

  Rig<FusedLaggedFibonacciStream> over(device(), 100);
  for_each(device(), "overdraw", 1,
           Draw<FusedLaggedFibonacciStream::View>{over.stream.view(), over.step.data(),
                                                  over.out.data(), 1, draws + 1});
  EXPECT_THROW(over.stream.check(1), RunError);
}

TEST_P(RngStream, MisuseIsAnError) {
  Rig<LaggedFibonacciStream> over(device(), 100);
  over.take(0);
  EXPECT_NO_THROW(over.stream.check(1));
  over.stream.begin_step(over.step.data());
  for_each(device(), "overdraw", 1,
           Draw<LaggedFibonacciStream::View>{over.stream.view(), over.step.data(), over.out.data(),
                                             1, draws + 1});
  EXPECT_THROW(over.stream.check(2), RunError);

  Rig<LaggedFibonacciStream> stale(device(), 100);
  stale.take(0);
  stale.take(1, draws, false);  // begin_step() forgotten: step 0's numbers again
  EXPECT_THROW(stale.stream.check(2), BugError);

  Rig<ParticleStream<ParkMiller>> counted(device(), 100);
  counted.take(0);
  EXPECT_NO_THROW(counted.stream.check(1));
  for_each(device(), "overdraw", 1,
           Draw<ParticleStream<ParkMiller>::View>{counted.stream.view(), counted.step.data(),
                                                  counted.out.data(), 1, draws + 1});
  EXPECT_THROW(counted.stream.check(1), RunError);
}
TEST_P(RngStream, ExhaustionIsAnError) {
  ParticleStream<Lcg> lcg(device(), Purpose::test, 1, 10, 4);
  EXPECT_NO_THROW(lcg.check(1u << 30));
  EXPECT_THROW(lcg.check((1u << 30) + 1), RunError);
  ParticleStream<ParkMiller> park_miller(device(), Purpose::test, 1, 10, 4);
  EXPECT_THROW(park_miller.check(1u << 29), RunError);
  ParticleStream<HybridTaus> taus(device(), Purpose::test, 1, 10, 4);
  EXPECT_NO_THROW(taus.check(~std::uint64_t(0)));
}
TEST(RngStreams, WrongNamesAndSizes) {
  EXPECT_THROW(with_stream("saro", [](auto) {}), UserError);
  EXPECT_THROW(KeyedStream<Saru>(Device::cpu(1), Purpose::test, 1, 10, 0), BugError);
  EXPECT_THROW(ParticleStream<Lcg>(Device::cpu(1), Purpose::test, 1, -1, 1), BugError);
}

// Floating-point numbers have the same bits on every device and in every instruction set.
template <class T>
struct Floats {
  T* out;
  PERRIN_HD void operator()(std::int64_t i) const {
    Saru g = keyed<Saru>(RunKey(Purpose::test, 3), 4, std::uint32_t(i));
    const auto box_muller = g.normal_pair<T>();
    const auto polar = g.normal_pair_polar<T>();
    const auto unit = g.unit_vector<T>();
    const T values[] = {box_muller.first,
                        box_muller.second,
                        polar.first,
                        polar.second,
                        unit.x,
                        unit.y,
                        unit.z,
                        g.normal_ziggurat<T>(),
                        T(g.normal_quantile()),
                        g.exponential<T>(),
                        g.uniform<T>(),
                        g.symmetric<T>()};
    for (int k = 0; k < 12; ++k) out[12 * i + k] = values[k];
  }
};
template <class T>
void compare_floats(const Device& device) {
  constexpr std::int64_t n = 20000;
  Buffer<T> here(device, 12 * n);
  for_each(device, "floats", n, Floats<T>{here.data()});
  const std::vector<T> host = here.to_host();
  std::vector<T> reference(12 * n);
  for (std::int64_t i = 0; i < n; ++i) Floats<T>{reference.data()}(i);  // plain code of this file
  EXPECT_EQ(std::memcmp(host.data(), reference.data(), host.size() * sizeof(T)), 0);
}
TEST_P(RngStream, NormalsHaveTheSameBitsEverywhere) {
  compare_floats<float>(device());
  compare_floats<double>(device());
}

PERRIN_INSTANTIATE_DEVICES(RngStream);

// Memory accesses of Table 1: reads and writes for one number and for four.
TEST(RngState, WordsReadAndWritten) {
  using bench::StateWords, bench::state_words_of;
  EXPECT_EQ(state_words_of<Lcg>(1), (StateWords{1, 1}));
  EXPECT_EQ(state_words_of<Lcg>(4), (StateWords{1, 1}));
  EXPECT_EQ(state_words_of<HybridTaus>(1), (StateWords{4, 4}));
  EXPECT_EQ(state_words_of<HybridTaus>(4), (StateWords{4, 4}));
  EXPECT_EQ(state_words_of<Ran2>(1), (StateWords{4, 4}));
  EXPECT_EQ(state_words_of<Ran2>(4), (StateWords{7, 7}));
  // x[n - short] and x[n - long], and x[n] in place of the latter.
  EXPECT_EQ(bench::state_words_of_lagged_fibonacci(1), (StateWords{2, 1}));
  EXPECT_EQ(bench::state_words_of_lagged_fibonacci(4), (StateWords{8, 4}));
}

// Jumps along the sequence, against the sequence itself.
TEST(RngLaggedFibonacci, Jumps) {
  for (const Lags lags : {lag_table()[0], lag_table()[1]})
    for (const std::uint64_t numbers : {0, 1, 1000, 2281, 123457}) {
      std::vector<std::uint32_t> ring;
      Philox source = keyed<Philox>(Purpose::test, 3, 0, 0);
      for (std::int64_t i = 0; i < lags.long_lag; ++i) ring.push_back(source.next());
      const std::vector<std::uint32_t> later =
          bench::LaggedJump(Device::cpu(2), lags, numbers)(ring);
      LaggedFibonacci here(lags, ring), there(lags, later);
      for (std::uint64_t k = 0; k < numbers; ++k) here.next();
      for (int k = 0; k < 5000; ++k) ASSERT_EQ(here.next(), there.next()) << numbers;
    }
}

}  // namespace
}  // namespace perrin
