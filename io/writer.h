// The one thread that owns HDF5, so that writing overlaps computing and no two threads meet in the
// library.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace perrin::io {

class Writer {
 public:
  using Work = std::function<void()>;

  Writer() : thread_([this] { serve(); }) {}
  /// Does what is queued, drops its errors.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Queues work; `bytes` is the memory that it holds. Waits while more than `limit` bytes or
  /// `most` pieces of work are queued: a run that is asked to end does so within seconds, however
  /// many files it has. Throws what earlier queued work has thrown (once), and does then not queue.
  void push(Work work, std::size_t bytes = 0);
  /// Runs work on the thread after all that is queued, and waits for it. Throws what it throws.
  void call(const Work& work);
  template <class F>
  auto get(F&& f) {
    std::optional<decltype(f())> result;
    call([&] { result = f(); });
    return std::move(*result);
  }
  /// Waits for all queued work; throws what it has thrown.
  void wait();
  /// The same, and throws what is wrong with any of the files that are being appended to
  /// (check_output_files() in io/hdf5.h): before a checkpoint, and before good news.
  void flush_and_wait();

  static constexpr std::size_t limit = std::size_t(256) << 20, most = 1024;

 private:
  void serve();
  void rethrow(std::unique_lock<std::mutex>& lock);

  struct Item {
    Work work;
    std::size_t bytes;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  std::size_t queued_bytes_ = 0;
  bool busy_ = false, stop_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all of the above
};

/// The process's writer; HDF5 has one state per process, and so there is one thread for it.
Writer& writer();

}  // namespace perrin::io
