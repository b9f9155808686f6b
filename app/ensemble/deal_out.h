// Which systems of an ensemble each of several processes has.
#pragma once

#include <cstdint>
#include <vector>

namespace perrin {

/// Those of process `rank` of `processes`. Systems that are `complete` [system] are nobody's;
/// `together` neighbours each are in one process. `ranges`: each process has neighbours, or they
/// are dealt out like cards.
std::vector<std::int64_t> deal_out(const std::vector<char>& complete, std::int64_t together,
                                   bool ranges, int rank, int processes);

}  // namespace perrin
