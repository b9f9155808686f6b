// The HDF5 C API with ownership, types and errors: what the files of Perrin need, and no more.
//
// Every call belongs on one thread (io/writer.h). A failure throws RunError while writing and
// UserError while reading, with the file, the object and HDF5's own reason.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5_driver.h"

namespace perrin::io {

/// Closes an identifier. What then fails, and a destructor cannot say, is remembered for the next
/// File::flush() or File::close(), which throws it.
void close_hid(hid_t id) noexcept;

/// Owns an HDF5 identifier.
class Hid {
 public:
  Hid() = default;
  explicit Hid(hid_t id) : id_(id) {}
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hid& operator=(Hid&& other) noexcept { return std::swap(id_, other.id_), *this; }
  ~Hid() {
    if (id_ >= 0) close_hid(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
};

template <class T>
hid_t hdf5_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return H5T_NATIVE_UINT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
  if constexpr (std::is_same_v<T, unsigned char>) return H5T_NATIVE_UCHAR;
}

using Shape = std::vector<hsize_t>;

/// A group or a dataset of a file.
class Node {
 public:
  Node() = default;
  Node(Hid id, std::string file, std::string path, bool reading)
      : id_(std::move(id)), file_(std::move(file)), path_(std::move(path)), reading_(reading) {}

  hid_t id() const { return id_; }
  const std::string& file() const { return file_; }
  const std::string& path() const { return path_; }

  /// Whether the path leads to an object from here. What cannot be read is an error, not absent;
  /// so are links to other files, here and in open(), and datasets whose values are in others.
  bool has(const std::string& path) const;
  Node open(const std::string& path) const;
  /// Makes a group, and those above it.
  Node make_group(const std::string& path) const;
  void hard_link(const Node& target, const std::string& path) const;
  std::vector<std::string> children() const;

  // Attributes. Text is variable-length UTF-8: MDAnalysis fails on fixed-length units.
  void attribute(const std::string& name, const std::string& text) const;
  void attribute(const std::string& name, const std::vector<std::string>& texts) const;
  void attribute(const std::string& name, std::int32_t value) const;
  void attribute(const std::string& name, double value) const;
  void attribute(const std::string& name, const std::vector<std::int32_t>& values) const;
  void attribute_reference(const std::string& name, const std::string& target) const;
  bool has_attribute(const std::string& name) const;
  std::string text_attribute(const std::string& name) const;
  std::vector<std::string> texts_attribute(const std::string& name) const;
  std::vector<std::int32_t> ints_attribute(const std::string& name) const;

  // Whole datasets, row-major.
  template <class T>
  Node write(const std::string& path, const Shape& shape, const T* data) const {
    return write(path, hdf5_type<T>(), shape, data);
  }
  template <class T>
  Node write(const std::string& path, const std::vector<T>& data) const {
    return write(path, hdf5_type<T>(), {data.size()}, data.data());
  }
  Node write(const std::string& path, hid_t type, const Shape& shape, const void* data) const;
  Node write_text(const std::string& path, const std::string& text) const {
    return write_texts(path, {}, {text});
  }
  Node write_texts(const std::string& path, const Shape& shape,
                   const std::vector<std::string>& texts) const;
  /// Overwrites the values of this dataset.
  void rewrite(hid_t type, const void* data) const;

  /// Of this dataset.
  Shape shape() const;
  bool is_dataset() const;
  bool is_number() const;
  /// Throws UserError where that would be more than the file holds (values_of()).
  template <class T>
  std::vector<T> read() const;
  void read(hid_t type, void* data) const;
  /// Row `row` of this dataset: everything at that first index.
  template <class T>
  std::vector<T> read_row(std::int64_t row) const;
  void read_row(hid_t type, std::int64_t row, void* data) const;
  std::string read_text() const;
  std::vector<std::string> read_texts() const { return read_texts(id_, false); }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  void check(bool good, const std::string& what) const {
    if (!good) fail(what);
  }
  std::vector<std::string> read_texts(hid_t object, bool attribute) const;
  [[noreturn]] void refuse_link(const std::string& path) const;

