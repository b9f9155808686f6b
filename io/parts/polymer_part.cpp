#include "io/parts/polymer_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/parts/room.h"
#include "io/placement.h"

namespace perrin::parts {
namespace {

constexpr int molecule_attempts = 50;

/// The volume of the beads, which are spheres as wide as their distance: less where bonds are
/// shorter.
Crowd crowd_of(const Polymer& polymer, double number, double bond_length, const Distances& d) {
  Crowd crowd{0, 0, 0, 3};
  for (const std::uint32_t t : polymer.type) {
    const double width = d.between(polymer.types[t], polymer.types[t]);
    const double x = width > 0 ? std::min(1.0, bond_length / width) : 1;
    crowd.spheres += number * (1.5 * x - 0.5 * x * x * x) * sphere_volume(width, 3);
    crowd.diameter = std::max(crowd.diameter, width);
  }
  return crowd;
}

}  // namespace

void check_bonds(const BondSettings& s, const Polymer& polymer, double number, const Box& box,
                 const Distances& distances, const Report& error) {
  Region::check(s.region, box, error);
  const Vec3<double> heights = box.heights();
  for (int axis = 0; axis < box.dimension; ++axis)
    if (box.periodic[std::size_t(axis)] && heights[axis] <= 2 * s.bond_length)
      return error("bond_length", fmt::format("must be below half the box ({:g}), got {:g}",
                                              heights[axis] / 2, s.bond_length));
  for (const auto& strand : polymer.strands)
    for (std::size_t k = 2; k < strand.size(); ++k) {
      const std::string &a = polymer.types[polymer.type[strand[k - 2]]],
                        &b = polymer.types[polymer.type[strand[k]]];
      if (const double least = distances.between(a, b); least >= 2 * s.bond_length)
        return error("bond_length",
                     fmt::format("must be above half the minimum distance of {} and {} ({:g}), got "
                                 "{:g}: beads two bonds apart are at most twice as far",
                                 a, b, least, s.bond_length));
    }
  if (box.dimension == 3 && !s.region) {
    Crowd crowd = crowd_of(polymer, number, s.bond_length, distances);
    crowd.volume = box.volume(), crowd.whole = true;
    if (const std::string what = crowd.impossible(); !what.empty()) error("number", what);
  }
}

void PolymerPart::check(const Box& box, const Distances& distances, const Report& error) const {
  check_bonds(settings_, polymer_, double(number_), box, distances, error);
}

void PolymerPart::place(Start& start, std::uint64_t seed) const {
  const Region region(settings_.region, start.box());
  Growth growth(start, polymer_,
                {settings_.bond_type, settings_.angle_type, settings_.dihedral_type},
                settings_.bond_length);
  const auto root = [&](Philox& stream) { return region.sample(stream); };
  const auto allowed = [&](Vec3<double> r) { return region.contains(r); };
  for (std::int64_t k = 0; k < number_; ++k) {
    bool grown = false;
    for (int attempt = 0; attempt < molecule_attempts && !grown; ++attempt) {
      Philox stream = io::position_stream(seed, std::uint64_t(attempt), std::uint32_t(k));
      grown = growth.grow(stream, root, allowed);
    }
    if (!grown)
      throw UserError(no_place_for_polymer(start, polymer_, k, number_, molecule_attempts));
  }
}

std::string no_place_for_polymer(const Start& start, const Polymer& polymer, std::int64_t k,
                                 std::int64_t number, int attempts) {
  return fmt::format(
      "no place found for molecule {} of {} ({} beads, at least {} from others) in {} attempts; "
      "use a smaller minimum distance, fewer molecules or a larger region, place this part before "
      "others, or use min_distance 0 and a soft start",
      k + 1, number, polymer.beads(), start.distances().text(polymer.types), attempts);
}

}  // namespace perrin::parts
