#include "app/report/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/report/number.h"

namespace perrin::report {

Json series_line(const std::string& label, const std::vector<double>& x,
                 const std::vector<double>& y) {
  std::vector<double> px, py;
  const std::size_t n = std::min(x.size(), y.size()), stretches = most_points / 2;
  if (n <= most_points) {
    px.assign(x.begin(), x.begin() + std::ptrdiff_t(n));
    py.assign(y.begin(), y.begin() + std::ptrdiff_t(n));
  }
  for (std::size_t k = 0; n > most_points && k < stretches; ++k) {
    const auto begin = y.begin() + std::ptrdiff_t(k * n / stretches);
    const auto end = y.begin() + std::ptrdiff_t((k + 1) * n / stretches);
    const auto [low, high] = std::minmax_element(begin, end);
    for (const auto& at : {std::min(low, high), std::max(low, high)}) {
      px.push_back(x[std::size_t(at - y.begin())]);
      py.push_back(*at);
    }
  }
  return {{"label", label}, {"x", numbers(px)}, {"y", numbers(py)}};
}

Json curve_line(const std::string& label, const std::vector<double>& x,
                const std::vector<double>& y, const std::vector<double>& e) {
  struct Sum {
    double y = 0, square = 0;
    int n = 0;
  };
  std::map<double, Sum> at;
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (!std::isfinite(y[k])) continue;
    Sum& sum = at[std::strtod(fmt::format("{:.6g}", x[k]).c_str(), nullptr)];
    sum = {sum.y + y[k], sum.square + e[k] * e[k], sum.n + 1};
  }
  const std::size_t every = std::max<std::size_t>(1, (at.size() + most_points - 1) / most_points);
  std::vector<double> px, py, pe;
  std::size_t k = 0;
  for (const auto& [where, sum] : at) {
    if (k++ % every != 0) continue;
    px.push_back(where);
    py.push_back(sum.y / sum.n);
    pe.push_back(std::sqrt(sum.square) / sum.n);
  }
  Json line = {{"label", label}, {"x", numbers(px)}, {"y", numbers(py)}};
  if (std::ranges::any_of(pe, [](double v) { return v > 0; })) line["e"] = numbers(pe);
  return line;
}

}  // namespace perrin::report
