// The "attributes" of a job: numbers of each particle, for formulas and groups.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"
#include "engine/system/configuration.h"

namespace perrin {

/// A distribution. Each number follows from the seed, the attribute's name and the particle's id.
struct AttributeRandom {
  std::optional<std::array<double, 2>> uniform, normal, lognormal;
};
template <class D>
void describe(D& d, AttributeRandom& s) {
  d.optional("uniform", s.uniform, Any{}, "between these two numbers");
  d.optional("normal", s.normal, Any{}, "mean and standard deviation");
  d.optional("lognormal", s.lognormal, Any{},
             "mean and standard deviation of the number itself, whose logarithm is normal");
}

/// Numbers that are written anew while the job runs.
struct AttributeUpdateSettings {
  std::string formula;
  std::int64_t every = 1;
  std::optional<std::array<double, 2>> between;
  std::vector<std::string> stages;
};
template <class D>
void describe(D& d, AttributeUpdateSettings& s) {
  d.required("formula", s.formula, Any{},
             "formula of the present state: the time t of the job, x, y, z, vx, vy, vz, and "
             "attributes, its own among them, as in \"min(radius + 0.001, 0.5)\"; perrin help "
             "formula");
  d.required("every", s.every, Positive{}, "it is written at steps that are multiples of this");
  d.optional("between", s.between, Any{},
             "smallest and largest number that it may have; one beyond ends the run. The \"range\" "
             "of a pair_formula that reads it needs them");
  d.optional("stages", s.stages, Any{},
             "names or types of the stages in which it is written; none: all md stages with an "
             "equation of motion");
}

struct AttributeSettings {
  std::optional<double> value;
  std::map<std::string, double> types;
  std::optional<std::string> from;
  std::optional<AttributeRandom> random;
  std::optional<std::string> changes;
  std::optional<AttributeUpdateSettings> updates;
};
template <class D>
void describe(D& d, AttributeSettings& s) {
  d.example("{\"random\": {\"uniform\": [0.8, 1.2]}}");
  d.optional(
      "default", s.value, Any{},
      "number of every particle that \"types\" does not name; beside \"from\": of all, where "
      "that reads charge or diameter and the start has none");
  d.optional("types", s.types, Any{}, "number of all particles of a type, by its name");
  d.optional("from", s.from, Any{},
             "formula of x, y, z (the initial position), charge, diameter, mass and other "
             "attributes; perrin help formula");
  d.optional("random", s.random, Any{}, "drawn for each particle");
  d.optional("changes", s.changes, Any{},
             "what it is at the time t of the job: formula of t and of the numbers of attributes "
             "at the start, its own among them, as in \"min(radius + 0.01*t, 0.6)\"");
  d.optional("updates", s.updates, Any{},
             "a formula of the present state that writes it anew every so many steps");
}

/// Adds them to `configuration`, in place of those that a file gives; what is there from a
/// checkpoint stays where `restored`. How they change comes from the settings alone. `report` takes
/// mistakes with their paths.
void resolve_attributes(const std::map<std::string, AttributeSettings>& settings,
                        Configuration& configuration, std::uint64_t seed, bool restored,
                        const std::function<void(const std::string&, const std::string&)>& report);

}  // namespace perrin
