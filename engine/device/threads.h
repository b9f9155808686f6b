// The CPU's threads: the one place that starts any for loops, and how they share work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

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

}  // namespace perrin
