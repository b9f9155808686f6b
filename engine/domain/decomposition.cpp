#include "engine/domain/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "engine/base/error.h"
#include "engine/communicator/communicator.h"
#include "engine/device/launch.h"
#include "engine/domain/load_balancer.h"
#include "engine/domain/peers.h"
#ifdef __CUDACC__
#include "engine/domain/exchange_kernels.cuh"
#include "engine/domain/host_relay.h"
#include "engine/domain/migration_kernels.cuh"
#endif

namespace perrin {

namespace {

/// Arrays in inboxes begin on such boundaries.
std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Where the shares of the processes begin and end; those beyond `active` have nothing.
std::vector<int> equal_cuts(int processes, int active) {
  std::vector<int> cuts;
  for (int p = 0; p <= processes; ++p) cuts.push_back(sum_chunks * std::min(p, active) / active);
  return cuts;
}

}  // namespace

#ifdef __CUDACC__

/// What the kernels of this process see of the others' memory.
struct Decomposition::Peers {
  detail::PeerView view{};
  void* memory = nullptr;  // mailboxes, then two inboxes
  detail::PeerCounters* counters = nullptr;
  std::vector<void*> opened;
  void* parcels = nullptr;  // of the host
  std::unique_ptr<HostRelay> relay;
  cudaStream_t stream = nullptr;
  int blocks = 1, most_portions = sum_chunks;  // of a share
  bool may_overlap = false;

  ~Peers() {
    // What the last kernels send is still carried, unless this is how a failure ends.
    if (relay && std::uncaught_exceptions() == 0) cudaStreamSynchronize(stream);
    relay.reset();
    for (void* peer : opened) cudaIpcCloseMemHandle(peer);
    cudaFree(memory);
    cudaFree(counters);
    cudaFreeHost(parcels);
  }
};

namespace {

constexpr std::size_t bytes_of_particle = 32 + sizeof(Real4);  // of an exchange that takes most

std::size_t inbox_bytes(std::int64_t n) {
  return padded(std::size_t(n) * bytes_of_particle + (1 << 16));
}

/// For a share, with indices; for counts of cells (has_room_for_cells()); and for all atoms of a
/// checkerboard, which may be in a few of its domains.
std::size_t parcel_bytes(std::int64_t n, std::int64_t share) {
  return padded(std::size_t(share) * (bytes_of_particle + 4) + std::size_t(n) * 20 + (1 << 17));
}

/// Does the GPU run kernels of several processes at the same time (MPS)?
bool runs_beside_others() {
  int index = 0, shared = 0;
  check_cuda(cudaGetDevice(&index), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMpsEnabled, index), "asking for MPS");
  return shared != 0;
}

/// What a process tells the others of its GPU.
struct Offer {
  std::string host, bus;
  bool open = false;  // may others of the host see its memory?
  cudaIpcMemHandle_t memory{};
};

/// [process]
std::vector<Offer> exchange_offers(Communicator& processes, void* memory) {
  int index = 0;
  char bus[32] = {};
  check_cuda(cudaGetDevice(&index), "asking for the device");
  check_cuda(cudaDeviceGetPCIBusId(bus, sizeof bus, index), "asking where the device is");
  cudaIpcMemHandle_t handle{};
  const bool open = !std::getenv("PERRIN_TEST_FAR") &&  // for tests: no peer access
                    cudaIpcGetMemHandle(&handle, memory) == cudaSuccess;
  cudaGetLastError();  // it is what was asked for
  const auto hosts = processes.all_gather(Communicator::host_identity());
  const auto buses = processes.all_gather(std::string(bus));
  const auto handles = processes.all_gather(
      open ? std::string(reinterpret_cast<const char*>(&handle), sizeof handle) : std::string());
  std::vector<Offer> all;
  for (std::size_t p = 0; p < hosts.size(); ++p) {
    all.push_back({hosts[p], buses[p], !handles[p].empty(), {}});
    std::memcpy(&all[p].memory, handles[p].data(), handles[p].size());
  }
  return all;
}

}  // namespace

