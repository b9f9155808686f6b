// For those who put more than kernels and copies into what a Recording records.
#pragma once

#ifdef PERRIN_CUDA
#include <cuda_runtime_api.h>

namespace perrin {

/// Puts a node behind what has been recorded so far. `stream` is WorkQueue::stream() while
/// WorkQueue::recording(); WorkQueue::begin_anew() must follow before the next kernel.
void record_node(cudaStream_t stream, cudaGraphNodeParams& node);

}  // namespace perrin
#endif
