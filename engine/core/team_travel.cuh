// How GPUs find out together how many elements the cells of all have, and send elements to where
// they are needed: what sorting one's own share takes (engine/core/team.h).
#pragma once

#include "engine/core/team_exchange.cuh"

namespace perrin::detail {

/// Counts of cells are sent by those who have most of the elements in them; strays, which are few,
/// one by one.
static __global__ void __launch_bounds__(exchange_threads)
    add_counts_kernel(const TeamView team, const CellCounts c, std::uint32_t* halt) {
  const Talk talk(team, halt, nullptr);
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x,
                      threads = gridDim.x * blockDim.x;
  const std::size_t at_strays = (std::size_t(c.cells) * 4 + 255) / 256 * 256;
  const auto strays_in = [&](unsigned char* inbox, int from) {
    return reinterpret_cast<std::uint32_t*>(inbox + at_strays) + team.share(c.n, from).begin;
  };
  for (int step = 1; step < team.count && !talk.halt; ++step) {
    const int p = (team.rank + step) % team.count;
    unsigned char* const to = team.inbox(p, talk.exchange);
    copy_bytes(to, reinterpret_cast<const unsigned char*>(c.count),
               std::size_t(c.first_cell[team.rank]) * 4,
               std::size_t(c.first_cell[team.rank + 1]) * 4);
    const std::uint32_t strays = *c.strays;
    std::uint32_t* const to_strays = strays_in(to, team.rank);
    for (std::uint32_t k = thread; k < strays; k += threads) to_strays[k] = c.stray[k];
    if (thread == 0) team.header(p, talk.exchange, team.rank)[0] = strays;
  }
  const Talk::Heard heard = talk.agree();
  for (int step = 1; step < team.count && !heard.halt; ++step) {
    const int p = (team.rank + step) % team.count;
    unsigned char* const from = team.inbox(team.rank, talk.exchange);
    const auto* const counts = reinterpret_cast<const std::uint32_t*>(from);
    for (std::uint32_t k = c.first_cell[p] + thread; k < c.first_cell[p + 1]; k += threads)
      if (const std::uint32_t more = counts[k]) atomicAdd(c.count + k, more);
    const std::uint32_t strays = team.header(team.rank, talk.exchange, p)[0];
    const std::uint32_t* const stray = strays_in(from, p);
    for (std::uint32_t k = thread; k < strays; k += threads) atomicAdd(c.count + stray[k], 1u);
  }
  if (talk.end(heard, halt) && c.progress) *c.progress = c.step;
}

struct TeamTravel {
  TeamExchange::Array array[Arrivals::arrays];
  int arrays, of_visitors;
  Travellers travellers;
  Arrivals* arrivals;
};

/// Element i of arrays to place k of the inbox.
__device__ inline void pack(const TeamTravel& t, int arrays, unsigned char* inbox, std::uint32_t i,
                            std::int64_t k) {
#pragma unroll
  for (int a = 0; a < Arrivals::arrays; ++a) {
    if (a >= arrays) continue;
    const std::uint32_t bytes = t.array[a].bytes;
    unsigned char* const to = inbox + t.array[a].at + std::size_t(k) * bytes;
    const unsigned char* const from = t.array[a].data + std::size_t(i) * bytes;
    if (bytes % 16 == 0)
      for (std::uint32_t b = 0; b < bytes; b += 16)
        *reinterpret_cast<uint4*>(to + b) = *reinterpret_cast<const uint4*>(from + b);
    else
      for (std::uint32_t b = 0; b < bytes; b += 4)
        *reinterpret_cast<std::uint32_t*>(to + b) =
            *reinterpret_cast<const std::uint32_t*>(from + b);
  }
}

static __global__ void __launch_bounds__(exchange_threads)
    travel_kernel(const TeamView team, const TeamTravel t, std::uint32_t* halt) {
  const Talk talk(team, halt, nullptr);
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x,
                      threads = gridDim.x * blockDim.x;
  const Share own = team.share(t.array[0].n, team.rank);
  for (int step = 1; step < team.count && !talk.halt; ++step) {
    const int p = (team.rank + step) % team.count;
    unsigned char* const to = team.inbox(p, talk.exchange);
    const std::uint32_t settlers = t.travellers.settlers[p], visitors = t.travellers.visitors[p];
    const std::uint32_t *const list = t.travellers.list + p * t.travellers.room,
                               *const end = list + t.travellers.room - 1;
    for (std::uint32_t k = thread; k < settlers; k += threads)
      pack(t, t.arrays, to, list[k], own.begin + k);
    for (std::uint32_t k = thread; k < visitors; k += threads)
      pack(t, t.of_visitors, to, *(end - k), own.end - 1 - k);
    if (thread == 0) {
      std::uint32_t* const words = team.header(p, talk.exchange, team.rank);
      words[0] = settlers, words[1] = visitors;
    }
  }
  const Talk::Heard heard = talk.agree();
  if (!talk.end(heard, halt)) return;
  t.arrivals->inbox = team.inbox(team.rank, talk.exchange);
  for (int p = 0; p < team.count; ++p) {
    const std::uint32_t* const words = team.header(team.rank, talk.exchange, p);
    t.arrivals->settlers[p] = p == team.rank ? 0 : words[0];
    t.arrivals->visitors[p] = p == team.rank ? 0 : words[1];
  }
}

}  // namespace perrin::detail
