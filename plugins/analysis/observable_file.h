// A file of observables that a component owns: made, continued after a resume, flushed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/archive.h"
#include "engine/run/setup.h"
#include "engine/run/simulation.h"
#include "io/h5md_file.h"

namespace perrin::analysis {

class ObservableFile {
 public:
  /// `name`: the setting "file". Reports mistakes at "file".
  ObservableFile(const std::string& name, std::vector<io::ObservableColumn> columns, Setup& setup);
  ~ObservableFile();
  /// `constants` may add what does not change, once, when the file is made.
  void begin(const Simulation& simulation, bool resumed,
             const std::function<void(const io::Node& root)>& constants = {});
  /// Values of all columns one after another. Rows that were written for this step are not again.
  void append(std::int64_t step, double time, std::vector<double> row);
  void end(const Simulation& simulation);
  void state(Archive& archive);

 private:
  std::filesystem::path path_;
  std::vector<io::ObservableColumn> columns_;
  std::shared_ptr<const JobRecord> record_;
  Units units_;
  bool overwrite_;
  std::int64_t rows_ = 0, last_step_ = -1;
  std::shared_ptr<io::ObservablesWriter> file_;
};

}  // namespace perrin::analysis
