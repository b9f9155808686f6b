// Ids of particles in files of frames whose rows come in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "io/formats.h"
#include "io/text_lines.h"

namespace perrin::io {

/// Keeps the ids that a file gives its particles, in ascending order. Not those that count rows,
/// from 0 or from 1, unless other frames may have others (`changing`): formats have ids in all
/// frames or in none. Of ids outside of 0 to 2^31 - 1 a warning says that they are not kept.
void keep_ids(Configuration& c, const std::vector<std::int64_t>& ids, bool changing = false);

/// The ids of a file: those of every frame are the same.
class ParticleIds {
 public:
  /// Puts the particles of a frame, that of the last row being where `text` is, in the order of
  /// their ids (one for each row), which it keeps. Throws UserError for ids that come twice and for
  /// others than those of the frame that was read first.
  void sort(std::vector<std::int64_t> ids, Frame& frame, const TextLines& text);

 private:
  std::vector<std::int64_t> first_;  // of the first frame that was read
};

}  // namespace perrin::io
