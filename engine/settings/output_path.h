// Where a run may write.
#pragma once

#include <filesystem>
#include <string>

namespace perrin {

/// What may happen to a file that is there already.
enum class Existing { refused, replaced, continued };
inline Existing existing_outputs(bool resuming, bool overwrite) {
  return resuming ? Existing::continued : overwrite ? Existing::replaced : Existing::refused;
}

/// Why this file cannot be written; empty: it can. Only regular files are replaced: neither
/// folders, devices, pipes and sockets nor symbolic links, which stand for something elsewhere. A
/// file to be continued may be a symbolic link to one. Looks only, makes nothing.
std::string why_not_writable(const std::filesystem::path& file, Existing existing);

/// Whether a file, or a folder, is neither `folder` nor in it, symbolic links in their names
/// followed. What does not exist is taken by its name.
bool is_outside(const std::filesystem::path& file, const std::filesystem::path& folder);
/// Whether both names are of one file that exists.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);
/// Whether it is a file with something else in it than what runs write: HDF5, GSD or XTC.
bool is_no_output(const std::filesystem::path& file);

/// Why the folder of an output that is named by an absolute path is not to be made; empty: it may
/// be, or is there. Only `new_folders` missing ones at its end are made: more are a mistyped name.
std::string why_no_folder(const std::filesystem::path& folder, int new_folders);

}  // namespace perrin
