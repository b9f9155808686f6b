#include "rdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/dynamics/observation.h"
#include "engine/system/changed_since.h"
#include "io/file_units.h"
#include "io/h5md_elements.h"

namespace perrin::analysis {
namespace {

constexpr std::int64_t copies = 64;

struct Histogram {
  const std::int32_t* of;  // [type · types + type]
  std::int32_t types;
  std::int64_t bins;
  double per_length;

  /// Place of a pair, -1: none.
  PERRIN_HD std::int64_t place(const Position& a, const Position& b, double distance2) const {
    const std::int32_t h = of[std::int32_t(a.type()) * types + std::int32_t(b.type())];
    const auto bin = std::int64_t(std::sqrt(distance2) * per_length);
    return h < 0 || bin >= bins ? -1 : h * bins + bin;
  }
};

PERRIN_HD void add(std::int64_t* place, std::int64_t value) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
#else
  *place += value;  // a copy belongs to one thread
#endif
}

struct CountPairs {
  PairGrid::View grid;
  Histogram histogram;
  const std::uint32_t *id, *molecule;  // molecule: nullptr where it does not matter
  PairsOfGroups groups;
  std::int64_t size;  // of a copy
  std::int64_t* copy;

  PERRIN_HD void particle(std::int64_t k, std::int64_t* own) const {
    const Position p = grid.position[k];
    const std::uint32_t mine = molecule ? molecule[id[grid.member[k]]] : 0;
    const std::uint32_t in = groups.in ? groups.of(id[grid.member[k]]) : 3;
    if (in == 0) return;
    grid.around(k, false, [&](std::int64_t m, const Vec3<double>&, double d2) {
      if (groups.in && !PairsOfGroups::has(in, groups.of(id[grid.member[m]]))) return;
      if (molecule && molecule[id[grid.member[m]]] == mine) return;
      const std::int64_t place = histogram.place(p, grid.position[m], d2);
      if (place >= 0) add(own + place, 1);
    });
  }
  /// On the CPU a task has a copy, on a GPU many threads share one.
  PERRIN_HD void operator()(std::int64_t t) const {
#ifdef __CUDA_ARCH__
    particle(t, copy + t % copies * size);
#else
    for (std::int64_t k = grid.n * t / copies; k < grid.n * (t + 1) / copies; ++k)
      particle(k, copy + t * size);
#endif
  }
};

struct AddCopies {
  std::int64_t size;
  std::int64_t *copy, *counts;
  PERRIN_HD void operator()(std::int64_t k) const {
    for (std::int64_t c = 0; c < copies; ++c) {
      counts[k] += copy[c * size + k];
      copy[c * size + k] = 0;
    }
  }
};

/// Takes off again what was counted of bonded pairs.
struct TakeOffBonds {
  ConstParticleView p;
  Lengths lengths;
  Histogram histogram;
  double distance2;
  const std::uint32_t* bonds;
  std::int64_t* counts;
  PERRIN_HD void operator()(std::int64_t k) const {
    const Position a = p.position[p.index[bonds[2 * k]]], b = p.position[p.index[bonds[2 * k + 1]]];
    const Vec3<double> d = lengths.between(a, b);
    const double d2 = dot(d, d);
    if (!(d2 < distance2)) return;
    const std::int64_t place = histogram.place(a, b, d2);
    if (place < 0) return;
#ifdef __CUDA_ARCH__
    add(counts + place, -1);
#else
    __atomic_fetch_sub(counts + place, 1, __ATOMIC_RELAXED);
#endif
  }
};

std::vector<io::ObservableColumn> columns(const RdfSettings& s, const RdfPairs& pairs,
                                          Setup& setup) {
  const auto length = io::file_length(setup.units());
  const hsize_t bins = hsize_t(s.bins);
  return {{"r", {bins}, length.name, length.factor}, {"rdf", {pairs.kinds().size(), bins}, ""}};
}

}  // namespace

Rdf::Rdf(const RdfSettings& settings, Setup& setup)
    : Rdf(settings, setup, RdfPairs(settings, setup)) {}

