// The CPU's threads: the one place that starts any for loops, and how they share work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/core/device.h"

namespace perrin {

/// Threads of a Device if no number is given: OMP_NUM_THREADS, or one for every core that
/// this process may use; where other processes of the run may use the same, its share of them.
int default_threads();

/// The calling thread, which is thread 0, and helpers that wait for work: briefly with their eyes
/// open, then asleep. Work is cut into tasks. A thread first takes those of its own share, the same
/// in every run of as many, whose data its core still holds, then what others have not begun; a
/// helper that comes late, because another process has its core, is not waited for.
class Threads {
 public:
  static constexpr int most = 1024;
  using Work = void (*)(const void* what, std::int64_t task, int thread);

  /// 1 to `most`. Helpers are started when there first is work for them; where the system has no
  /// more threads to give, there are fewer.
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  int count() const { return count_; }

  /// work(what, task, thread) once for each 0 ≤ task < tasks, 0 ≤ thread < count(). Returns when
  /// all are done; then throws what the first of them, by its number, has thrown. A run within a
  /// task, or while another thread of the program uses these, is the caller's alone.
  void run(std::int64_t tasks, Work work, const void* what);

 private:
  struct Team;
  int count_;
  std::atomic<bool> in_use_{false};
  std::unique_ptr<Team> team_;
};

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
