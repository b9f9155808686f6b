#include "app/build_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/job/engine_library.h"

namespace perrin {

std::string other_build(const std::string& who, const std::string& tag, const Layout& sizes) {
  if (tag == build_tag() && sizes == layout) return "";
  const auto build = [](const std::string& of, const Layout& l) {
    return fmt::format("{} layout-{}", of, fmt::join(l, "-"));
  };
  return fmt::format(
      "{} and {} are of different builds of Perrin: \"{}\" and \"{}\"; install both from the same "
      "build, and see that LD_LIBRARY_PATH names no other libperrin",
      who, engine_library().string(), build(tag, sizes), build(build_tag(), layout));
}

}  // namespace perrin
