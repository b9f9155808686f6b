// `perrin rng --distribution`, `--density`, `--figure`: numbers of a distribution as text, and
// areas and volumes of figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rng/word_source.h"

namespace perrin {

/// At most one of distribution, density, density_file and figure.
struct NumberArguments {
  std::string distribution;  // uniform, normal, exponential
  std::string method;        // of normal: inversion, box_muller, polar, ziggurat; empty: inversion
  std::string density;       // a formula of x, of any norm, within `range`
  std::string density_file;  // columns x and density, linear between
  std::vector<double> range;
  std::string figure;       // a formula of x, y, z: within where it is above 0
  std::vector<double> box;  // lower and upper bound of each variable

  bool any() const {
    return !distribution.empty() || !density.empty() || !density_file.empty() || !figure.empty();
  }
};

/// Writes `count` numbers, one a line (0: without end); of a figure one line with what `count`
/// points say (0: a million). Throws UserError, RunError.
void write_numbers(WordSource& source, const NumberArguments& arguments, std::uint64_t count);

}  // namespace perrin
