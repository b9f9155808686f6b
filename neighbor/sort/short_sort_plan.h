// The permutation found by a short sort, kept to be applied to other arrays: computed once for the
// base atoms of molecules, for instance, and applied to whatever else the molecules consist of.
// For files compiled as CUDA (engine/device/parallel.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/device/buffer.h"
#include "engine/device/parallel.h"
#include "neighbor/sort/short_sort.h"

namespace perrin {

namespace short_sort_detail {

/// One array is worked on by `stride` neighbouring indices of the loop: 8 on a GPU, for coalescing.
template <class F>
struct PackWords {
  F coordinate;
  const std::int32_t* offsets;
  std::uint32_t* words;
  std::int32_t stride;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int32_t begin = offsets[i / stride], end = offsets[i / stride + 1];
    for (std::int32_t k = begin + std::int32_t(i % stride); k < end; k += stride)
      words[k] = short_sort_word(coordinate(std::int64_t(k)), std::uint32_t(k - begin));
  }
};

struct FindSources {
  const std::int32_t* offsets;
  const std::uint32_t* words;
  std::int32_t* sources;
  std::int32_t stride;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int32_t begin = offsets[i / stride], end = offsets[i / stride + 1];
    for (std::int32_t k = begin + std::int32_t(i % stride); k < end; k += stride)
      sources[k] = begin + std::int32_t(short_sort_index(words[k]));
  }
};

template <class T>
struct GatherItems {
  const std::int32_t* sources;
  const T* in;
  T* out;
  std::int64_t width;
  PERRIN_HD void operator()(std::int64_t i) const {
    out[i] = in[sources[i / width] * width + i % width];
  }
};

}  // namespace short_sort_detail

class ShortSortPlan {
 public:
  /// Room for `elements` in all arrays together.
  ShortSortPlan(const Device& device, std::int64_t elements)
      : words_(device, elements), sources_(device, elements) {}

  std::int64_t elements() const { return words_.size(); }
  void resize(std::int64_t elements) {
    words_.resize(elements);
    sources_.resize(elements);
  }

  /// Sorts the arrays [offsets[i], offsets[i + 1]), 0 ≤ i < count, by coordinate(k), a value below
  /// 65 536 of element k; `coordinate` is a functor for the device. offsets[0] = 0, offsets[count]
  /// = elements(). Device work only.
  template <class F>
  void compute(const std::int32_t* offsets, std::int64_t count, const F& coordinate) {
    const Device& device = words_.device();
    const std::int32_t stride = device.is_cuda() ? 8 : 1;
    for_each(device, "packing short sort", count * stride,
             short_sort_detail::PackWords<F>{coordinate, offsets, words_.data(), stride});
    short_sort(device, words_.data(), words_.data(), offsets, count);
    for_each(device, "short sort plan", count * stride,
             short_sort_detail::FindSources{offsets, words_.data(), sources_.data(), stride});
  }

  /// The sorted words.
  const std::uint32_t* words() const { return words_.data(); }
  /// Where the element that belongs at place k has been.
  const std::int32_t* sources() const { return sources_.data(); }

  /// Brings other data into the order of the plan: elements() items of `width` values of T each.
  /// in ≠ out.
  template <class T>
  void apply(const T* in, T* out, int width = 1) const {
    static_assert(std::is_trivially_copyable_v<T>);
    for_each(words_.device(), "applying short sort", elements() * width,
             short_sort_detail::GatherItems<T>{sources_.data(), in, out, width});
  }

 private:
  Buffer<std::uint32_t> words_;
  Buffer<std::int32_t> sources_;
};

}  // namespace perrin
