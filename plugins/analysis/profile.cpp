#include "profile.h"

#include <fmt/format.h>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "io/file_units.h"

namespace perrin::analysis {
namespace {

struct Slabs {
  ConstParticleView p;
  Selected selected;
  int axis;
  double scale, shift;  // fixed-point coordinate to a fraction of the box
  std::int64_t bins;
  KineticShare kinetic;

  PERRIN_HD Terms<Profile::quantities> operator()(std::int64_t i) const {
    const Position r = p.position[i];
    Terms<Profile::quantities> t;
    if (!selected.has(r.type(), p.id[i])) return t;
    const double fraction = double(axis == 0 ? r.x : axis == 1 ? r.y : r.z) * scale - shift;
    const double place = fraction * double(bins);
    t.bin = place > 0 ? std::int64_t(place) : 0;
    if (t.bin >= bins) t.bin = bins - 1;
    const Real4 word = p.velocity[i];
    const Vec3<double> v = kinetic.velocity(word);
    const double m = 1 / double(word.w);
    t.value[0] = 1;
    if (!kinetic.moves.has(p.id[i])) return t;
    t.value[1] = m;
    for (int k = 0; k < 3; ++k) t.value[2 + k] = m * v[k];
    if (!kinetic.thermal.has(p.id[i])) return t;
    t.value[5] = 1;
    for (int k = 0; k < 4; ++k) t.value[6 + k] = t.value[1 + k];
    t.value[10] = kinetic.twice(word, r.type());
    return t;
  }
};

std::vector<io::ObservableColumn> columns(const ProfileSettings& s, Setup& setup) {
  const hsize_t bins = hsize_t(s.bins);
  const Units& u = setup.units();
  const int dimension = setup.configuration().box.dimension;
  const std::string density = u.reduced() ? "" : fmt::format("{}-{}", u.length, dimension);
  return {{"coordinate", {bins}, u.length},
          {"density", {bins}, density},
          {"velocity", {bins, 3}, io::file_velocity(u).name, io::file_velocity(u).factor},
          {"temperature", {bins}, u.temperature()}};
}

}  // namespace

Profile::Profile(const ProfileSettings& settings, Setup& setup)
    : SampledObserver(settings, columns(settings, setup), setup),
      axis_(settings.axis[0] - 'x'),
      dimension_(setup.configuration().box.dimension),
      k_boltzmann_(setup.k_boltzmann()),
      bins_(settings.bins),
      selection_(settings.types, settings.group, setup),
      sums_(setup.device(), settings.bins) {
  if (dimension_ == 2 && axis_ == 2) setup.error("axis", "must be x or y in two dimensions");
}

void Profile::sample(const Observation& s) {
  const double padding = s.particles().box().padding[axis_];
  sums_.add(s.device(), "profile", s.particles().size(),
            Slabs{s.particles().view(), selection_.view(), axis_, (1 + 2 * padding) * 0x1p-32,
                  padding, bins_, kinetic_.of(s)});
}

std::vector<double> Profile::row(const Box& box) {
  const auto sum = sums_.take();
  const auto bins = std::size_t(bins_);
  const double volume = this->volume() / double(bins);
  std::vector<double> row(6 * bins);
  for (std::size_t b = 0; b < bins; ++b) {
    const auto of = [&](std::size_t quantity) { return sum[quantity * bins + b]; };
    const auto momentum = [&](std::size_t k) { return Vec3<double>{of(k), of(k + 1), of(k + 2)}; };
    const auto mean = [](double m, const Vec3<double>& p) {
      return m > 0 ? (1 / m) * p : Vec3<double>{};
    };
    const Vec3<double> u = mean(of(1), momentum(2));
    const double n = of(5);
    const double thermal = of(10) - dot(mean(of(6), momentum(7)), momentum(7));
    row[b] = box.origin[axis_] + box.length[axis_] * (double(b) + 0.5) / double(bins);
    row[bins + b] = of(0) / (double(samples()) * volume);
    for (std::size_t k = 0; k < 3; ++k) row[2 * bins + 3 * b + k] = kinetic_.velocity(u[int(k)]);
    row[5 * bins + b] = n > 0 ? thermal / (double(dimension_) * n * k_boltzmann_) : 0.0;
  }
  kinetic_.begin_row();
  return row;
}

void Profile::sums(Archive& archive) {
  sums_.state(archive);
  kinetic_.state(archive);
}

void register_profile(Registry& registry) {
  registry.add<Observer, ProfileSettings>(
      "profile", "density, velocity and temperature in slabs",
      [](const ProfileSettings& s, Setup& setup) { return std::make_unique<Profile>(s, setup); });
}

}  // namespace perrin::analysis
