#include "engine/domain/load_balancer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "engine/communicator/communicator.h"
#include "engine/device/share.h"

namespace perrin {
namespace {

constexpr double long_enough = 0.5;    // seconds of work that say something
constexpr double equal_enough = 1.05;  // the busiest against the mean
constexpr double of_the_way = 0.5;     // what is measured is noisy, and the model a rough one

/// Goes on while this process is not waiting for another one.
double work_clock() {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  return now.count() - Communicator::world().waited();
}

/// [portion]: what all portions before it cost. What the owner of nothing did is nobody's.
std::vector<double> cost_before(const std::vector<int>& cuts, const std::vector<double>& seconds) {
  std::vector<double> before{0};
  for (std::size_t p = 0; p < seconds.size(); ++p) {
    const int portions = cuts[p + 1] - cuts[p];
    for (int k = 0; k < portions; ++k) before.push_back(before.back() + seconds[p] / portions);
  }
  return before;
}

double of_the_busiest(const std::vector<int>& cuts, const std::vector<double>& before) {
  double most = 0;
  for (std::size_t p = 0; p + 1 < cuts.size(); ++p)
    most = std::max(most, before[std::size_t(cuts[p + 1])] - before[std::size_t(cuts[p])]);
  return most;
}

/// Anywhere, with a process now and then that owns nothing: the first one at first.
std::vector<int> shuffled_cuts(std::size_t count, int turn) {
  std::vector<int> cuts{0};
  std::uint32_t word = 0x9e3779b9u * std::uint32_t(turn);
  while (cuts.size() < count) {
    word = word * 1664525u + 1013904223u;
    cuts.push_back(int((word >> 16) % (sum_chunks + 1)));
  }
  std::ranges::sort(cuts);
  cuts.push_back(sum_chunks);
  const std::size_t idle = std::size_t(turn) / 3 % count;
  if (turn % 3 == 1) (idle == 0 ? cuts[1] : cuts[idle]) = idle == 0 ? 0 : cuts[idle + 1];
  return cuts;
}

}  // namespace

std::vector<int> balanced_cuts(const std::vector<int>& cuts, const std::vector<double>& seconds) {
  const std::size_t count = seconds.size();
  const auto before = cost_before(cuts, seconds);
  const double all = before.back(), most = of_the_busiest(cuts, before);
  if (!(most > equal_enough * all / double(count))) return cuts;
  std::vector<int> moved{0};
  for (std::size_t k = 1; k < count; ++k) {
    const double wanted = all * double(k) / double(count);
    auto at = std::ranges::lower_bound(before, wanted);
    if (at != before.begin() && wanted - at[-1] < *at - wanted) --at;
    const double way = of_the_way * double((at - before.begin()) - cuts[k]);
    moved.push_back(std::clamp(cuts[k] + int(std::lround(way)), moved.back(), sum_chunks));
  }
  moved.push_back(sum_chunks);
  return of_the_busiest(moved, before) < most ? moved : cuts;
}

LoadBalancer::LoadBalancer(bool moves)
    : moves_(moves),
      shuffles_(moves && Communicator::world().of_first(
                             std::int64_t(std::getenv("PERRIN_TEST_CUTS") ? 1 : 0))) {}

double LoadBalancer::work_since_last() const {
  return worked_ + (working_ ? work_clock() - began_ : 0);
}

void LoadBalancer::begin_work() {
  working_ = true;
  began_ = work_clock();
}

void LoadBalancer::end_work() {
  worked_ = work_since_last();
  working_ = false;
}

std::vector<int> LoadBalancer::look(const std::vector<int>& cuts, int active) {
  Communicator& world = Communicator::world();
  std::vector<int> next = cuts;
  if (shuffles_) {
    next = shuffled_cuts(cuts.size() - 1, moved_ + 1);
  } else {
    std::vector<double> seconds(cuts.size() - 1, 0);
    seconds[std::size_t(world.rank())] = work_since_last();
    std::vector<std::size_t> offsets(cuts.size());
    for (std::size_t p = 0; p < offsets.size(); ++p) offsets[p] = p * sizeof seconds[0];
    world.all_gather(seconds.data(), offsets);
    seconds.resize(std::size_t(active));
    next.resize(seconds.size() + 1);
    const double most = *std::ranges::max_element(seconds);
    if (!(most >= long_enough)) return cuts;
    worked_ = 0;
    began_ = work_clock();
    last_ = most * double(seconds.size()) / std::accumulate(seconds.begin(), seconds.end(), 0.0);
    if (first_ == 0) first_ = last_;
    if (moves_) next = balanced_cuts(next, seconds);
    next.resize(cuts.size(), sum_chunks);
  }
  if (next != cuts) ++moved_;
  return next;
}

std::string LoadBalancer::report() const {
  if (moved_ == 0 && last_ == 0) return {};
  std::string text;
  if (last_ > 0)
    text = fmt::format("load imbalance (maximum/mean) {:.2f} at first, {:.2f} at the end; ", first_,
                       last_);
  return text +
         (moves_ ? fmt::format("rebalanced {} times", moved_) : "equal numbers of particles");
}

}  // namespace perrin
