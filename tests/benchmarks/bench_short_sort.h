#pragma once

#include "tests/benchmarks/bench.h"

namespace perrin::bench {

/// `perrin-bench short-sort`; --sizes are lengths of arrays here. Exit status: 1 if a sort gave a
/// wrong result. Throws UserError.
int short_sort(const Options& options);

/// `perrin-bench short-sort-latency`: one batch at a time, up to 1 024 elements; as above.
int short_sort_latency(const Options& options);

}  // namespace perrin::bench
