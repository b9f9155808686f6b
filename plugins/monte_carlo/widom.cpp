#include "widom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/observation.h"
#include "move.h"

namespace perrin::monte_carlo {
namespace {

/// Random places; what is there is like one particle after the other of the group.
struct Insert {
  RunKey key;
  const std::uint64_t* step;
  std::uint32_t first;  // of the sample's insertions
  std::uint32_t turn, members;
  const std::uint32_t* id;  // of the group
  ParticleView particles;
  bool flat;
  TrialMove* move;
  std::uint32_t* place;
  double* change;

  PERRIN_HD void operator()(std::int64_t k) const {
    const Words4 words = philox4x32<10>({std::uint32_t(*step), std::uint32_t(*step >> 32),
                                         first + std::uint32_t(k), TrialMove::none},
                                        {key.x, key.y});
    const std::uint32_t at = particles.index[id[(turn + std::uint32_t(k)) % members]];
    const Position like = particles.position[at];
    const Position there{words.x, words.y, flat ? like.z : words.z, like.type()};
    move[k] = {.after_as = at, .before = there, .after = there};
    place[k] = at;
    change[k] = 0;
  }
};

/// Particles are where others like them are inserted, for fields; or again where they were.
struct ExchangePositions {
  TrialMove* move;
  Position* position;
  PERRIN_HD void operator()(std::int64_t k) const {
    TrialMove& m = move[k];
    const Position here = position[m.after_as];
    position[m.after_as] = m.before;
    m.before = here;
  }
};

struct BoltzmannFactor {
  const double* change;
  double kt;
  PERRIN_HD double operator()(std::int64_t k) const { return std::exp(-change[k] / kt); }
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
  if (const Group* const group = setup.fixed_group(settings.group, "group")) ids_ = group->ids();
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
  id_ = Buffer<std::uint32_t>(s.device(), ids_);
  const std::int64_t room = std::min(settings_.insertions, std::int64_t(ids_.size()));
  s.ask_forces([&](StepContext& context) { energies_.begin(context, room, false); });
  file_.begin(s, resumed);
}

void Widom::observe(const Observation& s) {
  const double energy = kt(s);
  if (!(energy > 0))
    throw UserError(path_ + ".temperature: is missing, and the stage has no heat bath");
  const Box& box = s.particles.box;
  // Of one more particle; the correction goes with N².
  double tail = 0;
  const auto n = double(s.particles.size());
  for (const Force* const force : s.forces())
    tail += force->correction(box).energy * (2 * n + 1) / (n * n);
  double factor = 0;
  s.ask_forces([&](StepContext& context) { factor = mean_factor(context, energy); });
  factor *= std::exp(-tail / energy);
  const double volume = box.volume();
  volumes_ += volume, weighted_ += volume * factor;
  file_.append(std::int64_t(s.step()), s.time(),
               {factor, volume, -energy * std::log(weighted_ / volumes_)});
}

/// Of the forces, without tail corrections.
double Widom::mean_factor(StepContext& s, double kt) {
  const Device& device = s.device();
  const RunKey key(Purpose::widom, seed_);
  grid_.fit(s.particles, s.range());
  const TrialCells cells = grid_.sort(s, key).front();
  auto random = keyed<Philox>(key, s.step(), 0);
  const auto members = std::uint32_t(ids_.size());
  double sum_of_factors = 0;
  for (std::int64_t first = 0; first < settings_.insertions; first += energies_.room()) {
    // No particle stands for two at a time.
    const std::int64_t count = std::min(energies_.room(), settings_.insertions - first);
    const ParticleView particles = s.particles.view();
    for_each(device, "insertions", count,
             Insert{key, s.device_step(), std::uint32_t(first), random.next() % members, members,
                    id_.data(), particles, s.particles.box.dimension == 2, energies_.move(),
                    energies_.place(), energies_.change()});
    const ExchangePositions exchange{energies_.move(), particles.position};
    const auto go = [&] { for_each(device, "places of insertions", count, exchange); };
    energies_.measure(s, cells, count, go, {.inserted = true});
    if (energies_.has_fields()) go();
    sum_of_factors +=
        sum<double>(device, "insertions", count, BoltzmannFactor{energies_.change(), kt});
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
