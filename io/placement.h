// Putting particles into an orthogonal box so that no two come nearer than a distance.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/system/box.h"
#include "rng/distributions.h"
#include "rng/keyed.h"

namespace perrin::io {

/// The particles placed so far, in cells at least `distance` wide.
class Placement {
 public:
  Placement(const Box& box, double distance);
  /// No placed particle but `except` is nearer than the distance.
  bool fits(Vec3<double> r, std::int64_t except = -1) const;
  void add(Vec3<double> r);
  void remove_last();
  const std::vector<Vec3<double>>& positions() const { return positions_; }
  /// Wrapped along periodic axes.
  Vec3<double> wrapped(Vec3<double> r) const;
  bool inside(Vec3<double> r) const;  // of the axes that are not periodic

 private:
  std::size_t cell(Vec3<double> r) const;
  Box box_;
  double distance_;
  int cells_[3];
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<Vec3<double>> positions_;
};

/// The engine's default randomness for initial positions: a stream of its own per (particle,
/// attempt).
Philox position_stream(std::uint64_t seed, std::uint64_t attempt, std::uint32_t id);
/// A permutation of 0 … n-1 (Fisher and Yates) that depends on purpose and seed alone.
std::vector<std::uint32_t> shuffled(Purpose purpose, std::uint64_t seed, std::uint32_t n);

/// An orthogonal box centred at 0.
Box centred_box(Vec3<double> length, int dimension, const std::array<bool, 3>& periodic);

}  // namespace perrin::io
