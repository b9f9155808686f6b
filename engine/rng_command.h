// `perrin rng`: raw random words for test batteries.
#pragma once

namespace perrin {

/// argv[0] is "rng". Returns the exit status; prints errors to standard error.
int rng_command(int argc, char** argv);

}  // namespace perrin
