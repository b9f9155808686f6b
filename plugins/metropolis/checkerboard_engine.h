// The checkerboard for one kind of pair energy and one precision. Include it in a file that is
// compiled as CUDA where there is CUDA.
#pragma once

#include <algorithm>
#include <numeric>

#include "checkerboard.h"
#include "checkerboard_cpu.h"
#include "checkerboard_exchange.h"
#include "checkerboard_grid.h"
#include "checkerboard_sort.h"
#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "engine/domain/reduction.h"
#include "pair_rows.h"
#ifdef __CUDACC__
#include "checkerboard.cuh"
#endif

namespace perrin::metropolis {

/// How many atoms the domain that is cell c has to see.
template <class T>
struct CountStaged {
  CheckerboardGrid grid;
  const Position* position;
  const std::uint32_t* start;
  Vec3<T> scale;
  T range2;
  std::uint32_t* count;
  PERRIN_HD void operator()(std::int64_t c) const {
    const Vec3<std::int32_t> cell = grid.coordinates(std::int32_t(c));
    const CheckerboardDomain<T> domain(grid, cell, scale);
    std::uint32_t n = start[c + 1] - start[c];
    for (int k = 1; n > 0 && k < 27; ++k) {
      const std::int32_t other = grid.neighbor(cell, k);
      for (std::uint32_t i = start[other]; i < start[other + 1]; ++i)
        if (domain.beyond2(domain.point(domain.local(position[i]))) < range2) ++n;
    }
    count[c] = n;
  }
};

struct CheckerboardSum {
  double energy = 0, virial = 0;
  std::int64_t cores = 0;
  PERRIN_HD CheckerboardSum& operator+=(const CheckerboardSum& b) {
    energy += b.energy, virial += b.virial, cores += b.cores;
    return *this;
  }
};

/// Of all pairs of atom i, everything in double.
struct CheckerboardTotalsOf {
  CheckerboardGrid grid;
  const Position* position;
  const std::uint32_t* start;
  const PairRow<double>* table;
  std::uint32_t types;
  Vec3<double> scale;
  PERRIN_HD CheckerboardSum operator()(std::int64_t i) const {
    const Position p = position[i];
    const Vec3<std::int32_t> cell = grid.cell(p);
    CheckerboardSum sum;
    for (int k = 0; k < 27; ++k) {
      const std::int32_t c = grid.neighbor(cell, k);
      for (std::uint32_t j = start[c]; j < start[c + 1]; ++j) {
        const Position q = position[j];
        const double x = scale.x * double(std::int32_t(p.x - q.x)),
                     y = scale.y * double(std::int32_t(p.y - q.y)),
                     z = scale.z * double(std::int32_t(p.z - q.z));
        const double r2 = x * x + y * y + z * z;
        const PairRow<double>& row = table[p.type() * types + q.type()];
        if (std::int64_t(j) == i) continue;
        if (r2 < row.core2) {
          sum.energy += row.core_energy, sum.cores += 1;
        } else if (r2 < row.cutoff2) {
          const PairForce<double> pair = AnyPair::uncut(r2, row);
          sum.energy += pair.energy;
          sum.virial += pair.force_over_r * r2;
        }
      }
    }
    return sum;
  }
};

template <class T>
struct CheckerboardSlot {
  const T* slot;
  PERRIN_HD T operator()(std::int64_t d) const { return slot[d]; }
};

/// The system's running numbers after a run.
struct TellSystem {
  const double *base, *change;
  const std::uint64_t* accepted;
  SystemView system;
  PERRIN_HD void operator()(std::int64_t) const {
    system.energy[0] = *base + *change;
    system.accepted[0] += *accepted;
  }
};

struct GatherAtoms {
  SystemView system;
  Position* position;
  std::uint32_t* id;
  PERRIN_HD void operator()(std::int64_t i) const {
    position[i] = system.site[i];
    id[i] = std::uint32_t(i);
  }
};

struct ScatterAtoms {
  const Position* position;
  const std::uint32_t* id;
  SystemView system;
  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = position[i];
    system.site[id[i]] = p;
    Position& centre = system.centre[id[i]];
    centre = {p.x, p.y, p.z, centre.type()};
  }
};

