// Which particles an observer counts.
#pragma once

#include <algorithm>
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

/// [id]: 1 for particles of these types in a group that stays the same. Reports at "types" and
/// "group" what is wrong, also that there is none.
inline std::vector<std::uint8_t> fixed_selection(const std::vector<std::string>& types,
                                                 const std::string& group, Setup& setup) {
  const Configuration& c = setup.configuration();
  const auto mask = type_mask(types, setup).to_host();
  const Group* const members = setup.fixed_group(group, "group");
  std::vector<std::uint8_t> chosen(c.type.size(), 0);
  if (!members) return chosen;
  for (std::size_t id = 0; id < chosen.size(); ++id)
    chosen[id] = mask[c.type[id]] != 0 && members->has(id) ? 1 : 0;
  if (std::count(chosen.begin(), chosen.end(), 1) == 0) {
    if (members->has_all())
      setup.error("types", "the system has no particle of these types");
    else
      setup.error("group", "\"" + group + "\" has no particle of these types");
  }
  return chosen;
}

/// For kernels: those of some types that are in a group.
struct Selected {
  const std::uint32_t* types;  // [type]: 1 or 0
  GroupMask group;
  PERRIN_HD bool has(std::uint32_t type, std::uint32_t id) const {
    return types[type] != 0 && group.has(id);
  }
};

/// Owns what a Selected points to.
class Selection {
 public:
  /// Reports unknown names at "types" and "group".
  Selection(const std::vector<std::string>& types, const std::string& group, Setup& setup)
      : types_(type_mask(types, setup)) {
    if (const Group* const found = setup.group(group, "group")) group_ = {setup.device(), *found};
  }
  Selected view() const { return {types_.data(), group_.mask()}; }

 private:
  Buffer<std::uint32_t> types_;
  GroupOnDevice group_;
};

}  // namespace perrin::analysis
