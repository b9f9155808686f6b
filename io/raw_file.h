// A file of bytes, every call of which completes or throws.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/base/error.h"

namespace perrin::io {

/// Throws `Error` with the path and the system's reason.
template <class Error = RunError>
class RawFile {
 public:
  /// `mode`: O_RDONLY, O_RDWR, with O_CREAT if need be. Only regular files; for writing no symbolic
  /// link to one.
  RawFile(const std::string& path, int mode) : path_(path) {
    // A pipe must not keep us waiting.
    if ((mode & O_ACCMODE) != O_RDONLY) mode |= O_NOFOLLOW;
    descriptor_ = ::open(path.c_str(), mode | O_CLOEXEC | O_NONBLOCK, 0666);
    struct stat status {};
    const bool good = descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0;
    const int why = good ? 0 : errno;
    if (descriptor_ >= 0 && !(good && S_ISREG(status.st_mode))) ::close(descriptor_);
    if (why == ELOOP && (mode & O_NOFOLLOW) != 0)
      throw Error(path + ": is a symbolic link, which is never followed for writing");
    if (!good) throw Error(fmt::format("{}: cannot be opened: {}", path, std::strerror(why)));
    if (!S_ISREG(status.st_mode)) throw Error(path + ": is not a regular file");
    size_ = std::uint64_t(status.st_size);
    device_ = status.st_dev, inode_ = status.st_ino, names_ = std::uint64_t(status.st_nlink);
  }
  ~RawFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  /// When it was opened.
  std::uint64_t size() const { return size_; }
  dev_t device() const { return device_; }
  ino_t inode() const { return inode_; }
  /// How many names the file has.
  std::uint64_t names() const { return names_; }
  void read(std::uint64_t at, void* data, std::size_t n) const {
    for (auto* to = static_cast<unsigned char*>(data); n > 0;) {
      const ssize_t done = ::pread(descriptor_, to, n, off_t(at));
      if (done < 0 && errno == EINTR) continue;
      if (done == 0) errno = EIO;  // shorter than was asked for
      if (done <= 0) fail("cannot be read");
      to += done, at += std::uint64_t(done), n -= std::size_t(done);
    }
  }
  void write(std::uint64_t at, const void* data, std::size_t n) const {
    for (auto* from = static_cast<const unsigned char*>(data); n > 0;) {
      const ssize_t done = ::pwrite(descriptor_, from, n, off_t(at));
      if (done < 0 && errno == EINTR) continue;
      if (done == 0) errno = EIO;
      if (done <= 0) fail("cannot be written");
      from += done, at += std::uint64_t(done), n -= std::size_t(done);
    }
  }
  void set_size(std::uint64_t size) const {
    while (::ftruncate(descriptor_, off_t(size)) != 0)
      if (errno != EINTR) fail("cannot be resized");
  }
  /// Brings it to the disk.
  void sync() const {
    while (::fsync(descriptor_) != 0)
      if (errno != EINTR) fail("cannot be written to disk");
  }
  void sync_and_close() {
    sync();
    close();
  }
  void close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0 && errno != EINTR) fail("cannot be closed");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(fmt::format("{}: {}: {}", path_, what, std::strerror(errno)));
  }
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0, names_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace perrin::io
