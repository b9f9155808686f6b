// One cycle of one replica, move after move, on one CPU thread.
#pragma once

#include "moves.h"
#include "site_arrays.h"

namespace perrin::metropolis {

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
    double energy = 0, later = 0;  // later: each change as often as there are moves from it on
    unsigned long long accepted = 0;
    for (std::uint32_t index = 0; index < v.molecules; ++index) {
      const std::uint32_t m = random_order ? chosen(choice, cycle, index, v.molecules) : index;
      const std::size_t entry = std::size_t(host.replica) * v.molecules + m;
      const Position centre = v.centre[entry];
      const std::uint32_t first = v.template_first[centre.type()];
      const std::uint32_t n = v.template_first[centre.type() + 1] - first;
      const Draw draw = draw_trial(law, cycle, index, host.replica, n > 1);
      const Position new_centre = moved(centre, draw);
      const Quaternion turn = turned(v.orientation[entry], draw);
      const std::uint32_t begin = v.first_site[m], end = v.first_site[m + 1];
      double dE = 0;
      for (std::uint32_t k = 0; k < n; ++k) {
        host.trial[k] =
            place_site(new_centre, turn, v.local[first + k], v.local_type[first + k], law.per_unit);
        const Position& old = v.site[base + begin + k];
        change.rows = rows + old.type() * v.types;
        dE += change.over(0, begin, old, host.trial[k]);
        dE += change.over(end, v.sites, old, host.trial[k]);
      }
      if (!(dE <= draw.factor * kT)) continue;
      ++accepted;
      energy += dE;
      later += dE * double(v.molecules - index);
      v.centre[entry] = new_centre;
      v.orientation[entry] = turn;
      for (std::uint32_t k = 0; k < n; ++k) {
        v.site[base + begin + k] = host.trial[k];
        host.arrays->set(std::size_t(base + begin + k), host.trial[k]);
      }
    }
    v.step_energy[host.replica] += v.energy[host.replica] * double(v.molecules) + later;
    v.energy[host.replica] += energy;
    v.accepted[host.replica] += accepted;
  }
};

}  // namespace perrin::metropolis
