// The neighbours of eight particles of a brick by one warp and the tensor cores.
//
// Whether |p - q|² < reach² is asked as |q|² - 2 p·q + (|p|² - reach²) < 0: for sixteen candidates
// q and eight particles p a product of matrices with four columns (x, y, z, |q|²) and (-2x, -2y,
// -2z, 1). Factors are TF32, 11 bits; each is split in two, and all products but that of the two
// remainders are taken, which leaves an error of 2^-21 |p||q|: lists reach a little further than
// they must (TileList). Signs are shifted into words, a bit per candidate, which stay in the
// registers of the thread that got them. Orthogonal boxes in single precision; in others and in
// double precision UnitSearch serves.
#pragma once

#include "neighbor/tiles/unit_search.h"

#ifdef __CUDACC__

namespace perrin::detail {

/// Beyond all reach.
PERRIN_HD Real4 beyond_reach() { return {Real(0), Real(0), Real(0), Real(1e30)}; }

/// One warp's search for the neighbours of particles first … first+7 of the brick. Lane l is thread
/// t = l mod 4 of row m = l/4: it feeds component t of candidates m and m+8 and of particle m, and
/// gets what is said of these candidates and particles 2t and 2t+1.
struct MatrixSearch {
  const TileSearch& s;
  const TileBlock& block;
  const std::uint32_t* cell_offset;
  const Real4* lengths;  // coordinates of the halo, and |r|²; behind it beyond_reach()
  std::uint32_t total;   // places in the halo
  UnitScratch scratch;

  static constexpr std::uint32_t warp = 0xffffffffu;

  /// The processor drops what is behind the 11th bit of a factor.
  __device__ static void split(float value, std::uint32_t& high, std::uint32_t& low) {
    high = __float_as_uint(value) & 0xffffe000u;
    low = __float_as_uint(value - __uint_as_float(high));
  }

  struct Words {
    // [particle 2t, 2t+1][candidate of the first, of the second eight]: the last step's bit is the
    // lowest
    std::uint32_t of[2][2] = {};
  };
  struct Factors {
    std::uint32_t high, low;  // of this lane's component of particle m
    float rest[2];            // |p|² - reach² of particles 2t, 2t+1
  };

