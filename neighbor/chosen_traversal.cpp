#include "neighbor/chosen_traversal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace perrin {
namespace {

/// What half of the box leaves for the skin.
double longest_skin(const Box& box, double range) {
  const double half = half_of_box(box);
  if (range > half)
    throw UserError(fmt::format("the interaction range {} exceeds half the box ({})", range, half));
  return half - range;
}

NeighborChoices choose(const Particles& particles, const Ranges& ranges,
                       const NeighborSettings& settings, const NeighborChoices* choices) {
  const double most_skin = longest_skin(particles.box(), ranges.longest());
  const bool gpu = particles.device().is_cuda();
  if (const auto wrong = wrong_setting(settings, gpu))
    throw UserError(fmt::format("neighbors.{}: {}", wrong->key, wrong->what));
  PERRIN_ASSERT(settings.reorder || (gpu && settings.traversal == VerletList::name));
  NeighborChoices made = choices ? *choices : choose_neighbors(particles, ranges, settings);
  if (!choices) made.skin = std::min(made.skin, most_skin);
  if (made.sorting.empty())  // of a checkpoint of earlier versions, which had no choice
    made.sorting = settings.interaction_sorting == "none" ? "none" : "x";
  return made;
}

}  // namespace

double half_of_box(const Box& box) {
  const auto heights = box.padded_heights();
  double half = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < box.dimension; ++axis)
    if (box.periodic[std::size_t(axis)]) half = std::min(half, heights[axis] / 2);
  return half;
}

ChosenTraversal::ChosenTraversal(Particles& particles, const Ranges& ranges,
                                 const NeighborSettings& settings, const NeighborChoices* choices)
    : particles_(particles),
      ranges_(ranges),
      settings_(settings),
      exclusions_(particles.device(), particles.size(), particles.properties().topology,
                  settings.exclusions, settings.exclusions_change),
      choices_(choose(particles, ranges, settings, choices)),
      traversal_(make()) {
  if (!fits()) fall_back(choices_.crowding);
}

TraversalInput ChosenTraversal::input() const {
  TraversalInput input{particles_,        ranges_,         choices_.skin,
                       choices_.crowding, settings_,       exclusions_.view(),
                       choices_.box,      choices_.growth, choices_.tilts};
  if (choices_.traversal == VerletList::name) input.settings.lanes = choices_.lanes;
  input.settings.interaction_sorting = choices_.sorting;
  return input;
}

/// The first that is called so and serves the device and the settings.
template <std::size_t K>
Traversal ChosenTraversal::make() const {
  if constexpr (K == std::variant_size_v<Traversal>) {
    throw UserError(fmt::format("neighbors.traversal: there is no \"{}\" for the device {}",
                                choices_.traversal, particles_.device().name()));
  } else {
    using T = std::variant_alternative_t<K, Traversal>;
    bool serves = particles_.device().is_cuda() ? T::on_gpu : T::on_cpu;
    if constexpr (SharesItsName<T>) serves &= T::serves(input().settings);
    if (choices_.traversal == T::name && serves) return Traversal(std::in_place_type<T>, input());
    return make<K + 1>();
  }
}

bool ChosenTraversal::fits() const {
  return visit([](const auto& t) { return t.fits(); });
}

/// The list per particle serves everywhere.
void ChosenTraversal::fall_back(const Crowding& crowding) {
  if (!has_lists())
    choices_.skin = std::min(choose_skin(particles_, ranges_, crowding, NeighborSettings{}, true),
                             longest_skin(particles_.box(), range()));
  choices_.traversal = VerletList::name;
  choices_.crowding = crowding;
  traversal_.emplace<VerletList>(input());
}

void ChosenTraversal::remake() { traversal_ = make(); }

bool ChosenTraversal::expect_tilts() {
  if (choices_.tilts) return false;
  choices_.tilts = true;
  remake();
  if (!fits()) fall_back(choices_.crowding);
  return true;
}

bool ChosenTraversal::follow_topology(bool again) {
  if (!exclusions_.set(particles_.properties().topology) && !again) return false;
  remake();
  if (!fits()) fall_back(choices_.crowding);
  return true;
}

void ChosenTraversal::cut_again() {
  choices_.cut_again(particles_.box());
  // Heights change with tilts in every step: a little at a time would be planned again as often.
  const double half = half_of_box(particles_.box()) * (choices_.tilts ? 0.985 : 1.0);
  if (has_lists()) choices_.skin = std::clamp(half - range(), 0.0, choices_.skin);
  remake();
  if (!fits()) fall_back(measure_crowding(particles_, range()));
}

bool ChosenTraversal::enlarge() {
  if (!std::visit([](auto& t) { return t.enlarge(); }, traversal_)) return false;
  if (!fits()) fall_back(measure_crowding(particles_, range()));
  return true;
}

const char* ChosenTraversal::name() const {
  return visit([](const auto& t) { return t.name; });
}

bool ChosenTraversal::has_lists() const {
  return visit([](const auto& t) { return t.lists; });
}

bool ChosenTraversal::plans_halo() const {
  return visit([]<class T>(const T&) { return PlansHalo<T>; });
}

bool ChosenTraversal::migrates() const {
  return visit([]<class T>(const T&) { return Migrates<T>; });
}

bool ChosenTraversal::sorts_locally() const {
  return visit([]<class T>(const T& t) {
    if constexpr (SortsLocally<T>)
      return t.sorts_locally();
    else
      return false;
  });
}

bool ChosenTraversal::builds_in_pair_loops() const {
  return visit([]<class T>(const T& t) {
    if constexpr (BuildsInPairLoops<T>)
      return t.builds_in_pair_loops();
    else
      return false;
  });
}

bool ChosenTraversal::looks_for_partners() const {
  return visit([]<class T>(const T&) { return LooksForPartners<T>; });
}

bool ChosenTraversal::misses_partners() const {
  return visit([]<class T>(const T& t) {
    if constexpr (LooksForPartners<T>)
      return t.misses_partners();
    else
      return false;
  });
}

TileCounter ChosenTraversal::counter() {
  return std::visit(
      []<class T>(T& t) {
        if constexpr (DirectTraversal<T>)
          return t.counter();
        else
          return TileCounter{};
      },
      traversal_);
}

bool ChosenTraversal::holds() const {
  return visit([]<class T>(const T& t) {
    if constexpr (CutsBox<T>)
      return t.holds();
    else
      return true;
  });
}

void ChosenTraversal::require_cut() {
  visit([]<class T>(const T& t) {
    if constexpr (CutsBox<T>) t.require_cut();
  });
}

std::string ChosenTraversal::report() const {
  const std::string skin_text = has_lists() ? fmt::format(", skin {:.4g}", skin()) : "";
  return name() + skin_text + visit([](const auto& t) { return t.report(); });
}

// What each can do beside finding pairs: a name that is spelled differently would be passed over
// without a word.
static_assert(PlansHalo<TileList> && SortsLocally<TileList> && Migrates<TileList> &&
              CutsBox<TileList>);
static_assert(PlansHalo<ClusterList> && SortsLocally<ClusterList> && LooksForPartners<ClusterList>);
static_assert(SortsLocally<DirectTiles> && CutsBox<DirectTiles>);
static_assert(BuildsInPairLoops<SmallList>);
static_assert(SharesItsName<SortedCells> && SharesItsName<ColumnSearch>);

}  // namespace perrin
