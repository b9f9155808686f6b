// Files that a resumed run goes on with.
#pragma once

#include <fmt/format.h>

#include <string>

#include "engine/base/error.h"

namespace perrin::io {

/// Throws UserError: `what` of the file is not as this observer writes it.
[[noreturn]] inline void refuse_to_continue(const std::string& path, const std::string& what) {
  throw UserError(
      fmt::format("{}: cannot be continued: {}: it is not the file of this observer", path, what));
}

}  // namespace perrin::io
