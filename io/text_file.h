// A plain file that is being written: never over an existing one, every failure noticed. In a
// process that writes no files (io/new_file.h) what is put goes nowhere.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "engine/base/error.h"
#include "io/new_file.h"

namespace perrin::io {

class TextFile {
 public:
  explicit TextFile(const std::string& path)
      : path_(path),
        file_(writes_files() ? std::fopen(path.c_str(), "wbx") : std::fopen("/dev/null", "wb")) {
    if (file_ == nullptr)
      throw UserError(fmt::format("{}: cannot create the file: {}", path, std::strerror(errno)));
  }
  ~TextFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void put(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, file_) != bytes) fail();
  }
  void put(const std::string& text) { put(text.data(), text.size()); }
  void seek(std::int64_t at) {
    if (fseeko(file_, off_t(at), SEEK_SET) != 0) fail();
  }
  std::int64_t tell() { return std::int64_t(ftello(file_)); }
  void close() {
    std::FILE* file = file_;
    file_ = nullptr;
    if (std::fclose(file) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw RunError(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
  }
  std::string path_;
  std::FILE* file_;
};

}  // namespace perrin::io
