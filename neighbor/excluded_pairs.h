// Which pairs of particles pair forces leave out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin {

/// Pairs of one kind; some may be there twice, or both ways round. Kinds:
///   bonds        bonded particles (1-2)
///   angles       two bonds apart (1-3), and the ends of listed angles
///   dihedrals    three bonds apart (1-4), and the ends of listed dihedrals
///   molecules    all of one molecule
///   bodies       all of one rigid body
/// "angles listed" and "dihedrals listed" are the listed ones alone (of bonds that the job
/// ignores); "angles along bonds" and "dihedrals along bonds" the others alone. How far two are
/// apart is the number of bonds of the shortest way.
std::vector<std::pair<std::uint32_t, std::uint32_t>> excluded_pairs(std::size_t particles,
                                                                    const Topology& topology,
                                                                    const std::string& kind);

/// The kinds that are left of those a job names where it ignores bonds, angles or dihedrals: what
/// is ignored leaves no pair out.
std::vector<std::string> kinds_without(const std::vector<std::string>& kinds,
                                       const std::vector<std::string>& ignored);

/// How many pairs each kind leaves out, in words: "4 bonded, 3 two bonds apart"; empty: none.
std::string excluded_text(std::size_t particles, const Topology& topology,
                          const std::vector<std::string>& kinds);

}  // namespace perrin
