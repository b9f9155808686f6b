// Chains of trial moves on a CUDA device: a group of lanes makes all trials of a cell; see
// forces/trials/trial_loop.h.
//
// The group copies the particles of the cell and all others within the range of it into shared
// memory, once, as vectors from the cell's centre. Then, particle by particle: who is near is
// listed there, kept in registers, a few per lane, and serves all trials of that particle. The
// groups of a warp run in step, so that they never part: each loop goes as far as the group that
// needs it most.
#pragma once

#include <algorithm>
#include <cmath>

#include "forces/trials/trials_on_gpu.h"
#include "neighbor/neighbors.h"

namespace perrin::detail {

#ifdef __CUDACC__
/// How many lanes a group has, and its room in shared memory.
struct TrialStage {
  static constexpr int most_pieces = 18;
  int lanes = 16;     // 32 where cells are few or neighbours many
  int capacity = 0;   // particles; 0: nobody is copied, neighbours are read where they are
  int list_room = 0;  // neighbours of a particle
  unsigned bytes = 0;

  PERRIN_HD unsigned groups() const { return unsigned(trial_block / lanes); }

  TrialStage(const Device& device, const TrialChains& chains, const Box& box,
             std::int64_t particles, unsigned extra, bool copies) {
    const Vicinity near(chains, box, particles);
    const TrialCells& cells = chains.cells;
    if (cells.active() < 64 * std::int64_t(device.multiprocessors()) || near.of_particle > 80)
      lanes = 32;
    // Vectors from the centre of a cell are minimum images where all axes are cut.
    for (int axis = 0; axis < box.dimension; ++axis) copies = copies && cells.cells[axis] > 1;
    const int block = 4 * lanes;
    if (copies) {
      list_room = (int(1.3 * near.of_particle) / block + 1) * block;
      capacity = (int(1.1 * near.of_cell + 3 * std::sqrt(near.of_cell)) / block + 1) * block;
    }
    while (groups() * (bytes = bytes_for(extra)) > 48 * 1024) capacity -= block;
  }

 private:
  /// How many particles are near, were they everywhere alike.
  struct Vicinity {
    double of_cell, of_particle;  // of a particle: the margin included

    Vicinity(const TrialChains& chains, const Box& box, std::int64_t particles) {
      const TrialCells& cells = chains.cells;
      const double mean = double(particles) / double(cells.count()), pi = 3.14159265358979;
      const Vec3<double> h = box.padded_heights();
      const double x = h.x / cells.cells.x, y = h.y / cells.cells.y, z = h.z / cells.cells.z;
      const double r = chains.range, far = r + double(chains.margin);
      const bool flat = box.dimension == 2;
      const double most = flat ? 9 : 27, cell = flat ? x * y : x * y * z;
      const double around = flat ? cell + 2 * r * (x + y) + pi * r * r
                                 : cell + 2 * r * (x * y + y * z + z * x) +
                                       pi * r * r * (x + y + z) + 4 * pi / 3 * r * r * r;
      of_cell = mean * (box.orthogonal() ? std::min(most, around / cell) : most);
      of_particle = mean / cell * (flat ? pi * far * far : 4 * pi / 3 * far * far * far);
    }
  };
  unsigned bytes_for(unsigned extra) const {
    const unsigned all = unsigned(capacity) * (3 * unsigned(sizeof(Real)) + extra + 1) +
                         2 * unsigned(list_room) + 4 * (2 * most_pieces + 2);
    return (all + 31) / 32 * 32;
  }
};

/// A group of lanes at its cell.
template <class Body>
class ChainsOfCell {
 public:
  using Own = decltype(std::declval<const Body&>().own(0));
  using Extra = ExtraOf<Body>;
  static constexpr unsigned extra_bytes = Body::has_extra ? unsigned(sizeof(Extra)) : 0;

