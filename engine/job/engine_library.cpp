#include "engine/job/engine_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "engine/job/plugin_api.h"

namespace perrin {
namespace fs = std::filesystem;

const char* build_tag() { return PERRIN_BUILD_TAG; }
const char* engine_version() { return PERRIN_VERSION; }

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  if (const char* list = std::getenv("PERRIN_PLUGIN_PATH")) {
    const std::string text = list;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      if (end > begin) folders.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  // Beside this library, in the build tree as after installation.
  if (const fs::path library = engine_library(); !library.empty())
    folders.push_back(library.parent_path() / "perrin" / "plugins");
  return folders;
}

fs::path engine_library() {
  Dl_info self{};
  std::error_code ignored;
  return dladdr(reinterpret_cast<const void*>(&engine_version), &self) && self.dli_fname
             ? fs::canonical(self.dli_fname, ignored)
             : fs::path();
}

}  // namespace perrin
