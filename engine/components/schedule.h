// Steps at which an observer is called.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace perrin {

/// Multiples of a stride; or, counted from where the running stage began, some of them alone:
/// spaced evenly by their logarithms, or those of a list.
class Schedule {
 public:
  /// 0: never.
  explicit Schedule(std::int64_t stride = 0) : stride_(stride) {}
  /// The beginning of the stage, and the multiples of the stride (from there on) that are nearest
  /// to 10^(k/n), k = 0, 1, ….
  static Schedule logarithmic(std::int64_t stride, int per_decade) {
    Schedule s(stride);
    s.per_decade_ = per_decade;
    return s;
  }
  /// These, counted from the beginning of the stage; in ascending order, none below 0.
  static Schedule of(std::vector<std::int64_t> steps) {
    Schedule s(1);
    s.steps_ = std::move(steps);
    return s;
  }

  bool never() const { return stride_ == 0; }
  std::int64_t stride() const { return stride_; }
  /// Whether all multiples of the stride are meant.
  bool is_regular() const { return per_decade_ == 0 && steps_.empty(); }

  /// `begin`: the step at which the running stage began.
  bool is_due(std::uint64_t step, std::uint64_t begin) const {
    if (never()) return false;
    if (is_regular()) return step % std::uint64_t(stride_) == 0;
    if (step < begin) return false;
    return step == begin ? has(0) : step == next(step - 1, begin);
  }
  /// From `step` to the next of them; very large without one.
  std::uint64_t steps_to_next(std::uint64_t step, std::uint64_t begin) const {
    constexpr auto never_again = std::numeric_limits<std::uint64_t>::max();
    if (never()) return never_again;
    if (is_regular()) return std::uint64_t(stride_) - step % std::uint64_t(stride_);
    const std::uint64_t at = next(step, begin);
    return at == never_again ? at : at - step;
  }

 private:
  bool has(std::int64_t offset) const {
    return steps_.empty() || std::ranges::binary_search(steps_, offset);
  }
  /// The first of them after `step`, which is not before `begin`.
  std::uint64_t next(std::uint64_t step, std::uint64_t begin) const {
    const auto offset = std::int64_t(step - begin);
    if (!steps_.empty()) {
      const auto it = std::ranges::upper_bound(steps_, offset);
      return it == steps_.end() ? std::numeric_limits<std::uint64_t>::max()
                                : begin + std::uint64_t(*it);
    }
    const double decade = per_decade_;
    auto k = std::int64_t(decade * std::log10(std::max(double(offset - stride_), 1.0))) - 1;
    for (k = std::max<std::int64_t>(k, 0);; ++k) {
      const double rounded = std::round(std::pow(10.0, double(k) / decade) / double(stride_));
      const std::int64_t at = std::int64_t(rounded) * stride_;
      if (at > offset) return begin + std::uint64_t(at);
    }
  }

  std::int64_t stride_;
  int per_decade_ = 0;
  std::vector<std::int64_t> steps_;
};

}  // namespace perrin
