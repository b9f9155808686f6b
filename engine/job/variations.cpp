#include "engine/job/variations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <regex>

#include "engine/base/error.h"
#include "engine/communicator/agreement.h"
#include "engine/formula/json_number.h"
#include "engine/job/exchange_checks.h"
#include "engine/settings/settings_parse.h"

namespace perrin {
namespace {

/// "stages.0.steps" means "stages[0].steps".
std::string with_brackets(const std::string& path) {
  static const std::regex number(R"(\.(\d+)(?=\.|\[|$))");
  return std::regex_replace(path, number, "[$1]");
}

bool is_seed(const Json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() < (std::uint64_t(1) << 53);
}

}  // namespace

std::string varied_path(const Json& job, const std::string& given) {
  return from_start(job, with_brackets(given));
}

Variations::Variations(JsonFile file, const Catalogue& catalogue) : file_(std::move(file)) {
  parse(catalogue);
  problems_.throw_if_any();
  file_.remove("ensemble");
}

void Variations::report(const std::string& path, const std::string& what) {
  if (problems_.admit(path, what)) problems_.add(file_.problem(path, what));
}

void Variations::parse(const Catalogue& catalogue) {
  const auto say = [this](const std::string& path, const std::string& what) { report(path, what); };
  SettingsParser parser(catalogue, say);
  parser.compute_with(formula::value_of_numbers);
  parser.parse(file_.value().at("ensemble"), "ensemble", settings_);
  if (!problems_.empty()) return;
  if (!file_.value().contains("seed")) {
    std::random_device entropy;
    const std::uint64_t drawn = ((std::uint64_t(entropy()) << 32) | entropy()) >> 12;
    file_.set(fmt::format("seed={}", agreed(std::int64_t(drawn))));
  }
  if (!is_seed(file_.value()["seed"])) return report("seed", "must be an integer from 0 to 2^53");
  seed_ = file_.value()["seed"].get<std::uint64_t>();

  for (const auto& [path, given] : settings_.vary)
    if (given.is_array() && !settings_.count) settings_.count = std::int64_t(given.size());
  if (!settings_.count || *settings_.count < 1)
    return report("ensemble", "needs \"count\", or a list of values in \"vary\"");
  values_.resize(std::size_t(*settings_.count));
  give_values();
  if (problems_.empty()) check_exchange(settings_, values_, say);
  if (!problems_.empty()) return;
  try {
    Json stages = job(0).value().value("stages", Json());
    if (!settings_.exchange || !stages.is_array()) return;
    const auto of_stages = [](const auto& given) { return given.first.rfind("stages", 0) == 0; };
    if (std::ranges::any_of(values(0), of_stages))  // names, perhaps
      for (std::int64_t k = 1; k < count(); ++k)
        for (const Json& stage : job(k).value().value("stages", Json::array()))
          stages.push_back(stage);
    check_exchange_stages(*settings_.exchange, stages, say);
  } catch (const UserError& e) {
    report("ensemble.vary", e.what());
  }
}

/// To each system, those of every path.
void Variations::give_values() {
  std::map<std::string, std::string> known;  // path → how it was given
  for (const auto& [given, said] : settings_.vary) {
    const std::string place = join_path("ensemble.vary", given);
    try {
      const auto [first, is_new] = known.emplace(varied_path(file_.value(), given), given);
      if (!is_new)
        report(place, fmt::format("is the same setting as {}: give it once",
                                  join_path("ensemble.vary", first->second)));
    } catch (const UserError& e) {
      report(place, e.what());
    }
  }
  if (known.try_emplace("seed", "seed").second) settings_.vary["seed"] = "each";
  for (const auto& [path, given] : known) {
    const std::vector<Json> values =
        values_of(path, join_path("ensemble.vary", given), settings_.vary.at(given));
    if (values.size() != values_.size()) continue;  // reported
    for (std::size_t k = 0; k < values.size(); ++k) values_[k].emplace_back(path, values[k]);
  }
}

/// Of a path for each system; after a mistake, which is reported, none.
std::vector<Json> Variations::values_of(const std::string& path, const std::string& place,
                                        const Json& given) {
  const auto n = values_.size();
  std::vector<Json> values;
  const std::string key = path.substr(0, path.find_first_of(".["));
  if (key == "device") {
    report(place, "all systems of an ensemble are on one device: expected \"device\" of the job");
  } else if (key == "ensemble") {
    report(place, "an ensemble cannot vary itself");
  } else if (given == "each" && path == "seed") {
    for (std::size_t k = 0; k < n; ++k) values.emplace_back(seed_ + k);
  } else if (given.is_array()) {
    if (given.size() != n)
      report(place,
             fmt::format("must have {} values, one for each system, got {}", n, given.size()));
    values.assign(given.begin(), given.end());
  } else if (given.is_object() && given.size() == 1 &&
             (given.contains("linear") || given.contains("geometric"))) {
    const bool linear = given.contains("linear");
    Json ends = given.begin().value();
    if (ends.is_array())
      for (Json& end : ends) formula::compute(end);
    if (!ends.is_array() || ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) {
      report(place, fmt::format("{} must be a list of two numbers, the first and the last value, "
                                "got {}",
                                given.begin().key(), shown(ends)));
      return {};
    }
    const double a = ends[0], b = ends[1];
    if (!linear && !(a > 0 && b > 0)) {
      report(place, fmt::format("geometric: both numbers must be positive, got {} and {}", a, b));
      return {};
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double part = n > 1 ? double(k) / double(n - 1) : 0;
      values.emplace_back(k + 1 == n && n > 1 ? b
                          : linear            ? a + (b - a) * part
                                              : a * std::pow(b / a, part));
    }
  } else {
    report(place, fmt::format("must be a list of a value for each system, {{\"linear\": [first, "
                              "last]}} or {{\"geometric\": [first, last]}}{}, got {}",
                              path == "seed" ? " or \"each\"" : "", shown(given)));
  }
  return values;
}

JsonFile Variations::job(std::int64_t system) const {
  JsonFile job = file_;
  job.remove("ensemble");
  job.name_changes("ensemble.vary");
  for (const auto& [path, value] : values(system)) job.set(path + "=" + value.dump());
  return job;
}

std::string Variations::name(std::int64_t system) const {
  return fmt::format("{:0{}}", system, std::to_string(count() - 1).size());
}

}  // namespace perrin