  __device__ ChainsOfCell(const Body& body, const TrialChains& chains, const Metric& metric,
                          const ExclusionView& exclusions, const TrialStage& stage, char* memory,
                          std::int64_t k)
      : chains_(chains),
        metric_(metric),
        group_(body, chains.cells, metric, exclusions, std::uint32_t(stage.lanes)),
        shift_(stage.lanes == 32 ? 5 : 4),
        offset_(threadIdx.x & 31 & ~(group_.lanes - 1)),
        capacity_(stage.capacity),
        x_(reinterpret_cast<Real*>(memory)),
        y_(x_ + capacity_),
        z_(y_ + capacity_),
        extra_(reinterpret_cast<Extra*>(z_ + capacity_)),
        first_(reinterpret_cast<std::uint32_t*>(extra_ + (Body::has_extra ? capacity_ : 0))),
        base_(first_ + TrialStage::most_pieces + 1),
        list_(reinterpret_cast<std::uint16_t*>(base_ + TrialStage::most_pieces + 1)),
        type_(reinterpret_cast<std::uint8_t*>(list_ + stage.list_room)),
        list_room_(stage.list_room) {
    const TrialCells& cells = chains.cells;
    const bool real = k < cells.active();
    k_ = real ? k : 0;
    cell_ = cells.active_cell(k_);
    key_ = cells.key(cell_);
    begin_ = cells.start[key_];
    own_ = real ? int(cells.start[key_ + 1] - begin_) : 0;
    centre_.x = centre(cell_.x, cells.cells.x, cells.shift.x);
    centre_.y = centre(cell_.y, cells.cells.y, cells.shift.y);
    centre_.z = cells.cells.z > 1 ? centre(cell_.z, cells.cells.z, cells.shift.z) : 0;
  }

  __device__ __forceinline__ void run() {
    if (capacity_ > 0) stage();
    TrialCounts counts;
    const int trials = int(chains_.trials);
    const Real kt = Real(chains_.kt);
    const int visits = warp_max(own_), lanes = int(group_.lanes);
    std::uint32_t id_of_lane = 0, place_of_lane = 0;
    TrialProposal::Drawn drawn_by_lane{};
    int drawn = lanes;  // of those of the lanes, used
    for (int p = 0; p < visits; ++p) {
      if ((p & (lanes - 1)) == 0 && p + lane() < own_) {
        id_of_lane = cells().id[begin_ + std::uint32_t(p + lane())];
        place_of_lane = cells().place[begin_ + std::uint32_t(p + lane())];
      }
      const std::uint32_t id = from(id_of_lane, (p & (lanes - 1))),
                          place = from(place_of_lane, (p & (lanes - 1)));
      const bool real = p < own_ && chains_.proposal.group.has(id);
      const std::uint32_t self = begin_ + std::uint32_t(real ? p : 0);
      const Own own = group_.body.own(real ? place : 0);
      const Position was = real ? cells().position[self] : Position{};
      const Real3 r_was = local(was);
      const int mine = own_first_ + p, listed = list_near(r_was, real && staged(), mine);
      const int rows = (warp_max(listed) + lanes - 1) >> shift_;
      const bool uses_list = staged() && listed <= list_room_;
      // Neighbours by lanes, as vectors from them.
      const bool kept = rows <= most_rows && uses_list;
      Near near[most_rows];
#pragma unroll
      for (int row = 0; row < most_rows; ++row) {
        const int n = row * lanes + lane();
        if (row >= rows || n >= listed || !kept) continue;
        const int of = list_[n];
        near[row].d = {r_was.x - x_[of], r_was.y - y_[of], r_was.z - z_[of]};
        near[row].type = type_[of];
        if constexpr (Body::has_extra) near[row].extra = extra_[of];
      }
      Position here = was;
      Real old_energy = 0;
      bool moved = false;
      for (int trial = -1; trial < trials; ++trial) {  // at first the energy where it is
        Position after = was;
        bool inside = real;
        float log_of_uniform = 0;
        if (trial >= 0) {
          if (drawn == lanes) {
            drawn = 0;
            drawn_by_lane = draw(p, trial + lane());
          }
          after =
              moved_by_axes(here, {from(drawn_by_lane.by.x, drawn), from(drawn_by_lane.by.y, drawn),
                                   from(drawn_by_lane.by.z, drawn), 0});
          log_of_uniform = from(drawn_by_lane.log_of_uniform, drawn);
          inside = real && cells().key(cells().cell_of(after)) == key_;
          ++drawn;
        }
        const Real3 gone = metric_.vector(after, was);
        const bool listed_there = uses_list && dot(gone, gone) <= chains_.margin * chains_.margin;
        Real part = 0;
        if (kept && listed_there) {
#pragma unroll
          for (int row = 0; row < most_rows; ++row) {
            if (row >= rows) continue;
            const Near& other = near[row];
            const Real3 d{other.d.x + gone.x, other.d.y + gone.y, other.d.z + gone.z};
            part += group_.energy(own, d, other.type, other.extra, row * lanes + lane() < listed);
          }
        } else if (inside) {
          part = energy_of_all(own, self, after, mine, listed_there ? listed : -1);
        }
        __syncwarp();
        const Real energy = sum(bounded(part));
        if (trial < 0) {
          old_energy = energy;
        } else if (inside && energy - old_energy <= -kt * Real(log_of_uniform)) {
          here = after, old_energy = energy, moved = true;
          ++counts.accepted;
        }
      }
      if (real) counts.tried += trials;
      if (moved && lane() == 0) settle(self, mine, place, was, here);
      __syncwarp();
    }
    if (lane() == 0 && own_ > 0) chains_.counts[k_] += counts;
  }

