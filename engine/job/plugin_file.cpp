#include "engine/job/plugin_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/job/plugin_api.h"

namespace perrin {
namespace {

/// The first bytes of its description (engine/job/plugin_api.h), as every Perrin writes them.
bool has_mark(const std::string& file) {
  char mark[sizeof plugin_magic];
  std::memcpy(mark, &plugin_magic, sizeof mark);
  return file.find(std::string_view(mark, sizeof mark)) != std::string::npos;
}

/// Where the last thing ends that the tables of an ELF file speak of; 0: no 64-bit ELF file.
std::uint64_t end_of_elf(const std::string& file) {
  Elf64_Ehdr head;
  if (file.size() < EI_NIDENT || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0 ||
      file[EI_CLASS] != ELFCLASS64)
    return 0;
  if (file.size() < sizeof head) return sizeof head;
  std::memcpy(&head, file.data(), sizeof head);
  std::uint64_t end = std::max(head.e_phoff + std::uint64_t(head.e_phnum) * sizeof(Elf64_Phdr),
                               head.e_shoff + std::uint64_t(head.e_shnum) * sizeof(Elf64_Shdr));
  for (std::uint64_t k = 0; k < head.e_phnum; ++k) {
    const std::uint64_t at = head.e_phoff + k * sizeof(Elf64_Phdr);
    if (at + sizeof(Elf64_Phdr) > file.size()) break;  // `end` says so
    Elf64_Phdr part;
    std::memcpy(&part, file.data() + at, sizeof part);
    end = std::max(end, part.p_offset + part.p_filesz);
  }
  return end;
}

}  // namespace

void check_plugin_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) throw UserError("it is not a regular file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  const std::string file = bytes.str();
  if (!in || file.empty()) throw UserError("it cannot be read, or is empty");
  if (const std::uint64_t end = end_of_elf(file); end > file.size())
    throw UserError(
        fmt::format("it is truncated: it has {} bytes and should have {}: build the plug-in again",
                    file.size(), end));
  if (!has_mark(file))
    throw UserError("it is not a plug-in for Perrin: it lacks Perrin's mark, and is not loaded");
  // The end of its build tag, which is there as text.
  const std::string mark = " perrin-" PERRIN_VERSION PERRIN_TAG_HEADERS, mine = PERRIN_HEADERS;
  const std::size_t found = file.find(mark);
  if (found == std::string::npos || file.find(mark + mine) != std::string::npos) return;
  throw UserError(
      fmt::format("it was built with other headers of Perrin ({}) than this Perrin was ({}): build "
                  "the plug-in again",
                  file.substr(found + mark.size(), mine.size()), mine));
}

}  // namespace perrin
