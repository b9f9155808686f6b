#include "engine/device/threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/communicator/agreement.h"

namespace perrin {
namespace {

using Word = std::atomic<std::uint32_t>;

thread_local bool in_task = false;

/// How often this process was forked: a child has none of the helpers.
std::atomic<int> forks{0};

void sleep_while(const Word& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void wake(const Word& word, int sleepers) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, sleepers, nullptr, nullptr, 0);
}

/// Looks at ready() again and again for so long; false: it has not become true.
template <class F>
bool watch(std::chrono::nanoseconds how_long, const F& ready) {
  if (ready()) return true;
  if (how_long.count() == 0) return false;
  const auto end = std::chrono::steady_clock::now() + how_long;
  do {
    for (int k = 0; k < 16; ++k) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

}  // namespace

int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const long n = std::strtol(text, nullptr, 10);  // of a list, the first
    if (n > 0) return int(std::min(n, long(Threads::most)));
  }
  return std::min(cores_to_use(), int(Threads::most));
}

/// What the threads have in common. `gate` tells them of a run: its number, whether it is open, and
/// how many helpers are inside. Helpers inside are waited for; a closed gate lets none in.
struct Threads::Team {
  static constexpr std::uint32_t inside = 0xfff, open = 0x1000, run_number = 0xffffe000;
  struct alignas(64) Share {
    std::atomic<std::int64_t> next{0};
  };

  alignas(64) Word gate{0};
  alignas(64) Word asleep{0};  // helpers
  alignas(64) Word caller_asleep{0};
  std::atomic<bool> ending{false};
  const int made_after = forks;
  std::chrono::nanoseconds patience{0};

  // The run.
  Work work = nullptr;
  const void* what = nullptr;
  std::int64_t tasks = 0;
  std::vector<Share> shares;
  std::mutex error_mutex;
  std::int64_t error_task = 0;
  std::exception_ptr error;

  std::vector<std::thread> helpers;

  explicit Team(int count);
  ~Team();
  std::int64_t share_begin(int thread) const {
    return tasks * thread / std::int64_t(shares.size());
  }
  void do_tasks(int thread);
  void help(int thread);
  void lead(std::int64_t how_many, Work the_work, const void* its_what);
};

Threads::Team::Team(int count) : shares(std::size_t(count)) {
  // Watching helps only where everybody has a core.
  if (count <= usable_cores()) patience = std::chrono::microseconds(50);
  // Signals are for the threads that the program started.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int thread = 1; thread < count; ++thread)
      helpers.emplace_back([this, thread] { help(thread); });
  } catch (const std::system_error&) {  // fewer, then
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Threads::Team::~Team() {
  ending = true;
  gate += open << 1;
  wake(gate, most);
  for (auto& helper : helpers) helper.join();
}

void Threads::Team::do_tasks(int thread) {
  in_task = true;
  const int threads = int(shares.size());
  for (int k = 0; k < threads; ++k) {
    const int owner = (thread + k) % threads;
    const std::int64_t end = share_begin(owner + 1);
    auto& next = shares[std::size_t(owner)].next;
    if (next.load(std::memory_order_relaxed) >= end) continue;
    for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < end;) try {
        work(what, task, thread);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (error && error_task < task) continue;
        error_task = task;
        error = std::current_exception();
      }
  }
  in_task = false;
}

void Threads::Team::help(int thread) {
  std::uint32_t last = 0, seen = 0;
  const auto called = [&] {
    seen = gate.load();
    return ((seen & open) != 0 && (seen & run_number) != last) || ending;
  };
  for (;;) {
    if (!watch(patience, called)) {
      ++asleep;
      while (!called()) sleep_while(gate, seen);
      --asleep;
    }
    if (ending) return;
    if (!gate.compare_exchange_strong(seen, seen + 1)) continue;
    last = seen & run_number;
    do_tasks(thread);
    const std::uint32_t left = gate.fetch_sub(1) - 1;
    if ((left & (open | inside)) == 0 && caller_asleep.exchange(0) != 0) wake(caller_asleep, 1);
  }
}

void Threads::Team::lead(std::int64_t how_many, Work the_work, const void* its_what) {
  work = the_work, what = its_what, tasks = how_many;
  for (int k = 0; k < int(shares.size()); ++k)
    shares[std::size_t(k)].next.store(share_begin(k), std::memory_order_relaxed);
  gate = ((gate & run_number) + (open << 1)) | open;
  if (asleep != 0) wake(gate, int(std::min<std::int64_t>(how_many - 1, most)));
  do_tasks(0);
  gate &= ~open;
  const auto alone = [&] { return (gate & inside) == 0; };
  if (!watch(patience, alone)) {
    while (!alone()) {
      caller_asleep = 1;
      if (!alone()) sleep_while(caller_asleep, 1);
    }
    caller_asleep = 0;
  }
}

Threads::Threads(int count) : count_(count) {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
}

Threads::~Threads() {
  if (team_ && team_->made_after != forks) (void)team_.release();  // the parent's
}

void Threads::run(std::int64_t tasks, Work work, const void* what) {
  if (count_ == 1 || tasks < 2 || in_task || in_use_.exchange(true)) {
    for (std::int64_t task = 0; task < tasks; ++task) work(what, task, 0);
    return;
  }
  std::exception_ptr error;
  try {
    if (team_ && team_->made_after != forks) (void)team_.release();
    if (!team_) team_ = std::make_unique<Team>(count_);
    team_->lead(tasks, work, what);
    error = std::exchange(team_->error, nullptr);
  } catch (...) {  // no memory for a team
    error = std::current_exception();
  }
  in_use_ = false;
  if (error) std::rethrow_exception(error);
}

}  // namespace perrin
