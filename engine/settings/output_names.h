// Names of output files: what the system takes, and what two of them need beside one another.
#pragma once

#include <filesystem>
#include <string>

namespace perrin {

/// Files that Perrin makes beside an output file, by what is added to its name: while it is
/// written, and what it was before.
inline constexpr const char* companions[] = {".part", ".journal", ".prev", ".prev.part"};

/// The log of the runs in a folder (engine/run/run_log.h).
inline constexpr const char* log_name = "perrin.log";

/// Why no output may have this name; empty: it may.
std::string why_no_output_name(const std::string& name);
/// Whether the one file has a name that is made beside the other.
bool is_companion(const std::filesystem::path& file, const std::filesystem::path& of);

}  // namespace perrin
