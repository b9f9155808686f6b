// Architectures of polymers: which beads there are and how they are bonded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/pattern.h"

namespace perrin::parts {

/// Beads in the order in which they are placed: each is bonded to its parent, which is before it;
/// in a ring the last also to the first.
struct Polymer {
  std::vector<std::string> types;     // names
  std::vector<std::uint32_t> type;    // of each bead
  std::vector<std::uint32_t> parent;  // of the first: 0
  /// Beads in a row, along which there are angles and dihedrals: a backbone, and each arm, side
  /// chain or spacer from the bead on from which it branches.
  std::vector<std::vector<std::uint32_t>> strands;
  bool ring = false;

  std::size_t beads() const { return type.size(); }
  std::uint32_t add(const std::string& name, std::uint32_t to);
  /// A strand that branches from a bead; the number of its last bead.
  std::uint32_t branch(const io::Blocks& blocks, std::uint32_t from);
};

Polymer linear(const io::Blocks& blocks);
Polymer ring(const io::Blocks& blocks);
Polymer star(const std::string& center, int arms, const io::Blocks& arm);
/// A side chain on every spacing-th bead of the backbone, from the bead `first` on (from 1).
Polymer comb(const io::Blocks& backbone, const io::Blocks& side, int spacing, int first);
/// A core with `functionality` spacers, each of whose last beads has functionality - 1 more, and so
/// on for the generations after the first, 0.
Polymer dendrimer(const std::string& core, int generations, int functionality,
                  const io::Blocks& spacer);

/// Number of beads in blocks.
double count(const io::Blocks& blocks);

}  // namespace perrin::parts
