// The checkerboard for one kind of pair energy. Include it in a file that is compiled as CUDA where
// there is CUDA.
#pragma once

#include <algorithm>
#include <numeric>

#include "engine/error.h"
#include "engine/parallel.h"
#include "plugins/metropolis/checkerboard.h"
#include "plugins/metropolis/checkerboard_cpu.h"
#include "plugins/metropolis/checkerboard_grid.h"
#include "plugins/metropolis/checkerboard_sort.h"
#ifdef __CUDACC__
#include "plugins/metropolis/checkerboard.cuh"
#endif

namespace perrin::metropolis {
namespace detail {

/// How many particles the domain that is cell c has to see.
struct CountStaged {
  CheckerboardGrid grid;
  const Position* position;
  const std::uint32_t* start;
  Real3 scale;
  Real range2;
  std::uint32_t* count;
  PERRIN_HD void operator()(std::int64_t c) const {
    const Vec3<std::int32_t> cell = grid.coordinates(std::int32_t(c));
    const CheckerboardDomain domain(grid, cell, scale);
    std::uint32_t n = start[c + 1] - start[c];
    for (int k = 1; n > 0 && k < 27; ++k) {
      const std::int32_t other = grid.neighbor(cell, k);
      for (std::uint32_t i = start[other]; i < start[other + 1]; ++i)
        if (domain.beyond2(domain.point(domain.local(position[i]))) < range2) ++n;
    }
    count[c] = n;
  }
};

struct EnergyAndVirial {
  double energy = 0, virial = 0;
  PERRIN_HD EnergyAndVirial& operator+=(const EnergyAndVirial& b) {
    energy += b.energy, virial += b.virial;
    return *this;
  }
};

/// Half of the pair energies and virials of particle i, everything in double.
template <class E>
struct TotalsOf {
  CheckerboardGrid grid;
  const Position* position;
  const std::uint32_t* start;
  const typename E::Coefficients* table;
  std::uint32_t types;
  Vec3<double> scale;
  PERRIN_HD EnergyAndVirial operator()(std::int64_t i) const {
    const Position p = position[i];
    const Vec3<std::int32_t> cell = grid.cell(p);
    EnergyAndVirial sum;
    for (int k = 0; k < 27; ++k) {
      const std::int32_t c = grid.neighbor(cell, k);
      for (std::uint32_t j = start[c]; j < start[c + 1]; ++j) {
        const Position q = position[j];
        const double x = scale.x * double(std::int32_t(p.x - q.x)),
                     y = scale.y * double(std::int32_t(p.y - q.y)),
                     z = scale.z * double(std::int32_t(p.z - q.z));
        const double r2 = x * x + y * y + z * z;
        const auto& of = table[p.type * types + q.type];
        if (std::int64_t(j) == i || !(r2 < double(of.cutoff2))) continue;
        const auto pair = E::evaluate(r2, of);
        sum.energy += 0.5 * pair.energy;
        sum.virial += 0.5 * pair.force_over_r * r2;
      }
    }
    return sum;
  }
};

template <class T>
struct SlotValue {
  const T* slot;
  PERRIN_HD T operator()(std::int64_t d) const { return slot[d]; }
};

}  // namespace detail

/// E is a Truncated<…>; `table` has types² entries; `range` is the longest cut-off.
template <class E>
class CheckerboardOf final : public Checkerboard {
 public:
  CheckerboardOf(const Device& device, const Box& box, const std::vector<Position>& position,
                 const std::vector<typename E::Coefficients>& table, std::uint32_t types,
                 double range, const CheckerboardOptions& options)
      : device_(device),
        box_(box),
        options_(options),
        range_(range),
        types_(types),
        cells_(checkerboard_cells(box, range, std::int64_t(position.size()))),
        table_(device, std::span<const typename E::Coefficients>(table)),
        sort_(device, std::int64_t(position.size()), cells_),
        position_(device, 0),
        id_(device, 0),
        energy_(device, domains()),
        accepted_(device, domains()),
        grid_key_(Purpose::metropolis_choice, options.seed),
        move_key_(Purpose::metropolis_move, options.seed) {
    set_step(options.step);
    set_positions(position);
    measure();
  }

  void run(std::int64_t sweeps) override {
    for (std::int64_t k = 0; k < sweeps; ++k, ++sweep_) {
      const auto plan = checkerboard_plan(grid_key_, std::uint64_t(sweep_), cells_);
      grid_ = plan.grid;
      sort_.sort(grid_, position_, id_);
      for (const Vec3<std::int32_t>& color : plan.colors) run_color(color);
    }
    tried_ +=
        std::uint64_t(sweeps) * std::uint64_t(options_.trials) * std::uint64_t(position_.size());
  }

  std::vector<Position> positions() const override {
    const auto position = position_.to_host();
    const auto id = id_.to_host();
    std::vector<Position> by_id(position.size());
    for (std::size_t i = 0; i < id.size(); ++i) by_id[id[i]] = position[i];
    return by_id;
  }

  void set_positions(const std::vector<Position>& position) override {
    std::vector<std::uint32_t> id(position.size());
    std::iota(id.begin(), id.end(), 0u);
    position_.assign(position);
    id_.assign(id);
    recompute();
  }

  double energy() const override {
    return energy_base_ + sum<double>(device_, "checkerboard energy", domains(),
                                      detail::SlotValue<double>{energy_.data()});
  }

  CheckerboardTotals recompute() override {
    grid_ = {{0, 0, 0}, cells_};
    sort_.sort(grid_, position_, id_);
    Vec3<double> scale;
    for (int a = 0; a < 3; ++a) scale[a] = box_.length[a] * 0x1p-32;
    const auto totals = sum<detail::EnergyAndVirial>(
        device_, "checkerboard totals", position_.size(),
        detail::TotalsOf<E>{grid_, position_.data(), sort_.start(), table_.data(), types_, scale});
    energy_.zero();
    energy_base_ = totals.energy;
    return {totals.energy, totals.virial};
  }

