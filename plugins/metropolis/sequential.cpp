// The reference: one CPU thread, one move after the other. Its loop over the other sites uses the
// vector units, so that it is a fair one.
#include <algorithm>

#include "engine.h"
#include "engine/device/parallel.h"
#include "pair_rows.h"
#include "sequential_cycle.h"

namespace perrin::metropolis {
namespace {

class Sequential final : public MoveEngine {
 public:
  Sequential(System& system, const ChainOptions& chain)
      : MoveEngine(system, chain), choice_(Purpose::metropolis_choice, chain.seed) {
    if (system.device().is_cuda())
      throw BugError("the sequential engine needs a system on the CPU");
    trial_.resize(system.model().largest_molecule());
    system_changed();
  }

  void run(std::int64_t first, std::int64_t n) override {
    const bool plain = plain_lennard_jones(system_.model());
    if (chain_.single_precision)
      plain ? run_as<float, PlainLennardJones>(first, n) : run_as<float, AnyPair>(first, n);
    else
      plain ? run_as<double, PlainLennardJones>(first, n) : run_as<double, AnyPair>(first, n);
  }
  void set_sizes(const MoveSizes& sizes) override { sizes_ = sizes; }
  void system_changed() override {
    const SystemView view = system_.view();
    arrays_.assign(view.site, std::size_t(view.sites) * view.replicas);
  }

 private:
  template <class T, class E>
  void run_as(std::int64_t first, std::int64_t n) {
    const auto rows = make_rows<T>(system_);
    const SystemView view = system_.view();
    for (std::uint32_t replica = 0; replica < view.replicas; ++replica)
      for (std::int64_t cycle = first; cycle < first + n; ++cycle) {
        const SequentialCycle<T, E> body{{view, &arrays_, replica, trial_.data()},
                                         {chain_.seed, sizes_, system_.box(), system_.own().begin},
                                         choice_,
                                         chain_.random_order,
                                         rows.data(),
                                         cycle};
        run_range(body, 0, 1);
      }
  }

  RunKey choice_;
  MoveSizes sizes_;
  SiteArrays arrays_;
  std::vector<Position> trial_;
};

}  // namespace

std::unique_ptr<MoveEngine> make_sequential(System& system, const ChainOptions& chain) {
  return std::make_unique<Sequential>(system, chain);
}

}  // namespace perrin::metropolis
