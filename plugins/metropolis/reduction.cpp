// One move at a time, its energy change summed by all threads of the device.
#include <algorithm>

#include "engine.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "moves.h"
#include "pair_rows.h"

namespace perrin::metropolis {

/// The move in progress, in the device's memory.
struct CurrentMove {
  std::uint32_t molecule = 0, first = 0, sites = 0;  // `first`: of the molecule's sites
  Position centre;
  Quaternion orientation;
  double allowed = 0;
};

// Not in unnamed namespaces: nvcc wants names for what instantiates a kernel.
struct ProposeMove {
  SystemView view;
  MoveLaw law;
  RunKey choice;
  bool random_order;
  std::uint32_t replica, index;
  std::int64_t cycle;
  CurrentMove* move;
  Position* trial;

  PERRIN_HD void operator()(std::int64_t) const {
    CurrentMove now;
    now.molecule = random_order ? chosen(choice, cycle, index, view.molecules) : index;
    const std::int64_t entry = std::int64_t(replica) * view.molecules + now.molecule;
    const Position centre = view.centre[entry];
    const std::uint32_t local = view.template_first[centre.type()];
    now.first = view.first_site[now.molecule];
    now.sites = view.first_site[now.molecule + 1] - now.first;
    const Draw draw = draw_trial(law, cycle, index, replica, now.sites > 1);
    now.centre = moved(centre, draw);
    now.orientation = turned(view.orientation[entry], draw);
    now.allowed = draw.factor * view.kT[replica];
    for (std::uint32_t k = 0; k < now.sites; ++k)
      trial[k] = place_site(now.centre, now.orientation, view.local[local + k],
                            view.local_type[local + k], law.per_unit);
    *move = now;
  }
};

/// The change of energy of the moved molecule with one site.
template <class T>
struct EnergyChange {
  SystemView view;
  std::uint32_t replica;
  const CurrentMove* move;
  const Position* trial;
  const PairRow<T>* rows;
  Scale<T> scale;

  PERRIN_HD double operator()(std::int64_t j) const {
    const std::uint32_t first = move->first, n = move->sites;
    if (j >= first && j < first + n) return 0;
    const Position* site = view.site + std::int64_t(replica) * view.sites;
    const Position q = site[j];
    T sum = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      const Position fresh = trial[k], old = site[first + k];
      const PairRow<T>& row = rows[old.type() * view.types + q.type()];
      sum += AnyPair::energy(distance2<T>(fresh.x, fresh.y, fresh.z, q.x, q.y, q.z, scale), row) -
             AnyPair::energy(distance2<T>(old.x, old.y, old.z, q.x, q.y, q.z, scale), row);
    }
    return double(sum);
  }
};

struct DecideMove {
  SystemView view;
  std::uint32_t replica;
  const CurrentMove* move;
  const Position* trial;
  const double* change;

  PERRIN_HD void operator()(std::int64_t) const {
    const CurrentMove now = *move;
    if (*change <= now.allowed) accept(now);
    view.step_energy[replica] += view.energy[replica];
  }
  PERRIN_HD void accept(const CurrentMove& now) const {
    const std::int64_t entry = std::int64_t(replica) * view.molecules + now.molecule;
    view.centre[entry] = now.centre;
    view.orientation[entry] = now.orientation;
    Position* site = view.site + std::int64_t(replica) * view.sites + now.first;
    for (std::uint32_t k = 0; k < now.sites; ++k) site[k] = trial[k];
    view.energy[replica] += *change;
    view.accepted[replica] += 1;
  }
};

namespace {

class Reduction final : public MoveEngine {
 public:
  Reduction(System& system, const ChainOptions& chain)
      : MoveEngine(system, chain),
        choice_(Purpose::metropolis_choice, chain.seed),
        move_(system.device(), 1),
        scratch_(system.device(), sum_chunks + 1) {
    trial_ = Buffer<Position>(system.device(), system.model().largest_molecule());
  }
  void run(std::int64_t first, std::int64_t n) override {
    chain_.single_precision ? run_as<float>(first, n) : run_as<double>(first, n);
  }
  void set_sizes(const MoveSizes& sizes) override { sizes_ = sizes; }

 private:
  template <class T>
  void run_as(std::int64_t first, std::int64_t n) {
    const Device& device = system_.device();
    const Buffer<PairRow<T>> rows(device, std::span<const PairRow<T>>(make_rows<T>(system_)));
    const SystemView view = system_.view();
    const MoveLaw law(chain_.seed, sizes_, system_.box(), system_.own().begin);
    double* change = scratch_.data() + sum_chunks;
    for (std::uint32_t r = 0; r < view.replicas; ++r)
      for (std::int64_t cycle = first; cycle < first + n; ++cycle)
        for (std::uint32_t index = 0; index < view.molecules; ++index) {
          for_each(device, "trial move", 1,
                   ProposeMove{view, law, choice_, chain_.random_order, r, index, cycle,
                               move_.data(), trial_.data()});
          sum(device, "energy change", view.sites,
              EnergyChange<T>{view, r, move_.data(), trial_.data(), rows.data(),
                              Scale<T>::of(system_.box())},
              scratch_, change);
          for_each(device, "decision", 1, DecideMove{view, r, move_.data(), trial_.data(), change});
        }
    device.synchronize();  // the rows are in use
  }

  RunKey choice_;
  MoveSizes sizes_;
  Buffer<CurrentMove> move_;
  Buffer<Position> trial_;
  Buffer<double> scratch_;
};

}  // namespace

std::unique_ptr<MoveEngine> make_reduction(System& system, const ChainOptions& chain) {
  return std::make_unique<Reduction>(system, chain);
}

}  // namespace perrin::metropolis
