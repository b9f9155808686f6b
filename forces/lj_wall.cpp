#include "forces/lj_wall.h"

#include <fmt/format.h>

#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/deposit.h"
#include "forces/device_math.h"
#include "forces/number_range.h"
#include "forces/particle_loop.h"

namespace perrin {
namespace {

template <class T>
struct WallForce {
  T force, energy;  // along the direction away from the wall
};

/// E = steep/h⁹ - flat/h³, or steep/h¹² - flat/h⁶.
template <class T>
PERRIN_HD WallForce<T> evaluate(bool nine_three, T h, T steep, T flat) {
  const T x = T(1) / h, x3 = x * x * x, x6 = x3 * x3;
  if (nine_three) {
    const T a = steep * x6 * x3, b = flat * x3;
    return {(T(9) * a - T(3) * b) * x, a - b};
  }
  const T a = steep * x6 * x6, b = flat * x6;
  return {(T(12) * a - T(6) * b) * x, a - b};
}

struct WallKernel {
  ParticleView particles;
  Current<Metric> metric;
  Anchor wall;
  int axis;
  bool nine_three;
  Real steep, flat, cutoff, shift;
  const std::uint32_t* mask;
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position p = particles.position[i];
    Real3 force{};
    Real energy = 0;
    const Real3 r = wall.to(*metric, p, particles.image[i]);
    const Real side = axis == 0 ? r.x : axis == 1 ? r.y : r.z;
    const Real h = std::abs(side);
    if (mask[p.type()] && h < cutoff) {
      const WallForce<Real> f = evaluate(nine_three, h, steep, flat);
      const Real along = side < 0 ? -f.force : f.force;
      force = {axis == 0 ? along : Real(0), axis == 1 ? along : Real(0),
               axis == 2 ? along : Real(0)};
      energy = f.energy - shift;
    }
    deposit(out, particles.n, i, force, energy, Virial{}, Real(1));
  }
};

int axis_index(const std::string& name) { return name == "x" ? 0 : name == "y" ? 1 : 2; }

}  // namespace

LjWall::LjWall(const LjWallSettings& s, const Device& device, std::size_t types,
               const std::vector<std::uint32_t>& chosen)
    : Force(ForceTraits::of_field()),
      settings_(s),
      axis_(axis_index(s.axis)),
      mask_(device, types, chosen) {
  for (int k = 0; k < 3; ++k) traits_.box[std::size_t(k)] = k != axis_;
  const bool nine_three = s.form == "9-3";
  const double cutoff = s.cutoff.value_or(2.5 * s.sigma);
  const double steep = nine_three ? s.epsilon * 2 / 15 * std::pow(s.sigma, 9)
                                  : 4 * s.epsilon * std::pow(s.sigma, 12);
  const double flat =
      nine_three ? s.epsilon * std::pow(s.sigma, 3) : 4 * s.epsilon * std::pow(s.sigma, 6);
  steep_ = in_range(steep, nine_three ? "2/15 epsilon sigma^9" : "4 epsilon sigma^12");
  flat_ = in_range(flat, nine_three ? "epsilon sigma^3" : "4 epsilon sigma^6");
  cutoff_ = Real(cutoff);
  shift_ = Real(evaluate(nine_three, cutoff, steep, flat).energy);
}

void LjWall::compute(StepContext& context, const ForceOutput& output) {
  const Box& box = context.particles().box();
  Vec3<double> point{0, 0, 0};
  point[axis_] = settings_.position;
  const ParticleView particles = context.particles().view();
  for_each_particle(
      "lj_wall", context, output,
      WallKernel{particles, context.particles().metric(), Anchor(box, point, false), axis_,
                 settings_.form == "9-3", steep_, flat_, cutoff_, shift_, mask_.data(), output});
}

MomentumChange LjWall::momentum_change(std::span<const std::int64_t> particles) const {
  MomentumChange change;
  change.varying[static_cast<std::size_t>(axis_)] =
      settings_.epsilon > 0 && mask_.count(particles) > 0;
  return change;
}

void register_lj_wall(Registry& registry) {
  registry.add<Force, LjWallSettings>(
      "lj_wall", "a flat Lennard-Jones wall",
      [](const LjWallSettings& s, Setup& setup) -> std::unique_ptr<Force> {
        const Box& box = setup.configuration().box;
        const int axis = axis_index(s.axis);
        const double tilt = axis == 0   ? std::abs(box.xy) + std::abs(box.xz)
                            : axis == 1 ? std::abs(box.yz)
                                        : 0.0;
        if (axis == 2 && box.dimension == 2)
          setup.error("axis", "must be x or y in two dimensions");
        if (tilt != 0)
          setup.error("axis", fmt::format("a wall across {} needs a box whose faces there are "
                                          "perpendicular to {}; this one is tilted",
                                          s.axis, s.axis));
        const double cutoff = s.cutoff.value_or(2.5 * s.sigma);
        if (box.periodic[static_cast<std::size_t>(axis)] && cutoff > box.length[axis] / 2)
          setup.error("cutoff", fmt::format("must be at most half the periodic box ({}), got {}",
                                            box.length[axis] / 2, cutoff));
        const double low = box.origin[axis], high = low + box.length[axis];
        if (!box.periodic[static_cast<std::size_t>(axis)] &&
            (s.position <= low - cutoff || s.position >= high + cutoff))
          setup.error(
              "position",
              fmt::format("must be closer to the box, which extends from {:.6g} to {:.6g} along "
                          "{}: with the cut-off {:.6g} the wall reaches no particle, got {:.6g}",
                          low, high, s.axis, cutoff, s.position));
        return std::make_unique<LjWall>(s, setup.device(), setup.configuration().types.size(),
                                        chosen_types(setup, s.types));
      });
}

}  // namespace perrin
