#include "rdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "distances.h"
#include "engine/system/changed_since.h"

namespace perrin::metropolis {

Rdf::Rdf(const Model& model, int bins, double range, bool own_molecule, bool all_pairs)
    : own_molecule_(own_molecule), all_pairs_(all_pairs), bins_(bins), width_(range / bins) {
  const std::size_t n = model.types.size();
  std::vector<double> molecules(model.templates.size()), sites(n);
  for (const std::uint32_t t : model.molecule) ++molecules[t];
  std::vector<std::vector<double>> inside(model.templates.size(), std::vector<double>(n));
  for (std::size_t t = 0; t < inside.size(); ++t)
    for (const auto& site : model.templates[t].sites) {
      ++inside[t][site.type];
      sites[site.type] += molecules[t];
    }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a; b < n; ++b) {
      names_.push_back(model.types[a] + "-" + model.types[b]);
      double pairs = sites[a] * sites[b];
      if (all_pairs && a == b) pairs -= sites[a];
      for (std::size_t t = 0; t < inside.size() && !own_molecule && !all_pairs; ++t)
        pairs -= molecules[t] * inside[t][a] * inside[t][b];
      pairs_.push_back(a == b ? pairs / 2 : pairs);
    }
  clear();
}

void Rdf::clear() {
  counts_.assign(names_.size() * std::size_t(bins_), 0);
  samples_ = 0;
  density_sum_ = 0;
  reach_ = bins_;
}

Rdf::Sample Rdf::sample(System& system) const {
  const Vec3<double>& box = system.box();
  const double half = std::min({box.x, box.y, box.z}) / 2;
  std::vector<std::int64_t> counts = count_distances(system, width_, bins_);
  if (own_molecule_) add_own_distances(system, width_, bins_, counts);
  WorkDistribution::sum(counts);
  return {std::move(counts), double(system.replicas()) / system.model().volume(),
          int(std::min(double(bins_), std::floor(half / width_ * (1 + 1e-9))))};
}

void Rdf::add(const Sample& sample) {
  for (std::size_t k = 0; k < counts_.size(); ++k) counts_[k] += sample.counts[k];
  ++samples_;
  density_sum_ += sample.density;
  reach_ = std::min(reach_, sample.reach);
}

std::vector<double> Rdf::values(std::size_t pair) const {
  std::vector<double> g(static_cast<std::size_t>(bins_));
  for (std::size_t k = 0; k < g.size(); ++k) {
    const double inner = double(k) * width_, outer = double(k + 1) * width_;
    const double shell = 4 * std::numbers::pi / 3 * (outer * outer * outer - inner * inner * inner);
    const double ideal = pairs_[pair] * shell * density_sum_;
    if (ideal > 0) g[k] = double(counts_[pair * g.size() + k]) / ideal;
    if (int(k) >= reach_) g[k] = std::numeric_limits<double>::quiet_NaN();
  }
  return g;
}

bool Rdf::state(Archive& archive) {
  int bins = bins_;
  if (changed_since(archive, "bins", bins_, &bins))
    throw UserError(fmt::format(
        "rdf.bins: the checkpoint's distributions have {} bins, a resumed run cannot have {}", bins,
        bins_));
  bool other_pairs = changed_since(archive, "own_molecule", own_molecule_);
  // Earlier versions had no such divisor.
  other_pairs |=
      archive.has("all_pairs") ? changed_since(archive, "all_pairs", all_pairs_) : all_pairs_;
  const bool changed = changed_since(archive, "width", width_) || other_pairs;
  const std::size_t size = counts_.size();
  archive("counts", counts_);
  archive.require(counts_.size() == size && std::all_of(counts_.begin(), counts_.end(),
                                                        [](std::int64_t n) { return n >= 0; }),
                  "counts", "as many numbers as there are bins, none negative");
  archive("samples", samples_);
  archive.require(samples_ >= 0, "samples", "at least 0");
  archive("density_sum", density_sum_);
  archive.require(density_sum_ >= 0, "density_sum", "at least 0");
  archive("reach", reach_);
  archive.require(reach_ >= 0 && reach_ <= bins_, "reach", "from 0 to the number of bins");
  if (changed) clear();
  return changed;
}

}  // namespace perrin::metropolis
