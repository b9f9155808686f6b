// Bonds, angles and dihedrals of an H5MD file: lists under /connectivity, of Perrin or of others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/h5md_group.h"

namespace perrin::io {

/// A group that was read, and where its particles are among all: by id (by row, where it has none),
/// in this order.
struct H5mdMembers {
  const H5mdGroup* group;
  std::vector<std::pair<std::int64_t, std::uint32_t>> place;
};

/// Adds what the lists hold at a frame of the first group: series hold until they change. Lists of
/// groups that are not among `groups` are counted in left_out, unless somebody has asked for just
/// these. What is no such list is told (Configuration::warnings).
void read_connectivity(const Node& root, const std::vector<H5mdMembers>& groups, bool asked_for,
                       std::int64_t frame, Configuration& c);

}  // namespace perrin::io
