#include "widom.h"

#include <algorithm>
#include <cmath>

#include "engine/components/excluded_energies.h"
#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/observation.h"
#include "move.h"
#include "placed_body.h"

namespace perrin::monte_carlo {
namespace {

/// Random places and rotations; what is there is like one molecule after the other of the group.
struct Insert {
  RunKey key;
  const std::uint64_t* step;
  std::uint32_t first;  // of the sample's insertions
  std::uint32_t turn, molecules, largest;
  const std::uint32_t *begin, *member, *before;  // RigidMolecules
  ParticleView particles;
  Current<Metric> metric;
  bool flat;
  TrialMove* move;       // [insertion · largest + particle of the molecule]
  std::uint32_t* place;  // likewise
  double* change;
  Real3* vector;  // [as move]

  PERRIN_HD Words4 words(std::uint32_t insertion, std::uint32_t use) const {
    return philox4x32<10>({std::uint32_t(*step), std::uint32_t(*step >> 32), insertion, use},
                          {key.x, key.y});
  }
  PERRIN_HD void put(std::int64_t e, std::uint32_t at, const Position& there) const {
    move[e] = {.after_as = at, .before = there, .after = there};
    place[e] = at;
    change[e] = 0;
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const auto insertion = first + std::uint32_t(k);
    const std::uint32_t m = (turn + std::uint32_t(k)) % molecules, of = begin[m];
    const std::uint32_t count = begin[m + 1] - of;
    const Words4 where = words(insertion, TrialMove::none);
    const std::uint32_t head = particles.index[member[of]];
    const Position there = place_in_box(where, flat, particles.position[head]);
    const std::int64_t e = k * largest;
    put(e, head, there);
    for (std::uint32_t n = count; n < largest; ++n)
      move[e + n] = {}, place[e + n] = TrialMove::none, change[e + n] = 0;
    if (count == 1) return;
    const PlacedBody body(there, words(insertion, TrialMove::none - 1), flat);
    vector[e] = {};
    for (std::uint32_t n = 1; n < count; ++n) {
      const std::uint32_t at = particles.index[member[of + n]], link = before[of + n];
      vector[e + n] =
          vector[e + link] + metric->vector(particles.position[at],
                                            particles.position[particles.index[member[of + link]]]);
      put(e + n, at, body.particle(*metric, vector[e + n], particles.position[at]));
    }
  }
};

/// The molecules that those of the insertions are like come where they are, and meet their
/// partners.
struct ComeWhereTheyAre {
  std::uint32_t turn, molecules, largest;
  const std::uint32_t *begin, *member;  // as Insert
  ParticleView particles;
  TrialCells cells;
  TrialMove* move;
  double* change;

