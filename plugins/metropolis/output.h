// The files of a metropolis stage: rows of observables, radial distributions, frames. `step` is the
// cycle, counted through equilibration; all are in the forms of docs/files.md.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/run/setup.h"
#include "io/h5md_file.h"
#include "plugins/metropolis/system.h"

namespace perrin::metropolis {

/// Rows of observables. A resumed run trims them to what its checkpoint knows.
class RowsFile {
 public:
  RowsFile(std::filesystem::path path, std::vector<io::ObservableColumn> columns,
           const Setup& setup, const Units& units);
  ~RowsFile();
  void open(bool resumed);
  /// Values of all columns one after another; nothing where `cycle` was written already.
  void append(std::int64_t cycle, std::vector<double> row);
  void flush();
  void state(Archive& archive);

 private:
  std::filesystem::path path_;
  std::vector<io::ObservableColumn> columns_;
  std::shared_ptr<const JobRecord> record_;
  Units units_;
  bool overwrite_;
  std::int64_t rows_ = 0, last_ = -1;
  std::shared_ptr<io::ObservablesWriter> file_;  // touched on the writer's thread alone
};

/// The sites of one replica as a trajectory.
class FramesFile {
 public:
  FramesFile(std::filesystem::path path, const Setup& setup, const Units& units);
  ~FramesFile();
  void open(bool resumed, const System& system);
  void append(std::int64_t cycle, const System& system);
  void flush();
  void state(Archive& archive);

 private:
  std::filesystem::path path_;
  std::shared_ptr<const JobRecord> record_;
  Units units_;
  bool overwrite_;
  std::int64_t frames_ = 0, last_ = -1;
  std::shared_ptr<io::H5mdWriter> file_;
};

}  // namespace perrin::metropolis
