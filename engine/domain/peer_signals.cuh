// How the blocks of kernels on several GPUs tell each other what they have written
// (engine/domain/decomposition.h).
//
// Every process has a mailbox and two inboxes that the others write to. An exchange has a number;
// odd and even ones use different inboxes, since a process can be one exchange ahead of another,
// and no further. Each block writes its part of what is sent, and then a word into the mailboxes,
// which says so; then it waits for the words of all blocks of the others and brings its part of
// what came to where it belongs. One release and one acquire is all that it takes: what it costs
// beside that (counting blocks, fences) is microseconds.
//
// What goes to a process whose memory this one does not see is written into a parcel
// (engine/domain/host_relay.h), which the last block to do so completes. Parcels that have come are
// waited for by one block, which puts their words into the own mailbox.
#pragma once

#include "engine/device/launch.h"
#include "engine/domain/decomposition.h"
#include "engine/domain/host_relay.h"

namespace perrin::detail {

constexpr int exchange_threads = 512, exchange_blocks = 128;  // at most
/// All blocks of an exchange run at a time, beside those of other processes on the same GPU.
/// Kernels with the parameter Far need more registers: they serve where some memory is not seen.
constexpr int exchange_blocks_at_once = 3;  // of a multiprocessor, at least

/// A word of the mailbox: [odd or even exchange][from process][block].
struct Mail {
  PERRIN_HD static std::uint64_t word(std::uint64_t exchange, std::uint32_t halt, bool flag,
                                      bool warning) {
    return exchange << 8 | std::uint64_t(halt & 63) << 2 | std::uint64_t(warning) << 1 |
           std::uint64_t(flag);
  }
};
constexpr int words_of_header = 4;
constexpr std::size_t header_bytes = Decomposition::most * words_of_header * sizeof(std::uint32_t);
constexpr std::size_t mailbox_bytes =
    2 * Decomposition::most * exchange_blocks * sizeof(std::uint64_t);

/// Words of this process alone that exchanges need; what is counted during one is zero between
/// them.
struct PeerCounters {
  std::uint32_t begun, written;  // blocks
  std::uint64_t number;          // of the last exchange
  std::uint64_t left, worked;    // nanoseconds: when the last one ended; between them in all
  std::uint32_t sent[Decomposition::most];  // elements, by process
};

struct PeerView {
  int rank, count;
  int portion[Decomposition::most + 1];
  // [process]: mailbox, inbox of even exchanges, of odd ones; nullptr: not seen
  unsigned char* memory[Decomposition::most];
  std::size_t inbox_bytes;
  PeerCounters* counters;
  // Processes whose memory is not seen.
  int far_count;
  signed char far_process[Decomposition::most],
      far_number[Decomposition::most];  // [k]; [process]: k
  unsigned char* parcels;
  std::size_t parcel_bytes;

  __device__ std::uint64_t* mail(int of, std::uint64_t exchange, int from) const {
    return reinterpret_cast<std::uint64_t*>(memory[of]) +
           ((exchange & 1) * Decomposition::most + unsigned(from)) * exchange_blocks;
  }
  __device__ Share share(std::int64_t n, int of) const {
    return {sum_chunk_begin(n, portion[of]), sum_chunk_begin(n, portion[of + 1])};
  }
  __device__ unsigned char* inbox(int of, std::uint64_t exchange) const {
    return memory[of] + mailbox_bytes + (exchange & 1) * inbox_bytes;
  }
  /// A few words beside what is sent, at the end of the inbox.
  __device__ std::uint32_t* header(int of, std::uint64_t exchange, int from) const {
    return reinterpret_cast<std::uint32_t*>(inbox(of, exchange) + inbox_bytes - header_bytes) +
           from * words_of_header;
  }
  template <bool Far>
  __device__ bool is_far(int process) const {
    if constexpr (Far) return memory[process] == nullptr;
    return false;
  }
  __device__ Parcel* parcel(int process, bool incoming, std::uint64_t exchange) const {
    return HostRelay::parcel(parcels, parcel_bytes, far_number[process], incoming, exchange);
  }
};

/// Parts of a parcel's payload, in the order in which they are asked for, each aligned.
struct ParcelParts {
  unsigned char* payload;
  std::size_t bytes = 0;