  std::int64_t sweep() const override { return sweep_; }
  void set_sweep(std::int64_t sweep) override { sweep_ = sweep; }
  std::uint64_t tried() const override { return tried_; }
  std::uint64_t accepted() const override {
    return sum<std::uint64_t>(device_, "checkerboard accepted", domains(),
                              detail::SlotValue<std::uint64_t>{accepted_.data()});
  }
  double step() const override { return step_; }
  void set_step(double step) override {
    // Further than a domain is wide nothing is accepted.
    double largest = box_.length.x / cells_.x;
    for (int a = 1; a < 3; ++a) largest = std::min(largest, box_.length[a] / cells_[a]);
    step_ = std::min(step, largest);
  }
  Vec3<std::int32_t> cells() const override { return cells_; }
  int staged() const override { return staged_; }

 private:
  std::int64_t domains() const { return std::int64_t(cells_.x) * cells_.y * cells_.z / 8; }

  Real3 scale() const {
    return {Real(box_.length.x * 0x1p-32), Real(box_.length.y * 0x1p-32),
            Real(box_.length.z * 0x1p-32)};
  }

  /// The shared memory that a domain needs: what is there now, and some for fluctuations. Domains
  /// that do not fit are slower, not wrong.
  void measure() {
    const std::int64_t n = std::int64_t(cells_.x) * cells_.y * cells_.z;
    Buffer<std::uint32_t> count(device_, n);
    for_each(device_, "checkerboard staged", n,
             detail::CountStaged{grid_, position_.data(), sort_.start(), scale(),
                                 Real(range_ * range_), count.data()});
    const auto host = count.to_host();
    staged_ = int(*std::max_element(host.begin(), host.end()));
    capacity_ = (staged_ + staged_ / 12 + 24) / 16 * 16;
  }

  CheckerboardSweep<E> view(Vec3<std::int32_t> color) {
    CheckerboardSweep<E> v;
    v.grid = grid_;
    v.color = color;
    v.position = position_.data();
    v.id = id_.data();
    v.start = sort_.start();
    v.table = table_.data();
    v.types = types_;
    v.scale = scale();
    for (int a = 0; a < 3; ++a) v.step[a] = Real(step_ / box_.length[a] * 0x1p32);
    v.range2 = Real(range_ * range_ * (1 + 1e-5));  // rounding must not lose a pair
    v.list2 = Real((range_ + options_.margin) * (range_ + options_.margin) * (1 + 1e-5));
    v.margin2 = Real(options_.margin * options_.margin);
    v.kT = Real(options_.kT);
    v.trials = options_.trials;
    v.key = move_key_;
    v.sweep = std::uint64_t(sweep_);
    v.energy = energy_.data();
    v.accepted = accepted_.data();
    return v;
  }

  void run_color(Vec3<std::int32_t> color) {
    const auto v = view(color);
#ifdef __CUDACC__
    if (device_.is_cuda()) {
      const int lanes = options_.lanes == 0 ? 16 : options_.lanes;
      if (types_ == 1)
        lanes == 8 ? run_cuda<8, 12, true>(v)
                   : (lanes == 16 ? run_cuda<16, 6, true>(v) : run_cuda<32, 3, true>(v));
      else
        run_cuda<16, 6, false>(v);
      return;
    }
#endif
    if (types_ == 1)
      run_cpu(CheckerboardCpu<E, true>{v});
    else
      run_cpu(CheckerboardCpu<E, false>{v});
  }

  template <class F>
  void run_cpu(const F& f) const {
    const std::int64_t n = domains();
#pragma omp parallel for num_threads(device_.threads()) schedule(dynamic, 4) if (n > 8)
    for (std::int64_t d = 0; d < n; ++d) perrin::detail::run_range(f, d, d + 1);
  }

#ifdef __CUDACC__
  template <int Lanes, int Slots, bool OneType>
  void run_cuda(const CheckerboardSweep<E>& v) {
    using Kernel = DomainKernel<E, Lanes, Slots, OneType>;
    const auto kernel = checkerboard_domains<E, Lanes, Slots, OneType>;
    constexpr std::size_t most = 227 * 1024;
    int capacity = capacity_;
    while (Kernel::groups * Staged<OneType>::bytes(capacity, Kernel::list_capacity) > most)
      capacity -= 16;
    const std::size_t bytes = Staged<OneType>::bytes(capacity, Kernel::list_capacity);
    const std::size_t shared = Kernel::groups * bytes;
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
        "checkerboard: shared memory");
    const unsigned blocks = unsigned((domains() + Kernel::groups - 1) / Kernel::groups);
    launch(device_, "checkerboard domains", dim3(blocks), dim3(Kernel::threads), shared, kernel, v,
           capacity, bytes, static_cast<const std::uint32_t*>(device_.halt_word()));
  }
#endif

  Device device_;
  Box box_;
  CheckerboardOptions options_;
  double range_, step_ = 0;
  std::uint32_t types_;
  Vec3<std::int32_t> cells_;
  CheckerboardGrid grid_{};
  Buffer<typename E::Coefficients> table_;
  CheckerboardSort sort_;
  Buffer<Position> position_;
  Buffer<std::uint32_t> id_;
  Buffer<double> energy_;
  Buffer<std::uint64_t> accepted_;
  RunKey grid_key_, move_key_;
  double energy_base_ = 0;
  std::int64_t sweep_ = 0;
  std::uint64_t tried_ = 0;
  int staged_ = 0, capacity_ = 0;
};

}  // namespace perrin::metropolis