Decomposition::Decomposition(const Device& device, std::int64_t n, int active,
                             Communicator& communicator)
    : device_(device),
      communicator_(&communicator),
      active_(active),
      first_chunks_(equal_cuts(count(), active)) {
  const int all = count();
  if (!device_.is_cuda()) return;
  if (all > most)
    throw UserError(fmt::format("{} processes with GPUs, at most {} are supported", all, most));
  peers_ = std::make_unique<Peers>();
  Peers& mine = *peers_;
  const std::size_t inbox = inbox_bytes(n);
  mine.stream = device_.queue().stream();
  mine.memory = device_.memory().allocate(detail::mailbox_bytes + 2 * inbox);
  mine.counters =
      static_cast<detail::PeerCounters*>(device_.memory().allocate(sizeof(detail::PeerCounters)));
  device_.memory().zero(mine.memory, detail::mailbox_bytes);
  device_.memory().zero(mine.counters, sizeof(detail::PeerCounters));
  device_.synchronize();
  mine.view.rank = own();
  mine.view.count = all;
  mine.view.inbox_bytes = inbox;
  mine.view.counters = mine.counters;
  std::copy(first_chunks_.begin(), first_chunks_.end(), mine.view.portion);
  const std::vector<Offer> offers = exchange_offers(*communicator_, mine.memory);
  const Offer& ours = offers[std::size_t(own())];
  std::string seen(std::size_t(all), 'n');
  for (int p = 0; p < all; ++p) {
    const Offer& theirs = offers[std::size_t(p)];
    void* memory = mine.memory;
    if (p != own()) {
      if (theirs.host != ours.host || !theirs.open) continue;
      if (cudaIpcOpenMemHandle(&memory, theirs.memory, cudaIpcMemLazyEnablePeerAccess) !=
          cudaSuccess) {
        cudaGetLastError();
        continue;
      }
      mine.opened.push_back(memory);
    }
    mine.view.memory[p] = static_cast<unsigned char*>(memory);
    seen[std::size_t(p)] = 'y';
  }
  // Both or neither.
  const std::vector<std::string> seen_by = communicator_->all_gather(seen);
  for (int p = 0; p < all; ++p)
    if (seen_by[std::size_t(p)][std::size_t(own())] != 'y') mine.view.memory[p] = nullptr;
  begin_relay(n);
  // Blocks that wait, and those of kernels behind them that have come in early, must leave room for
  // those of other processes that work on the same GPU, perhaps on the same part of it (MPS).
  const auto here = std::ranges::count_if(offers, [&](const Offer& theirs) {
    return theirs.host == ours.host && theirs.bus == ours.bus;
  });
  const int blocks = std::min(detail::exchange_blocks, device_.multiprocessors() / int(here));
  mine.blocks = int(communicator_->min(std::max(blocks, 1)));
  mine.may_overlap =
      communicator_->min(far() == 0 && (here == 1 || !runs_beside_others()) ? 1 : 0) == 1;
  communicator_->barrier();
}

/// Where memory is not seen.
void Decomposition::begin_relay(std::int64_t n) {
  Peers& mine = *peers_;
  std::vector<int> far;
  std::fill(std::begin(mine.view.far_number), std::end(mine.view.far_number), std::int8_t(-1));
  for (int p = 0; p < count(); ++p) {
    if (mine.view.memory[p]) continue;
    mine.view.far_number[p] = std::int8_t(far.size());
    mine.view.far_process[far.size()] = std::int8_t(p);
    far.push_back(p);
  }
  mine.view.far_count = int(far.size());
  if (communicator_->max(std::int64_t(far.size())) == 0) return;
  mine.most_portions = std::min(sum_chunks, 2 * sum_chunks / active_ + 2);  // cuts move
  auto post = communicator_->post(4 * int(far.size()));
  if (!post)
    throw UserError(
        "GPUs without peer access, such as those of several hosts, need an MPI with "
        "MPI_THREAD_MULTIPLE, which this one does not support");
  if (far.empty()) return;
  const std::int64_t largest = n * mine.most_portions / sum_chunks + 1;
  const std::size_t bytes = parcel_bytes(n, largest), all = 4 * far.size() * bytes;
  if (bytes > Post::largest)
    throw UserError(
        fmt::format("{} particles, up to {} on a GPU: too many for GPUs without peer access, since "
                    "a message has at most {} bytes",
                    n, largest, Post::largest));
  check_cuda(cudaHostAlloc(&mine.parcels, all, cudaHostAllocPortable | cudaHostAllocMapped),
             fmt::format("memory of the host for what GPUs send, {} MiB", all >> 20).c_str());
  std::memset(mine.parcels, 0, all);
  mine.view.parcels = static_cast<unsigned char*>(mine.parcels);
  mine.view.parcel_bytes = bytes;
  mine.relay =
      std::make_unique<HostRelay>(std::move(post), std::move(far), mine.view.parcels, bytes);
}

