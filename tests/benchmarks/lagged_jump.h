// The lagged Fibonacci generator many numbers further at once, so that parts of one long sequence
// can be made side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/device/tasks.h"
#include "rng/lagged_fibonacci.h"

namespace perrin::bench {

/// Jumps of a fixed length. Numbers x[n] = x[n - short] + x[n - long] are a linear recurrence
/// modulo 2^32: with z^k = c[0] + c[1]·z + … modulo z^long - z^(long - short) - 1, x[n + k] is
/// c[0]·x[n] + c[1]·x[n + 1] + …. A jump takes long² products, making one 2·log2(k) times as many.
class LaggedJump {
 public:
  LaggedJump(const Device& device, Lags lags, std::uint64_t numbers)
      : device_(device), lags_(lags), power_(std::size_t(lags.long_lag)) {
    power_[0] = 1;
    for (std::uint64_t bit = std::uint64_t(1) << 63; bit > 0; bit /= 2) {
      if (bit <= numbers) square();
      if (numbers & bit) times_z();
    }
  }
  /// The ring of long_lag successive numbers, oldest first, that many numbers later.
  std::vector<std::uint32_t> operator()(const std::vector<std::uint32_t>& ring) const {
    const auto size = lags_.long_lag;
    std::vector<std::uint32_t> x = ring, later(ring.size());
    x.resize(std::size_t(2 * size));
    for (auto n = size; n < 2 * size; ++n)
      x[std::size_t(n)] = x[std::size_t(n - lags_.short_lag)] + x[std::size_t(n - size)];
    in_tiles(size, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i < size; ++i)
        add_product(later.data() + begin, power_[std::size_t(i)], x.data() + begin + i,
                    end - begin);
    });
    return later;
  }

 private:
  static void add_product(std::uint32_t* sum, std::uint32_t factor, const std::uint32_t* x,
                          std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) sum[k] += factor * x[k];
  }
  /// f(begin, end) for tiles that fit the first-level cache.
  template <class F>
  void in_tiles(std::int64_t n, const F& f) const {
    constexpr std::int64_t tile = 2048;
    for_tasks(device_, (n + tile - 1) / tile,
              [&](std::int64_t k, int) { f(k * tile, std::min(n, (k + 1) * tile)); });
  }
  void square() {
    const auto size = lags_.long_lag;
    std::vector<std::uint32_t> product(std::size_t(2 * size - 1));
    in_tiles(2 * size - 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t first = std::max(begin, i), last = std::min(end, i + size);
        if (first < last)
          add_product(product.data() + first, power_[std::size_t(i)], power_.data() + first - i,
                      last - first);
      }
    });
    for (std::int64_t m = 2 * size - 2; m >= size; --m) {
      product[std::size_t(m - lags_.short_lag)] += product[std::size_t(m)];
      product[std::size_t(m - size)] += product[std::size_t(m)];
    }
    product.resize(std::size_t(size));
    power_ = std::move(product);
  }
  void times_z() {
    const std::uint32_t highest = power_.back();
    std::rotate(power_.begin(), power_.end() - 1, power_.end());
    power_[std::size_t(lags_.long_lag - lags_.short_lag)] += highest;
  }

  Device device_;
  Lags lags_;
  std::vector<std::uint32_t> power_;
};

}  // namespace perrin::bench
