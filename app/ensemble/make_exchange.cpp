#include "app/ensemble/make_exchange.h"

#include "app/ensemble/gibbs_exchange.h"
#include "app/ensemble/replica_exchange.h"

namespace perrin {

std::unique_ptr<Exchange> make_exchange(const Variations& variations, Communicator& all,
                                        int threads) {
  const auto& settings = variations.settings().exchange;
  if (!settings) return nullptr;
  if (settings->is_gibbs()) return std::make_unique<GibbsExchange>(variations, all, threads);
  return std::make_unique<ReplicaExchange>(*settings, variations.seed(), variations.count(), all);
}

}  // namespace perrin
