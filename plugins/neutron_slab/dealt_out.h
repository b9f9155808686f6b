// Histories dealt out over the processes of a run. The result, in all of them, is that of one
// process to the last bit, since scores are integers.
#pragma once

#include <memory>
#include <vector>

#include "engine/communicator/communicator.h"
#include "transport.h"

namespace neutron {

/// Of n things process p has those from share_begin(n, p) to share_begin(n, p + 1).
inline std::int64_t share_begin(std::int64_t n, int process) {
  return n * process / perrin::Communicator::world().count();
}

/// Adds what all processes have of a batch, for all of them.
void sum_over_processes(Batch& batch);

/// Rows of one entry for each of n things, of which each process has its own: all have all
/// afterwards.
template <class T>
void gather_rows(std::vector<T>& values, std::int64_t n) {
  perrin::Communicator& world = perrin::Communicator::world();
  std::vector<std::size_t> offsets;
  for (int p = 0; p <= world.count(); ++p)
    offsets.push_back(std::size_t(share_begin(n, p)) * sizeof(T));
  for (std::size_t row = 0; row < values.size(); row += std::size_t(n))
    world.all_gather(values.data() + row, offsets);
}

/// Runs contiguous shares of every batch in the processes of the run: for keyed generators, whose
/// histories have numbers of their own. `transport` itself where there is one process.
std::unique_ptr<Transport> dealt_out(std::unique_ptr<Transport> transport);

}  // namespace neutron
