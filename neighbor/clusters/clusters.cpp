#include "neighbor/clusters/clusters.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"

namespace perrin {

namespace {

std::uint64_t bit_of_type(std::size_t type) {
  return std::uint64_t(1) << std::min<std::size_t>(type, 63);
}

/// [type] bits of the types with which it interacts; empty if that is all with all.
std::vector<std::uint64_t> interacting_types(const Ranges& reaches) {
  std::vector<std::uint64_t> bits(reaches.types(), 0);
  bool all = true;
  for (std::size_t a = 0; a < bits.size(); ++a)
    for (std::size_t b = 0; b < bits.size(); ++b) {
      if (reaches(a, b) > 0) bits[a] |= bit_of_type(b);
      all = all && reaches(a, b) > 0;
    }
  if (all) bits.clear();
  return bits;
}

/// [type] 1 where a type interacts with none, if there is one and others interact.
std::vector<std::uint8_t> idle_types(const Ranges& reaches) {
  std::vector<std::uint8_t> idle(reaches.types(), 1);
  for (std::size_t a = 0; a < idle.size(); ++a)
    for (std::size_t b = 0; b < idle.size(); ++b)
      if (reaches(a, b) > 0) idle[a] = 0;
  const auto some = std::ranges::count(idle, 1);
  if (some == 0 || some == std::ptrdiff_t(idle.size())) idle.clear();
  return idle;
}

}  // namespace

ClusterList::ClusterList(Particles& particles, const Ranges& reaches,
                         const ExclusionView& exclusions)
    : particles_(&particles),
      reach_(reaches.longest()),
      interacting_(interacting_types(reaches)),
      exclusions_(exclusions),
      clusters_(particles, idle_types(reaches)),
      ghosts_(particles) {}

void ClusterList::build(const ListBuild& b) {
  build();
  find_ghosts();
  const Device& device = particles_->device();
  // Of others a domain need not know where they were.
  const Share kept = sorts_locally() ? particles_->share() : Share{0, particles_->size()};
  for_each(device, "keep positions", kept,
           CopyPositions{b.reference, particles_->position().data()});
  for_each(device, "list built", 1, FinishBuild{b.flag, b.builds});
}

void ClusterList::build() {
  PERRIN_ASSERT(!particles_->device().is_cuda());
  if (particles_->size() == 0) return;
  box_ = particles_->box();
  clusters_.cut(reach_, sorts_locally());
  rows_.assign(std::size_t(clusters_.size()) * (cluster_size / 2), {});
  find_own();
  make_tasks();
  find_entries();
  collect_sources();
}

/// A cluster is added up where some of its particles are moved, from all that tasks add to it: the
/// list has all pairs with such clusters, and no others.
void ClusterList::find_own() {
  const ClusterRange own = clusters_.places().of_share(particles_->share());
  own_begin_ = own.begin, own_end_ = own.end;
}

/// Also of the clusters of partners.
void ClusterList::need_partners(std::vector<unsigned char>& needed) {
  misses_partners_ = false;
  const Partners* const partners = particles_->domain().partners();
  if (!partners) return;
  const Share own = particles_->share();
  const std::uint32_t *id = particles_->id().data(), *index = particles_->index().data();
  const Partners::View all = partners->view();
  for (std::int64_t i = own.begin; i < own.end; ++i)
    for (std::int64_t k = all.begin[id[i]]; k < all.begin[id[i] + 1]; ++k) {
      const std::uint32_t partner = all.partner[k];
      if (index[partner] >= own.begin && index[partner] < own.end && id[index[partner]] == partner)
        continue;
      const std::uint32_t cluster = clusters_.cluster_of(partner);
      if (cluster < clusters_.size())
        needed[cluster] = 1;
      else
        misses_partners_ = true;
    }
}

/// Positions are needed of the clusters that are in entries, or have rows with some.
void ClusterList::find_ghosts() {
  if (!decomposition_of(particles_->device()).several() || particles_->size() == 0) return;
  const Share own = particles_->share();
  std::vector<unsigned char> needed(clusters_.size(), 0);
  const auto has_ghosts = [&](std::uint32_t c) {
    return clusters_.places().first[c] < own.begin || clusters_.places().end[c] > own.end;
  };
  for (const ClusterTask& task : tasks_) {
    if (!task.wanted || std::none_of(task.clusters, task.clusters + task.span, has_ghosts))
      continue;
    for (std::uint32_t c = task.begin; c < task.end; ++c) {
      const ClusterRow* const rows = rows_.data() + std::size_t(c) * (cluster_size / 2);
      for (const ClusterRow* row = rows; row != rows + cluster_size / 2; ++row) {
        if (row->begin < row->end) needed[c] = 1;
        for (std::uint32_t k = row->begin; k < row->end; ++k)
          needed[task.clusters[task.entries[k].cluster]] = 1;
      }
    }
  }
  need_partners(needed);
  ghosts_.find(*particles_, clusters_.places(), needed);
}

/// Whether the task may add to clusters of this domain: those of its own columns, and of as many
/// behind them as the reach is long.
bool ClusterList::may_want(const ClusterTask& task) const {
  if (own_begin_ == own_end_ || task.begin == task.end) return false;
  const ColumnGrid& grid = clusters_.grid();
  const std::int64_t turn = grid.cells[0];
  const auto place = [&](std::uint32_t cluster) {
    return std::int64_t(clusters_.column_of(cluster)) / grid.cells[1];
  };
  const std::int64_t from = place(task.begin), to = place(task.end - 1) + grid.reach[0];
  const std::int64_t own_from = place(own_begin_), own_to = place(own_end_ - 1);
  for (std::int64_t shift = 0; shift <= to; shift += turn)
    if (from - shift <= own_to && to - shift >= own_from) return true;
  return false;
}

void ClusterList::find_types() {
  if (interacting_.empty()) return;
  const std::uint32_t clusters = clusters_.size();
  const ClusterBoxes view = clusters_.view();
  types_.assign(clusters, 0), partners_.assign(clusters, 0);
  for (std::uint32_t c = 0; c < clusters; ++c)
    for (std::uint32_t lane = 0; lane < view.end[c] - view.first[c]; ++lane) {
      const std::uint32_t type = clusters_.type()[std::size_t(c) * cluster_size + lane];
      types_[c] |= bit_of_type(type), partners_[c] |= interacting_[type];
    }
}

void ClusterList::find_entries() {
  find_types();
  const std::uint32_t clusters = clusters_.size();
  const double box_reach = reach_ + double(clusters_.box_slack());
  const double height = particles_->box().padded_heights()[clusters_.grid().axis[2]];
  const ClusterSearch search{.clusters = clusters_.view(),
                             .reach2 = Real(reach_ * reach_),
                             .box_reach2 = Real(box_reach * box_reach),
                             .reach_w = std::int64_t(std::ceil(reach_ / height * 4294967296.0)),
                             .exclusions = exclusions_,
                             .id = particles_->id().data(),
                             .index = particles_->index().data(),
                             .rows = rows_.data(),
                             .own_begin = own_begin_,
                             .own_end = own_end_,
                             .types = interacting_.empty() ? nullptr : types_.data(),
                             .partners = interacting_.empty() ? nullptr : partners_.data()};
  const auto find = [&](std::int64_t t, int) {
    ClusterTask& task = tasks_[std::size_t(t)];
    ClusterTaskList& list = *lists_[std::size_t(t)];
    if (may_want(task))
      search_clusters(search, task, list);
    else
      list.clear(clusters);
    task.wanted = std::any_of(task.clusters, task.clusters + task.span,
                              [&](std::uint32_t c) { return search.own(c); });
  };
  for_tasks(particles_->device(), std::int64_t(tasks_.size()), find, clusters > 32);
}

void ClusterList::follow_box(Real*) {
  if (tasks_.empty() || particles_->box() == box_) return;
  const Box before = box_;
  box_ = particles_->box();
  const auto fit = [&](std::int64_t t, int) {
    fit_entries(tasks_[std::size_t(t)], *lists_[std::size_t(t)], before);
  };
  for_tasks(particles_->device(), std::int64_t(tasks_.size()), fit, clusters_.size() > 32);
}

/// Where the entries' images are, which the vectors in the box of the list show.
void ClusterList::find_images(const ClusterTask& task, ClusterTaskList& list,
                              const Box& built) const {
  const ClusterBoxes clusters = clusters_.view();
  const Metric old = built.metric();
  constexpr double turn = 4294967296.0;
  list.fixed.assign(list.used, {});
  for (std::uint32_t i = task.begin; i < task.end; ++i) {
    const Position a = clusters.origin[i];
    const std::uint32_t count = clusters.end[i] - clusters.first[i];
    for (std::uint32_t lane = 0; lane < count; lane += 2) {
      const ClusterRow row = rows_[std::size_t(i) * (cluster_size / 2) + lane / 2];
      for (std::uint32_t k = row.begin; k < row.end; ++k) {
        const ClusterEntry& e = list.entries.data()[k];
        const Position b = clusters.origin[task.clusters[e.cluster]];
        double x = double(b.x) - double(a.x), y = double(b.y) - double(a.y),
               z = double(b.z) - double(a.z);
        z += turn * std::nearbyint((double(e.z) / double(old.zz) - z) / turn);
        const double ey = double(e.y) - double(old.yz) * z;
        y += turn * std::nearbyint((ey / double(old.yy) - y) / turn);
        const double ex = double(e.x) - double(old.xy) * y - double(old.xz) * z;
        x += turn * std::nearbyint((ex / double(old.xx) - x) / turn);
        list.fixed[k] = {x, y, z};
      }
    }
  }
}

/// The entries' vectors in the present box.
void ClusterList::fit_entries(const ClusterTask& task, ClusterTaskList& list,
                              const Box& before) const {
  if (list.used == 0) return;
  if (list.fixed.empty()) find_images(task, list, before);
  const Metric now = box_.metric();
  for (std::size_t k = 0; k < list.used; ++k) {
    ClusterEntry& e = list.entries.data()[k];
    const Vec3<double>& u = list.fixed[k];
    const Real3 d = length_of(now, u.x, u.y, u.z);
    e.x = d.x, e.y = d.y, e.z = d.z;
  }
}

void ClusterList::make_tasks() {
  // Slabs across the longest axis, about two columns thick: thinner ones would serve more threads,
  // but each adds to clusters of the next two columns as well.
  const std::uint64_t clusters = clusters_.total();
  std::uint32_t tasks = 1;
  while (tasks < 64 && 3 * tasks <= std::uint32_t(clusters_.grid().cells[0]) &&
         clusters / (2 * tasks) >= 8)
    tasks *= 2;
  tasks_.assign(tasks, {});
  while (lists_.size() < tasks) lists_.push_back(std::make_unique<ClusterTaskList>());
  for (std::uint32_t t = 0; t < tasks; ++t) {
    tasks_[t].begin = clusters_.number_here(clusters * t / tasks);
    tasks_[t].end = clusters_.number_here(clusters * (t + 1) / tasks);
  }
}

void ClusterList::collect_sources() {
  const std::uint32_t clusters = clusters_.size();
  source_begin_.assign(clusters + 1, 0);
  std::uint32_t block = 0;
  const auto each = [&](auto&& f) {
    for (const ClusterTask& task : tasks_)
      for (std::uint32_t k = 0; k < task.span; ++k) f(task.clusters[k], task.block + k);
  };
  for (ClusterTask& task : tasks_) {
    task.block = block;
    block += task.span;
  }
  each([&](std::uint32_t cluster, std::uint32_t) { ++source_begin_[cluster + 1]; });
  std::partial_sum(source_begin_.begin(), source_begin_.end(), source_begin_.begin());
  source_.resize(block);
  std::vector<std::uint32_t> next(source_begin_.begin(), source_begin_.end() - 1);
  each([&](std::uint32_t cluster, std::uint32_t b) { source_[next[cluster]++] = b; });
}

ClusterView ClusterList::view() const {
  std::uint32_t longest = 0;
  for (const ClusterTask& task : tasks_) longest = std::max(longest, task.span);
  return {clusters_.size(),
          std::int64_t(tasks_.size()),
          std::int64_t(source_.size()),
          longest,
          clusters_.places().first.data(),
          clusters_.places().end.data(),
          clusters_.type(),
          rows_.data(),
          tasks_.data(),
          source_begin_.data(),
          source_.data(),
          own_begin_,
          own_end_};
}

Real* ClusterList::workspace(std::int64_t numbers) const {
  if (workspace_.size() < numbers) {
    workspace_ = Buffer<Real>();
    workspace_ = {particles_->device(), numbers + numbers / 8};
  }
  return workspace_.data();
}

std::int64_t ClusterList::bytes() const {
  std::int64_t all = clusters_.bytes() + workspace_.bytes();
  all += std::int64_t(rows_.capacity() * sizeof(ClusterRow));
  for (const auto& list : lists_) all += list->entries.bytes();
  return all;
}

double ClusterList::mean_entries() const {
  double entries = 0;
  for (std::size_t t = 0; t < tasks_.size(); ++t) entries += double(lists_[t]->used);
  return entries * 2 * cluster_size / std::max(1.0, double(particles_->size()));
}

}  // namespace perrin
