// Parts that are grown: polymers of one architecture.
#pragma once

#include "io/parts/growth.h"
#include "io/parts/part.h"

namespace perrin::parts {

struct BondSettings {
  double bond_length = 0.97;
  std::string bond_type = "bond", angle_type, dihedral_type;
  std::optional<RegionSettings> region;
};
template <class D>
void describe(D& d, BondSettings& s) {
  d.optional("bond_length", s.bond_length, Positive{}, "bond length");
  d.optional("bond_type", s.bond_type, Any{}, "bond type");
  d.optional("angle_type", s.angle_type, Any{},
             "angle type along backbones, arms and side chains; empty: no angles");
  d.optional("dihedral_type", s.dihedral_type, Any{},
             "dihedral type along backbones, arms and side chains; empty: no dihedrals");
  d.optional("region", s.region, Any{}, "where in the box all beads are; default: anywhere");
}

/// Reports what the distances or the box do not allow.
void check_bonds(const BondSettings& settings, const Polymer& polymer, double number,
                 const Box& box, const Distances& distances, const Report& error);

/// What to say of the k-th of so many molecules, which could not be grown in so many attempts.
std::string no_place_for_polymer(const Start& start, const Polymer& polymer, std::int64_t k,
                                 std::int64_t number, int attempts);

class PolymerPart : public StartPart {
 public:
  PolymerPart(Polymer polymer, std::int64_t number, const BondSettings& settings)
      : polymer_(std::move(polymer)), number_(number), settings_(settings) {}

  std::vector<std::string> types() const override { return polymer_.types; }
  double particles(const Box&) const override { return double(number_) * double(polymer_.beads()); }
  void check(const Box& box, const Distances& distances, const Report& error) const override;
  void place(Start& start, std::uint64_t seed) const override;

 private:
  Polymer polymer_;
  std::int64_t number_;
  BondSettings settings_;
};

}  // namespace perrin::parts
