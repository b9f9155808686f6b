#include "engine/run/deformation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/configuration_archive.h"
#include "engine/core/error.h"
#include "engine/core/parallel.h"
#include "engine/run/simulation.h"
#include "neighbor/neighbors.h"

namespace perrin {

PERRIN_HD Box BoxSchedule::at(std::int64_t step, std::int64_t turned) const {
  Box b = start;
  if (form == Form::shear) {
    tilt_of(b) = sheared(step) - double(turned) * start.length[flow];
    return b;
  }
  std::int64_t done = step - begin;
  done = done < 0 ? 0 : done < steps ? done : steps;
  const double share =
      form == Form::oscillating ? std::sin(double(done) * step_turn) : double(done) / double(steps);
  double factor[3];
  for (int k = 0; k < 3; ++k) {
    const double ratio = length[k] / start.length[k];
    factor[k] =
        form == Form::exponential ? std::exp(share * std::log(ratio)) : 1 + share * (ratio - 1);
    b.length[k] *= factor[k], b.origin[k] *= factor[k];
  }
  b.xy = tilts[0] ? start.xy + share * (tilt[0] - start.xy) : start.xy * factor[0];
  b.xz = tilts[1] ? start.xz + share * (tilt[1] - start.xz) : start.xz * factor[0];
  b.yz = tilts[2] ? start.yz + share * (tilt[2] - start.yz) : start.yz * factor[1];
  return b;
}

namespace {

/// Upper triangular matrices: xx yy zz xy xz yz.
struct Triangle {
  double xx, yy, zz, xy, xz, yz;
};

/// From one box to another, less 1.
PERRIN_HD Triangle change(const Box& from, const Box& to) {
  const Vec3<double>&a = from.length, &b = to.length;
  Triangle f{};
  f.xx = (b.x - a.x) / a.x, f.yy = (b.y - a.y) / a.y, f.zz = (b.z - a.z) / a.z;
  f.xy = (to.xy - from.xy - f.xx * from.xy) / a.y;
  f.yz = (to.yz - from.yz - f.yy * from.yz) / a.z;
  f.xz = (to.xz - from.xz - f.xx * from.xz - f.xy * from.yz) / a.z;
  return f;
}

/// (1 + f)^-1 - 1
PERRIN_HD Triangle inverse(const Triangle& f) {
  const double x = 1 + f.xx, y = 1 + f.yy, z = 1 + f.zz;
  return {
      -f.xx / x,      -f.yy / y, -f.zz / z, -f.xy / (x * y), (f.xy * f.yz - y * f.xz) / (x * y * z),
      -f.yz / (y * z)};
}

/// (1 + g)^(1/2) - 1
PERRIN_HD Triangle root(const Triangle& g) {
  const double x = std::sqrt(1 + g.xx), y = std::sqrt(1 + g.yy), z = std::sqrt(1 + g.zz);
  Triangle e{};
  e.xx = g.xx / (x + 1), e.yy = g.yy / (y + 1), e.zz = g.zz / (z + 1);
  e.xy = g.xy / (x + y), e.yz = g.yz / (y + z);
  e.xz = (g.xz - e.xy * e.yz) / (x + z);
  return e;
}

/// F - 1 of a step.
PERRIN_HD Triangle step_change(const BoxSchedule& s, std::int64_t step) {
  Triangle f{};
  if (s.form == BoxSchedule::Form::shear) {
    (s.which() == 0 ? f.xy : s.which() == 1 ? f.xz : f.yz) = s.step_strain;
    return f;
  }
  return change(s.at(step, 0), s.at(step + 1, 0));
}

/// L Δt, of the second order in it.
PERRIN_HD Triangle strain_of(const Triangle& f) {
  const Triangle g = inverse(f);
  return {(f.xx - g.xx) / 2, (f.yy - g.yy) / 2, (f.zz - g.zz) / 2,
          (f.xy - g.xy) / 2, (f.xz - g.xz) / 2, (f.yz - g.yz) / 2};
}

PERRIN_HD void put(const Triangle& t, double scale, Real (&to)[6]) {
  to[0] = Real(scale * t.xx), to[1] = Real(scale * t.yy), to[2] = Real(scale * t.zz);
  to[3] = Real(scale * t.xy), to[4] = Real(scale * t.xz), to[5] = Real(scale * t.yz);
}

/// The words of the next step and of this instant.
struct FlowWords {
  BoxSchedule schedule;
  DeformationMemory* memory;
  double inverse_step;  // 1/time
  std::uint32_t velocities;
  double* work;

