// Frames in GROMACS's XTC format: coordinates rounded to a grid and packed into as many bits as
// their range needs; a particle that is near the one before takes fewer.
//
// The format: GROMACS reference manual, "File formats", xtc; XDR: RFC 4506.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"

namespace perrin::io {

/// Of an XTC file: nm and ps by its convention.
struct XtcFrame {
  std::int64_t step = 0;  // the file holds its lowest 32 bits
  double time = 0;
  std::array<double, 9> edges{};     // rows
  std::span<const double> position;  // 3 per particle
};

/// The most particles that a frame can have; so few are not packed.
inline constexpr std::size_t most_xtc_particles = 298261617, most_plain_xtc = 9;
/// Coordinates times precision stay below this.
inline constexpr double most_xtc_steps = 0x7ffffff0;

/// A coordinate is beyond 32 bits.
struct XtcRange : RunError {
  using RunError::RunError;
};

/// The bytes of a frame. Coordinates become multiples of 1/precision, which is at most half of that
/// off; files of few particles hold them in single precision instead. Throws XtcRange, beginning
/// with `where`.
std::vector<unsigned char> xtc_frame(const XtcFrame& frame, double precision,
                                     const std::string& where);

/// How long a frame is, of the bytes that begin it (xtc_head of them, or all that there are);
/// 0 where that is no frame. `step`: its lowest 32 bits.
inline constexpr std::size_t xtc_head = 92;
std::uint64_t xtc_frame_size(std::span<const unsigned char> head, std::int32_t& step);

}  // namespace perrin::io
