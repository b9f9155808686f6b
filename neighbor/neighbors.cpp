#include "neighbor/neighbors.h"

#include <type_traits>
#include <utility>

#include "engine/device/batch_replay.h"
#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "neighbor/halts.h"

namespace perrin {
namespace {

/// Of what visit() hands over.
template <class T>
using TypeOf = std::remove_cvref_t<T>;

struct CheckMoved {
  const Position* position;
  Current<Metric> metric;
  MoveCheck check;
  PERRIN_HD void operator()(std::int64_t i) const { check(i, position[i], *metric); }
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
  ListForecast::Words* forecast;  // or nullptr
  PERRIN_HD void operator()(std::int64_t) const {
    finish(0);
    if (forecast) forecast->soon = forecast->warned = 0;
  }
};

std::uint32_t halt_of(const Device& device) {
  std::uint32_t halt = 0;
  device.memory().copy_out(&halt, device.halt().word(), sizeof halt);
  return halt;
}

}  // namespace

Neighbors::Neighbors(Particles& particles, const Ranges& ranges, const NeighborSettings& settings,
                     const NeighborChoices* choices)
    : particles_(particles),
      traversal_(particles, ranges, settings, choices),
      validity_(particles, range(), skin()),
      forecast_(particles.device()),
      flags_(particles.device(), 2),
      builds_(particles.device(), 1),
      own_flag_(particles.device(), 1),
      own_builds_(particles.device(), 1),
      progress_(particles.device(), 1) {
  particles_.domain().set_sorts_locally(false);
  invalidate();
}

void Neighbors::invalidate() {
  put_word(particles_.device(), flags_.data(), 1);
  forecast_.expect();
}

MoveCheck Neighbors::check_moves(std::uint32_t* progress, std::uint32_t step) {
  moves_checked_ = true;
  MoveCheck check;
  check.progress = progress ? progress : progress_.data();
  check.step = step;
  if (!has_lists()) {
    if (!decomposition().several()) check.cells = traversal_.counter();
    return check;
  }
  const bool ahead = looks_ahead();
  // In a recorded step one is made where it is asked for.
  if ((ahead && particles_.device().queue().recording()) || pair_loops_build())
    rebuild_ = {flags_.data(), 0};
  else
    rebuild_ = particles_.device().queue().condition(flags_.data());
  check.reference = validity_.reference();
  check.limit2 = validity_.limit2(skin());
  // Of several domains none builds lists before all have said whether they must.
  check.rebuild = rebuild_;
  if (decomposition().several()) check.rebuild = {flags_.data(), 0};
  if (ahead) check.warning = &forecast_.words()->soon;
  check.early2 = forecast_.early2(Real(skin() / 2));
  return check;
}

void Neighbors::look(const MoveCheck& check) {
  if (check.watches())
    for_each(particles_.device(), "check displacements", particles_.share(),
             CheckMoved{particles_.position().data(), particles_.metric(), check});
}

void Neighbors::update(std::uint32_t* progress, std::uint32_t step, bool may_exchange,
                       bool is_last) {
  const Device& device = particles_.device();
  // If the box moves, the step has already checked displacements, with a reserve for its own change
  // of the box. A measurement between steps must not check again, or the time of a rebuild would
  // depend on who measures.
  if (!moves_checked_ && progress == nullptr && particles_.box_state().moves() && has_lists())
    rebuild_ = device.queue().condition(flags_.data());
  else if (!moves_checked_)
    look(check_moves(progress, step));
  moves_checked_ = false;
  if (!has_lists()) return sort_for_search(progress, step, may_exchange);
  if ((progress != nullptr || device.queue().recording()) && pair_loops_build()) {
    may_be_full_ = !device.queue().recording();
    return;
  }
  if (device.queue().recording() && looks_ahead()) return update_ahead(progress, step, is_last);
  exchange_moved(votes(progress, step));
  update_lists(progress != nullptr);
}

/// Does a step leave stale lists to its first pair loop? Not where others, or the box, have a say.
bool Neighbors::pair_loops_build() const {
  return traversal_.builds_in_pair_loops() && !decomposition().several() &&
         !particles_.box_state().moves();
}

/// Builds lists if the step's condition is raised. `in_step`: of an integrator.
void Neighbors::update_lists(bool in_step) {
  const Device& device = particles_.device();
  bool built = false;
  device.queue().when(rebuild_, [this, &built, in_step] {
    build(in_step);
    built = true;
  });
  if (built && !in_step) particles_.domain().gather_if_sorted_locally();
  if ((built || !decomposition().several()) && !device.queue().recording() &&
      !device.halt().skipping())
    recover();
}

/// A traversal without lists.
void Neighbors::sort_for_search(std::uint32_t* progress, std::uint32_t step, bool may_exchange) {
  const Device& device = particles_.device();
  if (traversal_.sorts_locally())
    particles_.domain().set_sorts_locally(true);
  else
    particles_.domain().gather(true, {{}, progress, step});
  if (particles_.box_state().moves()) {
    traversal_.require_cut();
    // In a step that is not recorded the host cuts the box again at once, or what follows up to the
    // pair loop would be launched for nothing, and not again.
    if (device.is_cuda() && !device.queue().recording() && device.halt().raised() &&
        !traversal_.holds()) {
      device.halt().clear();
      cut_again();
      look(check_moves(progress, step));
      moves_checked_ = false;
    }
  }
  const auto builds_on_cpu = [&] { return device.is_cuda() ? 0 : *builds_.data(); };
  const std::int64_t before = builds_on_cpu();
  std::visit(
      [&](auto& t) {
        if constexpr (DirectTraversal<TypeOf<decltype(t)>>)
          t.sort(
              {may_exchange, progress != nullptr, flags_.data(), builds_.data(), progress, step});
      },
      traversal_.get());
  if (progress == nullptr) particles_.domain().gather_if_sorted_locally();
  if (progress != nullptr && builds_on_cpu() != before && plans_rebalancing())
    decomposition().rebalance();
}

/// With what is agreed upon of the next step.
Votes Neighbors::votes(std::uint32_t* progress, std::uint32_t step) const {
  Votes made{rebuild_, progress, step};
  if (looks_ahead()) forecast_.join(made);
  return made;
}

/// Do GPUs tell each other a step before that lists may be stale?
bool Neighbors::looks_ahead() const {
  return forecast_.serves() && has_lists() && !particles_.box_state().moves() &&
         particles_.domain().ghosts_suffice() && traversal_.plans_halo();
}

/// In a step that is being recorded. Where a particle of any domain had come near the limit when
/// positions were last exchanged, domains say now whether lists must be built. Otherwise
/// ghost positions are exchanged while the pair loop works on interior tiles. The exchange also
/// carries the warning for the next step, or, after a rebuild, whether every domain could build
/// its list. If lists turn out to be invalid after all, the device is halted, and the host
/// continues from here. The time of a rebuild does not depend on any of this.
void Neighbors::update_ahead(std::uint32_t* progress, std::uint32_t step, bool is_last) {
  const Device& device = particles_.device();
  const ListForecast::Step now = forecast_.begin_step();
  device.queue().when(now.warned, [&] {
    rebuild_ = device.queue().condition(flags_.data());
    decomposition().exchange({}, {rebuild_, progress, step});
    device.queue().when(rebuild_, [&] {
      complete_ = false;
      build(true, now.built);
    });
  });
  rebuild_ = {flags_.data(), 0};
  const Condition next = forecast_.end_step(is_last);
  const Votes with = votes(progress, step);
  visit([&](const auto& t) {
    if constexpr (PlansHalo<TypeOf<decltype(t)>>)
      particles_.domain().exchange_overlapped(
          with, t.ghosts(), {now.built, builds_.data(), next, halted_by_old_lists});
  });
}

bool Neighbors::expect_tilts() {
  if (!traversal_.expect_tilts()) return false;
  invalidate();
  ++version_;
  return true;
}

void Neighbors::follow_topology() {
  // Of several domains, ghosts are those of other partners.
  if (traversal_.follow_topology(decomposition().several())) ++version_;
  particles_.domain().set_sorts_locally(false);
  complete_ = true;
  invalidate();
}

void Neighbors::require_build() { validity_.require_build(); }

void Neighbors::set_reserve(double reserve) {
  validity_.set_reserve(reserve);
  follow_box();
}

void Neighbors::follow_box() {
  // Vectors to clusters are of one image each.
  if (!particles_.device().is_cuda() && has_lists() &&
      half_of_box(particles_.box()) < (1 - 1e-9) * (range() + skin())) {
    cut_again();
    build();
    if (!particles_.device().halt().skipping()) recover();  // the box is fuller than it was
  }
  validity_.follow_box(skin());
  std::visit([&](auto& t) { t.follow_box(validity_.limit2()); }, traversal_.get());
}

/// For the box as it is on the device, where cells do not serve it any more.
void Neighbors::cut_again() {
  particles_.domain().gather(true);
  particles_.box_state().download();
  traversal_.cut_again();
  PERRIN_ASSERT(traversal_.holds());
  invalidate();
  ++version_;
}

/// Positions that lists lead to, as far as the traversal knows them, or all.
void Neighbors::exchange_moved(const Votes& votes) {
  complete_ = !particles_.domain().ghosts_suffice() || !traversal_.plans_halo();
  if (complete_) return particles_.domain().exchange(votes);
  visit([&](const auto& t) {
    if constexpr (PlansHalo<TypeOf<decltype(t)>>) {
      const HaloPlan ghosts = t.ghosts();
      particles_.domain().exchange(votes, &ghosts);
    }
  });
}

/// Shall shares be cut otherwise, once all have everything, and lists and forces are next?
bool Neighbors::plans_rebalancing() {
  return !particles_.device().is_cuda() && decomposition().plan_rebalancing();
}

void Neighbors::rebalance() {
  particles_.domain().gather_all();
  particles_.box_state().download();
  if (has_lists()) particles_.domain().gather(validity_.build_positions());
  decomposition().rebalance();
  traversal_.remake();
  ++version_;
  if (builds_.to_host(0) > 0 && flags_.to_host(0) == 0 && has_lists())
    PERRIN_ASSERT(build_as_before(validity_.built_box()));
}

/// `in_step`: the forces are computed next, so that shares may be cut otherwise. `built`: a word
/// that is set, and the exchange of the step says whether lists could be built everywhere.
void Neighbors::build(bool in_step, std::uint32_t* built) {
  const bool local = traversal_.sorts_locally();
  const bool moves = in_step && plans_rebalancing();
  if (traversal_.migrates() && !local)
    particles_.domain().gather_for_sort(!complete_);
  else if (!local || moves)
    particles_.domain().gather(!complete_);
  complete_ = !local;
  if (local) particles_.domain().set_sorts_locally(true);
  // Of several domains, lists are built when those of all are.
  const bool together = decomposition().several();
  if (moves) decomposition().rebalance();
  if (together)
    for_each(particles_.device(), "lists are built", 1, BeginBuild{own_flag_.data(), built});
  validity_.begin_build(skin());
  if (particles_.box_state().moves()) traversal_.require_cut();
  std::visit(
      [&](auto& t) {
        if constexpr (ListTraversal<TypeOf<decltype(t)>>)
          t.build({validity_.build_positions().data(), together ? own_flag_.data() : flags_.data(),
                   together ? own_builds_.data() : builds_.data()});
      },
      traversal_.get());
  if (!together) return;
  if (traversal_.looks_for_partners() && particles_.domain().partners() &&
      decomposition().any(traversal_.misses_partners())) {
    forget_partners();
    return build();
  }
  if (built) return;
  join_halts();  // after which nothing happens if one was full
  if (particles_.device().is_cuda() || !decomposition().any(*own_flag_.data() != 0))
    for_each(particles_.device(), "lists are built", 1,
             FinishBuildOfAll{{flags_.data(), builds_.data()}, forecast_.words()});
}

/// A list that is full on one device halts all.
void Neighbors::join_halts() { decomposition().exchange({}); }

/// They may be anywhere from here on, and all positions are sent.
void Neighbors::forget_partners() {
  particles_.domain().forget_partners();
  particles_.domain().gather(true);
  complete_ = true;
}

bool Neighbors::recover() {
  bool built = false;
  if (recover_partners()) {
    if (!has_lists()) return true;
    build();
    built = true;
  }
  if (recover_stale_lists()) return true;
  if (recover_cut()) {
    if (!has_lists()) {
      moves_checked_ = false;
      update();
      return true;
    }
    build();
    built = true;
  }
  while (recover_room()) {
    if (!has_lists()) return true;
    build();  // sorts again: a permutation of nothing
    built = true;
  }
  return built;
}

bool Neighbors::recover_partners() {
  const Device& device = particles_.device();
  if (!device.is_cuda() || !particles_.domain().partners() ||
      decomposition().largest(halt_of(device)) != halted_by_partner)
    return false;
  device.halt().clear();
  forget_partners();
  ++version_;
  return true;
}

bool Neighbors::recover_stale_lists() {
  if (!forecast_.exists() || halt_of(particles_.device()) != halted_by_old_lists) return false;
  particles_.device().halt().clear();
  forecast_.warn_earlier();
  ++version_;
  return true;
}

bool Neighbors::recover_cut() {
  const Device& device = particles_.device();
  if (!particles_.box_state().moves() || !device.is_cuda() || !device.halt().raised() ||
      traversal_.holds())
    return false;
  device.halt().clear();
  cut_again();
  return true;
}

bool Neighbors::recover_room() {
  if (!traversal_.enlarge()) return false;
  ++version_;
  particles_.device().halt().clear();
  return true;
}

bool Neighbors::must_search_again() {
  const Device& device = particles_.device();
  if (!has_lists()) join_halts();
  const bool builds = !has_lists() || std::exchange(may_be_full_, false);
  return builds && !device.queue().recording() && !device.halt().skipping() && recover();
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
  if (builds_.to_host(0) == 0) {  // before the first step
    if (!a.is_saving()) invalidate();
    return true;
  }
  const Box built = validity_.state(a);
  if (a.is_saving()) return true;
  // The next update() builds: particles may have come and gone since the lists were made.
  if (flags_.to_host(0) != 0) return true;
  const auto from = validity_.build_positions().to_host(), now = particles_.position().to_host();
  for (std::size_t i = 0; i < now.size(); ++i)
    a.require(from[i].type() == now[i].type(), "reference", "of the particles' types");
  return build_as_before(built);
}

/// Lists from where particles were when they were built, in a box that may have been another one.
/// False: particles have come into another order in memory.
bool Neighbors::build_as_before(const Box& built) {
  const auto flags = flags_.to_host();
  const auto count = builds_.to_host();
  const auto order = particles_.id().to_host();
  const auto position = particles_.by_id(particles_.position());
  const auto force = particles_.by_id(particles_.force());
  particles_.position().copy_from(validity_.build_positions());
  const Box box = particles_.box();
  const auto take = [&](const Box& b) {
    particles_.box_state().set(b);
    if (!(built == box)) follow_box();
  };
  take(built);
  build();
  recover();
  particles_.domain().gather_if_sorted_locally();
  validity_.set_built_box(built);
  take(box);
  particles_.assign_by_id(particles_.position(), position);
  particles_.assign_by_id(particles_.force(), force);
  flags_.assign(flags);
  builds_.assign(count);
  ++version_;
  return particles_.id().to_host() == order;
}

Strain pair_strain(const Neighbors& neighbors, const Box& box) {
  if (sizeof(Real) == 8) return metric_strain(box);
  return neighbors.visit([&](const auto& traversal) { return traversal.strain(box); });
}

}  // namespace perrin
