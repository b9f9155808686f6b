#include "tests/benchmarks/bench.h"

#include <algorithm>
#include <cstdio>

#include "engine/core/buffer.h"

namespace perrin::bench {

double median_time(const Device& device, double seconds, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto once = [&] {
    const auto start = Clock::now();
    work();
    device.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  once();
  std::vector<double> times{once()};
  for (double total = times[0]; total < seconds || times.size() < 3; total += times.back())
    times.push_back(once());
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void print_line(nlohmann::json line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

double copy_bandwidth(const Device& device) {
  const std::int64_t n = device.is_cuda() ? (1 << 30) : (1 << 28);
  Buffer<std::byte> a(device, n), b(device, n);
  return 2.0 * double(n) / median_time(device, 0.2, [&] { a.copy_from(b); });
}

}  // namespace perrin::bench
