#include "engine/base/error.h"

#include <fmt/format.h>

namespace perrin {

void report_bug(const char* condition, const char* file, int line) {
  throw BugError(fmt::format("{}:{}: not true: {}", file, line, condition));
}

}  // namespace perrin
