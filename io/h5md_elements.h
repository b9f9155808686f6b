// What H5MD files of trajectories and of observables are made of: time-dependent elements, each a
// series `value` with `step` and `time`, in units that readers know.
#pragma once

#include <string>
#include <vector>

#include "io/file_units.h"
#include "io/hdf5.h"

namespace perrin::io {

constexpr hsize_t scalar_chunk = 512;

/// Attributes that say what the numbers of orientation and angular_momentum are: the names of the
/// components of quaternions, in their order; "particle": about the axes of its own frame.
inline const std::string orientation_components = "components", angular_momentum_frame = "frame";

/// The attribute `unit`, and where the numbers of the job are not in this unit, what they are
/// multiplied by.
void set_unit(const Node& node, const FileUnit& unit);
/// That factor, of a series in a file.
double factor_of(const Series& series);
double factor_of(const Node& node);
/// The series `step` and `time` of a group.
void make_clock(const Node& group, const FileUnit& time);

/// A list of names.
void write_names(const Node& root, const std::string& path, const std::vector<std::string>& names);

/// A row of n values, times a factor.
template <class T>
void append(Series& series, const T* row, std::size_t n, double factor) {
  if (factor == 1) return series.append(row);
  std::vector<T> scaled(row, row + n);
  for (T& value : scaled) value = T(value * factor);
  series.append(scaled.data());
}

}  // namespace perrin::io
