// What a checkpoint may be made of. A seal tells damage, not intent: the file may have been made by
// anybody, and is looked at as a whole before anything of it is read.
#pragma once

#include "io/hdf5.h"

namespace perrin::io {

/// Groups within one another, reached by hard links alone and no deeper than a limit, with datasets
/// that the file stores as they are (nothing packed, in chunks, virtual or in other files): texts
/// in `job`, `version` and `facts`, a number in `checksum`, lists of numbers in `state`. Throws
/// UserError with file and place of anything else. On the writer's thread.
void check_checkpoint_layout(const File& file);

}  // namespace perrin::io
