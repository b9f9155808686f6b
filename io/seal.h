// A seal behind the contents of a file: their size and hash. A file whose seal does not fit was
// damaged, cut off or changed, and no library needs to be trusted with it.
//
// 32 bytes: "PERRIN\0\1", the size of what comes before (uint64, little endian), the XXH64 of it
// taken in blocks of a MiB, each with the hash of the one before as its seed, and the XXH64 of the
// first 24 bytes of the seal. HDF5 does not mind what follows the end that a file's superblock
// says.
#pragma once

#include <string>

namespace perrin::io {

/// Reads the file, appends its seal, and brings the file to the disk. Throws RunError.
void seal(const std::string& path);

/// What is wrong with a sealed file; empty: it is as it was sealed. Throws UserError where it
/// cannot be read.
std::string broken_seal(const std::string& path);

}  // namespace perrin::io
