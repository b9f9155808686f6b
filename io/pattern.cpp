#include "io/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace perrin::io {
namespace {

/// "A3B7C" → A 3, B 7, C 1. A name is letters and underscores.
bool parse_text(const std::string& text, Blocks& blocks) {
  std::size_t at = 0;
  const auto letter = [&] {
    return at < text.size() &&
           (std::isalpha(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  const auto digit = [&] {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
  };
  while (at < text.size()) {
    std::string name, number;
    while (letter()) name += text[at++];
    while (digit()) number += text[at++];
    if (name.empty() || number.size() > 9) return false;
    blocks.emplace_back(name, number.empty() ? 1 : std::stoll(number));
  }
  return !blocks.empty();
}

bool parse_blocks(const Json& pattern, Blocks& blocks) {
  if (pattern.is_string()) return parse_text(pattern.get<std::string>(), blocks);
  if (!pattern.is_array() || pattern.empty()) return false;
  for (const Json& block : pattern) {
    if (!block.is_array() || block.size() != 2 || !block[0].is_string() ||
        !block[1].is_number_integer())
      return false;
    blocks.emplace_back(block[0].get<std::string>(), block[1].get<std::int64_t>());
  }
  return true;
}

}  // namespace

Blocks parse_pattern(const Json& pattern, const std::string& key, Setup& setup) {
  Blocks blocks;
  const bool parsed = parse_blocks(pattern, blocks);
  if (parsed && std::ranges::all_of(blocks, [](const auto& b) { return b.second > 0; }))
    return blocks;
  setup.error(key,
              fmt::format("must be blocks such as \"A3B7\" or [[\"A\", 3], [\"B\", 7]], got {}",
                          pattern.dump()));
  return {};
}

}  // namespace perrin::io
