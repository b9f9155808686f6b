#include "engine/job/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <vector>

#include "engine/base/error.h"

namespace perrin {
namespace fs = std::filesystem;
namespace {

constexpr const char* other_cache = "PERRIN_CACHE names another folder";
constexpr const char* lock_name = "lock";
constexpr const char* sums_name = "sums";

/// Throws unless nobody but the user, and root, can put a file there. Where others may make files
/// beside the user's without touching them (the sticky bit), `sticky` says whether that will do.
void require_own(const fs::path& folder, const struct stat& status, bool sticky) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(
        fmt::format("the folder of compiled formulas, {}, {}: anyone who can write there can run "
                    "code as you; {}",
                    folder.string(), why, other_cache));
  };
  if (!S_ISDIR(status.st_mode)) refuse("is not a folder");
  if (status.st_uid != geteuid() && status.st_uid != 0)
    refuse(fmt::format("belongs to the user {}, not to you ({})", status.st_uid, geteuid()));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !(sticky && (status.st_mode & S_ISVTX)))
    refuse(fmt::format("can be written by other users (mode {:o}; chmod go-w corrects this)",
                       status.st_mode & 07777u));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  throw UserError(fmt::format("cannot create the folder {}: {} ({})", folder.string(),
                              error ? error.message() : std::strerror(errno), other_cache));
}

struct stat status_of(const fs::path& path, bool follow) {
  struct stat status {};
  if ((follow ? stat(path.c_str(), &status) : lstat(path.c_str(), &status)) != 0)
    throw UserError(fmt::format("cannot inspect the folder {}: {} ({})", path.string(),
                                std::strerror(errno), other_cache));
  return status;
}

/// The cache, which is there and is the user's own afterwards.
fs::path own_cache() {
  const auto named = [](const char* variable) -> fs::path {
    const char* value = std::getenv(variable);
    return value && *value ? fs::absolute(value).lexically_normal() : "";
  };
  fs::path cache = named("PERRIN_CACHE");
  if (!cache.empty() && !cache.has_filename()) cache = cache.parent_path();  // "cache/"
  if (cache.empty())
    if (const fs::path xdg = named("XDG_CACHE_HOME"); !xdg.empty()) cache = xdg / "perrin";
  if (cache.empty())
    if (const fs::path home = named("HOME"); !home.empty()) cache = home / ".cache" / "perrin";
  const bool temporary = cache.empty();
  if (temporary) {
    const fs::path folder = fs::temp_directory_path();
    require_own(folder, status_of(folder, true), true);
    cache = folder / fmt::format("perrin-{}", geteuid());
  }
  make_folder(cache);
  // A link within one's own folders is one's own; in that for temporary files anybody can make one.
  require_own(cache, status_of(cache, !temporary), !temporary);
  return cache;
}

/// The file, locked; -1 with errno where it cannot be. Waits for at most a second.
int take_lock(const fs::path& file, bool wait) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  for (int k = 0; descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++k) {
    if (!wait || errno != EWOULDBLOCK || k == 100) {
      const int error = errno;
      close(descriptor);
      errno = error;
      return -1;
    }
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  return descriptor;
}

void sync(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // Where a folder cannot be synced, its names are in its own hands.
  const bool synced = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (!synced)
    throw UserError(
        fmt::format("cannot sync {}: {} ({})", path.string(), std::strerror(error), other_cache));
}

/// A name in the cache of which nothing is there yet: an empty folder.
fs::path new_folder(const fs::path& entry) {
  std::string name = entry.string() + ".XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw UserError(fmt::format("cannot create a folder in {}: {} ({})",
                                entry.parent_path().string(), std::strerror(errno), other_cache));
  return name;
}

}  // namespace