  /// Sixteen candidates, of which this lane brings components at `a` and `b`.
  __device__ void step(const float* a, const float* b, const Factors& p, Words& words) const {
    std::uint32_t high[2], low[2];
    split(*a, high[0], low[0]);
    split(*b, high[1], low[1]);
    float d[4];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%8}, {%9,%10,%9,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(high[0]), "r"(high[1]), "r"(low[0]), "r"(low[1]), "r"(p.high), "f"(p.rest[0]),
          "f"(p.rest[1]));
    asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(high[0]), "r"(high[1]), "r"(p.low));
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      std::uint32_t& word = words.of[k & 1][k >> 1];
      word = __funnelshift_l(__float_as_uint(d[k]), word, 1);
    }
  }

  /// Writes the entries that the words of `steps` steps say, behind one another.
  __device__ void write(const Words& words, int c, std::uint32_t steps, std::uint32_t set,
                        std::uint16_t*& to) const {
    const std::uint32_t m = (threadIdx.x & 31) >> 2;
    // The bit of step k is steps-1-k.
    const auto* first = reinterpret_cast<const std::uint16_t*>(scratch.work) + set * matrix_steps;
    const std::uint16_t* place = first + steps - 1;
#pragma unroll
    for (std::uint32_t h = 0; h < 2; ++h)
      for (std::uint32_t bits = words.of[c][h]; bits != 0;) {
        const std::uint32_t b = 31u - std::uint32_t(__clz(int(bits)));
        bits ^= 1u << b;
        // The first place of the eight, or behind it, that is m modulo 8.
        *to++ = std::uint16_t(((place[-int(b)] + 8 * h + 7 - m) & ~7u) | m);
      }
  }

  /// Appends to the lists what two sets of words say, of `steps` steps in all. first_step: those
  /// before. self_at: 16 · step + 8 · (which eight) + lane at which particle m meets itself. found:
  /// entries of the lists of particles 2t and 2t+1; what does not fit is counted only.
  __device__ void harvest(std::uint32_t steps, std::uint32_t first_step, std::uint32_t self_at,
                          Words (&words)[2], std::uint32_t (&found)[2]) const {
    __syncwarp();
    const std::uint32_t lane = threadIdx.x & 31, m = lane >> 2, t = lane & 3;
    const std::uint32_t in_set[2] = {steps < matrix_steps ? steps : matrix_steps,
                                     steps < matrix_steps ? 0 : steps - matrix_steps};
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const std::uint32_t self = __shfl_sync(warp, self_at, 8 * t + 4 * c) - 16 * first_step;
      std::uint32_t own = 0;
#pragma unroll
      for (std::uint32_t set = 0; set < 2; ++set) {
        const std::uint32_t bit = in_set[set] - 1 - ((self >> 4) - set * matrix_steps);
        const std::uint32_t others = bit < in_set[set] && (self & 7) == m ? ~(1u << bit) : ~0u;
        words[set].of[c][0] &= self & 8 ? ~0u : others;
        words[set].of[c][1] &= self & 8 ? others : ~0u;
        own += __popc(words[set].of[c][0]) + __popc(words[set].of[c][1]);
      }
      std::uint32_t until = own;
#pragma unroll
      for (std::uint32_t up = 4; up < 32; up *= 2) {
        const std::uint32_t other = __shfl_up_sync(warp, until, up);
        if (lane >= up) until += other;
      }
      const std::uint32_t before = found[c] + until - own;
      found[c] += __shfl_sync(warp, until, 28 + t);
      if (found[c] > scratch.room) continue;
      std::uint16_t* to = scratch.list + (2 * t + c) * scratch.stride() + before;
      write(words[0], c, in_set[0], 0, to);
      write(words[1], c, in_set[1], 1, to);
    }
    __syncwarp();
  }

  /// Returns the number of neighbours of this lane's particle first + lane/4; its list is in
  /// `scratch`, if there was room.
  __device__ std::uint32_t operator()(std::uint32_t first) const {
    const TileGeometry& g = s.geometry;
    const std::uint32_t lane = threadIdx.x & 31, m = lane >> 2, t = lane & 3;
    const bool present = first + m < block.count;
    const UnitPlace at(s, block, cell_offset, block.first + first + (present ? m : 0));
    const Real4 own = lengths[at.self];
    Factors p;
    split(t == 0 ? -2 * own.x : t == 1 ? -2 * own.y : t == 2 ? -2 * own.z : 1.0f, p.high, p.low);
    const float rest = present ? own.w - s.reach2 : 1e30f;
    p.rest[0] = __shfl_sync(warp, rest, 8 * t), p.rest[1] = __shfl_sync(warp, rest, 8 * t + 4);
    // All eight take the candidates of any, which are few more: they are neighbours themselves.
    std::int32_t y0, y1, z0, z1;
    __syncwarp();
    neighbour_cells(g, 1, __reduce_min_sync(warp, at.y), __reduce_max_sync(warp, at.y), y0, y1);
    neighbour_cells(g, 2, __reduce_min_sync(warp, at.z), __reduce_max_sync(warp, at.z), z0, z1);
    auto* place = reinterpret_cast<std::uint16_t*>(scratch.work);
    const float* component = reinterpret_cast<const float*>(lengths) + t;
    std::uint32_t found[2] = {0, 0}, self_at = 0x80000000u, done = 0;  // met: not yet
    std::uint32_t k = 0, end = 0;
    std::int32_t z = z0;
    for (bool more = true; more;) {
      Words words[2];
      std::uint32_t steps = 0;
      while (steps < 2 * matrix_steps) {
        if (k >= end) {
          if (z == z1) {
            more = false;
            break;
          }
          k = cell_offset[(z * g.halo.y + y0) * g.halo.x];
          end = cell_offset[(z * g.halo.y + y1) * g.halo.x];
          if (z == at.z) self_at = (16 * (done + steps) + ((at.self - k) & ~7u)) | (at.self & 7);
          ++z;
          continue;
        }
        if (steps == matrix_steps) {
          words[0] = words[1];
          words[1] = {};
        }
        const std::uint32_t wanted = (end - k + 15) / 16,
                            room = matrix_steps - steps % matrix_steps;
        const std::uint32_t now = wanted < room ? wanted : room;
        if (lane < now) place[steps + lane] = std::uint16_t(k + 16 * lane);
        steps += now;
        const std::uint32_t full = (end - k) / 16 < now ? (end - k) / 16 : now;
        // Lane m takes the places that are m modulo 8: lists become groups of places in the same
        // bank, of which the pair loop reads several at a time.
        const std::uint32_t mine = k + ((m - k) & 7);
        const float* from = component + 4 * mine;
#pragma unroll 2
        for (std::uint32_t j = 0; j < full; ++j, from += 64) step(from, from + 32, p, words[1]);
        if (full < now) {
          const std::uint32_t a = mine + 16 * full, b = a + 8;
          step(component + 4 * (a < end ? a : total), component + 4 * (b < end ? b : total), p,
               words[1]);
        }
        k += 16 * now;
      }
      if (steps <= matrix_steps) {
        words[0] = words[1];
        words[1] = {};
      }
      if (steps > 0) harvest(steps, done, self_at, words, found);
      done += steps;
    }
    const std::uint32_t even = __shfl_sync(warp, found[0], m >> 1),
                        odd = __shfl_sync(warp, found[1], m >> 1);
    return !present ? 0 : m & 1 ? odd : even;
  }
};

}  // namespace perrin::detail

#endif
