#include "engine/domain/work_distribution.h"

#include "engine/communicator/communicator.h"

namespace perrin {

int WorkDistribution::parts() { return Communicator::world().count(); }
int WorkDistribution::own_part() { return Communicator::world().rank(); }
void WorkDistribution::sum(std::span<std::int64_t> values) { Communicator::world().sum(values); }
void WorkDistribution::gather_bytes(void* data, const std::vector<std::size_t>& offsets) {
  Communicator::world().all_gather(data, offsets);
}

}  // namespace perrin
