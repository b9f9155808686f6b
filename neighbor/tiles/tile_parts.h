// The tiles of a process in two parts: those whose halo has particles of this process alone, the
// interior, and the rest. While positions of others are on their way the pair loop goes over the
// interior; if it turns out that lists are void, over all tiles afterwards.
#pragma once

#include <cstdint>

#include "engine/core/real.h"

namespace perrin {

struct Tile;

struct TileParts {
  struct Words {
    std::uint32_t interior, rest;  // tiles, since lists were built
    std::uint32_t loops;           // over the interior so far …
    std::uint32_t blocks_done;     // … and blocks of them that have ended, modulo 2^32
    std::uint32_t built;           // in the loop of this number: the rest is all tiles
  };
  Words* words;        // nullptr: not in parts
  Tile* tiles;         // the interior from the front, the rest from the back
  std::uint32_t room;  // of `tiles`
};

}  // namespace perrin
