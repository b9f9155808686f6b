// A plain file that a run appends to, watched like the HDF5 files: who deletes, moves or replaces
// it ends the run (check_output_files() in io/hdf5.h), and after a failed write nothing more
// reaches it.
//
// One such file is open at a time: a job may have thousands of them, and opening one costs nothing
// beside a frame.
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/hdf5_driver.h"
#include "io/raw_file.h"

namespace perrin::io {

/// On the writer's thread (io/writer.h).
class AppendedFile {
 public:
  /// Opens a file that is there. Throws RunError, as all calls do.
  explicit AppendedFile(const std::string& path);
  /// What is wrong with the file then, check_output_files() throws.
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  const std::string& path() const { return path_; }
  /// When it was opened.
  std::uint64_t size() const { return size_; }
  void read(std::uint64_t at, void* data, std::size_t n) { use().read(at, data, n); }
  void write(std::uint64_t at, const void* data, std::size_t n);
  void set_size(std::uint64_t size);
  /// On to the disk.
  void sync();
  /// Writes a frame. One that does not come to its end is the last: no later one takes its place.
  template <class Work>
  void write_frame(const Work& work) {
    try {
      work();
    } catch (...) {
      if (state_->error == 0) state_->error = ECANCELED;  // failed calls have set their own
      throw;
    }
  }

 private:
  template <class Work>
  void change(const Work& work);

  /// The file, opened if it is closed; the one that was open is closed then. Throws RunError, also
  /// where another file has its name.
  RawFile<>& use();

  std::string path_;
  std::optional<RawFile<>> file_;
  std::uint64_t size_;
  std::shared_ptr<SteadyState> state_;
  std::shared_ptr<const int> watched_;
};

}  // namespace perrin::io
