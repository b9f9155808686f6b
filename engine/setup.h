// What the maker of a component is given, and how it reports the user's mistakes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/configuration.h"
#include "engine/device.h"

namespace perrin {

class Setup {
 public:
  /// The particles as the source made them; throws BugError in the maker of a Source.
  const Configuration& configuration() const;
  const Device& device() const;        // the CPU while a job is only validated
  std::uint64_t seed() const;
  double k_boltzmann() const;
  const std::filesystem::path& job_directory() const;     // relative input paths start here
  const std::filesystem::path& output_directory() const;  // relative output paths start here

  /// Reports a mistake at a key of this component's settings, e.g. error("cutoff", "must be below half
  /// the box (5.2), got 6"). Keys may be paths: "pairs[2].sigma". All mistakes of a job are shown
  /// together, each as `job.json:14: forces[0].cutoff: must be …`.
  void error(const std::string& key, const std::string& what);
  /// Index of a particle type; reports an error at `key` (with the known names) and returns 0 if unknown.
  std::uint32_t type_index(const std::string& name, const std::string& key);
};

}  // namespace perrin
