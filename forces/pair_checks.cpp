#include "forces/pair_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace perrin::detail {

std::optional<std::pair<std::size_t, std::size_t>> pair_of_types(
    Setup& setup, const std::array<std::string, 2>& types, std::size_t k) {
  const std::string key = fmt::format("pairs[{}].types", k);
  const std::size_t a = setup.type_index(types[0], key), b = setup.type_index(types[1], key);
  const auto& names = setup.configuration().types;
  if (names[a] != types[0] || names[b] != types[1]) return std::nullopt;
  return std::pair(a, b);
}

void report_missing_cutoffs(Setup& setup, const std::string& type,
                            const std::vector<std::pair<std::string, std::string>>& without) {
  if (without.empty()) return;
  std::string pairs;
  for (const auto& [a, b] : without)
    pairs += fmt::format("{}{} and {}", pairs.empty() ? "" : ", ", a, b);
  setup.error("cutoff",
              fmt::format("is missing: {} needs a cut-off distance, for all pairs of types (such "
                          "as \"cutoff\": 2.5 here) or in \"pairs\" for each of {}",
                          type, pairs));
}

void check_ends(Setup& setup, const std::string& type, const std::string& truncation, bool smooth,
                const std::optional<double>& cutoff, const std::vector<PairEnd>& ends) {
  // Who writes 1.1225 for 2^(1/6) names the end that there is.
  constexpr double rounding = 1.001;
  bool acts = false, asked = false, at_ends = true;
  double last = 0;
  for (const PairEnd& e : ends) {
    last = std::max(last, e.own);
    if (e.cutoff && *e.cutoff < e.own) at_ends = false;
    if (!e.cutoff) continue;
    const bool beyond = *e.cutoff > rounding * e.own;
    if (!e.at) {
      asked = true;
      acts = acts || !beyond;
    } else if (beyond) {
      setup.error(
          fmt::format("pairs[{}].cutoff", *e.at),
          fmt::format(
              "must be at most {:.6g}, the range of {}, got {:.6g}: it has no effect; remove it",
              e.own, type, *e.cutoff));
    }
  }
  if (asked && !acts)
    setup.error(
        "cutoff",
        fmt::format(
            "must be at most {:.6g}, the range of {}, got {:.6g}: it has no effect; remove it",
            last, type, *cutoff));
  if (smooth && at_ends && (truncation == "energy_shift" || truncation == "force_shift"))
    setup.error(
        "truncation",
        fmt::format("\"{}\" has no effect: energy and force of {} are 0 at its range; remove it",
                    truncation, type));
}

void check_switch(Setup& setup, const std::string& truncation,
                  const std::optional<double>& switch_on) {
  if (switch_on && truncation != Switched::name)
    setup.error(
        "switch_on",
        fmt::format(
            "has no effect: it is for \"truncation\": \"switch\", and the truncation is \"{}\"",
            truncation));
}

bool switch_fits(Setup& setup, const std::string& truncation,
                 const std::optional<double>& switch_on, double cutoff) {
  if (!switch_on || truncation != Switched::name || *switch_on < cutoff) return true;
  setup.error("switch_on", fmt::format("must be below the cut-off {}, got {}", cutoff, *switch_on));
  return false;
}

}  // namespace perrin::detail
