#include "energy_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "energy_history.h"
#include "engine/base/error.h"

namespace neutron {
namespace {

using perrin::UserError;
using perrin::exact::bits_of;

/// Of exponentials from 32-bit words, two of them: none is larger than ln 2^33.
constexpr double highest_of_maxwell = 46;
/// Relative deviation of what kernels interpolate from what the job says.
constexpr double tolerance = 1e-5;
constexpr int coarsest = 6, finest = 12;  // nodes in an octave, as powers of two
constexpr std::size_t most_nodes = std::size_t(1) << 22;
/// Between two faces that reflect a flight is followed through the slab again and again.
constexpr double least_between_mirrors = 1e-3;

struct Value {
  double total, scattering;
};

Value value_of(const EnergyLayer& layer, double energy) {
  const double total = layer.total ? (*layer.total)(energy)
                                   : (*layer.scattering)(energy) + (*layer.absorption)(energy);
  const double scattering =
      layer.scattering ? (*layer.scattering)(energy) : total - (*layer.absorption)(energy);
  return {total, scattering};
}

/// The same, checked.
Value checked(const EnergyLayer& layer, std::size_t k, double energy) {
  const auto fail = [&](const char* name, double value, const std::string& must) {
    throw UserError(fmt::format("layer {}: {} at the energy {:g} must be {}, got {:g}", k + 1, name,
                                energy, must, value));
  };
  const auto finite = [&](const char* name, const std::optional<Curve>& curve) {
    if (!curve) return;
    const double v = (*curve)(energy);
    if (!std::isfinite(v) || v < 0 || v > 1e30) fail(name, v, "from 0 to 1e+30");
  };
  finite("total", layer.total);
  finite("scattering", layer.scattering);
  finite("absorption", layer.absorption);
  const Value v = value_of(layer, energy);
  if (layer.total && layer.scattering && v.scattering > v.total * (1 + 1e-9))
    fail("scattering", v.scattering, fmt::format("at most total ({:g})", v.total));
  if (v.scattering < -1e-9 * v.total)
    fail("absorption", v.total - v.scattering, fmt::format("at most total ({:g})", v.total));
  return v;
}

/// For nodes beyond the range of energies what the curves say there, where that makes sense.
Value at_node(const EnergyLayer& layer, std::size_t k, double energy, double low, double high) {
  if (energy >= low && energy <= high) return checked(layer, k, energy);
  const Value v = value_of(layer, energy);
  if (std::isfinite(v.total) && v.total >= 0 && std::isfinite(v.scattering) && v.scattering >= 0)
    return v;
  return checked(layer, k, std::clamp(energy, low, high));
}

struct Deviation {
  double largest = 0, at = 0;
};

EnergyGrid grid_of(double low, double high, int fineness) {
  EnergyGrid grid;
  grid.shift = 23 - fineness;
  grid.first = bits_of<std::uint32_t>(float(low)) >> grid.shift;
  // One piece more: after a collision rounding may leave an energy just above the highest.
  const std::uint32_t last = (bits_of<std::uint32_t>(float(high)) >> grid.shift) + 2;
  grid.nodes = int(last - grid.first) + 1;
  return grid;
}

void fill(EnergyProblem& p, const std::vector<EnergyLayer>& layers) {
  p.table.clear();
  for (std::size_t k = 0; k < layers.size(); ++k)
    for (int node = 0; node < p.media.grid.nodes; ++node) {
      const Value v = at_node(layers[k], k, p.media.grid.energy(node), p.cutoff, p.highest);
      const auto total = float(v.total);
      p.table.push_back({total, std::clamp(float(v.scattering), 0.0f, total)});
    }
}

/// Of the interpolated cross-sections, relative to the total one, or to a millionth of its largest
/// value where it is smaller.
Deviation deviation(const EnergyProblem& p, const EnergyLayer& layer, std::size_t k) {
  const EnergyGrid& grid = p.media.grid;
  const CrossSections* table = p.table.data() + k * std::size_t(grid.nodes);
  double largest = 0;
  for (int node = 0; node < grid.nodes; ++node)
    largest = std::max(largest, double(table[node].total));
  Deviation worst;
  const auto look = [&](double energy) {
    if (energy < p.cutoff || energy > p.highest) return;
    const Value exact = checked(layer, k, energy);
    const CrossSections got = grid.at(table, float(energy));
    const double scale = std::max(exact.total, 1e-6 * largest);
    if (scale == 0) return;
    const double off =
        std::max(std::abs(got.total - exact.total), std::abs(got.scattering - exact.scattering)) /
        scale;
    if (off > worst.largest) worst = {off, energy};
  };
  for (int node = 0; node + 1 < grid.nodes; ++node) {
    const double a = grid.energy(node), b = grid.energy(node + 1);
    for (const double t : {0.25, 0.5, 0.75}) look(a + t * (b - a));
  }
  for (const auto* curve : {&layer.total, &layer.scattering, &layer.absorption})
    if (*curve)
      for (const double energy : (*curve)->energies()) look(energy);
  return worst;
}

bool all_constant(const EnergyLayer& layer) {
  for (const auto* curve : {&layer.total, &layer.scattering, &layer.absorption})
    if (*curve && !(*curve)->is_constant()) return false;
  return true;
}

/// The coarsest grid that is fine enough.
void tabulate(EnergyProblem& p, const std::vector<EnergyLayer>& layers) {
  for (std::size_t k = 0; k < layers.size(); ++k)
    for (const auto* curve : {&layers[k].total, &layers[k].scattering, &layers[k].absorption}) {
      if (!*curve || (*curve)->energies().empty()) continue;
      const double from = (*curve)->energies().front(), to = (*curve)->energies().back();
      if (from > p.cutoff || to < p.highest)
        throw UserError(fmt::format(
            "layer {}: a table from {:g} to {:g} must reach from cutoff_energy to the highest "
            "energy of the source, {:g} to {:g}",
            k + 1, from, to, p.cutoff, p.highest));
    }
  for (int fineness = coarsest;; ++fineness) {
    p.media.grid = grid_of(p.cutoff, p.highest, fineness);
    fill(p, layers);
    Deviation worst;
    std::size_t where = 0;
    for (std::size_t k = 0; k < layers.size(); ++k) {
      if (all_constant(layers[k])) continue;
      const Deviation d = deviation(p, layers[k], k);
      if (d.largest > worst.largest) worst = d, where = k;
    }
    if (worst.largest <= tolerance) return;
    if (fineness < finest && 2 * p.table.size() <= most_nodes) continue;
    p.warnings.push_back(fmt::format(
        "layer {}: cross-sections jump or bend sharply: {} values in each octave of the energy, "
        "linear between, are off by up to {:.1g} (at the energy {:g})",
        where + 1, 1 << fineness, worst.largest, worst.at));
    return;
  }
}

/// How long histories may become.
void bound(EnergyProblem& p, const EnergyDescription& d) {
  const EnergyGrid& grid = p.media.grid;
  const auto nodes = std::size_t(grid.nodes);
  p.least_h = std::numeric_limits<double>::infinity();
  double ratio = 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    double h = 0;
    for (std::size_t k = 0; k < d.layers.size(); ++k) {
      const CrossSections& c = p.table[k * nodes + node];
      h += d.layers[k].thickness * double(c.total);
      if (c.total > 0) ratio = std::max(ratio, double(c.scattering) / double(c.total));
    }
    p.least_h = std::min(p.least_h, h);
    p.most_h = std::max(p.most_h, h);
  }
  if (!(p.most_h > 0))
    throw UserError("the slab must have a total cross-section somewhere, at some energy");
  if (p.most_h > max_optical_thickness)
    throw UserError(
        fmt::format("the slab must be at most {:g} mean free paths thick at any "
                    "energy, got {:g}",
                    max_optical_thickness, p.most_h));
  const bool both = d.near_reflects && d.far_reflects;
  if (both && p.least_h < least_between_mirrors)
    throw UserError(fmt::format(
        "between two faces that reflect the slab must be at least {:g} mean free paths thick at "
        "every energy, got {:g}",
        least_between_mirrors, p.least_h));
  double heaviest = 0;
  bool slows = true;
  for (std::size_t k = 0; k < d.layers.size(); ++k) {
    const bool scatters = std::any_of(p.table.begin() + std::ptrdiff_t(k * nodes),
                                      p.table.begin() + std::ptrdiff_t((k + 1) * nodes),
                                      [](const CrossSections& c) { return c.scattering > 0; });
    if (!scatters) continue;
    if (d.layers[k].mass == 0) slows = false;
    heaviest = std::max(heaviest, d.layers[k].mass);
  }
  if (both && d.weighted && d.roulette == 0 && !slows)
    throw UserError(
        "weighted histories between two faces that reflect, without loss of energy, end by "
        "roulette alone: set \"roulette\"");
  // Each of these is a bound where it applies; the orders of magnitude are what matters.
  p.collisions = p.squares = std::numeric_limits<double>::infinity();
  const auto at_most = [&](double mean, double square) {
    if (mean < p.collisions) p.collisions = mean, p.squares = square;
  };
  if (!both) {
    const double h = p.most_h * (d.near_reflects || d.far_reflects ? 2 : 1);
    at_most(2 * (1 + h), std::pow(1 + h, 3));
  }
  if (ratio < 1) at_most(1 / (1 - ratio), 2 / ((1 - ratio) * (1 - ratio)));
  if (slows && heaviest == 0) at_most(1, 1);
  if (slows && heaviest > 0) {
    const double n = std::log(p.highest / p.cutoff) / mean_log_decrement(heaviest) + 3;
    at_most(n, 2 * n * n);
  }
  p.tracks = (p.collisions + 1) * 30 * (both ? 1 + 1 / p.least_h : 1);
  if (!std::isfinite(p.collisions))
    throw UserError(
        "nothing ends a history between two faces that reflect: no absorption at some energy, and "
        "a layer that scatters without \"mass\"");
  if (p.largest_batch(d.weighted) < 100)
    throw UserError(
        fmt::format("histories are too long for sums in 64 bits: up to some {:.1g} collisions, "
                    "{:.1g} thicknesses of the slab",
                    p.collisions, p.tracks));
}

}  // namespace

