#include "engine/run/warnings_heard.h"

#include <string_view>
#include <utility>

namespace perrin {
namespace {

thread_local WarningsHeard* heard = nullptr;

}  // namespace

WarningsHeard::WarningsHeard(Function function)
    : function_(std::move(function)), before_(std::exchange(heard, this)) {}

WarningsHeard::~WarningsHeard() { heard = before_; }

bool WarningsHeard::tell(const std::string& line) {
  constexpr std::string_view mark = "warning: ";
  if (heard == nullptr || !line.starts_with(mark)) return false;
  heard->function_(line.substr(mark.size()));
  return true;
}

}  // namespace perrin
