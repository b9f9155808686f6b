// What is sampled: molecules made from templates, how their sites interact, and the ensemble. Plain
// host data in double precision, before any device has seen it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/real.h"

namespace perrin::metropolis {

/// A rigid body: sites relative to the centre about which it turns.
struct MoleculeTemplate {
  struct Site {
    std::uint32_t type;
    Vec3<double> at;  // length
  };
  std::string name;
  std::vector<Site> sites;
};

/// A unit quaternion w + xi + yj + zk: turns a template's coordinates into the box's axes.
struct alignas(32) Quaternion {
  double w = 1, x = 0, y = 0, z = 0;
};

enum class PairKind : std::uint32_t {
  lennard_jones,  // a = sigma, b = epsilon
  wca,            // a = sigma, b = epsilon
  yukawa,         // a = amplitude, b = kappa
  morse,          // a = depth, b = steepness, c = distance
  gaussian_core,  // a = epsilon, b = sigma
  soft_dpd        // a = repulsion; ends at the cut-off
};

/// The interaction of two types of sites.
struct PairParameters {
  PairKind kind = PairKind::lennard_jones;
  double a = 1, b = 0, c = 0;
  double cutoff = 0;  // length; 0: none, every pair by its minimum image
  double core = 0;    // sites are never closer than this; 0: no hard core
};

struct Model {
  std::vector<std::string> types;  // names of the site types
  std::vector<MoleculeTemplate> templates;
  std::vector<std::uint32_t> molecule;  // the template of each molecule
  std::vector<PairParameters> pairs;    // [type_a · types + type_b], symmetric
  bool tail = false;                    // add what cut-offs leave out (Lennard-Jones)
  Vec3<double> box{1, 1, 1};            // edges; periodic along all axes
  double kT = 1;                        // energy

  std::int64_t sites() const;
  std::uint32_t largest_molecule() const;  // sites of it
  bool atoms_only() const;                 // every template is one site at the centre
  const PairParameters& pair(std::uint32_t a, std::uint32_t b) const {
    return pairs[a * types.size() + b];
  }
  double volume() const { return box.x * box.y * box.z; }
  /// How far pairs interact; 0: all by their nearest images, without a cut-off.
  double longest_cutoff() const;
  double radius() const;  // largest distance of a site from its molecule's centre
  /// Nearest images are all that is looked at: why that is not enough in a box with these edges.
  /// Empty: it is.
  std::string too_small(const Vec3<double>& edges) const;
};

/// Where the molecules are: one entry per molecule.
struct Placement {
  std::vector<Vec3<double>> centre;
  std::vector<Quaternion> orientation;
};

}  // namespace perrin::metropolis
