// Forces of charges, or dipoles, and all their periodic copies in double precision: plain sums over
// all pairs and over wave vectors, for who measures the error of an Ewald sum.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/system/box.h"
#include "forces/charges/charge_law.h"
#include "forces/charges/ewald_terms.h"

namespace perrin {

/// The particles that have any.
struct PeriodicSources {
  Box cell;                            // that is repeated, along all its axes
  std::vector<Vec3<double>> position;  // along the whole path of each
  std::vector<double> charge;          // either these …
  std::vector<Vec3<double>> moment;    // … or these; the others are empty
  /// Pairs of places in these lists: they do not act on each other.
  std::vector<std::pair<std::size_t, std::size_t>> excluded;
  std::optional<Smearing> smearing;  // of charges
};

/// How far the sum over pairs can go: each pair once, by its nearest images.
double farthest_pair(const Box& cell);

/// How many products the sums have.
double terms_of_forces(const PeriodicSources& sources, const EwaldParameters& parameters);

/// `terms`: with the parameters of these sums. Pairs are summed up to farthest_pair().
std::vector<Vec3<double>> exact_forces(const PeriodicSources& sources, const EwaldTerms& terms);

}  // namespace perrin
