#include "forces/charges/ewald_trials.h"

#include "forces/charges/wave_trials.h"

namespace perrin {

using namespace waves;

namespace {

struct MovedCharges {
  AttributeView<1> charge;

  PERRIN_HD Real of(std::uint32_t place) const {
    return place == TrialMove::none ? Real(0) : charge(place);
  }
  PERRIN_HD Real before(const TrialMove& move) const { return of(move.before_as); }
  PERRIN_HD Real after(const TrialMove& move, std::int64_t) const { return of(move.after_as); }
  PERRIN_HD static Real strength(Real q, const Waves&, std::int64_t) { return q; }
};

struct WasMade {
  TrialMoves trials;
  const Position* position;
  PERRIN_HD bool operator()() const { return was_made(trials, position); }
};

}  // namespace

EwaldTrials::EwaldTrials(ChargePairs& pairs, EwaldSum& waves, ChargeMoments& moments)
    : pairs_(pairs), sum_(waves), moments_(moments), waves_(std::make_unique<WaveTrials>()) {}

EwaldTrials::~EwaldTrials() = default;

void EwaldTrials::begin_trials(StepContext& s) {
  const AttributeView<1> charge = pairs_.charges(s);
  waves_->begin(s.device(), sum_.structure_factors(s, charge));
  moments_.begin_trials(s, charge);
}

void EwaldTrials::add_change(StepContext& s, const TrialMoves& trials) {
  const AttributeView<1> charge = pairs_.trial_charges(s);
  pairs_.correct_trials(s, trials, charge);
  moments_.add_change(s, charge, trials);
  waves_->add_change(s.device(), trials, MovedCharges{charge},
                     sum_.slab_ratio(s.particles().box()));
}

void EwaldTrials::follow_trial(StepContext& s, const TrialMoves& trials) {
  waves_->follow(s.device(), WasMade{trials, s.particles().position().data()});
  moments_.follow_trial(s, trials);
}

}  // namespace perrin
