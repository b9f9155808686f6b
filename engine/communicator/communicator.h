// The processes that a launcher (mpirun, srun) started together to work on one job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"

namespace perrin {

class Messages;
class Post;
struct Ending;

/// Another process has failed: this one ends, too, and has nothing to say of it.
struct OtherProcessFailed : RunError {
  OtherProcessFailed() : RunError("another process has failed") {}
};

/// All processes do the same in the same order: what is said to concern all is called by all. Only
/// the main thread calls. A waiting process throws OtherProcessFailed if another one has failed.
class Communicator {
 public:
  /// This program's. Begins MPI where a launcher has started several processes, and otherwise not.
  /// Throws UserError where they cannot reach each other.
  static Communicator& world();
  /// By the launcher's environment: several processes, whether or not they can reach each other.
  static bool started_together();
  /// Processes that speak by these messages, such as threads of a test.
  explicit Communicator(std::shared_ptr<Messages> messages);
  /// If end() has not been called.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int count() const { return count_; }  // 1 without MPI
  bool first() const { return rank_ == 0; }
  bool several() const { return count_ > 1; }
  int host_rank() const { return host_rank_; }    // among those of this host
  int host_count() const { return host_count_; }  // how many those are
  /// How many processes have to get by with the cores that this one may use, this one included.
  int core_sharers() const { return core_sharers_; }
  /// "process 3 (node07)".
  std::string name() const;
  /// Different for every host, and the same for all processes there.
  static std::string host_identity();

  // Concerning all.
  void barrier();
  /// `bytes` at `data` become those of process `root`.
  void broadcast(void* data, std::size_t bytes, int root = 0);
  /// What the first process says: for what is decided by the clock.
  std::int64_t of_first(std::int64_t value);
  double of_first(double value);
  std::string of_first(const std::string& text);
  /// Bytes offsets[p] … offsets[p + 1] of `data` are of process p; afterwards all have all.
  void all_gather(void* data, const std::vector<std::size_t>& offsets);
  /// [p]: what process p gave.
  std::vector<std::string> all_gather(const std::string& mine);
  std::int64_t sum(std::int64_t value);
  /// Of each number by itself, in place.
  void sum(std::span<std::int64_t> values);
  std::int64_t min(std::int64_t value);
  std::int64_t max(std::int64_t value);

  // Between two. Neither waits: wait() does, for all sends and receives since the last one; until
  // then their memory must not be touched. What one process sends another arrives in that order.
  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);
  /// Messages for another thread (engine/communicator/messages.h). All processes call it; nullptr:
  /// this MPI does not allow other threads.
  std::unique_ptr<Post> post(int slots);
  /// Whether there is nothing left to wait for; lets messages go on that are under way.
  bool arrived();
  void wait();

  /// Seconds that this process has spent waiting for others and for what they send, so far.
  double waited() const { return waited_; }

  /// The end of the program, of all processes together: `status` and `message` say how it ended
  /// here, 0 well; `followed`: because of another one. Where several say the same, `print` is
  /// called once, in the first process; else by whoever failed first by number, with its name.
  /// Returns the status of all. A process that does not come within a minute of a failure is ended.
  using Print = std::function<void(const std::string& message)>;
  int end(int status, const std::string& message, bool followed, const Print& print);

  /// Longer messages are sent in pieces of this size (bytes). For tests.
  void set_largest_message(std::size_t bytes) { largest_ = bytes; }

 private:
  Communicator();
  void begin_mpi(int expected);
  void wait_for(int kind);
  // At the end of the program; false: too late. `failed`: it is known that somebody has.
  bool send_text(int to, const std::string& text, bool failed);
  bool receive_text(int from, std::string& text, bool failed);
  bool sent_or_late(bool failed);
  [[noreturn]] void end_at_once(const std::vector<Ending>& endings, int missing,
                                const Print& print);
  template <class F>
  void in_pieces(std::size_t bytes, const F& f) const;
  std::int64_t reduce(std::int64_t value, int reduction);

  std::shared_ptr<Messages> messages_;  // nullptr: one process
  std::size_t largest_;
  // On their way; they outlive a wait that throws.
  std::int64_t small_ = 0;
  std::vector<std::int64_t> numbers_;
  std::uint64_t size_ = 0;
  double waited_ = 0;
  int rank_ = 0, count_ = 1, host_rank_ = 0, host_count_ = 1, core_sharers_ = 1;
};

/// The launcher's words for how many processes it started and which of them this one is; 1 and 0
/// without a launcher.
struct Launched {
  int count = 1, rank = 0;
};
Launched launched();

/// Of Perrin's build: "Open MPI 4.1.4", or that it has no MPI.
std::string mpi_in_build();

}  // namespace perrin
