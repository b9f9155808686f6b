#include "engine/run/warnings_heard.h"

#include <string_view>
#include <utility>

namespace perrin {
namespace {

thread_local WarningsHeard* heard = nullptr;

constexpr std::string_view mark = "warning: ";

/// At the beginning or behind the name of a run.
std::size_t place_of_mark(const std::string& line) {
  if (line.starts_with(mark)) return 0;
  if (!line.starts_with("system ")) return std::string::npos;
  const std::size_t colon = line.find(": ");
  const bool follows =
      colon != std::string::npos && line.compare(colon + 2, mark.size(), mark) == 0;
  return follows ? colon + 2 : std::string::npos;
}

}  // namespace

WarningsHeard::WarningsHeard(Function function) : function_(std::move(function)), before_(heard) {
  if (function_) heard = this;
}

WarningsHeard::~WarningsHeard() { heard = before_; }

bool WarningsHeard::tell(const std::string& line) {
  if (heard == nullptr || !is_warning(line)) return false;
  heard->function_(line);
  return true;
}

bool WarningsHeard::is_warning(const std::string& line) {
  return place_of_mark(line) != std::string::npos;
}

std::string WarningsHeard::without_mark(const std::string& line) {
  const std::size_t at = place_of_mark(line);
  return at == std::string::npos ? line : line.substr(0, at) + line.substr(at + mark.size());
}

}  // namespace perrin
