#include "tests/benchmarks/bench.h"

#include <algorithm>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/communicator/communicator.h"
#include "engine/device/buffer.h"

namespace perrin::bench {

namespace {

double time_once(const Device& device, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  device.synchronize();
  // Several processes repeat as often as the first one says.
  return Communicator::world().of_first(
      std::chrono::duration<double>(Clock::now() - start).count());
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

Parts::Parts(const Options& options, std::vector<std::string> known) : wanted_(options.parts) {
  for (const std::string& part : wanted_)
    if (std::find(known.begin(), known.end(), part) == known.end()) {
      std::string names;
      for (const std::string& name : known) names += " " + name;
      throw UserError("--parts: \"" + part + "\" is none of this subject's:" + names);
    }
  if (wanted_.empty()) wanted_ = std::move(known);
}

bool Parts::want(const std::string& part) const {
  return std::find(wanted_.begin(), wanted_.end(), part) != wanted_.end();
}

double median_time(const Device& device, double seconds, const std::function<void()>& work) {
  time_once(device, work);
  std::vector<double> times{time_once(device, work)};
  for (double total = times[0]; total < seconds || times.size() < 3; total += times.back())
    times.push_back(time_once(device, work));
  return median(times);
}

std::array<double, 2> median_times(const Device& device, double seconds,
                                   const std::function<void()>& one,
                                   const std::function<void()>& other) {
  std::vector<double> times[2];
  time_once(device, one), time_once(device, other);
  for (double total = 0; total < 2 * seconds || times[0].size() < 3;) {
    times[0].push_back(time_once(device, one));
    times[1].push_back(time_once(device, other));
    total += times[0].back() + times[1].back();
  }
  return {median(times[0]), median(times[1])};
}

void print_line(nlohmann::json line) {
  if (!Communicator::world().first()) return;
  if (Communicator::world().several()) line["processes"] = Communicator::world().count();
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

double copy_bandwidth(const Device& device) {
  const std::int64_t n = device.is_cuda() ? (1 << 30) : (1 << 28);
  Buffer<std::byte> a(device, n), b(device, n);
  return 2.0 * double(n) / median_time(device, 0.2, [&] { a.copy_from(b); });
}

}  // namespace perrin::bench
