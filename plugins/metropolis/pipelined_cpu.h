// The pipelined engine on the CPU: all threads work at one group of moves.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/device/parallel.h"
#include "moves.h"
#include "schedule.h"
#include "site_arrays.h"

namespace perrin::metropolis {

/// A trial move of a group on the CPU.
struct HostTrial {
  Position centre;
  Quaternion orientation;
  double allowed = 0;
};

/// The energy changes of all moves of a group with one portion of the sites, which are none of
/// theirs.
template <class T, class E>
struct GroupChange {
  SystemView view;
  SiteArrays* arrays;
  const PairRow<T>* rows;
  const Position* fresh;          // of the group's sites
  std::int64_t base, begin, end;  // of the replica; the group's sites, relative to it
  const std::uint32_t* owner;     // move of each of the group's sites
  std::int64_t portion;
  double* change;  // [portion][move]

  PERRIN_HD void operator()(std::int64_t p) const {
    const std::int64_t others = view.sites - (end - begin);
    const std::int64_t from = p * portion, to = from + portion < others ? from + portion : others;
    SiteChange<T, E> c{arrays->x.data() + base,
                       arrays->y.data() + base,
                       arrays->z.data() + base,
                       arrays->type.data() + base,
                       rows,
                       Scale<T>::of(view.length),
                       view.types == 1};
    double* mine = change + p * group_size;
    for (std::uint32_t k = 0; k < group_size; ++k) mine[k] = 0;
    for (std::int64_t k = 0; k < end - begin; ++k) {
      const Position& old = view.site[base + begin + k];
      c.rows = rows + old.type() * view.types;
      double sum = 0;
      // Positions from `begin` on stand for sites after the group.
      if (from < begin) sum += c.over(from, to < begin ? to : begin, old, fresh[k]);
      if (to > begin)
        sum += c.over((from > begin ? from : begin) + (end - begin), to + (end - begin), old,
                      fresh[k]);
      mine[owner[k]] += sum;
    }
  }
};

/// The pairs within a group: the change of move b with the old and with the new sites of move a.
template <class T, class E>
struct WithinGroup {
  SystemView view;
  const PairRow<T>* rows;
  const Position *old, *fresh;  // of the group's sites
  const std::uint32_t* first;   // [moves + 1]: first site of each move
  std::uint32_t moves;
  double *with_old, *with_new;  // [a][b]

  PERRIN_HD void operator()(std::int64_t b) const {
    const Scale<T> s = Scale<T>::of(view.length);
    for (std::uint32_t a = 0; a < moves; ++a) {
      T sum_old = 0, sum_new = 0;
      if (a != std::uint32_t(b))
        for (std::uint32_t k = first[b]; k < first[b + 1]; ++k)
          for (std::uint32_t j = first[a]; j < first[a + 1]; ++j) {
            const PairRow<T>& row = rows[old[k].type() * view.types + old[j].type()];
            const auto energy = [&](const Position& p, const Position& q) {
              return E::energy(distance2<T>(p.x, p.y, p.z, q.x, q.y, q.z, s), row);
            };
            sum_old += energy(fresh[k], old[j]) - energy(old[k], old[j]);
            if (a < std::uint32_t(b))
              sum_new += energy(fresh[k], fresh[j]) - energy(old[k], fresh[j]);
          }
      with_old[a * group_size + b] = double(sum_old);
      with_new[a * group_size + b] = double(sum_new);
    }
  }
};

/// Groups of moves of one replica, in sequential order.
class GroupsOnCpu {
 public:
  GroupsOnCpu(const Device& device, SiteArrays& arrays) : device_(device), arrays_(arrays) {}

  /// Molecules m … of one replica.
  template <class T, class E>
  void move_group(const SystemView& v, const MoveLaw& law, const std::vector<PairRow<T>>& rows,
                  std::int64_t cycle, std::uint32_t m) {
    const std::uint32_t moves = std::min(group_size, v.molecules - m);
    const std::int64_t begin = v.first_site[m], end = v.first_site[m + moves];
    HostTrial trial[group_size];
    std::uint32_t first[group_size + 1];
    fresh_.resize(std::size_t(end - begin));
    owner_.resize(fresh_.size());
    for (std::uint32_t b = 0; b < moves; ++b) {
      const Position centre = v.centre[m + b];
      const std::uint32_t local = v.template_first[centre.type()];
      const std::uint32_t n = v.template_first[centre.type() + 1] - local;
      const Draw draw = draw_trial(law, cycle, m + b, 0, n > 1);
      trial[b] = {moved(centre, draw), turned(v.orientation[m + b], draw), draw.factor * v.kT[0]};
      first[b] = std::uint32_t(v.first_site[m + b] - begin);
      for (std::uint32_t k = 0; k < n; ++k) {
        fresh_[first[b] + k] = place_site(trial[b].centre, trial[b].orientation, v.local[local + k],
                                          v.local_type[local + k], law.per_unit);
        owner_[first[b] + k] = b;
      }
    }
    first[moves] = std::uint32_t(end - begin);

    // Fixed portions: the sums do not depend on the number of threads.
    constexpr std::int64_t portion = 2048;
    const std::int64_t others = v.sites - (end - begin);
    const std::int64_t portions = (others + portion - 1) / portion;
    change_.resize(std::size_t(portions) * group_size);
    const GroupChange<T, E> outside{v,     &arrays_, rows.data(),   fresh_.data(), 0,
                                    begin, end,      owner_.data(), portion,       change_.data()};
    double with_old[group_size * group_size], with_new[group_size * group_size];
    const WithinGroup<T, E> within{v,     rows.data(), v.site + begin, fresh_.data(),
                                   first, moves,       with_old,       with_new};
    const auto evaluate = [&](std::int64_t k, int) {
      k < portions ? run_range(outside, k, k + 1)
                   : run_range(within, k - portions, k - portions + 1);
    };
    for_tasks(device_, portions + moves, evaluate, others * (end - begin) > 1 << 19);

    std::uint32_t accepted = 0;
    if (m == 0) v.step_energy[0] += v.energy[0] * double(v.molecules);
    for (std::uint32_t b = 0; b < moves; ++b) {
      double dE = 0;
      for (std::int64_t p = 0; p < portions; ++p) dE += change_[std::size_t(p) * group_size + b];
      for (std::uint32_t a = 0; a < moves; ++a) {
        const bool moved_before = a < b && (accepted >> a & 1u);
        dE += (moved_before ? with_new : with_old)[a * group_size + b];
      }
      if (!(dE <= trial[b].allowed)) continue;
      accepted |= 1u << b;
      v.energy[0] += dE;
      v.step_energy[0] += dE * double(v.molecules - (m + b));
      v.accepted[0] += 1;
      v.centre[m + b] = trial[b].centre;
      v.orientation[m + b] = trial[b].orientation;
    }
    for (std::uint32_t b = 0; b < moves; ++b)
      for (std::uint32_t k = first[b]; accepted >> b & 1u && k < first[b + 1]; ++k) {
        v.site[begin + k] = fresh_[k];
        arrays_.set(std::size_t(begin + k), fresh_[k]);
      }
  }

 private:
  Device device_;
  SiteArrays& arrays_;  // the sites of the system, as the loops want them
  std::vector<Position> fresh_;
  std::vector<std::uint32_t> owner_;
  std::vector<double> change_;
};

}  // namespace perrin::metropolis
