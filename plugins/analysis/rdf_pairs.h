// Which pairs of particles an rdf counts, and how many they are: by types, in groups, without those
// that are excluded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/device/buffer.h"
#include "rdf_settings.h"

namespace perrin::analysis {

/// For kernels: pairs with one particle in the first group and the other in the second.
struct PairsOfGroups {
  const std::uint8_t* in;  // [id]: 1, in the first; 2, in the second; 3, in both. nullptr: all are

  PERRIN_HD std::uint32_t of(std::uint32_t id) const { return in == nullptr ? 3 : in[id]; }
  static PERRIN_HD bool has(std::uint32_t a, std::uint32_t b) {
    return ((a & 1) != 0 && (b & 2) != 0) || ((a & 2) != 0 && (b & 1) != 0);
  }
};

class RdfPairs {
 public:
  /// Reports mistakes in "pairs", "group", "groups" and "exclude".
  RdfPairs(const RdfSettings& settings, Setup& setup);

  struct Kind {
    std::array<std::uint32_t, 2> types;  // the lower first
    std::string name;
    double number;  // of pairs in the system
  };
  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Their groups, for messages and checkpoints; empty: all particles.
  const std::string& groups() const { return groups_; }

  // On the device.
  const Buffer<std::int32_t>& kind_of() const { return kind_of_; }  // [type · types + type] or -1
  PairsOfGroups in_groups() const { return {in_.size() > 0 ? in_.data() : nullptr}; }
  const Buffer<std::uint32_t>& molecule() const { return molecule_; }  // [id]; empty: no matter
  const Buffer<std::uint32_t>& bonds() const { return bonds_; }        // ids, two by two, left out

 private:
  using Numbers = std::vector<std::array<double, 4>>;  // [type][PairsOfGroups::of()]
  void find_groups(const RdfSettings& settings, Setup& setup);
  void choose(const RdfSettings& settings, Setup& setup);
  void exclude(const std::string& kind, Setup& setup);
  std::uint32_t in(std::size_t id) const { return member_.empty() ? 3 : member_[id]; }
  /// Pairs of these types that the groups allow, of so many particles.
  static double number_of_pairs(const Numbers& n, std::uint32_t a, std::uint32_t b);

  std::vector<std::uint8_t> member_;  // [id], as PairsOfGroups; empty: all
  std::string groups_;
  std::vector<Kind> kinds_;
  Buffer<std::int32_t> kind_of_;
  Buffer<std::uint8_t> in_;
  Buffer<std::uint32_t> molecule_, bonds_;
};

}  // namespace perrin::analysis
