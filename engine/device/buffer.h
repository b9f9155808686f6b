// The one array type: memory on a Device.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/device.h"

namespace perrin {

/// n elements of T on a device; move-only. Copies between host and device are explicit and wait for
/// the device. New elements are zero bytes.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  Buffer(const Device& device, std::int64_t n) : device_(device) { resize(n); }
  Buffer(const Device& device, std::span<const T> host) : device_(device) { assign(host); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept { return swap(other), *this; }
  ~Buffer() { device_.memory().release(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * std::int64_t(sizeof(T)); }
  const Device& device() const { return device_; }

  /// Keeps the elements that both sizes have. Grows in place where the capacity allows it.
  void resize(std::int64_t n) {
    if (n > capacity_) {
      T* bigger = static_cast<T*>(device_.memory().allocate(std::size_t(n) * sizeof(T)));
      if (size_ > 0) device_.memory().copy(bigger, data_, std::size_t(size_) * sizeof(T));
      device_.memory().release(data_);
      data_ = bigger;
      capacity_ = n;
    } else if (n > size_) {
      device_.memory().zero(data_ + size_, std::size_t(n - size_) * sizeof(T));
    }
    size_ = n;
  }
  void zero() { device_.memory().zero(data_, std::size_t(bytes())); }

  /// Replaces the contents, and the size.
  void assign(std::span<const T> host) {
    resize(std::int64_t(host.size()));
    if (!host.empty()) device_.memory().copy_in(data_, host.data(), host.size_bytes());
  }
  std::vector<T> to_host() const {
    std::vector<T> host(static_cast<std::size_t>(size_));
    if (size_ > 0) device_.memory().copy_out(host.data(), data_, std::size_t(bytes()));
    return host;
  }
  T to_host(std::int64_t i) const {
    PERRIN_ASSERT(i >= 0 && i < size_);
    T value;
    device_.memory().copy_out(&value, data_ + i, sizeof(T));
    return value;
  }
  /// Copies from a buffer of the same size on the same device.
  void copy_from(const Buffer& other) {
    PERRIN_ASSERT(other.size_ == size_);
    device_.memory().copy(data_, other.data_, std::size_t(bytes()));
  }

  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  Device device_;
  T* data_ = nullptr;
  std::int64_t size_ = 0, capacity_ = 0;
};

}  // namespace perrin
