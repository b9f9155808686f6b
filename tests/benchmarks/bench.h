// What the subjects of perrin-bench share: sizes, timing, and the line of JSON each prints.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "neighbor/neighbors.h"

namespace perrin::bench {

struct Options {
  Device device;
  std::vector<long> sizes;     // empty: the subject's own
  double seconds = 2;          // of measuring per line
  NeighborSettings neighbors;  // of lj
  bool npt = false;            // lj: at constant pressure
  // oscillators: which (empty: all) generators, their states seeded in which ways, words of a step,
  // the most steps, whether to print the series.
  std::vector<std::string> generators, seeding = {"unrelated"};
  int words = 1;
  std::int64_t steps = 1'000'000'000;
  bool series = false;
  std::vector<std::string> parts;  // of a subject that has any; empty: all
};

/// Which parts of a subject are to be measured.
class Parts {
 public:
  /// Throws UserError for a part that the subject does not have.
  Parts(const Options& options, std::vector<std::string> known);
  bool want(const std::string& part) const;

 private:
  std::vector<std::string> wanted_;
};

/// Wall-clock seconds of one call of `work`, the device waited for: the median of repetitions that
/// fill `seconds`, after one call to warm up.
double median_time(const Device& device, double seconds, const std::function<void()>& work);

/// The same of two, in turns, so that a busy host slows both.
std::array<double, 2> median_times(const Device& device, double seconds,
                                   const std::function<void()>& one,
                                   const std::function<void()>& other);

/// Prints {"subject", "size", "device", "time_s", "rate", "rate_unit", "baseline", "ratio", …}:
/// ratio = rate / baseline rate.
void print_line(nlohmann::json line);

/// Bytes per second of a copy on this device, read plus write.
double copy_bandwidth(const Device& device);

int lj(const Options& options);
int busy(const Options& options);
int totals(const Options& options);
int neighbors(const Options& options);
int output(const Options& options);
int observers(const Options& options);
int interaction_sort(const Options& options);
int uneven(const Options& options);
int rng(const Options& options);
int brownian(const Options& options);
int brownian_profile(const Options& options);
int langevin_dynamics(const Options& options);
int neutron_slab(const Options& options);
int neutron_check(const Options& options);
int neutron_text(const Options& options);
int dpd(const Options& options);
int a3b7(const Options& options);
int dpd_noise(const Options& options);
int bd_noise(const Options& options);
int oscillators(const Options& options);
int lcg_cycle(const Options& options);
int state_words(const Options& options);
int metropolis(const Options& options);
int metropolis_check(const Options& options);
int metropolis_thesis(const Options& options);
int metropolis_checkerboard(const Options& options);

}  // namespace perrin::bench