/// P: the energy of a pair, CutLennardJones or AnyPair. `range`: the longest cut-off.
template <class P, class T>
class CheckerboardOf final : public CheckerboardEngine {
 public:
  CheckerboardOf(System& system, const ChainOptions& chain, const CheckerboardOptions& options,
                 double range)
      : CheckerboardEngine(system, chain),
        device_(distributed(system.device(), system.molecules())),
        options_(options),
        range_(range),
        types_(std::uint32_t(system.model().types.size())),
        position_(device_, system.molecules()),
        id_(device_, system.molecules()),
        base_(device_, 1),
        grid_key_(Purpose::metropolis_choice, chain.seed),
        move_key_(Purpose::metropolis_move, chain.seed),
        energy_sum_(device_, sum_chunks + 1),
        accepted_sum_(device_, sum_chunks + 1),
        exchange_(device_, system.molecules()) {
    system_changed();
  }

  void run(std::int64_t first, std::int64_t n) override {
    follow_energies();
    accepted_.zero();
    for (std::int64_t sweep = first; sweep < first + n; ++sweep) {
      if (sweep % 256 == 0) measure();
      const auto plan = checkerboard_plan(grid_key_, std::uint64_t(sweep), cells_);
      grid_ = plan.grid;
      sort_.sort(grid_, position_, id_);
      for (const Vec3<std::int32_t>& color : plan.colors) {
        const auto v = view(sweep, color);
        run_color(v);
        exchange_.complete(v, position_);
      }
    }
    double* const energy = energy_sum_.data() + sum_chunks;
    std::uint64_t* const accepted = accepted_sum_.data() + sum_chunks;
    sum(device_, "checkerboard energy", domains(), CheckerboardSlot<double>{energy_.data()},
        energy_sum_, energy);
    sum(device_, "checkerboard accepted", domains(),
        CheckerboardSlot<std::uint64_t>{accepted_.data()}, accepted_sum_, accepted);
    for_each(device_, "checkerboard totals", 1,
             TellSystem{base_.data(), energy, accepted, system_.view()});
    update_system();
  }

  std::int64_t moves_per_cycle() const override { return options_.trials * system_.molecules(); }

  void set_sizes(const MoveSizes& sizes) override {
    // Further than a domain is wide nothing is accepted.
    const Vec3<double> box = system_.box();
    step_ = sizes.translation;
    for (int a = 0; a < 3; ++a) step_ = std::min(step_, box[a] / cells_[a]);
  }

  void system_changed() override {
    kT_ = system_.temperatures().front();
    fit_cells();
    const double kT = kT_;
    table_ =
        Buffer<PairRow<T>>(device_, std::span<const PairRow<T>>(make_rows<T>(system_.model(), kT)));
    for_each(device_, "checkerboard gather", system_.molecules(),
             GatherAtoms{system_.view(), position_.data(), id_.data()});
    measure();
  }

  void update_system() override {
    for_each(device_, "checkerboard scatter", system_.molecules(),
             ScatterAtoms{position_.data(), id_.data(), system_.view()});
  }

  /// In double, in a time proportional to the number of atoms.
  std::vector<Totals> totals() override {
    fit_cells();
    sort_unshifted();
    const Buffer<PairRow<double>> table(
        device_, std::span<const PairRow<double>>(make_rows<double>(system_.model(), kT_)));
    const auto sums =
        sum<CheckerboardSum>(device_, "checkerboard totals", position_.size(),
                             CheckerboardTotalsOf{grid_, position_.data(), sort_.start(),
                                                  table.data(), types_, scale<double>()});
    Totals totals;  // every pair was met twice
    totals.energy = sums.energy / 2;
    totals.virial = sums.virial / 2;
    totals.cores = sums.cores / 2;
    return {totals};
  }

