#include "engine/device/host_status.h"

#include "engine/device/batch_replay.h"
#include "engine/device/parallel.h"

namespace perrin {

#ifdef __CUDACC__

namespace {

__global__ void host_status_kernel(const std::uint64_t* number, const std::uint32_t* halt,
                                   HostStatus::Seen* seen) {
  *seen = {*number, *halt};
}

}  // namespace

HostStatus::HostStatus(const Device& device) : device_(device) {
  if (device_.role().batch) return;
  check_cuda(cudaHostAlloc(&seen_, sizeof *seen_, cudaHostAllocMapped), "allocating for the host");
}

HostStatus::~HostStatus() {
  if (BatchReplay* const batch = device_.role().batch) batch->forget(device_.role().batch_member);
  cudaFreeHost(seen_);
}

HostStatus::Seen HostStatus::look(const std::uint64_t* number) {
  if (BatchReplay* const batch = device_.role().batch) {
    const BatchReplay::Seen seen =
        batch->look(device_.role().batch_member, number, device_.halt().word());
    return {seen.number, seen.halt};
  }
  launch(device_, "what the host looks at", dim3(1), dim3(1), 0, host_status_kernel, number,
         device_.halt().word(), seen_);
  device_.synchronize();
  return *seen_;
}

#else

HostStatus::HostStatus(const Device& device) : device_(device) {}
HostStatus::~HostStatus() = default;
HostStatus::Seen HostStatus::look(const std::uint64_t* number) { return {*number, 0}; }

#endif

}  // namespace perrin
