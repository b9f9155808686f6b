// What one GPU sends to the others, and waits for, in one kernel without the host
// (engine/core/team.h).
//
// Every process has a mailbox and two inboxes that the others write to. An exchange has a number;
// odd and even ones use different inboxes, since a process can be one exchange ahead of another,
// and no further. Each block writes its part of what is sent, and then a word into the mailboxes,
// which says so; then it waits for the words of all blocks of the others and brings its part of
// what came to where it belongs. One release and one acquire is all that it takes: what it costs
// beside that (counting blocks, fences) is microseconds.
#pragma once

#include "engine/core/parallel.h"
#include "engine/core/team.h"

namespace perrin::detail {

constexpr int exchange_threads = 512, exchange_blocks = 128;  // at most

/// A word of the mailbox: [odd or even exchange][from process][block].
struct Mail {
  PERRIN_HD static std::uint64_t word(std::uint64_t exchange, std::uint32_t halt, bool flag) {
    return exchange << 8 | std::uint64_t(halt & 127) << 1 | std::uint64_t(flag);
  }
};
constexpr int words_of_header = 4;
constexpr std::size_t header_bytes = Team::most * words_of_header * sizeof(std::uint32_t);
constexpr std::size_t mailbox_bytes = 2 * Team::most * exchange_blocks * sizeof(std::uint64_t);

struct TeamView {
  int rank, count;
  int portion[Team::most + 1];
  unsigned char* memory[Team::most];  // [process]: mailbox, inbox of even exchanges, of odd ones
  std::size_t inbox_bytes;
  std::uint32_t* counters;  // [0] blocks that have begun; [2], [3] the last exchange

