// The jobs of an ensemble's systems.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/job/ensemble_settings.h"
#include "engine/settings/json_file.h"

namespace perrin {

class Catalogue;

/// A path of "ensemble.vary" as --set has it, in one spelling, with entries of lists counted from
/// their beginnings: "stages[0].steps" of "stages.0.steps". Throws UserError: list too short.
std::string varied_path(const Json& job, const std::string& given);

/// Takes a job with "ensemble" apart. A system's job is the file with the system's values and
/// without "ensemble": its run has the bits of that job alone.
class Variations {
 public:
  /// Throws UserError with every mistake found in "ensemble". A job without a seed is given one.
  Variations(JsonFile file, const Catalogue& catalogue);
  /// Not of a record without one, in which it is null.
  static bool has(const JsonFile& file) {
    return file.value().is_object() && file.value().contains("ensemble") &&
           !file.value()["ensemble"].is_null();
  }

  std::int64_t count() const { return std::int64_t(values_.size()); }
  JsonFile job(std::int64_t system) const;
  /// What is other than in the file: paths and values.
  const std::vector<std::pair<std::string, Json>>& values(std::int64_t system) const {
    return values_.at(std::size_t(system));
  }
  /// Number of the system, with as many digits as the last one has.
  std::string name(std::int64_t system) const;
  const EnsembleSettings& settings() const { return settings_; }
  /// With the seed.
  const JsonFile& file() const { return file_; }
  std::uint64_t seed() const { return seed_; }

 private:
  void parse(const Catalogue& catalogue);
  void give_values();
  std::vector<Json> values_of(const std::string& path, const std::string& place, const Json& given);
  void report(const std::string& path, const std::string& what);

  JsonFile file_;
  EnsembleSettings settings_;
  Problems problems_;
  std::uint64_t seed_ = 0;
  std::vector<std::vector<std::pair<std::string, Json>>> values_;
};

}  // namespace perrin
