#include "engine/dynamics/attribute_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/formula/parse.h"
#include "engine/settings/problems.h"
#include "engine/system/attribute.h"
#include "engine/system/particles.h"

namespace perrin {
namespace {

constexpr double largest = 1e30;  // as of any attribute

class UpdateReader {
 public:
  UpdateReader(const std::map<std::string, AttributeSettings>& settings, Configuration& c,
               const StagesNamed& stages, const ReportMistake& report)
      : settings_(settings), c_(c), stages_(stages), report_(report) {}

  std::vector<AttributeRule> resolve() {
    c_.attribute_between.clear();
    for (const auto& [name, s] : settings_)
      if (s.updates) read(name, s);
    return good_ ? std::move(rules_) : std::vector<AttributeRule>{};
  }

 private:
  void error(const std::string& path, const std::string& what) {
    good_ = false;
    report_(path, what);
  }

  void read(const std::string& name, const AttributeSettings& s) {
    const AttributeUpdateSettings& u = *s.updates;
    const std::string path = join_path(join_path("attributes", name), "updates");
    if (name == "mass") return error(path, "masses do not change while a job runs");
    if (s.changes)
      return error(path, "cannot stand beside \"changes\", which says what it is at any time");
    AttributeRule rule{name, u.every, {}, {}, -largest, largest, {}};
    constexpr double infinite = std::numeric_limits<double>::infinity();
    c_.attribute_between[name] = {-infinite, infinite};
    if (u.between) take_bounds(*u.between, path, rule);
    take_formula(u.formula, path, rule);
    rule.stages = stages_(u.stages, join_path(path, "stages"));
    rules_.push_back(std::move(rule));
  }

  void take_bounds(const std::array<double, 2>& between, const std::string& path,
                   AttributeRule& rule) {
    const std::string key = join_path(path, "between");
    if (!(between[0] <= between[1]))
      return error(key, fmt::format("must be a lower and an upper number, got {} and {}",
                                    between[0], between[1]));
    rule.low = between[0], rule.high = between[1];
    c_.attribute_between[rule.name] = between;
    const auto now = attribute_of(c_, rule.name).value_or(std::vector<double>{});
    for (std::size_t id = 0; id < now.size(); ++id)
      if (!(now[id] >= rule.low && now[id] <= rule.high))
        return error(key, fmt::format("must hold at the start, where particle {} has {}, which is "
                                      "not from {} to {}",
                                      id, now[id], rule.low, rule.high));
  }

  void take_formula(const std::string& text, const std::string& path, AttributeRule& rule) {
    const std::string key = join_path(path, "formula");
    try {
      const auto formula = formula::parse(text, AttributeUpdates::variables);
      std::vector<std::string> names = AttributeUpdates::variables;
      for (const char* const v : {"vx", "vy", "vz"})
        if (attribute_of(c_, v) &&
            formula::names(formula.value, formula::Atom::Kind::variable).contains(v))
          return error(key, fmt::format("\"{}\" is a velocity, and also the name of an attribute: "
                                        "give that another name",
                                        v));
      for (const std::string& other : formula.parameters) {
        if (!attribute_of(c_, other)) return error(key, no_attribute(c_, other));
        if (c_.attribute_changes.contains(other))
          return error(key, fmt::format("\"{}\" has \"changes\": its number here would be that of "
                                        "the start",
                                        other));
        rule.inputs.push_back(other);
        names.push_back(other);
      }
      rule.program = formula::program(formula.value, names);
    } catch (const UserError& e) {
      error(key, e.what());
    }
  }

  const std::map<std::string, AttributeSettings>& settings_;
  Configuration& c_;
  const StagesNamed& stages_;
  const ReportMistake& report_;
  std::vector<AttributeRule> rules_;
  bool good_ = true;
};

/// A rule's number of every particle, by id.
std::vector<double> evaluated(const AttributeRule& rule, const Configuration& c, double time) {
  std::vector<std::vector<double>> columns;
  for (const std::string& name : rule.inputs) columns.push_back(attribute_of(c, name).value());
  const formula::ProgramView program{rule.program.data(), int(rule.program.size())};
  std::vector<double> inputs(AttributeUpdates::variables.size() + columns.size());
  std::vector<double> values;
  values.reserve(c.position.size());
  for (std::size_t id = 0; id < c.position.size(); ++id) {
    const Vec3<double>&r = c.position[id], &v = c.velocity[id];
    auto at = std::ranges::copy(std::array{time, r.x, r.y, r.z, v.x, v.y, v.z}, inputs.begin()).out;
    for (const auto& column : columns) *at++ = column[id];
    values.push_back(program.evaluate(inputs.data()));
  }
  return values;
}

}  // namespace

const std::vector<std::string> AttributeUpdates::variables{"t", "x", "y", "z", "vx", "vy", "vz"};

std::int64_t AttributeUpdates::steps_to_event(std::uint64_t step, std::size_t stage) const {
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const AttributeRule& rule : rules_)
    if (rule.stages.at(stage))
      steps = std::min(steps, rule.every - std::int64_t(step % std::uint64_t(rule.every)));
  return steps;
}

bool AttributeUpdates::is_due(std::uint64_t step, std::size_t stage) const {
  return std::ranges::any_of(rules_, [=](const AttributeRule& rule) {
    return rule.stages.at(stage) && step % std::uint64_t(rule.every) == 0;
  });
}

std::map<std::string, std::vector<double>> AttributeUpdates::update(Particles& particles,
                                                                    std::uint64_t step, double time,
                                                                    std::size_t stage) const {
  std::map<std::string, std::vector<double>> found;
  std::optional<Configuration> now;
  for (const AttributeRule& rule : rules_) {
    if (!rule.stages.at(stage) || step % std::uint64_t(rule.every) != 0) continue;
    if (!now) now = particles.configuration();
    std::vector<double>& values = found[rule.name] = evaluated(rule, *now, time);
    for (std::size_t id = 0; id < values.size(); ++id)
      if (!(values[id] >= rule.low && values[id] <= rule.high))
        throw RunError(
            fmt::format("step {}: attributes.{}.updates: the formula gives {:.6g} for "
                        "particle {}, must be from {:.6g} to {:.6g}",
                        step, rule.name, values[id], id, rule.low, rule.high));
  }
  ParticleProperties& properties = particles.change_properties();
  for (const auto& [name, values] : found) {
    if (name == "charge")
      properties.charge = values;
    else if (name == "diameter")
      properties.diameter = values;
    else
      properties.attributes[name] = values;
  }
  return found;
}

std::vector<AttributeRule> resolve_attribute_updates(
    const std::map<std::string, AttributeSettings>& settings, Configuration& configuration,
    const StagesNamed& stages, const ReportMistake& report) {
  return UpdateReader(settings, configuration, stages, report).resolve();
}

}  // namespace perrin
