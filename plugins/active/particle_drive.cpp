#include "particle_drive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/device/parallel.h"
#include "engine/formula/parse.h"
#include "engine/system/attribute.h"
#include "forces/attribute_words.h"
#include "settings.h"

namespace perrin::active {
namespace {

/// Of one particle, where its attribute changes with the time.
struct ChangeDrive {
  static constexpr int most_columns = 8;
  formula::ProgramView speed;  // of the time and of `inputs`
  const double* inputs;        // [column · n + id]
  int columns;
  std::int64_t n;
  DeviceTime time;
  double factor;
  Real* drive;

  PERRIN_HD void operator()(std::int64_t id) const {
    double now[1 + most_columns];
    now[0] = time();
    for (int c = 0; c < columns; ++c) now[1 + c] = inputs[c * n + id];
    drive[id] = Real(factor * speed.evaluate(now));
  }
};

/// As it is now, of one that is written anew.
const std::vector<double>& present(const Particles& particles, const std::string& name) {
  if (name == "charge") return particles.properties().charge;
  if (name == "diameter") return particles.properties().diameter;
  return particles.properties().attributes.at(name);
}

}  // namespace

ParticleDrive::ParticleDrive(const std::string& attribute, const std::string& key, Setup& setup)
    : name_(attribute) {
  const Configuration& c = setup.configuration();
  largest_.assign(c.types.size(), 0);
  auto column = attribute_of(c, name_);
  if (!column) {
    setup.error(key, no_attribute(c, name_));
    return;
  }
  values_ = std::move(*column);
  updates_ = c.attribute_between.contains(name_);
  if (c.attribute_changes.contains(name_)) take_change(c);
  find_bounds(key, setup);
}

/// Of all times, and reports where they are below 0.
void ParticleDrive::find_bounds(const std::string& key, Setup& setup) {
  const Configuration& c = setup.configuration();
  const AttributeWords words({name_}, key, setup);
  const auto moved = moved_types(c);
  for (std::size_t id = 0; id < values_.size(); ++id)
    largest_[c.type[id]] = std::max(largest_[c.type[id]], values_[id]);
  for (std::size_t t = 0; t < moved.size(); ++t) {
    const auto between = words.bounds(0, std::uint32_t(t), c);
    if (std::isfinite(between.high)) largest_[t] = std::max(0.0, between.high);
    if (!moved[t] || between.low >= 0) continue;
    std::string what = fmt::format("is a speed, which must be at least 0, and \"{}\" ", name_);
    if (updates_)
      what += "may be less: expected \"between\" from 0 on in its \"updates\"";
    else if (!program_.empty())
      what += fmt::format(
          "may be {:.6g} by its \"changes\", for type \"{}\": expected a formula "
          "that is never below 0, as \"max(…, 0)\"",
          between.low, c.types[t]);
    else
      what += fmt::format("is {:.6g} for a particle of type \"{}\"", between.low, c.types[t]);
    return setup.error(key, what);
  }
}

void ParticleDrive::take_change(const Configuration& c) {
  const formula::Formula formula = formula::parse(c.attribute_changes.at(name_), {"t"});
  std::vector<std::string> variables{"t"};
  for (const std::string& other : formula.parameters) {
    const auto column = attribute_of(c, other);
    if (!column || std::ranges::count(variables, other) > 0) continue;
    variables.push_back(other);
    columns_.insert(columns_.end(), column->begin(), column->end());
  }
  column_count_ = int(variables.size()) - 1;
  program_ = formula::program(formula.value, variables);
}

void ParticleDrive::begin(StageContext& s, std::function<double(double)> of_speed) {
  of_speed_ = std::move(of_speed);
  if (updates_) values_ = present(s.particles(), name_);
  drive_ = {s.device(), s.particles().size()};
  code_ = {s.device(), std::span<const formula::Instruction>(program_)};
  inputs_ = {s.device(), std::span<const double>(columns_)};
  tabulate();
}

void ParticleDrive::follow(const std::map<std::string, std::vector<double>>& changed) {
  const auto found = changed.find(name_);
  if (found == changed.end()) return;
  values_ = found->second;
  tabulate();
}

void ParticleDrive::tabulate() {
  std::vector<Real> drive;
  drive.reserve(values_.size());
  for (const double speed : values_) drive.push_back(Real(of_speed_(speed)));
  drive_.assign(drive);
}

const Real* ParticleDrive::of_step(StepContext& s) {
  if (code_.size() == 0) return drive_.data();
  const std::int64_t n = drive_.size();
  DeviceTime time = s.device_time();
  time.instant = 0;  // when the step begins, as the force that acts in it
  for_each(s.device(), "speeds that change", n,
           ChangeDrive{{code_.data(), int(code_.size())},
                       inputs_.data(),
                       column_count_,
                       n,
                       time,
                       of_speed_(1),
                       drive_.data()});
  return drive_.data();
}

}  // namespace perrin::active