 private:
  static constexpr unsigned all = 0xffffffffu;
  static constexpr int most_rows = 6;  // of neighbours, one per lane, in registers

  struct Near {
    Real3 d{};
    std::uint32_t type = 0;
    Extra extra{};
  };

  __device__ const TrialCells& cells() const { return chains_.cells; }
  __device__ int lane() const { return int(group_.lane); }
  __device__ bool staged() const { return count_ >= 0; }

  // Lanes together: all of a warp call these.
  template <class T>
  __device__ __forceinline__ T from(T value, int of) const {
    return __shfl_sync(all, value, of, int(group_.lanes));
  }
  template <class T>
  __device__ __forceinline__ T sum(T value) const {
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
      if (step < int(group_.lanes)) value += __shfl_xor_sync(all, value, step);
    return value;
  }
  __device__ __forceinline__ static int warp_max(int value) {
    return __reduce_max_sync(all, value);
  }
  /// Of this lane and those before it in the group.
  __device__ __forceinline__ int running_sum(int value) const {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      if (step >= int(group_.lanes)) break;
      const int other = __shfl_up_sync(all, value, unsigned(step), int(group_.lanes));
      if (lane() >= step) value += other;
    }
    return value;
  }
  __device__ __forceinline__ unsigned ballot(bool bit) const {
    return __ballot_sync(all, bit) >> offset_ & (all >> (32 - group_.lanes));
  }

  __device__ static std::uint32_t centre(std::int32_t c, std::int32_t n, std::uint32_t shift) {
    return std::uint32_t(((2 * std::uint64_t(c) + 1) << 31) / std::uint32_t(n)) - shift;
  }
  __device__ __forceinline__ Real3 local(const Position& p) const {
    return metric_.vector(p, centre_);
  }
  /// The square of the distance of a point from the cell, or less.
  __device__ __forceinline__ Real beyond2(const Real3& r, const Real3& half) const {
    const Real x = std::fmax(std::fabs(r.x) - half.x, Real(0));
    const Real y = std::fmax(std::fabs(r.y) - half.y, Real(0));
    const Real z = std::fmax(std::fabs(r.z) - half.z, Real(0));
    return x * x + y * y + z * z;
  }

  /// Where the t-th particle of the surroundings is; piece: not behind it, moved on.
  __device__ __forceinline__ std::uint32_t slot(int t, int& piece) const {
    while (std::uint32_t(t) >= first_[piece + 1]) ++piece;
    return base_[piece] + std::uint32_t(t);
  }

  /// Copies who is near the cell. count_: how many; -1: more than there is room for.
  __device__ __forceinline__ void stage() {
    const int total = find_pieces();
    const Real cut = Real(0x1p31 * 1.000001);
    const Real3 half{metric_.xx * cut / Real(cells().cells.x),
                     metric_.yy * cut / Real(cells().cells.y),
                     metric_.zz * cut / Real(cells().cells.z)};
    const Real reach2 = chains_.range * chains_.range * Real(1.00001);
    const bool all_count = metric_.skewed;
    const int longest = warp_max(total), lanes = int(group_.lanes);
    int count = 0, piece = 0, own_first = 0;
    Position next[2]{};
    std::uint32_t next_slot[2]{};
#pragma unroll
    for (int ahead = 0; ahead < 2; ++ahead) {
      const int t = ahead * lanes + lane();
      if (t < total) next[ahead] = cells().position[next_slot[ahead] = slot(t, piece)];
    }
    for (int first = 0; first < longest; first += lanes) {
      const int t = first + lane();
      const Position q = next[0];
      const std::uint32_t at = next_slot[0];
      next[0] = next[1], next_slot[0] = next_slot[1];
      if (t + 2 * lanes < total)
        next[1] = cells().position[next_slot[1] = slot(t + 2 * lanes, piece)];
      const Real3 r = local(q);
      const bool keep = t < total && (all_count || beyond2(r, half) < reach2);
      const unsigned bits = ballot(keep);
      const int to = count + __popc(bits & ((1u << lane()) - 1));
      if (keep && to < capacity_) {
        x_[to] = r.x, y_[to] = r.y, z_[to] = r.z, type_[to] = std::uint8_t(q.type());
        if constexpr (Body::has_extra) extra_[to] = group_.body.extra(cells().place[at]);
      }
      const unsigned own = ballot(keep && at == begin_);
      if (own != 0) own_first = count + __popc(bits & ((own & -own) - 1));
      count += __popc(bits);
    }
    own_first_ = own_first;
    count_ = count > capacity_ ? -1 : count;
    const int block = 4 * lanes;
    padded_ = (warp_max(max(count_, 0)) + block - 1) / block * block;
    for (int t = max(count_, 0) + lane(); t < padded_; t += lanes) x_[t] = y_[t] = z_[t] = far;
    __syncwarp();
  }

