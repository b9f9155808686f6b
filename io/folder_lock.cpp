#include "io/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "engine/base/error.h"
#include "io/new_file.h"

namespace perrin::io {
namespace {

namespace fs = std::filesystem;

bool same_file(int descriptor, const fs::path& path) {
  struct stat one {
  }, other{};
  return ::fstat(descriptor, &one) == 0 && ::stat(path.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

std::string owner(int descriptor) {
  char text[300] = {};
  if (::pread(descriptor, text, sizeof(text) - 1, 0) <= 0) return "another run";
  return fmt::format("another run ({})", std::string(text, std::strcspn(text, "\n")));
}

/// Whether it may be written: it is not a pipe, nor another name of some other file.
bool is_lock_file(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1;
}

[[noreturn]] void refuse(const fs::path& file) {
  throw UserError(fmt::format(
      "{}: not a lock file of a run: expected a regular file with a single name; remove it",
      file.string()));
}

void write_owner(int descriptor) {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  const std::string text = fmt::format("process {} on {}\n", ::getpid(), host);
  // For people only: a full disk is no reason to go without the lock.
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, text.data(), text.size(), 0) < 0) {
  }
}

}  // namespace

std::string folder_owner(const fs::path& folder) {
  // A pipe must not keep us waiting.
  const int descriptor =
      ::open((folder / ".perrin.lock").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return "";
  if (!is_lock_file(descriptor)) {
    ::close(descriptor);
    return "";
  }
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  const std::string who = held ? owner(descriptor) : "";
  ::close(descriptor);
  return who;
}

bool FolderLocks::lock(const fs::path& folder) {
  if (!writes_files()) return true;
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;
  const auto held = [&](const Lock& l) {
    return l.device == status.st_dev && l.inode == status.st_ino;
  };
  if (std::any_of(locks_.begin(), locks_.end(), held)) return true;
  const fs::path file = folder / ".perrin.lock";
  while (true) {
    const int descriptor =
        ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    if (descriptor < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO)) refuse(file);
    if (descriptor < 0) return false;
    if (!is_lock_file(descriptor)) {
      ::close(descriptor);
      refuse(file);
    }
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool locked = ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
    if (!locked && (errno == EAGAIN || errno == EACCES)) {
      const std::string who = owner(descriptor);
      ::close(descriptor);
      throw UserError(
          fmt::format("{}: {} is writing into this folder; wait until it ends, or use another "
                      "folder with --output-dir",
                      folder.string(), who));
    }
    if (!locked)
      std::fputs(fmt::format("perrin: warning: {}: this file system has no locks ({}); make sure "
                             "that no other run writes here\n",
                             folder.string(), std::strerror(errno))
                     .c_str(),
                 stderr);
    // The run that had the lock before may have removed the file since we opened it.
    if (locked && !same_file(descriptor, file)) {
      ::close(descriptor);
      continue;
    }
    write_owner(descriptor);
    locks_.push_back({file, descriptor, status.st_dev, status.st_ino});
    return true;
  }
}

void FolderLocks::take(const fs::path& folder) {
  if (lock(folder)) return;
  const std::string what =
      fmt::format("{}: cannot lock this folder: {}", folder.string(), std::strerror(errno));
  if (errno == EACCES || errno == EPERM || errno == EROFS || errno == ENOENT) throw UserError(what);
  throw RunError(what);
}

void FolderLocks::take_if_possible(const fs::path& folder) { (void)lock(folder); }

FolderLocks::~FolderLocks() {
  for (const Lock& l : locks_) {
    if (same_file(l.descriptor, l.file)) ::unlink(l.file.c_str());
    ::close(l.descriptor);
  }
}

}  // namespace perrin::io
