// Lists for systems of few particles on a GPU: `small`.
//
// A row of 16-bit memory indices for every particle, found by testing all pairs. Particles lie in
// memory by id and stay there, so that a row depends on positions alone: where nothing else is to
// be done for a rebuild, the pair loop that finds lists stale makes them (small_list_loop.h), and a
// step is two launches with no decision of the graph between them.
#pragma once

#include <cstdint>
#include <string>

#include "neighbor/strain.h"
#include "neighbor/traversal_input.h"

namespace perrin {

/// What a kernel that makes rows reads and writes; and the rows.
struct SmallRows {
  std::uint16_t* entries;  // [particle · room]: ascending indices
  std::uint32_t* count;    // of each row
  std::uint32_t room;      // of a row, a multiple of 4
  std::int64_t particles;
  Share own;  // whose rows are wanted
  const Position* position;
  const std::uint32_t* id;
  const Metric* metric;
  const Real* reach2;  // [type · types + type]
  Real longest;        // the root of the largest
  std::uint32_t types;
  ExclusionView exclusions;
  // A rebuild: what asks for it, and what it sets.
  Position* reference;
  std::uint32_t* flag;
  std::int64_t* builds;
  // [0] blocks that have built, [1] the longest row that found no room, [2] 0: a flag without lists
  std::uint32_t* words;
  std::uint32_t* halt;
};

class SmallList {
 public:
  static constexpr const char* name = "small";
  static constexpr const char* help =
      "one list per particle, found among all pairs (up to 65536 particles, best below 4000)";
  static constexpr bool lists = true;
  static constexpr bool on_gpu = true, on_cpu = false;
  /// Up to so many particles `standard` takes it.
  static constexpr std::int64_t most_by_itself = 4096;
  /// Indices have 16 bits.
  static constexpr std::int64_t most_particles = 65536;

  explicit SmallList(const TraversalInput& input);
  bool fits() const { return particles_->size() <= most_particles; }
  /// Brings the particles into the order of ids, and makes the rows. Device work only; halts the
  /// device if a row has no room.
  void build(const ListBuild& build);
  /// Have lists been built? Then a pair loop makes them itself where the flag of build() is set.
  bool builds_in_pair_loops() const { return build_.flag != nullptr; }
  bool enlarge();
  void follow_box(Real*) {}
  double mean_entries() const;
  std::int64_t bytes() const;
  std::string report() const { return {}; }
  Strain strain(const Box& box) const { return metric_strain(box); }

  const Particles& particles() const { return *particles_; }
  SmallRows rows() const;

 private:
  void make_room(std::uint32_t entries_of_a_row);

  Particles* particles_;
  ExclusionView exclusions_;
  ListBuild build_{};  // the last one
  std::uint32_t room_ = 0;
  Real longest_;
  mutable Buffer<std::uint16_t>
      entries_;  // a rebuild is part of a pair loop, which changes nothing
  mutable Buffer<std::uint32_t> count_, words_;
  Buffer<std::uint32_t> order_;
  Buffer<Real> reach2_;  // [type · types + type]
};

}  // namespace perrin
