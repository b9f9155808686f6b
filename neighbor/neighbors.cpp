#include "neighbor/neighbors.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "engine/core/parallel.h"

namespace perrin {
namespace {

struct CheckMoved {
  const Position* position;
  Metric metric;
  MoveCheck check;
  PERRIN_HD void operator()(std::int64_t i) const { check(i, position[i], metric); }
};

struct FinishBuild {
  std::uint32_t* flags;
  std::int64_t* builds;
  PERRIN_HD void operator()(std::int64_t) const {
    flags[0] = 0;
    *builds += 1;
  }
};

struct CopyPositions {
  Position* to;
  const Position* from;
  PERRIN_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

struct CountEntry {
  const std::uint32_t* count;
  PERRIN_HD double operator()(std::int64_t i) const { return double(count[i]); }
};

void check_settings(const Device& device, const NeighborSettings& settings) {
  const bool gpu = device.is_cuda();
  const std::string& wanted = settings.traversal;
  if (wanted == (gpu ? "clusters" : "verlet"))
    throw UserError(
        fmt::format("neighbors.traversal: \"{}\" is not for the device {}; expected standard, {}, "
                    "cells or rows",
                    wanted, device.name(), gpu ? "verlet" : "clusters"));
  if (!settings.reorder && (!gpu || wanted != "rows"))
    throw BugError("reorder = false is for the traversal \"rows\" on a GPU only");
  if (gpu && wanted != "rows" && settings.lanes != 0 && settings.lanes != 4 && settings.lanes != 8)
    throw UserError(
        fmt::format("neighbors.lanes: expected 4 or 8, or 0, got {}; other powers of "
                    "two are for the traversal \"rows\"",
                    settings.lanes));
}

}  // namespace

Neighbors::Neighbors(Particles& particles, const Ranges& ranges, const NeighborSettings& settings,
                     const NeighborChoices* choices)
    : particles_(particles), ranges_(ranges) {
  const Box& box = particles_.box;
  const auto heights = box.padded_heights();
  double half = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < box.dimension; ++axis)
    if (box.periodic[std::size_t(axis)]) half = std::min(half, heights[axis] / 2);
  const double range = ranges_.longest();
  if (range > half)
    throw UserError(fmt::format("the interaction range {} exceeds half the box ({})", range, half));
  check_settings(particles_.device(), settings);
  make_exclusions(settings.exclusions);
  const Device& device = particles_.device();
  flags_ = {device, 2};
  builds_ = {device, 1};
  progress_ = {device, 1};
  reference_ = {device, particles_.size()};
  reorder_ = settings.reorder;
  choices_ = choices ? *choices : choose(settings);
  most_skin_ = half - range;
  choices_.skin = std::min(choices_.skin, most_skin_);
  make_lists(settings);
  invalidate();
}

NeighborChoices Neighbors::choose(const NeighborSettings& settings) const {
  const Crowding crowding = measure_crowding(particles_, range());
  NeighborChoices choices{settings.traversal, 0, 0, crowding};
  const bool standard = settings.traversal == "standard";
  const bool rows = settings.traversal == "rows" || (standard && choose_rows(crowding, settings));
  if (rows) choices.traversal = "rows", choices.lanes = settings.lanes;
  if (!rows && (standard || settings.traversal == "auto"))
    choices.traversal = particles_.device().is_cuda() ? "verlet" : "clusters";
  if (choices.traversal != "cells") choices.skin = choose_skin(crowding, settings, rows);
  return choices;
}

void Neighbors::make_lists(const NeighborSettings& settings) {
  const Device& device = particles_.device();
  const std::int64_t n = particles_.size();
  const bool gpu = device.is_cuda();
  const std::string& traversal = choices_.traversal;
  direct_ = traversal == "cells";
  if (gpu && traversal != "rows")
    tiles_ = std::make_unique<TileList>(
        particles_, with_skin(ranges_, skin()), choices_.crowding,
        TileList::Choices{!direct_, settings.interaction_sorting && direct_, settings.lanes,
                          settings.cells, settings.brick});
  if (tiles_ && tiles_->fits()) {
    cell_sort_ = CellSort(device, n, tiles_->geometry().cell_count());
    count_ = {device, n};
  } else if (!gpu && direct_) {
    columns_ = std::make_unique<ColumnSearch>(particles_, range(), settings.interaction_sorting,
                                              settings.cells);
  } else if (!gpu && traversal == "clusters") {
    clusters_ = std::make_unique<ClusterList>();
  } else {
    use_rows(choices_.crowding);
  }
  if (columns_ && !columns_->fits()) use_rows(choices_.crowding);
}

double Neighbors::choose_skin(const Crowding& crowding, const NeighborSettings& settings,
                              bool rows) const {
  if (settings.skin > 0) return settings.skin;
  // In proportion to the mean range of the pairs in range, so that short lists of many particles do
  // not become those of the few large ones.
  double sum = 0, pairs = 0;
  for (std::size_t a = 0; a < crowding.by_type.size(); ++a)
    for (std::size_t b = 0; b < crowding.by_type.size(); ++b) {
      const double range = ranges_(a, b), d = particles_.box.dimension;
      const double weight =
          double(crowding.by_type[a]) * double(crowding.by_type[b]) * std::pow(range, d);
      sum += weight * range, pairs += weight;
    }
  const double mean = ranges_.uniform() || pairs == 0 ? ranges_.longest() : sum / pairs;
  // As the benchmarks have it: cluster lists are quickly built and lose much to a long skin.
  return (particles_.device().is_cuda() || rows ? 0.16 : 0.1) * mean;
}

/// Is a list for every particle cheaper than clusters or tiles, which look as far as the longest range
/// for all? From estimates of what is tested and listed, weighed as measured: ns per particle and
/// step on two threads, or entries of tiles on a GPU.
bool Neighbors::choose_rows(const Crowding& crowding, const NeighborSettings& settings) const {
  if (particles_.size() < 2) return false;
  const Device& device = particles_.device();
  const Box& box = particles_.box;
  const int d = box.dimension;
  const RowPlan plan = plan_rows(box, with_skin(ranges_, choose_skin(crowding, settings, true)),
                                 crowding, row_costs(device));
  const Ranges reaches = with_skin(ranges_, choose_skin(crowding, settings, false));
  if (device.is_cuda())
    return 2 * plan.mean_entries() + 0.2 * plan.mean_tests() <
           TileList::estimate(particles_, reaches, crowding, settings.cells);
  const double reach = reaches.longest(), most = crowding.particles();
  // Clusters are as wide as sixteen particles need, or as columns are where the box is so empty that there
  // are no more of them; those much wider than the reach are cut and only partly filled.
  double edge = std::pow(cluster_size / crowding.density, 1.0 / d);
  const double radius = reach + 0.6 * edge;
  const double ball = d == 2 ? M_PI * radius * radius : 4.18879 * radius * radius * radius;
  const double tests = std::min(crowding.density * ball, most) / 2;
  const auto h = box.padded_heights();
  if (d == 3) {
    const double face = std::max({h.x, h.y, h.z}) * std::min({h.x, h.y, h.z});
    edge = std::max(edge, std::sqrt(face / (most / 4 + 1)));
  }
  const double cut = std::clamp(2 * (edge / reach - 2), 0.0, 1.0);
  const bool one_type = crowding.by_type.size() == 1;
  const double by_clusters = 35 + 65 * cut + (one_type ? 0.3 : 0.85) * tests;
  return (one_type ? 50 + 0.95 * plan.mean_entries() : 65 + 2 * plan.mean_entries()) < by_clusters;
}

/// Also where another kind of list turns out not to fit.
void Neighbors::use_rows(const Crowding& crowding) {
  if (direct_) choices_.skin = std::min(choose_skin(crowding, {}, true), most_skin_);
  choices_.traversal = "rows";
  choices_.crowding = crowding;
  direct_ = false;
  tiles_.reset();
  columns_.reset();
  rows_ = std::make_unique<RowList>(particles_, with_skin(ranges_, skin()), crowding,
                                    RowList::Choices{choices_.lanes, reorder_});
}

void Neighbors::make_exclusions(const std::vector<std::string>& kinds) {
  const Topology& topology = particles_.topology;
  std::vector<std::vector<std::uint32_t>> lists(std::size_t(particles_.size()));
  const auto exclude = [&](std::uint32_t a, std::uint32_t b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
    has_exclusions_ = true;
  };
  for (const auto& kind : kinds) {
    if (kind == "bonds")
      for (const auto& bond : topology.bonds) exclude(bond.a, bond.b);
    if (kind == "angles")
      for (const auto& angle : topology.angles) exclude(angle.a, angle.c);
    if (kind == "molecules") {
      std::map<std::uint32_t, std::vector<std::uint32_t>> members;  // numbers may be any
      for (std::size_t i = 0; i < topology.molecule.size(); ++i) {
        auto& others = members[topology.molecule[i]];
        for (const std::uint32_t other : others) exclude(std::uint32_t(i), other);
        others.push_back(std::uint32_t(i));
      }
    }
  }
  if (!has_exclusions_) return;
  std::vector<std::uint32_t> begin{0}, all;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    all.insert(all.end(), list.begin(), list.end());
    begin.push_back(std::uint32_t(all.size()));
  }
  exclusion_begin_ = {particles_.device(), std::int64_t(begin.size())};
  exclusion_begin_.assign(begin);
  excluded_ = {particles_.device(), std::int64_t(all.size())};
  excluded_.assign(all);
}

