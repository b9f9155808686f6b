// Domain decomposition: the processes that run one simulation together, each on its share.
//
// Particles have one order, by (cell, id), and a place in memory means the same in every process,
// whether it knows who is there or not. A process takes care of a contiguous part of it: it moves
// those particles and computes what acts on them, and is sent what it needs of the others. Every
// number is computed by one process in the way in which a single one would compute it, so that the
// bits of a run do not depend on how many there are. What is sent goes by MPI between CPUs; between
// GPUs straight into the other's memory, by kernels, where they see it, and else by a thread of the
// host that carries it (engine/domain/host_relay.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/condition.h"
#include "engine/device/device.h"
#include "engine/device/share.h"

namespace perrin {

class LoadBalancer;
class Communicator;

/// A distributed array: `n` elements of a number of bytes (a multiple of four), in shares.
struct SharedArray {
  void* data;
  std::size_t bytes;
  std::int64_t n;
};

/// Which elements go to and come from each process p, in memory of the device: send_count[p]
/// indices at send[p · room], receive_count[p] at receive[p · room]. Elements are of a multiple of
/// sixteen bytes.
struct HaloPlan {
  const std::uint32_t *send, *receive;
  const std::uint32_t *send_count, *receive_count;
  std::int64_t room;
};

/// Elements that are counted in cells: every process has counted its own, and wants to know how
/// many there are of all. Device memory.
struct CellCounts {
  std::uint32_t* count;  // [cell]
  std::int64_t cells;
  const std::uint32_t* first_cell;  // [process]: its elements are in cells from here on …
  const std::uint32_t* stray;       // … but for these: their cells, …
  const std::uint32_t* strays;      // … and their number
  std::int64_t n;                   // elements of all processes
  std::uint32_t* progress;          // as in Votes
  std::uint32_t step;
};

/// Particles to send at a rebuild: those that migrate, with all arrays, and ghosts, with the first
/// `of_ghosts` arrays. Process p gets the migrants list[p · room + k] and the ghosts
/// list[(p + 1) · room - 1 - k]. Device memory.
struct MigrationPlan {
  const std::uint32_t* list;
  const std::uint32_t *migrants, *ghosts;  // [process]: how many
  std::int64_t room;                       // all of a process's own elements
};

struct ReceiveBuffer;
namespace detail {
struct PeerExchange;
}

/// What is agreed upon beside an exchange.
struct Votes {
  /// Raised everywhere if its flag is set anywhere, unless a device is halted.
  Condition condition{};
  std::uint32_t* progress = nullptr;  // receives `step` unless the device was halted before
  std::uint32_t step = 0;
  // Words in device memory: `warned` receives whether `warning` is set anywhere, likewise.
  std::uint32_t *warning = nullptr, *warned = nullptr;
};

/// Decomposition::exchange_overlapped(). Words in device memory.
struct Overlap {
  /// Not 0: everything that is exchanged is known. What is agreed upon is then whether a device is
  /// halted: if not, the condition's flag and the warning are cleared, and `builds` is one more.
  const std::uint32_t* built;
  std::int64_t* builds;
  Condition next;  // raised if the warning is set anywhere
  /// The device is halted with this where the condition's flag is set anywhere: it should not be.
  std::uint32_t halt;
};

/// How many of the processes n particles are distributed over: 1 to all. Where
/// DeviceRole::least_share says nothing, so many that each is worth it.
int active_processes(const Device& device, std::int64_t n);
/// Returns a handle with its own halt flag that also joins the domain decomposition, if there are
/// several processes and n particles are worth distributing. Collective.
Device distributed(const Device& device, std::int64_t n);
/// The same of these processes, all of which are given particles.
Device distributed(const Device& device, std::int64_t n, Communicator& communicator);

/// That of a device: the trivial one where there is no other.
Decomposition& decomposition_of(const Device& device);

/// The domain decomposition of one simulation, as one of its processes sees it.
class Decomposition {
 public:
  static constexpr int most = 64;  // processes with GPUs

  /// The trivial one: one process has all particles, and calls do nothing.
  Decomposition();
  /// For a simulation of n particles on this device, of which the first `active` processes take
  /// care. Throws UserError where too many GPUs are to work together, or cannot. All processes make
  /// it together.
  Decomposition(const Device& device, std::int64_t n, int active, Communicator& communicator);
  ~Decomposition();
  Decomposition(const Decomposition&) = delete;
  Decomposition& operator=(const Decomposition&) = delete;

  int count() const;
  /// The first of them have particles.
  int active() const { return active_; }
  /// Which of them is that of this process.
  int own() const;
  /// Whether there are others.
  bool several() const { return communicator_ != nullptr; }
  /// Of n elements those of this process, or of process p: whole portions of sum().
  Share share(std::int64_t n) const { return share(n, own()); }
  Share share(std::int64_t n, int p) const {
    return {sum_chunk_begin(n, first_chunks_[std::size_t(p)]),
            sum_chunk_begin(n, first_chunks_[std::size_t(p) + 1])};
  }

