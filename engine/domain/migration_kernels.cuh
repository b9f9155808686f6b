// Migration between GPUs: how they find out together how many elements the cells of all have, and
// send elements to where they are needed (engine/domain/decomposition.h).
#pragma once

#include "engine/domain/exchange_kernels.cuh"

namespace perrin::detail {

/// Where counts of cells, and strays, of process `from` are: in an inbox or in a parcel.
struct CountsPlace {
  std::uint32_t *count, *stray;

  __device__ static CountsPlace in_inbox(const PeerView& peers, const CellCounts& c, int of,
                                         std::uint64_t exchange, int from) {
    unsigned char* const inbox = peers.inbox(of, exchange);
    const std::size_t at_strays = (std::size_t(c.cells) * 4 + 255) / 256 * 256;
    return {reinterpret_cast<std::uint32_t*>(inbox),
            reinterpret_cast<std::uint32_t*>(inbox + at_strays) + peers.share(c.n, from).begin};
  }
  /// `strays`: how many; `bytes`: receives those of the payload.
  __device__ static CountsPlace in_parcel(Parcel& parcel, const CellCounts& c, int from,
                                          std::uint32_t strays, std::size_t& bytes) {
    ParcelParts parts{parcel.payload()};
    unsigned char* const count =
        parts.next(Share{c.first_cell[from], c.first_cell[from + 1]}, sizeof(std::uint32_t));
    unsigned char* const stray = parts.next(4 * std::size_t(strays));
    bytes = parts.bytes;
    return {reinterpret_cast<std::uint32_t*>(count), reinterpret_cast<std::uint32_t*>(stray)};
  }
};

/// Counts of cells are sent by those who have most of the elements in them; strays, which are few,
/// one by one.
template <bool Far>
static __global__ void __launch_bounds__(exchange_threads, exchange_blocks_at_once)
    add_counts_kernel(const PeerView peers, const CellCounts c, std::uint32_t* halt) {
  PeerSignal<Far>::begin();
  const PeerSignal<Far> talk(peers, halt);
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x,
                      threads = gridDim.x * blockDim.x;
  std::size_t bytes = 0;
  for (int step = 1; step < peers.count && !talk.halt; ++step) {
    const int p = (peers.rank + step) % peers.count;
    const std::uint32_t strays = *c.strays;
    const CountsPlace to = peers.is_far<Far>(p)
                               ? CountsPlace::in_parcel(*peers.parcel(p, false, talk.exchange), c,
                                                        peers.rank, strays, bytes)
                               : CountsPlace::in_inbox(peers, c, p, talk.exchange, peers.rank);
    copy_bytes(
        reinterpret_cast<unsigned char*>(to.count), reinterpret_cast<const unsigned char*>(c.count),
        std::size_t(c.first_cell[peers.rank]) * 4, std::size_t(c.first_cell[peers.rank + 1]) * 4);
    for (std::uint32_t k = thread; k < strays; k += threads) to.stray[k] = c.stray[k];
    if (thread == 0 && !peers.is_far<Far>(p))
      peers.header(p, talk.exchange, peers.rank)[0] = strays;
  }
  const typename PeerSignal<Far>::PeerStatus heard = talk.agree([&](int, Parcel& parcel) {
    std::size_t all = 0;
    parcel.count[0] = *c.strays;
    CountsPlace::in_parcel(parcel, c, peers.rank, parcel.count[0], all);
    return all;
  });
  for (int step = 1; step < peers.count && !heard.halt; ++step) {
    const int p = (peers.rank + step) % peers.count;
    const bool far = peers.is_far<Far>(p);
    Parcel* const parcel = far ? peers.parcel(p, true, talk.exchange) : nullptr;
    const std::uint32_t strays =
        far ? parcel->count[0] : peers.header(peers.rank, talk.exchange, p)[0];
    const CountsPlace from = far ? CountsPlace::in_parcel(*parcel, c, p, strays, bytes)
                                 : CountsPlace::in_inbox(peers, c, peers.rank, talk.exchange, p);
    for (std::uint32_t k = c.first_cell[p] + thread; k < c.first_cell[p + 1]; k += threads)
      if (const std::uint32_t more = from.count[k]) atomicAdd(c.count + k, more);
    for (std::uint32_t k = thread; k < strays; k += threads) atomicAdd(c.count + from.stray[k], 1u);
  }
  if (talk.end(heard, halt) && c.progress) *c.progress = c.step;
}

struct PeerMigration {
  PeerExchange::Array array[ReceiveBuffer::arrays];
  int arrays, of_ghosts;
  MigrationPlan migrating;
  ReceiveBuffer* arrivals;
};

/// So many migrants and ghosts, in an inbox or, if Far, perhaps in a parcel.
template <bool Far>
struct TravelPlace {
  const PeerMigration& t;
  unsigned char* inbox;
  Parcel* parcel;  // nullptr: `inbox`
  Share of;        // who sends
  std::uint32_t migrants, ghosts;

