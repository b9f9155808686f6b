// A file that takes its place when it is whole, and not before.
#pragma once

#include <string>

#include "engine/communicator/agreement.h"

namespace perrin::io {

using perrin::writes_files;

/// Names the file while it is made (`PATH.part`, beside its place), and removes it again unless it
/// was put in place. In a process that writes no files nothing is made, removed or put anywhere.
class NewFile {
 public:
  /// Removes what a killed run has left under the name for the making. `mark` tells makers apart
  /// that may work beside one another, where no lock (io/folder_lock.h) keeps them from it.
  explicit NewFile(const std::string& path, const std::string& mark = "");
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// To be made, written and closed by the owner.
  const std::string& aside() const { return aside_; }
  /// Brings the file to the disk, gives it its name, and brings that to the disk. What has the name
  /// already is replaced only if `overwrite`, and only if it is a regular file. Throws UserError
  /// where it is not, RunError where the system refuses.
  void put_in_place(bool overwrite);
  /// Gives it its name in the same way, and leaves it to the system when it comes to the disk: for
  /// what a run can do again.
  void put_in_place_unsynced(bool overwrite);

 private:
  std::string path_, aside_;
  bool made_ = false;
};

/// Brings a closed file's contents to the disk. Throws RunError.
void sync_file(const std::string& path);
/// Brings the names in a file's folder to the disk. Throws RunError.
void sync_folder_of(const std::string& path);

}  // namespace perrin::io