Rdf::Rdf(const RdfSettings& settings, Setup& setup, RdfPairs pairs)
    : SampledObserver(settings, columns(settings, pairs, setup), setup),
      dimension_(setup.configuration().box.dimension),
      bins_(settings.bins),
      r_max_(settings.r_max),
      kind_(settings.exclude),
      types_(std::int32_t(setup.configuration().types.size())),
      pairs_(std::move(pairs)) {
  const Configuration& c = setup.configuration();
  for (int axis = 0; axis < dimension_; ++axis)
    if (!c.box.periodic[std::size_t(axis)]) {
      setup.error(
          "type",
          fmt::format("rdf needs a box that is periodic along {}, since faces would cut shells",
                      "xyz"[std::size_t(axis)]));
      return;
    }
  const double most = half_height(c.box);
  if (r_max_ == 0) r_max_ = most;
  if (r_max_ > most * (1 + 1e-12)) {
    setup.error("r_max", fmt::format("must be at most half the shortest distance between opposite "
                                     "faces of the box ({:.6g}), got {:.6g}",
                                     most, r_max_));
    return;
  }
  grid_ = std::make_unique<PairGrid>(setup.device(), std::int64_t(c.type.size()), c.box, r_max_);
  counts_ = {setup.device(), std::int64_t(pairs_.kinds().size()) * bins_};
  copies_ = {setup.device(), copies * counts_.size()};
}

void Rdf::constants(const io::Node& root) {
  std::vector<std::string> names;
  for (const RdfPairs::Kind& kind : pairs_.kinds()) names.push_back(kind.name);
  io::write_names(root, "parameters/perrin/pairs", names);
}

void Rdf::sample(const Observation& s) {
  const Device& device = s.device();
  grid_->build_within(s.particles().position().data(), s.particles().box());
  reach_ = std::min(reach_, half_height(s.particles().box()) * (1 + 1e-12));
  const Histogram histogram{pairs_.kind_of().data(), types_, bins_, double(bins_) / r_max_};
  const Buffer<std::uint32_t>&molecule = pairs_.molecule(), &bonds = pairs_.bonds();
  const PairGrid::View grid = grid_->view();
  const CountPairs count{grid,
                         histogram,
                         s.particles().id().data(),
                         molecule.size() > 0 ? molecule.data() : nullptr,
                         pairs_.in_groups(),
                         counts_.size(),
                         copies_.data()};
  if (device.is_cuda())
    for_each(device, "rdf", grid.n, count);
  else
    for_tasks(device, copies, [&](std::int64_t task, int) { run_range(count, task, task + 1); });
  for_each(device, "rdf sums", counts_.size(),
           AddCopies{counts_.size(), copies_.data(), counts_.data()});
  for_each(device, "rdf bonds", bonds.size() / 2,
           TakeOffBonds{s.particles().view(), grid.lengths, histogram, grid.distance2, bonds.data(),
                        counts_.data()});
}

std::vector<double> Rdf::row(const Box&) {
  const auto counts = counts_.to_host();
  const double width = r_max_ / double(bins_), volume = this->volume();
  std::vector<double> row;
  for (std::int64_t k = 0; k < bins_; ++k) row.push_back((double(k) + 0.5) * width);
  const std::vector<RdfPairs::Kind>& kinds = pairs_.kinds();
  for (std::size_t p = 0; p < kinds.size(); ++p) {
    for (std::int64_t k = 0; k < bins_; ++k) {
      const double inner = double(k) * width, outer = double(k + 1) * width;
      const double shell = dimension_ == 2
                               ? M_PI * (outer * outer - inner * inner)
                               : 4 * M_PI / 3 * (outer * outer * outer - inner * inner * inner);
      const double ideal = double(samples()) * kinds[p].number * shell / volume;
      const double counted = double(counts[p * std::size_t(bins_) + std::size_t(k)]);
      if (outer > reach_)
        row.push_back(std::numeric_limits<double>::quiet_NaN());
      else
        row.push_back(ideal > 0 ? counted / ideal : 0.0);
    }
  }
  counts_.zero();
  reach_ = std::numeric_limits<double>::max();
  return row;
}

void Rdf::sums(Archive& archive) {
  std::string now = fmt::format("r_max {}, exclude {}, ", r_max_, kind_), before;
  if (!pairs_.groups().empty()) now += pairs_.groups() + ", ";
  now += "pairs";
  for (const RdfPairs::Kind& kind : pairs_.kinds()) now += " " + kind.name;
  if (changed_since(archive, "counted", now, &before))
    throw UserError(fmt::format(
        "rdf: the checkpoint has counts of {}; a resumed run cannot change to {}", before, now));
  if (archive.has("reach")) archive("reach", reach_);
  archive.require(reach_ > 0, "reach", "a positive length");
  archive("counts", counts_);
  const auto counts = counts_.to_host();
  archive.require(std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n >= 0; }),
                  "counts", "not negative");
}

void register_rdf(Registry& registry) {
  registry.add<Observer, RdfSettings>(
      "rdf", "radial distribution functions by pairs of types",
      [](const RdfSettings& s, Setup& setup) { return std::make_unique<Rdf>(s, setup); });
}

}  // namespace perrin::analysis
