// What an integrator derives from that reads attributes of the particles.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace perrin {

/// Beside Integrator. Attributes with "updates" may have been written anew before begin(), too:
/// what they are then is in Particles.
class AttributeReader {
 public:
  virtual ~AttributeReader() = default;
  /// Attributes have other numbers now, [id]: those by whose names they are here. Between steps, of
  /// the integrator that runs.
  virtual void follow_attributes(const std::map<std::string, std::vector<double>>& changed) = 0;
};

}  // namespace perrin