double mean_log_decrement(double mass) {
  if (mass == 1) return 1;
  if (mass > 1000) return 2 / (mass + 2.0 / 3);
  const double root = (mass - 1) / (mass + 1), alpha = root * root;
  return 1 + alpha * std::log(alpha) / (1 - alpha);
}

void tabulate_density(const Curve& curve, double low, double high, EnergySource& source) {
  for (int fineness = coarsest;; ++fineness) {
    const EnergyGrid grid = grid_of(low, high, fineness);
    source.energies = {low};
    for (int k = 0; k < grid.nodes; ++k)
      if (const double e = grid.energy(k); e > low && e < high) source.energies.push_back(e);
    source.energies.push_back(high);
    source.values.clear();
    double trapezes = 0, simpson = 0;
    const auto value = [&](double energy) {
      const double v = curve(energy);
      if (!std::isfinite(v) || v < 0)
        throw UserError(
            fmt::format("the spectrum at the energy {:g} must be finite and not negative, got {:g}",
                        energy, v));
      return v;
    };
    for (const double energy : source.energies) source.values.push_back(value(energy));
    for (std::size_t k = 0; k + 1 < source.energies.size(); ++k) {
      const double a = source.energies[k], b = source.energies[k + 1];
      const double ends = (source.values[k] + source.values[k + 1]) / 2;
      trapezes += (b - a) * ends;
      simpson += (b - a) * (ends + 2 * value((a + b) / 2)) / 3;
    }
    if (!(trapezes > 0)) throw UserError("the spectrum must not be 0 everywhere");
    if (std::abs(trapezes - simpson) <= 1e-5 * simpson || fineness == finest) return;
  }
}

