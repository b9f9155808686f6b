// What a checkpoint is made of: named values and arrays, written and read by one function per
// class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/device/buffer.h"

namespace perrin {

/// One named record of a checkpoint: `count` elements of `element_size` bytes.
struct Record {
  std::string type;  // "i4", "u8", "f4", "bytes", … for the reader of the file; bytes rule
  std::size_t element_size = 1;
  std::vector<std::byte> bytes;
};

/// A component lists its state once:
///
///     void state(Archive& a) override { a("heat", heat_); a("positions", reference_); }
///
/// The same function saves (the archive copies out) and restores (it copies in). Names are
/// joined by '/' under the component's own scope. Restoring throws UserError where a name is
/// missing or has another type or size (the checkpoint belongs to another job or version), and
/// where numbers are not finite or a bool is neither true nor false. What else a value must be,
/// its component says with require().
class Archive {
 public:
  static Archive saving() { return Archive(true, {}); }
  static Archive restoring(std::map<std::string, Record> records) {
    return Archive(false, std::move(records));
  }
  /// Where a Buffer that is still empty is made when it is restored (Simulation::state says it).
  void set_device(const Device& device) { device_ = device; }
  bool is_saving() const { return saving_; }
  const std::map<std::string, Record>& records() const { return records_; }

  /// A scope for the lifetime of the object: names inside are "scope/name".
  class Scope {
   public:
    Scope(Archive& archive, const std::string& name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Archive& archive_;
    std::string outer_;
  };

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(const std::string& name, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      unsigned char byte = value;
      fixed(name, type_name<T>(), &byte, 1);
      require(byte <= 1, name, "true or false");
      value = byte != 0;
    } else {
      fixed(name, type_name<T>(), &value, sizeof(T));
      if constexpr (std::is_floating_point_v<T>)
        require(std::isfinite(value), name, "a finite number");
    }
  }
  template <class T>
  void operator()(const std::string& name, std::vector<T>& values) {
    const std::size_t n = begin(name, type_name<T>(), sizeof(T), values.size());
    values.resize(n);
    raw(name, values.data(), n * sizeof(T));
    if constexpr (std::is_floating_point_v<T>)
      require(std::all_of(values.begin(), values.end(), [](T x) { return std::isfinite(x); }), name,
              "finite numbers");
  }
  void operator()(const std::string& name, std::string& text);
  template <class T>
  void operator()(const std::string& name, Buffer<T>& buffer) {
    std::vector<T> host;
    if (saving_) host = buffer.to_host();
    (*this)(name, host);
    if (saving_) return;
    if (buffer.size() == 0)
      buffer = Buffer<T>(device_, 0);
    else  // kernels rely on it
      require(std::int64_t(host.size()) == buffer.size(), name,
              "as many values as there are in this job");
    buffer.assign(host);
  }
  /// Is there such a value? Earlier versions did not save all of them. True while saving.
  bool has(const std::string& name) const { return saving_ || records_.contains(scope_ + name); }
  /// While restoring: throws UserError unless `good`. `expected` completes the sentence
  /// '"simulation/step" in the checkpoint must be …'.
  void require(bool good, const std::string& name, const std::string& expected) const {
    if (!good && !saving_) refuse(name, expected);
  }

 private:
  Archive(bool saving, std::map<std::string, Record> records)
      : saving_(saving), records_(std::move(records)) {}
  template <class T>
  static std::string type_name() {
    if constexpr (std::is_arithmetic_v<T>) {
      const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
      return kind + std::to_string(sizeof(T));
    } else {
      return "bytes";
    }
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& expected) const;
  void fixed(const std::string& name, const std::string& type, void* value, std::size_t bytes);
  std::size_t begin(const std::string& name, const std::string& type, std::size_t element_size,
                    std::size_t count);
  void raw(const std::string& name, void* data, std::size_t bytes);

  bool saving_;
  std::map<std::string, Record> records_;
  Device device_;
  std::string scope_;
};

}  // namespace perrin