std::string text_hash(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

std::optional<std::string> read_whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_new_file(const fs::path& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool good = file >= 0;
  for (std::size_t done = 0; good && done < text.size();) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    good = n > 0 || (n < 0 && errno == EINTR);
    if (n > 0) done += std::size_t(n);
  }
  const int error = errno;
  if (file >= 0 && close(file) != 0 && good) good = errno == EINTR;
  if (!good)
    throw UserError(
        fmt::format("cannot write {}: {} ({})", path.string(), std::strerror(error), other_cache));
}

CacheEntry::CacheEntry(std::string key)
    : key_(std::move(key)), cache_(own_cache()), folder_(cache_ / text_hash(key_)) {}

CacheEntry::~CacheEntry() {
  std::error_code ignored;
  if (!making_.empty()) fs::remove_all(making_, ignored);
  if (lock_ >= 0) close(lock_);
}

std::optional<fs::path> CacheEntry::find(const std::string& file) const {
  struct stat status {};
  if (lstat(folder_.c_str(), &status) != 0) return {};
  require_own(folder_, status, false);
  const auto sums = read_whole_file(folder_ / sums_name);
  if (!sums || read_whole_file(folder_ / "key") != key_) return {};
  std::istringstream lines(*sums);
  bool listed = false;
  for (std::string hash, name; lines >> hash >> name;) {
    const auto bytes = read_whole_file(folder_ / fs::path(name).filename());
    if (!bytes || text_hash(*bytes) != hash) return {};
    listed = listed || name == file;
  }
  return listed ? std::optional(folder_ / file) : std::nullopt;
}

void CacheEntry::remove_leftovers() const {
  std::error_code ignored;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(cache_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == 23 && name[16] == '.' && name.find_first_not_of("0123456789abcdef") == 16)
      folders.push_back(entry.path());
  }
  for (const fs::path& folder : folders) {
    struct stat status {};
    if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    const int lock = take_lock(folder / lock_name, false);
    // On a file system without locks, by its age.
    if (lock < 0 && (errno == EWOULDBLOCK || std::time(nullptr) - status.st_mtime < 86400))
      continue;
    fs::remove_all(folder, ignored);
    if (lock >= 0) close(lock);
  }
}

fs::path CacheEntry::begin() {
  // A folder that is new and not yet locked looks like a leftover: no other process cleans now.
  const int guard = take_lock(cache_ / ".lock", true);
  if (guard >= 0) remove_leftovers();
  try {
    making_ = new_folder(folder_);
    lock_ = take_lock(making_ / lock_name, false);
  } catch (...) {
    if (guard >= 0) close(guard);
    throw;
  }
  if (guard >= 0) close(guard);
  return making_;
}

void CacheEntry::finish(bool again) {
  write_new_file(making_ / "key", key_);
  std::string sums;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(making_)) {
    if (entry.path().filename() == lock_name) continue;
    files.push_back(entry.path());
    sums += fmt::format("{} {}\n", text_hash(read_whole_file(files.back()).value_or("")),
                        files.back().filename().string());
  }
  write_new_file(making_ / sums_name, sums);
  files.push_back(making_ / sums_name);
  for (const fs::path& file : files) sync(file);
  sync(making_);
  fs::path old;
  const auto put = [&] { return rename(making_.c_str(), folder_.c_str()) == 0; };
  bool done = put();
  if (!done && (errno == ENOTEMPTY || errno == EEXIST)) {
    // Another process has made the same meanwhile; or what is there is damaged.
    if (!again && find("key")) return;
    old = new_folder(folder_);
    rename(folder_.c_str(), old.c_str());
    done = put() || (errno == ENOTEMPTY && find("key"));
  }
  const int error = errno;
  std::error_code ignored;
  if (!old.empty()) fs::remove_all(old, ignored);
  if (!done)
    throw UserError(fmt::format("cannot rename the folder {}: {} ({})", folder_.string(),
                                std::strerror(error), other_cache));
  if (!fs::exists(making_, ignored)) making_.clear();
  sync(cache_);
}

}  // namespace perrin
