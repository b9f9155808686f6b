#include "neighbor/choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/settings/settings_schema.h"
#include "engine/system/configuration_archive.h"
#include "neighbor/clusters/cluster_set.h"
#include "neighbor/small/small_list.h"
#include "neighbor/sorted_cells/sorted_cells.h"
#include "neighbor/tiles/tile_plan.h"
#include "neighbor/verlet_list/row_plan.h"
#include "neighbor/verlet_list/verlet_list.h"

namespace perrin {
namespace {

/// Pairs that clusters would test per particle, and how much of them are cut and only partly
/// filled: clusters are as wide as sixteen particles need, or as columns are where the box is so
/// empty that there are no more of them, and cut where they are much wider than the reach.
struct ClusterEstimate {
  double tests, cut;  // cut: 0 … 1

  ClusterEstimate(const Box& box, double reach, const Crowding& crowding) {
    const int d = box.dimension;
    const double most = crowding.particles();
    double edge = std::pow(cluster_size / crowding.density, 1.0 / d);
    const double radius = reach + 0.6 * edge;
    const double ball = d == 2 ? M_PI * radius * radius : 4.18879 * radius * radius * radius;
    tests = std::min(crowding.density * ball, most) / 2;
    const auto h = box.padded_heights();
    if (d == 3) {
      const double face = std::max({h.x, h.y, h.z}) * std::min({h.x, h.y, h.z});
      edge = std::max(edge, std::sqrt(face / (most / 4 + 1)));
    }
    cut = std::clamp(2 * (edge / reach - 2), 0.0, 1.0);
  }
};

/// As if particles of types that interact with none were not there: clusters leave them out.
Crowding of_those_that_interact(const Crowding& crowding, const Ranges& ranges) {
  Crowding found = crowding;
  for (std::size_t a = 0; a < found.by_type.size(); ++a) {
    double longest = 0;
    for (std::size_t b = 0; b < found.by_type.size(); ++b)
      longest = std::max(longest, ranges(a, b));
    if (longest == 0) found.by_type[a] = 0;
  }
  if (found.particles() == 0) return crowding;
  found.density *= found.particles() / crowding.particles();
  return found;
}

/// Is a list for every particle cheaper than clusters or tiles, which look as far as the longest
/// range for all? From estimates of what is tested and listed, weighed as measured: ns per particle
/// and step on two threads, or entries of tiles on a GPU.
bool prefers_verlet_list(const Particles& particles, const Ranges& ranges, const Crowding& crowding,
                         const NeighborSettings& settings) {
  if (particles.size() < 2) return false;
  const auto reaches = [&](bool per_particle) {
    return with_skin(ranges, choose_skin(particles, ranges, crowding, settings, per_particle));
  };
  const RowPlan plan =
      plan_rows(particles.box(), reaches(true), crowding, row_costs(particles.device()));
  if (particles.device().is_cuda())
    // 26: what the halo of a brick costs, however few neighbours there are.
    return 2.4 * plan.mean_entries() + 0.2 * plan.mean_tests() <
           26 + tile_list_cost(particles, reaches(false), crowding, settings.cells);
  const Crowding met = of_those_that_interact(crowding, ranges);
  ClusterEstimate clusters(particles.box(), reaches(false).longest(), met);
  clusters.tests *= met.particles() / crowding.particles();
  const bool one_type = crowding.by_type.size() == 1;
  const double by_clusters = 35 + 65 * clusters.cut + (one_type ? 0.3 : 0.85) * clusters.tests;
  return (one_type ? 50 + 0.95 * plan.mean_entries() : 65 + 2 * plan.mean_entries()) < by_clusters;
}

/// How many particles a cell as wide as the longest range has.
double crowd_of_cell(const Particles& particles, const Ranges& ranges, const Crowding& crowding) {
  return particles_of_cell(particles.box(), ranges.longest(), crowding.density);
}

/// On a GPU, where every particle has so many neighbours that lists do not pay, interactions sorted
/// along axes are faster: 1.3 to 1.8 times at 160 and 220 in a cell (docs/papers.md; one type, 1600
/// cells and more).
bool prefers_axes(const Particles& particles, const Ranges& ranges, const Crowding& crowding,
                  const NeighborSettings& settings) {
  constexpr double enough = 140, cells = 1000;
  const bool open = settings.skin == 0 && settings.cells == 0 && settings.brick == 0 &&
                    settings.lanes == 0 && settings.interaction_sorting == "auto";
  const auto heights = particles.box().padded_heights();
  for (int axis = 0; axis < particles.box().dimension; ++axis)
    if (heights[axis] < 3 * ranges.longest()) return false;  // cells would be met twice
  const double crowd = crowd_of_cell(particles, ranges, crowding);
  return open && particles.device().is_cuda() && ranges.uniform() && crowd >= enough &&
         crowding.particles() >= cells * crowd;
}

/// On a GPU, where a step is as long as its launches take (docs/measurements/small-systems.md).
bool prefers_small(const Particles& particles, const NeighborSettings& settings) {
  const bool open = settings.cells == 0 && settings.brick == 0 && settings.lanes == 0 &&
                    settings.reorder && settings.interaction_sorting == "auto";
  return open && particles.device().is_cuda() && particles.size() <= SmallList::most_by_itself;
}

/// How the search without lists sorts interactions where it is left to Perrin: along axes where
/// cells hold as many as pay for the orders (docs/papers.md has the measurement).
std::string choose_sorting(const Particles& particles, const Ranges& ranges,
                           const Crowding& crowding, const NeighborSettings& settings) {
  if (settings.interaction_sorting != "auto") return settings.interaction_sorting;
  const double enough = particles.device().is_cuda() ? 55 : 30;
  const bool many = crowd_of_cell(particles, ranges, crowding) >= enough;
  return many && settings.cells != 2 ? "axes" : "x";
}

}  // namespace

NeighborChoices choose_neighbors(const Particles& particles, const Ranges& ranges,
                                 const NeighborSettings& settings) {
  const Crowding crowding = measure_crowding(particles, ranges.longest());
  NeighborChoices choices{settings.traversal, 0, 0, crowding, particles.box()};
  const bool standard = settings.traversal == "standard";
  const bool small =
      settings.traversal == SmallList::name || (standard && prefers_small(particles, settings));
  const bool axes = standard && !small && prefers_axes(particles, ranges, crowding, settings);
  const bool per_particle =
      small || settings.traversal == "verlet_list" ||
      (standard && !axes && prefers_verlet_list(particles, ranges, crowding, settings));
  if (per_particle)
    choices.traversal = small ? SmallList::name : VerletList::name, choices.lanes = settings.lanes;
  if (axes)
    choices.traversal = "cells";
  else if (!per_particle && (standard || settings.traversal == "auto"))
    choices.traversal = particles.device().is_cuda() ? "tiles" : "clusters";
  choices.sorting = choose_sorting(particles, ranges, crowding, settings);
  if (choices.traversal != "cells")
    choices.skin = choose_skin(particles, ranges, crowding, settings, per_particle);
  return choices;
}

double choose_skin(const Particles& particles, const Ranges& ranges, const Crowding& crowding,
                   const NeighborSettings& settings, bool per_particle) {
  if (settings.skin > 0) return settings.skin;
  // In proportion to the mean range of the pairs in range, so that short lists of many particles do
  // not become those of the few large ones.
  double sum = 0, pairs = 0;
  for (std::size_t a = 0; a < crowding.by_type.size(); ++a)
    for (std::size_t b = 0; b < crowding.by_type.size(); ++b) {
      const double range = ranges(a, b), d = particles.box().dimension;
      const double weight =
          double(crowding.by_type[a]) * double(crowding.by_type[b]) * std::pow(range, d);
      sum += weight * range, pairs += weight;
    }
  const double mean = ranges.uniform() || pairs == 0 ? ranges.longest() : sum / pairs;
  // As the benchmarks have it: cluster lists are quickly built and lose much to a long skin.
  return (particles.device().is_cuda() || per_particle ? 0.16 : 0.1) * mean;
}

std::optional<WrongSetting> wrong_setting(const NeighborSettings& settings, bool gpu) {
  const std::string& wanted = settings.traversal;
  const int lanes = settings.lanes;
  const auto names = traversal_names(gpu ? Where::gpu : Where::cpu);
  if (std::find(names.begin(), names.end(), wanted) == names.end())
    return WrongSetting{"traversal",
                        fmt::format("must be one of {} on {}, got \"{}\"", fmt::join(names, ", "),
                                    gpu ? "a GPU" : "the CPU", wanted)};
  if (gpu && wanted == SmallList::name && lanes != 0)
    return WrongSetting{
        "lanes", fmt::format("must be 0 with the traversal small, which has 32, got {}", lanes)};
  if (gpu && wanted != VerletList::name && lanes != 0 && lanes != 4 && lanes != 8)
    return WrongSetting{
        "lanes",
        fmt::format("must be 0, 4 or 8, got {}; other powers of two are for verlet_list", lanes)};
  if (settings.interaction_sorting == "axes" && settings.cells == 2)
    return WrongSetting{"cells",
                        "must be 0 or 1, got 2: interaction_sorting \"axes\" takes one cell to the "
                        "range"};
  return std::nullopt;
}

std::string what_choices_rest_on(const NeighborSettings& settings, const Ranges& ranges,
                                 std::size_t types, const Device& device) {
  std::string text = record(settings).dump() + (device.is_cuda() ? " cuda" : " cpu");
  if (device.is_cuda() && settings.blocks)
    text += fmt::format(" blocks {}", fmt::join(*settings.blocks, " "));
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = a; b < types; ++b) text += fmt::format(" {}", ranges(a, b));
  return text;
}

