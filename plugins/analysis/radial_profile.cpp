#include "radial_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/components/registry.h"
#include "engine/domain/reduction.h"
#include "engine/dynamics/observation.h"
#include "io/file_units.h"
#include "lengths.h"
#include "rng/math.h"

namespace perrin::analysis {
namespace {

struct Shells {
  ConstParticleView p;
  Selected selected;
  Lengths lengths;
  Position center;
  int axis;
  std::int64_t bins;
  double per_length, per_axis;
  KineticShare kinetic;

  PERRIN_HD Terms<RadialProfile::quantities> operator()(std::int64_t i) const {
    const Position r = p.position[i];
    Terms<RadialProfile::quantities> t;
    if (!selected.has(r.type(), p.id[i])) return t;
    Vec3<double> d = lengths.between(r, center);
    if (axis >= 0) d[axis] = 0;
    const double distance = std::sqrt(dot(d, d));
    if (!(distance * per_length < double(bins))) return t;
    t.bin = std::int64_t(distance * per_length);
    const Real4 word = p.velocity[i];
    const Vec3<double> v = kinetic.velocity(word);
    const double m = 1 / double(word.w);
    t.value[0] = per_axis;
    if (!kinetic.moves.has(p.id[i])) return t;
    t.value[1] = m;
    t.value[2] = distance > 0 ? m * dot(v, d) / distance : 0.0;
    if (!kinetic.thermal.has(p.id[i])) return t;
    t.value[3] = 1;
    t.value[4] = m;
    t.value[5] = t.value[2];
    t.value[6] = kinetic.twice(word, r.type());
    return t;
  }
};

struct FindMiddle {
  ConstParticleView p;
  Selected selected;
  PERRIN_HD RadialProfile::Mean operator()(std::int64_t i) const {
    RadialProfile::Mean mean;
    const Position r = p.position[i];
    if (!selected.has(r.type(), p.id[i])) return mean;
    mean.mass = 1 / double(p.velocity[i].w);
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t turn = a == 0 ? r.x : a == 1 ? r.y : r.z;
      const auto angle = exact::sincos_turn<float>(turn);
      mean.cos[a] = mean.mass * double(angle.cos);
      mean.sin[a] = mean.mass * double(angle.sin);
      mean.fraction[a] = mean.mass * double(turn);
    }
    return mean;
  }
};

std::vector<io::ObservableColumn> columns(const RadialProfileSettings& s, Setup& setup) {
  const hsize_t bins = hsize_t(s.bins);
  const Units& u = setup.units();
  const auto length = io::file_length(u), velocity = io::file_velocity(u);
  const int dimension = setup.configuration().box.dimension;
  return {{"r", {bins}, length.name, length.factor},
          {"density", {bins}, u.reduced() ? "" : fmt::format("{}-{}", u.length, dimension)},
          {"radial_velocity", {bins}, velocity.name, velocity.factor},
          {"temperature", {bins}, u.temperature()}};
}

}  // namespace

RadialProfile::RadialProfile(const RadialProfileSettings& settings, Setup& setup)
    : SampledObserver(settings, columns(settings, setup), setup),
      axis_(settings.axis == "none" ? -1 : settings.axis[0] - 'x'),
      dimension_(setup.configuration().box.dimension),
      moving_(settings.about == "center_of_mass"),
      bins_(settings.bins),
      r_max_(settings.r_max),
      k_boltzmann_(setup.k_boltzmann()),
      selection_(settings.types, settings.group, setup),
      scratch_(setup.device(), sum_chunks + 1),
      sums_(setup.device(), settings.bins) {
  const Box& box = setup.configuration().box;
  if (axis_ >= 0 && dimension_ == 2) setup.error("axis", "must be none in two dimensions");
  if (axis_ >= 0 && !box.orthogonal()) setup.error("axis", "must be none in a tilted box");
  if (moving_ && settings.center)
    setup.error("center", "must be left out with \"about\": \"center_of_mass\"");
  center_ = settings.center.value_or(box.point({0.5, 0.5, dimension_ == 2 ? 0.0 : 0.5}));
  fraction_ = box.fraction(center_);
  const double half = half_height(box);
  if (r_max_ == 0) r_max_ = half;
  if (r_max_ > half * (1 + 1e-12))
    setup.error("r_max", fmt::format("must be at most half the shortest distance between opposite "
                                     "faces of the box ({:.6g}), got {:.6g}",
                                     half, r_max_));
  for (int a = 0; a < dimension_; ++a) {
    const double f = fraction_[a];
    if (!(f >= 0 && f <= 1))
      setup.error("center",
                  fmt::format("must be inside the box, got {:.6g} along {}", center_[a], "xyz"[a]));
  }
}

