#include "widom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/observation.h"
#include "engine/system/moved_position.h"
#include "engine/system/quaternion.h"
#include "move.h"
#include "turn.h"

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
    const Position like = particles.position[head];
    const Position there{where.x, where.y, flat ? like.z : where.z, like.type()};
    const std::int64_t e = k * largest;
    put(e, head, there);
    for (std::uint32_t n = count; n < largest; ++n)
      move[e + n] = {}, place[e + n] = TrialMove::none, change[e + n] = 0;
    if (count == 1) return;
    const Words4 way = words(insertion, TrialMove::none - 1);
    const Real4 turned = random_turn(way.x, way.y, way.z, flat);
    vector[e] = {};
    for (std::uint32_t n = 1; n < count; ++n) {
      const std::uint32_t at = particles.index[member[of + n]], link = before[of + n];
      vector[e + n] =
          vector[e + link] + metric->vector(particles.position[at],
                                            particles.position[particles.index[member[of + link]]]);
      const Real3 by = metric->fixed(rotate(turned, vector[e + n]));
      Position to = moved_by_axes(there, Real4{by.x, by.y, flat ? Real(0) : by.z, 0});
      to.tail = (to.tail & 0x00ffffffu) | particles.position[at].type() << 24;
      put(e + n, at, to);
    }
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
  std::uint32_t largest;
  double kt;
  double tail;  // that all n particles have of tail corrections, by n²
  double n;
  PERRIN_HD double operator()(std::int64_t k) const {
    double all = 0, more = 0;
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
  // What is inserted has no bonds.
  if (force.traits().reads == ForceTraits::Reads::bonded || has_trial_energies(force)) return {};
  return "has no energies of single particles: expected forces between pairs, on bonds, and fields";
}

double Widom::kt(const Observation& s) const {
  if (settings_.temperature) return *settings_.temperature * s.k_boltzmann();
  return s.integrator() ? s.integrator()->bath_kt(s.step()).value_or(0) : 0;
}

void Widom::begin(const Observation& s, bool resumed) {
  for (const Force* const force : s.forces())
    if (s.particles.types.size() > 1 && force->correction(s.particles.box).energy != 0)
      throw UserError(path_ +
                      ": the tail corrections of a particle among several types are not "
                      "known: expected forces without \"tail\"");
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
  if (!(energy > 0))
    throw UserError(path_ + ".temperature: is missing, and the stage has no heat bath");
  const Box& box = s.particles.box;
  if (2 * molecules_.extent >= least_height(box))
    throw UserError(
        fmt::format("{}.molecules: a molecule reaches {:.6g} from its first particle, "
                    "and the box is {:.6g} wide: expected a box more than twice as "
                    "wide",
                    path_, molecules_.extent, least_height(box)));
  double factor = 0;
  s.ask_forces([&](StepContext& context) { factor = mean_factor(context, energy); });
  const double volume = box.volume();
  volumes_ += volume, weighted_ += volume * factor;
  file_.append(std::int64_t(s.step()), s.time(),
               {factor, volume, -energy * std::log(weighted_ / volumes_)});
}

double Widom::mean_factor(StepContext& s, double kt) {
  const Device& device = s.device();
  const RunKey key(Purpose::widom, seed_);
  grid_.fit(s.particles, s.range());
  const TrialCells cells = grid_.sort(s, key).front();
  auto random = keyed<Philox>(key, s.step(), 0);
  const std::uint32_t members = molecules_.count(), largest = molecules_.largest;
  const auto n = double(s.particles.size());
  double tail = 0;
  for (const auto& force : s.forces) tail += force->correction(s.particles.box).energy / (n * n);
  double sum_of_factors = 0;
  const std::int64_t room = energies_.room() / largest;
  for (std::int64_t first = 0; first < settings_.insertions; first += room) {
    // No particle stands for two at a time.
    const std::int64_t count = std::min(room, settings_.insertions - first);
    const ParticleView particles = s.particles.view();
    for_each(device, "insertions", count,
             Insert{key, s.device_step(), std::uint32_t(first), random.next() % members, members,
                    largest, begin_.data(), member_.data(), before_.data(), particles,
                    s.particles.metric(), s.particles.box.dimension == 2, energies_.move(),
                    energies_.place(), energies_.change(), vector_.data()});
    const ExchangePositions exchange{energies_.move(), particles.position};
    const auto go = [&] { for_each(device, "places of insertions", count * largest, exchange); };
    energies_.measure(s, cells, count * largest, go, {.inserted = true});
    if (energies_.has_fields()) go();
    sum_of_factors +=
        sum<double>(device, "insertions", count,
                    BoltzmannFactor{energies_.move(), energies_.change(), largest, kt, tail, n});
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
