// What a file of a run says about the run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/settings/settings.h"
#include "io/hdf5.h"

namespace perrin::report {

struct Record {
  std::string job;  // JSON; empty where the file says nothing of a run
  Json facts = Json::object();
  std::vector<std::pair<std::string, std::int64_t>> stages;  // name, first step; -1: not begun
  std::vector<std::string> remarks;  // what stages have warned of at their ends; empty: nothing
  double wall_time = 0;              // s; 0: not known

  /// The same run, not only the same kind of file.
  bool same_run(const Record& other) const { return job == other.job && facts == other.facts; }
};

/// On the writer's thread, like everything that reads HDF5.
Record record_of(const io::Node& root);

/// JSON of a file, which anybody may have written: discarded where it is none, and where lists and
/// objects are nested deeper than in any job.
Json json_of(const std::string& text);

/// A single text. Throws UserError where there is none or many.
std::string text_of(const io::Node& node);

/// Of a job's stages: {name, type, steps (null: not known), begin (null: not begun),
/// remark}.
Json stages_of(const Record& record);

}  // namespace perrin::report
