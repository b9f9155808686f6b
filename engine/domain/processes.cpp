#include "engine/domain/processes.h"

#include <fmt/format.h>

#include "engine/communicator/communicator.h"
#include "engine/domain/decomposition.h"

namespace perrin {

std::string device_of_process(const std::string& name) {
  const Communicator& world = Communicator::world();
  const int gpus = cuda_device_count();
  if (!world.several() || gpus == 0 || (name != "auto" && name != "cuda")) return name;
  return fmt::format("cuda:{}", world.host_rank() % gpus);
}

std::string description_of_devices(const Device& device) {
  const int processes = Communicator::world().count();
  return (processes > 1 ? fmt::format("{} processes, each ", processes) : "") +
         device.description();
}

std::string why_not_distributed() {
  const int processes = Communicator::world().count();
  if (processes == 1) return "";
  return fmt::format(
      "it is not parallelised over processes; each of the {} processes does all of its work",
      processes);
}

std::string why_idle(const Device& device, std::int64_t n) {
  const int processes = Communicator::world().count();
  const Decomposition& decomposition = decomposition_of(device);
  const int active = decomposition.active();
  if (processes == 1 || active == processes) return "";
  return fmt::format(
      "{} of the {} processes {} the useful maximum for {} particles (processes.particles); {}",
      active, processes, active == 1 ? "is" : "are", n,
      decomposition.several() ? "the others are idle" : "each does all of the work");
}

}  // namespace perrin
