#include "engine/core/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/core/balance.h"
#include "engine/core/error.h"
#include "engine/core/parallel.h"
#include "engine/core/peers.h"
#include "engine/core/processes.h"
#ifdef __CUDACC__
#include "engine/core/team_exchange.cuh"
#include "engine/core/team_travel.cuh"
#endif

namespace perrin {

namespace {

/// Where the shares of the processes begin and end; those beyond `sharers` have nothing.
std::vector<int> equal_cuts(int processes, int sharers) {
  std::vector<int> cuts;
  for (int p = 0; p <= processes; ++p) cuts.push_back(sum_chunks * std::min(p, sharers) / sharers);
  return cuts;
}

}  // namespace

#ifdef __CUDACC__

/// What the kernels of this process see of the others' memory.
struct Team::Peers {
  detail::TeamView view{};
  void* memory = nullptr;  // mailboxes, then two inboxes
  std::uint32_t* counters = nullptr;
  std::vector<void*> opened;
  int blocks = 1;

  ~Peers() {
    for (void* peer : opened) cudaIpcCloseMemHandle(peer);
    cudaFree(memory);
    cudaFree(counters);
  }
};

namespace {

constexpr std::size_t bytes_of_particle = 32 + sizeof(Real4);  // of an exchange that takes most

std::size_t inbox_bytes(std::int64_t n) {
  return (std::size_t(n) * bytes_of_particle + (1 << 16) + 255) / 256 * 256;
}

/// Of the processes, those that use the GPU of this one.
int processes_on_this_gpu(Processes& processes) {
  int index = 0;
  char bus[32] = {};
  check_cuda(cudaGetDevice(&index), "asking for the device");
  check_cuda(cudaDeviceGetPCIBusId(bus, sizeof bus, index), "asking where the device is");
  const auto all = processes.all_gather(std::string(bus));
  return int(std::ranges::count(all, std::string(bus)));
}

}  // namespace

Team::Team(const Device& device, std::int64_t n, int sharers)
    : device_(device),
      processes_(Processes::world()),
      sharers_(sharers),
      portions_(equal_cuts(count(), sharers)) {
  const int all = count();
  if (!device_.is_cuda()) return;
  if (all > most)
    throw UserError(fmt::format("{} processes with GPUs: at most {} work together", all, most));
  if (processes_.host_count() != all)
    throw UserError(
        "the processes are on several hosts: GPUs work together within one host only; CPU "
        "processes (--device cpu) can be anywhere");
  peers_ = std::make_unique<Peers>();
  Peers& mine = *peers_;
  const std::size_t inbox = inbox_bytes(n), bytes = detail::mailbox_bytes + 2 * inbox;
  mine.memory = device_.allocate(bytes);
  mine.counters = static_cast<std::uint32_t*>(device_.allocate(256));
  device_.zero(mine.memory, detail::mailbox_bytes);
  device_.zero(mine.counters, 256);
  device_.synchronize();
  cudaIpcMemHandle_t handle{};
  check_cuda(cudaIpcGetMemHandle(&handle, mine.memory), "offering memory to the other processes");
  const auto handles =
      processes_.all_gather(std::string(reinterpret_cast<const char*>(&handle), sizeof handle));
  mine.view.rank = rank();
  mine.view.count = all;
  mine.view.inbox_bytes = inbox;
  mine.view.counters = mine.counters;
  std::copy(portions_.begin(), portions_.end(), mine.view.portion);
  for (int p = 0; p < all; ++p) {
    void* memory = mine.memory;
    if (p != rank()) {
      std::memcpy(&handle, handles[std::size_t(p)].data(), sizeof handle);
      const cudaError_t status =
          cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess);
      if (status != cudaSuccess)
        throw UserError(fmt::format("the GPU of process {} cannot be reached from here: {}", p,
                                    cudaGetErrorString(status)));
      mine.opened.push_back(memory);
    }
    mine.view.memory[p] = static_cast<unsigned char*>(memory);
  }
  // Blocks that wait must leave room for those of other processes that work on the same GPU.
  const int at_once = 2 * device_.multiprocessors() / processes_on_this_gpu(processes_);
  const int blocks =
      std::min(detail::exchange_blocks, std::min(at_once, device_.multiprocessors()));
  mine.blocks = int(processes_.min(std::max(blocks, 1)));
  processes_.barrier();
}

std::string devices_reached_by(int index) {
  std::string reached;
  for (int other = 0; other < Device::cuda_count(); ++other) {
    int can = 0;
    if (other == index || cudaDeviceCanAccessPeer(&can, index, other) != cudaSuccess || !can)
      continue;
    reached += fmt::format("{}cuda:{}", reached.empty() ? "" : ", ", other);
  }
  return reached;
}

