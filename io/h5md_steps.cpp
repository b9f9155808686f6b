#include "io/h5md_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/hdf5_values.h"

namespace perrin::io {

H5mdSteps::H5mdSteps(const Node& element)
    : where_(fmt::format("{}: {}", element.file(), element.path())) {
  const Shape values = shape_of_numbers(element.open("value"));
  if (values.empty()) throw UserError(where_ + "/value: a single number, expected a series");
  rows_ = std::int64_t(values[0]);
  if (!element.has("step")) return;
  const Node node = element.open("step");
  const Shape shape = shape_of_numbers(node);
  if (shape.size() > 1)
    throw UserError(fmt::format("{}/step: the shape [{}], expected one per frame", where_,
                                fmt::join(shape, "][")));
  if (shape.empty() || (shape[0] == 1 && rows_ != 1)) {
    kind_ = Kind::increment;
    increment_ = read_integer(node);
    offset_ = read_offset(node);
    if (increment_ < 0)
      throw UserError(
          fmt::format("{}/step: the increment {}, expected a positive one", where_, increment_));
    return;
  }
  kind_ = Kind::each;
  step_ = read_integers<std::int64_t>(node);
  sorted_ = std::ranges::is_sorted(step_);
}

std::int64_t H5mdSteps::steps() const {
  return kind_ == Kind::increment ? rows_ : std::min(rows_, std::ssize(step_));
}

std::int64_t H5mdSteps::at(std::int64_t row) const {
  if (row < 0 || row >= steps())
    throw UserError(fmt::format("{}: has {} values and {} steps, frame {} is wanted", where_, rows_,
                                kind_ == Kind::each ? std::ssize(step_) : steps(), row));
  if (kind_ == Kind::each) return step_[std::size_t(row)];
  std::int64_t step = 0;
  if (__builtin_mul_overflow(increment_, row, &step) ||
      __builtin_add_overflow(step, offset_, &step))
    throw UserError(where_ + "/step: the step is beyond 64 bits");
  return step;
}

std::optional<std::int64_t> H5mdSteps::row_of(std::int64_t step, std::int64_t near) const {
  if (near >= 0 && near < steps() && at(near) == step) return near;
  if (kind_ == Kind::increment) {
    const auto row = before(step);
    return row && at(*row) == step ? row : std::nullopt;
  }
  const auto end = step_.begin() + steps();
  const auto it =
      sorted_ ? std::lower_bound(step_.begin(), end, step) : std::find(step_.begin(), end, step);
  if (it == end || *it != step) return std::nullopt;
  return it - step_.begin();
}

std::optional<std::int64_t> H5mdSteps::before(std::int64_t step) const {
  if (kind_ == Kind::increment) {
    if (rows_ == 0 || step < offset_) return std::nullopt;
    if (increment_ == 0) return 0;
    std::int64_t ahead = 0;
    if (__builtin_sub_overflow(step, offset_, &ahead)) return rows_ - 1;
    return std::min(ahead / increment_, rows_ - 1);
  }
  const auto end = step_.begin() + steps();
  if (sorted_) {
    const auto it = std::upper_bound(step_.begin(), end, step);
    if (it == step_.begin()) return std::nullopt;
    return it - step_.begin() - 1;
  }
  std::optional<std::int64_t> best;
  for (auto it = step_.begin(); it != end; ++it)
    if (*it <= step && (!best || *it >= step_[std::size_t(*best)])) best = it - step_.begin();
  return best;
}

std::int64_t read_offset(const Node& node) {
  if (!node.has_attribute("offset")) return 0;
  const double offset = read_real_attribute(node, "offset");
  constexpr double most = 9e18;
  if (!(std::abs(offset) < most) || offset != std::floor(offset))
    throw UserError(fmt::format("{}: {}: the offset {}, expected an integer of 64 bits",
                                node.file(), node.path(), offset));
  return std::int64_t(offset);
}

}  // namespace perrin::io
