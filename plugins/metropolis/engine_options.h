// What a chain is, and what the engines that carry it out may be told beside that.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace perrin::metropolis {

/// The chain, whichever engine carries it out.
struct ChainOptions {
  std::uint64_t seed = 1;
  bool single_precision = false;  // of pair energies; sums of them are double in any case
  bool random_order = false;      // molecules are chosen at random, else one after the other
};

struct SequentialOptions {};

struct ReductionOptions {};

struct PipelinedOptions {
  int warps = 0;  // on a GPU: that share a group of moves; 0: chosen
  int band = 0;   // the same: groups whose decisions are waited for last; 0: chosen
};

struct CheckerboardOptions {
  int trials = 8;     // of each atom per sweep
  double margin = 0;  // of lists beyond the cut-off, length; 0: chosen
};

/// An engine and what is its own.
using EngineOptions =
    std::variant<PipelinedOptions, SequentialOptions, ReductionOptions, CheckerboardOptions>;

/// "sequential", "reduction", "pipelined" or "checkerboard" with its standard options. Throws
/// UserError for other names.
EngineOptions engine_named(const std::string& name);

}  // namespace perrin::metropolis
