// Types along a chain: "A3B7", or [["A", 3], ["B", 7]].
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/setup.h"

namespace perrin::io {

/// Type and number of beads of each block.
using Blocks = std::vector<std::pair<std::string, std::int64_t>>;

/// The blocks of the setting `key`; empty after a mistake, which is reported there.
Blocks parse_pattern(const Json& pattern, const std::string& key, Setup& setup);

}  // namespace perrin::io
