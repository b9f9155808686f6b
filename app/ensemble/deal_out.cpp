#include "app/ensemble/deal_out.h"

#include <utility>

namespace perrin {

std::vector<std::int64_t> deal_out(const std::vector<char>& complete, std::int64_t together,
                                   bool ranges, int rank, int processes) {
  std::vector<std::vector<std::int64_t>> hands;  // of neighbours
  std::int64_t last = -1;
  for (std::size_t k = 0; k < complete.size(); ++k) {
    if (complete[k]) continue;
    const std::int64_t hand = std::int64_t(k) / together;
    if (std::exchange(last, hand) != hand) hands.emplace_back();
    hands.back().push_back(std::int64_t(k));
  }
  std::vector<std::int64_t> mine;
  const auto count = std::int64_t(hands.size());
  for (std::int64_t h = 0; h < count; ++h)
    if ((ranges ? h * processes / count : h % processes) == rank)
      mine.insert(mine.end(), hands[std::size_t(h)].begin(), hands[std::size_t(h)].end());
  return mine;
}

}  // namespace perrin
