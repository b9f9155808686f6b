#include "engine/dynamics/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/formula/parse.h"
#include "engine/formula/particle_formula.h"
#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "engine/system/attribute.h"
#include "rng/keyed.h"

namespace perrin {
namespace {

using Report = std::function<void(const std::string&, const std::string&)>;

/// FNV-1a: an attribute's numbers depend on its name, and not on which others there are.
std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

class Resolver {
 public:
  Resolver(const std::map<std::string, AttributeSettings>& settings, Configuration& c,
           std::uint64_t seed, const Report& report)
      : settings_(settings), c_(c), seed_(seed), report_(report) {}

  bool resolve(const std::string& name) {
    if (std::ranges::find(done_, name) != done_.end()) return true;
    const std::string path = join_path("attributes", name);
    if (std::ranges::find(open_, name) != open_.end())
      return report_(path, "is defined by itself"), false;
    const AttributeSettings& s = settings_.at(name);
    const int ways =
        ((s.value && !s.from) || !s.types.empty() ? 1 : 0) + (s.from ? 1 : 0) + (s.random ? 1 : 0);
    if (!is_attribute_name(name))
      return report_(path, fmt::format("must have a name of {}", attribute_name_rule)), false;
    if (formula::arity(name) > 0 || name == "pi")
      return report_(path, fmt::format("must have a name of its own: in formulas \"{}\" is a {}",
                                       name, name == "pi" ? "number" : "function")),
             false;
    if (ways != 1)
      return report_(path, "must have one of: default and types; from and default; random"), false;
    open_.push_back(name);
    std::vector<double> values;
    const bool good = s.from     ? by_formula(*s.from, s.value, path, values)
                      : s.random ? draw(*s.random, name, path, values)
                                 : by_type(s, path, values);
    open_.pop_back();
    if (!good) return false;
    for (std::size_t id = 0; id < values.size(); ++id)
      if (!(std::abs(values[id]) <= most_of_attribute))
        return report_(path, fmt::format("is {} for particle {}, must be a number up to {:g} in "
                                         "magnitude",
                                         values[id], id, most_of_attribute)),
               false;
    set(name, std::move(values));
    done_.push_back(name);
    return true;
  }

 private:
  void set(const std::string& name, std::vector<double> values) {
    if (name == "charge")
      c_.charge = std::move(values);
    else if (name == "diameter")
      c_.diameter = std::move(values);
    else if (name == "mass")
      c_.mass = std::move(values);
    else
      c_.attributes[name] = std::move(values);
  }

  bool by_type(const AttributeSettings& s, const std::string& path, std::vector<double>& values) {
    std::vector<std::optional<double>> of(c_.types.size(), s.value);
    for (const auto& [type, value] : s.types) {
      const auto at = std::ranges::find(c_.types, type);
      if (at == c_.types.end())
        return report_(join_path(join_path(path, "types"), type),
                       fmt::format("unknown particle type; {}", suggest(type, c_.types))),
               false;
      of[std::size_t(at - c_.types.begin())] = value;
    }
    for (const std::uint32_t type : c_.type) {
      if (!of[type])
        return report_(path, fmt::format("has no number for particles of type \"{}\": give it in "
                                         "\"types\", or a \"default\"",
                                         c_.types[type])),
               false;
      values.push_back(*of[type]);
    }
    return true;
  }

  /// `otherwise`: the number where it reads what a file may have and this start does not.
  bool by_formula(const std::string& text, std::optional<double> otherwise, const std::string& path,
                  std::vector<double>& values) {
    try {
      const ParticleFormula formula(text);
      bool may_lack = false, lacks = false;
      for (const std::string& other : formula.names()) {
        if (settings_.contains(other) && !resolve(other)) return false;
        if (other != "charge" && other != "diameter") continue;
        may_lack = true;
        lacks |= !attribute_of(c_, other);
      }
      if (otherwise && !may_lack)
        return report_(join_path(path, "default"),
                       "is for starts without charge or diameter, and \"from\" reads neither"),
               false;
      if (lacks && otherwise)
        values.assign(c_.position.size(), *otherwise);
      else
        values = formula.values(c_);
      return true;
    } catch (const UserError& e) {
      return report_(join_path(path, "from"), e.what()), false;
    }
  }

  bool draw(const AttributeRandom& random, const std::string& name, const std::string& path,
            std::vector<double>& values) {
    const int ways =
        (random.uniform ? 1 : 0) + (random.normal ? 1 : 0) + (random.lognormal ? 1 : 0);
    const std::string key = join_path(path, "random");
    if (ways != 1) return report_(key, "must have one of uniform, normal, lognormal"), false;
    if (random.uniform && !((*random.uniform)[0] <= (*random.uniform)[1]))
      return report_(join_path(key, "uniform"), "must be a lower and an upper number"), false;
    for (const auto& two : {random.normal, random.lognormal})
      if (two && !((*two)[1] >= 0))
        return report_(
                   join_path(key, random.normal ? "normal" : "lognormal"),
                   fmt::format("the standard deviation must not be negative, got {}", (*two)[1])),
               false;
    if (random.lognormal && !((*random.lognormal)[0] > 0))
      return report_(join_path(key, "lognormal"),
                     fmt::format("the mean must be positive, got {}", (*random.lognormal)[0])),
             false;
    const RunKey run(Purpose::attribute, seed_);
    const std::uint64_t which = hash_of(name);
    for (std::size_t id = 0; id < c_.position.size(); ++id) {
      auto stream = keyed<Philox>(run, which, std::uint32_t(id));
      if (random.uniform) {
        const auto [low, high] = *random.uniform;
        values.push_back(low + (high - low) * stream.uniform<double>());
      } else if (random.normal) {
        values.push_back((*random.normal)[0] + (*random.normal)[1] * stream.normal<double>());
      } else {
        const auto [mean, deviation] = *random.lognormal;
        const double variance = std::log1p(deviation * deviation / (mean * mean));
        values.push_back(mean *
                         std::exp(std::sqrt(variance) * stream.normal<double>() - variance / 2));
      }
    }
    return true;
  }

  const std::map<std::string, AttributeSettings>& settings_;
  Configuration& c_;
  std::uint64_t seed_;
  const Report& report_;
  std::vector<std::string> done_, open_;
};

}  // namespace

void resolve_attributes(const std::map<std::string, AttributeSettings>& settings,
                        Configuration& configuration, std::uint64_t seed, bool restored,
                        const Report& report) {
  Resolver resolver(settings, configuration, seed, report);
  for (const auto& [name, s] : settings) {
    const bool own = name == "charge" || name == "diameter" || name == "mass";
    if (restored && (own || configuration.attributes.contains(name))) continue;
    resolver.resolve(name);
  }
  configuration.attribute_changes.clear();
  for (const auto& [name, s] : settings) {
    if (!s.changes) continue;
    const std::string path = join_path(join_path("attributes", name), "changes");
    if (name == "mass") {
      report(path, "masses do not change while a job runs");
      continue;
    }
    try {
      bool known = true;
      for (const std::string& other : formula::parse(*s.changes, {"t"}).parameters) {
        if (const auto at = settings.find(other); at != settings.end() && at->second.updates) {
          report(path, fmt::format("reads \"{}\" as it is at the start, which \"updates\" change",
                                   other));
          known = false;
        }
        if (attribute_of(configuration, other)) continue;
        report(path, no_attribute(configuration, other));
        known = false;
      }
      if (known) configuration.attribute_changes[name] = *s.changes;
    } catch (const UserError& e) {
      report(path, e.what());
    }
  }
}

}  // namespace perrin
