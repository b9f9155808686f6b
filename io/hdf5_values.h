// Values of datasets that anybody may have written: of the expected kind, and no larger than what
// the file holds. Everything here throws UserError with file, dataset and what was expected.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5.h"

namespace perrin::io {

/// All values of a dataset (no row), or those at one first index.
using Row = std::optional<std::int64_t>;

/// The shape of a dataset of numbers.
Shape shape_of_numbers(const Node& node);
/// Numbers, whatever their type.
std::vector<double> read_reals(const Node& node, Row row = {});
/// Integers between two bounds. Floating-point numbers are refused.
std::vector<std::int64_t> read_integers(const Node& node, Row row, std::int64_t low,
                                        std::int64_t high);
template <std::integral T>
std::vector<T> read_integers(const Node& node, Row row = {}) {
  const auto values =
      read_integers(node, row, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  return std::vector<T>(values.begin(), values.end());
}
/// A single number.
double read_real(const Node& node);
std::int64_t read_integer(const Node& node);
/// Text, of fixed or variable length.
std::vector<std::string> read_names(const Node& node);
/// The number in an attribute.
double read_real_attribute(const Node& node, const std::string& name);
/// The object that an attribute refers to, as a number to be compared with reference_to(); none
/// where there is no such attribute. It is not looked at.
std::optional<hobj_ref_t> read_reference_attribute(const Node& node, const std::string& name);
/// The same for every name of an object.
hobj_ref_t reference_to(const Node& node);
/// The texts of an attribute; none where it is missing.
std::vector<std::string> read_text_attribute(const Node& node, const std::string& name);

}  // namespace perrin::io
