// The pipelined engine: groups of 32 moves. On the GPU many groups are in work at once
// (pipelined.cuh); on the CPU all threads work at one group, or each at a replica of its own.
#include <algorithm>
#include <optional>

#include "engine/core/parallel.h"
#include "plugins/metropolis/engine.h"
#include "plugins/metropolis/pair_rows.h"
#include "plugins/metropolis/schedule.h"
#include "plugins/metropolis/sequential_cycle.h"
#ifdef __CUDACC__
#include "plugins/metropolis/pipelined.cuh"
#endif

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

namespace {

class Pipelined final : public MoveEngine {
 public:
  Pipelined(System& system, const EngineOptions& options)
      : system_(system), options_(options), choice_(Purpose::metropolis_choice, options.seed) {
    for (const MoleculeTemplate& t : system.model().templates)
      width_ = std::max(width_, std::uint32_t(t.sites.size()));
    plain_ = plain_lennard_jones(system.model());
    system_changed();
  }

  void run(std::int64_t first, std::int64_t n) override {
    if (n <= 0) return;
    if (options_.single_precision)
      plain_ ? run_as<float, PlainLennardJones>(first, n) : run_as<float, AnyPair>(first, n);
    else
      plain_ ? run_as<double, PlainLennardJones>(first, n) : run_as<double, AnyPair>(first, n);
  }
  std::int64_t moves_per_cycle() const override { return system_.molecules(); }
  void set_sizes(const MoveSizes& sizes) override { sizes_ = sizes; }
  void system_changed() override {
    if (system_.device().is_cuda()) return;
    const SystemView view = system_.view();
    arrays_.assign(view.site, std::size_t(view.sites) * view.replicas);
  }

 private:
  template <class T>
  std::vector<PairRow<T>> rows_of() const {
    const auto kT = system_.temperatures();
    return make_rows<T>(system_.model(), *std::max_element(kT.begin(), kT.end()));
  }

  template <class T, class E>
  void run_as(std::int64_t first, std::int64_t n) {
#ifdef __CUDACC__
    if (system_.device().is_cuda()) return run_cuda<T, E>(first, n);
#endif
    run_host<T, E>(first, n);
  }

  template <class T, class E>
  void run_host(std::int64_t first, std::int64_t n) {
    const auto rows = rows_of<T>();
    const SystemView view = system_.view();
    const MoveLaw law(options_.seed, sizes_, system_.box());
    // Choosing at random scatters a group's sites over the arrays: then move by move.
    if (view.replicas > 1 || options_.random_order) {
      for_tasks(system_.device(), view.replicas, [&](std::int64_t r, int) {
        std::vector<Position> trial(width_);
        for (std::int64_t cycle = first; cycle < first + n; ++cycle) {
          const SequentialCycle<T, E> body{{view, &arrays_, std::uint32_t(r), trial.data()},
                                           law,
                                           choice_,
                                           options_.random_order,
                                           rows.data(),
                                           cycle};
          detail::run_range(body, 0, 1);
        }
      });
      return;
    }
    for (std::int64_t cycle = first; cycle < first + n; ++cycle)
      for (std::uint32_t m = 0; m < view.molecules; m += group_size)
        host_group<T, E>(view, law, rows, cycle, m);
  }

  /// Molecules m … of one replica.
  template <class T, class E>
  void host_group(const SystemView& v, const MoveLaw& law, const std::vector<PairRow<T>>& rows,
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
      k < portions ? detail::run_range(outside, k, k + 1)
                   : detail::run_range(within, k - portions, k - portions + 1);
    };
    for_tasks(system_.device(), portions + moves, evaluate, others * (end - begin) > 1 << 19);

    std::uint32_t accepted = 0;
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

#ifdef __CUDACC__
  template <class T, class E>
  void run_cuda(std::int64_t first, std::int64_t n) {
    const std::uint32_t uniform = uniform_sites(system_.model());
    const bool one_type = system_.model().types.size() == 1;
    if constexpr (E::plain) {
      if (one_type && uniform == 1) return launch_cycles<T, E, 1>(first, n);
      if (one_type && uniform == 2) return launch_cycles<T, E, 2>(first, n);
    }
    launch_cycles<T, E, 0>(first, n);
  }

