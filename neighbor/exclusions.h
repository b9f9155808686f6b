// Pairs that pair forces leave out: bonded particles, the ends of an angle or of a dihedral, those
// of one molecule.
#pragma once

#include <string>
#include <vector>

#include "engine/device/buffer.h"
#include "engine/system/configuration.h"

namespace perrin {

/// As kernels see them, by id: excluded[begin[a]] … excluded[begin[a + 1] - 1] are the partners of
/// a, in ascending order; begin == nullptr: there are none at all.
struct ExclusionView {
  const std::uint32_t *begin = nullptr, *excluded = nullptr;

  PERRIN_HD explicit operator bool() const { return begin != nullptr; }
  PERRIN_HD bool excludes(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t k = begin[a];
    const std::uint32_t end = begin[a + 1];
    if (k == end) return false;
    if (excluded[k] == b) return true;
    // Ids of a molecule are mostly consecutive, but for the first: the centre of a rigid body, the
    // bead before. The ends of the range of the others rule out nearly all.
    if (++k == end || b < excluded[k] || b > excluded[end - 1]) return false;
    for (; k < end; ++k)
      if (excluded[k] == b) return true;
    return false;
  }
};

class Exclusions {
 public:
  /// `kinds`: as excluded_pairs() knows them (neighbor/excluded_pairs.h). `change`: there is a view
  /// also of none, since set() may follow.
  Exclusions(const Device& device, std::int64_t particles, const Topology& topology,
             const std::vector<std::string>& kinds, bool change = false);
  /// Those of another topology. True: the view is another one. Waits.
  bool set(const Topology& topology);
  ExclusionView view() const {
    return begin_.size() == 0 ? ExclusionView{} : ExclusionView{begin_.data(), excluded_.data()};
  }

 private:
  std::vector<std::string> kinds_;
  bool change_;
  std::size_t particles_;
  Buffer<std::uint32_t> begin_, excluded_;
};

}  // namespace perrin
