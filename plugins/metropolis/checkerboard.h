// Metropolis sampling of many atoms with short-ranged pair energies: domains of a checkerboard are
// updated concurrently.
//
// One sweep (a cycle of this engine): the grid of cells is shifted by a random vector, the atoms
// are sorted into it, and its eight colours (parities of the cell's coordinates) are taken in
// random order. Cells of one colour are at least a cut-off apart and atoms may not leave them, so
// whatever happens in one does not concern the others: each is a Metropolis chain of its own under
// fixed surroundings. In it every atom, in the order of the numbers, makes `trials` attempts in a
// row. Which atoms a cell holds does not change in the meantime, and nothing that decides who moves
// when depends on positions: hence every colour keeps the Boltzmann distribution. The random shifts
// let the chain reach every state. (Domains with moves over their faces rejected: Uhlherr et al.,
// Comput. Phys. Commun. 144, 1 (2002); the shifted checkerboard on GPUs: Anderson et al.,
// J. Comput. Phys. 254, 27 (2013).)
//
// The random numbers of a trial are those of (seed, sweep, atom, trial); sums have fixed orders.
// Results repeat bit for bit on a device, whatever the number of threads. Processes share the
// domains of a colour and tell one another what they have moved (checkerboard_exchange.h), with the
// bits of one. CPU and GPU attempt the same moves; their energies differ in the last bits, and some
// day so does a decision.
#pragma once

#include "engine.h"

namespace perrin::metropolis {

class CheckerboardEngine : public MoveEngine {
 public:
  using MoveEngine::MoveEngine;
  bool moves_in_order() const override { return false; }
  virtual Vec3<std::int32_t> cells() const = 0;
  /// Largest number of atoms that a domain needs to see, when the engine last looked.
  virtual int staged() const = 0;
};

/// Throws UserError where the model is not one of atoms with cut-offs, or the box is too small.
std::unique_ptr<CheckerboardEngine> make_checkerboard(System& system, const ChainOptions& chain,
                                                      const CheckerboardOptions& options = {});

}  // namespace perrin::metropolis
