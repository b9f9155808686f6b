#include "io/xtc_coder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "engine/base/error.h"

namespace perrin::io {
namespace {

constexpr std::int32_t xtc_magic = 1995;
constexpr int most_near = 8;

/// Three differences below this, from index 9 on, take as many bits as the index says. What readers
/// have, also where it is not the cube root of a power of two.
constexpr std::uint32_t near_sizes[] = {
    0,       0,       0,       0,       0,       0,       0,       0,       0,       8,
    10,      12,      16,      20,      25,      32,      40,      50,      64,      80,
    101,     128,     161,     203,     256,     322,     406,     512,     645,     812,
    1024,    1290,    1625,    2048,    2580,    3250,    4096,    5060,    6501,    8192,
    10321,   13003,   16384,   20642,   26007,   32768,   41285,   52015,   65536,   82570,
    104031,  131072,  165140,  208063,  262144,  330280,  416127,  524287,  660561,  832255,
    1048576, 1321122, 1664510, 2097152, 2642245, 3329021, 4194304, 5284491, 6658042, 8388607};
constexpr int first_near = 9, last_near = int(std::size(near_sizes)) - 1;

__extension__ using Wide = unsigned __int128;

using Grid = std::array<std::int32_t, 3>;

/// Big-endian numbers, as XDR has them.
void put(std::vector<unsigned char>& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back((unsigned char)(value >> shift));
}
void put(std::vector<unsigned char>& out, double value) {
  put(out, std::bit_cast<std::uint32_t>(float(value)));
}
std::int32_t number_at(std::span<const unsigned char> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8 | bytes[at + k];
  return std::int32_t(value);
}

/// A stream of bits, the highest of each number first.
class Bits {
 public:
  explicit Bits(std::vector<unsigned char>& out) : out_(out) {}
  void put(std::uint32_t value, int n) {
    waiting_ = waiting_ << n | value;
    for (count_ += n; count_ >= 8; count_ -= 8)
      out_.push_back((unsigned char)(waiting_ >> (count_ - 8)));
  }
  void finish() {
    if (count_ > 0) put(0, 8 - count_);
  }

 private:
  std::vector<unsigned char>& out_;
  std::uint64_t waiting_ = 0;
  int count_ = 0;
};

int bit_length(Wide value) {
  const auto high = std::uint64_t(value >> 64);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(std::uint64_t(value));
}

/// Three numbers below three sizes, as one number with as many bits as their product has; its
/// lowest bytes come first.
struct Triple {
  std::array<std::uint32_t, 3> sizes;
  int bits;

  void put(Bits& out, const std::array<std::uint32_t, 3>& n) const {
    auto value = (Wide(n[0]) * sizes[1] + n[1]) * sizes[2] + n[2];
    int left = bits;
    for (; left > 8; left -= 8, value >>= 8) out.put(std::uint32_t(value & 255), 8);
    out.put(std::uint32_t(value), left);
  }
};

/// Writes positions in full or as differences.
class Coder {
 public:
  Coder(const std::vector<Grid>& grid, const Grid& low, const Grid& high) : grid_(grid), low_(low) {
    bool wide = false;
    for (std::size_t k = 0; k < 3; ++k) {
      full_.sizes[k] = std::uint32_t(high[k]) - std::uint32_t(low[k]) + 1;
      wide = wide || full_.sizes[k] > 0xffffff;
    }
    full_.bits = bit_length(Wide(full_.sizes[0]) * full_.sizes[1] * full_.sizes[2]);
    if (wide) {
      full_.bits = 0;
      for (const std::uint32_t size : full_.sizes) full_.bits += std::bit_width(size);
    }
    wide_ = wide;
    index_ = best_index();
    const std::uint32_t size = near_sizes[index_];
    near_ = {{size, size, size}, index_};
    half_ = std::int32_t(size / 2);
  }

  int index() const { return index_; }

  void write(std::vector<unsigned char>& out) const {
    Bits bits(out);
    int before = 0;
    for (std::size_t i = 0; i < grid_.size();) {
      const int more = near_after(i);
      // The second comes first: molecules that begin with their middle have shorter differences.
      put_full(bits, grid_[more > 0 ? i + 1 : i]);
      bits.put(more != before, 1);
      // How many follow, times three; one for differences that stay as they are.
      if (more != before) bits.put(std::uint32_t(3 * more + 1), 5);
      before = more;
      if (more > 0) put_near(bits, grid_[i], grid_[i + 1]);
      if (more > 1) put_near(bits, grid_[i + 2], grid_[i]);
      for (int k = 2; k < more; ++k)
        put_near(bits, grid_[i + std::size_t(k) + 1], grid_[i + std::size_t(k)]);
      i += std::size_t(more) + 1;
    }
    bits.finish();
  }

 private:
  static std::int64_t distance(const Grid& a, const Grid& b) {
    std::int64_t most = 0;
    for (std::size_t k = 0; k < 3; ++k)
      most = std::max(most, std::abs(std::int64_t(a[k]) - std::int64_t(b[k])));
    return most;
  }
  bool near(const Grid& a, const Grid& b) const { return distance(a, b) < half_; }

