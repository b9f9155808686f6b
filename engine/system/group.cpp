#include "engine/system/group.h"

#include <numeric>
#include <utility>

namespace perrin {
namespace {

std::int64_t count_of(const Group::Members& members) {
  return std::accumulate(members.begin(), members.end(), std::int64_t(0));
}

}  // namespace

Group::Group(std::string name, Members members, std::int64_t every) {
  const std::int64_t count = count_of(members);
  state_ = std::make_shared<State>(State{std::move(name), std::move(members), count, every, 0, {}});
}

std::vector<std::uint32_t> Group::ids() const {
  std::vector<std::uint32_t> list;
  list.reserve(std::size_t(count()));
  for (std::size_t id = 0; id < members().size(); ++id)
    if (has(id)) list.push_back(std::uint32_t(id));
  return list;
}

std::vector<std::int64_t> Group::count_by_type(const std::vector<std::uint32_t>& type,
                                               std::size_t types) const {
  std::vector<std::int64_t> count(types, 0);
  for (std::size_t id = 0; id < members().size(); ++id)
    if (has(id)) ++count.at(type.at(id));
  return count;
}

void Group::choose(Members members) {
  PERRIN_ASSERT(members.size() == state_->members.size());
  state_->members = std::move(members);
  state_->count = count_of(state_->members);
  ++state_->version;
  for (const auto& copy : state_->on_devices)
    if (const auto buffer = copy.lock()) buffer->assign(state_->members);
}

GroupOnDevice::GroupOnDevice(const Device& device, const Group& group) {
  if (group.has_all() && !group.changes()) return;
  member_ = std::make_shared<Buffer<std::uint8_t>>(device,
                                                   std::span<const std::uint8_t>(group.members()));
  auto& all = group.state_->on_devices;
  std::erase_if(all, [](const auto& copy) { return copy.expired(); });
  if (group.changes()) all.push_back(member_);
}

}  // namespace perrin
