// Sorting where several domains take care of the particles, each of its own (TileSort).
//
// Particles are counted into cells by whoever has them, and the counts of all are added up: so all
// know where the cells begin in the one order of all particles. From that follows who looks at a
// particle's brick, and whose share it is in; it goes there, as a migrant where it may have come
// into that share, else as a ghost. What has come and what was there is then sorted as
// always, except that places outside of the own share are those of ghosts, of which positions and
// ids are known and nothing else.
#include <algorithm>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "neighbor/tiles/tile_ghosts.h"
#include "neighbor/tiles/tile_sort.h"

namespace perrin {
namespace {

/// After the counts were added up: where cells begin, and with them shares and tiles.
struct FindShares {
  CellSort::Arrays cells;
  std::int64_t cell_count, n;
  int bits;  // of the cells of a brick
  int me, domains;
  Share share[Decomposition::most];
  std::uint32_t* first_cell;         // [domain]
  std::uint32_t *tiles, *own_cells;  // of this domain: first and end
  std::uint32_t* going;
  std::uint32_t* ghosts;  // TileGhosts::counts()
  bool copies;            // from `scanned`

  PERRIN_HD void operator()(std::int64_t c) const {
    const std::uint32_t* const from = copies ? cells.scanned : cells.start;
    const std::int64_t begin = from[c];
    if (copies && cells.scanned != cells.start) cells.start[c] = std::uint32_t(begin);
    if (c == 0) {
      for (int k = 0; k < 1 + 2 * Decomposition::most; ++k) going[k] = 0;
      for (int k = 0; ghosts && k < 2 * domains; ++k) ghosts[k] = 0;
      if (share[me].size() == 0) tiles[0] = tiles[1] = own_cells[0] = own_cells[1] = 0;
    }
    if (c == cell_count) {
      for (int p = 0; p <= domains; ++p)
        if (p == domains || share[p].begin >= n) first_cell[p] = std::uint32_t(cell_count);
      return;
    }
    if (copies) cells.count[c] = 0;
    const std::int64_t end = from[c + 1];
    if (begin == end) return;
    const auto holds = [&](std::int64_t place) { return begin <= place && place < end; };
    for (int p = 0; p < domains; ++p)
      if (holds(share[p].begin)) first_cell[p] = std::uint32_t(c);
    if (share[me].size() == 0) return;
    if (holds(share[me].begin)) {
      tiles[0] = std::uint32_t(c >> bits);
      own_cells[0] = std::uint32_t(c);
    }
    if (holds(share[me].end - 1)) {
      tiles[1] = std::uint32_t(c >> bits) + 1;
      own_cells[1] = std::uint32_t(c) + 1;
    }
  }
};

/// `shares` and `going`: those of TileSort.
FindShares shares_finder(const Particles& particles, const TileGeometry& geometry,
                         const CellSort::Arrays& cells, std::uint32_t* shares, std::uint32_t* going,
                         std::uint32_t* ghosts, bool copies) {
  const Decomposition& decomposition = decomposition_of(particles.device());
  FindShares find{cells,
                  geometry.cell_count(),
                  particles.size(),
                  geometry.log2_cells_per_brick(),
                  decomposition.own(),
                  decomposition.count(),
                  {},
                  shares,
                  shares + Decomposition::most + 1,
                  shares + Decomposition::most + 3,
                  going,
                  ghosts,
                  copies};
  for (int p = 0; p < decomposition.count(); ++p)
    find.share[p] = decomposition.share(particles.size(), p);
  return find;
}

#ifdef __CUDACC__

/// One more of what `counter` counts: its number. The threads of a warp that are here count
/// together.
__device__ std::uint32_t next_number(std::uint32_t* counter) {
  const unsigned here = __activemask(), lane = threadIdx.x & 31;
  const int first = __ffs(int(here)) - 1;
  std::uint32_t at = 0;
  if (int(lane) == first) at = atomicAdd(counter, std::uint32_t(__popc(here)));
  at = __shfl_sync(here, at, first);
  return at + std::uint32_t(__popc(here & ((1u << lane) - 1)));
}

struct CountOwn {
  TileGeometry geometry;
  CellSort::Arrays cells;
  const Position* position;
  const std::uint32_t* first_cell;  // [domain]
  int me;
  std::uint32_t *stray, *strays;

