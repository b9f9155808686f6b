// Why the device was halted, as far as it matters to who goes on.
#pragma once

#include <cstdint>

namespace perrin {

/// In the halt word (Halt::word()): the cells do not serve the box. Particles of the running
/// step have moved, and are not sorted yet. Whatever else halts the device writes 1.
constexpr std::uint32_t halted_by_cut = 2;
/// Several domains: forces were computed with lists that turned out to be invalid.
constexpr std::uint32_t halted_by_old_lists = 3;
/// Several domains: a bonded neighbour (Domain::partners()) lies outside the ghost region.
/// Particles are sorted.
constexpr std::uint32_t halted_by_partner = 4;

}  // namespace perrin
