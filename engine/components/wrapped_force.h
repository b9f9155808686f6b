// A force that is another one in all but what a derived class says.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/force.h"

namespace perrin {

/// Everything is asked of the other force. A virtual function of Force that is new belongs here,
/// too: what is not handed on does nothing, without a word.
class WrappedForce : public Force {
 public:
  bool prepare(const Integrator& integrator) override { return force_->prepare(integrator); }
  void compute(StepContext& s, const ForceOutput& output) override { force_->compute(s, output); }
  void compute_trials(StepContext& s, const TrialMoves& trials) override {
    force_->compute_trials(s, trials);
  }
  void run_trial_chains(StepContext& s, const TrialChains& chains) override {
    force_->run_trial_chains(s, chains);
  }
  ForceCorrection correction(const Box& box) const override { return force_->correction(box); }
  bool compute_box_work(StepContext& s, const BoxWork& work) override {
    return force_->compute_box_work(s, work);
  }
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override {
    return force_->momentum_change(particles);
  }
  bool follows_topology() const override { return force_->follows_topology(); }
  bool follow_topology(const Topology& topology) override {
    return force_->follow_topology(topology);
  }
  void add_bond_forces(StepContext& s, const BondProbe& probe) override {
    force_->add_bond_forces(s, probe);
  }
  void follow_attributes(const std::map<std::string, std::vector<double>>& attributes) override {
    force_->follow_attributes(attributes);
  }
  void state(Archive& archive) override { force_->state(archive); }

 protected:
  /// It has no interface but Force's: those are looked for in the object that wraps it.
  explicit WrappedForce(std::unique_ptr<Force> force)
      : Force(force->traits()), force_(std::move(force)) {}

 private:
  std::unique_ptr<Force> force_;
};

}  // namespace perrin