void Neighbors::invalidate() {
  const std::uint32_t one = 1;
  particles_.device().copy_in(flags_.data(), &one, sizeof one);
}

bool Neighbors::interaction_sorting() const {
  return columns_ ? columns_->sorted() : direct_ && search().geometry.sorted;
}

ColumnView Neighbors::columns() const {
  return columns_->view(particles_, has_exclusions_ ? exclusion_begin_.data() : nullptr,
                        excluded_.data());
}

TileSearch Neighbors::search() const {
  return tiles_->search(cell_sort_.cell_start(), exclusions(), excluded_.data());
}

MoveCheck Neighbors::check_moves(std::uint32_t* progress, std::uint32_t step) {
  if (columns_) return {nullptr, 0, {}, progress, step};
  if (direct_) {
    moves_checked_ = true;
    return {nullptr, 0, {}, progress, step, cell_sort_.counter(tiles_->geometry())};
  }
  rebuild_ = particles_.device().condition(flags_.data());
  moves_checked_ = true;
  const Real limit = Real(skin() / 2);
  return {reference_.data(), limit * limit, rebuild_, progress ? progress : progress_.data(), step};
}

void Neighbors::update(std::uint32_t* progress, std::uint32_t step, bool may_exchange) {
  if (columns_) return sort_columns(progress != nullptr);
  const Device& device = particles_.device();
  if (!moves_checked_)
    for_each(device, "check displacements", particles_.size(),
             CheckMoved{particles_.position.data(), particles_.box.metric(),
                        check_moves(progress, step)});
  moves_checked_ = false;
  if (direct_)
    return may_exchange ? cell_sort_.sort_exchanging(particles_, tiles_->geometry())
                        : cell_sort_.sort(particles_, tiles_->geometry(), nullptr);
  device.when(rebuild_, [this] { build(); });
  if (!device.recording() && !device.skipping()) recover();
}

