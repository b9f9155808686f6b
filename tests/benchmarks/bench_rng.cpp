// perrin-bench rng: raw numbers per second. Three things are measured:
//   stream      a long stream for each thread, kept in registers (baseline: cuRAND's XORWOW, else
//   MT19937) fresh key   four numbers from each new key (baseline: Philox of this library) step
//   four numbers for each of N particles in a step, state in memory where there is one, and
//               4 bytes written for each (baseline: the Saru stream with its state in memory: the
//               papers' comparison)
#include <cstdint>
#include <functional>
#include <type_traits>

#include "engine/device/parallel.h"
#include "rng/streams.h"
#include "tests/benchmarks/bench.h"
#if defined(__CUDACC__) && __has_include(<curand_kernel.h>)
#include <curand_kernel.h>
#define PERRIN_HAS_CURAND 1
#endif

namespace perrin::bench {
namespace {

constexpr int stream_length = 4096, keys_each = 256;

template <class G>
struct Stream {
  RunKey key;
  std::uint32_t* out;
  PERRIN_HD void operator()(std::int64_t i) const {
    G g = keyed<G>(key, 0, std::uint32_t(i));
    std::uint32_t sum = 0;
#pragma unroll 16
    for (int k = 0; k < stream_length; ++k) sum ^= g.next();
    out[i] = sum;
  }
};

template <class G>
struct FreshKeys {
  RunKey key;
  std::uint32_t* out;
  std::int64_t n;
  PERRIN_HD void operator()(std::int64_t i) const {
    std::uint32_t sum = 0;
    for (int k = 0; k < keys_each; ++k) {
      G g = keyed<G>(key, std::uint64_t(k), std::uint32_t(i));
      sum ^= g.next();
      sum ^= g.next();
      sum ^= g.next();
      sum ^= g.next();
    }
    out[i] = sum;
  }
};

template <class View>
struct Step {
  View view;
  const std::uint64_t* step;
  std::uint32_t* out;
  PERRIN_HD void operator()(std::int64_t i) const {
    auto g = view.local(*step, std::uint32_t(i));
    std::uint32_t sum = g.next();
    for (int k = 1; k < 4; ++k) sum ^= g.next();
    out[i] = sum;
    view.store(std::uint32_t(i), g);
  }
};

#ifdef PERRIN_HAS_CURAND
template <class State>
struct Curand {
  std::uint32_t* out;
  // Host code of the functor is never run.
  __host__ __device__ void operator()(std::int64_t i) const {
#ifdef __CUDA_ARCH__
    State state;
    curand_init(1234ull + i, 0, 0, &state);
    std::uint32_t sum = 0;
#pragma unroll 16
    for (int k = 0; k < stream_length; ++k) sum ^= curand(&state);
    out[i] = sum;
#else
    (void)i;
#endif
  }
};
/// XORWOW with its 48 bytes of state in memory: made, and four numbers of a step.
struct CurandSeed {
  curandStateXORWOW_t* states;
  __host__ __device__ void operator()(std::int64_t i) const {
#ifdef __CUDA_ARCH__
    curand_init(1234ull + i, 0, 0, states + i);
#else
    (void)i;
#endif
  }
};
struct CurandStep {
  curandStateXORWOW_t* states;
  std::uint32_t* out;
  __host__ __device__ void operator()(std::int64_t i) const {
#ifdef __CUDA_ARCH__
    curandStateXORWOW_t state = states[i];
    std::uint32_t sum = curand(&state);
    for (int k = 1; k < 4; ++k) sum ^= curand(&state);
    out[i] = sum;
    states[i] = state;
#else
    (void)i;
#endif
  }
};
#endif

struct Meter {
  const Options& options;
  Buffer<std::uint32_t> out;
  std::int64_t threads;