  /// Device work of all processes: afterwards each has the elements of all. A device that is halted
  /// halts the others; what is sent then means nothing. `ghosts`: only these elements are sent.
  void exchange(std::span<const SharedArray> arrays, const Votes& votes = {},
                const HaloPlan* ghosts = nullptr);
  /// The same of ghosts beside the kernel that is given next, while a step is being recorded. All
  /// other kernels wait for it at their beginning (await_all_before()); one that asks for
  /// overlaps() before it is launched finds all that was before the exchange done when it begins,
  /// waits before it looks at ghosts, and does not end before the exchange does.
  void exchange_overlapped(std::span<const SharedArray> arrays, const Votes& votes,
                           const HaloPlan& ghosts, const Overlap& beside);
  bool overlaps() const;
  /// May blocks of a kernel wait for an exchange? Not where another process's work needs their room
  /// on the same GPU at the same time (MPS), nor if a process is far().
  bool may_overlap() const;
  /// After elements have been put into another order (the one at i was at order[i], in device
  /// memory): those that have come into another process's share go there. GPUs.
  void migrate(std::span<const SharedArray> arrays, const std::uint32_t* order);
  /// Counts become those of all processes. GPUs; counts must fit (has_room_for_cells()).
  void add_up(const CellCounts& counts);
  bool has_room_for_cells(std::int64_t cells, std::int64_t n) const;
  /// Sends elements to where they are needed; `arrivals`, in device memory, then says what came.
  /// At most ReceiveBuffer::arrays of them. GPUs.
  void migrate(std::span<const SharedArray> arrays, int of_ghosts, const MigrationPlan& migrating,
               ReceiveBuffer* arrivals);
  /// Where the arrays begin in the inbox.
  static std::array<std::size_t, 4> places_in_inbox(std::span<const SharedArray> arrays);
  /// Of the other processes with GPUs, those whose memory this one does not see.
  int far() const;
  void all_gather(void* data, std::size_t bytes, std::int64_t n) {
    const SharedArray array{data, bytes, n};
    exchange({&array, 1});
  }

  // Shares are cut otherwise while running, by how long each process works.
  /// From here on; `moves`: false: it is only measured.
  void watch_balance(bool moves);
  /// nullptr: not watched.
  LoadBalancer* balance() const { return balance_.get(); }
  /// What a GPU did before this counts for nothing. Device work.
  void begin_work();
  /// Shall shares be cut otherwise? All processes call it, and find the same. Waits.
  bool plan_rebalancing();
  /// As planned. Where every process has all of all particles; lists of other shares and recorded
  /// steps are void. All of them call it.
  void rebalance();

  // By the host.
  /// out[p] goes to process p, and what p has for this one comes into in[p]: as many bytes as both
  /// know, perhaps none. All processes call it.
  using Pieces = std::vector<std::vector<unsigned char>>;  // [process]
  void swap(const Pieces& out, Pieces& in) const;
  /// The same where it is told first how many bytes there are; in[p] becomes as long.
  void swap_any(const Pieces& out, Pieces& in) const;
  // Of all for all.
  bool any(bool mine) const;
  std::uint32_t largest(std::uint32_t mine) const;
  /// Of each number by itself, in place.
  void sum(std::span<std::int64_t> values) const;
  /// That of the first process for which `has` is true, if there is one.
  template <class T>
  bool take(bool has, T& value) const {
    return take_bytes(has, &value, sizeof value);
  }

 private:
  bool take_bytes(bool has, void* value, std::size_t bytes) const;
  struct Peers;
  void begin_relay(std::int64_t n);
  double seconds_worked();
  bool has_room_for(const std::vector<int>& cuts) const;
  unsigned blocks_for(const detail::PeerExchange& exchange) const;
  void exchange_on_cpu(std::span<const SharedArray> arrays, const Votes& votes,
                       const HaloPlan* ghosts);
  void exchange_ghosts_on_cpu(std::span<const SharedArray> arrays, const HaloPlan& ghosts);
  void exchange_on_gpu(std::span<const SharedArray> arrays, const Votes& votes,
                       const HaloPlan* ghosts, const std::uint32_t* order);

  Device device_;
  Communicator* communicator_ = nullptr;  // nullptr: one process
  int active_ = 1;
  std::vector<int> first_chunks_;  // where shares begin …
  std::vector<int> planned_;       // … and will
  std::unique_ptr<Peers> peers_;   // of GPUs
  std::unique_ptr<LoadBalancer> balance_;
  Pieces out_, in_;  // of ghosts, on the CPU
};

/// What has come from others: element k of array a is at inbox + at[a] + k · bytes[a]
/// (Decomposition::places_in_inbox()), where migrants from process q are the first migrants[q] of
/// the share of q, and ghosts the last ghosts[q]. It stays there until the exchange after the next.
struct ReceiveBuffer {
  static constexpr int arrays = 4;  // at most
  unsigned char* inbox;
  std::uint32_t migrants[Decomposition::most], ghosts[Decomposition::most];  // [process]
};

}  // namespace perrin
