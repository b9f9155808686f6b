#include "io/parts/distances.h"

#include <fmt/format.h>

#include <algorithm>

namespace perrin::parts {

void Distances::set(const std::string& a, const std::string& b, double distance) {
  pairs_[std::minmax(a, b)] = distance;
}

double Distances::between(const std::string& a, const std::string& b) const {
  const auto pair = pairs_.find(std::minmax(a, b));
  return pair == pairs_.end() ? all_ : pair->second;
}

std::vector<double> Distances::of(const std::string& type) const {
  std::vector<double> found{all_};
  for (const auto& [names, distance] : pairs_)
    if (names.first == type || names.second == type) found.push_back(distance);
  return found;
}

double Distances::largest(const std::string& type) const { return std::ranges::max(of(type)); }

double Distances::smallest(const std::string& type) const {
  double least = 0;
  for (const double d : of(type))
    if (d > 0 && (least == 0 || d < least)) least = d;
  return least;
}

double Distances::largest() const {
  double most = all_;
  for (const auto& [names, distance] : pairs_) most = std::max(most, distance);
  return most;
}

std::string Distances::text(const std::vector<std::string>& types) const {
  std::vector<double> found;
  for (const std::string& type : types)
    for (const double d : of(type)) found.push_back(d);
  const auto [low, high] = std::ranges::minmax(found);
  return low == high ? fmt::format("{:g}", low) : fmt::format("{:g} to {:g}", low, high);
}

}  // namespace perrin::parts
