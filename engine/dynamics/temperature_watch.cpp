#include "engine/dynamics/temperature_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/integrator.h"
#include "engine/dynamics/simulation.h"

namespace perrin {

void BlockedMean::add(double x) {
  for (std::size_t k = 0;; ++k) {
    if (k == level_.size()) level_.emplace_back();
    Level& level = level_[k];
    level.sum += x, level.squares += x * x, ++level.count;
    if (level.waits == 0) {
      level.waiting = x, level.waits = 1;
      return;
    }
    x = (level.waiting + x) / 2;
    level.waits = 0;
  }
}

double BlockedMean::mean() const { return count() > 0 ? level_[0].sum / level_[0].count : 0.0; }

double BlockedMean::error() const {
  constexpr double fewest = 8;
  double error = 0;
  for (const Level& level : level_) {
    if (level.count < fewest) break;
    const double mean = level.sum / level.count;
    const double variance = std::max(0.0, level.squares / level.count - mean * mean);
    error = std::max(error, std::sqrt(variance / (level.count - 1)));
  }
  return error;
}

void BlockedMean::state(Archive& archive, const std::string& name) {
  std::vector<double> numbers;
  for (const Level& l : level_)
    numbers.insert(numbers.end(), {l.sum, l.squares, l.count, l.waiting, l.waits});
  archive(name, numbers);
  archive.require(numbers.size() % 5 == 0 && numbers.size() <= 5 * 64, name,
                  "five numbers of each level");
  level_.resize(numbers.size() / 5);
  for (std::size_t k = 0; k < level_.size(); ++k)
    level_[k] = {numbers[5 * k], numbers[5 * k + 1], numbers[5 * k + 2], numbers[5 * k + 3],
                 numbers[5 * k + 4]};
}

void TemperatureWatch::add(const Simulation& s, const Instant& instant,
                           const Integrator& integrator, std::int64_t done, std::int64_t steps) {
  const DegreesOfFreedom& freedom = s.degrees_of_freedom();
  if (2 * done <= steps || freedom.velocities() != VelocityRole::moved || freedom.number() == 0)
    return;
  const auto bath = integrator.bath_kt(instant.step);
  const double kt = instant.temperature * s.k_boltzmann();
  ++samples_;
  all_ += kt;
  drift_ += 2 * freedom.kinetic_of_drift(instant.totals.momentum) / freedom.number();
  if (!bath) return;
  bath_ += *bath;
  excess_.add(kt - *bath);
}

std::string TemperatureWatch::verdict(const Simulation& s) const {
  constexpr double fewest = 20, share = 0.02, errors = 5;
  if (samples_ < fewest) return {};
  const double unit = samples_ * s.k_boltzmann(), drift = drift_ / unit;
  // The centre of mass has a few degrees of freedom of its own in a bath that takes momentum.
  const double usual = 20 * 3 * all_ / (unit * s.degrees_of_freedom().number());
  std::string flows;
  if (drift > share * all_ / unit && drift > usual)
    flows = fmt::format(
        "{:.4g} of the temperature {:.4g} is motion of the centre of mass, driven by a field or "
        "force",
        drift, all_ / unit);
  const double bath = bath_ / samples_, off = excess_.mean();
  if (bath > 0 && std::abs(off) > share * bath && std::abs(off) > errors * excess_.error()) {
    const char* cure =
        off < 0 ? "the time step is too long for this integrator, or the stage is too short to "
                  "equilibrate"
                : "heat is produced faster than the bath removes it (use a smaller tau or a larger "
                  "friction), the time step is too long, or the stage is too short to equilibrate";
    const std::string text = fmt::format(
        "the mean temperature of its second half, {:.4g} ± {:.2g}, differs from that of the bath, "
        "{:.4g}",
        (bath + off) / s.k_boltzmann(), excess_.error() / s.k_boltzmann(), bath / s.k_boltzmann());
    return text + ": " + (flows.empty() ? cure : flows);
  }
  if (flows.empty()) return {};
  return flows +
         (bath > 0
              ? ": the thermal motion is colder than the bath. Remove the momentum by langevin, "
                "walls or frozen particles, or balance the forces so that their sum is 0"
              : "");
}

void TemperatureWatch::state(Archive& archive) {
  if (!archive.has("temperature_watch/samples")) return;  // an older checkpoint
  const Archive::Scope scope(archive, "temperature_watch");
  excess_.state(archive, "excess");
  archive("bath", bath_);
  archive("all", all_);
  archive("drift", drift_);
  archive("samples", samples_);
}

}  // namespace perrin