  Hid id_;
  std::string file_, path_;
  bool reading_ = false;
};

/// How many values a dataset has, or one row of it. Throws UserError where there is no such row,
/// and where they are more than what the file stores of the dataset: memory follows the file's
/// size, not what a shape says (io/hdf5_values.cpp).
std::size_t values_of(const Node& dataset, std::optional<std::int64_t> row = {});

template <class T>
std::vector<T> Node::read() const {
  std::vector<T> data(values_of(*this));
  read(hdf5_type<T>(), data.data());
  return data;
}

template <class T>
std::vector<T> Node::read_row(std::int64_t row) const {
  std::vector<T> data(values_of(*this, row));
  read_row(hdf5_type<T>(), row, data.data());
  return data;
}

/// How the values of a series are packed. All HDF5 libraries read them without plug-ins.
struct Packing {
  enum class Filter {
    none,
    deflate,  // shuffled and deflated at level 1: the same bits
    rounded   // numbers to `decimals` digits after the point, as integers of as many bits as they
              // need (the scale-offset filter)
  } filter = Filter::none;
  int decimals = 0;
};

/// A dataset that grows along its first axis.
class Series {
 public:
  Series() = default;
  /// Makes it empty. `row` is the shape of a row. A chunk has `chunk` rows and, of each, the first
  /// `width` of its first axis (0: all).
  static Series make(const Node& parent, const std::string& path, hid_t type, const Shape& row,
                     hsize_t chunk, const Packing& packing = {}, hsize_t width = 0);
  static Series open(const Node& parent, const std::string& path, hid_t type);

  std::int64_t size() const { return std::int64_t(shape_[0]); }
  const Node& node() const { return node_; }
  /// So many rows, one behind the other.
  void append(const void* rows, hsize_t n = 1);
  void truncate(std::int64_t size);
  /// Hands what was appended to the operating system, data before what refers to them.
  void flush();

 private:
  Node node_;
  hid_t type_ = -1;  // one of HDF5's own, never closed
  Shape shape_;
};

class File {
 public:
  File() = default;
  /// Makes a file that must not exist yet, in the format of HDF5 1.10.
  static File create(const std::string& path);
  /// Opens for reading; any HDF5 file.
  static File read(const std::string& path);
  /// Opens for changes of any kind. close() makes them, as a whole or, when the process is killed
  /// or a call fails, not at all (io/journal.h); destroyed without it, the file stays as it was.
  static File modify(const std::string& path);
  /// Opens for appending to series and rewriting numbers, nothing else; in exchange the file is
  /// whole at every moment (HDF5's single-writer mode and io/hdf5_driver.h). Until it is closed
  /// check_output_files() looks after it.
  static File append(const std::string& path);
  File(File&&) = default;
  File& operator=(File&& other) noexcept;
  /// Closes; what goes wrong with a file that was being appended to, check_output_files() throws.
  ~File();

  const Node& root() const { return root_; }
  const std::string& path() const { return root_.file(); }
  /// What becomes of it; nullptr where our driver did not write it.
  const std::shared_ptr<const SteadyState>& state() const { return state_; }
  /// Of a file that is appended to: whoever holds this keeps check_output_files() looking after it,
  /// also when it is closed.
  const std::shared_ptr<const int>& watched() const { return watched_; }
  /// To the operating system, and on to the disk. Throws what has failed so far, this time or
  /// before.
  void flush(bool to_disk = false);
  /// Closes and throws whatever has failed. All that was opened from the file must be closed.
  void close();

 private:
  static File open(const std::string& path, unsigned flags, bool steady, bool gather = false);
  void check_state() const;
  Hid id_;
  Node root_;
  std::string path_;
  bool reading_ = false, gather_ = false;
  std::shared_ptr<const SteadyState> state_;  // nullptr: not written by our driver
  std::shared_ptr<const int> watched_;        // keeps the file on the list of check_output_files()
};

/// Throws RunError where a file that is being appended to has failed, or has lost its name (was
/// deleted, moved or replaced), and where one has since the last call. From any thread, while the
/// writer's is idle.
void check_output_files();

/// Has it look after a file that is written in another way, as long as somebody holds what is
/// returned.
std::shared_ptr<const int> watch_output_file(const std::string& path,
                                             std::shared_ptr<const SteadyState> state);
/// What is wrong with a file that is or was being written; empty: nothing.
std::string what_is_wrong(const std::string& path, const SteadyState& state);

/// For check_output_files() to throw: what nobody else can be told. On the writer's thread.
void remember_output_failure(const std::string& what);

/// What HDF5 and its driver say about the last failure; clears it.
std::string hdf5_reason();
/// Stops HDF5 from printing to the console; called before files are opened.
void silence_hdf5();

}  // namespace perrin::io
