// Where the journal of a file's changes is (io/journal.h).
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "engine/base/error.h"

namespace perrin::io {

inline std::string journal_of(const std::string& path) { return path + ".journal"; }

/// Removes a journal that was left behind; for replacing the file. Throws RunError.
inline void forget_changes(const std::string& path) {
  const std::string journal = journal_of(path);
  if (::unlink(journal.c_str()) != 0 && errno != ENOENT)
    throw RunError(fmt::format("{}: cannot be removed: {}", journal, std::strerror(errno)));
}

}  // namespace perrin::io
