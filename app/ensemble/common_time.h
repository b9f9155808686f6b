// From where the systems of a stopped or killed ensemble with exchange go on: from one time.
//
// Systems write their checkpoints in turn, so that a killed ensemble can have those of two times.
// All have one of them, since nobody goes on before all have written (EnsembleRun). Checkpoints
// with the same record of exchanges belong to the same time: a system that was at the next exchange
// waits there for the others.
#pragma once

#include <string>
#include <vector>

#include "app/ensemble/system_run.h"

namespace perrin {

struct CommonTime {
  std::vector<Start> starts;         // [system]
  std::vector<std::int64_t> undone;  // systems that are complete, but not yet at that time
};

/// The newest time of which all systems have a checkpoint; of those that were complete before it
/// the last one counts, those that have failed need none. Anew where the ensemble was killed before
/// all had one: exchange.json is written when they have. Throws UserError where they do not go
/// together.
CommonTime find_common_time(const EnsembleContext& ensemble);

/// For other processes, and back.
std::string to_text(const CommonTime& time);
CommonTime common_time_of(const std::string& text);

}  // namespace perrin
