#include "io/xtc_coder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

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

/// The lowest index with room for differences of a size, without branches, which would be guesses.
class FirstFit {
 public:
  constexpr FirstFit() {
    for (int bits = 0; bits < 33; ++bits) {
      const std::int64_t least = bits == 0 ? 0 : std::int64_t(1) << (bits - 1);
      int index = first_near;
      while (index <= last_near && near_sizes[index] / 2 <= least) ++index;
      start_[bits] = index;
      int more = 0;
      while (index + more <= last_near && near_sizes[index + more] / 2 < 2 * least) ++more;
      if (more > 3) throw BugError("a factor of two has three indices");
    }
    for (int index = 0; index <= last_near; ++index) beyond_[index] = near_sizes[index] / 2;
    for (int index = last_near + 1; index < last_near + 5; ++index) beyond_[index] = UINT32_MAX;
  }
  /// last_near + 1: there is none.
  int operator()(std::uint32_t difference) const {
    int index = start_[std::bit_width(difference)];
    for (int k = 0; k < 3; ++k) index += difference >= beyond_[index] ? 1 : 0;
    return index;
  }

 private:
  int start_[33]{};                        // [bits of a difference]: no lower one has room for it
  std::uint32_t beyond_[last_near + 5]{};  // [index]: differences that need another
};
constexpr FirstFit first_fit;

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

/// A stream of bits, the highest of each number first, into bytes that there is room for.
class Bits {
 public:
  /// The stream begins at bit `skip` (0 to 7) of the first byte: where that is not 0, the byte,
  /// with zeros before, goes to `shared`, since others have its other bits.
  Bits(unsigned char* out, int skip, unsigned char* shared)
      : out_(out), shared_(skip > 0 ? shared : nullptr), count_(skip) {}
  /// `n`: 1 to 64; the value has no bits beyond.
  void put(std::uint64_t value, int n) {
    const int room = 64 - count_;
    if (n < room) {
      waiting_ = waiting_ << n | value;
      count_ += n;
      return;
    }
    const int rest = n - room;
    store((room < 64 ? waiting_ << room : 0) | value >> rest, 8);
    waiting_ = value & ((std::uint64_t(1) << rest) - 1);
    count_ = rest;
  }
  /// The last byte is filled up by zeros.
  void finish() {
    if (count_ > 0) store(waiting_ << (64 - count_), std::size_t(count_ + 7) / 8);
  }

 private:
  void store(std::uint64_t word, std::size_t bytes) {
    unsigned char byte[8];
    word = __builtin_bswap64(word);
    std::memcpy(byte, &word, 8);
    const std::size_t from = shared_ ? 1 : 0;
    if (shared_) *std::exchange(shared_, nullptr) = byte[0];
    std::memcpy(out_ + from, byte + from, bytes - from);
    out_ += bytes;
  }

  unsigned char *out_, *shared_;
  std::uint64_t waiting_ = 0;
  int count_;
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
    if (bits <= 64) {
      const std::uint64_t value = (std::uint64_t(n[0]) * sizes[1] + n[1]) * sizes[2] + n[2];
      const int whole = (bits - 1) / 8 * 8, left = bits - whole;
      const std::uint64_t first = whole > 0 ? __builtin_bswap64(value) >> (64 - whole) : 0;
      return out.put(first << left | value >> whole, bits);
    }
    auto value = (Wide(n[0]) * sizes[1] + n[1]) * sizes[2] + n[2];
    int left = bits;
    for (; left > 8; left -= 8, value >>= 8) out.put(std::uint64_t(value & 255), 8);
    out.put(std::uint64_t(value), left);
  }
};

/// Work on a frame is cut into parts of so many particles, whatever the number of threads.
constexpr std::int64_t part_size = 16384;

/// f(part, begin, end) for all parts of n particles.
template <class F>
void for_parts(Threads& threads, std::int64_t n, const F& f) {
  const auto one = [&](std::int64_t part) {
    f(std::size_t(part), part * part_size, std::min(n, (part + 1) * part_size));
  };
  const Threads::Work work = [](const void* what, std::int64_t part, int) {
    (*static_cast<const decltype(one)*>(what))(part);
  };
  threads.run((n + part_size - 1) / part_size, work, &one);
}
std::size_t parts_of(std::int64_t n) { return std::size_t((n + part_size - 1) / part_size); }