bool is_sorting(const std::string& name) { return name == "axes" || name == "x" || name == "none"; }

std::string current_traversal(const std::string& name, bool gpu) {
  if (name == "verlet" || (gpu && name == "clusters")) return "tiles";
  return name == "rows" ? "verlet_list" : name;
}

std::string current_basis(std::string text) {
  const std::pair<const char*, const char*> changes[] = {
      {R"("traversal":"verlet")", R"("traversal":"tiles")"},
      {R"("traversal":"rows")", R"("traversal":"verlet_list")"},
      {R"("reorder":true,)", ""},
      {R"("interaction_sorting":true)", R"("interaction_sorting":"auto")"},
      {R"("interaction_sorting":false)", R"("interaction_sorting":"none")"}};
  for (const auto& [before, now] : changes)
    if (const auto at = text.find(before); at != std::string::npos)
      text.replace(at, std::string_view(before).size(), now);
  return text;
}

void NeighborChoices::cut_again(const Box& now) {
  constexpr double shorter = 0.97;
  box = now;
  box.length = shorter * box.length;
  box.xy *= shorter, box.xz *= shorter, box.yz *= shorter;
  growth = 1.04 / shorter;
}

void NeighborChoices::state(Archive& a) {
  a("traversal", traversal);
  traversal = current_traversal(traversal, false);
  a("skin", skin);
  a("lanes", lanes);
  a("density", crowding.density);
  a("occupied", crowding.occupied);
  const std::size_t types = crowding.by_type.size();
  a("by_type", crowding.by_type);
  if (a.has("box")) archive_box(a, "box", box);
  if (a.has("growth")) a("growth", growth);
  if (a.has("tilts")) a("tilts", tilts);
  if (a.has("sorting")) {
    a("sorting", sorting);
    a.require(is_sorting(sorting), "sorting", "axes, x or none");
  }
  a.require(traversal == "tiles" || traversal == "cells" || traversal == "clusters" ||
                traversal == "verlet_list" || traversal == SmallList::name,
            "traversal", "tiles, cells, clusters, small or verlet_list");
  a.require(skin >= 0, "skin", "at least 0");
  a.require(growth >= 1 && growth < 1.2, "growth", "from 1 to 1.2");
  a.require(lanes >= 0 && lanes <= 32, "lanes", "from 0 to 32");
  a.require(crowding.density > 0, "density", "positive");
  a.require(crowding.occupied > 0 && crowding.occupied < 1.001, "occupied", "from 0 to 1");
  a.require(crowding.by_type.size() == types &&
                std::all_of(crowding.by_type.begin(), crowding.by_type.end(),
                            [](std::int64_t count) { return count >= 0; }),
            "by_type", "a number of particles for every type");
}

}  // namespace perrin
