// perrin-bench short-sort: 64 Mi keys in all (CPU: 4 Mi) as arrays of equal length, and as ragged
// batches, by every method there is. One JSON object to a line; ratio: the rate against the best of
// CUB's sorts at this length in the same run (CPU: against std::sort on as many threads).
#include "tests/benchmarks/bench_short_sort.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/buffer.h"
#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort.h"
#include "neighbor/sort/short_sort_rank.h"
#ifdef __CUDACC__
#include <cub/device/device_segmented_sort.cuh>

#include "neighbor/sort/short_sort_launch.cuh"
#include "tests/benchmarks/bench_short_sort.cuh"
#endif

namespace perrin {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::int64_t gpu_keys = std::int64_t(1) << 26, cpu_keys = std::int64_t(1) << 22;
constexpr int repetitions = 9;

struct Line {
  std::string subject, variant;
  double time = 0, rate = 0;
  bool library = false;  // may be the baseline
};

/// Prints the lines of one length with their ratios to the fastest library.
void print(const std::vector<Line>& lines, int length, const Device& device) {
  const Line* baseline = nullptr;
  for (const Line& line : lines)
    if (line.library && (baseline == nullptr || line.rate > baseline->rate)) baseline = &line;
  for (const Line& line : lines) {
    nlohmann::ordered_json json{{"subject", line.subject},
                                {"variant", line.variant},
                                {"length", length},
                                {"device", device.description()},
                                {"time_s", line.time},
                                {"rate_keys_per_s", line.rate},
                                {"ratio", line.rate / baseline->rate},
                                {"baseline", baseline->subject + ", " + baseline->variant}};
    std::puts(json.dump().c_str());
  }
  std::fflush(stdout);
}

void report_wrong(const std::string& subject, const std::string& variant, int length) {
  std::fprintf(stderr, "perrin-bench: wrong result: %s, %s, length %d\n", subject.c_str(),
               variant.c_str(), length);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<std::int32_t> equal_offsets(int length, std::int64_t count) {
  std::vector<std::int32_t> offsets(std::size_t(count) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    offsets[i] = std::int32_t(std::int64_t(i) * length);
  return offsets;
}

/// Lengths drawn evenly from (length / 2, length].
std::vector<std::int32_t> ragged_offsets(int length, std::int64_t keys) {
  std::mt19937 random(1);
  std::vector<std::int32_t> offsets{0};
  while (offsets.back() + length <= keys)
    offsets.push_back(offsets.back() + length - std::int32_t(random() % unsigned(length / 2)));
  return offsets;
}

int bench_cpu(const Device& device, int length) {
  int wrong = 0;
  std::vector<Line> lines;
  const auto time = [&](const char* subject, const char* variant, bool library,
                        const std::vector<std::int32_t>& offsets, const auto& sort) {
    std::mt19937 random(2);
    Words in(std::size_t(offsets.back())), out(in.size());
    for (auto& word : in) word = random();
    std::vector<double> times;
    for (int i = 0; i < repetitions; ++i) {
      const auto start = std::chrono::steady_clock::now();
      sort(in, out);
      times.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
      std::sort(in.begin() + offsets[i], in.begin() + offsets[i + 1]);
    if (in != out) {
      report_wrong(subject, variant, length);
      ++wrong;
    }
    lines.push_back({subject, variant, median(times), double(in.size()) / median(times), library});
  };
  const std::int64_t count = cpu_keys / length;
  const auto equal = equal_offsets(length, count);
  const auto ragged = ragged_offsets(length, cpu_keys);
  const auto reference = [&](const std::vector<std::int32_t>& offsets) {
    return [&](const Words& in, Words& out) {
      for_pieces(device, std::int64_t(offsets.size()) - 1, 0,
                 [&](std::int64_t i, std::int64_t end) {
                   for (; i < end; ++i) {
                     const std::int32_t begin = offsets[std::size_t(i)],
                                        last = offsets[std::size_t(i) + 1];
                     std::copy(in.begin() + begin, in.begin() + last, out.begin() + begin);
                     std::sort(out.begin() + begin, out.begin() + last);
                   }
                 });
    };
  };
  time("std::sort", "equal lengths", true, equal, reference(equal));
  time("perrin", "equal lengths", false, equal, [&](const Words& in, Words& out) {
    short_sort_uniform(device, in.data(), out.data(), length, count);
  });
  print(lines, length, device);
  lines.clear();
  time("std::sort", "ragged n/2..n", true, ragged, reference(ragged));
  time("perrin", "ragged n/2..n", false, ragged, [&](const Words& in, Words& out) {
    short_sort(device, in.data(), out.data(), ragged.data(), std::int64_t(ragged.size()) - 1);
  });
  print(lines, length, device);
  return wrong;
}

#ifdef __CUDACC__

using namespace short_sort_detail;
using namespace short_sort_bench;

/// The batch of one length, and the lines measured on it.
class GpuBatch {
 public:
  GpuBatch(const Device& device, const std::vector<std::int32_t>& host_offsets, int length,
           int repeat)
      : count(std::int64_t(host_offsets.size()) - 1),
        offsets(device, std::span(host_offsets)),
        in(device, std::int64_t(host_offsets.back())),
        out(device, std::int64_t(host_offsets.back())),
        device_(device),
        length_(length),
        repeat_(repeat),
        counts_(device, std::int64_t(2)) {
    launch(device, "fill", blocks(count, 128), dim3(128), 0, fill_kernel, in.data(),
           static_cast<const std::int32_t*>(offsets.data()), count);
    expected_ = check(in)[1];
    check_cuda(cudaEventCreate(&start_), "making an event");
    check_cuda(cudaEventCreate(&stop_), "making an event");
  }
  ~GpuBatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  GpuBatch(const GpuBatch&) = delete;
  GpuBatch& operator=(const GpuBatch&) = delete;

  static dim3 blocks(std::int64_t n, std::int64_t per_block) {
    return dim3(unsigned((n + per_block - 1) / per_block));
  }

  /// Times `sort`, which takes `in` to `out`.
  void time(const std::string& subject, const std::string& variant, bool library,
            const std::function<void()>& sort, bool sorts = true) {
    out.zero();
    sort();
    if (sorts) {
      const auto result = check(out);
      if (result[0] != 0 || result[1] != expected_) {
        report_wrong(subject, variant, length_);
        ++wrong;
        return;
      }
    }
    sort();
    std::vector<double> times;
    for (int i = 0; i < repeat_; ++i) {
      check_cuda(cudaEventRecord(start_, device_.queue().stream()), "timing");
      sort();
      check_cuda(cudaEventRecord(stop_, device_.queue().stream()), "timing");
      check_cuda(cudaEventSynchronize(stop_), "timing");
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "timing");
      times.push_back(milliseconds * 1e-3);
    }
    const double t = median(times);
    lines.push_back({subject, variant, t, double(in.size()) / t, library});
  }

  std::int64_t count;
  Buffer<std::int32_t> offsets;
  Buffer<std::uint32_t> in, out;
  std::vector<Line> lines;
  int wrong = 0;

 private:
  std::vector<unsigned long long> check(const Buffer<std::uint32_t>& keys) {
    counts_.zero();
    launch(device_, "verify", blocks(count, 128), dim3(128), 0, verify_kernel, keys.data(),
           static_cast<const std::int32_t*>(offsets.data()), count, counts_.data());
    return counts_.to_host();
  }

  Device device_;
  int length_, repeat_;
  Buffer<unsigned long long> counts_;
  unsigned long long expected_ = 0;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

std::string name_of(int many, const char* what, int each) {
  return std::to_string(many) + " " + what + " of " + std::to_string(each);
}

void time_segmented_sort(GpuBatch& batch, const Device& device) {
  std::size_t bytes = 0;
  const std::int32_t* offsets = batch.offsets.data();
  const auto sort = [&](void* storage) {
    check_cuda(cub::DeviceSegmentedSort::SortKeys(
                   storage, bytes, static_cast<const Word*>(batch.in.data()), batch.out.data(),
                   batch.in.size(), batch.count, offsets, offsets + 1, device.queue().stream()),
               "DeviceSegmentedSort");
  };
  sort(nullptr);
  Buffer<char> storage(device, std::int64_t(bytes) + 1);
  batch.time("CUB DeviceSegmentedSort", "offsets", true, [&] { sort(storage.data()); });
}

template <int Threads, int Items>
void time_block_radix(GpuBatch& batch, const Device& device) {
  batch.time("CUB BlockRadixSort", name_of(Threads, "threads", Items), true, [&] {
    launch(device, "BlockRadixSort", dim3(unsigned(batch.count)), dim3(Threads), 0,
           block_radix_sort_kernel<Threads, Items>, batch.in.data(), batch.out.data(), batch.count);
  });
}

template <int Lanes, int Items>
void time_warp_merge(GpuBatch& batch, const Device& device) {
  batch.time("CUB WarpMergeSort", name_of(Lanes, "lanes", Items), true, [&] {
    launch(device, "WarpMergeSort", GpuBatch::blocks(batch.count, 128 / Lanes), dim3(128), 0,
           warp_merge_sort_kernel<Lanes, Items>, batch.in.data(), batch.out.data(), batch.count);
  });
}

template <int N, bool odd_even>
void time_network(GpuBatch& batch, const Device& device) {
  batch.time(odd_even ? "odd-even merge network" : "bitonic network", "shared memory", false, [&] {
    launch(device, "network", GpuBatch::blocks(batch.count, NetworkShape<N>::arrays),
           dim3(NetworkShape<N>::threads), 0, shared_network_kernel<N, odd_even>, batch.in.data(),
           batch.out.data(), batch.count);
  });
}

template <int L, int E, int Batches, Store store, int Multiply>
void time_shape(GpuBatch& batch, const Device& device) {
  const char* stores[] = {"direct", "exchange", "staged"};
  batch.time("perrin shape",
             name_of(L, "lanes", E) + ", " + std::to_string(Batches) + " at once, " +
                 stores[int(store)] + (Multiply != 0 ? ", multiply" : ""),
             false, [&] {
               run_uniform<L, E, Batches, store, Multiply>(device, batch.in.data(),
                                                           batch.out.data(), batch.count);
             });
}

template <int L, int E, int Batches, Store store>
void time_shapes(GpuBatch& batch, const Device& device) {
  time_shape<L, E, Batches, store, 0>(batch, device);
  time_shape<L, E, Batches, store, 1>(batch, device);
}

/// What depends on the length at compile time: the libraries' shapes, the networks, our shapes.
template <int N>
void time_compiled(GpuBatch& batch, const Device& device) {
  constexpr Store direct = Store::direct, exchange = Store::exchange, staged = Store::staged;
  if constexpr (N >= 32) {
    time_block_radix<32, N / 32>(batch, device);
    if constexpr (N % 128 == 0) time_block_radix<N / 4, 4>(batch, device);
  }
  time_network<N, false>(batch, device);
  time_network<N, true>(batch, device);
  if constexpr (N == 8) {
    time_warp_merge<2, 4>(batch, device);
    time_shape<2, 4, 4, direct, 0>(batch, device);
    time_shape<1, 8, 2, direct, 0>(batch, device);
    time_shape<1, 8, 2, staged, 0>(batch, device);
  } else if constexpr (N == 16) {
    time_warp_merge<4, 4>(batch, device);
    time_warp_merge<2, 8>(batch, device);
    time_shape<4, 4, 4, direct, 0>(batch, device);
    time_shape<2, 8, 2, direct, 0>(batch, device);
    time_shape<2, 8, 2, exchange, 0>(batch, device);
    time_shape<2, 8, 2, staged, 0>(batch, device);
    time_shape<2, 8, 1, exchange, 0>(batch, device);
  } else if constexpr (N == 32) {
    time_warp_merge<8, 4>(batch, device);
    time_warp_merge<4, 8>(batch, device);
    time_shape<8, 4, 4, direct, 0>(batch, device);
    time_shape<4, 8, 2, direct, 0>(batch, device);
    time_shape<4, 8, 2, exchange, 0>(batch, device);
    time_shape<4, 8, 2, staged, 0>(batch, device);
    time_shape<4, 8, 1, exchange, 0>(batch, device);
    time_shape<2, 16, 1, staged, 0>(batch, device);
  } else if constexpr (N == 64) {
    time_warp_merge<16, 4>(batch, device);
    time_warp_merge<8, 8>(batch, device);
    time_shapes<8, 8, 2, exchange>(batch, device);
    time_shapes<8, 8, 2, staged>(batch, device);
    time_shapes<8, 8, 1, exchange>(batch, device);
    time_shapes<4, 16, 1, exchange>(batch, device);
    time_shapes<4, 16, 1, staged>(batch, device);
  } else if constexpr (N == 96) {
    time_warp_merge<32, 3>(batch, device);
    time_warp_merge<8, 12>(batch, device);
    time_shapes<8, 12, 1, staged>(batch, device);
    time_shapes<4, 24, 1, exchange>(batch, device);
    time_shapes<4, 24, 1, staged>(batch, device);
  } else if constexpr (N == 128) {
    time_warp_merge<32, 4>(batch, device);
    time_warp_merge<16, 8>(batch, device);
    time_shapes<8, 16, 1, exchange>(batch, device);
    time_shapes<8, 16, 1, staged>(batch, device);
    time_shapes<4, 32, 1, exchange>(batch, device);
    time_shapes<4, 32, 1, staged>(batch, device);
  } else if constexpr (N == 192) {
    time_warp_merge<32, 6>(batch, device);
    time_warp_merge<16, 12>(batch, device);
    time_shapes<8, 24, 1, exchange>(batch, device);
    time_shapes<8, 24, 1, staged>(batch, device);
  } else if constexpr (N == 256) {
    time_warp_merge<32, 8>(batch, device);
    time_warp_merge<16, 16>(batch, device);
    time_shapes<16, 16, 1, exchange>(batch, device);
    time_shapes<16, 16, 1, staged>(batch, device);
    time_shapes<8, 32, 1, exchange>(batch, device);
    time_shapes<8, 32, 1, staged>(batch, device);
  }
}

void time_ranks(GpuBatch& batch, const Device& device, int length) {
  const auto time = [&](const char* name, RankSort variant) {
    batch.time("rank sort", name, false, [&] {
      short_sort_rank_uniform(device, variant, batch.in.data(), batch.out.data(), length,
                              batch.count);
    });
  };
  time("all pairs", RankSort::all_pairs);
  time("divide and conquer", RankSort::divide_and_conquer);
  time("one thread per element", RankSort::element);
}

int bench_gpu(const Device& device, int length) {
  int wrong = 0;
  {
    GpuBatch batch(device, equal_offsets(length, gpu_keys / length), length, repetitions);
    batch.time(
        "copy", "device to device", false,
        [&] {
          device.memory().copy(batch.out.data(), batch.in.data(), std::size_t(batch.in.bytes()));
        },
        false);
    batch.time("perrin", "equal lengths", false, [&] {
      short_sort_uniform(device, batch.in.data(), batch.out.data(), length, batch.count);
    });
    batch.time("perrin", "offsets", false, [&] {
      short_sort(device, batch.in.data(), batch.out.data(), batch.offsets.data(), batch.count);
    });
    time_ranks(batch, device, length);
    time_segmented_sort(batch, device);
    switch (length) {
      case 8:
        time_compiled<8>(batch, device);
        break;
      case 16:
        time_compiled<16>(batch, device);
        break;
      case 32:
        time_compiled<32>(batch, device);
        break;
      case 64:
        time_compiled<64>(batch, device);
        break;
      case 96:
        time_compiled<96>(batch, device);
        break;
      case 128:
        time_compiled<128>(batch, device);
        break;
      case 192:
        time_compiled<192>(batch, device);
        break;
      case 256:
        time_compiled<256>(batch, device);
        break;
      default:
        break;  // library calls alone
    }
    print(batch.lines, length, device);
    wrong += batch.wrong;
  }
  GpuBatch batch(device, ragged_offsets(length, gpu_keys), length, repetitions);
  batch.time("perrin", "ragged n/2..n", false, [&] {
    short_sort(device, batch.in.data(), batch.out.data(), batch.offsets.data(), batch.count);
  });
  time_segmented_sort(batch, device);
  print(batch.lines, length, device);
  return wrong + batch.wrong;
}

#endif

}  // namespace

int bench::short_sort(const Options& options) {
  std::vector<long> lengths = options.sizes;
  if (lengths.empty()) lengths = {8, 16, 32, 64, 96, 128, 192, 256};
  int wrong = 0;
  for (const long length : lengths) {
    if (length < 2 || length > short_sort_length)
      throw UserError("short-sort: --sizes are lengths of arrays, 2 to 256; got " +
                      std::to_string(length));
#ifdef __CUDACC__
    if (options.device.is_cuda()) {
      wrong += bench_gpu(options.device, int(length));
      continue;
    }
#endif
    wrong += bench_cpu(options.device, int(length));
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace perrin

#ifdef PERRIN_BENCH_SHORT_SORT_MAIN
// bench_short_sort [cpu|cuda|auto] [LENGTH]…
int main(int argc, char** argv) {
  try {
    perrin::bench::Options options;
    options.device = perrin::Device::parse(argc > 1 ? argv[1] : "auto");
    for (int i = 2; i < argc; ++i) options.sizes.push_back(std::stol(argv[i]));
    return perrin::bench::short_sort(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
#endif
