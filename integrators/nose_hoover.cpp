#include "integrators/nose_hoover.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/components/registry.h"
#include "engine/components/stage_context.h"
#include "engine/device/parallel.h"
#include "integrators/group_sum.h"
#include "integrators/particle_steps.h"

namespace perrin {
namespace {

using detail::NoseHooverFactors, detail::NoseHooverMemory, detail::NoseHooverState;

/// a b + c number by number, rounded once; w is that of b.
PERRIN_HD Real4 scaled(const Real4& a, const Real4& b, const Real4& c) {
#ifdef __CUDA_ARCH__
  return {multiply_add(a.x, b.x, c.x), multiply_add(a.y, b.y, c.y), multiply_add(a.z, b.z, c.z),
          b.w};
#else
  const FourReals sum =
      std::bit_cast<FourReals>(a) * std::bit_cast<FourReals>(b) + std::bit_cast<FourReals>(c);
  return with_w(std::bit_cast<Real4>(sum), b);
#endif
}

/// m v² along each axis, of velocities from the drift.
struct AddKinetic {
  const Real4* velocity;
  Vec3<double> drift;
  PERRIN_HD AxisSums operator()(std::int64_t i) const {
    const Real4 v = velocity[i];
    if (!(v.w > 0)) return {};
    const double x = double(v.x) - drift.x, y = double(v.y) - drift.y, z = double(v.z) - drift.z;
    const double m = 1 / double(v.w);
    return {{m * x * x, m * y * y, m * z * z}};
  }
};

struct KickAndMove {
  const NoseHooverFactors* factors;
  PERRIN_HD Real4 operator()(MovingParticle& p) const {
    const NoseHooverFactors& f = *factors;
    const Real4 kick = multiply_add(p.velocity.w, product(f.kick, p.force), f.shift);
    p.velocity = scaled(f.scale, p.velocity, kick);
    return product(f.move, p.velocity);
  }
};

struct KickAtEnd {
  const NoseHooverFactors* factors;
  PERRIN_HD void operator()(MovingParticle& p) const {
    const NoseHooverFactors& f = *factors;
    const Real4 kick = multiply_add(p.velocity.w, product(f.kick, p.force), f.end_shift);
    p.velocity = scaled(f.end_scale, p.velocity, kick);
  }
};

struct ChainAtEnd {
  const NoseHooverFactors* factors;
  PERRIN_HD void operator()(MovingParticle& p) const {
    p.velocity = scaled(factors->chain_scale, p.velocity, factors->chain_shift);
  }
};

struct RaiseInMiddle {
  detail::Turn turn;
  Condition due;
  PERRIN_HD void operator()(std::int64_t) const {
    if (turn.moves_box(*turn.step)) due.raise();
  }
};

struct RaiseInLast {
  detail::Turn turn;
  Condition due;
  PERRIN_HD void operator()(std::int64_t) const {
    if (turn.is_last()) due.raise();
  }
};

/// f(number) for each number of a state or of factors.
template <class F>
void each(NoseHooverState& s, const F& f) {
  for (double& v : s.chain.velocity) f(v);
  for (double& v : s.box_chain.velocity) f(v);
  for (double& v : s.rate) f(v);
  f(s.energy), f(s.kt), f(s.ahead), f(s.behind);
}
template <class F>
void each(NoseHooverFactors& factors, const F& f) {
  for (Real4* word :
       {&factors.scale, &factors.shift, &factors.kick, &factors.move, &factors.end_scale,
        &factors.end_shift, &factors.chain_scale, &factors.chain_shift})
    f(word->x), f(word->y), f(word->z), f(word->w);
}

/// As a list of numbers, which the archive looks at.
template <class T>
void archive_numbers(Archive& a, const std::string& name, T& numbers) {
  std::vector<double> list;
  each(numbers, [&](auto& number) { list.push_back(double(number)); });
  const std::size_t count = list.size();
  a(name, list);
  a.require(list.size() == count, name, "as many values as there are in this job");
  std::size_t k = 0;
  each(numbers, [&](auto& number) { number = std::decay_t<decltype(number)>(list[k++]); });
}

/// The standard deviation of what an edge changes by in `stride` steps, relative.
double usual_change(const NoseHooverSettings& s, double particles, int dimension,
                    std::int64_t stride) {
  const MovingAxes axes(s.barostat->axes, dimension);
  int fewest = 3;
  for (int g = 0; g < axes.groups; ++g) fewest = std::min(fewest, axes.count(g));
  return s.timestep * double(stride) / (s.barostat->tau * std::sqrt(fewest * particles));
}

/// The standard one, unless the box of so few particles would change too fast.
std::int64_t choose_stride(const NoseHooverSettings& s, double particles, int dimension) {
  std::int64_t stride = s.barostat->stride.value_or(11);
  if (!s.barostat->stride)
    while (stride > 1 && 8 * usual_change(s, particles, dimension, stride) > detail::Turn::most)
      stride -= 2;
  return stride;
}

void check_stride(const NoseHooverSettings& s, Setup& setup) {
  const auto n = double(setup.configuration().position.size());
  const int dimension = setup.configuration().box.dimension;
  const std::int64_t stride = choose_stride(s, n, dimension);
  if (stride % 2 == 0)
    setup.error("barostat.stride",
                fmt::format("must be odd: the box moves in the middle step; got {}", stride));
  const double change = usual_change(s, n, dimension, stride);
  if (6 * change > detail::Turn::most)
    setup.error("barostat.tau",
                fmt::format("too short: an edge of this box would change by a fraction of {:.2g} "
                            "in {} steps, occasionally by six times as much; the limit is {:.2g}",
                            change, stride, detail::Turn::most));
}

}  // namespace

void NoseHoover::begin(StageContext& s) {
  s.ensure_forces();
  if (!begun_) {
    begun_ = true;
    start_ = std::int64_t(s.step());
    drift_ = s.degrees_of_freedom().drift(s.totals().momentum);
    scratch_ = {s.device(), sum_chunks};
    memory_ = {s.device(), 1};
    due_ = {s.device(), 2};
    if (settings_.barostat) {
      meter_.begin(s, MovingAxes(settings_.barostat->axes, s.particles().box().dimension).which(),
                   "a barostat");
      settings_.barostat->stride =
          choose_stride(settings_, double(s.particles().size()), s.particles().box().dimension);
    }
  }
  if (settings_.barostat) meter_.measure(s, &memory_.data()->virial);
  measure_kinetic(s);
  for_each(s.device(), "first step of a chain", 1, detail::FirstTurn{turn(s)});
  rotation_.begin(s, settings_.timestep);
  rotational_chain_.begin(s, {settings_.chain, settings_.tau, settings_.timestep, kt_ramp()});
}

detail::Turn NoseHoover::turn(StepContext& s) {
  const NoseHooverSettings& j = settings_;
  const double freedom = s.degrees_of_freedom().number();
  detail::Turn t{};
  t.memory = memory_.data(), t.box = s.particles().box_state().data(), t.step = s.device_step();
  t.due = due_.data(), t.faults = s.fault_sink();
  t.kt_ramp = kt_ramp();
  t.chain = {j.chain, j.tau, freedom};
  t.timestep = j.timestep, t.freedom = freedom;
  t.stride = 1, t.start = start_, t.drift = drift_;
  if (!j.barostat) return t;
  const PistonSettings& b = *j.barostat;
  t.axes = MovingAxes(b.axes, s.particles().box().dimension);
  t.pressure_ramp = b.ramp.ramp(b.pressure, 1, start_);
  t.box_chain = {b.chain, b.tau, double(t.axes.groups)};
  t.tau = b.tau, t.tail = meter_.tail(), t.stride = *b.stride;
  return t;
}

void NoseHoover::measure_kinetic(StepContext& s) {
  sum_of_group(s, "kinetic energy", AddKinetic{s.particles().velocity().data(), drift_}, scratch_,
               &memory_.data()->kinetic);
}

/// Before velocities change: a search without lists that finds no room is run again from there.
void NoseHoover::measure_virial(StepContext& s) {
  if (!settings_.barostat) return;
  const auto measure = [&] { meter_.measure(s, &memory_.data()->virial); };
  if (*settings_.barostat->stride == 1) return measure();
  const Condition due = s.device().queue().condition(due_.data() + 1);
  for_each(s.device(), "is the pressure due", 1, RaiseInLast{turn(s), due});
  s.device().queue().when(due, measure);
}

void NoseHoover::move_box(StepContext& s) {
  const auto move = [&] {
    for_each(s.device(), "box", 1, detail::StretchBox{turn(s), s.range()});
    s.follow_box();
  };
  if (*settings_.barostat->stride == 1) return move();
  const Condition due = s.device().queue().condition(due_.data());
  for_each(s.device(), "does the box move", 1, RaiseInMiddle{turn(s), due});
  s.device().queue().when(due, move);
}

void NoseHoover::steps(StepContext& context, int n) {
  const NoseHooverFactors* const factors = &memory_.data()->factors;
  run_particle_steps(
      context, n,
      [&] {
        rotational_chain_.act_first(context);
        rotation_.kick_and_turn(context);
        return KickAndMove{factors};
      },
      [&] {
        measure_virial(context);
        rotation_.kick(context);
        return KickAtEnd{factors};
      },
      [&] {
        measure_kinetic(context);
        for_each(context.device(), "chain", 1, turn(context));
        rotational_chain_.act_last(context);
      },
      [&] { return ChainAtEnd{factors}; });
}

void NoseHoover::measure_heat(StepContext& context, double* heat) {
  if (memory_.size() == 0) return Integrator::measure_heat(context, heat);
  context.device().memory().copy(heat, &memory_.data()->heat, sizeof *heat);
  rotational_chain_.add_heat(context, heat);
}

void NoseHoover::state(Archive& a) {
  archive_ramp_start(a, start_);
  rotational_chain_.follow(kt_ramp());
  a("drift", drift_);
  a.require(std::isfinite(dot(drift_, drift_)), "drift", "a finite velocity");
  NoseHooverMemory m = memory_.size() > 0 ? memory_.to_host(0) : NoseHooverMemory{};
  archive_numbers(a, "now", m.now);
  archive_numbers(a, "at_end", m.at_end);
  archive_numbers(a, "factors", m.factors);
  a("heat", m.heat);
  a.require(m.now.kt > 0 && m.at_end.kt > 0, "now", "a state of the chains, with a temperature");
  if (!a.is_saving() && memory_.size() > 0)
    memory_.assign(std::span<const NoseHooverMemory>(&m, 1));
  rotational_chain_.state(a);
}

void register_nose_hoover(Registry& registry) {
  registry.add<Integrator, NoseHooverSettings>(
      "nose_hoover",
      "Nosé-Hoover chains (NVT), and with a barostat Martyna-Tobias-Klein (NPT): deterministic",
      [](const NoseHooverSettings& s, Setup& setup) -> std::unique_ptr<Integrator> {
        check_ramp(s.ramp, "temperature", setup);
        if (s.tau < 10 * s.timestep)
          setup.warn("tau", "below ten time steps the thermostat is not integrated accurately");
        if (s.barostat) {
          if (!setup.configuration().topology.constraints.empty())
            setup.error("barostat",
                        "does not follow \"constraints\": expected that of bussi, "
                        "langevin or velocity_verlet");
          check_ramp(s.barostat->ramp, "pressure", setup, "barostat.");
          if (!check_moving_axes(s.barostat->axes, "barostat.axes", setup)) return nullptr;
          check_stride(s, setup);
        }
        return std::make_unique<NoseHoover>(s, setup.k_boltzmann());
      });
}

}  // namespace perrin
