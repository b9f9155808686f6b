#include "app/report/ensemble_curves.h"

#include <cmath>
#include <limits>

#include "app/report/number.h"

namespace perrin::report {
namespace {

double real(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void EnsembleCurves::add(std::size_t system, const std::string& file, const Json& curve) {
  for (const Json& line : curve["lines"]) {
    Curve& known = curves_[{file, curve["name"], line["label"]}];
    known.unit = curve["unit"], known.axis = curve["axis"];
    known.groups.resize(groups_);
    Sums& sums = known.groups[group_of_[system]];
    const Json& y = line["y"];
    const Json errors = line.value("e", Json());
    if (sums.systems == 0) {
      sums.x = line["x"];
      sums.mean.resize(y.size()), sums.square.resize(y.size()), sums.count.resize(y.size());
    } else if (sums.x != line["x"]) {
      ++known.left_out;
      continue;
    }
    ++sums.systems;
    sums.own.assign(y.size(), 0);
    for (std::size_t k = 0; k < y.size(); ++k) {
      if (!y[k].is_number()) continue;  // a bin of which this system has nothing
      // B. P. Welford, Technometrics 4, 419 (1962)
      const double change = real(y[k]) - sums.mean[k];
      sums.mean[k] += change / double(++sums.count[k]);
      sums.square[k] += change * (real(y[k]) - sums.mean[k]);
      if (errors.is_array() && k < errors.size() && errors[k].is_number()) sums.own[k] = errors[k];
    }
  }
}

Json EnsembleCurves::json() const {
  Json list = Json::array();
  for (const auto& [key, curve] : curves_) {
    Json groups = Json::array();
    for (std::size_t g = 0; g < curve.groups.size(); ++g) {
      const Sums& sums = curve.groups[g];
      if (sums.systems == 0) continue;
      std::vector<double> mean = sums.mean, error = sums.own;
      for (std::size_t k = 0; k < error.size(); ++k) {
        const auto n = double(sums.count[k]);
        if (n > 1) error[k] = std::sqrt(sums.square[k] / (n - 1) / n);
        if (n == 0) mean[k] = std::numeric_limits<double>::quiet_NaN();
      }
      groups.push_back({{"group", g},
                        {"systems", sums.systems},
                        {"x", sums.x},
                        {"y", numbers(mean)},
                        {"e", numbers(error)}});
    }
    const auto& [file, name, label] = key;
    list.push_back({{"file", file},
                    {"name", name},
                    {"label", label},
                    {"unit", curve.unit},
                    {"axis", curve.axis},
                    {"groups", groups},
                    {"left_out", curve.left_out}});
  }
  return list;
}

}  // namespace perrin::report
