#include "engine/system/group.h"

#include <numeric>
#include <utility>

namespace perrin {

Group::Group(std::string name, std::vector<std::uint8_t> member)
    : name_(std::move(name)),
      member_(std::move(member)),
      count_(std::accumulate(member_.begin(), member_.end(), std::int64_t(0))) {}

std::vector<std::uint32_t> Group::ids() const {
  std::vector<std::uint32_t> list;
  list.reserve(std::size_t(count_));
  for (std::size_t id = 0; id < member_.size(); ++id)
    if (has(id)) list.push_back(std::uint32_t(id));
  return list;
}

std::vector<std::int64_t> Group::count_by_type(const std::vector<std::uint32_t>& type,
                                               std::size_t types) const {
  std::vector<std::int64_t> count(types, 0);
  for (std::size_t id = 0; id < member_.size(); ++id)
    if (has(id)) ++count.at(type.at(id));
  return count;
}

}  // namespace perrin
