// The elements of large buffers on the host, without room for all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/buffer.h"

namespace perrin {

/// f(begin, n, vectors…) for one portion after another of buffers of one size: element k of a
/// vector is element begin + k of its buffer, and n of them are there. Waits for the device.
template <class F, class First, class... Others>
void for_host_portions(const F& f, const Buffer<First>& first, const Buffer<Others>&... others) {
  PERRIN_ASSERT(((others.size() == first.size()) && ...));
  constexpr std::int64_t portion = std::int64_t(1) << 18;
  std::tuple<std::vector<First>, std::vector<Others>...> host;
  for (std::int64_t begin = 0; begin < first.size(); begin += portion) {
    const std::int64_t n = std::min(portion, first.size() - begin);
    const auto copy = [&]<class T>(std::vector<T>& to, const Buffer<T>& from) {
      to.resize(std::size_t(n));
      from.device().memory().copy_out(to.data(), from.data() + begin, to.size() * sizeof(T));
    };
    std::apply(
        [&](auto& to, auto&... rest) {
          copy(to, first);
          (copy(rest, others), ...);
          f(begin, n, to, rest...);
        },
        host);
  }
}

}  // namespace perrin