  /// Of step `next`, which begins at that instant.
  PERRIN_HD void write(std::int64_t next) const {
    Flow& word = memory->flow[next & 1];
    put(root(inverse(step_change(schedule, next))), 1, word.half);
    const std::int64_t last = next > schedule.begin ? next - 1 : next;
    put(strain_of(step_change(schedule, last)), inverse_step, word.gradient);
    word.velocities = velocities;
    word.work = work;
  }
};

struct BeginFlow {
  FlowWords words;
  const std::uint64_t* step;
  PERRIN_HD void operator()(std::int64_t) const { words.write(std::int64_t(*step)); }
};

struct MoveBox {
  FlowWords words;
  const std::uint64_t* step;
  Box* box;
  FaultSink faults;
  double range;
  PERRIN_HD void operator()(std::int64_t) const {
    const auto n = std::int64_t(*step);
    const Box b = words.schedule.at(n + 1, words.schedule.turned(n));
    const auto heights = b.padded_heights();
    for (int k = 0; k < b.dimension; ++k)
      if (b.periodic[std::size_t(k)] && heights[k] / 2 < range)
        return faults.report(FaultKind::box_too_small, 0, heights[k] / 2, range);
    *box = b;
    words.write(n + 1);
  }
};

struct DecideTurn {
  BoxSchedule schedule;
  DeformationMemory* memory;
  const std::uint64_t* step;
  Condition due;
  PERRIN_HD void operator()(std::int64_t) const {
    const auto n = std::int64_t(*step);
    memory->turn = schedule.turned(n) - (n > schedule.begin ? schedule.turned(n - 1) : 0);
    if (memory->turn != 0) due.raise();
  }
};

/// H s = (H M) (M⁻¹ s), where M takes so many edges along the flow from the tilt: then the fraction
/// along the flow grows by as many times that along the gradient, images included.
struct TurnParticles {
  ParticleView p;
  const DeformationMemory* memory;
  int flow, gradient;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int64_t by = memory->turn;
    Position& at = p.position[i];
    Image& image = p.image[i];
    const std::uint32_t place[3] = {at.x, at.y, at.z};
    std::int32_t rest[3] = {at.remainder(0), at.remainder(1), at.remainder(2)};
    const std::int64_t across = std::int64_t(place[gradient]) * 256 + rest[gradient];
    const std::int64_t sum = std::int64_t(place[flow]) * 256 + rest[flow] + by * across;
    const std::int64_t whole = (sum + 128) >> 8;  // rounded down: remainders are -128 … 127
    rest[flow] = std::int32_t(sum - whole * 256);
    const auto turns = std::int32_t(std::int64_t(image[gradient]) * by + (whole >> 32));
    image[flow] += turns;
    (flow == 0 ? at.x : at.y) = std::uint32_t(whole);
    at.set_remainders(rest[0], rest[1], rest[2]);
  }
};

struct TurnBox {
  BoxSchedule schedule;
  const std::uint64_t* step;
  Box* box;
  std::uint32_t* due;
  PERRIN_HD void operator()(std::int64_t) const {
    const auto n = std::int64_t(*step);
    *box = schedule.at(n, schedule.turned(n));
    *due = 0;
  }
};

struct AddVirialWork {
  BoxSchedule schedule;
  DeformationMemory* memory;
  const double* virial;
  const Box* box;
  const std::uint64_t* step;
  double tail;  // trace, times the volume
  bool beginning;
  PERRIN_HD void operator()(std::int64_t) const {
    double now[6];
    for (int c = 0; c < 6; ++c) now[c] = virial[c];
    const Vec3<double>& l = box->length;
    for (int c = 0; c < box->dimension; ++c) now[c] += tail / (box->dimension * (l.x * l.y * l.z));
    const std::uint64_t end = *step + (beginning ? 0 : 1);
    // What is left of a step may be run again.
    if (!beginning && memory->measured != end) {
      const Triangle s = strain_of(step_change(schedule, std::int64_t(*step)));
      const double strain[6] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
      for (int c = 0; c < 6; ++c)
        memory->virial_work -= 0.5 * strain[c] * (memory->virial[c] + now[c]);
    }
    for (int c = 0; c < 6; ++c) memory->virial[c] = now[c];
    memory->measured = end;
  }
};

struct SixSums {
  double of[6] = {};
  PERRIN_HD SixSums& operator+=(const SixSums& b) {
    for (int k = 0; k < 6; ++k) of[k] += b.of[k];
    return *this;
  }
};

struct AddVirial {
  const Real* virial;
  std::int64_t n;
  PERRIN_HD SixSums operator()(std::int64_t i) const {
    SixSums s;
    for (int c = 0; c < 6; ++c) s.of[c] = double(virial[c * n + i]);
    return s;
  }
};

struct Number {
  const double* of;
  PERRIN_HD double operator()(std::int64_t i) const { return of[i]; }
};

struct AddWork {
  const DeformationMemory* memory;
  double* work;
  PERRIN_HD void operator()(std::int64_t) const { *work += memory->virial_work; }
};

}  // namespace

