#include "io/journal.h"

#include <unistd.h>

#include <array>

#include "io/gsd_layout.h"
#include "io/journal_name.h"
#include "io/new_file.h"
#include "io/raw_file.h"
#include "io/seal.h"

namespace perrin::io {
namespace {

// A journal: the size, then number and contents of each page, then the seal.
constexpr std::size_t entry_size = 8 + FileChanges::page;
constexpr std::uint64_t most_pages = std::uint64_t(1) << 50;  // of any file

void write_journal(const std::string& path, const FileChanges& changes) {
  RawFile<> file(path, O_RDWR | O_CREAT | O_EXCL);
  file.write(0, &changes.size, 8);
  std::uint64_t at = 8;
  for (const auto& [number, page] : changes.pages) {
    file.write(at, &number, 8);
    file.write(at + 8, page.data(), page.size());
    at += entry_size;
  }
  file.sync_and_close();
  seal(path);
}

FileChanges read_journal(const std::string& journal) {
  const RawFile<> file(journal, O_RDONLY | O_NOFOLLOW);
  FileChanges changes;
  file.read(0, &changes.size, 8);
  for (std::uint64_t at = 8; at + entry_size <= file.size(); at += entry_size) {
    std::uint64_t number = 0;
    file.read(at, &number, 8);
    if (number > most_pages)
      throw RunError(fmt::format("{}: cannot be applied: it changes page {}", journal, number));
    file.read(at + 8, changes.pages[number].data(), FileChanges::page);
  }
  return changes;
}

/// A journal may have come with a folder of somebody else: it changes what such journals are made
/// for, under a name that the file has alone.
void check_changed(const RawFile<>& file, const std::string& path) {
  constexpr std::array<unsigned char, 8> hdf5{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::array<unsigned char, 8> start{};
  if (file.size() >= start.size()) file.read(0, start.data(), start.size());
  const bool known = start == hdf5 || std::memcmp(start.data(), &gsd::magic, start.size()) == 0;
  if (!known)
    throw RunError(journal_of(path) + ": does not belong to an HDF5 or GSD file; remove it");
  if (file.names() > 1)
    throw RunError(
        fmt::format("{}: is not applied: {} is a hard link, and the file's other names would "
                    "change as well; replace it by a copy",
                    journal_of(path), path));
}

void carry_out(const std::string& path, const FileChanges& changes) {
  RawFile<> file(path, O_RDWR);
  check_changed(file, path);
  for (const auto& [number, page] : changes.pages)
    file.write(number * page.size(), page.data(), page.size());
  file.set_size(changes.size);
  file.sync_and_close();
  forget_changes(path);
  sync_folder_of(path);
}

}  // namespace

void make_changes(const std::string& path, const FileChanges& changes) {
  {
    NewFile place(journal_of(path));
    write_journal(place.aside(), changes);
    place.put_in_place(true);
  }
  carry_out(path, changes);
}

void finish_changes(const std::string& path) {
  const std::string journal = journal_of(path);
  struct stat status {};
  if (::lstat(journal.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw RunError(fmt::format("{}: cannot be inspected: {}", journal, std::strerror(errno)));
  }
  if (const std::string what = broken_seal(journal); !what.empty())
    throw RunError(journal + ": cannot be applied: " + what);
  carry_out(path, read_journal(journal));
}

}  // namespace perrin::io