  /// How many of the next come as differences.
  int near_after(std::size_t i) const {
    if (i + 1 >= grid_.size() || !near(grid_[i], grid_[i + 1])) return 0;
    int more = 1;
    for (std::size_t k = i + 2; k < grid_.size() && more < most_near; ++k, ++more)
      if (!near(grid_[k], more == 1 ? grid_[i] : grid_[k - 1])) break;
    return more;
  }

  /// The size of differences that saves the most bits.
  int best_index() const {
    std::array<std::int64_t, std::size(near_sizes)> fits{};  // how many need this index
    for (std::size_t i = 1; i < grid_.size(); ++i) {
      const std::int64_t d = distance(grid_[i], grid_[i - 1]);
      int index = first_near;
      while (index <= last_near && d >= near_sizes[index] / 2) ++index;
      if (index <= last_near) ++fits[std::size_t(index)];
    }
    int best = first_near;
    std::int64_t most = 0, sum = 0;
    for (int index = first_near; index <= last_near; ++index) {
      sum += fits[std::size_t(index)];
      const std::int64_t saved = sum * (full_.bits - index - 4);  // 4: to say how many follow
      if (saved > most) most = saved, best = index;
    }
    return best;
  }

  void put_full(Bits& out, const Grid& at) const {
    std::array<std::uint32_t, 3> n;
    for (std::size_t k = 0; k < 3; ++k) n[k] = std::uint32_t(at[k]) - std::uint32_t(low_[k]);
    if (!wide_) return full_.put(out, n);
    for (std::size_t k = 0; k < 3; ++k) out.put(n[k], std::bit_width(full_.sizes[k]));
  }
  void put_near(Bits& out, const Grid& at, const Grid& from) const {
    std::array<std::uint32_t, 3> n;
    for (std::size_t k = 0; k < 3; ++k) n[k] = std::uint32_t(at[k] - from[k] + half_);
    near_.put(out, n);
  }

  const std::vector<Grid>& grid_;
  Grid low_;
  Triple full_{}, near_{};
  bool wide_ = false;
  int index_ = first_near;
  std::int32_t half_ = 0;
};

void put_packed(std::vector<unsigned char>& out, std::span<const double> position, double precision,
                const std::string& where) {
  std::vector<Grid> grid(position.size() / 3);
  Grid low{INT32_MAX, INT32_MAX, INT32_MAX}, high{INT32_MIN, INT32_MIN, INT32_MIN};
  for (std::size_t i = 0; i < grid.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const double at = std::round(position[3 * i + k] * precision);
      if (!(std::abs(at) < most_xtc_steps))
        throw XtcRange(fmt::format(
            "{}: coordinate {:.9g} of particle {} is beyond the 32 bits of XTC at {:g} steps per "
            "unit: expected fewer decimals",
            where, position[3 * i + k], i, precision));
      grid[i][k] = std::int32_t(at);
      low[k] = std::min(low[k], grid[i][k]);
      high[k] = std::max(high[k], grid[i][k]);
    }
  const Coder coder(grid, low, high);
  put(out, precision);
  for (const std::int32_t n : low) put(out, std::uint32_t(n));
  for (const std::int32_t n : high) put(out, std::uint32_t(n));
  put(out, std::uint32_t(coder.index()));
  const std::size_t at = out.size();
  put(out, std::uint32_t(0));
  coder.write(out);
  const std::size_t bytes = out.size() - at - 4;
  for (std::size_t k = 0; k < 4; ++k) out[at + k] = (unsigned char)(bytes >> (24 - 8 * k));
  out.resize(out.size() + (4 - bytes % 4) % 4);
}

}  // namespace

std::vector<unsigned char> xtc_frame(const XtcFrame& frame, double precision,
                                     const std::string& where) {
  std::vector<unsigned char> out;
  const auto n = std::uint32_t(frame.position.size() / 3);
  out.reserve(xtc_head + 8 * n);
  put(out, std::uint32_t(xtc_magic));
  put(out, n);
  put(out, std::uint32_t(frame.step));
  put(out, frame.time);
  for (const double edge : frame.edges) put(out, edge);
  put(out, n);
  if (n > most_plain_xtc)
    put_packed(out, frame.position, precision, where);
  else
    for (const double x : frame.position) put(out, x);
  return out;
}

std::uint64_t xtc_frame_size(std::span<const unsigned char> head, std::int32_t& step) {
  constexpr std::size_t before = 56;  // the number of particles, again
  if (head.size() < before || number_at(head, 0) != xtc_magic) return 0;
  const std::int32_t n = number_at(head, 4);
  step = number_at(head, 8);
  if (n < 1 || number_at(head, 52) != n) return 0;
  if (n <= std::int32_t(most_plain_xtc)) return before + 12 * std::uint64_t(n);
  if (head.size() < xtc_head) return 0;
  const std::int32_t bytes = number_at(head, 88);
  return bytes < 0 ? 0 : xtc_head + (std::uint64_t(bytes) + 3) / 4 * 4;
}

}  // namespace perrin::io
