#include "molecule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/setup.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "engine/system/moved_position.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "extent.h"
#include "molecules.h"
#include "turn.h"

namespace perrin::monte_carlo {
namespace {

struct ProposeMolecules {
  TrialCells cells;
  Metric metric;
  MoleculeView molecules;
  GroupMask group;
  RunKey key;
  const std::uint64_t* sweep;
  std::uint32_t head, trial;  // the molecule whose first particle is the head-th of its cell
  std::uint32_t largest;
  Real displacement, rotation;
  MostExtent most;
  bool flat;
  const Position* position;
  const std::uint32_t* index;
  TrialMove* move;       // [active cell · largest + particle of the molecule]
  std::uint32_t* place;  // likewise
  double* change;
  float* log_of_uniform;
  Real3* vector;  // [as move]
  Real4* turned;  // [active cell]: quaternion
  TrialCounts* counts;

  PERRIN_HD Words4 words(std::uint32_t molecule, std::uint32_t use) const {
    return philox4x32<10>(
        {std::uint32_t(*sweep), std::uint32_t(*sweep >> 32), molecule, 2 * trial + use},
        {key.x, key.y});
  }
  PERRIN_HD Vec3<double> fraction(const Real3& r) const {
    const Real4 word = metric.fixed_word({r.x, r.y, r.z, 0});
    return {0x1p-32 * double(word.x), 0x1p-32 * double(word.y), 0x1p-32 * double(word.z)};
  }
  /// Less than half of the box, in fixed point.
  PERRIN_HD static bool is_short(const Real4& word) {
    constexpr Real half = Real(2147483000);
    return std::abs(word.x) < half && std::abs(word.y) < half && std::abs(word.z) < half;
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t first = k * largest;
    for (std::uint32_t e = 0; e < largest; ++e)
      move[first + e] = {}, place[first + e] = TrialMove::none, change[first + e] = 0;
    const std::int32_t own = cells.key(cells.active_cell(k));
    const std::uint32_t slot = cells.start[own] + head;
    if (slot >= cells.start[own + 1]) return;
    const std::uint32_t id = cells.id[slot], molecule = molecules.of[id];
    const std::uint32_t* const member = molecules.member + molecules.begin[molecule];
    const std::uint32_t* const before = molecules.before + molecules.begin[molecule];
    const std::uint32_t count = molecules.begin[molecule + 1] - molecules.begin[molecule];
    if (member[0] != id || count < 2) return;
    Real3* const r = vector + first;
    Real3 centre{};
    for (std::uint32_t m = 0; m < count; ++m) {
      const Position p = position[index[member[m]]];
      if (!group.has(member[m]) || cells.key(cells.cell_of(p)) != own) return;
      r[m] = m == 0 ? Real3{} : r[before[m]] + metric.vector(p, position[index[member[before[m]]]]);
      centre += r[m];
    }
    centre *= 1 / Real(count);
    ++counts[k].tried;
    const Words4 w = words(molecule, 0), about = words(molecule, 1);
    const Real3 by{between(displacement, w.x), between(displacement, w.y),
                   flat ? Real(0) : between(displacement, w.z)};
    const Real3 axis = flat ? Real3{0, 0, 1} : direction<Real>(about.y, about.z);
    const Real angle = between(rotation, about.x), sine = std::sin(angle / 2);
    const Turn<Real> turn(axis, angle);
    turned[k] = {sine * axis.x, sine * axis.y, sine * axis.z, std::cos(angle / 2)};
    bool stays = true;
    Extent whole, turned_whole;
    for (std::uint32_t m = 0; m < count; ++m) {
      const std::uint32_t where = index[member[m]];
      const Position p = position[where];
      const Real3 step = turn.step(r[m] - centre) + by;
      whole.add(fraction(r[m])), turned_whole.add(fraction(r[m] + step));
      const Real4 word = metric.fixed_word({step.x, step.y, flat ? Real(0) : step.z, 0});
      stays = stays && is_short(word);
      const Position after = stays ? moved_by_axes(p, word) : p;
      stays = stays && cells.key(cells.cell_of(after)) == own;
      place[first + m] = where;
      move[first + m] = {.before_as = where,
                         .after_as = where,
                         .slot = cells.slot_of(own, member[m]),
                         .before = p,
                         .after = after};
    }
    log_of_uniform[k] = log_of(w.w);
    if (rotation > 0) stays = stays && whole.is_within(most) && turned_whole.is_within(most);
    if (stays) return;
    for (std::uint32_t m = 0; m < count; ++m)
      move[first + m] = {}, place[first + m] = TrialMove::none;
  }
};

struct ApplyMolecule {
  const TrialMove* move;
  std::uint32_t largest;
  TrialParticles particles;

  PERRIN_HD void go(std::int64_t k, bool back) const {
    for (std::int64_t e = k * largest; e < (k + 1) * largest && move[e].is_tried(); ++e)
      particles.go(move[e].after_as, back ? move[e].after : move[e].before,
                   back ? move[e].before : move[e].after);
  }
  PERRIN_HD void operator()(std::int64_t k) const { go(k, false); }
};

struct DecideMolecules {
  TrialCells cells;
  ApplyMolecule apply;
  bool applied;  // already
  double kt;
  const double* change;
  const float* log_of_uniform;
  const Real4* turn;
  Real4* orientation;  // [place]; nullptr: particles have none
  TrialCounts* counts;

  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t first = k * apply.largest;
    if (!apply.move[first].is_tried()) return;
    double all = 0;
    for (std::uint32_t e = 0; e < apply.largest; ++e) all += change[first + e];
    const bool accepted = all <= -kt * double(log_of_uniform[k]);
    if (accepted != applied) apply.go(k, applied);
    if (!accepted) return;
    ++counts[k].accepted;
    for (std::uint32_t e = 0; e < apply.largest && apply.move[first + e].is_tried(); ++e) {
      const TrialMove& move = apply.move[first + e];
      cells.position[move.slot] = move.after;
      if (orientation == nullptr) continue;
      Real4& q = orientation[move.after_as];
      q = turned(turn[k], q);
    }
  }
};

}  // namespace