  /// The surroundings as one sequence; returns how many particles there are.
  __device__ __forceinline__ int find_pieces() {
    const TrialSurroundings around{cells(), cell_};
    const int pieces = own_ > 0 ? around.pieces() : 0, lanes = int(group_.lanes);
    int total = 0;
    for (int first = 0; first < TrialStage::most_pieces; first += lanes) {
      const int piece = first + lane();
      std::uint32_t begin = 0, end = 0;
      if (piece < pieces) around.piece(piece, begin, end);
      const int n = int(end - begin), upto = running_sum(n);
      if (piece <= TrialStage::most_pieces) {
        first_[piece] = std::uint32_t(total + upto - n);
        if (piece < TrialStage::most_pieces) base_[piece] = begin - std::uint32_t(total + upto - n);
      }
      total += from(upto, lanes - 1);
    }
    if (lane() == 0) first_[TrialStage::most_pieces] = std::uint32_t(total);
    __syncwarp();
    return total;
  }

  struct alignas(4 * sizeof(Real)) Quad {
    Real at[4];
  };
  __device__ __forceinline__ static std::uint32_t append_near(std::uint32_t bits, Real dx, Real dy,
                                                              Real dz, Real reach2) {
    const Real beyond = dz * dz + (dy * dy + (dx * dx - reach2));
    if constexpr (sizeof(Real) == 4)
      return __funnelshift_l(__float_as_uint(float(beyond)), bits, 1);  // its sign
    else
      return bits * 2 + (beyond < Real(0) ? 1 : 0);
  }

  /// Lists those within the range and the margin but one; returns how many there are, which may be
  /// more than are listed. A lane looks at four in a row at a time and keeps a bit of each.
  __device__ __forceinline__ int list_near(const Real3& r, bool wanted, int but) {
    const Real reach = chains_.range + chains_.margin, reach2 = reach * reach * Real(1.00001);
    const int lanes = int(group_.lanes);
    int listed = 0;
    for (int begin = 0; begin < padded_; begin += 32 * lanes) {
      std::uint32_t bits = 0;
      int looked = 0;
      for (; looked < 32 && begin + looked * lanes < padded_; looked += 4) {
        const int t = begin + looked * lanes + 4 * lane();
        const Quad x = *reinterpret_cast<const Quad*>(x_ + t);
        const Quad y = *reinterpret_cast<const Quad*>(y_ + t);
        const Quad z = *reinterpret_cast<const Quad*>(z_ + t);
#pragma unroll
        for (int k = 0; k < 4; ++k)
          bits = append_near(bits, x.at[k] - r.x, y.at[k] - r.y, z.at[k] - r.z, reach2);
      }
      if (!wanted) bits = 0;
      bits <<= 32 - looked;  // the first is the highest
      const int round = (but - begin) >> 2, bit = (round >> shift_) * 4 + (but & 3);
      if (bit >= 0 && bit < looked && (round & (lanes - 1)) == lane())
        bits &= ~(0x80000000u >> bit);
      const int found = __popc(bits), end = running_sum(found);
      int to = listed + end - found;
      for (; bits != 0; ++to) {
        const int k = __clz(int(bits));
        bits ^= 0x80000000u >> k;
        if (to < list_room_)
          list_[to] = std::uint16_t(begin + (k & ~3) * lanes + 4 * lane() + (k & 3));
      }
      listed += from(end, lanes - 1);
    }
    __syncwarp();
    return listed;
  }