/// The virial by pairs and bonds, and room to measure it.
struct Deformation::Virial {
  Buffer<Real4> force;
  Buffer<Real> shares;
  Buffer<SixSums> scratch, sums;

  Virial(const Device& device, std::int64_t n)
      : force(device, n), shares(device, 6 * n), scratch(device, sum_chunks), sums(device, 1) {}
  const double* measure(Simulation& s) {
    shares.zero();
    bool add = false;
    for (const auto& f : s.forces) {
      f->compute(s, {force.data(), shares.data(), add, true});
      add = true;
    }
    sum<SixSums>(s.device(), "virial", s.particles.size(),
                 AddVirial{shares.data(), s.particles.size()}, scratch, sums.data());
    return sums.data()->of;
  }
};

Deformation::Deformation(const DeformSettings& settings, std::int64_t steps, std::string path)
    : deform_(settings), path_(std::move(path)), work_(settings.work) {
  schedule_.steps = std::max<std::int64_t>(1, settings.steps.value_or(steps));
  schedule_.form = settings.form == "linear"        ? BoxSchedule::Form::linear
                   : settings.form == "exponential" ? BoxSchedule::Form::exponential
                                                    : BoxSchedule::Form::oscillating;
}

Deformation::Deformation(const ShearSettings& settings, std::string path, bool turns)
    : shear_(settings), path_(std::move(path)), work_(settings.work) {
  schedule_.form = BoxSchedule::Form::shear;
  schedule_.flow = settings.flow[0] - 'x';
  schedule_.gradient = settings.gradient[0] - 'x';
  schedule_.turns = turns;
}

Deformation::~Deformation() = default;

bool Deformation::tilts() const { return shear_ || deform_->xy || deform_->xz || deform_->yz; }

const Flow* Deformation::flow() const {
  return memory_.size() > 0 ? memory_.data()->flow : nullptr;
}

void Deformation::begin(Simulation& s, const Integrator& integrator) {
  schedule_.begin = std::int64_t(s.step());
  schedule_.start = s.particles.box;
  make_room(s, integrator);
  set_targets();
  set_up();
}

void Deformation::resume(Simulation& s, const Integrator& integrator) { make_room(s, integrator); }

void Deformation::make_room(Simulation& s, const Integrator& integrator) {
  simulation_ = &s;
  timestep_ = integrator.timestep();
  for (std::size_t k = 0; k < s.forces.size(); ++k)
    if (!s.forces[k]->follows_deformation())
      throw UserError(
          fmt::format("forces[{}] cannot be in {}, which deforms the box: that is for forces "
                      "between particles",
                      k, path_));
  const Device& device = s.device();
  memory_ = {device, 1};
  due_ = {device, 1};
  if (!work_) return;
  kinetic_work_ = {device, s.particles.size()};
  scratch_ = {device, sum_chunks};
  virial_ = std::make_unique<Virial>(device, s.particles.size());
}

