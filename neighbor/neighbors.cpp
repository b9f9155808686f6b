#include "neighbor/neighbors.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/core/configuration_archive.h"
#include "engine/core/parallel.h"
#include "engine/core/team.h"
#include "neighbor/halts.h"

namespace perrin {
namespace {

template <class T>
constexpr bool lists = std::remove_cvref_t<T>::lists;

struct CheckMoved {
  const Position* position;
  Current<Metric> metric;
  MoveCheck check;
  PERRIN_HD void operator()(std::int64_t i) const { check(i, position[i], *metric); }
};

struct FollowBox {
  const Box *box, *built;
  double range, skin, reserve;
  Real* limit2;
  PERRIN_HD void operator()(std::int64_t) const {
    const Real limit = Real(move_limit(*built, *box, range, skin, reserve));
    *limit2 = limit < Real(0) ? Real(-1) : limit * limit;
  }
};

struct KeepBox {
  const Box* box;
  Box* built;
  double range, skin, reserve;
  Real* limit2;
  PERRIN_HD void operator()(std::int64_t) const {
    *built = *box;
    FollowBox{box, built, range, skin, reserve, limit2}(0);
  }
};

struct BeginBuild {
  std::uint32_t *flag, *built;  // built: or nullptr
  PERRIN_HD void operator()(std::int64_t) const {
    *flag = 1;
    if (built) *built = 1;
  }
};

struct FinishBuildOfAll {
  FinishBuild finish;
  Foresight* foresight;  // nullptr: no forecast
  PERRIN_HD void operator()(std::int64_t) const {
    finish(0);
    if (foresight) foresight->soon = foresight->warned = 0;
  }
};

#ifdef __CUDACC__
/// At the beginning of a recording; also if this device is halted, of which others may not know.
__global__ void look_ahead_kernel(Foresight* foresight, const Condition warned) {
  for (std::uint32_t& built : foresight->built) built = 0;
  if (foresight->warned) warned.raise();
}
#endif

struct NothingHolds {
  Real* limit2;
  PERRIN_HD void operator()(std::int64_t) const { *limit2 = Real(-1); }
};

std::uint32_t halt_of(const Device& device) {
  std::uint32_t halt = 0;
  device.copy_out(&halt, device.halt_word(), sizeof halt);
  return halt;
}

/// Half of the smallest height along a periodic axis.
double half_of(const Box& box) {
  const auto heights = box.padded_heights();
  double half = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < box.dimension; ++axis)
    if (box.periodic[std::size_t(axis)]) half = std::min(half, heights[axis] / 2);
  return half;
}

/// What half of the box leaves for the skin.
double longest_skin(const Box& box, double range) {
  const double half = half_of(box);
  if (range > half)
    throw UserError(fmt::format("the interaction range {} exceeds half the box ({})", range, half));
  return half - range;
}

NeighborChoices choose(const Particles& particles, const Ranges& ranges,
                       const NeighborSettings& settings, const NeighborChoices* choices) {
  const double most_skin = longest_skin(particles.box, ranges.longest());
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

Neighbors::Neighbors(Particles& particles, const Ranges& ranges, const NeighborSettings& settings,
                     const NeighborChoices* choices)
    : particles_(particles),
      ranges_(ranges),
      settings_(settings),
      flags_(particles.device(), 2),
      builds_(particles.device(), 1),
      own_flag_(particles.device(), 1),
      own_builds_(particles.device(), 1),
      progress_(particles.device(), 1),
      reference_(particles.device(), particles.size()),
      built_(particles.device(), 1),
      limit2_(particles.device(), 1),
      exclusions_(particles.device(), particles.size(), particles.topology, settings.exclusions),
      choices_(choose(particles, ranges, settings, choices)),
      traversal_(make_traversal()) {
  if (!fits()) fall_back(choices_.crowding);
  particles_.domain.set_sorts_locally(false);
  if (team() && team()->may_exchange_beside()) foresight_ = {particles.device(), 1};
  invalidate();
  const Real half = Real(skin() / 2), limit2 = half * half;
  built_.assign(std::span<const Box>(&particles.box, 1));
  limit2_.assign(std::span<const Real>(&limit2, 1));
}

TraversalInput Neighbors::input() const {
  TraversalInput input{particles_,        ranges_,         choices_.skin,
                       choices_.crowding, settings_,       exclusions_.view(),
                       choices_.box,      choices_.growth, choices_.tilts};
  if (choices_.traversal == VerletList::name) input.settings.lanes = choices_.lanes;
  input.settings.interaction_sorting = choices_.sorting;
  return input;
}

/// The first that is called so and serves the device and the settings.
template <std::size_t K>
Traversal Neighbors::make_traversal() const {
  if constexpr (K == std::variant_size_v<Traversal>) {
    throw UserError(fmt::format("neighbors.traversal: there is no \"{}\" for the device {}",
                                choices_.traversal, particles_.device().name()));
  } else {
    using T = std::variant_alternative_t<K, Traversal>;
    bool serves = particles_.device().is_cuda() ? T::on_gpu : T::on_cpu;
    if constexpr (requires { T::serves(settings_); }) serves &= T::serves(input().settings);
    if (choices_.traversal == T::name && serves) return Traversal(std::in_place_type<T>, input());
    return make_traversal<K + 1>();
  }
}

bool Neighbors::fits() const {
  return visit([](const auto& t) { return t.fits(); });
}

/// The list per particle serves everywhere.
void Neighbors::fall_back(const Crowding& crowding) {
  if (!has_lists())
    choices_.skin = std::min(choose_skin(particles_, ranges_, crowding, NeighborSettings{}, true),
                             longest_skin(particles_.box, range()));
  choices_.traversal = VerletList::name;
  choices_.crowding = crowding;
  traversal_.emplace<VerletList>(input());
}

void Neighbors::invalidate() {
  const std::uint32_t one = 1;
  particles_.device().copy_in(flags_.data(), &one, sizeof one);
  if (foresight_.size() > 0)
    particles_.device().copy_in(&foresight_.data()->warned, &one, sizeof one);
}

MoveCheck Neighbors::check_moves(std::uint32_t* progress, std::uint32_t step) {
  moves_checked_ = true;
  return std::visit(
      [&](auto& t) -> MoveCheck {
        if constexpr (lists<decltype(t)>) {
          const bool ahead = looks_ahead();
          // In a recorded step one is made where it is asked for.
          rebuild_ = ahead && particles_.device().recording()
                         ? Condition{flags_.data(), 0}
                         : particles_.device().condition(flags_.data());
          const Real half = Real(skin() / 2);
          const Current<Real> limit2{particles_.device().is_cuda() ? half * half : *limit2_.data(),
                                     limit2_.data(), particles_.box_state.moves()};
          // Of several processes none builds lists before all have said whether they must.
          const Condition mine = team() ? Condition{flags_.data(), 0} : rebuild_;
          const Real early = Real(part_) * half;
          return {reference_.data(),
                  limit2,
                  mine,
                  ahead ? &foresight_.data()->soon : nullptr,
                  early * early,
                  progress ? progress : progress_.data(),
                  step};
        } else {
          return {nullptr, {},
                  {},      nullptr,
                  0,       progress ? progress : progress_.data(),
                  step,    team() ? TileCounter{} : t.counter()};
        }
      },
      traversal_);
}

void Neighbors::update(std::uint32_t* progress, std::uint32_t step, bool may_exchange,
                       bool is_last) {
  const Device& device = particles_.device();
  const auto look = [&](const MoveCheck& check) {
    for_each(device, "check displacements", particles_.share(),
             CheckMoved{particles_.position.data(), particles_.metric(), check});
  };
  // If the box moves, the step has already checked displacements, with a reserve for its own change
  // of the box. A measurement between steps must not check again, or the time of a rebuild would
  // depend on who measures.
  if (!moves_checked_ && progress == nullptr && particles_.box_state.moves() && has_lists())
    rebuild_ = device.condition(flags_.data());
  else if (!moves_checked_)
    if (const MoveCheck check = check_moves(progress, step); check.watches()) look(check);
  moves_checked_ = false;
  if (device.recording() && looks_ahead()) return update_ahead(progress, step, is_last);
  if (team()) {
    if (has_lists())
      exchange_moved(agreement(progress, step));
    else if (!sorts_apart())
      particles_.domain.gather(true, {{}, progress, step});
    else
      particles_.domain.set_sorts_locally(true);
  }
  if (!has_lists() && particles_.box_state.moves()) {
    std::visit(
        [](auto& t) {
          if constexpr (requires { t.require_cut(); }) t.require_cut();
        },
        traversal_);
    // In a step that is not recorded the host cuts the box again at once, or what follows up to the
    // pair loop would be launched for nothing, and not again.
    if (device.is_cuda() && !device.recording() && device.halted() && !holds()) {
      device.clear_halt();
      plan_again();
      PERRIN_ASSERT(holds());
      if (const MoveCheck check = check_moves(progress, step); check.watches()) look(check);
      moves_checked_ = false;
    }
  }
  if (has_lists()) {
    bool built = false;
    device.when(rebuild_, [this, &built, progress] {
      build(progress != nullptr);
      built = true;
    });
    if (built && progress == nullptr) particles_.domain.gather_if_sorted_locally();
    if ((built || !team()) && !device.recording() && !device.skipping()) recover();
    return;
  }
  const auto builds_on_cpu = [&] { return device.is_cuda() ? 0 : *builds_.data(); };
  const std::int64_t before = builds_on_cpu();
  std::visit(
      [&](auto& t) {
        if constexpr (!lists<decltype(t)>)
          t.sort(
              {may_exchange, progress != nullptr, flags_.data(), builds_.data(), progress, step});
      },
      traversal_);
  if (progress == nullptr) particles_.domain.gather_if_sorted_locally();
  if (progress != nullptr && builds_on_cpu() != before && plans_cuts_on_cpu()) team()->move_cuts();
}

/// With what is agreed upon of the next step.
Agreement Neighbors::agreement(std::uint32_t* progress, std::uint32_t step) const {
  Agreement made{rebuild_, progress, step};
  if (!looks_ahead()) return made;
  auto* const foresight = const_cast<Foresight*>(foresight_.data());
  made.warning = &foresight->soon;
  made.warned = &foresight->warned;
  return made;
}

/// Do GPUs tell each other a step before that lists may be void? Where lists are void unexpectedly
/// too often, and where the box moves, they do not.
bool Neighbors::looks_ahead() const {
  constexpr double least_part = 0.3;
  return foresight_.size() > 0 && has_lists() && part_ > least_part &&
         !particles_.box_state.moves() && particles_.domain.ghosts_suffice() &&
         visit([](const auto& t) {
           return requires { t.ghosts(); };
         });
}

/// In a step that is being recorded. Where a particle of any process had come near the limit when
/// positions were last exchanged, processes say now whether lists must be built. Otherwise
/// ghost positions are exchanged while the pair loop works on interior tiles. The exchange also
/// carries the warning for the next step, or, after a rebuild, whether every process could build
/// its list. If lists turn out to be invalid after all, the device is halted, and the host
/// continues from here. The time of a rebuild does not depend on any of this.
void Neighbors::update_ahead(std::uint32_t* progress, std::uint32_t step, bool is_last) {
#ifdef __CUDACC__
  const Device& device = particles_.device();
  Foresight* const foresight = foresight_.data();
  if (slot_ < 0 || warned_.handle == 0) {
    slot_ = 0;
    warned_ = device.condition(&foresight->unused);
    launch(device, "what is expected", dim3(1), dim3(1), 0, look_ahead_kernel, foresight, warned_);
  }
  std::uint32_t* const built = &foresight->built[slot_];
  device.when(warned_, [&] {
    rebuild_ = device.condition(flags_.data());
    team()->exchange({}, {rebuild_, progress, step});
    device.when(rebuild_, [&] {
      complete_ = false;
      build(true, built);
    });
  });
  rebuild_ = {flags_.data(), 0};
  warned_ = is_last || slot_ + 1 == Foresight::slots ? Condition{&foresight->unused, 0}
                                                     : device.condition(&foresight->unused);
  const Agreement with = agreement(progress, step);
  visit([&](const auto& t) {
    if constexpr (requires { t.ghosts(); }) {
      particles_.domain.exchange_beside(with, t.ghosts(),
                                        {built, builds_.data(), warned_, halted_by_old_lists});
    }
  });
  slot_ = warned_.handle == 0 ? -1 : slot_ + 1;
#else
  (void)progress, (void)step, (void)is_last;
#endif
}

bool Neighbors::expect_tilts() {
  if (choices_.tilts) return false;
  choices_.tilts = true;
  traversal_ = make_traversal();
  if (!fits()) fall_back(choices_.crowding);
  invalidate();
  ++version_;
  return true;
}

void Neighbors::require_build() {
  for_each(particles_.device(), "lists hold no more", 1, NothingHolds{limit2_.data()});
}

void Neighbors::set_reserve(double reserve) {
  reserve_ = reserve;
  follow_box();
}

void Neighbors::follow_box() {
  const Device& device = particles_.device();
  // Vectors to clusters are of one image each.
  if (!device.is_cuda() && has_lists() &&
      half_of(particles_.box) < (1 - 1e-9) * (range() + skin())) {
    plan_again();
    build();
  }
  for_each(device, "limit of moves", 1,
           FollowBox{particles_.box_state.data(), built_.data(), range(), skin(), reserve_,
                     limit2_.data()});
  std::visit([&](auto& t) { t.follow_box(limit2_.data()); }, traversal_);
}

/// With cells for a box that is a little smaller or larger, and a skin that it has room for.
void Neighbors::plan_again() {
  particles_.domain.gather(true);
  particles_.box_state.download();
  choices_.cut_again(particles_.box);
  // Heights change with tilts in every step: a little at a time would be planned again as often.
  const double half = half_of(particles_.box) * (choices_.tilts ? 0.985 : 1.0);
  if (has_lists()) choices_.skin = std::clamp(half - range(), 0.0, choices_.skin);
  traversal_ = make_traversal();
  if (!fits()) fall_back(measure_crowding(particles_, range()));
  invalidate();
  ++version_;
}

bool Neighbors::holds() const {
  return visit([](const auto& t) {
    if constexpr (requires { t.holds(); })
      return t.holds();
    else
      return true;
  });
}

/// Positions that lists lead to, as far as the traversal knows them, or all.
void Neighbors::exchange_moved(const Agreement& agreement) {
  complete_ = !visit([&](const auto& t) {
    if constexpr (requires { t.ghosts(); })
      if (particles_.domain.ghosts_suffice()) {
        const Ghosts ghosts = t.ghosts();
        particles_.domain.exchange(agreement, &ghosts);
        return true;
      }
    return false;
  });
  if (complete_) particles_.domain.exchange(agreement);
}

bool Neighbors::sorts_apart() const {
  return visit([](const auto& t) {
    if constexpr (requires { t.sorts_apart(); })
      return t.sorts_apart();
    else
      return false;
  });
}

/// Shall shares be cut otherwise, once all have everything, and lists and forces are next?
bool Neighbors::plans_cuts_on_cpu() {
  return team() && !particles_.device().is_cuda() && team()->plan_cuts();
}

void Neighbors::move_cuts() {
  particles_.domain.gather_all();
  particles_.box_state.download();
  if (has_lists()) particles_.domain.gather(reference_);
  team()->move_cuts();
  traversal_ = make_traversal();
  ++version_;
  if (builds_.to_host(0) > 0 && flags_.to_host(0) == 0 && has_lists())
    PERRIN_ASSERT(build_as_before(built_.to_host(0)));
}

/// `in_step`: the forces are computed next, so that shares may be cut otherwise. `built`: a word
/// that is set, and the exchange of the step says whether lists could be built everywhere.
void Neighbors::build(bool in_step, std::uint32_t* built) {
  const bool hands_over = visit([](const auto& t) {
    if constexpr (requires { t.hands_over; })
      return t.hands_over;
    else
      return false;
  });
  const bool apart = sorts_apart();
  const bool moves = in_step && plans_cuts_on_cpu();
  if (hands_over && !apart)
    particles_.domain.gather_for_sort(!complete_);
  else if (!apart || moves)
    particles_.domain.gather(!complete_);
  complete_ = !apart;
  if (apart) particles_.domain.set_sorts_locally(true);
  // Of several processes, lists are built when those of all are.
  const bool together = team() != nullptr;
  if (moves) team()->move_cuts();
  if (together)
    for_each(particles_.device(), "lists are built", 1, BeginBuild{own_flag_.data(), built});
  if (particles_.box_state.moves())
    for_each(particles_.device(), "box of the list", 1,
             KeepBox{particles_.box_state.data(), built_.data(), range(), skin(), reserve_,
                     limit2_.data()});
  std::visit(
      [&](auto& t) {
        if constexpr (requires { t.require_cut(); })
          if (particles_.box_state.moves()) t.require_cut();
        if constexpr (lists<decltype(t)>)
          t.build({reference_.data(), together ? own_flag_.data() : flags_.data(),
                   together ? own_builds_.data() : builds_.data()});
      },
      traversal_);
  if (!together) return;
  const auto* const clusters = std::get_if<ClusterList>(&traversal_);
  if (clusters && particles_.domain.partners() && team()->any(clusters->misses_partners())) {
    forget_partners();
    return build();
  }
  if (built) return;
  join_halts();  // after which nothing happens if one was full
  if (particles_.device().is_cuda() || !team()->any(*own_flag_.data() != 0))
    for_each(particles_.device(), "lists are built", 1,
             FinishBuildOfAll{{flags_.data(), builds_.data()},
                              foresight_.size() > 0 ? foresight_.data() : nullptr});
}

/// A list that is full on one device halts all.
void Neighbors::join_halts() {
  if (team() && particles_.device().is_cuda()) team()->exchange({});
}

/// They may be anywhere from here on, and all positions are sent.
void Neighbors::forget_partners() {
  particles_.domain.forget_partners();
  particles_.domain.gather(true);
  complete_ = true;
}

bool Neighbors::recover() {
  bool recovered = false;
  if (team() && particles_.device().is_cuda() && particles_.domain.partners() &&
      team()->largest(halt_of(particles_.device())) == halted_by_partner) {
    particles_.device().clear_halt();
    forget_partners();
    ++version_;
    if (!has_lists()) return true;
    build();
    recovered = true;
  }
  if (foresight_.size() > 0 && halt_of(particles_.device()) == halted_by_old_lists) {
    particles_.device().clear_halt();
    part_ -= 0.15;  // earlier from now on
    ++version_;
    return true;
  }
  if (particles_.box_state.moves() && particles_.device().is_cuda() &&
      particles_.device().halted() && !holds()) {
    particles_.device().clear_halt();
    plan_again();
    PERRIN_ASSERT(holds());
    if (!has_lists()) {
      moves_checked_ = false;
      update();
      return true;
    }
    build();
    recovered = true;
  }
  while (std::visit([](auto& t) { return t.enlarge(); }, traversal_)) {
    if (!fits()) fall_back(measure_crowding(particles_, range()));
    ++version_;
    particles_.device().clear_halt();
    if (!has_lists()) return true;
    build();  // sorts again: a permutation of nothing
    recovered = true;
  }
  return recovered;
}

bool Neighbors::must_search_again() {
  const Device& device = particles_.device();
  if (!has_lists()) join_halts();
  return !has_lists() && !device.recording() && !device.skipping() && recover();
}

const char* Neighbors::traversal() const {
  return visit([](const auto& t) { return t.name; });
}

bool Neighbors::has_lists() const {
  return visit([](const auto& t) { return t.lists; });
}

std::string Neighbors::report() const {
  const std::string skin_text = has_lists() ? fmt::format(", skin {:.4g}", skin()) : "";
  return traversal() + skin_text + visit([](const auto& t) { return t.report(); });
}

double Neighbors::mean_entries() const {
  return visit([](const auto& t) { return t.mean_entries(); });
}

std::int64_t Neighbors::bytes() const {
  return visit([](const auto& t) { return t.bytes(); });
}

bool Neighbors::state(Archive& a) {
  a("builds", builds_);
  a("flags", flags_);
  if (!has_lists()) return true;
  if (a.is_saving() && particles_.domain.sorts_locally()) particles_.domain.gather(reference_);
  Box built = built_.to_host(0);
  if (a.has("built_box")) archive_box(a, "built_box", built);
  archive_by_id(a, "reference", particles_, reference_);
  if (a.is_saving()) return true;
  const auto built_from = reference_.to_host(), now = particles_.position.to_host();
  for (std::size_t i = 0; i < now.size(); ++i)
    a.require(built_from[i].type() == now[i].type(), "reference", "of the particles' types");
  const auto flags = flags_.to_host();
  const auto count = builds_.to_host();
  if (count[0] == 0) invalidate();
  if (count[0] == 0 || flags[0] != 0) return true;  // the next update() builds
  return build_as_before(built);
}

/// Lists from where particles were when they were built, in a box that may have been another one.
/// False: particles have come into another order in memory.
bool Neighbors::build_as_before(const Box& built) {
  const auto flags = flags_.to_host();
  const auto count = builds_.to_host();
  const auto order = particles_.id.to_host();
  const auto position = particles_.by_id(particles_.position);
  const auto force = particles_.by_id(particles_.force);
  particles_.position.copy_from(reference_);
  const Box box = particles_.box;
  const auto take = [&](const Box& b) {
    particles_.box_state.set(b);
    if (!(built == box)) follow_box();
  };
  take(built);
  build();
  recover();
  particles_.domain.gather_if_sorted_locally();
  built_.assign(std::span<const Box>(&built, 1));
  take(box);
  particles_.assign_by_id(particles_.position, position);
  particles_.assign_by_id(particles_.force, force);
  flags_.assign(flags);
  builds_.assign(count);
  ++version_;
  return particles_.id.to_host() == order;
}

Strain pair_strain(const Neighbors& neighbors, const Box& box) {
  if (sizeof(Real) == 8) return metric_strain(box);
  return neighbors.visit([&](const auto& traversal) { return traversal.strain(box); });
}

}  // namespace perrin
