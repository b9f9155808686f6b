#include "integrators/nose_hoover_rotation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "engine/device/parallel.h"
#include "engine/system/orientations.h"
#include "integrators/bath_kernels.h"
#include "integrators/group_sum.h"
#include "integrators/rotation.h"

namespace perrin {
namespace {

using Memory = detail::RotationalChainMemory;
using State = detail::RotationalChainState;

/// Between two steps: the second half of the chain of one and the first half of that of the next.
struct TurnChain {
  Memory* memory;
  ChainLaw chain;
  Ramp kt;
  double half_step;
  const std::uint64_t* step;
  bool first;  // there is no step before

  PERRIN_HD void operator()(std::int64_t) const {
    Memory& m = *memory;
    double twice_kinetic = 2 * m.kinetic;
    State s = first ? m.at_end : m.now;
    if (first) {
      if (!(s.kt > 0)) s.kt = kt.at(*step - 1), m.at_end.kt = s.kt;
    } else {
      follow(s, kt.at(*step));
      m.last = Real(act(s, twice_kinetic));
      m.at_end = s;
      m.heat = -(s.energy + chain.kinetic_energy(s.chain, s.kt));
    }
    m.first = Real(act(s, twice_kinetic));
    m.now = s;
  }

 private:
  /// The factor is one that particles can have: what is rounded away counts as energy of the chain.
  PERRIN_HD double act(State& s, double& twice_kinetic) const {
    const double before = twice_kinetic;
    const double exact = chain.advance(s.chain, s.kt, half_step, twice_kinetic, s.energy);
    const double factor = double(Real(exact));
    s.energy -= 0.5 * before * (factor * factor - exact * exact);
    twice_kinetic = before * factor * factor;
    return factor;
  }
  /// Masses go with the temperature; the energy stays.
  PERRIN_HD static void follow(State& s, double now) {
    if (now == s.kt) return;
    for (double& v : s.chain.velocity) v *= std::sqrt(s.kt / now);
    s.kt = now;
  }
};

void archive_state(Archive& a, const std::string& name, State& s) {
  std::vector<double> numbers(std::begin(s.chain.velocity), std::end(s.chain.velocity));
  numbers.insert(numbers.end(), {s.energy, s.kt});
  const std::size_t count = numbers.size();
  a(name, numbers);
  a.require(numbers.size() == count &&
                std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }),
            name, "finite numbers, as many as a chain has");
  std::copy_n(numbers.begin(), ChainState::most, std::begin(s.chain.velocity));
  s.energy = numbers[count - 2], s.kt = numbers[count - 1];
}

}  // namespace

void NoseHooverRotation::begin(StepContext& s, const Law& law) {
  law_ = law;
  if (!s.particles().orientations()) return;
  freedom_ = s.particles().orientations()->degrees_of_freedom(s.particles().id(), s.group());
  if (freedom_ == 0) return;
  if (scratch_.size() == 0) scratch_ = {s.device(), sum_chunks};
  if (memory_.size() == 0) memory_ = {s.device(), 1};
  measure(s);
  turn(s, true);
}

void NoseHooverRotation::measure(StepContext& s) {
  const OrientationView turning = s.particles().orientations()->view();
  sum_of_group(s, "rotational energy", RotationalEnergy{turning.angular_momentum, turning.moment},
               scratch_, &memory_.data()->kinetic);
}

void NoseHooverRotation::turn(StepContext& s, bool first) {
  for_each(s.device(), "chain of rotation", 1,
           TurnChain{memory_.data(),
                     {law_.links, law_.tau, double(freedom_)},
                     law_.kt,
                     law_.timestep / 2,
                     s.device_step(),
                     first});
}

void NoseHooverRotation::act_first(StepContext& s) {
  if (freedom_ > 0) scale_rotation(s, &memory_.data()->first);
}

void NoseHooverRotation::act_last(StepContext& s) {
  if (freedom_ == 0) return;
  measure(s);
  turn(s, false);
  scale_rotation(s, &memory_.data()->last);
}

void NoseHooverRotation::add_heat(StepContext& s, double* heat) const {
  if (freedom_ > 0) add_heat_of(s.device(), "heat of rotation", memory_.data(), heat);
}

void NoseHooverRotation::state(Archive& a) {
  if (memory_.size() == 0) return;
  const Archive::Scope scope(a, "rotation");
  Memory m = memory_.to_host(0);
  archive_state(a, "now", m.now);
  archive_state(a, "at_end", m.at_end);
  a("heat", m.heat);
  std::vector<double> factors{double(m.first), double(m.last)};
  a("factors", factors);
  a.require(
      factors.size() == 2 && factors[0] > 0 && factors[1] > 0 && factors[0] < 2 && factors[1] < 2,
      "factors", "two numbers between 0 and 2");
  m.first = Real(factors[0]), m.last = Real(factors[1]);
  a.require(m.now.kt > 0 && m.at_end.kt >= 0, "now", "a state of the chain, with a temperature");
  if (!a.is_saving()) memory_.assign(std::span<const Memory>(&m, 1));
}

}  // namespace perrin
