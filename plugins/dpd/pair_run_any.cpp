// The generators, keys, distributions and weights that are there to be compared: decided as it
// runs.
#include "pair_run.h"

namespace perrin::dpd {

template <class C>
void run_any(const PairRun<C>& r, Output kind, const NoiseChoice& choice) {
  const AnyNoise noise{choice, r.seed};
  switch (kind) {
    case Output::force:
      return start<C, AnyNoise, Output::force, false, false>(r, noise);
    case Output::measure:
      return start<C, AnyNoise, Output::measure, false, false>(r, noise);
    case Output::split:
      return start<C, AnyNoise, Output::split, false, false>(r, noise);
  }
}

template void run_any<SoftRepulsion>(const PairRun<SoftRepulsion>&, Output, const NoiseChoice&);
template void run_any<ShiftedLennardJones>(const PairRun<ShiftedLennardJones>&, Output,
                                           const NoiseChoice&);

}  // namespace perrin::dpd
