#include "app/checkpoint_path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>
#include <vector>

#include "app/job_files.h"
#include "engine/base/error.h"
#include "io/seal.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

/// The first character that is no blank; 0: none.
char first_character(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  char c = 0;
  for (int k = 0; k < 4096 && in.get(c); ++k)
    if (!std::isspace(static_cast<unsigned char>(c))) return c;
  return 0;
}

bool is_checkpoint(const fs::path& path) {
  try {
    return io::broken_seal(path.string()).empty();
  } catch (const UserError&) {
    return false;
  }
}

fs::path checkpoint_in(const fs::path& folder) {
  const fs::path usual = folder / "checkpoint.h5";
  std::error_code error;
  if (fs::is_regular_file(usual, error)) return usual;
  std::vector<std::string> found, before;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    if (entry->path().extension() == ".h5" && is_checkpoint(entry->path()))
      found.push_back(entry->path().string());
    if (entry->path().extension() == ".prev" && is_checkpoint(entry->path()))
      before.push_back(entry->path().string());
  }
  if (error)
    throw UserError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  std::ranges::sort(found);
  std::ranges::sort(before);
  if (found.size() == 1) return found.front();
  if (!found.empty())
    throw UserError(fmt::format("{}: has several checkpoints; name one of them: {}",
                                folder.string(), fmt::join(found, ", ")));
  throw UserError(fmt::format(
      "{}: the folder has no checkpoint{}", folder.string(),
      before.empty()
          ? std::string()
          : fmt::format("; a previous checkpoint is intact: perrin resume {}", before.front())));
}

}  // namespace

fs::path checkpoint_path(const fs::path& given) {
  std::error_code ignored;
  if (fs::is_directory(given, ignored)) return checkpoint_in(given);
  if (!fs::is_regular_file(given, ignored)) return given;
  const char first = first_character(given);
  if (first != '{' && first != '/') return given;
  const fs::path beside = folder_of(given) / "checkpoint.h5";
  throw UserError(fmt::format(
      "{0}: is a job, not a checkpoint: perrin run {0} starts it; perrin resume continues a run "
      "from its checkpoint{1}",
      given.string(),
      fs::exists(beside, ignored) ? ", such as " + beside.string() : " (checkpoint.h5)"));
}

}  // namespace perrin
