// perrin-bench short-sort-latency: how long one batch takes, from its launch to its end, by length
// and number of arrays: Fig. 2 of E. S. Fomin's work on sorting short arrays. Keys are drawn from
// the generator of Park and Miller, as there. Rank sorts, the classical networks, CUB and Perrin;
// on the CPU std::sort and Perrin. ratio: the rate against the fastest of CUB (of std::sort) at
// this length and number.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/buffer.h"
#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort.h"
#include "neighbor/sort/short_sort_rank.h"
#include "rng/stateful.h"
#include "tests/benchmarks/bench_short_sort.h"
#ifdef __CUDACC__
#include <cub/device/device_segmented_sort.cuh>

#include "tests/benchmarks/bench_short_sort.cuh"
#endif

namespace perrin {
namespace {

constexpr std::int64_t most_keys = std::int64_t(1) << 23;

struct Line {
  std::string method, keys;  // words, or floats of which some are equal
  double time = 0;
  bool library = false;  // may be the baseline
};

/// The input, and what every method should make of it; both kinds of keys from the same numbers.
struct Batch {
  Batch(int array_length, std::int64_t arrays)
      : length(array_length),
        count(arrays),
        words(std::size_t(length * count)),
        floats(words.size()) {
    ParkMiller random(1);
    for (std::size_t k = 0; k < words.size(); ++k) {
      const std::uint32_t number = random.next_31_bits();
      words[k] = short_sort_word(number >> 15, std::uint32_t(k) % std::uint32_t(length));
      floats[k] = float(number >> 15) / 65536.0f;
    }
    sorted_words = words, sorted_floats = floats;
    for (std::int64_t a = 0; a < count; ++a) {
      std::sort(sorted_words.begin() + a * length, sorted_words.begin() + (a + 1) * length);
      std::sort(sorted_floats.begin() + a * length, sorted_floats.begin() + (a + 1) * length);
    }
    for (std::int64_t a = 0; a <= count; ++a) offsets.push_back(std::int32_t(a * length));
  }
  int length;
  std::int64_t count;
  std::vector<std::uint32_t> words, sorted_words;
  std::vector<float> floats, sorted_floats;
  std::vector<std::int32_t> offsets;
};

void print(const std::vector<Line>& lines, const Batch& batch, const Device& device) {
  const Line* baseline = nullptr;
  for (const Line& line : lines)
    if (line.library && (baseline == nullptr || line.time < baseline->time)) baseline = &line;
  for (const Line& line : lines)
    bench::print_line({{"subject", "short-sort-latency"},
                       {"size", batch.count},
                       {"length", batch.length},
                       {"method", line.method},
                       {"keys", line.keys},
                       {"device", device.description()},
                       {"time_s", line.time},
                       {"rate", double(batch.words.size()) / line.time},
                       {"rate_unit", "keys/s"},
                       {"baseline", baseline->method},
                       {"ratio", baseline->time / line.time}});
}

bool report_wrong(const Line& line, const Batch& batch) {
  std::fprintf(stderr, "perrin-bench: wrong result: %s, %lld arrays of %d\n", line.method.c_str(),
               static_cast<long long>(batch.count), batch.length);
  return true;
}

int bench_cpu(const Device& device, const Batch& batch, double seconds) {
  int wrong = 0;
  std::vector<Line> lines;
  std::vector<std::uint32_t> out(batch.words.size());
  const auto time = [&](const char* name, bool library, const std::function<void()>& sort) {
    std::fill(out.begin(), out.end(), 0u);
    Line line{name, "words", bench::median_time(device, seconds, sort), library};
    if (out != batch.sorted_words) wrong += report_wrong(line, batch);
    lines.push_back(line);
  };
  time("std::sort", true, [&] {
    out = batch.words;
    for (std::int64_t a = 0; a < batch.count; ++a)
      std::sort(out.begin() + a * batch.length, out.begin() + (a + 1) * batch.length);
  });
  time("perrin", false, [&] {
    short_sort(device, batch.words.data(), out.data(), batch.offsets.data(), batch.count);
  });
  print(lines, batch, device);
  return wrong;
}

#ifdef __CUDACC__

using namespace short_sort_bench;

dim3 blocks(std::int64_t n, std::int64_t per_block) {
  return dim3(unsigned((n + per_block - 1) / per_block));
}

class GpuTimes {
 public:
  GpuTimes(const Device& device, const Batch& batch)
      : device_(device),
        batch_(batch),
        in_(device, std::span<const std::uint32_t>(batch.words)),
        out_(device, in_.size()),
        float_in_(device, std::span<const float>(batch.floats)),
        float_out_(device, in_.size()),
        offsets_(device, std::span<const std::int32_t>(batch.offsets)) {
    check_cuda(cudaEventCreate(&start_), "making an event");
    check_cuda(cudaEventCreate(&stop_), "making an event");
  }
  ~GpuTimes() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  GpuTimes(const GpuTimes&) = delete;
  GpuTimes& operator=(const GpuTimes&) = delete;

