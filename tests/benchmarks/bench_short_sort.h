#pragma once

namespace perrin {

/// `perrin-bench short-sort`: argv[0] is the subcommand's name. Exit status: 0, or 1 if a sort gave
/// a wrong result. Throws UserError.
int bench_short_sort(int argc, char** argv);

}  // namespace perrin
