#include "pair_run.h"

#include "noise.h"

namespace perrin::dpd {
namespace {

template <class C, bool OneType>
void plain(const PairRun<C>& r, Output kind) {
  using Noise = UniformNoise<DefaultKeys<Saru>>;
  const Noise noise{DefaultKeys<Saru>(r.seed)};
  switch (kind) {
    case Output::force:
      return start<C, Noise, Output::force, true, OneType>(r, noise);
    case Output::measure:
      return start<C, Noise, Output::measure, true, OneType>(r, noise);
    case Output::split:
      return start<C, Noise, Output::split, true, OneType>(r, noise);
  }
}

template <class C, bool Plain, bool OneType>
void drag(const DragRun<C>& r) {
  pair_loop("friction of pairs", r.neighbors,
            DragBody<C, Plain, OneType>{r.position, r.middle, r.table, r.types, Real(r.exponent),
                                        Real(r.timestep), r.impulse, r.velocity, r.flow, r.step,
                                        r.instant, r.id, r.moved});
}

}  // namespace

template <class C>
void run_plain(const PairRun<C>& r, Output kind) {
  r.types == 1 ? plain<C, true>(r, kind) : plain<C, false>(r, kind);
}

template <class C>
void run_drag(const DragRun<C>& r) {
  if (r.exponent != 1 || r.flow)
    drag<C, false, false>(r);
  else
    r.types == 1 ? drag<C, true, true>(r) : drag<C, true, false>(r);
}

template void run_plain<SoftRepulsion>(const PairRun<SoftRepulsion>&, Output);
template void run_plain<ShiftedLennardJones>(const PairRun<ShiftedLennardJones>&, Output);
template void run_drag<SoftRepulsion>(const DragRun<SoftRepulsion>&);
template void run_drag<ShiftedLennardJones>(const DragRun<ShiftedLennardJones>&);

}  // namespace perrin::dpd
