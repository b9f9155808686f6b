#include "swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "trials_of_sweep.h"
#include "turn.h"
#include "whole_position.h"

namespace perrin::monte_carlo {
namespace {

/// Which two may be exchanged.
struct SwapPartners {
  GroupMask group, one, other;
  bool two_groups;
  const double* attribute;  // [id]; nullptr: types differ
  double difference;

  PERRIN_HD bool fit(std::uint32_t i, std::uint32_t j, std::uint32_t type_i,
                     std::uint32_t type_j) const {
    if (!group.has(i) || !group.has(j)) return false;
    if (two_groups && !((one.has(i) && other.has(j)) || (one.has(j) && other.has(i)))) return false;
    if (attribute == nullptr) return type_i != type_j;
    const double by = attribute[i] - attribute[j];
    return (by != 0 || type_i != type_j) && by <= difference && by >= -difference;
  }
};

/// Cell k makes a trial with the cell `turn` - k, in whichever comes first.
struct ProposeSwaps {
  TrialCells cells;
  RunKey key;
  const std::uint64_t* sweep;
  std::uint32_t round;
  SwapPartners partners;
  TrialMove* move;       // [2 k], [2 k + 1]: the particle of cell k, and of the other one
  std::uint32_t* place;  // likewise
  double* change;
  float* log_of_uniform;
  TrialCounts* counts;

  PERRIN_HD Words4 words(std::uint32_t k, std::uint32_t use) const {
    return philox4x32<10>(
        {std::uint32_t(*sweep), std::uint32_t(*sweep >> 32), k, 2 * round + 2 + use},
        {key.x, key.y});
  }
  /// With type and attributes of `other`, where that is.
  PERRIN_HD TrialMove as_other(std::uint32_t slot, std::uint32_t other) const {
    return {.before_as = cells.place[slot],
            .after_as = cells.place[other],
            .slot = slot,
            .other = other,
            .before = cells.position[slot],
            .after = cells.position[slot]};
  }

  PERRIN_HD void operator()(std::int64_t at) const {
    const auto k = std::uint32_t(at), n = std::uint32_t(cells.active());
    for (std::uint32_t e = 2 * k; e < 2 * k + 2; ++e)
      move[e] = {}, place[e] = TrialMove::none, change[e] = 0;
    const std::uint32_t turn = below(n, words(TrialMove::none, 0).x);
    const std::uint32_t with = turn >= k ? turn - k : turn + n - k;
    if (with < k) return;
    const std::int32_t a = cells.key(cells.active_cell(k)), b = cells.key(cells.active_cell(with));
    const std::uint32_t in_a = cells.start[a + 1] - cells.start[a],
                        in_b = cells.start[b + 1] - cells.start[b] - (a == b ? 1 : 0);
    if (in_a == 0 || in_b == 0) return;
    const Words4 drawn = words(k, 1);
    const std::uint32_t i = cells.start[a] + below(in_a, drawn.x);
    std::uint32_t j = cells.start[b] + below(in_b, drawn.y);
    if (a == b && j >= i) ++j;
    if (!partners.fit(cells.id[i], cells.id[j], cells.position[i].type(), cells.position[j].type()))
      return;
    ++counts[k].tried;
    move[2 * k] = as_other(i, j), move[2 * k + 1] = as_other(j, i);
    place[2 * k] = cells.place[i], place[2 * k + 1] = cells.place[j];
    log_of_uniform[k] = log_of(drawn.w);
  }
};

/// The particles go, or go back.
struct ApplySwap {
  const TrialMove* move;
  TrialParticles particles;

  PERRIN_HD void exchange(const TrialMove& a, const TrialMove& b, bool back) const {
    const Position a_there = at_place_of(b.before, a.before),
                   b_there = at_place_of(a.before, b.before);
    particles.go(a.before_as, back ? a_there : a.before, back ? a.before : a_there);
    particles.go(b.before_as, back ? b_there : b.before, back ? b.before : b_there);
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    if (move[2 * k].is_tried()) exchange(move[2 * k], move[2 * k + 1], false);
  }
};

struct DecideSwaps {
  TrialCells cells;
  ApplySwap apply;
  bool applied;  // already
  double kt;
  const double* change;
  const float* log_of_uniform;
  TrialCounts* counts;

  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialMove a = apply.move[2 * k], b = apply.move[2 * k + 1];
    if (!a.is_tried()) return;
    const bool accepted = change[2 * k] + change[2 * k + 1] <= -kt * double(log_of_uniform[k]);
    if (accepted != applied) apply.exchange(a, b, applied);
    if (!accepted) return;
    ++counts[k].accepted;
    const std::uint32_t id = cells.id[a.slot];
    cells.id[a.slot] = cells.id[b.slot], cells.id[b.slot] = id;
    cells.place[a.slot] = b.before_as, cells.place[b.slot] = a.before_as;
    cells.position[a.slot] = at_place_of(a.before, b.before);
    cells.position[b.slot] = at_place_of(b.before, a.before);
  }
};

}  // namespace