  /// This lane's part of the energy of a particle at p, number `mine` of those copied. `listed`:
  /// the list holds all that it can meet there; -1: it does not.
  __device__ __forceinline__ Real energy_of_all(const Own& own, std::uint32_t self,
                                                const Position& p, int mine, int listed) const {
    Real part = 0;
    if (!staged()) {
      group_.for_each_neighbor(cell_, self, [&](std::uint32_t slot) {
        const Position q = cells().position[slot];
        part += group_.energy(own, metric_.vector(p, q), q.type(),
                              extra_of(group_.body, Body::has_extra ? cells().place[slot] : 0u));
      });
      return part;
    }
    const Real3 r = local(p);
    const int count = listed >= 0 ? listed : count_;
    for (int n = lane(); n < count; n += int(group_.lanes)) {
      const int k = listed >= 0 ? int(list_[n]) : n;
      if (k == mine) continue;
      const Real3 d{r.x - x_[k], r.y - y_[k], r.z - z_[k]};
      Extra extra{};
      if constexpr (Body::has_extra) extra = extra_[k];
      part += group_.energy(own, d, type_[k], extra);
    }
    return part;
  }

  /// The numbers of a trial, as counted from the first of particle p of the cell: perhaps of one
  /// that comes behind it. The displacement is in fixed-point units.
  __device__ __forceinline__ TrialProposal::Drawn draw(int p, int trial) const {
    const std::uint32_t later = std::uint32_t(trial) / chains_.trials;
    const std::uint32_t of = std::uint32_t(p) + later;
    if (of >= std::uint32_t(own_)) return {};
    auto drawn = chains_.proposal.draw(cells().id[begin_ + of],
                                       std::uint32_t(trial) - later * chains_.trials);
    drawn.by = metric_.fixed_word(drawn.by);
    return drawn;
  }

  __device__ __forceinline__ void settle(std::uint32_t self, int mine, std::uint32_t place,
                                         const Position& from_here, const Position& to) {
    cells().position[self] = to;
    chains_.particles.go(place, from_here, to);
    if (!staged()) return;
    const Real3 r = local(to);
    x_[mine] = r.x, y_[mine] = r.y, z_[mine] = r.z;
  }

  static constexpr Real far = Real(1e9);  // beyond every range

  const TrialChains& chains_;
  const Metric& metric_;
  TrialGroup<Body> group_;
  int shift_;        // lanes are 2^shift_
  unsigned offset_;  // of the group in the warp
  int capacity_;
  Real *x_, *y_, *z_;             // [capacity_]
  Extra* extra_;                  // [capacity_]; of bodies that have any
  std::uint32_t *first_, *base_;  // of pieces: in the sequence of all, and slot less that
  std::uint16_t* list_;           // [list_room_]
  std::uint8_t* type_;            // [capacity_]
  int list_room_;
  std::int64_t k_;
  Vec3<std::int32_t> cell_;
  std::int32_t key_;
  std::uint32_t begin_;  // slot of the first particle of the cell
  int own_;              // particles of the cell
  Position centre_{};
  int count_ = -1, padded_ = 0;
  int own_first_ = 0;  // of those copied, the first of the cell
};

// As many blocks as a liquid leaves room for in shared memory: one more costs registers.
constexpr int trial_blocks = sizeof(Real) == 4 ? 5 : 2;

template <class Body>
__global__ void __launch_bounds__(trial_block, trial_blocks)
    trial_chain_kernel(const __grid_constant__ Body body,
                       const __grid_constant__ TrialChains chains, const Metric* kept_metric,
                       const ExclusionView exclusions, const __grid_constant__ TrialStage stage,
                       const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  extern __shared__ __align__(32) char trial_memory[];
  const unsigned group = threadIdx.x / unsigned(stage.lanes);
  const std::int64_t k = std::int64_t(blockIdx.x) * stage.groups() + group;
  const Metric metric = *kept_metric;
  ChainsOfCell<Body>(body, chains, metric, exclusions, stage, trial_memory + group * stage.bytes, k)
      .run();
}

template <class Body>
void launch_trial_chains(const char* name, StepContext& s, const TrialChains& chains,
                         const Body& body) {
  const Device& device = s.device();
  const ExclusionView exclusions = s.neighbors()->exclusions();
  const TrialStage stage(device, chains, s.particles().box(), s.particles().size(),
                         ChainsOfCell<Body>::extra_bytes, !exclusions);
  const std::int64_t groups = stage.groups();
  const auto blocks = unsigned((chains.cells.active() + groups - 1) / groups);
  launch_early(device, name, dim3(blocks), dim3(trial_block), stage.groups() * stage.bytes,
               trial_chain_kernel<Body>, body, chains, s.particles().metric().kept, exclusions,
               stage, static_cast<const std::uint32_t*>(device.halt().word()));
}
#endif

}  // namespace perrin::detail
