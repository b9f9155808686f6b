// The loop over the neighbours of particles that may move (engine/components/trial_moves.h), for
// any body of a pair loop (neighbor/pair_loop.h) that computes energies: term[3] is that of a pair.
#pragma once

#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/trials/trial_chains_on_gpu.h"
#include "forces/trials/trials_on_cpu.h"
#include "forces/trials/trials_on_gpu.h"
#include "neighbor/neighbors.h"

namespace perrin {

/// Adds to trials.change what the trials change of the energies of pairs. Device work only.
template <class Body>
void trial_loop(const char* name, StepContext& s, const TrialMoves& trials, const Body& body) {
  const Device& device = s.device();
  if (device.halt().skipping()) return;
  const Current<Metric> metric = s.particles().metric();
  const ExclusionView exclusions = s.neighbors()->exclusions();
  const std::int64_t n = trials.count;
#ifdef __CUDACC__
  if (device.is_cuda()) {
    const std::int64_t blocks =
        (n * detail::trial_lanes + detail::trial_block - 1) / detail::trial_block;
    launch_early(device, name, dim3(unsigned(blocks)), dim3(detail::trial_block), 0,
                 detail::trial_kernel<Body>, body, trials, metric.kept, exclusions,
                 static_cast<const std::uint32_t*>(device.halt().word()));
    return;
  }
#endif
  (void)name;
  detail::for_each_on_cpu(device, n, detail::TrialsOnCpu<Body>{body, trials, *metric, exclusions},
                          32);
}

/// Whole chains of trials. Device work only.
template <class Body>
void trial_chain_loop([[maybe_unused]] const char* name, StepContext& s, const TrialChains& chains,
                      const Body& body) {
  const Device& device = s.device();
  if (device.halt().skipping()) return;
#ifdef __CUDACC__
  if (device.is_cuda()) {
    detail::launch_trial_chains(name, s, chains, body);
    return;
  }
#endif
  const detail::ChainsOnCpu<Body> chain{body, chains, *s.particles().metric(),
                                        s.neighbors()->exclusions()};
  for_tasks(device, chains.cells.active(),
            [&](std::int64_t k, int) { run_range(chain, k, k + 1); });
}

}  // namespace perrin