void check_swap(const SwapSettings& s, const std::string& group, Setup& setup) {
  const Configuration& c = setup.configuration();
  if (s.difference && !s.attribute) setup.error("swap.difference", "needs an \"attribute\"");
  if (s.attribute && !c.attributes.contains(*s.attribute)) {
    const bool own = *s.attribute == "charge" || *s.attribute == "diameter" ||
                     *s.attribute == "mass";  // have places of their own
    setup.error(
        "swap.attribute",
        own ? fmt::format("cannot be \"{0}\": expected another name, to which the job's "
                          "\"attributes\" give the same numbers: {{\"from\": \"{0}\"}}",
                          *s.attribute)
            : fmt::format("unknown attribute \"{}\": the job has none of that name", *s.attribute));
  }
  if (!s.attribute && c.types.size() < 2)
    setup.error("swap",
                "the particles are of one type: expected \"attribute\", whose numbers are "
                "exchanged, or several types");
  const Group* const all = moving_group(group, "group", setup);
  const Group* const one = s.groups ? setup.fixed_group((*s.groups)[0], "swap.groups") : all;
  const Group* const other = s.groups ? setup.fixed_group((*s.groups)[1], "swap.groups") : all;
  if (!all || !one || !other || !has_partners(c.topology)) return;
  const std::vector<bool> has = bonded_particles(c);
  for (std::size_t id = 0; id < has.size(); ++id) {
    if (!has[id] || !all->has(id) || !(one->has(id) || other->has(id))) continue;
    setup.error("swap", fmt::format("particle {} has bonds: expected groups of particles without, "
                                    "which can be elsewhere",
                                    id));
    return;
  }
}

void Swap::begin(StageContext& s) {
  const Device& device = s.device();
  group_ = group_of(s, group_name_);
  if (settings_.groups) {
    one_ = group_of(s, (*settings_.groups)[0]);
    other_ = group_of(s, (*settings_.groups)[1]);
  }
  if (settings_.attribute)
    attribute_ =
        Buffer<double>(device, s.particles().properties().attributes.at(*settings_.attribute));
  fit(s);
}

/// What depends on the box.
void Swap::fit(const StepContext& s) {
  if (!grid_.fit(s.particles(), width_of_cells(s, s.range()))) return;
  energies_.begin(s, 2 * grid_.active(), false);
  log_of_uniform_ = {s.device(), grid_.active()};
  tally_.begin(s.device(), grid_.active());
}

void Swap::sweep(StepContext& s, double kt) {
  if (s.particles().box_state().moves()) fit(s);
  const RunKey key(Purpose::monte_carlo_swap, s.seed());
  const std::vector<TrialCells> colours = grid_.sort(s, key);
  energies_.begin_trials(s);
  const double pairs = std::max(1.0, 0.5 * double(grid_.active()));
  const double trials = settings_.trials * double(s.particles().size()) / double(colours.size());
  for (std::uint32_t c = 0, made = 0; c < colours.size(); ++c)
    for (auto left = trials_of_sweep(trials / pairs, key, s.step(), c); left > 0; --left)
      try_all(s, colours[c], made++, kt);
}

void Swap::try_all(StepContext& s, const TrialCells& cells, std::uint32_t round, double kt) {
  const Device& device = s.device();
  const ParticleView particles = s.particles().view();
  const std::int64_t n = cells.active();
  const SwapPartners partners{group_.mask(),
                              one_.mask(),
                              other_.mask(),
                              settings_.groups.has_value(),
                              settings_.attribute ? attribute_.data() : nullptr,
                              settings_.difference.value_or(HUGE_VAL)};
  for_each(device, "swaps", n,
           ProposeSwaps{cells, RunKey(Purpose::monte_carlo_swap, s.seed()), s.device_step(), round,
                        partners, energies_.move(), energies_.place(), energies_.change(),
                        log_of_uniform_.data(), tally_.data()});
  const ApplySwap apply{energies_.move(), {particles.position, particles.image}};
  energies_.measure(s, cells, 2 * n, [&] { for_each(device, "swaps are made", n, apply); });
  for_each(device, "swaps are accepted", n,
           DecideSwaps{cells, apply, energies_.has_fields(), kt, energies_.change(),
                       log_of_uniform_.data(), tally_.data()});
  energies_.follow_trial(s, cells, 2 * n, {});
}

}  // namespace perrin::monte_carlo
