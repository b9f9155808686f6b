// The reference: one CPU thread, one move after the other. Its loop over the other sites uses the
// vector units, so that it is a fair one.
#include <algorithm>

#include "engine/parallel.h"
#include "plugins/metropolis/engine.h"
#include "plugins/metropolis/moves.h"
#include "plugins/metropolis/pair_rows.h"
#include "plugins/metropolis/site_arrays.h"

namespace perrin::metropolis {
namespace {

/// The state of one replica on the host.
struct HostReplica {
  SystemView view;  // host pointers
  SiteArrays* arrays;
  std::uint32_t replica;
  Position* trial;  // sites of the molecule that is being moved
};

/// One cycle of one replica.
template <class T, class E>
struct SequentialCycle {
  HostReplica host;
  MoveLaw law;
  RunKey choice;
  bool random_order;
  const PairRow<T>* rows;
  std::int64_t cycle;

  PERRIN_HD void operator()(std::int64_t) const {
    const SystemView& v = host.view;
    const SiteArrays& s = *host.arrays;
    const std::int64_t base = std::int64_t(host.replica) * v.sites;
    const double kT = v.kT[host.replica];
    SiteChange<T, E> change{
        s.x.data() + base,      s.y.data() + base, s.z.data() + base, s.type.data() + base, rows,
        Scale<T>::of(v.length), v.types == 1};
    double energy = 0;
    unsigned long long accepted = 0;
    for (std::uint32_t index = 0; index < v.molecules; ++index) {
      const std::uint32_t m = random_order ? chosen(choice, cycle, index, v.molecules) : index;
      const std::size_t entry = std::size_t(host.replica) * v.molecules + m;
      const Position centre = v.centre[entry];
      const std::uint32_t first = v.template_first[centre.type];
      const std::uint32_t n = v.template_first[centre.type + 1] - first;
      const Draw draw = draw_trial(law, cycle, index, host.replica, n > 1);
      const Position new_centre = moved(centre, draw);
      const Quaternion turn = turned(v.orientation[entry], draw);
      const std::uint32_t begin = v.first_site[m], end = v.first_site[m + 1];
      double dE = 0;
      for (std::uint32_t k = 0; k < n; ++k) {
        host.trial[k] =
            place_site(new_centre, turn, v.local[first + k], v.local_type[first + k], law.per_unit);
        const Position& old = v.site[base + begin + k];
        change.rows = rows + old.type * v.types;
        dE += change.over(0, begin, old, host.trial[k]);
        dE += change.over(end, v.sites, old, host.trial[k]);
      }
      if (!(dE <= draw.factor * kT)) continue;
      ++accepted;
      energy += dE;
      v.centre[entry] = new_centre;
      v.orientation[entry] = turn;
      for (std::uint32_t k = 0; k < n; ++k) {
        v.site[base + begin + k] = host.trial[k];
        host.arrays->set(std::size_t(base + begin + k), host.trial[k]);
      }
    }
    v.energy[host.replica] += energy;
    v.accepted[host.replica] += accepted;
  }
};

class Sequential final : public MoveEngine {
 public:
  Sequential(System& system, const EngineOptions& options)
      : system_(system), options_(options), choice_(Purpose::metropolis_choice, options.seed) {
    if (system.device().is_cuda())
      throw BugError("the sequential engine needs a system on the CPU");
    std::size_t largest = 0;
    for (const MoleculeTemplate& t : system.model().templates)
      largest = std::max(largest, t.sites.size());
    trial_.resize(largest);
    system_changed();
  }

  void run(std::int64_t first, std::int64_t n) override {
    const bool plain = plain_lennard_jones(system_.model());
    if (options_.single_precision)
      plain ? run_as<float, PlainLennardJones>(first, n) : run_as<float, AnyPair>(first, n);
    else
      plain ? run_as<double, PlainLennardJones>(first, n) : run_as<double, AnyPair>(first, n);
  }
  std::int64_t moves_per_cycle() const override { return system_.molecules(); }
  void set_sizes(const MoveSizes& sizes) override { sizes_ = sizes; }
  void system_changed() override {
    const SystemView view = system_.view();
    arrays_.assign(view.site, std::size_t(view.sites) * view.replicas);
  }

 private:
  template <class T, class E>
  void run_as(std::int64_t first, std::int64_t n) {
    const auto kT = system_.temperatures();
    const auto rows = make_rows<T>(system_.model(), *std::max_element(kT.begin(), kT.end()));
    const SystemView view = system_.view();
    for (std::uint32_t replica = 0; replica < view.replicas; ++replica)
      for (std::int64_t cycle = first; cycle < first + n; ++cycle) {
        const SequentialCycle<T, E> body{{view, &arrays_, replica, trial_.data()},
                                         {options_.seed, sizes_, system_.box()},
                                         choice_,
                                         options_.random_order,
                                         rows.data(),
                                         cycle};
        detail::run_range(body, 0, 1);
      }
  }

  System& system_;
  EngineOptions options_;
  RunKey choice_;
  MoveSizes sizes_;
  SiteArrays arrays_;
  std::vector<Position> trial_;
};

}  // namespace

std::unique_ptr<MoveEngine> make_sequential(System& system, const EngineOptions& options) {
  return std::make_unique<Sequential>(system, options);
}

}  // namespace perrin::metropolis
