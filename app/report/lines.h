// Lines of figures, of no more points than an eye can tell apart.
#pragma once

#include <string>
#include <vector>

#include "engine/settings/settings.h"

namespace perrin::report {

constexpr std::size_t most_points = 600;

/// Of a time series: the lowest and the highest of each of 300 stretches, where it has more points.
Json series_line(const std::string& label, const std::vector<double>& x,
                 const std::vector<double>& y);

/// Of a curve: in the order of x, values at the same x averaged (`e`: their errors, 0: not known),
/// those that are no numbers left out; every second, third, … where there are more.
Json curve_line(const std::string& label, const std::vector<double>& x,
                const std::vector<double>& y, const std::vector<double>& e);

}  // namespace perrin::report
