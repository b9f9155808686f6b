// The generators, keys, distributions and weights that are there to be compared: one kernel for
// each generator, the rest decided as it runs.
#include "noise.h"
#include "pair_run.h"

namespace perrin::dpd {
namespace {

template <class C, class Keys>
void any(const PairRun<C>& r, Output kind, bool normal) {
  using Noise = AnyNoise<Keys>;
  const Noise noise{Keys(r.seed), normal};
  switch (kind) {
    case Output::force:
      return start<C, Noise, Output::force, false, false>(r, noise);
    case Output::measure:
      return start<C, Noise, Output::measure, false, false>(r, noise);
    case Output::split:
      return start<C, Noise, Output::split, false, false>(r, noise);
  }
}

}  // namespace

template <class C>
void run_any(const PairRun<C>& r, Output kind, const NoiseChoice& choice) {
  const bool normal = choice.normal;
  if (choice.paper_keys) {
    switch (choice.generator) {
      case Generator::saru:
        return any<C, PaperKeys<Saru>>(r, kind, normal);
      case Generator::tea:
        return any<C, PaperKeys<Tea>>(r, kind, normal);
      case Generator::sarutea:
        return any<C, PaperKeys<SaruTea>>(r, kind, normal);
      case Generator::philox:
        PERRIN_ASSERT(false);  // the settings refuse it
    }
  }
  switch (choice.generator) {
    case Generator::saru:
      return any<C, DefaultKeys<Saru>>(r, kind, normal);
    case Generator::tea:
      return any<C, DefaultKeys<Tea>>(r, kind, normal);
    case Generator::sarutea:
      return any<C, DefaultKeys<SaruTea>>(r, kind, normal);
    case Generator::philox:
      return any<C, DefaultKeys<Philox>>(r, kind, normal);
  }
}

template void run_any<SoftRepulsion>(const PairRun<SoftRepulsion>&, Output, const NoiseChoice&);
template void run_any<ShiftedLennardJones>(const PairRun<ShiftedLennardJones>&, Output,
                                           const NoiseChoice&);

}  // namespace perrin::dpd