  PERRIN_HD unsigned char* next(std::size_t n) {
    unsigned char* const part = payload + bytes;
    bytes += (n + 15) / 16 * 16;
    return part;
  }
  /// For elements begin … end-1 of an array: where element 0 would be, aligned as in the array.
  PERRIN_HD unsigned char* next(const Share& elements, std::uint32_t each) {
    const std::size_t begin = std::size_t(elements.begin) * each;
    return next(std::size_t(elements.size()) * each + 16) + begin % 16 - begin;
  }
};

/// Bytes begin … end-1, by all threads of all blocks. `to` and `from` are aligned alike.
__device__ inline void copy_bytes(unsigned char* to, const unsigned char* from, std::size_t begin,
                                  std::size_t end) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x * 16;
  const std::size_t thread = (std::size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 16;
  for (std::size_t at = begin / 16 * 16 + thread; at < end; at += stride) {
    if (at >= begin && at + 16 <= end) {
      *reinterpret_cast<uint4*>(to + at) = *reinterpret_cast<const uint4*>(from + at);
    } else {
      for (std::size_t k = at < begin ? begin : at; k < end && k < at + 16; k += 4)
        *reinterpret_cast<std::uint32_t*>(to + k) =
            *reinterpret_cast<const std::uint32_t*>(from + k);
    }
  }
}

/// An element of a multiple of four bytes, on such a boundary; of sixteen, if it is one of those.
__device__ inline void copy_element(unsigned char* to, const unsigned char* from,
                                    std::uint32_t bytes) {
  if (bytes % 16 == 0)
    for (std::uint32_t b = 0; b < bytes; b += 16)
      *reinterpret_cast<uint4*>(to + b) = *reinterpret_cast<const uint4*>(from + b);
  else
    for (std::uint32_t b = 0; b < bytes; b += 4)
      *reinterpret_cast<std::uint32_t*>(to + b) = *reinterpret_cast<const std::uint32_t*>(from + b);
}

__device__ inline void store_for_all(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ inline std::uint64_t load_from_others(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

/// Of a clock that goes on.
__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// What blocks that exchange something do before and after they write it.
template <bool Far>
struct PeerSignal {
  const PeerView& peers;
  std::uint64_t exchange;
  std::uint32_t halt;
  bool flag, warning;
  struct PeerStatus {
    std::uint32_t halt;  // 0, or that of a process that is halted: what was sent means nothing
    bool flag, warning;
  };

  /// Waits for all before the kernel.
  __device__ static void begin() {
    admit_successor();
    await_all_before();
  }
  /// After begin(). By all threads.
  __device__ PeerSignal(const PeerView& view, const std::uint32_t* halt_word,
                        const std::uint32_t* flag_word = nullptr,
                        const std::uint32_t* warning_word = nullptr)
      : peers(view) {
    const auto is_set = [](const std::uint32_t* word) {
      return word && *static_cast<const volatile std::uint32_t*>(word);
    };
    exchange = *number() + 1;
    halt = *static_cast<const volatile std::uint32_t*>(halt_word);
    flag = is_set(flag_word), warning = is_set(warning_word);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&peers.counters->begun, 1u);  // this block has read the number
    if (threadIdx.x == 0 && blockIdx.x == 0 && peers.counters->left)
      peers.counters->worked += nanoseconds() - peers.counters->left;
  }
  __device__ volatile std::uint64_t* number() const { return &peers.counters->number; }
  /// Says that this block has written its part, and waits until all blocks of all have.
  /// label(process, parcel): the bytes of the payload that was written for it; may set its counts.
  template <class Label>
  __device__ PeerStatus agree([[maybe_unused]] const Label& label) const {
    __shared__ std::uint32_t halt_anywhere, flags_anywhere;
    if (threadIdx.x == 0) halt_anywhere = flags_anywhere = 0;
    __syncthreads();
    if constexpr (Far) complete_parcels(label);
    if (threadIdx.x < unsigned(peers.count) && !peers.is_far<Far>(int(threadIdx.x)))
      store_for_all(peers.mail(int(threadIdx.x), exchange, peers.rank) + blockIdx.x,
                    Mail::word(exchange, halt, flag, warning));
    if constexpr (Far)
      if (blockIdx.x == 0) take_parcels();
    for (unsigned k = threadIdx.x; k < unsigned(peers.count) * gridDim.x; k += blockDim.x) {
      const std::uint64_t* const from =
          peers.mail(peers.rank, exchange, int(k / gridDim.x)) + k % gridDim.x;
      std::uint64_t word = load_from_others(from);
      while (word >> 8 != exchange) word = load_from_others(from);
      const auto low = std::uint32_t(word & 255);
      if (low >> 2) atomicMax(&halt_anywhere, low >> 2);
      if (low & 3) atomicOr(&flags_anywhere, low & 3);
    }
    __syncthreads();
    return {halt_anywhere, (flags_anywhere & 1) != 0, (flags_anywhere & 2) != 0};
  }
  /// True for one thread of all, which is to do what is left.
  __device__ bool end(const PeerStatus& heard, std::uint32_t* halt_word) const {
    if (blockIdx.x != 0 || threadIdx.x != 0) return false;
    while (*static_cast<volatile std::uint32_t*>(&peers.counters->begun) != gridDim.x) {
    }
    peers.counters->begun = 0;
    *number() = exchange;
    peers.counters->left = nanoseconds();
    if (heard.halt && !halt) *halt_word = heard.halt;
    return !heard.halt;
  }

 private:
  /// By all threads of a block that has written its part.
  template <class Label>
  __device__ void complete_parcels(const Label& label) const {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
      __threadfence_system();
      is_last = atomicAdd(&peers.counters->written, 1u) + 1 == gridDim.x;
      if (is_last) {
        peers.counters->written = 0;
        __threadfence_system();
      }
    }
    __syncthreads();
    if (!is_last || threadIdx.x >= unsigned(peers.far_count)) return;
    const int process = peers.far_process[threadIdx.x];
    Parcel* const parcel = peers.parcel(process, false, exchange);
    parcel->bytes = parcel_head + (halt ? 0 : label(process, *parcel));
    parcel->sent = Mail::word(exchange, halt, flag, warning);
    store_for_all(&parcel->ready, parcel->sent);
  }
  /// By all threads of one block: a warp for each process.
  __device__ void take_parcels() const {
    for (int k = int(threadIdx.x / 32); k < peers.far_count; k += int(blockDim.x / 32)) {
      const int process = peers.far_process[k];
      const std::uint64_t* const ready = &peers.parcel(process, true, exchange)->ready;
      std::uint64_t word = 0;
      if (threadIdx.x % 32 == 0)
        while (word >> 8 != exchange) word = load_from_others(ready);
      word = __shfl_sync(0xffffffffu, word, 0);
      for (unsigned block = threadIdx.x % 32; block < gridDim.x; block += 32)
        store_for_all(peers.mail(peers.rank, exchange, process) + block, word);
    }
  }
};

}  // namespace perrin::detail
