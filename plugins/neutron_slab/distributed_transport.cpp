#include "distributed_transport.h"

#include <utility>
#include <vector>

#include "engine/domain/work_distribution.h"

namespace neutron {

using perrin::Share;
using perrin::WorkDistribution;

void sum_over_processes(Batch& batch) {
  if (!WorkDistribution::several()) return;
  std::vector<std::int64_t> sums(batch.scores.sum, batch.scores.sum + Scores::count);
  sums.insert(sums.end(), batch.bins.begin(), batch.bins.end());
  WorkDistribution::sum(sums);
  for (std::size_t k = 0; k < Scores::count; ++k) batch.scores.sum[k] = std::uint64_t(sums[k]);
  batch.bins.assign(sums.begin() + Scores::count, sums.end());
}

namespace {

class DistributedTransport : public Transport {
 public:
  explicit DistributedTransport(std::unique_ptr<Transport> own) : own_(std::move(own)) {}

  Batch run(std::uint64_t first, std::int64_t n) override {
    if (n < WorkDistribution::parts()) return own_->run(first, n);  // not worth it
    const Share own = WorkDistribution(n).own();
    Batch batch = own_->run(first + std::uint64_t(own.begin), own.size());
    sum_over_processes(batch);
    return batch;
  }

 private:
  std::unique_ptr<Transport> own_;
};

}  // namespace

std::unique_ptr<Transport> distributed(std::unique_ptr<Transport> transport) {
  if (!WorkDistribution::several()) return transport;
  return std::make_unique<DistributedTransport>(std::move(transport));
}

}  // namespace neutron
