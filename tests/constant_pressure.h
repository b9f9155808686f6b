// Systems at constant pressure whose distributions are known, and what is measured of them.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "engine/dynamics/simulation.h"
#include "tests/plugins/metropolis_eos.h"
#include "tests/series.h"

namespace perrin {

struct IdealGas {
  int particles = 200, dimension = 3;
  Vec3<double> tilt{};     // xy, xz, yz
  bool wall_at_z = false;  // nobody is near the faces across z
};

/// Particles of three masses in a volume.
inline Configuration ideal_gas(const IdealGas& gas, double volume) {
  Configuration c;
  c.box.dimension = gas.dimension;
  const double edge = std::pow(volume, 1.0 / gas.dimension);
  c.box.length = {edge, edge, gas.dimension == 2 ? 1.0 : edge};
  c.box.xy = gas.tilt.x, c.box.xz = gas.tilt.y, c.box.yz = gas.tilt.z;
  c.types = {"A"};
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u;
  for (int k = 0; k < gas.particles; ++k) {
    const double z = gas.dimension == 2 ? 0.5 : gas.wall_at_z ? 0.1 + 0.8 * u(random) : u(random);
    c.position.push_back(c.box.point({u(random), u(random), z}));
    c.type.push_back(0);
    c.mass.push_back(1 + k % 3);
  }
  return c;
}

/// Of the Lennard-Jones fluid without what is beyond a cut-off, by the equation of state, which is
/// that of the whole potential: good to 0.02, or to 0.002 in density.
inline double pressure_of_fluid(double kt, double density, double cutoff) {
  const double tail =
      16 * M_PI / 3 * density * density * (2.0 / 3 * std::pow(cutoff, -9) - std::pow(cutoff, -3));
  return metropolis::johnson_equation(kt, density).pressure - tail;
}

struct AtConstantPressure {
  std::vector<double> volumes;
  Estimate volume, pressure, temperature;
};

/// So many steps, a sample every ten.
inline AtConstantPressure measure_at_pressure(Simulation& s, Integrator& integrator, int steps) {
  AtConstantPressure run;
  std::vector<double> pressures, temperatures;
  for (int k = 0; k < steps; k += 10) {
    s.advance(integrator, 10);
    run.volumes.push_back(s.particles().box().volume());
    pressures.push_back(s.now().pressure());
    temperatures.push_back(s.now().temperature);
  }
  run.volume = estimate(run.volumes), run.pressure = estimate(pressures);
  run.temperature = estimate(temperatures);
  return run;
}

}  // namespace perrin
