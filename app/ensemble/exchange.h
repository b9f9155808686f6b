// What the systems of an ensemble exchange with one another at certain steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/components/integrator.h"
#include "engine/dynamics/simulation.h"
#include "engine/job/ensemble_settings.h"
#include "engine/run/run.h"

namespace perrin {

class Exchange {
 public:
  explicit Exchange(const ExchangeSettings& settings)
      : every_(std::uint64_t(settings.every)), stages_(settings.stages) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// The first step behind this one at which there is an exchange.
  std::uint64_t next_step(std::uint64_t step) const { return (step / every_ + 1) * every_; }
  /// The step of the last exchange; 0: there was none.
  std::uint64_t last_step() const { return last_step_; }
  /// How many neighbours in the order of the systems must be in one process.
  virtual std::int64_t together() const { return 1; }

  /// A system that cannot go on.
  struct Failure {
    std::int64_t system;
    std::string what;
  };
  /// Of systems that stand at this step; nullptr: a system takes no part, or another process has
  /// it. All processes call it. Throws UserError, in all of them, where none can go on.
  virtual std::vector<Failure> exchange(std::uint64_t step, const std::vector<Run*>& systems) = 0;

  /// exchange.csv: its columns behind "step", and the row of the last exchange; empty: none.
  virtual std::vector<std::string> columns() const = 0;
  virtual std::vector<std::string> row() const = 0;
  /// At the end, a line each: what was accepted, and what should be known.
  virtual std::vector<std::string> summary() const = 0;
  virtual std::vector<std::string> warnings() const { return {}; }

  /// What a checkpoint of each system holds, and back: an object in JSON. Throws UserError where it
  /// is of another ensemble.
  virtual std::string state() const = 0;
  virtual void restore(const std::string& text) = 0;

 protected:
  /// Whether it is here, in a stage in which there are exchanges.
  bool takes_part(const Run* run) const {
    return run != nullptr && (stages_.empty() || std::ranges::any_of(stages_, [run](auto& stage) {
                                return stage == run->stage_name() || stage == run->stage_type();
                              }));
  }
  /// Temperature times Boltzmann's constant of the running stage's heat bath; 0: it has none.
  static double kt_of(const Simulation& s) {
    return s.bath() ? s.bath()->bath_kt(s.step()).value_or(0) : 0;
  }

  std::uint64_t every_, last_step_ = 0;

 private:
  std::vector<std::string> stages_;
};

}  // namespace perrin
