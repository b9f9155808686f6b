// A force whose tail correction follows the number of particles, where these come and go.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/components/force.h"
#include "engine/components/setup.h"

namespace perrin {

/// What lies beyond the cut-offs of pairs: E V = sum over a, b of n_a n_b energy[a · types + b] in
/// a box of volume V with n_a particles of type a; the virial likewise.
struct TailMatrix {
  std::vector<double> energy, virial;
  /// Of a force between pairs without structure beyond the cut-off, of which `make` says what it is
  /// among particles of these types, in the box.
  static TailMatrix of(const Box& box, std::size_t types,
                       const std::function<ForceCorrection(std::vector<std::uint32_t>)>& make);
  ForceCorrection correction(std::span<const std::int64_t> counts, double volume) const;
};

/// Another force in all but correction().
class CountedTail final : public Force {
 public:
  /// `counts`: [type], of those that are there.
  CountedTail(std::unique_ptr<Force> force, TailMatrix tail, std::vector<std::int64_t> counts)
      : Force(force->traits()),
        force_(std::move(force)),
        tail_(std::move(tail)),
        counts_(std::move(counts)) {}

  const TailMatrix& tail() const { return tail_; }
  void set_counts(std::vector<std::int64_t> counts) { counts_ = std::move(counts); }

  ForceCorrection correction(const Box& box) const override {
    return tail_.correction(counts_, box.volume());
  }
  bool prepare(const Integrator& integrator) override { return force_->prepare(integrator); }
  void compute(StepContext& s, const ForceOutput& output) override { force_->compute(s, output); }
  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    force_->compute_trials(s, trials);
  }
  void run_trial_chains(StepContext& s, const TrialChains& chains) override {
    force_->run_trial_chains(s, chains);
  }
  bool compute_box_work(StepContext& s, const BoxWork& work) override {
    return force_->compute_box_work(s, work);
  }
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override {
    return force_->momentum_change(particles);
  }
  void state(Archive& archive) override { force_->state(archive); }

 private:
  std::unique_ptr<Force> force_;
  TailMatrix tail_;
  std::vector<std::int64_t> counts_;
};

/// Of a force that has a tail correction. `make`: the same of another setup.
std::unique_ptr<Force> with_counted_tail(
    std::unique_ptr<Force> force, const SetupContext& context,
    const std::function<std::unique_ptr<Force>(SetupContext&)>& make);

/// [type]: how many particles there are.
std::vector<std::int64_t> counts_of_types(const Configuration& configuration);

}  // namespace perrin