void Deformation::set_targets() {
  const Box& start = schedule_.start;
  for (int k = 0; k < 3; ++k) schedule_.length[k] = start.length[k];
  if (shear_) schedule_.step_strain = shear_->rate * timestep_;
  if (deform_) {
    const DeformSettings& d = *deform_;
    const std::optional<double> lengths[3] = {d.x, d.y, d.z}, tilts[3] = {d.xy, d.xz, d.yz};
    double volume = d.volume.value_or(start.volume());
    if (d.density) volume = double(simulation_->particles.size()) / *d.density;
    const double factor = std::pow(volume / start.volume(), 1.0 / start.dimension);
    for (int k = 0; k < 3; ++k) {
      if (d.volume || d.density)
        schedule_.length[k] *= k < start.dimension ? factor : 1.0;
      else
        schedule_.length[k] = lengths[k].value_or(start.length[k]);
      schedule_.tilts[k] = tilts[k].has_value();
      schedule_.tilt[k] = tilts[k].value_or(0);
    }
    if (d.period) schedule_.step_turn = 2 * M_PI * timestep_ / *d.period;
  }
}

/// Once the schedule is known.
void Deformation::set_up() {
  Simulation& s = *simulation_;
  check_steps();
  tail_virial_ = 0;
  const Box now = s.particles.box;
  s.particles.box = s.particles.given_box();  // of one volume for all resumed runs
  for (const auto& force : s.forces)
    tail_virial_ += force->correction(s).virial * s.particles.box.volume();
  s.particles.box = now;
  const FlowWords words{schedule_, memory_.data(), 1 / timestep_,
                        !deform_ || deform_->remap_velocities ? 1u : 0u,
                        work_ ? kinetic_work_.data() : nullptr};
  for_each(s.device(), "flow of the box", 1, BeginFlow{words, s.device_step()});
}

/// Does every box on the way hold the range of the forces, and is a step short enough?
void Deformation::check_steps() {
  const std::int64_t samples = std::min<std::int64_t>(schedule_.steps, 4096);
  const double range = simulation_->range();
  double longest = 0;
  const auto check_box = [&](const Box& b) {
    const auto heights = b.padded_heights();
    for (int k = 0; k < b.dimension; ++k)
      if (b.periodic[std::size_t(k)] && heights[k] / 2 < range)
        throw UserError(fmt::format(
            "{}: the box comes to a height of {:.6g} along {}, and half of it must hold the range "
            "of the forces, {:.6g}",
            path_, heights[k], "xyz"[k], range));
  };
  for (std::int64_t k = 0; k < samples; ++k) {
    const std::int64_t step =
        schedule_.begin + k * (schedule_.steps - 1) / std::max<std::int64_t>(1, samples - 1);
    const Triangle g = inverse(step_change(schedule_, step));
    const double xy = std::abs(g.xy), xz = std::abs(g.xz), yz = std::abs(g.yz);
    // |1 + g|² ≤ 1 + 2 |sym g| + |g|²
    const double most =
        std::max({g.xx + (xy + xz) / 2, g.yy + (xy + yz) / 2, g.zz + (xz + yz) / 2, 0.0});
    const double squares = g.xx * g.xx + g.yy * g.yy + g.zz * g.zz + xy * xy + xz * xz + yz * yz;
    longest = std::max(longest, std::sqrt(1 + 2 * most + squares) - 1);
    if (!shear_) check_box(schedule_.at(step + 1, 0));
  }
  if (shear_) {
    Box b = schedule_.start;
    schedule_.tilt_of(b) = 0.5 * b.length[schedule_.flow];
    check_box(b);
  }
  constexpr double limit = 0.009;
  most_ = 1.05 * longest + 1e-9;
  if (!(most_ < limit))
    throw UserError(fmt::format(
        "{}: lengths change by up to {:.3g} of themselves in a step, which must stay below {:.3g}: "
        "take a smaller rate or time step, or more steps",
        path_, longest, limit / 1.05));
}