  template <class T, class E, int S>
  void launch_cycles(std::int64_t first, std::int64_t n) {
    const Device& device = system_.device();
    const SystemView view = system_.view();
    Pipeline<T> p{};
    Buffer<PairRow<T>>& rows = kept_rows<T>();
    if (rows.size() == 0) {
      const auto host_rows = rows_of<T>();
      rows = Buffer<PairRow<T>>(device, std::span<const PairRow<T>>(host_rows));
    }
    p.view = view;
    p.law = MoveLaw(options_.seed, sizes_, system_.box());
    p.scale = Scale<T>::of(system_.box());
    p.rows = rows.data();
    p.width = width_;
    p.groups_per_cycle = (view.molecules + group_size - 1) / group_size;
    const bool random = options_.random_order;
    // Proposals take the most memory.
    const std::int64_t place_bytes = std::int64_t(64) * width_ * std::int64_t(sizeof(Position));
    const std::int64_t cycle_bytes = place_bytes * p.groups_per_cycle * view.replicas;
    const std::int64_t most =
        random ? 1 : std::clamp<std::int64_t>((std::int64_t(256) << 20) / cycle_bytes, 1, 4096);
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t cycles = std::min(most, n - done);
      p.first_cycle = first + done;
      p.groups = std::uint32_t(p.groups_per_cycle * cycles);
      if (random) upload(RandomSchedule(choice_, first + done, view.molecules), p);
      launch_one<T, E, S>(p);
      done += cycles;
    }
  }

  template <class T>
  Buffer<PairRow<T>>& kept_rows() {
    if constexpr (std::is_same_v<T, float>)
      return float_rows_;
    else
      return double_rows_;
  }

  template <class T>
  void upload(const RandomSchedule& s, Pipeline<T>& p) {
    const std::vector<std::uint32_t>* lists[] = {&s.molecule, &s.group_begin, &s.next_group,
                                                 &s.last_group, &s.first_group};
    std::vector<std::uint32_t> all;
    for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
    if (schedule_.size() == 0) schedule_ = Buffer<std::uint32_t>(system_.device(), 0);
    schedule_.assign(all);
    const std::uint32_t* at = schedule_.data();
    const std::uint32_t** to[] = {&p.molecule, &p.group_begin, &p.next_group, &p.last_group,
                                  &p.first_group};
    for (std::size_t k = 0; k < 5; ++k) {
      *to[k] = at;
      at += lists[k]->size();
    }
    p.groups = s.groups();
  }

  template <class T, class E, int S>
  void launch_one(Pipeline<T>& p) {
    const Device& device = system_.device();
    const std::int64_t replicas = p.view.replicas, places = replicas * p.groups;
    // Measured on an H200 (docs/metropolis.md). With few groups in work at once many warps share
    // one; a longer band hides the way from a decision to the next, but costs shared memory.
    const std::int64_t in_work = replicas * p.groups_per_cycle, units = device.multiprocessors();
    std::uint32_t warps = in_work <= (replicas > 1 ? 4 : 2) * units ? 16
                          : in_work <= 4 * units                    ? 8
                                                                    : 4;
    if (options_.warps > 0) warps = std::uint32_t(options_.warps);
    p.band = replicas == 1 && in_work > 8 && in_work <= 4 * units ? 2 : 1;
    if (options_.band > 0) p.band = std::uint32_t(options_.band);
    // A group must not meet itself in its band.
    if (p.molecule == nullptr) p.band = std::min(p.band, p.groups_per_cycle - 1);

    if (words_.size() == 0) words_ = Buffer<unsigned long long>(device, 0);
    if (change_on_device_.size() == 0) change_on_device_ = Buffer<double>(device, 0);
    if (proposals_.size() == 0) proposals_ = Buffer<Position>(device, 0);
    words_.resize(std::max(words_.size(), places + (places + replicas + 1) / 2 + 1));
    change_on_device_.resize(std::max(change_on_device_.size(), places));
    proposals_.resize(std::max(proposals_.size(), places * 64 * p.width));
    words_.zero();
    p.decision = words_.data();
    p.proposed = reinterpret_cast<std::uint32_t*>(words_.data() + places);
    p.decided = p.proposed + places;
    p.taken = p.decided + replicas;
    p.proposal = proposals_.data();
    p.change = change_on_device_.data();

    const auto kernel = pipelined_kernel<T, E, S>;
    const std::size_t shared =
        PipelineMemory<T>::bytes(p.view.types, S > 0 ? S : p.width, warps, p.band);
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
        "shared memory of the pipelined engine");
    launch(device, "pipelined cycles", dim3(unsigned(places)), dim3(32 * warps), shared, kernel, p);
    launch(device, "sums of pipelined cycles", dim3(unsigned(replicas)), dim3(256), 0,
           pipelined_sums_kernel<T>, p);
  }

  Buffer<PairRow<float>> float_rows_;
  Buffer<PairRow<double>> double_rows_;
  Buffer<std::uint32_t> schedule_;
  Buffer<unsigned long long> words_;
  Buffer<double> change_on_device_;
  Buffer<Position> proposals_;
#endif

  System& system_;
  EngineOptions options_;
  RunKey choice_;
  MoveSizes sizes_;
  std::uint32_t width_ = 1;
  bool plain_ = false;
  // CPU
  SiteArrays arrays_;
  std::vector<Position> fresh_;
  std::vector<std::uint32_t> owner_;
  std::vector<double> change_;
};

}  // namespace

std::unique_ptr<MoveEngine> make_pipelined(System& system, const EngineOptions& options) {
  return std::make_unique<Pipelined>(system, options);
}

}  // namespace perrin::metropolis
