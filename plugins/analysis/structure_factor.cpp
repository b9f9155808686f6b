#include "structure_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/dynamics/observation.h"
#include "io/h5md_elements.h"
#include "rng/math.h"
#include "types.h"

namespace perrin::analysis {
namespace {

constexpr std::int64_t chunks = 64;  // partial sums over the particles, in a fixed order
constexpr std::size_t most_vectors = 1000000;

struct Partial {
  const Position* position;
  const std::uint32_t* id;
  const std::int32_t* group;  // of each type; -1: none
  GroupMask members;
  const Vec3<std::int32_t>* numbers;
  std::int64_t n, vectors, groups;
  // [(chunk · groups + group) · vectors + vector]: neighbouring threads read the same particle
  Vec3<double>* partial;

  PERRIN_HD void operator()(std::int64_t t) const {
    const std::int64_t part = t / vectors, chunk = part / groups, own = part % groups;
    const auto k = numbers[t - part * vectors];
    double re = 0, im = 0;
    for (std::int64_t i = n * chunk / chunks; i < n * (chunk + 1) / chunks; ++i) {
      const Position p = position[i];
      if (group[p.type()] != own || !members.has(id[i])) continue;
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
  std::int64_t vectors, groups;
  const double* scatterers;  // [group], and behind them all
  bool pairs;
  double* sum;  // [vector], and behind it [pair of groups][vector]

  /// The sum of exp(i k·r) over a group.
  PERRIN_HD Vec3<double> amplitude(std::int64_t k, std::int64_t group) const {
    double re = 0, im = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const Vec3<double> p = partial[(chunk * groups + group) * vectors + k];
      re += p.x, im += p.y;
    }
    return {re, im, 0};
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    Vec3<double> all = amplitude(k, 0);
    for (std::int64_t g = 1; g < groups; ++g) all += amplitude(k, g);
    sum[k] += 1 / scatterers[groups] * (all.x * all.x + all.y * all.y);
    double* pair = sum + vectors + k;
    for (std::int64_t a = 0; pairs && a < groups; ++a) {
      const Vec3<double> first = amplitude(k, a);
      for (std::int64_t b = a; b < groups; ++b, pair += vectors)
        *pair += dot(first, amplitude(k, b)) / std::sqrt(scatterers[a] * scatterers[b]);
    }
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

/// How many particles of each type scatter. Mistakes are reported.
std::vector<std::int64_t> count_scatterers(const StructureFactorSettings& settings, Setup& setup) {
  const Configuration& c = setup.configuration();
  const auto chosen = fixed_selection(settings.types, settings.group, setup);
  std::vector<std::int64_t> count(c.types.size(), 0);
  for (std::size_t id = 0; id < chosen.size(); ++id) count[c.type[id]] += chosen[id];
  return count;
}

/// The groups: each type that scatters for itself, or all together; -1: it does not.
std::vector<std::int32_t> choose_groups(const StructureFactorSettings& settings,
                                        const std::vector<std::int64_t>& scatterers, Setup& setup,
                                        std::vector<std::string>* names = nullptr) {
  const Configuration& c = setup.configuration();
  std::vector<std::int32_t> groups(scatterers.size(), -1);
  std::int32_t next = 0;
  for (std::size_t t = 0; t < scatterers.size(); ++t) {
    if (scatterers[t] == 0) continue;
    groups[t] = settings.partial ? next++ : 0;
    if (names) names->push_back(c.types[t]);
  }
  return groups;
}

std::vector<io::ObservableColumn> columns(const StructureFactorSettings& settings, Setup& setup) {
  const hsize_t vectors =
      std::max<hsize_t>(1, choose_numbers(setup.configuration().box, settings.k_max).size());
  std::vector<io::ObservableColumn> list{{"structure_factor", {vectors}, ""}};
  if (!settings.partial) return list;
  const auto groups = choose_groups(settings, count_scatterers(settings, setup), setup);
  const hsize_t n = hsize_t(1 + *std::max_element(groups.begin(), groups.end()));
  list.push_back({"partial_structure_factor", {n * (n + 1) / 2, vectors}, ""});
  return list;
}

}  // namespace

StructureFactor::StructureFactor(const StructureFactorSettings& settings, Setup& setup)
    : SampledObserver(settings, columns(settings, setup), setup),
      partial_by_type_(settings.partial),
      wave_numbers_(choose_numbers(setup.configuration().box, settings.k_max)),
      wave_vector_unit_(setup.units().reduced() ? "" : setup.units().length + "-1") {
  const Configuration& c = setup.configuration();
  for (int axis = 0; axis < c.box.dimension; ++axis)
    if (!c.box.periodic[std::size_t(axis)])
      setup.error("k_max", fmt::format("wave vectors need a box that is periodic along {}",
                                       "xyz"[std::size_t(axis)]));
  if (wave_numbers_.empty() || wave_numbers_.size() > most_vectors)
    setup.error("k_max", fmt::format("gives {}; got {}",
                                     wave_numbers_.empty() ? "no wave vector, or too many"
                                                           : "more than 1000000 wave vectors",
                                     settings.k_max));
  std::vector<std::string> types;
  const auto number = count_scatterers(settings, setup);
  const auto groups = choose_groups(settings, number, setup, &types);
  groups_ = types.empty() || !settings.partial ? 1 : std::int64_t(types.size());
  std::vector<double> scatterers(std::size_t(groups_) + 1);
  for (std::size_t t = 0; t < groups.size(); ++t)
    if (groups[t] >= 0)
      scatterers[std::size_t(groups[t])] += double(number[t]),
          scatterers.back() += double(number[t]);
  for (std::size_t a = 0; settings.partial && a < types.size(); ++a)
    for (std::size_t k = a; k < types.size(); ++k) pairs_.push_back(types[a] + "-" + types[k]);
  group_ = {setup.device(), std::span<const std::int32_t>(groups)};
  if (const Group* const members = setup.group(settings.group, "group"))
    members_ = {setup.device(), *members};
  scatterers_ = {setup.device(), std::span<const double>(scatterers)};
  const auto b = reciprocal_lattice(c.box);
  std::vector<Vec3<std::int32_t>> numbers;
  for (const auto& n : wave_numbers_) {
    numbers.push_back({n[0], n[1], n[2]});
    const Vec3<double> k = double(n[0]) * b[0] + double(n[1]) * b[1] + double(n[2]) * b[2];
    wave_vectors_.insert(wave_vectors_.end(), {k.x, k.y, k.z});
  }
  numbers_ = {setup.device(), std::span<const Vec3<std::int32_t>>(numbers)};
  const auto vectors = std::int64_t(numbers.size());
  partial_ = {setup.device(), chunks * groups_ * vectors};
  sum_ = {setup.device(), vectors * std::int64_t(1 + pairs_.size())};
}

void StructureFactor::constants(const io::Node& root) {
  const hsize_t n = wave_numbers_.size();
  root.write("parameters/perrin/wave_numbers", {n, 3}, wave_numbers_.front().data());
  const auto vectors = root.write("parameters/perrin/wave_vectors", {n, 3}, wave_vectors_.data());
  if (!wave_vector_unit_.empty()) vectors.attribute("unit", wave_vector_unit_);
  if (!pairs_.empty()) io::write_names(root, "parameters/perrin/pairs", pairs_);
}

void StructureFactor::sample(const Observation& s) {
  const std::int64_t vectors = numbers_.size();
  for_each(s.device(), "structure factor", chunks * groups_ * vectors,
           Partial{s.particles().position().data(), s.particles().id().data(), group_.data(),
                   members_.mask(), numbers_.data(), s.particles().size(), vectors, groups_,
                   partial_.data()});
  for_each(
      s.device(), "structure factor sums", vectors,
      Fold{partial_.data(), vectors, groups_, scatterers_.data(), partial_by_type_, sum_.data()});
}

std::vector<double> StructureFactor::row(const Box&) {
  std::vector<double> row = sum_.to_host();
  for (double& value : row) value /= double(samples());
  sum_.zero();
  return row;
}

void StructureFactor::sums(Archive& archive) { archive("sum", sum_); }

void register_structure_factor(Registry& registry) {
  registry.add<Observer, StructureFactorSettings>(
      "structure_factor", "structure factor S(k) at all wave vectors of the box up to k_max",
      [](const StructureFactorSettings& s, Setup& setup) {
        return std::make_unique<StructureFactor>(s, setup);
      });
}

}  // namespace perrin::analysis
