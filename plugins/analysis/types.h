// Which particle types an observer counts.
#pragma once

#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/device/buffer.h"

namespace perrin::analysis {

/// [type]: 1 or 0; no names: all. Reports unknown names at "types".
inline Buffer<std::uint32_t> type_mask(const std::vector<std::string>& names, Setup& setup) {
  const std::size_t types = setup.configuration().types.size();
  std::vector<std::uint32_t> mask(types, names.empty() ? 1 : 0);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::uint32_t t = setup.type_index(names[k], "types[" + std::to_string(k) + "]");
    if (t < types) mask[t] = 1;
  }
  return {setup.device(), std::span<const std::uint32_t>(mask)};
}

}  // namespace perrin::analysis
