// The settings of the force "ewald", and what "dipole_ewald" has of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/settings/settings.h"
#include "forces/charges/charge_smearing.h"
#include "forces/charges/coulomb_constant.h"
#include "forces/charges/mesh_terms.h"

namespace perrin {

struct MeshSettings {
  std::int64_t order = 6;
  std::optional<std::array<std::int64_t, 3>> size;

  template <class D>
  friend void describe(D& d, MeshSettings& s) {
    d.optional("order", s.order, Between{3, MeshTerms::most_order},
               "points along each axis that a charge is spread over");
    d.optional("size", s.size, Between{4, 4096},
               "points along x, y and z, even products of 2, 3 and 5, below 2^31 in all; default: "
               "as accuracy needs");
  }
};

/// How the two sums share the work: chosen from the accuracy, or given.
struct SplittingSettings {
  std::optional<double> accuracy, splitting, k_max;

  /// `accuracy_help`: which error in which unit, and the default.
  template <class D>
  void describe_with(D& d, const char* accuracy_help) {
    d.optional("accuracy", accuracy, Positive{}, accuracy_help);
    d.optional("splitting", splitting, Positive{},
               "in place of accuracy, with k_max: alpha of erfc(alpha r) (1/length)");
    d.optional("k_max", k_max, Positive{}, "length of the longest wave vector (1/length)");
  }
};

constexpr const char* surface_permittivity_help =
    "relative permittivity of what surrounds the copies of the system; 1: vacuum; default: a "
    "conductor (tin foil)";

struct EwaldSettings {
  double cutoff = 1;
  std::optional<MeshSettings> mesh;
  SplittingSettings sums;
  std::optional<double> surface_permittivity, slab;
  std::string net_charge = "refuse";
  std::optional<SmearingSettings> smearing;
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, EwaldSettings& s) {
    d.example(R"({"cutoff": 3, "accuracy": 1e-3})");
    d.required("cutoff", s.cutoff, Positive{}, "cut-off distance of the sum over pairs (length)");
    s.sums.describe_with(
        d,
        "wanted error of the force on a particle (rms), in units of the force between two unit "
        "charges at the distance 1; default: 1e-4");
    d.optional("mesh", s.mesh, Any{},
               "a particle mesh (P3M) in place of the sum over wave vectors: for many charges");
    d.optional("net_charge", s.net_charge, OneOf{"refuse", "background"},
               "where charges do not add up to 0: refuse: an error; background: a uniform charge "
               "makes the system neutral");
    d.optional("surface_permittivity", s.surface_permittivity, Positive{},
               surface_permittivity_help);
    d.optional("slab", s.slab, Between{1.5, 100},
               "for a box that is not periodic along z: copies of the system are so many box "
               "lengths apart, and do not act on each other as slabs; usual: 3");
    d.optional("smearing", s.smearing, Any{}, smearing_help);
    d.optional("coulomb", s.coulomb, Any{}, coulomb_help);
  }
  /// Wanted, of forces: energy/length.
  double error(double constant) const { return sums.accuracy.value_or(1e-4) * constant; }
};

}  // namespace perrin