void Deformation::begin_work() {
  if (!work_) return;
  Simulation& s = *simulation_;
  const double* virial = virial_->measure(s);
  for_each(s.device(), "work of the box", 1,
           AddVirialWork{schedule_, memory_.data(), virial, s.particles.kept_box(), s.device_step(),
                         tail_virial_, true});
}

void Deformation::move_box(Simulation& s) {
  const Device& device = s.device();
  const FlowWords words{schedule_, memory_.data(), 1 / timestep_,
                        !deform_ || deform_->remap_velocities ? 1u : 0u,
                        work_ ? kinetic_work_.data() : nullptr};
  for_each(device, "the box moves", 1,
           MoveBox{words, s.device_step(), s.particles.kept_box(), s.fault_sink(), s.range()});
  s.follow_box();
  if (!work_) return;
  const double* virial = virial_->measure(s);
  for_each(device, "work of the box", 1,
           AddVirialWork{schedule_, memory_.data(), virial, s.particles.kept_box(), s.device_step(),
                         tail_virial_, false});
}

void Deformation::turn_box(Simulation& s) {
  if (!shear_) return;
  const Device& device = s.device();
  const Condition due = device.condition(due_.data());
  for_each(device, "does the tilt turn", 1,
           DecideTurn{schedule_, memory_.data(), s.device_step(), due});
  device.when(due, [&] {
    for_each(device, "turned tilt", s.particles.size(),
             TurnParticles{s.particles.view(), memory_.data(), schedule_.flow, schedule_.gradient});
    for_each(device, "turned box", 1,
             TurnBox{schedule_, s.device_step(), s.particles.kept_box(), due_.data()});
    s.follow_box();
    if (s.neighbors) s.neighbors->require_build();
  });
}

void Deformation::measure_work(Simulation& s, double* work) {
  if (!work_ || memory_.size() == 0) return s.device().zero(work, sizeof *work);
  sum<double>(s.device(), "work", kinetic_work_.size(), Number{kinetic_work_.data()}, scratch_,
              work);
  for_each(s.device(), "work", 1, AddWork{memory_.data(), work});
}

double Deformation::strain(std::uint64_t step) const {
  return shear_ ? double(std::int64_t(step) - schedule_.begin) * schedule_.step_strain : 0;
}

void Deformation::state(Archive& a) {
  const Archive::Scope scope(a, "deformation");
  const auto now = std::int64_t(simulation_->step());
  a("begin", schedule_.begin);
  a.require(schedule_.begin >= 0 && schedule_.begin <= now, "begin",
            "a step that the run has made");
  archive_box(a, "start", schedule_.start);
  if (work_) {
    DeformationMemory m = memory_.to_host(0);
    a("virial_work", m.virial_work);
    std::vector<double> virial(m.virial, m.virial + 6);
    a("virial", virial);
    a.require(virial.size() == 6, "virial", "six numbers");
    a("kinetic_work", kinetic_work_);
    std::copy(virial.begin(), virial.end(), m.virial);
    m.measured = std::uint64_t(now);
    if (!a.is_saving()) memory_.assign(std::span<const DeformationMemory>(&m, 1));
  }
  if (a.is_saving()) return;
  const Box &start = schedule_.start, &box = simulation_->particles.box;
  a.require(start.periodic == box.periodic && start.dimension == box.dimension, "start",
            "a box of the same axes");
  set_targets();
  const Box is = schedule_.at(now, now > schedule_.begin ? schedule_.turned(now - 1) : 0);
  const double tolerance = 1e-9 * (box.length.x + box.length.y + box.length.z);
  const auto same = [&](double x, double y) { return std::abs(x - y) < tolerance; };
  a.require(same(is.length.x, box.length.x) && same(is.length.y, box.length.y) &&
                same(is.length.z, box.length.z) && same(is.xy, box.xy) && same(is.xz, box.xz) &&
                same(is.yz, box.yz),
            "start", "a box that comes to the present one in the steps since");
  set_up();
}

