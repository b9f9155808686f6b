// A run of the Markov chain: cycles of an engine, and between them volume moves, exchanges of
// temperatures, tuning of the moves' sizes, and energies computed from scratch.
#pragma once

#include <memory>

#include "engine.h"
#include "model_setup.h"

namespace perrin::metropolis {

struct SamplerOptions {
  ChainOptions chain;
  EngineOptions engine;
  std::int64_t equilibration = 0;  // cycles during which sizes are tuned
  std::optional<TuneSettings> tune;
  std::optional<VolumeSettings> volume;
  std::int64_t exchange = 0;      // cycles between attempts; 0: never
  std::int64_t recompute = 1000;  // cycles between energies from scratch
};

/// Hard cores overlap at the start.
struct OverlapError : UserError {
  using UserError::UserError;
};

class Sampler {
 public:
  /// Throws UserError where the engine cannot do the model; OverlapError.
  Sampler(const Device& device, const Prepared& prepared, const SamplerOptions& options);

  /// At most n cycles, as many as may follow without a look from outside; at least 1. Returns how
  /// many.
  std::int64_t advance(std::int64_t n);
  std::int64_t cycle() const { return cycle_; }

  System& system() { return system_; }
  const MoveSizes& sizes() const { return sizes_; }
  /// By temperature: which replica has the k-th (they stay as given where nothing is exchanged).
  const std::vector<std::uint32_t>& replica_of() const { return replica_of_; }
  double kT(std::size_t k) const { return kT_[k]; }
  /// Potential energies with tails, in the order of the temperatures. Waits.
  std::vector<double> energies() const;
  /// Energy from scratch, with tails, and pressure, in the order of the temperatures. Waits.
  struct State {
    double energy, pressure;
  };
  std::vector<State> states();
  /// Share of accepted moves since the last call, in the order of the temperatures.
  std::vector<double> acceptance();
  /// Share of accepted moves since the first cycle, in the order of the temperatures.
  std::vector<double> acceptance_since_start() const;
  /// Mean of the energies after each trial move, with tails, in the order of the temperatures: of
  /// all moves since cycle `from`. Empty where moves have no order (checkerboard). Waits.
  struct StepMean {
    std::int64_t from = 0;
    std::vector<double> energy;
  };
  StepMean step_mean() const;
  /// It begins anew here.
  void clear_step_mean();
  /// Largest difference so far between the running energy and one from scratch; the energy now is
  /// compared too. Waits.
  double drift();
  double volume_acceptance() const {
    return volume_tried_ > 0 ? double(volume_accepted_) / double(volume_tried_) : 0;
  }
  double exchange_acceptance() const {
    return exchange_tried_ > 0 ? double(exchange_accepted_) / double(exchange_tried_) : 0;
  }
  void update_system() { engine_->update_system(); }
  /// Restored with other settings than the checkpoint's, they apply: temperatures, the potential,
  /// the box, the pressure, sizes of moves. Throws UserError where they cannot: other molecules,
  /// another number of replicas.
  void state(Archive& archive);
  /// What was restored is a state of another ensemble: averages over it are over.
  bool other_ensemble() const { return other_ensemble_; }

 private:
  void compare(const std::vector<Totals>& fresh);
  void collect_steps();
  double rough_energy() const;
  void tune();
  void volume_move();
  void check_molecules(Archive& archive) const;
  void check_restored(const Archive& archive) const;
  bool other_energies(Archive& archive);
  void exchange();
  void use_temperatures();
  bool early_recompute() const;
  void recompute();

  SamplerOptions options_;
  MoveSizes given_sizes_;  // of the settings; and the box
  Vec3<double> given_box_;
  System system_;
  std::unique_ptr<MoveEngine> engine_;
  MoveSizes sizes_;
  std::vector<double> kT_;                 // sorted as given
  std::vector<std::uint32_t> replica_of_;  // of each temperature
  std::int64_t cycle_ = 0;
  bool rough_start_ = false;  // energies at the start in which later ones would drown
  std::uint64_t tried_ = 0;   // moves of a replica since the first cycle
  // Sums over moves since cycle step_from_: of energies, by temperature, up to the last exchange;
  // of tails, where the volume changes.
  std::vector<double> step_sum_;
  double step_tail_ = 0;
  std::int64_t step_from_ = 0;
  double drift_ = 0;
  bool other_ensemble_ = false;
  std::uint64_t volume_tried_ = 0, volume_accepted_ = 0;
  std::uint64_t exchange_tried_ = 0, exchange_accepted_ = 0;
  std::vector<unsigned long long> counted_, tuned_;  // accepted moves at the last look
  std::int64_t counted_cycle_ = 0, tuned_cycle_ = 0;
};

}  // namespace perrin::metropolis
