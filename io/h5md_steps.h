// When the values of a time-dependent element of an H5MD file were taken: a step for each, or an
// increment and an offset.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/hdf5.h"

namespace perrin::io {

class H5mdSteps {
 public:
  /// Of a group with a series `value`. Throws UserError where `step` is neither.
  explicit H5mdSteps(const Node& element);
  /// False: the element has no steps.
  bool known() const { return kind_ != Kind::none; }
  std::int64_t rows() const { return rows_; }
  /// Of a row that is there. Throws UserError where no step is.
  std::int64_t at(std::int64_t row) const;
  /// The row of a step: `near` where it is of this step, else the first one.
  std::optional<std::int64_t> row_of(std::int64_t step, std::int64_t near) const;
  /// The row of the last step before this one.
  std::optional<std::int64_t> before(std::int64_t step) const;

 private:
  enum class Kind { none, each, increment };
  std::int64_t steps() const;  // how many of the rows have one

  std::string where_;  // file and element
  Kind kind_ = Kind::none;
  std::int64_t rows_ = 0, increment_ = 0, offset_ = 0;
  std::vector<std::int64_t> step_;
  bool sorted_ = true;
};

/// The attribute `offset` of a number that is an increment; 0 without it.
std::int64_t read_offset(const Node& node);

}  // namespace perrin::io
