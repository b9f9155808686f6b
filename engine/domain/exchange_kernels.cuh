// Halo exchange between GPUs, and exchange of arrays of which each has a share, in one kernel
// without the host (engine/domain/decomposition.h).
#pragma once

#include "engine/domain/peer_signals.cuh"

namespace perrin::detail {

struct PeerExchange {
  static constexpr int most = 8;
  struct Array {
    unsigned char* data;
    std::uint32_t bytes;  // of an element
    std::int64_t n;
    std::size_t at;  // in the inbox
  };
  Array array[most];
  int arrays;
  HaloPlan ghosts;             // nullptr: everything
  const std::uint32_t* order;  // of migrate()
  std::uint32_t* halt;
  Condition condition;
  std::uint32_t* progress;
  std::uint32_t step;
  std::uint32_t *warning, *warned;
};

/// Ghosts of one process, to be copied by all threads of all blocks.
struct ListedElements {
  const std::uint32_t* index;
  std::uint32_t count, first;  // first: the index of this thread's first element, if it has one

  /// Reads an index without waiting for how many there are, and long before it is needed: every
  /// trip through memory is a fifteenth of the time in which few ghosts are exchanged.
  __device__ ListedElements(const std::uint32_t* indices, const std::uint32_t* counter,
                            std::int64_t room)
      : index(indices), first(0) {
    const std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < room) first = index[k];
    count = *counter;
  }
  __device__ void copy(unsigned char* to, const unsigned char* from, std::uint32_t bytes) const {
    const std::uint32_t words = bytes / 16, stride = gridDim.x * blockDim.x;
    std::uint32_t next = first;
#pragma unroll 1
    for (std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < count;) {
      const std::size_t i = std::size_t(next) * words;
      k += stride;
      if (k < count) next = index[k];
#pragma unroll 1
      for (std::uint32_t w = 0; w < words; ++w)
        reinterpret_cast<uint4*>(to)[i + w] = reinterpret_cast<const uint4*>(from)[i + w];
    }
  }
};

/// Elements of one share that were in another before.
__device__ inline void copy_migrants(unsigned char* to, const unsigned char* data,
                                     const std::uint32_t* order, const Share& now,
                                     const Share& before, std::uint32_t bytes) {
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = now.begin + std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
       i < now.end; i += stride) {
    if (!before.meets(order[i], 1)) continue;
    for (std::uint32_t k = 0; k < bytes; k += 4)
      *reinterpret_cast<std::uint32_t*>(to + i * bytes + k) =
          *reinterpret_cast<const std::uint32_t*>(data + i * bytes + k);
  }
}

/// What goes to, and comes from, processes whose memory is not seen. Ghosts go with their
/// indices, and so do elements that are handed over, one after another.
struct ExchangeParcels {
  const PeerView& peers;
  const PeerExchange& e;

  /// Numbers of the threads of all blocks, and how many.
  __device__ static std::uint32_t thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ static std::uint32_t threads() { return gridDim.x * blockDim.x; }

