// Systems that several tests and benchmarks start from.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/components/force.h"
#include "engine/system/configuration.h"
#include "engine/system/particles.h"

namespace perrin {

/// fcc lattice of 4 cells³ particles of one type at number density rho, box centred at 0.
Configuration fcc(int cells, double rho);

/// Maxwell velocities at temperature T (mass 1), zero total momentum.
void thermalize(Configuration& c, double temperature, unsigned seed);

/// Maxwell velocities without momentum: what collisions would do to a gas that has none. A barostat
/// alone would not bring the axes that move and those that do not to one temperature.
void draw_velocities(Particles& particles, double kt, std::mt19937_64& generator);

using Forces = std::vector<std::unique_ptr<Force>>;

/// Lennard-Jones between all; truncation: "cut" or "force_shift". Compiled once for all tests.
Forces lennard_jones(const Device& device, double cutoff, const std::string& truncation = "cut");

/// Of a pair of types; epsilon is 1.
struct LennardJonesPair {
  double sigma, cutoff;
};
/// pairs: [type · types + type]; what `listed` says of ranges is what lists look for.
Forces lennard_jones(const Device& device, const std::vector<LennardJonesPair>& pairs,
                     const Ranges& listed, const std::string& truncation = "cut");

}  // namespace perrin
