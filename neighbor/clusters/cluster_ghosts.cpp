#include "neighbor/clusters/cluster_ghosts.h"

#include <algorithm>

namespace perrin {

ClusterGhosts::ClusterGhosts(const Particles& particles) {
  const Team* const team = particles.device().team();
  if (!team) return;
  const auto processes = std::size_t(team->count());
  send_count_.resize(processes), receive_count_.resize(processes);
  asked_.resize(processes), given_.resize(processes);
}

ClusterRange ClusterGhosts::of_share(const std::vector<std::uint32_t>& first, const Share& share) {
  if (share.size() == 0) return {0, 0};
  return {std::uint32_t(std::ranges::upper_bound(first, share.begin) - first.begin()) - 1,
          std::uint32_t(std::ranges::lower_bound(first, share.end) - first.begin())};
}

void ClusterGhosts::find(const Particles& particles, const std::vector<std::uint32_t>& first,
                         const std::vector<unsigned char>& needed) {
  const Team* const team = particles.device().team();
  if (!team) return;
  const Share own = particles.share();
  const ClusterRange mine = of_share(first, own);
  const auto bytes = [](const ClusterRange& range) { return (range.end - range.begin + 7) / 8; };
  room_ = 0;
  for (int p = 0; p < team->count(); ++p) {
    const Share theirs = team->share(particles.size(), p);
    const ClusterRange range = of_share(first, theirs);
    room_ = std::max(room_, theirs.size());
    auto& asked = asked_[std::size_t(p)];
    asked.assign(bytes(range), 0);
    given_[std::size_t(p)].assign(bytes(mine), 0);
    for (std::uint32_t c = range.begin; c < range.end; ++c)
      if (needed[c])
        asked[(c - range.begin) / 8] |= static_cast<unsigned char>(1u << (c - range.begin) % 8);
  }
  team->swap(asked_, given_);
  send_.resize(std::size_t(room_ * team->count()));
  receive_.resize(send_.size());
  const auto list = [&](const Team::Pieces& bits, int p, const ClusterRange& range,
                        const Share& share, std::vector<std::uint32_t>& to) {
    const auto begin = to.begin() + std::ptrdiff_t(p * room_);
    auto next = begin;
    for (std::uint32_t c = range.begin; c < range.end && p != team->rank(); ++c) {
      if (!(bits[std::size_t(p)][(c - range.begin) / 8] >> (c - range.begin) % 8 & 1)) continue;
      const std::int64_t last = std::min<std::int64_t>(first[c + 1], share.end);
      for (std::int64_t i = std::max<std::int64_t>(first[c], share.begin); i < last; ++i)
        *next++ = std::uint32_t(i);
    }
    return std::uint32_t(next - begin);
  };
  for (int p = 0; p < team->count(); ++p) {
    const Share theirs = team->share(particles.size(), p);
    send_count_[std::size_t(p)] = list(given_, p, mine, own, send_);
    receive_count_[std::size_t(p)] = list(asked_, p, of_share(first, theirs), theirs, receive_);
  }
}

Ghosts ClusterGhosts::view() const {
  return {send_.data(), receive_.data(), send_count_.data(), receive_count_.data(), room_};
}

}  // namespace perrin
