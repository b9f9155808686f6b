// What Perrin has compiled, kept for the next run. It is loaded and run: the folder must be the
// user's own, and what is in it must be as it was written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace perrin {

/// A folder of files in the cache that is there whole or not at all. The cache is $PERRIN_CACHE,
/// else $XDG_CACHE_HOME/perrin, else ~/.cache/perrin, else perrin-UID in the folder for temporary
/// files; it is made with mode 0700 where it is missing.
class CacheEntry {
 public:
  /// `key`: what the entry is made from; a hash of it is the name of the folder. Throws UserError
  /// where the cache cannot be made, or where others could put files into it.
  explicit CacheEntry(std::string key);
  /// Removes what was begun and not finished.
  ~CacheEntry();
  CacheEntry(const CacheEntry&) = delete;
  CacheEntry& operator=(const CacheEntry&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  /// The file of this name, where the entry was finished, has this key, and every byte of its files
  /// is as it was. Throws UserError where others could have written it.
  std::optional<std::filesystem::path> find(const std::string& file) const;

  /// A new folder, of this process alone, to make the files in. Removes those of processes that
  /// were killed.
  std::filesystem::path begin();
  /// Gives the folder that was begun the name of the entry, with key and checksums, all synced.
  /// What is there is replaced: unless `again`, only where it is not whole.
  void finish(bool again = false);

 private:
  void remove_leftovers() const;
  std::string key_;
  std::filesystem::path cache_, folder_, making_;
  int lock_ = -1;  // of making_: held while its maker lives
};

/// Creates a file: it must not exist yet, nor be a symbolic link. Throws
/// UserError.
void write_new_file(const std::filesystem::path& path, const std::string& text);
/// Nothing where it cannot be read.
std::optional<std::string> read_whole_file(const std::filesystem::path& path);
/// 16 hexadecimal digits; FNV-1a. For names: to be sure, compare the texts.
std::string text_hash(const std::string& text);

}  // namespace perrin
