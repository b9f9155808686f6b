#include "neighbor/clusters/cluster_ghosts.h"

#include <algorithm>
#include <cstring>

namespace perrin {
namespace {

void append(std::vector<unsigned char>& piece, const Share& share) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&share);
  piece.insert(piece.end(), bytes, bytes + sizeof share);
}
Share share_of(const std::vector<unsigned char>& piece, std::size_t k) {
  Share share;
  std::memcpy(&share, piece.data() + k * sizeof share, sizeof share);
  return share;
}

}  // namespace

ClusterRange ClusterPlaces::of_share(const Share& share) const {
  const auto begin = std::uint32_t(std::ranges::upper_bound(end, share.begin) - end.begin());
  const auto last = std::uint32_t(std::ranges::lower_bound(first, share.end) - first.begin());
  return share.size() > 0 && begin < last ? ClusterRange{begin, last} : ClusterRange{0, 0};
}

ClusterGhosts::ClusterGhosts(const Particles& particles) {
  const auto domains = std::size_t(decomposition_of(particles.device()).count());
  send_count_.resize(domains), receive_count_.resize(domains);
  asked_.resize(domains), given_.resize(domains);
}

void ClusterGhosts::find(const Particles& particles, const ClusterPlaces& clusters,
                         const std::vector<unsigned char>& needed) {
  const Decomposition& decomposition = decomposition_of(particles.device());
  for (int p = 0; p < decomposition.count(); ++p) {
    auto& asked = asked_[std::size_t(p)];
    asked.clear();
    if (p == decomposition.own()) continue;
    const Share theirs = decomposition.share(particles.size(), p);
    const ClusterRange range = clusters.of_share(theirs);
    Share run{0, 0};  // of clusters that follow one another in memory
    for (std::uint32_t c = range.begin; c < range.end; ++c) {
      if (!needed[c]) continue;
      const Share more{std::max<std::int64_t>(clusters.first[c], theirs.begin),
                       std::min<std::int64_t>(clusters.end[c], theirs.end)};
      if (run.size() > 0 && run.end != more.begin) append(asked, run);
      run = {run.end == more.begin && run.size() > 0 ? run.begin : more.begin, more.end};
    }
    if (run.size() > 0) append(asked, run);
  }
  decomposition.swap_any(asked_, given_);
  const auto count = [](const Decomposition::Pieces& pieces, std::vector<std::uint32_t>& of) {
    std::uint32_t most = 0;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      of[p] = 0;
      for (std::size_t k = 0; k < pieces[p].size() / sizeof(Share); ++k)
        of[p] += std::uint32_t(share_of(pieces[p], k).size());
      most = std::max(most, of[p]);
    }
    return most;
  };
  room_ = std::max(count(given_, send_count_), count(asked_, receive_count_));
  const auto list = [&](const Decomposition::Pieces& pieces, std::vector<std::uint32_t>& to) {
    to.resize(std::size_t(room_) * pieces.size());
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      std::uint32_t* next = to.data() + std::size_t(room_) * p;
      for (std::size_t k = 0; k < pieces[p].size() / sizeof(Share); ++k)
        for (Share run = share_of(pieces[p], k); run.begin < run.end; ++run.begin)
          *next++ = std::uint32_t(run.begin);
    }
  };
  list(given_, send_), list(asked_, receive_);
}

HaloPlan ClusterGhosts::view() const {
  return {send_.data(), receive_.data(), send_count_.data(), receive_count_.data(), room_};
}

}  // namespace perrin
