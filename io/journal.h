// Changes to a file that happen as a whole or not at all, whenever the process is killed and
// whatever call fails: they are written to a journal beside the file (`PATH.journal`), sealed and
// synced, then made, then the journal is removed. A journal that is there when the file is next
// opened for writing is carried out again. It gets its name when it is whole (io/new_file.h).
//
// A journal that is found may be anybody's: the file must be a regular one, no symbolic link, of
// one name, and one of HDF5 or GSD; else RunError.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace perrin::io {

struct FileChanges {
  static constexpr std::size_t page = 4096;
  std::map<std::uint64_t, std::array<unsigned char, page>> pages;  // by number from the start
  std::uint64_t size = 0;                                          // of the file, afterwards
};

/// Makes the changes. Throws RunError; the file is then as it was, or will be as it should be when
/// finish_changes() is called.
void make_changes(const std::string& path, const FileChanges& changes);

/// Carries out what a journal says that was left behind. Throws RunError.
void finish_changes(const std::string& path);

}  // namespace perrin::io