  __device__ void write(int p, Parcel& parcel) const {
    ParcelParts parts{parcel.payload()};
    if (e.order) return write_migrants(p, parts);
    if (!e.ghosts.send) {
      for (int k = 0; k < e.arrays; ++k) {
        const PeerExchange::Array& a = e.array[k];
        const Share own = peers.share(a.n, peers.rank);
        copy_bytes(parts.next(own, a.bytes), a.data, std::size_t(own.begin) * a.bytes,
                   std::size_t(own.end) * a.bytes);
      }
      return;
    }
    const std::uint32_t* const send = e.ghosts.send + p * e.ghosts.room;
    const std::uint32_t count = e.ghosts.send_count[p];
    auto* const index = reinterpret_cast<std::uint32_t*>(parts.next(4 * std::size_t(count)));
    for (std::uint32_t k = thread(); k < count; k += threads()) index[k] = send[k];
    for (int a = 0; a < e.arrays; ++a) {
      const std::uint32_t bytes = e.array[a].bytes;
      unsigned char* const to = parts.next(std::size_t(count) * bytes);
      for (std::uint32_t k = thread(); k < count; k += threads())
        copy_element(to + std::size_t(k) * bytes, e.array[a].data + std::size_t(send[k]) * bytes,
                     bytes);
    }
  }
  /// As PeerSignal::agree() asks for it. By one thread, after all have written.
  __device__ std::size_t label(int p, Parcel& parcel) const {
    ParcelParts parts{nullptr};
    if (e.order) {
      parcel.count[0] = peers.counters->sent[p];
      peers.counters->sent[p] = 0;
      parts.next(std::size_t(parcel.count[0]) * record_bytes());
    } else if (e.ghosts.send) {
      parcel.count[0] = e.ghosts.send_count[p];
      parts.next(4 * std::size_t(parcel.count[0]));
      for (int a = 0; a < e.arrays; ++a)
        parts.next(std::size_t(parcel.count[0]) * e.array[a].bytes);
    } else {
      for (int k = 0; k < e.arrays; ++k)
        parts.next(peers.share(e.array[k].n, peers.rank), e.array[k].bytes);
    }
    return parts.bytes;
  }
  __device__ void read(int p, Parcel& parcel) const {
    ParcelParts parts{parcel.payload()};
    if (e.order) return read_migrants(parcel, parts);
    if (!e.ghosts.send) {
      for (int k = 0; k < e.arrays; ++k) {
        const PeerExchange::Array& a = e.array[k];
        const Share theirs = peers.share(a.n, p);
        copy_bytes(a.data, parts.next(theirs, a.bytes), std::size_t(theirs.begin) * a.bytes,
                   std::size_t(theirs.end) * a.bytes);
      }
      return;
    }
    const std::uint32_t count = parcel.count[0];
    const auto* const index =
        reinterpret_cast<const std::uint32_t*>(parts.next(4 * std::size_t(count)));
    for (int a = 0; a < e.arrays; ++a) {
      const std::uint32_t bytes = e.array[a].bytes;
      const unsigned char* const from = parts.next(std::size_t(count) * bytes);
      for (std::uint32_t k = thread(); k < count; k += threads())
        copy_element(e.array[a].data + std::size_t(index[k]) * bytes, from + std::size_t(k) * bytes,
                     bytes);
    }
  }

 private:
  __device__ std::uint32_t record_bytes() const {
    std::uint32_t bytes = sizeof(std::uint32_t);
    for (int k = 0; k < e.arrays; ++k) bytes += e.array[k].bytes;
    return bytes;
  }
  __device__ static void copy_words(unsigned char* to, const unsigned char* from,
                                    std::uint32_t bytes) {
    for (std::uint32_t b = 0; b < bytes; b += 4)
      *reinterpret_cast<std::uint32_t*>(to + b) = *reinterpret_cast<const std::uint32_t*>(from + b);
  }
  /// Arrays have the same length. Records: an index, and an element of each array.
  __device__ void write_migrants(int p, ParcelParts& parts) const {
    const Share now = peers.share(e.array[0].n, p), before = peers.share(e.array[0].n, peers.rank);
    const std::uint32_t bytes = record_bytes();
    for (std::int64_t i = now.begin + thread(); i < now.end; i += threads()) {
      if (!before.meets(e.order[i], 1)) continue;
      unsigned char* to =
          parts.payload + std::size_t(atomicAdd(&peers.counters->sent[p], 1u)) * bytes;
      *reinterpret_cast<std::uint32_t*>(to) = std::uint32_t(i);
      to += sizeof(std::uint32_t);
      for (int k = 0; k < e.arrays; to += e.array[k].bytes, ++k)
        copy_words(to, e.array[k].data + std::size_t(i) * e.array[k].bytes, e.array[k].bytes);
    }
  }
  __device__ void read_migrants(const Parcel& parcel, ParcelParts& parts) const {
    const std::uint32_t bytes = record_bytes();
    for (std::uint32_t r = thread(); r < parcel.count[0]; r += threads()) {
      const unsigned char* from = parts.payload + std::size_t(r) * bytes;
      const std::size_t i = *reinterpret_cast<const std::uint32_t*>(from);
      from += sizeof(std::uint32_t);
      for (int k = 0; k < e.arrays; from += e.array[k].bytes, ++k)
        copy_words(e.array[k].data + i * e.array[k].bytes, from, e.array[k].bytes);
    }
  }
};

