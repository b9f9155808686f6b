// The particles placed so far, and who among them is too near to a place.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/system/box.h"

namespace perrin::parts {

/// Each type has cells of its own, so that a few large particles do not make those of many small
/// ones wide. Boxes may be tilted and small: every image of a cell within reach is looked at.
class Occupied {
 public:
  explicit Occupied(const Box& box) : box_(box), heights_(box.heights()) {}

  /// The next type: its minimum distances to the types before it and, last, to itself; `width`:
  /// about that of its cells.
  void add_type(const std::vector<double>& distances, double width);

  /// A particle nearer to r than its minimum distance to this type, but for `except`; -1: none.
  std::int64_t conflict(Vec3<double> r, std::uint32_t type,
                        std::span<const std::uint32_t> except = {}) const;
  void add(Vec3<double> r, std::uint32_t type);
  void remove_last();

  std::size_t size() const { return position_.size(); }
  std::uint32_t type(std::size_t id) const { return type_[id]; }
  double distance(std::uint32_t a, std::uint32_t b) const { return distance_[a][b]; }
  /// As it was added.
  Vec3<double> position(std::size_t id) const { return position_[id]; }
  /// The image within the box, along periodic axes; and which one that is.
  Vec3<double> wrapped(Vec3<double> r, Image* image = nullptr) const;

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  /// Cells of a type: the last particle in each, which knows the one before it.
  struct Grid {
    std::array<int, 3> cells{1, 1, 1};
    std::vector<std::uint32_t> last;
  };
  std::array<int, 3> place(const Grid& grid, Vec3<double> r) const;
  std::int64_t near(const Grid& grid, Vec3<double> r, double distance,
                    std::span<const std::uint32_t> except) const;

  Box box_;
  Vec3<double> heights_;
  std::vector<Grid> grids_;                     // by type; no cells where every distance is 0
  std::vector<std::vector<double>> distance_;   // by types
  std::vector<Vec3<double>> position_, inner_;  // as added; wrapped
  std::vector<std::uint32_t> type_, before_;
};

}  // namespace perrin::parts
