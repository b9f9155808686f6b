// The pairs of "mdpd": those of "dpd", with densities summed up beside the forces.
#include "pair_run.h"

namespace perrin::dpd {
namespace {

using C = SoftRepulsion;
using Noise = UniformNoise<DefaultKeys<Saru>>;

template <bool OneType>
void plain(const PairRun<C>& r, Output kind, const Noise& noise, const DensitySum& density) {
  switch (kind) {
    case Output::force:
      return start<C, Noise, Output::force, true, OneType>(r, noise, density);
    case Output::measure:  // now and then: one body less to compile
      return start<C, Noise, Output::measure, true, false>(r, noise, density);
    case Output::split:
      return start<C, Noise, Output::split, true, OneType>(r, noise, density);
  }
}

}  // namespace

void run_plain(const PairRun<C>& r, Output kind, const DensitySum& density) {
  const Noise noise{DefaultKeys<Saru>(r.seed)};
  r.types == 1 ? plain<true>(r, kind, noise, density) : plain<false>(r, kind, noise, density);
}

void run_any(const PairRun<C>& r, Output kind, const NoiseChoice& choice,
             const DensitySum& density) {
  const AnyNoise noise{choice, r.seed};
  switch (kind) {
    case Output::force:
      return start<C, AnyNoise, Output::force, false, false>(r, noise, density);
    case Output::measure:
      return start<C, AnyNoise, Output::measure, false, false>(r, noise, density);
    case Output::split:
      return start<C, AnyNoise, Output::split, false, false>(r, noise, density);
  }
}

}  // namespace perrin::dpd
