// What is wrong with the settings of a pair force, in words; forces/pair_force.h asks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/force.h"
#include "engine/components/setup.h"
#include "forces/truncation.h"

namespace perrin::detail {

/// Index of both types of pairs[k]; nothing after a report of those that are unknown.
std::optional<std::pair<std::size_t, std::size_t>> pair_of_types(
    Setup& setup, const std::array<std::string, 2>& types, std::size_t k);

/// Reports pairs of types without a cut-off distance, all in one sentence.
void report_missing_cutoffs(Setup& setup, const std::string& type,
                            const std::vector<std::pair<std::string, std::string>>& without);

/// The end of one pair of types: where the potential ends by itself, and what the job says.
struct PairEnd {
  double own;                     // length
  std::optional<double> cutoff;   // that of the pair, else that of all
  std::optional<std::size_t> at;  // the cut-off is that of pairs[at]
};

/// Reports cut-offs and truncations that would do nothing: beyond the end that the potential `type`
/// has by itself, or (`smooth`: energy and force are 0 there) a shift by nothing.
void check_ends(Setup& setup, const std::string& type, const std::string& truncation, bool smooth,
                const std::optional<double>& cutoff, const std::vector<PairEnd>& ends);

/// Reports "switch_on" without the truncation that it belongs to.
void check_switch(Setup& setup, const std::string& truncation,
                  const std::optional<double>& switch_on);
/// Where a switch begins, unless it is said: at 0.9 of the cut-off.
inline double switch_begin(const std::optional<double>& switch_on, double cutoff) {
  return switch_on.value_or(0.9 * cutoff);
}
/// False, and an error: the switch would not begin below the cut-off.
bool switch_fits(Setup& setup, const std::string& truncation,
                 const std::optional<double>& switch_on, double cutoff);

/// False, and an error: the potential was compiled without this truncation.
template <class... Modes>
bool is_compiled(Setup& setup, const std::string& truncation, Truncations<Modes...> modes) {
  const bool compiled = has_truncation(truncation, modes);
  if (!compiled)
    setup.error("truncation", "this force was compiled without \"" + truncation + "\"");
  return compiled;
}
/// What f.template operator()<Mode>() makes for this truncation; nullptr after an error.
template <class F, class... Modes>
std::unique_ptr<Force> with_compiled_truncation(Setup& setup, const std::string& truncation, F&& f,
                                                Truncations<Modes...> modes) {
  if (!is_compiled(setup, truncation, modes)) return nullptr;
  return with_truncation(truncation, std::forward<F>(f), modes);
}

}  // namespace perrin::detail