struct Range {
  Grid low{INT32_MAX, INT32_MAX, INT32_MAX}, high{INT32_MIN, INT32_MIN, INT32_MIN};
};
/// Positions as multiples of 1/precision, and their range.
Range round_positions(const XtcFrame& frame, double precision, const std::string& where,
                      Threads& threads, Grid* grid) {
  const auto n = std::int64_t(frame.position.size() / 3);
  std::vector<Range> parts(parts_of(n));
  for_parts(threads, n, [&](std::size_t part, std::int64_t begin, std::int64_t end) {
    Range range;
    for (std::int64_t i = begin; i < end; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const double x = frame.position[3 * std::size_t(i) + k] * frame.scale, at = x * precision;
        if (!(std::abs(at) < most_xtc_steps - 0.5))  // nor is what it is rounded to
          throw XtcRange(fmt::format(
              "{}: coordinate {:.9g} of particle {} is beyond the 32 bits of XTC at {:g} steps per "
              "unit: expected fewer decimals",
              where, x, i, precision));
        // To the nearest, halves away from 0.
        const auto whole = std::int32_t(at);
        const double rest = at - whole;
        const std::int32_t nearest = whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
        grid[i][k] = nearest;
        range.low[k] = std::min(range.low[k], nearest);
        range.high[k] = std::max(range.high[k], nearest);
      }
    parts[part] = range;
  });
  Range all;
  for (const Range& part : parts)
    for (std::size_t k = 0; k < 3; ++k) {
      all.low[k] = std::min(all.low[k], part.low[k]);
      all.high[k] = std::max(all.high[k], part.high[k]);
    }
  return all;
}