int Decomposition::far() const { return peers_ ? peers_->view.far_count : 0; }

void Decomposition::begin_work() {
  if (peers_) device_.memory().zero(&peers_->counters->left, sizeof peers_->counters->left);
}

/// By a GPU since the last time.
double Decomposition::seconds_worked() {
  if (!peers_) return 0;
  std::uint64_t nanoseconds = 0;
  device_.memory().copy_out(&nanoseconds, &peers_->counters->worked, sizeof nanoseconds);
  device_.memory().zero(&peers_->counters->worked, sizeof nanoseconds);
  return 1e-9 * double(nanoseconds);
}

/// Parcels are made for shares of a certain size.
bool Decomposition::has_room_for(const std::vector<int>& cuts) const {
  bool fits = true;
  for (std::size_t p = 0; peers_ && p + 1 < cuts.size(); ++p)
    fits = fits && cuts[p + 1] - cuts[p] <= peers_->most_portions;
  return fits;
}

std::string devices_reached_by(int index) {
  std::string reached;
  for (int other = 0; other < cuda_device_count(); ++other) {
    int can = 0;
    if (other == index || cudaDeviceCanAccessPeer(&can, index, other) != cudaSuccess || !can)
      continue;
    reached += fmt::format("{}cuda:{}", reached.empty() ? "" : ", ", other);
  }
  return reached;
}

namespace {

detail::PeerExchange exchange_of(const Device& device, const Votes& votes, const HaloPlan* ghosts) {
  detail::PeerExchange e{};
  if (ghosts) e.ghosts = *ghosts;
  e.halt = device.halt().word();
  e.condition = votes.condition;
  e.progress = votes.progress;
  e.step = votes.step;
  e.warning = votes.warning, e.warned = votes.warned;
  return e;
}

}  // namespace

/// A kernel whose blocks wait for those of another device: they must all be running.
unsigned Decomposition::blocks_for(const detail::PeerExchange& e) const {
  std::size_t most_sent = 0;
  for (int k = 0; k < e.arrays; ++k)
    most_sent += std::size_t(e.array[k].n) * e.array[k].bytes / std::size_t(count());
  if (e.ghosts.send) most_sent /= 4;  // about
  return unsigned(std::clamp<std::int64_t>(std::int64_t(most_sent / 4096), 1, peers_->blocks));
}

bool Decomposition::may_overlap() const { return peers_ && peers_->may_overlap; }
bool Decomposition::overlaps() const { return peers_ && device_.queue().last_is(this); }

void Decomposition::exchange_overlapped(std::span<const SharedArray> arrays, const Votes& votes,
                                        const HaloPlan& ghosts, const Overlap& beside) {
  constexpr unsigned enough = 32;  // with more the next kernel has less room
  detail::PeerExchange e = exchange_of(device_, votes, &ghosts);
  std::size_t at = 0;
  for (const SharedArray& array : arrays) {
    e.array[e.arrays++] = {static_cast<unsigned char*>(array.data), std::uint32_t(array.bytes),
                           array.n, at};
    at += padded(array.bytes * std::size_t(array.n));
  }
  PERRIN_ASSERT(at <= peers_->view.inbox_bytes && far() == 0);
  launch_early(device_, "exchange between processes", dim3(std::min(blocks_for(e), enough)),
               dim3(detail::exchange_threads), 0, detail::exchange_overlapped_kernel, peers_->view,
               e, beside);
  device_.queue().note_last(this);
}

