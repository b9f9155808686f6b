#include "io/seal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "io/checksum.h"
#include "io/raw_file.h"

namespace perrin::io {
namespace {

constexpr std::size_t seal_size = 32, block_size = 1 << 20;
constexpr std::array<unsigned char, 8> mark{'P', 'E', 'R', 'R', 'I', 'N', 0, 1};

using Seal = std::array<unsigned char, seal_size>;

Seal make_seal(std::uint64_t size, std::uint64_t hash) {
  Seal seal{};
  std::memcpy(seal.data(), mark.data(), mark.size());
  std::memcpy(seal.data() + 8, &size, 8);
  std::memcpy(seal.data() + 16, &hash, 8);
  const std::uint64_t own = xxh64(seal.data(), 24);
  std::memcpy(seal.data() + 24, &own, 8);
  return seal;
}

template <class Error>
std::uint64_t hash(const RawFile<Error>& file, std::uint64_t size) {
  std::vector<unsigned char> block(block_size);
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < size; at += block_size) {
    const auto n = std::size_t(std::min<std::uint64_t>(block_size, size - at));
    file.read(at, block.data(), n);
    sum = xxh64(block.data(), n, sum);
  }
  return sum;
}

}  // namespace

void seal(const std::string& path) {
  RawFile<> file(path, O_RDWR);
  const Seal s = make_seal(file.size(), hash(file, file.size()));
  file.write(file.size(), s.data(), s.size());
  file.sync_and_close();
}

std::string broken_seal(const std::string& path) {
  const RawFile<UserError> file(path, O_RDONLY);
  if (file.size() < seal_size) return fmt::format("it has only {} bytes", file.size());
  const std::uint64_t contents = file.size() - seal_size;
  Seal found{};
  file.read(contents, found.data(), found.size());
  if (std::memcmp(found.data(), mark.data(), mark.size()) != 0)
    return "it does not end with the seal of a checkpoint: it is another file, or truncated or "
           "modified";
  std::uint64_t size = 0;
  std::memcpy(&size, found.data() + 8, 8);
  if (found != make_seal(contents, hash(file, contents)))
    return size != contents ? fmt::format("it has {} bytes, its seal gives {}", contents, size)
                            : "its contents do not match its checksum: it is damaged or modified";
  return "";
}

}  // namespace perrin::io
