// How far an output file is, in a checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/archive.h"

namespace perrin::io {

/// The number of a file's rows or frames, and the step of the last one (-1: none). Refuses numbers
/// that cannot be; whether the file agrees, trim() looks (io/h5md_file.h).
inline void archive_extent(Archive& archive, const std::string& count_name, std::int64_t& count,
                           const std::string& last_name, std::int64_t& last) {
  archive(count_name, count);
  archive(last_name, last);
  archive.require(count >= 0, count_name, "at least 0");
  archive.require(count == 0 ? last == -1 : last >= 0, last_name,
                  "the step of the last one, or -1 where there is none");
}

}  // namespace perrin::io
