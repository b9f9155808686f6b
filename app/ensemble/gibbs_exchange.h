// The Gibbs ensemble: systems 2k and 2k + 1 exchange particles and volume.
//
// A. Z. Panagiotopoulos, Mol. Phys. 61, 813 (1987); D. Frenkel, B. Smit, Understanding Molecular
// Simulation, 8.3. Two boxes at one temperature, N1 + N2 particles in the volume V1 + V2. A
// particle of box i goes to a random place of box j with the probability
//     min(1, N_i V_j / ((N_j + 1) V_i) exp(-(dU_i + dU_j)/kT)),
// N of its type. Which box, which type, and which of its particles is drawn uniformly. A step of
// ln(V1/V2), all lengths of each box in proportion, is accepted with the probability
//     min(1, (V1'/V1)^(N1 + 1) (V2'/V2)^(N2 + 1) exp(-(dU1 + dU2)/kT)).
// That is uniform in ln(V1/V2) rather than in V1: with one size of steps a small gas is as well
// off as a large one, and no volume becomes negative.
//
// Trial insertions tell the activity of each type in each box (B. Smit, D. Frenkel, Mol. Phys. 68,
// 951 (1989)): 1/z = <V/(N + 1) exp(-dU/kT)>, as long as N changes rarely to 0 in the other box.
#pragma once

#include "app/ensemble/exchange.h"
#include "engine/communicator/communicator.h"
#include "engine/components/gibbs_box.h"
#include "engine/job/variations.h"

namespace perrin {

class GibbsExchange final : public Exchange {
 public:
  GibbsExchange(const Variations& variations, Communicator& all, int threads);

  std::int64_t together() const override { return 2; }
  std::vector<Failure> exchange(std::uint64_t step, const std::vector<Run*>& systems) override;
  std::vector<std::string> columns() const override;
  std::vector<std::string> row() const override;
  std::vector<std::string> summary() const override;
  std::vector<std::string> warnings() const override;
  std::string state() const override;
  void restore(const std::string& text) override;

 private:
  struct Trials {
    std::int64_t tried = 0, accepted = 0;
  };
  /// Of trial insertions: sum of V/(N + 1) exp(-dU/kT), and how many there were.
  struct Insertions {
    double sum = 0;
    std::int64_t count = 0;
  };
  struct Pair {
    Trials transfers, volumes;                 // since the beginning
    Trials row_transfers, row_volumes, tuned;  // since the last row, and since the last tuning
    std::int64_t too_small = 0;                // exchanges of volume that no box could take
    double volume_step = 0;
    std::vector<Insertions> insertions;  // [2 type + box]: since the last row
  };
  struct Boxes;

  void exchange_pair(std::uint64_t step, std::int64_t pair, Run& first, Run& second);
  void transfer(Pair& pair, const Boxes& boxes, Philox& random) const;
  void change_volumes(Pair& pair, const Boxes& boxes, Philox& random) const;
  void tune(std::uint64_t step, Pair& pair) const;
  void gather(const std::vector<std::int64_t>& mine);
  bool is_row(std::uint64_t step) const;
  Json json_of(const Pair& pair) const;
  Pair pair_of(const Json& json) const;

  ExchangeSettings settings_;
  std::uint64_t seed_;
  Communicator& all_;
  int threads_;
  std::vector<std::string> names_;  // of systems
  std::vector<std::string> types_;  // that come and go in any system
  std::vector<Pair> pairs_;
};

}  // namespace perrin
