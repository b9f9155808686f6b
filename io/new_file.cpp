#include "io/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/base/error.h"
#include "io/journal_name.h"

namespace perrin::io {
namespace {

void sync(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  int status = descriptor < 0 ? -1 : 0;
  if (descriptor >= 0) {
    do status = ::fsync(descriptor);
    while (status != 0 && errno == EINTR);
    // Some file systems have nothing to bring to the disk for a folder.
    if (status != 0 && errno == EINVAL && (flags & O_DIRECTORY) != 0) status = 0;
  }
  const int why = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (status != 0)
    throw RunError(fmt::format("{}: cannot be written to disk: {}", path, std::strerror(why)));
}

/// Without replacing. Returns 0 or an errno.
int rename_to_free_name(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return errno;
  // Not every file system can refuse to replace: ask first then.
  struct stat status {};
  if (::lstat(to, &status) == 0) return EEXIST;
  if (errno != ENOENT) return errno;
  return ::rename(from, to) == 0 ? 0 : errno;
}

}  // namespace

void sync_file(const std::string& path) { sync(path, 0); }

void sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  sync(folder.empty() ? "." : folder.string(), O_DIRECTORY);
}

NewFile::NewFile(const std::string& path, const std::string& mark)
    : path_(path), aside_(path + mark + ".part"), made_(!writes_files()) {
  if (!made_) ::unlink(aside_.c_str());
}

NewFile::~NewFile() {
  if (!made_) ::unlink(aside_.c_str());
}

void NewFile::put_in_place(bool overwrite) {
  if (!writes_files()) return;
  sync_file(aside_);
  put_in_place_unsynced(overwrite);
  sync_folder_of(path_);
}

void NewFile::put_in_place_unsynced(bool overwrite) {
  if (!writes_files()) return;
  forget_changes(path_);  // of what is replaced
  struct stat status {};
  if (overwrite && ::lstat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw UserError(path_ + ": is not a regular file; --overwrite replaces regular files only");
  const int why = !overwrite ? rename_to_free_name(aside_.c_str(), path_.c_str())
                  : ::rename(aside_.c_str(), path_.c_str()) == 0 ? 0
                                                                 : errno;
  if (why == EEXIST) throw UserError(path_ + ": exists; --overwrite replaces it");
  if (why != 0)
    throw RunError(fmt::format("{}: cannot create the file: {}", path_, std::strerror(why)));
  made_ = true;
}

}  // namespace perrin::io
