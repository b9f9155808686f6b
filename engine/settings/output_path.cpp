#include "engine/settings/output_path.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

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
        "{} exists: --overwrite replaces it, --output-dir uses another folder, perrin resume "
        "continues a run",
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
    return fmt::format("cannot write {}: {} is not a folder", file.string(), folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fmt::format("cannot write in {}: {}", folder.string(), std::strerror(errno));
  return "";
}

bool is_outside(const fs::path& file, const fs::path& folder) {
  const auto real = [](const fs::path& path) {
    std::error_code ignored;
    fs::path there = fs::weakly_canonical(fs::absolute(path), ignored);
    if (there.empty()) there = fs::absolute(path).lexically_normal();
    return there.has_filename() ? there : there.parent_path();
  };
  // An empty path is the current folder.
  const fs::path from = real(folder.empty() ? "." : folder);
  const fs::path way = real(file.empty() ? "." : file).lexically_relative(from);
  return way.empty() || *way.begin() == "..";
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::exists(a, ignored) && fs::exists(b, ignored) && fs::equivalent(a, b, ignored);
}

bool is_no_output(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  char begin[8] = {};
  in.read(begin, sizeof begin);
  const std::string_view bytes(begin, std::size_t(std::max<std::streamsize>(in.gcount(), 0)));
  if (bytes.empty()) return false;
  using namespace std::string_view_literals;
  for (const std::string_view known :
       {"\x89HDF\r\n\x1a\n"sv, "\xdf\x65\xdf\x65\xdf\x65\xdf\x65"sv, "\0\0\x07\xcb"sv})
    if (bytes.starts_with(known)) return false;
  return true;
}

std::string why_no_folder(const fs::path& folder, int new_folders) {
  if (!folder.is_absolute()) return "";
  fs::path there = folder.lexically_normal();
  if (!there.has_filename()) there = there.parent_path();  // "/a/b/"
  std::error_code ignored;
  for (int k = 0; k < new_folders && !fs::exists(there, ignored); ++k) there = there.parent_path();
  if (fs::exists(there, ignored)) return "";
  return fmt::format("the folder {} does not exist; if the name is right, create it first",
                     there.string());
}

}  // namespace perrin
