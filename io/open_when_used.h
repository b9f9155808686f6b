// Output files of which only some are open at a time.
//
// HDF5 takes a megabyte and a descriptor for every open file, and goes through all that is open
// whenever it flushes one. With thousands of files, each open from begin to end, that was memory
// and time in proportion to their number and its square. It also remembers every hole that what was
// written leaves in an open file: one that is used for long is closed now and then, so that memory
// does not grow with what a run writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "io/hdf5.h"

namespace perrin::io {

/// A file that is appended to. Of all such files `most` are open; who is opened beyond that closes
/// the one that was used longest ago. On the writer's thread (io/writer.h). While it is closed,
/// check_output_files() looks after it just the same.
class OpenWhenUsed {
 public:
  static constexpr std::size_t most = 32;
  OpenWhenUsed(const OpenWhenUsed&) = delete;
  OpenWhenUsed& operator=(const OpenWhenUsed&) = delete;

 protected:
  /// `most_uses`: after this number of calls of use() it is closed and opened again.
  OpenWhenUsed(std::string path, std::int64_t most_uses)
      : path_(std::move(path)), most_uses_(most_uses) {}
  ~OpenWhenUsed();

  bool is_open() const { return file_.has_value(); }
  /// Whether use() would open it without another file being closed.
  static bool has_room();
  /// The file, opened if it is closed; open until it is called again. Throws RunError, also
  /// where another file has its name.
  File& use();
  /// What was written, on to the disk.
  void sync();
  /// Closes it for now. Throws RunError.
  void shut();
  /// Closes it for good.
  void close_for_good();

  /// Opens the parts of the file that are needed.
  virtual void open_parts(const Node& root) = 0;
  /// Closes all of them.
  virtual void close_parts() = 0;

 private:
  std::string path_;
  std::int64_t most_uses_, uses_ = 0;  // since it was opened
  std::optional<File> file_;
  std::shared_ptr<const SteadyState> state_;  // of when it was open last
  std::shared_ptr<const int> watched_;
  std::list<OpenWhenUsed*>::iterator place_;  // among those that are open
};

}  // namespace perrin::io