/// Writes positions in full or as differences. Which are differences depends on all before; that is
/// found out from a byte of each particle by one thread, all else by many.
class Packer {
 public:
  /// `near_flags`: room for a byte of each particle.
  Packer(const Grid* grid, std::int64_t n, const Range& range, std::uint8_t* near_flags,
         Threads& threads)
      : grid_(grid), n_(n), low_(range.low), near_flags_(near_flags), threads_(threads) {
    bool wide = false;
    for (std::size_t k = 0; k < 3; ++k) {
      full_.sizes[k] = std::uint32_t(range.high[k]) - std::uint32_t(low_[k]) + 1;
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

  /// Appends the stream, which ends with a whole byte.
  void write(std::vector<unsigned char>& out) {
    find_near();
    const std::vector<Piece> pieces = cut();
    const std::size_t begin = out.size();
    out.resize(begin + (std::size_t(pieces.back().bit) + 7) / 8);
    std::vector<unsigned char> first(pieces.size(), 0);  // bytes that a piece shares with the last
    for_parts(threads_, n_, [&](std::size_t p, std::int64_t, std::int64_t) {
      const Piece& piece = pieces[p];
      Bits bits(out.data() + begin + piece.bit / 8, int(piece.bit % 8), &first[p]);
      write_piece(bits, piece, pieces[p + 1].particle);
    });
    for (std::size_t p = 0; p + 1 < pieces.size(); ++p)
      if (first[p] != 0) out[begin + std::size_t(pieces[p].bit / 8)] |= first[p];
  }

 private:
  /// Where a part of the stream begins: with whom, after how many differences, at which bit.
  struct Piece {
    std::int64_t particle;
    int before;
    std::int64_t bit;
  };
  static constexpr std::uint8_t near_next = 1, near_second = 2;

  static std::uint32_t apart(std::int32_t a, std::int32_t b) {
    const std::int64_t d = std::int64_t(a) - b;
    return std::uint32_t(d < 0 ? -d : d);
  }
  static std::uint32_t distance(const Grid& a, const Grid& b) {
    const std::uint32_t x = apart(a[0], b[0]), y = apart(a[1], b[1]), z = apart(a[2], b[2]);
    const std::uint32_t xy = x > y ? x : y;
    return xy > z ? xy : z;
  }
  /// Whether all three differences are below half_, without branches.
  bool near(const Grid& a, const Grid& b) const {
    const std::int64_t most = half_ - 1;
    const auto within = [&](std::size_t k) {
      return std::uint64_t(std::int64_t(a[k]) - b[k] + most) <= std::uint64_t(2 * most);
    };
    return bool(int(within(0)) & int(within(1)) & int(within(2)));
  }

  /// Of each particle, whether the next one is near, and the one after that.
  void find_near() {
    for_parts(threads_, n_, [&](std::size_t, std::int64_t begin, std::int64_t end) {
      const std::int64_t last = std::min(end, n_ - 2);
      for (std::int64_t i = begin; i < last; ++i)
        near_flags_[i] = std::uint8_t(near(grid_[i], grid_[i + 1]) * near_next |
                                      near(grid_[i], grid_[i + 2]) * near_second);
      for (std::int64_t i = std::max(begin, last); i < end; ++i)
        near_flags_[i] = i + 1 < n_ && near(grid_[i], grid_[i + 1]) ? near_next : 0;
    });
  }

  /// How many of the next come as differences: the first two from this one, each other from the one
  /// before it.
  int near_after(std::int64_t i) const {
    const std::uint8_t own = near_flags_[i];
    if ((own & near_next) == 0) return 0;
    if ((own & near_second) == 0) return 1;
    int more = 2;
    while (more < most_near && (near_flags_[i + more] & near_next) != 0) ++more;
    return more;
  }

  /// A piece for each part, and the end.
  std::vector<Piece> cut() const {
    std::vector<Piece> pieces;
    std::int64_t bit = 0, i = 0;
    int before = 0;
    for (std::int64_t part = 0; part < std::int64_t(parts_of(n_)); ++part) {
      pieces.push_back({i, before, bit});
      const std::int64_t end = std::min(n_, (part + 1) * part_size);
      while (i < end) {
        const int more = near_after(i);
        bit += full_.bits + 1 + (more != before ? 5 : 0) + more * near_.bits;
        before = more;
        i += more + 1;
      }
    }
    pieces.push_back({i, before, bit});
    return pieces;
  }

  void write_piece(Bits& bits, const Piece& piece, std::int64_t end) const {
    int before = piece.before;
    for (std::int64_t i = piece.particle; i < end;) {
      const int more = near_after(i);
      // The second comes first: molecules that begin with their middle have shorter differences.
      put_full(bits, grid_[more > 0 ? i + 1 : i]);
      bits.put(more != before, 1);
      // How many follow, times three; one for differences that stay as they are.
      if (more != before) bits.put(3 * std::uint64_t(more) + 1, 5);
      before = more;
      if (more > 0) put_near(bits, grid_[i], grid_[i + 1]);
      if (more > 1) put_near(bits, grid_[i + 2], grid_[i]);
      for (int k = 2; k < more; ++k) put_near(bits, grid_[i + k + 1], grid_[i + k]);
      i += more + 1;
    }
    bits.finish();
  }

  /// The size of differences that saves the most bits.
  int best_index() const {
    using Fits = std::array<std::int64_t, last_near + 2>;  // how many need this index
    std::vector<Fits> of_parts(parts_of(n_));
    for_parts(threads_, n_, [&](std::size_t part, std::int64_t begin, std::int64_t end) {
      Fits fits{};
      for (std::int64_t i = std::max<std::int64_t>(begin, 1); i < end; ++i)
        ++fits[std::size_t(first_fit(distance(grid_[i], grid_[i - 1])))];
      of_parts[part] = fits;
    });
    int best = first_near;
    std::int64_t most = 0, sum = 0;
    for (int index = first_near; index <= last_near; ++index) {
      for (const Fits& fits : of_parts) sum += fits[std::size_t(index)];
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

  const Grid* grid_;
  std::int64_t n_;
  Grid low_;
  std::uint8_t* near_flags_;
  Threads& threads_;
  Triple full_{}, near_{};
  bool wide_ = false;
  int index_ = first_near;
  std::int32_t half_ = 0;
};

}  // namespace

XtcCoder::XtcCoder(double precision, std::string where, int threads)
    : precision_(precision),
      where_(std::move(where)),
      threads_(std::clamp(threads, 1, most_threads)) {}

std::span<const unsigned char> XtcCoder::frame(const XtcFrame& frame) {
  out_.clear();
  const auto n = std::uint32_t(frame.position.size() / 3);
  put(out_, std::uint32_t(xtc_magic));
  put(out_, n);
  put(out_, std::uint32_t(frame.step));
  put(out_, frame.time);
  for (const double edge : frame.edges) put(out_, edge);
  put(out_, n);
  if (n > most_plain_xtc)
    put_packed(frame);
  else
    for (const double x : frame.position) put(out_, x * frame.scale);
  return out_;
}

void XtcCoder::put_packed(const XtcFrame& frame) {
  const std::size_t n = frame.position.size() / 3;
  Grid* const positions = grid_.of(n);
  const Range range = round_positions(frame, precision_, where_, threads_, positions);
  Packer packer(positions, std::int64_t(n), range, near_flags_.of(n), threads_);
  put(out_, precision_);
  for (const std::int32_t low : range.low) put(out_, std::uint32_t(low));
  for (const std::int32_t high : range.high) put(out_, std::uint32_t(high));
  put(out_, std::uint32_t(packer.index()));
  const std::size_t at = out_.size();
  put(out_, std::uint32_t(0));
  packer.write(out_);
  const std::size_t bytes = out_.size() - at - 4;
  for (std::size_t k = 0; k < 4; ++k) out_[at + k] = (unsigned char)(bytes >> (24 - 8 * k));
  out_.resize(out_.size() + (4 - bytes % 4) % 4);
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