  PERRIN_HD void operator()(std::int64_t k) const {
    const std::uint32_t m = (turn + std::uint32_t(k)) % molecules, of = begin[m];
    const std::uint32_t count = begin[m + 1] - of;
    for (std::uint32_t n = 0; n < largest; ++n) {
      const std::int64_t e = k * largest + n;
      move[e] = {}, change[e] = 0;
      if (n >= count) continue;
      const std::uint32_t id = member[of + n], at = particles.index[id];
      const Position here = particles.position[at];
      move[e] = {.after_as = at,
                 .slot = cells.slot_of(cells.key(cells.cell_of(here)), id),
                 .before = here,
                 .after = here};
    }
  }
};

/// Each pair is seen from both of its particles.
struct HalfOfAll {
  const double* change;
  std::uint32_t largest;
  double* own;
  PERRIN_HD void operator()(std::int64_t k) const {
    double all = 0;
    for (std::int64_t e = k * largest; e < (k + 1) * largest; ++e) all += change[e];
    own[k] = all / 2;
  }
};

/// Particles are where others like them are inserted, for fields; or again where they were.
struct ExchangePositions {
  TrialMove* move;
  Position* position;
  PERRIN_HD void operator()(std::int64_t k) const {
    TrialMove& m = move[k];
    if (!m.is_tried()) return;
    const Position here = position[m.after_as];
    position[m.after_as] = m.before;
    m.before = here;
  }
};

struct BoltzmannFactor {
  const TrialMove* move;
  const double* change;
  const double* own;  // of what is inserted, with itself; nullptr: nothing
  std::uint32_t largest;
  double kt;
  double tail;  // that all n particles have of tail corrections, by n²
  double n;
  PERRIN_HD double operator()(std::int64_t k) const {
    double all = own == nullptr ? 0 : own[k], more = 0;
    for (std::int64_t e = k * largest; e < (k + 1) * largest && move[e].is_tried(); ++e)
      all += change[e], ++more;
    return std::exp(-(all + tail * more * (2 * n + more)) / kt);
  }
};

}  // namespace

Widom::Widom(const WidomSettings& settings, Setup& setup)
    : settings_(settings),
      path_(setup.path()),
      seed_(setup.seed(Purpose::widom)),
      box_(setup.configuration().box),
      types_(setup.configuration().types.size()),
      file_(setup.output_file(settings.file, "file"),
            {{"boltzmann_factor", {}, ""},
             {"volume", {}, ""},
             {"chemical_potential", {}, setup.units().energy}},
            setup) {
  require_periodic("type", "widom needs", setup);
  if (const Group* const group = setup.fixed_group(settings.group, "group"))
    molecules_ = settings.molecules ? RigidMolecules::of(*group, "molecules", setup)
                                    : RigidMolecules::single(group->ids());
}

std::string Widom::objection(const Force& force) const {
  if (force.traits().torques)
    return "depends on orientations, of which an inserted particle has none: expected other forces";
  if (types_ > 1 && force.correction(box_).energy != 0)
    return "has tail corrections, which are not known of one particle among several types: "
           "expected forces without \"tail\"";
  // What is inserted has no bonds.
  if (force.traits().reads == ForceTraits::Reads::bonded || has_trial_energies(force)) return {};
  return "has no energies of single particles: expected forces between pairs, on bonds, and fields";
}

double Widom::kt(const Observation& s) const {
  if (settings_.temperature) return *settings_.temperature * s.k_boltzmann();
  return s.integrator() ? s.integrator()->bath_kt(s.step()).value_or(0) : 0;
}

void Widom::begin(const Observation& s, bool resumed) {
  if (!resumed) volumes_ = weighted_ = 0;
  begin_ = Buffer<std::uint32_t>(s.device(), molecules_.begin);
  member_ = Buffer<std::uint32_t>(s.device(), molecules_.member);
  before_ = Buffer<std::uint32_t>(s.device(), molecules_.before);
  const std::int64_t room =
      molecules_.largest * std::min(settings_.insertions, std::int64_t(molecules_.count()));
  if (molecules_.largest > 1) vector_ = {s.device(), room};
  s.ask_forces([&](StepContext& context) { energies_.begin(context, room, false); });
  file_.begin(s, resumed);
}

void Widom::observe(const Observation& s) {
  const double energy = kt(s);
  const Box& box = s.particles().box();
  if (const auto what = misfit(box, molecules_.extent, "a molecule", "first particle");
      !what.empty())
    throw UserError(path_ + ".molecules: " + what);
  double factor = 0;
  s.ask_forces([&](StepContext& context) { factor = mean_factor(context, energy); });
  const double volume = box.volume();
  volumes_ += volume, weighted_ += volume * factor;
  file_.append(std::int64_t(s.step()), s.time(),
               {factor, volume, -energy * std::log(weighted_ / volumes_)});
}

/// [insertion]: what forces give to the excluded pairs within the molecule, which it would not have
/// in vacuum; nullptr: nothing.
const double* Widom::measure_within(StepContext& s, const TrialCells& cells, std::uint32_t turn,
                                    std::int64_t count) {
  const std::uint32_t largest = molecules_.largest;
  std::vector<HasExcludedEnergies*> forces;
  for (const auto& force : s.forces())
    if (auto* const one = dynamic_cast<HasExcludedEnergies*>(force.get())) forces.push_back(one);
  if (largest < 2 || forces.empty()) return nullptr;
  if (own_.size() == 0) own_ = {s.device(), energies_.room() / largest};
  for_each(s.device(), "molecules of insertions", count,
           ComeWhereTheyAre{turn, molecules_.count(), largest, begin_.data(), member_.data(),
                            s.particles().view(), cells, energies_.move(), energies_.change()});
  const TrialMoves trials{cells, count * largest, energies_.move(), energies_.change(),
                          Real(s.range())};
  for (HasExcludedEnergies* const force : forces) force->add_excluded(s, trials);
  for_each(s.device(), "energies within molecules", count,
           HalfOfAll{energies_.change(), largest, own_.data()});
  return own_.data();
}

double Widom::mean_factor(StepContext& s, double kt) {
  const Device& device = s.device();
  const RunKey key(Purpose::widom, seed_);
  grid_.fit(s.particles(), s.range());
  const TrialCells cells = grid_.sort(s, key).front();
  auto random = keyed<Philox>(key, s.step(), 0);
  const std::uint32_t members = molecules_.count(), largest = molecules_.largest;
  const auto n = double(s.particles().size());
  double tail = 0;
  for (const auto& force : s.forces())
    tail += force->correction(s.particles().box()).energy / (n * n);
  double sum_of_factors = 0;
  const std::int64_t room = energies_.room() / largest;
  for (std::int64_t first = 0; first < settings_.insertions; first += room) {
    // No particle stands for two at a time.
    const std::int64_t count = std::min(room, settings_.insertions - first);
    const ParticleView particles = s.particles().view();
    const std::uint32_t turn = random.next() % members;
    const double* const own = measure_within(s, cells, turn, count);
    for_each(device, "insertions", count,
             Insert{key, s.device_step(), std::uint32_t(first), turn, members, largest,
                    begin_.data(), member_.data(), before_.data(), particles,
                    s.particles().metric(), s.particles().box().dimension == 2, energies_.move(),
                    energies_.place(), energies_.change(), vector_.data()});
    const ExchangePositions exchange{energies_.move(), particles.position};
    const auto go = [&] { for_each(device, "places of insertions", count * largest, exchange); };
    energies_.measure(s, cells, count * largest, go, {.inserted = true});
    if (energies_.has_fields()) go();
    sum_of_factors += sum<double>(
        device, "insertions", count,
        BoltzmannFactor{energies_.move(), energies_.change(), own, largest, kt, tail, n});
  }
  return sum_of_factors / double(settings_.insertions);
}

void Widom::state(Archive& archive) {
  archive("volumes", volumes_);
  archive("weighted", weighted_);
  archive.require(volumes_ >= 0 && weighted_ >= 0, "volumes", "sums that are not negative");
  file_.state(archive);
}

void register_widom(Registry& registry) {
  registry.add<Observer, WidomSettings>(
      "widom", "excess chemical potential by trial insertions",
      [](const WidomSettings& s, Setup& setup) { return std::make_unique<Widom>(s, setup); });
}

}  // namespace perrin::monte_carlo
