#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "io/lattice_cell.h"
#include "io/placement.h"
#include "io/sources.h"

namespace perrin {
namespace {

using io::Cell;
using io::cell_of;

class Lattice : public Source {
 public:
  Lattice(const LatticeSettings& s, std::uint64_t seed) : settings_(s), seed_(seed) {}

  Configuration make() override {
    const Cell cell = cell_of(settings_.structure);
    const auto per_cell = std::int64_t(cell.sites.size());
    const auto cells = count_cells(cell);
    const std::int64_t sites = per_cell * cells[0] * cells[1] * cells[2];
    const std::int64_t n = settings_.particles.value_or(sites);
    const double unit = cell.edges.x * cell.edges.y * cell.edges.z;
    // With empty sites the density is that of the particles.
    const double constant =
        settings_.lattice_constant
            ? *settings_.lattice_constant
            : std::pow(double(n) / (double(sites) / double(per_cell) * unit * *settings_.density),
                       1.0 / cell.dimension);
    Vec3<double> a = constant * cell.edges;
    if (cell.dimension == 2) a.z = 1;
    Configuration c;
    c.box =
        io::centred_box({a.x * double(cells[0]), a.y * double(cells[1]), a.z * double(cells[2])},
                        cell.dimension, settings_.periodic);
    std::vector<char> used(std::size_t(sites), 1);
    if (n < sites) {
      const auto order =
          io::shuffled(Purpose::initial_positions, seed_, static_cast<std::uint32_t>(sites));
      for (auto k = std::size_t(n); k < order.size(); ++k) used[order[k]] = 0;
    }
    std::size_t site = 0;
    for (std::int64_t x = 0; x < cells[0]; ++x)
      for (std::int64_t y = 0; y < cells[1]; ++y)
        for (std::int64_t z = 0; z < cells[2]; ++z)
          for (const auto& s : cell.sites) {
            if (used[site++] == 0) continue;
            c.position.push_back(c.box.origin + Vec3<double>{a.x * (double(x) + s.x),
                                                             a.y * (double(y) + s.y),
                                                             a.z * (double(z) + s.z)});
            if (cell.dimension == 2) c.position.back().z = 0;
          }
    assign_types(c);
    c.mass = masses_of(settings_.masses, c.types, c.type);
    return c;
  }

 private:
  std::array<std::int64_t, 3> count_cells(const Cell& cell) const {
    if (settings_.cells) {
      const auto& k = *settings_.cells;
      return {k[0], k[1], cell.dimension == 2 ? 1 : k[2]};
    }
    const auto per_cell = std::int64_t(cell.sites.size());
    if (cell.dimension == 3) {
      std::int64_t k = 1;
      while (per_cell * k * k * k < *settings_.particles) ++k;
      return {k, k, k};
    }
    // As square as the cell allows.
    for (std::int64_t y = 1;; ++y) {
      const auto x = std::int64_t(std::ceil(double(y) * cell.edges.y / cell.edges.x - 1e-9));
      if (per_cell * x * y >= *settings_.particles) return {x, y, 1};
    }
  }

  void assign_types(Configuration& c) const {
    const auto count = io::apportion(settings_.types, c.position.size());
    for (const auto& [name, share] : settings_.types) c.types.push_back(name);
    c.type = io::types_at_random(count, seed_);
  }

  LatticeSettings settings_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Source> make_lattice(const LatticeSettings& s, Setup& setup) {
  bool good = true;
  const auto wrong = [&](const std::string& key, const std::string& what) {
    setup.error(key, what);
    good = false;
  };
  if (s.density.has_value() == s.lattice_constant.has_value())
    wrong(s.density ? "lattice_constant" : "density", "give either density or lattice_constant");
  if (s.cells.has_value() == s.particles.has_value())
    wrong(s.cells ? "particles" : "cells", "give either cells or particles");
  if (s.types.empty()) wrong("types", "must name at least one type");
  double sites = s.particles ? double(*s.particles) : 8;
  if (s.cells)
    for (const auto k : *s.cells) sites *= double(std::max(k, 1));  // 0: two entries
  if (s.cells && (*s.cells)[2] == 0 && cell_of(s.structure).dimension == 3)
    wrong("cells", "must be a list of 3 positive integers, got 2");
  if (!check_count(sites, s.cells ? "cells" : "particles", setup)) good = false;
  std::vector<std::string> names;
  for (const auto& [name, share] : s.types) names.push_back(name);
  check_masses(s.masses, names, setup);
  if (!good) return nullptr;
  return std::make_unique<Lattice>(s, setup.seed());
}

std::vector<double> masses_of(const std::map<std::string, double>& by_type,
                              const std::vector<std::string>& types,
                              const std::vector<std::uint32_t>& type) {
  if (by_type.empty()) return {};
  std::vector<double> masses;
  for (const std::uint32_t t : type) {
    const auto it = by_type.find(types[t]);
    masses.push_back(it == by_type.end() ? 1.0 : it->second);
  }
  return masses;
}

bool check_count(double n, const char* key, Setup& setup) {
  constexpr double bytes_each = 250;  // about, without lists of neighbours
  const double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  if (!(n < 4294967295.0))
    setup.error(key,
                fmt::format("too many: at most 2^32 - 2 particles are possible, got {:.6g}", n));
  else if (n * bytes_each > memory)
    setup.error(
        key,
        fmt::format("too many: {:.6g} particles need about {:.3g} GiB, this machine has {:.3g}", n,
                    n * bytes_each / 1073741824, memory / 1073741824));
  else
    return true;
  return false;
}

void check_masses(const std::map<std::string, double>& by_type,
                  const std::vector<std::string>& types, Setup& setup) {
  for (const auto& [name, mass] : by_type)
    if (std::ranges::count(types, name) == 0)
      setup.error("masses", fmt::format("unknown type \"{}\"; the types are {}", name,
                                        fmt::join(types, ", ")));
}

Box box_for(const std::optional<double>& density, const std::optional<Vec3<double>>& edges,
            std::int64_t n, int dimension, const std::array<bool, 3>& periodic, Setup& setup) {
  if (density.has_value() == edges.has_value()) {
    setup.error(density ? "box" : "density", "give either density or box");
    return io::centred_box({1, 1, 1}, dimension, periodic);
  }
  if (edges) {
    const bool flat = edges->z == 0;  // two entries
    if (flat && dimension == 3) setup.error("box", "must be a list of 3 positive numbers, got 2");
    return io::centred_box({edges->x, edges->y, flat ? 1 : edges->z}, dimension, periodic);
  }
  const double l = std::pow(double(n) / *density, 1.0 / dimension);
  return io::centred_box({l, l, l}, dimension, periodic);
}

}  // namespace perrin