/// write(is p the next process?, p, array, inbox) for every array and every process p whose memory
/// is seen; when all have written, read() in the same way. True for one thread of all, if nobody is
/// halted. `halts`: nothing but that is exchanged.
template <bool Far, class Write, class Read>
__device__ bool exchange_by(const PeerView& peers, const PeerExchange& e, const Write& write,
                            const Read& read, typename PeerSignal<Far>::PeerStatus& heard,
                            bool halts = false) {
  const int arrays = halts ? 0 : e.arrays;
  const PeerSignal<Far> talk(peers, e.halt, halts ? nullptr : e.condition.flag,
                             halts ? nullptr : e.warning);
  const ExchangeParcels parcels{peers, e};
#pragma unroll 1
  for (int step = 1; step < peers.count && !talk.halt; ++step) {
    const int p = (peers.rank + step) % peers.count;
    if (peers.is_far<Far>(p)) {
      parcels.write(p, *peers.parcel(p, false, talk.exchange));
      continue;
    }
#pragma unroll 1
    for (int k = 0; k < arrays; ++k)
      write(step == 1, p, e.array[k], peers.inbox(p, talk.exchange) + e.array[k].at);
  }
  heard = talk.agree([&](int p, Parcel& parcel) { return parcels.label(p, parcel); });
#pragma unroll 1
  for (int step = 1; step < peers.count && !heard.halt; ++step) {
    const int p = (peers.rank + step) % peers.count;
    if (peers.is_far<Far>(p)) {
      parcels.read(p, *peers.parcel(p, true, talk.exchange));
      continue;
    }
#pragma unroll 1
    for (int k = 0; k < arrays; ++k)
      read(step == 1, p, e.array[k], peers.inbox(peers.rank, talk.exchange) + e.array[k].at);
  }
  if (!talk.end(heard, e.halt)) return false;
  if (e.progress) *e.progress = e.step;
  if (heard.flag && e.condition.flag) e.condition.raise();
  if (e.warned) *e.warned = heard.warning;
  return true;
}

/// Everything of all, or what migrate() says.
template <bool Far>
static __global__ void __launch_bounds__(exchange_threads, exchange_blocks_at_once)
    exchange_kernel(const PeerView peers, const PeerExchange e) {
  PeerSignal<Far>::begin();
  const auto copy = [&](int from, int to, const PeerExchange::Array& a, unsigned char* target,
                        const unsigned char* source) {
    const Share before = peers.share(a.n, from);
    if (e.order)
      copy_migrants(target, source, e.order, peers.share(a.n, to), before, a.bytes);
    else
      copy_bytes(target, source, std::size_t(before.begin) * a.bytes,
                 std::size_t(before.end) * a.bytes);
  };
  typename PeerSignal<Far>::PeerStatus heard;
  exchange_by<Far>(
      peers, e,
      [&](bool, int p, const PeerExchange::Array& a, unsigned char* inbox) {
        copy(peers.rank, p, a, inbox, a.data);
      },
      [&](bool, int p, const PeerExchange::Array& a, const unsigned char* inbox) {
        copy(p, peers.rank, a, a.data, inbox);
      },
      heard);
}

/// Ghosts alone, by exchange_by().
template <bool Far>
__device__ bool exchange_ghosts(const PeerView& peers, const PeerExchange& e,
                                typename PeerSignal<Far>::PeerStatus& heard, bool halts = false) {
  const HaloPlan& g = e.ghosts;
  const auto sent = [&](int p) {
    return ListedElements(g.send + p * g.room, g.send_count + p, g.room);
  };
  const auto received = [&](int p) {
    return ListedElements(g.receive + p * g.room, g.receive_count + p, g.room);
  };
  const int next = (peers.rank + 1) % peers.count;
  const ListedElements to_next = sent(next), from_next = received(next);
  return exchange_by<Far>(
      peers, e,
      [&](bool first, int p, const PeerExchange::Array& a, unsigned char* inbox) {
        (first ? to_next : sent(p)).copy(inbox, a.data, a.bytes);
      },
      [&](bool first, int p, const PeerExchange::Array& a, const unsigned char* inbox) {
        (first ? from_next : received(p)).copy(a.data, inbox, a.bytes);
      },
      heard, halts);
}

template <bool Far>
static __global__ void __launch_bounds__(exchange_threads, exchange_blocks_at_once)
    exchange_ghosts_kernel(const PeerView peers, const PeerExchange e) {
  PeerSignal<Far>::begin();
  typename PeerSignal<Far>::PeerStatus heard;
  exchange_ghosts<Far>(peers, e, heard);
}

/// Of Decomposition::exchange_overlapped(): the next kernel comes in when all before this one is
/// done.
static __global__ void __launch_bounds__(exchange_threads, exchange_blocks_at_once)
    exchange_overlapped_kernel(const PeerView peers, const PeerExchange e, const Overlap beside) {
  await_all_before();
  admit_successor();
  const bool built = *beside.built != 0;
  PeerSignal<false>::PeerStatus heard;
  if (!exchange_ghosts<false>(peers, e, heard, built)) return;
  if (built) {
    *e.condition.flag = *e.warning = 0;
    *beside.builds += 1;
  }
  if (heard.warning) beside.next.raise();
  if (heard.flag) *e.halt = beside.halt;
}

}  // namespace perrin::detail
