// Polymers grown bead by bead as random walks that keep their distance from all that is there.
#pragma once

#include <functional>
#include <optional>

#include "io/parts/polymer.h"
#include "io/parts/region.h"
#include "io/parts/start.h"

namespace perrin::parts {

/// Types of the bonds of a polymer; empty: no angles, no dihedrals.
struct BondNames {
  std::string bond = "bond", angle, dihedral;
};

class Growth {
 public:
  Growth(Start& start, const Polymer& polymer, const BondNames& names, double bond_length);

  /// Beads go on in this direction where they find no other place, or wherever they can.
  void straight(Vec3<double> direction, bool always) { straight_ = direction, always_ = always; }

  /// Where the first bead may be; nothing: nowhere.
  using Root = std::function<std::optional<Vec3<double>>(Philox&)>;
  /// Whether a bead may be there, whoever is near.
  using Allowed = std::function<bool(Vec3<double>)>;
  /// One molecule, with its bonds; false, and nothing added, where no place was found for some
  /// bead.
  bool grow(Philox& stream, const Root& root, const Allowed& allowed);

 private:
  bool add_bead(Philox& stream, std::uint32_t bead, const Root& root, const Allowed& allowed);
  std::optional<Vec3<double>> propose(Philox& stream, std::uint32_t bead) const;
  std::optional<Vec3<double>> closing(Philox& stream, Vec3<double> a, Vec3<double> b) const;
  bool returns(Philox& stream, double before, double after, std::size_t bonds) const;
  void add_bonds() const;
  Vec3<double> placed(std::uint32_t bead) const { return start_.position(first_ + bead); }

  Start& start_;
  const Polymer& polymer_;
  BondNames names_;
  double length_;
  std::optional<Vec3<double>> straight_;
  bool always_ = false;
  std::vector<std::uint32_t> type_;  // in the start, of each bead
  std::uint32_t first_ = 0;          // the id of the first bead of the molecule that grows
};

}  // namespace perrin::parts