  void state(Archive& archive) override {
    const Archive::Scope scope(archive, "checkerboard");
    if (!archive.has("changes")) return;  // of an earlier version: the sums begin anew
    if (archive.is_saving()) {
      follow_energies();
      decomposition_of(device_).all_gather(energy_.data(), sizeof(double), domains());
    }
    auto changes = energy_.to_host();
    double base = base_.to_host(0);
    std::int64_t staged = staged_;
    archive("changes", changes);
    archive("base", base);
    archive("staged", staged);
    archive.require(staged >= 0 && staged <= 27 * system_.molecules(), "staged",
                    "a number of atoms");
    // With another box or potential the energy is set anew, and domains are others.
    if (archive.is_saving() || std::int64_t(changes.size()) != domains()) return;
    energy_.assign(changes);
    base_.assign(std::vector<double>{base});
    energies_of_ = system_.times_set();
    make_room_for(int(staged));
  }

  Vec3<std::int32_t> cells() const override { return cells_; }
  int staged() const override { return staged_; }

 private:
  std::int64_t domains() const { return std::int64_t(cells_.x) * cells_.y * cells_.z / 8; }
  /// Of each colour: the same for all, so that their sums are this process's. sum() adds those.
  Share own_domains() const { return decomposition_of(device_).share(domains()); }

  /// The running energy is that which was set last and what each domain has changed since. So its
  /// bits do not depend on where runs end, which the clock decides.
  void follow_energies() {
    if (energies_of_ == system_.times_set()) return;
    energies_of_ = system_.times_set();
    energy_.zero();
    device_.memory().copy(base_.data(), system_.view().energy, sizeof(double));
  }

  template <class U>
  Vec3<U> scale() const {
    const Vec3<double>& box = system_.box();
    return {U(box.x * 0x1p-32), U(box.y * 0x1p-32), U(box.z * 0x1p-32)};
  }

  /// Of the lists of candidates beyond the range. Left to us: what a particle strays in its trials,
  /// within reason.
  double margin() const {
    if (options_.margin > 0) return options_.margin;
    return std::min(1.6 * step_ * std::sqrt(1 + 0.4 * options_.trials), 0.16 * range_);
  }

  void fit_cells() {
    const Vec3<std::int32_t> cells = checkerboard_cells(system_.box(), range_, system_.molecules());
    if (cells == cells_) return;
    cells_ = cells;
    sort_ = CheckerboardSort(device_, system_.molecules(), cells_);
    energy_ = Buffer<double>(device_, domains());
    accepted_ = Buffer<std::uint64_t>(device_, domains());
    energies_of_ = -1;
  }

  void sort_unshifted() {
    grid_ = {{0, 0, 0}, cells_};
    sort_.sort(grid_, position_, id_);
  }

  /// The shared memory that a domain needs: what is there now, and some for fluctuations. Domains
  /// that do not fit are slower, not wrong.
  void measure() {
    sort_unshifted();
    const std::int64_t n = std::int64_t(cells_.x) * cells_.y * cells_.z;
    Buffer<std::uint32_t> count(device_, n);
    for_each(device_, "checkerboard staged", n,
             CountStaged<T>{grid_, position_.data(), sort_.start(), scale<T>(), T(range_ * range_),
                            count.data()});
    const auto host = count.to_host();
    make_room_for(int(*std::max_element(host.begin(), host.end())));
  }
  void make_room_for(int staged) {
    staged_ = staged;
    capacity_ = staged_ + staged_ / 16 + 8;
  }

