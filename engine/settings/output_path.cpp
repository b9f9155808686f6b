#include "engine/settings/output_path.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace perrin {
namespace fs = std::filesystem;
namespace {

std::string what_is_there(const fs::path& file, Existing existing) {
  struct stat status {};
  const int found = existing == Existing::continued ? ::stat(file.c_str(), &status)
                                                    : ::lstat(file.c_str(), &status);
  if (found != 0)
    return errno == ENOENT || errno == ENOTDIR
               ? ""
               : fmt::format("cannot write {}: {}", file.string(), std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fmt::format("{} is a folder, not a file", file.string());
  if (S_ISLNK(status.st_mode))
    return fmt::format(
        "{} is a symbolic link; only regular files are replaced: name the file itself",
        file.string());
  if (!S_ISREG(status.st_mode))
    return fmt::format("{} is a device, a pipe or a socket; only regular files are written",
                       file.string());
  if (existing == Existing::refused)
    return fmt::format(
        "{} exists already: --overwrite replaces it, --output-dir writes elsewhere; perrin resume "
        "goes on with a run",
        file.string());
  if (::access(file.c_str(), W_OK) != 0)
    return fmt::format("cannot write {}: {}", file.string(), std::strerror(errno));
  return "";
}

}  // namespace

std::string why_not_writable(const fs::path& file, Existing existing) {
  if (std::string what = what_is_there(file, existing); !what.empty()) return what;
  // The nearest folder that exists must let us in.
  fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_parent_path() && folder != folder.parent_path())
    folder = folder.parent_path();
  if (folder.empty() || !fs::exists(folder, ignored)) folder = ".";
  if (!fs::is_directory(folder, ignored))
    return fmt::format("cannot write {}: {} is no folder", file.string(), folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fmt::format("cannot write in {}: {}", folder.string(), std::strerror(errno));
  return "";
}

std::string why_no_folder(const fs::path& folder, int new_folders) {
  if (!folder.is_absolute()) return "";
  fs::path there = folder.lexically_normal();
  if (!there.has_filename()) there = there.parent_path();  // "/a/b/"
  std::error_code ignored;
  for (int k = 0; k < new_folders && !fs::exists(there, ignored); ++k) there = there.parent_path();
  if (fs::exists(there, ignored)) return "";
  return fmt::format("the folder {} does not exist; if its name is right, make it first",
                     there.string());
}

}  // namespace perrin
