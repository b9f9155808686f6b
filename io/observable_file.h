// A file of observables that an observer or a stage owns, plug-ins' too: rows of numbers and small
// arrays, each with step and time, in the layout that docs/guide/files.md describes.
//
//     io::ObservableFile file(path, {{"density", {}, ""}, {"profile", {50}, ""}}, setup);
//     file.begin(seen, resumed);  // an observer; a stage: open(resumed)
//     file.append(step, time, row);
//     file.end(seen);             // a stage: flush()
//     file.state(archive);              // before begin() where a run is resumed
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/observables_writer.h"
#include "io/output_file.h"

namespace perrin {
class Observation;
}

namespace perrin::io {

class ObservableFile : public OutputFile<ObservablesWriter> {
 public:
  /// `path`: what Setup::output_file() returned; empty: no file, and rows are only counted.
  /// `units`: of the time, where rows are not counted in the job's.
  ObservableFile(std::filesystem::path path, std::vector<ObservableColumn> columns,
                 const Setup& setup, const Units& units);
  ObservableFile(std::filesystem::path path, std::vector<ObservableColumn> columns,
                 const Setup& setup);

  /// Makes the file, or, resumed, cuts that of the run before to the rows of the checkpoint. Does
  /// nothing where it is open. `constants` adds what does not change, once, when the file is made.
  /// Throws UserError where the file cannot be made or is not that of the checkpoint.
  void open(bool resumed, const std::function<void(const Node& root)>& constants = {});
  /// Queues the values of all columns, one column after another; nothing where the last row is that
  /// of this step.
  void append(std::int64_t step, double time, std::vector<double> row);
  /// Observers call these from their own begin() and end(): open() once, and end() waits for all
  /// that is queued. Both write into the file how pairs are found, begin() where stages began.
  void begin(const Observation& seen, bool resumed,
             const std::function<void(const Node& root)>& constants = {});
  void end(const Observation& seen);
  /// Rows and their columns. Throws UserError where a resumed run has other columns.
  void state(Archive& archive);

 private:
  std::vector<ObservableColumn> columns_;
};

}  // namespace perrin::io