EnergyProblem EnergyProblem::of(const EnergyDescription& d) {
  PERRIN_ASSERT(!d.layers.empty() && int(d.layers.size()) <= max_layers);
  EnergyProblem p;
  p.cutoff = d.cutoff;
  p.depth_bins = d.depth_bins;
  p.energy_bins = d.energy_bins;
  const EnergySource& s = d.source;
  p.highest = s.spectrum == NeutronSource::one_energy ? s.energy
              : s.spectrum == NeutronSource::maxwell  ? highest_of_maxwell * s.energy
                                                      : s.energies.back();
  if (!(p.highest > p.cutoff))
    throw UserError(
        fmt::format("the source must reach above cutoff_energy ({:g}), its highest energy is {:g}",
                    p.cutoff, p.highest));
  if (s.spectrum == NeutronSource::density)
    p.spectrum = perrin::Density<float>::of(s.energies, s.values);
  for (const EnergyLayer& layer : d.layers) p.thickness += layer.thickness;
  tabulate(p, d.layers);
  bound(p, d);

  Media& m = p.media;
  m.layers = int(d.layers.size());
  m.per_length = float(double(d.depth_bins) / p.thickness);
  m.per_slab = float(1 / p.thickness);
  double begin = 0;
  for (std::size_t k = 0; k < d.layers.size(); ++k) {
    const EnergyLayer& layer = d.layers[k];
    m.layer[k].thickness = float(layer.thickness);
    m.layer[k].begin = float(begin * double(d.depth_bins) / p.thickness);
    if (layer.mass > 0) m.layer[k].nucleus = Nucleus::of(layer.mass);
    begin += layer.thickness;
  }
  m.roulette = float(d.roulette);
  m.near_reflects = d.near_reflects;
  m.far_reflects = d.far_reflects;
  m.cutoff = float(d.cutoff);
  m.log_cutoff = perrin::exact::log(m.cutoff);
  m.per_log = float(d.energy_bins / std::log(p.highest / p.cutoff));
  m.source.direction = s.direction;
  m.source.spectrum = s.spectrum;
  m.source.mu = float(s.mu);
  m.source.energy = float(s.energy);
  return p;
}

