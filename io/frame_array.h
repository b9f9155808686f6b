// The numbers of a frame, in memory that lives as long as they are needed.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace perrin::io {

/// Numbers that do not change any more; copies share them.
template <class T>
class FrameArray {
 public:
  FrameArray() = default;
  FrameArray(std::vector<T> values) {
    const auto own = std::make_shared<const std::vector<T>>(std::move(values));
    holder_ = own;
    values_ = *own;
  }
  /// `holder` keeps the memory in which they are.
  FrameArray(std::shared_ptr<const void> holder, std::span<const T> values)
      : holder_(std::move(holder)), values_(values) {}

  const T* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }

 private:
  std::shared_ptr<const void> holder_;
  std::span<const T> values_;
};

}  // namespace perrin::io