  PERRIN_HD void operator()([[maybe_unused]] std::int64_t i) const {
#ifdef __CUDA_ARCH__
    const std::uint32_t key = geometry.key(position[i]);
    cells.key[i] = key;
    cells.slot[i] = atomicAdd(&cells.count[key], 1u);
    if (key < first_cell[me] || key >= first_cell[me + 1]) stray[next_number(strays)] = key;
#endif
  }
};

/// Own particles into their cells, and those that go to others into lists.
struct ListMigrants {
  CellSort::Arrays cells;
  int bits, me, domains;
  Share share[Decomposition::most];
  const std::uint64_t* who_looks;  // [brick]
  std::uint32_t *list, *migrants, *ghosts;
  std::int64_t room;

  PERRIN_HD void operator()([[maybe_unused]] std::int64_t i) const {
#ifdef __CUDA_ARCH__
    const std::uint32_t key = cells.key[i], first = cells.start[key];
    const std::uint64_t who = who_looks[key >> bits] & ~(std::uint64_t(1) << me);
    cells.member[first + cells.slot[i]] = std::uint32_t(i);
    if (who == 0) return;
    const std::uint32_t count = cells.start[key + 1] - first;
    for (int p = 0; p < domains; ++p) {
      if (!(who >> p & 1)) continue;
      if (share[p].meets(first, count))
        list[p * room + next_number(migrants + p)] = std::uint32_t(i);
      else
        list[(p + 1) * room - 1 - next_number(ghosts + p)] = std::uint32_t(i);
    }
#endif
  }
};

/// What a domain sorts: its own particles, where they are, and what has come from others. A
/// number below n stands for each: its place, or that in the inbox.
struct Sorted {
  MemoryOrder::Arrays own;
  Share share[Decomposition::most];
  int me, domains;
  const ReceiveBuffer* arrivals;
  std::size_t at[ReceiveBuffer::arrays];

  __device__ bool is_own(std::int64_t place) const { return share[me].meets(place, 1); }
  template <class T>
  __device__ const T& of(const T* array, int a, std::uint32_t i) const {
    return is_own(i) ? array[i] : reinterpret_cast<const T*>(arrivals->inbox + at[a])[i];
  }
  __device__ const Position& position(std::uint32_t i) const { return of(own.position, 0, i); }
  __device__ std::uint32_t id(std::uint32_t i) const { return of(own.id, 1, i); }
  __device__ const Real4& velocity(std::uint32_t i) const { return of(own.velocity, 2, i); }
  __device__ const Image& image(std::uint32_t i) const { return of(own.image, 3, i); }
  /// In front of another of the same cell: by x, if that is said, and then by id.
  __device__ bool is_before(std::uint32_t i, bool by_x, std::uint32_t x,
                            std::uint32_t other) const {
    if (by_x)
      if (const std::uint32_t its_x = position(i).x; its_x != x) return its_x < x;
    return id(i) < other;
  }
};

/// What has come, from the end of its cell.
struct PlaceInCell {
  static constexpr bool arrivals_alone = true;
  CellSort::Arrays cells;
  TileGeometry geometry;
  Sorted sorted;

  __device__ void operator()(std::uint32_t i, bool) const {
    const std::uint32_t key = geometry.key(sorted.position(i));
    cells.key[i] = key;
    cells.member[cells.start[key + 1] - 1 - atomicAdd(&cells.count[key], 1u)] = i;
  }
};

struct MoveSortedLocally {
  CellSort::Arrays cells;
  int bits;
  const std::uint64_t* who_looks;  // [brick]
  const std::uint32_t* own_cells;  // first and end of those that have places of the share
  Sorted sorted;
  MemoryOrder::Arrays to, ghosts;  // for its own particles, and for others
  std::uint32_t* index;
  bool by_x, velocities;  // of ghosts, too

