#include "io/particle_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "io/particle_order.h"

namespace perrin::io {

void keep_ids(Configuration& c, const std::vector<std::int64_t>& ids, bool changing) {
  if (ids.empty()) return;
  const std::int64_t first = ids.front(), last = ids.back();
  const bool counts_rows = (first == 0 || first == 1) && last - first + 1 == std::ssize(ids);
  if (counts_rows && !changing) return;
  if (first < 0 || last > std::numeric_limits<std::int32_t>::max())
    return c.warnings.push_back(fmt::format(
        "ids of particles are not kept: expected 0 to 2^31 - 1, got {} to {}", first, last));
  c.id.assign(ids.begin(), ids.end());
}

void ParticleIds::sort(std::vector<std::int64_t> ids, Frame& frame, const TextLines& text) {
  std::vector<std::uint32_t> order(ids.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = std::uint32_t(k);
  std::ranges::sort(order, {}, [&](std::uint32_t k) { return ids[k]; });
  reorder_particles(frame.configuration, order);
  reorder(frame.momentum, order);
  std::ranges::sort(ids);
  if (const auto twice = std::ranges::adjacent_find(ids); twice != ids.end())
    text.fail(fmt::format("the frame that ends here contains the particle id {} twice", *twice));
  keep_ids(frame.configuration, ids);
  if (first_.empty()) first_ = ids;
  if (ids == first_) return;
  if (ids.size() != first_.size())
    text.fail(fmt::format(
        "the frame that ends here has {} particles, the frame read before {}: expected the same "
        "number in all frames; use single frames (\"frame\", --frame)",
        ids.size(), first_.size()));
  const auto [own, other] = std::ranges::mismatch(ids, first_);
  text.fail(fmt::format(
      "the frame that ends here has other particle ids than the frame read before ({} instead of "
      "{}): expected the same particles; use single frames (\"frame\", --frame)",
      own == ids.end() ? "none" : std::to_string(*own),
      other == first_.end() ? "none" : std::to_string(*other)));
}

}  // namespace perrin::io