void Decomposition::exchange_on_gpu(std::span<const SharedArray> arrays, const Votes& votes,
                                    const HaloPlan* ghosts, const std::uint32_t* order) {
  detail::PeerExchange e = exchange_of(device_, votes, ghosts);
  e.order = order;
  const auto kernel =
      ghosts ? (far() > 0 ? detail::exchange_ghosts_kernel<true>
                          : detail::exchange_ghosts_kernel<false>)
             : (far() > 0 ? detail::exchange_kernel<true> : detail::exchange_kernel<false>);
  std::size_t at = 0;
  const auto start = [&] {
    launch_early(device_, "exchange between processes", dim3(blocks_for(e)),
                 dim3(detail::exchange_threads), 0, kernel, peers_->view, e);
    e.arrays = 0, at = 0;
  };
  for (const SharedArray& array : arrays) {
    const std::size_t bytes = padded(array.bytes * std::size_t(array.n));
    if (bytes > peers_->view.inbox_bytes)
      throw BugError("an array that processes exchange does not fit their inboxes");
    if (at + bytes > peers_->view.inbox_bytes || e.arrays == detail::PeerExchange::most) {
      // The votes go with the last part, when everything has come.
      const detail::PeerExchange last = e;
      e.condition = {};
      e.progress = nullptr, e.warning = e.warned = nullptr;
      start();
      e.condition = last.condition, e.progress = last.progress;
      e.warning = last.warning, e.warned = last.warned;
    }
    e.array[e.arrays++] = {static_cast<unsigned char*>(array.data), std::uint32_t(array.bytes),
                           array.n, at};
    at += bytes;
  }
  start();
}

bool Decomposition::has_room_for_cells(std::int64_t cells, std::int64_t n) const {
  const std::size_t room = peers_->view.inbox_bytes - detail::header_bytes;
  const std::size_t of_parcel = far() > 0 ? peers_->view.parcel_bytes - sizeof(Parcel) : room;
  return std::size_t(cells + n + 64) * sizeof(std::uint32_t) < std::min(room, of_parcel);
}

void Decomposition::add_up(const CellCounts& counts) {
  if (device_.halt().skipping()) return;
  PERRIN_ASSERT(has_room_for_cells(counts.cells, counts.n));
  launch_early(device_, "counts of all processes", dim3(unsigned(peers_->blocks)),
               dim3(detail::exchange_threads), 0,
               far() > 0 ? detail::add_counts_kernel<true> : detail::add_counts_kernel<false>,
               peers_->view, counts, device_.halt().word());
}

void Decomposition::migrate(std::span<const SharedArray> arrays, int of_ghosts,
                            const MigrationPlan& migrating, ReceiveBuffer* arrivals) {
  if (device_.halt().skipping()) return;
  PERRIN_ASSERT(arrays.size() <= std::size_t(ReceiveBuffer::arrays));
  detail::PeerMigration t{};
  const auto at = places_in_inbox(arrays);
  for (const SharedArray& array : arrays) {
    t.array[t.arrays] = {static_cast<unsigned char*>(array.data), std::uint32_t(array.bytes),
                         array.n, at[std::size_t(t.arrays)]};
    ++t.arrays;
  }
  t.of_ghosts = of_ghosts;
  t.migrating = migrating;
  t.arrivals = arrivals;
  launch_early(device_, "particles that change processes", dim3(unsigned(peers_->blocks)),
               dim3(detail::exchange_threads), 0,
               far() > 0 ? detail::migration_kernel<true> : detail::migration_kernel<false>,
               peers_->view, t, device_.halt().word());
}

#else

bool Decomposition::has_room_for_cells(std::int64_t, std::int64_t) const { return false; }
int Decomposition::far() const { return 0; }
bool Decomposition::may_overlap() const { return false; }
bool Decomposition::overlaps() const { return false; }
void Decomposition::exchange_overlapped(std::span<const SharedArray>, const Votes&, const HaloPlan&,
                                        const Overlap&) {}
void Decomposition::begin_work() {}
double Decomposition::seconds_worked() { return 0; }
bool Decomposition::has_room_for(const std::vector<int>&) const { return true; }
void Decomposition::add_up(const CellCounts&) {}
void Decomposition::migrate(std::span<const SharedArray>, int, const MigrationPlan&,
                            ReceiveBuffer*) {}

