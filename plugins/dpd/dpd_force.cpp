#include "dpd_force.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/components/integrator.h"
#include "engine/device/parallel.h"

namespace perrin::dpd {
namespace {

/// The velocities at which the friction is taken; see split.h.
struct Middle {
  const Real4 *velocity, *impulse, *shift;
  Real4* middle;
  const std::uint32_t* id;
  GroupMask moved;  // others keep their velocities
  PERRIN_HD void operator()(std::int64_t i) const {
    const Real4 v = velocity[i];
    if (moved && !moved.has(id[i])) {
      middle[i] = v;
      return;
    }
    const Real4 u = impulse[i], add = shift[i];
    const Real s = Real(0.25) * v.w;
    middle[i] = {v.x + s * u.x + add.x, v.y + s * u.y + add.y, v.z + s * u.z + add.z, v.w};
  }
};

}  // namespace

template <class C>
DpdForce<C>::DpdForce(const Device& device, const char* name,
                      const std::vector<PairCoefficients<C>>& table, std::uint32_t types,
                      const Ranges& ranges, double kt, double exponent, NoiseChoice choice,
                      std::int64_t particles, std::uint32_t instance,
                      std::unique_ptr<ManyBody> many_body)
    // Friction and noise are in the virial: no barostat.
    : Force({.ranges = ranges,
             .reads = ForceTraits::Reads::near,
             .velocities = true,
             .deformation = true}),
      name_(name),
      table_(device, std::span<const PairCoefficients<C>>(table)),
      types_(types),
      kt_(kt),
      exponent_(exponent),
      choice_(choice),
      instance_(instance),
      many_body_(std::move(many_body)),
      moving_(device, particles) {
  PERRIN_ASSERT(device.is_cuda() || particles < (std::int64_t(1) << 30));  // fetch() in pair_body.h
}

template <class C>
bool DpdForce<C>::prepare(const Integrator& integrator) {
  const bool split = integrator.applies_pair_friction();
  if (split && impulse_.size() == 0) {
    impulse_ = {moving_.device(), moving_.size()};
    middle_ = {moving_.device(), moving_.size()};
  }
  return std::exchange(split_, split) != split;
}

template <class C>
void DpdForce<C>::compute(StepContext& s, const ForceOutput& output) {
  const ParticleView p = s.particles().view();
  PERRIN_ASSERT(moving_.size() == p.n);
  const double dt = s.timestep();
  const bool in_forces = !split_ && dt > 0;
  const bool split = split_ && !output.energy;
  PERRIN_ASSERT(!split || impulse_.size() == p.n);
  Bath bath;
  if (in_forces) bath = {Real(1), Real(std::sqrt(2 * kt_ / dt))};
  if (split) bath = {Real(0), Real(std::sqrt(2 * kt_ * dt))};
  if (!s.device().is_cuda())
    for_each(s.device(), "velocities and ids", p.n, PackMoving{p.velocity, p.id, moving_.data()});
  const PairRun<C> run{name_,
                       *s.neighbors(),
                       p.position,
                       p.velocity,
                       p.id,
                       moving_.data(),
                       table_.data(),
                       types_,
                       exponent_,
                       bath,
                       instance_seed(s.seed(), instance_),
                       s.device_step(),
                       s.instant(),
                       p.n,
                       output,
                       impulse_.data(),
                       s.flow()};
  const Output kind = output.energy ? Output::measure : split ? Output::split : Output::force;
  const bool plain = choice_.generator == Generator::saru && !choice_.paper_keys &&
                     !choice_.normal && exponent_ == 1 && s.flow() == nullptr;
  if constexpr (std::is_same_v<C, SoftRepulsion>)
    if (many_body_) {
      const DensitySum density = many_body_->sum(s);
      plain ? run_plain(run, kind, density) : run_any(run, kind, choice_, density);
      return many_body_->add_forces(s, output);
    }
  plain ? run_plain(run, kind) : run_any(run, kind, choice_);
}

template <class C>
void DpdForce<C>::update_velocities(StepContext& s, const Real4* shift) {
  const ParticleView p = s.particles().view();
  for_each(s.device(), "middle velocities", s.particles().share(),
           Middle{p.velocity, impulse_.data(), shift, middle_.data(), p.id, s.group()});
  s.particles().domain().gather(middle_);
  run_drag(DragRun<C>{*s.neighbors(), p.position, middle_.data(), table_.data(), types_, exponent_,
                      s.timestep(), impulse_.data(), p.velocity, p.n, s.flow(), s.device_step(),
                      s.instant(), p.id, s.group()});
}

template class DpdForce<SoftRepulsion>;
template class DpdForce<ShiftedLennardJones>;

namespace {

SoftRepulsion::Coefficients conservative(const DpdPair& p, double range) {
  return {Real(p.repulsion), Real(p.repulsion * range / 2)};
}
SoftRepulsion::Coefficients conservative(const MdpdPair& p, double range) {
  return {Real(p.attraction), Real(p.attraction * range / 2)};
}
SoftRepulsion::Coefficients conservative(const ThermostatPair&, double) { return {}; }
ShiftedLennardJones::Coefficients conservative(const DpdLjPair& p, double) {
  const double cutoff = p.lj_cutoff.value_or(2.5 * p.sigma);
  const auto potential = LennardJones::coefficients({p.epsilon, p.sigma});
  return {potential, Real(cutoff * cutoff),
          Real(LennardJones::evaluate(cutoff * cutoff, potential).energy)};
}
/// How far a pair interacts in any way.
template <class Pair>
double outer(const DpdSettings<Pair>&, const Pair& p, double range) {
  if constexpr (std::is_same_v<Pair, DpdLjPair>)
    return std::max(range, p.lj_cutoff.value_or(2.5 * p.sigma));
  return range;
}
double outer(const MdpdSettings& s, const MdpdPair&, double range) {
  return std::max(range, s.density_cutoff);
}

template <class Settings>
std::unique_ptr<ManyBody> many_body(const Settings& s, Setup& setup) {
  if constexpr (std::is_same_v<Settings, MdpdSettings>)
    return std::make_unique<ManyBody>(setup.device(), s.repulsion, s.density_cutoff,
                                      setup.configuration().box.dimension,
                                      std::int64_t(setup.configuration().position.size()));
  return nullptr;
}

NoiseChoice noise_choice(const BathSettings& s, Setup& setup) {
  NoiseChoice c;
  c.generator = s.rng == "tea"       ? Generator::tea
                : s.rng == "sarutea" ? Generator::sarutea
                : s.rng == "philox"  ? Generator::philox
                                     : Generator::saru;
  c.paper_keys = s.keys == "phillips";
  c.normal = s.noise == "normal";
  if (c.paper_keys && c.generator == Generator::philox)
    setup.error("keys", "phillips is available for saru, tea and sarutea; got rng philox");
  return c;
}

template <class C, class Settings>
std::unique_ptr<Force> make(const char* name, const Settings& s, Setup& setup) {
  const auto& names = setup.configuration().types;
  const std::size_t types = names.size();
  std::vector<std::optional<PairCoefficients<C>>> found(types * types);
  std::vector<double> ranges(types * types);
  bool known = true;
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    const auto& pair = s.pairs[k];
    const std::string key = fmt::format("pairs[{}].types", k);
    const std::size_t a = setup.type_index(pair.types[0], key);
    const std::size_t b = setup.type_index(pair.types[1], key);
    known = known && names[a] == pair.types[0] && names[b] == pair.types[1];
    if (!known) continue;  // reported
    if (found[a * types + b])
      setup.error(key, fmt::format("the pair {}, {} is given twice", pair.types[0], pair.types[1]));
    const double range = pair.cutoff.value_or(s.bath.cutoff), end = outer(s, pair, range);
    ranges[a * types + b] = ranges[b * types + a] = end;
    found[a * types + b] = found[b * types + a] =
        PairCoefficients<C>{conservative(pair, range), Real(1 / range), Real(end * end),
                            Real(pair.gamma), Real(std::sqrt(pair.gamma))};
  }
  std::vector<PairCoefficients<C>> table;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      if (found[a * types + b]) {
        table.push_back(*found[a * types + b]);
        // What is dense about a wall acts on others, too.
        constexpr bool of_density = std::is_same_v<Settings, MdpdSettings>;
        if (of_density || !setup.both_frozen(a, b)) continue;
        table.back() = {};
        table.back().inverse_range = found[a * types + b]->inverse_range;
        ranges[a * types + b] = 0;
      }
      if (!found[a * types + b] && known && a <= b)
        setup.error("pairs",
                    fmt::format("no parameters for the types {} and {}", names[a], names[b]));
    }
  const NoiseChoice choice = noise_choice(s.bath, setup);
  if (table.size() != types * types) return nullptr;  // reported above
  if (std::ranges::count(ranges, 0.0) == std::ptrdiff_t(ranges.size())) ranges[0] = s.bath.cutoff;
  return std::make_unique<DpdForce<C>>(setup.device(), name, table, std::uint32_t(types),
                                       Ranges(types, ranges),
                                       setup.k_boltzmann() * s.bath.temperature, s.bath.exponent,
                                       choice, std::int64_t(setup.configuration().position.size()),
                                       setup.instance(Purpose::dpd), many_body(s, setup));
}

template <class C, class Settings>
void add(Registry& registry, const char* name, const char* help) {
  registry.add<Force, Settings>(
      name, help, [name](const Settings& s, Setup& setup) { return make<C>(name, s, setup); });
}

}  // namespace

void register_forces(Registry& registry) {
  add<SoftRepulsion, DpdSettings<DpdPair>>(
      registry, "dpd",
      "dissipative particle dynamics: soft repulsion, pairwise friction and noise");
  add<SoftRepulsion, MdpdSettings>(
      registry, "mdpd",
      "many-body dissipative particle dynamics: attraction, and repulsion by local densities");
  add<SoftRepulsion, DpdSettings<ThermostatPair>>(
      registry, "dpd_thermostat",
      "pairwise friction and noise: a momentum-conserving thermostat for any force");
  add<ShiftedLennardJones, DpdSettings<DpdLjPair>>(
      registry, "dpd_lj", "Lennard-Jones with pairwise friction and noise");
}

}  // namespace perrin::dpd
