// XXH64, a hash of 64 bits that notices damage; no protection against people.
//
// Y. Collet, xxHash fast digest algorithm, version 0.1.1 (2018).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace perrin::io {

inline std::uint64_t xxh64(const void* data, std::size_t n, std::uint64_t seed = 0) {
  constexpr std::uint64_t p1 = 0x9e3779b185ebca87, p2 = 0xc2b2ae3d27d4eb4f, p3 = 0x165667b19e3779f9,
                          p4 = 0x85ebca77c2b2ae63, p5 = 0x27d4eb2f165667c5;
  const auto* at = static_cast<const unsigned char*>(data);
  const unsigned char* const end = at + n;
  const auto word = [](const unsigned char* from) {  // little endian, as all machines of ours
    std::uint64_t value;
    std::memcpy(&value, from, 8);
    return value;
  };
  const auto round = [](std::uint64_t sum, std::uint64_t value) {
    return std::rotl(sum + value * p2, 31) * p1;
  };
  std::uint64_t hash = seed + p5;
  if (n >= 32) {
    std::uint64_t lane[4] = {seed + p1 + p2, seed + p2, seed, seed - p1};
    for (; end - at >= 32; at += 32)
      for (int k = 0; k < 4; ++k) lane[k] = round(lane[k], word(at + 8 * k));
    hash = std::rotl(lane[0], 1) + std::rotl(lane[1], 7) + std::rotl(lane[2], 12) +
           std::rotl(lane[3], 18);
    for (const std::uint64_t l : lane) hash = (hash ^ round(0, l)) * p1 + p4;
  }
  hash += n;
  for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ round(0, word(at)), 27) * p1 + p4;
  if (end - at >= 4) {
    std::uint32_t half;
    std::memcpy(&half, at, 4);
    hash = std::rotl(hash ^ (half * p1), 23) * p2 + p3;
    at += 4;
  }
  for (; at < end; ++at) hash = std::rotl(hash ^ (*at * p5), 11) * p1;
  hash = (hash ^ (hash >> 33)) * p2;
  hash = (hash ^ (hash >> 29)) * p3;
  return hash ^ (hash >> 32);
}

}  // namespace perrin::io
