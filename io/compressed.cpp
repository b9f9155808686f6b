#include "io/compressed.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "engine/base/error.h"

namespace perrin::io {
namespace {

struct Packer {
  std::string_view name, begin, unpack;
};
constexpr std::array<Packer, 4> packers{{{"gzip", "\x1f\x8b", "gunzip -k"},
                                         {"bzip2", "BZh", "bunzip2 -k"},
                                         {"xz",
                                          "\xfd"
                                          "7zXZ",
                                          "unxz -k"},
                                         {"zstd", "\x28\xb5\x2f\xfd", "unzstd"}}};

}  // namespace

void refuse_compressed(const std::string& path, std::istream& stream) {
  std::array<char, 8> bytes{};
  stream.read(bytes.data(), std::streamsize(bytes.size()));
  const std::string_view head(bytes.data(), std::size_t(stream.gcount()));
  stream.clear();
  stream.seekg(0);
  for (const Packer& packer : packers)
    if (head.starts_with(packer.begin))
      throw UserError(fmt::format("{}: is compressed by {}, expected it unpacked: {} {}", path,
                                  packer.name, packer.unpack, path));
}

}  // namespace perrin::io
