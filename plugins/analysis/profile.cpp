#include "profile.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/core/parallel.h"
#include "engine/run/registry.h"
#include "engine/run/simulation.h"
#include "io/file_units.h"
#include "types.h"

namespace perrin::analysis {
namespace {

/// What one particle adds to a slab.
struct Share {
  double mass, momentum[3], mv2;
};
PERRIN_HD Share share(const ParticleView& p, std::int64_t i) {
  const Real4 v = p.velocity[i];
  const double m = 1 / double(v.w), x = double(v.x), y = double(v.y), z = double(v.z);
  return {m, {m * x, m * y, m * z}, m * (x * x + y * y + z * z)};
}

struct FindLargest {
  ParticleView p;
  const std::uint32_t* mask;

  PERRIN_HD Profile::Largest operator()(std::int64_t i) const {
    if (!mask[p.position[i].type()]) return {};
    const Share s = share(p, i);
    Profile::Largest largest{s.mass, 0, s.mv2};
    for (const double m : s.momentum) largest += {0, std::abs(m), 0};
    return largest;
  }
};

/// The unit of an integer sum: a power of two of which n times the largest is below 2^62.
PERRIN_HD double unit_for(double largest, std::int64_t n) {
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) + std::ilogb(double(n)) + 2 - 62) : 1.0;
}

PERRIN_HD void add(std::int64_t* place, double value, double unit) {
  const std::int64_t whole = std::int64_t(value / unit);
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(whole));
#else
  __atomic_fetch_add(place, whole, __ATOMIC_RELAXED);
#endif
}

struct Sample {
  ParticleView p;
  const std::uint32_t* mask;
  int axis;
  double scale, shift;  // fixed-point coordinate to a fraction of the box
  std::int64_t bins;
  const Profile::Largest* largest;
  std::int64_t* sum;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Position r = p.position[i];
    if (!mask[r.type()]) return;
    const double fraction = double(axis == 0 ? r.x : axis == 1 ? r.y : r.z) * scale - shift;
    const double place = fraction * double(bins);
    std::int64_t bin = place > 0 ? std::int64_t(place) : 0;
    if (bin >= bins) bin = bins - 1;
    const Share one = share(p, i);
    const double mass = unit_for(largest->mass, p.n), momentum = unit_for(largest->momentum, p.n);
    add(sum + bin, 1, 1);
    add(sum + bins + bin, one.mass, mass);
    for (int k = 0; k < 3; ++k) add(sum + (2 + k) * bins + bin, one.momentum[k], momentum);
    add(sum + 5 * bins + bin, one.mv2, unit_for(largest->mv2, p.n));
  }
};

struct Fold {
  const Profile::Largest* largest;
  std::int64_t particles, bins;
  std::int64_t* sample;
  double* sum;
  PERRIN_HD void operator()(std::int64_t k) const {
    const std::int64_t quantity = k / bins;
    const double most = quantity == 1  ? largest->mass
                        : quantity < 5 ? largest->momentum
                                       : largest->mv2;
    sum[k] += (quantity == 0 ? 1.0 : unit_for(most, particles)) * double(sample[k]);
    sample[k] = 0;
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
    : settings_(settings),
      axis_(settings.axis[0] - 'x'),
      dimension_(setup.configuration().box.dimension),
      k_boltzmann_(setup.k_boltzmann()),
      file_(output_path(settings.file, setup), columns(settings, setup), setup),
      mask_(type_mask(settings.types, setup)),
      sample_(setup.device(), quantities * std::int64_t(settings.bins)),
      sum_(setup.device(), quantities * std::int64_t(settings.bins)),
      largest_(setup.device(), 1),
      scratch_(setup.device(), sum_chunks) {
  if (settings.rows_every % settings.stride != 0)
    setup.error("rows_every", fmt::format("must be a multiple of stride ({}), got {}",
                                          settings.stride, settings.rows_every));
  if (dimension_ == 2 && axis_ == 2) setup.error("axis", "is z in two dimensions");
}

void Profile::begin(Simulation& simulation, bool resumed) { file_.begin(simulation, resumed); }

void Profile::observe(Simulation& s) {
  const auto step = std::int64_t(s.step());
  if (step == last_sample_) return;
  last_sample_ = step;
  const double padding = s.particles.box.padding[axis_];
  const ParticleView particles = s.particles.view();
  sum<Largest>(s.device(), "profile: units", particles.n, FindLargest{particles, mask_.data()},
               scratch_, largest_.data());
  for_each(s.device(), "profile", particles.n,
           Sample{particles, mask_.data(), axis_, (1 + 2 * padding) * 0x1p-32, padding,
                  settings_.bins, largest_.data(), sample_.data()});
  for_each(s.device(), "profile sums", sum_.size(),
           Fold{largest_.data(), particles.n, settings_.bins, sample_.data(), sum_.data()});
  ++samples_;
  if (step % settings_.rows_every == 0) write_row(s);
}

void Profile::write_row(Simulation& s) {
  const auto sum = sum_.to_host();
  const Box& box = s.particles.box;
  const auto bins = std::size_t(settings_.bins);
  const double volume = box.volume() / double(bins);
  std::vector<double> row(6 * bins);
  for (std::size_t b = 0; b < bins; ++b) {
    const double n = sum[b], m = sum[bins + b];
    const Vec3<double> p{sum[2 * bins + b], sum[3 * bins + b], sum[4 * bins + b]};
    const Vec3<double> u = m > 0 ? (1 / m) * p : Vec3<double>{};
    const double thermal = sum[5 * bins + b] - dot(u, p);
    row[b] = box.origin[axis_] + box.length[axis_] * (double(b) + 0.5) / double(bins);
    row[bins + b] = n / (double(samples_) * volume);
    for (std::size_t k = 0; k < 3; ++k) row[2 * bins + 3 * b + k] = u[int(k)];
    row[5 * bins + b] = n > 0 ? thermal / (double(dimension_) * n * k_boltzmann_) : 0.0;
  }
  file_.append(std::int64_t(s.step()), s.time(), std::move(row));
  sum_.zero();
  samples_ = 0;
}

void Profile::end(Simulation& simulation) { file_.end(simulation); }

void Profile::state(Archive& archive) {
  file_.state(archive);
  archive("samples", samples_);
  archive.require(samples_ >= 0, "samples", "at least 0");
  archive("last_sample", last_sample_);
  archive.require(last_sample_ >= (samples_ > 0 ? 0 : -1), "last_sample",
                  "the step of the last sample, or -1 where there is none");
  archive("sum", sum_);
}

void register_profile(Registry& registry) {
  registry.add<Observer, ProfileSettings>(
      "profile", "density, velocity and temperature in slabs",
      [](const ProfileSettings& s, Setup& setup) { return std::make_unique<Profile>(s, setup); });
}

}  // namespace perrin::analysis