/// Of the smallest that the shells lie in.
double RadialProfile::half_height(const Box& box) const {
  const Vec3<double> heights = box.heights();
  double half = 0;
  for (int a = 0; a < dimension_; ++a)
    if (a != axis_) half = half > 0 ? std::min(half, heights[a] / 2) : heights[a] / 2;
  return half;
}

Position RadialProfile::center_of_mass(const Observation& s) {
  sum<Mean>(s.device(), "centre of mass", s.particles().size(),
            FindMiddle{s.particles().view(), selection_.view()}, scratch_,
            scratch_.data() + sum_chunks);
  const Mean mean = scratch_.to_host(sum_chunks);
  std::uint32_t middle[3];
  for (int a = 0; a < 3; ++a) {
    double turns = mean.mass > 0 ? mean.fraction[a] / mean.mass * 0x1p-32 : 0.5;
    if (s.particles().box().periodic[std::size_t(a)] && a < dimension_)
      turns = std::atan2(mean.sin[a], mean.cos[a]) / (2 * M_PI);
    middle[a] = std::uint32_t(std::int64_t(std::floor((turns - std::floor(turns)) * 0x1p32)));
  }
  return {middle[0], middle[1], middle[2], 0};
}

void RadialProfile::sample(const Observation& s) {
  const Box& box = s.particles().box();
  reach_ = std::min(reach_, half_height(box) * (1 + 1e-12));
  if (axis_ >= 0 && !box.orthogonal())
    throw UserError("radial_profile: axis must be none in a box that tilts");
  const Vec3<double> point = s.particles().box_state().moves() ? box.point(fraction_) : center_;
  const Position center = moving_ ? center_of_mass(s) : box.fixed(point, 0);
  sums_.add(
      s.device(), "radial profile", s.particles().size(),
      Shells{s.particles().view(), selection_.view(), Lengths(box), center, axis_, bins_,
             double(bins_) / r_max_, axis_ < 0 ? 1.0 : 1 / box.length[axis_], kinetic_.of(s)});
}

std::vector<double> RadialProfile::row(const Box&) {
  const auto sums = sums_.take();
  const auto bins = std::size_t(bins_);
  const double width = r_max_ / double(bins_);
  std::vector<double> row(4 * bins);
  for (std::size_t b = 0; b < bins; ++b) {
    const double inner = double(b) * width, outer = inner + width;
    double volume = M_PI * (outer * outer - inner * inner);
    if (axis_ < 0 && dimension_ == 3)
      volume = 4 * M_PI / 3 * (outer * outer * outer - inner * inner * inner);
    const auto of = [&](std::size_t quantity) { return sums[quantity * bins + b]; };
    const double n = of(3), p = of(5);
    row[b] = inner + width / 2;
    row[bins + b] = of(0) / (double(samples()) * volume);
    row[2 * bins + b] = kinetic_.velocity(of(1) > 0 ? of(2) / of(1) : 0.0);
    row[3 * bins + b] =
        n > 0 ? (of(6) - p * p / of(4)) / (double(dimension_) * n * k_boltzmann_) : 0.0;
    if (outer > reach_)
      for (const std::size_t column : {1, 2, 3})
        row[column * bins + b] = std::numeric_limits<double>::quiet_NaN();
  }
  kinetic_.begin_row();
  reach_ = std::numeric_limits<double>::max();
  return row;
}

/// With what was chosen in the box at the start.
void RadialProfile::sums(Archive& archive) {
  sums_.state(archive);
  kinetic_.state(archive);
  if (archive.has("reach")) archive("reach", reach_);
  archive.require(reach_ > 0, "reach", "a positive length");
  archive("r_max", r_max_);
  archive("center", center_);
  archive("fraction", fraction_);
  archive.require(r_max_ > 0 && std::isfinite(dot(center_, center_)) &&
                      std::isfinite(dot(fraction_, fraction_)),
                  "r_max", "a length, about a point");
}

void register_radial_profile(Registry& registry) {
  registry.add<Observer, RadialProfileSettings>("radial_profile",
                                                "density, velocity and temperature in shells",
                                                [](const RadialProfileSettings& s, Setup& setup) {
                                                  return std::make_unique<RadialProfile>(s, setup);
                                                });
}

}  // namespace perrin::analysis
