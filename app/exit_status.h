// How the program ends.
#pragma once

namespace perrin {

/// 0 done (or stopped on request), 2 the user's mistake, 3 the run went wrong, 4 a bug.
enum class ExitStatus { good = 0, user = 2, run = 3, bug = 4 };

}  // namespace perrin
