// Pairs of the particles of some types within a distance, on the host: for observers that look
// seldom at what a GPU would not do much faster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "pair_grid.h"

namespace perrin {
class Particles;
}

namespace perrin::analysis {

class Neighborhood {
 public:
  /// Of the particles of these types in a group. Reports at `key`, "types" and "group" what is
  /// wrong.
  Neighborhood(double distance, const std::vector<std::string>& types, const std::string& group,
               Setup& setup, const std::string& key = "distance");
  /// Of the present state. Copies all positions. Throws UserError where the box has become too
  /// small; `within`: pairs within half_height() are seen then.
  PairGrid::View look(const Particles& particles, bool within = false);
  /// Of the particles that were looked at, by PairGrid::View::member.
  const std::vector<std::uint32_t>& ids() const { return ids_; }
  const Device& host() const { return host_; }
  std::int64_t particles() const { return particles_; }

 private:
  double distance_;
  Device host_;
  std::vector<std::uint8_t> chosen_;  // [id]: 1 or 0
  std::int64_t particles_ = 0;
  std::vector<std::uint32_t> ids_;
  Buffer<Position> positions_;
  std::unique_ptr<PairGrid> grid_;
};

}  // namespace perrin::analysis