  /// By place, so that what is written lies together.
  __device__ void by_place(std::uint32_t thread, std::uint32_t threads) const {
    const std::uint32_t end = cells.start[own_cells[1]];
    for (std::uint32_t k = cells.start[own_cells[0]] + thread; k < end; k += threads) {
      const std::uint32_t i = cells.member[k];
      move(i, cells.key[i]);
    }
  }
  static constexpr bool arrivals_alone = false;
  /// What is left: ghosts. Of bricks that this domain does not look at it does not know all
  /// particles, and needs none.
  __device__ void operator()(std::uint32_t i, bool arrived) const {
    const std::uint32_t key = cells.key[i];
    if (arrived) cells.count[key] = 0;  // for the next time
    if (key >= own_cells[0] && key < own_cells[1]) return;
    if (who_looks[key >> bits] >> sorted.me & 1) move(i, key);
  }
  __device__ void move(std::uint32_t i, std::uint32_t key) const {
    const std::uint32_t id = sorted.id(i), begin = cells.start[key], end = cells.start[key + 1];
    const Position position = sorted.position(i);
    std::uint32_t place = begin;
    for (std::uint32_t k = begin; k < end; ++k)
      place += sorted.is_before(cells.member[k], by_x, position.x, id) ? 1 : 0;
    index[id] = place;
    if (sorted.is_own(place)) {
      to.position[place] = position;
      to.velocity[place] = sorted.velocity(i);
      to.image[place] = sorted.image(i);
      to.id[place] = id;
    } else {
      ghosts.position[place] = position;
      ghosts.id[place] = id;
      if (velocities) ghosts.velocity[place] = sorted.velocity(i);
    }
  }
};

constexpr int sorted_block = 128;

/// Of a kernel's blocks the first take what has come, the next go by place, and the rest take the
/// own particles.
struct SortedBlocks {
  std::uint32_t arrivals, by_place;
};

/// f(i, arrived?) for all of f.sorted, or for arrivals alone, and f.by_place() where there is one.
template <class F>
__global__ void __launch_bounds__(sorted_block)
    sorted_kernel(const F f, const SortedBlocks blocks, const std::uint32_t* halt) {
  if (begin_kernel(halt)) return;
  const Sorted& sorted = f.sorted;
  if (blockIdx.x >= blocks.arrivals) {
    std::uint32_t block = blockIdx.x - blocks.arrivals;
    if constexpr (requires { f.by_place(block, block); })
      if (block < blocks.by_place)
        return f.by_place(block * sorted_block + threadIdx.x, blocks.by_place * sorted_block);
    block -= blocks.by_place;
    const std::int64_t i = sorted.share[sorted.me].begin + block * sorted_block + threadIdx.x;
    if (i < sorted.share[sorted.me].end) f(std::uint32_t(i), false);
    return;
  }
  const std::uint32_t thread = blockIdx.x * sorted_block + threadIdx.x,
                      threads = blocks.arrivals * sorted_block;
  for (int p = 0; p < sorted.domains; ++p) {
    const Share& theirs = sorted.share[p];
    const std::uint32_t migrants = sorted.arrivals->migrants[p],
                        ghosts = sorted.arrivals->ghosts[p];
    for (std::uint32_t k = thread; k < migrants; k += threads)
      f(std::uint32_t(theirs.begin) + k, true);
    for (std::uint32_t k = thread; k < ghosts; k += threads)
      f(std::uint32_t(theirs.end) - 1 - k, true);
  }
}

template <class F>
void for_each_sorted(const Device& device, const char* name, const F& f) {
  const std::int64_t own = f.sorted.share[f.sorted.me].size();
  const auto own_blocks = unsigned((own + sorted_block - 1) / sorted_block);
  SortedBlocks blocks{std::clamp(own_blocks / 2, 32u, 2048u), 0};
  if constexpr (requires { f.by_place(own_blocks, own_blocks); }) blocks.by_place = own_blocks;
  const unsigned others = blocks.by_place + (F::arrivals_alone ? 0 : own_blocks);
  launch_early(device, name, dim3(blocks.arrivals + others), dim3(sorted_block), 0,
               sorted_kernel<F>, f, blocks,
               static_cast<const std::uint32_t*>(device.halt().word()));
}
#endif

}  // namespace

void TileSort::find_shares(TileGhosts& ghosts) {
  for_each(particles_->device(), "shares", geometry_.cell_count() + 1,
           shares_finder(*particles_, geometry_, cells_.arrays(), shares_.data(), going_.data(),
                         ghosts.counts(), false));
}

void TileSort::sort_locally([[maybe_unused]] Position* positions,
                            [[maybe_unused]] TileGhosts& ghosts, [[maybe_unused]] bool exchanging,
                            [[maybe_unused]] std::uint32_t* progress,
                            [[maybe_unused]] std::uint32_t step) {
#ifdef __CUDACC__
  const Device& device = particles_->device();
  Decomposition& decomposition = decomposition_of(device);
  const Share own = particles_->share();
  const std::int64_t n = particles_->size(), room = order_.size() / decomposition.count();
  const CellSort::Arrays cells = cells_.arrays();
  const FindShares find = shares_finder(*particles_, geometry_, cells, shares_.data(),
                                        going_.data(), ghosts.counts(), true);
  const MemoryOrder::Arrays arrays = particles_->memory_order().arrays();
  std::uint32_t *const strays = going_.data(), *const going = strays + 1,
                       *const seen = going + Decomposition::most;
  for_each(device, "count own cells", own,
           CountOwn{geometry_, cells, arrays.position, shares_.data(), decomposition.own(),
                    order_.data(), strays});
  decomposition.add_up(
      {cells.count, find.cell_count, shares_.data(), order_.data(), strays, n, progress, step});
  cells_.scan();
  for_each(device, "shares", find.cell_count + 1, find);
  ghosts.find(cells_.start(), n);
  ListMigrants list{cells,
                    find.bits,
                    decomposition.own(),
                    decomposition.count(),
                    {},
                    ghosts.who_looks(),
                    order_.data(),
                    going,
                    seen,
                    room};
  std::copy(find.share, find.share + decomposition.count(), list.share);
  for_each(device, "who goes where", own, list);
  const SharedArray migrating[] = {{arrays.position, sizeof(Position), n},
                                   {arrays.id, sizeof(std::uint32_t), n},
                                   {arrays.velocity, sizeof(Real4), n},
                                   {arrays.image, sizeof(Image), n}};
  const bool velocities = particles_->domain().needs().velocities;
  decomposition.migrate(migrating, velocities ? 3 : 2, {order_.data(), going, seen, room},
                        arrivals_.data());
  Sorted sorted{arrays, {}, decomposition.own(), decomposition.count(), arrivals_.data(), {}};
  std::copy(find.share, find.share + decomposition.count(), sorted.share);
  std::ranges::copy(Decomposition::places_in_inbox(migrating), sorted.at);
  for_each_sorted(device, "place in cells", PlaceInCell{cells, geometry_, sorted});
  for_each_sorted(device, "sort particles",
                  MoveSortedLocally{cells, find.bits, ghosts.who_looks(), find.own_cells, sorted,
                                    particles_->memory_order().spare_arrays(),
                                    exchanging ? particles_->memory_order().spare_arrays() : arrays,
                                    particles_->index().data(), geometry_.sorted, velocities});
  if (exchanging)
    particles_->memory_order().swap_buffers();
  else
    particles_->memory_order().copy_back(positions, own);
#endif
}

}  // namespace perrin