/// Particles are sorted in every step, but brought into that order in memory now and then: forces do
/// not depend on it. Counted are the steps, so that a resumed run does it when the first one did.
void Neighbors::sort_columns(bool in_step) {
  constexpr std::uint32_t interval = 16;
  std::uint32_t *now = flags_.data(), *steps = flags_.data() + 1;
  if (in_step && ++*steps >= interval) *now = 1;
  columns_->sort(particles_, *now != 0);
  if (*now != 0) *builds_.data() += 1;
  if (*now != 0) *steps = *now = 0;
}

void Neighbors::build() {
  const Device& device = particles_.device();
  if (tiles_) {
    cell_sort_.count(particles_, tiles_->geometry());
    cell_sort_.sort(particles_, tiles_->geometry(), reference_.data());
    tiles_->build(cell_sort_.cell_start(), exclusions(), excluded_.data(), count_.data(),
                  {flags_.data(), builds_.data()});
    return;
  }
  if (rows_)
    rows_->build(exclusions(), excluded_.data(), {flags_.data(), builds_.data()});
  else
    clusters_->build(particles_, ranges_.longest() + skin(), exclusions(), excluded_.data());
  for_each(device, "keep positions", particles_.size(),
           CopyPositions{reference_.data(), particles_.position.data()});
  if (!rows_) for_each(device, "list built", 1, FinishBuild{flags_.data(), builds_.data()});
}

bool Neighbors::recover() {
  bool recovered = false;
  while (tiles_) {
    if (!particles_.device().halted()) return recovered;
    if (!tiles_->enlarge()) return recovered;
    const bool direct = direct_;
    if (!tiles_->fits()) use_rows(measure_crowding(particles_, range()));
    ++version_;
    particles_.device().clear_halt();
    if (direct && direct_) return true;
    build();
    recovered = true;
  }
  while (rows_ && rows_->enlarge()) {
    ++version_;
    particles_.device().clear_halt();
    build();  // sorts again: a permutation of nothing
    recovered = true;
  }
  return recovered;
}

std::int64_t Neighbors::bytes() const {
  if (rows_) return rows_->bytes();
  if (clusters_) return clusters_->bytes();
  if (columns_) return 0;  // as much as the particles have, and no more
  return tiles_->bytes();
}

std::int64_t Neighbors::builds() const { return builds_.to_host(0); }

const char* Neighbors::traversal() const {
  return direct_ ? "cells" : tiles_ ? "verlet" : clusters_ ? "clusters" : "rows";
}

double Neighbors::mean_entries() const {
  if (direct_) return 0;
  if (clusters_) return clusters_->mean_tests();
  if (rows_) return rows_->mean_entries();
  const std::int64_t n = particles_.size();
  return sum<double>(particles_.device(), "count entries", n, CountEntry{count_.data()}) /
         double(std::max<std::int64_t>(n, 1));
}

bool Neighbors::state(Archive& a) {
  a("builds", builds_);
  a("flags", flags_);
  if (direct_) return true;
  particles_.state(a, "reference", reference_);
  if (a.is_saving()) return true;
  const auto built_from = reference_.to_host(), now = particles_.position.to_host();
  for (std::size_t i = 0; i < now.size(); ++i)
    a.require(built_from[i].type() == now[i].type(), "reference", "of the particles' types");
  const auto flags = flags_.to_host();
  const auto count = builds_.to_host();
  if (count[0] == 0) invalidate();
  if (count[0] == 0 || flags[0] != 0) return true;  // the next update() builds
  const auto order = particles_.id.to_host();
  const auto position = particles_.by_id(particles_.position);
  const auto force = particles_.by_id(particles_.force);
  particles_.position.copy_from(reference_);
  build();
  recover();
  particles_.assign_by_id(particles_.position, position);
  particles_.assign_by_id(particles_.force, force);
  flags_.assign(flags);
  builds_.assign(count);
  ++version_;
  return particles_.id.to_host() == order;
}

}  // namespace perrin
