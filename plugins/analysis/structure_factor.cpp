#include "structure_factor.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/core/parallel.h"
#include "engine/run/registry.h"
#include "engine/run/simulation.h"
#include "rng/math.h"
#include "types.h"

namespace perrin::analysis {
namespace {

constexpr std::int64_t chunks = 64;  // partial sums over the particles, in a fixed order
constexpr std::size_t most_vectors = 1000000;

struct Partial {
  const Position* position;
  const std::uint32_t* mask;
  const Vec3<std::int32_t>* numbers;
  std::int64_t n, vectors;
  Vec3<double>* partial;  // [chunk · vectors + vector]: neighbouring threads read the same particle

  PERRIN_HD void operator()(std::int64_t t) const {
    const std::int64_t chunk = t / vectors;
    const auto k = numbers[t - chunk * vectors];
    double re = 0, im = 0;
    for (std::int64_t i = n * chunk / chunks; i < n * (chunk + 1) / chunks; ++i) {
      const Position p = position[i];
      if (!mask[p.type()]) continue;
      const std::uint32_t turn =
          std::uint32_t(k.x) * p.x + std::uint32_t(k.y) * p.y + std::uint32_t(k.z) * p.z;
      const auto phase = exact::sincos_turn<float>(turn);
      re += double(phase.cos);
      im += double(phase.sin);
    }
    partial[t] = {re, im, 0};
  }
};

struct Fold {
  const Vec3<double>* partial;
  std::int64_t vectors;
  double scale;
  double* sum;
  PERRIN_HD void operator()(std::int64_t k) const {
    double re = 0, im = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const Vec3<double> p = partial[chunk * vectors + k];
      re += p.x, im += p.y;
    }
    sum[k] += scale * (re * re + im * im);
  }
};

/// Rows b_a with b_a · edge_c = 2 pi (a == c).
std::array<Vec3<double>, 3> reciprocal_lattice(const Box& box) {
  const auto e = box.edges();
  const double factor = 2 * M_PI / box.length.x / box.length.y / box.length.z;
  return {factor * cross(e[1], e[2]), factor * cross(e[2], e[0]), factor * cross(e[0], e[1])};
}

/// All within k_max, one of each pair k, -k; nothing where there are too many.
std::vector<std::array<std::int32_t, 3>> choose_numbers(const Box& box, double k_max) {
  const auto b = reciprocal_lattice(box);
  const auto e = box.edges();
  std::array<std::int32_t, 3> most{};
  double expected = 1;
  for (int a = 0; a < box.dimension; ++a) {
    // |n_a| = |k · edge_a| / (2 pi) ≤ k |edge_a| / (2 pi)
    const double limit = k_max * std::sqrt(dot(e[std::size_t(a)], e[std::size_t(a)])) / (2 * M_PI);
    expected *= 2 * limit + 1;
    if (expected > 8.0 * double(most_vectors)) return {};
    most[std::size_t(a)] = std::int32_t(limit);
  }
  std::vector<std::array<std::int32_t, 3>> found;
  for (std::int32_t z = 0; z <= most[2]; ++z)
    for (std::int32_t y = z > 0 ? -most[1] : 0; y <= most[1]; ++y)
      for (std::int32_t x = z > 0 || y > 0 ? -most[0] : 1; x <= most[0]; ++x) {
        const Vec3<double> k = double(x) * b[0] + double(y) * b[1] + double(z) * b[2];
        if (dot(k, k) <= k_max * k_max) found.push_back({x, y, z});
      }
  return found;
}

}  // namespace

StructureFactor::StructureFactor(const StructureFactorSettings& settings, Setup& setup)
    : settings_(settings),
      wave_numbers_(choose_numbers(setup.configuration().box, settings.k_max)),
      file_(output_path(settings.file, setup),
            {{"structure_factor", {std::max<hsize_t>(1, wave_numbers_.size())}, ""}}, setup),
      mask_(type_mask(settings.types, setup)) {
  const Configuration& c = setup.configuration();
  if (settings.rows_every % settings.stride != 0)
    setup.error("rows_every", fmt::format("must be a multiple of stride ({}), got {}",
                                          settings.stride, settings.rows_every));
  for (int axis = 0; axis < c.box.dimension; ++axis)
    if (!c.box.periodic[std::size_t(axis)])
      setup.error("k_max", fmt::format("wave vectors need a box that is periodic along {}",
                                       "xyz"[std::size_t(axis)]));
  if (wave_numbers_.empty() || wave_numbers_.size() > most_vectors)
    setup.error("k_max", fmt::format("leaves {}; got {}",
                                     wave_numbers_.empty() ? "no wave vector, or too many"
                                                           : "more than 1000000 wave vectors",
                                     settings.k_max));
  const auto mask = mask_.to_host();
  for (const auto t : c.type) scatterers_ += mask[t];
  if (scatterers_ == 0) setup.error("types", "there is no particle of these types");
  const auto b = reciprocal_lattice(c.box);
  std::vector<Vec3<std::int32_t>> numbers;
  for (const auto& n : wave_numbers_) {
    numbers.push_back({n[0], n[1], n[2]});
    const Vec3<double> k = double(n[0]) * b[0] + double(n[1]) * b[1] + double(n[2]) * b[2];
    wave_vectors_.insert(wave_vectors_.end(), {k.x, k.y, k.z});
  }
  numbers_ = {setup.device(), std::span<const Vec3<std::int32_t>>(numbers)};
  partial_ = {setup.device(), chunks * std::int64_t(numbers.size())};
  sum_ = {setup.device(), std::int64_t(numbers.size())};
}

void StructureFactor::begin(Simulation& simulation, bool resumed) {
  file_.begin(simulation, resumed, [this](const io::Node& root) {
    const hsize_t n = wave_numbers_.size();
    root.write("parameters/perrin/wave_numbers", {n, 3}, wave_numbers_.front().data());
    root.write("parameters/perrin/wave_vectors", {n, 3}, wave_vectors_.data());
  });
}

void StructureFactor::observe(Simulation& s) {
  const auto step = std::int64_t(s.step());
  if (step == last_sample_) return;
  last_sample_ = step;
  const std::int64_t vectors = numbers_.size();
  for_each(s.device(), "structure factor", chunks * vectors,
           Partial{s.particles.position.data(), mask_.data(), numbers_.data(), s.particles.size(),
                   vectors, partial_.data()});
  for_each(s.device(), "structure factor sums", vectors,
           Fold{partial_.data(), vectors, 1 / scatterers_, sum_.data()});
  ++samples_;
  if (step % settings_.rows_every != 0) return;
  std::vector<double> row = sum_.to_host();
  for (double& value : row) value /= double(samples_);
  file_.append(step, s.time(), std::move(row));
  sum_.zero();
  samples_ = 0;
}

void StructureFactor::end(Simulation& simulation) { file_.end(simulation); }

void StructureFactor::state(Archive& archive) {
  file_.state(archive);
  archive("samples", samples_);
  archive.require(samples_ >= 0, "samples", "at least 0");
  archive("last_sample", last_sample_);
  archive.require(last_sample_ >= (samples_ > 0 ? 0 : -1), "last_sample",
                  "the step of the last sample, or -1 where there is none");
  archive("sum", sum_);
}

void register_structure_factor(Registry& registry) {
  registry.add<Observer, StructureFactorSettings>(
      "structure_factor", "S(k) at all wave vectors of the box up to a length",
      [](const StructureFactorSettings& s, Setup& setup) {
        return std::make_unique<StructureFactor>(s, setup);
      });
}

}  // namespace perrin::analysis