  /// Where ghost or migrant k of array a is.
  __device__ unsigned char* element(int a, bool visits, std::uint32_t k) const {
    const std::size_t bytes = t.array[a].bytes;
    if (!Far || !parcel) {
      const std::int64_t at = visits ? of.end - 1 - std::int64_t(k) : of.begin + std::int64_t(k);
      return inbox + t.array[a].at + std::size_t(at) * bytes;
    }
    ParcelParts parts{parcel->payload()};
    for (int before = 0; before < a; ++before) skip(parts, before);
    unsigned char* const settled = parts.next(std::size_t(migrants) * bytes);
    return (visits ? parts.next(0) : settled) + std::size_t(k) * bytes;
  }
  __device__ std::size_t payload() const {
    ParcelParts parts{nullptr};
    for (int a = 0; a < t.arrays; ++a) skip(parts, a);
    return parts.bytes;
  }

 private:
  __device__ void skip(ParcelParts& parts, int a) const {
    parts.next(std::size_t(migrants) * t.array[a].bytes);
    if (a < t.of_ghosts) parts.next(std::size_t(ghosts) * t.array[a].bytes);
  }
};

/// f(array, visits?, k) for all that goes or comes, by all threads of all blocks.
template <bool Far, class F>
__device__ void for_each_migrant(const TravelPlace<Far>& place, const F& f) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x,
                      threads = gridDim.x * blockDim.x;
  for (const bool visits : {false, true}) {
    const std::uint32_t n = visits ? place.ghosts : place.migrants;
    const int arrays = visits ? place.t.of_ghosts : place.t.arrays;
    for (std::uint32_t k = thread; k < n; k += threads)
#pragma unroll
      for (int a = 0; a < ReceiveBuffer::arrays; ++a)
        if (a < arrays) f(a, visits, k);
  }
}

template <bool Far>
static __global__ void __launch_bounds__(exchange_threads, exchange_blocks_at_once)
    migration_kernel(const PeerView peers, const PeerMigration t, std::uint32_t* halt) {
  PeerSignal<Far>::begin();
  const PeerSignal<Far> talk(peers, halt);
  const Share own = peers.share(t.array[0].n, peers.rank);
  const auto going = [&](int p, Parcel* parcel) {
    return TravelPlace<Far>{t,
                            parcel ? nullptr : peers.inbox(p, talk.exchange),
                            parcel,
                            own,
                            t.migrating.migrants[p],
                            t.migrating.ghosts[p]};
  };
  for (int step = 1; step < peers.count && !talk.halt; ++step) {
    const int p = (peers.rank + step) % peers.count;
    const TravelPlace<Far> to =
        going(p, peers.is_far<Far>(p) ? peers.parcel(p, false, talk.exchange) : nullptr);
    const std::uint32_t *const list = t.migrating.list + p * t.migrating.room,
                               *const end = list + t.migrating.room - 1;
    for_each_migrant(to, [&](int a, bool visits, std::uint32_t k) {
      const std::size_t i = visits ? *(end - k) : list[k];
      copy_element(to.element(a, visits, k), t.array[a].data + i * t.array[a].bytes,
                   t.array[a].bytes);
    });
    if (blockIdx.x == 0 && threadIdx.x == 0 && !peers.is_far<Far>(p)) {
      std::uint32_t* const words = peers.header(p, talk.exchange, peers.rank);
      words[0] = to.migrants, words[1] = to.ghosts;
    }
  }
  const typename PeerSignal<Far>::PeerStatus heard = talk.agree([&](int p, Parcel& parcel) {
    const TravelPlace<Far> to = going(p, &parcel);
    parcel.count[0] = to.migrants, parcel.count[1] = to.ghosts;
    return to.payload();
  });
  // What has come in parcels is read more than once from here on.
  unsigned char* const inbox = peers.inbox(peers.rank, talk.exchange);
  for (int k = 0; Far && k < peers.far_count && !heard.halt; ++k) {
    const int p = peers.far_process[k];
    Parcel* const parcel = peers.parcel(p, true, talk.exchange);
    const Share theirs = peers.share(t.array[0].n, p);
    const TravelPlace<Far> from{t, nullptr, parcel, theirs, parcel->count[0], parcel->count[1]},
        to{t, inbox, nullptr, theirs, parcel->count[0], parcel->count[1]};
    for_each_migrant(from, [&](int a, bool visits, std::uint32_t e) {
      copy_element(to.element(a, visits, e), from.element(a, visits, e), t.array[a].bytes);
    });
  }
  if (!talk.end(heard, halt)) return;
  t.arrivals->inbox = inbox;
  for (int p = 0; p < peers.count; ++p) {
    const bool far = peers.is_far<Far>(p);
    const std::uint32_t* const words = far ? peers.parcel(p, true, talk.exchange)->count
                                           : peers.header(peers.rank, talk.exchange, p);
    t.arrivals->migrants[p] = p == peers.rank ? 0 : words[0];
    t.arrivals->ghosts[p] = p == peers.rank ? 0 : words[1];
  }
}

}  // namespace perrin::detail