struct Decomposition::Peers {};

std::string devices_reached_by(int) { return {}; }

Decomposition::Decomposition(const Device& device, std::int64_t, int active,
                             Communicator& communicator)
    : device_(device),
      communicator_(&communicator),
      active_(active),
      first_chunks_(equal_cuts(count(), active)) {}

void Decomposition::exchange_on_gpu(std::span<const SharedArray>, const Votes&, const HaloPlan*,
                                    const std::uint32_t*) {}

#endif

int active_processes(const Device& device, std::int64_t n) {
  // From where two are faster than one (docs/measurements/many-gpus.md).
  constexpr std::int64_t on_gpu = 75'000, on_cpu = 128;
  const std::int64_t given = device.role().least_share;
  const std::int64_t least = given > 0 ? given : device.is_cuda() ? on_gpu : on_cpu;
  return int(std::clamp<std::int64_t>(n / least, 1, Communicator::world().count()));
}

namespace {

/// A handle with its own halt flag, of the first `active` processes.
Device distributed(const Device& device, std::int64_t n, int active, Communicator& communicator) {
  const Device own = device.apart();
  DeviceRole role = own.role();
  role.decomposition = std::make_shared<Decomposition>(own, n, active, communicator);
  return own.with(std::move(role));
}

}  // namespace

Device distributed(const Device& device, std::int64_t n) {
  const int count = active_processes(device, n);
  return count == 1 ? device.apart() : distributed(device, n, count, Communicator::world());
}

Device distributed(const Device& device, std::int64_t n, Communicator& communicator) {
  return distributed(device, n, communicator.count(), communicator);
}

Decomposition& decomposition_of(const Device& device) {
  static Decomposition trivial;
  return device.role().decomposition ? *device.role().decomposition : trivial;
}

Decomposition::Decomposition() : first_chunks_(equal_cuts(1, 1)) {}
Decomposition::~Decomposition() = default;

int Decomposition::count() const { return several() ? communicator_->count() : 1; }
int Decomposition::own() const { return several() ? communicator_->rank() : 0; }

void Decomposition::exchange(std::span<const SharedArray> arrays, const Votes& votes,
                             const HaloPlan* ghosts) {
  if (!several() || device_.halt().skipping()) return;
  if (device_.is_cuda())
    exchange_on_gpu(arrays, votes, ghosts, nullptr);
  else
    exchange_on_cpu(arrays, votes, ghosts);
}

void Decomposition::migrate(std::span<const SharedArray> arrays, const std::uint32_t* order) {
  if (several() && !device_.halt().skipping()) exchange_on_gpu(arrays, {}, nullptr, order);
}

std::array<std::size_t, 4> Decomposition::places_in_inbox(std::span<const SharedArray> arrays) {
  std::array<std::size_t, 4> at{};
  std::size_t next = 0;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    at[k] = next;
    next += padded(arrays[k].bytes * std::size_t(arrays[k].n));
  }
  return at;
}

void Decomposition::swap(const Pieces& out, Pieces& in) const {
  for (int p = 0; p < count(); ++p)
    if (auto& piece = in[std::size_t(p)]; p != own() && !piece.empty())
      communicator_->receive(p, piece.data(), piece.size());
  for (int p = 0; p < count(); ++p)
    if (const auto& piece = out[std::size_t(p)]; p != own() && !piece.empty())
      communicator_->send(p, piece.data(), piece.size());
  if (several()) communicator_->wait();
}

void Decomposition::swap_any(const Pieces& out, Pieces& in) const {
  const auto size = std::size_t(count());
  std::vector<std::uint64_t> given(size), coming(size);
  for (int p = 0; p < count(); ++p) {
    if (p == own()) continue;
    given[std::size_t(p)] = out[std::size_t(p)].size();
    communicator_->receive(p, &coming[std::size_t(p)], sizeof coming[0]);
  }
  for (int p = 0; p < count(); ++p)
    if (p != own()) communicator_->send(p, &given[std::size_t(p)], sizeof given[0]);
  if (several()) communicator_->wait();
  in.resize(size);
  for (std::size_t p = 0; p < size; ++p) in[p].resize(coming[p]);
  swap(out, in);
}