  __device__ std::uint64_t* mail(int of, std::uint64_t exchange, int from) const {
    return reinterpret_cast<std::uint64_t*>(memory[of]) +
           ((exchange & 1) * Team::most + unsigned(from)) * exchange_blocks;
  }
  __device__ Share share(std::int64_t n, int of) const {
    return {portion_begin(n, portion[of]), portion_begin(n, portion[of + 1])};
  }
  __device__ unsigned char* inbox(int of, std::uint64_t exchange) const {
    return memory[of] + mailbox_bytes + (exchange & 1) * inbox_bytes;
  }
  /// A few words beside what is sent, at the end of the inbox.
  __device__ std::uint32_t* header(int of, std::uint64_t exchange, int from) const {
    return reinterpret_cast<std::uint32_t*>(inbox(of, exchange) + inbox_bytes - header_bytes) +
           from * words_of_header;
  }
};

struct TeamExchange {
  static constexpr int most = 8;
  struct Array {
    unsigned char* data;
    std::uint32_t bytes;  // of an element
    std::int64_t n;
    std::size_t at;  // in the inbox
  };
  Array array[most];
  int arrays;
  Ghosts ghosts;               // nullptr: everything
  const std::uint32_t* order;  // of hand_over()
  std::uint32_t* halt;
  Condition condition;
  std::uint32_t* progress;
  std::uint32_t step;
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

/// Some elements, by all threads of all blocks.
__device__ inline void copy_elements(unsigned char* to, const unsigned char* from,
                                     const std::uint32_t* index, std::uint32_t count,
                                     std::uint32_t bytes) {
  const std::uint32_t words = bytes / 16, stride = gridDim.x * blockDim.x;
  for (std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += stride) {
    const std::size_t i = std::size_t(index[k]) * words;
    for (std::uint32_t w = 0; w < words; ++w)
      reinterpret_cast<uint4*>(to)[i + w] = reinterpret_cast<const uint4*>(from)[i + w];
  }
}

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

__device__ inline void store_for_all(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ inline std::uint64_t load_from_others(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

/// What blocks that exchange something do before and after they write it.
struct Talk {
  const TeamView& team;
  std::uint64_t exchange;
  std::uint32_t halt;
  bool flag;
  struct Heard {
    std::uint32_t halt;  // 0, or that of a process that is halted: what was sent means nothing
    bool flag;
  };

  /// Waits for all before the kernel. By all threads.
  __device__ Talk(const TeamView& view, const std::uint32_t* halt_word, const std::uint32_t* word)
      : team(view) {
    admit_successor();
    await_all_before();
    exchange = *number() + 1;
    halt = *static_cast<const volatile std::uint32_t*>(halt_word);
    flag = word && *static_cast<const volatile std::uint32_t*>(word);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(team.counters, 1u);  // this block has read the number
  }
  __device__ volatile std::uint64_t* number() const {
    return reinterpret_cast<volatile std::uint64_t*>(team.counters + 2);
  }
  /// Says that this block has written its part, and waits until all blocks of all have.
  __device__ Heard agree() const {
    __shared__ std::uint32_t halt_anywhere, flag_anywhere;
    if (threadIdx.x == 0) halt_anywhere = flag_anywhere = 0;
    __syncthreads();
    if (threadIdx.x < unsigned(team.count))
      store_for_all(team.mail(int(threadIdx.x), exchange, team.rank) + blockIdx.x,
                    Mail::word(exchange, halt, flag));
    for (unsigned k = threadIdx.x; k < unsigned(team.count) * gridDim.x; k += blockDim.x) {
      const std::uint64_t* const from =
          team.mail(team.rank, exchange, int(k / gridDim.x)) + k % gridDim.x;
      std::uint64_t word = load_from_others(from);
      while (word >> 8 != exchange) word = load_from_others(from);
      const auto low = std::uint32_t(word & 255);
      if (low >> 1) atomicMax(&halt_anywhere, low >> 1);
      if (low & 1) flag_anywhere = 1;
    }
    __syncthreads();
    return {halt_anywhere, flag_anywhere != 0};
  }
  /// True for one thread of all, which is to do what is left.
  __device__ bool end(const Heard& heard, std::uint32_t* halt_word) const {
    if (blockIdx.x != 0 || threadIdx.x != 0) return false;
    while (*static_cast<volatile std::uint32_t*>(team.counters) != gridDim.x) {
    }
    *team.counters = 0;
    *number() = exchange;
    if (heard.halt && !halt) *halt_word = heard.halt;
    return !heard.halt;
  }
};

static __global__ void __launch_bounds__(exchange_threads)
    exchange_kernel(const TeamView team, const TeamExchange e) {
  const Talk talk(team, e.halt, e.condition.flag);
  const std::uint64_t exchange = talk.exchange;
  for (int k = 0; k < e.arrays && !talk.halt; ++k) {
    const TeamExchange::Array& a = e.array[k];
    const Share own = team.share(a.n, team.rank);
    const std::size_t begin = std::size_t(own.begin) * a.bytes,
                      end = std::size_t(own.end) * a.bytes;
    for (int step = 1; step < team.count; ++step) {
      const int p = (team.rank + step) % team.count;
      unsigned char* const to = team.inbox(p, exchange) + a.at;
      if (e.order)
        copy_migrants(to, a.data, e.order, team.share(a.n, p), team.share(a.n, team.rank), a.bytes);
      else if (e.ghosts.send)
        copy_elements(to, a.data, e.ghosts.send + p * e.ghosts.room, e.ghosts.send_count[p],
                      a.bytes);
      else
        copy_bytes(to, a.data, begin, end);
    }
  }
  const Talk::Heard heard = talk.agree();
  for (int k = 0; k < e.arrays && !heard.halt; ++k) {
    const TeamExchange::Array& a = e.array[k];
    const unsigned char* const from = team.inbox(team.rank, exchange) + a.at;
    for (int step = 1; step < team.count; ++step) {
      const int p = (team.rank + step) % team.count;
      if (e.order) {
        copy_migrants(a.data, from, e.order, team.share(a.n, team.rank), team.share(a.n, p),
                      a.bytes);
        continue;
      }
      if (e.ghosts.receive) {
        copy_elements(a.data, from, e.ghosts.receive + p * e.ghosts.room, e.ghosts.receive_count[p],
                      a.bytes);
        continue;
      }
      const Share theirs = team.share(a.n, p);
      copy_bytes(a.data, from, std::size_t(theirs.begin) * a.bytes,
                 std::size_t(theirs.end) * a.bytes);
    }
  }
  if (!talk.end(heard, e.halt)) return;
  if (e.progress) *e.progress = e.step;
  if (heard.flag && e.condition.flag) e.condition.raise();
}

}  // namespace perrin::detail
