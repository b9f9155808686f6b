// Histories distributed over the processes of a run. The result, in all of them, is that of one
// process to the last bit, since scores are integers.
#pragma once

#include <memory>

#include "transport.h"

namespace neutron {

/// Adds what all processes have of a batch, for all of them.
void sum_over_processes(Batch& batch);

/// Runs contiguous shares of every batch in the processes of the run: for keyed generators, whose
/// histories have numbers of their own. `transport` itself where there is one process.
std::unique_ptr<Transport> distributed(std::unique_ptr<Transport> transport);

}  // namespace neutron
