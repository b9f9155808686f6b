// Where an observer of this plug-in writes.
#pragma once

#include <filesystem>
#include <string>

#include "engine/components/setup.h"

namespace perrin::analysis {

/// Of the setting "file", where mistakes are reported.
inline std::filesystem::path output_path(const std::string& name, Setup& setup) {
  if (!name.empty()) return setup.output_file(name, "file");
  setup.error("file", "must not be empty");
  return {};
}

}  // namespace perrin::analysis
