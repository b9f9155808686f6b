// What can go wrong, by whose fault it is; the program's exit status follows from the type.
#pragma once

#include <stdexcept>
#include <string>

namespace perrin {

/// The user's mistake (job, file, plug-in). Exit status 2; nothing has been overwritten.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The run went wrong (lost particle, NaN, full disk, out of device memory). Exit status 3.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A bug in Perrin or in a plug-in. Exit status 4.
struct BugError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void report_bug(const char* condition, const char* file, int line);

}  // namespace perrin

/// An invariant of the program itself; stays on in release builds (never inside hot loops).
#define PERRIN_ASSERT(condition) \
  ((condition) ? void() : ::perrin::report_bug(#condition, __FILE__, __LINE__))
