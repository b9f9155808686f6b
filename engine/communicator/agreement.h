// What a clock, chance, a signal or a file decides, made the same in all processes of a job. All of
// them call these functions, in the same order; one process alone gets what it gives.
#pragma once

#include <cstdint>
#include <functional>

namespace perrin {

/// What the first process says.
double agreed(double value);
std::int64_t agreed(std::int64_t value);
/// The largest of what they say.
std::int64_t agreed_max(std::int64_t value);
/// Calls f in the first process before the others, which then find what it has left in a file.
void first_before_others(const std::function<void()>& f);

/// Whether this process writes files: of several that work on a job together, the first one does.
bool writes_files();
/// Whether this process has standard output to itself, and it is a terminal. What a launcher gives
/// a process is a terminal to look at, whatever becomes of its output.
bool owns_terminal();
/// Cores that the system lets this process run on.
int usable_cores();
/// The same divided by the number of processes that run on them; at least 1.
int cores_to_use();

}  // namespace perrin
