// Files that the systems of an ensemble write: never two systems one file, and none of the
// ensemble's own files.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/job/job.h"
#include "engine/job/variations.h"

namespace perrin {

class EnsembleOutputs {
 public:
  /// `folder`: of the ensemble.
  EnsembleOutputs(const Variations& variations, const std::filesystem::path& folder);
  /// Of each system in turn. Throws UserError with each output that has the name of a file of
  /// another system or of the ensemble, or a name that is made beside such a file.
  void look(std::int64_t system, const Job& job);

 private:
  /// What writes a file with this name, or one beside it; empty: nothing known.
  std::string writer_of(const std::filesystem::path& file) const;
  void keep(const std::filesystem::path& file, const std::string& writer);

  const Variations& variations_;
  std::map<std::filesystem::path, std::string> writers_;  // file → what writes it
};

}  // namespace perrin
