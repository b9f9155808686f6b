// Systems that several tests and benchmarks start from.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "engine/core/configuration.h"
#include "engine/run/force.h"
#include "forces/pair_force.h"
#include "forces/potentials/lennard_jones.h"

namespace perrin {

/// fcc lattice of 4 cells³ particles of one type at number density rho, box centred at 0.
inline Configuration fcc(int cells, double rho) {
  Configuration c;
  const double a = std::cbrt(4 / rho), length = a * cells;
  c.box.length = {length, length, length};
  c.box.origin = {-length / 2, -length / 2, -length / 2};
  c.types = {"A"};
  const double basis[4][3] = {
      {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
  for (int z = 0; z < cells; ++z)
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x)
        for (const auto& b : basis)
          c.position.push_back(c.box.origin + a * Vec3<double>{x + b[0], y + b[1], z + b[2]});
  c.type.assign(c.position.size(), 0);
  return c;
}

/// Maxwell velocities at temperature T (mass 1), zero total momentum.
inline void thermalize(Configuration& c, double temperature, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, std::sqrt(temperature));
  Vec3<double> mean{};
  c.velocity.resize(c.position.size());
  for (auto& v : c.velocity) {
    v = {normal(generator), normal(generator), c.box.dimension == 3 ? normal(generator) : 0};
    mean += v;
  }
  for (auto& v : c.velocity) v -= (1.0 / double(c.velocity.size())) * mean;
}

template <class Mode>
std::vector<std::unique_ptr<Force>> lennard_jones(const Device& device, double cutoff) {
  using E = Truncated<LennardJones, Mode>;
  std::vector<std::unique_ptr<Force>> forces;
  forces.push_back(std::make_unique<detail::PairForceField<E>>(
      device, std::vector{E::coefficients({1, 1}, {cutoff, 0})}, 1, cutoff, detail::Tail{}));
  return forces;
}

}  // namespace perrin
