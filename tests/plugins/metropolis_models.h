// Models for the tests and benchmarks of the Metropolis plug-in.
#pragma once

#include <cmath>
#include <numbers>

#include "plugins/metropolis/make_engine.h"
#include "rng/keyed.h"

namespace perrin::metropolis {

/// n molecules of one template on a simple cubic lattice, with random orientations.
inline Placement lattice(const Model& model, std::uint64_t seed = 1) {
  Placement p;
  const std::size_t n = model.molecule.size();
  const int edge = int(std::ceil(std::cbrt(double(n)) - 1e-9));
  for (std::size_t i = 0; i < n; ++i) {
    const int x = int(i) % edge, y = int(i) / edge % edge, z = int(i) / edge / edge;
    p.centre.push_back({(x + 0.5) * model.box.x / edge, (y + 0.5) * model.box.y / edge,
                        (z + 0.5) * model.box.z / edge});
    auto g = keyed<Philox>(Purpose::test, seed, 0, std::uint32_t(i));
    const auto a = g.normal_pair<double>(), b = g.normal_pair<double>();
    p.orientation.push_back({a.first, a.second, b.first, b.second});
  }
  return p;
}

/// n molecules of `sites` of one type at the given density of molecules, Lennard-Jones with
/// sigma = epsilon = 1.
inline Model one_kind(std::vector<Vec3<double>> sites, std::size_t n, double density, double kT = 1,
                      double cutoff = 0) {
  Model m;
  m.types = {"A"};
  MoleculeTemplate t{"molecule", {}};
  for (const auto& s : sites) t.sites.push_back({0, s});
  m.templates = {t};
  m.molecule.assign(n, 0);
  m.pairs = {{PairKind::lennard_jones, 1, 1, 0, cutoff, 0}};
  const double edge = std::cbrt(double(n) / density);
  m.box = {edge, edge, edge};
  m.kT = kT;
  return m;
}

inline Model atoms(std::size_t n, double density, double kT = 1, double cutoff = 0) {
  return one_kind({{0, 0, 0}}, n, density, kT, cutoff);
}
inline Model dimers(std::size_t n, double density, double kT = 1) {
  return one_kind({{0.25, 0, 0}, {-0.25, 0, 0}}, n, density, kT);
}
/// nm, kJ/mol: six sites on a ring.
inline Model benzene(std::size_t n, double edge, double kelvin = 298) {
  std::vector<Vec3<double>> ring;
  for (int k = 0; k < 6; ++k)
    ring.push_back({0.139 * std::cos(k * std::numbers::pi / 3),
                    0.139 * std::sin(k * std::numbers::pi / 3), 0});
  Model m = one_kind(ring, n, 1);
  m.pairs = {{PairKind::lennard_jones, 0.375, 0.46, 0, 0, 0}};
  m.box = {edge, edge, edge};
  m.kT = 0.00831446261815324 * kelvin;
  return m;
}
/// nm, kJ/mol: 1000 atoms in 3.62 nm at 84.4 K, or others at that density.
inline Model argon(std::size_t n, double edge = 0, double kelvin = 84.4) {
  Model m = atoms(n, 1, 0.00831446261815324 * kelvin);
  m.pairs[0] = {PairKind::lennard_jones, 0.3345, 1.045, 0, 0, 0};
  if (edge == 0) edge = 3.62 * std::cbrt(double(n) / 1000);
  m.box = {edge, edge, edge};
  return m;
}
/// nm, kJ/mol: the dimers of the Metropolis thesis, of unlike sites, at 240 K; 500 in 1.258 nm, or
/// others at that density (50 in 0.584 nm).
inline Model unlike_dimers(std::size_t n) {
  Model m = one_kind({{0.1215, 0, 0}, {-0.1215, 0, 0}}, n, 1, 0.00831446261815324 * 240);
  m.types = {"A", "B"};
  m.templates[0].sites[1].type = 1;
  const double ab = std::sqrt(0.5);  // Lorentz and Berthelot
  m.pairs = {{PairKind::lennard_jones, 0.1, 1, 0, 0, 0},
             {PairKind::lennard_jones, 0.075, ab, 0, 0, 0},
             {PairKind::lennard_jones, 0.075, ab, 0, 0, 0},
             {PairKind::lennard_jones, 0.05, 0.5, 0, 0, 0}};
  const double edge = 1.258 * std::cbrt(double(n) / 500);
  m.box = {edge, edge, edge};
  return m;
}
/// Two kinds of molecules, three types of sites, a cut-off and hard cores.
inline Model mixture(std::size_t n, double density) {
  Model m;
  m.types = {"A", "B", "C"};
  m.templates = {{"trimer", {{0, {0, 0, 0}}, {1, {0.6, 0, 0}}, {2, {-0.2, 0.5, 0.1}}}},
                 {"atom", {{1, {0, 0, 0}}}}};
  for (std::size_t i = 0; i < n; ++i) m.molecule.push_back(i % 3 == 0 ? 1 : 0);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      PairParameters p{PairKind::lennard_jones, 0.8 + 0.05 * (a + b), 0.5 + 0.1 * a * b, 0, 2, 0};
      if (a != b) p.core = 0.7;
      m.pairs.push_back(p);
    }
  const double edge = std::cbrt(double(n) / density);
  m.box = {edge, edge * 1.1, edge / 1.1};
  return m;
}

}  // namespace perrin::metropolis
