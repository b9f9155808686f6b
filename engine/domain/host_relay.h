// Carries what GPUs send one another that do not see each other's memory: those of several hosts,
// or of one host without peer access.
//
// Kernels write what is to be sent into parcels in pinned memory of the host, and wait there for
// what comes, as they do in each other's memory where they see it (engine/domain/peer_signals.cuh).
// A thread looks for parcels that are complete, sends them as messages, and puts what comes where
// the kernels wait. So steps can be recorded and no host decides anything in them. Neither NCCL nor
// MPI that knows of CUDA does that: their sends are begun by the host, which conditional parts of a
// recorded graph (lists that are built) do not allow.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/real.h"
#include "engine/communicator/messages.h"

namespace perrin {

/// What one process sends another in one exchange; written and read by GPUs and by the relay. The
/// message begins at `sent`.
struct alignas(64) Parcel {
  static constexpr int most_counts = 4;

  std::uint64_t ready;  // the word of the exchange that is complete here: (number << 8 | …)
  std::uint64_t bytes;  // of the message
  std::uint64_t unused[6];
  std::uint64_t sent;  // the word, for the receiver
  std::uint32_t count[most_counts];
  std::uint64_t reserved[5];

  PERRIN_HD unsigned char* payload() { return reinterpret_cast<unsigned char*>(this + 1); }
};
constexpr std::size_t parcel_head = 64;  // of the message, before the payload
static_assert(sizeof(Parcel) - offsetof(Parcel, sent) == parcel_head);

/// Parcels lie one after another: to a process those of even and odd exchanges, then from it; then
/// those of the next process.
class HostRelay {
 public:
  /// For these processes, with parcels of `parcel_bytes` bytes, all zero at first. Begins at once.
  HostRelay(std::unique_ptr<Post> post, std::vector<int> processes, unsigned char* parcels,
            std::size_t parcel_bytes);
  /// Sends what is complete, for a minute at most.
  ~HostRelay();
  HostRelay(const HostRelay&) = delete;
  HostRelay& operator=(const HostRelay&) = delete;

  PERRIN_HD static Parcel* parcel(unsigned char* parcels, std::size_t bytes, int k, bool incoming,
                                  std::uint64_t exchange) {
    return reinterpret_cast<Parcel*>(
        parcels + (std::size_t(4 * k + (incoming ? 2 : 0)) + (exchange & 1)) * bytes);
  }

 private:
  /// The process whose parcels are the k-th.
  struct Correspondent {
    int process, k;
    std::uint64_t next_out = 1, next_in = 1;  // exchanges
  };
  Parcel* parcel(const Correspondent& with, bool incoming, std::uint64_t exchange) const {
    return parcel(parcels_, parcel_bytes_, with.k, incoming, exchange);
  }
  static int slot(const Correspondent& with, bool incoming, std::uint64_t exchange) {
    return 4 * with.k + (incoming ? 2 : 0) + int(exchange & 1);
  }
  void work();
  bool send_complete(Correspondent& to);
  bool deliver(Correspondent& from);
  bool all_sent();
  void expect(const Correspondent& from, std::uint64_t exchange);

  std::unique_ptr<Post> post_;
  std::vector<Correspondent> with_;
  unsigned char* parcels_;
  std::size_t parcel_bytes_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace perrin