void Team::exchange_on_gpu(std::span<const SharedArray> arrays, const Agreement& agreement,
                           const Ghosts* ghosts, const std::uint32_t* order) {
  detail::TeamExchange e{};
  e.order = order;
  if (ghosts) e.ghosts = *ghosts;
  e.halt = device_.halt_word();
  e.condition = agreement.condition;
  e.progress = agreement.progress;
  e.step = agreement.step;
  std::size_t at = 0;
  const auto start = [&] {
    std::size_t most_sent = 0;
    for (int k = 0; k < e.arrays; ++k)
      most_sent += std::size_t(e.array[k].n) * e.array[k].bytes / std::size_t(count());
    if (ghosts) most_sent /= 4;  // about
    // A kernel whose blocks wait for those of another device: they must all be running.
    const auto blocks = std::clamp<std::int64_t>(std::int64_t(most_sent / 4096), 1, peers_->blocks);
    launch_early(device_, "exchange between processes", dim3(unsigned(blocks)),
                 dim3(detail::exchange_threads), 0, detail::exchange_kernel, peers_->view, e);
    e.condition = {};
    e.progress = nullptr;
    e.arrays = 0, at = 0;
  };
  for (const SharedArray& array : arrays) {
    const std::size_t bytes = (array.bytes * std::size_t(array.n) + 255) / 256 * 256;
    if (bytes > peers_->view.inbox_bytes)
      throw BugError("an array that processes exchange does not fit their inboxes");
    if (at + bytes > peers_->view.inbox_bytes || e.arrays == detail::TeamExchange::most) {
      // The agreement goes with the last part, when everything has come.
      const Condition condition = std::exchange(e.condition, {});
      std::uint32_t* const progress = std::exchange(e.progress, nullptr);
      start();
      e.condition = condition, e.progress = progress;
    }
    e.array[e.arrays++] = {static_cast<unsigned char*>(array.data), std::uint32_t(array.bytes),
                           array.n, at};
    at += bytes;
  }
  start();
}

bool Team::has_room_for_cells(std::int64_t cells, std::int64_t n) const {
  return std::size_t(cells + n + 64) * sizeof(std::uint32_t) + detail::header_bytes <
         peers_->view.inbox_bytes;
}

void Team::add_up(const CellCounts& counts) {
  if (device_.skipping()) return;
  PERRIN_ASSERT(has_room_for_cells(counts.cells, counts.n));
  launch_early(device_, "counts of all processes", dim3(unsigned(peers_->blocks)),
               dim3(detail::exchange_threads), 0, detail::add_counts_kernel, peers_->view, counts,
               device_.halt_word());
}

void Team::send(std::span<const SharedArray> arrays, int of_visitors, const Travellers& travellers,
                Arrivals* arrivals) {
  if (device_.skipping()) return;
  PERRIN_ASSERT(arrays.size() <= std::size_t(Arrivals::arrays));
  detail::TeamTravel t{};
  const auto at = places_in_inbox(arrays);
  for (const SharedArray& array : arrays) {
    t.array[t.arrays] = {static_cast<unsigned char*>(array.data), std::uint32_t(array.bytes),
                         array.n, at[std::size_t(t.arrays)]};
    ++t.arrays;
  }
  t.of_visitors = of_visitors;
  t.travellers = travellers;
  t.arrivals = arrivals;
  launch_early(device_, "particles that change processes", dim3(unsigned(peers_->blocks)),
               dim3(detail::exchange_threads), 0, detail::travel_kernel, peers_->view, t,
               device_.halt_word());
}

#else

bool Team::has_room_for_cells(std::int64_t, std::int64_t) const { return false; }
void Team::add_up(const CellCounts&) {}
void Team::send(std::span<const SharedArray>, int, const Travellers&, Arrivals*) {}

struct Team::Peers {};

std::string devices_reached_by(int) { return {}; }

Team::Team(const Device& device, std::int64_t, int sharers)
    : device_(device),
      processes_(Processes::world()),
      sharers_(sharers),
      portions_(equal_cuts(count(), sharers)) {}

void Team::exchange_on_gpu(std::span<const SharedArray>, const Agreement&, const Ghosts*,
                           const std::uint32_t*) {}

#endif

Team::~Team() = default;

int Team::count() const { return processes_.count(); }
int Team::rank() const { return processes_.rank(); }

void Team::exchange(std::span<const SharedArray> arrays, const Agreement& agreement,
                    const Ghosts* ghosts) {
  if (device_.skipping()) return;
  if (device_.is_cuda())
    exchange_on_gpu(arrays, agreement, ghosts, nullptr);
  else
    exchange_on_cpu(arrays, agreement);
}

void Team::hand_over(std::span<const SharedArray> arrays, const std::uint32_t* order) {
  if (!device_.skipping()) exchange_on_gpu(arrays, {}, nullptr, order);
}

std::array<std::size_t, 4> Team::places_in_inbox(std::span<const SharedArray> arrays) {
  std::array<std::size_t, 4> at{};
  std::size_t next = 0;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    at[k] = next;
    next += (arrays[k].bytes * std::size_t(arrays[k].n) + 255) / 256 * 256;
  }
  return at;
}

void Team::exchange_on_cpu(std::span<const SharedArray> arrays, const Agreement& agreement) {
  for (const SharedArray& array : arrays) {
    std::vector<std::size_t> offsets;
    for (int p = 0; p < count(); ++p)
      offsets.push_back(std::size_t(share(array.n, p).begin) * array.bytes);
    offsets.push_back(std::size_t(array.n) * array.bytes);
    processes_.all_gather(array.data, offsets);
  }
  if (agreement.progress) *agreement.progress = agreement.step;
  if (agreement.condition.flag && any(*agreement.condition.flag != 0))
    *agreement.condition.flag = 1;
}

void Team::watch_balance(bool moves) {
  if (!device_.is_cuda()) balance_ = std::make_unique<Balance>(moves);
}

void Team::move_cuts() {
  if (balance_) portions_ = balance_->look(portions_, sharers_);
}

bool Team::any(bool mine) const { return processes_.max(mine ? 1 : 0) != 0; }

std::uint32_t Team::largest(std::uint32_t mine) const {
  return std::uint32_t(processes_.max(std::int64_t(mine)));
}

bool Team::take_bytes(bool has, void* value, std::size_t bytes) const {
  const std::int64_t root = processes_.min(has ? rank() : count());
  if (root == count()) return false;
  processes_.broadcast(value, bytes, int(root));
  return true;
}

}  // namespace perrin