namespace {

/// What is wrong with settings of "deform", at keys below that.
void check(const DeformSettings& s, std::int64_t steps, Setup& setup) {
  const Box& box = setup.configuration().box;
  const auto wrong = [&](const std::string& key, const std::string& what) {
    setup.error("deform." + key, what);
  };
  const bool lengths = s.x || s.y || s.z;
  if (s.volume && s.density) wrong("density", "give either volume or density");
  if ((s.volume || s.density) && lengths)
    wrong(s.volume ? "volume" : "density", "give either this or lengths of edges");
  if (!s.volume && !s.density && !lengths && !s.xy && !s.xz && !s.yz)
    setup.error("deform",
                "is given no target: one or more of x, y, z, xy, xz, yz, volume, density");
  const auto check_axis = [&](bool given, const std::string& key, int axis) {
    if (!given) return;
    if (axis >= box.dimension)
      wrong(key, "the system has two dimensions");
    else if (!box.periodic[std::size_t(axis)])
      wrong(key, fmt::format("the box is not periodic along {}", "xyz"[axis]));
  };
  check_axis(s.x.has_value(), "x", 0), check_axis(s.y.has_value(), "y", 1);
  check_axis(s.z.has_value(), "z", 2);
  check_axis(s.xy.has_value(), "xy", 0), check_axis(s.xy.has_value(), "xy", 1);
  check_axis(s.xz.has_value(), "xz", 0), check_axis(s.xz.has_value(), "xz", 2);
  check_axis(s.yz.has_value(), "yz", 1), check_axis(s.yz.has_value(), "yz", 2);
  for (int axis = 0; axis < box.dimension; ++axis)
    check_axis(s.volume || s.density, s.volume ? "volume" : "density", axis);
  if ((s.form == "oscillating") != s.period.has_value())
    wrong("period", s.period ? "is for the form oscillating" : "is missing: of the oscillation");
  if (s.steps && *s.steps > steps)
    wrong("steps", fmt::format("must be at most those of the stage, {}, got {}", steps, *s.steps));
}

void check(const ShearSettings& s, Setup& setup) {
  const Box& box = setup.configuration().box;
  if (s.flow == s.gradient)
    setup.error("shear.gradient", "must come behind flow in x, y, z; got " + s.gradient + " twice");
  for (const auto& [name, key] :
       {std::pair{s.flow, "shear.flow"}, {s.gradient, "shear.gradient"}}) {
    const int axis = name[0] - 'x';
    if (axis >= box.dimension)
      setup.error(key, "the system has two dimensions");
    else if (!box.periodic[std::size_t(axis)])
      setup.error(key, "the box is not periodic along " + name);
  }
  const double tilts[3] = {box.xy, box.xz, box.yz};
  const std::string names[3] = {"xy", "xz", "yz"};
  for (int k = 0; k < 3; ++k)
    if (tilts[k] != 0 && names[k] != s.flow + s.gradient)
      setup.error("shear",
                  fmt::format("needs a box without the tilt {}, which is {}", names[k], tilts[k]));
}

}  // namespace

std::unique_ptr<Deformation> Deformation::make(const std::optional<DeformSettings>& deform,
                                               const std::optional<ShearSettings>& shear,
                                               std::int64_t steps, const Integrator* integrator,
                                               Setup& setup) {
  if (!deform && !shear) return nullptr;
  const std::string key = shear ? "shear" : "deform";
  if (deform && shear) setup.error("shear", "a stage has either deform or shear");
  if (integrator && integrator->box_mover())
    setup.error(key, "the integrator has a barostat: only one of them can move the box");
  else if (integrator && !integrator->follows_deformation())
    setup.error(key,
                "is not for this integrator (of a minimisation, or one that keeps particles "
                "or axes at rest)");
  if (deform) check(*deform, steps, setup);
  if (shear) check(*shear, setup);
  const std::string path = setup.path() + "." + key;
  if (shear) return std::make_unique<Deformation>(*shear, path);
  return std::make_unique<Deformation>(*deform, steps, path);
}

}  // namespace perrin