  template <class F>
  double rate(const char* name, const F& f, double numbers) {
    const double time = median_time(options.device, options.seconds,
                                    [&] { for_each(options.device, name, threads, f); });
    return double(threads) * numbers / time;
  }
  void print(const char* what, const std::string& generator, double rate, const std::string& base,
             double base_rate) const {
    print_line({{"subject", std::string("rng ") + what},
                {"generator", generator},
                {"size", threads},
                {"device", options.device.description()},
                {"rate", rate},
                {"rate_unit", "numbers/s"},
                {"baseline", base},
                {"ratio", rate / base_rate}});
  }
};

template <class F>
void for_hashed(F f) {
  f("saru", std::type_identity<Saru>{});
  f("tea", std::type_identity<Tea>{});
  f("sarutea", std::type_identity<SaruTea>{});
  f("philox", std::type_identity<Philox>{});
  f("threefry", std::type_identity<Threefry>{});
}

void streams(Meter& meter) {
  const RunKey key(Purpose::benchmark, 1);
  std::string base = "philox";
  double base_rate = meter.rate("stream", Stream<Philox>{key, meter.out.data()}, stream_length);
#ifdef PERRIN_HAS_CURAND
  if (meter.options.device.is_cuda()) {
    base = "cuRAND XORWOW";
    base_rate = meter.rate("curand", Curand<curandStateXORWOW_t>{meter.out.data()}, stream_length);
    meter.print("stream", base, base_rate, base, base_rate);
    meter.print(
        "stream", "cuRAND Philox",
        meter.rate("curand", Curand<curandStatePhilox4_32_10_t>{meter.out.data()}, stream_length),
        base, base_rate);
  }
#endif
  for_hashed([&](const char* name, auto type) {
    using G = typename decltype(type)::type;
    meter.print("stream", name, meter.rate(name, Stream<G>{key, meter.out.data()}, stream_length),
                base, base_rate);
  });
}

void fresh_keys(Meter& meter) {
  const RunKey key(Purpose::benchmark, 1);
  const double base =
      meter.rate("keys", FreshKeys<Philox>{key, meter.out.data(), meter.threads}, 4.0 * keys_each);
  for_hashed([&](const char* name, auto type) {
    using G = typename decltype(type)::type;
    meter.print(
        "fresh key", name,
        meter.rate(name, FreshKeys<G>{key, meter.out.data(), meter.threads}, 4.0 * keys_each),
        "philox", base);
  });
}

void steps(const Options& options, std::int64_t n) {
  Meter meter{options, Buffer<std::uint32_t>(options.device, n), n};
  Buffer<std::uint64_t> step(options.device, 1);
  double base = 0;
  // As a simulation has them: recorded, the host far ahead.
  const auto time_of = [&](const std::function<void()>& one_step) {
    constexpr int steps_each = 50;
    const Recording recording(options.device, [&] {
      for (int k = 0; k < steps_each; ++k) one_step();
    });
    return median_time(options.device, options.seconds, [&] { recording.replay(); }) / steps_each;
  };
  const auto measure = [&](auto type) {
    using S = typename decltype(type)::type;
    S stream(options.device, Purpose::benchmark, 1, n, 4);
    const double time = time_of([&] {
      stream.begin_step(step.data());
      for_each(options.device, "rng step", n,
               Step<decltype(stream.view())>{stream.view(), step.data(), meter.out.data()});
    });
    return std::pair(4.0 * double(n) / time, double(stream.bytes()) / double(n));
  };
  std::vector<std::string> names = {"saru_state"};
  for (const std::string& name : stream_names())
    if (name != names[0]) names.push_back(name);
  const auto print = [&](const std::string& name, double rate, double bytes) {
    if (base == 0) base = rate;
    print_line({{"subject", "rng step"},
                {"generator", name},
                {"size", n},
                {"device", options.device.description()},
                {"bytes_per_particle", bytes},
                {"rate", rate},
                {"rate_unit", "numbers/s"},
                {"baseline", "saru_state"},
                {"ratio", rate / base}});
  };
  for (const std::string& name : names) {
    const auto [rate, bytes] = with_stream(name, measure);
    print(name, rate, bytes);
  }
#ifdef PERRIN_HAS_CURAND
  if (options.device.is_cuda()) {
    Buffer<curandStateXORWOW_t> states(options.device, n);
    for_each(options.device, "curand seed", n, CurandSeed{states.data()});
    const double time = time_of([&] {
      for_each(options.device, "curand step", n, CurandStep{states.data(), meter.out.data()});
    });
    print("cuRAND XORWOW", 4.0 * double(n) / time, sizeof(curandStateXORWOW_t));
  }
#endif
}

}  // namespace

int rng(const Options& options) {
  const std::int64_t threads = options.device.is_cuda() ? 1 << 18 : 1 << 10;
  Meter meter{options, Buffer<std::uint32_t>(options.device, threads), threads};
  streams(meter);
  fresh_keys(meter);
  std::vector<long> sizes = options.sizes;
  if (sizes.empty()) sizes = {10000, 100000, 1000000, 10000000};
  for (long n : sizes) steps(options, n);
  return 0;
}

}  // namespace perrin::bench
