// What is done with the settings of bonded potentials before coefficients are made from them.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "engine/components/setup.h"
#include "forces/pair_potential.h"

namespace perrin {

/// Has `static bool load(Settings&, Setup&, const std::string& key)`: reads a file that the
/// settings name; false after an error, which it has reported.
template <class P>
concept LoadsFile = requires(typename P::Settings& settings, Setup& setup) {
  { P::load(settings, setup, "") } -> std::same_as<bool>;
};

/// Settings by the names of types, checked, and with the files read that they name; `key` says
/// where in the job they are. None after an error in a file.
template <class P>
std::optional<std::map<std::string, typename P::Settings>> prepared(
    std::map<std::string, typename P::Settings> all, const std::string& key, Setup& setup) {
  bool good = true;
  for (auto& entry : all) {
    const std::string path = fmt::format("{}.{}", key, entry.first);
    if constexpr (LoadsFile<P>) good = P::load(entry.second, setup, path) && good;
    if constexpr (HasCheck<P>)
      P::check(entry.second, [&](const std::string& wrong, const std::string& what) {
        setup.error(fmt::format("{}.{}", path, wrong), what);
      });
  }
  return good ? std::optional(std::move(all)) : std::nullopt;
}

/// The contents of the files that settings name, for checkpoints.
template <class P>
std::string fingerprints(const std::map<std::string, typename P::Settings>& all) {
  std::string text;
  if constexpr (LoadsFile<P>)
    for (const auto& [name, settings] : all) text += settings.spline->fingerprint();
  return text;
}

}  // namespace perrin
