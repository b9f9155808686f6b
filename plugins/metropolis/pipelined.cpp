// The pipelined engine: groups of 32 moves. On the GPU many groups are in work at once
// (pipelined.cuh); on the CPU all threads work at one group, or each at a replica of its own.
#include <algorithm>

#include "engine.h"
#include "pair_rows.h"
#include "pipelined_cpu.h"
#include "sequential_cycle.h"
#ifdef __CUDACC__
#include "pipelined_gpu.cuh"
#endif

namespace perrin::metropolis {
namespace {

class Pipelined final : public MoveEngine {
 public:
  Pipelined(System& system, const ChainOptions& chain, const PipelinedOptions& options)
      : MoveEngine(system, chain),
        choice_(Purpose::metropolis_choice, chain.seed),
        width_(system.model().largest_molecule()),
        plain_(plain_lennard_jones(system.model())),
        groups_(system.device(), arrays_) {
#ifdef __CUDACC__
    gpu_ = std::make_unique<PipelineOnGpu>(system, chain, options, width_);
#else
    (void)options;
#endif
    system_changed();
  }

  void run(std::int64_t first, std::int64_t n) override {
    if (n <= 0 || system_.own().size() == 0) return;
    if (chain_.single_precision)
      plain_ ? run_as<float, PlainLennardJones>(first, n) : run_as<float, AnyPair>(first, n);
    else
      plain_ ? run_as<double, PlainLennardJones>(first, n) : run_as<double, AnyPair>(first, n);
  }
  void set_sizes(const MoveSizes& sizes) override { sizes_ = sizes; }
  void system_changed() override {
    if (system_.device().is_cuda()) return;
    const SystemView view = system_.view();
    arrays_.assign(view.site, std::size_t(view.sites) * view.replicas);
  }

 private:
  template <class T, class E>
  void run_as(std::int64_t first, std::int64_t n) {
#ifdef __CUDACC__
    if (system_.device().is_cuda()) return run_cuda<T, E>(first, n);
#endif
    const auto rows = make_rows<T>(system_);
    const SystemView view = system_.view();
    const MoveLaw law(chain_.seed, sizes_, system_.box(), system_.own().begin);
    // Choosing at random scatters a group's sites over the arrays: then move by move.
    if (system_.replicas() > 1 || chain_.random_order)
      return run_replicas<T, E>(view, law, rows, first, n);
    for (std::int64_t cycle = first; cycle < first + n; ++cycle)
      for (std::uint32_t m = 0; m < view.molecules; m += group_size)
        groups_.move_group<T, E>(view, law, rows, cycle, m);
  }

  template <class T, class E>
  void run_replicas(const SystemView& view, const MoveLaw& law, const std::vector<PairRow<T>>& rows,
                    std::int64_t first, std::int64_t n) {
    for_tasks(system_.device(), view.replicas, [&](std::int64_t r, int) {
      std::vector<Position> trial(width_);
      for (std::int64_t cycle = first; cycle < first + n; ++cycle) {
        const SequentialCycle<T, E> body{{view, &arrays_, std::uint32_t(r), trial.data()},
                                         law,
                                         choice_,
                                         chain_.random_order,
                                         rows.data(),
                                         cycle};
        run_range(body, 0, 1);
      }
    });
  }

#ifdef __CUDACC__
  template <class T, class E>
  void run_cuda(std::int64_t first, std::int64_t n) {
    const std::uint32_t uniform = uniform_sites(system_.model());
    const bool one_type = system_.model().types.size() == 1;
    if constexpr (E::plain) {
      if (one_type && uniform == 1) return gpu_->run<T, E, 1>(first, n, sizes_);
      if (one_type && uniform == 2) return gpu_->run<T, E, 2>(first, n, sizes_);
    }
    gpu_->run<T, E, 0>(first, n, sizes_);
  }

  std::unique_ptr<PipelineOnGpu> gpu_;
#endif

  RunKey choice_;
  MoveSizes sizes_;
  std::uint32_t width_;  // sites of the largest molecule
  bool plain_;
  SiteArrays arrays_;
  GroupsOnCpu groups_;
};

}  // namespace

std::unique_ptr<MoveEngine> make_pipelined(System& system, const ChainOptions& chain,
                                           const PipelinedOptions& options) {
  return std::make_unique<Pipelined>(system, chain, options);
}

}  // namespace perrin::metropolis