  CheckerboardSweep<T> view(std::int64_t sweep, Vec3<std::int32_t> color) {
    CheckerboardSweep<T> v;
    v.grid = grid_;
    v.color = color;
    v.own = own_domains();
    v.position = position_.data();
    v.id = id_.data();
    v.start = sort_.start();
    v.table = table_.data();
    v.types = types_;
    v.scale = scale<T>();
    for (int a = 0; a < 3; ++a) v.step[a] = T(step_ / system_.box()[a] * 0x1p32);
    v.range2 = T(range_ * range_ * (1 + 1e-5));  // rounding must not lose a pair
    v.list2 = T((range_ + margin()) * (range_ + margin()) * (1 + 1e-5));
    v.margin2 = T(margin() * margin());
    v.kT = T(kT_);
    v.trials = options_.trials;
    v.key = move_key_;
    v.sweep = std::uint64_t(sweep);
    v.energy = energy_.data();
    v.accepted = accepted_.data();
    return v;
  }

  void run_color(const CheckerboardSweep<T>& v) {
#ifdef __CUDACC__
    if (device_.is_cuda()) return types_ == 1 ? run_cuda<true>(v) : run_cuda<false>(v);
#endif
    types_ == 1 ? run_cpu(CheckerboardCpu<P, T, true>{v})
                : run_cpu(CheckerboardCpu<P, T, false>{v});
  }

  template <class F>
  void run_cpu(const F& f) const {
    const std::int64_t begin = f.v.own.begin, n = f.v.own.size();
    for_tasks(
        device_, n, [&](std::int64_t k, int) { run_range(f, begin + k, begin + k + 1); }, n > 8);
  }

#ifdef __CUDACC__
  template <bool OneType>
  void run_cuda(const CheckerboardSweep<T>& v) {
    run_with<16, 6, OneType, sizeof(T) == 4 ? 10 : 5>(v);  // measured
  }
  template <int Lanes, int Slots, bool OneType, int Blocks>
  void run_with(const CheckerboardSweep<T>& v) {
    using Kernel = DomainKernel<P, T, Lanes, Slots, OneType>;
    using Part = Staged<T, OneType>;
    const auto kernel = checkerboard_domains<P, T, Lanes, Slots, OneType, Blocks>;
    constexpr std::size_t most = 227 * 1024;
    constexpr int block = 4 * Lanes;
    int capacity = (capacity_ + block - 1) / block * block;
    while (Kernel::groups * Part::bytes(capacity, Kernel::list_capacity) > most) capacity -= block;
    const std::size_t bytes = Part::bytes(capacity, Kernel::list_capacity);
    const std::size_t shared = Kernel::groups * bytes;
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
        "checkerboard: shared memory");
    const unsigned blocks = unsigned((v.own.size() + Kernel::groups - 1) / Kernel::groups);
    if (blocks == 0) return;
    launch(device_, "checkerboard domains", dim3(blocks), dim3(Kernel::threads), shared, kernel, v,
           capacity, bytes, static_cast<const std::uint32_t*>(device_.halt().word()));
  }
#endif

  Device device_;
  CheckerboardOptions options_;
  double range_, kT_ = 1, step_ = 0;
  std::uint32_t types_;
  Vec3<std::int32_t> cells_{};
  CheckerboardGrid grid_{};
  Buffer<PairRow<T>> table_;
  CheckerboardSort sort_;
  Buffer<Position> position_;
  Buffer<std::uint32_t> id_;
  Buffer<double> energy_;           // change in each domain's place, since the energy was set
  Buffer<double> base_;             // that energy
  std::int64_t energies_of_ = -1;   // System::times_set() then; -1: to be begun anew
  Buffer<std::uint64_t> accepted_;  // in each domain's place, of this run
  RunKey grid_key_, move_key_;
  Buffer<double> energy_sum_;
  Buffer<std::uint64_t> accepted_sum_;
  CheckerboardExchange exchange_;
  int staged_ = 0, capacity_ = 0;
};

}  // namespace perrin::metropolis
