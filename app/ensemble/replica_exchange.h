// Replica exchange: systems of an ensemble exchange their particles by Metropolis' rule.
//
// Y. Sugita, Y. Okamoto, Chem. Phys. Lett. 314, 141 (1999), eqs. 12 to 14: systems i and j with
// heat baths at T_i and T_j exchange their particles with the probability min(1, exp(-Δ)),
//     Δ = [U_i(x_j) - U_i(x_i)]/kT_i + [U_j(x_i) - U_j(x_j)]/kT_j,
// and velocities are scaled by the root of the ratio of the temperatures. Baths, observers and
// files stay where they are. With barostats of pressures P_i and P_j boxes go with the particles,
// and U is U + P V: T. Okabe, M. Kawata, Y. Okamoto, M. Mikami, Chem. Phys. Lett. 335, 435 (2001).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/communicator/communicator.h"
#include "engine/job/ensemble_settings.h"
#include "engine/run/run.h"

namespace perrin {

class ReplicaExchange {
 public:
  /// `all`: the processes that have systems; it must live as long.
  ReplicaExchange(ExchangeSettings settings, std::uint64_t seed, std::int64_t systems,
                  Communicator& all);

  /// The first step behind this one at which particles are exchanged.
  std::uint64_t next_step(std::uint64_t step) const {
    const auto every = std::uint64_t(settings_.every);
    return (step / every + 1) * every;
  }
  /// Of systems that stand at this step; nullptr: a system takes no part, or another process has
  /// it. All processes call it and take the same decisions; that of a pair is keyed by seed, step
  /// and pair. Throws UserError, in all of them, where two systems cannot exchange particles.
  void exchange(std::uint64_t step, const std::vector<Run*>& systems);
  /// The step of the last exchange; 0: there was none.
  std::uint64_t last_step() const { return last_step_; }

  /// [system]: the replica, by the system in which it began, that is there now.
  const std::vector<std::int64_t>& replicas() const { return replica_; }
  struct Pair {
    std::int64_t tried = 0, accepted = 0;
  };
  /// [k]: of systems k and k + 1.
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// How often replicas went from the first system to the last and back.
  std::int64_t round_trips() const { return round_trips_; }

  /// What a checkpoint of each system holds, and back. Throws UserError where it is of another
  /// ensemble.
  std::string state() const;
  void restore(const std::string& text);

 private:
  struct Card;
  struct Swap {
    std::int64_t pair;
    double into_first = 1, into_second = 1;  // factors of velocities
  };
  bool takes_part(const Run* run) const;
  Card card_of(std::int64_t system, Run& run, bool tried);
  std::vector<Card> cards_of_all(std::int64_t first, const std::vector<Run*>& systems);
  std::vector<double> energies_of_all(const std::vector<std::int64_t>& pairs,
                                      const std::vector<Run*>& systems);
  void swap(const std::vector<Swap>& swaps, const std::vector<Card>& cards,
            const std::vector<Run*>& systems);
  bool accept(std::uint64_t step, std::int64_t pair, double delta) const;
  void count_trips();

  ExchangeSettings settings_;
  std::uint64_t seed_, last_step_ = 0;
  Communicator& all_;
  std::vector<std::int64_t> replica_;
  std::vector<int> bound_;  // [replica]: 1: it was in the first system last, 2: in the last
  std::vector<Pair> pairs_;
  std::vector<std::uint64_t> kinds_;  // [system]: hash of types and masses by id; 0: not known
  std::int64_t round_trips_ = 0;
};

}  // namespace perrin
