#include "engine/job/exchange_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/settings/json_file.h"
#include "engine/settings/problems.h"

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

}  // namespace perrin
