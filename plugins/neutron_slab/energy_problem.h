// The problem of neutrons with energies, made of what a job says, on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "curve.h"
#include "energies.h"

namespace neutron {

/// Two of the three cross-sections, in 1/length.
struct EnergyLayer {
  double thickness = 0;
  double mass = 0;  // of the nuclei, in that of the neutron; 0: infinite
  std::optional<Curve> total, scattering, absorption;
};

struct EnergySource {
  int direction = NeutronSource::beam, spectrum = NeutronSource::one_energy;
  double mu = 1;
  double energy = 1;  // one_energy; of maxwell the temperature
  // density: its points.
  std::vector<double> energies, values;
};

struct EnergyDescription {
  std::vector<EnergyLayer> layers;
  EnergySource source;
  double cutoff = 0;
  bool near_reflects = false, far_reflects = false;
  bool weighted = false;
  double roulette = 0;
  int depth_bins = 0, energy_bins = 0;
};

struct EnergyProblem {
  Media media;  // its pointers are set where the tables are
  std::vector<CrossSections> table;
  perrin::Density<float> spectrum;
  int depth_bins = 0, energy_bins = 0;
  double thickness = 0, cutoff = 0;
  double highest = 0;              // energy that the source can give
  double least_h = 0, most_h = 0;  // mean free paths through the slab, at any energy
  double collisions = 0;           // at most so many a history, on average; of orders of magnitude
  double squares = 0;              // the same for their square
  double tracks = 0;  // the same for track lengths, in thicknesses of the slab or of a bin
  std::vector<std::string> warnings;

  /// Throws UserError.
  static EnergyProblem of(const EnergyDescription& description);
  /// Histories of one call of Transport::run for which no sum can leave 64 bits.
  double largest_batch(bool weighted) const;
  std::vector<double> energy_edges() const;
  /// Of everything that results depend on.
  std::uint64_t fingerprint() const;
};

/// Points of a density that a formula gives between two energies, so close that its integral is
/// right to 10^-5, where it does not jump. Throws UserError.
void tabulate_density(const Curve& curve, double low, double high, EnergySource& source);

/// Mean of ln(E/E') in a collision with a nucleus of this mass.
double mean_log_decrement(double mass);

}  // namespace neutron
