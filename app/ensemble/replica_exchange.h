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

#include "app/ensemble/exchange.h"
#include "engine/communicator/communicator.h"
#include "engine/job/ensemble_settings.h"

namespace perrin {

class ReplicaExchange final : public Exchange {
 public:
  /// `all`: the processes that have systems; it must live as long.
  ReplicaExchange(ExchangeSettings settings, std::uint64_t seed, std::int64_t systems,
                  Communicator& all);

  /// The decision of a pair is keyed by seed, step and pair.
  std::vector<Failure> exchange(std::uint64_t step, const std::vector<Run*>& systems) override;

  /// [system]: the replica, by the system in which it began, that is there now.
  const std::vector<std::int64_t>& replicas() const { return replica_; }
  struct Pair {
    std::int64_t tried = 0, accepted = 0;
  };
  /// [k]: of systems k and k + 1.
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// How often replicas went from the first system to the last and back.
  std::int64_t round_trips() const { return round_trips_; }

  std::vector<std::string> columns() const override;
  std::vector<std::string> row() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> warnings() const override;
  std::string state() const override;
  void restore(const std::string& text) override;

 private:
  struct Card;
  struct Swap {
    std::int64_t pair;
    double into_first = 1, into_second = 1;  // factors of velocities
  };
  Card card_of(std::int64_t system, Run& run, bool tried);
  std::vector<Card> cards_of_all(std::int64_t first, const std::vector<Run*>& systems);
  std::vector<double> energies_of_all(const std::vector<std::int64_t>& pairs,
                                      const std::vector<Run*>& systems);
  void swap(const std::vector<Swap>& swaps, const std::vector<Card>& cards,
            const std::vector<Run*>& systems);
  bool accept(std::uint64_t step, std::int64_t pair, double delta) const;
  void count_trips();

  ExchangeSettings settings_;
  std::uint64_t seed_;
  Communicator& all_;
  std::vector<std::int64_t> replica_;
  std::vector<int> bound_;  // [replica]: 1: it was in the first system last, 2: in the last
  std::vector<Pair> pairs_;
  /// Of a system, what stays as it is (system_hashes.h); 0: not known.
  struct Known {
    std::uint64_t kinds = 0, topology = 0, forces = 0;
  };
  std::vector<Known> known_;  // [system]
  std::int64_t round_trips_ = 0;
};

}  // namespace perrin
