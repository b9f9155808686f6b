// Loops on the CPU that are cut into tasks for the threads of a device.
#pragma once

#include <cstdint>

#include "engine/device/device.h"
#include "engine/device/threads.h"

namespace perrin {

/// f(task, thread) for 0 ≤ task < tasks, in any order, on the threads of the CPU; see Threads.
/// Calling them together costs some microseconds: where there is less to do than that, it is not
/// `worthwhile`.
template <class F>
void for_tasks(const Device& device, std::int64_t tasks, const F& f, bool worthwhile = true) {
  Threads* const threads = worthwhile ? device.host_threads() : nullptr;
  if (threads == nullptr || tasks < 2) {
    for (std::int64_t task = 0; task < tasks; ++task) f(task, 0);
    return;
  }
  const Threads::Work work = [](const void* what, std::int64_t task, int thread) {
    (*static_cast<const F*>(what))(task, thread);
  };
  threads->run(tasks, work, &f);
}

/// f(begin, end) for contiguous pieces of 0 ≤ i < n, several for each thread, so that others can
/// take over from one that stands still; all at once where n is at most `grain`.
template <class F>
void for_pieces(const Device& device, std::int64_t n, std::int64_t grain, const F& f) {
  if (n <= grain || device.threads() == 1) return f(std::int64_t(0), n);
  constexpr std::int64_t per_thread = 8, longest = 16384;
  std::int64_t piece = n / (device.threads() * per_thread);
  piece = piece < grain / 4 ? grain / 4 : piece > longest ? longest : piece;
  piece = (piece + 15) / 16 * 16;  // whole vectors
  for_tasks(device, (n + piece - 1) / piece, [&](std::int64_t k, int) {
    const std::int64_t begin = k * piece, end = begin + piece;
    f(begin, end < n ? end : n);
  });
}

}  // namespace perrin
