#include "schedule.h"

#include "moves.h"

namespace perrin::metropolis {

RandomSchedule::RandomSchedule(const RunKey& choice, std::int64_t cycle, std::uint32_t molecules)
    : molecule(molecules),
      next_group(molecules, never),
      last_group(molecules, never),
      first_group(molecules, never) {
  std::vector<std::uint32_t> last_move(molecules, never);
  group_begin.push_back(0);
  for (std::uint32_t i = 0; i < molecules; ++i) {
    const std::uint32_t m = molecule[i] = chosen(choice, cycle, i, molecules);
    const std::uint32_t before = last_move[m];
    const bool again = before != never && before >= group_begin.back();
    if (again || i - group_begin.back() == group_size) group_begin.push_back(i);
    const std::uint32_t group = std::uint32_t(group_begin.size()) - 1;
    if (before != never) {
      next_group[before] = group;
      // The group of the move before; group_begin grows with the moves.
      std::uint32_t low = 0, high = group;
      while (low < high) {
        const std::uint32_t middle = (low + high + 1) / 2;
        if (group_begin[middle] <= before)
          low = middle;
        else
          high = middle - 1;
      }
      last_group[i] = low;
    } else {
      first_group[m] = group;
    }
    last_move[m] = i;
  }
  group_begin.push_back(molecules);
}

}  // namespace perrin::metropolis
