#include "io/writer.h"

#include <utility>

#include "io/hdf5.h"

namespace perrin::io {
namespace {

/// What an item takes beside what it holds: its place in the queue, two functions that are kept on
/// the heap, and the heap's own words. For rows of a table that is as much as the row.
constexpr std::size_t item_bytes = 256;

}  // namespace

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Writer::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      item.work();
    } catch (...) {
      error = std::current_exception();
    }
    item.work = nullptr;  // frees what it holds before the bytes are given back
    lock.lock();
    busy_ = false;
    queued_bytes_ -= item.bytes;
    if (error && !error_) error_ = error;
    changed_.notify_all();
  }
}

void Writer::rethrow(std::unique_lock<std::mutex>& lock) {
  if (!error_) return;
  const std::exception_ptr error = std::exchange(error_, nullptr);
  lock.unlock();
  std::rethrow_exception(error);
}

void Writer::push(Work work, std::size_t bytes) {
  bytes += item_bytes;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return queued_bytes_ == 0 || (queued_bytes_ + bytes <= limit && queue_.size() < most);
  });
  rethrow(lock);
  queue_.push_back({std::move(work), bytes});
  queued_bytes_ += bytes;
  changed_.notify_all();
}

void Writer::call(const Work& work) {
  // Its own outcome, beside the one that push() reports: an unrelated file's trouble is not this
  // caller's.
  std::exception_ptr error;
  bool done = false;
  std::unique_lock lock(mutex_);
  queue_.push_back({[&] {
                      try {
                        work();
                      } catch (...) {
                        error = std::current_exception();
                      }
                      const std::lock_guard inner(mutex_);
                      done = true;
                    },
                    0});
  changed_.notify_all();
  changed_.wait(lock, [&] { return done && !busy_; });
  lock.unlock();
  if (error) std::rethrow_exception(error);
}

void Writer::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
  rethrow(lock);
}

void Writer::flush_and_wait() {
  wait();
  check_output_files();
}

Writer& writer() {
  // On this thread too: HDF5 keeps a state of errors per thread, and at exit complains on this one
  // about a file that a full disk has left half closed.
  static const bool silent = (silence_hdf5(), true);
  (void)silent;
  static Writer it;
  return it;
}

}  // namespace perrin::io
