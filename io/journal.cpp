#include "io/journal.h"

#include <unistd.h>

#include "io/new_file.h"
#include "io/raw_file.h"
#include "io/seal.h"

namespace perrin::io {
namespace {

std::string journal_of(const std::string& path) { return path + ".journal"; }

// A journal: the size, then number and contents of each page, then the seal.
constexpr std::size_t entry_size = 8 + FileChanges::page;

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
  const RawFile<> file(journal, O_RDONLY);
  FileChanges changes;
  file.read(0, &changes.size, 8);
  for (std::uint64_t at = 8; at + entry_size <= file.size(); at += entry_size) {
    std::uint64_t number = 0;
    file.read(at, &number, 8);
    file.read(at + 8, changes.pages[number].data(), FileChanges::page);
  }
  return changes;
}

void carry_out(const std::string& path, const FileChanges& changes) {
  RawFile<> file(path, O_RDWR);
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
    throw RunError(fmt::format("{}: cannot be looked at: {}", journal, std::strerror(errno)));
  }
  if (const std::string what = broken_seal(journal); !what.empty())
    throw RunError(journal + ": cannot be carried out: " + what);
  carry_out(path, read_journal(journal));
}

void forget_changes(const std::string& path) {
  const std::string journal = journal_of(path);
  if (::unlink(journal.c_str()) != 0 && errno != ENOENT)
    throw RunError(fmt::format("{}: cannot be removed: {}", journal, std::strerror(errno)));
}

}  // namespace perrin::io