void check_molecules(const MoleculeSettings& s, const std::string& group, Setup& setup) {
  const Configuration& c = setup.configuration();
  check_displacement("molecule.displacement", s.displacement, setup);
  if (s.displacement == 0 && s.rotation == 0)
    setup.error("molecule", "moves nothing: expected a displacement or a rotation above 0");
  if (c.topology.molecule.empty() && c.topology.body.empty())
    setup.error("molecule",
                "the system has no molecules: expected particles with bonds, or rigid bodies");
  require_periodic("molecule", "needs", setup);
  moving_group(group, "group", setup);
}

void MoleculeMove::begin(StageContext& s) {
  const Device& device = s.device();
  group_ = group_of(s, group_name_);
  const LinkedMolecules linked(s.particles().properties().topology);
  const Molecules& molecules = linked.molecules;
  largest_ = molecules.largest;
  of_ = Buffer<std::uint32_t>(device, molecules.of);
  begin_ = Buffer<std::uint32_t>(device, molecules.begin);
  member_ = Buffer<std::uint32_t>(device, molecules.member);
  before_ = Buffer<std::uint32_t>(device, linked.before);
  // A move that leaves its cell is in vain.
  width_ = width_of_cells(s, s.range() + 4 * settings_.displacement);
  fit(s);
}

/// What depends on the box.
void MoleculeMove::fit(const StepContext& s) {
  room_ = std::min(width_, least_height(s.particles().box())) / 4;
  if (!grid_.fit(s.particles(), width_)) return;
  energies_.begin(s, grid_.active() * largest_, false);
  vector_ = {s.device(), grid_.active() * largest_};
  log_of_uniform_ = {s.device(), grid_.active()};
  turned_ = {s.device(), grid_.active()};
  tally_.begin(s.device(), grid_.active());
}

void MoleculeMove::sweep(StepContext& s, double kt) {
  if (s.particles().box_state().moves()) fit(s);
  const Device& device = s.device();
  const RunKey key(Purpose::monte_carlo_molecule, s.seed());
  Orientations* const orientations = s.particles().orientations();
  const std::vector<TrialCells> colours = grid_.sort(s, key);
  const std::uint32_t fullest = grid_.fullest();
  energies_.begin_trials(s);
  const Metric metric = s.particles().box().metric();
  const ParticleView particles = s.particles().view();
  const bool flat = s.particles().box().dimension == 2;
  const ApplyMolecule apply{energies_.move(), largest_, {particles.position, particles.image}};
  const TrialEnergies::Asked asked{
      .molecule = of_.data(), .turn = turned_.data(), .together = largest_};
  const auto try_all = [&](const TrialCells& cells, std::uint32_t head, std::uint32_t trial) {
    const std::int64_t n = cells.active();
    for_each(device, "moves of molecules", n,
             ProposeMolecules{cells,
                              metric,
                              {of_.data(), begin_.data(), member_.data(), before_.data()},
                              group_.mask(),
                              key,
                              s.device_step(),
                              head,
                              trial,
                              largest_,
                              Real(scale_ * settings_.displacement),
                              Real(rotation()),
                              MostExtent(s.particles().box(), s.range()),
                              flat,
                              particles.position,
                              particles.index,
                              energies_.move(),
                              energies_.place(),
                              energies_.change(),
                              log_of_uniform_.data(),
                              vector_.data(),
                              turned_.data(),
                              tally_.data()});
    energies_.measure(
        s, cells, n * largest_, [&] { for_each(device, "molecules move", n, apply); }, asked);
    for_each(device, "moves of molecules are accepted", n,
             DecideMolecules{cells, apply, energies_.has_fields(), kt, energies_.change(),
                             log_of_uniform_.data(), turned_.data(),
                             orientations ? orientations->orientation().data() : nullptr,
                             tally_.data()});
    energies_.follow_trial(s, cells, n * largest_, asked);
  };
  for (const TrialCells& cells : colours)
    for (std::uint32_t head = 0; head < fullest; ++head)
      for (std::int64_t trial = 0; trial < settings_.trials; ++trial)
        try_all(cells, head, std::uint32_t(trial));
  // Sites go where their bodies are, without the rounding of many turns: after every sweep, or bits
  // would depend on who has looked.
  if (s.bodies()) s.renew_neighbors();
}

double MoleculeMove::largest_size() const {
  return settings_.displacement > 0 ? std::max(1.0, room_ / settings_.displacement)
                                    : std::max(1.0, M_PI / settings_.rotation);
}

double MoleculeMove::rotation() const { return std::min(M_PI, scale_ * settings_.rotation); }

std::string MoleculeMove::size_text() const {
  return fmt::format("displacement {:.6g}, rotation {:.6g}", displacement(), rotation());
}

void MoleculeMove::state(Archive& archive) {
  archive("scale", scale_);
  archive.require(scale_ > 0 && std::isfinite(scale_), "scale", "a number above 0");
  tally_.state(archive);
}

}  // namespace perrin::monte_carlo
