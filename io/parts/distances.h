// How near two particles of a start may be, by their types.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace perrin::parts {

class Distances {
 public:
  explicit Distances(double all) : all_(all) {}
  void set(const std::string& a, const std::string& b, double distance);

  double between(const std::string& a, const std::string& b) const;
  /// Of particles of this type from any others.
  double largest(const std::string& type) const;
  /// The same, and above 0; 0 where there is none.
  double smallest(const std::string& type) const;
  double largest() const;
  /// "0.8", or "0.5 to 1.2": of these types from any others.
  std::string text(const std::vector<std::string>& types) const;

 private:
  /// All of a type, that of unnamed pairs included.
  std::vector<double> of(const std::string& type) const;

  double all_;
  std::map<std::pair<std::string, std::string>, double> pairs_;  // names in order
};

}  // namespace perrin::parts
