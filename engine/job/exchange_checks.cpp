#include "engine/job/exchange_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"
#include "neighbor/settings.h"

namespace perrin {
namespace {

/// Whether two boxes that exchange particles may differ in a setting: where they begin, how they
/// are looked at and how their particles move, not what weight their states have.
bool may_differ(const std::string& path) {
  const auto in = [&path](const std::string& key) {
    return path.starts_with(key) &&
           (path.size() == key.size() || path[key.size()] == '.' || path[key.size()] == '[');
  };
  constexpr std::array free = {"seed",     "system",    "reservoir", "title",
                               "velocity", "observers", "neighbors", "processes"};
  if (std::ranges::any_of(free, in)) return true;
  if (!path.starts_with("stages[")) return false;
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) return false;
  const std::string key = path.substr(dot + 1, path.find_first_of(".[", dot + 1) - dot - 1);
  return key == "translation" || key == "swap" || key == "tune";
}

/// What a value says of "neighbors.exclusions", in an order of its own; null: nothing.
Json exclusions_in(const std::string& path, const Json& value) {
  Json found;
  if (path.starts_with("neighbors.exclusions")) found = value;
  if (path == "neighbors" && value.is_object())
    found = value.value("exclusions", Json(NeighborSettings().exclusions));
  if (found.is_array()) {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
  return found;
}

/// Replicas exchange their particles, and what lists leave out stays.
void check_replicas(
    const std::vector<std::vector<std::pair<std::string, Json>>>& values,
    const std::function<void(const std::string& path, const std::string& what)>& report) {
  for (std::size_t k = 1; k < values.size(); ++k)
    for (std::size_t n = 0; n < values[k].size(); ++n) {
      const std::string& path = values[k][n].first;
      const Json first = exclusions_in(path, values[0].at(n).second),
                 other = exclusions_in(path, values[k][n].second);
      if (first == other) continue;
      return report(join_path("ensemble.vary", path),
                    fmt::format("must exclude the same pairs in systems that exchange their "
                                "particles, got {} and {}",
                                shown(first), shown(other)));
    }
}

}  // namespace

void check_exchange(
    const EnsembleSettings& settings,
    const std::vector<std::vector<std::pair<std::string, Json>>>& values,
    const std::function<void(const std::string& path, const std::string& what)>& report) {
  if (!settings.exchange) return;
  const ExchangeSettings& exchange = *settings.exchange;
  const std::string key = "ensemble.exchange";
  if (!exchange.is_gibbs()) {
    const auto refuse = [&](const char* name, bool given) {
      if (given)
        report(key + "." + name, "is a setting of the type \"gibbs\", and the type is \"replica\"");
    };
    refuse("transfers", exchange.transfers.has_value());
    refuse("volume", exchange.volume.has_value());
    refuse("rows_every", exchange.rows_every.has_value());
    check_replicas(values, report);
    return;
  }
  if (exchange.transfers == 0 && !exchange.volume)
    report(key + ".transfers",
           "must be positive without \"volume\": nothing would be exchanged, got 0");
  if (values.size() % 2 != 0) {
    report(settings.count ? "ensemble.count" : "ensemble",
           fmt::format("must be even with the exchange \"gibbs\", for systems 2k and 2k + 1 are a "
                       "pair, got {}",
                       values.size()));
    return;
  }
  for (std::size_t k = 0; k < values.size(); k += 2)
    for (std::size_t n = 0; n < values[k].size(); ++n) {
      const auto& [path, value] = values[k][n];
      const Json& other = values[k + 1].at(n).second;
      if (may_differ(path) || value == other) continue;
      report(join_path("ensemble.vary", path),
             fmt::format("must be the same in systems {} and {}, which exchange particles, got {} "
                         "and {}",
                         k, k + 1, shown(value), shown(other)));
    }
}

void check_exchange_stages(
    const ExchangeSettings& settings, const Json& stages,
    const std::function<void(const std::string& path, const std::string& what)>& report) {
  if (!stages.is_array()) return;  // reported with the job
  std::vector<std::string> known;
  for (const Json& stage : stages)
    for (const char* const key : {"name", "type"})
      if (stage.is_object() && stage.contains(key) && stage[key].is_string() &&
          std::ranges::find(known, stage[key].get<std::string>()) == known.end())
        known.push_back(stage[key]);
  for (std::size_t k = 0; k < settings.stages.size(); ++k)
    if (std::ranges::find(known, settings.stages[k]) == known.end())
      report(fmt::format("ensemble.exchange.stages[{}]", k),
             fmt::format("no stage has the name or the type \"{}\"; {}", settings.stages[k],
                         suggest(settings.stages[k], known)));
}

}  // namespace perrin
