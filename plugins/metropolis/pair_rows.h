// From the model's parameters to what the loops read.
#pragma once

#include <vector>

#include "engine/device/buffer.h"
#include "pair_energy.h"
#include "system.h"

namespace perrin::metropolis {

template <class T>
PairRow<T> make_row(const PairParameters& pair, double kT);
/// [type_a · types + type_b]. kT: the highest of all replicas.
template <class T>
std::vector<PairRow<T>> make_rows(const Model& model, double kT);
/// Of the system's model at the highest of its temperatures.
template <class T>
std::vector<PairRow<T>> make_rows(const System& system);
/// No pair has a cut-off, a core, or another potential than Lennard-Jones.
bool plain_lennard_jones(const Model& model);
/// Every template has as many sites as the first; 0 where not.
std::uint32_t uniform_sites(const Model& model);

/// Energy and virial (trace) of what cut-offs leave out, at this volume; zero without a tail.
struct TailEnergy {
  double energy = 0, virial = 0;
};
TailEnergy tail_of(const Model& model, double volume);

}  // namespace perrin::metropolis
