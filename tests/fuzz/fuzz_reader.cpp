// libFuzzer: any bytes as a file of one format (PERRIN_FUZZ_FORMAT): a configuration that can start
// a run, or UserError. Nothing else, and no memory out of proportion.
#include <algorithm>
#include <cstdlib>

#include "engine/base/error.h"
#include "io/formats.h"
#include "tests/fuzz/memory_file.h"

using namespace perrin;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    const auto reader = io::open_frames(file.path(), io::format_of_name(PERRIN_FUZZ_FORMAT));
    for (std::int64_t k = 0; k < std::min<std::int64_t>(3, reader->frames()); ++k)
      if (reader->read(k).configuration.position.empty()) std::abort();
    io::ReadOptions open;
    open.periodic = {false, true, true};
    if (reader->frames() > 1) io::read_frame(*reader, "the file", -1, open);
  } catch (const UserError&) {
  }
  return 0;
}
