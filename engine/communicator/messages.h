// What Communicator needs of a message-passing library. engine/communicator/messages_mpi.cpp does
// it with MPI and is the only file that includes mpi.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace perrin {

/// What a thread beside the main one says to other processes, in messages that are never taken for
/// others. It has a number of slots, each for one message at a time. Nothing waits.
class Post {
 public:
  static constexpr std::size_t largest = (std::size_t(1) << 31) - 1;  // bytes of a message

  virtual ~Post() = default;
  virtual void send(int slot, int to, const void* data, std::size_t bytes) = 0;
  /// A message of at most this size (bytes). From one process messages come in the order in which
  /// they were sent, to slots in the order of these calls.
  virtual void receive(int slot, int from, void* data, std::size_t most) = 0;
  /// Whether nothing is under way in this slot; lets messages go on.
  virtual bool done(int slot) = 0;
  /// Gives up what has not come.
  virtual void cancel(int slot) = 0;
};

/// Messages between the processes of a run. Nothing here waits: what is started goes on in done().
/// Called by the main thread only. No message has more than `largest` bytes.
class Messages {
 public:
  static constexpr std::size_t largest = std::size_t(1) << 30;
  /// Requests of one kind are waited for together.
  enum class Kind { pair, collective, alarm };

  virtual ~Messages() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  virtual int host_rank() const = 0;
  virtual int host_count() const = 0;

  /// Between two processes: messages of one kind arrive in the order in which they were sent.
  virtual void send(Kind kind, int to, const void* data, std::size_t bytes) = 0;
  virtual void receive(Kind kind, int from, void* data, std::size_t bytes) = 0;
  /// All processes call these in the same order.
  virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
  /// Bytes offsets[p] … offsets[p + 1] of `data` are of process p; at most `largest` in all.
  virtual void all_gather(void* data, const std::vector<std::size_t>& offsets) = 0;
  enum class Reduction { sum, min, max };
  virtual void reduce(std::int64_t* values, int n, Reduction reduction) = 0;

  /// All processes call it in the same order. nullptr: only one thread may send messages.
  virtual std::unique_ptr<Post> post(int slots) = 0;

  /// Whether all that was started of this kind is done.
  virtual bool done(Kind kind) = 0;
  /// Whether another process has called ring().
  virtual bool rung() = 0;
  virtual void ring() = 0;
  /// Ends the library, in all processes together; nothing else is called after it. Rings where
  /// others do not come soon.
  virtual void finish() = 0;
  /// Ends all processes at once.
  virtual void abort(int status) = 0;
};

#ifdef PERRIN_MPI
std::unique_ptr<Messages> start_mpi();
/// "Open MPI 4.1.4".
std::string mpi_name();
#endif

}  // namespace perrin