double EnergyProblem::largest_batch(bool weighted) const {
  const double counted =
      0x1p59 / std::max(squares * double(square_unit), tracks * double(spectrum_flux_unit));
  return std::floor(std::min({counted, 0x1p30, weighted ? 0x1p62 / double(weight_unit) : 0x1p30}));
}

std::vector<double> EnergyProblem::energy_edges() const {
  std::vector<double> edges;
  for (int k = 0; energy_bins > 0 && k <= energy_bins; ++k)
    edges.push_back(cutoff * std::pow(highest / cutoff, double(k) / energy_bins));
  return edges;
}

std::uint64_t EnergyProblem::fingerprint() const {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a, by words
  const auto add = [&](double value) {
    hash = (hash ^ bits_of<std::uint64_t>(value)) * 1099511628211u;
    hash ^= hash >> 29;
  };
  for (const CrossSections& c : table) add(double(c.total)), add(double(c.scattering));
  for (int k = 0; k < media.layers; ++k)
    add(double(media.layer[k].thickness)), add(double(media.layer[k].nucleus.mass));
  for (const float x : spectrum.x) add(double(x));
  for (const float slant : spectrum.slant) add(double(slant));
  for (const std::uint32_t until : spectrum.until) add(double(until));
  for (const double value :
       {cutoff, highest, double(media.near_reflects), double(media.far_reflects),
        double(media.source.direction), double(media.source.spectrum), double(media.source.mu),
        double(media.source.energy), double(energy_bins)})
    add(value);
  return hash;
}

}  // namespace neutron
