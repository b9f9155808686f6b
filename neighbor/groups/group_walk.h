// What the searches without lists of the CPU give to the loop over pairs (group_loop.h): particles,
// and candidates for their neighbours. A walk finds both; it is compiled once, and not into the
// loop of every Body. The loop is compiled once for every Body, and not for every search.
#pragma once

#include <cstdint>

#include "engine/base/real.h"
#include "neighbor/exclusions.h"

namespace perrin {

/// A walk through a part of the particles:
///
///     while (walk.next())
///       while (walk.find())
///         … the takers meet the candidates
class GroupWalk {
 public:
  static constexpr int width = 16;  // of the vectors in which candidates are met
  static constexpr int most = 256;  // members of a group
  static constexpr int room = 512;  // candidates at a time
  static constexpr int blocks = room / width;

  /// Particles that get everything they need before others come.
  struct Group {
    int count = 0;
    std::uint32_t index[most];
    Real x[most], y[most], z[most];  // relative to a point that their candidates share
  };
  /// Behind the last are some that nobody reaches, up to a multiple of `width`.
  struct Candidates {
    alignas(64) Real x[room + width], y[room + width], z[room + width];
    alignas(64) std::uint32_t type[room + width], index[room + width];
    alignas(64) std::uint32_t who[room + width];  // the index, or that of him whom it must not meet
    int n = 0;
    int padded() const { return (n + width - 1) / width * width; }
  };
  /// Members of the group that meet the candidates, by their numbers, and how many vectors of them:
  /// the first ones. No later taker meets more than an earlier one.
  struct Takers {
    int count = 0;
    std::uint16_t member[most], vectors[most];
  };

  GroupWalk(const GroupWalk&) = delete;
  GroupWalk& operator=(const GroupWalk&) = delete;

  /// The next group; false: there is none left.
  virtual bool next() = 0;
  /// The next candidates of the group, and who meets them; false: there are none left.
  virtual bool find() = 0;

  bool excludes() const { return bool(exclusions_); }
  /// Marks those that particle i must not meet; false where there are none.
  bool exclude(std::uint32_t i);
  /// Takes the marks away.
  void include_all();

  Group group;
  Candidates candidates;
  Takers takers;
  /// These pairs are found from this side alone: candidates are given what their takers get, turned
  /// round. It is noted in the slot `slot` of open sums, by the order of the candidates, from
  /// `offset` on; or added there to what is noted already.
  bool gives = false, adds = false;
  int slot = 0;
  std::int64_t offset = 0;
  std::int64_t place = 0;  // where the group's sums are noted, in slot 0
  const Real far;          // out of reach of everybody

 protected:
  GroupWalk(const ExclusionView& exclusions, const std::uint32_t* id, const std::uint32_t* index,
            Real out_of_reach)
      : far(out_of_reach), exclusions_(exclusions), id_(id), index_(index) {}
  ~GroupWalk() = default;

 private:
  friend struct MarkExcluded;

  const ExclusionView exclusions_;
  const std::uint32_t *id_, *index_;  // by memory index; by id
};

}  // namespace perrin
