// Frames in GROMACS's XTC format: coordinates rounded to a grid and packed into as many bits as
// their range needs; a particle that is near the one before takes fewer.
//
// The format: GROMACS reference manual, "File formats", xtc; XDR: RFC 4506.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/threads.h"

namespace perrin::io {

/// Of an XTC file: nm and ps by its convention.
struct XtcFrame {
  std::int64_t step = 0;  // the file holds its lowest 32 bits
  double time = 0;
  std::array<double, 9> edges{};     // rows
  std::span<const double> position;  // 3 per particle
  double scale = 1;                  // of the positions: the file has them times this
};

/// The most particles that a frame can have; so few are not packed.
inline constexpr std::size_t most_xtc_particles = 298261617, most_plain_xtc = 9;
/// Coordinates times precision stay below this.
inline constexpr double most_xtc_steps = 0x7ffffff0;

/// A coordinate is beyond 32 bits.
struct XtcRange : RunError {
  using RunError::RunError;
};

/// Makes the bytes of frames, which are the same on any number of threads. It keeps its memory from
/// one frame to the next.
class XtcCoder {
 public:
  /// Coordinates become multiples of 1/precision, which is at most half of that off; frames of few
  /// particles hold them in single precision instead. Messages begin with `where`. Of many threads
  /// no more than most_threads work.
  XtcCoder(double precision, std::string where, int threads);
  /// Valid until the next call. Throws XtcRange.
  std::span<const unsigned char> frame(const XtcFrame& frame);

 private:
  /// Memory that is made when it is needed first, and kept; what it holds at first is not said.
  template <class T>
  class Kept {
   public:
    T* of(std::size_t n) {
      if (n > size_) {
        values_.reset();
        values_.reset(new T[n]);
        size_ = n;
      }
      return values_.get();
    }

   private:
    std::unique_ptr<T[]> values_;
    std::size_t size_ = 0;
  };
  static constexpr int most_threads = 16;  // more wait for memory, and for what one must do
  void put_packed(const XtcFrame& frame);

  double precision_;
  std::string where_;
  Threads threads_;
  std::vector<unsigned char> out_;
  Kept<std::array<std::int32_t, 3>> grid_;  // positions, rounded
  Kept<std::uint8_t> near_flags_;           // of each particle
};

/// How long a frame is, of the bytes that begin it (xtc_head of them, or all that there are);
/// 0 where that is no frame. `step`: its lowest 32 bits.
inline constexpr std::size_t xtc_head = 92;
std::uint64_t xtc_frame_size(std::span<const unsigned char> head, std::int32_t& step);

}  // namespace perrin::io
