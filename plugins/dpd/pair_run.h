// One pass over the pairs of a DPD force: what it needs, and the functions that start it.
#pragma once

#include <string>

#include "noise.h"
#include "pair_body.h"

namespace perrin::dpd {

template <class C>
struct PairRun {
  const char* name;
  Neighbors& neighbors;
  const Position* position;
  const Real4* velocity;
  const std::uint32_t* id;
  const Real4* moving;  // on the CPU: both in one word
  const PairCoefficients<C>* table;
  std::uint32_t types;
  double exponent;
  Bath bath;
  std::uint64_t seed;
  const std::uint64_t* step;
  std::uint64_t instant;
  std::int64_t n;
  ForceOutput output;
  Real4* impulse;
  const Flow* flow;  // of the box, or nullptr
};

template <class C, class Noise, Output Kind, bool Plain, bool OneType, class Density = NoDensity>
void start(const PairRun<C>& r, const Noise& noise, const Density& density = {}) {
  pair_loop(r.name, r.neighbors,
            PairBody<C, Noise, Kind, Plain, OneType, Density>{
                r.position, r.velocity, r.id, r.moving, r.table, r.types, Real(r.exponent), noise,
                r.bath, r.step, r.instant, r.n, r.output, r.impulse, r.flow, density});
}

/// Saru, Perrin's keys, uniform noise, exponent 1: the code that is made to be fast.
template <class C>
void run_plain(const PairRun<C>& run, Output kind);
/// Everything else (pair_run_any.cpp), and boxes that flow.
template <class C>
void run_any(const PairRun<C>& run, Output kind, const NoiseChoice& choice);
/// The same two with the densities of many-body DPD (pair_run_density.cpp).
void run_plain(const PairRun<SoftRepulsion>& run, Output kind, const DensitySum& density);
void run_any(const PairRun<SoftRepulsion>& run, Output kind, const NoiseChoice& choice,
             const DensitySum& density);

template <class C>
struct DragRun {
  Neighbors& neighbors;
  const Position* position;
  const Real4* middle;
  const PairCoefficients<C>* table;
  std::uint32_t types;
  double exponent, timestep;
  const Real4* impulse;
  Real4* velocity;
  std::int64_t n;
  const Flow* flow;
  const std::uint64_t* step;
  std::uint64_t instant;
  const std::uint32_t* id;
  GroupMask moved;  // whose velocities are updated
};
template <class C>
void run_drag(const DragRun<C>& run);

}  // namespace perrin::dpd
