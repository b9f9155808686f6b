// The particles placed so far, and who among them is too near to a place.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/system/box.h"

namespace perrin::parts {

/// Each type has cells of its own, so that a few large particles do not make those of many small
/// ones wide; and wide ones as well as narrow ones where it is far from some types and near to
/// others. Boxes may be tilted and small: every image of a cell within reach is looked at.
class Occupied {
 public:
  explicit Occupied(const Box& box) : box_(box), heights_(box.heights()) {}

  /// The next type: its minimum distances to the types before it and, last, to itself; the
  /// smallest that is not 0, or 0, and the largest to any.
  void add_type(const std::vector<double>& distances, double smallest, double largest);

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
  static constexpr std::size_t most_grids = 2;
  /// Cells of a type: the last particle in each, which knows the one before it.
  struct Grid {
    std::array<int, 3> cells{1, 1, 1};
    std::vector<std::uint32_t> last;
  };
  struct Type {
    std::vector<Grid> grids;  // none where every distance is 0
    std::size_t count = 0;
  };
  Grid make_grid(double width) const;
  std::array<int, 3> place(const Grid& grid, Vec3<double> r) const;
  std::uint32_t& last(Grid& grid, Vec3<double> r) const;
  std::array<int, 3> reach(const Grid& grid, double distance) const;
  /// About how many cells and particles are looked at.
  double cost(const Type& type, const Grid& grid, double distance) const;
  std::int64_t near(const Type& type, std::size_t grid, Vec3<double> r, double distance,
                    std::span<const std::uint32_t> except) const;

  Box box_;
  Vec3<double> heights_;
  std::vector<Type> types_;
  std::vector<std::vector<double>> distance_;   // by types
  std::vector<Vec3<double>> position_, inner_;  // as added; wrapped
  std::vector<std::uint32_t> type_;
  std::array<std::vector<std::uint32_t>, most_grids> before_;  // by grid of the type
};

}  // namespace perrin::parts
