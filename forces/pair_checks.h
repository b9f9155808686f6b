// What is wrong with the settings of a pair force, in words; forces/pair_force.h asks.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/setup.h"

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

}  // namespace perrin::detail