/// Every process's elements one after another, array by array.
void Decomposition::exchange_ghosts_on_cpu(std::span<const SharedArray> arrays,
                                           const HaloPlan& ghosts) {
  struct alignas(16) Word {
    std::uint32_t of[4];
  };
  std::size_t bytes = 0;
  for (const SharedArray& array : arrays) {
    PERRIN_ASSERT(array.bytes % sizeof(Word) == 0);
    bytes += array.bytes;
  }
  // copy(element, in the piece) for every word.
  const auto for_each_word = [&](int p, bool sent, std::vector<unsigned char>& piece,
                                 const auto& copy) {
    const std::uint32_t* const index = (sent ? ghosts.send : ghosts.receive) + p * ghosts.room;
    const std::uint32_t n = (sent ? ghosts.send_count : ghosts.receive_count)[p];
    unsigned char* at = piece.data();
    for (const SharedArray& array : arrays) {
      auto* const data = static_cast<unsigned char*>(array.data);
      for (std::uint32_t k = 0; k < n; ++k)
        for (std::size_t b = 0; b < array.bytes; b += sizeof(Word), at += sizeof(Word))
          copy(data + std::size_t(index[k]) * array.bytes + b, at);
    }
  };
  const auto size = std::size_t(count());
  out_.resize(size), in_.resize(size);
  for (int p = 0; p < count(); ++p) {
    out_[std::size_t(p)].resize(ghosts.send_count[p] * bytes);
    in_[std::size_t(p)].resize(ghosts.receive_count[p] * bytes);
    for_each_word(p, true, out_[std::size_t(p)],
                  [](const unsigned char* element, unsigned char* at) {
                    std::memcpy(at, element, sizeof(Word));
                  });
  }
  swap(out_, in_);
  for (int p = 0; p < count(); ++p)
    for_each_word(p, false, in_[std::size_t(p)],
                  [](unsigned char* element, const unsigned char* at) {
                    std::memcpy(element, at, sizeof(Word));
                  });
}

void Decomposition::exchange_on_cpu(std::span<const SharedArray> arrays, const Votes& votes,
                                    const HaloPlan* ghosts) {
  if (ghosts) exchange_ghosts_on_cpu(arrays, *ghosts);
  for (const SharedArray& array : arrays) {
    if (ghosts) break;
    std::vector<std::size_t> offsets;
    for (int p = 0; p < count(); ++p)
      offsets.push_back(std::size_t(share(array.n, p).begin) * array.bytes);
    offsets.push_back(std::size_t(array.n) * array.bytes);
    communicator_->all_gather(array.data, offsets);
  }
  if (votes.progress) *votes.progress = votes.step;
  if (votes.condition.flag && any(*votes.condition.flag != 0)) *votes.condition.flag = 1;
}

void Decomposition::watch_balance(bool moves) {
  if (several()) balance_ = std::make_unique<LoadBalancer>(moves);
}

bool Decomposition::plan_rebalancing() {
  planned_ = first_chunks_;
  if (!balance_) return false;
  balance_->add_work(seconds_worked());
  planned_ = balance_->look(first_chunks_, active_);
  if (!has_room_for(planned_)) planned_ = first_chunks_;
  return planned_ != first_chunks_;
}

void Decomposition::rebalance() {
  first_chunks_ = planned_;
#ifdef __CUDACC__
  if (peers_) std::copy(first_chunks_.begin(), first_chunks_.end(), peers_->view.portion);
#endif
}

bool Decomposition::any(bool mine) const { return largest(mine ? 1 : 0) != 0; }

std::uint32_t Decomposition::largest(std::uint32_t mine) const {
  return several() ? std::uint32_t(communicator_->max(std::int64_t(mine))) : mine;
}

void Decomposition::sum(std::span<std::int64_t> values) const {
  if (several()) communicator_->sum(values);
}

bool Decomposition::take_bytes(bool has, void* value, std::size_t bytes) const {
  if (!several()) return has;
  const std::int64_t root = communicator_->min(has ? own() : count());
  if (root == count()) return false;
  communicator_->broadcast(value, bytes, int(root));
  return true;
}

}  // namespace perrin
