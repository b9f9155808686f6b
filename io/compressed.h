// Files that another program has packed.
#pragma once

#include <istream>
#include <string>

namespace perrin::io {

/// Throws UserError where a stream, which is at its beginning and returns there, begins as files of
/// gzip, bzip2, xz or zstd do; it names the program that unpacks the file.
void refuse_compressed(const std::string& path, std::istream& stream);

}  // namespace perrin::io