  void rank_sorts() {
    const std::int64_t count = batch_.count;
    const int length = batch_.length;
    const auto time_variant = [&](const char* name, RankSort variant) {
      time(name, false, false, [&] {
        short_sort_rank_uniform(device_, variant, in_.data(), out_.data(), length, count);
      });
      time(name, true, false, [&] {
        short_sort_rank_uniform(device_, variant, float_in_.data(), float_out_.data(), length,
                                count);
      });
    };
    time_variant("rank, all at once", RankSort::all_pairs);
    time_variant("rank, lg N", RankSort::divide_and_conquer);
    time_variant("rank, N", RankSort::element);
  }
  void perrin() {
    time("perrin", false, false,
         [&] { short_sort(device_, in_.data(), out_.data(), offsets_.data(), batch_.count); });
    if (batch_.length <= short_sort_length)
      time("perrin, equal lengths", false, false, [&] {
        short_sort_uniform(device_, in_.data(), out_.data(), batch_.length, batch_.count);
      });
  }
  void segmented_sort() {
    std::size_t bytes = 0;
    const auto sort = [&](void* storage) {
      const std::int32_t* offsets = offsets_.data();
      check_cuda(cub::DeviceSegmentedSort::SortKeys(
                     storage, bytes, static_cast<const Word*>(in_.data()), out_.data(), in_.size(),
                     batch_.count, offsets, offsets + 1, device_.queue().stream()),
                 "DeviceSegmentedSort");
    };
    sort(nullptr);
    Buffer<char> storage(device_, std::int64_t(bytes) + 1);
    time("CUB DeviceSegmentedSort", false, true, [&] { sort(storage.data()); });
  }
  /// What depends on the length at compile time.
  template <int N>
  void compiled() {
    if (batch_.length != N) return;
    const std::int64_t count = batch_.count;
    if constexpr (N >= 32)
      time("CUB BlockRadixSort", false, true, [&] {
        constexpr int threads = N < 128 ? 32 : N / 4;
        launch(device_, "BlockRadixSort", dim3(unsigned(count)), dim3(threads), 0,
               block_radix_sort_kernel<threads, N / threads>, in_.data(), out_.data(), count);
      });
    constexpr int lanes = N <= 128 ? N / 4 : 32;
    time("CUB WarpMergeSort", false, true, [&] {
      launch(device_, "WarpMergeSort", blocks(count, 128 / lanes), dim3(128), 0,
             warp_merge_sort_kernel<lanes, N / lanes>, in_.data(), out_.data(), count);
    });
    time("bitonic network", false, false, [&] { network<N, false>(); });
    time("odd-even merge network", false, false, [&] { network<N, true>(); });
  }
  int finish() {
    print(lines_, batch_, device_);
    return wrong_;
  }

 private:
  template <int N, bool odd_even>
  void network() {
    using Shape = NetworkShape<N>;
    launch(device_, "network", blocks(batch_.count, Shape::arrays), dim3(Shape::threads), 0,
           shared_network_kernel<N, odd_even>, in_.data(), out_.data(), batch_.count);
  }
  /// The median of 15 batches, each with nothing else on the device.
  void time(const char* name, bool floats, bool library, const std::function<void()>& sort) {
    Line line{name, floats ? "floats" : "words", 0, library};
    out_.zero(), float_out_.zero();
    sort();
    if (floats ? float_out_.to_host() != batch_.sorted_floats
               : out_.to_host() != batch_.sorted_words) {
      wrong_ += report_wrong(line, batch_);
      return;
    }
    std::vector<float> times;
    for (int k = 0; k < 15; ++k) {
      device_.synchronize();
      check_cuda(cudaEventRecord(start_, device_.queue().stream()), "timing");
      sort();
      check_cuda(cudaEventRecord(stop_, device_.queue().stream()), "timing");
      check_cuda(cudaEventSynchronize(stop_), "timing");
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "timing");
      times.push_back(milliseconds);
    }
    std::nth_element(times.begin(), times.begin() + 7, times.end());
    line.time = double(times[7]) * 1e-3;
    lines_.push_back(line);
  }

  Device device_;
  const Batch& batch_;
  Buffer<std::uint32_t> in_, out_;
  Buffer<float> float_in_, float_out_;
  Buffer<std::int32_t> offsets_;
  std::vector<Line> lines_;
  int wrong_ = 0;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

int bench_gpu(const Device& device, const Batch& batch) {
  GpuTimes times(device, batch);
  times.perrin();
  times.rank_sorts();
  times.segmented_sort();
  times.compiled<8>(), times.compiled<16>(), times.compiled<32>(), times.compiled<64>();
  times.compiled<128>(), times.compiled<256>(), times.compiled<512>(), times.compiled<1024>();
  return times.finish();
}

#endif

}  // namespace

int bench::short_sort_latency(const Options& options) {
  std::vector<long> lengths = options.sizes;
  if (lengths.empty()) lengths = {8, 16, 32, 64, 128, 256, 512, 1024};
  int wrong = 0;
  for (const long length : lengths) {
    if (length < 1 || length > rank_sort_length)
      throw UserError("short-sort-latency: --sizes are lengths of arrays, 1 to 1024; got " +
                      std::to_string(length));
    for (const std::int64_t count : {1, 32, 256, 2048, 16384}) {
      if (count * length > most_keys) continue;
      const Batch batch(int(length), count);
#ifdef __CUDACC__
      if (options.device.is_cuda()) {
        wrong += bench_gpu(options.device, batch);
        continue;
      }
#endif
      wrong += bench_cpu(Device::parse("cpu", 1), batch, options.seconds);
    }
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace perrin
