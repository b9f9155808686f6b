// One run at a time writes into a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace perrin::io {

/// Locks on folders, held as long as this object or its process lives: on the file `.perrin.lock`
/// in each (by the process that writes files, io/new_file.h), which says who has it and is removed
/// at the end. What a killed process leaves behind is not locked.
class FolderLocks {
 public:
  FolderLocks() = default;
  ~FolderLocks();
  FolderLocks(const FolderLocks&) = delete;
  FolderLocks& operator=(const FolderLocks&) = delete;

  /// Locks a folder that exists, unless this object has it already. Throws UserError where another
  /// process has it, with its id and host, where the folder cannot be written, and where the lock's
  /// name is that of something else (a pipe, a link to another file); RunError where the system
  /// refuses for another reason. Where a file system has no locks it warns on standard error and
  /// goes on.
  void take(const std::filesystem::path& folder);
  /// The same, but leaves a folder alone that does not exist or cannot be written.
  void take_if_possible(const std::filesystem::path& folder);

 private:
  struct Lock {
    std::filesystem::path file;
    int descriptor;
    unsigned long long device, inode;  // of the folder
  };
  bool lock(const std::filesystem::path& folder);
  std::vector<Lock> locks_;
};

/// The run that writes into the folder now: "another run (process 12 on host)"; empty: none, or the
/// file system has no locks.
std::string folder_owner(const std::filesystem::path& folder);

}  // namespace perrin::io
